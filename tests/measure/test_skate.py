"""Foot skate by its three definitions."""

from dataclasses import replace

import numpy as np
import pytest

from marey.core import ContactPoint, Contacts
from marey.measure import skate
from tests.measure.simple_motions import BALLS, ROLES, statue, straight


@pytest.mark.parametrize(
    ("height", "weight"),
    [(0.0, 1.0), (0.0125, 2.0 - 2.0**0.5), (0.02, 2.0 - 2.0**0.8), (0.025, 0.0), (0.1, 0.0), (-0.03, 1.0)],
)
def test_weighted_slide_of_a_glide(height: float, weight: float) -> None:
    metric = skate.slide_weighted(straight(0.3, height))
    assert metric.value == pytest.approx(2 * 1000 * 0.3 / 60 * weight, abs=1e-9)
    assert metric.unit == "mm/frame"
    assert metric.note == "at 60 Hz"


def test_weighted_slide_per_second_does_not_depend_on_the_rate_and_per_frame_does() -> None:
    clips = [straight(0.3, 0.01, fps=fps) for fps in (30.0, 60.0, 120.0)]
    per_second = [skate.slide_weighted_speed(clip).value for clip in clips]
    assert per_second == pytest.approx([per_second[0]] * 3)
    per_frame = [skate.slide_weighted(clip).value for clip in clips]
    assert per_frame == pytest.approx([per_second[0] / fps for fps in (30.0, 60.0, 120.0)])


def test_weighted_slide_is_what_a_plain_loop_gives() -> None:
    rng = np.random.default_rng(3)
    paths = rng.uniform(-0.01, 0.04, (20, 2, 3))
    total = 0.0
    for f in range(19):
        for k in range(2):
            (x, y, z), (u, v, w) = paths[f, k], paths[f + 1, k]
            h = max((y + v) / 2, 0.0)
            if h < 0.025:
                total += ((u - x) ** 2 + (w - z) ** 2) ** 0.5 * (2 - 2 ** (h / 0.025))
    assert skate.measure_weighted_slide(paths) == pytest.approx(total / 19)


def test_heights_count_from_the_floor() -> None:
    low = straight(0.3, 0.01)
    high = replace(low, root_positions=low.root_positions + [0, 0.7, 0], source=replace(low.source, floor=0.7))
    for one in (skate.slide_weighted, skate.skate_ratio):
        assert one(high).value == pytest.approx(one(low).value)


@pytest.mark.parametrize(("height", "ratio"), [(0.049, 0.25), (0.0, 0.25), (0.051, 0.0)])
def test_skate_ratio_counts_low_and_fast_frames(height: float, ratio: float) -> None:
    speed = np.where(np.arange(80) < 20, 0.51, 0.49)
    x = np.concatenate([[0.0], np.cumsum(speed / 60)])
    clip = statue(np.stack([x, np.full(81, height), np.zeros(81)], axis=1))
    assert skate.skate_ratio(clip).value == pytest.approx(ratio)


def test_skate_ratio_does_not_depend_on_the_rate() -> None:
    values = [skate.skate_ratio(straight(0.6, 0.01, fps=fps)).value for fps in (30.0, 60.0, 240.0)]
    assert values == [1.0, 1.0, 1.0]


def test_a_foot_that_lands_counts_only_when_it_is_low_in_both_frames() -> None:
    y = np.array([0.1, 0.1, 0.01, 0.01, 0.1])
    clip = statue(np.stack([0.02 * np.arange(5.0), y, np.zeros(5)], axis=1))
    assert skate.skate_ratio(clip).value == pytest.approx(1 / 4)


def test_slide_in_contact_is_the_mean_over_pairs_of_frames_in_contact() -> None:
    speed = np.where(np.arange(60) < 30, 0.1, 2.0)
    x = np.concatenate([[0.0], np.cumsum(speed / 60)])
    mask = np.zeros((61, 2), dtype=bool)
    mask[:31, 0] = True
    mask[10:21, 1] = True
    mask[40, 1] = True  # a single frame has no slide
    metric = skate.slide_contact(statue(np.stack([x, 0 * x, 0 * x], axis=1), contact=mask))
    assert metric.value == pytest.approx(0.1)
    assert metric.unit == "m/s"
    assert "own contacts" in metric.note


def test_vertical_motion_in_contact_is_not_slide() -> None:
    y = 0.01 * np.sin(np.arange(50.0))
    assert skate.slide_contact(statue(np.stack([0 * y, y, 0 * y], axis=1))).value == pytest.approx(0.0, abs=1e-12)


def test_contacts_of_hands_are_no_foot_skate() -> None:
    clip = straight(0.3, 0.0)
    hand = ContactPoint("left_wrist", ROLES["left_hand"], np.zeros(3))
    mask = np.zeros((len(clip), 3), dtype=bool)
    mask[:, 2] = True
    only_hand = replace(clip, contacts=Contacts((*BALLS, hand), mask))
    metric = skate.slide_contact(only_hand)
    assert metric.value is None
    assert "needs a foot that is planted for two consecutive frames, but there is none" in metric.note


def test_contacts_are_detected_where_the_motion_has_none() -> None:
    from marey.samples import straight_walk

    bare = replace(straight_walk(seconds=4.0), contacts=None)
    metric = skate.slide_contact(bare)
    assert metric.value is not None
    assert metric.value < 0.1
    assert "detect_contacts" in metric.note
