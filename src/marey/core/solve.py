"""Fit a skeleton to measured positions of joints.

Bones have constant lengths. Each frame gets the pose nearest to its measured positions: both ends of every bone are
moved by the same amount until the bone has its length, repeatedly, so that errors do not accumulate along a limb.
Points around a joint that do not move relative to each other (hip joints and spine, shoulders and neck) form one rigid
shape. A point that does move gets an additional joint between it and the shape. Missing points between hips, shoulders
and head are added: spine and neck bend, and shoulders move on a circle around the chest, so that their distances may
change.

Positions do not show how a bone is twisted. Convention: a thigh or upper arm is twisted so that knee and elbow bend
like hinges, as far as they are bent; all other bones are not twisted relative to their parents.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from marey.core.arrays import Bools, Floats, Ints
from marey.core.kinematics import forward_kinematics, to_local
from marey.core.skeleton import Skeleton
from marey.errors import InvalidValue, format_list
from marey.maths import ease_in, filters, quat

_SIDES = {"left": 1.0, "right": -1.0}
_UP, _FORWARD = (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


class _Bone(NamedTuple):
    """The parent joint, and the direction of the bone in the rest pose: a T-pose, facing +Z with Y up."""

    parent: str
    direction: tuple[float, float, float]


_ARM, _DOWN = (1.0, 0.0, 0.0), (0.0, -1.0, 0.0)
_ARM_BONES = {
    "shoulder": _Bone("chest", _ARM), "upper_arm": _Bone("*shoulder", _ARM), "forearm": _Bone("*upper_arm", _ARM),
    "hand": _Bone("*forearm", _ARM), "fingertips": _Bone("*hand", _ARM),
}  # fmt: skip
_LEG_BONES = {
    "upper_leg": _Bone("hips", _ARM), "lower_leg": _Bone("*upper_leg", _DOWN), "foot": _Bone("*lower_leg", _DOWN),
    "ball": _Bone("*foot", (0.0, -0.48, math.sqrt(1.0 - 0.48**2))), "toe_tip": _Bone("*ball", _FORWARD),
}  # fmt: skip


def _add_right_side(bones: Mapping[str, _Bone]) -> dict[str, _Bone]:
    """Return the bones of both sides from those of the left side."""
    return {
        f"{side}_{key}": _Bone(bone.parent.replace("*", f"{side}_"), (sign * bone.direction[0], *bone.direction[1:]))
        for side, sign in _SIDES.items()
        for key, bone in bones.items()
    }


# All joints that may be given, parents first, each limb as a whole.
BODY: dict[str, _Bone] = {
    "hips": _Bone("", _UP), "spine": _Bone("hips", _UP), "spine2": _Bone("spine", _UP), "chest": _Bone("spine2", _UP),
    "neck": _Bone("chest", _UP), "head": _Bone("neck", _UP), "head_tip": _Bone("head", _UP),
    "nose": _Bone("head", _FORWARD), **_add_right_side(_ARM_BONES), **_add_right_side(_LEG_BONES),
}  # fmt: skip
_NEEDED = tuple(f"{side}_{part}" for side in _SIDES for part in ("upper_leg", "lower_leg"))
# Limbs that bend about one axis in the rest pose: (upper joint, lower joint, axis on the left side).
_HINGES = (("upper_leg", "lower_leg", (1.0, 0.0, 0.0)), ("upper_arm", "forearm", (0.0, -1.0, 0.0)))
# The sine of a limb's bend below which its hinge is not used, and above which only the hinge determines the twist.
_STRAIGHT, _BENT = 0.1, 0.4
# Seconds over which the twist of a straight limb is taken from frames in which it is bent.
_TWIST_SIGMA = 0.1
# Points form a rigid shape if they move relative to each other by less than this fraction of the body's size, plus this
# many times the noise.
_SOLID, _SOLID_NOISE = 1.5e-3, 1.0
# Relative size of the second axis of a rigid shape below which the shape does not determine its rotation.
_THIN = 0.15
# Weight of the guessed rotation if the shape is thin.
_HINT = 0.01
_N_ITERATIONS, _N_ROUNDS = 40, 3
# How much longer, as a fraction, two bones in a chain are than the distance that they span: for two bones that replace
# one, and for the two bones between the shoulders.
_SLACK, _CLAVICLE = 0.02, 0.05
# Bones shorter than this fraction of the body's size have no direction.
_SHORT = 1e-4


@dataclass(frozen=True, slots=True, eq=False)
class FittedSkeleton:
    """A skeleton whose joints are named after their roles, and its pose in F frames, as in `Motion`.

    keys : joint index of each measured point and of each point derived from them.
    """

    skeleton: Skeleton
    root_positions: Floats
    rotations: Floats
    keys: Mapping[str, int]


def fit_skeleton(points: Mapping[str, Floats], noise: float, fps: float) -> FittedSkeleton:
    """Fit a skeleton to positions (F, 3) of joints, keyed by the names in `BODY`.

    Positions may have any unit and axes, and should be smooth. noise : their remaining noise. fps : frames per second.
    """
    given = _complete(points)
    keys = [key for key in BODY if key in given]
    places = np.stack([given[key] for key in keys], axis=1)
    index = {key: k for k, key in enumerate(keys)}
    parents = [_find_parent(key, index) for key in keys]
    size = _measure_size(places, parents)
    if not size > 0.0:
        raise InvalidValue("all positions are the same point, so no skeleton can be fitted; check the data")
    clusters = [_fit_cluster(places, index, parents, key, _SOLID * size + _SOLID_NOISE * noise) for key in _BRANCHES]
    body = _Body(keys, parents, places, clusters, size)
    placed = places
    # Each later round moves halfway back to the measured positions, then projects to a valid pose again.
    for k in range(_N_ROUNDS):
        placed = body.project(placed if k == 0 else placed + 0.5 * (places - placed))
    return body.to_pose(placed, fps)


def _complete(points: Mapping[str, Floats]) -> dict[str, Floats]:
    """Return the points with hips, neck and chest, which may be derived from others."""
    unknown = [key for key in points if key not in BODY]
    if unknown:
        raise InvalidValue(f"unknown joint {unknown[0]!r}; expected one of {', '.join(BODY)}")
    missing = [key for key in _NEEDED if key not in points]
    if "neck" not in points and not all(f"{side}_upper_arm" in points for side in _SIDES):
        missing.append("neck")
    if missing:
        raise InvalidValue(f"positions of {format_list(missing, 6)} are needed to fit a skeleton")
    given = dict(points)
    if "hips" not in given:
        given["hips"] = 0.5 * (given["left_upper_leg"] + given["right_upper_leg"])
    shoulders = [given[f"{side}_upper_arm"] for side in _SIDES if f"{side}_upper_arm" in given]
    across = given["left_upper_leg"] - given["right_upper_leg"]
    if "neck" not in given:
        across = shoulders[0] - shoulders[1]
        given["neck"] = 0.5 * (shoulders[0] + shoulders[1])
        if "chest" not in given:
            below = np.broadcast_to(given["hips"], across.shape) - given["neck"]
            given["chest"] = _bend_between(shoulders[0], shoulders[1], below, _CLAVICLE)
            if "head" in given:
                given["neck"] = _bend_between(
                    given["chest"], given["head"], np.cross(given["head"] - given["chest"], across)
                )
    if "chest" not in given:
        given["chest"] = given["neck"]
    if not {"spine", "spine2"} & given.keys() and "chest" not in points:
        up = given["chest"] - given["hips"]
        given["spine"] = _bend_between(given["hips"], given["chest"], np.cross(up, across))
    if "nose" in given:
        given.pop("head_tip", None)
    return given


def _bend_between(start: Floats, end: Floats, side: Floats, slack: float = _SLACK) -> Floats:
    """Return a point (F, 3) at the same constant distance from start and end, on the side of their connecting line
    given by `side` (F, 3).

    The constant is half the 99th percentile of the distance between start and end, increased by the fraction `slack`:
    near a straight line, a small change of the distance would move the point far.
    """
    middle, line = 0.5 * (start + end), end - start
    length = np.linalg.norm(line, axis=1, keepdims=True)
    bone = (1.0 + slack) * 0.5 * float(np.quantile(length, 0.99))
    along = line / np.maximum(length, 1e-300)
    away = side - along * (along * side).sum(axis=1, keepdims=True)
    away /= np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-300)
    return np.asarray(middle + away * np.sqrt(np.maximum(bone**2 - (0.5 * length) ** 2, 0.0)))


def _find_parent(key: str, index: Mapping[str, int]) -> int:
    """Return the index of the nearest ancestor in `index`; -1 for the hips."""
    above = BODY[key].parent
    while above and above not in index:
        above = BODY[above].parent
    return index[above] if above else -1


def _measure_size(places: Floats, parents: Sequence[int]) -> float:
    """Return the size of the body: the sum of the median bone lengths, divided by that sum for a person of height 1."""
    lengths = np.linalg.norm(places[:, 1:] - places[:, parents[1:]], axis=2)
    return float(np.median(lengths, axis=0).sum()) / 2.5


# Joints with several bones: the role of the points to their left and right, and the joints below and above, which show
# the direction of the body.
_BRANCHES = {"hips": ("upper_leg", "hips", "neck"), "chest": ("upper_arm", "hips", "neck")}


class _Cluster(NamedTuple):
    """A joint with several bones.

    joint, children : indices.
    solid : (C,) True for children that do not move relative to the joint.
    template : (C, 3) offsets of the children.
    guess : (F, 3, 3) rotations from the line between left and right and the direction of the body.
    """

    joint: int
    children: Ints
    solid: Bools
    template: Floats
    guess: Floats


def _fit_cluster(
    places: Floats, index: Mapping[str, int], parents: Sequence[int], key: str, tolerance: float
) -> _Cluster:
    joint = index[key]
    lateral, below, above = _BRANCHES[key]
    children = np.array([k for k, parent in enumerate(parents) if parent == joint], dtype=np.int64)
    vectors = places[:, children] - places[:, joint, None]
    vectors[:, np.median(np.linalg.norm(vectors, axis=2), axis=0) < 0.1 * tolerance] = 0.0  # at the same place
    guess = _make_frames(places, index, lateral, below, above)
    solid = np.ones(len(children), dtype=bool)
    template, moved = _fit_shape(vectors, solid, guess)
    while moved[solid].max(initial=0.0) > tolerance:
        # Leave out the child without which the others fit best.
        fits = {}
        for k in np.flatnonzero(solid):
            fewer = solid.copy()
            fewer[k] = False
            fits[int(k)] = (fewer, *_fit_shape(vectors, fewer, guess))
        solid, template, moved = min(fits.values(), key=lambda fit: float(fit[2][fit[0]].max(initial=0.0)))
    return _Cluster(joint, children, solid, template, guess)


def _fit_shape(vectors: Floats, solid: Bools, guess: Floats) -> tuple[Floats, Floats]:
    """Return the typical shape (C, 3) of vectors (F, C, 3), aligned by those marked in `solid`, and how much each
    vector moves within it, (C,)."""
    rotations = guess
    for _ in range(4):
        template = np.median(np.einsum("fij,fci->fcj", rotations, vectors), axis=0)
        rotations = _align(vectors[:, solid], template[solid], guess)
    local = np.einsum("fij,fci->fcj", rotations, vectors)
    return template, np.sqrt(((local - template) ** 2).sum(axis=2).mean(axis=0))


def _make_frames(places: Floats, index: Mapping[str, int], lateral: str, below: str, above: str) -> Floats:
    """Return rotations (F, 3, 3): X to the left, Y along the body."""
    up = places[:, index[above]] - places[:, index[below]]
    across = np.zeros_like(up)
    names = [f"{side}_{lateral}" for side in _SIDES]
    if all(name in index for name in names):
        across = places[:, index[names[0]]] - places[:, index[names[1]]]
    else:  # no shoulders are given: use the hips
        across = places[:, index["left_upper_leg"]] - places[:, index["right_upper_leg"]]
    x = across / np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-300)
    y = up - x * (x * up).sum(axis=1, keepdims=True)
    y /= np.maximum(np.linalg.norm(y, axis=1, keepdims=True), 1e-300)
    frames = np.stack([x, y, np.cross(x, y)], axis=2)
    bad = np.abs(np.linalg.det(frames) - 1.0) > 1e-6  # joints at the same place
    frames[bad] = np.eye(3)
    return frames


def _align(vectors: Floats, template: Floats, guess: Floats) -> Floats:
    """Return rotations (F, 3, 3) that move the template (C, 3) nearest to vectors (F, C, 3).

    A template that is thin, or has one vector, gets the rotation about itself from `guess`.
    """
    if not template.any():
        return guess
    product = np.einsum("fci,cj->fij", vectors, template)
    sizes = np.linalg.svd(template, compute_uv=False)
    if len(sizes) < 2 or sizes[1] < _THIN * sizes[0]:
        product = product + (_HINT * sizes[0] ** 2) * guess
    left, _, right = np.linalg.svd(product)
    left[..., 2] *= np.sign(np.linalg.det(left @ right))[:, None]
    return np.asarray(left @ right)


class _Body:
    """A skeleton to be fitted: the lengths of its bones, and which joints are inserted."""

    def __init__(
        self, keys: list[str], parents: list[int], places: Floats, clusters: Sequence[_Cluster], size: float
    ) -> None:
        self.keys, self.parents, self.clusters, self.short = keys, parents, clusters, _SHORT * size
        lengths = np.linalg.norm(places[:, 1:] - places[:, parents[1:]], axis=2)
        self.lengths = np.concatenate([[0.0], np.median(lengths, axis=0)])
        self.solid = {int(k): each for each in clusters for k in each.children[each.solid]}

    def project(self, places: Floats) -> Floats:
        """Move the positions (F, K, 3) of K points so that bones keep their lengths and rigid groups their shapes."""
        out = places.copy()
        loose = [k for k in range(1, len(self.keys)) if k not in self.solid]
        for _ in range(_N_ITERATIONS):
            for each in self.clusters:
                self._hold_shape(out, each)
            for k in loose:
                parent = self.parents[k]
                bone = out[:, k] - out[:, parent]
                length = np.linalg.norm(bone, axis=1, keepdims=True)
                change = 0.5 * (length - self.lengths[k]) * bone / np.maximum(length, 1e-300)
                out[:, parent] += change
                out[:, k] -= change
        return out

    @staticmethod
    def _hold_shape(places: Floats, cluster: _Cluster) -> None:
        """Move the joint and its rigidly attached children, in place, to the nearest rigid copy of their shape."""
        if not cluster.solid.any():
            return
        members = np.concatenate([[cluster.joint], cluster.children[cluster.solid]])
        shape = np.concatenate([np.zeros((1, 3)), cluster.template[cluster.solid]])
        center, middle = places[:, members].mean(axis=1, keepdims=True), shape.mean(axis=0)
        rotations = _align(places[:, members] - center, shape - middle, cluster.guess)
        places[:, members] = center + (shape - middle) @ rotations.transpose(0, 2, 1)

    def to_pose(self, places: Floats, fps: float) -> FittedSkeleton:
        """Return the skeleton, and its pose at the positions `places`."""
        names: list[str] = []
        parents: list[int] = []
        offsets: list[Floats] = []
        world: list[Floats] = []
        joint_of: dict[int, int] = {}
        branches = {each.joint: each for each in self.clusters}
        below: dict[int, list[int]] = {k: [] for k in range(len(self.keys))}
        for k, parent in enumerate(self.parents):
            if parent >= 0:
                below[parent].append(k)

        def add(name: str, parent: int, offset: Floats, rotation: Floats) -> int:
            names.append(name)
            parents.append(parent)
            offsets.append(offset)
            world.append(rotation)
            return len(names) - 1

        index = {key: k for k, key in enumerate(self.keys)}
        for k, key in enumerate(self.keys):
            above = self.parents[k]
            parent = -1 if above < 0 else joint_of[above]
            offset = np.array(BODY[key].direction) * self.lengths[k]
            if k in self.solid:
                cluster = self.solid[k]
                offset = cluster.template[int(np.flatnonzero(cluster.children == k)[0])]
            elif above in branches and self.lengths[k] > self.short:
                bone = places[:, k] - places[:, above]
                turned = _align_bone(world[parent], offset, bone)
                parent = add(_name_between(key, names), parent, np.zeros(3), turned)
            if k in branches:
                rotation = quat.from_matrix(_branch_rotations(places, branches[k]))
            else:
                rotation = quat.identity((len(places),)) if parent < 0 else world[parent]
                child = next((c for c in below[k] if self.lengths[c] > self.short), None)
                if child is not None:
                    rest = np.array(BODY[self.keys[child]].direction)
                    rotation = _align_bone(rotation, rest, places[:, child] - places[:, k])
                    rotation = self._twist(key, k, rotation, places, index, fps)
            joint_of[k] = add(key, parent, offset, rotation)
        local = to_local(np.stack(world, axis=1), np.array(parents))
        skeleton = Skeleton(tuple(names), np.array(parents), np.array(offsets))
        roles = {role: role for role in names if role in _ROLE_KEYS}
        return FittedSkeleton(
            skeleton.with_roles(roles),
            places[:, index["hips"]].copy(),
            quat.unroll(quat.normalize(local)),
            {key: joint_of[k] for k, key in enumerate(self.keys)},
        )

    def _twist(
        self, key: str, k: int, rotation: Floats, places: Floats, index: Mapping[str, int], fps: float
    ) -> Floats:
        """Twist a thigh or upper arm so that the joint below bends like a hinge."""
        for upper, lower, axis in _HINGES:
            for side, sign in _SIDES.items():
                if key != f"{side}_{upper}" or f"{side}_{lower}" not in index:
                    continue
                middle = index[f"{side}_{lower}"]
                ends = [c for c, parent in enumerate(self.parents) if parent == middle]
                if not ends:
                    return rotation
                bones = places[:, middle] - places[:, k], places[:, ends[0]] - places[:, middle]
                along, beyond = (b / np.maximum(np.linalg.norm(b, axis=1, keepdims=True), 1e-300) for b in bones)
                normal = np.cross(along, beyond)
                bend = np.linalg.norm(normal, axis=1)
                hinge = quat.rotate(rotation, np.array(axis) * (sign if upper == "upper_arm" else 1.0))
                sine = (np.cross(hinge, normal) * along).sum(axis=1)
                angle = np.arctan2(sine, (hinge * normal).sum(axis=1))
                weight = ease_in((bend - _STRAIGHT) / (_BENT - _STRAIGHT)) + 1e-9
                seen = weight > 1e-6
                if seen.any():
                    angle[seen] = np.unwrap(angle[seen])
                angle[~seen] = 0.0
                sigma = _TWIST_SIGMA * fps
                near = filters.gaussian(weight * angle, sigma) / np.maximum(filters.gaussian(weight, sigma), 1e-12)
                smooth = weight * angle + (1.0 - weight) * near * ease_in(filters.gaussian(weight, sigma) * 4.0)
                return np.asarray(quat.mul(quat.from_axis_angle(along, smooth), rotation))
        return rotation


_ROLE_KEYS = frozenset(key for key in BODY if key not in ("spine2", "head_tip", "nose"))


def _name_between(key: str, taken: Sequence[str]) -> str:
    """Return the name of a joint that is inserted above joint `key`: the nearest role above `key` if that name is
    free."""
    above = BODY[key].parent
    while above and above not in _ROLE_KEYS:
        above = BODY[above].parent
    return above if above and above not in taken else f"{key}_base"


def _branch_rotations(places: Floats, cluster: _Cluster) -> Floats:
    vectors = places[:, cluster.children[cluster.solid]] - places[:, cluster.joint, None]
    return _align(vectors, cluster.template[cluster.solid], cluster.guess)


def _align_bone(rotation: Floats, rest: Floats, bone: Floats) -> Floats:
    """Add the smallest rotation that makes the rest direction (3,) point along the bone (F, 3)."""
    now = quat.rotate(rotation, np.broadcast_to(rest, bone.shape))
    return np.asarray(quat.mul(quat.between(now, bone), rotation))


def pose_points(solved: FittedSkeleton) -> dict[str, Floats]:
    """Return the positions (F, 3) of the joints that were given, in the solved pose."""
    world = forward_kinematics(solved.skeleton, solved.root_positions, solved.rotations)
    return {key: world.positions[:, joint] for key, joint in solved.keys.items()}
