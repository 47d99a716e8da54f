"""Euler angles against SciPy in all 12 orders, at the poles, and continuous over time against a slow twin."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from marey.errors import InvalidValue
from marey.maths import euler, quat
from tests.strategies import LAWS_OF_MANY, SHAPES, batch_shapes, numbers, quaternions, turns

every_order = pytest.mark.parametrize("order", euler.ORDERS)


def has_three_axes(order):
    return order[0] != order[2]


def euler_angles(shape=(), count=3):
    return turns((*shape, count))


def scipy_quat(given_angles, axes):
    flat = Rotation.from_euler(axes, given_angles.reshape(-1, len(axes)))
    return np.roll(flat.as_quat(), 1, axis=-1).reshape(*given_angles.shape[:-1], 4)


def test_the_orders_are_the_twelve():
    assert len(euler.ORDERS) == 12
    assert {order for order in euler.ORDERS if has_three_axes(order)} == {
        "".join(axes) for axes in itertools.permutations("XYZ")
    }


@every_order
@LAWS_OF_MANY
@given(data=st.data())
def test_from_euler_is_scipys_intrinsic_rotation(order, data):
    shape = data.draw(batch_shapes())
    drawn = data.draw(euler_angles(shape))
    out = euler.from_euler(drawn, order)
    assert out.shape == (*shape, 4)
    if drawn.size:
        assert quat.angle_between(out, scipy_quat(drawn, order)).max() < 1e-14


def test_order_zyx_is_the_product_of_matrices_in_listed_order():
    a, b, c = 0.3, -0.7, 1.9
    turn = {axis: Rotation.from_euler(axis, angle).as_matrix() for axis, angle in zip("ZYX", (a, b, c), strict=True)}
    np.testing.assert_allclose(
        quat.to_matrix(euler.from_euler([a, b, c], "ZYX")), turn["Z"] @ turn["Y"] @ turn["X"], atol=1e-15
    )


@every_order
@LAWS_OF_MANY
@given(data=st.data())
def test_to_euler_reproduces_the_rotation_in_its_range(order, data):
    q = data.draw(batch_shapes().flatmap(quaternions))
    out = euler.to_euler(q, order)
    assert out.shape == (*q.shape[:-1], 3)
    assert quat.angle_between(euler.from_euler(out, order), q).max(initial=0) < 1e-9
    low, high = (-np.pi / 2, np.pi / 2) if has_three_axes(order) else (0.0, np.pi)
    assert ((out[..., 1] >= low - 1e-15) & (out[..., 1] <= high + 1e-15)).all()
    outer = out[..., [0, 2]]
    assert ((outer > -np.pi) & (outer <= np.pi)).all()


@every_order
def test_to_euler_is_scipys_away_from_the_poles(order):
    rng = np.random.default_rng(5)
    q = quat.normalize(rng.normal(size=(500, 4)))
    expected = Rotation.from_quat(np.roll(q, -1, axis=-1)).as_euler(order)
    np.testing.assert_allclose(np.exp(1j * euler.to_euler(q, order)), np.exp(1j * expected), atol=1e-9)
    np.testing.assert_array_equal(euler.to_euler(-q, order).shape, (500, 3))
    np.testing.assert_allclose(np.exp(1j * euler.to_euler(-q, order)), np.exp(1j * euler.to_euler(q, order)), atol=1e-9)


def poles(order):
    return (-np.pi / 2, np.pi / 2) if has_three_axes(order) else (0.0, np.pi)


@every_order
@pytest.mark.parametrize("off", [0.0, 1e-16, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-5, 1e-3])
def test_to_euler_reproduces_the_rotation_at_and_near_the_poles(order, off):
    outer = np.linspace(-3.1, 3.1, 12)
    first, third = np.meshgrid(outer, outer)
    for pole, side in itertools.product(poles(order), (-1, 1)):
        given_angles = np.stack([first, np.full_like(first, pole + side * off), third], axis=-1)
        q = euler.from_euler(given_angles, order)
        out = euler.to_euler(q, order)
        assert quat.angle_between(euler.from_euler(out, order), q).max() < 5e-10
        if off <= 1e-12:
            np.testing.assert_array_equal(out[..., 2], 0.0)


def test_exact_right_angles_are_restored_accurately():
    turns = np.array(list(itertools.product(np.arange(-2, 3) * np.pi / 2, repeat=3)))
    for order in euler.ORDERS:
        q = euler.from_euler(turns, order)
        assert quat.angle_between(euler.from_euler(euler.to_euler(q, order), order), q).max() < 1e-15


@pytest.mark.parametrize("axes", ["", "Y", "ZX", "XX", "ZXY", "ZXZY", "XYZXYZ"])
@pytest.mark.parametrize("shape", SHAPES)
def test_from_axes_multiplies_any_number_of_turns(axes, shape):
    drawn = np.random.default_rng(1).uniform(-4, 4, size=(*shape, len(axes)))
    expected = quat.identity(shape)
    for i, axis in enumerate(axes):
        expected = quat.mul(expected, quat.from_axis_angle(np.eye(3)["XYZ".index(axis)], drawn[..., i]))
    out = euler.from_axes(drawn, axes)
    assert out.shape == (*shape, 4)
    assert out.dtype == np.float64
    np.testing.assert_allclose(out, expected, rtol=0, atol=1e-15)


# --- continuous


def twins_of(triple, order):
    a, b, c = triple
    yield np.array([a, b, c])
    yield np.array([a + np.pi, (np.pi if has_three_axes(order) else 0.0) - b, c + np.pi])


def nearest_twin(given_angles, order):
    """The definition, frame by frame: of both triples, with each angle within half a turn."""
    out = [given_angles[0]]
    for triple in given_angles[1:]:
        choices = [other - 2 * np.pi * np.round((other - out[-1]) / (2 * np.pi)) for other in twins_of(triple, order)]
        out.append(min(choices, key=lambda choice: np.square(choice - out[-1]).sum()))
    return np.array(out)


def scrambled(curve, order, seed=0):
    """Return the same rotations, with each frame given by a random triple: as bad as a file can be."""
    rng = np.random.default_rng(seed)
    flat = [list(twins_of(triple, order))[rng.integers(2)] for triple in curve]
    return np.array(flat) + 2 * np.pi * rng.integers(-2, 3, size=curve.shape)


def over_the_pole(n=200, phase=0.0):
    """Return a smooth curve whose middle angle passes several turns, and so the poles of every order."""
    t = np.linspace(0.0, 1.0, n)
    return np.stack([0.4 + 3 * np.sin(5 * t + phase), 9 * t - 2 + phase, -1.0 + 8 * t**2], axis=-1)


@every_order
def test_continuous_restores_a_smooth_curve_that_crosses_the_poles(order):
    curve = over_the_pole()
    shuffled = scrambled(curve, order)
    shuffled[0] = curve[0]
    np.testing.assert_allclose(euler.continuous(shuffled, order), curve, rtol=0, atol=1e-11)


@every_order
def test_continuous_has_no_jumps_after_to_euler(order):
    curve = over_the_pole(400)
    q = euler.from_euler(curve, order)
    principal = euler.to_euler(q, order)
    assert np.abs(np.diff(principal, axis=0)).max() > 1.5
    out = euler.continuous(principal, order)
    assert np.abs(np.diff(out, axis=0)).max() < 0.1
    assert quat.angle_between(euler.from_euler(out, order), q).max() < 1e-9
    np.testing.assert_array_equal(out[0], principal[0])


@every_order
@LAWS_OF_MANY
@given(data=st.data())
def test_continuous_is_its_slow_twin_on_any_angles(order, data):
    drawn = data.draw(numbers((12, 3), 20.0))
    # Rough angles give ties up to rounding only if they are round numbers.
    drawn = drawn + np.random.default_rng(0).uniform(-0.3, 0.3, size=drawn.shape)
    out = euler.continuous(drawn, order)
    np.testing.assert_allclose(out, nearest_twin(drawn, order), rtol=0, atol=1e-9)
    assert quat.angle_between(euler.from_euler(out, order), euler.from_euler(drawn, order)).max() < 1e-12


def test_continuous_takes_whole_turns_out_and_counts_on_beyond_a_turn():
    spin = np.zeros((100, 3))
    spin[:, 0] = np.linspace(0.0, 8 * np.pi, 100)
    wrapped = np.remainder(spin + np.pi, 2 * np.pi) - np.pi
    np.testing.assert_allclose(euler.continuous(wrapped, "YXZ"), spin, rtol=0, atol=1e-12)


def test_continuous_works_on_every_joint_alone():
    curves = np.stack([over_the_pole(phase=0.3 * joint) for joint in range(6)], axis=1)
    principal = euler.to_euler(euler.from_euler(curves, "ZXY"), "ZXY")
    out = euler.continuous(principal.reshape(200, 2, 3, 3), "ZXY").reshape(200, 6, 3)
    for joint in range(6):
        np.testing.assert_array_equal(out[:, joint], euler.continuous(principal[:, joint], "ZXY"))


@every_order
def test_continuous_does_not_jump_in_gimbal_lock(order):
    """The middle angle rests on the pole while the others change, and then leaves it."""
    t = np.linspace(0.0, 1.0, 300)
    for pole in poles(order):
        middle = pole + 0.8 * np.clip(np.abs(t - 0.5) - 0.2, 0.0, None) * np.where(t < 0.5, -1, 1)
        curve = np.stack([1.0 + 4.0 * t, middle, 2.0 - 1.5 * t], axis=-1)
        q = euler.from_euler(curve, order)
        principal = euler.to_euler(q, order)
        out = euler.continuous(principal, order)
        assert quat.angle_between(euler.from_euler(out, order), q).max() < 3e-9
        locked = np.abs(middle - pole) < 1e-10
        assert locked.sum() > 100
        steps = np.abs(np.diff(out, axis=0)).max(axis=-1)
        assert steps[locked[1:]].max() < 0.02
        assert np.abs(np.diff(principal, axis=0)).max() > 1.0


def test_continuous_keeps_a_clip_that_starts_in_lock():
    given_angles = np.array([[0.5, np.pi / 2, 0.0]] * 4)
    np.testing.assert_allclose(euler.continuous(given_angles, "ZXY"), given_angles, atol=1e-15)


@pytest.mark.parametrize("shape", [(0, 3), (0, 5, 3), (1, 3), (4, 0, 3)])
def test_continuous_takes_short_and_empty_clips(shape):
    given_angles = np.full(shape, 0.25)
    np.testing.assert_array_equal(euler.continuous(given_angles, "ZYX"), given_angles)


# --- manners


def test_inputs_are_left_unchanged_and_results_are_new():
    given_angles = over_the_pole(20)
    given_angles[5, 1] = np.pi / 2
    stored = given_angles.copy()
    given_angles.flags.writeable = False
    q = euler.from_euler(given_angles.astype(np.float32), "ZYX")
    assert q.dtype == np.float64
    q.flags.writeable = False
    for out in (
        euler.to_euler(q, "ZYX"),
        euler.continuous(given_angles, "ZYX"),
        euler.from_axes(given_angles, "ZZX"),
    ):
        assert out.dtype == np.float64
        assert out.flags.writeable
        assert not np.shares_memory(out, given_angles)
    np.testing.assert_array_equal(given_angles, stored)


@pytest.mark.parametrize("order", ["zyx", "ZZX", "ZY", "ZYXZ", "", "ABC"])
def test_an_unknown_order_is_refused_with_an_example(order):
    calls = [
        lambda: euler.from_euler(np.zeros(3), order),
        lambda: euler.to_euler(quat.identity(), order),
        lambda: euler.continuous(np.zeros((2, 3)), order),
    ]
    for call in calls:
        with pytest.raises(InvalidValue, match=r"upper case.*such as 'ZYX' or 'ZXZ', not '" + order):
            call()


def test_wrong_shapes_are_refused():
    with pytest.raises(InvalidValue, match=r"euler\.from_euler: angles must have shape"):
        euler.from_euler(np.zeros(4), "ZYX")
    with pytest.raises(InvalidValue, match=r"euler.to_euler: q must have shape"):
        euler.to_euler(np.zeros(3), "ZYX")
    with pytest.raises(InvalidValue, match=r"euler.continuous: angles must have shape"):
        euler.continuous(np.zeros(3), "ZYX")
    with pytest.raises(InvalidValue, match=r"euler\.from_axes: angles must have shape \(\.\.\., 2\), not \(3,\)"):
        euler.from_axes(np.zeros(3), "ZX")
    with pytest.raises(InvalidValue, match=r"euler.from_axes: axes must consist of the letters X, Y, Z"):
        euler.from_axes(np.zeros(3), "zxy")
