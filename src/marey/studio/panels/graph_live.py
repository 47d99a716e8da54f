"""Stream a graph live. Frames are prepared in a thread, because starting an edge may take longer than a frame."""

from __future__ import annotations

import asyncio
from collections import deque

from marey.core.feet import feet_from_flag
from marey.errors import MareyError
from marey.graph.motion_graph import MotionGraph
from marey.graph.stream import GraphStream
from marey.studio.live import LiveFrame
from marey.studio.messages import MotionInfo
from marey.studio.motions import Motions, Opened, compute_world

# Seconds of frames prepared ahead, which is also the minimum response time to a request.
_AHEAD = 0.1


class GraphPlayer:
    """A `marey.studio.live.LiveSource` that streams a graph. The character starts at the origin."""

    def __init__(self, graph: MotionGraph, direction: float, label: str | None, clean: bool) -> None:
        self.graph = graph
        self.joints = graph.skeleton.names
        self.parents = tuple(graph.skeleton.parents.tolist())
        # If the graph has several disconnected parts, start in the largest.
        start = _node_in_largest_component(graph) if label is None else None
        self._stream = GraphStream(graph, start=start, direction=direction, label=label, feet=feet_from_flag(clean))
        self._label = label
        self._ahead = max(2, round(_AHEAD * graph.fps))
        self._ready: deque[LiveFrame] = deque()
        self._last: LiveFrame | None = None
        self._refilling: asyncio.Future[None] | None = None
        self._note = ""
        # The error that ended the stream; it is raised after the prepared frames have been played.
        self._failed: Exception | None = None
        self._fill()

    @property
    def delay(self) -> float:
        """Delay in seconds caused by foot cleanup."""
        return self._stream.player.delay

    def body(self) -> MotionInfo:
        """Describe the character for the page."""
        from marey.studio.describe import describe_motion

        opened = Opened(self.graph.clips[0][:1])
        Motions().add(opened)
        return describe_motion("live", opened)

    def prepare(self, label: str | None, speed: float | None) -> None:
        """Build the tables for a request. This takes a moment; call it in a thread."""
        self._stream.prepare(label, speed)

    def request(self, direction: float, label: str | None, speed: float | None) -> None:
        """Change the request: direction (radians from +Z, positive to the left), label, and speed (m/s)."""
        self._stream.request(direction=direction, label=label, speed=speed)
        self._label = label

    def frame(self) -> LiveFrame:
        """Return the next frame; repeats the last one if none is ready in time."""
        due = len(self._ready) < self._ahead and self._failed is None
        if due and (self._refilling is None or self._refilling.done()):
            self._refilling = asyncio.get_running_loop().run_in_executor(None, self._refill)
        if self._ready or self._last is None:
            self._last = self._ready.popleft()
        elif self._failed is not None:
            raise self._failed
        return self._last

    def _refill(self) -> None:
        try:
            self._fill()
        except Exception as error:
            self._failed = error

    def _fill(self) -> None:
        while len(self._ready) < self._ahead:
            note, self._note = self._note, ""
            try:
                motion = self._stream.frame()
            except MareyError as error:
                if self._label is None:
                    raise
                # Withdraw a label that cannot be reached from here.
                self._note = str(error)
                self._label = None
                self._stream.request(label=None)
                continue
            positions, rotations = compute_world(motion, 0, 1)
            self._ready.append(LiveFrame(positions[0], rotations[0], {"note": note} if note else None))


def _node_in_largest_component(graph: MotionGraph) -> int:
    """Return a node of the strongly connected component with the most clip frames."""
    import numpy as np
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    edges, n = graph.edges, len(graph.nodes)
    table = coo_array((np.ones(len(edges), dtype=np.int8), (edges.tails, edges.heads)), shape=(n, n))
    _, which = connected_components(table, directed=True, connection="strong")
    inside = (which[edges.tails] == which[edges.heads]) & ~edges.blends
    frames = np.bincount(which[edges.tails[inside]], weights=edges.n_frames[inside], minlength=1)
    return int(np.argmax(which == int(frames.argmax())))
