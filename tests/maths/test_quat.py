"""Laws of the quaternion module over batch shapes, near no rotation and near a half turn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from marey.errors import InvalidValue
from marey.maths import quat
from tests.maths.helpers import (
    SAME,
    N,
    as_scipy,
    assert_same_rotation,
    assert_unit,
    batches,
    from_scipy,
    random_quaternions,
)
from tests.strategies import LAWS, angles, directions, quaternions, vectors

# --- product, inverse, rotation of vectors


@LAWS
@given(batches(quaternions, quaternions))
def test_mul_is_scipys_product(drawn):
    a, b = drawn
    out = quat.mul(a, b)
    assert out.shape == a.shape
    expected = from_scipy(as_scipy(a) * as_scipy(b), a.shape) if a.size else out
    assert_same_rotation(out, expected)


def test_mul_on_hamiltons_units():
    one, i, j, k = np.eye(4)
    for left, right, expected in [(i, j, k), (j, k, i), (k, i, j), (j, i, -k), (i, i, -one), (one, k, k)]:
        np.testing.assert_array_equal(quat.mul(left, right), expected)


@LAWS
@given(batches(quaternions, quaternions, quaternions))
def test_mul_is_associative_and_inverse_undoes_it(drawn):
    a, b, c = drawn
    np.testing.assert_allclose(quat.mul(quat.mul(a, b), c), quat.mul(a, quat.mul(b, c)), **SAME)
    np.testing.assert_allclose(quat.mul(a, quat.inv(a)), quat.identity(a.shape[:-1]), **SAME)
    np.testing.assert_allclose(quat.inv_mul(a, b), quat.mul(quat.inv(a), b), **SAME)
    np.testing.assert_allclose(quat.mul_inv(a, b), quat.mul(a, quat.inv(b)), **SAME)


def test_mul_broadcasts_and_blocks_agree_with_single_products():
    a, b = random_quaternions(700, 29), random_quaternions(29, seed=1)
    out = quat.mul(a, b)
    assert out.shape == (700, 29, 4)
    np.testing.assert_array_equal(out[613, 7], quat.mul(a[613, 7], b[7]))
    np.testing.assert_array_equal(quat.mul(b, a[613]), quat.mul(b[N], a)[613])


def test_mul_takes_any_memory_layout():
    a, b = random_quaternions(6, 5), random_quaternions(6, 5, seed=1)
    expected = quat.mul(a, b)
    np.testing.assert_array_equal(quat.mul(np.asfortranarray(a), b), expected)
    np.testing.assert_array_equal(quat.mul(a[::-1], b[::-1])[::-1], expected)
    np.testing.assert_array_equal(quat.mul(a.tolist(), b.tolist()), expected)
    swapped = a.astype(">f8")
    np.testing.assert_array_equal(quat.mul(swapped, b), expected)


@LAWS
@given(batches(quaternions, vectors))
def test_rotate_is_scipys_and_inv_rotate_undoes_it(drawn):
    q, v = drawn
    out = quat.rotate(q, v)
    assert out.shape == v.shape
    if v.size:
        expected = as_scipy(q).apply(v.reshape(-1, 3)).reshape(v.shape)
        np.testing.assert_allclose(out, expected, rtol=0, atol=1e-13)
    np.testing.assert_allclose(quat.inv_rotate(q, out), v, rtol=0, atol=1e-13)
    np.testing.assert_allclose(quat.inv_rotate(q, v), quat.rotate(quat.inv(q), v), rtol=0, atol=1e-13)


def test_rotate_broadcasts_one_against_many():
    q, v = random_quaternions(300, 40), np.array([1.0, 2.0, 3.0])
    out = quat.rotate(q, v)
    assert out.shape == (300, 40, 3)
    np.testing.assert_array_equal(out[299, 39], quat.rotate(q[299, 39], v))
    np.testing.assert_allclose(out, np.einsum("...ij,j->...i", quat.to_matrix(q), v), **SAME)


def test_a_quarter_turn_about_y_takes_z_to_x():
    q = quat.from_axis_angle([0, 1, 0], np.pi / 2)
    np.testing.assert_allclose(quat.rotate(q, [0, 0, 1]), [1, 0, 0], **SAME)


def test_normalize_scales_to_length_one():
    q = random_quaternions(4, 3)
    np.testing.assert_allclose(quat.normalize(q * 7.5), q, **SAME)
    np.testing.assert_allclose(quat.normalize(q * 1e-90), q, **SAME)


@pytest.mark.parametrize("bad", [np.zeros(4), [np.nan, 0, 0, 1], [np.inf, 0, 0, 0], [1e300, 0, 0, 0]])
def test_normalize_refuses_zero_vectors(bad):
    with pytest.raises(
        InvalidValue, match=r"quat.normalize: quaternions must have a finite length greater than 0, not"
    ):
        quat.normalize(bad)
    with pytest.raises(InvalidValue, match=r"at index \(1,\)"):
        quat.normalize([[1, 0, 0, 0], bad])


# --- angles


@LAWS
@given(directions(), st.floats(0.0, np.pi))
def test_angle_is_the_angle_put_in(axis, turn):
    q = quat.from_axis_angle(axis, turn)
    np.testing.assert_allclose(quat.angle(q), turn, rtol=1e-14, atol=1e-150)
    np.testing.assert_allclose(quat.angle(-q), turn, rtol=1e-14, atol=1e-150)


@pytest.mark.parametrize("small", [1e-3, 1e-8, 1e-12, 1e-16])
def test_angle_keeps_its_digits_near_zero_and_near_pi(small):
    axis = [0.6, 0.0, 0.8]
    np.testing.assert_allclose(quat.angle(quat.from_axis_angle(axis, small)), small, rtol=1e-15)
    near_pi = np.concatenate([[np.sin(small / 2)], np.cos(small / 2) * np.array(axis)])
    np.testing.assert_allclose(quat.angle(near_pi), np.pi - small, rtol=0, atol=5e-16)


@LAWS
@given(batches(quaternions, quaternions))
def test_angle_between_is_symmetric_and_blind_to_sign(drawn):
    a, b = drawn
    out = quat.angle_between(a, b)
    assert out.shape == a.shape[:-1]
    assert ((out >= 0) & (out <= np.pi)).all()
    np.testing.assert_allclose(out, quat.angle_between(-b, a), **SAME)
    if a.size:
        np.testing.assert_allclose(out.ravel(), (as_scipy(a).inv() * as_scipy(b)).magnitude(), **SAME)


def test_dot_is_the_sum_of_products():
    a, b = random_quaternions(3, 2), random_quaternions(2, seed=1)
    np.testing.assert_allclose(quat.dot(a, b), (a * b).sum(-1), **SAME)


# --- slerp, power, log, exp


@LAWS
@given(batches(quaternions, quaternions))
def test_slerp_ends_are_exact(drawn):
    a, b = drawn
    np.testing.assert_array_equal(quat.slerp(a, b, 0.0), a)
    end = quat.slerp(a, b, 1.0)
    np.testing.assert_array_equal(end, np.where(quat.dot(a, b)[..., N] < 0, -b, b))


@LAWS
@given(batches(quaternions, quaternions), st.floats(0.0, 1.0))
def test_slerp_divides_the_angle_and_stays_unit(drawn, t):
    a, b = drawn
    middle = quat.slerp(a, b, t)
    assert_unit(middle)
    whole = quat.angle_between(a, b)
    np.testing.assert_allclose(quat.angle_between(a, middle), t * whole, rtol=0, atol=1e-14)
    np.testing.assert_allclose(quat.angle_between(middle, b), (1 - t) * whole, rtol=0, atol=1e-14)
    by_power = quat.mul(a, quat.power(quat.inv_mul(a, b), t))
    clear = np.abs(quat.dot(a, b)) > 1e-12  # at a half turn, both ways are equally short
    assert_same_rotation(middle[clear], by_power[clear])


def test_slerp_broadcasts_t_and_extrapolates():
    a, b = quat.identity(), quat.from_axis_angle([0, 0, 1], 0.4)
    out = quat.slerp(a, b, np.array([-1.0, 0.0, 0.25, 1.0, 2.0]))
    expected = quat.from_axis_angle([0, 0, 1], 0.4 * np.array([-1.0, 0.0, 0.25, 1.0, 2.0]))
    np.testing.assert_allclose(out, expected, **SAME)
    assert quat.slerp(np.ones((5, 1, 4)) / 2, np.ones((3, 4)) / 2, 0.5).shape == (5, 3, 4)


@LAWS
@given(batches(quaternions), st.floats(-2.0, 2.0), st.floats(-2.0, 2.0))
def test_powers_add_and_do_not_see_the_sign(drawn, s, t):
    (q,) = drawn
    np.testing.assert_array_equal(quat.power(q, s), quat.power(-q, s))
    product = quat.mul(quat.power(q, s), quat.power(q, t))
    assert_same_rotation(product, quat.power(q, s + t))
    assert_same_rotation(quat.power(q, 1.0), q)
    np.testing.assert_array_equal(quat.power(q, 0.0), quat.identity(q.shape[:-1]))
    assert_same_rotation(quat.power(q, -1.0), quat.inv(q))


def test_power_scales_the_angle_for_each_s():
    s = np.array([0.0, 0.5, 2.0])
    out = quat.power(quat.from_axis_angle([0, 3, 4], 0.9), s)
    np.testing.assert_allclose(out, quat.from_axis_angle([0, 3, 4], 0.9 * s), **SAME)


@LAWS
@given(batches(quaternions))
def test_log_is_scipys_rotation_vector_and_exp_undoes_it(drawn):
    (q,) = drawn
    out = quat.log(q)
    assert out.shape == (*q.shape[:-1], 3)
    assert (np.linalg.norm(out, axis=-1) <= np.pi + 1e-15).all()
    np.testing.assert_array_equal(out, quat.log(-q))
    assert_same_rotation(quat.exp(out), q)
    if q.size:
        expected = as_scipy(q).as_rotvec().reshape(out.shape)
        half_turn = np.abs(q[..., 0]) < 1e-12
        np.testing.assert_allclose(out[~half_turn], expected[~half_turn], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("axis", [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0.6, -0.8, 0], [0, 0.6, -0.8]])
def test_a_half_turn_exactly_has_one_logarithm_and_one_root(axis):
    q = np.array([0.0, *axis])
    for same in (q, -q, [-0.0, *axis]):
        np.testing.assert_allclose(quat.log(same), np.pi * np.array(axis), rtol=1e-15)
        np.testing.assert_allclose(quat.power(same, 0.5), quat.from_axis_angle(axis, np.pi / 2), **SAME)


@pytest.mark.parametrize("size", [0.0, 1e-320, 1e-200, 1e-120, 1e-30, 1e-9, 1e-4, 1.0, 3.0])
def test_exp_and_log_keep_relative_digits_at_any_size(size):
    vector = size * np.array([0.48, -0.6, 0.64])
    q = quat.exp(vector)
    assert_unit(q)
    expected = np.append(np.cos(size / 2), 0.5 * vector * np.sinc(size / (2 * np.pi)))
    np.testing.assert_allclose(q, expected, rtol=4e-15, atol=1e-320)
    np.testing.assert_allclose(quat.log(q), vector, rtol=4e-15, atol=2e-320)


@LAWS
@given(batches(vectors))
def test_exp_is_scipys(drawn):
    (v,) = drawn
    if v.size:
        expected = from_scipy(Rotation.from_rotvec(v.reshape(-1, 3)), (*v.shape[:-1], 4))
        assert_same_rotation(quat.exp(v), expected, atol=1e-14)


@LAWS
@given(directions(), angles())
def test_from_axis_angle_ignores_the_length_of_the_axis(axis, turn):
    np.testing.assert_allclose(quat.from_axis_angle(axis * 42.0, turn), quat.exp(axis * turn), **SAME)


# --- matrices


@LAWS
@given(batches(quaternions))
def test_matrices_are_scipys_both_ways(drawn):
    (q,) = drawn
    m = quat.to_matrix(q)
    assert m.shape == (*q.shape[:-1], 3, 3)
    back = quat.from_matrix(m)
    assert_same_rotation(back, q, atol=2e-14)
    assert (back[..., 0] >= 0).all()
    if q.size:
        np.testing.assert_allclose(m, as_scipy(q).as_matrix().reshape(m.shape), **SAME)


@pytest.mark.parametrize("q", [*np.eye(4), *(quat.normalize(np.ones(4) - 2 * np.eye(4)))])
def test_from_matrix_is_exact_in_every_branch(q):
    assert_same_rotation(quat.from_matrix(quat.to_matrix(q)), q, atol=1e-15)


def test_from_matrix_accepts_rounded_text():
    q = random_quaternions(50)
    assert quat.angle_between(quat.from_matrix(np.round(quat.to_matrix(q), 3)), q).max() < 2e-3


@pytest.mark.parametrize("bad", [np.diag([1.0, 1.0, -1.0]), 2 * np.eye(3), np.zeros((3, 3)), np.full((3, 3), np.inf)])
def test_from_matrix_refuses_matrices_that_are_not_rotations(bad):
    with pytest.raises(InvalidValue, match=r"quat.from_matrix: m must hold rotation matrices"):
        quat.from_matrix(bad)


# --- between, swing and twist


@LAWS
@given(batches(directions, directions))
def test_between_takes_a_to_b_by_the_smallest_angle(drawn):
    a, b = drawn
    q = quat.between(3.0 * a, 0.2 * b)
    assert_unit(q)
    np.testing.assert_allclose(quat.rotate(q, a), b, rtol=0, atol=3e-14)
    angle = np.arctan2(np.linalg.norm(np.cross(a, b), axis=-1), (a * b).sum(-1))
    np.testing.assert_allclose(quat.angle(q), angle, rtol=0, atol=1e-14)


@pytest.mark.parametrize("power", range(-17, 0))
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_between_keeps_its_digits_near_parallel_and_near_opposite(power, sign):
    rng = np.random.default_rng(power + 20)
    a = rng.normal(size=(50, 3))
    a /= np.linalg.norm(a, axis=-1, keepdims=True)
    b = sign * a + 10.0**power * rng.normal(size=a.shape)
    b /= np.linalg.norm(b, axis=-1, keepdims=True)
    q = quat.between(a, b)
    assert_unit(q)
    np.testing.assert_allclose(quat.rotate(q, a), b, rtol=0, atol=3e-14)


@pytest.mark.parametrize("a", [*np.eye(3), *-np.eye(3), [1, 1, 1], [1e-9, 1, 2], [5, 0, -5]])
def test_between_opposite_directions_is_a_repeatable_half_turn(a):
    a = np.asarray(a, dtype=float)
    q = quat.between(a, -2 * a)
    np.testing.assert_allclose(quat.angle(q), np.pi, rtol=1e-15)
    np.testing.assert_allclose(quat.rotate(q, a), -a, atol=1e-14)
    np.testing.assert_array_equal(q, quat.between(a, -2 * a))
    axis = np.cross(a, np.eye(3)[np.argmin(np.abs(a))])
    np.testing.assert_allclose(q[1:], axis / np.linalg.norm(axis), atol=1e-14)


def test_between_gives_the_identity_for_zero_vectors_and_equal_ones():
    x, zero = np.array([1.0, 0, 0]), np.zeros(3)
    for a, b in [(zero, x), (x, zero), (zero, zero), (x, x)]:
        np.testing.assert_array_equal(quat.between(a, b), quat.identity())
    assert quat.between(np.zeros((0, 3)), x).shape == (0, 4)


@LAWS
@given(batches(quaternions, directions))
def test_swing_after_twist_is_q(drawn):
    q, axis = drawn
    swing, twist = quat.swing_twist(q, 2.5 * axis)
    np.testing.assert_allclose(quat.mul(swing, twist), q, **SAME)
    assert_unit(twist)
    np.testing.assert_allclose(np.cross(twist[..., 1:], axis), 0.0, atol=1e-14)
    np.testing.assert_allclose((swing[..., 1:] * axis).sum(-1), 0.0, atol=1e-13)
    assert (swing[..., 0] >= 0).all()
    np.testing.assert_allclose(quat.rotate(swing, axis), quat.rotate(q, axis), rtol=0, atol=1e-13)


@LAWS
@given(directions(), st.floats(-np.pi, np.pi, exclude_min=True), st.floats(0.0, 3.0))
def test_twist_angle_is_the_angle_put_in(axis, turn, bend):
    across = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    q = quat.mul(quat.from_axis_angle(across, bend), quat.from_axis_angle(axis, turn))
    for sample in (q, -q):
        out = quat.twist_angle(sample, axis)
        assert -np.pi < out <= np.pi
        np.testing.assert_allclose(np.exp(1j * out), np.exp(1j * turn), rtol=0, atol=1e-13)


def test_twist_angle_at_the_seam_and_where_it_is_undefined():
    axis = np.array([0.0, 1.0, 0.0])
    for half_turn in ([0, 0, 1, 0], [0, 0, -1, 0], [-0.0, 0, -1, 0]):
        assert quat.twist_angle(half_turn, axis) == np.pi
    for swing_only in ([0, 1, 0, 0], [-0.0, -1, 0, 0], [1, 0, 0, 0], [-1, 0, 0, 0]):
        assert quat.twist_angle(swing_only, axis) == 0.0
    swing, twist = quat.swing_twist([0, 1, 0, 0], axis)
    np.testing.assert_array_equal(twist, quat.identity())
    np.testing.assert_array_equal(swing, [0, 1, 0, 0])
    swing, twist = quat.swing_twist([-1e-15, 1, 0, 0], axis)
    np.testing.assert_array_equal(twist, -quat.identity())
    np.testing.assert_array_equal(swing, [1e-15, -1, 0, 0])


def test_an_axis_of_length_zero_is_refused():
    for call in (quat.swing_twist, quat.twist_angle):
        with pytest.raises(
            InvalidValue,
            match=rf"quat\.{call.__name__}: an axis must have a finite length greater than 0, not \[0\.0, 0\.0, 0\.0\]",
        ):
            call([1, 0, 0, 0], [0, 0, 0])
    with pytest.raises(
        InvalidValue, match=r"quat\.from_axis_angle: an axis must have a finite length greater than 0, not"
    ):
        quat.from_axis_angle([0, 0, 0], 1.0)
