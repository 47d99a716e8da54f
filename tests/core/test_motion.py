"""A motion as a value: cropped, sampled between frames, and moved across the floor."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marey.core import Clips, ContactPoint, Contacts, Label, Labels, Motion, Skeleton, Source, Stream
from marey.core.arrays import set_readonly
from marey.core.motion import wrap_frame
from marey.errors import InvalidValue, JointNotFound
from marey.maths import quat, rigid2d
from tests.strategies import LAWS, rigid2ds
from tests.twins.kinematics import motion_matrices, turn

SKELETON = Skeleton(["Hips", "Spine", "Head"], [-1, 0, 1], [[0, 0, 0], [0, 0.5, 0], [0, 0.5, 0.1]])
F = 12


def make(**changes):
    rng = np.random.default_rng(1)
    settings = {
        "skeleton": SKELETON,
        "root_positions": rng.normal(size=(F, 3)),
        "rotations": quat.unroll(quat.normalize(rng.normal(size=(F, 3, 4)))),
        "fps": 30.0,
    }
    return Motion(**{**settings, **changes})


def annotated(**changes):
    """Make a motion with everything that a motion can have."""
    rng = np.random.default_rng(2)
    points = (ContactPoint("left_heel", 2, np.zeros(3)), ContactPoint("right_heel", 1, np.ones(3)))
    settings = {
        "name": "walk",
        "contacts": Contacts(points, rng.random((F, 2)) < 0.5),
        "labels": Labels((Label("walk", 0, 8), Label("turn", 5, F))),
        "bone_offsets": rng.normal(size=(F, 3, 3)),
        "source": Source(path="walk.bvh", format="bvh", channel_values=rng.normal(size=(F, 9)), evidence=("cm",)),
    }
    return make(**{**settings, **changes})


def bad(array, index, value):
    out = np.array(array)
    out[index] = value
    return out


# --- What is refused

GOOD = make()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rotations": np.zeros((0, 3, 4)), "root_positions": np.zeros((0, 3))}, "a motion needs at least one frame"),
        ({"rotations": GOOD.rotations[:, :2]}, r"rotations must have shape \(any, 3, 4\), not \(12, 2, 4\)"),
        ({"rotations": GOOD.rotations[0]}, r"rotations must have shape \(any, 3, 4\), not \(3, 4\)"),
        (
            {"rotations": bad(GOOD.rotations, (4, 1, 2), np.nan)},
            r"rotations must be finite, not nan at index",
        ),
        ({"rotations": bad(GOOD.rotations, (4, 1), 0)}, "frame 4 of 'Spine' has length 0; normalize them first"),
        ({"rotations": 1.001 * GOOD.rotations}, "must be unit quaternions; frame 0 of 'Hips' has length 1.001"),
        ({"rotations": "stand"}, "rotations must be an array of numbers, but it contains 'stand'"),
        ({"root_positions": GOOD.root_positions[:5]}, r"root_positions must have shape \(12, 3\), not \(5, 3\)"),
        (
            {"root_positions": bad(GOOD.root_positions, (3, 0), np.inf)},
            r"root_positions must be finite, not inf at index",
        ),
        ({"fps": 0}, "fps must be a finite number greater than 0, not 0"),
        ({"fps": -30}, "fps must be a finite number greater than 0, not -30"),
        ({"fps": np.nan}, "fps must be a finite number greater than 0, not nan"),
        ({"fps": np.inf}, "fps must be a finite number greater than 0, not inf"),
        ({"fps": "fast"}, "fps must be a finite number greater than 0, not 'fast'"),
        ({"fps": None}, "fps must be a finite number greater than 0, not None"),
        ({"bone_offsets": np.zeros((F, 2, 3))}, r"bone_offsets must have shape \(12, 3, 3\), not \(12, 2, 3\)"),
        ({"bone_offsets": np.full((F, 3, 3), np.nan)}, r"bone_offsets must be finite, not nan at index"),
        ({"contacts": Contacts((), np.zeros((F + 1, 0), bool))}, "contacts must have as many frames as the motion"),
        (
            {"contacts": Contacts((ContactPoint("toe", 3, np.zeros(3)),), np.zeros((F, 1), bool))},
            "contact point 'toe' is on joint 3, but the skeleton has only 3 joints",
        ),
        ({"labels": Labels((("walk", 2, 13),))}, "label 'walk' ends at frame 13, but the motion has only 12 frames"),
    ],
)
def test_bad_motions_are_refused(changes, message):
    with pytest.raises(InvalidValue, match=message):
        make(**changes)


@pytest.mark.parametrize(
    ("root", "rotations", "message"),
    [
        (bad(GOOD.root_positions[0], 1, np.nan), GOOD.rotations[0], "root_positions must be finite"),
        (GOOD.root_positions[0], bad(GOOD.rotations[0], (1, 2), np.nan), "rotations must be finite"),
        (GOOD.root_positions[0], 1.001 * GOOD.rotations[0], "must be unit quaternions; frame 0 of 'Hips'"),
        (GOOD.root_positions[0], GOOD.rotations[0][:2], r"rotations must have shape \(any, 3, 4\)"),
        (GOOD.root_positions[0][:2], GOOD.rotations[0], r"root_positions must have shape \(1, 3\)"),
    ],
)
def test_single_frames_are_refused_as_motions_are(root, rotations, message):
    for arrays in ((root, rotations), (set_readonly(root.copy()), set_readonly(rotations.copy()))):
        with pytest.raises(InvalidValue, match=message):
            wrap_frame(SKELETON, *arrays, 30.0, "", None, Labels(), Source())


@pytest.mark.parametrize(
    ("bones", "message"),
    [
        (np.full((3, 3), np.nan), "bone_offsets must be finite"),
        (np.zeros((2, 3)), r"bone_offsets must have shape \(1, 3, 3\)"),
    ],
)
def test_bone_offsets_of_single_frames_are_refused_as_those_of_motions_are(bones, message):
    frame = set_readonly(GOOD.root_positions[0].copy()), set_readonly(GOOD.rotations[0].copy())
    for offsets in (bones, set_readonly(bones.copy())):
        with pytest.raises(InvalidValue, match=message):
            wrap_frame(SKELETON, *frame, 30.0, "", None, Labels(), Source(), offsets)


def test_single_frames_are_apart_from_the_input():
    root, rotations = GOOD.root_positions[3].copy(), GOOD.rotations[3].copy()
    frame = wrap_frame(SKELETON, root, rotations, 30, "stand", None, Labels(), Source())
    root[:], rotations[:] = 0.0, 0.0
    assert (frame.name, frame.fps, len(frame)) == ("stand", 30.0, 1)
    assert np.array_equal(frame.root_positions, GOOD.root_positions[3:4])
    assert np.array_equal(frame.rotations, GOOD.rotations[3:4])
    shared = wrap_frame(SKELETON, frame.root_positions[0], frame.rotations[0], 30, "", None, Labels(), Source())
    assert np.shares_memory(shared.rotations, frame.rotations)


def test_rounding_in_quaternions_is_let_through():
    motion = make(rotations=GOOD.rotations * (1 + 5e-7))
    assert len(motion) == F


# --- That nothing changes it

ARRAYS = ("root_positions", "rotations", "bone_offsets")


def test_arrays_are_read_only_float64_and_apart_from_the_input():
    given = {name: np.array(getattr(annotated(), name)) for name in ARRAYS}
    cached = copy.deepcopy(given)
    motion = make(**given)
    for name, array in given.items():
        np.testing.assert_array_equal(array, cached[name])
        assert array.flags.writeable
        array[...] = 0.5
        stored = getattr(motion, name)
        assert stored.dtype == np.float64
        np.testing.assert_array_equal(stored, cached[name])
        with pytest.raises(ValueError, match="read-only"):
            stored[0] = 0.0


def test_single_precision_becomes_double():
    motion = make(root_positions=np.ones((F, 3), np.float32), rotations=quat.identity((F, 3)).astype(np.float32))
    assert motion.root_positions.dtype == motion.rotations.dtype == np.float64


def test_settled_arrays_are_not_copied():
    given = {name: set_readonly(np.array(getattr(annotated(), name))) for name in ARRAYS}
    motion = make(**given)
    for name, array in given.items():
        assert getattr(motion, name) is array
    renamed = dataclasses.replace(motion, name="other")
    for name, array in given.items():
        assert getattr(renamed, name) is array
        assert np.shares_memory(getattr(motion[2:5], name), array)


def test_replace_keeps_the_rest():
    motion = annotated()
    faster = dataclasses.replace(motion, fps=60)
    assert faster.fps == 60.0
    assert isinstance(faster.fps, float)
    assert faster.contacts is motion.contacts
    assert faster.labels is motion.labels
    assert faster.source is motion.source
    assert motion.fps == 30.0
    with pytest.raises(InvalidValue, match="fps"):
        dataclasses.replace(motion, fps=-1)


def test_equality_is_identity_and_fields_are_fixed():
    a, b = make(), make()
    assert a != b
    assert a == a
    assert len({a, b}) == 2
    with pytest.raises(dataclasses.FrozenInstanceError):
        a.fps = 60.0
    with pytest.raises((AttributeError, TypeError)):
        a.mood = "cheerful"


@pytest.mark.parametrize("through", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_are_values_too(through):
    motion = annotated()
    again = through(motion)
    assert again.name == motion.name
    assert again.labels == motion.labels
    assert again.source.evidence == motion.source.evidence
    arrays = [(getattr(again, name), getattr(motion, name)) for name in ARRAYS]
    arrays.append((again.contacts.mask, motion.contacts.mask))
    arrays.append((again.contacts.points[1].offset, motion.contacts.points[1].offset))
    arrays.append((again.source.channel_values, motion.source.channel_values))
    for copied, original in arrays:
        np.testing.assert_array_equal(copied, original)
        assert not copied.flags.writeable


def test_repr():
    motion = make(name="walk")
    assert len(motion) == F
    assert motion.duration == pytest.approx(11 / 30)
    assert repr(motion) == "<Motion 'walk': 12 frames at 30 Hz, 3 joints>"
    assert motion[0].duration == 0.0


# --- Cutting out


@pytest.mark.parametrize(
    ("run", "start", "stop"),
    [
        (slice(3, 7), 3, 7),
        (slice(None), 0, F),
        (slice(5, None), 5, F),
        (slice(None, -2), 0, F - 2),
        (slice(-4, -1), F - 4, F - 1),
        (slice(3, 99), 3, F),
        (slice(3, 7, 1), 3, 7),
        (0, 0, 1),
        (F - 1, F - 1, F),
        (-1, F - 1, F),
        (-F, 0, 1),
        (np.int64(4), 4, 5),
    ],
)
def test_a_run_of_frames_keeps_everything_that_belongs_to_it(run, start, stop):
    motion = annotated()
    part = motion[run]
    assert len(part) == stop - start
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(part, name), getattr(motion, name)[start:stop])
    np.testing.assert_array_equal(part.contacts.mask, motion.contacts.mask[start:stop])
    assert part.contacts.points is motion.contacts.points
    np.testing.assert_array_equal(part.source.channel_values, motion.source.channel_values[start:stop])
    assert part.source.path == "walk.bvh"
    for name in ("walk", "turn"):
        np.testing.assert_array_equal(part.labels.mask(name, len(part)), motion.labels.mask(name, F)[start:stop])
    assert (part.name, part.fps, part.skeleton) == (motion.name, motion.fps, motion.skeleton)
    np.testing.assert_array_equal(part.world().positions, motion.world().positions[start:stop])


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (F, "frame must be from 0 to 11, or from -"),
        (-F - 1, "frame must be from 0 to 11, or from -"),
        (1.0, "a frame must be an integer, not 1.0"),
        ("walk", "a frame must be an integer, not 'walk'"),
        ((1, 2), r"a frame must be an integer, not \(1, 2\)"),
        (slice(0, 8, 2), "the step of a frame slice must be 1, not 2; use resample to change the frame rate"),
        (slice(None, None, -1), "the step of a frame slice must be 1, not -1; use resample to change the frame rate"),
        (slice(None, None, 0), "the step of a frame slice must be 1, not 0; use resample to change the frame rate"),
        (slice(0.5, 1.0), r"frames must be integers, not 0.5 to 1.0; the frame at a time in seconds is "),
        (slice(7, 3), r"\[7:3\] selects no frames; use 0 <= start < stop <= 12"),
        (slice(4, 4), r"\[4:4\] selects no frames; use 0 <= start < stop <= 12"),
        (slice(99, None), r"\[99:\] selects no frames; use 0 <= start < stop <= 12"),
    ],
)
def test_invalid_frame_ranges_are_refused(run, message):
    with pytest.raises(InvalidValue, match=message):
        make()[run]


def test_going_through_a_motion_gives_its_frames():
    motion = make()
    frames = list(motion)
    assert len(frames) == F
    np.testing.assert_array_equal(np.concatenate([frame.rotations for frame in frames]), motion.rotations)
    assert [len(frame) for frame in reversed(motion)] == [1] * F


def test_rows_of_a_file_are_dropped_when_the_length_no_longer_fits():
    motion = annotated(contacts=None, labels=Labels())
    longer = dataclasses.replace(
        motion,
        **{name: np.concatenate([getattr(motion, name), getattr(motion, name)]) for name in ARRAYS},
    )
    assert longer.source.channel_values is None
    assert longer.source.path == "walk.bvh"
    assert motion.source.channel_values is not None


# --- Between frames


@pytest.mark.parametrize("fps", [30.0, 120.0, 59.94, 1 / 0.0083333])
def test_frame_times_give_just_the_frames(fps):
    motion = annotated(fps=fps)
    at = motion.at(np.arange(F) / fps)
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(at, name), getattr(motion, name))
    one = motion.at(motion.duration)
    assert len(one) == 1
    np.testing.assert_array_equal(one.rotations[0], motion.rotations[-1])


def test_halfway_is_the_middle_of_the_arc_and_of_the_line():
    motion = annotated()
    middle = motion.at([2.5 / 30, 6.5 / 30])
    for k, f in enumerate((2, 6)):
        np.testing.assert_allclose(middle.root_positions[k], motion.root_positions[f : f + 2].mean(axis=0), atol=1e-12)
        np.testing.assert_allclose(middle.bone_offsets[k], motion.bone_offsets[f : f + 2].mean(axis=0), atol=1e-12)
        apart = quat.angle_between(motion.rotations[f], motion.rotations[f + 1])
        for end in (f, f + 1):
            np.testing.assert_allclose(
                quat.angle_between(motion.rotations[end], middle.rotations[k]), apart / 2, atol=1e-9
            )


def test_a_steady_turn_is_steady_between_frames():
    angles = np.linspace(0.0, 2.0, F)
    rotations = quat.identity((F, 3))
    rotations[:, 1] = quat.from_axis_angle([0.0, 0.6, 0.8], angles)
    motion = make(rotations=rotations)
    times = np.random.default_rng(0).uniform(0, motion.duration, 50)
    expected = quat.from_axis_angle([0.0, 0.6, 0.8], 2.0 * times / motion.duration)
    np.testing.assert_allclose(motion.at(times).rotations[:, 1], expected, rtol=0, atol=1e-12)


def test_between_frames_the_short_way_whatever_the_signs():
    motion = make()
    flipped = dataclasses.replace(motion, rotations=motion.rotations * np.where(np.arange(F) % 2, -1, 1)[:, None, None])
    a, b = motion.at([0.11, 0.2]).rotations, flipped.at([0.11, 0.2]).rotations
    np.testing.assert_allclose(quat.angle_between(a, b), 0, atol=1e-9)


def test_times_may_be_in_any_order_and_annotations_are_dropped():
    motion = annotated()
    at = motion.at([0.2, 0.1, 0.1])
    assert len(at) == 3
    np.testing.assert_array_equal(at.rotations[1], at.rotations[2])
    assert at.contacts is None
    assert len(at.labels) == 0
    assert at.source.channel_values is None
    assert at.source.path == "walk.bvh"
    assert (at.fps, at.name) == (30.0, "walk")


def test_one_frame_has_one_time():
    motion = make()[3]
    np.testing.assert_array_equal(motion.at(0.0).rotations, motion.rotations)
    with pytest.raises(InvalidValue, match="seconds must be from 0 to 0 s, not 0.1 s"):
        motion.at(0.1)


@pytest.mark.parametrize(
    ("times", "message"),
    [
        (-0.01, "seconds must be from 0 to 0.366667 s, not -0.01 s"),
        ([0.1, 0.4], "seconds must be from 0 to 0.366667 s, not 0.1 to 0.4 s"),
        ([], "seconds must have at least one time, got none"),
        (np.nan, "seconds must be finite, not nan at index"),
        ([[0.1, 0.2]], r"seconds must have shape"),
        (
            [[0.1, 0.2], [0.3]],
            "seconds must be an array of numbers, not rows of unequal length",
        ),
        ("soon", "seconds must be an array of numbers, but it contains 'soon'"),
    ],
)
def test_times_that_are_none_are_refused(times, message):
    with pytest.raises(InvalidValue, match=message):
        make().at(times)


# --- Across the floor


@LAWS
@given(rigid2ds())
def test_moved_moves_every_joint_by_the_transform(transform):
    motion = annotated()
    moved = motion.moved(transform)
    before, after = motion_matrices(motion), motion_matrices(moved)
    yaw = turn([0.0, 1.0, 0.0], transform[0])
    np.testing.assert_allclose(
        after[..., :3, 3], before[..., :3, 3] @ yaw.T + [transform[1], 0, transform[2]], rtol=0, atol=1e-12
    )
    np.testing.assert_allclose(after[..., :3, :3], yaw @ before[..., :3, :3], rtol=0, atol=1e-12)
    np.testing.assert_allclose(
        moved.world().positions, rigid2d.apply(transform, motion.world().positions), rtol=0, atol=1e-12
    )


@LAWS
@given(st.tuples(rigid2ds(), rigid2ds()))
def test_moved_composes(transforms):
    first, second = transforms
    motion = make()
    twice = motion.moved(first).moved(second)
    once = motion.moved(rigid2d.compose(second, first))
    np.testing.assert_allclose(twice.world().positions, once.world().positions, rtol=0, atol=1e-11)
    np.testing.assert_allclose(quat.angle_between(twice.rotations, once.rotations), 0, atol=1e-7)


def test_moved_keeps_annotations_and_the_original():
    motion = annotated()
    cached = np.array(motion.rotations)
    moved = motion.moved((0.3, 1.0, 2.0))
    assert moved.contacts is motion.contacts
    assert moved.labels is motion.labels
    assert moved.bone_offsets is motion.bone_offsets
    np.testing.assert_array_equal(motion.rotations, cached)
    np.testing.assert_array_equal(moved.rotations[:, 1:], motion.rotations[:, 1:])


@pytest.mark.parametrize(
    ("transform", "message"),
    [
        ((1.0, 2.0), r"transform must have shape \(3,\), not \(2,\)"),
        ((1.0, np.nan, 0.0), r"transform must be finite, not nan at index"),
    ],
)
def test_invalid_transforms_are_refused(transform, message):
    with pytest.raises(InvalidValue, match=message):
        make().moved(transform)


# --- Where the character is


def under_a_still_root():
    """Joint 0 stays at the origin and the hips travel by their offset, as some exporters write it."""
    rng = np.random.default_rng(5)
    skeleton = Skeleton(
        ["Reference", "Hips", "Spine", "LeftUpLeg", "LeftLeg", "LeftFoot", "RightUpLeg", "RightLeg", "RightFoot"],
        [-1, 0, 1, 1, 3, 4, 1, 6, 7],
        [[0, 0, 0], [0, 0.9, 0], [0, 0.2, 0]] + [[0.1, 0, 0], [0, -0.4, 0], [0, -0.4, 0]] * 2,
        {"hips": "Hips"},
    )
    bones = np.tile(skeleton.offsets, (F, 1, 1))
    bones[:, 1] += rng.normal(size=(F, 3)) + np.arange(F)[:, None] * [0.0, 0.0, 0.1]
    return Motion(skeleton, np.zeros((F, 3)), quat.normalize(rng.normal(size=(F, 9, 4))), 30.0, bone_offsets=bones)


def test_travel_is_the_hips_path_whichever_joint_carries_them():
    motion = under_a_still_root()
    np.testing.assert_allclose(motion.travel, motion_matrices(motion)[:, 1, :3, 3], rtol=0, atol=1e-12)
    assert np.ptp(motion.travel[:, 2]) > 0.5
    simple = make()
    assert "hips" in simple.skeleton.with_roles({"hips": "Hips"}).roles
    at_root = dataclasses.replace(simple, skeleton=simple.skeleton.with_roles({"hips": "Hips"}))
    np.testing.assert_array_equal(at_root.travel, simple.root_positions)
    assert not motion.travel.flags.writeable
    assert not at_root.travel.flags.writeable


def test_moved_carries_hips_that_travel_under_a_still_root():
    motion = under_a_still_root()
    transform = (1.1, 3.0, -2.0)
    moved = motion.moved(transform)
    np.testing.assert_allclose(moved.travel, rigid2d.apply(transform, motion.travel), rtol=0, atol=1e-12)
    np.testing.assert_allclose(
        moved.world().positions, rigid2d.apply(transform, motion.world().positions), rtol=0, atol=1e-12
    )
    assert moved.bone_offsets is motion.bone_offsets


def test_travel_without_hips_explains_how_to_map_them():
    motion = Motion(Skeleton(["a", "b"], [-1, 0], np.zeros((2, 3))), np.zeros((1, 3)), quat.identity((1, 2)), 30.0)
    with pytest.raises(JointNotFound, match="role 'hips' was not found"):
        _ = motion.travel


# --- Where it came from


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"unit": 0.0}, "unit must be a finite, positive number of meters, not 0.0"),
        ({"unit": np.nan}, "unit must be a finite, positive number of meters, not nan"),
        ({"up": "north"}, "`up=` must be one of x, y, z, -x, -y, -z, not 'north'"),
        ({"floor": np.inf}, "floor must be a finite height in meters, not inf"),
        ({"file_offsets": np.zeros(3)}, r"file_offsets must have shape \(any, 3\), not \(3,\)"),
        ({"channel_values": np.zeros(3)}, r"channel_values must have shape \(any, any\), not \(3,\)"),
    ],
)
def test_bad_sources_are_refused(changes, message):
    with pytest.raises(InvalidValue, match=message):
        Source(**changes)


def test_a_source_is_a_value_too():
    rows, names = np.ones((4, 2)), ["a", "b"]
    source = Source(channel_values=rows, file_offsets=np.zeros((2, 3)), file_names=names, channels=[["Xposition"], []])
    rows[:] = 5.0
    names.append("c")
    np.testing.assert_array_equal(source.channel_values, np.ones((4, 2)))
    assert source.file_names == ("a", "b")
    assert source.channels == (("Xposition",), ())
    for array in (source.channel_values, source.file_offsets):
        assert not array.flags.writeable
    step = source.with_step(op="mirror", axis="x")
    assert step.provenance == ({"op": "mirror", "axis": "x"},)
    assert source.provenance == ()
    assert step.with_step(op="cut").provenance[1] == {"op": "cut"}
    assert np.shares_memory(source.crop(1, 3).channel_values, source.channel_values)
    assert Source().crop(1, 3).channel_values is None


# --- What builders and players rely on


class Shelf:
    names = ("walk",)

    def motion(self, i):
        return make(name=self.names[i])

    def content_key(self, i):
        return f"{self.names[i]}-1"


class Still:
    fps = 30.0

    def request(self, **command):
        self.command = command

    def frame(self):
        return make()[0]


def test_clips_and_streams_are_recognized_by_their_methods():
    assert isinstance(Shelf(), Clips)
    assert isinstance(Still(), Stream)
    assert not isinstance(Shelf(), Stream)
    assert not isinstance([make()], Clips)
