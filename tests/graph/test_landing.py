"""Landing: the end is exact, the beginning is unchanged, and nothing jumps in between."""

from __future__ import annotations

import numpy as np
import pytest

from marey.core import Motion
from marey.core.placement import find_placement
from marey.errors import InvalidValue, NoResult
from marey.graph.landing import LandingResult, land_at
from marey.maths import rigid2d
from tests.graph.clips import walking_graph

SECONDS = 2.0


@pytest.fixture(scope="module")
def walk():
    return walking_graph().random_walk(7.0, rng=4)


@pytest.fixture(scope="module")
def plain(walk) -> Motion:
    return walk.motion()


def end_of(motion: Motion) -> np.ndarray:
    return find_placement(motion, len(motion) - 1)


@pytest.fixture(scope="module", params=[(0.2, 0.3), (0.15, -0.25), (0.0, 0.4)])
def landing(request, walk, plain) -> tuple[Motion, LandingResult, np.ndarray]:
    away, turn = request.param
    end = end_of(plain)
    goal = end + [turn, away * 0.6, -away * 0.8]
    report = land_at(walk, goal[1:], goal[0], landing_seconds=SECONDS)
    return report.motion(), report, goal


def test_the_end_is_exact(landing):
    result, _, goal = landing
    end = end_of(result)
    np.testing.assert_allclose(end[1:], goal[1:], atol=1e-9)
    assert abs(rigid2d.wrap_angle(end[0] - goal[0])) < 1e-9


def test_the_beginning_is_untouched(landing, plain):
    result, _, _ = landing
    n = len(plain) - 1 - round((SECONDS + 0.3) * plain.fps)
    np.testing.assert_array_equal(result.root_positions[:n], plain.root_positions[:n])
    np.testing.assert_array_equal(result.rotations[:n], plain.rotations[:n])
    assert len(result) == len(plain)


def test_nothing_jumps(landing, plain):
    result, _, _ = landing
    speeds = [np.linalg.norm(np.diff(m.world().positions, axis=0), axis=-1).max() for m in (plain, result)]
    changes = [np.linalg.norm(np.diff(m.world().positions, 2, axis=0), axis=-1).max() for m in (plain, result)]
    assert speeds[1] < 1.3 * speeds[0]
    assert changes[1] < 1.5 * changes[0]


def test_the_size_of_the_bend_is_reported(landing, plain):
    result, report, goal = landing
    end = end_of(plain)
    assert report.shift == pytest.approx(np.hypot(*(goal - end)[1:]), abs=1e-12)
    assert report.turn == pytest.approx(rigid2d.wrap_angle(goal[0] - end[0]), abs=1e-12)
    assert 0.0 < report.drag < 1.0
    assert report.swing == pytest.approx(1.5 * abs(report.turn) / SECONDS, rel=0.05)
    step = result.source.provenance[-1]
    assert (step["op"], step["shift"]) == ("land", report.shift)


def test_planted_feet_do_not_slide_more_than_they_did(landing, plain):
    from marey.clean import point_paths

    result, _, _ = landing
    metrics = []
    for motion in (plain, result):
        contacts = plain.contacts
        paths = point_paths(motion, contacts.points)
        both = contacts.mask[1:] & contacts.mask[:-1]
        metrics.append(np.linalg.norm(np.diff(paths, axis=0)[..., [0, 2]], axis=-1)[both].max())
    assert metrics[1] < metrics[0] + 0.003


def test_where_it_ends_already_nothing_is_bent(walk, plain):
    report = land_at(walk, end_of(plain)[1:])
    assert (report.shift, report.turn) == (0.0, 0.0)


def test_without_cleanup_only_the_bend_is_applied(plain):
    end = end_of(plain)
    result = land_at(plain, end[1:] + [0.1, 0.0], feet=None).motion()
    np.testing.assert_array_equal(result.rotations, plain.rotations)
    np.testing.assert_allclose(end_of(result), end + [0.0, 0.1, 0.0], atol=1e-12)


@pytest.mark.parametrize(("shift", "turn"), [(0.4, 0.0), (0.0, 0.6)])
def test_an_adjustment_beyond_the_limit_is_refused_with_its_size(walk, plain, shift, turn):
    end = end_of(plain)
    with pytest.raises(NoResult, match=rf"ends {shift:.3f} m and {np.degrees(turn):.1f} degrees from"):
        land_at(walk, end[1:] + [shift, 0.0], end[0] + turn)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"position": (1.0,)}, "the position to land at"),
        ({"position": (0.0, 0.0), "heading": np.nan}, "heading must be a finite number of radians"),
        ({"position": (0.0, 0.0), "landing_seconds": 30.0}, "lasts 6.97 s"),
        ({"position": (0.0, 0.0), "landing_seconds": 0.0}, "seconds"),
        ({"position": (0.0, 0.0), "max_shift": -1.0}, "max_shift must be at least 0 meters"),
    ],
)
def test_what_makes_no_sense_is_refused(walk, options, message):
    with pytest.raises(InvalidValue, match=message):
        land_at(walk, **options)
