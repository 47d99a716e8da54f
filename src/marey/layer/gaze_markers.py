"""Prepare captured looks: assign markers to body parts, fill gaps, find rests, and fit rotations (Heck 5.2.2.1)."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from marey.core.arrays import Bools, Floats, find_runs, set_readonly
from marey.core.markers import Markers
from marey.core.motion import Motion
from marey.core.placement import find_facing
from marey.errors import InvalidValue, MareyWarning, NoResult, ParseError
from marey.io.archive import read_json
from marey.layer.gaze_body import GazeBody
from marey.layer.gaze_model import PARTS
from marey.layer.smoothing import smooth_series
from marey.maths import quat

__all__ = [
    "Landmarks",
    "check_triads",
    "find_marker_landmarks",
    "find_motion_landmarks",
    "find_still_runs",
    "load_triads",
    "set_upright",
]

TRIADS_FORMAT, TRIADS_VERSION = "marey.gaze_triads", 1
# Speed in m/s below which the body counts as still (Heck 5.2.2.1), and the longest movement, in seconds, that does not
# end a rest.
STILL, _JOIN = 0.006, 1.0 / 6.0
# Longest gap that is filled, and standard deviation of the smoothing, in seconds.
_LONGEST_GAP, _SMOOTH = 0.5, 0.03
# The markers of a triad must not be collinear: minimum spread across their line, in meters.
_SPREAD = 0.004
# For a skeletal clip, virtual markers are placed at this distance from a joint, in meters.
_LEVER = 0.1


@dataclass(frozen=True, slots=True, eq=False)
class Landmarks:
    """A captured look: four sets of points on the body.

    clouds : points (F, n, 3) on pelvis, lower spine, upper spine and head, in meters, relative to the base of the
        spine; for a skeletal clip, relative to the joint.
    facing : yaw of the body at rest, in radians; None if it is unknown.
    fps, name : frame rate and name of the recording.
    """

    clouds: tuple[Floats, ...]
    facing: float | None
    fps: float
    name: str

    def __len__(self) -> int:
        return len(self.clouds[0])

    def find_rotations(self, rest: slice, heading: float) -> Floats:
        """Return the rotation (F, 4, 4) of each of the four parts relative to its mean over the frames `rest`.

        heading : heading of the body in radians; it defines the axes of the rotations.
        """
        body = quat.from_axis_angle([0.0, 1.0, 0.0], heading)
        out = [
            quat.mul(quat.inv_mul(body, _fit_rotations(cloud, cloud[rest].mean(axis=0))), body) for cloud in self.clouds
        ]
        return np.asarray(quat.unroll(np.stack(out, axis=1)))


def load_triads(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a JSON file that assigns markers to body parts, with the keys of `check_triads`, `format` and `version`."""
    content = read_json(path, TRIADS_FORMAT, TRIADS_VERSION, required=False)
    content = {key: value for key, value in content.items() if key not in ("format", "version")}
    try:
        return check_triads(content)
    except InvalidValue as error:
        raise ParseError(str(error), path=path) from None


def check_triads(given: Any) -> dict[str, Any]:
    """Check an assignment of markers to body parts; return it as a dictionary.

    Example: ``{"base": "SACR", "pelvis": [three or more], "lower_spine": ..., "upper_spine": ..., "neck": ...}``.
    `base` is a marker at the base of the spine, `neck` lists markers on the head. Optional `front` and `back`, also
    lists of markers, define the facing direction at rest.
    """
    if not isinstance(given, Mapping):
        raise InvalidValue(
            f"triads must be a dict that maps each body part to its marker names, not {type(given).__name__}"
        )
    needed = ("base", *PARTS[:4])
    for part in needed:
        if part not in given:
            raise InvalidValue(f"triads must have the keys {', '.join(needed)}, but {part!r} is missing")
    for key, names in given.items():
        if key not in (*needed, "front", "back"):
            raise InvalidValue(f"keys of triads must be {', '.join(needed)}, front or back, not {key!r}")
        listed = [names] if key == "base" else names
        if not isinstance(listed, list | tuple) or not all(isinstance(name, str) for name in listed):
            raise InvalidValue(f"triads must give a list of marker names for {key!r}, not {names!r}")
        if key in PARTS and len(set(listed)) < 3:
            raise InvalidValue(
                f"triads must give at least three markers for {key!r}, which define its rotation, not "
                f"{len(set(listed))}"
            )
    if ("front" in given) != ("back" in given):
        raise InvalidValue("triads must have both front and back, which define the facing direction, or neither")
    return dict(given)


def set_upright(markers: Markers, named: Mapping[str, Any], facing: float | None) -> Markers:
    """Return the recording, rotated if necessary to put the head above the base of the spine.

    The up axis is hard to detect from a few trunk markers, but a person who looks around sits or stands. If the head
    lies along another axis, the recording is rotated by right angles. The facing direction must then come from the
    markers `front` and `back`, because world angles are no longer valid.
    """
    rest = slice(0, max(1, round(0.2 * markers.fps)))
    head = np.mean([fill_gaps(markers, name)[rest] for name in _select_seen(markers, named["neck"])], axis=(0, 1))
    along = head - fill_gaps(markers, named["base"])[rest].mean(axis=0)
    axis = int(np.abs(along).argmax())
    if axis == 1 and along[1] > 0.0:
        return markers
    toward = np.zeros(3)
    toward[axis] = np.sign(along[axis])
    name, letter = markers.name or "the recording", ("-" if along[axis] < 0.0 else "+") + "XYZ"[axis]
    said = f"{name}: the head markers are displaced from the base of the spine along {letter} instead of upward"
    if "front" not in named or facing is not None:
        others = [] if "front" in named else ["list front and back markers in `triads=`"]
        others += [] if facing is None else ["omit `facing=`"]
        raise InvalidValue(
            said,
            parameter="up",
            remedy=f"pass the file's up axis as `up=` when you load it, or {' and '.join(others)}; the facing "
            "direction is then taken from front and back markers after the recording is turned upright",
        )
    warnings.warn(f"{said}; the recording was turned upright", MareyWarning, stacklevel=4)
    turn = quat.between(toward, [0.0, 1.0, 0.0])
    return replace(markers, positions=set_readonly(quat.rotate(turn, markers.positions)))


