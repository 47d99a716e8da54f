"""Read motion from glTF 2.0 binary files.

A glTF node has its own rest rotation and scale; a `Skeleton` has neither. Let t and r be a node's local translation and
rotation, G its rest rotation in the world, A its rest rotation and scale in the world, and p its parent. A joint is
then read as

    offset' = A_p t        rotation' = G_p r inv(G)        (root: world rotation times inv(G), world position)

which leaves every joint where it was in the world and gives all joints zero rotation in the rest pose.
"""

from __future__ import annotations

import heapq
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePath

import numpy as np

from marey.core.arrays import Floats
from marey.core.source import Source
from marey.errors import InvalidValue, UnknownName, format_list, similar
from marey.io import limits
from marey.io.gltf_chunks import Gltf, Json, Nodes, Track, read_nodes, unique_names
from marey.io.rate import check_rate
from marey.io.raw import RawMotion
from marey.maths import quat

DEFAULT_FPS = 30.0
# Below this rate, keys were set by hand rather than sampled, so the motion between them must be sampled too.
SLOWEST_FPS = 10.0
COMMON_FPS = (30.0, 24.0, 25.0, 60.0, 50.0, 120.0, 100.0)
# Rates this close to a whole number are rounded to it: 1/30 s in float32 is off by 1e-7, 29.97 Hz by 1e-3.
WHOLE_FPS = 1e-4
# Translations that vary by less than this fraction of the body's size (10 µm for a person) are rounding errors:
# exporters leave up to 3 µm between a node's translation and the keys that repeat it.
STILL = 4e-6
# Scales along the axes count as uniform if their relative difference is below this.
EVEN = 1e-4
_FLOAT32 = 2.0**-24
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
    animation = _choose_clip(gltf, clip)
    nodes = read_nodes(gltf)
    channels = {} if animation is None else _read_channels(gltf, animation, len(nodes.parents))
    joints = _choose_joints(gltf, nodes, channels)
    limits.check_joints(len(joints), path)
    above = nodes.chain(joints[0])[:-1]
    limits.check_depth(max(nodes.depths[j] for j in joints), path)
    tracks = _read_tracks(gltf, animation, channels, (*above, *joints))
    if animation is not None and not tracks:
        gltf.warnings.append("the animation moves no joint of the skeleton; its rest pose is read")
    clock, found = _set_clock(tracks, fps, _stored_fps(gltf, animation))
    limits.check_frames(clock.n_frames, path)
    limits.check_size(clock.n_frames, len(joints) + len(above), len(data), path)
    offsets, root, rotations, moving = _bake(gltf, nodes, above, joints, tracks, clock)
    for values in (offsets, root, rotations, moving):
        if values is not None and not np.isfinite(values).all():
            gltf.fail("the scales and translations of the nodes multiply to numbers that are not finite")
    names, file_names = _joint_names(gltf, joints)
    place = {node: j for j, node in enumerate(joints)}
    stem = PurePath(path.replace("\\", "/")).stem
    return RawMotion(
        names=names,
        parents=np.array([-1, *(place[nodes.parents[node]] for node in joints[1:])], dtype=np.int64),
        offsets=offsets,
        root_positions=root,
        rotations=rotations,
        fps=clock.fps,
        name=(animation and gltf.text(animation, "name", "animation")) or stem,
        source=Source(path=path, format="glb", file_names=file_names),
        bone_offsets=moving,
        unit=1.0,
        up="y",
        evidence=[found],
        warnings=gltf.warnings,
    )


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
    if clip is None:
        if len(names) > 1:
            others = _list_names(names[1:])
            gltf.warnings.append(
                f"the file has {len(names)} animations; {names[0]!r} is read, `clip=` chooses among {others}"
            )
        return gltf.objects("animations")[0] if names else None
    if isinstance(clip, str) and clip in names:
        return gltf.objects("animations")[names.index(clip)]
    if not isinstance(clip, str) and 0 <= clip < len(names):
        return gltf.objects("animations")[clip]
    has = f"it has {_list_names(names)}" if names else "it has none"
    near = similar(clip, names) if isinstance(clip, str) else ""
    raise UnknownName(f"{gltf.path}: no animation {clip!r} in the file; {has}{near}")


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
        names = _list_names([_node_name(gltf, node) for node in sorted(doubles)])
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
        rank = {node: i for i, node in reversed(list(enumerate(chosen)))}
    else:
        wanted = set(animated or nodes.order)
        for node in nodes.order:
            if nodes.parents[node] in wanted:
                wanted.add(node)
        rank = {node: i for i, node in enumerate(n for n in nodes.order if n in wanted)}
    # Bottom up: the number of wanted nodes in each node's subtree, and the first rank among them.
    counts, first = [0] * n_nodes, [n_nodes] * n_nodes
    for node in reversed(nodes.order):
        if node in rank:
            counts[node] += 1
            first[node] = min(first[node], rank[node])
        parent = nodes.parents[node]
        if parent >= 0:
            counts[parent] += counts[node]
            first[parent] = min(first[parent], first[node])
    tops = [node for node in nodes.order if nodes.parents[node] < 0 and counts[node]]
    tops.sort(key=lambda node: (-counts[node], first[node]))
    roots = [_common_root(nodes, counts, rank, top) for top in tops]
    if len(roots) > 1:
        others = _list_names([_node_name(gltf, root) for root in roots[1:]])
        gltf.warnings.append(
            f"the joints hang from {len(roots)} separate roots; the tree of {_node_name(gltf, roots[0])!r} "
            f"is read, not {others}"
        )
    ready, joints = [(first[roots[0]], roots[0])], []
    while ready:
        _, node = heapq.heappop(ready)
        joints.append(node)
        for child in nodes.children[node]:
            if counts[child]:
                heapq.heappush(ready, (first[child], child))
    return joints


