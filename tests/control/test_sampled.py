"""Sampled characters: their contents, their response to commands, and their files."""

from __future__ import annotations

import itertools
import json
import shutil
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from marey.clean import find_floor, move_to_floor
from marey.control import SampledCharacter, sampled_build
from marey.core.placement import find_placement
from marey.errors import InvalidValue, MareyError, NoResult, ParseError, UnknownFormat, UnknownName
from marey.maths import rigid2d
from marey.pmg import FunctionSpace, GaitSpace, ParametricMotionGraph, request_at_point
from marey.samples import sample
from tests.io.test_glb_validator import check_valid
from tests.pmg.characters import fresh_walker, slider, small_walker, two_speed_walker, walks


@cache
def small() -> SampledCharacter:
    return SampledCharacter.build(small_walker(), max_clips=9)


@cache
def hitter() -> SampledCharacter:
    """A stiff character that glides and turns, and one that "hits" points by standing still."""
    skeleton = sample("walk", seconds=0.5).motion.skeleton
    char = ParametricMotionGraph("hitter")
    char.add("glide", FunctionSpace(slider(skeleton), ("turn",), [-1.0], [1.0], units=("rad",)))

    def stand(target):
        motion = slider(skeleton)(np.zeros(1))
        still = np.tile(motion.root_positions[:1], (len(motion), 1))
        return type(motion)(skeleton, still, motion.rotations, motion.fps)

    low, high = [-0.3, 1.0, 0.3], [0.3, 1.4, 0.6]
    space = FunctionSpace(stand, ("x", "y", "z"), low, high, units=("m", "m", "m"))
    char.add("hit", space, request=request_at_point)
    for ends in (("glide", "glide"), ("glide", "hit"), ("hit", "glide"), ("hit", "hit")):
        char.connect(*ends, good=0.5, bad=0.6, n_source=6, n_target=12)
    return SampledCharacter.build(char, max_clips=12)


def test_transitions_are_allowed_and_lie_in_the_clips() -> None:
    char = small()
    assert 5 <= len(char.clips) <= 9
    links, half = char.transitions, char.half
    assert (np.diff(links.first) > 0).all(), "a clip without a successor"
    assert links.costs.max() <= small_walker().edges["walk", "walk"].bad + 1e-4
    lengths = np.array([len(clip.motion) for clip in char.clips])
    decide = np.array([clip.decide for clip in char.clips])
    assert (links.leave - half >= decide[char.sources]).all()
    assert (links.leave + half < lengths[char.sources]).all()
    assert (links.enter - half >= 0).all()
    assert (links.enter + half < decide[links.target]).all()
    assert any(abs(clip.parameters[0]) < 1e-9 for clip in char.clips), "no clip goes straight ahead"


def test_the_floor_is_at_height_0() -> None:
    char = ParametricMotionGraph("raised")
    char.add("walk", GaitSpace.build([move_to_floor(motion, 0.045) for motion in walks()], mirror=True))
    char.connect("walk", "walk", n_source=12, n_target=40)
    sampled = SampledCharacter.build(char, max_clips=5)
    assert char["walk"].motion([0.0]).source.floor == 0.045
    assert sampled.stream().record(2.0).source.floor == 0.0
    for clip in sampled.clips:
        assert clip.motion.source.floor == 0.0
        without = replace(clip.motion, source=replace(clip.motion.source, floor=None))
        assert find_floor(without) == pytest.approx(0.0, abs=0.01)


def test_steps_say_where_the_stream_will_be() -> None:
    """The place and time of the next choice are those of the step of the transition."""
    char = small()
    stream = char.stream(feet=None)
    states = []
    for n in range(200):
        clip, frame, place = stream.clip, stream._frame, stream._place
        if frame == char.clips[clip].decide:
            states.append((n, clip, rigid2d.compose(place, char.clips[clip].place)))
        stream.next_frame()
    assert len(states) > 3
    for (n, i, before), (m, j, after) in itertools.pairwise(states):
        (e,) = [k for k in range(*char.transitions.first[i : i + 2]) if char.transitions.target[k] == j][:1]
        np.testing.assert_allclose(rigid2d.compose(before, char.steps[e])[1:], after[1:], atol=1e-9)
        assert (m - n) / char.fps == pytest.approx(char.seconds[e])


