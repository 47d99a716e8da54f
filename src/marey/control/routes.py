"""Routes between the nodes of a character: the number of clips from one node to another."""

from __future__ import annotations

from marey.errors import UnknownName
from marey.pmg import ControlState, ParametricMotionGraph, TransitionOption

__all__ = ["count_steps_to", "next_option"]


def count_steps_to(graph: ParametricMotionGraph, target: str, *, again: bool = False) -> dict[str, int]:
    """Count the clips from each node to a target, for the nodes that can reach it.

    Parameters
    ----------
    again : for the target itself, count the route back to itself, if there is one, instead of 0.
    """
    graph[target]
    steps: dict[str, int] = {} if again else {target: 0}
    ring, n = [target], 0
    while ring:
        n += 1
        before = [source for source, end in graph.edges if end in ring and source not in steps]
        steps.update(dict.fromkeys(before, n))
        ring = list(dict.fromkeys(before))
    return steps


def next_option(state: ControlState, target: str) -> TransitionOption:
    """Choose the option that leads to a node with the fewest clips; this is the node itself if it can follow."""
    steps = count_steps_to(state.graph, target)
    known = [option for option in state.options if option.node.name in steps]
    if not known:
        raise UnknownName(f"no route leads from {state.node!r} to {target!r}; connect them")
    return min(known, key=lambda option: steps[option.node.name])
