"""Labels: named stretches that may overlap."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marey.core import Label, Labels
from marey.errors import InvalidValue
from tests.strategies import LAWS

WALK, TURN, STEP = Label("walk", 0, 10), Label("turn", 6, 14), Label("walk", 12, 15)


@st.composite
def labels(draw, n_frames=12):
    def one():
        start = draw(st.integers(0, n_frames - 1))
        return Label(draw(st.sampled_from("abc")), start, draw(st.integers(start + 1, n_frames)))

    return Labels(tuple(one() for _ in range(draw(st.integers(0, 5)))))


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (("", 0, 1), "name of a label must be a non-empty string, not ''"),
        ((None, 0, 1), "name of a label must be a non-empty string, not None"),
        (("walk", -1, 1), "label 'walk' must have 0 <= start < stop, not -1 to 1"),
        (("walk", 3, 3), "label 'walk' must have 0 <= start < stop, not 3 to 3"),
        (("walk", 4, 3), "label 'walk' must have 0 <= start < stop, not 4 to 3"),
        (("walk", 0.5, 3), "the ends of label 'walk' must be an integer, not 0.5"),
        (("walk", 0, "3"), "the ends of label 'walk' must be an integer, not '3'"),
        (("walk", 0), r"a label must be \(name, start, stop\), not \('walk', 0\)"),
    ],
)
def test_bad_labels_are_refused(item, message):
    with pytest.raises(InvalidValue, match=message):
        Labels((WALK, item))


def test_they_are_kept_in_order_of_start():
    result = Labels([STEP, TURN, ("walk", np.int32(0), np.int64(10))])
    assert result.items == (WALK, TURN, STEP)
    assert list(result) == [WALK, TURN, STEP]
    assert len(result) == 3
    assert result.names == ("turn", "walk")
    assert all(type(end) is int for label in result for end in label[1:])
    assert Labels().names == ()
    assert not Labels()


def test_they_are_equal_where_their_labels_are_and_cannot_be_changed():
    assert Labels((WALK, TURN)) == Labels([TURN, WALK])
    assert Labels((WALK,)) != Labels((TURN,))
    assert len({Labels((WALK,)), Labels((WALK,))}) == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        Labels().items = (WALK,)


def test_what_holds_on_a_frame():
    result = Labels((WALK, TURN, STEP))
    assert result.at(0) == ("walk",)
    assert result.at(6) == ("turn", "walk")
    assert result.at(10) == ("turn",)
    assert result.at(15) == ()
    assert Labels((WALK, Label("walk", 2, 4))).at(3) == ("walk",)


def test_masks_are_read_only_and_stop_with_the_motion():
    result = Labels((WALK, TURN, STEP))
    mask = result.mask("walk", 15)
    np.testing.assert_array_equal(np.flatnonzero(~mask), [10, 11])
    assert not mask.flags.writeable
    assert result.mask("walk", 4).all()
    assert not result.mask("run", 15).any()


@LAWS
@given(labels(), st.data())
def test_masks_and_frames_agree(result, data):
    frame = data.draw(st.integers(0, 11))
    assert result.at(frame) == tuple(name for name in result.names if result.mask(name, 12)[frame])


@LAWS
@given(labels(), st.integers(0, 11), st.integers(1, 12))
def test_a_part_keeps_what_falls_into_it(result, start, length):
    stop = min(start + length, 12)
    part = result.crop(start, stop)
    for name in "abc":
        np.testing.assert_array_equal(part.mask(name, stop - start), result.mask(name, 12)[start:stop])
    assert all(0 <= label.start < label.stop <= stop - start for label in part)
