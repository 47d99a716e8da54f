"""Searches: the optimum of exhaustive search on small graphs, and budgets that are obeyed."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from marey.errors import InvalidValue, NoResult
from marey.graph.objectives import FollowPath, KeepOut, KeepSpeed, KeepStyle, ReachClip, ReachPoint
from marey.graph.routes import count_frames_to_label, find_first_edges, shortest_walk
from marey.graph.search import FunctionObjective, PartialWalk, search
from marey.maths import rigid2d
from tests.graph.clips import two_styles, walking_graph


@pytest.fixture(scope="module")
def graph():
    return walking_graph()


def exhaustive(graph, objective, start: int, n_frames: int) -> float:
    """Return the lowest cost of all walks of at least `n_frames`, without using bounds."""
    begun = PartialWalk(graph, start, np.zeros(3), 0, 0.0, None)
    best, stack = np.inf, [(begun, objective.begin(begun))]
    while stack:
        walk, memo = stack.pop()
        walk = PartialWalk(graph, walk.node, walk.place, walk.n_frames, walk.cost, memo, walk.before, walk.edge)
        if walk.n_frames >= n_frames:
            best = min(best, walk.cost)
            continue
        for edge in graph.out_edges(walk.node):
            cost, after = objective.add(walk, edge)
            edges = graph.edges
            place = rigid2d.compose(walk.place, edges.moves[edge])
            step = PartialWalk(
                graph, int(edges.heads[edge]), place, walk.n_frames + int(edges.n_frames[edge]), walk.cost + cost,
                after, walk, edge,
            )  # fmt: skip
            stack.append((step, after))
    return best


@pytest.mark.parametrize("start", [0, 20, 40])
def test_branch_and_bound_finds_what_exhaustive_search_finds(graph, start):
    seconds = 1.5
    objective = KeepSpeed(0.9, seconds)
    found = search(graph, objective, start=start, window=None)
    assert found.proven
    assert found.cost == pytest.approx(exhaustive(graph, objective, start, seconds * 30), abs=1e-12)
    path = FollowPath(np.array([[0.0, 0.0], [1.0, 1.0]]))
    short = FunctionObjective(
        lambda walk, edge: path.add(with_memo(walk, path.begin(walk)), edge)[0], lambda walk: walk.n_frames >= 30
    )
    found = search(graph, short, start=start, window=None)
    assert found.cost == pytest.approx(exhaustive(graph, short, start, 30), abs=1e-12)


@pytest.mark.parametrize("start", [0, 20, 40])
def test_bounds_leave_the_optimum_where_it_is(graph, start):
    way = graph.clips[graph.nodes[start, 0]].travel[graph.nodes[start, 1], [0, 2]]
    for objective in (ReachPoint(way + [0.3, 1.5], 0.6), FollowPath(np.stack([way, way + [0.2, 1.2]]))):
        place = np.zeros(3)
        with_bound = search(graph, objective, start=(start, place), window=None, max_expanded=20_000)
        bare = SimpleNamespace(begin=objective.begin, add=objective.add, complete=objective.complete)
        without = search(graph, bare, start=(start, place), window=None, max_expanded=200_000)
        assert with_bound.proven
        assert without.proven
        assert with_bound.cost == pytest.approx(without.cost, abs=1e-12)
        assert with_bound.n_expanded <= without.n_expanded


def test_bounds_never_exceed_an_edge_and_the_bound_after_it(graph):
    rng = np.random.default_rng(0)
    wanted = np.array([0.2, 1.0, 3.0])
    for objective in (ReachPoint((1.0, 3.0)), FollowPath([(0, 0), (0, 4)]), ReachClip("walk2", wanted)):
        walk = PartialWalk(graph, 0, np.zeros(3), 0, 0.0, None)
        walk = with_memo(walk, objective.begin(walk))
        for _ in range(60):
            edge = int(rng.choice(graph.out_edges(walk.node)))
            cost, memo = objective.add(walk, edge)
            place = rigid2d.compose(walk.place, graph.edges.moves[edge])
            after = PartialWalk(graph, int(graph.edges.heads[edge]), place, 0, 0.0, memo, walk, edge)
            left = 0.0 if objective.complete(after) else objective.bound(after)
            assert objective.bound(walk) <= cost + left + 1e-9
            walk = after


def test_a_function_is_searched_as_it_is(graph):
    found = search(graph, lambda walk, edge: float(graph.edges.blends[edge]), start=0)
    assert found.complete
    assert 4.0 <= len(found.walk) / graph.fps < 6.0
    with pytest.raises(InvalidValue, match=r"an object with begin, .* or a function cost\(walk, edge\), not int"):
        search(graph, 3)


@pytest.mark.slow("searches with every objective")
def test_shipped_objectives_end_with_the_options_as_they_are(graph):
    for objective in (
        ReachPoint((2.0, 3.0)),
        FollowPath([(0, 0), (0, 4)]),
        KeepSpeed(1.0, 5.0),
        KeepStyle("walk", 5.0),
    ):
        found = search(graph, objective)
        assert found.complete
        assert found.n_expanded < 50_000


def with_memo(walk, memo):
    return PartialWalk(walk.graph, walk.node, walk.place, walk.n_frames, walk.cost, memo, walk.before, walk.edge)


def test_a_path_is_followed_piece_by_piece(graph):
    clip = graph.clips[1]
    way = clip.travel[:, [0, 2]]
    node = next(k for k, (c, _) in enumerate(graph.nodes) if c == 1)
    start = way[graph.nodes[node, 1]]
    ahead = np.stack([start, start + [1.5, 3.5], start + [3.0, 5.0]])
    found = search(graph, FollowPath(ahead), start=(node, np.zeros(3)), window=2, step=1, max_expanded=20_000)
    gone = found.walk.motion(feet=None).travel[:, [0, 2]]
    assert np.hypot(*np.diff(gone, axis=0).T).sum() >= 3.5
    assert found.n_expanded > 0


def test_more_budget_is_never_worse_and_an_exhausted_one_is_reported(graph):
    objective = KeepSpeed(0.8, 3.0)
    costs = []
    for budget in (50, 400, 5_000):
        found = search(graph, objective, start=0, window=None, max_expanded=budget)
        costs.append(found.cost)
        assert found.n_expanded <= 4 * budget
    assert costs == sorted(costs, reverse=True)
    assert not search(graph, objective, start=0, window=None, max_expanded=50).proven


def test_a_point_is_reached(graph):
    found = search(
        graph,
        ReachPoint((0.0, 6.0), 0.4),
        start=(0, np.zeros(3)),
        window=1,
        step=20 / 30,
        max_expanded=5_000,
    )
    assert found.complete
    end = found.walk.motion(feet=None).travel[-1]
    assert np.hypot(end[0], end[2] - 6.0) < 0.6


def test_circles_are_kept_out_of(graph):
    free = search(
        graph,
        ReachPoint((0.0, 6.0), 0.5),
        start=(0, np.zeros(3)),
        window=1,
        step=20 / 30,
        max_expanded=5_000,
    )
    ways = free.walk.motion(feet=None).travel[:, [0, 2]]
    middle = ways[len(ways) // 2]
    circle = [[*middle, 0.3]]
    held = search(
        graph,
        KeepOut(ReachPoint((0.0, 6.0), 0.8), circle),
        start=(0, np.zeros(3)),
        window=1,
        step=20 / 30,
        max_expanded=5_000,
    )
    away = np.hypot(*(held.walk.motion(feet=None).travel[:, [0, 2]] - middle).T)
    assert away.min() > 0.25  # the search sees the path without the sway of the hips


def test_a_style_is_kept():
    graph = two_styles()
    found = search(graph, KeepStyle("sneak", 2.0), window=3, step=2, max_expanded=50_000)
    assert found.cost == 0.0
    result = found.walk.motion(feet=None)
    assert result.labels.mask("sneak", len(result)).all()


def test_a_clip_is_reached_at_a_place(graph):
    entered = {int(head) for head, b in zip(graph.edges.heads, graph.edges.clips[:, 1], strict=True) if b == 2}
    walk = min((shortest_walk(graph, 0, node) for node in entered), key=len)
    wanted = walk.places[-1]
    found = search(
        graph,
        ReachClip(2, wanted, 0.3),
        start=(0, np.zeros(3)),
        window=2,
        step=1,
        max_expanded=5_000,
    )
    assert found.complete
    assert graph.edges.clips[int(found.walk.edges[-1]), 1] == 2
    place = found.walk.places[-1]
    end = found.walk.motion(feet=None).travel[-1, [0, 2]]
    off = end - rigid2d.apply(wanted, rigid2d.apply(rigid2d.invert(place), end))
    assert np.hypot(np.hypot(*off), place[0] - wanted[0]) < 0.35


def test_the_shortest_walk_is_the_shortest(graph):
    n = len(graph.nodes)
    times = np.full((n, n), np.inf)
    for tail, head, frames in zip(graph.edges.tails, graph.edges.heads, graph.edges.n_frames, strict=True):
        times[tail, head] = min(times[tail, head], frames)
    for k in range(n):  # Floyd-Warshall
        times = np.minimum(times, times[:, [k]] + times[[k], :])
    rng = np.random.default_rng(0)
    for before, after in rng.integers(n, size=(20, 2)):
        assert len(shortest_walk(graph, int(before), int(after))) == times[before, after]


def test_ways_to_a_label_lead_there():
    graph = two_styles()
    for label in graph.label_names:
        away, step = count_frames_to_label(graph, label), find_first_edges(graph, label)
        inside = graph.members[graph.index(label=label)]
        for node in np.flatnonzero(~inside & np.isfinite(away))[::7]:
            gone, here = 0, int(node)
            while not inside[here]:
                edge = int(step[here])
                gone += int(graph.edges.n_frames[edge])
                here = int(graph.edges.heads[edge])
            assert gone == away[node]


def test_impossible_requests_are_refused(graph):
    with pytest.raises(NoResult, match="no walk satisfies the objective and its constraints"):
        search(graph, KeepOut(KeepSpeed(1.0, 2.0), [[0.0, 0.0, 1e4]]), start=0)
    with pytest.raises(InvalidValue, match="step must be at most the `window=` of 0.3 s, not 0.6"):
        search(graph, KeepSpeed(1.0, 2.0), window=0.3, step=0.6)
    with pytest.raises(InvalidValue, match="must return costs of at least 0, not -1.0"):
        search(graph, FunctionObjective(lambda walk, edge: -1.0, lambda walk: False), start=0)
    with pytest.raises(InvalidValue, match="start, a node, must be from 0 to"):
        search(graph, KeepSpeed(1.0, 2.0), start=10**6)
    with pytest.raises(InvalidValue, match="speed must be at least 0 m/s, not -1$"):
        KeepSpeed(-1.0, 2.0)
    with pytest.raises(InvalidValue, match="seconds must be greater than 0, not 0$"):
        KeepSpeed(1.0, 0.0)
    with pytest.raises(InvalidValue, match="max_distance must be at least 0 m, not -1"):
        ReachPoint((1.0, 2.0), -1.0)
    with pytest.raises(InvalidValue, match="max_error must be at least 0 m, not nan"):
        ReachClip(2, (0.0, 0.0, 0.0), float("nan"))
    with pytest.raises(InvalidValue, match="the index of a node must be from 0 to"):
        shortest_walk(graph, 0, -1)
