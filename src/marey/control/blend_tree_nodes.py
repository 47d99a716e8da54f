"""The nodes of a blend tree: how much of each loop a character shows, set by knobs that can change while it plays.

Rotations, steps and speeds are all averaged as vectors, so a blend of blends is a single blend with multiplied weights.
A tree is therefore just a function from knobs to weights: one weight per loop for travel and time, and separate weights
per joint where layers have masks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from marey.control.blend_tree_kernels import Shares
from marey.core.skeleton import Skeleton
from marey.errors import InvalidValue, UnknownName, similar

__all__ = ["Clip", "Layer", "Mix", "Node", "Shares", "compiled", "knob_ranges"]


@dataclass(frozen=True, slots=True)
class Clip:
    """One loop, by its name."""

    name: str


@dataclass(frozen=True, slots=True)
class Mix:
    """Interpolates the two children on either side of a knob's value; beyond the ends it uses the outermost child.

    knob : its name. at : increasing knob positions of the children. children : as many nodes.
    """

    knob: str
    at: tuple[float, ...]
    children: tuple[Node, ...]

    def __post_init__(self) -> None:
        at = tuple(float(place) for place in self.at)
        object.__setattr__(self, "at", at)
        object.__setattr__(self, "children", tuple(self.children))
        if not at or len(at) != len(self.children):
            raise InvalidValue(f"a Mix needs one position for each child, got {len(at)} for {len(self.children)}")
        if not np.isfinite(at).all() or any(b <= a for a, b in pairwise(at)):
            raise InvalidValue(f"the knob positions of a Mix must increase, got {', '.join(f'{a:g}' for a in at)}")


@dataclass(frozen=True, slots=True)
class Layer:
    """A node with some joints taken from another, synchronized node; travel still comes from the base.

    base, over : nodes. joints : names of joints; each includes its descendants.
    weight : weight of `over` for these joints, 0 to 1, or the name of a knob that sets it.
    """

    base: Node
    over: Node
    joints: Sequence[str]
    weight: float | str = 1.0

    def __post_init__(self) -> None:
        names = (self.joints,) if isinstance(self.joints, str) else tuple(self.joints)
        object.__setattr__(self, "joints", names)
        if not names:
            raise InvalidValue("a Layer needs at least one joint, got none")
        if not isinstance(self.weight, str) and not 0.0 <= self.weight <= 1.0:
            raise InvalidValue(f"the weight of a Layer must lie between 0 and 1, got {self.weight!r}")


Node = Clip | Mix | Layer


Evaluate = Callable[[Mapping[str, float]], Shares]


def compiled(node: Node, names: Sequence[str], skeleton: Skeleton) -> Evaluate:
    """Compile a tree into a function from knobs to loop weights. Unknown loops and joints raise errors here."""
    if isinstance(node, Clip):
        return _compile_clip(node, names, skeleton)
    if isinstance(node, Mix):
        return _compile_mix(node, [compiled(child, names, skeleton) for child in node.children])
    if isinstance(node, Layer):
        return _compile_layer(
            node, compiled(node.base, names, skeleton), compiled(node.over, names, skeleton), skeleton
        )
    raise InvalidValue(f"a blend tree consists of Clip, Mix and Layer, got {type(node).__name__}")


def knob_ranges(node: Node) -> dict[str, tuple[float, float]]:
    """Return the knobs of a tree, each with the smallest and largest value that has an effect."""
    if isinstance(node, Clip):
        return {}
    if isinstance(node, Mix):
        own, children = {node.knob: (node.at[0], node.at[-1])}, node.children
    else:
        own, children = ({node.weight: (0.0, 1.0)} if isinstance(node.weight, str) else {}), (node.base, node.over)
    for child in children:
        for knob, (low, high) in knob_ranges(child).items():
            least, most = own.get(knob, (low, high))
            own[knob] = min(low, least), max(high, most)
    return own


def _compile_clip(node: Clip, names: Sequence[str], skeleton: Skeleton) -> Evaluate:
    if node.name not in names:
        raise UnknownName(f"no loop named {node.name!r}; loops: {', '.join(names)}{similar(node.name, names)}")
    body = np.zeros(len(names))
    body[list(names).index(node.name)] = 1.0
    shares = Shares(body, np.tile(body, (len(skeleton), 1)))
    return lambda knobs: shares


def _compile_mix(node: Mix, children: Sequence[Evaluate]) -> Evaluate:
    at = node.at

    def evaluate(knobs: Mapping[str, float]) -> Shares:
        value = knobs[node.knob]
        above = sum(place <= value for place in at)
        if above == 0 or above == len(at):
            return children[max(above - 1, 0)](knobs)
        share = (value - at[above - 1]) / (at[above] - at[above - 1])
        low, high = children[above - 1](knobs), children[above](knobs)
        return Shares((1.0 - share) * low.body + share * high.body, (1.0 - share) * low.joints + share * high.joints)

    return evaluate


def _compile_layer(node: Layer, base: Evaluate, over: Evaluate, skeleton: Skeleton) -> Evaluate:
    tops = {skeleton.index(name) for name in node.joints}
    mask = np.zeros(len(skeleton), dtype=bool)
    for joint, parent in enumerate(skeleton.parents.tolist()):
        mask[joint] = joint in tops or (parent >= 0 and mask[parent])
    hips = skeleton.roles.get("hips", 0)
    if mask[list(skeleton.chain(hips))].any():
        raise InvalidValue("a Layer cannot take the hips, which carry the legs; name joints above them")
    fixed = None if isinstance(node.weight, str) else float(node.weight)

    def evaluate(knobs: Mapping[str, float]) -> Shares:
        weight = knobs[str(node.weight)] if fixed is None else fixed
        below, above = base(knobs), over(knobs)
        share = min(max(weight, 0.0), 1.0) * mask[:, None]
        return Shares(below.body, (1.0 - share) * below.joints + share * above.joints)

    return evaluate
