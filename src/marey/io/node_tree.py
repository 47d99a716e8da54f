"""Trees of nodes with local transforms, as glTF and FBX files have them, converted to the joints of a skeleton.

A node has its own rest rotation and scale; a `Skeleton` has neither. Let t and r be a node's local translation and
rotation, G its rest rotation in the world, A its rest rotation and scale in the world, and p its parent. A joint is
then read as

    offset' = A_p t        rotation' = G_p r inv(G)        (root: world rotation times inv(G), world position)

which leaves every joint where it was in the world and gives all joints zero rotation in the rest pose.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import NamedTuple, NoReturn, Protocol

import numpy as np

from marey.core.arrays import Floats
from marey.core.source import Source
from marey.errors import InvalidValue, UnknownName, format_list, similar
from marey.io.raw import RawMotion
from marey.io.rest import choose_rest_offset, mean_bone_length
from marey.maths import quat

# Translations that vary by less than this fraction of the body's size (10 µm for a person) are rounding errors:
# exporters leave up to 3 µm between a node's translation and the keys that repeat it.
STILL = 4e-6
# Scales along the axes count as uniform if their relative difference is below this.
EVEN = 1e-4


class NodeFile(Protocol):
    """An open file of nodes: its path, the problems found so far, and how an error in it is raised."""

    path: str
    warnings: list[str]

    def fail(self, message: str) -> NoReturn: ...


@dataclass(slots=True)
class Nodes:
    """The node graph: parents (-1 for roots), children, depths; `order` has parents before children."""

    parents: list[int]
    children: list[list[int]]
    depths: list[int]
    order: list[int]

    def chain(self, node: int) -> list[int]:
        """Return the nodes from a root down to `node`, both included."""
        path = []
        while node >= 0:
            path.append(node)
            node = self.parents[node]
        return path[::-1]


def build_nodes(children: list[list[int]], fail: Callable[[str], NoReturn]) -> Nodes:
    """Build the tree from the children of each node; call `fail` with a message if it is not a tree."""
    parents = [-1] * len(children)
    for i, below in enumerate(children):
        for child in below:
            if parents[child] >= 0:
                fail(f"node {child} is a child of node {parents[child]} and of node {i}; expected a tree")
            parents[child] = i
    depths = [0] * len(children)
    order: list[int] = []
    stack = [i for i in reversed(range(len(children))) if parents[i] < 0]
    while stack:
        node = stack.pop()
        order.append(node)
        for child in reversed(children[node]):
            depths[child] = depths[node] + 1
            stack.append(child)
    if len(order) < len(children):
        lost = min(set(range(len(children))) - set(order))
        fail(f"node {lost} is in a cycle or a descendant of one; expected a tree")
    return Nodes(parents, children, depths, order)


def order_joints(nodes: Nodes, rank: Mapping[int, int], name: Callable[[int], str], warnings: list[str]) -> list[int]:
    """Return the nodes that become joints: parents first, siblings by rank. Of several trees, the one with the most
    wanted nodes is used."""
    n_nodes = len(nodes.parents)
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
        others = list_names([name(root) for root in roots[1:]])
        warnings.append(
            f"the joints hang from {len(roots)} separate roots; the tree of {name(roots[0])!r} is read, not {others}"
        )
    ready, joints = [(first[roots[0]], roots[0])], []
    while ready:
        _, node = heapq.heappop(ready)
        joints.append(node)
        for child in nodes.children[node]:
            if counts[child]:
                heapq.heappush(ready, (first[child], child))
    return joints


def add_descendants(nodes: Nodes, wanted: set[int]) -> dict[int, int]:
    """Add all nodes below wanted nodes to `wanted`, in place; return the rank of each wanted node, in the order of the
    tree."""
    for node in nodes.order:
        if nodes.parents[node] in wanted:
            wanted.add(node)
    return {node: i for i, node in enumerate(n for n in nodes.order if n in wanted)}


def _common_root(nodes: Nodes, counts: Sequence[int], wanted: Container[int], top: int) -> int:
    """Return the lowest node in the subtree of `top` whose own subtree has all wanted nodes."""
    while top not in wanted:
        below = [child for child in nodes.children[top] if counts[child]]
        if len(below) != 1:
            break
        top = below[0]
    return top


def choose_clip(names: Sequence[str], clip: str | int | None, first: int, path: str, warnings: list[str]) -> int:
    """Return the index of the animation to read: that with the name or index `clip`, else `first`, with a warning."""
    if clip is None:
        if len(names) > 1:
            others = list_names([name for name in names if name != names[first]])
            warnings.append(
                f"the file has {len(names)} animations; {names[first]!r} is read, `clip=` chooses among {others}"
            )
        return first
    if isinstance(clip, str) and clip in names:
        return names.index(clip)
    if not isinstance(clip, str) and 0 <= clip < len(names):
        return clip
    has = f"it has {list_names(names)}" if names else "it has none"
    near = similar(clip, names) if isinstance(clip, str) else ""
    raise UnknownName(f"{path}: no animation {clip!r} in the file; {has}{near}")


def unique_names(names: Iterable[str], taken: Iterable[str] = ()) -> list[str]:
    """Return the names, in order, made unique and different from the names in `taken`: a second ``Bone`` becomes
    ``Bone_2``."""
    used = set(taken)
    result: list[str] = []
    counts: dict[str, int] = {}
    for name in names:
        new = name
        while new in used:
            counts[name] = counts.get(name, 1) + 1
            new = f"{name}_{counts[name]}"
        used.add(new)
        result.append(new)
    return result


def name_joints(given: Sequence[str], warnings: list[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return unique joint names for the `given` ones, and the given names themselves if any had to change; else ()."""
    names = tuple(unique_names(given))
    if names == tuple(given):
        return names, ()
    changed = [f"{old!r} is called {new!r}" for old, new in zip(given, names, strict=True) if old != new]
    warnings.append(f"duplicate joint names: the second {format_list(changed, 5)}")
    return names, tuple(given)


