"""Time alignment: in phase with the ground truth of samples, strictly increasing, looped if necessary."""

import numpy as np
import pytest

from marey.edit import resample
from marey.errors import InvalidValue, MareyWarning, NotBlendable
from marey.layer import Timeline, TimeMap, align_motions, alignment_path, phase_errors
from marey.layer.gait import find_gait
from marey.layer.halves import split_body
from marey.layer.smoothing import smooth_series
from marey.layer.timeline import make_loop
from marey.samples import sample


def phase_error(lower, upper, times):
    """Return the 95th percentile of the phase error in cycles, by the true phases of the samples, outside of seams."""
    first, _, fraction = times.frames()
    n = len(first)
    ahead = np.interp(first, np.arange(len(upper.motion)), upper.phase) - lower.phase[:n]
    ahead = (ahead - np.rint(ahead))[(fraction == 0.0) & np.isfinite(lower.phase[:n]) & np.isfinite(ahead)]
    return float(np.quantile(np.abs(ahead), 0.95))


@pytest.mark.parametrize("turn", [0.0, 0.4, -1.0])
@pytest.mark.parametrize("seed", [1, 5])
def test_walks_are_in_step_with_the_truth(turn, seed):
    lower, upper = sample("walk", turn_rate=turn, rng=0), sample("carry_box", rng=seed)
    assert phase_error(lower, upper, align_motions(lower.motion, upper.motion)) <= 0.08


@pytest.mark.parametrize(("name", "most"), [("run", 0.08), ("walk_to_run", 0.08), ("sneak", 0.08), ("stairs", 0.2)])
def test_other_gaits_are_in_step_as_their_ankles_pass(name, most):
    """The phase of a sample counts from heel strikes, which come earlier after a passing in a run than in a walk."""
    lower, upper = sample(name).motion, sample("carry_box", rng=3).motion
    errors = np.abs(phase_errors(lower, upper, align_motions(lower, upper)))
    assert len(errors) > 0.4 * len(lower)
    assert np.quantile(errors, 0.95) <= most


def test_a_clip_belongs_to_itself_frame_for_frame():
    walk = sample("walk").motion
    found = align_motions(walk, walk)
    np.testing.assert_allclose(found.times, np.arange(len(walk)), atol=1e-6)
    assert found.distance < 1e-6
    assert not found.in_seam.any()


def test_times_increase_strictly_and_slopes_keep_to_the_limit():
    lower, upper = sample("sneak").motion, sample("carry_box", rng=2).motion
    for limit in (2, 3):
        assert (np.diff(align_motions(lower, upper, slope_limit=limit).times) > 0.0).all()
    walk = sample("walk", rng=4).motion
    steps = np.diff(align_motions(walk, upper).times)
    assert steps.max() < 2.05
    assert steps.min() > 0.45


def test_in_a_pause_of_the_lower_clip_the_upper_one_waits():
    lower, upper = sample("sneak", pauses=1).motion, sample("walk", rng=2).motion
    standing = find_gait(lower, "it").standing()
    assert standing.sum() > 20
    steps = np.diff(align_motions(lower, upper).times)
    waiting = standing[1:] & standing[:-1]
    assert np.median(steps[waiting]) < 0.2 * np.median(steps[~waiting])


def test_long_clips_are_aligned_piece_by_piece(monkeypatch):
    lower, upper = sample("walk", turn_rate=0.3, seconds=10.0).motion, sample("carry_box", rng=3).motion
    whole = align_motions(lower, upper)
    monkeypatch.setattr(alignment_path, "_PIECE", 150)
    monkeypatch.setattr(alignment_path, "_AGAIN", 60)
    pieces = align_motions(lower, upper)
    assert np.abs(pieces.times - whole.times).max() < 1.5
    assert (np.diff(pieces.times) > 0.0).all()
    own = align_motions(lower, lower)
    np.testing.assert_allclose(own.times, np.arange(len(lower)), atol=1e-6)


def test_rates_of_both_clips_may_differ():
    lower, upper = sample("walk").motion, sample("carry_box", rng=3).motion
    same = align_motions(lower, upper).times / upper.fps
    for fps in (120.0, 45.0):
        other = align_motions(lower, resample(upper, fps)).times / fps
        period = find_gait(upper, "it").cycle / upper.fps
        apart = other - same
        assert np.abs(apart - period * np.rint(apart / period)).max() < 0.03


def test_a_short_upper_clip_is_looped_through_its_own_cycle():
    lower = sample("walk").motion
    upper = sample("carry_box", rng=3, seconds=2.0)
    found = align_motions(lower, upper.motion)
    line = found.timeline
    assert line.loops
    assert line.n_passes(found.times) >= 3
    cycles = np.diff(np.interp([line.start, line.stop], np.arange(len(upper.motion)), upper.phase))[0]
    assert abs(cycles - round(cycles)) < 0.06


