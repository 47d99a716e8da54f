"""State of the Characters panel: the character and the gaze map being edited."""

from __future__ import annotations

import copy
import shutil
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from marey.errors import InvalidValue, NoResult
from marey.studio.panels import author_messages as messages
from marey.studio.threads import to_thread

if TYPE_CHECKING:
    from marey.layer import GazeMap
    from marey.pmg import Edge, Node, NodeComparison, ParametricMotionGraph
    from marey.studio.session import Session

WORK = "marey.studio.panels.author_work"
_BINS = 60
# States of a character that can be restored.
_MAX_VERSIONS = 20
# Quantile of the costs up to which the histogram is drawn: a few high costs would squeeze all others.
_DRAWN = 0.995


@dataclass(slots=True, eq=False)
class SharedFile:
    """A character's file (`path`), the objects it was written from (`made_of`), and the number of jobs that use it
    (`users`)."""

    made_of: tuple[Any, ...]
    path: Path
    users: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Version:
    """A state of the character that can be restored, and its nodes and edges."""

    graph: ParametricMotionGraph
    recipe: tuple[str, str]
    parts: tuple[Any, ...]


@dataclass(slots=True, eq=False)
class Draft:
    """The character being edited.

    comparisons : keyed by source and target node names; valid while both nodes are unchanged.
    folder : for files that the worker reads and writes.
    counts : bytes that each panel of the session stores; this panel's key is "author".
    gaze, costs : the gaze map being edited, and the leave-one-out error of each example if computed.
    recipe : text of the recipe that the character was built from, "" if there is none, and the folder that its files
        are relative to, "" for the open one.
    versions, version : the last states of the character, keyed by number, and the number of the current one.
    lock : held while the character changes.
    """

    graph: ParametricMotionGraph
    folder: Path
    counts: dict[str, int]
    comparisons: dict[tuple[str, str], tuple[Node, Node, NodeComparison]] = field(default_factory=dict)
    gaze: GazeMap | None = None
    costs: tuple[float | None, ...] | None = None
    recipe: tuple[str, str] = ("", "")
    versions: dict[int, Version] = field(default_factory=dict)
    version: int = 0
    lock: threading.RLock = field(default_factory=threading.RLock)
    _count: int = 0
    _shared: SharedFile | None = None

    @contextmanager
    def file(self, stem: str) -> Iterator[Path]:
        """Yield a path in a temporary folder for a character and its data files. The folder is removed afterward."""
        path = self._new_file(stem)
        try:
            yield path
        finally:
            shutil.rmtree(path.parent, ignore_errors=True)

    @asynccontextmanager
    async def share_file(self) -> AsyncIterator[str]:
        """Yield the path of the current character's file for the worker. It is reused until the character changes."""
        given = await to_thread(self._write_shared_file)
        try:
            yield str(given.path)
        finally:
            with self.lock:
                given.users -= 1
                if given is not self._shared and not given.users:
                    shutil.rmtree(given.path.parent, ignore_errors=True)

    def _write_shared_file(self) -> SharedFile:
        with self.lock:
            if not self.graph.nodes:
                raise NoResult(f"{self.graph.name!r} has no nodes yet; add one from clips or from a built-in character")
            now = (self.graph, self.graph.name, *self.graph.nodes.values(), *self.graph.edges.values())
            before = self._shared
            if before is None or not _are_identical(before.made_of, now):
                path = self._new_file("draft")
                self.graph.save(path)
                self._shared = SharedFile(now, path)
                self.counts["author"] = sum(each.stat().st_size for each in path.parent.iterdir())
                if before is not None and not before.users:
                    shutil.rmtree(before.path.parent, ignore_errors=True)
            shared = self._shared
            if shared is None:
                raise NoResult("the character could not be written; try again")
            shared.users += 1
            return shared

    def _new_file(self, stem: str) -> Path:
        with self.lock:
            self._count += 1
            place = self.folder / str(self._count)
            place.mkdir(parents=True)
        return place / f"{stem}.json"

    def put(self, graph: ParametricMotionGraph) -> None:
        """Replace the character."""
        with self.lock:
            self.graph, self.recipe = graph, ("", "")
            self.comparisons.clear()

    def note_version(self) -> int:
        """Return the version number of nodes and edges. Changed ones get a new number."""
        with self.lock:
            parts = (*self.graph.nodes.values(), *self.graph.edges.values())
            known = self.versions.get(self.version)
            if known is None or not _are_identical(known.parts, parts):
                self.version = max(self.versions, default=0) + 1
                self.versions[self.version] = Version(copy.copy(self.graph), self.recipe, parts)
            while len(self.versions) > _MAX_VERSIONS:
                del self.versions[min(each for each in self.versions if each != self.version)]
            return self.version

    def restore(self, version: int) -> None:
        """Restore a state of the character."""
        with self.lock:
            if version not in self.versions:
                raise InvalidValue("this state of the character is no longer stored")
            known = self.versions[version]
            self.graph, self.recipe, self.version = copy.copy(known.graph), known.recipe, version

    def pair(self, source: str, target: str) -> tuple[Node, Node, NodeComparison]:
        """Return two nodes and their comparison. Raise an error if there is none or a node has changed since."""
        start, end = self.graph[source], self.graph[target]
        known = self.comparisons.get((source, target))
        if known is None or known[0] is not start or known[1] is not end:
            raise InvalidValue(
                f"{source!r} and {target!r} have no computed transitions; press “Find transitions” first"
            )
        return known


