"""The report: every metric with its definition, next to that of the source clip."""

import json
from dataclasses import replace

import numpy as np
import pytest

from marey.core import Motion, Skeleton
from marey.errors import InvalidValue, UnknownName
from marey.maths import quat
from marey.measure import EDIT_MEASURES, MEASURES, Report, measure
from marey.samples import straight_walk
from tests.measure.simple_motions import pendulum_walk, statue, straight

WALK = straight_walk(seconds=3.0)


def test_every_measure_has_a_definition() -> None:
    names = [one.name for one in MEASURES]
    assert len(set(names)) == len(names)
    for one in MEASURES:
        assert one.unit
        for part in (one.unit, one.definition, one.source):
            assert part in (one.__doc__ or "")


def test_the_report_is_an_ordered_mapping() -> None:
    report = measure(WALK)
    assert list(report) == [one.name for one in MEASURES]
    assert len(report) == len(MEASURES)
    assert "skate_ratio" in report
    assert report["skate_ratio"].unit == "fraction"
    with pytest.raises(UnknownName, match="unknown metric 'skate_ration'.*similar: 'skate_ratio'"):
        report["skate_ration"]


def test_a_walk_has_every_metric() -> None:
    report = measure(WALK)
    assert [name for name, metric in report.items() if metric.value is None] == []
    assert all(np.isfinite(metric.value) for metric in report.values() if metric.value is not None)
    assert all(metric.against is None for metric in report.values())
    assert report.against is None


def test_the_report_includes_the_source_clips_metrics() -> None:
    slow, quick = straight(0.2, 0.0), straight(0.6, 0.0, fps=30.0)
    alone, paired = measure(quick), measure(slow, against=quick)
    assert paired.against is not None
    assert paired.against["fps"] == 30.0
    for name, metric in alone.items():
        assert paired[name].value == measure(slow)[name].value
        assert paired[name].against == metric.value
        assert paired[name].against_note == metric.note


def check_same(a: Report, b: Report) -> None:
    for name, metric in a.items():
        assert metric.value == pytest.approx(b[name].value, rel=1e-6, abs=1e-6), name


@pytest.mark.parametrize("transform", [(1.0, 5.0, -3.0), (np.pi, 0.0, 0.0), (-2.5, -40.0, 80.0)])
def test_metrics_are_the_same_anywhere_on_the_floor(transform: tuple[float, float, float]) -> None:
    for motion in (WALK, pendulum_walk(0.9, 1.1)):
        check_same(measure(motion), measure(motion.moved(transform)))


def test_measuring_changes_nothing() -> None:
    before = WALK.root_positions.copy(), WALK.rotations.copy()
    measure(WALK, against=WALK)
    np.testing.assert_array_equal(WALK.root_positions, before[0])
    np.testing.assert_array_equal(WALK.rotations, before[1])


def test_metrics_go_to_json_and_back() -> None:
    report = json.loads(json.dumps(measure(WALK, against=WALK).to_dict()))
    assert report["name"] == WALK.name
    assert report["frames"] == len(WALK)
    assert report["against"]["frames"] == len(WALK)
    plain = measure(WALK)
    for name, metric in report["metrics"].items():
        if name in plain:
            assert metric["value"] == metric["against"] == plain[name].value
        assert metric["definition"]
        assert metric["source"]
        assert metric["unit"]


def test_one_frame_is_not_enough() -> None:
    with pytest.raises(InvalidValue, match="motion 'statue' must have at least 2 frames to be measured, not 1"):
        measure(statue(np.array([[0.0, -0.01, 0.0]])))


def test_two_frames_give_what_two_frames_can() -> None:
    report = measure(statue(np.array([[0.0, -0.01, 0.0]] * 2)))
    assert report["penetration_max"].value is not None
    assert report["jitter"].note == "needs at least 4 frames, but the motion has 2 frames"
    assert "no gait" in report["stride_rate"].note


def test_a_metric_prints_as_a_line_and_get_does_not_raise() -> None:
    report = measure(statue(np.array([[0.0, -0.01, 0.0]] * 20)))
    assert str(report["path_length"]).startswith("path_length: 0 m")
    assert report.get("nope") is None
    assert report.get("jitter") is report["jitter"]


def test_without_legs_the_feet_are_left_out_with_a_reason() -> None:
    chain = Skeleton(("a", "b", "c"), np.array([-1, 0, 1]), np.array([[0, 0, 0], [0, 1, 0], [0, 1, 0]]))
    report = measure(Motion(chain, np.zeros((20, 3)), quat.identity((20, 3)), 30.0))
    assert report["jitter"].value == 0.0
    assert report["skate_ratio"].value is None
    assert "'left_foot' was not found" in report["skate_ratio"].note
    assert "'hips' was not found" in report["path_length"].note


def test_no_metric_at_all_is_an_error() -> None:
    dot = Skeleton(("a",), np.array([-1]), np.zeros((1, 3)))
    with pytest.raises(InvalidValue, match="motion 'dot' must have at least 2 frames to be measured, not 1"):
        measure(Motion(dot, np.zeros((1, 3)), quat.identity((1, 1)), 30.0, name="dot"))


def test_feet_that_never_rest_have_no_floor() -> None:
    time = np.arange(120) / 60
    fly = statue(np.stack([5 * time, 1 + 9 * time, 0 * time], axis=1))
    report = measure(replace(fly, contacts=None, source=replace(fly.source, floor=None)))
    assert report["penetration_mean"].value is None
    assert "no foot comes to rest" in report["penetration_mean"].note
    assert report["path_length"].value == pytest.approx(5 * 119 / 60)


def test_joints_above_the_hips_are_not_the_body() -> None:
    carrier = Skeleton(
        ("Carrier", *WALK.skeleton.names),
        np.concatenate([[-1], WALK.skeleton.parents + 1]),
        np.concatenate([np.zeros((1, 3)), WALK.skeleton.offsets]),
    )
    offsets = np.repeat(carrier.offsets[None], len(WALK), axis=0)
    offsets[:, 1] = WALK.root_positions
    carried = Motion(
        carrier,
        np.zeros((len(WALK), 3)),
        np.concatenate([quat.identity((len(WALK), 1)), WALK.rotations], axis=1),
        WALK.fps,
        bone_offsets=offsets,
        source=WALK.source,
    )
    check_same(measure(replace(WALK, contacts=None)), measure(carried))


def test_the_package_itself_can_be_called() -> None:
    import marey.measure

    report = marey.measure(WALK, against=WALK)
    assert list(report) == [one.name for one in (*MEASURES, *EDIT_MEASURES)]
    assert report["path_net"].against == report["path_net"].value