def list_names(names: Sequence[str]) -> str:
    """Format names for a message."""
    return format_list([*map(repr, names)], 8)


@dataclass(slots=True)
class LocalTransform:
    """A node's transform relative to its parent: at rest and, if it differs from that, over time.

    translation, rotation : (3,) and (4,) at rest. stretch : (3, 3) scale and shear, constant.
    translations, rotations : (F, 3) and (F, 4); None if they have the values of the rest pose in all frames.
    """

    translation: Floats
    rotation: Floats
    stretch: Floats
    translations: Floats | None = None
    rotations: Floats | None = None

    @property
    def linear(self) -> Floats:
        """Rotation and scale at rest as a matrix (3, 3)."""
        return np.asarray(quat.to_matrix(self.rotation) @ self.stretch)

    def is_uneven(self) -> bool:
        """Return whether the scale differs between axes."""
        size = float(np.trace(self.stretch)) / 3.0
        return bool(np.abs(self.stretch - size * np.eye(3)).max() > EVEN * abs(size))


def split_scale(scale: Floats) -> tuple[Floats, Floats]:
    """Split a scale into a rotation followed by a stretch that is all positive or all negative.

    Flipping two axes is a half turn. Flipping one axis is a half turn followed by flipping all three. A scale of -1
    along all axes commutes with rotations, like any uniform scale. Therefore mirrored nodes are converted exactly, too.
    """
    signs = np.where(scale < 0.0, -1.0, 1.0)
    signs *= signs.prod()
    after = quat.identity() if signs.min() > 0.0 else np.concatenate([[0.0], np.maximum(signs, 0.0)])
    return after, np.diag(scale * signs)


def split_linear(linear: Floats) -> tuple[Floats, Floats]:
    """Split a matrix (3, 3) into rotation (4,) and stretch (3, 3) by polar decomposition.

    Raise `InvalidValue` for a matrix that holds no rotation.
    """
    sign = -1.0 if np.linalg.det(linear) < 0.0 else 1.0
    try:
        left, sizes, right = np.linalg.svd(sign * linear)
    except np.linalg.LinAlgError as error:
        raise InvalidValue(f"the matrix holds no rotation ({error})") from None
    rotation = left @ right
    if np.linalg.det(rotation) < 0.0:  # the smallest singular value is 0, so its direction is free
        rotation = left @ np.diag([1.0, 1.0, -1.0]) @ right
    return quat.from_matrix(rotation), sign * (right.T * sizes) @ right


class _Rest(NamedTuple):
    """Rest pose of a node in the world: rotation (4,), rotation with scale (`linear`, (3, 3)), position (3,)."""

    rotation: Floats
    linear: Floats
    position: Floats


class BakedJoints(NamedTuple):
    """Joints in the conventions of `Skeleton` and `Motion`, in the file's unit.

    offsets : (J, 3). root_positions : (F, 3). rotations : (F, J, 4). bone_offsets : (F, J, 3), or None if bones do not
    move.
    """

    offsets: Floats
    root_positions: Floats
    rotations: Floats
    bone_offsets: Floats | None


