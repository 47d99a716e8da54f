"""The correspondence between the joints of two skeletons, which can be saved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from marey.core.arrays import Floats, FrozenRecord, check_type, set_readonly
from marey.core.kinematics import forward_kinematics
from marey.core.motion import Motion
from marey.core.placement import find_facing
from marey.core.skeleton import Skeleton
from marey.errors import InvalidValue
from marey.io.stored import FileFormat, Part, Stored
from marey.maths import quat

# Each limb bone points from one role to the next; rest poses are compared by these directions.
_BONES = {
    "upper_arm": "forearm",
    "forearm": "hand",
    "hand": "fingertips",
    "upper_leg": "lower_leg",
    "lower_leg": "foot",
    "ball": "toe_tip",
}
_SIDES = ("left", "right")
# A reference pose is upright if the lines from feet to hips and from hips to head tilt by at most this many radians.
_UPRIGHT = float(np.arccos(0.7))
# Bones of a leg, from their lower to their upper end, and the lines across hips and shoulders.
_LEG = (("lower_leg", "upper_leg"), ("foot", "lower_leg"))
_ACROSS = (("left_upper_leg", "right_upper_leg"), ("left_upper_arm", "right_upper_arm"))
# Bones shorter than this, in meters, have no direction.
_SHORT = 1e-4


@dataclass(frozen=True, slots=True, eq=False)
class RetargetMap(FrozenRecord, Stored):
    """The data that `retarget` needs about a pair of skeletons.

    source_names : names of the source's S joints.
    target : the skeleton to animate, with T joints.
    chains : pairs of joint chains (source, target) with the same rotation, hips first. If the numbers of joints differ,
        the rotation of one chain is spread over the joints of the other. Each chain starts with its parent joint.
    source_turns : (S, 4) world rotations of the source in its reference pose, facing +Z.
    target_turns : (T, 4) world rotations of the target in the same pose.
    scale : ratio of the target's leg length to the source's.
    source_stand, target_stand : height of the hips above the soles in that pose, in meters.

    Examples
    --------
    >>> smaller = marey.Skeleton(walk.skeleton.names, walk.skeleton.parents, 0.8 * walk.skeleton.offsets)
    >>> pairing = marey.edit.RetargetMap.build(walk.skeleton, smaller)
    >>> round(pairing.scale, 3), pairing.source_turns.shape
    (0.8, (27, 4))
    >>> marey.edit.retarget(run, pairing)
    <Motion 'run': 241 frames at 60 Hz, 27 joints>
    """

    FILE = FileFormat(
        "marey.retarget", 1,
        {
            "source": Part("text", ("source joints",)),
            "target": Part("json"),
            "chains": Part("json"),
            "source_turns": Part("float", ("source joints", 4)),
            "target_turns": Part("float", ("target joints", 4)),
            "scale": Part("float"),
            "source_stand": Part("float"),
            "target_stand": Part("float"),
        },
        is_json=True,
    )  # fmt: skip

    source_names: tuple[str, ...]
    target: Skeleton
    chains: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]
    source_turns: Floats
    target_turns: Floats
    scale: float
    source_stand: float
    target_stand: float

    def __post_init__(self) -> None:
        self._freeze(source_turns=(len(self.source_names), 4), target_turns=(len(self.target), 4))
        for name in ("scale", "source_stand", "target_stand"):
            value = float(getattr(self, name))
            if not (np.isfinite(value) and value > 0.0):
                raise InvalidValue(f"{name} must be a positive number, not {value}")
            self._put(**{name: value})
        for source, target in self.chains:
            for chain, n in ((source, len(self.source_names)), (target, len(self.target))):
                if not chain:
                    raise InvalidValue("a chain of a retarget map must have at least one joint of each skeleton")
                for joint in chain:
                    if not 0 <= joint < n:
                        raise InvalidValue(f"joints of a retarget map must be indices from 0 to {n - 1}, not {joint}")

    @classmethod
    def build(
        cls,
        source: Skeleton | Motion,
        target: Skeleton | Motion,
        *,
        pose: int | None = None,
        target_pose: int | None = None,
    ) -> RetargetMap:
        """Pair the joints of two skeletons by role, and joints without a role by name.

        Parameters
        ----------
        source, target : skeletons, or motions of them.
        pose, target_pose : reference frames of `source` and of `target`, which must then be motions. In them the body
            stands upright on flat feet, arms anywhere. By default the rest pose. If that is not a standing pose, as in
            files whose bones all lie along one axis, the frame of the motion in which the body stands straightest.

        Examples
        --------
        >>> pairing = marey.edit.RetargetMap.build(walk, marey.io.smpl_skeleton(n_joints=22))
        >>> pairing.target_turns.shape
        (22, 4)
        """
        from_pose = _Reference(source, pose, "source")
        to_pose = _Reference(target, target_pose, "target")
        chains = _pair_chains(from_pose.skeleton, to_pose.skeleton)
        rotations = _align_target(from_pose, to_pose, chains)
        from marey.clean.points import leg_length

        positions = to_pose.compute_positions(rotations)
        return cls(
            from_pose.skeleton.names,
            to_pose.skeleton,
            chains,
            from_pose.rotations,
            rotations,
            leg_length(to_pose.skeleton) / leg_length(from_pose.skeleton),
            from_pose.stand(from_pose.places, from_pose.rotations),
            to_pose.stand(positions, rotations),
        )

    def _to_parts(self) -> dict[str, Any]:
        target = self.target
        own = {name: getattr(self, name) for name in self.FILE.parts if name not in ("source", "target", "chains")}
        return own | {
            "source": self.source_names,
            "target": {
                "names": list(target.names),
                "parents": target.parents.tolist(),
                "offsets": target.offsets.tolist(),
                "roles": dict(target.role_map),
            },
            "chains": [
                {"from": [self.source_names[j] for j in a], "to": [target.names[j] for j in b]} for a, b in self.chains
            ],
        }

    @classmethod
    def _from_parts(cls, parts: dict[str, Any]) -> RetargetMap:
        names, body, chains = (parts.pop(name) for name in ("source", "target", "chains"))
        target = Skeleton(tuple(body["names"]), body["parents"], body["offsets"], body.get("roles") or {})
        pairs = tuple(
            (tuple(names.index(n) for n in each["from"]), tuple(target.index(n) for n in each["to"])) for each in chains
        )
        return cls(names, target, pairs, **parts)


class _Reference:
    """A skeleton in its reference pose, facing +Z."""

    def __init__(self, given: Skeleton | Motion, frame: int | None, which: str) -> None:
        check_type(given, (Skeleton, Motion), f"the {which}")
        self.motion = given if isinstance(given, Motion) else None
        self.skeleton = given.skeleton if isinstance(given, Motion) else given
        self.skeleton.roles["hips"]  # raises an error that explains how to map it
        local, offsets = quat.identity((1, len(self.skeleton))), None
        frame = choose_pose(given) if frame is None else frame
        if frame is not None:
            if self.motion is None:
                raise InvalidValue(f"the {which} must be a motion to choose a reference frame, not a skeleton")
            chosen = self.motion[frame]
            local, offsets = chosen.rotations.copy(), chosen.bone_offsets
        world = forward_kinematics(self.skeleton, np.zeros((1, 3)), local, offsets)
        half = -0.5 * find_facing(self.skeleton, world.positions)[0]
        yaw = np.array([np.cos(half), 0.0, np.sin(half), 0.0])
        self.rotations: Floats = quat.mul(yaw, world.rotations[0])
        self.places: Floats = quat.rotate(yaw, world.positions[0])
        self._check(frame, which)

    def _check(self, frame: int | None, which: str) -> None:
        for low, high in _list_upright_lines(self.skeleton):
            if _find_tilt(self.skeleton, self.places, low, high) > _UPRIGHT:
                what = "the rest pose" if frame is None else f"frame {frame}"
                name = "pose" if which == "source" else "target_pose"
                raise InvalidValue(
                    f"in {what} of the {which}, the character does not stand upright ({high} is not above {low}), so "
                    "rotations cannot be compared with it",
                    parameter=name,
                    remedy=f"pass `{name}=`, a frame in which the character stands on flat feet",
                )

    def compute_positions(self, rotations: Floats) -> Floats:
        """Return the joint positions (J, 3) for world rotations (J, 4)."""
        skeleton = self.skeleton
        places = np.zeros((len(skeleton), 3))
        for j, parent in enumerate(skeleton.parents[1:].tolist(), start=1):
            places[j] = places[parent] + quat.rotate(rotations[parent], skeleton.offsets[j])
        return places

    def soles(self) -> dict[str, tuple[int, Floats]]:
        """Return heels and balls of both feet, keyed by name, as joint and local offset."""
        from marey.clean import contact_points

        return {p.name: (p.joint, p.offset) for p in contact_points(self.skeleton, standing=self.motion)}

    def stand(self, places: Floats, rotations: Floats) -> float:
        """Return the height of the hips above the lowest sole, in meters."""
        heights = [places[j] + quat.rotate(rotations[j], offset) for j, offset in self.soles().values()]
        return float(places[self.skeleton.roles["hips"]][1] - min(point[1] for point in heights))


def needs_motion(skeleton: Skeleton) -> bool:
    """Return whether the rest pose does not stand upright, so that a frame of a motion has to be the reference."""
    lines = [line for line in _list_upright_lines(skeleton) if {*line} <= {*skeleton.roles}]
    return any(float(_find_tilt(skeleton, skeleton.rest_positions, *line)) > _UPRIGHT for line in lines)


def choose_pose(body: Skeleton | Motion) -> int | None:
    """Return the default reference frame of a body; None stands for its rest pose, if that stands upright.

    Otherwise it is the frame of the motion in which legs and trunk are straightest and shoulders rotate least against
    the hips; None if the body stands in no frame.
    """
    if not isinstance(body, Motion) or not needs_motion(body.skeleton):
        return None
    skeleton, places, roles = body.skeleton, body.world().positions, body.skeleton.roles
    tilts = [_find_tilt(skeleton, places, *line) for line in _list_upright_lines(skeleton)]
    bones = [(f"{side}_{low}", f"{side}_{high}") for side in _SIDES for low, high in _LEG]
    bends = [_find_tilt(skeleton, places, *bone) for bone in bones if {*bone} <= {*roles}]
    across = [
        places[:, roles[left]] - places[:, roles[right]] for left, right in _ACROSS if left in roles and right in roles
    ]
    twist = quat.angle(quat.between(*across)) if len(across) == 2 else 0.0
    stands = (np.stack(tilts) <= _UPRIGHT).all(axis=0)
    cost = np.where(stands, sum(tilts) + sum(bends) + twist, np.inf)
    return int(cost.argmin()) if stands.any() else None


def _list_upright_lines(skeleton: Skeleton) -> list[tuple[str, str]]:
    """Return pairs of roles (lower, upper): the second is above the first while the body stands."""
    lines = [(f"{side}_foot", f"{side}_upper_leg") for side in _SIDES]
    return lines + ([("hips", "head")] if "head" in skeleton.roles else [])


def _find_tilt(skeleton: Skeleton, places: Floats, low: str, high: str) -> Floats:
    """Return the angle in radians between the line from one role to another and the vertical, at places (..., J, 3)."""
    line = places[..., skeleton.roles[high], :] - places[..., skeleton.roles[low], :]
    return np.asarray(np.arctan2(np.hypot(line[..., 0], line[..., 2]), line[..., 1]))


def _pair_chains(source: Skeleton, target: Skeleton) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]:
    """Return pairs of chains of joints: hips, spine, neck and head as chains, each role of a limb by itself, and other
    joints by name."""
    found: list[tuple[tuple[int, ...], tuple[int, ...]]] = [((source.roles["hips"],) * 2, (target.roles["hips"],) * 2)]
    trunks = [_find_trunk(source), _find_trunk(target)]
    for part in (0, 1):
        from_chain, to_chain = trunks[0][part], trunks[1][part]
        if len(from_chain) > 1 and len(to_chain) > 1:
            found.append((from_chain, to_chain))
    for role, joint in source.roles.items():
        if role.startswith(_SIDES) and role in target.roles:
            found.append(((joint, joint), (target.roles[role],) * 2))
    used = [{j for pair in found for j in pair[side]} for side in (0, 1)]
    ends = source.is_end_site
    for joint, name in enumerate(source.names):
        if joint not in used[0] and not ends[joint] and name in target.names:
            other = target.names.index(name)
            if other not in used[1]:
                found.append(((joint, joint), (other, other)))
    return tuple(found)


def _find_trunk(skeleton: Skeleton) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the chain from the hips along the spine, and the chain from its end to the head."""
    roles = skeleton.roles
    spine = (roles["hips"], *roles.spine)
    top = roles.get("head", roles.get("neck"))
    chain = () if top is None else skeleton.chain(top)
    if spine[-1] not in chain:
        return spine, ()
    return spine, tuple(chain[chain.index(spine[-1]) :])


