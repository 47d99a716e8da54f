"""Play a splice at run time: one frame at a time, in constant time."""

from __future__ import annotations

from typing import Any

import numpy as np

from marey.core.arrays import Floats, check_index, set_readonly
from marey.core.motion import Motion
from marey.layer.halves import split_body
from marey.layer.posture import Transfer, check_posture
from marey.layer.splice_kernels import FULL, NO_TRANSFER, PITCH, FrameTable, LoopRange, SplicePlan, splice_frame
from marey.layer.time_alignment import TimeMap
from marey.layer.timeline import Timeline

_TRANSFERS = {None: NO_TRANSFER, "pitch": PITCH, "full": FULL}
# Time constant of the running average in seconds, and the seconds of the lower clip's posture that it starts with.
_MEMORY, _PRIOR = 4.0, 1.0


class Splicer:
    """Plays a splice of the clips `lower` and `upper`; created by `SpliceSet.splicer`.

    Frames may be requested in any order. The running average of the posture covers the frames requested so far.

    Examples
    --------
    >>> clips = marey.layer.SpliceSet.build([walk, marey.samples.sample("carry_box", seconds=4.0).motion])
    >>> splicer = clips.splicer("walk", "carry_box")
    >>> root, rotations = splicer.frame(0)
    >>> root.shape, rotations.shape
    ((3,), (27, 4))
    """

    def __init__(
        self,
        lower: Motion,
        upper: Motion,
        hips: Floats,
        moments: tuple[Floats, Timeline, Floats, Floats],
        postures: tuple[Any, Any],
        *,
        posture: Transfer,
        running: bool,
    ) -> None:
        self.lower, self.upper = lower, upper
        self._moments, self._line, table, (start, per_unit) = moments
        self._hips = np.ascontiguousarray(hips)
        self._running = running
        self._first = check_posture(postures[0], "the posture before transfer")
        halves, line = split_body(lower.skeleton), self._line
        self._plan = SplicePlan(
            cut=halves.cut,
            is_upper=halves.upper,
            offsets=lower.skeleton.offsets,
            upper=upper.rotations,
            table=FrameTable(np.ascontiguousarray(table), float(start), float(per_unit)),
            loop=LoopRange(line.start, line.stop, line.before, line.after),
            transfer=_TRANSFERS[posture],
            wanted=check_posture(postures[1], "the posture wanted"),
        )
        self._memory = max(1.0, _MEMORY * lower.fps)
        self.reset()

    def __len__(self) -> int:
        return len(self._moments)

    @property
    def fps(self) -> float:
        """Frame rate of the result, in frames per second."""
        return self.lower.fps

    def reset(self) -> None:
        """Reset the running average of the posture to the lower clip's posture."""
        self._mean = self._first.copy()
        self._seen = _PRIOR * self.lower.fps

    @property
    def moments(self) -> Floats:
        """(F,) time in the upper clip for each frame of the lower clip: in cycles of the base clip, or in frames of the
        upper clip if the splicer was created with `times`.
        """
        return self._moments

    def frame(self, f: int) -> tuple[Floats, Floats]:
        """Return the spliced frame f of the lower clip: position of joint 0 (3,) and local rotations (J, 4)."""
        check_index(f, "frame", len(self._moments))
        return self.lower.root_positions[f], self.pose(self.lower.rotations[f], self._hips[f], float(self._moments[f]))

    def pose(self, rotations: Floats, hip: Floats, moment: float) -> Floats:
        """Splice the upper body onto a given pose, for example of a stream; return local rotations (J, 4).

        rotations : (J, 4) local rotations of the pose.
        hip : (4,) smoothed rotation of its hip frame.
        moment : time in the upper clip, in the unit of `moments`.
        """
        weight = 0.0
        if self._running:
            self._seen = min(self._seen + 1.0, self._memory)
            weight = 1.0 / self._seen
        out = np.empty(self.lower.rotations.shape[1:])
        splice_frame(self._plan, rotations, hip, moment, self._mean, weight, out)
        return out

    def time_map(self) -> TimeMap:
        """Return the frames of the upper clip that are used, as a time alignment."""
        first, second, alpha = self._line.frames_unclamped(self._moments)
        table = self._plan.table
        places = np.arange(len(table.frames)) / table.per_unit + table.start
        shown = np.interp(np.where(alpha < 0.5, first, second), places, table.frames)
        return TimeMap(set_readonly(shown), Timeline(len(self.upper)), float("nan"), "through the base clip")
