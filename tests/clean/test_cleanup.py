"""Promises of the cleanup: plants hold, nothing is below the floor, nothing jumps, a second run changes nothing."""

from __future__ import annotations

import json
from dataclasses import replace

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import marey
from marey.clean import point_paths
from marey.clean.cleanup import clean, clean_with_report
from marey.clean.result import CleanResult
from marey.clean.settings import CleanSettings, PlantAt, Target
from marey.clean.stream import clean_stream
from marey.core.contacts import ContactPoint, Contacts
from marey.core.motion import Motion
from marey.errors import InvalidValue, JointNotFound, UnknownName
from marey.maths import quat
from marey.samples import sample
from tests.clean.skated import skated, walk, with_hands
from tests.tiers import mostly_slow

HELD = 1e-6
_LEFT_LEG = {"left_upper_leg": "LeftUpLeg", "left_lower_leg": "LeftLeg", "left_foot": "LeftFoot"}
UNDER = 1e-4


def worst_plant(result: CleanResult) -> float:
    """Return the largest distance in meters between a planted point and its plant."""
    contacts = result.motion.contacts
    assert contacts is not None
    paths = point_paths(result.motion, contacts.points)
    gaps = [
        np.linalg.norm(paths[p.start : p.stop, contacts.index(p.point)] - p.position, axis=1).max()
        for p in result.plants
    ]
    return float(max(gaps, default=0.0))


def deepest(motion: Motion) -> float:
    """Return the largest depth in meters of a contact point or a toe below the floor."""
    assert motion.contacts is not None
    assert motion.source.floor is not None
    tips = [motion.skeleton.roles[f"{side}_toe_tip"] for side in ("left", "right")]
    heights = [point_paths(motion, motion.contacts.points)[..., 1], motion.world().positions[:, tips, 1]]
    return motion.source.floor - float(min(h.min() for h in heights))


def bends(motion: Motion) -> np.ndarray:
    """Return how much the rotation of each joint changes between pairs of frames, (F - 2, J) radians."""
    turns = quat.log(quat.mul_inv(motion.rotations[1:], motion.rotations[:-1]))
    return np.linalg.norm(np.diff(turns, axis=0), axis=-1)


def switch_frames(contacts: Contacts) -> list[tuple[int, int]]:
    """Return (column, frame) on both sides of each start and end of a contact, except at the ends of the motion."""
    mask = contacts.mask
    found = [
        (k, f + n) for k in range(mask.shape[1]) for f in np.flatnonzero(mask[1:, k] != mask[:-1, k]) for n in (0, 1)
    ]
    return [(k, int(f)) for k, f in found if 1 <= f < len(mask) - 1]


def jumps(before: Motion, after: Motion) -> np.ndarray:
    """Return by how many m/s the adjustment changes the velocity of a point where its contacts start and end. While the
    other point of the same foot is held, the foot compensates that point's movement in the source; this does not depend
    on the switch and is left out.
    """
    contacts = after.contacts
    assert contacts is not None
    source = point_paths(before, contacts.points)
    second = np.diff(point_paths(after, contacts.points) - source, n=2, axis=0)
    against = -np.diff(source, n=2, axis=0)
    found = []
    for k, f in switch_frames(contacts):
        held = contacts.mask[f - 1 : f + 2, k ^ 1].all()
        found.append(np.linalg.norm(second[f - 1, k] - (against[f - 1, k ^ 1] if held else 0.0)) * after.fps)
    return np.array(found)


LEG = ("upper_leg", "lower_leg", "foot")


def worst_bends(before: Motion, after: Motion) -> dict[str, float]:
    """Return the largest second difference of each leg joint at a switch, as a fraction of that in the source."""
    assert after.contacts is not None
    frames = np.array(sorted({f for _, f in switch_frames(after.contacts)})) - 1
    at_switches, own = bends(after)[frames].max(axis=0), bends(before).max(axis=0)
    joints = {f"{side}_{part}": after.skeleton.roles[f"{side}_{part}"] for side in ("left", "right") for part in LEG}
    return {name: float(at_switches[j] / own[j]) for name, j in joints.items()}


