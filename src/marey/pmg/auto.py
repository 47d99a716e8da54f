"""Connect all nodes automatically (Heck 6.2.4): try every pair, keep the edges that work, prune dead ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from marey.compare.distance import warn_of_centimeters
from marey.core.reports import ReportBase
from marey.core.settings import operation
from marey.deprecation import renamed_fields
from marey.errors import InvalidValue, NoResult
from marey.pmg.settings import CompareSettings, ConnectAllSettings

if TYPE_CHECKING:
    from marey.pmg.character import ParametricMotionGraph

__all__ = ["AutoReport", "connect_all", "find_dead_ends", "remove_dead_ends"]


@renamed_fields(kept="connected")
@dataclass(frozen=True, slots=True, eq=False)
class AutoReport(ReportBase):
    """Result of trying to connect all pairs of nodes.

    connected : (source, target) node names of each new edge, without edges of pruned nodes.
    failed : (source, target, reason) of each pair that could not be connected.
    pruned : names of the removed dead-end nodes, in the order of removal.

    Examples
    --------
    >>> from marey.pmg import GaitSpace
    >>> space = GaitSpace.build([walk, turning, marey.edit.mirror(turning)])
    >>> walker = marey.ParametricMotionGraph("walker")
    >>> node = walker.add("walk", space)
    >>> report = walker.connect_all(n_source=10, n_target=30)
    >>> report.connected, report.pruned
    ((('walk', 'walk'),), ())
    """

    connected: tuple[tuple[str, str], ...]
    failed: tuple[tuple[str, str, str], ...]
    pruned: tuple[str, ...]


@operation(ConnectAllSettings)
def connect_all(graph: ParametricMotionGraph, settings: ConnectAllSettings) -> AutoReport:
    """Try to connect every node to every node, keep the edges that work, and remove dead ends if `prune` is True.

    Examples
    --------
    >>> walker = marey.ParametricMotionGraph("walker")
    >>> node = walker.add("walk", character.nodes["walk"].space)
    >>> walker.connect_all(n_source=10, n_target=30).connected
    (('walk', 'walk'),)
    """
    if not graph.nodes:
        raise InvalidValue(f"{graph.name!r} has no nodes to connect; add a node first")
    warn_of_centimeters("good", settings.good)
    warn_of_centimeters("bad", settings.bad)
    pairs = [(a, b) for a in graph.nodes for b in graph.nodes if (a, b) not in graph.edges]
    connected, failed = [], []
    for k, (source, target) in enumerate(pairs):
        try:
            graph.connect(source, target, good=settings.good, bad=settings.bad, **settings.select(CompareSettings))
            connected.append((source, target))
        except NoResult as error:
            failed.append((source, target, str(error)))
        if settings.progress is not None:
            settings.progress((k + 1) / len(pairs))
    pruned = remove_dead_ends(graph) if settings.prune else ()
    gone = set(pruned)
    return AutoReport(tuple(ends for ends in connected if not gone & set(ends)), tuple(failed), pruned)


def remove_dead_ends(graph: ParametricMotionGraph) -> tuple[str, ...]:
    """Remove dead-end nodes repeatedly until every node can continue forever; return the removed names."""
    stuck = find_dead_ends(graph)
    for name in stuck:
        graph.remove(name)
    return stuck


def find_dead_ends(graph: ParametricMotionGraph) -> tuple[str, ...]:
    """Find nodes that cannot continue forever: those without an outgoing edge, then those that lead only to them."""
    alive = dict.fromkeys(graph.nodes)
    out: list[str] = []
    while True:
        stuck = [name for name in alive if not any(edge.target in alive for edge in graph.out_edges(name))]
        if not stuck:
            return tuple(out)
        for name in stuck:
            del alive[name]
        out += stuck
