"""Walks: the motion they play is continuous, and within a clip it is the clip."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from marey.errors import InvalidValue
from marey.graph import Walk
from marey.maths import quat, rigid2d
from marey.samples import sample
from tests.graph.clips import two_styles, walking_graph


@pytest.fixture(scope="module")
def graph():
    return walking_graph()


def steps(motion) -> np.ndarray:
    """Return distances from frame to frame, (F - 1, J) meters."""
    return np.linalg.norm(np.diff(motion.world().positions, axis=0), axis=-1)


def test_a_walk_inside_one_clip_is_the_clip(graph):
    runs = [e for e in range(len(graph.edges)) if not graph.edges.blends[e] and graph.edges.clips[e, 0] == 1]
    edge = max(runs, key=lambda e: graph.edges.n_frames[e])
    clip = graph.clips[1]
    start, n = int(graph.edges.starts[edge, 0]), int(graph.edges.n_frames[edge])
    result = graph.walk([edge]).motion(feet=None)
    np.testing.assert_array_equal(result.root_positions, clip.root_positions[start : start + n])
    np.testing.assert_array_equal(result.rotations, clip.rotations[start : start + n])
    np.testing.assert_array_equal(result.contacts.mask, clip.contacts.mask[start : start + n])
    assert result.labels == clip.labels.crop(start, start + n)


def test_frame_to_frame_steps_stay_within_those_of_the_clips(graph):
    result = graph.random_walk(120, rng=0).motion(feet=None)
    theirs = np.concatenate([steps(clip) for clip in graph.clips])
    ours = steps(result)
    assert np.quantile(ours, 0.999) <= 1.15 * np.quantile(theirs, 0.999)
    assert ours.max() <= 1.15 * theirs.max()


def test_a_transition_is_blended_by_the_formula(graph):
    edges, half = graph.edges, graph.half_width
    edge = int(np.flatnonzero(edges.blends)[0])
    result = graph.walk([edge]).motion(feet=None)
    (a, b), (i, j) = edges.clips[edge], edges.starts[edge]
    other = graph.clips[b].moved(edges.moves[edge])
    for k in range(2 * half + 1):
        t = (k + 1) / (2 * half + 2)
        alpha = 2 * t**3 - 3 * t**2 + 1
        root = alpha * graph.clips[a].root_positions[i + k] + (1 - alpha) * other.root_positions[j + k]
        np.testing.assert_allclose(result.root_positions[k], root, atol=1e-12)
        expected = quat.slerp(other.rotations[j + k], graph.clips[a].rotations[i + k], alpha)
        assert quat.angle_between(result.rotations[k], expected).max() < 1e-7
        contacts = graph.clips[a].contacts.mask[i + k] if k <= half else graph.clips[b].contacts.mask[j + k]
        np.testing.assert_array_equal(result.contacts.mask[k], contacts)


def test_after_a_transition_the_other_clip_continues_in_place(graph):
    edges = graph.edges
    jump = int(np.flatnonzero(edges.blends)[3])
    after = next(e for e in graph.out_edges(int(edges.heads[jump])) if not edges.blends[e])
    start = np.array([0.4, 2.0, -1.0])
    walk = graph.walk([jump, after], start)
    result = walk.motion(feet=None)
    place = rigid2d.compose(start, edges.moves[jump])
    b, j, n = int(edges.clips[after, 0]), int(edges.starts[after, 0]), int(edges.n_frames[after])
    expected = graph.clips[b].moved(place)[j : j + n]
    tail = result[int(edges.n_frames[jump]) :]
    np.testing.assert_allclose(tail.world().positions, expected.world().positions, atol=1e-9)
    np.testing.assert_allclose(walk.places, [start, place, place], atol=1e-12)


def test_provenance_records_the_source_of_each_frame(graph):
    walk = graph.random_walk(20, rng=5)
    result = walk.motion(feet=None)
    parts = result.source.provenance[-1]["parts"]
    assert parts[0]["start"] == 0
    assert parts[-1]["stop"] == len(result) == 600
    clips = {clip.name: clip for clip in graph.clips}
    for before, after in pairwise(parts):
        assert before["stop"] == after["start"]
    for part in parts:
        if part["into"] is None:
            frames = slice(part["start"], part["stop"])
            taken = slice(part["frame"], part["frame"] + part["stop"] - part["start"])
            np.testing.assert_allclose(
                result.rotations[frames, 1:],
                clips[part["clip"]].rotations[taken, 1:] * _signs(result, clips, part),
                atol=1e-12,
            )


def _signs(made, clips, part):
    """Return signs (1, J, 1): quaternions of either sign are the same rotation."""
    dots = (made.rotations[part["start"], 1:] * clips[part["clip"]].rotations[part["frame"], 1:]).sum(axis=-1)
    return np.sign(dots)[None, :, None]


def test_the_same_seed_gives_the_same_walk_and_another_another(graph):
    one, same, other = (graph.random_walk(30, rng=seed).edges.tolist() for seed in (1, 1, 2))
    assert one == same
    assert one != other


def test_a_walk_of_one_label_keeps_to_it():
    graph = two_styles()
    for label in ("walk", "sneak"):
        result = graph.random_walk(20, rng=2, label=label).motion(feet=None)
        assert result.labels.mask(label, len(result)).all()


def test_walks_have_the_requested_length(graph):
    for seconds in (1 / 30, 0.1, 7.77):
        assert len(graph.random_walk(seconds, rng=0).motion(feet=None)) == round(seconds * 30)


def test_clean_walks_hold_their_plants(graph):
    from marey.clean import point_paths

    result = graph.random_walk(20, rng=1).motion()
    paths = point_paths(result, result.contacts.points)
    moved = np.linalg.norm(np.diff(paths, axis=0), axis=-1)
    held = result.contacts.mask[1:] & result.contacts.mask[:-1]
    assert held.any()
    assert moved[held].max() < 1e-5


@pytest.mark.parametrize(
    ("edges", "n_frames", "message"),
    [
        ([], None, "at least one edge"),
        ([10**6], 3, "edges must be numbers from 0 to"),
        ("broken", None, "does not begin at the node where edge"),
        ([0], 10**6, "so that the walk ends within its last edge, not 1000000"),
    ],
)
def test_bad_walks(graph, edges, n_frames, message):
    if edges == "broken":
        end = int(graph.edges.heads[0])
        edges = [0, next(e for e in range(len(graph.edges)) if graph.edges.tails[e] != end)]
    with pytest.raises(InvalidValue, match=message):
        Walk(graph, np.array(edges, dtype=np.int64), np.zeros(3), n_frames or sum(graph.edges.n_frames[edges]))


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan"), 0.01])
def test_walks_of_no_length_are_refused(graph, seconds):
    with pytest.raises(InvalidValue, match="seconds must be (greater than 0|a finite number|at least one frame)"):
        graph.random_walk(seconds)


def test_a_walk_starts_at_a_node_of_the_graph(graph):
    with pytest.raises(InvalidValue, match="start, a node, must be from 0 to"):
        graph.random_walk(1.0, start=10**9)


def test_a_foot_planted_elsewhere_after_a_transition_is_released() -> None:
    """Otherwise one plant would hold it at both positions."""
    from marey.graph.walk import _part_plants

    stand = sample("stand", seconds=2.0, fps=30.0).motion
    assert stand.contacts is not None
    held = replace(stand, contacts=replace(stand.contacts, mask=np.ones_like(stand.contacts.mask)))
    for distance, freed in ((0.05, False), (0.3, True)):
        along = np.clip((np.arange(len(held)) - 20) / 10, 0.0, 1.0)
        moved = held.root_positions + np.outer(along, [distance, 0.0, 0.0])
        result = _part_plants(replace(held, root_positions=moved), [(20, 31)])
        assert result.contacts is not None
        assert (~result.contacts.mask[21:30]).all() == freed
        assert result.contacts.mask[:21].all()
        assert result.contacts.mask[30:].all()
