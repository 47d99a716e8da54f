"""Metrics of streams."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from marey.control.blend_tree import BlendTreeStream
from marey.control.evaluate import clip_metrics, count_bytes, evaluate_stream, evaluate_streams, figure_of_eight, record
from marey.control.evaluate_gait import gait_metrics, lean
from marey.control.motion_matching import MotionMatching
from marey.core import Motion
from marey.errors import InvalidValue
from marey.graph.stream import GraphStream
from marey.maths import quat, rigid2d
from tests.control.clips import matching, walking_tree, walks
from tests.graph.clips import walking_graph
from tests.tiers import mostly_slow


@dataclass
class Puppet:
    """A standing pose that glides, and turns at a constant rate after some frames."""

    rate: float
    wait: int = 0
    speed: float = 1.0
    fps: float = 60.0
    place: np.ndarray = field(default_factory=lambda: np.zeros(3))
    commands: list = field(default_factory=list)

    def __post_init__(self):
        walk = walks()[1]
        self._pose = walk[0].moved([0.0, *-walk.travel[0, [0, 2]]])

    def request(self, **command):
        if "direction" in command:
            self.commands.append([self.wait, command["direction"]])

    def frame(self) -> Motion:
        for command in self.commands:
            command[0] -= 1
        goal = next((way for left, way in reversed(self.commands) if left < 0), 0.0)
        off = float(rigid2d.wrap_angle(goal - self.place[0]))
        self.place[0] += np.clip(off, -self.rate / self.fps, self.rate / self.fps)
        self.place[1:] += self.speed / self.fps * np.array([np.sin(self.place[0]), np.cos(self.place[0])])
        return self._pose.moved(self.place)


@pytest.mark.parametrize(
    ("rate", "wait"), mostly_slow([(2.0, 0), (1.0, 0), (2.0, 30)], "plays further streams", n_fast=1)
)
def test_the_response_is_how_long_a_turn_takes(rate, wait):
    metrics = evaluate_stream(lambda: Puppet(rate, wait), n_turns=4, seconds=5.0)
    # The pose itself may face a little to the side, and the sway is smoothed out.
    assert metrics.response == pytest.approx(np.radians(75) / rate + wait / 60, abs=0.1)
    assert metrics.answered == 1.0
    assert np.isnan(metrics.skate_own) == (walks()[1].contacts is None)


def test_turns_that_are_not_completed_count_as_the_longest_wait():
    metrics = evaluate_stream(lambda: Puppet(0.01), n_turns=2, timeout=1.0, seconds=5.0)
    assert (metrics.response, metrics.answered) == (1.0, 0.0)


@pytest.mark.slow("plays two streams for 50 s")
def test_the_path_error_is_how_far_off_the_path_it_goes():
    nimble, sluggish = (
        evaluate_stream(lambda rate=rate: Puppet(rate), n_turns=1, seconds=50.0) for rate in (3.0, 0.15)
    )
    # Steering toward a point 0.8 m ahead cuts a circle of 3 m by about 0.1 m.
    assert nimble.path_error < 0.12 < 0.5 < sluggish.path_error
    assert nimble.speed == pytest.approx(1.0, abs=0.02)


def test_a_figure_eight_turns_left_first_and_returns():
    path = figure_of_eight(2.0, 200)
    assert path.shape == (201, 2)
    np.testing.assert_allclose(path[[0, -1]], 0.0, atol=1e-9)
    assert path[50, 0] == pytest.approx(4.0)
    assert path[150, 0] == pytest.approx(-4.0)
    np.testing.assert_allclose(np.linalg.norm(np.diff(path, axis=0), axis=1).sum(), 8 * np.pi, rtol=1e-3)


@pytest.mark.slow("plays three kinds of stream")
def test_all_streams_can_be_put_into_one_table():
    table = evaluate_streams(
        {
            "matching": lambda: MotionMatching(matching(), feet="lock"),
            "blend tree": lambda: BlendTreeStream(walking_tree(), feet="lock"),
            "graph": lambda: GraphStream(walking_graph(), feet=None),
        },
        n_turns=2,
        seconds=10.0,
    )
    assert list(table) == ["matching", "blend tree", "graph"]
    assert table["blend tree"].answered == table["matching"].answered == 1.0
    for metrics in table.values():
        row = metrics.to_dict()
        assert row["frames_per_second"] > 0.0 < row["memory"]
        assert 0.0 < row["jerk"] < 10.0
    assert table["matching"].memory > matching().reel.rotations.nbytes


def test_bytes_count_once():
    array = np.zeros(100)
    assert count_bytes([array, array[10:], {"a": (array,)}]) == 800
    assert count_bytes("text") == 0


def test_recording_steers_and_joins():
    asked = []

    def steer(stream, i, before):
        asked.append((i, before is None))
        stream.request(direction=1.0)

    result = record(Puppet(2.0), 5, steer)
    assert len(result) == 5
    assert asked[:2] == [(0, True), (1, False)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_turns": 0}, "n_turns must be at least 1, not 0"),
        ({"timeout": 0.0}, "timeout must be"),
        ({"path": [[0.0, 0.0]]}, "at least two points"),
        ({"path": [1.0, 2.0]}, "path must have shape"),
    ],
)
def test_wrong_settings_are_refused(options, message):
    with pytest.raises(InvalidValue, match=message):
        evaluate_stream(lambda: Puppet(2.0), **options)
    with pytest.raises(InvalidValue, match="n_frames must be at least 1, not 0"):
        record(Puppet(2.0), 0)


def test_clips_have_the_same_metrics_as_a_stream_of_them():
    walk = walks()[1]

    @dataclass
    class Film:
        fps: float = walk.fps
        at: int = -1

        def request(self, **command):
            pass

        def frame(self):
            self.at += 1
            k = self.at % (2 * len(walk))
            return walk[min(k, 2 * len(walk) - 1 - k)]

    clips = clip_metrics([walk])
    played = evaluate_stream(Film, n_turns=1, timeout=2.0, seconds=1.0)
    assert played.bob == pytest.approx(clips.bob, rel=0.05)
    assert played.lift == pytest.approx(clips.lift, rel=0.05)
    assert played.sway == pytest.approx(clips.sway, rel=0.1)
    assert np.isnan(clips.response)
    assert clips.memory > walk.rotations.nbytes
    with pytest.raises(InvalidValue, match="at least one clip"):
        clip_metrics([])


def test_bob_lift_and_sway_are_measured_over_a_stride():
    walk = walks()[1]
    usual = gait_metrics(walk)
    taller = walk.root_positions.copy()
    # Hips that bob by 10 cm more, in the rhythm of the strides.
    taller[:, 1] += 0.05 * np.sin(2.0 * np.pi * 4.0 * np.arange(len(walk)) / walk.fps)
    shaken = gait_metrics(replace(walk, root_positions=taller))
    assert 0.01 < usual.bob < 0.08 < shaken.bob < usual.bob + 0.1 + 1e-9
    assert 0.05 < usual.lift < 0.25
    assert shaken.sway == pytest.approx(usual.sway, rel=1e-6)
    assert np.isnan(list(gait_metrics(walk[:3]).to_dict().values())).all()
    assert gait_metrics([walk, walk]) == usual


def test_lean_is_positive_to_the_left():
    walk = walks()[1]
    rolled = walk.rotations.copy()
    # About the axis of travel: the trunk leans to the right, which is -X.
    rolled[:, 0] = quat.mul(quat.from_axis_angle([0.0, 0.0, 1.0], 0.2), rolled[:, 0])
    apart = lean(replace(walk, rotations=rolled)) - lean(walk)
    np.testing.assert_allclose(apart, -0.2, atol=0.02)
