"""Motions of several people on one skeleton."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import marey
from marey.core.motion import Motion
from marey.core.placement import find_skeleton_difference
from marey.edit import share_skeleton
from marey.errors import DifferentSkeletons, InvalidValue, MareyWarning
from marey.graph import MotionGraph
from marey.samples import sample
from marey.store import MotionSet


def walk(turn_rate: float = 0.0, size: float = 1.0, name: str = "walk") -> Motion:
    """Return a walk of a person of another size."""
    motion = sample("walk", fps=30.0, seconds=4.0, turn_rate=turn_rate).motion
    skeleton = replace(motion.skeleton, offsets=size * motion.skeleton.offsets)
    source = replace(motion.source, floor=0.0)
    return replace(motion, skeleton=skeleton, root_positions=size * motion.root_positions, name=name, source=source)


def test_the_most_frequent_skeleton_is_kept() -> None:
    clips = [walk(name="tall", size=1.2), walk(name="a"), walk(0.3, name="b")]
    with pytest.warns(MareyWarning, match="retargeted onto the skeleton of 'a': 'tall'"):
        shared = share_skeleton(clips)
    assert shared[1] is clips[1]
    assert shared[2] is clips[2]
    assert [motion.name for motion in shared] == ["tall", "a", "b"]
    assert not find_skeleton_difference(shared[0].skeleton, clips[1].skeleton)
    assert np.ptp(shared[0].root_positions[:, 2]) == pytest.approx(
        np.ptp(clips[0].root_positions[:, 2]) / 1.2, rel=0.01
    )


def test_onto_a_given_skeleton_or_motion() -> None:
    clips, tall = [walk(name="a"), walk(0.3, name="b")], walk(size=1.2, name="tall")
    for onto, words in ((tall, "of 'tall'"), (tall.skeleton, "that was given")):
        with pytest.warns(MareyWarning, match=f"retargeted onto the skeleton {words}: 'a', 'b'"):
            shared = share_skeleton(clips, onto)
        assert all(motion.skeleton is tall.skeleton for motion in shared)
    assert share_skeleton(clips, False) == tuple(clips)
    with pytest.raises(InvalidValue, match="retarget must be True, a skeleton, a motion or a file, not int"):
        share_skeleton(clips, 3)  # type: ignore[arg-type]


@pytest.mark.filterwarnings("ignore:retargeted")
def test_operations_take_people_of_different_size() -> None:
    a, b = walk(name="a"), walk(0.3, size=1.15, name="b")
    with pytest.raises(DifferentSkeletons, match="retarget them onto one skeleton with `retarget=True`"):
        marey.register([a, b])
    marey.register([a, b], retarget=True)
    MotionGraph.build([a, b], retarget=True)
    marey.splice(a, b, retarget=True)
    marey.transplant(a, b, joints="left_arm", retarget=True)
    marey.find.MatchWeb.build([a, b], retarget=a)
    marey.pmg.GaitSpace.build([a, walk(-0.3), b], retarget=True)


def test_a_folder_of_several_people(tmp_path: Path) -> None:
    for name, size in (("a", 1.0), ("b", 1.0), ("c", 1.2)):
        marey.save(walk(size=size, name=name), tmp_path / f"{name}.npz")
    with pytest.raises(InvalidValue, match="2 different skeletons .*; retarget them onto one skeleton with `retarget="):
        len(MotionSet.open(tmp_path))
    with pytest.warns(MareyWarning, match="retargeted onto the skeleton of 'a': 'c'"):
        clips = MotionSet.open(tmp_path, retarget=True, mirrored=True).prepare()
    assert clips.names == ("a", "b", "c", "a_mirrored", "b_mirrored", "c_mirrored")
    assert len(clips.groups()) == 1
    assert clips.motion("c").duration == pytest.approx(clips.motion("a").duration)
    with pytest.warns(MareyWarning, match=r"of '.*c.npz': 'a', 'b'"):
        onto = MotionSet.open(tmp_path, retarget=tmp_path / "c.npz").prepare()
    assert not find_skeleton_difference(onto.motion("a").skeleton, walk(size=1.2).skeleton)
    # A deleted clip is prepared again from its file.
    import shutil

    for folder in (tmp_path / ".marey-cache" / "clips").iterdir():
        shutil.rmtree(folder)
    assert len(onto.motion("b")) == len(onto.motion("a"))


@pytest.mark.filterwarnings("ignore:retargeted")
@pytest.mark.parametrize("order", [1, -1])
def test_people_whose_rest_pose_does_not_stand(order: int, data_folder: Path, tmp_path: Path) -> None:
    """All bones of such files lie along one axis; a frame in which the body stands is the reference instead."""
    names = ["bandai-namco/dataset-2_walk_normal_001.bvh", "cmu/016/16_21.bvh"][::order]
    onto, other = (marey.load(data_folder / name)[:150] for name in names)
    shared = share_skeleton([onto, other], onto)
    for motion in shared:
        roles = motion.skeleton.roles
        assert not find_skeleton_difference(motion.skeleton, onto.skeleton)
        heights = motion.world().positions[:, [roles["left_foot"], roles["hips"], roles["head"]], 1]
        assert (np.diff(heights, axis=1) > 0.2).all()
    for clip in (onto, other, replace(onto, name="again")):
        marey.save(clip, tmp_path / f"{clip.name}.bvh")
    with pytest.warns(MareyWarning, match=f"retargeted onto the skeleton of '.*': '{other.name}'"):
        folder = MotionSet.open(tmp_path, retarget=True).prepare()
    assert len(folder.names) == 3
