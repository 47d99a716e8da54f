"""Spliced upper bodies on a stream: a clip's arms and trunk over any locomotion, in sync with its steps (Heck 4.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from marey.core.arrays import Floats, check_number, set_readonly
from marey.core.motion import Motion
from marey.core.placement import check_same_skeleton, find_facing
from marey.core.skeleton import Skeleton
from marey.deprecation import renamed_methods
from marey.errors import InvalidValue, UnknownName, similar
from marey.layer.halves import split_body
from marey.layer.player import Splicer
from marey.layer.posture import Transfer
from marey.layer.runtime import Average, SpliceSet, find_hip_frames
from marey.maths import quat
from marey.maths.ease import ease_in

if TYPE_CHECKING:
    from marey.control.layered import LayerPose

__all__ = ["SpliceLayer"]

# Seconds: time span for measuring how the feet move, and time constant for smoothing the hip orientation.
_AGO, _STEADY = 0.1, 0.25
# Correction gains of the phase and of its rate, for one frame at 60 Hz.
_PHASE_GAIN, _RATE_GAIN = 0.12, 0.004
# Fraction of its rate that the phase loses per frame at 60 Hz while both feet stand still.
_SLOWING = 0.1
# Relative speed of the feet, in m/s, at which their evidence counts fully.
_MOVING = 0.5


class _GaitTracker:
    """Tracks the gait phase frame by frame, in cycles of a clip. The phase never decreases."""

    def __init__(self, clip: Motion, cycles: Floats) -> None:
        rows = np.array([_feet_offset(clip.skeleton, places) for places in clip.world().positions])
        ago = max(1, round(_AGO * clip.fps))
        known = np.arange(ago, len(rows))
        self._table = set_readonly(_gait_features(rows[known], rows[known - ago]))
        self._cycles = set_readonly(cycles[known])
        self._rate = float((cycles[-1] - cycles[0]) / (len(cycles) - 1) * clip.fps)
        self._before: list[Floats] = []
        self.cycle: float | None = None

    def follow(self, skeleton: Skeleton, positions: Floats, fps: float) -> float:
        """Return the gait phase, in cycles, after a frame with joint positions (J, 3)."""
        now = _feet_offset(skeleton, positions)
        self._before = [*self._before[-max(1, round(_AGO * fps)) :], now]
        row = _gait_features(now, self._before[0])
        said = float(self._cycles[int(np.argmin(((self._table - row) ** 2).sum(axis=1)))])
        if self.cycle is None:
            self.cycle = said
            return said
        ahead = self.cycle + max(self._rate, 0.0) / fps
        off = said - ahead - np.rint(said - ahead)
        # Feet that do not move carry no phase information; without it, the phase slows down.
        sure = min(1.0, float(np.linalg.norm(now - self._before[0])) / (_AGO * _MOVING))
        step = 60.0 / fps
        slowed = (1.0 - sure) * _SLOWING * step * self._rate
        self._rate = max(0.0, self._rate + sure * _RATE_GAIN * step * off * fps - slowed)
        self.cycle = max(self.cycle, ahead + sure * min(1.0, _PHASE_GAIN * step) * off)
        return self.cycle


@dataclass(slots=True)
class _Source:
    """An upper body that fades in from `begin`, in seconds. A splicer of None means the stream's own upper body."""

    begin: float
    splicer: Splicer | None


