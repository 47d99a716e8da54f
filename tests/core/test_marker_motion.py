"""Recorded markers as motions: positions, headings, and webs and graphs built from them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import marey
from marey.core import markers_to_motion
from marey.core.placement import find_facing
from marey.errors import InvalidValue, MareyWarning
from marey.samples import sample
from marey.samples.markers import record

WALK = sample("turn_around", fps=30.0).motion
MARKERS = record(WALK, rng=0, noise=0.0, gaps=0.0)


def yaw(motion):
    rotations = motion.rotations[:, 0]
    return np.unwrap(2.0 * np.arctan2(rotations[:, 2], rotations[:, 0]))


def test_joints_are_where_the_markers_are():
    motion = markers_to_motion(MARKERS)
    assert motion.skeleton.names[1:] == MARKERS.names
    np.testing.assert_allclose(motion.world().positions[:, 1:], MARKERS.positions, atol=1e-12)
    np.testing.assert_allclose(motion.world().positions[:, 0], MARKERS.positions.mean(axis=1), atol=1e-12)


def test_the_center_faces_as_the_body_does():
    facing = np.unwrap(find_facing(WALK.skeleton, WALK.world().positions))
    assert np.abs(yaw(markers_to_motion(MARKERS)) - facing).max() < np.radians(25)


def test_without_sides_the_heading_is_that_since_the_first_frame():
    plain = replace(MARKERS, names=tuple(f"m{k}" for k in range(len(MARKERS.names))))
    with pytest.warns(MareyWarning, match="no left and right markers were recognized by name"):
        motion = markers_to_motion(plain)
    assert yaw(motion)[0] == pytest.approx(0.0)
    facing = np.unwrap(find_facing(WALK.skeleton, WALK.world().positions))
    assert np.ptp(yaw(motion)[[0, -1]]) == pytest.approx(np.ptp(facing[[0, -1]]), abs=0.5)
    np.testing.assert_allclose(motion.world().positions[:, 1:], MARKERS.positions, atol=1e-12)


def test_markers_with_long_gaps_are_left_out():
    valid = MARKERS.valid.copy()
    valid[10:14, 3] = False
    valid[5:60, 4] = False
    with pytest.warns(MareyWarning, match="left out markers that are missing in too many frames"):
        motion = markers_to_motion(replace(MARKERS, valid=valid))
    assert MARKERS.names[4] not in motion.skeleton.names
    column = motion.skeleton.index(MARKERS.names[3])
    assert np.abs(motion.world().positions[:, column] - MARKERS.positions[:, 3]).max() < 0.05  # interpolated
    with pytest.raises(InvalidValue, match="none of the 41 markers"):
        markers_to_motion(replace(MARKERS, valid=np.zeros_like(valid)))


@pytest.fixture(scope="module")
def takes():
    return [sample("medley", rng=seed, fps=20.0, kicks=2, punches=1, reaches=1) for seed in (0, 1)]


def test_markers_find_what_joints_find(takes):
    motions = [take.motion for take in takes]
    raw = [markers_to_motion(record(motion, rng=0, noise=0.001, gaps=0.0)) for motion in motions]
    kick = next(action for action in takes[0].actions if action.name == "kick")
    span = round(kick.start * 20), round(kick.stop * 20)
    found = [marey.MatchWeb.build(clips).search(0, *span, 0.12) for clips in (motions, raw)]
    spans = [{(match.clip, round(match.start / 10)) for match in each} for each in found]
    assert len(spans[0] & spans[1]) >= 3


def test_markers_build_a_graph(takes):
    raw = [markers_to_motion(record(take.motion, rng=0, noise=0.0, gaps=0.0)) for take in takes]
    graph = marey.MotionGraph.build(raw, 0.1)
    walk = graph.random_walk(10.0, rng=1).motion(feet=None)
    positions = walk.world().positions
    head = positions[:, [walk.skeleton.index(name) for name in ("LFHD", "RFHD")]]
    width = np.linalg.norm(head[:, 0] - head[:, 1], axis=1)
    assert np.ptp(width) < 0.02  # blends keep the distances of the rigid head
    steps, usual = (np.linalg.norm(np.diff(p, axis=0), axis=-1).max() for p in (positions, raw[0].world().positions))
    assert steps < 1.5 * usual
