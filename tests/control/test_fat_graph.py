"""Fat graphs: hubs to which clips return, and edges that are sets of clips."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from marey.control import FollowDirection
from marey.control.baselines.fat_graph import FatGraph, FatGraphStream
from marey.control.baselines.fat_graph_hubs import find_hubs, localize_frames
from marey.control.evaluate import record
from marey.control.evaluate_gait import gait_metrics, lean
from marey.control.inertia_reel import make_reel
from marey.edit import mirror
from marey.errors import InvalidValue, NoResult
from marey.maths import quat, rigid2d
from marey.pmg.gait_cycles import compute_phase
from tests.control.clips import below_a_stand, largest_bend
from tests.pmg.characters import small_walker, walks


@cache
def clips():
    return (*walks(), *(mirror(walk) for walk in walks()))


@cache
def one_hub():
    return FatGraph.build(clips())


@cache
def two_hubs():
    return FatGraph.build(clips(), n_hubs=2)


def constant(graph, turn, seconds=12.0):
    stream = FatGraphStream(graph, direction=None, turn=turn, feet=None)
    record(stream, round(2 * stream.fps))
    return record(stream, round(seconds * stream.fps))


def test_the_most_common_pose_of_walks_occurs_once_per_cycle():
    graph = one_hub()
    reel = make_reel(clips())
    (edge,) = graph.edges
    assert (edge.source, edge.target) == (0, 0)
    assert edge.seconds.mean() == pytest.approx(1.1, abs=0.15)
    for clip in range(len(reel.names)):
        a, b = reel.borders[clip : clip + 2]
        visits = graph.hubs[0].visits
        own = visits[(visits >= a) & (visits < b)] - a
        phase, first, last = compute_phase(clips()[clip])
        whole = phase[own[(own >= first) & (own <= last)]]
        # All visits are at one phase of the gait, however sharply the walk turns.
        np.testing.assert_allclose(np.diff(whole), 1.0, atol=0.08)


def test_visits_are_counted_as_a_slow_search_counts_them():
    from marey.compare import distance_grid

    given = clips()[:3]
    reel = make_reel(given)
    hub = find_hubs(reel, localize_frames(reel), 1, 0.08, 1 / 3, "body")[0]
    counts = []
    for i in range(0, len(given[0]), 3):
        n = 0
        for other in given:
            near = np.sqrt(np.maximum(distance_grid(given[0], other, window=1 / 3).values[i], 0.0)) <= 0.08
            near[:5] = near[-5:] = False
            n += int((near & ~np.concatenate([[False], near[:-1]])).sum())
        counts.append(n)
    assert len(hub.visits) >= max(counts) - 1
    assert hub.spread <= 0.08


def test_every_clip_begins_and_ends_in_the_one_pose_and_at_its_rate():
    graph = two_hubs()
    assert {(edge.source, edge.target) for edge in graph.edges} == {(0, 1), (1, 0)}
    for edge in graph.edges:
        n = len(graph.hubs[0].pose)
        for k, end in ((0, edge.source), (-1, edge.target)):
            assert np.abs(edge.values[:, k, :n] - graph.hubs[end].pose).max() < 1e-9
        pace = edge.steps[:, 0, :3] / edge.steps[:, 0, 3:]
        np.testing.assert_allclose(pace, np.broadcast_to(graph.hubs[edge.source].ground_rate, pace.shape), atol=1e-9)


@pytest.mark.parametrize("fraction", [0.0, 0.3, 0.5, 1.0])
def test_blends_turn_by_the_requested_angle(fraction):
    (edge,) = one_hub().edges
    turn = edge.low + fraction * (edge.high - edge.low)
    weights = edge.weights(turn)
    assert weights.min() >= 0.0
    assert weights.sum() == pytest.approx(1.0)
    assert weights @ edge.turns == pytest.approx(turn, abs=0.01)
    path = edge.path(turn, 30.0)
    assert path.end[0] == pytest.approx(turn, abs=0.01)
    assert edge.path(9.0, 30.0).end[0] == pytest.approx(edge.high, abs=0.01)
    np.testing.assert_allclose(path.roots[-1, [0, 2]], path.end[1:], atol=1e-9)


@pytest.mark.parametrize("graph", [one_hub, two_hubs])
def test_a_stream_follows_the_direction_without_a_jump(graph):
    def steer(stream, i, before):
        if i % 150 == 0:
            stream.request(direction=[0.0, np.pi / 2, np.pi, np.pi / 2][i // 150 % 4])

    stream = FatGraphStream(graph(), feet=None)
    played = record(stream, 600, steer)
    for k, way in enumerate([0.0, np.pi / 2, np.pi, np.pi / 2]):
        step = played.travel[150 * k + 145] - played.travel[150 * k + 110]
        assert abs(rigid2d.wrap_angle(np.arctan2(step[0], step[2]) - way)) < 0.25
    assert largest_bend(played) < 1.2 * max(largest_bend(clip) for clip in clips())
    assert float(quat.dot(played.rotations[1:], played.rotations[:-1]).min()) > 0.0
    assert len(stream.taken) > 8


@pytest.mark.slow("builds and plays two kinds of stream")
def test_it_bobs_at_its_hubs_where_a_parametric_motion_graph_does_not():
    turn = 0.8
    steered = small_walker().stream(FollowDirection(None, turn=turn), feet=None)
    steered.record(2.0)
    ours = gait_metrics(steered.record(12.0))
    fat = gait_metrics(constant(one_hub(), turn))
    assert fat.sway > 1.2 * ours.sway
    # On a straight path all clips pass the hub's pose anyway, so there is no difference.
    assert gait_metrics(constant(one_hub(), 0.0)).sway == pytest.approx(
        gait_metrics([clips()[3], clips()[10]]).sway, rel=0.15
    )


def test_the_lean_at_a_hub_is_the_same_on_every_curve():
    (edge,) = one_hub().edges
    at_hub, between = [], []
    for turn in (-0.8, 0.0, 0.8):
        stream = FatGraphStream(one_hub(), direction=None, turn=turn, feet=None)
        n = len(edge.path(turn, stream.fps).roots)
        leans = lean(record(stream, n))
        at_hub.append(leans[-1])
        between.append(leans.mean())
    assert np.ptp(at_hub) < 1e-6
    assert np.ptp(between) > np.radians(2.0)


def test_moving_bones_and_hips_below_the_root_are_played():
    given = [below_a_stand(clip) for clip in clips()[2:5]]
    offsets = np.broadcast_to(given[0].skeleton.offsets, (len(given[0]), *given[0].skeleton.offsets.shape)).copy()
    offsets[:, -1] *= 1.1
    from dataclasses import replace

    graph = FatGraph.build([replace(given[0], bone_offsets=offsets), *given[1:]])
    frame = FatGraphStream(graph, feet="lock").frame()
    fraction = np.linalg.norm(frame.bone_offsets[0, -1]) / np.linalg.norm(given[0].skeleton.offsets[-1])
    assert 1.0 < fraction < 1.1


def test_bad_input():
    with pytest.raises(InvalidValue, match="n_hubs must be at least 1, not 0"):
        FatGraph.build(clips(), n_hubs=0)
    with pytest.raises(InvalidValue, match="max_distance in meters"):
        FatGraph.build(clips(), max_distance=0.0)
    with pytest.raises(
        NoResult, match="found no recurring pose for hub 1 .max_distance is 1e-06 m.; raise `max_distance=`"
    ):
        FatGraph.build(clips()[:2], max_distance=1e-6)
    with pytest.raises(NoResult, match="no two similar clips connect the same hubs"):
        FatGraph.build([clips()[0][:45], clips()[1][:45]])
    stream = FatGraphStream(one_hub(), feet="lock")
    with pytest.raises(InvalidValue, match="unknown command 'speed'; a fat graph accepts direction, turn"):
        stream.request(speed=1.0)
    with pytest.raises(InvalidValue, match="direction must be a finite angle"):
        stream.request(direction=np.inf)
