"""The stream gives the frames of the batch for any chunk size, after a fixed delay, in bounded memory."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from marey.clean.cleanup import clean
from marey.clean.points import contact_points
from marey.clean.settings import CleanSettings, Target
from marey.clean.stream import CleanFrame, CleanStream, clean_stream
from marey.core.contacts import Contacts
from marey.core.motion import Motion
from marey.errors import InvalidValue
from tests.clean.puppets import Foot, puppet, standing
from tests.clean.skated import skated, walk
from tests.tiers import shorten


def pushed(stream: CleanStream, motion: Motion, sizes: list[int]) -> list[CleanFrame]:
    out: list[CleanFrame] = []
    start = 0
    while start < len(motion):
        for size in sizes:
            part = slice(start, start + size)
            out += stream.push(motion.root_positions[part], motion.rotations[part], motion.contacts.mask[part])
            start += size
            if start >= len(motion):
                break
    return out + stream.finish()


def assert_same(frames: list[CleanFrame], batch: Motion) -> None:
    assert [frame.number for frame in frames] == list(range(len(batch)))
    offsets = batch.skeleton.offsets if batch.bone_offsets is None else batch.bone_offsets
    np.testing.assert_allclose([f.root_position for f in frames], batch.root_positions, atol=1e-9)
    np.testing.assert_allclose([f.rotations for f in frames], batch.rotations, atol=1e-9)
    wanted = np.broadcast_to(offsets, (len(batch), *offsets.shape[-2:]))
    np.testing.assert_allclose([f.bone_offsets for f in frames], wanted, atol=1e-9)


@settings(deadline=None, max_examples=shorten(15), derandomize=True)
@given(sizes=st.lists(st.integers(1, 400), min_size=1, max_size=5))
def test_any_chunking_gives_the_batch(sizes: list[int]) -> None:
    motion = skated(walk(6.0))
    stream = clean_stream(motion.skeleton, motion.fps, motion.contacts.points, floor=0.0)
    assert_same(pushed(stream, motion, sizes), clean(motion))


OTHERS = [
    CleanSettings(smooth=False),
    CleanSettings(gap=0.0, plant_window=0.0, orientation_window=0.0, body_window=0.0, fade_window=0.0),
    CleanSettings(plant_window=0.5, fade_window=0.1, roll="flat", max_stretch=0.0),
]


@pytest.mark.parametrize("chosen", OTHERS)
def test_other_settings_give_the_batch(chosen: CleanSettings) -> None:
    motion = skated(walk(3.0))
    stream = clean_stream(motion.skeleton, motion.fps, motion.contacts.points, floor=0.0, settings=chosen)
    assert_same(pushed(stream, motion, [1]), clean(motion, settings=chosen))


def test_released_points_are_those_of_the_batch() -> None:
    motion = skated(walk(4.0), drift=(0.2, 0.0, 0.3))
    chosen = CleanSettings(max_pull=0.03)
    stream = clean_stream(motion.skeleton, motion.fps, motion.contacts.points, floor=0.0, settings=chosen)
    released = np.array([frame.released for frame in pushed(stream, motion, [7])])
    assert released.any()
    np.testing.assert_array_equal(motion.contacts.mask & ~released, clean(motion, settings=chosen).contacts.mask)


def test_targets_give_the_batch() -> None:
    motion = walk(4.0)
    hand = motion.world().positions[100, motion.skeleton.roles["right_hand"]] + [0.0, 0.1, 0.0]
    targets = [Target("right_hand", 96, 104, hand)]
    stream = clean_stream(motion.skeleton, motion.fps, motion.contacts.points, floor=0.0, targets=targets)
    assert_same(pushed(stream, motion, [3, 50]), clean(motion, targets=targets))


def hanging(fps: float, pitch: float) -> Motion:
    """A left foot that rolls off until it hangs down by `pitch`, and rises by 3 cm while its ball is still planted.

    Its rise comes to rest just as the plant ends, so that the adjustment, which goes on as it went, puts it too deep.
    """
    keys = [(0.0, 0.0, 0.0, 0.0), (0.3, 0.0, 0.0, 0.0), (0.6, 0.0, 0.0, pitch)]
    keys += [(0.7, 0.03, 0.0, pitch), (0.9, 0.1, 0.1, pitch), (1.6, 0.12, 0.5, 0.3)]
    motion = puppet(Foot([(t, 0.1, *rest) for t, *rest in keys]), standing(-0.1), (0.0, 0.93, 0.0), 1.6, fps)
    points = contact_points(motion.skeleton)
    mask = np.array([[point.name.startswith("right") for point in points]] * len(motion))
    mask[: round(0.3 * fps), [point.name == "left_heel" for point in points]] = True
    mask[: round(0.7 * fps), [point.name == "left_ball" for point in points]] = True
    return replace(motion, contacts=Contacts(points, mask), source=replace(motion.source, floor=0.0))


_SHORT = CleanSettings(plant_window=0.1, orientation_window=0.1, body_window=0.1, fade_window=0.2)


@pytest.mark.parametrize("chosen", [CleanSettings(), _SHORT])
@pytest.mark.parametrize("fps", [30.0, 60.0, 120.0])
@pytest.mark.parametrize("pitch", [1.4, 1.5, 1.6])
def test_a_foot_that_hangs_when_it_is_let_go_does_not_jump_aside(
    pitch: float, fps: float, chosen: CleanSettings
) -> None:
    motion = hanging(fps, pitch)
    result = clean(motion, settings=chosen)
    ball = result.skeleton.roles["left_ball"]
    own, path = (each.world().positions[:, ball] for each in (motion, result))
    assert path[:, 1].min() > -1e-9
    # It moves along the floor as smoothly as in the source, not with up to 17 times the acceleration.
    own_bend, bend = (np.linalg.norm(np.diff(each[:, [0, 2]], 2, axis=0), axis=1).max() for each in (own, path))
    assert bend < 1.25 * own_bend
    again = clean(result, settings=chosen)
    np.testing.assert_allclose(again.world().positions, result.world().positions, atol=1e-6)
    stream = clean_stream(result.skeleton, fps, motion.contacts.points, floor=0.0, settings=chosen)
    frames = stream.push(motion.root_positions, motion.rotations, motion.contacts.mask, motion.bone_offsets)
    assert_same(frames + stream.finish(), result)


def test_stretched_bones_are_taken_in() -> None:
    once = clean(skated(walk(3.0)))
    stream = clean_stream(once.skeleton, once.fps, once.contacts.points, floor=0.0)
    frames = stream.push(once.root_positions, once.rotations, once.contacts.mask, once.bone_offsets) + stream.finish()
    assert_same(frames, clean(once))


def test_the_delay_is_fixed() -> None:
    motion = walk(4.0)
    stream = clean_stream(motion.skeleton, motion.fps, motion.contacts.points, floor=0.0)
    assert stream.delay < 1.8 * motion.fps
    for i in range(len(motion)):
        got = stream.push(motion.root_positions[i], motion.rotations[i], motion.contacts.mask[i])
        assert [frame.number for frame in got] == ([i - stream.delay] if i >= stream.delay else [])
    assert len(stream.finish()) == stream.delay


@pytest.mark.slow("cleans 100,000 frames")
def test_neither_memory_nor_work_grow_over_100000_frames() -> None:
    motion = walk(20.0)
    stream = clean_stream(motion.skeleton, motion.fps, motion.contacts.points, floor=0.0)
    pipeline = stream._pipeline
    held = [table.nbytes for table in pipeline.tables]
    most, used, given = 0, [], 0
    tracemalloc.start()
    try:
        while given + stream.delay < 100_000:
            given += len(stream.push(motion.root_positions, motion.rotations, motion.contacts.mask))
            most = max(most, pipeline.n)
            # Steps use only frames in the tables: unfinished ones, those still needed, and one delivery.
            assert pipeline.n - pipeline.finished <= stream.delay
            used.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert [table.nbytes for table in pipeline.tables] == held
    assert most <= pipeline.capacity
    assert max(used[10:]) - used[10] < 10_000


def test_late_frames_are_as_good_as_early_ones() -> None:
    motion = skated(walk(4.0))
    stream = clean_stream(motion.skeleton, motion.fps, motion.contacts.points, floor=0.0)
    rounds = 30
    frames: list[CleanFrame] = []
    for _ in range(rounds):
        frames += stream.push(motion.root_positions, motion.rotations, motion.contacts.mask)
    frames += stream.finish()
    n = len(motion)
    assert [frame.number for frame in frames] == list(range(rounds * n))
    early, late = (np.array([f.rotations for f in frames[k * n : (k + 1) * n]]) for k in (2, rounds - 2))
    np.testing.assert_allclose(late, early, atol=1e-3)  # the usual knee axis is computed from all frames so far


def test_bad_input() -> None:
    motion = walk(1.0)
    make = motion.skeleton, motion.fps, motion.contacts.points
    with pytest.raises(InvalidValue, match="floor must be a finite number of meters or None, not inf"):
        clean_stream(*make, floor=np.inf)
    stream = clean_stream(*make, floor=0.0)
    with pytest.raises(InvalidValue, match=r"rotations must have shape \(27, 4\)"):
        stream.push(np.zeros(3), np.zeros((5, 4)), np.zeros(4))
    with pytest.raises(InvalidValue, match="rotations must be finite"):
        stream.push(np.zeros(3), np.full((27, 4), np.nan), np.zeros(4))
    with pytest.raises(InvalidValue, match="unit quaternions"):
        stream.push(np.zeros(3), np.zeros((27, 4)), np.zeros(4))
    with pytest.raises(InvalidValue, match=r"contacts must have shape \(4\)"):
        stream.push(motion.root_positions[0], motion.rotations[0], np.zeros(9))
    assert stream.finish() == []
    with pytest.raises(InvalidValue, match="the stream is finished"):
        stream.push(motion.root_positions[0], motion.rotations[0], motion.contacts.mask[0])
