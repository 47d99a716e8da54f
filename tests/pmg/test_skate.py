"""Planted feet: in blends of gait cycles, across transitions, and in streams before cleanup."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from marey.control import RandomWalk
from marey.maths import quat, rigid2d
from marey.measure import measure
from marey.pmg.costs import sole_points
from marey.pmg.gait_cycles import grid_phases
from marey.pmg.gait_events import EVENTS, find_event_phases, find_usual_phases, warp_phases
from marey.pmg.seam import blend_frames, find_seam, place_clip
from marey.pmg.stance import make_soles
from tests.pmg.characters import small_walker, turn_space, walks
from tests.twins import stance as twin


def poses(n=12, seed=0):
    """Return random poses of the walks' skeleton, and its contact points."""
    walk = walks()[0]
    rng = np.random.default_rng(seed)
    turns = quat.normalize(rng.normal(size=(n, len(walk.skeleton), 4)))
    return walk.skeleton, walk.contacts.points, turns, rng


def test_points_of_feet_are_where_forward_kinematics_has_them():
    skeleton, points, turns, _ = poses()
    soles = make_soles(skeleton, points)
    np.testing.assert_allclose(soles.points(turns), twin.points_from_root(skeleton, points, turns), atol=1e-12)
    walk = walks()[1]
    found = make_soles(walk.skeleton, walk.contacts.points).points(walk.rotations) + walk.root_positions[:, None]
    np.testing.assert_allclose(found, sole_points(walk.world(), walk.contacts), atol=1e-9)


def test_points_of_feet_follow_moving_bones():
    skeleton, points, turns, rng = poses()
    bones = np.ascontiguousarray(skeleton.offsets + 0.01 * rng.normal(size=(len(turns), len(skeleton), 3)))
    found = make_soles(skeleton, points).points(turns, bones)
    for f in range(len(turns)):
        one = make_soles(skeleton, points).points(turns[f : f + 1], bones[f : f + 1])
        np.testing.assert_allclose(found[f], one[0], atol=1e-12)


def test_kernels_do_as_their_slow_twins():
    skeleton, points, turns, rng = poses(20, 3)
    soles = make_soles(skeleton, points)
    at = soles.points(turns)
    moves = rng.normal(size=(19, 4))
    wanted, levels = rng.normal(size=(19, len(points), 2)), rng.uniform(size=(20, len(points)))
    steps = soles.steps(at, moves)
    np.testing.assert_allclose(steps, twin.steps_of(at, moves), atol=1e-12)
    np.testing.assert_allclose(
        soles.corrections(steps, wanted, levels), twin.corrections(steps, wanted, levels), atol=1e-12
    )
    np.testing.assert_allclose(soles.carry(at, wanted, levels), twin.carry(at, wanted, levels, 0.01**2), atol=1e-9)


def test_a_sliding_and_turning_body_is_moved_back_to_its_plants():
    skeleton, points, _, rng = poses()
    soles = make_soles(skeleton, points)
    still = rng.uniform(-0.3, 0.3, (1, len(points), 3))
    slide = np.cumsum(rng.normal(scale=0.01, size=(15, 3)), axis=0)
    moved = np.stack([rigid2d.apply(each, still[0]) for each in slide])
    laid = soles.carry(moved, np.zeros((14, len(points), 2)), np.ones((15, len(points))))
    back = np.stack([rigid2d.apply(a, b) for a, b in zip(laid, moved, strict=True)])
    assert np.abs(back - moved[0])[..., [0, 2]].max() < 0.1 * np.abs(moved - moved[0]).max()


def test_feet_are_moved_as_wanted_and_stay_turned_as_they_are():
    walk = walks()[2]
    soles = make_soles(walk.skeleton, walk.contacts.points)
    assert soles.legs.shape == (2, 3)
    assert soles.owned.sum() == len(walk.contacts.points)
    rng = np.random.default_rng(1)
    turns = walk.rotations.copy()
    points = soles.points(turns)
    shifts = np.repeat(0.004 * rng.normal(size=(len(turns), 2, 3)), 2, axis=1)
    soles.step_legs(turns, points, points + shifts)
    left = shifts - (soles.points(turns) - points)
    feet = [soles.legs[0, 2], soles.legs[1, 2]]
    before, after = walk.world(), replace(walk, rotations=turns).world()
    np.testing.assert_allclose(quat.angle_between(before.rotations[:, feet], after.rotations[:, feet]), 0.0, atol=1e-7)
    others = [joint for joint in range(len(walk.skeleton)) if joint not in soles.legs.ravel()]
    np.testing.assert_array_equal(turns[:, others], walk.rotations[:, others])
    # The rest is the fraction that a leg does not follow: all of it if it is stretched, none if it is bent.
    for k, (hip, knee, ankle) in enumerate(soles.legs):
        at = before.positions
        up, down = at[:, hip] - at[:, knee], at[:, ankle] - at[:, knee]
        cosine = (up * down).sum(axis=1) / (np.linalg.norm(up, axis=1) * np.linalg.norm(down, axis=1))
        bend = np.pi - np.arccos(np.clip(cosine, -1.0, 1.0))
        fraction = 0.2**2 / (bend**2 + 0.2**2)
        np.testing.assert_allclose(left[:, 2 * k], fraction[:, None] * shifts[:, 2 * k], atol=2e-4)


def test_legs_that_are_where_they_should_be_are_left_alone():
    walk = walks()[2]
    soles = make_soles(walk.skeleton, walk.contacts.points)
    turns = walk.rotations.copy()
    points = soles.points(turns)
    soles.step_legs(turns, points, points)
    np.testing.assert_allclose(turns, walk.rotations, atol=1e-7)


