"""Read motion from FBX files of version 7, binary or text; `marey.io.node_tree` describes how nodes become joints.

The transform of a node relative to its parent is (T: translation, R: rotation, S: scale, with offsets and pivots of
rotation and scale)

    T Roff Rp Rpre R inv(Rpost) inv(Rp) Soff Sp S inv(Sp)

so with Q = Rpre R inv(Rpost) it has the rotation Q, the scale S and the translation T + Roff + Rp + Q (Soff + Sp - Rp -
S Sp). Angles are interpolated as angles, as every program that reads these files does.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from marey.core.arrays import Floats
from marey.errors import InvalidValue
from marey.io import limits
from marey.io.fbx_document import FbxDocument
from marey.io.fbx_scene import Channel, FbxScene, Model, Stack
from marey.io.key_times import count_frames, recognize_rate, round_rate, snap_to_frames
from marey.io.node_tree import (
    EVEN,
    LocalTransform,
    add_descendants,
    assemble_motion,
    choose_clip,
    file_stem,
    list_names,
    order_joints,
    split_linear,
    split_scale,
)
from marey.io.rate import check_rate
from marey.io.raw import RawMotion
from marey.maths import euler, quat

_JOINT_KINDS = ("LimbNode", "Limb", "Root")
_OTHER_KINDS = ("Mesh", "Camera", "CameraSwitcher", "Light", "NurbsCurve", "NurbsSurface", "Patch")
# FBX lists the axis that is applied first first; these are the orders of the matrix product, which is reversed.
_ORDERS = ("ZYX", "YZX", "XZY", "ZXY", "YXZ", "XYZ")
_SPHERIC = 6
_WITHOUT_PARENT_SCALE = 2

Channels = dict[tuple[int, str], Channel]


@np.errstate(all="ignore")  # non-finite values raise an error below
def read_fbx(data: bytes, path: str, *, fps: float | None = None, clip: str | int | None = None) -> RawMotion:
    """Read one animation of an FBX file.

    Parameters
    ----------
    data : the bytes of the file.
    path : the file name, for messages.
    fps : sampling rate in frames per second; by default the spacing of the keys.
    clip : name or index of the animation; by default the one that moves most joints.
    """
    if fps is not None:
        fps = check_rate(fps)
    document = FbxDocument(data, path)
    scene = FbxScene(document)
    stack = _choose_stack(scene, clip, file_stem(path))
    channels = _merge_layers(scene, stack)
    nodes = scene.nodes
    joints = _choose_joints(scene, channels)
    above = nodes.chain(joints[0])[:-1]
    channels = {key: channel for key, channel in channels.items() if key[0] in {*above, *joints}}
    if stack is not None and not channels:
        document.warnings.append("the animation moves no joint of the skeleton; its rest pose is read")
    sampler = _Sampler(scene, channels, fps)
    limits.check_frames(sampler.n_frames, path)
    limits.check_size(sampler.n_frames, len(joints) + len(above), len(data), path)
    motion = assemble_motion(
        document,
        nodes,
        joints,
        _read_transforms(scene, above, joints, sampler),
        scaled=sampler.scaled,
        name=lambda node: scene.models[node].name or f"node_{node}",
        n_frames=sampler.n_frames,
        fps=sampler.fps,
        file_format="fbx",
    )
    if stack is not None and len(scene.stacks) > 1:
        motion.name = stack.name
    motion.stated_unit = 0.01 * scene.number(scene.settings, "UnitScaleFactor", 1.0) or None
    motion.up, motion.up_reason = _up_axis(scene), "from the file"
    motion.evidence.append(sampler.reason)
    return motion


def clip_names(data: bytes, path: str) -> tuple[str, ...]:
    """Return the names of the animations with keys; the file's own name if there is none."""
    names = tuple(stack.name for stack in FbxScene(FbxDocument(data, path)).stacks)
    return names or (file_stem(path),)


def _choose_stack(scene: FbxScene, clip: str | int | None, stem: str) -> Stack | None:
    stacks = scene.stacks
    if not stacks and clip in (None, 0, stem):
        return None
    busiest = max(range(len(stacks)), key=lambda i: len(stacks[i].find_animated_models()), default=0)
    names = [stack.name for stack in stacks]
    return stacks[choose_clip(names, clip, busiest, scene.document.path, scene.document.warnings)]


def _merge_layers(scene: FbxScene, stack: Stack | None) -> Channels:
    """Return the channels of the animation's only layer that has keys; other layers with keys raise an error."""
    if stack is None:
        return {}
    if len(stack.layers) > 1:
        scene.document.fail(
            f"the animation {stack.name!r} has keys in {len(stack.layers)} layers ({list_names(list(stack.layers))}), "
            "which are not combined here; merge the layers in the program that wrote the file, and export it again"
        )
    (channels,) = stack.layers.values()
    return channels


