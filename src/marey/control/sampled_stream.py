"""Play a sampled character. ``web/player`` is the same in TypeScript: change both together.

The same commands give the same motion in both: they compute in double precision, in the same order. Among choices whose
costs differ by less than a nanosecond, they take the first.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from marey.control.planner_tables import NEVER
from marey.control.sampled import SampledCharacter
from marey.control.sampled_build import HORIZON, POINT_LIMITS, direction_costs
from marey.control.settings import SampledStreamSettings
from marey.core.arrays import Floats, Ints, check_number, freeze_array, set_readonly
from marey.core.kinematics import rotate_root
from marey.core.placement import find_placement
from marey.core.settings import operation
from marey.errors import InvalidValue, UnknownName, similar
from marey.maths import quat, rigid2d
from marey.maths.ease import ease_in
from marey.maths.value_kernels import GoalGrid
from marey.play import PlayedStream, Player, SourceFrame

__all__ = ["SampledStream"]

_COMMANDS = ("direction", "speed", "point", "wander", "node", "target")
# Meters: distance at which a point counts as reached; maximum miss of a hit; minimum progress of another clip.
_ARRIVED, _WITHIN, _PROGRESS = 0.3, 0.1, 0.02
# Costs that differ by less, in seconds, are equal.
_EQUAL = 1e-9


class _Steering(NamedTuple):
    """The current command. One of `direction`, `point` and `wander` is set, or none to come to rest.

    direction, speed : radians, and the index of a speed.
    point : (2,) x and z of the goal.
    """

    direction: float | None = None
    speed: int = 0
    point: Floats | None = None
    wander: bool = False


class SampledStream(PlayedStream):
    """An endless stream of a sampled character; created by `SampledCharacter.stream`.

    Parameters
    ----------
    character : the character.

    Examples
    --------
    >>> stream = marey.control.SampledCharacter.build(character, max_clips=9).stream()
    >>> stream.request(direction=1.57)
    >>> stream.record(1.0).labels.names
    ('walk',)
    """

    @operation(SampledStreamSettings)
    def __init__(self, character: SampledCharacter, settings: SampledStreamSettings) -> None:
        first = character.clips[character.start].motion
        points = () if first.contacts is None else first.contacts.points
        super().__init__(first.skeleton, first.fps, points, 0.0)
        self.character = character
        self.clip = character.start
        """Index of the clip that is played."""
        here = np.zeros(3) if settings.place is None else freeze_array(settings.place, "place", (3,))
        self._place = rigid2d.compose(here, rigid2d.invert(find_start(character)))
        self._frame = 0
        self._next: int | None = None
        self._steering = _Steering()
        self._action: int | Floats | None = None
        seed = settings.rng
        self._random = int(seed if isinstance(seed, int) else seed.integers(2**32)) & 0xFFFFFFFF
        self.player = Player(self, settings.feet, name=character.name, step={"op": "sampled character"})

    def request(self, **command: Any) -> None:
        """Give a command, which takes effect when the next clip is chosen.

        direction : radians from +Z, positive to the left; with ``speed`` in m/s, by default a medium one.
        speed : m/s. Without a direction, the character keeps its direction, if it follows one.
        point : (2,) x and z to go to.
        wander : True to go anywhere.
        node : name of a node to play once.
        target : (3,) position to hit once. After it, the character follows its earlier command again.

        Without any command, the character comes to rest, as far as its clips allow.
        """
        for name in command:
            if name not in _COMMANDS:
                known = ", ".join(_COMMANDS)
                raise UnknownName(f"no command {name!r}{similar(name, _COMMANDS)}; known: {known}", parameter="command")
        if command.get("node") is not None:
            self._action = self.character.node_index(command["node"])
        if command.get("target") is not None:
            if all(clip.hit is None for clip in self.character.clips):
                raise InvalidValue(f"{self.character.name!r} has no actions that hit targets")
            self._action = freeze_array(command["target"], "target", (3,))
        if not command or command.keys() & {"direction", "speed", "point", "wander"}:
            self._steering = self._read_steering(command)

    def _read_steering(self, command: dict[str, Any]) -> _Steering:
        direction, point, speed = (command.get(name) for name in ("direction", "point", "speed"))
        if speed is not None and command.keys() == {"speed"}:
            direction = self._steering.direction
            if direction is None:
                return self._steering
        if direction is not None:
            speeds = self.character.tables.speeds
            wanted = speeds[len(speeds) // 2] if speed is None else check_number(speed, "speed in m/s")
            level = _choose_lowest(np.abs(speeds - wanted))
            return _Steering(check_number(direction, "direction in radians", -np.inf), level)
        if point is not None:
            return _Steering(point=freeze_array(point, "point", (2,)))
        return _Steering(wander=bool(command.get("wander")))

    def next_frame(self) -> SourceFrame:
        """Return the next frame; its label is the name of the node."""
        char, clip = self.character, self.character.clips[self.clip]
        if self._next is None and self._frame >= clip.decide:
            self._next = self._choose()
        frame, place, e = self._frame, self._place, self._next
        self._frame += 1
        labels = (char.nodes[clip.node].name,)
        root, rotations, bones, contacts = _place_frame(clip.motion, frame, place)
        if e is None or frame < char.transitions.leave[e] - char.half:
            return SourceFrame(set_readonly(root), set_readonly(rotations), contacts, bones, labels)
        links, half = char.transitions, char.half
        k = frame - (int(links.leave[e]) - half)
        after = char.clips[links.target[e]].motion
        onward = rigid2d.compose(place, links.moves[e])
        into = _place_frame(after, int(links.enter[e]) - half + k, onward)
        alpha = float(ease_in((k + 1.0) / (2.0 * half + 2.0)))
        if bones is not None or into[2] is not None:
            own = self.skeleton.offsets
            a, b = (own if each is None else each for each in (bones, into[2]))
            bones = set_readonly(a + alpha * (b - a))
        if k == 2 * half:
            self.clip, self._place, self._next = int(links.target[e]), onward, None
            self._frame = int(links.enter[e]) + half + 1
        return SourceFrame(
            set_readonly(root + alpha * (into[0] - root)),
            set_readonly(quat.slerp(rotations, into[1], alpha)),
            contacts if k <= half else into[3],
            bones,
            labels,
        )

    # Choosing --------------------------------------------------------------------------------------------------------

    def _choose(self) -> int:
        """Choose the next transition."""
        first = self.character.transitions.first
        options = np.arange(first[self.clip], first[self.clip + 1])
        chosen = self._choose_action(options)
        return self._choose_steering(options) if chosen is None else chosen

    def _choose_steering(self, options: Ints) -> int:
        char, tables, steering = self.character, self.character.tables, self._steering
        options = options[char.useful[options]]
        targets, steps, seconds = char.transitions.target[options], char.steps[options], char.seconds[options]
        here = rigid2d.compose(self._place, char.clips[self.clip].place)
        if steering.wander:
            return int(options[int(self._draw() * len(options))])
        if steering.point is not None:
            x, z = rigid2d.apply(rigid2d.invert(here), steering.point)
            if np.hypot(x, z) > _ARRIVED:
                return self._choose_to_point(options, np.array([x, z]))
            self._steering = steering = _Steering()
        fades = np.exp(-seconds / HORIZON)
        if steering.direction is not None:
            wanted = steering.direction - here[0]
            ahead = _read_circle(tables.direction[steering.speed][targets], wanted - steps[:, 0])
            costs = direction_costs(steps, seconds, float(tables.speeds[steering.speed]), np.array([wanted]))[:, 0]
            return int(options[_choose_lowest(costs + fades * ahead)])
        return int(options[_choose_lowest(char.rest_costs[options] + fades * tables.rest[targets])])

    def _choose_to_point(self, options: Ints, goal: Floats) -> int:
        """Choose the transition that leads to a point soonest; goal : (2,) x and z seen from the character."""
        char, tables = self.character, self.character.tables
        ends = np.array([_pass_point(char.paths[e], float(char.seconds[e]), goal) for e in options])
        local = rigid2d.apply(rigid2d.invert(char.steps[options]), goal)
        onward = char.seconds[options] + _read_points(
            tables.point[char.transitions.target[options]], tables.grid, local
        )
        best = _choose_lowest(np.minimum(ends, onward))
        if ends[best] <= onward[best]:  # this clip passes the point
            self._steering = _Steering()
        return int(options[best])

    def _choose_action(self, options: Ints) -> int | None:
        """Choose the transition for the requested action; None if there is none."""
        action = self._action
        if action is None:
            return None
        if isinstance(action, int):
            return self._choose_node(options, action)
        return self._choose_hit(options, action)

    def _choose_node(self, options: Ints, node: int) -> int | None:
        char, targets = self.character, self.character.transitions.target[options]
        able = np.array([char.clips[j].node == node for j in targets])
        if able.any():
            self._action = None
            middle, scale = char.middles[node]
            apart = [np.abs((char.clips[j].parameters - middle) / scale).sum() for j in targets[able]]
            return int(options[able][_choose_lowest(np.array(apart))])
        costs = char.seconds[options] + char.tables.node[targets, node]
        best = _choose_lowest(costs)
        if costs[best] >= NEVER:  # no route leads to the node
            self._action = None
            return None
        return int(options[best])

    def _choose_hit(self, options: Ints, target: Floats) -> int | None:
        """Hit a target, or move to where it can be hit (Heck 6.2.2.3)."""
        gaps = np.array([self._measure_miss(self._place, e, target) for e in options.tolist()])
        best = _choose_lowest(gaps)
        if gaps[best] > _WITHIN:
            first, links = self.character.transitions.first, self.character.transitions
            later = np.full(len(options), np.inf)
            for k, e in enumerate(options.tolist()):
                j = int(links.target[e])
                if self.character.clips[j].hit is None:
                    after = rigid2d.compose(self._place, links.moves[e])
                    later[k] = min(self._measure_miss(after, f, target) for f in range(first[j], first[j + 1]))
            closer = _choose_lowest(later)
            if later[closer] < gaps[best] - _PROGRESS:
                return int(options[closer])
        self._action = None
        return int(options[best]) if np.isfinite(gaps[best]) else None

    def _measure_miss(self, place: Floats, e: int, target: Floats) -> float:
        """Return the distance in meters by which the clip of transition e misses a target, if the transition begins in
        a clip at `place`; infinite if the clip hits nothing."""
        links = self.character.transitions
        hit = self.character.clips[links.target[e]].hit
        if hit is None:
            return np.inf
        at = rigid2d.apply(rigid2d.compose(place, links.moves[e]), hit)
        return float(np.sqrt(((at - target) ** 2).sum()))

    def _draw(self) -> float:
        """Return a random number from 0 to 1 (mulberry32, as in the player)."""
        self._random = (self._random + 0x6D2B79F5) & 0xFFFFFFFF
        t = self._random
        t = ((t ^ (t >> 15)) * (t | 1)) & 0xFFFFFFFF
        t ^= (t + ((t ^ (t >> 7)) * (t | 61) & 0xFFFFFFFF)) & 0xFFFFFFFF
        return (t ^ (t >> 14)) / 4294967296


def find_start(character: SampledCharacter) -> Floats:
    """Return the placement (3,) of the character in the first frame, in the coordinates of the first clip."""
    return np.round(find_placement(character.clips[character.start].motion, 0), 5)


def _read_circle(rows: Floats, angles: Floats) -> Floats:
    """Interpolate rows (n, H) of values around a circle at angles (n,)."""
    position = angles / (2.0 * np.pi / rows.shape[1])
    index = np.floor(position)
    t, low, row = position - index, index.astype(np.int64) % rows.shape[1], np.arange(len(rows))
    return np.asarray(rows[row, low] * (1.0 - t) + rows[row, (low + 1) % rows.shape[1]] * t)


def _read_points(rows: Floats, grid: GoalGrid, points: Floats) -> Floats:
    """Interpolate rows (n, C) of a table of points at points (n, 2), left and ahead of the character."""
    distance = np.sqrt((points**2).sum(axis=1))
    near = np.minimum(distance, grid.distances[-1])
    r = np.clip(np.searchsorted(grid.distances, near, side="right") - 1, 0, len(grid.distances) - 2)
    u = (near - grid.distances[r]) / (grid.distances[r + 1] - grid.distances[r])
    bearing, rings = np.arctan2(points[:, 0], points[:, 1]), rows.reshape(len(rows), -1, grid.n_bearings)
    inner, outer = (_read_circle(rings[np.arange(len(rows)), k], bearing) for k in (r, r + 1))
    return np.asarray((1.0 - u) * inner + u * outer + (distance - near) * grid.slowness)


def _pass_point(path: Floats, seconds: float, goal: Floats) -> float:
    """Return the lowest cost, in seconds, at which a path (W, 2) passes a point (2,); infinity if it does not."""
    before, along = path[:-1], np.diff(path, axis=0)
    length = np.maximum((along**2).sum(axis=1), 1e-12)
    t = np.clip(((goal - before) * along).sum(axis=1) / length, 0.0, 1.0)
    apart = np.sqrt(((before + t[:, None] * along - goal) ** 2).sum(axis=1))
    costs = (np.arange(len(t)) + t) / len(t) * seconds + POINT_LIMITS[1] * apart
    return float(np.where(apart < POINT_LIMITS[0], costs, np.inf).min())


def _place_frame(motion: Any, frame: int, place: Floats) -> tuple[Floats, Floats, Floats | None, Any]:
    """Return root, rotations, bone offsets and contacts of a frame, moved on the floor."""
    rotations = rotate_root(motion.rotations[frame], place)
    bones = None if motion.bone_offsets is None else motion.bone_offsets[frame]
    contacts = None if motion.contacts is None else motion.contacts.mask[frame]
    return rigid2d.apply(place, motion.root_positions[frame]), rotations, bones, contacts


def _choose_lowest(costs: ArrayLike) -> int:
    """Return the index of the lowest cost; among costs that are equal up to rounding, the first."""
    given = np.asarray(costs)
    return int(np.flatnonzero(given <= given.min() + _EQUAL)[0])
