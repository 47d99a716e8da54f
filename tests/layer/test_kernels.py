"""Every kernel of `layer` gives the bytes of its Python form, on random input."""

from typing import Any

import numpy as np
import pytest

from marey.compiled import python_form
from marey.layer import gaze_aim_kernels, gaze_kernels, splice_kernels, time_alignment_kernels, trunk_kernels
from marey.layer.gaze_body import GazeBody
from marey.layer.gaze_map import GazeMap
from marey.layer.halves import split_body
from marey.samples import sample

WALK = sample("walk", seconds=0.5, fps=30.0).motion
HALVES = split_body(WALK.skeleton)
J, F = len(WALK.skeleton), len(WALK)


def quaternions(rng: np.random.Generator, *shape: int) -> np.ndarray:
    out = rng.normal(size=(*shape, 4))
    return out / np.linalg.norm(out, axis=-1, keepdims=True)


def copy(value: Any) -> Any:
    if isinstance(value, tuple):
        items = [copy(item) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    return value.copy() if isinstance(value, np.ndarray) else value


def arrays(value: Any) -> list[np.ndarray]:
    if isinstance(value, tuple):
        return [array for item in value for array in arrays(item)]
    return [] if value is None else [np.array(value)]


def assert_same_forms(kernel: Any, *arguments: Any) -> None:
    """Return the results, and the arguments afterward."""
    ours, others = copy(arguments), copy(arguments)
    results = kernel(*ours), python_form(kernel)(*others)
    for got, wanted in zip(arrays((ours, results[0])), arrays((others, results[1])), strict=True):
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("seed", range(10))
def test_rotations_and_postures(seed: int) -> None:
    rng = np.random.default_rng(seed)
    source = rng.normal(size=(1 + seed % 6, 3))
    for target in (rng.normal(size=source.shape), source + 1e-9 * rng.normal(size=source.shape), source):
        assert_same_forms(trunk_kernels.best_rotation, source, target)
    assert_same_forms(trunk_kernels.pitch_between, *rng.normal(size=(2, 2, 3)))
    assert_same_forms(trunk_kernels.rotate_trunk, *(tuple(q) for q in quaternions(rng, 4).tolist()))


@pytest.mark.parametrize("n_offsets", [1, F])
def test_trunks(n_offsets: int) -> None:
    rng = np.random.default_rng(n_offsets)
    lower = trunk_kernels.ClipArrays(rng.normal(size=(n_offsets, J, 3)), quaternions(rng, F, J))
    upper = trunk_kernels.ClipArrays(WALK.skeleton.offsets[None], quaternions(rng, F, J))
    out = trunk_kernels.TrunkArrays(*np.empty((3, F, 4)), np.empty((F, 2, 3)))
    assert_same_forms(trunk_kernels.align_trunks, HALVES.cut, lower, upper, out)
    assert_same_forms(trunk_kernels.find_shoulders, HALVES.cut, lower, np.empty((F, 2, 3)))


@pytest.mark.parametrize("transfer", [splice_kernels.NO_TRANSFER, splice_kernels.PITCH, splice_kernels.FULL])
@pytest.mark.parametrize("loop", [(0.0, 0.0, 0.0, 0.0), (2.0, 6.0, 0.5, 0.7), (2.0, 6.0, 0.0, 0.0)])
def test_frames_of_a_splice(transfer: int, loop: tuple[float, float, float, float]) -> None:
    rng = np.random.default_rng(transfer)
    plan = splice_kernels.SplicePlan(
        cut=HALVES.cut,
        is_upper=HALVES.upper,
        offsets=WALK.skeleton.offsets,
        upper=quaternions(rng, 9, J),
        table=splice_kernels.FrameTable(np.linspace(0.0, 8.0, 20), 0.0, 19.0 / 8.0),
        loop=splice_kernels.LoopRange(*loop),
        transfer=transfer,
        wanted=rng.normal(size=(2, 3)),
    )
    for x in (-1.0, 0.3, 5.7, 6.2, 9.9, 13.0):
        lower, hip, mean = quaternions(rng, J), quaternions(rng), rng.normal(size=(2, 3))
        assert_same_forms(splice_kernels.splice_frame, plan, lower, hip, x, mean, 0.3, np.empty((J, 4)))


@pytest.mark.parametrize("seed", range(4))
def test_looks(seed: int) -> None:
    rng = np.random.default_rng(seed)
    body, world, table, n = GazeBody.from_skeleton(WALK.skeleton), WALK.world(), GazeMap.default().grid, 4
    looks = gaze_kernels.GazeLooks(
        begins=np.sort(rng.uniform(0.0, 0.4, n)),
        kinds=rng.integers(0, 3, n),
        times=rng.uniform([0.2, 0.0, 0.0, 0.0, 0.0, 0.6, 0.0], [0.6, 0.3, 0.3, 0.3, 0.3, 0.9, 0.2], (n, 7)),
        points=rng.normal(size=(n, 3)),
        requests=rng.normal(size=(n, F, 2)),
        anchors=0.2 * rng.normal(size=(n, 15)),
    )
    motion = gaze_kernels.GazeMotion(
        world=world.rotations,
        positions=world.positions,
        offsets=WALK.skeleton.offsets[None],
        parents=WALK.skeleton.parents,
        chain=body.chain,
        weights=body.fractions,
        ahead=body.ahead,
        eye_offset=body.eyes,
        heading=rng.normal(size=F),
        base=0.3 * rng.normal(size=(F, 2)),
        follow=0.1 * rng.normal(size=(F, 12)),
        fps=30.0,
    )
    out = gaze_kernels.GazeOutput(
        WALK.rotations.copy(), *(np.empty((F, width)) for width in (4, 3, 3, 2, 3, 3)), np.empty(F)
    )
    assert_same_forms(gaze_kernels.apply_looks, motion, looks, table, bool(seed % 2), 0.6, out)
    assert_same_forms(gaze_kernels.blend_looks, looks, table, 0.3 * rng.normal(size=2), 0.5, np.empty(15))
    goal = quaternions(rng)[:3]
    assert_same_forms(gaze_aim_kernels.aim_row, table, rng.normal(size=2), goal / np.linalg.norm(goal), np.empty(22))
    angles, vectors = rng.normal(size=F), rng.normal(size=(F, 15))
    assert_same_forms(
        gaze_kernels.rotate_spine, np.array([0]), body.chain, body.fractions, angles, vectors, WALK.rotations.copy()
    )
    head, eyes, goal = rng.normal(size=(3, 3))
    assert_same_forms(gaze_kernels.find_goal_angles, head, quaternions(rng), eyes, 0.4, goal)


@pytest.mark.parametrize("limit", [2, 3])
def test_paths(limit: int) -> None:
    rng = np.random.default_rng(limit)
    values, held = rng.uniform(size=(20, 25)), rng.uniform(size=20) < 0.3
    assert_same_forms(time_alignment_kernels.find_path, values, 5, limit, 0.01, held, np.zeros(20))