def test_feet_of_a_blend_rise_as_the_mean_of_the_feet_does():
    space = turn_space()
    target = np.array([0.35])
    weights = space.weights(target)
    used = np.flatnonzero(weights)
    assert len(used) > 3
    soles = make_soles(space.base.skeleton, space.base.contacts.points)
    heights = [soles.points(space.turns[i])[..., 1] + space.heights[i][:, None] for i in used]
    wanted = np.tensordot(weights[used], np.stack(heights), axes=1)
    result = space(target)
    found = (soles.points(result.rotations) + result.root_positions[:, None])[..., 1]
    time = np.concatenate([[0.0], np.cumsum(np.tensordot(weights[used], space.steps[used, :, 3], axes=1))])
    at = np.arange(len(result)) / result.fps
    for k in range(wanted.shape[1]):
        mean = np.interp(at, time, wanted[:, k])
        low = mean < 0.03
        assert np.abs(found[low, k] - mean[low]).max() < 0.0015
        assert np.abs(found[low, k] - mean[low]).mean() < 0.0002


def test_feet_of_blended_cycles_do_not_slide_in_contact():
    space = turn_space()
    slides = []
    for turn in np.linspace(space.low[0], space.high[0], 9):
        slides.append(measure(space([turn]))["slide_contact"].value)
    assert np.mean(slides) < 0.002  # m/s; 0.0014 to 0.004 with the mean path of the hips


@pytest.mark.parametrize("turns", [(-0.9, -0.3), (0.0, 0.5), (0.8, 0.2)])
def test_a_foot_planted_in_both_clips_is_planted_in_the_transition(turns):
    space = turn_space()
    a, b = space([turns[0]]), space([turns[1]])
    half = 5
    seam = find_seam(a, b, 0.84, 0.14, half, 0, "body")
    frames, following = blend_frames(a, b, seam, half, np.zeros(3))
    soles = make_soles(a.skeleton, a.contacts.points)
    at = soles.points(frames.rotations) + frames.roots[:, None]
    stands = (
        a.contacts.mask[seam.leave - half : seam.leave + half + 1]
        & b.contacts.mask[seam.enter - half : seam.enter + half + 1]
    )
    both = stands[1:] & stands[:-1]
    assert both.sum() >= 8
    slide = np.linalg.norm(np.diff(at, axis=0)[..., [0, 2]], axis=-1)[both] * a.fps
    assert slide.mean() < 0.003
    # In the first frame, the ball of the other foot is still planted in the clip that is left, while the next clip has
    # it some centimeters away. Both feet cannot stand while one moves there, so they share the slide: 0.022 m/s.
    assert slide.max() < 0.025
    assert np.sort(slide)[-2] < 0.004
    # The second clip continues where the transition ends.
    after = place_clip(b, seam.enter + half, seam.enter + half + 2, following)
    left = soles.points(after.rotations) + after.roots[:, None]
    step = np.linalg.norm((left[1] - at[-1])[:, [0, 2]], axis=-1) * a.fps
    assert step[stands[-1] & b.contacts.mask[seam.enter + half + 1]].max(initial=0.0) < 0.012


def test_a_raw_stream_slides_hardly_more_than_its_sources():
    char = small_walker()
    raw = measure(char.stream(RandomWalk(3), feet=None).record(60.0))
    assert raw["slide_contact"].value < 0.0025
    sources = np.mean([measure(each)["skate_ratio"].value for each in walks()])
    assert raw["skate_ratio"].value <= 1.1 * sources


def test_cycles_are_synchronized_by_liftoff_and_touchdown():
    grid = grid_phases(0.2)
    usual = np.array([0.2, 0.82, 0.7, 0.33])
    early = [np.array([0.17]), np.array([-0.16, 0.84]), np.array([0.7]), np.array([0.35])]
    warped = warp_phases(grid, 0.0, early, usual)
    assert (np.diff(warped) > 0.0).all()
    for wanted, own in ((0.2, 0.17), (0.82, 0.84), (0.33, 0.35), (0.0, 0.0), (1.0, 1.0), (1.2, 1.2)):
        assert abs(np.interp(wanted, grid, warped) - own) < 2e-3
    np.testing.assert_allclose(warp_phases(grid, 3.0, [np.zeros(0)] * 4, usual), 3.0 + grid)
    # Events in the wrong order must not make time run backward.
    odd = [np.array([0.26]), np.array([0.82]), np.array([0.7]), np.array([0.27])]
    np.testing.assert_allclose(warp_phases(grid, 0.0, odd, np.array([0.3, 0.82, 0.7, 0.31])), grid, atol=0.07)


def test_events_of_a_walk_occur_once_per_cycle_and_spread_ones_are_ignored():
    from marey.pmg.gait_cycles import compute_phase

    walk = walks()[3]
    phase, first, last = compute_phase(walk)
    found = find_event_phases(walk, phase, first, last)
    n_cycles = phase[last] - phase[first]
    assert len(found) == len(EVENTS)
    for phases in found:
        assert abs(len(phases) - n_cycles) <= 1.5
        assert np.ptp(phases % 1.0 if np.ptp(phases % 1.0) < 0.5 else (phases + 0.5) % 1.0) < 0.05
    assert np.isfinite(find_usual_phases([found])).all()
    rng = np.random.default_rng(0)
    assert np.isnan(find_usual_phases([[rng.uniform(size=50)] * 4])).all()
    assert all(len(each) == 0 for each in find_event_phases(walks_without_contacts(), phase, first, last))


def walks_without_contacts():
    return replace(walks()[3], contacts=None)
