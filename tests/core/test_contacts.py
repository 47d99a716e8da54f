"""Contacts: named points, a mask, and its intervals."""

from __future__ import annotations

import dataclasses

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marey.core import ContactPoint, Contacts
from marey.core.arrays import set_readonly
from marey.errors import InvalidValue, UnknownName
from tests.strategies import LAWS

HEEL = ContactPoint("left_heel", 3, (0.0, -0.08, -0.03))
BALL = ContactPoint("left_ball", np.int64(4), np.zeros(3))
MASK = np.array([[0, 1], [1, 1], [1, 0], [0, 0], [1, 1]], dtype=bool)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("", 1, np.zeros(3)), "name of a contact point must be a non-empty string, not ''"),
        ((7, 1, np.zeros(3)), "name of a contact point must be a non-empty string, not 7"),
        (("heel", -1, np.zeros(3)), "joint of contact point 'heel' must be a joint index of at least 0, not -1"),
        (("heel", 1.5, np.zeros(3)), "the joint of contact point 'heel' must be an integer, not 1.5"),
        (("heel", "Foot", np.zeros(3)), "the joint of contact point 'heel' must be an integer, not 'Foot'"),
        (("heel", 1, np.zeros(2)), r"offset of contact point 'heel' must have shape \(3,\), not \(2,\)"),
        (("heel", 1, (0, np.nan, 0)), r"offset of contact point 'heel' must be finite, not nan at index"),
    ],
)
def test_bad_points_are_refused(arguments, message):
    with pytest.raises(InvalidValue, match=message):
        ContactPoint(*arguments)


@pytest.mark.parametrize(
    ("points", "mask", "message"),
    [
        ((HEEL, HEEL), MASK, "contact points must have different names, not left_heel, left_heel"),
        ((HEEL,), MASK, r"contact mask must have shape \(any, 1\), not \(5, 2\)"),
        ((HEEL, BALL), MASK[0], r"contact mask must have shape \(any, 2\), not \(2,\)"),
        ((HEEL, BALL), 0.5 * MASK, "contact mask must hold True and False, not 0.5"),
        ((HEEL, BALL), [["yes", "no"]], "contact mask must be an array of numbers, but it contains 'yes'"),
    ],
)
def test_bad_contacts_are_refused(points, mask, message):
    with pytest.raises(InvalidValue, match=message):
        Contacts(points, mask)


def test_nothing_changes_them():
    mask, offset = MASK.copy(), np.zeros(3)
    point = ContactPoint("heel", 1, offset)
    contacts = Contacts([HEEL, BALL], mask)
    mask[:] = False
    offset[:] = 1.0
    np.testing.assert_array_equal(contacts.mask, MASK)
    np.testing.assert_array_equal(point.offset, np.zeros(3))
    assert isinstance(contacts.points, tuple)
    assert isinstance(BALL.joint, int)
    for array in (contacts.mask, point.offset):
        assert not array.flags.writeable
    with pytest.raises(dataclasses.FrozenInstanceError):
        contacts.mask = MASK
    assert contacts != Contacts([HEEL, BALL], MASK)
    assert point != ContactPoint("heel", 1, offset)
    settled = set_readonly(MASK.copy())
    assert Contacts([HEEL, BALL], settled).mask is settled


def test_points_are_found_by_name():
    contacts = Contacts((HEEL, BALL), MASK)
    assert contacts.names == ("left_heel", "left_ball")
    assert contacts.index("left_ball") == 1
    assert len(contacts) == 5
    with pytest.raises(
        UnknownName, match="no contact point 'left_bal'; the contact points are left_heel, left_ball; similar:"
    ):
        contacts.index("left_bal")
    with pytest.raises(UnknownName, match="no contact point 'heel'; there are no contact points"):
        Contacts((), np.zeros((3, 0), bool)).intervals("heel")


def test_intervals_are_half_open_and_in_order():
    contacts = Contacts((HEEL, BALL), MASK)
    assert contacts.intervals("left_heel") == ((1, 3), (4, 5))
    assert contacts.intervals("left_ball") == ((0, 2), (4, 5))
    assert all(isinstance(end, int) for span in contacts.intervals("left_heel") for end in span)


@LAWS
@given(hnp.arrays(bool, st.tuples(st.integers(0, 9), st.just(2))))
def test_intervals_and_mask_say_the_same(mask):
    contacts = Contacts((HEEL, BALL), mask)
    spans = {name: contacts.intervals(name) for name in contacts.names}
    again = Contacts.from_intervals((HEEL, BALL), spans, len(mask))
    np.testing.assert_array_equal(again.mask, mask)
    for found in spans.values():
        flat = [end for span in found for end in span]
        assert flat == sorted(set(flat)), "intervals are not empty, do not touch, and are in order"


def test_from_intervals_joins_overlaps_and_omits_other_points():
    contacts = Contacts.from_intervals([HEEL, BALL], {"left_heel": [(0, 2), (1, 3), (3, 4)]}, 6)
    assert contacts.intervals("left_heel") == ((0, 4),)
    assert contacts.intervals("left_ball") == ()
    assert not contacts.mask.flags.writeable


@pytest.mark.parametrize(
    ("spans", "n_frames", "message"),
    [
        ({"left_heel": [(2, 2)]}, 5, "must have 0 <= start < stop <= 5"),
        ({"left_heel": [(-1, 2)]}, 5, "must have 0 <= start < stop <= 5"),
        ({"left_heel": [(3, 6)]}, 5, "must have 0 <= start < stop <= 5"),
        ({"left_heel": [(0.5, 2)]}, 5, "start and stop of a contact of 'left_heel' must be an integer, not 0.5"),
        ({"right_heel": []}, 5, "no contact point 'right_heel'; the contact points are left_heel, left_ball; similar:"),
        ({}, -1, "n_frames must be at least 0, not -1"),
        ({}, 2.5, "n_frames must be an integer, not 2.5"),
    ],
)
def test_bad_intervals_are_refused(spans, n_frames, message):
    with pytest.raises(InvalidValue, match=message):
        Contacts.from_intervals((HEEL, BALL), spans, n_frames)


def test_a_part_has_the_same_points():
    contacts = Contacts((HEEL, BALL), MASK)
    part = contacts.crop(1, 4)
    np.testing.assert_array_equal(part.mask, MASK[1:4])
    assert part.points is contacts.points
    assert np.shares_memory(part.mask, contacts.mask)