def test_the_source_method_crops_to_the_first_minimum_and_ends_with_either():
    lower, upper = sample("walk").motion, sample("carry_box", rng=3, seconds=3.0).motion
    found = align_motions(lower, upper, align="first_minimum")
    assert len(found.times) < len(lower)
    assert not found.timeline.loops
    assert found.times[-1] <= len(upper) - 1
    assert "first minimum" in found.how
    own = align_motions(lower, lower, align="first_minimum")  # frame 0 counts as a minimum
    np.testing.assert_allclose(own.times, np.arange(len(lower)), atol=1e-6)


def test_the_loop_is_full_cycles_long_and_its_passes_blend_smoothly():
    motion = sample("carry_box", rng=3).motion
    halves = split_body(motion.skeleton)
    gait = find_gait(motion, "it")
    line = make_loop(motion, halves, gait)
    one = make_loop(motion, halves, gait, max_cycles=1)
    assert abs((one.stop - one.start) / gait.cycle - 1.0) < 0.1 < line.stop - line.start
    times = np.linspace(0.0, 3.0 * line.stop, 4000)
    first, second, fraction = line.frames(times)
    shown = np.where(fraction < 0.5, first, second)
    assert shown.min() >= 0.0
    assert shown.max() <= len(motion) - 1
    before = times < line.stop - line.before
    np.testing.assert_array_equal(first[before], times[before])
    period = line.stop - line.start
    late = times > line.stop + line.after
    again = line.frames(times[late] + period)
    np.testing.assert_allclose(again[0], first[late], atol=1e-8)
    mixed = (1.0 - fraction) * first + fraction * second
    quickest = 1.5 * period / (line.before + line.after) * (times[1] - times[0])
    assert np.abs(np.diff(mixed)).max() < 1.2 * quickest  # seams are not jumps


def test_a_clip_of_less_than_a_cycle_is_not_looped():
    lower, upper = sample("walk").motion, sample("carry_box", rng=3).motion[:50]
    with pytest.raises(
        NotBlendable, match=r"and has no full gait cycle to loop; use a longer part of it, or loop it first with"
    ):
        align_motions(lower, upper)


@pytest.mark.parametrize("still", ["stand", "turn_in_place", "hop"])
@pytest.mark.parametrize("align", ["loop", "first_minimum"])
def test_a_clip_without_steps_is_aligned_by_hips_and_knees_with_a_warning(still, align):
    walk, other = sample("walk", seconds=3.0).motion, sample(still).motion
    for which, (lower, upper) in {"lower": (other, walk), "upper": (walk, other)}.items():
        with pytest.warns(
            MareyWarning,
            match=f"the {which} clip '{still}' does not contain 2 consecutive steps, so the clips are aligned by hips "
            f"and knees only",
        ):
            found = align_motions(lower, upper, align=align)
        assert (np.diff(found.times) > 0.0).all()
        assert f"the {which} clip '{still}' does not contain 2 consecutive steps" in found.warning
        assert not len(phase_errors(lower, upper, found))


def test_an_upper_clip_without_steps_plays_at_its_own_speed_and_ends_the_result():
    walk, punches = sample("stairs").motion, sample("box_turn").motion
    with pytest.warns(MareyWarning, match="the upper clip 'box_turn' does not contain 2 consecutive steps"):
        found = align_motions(walk, punches)
    assert len(found.times) == len(punches) < len(walk)
    assert np.median(np.diff(found.times)) == pytest.approx(1.0, abs=0.1)


def test_steps_that_are_much_faster_are_not_synchronized():
    """A boxer's fast steps would play in slow motion on slow ones."""
    lower, upper = sample("step_up_and_down").motion, sample("carry_box").motion
    with pytest.warns(MareyWarning, match=r"two steps take 3.1 s in the lower clip and only 1.1 s in the upper one"):
        found = align_motions(lower, upper)
    assert len(found.times) == len(lower)


def test_wrong_options_are_refused():
    walk = sample("walk", seconds=2.0).motion
    with pytest.raises(InvalidValue, match="align must be 'loop' or 'first_minimum', not 'best'"):
        align_motions(walk, walk, align="best")
    with pytest.raises(InvalidValue, match="slope_limit must be from 1 to 20, not 0"):
        align_motions(walk, walk, slope_limit=0)
    with pytest.raises(InvalidValue, match="slope_limit must be an integer"):
        align_motions(walk, walk, slope_limit=1.5)
    with pytest.raises(InvalidValue, match="at least one frame"):
        TimeMap(np.zeros(0), Timeline(3), 0.0, "")


def test_the_smoothing_leaves_lines_and_takes_stairs():
    line = 0.5 * np.arange(50.0)
    np.testing.assert_allclose(smooth_series(line, 4.0), line, atol=1e-12)
    stairs = np.repeat(np.arange(25.0), 2)
    slopes = np.diff(smooth_series(stairs, 4.0))
    assert slopes.min() > 0.3
    assert slopes.max() < 0.7
    np.testing.assert_array_equal(smooth_series(np.ones(1), 4.0), [1.0])