def _choose_joints(scene: FbxScene, channels: Channels) -> list[int]:
    """Choose the nodes that form the skeleton: its bones, or, without any, the nodes that move."""
    nodes, models = scene.nodes, scene.models
    animated = {node for node, _ in channels}
    wanted = {i for i, model in enumerate(models) if model.kind in _JOINT_KINDS}
    if not wanted:
        solid = {i for i, model in enumerate(models) if model.kind not in _OTHER_KINDS}
        wanted = set(add_descendants(nodes, (animated & solid) or solid or set(nodes.order)))
    if animated & wanted:  # if there are several characters, read one that moves
        tops = {node: nodes.chain(node)[0] for node in wanted}
        moving = [tops[node] for node in animated & wanted]
        best = max(sorted(set(moving)), key=moving.count)
        wanted = {node for node in wanted if tops[node] == best}
    # Files written by marey list the joints in the order of the skeleton. Joints of other files are sorted depth first,
    # as in BVH, so that the skeleton stays the same when the motion is saved as BVH.
    order = sorted(wanted) if scene.is_own else [node for node in nodes.order if node in wanted]
    rank = {node: i for i, node in enumerate(order)}
    return order_joints(nodes, rank, lambda node: models[node].name, scene.document.warnings)


def _up_axis(scene: FbxScene) -> str:
    axis = int(scene.number(scene.settings, "UpAxis", 1.0))
    if axis not in (0, 1, 2):
        scene.document.fail(f"UpAxis must be 0, 1 or 2, got {axis}")
    return ("-" if scene.number(scene.settings, "UpAxisSign", 1.0) < 0 else "") + "xyz"[axis]


def _is_left_handed(scene: FbxScene) -> bool:
    axes = np.zeros((3, 3))
    for k, (name, default) in enumerate((("CoordAxis", 0.0), ("UpAxis", 1.0), ("FrontAxis", 2.0))):
        axis = int(scene.number(scene.settings, name, default))
        axes[k, axis % 3] = -1.0 if scene.number(scene.settings, f"{name}Sign", 1.0) < 0 else 1.0
    return bool(np.linalg.det(axes) < 0.0)


class _Sampler:
    """Samples channels at evenly spaced frames.

    fps, reason : the rate, and how it was found. n_frames : number of frames. scaled : nodes whose scale changes.
    """

    def __init__(self, scene: FbxScene, channels: Channels, fps: float | None) -> None:
        self._scene, self._channels = scene, channels
        every = [curve.times for channel in channels.values() for curve in channel.curves.values()]
        ticks = np.unique(np.concatenate(every)) if every else np.zeros(1)
        seconds = ticks / scene.ticks
        self._rate, self.reason = recognize_rate(seconds, scene.rate())
        self.fps, self._start = round_rate(self._rate), float(seconds[0])
        if fps is not None:
            self._rate, self.fps, self.reason = fps, fps, f"rate {fps:g} Hz as given"
        self.n_frames = count_frames(seconds, self._rate)
        self._frames = np.arange(min(self.n_frames, limits.MAX_FRAMES), dtype=np.float64)
        self.scaled = {node for (node, what), channel in channels.items() if what == "scaling" and _varies(channel)}

    def sample(self, node: int, what: str, default: Floats) -> Floats | None:
        """Return the values (F, 3) of the channel `what` of a node; None if it has no keys. `default` (3,) is for axes
        without keys."""
        channel = self._channels.get((node, what))
        if channel is None:
            return None
        out = np.empty((self.n_frames, 3))
        for axis in range(3):
            curve = channel.curves.get(axis)
            if curve is None:
                own = channel.default[axis]
                out[:, axis] = default[axis] if own is None else own
            else:
                keys = snap_to_frames(curve.times / self._scene.ticks, self._start, self._rate)
                out[:, axis] = curve.sample(keys, self._frames, self._rate)
        return out


def _varies(channel: Channel) -> bool:
    return any(np.ptp(curve.values) > EVEN * np.abs(curve.values).max() for curve in channel.curves.values())