@pytest.mark.parametrize("legs", [0.95, 1.0, 1.05])
def test_plants_hold_and_nothing_is_under_the_floor(legs: float) -> None:
    result = clean_with_report(skated(walk(), legs=legs))
    assert len(result.plants) > 10
    assert worst_plant(result) < HELD
    assert deepest(result.motion) < UNDER
    assert result.residue.max() < HELD


SAMPLES = [("walk", {"seconds": 6.0}), ("run", {"seconds": 6.0}), ("walk", {"seconds": 6.0, "turn_rate": 0.6}),
           ("turn_around", {})]  # fmt: skip


@pytest.mark.parametrize(("name", "options"), mostly_slow(SAMPLES, "cleans the same damage in other clips", n_fast=1))
@pytest.mark.parametrize(
    ("legs", "drift", "seed"),
    [
        (0.95, (0.25, 0.0, 0.0), 0),
        (0.95, (-0.18, 0.0, -0.18), 1),
        (0.97, (0.0, 0.0, 0.25), 1),
        (1.03, (-0.18, 0.0, -0.18), 0),
        (1.05, (0.0, 0.0, 0.25), 0),
        (1.05, (0.25, 0.0, 0.0), 1),
    ],
)
def test_salvage(
    name: str, options: dict[str, float], seed: int, legs: float, drift: tuple[float, float, float]
) -> None:
    original = sample(name, rng=seed, **options).motion
    broken = skated(original, drift, legs)
    before, after, truth = marey.measure(broken), marey.measure(clean(broken)), marey.measure(original)
    assert before["slide_contact"].value > 0.1
    assert after["slide_contact"].value < 0.05 * before["slide_contact"].value
    assert after["jitter"].value < 1.1 * truth["jitter"].value
    assert after["penetration_max"].value < 0.1


def test_feet_leave_the_floor_as_they_do_in_the_source() -> None:
    original = walk(6.0)
    low = replace(original, root_positions=original.root_positions + [0.0, 0.012, 0.0])  # a little above the floor
    after, truth = marey.measure(clean(low)), marey.measure(original)
    assert after["slide_weighted"].value < 1.3 * truth["slide_weighted"].value


def test_velocities_are_continuous_at_switches() -> None:
    broken = skated(walk())
    smooth, plain = clean(broken), clean(broken, settings=CleanSettings(smooth=False))
    assert np.quantile(jumps(broken, smooth), 0.95) < 0.3
    assert np.quantile(jumps(broken, smooth), 0.95) < 0.7 * np.quantile(jumps(broken, plain), 0.95)
    assert smooth.contacts is not None
    frames = sorted({f for _, f in switch_frames(smooth.contacts)})
    assert bends(smooth)[np.array(frames) - 1].max() <= bends(broken).max()
    # A joint that bends most at a switch anyway bends a little more or less there when it is adjusted.
    assert max(worst_bends(broken, smooth).values()) <= 1.02


def test_a_second_run_changes_nothing() -> None:
    once = clean_with_report(skated(walk()))
    twice = clean_with_report(once.motion)
    moved = np.linalg.norm(twice.motion.world().positions - once.motion.world().positions, axis=-1)
    assert moved.max() < 1e-4
    assert twice.metrics["limb_scaling_max"] < 1e-6


def test_a_clean_motion_is_left_alone() -> None:
    motion = walk()
    result = clean_with_report(motion)
    np.testing.assert_allclose(result.motion.world().positions, motion.world().positions, atol=1e-9)
    assert result.motion.bone_offsets is None


def test_the_input_is_left_unchanged_and_annotations_are_kept() -> None:
    motion = skated(walk())
    kept = motion.rotations.copy(), motion.root_positions.copy()
    result = clean(motion)
    np.testing.assert_array_equal(motion.rotations, kept[0])
    np.testing.assert_array_equal(motion.root_positions, kept[1])
    assert result.contacts is motion.contacts
    assert result.labels == motion.labels
    assert result.source.provenance[-1]["op"] == "clean"


