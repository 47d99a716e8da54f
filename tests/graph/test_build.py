"""Building: transitions that are found, joined and pruned, compared with the definitions."""

from __future__ import annotations

import pickle
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest

from marey.compare import distance_grid, frame_weights, point_clouds
from marey.core import Label, Labels, Skeleton
from marey.errors import (
    InvalidValue,
    MareyWarning,
    NoResult,
    ParseError,
    UnknownFormat,
    UnknownName,
    UnknownVersion,
)
from marey.graph import Edges, GraphSettings, MotionGraph, Transitions
from marey.graph.build import (
    assemble_graph,
    compare_clips,
    penalize_contacts,
    search_clips,
)
from marey.graph.minima import find_transitions, split_into_blocks
from marey.graph.network import add_reverses, compact, connect_clips
from marey.graph.prune import prune
from marey.maths import quat, rigid2d
from marey.samples import sample
from marey.store import Cache
from tests.graph.clips import one_label, two_styles, walking_graph, walks


@pytest.fixture(scope="module")
def graph() -> MotionGraph:
    return walking_graph()


def test_different_contacts_cost_a_penalty(graph):
    """Kovar 4.4.1: transitions between frames with different contacts may be forbidden, or penalized."""
    clips = graph.clips
    strict = MotionGraph.build(clips, 0.2, contact_penalty=1.0)
    free = MotionGraph.build(clips, 0.2)
    assert 0 < strict.n_transitions < free.n_transitions
    blends = strict.edges.select(strict.edges.blends)
    masks = [clip.contacts.mask for clip in clips]
    middle = strict.half_width
    for (a, b), (start, other) in zip(blends.clips, blends.starts, strict=True):
        np.testing.assert_array_equal(masks[a][start + middle], masks[b][other + middle])


def test_a_penalty_is_the_fraction_of_points_that_differ(graph):
    motions = graph.clips[:2]
    frames = np.array([[10, 10], [10, 25]])
    found = Transitions(np.array([[0, 1], [0, 1]]), frames, np.array([0.03, 0.04]), np.zeros((2, 3)))
    got = penalize_contacts(motions, 0.1, found)
    masks = [motion.contacts.mask for motion in motions]
    for k, (a, b) in enumerate(frames):
        differ = float((masks[0][a] != masks[1][b]).mean())
        assert got[k] == pytest.approx(np.hypot(found.distances[k], 0.1 * np.sqrt(differ)))
    np.testing.assert_array_equal(penalize_contacts(motions, 0.0, found), found.distances)


def minima_by_definition(a, b, half: int) -> set[tuple[int, int]]:
    """Return the local minima of the whole grid among frames with complete windows."""
    values = distance_grid(a, b, window=0.5).values[half : len(a) - half, half : len(b) - half]
    out = set()
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            around = values[max(i - 1, 0) : i + 2, max(j - 1, 0) : j + 2]
            if values[i, j] <= around.min() and (a is not b or j - i >= 2 * half + 1):
                out.add((i + half, j + half))
    return out


