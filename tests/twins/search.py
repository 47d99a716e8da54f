"""The slow definition of a search: timewarping inside the valid region of whole grids (Kovar 6.2.1).

A web keeps a tenth to a sixth of the valid region. What it finds is measured against this, and for random stretches of
capture and samples it is at least 95 of 100 matches. The valid region is that of `marey.find.region`: an extension ends
at a cell below its minimum and after `reach`. Kovar's words have neither end, and by them the region is most of the
grid (75 to 98 % on the sets measured), so that it rules out nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from marey.compare import frame_weights
from marey.compare.pairing import Pairing
from marey.core.arrays import Bools, Floats, Ints
from marey.find.build import web_clouds
from marey.find.cells import STEP
from marey.find.match_graph import Candidates, Find
from marey.find.region import make_rules, mark_region, quantize
from marey.find.region_kernels import VALID
from marey.find.result import MatchResult
from marey.find.search import STRAIGHT, Query, check_threshold
from marey.find.settings import SearchSettings

if TYPE_CHECKING:
    from marey.find.match_web import MatchWeb


def reference_search(
    web: MatchWeb,
    clip: int | str,
    start: int,
    stop: int,
    threshold: float,
    *,
    overlap: tuple[float, float] = (0.8, 0.2),
    most: int = 500,
    tiers: int | None = None,
) -> MatchResult:
    """As `search`, on whole grids: of the web only clips and options are used. For small sets."""
    limit = check_threshold(threshold)
    settings = SearchSettings(overlap=overlap, max_matches=most, max_tiers=tiers)
    query = Query.make(web, clip, start, stop, settings)
    graph = query.grow(limit, _finder(web, limit))
    return query.make_result(graph, limit, [])


def _finder(web: MatchWeb, limit: float) -> Find:
    clouds = [web_clouds(motion, web.options) for motion in web.clips]
    weights = frame_weights(web.options.window, web.fps, "triangle")
    rules = make_rules(web.options, web.fps)
    grids: dict[int, list[tuple[Floats, Bools]]] = {}

    def find(clip: int, start: int, stop: int) -> Candidates:
        if clip not in grids:
            grids[clip] = []
            for other in clouds:
                values = np.empty((len(clouds[clip]), len(other)))
                Pairing(clouds[clip], other, weights).fill(values, (0, values.shape[0], 0, values.shape[1]))
                units = quantize(np.maximum(values, 0.0))
                grids[clip].append(
                    (np.square(units * STEP, dtype=np.float64), (mark_region(units, rules) & VALID) != 0)
                )
        parts = []
        for k, (values, valid) in enumerate(grids[clip]):
            totals, counts, firsts = best_ends(np.where(valid, values, np.inf)[start:stop])
            ends = np.flatnonzero(np.isfinite(totals))
            straight = 2 * (counts[ends] - 1) - (stop - start - 1) - (ends - firsts[ends])
            distances = np.sqrt(np.maximum(totals[ends] - STRAIGHT * straight, 0.0) / counts[ends])
            near = distances <= limit
            ends = ends[near]
            parts.append((np.full(len(ends), k), firsts[ends], ends + 1, distances[near], totals[ends]))
        return Candidates(*(np.concatenate(column) for column in zip(*parts, strict=True)))

    return find


def best_ends(values: Floats, straight: float = STRAIGHT) -> tuple[Floats, Ints, Ints]:
    """For each column of a grid (R, C) the best path from the first row that ends there in the last row.

    Row by row, all columns at once: a step in both, and at most one straight step behind it, which costs `straight`
    more. Infinite cells are closed.

    Returns
    -------
    What it costs (C,), inf where there is none; how many cells it has (C,); the column where it begins (C,).
    """
    n_rows, n_columns = values.shape
    best = np.full((n_rows, n_columns), np.inf)
    many, begun = np.zeros((n_rows, n_columns), dtype=np.int64), np.zeros((n_rows, n_columns), dtype=np.int64)
    best[0], many[0], begun[0] = values[0], 1, np.arange(n_columns)
    for i in range(1, n_rows):
        # Rows and columns back, cells passed, and their extra cost.
        ways = [(1, 1, 1, np.zeros(n_columns))]
        if i > 1:
            ways.append((2, 1, 2, values[i - 1] + straight))
        ways.append((1, 2, 2, np.concatenate([[np.inf], values[i, :-1]]) + straight))
        for up, back, steps, paid in ways:
            came = np.full(n_columns, np.inf)
            came[back:] = best[i - up, :-back]
            total = came + paid + values[i]
            better = np.flatnonzero(total < best[i])
            best[i, better] = total[better]
            many[i, better] = many[i - up, better - back] + steps
            begun[i, better] = begun[i - up, better - back]
    return best[-1], many[-1], begun[-1]
