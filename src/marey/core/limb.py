"""Inverse kinematics of one limb: hip or shoulder, hinge, end effector (Kovar 3.2.5).

Written for a leg; an arm is the same with shoulder, elbow and wrist.

Two of Kovar's formulas are used in corrected form. In 3.10 the printed square roots lose the sign of the bones'
components along the hinge axis; here the law of cosines is applied to the signed components. In 3.11 the swivel is the
twist of the ankle's remaining rotation about the hip-ankle line, both in world axes after rotating knee and hip.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from marey.core.arrays import Floats, convert_array, set_readonly
from marey.deprecation import bundled_parameters
from marey.errors import InvalidValue
from marey.maths import quat

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

# Below this bend (radians), the direction of the hinge is undefined.
_STRAIGHT = np.deg2rad(3.0)
# Meters. Bones shorter than this have zero length; so have direction vectors shorter than its square.
_NOTHING = 1e-6
# Which arguments are quaternions; the others are vectors.
_ROTATIONS = ("parent_rotation", "hip", "knee", "ankle", "target_rotation")


@dataclass(frozen=True, slots=True, eq=False)
class LimbPose:
    """Result of `solve_limb`: a limb that reaches its target, or comes as close as the settings allow.

    hip, knee, ankle : (..., 4) local rotations.
    scale : (...) factor for the lengths of the two bones; 1 where they are rigid.
    residue : (...) meters, remaining distance between ankle and target.
    """

    hip: Floats
    knee: Floats
    ankle: Floats
    scale: Floats
    residue: Floats


def find_hinge(
    upper_offset: ArrayLike, lower_offset: ArrayLike, knee: ArrayLike, fallback: ArrayLike | None = None
) -> Floats:
    """Estimate the knee's hinge axis, (3,) in the upper bone's frame, from the frames in which the knee bends.

    A positive rotation about it straightens the limb. Frames are weighted by the sine of their bend, so the noisy axis
    of a nearly straight knee has little effect. If a knee bends in both directions, the direction with the larger sum
    counts as forward.

    Parameters
    ----------
    upper_offset, lower_offset : (3,) meters: knee in the hip's frame, ankle in the knee's frame.
    knee : (F, 4) local rotations.
    fallback : (3,) axis to use if no frame bends by at least 3 degrees; without it, such a limb raises an error.

    Examples
    --------
    >>> joints = walk.skeleton.index("LeftLeg"), walk.skeleton.index("LeftFoot")
    >>> thigh, shin = walk.skeleton.offsets[list(joints)]
    >>> marey.core.find_hinge(thigh, shin, walk.rotations[:, joints[0]]).round(1) + 0.0
    array([-1.,  0.,  0.])
    """
    where = "find_hinge"
    up, down = _find_bones(*_check_arguments(where, upper_offset=upper_offset, lower_offset=lower_offset, knee=knee))
    crosses = np.cross(up, down).reshape(-1, 3)
    axis: Floats = crosses.sum(axis=0)
    bend = np.linalg.norm(crosses, axis=-1) / (_measure_length(up) * _measure_length(down)).reshape(-1)
    if bend.max(initial=0.0) >= np.sin(_STRAIGHT) and np.linalg.norm(axis) > _NOTHING**2:
        return set_readonly(axis / np.linalg.norm(axis))
    if fallback is None:
        raise InvalidValue("the limb never bends, so its hinge axis cannot be found; pass an axis as `fallback`")
    (given,) = _check_arguments(where, hinge=fallback)
    return set_readonly(given.copy())


def hinge_angle(upper_offset: ArrayLike, lower_offset: ArrayLike, knee: ArrayLike, hinge: ArrayLike) -> Floats:
    """Return the knee angle about the hinge, (...) radians in [0, 2 pi): pi is straight, more is bent backward.

    The arguments are those of `solve_limb`, with any leading axes.

    Examples
    --------
    >>> joints = walk.skeleton.index("LeftLeg"), walk.skeleton.index("LeftFoot")
    >>> thigh, shin = walk.skeleton.offsets[list(joints)]
    >>> knee = walk.rotations[:, joints[0]]
    >>> angles = marey.core.hinge_angle(thigh, shin, knee, marey.core.find_hinge(thigh, shin, knee))
    >>> angles.shape, bool((angles <= np.pi).all())
    ((241,), True)
    """
    *limb, axis = _check_arguments(
        "hinge_angle", upper_offset=upper_offset, lower_offset=lower_offset, knee=knee, hinge=hinge
    )
    return _angle_about(*_find_bones(*limb), axis)


@dataclass(frozen=True, slots=True)
class LimbSettings:
    """How `solve_limb` bends a limb.

    Parameters
    ----------
    damping_from : knee angle in radians, in (0, pi), above which rotations are damped to keep a limb near full
        extension from popping (Kovar 3.14-3.15; 135 degrees there). None, the default, turns damping off.
    swivel : in [0, 1], the fraction of the rotation about the hip-ankle line that the hip takes over from the ankle; 0
        leaves the hip as it is. Default 0.5, as in Kovar. It has no effect without a target rotation.
    max_stretch : in [0, 1), maximum scaling of the two bones to close the remaining gap, as a fraction of their length.
        Default 0.

    Examples
    --------
    >>> from marey.core import LimbSettings
    >>> LimbSettings(damping_from=np.radians(135.0), max_stretch=0.1).swivel
    0.5
    """

    damping_from: float | None = None
    swivel: float = 0.5
    max_stretch: float = 0.0

    def __post_init__(self) -> None:
        if self.damping_from is not None and not 0.0 < self.damping_from < np.pi:
            raise InvalidValue(f"damping_from must be greater than 0 and less than pi radians, not {self.damping_from}")
        if not 0.0 <= self.swivel <= 1.0:
            raise InvalidValue(f"swivel must be from 0 to 1, not {self.swivel}")
        if not 0.0 <= self.max_stretch < 1.0:
            raise InvalidValue(f"max_stretch must be at least 0 and less than 1, not {self.max_stretch}")


@bundled_parameters("settings", LimbSettings, damping_from="damping_from", swivel="swivel", max_stretch="max_stretch")
def solve_limb(
    base: ArrayLike,
    parent_rotation: ArrayLike,
    hip: ArrayLike,
    knee: ArrayLike,
    ankle: ArrayLike,
    upper_offset: ArrayLike,
    lower_offset: ArrayLike,
    hinge: ArrayLike,
    target: ArrayLike,
    target_rotation: ArrayLike | None = None,
    *,
    settings: LimbSettings | None = None,
) -> LimbPose:
    """Rotate hip, knee and ankle until the ankle reaches a target position and, if given, orientation.

    Parameters
    ----------
    base : (..., 3) world position of the hip.
    parent_rotation : (..., 4) world rotation of the hip's parent.
    hip, knee, ankle : (..., 4) current local rotations.
    upper_offset, lower_offset : (..., 3) knee in the hip's frame, ankle in the knee's frame.
    hinge : (..., 3) axis of the knee in the hip's frame, as `find_hinge` gives it.
    target : (..., 3) world position for the ankle.
    target_rotation : (..., 4) world orientation for the ankle; None keeps its local rotation.
    settings : damping, swivel and stretch; see `LimbSettings`.

    Returns
    -------
    LimbPose, with the broadcast leading axes of the arguments. The knee never bends backward: a backward bend becomes a
    forward bend. If the target is out of reach, or damping keeps the ankle from it, the ankle lies on the line to it;
    stretching the bones then closes the gap, up to `max_stretch`.

    Examples
    --------
    >>> still = [1.0, 0.0, 0.0, 0.0]
    >>> bent = marey.maths.quat.exp([0.3, 0.0, 0.0])
    >>> thigh, shin = [0.0, -0.4, 0.0], [0.0, -0.4, 0.0]
    >>> hip, hinge, target = [0.0, 0.9, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.2, 0.1]
    >>> pose = marey.core.solve_limb(hip, still, still, bent, still, thigh, shin, hinge, target)
    >>> pose.knee.shape, round(float(pose.residue), 6)
    ((4,), 0.0)
    """
    how = LimbSettings() if settings is None else settings
    base, parent, hip, knee, ankle, upper, lower, hinge, target, orientation = _check_arguments(
        "solve_limb",
        base=base,
        parent_rotation=parent_rotation,
        hip=hip,
        knee=knee,
        ankle=ankle,
        upper_offset=upper_offset,
        lower_offset=lower_offset,
        hinge=hinge,
        target=target,
        target_rotation=quat.identity() if target_rotation is None else target_rotation,
    )
    reach = target - base
    distance = _measure_length(reach)
    turned_knee = _rotate_knee(knee, upper, lower, hinge, distance, how.damping_from)

    # Rotate the line from hip to ankle onto the line to the target by the shortest rotation.
    stick = quat.rotate(turned_knee, lower) + upper
    length = _measure_length(stick)
    hip_world = quat.mul(parent, hip)
    hip_world = quat.mul(quat.between(quat.rotate(hip_world, stick), reach), hip_world)
    turned_ankle = ankle.copy()
    if target_rotation is not None:
        line = _line(reach, quat.rotate(hip_world, stick), quat.rotate(hip_world, upper))
        ankle_world = quat.mul(quat.mul(hip_world, turned_knee), ankle)
        spare = quat.twist_angle(quat.mul_inv(orientation, ankle_world), line)
        hip_world = quat.mul(quat.from_axis_angle(line, how.swivel * spare), hip_world)
        turned_ankle = quat.inv_mul(quat.mul(hip_world, turned_knee), orientation)
        # Of q and -q, take the one closer to the original rotation: signs stay continuous over time.
        turned_ankle = np.where(quat.dot(turned_ankle, ankle)[..., None] < 0.0, -turned_ankle, turned_ankle)

    scale = np.clip(distance / np.maximum(length, _NOTHING), 1.0 - how.max_stretch, 1.0 + how.max_stretch)
    return LimbPose(
        hip=set_readonly(quat.inv_mul(parent, hip_world)),
        knee=set_readonly(turned_knee),
        ankle=set_readonly(turned_ankle),
        scale=set_readonly(np.asarray(scale)),
        residue=set_readonly(np.asarray(np.abs(distance - scale * length))),
    )


def _check_arguments(where: str, **arguments: ArrayLike) -> list[Floats]:
    """Convert the arguments to float arrays with the same leading shape, in the given order; normalize the hinge."""
    arrays = {}
    for name, value in arguments.items():
        array = convert_array(value, f"{where}: {name}")
        size = 4 if name in _ROTATIONS else 3
        if array.shape[-1:] != (size,):
            raise InvalidValue(f"{where}: {name} must have shape (..., {size}), not {array.shape}")
        if not np.isfinite(array).all():
            raise InvalidValue(f"{where}: {name} must be finite, not {array[~np.isfinite(array)][0]}")
        if name.endswith("offset") and (_measure_length(array) < _NOTHING).any():
            raise InvalidValue(f"{where}: {name} must not have zero length; both bones of a limb need a length")
        if name == "hinge":
            length = _measure_length(array)[..., None]
            if (length < _NOTHING).any():
                raise InvalidValue(f"{where}: the hinge axis must not have zero length")
            array = array / length
        arrays[name] = array
    try:
        lead = np.broadcast_shapes(*(array.shape[:-1] for array in arrays.values()))
    except ValueError:
        text = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise InvalidValue(f"{where}: the leading axes of all arguments must broadcast together, got {text}") from None
    return [np.broadcast_to(array, (*lead, array.shape[-1])) for array in arrays.values()]


def _find_bones(upper: Floats, lower: Floats, knee: Floats) -> tuple[Floats, Floats]:
    """Return the vectors from knee to hip and from knee to ankle, (..., 3) in the hip's frame."""
    return -upper, quat.rotate(knee, lower)


