"""Splicing at run time: equal to splicing whole clips for the same input, and close to it otherwise."""

from dataclasses import replace

import numpy as np
import pytest

from marey.edit import resample
from marey.errors import InvalidValue, NotBlendable, ParseError, UnknownName, UnknownVersion
from marey.io.archive import pack
from marey.layer import SpliceSet, align_motions, phase_errors, splice
from marey.layer.halves import split_body
from marey.layer.posture import measure_shoulders
from marey.layer.splicing import align_trunk_frames, take_frames
from marey.maths import quat
from marey.samples import sample


@pytest.fixture(scope="module")
def clips():
    return [
        replace(sample("walk", rng=7).motion, name="base"),
        replace(sample("walk", turn_rate=0.4).motion, name="curve"),
        sample("carry_box", rng=3).motion,
        replace(sample("run").motion, name="run"),
    ]


@pytest.fixture(scope="module")
def splices(clips):
    return SpliceSet.build(clips, base="base")


@pytest.mark.parametrize("posture", ["pitch", "full", None])
@pytest.mark.parametrize("lower", ["curve", "run"])
def test_with_the_same_alignment_and_posture_it_equals_splice(splices, lower, posture):
    legs, arms = (splices.clips[splices.names.index(name)] for name in (lower, "carry_box"))
    times = align_motions(legs, arms)
    halves, taken = split_body(legs.skeleton), take_frames(arms, times)
    postures = (
        align_trunk_frames(halves, legs, taken).shoulders.mean(axis=0),
        measure_shoulders(halves, taken.offsets, taken.rotations).mean(axis=0),
    )
    ours = splices.splice(lower, "carry_box", posture=posture, times=times, postures=postures)
    whole = splice(legs, arms, posture=posture, times=times)
    assert np.abs(ours.world().positions - whole.world().positions).max() < 1e-9
    assert quat.angle_between(ours.rotations, whole.rotations).max() < 1e-7


def test_through_the_base_clip_it_is_near_splice(splices):
    for lower, most in (("curve", 0.01), ("run", 0.05)):
        found = splices.difference(lower, "carry_box")
        assert 0.0 < found["position_median"] <= found["position_p95"] <= most
        assert 0.0 < found["angle_median"] <= found["angle_p95"] <= np.radians(6.0)


def test_any_pair_is_in_step_through_the_base_clip(splices):
    for lower in splices.names:
        for upper in splices.names:
            times = splices.splicer(lower, upper).time_map()
            legs, arms = (splices.clips[splices.names.index(name)] for name in (lower, upper))
            assert np.quantile(np.abs(phase_errors(legs, arms, times)), 0.95) < 0.08


def test_stored_data_grows_with_the_clips_and_not_with_their_pairs(splices, clips):
    for clip, kept in zip(splices.clips, splices.prepared, strict=True):
        assert kept.cycles.shape == (len(clip),)
        assert (np.diff(kept.cycles) > 0.0).all()
        assert kept.posture.shape == (2, 3)
        assert kept.hips.shape == (len(clip), 4)
    base = splices.prepared[0]
    steps = np.diff(base.cycles)
    assert np.quantile(steps, 0.9) < 1.2 * np.quantile(steps, 0.1)


def test_frames_may_be_in_any_order_because_postures_are_stored(splices):
    player = splices.splicer("curve", "carry_box", average="stored")
    ahead = [player.frame(f)[1] for f in (5, 6, 100)]
    back = [player.frame(f)[1] for f in (100, 6, 5)]
    for one, other in zip(ahead, back[::-1], strict=True):
        np.testing.assert_array_equal(one, other)
    root, rotations = player.frame(5)
    np.testing.assert_array_equal(root, player.lower.root_positions[5])
    assert rotations.shape == player.lower.rotations.shape[1:]
    assert player.fps == 60.0
    assert len(player) == 361


def test_the_running_average_approaches_the_clips_posture_and_can_be_reset(splices):
    player = splices.splicer("curve", "carry_box")
    first = player.frame(0)[1]
    for f in range(1, len(player)):
        player.frame(f)
    later = player.frame(0)[1]
    joint = player.lower.skeleton.roles["spine"]
    assert 0.0 < quat.angle_between(first[joint], later[joint]) < np.radians(5.0)
    player.reset()
    np.testing.assert_array_equal(player.frame(0)[1], first)


