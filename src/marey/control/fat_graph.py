"""A fat graph: popular poses as hubs, and between them edges that are whole sets of clips (Shin and Oh 2006).

Every clip begins and ends in a hub's one pose, so that any may follow any without a seam: that is what makes it simple,
and what makes a figure on a curve come upright at each hub and lean again (Heck figure 6.17).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from marey.control.fat_graph_edges import FatEdge, Path, make_edge
from marey.control.fat_graph_hubs import Hub, find_hubs, see
from marey.control.inertia import Outlet, Shown
from marey.control.inertia_reel import make_reel
from marey.core.arrays import Floats, check_index, check_number, freeze_array, set_readonly
from marey.core.contacts import ContactPoint
from marey.core.motion import Motion
from marey.core.skeleton import Skeleton
from marey.errors import InvalidValue, NoResult
from marey.maths import quat, rigid2d

__all__ = ["FatEdge", "FatGraph", "FatGraphStream", "Hub"]

_WISHES = ("direction", "turn")


@dataclass(frozen=True, slots=True, eq=False)
class FatGraph:
    """Hubs and the edges between them; any number of streams may share it.

    hubs : the most popular first. edges : all that lead on for ever. skeleton, fps, points, floor : of the frames.
    """

    hubs: tuple[Hub, ...]
    edges: tuple[FatEdge, ...]
    skeleton: Skeleton
    fps: float
    points: tuple[ContactPoint, ...]
    floor: float

    @classmethod
    def build(
        cls,
        clips: Sequence[Motion],
        *,
        n_hubs: int = 1,
        near: float = 0.1,
        window: float = 1.0 / 3.0,
        ease: float = 0.25,
        bandwidth: float = math.radians(7.0),
        markers: str = "body",
    ) -> FatGraph:
        """Find hubs in clips of one figure, and cut the clips there.

        Parameters
        ----------
        clips : that repeat themselves, such as walks; mirrored twins (`marey.edit.mirror`) make it turn to both sides.
        n_hubs : how many poses. Walks have one pose per cycle with one hub, and one per step, at best, with two.
        near : metres, root of D, within which a frame is a visit to a popular pose.
        window : seconds that are compared around a frame.
        ease : seconds in which a clip leaves a hub's pose, and comes back to it.
        bandwidth : radians; what counts as near in turn.
        markers : what is compared; see `marey.compare.point_clouds`.
        """
        count = check_index(n_hubs, "n_hubs")
        if count < 1:
            raise InvalidValue(f"a fat graph needs at least 1 hub, got {n_hubs}")
        close = check_number(near, "near in metres", above=True)
        span = check_number(window, "window in seconds", above=True)
        lead = check_number(ease, "ease in seconds", above=True)
        width = check_number(bandwidth, "bandwidth in radians", above=True)
        reel = make_reel(clips)
        seen = see(reel)
        hubs = find_hubs(reel, seen, count, close, span, markers)
        visits = sorted((int(row), k) for k, hub in enumerate(hubs) for row in hub.visits)
        cuts: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for (a, source), (b, target) in itertools.pairwise(visits):
            if reel.clip_of(a) == reel.clip_of(b):
                cuts.setdefault((source, target), []).append((a, b))
        made = [make_edge(reel, seen, hubs, ends, found, lead, width) for ends, found in cuts.items()]
        edges = _going_on([edge for edge in made if edge is not None])
        if not edges:
            raise NoResult(
                f"no two clips lead from hub to hub alike, in {len(visits)} visits; give longer clips, or raise near"
            )
        return cls(tuple(hubs), tuple(edges), reel.skeleton, reel.fps, reel.points, reel.floor)

    def out(self, hub: int) -> tuple[FatEdge, ...]:
        """The edges that leave a hub."""
        return tuple(edge for edge in self.edges if edge.source == hub)


class FatGraphStream:
    """Endless motion from a fat graph. `request` says what is wanted, `frame` gives the next frame.

    Parameters
    ----------
    graph : the graph.
    direction, turn : the first wishes; see `request`.
    place : rigid2d of the figure at first; the origin, facing +Z, by default.
    clean : plant the feet as frames go out. They then come `delay` frames after they were chosen.
    lock : hold planted feet at once by turning the legs, unless they are cleaned.
    """

    def __init__(
        self,
        graph: FatGraph,
        *,
        direction: float | None = 0.0,
        turn: float | None = None,
        place: ArrayLike = (0.0, 0.0, 0.0),
        clean: bool = False,
        lock: bool = True,
    ) -> None:
        self.graph = graph
        self._direction: float | None = None
        self._turn: float | None = None
        self.request(direction=direction, turn=turn)
        self._place: Floats = freeze_array(place, "place", (3,))
        self._hub = graph.edges[0].source
        self._taken: list[tuple[int, int, float]] = []
        self._path, self._edge = self._chosen()
        self._at = 0
        self._side: Floats = self._path.rotations[0]
        self._outlet = Outlet(
            graph.skeleton, graph.fps, graph.points, floor=graph.floor, clean=clean, lock=lock, name="fat graph"
        )

    @property
    def fps(self) -> float:
        """Frames per second that `frame` is meant to be called."""
        return self.graph.fps

    @property
    def delay(self) -> int:
        """Frames by which planting the feet puts off what is shown."""
        return self._outlet.delay

    @property
    def taken(self) -> tuple[tuple[int, int, float], ...]:
        """Source, target and radians of turn of the edges taken so far."""
        return tuple(self._taken)

    def request(self, **wish: Any) -> None:
        """Change what is wanted from the next hub on; what is not named stays.

        Parameters
        ----------
        direction : radians from +Z in the world, positive to the left, or None for any.
        turn : radians to turn by from hub to hub, before any direction; None for none in particular.
        """
        for name, value in wish.items():
            if name not in _WISHES:
                raise InvalidValue(f"a fat graph can be asked for {', '.join(_WISHES)}, not for {name!r}")
            if value is not None and not np.isfinite(value):
                raise InvalidValue(f"{name} must be an angle in radians, or None, got {value!r}")
            if name == "direction":
                self._direction = None if value is None else float(value)
            else:
                self._turn = None if value is None else float(value)

    def frame(self) -> Motion:
        """The next frame, a Motion of length 1."""
        return self._outlet.frame(self._next)

    def _next(self) -> Shown:
        if self._at == len(self._path.roots):
            self._place = set_readonly(rigid2d.compose(self._place, self._path.end))
            self._hub = self._edge.target
            self._path, self._edge = self._chosen()
            self._at = 0
        path, k = self._path, self._at
        self._at += 1
        turns = path.rotations[k].copy()
        turns[0] = quat.mul(rigid2d.to_quat(self._place), turns[0])
        # A quaternion of the other sign is the same turn, but whoever smooths frames must not see it jump.
        turns[(turns * self._side).sum(axis=1) < 0.0] *= -1.0
        self._side = set_readonly(turns)
        bones = None if path.bones is None else path.bones[k]
        return Shown(set_readonly(rigid2d.apply(self._place, path.roots[k])), self._side, path.flags[k], bones)

    def _chosen(self) -> tuple[Path, FatEdge]:
        """The clip to play from this hub on."""
        edges = self.graph.out(self._hub)
        off = self._turn
        if off is None:
            heading = float(self._place[0])
            off = 0.0 if self._direction is None else math.remainder(self._direction - heading, 2.0 * math.pi)
        wanted = off
        edge = min(edges, key=lambda each: self._soonest(each, wanted))
        turn = min(max(wanted, edge.low), edge.high)
        self._taken.append((edge.source, edge.target, turn))
        return edge.path(turn, self.graph.fps), edge

    def _soonest(self, edge: FatEdge, off: float) -> float:
        """Seconds in which what is left to turn could be turned, by this edge first and then by the quickest."""
        seconds = float(edge.seconds.mean())
        left = abs(off - min(max(off, edge.low), edge.high))
        if self._turn is not None:
            return left
        ends = [(each.high if off > 0.0 else -each.low) / float(each.seconds.mean()) for each in self.graph.edges]
        return seconds + left / max(*ends, 1e-3)


def _going_on(edges: list[FatEdge]) -> list[FatEdge]:
    """The edges after which there is always another."""
    while True:
        left = {edge.source for edge in edges}
        kept = [edge for edge in edges if edge.target in left]
        if len(kept) == len(edges):
            return kept
        edges = kept
