"""Compute a part of a distance grid with its minima, valid region, chains and bridges (Kovar 6.2.2), for plots and
statistics.

A web stores neither the grid nor the paths, so they are computed again. See `marey.find.region` for the terms.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from marey.compare import frame_weights
from marey.compare.pairing import Pairing
from marey.core.arrays import Bools, Floats, Ints, set_readonly
from marey.errors import InvalidValue
from marey.find import region_kernels
from marey.find.build import web_clouds
from marey.find.cells import STEP, Units
from marey.find.chains_kernels import find_bridges, find_chains
from marey.find.region import find_halo, find_kept_cells, make_rules, mark_region
from marey.find.tiles import fill_units

if TYPE_CHECKING:
    from marey.find.match_web import MatchWeb

# Maximum number of cells to compute at once.
_MAX_CELLS = 50_000_000


@dataclass(frozen=True, slots=True, eq=False)
class GridPart:
    """A part of the distance grid of two clips, with R rows and C columns.

    rows, columns : frames of the two clips, half-open.
    values : (R, C) distances in meters: the square root of D, the mean squared distance of markers after alignment.
    horizontal, vertical : (R, C) masks of the local minima along rows and along columns.
    valid : (R, C) mask of the valid region, which is where paths of matches may run: minima and the cells around them.
    on_chain : (R, C) mask of the minima on chains that are long enough.
    kept : (R, C) mask of the cells that the web keeps.
    chains : for each chain, rows and columns (N, 2) of its cells; disjoint, longest first.
    bridges : for each bridge, rows and columns (N, 2) of its cells, from the last cell of a chain to a cell of another.
    """

    rows: tuple[int, int]
    columns: tuple[int, int]
    values: Floats = field(repr=False)
    horizontal: Bools = field(repr=False)
    vertical: Bools = field(repr=False)
    valid: Bools = field(repr=False)
    on_chain: Bools = field(repr=False)
    kept: Bools = field(repr=False)
    chains: tuple[Ints, ...] = field(repr=False)
    bridges: tuple[Ints, ...] = field(repr=False)


def grid_part(
    web: MatchWeb, p: int | str, q: int | str, rows: slice = slice(None), columns: slice = slice(None)
) -> GridPart:
    """Compute the distance grid of two clips of a web, or a part of it, and apply the web's rules to it.

    Each minimum belongs to one chain at most. Chains are chosen greedily, longest first. Of the bridges from a chain's
    end to another chain, the one with the smallest mean D is returned.

    Parameters
    ----------
    web : the match web.
    p, q : names or indices of the clips of the rows and of the columns.
    rows, columns : slices of the clips' frames; by default all.

    Examples
    --------
    >>> part = marey.find.grid_part(web, "medley", "medley", slice(0, 100), slice(0, 200))
    >>> part.values.shape
    (100, 200)
    """
    clips = web.clips[web.index(p)], web.clips[web.index(q)]
    (top, bottom, _), (left, right, _) = (
        part.indices(len(clip)) for part, clip in zip((rows, columns), clips, strict=True)
    )
    if bottom <= top or right <= left:
        raise InvalidValue(
            f"rows and columns must contain at least one cell, not rows {top} to {bottom} and columns {left} to {right}"
        )
    rules = make_rules(web.options, web.fps)
    halo = find_halo(rules)
    span = (
        max(top - halo, 0),
        min(bottom + halo, len(clips[0])),
        max(left - halo, 0),
        min(right + halo, len(clips[1])),
    )
    shape = (span[1] - span[0], span[3] - span[2])
    if shape[0] * shape[1] > _MAX_CELLS:
        raise InvalidValue(
            f"{shape[0]} x {shape[1]} cells are too many (maximum {_MAX_CELLS:,}); choose fewer rows or columns"
        )
    weights = frame_weights(web.options.window, web.fps, "triangle")
    units: Units = np.empty(shape, dtype=np.uint16)
    clouds = web_clouds(clips[0], web.options), web_clouds(clips[1], web.options)
    fill_units(Pairing(*clouds, weights), span, units)
    if web.index(p) == web.index(q):
        same = np.arange(max(span[0], span[2]), min(span[1], span[3]))
        units[same - span[0], same - span[2]] = 0
    inner = (slice(top - span[0], bottom - span[0]), slice(left - span[2], right - span[2]))
    marks, kept = mark_region(units, rules)[inner], find_kept_cells(units, rules)[inner]
    units, marks = np.ascontiguousarray(units[inner]), np.ascontiguousarray(marks)
    owner, paths, ends = find_chains(marks, rules.chain)
    chains = _split_paths(paths, ends)
    bridges = _split_paths(*find_bridges(units, marks, owner, paths, ends, rules.bridge))
    shift = np.array([top, left])
    horizontal, vertical, valid, on_chain = (
        set_readonly(np.asarray((marks & bit) != 0))
        for bit in (region_kernels.HORIZONTAL, region_kernels.VERTICAL, region_kernels.VALID, region_kernels.CHAIN)
    )
    return GridPart(
        (top, bottom),
        (left, right),
        set_readonly(units * STEP),
        horizontal,
        vertical,
        valid,
        on_chain,
        set_readonly(kept.copy()),
        tuple(set_readonly(path + shift) for path in chains),
        tuple(set_readonly(path + shift) for path in bridges),
    )


def _split_paths(cells: Ints, ends: Ints) -> list[Ints]:
    """Split cells (N, 2) into paths at the given end indices."""
    return np.split(cells, ends[:-1]) if len(ends) else []
