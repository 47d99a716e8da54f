"""Conversion between a file's axes and marey's."""

import numpy as np
import pytest

from marey.errors import InvalidValue
from marey.io import axes
from marey.maths import quat

RNG = np.random.default_rng(3)


@pytest.mark.parametrize("up", axes.UPS)
def test_upward_axis_becomes_y(up: str) -> None:
    direction = np.zeros(3)
    direction["xyz".index(up[-1])] = -1.0 if up.startswith("-") else 1.0
    np.testing.assert_array_equal(axes.vectors_from_file(direction, up), [0.0, 1.0, 0.0])


@pytest.mark.parametrize("up", axes.UPS)
def test_there_and_back_loses_no_digit(up: str) -> None:
    vectors = RNG.normal(size=(4, 5, 3))
    rotations = quat.normalize(RNG.normal(size=(4, 5, 4)))
    np.testing.assert_array_equal(axes.vectors_to_file(axes.vectors_from_file(vectors, up), up), vectors)
    np.testing.assert_array_equal(axes.rotations_to_file(axes.rotations_from_file(rotations, up), up), rotations)


@pytest.mark.parametrize("up", axes.UPS)
def test_change_of_axes_is_a_rotation_that_commutes_with_turning(up: str) -> None:
    """Rotating in the file and then changing axes equals changing axes and then rotating: there is no mirroring."""
    q = quat.normalize(RNG.normal(size=(6, 4)))
    v = RNG.normal(size=(6, 3))
    turned_then_changed = axes.vectors_from_file(quat.rotate(q, v), up)
    changed_then_turned = quat.rotate(axes.rotations_from_file(q, up), axes.vectors_from_file(v, up))
    np.testing.assert_allclose(turned_then_changed, changed_then_turned, atol=1e-14)


def test_up_is_checked() -> None:
    assert axes.check_up(" +Z ") == "z"
    with pytest.raises(InvalidValue, match="`up=` must be one of y, z, x, -y, -z, -x, not 'w'"):
        axes.check_up("w")
