"""The long clip: it contains what its labels say, and nothing jumps where its parts meet."""

import json
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from marey.core import Motion
from marey.io import load, save
from marey.samples import Sample, sample
from tests.samples.checks import made, paths

_KINDS = ("kick", "punch", "reach")


def _long(seed: int, side: str = "right", fps: float = 60.0) -> Sample:
    return made("medley", seed, fps, kicks=4, punches=3, reaches=5, side=side)


def _spans(motion: Motion, name: str) -> list[tuple[int, int]]:
    return [(label.start, label.stop) for label in motion.labels if label.name == name]


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_every_action_is_there_once_and_labeled(seed: int, side: str) -> None:
    one = _long(seed, side)
    assert Counter(action.name for action in one.actions) == {"kick": 4, "punch": 3, "reach": 5}
    for kind in _KINDS:
        report = sorted(action.start for action in one.actions if action.name == kind)
        np.testing.assert_allclose([start / 60.0 for start, _ in _spans(one.motion, kind)], report, atol=1 / 60.0)
    assert {"walk", "stand", "guard"} <= set(one.motion.labels.names)
    assert all(action.side == side for action in one.actions)
    busy = [span for name in (*_KINDS, "walk") for span in _spans(one.motion, name)]
    assert all(a[1] <= b[0] for a, b in pairwise(sorted(busy)))
    covered = np.zeros(len(one.motion), dtype=bool)
    for label in one.motion.labels:
        covered[label.start : label.stop] = True
    assert covered.all()


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_targets_are_met_inside_the_interval(seed: int) -> None:
    one = _long(seed, fps=240.0)
    positions = one.motion.world().positions
    order = {kind: [action for action in one.actions if action.name == kind] for kind in _KINDS}
    for kind, actions in order.items():
        for (start, stop), action in zip(_spans(one.motion, kind), actions, strict=True):
            frame = action.apex * 240.0
            assert start < frame < stop
            i, fraction = int(frame), frame - int(frame)
            joint = one.motion.skeleton.index(action.joint)
            there = (1 - fraction) * positions[i, joint] + fraction * positions[i + 1, joint]
            assert np.linalg.norm(there - action.position) < 2e-3


def test_targets_are_relative_to_the_position_of_the_body() -> None:
    """The target, seen from the feet and the heading before the action, is `target`."""
    one = _long(1)
    world = one.motion.world()
    roles = one.motion.skeleton.roles
    for action in one.actions:
        if action.name == "punch":  # the feet are in a guard by then
            continue
        i = int(action.start * 60.0)
        feet = 0.5 * (world.positions[i, roles["left_foot"]] + world.positions[i, roles["right_foot"]])
        across = world.positions[i, roles["left_upper_leg"]] - world.positions[i, roles["right_upper_leg"]]
        left = np.array([across[0], 0.0, across[2]]) / np.hypot(across[0], across[2])
        ahead = np.array([-left[2], 0.0, left[0]])
        x, y, z = action.target
        expected = feet * [1, 0, 1] + x * left + z * ahead + [0, y, 0]
        assert np.linalg.norm(expected - action.position) < 0.12


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_nothing_jumps_where_parts_meet(seed: int) -> None:
    """While it stands, no joint moves fast, and no velocity changes by more in a frame than muscles allow."""
    motion = _long(seed).motion
    velocity = np.diff(motion.world().positions, axis=0) * motion.fps
    speed = np.linalg.norm(velocity, axis=2).max(axis=1)
    for start, stop in _spans(motion, "stand"):
        # The part before may end with toes that are still landing.
        assert speed[start + (6 if start else 0) : stop - 6].max() < 0.5
    jerked = np.linalg.norm(np.diff(velocity, axis=0), axis=2).max(axis=1) * motion.fps
    quiet = np.ones(len(jerked), dtype=bool)
    for name in (*_KINDS, "walk", "guard"):
        for start, stop in _spans(motion, name):
            quiet[max(start - 6, 0) : stop + 6] = False
    assert jerked[quiet].max() < 15.0


def test_feet_stay_where_the_part_before_has_put_them() -> None:
    motion = _long(2).motion
    points = paths(motion)
    for k, name in enumerate(motion.contacts.names):
        for start, stop in motion.contacts.intervals(name):
            assert np.ptp(points[start:stop, k], axis=0).max() < 1e-9
    for start, stop in _spans(motion, "stand"):
        assert motion.contacts.mask[start:stop].mean() > 0.95


def test_seeds_repeat_and_differ() -> None:
    again = sample("medley", rng=1, kicks=4, punches=3, reaches=5)
    first, other = _long(1), _long(2)
    np.testing.assert_array_equal(again.motion.rotations, first.motion.rotations)
    assert again.actions == first.actions
    assert first.actions != other.actions
    heights = [action.target[1] for action in first.actions if action.name == "kick"]
    assert np.ptp(heights) > 0.1


def test_spread_of_nothing_gives_one_target() -> None:
    one = sample("medley", rng=0, kicks=3, punches=0, reaches=3, spread=0.0, fps=30.0)
    for kind in ("kick", "reach"):
        targets = np.array([action.target for action in one.actions if action.name == kind])
        assert np.ptp(targets, axis=0).max() < 0.02


def test_without_actions_a_medley_walks_and_stands() -> None:
    motion = sample("medley", rng=0, kicks=0, punches=0, reaches=0, fps=30.0).motion
    assert set(motion.labels.names) == {"walk", "stand"}


def test_provenance_has_the_truth_in_frames_and_survives_a_file(tmp_path) -> None:  # type: ignore[no-untyped-def]
    one = sample("medley", rng=3, kicks=1, punches=1, reaches=1, fps=30.0)
    report = one.motion.source.provenance[-1]["actions"]
    assert json.loads(json.dumps(report)) == report
    for action, row in zip(one.actions, report, strict=True):
        assert row["name"] == action.name
        assert row["start"] < row["apex"] < row["stop"]
        assert row["apex"] == round(action.apex * 30.0)
        assert row["target"] == list(action.target)
    save(one.motion, tmp_path / "m.bvh")
    back = load(tmp_path / "m.bvh")
    assert isinstance(back, Motion)
    assert back.source.provenance[0]["actions"] == report