def test_without_stretch_bones_keep_their_length() -> None:
    broken = skated(walk(), legs=0.93)
    result = clean_with_report(broken, settings=CleanSettings(max_stretch=0.0))
    assert result.motion.bone_offsets is None
    assert result.scale.min() == result.scale.max() == 1.0
    # The character moves as far as rigid legs reach.
    assert result.residue.max() < HELD
    assert deepest(result.motion) < UNDER


def test_limb_scaling_stays_within_its_limit() -> None:
    result = clean_with_report(skated(walk(), legs=0.8), settings=CleanSettings(max_stretch=0.05))
    assert np.abs(result.scale - 1.0).max() <= 0.05 + 1e-12


def test_flat_feet_have_the_ankle_above_the_line_of_plants() -> None:
    motion = skated(walk())
    roll = quat.from_axis_angle([0.0, 0.0, 1.0], 0.15)
    rotations = motion.rotations.copy()
    foot = motion.skeleton.roles["left_foot"]
    rotations[:, foot] = quat.mul(rotations[:, foot], roll)
    motion = replace(motion, rotations=rotations)
    flat = clean(motion, settings=CleanSettings(roll="flat"))
    assert flat.contacts is not None
    both = flat.contacts.mask[:, 0] & flat.contacts.mask[:, 1]
    paths = point_paths(flat, flat.contacts.points)
    along = paths[:, 1] - paths[:, 0]
    ankle = flat.world().positions[:, foot] - paths[:, 0]
    sideways = np.einsum("ij,ij->i", ankle, np.cross(along, [0.0, 1.0, 0.0])) / np.linalg.norm(along, axis=1)
    assert np.abs(sideways[both]).max() < 1e-9


@pytest.mark.parametrize("effector", ["right_hand", "left_foot"])
@pytest.mark.parametrize("moving", [False, True])
@pytest.mark.parametrize("turned", [False, True])
def test_targets_are_met_exactly(effector: str, moving: bool, turned: bool) -> None:
    motion = walk()
    world, joint, span = motion.world(), motion.skeleton.roles[effector], slice(80, 92)
    position = world.positions[span, joint] + [0.03, 0.06, 0.02]
    rotation = quat.mul(quat.from_axis_angle([0.0, 1.0, 0.0], 0.3), world.rotations[span, joint])
    if not moving:
        position, rotation = position[6], rotation[6]
    target = Target(effector, 80, 92, position, rotation if turned else None)
    result = clean_with_report(motion, targets=[target])
    after = result.motion.world()
    np.testing.assert_allclose(after.positions[span, joint], target.position, atol=HELD)
    if turned:
        assert quat.angle_between(after.rotations[span, joint], target.orientation).max() < 1e-9
    assert result.residue.max() < HELD
    assert worst_plant(replace(result, plants=tuple(p for p in result.plants if p.stop <= 80 or p.start >= 92))) < HELD


def test_a_target_out_of_reach_leaves_a_residue_and_no_nan() -> None:
    result = clean_with_report(walk(), targets=[Target("right_hand", 60, 70, np.array([0.0, 9.0, 0.0]))])
    assert result.residue.max() > 1.0
    assert np.abs(result.scale - 1.0).max() <= 0.2 + 1e-12
    assert np.isfinite(result.motion.world().positions).all()
    assert np.linalg.norm(result.shift, axis=1).max() < 1.0


def test_given_plants_are_used() -> None:
    motion = walk()
    start, stop = motion.contacts.intervals("left_ball")[1]
    place = point_paths(motion, motion.contacts.points)[start + 5, 1] + [0.05, 0.0, 0.08]
    result = clean_with_report(motion, plants=[PlantAt("left_ball", start + 3, stop - 3, place)])
    path = point_paths(result.motion, motion.contacts.points)[start:stop, 1]
    np.testing.assert_allclose(path, np.broadcast_to(place, path.shape), atol=HELD)
    assert worst_plant(result) < HELD


