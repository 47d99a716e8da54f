"""Blends of real walks and runs of one person, straight, veering and turning by 90 degrees either way.

Speed, stance and step are asked to lie between those of the motions. A step is the way of the hips from one plant of a
ball of a foot to that of the other: unlike the distance between the feet's places, it does not depend on how tightly
the way bends, so that a turn to the left and one to the right can be compared with what they make together.
"""

import itertools

import numpy as np
import pytest

from marey.blend import blend
from marey.blend.blend import _advance
from marey.blend.weights import Weighting
from marey.clean import detect_contacts
from marey.errors import NoResult
from marey.io import load
from marey.measure import measure
from marey.register import register
from tests.blend.helpers import furthest, heading_change, path_length

WALKS = (11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31)
RUNS = (35, 37, 39, 41, 43, 45, 48, 49, 51, 53, 55)
LEFT, RIGHT = (11, 17, 23, 27, 37, 41, 48, 51), (13, 19, 25, 29, 39, 43, 49, 53)
# A part of the pairs, with each clip in some of them; all pairs take minutes.
WALK_AND_RUN = [(a, RUNS[(3 * i + 5 * k) % len(RUNS)]) for i, a in enumerate(WALKS) for k in range(2)]
LEFT_AND_RIGHT = [(a, RIGHT[(i + 3 * k) % len(RIGHT)]) for i, a in enumerate(LEFT) for k in range(2)]


@pytest.fixture(scope="module")
def clips(data_folder):
    folder = data_folder / "cmu" / "016"
    if not folder.is_dir():
        pytest.skip(f"no walks and runs at {folder}")
    return {k: detect_contacts(load(folder / f"16_{k}.bvh")) for k in sorted({*WALKS, *RUNS, *LEFT, *RIGHT})}


def accepted(clips, pairs):
    """Return the registrations of the pairs, and the reasons why others were rejected."""
    regs, refused = {}, {}
    for pair in pairs:
        try:
            regs[pair] = register([clips[k] for k in pair])
        except NoResult as error:
            refused[pair] = str(error)
    return regs, refused


def stance(motion):
    """Return the mean seconds for which a foot stands, without plants cut by the clip's ends; None without plants."""
    contacts = motion.contacts
    spans = []
    for side in ("left", "right"):
        columns = [k for k, name in enumerate(contacts.names) if name.startswith(side)]
        down = np.concatenate([[False], contacts.mask[:, columns].any(axis=1), [False]])
        spans += np.flatnonzero(down[1:] != down[:-1]).reshape(-1, 2).tolist()
    whole = [b - a for a, b in spans if a > 0 and b < len(motion)]
    return float(np.mean(whole)) / motion.fps if whole else None


def steps(reg, result, weights):
    """Return the mean step of each motion and of the blend, over the plants that all have; None without plants."""
    plants = sorted(
        (match for match in reg.matches if match.point.endswith("_ball")),
        key=lambda match: float((match.starts + match.stops).mean()),
    )
    track = _advance(reg, Weighting.of(weights, len(reg.motions)), result.fps, None)
    means = []
    for j, motion in enumerate((*reg.motions, result)):
        way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(motion.travel[:, [0, 2]], axis=0), axis=1))])
        at = []
        for match in plants:
            if j < len(reg.motions):
                frame = float(reg.timewarp(0.5 * (match.starts[j] + match.stops[j]))[j]) * motion.fps
            else:
                frame = float(np.interp(0.5 * sum(match.interval(weights)), track.u, np.arange(len(motion))))
            at.append(float(np.interp(frame, np.arange(len(motion)), way)))
        pairs = itertools.pairwise(zip(plants, at, strict=True))
        means.append([there - here for (one, here), (two, there) in pairs if one.point != two.point])
    return [float(np.mean(each)) for each in means] if means[0] else None


def is_between(values):
    return values is None or None in values or min(values[:-1]) <= values[-1] <= max(values[:-1])


