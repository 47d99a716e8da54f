"""Names, parameters and their errors; the character; raw markers; the plain walk."""

from typing import Any

import numpy as np
import pytest

from marey.errors import InvalidValue, UnknownName
from marey.samples import body_skeleton, sample, sample_names, straight_walk
from marey.samples.catalog import CATALOG
from marey.samples.skeleton import sole_points
from tests.samples.checks import made


def test_the_body_has_every_role_and_its_soles_on_the_floor() -> None:
    skeleton = body_skeleton()
    assert not skeleton.roles.missing
    assert 1.70 < np.ptp(skeleton.rest_positions[:, 1]) < 1.80
    lowest = skeleton.rest_positions[:, 1].min()
    for point in sole_points():
        assert skeleton.rest_positions[point.joint, 1] + point.offset[1] == pytest.approx(lowest)


def test_truth_and_detection_speak_of_the_same_points() -> None:
    from marey.clean import contact_points

    for ours, found in zip(sole_points(), contact_points(body_skeleton()), strict=True):
        assert (ours.name, ours.joint) == (found.name, found.joint)
        np.testing.assert_allclose(ours.offset, found.offset, atol=1e-9)


def test_every_kind_that_is_promised_is_there() -> None:
    assert set(sample_names()) >= {
        *("stand", "walk", "start_and_stop", "run", "sneak", "turn_in_place", "walk_to_run", "turn_around"),
        *("kick", "punch", "reach", "kick_grid", "punch_grid", "reach_grid", "duck", "box_dance"),
        *("step_up_and_down", "stairs", "sit", "hop", "leap", "carry_box", "carry_cup", "look_around"),
    }


@pytest.mark.parametrize("name", sample_names())
def test_parameters_are_listed_and_their_limits_enforced(name: str) -> None:
    one = made(name)
    for parameter in CATALOG[name].parameters:
        assert one.parameters[parameter.name] == parameter.default
        if parameter.choices:
            with pytest.raises(InvalidValue, match="must be one of"):
                sample(name, **{parameter.name: "both feet"})
            continue
        assert parameter.low <= parameter.default <= parameter.high
        for outside in (parameter.low - 0.01, parameter.high + 0.01):
            with pytest.raises(InvalidValue, match=f"{parameter.name} must be from"):
                sample(name, **{parameter.name: outside})


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("walk", {"speed": 9}, "sample 'walk': speed must be from 0.6 to 2"),
        ("walk", {"speed": np.nan}, "sample 'walk': speed must be from 0.6 to 2 m/s, not nan"),
        ("walk", {"speed": "quick"}, "speed must be a number, not 'quick'"),
        ("walk", {"rng": -1}, "rng must be an integer of at least 0 or a numpy Generator, not -1"),
        ("walk", {"fps": 0}, "fps must be a finite number greater than 0"),
        ("walk", {"fps": 5000}, ": fps must be from 1 to 1000 Hz, not"),
        ("hop", {"count": 2.5}, "count must be a whole number, not 2.5"),
        ("run", {"speed": 5.0, "turn_rate": 1.0}, "needs a sideways acceleration of 5"),
        (
            "reach",
            {"side": "right", "x": 0.6, "y": 0.3},
            "m, 0.13 m too far away; move it toward the character, which stands at the origin and faces",
        ),
        ("kick", {"side": "both"}, "side must be one of left, right, not 'both'"),
    ],
)
def test_impossible_samples_are_refused(name: str, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidValue, match=message):
        sample(name, **parameters)


def test_errors_for_unknown_names_suggest_similar_ones() -> None:
    with pytest.raises(UnknownName, match="no sample 'wlak'; similar: 'walk', 'leap'"):
        sample("wlak")
    with pytest.raises(UnknownName, match="no sample 'zzz'; the samples are stand, walk"):
        sample("zzz")
    with pytest.raises(UnknownName, match="'walk' has no parameter 'sped'; it has speed, .*similar: 'speed'"):
        sample("walk", sped=1.0)


@pytest.mark.parametrize("height", [0.35, 0.9, 1.3])
@pytest.mark.parametrize("side", ["left", "right"])
def test_kicks_have_the_requested_height(side: str, height: float) -> None:
    motion = made("kick", 1, 240.0, side=side, height=height).motion
    ball = motion.world().positions[:, motion.skeleton.roles[f"{side}_ball"]]
    farthest = int(np.argmax(ball[:, 2]))
    assert ball[farthest, 1] == pytest.approx(height, abs=0.04)
    other = motion.contacts.index(f"{'right' if side == 'left' else 'left'}_ball")
    assert motion.contacts.mask[:, other].all()


@pytest.mark.parametrize("height", [0.9, 1.2, 1.5])
def test_ducking_brings_the_head_to_the_height(height: float) -> None:
    for seed in (0, 5):
        motion = made("duck", seed, height=height).motion
        top = motion.world().positions[..., 1].max(axis=1)
        assert top.min() == pytest.approx(height, abs=0.01)
        assert top[0] > 1.65


