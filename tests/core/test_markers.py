"""Markers: positions that are missing in some frames."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import numpy as np
import pytest

from marey.core import Markers, Source
from marey.core.arrays import set_readonly
from marey.errors import InvalidValue, UnknownName

NAMES = ("LASI", "RASI")
F = 4


def positions():
    return np.random.default_rng(0).normal(size=(F, 2, 3))


def seen():
    mask = np.ones((F, 2), dtype=bool)
    mask[1, 0] = False
    return mask


def make(**changes):
    return Markers(**{"names": NAMES, "positions": positions(), "valid": seen(), "fps": 120, **changes})


def holed(value, index):
    out = positions()
    out[index] = value
    return out


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"names": ("LASI", "LASI")}, "marker names must differ, but 'LASI' occurs twice"),
        ({"names": ("LASI", "")}, "marker names must be non-empty strings, not ''"),
        ({"names": ("LASI", 3)}, "marker names must be non-empty strings, not 3"),
        ({"names": ("LASI",)}, r"valid must have shape \(any, 1\), not \(4, 2\)"),
        ({"valid": np.ones(F, bool)}, r"valid must have shape \(any, 2\), not \(4,\)"),
        ({"valid": np.full((F, 2), 0.5)}, "valid must hold True and False, not 0.5"),
        ({"valid": np.ones((0, 2), bool)}, "positions must have at least one frame, got none"),
        ({"positions": positions()[:3]}, r"positions must have shape \(4, 2, 3\), not \(3, 2, 3\)"),
        ({"positions": positions()[:, :1]}, r"positions must have shape \(4, 2, 3\), not \(4, 1, 3\)"),
        ({"positions": np.zeros(3)}, r"positions must have shape \(4, 2, 3\), not \(3,\)"),
        ({"positions": "here"}, "positions must be an array of numbers, but it contains 'here'"),
        ({"positions": holed(np.nan, (2, 1, 0))}, r"positions must be finite, not nan at index"),
        ({"fps": 0}, "fps must be a finite number greater than 0, not 0"),
        ({"fps": "120 Hz"}, "fps must be a finite number greater than 0, not '120 Hz'"),
    ],
)
def test_bad_recordings_are_refused(changes, message):
    with pytest.raises(InvalidValue, match=message):
        make(**changes)


@pytest.mark.parametrize("value", [np.nan, np.inf, -9999.0])
def test_what_was_not_seen_is_zero(value):
    given = holed(value, (1, 0))
    markers = make(positions=given)
    np.testing.assert_array_equal(markers.positions[1, 0], 0.0)
    np.testing.assert_array_equal(markers.positions[seen()], positions()[seen()])
    assert not np.array_equal(given[1, 0], np.zeros(3)), "the input stays as it was"


def test_nothing_changes_them():
    where, mask = positions(), seen()
    markers = make(positions=where, valid=mask)
    stored = markers.positions.copy()
    where[:] = 0.0
    mask[:] = False
    np.testing.assert_array_equal(markers.positions, stored)
    np.testing.assert_array_equal(markers.valid, seen())
    assert markers.positions.dtype == np.float64
    for array in (markers.positions, markers.valid):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(dataclasses.FrozenInstanceError):
        markers.fps = 60.0
    assert markers != make()


def test_settled_arrays_are_not_copied():
    where = set_readonly(np.where(seen()[..., None], positions(), 0.0))
    mask = set_readonly(seen())
    markers = make(positions=where, valid=mask)
    assert markers.positions is where
    assert markers.valid is mask
    assert dataclasses.replace(markers, name="walk").positions is where


@pytest.mark.parametrize("through", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_are_values_too(through):
    markers = make(name="static", source=Source(path="a.c3d", format="c3d", unit=0.001))
    again = through(markers)
    assert (again.names, again.name, again.fps, again.source.unit) == (NAMES, "static", 120.0, 0.001)
    np.testing.assert_array_equal(again.positions, markers.positions)
    assert not again.positions.flags.writeable
    assert not again.valid.flags.writeable


def test_sizes_and_lookups():
    markers = make()
    assert len(markers) == F
    assert markers.duration == pytest.approx(3 / 120)
    assert isinstance(markers.fps, float)
    assert markers.index("RASI") == 1
    with pytest.raises(UnknownName, match="no marker 'RSI' in the recording; similar: 'RASI', 'LASI'"):
        markers.index("RSI")


def test_runs_of_frames():
    markers = make(name="walk")
    part = markers[1:3]
    assert len(part) == 2
    np.testing.assert_array_equal(part.positions, markers.positions[1:3])
    np.testing.assert_array_equal(part.valid, markers.valid[1:3])
    assert (part.name, part.fps) == ("walk", 120.0)
    np.testing.assert_array_equal(markers[-1].positions[0], markers.positions[-1])
    assert [len(frame) for frame in markers] == [1] * F
    for run, message in (
        (slice(3, 1), r"\[3:1\] selects no frames; use 0 <= start < stop <= 4"),
        (slice(0, 4, 2), "the step of a frame slice must be 1, not 2; use resample to change the frame rate"),
        (4, "frame must be from 0 to 3, or from -"),
    ):
        with pytest.raises(InvalidValue, match=message):
            markers[run]


def test_a_recording_may_have_no_markers():
    empty = Markers((), np.zeros((F, 0, 3)), np.zeros((F, 0), bool), 100.0)
    assert len(empty) == F