def test_walk_and_run_meet_in_between(clips):
    regs, refused = accepted(clips, WALK_AND_RUN)
    assert len(regs) >= 0.9 * len(WALK_AND_RUN), refused
    weights = np.array([0.5, 0.5])
    outside = {}
    for pair, reg in regs.items():
        result = blend(reg, weights)
        several = (*reg.motions, result)
        found = {
            "speed": [path_length(motion) / motion.duration for motion in several],
            "stance": [stance(motion) for motion in several],
            "step": steps(reg, result, weights),
        }
        wrong = {name: values for name, values in found.items() if not is_between(values)}
        if wrong:
            outside[pair] = wrong
        slides = [measure(motion)["slide_contact"].value for motion in several]
        if None not in slides:
            assert slides[2] <= max(slides[:2])
        assert result.contacts.mask.any()
    assert len(outside) <= 0.05 * len(regs), outside


@pytest.mark.slow("registers and blends many recorded pairs")
def test_left_and_right_go_straight(clips):
    """With weights whose turns cancel out; and with equal weights, along the mean of the turns."""
    regs, refused = accepted(clips, LEFT_AND_RIGHT)
    assert len(regs) >= 0.75 * len(LEFT_AND_RIGHT), refused
    failed = {}
    for pair, reg in regs.items():
        turns, ways = ([measured(motion) for motion in reg.motions] for measured in (heading_change, path_length))
        chosen = [[0.5, 0.5]]
        if turns[0] > 0.0 > turns[1]:  # otherwise the cropped part contained a turn
            chosen.append([-turns[1] / (turns[0] - turns[1]), turns[0] / (turns[0] - turns[1])])
        for weights in chosen:
            result = blend(reg, weights)
            miss = heading_change(result) - float(np.dot(weights, turns))
            longer = path_length(result) / float(np.dot(weights, ways)) - 1.0
            if abs(miss) > 10.0 or abs(longer) > 0.05:
                failed[pair] = (miss, longer)
    assert len(failed) <= 0.1 * len(regs), failed


def test_ends_equal_inputs(clips):
    reg = register([clips[17], clips[19], clips[15]])
    for k, motion in enumerate(reg.motions):
        result = blend(reg, np.eye(3)[k], feet=None)
        assert abs(len(result) - len(motion)) <= 1
        n = min(len(result), len(motion))
        assert furthest(result[:n], motion[:n]) < 1e-5


def test_hips_that_travel_under_a_root_at_the_origin(data_folder):
    """Walks that turn left and right, whose joint 0 never moves."""
    folder = data_folder / "bandai-namco"
    names = [f"dataset-2_walk-turn-{side}_normal_001.bvh" for side in ("left", "right")]
    if not all((folder / name).is_file() for name in names):
        pytest.skip(f"no walks that turn at {folder}")
    pair = [load(folder / name) for name in names]
    for motion in pair:
        assert motion.skeleton.roles["hips"] != 0
        assert np.ptp(motion.root_positions, axis=0).max() < 1e-6
    reg = register(pair, force=True)
    for k, motion in enumerate(reg.motions):
        result = blend(reg, np.eye(2)[k], feet=None)
        n = min(len(result), len(motion))
        assert furthest(result[:n], motion[:n]) < 1e-5
    turns, ways = ([measured(motion) for motion in reg.motions] for measured in (heading_change, path_length))
    result = blend(reg, [0.5, 0.5])
    assert heading_change(result) == pytest.approx(np.mean(turns), abs=10.0)
    assert path_length(result) == pytest.approx(np.mean(ways), rel=0.05)
    # Nothing is torn apart between joint 0 and the hips.
    lengths = np.linalg.norm(np.diff(result.world().positions, n=2, axis=0), axis=-1)
    own = max(np.linalg.norm(np.diff(m.world().positions, n=2, axis=0), axis=-1).max() for m in reg.motions)
    assert lengths[:, result.skeleton.roles["hips"] :].max() < 1.5 * own