def test_planted_feet_outrank_a_target_out_of_reach() -> None:
    motion = walk()
    hand = motion.world().positions[60:90, motion.skeleton.roles["right_hand"]]
    for away in ([0.0, 0.0, 1.2], [0.0, 0.0, 1.5], [0.0, 0.0, 6.0], [-3.0, 2.0, 0.0]):
        result = clean_with_report(motion, targets=[Target("right_hand", 60, 90, hand + away)])
        residue = dict(zip(result.limbs, result.residue.max(axis=0), strict=True))
        assert worst_plant(result) < HELD
        assert {name for name, left in residue.items() if left > HELD} == {"right_hand"}
        assert np.abs(result.scale - 1.0).max() <= 0.2 + 1e-12


def test_a_target_far_out_of_reach_does_not_move_the_body() -> None:
    motion = walk()
    alone = clean_with_report(motion)
    result = clean_with_report(motion, targets=[Target("right_hand", 60, 90, np.array([0.0, 1.0, 9.0]))])
    np.testing.assert_allclose(result.shift, alone.shift, atol=1e-12)


def test_feet_hold_between_two_targets_that_pull_apart() -> None:
    motion = walk()
    roles, world = motion.skeleton.roles, motion.world().positions
    targets = [
        Target(f"{side}_hand", 60, 90, world[60:90, roles[f"{side}_hand"]] + [way, 0.0, 0.0])
        for side, way in (("left", 0.8), ("right", -0.8))
    ]
    assert worst_plant(clean_with_report(motion, targets=targets)) < HELD


def foot_lengths(motion: Motion) -> np.ndarray:
    """Return the distance from heel to ball, (F, 2) meters."""
    assert motion.contacts is not None
    paths = point_paths(motion, motion.contacts.points)
    return np.linalg.norm(paths[:, [0, 2]] - paths[:, [1, 3]], axis=-1)


@pytest.mark.parametrize("name", ["left_heel", "left_ball"])
def test_a_given_plant_takes_the_other_point_of_the_foot_along(name: str) -> None:
    """Heels strike first: the position of the ball is determined when the heel is already planted."""
    motion = walk()
    k = motion.contacts.index(name)
    start, stop = motion.contacts.intervals("left_ball")[1]
    heel, _ = next(span for span in motion.contacts.intervals("left_heel") if span[0] < start < span[1])
    place = point_paths(motion, motion.contacts.points)[start + 5, k] + [0.05, 0.0, 0.18]
    result = clean_with_report(motion, plants=[PlantAt(name, start + 2, start + 5, place)])
    path = point_paths(result.motion, motion.contacts.points)[start : start + 5, k]
    np.testing.assert_allclose(path, np.broadcast_to(place, path.shape), atol=HELD)
    assert worst_plant(result) < HELD
    assert result.residue.max() < HELD
    assert np.abs(foot_lengths(result.motion) / foot_lengths(motion) - 1.0)[heel:stop].max() < 0.02
    assert result.metrics["limb_scaling_max"] <= 0.2 + 1e-12
    assert json.loads(json.dumps(result.to_dict()))["limbs"] == list(result.limbs)


@pytest.mark.parametrize("stretch", [0.0, 0.05, 0.2])
@pytest.mark.parametrize("further", [-0.1, 0.1, 0.3])
def test_a_foot_is_stretched_no_further_than_limbs(further: float, stretch: float) -> None:
    motion = walk()
    start, stop = motion.contacts.intervals("left_ball")[1]
    paths = point_paths(motion, motion.contacts.points)
    heel, ball = paths[start + 5, 0], paths[start + 5, 1] + [0.0, 0.0, further]
    plants = [PlantAt("left_heel", start, start + 5, heel), PlantAt("left_ball", start, stop, ball)]
    result = clean_with_report(motion, plants=plants, settings=CleanSettings(max_stretch=stretch))
    lengths, own = foot_lengths(result.motion), foot_lengths(motion)
    assert np.abs(lengths / own - 1.0).max() <= stretch + 1e-9
    np.testing.assert_allclose(lengths / own, result.foot_scale[:, :2], atol=1e-9)
    assert result.metrics["limb_scaling_max"] >= np.abs(lengths / own - 1.0).max() - 1e-9
    missing = abs(np.linalg.norm(ball - heel) - own[start, 0]) - stretch * own[start, 0]
    left = result.residue[:, result.limbs.index("left_foot")].max()
    assert left > 0.9 * missing
    assert np.isfinite(result.motion.world().positions).all()


