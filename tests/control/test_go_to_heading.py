"""Going to a point with a heading, by Dubins' ways."""

from __future__ import annotations

import numpy as np
import pytest

from marey.control.dubins_kernels import measure_paths
from marey.control.go_to import GoTo, arc_and_straight, dubins_length
from marey.core.placement import find_facing
from marey.errors import InvalidValue
from marey.maths import rigid2d
from tests.pmg.characters import small_walker, two_speed_walker
from tests.tiers import mostly_slow
from tests.twins.steering import driven

WORDS = ("LSL", "RSR", "LSR", "RSL", "LRL", "RLR")


def test_known_paths():
    here = np.zeros(3)
    assert dubins_length(here, (0.0, 0.0, 5.0), 1.0) == pytest.approx(5.0)
    assert dubins_length(here, (0.0, 0.0, 0.0), 1.0) == pytest.approx(0.0)
    # Half a circle to the left, and to the right with another radius.
    assert dubins_length(here, (np.pi, 2.0, 0.0), 1.0) == pytest.approx(np.pi)
    assert dubins_length(here, (np.pi, -3.0, 0.0), (1.0, 1.5)) == pytest.approx(1.5 * np.pi)
    # A lane to the left, by two arcs of a sixth of a circle.
    assert dubins_length(here, (0.0, 1.0, np.sqrt(3.0)), 1.0) == pytest.approx(2.0 * np.pi / 3.0)


def test_no_drive_of_arcs_and_lines_is_shorter():
    rng = np.random.default_rng(0)
    for _ in range(300):
        radii = dict(zip("LR", rng.uniform(0.5, 2.0, 2), strict=True))
        pieces = []
        for kind in rng.choice(WORDS):
            length = rng.uniform(0.0, 4.0) if kind == "S" else radii[kind] * rng.uniform(0.0, 2.0 * np.pi)
            pieces.append((kind, length, radii.get(kind, 1.0)))
        place = rng.normal(0.0, 2.0, 3)
        goal = driven(place, pieces)
        total = sum(length for _, length, _ in pieces)
        assert dubins_length(place, goal, (radii["L"], radii["R"])) <= total + 1e-6


def test_paths_can_be_driven():
    """From anywhere some turn shortens the way by just what is driven, and none by more; at the goal it is none."""
    rng = np.random.default_rng(1)
    step, missed = 1e-3, []
    for _ in range(200):
        radii = tuple(rng.uniform(0.5, 1.5, 2))
        place, goal = rng.normal(0.0, 1.0, 3), rng.normal(0.0, 1.5, 3)
        before = float(dubins_length(place, goal, radii))
        assert before > 0.0
        kinds = (("L", step, radii[0]), ("S", step, 1.0), ("R", step, radii[1]))
        after = dubins_length([driven(place, [each]) for each in kinds], goal, radii)
        assert after.min() > before - step - 1e-9
        missed.append(after.min() - (before - step))
    # Where an arc ends within the step, no single turn is quite the best.
    assert np.quantile(missed, 0.95) < 1e-9
    assert np.max(missed) < step


def test_a_heading_never_shortens_the_path_and_the_best_one_does_not_lengthen_it():
    rng = np.random.default_rng(2)
    point = np.array([0.5, 1.0])
    places = rng.normal(0.0, 2.0, (60, 3))
    # Nearer points may lie within a circle, and are then reached sooner by two arcs.
    places = places[np.linalg.norm(places[:, 1:] - point, axis=1) > 1.6]
    free = arc_and_straight(places, point, 0.8)
    ways = np.stack([dubins_length(places, (angle, *point), 0.8) for angle in np.linspace(-np.pi, np.pi, 721)])
    assert (ways >= free - 1e-9).all()
    np.testing.assert_allclose(ways.min(axis=0), free, atol=0.02)


def test_compiled_paths_without_a_heading_are_the_plain_ones():
    places = np.random.default_rng(3).normal(0.0, 2.0, (100, 3))
    out = np.empty(100)
    measure_paths(places, np.array([np.nan, 0.3, -0.4]), 0.9, 0.9, out)
    np.testing.assert_allclose(out, arc_and_straight(places, (0.3, -0.4), 0.9), atol=1e-9)


def test_no_turn_to_one_side():
    # Straight ahead is as it was; what lies to the left is reached by going round to the right.
    assert dubins_length(np.zeros(3), (0.0, 0.0, 3.0), (np.inf, 1.0)) == pytest.approx(3.0)
    assert dubins_length(np.zeros(3), (np.pi / 2.0, 3.0, 3.0), (np.inf, 1.0)) > 1.5 * np.pi


def arrived(char, point, heading, seconds, **options):
    """Whether the figure ever is within 0.3 m and 20 degrees."""
    stream = char.stream(GoTo(point, heading=heading, **options), feet=None)
    for _ in range(round(seconds / 4.0)):
        played = stream.record(4.0)
        near = np.linalg.norm(played.travel[:, [0, 2]] - point, axis=1) < 0.3
        yaw = find_facing(played.skeleton, played.world().positions)
        if (near & (np.abs(rigid2d.wrap_angle(yaw - heading)) < np.radians(20.0))).any():
            return True
    return False


@pytest.mark.parametrize("make", mostly_slow([small_walker, two_speed_walker], "plays another character", n_fast=1))
def test_points_are_reached_with_a_heading(make):
    rng = np.random.default_rng(5)
    for _ in range(6):
        angle, away, heading = rng.uniform(-np.pi, np.pi), 6.0 * np.sqrt(rng.random()), rng.uniform(-np.pi, np.pi)
        assert arrived(make(), (away * np.sin(angle), away * np.cos(angle)), heading, 36.0)


def test_commands_stay_until_they_are_changed():
    control = GoTo((1.0, 2.0), heading=2.5 * np.pi)
    assert control.heading == pytest.approx(0.5 * np.pi)
    control.request(point=(3.0, 4.0))
    assert control.heading == pytest.approx(0.5 * np.pi)
    np.testing.assert_array_equal(control.point, (3.0, 4.0))
    control.request(heading=None)
    assert control.heading is None
    np.testing.assert_array_equal(control.point, (3.0, 4.0))


def test_a_stream_lets_its_controller_prepare():
    asked = []

    class Preparing(GoTo):
        def prepare(self, graph):
            asked.append(graph)
            return super().prepare(graph)

    char = small_walker()
    char.stream(Preparing((0.0, 3.0)), feet=None, parameters=[0.0])
    assert asked == [char]


def test_bad_input():
    with pytest.raises(InvalidValue, match="heading must be a number of radians or None, not nan"):
        GoTo((0.0, 1.0), heading=np.nan)
    control = GoTo((0.0, 1.0))
    with pytest.raises(InvalidValue, match="takes the commands point and heading, not 'speed'"):
        control.request(speed=1.0)
    with pytest.raises(InvalidValue, match="point must have shape"):
        control.request(point=(1.0,), heading=1.0)
    assert control.heading is None
    for radius in (0.0, (1.0, -1.0), np.nan, [[1.0, 2.0]]):
        with pytest.raises(InvalidValue, match="radius must be a distance in meters"):
            dubins_length(np.zeros(3), np.zeros(3), radius)
    with pytest.raises(InvalidValue, match=r"places must have shape \(\.\.\., 3\)"):
        dubins_length(np.zeros(2), np.zeros(3), 1.0)
    with pytest.raises(InvalidValue, match="goal must"):
        dubins_length(np.zeros(3), (np.nan, 1.0, 2.0), 1.0)