def _align_target(from_pose: _Reference, to_pose: _Reference, chains: Any) -> Floats:
    """Return world rotations (T, 4) of the target whose limbs point as the source's do in its reference pose.

    Trunk, shoulders and head are assumed to have the same pose when both stand; bones of arms and legs are rotated onto
    the source's. Feet are compared by their soles, because the height of ankles differs between rigs.
    """
    skeleton, roles = to_pose.skeleton, to_pose.skeleton.roles
    of_joint = {target[-1]: source[-1] for source, target in chains if len(target) == 2 and target[0] == target[1]}
    role_of = {joint: role for role, joint in roles.items()}
    soles = from_pose.soles(), to_pose.soles()
    change = quat.identity(len(skeleton))  # each joint's rotation relative to the reference
    for joint, parent in enumerate(skeleton.parents.tolist()):
        if parent >= 0:
            change[joint] = change[parent]
        role = role_of.get(joint, "")
        side, _, part = role.partition("_")
        if joint not in of_joint or side not in _SIDES:
            continue
        if part == "foot":
            change[joint] = quat.identity()
            directions = [
                _find_sole(ref, points, side) for ref, points in zip((from_pose, to_pose), soles, strict=True)
            ]
        else:
            directions = [_find_bone(ref, side, part) for ref in (from_pose, to_pose)]
        if directions[0] is not None and directions[1] is not None:
            change[joint] = quat.mul(
                quat.between(quat.rotate(change[joint], directions[1]), directions[0]), change[joint]
            )
    return set_readonly(quat.mul(change, to_pose.rotations))


def _find_bone(ref: _Reference, side: str, part: str) -> Floats | None:
    """Return the vector (3,) from a role's joint to the next along the limb, or None."""
    roles = ref.skeleton.roles
    end = roles.get(f"{side}_{_BONES.get(part, part)}")
    if part not in _BONES or end is None:
        return None
    bone = ref.places[end] - ref.places[roles[f"{side}_{part}"]]
    return bone if float(np.linalg.norm(bone)) > _SHORT else None


def _find_sole(ref: _Reference, points: dict[str, tuple[int, Floats]], side: str) -> Floats | None:
    """Return the vector (3,) from heel to ball, or None."""
    if f"{side}_ball" not in points or f"{side}_heel" not in points:
        return None
    heel, ball = (
        ref.places[j] + quat.rotate(ref.rotations[j], o) for j, o in (points[f"{side}_heel"], points[f"{side}_ball"])
    )
    return np.asarray(ball - heel)
