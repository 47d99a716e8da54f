"""The nodes of a blend tree. They compute the weight of each loop from knobs that can change during playback.

Rotations, steps and speeds are all averaged as vectors, so a blend of blends is a single blend with multiplied weights.
A tree is therefore just a function from knobs to weights: one weight per loop for travel and time, and separate weights
for joints that a layer masks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from marey.control.blend_tree_kernels import LoopWeights
from marey.core.arrays import Bools
from marey.core.skeleton import Skeleton
from marey.deprecation import renamed_fields
from marey.errors import InvalidValue, UnknownName, similar

__all__ = ["LayerNode", "LoopNode", "LoopWeights", "MixNode", "TreeNode", "compile_tree", "knob_ranges", "mask_joints"]


@dataclass(frozen=True, slots=True)
class LoopNode:
    """A leaf: one loop, referred to by name.

    Examples
    --------
    >>> from marey.control import LoopNode, MixNode
    >>> tree = MixNode("speed", (1.2, 3.0), (LoopNode("walk"), LoopNode("run")))  # m/s
    >>> [node.name for node in tree.children]
    ['walk', 'run']
    """

    name: str


@renamed_fields(at="positions")
@dataclass(frozen=True, slots=True)
class MixNode:
    """Interpolates the two children on either side of the knob value; beyond the ends, the outermost child is used.

    knob : name of the knob.
    positions : increasing knob values, one per child.
    children : the nodes to mix.

    Examples
    --------
    >>> from marey.control import BlendTree, LoopNode, MixNode
    >>> loops = {clip.name: marey.edit.cycle(clip) for clip in (walk, run)}
    >>> tree = BlendTree.build(loops, MixNode("speed", (1.2, 3.0), (LoopNode("walk"), LoopNode("run"))))
    >>> tree.names, tree.knobs["speed"]
    (('walk', 'run'), (1.2, 3.0))
    """

    knob: str
    positions: tuple[float, ...]
    children: tuple[TreeNode, ...]

    def __post_init__(self) -> None:
        at = tuple(float(each) for each in self.positions)
        object.__setattr__(self, "positions", at)
        object.__setattr__(self, "children", tuple(self.children))
        if not self.children:
            raise InvalidValue("children of a MixNode must contain at least one node, got none")
        if len(at) != len(self.children):
            raise InvalidValue(
                f"positions must have one entry for each of {len(self.children)} children, not {len(at)}"
            )
        if not np.isfinite(at).all() or any(b <= a for a, b in pairwise(at)):
            raise InvalidValue(
                f"positions of a MixNode must be strictly increasing, not {', '.join(f'{a:g}' for a in at)}"
            )


@dataclass(frozen=True, slots=True)
class LayerNode:
    """Takes some joints from the synchronized node `over`, and everything else, including travel, from `base`.

    base, over : nodes.
    joints : names of the joints to take from `over`, with all their descendants.
    weight : weight of `over` for these joints, 0 to 1, or the name of a knob that sets it.

    Examples
    --------
    >>> from marey.control import BlendTree, LayerNode, LoopNode
    >>> loops = {clip.name: marey.edit.cycle(clip) for clip in (walk, run)}
    >>> tree = BlendTree.build(loops, LayerNode(LoopNode("walk"), LoopNode("run"), joints=["Spine1"], weight="arms"))
    >>> tree.knobs["arms"]
    (0.0, 1.0)
    """

    base: TreeNode
    over: TreeNode
    joints: Sequence[str]
    weight: float | str = 1.0

    def __post_init__(self) -> None:
        names = (self.joints,) if isinstance(self.joints, str) else tuple(self.joints)
        object.__setattr__(self, "joints", names)
        if not names:
            raise InvalidValue("joints of a LayerNode must contain at least one joint")
        if not isinstance(self.weight, str) and not 0.0 <= self.weight <= 1.0:
            raise InvalidValue(f"weight of a LayerNode must be from 0 to 1, not {self.weight!r}")


TreeNode = LoopNode | MixNode | LayerNode


Evaluate = Callable[[Mapping[str, float]], LoopWeights]


def compile_tree(node: TreeNode, names: Sequence[str], skeleton: Skeleton) -> Evaluate:
    """Compile a tree into a function from knob values to loop weights. Unknown loops and joints raise errors here."""
    if isinstance(node, LoopNode):
        return _compile_clip(node, names, skeleton)
    if isinstance(node, MixNode):
        return _compile_mix(node, [compile_tree(child, names, skeleton) for child in node.children])
    if isinstance(node, LayerNode):
        return _compile_layer(
            node, compile_tree(node.base, names, skeleton), compile_tree(node.over, names, skeleton), skeleton
        )
    raise InvalidValue(f"each node of a blend tree must be a LoopNode, MixNode or LayerNode, not {type(node).__name__}")


def knob_ranges(node: TreeNode) -> dict[str, tuple[float, float]]:
    """Return the knobs of a tree by name, each with the smallest and largest value that has an effect."""
    if isinstance(node, LoopNode):
        return {}
    if isinstance(node, MixNode):
        own, children = {node.knob: (node.positions[0], node.positions[-1])}, node.children
    else:
        own, children = ({node.weight: (0.0, 1.0)} if isinstance(node.weight, str) else {}), (node.base, node.over)
    for child in children:
        for knob, (low, high) in knob_ranges(child).items():
            known_low, known_high = own.get(knob, (low, high))
            own[knob] = min(low, known_low), max(high, known_high)
    return own


def mask_joints(names: Sequence[str], skeleton: Skeleton, what: str) -> Bools:
    """Return the mask (J,) of joints and all their descendants, which must not include the hips."""
    tops = {skeleton.index(name) for name in names}
    mask = np.zeros(len(skeleton), dtype=bool)
    for joint, parent in enumerate(skeleton.parents.tolist()):
        mask[joint] = joint in tops or (parent >= 0 and mask[parent])
    hips = skeleton.roles.get("hips", 0)
    if mask[list(skeleton.chain(hips))].any():
        raise InvalidValue(
            f"joints of {what} must not include the hips, because the legs are their children; "
            "choose descendants of the hips, such as the spine"
        )
    return mask


def _compile_clip(node: LoopNode, names: Sequence[str], skeleton: Skeleton) -> Evaluate:
    if node.name not in names:
        raise UnknownName(f"no loop named {node.name!r}; loops: {', '.join(names)}{similar(node.name, names)}")
    body = np.zeros(len(names))
    body[list(names).index(node.name)] = 1.0
    weights = LoopWeights(body, np.tile(body, (len(skeleton), 1)))
    return lambda knobs: weights


def _compile_mix(node: MixNode, children: Sequence[Evaluate]) -> Evaluate:
    at = node.positions

    def evaluate(knobs: Mapping[str, float]) -> LoopWeights:
        value = knobs[node.knob]
        above = sum(each <= value for each in at)
        if above == 0 or above == len(at):
            return children[max(above - 1, 0)](knobs)
        alpha = (value - at[above - 1]) / (at[above] - at[above - 1])
        low, high = children[above - 1](knobs), children[above](knobs)
        return LoopWeights(
            (1.0 - alpha) * low.body + alpha * high.body, (1.0 - alpha) * low.joints + alpha * high.joints
        )

    return evaluate


def _compile_layer(node: LayerNode, base: Evaluate, over: Evaluate, skeleton: Skeleton) -> Evaluate:
    mask = mask_joints(node.joints, skeleton, "a LayerNode")
    fixed = None if isinstance(node.weight, str) else float(node.weight)

    def evaluate(knobs: Mapping[str, float]) -> LoopWeights:
        weight = knobs[str(node.weight)] if fixed is None else fixed
        below, above = base(knobs), over(knobs)
        alpha = min(max(weight, 0.0), 1.0) * mask[:, None]
        return LoopWeights(below.body, (1.0 - alpha) * below.joints + alpha * above.joints)

    return evaluate
