"""Value iteration for a character that moves on the floor, for all kinds of goals.

A state describes what a character has just played: a node of a motion graph, or a clip with given parameters. Some of
the E steps lead from each of the S states to others. A goal is seen from the character: a distance, a bearing and a
heading on a polar grid with C columns (`GoalGrid`). A step moves the character, so the goal is seen from elsewhere
afterward.

Lookup rule of a value table (S, C): column ``(r * n_bearings + b) * n_headings + h`` is the goal at ``distances[r]``
meters, ``2 pi b / n_bearings`` radians to the left of straight ahead, with a heading ``2 pi h / n_headings`` radians to
the left of the character's. Interpolate linearly in the distance, and linearly and cyclically in both angles. Beyond
the last distance, add `slowness` seconds for each further meter.

Key: rigid2d (theta, x, z) as in `marey.maths.rigid2d`: x to the left and z ahead, in meters.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from marey.compiled import Floats1D, Floats2D, Ints1D, Ints2D, Out, helper, kernel


class GoalGrid(NamedTuple):
    """Goals as a character sees them, on a polar grid.

    distances : (R,) meters, increasing from 0. R = 1 if the position of the goal does not matter.
    n_bearings, n_headings : number of bearings and headings in a full circle; 1 if they do not matter.
    slowness : seconds per meter beyond the last distance.
    """

    distances: Floats1D
    n_bearings: int
    n_headings: int
    slowness: float


class Steps(NamedTuple):
    """The E steps between S states.

    first : (S + 1,) steps ``first[s]`` to ``first[s + 1]``, half-open, leave state s.
    heads, weights : (E, Q) states that each step leads to, and their interpolation weights; a negative head ends the
        list.
    moves : (E, 3) rigid2d of the character after the step, relative to the character before it.
    costs : (E, C) or (E, 1) cost of each step; infinite if it must not be used.
    fades : (E,) discount factor for everything after the step.
    first_end : (E + 1,) goals ``first_end[e]`` to ``first_end[e + 1]``, half-open, are reached during step e.
    end_columns, end_costs : column of each of these goals in the table, and the cost to reach it.
    """

    first: Ints1D
    heads: Ints2D
    weights: Floats2D
    moves: Floats2D
    costs: Floats2D
    fades: Floats1D
    first_end: Ints1D
    end_columns: Ints1D
    end_costs: Floats1D


@helper
def find_distance(distances: Floats1D, distance: float) -> int:
    """Return the index of the grid interval that contains `distance`: the last of `distances` not above it, at most R -
    2."""
    low, high = 0, len(distances) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if distances[middle] <= distance:
            low = middle
        else:
            high = middle
    return low


@helper
def read_goal(row: Floats1D, grid: GoalGrid, left: float, ahead: float, heading: float) -> float:
    """Interpolate one row (C,) of a value table for a goal at (left, ahead) meters with a relative heading, radians."""
    n_headings = grid.n_headings
    column = heading / (2.0 * math.pi / n_headings)
    low = math.floor(column)
    t = column - low
    h0 = int(low) % n_headings
    h1 = (h0 + 1) % n_headings
    if len(grid.distances) == 1:
        return float(row[h0] * (1.0 - t) + row[h1] * t)
    n_bearings = grid.n_bearings
    last = grid.distances[len(grid.distances) - 1]
    distance = math.sqrt(left * left + ahead * ahead)
    near = min(distance, last)
    r = find_distance(grid.distances, near)
    u = (near - grid.distances[r]) / (grid.distances[r + 1] - grid.distances[r])
    turn = math.atan2(left, ahead) / (2.0 * math.pi / n_bearings)
    floor = math.floor(turn)
    v = turn - floor
    b0 = int(floor) % n_bearings
    b1 = (b0 + 1) % n_bearings
    total = 0.0
    for k in range(4):
        i, weight = (r, 1.0 - u) if k < 2 else (r + 1, u)
        b, part = (b0, 1.0 - v) if k % 2 == 0 else (b1, v)
        start = (i * n_bearings + b) * n_headings
        total += weight * part * (row[start + h0] * (1.0 - t) + row[start + h1] * t)
    return float(total + (distance - near) * grid.slowness)


@helper
def _add_step(
    steps: Steps, e: int, grid: GoalGrid, goals: Floats2D, ahead: Floats1D, mixed: Floats1D, totals: Floats1D
) -> None:
    """Write to `totals` (C,) the cost of step e and of all that follows, for every goal.

    goals : (R B, 2) positions of the goals, left and ahead. ahead : (C,) values of the state that the step leads to.
    mixed : (n_headings,) scratch space.
    """
    theta, x0, z0 = steps.moves[e, 0], steps.moves[e, 1], steps.moves[e, 2]
    n_bearings, n_headings, n_distances = grid.n_bearings, grid.n_headings, len(grid.distances)
    turn = -theta / (2.0 * math.pi / n_headings)
    low = math.floor(turn)
    t, first = turn - low, int(low) % n_headings
    cosine, sine = math.cos(theta), math.sin(theta)
    fade, n_costs = steps.fades[e], steps.costs.shape[1]
    for r in range(n_distances):
        for b in range(n_bearings):
            r0, r1, b0, b1 = 0, 0, 0, 0
            u, v, beyond = 0.0, 0.0, 0.0
            if n_distances > 1:
                dx, dz = goals[r * n_bearings + b, 0] - x0, goals[r * n_bearings + b, 1] - z0
                left, front = dx * cosine - dz * sine, dx * sine + dz * cosine
                distance = math.sqrt(left * left + front * front)
                near = min(distance, grid.distances[n_distances - 1])
                beyond = (distance - near) * grid.slowness
                r0 = find_distance(grid.distances, near)
                r1 = r0 + 1
                u = (near - grid.distances[r0]) / (grid.distances[r1] - grid.distances[r0])
                angle = math.atan2(left, front) / (2.0 * math.pi / n_bearings)
                floor = math.floor(angle)
                v = angle - floor
                b0 = int(floor) % n_bearings
                b1 = (b0 + 1) % n_bearings
            c00, c01 = (r0 * n_bearings + b0) * n_headings, (r0 * n_bearings + b1) * n_headings
            c10, c11 = (r1 * n_bearings + b0) * n_headings, (r1 * n_bearings + b1) * n_headings
            w00, w01, w10, w11 = (1.0 - u) * (1.0 - v), (1.0 - u) * v, u * (1.0 - v), u * v
            start, h0 = (r * n_bearings + b) * n_headings, first
            if n_distances > 1:
                for h in range(n_headings):
                    mixed[h] = w00 * ahead[c00 + h] + w01 * ahead[c01 + h] + w10 * ahead[c10 + h] + w11 * ahead[c11 + h]
            else:
                for h in range(n_headings):
                    mixed[h] = ahead[h]
            for h in range(n_headings):
                h1 = h0 + 1 if h0 + 1 < n_headings else 0
                cost = steps.costs[e, min(start + h, n_costs - 1)]
                totals[start + h] = cost + fade * (mixed[h0] * (1.0 - t) + mixed[h1] * t + beyond)
                h0 = h1
    for k in range(steps.first_end[e], steps.first_end[e + 1]):
        c = steps.end_columns[k]
        totals[c] = min(totals[c], steps.end_costs[k])


@kernel
def iterate_values(
    steps: Steps,
    grid: GoalGrid,
    tolerance: float,
    max_sweeps: int,
    stuck: float,
    values: Out[Floats2D],
    choices: Out[Ints2D],
) -> int:
    """Sweep over all states until the values converge; return the number of sweeps.

    tolerance : converged when no value changes by more than this fraction of the largest.
    stuck : value of a state without an allowed step.
    values : (S, C) initial values on input, lowest total costs on output.
    choices : (S, C) receives the best step, as an index among those that leave the state; -1 for none.

    States are updated in place, in alternating order, so one sweep carries a value along many states. A state is
    skipped while the values of its successors do not change.
    """
    n_states, n_columns = values.shape
    ahead, totals, best = np.empty(n_columns), np.empty(n_columns), np.empty(n_columns)
    chosen, mixed = np.empty(n_columns, dtype=np.int64), np.empty(grid.n_headings)
    goals = np.empty((len(grid.distances) * grid.n_bearings, 2))
    for r in range(len(grid.distances)):
        for b in range(grid.n_bearings):
            bearing = 2.0 * math.pi / grid.n_bearings * b
            goals[r * grid.n_bearings + b, 0] = grid.distances[r] * math.sin(bearing)
            goals[r * grid.n_bearings + b, 1] = grid.distances[r] * math.cos(bearing)
    # Sweep in which the values of each state changed last.
    changed = np.zeros(n_states, dtype=np.int64)
    largest = 1e-9
    for sweep in range(max_sweeps):
        change = 0.0
        for k in range(n_states):
            s = k if sweep % 2 else n_states - 1 - k
            fresh = sweep == 0
            for e in range(steps.first[s], steps.first[s + 1]):
                for q in range(steps.heads.shape[1]):
                    head = steps.heads[e, q]
                    if head < 0:
                        break
                    fresh = fresh or changed[head] >= sweep - 1
            if not fresh:
                continue
            for c in range(n_columns):
                best[c], chosen[c] = np.inf, -1
            for e in range(steps.first[s], steps.first[s + 1]):
                for c in range(n_columns):
                    ahead[c] = steps.weights[e, 0] * values[steps.heads[e, 0], c]
                for q in range(1, steps.heads.shape[1]):
                    head, weight = steps.heads[e, q], steps.weights[e, q]
                    if head < 0:
                        break
                    if weight != 0.0:
                        for c in range(n_columns):
                            ahead[c] += weight * values[head, c]
                _add_step(steps, e, grid, goals, ahead, mixed, totals)
                for c in range(n_columns):
                    if totals[c] < best[c]:
                        best[c], chosen[c] = totals[c], e - steps.first[s]
            moved = 0.0
            for c in range(n_columns):
                value = stuck if chosen[c] < 0 else best[c]
                moved = max(moved, abs(value - values[s, c]))
                largest = max(largest, abs(value))
                values[s, c] = value
                choices[s, c] = chosen[c]
            if moved > 0.1 * tolerance * largest:
                changed[s] = sweep
            change = max(change, moved)
        if change <= tolerance * largest:
            return sweep + 1
    return max_sweeps
