"""Gait spaces: parameters are met, cycles are in phase, kernels agree with their twins."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

from marey.core.placement import find_facing
from marey.errors import InvalidValue, MareyWarning, NoResult, ParseError, UnknownVersion
from marey.measure import measure
from marey.pmg import GaitSpace
from marey.pmg.gait_cycles import PER_CYCLE, cut_cycles, find_cycles, grid_phases
from marey.pmg.gait_kernels import interpolate_rows, mix_singles, mix_values, solve_weights
from marey.samples import sample
from tests.pmg.characters import turn_space, two_speed_walker, walks
from tests.twins.pmg import catmull_rom, tilted_weights


@pytest.mark.parametrize("d", [1, 2])
def test_weights_are_those_of_a_general_solver(d):
    rng = np.random.default_rng(d)
    off = rng.normal(size=(30, d)) + 0.3
    heat = -0.5 * (off**2).sum(axis=1)
    weights = np.empty(30)
    solve_weights(off, heat, 60, 1e-10, 0.0, np.empty(30), weights)
    np.testing.assert_allclose(weights, tilted_weights(off, heat), atol=1e-6)
    assert np.abs(weights @ off).max() < 1e-9


def test_mix_and_between_are_their_slow_forms():
    rng = np.random.default_rng(0)
    values, weights = rng.normal(size=(5, 9, 4)), np.array([0.2, 0.0, 0.5, 0.3, 0.0])
    mixed, rows = np.empty((9, 4)), np.array([0.0, 0.3, 1.0, 4.7, 7.9, 8.0])
    mix_singles(weights, values.astype(np.float32), mixed)
    np.testing.assert_allclose(mixed, sum(w * v for w, v in zip(weights, values, strict=True)), atol=1e-6)
    mix_values(weights, values, mixed)
    np.testing.assert_allclose(mixed, sum(w * v for w, v in zip(weights, values, strict=True)))
    out = np.empty((len(rows), 4))
    interpolate_rows(mixed, rows, out)
    np.testing.assert_allclose(out, catmull_rom(mixed, rows), atol=1e-12)
    np.testing.assert_allclose(out[2], mixed[1])


def test_turn_is_met_and_matches_the_motion():
    space = turn_space()
    extra = round(space.margin * PER_CYCLE) / PER_CYCLE
    for target in np.linspace(space.low[0], space.high[0], 9):
        assert space.reached([target])[0] == pytest.approx(target, abs=np.radians(0.1))
        result = space([target])
        faced = find_facing(result.skeleton, result.world().positions)
        cycle = (len(result) - 1) / (1.0 + 2.0 * extra)
        at = np.array([extra * cycle, (1.0 + extra) * cycle])
        turned = np.diff(np.interp(at, np.arange(len(result)), faced))[0]
        assert turned == pytest.approx(target, abs=np.radians(4.0))


def test_turn_and_speed_are_met_together():
    space = two_speed_walker()["walk"].space
    rng = np.random.default_rng(0)
    for target in space.region.sample(20, rng, corners=True):
        assert np.abs(space.reached(target) - target).max() < 0.001
    target = space.region.middle
    assert measure(space(target))["speed_mean"].value == pytest.approx(target[1], abs=0.05)


def test_paths_are_where_the_motion_goes():
    space = turn_space()
    targets = np.array([[-0.8], [0.0], [0.6]])
    paths = space.paths(targets, 33)
    for target, path in zip(targets, paths, strict=True):
        result = space(target)
        at = np.linspace(0.0, len(result) - 1.0, 33)
        for column, axis in ((1, 0), (2, 2)):
            gone = np.interp(at, np.arange(len(result)), result.root_positions[:, axis])
            assert np.abs(path[:, column] - gone).max() < 0.05


def test_near_parameters_give_near_motion():
    space = turn_space()
    a, b = space([0.3]), space([0.301])
    n = min(len(a), len(b))
    assert np.abs(a.world().positions[:n] - b.world().positions[:n]).max() < 0.01


def test_contacts_are_generated_and_nearly_motionless():
    result = turn_space()([0.4])
    assert result.contacts is not None
    assert result.contacts.mask.any()
    assert measure(result)["slide_contact"].value < 0.02


def test_cycles_are_in_step():
    motion = walks()[3]
    starts = find_cycles(motion, 0.2)
    assert len(starts) == len(cut_cycles(motion, 0.2)) >= 2
    grid = grid_phases(0.2)
    assert 0.0 in grid
    assert 1.0 in grid
    for cycle in cut_cycles(motion, 0.2):
        assert cycle.rotations.shape[0] == len(grid) == len(cycle.steps) + 1
        assert (cycle.steps[:, 3] > 0.0).all()


def test_survives_files_and_processes(tmp_path):
    space = turn_space()
    space.save(tmp_path / "walk.npz")
    for again in (GaitSpace.load(tmp_path / "walk.npz"), pickle.loads(pickle.dumps(space))):
        a, b = space([0.2]), again([0.2])
        np.testing.assert_allclose(a.rotations, b.rotations, atol=1e-6)
        np.testing.assert_allclose(a.root_positions, b.root_positions, atol=1e-6)
        np.testing.assert_array_equal(a.contacts.mask, b.contacts.mask)


def test_bad_input(tmp_path):
    with pytest.raises(InvalidValue, match="needs motions, got none"):
        GaitSpace.build([])
    with pytest.raises(InvalidValue, match="turn, or turn and speed, not speed"):
        GaitSpace.build(walks(), ["speed"])
    with pytest.raises(InvalidValue, match="margin must be"):
        GaitSpace.build(walks(), margin=0.7)
    with pytest.raises(NoResult, match="at least 2 gait cycles with margins of 0.2 cycles, but the motion contains 0;"):
        GaitSpace.build([sample("walk", seconds=1.3, fps=30.0, variation=0.0).motion])
    with pytest.raises(InvalidValue, match="must have the same fps"):
        GaitSpace.build([walks()[0], sample("walk", fps=60.0).motion])
    (tmp_path / "no.npz").write_bytes(b"no archive")
    with pytest.raises((ParseError, UnknownVersion)):
        GaitSpace.load(tmp_path / "no.npz")


def test_clips_without_a_cycle_are_named():
    short = replace(sample("walk", seconds=1.3, fps=30.0, variation=0.0).motion, name="short")
    with pytest.warns(
        MareyWarning, match=r"not used, because they contain no complete gait cycle .*: 'short' \(1.3 s\); use"
    ) as got:
        space = GaitSpace.build([*walks(), short], mirror=True)
    assert len(got) == 1
    np.testing.assert_allclose(space.parameters, GaitSpace.build(walks(), mirror=True).parameters, atol=1e-9)


def test_clips_without_steps_are_skipped_with_a_warning():
    still = replace(sample("stand", fps=30.0).motion, name="still")
    with pytest.warns(MareyWarning, match=r"not used, because they contain no complete gait cycle .*: 'still'"):
        space = GaitSpace.build([still, *walks()], mirror=True)
    np.testing.assert_array_equal(space.parameters, GaitSpace.build(walks(), mirror=True).parameters)
    with pytest.raises(NoResult, match="but 2 motions contain 0; use longer motions"):
        GaitSpace.build([still, still])


def test_clips_of_one_turn_and_different_speeds_are_named(recwarn):
    def walk(speed, turn_rate=0.0):
        return sample("walk", speed=speed, turn_rate=turn_rate, seconds=3.0, fps=30.0, variation=0.0).motion

    curves = [walk(0.8, rate) for rate in (-0.6, 0.6)]  # people walk more slowly on curves
    GaitSpace.build([walk(1.7), *curves], ["turn"])
    run = sample("run", speed=2.8, seconds=3.0, fps=30.0, variation=0.0).motion
    mixed = [walk(0.9), run, *curves]
    GaitSpace.build(mixed, ["turn", "speed"])
    assert not [each for each in recwarn if "have speeds" in str(each.message)]
    with pytest.warns(
        MareyWarning, match=r"speeds of 0\.\d to 2\.\d m/s, .*; add speed to `parameters=`, or make separate"
    ):
        GaitSpace.build(mixed, ["turn"])


def test_clips_that_turn_only_at_one_speed_say_so():
    slow = [
        sample("walk", speed=0.8, turn_rate=rate, seconds=3.0, fps=30.0, variation=0.0) for rate in (-0.6, 0.0, 0.6)
    ]
    fast = [sample("walk", speed=speed, seconds=3.0, fps=30.0, variation=0.0) for speed in (1.1, 1.4, 1.7)]
    with pytest.warns(
        MareyWarning, match=r"the clips turn sharply only at 0\.\d+ to 1.* m/s.*remove speed from `parameters=`"
    ):
        space = GaitSpace.build([each.motion for each in slow + fast], ["turn", "speed"])
    alone = GaitSpace.build([each.motion for each in slow + fast], ["turn"])
    # The region is as wide as the clips: no turn is lost to the second parameter.
    np.testing.assert_allclose([space.low[0], space.high[0]], [alone.low[0], alone.high[0]])
    low, high = space.turn_range(float(space.high[1]))
    assert high - low < 0.2 * (space.high[0] - space.low[0])
    assert not two_speed_walker()["walk"].space.describe_coverage()


def test_a_node_keeps_the_requested_turn_and_adapts_the_rest():
    node = two_speed_walker()["walk"]
    turn = float(node.high[0])
    found = node.project(node.request(node, {"turn": turn}, np.zeros(3)))
    assert found[0] == pytest.approx(turn, abs=0.05 * node.scale[0])
