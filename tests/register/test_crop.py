"""Automatic crops: gait by its half cycles, anything else by the grid."""

from dataclasses import replace

import numpy as np
import pytest

from marey.compare import point_clouds
from marey.core import Motion
from marey.edit import mirror
from marey.errors import NotBlendable
from marey.maths import rigid2d
from marey.register.crop import crop_gaits, find_crops, find_gait_crops
from marey.register.ends import refine_crops
from marey.register.loops import count_half_cycles, find_loop_travel, shift_loop
from marey.register.steps import find_steps
from marey.samples import sample
from tests.register.takes import loop


def crops_of(*motions: Motion) -> tuple[np.ndarray, str]:
    clouds = [point_clouds(motion) for motion in motions]
    return find_crops(motions, clouds, slope_limit=2, max_distance=0.22, pivot=None)


@pytest.mark.parametrize("name", ["walk", "run", "sneak"])
def test_steps_alternate_and_keep_their_phase(name: str) -> None:
    result = sample(name, seconds=6.0)
    steps = find_steps(result.motion)
    assert len(steps) >= 5
    assert (steps.feet[1:] != steps.feet[:-1]).all()
    # The phase counts strides from one strike of the left heel to the next.
    phase = np.interp(steps.frames, np.arange(len(result.phase)), result.phase)
    assert np.diff(phase) == pytest.approx(0.5, abs=0.06)
    left = phase[steps.feet == 0] % 1.0
    assert ((left > 0.6) & (left < 1.0)).all()  # shortly before its strike


def test_steps_do_not_depend_on_rotation_and_mirroring() -> None:
    motion = sample("run").motion
    steps = find_steps(motion)
    moved = find_steps(motion.moved((2.0, 40.0, -7.0)))
    assert moved.frames == pytest.approx(steps.frames, abs=1e-6)
    assert (find_steps(mirror(motion)).feet == 1 - steps.feet).all()
    assert (find_steps(motion, point_clouds(motion)).frames == steps.frames).all()


@pytest.mark.parametrize("name", ["stand", "kick", "punch", "reach"])
def test_no_half_cycle_without_gait(name: str) -> None:
    assert len(find_steps(sample(name).motion)) < 2


@pytest.mark.parametrize(("cut_a", "cut_b"), [((0, 240), (0, 160)), ((13, 200), (31, 170)), ((40, 210), (5, 120))])
def test_gait_is_cut_at_the_same_phase_with_as_many_half_cycles_as_can_be(
    cut_a: tuple[int, int], cut_b: tuple[int, int]
) -> None:
    a, b = sample("walk", seconds=4.0), sample("run", rng=1, seconds=3.0)
    takes = [a.motion[cut_a[0] : cut_a[1]], b.motion[cut_b[0] : cut_b[1]]]
    crops, note = crops_of(*takes)
    starts, counts = [], []
    for result, cut, (start, stop) in zip((a, b), (cut_a, cut_b), crops, strict=True):
        phase = result.phase[cut[0] : cut[1]]
        starts.append(phase[start])
        counts.append((phase[stop - 1] - phase[start]) * 2)
    off = (starts[0] - starts[1] + 0.5) % 1.0 - 0.5
    assert abs(off) < 0.12  # strides: a left foot corresponds to a left foot
    assert counts[0] == pytest.approx(counts[1], abs=0.25)
    n_half = round(counts[0])
    assert f"{n_half} half cycles" in note
    steps = [find_steps(take) for take in takes]
    most = max(min(len(each) - 1 - (each.feet[0] != foot) for each in steps) for foot in (0, 1))
    assert n_half == most


def test_of_extra_steps_the_most_similar_are_used() -> None:
    long = sample("walk_to_run", seconds=6.0).motion
    late = long[-100:]
    crops, _ = crops_of(long, late)
    assert crops[0, 0] > 200  # the walk at the beginning has no counterpart
    assert abs((crops[0, 0] - (len(long) - 100)) - crops[1, 0]) <= 1


def test_left_is_never_paired_with_right() -> None:
    walk = sample("walk", variation=0.0, seconds=4.0).motion
    crops, _ = crops_of(walk, mirror(walk))
    # The mirrored walk does the same half a stride later.
    steps = find_steps(walk)
    half = float(np.diff(steps.frames).mean())
    assert abs(abs(crops[0, 0] - crops[1, 0]) - half) < 2


def test_many_at_once_and_the_order_does_not_matter() -> None:
    motions = [sample("walk", rng=k, speed=1.0 + 0.1 * k, seconds=3.0 + 0.2 * k).motion for k in range(5)]
    crops, _ = crops_of(*motions)
    back, _ = crops_of(*motions[::-1])
    assert np.abs(crops - back[::-1]).max() <= 2
    steps = [find_steps(motion[a:b]) for motion, (a, b) in zip(motions, crops, strict=True)]
    assert len({len(each) for each in steps}) <= 2  # frames at the very ends may be lost to rounding


