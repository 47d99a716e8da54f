"""Statistics of graphs: what remains at thresholds, compared with graphs built with them, and components of clips."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from marey.graph import MotionGraph, connectivity
from marey.graph.bridges import count_recorded_clips, plays_own_clips
from marey.graph.statistics import own_threshold
from tests.graph.clips import sneaks, two_styles, walks


@pytest.fixture(scope="module")
def apart() -> MotionGraph:
    """Return walks and sneaks without transitions between them."""
    return MotionGraph.build((*walks(), *sneaks()), 0.08)


@pytest.fixture(scope="module")
def joined(apart) -> MotionGraph:
    return apart.with_registered_transitions(threshold=0.2, max_transitions=40)


def test_each_threshold_leaves_what_a_graph_built_with_it_has(apart):
    found = connectivity(apart)
    own = own_threshold(apart)
    np.testing.assert_allclose(found.limits[[0, -1]], [0.0, 2.0 * own])
    for row in (10, 20, 30, 40):
        built = MotionGraph.build(apart.clips, float(found.limits[row]))
        assert found.transitions[row] == built.n_transitions
        np.testing.assert_allclose(found.seconds[row], [each.n_frames / built.fps for each in built.components])
        assert found.ways[row] == sum(len(each.reaches) for each in built.components if each.n_frames)


def test_graphs_by_similarity_are_shown_up_to_what_they_have(apart):
    graph = MotionGraph.build_by_similarity(walks(), 0.8)
    found = connectivity(graph)
    assert found.limits[-1] == pytest.approx(graph.edges.distances.max())
    assert found.transitions[-1] == graph.n_transitions


def test_graphs_with_other_markers_are_not_compared_again():
    graph = MotionGraph.build(walks(), 0.08, markers="large")
    assert connectivity(graph).limits[-1] == pytest.approx(graph.edges.distances.max())


def test_motions_of_transitions_are_no_clips(apart, joined):
    assert count_recorded_clips(apart) == len(apart.clips) == 5
    assert count_recorded_clips(joined) == 5 < len(joined.clips)
    assert plays_own_clips(apart).all()
    own = ~plays_own_clips(joined)
    assert own.any()
    assert (joined.edges.clips[own] >= 5).all()
    assert joined.statistics().clips == 5
    assert joined.statistics().left_out == ()
    assert own_threshold(joined) == pytest.approx(own_threshold(apart))


@pytest.mark.slow("reduces a large graph")
def test_a_reduction_leaves_out_motions_that_nothing_plays_any_more(joined):
    small = joined.reduce_transitions(loss=0.5).graph
    assert small.n_transitions < joined.n_transitions
    assert count_recorded_clips(small) == 5
    assert set(range(5, len(small.clips))) <= set(small.edges.clips.ravel().tolist())
    small.random_walk(20.0, rng=0).motion(feet=None)


def test_components_hold_all_that_is_played(apart):
    parts = apart.statistics().parts
    assert [labels for _, labels in parts] == [("walk",), ("sneak",)]
    assert sum(seconds for seconds, _ in parts) == pytest.approx(apart.statistics().seconds_kept)
    (everything,) = two_styles().statistics().parts
    assert everything[1] == ("sneak", "walk")


def test_clips_of_which_nothing_is_left_are_named():
    short = walks()[0][:20]
    from dataclasses import replace

    graph = MotionGraph.build((*walks(), replace(short, name="short")), 0.08)
    assert graph.statistics().left_out == ("short",)
    assert graph.statistics().clips == 3


_BUILD = """
import sys
{first}
import numpy as np
from tests.graph.clips import walks
from marey.graph import MotionGraph
assert ("numba" in sys.modules) == {loaded}
graph = MotionGraph.build(walks()[:2], 0.08)
sys.stdout.buffer.write(graph.edges.moves.tobytes() + graph.edges.distances.tobytes())
"""


@pytest.mark.slow("builds graphs in new processes")
def test_a_graph_does_not_depend_on_what_was_loaded_before():
    result = [
        subprocess.run(
            [sys.executable, "-c", _BUILD.format(first=first, loaded=bool(first))], capture_output=True, check=True
        ).stdout
        for first in ("", "import numba")
    ]
    assert len(result[0]) > 1000
    assert result[0] == result[1]