def test_a_stream_places_feet_beside_given_plants_too() -> None:
    motion = walk()
    start, stop = motion.contacts.intervals("left_ball")[1]
    place = point_paths(motion, motion.contacts.points)[start + 5, 1] + [0.05, 0.0, 0.18]
    plants = [PlantAt("left_ball", start, stop, place)]
    targets = [Target("right_hand", 60, 90, motion.root_positions[60:90] + [0.0, 0.0, 1.6])]
    batch = clean_with_report(motion, plants=plants, targets=targets)
    assert batch.residue.max() > 0.1
    stream = clean_stream(
        motion.skeleton, motion.fps, motion.contacts.points, floor=0.0, plants=plants, targets=targets
    )
    frames = []
    for f in range(len(motion)):
        frames += stream.push(motion.root_positions[f], motion.rotations[f], motion.contacts.mask[f])
    frames += stream.finish()
    for name, whole in (("root_position", "root_positions"), ("rotations",) * 2, ("bone_offsets",) * 2):
        each = np.array([getattr(frame, name) for frame in frames])
        np.testing.assert_allclose(each, getattr(batch.motion, whole), atol=1e-9)


def test_planes_and_raised_supports() -> None:
    motion = walk()
    raised = replace(motion, root_positions=motion.root_positions + [0.0, 0.4, 0.0])
    heights = {round(p.position[1], 3) for p in clean_with_report(skated(raised, legs=1.0)).plants}
    assert heights == {0.4}
    level = clean_with_report(skated(raised, legs=1.0), planes=[0.42])
    assert {round(p.position[1], 6) for p in level.plants} == {0.42}
    slope = clean_with_report(motion, planes=[(0.01, 0.0, 0.002)])
    for plant in slope.plants:
        _, y, z = plant.position
        assert min(abs(y), abs(y - 0.01 - 0.002 * z)) < 1e-9
    assert worst_plant(slope) < HELD


def patterned(fps: float, legs: float, spans: list[list[tuple[int, int]]]) -> Motion:
    """Return a sliding walk with contacts of feet and hands, given in sixtieths of a second."""
    motion = skated(walk(1.5, fps), legs=legs)
    mask = np.zeros((len(motion), 8), dtype=bool)
    sixtieth = np.arange(len(motion)) * 60.0 / fps
    for k, own in enumerate(spans):
        for start, length in own:
            mask[(sixtieth >= start - 1e-6) & (sixtieth < start + length - 1e-6), k] = True
    return with_hands(motion, mask)


@pytest.mark.slow("cleans many random patterns of contacts")
@settings(deadline=None, max_examples=20, derandomize=True)
@given(
    legs=st.sampled_from([0.97, 1.0, 1.03]),
    spans=st.lists(st.lists(st.tuples(st.integers(0, 85), st.integers(1, 20)), max_size=4), min_size=8, max_size=8),
)
def test_any_pattern_of_contacts_holds_without_jumps(legs: float, spans: list[list[tuple[int, int]]]) -> None:
    pattern = patterned(120.0, legs, spans)
    result = clean_with_report(pattern)
    # Short gaps are closed, so a hand may be held for as long as the walker takes to leave it behind for good: then
    # the limb has its maximum length, and the missing distance is reported to the last digit.
    assert abs(worst_plant(result) - result.residue.max()) < 1e-9
    short = result.residue > HELD
    np.testing.assert_allclose(np.abs(result.scale[short] - 1.0), 0.2, atol=1e-9)
    # A limb that moved too far is rotated back, which may leave the foot low; the report says so from 5 mm on.
    moves = np.linalg.norm(result.motion.world().positions - pattern.world().positions, axis=-1)
    is_limited = moves.max() > 0.29
    assert deepest(result.motion) < (0.005 if is_limited else UNDER) or (is_limited and result.below_floor)
    if not short.any() and not is_limited:
        again = clean_with_report(result.motion)
        assert np.abs(again.motion.world().positions - result.motion.world().positions).max() < UNDER
    # Jumps do not depend on the rate; continuous movement per frame gets smaller at higher rates.
    finer = patterned(480.0, legs, spans)
    steps = [
        np.linalg.norm(np.diff(b.world().positions - a.world().positions, axis=0), axis=-1).max()
        for a, b in ((pattern, result.motion), (finer, clean(finer)))
    ]
    assert steps[1] < 0.7 * steps[0] + 0.01