def _common_root(nodes: Nodes, counts: Sequence[int], wanted: Container[int], top: int) -> int:
    """Return the lowest node in the subtree of `top` whose own subtree has all wanted nodes."""
    while top not in wanted:
        below = [child for child in nodes.children[top] if counts[child]]
        if len(below) != 1:
            break
        top = below[0]
    return top


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


def _joint_names(gltf: Gltf, joints: Sequence[int]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return unique joint names, and the file's own names if any had to change."""
    given = tuple(_node_name(gltf, node) for node in joints)
    names = tuple(unique_names(given))
    if names == given:
        return names, ()
    changed = [f"{old!r} is called {new!r}" for old, new in zip(given, names, strict=True) if old != new]
    gltf.warnings.append(f"duplicate joint names: the second {format_list(changed, 5)}")
    return names, given


def _list_names(names: Sequence[str]) -> str:
    return format_list([*map(repr, names)], 8)


# The rate.


@dataclass(frozen=True, slots=True)
class _Clock:
    """The frame rate, the number of frames, and the key times in frames, keyed by time accessor."""

    fps: float
    n_frames: int
    keys: dict[int, Floats]

    def sample(self, track: Track) -> Floats:
        """Return the track's values (F, C) at all frames."""
        return track.sample(self.keys[track.clock], np.arange(self.n_frames, dtype=np.float64))


def _in_frames(times: Floats, start: float, fps: float) -> tuple[Floats, float]:
    """Convert times to frames; also return the possible error, in frames, from float32 storage."""
    slack = 1e-3 + 2.0 * _FLOAT32 * float(np.abs(times).max()) * fps
    return (times - start) * fps, min(slack, 0.25)


def _onto_frames(times: Floats, start: float, fps: float) -> Floats:
    """Convert times to frames, snapping those that differ from a whole frame only by rounding errors."""
    frames, slack = _in_frames(times, start, fps)
    nearest = np.rint(frames)
    return np.where(np.abs(frames - nearest) <= slack, nearest, frames)


def _set_clock(tracks: Tracks, fps: float | None, stored: float | None) -> tuple[_Clock, str]:
    """Choose the rate and the frames from the first key to the last; also return a sentence that explains the rate."""
    by_clock = {track.clock: track.times for track in tracks.values()}
    times = np.unique(np.concatenate(list(by_clock.values()))) if by_clock else np.zeros(1)
    if fps is not None:
        rate, found = fps, f"rate {fps:g} Hz as given"
    elif stored is not None:
        rate, found = stored, f"rate {stored:g} Hz as marey stored it"
    else:
        rate, found = _recognize_rate(times)
    start = float(times[0])
    frames, slack = _in_frames(times, start, rate)
    keys = {clock: _onto_frames(own, start, rate) for clock, own in by_clock.items()}
    return _Clock(rate, int(np.floor(frames[-1] + slack)) + 1, keys), found


def _recognize_rate(times: Floats) -> tuple[float, str]:
    """Infer the rate at which keys at `times` (sorted, seconds) were sampled; also return the reason."""
    apart = np.diff(times) > max(1e-5, 4.0 * _FLOAT32 * float(np.abs(times).max()))
    keys = times[np.concatenate([[True], apart])]
    if len(keys) == 1:
        return DEFAULT_FPS, f"rate {DEFAULT_FPS:g} Hz assumed: the file has fewer than two keys"
    steps = np.diff(keys)
    guesses = [(len(keys) - 1) / (keys[-1] - keys[0])]
    for step in (np.median(steps), steps.min()):
        guesses += [1.0 / step, float(np.rint(1.0 / step))]
    for guess in guesses:
        integer = float(np.rint(guess))
        rate = integer if abs(guess - integer) <= WHOLE_FPS * guess else float(guess)
        if rate >= SLOWEST_FPS and (fraction := _fraction_on_frames(keys, rate)) > 0.95:
            most = "the" if fraction == 1.0 else "most"
            return rate, f"rate {rate:.6g} Hz: {most} keys lie 1/{rate:.6g} s or multiples of it apart"
    for rate in COMMON_FPS:
        if _fraction_on_frames(keys, rate) == 1.0:
            return (
                rate,
                f"rate {rate:g} Hz: the keys are sparse, and each lies on a frame at this common rate",
            )
    return DEFAULT_FPS, f"rate {DEFAULT_FPS:g} Hz assumed: the keys lie on no uniform grid"


def _fraction_on_frames(keys: Floats, rate: float) -> float:
    frames, slack = _in_frames(keys, float(keys[0]), rate)
    return float(np.mean(np.abs(frames - np.rint(frames)) <= slack))


def _stored_fps(gltf: Gltf, animation: Json | None) -> float | None:
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


# Nodes into joints.


@dataclass(slots=True)
class _Local:
    """A node's transform relative to its parent: at rest and, if animated, over time; `stretch` is scale and shear."""

    translation: Floats
    rotation: Floats
    stretch: Floats
    translations: Floats | None = None
    rotations: Floats | None = None

    @property
    def linear(self) -> Floats:
        """Rotation and scale at rest as a matrix (3, 3)."""
        return np.asarray(quat.to_matrix(self.rotation) @ self.stretch)


def _bake(
    gltf: Gltf, nodes: Nodes, above: Sequence[int], joints: Sequence[int], tracks: Tracks, clock: _Clock
) -> tuple[Floats, Floats, Floats, Floats | None]:
    """Return offsets (J, 3), root positions (F, 3), rotations (F, J, 4), and bone offsets (F, J, 3) if bones move."""
    locals_ = {node: _read_local(gltf, node, tracks, clock) for node in (*above, *joints)}
    _warn_of_scales(gltf, nodes, locals_, tracks)
    rest: dict[int, tuple[Floats, Floats, Floats]] = {-1: (quat.identity(), np.eye(3), np.zeros(3))}
    for node in (*above, *joints):
        here = locals_[node]
        turn, linear, place = rest[nodes.parents[node]]
        turn = quat.mul(turn, here.rotation)
        place = place + linear @ here.translation
        rest[node] = (turn / np.linalg.norm(turn), linear @ here.linear, place)
    places = np.array([rest[node][2] for node in joints])
    offsets = places.copy()
    for j, node in enumerate(joints[1:], start=1):
        offsets[j] = rest[nodes.parents[node]][1] @ locals_[node].translation

    rotations = np.empty((clock.n_frames, len(joints), 4))
    root, rotation = _compose([locals_[node] for node in (*above, joints[0])])
    rotations[:, 0] = quat.mul_inv(rotation, rest[joints[0]][0])
    moved: dict[int, Floats] = {}
    still = STILL * float(np.linalg.norm(np.ptp(places, axis=0)))
    for j, node in enumerate(joints[1:], start=1):
        here = locals_[node]
        turn, linear, _ = rest[nodes.parents[node]]
        local = here.rotation if here.rotations is None else here.rotations
        rotations[:, j] = quat.mul(turn, quat.mul_inv(local, rest[node][0]))
        if here.translations is not None:
            path = here.translations @ linear.T
            if np.abs(path - offsets[j]).max() > still:
                moved[j] = path
    bone_offsets: Floats | None = None
    if moved:
        bone_offsets = np.repeat(offsets[None], clock.n_frames, axis=0)
        for j, path in moved.items():
            bone_offsets[:, j] = path
    return offsets, np.broadcast_to(root, (clock.n_frames, 3)).copy(), quat.unroll(rotations), bone_offsets


def _compose(chain: Sequence[_Local]) -> tuple[Floats, Floats]:
    """Return world position (F, 3) and rotation (F, 4) of the last node of a chain; (3,) and (4,) if it is static."""
    position, turn = np.zeros(3), quat.identity()
    for i, here in enumerate(reversed(chain)):
        translation = here.translation if here.translations is None else here.translations
        rotation = here.rotation if here.rotations is None else here.rotations
        position = translation if i == 0 else translation + quat.rotate(rotation, position @ here.stretch.T)
        turn = quat.mul(rotation, turn)
    return position, turn


def _read_local(gltf: Gltf, node: int, tracks: Tracks, clock: _Clock) -> _Local:
    entry, where = gltf.objects("nodes")[node], f"nodes[{node}]"
    matrix = gltf.numbers(entry, "matrix", 16, where)
    if matrix is not None:
        affine = matrix.reshape(4, 4).T
        translation = affine[:3, 3]
        rotation, stretch = _split_linear(gltf, affine[:3, :3], where)
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
        after, stretch = _split_scale(np.ones(3) if scale is None else scale)
        rotation = quat.mul(rotation, after)
    local = _Local(translation, rotation, stretch)
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


def _split_scale(scale: Floats) -> tuple[Floats, Floats]:
    """Split a scale into a rotation followed by a stretch that is all positive or all negative.

    Flipping two axes is a half turn. Flipping one axis is a half turn followed by flipping all three. A scale of -1
    along all axes commutes with rotations, like any uniform scale. So mirrored nodes are exact too.
    """
    signs = np.where(scale < 0.0, -1.0, 1.0)
    signs *= signs.prod()
    after = quat.identity() if signs.min() > 0.0 else np.concatenate([[0.0], np.maximum(signs, 0.0)])
    return after, np.diag(scale * signs)


def _split_linear(gltf: Gltf, linear: Floats, where: str) -> tuple[Floats, Floats]:
    """Split a node's matrix into rotation (4,) and stretch (3, 3) by polar decomposition."""
    sign = -1.0 if np.linalg.det(linear) < 0.0 else 1.0
    try:
        left, sizes, right = np.linalg.svd(sign * linear)
        turn = left @ right
        if np.linalg.det(turn) < 0.0:  # the smallest singular value is 0, so its direction is free
            turn = left @ np.diag([1.0, 1.0, -1.0]) @ right
        return quat.from_matrix(turn), sign * (right.T * sizes) @ right
    except (np.linalg.LinAlgError, InvalidValue):
        gltf.fail(f"'{where}.matrix' is degenerate and holds no rotation")


def _varies(track: Track) -> bool:
    values = track.key_values
    return bool(np.ptp(values, axis=0).max() > EVEN * np.abs(values).max())


def _warn_of_scales(gltf: Gltf, nodes: Nodes, locals_: dict[int, _Local], tracks: Tracks) -> None:
    """Warn about nodes whose scale, inherited by their children, cannot be represented in a skeleton."""
    carriers = {nodes.parents[node] for node in locals_} & locals_.keys()
    uneven, animated = [], []
    for node in sorted(carriers):
        stretch = locals_[node].stretch
        size = float(np.trace(stretch)) / 3.0
        if np.abs(stretch - size * np.eye(3)).max() > EVEN * abs(size):
            uneven.append(_node_name(gltf, node))
        track = tracks.get((node, "scale"))
        if track is not None and _varies(track):
            animated.append(_node_name(gltf, node))
    if uneven:
        gltf.warnings.append(
            f"non-uniform scale, which shears the nodes below, is exact only at rest: {_list_names(uneven)}"
        )
    if animated:
        gltf.warnings.append(f"animated scale is ignored; the rest size is kept: {_list_names(animated)}")
