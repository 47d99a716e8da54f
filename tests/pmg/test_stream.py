"""Streams: endless, reproducible, joined smoothly, checked during playback, with planted feet."""

from __future__ import annotations

import numpy as np
import pytest

from marey.clean.settings import CleanSettings
from marey.control import FollowDirection, RandomWalk
from marey.core.placement import find_facing
from marey.core.protocols import Stream
from marey.errors import InvalidValue, UnknownName
from marey.maths import rigid2d
from marey.measure import measure
from marey.pmg import Choice
from marey.pmg.seam import blend_frames, find_seam
from marey.pmg.walker import sample_walks
from tests.pmg.characters import fresh_walker, small_walker, turn_space, walks
from tests.pmg.recipes import small_character
from tests.tiers import mostly_slow


class Always:
    """A controller that always requests the same parameters."""

    def __init__(self, *parameters, node="walk"):
        self.parameters, self.node, self.moments = np.array(parameters), node, []

    def choose(self, moment):
        self.moments.append(moment)
        return Choice(self.node, self.parameters)


def test_the_same_seed_gives_the_same_frames_one_by_one_or_at_once():
    char = small_walker()
    whole = char.stream(RandomWalk(7)).record(5.0)
    single = char.stream(RandomWalk(7), feet="clean")
    assert isinstance(single, Stream)
    assert single.fps == 30.0
    frames = [single.frame() for _ in range(150)]
    np.testing.assert_array_equal(whole.root_positions, np.concatenate([each.root_positions for each in frames]))
    np.testing.assert_array_equal(whole.contacts.mask, np.concatenate([each.contacts.mask for each in frames]))
    other = char.stream(RandomWalk(8)).record(5.0)
    assert not np.allclose(whole.root_positions, other.root_positions)


def test_a_long_walk_keeps_to_its_thresholds_and_moves_like_its_sources():
    char = small_walker()
    stream = char.stream(RandomWalk(0), feet=None)
    played = stream.record(120.0)
    assert len(stream.transitions) > 80
    assert all(each.cost <= each.bad for each in stream.transitions)

    def fastest(motion):
        return np.linalg.norm(np.diff(motion.world().positions, axis=0), axis=2).max()

    def sharpest(motion):
        return np.linalg.norm(np.diff(motion.world().positions, 2, axis=0), axis=2).max()

    assert fastest(played) < 1.05 * max(fastest(each) for each in walks())
    assert sharpest(played) < 1.1 * max(sharpest(each) for each in walks())


def test_cleaned_feet_do_not_slide_and_others_hardly_do():
    char = small_walker()
    raw, clean = (char.stream(RandomWalk(3), feet=feet).record(60.0) for feet in (None, "clean"))
    assert measure(raw)["slide_contact"].value < 0.0025
    assert measure(clean)["slide_contact"].value < 1e-6
    # At 30 Hz, feet that lift off count for more here than in the sources: 1.05 to 1.10 times as much, depending on the
    # seed.
    sources = np.mean([measure(each)["skate_ratio"].value for each in walks()])
    assert measure(clean)["skate_ratio"].value <= 1.12 * sources


@pytest.mark.parametrize("seed", mostly_slow([1, 2], "plays another random walk", n_fast=1))
def test_feet_do_not_pop_where_clips_change(seed):
    played = small_character("walk-run").stream(RandomWalk(seed)).record(60.0)
    assert {"walk", "jog"} <= set(played.labels.names)
    roles = played.skeleton.roles
    steps = np.diff(played.world().positions[:, [roles["left_ball"], roles["right_ball"]]], axis=0)
    ways = np.linalg.norm(steps, axis=2)
    back = (steps[1:] * steps[:-1]).sum(axis=2) < 0.0
    assert np.minimum(ways[1:], ways[:-1])[back].max(initial=0.0) < 0.015


def test_turns_add_up():
    stream = small_walker().stream(Always(0.5), feet=None, parameters=[0.5])
    stream.record(12.0)
    headings = np.unwrap([moment.options[0].place[0] for moment in stream.controller.moments])
    np.testing.assert_allclose(np.diff(headings), 0.5, atol=np.radians(4.0))


def test_requests_outside_the_box_are_clamped_into_it():
    controller = Always(99.0)
    stream = small_walker().stream(controller, feet=None, parameters=[0.0])
    stream.record(3.0)
    first = stream.transitions[0]
    box = controller.moments[0].options[0].range
    assert first.requested[0] == 99.0
    assert first.played[0] <= box.high[0] + 1e-9
    assert stream.playing[1][0] <= small_walker()["walk"].high[0]


