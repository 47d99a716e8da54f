"""Rigs whose joint 0 stays at the origin while the hips travel by offsets of their own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from marey.core import Motion, Skeleton
from marey.core.placement import bake_hips_into_root
from marey.edit import MoveKey, connect, cycle, deseam, edit_path, extract_path, mirror, resample, retarget, warp
from marey.graph import MotionGraph
from marey.maths import quat
from marey.samples import sample
from tests.edit.helpers import same, walk


def carried(motion: Motion, start: np.ndarray | None = None) -> Motion:
    """Return the same character below a joint that never moves; the rest offset of the hips is their start."""
    skeleton = motion.skeleton
    offsets = np.concatenate([np.zeros((1, 3)), skeleton.offsets])
    offsets[1] = motion.root_positions[0] if start is None else start
    body = Skeleton(("Reference", *skeleton.names), np.concatenate([[-1], skeleton.parents + 1]), offsets)
    bones = np.broadcast_to(offsets, (len(motion), *offsets.shape)).copy()
    bones[:, 1] = motion.root_positions
    turns = np.concatenate([quat.identity((len(motion), 1)), motion.rotations], axis=1)
    contacts = motion.contacts
    points = tuple(replace(point, joint=point.joint + 1) for point in contacts.points)
    return replace(
        motion,
        skeleton=body,
        root_positions=np.zeros((len(motion), 3)),
        rotations=turns,
        bone_offsets=bones,
        contacts=replace(contacts, points=points),
    )


def body_of(motion: Motion) -> np.ndarray:
    """Return the joints (F, J, 3) from the hips on."""
    return motion.world().positions[:, motion.skeleton.roles["hips"] :]


ARC = np.stack([2.0 * (1 - np.cos(np.linspace(0, 3, 50))), 2.0 * np.sin(np.linspace(0, 3, 50))], axis=1)


@pytest.mark.parametrize(
    "edit",
    [
        lambda m: mirror(m),
        lambda m: resample(m, 30),
        lambda m: cycle(m, 20, 90, repeats=2, feet=None),
        lambda m: connect(m, m[20:], gap=0.4, feet=None),
        lambda m: deseam(connect(m[:80], m[120:], gap=0.0, feet=None), 80),
        lambda m: edit_path(m, ARC, feet=None),
        lambda m: warp(m, [MoveKey("hips", 1.5, offset=(0, -0.2, 0)), MoveKey("left_hand", 1.0, offset=(0, 0.1, 0))]),
        lambda m: retarget(m, walk().skeleton, feet=None),
    ],
    ids=["mirror", "resample", "cycle", "connect", "deseam", "path", "warp", "retarget"],
)
def test_edits_do_the_same_as_with_traveling_roots(edit):
    plain = walk()
    result, twin = edit(carried(plain)), edit(plain)
    assert np.abs(result.travel - twin.travel).max() < 1e-6
    # A rotation that joint 0 and the hips share is interpolated in two parts.
    assert np.abs(body_of(result) - body_of(twin)).max() < 0.01


def test_a_far_away_rest_offset_does_not_swing_the_body_about():
    motion, far = walk(), np.array([0.0, 1.0, -50.0])
    result = connect(carried(motion, far), carried(motion.moved((2.5, 0.0, 0.0)), far), gap=0.5, align=False)
    twin = connect(motion, motion.moved((2.5, 0.0, 0.0)), gap=0.5, align=False)
    assert np.abs(result.travel - twin.travel).max() < 1e-6


def test_roots_take_over_the_travel():
    motion = carried(walk())
    result = bake_hips_into_root(motion)
    assert result.bone_offsets is None
    assert np.abs(body_of(result) - body_of(motion)).max() < 1e-12
    assert bake_hips_into_root(walk()) is not None
    assert same(bake_hips_into_root(walk()), walk())


def test_clips_whose_hips_start_elsewhere_have_one_skeleton():
    motion = walk()
    first, second = carried(motion), carried(motion, np.array([3.0, 1.0, -2.0]))
    result = connect(first, second, gap=0.5)
    assert np.abs(body_of(result) - body_of(connect(motion, motion, gap=0.5))).max() < 0.02


def test_its_own_path_changes_nothing():
    motion = carried(walk())
    assert same(edit_path(motion, extract_path(motion)), motion, 1e-9)


def test_walks_of_a_graph_do_not_flip_between_clips_that_face_opposite_ways() -> None:
    clips = [sample("walk", fps=30.0, seconds=3.0, turn_rate=turn).motion for turn in (0.0, 0.3)]
    clips[1] = clips[1].moved((np.pi, 0.0, 0.0))
    far = np.array([0.0, 1.0, -5.0])
    for rig in ([carried(clip) for clip in clips], [carried(clip, far) for clip in clips]):
        route, twin = (MotionGraph.build(each).random_walk(12.0, rng=1) for each in (rig, clips))
        assert {part.clip for part in twin.parts} == {"walk", "walk#2"}
        np.testing.assert_array_equal(route.edges, twin.edges)
        result, plain = route.motion(feet=None), twin.motion(feet=None)
        np.testing.assert_allclose(body_of(result), body_of(plain), atol=1e-9)
