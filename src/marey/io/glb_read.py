"""Read motion from glTF 2.0 binary files; `marey.io.node_tree` describes how nodes become joints."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from marey.core.arrays import Floats
from marey.core.roles import ROLE_NAMES
from marey.errors import InvalidValue
from marey.io import limits
from marey.io.files import GENERATOR
from marey.io.gltf_chunks import Gltf, Json, Track, read_nodes
from marey.io.key_times import count_frames, recognize_rate, round_rate, snap_to_frames
from marey.io.node_tree import (
    EVEN,
    LocalTransform,
    Nodes,
    add_descendants,
    assemble_motion,
    choose_clip,
    list_names,
    name_joints,
    order_joints,
    split_linear,
    split_scale,
    unique_names,
)
from marey.io.rate import check_rate
from marey.io.raw import RawMotion
from marey.maths import quat

_PATHS = {"translation": 3, "rotation": 4, "scale": 3}

Tracks = dict[tuple[int, str], Track]


@np.errstate(all="ignore")  # non-finite values raise an error below
def read_glb(data: bytes, path: str, *, fps: float | None = None, clip: str | int | None = None) -> RawMotion:
    """Read one animation of a GLB file.

    Parameters
    ----------
    data : the bytes of the file.
    path : the file name, for messages.
    fps : sampling rate in frames per second; by default the rate that marey stored, else the spacing of the keys.
    clip : name or index of the animation; by default the first.
    """
    if fps is not None:
        fps = check_rate(fps)
    gltf = Gltf(data, path)
    return _read_clip(gltf, _choose_clip(gltf, clip), fps)


@np.errstate(all="ignore")
def read_glb_clips(data: bytes, path: str) -> list[RawMotion]:
    """Read all animations of a GLB file; see `read_glb`."""
    gltf = Gltf(data, path)
    return [_read_clip(gltf, animation, None) for animation in gltf.objects("animations")]


def _read_clip(gltf: Gltf, animation: Json | None, fps: float | None) -> RawMotion:
    """Read one animation, or the rest pose if it is None."""
    path = gltf.path
    nodes = read_nodes(gltf)
    channels = {} if animation is None else _read_channels(gltf, animation, len(nodes.parents))
    joints = _choose_joints(gltf, nodes, channels)
    limits.check_joints(len(joints), path)
    above = nodes.chain(joints[0])[:-1]
    limits.check_depth(max(nodes.depths[j] for j in joints), path)
    tracks = _read_tracks(gltf, animation, channels, (*above, *joints))
    if animation is not None and not tracks:
        gltf.warnings.append("the animation moves no joint of the skeleton; its rest pose is read")
    clock, found = _set_clock(tracks, fps, _get_stored_fps(gltf, animation))
    limits.check_frames(clock.n_frames, path)
    limits.check_size(clock.n_frames, len(joints) + len(above), gltf.size, path)
    transforms = {node: _read_local(gltf, node, tracks, clock) for node in (*above, *joints)}
    scaled = {node for node in transforms if (track := tracks.get((node, "scale"))) is not None and _varies(track)}
    motion = assemble_motion(
        gltf,
        nodes,
        joints,
        transforms,
        scaled=scaled,
        name=lambda node: _node_name(gltf, node),
        n_frames=clock.n_frames,
        fps=clock.fps,
        file_format="glb",
    )
    motion.name = (animation and gltf.text(animation, "name", "animation")) or motion.name
    motion.unit, motion.up = 1.0, "y"
    motion.evidence.append(found)
    if gltf.objects("skins") and gltf.objects("meshes") and gltf.document["asset"].get("generator") != GENERATOR:
        motion.evidence.append("a mesh, which is kept when the motion is saved as GLB")
        motion.source = replace(motion.source, character=os.path.abspath(path) if path else "")
    motion.roles = _name_roles(gltf, joints, motion.names)
    if motion.roles:
        motion.evidence.append("roles from the file's VRM bones")
    return motion


class Rig(NamedTuple):
    """The nodes of a GLB file that are the joints of its skeleton, at rest.

    joints : node of each joint. above : nodes above the first joint, from the top. transforms : the transforms of all
        these nodes.
    names : names of the joints, as in `read_glb`.
    """

    nodes: Nodes
    joints: list[int]
    above: list[int]
    transforms: dict[int, LocalTransform]
    names: tuple[str, ...]


def read_rig(gltf: Gltf) -> Rig:
    """Read the skeleton that `read_glb` finds for the first animation."""
    animations = gltf.objects("animations")
    nodes = read_nodes(gltf)
    channels = _read_channels(gltf, animations[0], len(nodes.parents)) if animations else {}
    joints = _choose_joints(gltf, nodes, channels)
    above = nodes.chain(joints[0])[:-1]
    rest = _Clock(1.0, 1, {})
    transforms = {node: _read_local(gltf, node, {}, rest) for node in (*above, *joints)}
    names, _ = name_joints([_node_name(gltf, node) for node in joints], gltf.warnings)
    return Rig(nodes, joints, above, transforms, names)


def clip_names(data: bytes, path: str) -> tuple[str, ...]:
    """Return the names of the animations in a GLB file, in order; unnamed ones are called ``animation_<i>``."""
    return _clip_names(Gltf(data, path))


# Which animation, which joints.


def _clip_names(gltf: Gltf) -> tuple[str, ...]:
    entries = gltf.objects("animations")
    names = [gltf.text(a, "name", f"animations[{i}]") or f"animation_{i}" for i, a in enumerate(entries)]
    return tuple(unique_names(names))


def _choose_clip(gltf: Gltf, clip: str | int | None) -> Json | None:
    names = _clip_names(gltf)
    if clip is None and not names:
        return None
    return gltf.objects("animations")[choose_clip(names, clip, 0, gltf.path, gltf.warnings)]


def _read_channels(gltf: Gltf, animation: Json, n_nodes: int) -> dict[tuple[int, str], int]:
    """Map (node, path) to the index of the sampler, for all channels that move nodes."""
    n_samplers = len(gltf.objects("samplers", animation, "animation"))
    channels: dict[tuple[int, str], int] = {}
    doubles: set[int] = set()
    for i, channel in enumerate(gltf.objects("channels", animation, "animation")):
        where = f"animation.channels[{i}]"
        target = gltf.child(channel, "target", where)
        path = target.get("path")
        if "node" not in target or not isinstance(path, str) or path not in _PATHS:
            continue  # morph weights and extensions
        key = (gltf.index(target, "node", f"{where}.target", n_nodes), path)
        sampler = gltf.index(channel, "sampler", where, n_samplers)
        if channels.setdefault(key, sampler) != sampler:
            doubles.add(key[0])
    if doubles:
        names = list_names([_node_name(gltf, node) for node in sorted(doubles)])
        gltf.warnings.append(f"two channels animate the same property; the first is read: {names}")
    return channels


def _read_tracks(
    gltf: Gltf, animation: Json | None, channels: dict[tuple[int, str], int], nodes: Iterable[int]
) -> Tracks:
    """Read the keys of the channels that move `nodes`; other channels are ignored."""
    samplers = [] if animation is None else gltf.objects("samplers", animation, "animation")
    tracks: Tracks = {}
    for node in nodes:
        for path, width in _PATHS.items():
            i = channels.get((node, path))
            if i is not None:
                what = f"the {path} of {_node_name(gltf, node)!r}"
                tracks[node, path] = gltf.track(samplers[i], width, f"animation.samplers[{i}]", what)
    return tracks


def _choose_joints(gltf: Gltf, nodes: Nodes, channels: Iterable[tuple[int, str]]) -> list[int]:
    """Choose the nodes that form the skeleton: parents before children, otherwise in the order of the skin's joints."""
    n_nodes = len(nodes.parents)
    animated = {node for node, _ in channels}
    entries = gltf.objects("skins")
    skins = [gltf.indices(skin, "joints", f"skins[{i}]", n_nodes) for i, skin in enumerate(entries)]
    skins = [joints for joints in skins if joints]
    if skins:
        # A file may hold several bodies, each with its own animations.
        chosen = max(skins, key=lambda joints: len(animated.intersection(joints)))
        chosen = [*chosen, *(node for node in _read_vrm_bones(gltf, n_nodes).values() if node not in chosen)]
        rank = {node: i for i, node in reversed(list(enumerate(chosen)))}
    else:
        rank = add_descendants(nodes, set(animated or nodes.order))
    return order_joints(nodes, rank, lambda node: _node_name(gltf, node), gltf.warnings)


