"""Linear blending: its definition, its known faults, and the transition of Heck 3.3."""

from dataclasses import replace

import numpy as np
import pytest

from marey.blend.baselines import linear_blend, linear_transition
from marey.core import Motion, Skeleton
from marey.errors import InvalidValue, MareyWarning
from marey.maths import ease_in, euler, quat
from marey.samples import sample, straight_walk
from tests.plot.pictures import under_resting_root

WALK = straight_walk(seconds=2.0, fps=30.0)
OTHER = straight_walk(speed=0.9, seconds=2.4, fps=30.0)


def curved(turn_rate: float, seconds: float = 7.0) -> Motion:
    return sample("walk", fps=30.0, seconds=seconds, turn_rate=turn_rate, variation=0.0).motion


def places(motion: Motion) -> np.ndarray:
    return motion.world().positions


@pytest.mark.parametrize("angles", ["quaternion", "euler"])
@pytest.mark.parametrize("root", ["positions", "velocities"])
def test_all_weight_on_one_motion_gives_it_back(angles: str, root: str) -> None:
    result = linear_blend([WALK, OTHER], (1.0, 0.0), angles=angles, root=root)  # type: ignore[arg-type]
    assert len(result) == len(WALK)
    np.testing.assert_allclose(places(result), places(WALK), atol=1e-9)
    other = linear_blend([WALK, OTHER], (0.0, 1.0), angles=angles, root=root, align=False)  # type: ignore[arg-type]
    np.testing.assert_allclose(places(other), places(OTHER)[: len(WALK)], atol=1e-9)


def test_frames_are_averaged_without_time_alignment() -> None:
    result = linear_blend([WALK, OTHER], (0.25, 0.75), align=False)
    n = len(WALK)
    mean = 0.25 * WALK.root_positions + 0.75 * OTHER.root_positions[:n]
    np.testing.assert_allclose(result.root_positions, mean, atol=1e-12)
    turned = quat.slerp(WALK.rotations, OTHER.rotations[:n], 0.75)
    assert quat.angle_between(result.rotations, turned).max() < 1e-9
    assert result.contacts is None
    assert result.source.provenance[-1]["weights"] == [0.25, 0.75]


def test_three_motions() -> None:
    third = straight_walk(speed=1.7, seconds=2.0, fps=30.0)
    result = linear_blend([WALK, OTHER, third], (2.0, 1.0, 1.0), align=False)
    n = len(WALK)
    mean = 0.5 * WALK.root_positions + 0.25 * OTHER.root_positions[:n] + 0.25 * third.root_positions[:n]
    np.testing.assert_allclose(result.root_positions, mean, atol=1e-12)
    same = linear_blend([third, WALK, OTHER], (1.0, 2.0, 1.0), align=False)
    np.testing.assert_allclose(places(same), places(result), atol=1e-9)


def test_euler_angles_are_averaged_in_the_files_order() -> None:
    order = "XZY"
    channels = tuple(tuple(f"{letter}rotation" for letter in order) for _ in WALK.skeleton.names)
    first = replace(WALK, source=replace(WALK.source, channels=channels))
    result = linear_blend([first, OTHER], (0.5, 0.5), angles="euler", align=False)
    n = len(WALK)
    angles = [euler.to_euler(clip.rotations[:n], order) for clip in (first, OTHER)]
    assert np.abs(angles[0] - angles[1]).max() < np.pi  # no wrap in between
    assert quat.angle_between(result.rotations, euler.from_euler(0.5 * sum(angles), order)).max() < 1e-9
    plain = linear_blend([WALK, OTHER], (0.5, 0.5), angles="euler", align=False)
    assert quat.angle_between(result.rotations, plain.rotations).max() > 1e-6


def test_euler_angles_on_either_side_of_a_half_turn_are_neighbors() -> None:
    channels = tuple(tuple(f"{letter}rotation" for letter in "YXZ") for _ in WALK.skeleton.names)
    named = replace(WALK, source=replace(WALK.source, channels=channels))
    turned = [named.moved([np.pi + by, 0.0, 0.0]) for by in (-0.3, 0.3)]
    starts = [euler.to_euler(clip.rotations[0, 0], "YXZ")[0] for clip in turned]
    assert starts[0] > 2.0 > -2.0 > starts[1]  # just before and just after a half turn
    result = linear_blend(turned, (0.5, 0.5), angles="euler", align=False)
    plain = linear_blend(turned, (0.5, 0.5), align=False)
    assert quat.angle_between(result.rotations, plain.rotations).max() < 0.02