@pytest.mark.parametrize("name", ["kick", "punch", "reach"])
def test_other_motions_are_cut_by_the_grid(name: str) -> None:
    a, b = sample(name, rng=0).motion, sample(name, rng=1).motion
    whole, note = crops_of(a, b)
    assert whole.tolist() == [[0, len(a)], [0, len(b)]]
    assert "not cropped" in note
    lost = len(b) // 5
    crops, note = crops_of(a, b[:-lost])
    assert "same poses" in note
    assert crops[1, 1] >= len(b) - lost - 3
    assert abs(crops[0, 1] - len(a) * (1 - lost / len(b))) < 0.12 * len(a)


def test_nothing_in_common_is_refused_with_the_remedy() -> None:
    with pytest.raises(NotBlendable, match=r"no stretch of 'kick' that lasts at least .* s .*use `crop=None`"):
        crops_of(sample("kick").motion, sample("walk").motion)


def test_gait_crop_needs_gait_in_all_motions() -> None:
    motions = [sample("kick").motion, sample("walk").motion]
    assert (
        find_gait_crops([find_steps(motion) for motion in motions], [point_clouds(motion) for motion in motions])
        is None
    )


def test_ends_are_moved_to_frames_that_fit() -> None:
    walk = sample("walk", variation=0.0, fps=120.0).motion
    slow = walk.at(np.arange(0.0, walk.duration, 0.9 / 120.0))  # frame k is frame 0.9 k of the other
    clouds = [point_clouds(walk), point_clouds(slow)]
    crops = refine_crops(np.array([[92, 401], [102, 446]]), clouds, 0)
    first, last = crops[:, 0], crops[:, 1] - 1
    assert abs(first[0] - 0.9 * first[1]) <= 0.11
    assert abs(last[0] - 0.9 * last[1]) <= 0.11
    whole = np.array([[0, len(walk)], [0, len(slow)]])
    assert (refine_crops(whole, clouds, 0) == whole).all()


def test_loops_know_their_travel_and_can_begin_anywhere() -> None:
    result = loop("walk", 0.5)
    clouds = point_clouds(result)
    noted = np.array(result.source.provenance[-1]["travel"])
    assert find_loop_travel(result, clouds) == pytest.approx(noted, abs=1e-12)
    forgotten = replace(result, source=replace(result.source, provenance=()))
    assert find_loop_travel(forgotten, clouds) == pytest.approx(noted, abs=3e-3)
    assert count_half_cycles(result, noted) == 2
    later = shift_loop(result, 20, noted)
    assert (later.root_positions[:-20] == result.root_positions[20:]).all()
    carried = rigid2d.apply(noted, result.world().positions[:20])
    assert np.abs(later.world().positions[-20:] - carried).max() < 1e-12
    assert find_loop_travel(later, point_clouds(later)) == pytest.approx(noted, abs=3e-3)
    assert result.contacts is not None
    assert later.contacts is not None
    assert (np.roll(result.contacts.mask, -20, axis=0) == later.contacts.mask).all()


def test_walks_are_cropped_around_their_middle_to_the_same_phase() -> None:
    walks = [sample("walk", seconds=seconds, turn_rate=rate).motion for seconds, rate in ((5.0, 0.6), (3.5, 0.0))]
    walks[1] = walks[1][17:]  # starts at another phase of the cycle
    cropped, note = crop_gaits(walks)
    steps = [find_steps(motion) for motion in walks]
    counts, feet = set(), set()
    for walk, part, own in zip(walks, cropped, steps, strict=True):
        start, stop = part.source.provenance[-1]["start"], part.source.provenance[-1]["stop"]
        inside = [k for k, frame in enumerate(own.frames) if start - 1 <= frame <= stop]
        counts.add(len(inside) - 1)
        feet.add(int(own.feet[inside[0]]))
        half_cycle = np.median(np.diff(own.frames))
        assert abs(0.5 * (start + stop) - 0.5 * len(walk)) <= half_cycle
    assert len(counts) == len(feet) == 1
    assert f"cropped to {counts.pop()} half cycles" in note


def test_walks_with_something_before_or_after_are_not_cropped() -> None:
    walk = sample("walk", seconds=4.0).motion
    for name in ("kick", "stand"):
        assert crop_gaits([walk, sample(name).motion]) is None
    assert crop_gaits([walk, sample("start_and_stop").motion]) is None
    assert crop_gaits([walk, walk[:30]]) is None