def test_a_stream_is_smooth_and_its_feet_hold() -> None:
    stream = small().stream()
    stream.request(direction=1.0)
    motion = stream.record(6.0)
    steps = np.linalg.norm(np.diff(motion.world().positions, axis=0), axis=2)
    assert steps.max() < 0.2, "a jump"  # 6 m/s at 30 Hz
    assert motion.contacts is not None
    assert {label.name for label in motion.labels} == {"walk"}
    assert stream.player.delay == 0.0


@pytest.mark.parametrize("direction", [-2.5, -1.0, 0.0, 0.7, 3.1])
def test_it_goes_in_the_requested_direction(direction: float) -> None:
    stream = small().stream(feet=None)
    stream.request(direction=direction)
    motion = stream.record(9.0)
    x, _, z = motion.travel[-1] - motion.travel[-60]
    assert abs(rigid2d.wrap_angle(np.arctan2(x, z) - direction)) < 0.3


def test_speeds_are_obeyed() -> None:
    char = SampledCharacter.build(two_speed_walker(), max_clips=14)
    paces = []
    for command in ({"speed": 0.1}, {"speed": 9.0}):
        # A speed alone changes the speed, and keeps the direction.
        for given in ([{"direction": 0.0} | command], [{"direction": 0.0}, command]):
            stream = char.stream(feet=None)
            for each in given:
                stream.request(**each)
            travel = stream.record(6.0).travel
            paces.append(np.linalg.norm(travel[-1] - travel[-90]) / 3.0)
    assert paces[0] == paces[1]
    assert paces[2] == paces[3]
    assert paces[2] > 1.2 * paces[0]


def test_it_reaches_points() -> None:
    rng = np.random.default_rng(0)
    for _ in range(12):
        bearing, away = rng.uniform(-np.pi, np.pi), rng.uniform(1.0, 6.0)
        point = away * np.array([np.sin(bearing), np.cos(bearing)])
        stream = small().stream(feet=None)
        stream.request(point=point)
        motion = stream.record(3.0 * (away + 3.0))
        assert np.linalg.norm(motion.travel[:, [0, 2]] - point, axis=1).min() < 0.35


def test_actions_are_done_once() -> None:
    char = hitter()
    stream = char.stream(feet=None)
    stream.request(direction=0.0)
    stream.request(node="hit")
    labels = [label.name for label in stream.record(12.0).labels]
    assert labels.count("hit") == 1
    assert labels[-1] == "glide"


def test_a_target_out_of_reach_is_approached_and_then_hit() -> None:
    char, target = hitter(), np.array([0.2, 1.2, 3.4])
    stream = char.stream(feet=None)
    stream.request(target=target)
    for _ in range(600):
        clip, place = stream.clip, stream._place
        if char.clips[clip].hit is not None and stream._action is None:
            break
        stream.next_frame()
    hit = rigid2d.apply(place, char.clips[clip].hit)
    assert np.linalg.norm(hit - target) < 0.35
    assert np.linalg.norm(find_placement(stream.record(0.1), 0)[1:] - target[[0, 2]]) < 1.2


def test_wandering_depends_on_the_seed_only() -> None:
    def clips(seed: int) -> list[int]:
        stream = small().stream(feet=None, rng=seed)
        stream.request(wander=True)
        return [stream.next_frame() and stream.clip for _ in range(300)]

    assert clips(1) == clips(1)
    assert clips(1) != clips(2)


def test_files_hold_everything(tmp_path: Path) -> None:
    char = small()
    written = char.save(tmp_path / "w.glb")
    assert [Path(each).name for each in written] == ["w.json", "w.glb"]
    check_valid((tmp_path / "w.glb").read_bytes())
    for path in written:
        again = SampledCharacter.load(path)
        motions = []
        for each in (char, again):
            stream = each.stream(rng=1)
            motions.append([])
            for command in ({"direction": 2.0}, {"point": (1.0, 2.0)}, {"wander": True}, {}):
                stream.request(**command)
                motions[-1].append(stream.record(2.0).world().positions)
        np.testing.assert_allclose(*motions, atol=2e-4)
    assert again.nodes == char.nodes
    assert again.clips[0].motion.contacts is not None


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    small().save(tmp_path / "w.json")
    return tmp_path / "w.json"


