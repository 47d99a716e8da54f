"""The cleanup's kernels against slow twins, `core.solve_limb` and laws."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from marey.clean import layout_kernels as layout
from marey.clean.layout_kernels import CleanState
from marey.clean.pipeline import make_options
from marey.clean.plant_kernels import close_gaps
from marey.clean.root_kernels import find_nearest_in_balls
from marey.clean.settings import CleanSettings
from marey.clean.target_kernels import fade_tails, find_span
from marey.core.limb import LimbSettings, solve_limb
from marey.core.limb_kernels import (
    LimbInput,
    find_easing_rotation,
    find_hinge_axis,
    find_knee_rotation,
    find_swivel,
    solve,
)
from marey.maths import quat
from tests.tiers import mostly_slow, shorten
from tests.twins import cleanup as twin


@pytest.mark.parametrize("n", mostly_slow([1, 2, 3, 4], "more balls take many more tries", n_fast=2))
def test_nearest_in_balls(n: int) -> None:
    rng = np.random.default_rng(n)
    for _ in range(25):
        balls = np.concatenate([rng.normal(size=(n, 3)), rng.uniform(1.0, 2.5, size=(n, 1))], axis=1)
        shared = rng.normal(size=3) * 0.5
        balls[:, 3] = np.maximum(balls[:, 3], np.linalg.norm(balls[:, :3] - shared, axis=1) * 1.02)
        found = np.array(find_nearest_in_balls(balls, n))
        assert (np.linalg.norm(found - balls[:, :3], axis=1) <= balls[:, 3] + 1e-6).all()
        assert abs(np.linalg.norm(found) - np.linalg.norm(twin.nearest_in_balls(balls))) < 1e-4


def test_balls_without_a_common_point_give_a_compromise() -> None:
    balls = np.array([[2.0, 0.0, 0.0, 0.5], [-2.0, 0.0, 0.0, 0.5]])
    np.testing.assert_allclose(find_nearest_in_balls(balls, 2), [0.0, 0.0, 0.0], atol=1e-9)


@settings(deadline=None, max_examples=shorten(40), derandomize=True)
@given(mask=st.lists(st.booleans(), min_size=1, max_size=60), gap=st.integers(0, 6))
def test_gaps_are_closed(mask: list[bool], gap: int) -> None:
    flags = np.zeros((len(mask), 1, layout.N_FLAGS), dtype=np.int64)
    flags[:, 0, layout.M1] = mask
    for t in range(len(mask)):
        close_gaps(flags, gap, t, len(mask))
    np.testing.assert_array_equal(flags[:, 0, layout.A1] != 0, twin.closed(np.array(mask), gap))


@settings(deadline=None, max_examples=shorten(40), derandomize=True)
@given(mask=st.lists(st.booleans(), min_size=2, max_size=50), seed=st.integers(0, 99))
def test_tails(mask: list[bool], seed: int) -> None:
    n, window, slope = len(mask), 7, 4
    size = 10.0 ** np.random.default_rng(seed).uniform(-4.0, 0.0)  # from gradual slopes to steep ones
    values = size * np.random.default_rng(seed).normal(size=(n, 3)) * np.array(mask)[:, None]
    state = CleanState(
        np.zeros((n, 1, layout.N_STATE)),
        np.zeros((n, 1, layout.N_FLAGS), dtype=np.int64),
        np.zeros((n, layout.N_SHIFTS)),
        np.zeros(layout.N_STEPS, dtype=np.int64),
    )
    state.values[:, 0, layout.D : layout.D + 3] = values
    state.flags[:, 0, layout.KIND] = np.where(mask, layout.FIRST, layout.FREE)
    options = make_options(CleanSettings(), 60.0, floor=0.0, near=0.1, hover=0.03, planes=())
    options = options._replace(slope=slope, seen=1)
    for t in range(n):
        if not mask[t]:
            span = find_span(state.flags, 0, t, window, False, n)
            found = fade_tails(options, state, span, layout.D, window)
            np.testing.assert_allclose(found, twin.tail(values, np.array(mask), t, window, slope), atol=1e-12)


@pytest.mark.parametrize("damping", [np.deg2rad(135.0), np.pi])
def test_the_limb_is_solved_as_in_core(damping: float) -> None:
    rng = np.random.default_rng(7)
    for _ in range(40):
        hip, parent = quat.normalize(rng.normal(size=4)), quat.normalize(rng.normal(size=4))
        hinge = np.array([-1.0, 0.0, 0.0])
        upper, lower = np.array([0.0, -0.43, 0.0]), np.array([0.0, -0.42, 0.0])
        knee = quat.from_axis_angle(hinge, -rng.uniform(0.1, 2.0))
        ankle, turned = quat.normalize(rng.normal(size=4)), quat.normalize(rng.normal(size=4))
        base, target = rng.normal(size=3), rng.normal(size=3)
        target = base + (target - base) / np.linalg.norm(target - base) * rng.uniform(0.3, 0.84)
        want = solve_limb(
            base, parent, hip, knee, ankle, upper, lower, hinge, target, turned,
            settings=LimbSettings(damping_from=None if damping == np.pi else damping, max_stretch=0.4),
        )  # fmt: skip
        hip_world = quat.mul(parent, hip)
        up, down = quat.rotate(hip_world, -upper), quat.rotate(quat.mul(hip_world, knee), lower)
        end = quat.mul(quat.mul(hip_world, knee), ankle)
        up, down, usual = (tuple(map(float, v)) for v in (up, down, quat.rotate(hip_world, hinge)))
        axis, sure = find_hinge_axis(up, down, usual)
        assert sure == 1.0
        change = find_knee_rotation(up, down, axis, float(np.linalg.norm(target - base)), damping)
        base, end, target, turned = (tuple(map(float, v)) for v in (base, end, target, turned))
        limb = LimbInput(base, up, down, axis, end)
        turns = solve(limb, change, target, 0.5 * find_swivel(limb, change, target, turned, 0.4), 0.4)
        assert quat.angle_between(quat.mul(turns[0], hip_world), quat.mul(parent, want.hip)) < 1e-7
        new_knee = quat.mul(quat.mul(parent, want.hip), want.knee)
        assert quat.angle_between(quat.mul(turns[1], quat.mul(hip_world, knee)), new_knee) < 1e-7
        assert abs(turns[2] - want.scale) < 1e-9
        assert turns[3] < 1e-9


def test_a_knee_never_bends_backwards() -> None:
    up, down, hinge = (0.0, 0.43, 0.0), (0.0, -0.42, 0.02), (1.0, 0.0, 0.0)
    still = (1.0, 0.0, 0.0, 0.0)
    for change in (0.01, 0.5, 3.0):
        hip, knee, scale, residue = solve(
            LimbInput((0.0, 0.85, 0.0), up, down, hinge, still), change, (0.0, 0.0, 0.0), 0.0, 0.2
        )
        turned = quat.rotate(knee, down)
        assert residue < 1e-9
        assert abs(scale - 1.0) < 0.01
        assert np.dot(hinge, np.cross(quat.rotate(hip, up), turned)) >= -1e-12


def scale_after(bend: float, shortening: float, damping: float) -> tuple[float, float]:
    """Solve a leg of 0.85 m, bent by some radians, for an ankle that is nearer: its scale, and its bend afterward."""
    up, hinge, still = (0.0, 0.43, 0.0), (1.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)
    down = (0.0, float(-0.42 * np.cos(bend)), float(-0.42 * np.sin(bend)))
    distance = (1.0 - shortening) * float(np.linalg.norm(np.subtract(down, up)))
    change = find_easing_rotation(up, down, hinge, distance, damping)
    limb = LimbInput((0.0, distance, 0.0), up, down, hinge, still)
    hip, knee, scale, residue = solve(limb, change, (0.0, 0.0, 0.0), 0.0, 0.2)
    assert residue < 1e-9
    thigh, shin = quat.rotate(hip, np.negative(up)), quat.rotate(knee, down)
    return scale, float(np.arctan2(np.dot(hinge, np.cross(shin, thigh)), np.dot(thigh, shin)))


@pytest.mark.parametrize("bend", [0.0, 0.1, 0.5, -0.2])
def test_a_leg_that_must_be_much_shorter_bends(bend: float) -> None:
    """Damping alone would shorten a straight leg as far as the limit; a knee that is bent backward bends forward."""
    damping = np.deg2rad(135.0)
    for shortening in (0.05, 0.1, 0.17, 0.25):
        scale, after = scale_after(bend, shortening, damping)
        assert abs(scale - 1.0) < 0.08
        assert after > 0.3 or shortening < 0.1
    small = 0.002
    assert scale_after(0.1, small, damping)[1] < 0.13
    # No jumps: a millimeter more does not rotate the knee by degrees.
    angles = [scale_after(bend, shortening, damping)[1] for shortening in np.linspace(0.02, 0.2, 400)]
    assert np.abs(np.diff(angles)).max() < np.deg2rad(2.0)


def test_a_knee_that_bends_the_other_way_does_not_jump() -> None:
    """The axis reverses while a knee bends from one side to the other; rotations about it vanish there."""
    up, usual = (0.0, 0.43, 0.0), (1.0, 0.0, 0.0)
    turned = []
    for angle in np.linspace(-1.2, 1.2, 2001):
        down = (0.0, float(-0.42 * np.cos(angle)), float(0.42 * np.sin(angle)))
        axis, scale = find_hinge_axis(up, down, usual)
        turned.append(scale * np.array(axis))
    assert np.linalg.norm(np.diff(turned, axis=0), axis=1).max() < 0.05
    assert np.linalg.norm(turned[0] + turned[-1]) < 1e-9  # reversed at the ends