def _select_seen(markers: Markers, names: Any) -> list[str]:
    """Return the names of the markers whose gaps can be filled, or all names if there are none."""
    usable = []
    for name in names:
        try:
            fill_gaps(markers, name)
        except NoResult:
            continue
        usable.append(name)
    return usable or list(names)


def find_marker_landmarks(markers: Markers, triads: Mapping[str, Any]) -> Landmarks:
    """Return the landmarks of a marker recording, with gaps filled, relative to the base of the spine."""
    named = check_triads(triads)
    base = fill_gaps(markers, named["base"])
    clouds = []
    for part in PARTS[:4]:
        points, lost = [], []
        for name in named[part]:
            try:
                points.append(fill_gaps(markers, name) - base)
            except NoResult as error:
                lost.append((name, error))
        if len(points) < 3:
            raise lost[0][1]
        if lost:
            listed = ", ".join(repr(name) for name, _ in lost)
            warnings.warn(
                f"{markers.name or 'markers'}: {part} does not use {listed}, because of long gaps", MareyWarning, 2
            )
        cloud = np.stack(points, axis=1)
        spread = np.linalg.svd(cloud[0] - cloud[0].mean(axis=0), compute_uv=False)[1]
        if spread < _SPREAD:
            raise InvalidValue(
                f"the markers of {part!r} are collinear (within {1000 * spread:.1f} mm), so its rotation is unknown; "
                "choose markers that form a triangle"
            )
        clouds.append(cloud)
    toward = None
    if "front" in named:
        ends = [np.mean([fill_gaps(markers, name) for name in named[end]], axis=0) for end in ("front", "back")]
        x, _, z = (ends[0] - ends[1])[: max(1, round(0.2 * markers.fps))].mean(axis=0)
        toward = float(np.arctan2(x, z))
    return Landmarks(tuple(clouds), toward, markers.fps, markers.name)


def fill_gaps(markers: Markers, name: str) -> Floats:
    """Return the positions (F, 3) of a marker with gaps filled by linear interpolation (Heck 5.2.2.1).

    Gaps at the start and end are filled with the nearest position. A gap of more than 0.5 s raises `NoResult`.
    """
    k = markers.index(name)
    seen: Bools = markers.valid[:, k]
    longest = max((b - a for a, b in find_runs(~seen)), default=0)
    if longest > _LONGEST_GAP * markers.fps:
        a, b = next((a, b) for a, b in find_runs(~seen) if b - a == longest)
        raise NoResult(
            f"marker {name!r} is missing from frame {a} to {b}, {longest / markers.fps:.2f} s; gaps of up to "
            f"{_LONGEST_GAP:g} s can be filled: crop the recording, or choose another marker in `triads=`"
        )
    if not seen.any():
        raise NoResult(f"marker {name!r} is missing in every frame; choose another marker in `triads=`")
    at, frames = markers.positions[:, k], np.arange(len(markers))
    return np.stack([np.interp(frames, frames[seen], at[seen, axis]) for axis in range(3)], axis=1)


def find_motion_landmarks(motion: Motion) -> Landmarks:
    """Return the landmarks of a skeletal clip: virtual points around its joints."""
    body = GazeBody.from_skeleton(motion.skeleton)
    world = motion.world()
    corners = _LEVER * np.array([[0.0, 1.0, 0.0], [-0.8, -0.6, 0.0], [0.8, -0.6, 0.0], [0.0, 0.0, 1.0]])
    clouds = [quat.rotate(world.rotations[:, joint, None], corners) for joint in body.landmarks]
    still = max(1, round(0.2 * motion.fps))
    yaw = float(np.mean(find_facing(motion.skeleton, world.positions[:still])))
    return Landmarks(tuple(np.asarray(cloud) for cloud in clouds), yaw, motion.fps, motion.name)


def find_still_runs(marks: Landmarks) -> tuple[list[tuple[int, int]], int]:
    """Return the half-open frame ranges in which the body is at rest, and the frame in which it moves fastest."""
    points = np.concatenate(marks.clouds, axis=1)
    even = smooth_series(points.reshape(len(points), -1), _SMOOTH * marks.fps).reshape(points.shape)
    speed = np.linalg.norm(np.gradient(even, axis=0), axis=2).mean(axis=1) * marks.fps
    # Noise alone makes markers appear to move; estimate its speed from the quietest fifth of the frames.
    slow = speed < max(STILL, 1.8 * float(np.quantile(speed, 0.2)))
    joined = slow.copy()
    for a, b in find_runs(~slow):
        if a > 0 and b < len(slow) and b - a < _JOIN * marks.fps and speed[a:b].max() < 0.2 * speed.max():
            joined[a:b] = True
    return find_runs(joined), int(speed.argmax())


def _fit_rotations(cloud: Floats, rest: Floats) -> Floats:
    """Fit rotations (F, 4) that move points `rest` (n, 3) to `cloud` (F, n, 3), both about their centers."""
    moved = cloud - cloud.mean(axis=1, keepdims=True)
    u, _, vt = np.linalg.svd(np.einsum("fni,nj->fij", moved, rest - rest.mean(axis=0)))
    u[:, :, 2] *= np.sign(np.linalg.det(u @ vt))[:, None]
    return np.asarray(quat.from_matrix(u @ vt))
