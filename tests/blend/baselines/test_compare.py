"""The tables: rows for every method, costs that agree with accuracies, and failures reported in their row."""

import json
from dataclasses import replace

import numpy as np
import pytest

from marey.blend.baselines import Comparison, compare, discrete_blend
from marey.blend.baselines.compare import METRICS, OUR_BLEND, OURS
from marey.edit import timewarp
from marey.errors import InvalidValue, NotBlendable
from marey.register import registration
from marey.samples import sample, straight_walk

WALK = replace(straight_walk(seconds=2.5, fps=30.0), name="walk")
SLOW = replace(timewarp(WALK, [(0.0, 0.0), (1.0, 1.4), (2.5, 3.0)]), name="slow")
PATHS = ["brute force", "recursion below 60 %", "greedy", OURS]
BLENDS = [
    "linear, Euler angles",
    "linear, quaternions",
    "linear, root velocities",
    "timewarp, discrete path",
    "timewarp, cubic spline",
    OUR_BLEND,
]


@pytest.fixture(scope="module")
def tables() -> Comparison:
    return compare(WALK, SLOW, (0.5, 0.5), threshold=0.6, time_limit=30.0)


def test_every_finder_has_its_row(tables: Comparison) -> None:
    assert [row.method for row in tables.paths] == PATHS
    assert tables.proven
    assert tables.optimum == min(row.cost for row in tables.paths if row.cost is not None)
    for row in tables.paths:
        assert row.path is not None
        assert row.cost == pytest.approx(row.path.cost)
        assert row.distance == pytest.approx(np.sqrt(row.path.mean))
        assert row.accuracy == pytest.approx(100.0 * tables.optimum / row.cost)
        assert 0.0 < row.accuracy <= 100.0 + 1e-9
        assert row.seconds > 0.0
        assert row.note == ""
        assert tuple(row.path.cells[-1]) == (tables.frames[0] - 1, tables.frames[1] - 1)
    by_name = {row.method: row for row in tables.paths}
    assert by_name["brute force"].accuracy == pytest.approx(100.0)
    assert by_name["recursion below 60 %"].accuracy == pytest.approx(100.0)
    assert by_name[OURS].accuracy > 50.0  # its first step advances both motions; otherwise this would be 100


def test_every_blend_has_its_row(tables: Comparison) -> None:
    assert [row.method for row in tables.blends] == BLENDS
    assert [row.method for row in tables.inputs] == ["walk", "slow"]
    for row in (*tables.inputs, *tables.blends):
        assert row.motion is not None
        assert tuple(row.metrics) == METRICS
        assert row.metrics["path_length"] > 0.5
    by_name = {row.method: row for row in tables.blends}
    discrete = by_name["timewarp, discrete path"]
    assert discrete.performance == pytest.approx(100.0)
    for row in tables.blends:
        assert row.performance == pytest.approx(100.0 * discrete.seconds / row.seconds)
    assert len(discrete.motion) == tables.frames[0]
    best = min((row.path for row in tables.paths), key=lambda path: path.cost)
    again = discrete_blend(*(row.motion for row in tables.inputs), path=best)
    np.testing.assert_allclose(discrete.motion.root_positions, again.root_positions)
    # Without synchronization, the mean of two walks slides.
    slide = {row.method: row.metrics["slide_weighted_speed"] for row in tables.blends}
    assert slide[OUR_BLEND] < 0.5 * slide["linear, quaternions"]
    assert tables.units["path_length"] == "m"


def test_tables_are_plain_data(tables: Comparison) -> None:
    plain = json.loads(json.dumps(tables.to_dict()))
    assert plain["frames"] == list(tables.frames)
    assert [row["method"] for row in plain["paths"]] == PATHS
    assert plain["paths"][0]["complete"] is True
    assert [row["method"] for row in plain["blends"]] == BLENDS
    assert plain["blends"][3]["frames"] == tables.frames[0]
    assert set(plain["units"]) == set(METRICS)


