"""Splices of real capture: carrying on walks and stairs, and walks on walks and runs of one person."""

import warnings

import numpy as np
import pytest

from marey.edit import share_skeleton
from marey.errors import MareyWarning
from marey.io import load_motion
from marey.layer import align_motions, neck_deviation, phase_errors, splice, splice_naive, wobble
from marey.layer.gait import find_gait, track_legs

WALKS = (11, 13, 17, 19, 21, 23, 27, 29, 31)
RUNS = (35, 37, 41, 43, 45, 49, 51, 55, 57)


@pytest.fixture(scope="module")
def clip(data_folder):
    stored = {}

    def load(name, start=None, stop=None):
        number = name.split("_")[0]
        path = data_folder / "cmu" / f"{int(number):03d}" / f"{name}.bvh"
        if not path.exists():
            pytest.skip(f"no {path}")
        if name not in stored:
            rate = {"file_fps": 60.0} if number == "143" else {}  # the files state 120 Hz, which is wrong
            stored[name] = load_motion(path, **rate)
        return stored[name][start:stop]

    return load


def check(lower, upper, most_phase):
    """Check everything that a splice promises in comparison with copied angles."""
    times = align_motions(lower, upper)
    errors = np.abs(phase_errors(lower, upper, times))
    assert len(errors) > 30
    assert np.quantile(errors, 0.95) <= most_phase
    assert (np.diff(times.times) > 0.0).all()
    ours, aligned = splice(lower, upper, times=times), splice_naive(lower, upper, times=times)
    stride = lower.fps / find_gait(lower, "it").cycle
    own, naive, below = (wobble(each, stride) for each in (ours, splice_naive(lower, upper), lower))
    assert own <= 0.3 * naive
    assert own <= 1.5 * below
    assert neck_deviation(ours, lower) <= 0.4 * neck_deviation(aligned, lower)
    return ours


def test_carrying_throughout_on_a_plain_walk_and_the_other_way_round(clip):
    check(clip("111_35"), clip("111_36"), 0.08)
    check(clip("111_36"), clip("111_35"), 0.08)


@pytest.mark.parametrize("carry", [("143_11", 300, 450), ("143_13", 200, 380)])
def test_the_carrying_part_of_a_clip_on_a_walk_and_on_stairs(clip, carry):
    upper = clip(*carry)
    check(clip("143_32"), upper, 0.08)
    result = check(clip("143_17"), upper, 0.20)
    step = result.source.provenance[-1]
    assert step["loop"]["passes"] >= 3
    assert step["seams"]["hands"] < 0.02
    assert step["seams"]["angle"] < 0.2


@pytest.mark.parametrize(
    ("lower", "upper"), [("83_25", "111_36"), ("83_09", "111_36"), ("143_17", "143_23"), ("143_17", "144_20")]
)
def test_showpieces_without_a_common_gait(clip, lower, upper):
    """Heck 4.4: carrying up and down a step, punching and a boxer's dance on stairs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MareyWarning)
        legs, arms = share_skeleton((clip(lower), clip(upper)), True)
    with pytest.warns(MareyWarning, match="the clips are aligned by hips and knees only"):
        times = align_motions(legs, arms)
    assert len(times.times) == len(legs)
    result = splice(legs, arms, times=times)
    assert neck_deviation(result, legs) <= 0.4 * neck_deviation(splice_naive(legs, arms, times=times), legs)
    moving = ~track_legs(legs).standing()[1:]
    assert 0.5 <= np.median(np.diff(times.times)[moving]) * legs.fps / arms.fps <= 1.5


@pytest.mark.parametrize("number", WALKS)
def test_a_walk_on_walks(clip, number):
    check(clip(f"16_{number}"), clip("16_15"), 0.08)


@pytest.mark.parametrize("number", RUNS)
def test_a_walk_on_runs(clip, number):
    check(clip(f"16_{number}"), clip("16_15"), 0.20)


def test_one_take_of_a_straight_walk_on_another(clip):
    lower, upper = clip("16_15"), clip("16_31", 140)
    off = [
        float(np.linalg.norm(result.world().positions - lower.world().positions, axis=-1).mean())
        for result in (splice(lower, upper), splice_naive(lower, upper))
    ]
    assert off[0] <= 0.02
    assert off[1] >= 2.0 * off[0]


def test_a_clip_spliced_with_itself_is_itself(clip):
    for name in ("111_35", "143_17", "16_55"):
        own = clip(name)
        assert np.abs(splice(own, own).world().positions - own.world().positions).max() <= 1e-4