def test_a_saved_set_plays_the_same(splices, tmp_path):
    splices.save(tmp_path / "set.npz")
    again = SpliceSet.load(tmp_path / "set.npz")
    assert again.names == splices.names
    assert again.base == splices.base
    ours, theirs = (each.splice("curve", "carry_box") for each in (splices, again))
    np.testing.assert_array_equal(ours.rotations, theirs.rotations)
    assert theirs.contacts.names == ours.contacts.names
    splices.save(tmp_path / "twice.npz")
    assert (tmp_path / "twice.npz").read_bytes() == (tmp_path / "set.npz").read_bytes()


def test_broken_and_foreign_files_are_refused(splices, tmp_path):
    path = tmp_path / "set.npz"
    splices.save(path)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(ParseError, match="not a readable NPZ file"):
        SpliceSet.load(path)
    path.write_bytes(pack("marey.splices", 2, {}))
    with pytest.raises(UnknownVersion, match="the file has format version 2, but this version of marey reads 1;"):
        SpliceSet.load(path)
    path.write_bytes(pack("marey.graph", 1, {}))
    with pytest.raises(UnknownVersion, match=r"expected a splice set \(marey\.splices\)"):
        SpliceSet.load(path)


def test_a_file_whose_parts_do_not_fit_is_refused(splices, tmp_path, monkeypatch):
    broken = replace(splices.prepared[0], posture=np.full((2, 3), np.nan))
    object.__setattr__(
        splices_copy := SpliceSet(splices.clips, 0, splices.prepared), "prepared", (broken, *splices.prepared[1:])
    )
    splices_copy.save(tmp_path / "set.npz")
    with pytest.raises(
        ParseError, match=r"is not a valid splice set \(postures must hold finite numbers only\); build it again"
    ):
        SpliceSet.load(tmp_path / "set.npz")


def test_sets_that_cannot_be_built_are_refused(clips):
    walk = clips[0]
    with pytest.raises(InvalidValue, match="clips must be a list of at least one Motion"):
        SpliceSet.build([])
    with pytest.raises(InvalidValue, match="the same frame rate, but 'slow' is at 30 Hz and .* at .* Hz; resample"):
        SpliceSet.build([walk, replace(resample(walk, 30.0), name="slow")])
    with pytest.raises(InvalidValue, match="different names, but 'base' occurs twice"):
        SpliceSet.build([walk, walk])
    with pytest.raises(NotBlendable, match="'stand' must have at least 2 consecutive steps, but"):
        SpliceSet.build([walk, sample("stand").motion])
    with pytest.raises(UnknownName, match="base: no clip 'bas' in the splice set; similar: 'base'"):
        SpliceSet.build([walk], base="bas")
    with pytest.raises(
        NotBlendable, match="the base clip 'short' has no full gait cycle to align the other clips to; choose one"
    ):
        SpliceSet.build([replace(walk[:60], name="short")])


def test_stretched_legs_stay_and_the_upper_body_keeps_its_rest_length(clips):
    walk, curve = clips[:2]
    moving = walk.frame_offsets.copy()
    joints = [walk.skeleton.roles[role] for role in ("left_foot", "left_hand")]
    moving[:, joints] *= 1.1
    result = SpliceSet.build([replace(walk, bone_offsets=moving), curve]).splice(0, 1)
    np.testing.assert_array_equal(result.frame_offsets[:, joints[0]], moving[:, joints[0]])
    np.testing.assert_array_equal(result.frame_offsets[0, joints[1]], walk.skeleton.offsets[joints[1]])


def test_wrong_requests_are_refused(splices):
    with pytest.raises(UnknownName, match="lower: no clip 'curv' in the splice set; similar: 'curve'"):
        splices.splicer("curv", "base")
    with pytest.raises(InvalidValue, match="upper must be a clip index from 0 to 3, not 9"):
        splices.splicer(0, 9)
    with pytest.raises(InvalidValue, match="`average=` must be 'running' or 'stored'"):
        splices.splicer(0, 1, average="none")
    with pytest.raises(InvalidValue, match="frame must be from 0 to 360, not 361"):
        splices.splicer("curve", "base").frame(361)
    with pytest.raises(InvalidValue, match="the posture wanted must have shape"):
        splices.splicer(0, 1, postures=(np.zeros((2, 3)), np.zeros(3)))
    with pytest.raises(
        InvalidValue, match="prepared must have one entry for each clip, and base must be the index of a clip, but"
    ):
        SpliceSet(splices.clips, 0, splices.prepared[:1])