def _angle_about(up: Floats, down: Floats, hinge: Floats) -> Floats:
    """Return the angle from `up` to `down` (..., 3) about the hinge axis, (...) radians in [0, 2 pi)."""
    cosine = _dot(up, down) - _dot(up, hinge) * _dot(down, hinge)
    sine = _dot(hinge, np.cross(up, down))
    angle = np.mod(np.arctan2(sine, cosine), 2 * np.pi)
    return np.where(angle < 2 * np.pi, angle, 0.0)  # -1e-17 would be rounded up to 2 pi


def _rotate_knee(
    knee: Floats, upper: Floats, lower: Floats, hinge: Floats, distance: Floats, damping_from: float | None
) -> Floats:
    """Rotate the knee about its hinge until hip and ankle are `distance` apart, as far as damping allows."""
    up, down = _find_bones(upper, lower, knee)
    before = _angle_about(up, down, hinge)
    after = _angle_for(up, down, hinge, distance)
    if damping_from is not None:
        # Replace a backward bend by the forward bend of the same limb length.
        forward = np.minimum(before, 2 * np.pi - before)
        after = forward + damp_angle(after, damping_from) - damp_angle(forward, damping_from)
    return quat.mul(quat.from_axis_angle(hinge, after - before), knee)


def _angle_for(up: Floats, down: Floats, hinge: Floats, distance: Floats) -> Floats:
    """Return the knee angle in [0, pi] at which hip and ankle are `distance` apart, or as close to it as possible.

    The half-angle formula is used. With d the distance, a1, a2 the components of the bones along the hinge and b1, b2
    those perpendicular to it, the squared tangent is (d^2 - min^2) / (max^2 - d^2), where min^2, max^2 = (b1 -+ b2)^2 +
    (a1 - a2)^2.
    """
    a1, a2 = _dot(up, hinge), _dot(down, hinge)
    b1, b2 = _measure_length(up - a1[..., None] * hinge), _measure_length(down - a2[..., None] * hinge)
    along, square = (a1 - a2) ** 2, distance**2
    beyond_least = np.maximum(square - along - (b1 - b2) ** 2, 0.0)
    short_of_most = np.maximum((b1 + b2) ** 2 + along - square, 0.0)
    angle: Floats = 2.0 * np.arctan2(np.sqrt(beyond_least), np.sqrt(short_of_most))
    return angle


def damp_angle(angle: Floats, start: float) -> Floats:
    """Evaluate the integral of Kovar's f (3.14): the angle itself up to `start`, then leveling off toward pi."""
    u = np.clip((angle - start) / max(np.pi - start, 1e-12), 0.0, 1.0)
    damped: Floats = np.minimum(angle, start) + (np.pi - start) * (0.5 * u**4 - u**3 + u)
    return damped


def _line(reach: Floats, stick: Floats, upper: Floats) -> Floats:
    """Return the direction from hip to ankle in the world, (..., 3): `reach`, or `stick` where `reach` is zero, or
    `upper` where both are zero."""
    line = np.where((_measure_length(stick) > _NOTHING)[..., None], stick, upper)
    return np.where((_measure_length(reach) > _NOTHING)[..., None], reach, line)


def _measure_length(vector: Floats) -> Floats:
    length: Floats = np.sqrt(_dot(vector, vector))
    return length


def _dot(a: Floats, b: Floats) -> Floats:
    product: Floats = np.einsum("...k,...k->...", a, b)
    return product
