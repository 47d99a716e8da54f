"""The discrete timewarp: Sako's rules as printed, and what must hold for every path."""

import numpy as np
import pytest

from marey.blend.baselines import discrete_blend, greedy, match_frames
from marey.blend.baselines.paths import GridPath
from marey.edit import timewarp
from marey.errors import InvalidValue, MareyWarning
from marey.samples import sample, straight_walk
from tests.blend.baselines.grids import all_paths, gait_grid, walked

WALK = straight_walk(seconds=2.0, fps=30.0)


@pytest.mark.parametrize(
    ("directions", "pairs"),
    [
        ("xrx", [(0, 0, 0.0), (1, 2, 0.5), (3, 3, 0.0)]),  # case 1: 2 interpolated with 3
        ("xrrx", [(0, 0, 0.0), (1, 3, 0.5), (4, 4, 0.0)]),  # case 2: 2 interpolated with 4
        ("xdx", [(0, 0, 0.0), (0, 1, 2 / 3), (1, 2, 1 / 3), (2, 2, 0.0)]),  # case 3, as in figure 19
        ("xddx", [(0, 0, 0.0), (0, 1, 0.5), (1, 1, 0.0), (1, 2, 0.5), (2, 2, 0.0)]),  # case 4
        ("xxx", [(0, 0, 0.0), (1, 1, 0.0), (2, 2, 0.0), (3, 3, 0.0)]),
        ("dx", [(0, 0, 0.0), (0, 1, 0.5), (1, 1, 0.0)]),  # a run at the beginning starts from the first frame
        ("xd", [(0, 0, 0.0), (0, 1, 0.5), (1, 1, 0.0)]),
        ("d", [(0, 0, 0.0), (0, 0, 0.0)]),
        ("r", [(0, 1, 0.5)]),
    ],
)
def test_deletion_and_insertion(directions: str, pairs: list[tuple[int, int, float]]) -> None:
    found = match_frames(walked(directions))
    assert found.frames.tolist() == list(range(len(pairs)))
    assert found.low.tolist() == [low for low, _, _ in pairs]
    assert found.high.tolist() == [high for _, high, _ in pairs]
    np.testing.assert_allclose(found.fraction, [fraction for _, _, fraction in pairs], atol=1e-12)


def test_every_path_gives_each_frame_of_the_first_motion_one_time_in_the_second() -> None:
    for shape in ((5, 4), (4, 5), (5, 5)):
        for cells in all_paths(shape, (0, 0), "corner", 2):
            found = match_frames(cells)
            assert found.frames.tolist() == list(range(shape[0]))
            assert (np.diff(found.at) >= -1e-12).all()  # time never runs backward
            assert found.low.min() >= 0
            assert found.high.max() <= shape[1] - 1
            assert ((found.fraction >= 0.0) & (found.fraction < 1.0)).all()
            columns = {row: [j for i, j in cells if i == row] for row in range(shape[0])}
            for row, at in enumerate(found.at):
                assert min(columns[row]) - 1 < at < max(columns[row]) + 1


def test_a_path_within_the_grid_starts_where_it_starts() -> None:
    found = match_frames(walked("xdx", start=(4, 7)))
    assert found.frames.tolist() == [4, 5, 6, 7]
    np.testing.assert_allclose(found.at, [7.0, 7 + 2 / 3, 8 + 1 / 3, 9.0])


def test_the_result_has_the_length_and_rate_of_the_first_motion() -> None:
    slow = timewarp(WALK, [(0.0, 0.0), (2.0, 2.6)])
    cells = greedy(gait_grid(len(WALK), len(slow))).cells
    result = discrete_blend(WALK, slow, (0.5, 0.5), path=cells)
    assert len(result) == len(WALK)
    assert result.fps == WALK.fps
    assert result.contacts is None
    assert result.source.provenance[-1]["op"] == "discrete_blend"
    assert result.source.provenance[-1]["inputs"] == [WALK.name, slow.name]


def test_weights_on_the_first_motion_give_it_back() -> None:
    slow = timewarp(WALK, [(0.0, 0.0), (2.0, 2.6)])
    result = discrete_blend(WALK, slow, (1.0, 0.0), path=greedy(gait_grid(len(WALK), len(slow))))
    np.testing.assert_allclose(result.world().positions, WALK.world().positions, atol=1e-9)


def test_blending_a_motion_with_its_slowed_copy_gives_the_first() -> None:
    keys = [(0.0, 0.0), (1.0, 1.3), (2.0, 2.4)]
    slow = timewarp(WALK, keys).moved([1.0, 3.0, -2.0])
    result = discrete_blend(WALK, slow)
    apart = np.linalg.norm(result.world().positions - WALK.world().positions, axis=-1)
    assert apart.mean() < 0.01
    assert apart.max() < 0.05
    plain = np.linalg.norm(
        slow.moved([-1.0, 0.0, 0.0])[: len(WALK)].world().positions - WALK.world().positions, axis=-1
    )
    assert apart.max() < 0.2 * plain.max()


def test_part_of_the_motions() -> None:
    path = GridPath(walked("xxrxdx", start=(5, 9)), np.zeros(7))
    result = discrete_blend(WALK, WALK, path=path)
    assert len(result) == 6
    np.testing.assert_allclose(result.root_positions[0], WALK.root_positions[5], atol=2e-2)


def test_bad_input_is_refused() -> None:
    with pytest.raises(InvalidValue, match=r"leads from \(0, 0\) to \(80, 80\), beyond motions of 61 and 61 frames"):
        discrete_blend(WALK, WALK, path=walked("x" * 80))
    with pytest.raises(InvalidValue, match="path must have shape"):
        discrete_blend(WALK, WALK, path=[1, 2, 3])
    with pytest.raises(InvalidValue, match=r"must advance one motion or both by one .* from \(0, 0\) to \(0, 2\)"):
        match_frames([[0, 0], [0, 2]])
    with pytest.raises(InvalidValue, match="path must hold whole numbers"):
        match_frames([[0.0, 0.0], [0.5, 1.0]])
    with pytest.warns(MareyWarning, match="'straight_walk' was resampled from 30 to 60 Hz"):
        assert discrete_blend(WALK, straight_walk(seconds=2.0)).fps == 60.0
    with pytest.raises(InvalidValue, match="weights must be 2 numbers"):
        discrete_blend(WALK, WALK, (0.2, 0.3, 0.5), path=walked("xx"))
    with pytest.raises(InvalidValue, match="angles must be one of quaternion, euler, not 'matrix'"):
        discrete_blend(WALK, WALK, path=walked("xx"), angles="matrix")  # type: ignore[arg-type]
    with pytest.raises(InvalidValue, match="retarget"):
        discrete_blend(WALK, _other_figure())


def _other_figure():  # type: ignore[no-untyped-def]
    from dataclasses import replace

    from marey.core import Skeleton

    walk = sample("walk", fps=30.0, seconds=2.0).motion
    skeleton = walk.skeleton
    return replace(walk, skeleton=Skeleton(skeleton.names, skeleton.parents, 1.2 * skeleton.offsets))
