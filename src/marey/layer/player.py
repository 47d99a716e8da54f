"""One splice while it plays: a frame at a time, each in constant time."""

from __future__ import annotations

from typing import Any

import numpy as np

from marey.core._arrays import Floats, settle
from marey.core.motion import Motion
from marey.errors import InvalidValue
from marey.layer.halves import halves_of
from marey.layer.phase import TimeMap
from marey.layer.posture import Transfer, checked_posture, checked_transfer
from marey.layer.timeline import Timeline

_MODES = {None: 0, "pitch": 1, "full": 2}
# Seconds that the running average looks back, and for how many of them the lower clip's posture stands at first.
_MEMORY, _PRIOR = 4.0, 1.0


class Splicer:
    """Gives the frames of a splice of `lower` and `upper`; made by `SpliceSet.splicer`.

    Frames may be asked for in any order. The running average of the posture goes by the frames that were asked for.
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
        self._moments, self._line, self._table, steps = moments
        self._mode = _MODES[checked_transfer(posture)]
        self._running = running
        self._first = checked_posture(postures[0], "the posture before transfer")
        self._wanted = checked_posture(postures[1], "the posture wanted")
        halves = halves_of(lower.skeleton)
        n, line = len(lower.skeleton), self._line
        self._fixed: tuple[Any, ...] = (
            *halves.numbers,
            lower.skeleton.offsets,
            halves.upper,
            lower.rotations,
            upper.rotations,
        )
        self._fixed += (settle(np.ascontiguousarray(hips)), settle(np.ascontiguousarray(self._table)))
        self._numbers = settle(np.array([*steps, line.start, line.stop, line.before, line.after]))
        self._work = (
            np.zeros((2, n, 4)), np.zeros((n, 3)), np.zeros((n + 10, 4)), np.zeros((2, len(halves.points), 3)),
            np.zeros((2, 3)),
        )  # fmt: skip
        self._memory = max(1.0, _MEMORY * lower.fps)
        self.reset()

    def __len__(self) -> int:
        return len(self._moments)

    @property
    def fps(self) -> float:
        """Frames per second that the frames are meant for."""
        return self.lower.fps

    def reset(self) -> None:
        """Forget the frames so far: the posture is the lower clip's again."""
        self._mean = self._first.copy()
        self._seen = _PRIOR * self.lower.fps

    @property
    def moments(self) -> Floats:
        """(F,) moments of the upper clip that belong to the lower clip's frames: cycles of the base clip, or frames."""
        return self._moments

    def frame(self, f: int) -> tuple[Floats, Floats]:
        """Frame f of the lower clip, spliced: joint 0's position (3,) and all local rotations (J, 4)."""
        if not 0 <= f < len(self._moments):
            raise InvalidValue(f"expected a frame from 0 to {len(self._moments) - 1}, got {f!r}")
        return self.lower.root_positions[f], self._spliced(self._fixed, float(self._moments[f]), f)

    def pose(self, rotations: Floats, hip: Floats, moment: float) -> Floats:
        """(J, 4) any pose (J, 4) of the skeleton, such as a stream's, with the upper body of a moment; see `moments`.

        hip : (4,) its hip frame, steadied.
        """
        fixed = (*self._fixed[:8], rotations[None], self._fixed[9], hip[None], self._fixed[11])
        return self._spliced(fixed, float(moment), 0)

    def _spliced(self, fixed: tuple[Any, ...], moment: float, f: int) -> Floats:
        from marey.layer.runtime_kernels import splice_frame

        weight = 0.0
        if self._running:
            self._seen = min(self._seen + 1.0, self._memory)
            weight = 1.0 / self._seen
        out = np.empty(self.lower.rotations.shape[1:])
        splice_frame(*fixed, moment, self._numbers, f, self._mode, self._wanted, self._mean, weight, *self._work, out)
        return out

    def time_map(self) -> TimeMap:
        """The moments of the upper clip that are taken, in its frames, each pass of its loop after the other."""
        first, second, share = self._line.frames_of(self._moments)
        origin, per_unit = self._numbers[:2]
        places = np.arange(len(self._table)) / per_unit + origin
        shown = np.interp(np.where(share < 0.5, first, second), places, self._table)
        return TimeMap(settle(shown), Timeline(len(self.upper)), float("nan"), "by way of the base clip")