def test_a_foot_that_slides_far_is_freed_and_planted_again() -> None:
    """A foot that is dragged along while it counts as planted is not pulled back all the way."""
    motion = sample("stand", seconds=6.0, fps=60.0).motion
    assert motion.contacts is not None
    t = np.arange(len(motion)) / motion.fps
    drag = 0.12 * np.clip(t - 1.0, 0.0, 4.0)
    motion = replace(motion, root_positions=motion.root_positions + np.outer(drag, [0.0, 0.0, 1.0]))
    held = replace(motion, contacts=replace(motion.contacts, mask=np.ones_like(motion.contacts.mask)))
    result = clean_with_report(held)
    before, after = held.world().positions, result.motion.world().positions
    assert np.linalg.norm(after - before, axis=-1).max() < 0.22
    assert {plant.point for plant in result.released} == set(held.contacts.names)
    assert worst_plant(result) < HELD
    assert result.motion.contacts is not None
    assert not result.motion.contacts.mask.all()
    again = clean_with_report(result.motion)
    assert np.abs(again.motion.world().positions - after).max() < UNDER
    assert again.released == ()
    free = clean_with_report(held, max_pull=2.0)
    assert free.released == ()


class TestBadInput:
    def test_a_path_is_not_a_motion(self) -> None:
        with pytest.raises(InvalidValue, match="motion must be a Motion, not str; load files with marey.load"):
            clean("walk.bvh")  # type: ignore[arg-type]

    def test_settings(self) -> None:
        with pytest.raises(InvalidValue, match="fade_window must be from 0 to 10 seconds, not -1"):
            CleanSettings(fade_window=-1.0)
        with pytest.raises(InvalidValue, match="max_stretch must be at least 0 and less than 1, not"):
            CleanSettings(max_stretch=1.0)
        with pytest.raises(InvalidValue, match="damping_from must be greater than 0 and at most 3.14"):
            CleanSettings(damping_from=4.0)
        with pytest.raises(InvalidValue, match="swivel must be from 0 to 1, not"):
            CleanSettings(swivel=1.5)
        with pytest.raises(InvalidValue, match="roll must be 'source' or 'flat', not 'round'"):
            CleanSettings(roll="round")

    def test_targets(self) -> None:
        with pytest.raises(
            InvalidValue,
            match="effector of a target must be one of left_foot, right_foot, left_hand, right_hand, not 'head'",
        ):
            Target("head", 0, 5, np.zeros(3))
        with pytest.raises(InvalidValue, match="must have 0 <= start < stop, got 5 to 5"):
            Target("left_hand", 5, 5, np.zeros(3))
        with pytest.raises(InvalidValue, match="must have 1 row or one for each of its 4 frames, got 3"):
            Target("left_hand", 0, 4, np.zeros((3, 3)))
        with pytest.raises(InvalidValue, match="unit quaternions"):
            Target("left_hand", 0, 4, np.zeros(3), [2.0, 0.0, 0.0, 0.0])
        with pytest.raises(InvalidValue, match="must be finite"):
            Target("left_hand", 0, 4, [np.nan, 0.0, 0.0])
        two = [Target("left_hand", 0, 9, np.zeros(3)), Target("left_hand", 8, 12, np.zeros(3))]
        with pytest.raises(InvalidValue, match="two targets of left_hand overlap: frames 0-9 and 8-12"):
            clean_with_report(walk(1.0), targets=two)
        with pytest.raises(
            InvalidValue, match="stop of 'left_hand' must be at most 61 .the number of frames., got frames 0 to 900"
        ):
            clean_with_report(walk(1.0), targets=[Target("left_hand", 0, 900, np.zeros(3))])

    def test_plants(self) -> None:
        with pytest.raises(UnknownName, match="point of a plant must be one of the contact points"):
            clean_with_report(walk(1.0), plants=[PlantAt("left_toe", 0, 5, np.zeros(3))])
        two = [PlantAt("left_ball", 0, 9, np.zeros(3)), PlantAt("left_ball", 5, 12, np.zeros(3))]
        with pytest.raises(InvalidValue, match="two plants of 'left_ball' overlap"):
            clean_with_report(walk(1.0), plants=two)

    def test_contacts_that_cannot_be_held(self) -> None:
        motion = walk(1.0)
        collar = ContactPoint("collar", motion.skeleton.roles["left_shoulder"], np.zeros(3))
        with pytest.raises(
            InvalidValue,
            match="contact point 'collar' is on 'LeftShoulder', which cleanup does not move: hands, feet, knees",
        ):
            clean(motion, contacts=Contacts((collar,), np.ones((len(motion), 1), dtype=bool)))
        foot = motion.skeleton.roles["left_foot"]
        three = tuple(ContactPoint(f"p{k}", foot, np.full(3, 0.01 * k)) for k in range(3))
        with pytest.raises(
            InvalidValue, match=": a hand or foot can have at most two contact points, got p0, p1, p2; remove some"
        ):
            clean(motion, contacts=Contacts(three, np.ones((len(motion), 3), dtype=bool)))
        with pytest.raises(InvalidValue, match="contacts must have as many frames as the motion"):
            clean(motion, contacts=Contacts(motion.contacts.points, np.zeros((7, 4), dtype=bool)))

    def test_a_limb_without_length(self) -> None:
        motion = walk(1.0)
        offsets = motion.skeleton.offsets.copy()
        offsets[motion.skeleton.roles["left_foot"]] = 0.0
        flat = replace(motion, skeleton=replace(motion.skeleton, offsets=offsets, role_map=_LEFT_LEG))
        with pytest.raises(
            InvalidValue,
            match="left_foot: the bone that ends at 'LeftFoot' has zero length, so the limb cannot be solved",
        ):
            clean(flat)

    def test_no_legs(self) -> None:
        motion = walk(1.0)
        legless = motion.skeleton.names.index("LeftUpLeg")
        upper = Motion(
            type(motion.skeleton)(motion.skeleton.names[:legless], motion.skeleton.parents[:legless],
                                  motion.skeleton.offsets[:legless]),
            motion.root_positions, motion.rotations[:, :legless], motion.fps,
        )  # fmt: skip
        with pytest.raises(JointNotFound):
            clean(upper)

    def test_a_floor_far_above(self) -> None:
        with pytest.raises(InvalidValue, match="the floor is at 9.00 m, more than a leg length above the highest foot"):
            clean(walk(1.0), floor=9.0)
        with pytest.raises(InvalidValue, match="floor must be a finite number of meters or None, not"):
            clean(walk(1.0), floor=float("nan"))

    def test_a_floor_far_below_leaves_plants_at_their_height(self) -> None:
        result = clean_with_report(walk(1.0), floor=-50.0)
        assert abs(max(p.position[1] for p in result.plants)) < 0.01

    def test_one_frame(self) -> None:
        result = clean_with_report(walk(1.0)[10])
        assert len(result.motion) == 1
        assert np.isfinite(result.motion.world().positions).all()

    def test_no_contacts_at_all(self) -> None:
        motion = walk(1.0)
        free = clean(motion, contacts=Contacts(motion.contacts.points, np.zeros((len(motion), 4), dtype=bool)))
        np.testing.assert_allclose(free.world().positions, motion.world().positions, atol=1e-9)


