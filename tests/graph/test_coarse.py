"""Coarse to fine: the minima that a full search finds, or nearly all of them."""

from __future__ import annotations

import numpy as np
import pytest

from marey.compare import frame_weights, point_clouds
from marey.errors import InvalidValue, NoResult
from marey.graph import MotionGraph, Transitions
from marey.graph.minima import find_transitions
from tests.graph.clips import sneaks, walks

FPS = 30.0


@pytest.fixture(scope="module")
def weights():
    return frame_weights(0.5, FPS, "triangle")


@pytest.fixture(scope="module")
def clouds():
    return [point_clouds(clip) for clip in (*walks(), *sneaks())]


def places(found: Transitions) -> set[tuple[int, ...]]:
    return {(*c, *f) for c, f in zip(found.clips.tolist(), found.frames.tolist(), strict=True)}


@pytest.mark.parametrize("coarse", [2, 3, 4])
@pytest.mark.parametrize("limit", [0.04, 0.08, None])
def test_nearly_all_minima_are_found_and_nothing_else(clouds, weights, coarse, limit):
    full = find_transitions(clouds, weights, limit, max_memory=2**26)
    found = find_transitions(clouds, weights, limit, coarse_step=coarse, max_memory=2**26)
    assert len(full) > 50
    assert places(found) <= places(full)
    assert len(found) >= 0.99 * len(full)
    at = {place: k for k, place in enumerate(zip(map(tuple, full.clips), map(tuple, full.frames), strict=True))}
    same = [at[tuple(c), tuple(f)] for c, f in zip(found.clips, found.frames, strict=True)]
    np.testing.assert_array_equal(found.distances, full.distances[same])
    np.testing.assert_array_equal(found.transforms, full.transforms[same])


def test_blocks_and_threads_do_not_change_the_result(clouds, weights):
    whole = find_transitions(clouds, weights, 0.08, coarse_step=3, max_memory=2**28)
    pieces = find_transitions(clouds, weights, 0.08, coarse_step=3, max_memory=2**12)
    assert places(whole) == places(pieces)


def test_far_from_the_origin_nothing_changes(clouds, weights):
    moved = [point_clouds(clip.moved((0.3, 700.0, -900.0))) for clip in walks()[:2]]
    here = find_transitions(clouds[:2], weights, 0.08, coarse_step=2, max_memory=2**28)
    there = find_transitions(moved, weights, 0.08, coarse_step=2, max_memory=2**28)
    assert places(here) == places(there)


def test_clips_shorter_than_a_window_have_nothing(clouds, weights):
    short = point_clouds(walks()[0][:9])
    assert len(find_transitions([short, clouds[0]], weights, 0.08, coarse_step=2, max_memory=2**28)) == len(
        find_transitions([short, clouds[0]], weights, 0.08, max_memory=2**28)
    )


def test_progress_ends_at_one_and_never_goes_back(clouds, weights):
    report: list[float] = []
    find_transitions(clouds[:2], weights, 0.05, coarse_step=2, max_memory=2**14, progress=report.append)
    assert report == sorted(report)
    assert report[-1] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("coarse", "message"), [(0, "at least 1, not 0"), (-1, "at least 1, not -1"), (8, "from 2 to 7")]
)
def test_a_step_that_leaves_no_window_is_refused(coarse, message):
    with pytest.raises(InvalidValue, match=message):
        MotionGraph.build(walks(), 0.08, coarse_step=coarse)


def test_a_graph_built_coarsely_has_the_same_transitions():
    full, coarse = (
        MotionGraph.build(walks(), 0.08),
        MotionGraph.build(walks(), 0.08, coarse_step=2),
    )
    assert 0.99 * full.n_transitions <= coarse.n_transitions <= full.n_transitions


def test_percentages_refer_to_all_minima():
    full, coarse = (
        MotionGraph.build(walks(), "30%"),
        MotionGraph.build(walks(), "30%", coarse_step=2),
    )
    assert coarse.n_transitions == pytest.approx(full.n_transitions, rel=0.02)


def test_no_graph_names_the_same_threshold_as_a_full_search():
    report = []
    for coarse in (1, 3):
        with pytest.raises(NoResult) as caught:
            MotionGraph.build(walks()[:1], 0.001, coarse_step=coarse)
        report.append(str(caught.value))
    assert report[0] == report[1]
    assert "the smallest that works is" in report[0]


def test_a_wrong_threshold_is_refused_before_the_search():
    with pytest.raises(InvalidValue, match="threshold must be at least"):
        MotionGraph.build(walks(), "near", coarse_step=2)
