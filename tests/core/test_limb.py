"""Inverse kinematics of a limb, tested by properties of the result and not by its formulas."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

import marey
from marey.core import LimbSettings, find_hinge, hinge_angle, solve_limb
from marey.errors import InvalidValue
from marey.maths import quat
from tests.twins.kinematics import nearest_length

X, Y, Z = np.eye(3)
DAMPINGS = [None, np.deg2rad(135), np.deg2rad(160)]


@dataclass
class Limb:
    """The arguments of `solve_limb` that describe a limb and its pose."""

    base: Any
    parent_rotation: Any
    hip: Any
    knee: Any
    ankle: Any
    upper_offset: Any
    lower_offset: Any
    hinge: Any

    def solve(self, target, target_rotation=None, **settings):
        return solve_limb(
            **vars(self), target=target, target_rotation=target_rotation, settings=LimbSettings(**settings)
        )

    def posed(self, solved):
        """Return the limb in the solved pose, with scaled bones."""
        scale = np.asarray(solved.scale)[..., None]
        return replace(
            self,
            hip=solved.hip,
            knee=solved.knee,
            ankle=solved.ankle,
            upper_offset=self.upper_offset * scale,
            lower_offset=self.lower_offset * scale,
        )

    @property
    def hip_world(self):
        return quat.mul(self.parent_rotation, self.hip)

    @property
    def stick(self):
        """Return the vector from hip to ankle in the world."""
        return quat.rotate(self.hip_world, self.upper_offset + quat.rotate(self.knee, self.lower_offset))

    @property
    def ankle_position(self):
        return self.base + self.stick

    @property
    def ankle_world(self):
        return quat.mul(quat.mul(self.hip_world, self.knee), self.ankle)

    @property
    def angle(self):
        return hinge_angle(self.upper_offset, self.lower_offset, self.knee, self.hinge)

    def bent_to(self, angle):
        """Return the limb with its knee rotated about the hinge to an angle."""
        turn = quat.from_axis_angle(self.hinge, angle - self.angle)
        return replace(self, knee=quat.mul(turn, self.knee))


def rotations(rng, shape):
    return quat.normalize(rng.normal(size=(*shape, 4)))


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def random_limbs(shape=(200,), seed=0, low=0.02, high=np.pi - 0.02):
    """Limbs in any position; bones of 0.2 to 0.6 m that stand at any angle to the hinge; knees bent forward."""
    rng = np.random.default_rng(seed)
    upper, lower = (unit(rng.normal(size=(*shape, 3))) * rng.uniform(0.2, 0.6, (*shape, 1)) for _ in range(2))
    limb = Limb(
        base=rng.normal(size=(*shape, 3)),
        parent_rotation=rotations(rng, shape),
        hip=rotations(rng, shape),
        knee=rotations(rng, shape),
        ankle=rotations(rng, shape),
        upper_offset=upper,
        lower_offset=lower,
        hinge=unit(rng.normal(size=(*shape, 3))),
    )
    return limb.bent_to(rng.uniform(low, high, shape))


def reachable(limb, seed=1):
    """Draw a target in any direction, at a distance that some knee angle reaches, and an orientation."""
    rng = np.random.default_rng(seed)
    shape = limb.angle.shape
    length = np.linalg.norm(limb.bent_to(rng.uniform(0.0, np.pi, shape)).stick, axis=-1)
    return limb.base + unit(rng.normal(size=(*shape, 3))) * length[..., None], rotations(rng, shape)


def leg(thigh=0.45, shin=0.45):
    """Make a leg that hangs straight down; its knee bends backward for the character, about X."""
    one = quat.identity()
    return Limb(np.zeros(3), one, one, one, one, -thigh * Y, -shin * Y, -X)


# --- Within reach


@pytest.mark.parametrize("shape", [(), (300,), (3, 50), (0,)])
@pytest.mark.parametrize("oriented", [False, True])
def test_the_target_is_reached(shape, oriented):
    limb = random_limbs(shape)
    target, orientation = reachable(limb)
    solved = limb.solve(target, orientation if oriented else None)
    after = limb.posed(solved)
    np.testing.assert_allclose(after.ankle_position, target, rtol=0, atol=1e-9)
    np.testing.assert_allclose(solved.residue, 0, atol=1e-9)
    np.testing.assert_array_equal(solved.scale, 1)
    if oriented:
        np.testing.assert_allclose(quat.angle_between(after.ankle_world, orientation), 0, atol=1e-12)
    else:
        np.testing.assert_array_equal(solved.ankle, limb.ankle)
    for rotation in (solved.hip, solved.knee, solved.ankle):
        assert rotation.shape == (*shape, 4)
        np.testing.assert_allclose(np.linalg.norm(rotation, axis=-1), 1, rtol=0, atol=1e-12)
    assert solved.scale.shape == solved.residue.shape == shape


@pytest.mark.parametrize("damping", DAMPINGS)
def test_the_knee_turns_about_its_hinge_only_and_never_bends_backwards(damping):
    limb = random_limbs(low=0.0, high=2 * np.pi)
    target, _ = reachable(limb)
    solved = limb.solve(2.0 * target - limb.base if damping else target, damping_from=damping)
    turn = quat.log(quat.mul_inv(solved.knee, limb.knee))
    np.testing.assert_allclose(np.cross(turn, limb.hinge), 0, atol=1e-9)
    angle = hinge_angle(limb.upper_offset, limb.lower_offset, solved.knee, limb.hinge)
    # Straight is pi, up to rounding in both directions; fully folded is 0, or just below a full turn.
    assert np.all((angle <= np.pi + 1e-7) | (angle >= 2 * np.pi - 1e-7))
    assert (limb.angle > np.pi + 0.1).any(), "some knees were bent backward before"


@pytest.mark.parametrize("factor", [0.3, 0.9, 1.0, 1.3])
def test_the_knee_angle_is_the_best_there_is(factor):
    """Compare with a search over all angles: at a reachable distance, and beyond both ends."""
    limb = random_limbs((12,), seed=4)
    target, _ = reachable(limb)
    target = limb.base + factor * (target - limb.base)
    solved = limb.solve(target)
    length = np.linalg.norm(limb.posed(solved).stick, axis=-1)
    for i in range(12):
        distance = np.linalg.norm(target[i] - limb.base[i])
        best, _ = nearest_length(
            limb.upper_offset[i], limb.lower_offset[i], limb.knee[i], limb.hinge[i], distance, steps=120
        )
        assert length[i] == pytest.approx(best, abs=1e-8)


def test_bones_that_lean_along_the_hinge_count_with_their_sign():
    """If both bones lean the same way, the limb is shorter than if they lean apart; Kovar 3.10 as printed confuses
    them."""
    knee = quat.from_axis_angle(X, 0.8)
    for lean in (0.1, -0.1):
        limb = replace(leg(), upper_offset=np.array([0.1, -0.45, 0.0]), lower_offset=np.array([lean, -0.4, 0.0]))
        limb = replace(limb, knee=knee)
        target = np.array([0.1, -0.6, 0.2])
        solved = limb.solve(target)
        np.testing.assert_allclose(limb.posed(solved).ankle_position, target, rtol=0, atol=1e-12)


@pytest.mark.parametrize("damping", DAMPINGS)
@pytest.mark.parametrize("swivel", [0.0, 0.5, 1.0])
def test_without_targets_nothing_changes(damping, swivel):
    limb = random_limbs(low=0.02, high=np.pi - 1e-3)
    for orientation in (None, limb.ankle_world, -limb.ankle_world):
        solved = limb.solve(limb.ankle_position, orientation, damping_from=damping, swivel=swivel, max_stretch=0.1)
        np.testing.assert_allclose(solved.knee, limb.knee, rtol=0, atol=1e-9)
        np.testing.assert_allclose(solved.hip, limb.hip, rtol=0, atol=1e-9)
        np.testing.assert_allclose(solved.ankle, limb.ankle, rtol=0, atol=1e-9)
        np.testing.assert_allclose(solved.scale, 1, rtol=0, atol=1e-9)


@pytest.mark.parametrize("damping", DAMPINGS)
def test_a_straight_limb_stays_straight(damping):
    """At full extension, the distance determines the angle to only half of the digits; the ankle is exact anyway."""
    limb = random_limbs().bent_to(np.full(200, np.pi))
    solved = limb.solve(limb.ankle_position, limb.ankle_world, damping_from=damping)
    np.testing.assert_allclose(quat.angle_between(solved.knee, limb.knee), 0, atol=1e-6)
    np.testing.assert_allclose(limb.posed(solved).ankle_position, limb.ankle_position, rtol=0, atol=1e-12)


@pytest.mark.parametrize("damping", DAMPINGS)
def test_a_knee_bent_backwards_bends_forwards_and_the_ankle_stays(damping):
    limb = random_limbs(low=np.pi + 0.01, high=1.5 * np.pi)
    before = limb.angle
    solved = limb.solve(limb.ankle_position, damping_from=damping)
    after = limb.posed(solved)
    np.testing.assert_allclose(after.angle, 2 * np.pi - before, rtol=0, atol=1e-7)
    np.testing.assert_allclose(after.ankle_position, limb.ankle_position, rtol=0, atol=1e-9)


# --- The turn that is left over


def scan_swivels(limb, solved, target, orientation):
    """Return the angles by which hip and ankle change, (720, ...), for all rotations about the hip-ankle line."""
    line = unit(target - limb.base)
    around = np.linspace(-np.pi, np.pi, 720, endpoint=False).reshape(-1, *[1] * (line.ndim - 1))
    hips = quat.mul(quat.from_axis_angle(line, around), quat.mul(limb.parent_rotation, solved.hip))
    ankles = quat.inv_mul(quat.mul(hips, solved.knee), orientation)
    return quat.angle_between(limb.hip_world, hips), quat.angle_between(limb.ankle, ankles)


def test_swivel_0_spares_the_hip_and_1_the_ankle():
    limb = random_limbs((40,))
    target, orientation = reachable(limb)
    spared_hip = limb.solve(target, orientation, swivel=0.0)
    spared_ankle = limb.solve(target, orientation, swivel=1.0)
    hips, ankles = scan_swivels(limb, spared_hip, target, orientation)
    of_hip = quat.angle_between(limb.hip, spared_hip.hip)
    of_ankle = quat.angle_between(limb.ankle, spared_ankle.ankle)
    assert np.all(of_hip <= hips.min(axis=0) + 1e-9)
    assert np.all(of_ankle <= ankles.min(axis=0) + 1e-9)
    # The search has steps of 2 pi / 720, and its best result is at most one step from the true one.
    np.testing.assert_allclose(of_hip, hips.min(axis=0), atol=2 * np.pi / 720)
    np.testing.assert_allclose(of_ankle, ankles.min(axis=0), atol=2 * np.pi / 720)


@pytest.mark.parametrize("fraction", [0.25, 0.5, 0.75])
def test_between_them_the_turn_is_shared(fraction):
    limb = random_limbs((40,))
    target, orientation = reachable(limb)
    none, some, full = (limb.solve(target, orientation, swivel=s) for s in (0.0, fraction, 1.0))
    whole = quat.angle_between(none.hip, full.hip)
    np.testing.assert_allclose(quat.angle_between(none.hip, some.hip), fraction * whole, atol=1e-9)
    np.testing.assert_allclose(quat.angle_between(some.hip, full.hip), (1 - fraction) * whole, atol=1e-9)
    for solved in (none, some, full):
        after = limb.posed(solved)
        np.testing.assert_allclose(after.ankle_position, target, rtol=0, atol=1e-9)
        np.testing.assert_allclose(quat.angle_between(after.ankle_world, orientation), 0, atol=1e-12)


def test_the_sign_of_an_orientation_has_no_effect():
    limb = random_limbs((40,))
    target, orientation = reachable(limb)
    a, b = limb.solve(target, orientation), limb.solve(target, -orientation)
    for one, other in ((a.hip, b.hip), (a.knee, b.knee), (a.ankle, b.ankle)):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)
    assert np.all(quat.dot(a.ankle, limb.ankle) >= 0), "an ankle keeps to the side of the one before"


# --- Out of reach


@pytest.mark.parametrize("factor", [1.05, 1.5, 20.0])
@pytest.mark.parametrize("damping", DAMPINGS)
def test_beyond_reach_the_ankle_lies_on_the_line(factor, damping):
    limb = random_limbs()
    longest = np.linalg.norm(limb.bent_to(np.full(200, np.pi)).stick, axis=-1)
    direction = unit(np.random.default_rng(3).normal(size=(200, 3)))
    target = limb.base + direction * (factor * longest)[:, None]
    solved = limb.solve(target, damping_from=damping)
    after = limb.posed(solved)
    length = np.linalg.norm(after.stick, axis=-1)
    np.testing.assert_allclose(after.stick, direction * length[:, None], rtol=0, atol=1e-9)
    np.testing.assert_allclose(solved.residue, np.linalg.norm(target - after.ankle_position, axis=-1), atol=1e-9)
    if damping is None:
        np.testing.assert_allclose(length, longest, rtol=0, atol=1e-9)


def test_too_near_the_ankle_lies_on_the_line():
    limb = random_limbs()
    shortest = np.linalg.norm(limb.bent_to(np.zeros(200)).stick, axis=-1)
    direction = unit(np.random.default_rng(3).normal(size=(200, 3)))
    target = limb.base + direction * (0.5 * shortest)[:, None]
    solved = limb.solve(target)
    np.testing.assert_allclose(limb.posed(solved).stick, direction * shortest[:, None], rtol=0, atol=1e-9)
    np.testing.assert_allclose(solved.residue, 0.5 * shortest, rtol=0, atol=1e-9)


@pytest.mark.parametrize("damping", DAMPINGS)
@pytest.mark.parametrize("oriented", [False, True])
def test_stretch_closes_the_remaining_gap(damping, oriented):
    limb = random_limbs()
    target, orientation = reachable(limb)
    target = limb.base + np.random.default_rng(6).uniform(0.7, 1.4, (200, 1)) * (target - limb.base)
    solved = limb.solve(target, orientation if oriented else None, damping_from=damping, max_stretch=0.9)
    closed = solved.residue < 1e-9
    assert closed.mean() > 0.9
    np.testing.assert_allclose(limb.posed(solved).ankle_position[closed], target[closed], rtol=0, atol=1e-9)
    assert np.ptp(solved.scale[closed]) > 0.1


def test_stretch_is_limited_and_the_residue_is_returned():
    limb = replace(leg(), knee=quat.from_axis_angle(X, 0.5))
    for target, scale, residue in (
        (np.array([0.0, -0.918, 0.0]), 1.02, 0.0),
        (np.array([0.0, -1.0, 0.0]), 1.03, 1.0 - 0.9 * 1.03),
    ):
        solved = limb.solve(target, max_stretch=0.03)
        assert solved.scale == pytest.approx(scale, abs=1e-12)
        assert solved.residue == pytest.approx(residue, abs=1e-12)
    unequal = replace(leg(0.5, 0.3), knee=quat.from_axis_angle(X, 0.5))
    solved = unequal.solve(np.array([0.0, 0.0, 0.1]), max_stretch=0.1)
    assert solved.scale == pytest.approx(0.9, abs=1e-12)
    assert solved.residue == pytest.approx(0.2 * 0.9 - 0.1, abs=1e-9)


@pytest.mark.parametrize("shin", [0.45, 0.3])
@pytest.mark.parametrize("damping", DAMPINGS)
@pytest.mark.parametrize("oriented", [False, True])
def test_a_target_at_the_hip_itself_folds_the_limb(shin, damping, oriented):
    limb = replace(leg(0.45, shin), knee=quat.from_axis_angle(X, 1.2), base=np.array([1.0, 2.0, 3.0]))
    orientation = quat.from_axis_angle(Y, 0.3) if oriented else None
    for near in (0.0, 1e-12, 1e-7):
        solved = limb.solve(limb.base + near * Z, orientation, damping_from=damping, max_stretch=0.1)
        for array in (solved.hip, solved.knee, solved.ankle, solved.scale, solved.residue):
            assert np.isfinite(array).all()
        after = limb.posed(solved)
        expected = np.linalg.norm(after.ankle_position - limb.base - near * Z)
        assert solved.residue == pytest.approx(expected, abs=1e-8)
        assert np.linalg.norm(after.stick) == pytest.approx((0.45 - shin) * float(solved.scale), abs=1e-6)
        if oriented:
            assert quat.angle_between(after.ankle_world, orientation) < 1e-9


def test_a_limb_that_is_folded_into_the_hip_may_stay_there():
    """A limb of zero length has no line to rotate about, but the ankle still gets its orientation."""
    limb = replace(leg(), knee=np.array([0.0, 1.0, 0.0, 0.0]))
    assert np.array_equal(limb.stick, np.zeros(3))
    orientation = quat.from_axis_angle(unit(np.ones(3)), 0.7)
    solved = limb.solve(np.zeros(3), orientation)
    assert solved.residue == 0.0
    assert quat.angle_between(limb.posed(solved).ankle_world, orientation) < 1e-12


# --- Popping


def extension_path(n, damping, **settings):
    """Return knee angles, results and distances while the target moves to full extension and back in one second."""
    limb = leg().bent_to(np.deg2rad(150))
    time = np.linspace(0.0, 1.0, n)
    distance = 0.9 * (0.96 + 0.08 * np.sin(np.pi * time))
    solved = limb.solve(-Y * distance[:, None], damping_from=damping, **settings)
    return hinge_angle(limb.upper_offset, limb.lower_offset, solved.knee, limb.hinge), solved, distance


def top_speed(angles):
    return np.abs(np.diff(angles)).max() * (len(angles) - 1)


@pytest.mark.parametrize("damping", DAMPINGS[1:])
def test_damping_bounds_the_speed_of_a_knee_that_straightens(damping):
    """The higher the frame rate, the faster an undamped knee snaps straight; a damped knee has a maximum speed."""
    coarse, fine = (top_speed(extension_path(n, None)[0]) for n in (400, 40_000))
    assert fine > 5 * coarse
    damped_coarse, damped_fine = (top_speed(extension_path(n, damping)[0]) for n in (400, 40_000))
    assert damped_fine < 1.1 * damped_coarse
    assert damped_fine < 0.1 * fine


@pytest.mark.parametrize("damping", DAMPINGS[1:])
def test_what_damping_leaves_open_a_small_smooth_stretch_closes(damping):
    angles, solved, distance = extension_path(4000, damping, max_stretch=0.2)
    np.testing.assert_allclose(solved.residue, 0, atol=1e-12)
    assert np.abs(np.diff(solved.scale)).max() * 4000 < 2.0
    assert solved.scale.max() < 1.2
    lengths = 2 * 0.45 * np.sin(angles / 2)
    np.testing.assert_allclose(solved.scale * lengths, distance, rtol=0, atol=1e-12)


def test_below_the_threshold_damping_does_nothing():
    limb = random_limbs(low=0.1, high=1.0)
    length = np.linalg.norm(limb.bent_to(np.full(200, 1.5)).stick, axis=-1)
    target = limb.base + length[:, None] * unit(np.random.default_rng(2).normal(size=(200, 3)))
    free, damped = limb.solve(target), limb.solve(target, damping_from=2.0)
    np.testing.assert_allclose(damped.knee, free.knee, rtol=0, atol=1e-12)
    np.testing.assert_allclose(damped.residue, 0, atol=1e-9)


# --- Any leading axes


NAMES = [*vars(leg()), "target", "target_rotation"]


@pytest.mark.parametrize("batched", NAMES)
def test_any_one_argument_may_have_leading_axes(batched):
    many, one = random_limbs((4,), seed=7), random_limbs((), seed=8)
    many_target, many_orientation = reachable(many)
    target, orientation = reachable(one)
    plain = {**vars(one), "target": target, "target_rotation": orientation}
    stacked = {**vars(many), "target": many_target, "target_rotation": many_orientation}[batched]
    solved = solve_limb(**{**plain, batched: stacked})
    for i in range(4):
        single = solve_limb(**{**plain, batched: stacked[i]})
        for name in ("hip", "knee", "ankle", "scale", "residue"):
            np.testing.assert_allclose(getattr(solved, name)[i], getattr(single, name), rtol=0, atol=1e-12)


def test_inputs_stay_and_results_are_read_only():
    limb = random_limbs((5,))
    target, orientation = reachable(limb)
    given = {**vars(limb), "target": target, "target_rotation": orientation}
    stored = {name: array.copy() for name, array in given.items()}
    solved = solve_limb(**given)
    for name, array in given.items():
        np.testing.assert_array_equal(array, stored[name])
        assert array.flags.writeable
    for name in ("hip", "knee", "ankle", "scale", "residue"):
        assert not getattr(solved, name).flags.writeable


def test_the_hinge_need_not_be_of_unit_length():
    limb = random_limbs((20,))
    target, _ = reachable(limb)
    solved, longer = limb.solve(target), replace(limb, hinge=3.0 * limb.hinge).solve(target)
    np.testing.assert_allclose(solved.knee, longer.knee, rtol=0, atol=1e-12)


# --- What is refused


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"upper_offset": np.zeros(3)}, ": upper_offset must not have zero length; both bones of a limb need a length"),
        ({"lower_offset": np.zeros(3)}, ": lower_offset must not have zero length; both bones of a limb need a length"),
        ({"hinge": np.zeros(3)}, "solve_limb: the hinge axis must not have zero length"),
        ({"target": np.array([0, np.nan, 0])}, "solve_limb: target must be finite, not nan"),
        ({"base": np.array([0, np.inf, 0])}, "solve_limb: base must be finite, not inf"),
        ({"target": np.zeros(2)}, r"solve_limb: target must have shape"),
        ({"knee": np.zeros(3)}, r"solve_limb: knee must have shape"),
        ({"target": "there"}, "solve_limb: target must be an array of numbers, but it contains 'there'"),
        (
            {"target": np.zeros((2, 3)), "base": np.zeros((3, 3))},
            r"the leading axes of all arguments must broadcast together, got base \(3, 3\), .*target \(2, 3\)",
        ),
    ],
)
def test_bad_arguments_are_refused(changes, message):
    with pytest.raises(InvalidValue, match=message):
        solve_limb(**{**vars(leg()), "target": -0.8 * Y, **changes})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"damping_from": 0.0}, r"damping_from must be greater than 0 and less than pi radians, not 0.0"),
        ({"damping_from": 135.0}, r"damping_from must be greater than 0 and less than pi radians, not 135.0"),
        ({"swivel": 1.5}, r"swivel must be from 0 to 1, not 1.5"),
        ({"swivel": np.nan}, r"swivel must be from 0 to 1, not nan"),
        ({"max_stretch": -0.1}, r"max_stretch must be at least 0 and less than 1, not -0.1"),
        ({"max_stretch": 1.0}, r"max_stretch must be at least 0 and less than 1, not 1.0"),
    ],
)
def test_bad_settings_are_refused(changes, message):
    with pytest.raises(InvalidValue, match=message):
        LimbSettings(**changes)


# --- The hinge


def test_angles_about_the_hinge():
    for bend, expected in ((0.0, np.pi), (0.5 * np.pi, 0.5 * np.pi), (np.pi, 0.0), (-0.5 * np.pi, 1.5 * np.pi)):
        assert leg().bent_to(np.pi - bend).angle == pytest.approx(expected, abs=1e-12)
    angles = hinge_angle(-Y, -Y, quat.from_axis_angle(-X, np.linspace(-7, 7, 1001) * np.pi / 7), -X)
    assert np.all((angles >= 0) & (angles < 2 * np.pi))
    folded = quat.from_axis_angle(-X, -np.pi - 1e-17)
    assert 0 <= hinge_angle(-Y, -Y, folded, -X) < 2 * np.pi


def bends(angles, axis=-X, seed=0, noise=0.0):
    """Make knees rotated by given angles about an axis, each with some noise about any axis."""
    rng = np.random.default_rng(seed)
    jitter = quat.exp(noise * rng.normal(size=(len(angles), 3)))
    return quat.mul(quat.from_axis_angle(axis, -np.asarray(angles)), jitter)


def degrees_between(a, b):
    return np.rad2deg(np.arccos(np.clip(np.dot(a, b), -1, 1)))


def test_the_hinge_of_a_bending_knee_is_found():
    hinge = find_hinge(-0.45 * Y, -0.4 * Y, bends(np.linspace(0, 1.2, 50)))
    np.testing.assert_allclose(hinge, -X, rtol=0, atol=1e-12)
    assert not hinge.flags.writeable


def test_noise_and_straight_stretches_do_not_hide_the_hinge():
    walking = 0.1 + 0.9 * np.sin(np.linspace(0, 20, 400)) ** 4
    assert degrees_between(find_hinge(-Y, -Y, bends(walking, noise=0.03)), -X) < 1.0
    mostly_straight = np.concatenate([np.zeros(2000), np.full(40, 1.0)])
    assert degrees_between(find_hinge(-Y, -Y, bends(mostly_straight, noise=0.02)), -X) < 3.0


@pytest.mark.parametrize("axis", [X, -X, unit(np.array([0.9, 0.0, 0.5]))])
def test_a_positive_turn_about_the_hinge_straightens(axis):
    """Knees bend one way, elbows the other."""
    knee = bends(np.linspace(0.2, 1.0, 9), axis=axis)
    hinge = find_hinge(-Y, -Y, knee)
    np.testing.assert_allclose(hinge, axis, rtol=0, atol=1e-12)
    before = hinge_angle(-Y, -Y, knee, hinge)
    after = hinge_angle(-Y, -Y, quat.mul(quat.from_axis_angle(hinge, 0.1), knee), hinge)
    np.testing.assert_allclose(after - before, 0.1, rtol=0, atol=1e-12)
    assert np.all(after < np.pi)


def test_the_larger_bend_is_forwards():
    """A few frames with an overstretched knee do not reverse the hinge."""
    hinge = find_hinge(-Y, -Y, bends(np.concatenate([np.full(10, -0.1), np.full(10, 0.5)])))
    np.testing.assert_allclose(hinge, -X, rtol=0, atol=1e-12)


def test_a_limb_that_never_bends_needs_a_fallback():
    for angles in (np.zeros(10), np.full(10, np.deg2rad(2.5)), np.full(10, np.pi)):
        with pytest.raises(
            InvalidValue, match="never bends, so its hinge axis cannot be found; pass an axis as `fallback`"
        ):
            find_hinge(-Y, -Y, bends(angles))
        np.testing.assert_allclose(find_hinge(-Y, -Y, bends(angles), fallback=2.0 * Z), Z, rtol=0, atol=1e-12)
    seen = find_hinge(-Y, -Y, bends(np.full(10, np.deg2rad(3.5))), fallback=Z)
    np.testing.assert_allclose(seen, -X, rtol=0, atol=1e-12)
    both_ways = bends(np.array([0.3, -0.3]))
    np.testing.assert_allclose(find_hinge(-Y, -Y, both_ways, fallback=Z), Z, rtol=0, atol=1e-12)
    np.testing.assert_allclose(find_hinge(-Y, -Y, np.zeros((0, 4)), fallback=Z), Z, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            (np.zeros(3), -Y, quat.identity(1)),
            "find_hinge: upper_offset must not have zero length; both bones of a limb need a length",
        ),
        (
            (-Y, np.zeros(3), quat.identity(1)),
            "find_hinge: lower_offset must not have zero length; both bones of a limb need a length",
        ),
        ((-Y, -Y, quat.identity(1), np.zeros(3)), "find_hinge: the hinge axis must not have zero length"),
        ((-Y, -Y, np.zeros((1, 3))), r"find_hinge: knee must have shape"),
    ],
)
def test_a_limb_without_hinge_is_refused(arguments, message):
    with pytest.raises(InvalidValue, match=message):
        find_hinge(*arguments)


# --- Real capture


LEG, ARM = ("upper_leg", "lower_leg", "foot"), ("upper_arm", "forearm", "hand")


@pytest.mark.parametrize("parts", [LEG, ARM])
@pytest.mark.parametrize("side", ["left", "right"])
def test_limbs_of_a_captured_run(data_folder, side, parts):
    motion = marey.load(data_folder / "cmu" / "016" / "16_35.bvh")
    skeleton, world = motion.skeleton, motion.world()
    a, b, c = (skeleton.roles[f"{side}_{part}"] for part in parts)
    assert (skeleton.parents[b], skeleton.parents[c]) == (a, b)
    above = skeleton.parents[a]
    limb = Limb(
        base=world.positions[:, a],
        parent_rotation=world.rotations[:, above],
        hip=motion.rotations[:, a],
        knee=motion.rotations[:, b],
        ankle=motion.rotations[:, c],
        upper_offset=skeleton.offsets[b],
        lower_offset=skeleton.offsets[c],
        hinge=find_hinge(skeleton.offsets[b], skeleton.offsets[c], motion.rotations[:, b]),
    )
    angle = np.rad2deg(limb.angle)
    assert angle.max() < 185, "no limb of a living runner bends backward"
    assert angle.min() < 120, "and all four bend"

    still = limb.solve(world.positions[:, c], world.rotations[:, c], damping_from=np.deg2rad(160))
    forward = angle < 179.9
    np.testing.assert_allclose(quat.angle_between(still.knee, limb.knee)[forward], 0, atol=1e-7)
    np.testing.assert_allclose(quat.angle_between(still.hip, limb.hip)[forward], 0, atol=1e-7)

    target = world.positions[:, c] + [0.01, 0.02, -0.01]
    solved = limb.solve(target, world.rotations[:, c])
    after = limb.posed(solved)
    np.testing.assert_allclose(
        np.linalg.norm(after.ankle_position - target, axis=-1), solved.residue, rtol=0, atol=1e-9
    )
    assert np.median(solved.residue) < 1e-9