@pytest.mark.parametrize("seat", [0.38, 0.5])
def test_sitting_hips_are_over_the_seat(seat: float) -> None:
    motion = made("sit", seat=seat).motion
    world, roles = motion.world().positions, motion.skeleton.roles
    (sitting,) = [label for label in motion.labels if label.name == "sit"]
    hips = world[sitting.start : sitting.stop, roles["left_upper_leg"], 1]
    assert np.abs(hips - seat - 0.09).max() < 0.02
    assert motion.contacts.mask.all()


@pytest.mark.parametrize(("name", "parameters"), [("hop", {"height": 0.15}), ("leap", {"height": 0.25})])
def test_flights_fall_as_gravity_has_it(name: str, parameters: dict[str, float]) -> None:
    motion = made(name, 0, 240.0, variation=0.0, **parameters).motion
    in_air = ~motion.contacts.mask.any(axis=1)
    inner = in_air & np.roll(in_air, 4) & np.roll(in_air, -4)
    assert inner.sum() > 20
    falling = np.gradient(np.gradient(motion.travel[:, 1])) * motion.fps**2
    assert np.median(falling[inner]) == pytest.approx(-9.81, abs=0.5)


@pytest.mark.parametrize("leg", ["left", "right"])
def test_hops_on_one_leg_keep_the_other_up(leg: str) -> None:
    one = made("hop", leg=leg, count=3, distance=0.2)
    (hopping,) = [label for label in one.motion.labels if label.name == "hop"]
    other = "right" if leg == "left" else "left"
    column = one.motion.contacts.index(f"{other}_ball")
    assert not one.motion.contacts.mask[hopping.start : hopping.stop, column].any()
    assert len(one.motion.contacts.intervals(f"{leg}_ball")) == 4
    assert one.motion.travel[-1, 2] == pytest.approx(0.6, abs=0.03)


def test_leap_lands_at_the_requested_distance() -> None:
    motion = made("leap", distance=1.2).motion
    ball = motion.world().positions[:, motion.skeleton.roles["left_ball"], 2]
    assert ball[-1] - ball[0] == pytest.approx(1.2, abs=1e-9)


def test_look_around_turns_the_head_by_the_requested_angles() -> None:
    motion = made("look_around", 0, yaw=1.0, variation=0.0).motion
    forward = motion.world().rotations[:, motion.skeleton.roles["head"]]
    w, x, y, z = forward.T
    yaw = np.arctan2(2 * (x * z + w * y), 1 - 2 * (x * x + y * y))
    assert yaw.max() == pytest.approx(1.0, abs=0.02)
    assert yaw.min() == pytest.approx(-1.0, abs=0.02)
    assert motion.contacts.mask.all()


@pytest.mark.parametrize("name", ["look_around", "walk"])
def test_markers_are_on_the_body(name: str) -> None:
    one = made(name)
    exact, noisy, again = (one.markers(rng=4, noise=noise) for noise in (0.0, 0.002, 0.002))
    assert len(exact.names) == 41
    assert len(exact) == len(one.motion)
    assert exact.valid.all()
    np.testing.assert_array_equal(noisy.positions, again.positions)
    assert np.std(noisy.positions - exact.positions) == pytest.approx(0.002, rel=0.05)
    joints = one.motion.world().positions
    nearest = np.linalg.norm(exact.positions[0, :, None] - joints[0], axis=-1).min(axis=1)
    assert nearest.max() < 0.25
    thigh = exact.positions[:, exact.index("LTHI")] - exact.positions[:, exact.index("LTHIF")]
    assert np.ptp(np.linalg.norm(thigh, axis=1)) < 1e-9


def test_markers_can_have_gaps() -> None:
    seen = made("look_around").markers(gaps=0.2)
    assert seen.valid.mean() == pytest.approx(0.8, abs=0.05)
    assert not seen.positions[~seen.valid].any()
    with pytest.raises(InvalidValue, match="markers: gaps must be a fraction from 0 to 0.9, not"):
        made("look_around").markers(gaps=1.0)
    with pytest.raises(InvalidValue, match="markers: noise must be from 0 to 0.1 m, not -1.0"):
        made("look_around").markers(noise=-1.0)


def test_straight_walk_is_the_plain_walk() -> None:
    walk = straight_walk(1.2, 2.0, 30.0)
    assert walk.name == "straight_walk"
    assert len(walk) == 61
    np.testing.assert_array_equal(
        walk.rotations, sample("walk", speed=1.2, seconds=2.0, fps=30.0, variation=0.0).motion.rotations
    )
    with pytest.raises(InvalidValue, match="speed must be from 0.6 to 2"):
        straight_walk(3.0)
    with pytest.raises(InvalidValue, match="sample 'walk': seconds must be from 0.1 to 3600 s, not 0"):
        straight_walk(seconds=0)
