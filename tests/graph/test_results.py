"""Results have motion() and to_dict(), old ways to use them work, and a loaded graph behaves like the saved one."""

import json
import pickle

import numpy as np
import pytest

from marey.errors import InvalidValue
from marey.graph import KeepSpeed, MotionGraph, connectivity, foot_skate
from marey.graph.edge_paths import edge_paths
from tests.graph.clips import walking_graph

AHEAD = np.array([[0.0, 0.0], [0.0, 3.0]])


@pytest.fixture(scope="module")
def graph() -> MotionGraph:
    return walking_graph()


def test_every_result_is_json_ready(graph):
    walk = graph.random_walk(4.0, rng=1)
    followed, searched = graph.follow(AHEAD, beam_width=25), graph.search(KeepSpeed(1.0, 1.0), start=0)
    crowd = graph.crowd([AHEAD], 1.0)
    reports = (walk, followed, searched, crowd, graph.statistics(), connectivity(graph), foot_skate(walk))
    assert all(json.loads(json.dumps(each.to_dict())) for each in reports)
    assert followed.to_dict()["frames"] == len(followed.walk) == len(followed.motion(feet=None))
    assert len(searched.motion(feet=None)) == len(searched.walk)
    assert [len(motion) for motion in crowd.motions(feet=None)] == [len(crowd.found[0].walk)]


def test_results_that_were_tuples_can_still_be_unpacked(graph):
    walk = graph.random_walk(6.0, rng=2)
    with pytest.warns(DeprecationWarning, match=r"use (Walk\.land_at|LandingResult\.motion\(\))"):
        motion, report = walk.landed(walk.end[1:])
    assert motion is report.motion()
    assert json.dumps(report.to_dict())


def test_a_search_still_takes_frames(graph):
    given = graph.search(KeepSpeed(1.0, 1.0), start=0, window=1.0, step=0.5)
    with pytest.warns(DeprecationWarning, match="in seconds"):
        old = graph.search(KeepSpeed(1.0, 1.0), start=0, frames=30, keep=15)
    np.testing.assert_array_equal(old.walk.edges, given.walk.edges)


def test_one_method_looks_up_clips_and_labels(graph):
    assert graph.clips[graph.index(graph.clips[1].name)] is graph.clips[1]
    with pytest.warns(DeprecationWarning, match=r"use MotionGraph\.index\(label=\)"):
        assert graph.label_index("walk") == graph.index(label="walk")
    with pytest.raises(InvalidValue, match="pass either `clip=` with the name of a clip or `label="):
        graph.index()


def test_feet_are_cleaned_left_or_refused(graph):
    with pytest.raises(InvalidValue, match="feet must be 'clean' or None, not 'lock'"):
        graph.random_walk(2.0).motion(feet="lock")


def test_edge_paths_are_computed_once_and_cannot_be_changed(graph):
    assert edge_paths(graph) is edge_paths(graph)
    assert not edge_paths(graph).points.flags.writeable
    other = pickle.loads(pickle.dumps(graph))
    np.testing.assert_array_equal(edge_paths(other).points, edge_paths(graph).points)


def test_a_loaded_graph_behaves_like_the_saved_one(graph, tmp_path):
    graph.save(tmp_path / "g.npz")
    loaded = MotionGraph.load(tmp_path / "g.npz")
    np.testing.assert_array_equal(loaded.random_walk(9.0, rng=5).edges, graph.random_walk(9.0, rng=5).edges)
    np.testing.assert_array_equal(
        loaded.follow(AHEAD, beam_width=25).walk.edges, graph.follow(AHEAD, beam_width=25).walk.edges
    )
    assert loaded.statistics().to_dict() == graph.statistics().to_dict()


def test_a_crowd_takes_a_seed_or_a_generator(graph):
    one, other = (graph.crowd([AHEAD], 1.0, rng=np.random.default_rng(4)) for _ in range(2))
    np.testing.assert_array_equal(one.places, other.places)