def test_a_failure_is_reported_in_its_row() -> None:
    tables = compare(WALK, SLOW, blends=False, threshold=0.001)
    row = tables.paths[1]
    assert row.method == "recursion below 0.1 %"
    assert (row.cost, row.accuracy, row.path) == (None, None, None)
    assert "raise the threshold" in row.note
    assert tables.paths[0].accuracy == pytest.approx(100.0)
    assert tables.blends == tables.inputs == ()


def test_a_cut_search_is_reported_in_its_row() -> None:
    long = straight_walk(seconds=8.0, fps=60.0)
    other = straight_walk(speed=0.9, seconds=8.0, fps=60.0)
    tables = compare(long, other, blends=False, time_limit=0.05, threshold=1.0)
    assert not tables.proven
    assert tables.paths[0].note == "stopped after 0.05 s; this is the best path found by then"
    assert tables.paths[0].path is not None
    assert tables.to_dict()["paths"][0]["complete"] is False
    assert tables.paths[3].note == ""


def test_where_no_path_exists_the_rest_is_still_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*motions: object, **options: object) -> None:
        raise NotBlendable("too unlike")

    monkeypatch.setattr(registration, "register", refuse)
    tables = compare(WALK[:10], SLOW)
    assert tables.notes == ("the motions cannot be registered, so full motions are used: too unlike",)
    assert tables.optimum is None
    assert not tables.proven
    assert all("times as long as the other" in row.note for row in tables.paths)
    by_name = {row.method: row for row in tables.blends}
    assert by_name["linear, quaternions"].motion is not None
    assert by_name["timewarp, discrete path"].note == "no path was found; the table of path finders gives the reason"
    assert by_name[OUR_BLEND].note == "the motions could not be registered; the notes give the reason"
    assert by_name[OUR_BLEND].seconds is None
    assert by_name["linear, quaternions"].performance is None
    json.dumps(tables.to_dict())


def test_whole_costs_and_chosen_frames() -> None:
    tables = compare(WALK, SLOW, whole_costs=True, n_frames=40, threshold=1.0)
    costs = [row.cost for row in tables.paths]
    assert all(cost == int(cost) for cost in costs)
    assert tables.cost_unit == "gray levels"
    assert all(row.distance < 0.3 for row in tables.paths), "meters, not gray levels"
    cubic = {row.method: row for row in tables.blends}["timewarp, cubic spline"]
    assert len(cubic.motion) == 40


def test_a_registration_can_be_given() -> None:
    reg = registration.register([WALK, SLOW])
    tables = compare(reg, blends=False, threshold=1.0)
    assert tables.frames == tuple(len(motion) for motion in reg.motions)
    assert tables.notes == reg.notes
    assert tables.optimum == pytest.approx(compare(WALK, SLOW, blends=False, threshold=1.0).optimum)
    with pytest.raises(
        InvalidValue, match="expected two motions, or only a registration of two, got a registration of 3"
    ):
        compare(registration.register([WALK, SLOW, WALK]))


def test_bad_input_is_refused() -> None:
    with pytest.raises(InvalidValue, match="expected two motions, or only a registration of two, got NoneType"):
        compare(WALK)
    with pytest.raises(InvalidValue, match="expected two motions, or only a registration of two, got str"):
        compare("walk.bvh", WALK)  # type: ignore[arg-type]
    with pytest.raises(InvalidValue, match="weights must be 2 numbers"):
        compare(WALK, SLOW, (1.0, 0.0, 0.0))
    with pytest.raises(InvalidValue, match="threshold must be greater than 0 and at most 1"):
        compare(WALK, SLOW, threshold=33)
    with pytest.raises(InvalidValue, match="end must be"):
        compare(WALK, SLOW, end="edge")  # type: ignore[arg-type]


def test_a_start_and_an_end_off_the_corners() -> None:
    kick = sample("kick", fps=30.0, height=0.8).motion
    other = sample("kick", fps=30.0, height=1.1, rng=1).motion
    tables = compare(kick, other, crop=None, blends=False, start="third", end="border", threshold=1.0)
    for row in tables.paths:
        assert row.path is not None
        assert 0 in row.path.cells[0]
        i, j = row.path.cells[-1]
        assert i == len(kick) - 1 or j == len(other) - 1
