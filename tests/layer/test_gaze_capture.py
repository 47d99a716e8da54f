"""From captured looks to gaze displacement motions: their parameters are recovered, and unusable takes are refused."""

import json
from dataclasses import replace

import numpy as np
import pytest

from marey.core.markers import Markers
from marey.errors import InvalidValue, MareyWarning, NoResult, ParseError, UnknownName, UnknownVersion
from marey.io import load_markers
from marey.layer.gaze_capture import gaze_example
from marey.layer.gaze_markers import load_triads
from marey.layer.gaze_model import angles_to_direction, find_reached_angles
from marey.maths import quat
from marey.samples.gaze import GAZE_TRIADS, gaze_take, gaze_takes
from tests.io.make_c3d import c3d_bytes, floats, texts

FPS = 60.0


@pytest.fixture(scope="module")
def takes():
    return [take for take in gaze_takes(fps=FPS, sway=0.002) if max(np.abs(take.goal)) > 0.1]


def off(take, found):
    """Return the error of the starts in frames, and the relative error of the overshoot."""
    starts = (found.starts * found.length - np.array(take.starts) * take.length) * take.motion.fps
    return np.abs(starts), abs(found.overshoot / take.overshoot - 1.0)


def test_a_clean_recording_gives_back_its_parameters(takes):
    for take in takes[::5]:
        found = gaze_example(take.markers(noise=0.0), take.goal, GAZE_TRIADS)
        starts, overshoot = off(take, found)
        assert starts.max() < 0.05
        assert overshoot < 0.001
        assert found.length == pytest.approx(take.length, abs=0.002)
        assert found.peak == pytest.approx(take.peak, abs=0.002)
        assert np.degrees(quat.angle_between(found.pose, take.pose)).max() < 0.02


def test_all_33_looks_are_found_at_a_tenth_of_a_degree_of_noise(takes):
    """A tenth of a millimeter rotates triads by 0.1 degrees: starts to 2 frames at 60 Hz, overshoot to 10 %. For parts
    that rotate by less than a degree, a few times the noise, the usual order counts more than their own data.
    """
    assert len(takes) == 32
    for k, take in enumerate(takes):
        markers = take.markers(noise=0.0001, rng=k)
        if k == 0:
            rest = markers.positions[:40, [markers.index(name) for name in GAZE_TRIADS["pelvis"]]]
            plane = rest - rest.mean(axis=1, keepdims=True)
            tilt = np.degrees(np.std(plane[:, 0, 2] / np.linalg.norm(plane[:, 0, :2], axis=1)))
            assert 0.05 < tilt < 0.2
        starts, overshoot = off(take, gaze_example(markers, take.goal, GAZE_TRIADS))
        faint = np.degrees(quat.angle(take.pose[:4])) < 1.0
        assert starts[~faint].max() < 2.0, take.goal
        assert starts[faint].max(initial=0.0) < 6.0, take.goal
        assert overshoot < 0.10, take.goal


@pytest.mark.slow("fits gaze examples at three levels of noise")
def test_more_noise_degrades_gently(takes):
    medians = []
    for noise in (0.0001, 0.0003, 0.001):
        found = [
            off(take, gaze_example(take.markers(noise=noise, rng=k), take.goal, GAZE_TRIADS))
            for k, take in enumerate(takes)
            if abs(take.goal[0]) > 1.8
        ]
        medians.append((np.median([starts.max() for starts, _ in found]), np.median([beta for _, beta in found])))
    assert medians[0][0] < medians[1][0] < medians[2][0] < 6.0
    assert medians[0][1] < medians[2][1] < 0.15


def test_gaps_are_filled_and_a_marker_too_many_may_be_lost(takes):
    take = takes[8]
    markers = take.markers(noise=0.0001, gaps=0.08)
    assert not markers.valid.all()
    starts, overshoot = off(take, gaze_example(markers, take.goal, GAZE_TRIADS))
    assert starts.max() < 3.0
    assert overshoot < 0.15
    valid = markers.valid.copy()
    valid[20:90, markers.index("HTOP")] = False
    with pytest.warns(MareyWarning, match="neck does not use 'HTOP', because of long gaps"):
        found = gaze_example(replace(markers, valid=valid), take.goal, GAZE_TRIADS)
    assert off(take, found)[1] < 0.15


def test_markers_missing_beyond_repair_are_refused(takes):
    markers = takes[0].markers()
    for name, message in (("LB2", "from frame 20 to 90, 1.17 s"), ("BASE", "from frame 20 to 90")):
        valid = markers.valid.copy()
        valid[20:90, markers.index(name)] = False
        with pytest.raises(NoResult, match=f"marker '{name}' is missing {message}"):
            gaze_example(replace(markers, valid=valid), takes[0].goal, GAZE_TRIADS)