# Parts of VRM's bone names that differ from marey's role names.
_VRM_ROLES = {"LowerArm": "_forearm", "Toes": "_ball"}


def _read_vrm_bones(gltf: Gltf, n_nodes: int) -> dict[str, int]:
    """Return the node of each role, from the humanoid of a VRM file of version 0 or 1; {} for other files."""
    extensions = gltf.child(gltf.document, "extensions", "document")
    found: dict[str, int] = {}
    for name in ("VRMC_vrm", "VRM"):
        where = f"extensions.{name}.humanoid"
        humanoid = gltf.child(gltf.child(extensions, name, "extensions"), "humanoid", f"extensions.{name}")
        bones = humanoid.get("humanBones", {})
        pairs = (
            bones.items()
            if isinstance(bones, dict)
            else ((b.get("bone"), b) for b in gltf.objects("humanBones", {"humanBones": bones}, "humanoid"))
        )
        for bone, entry in pairs:
            if isinstance(bone, str) and isinstance(entry, dict) and "node" in entry:
                found.setdefault(bone, gltf.index(entry, "node", where, n_nodes))
        if found:
            break
    roles = {_vrm_role(bone): node for bone, node in found.items()}
    if "upperChest" in found:
        roles["chest"] = found["upperChest"]
    return {role: node for role, node in roles.items() if role in ROLE_NAMES}


