"""The player: every live source, in every mode for the feet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from marey.clean import CleanSettings, clean, point_paths
from marey.control import BlendTreeStream, FollowDirection, GazeLayer, LayeredStream, MotionMatching
from marey.control.baselines import FatGraph, FatGraphStream, MoveTreeStream
from marey.core import Motion, Source
from marey.core.arrays import set_readonly
from marey.core.feet import Feet
from marey.core.protocols import Stream
from marey.errors import InvalidValue
from marey.graph import MotionGraph
from marey.graph.stream import GraphStream
from marey.measure.skate import floor_steps
from marey.play import LockedStream, PlayedStream, Player, SourceFrame, join_frames, stack_frames, take_frame
from marey.pmg.stream import STREAM_CLEANING
from marey.samples import sample
from tests.control.clips import matching, stride_tree, walking_tree, walks
from tests.pmg.characters import small_walker


@cache
def graph() -> MotionGraph:
    clips = [sample("walk", seconds=6, turn_rate=turn, rng=k).motion for k, turn in enumerate((-0.6, 0.0, 0.6))]
    return MotionGraph.build(clips, threshold=0.1)


@cache
def fat_graph() -> FatGraph:
    return FatGraph.build(walks())


STREAMS: dict[str, Callable[[Feet], PlayedStream]] = {
    "motion graph": lambda feet: GraphStream(graph(), feet=feet),
    "parametric motion graph": lambda feet: small_walker().stream(FollowDirection(0.0), feet=feet),
    "motion matching": lambda feet: MotionMatching(matching(), feet=feet),
    "blend tree": lambda feet: BlendTreeStream(walking_tree(), feet=feet),
    "move tree": lambda feet: MoveTreeStream(stride_tree(), feet=feet),
    "fat graph": lambda feet: FatGraphStream(fat_graph(), feet=feet),
    "layers": lambda feet: LayeredStream(small_walker().stream(FollowDirection(0.0), feet=feet), [GazeLayer(cue=True)]),
}
every_source = pytest.mark.parametrize("kind", STREAMS)
every_mode = pytest.mark.parametrize("feet", [None, "lock", "clean"])


class Film:
    """A source that plays a motion."""

    def __init__(self, motion: Motion) -> None:
        self.motion, self.n = motion, 0
        self.skeleton, self.fps, self.floor = motion.skeleton, motion.fps, 0.0
        self.points = () if motion.contacts is None else motion.contacts.points

    def next_frame(self) -> SourceFrame:
        self.n += 1
        return take_frame(self.motion, self.n - 1)


def steer(stream: PlayedStream, n: int) -> list[Motion]:
    """Return n frames with a turn to the left and one to the right."""
    frames = []
    for i in range(n):
        if i in (20, 140):
            stream.request(direction=1.5 if i == 20 else -1.5)
        frames.append(stream.frame())
    return frames


def innermost(stream: PlayedStream) -> PlayedStream:
    return stream.stream if isinstance(stream, LayeredStream) else stream


@every_source
@every_mode
def test_signs_are_continuous(kind, feet):
    rotations = join_frames(steer(STREAMS[kind](feet), 260)).rotations
    assert ((rotations[1:] * rotations[:-1]).sum(axis=-1) > 0.0).all()


@every_source
@every_mode
def test_the_delay_is_the_lag_behind_the_source(kind, feet, monkeypatch):
    # Frames taken together are read earlier from the source but, as another test shows, respond no later.
    monkeypatch.setattr(GraphStream, "n_chosen", 0)
    stream = STREAMS[kind](feet)
    inner = innermost(stream)
    pulled, next_frame = [], inner.next_frame
    inner.next_frame = lambda: pulled.append(next_frame()) or pulled[-1]
    shown = 0
    for _ in range(100):
        stream.frame()
        shown += 1
        assert (len(pulled) - shown) / stream.fps == pytest.approx(stream.player.delay)
    assert stream.delay == len(pulled) - shown
    assert (stream.player.delay > 0.0) == (feet == "clean")


@every_source
@every_mode
def test_frames_have_contacts_and_labels(kind, feet):
    plain, stream = STREAMS[kind](None), STREAMS[kind](feet)
    for _ in range(60):
        one, other = plain.frame(), stream.frame()
        assert other.labels.names == one.labels.names != ()
        assert other.contacts.points == one.contacts.points == stream.points
        np.testing.assert_array_equal(other.contacts.mask, one.contacts.mask)


@every_source
@every_mode
def test_a_recording_is_what_the_frames_are(kind, feet):
    whole, single = STREAMS[kind](feet), STREAMS[kind](feet)
    result = whole.record(2.0)
    frames = [single.frame() for _ in range(len(result))]
    assert len(result) == round(2.0 * whole.fps)
    np.testing.assert_array_equal(result.root_positions, np.concatenate([each.root_positions for each in frames]))
    np.testing.assert_array_equal(result.rotations, np.concatenate([each.rotations for each in frames]))
    np.testing.assert_array_equal(result.contacts.mask, np.concatenate([each.contacts.mask for each in frames]))
    np.testing.assert_array_equal(result.frame_offsets, np.concatenate([each.frame_offsets for each in frames]))
    assert [result.labels.at(f) for f in range(len(result))] == [each.labels.at(0) for each in frames]
    assert result.source.floor == whole.floor
    assert result.source.provenance[-1]["op"] == kind
    assert result.name == frames[0].name
    np.testing.assert_array_equal(
        whole.record(n_frames=3).rotations[-1:], [single.frame() for _ in range(3)][-1].rotations
    )


@every_source
def test_cleaned_frames_are_those_of_a_batch_cleanup(kind):
    if kind == "layers":
        pytest.skip("layers come after the cleanup")
    n = 300
    raw = STREAMS[kind](None).record(n_frames=n)
    stream = STREAMS[kind]("clean")
    settings = STREAM_CLEANING if kind == "parametric motion graph" else CleanSettings()
    known = n - stream.delay
    batch = clean(replace(raw, source=Source(floor=stream.floor)), settings=settings)
    result = stream.record(n_frames=known)
    np.testing.assert_array_equal(result.contacts.mask, batch.contacts.mask[:known])
    np.testing.assert_array_equal(result.root_positions, batch.root_positions[:known])
    np.testing.assert_array_equal(result.rotations, batch.rotations[:known])


@every_source
def test_without_foot_handling_frames_are_the_sources_own(kind):
    own, stream = STREAMS[kind](None), STREAMS[kind](None)
    for _ in range(100):
        given, shown = own.next_frame(), stream.frame()
        np.testing.assert_array_equal(shown.root_positions[0], given.root)
        np.testing.assert_array_equal(np.abs(shown.rotations[0]), np.abs(given.rotations))


@every_source
def test_a_locked_stream_is_the_stream_with_locked_feet(kind):
    if kind == "layers":
        pytest.skip("its feet are locked before the layers")
    wrapped, locked = LockedStream(STREAMS[kind](None)), STREAMS[kind]("lock")
    assert isinstance(wrapped, Stream)
    np.testing.assert_array_equal(wrapped.record(2.0).rotations, locked.record(2.0).rotations)
    late = LockedStream(STREAMS[kind]("clean"))
    assert late.player.delay == late.stream.player.delay > 0.0


def test_frames_cleaned_together_equal_frames_cleaned_singly_and_answer_at_the_same_frame():
    class Single(GraphStream):
        n_chosen = 0

    together, single = (each(graph(), direction=0.0, feet="clean") for each in (GraphStream, Single))
    for k in range(150):
        if k == 70:
            together.request(direction=2.0)
            single.request(direction=2.0)
        one, other = together.frame(), single.frame()
        assert together.edges == single.edges
        assert_equal_motion(one, other)


def assert_equal_motion(one: Motion, other: Motion) -> None:
    assert one.root_positions.tobytes() == other.root_positions.tobytes()
    assert one.rotations.tobytes() == other.rotations.tobytes()
    assert one.contacts.mask.tobytes() == other.contacts.mask.tobytes()
    assert one.labels == other.labels


def test_signs_follow_the_frame_before_and_at_first_the_given_ones():
    walk = walks()[1]
    flip = np.where(np.arange(len(walk)) % 3 == 0, -1.0, 1.0)[:, None, None]
    flipped = replace(walk, rotations=set_readonly(walk.rotations * flip))
    result = Player(Film(flipped), None).record(n_frames=60)
    np.testing.assert_array_equal(result.rotations, -walk.rotations[:60])
    result = Player(Film(flipped), None, signs=walk.rotations[0]).record(n_frames=60)
    np.testing.assert_array_equal(result.rotations, walk.rotations[:60])
    cleaned, wanted = (Player(Film(each), signs=walk.rotations[0]).record(2.0) for each in (flipped, walk))
    np.testing.assert_array_equal(cleaned.rotations, wanted.rotations)


def test_frames_without_contacts_are_played_in_order():
    """Some clips of a graph may have no contacts; their frames must not overtake frames that are cleaned."""
    walk = walks()[1]

    class Partly(Film):
        def next_frame(self):
            frame = super().next_frame()
            return frame._replace(contacts=None) if 40 <= self.n < 80 else frame

    player = Player(Partly(walk), "clean")
    frames = [player.frame() for _ in range(100)]
    assert [frame.contacts is None for frame in frames] == [39 <= f < 79 for f in range(100)]
    np.testing.assert_allclose(
        np.concatenate([frame.root_positions for frame in frames]), walk.root_positions[:100], atol=0.1
    )
    bare = Film(replace(walk, contacts=None))
    for feet in ("clean", "lock"):
        player = Player(bare, feet)
        assert player.delay == 0.0
        result = player.record(n_frames=3)
        assert result.contacts is None
    np.testing.assert_array_equal(result.rotations, walk.rotations[3:6])


def test_clips_of_a_graph_may_have_different_contact_points():
    built = graph()
    clips = list(built.clips)
    heels = [k for k, name in enumerate(clips[1].contacts.names) if "heel" in name]
    few = replace(
        clips[1].contacts,
        points=tuple(clips[1].contacts.points[k] for k in heels),
        mask=clips[1].contacts.mask[:, heels],
    )
    mixed = replace(built, clips=(clips[0], replace(clips[1], contacts=few), replace(clips[2], contacts=None)))
    for feet in (None, "lock", "clean"):
        stream = GraphStream(mixed, feet=feet)
        frames = steer(stream, 300)
        assert {frame.contacts.points for frame in frames if frame.contacts is not None} == {stream.points}
        assert len(stream.points) == len(clips[0].contacts.points)


def test_labels_last_as_long_as_their_frames_and_may_overlap():
    walk = walks()[1]
    names = [("a",), ("a", "b"), ("b", ""), ("b",), (), ("a",)]
    frames = [take_frame(walk, k)._replace(labels=each) for k, each in enumerate(names)]

    class Named(Film):
        def next_frame(self):
            self.n += 1
            return frames[self.n - 1]

    result = Player(Named(walk), None, name="named").record(n_frames=6)
    assert [tuple(label) for label in result.labels] == [("a", 0, 2), ("b", 1, 4), ("a", 5, 6)]


def test_any_stream_can_be_wrapped():
    walk = walks()[1]
    frames = iter(walk)

    class Plain:
        fps, delay = walk.fps, 6

        def request(self, **command):
            raise AssertionError

        def frame(self):
            return next(frames)

    stream = LockedStream(Plain())
    assert stream.player.delay == pytest.approx(0.1)
    result = stream.record(1.0)
    assert (result.name, result.source.floor, result.contacts.points) == (walk.name, None, walk.contacts.points)
    assert result.source.provenance == ({"op": "foot lock", "feet": "lock"},)


def test_bad_input():
    film = Film(walks()[0])
    with pytest.raises(InvalidValue, match="feet must be 'auto', 'clean', 'lock' or None, not 'free'"):
        Player(film, "free")
    player = Player(film, None)
    with pytest.raises(InvalidValue, match="either `seconds=` or `n_frames=` to record"):
        player.record()
    with pytest.raises(InvalidValue, match="either `seconds=` or `n_frames=` to record"):
        player.record(1.0, n_frames=3)
    with pytest.raises(InvalidValue, match="seconds must be finite and at least one frame, not inf s"):
        player.record(np.inf)
    with pytest.raises(InvalidValue, match="n_frames must be at least 1, not 0"):
        player.record(n_frames=0)
    assert film.n == 0


@every_source
def test_recordings_are_cleaned_and_live_frames_locked_by_default(kind):
    cleaned, locked, live, recorded = (STREAMS[kind](feet) for feet in ("clean", "lock", "auto", "auto"))
    assert recorded.delay == 0
    np.testing.assert_array_equal(recorded.record(n_frames=5).rotations, cleaned.record(n_frames=5).rotations)
    assert recorded.delay == cleaned.delay
    for _ in range(5):
        np.testing.assert_array_equal(live.frame().rotations, locked.frame().rotations)
    live.record(n_frames=2)  # a later recording changes nothing
    assert live.delay == 0


# Speed in m/s up to which points of locked feet count as planted.
GLIDE = 0.35


def measure_planted_slide(motion: Motion) -> float:
    """Return the largest distance in meters that a planted point moves along the floor from one frame to the next."""
    mask = motion.contacts.mask
    steps = floor_steps(point_paths(motion, motion.contacts.points))
    return float(steps[mask[1:] & mask[:-1]].max(initial=0.0))


@pytest.mark.parametrize("feet", ["lock", "clean"])
def test_a_plant_ends_where_its_foot_glides_away(feet: Feet) -> None:
    # A source that jumps back within a stance joins its contacts, and the foot travels with the body.
    motion = walks()[0]
    assert motion.contacts is not None
    standing = take_frame(motion, int(motion.contacts.mask.all(axis=1).argmax()))
    still = stack_frames([standing] * 300, motion.skeleton, motion.fps, motion.contacts.points)
    path = np.clip(np.arange(300) - 50, 0, 50)[:, None] / motion.fps * [0.0, 0.0, 1.0]
    given = replace(
        still,
        root_positions=set_readonly(still.root_positions + path),
        contacts=replace(motion.contacts, mask=np.ones((300, len(motion.contacts.points)), dtype=bool)),
    )
    player = Player(Film(given), feet)
    made = player.record(n_frames=150)
    assert made.contacts is not None
    assert not made.contacts.mask.all()
    assert made.contacts.mask[:50].all()
    # Locked legs do not stretch, so a straight leg drags its foot a little before that.
    assert measure_planted_slide(made) < (GLIDE / motion.fps if feet == "lock" else 1e-6)


@pytest.mark.parametrize(
    ("name", "seconds", "turn_rate"), [("walk", 1.5, 0.0), ("walk", 6.0, 0.0), ("walk", 6.0, 0.6), ("run", 3.0, 0.0)]
)
def test_planted_feet_do_not_glide_where_a_short_clip_does_not_fit_the_command(name, seconds, turn_rate) -> None:
    # The character jumps repeatedly: to feet that still rotate, and to places that its legs do not reach.
    stream = MotionMatching([sample(name, seconds=seconds, turn_rate=turn_rate).motion], feet="lock")
    raw = MotionMatching(stream.data, feet=None)
    for direction in (0.0, 1.5):
        stream.request(direction=direction)
        raw.request(direction=direction)
        made, given = stream.record(4.0), raw.record(4.0)
        assert measure_planted_slide(made) < GLIDE / stream.fps
        assert made.contacts.mask.mean() > 0.2 * given.contacts.mask.mean()
        assert not (made.contacts.mask & ~given.contacts.mask).any()
    assert measure_planted_slide(given) > GLIDE / stream.fps


@every_source
def test_planted_feet_of_a_recording_do_not_slide(kind: str) -> None:
    stream = STREAMS[kind]("clean")
    stream.record(1.0)
    if kind != "layers":
        stream.request(direction=1.5)
    assert measure_planted_slide(stream.record(3.0)) < 1e-6