def test_a_skeletal_clip_serves_too(takes):
    rng = np.random.default_rng(3)
    for take in takes[::6]:
        found = gaze_example(take.motion, take.goal)
        assert off(take, found)[0].max() < 0.1
        assert np.degrees(quat.angle_between(found.pose, take.pose)).max() < 0.1
        shaken = quat.exp(np.radians(0.1) * rng.normal(size=(*take.motion.rotations.shape[:2], 3)))
        noisy = replace(take.motion, rotations=quat.mul(take.motion.rotations, shaken))
        starts, overshoot = off(take, gaze_example(noisy, take.goal))
        assert starts.max() < 2.0
        assert overshoot < 0.10


def test_front_and_back_markers_or_facing_give_the_heading():
    take = gaze_take(1.0, 0.2)
    moved = replace(take, motion=take.motion.moved([0.7, 1.0, 2.0]))
    markers = moved.markers(noise=0.0)
    triads = {**GAZE_TRIADS, "front": ["HD1", "HD2"], "back": ["HD3", "HD4"]}
    for found in (
        gaze_example(moved.motion, take.goal),
        gaze_example(markers, take.goal, triads),
        gaze_example(markers, take.goal, GAZE_TRIADS, facing=0.7),
    ):
        assert np.degrees(quat.angle_between(found.pose, take.pose)).max() < 0.1


def test_the_eyes_do_what_the_head_leaves_of_the_goal():
    take = gaze_take(0.9, -0.3)
    found = gaze_example(take.motion, (0.7, -0.1))
    np.testing.assert_allclose(find_reached_angles(found.to_row()[None])[0], [0.7, -0.1], atol=1e-9)
    assert angles_to_direction((0.7, -0.1)) @ angles_to_direction(take.goal) < 0.99


def test_a_look_straight_ahead_needs_no_movement():
    take = gaze_take(0.0, 0.0)
    found = gaze_example(take.markers(), (0.0, 0.0), GAZE_TRIADS)
    assert quat.angle(found.pose).max() == 0.0


def test_without_rest_start_and_stop_are_required():
    take = gaze_take(1.0, 0.0)
    frames = round(take.begin * FPS), round((take.begin + take.length) * FPS)
    with pytest.raises(
        NoResult, match="does not stand still after its gaze shift; record a pause before and after it, or pass the"
    ):
        gaze_example(take.motion[: round((take.begin + take.peak * take.length) * FPS) + 3], take.goal)
    found = gaze_example(take.motion, take.goal, start=frames[0] - 14, stop=frames[1] + 14)
    starts, overshoot = off(take, found)
    assert starts.max() < 0.5
    assert overshoot < 0.02
    with pytest.raises(
        InvalidValue, match="start and stop must be frames from 0 to 164, more than 27 apart, not 5 and 9"
    ):
        gaze_example(take.motion, take.goal, start=5, stop=9)


def test_a_c3d_file_and_a_map_file_that_names_the_triads(tmp_path):
    take = gaze_take(0.9, 0.2)
    markers = take.markers(noise=0.0)
    # The file is in millimeters with Z up, like most C3D files.
    x, y, z = np.moveaxis(1000.0 * markers.positions, -1, 0)
    points = np.stack([z, x, y], axis=-1)
    (tmp_path / "look.c3d").write_bytes(c3d_bytes(points, LABELS=texts(*markers.names), RATE=floats(FPS)))
    (tmp_path / "triads.json").write_text(
        json.dumps(
            {
                "format": "marey.gaze_triads",
                "version": 1,
                **GAZE_TRIADS,
                "front": ["HD1", "HD2"],
                "back": ["HD3", "HD4"],
            }
        )
    )
    found = gaze_example(load_markers(tmp_path / "look.c3d", up="z"), take.goal, tmp_path / "triads.json")
    starts, overshoot = off(take, found)
    assert starts.max() < 0.5
    assert overshoot < 0.02
    assert np.degrees(quat.angle_between(found.pose, take.pose)).max() < 0.1


@pytest.mark.parametrize("axes", [(2, 0, 1), (1, 2, 0), (0, 1, 2)])
def test_a_recording_that_lies_on_its_side_is_set_upright(axes):
    take = gaze_take(0.9, 0.2)
    markers = take.markers(noise=0.0)
    lying = replace(markers, positions=markers.positions[..., axes])
    triads = {**GAZE_TRIADS, "front": ["HD1", "HD2"], "back": ["HD3", "HD4"]}
    if axes == (0, 1, 2):
        found = gaze_example(lying, take.goal, triads)
    else:
        with pytest.warns(MareyWarning, match=r"displaced from the base of the spine along \+[XZ] .* turned upright"):
            found = gaze_example(lying, take.goal, triads)
        for wrong, facing, other in (
            (GAZE_TRIADS, None, "list front and back markers in `triads=`"),
            (GAZE_TRIADS, 0.0, "list front and back markers in `triads=` and omit `facing=`"),
            (triads, 0.0, "omit `facing=`"),
        ):
            with pytest.raises(InvalidValue, match=f"pass the file's up axis as `up=` when you load it, or {other}; "):
                gaze_example(lying, take.goal, wrong, facing=facing)
    assert np.degrees(quat.angle_between(found.pose, take.pose)).max() < 0.1


