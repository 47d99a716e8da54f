"""Features of motions with known ground truth."""

import math

import numpy as np
import pytest

from marey.errors import InvalidValue, JointNotFound, UnknownName
from marey.parametric import (
    angular_speed,
    curvature,
    duration,
    function,
    orientation,
    parse_features,
    position,
    speed,
    step_height,
    traveled,
    turn,
)
from marey.parametric.features import as_features, feature_from_dict
from marey.samples import sample, straight_walk


@pytest.mark.parametrize(
    ("kind", "joint", "where", "within"),
    [("reach", "right_hand", {"x": -0.2, "y": 1.2, "z": 0.45}, 0.02), ("kick", "right_ball", {"height": 1.0}, 0.05)],
)
def test_a_position_is_where_the_target_was(kind, joint, where, within):
    result = sample(kind, variation=0.0, **where)
    target = result.targets[0]
    found = position(joint)(result.motion)
    assert np.linalg.norm(found - target.position) < within


def test_positions_are_relative_to_the_start_of_the_motion():
    motion = sample("reach").motion
    for feature in (position("right_hand"), position("center_of_mass"), orientation("right_hand")):
        np.testing.assert_allclose(feature(motion.moved((2.0, 3.0, -4.0))), feature(motion), atol=1e-9)


def test_the_british_name_of_the_center_of_mass_still_works():
    with pytest.warns(DeprecationWarning, match="'center_of_mass'"):
        feature = position("centre_of_mass")
    assert (feature.joint, feature.names[0]) == ("center_of_mass", "center_of_mass x")
    again = feature_from_dict(feature.to_dict() | {"joint": "centre_of_mass"})  # as in files of earlier releases
    assert again.joint == "center_of_mass"


def test_the_center_of_mass_is_in_the_trunk():
    motion = sample("stand").motion
    x, y, z = position("center_of_mass", "start")(motion)
    assert 0.85 < y < 1.1
    assert abs(x) < 0.05
    assert abs(z) < 0.1


@pytest.mark.parametrize("at", ["highest", "lowest", "fastest", "slowest", "farthest", "start", "end"])
def test_moments_are_extremes(at):
    motion = sample("punch").motion
    frame = position("right_hand", at).find_frame(motion)
    path = motion.world().positions[:, motion.skeleton.roles["right_hand"]]
    pace = np.linalg.norm(path[2:] - path[:-2], axis=1)
    expected = {
        "highest": np.argmax(path[:, 1]), "lowest": np.argmin(path[:, 1]), "fastest": 1 + np.argmax(pace),
        "slowest": 1 + np.argmin(pace), "farthest": np.argmax(np.linalg.norm(path - path[0], axis=1)),
        "start": 0, "end": len(motion) - 1,
    }[at]  # fmt: skip
    value = {"highest": path[:, 1], "lowest": -path[:, 1]}.get(at)
    assert frame == expected or (value is not None and value[frame] > value[expected] - 0.2 * np.ptp(value))


def test_the_apex_is_not_after_the_action():
    # Out and back, and then farther out to the very end of the clip.
    from marey.parametric.features import _find_extreme

    height = np.concatenate([np.sin(np.linspace(0.0, np.pi, 40)), np.linspace(0.0, 1.05, 12)])
    assert _find_extreme(np.stack([height * 0, height, height * 0], axis=1), "highest") in (19, 20)


def test_features_of_a_walk_match_its_sample_parameters():
    motion = straight_walk(1.4, 4.0)
    assert speed()(motion)[0] == pytest.approx(1.4, rel=0.03)
    assert traveled()(motion)[0] == pytest.approx(5.6, rel=0.03)
    assert traveled("net")(motion)[0] == pytest.approx(5.6, rel=0.03)
    assert duration()(motion)[0] == pytest.approx(4.0)
    assert abs(turn()(motion)[0]) < 0.15
    assert 0.05 < step_height()(motion)[0] < 0.4
    fastest, slowest = (speed("left_foot", which)(motion)[0] for which in ("max", "min"))
    assert fastest > 2.5
    assert slowest < 0.1
    assert angular_speed("left_lower_leg", "max")(motion)[0] > angular_speed("left_lower_leg")(motion)[0] > 0.5


def test_a_curve_turns_all_the_way_round():
    motion = sample("walk", speed=1.0, turn_rate=math.radians(60), seconds=8.0, variation=0.0).motion
    assert turn()(motion)[0] == pytest.approx(math.radians(480), abs=0.3)
    assert curvature()(motion)[0] == pytest.approx(math.radians(60), rel=0.1)


def test_an_orientation_is_what_the_joint_turned_by():
    motion = sample("turn_in_place", angle=1.2, variation=0.0).motion
    assert orientation("hips", "end")(motion) == pytest.approx([0.0, 1.2, 0.0], abs=0.1)


@pytest.mark.parametrize(
    "text",
    ["position:right_foot@highest", "position:left_hand:xz@0.5", "turn,speed", "speed:head:max", "traveled::net",
     "orientation:head@end", "angular_speed:right_hand", "step_height", "curvature,duration"],
)  # fmt: skip
def test_features_by_text_and_back(text):
    features = parse_features(text)
    assert features == tuple(feature_from_dict(each.to_dict()) for each in features)
    assert sum(each.n_dims for each in features) == sum(len(each.units) for each in features)


def test_functions_and_several_together():
    def knee(motion):
        return [len(motion), 2.0]

    both = as_features([turn(), function(knee, ["frames", "two"], ["", "m"])])
    motion = straight_walk(1.2, 2.0)
    assert both[1](motion).tolist() == [121.0, 2.0]
    assert as_features(lambda motion: 1.0)[0].n_dims == 1


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: position("right_hand", "apex"), UnknownName, "no moment named 'apex'.*moments: farthest"),
        (lambda: position("right_hand", -1.0), InvalidValue, "a time of at least 0 s, not -1"),
        (lambda: position("right_hand", axes="xx"), InvalidValue, "axes must be any of"),
        (lambda: speed(which="median"), InvalidValue, "'mean', 'min' or 'max', not 'median'"),
        (lambda: traveled("far"), InvalidValue, "'path' or 'net'"),
        (lambda: parse_features("positon:head"), UnknownName, "no feature named 'positon'; similar: 'position'"),
        (lambda: parse_features("position"), InvalidValue, "position needs a joint or role"),
        (lambda: parse_features("turn@highest"), InvalidValue, "optionally with @MOMENT for"),
        (lambda: parse_features(""), InvalidValue, "must be text such as"),
        (lambda: as_features(3), InvalidValue, "must be a feature, a function"),
        (lambda: function(lambda m: 1.0, ["a"], ["m", "s"]), InvalidValue, "one entry for each of 1 names, not 2"),
        (lambda: position("right_wing")(straight_walk(1.0, 1.0)), JointNotFound, "right_wing"),
        (lambda: position("head", 0.5)(straight_walk(1.0, 1.0)), InvalidValue, "needs a registration"),
        (lambda: angular_speed("center_of_mass")(straight_walk(1.0, 1.0)), InvalidValue, "does not rotate"),
        (lambda: function(lambda m: 1 / 0)(straight_walk(1.0, 1.0)), InvalidValue, "failed on 'straight_walk': Zero"),
        (
            lambda: function(lambda m: [1.0, 2.0])(straight_walk(1.0, 1.0)),
            InvalidValue,
            "must return 1 number, to match",
        ),
    ],
)
def test_invalid_features_are_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()
