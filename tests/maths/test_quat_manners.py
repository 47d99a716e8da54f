"""Properties of all functions of the quaternion module: types, shapes, unchanged inputs, errors."""

from __future__ import annotations

import numpy as np
import pytest

from marey.errors import InvalidValue
from marey.maths import quat
from tests.strategies import SHAPES

CALLS = [
    (quat.mul, "qq"), (quat.inv_mul, "qq"), (quat.mul_inv, "qq"), (quat.inv, "q"), (quat.rotate, "qv"),
    (quat.inv_rotate, "qv"), (quat.normalize, "q"), (quat.dot, "qq"), (quat.angle, "q"),
    (quat.angle_between, "qq"), (quat.slerp, "qqs"), (quat.power, "qs"), (quat.log, "q"), (quat.exp, "v"),
    (quat.from_axis_angle, "vs"), (quat.from_matrix, "m"), (quat.to_matrix, "q"), (quat.between, "vv"),
    (quat.swing_twist, "qv"), (quat.twist_angle, "qv"),
]  # fmt: skip


def arguments(kinds, shape, dtype):
    rng = np.random.default_rng(0)
    motion = []
    for kind in kinds:
        q = quat.normalize(rng.normal(size=(*shape, 4)))
        value = {"q": q, "v": rng.normal(size=(*shape, 3)), "s": rng.random(shape), "m": quat.to_matrix(q)}[kind]
        motion.append(np.array(value, dtype=dtype))
    return motion


@pytest.mark.parametrize(("call", "kinds"), CALLS, ids=lambda value: getattr(value, "__name__", value))
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_float64_out_inputs_unchanged_and_writable(call, kinds, shape, dtype):
    given_arrays = arguments(kinds, shape, dtype)
    stored = [array.copy() for array in given_arrays]
    for array in given_arrays:
        array.flags.writeable = False
    result = call(*given_arrays)
    for out in result if isinstance(result, tuple) else (result,):
        assert isinstance(out, np.ndarray)
        assert out.dtype == np.float64
        assert out.shape[: len(shape)] == shape
        assert out.flags.writeable
        assert not any(np.shares_memory(out, array) for array in given_arrays)
    for array, before in zip(given_arrays, stored, strict=True):
        np.testing.assert_array_equal(array, before)


@pytest.mark.parametrize(("call", "kinds"), CALLS, ids=lambda value: getattr(value, "__name__", value))
def test_a_wrong_last_axis_is_named(call, kinds):
    good = arguments(kinds, (2,), np.float64)
    wrong = np.ones((2, 5))
    with pytest.raises(InvalidValue, match=rf"quat\.{call.__name__}: \w+ must have shape \(\.\.\., .*not \(2, 5\)"):
        call(wrong, *good[1:])


@pytest.mark.parametrize(
    ("call", "kinds"),
    [c for c in CALLS if len(c[1]) > 1],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_leading_axes_that_do_not_line_up_are_named(call, kinds):
    first = arguments(kinds[:1], (2,), np.float64)
    rest = arguments(kinds[1:], (3,), np.float64)
    with pytest.raises(InvalidValue, match=rf"quat\.{call.__name__}: the leading axes \(2,\) and \(3,\)"):
        call(*first, *rest)


def test_anything_but_arrays_of_numbers_is_refused():
    with pytest.raises(InvalidValue, match="not rows of unequal length"):
        quat.inv([[1, 0, 0, 0], [1, 0]])
    with pytest.raises(InvalidValue, match=": q must be real numbers, not an array of complex128"):
        quat.inv(np.ones(4, dtype=complex))
    with pytest.raises(InvalidValue, match=": q must be real numbers, not an array of <U1"):
        quat.inv(["w", "x", "y", "z"])


def test_identity_has_the_requested_shape():
    np.testing.assert_array_equal(quat.identity(), [1, 0, 0, 0])
    assert quat.identity(3).shape == (3, 4)
    assert quat.identity((2, 0)).shape == (2, 0, 4)
