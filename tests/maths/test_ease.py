"""The ease and its slope."""

from __future__ import annotations

import numpy as np
import pytest

from marey.errors import InvalidValue
from marey.maths import ease, ease_in, ease_slope


def test_ease_is_the_cubic_inside_and_flat_outside():
    t = np.linspace(0.0, 1.0, 101)
    np.testing.assert_allclose(ease(t), 2 * t**3 - 3 * t**2 + 1, atol=1e-15)
    np.testing.assert_array_equal(ease([-2.0, 0.0, 0.5, 1.0, 7.0]), [1.0, 1.0, 0.5, 0.0, 0.0])
    assert (np.diff(ease(t)) < 0).all()


def test_ease_in_is_the_rest():
    t = np.linspace(-0.5, 1.5, 201)
    np.testing.assert_array_equal(ease_in(t) + ease(t), 1.0)
    np.testing.assert_allclose(ease_in(1 - t), ease(t), atol=1e-15)


def test_the_slope_is_the_derivative_and_zero_at_the_ends():
    t, h = np.linspace(-0.5, 1.5, 201), 1e-6
    np.testing.assert_allclose(ease_slope(t), (ease(t + h) - ease(t - h)) / (2 * h), atol=1e-5)
    np.testing.assert_array_equal(ease_slope([-1.0, 0.0, 1.0, 3.0]), 0.0)


@pytest.mark.parametrize("shape", [(), (3,), (2, 5), (0,)])
@pytest.mark.parametrize("call", [ease, ease_in, ease_slope])
def test_any_shape_float64_and_input_unchanged(call, shape):
    t = np.full(shape, 2, dtype=np.int64)
    out = call(t)
    assert out.shape == shape
    assert out.dtype == np.float64
    assert (t == 2).all()


def test_anything_but_numbers_is_refused():
    with pytest.raises(InvalidValue, match="ease: t must be real numbers, not an array of <U4"):
        ease("half")
