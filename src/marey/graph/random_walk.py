"""Walks by chance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from marey.errors import InvalidValue, NoResult
from marey.graph.walk import Walk

if TYPE_CHECKING:
    from marey.graph.motion_graph import MotionGraph


def random_walk(
    graph: MotionGraph,
    seconds: float,
    rng: int | np.random.Generator = 0,
    *,
    between: float = 2.0,
    label: str | None = None,
    start: int | None = None,
) -> Walk:
    """A walk of `seconds` by chance; the same seed gives the same walk.

    Parameters
    ----------
    between : seconds of clip between transitions, in the mean: at each place a clip is left with a chance that grows
        with the time until the next, so that places full of transitions are not favoured.
    label : stay within the endless motion of this label.
    start : node to begin at; by chance otherwise, each frame of each clip being as likely.
    """
    if not (np.isfinite(seconds) and round(seconds * graph.fps) >= 1):
        raise InvalidValue(f"a walk lasts at least a frame, got {seconds} s")
    n_frames = round(seconds * graph.fps)
    if not (np.isfinite(between) and between >= 0.0):
        raise InvalidValue(f"between is a time of at least 0 s, got {between}")
    chance = np.random.default_rng(rng)
    edges = graph.edges
    allowed = graph.allowed(label)
    runs = allowed & ~edges.blends
    if start is None:
        weights = np.where(runs if runs.any() else allowed, edges.n_frames, 0).astype(float)
        edge = int(chance.choice(len(edges), p=weights / weights.sum()))
    else:
        edge = _next_edge(graph, start, allowed, between, chance)
    taken = [edge]
    done = int(edges.n_frames[edge])
    while done < n_frames:
        edge = _next_edge(graph, int(edges.heads[edge]), allowed, between, chance)
        taken.append(edge)
        done += int(edges.n_frames[edge])
    return Walk(graph, np.array(taken), np.zeros(3), n_frames)


def _next_edge(graph: MotionGraph, node: int, allowed: np.ndarray, between: float, chance: np.random.Generator) -> int:
    edges = graph.edges
    outs = [edge for edge in graph.out_edges(node) if allowed[edge]]
    if not outs:
        raise NoResult(f"nothing that is allowed follows node {node}")
    runs = [edge for edge in outs if not edges.blends[edge]]
    jumps = [edge for edge in outs if edges.blends[edge]]
    if runs and jumps:
        stay = np.exp(-float(edges.n_frames[runs[0]]) / (graph.fps * between)) if between > 0.0 else 0.0
        outs = runs if chance.random() < stay else jumps
    return outs[int(chance.integers(len(outs)))]
