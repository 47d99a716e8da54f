"""Run-time splice player: one frame at a time, in constant time."""

from __future__ import annotations

from typing import Any

import numpy as np

from marey.core.arrays import Floats, set_readonly
from marey.core.motion import Motion
from marey.errors import InvalidValue
from marey.layer.halves import split_body
from marey.layer.phase import TimeMap
from marey.layer.posture import Transfer, check_posture, check_transfer
from marey.layer.runtime_kernels import FULL, NO_TRANSFER, PITCH, FrameTable, LoopRange, SplicePlan, splice_frame
from marey.layer.timeline import Timeline

_TRANSFERS = {None: NO_TRANSFER, "pitch": PITCH, "full": FULL}
# Seconds that the running average looks back, and for how many of them it starts with the lower clip's posture.
_MEMORY, _PRIOR = 4.0, 1.0


class Splicer:
    """Plays a splice of `lower` and `upper`; create it with `SpliceSet.splicer`.

    Frames may be requested in any order. The running average of the posture covers the requested frames.
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
            transfer=_TRANSFERS[check_transfer(posture)],
            wanted=check_posture(postures[1], "the posture wanted"),
        )
        self._memory = max(1.0, _MEMORY * lower.fps)
        self.reset()

    def __len__(self) -> int:
        return len(self._moments)

    @property
    def fps(self) -> float:
        """Frame rate of the result."""
        return self.lower.fps

    def reset(self) -> None:
        """Restart: forget earlier frames and reset the posture to the lower clip's."""
        self._mean = self._first.copy()
        self._seen = _PRIOR * self.lower.fps

    @property
    def moments(self) -> Floats:
        """(F,) time in the upper clip at each frame of the lower: in cycles if the base clip loops, else in frames."""
        return self._moments

    def frame(self, f: int) -> tuple[Floats, Floats]:
        """Frame f of the lower clip, spliced: joint 0's position (3,) and all local rotations (J, 4)."""
        if not 0 <= f < len(self._moments):
            raise InvalidValue(f"frame must be from 0 to {len(self._moments) - 1}, got {f!r}")
        return self.lower.root_positions[f], self.pose(self.lower.rotations[f], self._hips[f], float(self._moments[f]))

    def pose(self, rotations: Floats, hip: Floats, moment: float) -> Floats:
        """(J, 4) a given pose (J, 4) of the skeleton, e.g. of a stream, with the upper body of a moment; see `moments`.

        hip : (4,) its smoothed hip frame.
        """
        weight = 0.0
        if self._running:
            self._seen = min(self._seen + 1.0, self._memory)
            weight = 1.0 / self._seen
        out = np.empty(self.lower.rotations.shape[1:])
        splice_frame(self._plan, rotations, hip, moment, self._mean, weight, out)
        return out

    def time_map(self) -> TimeMap:
        """The frames of the upper clip that are used, one pass of its loop after the other."""
        first, second, alpha = self._line.frames_unclamped(self._moments)
        table = self._plan.table
        places = np.arange(len(table.frames)) / table.per_unit + table.start
        shown = np.interp(np.where(alpha < 0.5, first, second), places, table.frames)
        return TimeMap(set_readonly(shown), Timeline(len(self.upper)), float("nan"), "through the base clip")