def _read_transforms(
    scene: FbxScene, above: Sequence[int], joints: Sequence[int], sampler: _Sampler
) -> dict[int, LocalTransform]:
    transforms: dict[int, LocalTransform] = {}
    scales: dict[int, Floats] = {}
    spheric = []
    for node in (*above, *joints):
        model, parent = scene.models[node], scene.nodes.parents[node]
        scales[node], transforms[node] = _read_transform(scene, model, node, sampler)
        if int(scene.number(model.properties, "RotationOrder", 0.0)) == _SPHERIC:
            spheric.append(model.name)
        if int(scene.number(model.properties, "InheritType", 1.0)) == _WITHOUT_PARENT_SCALE and parent in scales:
            scale = scales[parent]
            if np.ptp(scale) > EVEN * np.abs(scale).max() or not scale.all():
                scene.document.fail(
                    f"{model.name!r} does not inherit the scale of its parent, which differs between axes; apply the "
                    "scale in the program that wrote the file, and export it again"
                )
            transforms[node].stretch /= scale[0]
    if spheric:
        scene.document.warnings.append(f"spherical rotation order is read as XYZ: {list_names(spheric)}")
    if _is_left_handed(scene):
        _mirror(transforms[(*above, *joints)[0]])
    _apply_bind_pose(scene, above, joints, transforms)
    return transforms


def _read_transform(scene: FbxScene, model: Model, node: int, sampler: _Sampler) -> tuple[Floats, LocalTransform]:
    """Return the local scale (3,) and the transform of a node."""

    def vector(name: str, default: float = 0.0) -> Floats:
        return np.array(scene.vector(model.properties, name, (default,) * 3))

    is_active = bool(scene.number(model.properties, "RotationActive", 1.0))
    number = int(scene.number(model.properties, "RotationOrder", 0.0)) if is_active else 0
    order = _ORDERS[number if 0 <= number < len(_ORDERS) else 0]
    before = _convert_rotation(vector("PreRotation"), "ZYX") if is_active else quat.identity()
    after = _convert_rotation(vector("PostRotation"), "ZYX") if is_active else quat.identity()
    scale = vector("Lcl Scaling", 1.0)
    sampled = sampler.sample(node, "scaling", scale)
    if sampled is not None and node not in sampler.scaled:
        scale = sampled[0]
    flip, stretch = split_scale(scale)

    def turn(angles: Floats) -> Floats:
        return quat.mul(before, quat.mul_inv(_convert_rotation(angles, order), after))

    rotation_pivot, scale_pivot = vector("RotationPivot"), vector("ScalingPivot")
    outer = vector("RotationOffset") + rotation_pivot
    inner = vector("ScalingOffset") + scale_pivot - rotation_pivot - scale * scale_pivot
    translation, angles = vector("Lcl Translation"), vector("Lcl Rotation")
    rest_turn = turn(angles)
    out = LocalTransform(translation + outer + quat.rotate(rest_turn, inner), quat.mul(rest_turn, flip), stretch)
    moved, turned = sampler.sample(node, "translation", translation), sampler.sample(node, "rotation", angles)
    turns = rest_turn if turned is None else turn(turned)
    if turned is not None:
        out.rotations = quat.mul(turns, flip)
    if moved is not None or (turned is not None and inner.any()):
        out.translations = (translation if moved is None else moved) + outer + quat.rotate(turns, inner)
    return scale, out


def _convert_rotation(angles: Floats, order: str) -> Floats:
    """Convert angles about X, Y and Z in degrees to quaternions."""
    return euler.from_euler(np.radians(angles)[..., ["XYZ".index(axis) for axis in order]], order)


def _mirror(top: LocalTransform) -> None:
    """Mirror the scene along X by changing the transform of its top node, in place: a half turn about X, followed by a
    scale of -1 along all axes."""
    flip, _ = split_scale(np.array([-1.0, 1.0, 1.0]))
    signs = np.array([-1.0, 1.0, 1.0])
    top.translation, top.rotation = top.translation * signs, quat.mul(flip, top.rotation)
    top.stretch = -top.stretch
    if top.translations is not None:
        top.translations = top.translations * signs
    if top.rotations is not None:
        top.rotations = quat.mul(flip, top.rotations)


def _apply_bind_pose(
    scene: FbxScene, above: Sequence[int], joints: Sequence[int], transforms: dict[int, LocalTransform]
) -> None:
    """Set the rest rotations of joints, in place, to those of the pose in which the mesh was bound, if the file has it.

    The nodes' own transforms often show an arbitrary frame.
    """
    world = {-1: quat.identity()}
    flip = split_scale(np.array([-1.0, 1.0, 1.0]))[0] if _is_left_handed(scene) else quat.identity()
    chosen = set(joints)
    for node in (*above, *joints):
        here, parent = transforms[node], world[scene.nodes.parents[node]]
        bound = scene.bind_pose.get(node) if node in chosen else None
        if bound is not None:
            try:
                rotation = quat.mul(flip, split_linear(bound[:3, :3])[0])
            except InvalidValue:
                bound = None
        if bound is not None:
            if here.rotations is None:
                here.rotations = here.rotation
            if node == joints[0] and here.translations is None:
                here.translations = here.translation
            here.rotation = quat.inv_mul(parent, rotation)
        world[node] = quat.mul(parent, here.rotation)