def test_velocities_differ_from_positions_only_where_weights_change() -> None:
    far = OTHER.moved([0.0, 0.0, 5.0])
    options = {"align": False}
    constant = [linear_blend([WALK, far], (0.5, 0.5), root=root, **options) for root in ("positions", "velocities")]  # type: ignore[arg-type]
    np.testing.assert_allclose(constant[0].root_positions, constant[1].root_positions, atol=1e-12)

    def fade(t: float) -> tuple[float, float]:
        return 1.0 - t / 2.0, t / 2.0

    by_place = linear_blend([WALK, far], fade, root="positions", **options)  # type: ignore[arg-type]
    by_step = linear_blend([WALK, far], fade, root="velocities", **options)  # type: ignore[arg-type]
    # Positions blend over 5 m toward the other motion; steps never exceed those of the inputs.
    assert by_place.travel[-1, 2] - by_step.travel[-1, 2] > 4.0
    step = np.abs(np.diff(by_step.travel[:, 2])).max()
    assert step <= max(np.abs(np.diff(clip.travel[:, 2])).max() for clip in (WALK, far)) + 1e-9
    np.testing.assert_allclose(by_step.root_positions[:, 1], by_place.root_positions[:, 1])
    # Frame by frame, with the weights halfway between two frames.
    place = by_place.root_positions[0, 2]
    for f in range(1, len(by_step)):
        weights = fade((f - 0.5) / 30.0)
        place += sum(
            w * (clip.root_positions[f, 2] - clip.root_positions[f - 1, 2])
            for w, clip in zip(weights, (WALK, far), strict=True)
        )
        assert by_step.root_positions[f, 2] == pytest.approx(place, abs=1e-9)


def test_opposite_curves_collapse() -> None:
    left, right = curved(0.5), curved(-0.5)
    result = linear_blend([left, right], (0.5, 0.5))

    def walked(motion: Motion) -> float:
        return float(np.linalg.norm(np.diff(motion.travel[:, [0, 2]], axis=0), axis=1).sum())

    assert walked(result) < 0.75 * min(walked(left), walked(right))  # the root's path collapses (Kovar figure 5.4)
    hips = result.world().rotations[:, result.skeleton.roles["hips"]]
    assert np.degrees(quat.angle_between(hips[1:], hips[:-1]).max()) > 90.0  # and the character flips around


def test_aligned_motions_start_together() -> None:
    moved = OTHER.moved([2.0, -3.0, 1.0])
    result = linear_blend([WALK, moved], (0.5, 0.5))
    same = linear_blend([WALK, OTHER], (0.5, 0.5))
    np.testing.assert_allclose(places(result), places(same), atol=1e-6)


def test_a_resting_root_blends_as_the_hips_travel() -> None:
    result = linear_blend([under_resting_root(WALK), under_resting_root(OTHER)], (0.5, 0.5))
    plain = linear_blend([WALK, OTHER], (0.5, 0.5))
    np.testing.assert_allclose(result.travel, plain.travel, atol=1e-9)


def test_inputs_are_left_alone() -> None:
    before = WALK.root_positions.copy()
    linear_blend([WALK, OTHER], (0.5, 0.5))
    np.testing.assert_array_equal(WALK.root_positions, before)


def test_clips_of_different_rates_get_the_higher_one() -> None:
    with pytest.warns(MareyWarning, match="was resampled from 30 to 60 Hz"):
        result = linear_blend([WALK, straight_walk(seconds=2.0)], (0.5, 0.5))
    assert result.fps == 60.0


