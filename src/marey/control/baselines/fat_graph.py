"""A fat graph: popular poses are hubs, and each edge between them is a set of clips (Shin and Oh 2006).

Every clip begins and ends in the pose of a hub, so it can be followed seamlessly by any clip that starts at that hub.
The method is simple, but a character on a curve straightens up at each hub and then leans again (Heck figure 6.17).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from marey.control.baselines.fat_graph_edges import FatEdge, HubPath, make_edge
from marey.control.baselines.fat_graph_hubs import Hub, find_hubs, localize_frames
from marey.control.inertia import accept_old_feet
from marey.control.inertia_reel import make_reel
from marey.core.arrays import Floats, check_index, check_number, freeze_array, set_readonly
from marey.core.contacts import ContactPoint
from marey.core.feet import LiveFeet
from marey.core.kinematics import rotate_root
from marey.core.motion import Motion
from marey.core.skeleton import Skeleton
from marey.deprecation import renamed_methods, renamed_parameters
from marey.errors import InvalidValue, NoResult
from marey.maths import rigid2d
from marey.play import PlayedStream, Player, SourceFrame

__all__ = ["FatEdge", "FatGraph", "FatGraphStream", "Hub"]

_COMMANDS = ("direction", "turn")


@renamed_methods(out="out_edges")
@dataclass(frozen=True, slots=True, eq=False)
class FatGraph:
    """Hubs and the edges between them. Any number of streams can share one graph.

    hubs : hubs, the most popular first. edges : all edges that do not lead to a dead end. skeleton, fps : skeleton and
    frame rate of the frames. points : contact points. floor : floor height in meters.
    """

    hubs: tuple[Hub, ...]
    edges: tuple[FatEdge, ...]
    skeleton: Skeleton
    fps: float
    points: tuple[ContactPoint, ...]
    floor: float

    @classmethod
    @renamed_parameters(near="max_distance")
    def build(
        cls,
        clips: Sequence[Motion],
        *,
        n_hubs: int = 1,
        max_distance: float = 0.1,
        window: float = 1.0 / 3.0,
        ease: float = 0.25,
        bandwidth: float = math.radians(7.0),
        markers: str = "body",
    ) -> FatGraph:
        """Find hubs in clips of one character, and cut the clips there.

        Parameters
        ----------
        clips : repetitive motions such as walks. Mirrored copies (`marey.edit.mirror`) let the character turn to both
            sides.
        n_hubs : number of hub poses. For walks, one hub gives a choice per cycle, and two give at best a choice per
            step.
        max_distance : distance in meters (square root of the frame distance D) within which a frame counts as a visit
            to a popular pose.
        window : length in seconds of the window compared around a frame.
        ease : seconds in which a clip leaves a hub's pose, and returns to it.
        bandwidth : kernel width in radians for blending clips by turn.
        markers : points to compare; see `marey.compare.point_clouds`.
        """
        count = check_index(n_hubs, "n_hubs")
        if count < 1:
            raise InvalidValue(f"n_hubs must be at least 1, not {n_hubs}")
        close = check_number(max_distance, "max_distance in meters", above=True)
        span = check_number(window, "window in seconds", above=True)
        lead = check_number(ease, "ease in seconds", above=True)
        width = check_number(bandwidth, "bandwidth in radians", above=True)
        reel = make_reel(clips)
        seen = localize_frames(reel)
        hubs = find_hubs(reel, seen, count, close, span, markers)
        visits = sorted((int(row), k) for k, hub in enumerate(hubs) for row in hub.visits)
        cuts: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for (a, source), (b, target) in itertools.pairwise(visits):
            if reel.find_clip(a) == reel.find_clip(b):
                cuts.setdefault((source, target), []).append((a, b))
        built = [make_edge(reel, seen, hubs, ends, found, lead, width) for ends, found in cuts.items()]
        edges = _drop_dead_ends([edge for edge in built if edge is not None])
        if not edges:
            raise NoResult(
                f"no two similar clips connect the same hubs (they are visited {len(visits)} times); pass longer "
                f"clips, or raise `max_distance=`"
            )
        return cls(tuple(hubs), tuple(edges), reel.skeleton, reel.fps, reel.points, reel.floor)

    def out_edges(self, hub: int) -> tuple[FatEdge, ...]:
        """Return the edges that leave a hub."""
        return tuple(edge for edge in self.edges if edge.source == hub)


class FatGraphStream(PlayedStream):
    """Endless motion from a fat graph. `request` sets the command, `frame` returns the next frame.

    Parameters
    ----------
    graph : the fat graph to play.
    direction, turn : the initial command; see `request`.
    place : initial rigid2d (theta, x, z) of the character; by default at the origin, facing +Z.
    feet : ``"clean"`` cleans up foot contacts; frames then come out `delay` frames late. ``"lock"`` locks planted feet
        immediately by rotating the legs. ``"auto"`` cleans a stream that begins with a recording and locks the feet
        of others. None leaves the feet as they are.
    """

    @accept_old_feet
    def __init__(
        self,
        graph: FatGraph,
        *,
        direction: float | None = 0.0,
        turn: float | None = None,
        place: ArrayLike = (0.0, 0.0, 0.0),
        feet: LiveFeet = "auto",
    ) -> None:
        super().__init__(graph.skeleton, graph.fps, graph.points, graph.floor)
        self.graph = graph
        self._direction: float | None = None
        self._turn: float | None = None
        self.request(direction=direction, turn=turn)
        self._place: Floats = freeze_array(place, "place", (3,))
        self._hub = graph.edges[0].source
        self._taken: list[tuple[int, int, float]] = []
        self._path, self._edge = self._choose()
        self._at = 0
        self.player = Player(self, feet, name="fat graph", signs=self._path.rotations[0])

    @property
    def taken(self) -> tuple[tuple[int, int, float], ...]:
        """Source hub, target hub and turn in radians of each edge taken so far."""
        return tuple(self._taken)

    def request(self, **command: Any) -> None:
        """Change the command, starting at the next hub. Values that are not given stay unchanged.

        Parameters
        ----------
        direction : radians from +Z in the world, positive to the left; None for any.
        turn : radians to turn from hub to hub; takes precedence over direction. None for no preference.
        """
        for name, value in command.items():
            if name not in _COMMANDS:
                raise InvalidValue(f"unknown command {name!r}; a fat graph accepts {', '.join(_COMMANDS)}")
            if value is not None and not np.isfinite(value):
                raise InvalidValue(f"{name} must be a finite angle in radians, or None, not {value!r}")
            if name == "direction":
                self._direction = None if value is None else float(value)
            else:
                self._turn = None if value is None else float(value)

    def next_frame(self) -> SourceFrame:
        """Return the next frame; its label names the hubs between which it lies."""
        if self._at == len(self._path.roots):
            self._place = set_readonly(rigid2d.compose(self._place, self._path.end))
            self._hub = self._edge.target
            self._path, self._edge = self._choose()
            self._at = 0
        path, k = self._path, self._at
        self._at += 1
        rotations = rotate_root(path.rotations[k], self._place)
        root = set_readonly(rigid2d.apply(self._place, path.roots[k]))
        bones = None if path.bones is None else path.bones[k]
        labels = (f"hub {self._edge.source} to {self._edge.target}",)
        return SourceFrame(root, set_readonly(rotations), path.flags[k], bones, labels)

    def _choose(self) -> tuple[HubPath, FatEdge]:
        """Choose the edge to take from the current hub, and blend its path."""
        edges = self.graph.out_edges(self._hub)
        off = self._turn
        if off is None:
            heading = float(self._place[0])
            off = 0.0 if self._direction is None else math.remainder(self._direction - heading, 2.0 * math.pi)
        wanted = off
        edge = min(edges, key=lambda each: self._estimate_turn_time(each, wanted))
        turn = min(max(wanted, edge.low), edge.high)
        self._taken.append((edge.source, edge.target, turn))
        return edge.path(turn, self.graph.fps), edge

    def _estimate_turn_time(self, edge: FatEdge, off: float) -> float:
        """Estimate the seconds to turn by `off` radians, first with `edge` and then with the fastest-turning one.

        If a `turn` is requested, return the radians of `off` that this edge cannot turn.
        """
        seconds = float(edge.seconds.mean())
        left = abs(off - min(max(off, edge.low), edge.high))
        if self._turn is not None:
            return left
        ends = [(each.high if off > 0.0 else -each.low) / float(each.seconds.mean()) for each in self.graph.edges]
        return seconds + left / max(*ends, 1e-3)


def _drop_dead_ends(edges: list[FatEdge]) -> list[FatEdge]:
    """Keep the edges that do not lead to a dead end."""
    while True:
        left = {edge.source for edge in edges}
        remaining = [edge for edge in edges if edge.target in left]
        if len(remaining) == len(edges):
            return remaining
        edges = remaining
