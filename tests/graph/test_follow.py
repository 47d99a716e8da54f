"""Paths: followed closely and completely, in the requested styles."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from marey.clean import detect_contacts
from marey.core import Label, Labels
from marey.edit import mirror, resample
from marey.errors import InvalidValue, NoResult
from marey.graph import MotionGraph
from marey.graph.beam_kernels import Limits
from marey.graph.edge_paths import edge_layout, edge_paths
from marey.graph.follow import find_walked_path, follow, resample_path
from marey.graph.follow_kernels import FollowSearch, FollowSettings, StyledPath, WalkLimits, change_style, extend_state
from marey.graph.path_styles import _find_route_edges
from marey.io import load_motion
from tests.graph.clips import two_styles, walking_graph


@pytest.fixture(scope="module")
def graph():
    return walking_graph()


def circle(radius: float) -> np.ndarray:
    angle = np.linspace(0.0, 1.9 * np.pi, 200)
    return np.stack([radius - radius * np.cos(angle), radius * np.sin(angle)], axis=1)


def wave() -> np.ndarray:
    z = np.linspace(0.0, 14.0, 200)
    return np.stack([np.sin(z / 14.0 * 2.0 * np.pi), z], axis=1)


@pytest.mark.parametrize(
    "path", [np.array([[0.0, 0.0], [0.0, 12.0]]), circle(3.0), wave()], ids=["line", "circle", "wave"]
)
def test_paths_are_followed(graph, path):
    found = follow(graph, path)
    assert found.mean_distance <= 0.15
    assert found.end_distance <= 0.25
    assert found.mean_uncovered <= 0.15


def test_distances_are_those_of_the_motion(graph):
    found = follow(graph, wave(), beam_width=50)
    result = found.walk.motion(feet=None).travel[:, [0, 2]]
    course, _ = resample_path(wave())
    away = np.sqrt(((result[:, None] - course[None]) ** 2).sum(axis=-1)).min(axis=1)
    assert away.mean() == pytest.approx(found.mean_distance, abs=0.03)  # the hips sway around their path
    assert np.abs(find_walked_path(found.walk) - result).max() < 0.12


def frames_in_place(way, radius: float) -> int:
    """Return the largest number of frames that a path spends within a radius of the last position that it left."""
    most, here, since = 0, way[0], 0
    for point in way:
        since += 1
        if np.hypot(*(point - here)) > radius:
            here, since = point, 0
        most = max(most, since)
    return most


def test_staying_in_one_place_costs(graph):
    course, total = resample_path(np.array([[0.0, 0.0], [0.0, 4.0]]))
    still = np.zeros((60, 2))
    state = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 10.0, 0.0])
    out = np.zeros(6)

    def cost(patience: int) -> float:
        layout = edge_layout(graph, 0.2)._replace(first=np.array([0, 60]), points=still, steps=np.zeros(60))
        search = FollowSearch(
            layout,
            StyledPath(
                course,
                0.02,
                np.array([total]),
                np.ones((1, 1), dtype=bool),
                np.zeros((1, 1), dtype=bool),
                np.zeros((1, 1)),
                0.9,
                0,
            ),
            WalkLimits(np.zeros((0, 3)), np.zeros((0, 0, 2)), 0.5, 0),
            FollowSettings(0.0, 0.25, patience, 1.0, 0.5, 60.0, 0.2, 0.3),
            Limits(25, 60, 0.0, 0.0),
        )
        played = extend_state(state, 0, 0, 0, search, out)
        assert played == 0
        return float(out[1])

    assert cost(1000) == 0.0
    assert cost(24) == 46.0  # ten frames were spent there before
    assert out[4] == 70.0


def test_a_wider_beam_is_never_worse(graph):
    bent = np.stack([1.6 * np.sin(np.linspace(0.0, 9.0, 150)), np.linspace(0.0, 11.0, 150)], axis=1)
    for path in (wave(), bent):
        costs = [follow(graph, path, beam_width=width).cost for width in (25, 40, 50, 75, 100, 150, 200)]
        assert costs == sorted(costs, reverse=True)
        assert len(set(costs)) > 1


def test_cost_is_the_sum_of_the_definition(graph):
    path = wave()
    found = follow(graph, path, beam_width=50)
    course, total = resample_path(path)
    ways = edge_paths(graph)
    way = find_walked_path(found.walk)
    steps = np.concatenate([ways.steps[ways.first[e] : ways.first[e + 1]] for e in found.walk.edges])[: len(way)]
    gone = np.minimum(np.cumsum(np.maximum(steps, 0.1 / 30.0)), total)
    at = np.stack(
        [np.interp(gone, np.minimum(np.arange(len(course)) * 0.02, total), course[:, k]) for k in (0, 1)], axis=1
    )
    jumps = int(graph.edges.blends[found.walk.edges].sum())
    end = ((way[-1] - course[-1]) ** 2).sum()
    expected = ((way - at) ** 2).sum() + 0.5 * jumps + 60.0 * end
    assert frames_in_place(way, 0.25) <= 0.8 * 30  # so there is no penalty for staying in one place
    assert found.cost == pytest.approx(expected, rel=1e-3)


def test_styles_change_where_they_should():
    graph = two_styles()
    found = follow(graph, np.array([[0.0, 0.0], [0.0, 6.0]]), styles=[(3.0, "walk"), (6.0, "sneak")])
    result = found.walk.motion(feet=None)
    sneaking = result.labels.mask("sneak", len(result))
    walking = result.labels.mask("walk", len(result))
    change = int(np.flatnonzero(sneaking)[0])
    z = result.travel[:, 2]
    assert 2.0 < z[change] < 3.6
    assert walking[:change].all()
    assert sneaking[change:].all()
    whole = follow(graph, np.array([[0.0, 0.0], [0.0, 4.0]]), styles="sneak").walk.motion(feet=None)
    assert whole.labels.mask("sneak", len(whole)).all()


def test_styles_are_reported_and_kept_for_a_while():
    graph = two_styles()
    found = follow(graph, [[0.0, 0.0], [0.0, 6.0]], styles=[(3.0, "walk"), (3.2, "sneak"), (6.0, "walk")])
    assert [each.label for each in found.styles] == ["walk", "sneak", "walk"]
    assert found.styles[0].start == 0
    assert found.styles[-1].stop == found.walk.n_frames
    for one, other in itertools.pairwise(found.styles):
        assert one.stop == other.start
    for each in found.styles:
        assert each.own_frames >= 15  # half a second of the clips themselves
        assert each.arc_length <= each.requested_arc_length + 1e-9
        assert not each.through
    sneaking = found.walk.motion(feet=None).labels.mask("sneak", found.walk.n_frames)
    assert sneaking[found.styles[1].start : found.styles[1].stop].all()
    assert [each["label"] for each in found.to_dict()["styles"]] == ["walk", "sneak", "walk"]
    longer = follow(graph, [[0.0, 0.0], [0.0, 6.0]], styles=[(3.0, "walk"), (6.0, "sneak")], min_style_time=2.0)
    assert all(each.own_frames >= 60 for each in longer.styles)


def test_the_arc_length_waits_at_the_end_of_a_style(graph):
    """A body that stays where a style ends does not use up the length of the next style."""
    course, total = resample_path(np.array([[0.0, 0.0], [0.0, 4.0]]))
    none = np.zeros((1, 2), dtype=bool)
    layout = edge_layout(graph, 0.2)._replace(
        first=np.array([0, 60]), points=np.zeros((60, 2)), steps=np.full(60, 0.1), blends=np.zeros(1, dtype=bool)
    )
    ahead = np.zeros((1, 2))
    search = FollowSearch(
        layout,
        StyledPath(course, 0.02, np.array([1.0, total]), np.ones((1, 2), dtype=bool), none, ahead, 0.5, 30),
        WalkLimits(np.zeros((0, 3)), np.zeros((0, 0, 2)), 0.5, 0),
        FollowSettings(0.0, 0.25, 24, 1.0, 0.5, 60.0, 0.2, 0.3),
        Limits(25, 60, 0.0, 0.0),
    )
    state, out = np.zeros(11), np.zeros(6)
    assert extend_state(state, 0, 0, 0, search, out) == 0
    assert (out[0], out[5]) == (1.0, 60.0)
    state[6], state[10] = out[0], 10.0
    assert change_style(state, 0, 0, search.course) == 0  # too short in its style to leave it
    state[10] = 30.0
    assert change_style(state, 0, 0, search.course) == 2
    assert extend_state(state, 2, 0, 0, search, out) == 30  # reaches the end of the path in the last style


def test_the_way_between_two_styles_connects_them():
    graph = two_styles()
    edges = graph.edges
    clips = np.where(edges.blends, -1, edges.clips[:, 0])
    before, after = clips == 0, clips == len(graph.clips) - 1
    way = _find_route_edges(graph, before, after)
    reached = set(edges.heads[before].tolist())
    for _ in range(len(edges)):
        more = set(edges.heads[way & np.isin(edges.tails, list(reached))].tolist()) - reached
        if not more:
            break
        reached |= more
    assert reached & set(edges.tails[after].tolist())
    assert way.sum() < 0.5 * len(edges)


def test_a_walk_leaves_a_style_for_the_way_to_the_next():
    state = np.zeros(11)
    state[6] = 1.0
    styles = np.array([[True, False], [False, False], [False, True], [False, False]])
    between = np.array([[False, False], [True, False], [False, False], [False, False]])
    course = StyledPath(np.zeros((2, 2)), 0.02, np.array([1.0, 2.0]), styles, between, np.zeros((1, 2)), 0.5, 0)
    assert [change_style(state, 0, edge, course) for edge in range(4)] == [0, 1, 2, -1]
    assert [change_style(state, 1, edge, course) for edge in range(4)] == [-1, 1, 2, -1]
    state[6] = 0.0  # too early
    assert [change_style(state, 0, edge, course) for edge in range(4)] == [0, -1, -1, -1]


@pytest.mark.slow("builds a graph of recorded clips")
def test_a_style_of_recorded_clips_is_reached_through_another_label(data_folder):
    """Kovar 4.3.1: walk, then sneak. These clips have no direct transition from one to the other."""
    clips = []
    for name, label in (("143_32", "walk"), ("143_11", "carry"), ("143_13", "carry"), ("143_41", "sneak")):
        motion = resample(load_motion(data_folder / "cmu" / "143" / f"{name}.bvh", file_fps=60.0), 30.0)
        clips.append(detect_contacts(replace(motion, labels=Labels((Label(label, 0, len(motion)),)))))
    clips += [replace(mirror(clip), name=f"{clip.name} mirrored") for clip in clips]
    graph = MotionGraph.build(clips, 0.1)
    z = np.linspace(0.0, 12.0, 200)
    path = np.stack([1.2 * np.sin(z * np.pi / 6.0), z], axis=1)
    found = graph.follow(path, styles=[(6.0, "walk"), (12.0, "sneak")])
    assert [each.label for each in found.styles] == ["walk", "sneak"]
    assert found.styles[1].through == ("carry",)
    assert found.styles[1].own_frames >= 15
    assert found.mean_distance < 0.3


def test_circles_are_avoided(graph):
    path = np.array([[0.0, 0.0], [0.0, 10.0]])
    found = follow(graph, path, avoid=[[0.0, 5.0, 0.4]])
    away = np.hypot(*(find_walked_path(found.walk) - [0.0, 5.0]).T)
    assert away.min() >= 0.4


def test_a_given_start_is_kept(graph):
    place = np.array([0.5, 3.0, 1.0])
    x, _, z = graph.clips[int(graph.nodes[5, 0])].moved(place).travel[int(graph.nodes[5, 1])]
    found = follow(graph, np.array([[x, z], [x + 2.0, z + 8.0]]), start=(5, place))
    assert int(graph.edges.tails[found.walk.edges[0]]) == 5
    np.testing.assert_allclose(found.walk.start, place, atol=1e-12)


@pytest.mark.parametrize(
    ("path", "options", "message"),
    [
        ([[0.0, 0.0]], {}, "path must have at least 2 points .x, z., not 1"),
        ([[0.0, 0.0], [1.0, 1.0], [1.0, 1.0]], {}, "path points 1 and 2 are identical; remove one"),
        ([[0.0, 0.0], [np.nan, 1.0]], {}, "a path must be finite"),
        ([[0.0, 0.0], [0.0, 4.0]], {"styles": []}, "styles must contain at least one label"),
        ([[0.0, 0.0], [0.0, 4.0]], {"styles": [(3.0, "walk"), (2.0, "walk"), (4.0, "walk")]}, "at increasing"),
        ([[0.0, 0.0], [0.0, 4.0]], {"styles": "dance"}, "no label 'dance' in this graph"),
        ([[0.0, 0.0], [0.0, 4.0]], {"beam_width": 24}, "beam_width must be from 25 to 10000, not 24"),
    ],
)  # fmt: skip
def test_bad_input(graph, path, options, message):
    with pytest.raises(InvalidValue, match=message):
        follow(graph, path, **options)


def test_a_path_through_a_wall_has_no_walk(graph):
    with pytest.raises(NoResult, match=r"no walk covers this path of 4.0 m"):
        follow(graph, [[0.0, 0.0], [0.0, 4.0]], avoid=[[0.0, 2.0, 30.0]])


def test_an_obstacle_is_named():
    graph = two_styles()
    with pytest.raises(NoResult, match=r"begins inside the circle at 0,0 with radius 2 m; move one of them"):
        graph.follow([[0.0, 0.0], [0.0, 5.0]], avoid=[[0.0, 0.0, 2.0]])
    with pytest.raises(InvalidValue, match="avoid"):
        graph.follow([[0.0, 0.0], [0.0, 5.0]], avoid=[[0.0, 0.0]])
    with pytest.raises(InvalidValue, match="start, a node, must be from 0 to"):
        graph.follow([[0.0, 0.0], [0.0, 5.0]], start=(99999, (0.0, 0.0, 0.0)))
    with pytest.raises(InvalidValue, match="start must be .node, placement"):
        graph.follow([[0.0, 0.0], [0.0, 5.0]], start=99999)
    for ends, shown in (((5.0, 3.0), "5, 3"), ((2.0, 1.0, 5.0), "2, 1, 5"), ((np.nan, 5.0), "nan, 5")):
        with pytest.raises(InvalidValue, match=f"before the end of the path of 4.00 m, not at {shown} m"):
            graph.follow([[0.0, 0.0], [0.0, 4.0]], styles=[(end, "walk") for end in ends])
    apart = MotionGraph.build(graph.clips, 0.06)
    with pytest.raises(NoResult, match="the styles cannot change: no transition leads directly from 'walk' to 'sneak'"):
        apart.follow([[0.0, 0.0], [0.0, 5.0]], styles=[(2.0, "walk"), (5.0, "sneak")])