@renamed_methods(hears="observed_commands", wishes="commands")
class SpliceLayer:
    """Layer that puts the upper bodies of a splice set on a stream's character.

    The command ``upper=`` is the name of a clip in the set, or None for the stream's own upper body.

    Parameters
    ----------
    clips : set of clips with the stream's skeleton. Its base clip should have the same kind of gait as the stream.
    fade : duration of the crossfade between two upper bodies, in seconds.
    posture, average : options of `SpliceSet.splicer`.

    Examples
    --------
    >>> from marey.control import FollowDirection, LayeredStream, SpliceLayer
    >>> box = marey.samples.sample("carry_box", seconds=4.0, fps=30.0).motion
    >>> layer = SpliceLayer(marey.layer.SpliceSet.build([marey.edit.resample(walk, 30.0), box]))
    >>> stream = LayeredStream(character.stream(FollowDirection(0.0)), [layer])
    >>> stream.request(upper="carry_box")
    >>> len(stream.record(1.0)), layer.playing
    (30, 'carry_box')
    """

    commands = ("upper",)
    observed_commands: tuple[str, ...] = ()

    def __init__(
        self, clips: SpliceSet, *, fade: float = 0.4, posture: Transfer = "pitch", average: Average = "running"
    ) -> None:
        if not isinstance(clips, SpliceSet):
            raise InvalidValue(f"clips must be a SpliceSet, not {type(clips).__name__}")
        self.clips = clips
        self._fade = check_number(fade, "fade in seconds", above=True)
        self._posture, self._average = posture, average
        base = clips.clips[clips.base]
        self._begins = float(clips.prepared[clips.base].cycles[0])
        self._steps = _GaitTracker(base, clips.prepared[clips.base].cycles)
        self._halves = split_body(base.skeleton)
        self._joints = np.flatnonzero(self._halves.upper | (np.arange(len(base.skeleton)) == self._halves.attachment))
        self._hip: Floats | None = None
        self._sources: list[_Source] = []
        self._pending: tuple[str | None] | None = None
        self._checked = False

    @property
    def playing(self) -> str | None:
        """Name of the upper body that plays or fades in; None for the stream's own."""
        last = self._sources[-1].splicer if self._sources else None
        return None if last is None else last.upper.name

    def request(self, **command: Any) -> None:
        """Set the upper body to play, starting with the next frame; see the class."""
        if "upper" in command:
            name = command["upper"]
            if name is not None and name not in self.clips.names:
                known = ", ".join(map(repr, self.clips.names))
                raise UnknownName(f"no clip {name!r} to splice{similar(str(name), self.clips.names)}; clips: {known}")
            self._pending = (name,)

    def apply(self, pose: LayerPose) -> Floats | None:
        """Return the local rotations (J, 4) with the spliced upper body; None means the stream's own."""
        if not self._checked:
            check_same_skeleton(self.clips.clips[0].skeleton, pose.skeleton, "a splice layer")
            self._checked = True
        cycle = self._steps.follow(pose.skeleton, pose.positions, pose.fps)
        hip = self._smooth_hips(pose)
        if self._pending is not None:
            (name,), self._pending = self._pending, None
            if name != self.playing:
                splicer = None if name is None else self._make_splicer(name)
                self._sources.append(_Source(pose.seconds, splicer))
        done = [k for k, source in enumerate(self._sources) if source.begin + self._fade <= pose.seconds]
        self._sources = self._sources[done[-1] :] if done else self._sources
        if done and self._sources[0].splicer is None and len(self._sources) == 1:
            self._sources = []
        if not self._sources:
            return None
        out = np.array(pose.rotations)
        for source in self._sources:
            alpha = float(ease_in(np.clip((pose.seconds - source.begin) / self._fade, 0.0, 1.0)))
            there = pose.rotations
            if source.splicer is not None:
                moment = cycle - self._begins + float(source.splicer.moments[0])
                there = source.splicer.pose(np.ascontiguousarray(pose.rotations), hip, moment)
            out[self._joints] = quat.slerp(out[self._joints], there[self._joints], alpha)
        return out

    def _make_splicer(self, name: str) -> Splicer:
        return self.clips.splicer(self.clips.base, name, posture=self._posture, average=self._average)

    def _smooth_hips(self, pose: LayerPose) -> Floats:
        frame = Motion(pose.skeleton, np.zeros((1, 3)), pose.rotations[None], pose.fps)
        now = find_hip_frames(self._halves, frame)[0]
        if self._hip is None:
            self._hip = now
        side = -1.0 if float(now @ self._hip) < 0.0 else 1.0
        alpha = 1.0 - np.exp(-1.0 / (_STEADY * pose.fps))
        self._hip = np.asarray(quat.normalize(self._hip + alpha * (side * now - self._hip)))
        return self._hip


def _feet_offset(skeleton: Skeleton, positions: Floats) -> Floats:
    """Return the offset (3,) from the right foot to the left in meters: left, up and ahead relative to the heading."""
    roles = skeleton.roles
    across = positions[roles["left_foot"]] - positions[roles["right_foot"]]
    heading = float(find_facing(skeleton, positions[None])[0])
    return np.asarray(quat.inv_rotate(quat.from_axis_angle([0.0, 1.0, 0.0], heading), across))


def _gait_features(now: Floats, ago: Floats) -> Floats:
    """Return features (..., 4) for comparing gaits: the vector between the feet now (up, ahead), and 1.5 times its
    change since `ago`."""
    return np.concatenate([now[..., 1:], 1.5 * (now - ago)[..., 1:]], axis=-1)
