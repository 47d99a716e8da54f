"""Point clouds: markers on the joints of a body, compared over time (Kovar 4.1.1.1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from marey.core.arrays import Floats, FrozenRecord, check_fps, freeze_array, parse_number, set_readonly
from marey.core.contacts import Contacts
from marey.core.markers import Markers, explain_unusable, fill_gaps
from marey.core.motion import Motion
from marey.core.roles import ROLE_NAMES
from marey.core.skeleton import Skeleton
from marey.deprecation import renamed_parameters
from marey.errors import InvalidValue, JointNotFound, UnknownName, format_list, similar, warn_user
from marey.maths import quat

__all__ = ["MARKER_SETS", "Clouds", "Recording", "frame_weights", "point_clouds"]

_SIDES = ("left", "right")


def _name_both_sides(*parts: str) -> tuple[str, ...]:
    return tuple(f"{side}_{part}" for side in _SIDES for part in parts)


_ARMS = _name_both_sides("upper_arm", "forearm", "hand", "fingertips")
_LEGS = _name_both_sides("upper_leg", "lower_leg", "foot", "ball", "toe_tip")

MARKER_SETS: dict[str, tuple[str, ...]] = {
    # No shoulder joints and no first spine joint: in many files they coincide with chest and hips.
    "body": ("hips", "chest", "neck", "head", *_ARMS, *_LEGS),
    "upper": ("chest", "neck", "head", *_ARMS),
    "lower": ("hips", *_LEGS),
    "large": ("hips", "chest", *_name_both_sides("upper_arm", "forearm", "upper_leg", "lower_leg")),
    "root_knees": ("hips", "left_lower_leg", "right_lower_leg"),
}
"""Roles that get a marker. Roles that a skeleton lacks are ignored, but at least one must exist."""
_MARKERS = f"{', '.join(MARKER_SETS)}, or a list of roles and joint names"

# Distance in meters from a joint to its second and third marker, which rotate with it.
_ARM_LENGTH = 0.1
# The longest window, in frames.
_MAX_WINDOW = 100_000
SHAPES = ("triangle", "box", "gaussian")


@dataclass(frozen=True, slots=True, eq=False)
class Clouds(FrozenRecord):
    """M markers over F frames, with the data needed to compare them.

    Parameters
    ----------
    points : (F, M, 3) world positions in meters.
    weights : (M,) weights of the markers, non-negative, with sum 1.
    fps : frames per second.
    name : name of the clip.
    names : names of the markers, to detect a comparison of different markers; may be empty.
    contacts : contacts of the same frames, if a comparison should use them.

    Examples
    --------
    >>> clouds = marey.compare.point_clouds(walk)
    >>> clouds.points.shape, clouds.weights.shape
    ((241, 22, 3), (22,))
    """

    points: Floats
    weights: Floats
    fps: float
    name: str = ""
    names: tuple[str, ...] = ()
    contacts: Contacts | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        points = freeze_array(self.points, "points of a point cloud", (None, None, 3))
        if points.shape[0] == 0 or points.shape[1] == 0:
            raise InvalidValue(
                f"points must have at least one frame and one marker, not {points.shape[0]} frames and "
                f"{points.shape[1]} markers"
            )
        weights = freeze_array(self.weights, "marker weights", (points.shape[1],))
        if (weights < 0).any() or abs(float(weights.sum()) - 1.0) > 1e-9:
            raise InvalidValue(
                f"weights must not be negative and must sum to 1, got a minimum of {weights.min():.6g} and a "
                f"sum of {weights.sum():.6g}; divide them by their sum"
            )
        names = tuple(self.names)
        if names and len(names) != points.shape[1]:
            raise InvalidValue(f"names must have {points.shape[1]} marker names or none, not {len(names)}")
        if self.contacts is not None and len(self.contacts) != len(points):
            raise InvalidValue(f"contacts must have as many frames as points ({len(points)}), not {len(self.contacts)}")
        self._put(points=points, weights=weights, fps=check_fps(self.fps), names=names)

    def __len__(self) -> int:
        return len(self.points)

    @property
    def n_markers(self) -> int:
        """Number of markers, M."""
        return int(self.points.shape[1])


Recording = Motion | Markers | Clouds


@renamed_parameters(figure="recording")
def point_clouds(
    recording: Recording,
    markers: str | Sequence[str] = "body",
    *,
    per_joint: int = 1,
    weights: Mapping[str, float] | ArrayLike | None = None,
) -> Clouds:
    """Return the markers of a motion or recording in every frame, in world coordinates.

    Parameters
    ----------
    recording : a Motion, with markers on its joints; Markers, used as recorded; or Clouds, returned unchanged.
    markers : for a motion, ``"body"``, ``"upper"``, ``"lower"``, ``"large"`` (Kovar 4.1.4: only the large joints) or
        ``"root_knees"`` (Heck 4.2: root and both knees), or a list of roles and joint names. A named set uses the roles
        that the skeleton has; ``"body"`` uses all joints of a skeleton without roles, or without limbs. For recorded
        markers, ``"body"`` means all usable markers; otherwise list their names.
    per_joint : 1 for positions only; 2 or 3 add markers 10 cm from the joint that rotate with it, which makes
        orientation count too. They are perpendicular to the bone in the rest pose, so compared bodies must share a
        rest pose.
    weights : weights of the joints or markers: a mapping keyed by the names in `markers` (default 1), or an array in
        their order, with one value per joint or per marker. Only the ratios matter.

    Gaps in recorded markers are filled by linear interpolation; before the first and after the last visible frame the
    position is held. Markers that are visible in fewer than three quarters of the frames, or missing for more than 0.5
    s at a time, cannot be used: ``"body"`` leaves them out with a warning that names them; if listed by name they raise
    an error.

    Examples
    --------
    >>> marey.compare.point_clouds(walk, "lower").n_markers
    11
    >>> marey.compare.point_clouds(walk, ["hips", "left_foot"], weights={"hips": 2.0}).weights.round(2)
    array([0.67, 0.33])
    """
    if isinstance(recording, Clouds):
        if markers != "body" or per_joint != 1 or weights is not None:
            raise InvalidValue(
                "markers, per_joint and weights must be left at their defaults for Clouds, which already have markers"
            )
        return recording
    if isinstance(recording, Markers):
        if per_joint != 1:
            raise InvalidValue(f"per_joint must be 1, not {per_joint}, because recorded markers are single points")
        names, points = _take_recorded(recording, markers)
        joint_weights = _make_weights(weights, names, 1)
        return Clouds(points, joint_weights, recording.fps, recording.name, names)
    if not isinstance(recording, Motion):
        raise InvalidValue(f"recording must be a Motion, Markers or Clouds, not {type(recording).__name__}")
    if per_joint not in (1, 2, 3):
        raise InvalidValue(f"per_joint must be 1, 2 or 3, not {per_joint!r}")
    names, joints = choose_joints(recording.skeleton, markers)
    points = _joint_points(recording, joints, per_joint)
    joint_weights = _make_weights(weights, names, per_joint)
    marker_names = tuple(name if k == 0 else f"{name}+{k}" for name in names for k in range(per_joint))
    return Clouds(points, joint_weights, recording.fps, recording.name, marker_names, recording.contacts)


def frame_weights(window_seconds: float, fps: float, shape: str = "triangle") -> Floats:
    """Return weights for the frames of a window, (2 L + 1,) with sum 1; L is the number of frames in half the window.

    Parameters
    ----------
    window_seconds : length of the window in seconds; 0 for only the center frame.
    fps : frames per second.
    shape : ``"triangle"`` (Kovar's), ``"box"``, or ``"gaussian"`` with two standard deviations in half a window.

    Examples
    --------
    >>> marey.compare.frame_weights(0.1, fps=60.0).round(3)
    array([0.062, 0.125, 0.188, 0.25 , 0.188, 0.125, 0.062])
    """
    if shape not in SHAPES:
        raise InvalidValue(f"shape must be one of {', '.join(SHAPES)}, not {shape!r}{similar(str(shape), SHAPES)}")
    seconds = parse_number(window_seconds)
    if not (np.isfinite(seconds) and seconds >= 0):
        raise InvalidValue(f"window_seconds must be finite and at least 0 s, not {window_seconds!r}")
    if seconds * check_fps(fps) > _MAX_WINDOW:
        raise InvalidValue(
            f"a window may have at most {_MAX_WINDOW:,} frames, got {seconds:g} s at {fps:g} Hz",
            parameter="window",
            remedy="shorten `window=`",
        )
    half = int(np.floor(0.5 * seconds * fps + 1e-9))
    steps = np.abs(np.arange(-half, half + 1, dtype=np.float64))
    if shape == "box":
        weights = np.ones(len(steps))
    elif shape == "triangle":
        weights = half + 1 - steps
    else:
        weights = np.exp(-0.5 * (2.0 * steps / (half + 0.5)) ** 2)
    return set_readonly(weights / weights.sum())


def check_frame_weights(weights: ArrayLike) -> Floats:
    """Check the weights of a window of 2 L + 1 frames and scale them to sum 1."""
    given = freeze_array(weights, "frame weights", (None,))
    if len(given) % 2 == 0 or (given < 0).any() or not given.sum() > 0 or given[len(given) // 2] == 0:
        raise InvalidValue(
            "frame weights must be an odd number of values of at least 0, with more than 0 in the middle, not "
            f"{len(given)} values with a sum of {given.sum():.6g}"
        )
    return set_readonly(given / given.sum())


def check_pair(a: Clouds, b: Clouds) -> None:
    """Raise an error for clouds that cannot be compared: different markers, weights or frame rates."""
    if a.fps != b.fps:
        raise InvalidValue(
            f"{describe_clip(a, 'a')} has {a.fps:.6g} frames per second, {describe_clip(b, 'b')} has {b.fps:.6g}; "
            "resample one of them with `marey.edit.resample`"
        )
    if a.names and b.names and a.names != b.names:
        only_a = [name for name in a.names if name not in b.names]
        only_b = [name for name in b.names if name not in a.names]
        if not only_a and not only_b:
            raise InvalidValue(
                "both clips have the same markers, but in a different order; pass their names in one order as "
                "`markers=`"
            )
        parts = [
            f"only {describe_clip(clouds, default)} has {format_list([*map(repr, names)])}"
            for clouds, default, names in ((a, "a", only_a), (b, "b", only_b))
            if names
        ]
        raise InvalidValue(
            f"clips with different markers cannot be compared: {' and '.join(parts)}; pass common ones as `markers=`"
        )
    if a.n_markers != b.n_markers:
        raise InvalidValue(f"clips need the same markers, got {a.n_markers} and {b.n_markers}")
    if np.abs(a.weights - b.weights).max() > 1e-12:
        raise InvalidValue("clips need the same marker weights to be compared; pass the same `weights=` for both")


def describe_clip(clouds: Clouds, default: str) -> str:
    """Return the quoted name of a clip for an error message, or `default` if it has no name."""
    return repr(clouds.name) if clouds.name else default


# Which joints --------------------------------------------------------------------------------------------------------


def choose_joints(skeleton: Skeleton, markers: str | Sequence[str]) -> tuple[tuple[str, ...], list[int]]:
    """Return the names and joint indices of the markers."""
    roles = skeleton.roles
    if isinstance(markers, str):
        if markers not in MARKER_SETS:
            raise UnknownName(f"markers must be {_MARKERS}, not {markers!r}{similar(markers, MARKER_SETS)}")
        names = tuple(role for role in MARKER_SETS[markers] if role in roles)
        is_flat = len(skeleton) > 2 and not skeleton.parents[1:].any()  # recorded markers around their center
        if names and not (markers == "body" and is_flat):
            return names, [roles[role] for role in names]
        if markers == "body":
            return skeleton.names, list(range(len(skeleton)))
        roles[MARKER_SETS[markers][0]]  # raises an error that explains how to map roles
    names = list_markers(markers)
    if not names:
        raise InvalidValue("markers must name at least one marker, got none")
    if len(set(names)) != len(names):
        twice = next(name for k, name in enumerate(names) if name in names[:k])
        raise InvalidValue(f"markers must not repeat a name, but {twice!r} occurs twice")
    return names, [_find_joint(skeleton, name) for name in names]


def list_markers(markers: Any) -> tuple[str, ...]:
    """Return marker names as a tuple; raise an error for anything but a list."""
    if not isinstance(markers, Iterable):
        raise InvalidValue(f"markers must be {_MARKERS}, not {markers!r}", parameter="markers")
    return tuple(markers)


def _find_joint(skeleton: Skeleton, name: Any) -> int:
    if name in skeleton.names:
        return skeleton.index(name)
    if name in ROLE_NAMES:
        return skeleton.roles[name]
    near = similar(str(name), (*skeleton.names, *ROLE_NAMES))
    raise JointNotFound(f"marker {name!r} is neither a joint nor a role of the skeleton{near}")


def _make_weights(weights: Mapping[str, float] | ArrayLike | None, names: tuple[str, ...], per_joint: int) -> Floats:
    """Return the marker weights (M,) with sum 1."""
    n = len(names)
    if weights is None:
        given = np.ones(n)
    elif isinstance(weights, Mapping):
        unknown = [str(name) for name in weights if name not in names]
        if unknown:
            raise UnknownName(f"keys of weights must be markers, not {unknown[0]!r}{similar(unknown[0], names)}")
        given = freeze_array([weights.get(name, 1.0) for name in names], "marker weights", (n,))
    else:
        given = freeze_array(weights, "marker weights", (None,))
    if len(given) == n:
        given = np.repeat(given, per_joint)
    if len(given) != n * per_joint:
        raise InvalidValue(
            f"weights must have {n} values, one for each of {format_list([*map(repr, names)])}, not {len(given)}"
        )
    if (given < 0).any():
        raise InvalidValue(f"weights must not be negative, but the lowest is {given.min():.6g}")
    if not given.any():
        raise InvalidValue("weights must not all be 0; give at least one marker a weight above 0")
    return set_readonly(given / given.sum())


# Where they are ------------------------------------------------------------------------------------------------------


def _joint_points(motion: Motion, joints: Sequence[int], per_joint: int) -> Floats:
    """Return marker positions (F, J * per_joint, 3); the markers of one joint are consecutive."""
    world = motion.world()
    if per_joint == 1:
        return set_readonly(world.positions[:, joints])
    arms = np.stack([_square_arms(motion.skeleton, joint) for joint in joints])[:, : per_joint - 1]
    points = np.empty((len(motion), len(joints), per_joint, 3))
    points[:, :, 0] = world.positions[:, joints]
    points[:, :, 1:] = points[:, :, :1] + quat.rotate(world.rotations[:, joints][:, :, None], _ARM_LENGTH * arms)
    return set_readonly(points.reshape(len(motion), -1, 3))


def _square_arms(skeleton: Skeleton, joint: int) -> Floats:
    """Return unit vectors (2, 3) in the joint's frame, perpendicular to its bone and each other; they show twist."""
    children = [child for child in skeleton.children[joint] if skeleton.bone_lengths[child] > 0]
    bone = skeleton.offsets[children[0]] if children else skeleton.offsets[joint]
    length = float(np.linalg.norm(bone))
    axis = bone / length if length > 0 else np.array([0.0, 1.0, 0.0])
    first = np.cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))])
    first /= np.linalg.norm(first)
    return np.stack([first, np.cross(axis, first)])