def _are_identical(a: tuple[Any, ...], b: tuple[Any, ...]) -> bool:
    return len(a) == len(b) and all(x is y for x, y in zip(a, b, strict=True))


def get_draft(session: Session) -> Draft:
    """Return the session's draft. It starts as an empty character."""

    def create() -> Draft:
        from marey.pmg import ParametricMotionGraph

        return Draft(ParametricMotionGraph("character"), session.places.own / "author", session.places.panel_bytes)

    return session.state.get_or_create("author", create)


async def recipe_file(session: Session, recipe: str) -> Path:
    """Return the path of a built-in recipe's file. The worker builds it on first use; then it is on disk."""
    from marey.studio.panels.author_work import check_recipe_name

    # The import takes long, and other pages must not wait.
    cached_characters = await to_thread(import_module, "marey.studio.cached_characters")

    async def make(path: Path) -> None:
        await session.jobs.run(f"{WORK}:recipe", recipe=recipe, output=str(path))

    await to_thread(check_recipe_name, recipe)
    path: Path = await to_thread(cached_characters.find_cached, recipe)
    if not path:
        path = await to_thread(cached_characters.store, recipe, await session.shared.file(recipe, session.jobs, make))
    return path


def describe_character(draft: Draft, note: str = "") -> messages.Character:
    """Describe the character for the page."""
    with draft.lock:
        graph = draft.graph
        stuck = graph.dead_ends()
        nodes = tuple(_node(node, node.name in stuck) for node in graph.nodes.values())
        edges = tuple(_edge(edge, graph[edge.target]) for edge in graph.edges.values())
        return messages.Character(graph.name, nodes, edges, draft.note_version(), note)


def _node(node: Node, stuck: bool) -> messages.CharacterNode:
    from marey.pmg.requests import request_name

    ranges = tuple(
        messages.CharacterRange(*row)
        for row in zip(node.names, node.units, node.low.tolist(), node.high.tolist(), strict=True)
    )
    seconds = node.motion(node.middle).duration
    return messages.CharacterNode(
        node.name, node.parent or "", ranges, request_name(node.request) or "its own", seconds, stuck
    )