def test_a_goal_that_eyes_cannot_meet_is_refused_or_raises_a_warning():
    take = gaze_take(0.9, 0.0)
    markers = take.markers(noise=0.0)
    with pytest.raises(
        NoResult,
        match="eyes rotate at most 55 degrees; check the target, the direction in which the body faces, and which axis",
    ):
        gaze_example(markers, (-0.9, 0.0), GAZE_TRIADS)
    with pytest.warns(
        MareyWarning,
        match="the eyes must rotate another 4[0-9] degrees .*, but more than 35 degrees is uncomfortable; check",
    ):
        found = gaze_example(markers, (1.35, 0.0), GAZE_TRIADS)
    assert 35.0 < np.degrees(quat.angle(found.pose[4])) < 55.0


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        (
            {"pelvis": ["LB1", "LB2"]},
            InvalidValue,
            "triads must give at least three markers for 'pelvis', which define its rotation, not 2",
        ),
        ({"neck": None}, InvalidValue, "triads must give a list of marker names for 'neck', not None"),
        (
            {"tail": ["HD1"]},
            InvalidValue,
            "keys of triads must be base, pelvis, lower_spine, upper_spine, neck, front or back, not 'tail'",
        ),
        ({"base": "BASS"}, UnknownName, "no marker 'BASS' in the recording; similar: 'BASE'"),
        ({"front": ["HD1"]}, InvalidValue, "both front and back"),
        ({"upper_spine": ["UB2", "UB3", "BASE"]}, None, ""),
    ],
)
def test_triads_that_do_not_fit_are_refused(changed, error, message):
    take = gaze_take(0.9, 0.2)
    if error is None:
        gaze_example(take.markers(), take.goal, {**GAZE_TRIADS, **changed})  # unusual, but a triangle
        return
    with pytest.raises(error, match=message):
        gaze_example(take.markers(), take.goal, {**GAZE_TRIADS, **changed})


def test_a_triad_on_one_line_is_refused():
    take = gaze_take(0.9, 0.2)
    markers = take.markers(noise=0.0)
    positions = markers.positions.copy()
    a, b, c = (markers.index(name) for name in GAZE_TRIADS["pelvis"])
    positions[:, c] = 0.5 * (positions[:, a] + positions[:, b])
    with pytest.raises(InvalidValue, match=r"so its rotation is unknown; choose markers that form a triangle"):
        gaze_example(replace(markers, positions=positions), take.goal, GAZE_TRIADS)


def test_recordings_without_a_look_are_refused(tmp_path):
    take = gaze_take(0.9, 0.2)
    with pytest.raises(
        InvalidValue, match="triads must be given for Markers: a mapping or JSON file that assigns marker names to body"
    ):
        gaze_example(take.markers(), take.goal)
    with pytest.raises(InvalidValue, match="triads must be None for a Motion"):
        gaze_example(take.motion, take.goal, GAZE_TRIADS)
    with pytest.raises(InvalidValue, match="source must be Markers or a Motion, not str"):
        gaze_example("look.c3d", take.goal)
    missing = {part: names for part, names in GAZE_TRIADS.items() if part != "lower_spine"}
    with pytest.raises(InvalidValue, match=", but 'lower_spine' is missing"):
        gaze_example(take.markers(), take.goal, missing)
    (tmp_path / "a.json").write_text("[1, 2]")
    (tmp_path / "b.json").write_text('{"format": "marey.gaze_triads", "version": 9}')
    (tmp_path / "c.json").write_text('{"base": "BASE"}')
    for name, error, message in (
        ("a", ParseError, "expected a list of gaze markers, a JSON object"),
        ("b", UnknownVersion, "version 9"),
        ("c", ParseError, "triads must have the keys"),
    ):
        with pytest.raises(error, match=message):
            load_triads(tmp_path / f"{name}.json")


def test_the_recording_is_unchanged():
    take = gaze_take(0.9, 0.2)
    markers = take.markers(gaps=0.05)
    before = markers.positions.copy()
    gaze_example(markers, take.goal, GAZE_TRIADS)
    assert np.array_equal(markers.positions, before)
    assert isinstance(markers, Markers)
