"""Value iteration over a motion graph, for direction tables and random walks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from marey.compiled import Floats1D, Floats2D, Ints1D, Ints2D, Out, kernel


class EdgeGains(NamedTuple):
    """Gains of the E edges of a graph for D requested directions.

    gain : (E, D) gain of each edge in each direction; -inf if the edge must not be used.
    fade : (E,) discount factor for everything after the edge.
    turns : (E,) rotation of the next clip relative to the edge's first clip, in columns.
    heads : (E,) the node that each edge enters.
    first_out : (N + 1,) edges ``first_out[n]`` to ``first_out[n + 1]``, half-open, leave node n.
    """

    gain: Floats2D
    fade: Floats1D
    turns: Floats1D
    heads: Ints1D
    first_out: Ints1D


@kernel
def iterate_values(
    edges: EdgeGains, tolerance: float, max_sweeps: int, values: Out[Floats2D], choices: Out[Ints2D]
) -> int:
    """Sweep over all nodes until the values converge; return the number of sweeps.

    tolerance : converged when no value changes by more than this fraction of the largest.
    values : (N, D) initial values on input, converged values on output.
    choices : (N, D) receives the best edge, as an index among the edges that leave the node; -1 for none.

    Nodes are updated in place, in alternating order, so one sweep carries a gain along a whole clip.
    """
    gain, fade, turns, heads, first_out = edges
    n_nodes, n_columns = values.shape
    for sweep in range(max_sweeps):
        change, largest = 0.0, 1e-9
        for k in range(n_nodes):
            node = k if sweep % 2 else n_nodes - 1 - k
            for d in range(n_columns):
                best, chosen = -np.inf, -1
                for edge in range(first_out[node], first_out[node + 1]):
                    if gain[edge, d] == -np.inf:
                        continue
                    column = d - turns[edge]
                    low = np.floor(column)
                    fraction = column - low
                    i = int(low) % n_columns
                    ahead = values[heads[edge], i] * (1.0 - fraction)
                    ahead += values[heads[edge], (i + 1) % n_columns] * fraction
                    total = gain[edge, d] + fade[edge] * ahead
                    if total > best:
                        best, chosen = total, edge - first_out[node]
                if chosen < 0:
                    best = 0.0
                change = max(change, abs(best - values[node, d]))
                largest = max(largest, abs(best))
                values[node, d] = best
                choices[node, d] = chosen
        if change <= tolerance * largest:
            return sweep + 1
    return max_sweeps
