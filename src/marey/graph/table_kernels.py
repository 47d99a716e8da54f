"""The compiled sweeps of `marey.graph.table`."""

from __future__ import annotations

from typing import Any

import numpy as np

from marey.core.compiled import kernel

Array = Any


@kernel
def settle_values(
    gain: Array, fade: Array, turns: Array, heads: Array, first_out: Array, settled: float, most: int,
    values: Array, choices: Array,
) -> int:  # fmt: skip
    """Sweep over all nodes until values (N, D) settle, and write the best edges (N, D), -1 for none; returns how often.

    gain (E, D) is what an edge gains, -inf where it may not be taken; fade (E,) how much less counts what follows;
    turns (E,) by how many columns the wanted direction turns. Nodes are swept in place, forwards and backwards in
    turns: what an edge gains is then handed on along a whole clip at once.
    """
    n_nodes, n_columns = values.shape
    for sweep in range(most):
        change, largest = 0.0, 1e-9
        for k in range(n_nodes):
            node = k if sweep % 2 else n_nodes - 1 - k
            for d in range(n_columns):
                best, chosen = -np.inf, -1
                for edge in range(first_out[node], first_out[node + 1]):
                    if gain[edge, d] == -np.inf:
                        continue
                    at = d - turns[edge]
                    low = np.floor(at)
                    share = at - low
                    i = int(low) % n_columns
                    ahead = values[heads[edge], i] * (1.0 - share)
                    ahead += values[heads[edge], (i + 1) % n_columns] * share
                    total = gain[edge, d] + fade[edge] * ahead
                    if total > best:
                        best, chosen = total, edge - first_out[node]
                if chosen < 0:
                    best = 0.0
                change = max(change, abs(best - values[node, d]))
                largest = max(largest, abs(best))
                values[node, d] = best
                choices[node, d] = chosen
        if change <= settled * largest:
            return sweep + 1
    return most