def bake_joints(
    nodes: Nodes,
    above: Sequence[int],
    joints: Sequence[int],
    transforms: Mapping[int, LocalTransform],
    n_frames: int,
) -> BakedJoints:
    """Convert nodes to joints.

    Parameters
    ----------
    above : the nodes above the first joint, from the top; their motion becomes part of the root's.
    joints : the nodes that become joints, parents first.
    transforms : the transforms of all these nodes.
    """
    rest = {-1: _Rest(quat.identity(), np.eye(3), np.zeros(3))}
    for node in (*above, *joints):
        here, before = transforms[node], rest[nodes.parents[node]]
        rotation = quat.mul(before.rotation, here.rotation)
        position = before.position + before.linear @ here.translation
        rest[node] = _Rest(rotation / np.linalg.norm(rotation), before.linear @ here.linear, position)
    positions = np.array([rest[node].position for node in joints])
    offsets = positions.copy()
    for j, node in enumerate(joints[1:], start=1):
        offsets[j] = rest[nodes.parents[node]].linear @ transforms[node].translation

    rotations = np.empty((n_frames, len(joints), 4))
    root, rotation = _compose([transforms[node] for node in (*above, joints[0])])
    rotations[:, 0] = quat.mul_inv(rotation, rest[joints[0]].rotation)
    moved: dict[int, Floats] = {}
    still = STILL * float(np.linalg.norm(np.ptp(positions, axis=0)))
    size = mean_bone_length(offsets)
    for j, node in enumerate(joints[1:], start=1):
        here, before = transforms[node], rest[nodes.parents[node]]
        local = here.rotation if here.rotations is None else here.rotations
        rotations[:, j] = quat.mul(before.rotation, quat.mul_inv(local, rest[node].rotation))
        if here.translations is not None:
            path = here.translations @ before.linear.T
            offsets[j] = choose_rest_offset(offsets[j], path, size)
            if np.abs(path - offsets[j]).max() > still:
                moved[j] = path
    bone_offsets: Floats | None = None
    if moved:
        bone_offsets = np.repeat(offsets[None], n_frames, axis=0)
        for j, path in moved.items():
            bone_offsets[:, j] = path
    roots = np.broadcast_to(root, (n_frames, 3)).copy()
    return BakedJoints(offsets, roots, quat.unroll(rotations), bone_offsets)


def _compose(chain: Sequence[LocalTransform]) -> tuple[Floats, Floats]:
    """Return world position (F, 3) and rotation (F, 4) of the last node of a chain; (3,) and (4,) if it is static."""
    position, rotation = np.zeros(3), quat.identity()
    for i, here in enumerate(reversed(chain)):
        translation = here.translation if here.translations is None else here.translations
        local = here.rotation if here.rotations is None else here.rotations
        position = translation if i == 0 else translation + quat.rotate(local, position @ here.stretch.T)
        rotation = quat.mul(local, rotation)
    return position, rotation


def warn_of_scales(
    nodes: Nodes,
    transforms: Mapping[int, LocalTransform],
    animated: Container[int],
    name: Callable[[int], str],
    warnings: list[str],
) -> None:
    """Warn about nodes whose scale, inherited by their children, cannot be represented in a skeleton.

    animated : nodes whose scale changes over time.
    """
    carriers = sorted({nodes.parents[node] for node in transforms} & transforms.keys())
    uneven = [name(node) for node in carriers if transforms[node].is_uneven()]
    changing = [name(node) for node in carriers if node in animated]
    if uneven:
        warnings.append(f"non-uniform scale, which shears the nodes below, is exact only at rest: {list_names(uneven)}")
    if changing:
        warnings.append(f"animated scale is ignored; the rest size is kept: {list_names(changing)}")


def file_stem(path: str) -> str:
    """Return the name of a file without folder and suffix, with either kind of slash."""
    return PurePath(path.replace("\\", "/")).stem


def assemble_motion(
    file: NodeFile,
    nodes: Nodes,
    joints: Sequence[int],
    transforms: Mapping[int, LocalTransform],
    *,
    scaled: Container[int],
    name: Callable[[int], str],
    n_frames: int,
    fps: float,
    file_format: str,
) -> RawMotion:
    """Convert nodes to the joints of a motion that is named after the file.

    Parameters
    ----------
    joints : the nodes that become joints, parents first.
    transforms : the transforms of the joints and of all nodes above them.
    scaled : nodes whose scale changes over time.
    name : returns the name of a node.
    """
    above = nodes.chain(joints[0])[:-1]
    warn_of_scales(nodes, transforms, scaled, name, file.warnings)
    baked = bake_joints(nodes, above, joints, transforms, n_frames)
    for values in baked:
        if values is not None and not np.isfinite(values).all():
            file.fail("the scales and translations of the nodes multiply to numbers that are not finite")
    names, file_names = name_joints([name(node) for node in joints], file.warnings)
    place = {node: j for j, node in enumerate(joints)}
    return RawMotion(
        names=names,
        parents=np.array([-1, *(place[nodes.parents[node]] for node in joints[1:])], dtype=np.int64),
        offsets=baked.offsets,
        root_positions=baked.root_positions,
        rotations=baked.rotations,
        fps=fps,
        name=file_stem(file.path),
        source=Source(path=file.path, format=file_format, file_names=file_names),
        bone_offsets=baked.bone_offsets,
        warnings=file.warnings,
    )