def test_a_transition_that_joins_badly_is_moved_to_the_middle_of_its_box():
    char = fresh_walker()
    edge = char.connect("walk", "walk", good=0.1, bad=0.2, n_source=8, n_target=30)
    from dataclasses import replace

    wide = replace(edge, low=np.full_like(edge.low, -1.2), high=np.full_like(edge.high, 1.2), good=0.09, bad=0.12)
    char._put(edge=wide)
    stream = char.stream(Always(1.2), feet=None, parameters=[-0.6])
    stream.record(1.5)
    first = stream.transitions[0]
    assert first.tries > 1
    assert first.played[0] < 1.1
    assert first.cost <= 0.12


def test_a_transition_begins_and_ends_with_the_clips_own_frames():
    space = turn_space()
    a, b = space([0.2]), space([0.5])
    half = 5
    seam = find_seam(a, b, 0.86, 0.14, half, 0, "body")
    place = np.array([0.4, 1.0, -2.0])
    frames, following = blend_frames(a, b, seam, half, place)
    before, after = a.moved(place), b.moved(following)
    assert len(frames.roots) == 2 * half + 1
    step = np.linalg.norm(np.diff(before.root_positions, axis=0), axis=1).max()
    gap = frames.roots[0] - before.root_positions[seam.leave - half - 1]
    assert np.linalg.norm(gap) < 1.2 * step
    gap = after.root_positions[seam.enter + half + 1] - frames.roots[-1]
    assert np.linalg.norm(gap) < 1.2 * step


def test_a_transition_that_must_begin_near_the_end_of_its_clip_has_all_frames():
    space = turn_space()
    a, b = space([0.2]), space([0.5])
    half = 10
    for earliest in (len(a) - 2 * half, len(a) - half - 4, len(a) - half - 1):
        seam = find_seam(a, b, 0.5, 0.3, half, earliest, "body")
        assert seam.leave == min(earliest + half, len(a) - 1)
        frames, _ = blend_frames(a, b, seam, half, np.zeros(3))
        assert len(frames.roots) == len(frames.rotations) == len(frames.contacts) == 2 * half + 1
        assert np.isfinite(frames.roots).all()


def test_the_same_clip_is_joined_to_itself_without_a_trace():
    space = turn_space()
    clip = space([0.3])
    seam = find_seam(clip, clip, 0.5, 0.5, 5, 0, "body")
    assert seam.leave == seam.enter
    assert seam.cost < 1e-6
    np.testing.assert_allclose(seam.move, 0.0, atol=1e-9)


def test_a_stream_begins_at_the_given_place():
    stream = small_walker().stream(Always(0.0), feet=None, place=(np.pi / 2.0, 3.0, 4.0), parameters=[0.0])
    played = stream.record(3.0)
    np.testing.assert_allclose(played.travel[0, [0, 2]], [3.0, 4.0], atol=1e-9)
    way = played.travel[-1] - played.travel[0]
    assert abs(np.arctan2(way[0], way[2]) - np.pi / 2.0) < 0.2


def test_cleaned_frames_are_delayed_but_have_the_same_choices():
    char = small_walker()
    a, b = char.stream(RandomWalk(5), feet=None), char.stream(RandomWalk(5), feet="clean")
    assert a.delay == 0 < b.delay
    a.record(8.0)
    b.record(8.0)
    for one, two in zip(list(a.transitions)[:4], list(b.transitions)[:4], strict=True):
        assert one.frame == two.frame
        np.testing.assert_array_equal(one.played, two.played)


def test_bad_input():
    char = small_walker()
    with pytest.raises(InvalidValue, match=r"must have a method choose\(state\), which int"):
        char.stream(3)
    with pytest.raises(UnknownName, match="no edge leads from .* to 'fly'; the controller must choose one of 'walk'"):
        char.stream(Always(0.0, node="fly"), parameters=[0.0]).record(3.0)
    with pytest.raises(InvalidValue, match="Always takes no commands"):
        char.stream(Always(0.0)).request(direction=1.0)
    with pytest.raises(InvalidValue, match="finite and at least one frame"):
        char.stream(Always(0.0)).record(0.0)
    with pytest.raises(UnknownName, match="no node 'run'"):
        char.stream(Always(0.0), start="run")


def test_walks_of_samples_are_many_and_seeded():
    result = sample_walks(n_turns=2, speeds=(1.0, 1.2), fps=30.0)
    again = sample_walks(n_turns=2, speeds=(1.0, 1.2), fps=30.0)
    assert len(result) == 4
    np.testing.assert_array_equal(result[1].rotations, again[1].rotations)