def _take_recorded(recording: Markers, markers: str | Sequence[str]) -> tuple[tuple[str, ...], Floats]:
    """Return names and positions of recorded markers, with gaps filled."""
    if isinstance(markers, str):
        if markers != "body":
            raise InvalidValue(
                f"recorded markers have no roles, so markers must be 'body' (all) or a list of names, not {markers!r}"
            )
        chosen = list(range(len(recording.names)))
    else:
        chosen = [recording.index(name) for name in markers]
    if not chosen:
        raise InvalidValue("markers must name at least one marker, got none")
    why = {k: explain_unusable(recording, k) for k in chosen}
    left_out = [k for k in chosen if why[k]]
    if left_out and not isinstance(markers, str):
        raise InvalidValue(f"marker {recording.names[left_out[0]]!r} {why[left_out[0]]}; remove it from `markers=`")
    remaining = [k for k in chosen if not why[k]]
    if not remaining:
        raise InvalidValue(
            f"none of the {len(chosen)} markers of {recording.name!r} is visible in enough frames to be compared"
        )
    if left_out:
        names = format_list([repr(recording.names[k]) for k in left_out])
        warn_user(f"{recording.name!r}: left out {len(left_out)} markers that are missing in too many frames: {names}")
    return tuple(recording.names[k] for k in remaining), fill_gaps(recording, remaining)
