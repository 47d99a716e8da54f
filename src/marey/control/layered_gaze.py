"""Gaze on a stream: looks requested during playback, and looks toward the requested walking direction."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from marey.core.arrays import Floats, freeze_array
from marey.deprecation import renamed_methods
from marey.errors import InvalidValue
from marey.layer.gaze_kernels import GazeLooks, blend_looks
from marey.layer.gaze_model import check_goal, find_reached_angles
from marey.layer.gaze_region import project_into_region
from marey.layer.gaze_rotations import find_look_angles, rotate_to_look

if TYPE_CHECKING:
    from marey.control.layered import LayerPose
    from marey.layer.gaze_map import GazeMap

__all__ = ["GazeLayer"]

# Seconds: time constant for smoothing the angles of a target, so neither bobbing nor a new command makes the gaze jump.
_FOLLOW = 0.1
# Radians. If the body faces the direction within the first angle, no cue is needed. A cue that changes by less than the
# second angle updates the current look instead of starting a new one.
_FACING, _SAME = np.radians(12.0), np.radians(20.0)
# Radians: yaw up to which the gaze follows a target behind the character before it switches sides.
_BEHIND = np.pi + np.radians(20.0)
_BACK, _ANGLES, _POINT, _DIRECTION = 0, 1, 2, 3


@dataclass(slots=True)
class _Look:
    """One look: a gaze shift to a target, in progress or completed.

    begin : start time in seconds. kind : one of the constants above. goal : target, as the kind requires.
    cue : whether it anticipates a turn. times : (7,) timing and overshoot. anchor : (15,) rotations at its start.
    angles : (2,) current yaw and pitch of the target, radians.
    """

    begin: float
    kind: int
    goal: Floats
    cue: bool
    times: Floats
    anchor: Floats
    angles: Floats


@renamed_methods(hears="observed_commands", wishes="commands", turns="rotations", looks_at="target_angles")
class GazeLayer:
    """Layer that rotates the spine, neck and head of a stream's character toward a requested gaze target.

    The command ``gaze=`` is one of: ``(yaw, pitch)`` in radians relative to the body's heading, positive to the left
    and upward; ``(x, y, z)``, a point in the world in meters, which the gaze follows; or None, to return to the
    stream's own gaze.

    Parameters
    ----------
    gaze : model of how the person looks around; `GazeMap.default()` if None.
    cue : look toward a requested ``direction`` before the body turns, until the body faces it. An explicit gaze takes
        precedence.

    Targets beyond the map's limits are clamped: the character looks as far in that direction as the map allows. A look
    that interrupts another one starts from the current pose and keeps the model's timing, so the gaze never jumps.

    Examples
    --------
    >>> from marey.control import FollowDirection, GazeLayer, LayeredStream
    >>> layer = GazeLayer()
    >>> stream = LayeredStream(character.stream(FollowDirection(0.0)), [layer])
    >>> stream.request(gaze=(0.5, 0.1))
    >>> motion = stream.record(1.0)
    >>> layer.target_angles, layer.rotations.shape
    (array([0.5, 0.1]), (15,))
    """

    commands = ("gaze",)

    def __init__(self, gaze: GazeMap | None = None, *, cue: bool = False) -> None:
        from marey.layer.gaze_map import GazeMap

        self.gaze = GazeMap.default() if gaze is None else gaze
        if not isinstance(self.gaze, GazeMap):
            raise InvalidValue(f"gaze must be a GazeMap, not {type(gaze).__name__}")
        self.cue = bool(cue)
        self._looks: list[_Look] = []
        self._pending: tuple[int, Floats, bool] | None = None
        self._rotations = np.zeros(15)

    @property
    def observed_commands(self) -> tuple[str, ...]:
        """Commands that the layer reacts to and the stream gets too."""
        return ("direction",) if self.cue else ()

    @property
    def rotations(self) -> Floats:
        """(15,) rotation vectors of pelvis, lower spine, upper spine, neck and eyes in the latest frame, radians."""
        return self._rotations.copy()

    @property
    def target_angles(self) -> Floats | None:
        """(2,) yaw and pitch of the current target in radians, clamped to the map; None without a target."""
        last = self._looks[-1] if self._looks else None
        return (
            None
            if last is None or last.kind == _BACK
            else project_into_region(last.angles[None], self.gaze.region)[0][0]
        )

    def request(self, **command: Any) -> None:
        """Set the gaze target, starting with the next frame; see the class."""
        if self.cue and command.get("direction") is not None:
            direction = float(command["direction"])
            if not np.isfinite(direction):
                raise InvalidValue(f"direction must be finite, not {command['direction']!r}")
            busy = self._pending or (self._looks and (self._looks[-1].kind, None, self._looks[-1].cue))
            if not busy or busy[2] or busy[0] == _BACK:
                self._pending = (_DIRECTION, np.array([direction, 0.0]), True)
        if "gaze" in command:
            self._pending = _check_gaze(command["gaze"])

    def apply(self, pose: LayerPose) -> Floats | None:
        """Return the local rotations (J, 4) with gaze; None while there is no target."""
        if self._pending is not None:
            request, self._pending = self._pending, None
            self._begin(request, pose)
        if not self._looks:
            return None
        self._follow(pose)
        self._rotations = self._blend_looks(pose.seconds)
        finished = [k for k, look in enumerate(self._looks) if look.begin + look.times[0] <= pose.seconds]
        self._looks = self._looks[finished[-1] :] if finished else self._looks
        if finished and self._looks[-1].kind == _BACK and len(self._looks) == 1:
            self._looks, self._rotations = [], np.zeros(15)
            return None
        result = rotate_to_look(pose.skeleton, pose.rotations[None], np.array([pose.heading]), self._rotations[None])
        return np.asarray(result[0])

    def _begin(self, request: tuple[int, Floats, bool], pose: LayerPose) -> None:
        kind, goal, cue = request
        last = self._looks[-1] if self._looks else None
        now = find_reached_angles(np.concatenate([self._rotations, np.zeros(7)])[None])[0]
        if kind == _BACK:
            if last is None or last.kind == _BACK:
                return
            wanted = np.zeros(2)
        else:
            wanted = _goal_angles(pose, kind, goal, 0.0)
        if cue:
            if last is not None and last.cue and last.kind != _BACK and np.abs(wanted - last.angles).max() < _SAME:
                last.goal = goal
                return
            if abs(wanted[0]) < _FACING and (last is None or last.kind == _BACK):
                return
        shift = self.gaze.shift(project_into_region((wanted - now)[None], self.gaze.region)[0][0])
        times = np.array([shift.length, *shift.starts, shift.peak, shift.overshoot])
        self._looks.append(_Look(pose.seconds, kind, goal, cue, times, self._rotations.copy(), wanted))

    def _follow(self, pose: LayerPose) -> None:
        """Update the angles of all targets. End a cue that the body faces; switch sides for a target far behind."""
        gain = 1.0 - math.exp(-1.0 / (_FOLLOW * pose.fps))
        for look in self._looks:
            if look.kind in (_POINT, _DIRECTION):
                wanted = _goal_angles(pose, look.kind, look.goal, float(look.angles[0]))
                look.angles = look.angles + gain * (wanted - look.angles)
        last = self._looks[-1]
        if last.cue and last.kind == _DIRECTION and abs(last.angles[0]) < _FACING:
            self._begin((_BACK, np.zeros(2), False), pose)
        elif last.kind in (_POINT, _DIRECTION) and abs(last.angles[0]) > _BEHIND:
            self._begin((last.kind, last.goal, last.cue), pose)

    def _blend_looks(self, seconds: float) -> Floats:
        looks, n = self._looks, len(self._looks)
        inside, _ = project_into_region(np.array([look.angles for look in looks]), self.gaze.region)
        arrays = GazeLooks(
            np.array([look.begin for look in looks]),
            np.array([min(look.kind, _ANGLES) for look in looks], dtype=np.int64),
            np.array([look.times for look in looks]),
            np.zeros((n, 3)),
            inside[:, None],
            np.array([look.anchor for look in looks]),
        )
        rotations = np.zeros(15)
        blend_looks(arrays, self.gaze.grid, np.zeros(2), seconds, rotations)
        return rotations


def _goal_angles(pose: LayerPose, kind: int, goal: Floats, near: float) -> Floats:
    """Return yaw and pitch (2,) of a target relative to the body's heading, with yaw within pi of `near`; radians."""
    if kind == _ANGLES:
        return goal
    if kind == _DIRECTION:
        found = np.array([goal[0] - pose.heading, 0.0])
    else:
        found = find_look_angles(pose.skeleton, pose.positions, pose.world, pose.heading, goal)
    found[0] = near + math.remainder(found[0] - near, 2.0 * math.pi)
    return np.asarray(found)


def _check_gaze(gaze: Any) -> tuple[int, Floats, bool]:
    if gaze is None:
        return _BACK, np.zeros(2), False
    if np.shape(gaze) == (3,):
        return _POINT, freeze_array(gaze, "the point to look at", (3,)), False
    return _ANGLES, check_goal(gaze, "gaze"), False