def test_a_thigh_that_flips_about_its_axis_does_not_flip_the_knee() -> None:
    motion = skated(walk(2.0))
    roles, flipped = motion.skeleton.roles, 60
    thigh, knee = roles["left_upper_leg"], roles["left_lower_leg"]
    turn = quat.from_axis_angle(motion.skeleton.offsets[knee], np.pi)
    rotations = motion.rotations.copy()
    rotations[flipped:, thigh] = quat.mul(rotations[flipped:, thigh], turn)
    rotations[flipped:, knee] = quat.inv_mul(turn, rotations[flipped:, knee])  # nothing moves
    broken = replace(motion, rotations=rotations)
    expected, found = (clean(one).world().positions for one in (motion, broken))
    np.testing.assert_allclose(found, expected, atol=2e-3)


def test_absurd_frame_rates_are_refused_before_any_work():
    """Windows in seconds then have millions of frames. A damaged file can state such a rate."""
    fast = replace(sample("walk", seconds=1.0).motion, fps=15_000.0)
    with pytest.raises(InvalidValue, match="at most 2,000 frames per second, not 15,000; check the frame rate"):
        clean(fast)


@pytest.mark.parametrize("seed", range(6))
def test_no_joint_moves_far_even_in_broken_frames(seed: int) -> None:
    rng = np.random.default_rng(seed)
    motion = replace(walk(), contacts=None)
    rotations, root = motion.rotations.copy(), motion.root_positions.copy()
    for start in (0, 90, len(motion) - 4):
        rotations[start : start + 4] = quat.normalize(rng.normal(size=rotations[:4].shape))
        root[start : start + 4] += 0.3 * rng.normal(size=(4, 3))
    broken = replace(motion, rotations=rotations, root_positions=root)
    result = clean_with_report(broken)
    moved = np.linalg.norm(result.motion.world().positions - broken.world().positions, axis=2)
    assert moved.max() < 0.3
    assert float(result.residue.max()) < HELD