def _edge(edge: Edge, target: Node) -> messages.CharacterEdge:
    wide = np.where(target.high > target.low, (edge.high - edge.low) / target.scale, 1.0)
    fraction = float(wide.prod(axis=1).mean())
    middle = float(edge.costs[len(edge.costs) // 2])
    return messages.CharacterEdge(
        edge.source, edge.target, edge.good, edge.bad, middle, edge.worst, fraction, len(edge)
    )


def make_chart(source: Node, target: Node, comparison: NodeComparison) -> messages.CostChart:
    """Make the histogram of transition costs, with the default thresholds."""
    from marey.pmg.connect import build_edge

    values = comparison.costs
    usual = build_edge(comparison, source, target)
    top = max(float(np.quantile(values, _DRAWN)), 1.1 * usual.bad)
    counts = np.histogram(values, bins=_BINS, range=(0.0, top))[0]
    best = np.sort(values.min(axis=1))
    return messages.CostChart(
        source.name, target.name, top, tuple(counts.tolist()), tuple(best.tolist()), usual.good, usual.bad
    )


def check_order(good: float, bad: float) -> None:
    """Check that thresholds (m) are positive and `good` does not exceed `bad`. Messages are in cm, like the page."""
    if not 0.0 < good < np.inf or not 0.0 < bad < np.inf:
        raise InvalidValue(f"thresholds must be finite and greater than 0, not {100 * good:.3g} and {100 * bad:.3g} cm")
    if good > bad:
        raise InvalidValue(
            f"“Accept costs below” must not exceed “Reject costs above”, got {100 * good:.3g} and {100 * bad:.3g} cm; "
            "swap them"
        )


def stuck_note(source: Node, target: Node, comparison: NodeComparison, good: float) -> str:
    """Describe which source motions cannot continue, and the remedies, in degrees and centimeters like the panel.

    At least one source sample must exceed the threshold `good` (m).
    """
    from marey.pmg.connect import find_free_box
    from marey.pmg.units import format_ranges, format_rounded_up

    best = comparison.costs.min(axis=1)
    stuck = best > good
    lost = comparison.source[stuck]
    ranges = format_ranges(source.names, source.units, lost.min(axis=0), lost.max(axis=0))
    text = (
        f"{int(stuck.sum())} of {len(stuck)} motions of {source.name!r}, with {ranges}, have no transition to "
        f"{target.name!r} that costs at most {100 * good:.3g} cm: raise “Accept costs below” to "
        f"{format_rounded_up(100 * float(best.max()))} cm"
    )
    box = find_free_box(comparison.source[~stuck], lost)
    if box is None:
        return f"{text}."
    return f"{text}, or connect a sub-range, about {format_ranges(source.names, source.units, *box)}."


def try_thresholds(
    source: Node, target: Node, comparison: NodeComparison, good: float, bad: float, sample: int
) -> messages.TriedEdge:
    """Preview thresholds (m) between two nodes, and the box of targets of the source sample with index `sample`."""
    from marey.pmg.connect import shrink_box

    check_order(good, bad)
    costs = comparison.costs
    k = min(max(sample, 0), len(costs) - 1)
    row = costs[k]
    stuck = int((costs.min(axis=1) > good).sum())
    low, high = None, None
    if (row <= good).any():
        best, apart = comparison.target[int(np.argmin(row))], 1e-6 * target.scale
        box = shrink_box(comparison.target[row <= good], comparison.target[row > bad], best, apart)
        low, high = tuple(box[0].tolist()), tuple(box[1].tolist())
    note = stuck_note(source, target, comparison, good) if stuck else ""
    return messages.TriedEdge(
        float((costs <= good).mean()),
        float((costs > bad).mean()),
        stuck,
        note,
        k,
        tuple(comparison.source[k].tolist()),
        tuple(tuple(point) for point in comparison.target.tolist()),
        tuple(row.tolist()),
        low,
        high,
    )


def describe_gaze(gaze: GazeMap, costs: tuple[float | None, ...] | None, note: str = "") -> messages.GazeChart:
    """Describe a gaze map for the page."""
    from marey.maths import quat

    known = costs if costs is not None else (None,) * len(gaze.examples)
    examples = tuple(
        messages.GazeExample(
            each.name, float(each.goal[0]), float(each.goal[1]), each.length, float(quat.angle(each.pose[4])), cost
        )
        for each, cost in zip(gaze.examples, known, strict=True)
    )
    return messages.GazeChart(examples, tuple((float(yaw), float(pitch)) for yaw, pitch in gaze.region), note)