def damage(path: Path, change) -> None:
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content)
    path.write_text(json.dumps(content), encoding="utf-8")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c.pop("clips"), "'clips' is missing"),
        (lambda c: c["clips"].pop(), "must have one animation per clip, at least one, but has"),
        (lambda c: c["clips"][0].update(next=[]), "clip 0 has no transition to another clip"),
        (lambda c: c["clips"][1]["next"][0].__setitem__(0, 99), "a transition leads to a clip that does not exist"),
        (
            lambda c: c["clips"][1]["next"][0].__setitem__(1, 0),
            "a transition of clip 1 is at a frame that its clips do not have",
        ),
        (lambda c: c["clips"][0].update(frames=3), "frames instead of 3"),
        (lambda c: c["clips"][0].update(node=7), "node must be from 0 to 0, not 7"),
        (lambda c: c["clips"][0].update(contacts=[]), "one list for each"),
        (lambda c: c.update(joints=["a"]), "the joints in w.glb differ from those in the .json file"),
        (lambda c: c["values"].update(rest=[1.0]), "rest"),
        (lambda c: c["values"].update(speeds=[0.0, 1.0]), "speeds must be greater than 0"),
        (lambda c: c["values"]["distances"].reverse(), "distances must increase"),
        (lambda c: c["clips"][1]["path"].pop(), "path"),
    ],
)
def test_damaged_files_are_refused(saved: Path, change, message: str) -> None:
    damage(saved, change)
    with pytest.raises(ParseError, match=message):
        SampledCharacter.load(saved)


def test_other_files_are_refused(saved: Path, tmp_path: Path) -> None:
    damage(saved, lambda c: c.update(version=99))
    with pytest.raises(MareyError, match="version 99"):
        SampledCharacter.load(saved)
    with pytest.raises(UnknownFormat, match=r"\.json or \.glb"):
        small().save(tmp_path / "w.bvh")
    shutil.copy(saved.with_suffix(".glb"), tmp_path / "alone.glb")
    with pytest.raises(MareyError, match=r"alone\.json"):
        SampledCharacter.load(tmp_path / "alone.glb")


@pytest.mark.parametrize(
    ("command", "kind", "message"),
    [
        ({"directoin": 1.0}, UnknownName, "similar: 'direction'"),
        ({"node": "wlak"}, UnknownName, "similar: 'walk'"),
        ({"target": (1.0, 1.0, 1.0)}, InvalidValue, "no actions that hit"),
        ({"point": (1.0, 2.0, 3.0)}, InvalidValue, "point"),
        ({"direction": "north"}, InvalidValue, "direction"),
    ],
)
def test_wrong_commands_are_refused(command, kind, message: str) -> None:
    with pytest.raises(kind, match=message):
        small().stream().request(**command)


def restrict(good: float) -> ParametricMotionGraph:
    """Return the small walker with another threshold."""
    char = fresh_walker()
    char._edges["walk", "walk"] = replace(small_walker().edges["walk", "walk"], good=good, bad=good)
    return char


def test_the_frame_rate_is_the_first_at_which_clips_can_follow_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampled_build, "_RATES", (60.0, 15.0))
    assert SampledCharacter.build(small_walker(), max_clips=3).fps == 60.0
    assert SampledCharacter.build(restrict(0.0302), max_clips=3).fps == 15.0
    with pytest.raises(NoResult, match="at 60 Hz"):
        SampledCharacter.build(restrict(0.0302), max_clips=3, fps=60.0)


def test_characters_that_cannot_go_on_are_refused() -> None:
    with pytest.raises(NoResult, match="'walk' cannot continue"):
        SampledCharacter.build(fresh_walker())
    with pytest.raises(NoResult, match="no nodes"):
        SampledCharacter.build(ParametricMotionGraph("empty"))
    strict = restrict(1e-4)
    with pytest.raises(NoResult, match="at 15 Hz, can be followed .* raise `max_clips=` or `fps=`, for example to 30"):
        SampledCharacter.build(strict, max_clips=3, fps=15.0)
    with pytest.raises(NoResult, match="at 120 Hz, can be followed by others forever; raise `max_clips=`$"):
        SampledCharacter.build(strict, max_clips=3)
