"""Value iteration over a motion graph, for `marey.graph.table`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from marey.compiled import Floats1D, Floats2D, Ints1D, Ints2D, Out, kernel


class EdgeGains(NamedTuple):
    """What the E edges of a graph are worth.

    gain : (E, D) what an edge gains in each direction, -inf where it may not be taken.
    fade : (E,) factor for what follows.
    turns : (E,) by how many columns the wanted direction turns.
    heads : (E,) the node at which each edge ends.
    first_out : (N + 1,) the edges that leave node n are ``first_out[n]`` to ``first_out[n + 1]``.
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
    """Sweep over all nodes until values (N, D) converge, and write the best edges (N, D), -1 for none; returns the
    number of sweeps.

    Nodes are updated in place, forward and backward alternately, so that one sweep carries a gain along a whole clip.
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
