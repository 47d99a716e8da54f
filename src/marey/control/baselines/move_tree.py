"""A move tree: named clips and hand-written rules for transitions between them (as in early games)."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from marey.control.baselines.move_tree_edges import Passage, Succession, make_passage
from marey.control.inertia import accept_old_feet
from marey.control.inertia_kernels import place_pose
from marey.control.inertia_reel import Reel, make_reel
from marey.core.arrays import Floats, check_index, check_number, freeze_array, set_readonly
from marey.core.feet import LiveFeet
from marey.core.motion import Motion
from marey.deprecation import renamed_parameters
from marey.errors import InvalidValue, UnknownName, similar
from marey.maths import rigid2d
from marey.play import PlayedStream, Player, SourceFrame

__all__ = ["MoveTree", "MoveTreeStream", "Succession"]

_COMMANDS = ("direction", "speed", "move")
# Radians of direction error that cost as much as a speed error of 1 m/s.
_PER_SPEED = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class MoveTree:
    """Named clips and the transitions between them. Any number of streams can share one tree.

    names : names of the C clips. reel : the clips. passages : all transitions (see `Passage`). ways_out : for each
        clip, indices of the passages that leave it, in the order in which they were given. speeds : (C,) mean speed of
        each clip, m/s.
    """

    names: tuple[str, ...]
    reel: Reel
    passages: tuple[Passage, ...]
    ways_out: tuple[tuple[int, ...], ...]
    speeds: Floats

    @classmethod
    @renamed_parameters(at="position")
    def build(
        cls,
        clips: Mapping[str, Motion],
        successions: Mapping[str, Sequence[Succession | str]],
        *,
        length: float = 0.3,
        position: Literal["ends", "best"] = "ends",
    ) -> MoveTree:
        """Build the tree: precompute a transition from each clip to those that may follow it.

        Parameters
        ----------
        clips : clips by name.
        successions : for each clip, the clips that may follow it. A name stands for a `Succession` with the `length`
            and `position` below. The first of them is played if there is no command.
        length : duration of a transition in seconds.
        position : ``"ends"`` to overlap the end of one clip with the beginning of the next; ``"best"`` to put the
            transition where the two are most similar.
        """
        names = tuple(clips)
        reel = make_reel(list(clips.values()))
        for name in successions:
            _find_move(name, names)
        passages: list[Passage] = []
        ways_out = []
        for k, name in enumerate(names):
            listed = [_make_succession(one, length, position) for one in successions.get(name, ())]
            if not listed:
                raise InvalidValue(
                    f"no clip may follow {name!r}, so a stream would end there; add a clip to its successions"
                )
            ways_out.append(tuple(range(len(passages), len(passages) + len(listed))))
            passages += [make_passage(reel, k, _find_move(one.target, names), one) for one in listed]
        _check_clip_lengths(names, reel, passages)
        rows = zip(reel.borders[:-1].tolist(), reel.borders[1:].tolist(), strict=True)
        speeds = [
            float(np.linalg.norm(np.diff(reel.ground[a:b, 1:], axis=0), axis=1).mean()) * reel.fps for a, b in rows
        ]
        return cls(names, reel, tuple(passages), tuple(ways_out), set_readonly(np.array(speeds)))

    def route(self, start: int, goal: int) -> int:
        """Return the index of the first transition on the shortest route from a clip to another, or back to itself; -1
        if there is no route."""
        first: dict[int, int] = {}
        todo = deque[int]()
        for edge in self.ways_out[start]:
            if self.passages[edge].target not in first:
                first[self.passages[edge].target] = edge
                todo.append(self.passages[edge].target)
        while todo and goal not in first:
            clip = todo.popleft()
            for edge in self.ways_out[clip]:
                if self.passages[edge].target not in first:
                    first[self.passages[edge].target] = first[clip]
                    todo.append(self.passages[edge].target)
        return first.get(goal, -1)


class MoveTreeStream(PlayedStream):
    """Endless motion from a move tree. `request` sets the command, `frame` returns the next frame.

    Parameters
    ----------
    tree : the move tree to play.
    start : name of the first clip; by default the one that suits the first command best, else the first of the tree.
    direction, speed, move : the initial command; see `request`.
    lookahead : number of clips to look ahead when choosing by direction and speed.
    place : rigid2d (theta, x, z) that places the first clip in the world; by default the character starts at the
        origin, facing +Z.
    feet : ``"clean"`` cleans up foot contacts; frames then come out `delay` frames late. ``"lock"`` locks planted feet
        immediately by rotating the legs. ``"auto"`` cleans a stream that begins with a recording and locks the feet
        of others. None leaves the feet as they are.
    """

    @accept_old_feet
    @renamed_parameters(look_ahead="lookahead")
    def __init__(
        self,
        tree: MoveTree,
        *,
        start: str | None = None,
        direction: float | None = None,
        speed: float | None = None,
        move: str | None = None,
        lookahead: int = 2,
        place: ArrayLike | None = None,
        feet: LiveFeet = "auto",
    ) -> None:
        reel = tree.reel
        super().__init__(reel.skeleton, reel.fps, reel.points, reel.floor)
        self.tree = tree
        self._depth = check_index(lookahead, "lookahead")
        if self._depth < 1:
            raise InvalidValue(f"lookahead must be at least 1 clip, not {lookahead}")
        self._direction: float | None = None
        self._speed: float | None = None
        self._move: int | None = None
        self.request(direction=direction, speed=speed, move=move)
        self._start = None if start is None else _find_move(start, tree.names)
        self._given = None if place is None else freeze_array(place, "place", (3,))
        self._begin(self._start or 0)
        self._taken: list[str] = []
        self._passing: Passage | None = None
        self._passed = 0
        self._still = np.zeros((len(reel.skeleton) + 1, 3))
        self._begun = False
        self.player = Player(self, feet, name="move tree", signs=reel.rotations[self._row])

    @property
    def moves(self) -> tuple[str, ...]:
        """Names of the clips played so far, without the first."""
        return tuple(self._taken)

    def request(self, **command: Any) -> None:
        """Change the command, starting at the next transition. Values that are not given stay unchanged.

        Parameters
        ----------
        direction : radians from +Z in the world, positive to the left; None for any.
        speed : meters per second; None for any.
        move : name of a clip to reach by the shortest route and play repeatedly; takes precedence over direction and
            speed. None for any.
        """
        for name, value in command.items():
            if name == "move":
                self._move = None if value is None else _find_move(value, self.tree.names)
            elif name == "direction":
                if value is not None and not np.isfinite(value):
                    raise InvalidValue(f"direction must be a finite angle in radians, or None, not {value!r}")
                self._direction = None if value is None else float(value)
            elif name == "speed":
                self._speed = None if value is None else check_number(value, "speed in m/s")
            else:
                raise InvalidValue(f"unknown command {name!r}; a move tree accepts {', '.join(_COMMANDS)}")

    def next_frame(self) -> SourceFrame:
        """Return the next frame; its label is the name of the clip, in a transition that of the next clip."""
        if self._begun:
            self._step()
        elif self._start is None and self._move is None:
            self._begin(min(range(len(self.tree.names)), key=self._cost_to_begin))
        self._begun = True
        passage = self._passing
        read: Reel | Passage = self.tree.reel if passage is None else passage
        row, clip = (self._row, self._clip) if passage is None else (self._passed, passage.target)
        root, out = np.empty(3), np.empty(read.rotations[row].shape)
        place_pose(read.root[row], read.rotations[row], self._place, self._still, root, out)
        bones = None if read.bones is None else read.bones[row]
        return SourceFrame(set_readonly(root), set_readonly(out), read.contacts[row], bones, (self.tree.names[clip],))

    def _begin(self, clip: int) -> None:
        """Place the character at the beginning of a clip."""
        ground = self.tree.reel.ground
        self._clip, self._row = clip, int(self.tree.reel.borders[clip])
        self._place = set_readonly(rigid2d.invert(ground[self._row])) if self._given is None else self._given

    def _cost_to_begin(self, clip: int) -> float:
        """Return the cost of starting with a clip: its error, plus that of the best clips after it."""
        ground, (first, end) = self.tree.reel.ground, self.tree.reel.borders[clip : clip + 2].tolist()
        heading = float(-ground[first, 0] if self._given is None else self._given[0])
        after = [self._compute_cost(edge, heading, self._depth) for edge in self.tree.ways_out[clip]]
        return self._compute_error(heading + float(ground[end - 1, 0]), clip) + min(after)

    def _step(self) -> None:
        """Advance by one frame, in a clip or a passage, or from one to the other."""
        if self._passing is None:
            edge = self._choose()
            if edge < 0:
                self._row += 1
                return
            self._passing, self._passed = self.tree.passages[edge], -1
            self._taken.append(self.tree.names[self._passing.target])
        self._passed += 1
        passage = self._passing
        if self._passed == len(passage.root):
            self._place = set_readonly(rigid2d.compose(self._place, passage.move))
            self._clip, self._row, self._passing = passage.target, passage.enter, None

    def _choose(self) -> int:
        """Return the passage to take now, or -1 to continue the current clip."""
        tree = self.tree
        open_exits = [edge for edge in tree.ways_out[self._clip] if tree.passages[edge].leave >= self._row]
        if all(tree.passages[edge].leave > self._row for edge in open_exits):
            return -1
        best = self._choose_by_command(open_exits)
        return best if tree.passages[best].leave == self._row else -1

    def _choose_by_command(self, open_exits: Sequence[int]) -> int:
        tree = self.tree
        if self._move is not None:
            edge = tree.route(self._clip, self._move)
            if edge in open_exits:
                return edge
        if self._direction is None and self._speed is None:
            return open_exits[0]
        heading = float(self._place[0])
        return min(open_exits, key=lambda edge: self._compute_cost(edge, heading, self._depth))

    def _compute_cost(self, edge: int, heading: float, depth: int) -> float:
        """Return the sum of the errors, in radians, at the ends of the next `depth` clips along the best route that
        begins with the passage `edge`."""
        tree = self.tree
        passage = tree.passages[edge]
        placed = heading + float(passage.move[0])
        cost = self._compute_error(placed + passage.faces, passage.target)
        if depth > 1:
            cost += min(self._compute_cost(onwards, placed, depth - 1) for onwards in tree.ways_out[passage.target])
        return cost

    def _compute_error(self, heading: float, clip: int) -> float:
        """Return the difference from the command, in radians, if a clip ends with the heading `heading`."""
        error = 0.0
        if self._direction is not None:
            error += abs(math.remainder(self._direction - heading, 2.0 * math.pi))
        if self._speed is not None:
            error += _PER_SPEED * abs(float(self.tree.speeds[clip]) - self._speed)
        return error


def _make_succession(given: Succession | str, length: float, position: Literal["ends", "best"]) -> Succession:
    return given if isinstance(given, Succession) else Succession(given, length, position)


def _find_move(name: str, names: Sequence[str]) -> int:
    if name not in names:
        raise UnknownName(f"no move named {name!r}; moves: {', '.join(names)}{similar(str(name), names)}")
    return names.index(name)


def _check_clip_lengths(names: Sequence[str], reel: Reel, passages: Sequence[Passage]) -> None:
    """Raise an error if a clip is so short that its transition out begins before its transition in ends."""
    for entry in passages:
        for departure in passages:
            if departure.clip == entry.target and departure.leave < entry.enter:
                into, out = names[entry.clip], names[departure.target]
                first = int(reel.borders[entry.target])
                raise InvalidValue(
                    f"the transition from {into!r} ends at {(entry.enter - first) / reel.fps:.2f} s of "
                    f"{names[entry.target]!r}, but the transition to {out!r} already begins at "
                    f"{(departure.leave - first) / reel.fps:.2f} s; shorten the transitions, or use a longer clip"
                )
