"""Decide which cells of a distance grid a match may use: cells near local minima, within reach of a chain of minima
(Kovar 6.2.1 and 6.2.2).

- A cell is a *minimum* if it is a local minimum along its row or along its column: neither neighbor is smaller.
- The *valid region* is every minimum together with the cells around it, along its row, its column, or both, depending
  on which kind of minimum it is. It ends before a cell that is smaller, before a cell whose D is at least 1 +
  `max_rise` times that of the minimum, and after `max_extension_seconds`. Kovar continues through smaller cells, which
  fills whole valleys, and has no length limit, which fills everything while one character stands still.
- A minimum is *on a chain* if the longest sequence of minima through it lasts at least `min_chain_seconds`, averaged
  over both clips. Each minimum of a chain is the left, upper or upper left neighbor of the next. Two straight
  (horizontal or vertical) steps never follow each other. Only minima of at most `max_chain_distance` count: similar
  motions have a very similar part, while chains of dissimilar frames occur by accident.
- A valid cell is *kept* if a path of at most `max_bridge_seconds` inside the valid region leads from it to a chain, or
  from a chain to it. The path has the same kinds of steps as a chain; each step counts as the two frames of a diagonal
  step. Bridges between chains consist of these cells. Kovar keeps the best bridge between any two chains. Here the
  search itself finds the best path, and matches may begin and end off the chains.
- A valid cell is also kept if it is on a *level path*: a path inside the valid region, with the same steps, that lasts
  at least `min_level_seconds` and has no cell beyond `max_chain_distance`. While both characters pause, minima lie
  anywhere and chains break. Without level paths, a web would lose up to a quarter of the matches that a search of the
  whole valid region finds at 10 cm.

Cells beyond `max_distance` are never used. Each rule looks at a bounded area around a cell, so a part of a grid with
enough cells around it gives the same result as the whole grid. `tests/twins/search.py` searches all valid cells; for
random intervals, at 5 and 10 cm, a web finds at least 95 % of its matches.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from marey.core.arrays import Bools, Floats
from marey.errors import InvalidValue
from marey.find import region_kernels
from marey.find.cells import STEP, TOO_FAR, Units
from marey.find.region_kernels import Rules
from marey.find.settings import WebSettings

# Maximum Manhattan length of a path; kernels store lengths in a byte.
_MAX_LENGTH = 250


def make_rules(options: WebSettings, fps: float) -> Rules:
    """Convert settings to rules for the grids of clips with `fps` frames per second."""
    return Rules(
        _find_first_beyond(options.max_distance),
        _find_first_beyond(options.max_chain_distance),
        float(np.sqrt(1.0 + options.max_rise)),
        max(round(options.max_extension_seconds * fps), 1),
        _path_length("run of similar frames", options.min_chain_seconds, fps),
        round(0.5 * options.max_bridge_seconds * fps),
        _path_length("level path", options.min_level_seconds, fps),
    )


def find_halo(rules: Rules) -> int:
    """Return the width in cells of the margin around a part of a grid that can affect the cells in it."""
    # A path of Manhattan length m covers at most (2 m + 1) / 3 rows or columns, as straight steps never repeat.
    # Recognizing a minimum takes one more cell.
    chain, level = ((2 * (length + 2) + 1) // 3 + 1 for length in (rules.chain, rules.level))
    return max(rules.bridge + max(chain, rules.reach), level + rules.reach) + 2


def quantize(distances: Floats) -> Units:
    """Convert D (R, C), in m^2, to square roots in units of `cells.STEP`."""
    out = np.empty(distances.shape, dtype=np.uint16)
    region_kernels.quantize_distances(np.ascontiguousarray(distances, dtype=np.float64), STEP, TOO_FAR, out)
    return out


def mark_region(values: Units, rules: Rules) -> Any:
    """Mark each cell of a grid (R, C). Return uint8 (R, C) with the bits `region_kernels.HORIZONTAL`, VERTICAL, VALID,
    CHAIN and LEVEL."""
    values = np.ascontiguousarray(values)
    arrays = region_kernels.MarkArrays(*(np.empty(values.shape, dtype=np.uint8) for _ in range(4)))
    region_kernels.mark_cells(values, rules, arrays)
    return arrays.marks


def find_kept_cells(values: Units, rules: Rules) -> Bools:
    """Return a mask (R, C) of the cells that a match web keeps."""
    marks = mark_region(values, rules)
    kept = np.empty(values.shape, dtype=np.uint8)
    region_kernels.mark_kept(marks, rules.bridge, kept)
    return kept.view(np.bool_)


def _path_length(name: str, seconds: float, fps: float) -> int:
    """Convert the duration of a path to its Manhattan length; raise an error if it is too long."""
    length = round(2 * seconds * fps)
    if length > _MAX_LENGTH:
        raise InvalidValue(
            f"a {name} of {seconds:g} s covers {length} cells at {fps:g} fps (maximum {_MAX_LENGTH}); use "
            "a shorter one, or a lower `fps=`"
        )
    return length


def _find_first_beyond(meters: float) -> int:
    """Return the smallest value, in units of `cells.STEP`, that is larger than a distance in meters."""
    return min(int(np.floor(meters / STEP + 0.5)) + 1, TOO_FAR)