def test_bad_input_is_refused() -> None:
    with pytest.raises(InvalidValue, match="linear_blend needs at least two clips, got 1"):
        linear_blend([WALK], (1.0,))
    with pytest.raises(InvalidValue, match="linear_blend needs a list of motions or a set of them, got Motion"):
        linear_blend(WALK, (1.0,))  # type: ignore[arg-type]
    with pytest.raises(InvalidValue, match="weights must be 2 numbers, one per motion, not 3"):
        linear_blend([WALK, OTHER], (1.0, 0.0, 0.0))
    taller = Skeleton(WALK.skeleton.names, WALK.skeleton.parents, 1.1 * WALK.skeleton.offsets)
    with pytest.raises(InvalidValue, match="retarget them"):
        linear_blend([WALK, replace(OTHER, skeleton=taller)], (0.5, 0.5))
    with pytest.raises(InvalidValue, match="root must be one of positions, velocities, not 'speed'"):
        linear_blend([WALK, OTHER], (0.5, 0.5), root="speed")  # type: ignore[arg-type]
    with pytest.raises(InvalidValue, match="angles must be one of quaternion, euler"):
        linear_blend([WALK, OTHER], (0.5, 0.5), angles="axis")  # type: ignore[arg-type]


# The transition ------------------------------------------------------------------------------------------------


def test_a_transition_is_the_first_motion_then_the_second() -> None:
    moved = OTHER.moved([1.0, 4.0, -2.0])
    result = linear_transition(WALK, moved, (1.2, 1.0), 0.6)
    frames = result.source.provenance[-1]
    assert (frames["at"], frames["length"]) == ([1.2, 1.0], 0.6)
    before = int(np.floor((1.2 - 0.3) * 30.0)) + 1
    np.testing.assert_allclose(places(result)[:before], places(WALK)[:before], atol=1e-9)
    assert result.duration == pytest.approx(1.2 + OTHER.duration - 1.0)
    after = int(np.ceil((1.2 + 0.3) * 30.0))
    # The rest is the second motion, moved to where the first one was: the same steps, relative to the body.
    rest = places(result)[after:]
    own = places(OTHER)[after - 6 :]
    np.testing.assert_allclose(
        np.linalg.norm(np.diff(rest, axis=0), axis=-1), np.linalg.norm(np.diff(own, axis=0), axis=-1), atol=1e-9
    )


@pytest.mark.parametrize("eased", [False, True])
def test_weights_run_over_the_length_about_the_middle(eased: bool) -> None:
    still = replace(WALK, root_positions=np.zeros_like(WALK.root_positions) + [0.0, 0.9, 0.0])
    ahead = replace(still, root_positions=still.root_positions + [1.0, 0.0, 0.0])
    result = linear_transition(still, ahead, (1.0, 1.0), 1.0, eased=eased, align=False)
    times = np.arange(len(result)) / 30.0
    alpha = np.clip((times - 1.0) / 1.0 + 0.5, 0.0, 1.0)
    assert alpha[30] == 0.5
    np.testing.assert_allclose(result.root_positions[:, 0], ease_in(alpha) if eased else alpha, atol=1e-9)


def test_the_most_similar_frames_are_used_by_default() -> None:
    result = linear_transition(WALK, WALK, None, 0.5)
    first, second = result.source.provenance[-1]["at"]
    assert first == pytest.approx(second, abs=1e-9)  # a motion is most similar to itself
    assert 0.25 <= first <= WALK.duration - 0.25
    np.testing.assert_allclose(places(result), places(WALK), atol=1e-6)
    into = linear_transition(WALK, OTHER, None, 0.5)
    assert 0.25 <= into.source.provenance[-1]["at"][1] <= OTHER.duration - 0.25


def test_times_between_frames() -> None:
    result = linear_transition(WALK, WALK, (1.01, 0.99), 0.4)
    assert len(result) == int(np.floor((1.01 + 2.0 - 0.99) * 30.0)) + 1
    ahead = np.diff(result.travel[:, 2])
    assert ahead.min() > 0.5 * np.diff(WALK.travel[:, 2]).min()


def test_bad_transitions_are_refused() -> None:
    with pytest.raises(InvalidValue, match="a transition of 3 s needs motions at least as long"):
        linear_transition(WALK, OTHER, length=3.0)
    with pytest.raises(InvalidValue, match="must be from 0.5 to 1.5 s in 'straight_walk'.*, not 1.9 s"):
        linear_transition(WALK, OTHER, (1.9, 1.0), 1.0)
    with pytest.raises(InvalidValue, match="`at` must be two times in seconds"):
        linear_transition(WALK, OTHER, 1.0)  # type: ignore[arg-type]
    with pytest.raises(InvalidValue, match="length in seconds must be a number greater than 0"):
        linear_transition(WALK, OTHER, length=0.0)