def limit_leg(source: Motion, axis: tuple[float, float, float]) -> tuple[Motion, np.ndarray, np.ndarray]:
    """Limit the moves of a left leg that is rotated by 1 rad in frames 80 to 120: the motion, changes, and depth."""
    from marey.clean.limbs import find_limbs
    from marey.clean.move_limits import limit_moves

    assert source.contacts is not None
    hip = source.skeleton.roles["left_upper_leg"]
    rotations = source.rotations.copy()
    rotations[80:120, hip] = quat.mul(rotations[80:120, hip], quat.from_axis_angle(axis, 1.0))
    limbs = find_limbs(source.skeleton, source.contacts.points, set())
    near, is_changed = limit_moves(replace(source, rotations=rotations), source, limbs, source.contacts, 0.2)
    left, right = (limbs.names.index(f"{side}_foot") for side in ("left", "right"))
    assert not is_changed[:, right].any()
    below = source.skeleton.is_below(source.skeleton.roles["left_foot"])
    return near, is_changed[:, left], source.source.floor - near.world().positions[:, below, 1].min(axis=1)


def test_a_leg_that_moved_too_far_returns_smoothly() -> None:
    """The limit applies to every joint, and the limb fades to its cleaned pose before and after."""
    near, is_changed, _ = limit_leg(walk(), (0.0, 0.0, 1.0))
    moved = np.linalg.norm(near.world().positions - walk().world().positions, axis=2)
    assert 0.29 < moved.max() < 0.2981
    frames = np.flatnonzero(is_changed)
    assert (frames[0], frames[-1]) == (80 - 6, 119 + 6)


@pytest.mark.parametrize("height", [0.0, 0.1, 0.2, 0.3, 0.5])
def test_a_leg_that_moved_too_far_is_lifted_out_of_the_floor_within_the_limit(height: float) -> None:
    """A source that is too deep below the floor is lifted as far as it may move; the rest stays below."""
    source = walk()
    source = replace(source, source=replace(source.source, floor=height))
    near, _, depth = limit_leg(source, (1.0, 0.0, 0.0))
    moved = np.linalg.norm(near.world().positions - source.world().positions, axis=2)
    assert moved.max() < 0.2981
    if height <= 0.2:  # beyond that, the knee would move too far
        assert depth[80:120].max() < 1e-6
    else:
        sunk = height - source.world().positions[80:120, :, 1].min(axis=1)
        assert (depth[80:120] < sunk - 0.1).all()
    speed, given = (np.linalg.norm(np.diff(m.world().positions, axis=0), axis=2).max() for m in (near[90:110], source))
    assert speed < 1.2 * given
