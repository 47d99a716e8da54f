"""A blend tree: synchronized loops mixed by knobs such as speed and turn, with joint masks (as in game engines)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from marey.control.blend_tree_actions import ActionPlayer, ActionTable, OneShot, find_start, prepare_actions
from marey.control.blend_tree_kernels import advance, blend_pose
from marey.control.blend_tree_nodes import (
    Evaluate,
    LayerNode,
    LoopNode,
    LoopWeights,
    MixNode,
    TreeNode,
    compile_tree,
    knob_ranges,
)
from marey.control.blend_tree_table import LoopTable, make_table
from marey.control.inertia import accept_old_feet
from marey.control.settings import BlendTreeSettings
from marey.core.arrays import Floats, check_number, freeze_array, set_readonly
from marey.core.motion import Motion
from marey.core.settings import operation
from marey.deprecation import renamed_methods
from marey.errors import InvalidValue, UnknownName, similar
from marey.play import PlayedStream, Player, SourceFrame
from marey.register.registration import RegistrationCurve, register
from marey.register.settings import PairSettings

__all__ = ["BlendTree", "BlendTreeStream"]

_TURN, _SPEED = "turn", "speed"


@renamed_methods(shares="weights")
@dataclass(frozen=True, slots=True, eq=False)
class BlendTree:
    """Loops and the blend tree over them. Any number of streams can share one tree.

    names : names of the loops.
    tree : root node of the tree.
    table : the synchronized loops.
    knobs : range (min, max) of each knob, by name.
    evaluate : function from knob values to loop weights.
    actions : actions that can play once over the loops, by name.

    Examples
    --------
    >>> from marey.control import BlendTree
    >>> tree = BlendTree.from_walks([walk, turning, marey.edit.mirror(turning)])
    >>> list(tree.knobs), len(tree.names)
    (['turn'], 5)
    >>> stream = marey.control.BlendTreeStream(tree)
    >>> stream.record(1.0).rotations.shape
    (60, 27, 4)
    """

    names: tuple[str, ...]
    tree: TreeNode
    table: LoopTable
    knobs: Mapping[str, tuple[float, float]]
    evaluate: Evaluate
    actions: Mapping[str, ActionTable] = field(default_factory=dict)

    @classmethod
    @operation(PairSettings)
    def build(
        cls,
        loops: Mapping[str, Motion],
        tree: TreeNode | Sequence[Sequence[str]],
        *,
        registration: RegistrationCurve | None = None,
        actions: Mapping[str, OneShot] | None = None,
        settings: PairSettings,
    ) -> BlendTree:
        """Synchronize loops and build a tree over them.

        Parameters
        ----------
        loops : at least two loops by name, such as those that `marey.edit.cycle` returns.
        tree : root node of the tree; or rows of loop names, where the loops in a row have similar speeds. Rows make a
            tree with the knob ``speed`` in m/s and, within each row, ``turn`` in rad/s, positive to the left. The knob
            positions are the measured speeds and turn rates of the loops.
        registration : cyclic registration of the loops, in the order of `loops`. By default, `build` registers them
            with the options below.
        actions : actions that the stream plays once over the loops on request, such as ``{"throw": OneShot(throw,
            joints=["Spine"]), "fall": OneShot(fall, hold=True)}``.
        """
        names = tuple(loops)
        if len(names) < 2:
            raise InvalidValue(f"a blend tree needs at least two loops, not {len(names)}")
        if registration is None:
            given = [replace(motion, name=name) for name, motion in loops.items()]
            registration = register(given, cyclic=True, **settings.select(PairSettings))
        elif len(registration) != len(names):
            raise InvalidValue(
                f"registration must have the {len(names)} loops of the tree, not {len(registration)} motions"
            )
        table = make_table(registration)
        node = tree if isinstance(tree, LoopNode | MixNode | LayerNode) else _steering_tree(tree, names, table)
        evaluate = compile_tree(node, names, table.skeleton)
        return cls(names, node, table, knob_ranges(node), evaluate, prepare_actions(actions or {}, table))

    def weights(self, **knobs: float) -> LoopWeights:
        """Return the weight of each loop. Knobs that are not given take the middle of their range."""
        for name in knobs:
            _check_knob(name, self.knobs)
        middle = {name: 0.5 * (low + high) for name, (low, high) in self.knobs.items()}
        return self.evaluate({**middle, **knobs})

    @classmethod
    def from_walks(cls, clips: Sequence[Motion], *, actions: Mapping[str, OneShot] | None = None) -> BlendTree:
        """Build a tree with the knob ``turn`` from strides of walks on curves to both sides, at one speed.

        actions : see `build`.
        """
        from marey.control.baselines.streams import make_loops

        loops = make_loops(clips)
        return cls.build(loops, [list(loops)], actions=actions)


class BlendTreeStream(PlayedStream):
    """Endless motion from a blend tree. `request` sets the knobs, `frame` returns the next frame.

    Parameters
    ----------
    tree : the blend tree to play.
    knobs : initial values; by default ``turn`` is 0 or as near as possible, layers are off, others are in the middle.

    The options are those of `BlendTreeSettings`.

    Examples
    --------
    >>> from marey.control import BlendTree, BlendTreeStream
    >>> tree = BlendTree.from_walks([walk, turning, marey.edit.mirror(turning)])
    >>> stream = BlendTreeStream(tree)
    >>> stream.request(direction=1.0)
    >>> len(stream.record(1.0))
    60
    """

    @accept_old_feet
    @operation(BlendTreeSettings)
    def __init__(self, tree: BlendTree, *, settings: BlendTreeSettings, **knobs: float | None) -> None:
        table = tree.table
        super().__init__(table.skeleton, table.fps, table.points, table.floor)
        self.tree = tree
        self._steer = settings.steer
        self._y = 2.0 * math.log(2.0) / settings.half_life
        place = np.zeros(3) if settings.place is None else settings.place
        self._place = freeze_array(place, "place", (3,)).copy()
        self._usual = {name: _default_knob(name, *ends) for name, ends in tree.knobs.items()}
        self._wanted = dict(self._usual)
        self._direction: float | None = None
        steered = settings.direction if _TURN in tree.knobs else None
        self.request(direction=steered, **knobs)
        self._values = dict(self._wanted)
        self._rates = dict.fromkeys(self._wanted, 0.0)
        self._r = 0.0
        self._begun = False
        self._loops = table.loops
        self._actions = ActionPlayer(tree.actions, table.fps, table.skeleton.offsets)
        self._pending: tuple[str, float] | None = None
        self.player = Player(self, settings.feet, name="blend tree", signs=table.rotations[0, 0])

    @property
    def knobs(self) -> dict[str, float]:
        """Current knob values, which move smoothly toward the requested ones."""
        return dict(self._values)

    def request(self, **command: Any) -> None:
        """Change the command, starting with the next frame. Values that are not given stay unchanged.

        Parameters
        ----------
        direction : radians from +Z in the world, positive to the left. None stops steering and lets you set ``turn``.
        action : name of an action to play once; None ends the actions that are playing. Actions of some joints begin at
            once; actions of the whole body begin at the best phase of the loops, at most a cycle later.
        others : knob values by name. Values are clamped to the knob's range; None restores the default.
        """
        if "action" in command:
            self._request_action(command.pop("action"))
        ranges = self.tree.knobs
        if _TURN in command and command.get("direction", self._direction) is not None:
            raise InvalidValue("turn is set by the direction; request `direction=None` first to set turn yourself")
        for name, value in command.items():
            if name == "direction":
                if value is not None and not np.isfinite(value):
                    raise InvalidValue(f"direction must be a finite angle in radians or None, not {value!r}")
                if value is not None and _TURN not in ranges:
                    raise InvalidValue(
                        "the tree has no knob 'turn', which steering by direction needs; it has "
                        f"{', '.join(ranges) or 'none'}"
                    )
                self._direction = None if value is None else float(value)
                continue
            _check_knob(name, ranges)
            if value is None:
                self._wanted[name] = self._usual[name]
                continue
            low, high = ranges[name]
            self._wanted[name] = min(max(check_number(value, name, -math.inf), low), high)

    def _request_action(self, name: str | None) -> None:
        if name is None:
            self._pending = None
            self._actions.end()
            return
        known = self.tree.actions
        if name not in known:
            raise UnknownName(
                f"the tree has no action {name!r}; it has {', '.join(known) or 'none'}{similar(str(name), known)}"
            )
        phase = self._find_phase(known[name]) if known[name].whole and not self._actions.names else self._r
        self._pending = (name, (phase - self._r) % self._loops.seconds.shape[1])

    def _find_phase(self, table: ActionTable) -> float:
        """Return the row of the loops, at their current weights, at which the action should begin."""
        weights = self.tree.evaluate(self._values)
        n_rows = self._loops.seconds.shape[1]
        root, flags = np.empty(3), np.empty(len(self.points), dtype=bool)
        poses, heights = np.empty((n_rows, len(self.skeleton), 4)), np.empty(n_rows)
        for row in range(n_rows):
            blend_pose(float(row), self._loops, weights, np.zeros(3), root, poses[row], flags)
            heights[row] = root[1]
        return float(find_start(poses, heights, table))

    def next_frame(self) -> SourceFrame:
        """Return the next frame; its labels are the loop with the largest weight and the actions that are playing."""
        if not self._begun:
            self._begun = True
            return self._make_frame(self.tree.evaluate(self._values))
        self._update_knobs(1.0 / self.fps)
        weights = self.tree.evaluate(self._values)
        before, phase = self._place.copy(), self._r
        self._advance(weights, 1.0 / self.fps)
        if self._pending is not None:
            name, rows = self._pending
            rows -= (self._r - phase) % self._loops.seconds.shape[1]
            self._pending = (name, rows) if rows > 0.0 else None
            if self._pending is None:
                self._actions.start(name)
        self._actions.advance(before, self._place)
        return self._actions.change(self._make_frame(weights), self._place)

    def _update_knobs(self, dt: float) -> None:
        if self._direction is not None:
            low, high = self.tree.knobs[_TURN]
            off = math.remainder(self._direction - self._place[0], 2.0 * math.pi)
            self._wanted[_TURN] = min(max(off / self._steer, low), high)
        left = math.exp(-self._y * dt)
        for name, goal in self._wanted.items():
            off, rate = self._values[name] - goal, self._rates[name]
            pull = rate + self._y * off
            self._values[name] = goal + left * (off + pull * dt)
            self._rates[name] = left * (rate - self._y * pull * dt)

    def _advance(self, weights: LoopWeights, seconds: float) -> None:
        self._r = advance(self._r, self._loops, weights.body, seconds, self._place)

    def _make_frame(self, weights: LoopWeights) -> SourceFrame:
        table = self.tree.table
        root, out = np.empty(3), np.empty((len(table.skeleton), 4))
        flags = np.empty(len(table.points), dtype=bool)
        blend_pose(self._r, self._loops, weights, self._place, root, out, flags)
        labels = (self.tree.names[int(np.argmax(weights.body))],)
        return SourceFrame(
            set_readonly(root), set_readonly(out), set_readonly(flags), self._bones(weights.body), labels
        )

    def _bones(self, body: Floats) -> Floats | None:
        bones = self.tree.table.bones
        if bones is None:
            return None
        row = int(self._r) % bones.shape[1]
        alpha, after = self._r - math.floor(self._r), (row + 1) % bones.shape[1]
        mean = np.tensordot(body, (1.0 - alpha) * bones[:, row] + alpha * bones[:, after], 1)
        return set_readonly(np.asarray(mean, dtype=np.float64))


def _steering_tree(rows: Sequence[Sequence[str]], names: Sequence[str], table: LoopTable) -> TreeNode:
    try:
        listed = [[row] if isinstance(row, str) else [str(name) for name in row] for row in rows]
    except TypeError:
        raise InvalidValue(
            f"a tree must be a LoopNode, MixNode or LayerNode, or rows of loop names, not {rows!r}"
        ) from None
    levels: list[tuple[float, TreeNode]] = []
    for row in listed:
        for name in row:
            compile_tree(LoopNode(name), names, table.skeleton)
        index = sorted((names.index(name) for name in row), key=lambda j: float(table.turn_rates[j]))
        if not index:
            raise InvalidValue("each row of a blend tree (the loops of one speed) must contain at least one loop")
        at = tuple(float(table.turn_rates[j]) for j in index)
        levels.append((float(table.speeds[index].mean()), MixNode(_TURN, at, tuple(LoopNode(names[j]) for j in index))))
    if not levels:
        raise InvalidValue("a blend tree must have at least one row of loops")
    levels.sort(key=lambda pair: pair[0])
    if len(levels) == 1:
        return levels[0][1]
    return MixNode(_SPEED, tuple(speed for speed, _ in levels), tuple(node for _, node in levels))


def _default_knob(name: str, low: float, high: float) -> float:
    if name == _TURN or (low, high) == (0.0, 1.0):
        return min(max(0.0, low), high)
    return 0.5 * (low + high)


def _check_knob(name: str, knobs: Mapping[str, Any]) -> None:
    if name not in knobs:
        raise InvalidValue(f"the tree has no knob {name!r}; it has {', '.join(knobs) or 'none'}")