def _vrm_role(bone: str) -> str:
    """Return the role of a VRM bone: ``left_upper_leg`` for ``leftUpperLeg``."""
    for words, role in _VRM_ROLES.items():
        bone = bone.replace(words, role)
    return re.sub("[A-Z]", lambda letter: "_" + letter[0].lower(), bone)


def _name_roles(gltf: Gltf, joints: list[int], names: Sequence[str]) -> dict[str, str]:
    """Return the joint name of each role that the file states."""
    place = {node: j for j, node in enumerate(joints)}
    bones = _read_vrm_bones(gltf, len(gltf.objects("nodes")))
    return {role: names[place[node]] for role, node in bones.items() if node in place}


def _node_name(gltf: Gltf, node: int) -> str:
    """Return the joint name that marey stored, else the node's own name."""
    where = f"nodes[{node}]"
    entry = gltf.objects("nodes")[node]
    extras = entry.get("extras")
    own = extras.get("marey") if isinstance(extras, dict) else None
    stored = own.get("joint") if isinstance(own, dict) else None
    if isinstance(stored, str) and stored:
        return stored.encode("utf-8", "replace").decode("utf-8")
    return gltf.text(entry, "name", where) or f"node_{node}"


# The rate.


@dataclass(frozen=True, slots=True)
class _Clock:
    """The frame rate, the number of frames, and the key times in frames, keyed by time accessor."""

    fps: float
    n_frames: int
    keys: dict[int, Floats]

    def sample(self, track: Track) -> Floats:
        """Return the values (F, C) of a track in all frames."""
        return track.sample(self.keys[track.clock], np.arange(self.n_frames, dtype=np.float64))


def _set_clock(tracks: Tracks, fps: float | None, stored: float | None) -> tuple[_Clock, str]:
    """Choose the rate and the frames from the first key to the last; also return a sentence that explains the rate."""
    by_clock = {track.clock: track.times for track in tracks.values()}
    times = np.unique(np.concatenate(list(by_clock.values()))) if by_clock else np.zeros(1)
    if fps is not None:
        rate, result, found = fps, fps, f"rate {fps:g} Hz as given"
    elif stored is not None:
        rate, result, found = stored, stored, f"rate {stored:g} Hz as marey stored it"
    else:
        rate, found = recognize_rate(times)
        result = round_rate(rate)
    start = float(times[0])
    keys = {clock: snap_to_frames(own, start, rate) for clock, own in by_clock.items()}
    return _Clock(result, count_frames(times, rate), keys), found


def _get_stored_fps(gltf: Gltf, animation: Json | None) -> float | None:
    """Return the rate that marey's own writer stored in the animation's extras, or None."""
    extras = None if animation is None else animation.get("extras")
    own = extras.get("marey") if isinstance(extras, dict) else None
    value = own.get("fps") if isinstance(own, dict) else None
    if value is None:
        return None
    try:
        return check_rate(float(value))
    except (InvalidValue, TypeError, ValueError, OverflowError):
        gltf.warnings.append("the rate in the animation's extras is not a positive number and is ignored")
        return None


# Transforms of nodes.


def _read_local(gltf: Gltf, node: int, tracks: Tracks, clock: _Clock) -> LocalTransform:
    entry, where = gltf.objects("nodes")[node], f"nodes[{node}]"
    matrix = gltf.numbers(entry, "matrix", 16, where)
    if matrix is not None:
        affine = matrix.reshape(4, 4).T
        translation = affine[:3, 3]
        try:
            rotation, stretch = split_linear(affine[:3, :3])
        except InvalidValue:
            gltf.fail(f"'{where}.matrix' is degenerate and holds no rotation")
        after = quat.identity()
    else:
        given = gltf.numbers(entry, "translation", 3, where)
        translation = np.zeros(3) if given is None else given
        given = gltf.numbers(entry, "rotation", 4, where)
        wxyz = quat.identity() if given is None else given[[3, 0, 1, 2]]
        rotation = _unit(gltf, wxyz, f"'{where}.rotation'")
        scale = gltf.numbers(entry, "scale", 3, where)
        track = tracks.get((node, "scale"))
        if track is not None and not _varies(track):
            scale = track.key_values[0]
        after, stretch = split_scale(np.ones(3) if scale is None else scale)
        rotation = quat.mul(rotation, after)
    local = LocalTransform(translation, rotation, stretch)
    track = tracks.get((node, "translation"))
    if track is not None:
        local.translations = clock.sample(track)
    track = tracks.get((node, "rotation"))
    if track is not None:
        where = f"the animated rotation of {_node_name(gltf, node)!r}"
        try:
            sampled = clock.sample(track)[:, [3, 0, 1, 2]]
        except InvalidValue:
            gltf.fail(f"{where} has length 0")
        local.rotations = quat.mul(_unit(gltf, sampled, where), after)
    return local


def _unit(gltf: Gltf, rotation: Floats, where: str) -> Floats:
    try:
        return quat.normalize(rotation)
    except InvalidValue:
        gltf.fail(f"{where} has length 0")


def _varies(track: Track) -> bool:
    values = track.key_values
    return bool(np.ptp(values, axis=0).max() > EVEN * np.abs(values).max())
