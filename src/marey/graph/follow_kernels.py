"""The goal of `marey.graph.follow`: walk along a path; see `marey.graph.beam_kernels`.

A state adds the arc length traveled along the path, the current spot (x, z) with the number of frames spent there (see
`FollowSettings`), and the number of clip frames, without transitions, in its style. The style is coded as 2 k in the
style with index k, and as 2 k + 1 on a route through other labels from there to the next style.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from marey.compiled import Bools2D, Floats1D, Floats2D, Floats3D, Ints1D, Out, helper, kernel
from marey.graph.beam_kernels import (
    COST,
    KEY,
    N_NUMBERS,
    NODE,
    STYLE,
    Beam,
    EdgeLayout,
    Expanded,
    Limits,
    Starts,
    Trail,
    add_state,
    search_beam,
)
from marey.maths.vector_kernels import square

# Columns that a state adds to the first `N_NUMBERS`: arc length, spot x, spot z, frames on the spot, frames in its
# style.
ARC, SPOT_X, SPOT_Z, SINCE, OWN = N_NUMBERS, N_NUMBERS + 1, N_NUMBERS + 2, N_NUMBERS + 3, N_NUMBERS + 4


class StyledPath(NamedTuple):
    """The path to follow, and the styles along it.

    points : (C, 2) x, z of evenly spaced path points, meters.
    spacing : distance between the points, meters.
    ends : (S,) arc length in meters at which each of the S styles ends.
    styles : (E, S) whether each of the graph's E edges may be used in each style.
    between : (E, S) whether each edge may be used on a route from each style to the next, if no transition leads there.
    ahead : (N, S) number of frames from each of the graph's N nodes to the next style, by edges of the two masks.
    early : a style may begin this many meters before the previous one ends.
    min_own : minimum number of clip frames, without transitions, in each style.
    """

    points: Floats2D
    spacing: float
    ends: Floats1D
    styles: Bools2D
    between: Bools2D
    ahead: Floats2D
    early: float
    min_own: int


class WalkLimits(NamedTuple):
    """Obstacles and the time limit of a walk.

    avoid : (M, 3) x, z, radius in meters of circles to keep out of.
    others : (T, M, 2) x, z in meters of other characters on each of T frames; NaN where absent.
    apart : minimum distance in meters to other characters.
    last_frame : number of frames after which a walk ends; 0 if it ends at the end of the path.
    """

    avoid: Floats2D
    others: Floats3D
    apart: float
    last_frame: int


class FollowSettings(NamedTuple):
    """Costs of a walk.

    min_step : minimum arc length in meters that each frame counts for.
    spot, patience, dawdling : a spot is a position that the character has not left by more than `spot` meters. After
        `patience` frames on one spot, every further frame costs `dawdling` (m^2).
    penalty : cost of a transition, m^2.
    end_weight : weight of the squared distance at the end, in frames.
    reward : bonus in m^2 per meter of arc length, used only to rank the states of a frame.
    hurry : cost in m^2 per frame that is left to the next style, used only to rank the states of a frame where a style
        may end.
    """

    min_step: float
    spot: float
    patience: int
    dawdling: float
    penalty: float
    end_weight: float
    reward: float
    hurry: float


class FollowSearch(NamedTuple):
    """The complete problem: graph, path, obstacles, costs and limits."""

    layout: EdgeLayout
    course: StyledPath
    bounds: WalkLimits
    settings: FollowSettings
    limits: Limits


@kernel
def extend_state(state: Floats1D, style: int, edge: int, frame: int, search: FollowSearch, out: Out[Floats1D]) -> int:
    """Play an edge from a state, starting at frame `frame`, and update arc length, cost, spot and frames in the style.

    The arc length stops at the end of the style's stretch.

    state : (11,) numbers of the state.
    style : style in which the edge is played, coded as in the module docstring; the state may still have another one.
    out : (6,) receives arc length, cost, spot x, spot z, frames on the spot and frames in the style after the edge. If
        the walk ends, only the first two are written.

    Return the number of frames played if the walk ends within the edge (end of the path in the last style, or last
    frame), 0 if it does not end, or -1 if the edge enters a circle or comes too close to another character.
    """
    first, points, steps = search.layout.first, search.layout.points, search.layout.steps
    course, spacing, ends = search.course.points, search.course.spacing, search.course.ends
    avoid, others, apart = search.bounds.avoid, search.bounds.others, search.bounds.apart
    min_step, spot = search.settings.min_step, search.settings.spot
    c, s, x, z, cost, arc = state[0], state[1], state[2], state[3], state[COST], state[ARC]
    sx, sz, since, own = state[SPOT_X], state[SPOT_Z], state[SINCE], state[OWN]
    last = course.shape[0] - 1
    is_last = style == 2 * (ends.shape[0] - 1)
    end = ends[(style + 1) // 2]
    is_own = style % 2 == 0 and not search.layout.blends[edge]
    for k in range(first[edge], first[edge + 1]):
        px, pz = points[k, 0], points[k, 1]
        wx = px * c + pz * s + x
        wz = pz * c - px * s + z
        for m in range(avoid.shape[0]):
            ax, az = wx - avoid[m, 0], wz - avoid[m, 1]
            if ax * ax + az * az < avoid[m, 2] * avoid[m, 2]:
                return -1
        now = frame + k - first[edge]
        if now < others.shape[0]:
            for m in range(others.shape[1]):
                ax, az = wx - others[now, m, 0], wz - others[now, m, 1]
                if ax * ax + az * az < apart * apart:
                    return -1
        arc = min(arc + max(steps[k], min_step), end)
        own += 1.0 if is_own else 0.0
        position = arc / spacing
        i = min(int(position), last - 1)
        t = position - i
        dx = wx - (course[i, 0] + t * (course[i + 1, 0] - course[i, 0]))
        dz = wz - (course[i, 1] + t * (course[i + 1, 1] - course[i, 1]))
        cost += dx * dx + dz * dz
        since += 1.0
        if square(wx - sx) + square(wz - sz) > spot * spot:
            sx, sz, since = wx, wz, 0.0
        elif since > search.settings.patience:
            cost += search.settings.dawdling
        if (is_last and arc >= end and own >= search.course.min_own) or now + 1 == search.bounds.last_frame:
            out[0], out[1] = arc, cost
            return int(k - first[edge] + 1)
    out[0], out[1], out[2], out[3], out[4], out[5] = arc, cost, sx, sz, since, own
    return 0


@kernel
def search_follow(starts: Starts, search: FollowSearch, trail: Trail) -> None:
    """Search for a walk that costs less than `trail.best`, from any of the starts."""
    search_beam(starts, search, _identify, _expand, trail)


@helper
def _identify(search: FollowSearch, state: Floats1D, marks: Ints1D, best_cost: float, frame: int) -> int:
    """Return a number that states share if they have the same cell (see `EdgeLayout`), style, heading bin (15 degrees)
    and arc length bin (25 cm), or -1 if the state already costs too much."""
    if state[COST] >= best_cost:
        return -1
    heading = int(np.floor((math.atan2(state[1], state[0]) + np.pi) * (24.0 / (2.0 * np.pi))))
    cell = search.layout.cells[marks[NODE]]
    kind: int = ((cell * 32 + heading) * 4096 + int(state[ARC] * 4.0)) * 64 + marks[STYLE]
    return kind


@kernel
def change_style(state: Floats1D, style: int, edge: int, course: StyledPath) -> int:
    """Return the style in which an edge is played from a state whose style is `style`; -1 if it cannot be played."""
    k = style // 2
    if style % 2 == 1:
        if course.styles[edge, k + 1]:
            return 2 * (k + 1)
        return style if course.between[edge, k] else -1
    can_leave = (
        k + 1 < course.ends.shape[0] and state[ARC] >= course.ends[k] - course.early and state[OWN] >= course.min_own
    )
    if can_leave and course.styles[edge, k + 1]:
        return 2 * (k + 1)
    if course.styles[edge, k]:
        return style
    return 2 * k + 1 if can_leave and course.between[edge, k] else -1


@helper
def _expand(search: FollowSearch, beam: Beam, where: Expanded, trail: Trail) -> None:
    """Play the edges out of a state."""
    layout, settings, best, end = search.layout, search.settings, trail.best, trail.end
    first, points = layout.first, layout.points
    course, spacing, ends = search.course.points, search.course.spacing, search.course.ends
    slot = where.frame % beam.counts.shape[0]
    state, marks = beam.numbers[slot, where.number], beam.marks[slot, where.number]
    node, style = marks[NODE], marks[STYLE]
    out = np.empty(6)
    for edge in range(layout.first_out[node], layout.first_out[node + 1]):
        style_after = change_style(state, style, edge, search.course)
        if style_after < 0:
            continue
        own = state[OWN]
        if style_after != style:
            state[OWN] = 0.0
        played = extend_state(state, style_after, edge, where.frame, search, out)
        state[OWN] = own
        if played < 0:
            continue
        cost = out[1] + (settings.penalty if layout.blends[edge] else 0.0)
        if cost >= best[0]:
            continue
        if played > 0:
            c, s, x, z = state[0], state[1], state[2], state[3]
            last = first[edge] + played - 1
            # If time runs out before the end of the path, compare with the path point at the arc length.
            goal = min(int(min(out[0], ends[-1]) / spacing + 0.5), course.shape[0] - 1)
            dx = points[last, 0] * c + points[last, 1] * s + x - course[goal, 0]
            dz = points[last, 1] * c - points[last, 0] * s + z - course[goal, 1]
            whole = cost + settings.end_weight * (dx * dx + dz * dz)
            if whole < best[0]:
                best[0] = whole
                end[0], end[1], end[2] = where.record, edge, played
            continue
        after = add_state(beam, where, layout, edge, style_after)
        after[COST], after[KEY] = cost, cost - settings.reward * out[0]
        k = style_after // 2
        if k + 1 < ends.shape[0] and (style_after % 2 == 1 or out[0] >= ends[k] - search.course.early):
            after[KEY] += settings.hurry * search.course.ahead[layout.heads[edge], k]
        after[ARC], after[SPOT_X], after[SPOT_Z], after[SINCE], after[OWN] = out[0], out[2], out[3], out[4], out[5]
