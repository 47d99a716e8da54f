"""Direction tables: the best edge at each node for each requested direction (Kovar 4.3.3).

Kovar searches for each edge and direction separately. Here, value iteration over the graph computes the value of each
node and direction from the values of the nodes that its edges lead to.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from marey.core.arrays import Floats, FrozenRecord, Ints
from marey.core.settings import operation
from marey.errors import InvalidValue
from marey.graph.edge_paths import edge_paths
from marey.graph.settings import DirectionSettings
from marey.io.stored import FileFormat, Part, Stored
from marey.maths.value_kernels import GoalGrid, Steps, iterate_values

if TYPE_CHECKING:
    from marey.graph.motion_graph import MotionGraph

# Time constant of the discount in seconds: progress this far ahead counts 1/e as much as progress now. It must cover a
# turn on the spot, which takes a second or two without any progress.
_HORIZON = 4.0
# Converged when a sweep changes no value by more than this fraction of the largest.
_SETTLED = 1e-3
_MAX_SWEEPS = 500


@dataclass(frozen=True, slots=True, eq=False)
class DirectionTable(FrozenRecord, Stored):
    """The edge to take at each of N nodes for each of D requested directions.

    Attributes
    ----------
    choices : (N, D) index of the edge to take among the edges that leave the node; -1 if none is allowed.
    values : (N, D) discounted future progress in meters; used to choose a start node.
    label : the label that the edges are restricted to, or None.
    speed : requested speed in meters per second, or None for as fast as possible.
    sweeps : number of sweeps of value iteration until convergence.

    Examples
    --------
    >>> table = marey.graph.direction_table(graph, n_directions=8)
    >>> table.column(np.pi / 2), table.values.shape[1]
    (2, 8)
    """

    FILE = FileFormat(
        "marey.directions", 1,
        {
            "choices": Part("integer", ("nodes", "directions")),
            "values": Part("float", ("nodes", "directions"), stored_as="f2", is_finite=False),
            "label": Part("text"),
            "speed": Part("float", is_finite=False),
            "sweeps": Part("integer"),
        },
    )  # fmt: skip

    choices: Ints
    values: Floats = field(repr=False)
    label: str | None = None
    speed: float | None = None
    sweeps: int = 0

    def __post_init__(self) -> None:
        self._freeze(choices=("n", "d"), values=("n", "d"), finite=False)
        if self.n_directions == 0:
            raise InvalidValue("choices must have at least one direction")

    @property
    def n_directions(self) -> int:
        """Number of directions D."""
        return int(self.choices.shape[1])

    def column(self, direction: float) -> int:
        """Return the column for a direction in the coordinates of a node's clip: radians from +Z, positive to the
        left."""
        step = 2.0 * np.pi / self.n_directions
        return int(np.rint(direction / step)) % self.n_directions

    def check_graph(self, graph: MotionGraph) -> None:
        """Raise InvalidValue if the table was not made for `graph`."""
        n_out = np.diff(graph.first_out)[:, None]
        if len(self.choices) != len(n_out) or not ((self.choices >= -1) & (self.choices < n_out)).all():
            raise InvalidValue(
                "the direction table was built for another graph; build it again with this one", parameter="table"
            )

    def _to_parts(self) -> dict[str, Any]:
        small = np.int8 if self.choices.max(initial=0) < 128 else np.int16
        label, speed = self.label or "", np.nan if self.speed is None else self.speed
        return Stored._to_parts(self) | {"choices": self.choices.astype(small), "label": label, "speed": speed}

    @classmethod
    def _from_parts(cls, parts: dict[str, Any]) -> DirectionTable:
        speed = None if np.isnan(parts["speed"]) else parts["speed"]
        return cls(**parts | {"label": parts["label"] or None, "speed": speed})


@operation(DirectionSettings)
def direction_table(graph: MotionGraph, settings: DirectionSettings) -> DirectionTable:
    """Compute the best edge at every node for every direction.

    The value to maximize is the discounted distance that the hips travel in the requested direction. With a speed, it
    is the negative discounted squared difference between their velocity and the requested one, scaled to meters.
    Directions are evenly spaced: column d is d * 360 / n_directions degrees to the left of +Z in the coordinates of the
    clip.

    Parameters
    ----------
    graph : the graph.

    Examples
    --------
    >>> table = marey.graph.direction_table(graph)
    >>> table.choices.shape == (len(graph.nodes), table.n_directions)
    True
    """
    n_directions, label, speed = settings.n_directions, settings.label, settings.speed
    allowed = graph.select_edges(label)
    edges = graph.edges
    gain, fade = _compute_gains(graph, n_directions, speed)
    gain[~allowed] = -np.inf
    costs = np.zeros((len(graph.nodes), n_directions))
    choices = np.empty(costs.shape, dtype=np.int64)
    goals = GoalGrid(np.zeros(1), 1, n_directions, 0.0)
    steps = edge_steps(graph, -gain, fade, np.ascontiguousarray(edges.moves))
    sweeps = iterate_values(steps, goals, _SETTLED, _MAX_SWEEPS, 0.0, costs, choices)
    values = np.where(choices < 0, -np.inf, -costs)
    return DirectionTable(choices, values, label, speed, sweeps)


def edge_steps(graph: MotionGraph, costs: Floats, fades: Floats, moves: Floats) -> Steps:
    """Return the edges of a graph as steps of value iteration.

    costs : (E, D) or (E, 1) cost of each edge; infinite if it must not be used. fades : (E,) discount of everything
    after the edge. moves : (E, 3) rigid2d of the next clip relative to the edge's first clip.
    """
    n, nothing = len(graph.edges), np.zeros(0, dtype=np.int64)
    heads = np.ascontiguousarray(graph.edges.heads[:, None])
    first_end = np.zeros(n + 1, dtype=np.int64)
    return Steps(graph.first_out, heads, np.ones((n, 1)), moves, costs, fades, first_end, nothing, np.zeros(0))


def _compute_gains(graph: MotionGraph, n_directions: int, speed: float | None) -> tuple[Floats, Floats]:
    """Return the progress (E, D) of each edge in each direction, and the discount (E,) of everything after the edge."""
    paths, edges = edge_paths(graph), graph.edges
    rate = np.exp(-1.0 / (_HORIZON * graph.fps))
    starts = paths.first[:-1]
    along = np.arange(len(paths.points)) - np.repeat(starts, edges.n_frames)
    weight = rate**along
    before = np.where(along[:, None] > 0, np.roll(paths.points, 1, axis=0), paths.points)
    step = paths.points - before
    # On an edge's first frame only the step length is known; use the direction of the next step.
    ahead = np.where((along == 0)[:, None], np.roll(step, -1, axis=0), step)
    size = np.maximum(np.linalg.norm(ahead, axis=1), 1e-12)
    step = np.where((along == 0)[:, None], ahead * (paths.steps / size)[:, None], step)
    gone = np.add.reduceat(step * weight[:, None], starts, axis=0)
    angle = np.arange(n_directions) * (2.0 * np.pi / n_directions)
    progress = gone[:, :1] * np.sin(angle) + gone[:, 1:] * np.cos(angle)
    if speed is not None:
        wanted = speed / graph.fps
        square = np.add.reduceat((step**2).sum(axis=1) * weight, starts)
        frames = np.add.reduceat(weight, starts)
        # Squared velocity error, scaled to meters: missing the full speed for one frame costs that frame's distance.
        scale = max(wanted, 0.3 / graph.fps)
        progress = -(square[:, None] - 2.0 * wanted * progress + wanted**2 * frames[:, None]) / scale
    return progress, rate**edges.n_frames