def test_locked_feet_slide_less_without_delay():
    char = small_walker()
    streams = {feet: char.stream(RandomWalk(3), feet=feet) for feet in (None, "lock")}
    assert streams["lock"].delay == 0
    slide = {feet: measure(stream.record(20.0))["slide_contact"].value for feet, stream in streams.items()}
    assert slide["lock"] < slide[None]


def test_settings_of_the_cleanup_are_accepted_by_their_old_name():
    with pytest.warns(DeprecationWarning, match="settings=CleanSettings.* is deprecated, use cleaning="):
        stream = small_walker().stream(RandomWalk(), settings=CleanSettings())
    other = small_walker().stream(RandomWalk())
    stream.record(0.1), other.record(0.1)
    assert stream.player.delay > other.player.delay


def ask_to_turn(respond, wait):
    """Return the frames after a request to turn, and the stream."""
    stream = small_walker().stream(FollowDirection(0.0), feet=None, respond=respond)
    stream.record(2.0 + wait)
    stream.request(direction=np.pi / 2.0)
    return stream.record(4.0), stream


@pytest.mark.parametrize("wait", [0.0, 0.2, 0.4, 0.6])
def test_a_command_takes_effect_within_the_clip(wait):
    late, _ = ask_to_turn("clip", wait)
    soon, stream = ask_to_turn("anytime", wait)
    faced = [find_facing(each.skeleton, each.world().positions) for each in (late, soon)]
    off = [np.abs(rigid2d.wrap_angle(each - np.pi / 2.0)) for each in faced]
    arrived = [int(np.argmax(each < np.radians(15.0))) for each in off]
    assert 0 < arrived[1] <= arrived[0] + 3
    assert off[1][-1] < np.radians(15.0)
    # A change is a transition like any other: checked against the edge's threshold, and without jumps.
    assert all(each.cost <= each.bad for each in stream.transitions)
    steps = np.abs(np.diff(soon.world().positions, axis=0)).max(axis=(1, 2))
    assert steps.max() < 1.3 * np.abs(np.diff(late.world().positions, axis=0)).max()


def test_a_change_can_overlap_the_transition_out_of_its_clip():
    # Late in the clip, so that the overlap does not depend on the frame in which the change begins.
    wait = 1.4
    turning, stream = ask_to_turn("anytime", wait)
    asked = (2.0 + wait) * stream.fps
    frames = np.array([each.frame for each in stream.transitions])
    change, leave = frames[frames > asked][:2]
    assert change < asked + 0.5 * stream.fps
    assert 0 < leave - change <= stream.graph.seams.length * stream.fps
    assert all(each.cost <= each.bad for each in stream.transitions)
    usual, _ = ask_to_turn("clip", wait)
    accelerations = [np.abs(np.diff(each.world().positions, 2, axis=0)).max() for each in (turning, usual)]
    assert accelerations[0] < 1.5 * accelerations[1]


def test_only_controllers_that_change_clips_are_asked_within_them():
    class Asked(Always):
        def request(self, **command):
            pass

    for changes in (False, True):
        controller = Asked(0.0)
        controller.changes_clips = changes
        stream = small_walker().stream(controller, feet=None)
        for _ in range(6):
            stream.request()
            stream.record(0.3)
        assert any(each.options[0].inside for each in controller.moments) == changes


def ask_during_a_transition(respond):
    """The stream, its transitions before a request that comes as the second one begins, and the largest step of a
    joint between two frames from then on, in meters."""
    stream = small_walker().stream(FollowDirection(0.0), feet=None, respond=respond)
    frames = [stream.frame()]
    while len(stream.transitions) < 2:
        frames.append(stream.frame())
    earlier = list(stream.transitions)
    stream.request(direction=np.pi / 2.0)
    frames += [stream.frame() for _ in range(45)]
    positions = np.concatenate([each.world().positions for each in frames[-46:]])
    return stream, earlier, np.linalg.norm(np.diff(positions, axis=0), axis=2).max()


def test_a_command_during_a_transition_changes_the_clip_before_the_transition_ends():
    stream, earlier, jump = ask_during_a_transition("anytime")
    late, before, usual = ask_during_a_transition("clip")
    assert [each.frame for each in before] == [each.frame for each in earlier]
    apart = [each.transitions[len(earlier)].frame - earlier[-1].frame for each in (stream, late)]
    # It overlaps the transition: their middles are less than a whole transition apart.
    assert 0 < apart[0] < stream.graph.seams.length * stream.fps + 3 < apart[1]
    assert all(each.cost <= each.bad for each in stream.transitions)
    assert jump < 1.3 * usual
