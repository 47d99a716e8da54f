"""Run a beam search of `marey.graph.beam_kernels` and trace the walk that it finds."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np

from marey.core.arrays import Floats
from marey.graph.beam_kernels import Starts, Trail
from marey.graph.follow_kernels import FollowSearch
from marey.graph.reach_kernels import ReachSearch

S = TypeVar("S", FollowSearch, ReachSearch)


class BeamResult(NamedTuple):
    """The walk that a search found.

    start : index of the start state.
    edges : edges from there to the last state.
    last, n_played : the edge taken from the last state, and how many of its frames are played. Goals may store other
        numbers here; see `search_reach`.
    """

    start: int
    edges: list[int]
    last: int
    n_played: int


def run_beam(
    kernel: Callable[[Starts, S, Trail], None], starts: Starts, search: S, best: Floats, max_records: int
) -> BeamResult | None:
    """Search for a walk that costs less than `best` (2,), which is updated in place; None if there is none.

    Parameters
    ----------
    kernel : the search, `search_follow` or `search_reach`.
    starts, search : start states and problem.
    best : cost to beat and error at the end in meters; see `Trail`.
    max_records : maximum number of states to expand.
    """
    n_records = min(max_records, search.limits.width * search.limits.max_frames + len(starts.nodes))
    trail = Trail(np.empty((n_records, 2), dtype=np.int64), np.empty(3, dtype=np.int64), best)
    kernel(starts, search, trail)
    record, last, n_played = trail.end.tolist()
    if last < 0:
        return None
    edges: list[int] = []
    record, edge = trail.records[record].tolist()
    while edge >= 0:
        edges.append(edge)
        record, edge = trail.records[record].tolist()
    return BeamResult(-1 - edge, edges[::-1], last, n_played)