@pytest.mark.parametrize("memory", [2**20, 2**28])
def test_blocks_find_the_minima_of_the_whole_grid(memory):
    clips = [motion[:130] for motion in walks()[:2]]
    weights = frame_weights(0.5, 30.0, "triangle")
    half = len(weights) // 2
    found = find_transitions([point_clouds(clip) for clip in clips], weights, None, max_memory=memory // 64)
    by_pair = defaultdict(set)
    for (a, b), (i, j) in zip(found.clips.tolist(), found.frames.tolist(), strict=True):
        assert (i, j) not in by_pair[a, b]
        by_pair[a, b].add((i, j))
    for a in range(2):
        for b in range(a, 2):
            assert by_pair[a, b] == minima_by_definition(clips[a], clips[b], half)


@pytest.mark.parametrize(
    "options",
    [
        {"threshold": 0.08},
        {"threshold": "20%"},
        {"threshold": 0.05, "thresholds": {("walk", "sneak"): "30%", ("sneak", "walk"): 0.0}},
        {"threshold": 0.2, "contact_penalty": 0.1},
    ],
)
def test_minima_that_are_read_in_batches_give_the_same_graph(options, tmp_path, monkeypatch):
    """With a cache and little memory, every pass reads the minima from the cache, in batches."""
    settings = GraphSettings(**options)
    clips = two_styles().clips
    found, half = compare_clips(clips, None, settings)
    whole = assemble_graph(clips, found, half, settings.threshold, settings.thresholds or {}, 2.0)
    monkeypatch.setattr("marey.graph.minima._BATCH", 50)
    monkeypatch.setattr("marey.graph.network._BATCH", 7)
    few = GraphSettings(settings=settings, cache=Cache.open(tmp_path / "cache"), max_memory=1)
    minima, _ = search_clips(clips, None, few)
    assert len(list(minima.batches())) > 3
    built = assemble_graph(clips, minima, half, settings.threshold, settings.thresholds or {}, 2.0)
    for name in Edges.__slots__:
        np.testing.assert_array_equal(getattr(built.edges, name), getattr(whole.edges, name))
    np.testing.assert_array_equal(built.nodes, whole.nodes)
    np.testing.assert_array_equal(built.pair_distances, whole.pair_distances)
    assert built.build_info == whole.build_info


def test_blocks_cover_each_pair_of_frames_once_and_keep_to_the_memory():
    seen = defaultdict(int)
    for block in split_into_blocks([100, 70], 7, 16 * 64 * 64):
        assert block.n_cells <= 64 * 64
        for i in range(*block.rows):
            for j in range(*block.columns):
                seen[block.a, block.b, i, j] += 1
    assert set(seen.values()) == {1}
    assert all((0, 1, i, j) in seen for i in range(7, 93) for j in range(7, 63))
    assert all((0, 0, i, j) in seen for i in range(7, 93) for j in range(i, 93))


def test_progress_ends_at_one_and_never_goes_back():
    report = []
    MotionGraph.build(walks()[:1], 0.2, progress=report.append)
    assert report == sorted(report)
    assert report[-1] == pytest.approx(1.0)


def test_every_edge_leads_to_where_the_next_frame_is(graph):
    edges = graph.edges
    for e in range(len(edges)):
        clip, frame = graph.nodes[edges.tails[e]]
        assert (clip, frame) == (edges.clips[e, 0], edges.starts[e, 0])
        after = edges.starts[e, 1] + edges.n_frames[e]
        assert tuple(graph.nodes[edges.heads[e]]) == (edges.clips[e, 1], after)


def test_nothing_is_a_dead_end(graph):
    assert (np.diff(graph.first_out) > 0).all()
    assert set(graph.edges.heads) <= set(graph.edges.tails)


def test_transitions_go_both_ways_before_pruning():
    one = Transitions([[0, 1]], [[20, 30]], [0.05], [[0.3, 1.0, 2.0]])
    both = add_reverses(one)
    assert both.clips.tolist() == [[0, 1], [1, 0]]
    assert both.frames.tolist() == [[20, 30], [30, 20]]
    np.testing.assert_allclose(rigid2d.compose(both.transforms[0], both.transforms[1]), 0.0, atol=1e-15)


def test_a_transition_leaves_l_frames_before_and_enters_l_frames_after():
    labels = [np.ones((50, 1), dtype=bool)] * 2
    nodes, edges = connect_clips(
        np.array([50, 50]), labels, Transitions([[0, 1]], [[20, 30]], [0.0], np.zeros((1, 3))), 3
    )
    jump = int(np.flatnonzero(edges.blends)[0])
    assert tuple(nodes[edges.tails[jump]]) == (0, 17)
    assert tuple(nodes[edges.heads[jump]]) == (1, 34)
    assert edges.n_frames[jump] == 7


def plain_edges(pairs, labels) -> Edges:
    n = len(pairs)
    order = sorted(range(n), key=lambda k: pairs[k][0])
    tails, heads = np.array([pairs[k] for k in order]).T
    return Edges(
        tails, heads, np.zeros((n, 2), int), np.zeros((n, 2), int), np.full(n, 5), np.zeros(n), np.zeros((n, 3)),
        np.zeros(n, bool), np.array([labels[k] for k in order], dtype=bool),
    )  # fmt: skip


def test_pruning_keeps_the_example_of_the_source():
    # Kovar, figure 4.8: nodes 4 and 5 are sinks, 6 is a dead end.
    pairs = [(1, 2), (2, 3), (3, 7), (7, 8), (8, 9), (9, 1), (2, 4), (4, 5), (5, 4), (3, 6)]
    edges = plain_edges(pairs, [[True]] * len(pairs))
    keep, members = prune(10, edges)
    assert set(np.flatnonzero(members[0])) == {1, 2, 3, 7, 8, 9}
    assert {(t, h) for t, h in zip(edges.tails[keep], edges.heads[keep], strict=True)} == set(pairs[:6])


def test_pruning_keeps_changes_of_style_between_components():
    # Two loops with one label each, and a blend with both labels from one to the other.
    pairs = [(0, 1), (1, 0), (2, 3), (3, 2), (1, 2), (3, 4)]
    labels = [[True, False]] * 2 + [[False, True]] * 2 + [[True, True]] + [[False, True]]
    edges = plain_edges(pairs, labels)
    keep, _ = prune(5, edges)
    remaining = {(t, h) for t, h in zip(edges.tails[keep], edges.heads[keep], strict=True)}
    assert remaining == set(pairs[:5])


def test_every_edge_continues_with_its_own_label():
    graph = two_styles()
    edges = graph.edges
    for e in range(len(edges)):
        outs = list(graph.out_edges(int(edges.heads[e])))
        assert (edges.labels[outs] & edges.labels[e]).any(), e


def test_compacting_changes_no_path():
    graph = walking_graph()
    # Cut every clip edge in two, and merge the halves again.
    edges, nodes = graph.edges, graph.nodes.tolist()
    runs = [e for e in range(len(edges)) if not edges.blends[e] and edges.n_frames[e] > 1]
    columns = {name: getattr(edges, name).tolist() for name in Edges.__slots__}
    for e in runs:
        middle = len(nodes)
        half = columns["n_frames"][e] // 2
        clip, frame = edges.clips[e, 0], int(edges.starts[e, 0]) + half
        nodes.append([int(clip), frame])
        for name in columns:
            columns[name].append(columns[name][e])
        columns["heads"][e], columns["tails"][-1] = middle, middle
        columns["n_frames"][e], columns["n_frames"][-1] = half, columns["n_frames"][-1] - half
        columns["starts"][-1] = [frame, frame]
    cut = Edges(*(np.array(columns[name]) for name in Edges.__slots__))
    cut = cut.select(np.argsort(cut.tails, kind="stable"))
    small_nodes, small = compact(np.array(nodes), cut)
    assert {tuple(n) for n in small_nodes} <= {tuple(n) for n in graph.nodes}

    def played(nodes, edges):
        return {
            (*nodes[t], *nodes[h], n, b)
            for t, h, n, b in zip(edges.tails, edges.heads, edges.n_frames, edges.blends, strict=True)
        }

    assert played(small_nodes, small) == played(graph.nodes, graph.edges)


def test_a_threshold_in_centimeters_causes_a_warning():
    with pytest.warns(MareyWarning, match=r"`threshold=` is in meters, .*; for 6 cm write 0.06"):
        MotionGraph.build(walks()[:1], threshold=6)


def test_a_percentage_is_a_threshold_too():
    clips = walks()[:2]
    by_share = MotionGraph.build(clips, "30%")
    distances = find_transitions(
        [point_clouds(clip) for clip in clips], frame_weights(0.5, 30.0, "triangle"), None, max_memory=2**28
    ).distances
    by_value = MotionGraph.build(clips, float(np.quantile(distances, 0.3)))
    assert len(by_share.edges) == len(by_value.edges)


def test_pairs_of_labels_have_their_own_thresholds():
    clips = (*walks(), replace(walks()[0], name="again", labels=Labels((Label("march", 0, len(walks()[0])),))))
    open_graph = MotionGraph.build(clips, 0.08)
    no_way = MotionGraph.build(clips, 0.08, thresholds={("walk", "march"): 0.0, ("march", "walk"): 0.0})
    march = no_way.index(label="march")
    both = no_way.edges.labels.all(axis=1)
    assert open_graph.edges.labels.all(axis=1).any()
    assert not both.any()
    assert no_way.edges.labels[:, march].any()
    assert any("no route leads from 'walk' to 'march'" in finding for finding in no_way.findings)
    one_way = MotionGraph.build(clips, 0.08, thresholds={("march", "walk"): 0.0})
    reaches = {component.label: component.reaches for component in one_way.components}
    assert reaches == {"walk": ("march",), "march": ()}


def test_a_graph_is_the_same_after_saving_and_loading(tmp_path, graph):
    graph.save(tmp_path / "g.npz")
    again = MotionGraph.load(tmp_path / "g.npz")
    for name in Edges.__slots__:
        np.testing.assert_array_equal(getattr(again.edges, name), getattr(graph.edges, name))
    np.testing.assert_array_equal(again.nodes, graph.nodes)
    assert (again.label_names, again.findings, again.components) == (
        graph.label_names,
        graph.findings,
        graph.components,
    )
    first = graph.random_walk(10, rng=3).motion()
    second = again.random_walk(10, rng=3).motion()
    np.testing.assert_array_equal(first.rotations, second.rotations)
    assert first.labels == second.labels


def test_files_that_are_not_graphs_are_refused_by_name(tmp_path, graph):
    from marey.io import save

    save(graph.clips[0], tmp_path / "m.npz")
    with pytest.raises(UnknownVersion, match=r"expected a motion graph \(marey.graph\), got a motion \(marey.motion\)"):
        MotionGraph.load(tmp_path / "m.npz")
    (tmp_path / "broken.npz").write_bytes(b"PK no zip")
    with pytest.raises(ParseError, match=r"broken.npz: not a readable NPZ file"):
        MotionGraph.load(tmp_path / "broken.npz")


def test_the_error_without_a_graph_names_a_sufficient_threshold():
    with pytest.raises(
        NoResult, match=r"with threshold 0.001 the graph has only dead ends; the smallest that works is"
    ) as message:
        MotionGraph.build(walks(), 0.001)
    least = float(str(message.value).rsplit("is ", 1)[1].removesuffix(" m"))
    assert MotionGraph.build(walks(), least).n_transitions > 0


@pytest.mark.parametrize(
    ("clips", "options", "message"),
    [
        ((), {}, "a graph needs at least one clip, got none"),
        ("short", {}, r"the longest clip lasts 0.63 s, too short for transitions of 0.5 s"),
        ("walks", {"threshold": "lots"}, "at least 0 m, or a percentage such as '10%', not 'lots'"),
        ("walks", {"threshold": -1.0}, "threshold must be at least 0 m"),
        ("walks", {"threshold": "120%"}, "threshold must be at least 0 m"),
        ("walks", {"thresholds": {("walk", "dance"): 0.1}}, "must use labels of the clips .walk"),
        ("bodies", {}, "a graph .* needs motions that share a skeleton"),
    ],
)  # fmt: skip
def test_bad_input(clips, options, message):
    walk = walks()[0]
    if clips == "short":
        clips = [walk[:20]]
    elif clips == "walks":
        clips = walks()
    elif clips == "bodies":
        body = walk.skeleton
        clips = [walk, replace(walk, skeleton=Skeleton(body.names, body.parents, body.offsets * 1.2), contacts=None)]
    with pytest.raises(InvalidValue, match=message):
        MotionGraph.build(clips, **options)


def test_unknown_labels_are_named(graph):
    with pytest.raises(UnknownName, match="no label 'wolk' in this graph; there are 'walk'; similar: 'walk'"):
        graph.index(label="wolk")
    plain = MotionGraph.build([replace(motion, labels=Labels()) for motion in walks()])
    with pytest.raises(UnknownName, match="no label 'wolk' in this graph; its clips have no labels$"):
        plain.index(label="wolk")


@pytest.mark.parametrize(
    ("clips", "message"),
    [
        ("clips/", "a graph needs motions, got the name 'clips/'; open a folder with marey.MotionSet.open"),
        ([1], "got a list with int"),
        (walks()[0], "a list of motions or a set of them, got Motion"),
    ],
)
def test_anything_but_clips_is_refused(clips, message):
    with pytest.raises(InvalidValue, match=message):
        MotionGraph.build(clips)


def test_windows_labels_edges_and_names_that_cannot_be_are_refused(graph, tmp_path):
    with pytest.raises(InvalidValue, match="window must be greater than 0 seconds, not 0"):
        MotionGraph.build(walks(), window=0.0)
    with pytest.raises(InvalidValue, match="label '\\(unlabeled\\)', which is reserved"):
        MotionGraph.build([one_label(walks()[0], "(unlabeled)")])
    with pytest.raises(InvalidValue, match="edges must be numbers from 0 to"):
        graph.walk([10**7])
    with pytest.raises(UnknownFormat, match="a motion graph is saved as .npz, got .bvh"):
        graph.save(tmp_path / "g.bvh")


def test_a_graph_knows_its_threshold_if_it_was_given_as_a_percentage(graph):
    found = MotionGraph.build(walks(), "20%")
    assert found.build_info.kind == "distance"
    assert found.edges.distances.max() <= found.build_info.threshold < 0.5
    assert pickle.loads(pickle.dumps(found)).build_info == found.build_info


def test_joints_can_count_more_or_not_at_all():
    clips = [sample("walk", rng=k, fps=20.0, seconds=4.0).motion for k in (0, 1)]
    raised = []
    for clip in clips:  # one arm waves in the second clip only
        rotations = clip.rotations.copy()
        if clip is clips[1]:
            arm = clip.skeleton.roles["left_upper_arm"]
            rotations[:, arm] = quat.mul(rotations[:, arm], quat.from_axis_angle([0.0, 0.0, 1.0], 1.2))
        raised.append(replace(clip, rotations=rotations))
    arm_markers = ("left_forearm", "left_hand", "left_fingertips")
    settings = GraphSettings(threshold=10.0)

    def nearest(motions, **options):
        found, _ = compare_clips(motions, None, GraphSettings(settings=settings, **options))
        return found.distances[(found.clips[:, 0] != found.clips[:, 1])].min()

    ignored = dict.fromkeys(arm_markers, 0.0)
    assert nearest(raised) > 1.5 * nearest(clips)
    np.testing.assert_allclose(nearest(raised, weights=ignored), nearest(clips, weights=ignored), rtol=1e-9)
    assert nearest(raised, weights=dict.fromkeys(arm_markers, 5.0)) > 1.5 * nearest(raised)
    assert nearest(raised, per_joint=3) != nearest(raised)
    with pytest.raises(UnknownName, match="keys of weights must be markers, not 'left_fot'"):
        nearest(raised, weights={"left_fot": 2.0})
