"""A clip's gait told by a base clip: how many of the base clip's cycles have passed at each frame (Heck 4.3)."""

from __future__ import annotations

import numpy as np

from marey.core.arrays import Floats, set_readonly
from marey.core.motion import Motion
from marey.errors import NotBlendable
from marey.layer.cells import CELL_RATE, Cells, find_best_path
from marey.layer.gait import Gait
from marey.layer.halves import BodySplit
from marey.layer.phase import interpolate_path, make_increasing
from marey.layer.timeline import Timeline, make_loop


def find_base_cycle(motion: Motion, gait: Gait, halves: BodySplit) -> Timeline:
    """One cycle of a base clip, the one that closes best."""
    found = make_loop(motion, halves, gait, max_cycles=1)
    if found is None:
        raise NotBlendable(
            f"the base clip {motion.name!r} has no whole cycle of gait, which is what other clips are aligned to; "
            "choose one with at least 3 steps in a row"
        )
    return found


def count_cycles(clip: Gait, base: Gait, cycle: Timeline, slope_limit: int) -> Floats:
    """(F,) cycles of the base clip at each frame of a clip, from 0 to 1 on, strictly increasing."""
    fps = clip.clouds.fps
    every = max(1, round(fps / CELL_RATE))
    rows = np.arange(0, len(clip.clouds), every, dtype=np.float64)
    # As many cells in the base clip's cycle as in the clip's own.
    n_cells = max(4, round(clip.cycle / every))
    at = cycle.start + (cycle.stop - cycle.start) * np.arange(n_cells) / n_cells
    cells = Cells(clip, base, rows, at, fps / every)
    held = clip.standing()[rows.astype(np.int64)]
    found = find_best_path(cells, lambda k: k % n_cells, n_cells, slope_limit, held)
    if found is None:
        raise NotBlendable(f"{clip.clouds.name!r} finds no way through the base clip's cycle")
    passed = interpolate_path(found.columns, np.arange(len(clip.clouds)) / every)
    return set_readonly(make_increasing(passed, fps, 1.0 / every) / n_cells)
