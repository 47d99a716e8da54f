"""Promises of graphs, tested on generated walks with turns to both sides and on recorded walks."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from marey.graph import MotionGraph, word_path
from marey.graph.direction_table import direction_table
from marey.graph.follow import follow, resample_path
from marey.graph.skate import foot_skate
from marey.io import load_motion
from marey.samples import sample
from tests.graph.test_direction_table import by_table, greedily, progress


@cache
def turning() -> MotionGraph:
    """Return walks at two speeds, straight and turning to both sides, and turns within a few steps."""
    rates = ((0.0, 1.1), (0.4, 1.1), (-0.4, 1.1), (1.0, 1.1), (-1.0, 1.1), (0.0, 0.6), (1.2, 0.6), (-1.2, 0.6))
    walks = [
        replace(sample("walk", rng=k, fps=30, seconds=8, turn_rate=rate, speed=speed).motion, name=f"walk{k}")
        for k, (rate, speed) in enumerate(rates)
    ]
    around = [
        replace(sample("turn_around", rng=k, fps=30, angle=angle).motion, name=f"turn{k}")
        for k, angle in enumerate((3.1, -3.1))
    ]
    return MotionGraph.build([*walks, *around], 0.08)


@pytest.fixture(scope="module")
def recorded(data_folder) -> MotionGraph:
    folder = data_folder / "cmu" / "144"
    if not folder.is_dir():
        pytest.skip(f"no walking clips at {folder}")
    return MotionGraph.build([load_motion(path) for path in sorted(folder.glob("*.bvh"))], 0.08, fps=30)


def random_curve(seed: int) -> np.ndarray:
    """Return a smooth curve of 10 to 24 m: its curvature is a sum of slow waves."""
    rng = np.random.default_rng(seed)
    gone = np.arange(0.0, rng.uniform(10.0, 24.0), 0.05)
    bend = sum(
        rng.uniform(-0.35, 0.35) * np.sin(2.0 * np.pi * gone / rng.uniform(4.0, 14.0) + rng.uniform(0.0, 6.3))
        for _ in range(4)
    )
    heading = rng.uniform(-np.pi, np.pi) + 0.05 * np.cumsum(bend)
    return 0.05 * np.stack([np.cumsum(np.sin(heading)), np.cumsum(np.cos(heading))], axis=1)


def square() -> np.ndarray:
    return np.array([[0.0, 0.0], [0.0, 4.0], [4.0, 4.0], [4.0, 0.0], [0.0, 0.0]])


def seconds_in_place(found) -> float:
    """Return the longest time within 0.3 m during which the walk advances by less than 0.25 m along the path."""
    way, (course, _) = found.walked_path, resample_path(found.path)
    away = ((way[:, None] - course[None]) ** 2).sum(axis=-1)
    least, back = away[0], []
    for row in away[1:]:
        run = np.minimum.accumulate(least)
        back.append(np.maximum.accumulate(np.where(least <= run, np.arange(len(least)), 0)))
        least = run + row
    at = [int(least.argmin())]
    for step in back[::-1]:
        at.append(int(step[at[-1]]))
    gone = 0.02 * np.array(at[::-1])
    longest = 0
    for k in range(len(way)):
        here = (gone[k:] - gone[k] < 0.25) & (np.hypot(*(way[k:] - way[k]).T) < 0.3)
        longest = max(longest, len(here) if here.all() else int(here.argmin()))
    return longest / found.walk.graph.fps


def check(graph, path, mean: float, end: float) -> None:
    found = follow(graph, path)
    assert found.mean_distance <= mean
    assert found.mean_uncovered <= mean
    assert found.end_distance <= end
    assert seconds_in_place(found) <= 2.0


@pytest.mark.parametrize("seed", range(40, 43))
def test_random_curves_are_followed(seed):
    check(turning(), random_curve(seed), 0.15, 0.25)


def test_corners_are_turned_and_a_word_is_written():
    check(turning(), square(), 0.35, 0.5)
    check(turning(), word_path("Hello", 12.0), 0.35, 0.5)


@pytest.mark.slow("follows long paths in a graph of recorded walks")
@pytest.mark.parametrize("seed", range(60, 62))
def test_recorded_walks_follow_random_curves(recorded, seed):
    check(recorded, random_curve(seed), 0.15, 0.25)


@pytest.mark.slow("follows long paths in a graph of recorded walks")
def test_recorded_walks_turn_corners_and_write_a_word(recorded):
    check(recorded, square(), 0.35, 0.5)
    check(recorded, word_path("Hello", 12.0), 0.35, 0.5)


def steps(motion) -> np.ndarray:
    """Return distances from frame to frame, (F - 1, J) meters, without fingers."""
    names = [name.lower() for name in motion.skeleton.names]
    body = [k for k, name in enumerate(names) if "finger" not in name and "thumb" not in name]
    return np.linalg.norm(np.diff(motion.world().positions[:, body], axis=0), axis=-1)


def check_continuity(graph, seed: int) -> None:
    walk = graph.random_walk(600.0, rng=seed)
    theirs = np.concatenate([steps(clip) for clip in graph.clips])
    ours = steps(walk.motion(feet=None))
    joins = np.zeros(len(ours), dtype=bool)
    for part in walk.parts:
        if part.into is not None:
            joins[max(part.start - 1, 0) : part.stop] = True
    assert np.quantile(ours, 0.999) <= 1.15 * np.quantile(theirs, 0.999)
    assert ours[joins].max() <= 1.15 * theirs.max()


@pytest.mark.slow("plays ten minutes")
def test_ten_minutes_are_as_smooth_as_the_clips():
    check_continuity(turning(), 3)


@pytest.mark.slow("plays ten minutes of recorded motion")
def test_ten_minutes_of_recorded_motion_are_as_smooth_as_the_clips_and_play_all_of_them(recorded):
    check_continuity(recorded, 3)
    walk = recorded.random_walk(600.0, rng=4)
    frames = dict.fromkeys((clip.name for clip in recorded.clips), 0)
    for part in walk.parts:
        frames[part.clip] += part.stop - part.start
    often = [frames[clip.name] / len(clip) for clip in recorded.clips]
    assert min(often) > 0.3
    assert max(often) < 3.0 * 600.0 / sum(clip.duration for clip in recorded.clips)


def test_feet_slide_no_more_than_in_the_clips_once_they_are_held(recorded):
    for graph in (turning(), recorded):
        report = foot_skate(graph.random_walk(60.0, rng=7))
        for sliding in report:
            assert sliding.after <= 1.1 * sliding.sources + 1e-9
            assert 0.0 < sliding.before < max(0.1, 1.5 * sliding.sources)


def test_a_walk_within_one_clip_slides_as_the_clip():
    graph = turning()
    runs = np.flatnonzero(~graph.edges.blends)
    edge = int(runs[graph.edges.n_frames[runs].argmax()])
    walk = graph.walk([edge])
    clip = graph.clips[int(graph.edges.clips[edge, 0])]
    start = int(graph.edges.starts[edge, 0])
    result = clip[start : start + len(walk)]
    report = foot_skate(walk, result)
    assert report.planted.before == pytest.approx(report.planted.after)
    assert report.low.before == pytest.approx(report.low.after)


def test_nowhere_is_a_dead_end(recorded):
    for graph in (turning(), recorded):
        assert (np.diff(graph.first_out) > 0).all()
        for k, name in enumerate(graph.label_names):
            inside = graph.select_edges(name)
            goes_on = np.zeros(len(graph.nodes), dtype=bool)
            goes_on[graph.edges.tails[inside]] = True
            assert goes_on[graph.members[k]].all()
            assert goes_on[graph.edges.heads[inside]].all()


@pytest.mark.slow("plays 48 walks")
def test_a_table_goes_twice_as_far_as_the_greedy_choice(tmp_path, recorded):
    for graph in (turning(), recorded):
        table, fine = direction_table(graph, 16), direction_table(graph, 96)
        ours, best, greedy = (
            np.mean([progress(graph, choose, seed) for seed in range(8)])
            for choose in (by_table(graph, table), by_table(graph, fine), greedily(graph))
        )
        assert ours >= 0.9 * best
        assert ours >= 2.0 * greedy
        table.save(tmp_path / "t.npz")
        data = sum(clip.rotations.nbytes + clip.root_positions.nbytes for clip in graph.clips)
        assert (tmp_path / "t.npz").stat().st_size <= 0.072 * data


def test_a_recorded_walk_within_one_clip_is_the_clip(recorded):
    edges = recorded.edges
    runs = np.flatnonzero(~edges.blends)
    first = int(runs[edges.n_frames[runs].argmax()])
    taken = [first]
    for _ in range(5):
        taken.append(next(e for e in recorded.out_edges(int(edges.heads[taken[-1]])) if not edges.blends[e]))
    walk = recorded.walk(taken)
    clip, start = recorded.clips[int(edges.clips[first, 0])], int(edges.starts[first, 0])
    result = walk.motion(feet=None)
    np.testing.assert_array_equal(result.root_positions, clip.root_positions[start : start + len(walk)])
    np.testing.assert_array_equal(result.world().positions, clip[start : start + len(walk)].world().positions)
    assert len(walk.parts) == 1
