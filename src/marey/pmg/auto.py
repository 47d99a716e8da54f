"""Connect every pair of nodes that works (Heck 6.2.4): try all pairs, then prune dead ends until none is left."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from marey.errors import InvalidValue, NoResult

if TYPE_CHECKING:
    from marey.pmg.character import ParametricMotionGraph

__all__ = ["AutoReport", "connect_all", "dead_ends_in_turn", "prune"]


class AutoReport(NamedTuple):
    """The result of trying all pairs.

    kept : (source, target) of the edges made. failed : (source, target, reason) of the others.
    pruned : dead-end nodes, in the order of their removal.
    """

    kept: tuple[tuple[str, str], ...]
    failed: tuple[tuple[str, str, str], ...]
    pruned: tuple[str, ...]


def connect_all(
    graph: ParametricMotionGraph,
    good: float,
    bad: float,
    n_source: int,
    n_target: int,
    rng: int,
    prune_ends: bool,
    run: Callable[..., Iterable[Any]],
    progress: Callable[[float], None] | None,
) -> AutoReport:
    """See `ParametricMotionGraph.auto`."""
    if not graph.nodes:
        raise InvalidValue(f"{graph.name!r} has no nodes to connect; add a node first")
    pairs = [(a, b) for a in graph.nodes for b in graph.nodes if (a, b) not in graph.edges]
    kept, failed = [], []
    for k, (source, target) in enumerate(pairs):
        try:
            graph.connect(
                source, target, good=good, bad=bad, n_source=n_source, n_target=n_target, rng=rng, run=run
            )  # fmt: skip
            kept.append((source, target))
        except NoResult as error:
            failed.append((source, target, str(error)))
        if progress is not None:
            progress((k + 1) / len(pairs))
    pruned = prune(graph) if prune_ends else ()
    gone = set(pruned)
    return AutoReport(tuple(ends for ends in kept if not gone & set(ends)), tuple(failed), pruned)


def prune(graph: ParametricMotionGraph) -> tuple[str, ...]:
    """Remove dead-end nodes repeatedly until every node can continue forever; return their names."""
    stuck = dead_ends_in_turn(graph)
    for name in stuck:
        graph.remove(name)
    return stuck


def dead_ends_in_turn(graph: ParametricMotionGraph) -> tuple[str, ...]:
    """Find nodes that cannot continue forever: first those without an edge, then those that lead only to such nodes."""
    alive = dict.fromkeys(graph.nodes)
    out: list[str] = []
    while True:
        stuck = [name for name in alive if not any(edge.target in alive for edge in graph.out(name))]
        if not stuck:
            return tuple(out)
        for name in stuck:
            del alive[name]
        out += stuck
