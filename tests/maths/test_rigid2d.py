"""Laws of floor-plane transforms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marey.errors import InvalidValue
from marey.maths import quat, rigid2d
from tests.maths.helpers import batches
from tests.strategies import LAWS, SHAPES, rigid2ds, vectors, weights

NEAR = {"rtol": 0.0, "atol": 1e-12}


def assert_same_move(a, b):
    assert a.shape == b.shape
    np.testing.assert_allclose(a[..., 1:], b[..., 1:], **NEAR)
    np.testing.assert_allclose(np.exp(1j * a[..., 0]), np.exp(1j * b[..., 0]), **NEAR)


@LAWS
@given(batches(rigid2ds, vectors))
def test_apply_is_the_stated_formula_and_the_rotation_about_y(drawn):
    t, p = drawn
    theta, x0, z0 = t[..., 0], t[..., 1], t[..., 2]
    x, y, z = p[..., 0], p[..., 1], p[..., 2]
    out = rigid2d.apply(t, p)
    cosine, sine = np.cos(theta), np.sin(theta)
    expected = np.stack([x * cosine + z * sine + x0, y, -x * sine + z * cosine + z0], axis=-1)
    np.testing.assert_allclose(out, expected, **NEAR)
    np.testing.assert_allclose(rigid2d.apply_vector(t, p), quat.rotate(rigid2d.to_quat(t), p), **NEAR)
    np.testing.assert_allclose(rigid2d.apply(t, p[..., [0, 2]]), out[..., [0, 2]], **NEAR)
    np.testing.assert_array_equal(out[..., 1], p[..., 1])


def test_a_positive_angle_turns_left_seen_from_above():
    facing, up = np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 0.0])
    left = np.cross(up, facing)
    turned = rigid2d.apply_vector([0.1, 5.0, 5.0], facing)
    assert turned @ left > 0
    np.testing.assert_allclose(rigid2d.apply_vector([np.pi / 2, 0, 0], facing), left, atol=1e-15)


@LAWS
@given(batches(rigid2ds, rigid2ds, rigid2ds, vectors))
def test_compose_is_one_after_the_other(drawn):
    a, b, c, p = drawn
    ab = rigid2d.compose(a, b)
    np.testing.assert_allclose(rigid2d.apply(ab, p), rigid2d.apply(a, rigid2d.apply(b, p)), **NEAR)
    assert_same_move(rigid2d.compose(ab, c), rigid2d.compose(a, rigid2d.compose(b, c)))
    assert ((ab[..., 0] > -np.pi) & (ab[..., 0] <= np.pi)).all()


@LAWS
@given(batches(rigid2ds, rigid2ds))
def test_invert_undoes_and_between_takes_one_to_the_other(drawn):
    a, b = drawn
    still = rigid2d.identity(a.shape[:-1])
    assert_same_move(rigid2d.compose(a, rigid2d.invert(a)), still)
    assert_same_move(rigid2d.compose(rigid2d.invert(a), a), still)
    assert_same_move(rigid2d.compose(rigid2d.between(a, b), a), b)
    assert_same_move(rigid2d.between(a, a), still)


def test_one_transform_for_each_frame_moves_all_its_joints():
    t = np.random.default_rng(0).normal(size=(6, 3))
    p = np.random.default_rng(1).normal(size=(6, 4, 3))
    out = rigid2d.apply(t[:, None], p)
    assert out.shape == (6, 4, 3)
    np.testing.assert_array_equal(out[5, 2], rigid2d.apply(t[5], p[5, 2]))
    assert rigid2d.apply(t, np.zeros(3)).shape == (6, 3)


@LAWS
@given(st.floats(-50.0, 50.0) | st.sampled_from([np.pi, -np.pi, 3 * np.pi, -3 * np.pi, 5 * np.pi, 1e-300, 0.0]))
def test_wrap_angle_maps_to_its_range_and_keeps_angles_inside(angle):
    out = rigid2d.wrap_angle(angle)
    assert -np.pi < out <= np.pi
    np.testing.assert_allclose(np.exp(1j * out), np.exp(1j * angle), rtol=0, atol=1e-14)
    if -np.pi < angle <= np.pi:
        assert out == angle


def test_wrap_angle_at_the_seam():
    seam = np.array([np.pi, -np.pi, np.nextafter(-np.pi, 0), np.nextafter(np.pi, 4), 3 * np.pi, -3 * np.pi])
    out = rigid2d.wrap_angle(seam)
    np.testing.assert_array_equal(out[:2], np.pi)
    assert ((out > -np.pi) & (out <= np.pi)).all()
    assert np.isnan(rigid2d.wrap_angle(np.nan))


@LAWS
@given(st.data())
def test_average_moves_along_with_its_samples(data):
    n = data.draw(st.integers(1, 5))
    fraction = data.draw(weights(n))
    t = data.draw(rigid2ds((n,)))
    t[:, 0] = 0.4 * np.sin(t[:, 0])
    out = rigid2d.average(t, fraction)
    np.testing.assert_allclose(out[1:], np.average(t[:, 1:], axis=0, weights=fraction), **NEAR)
    assert t[:, 0].min() - 1e-12 <= out[0] <= t[:, 0].max() + 1e-12
    move = data.draw(rigid2ds())
    assert_same_move(rigid2d.average(rigid2d.compose(move, t), fraction), rigid2d.compose(move, out))


def test_average_of_headings_across_the_seam():
    t = np.array([[np.pi - 0.1, 0.0, 2.0], [-np.pi + 0.3, 4.0, 0.0]])
    np.testing.assert_allclose(rigid2d.average(t), [-np.pi + 0.1, 2.0, 1.0], **NEAR)
    np.testing.assert_allclose(rigid2d.average(t, [3, 0]), [np.pi - 0.1, 0.0, 2.0], **NEAR)


def test_average_over_any_axis_and_with_weights_for_each_element():
    t = np.random.default_rng(0).normal(size=(4, 5, 2, 3))
    w = np.random.default_rng(1).uniform(0.1, 1.0, size=(4, 5, 2))
    out = rigid2d.average(t, w, axis=1)
    assert out.shape == (4, 2, 3)
    np.testing.assert_allclose(out[3, 1], rigid2d.average(t[3, :, 1], w[3, :, 1]), **NEAR)


@pytest.mark.parametrize("shape", SHAPES)
def test_float64_out_and_inputs_unchanged(shape):
    t = np.random.default_rng(0).normal(size=(*shape, 3)).astype(np.float32)
    stored = t.copy()
    t.flags.writeable = False
    outs = [
        rigid2d.compose(t, t), rigid2d.invert(t), rigid2d.between(t, t), rigid2d.apply(t, t),
        rigid2d.apply_vector(t, t), rigid2d.to_quat(t), rigid2d.wrap_angle(t), rigid2d.identity(shape),
    ]  # fmt: skip
    for out in outs:
        assert out.dtype == np.float64
        assert out.shape[:-1] == shape
        assert out.flags.writeable
    np.testing.assert_array_equal(t, stored)


def test_wrong_shapes_are_refused():
    with pytest.raises(InvalidValue, match=r"rigid2d.invert: t must have shape"):
        rigid2d.invert([0, 1])
    with pytest.raises(InvalidValue, match=r"rigid2d.apply: points must have shape"):
        rigid2d.apply(np.zeros(3), np.zeros(4))
    with pytest.raises(InvalidValue, match=r"rigid2d\.apply: the leading axes \(6,\) and \(6, 4\) do not broadcast"):
        rigid2d.apply(np.zeros((6, 3)), np.zeros((6, 4, 3)))
    with pytest.raises(InvalidValue, match=r"rigid2d\.average: weights must have 2 values, one for each sample, not 3"):
        rigid2d.average(np.zeros((2, 3)), [1, 1, 1])


def test_power_repeats_and_goes_back() -> None:
    step = np.array([0.4, 1.0, -2.0])
    thrice = rigid2d.compose(step, rigid2d.compose(step, step))
    np.testing.assert_allclose(rigid2d.power(step, 3), thrice, atol=1e-12)
    np.testing.assert_allclose(rigid2d.power(step, -3), rigid2d.invert(thrice), atol=1e-12)
    np.testing.assert_array_equal(rigid2d.power(step, 0), rigid2d.identity())
