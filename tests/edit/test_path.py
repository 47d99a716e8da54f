"""The traveled path, bent to another curve."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import marey
from marey.edit import edit_path, extract_path
from marey.errors import InvalidValue
from marey.maths import rigid2d
from tests.edit.helpers import keeps_bones, last_step, same, same_notes, slide, walk


def arc(radius: float, length: float, n: int = 40) -> np.ndarray:
    """Return a path from the origin along +Z that bends to +X."""
    angle = np.linspace(0.0, length / radius, n)
    return np.stack([radius * (1.0 - np.cos(angle)), radius * np.sin(angle)], axis=1)


def distance_to(path, curve):
    """Return the distance from each position to the nearest point of a dense curve, (F,) meters."""
    return np.linalg.norm(path[:, None] - curve[None], axis=-1).min(axis=1)


@pytest.mark.parametrize("turn_rate", [0.0, 0.5])
def test_its_own_path_changes_nothing(turn_rate):
    motion = walk(3.0, turn_rate)
    result = edit_path(motion, extract_path(motion))
    assert same(result, motion, 1e-9)
    assert same_notes(result, motion)
    assert last_step(result)["op"] == "path"


def test_a_path_carried_elsewhere_carries_the_motion():
    motion = walk()
    rigid = np.array([0.7, 2.0, -1.0])
    path = rigid2d.apply(rigid, extract_path(motion))
    result = edit_path(motion, path, feet=None)
    assert np.abs(result.world().positions - motion.moved(rigid).world().positions).max() < 1e-6


@pytest.mark.parametrize("radius", [1.5, 3.0])
def test_it_follows_the_curve_and_keeps_its_feet(radius):
    motion = walk(4.0, 0.0)
    result = edit_path(motion, arc(radius, 8.0), feet="clean")
    dense = arc(radius, 8.0, 4000)
    # The hips sway around the path as much as before.
    assert distance_to(result.travel[:, [0, 2]], dense).max() < 0.06
    loose = edit_path(motion, arc(radius, 8.0), feet=None)
    assert slide(result) < 0.05 * slide(loose) + 1e-6
    assert np.array_equal(result.contacts.mask, motion.contacts.mask)
    assert result.labels == motion.labels
    speed = [np.linalg.norm(np.diff(m.travel[:, [0, 2]], axis=0), axis=1).sum() for m in (motion, result)]
    assert speed[1] == pytest.approx(speed[0], rel=0.03)
    assert keeps_bones(loose)


def test_posture_follows():
    motion = walk(3.0, 0.0)
    result = edit_path(motion, arc(2.0, 6.0), feet=None)
    others = np.arange(1, len(motion.skeleton))
    assert np.array_equal(result.rotations[:, others], motion.rotations[:, others])
    assert np.allclose(result.travel[:, 1], motion.travel[:, 1])


def test_stretching_covers_the_entire_path():
    motion = walk(3.0, 0.0)
    length = float(np.linalg.norm(np.diff(extract_path(motion), axis=0), axis=1).sum())
    for factor in (0.8, 1.2):
        path = np.array([[0.0, 0.0], [0.0, factor * length]])
        result = edit_path(motion, path, stretch=True, feet=None)
        assert np.linalg.norm(extract_path(result)[-1] - path[-1]) < 0.05


def test_contacts_are_found_where_there_are_none():
    result = edit_path(replace(walk(), contacts=None), arc(3.0, 8.0))
    assert result.contacts is not None
    assert result.contacts.mask.any()


def test_a_recorded_walk(data_folder):
    motion = marey.detect_contacts(marey.load(data_folder / "cmu" / "016" / "16_15.bvh"))
    result = edit_path(motion, arc(3.0, 6.0))
    assert distance_to(extract_path(result), arc(3.0, 6.0, 4000)).max() < 0.06
    assert slide(result) < slide(motion) + 0.005


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ([[0, 0]], "path must have at least two different points, not 1 equal ones"),
        ([[0, 0], [0, 0]], "path must have at least two different points, not 2 equal ones"),
        (
            [[0, 0], [0, 1]],
            r"path must be at least as long as the motion's own path .3.. m., not 1 m; lengthen it, or",
        ),
        ([[0, 0, 0], [0, 1, 0]], r"path must have shape \(any, 2\)"),
        ([[0, 0], [0, np.nan]], "path must be finite"),
        ([[0, 0], [0, 1e9]], "path must be at most 10000 m long, not"),
    ],
)
def test_wrong_paths(path, message):
    with pytest.raises(InvalidValue, match=message.replace("3.. m", r"3\.\d+ m")):
        edit_path(walk(), path)


def test_a_motion_in_place_has_no_path():
    from marey.samples import sample

    still = walk()[:2]
    with pytest.raises(InvalidValue, match="its path to be edited, but travels 0.* m"):
        edit_path(still, [[0, 0], [0, 5]])
    assert len(sample("walk", seconds=1.0).motion) > 2
