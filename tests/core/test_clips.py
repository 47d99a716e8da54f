"""Clips converted to one skeleton and one rate, with contacts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from marey.clean import detect_contacts
from marey.core.clips import list_clips, make_names_unique, match_rates, prepare_clips
from marey.core.motion import Motion
from marey.core.placement import find_skeleton_difference
from marey.core.resample import resample
from marey.core.skeleton import Skeleton
from marey.errors import InvalidValue, MareyWarning
from marey.samples import sample


@pytest.fixture(scope="module")
def walk() -> Motion:
    return sample("walk", seconds=2.0, fps=60).motion


def test_the_highest_rate_wins_with_one_warning_and_a_note_for_each(walk: Motion) -> None:
    slow = resample(walk, 30.0)
    with pytest.warns(MareyWarning) as heard:
        ready = prepare_clips([slow, walk, replace(slow, name="other")], "a test")
    assert [str(each.message) for each in heard] == [
        "2 clips were resampled to 60 Hz, the highest of all rates: 'walk' (30 Hz), 'other' (30 Hz)"
    ]
    assert [motion.fps for motion in ready.motions] == [60.0] * 3
    assert len(ready.notes) == 2
    assert ready.motions[1] is walk


def test_a_given_rate_needs_no_warning(walk: Motion) -> None:
    ready = prepare_clips([walk, resample(walk, 30.0)], "a test", fps=20.0).motions
    assert [motion.fps for motion in ready] == [20.0, 20.0]


def test_rates_that_differ_by_rounding_are_one_rate(walk: Motion) -> None:
    ready = match_rates([walk, replace(walk, fps=60.0 * (1.0 - 1e-8))]).motions
    assert [motion.fps for motion in ready] == [60.0, 60.0]
    np.testing.assert_array_equal(ready[1].rotations, walk.rotations)


def test_contacts_are_detected_at_the_own_rate_and_failures_are_noted(walk: Motion) -> None:
    rates = []

    def detect(motion: Motion) -> Motion:
        rates.append(motion.fps)
        if motion.name == "torso":
            raise InvalidValue("no feet")
        return detect_contacts(motion)

    bare = replace(walk, contacts=None)
    ready = prepare_clips([walk, bare, replace(bare, name="torso")], "a test", fps=30.0, detect=detect)
    assert rates == [60.0, 60.0]
    assert [motion.contacts is not None for motion in ready.motions] == [True, True, False]
    assert ready.notes == (
        "contacts of 'walk' were detected",
        "'torso' has no contacts, and none could be detected: no feet",
    )


def test_anything_but_a_list_of_motions_is_refused(walk: Motion) -> None:
    for given, message in (
        ("walks/", "a test needs motions, got the name 'walks/'"),
        (walk, "a test needs a list of motions or a set of them, got Motion"),
        ([walk, 3], "a test needs motions, got a list with int"),
        ([], "a test needs at least one clip, got none"),
    ):
        with pytest.raises(InvalidValue, match=message):
            list_clips(given, "a test")  # type: ignore[arg-type]
    with pytest.raises(InvalidValue, match="a test needs at least two clips, got 1"):
        list_clips([walk], "a test", 2)


def test_skeletons_that_differ_are_described(walk: Motion) -> None:
    body = walk.skeleton
    assert find_skeleton_difference(body, body) == ""
    taller = replace(walk, skeleton=Skeleton(body.names, body.parents, 1.1 * body.offsets), name="tall")
    with pytest.raises(
        InvalidValue,
        match=r"a test \('walk' and 'tall'\) needs motions that share a skeleton, .* more; retarget them onto one",
    ):
        prepare_clips([walk, taller], "a test")


def test_names_become_unique(walk: Motion) -> None:
    assert [motion.name for motion in make_names_unique([walk, walk, walk])] == ["walk", "walk#2", "walk#3"]
