"""Benchmark of parametric motion graphs: random walks, walks to points, punches to targets, and time per frame."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from marey.bench.results import BenchResult, against_floor, at_most
from marey.bench.timing import time_functions
from marey.clean import detect_contacts
from marey.control import FollowDirection, GoTo, RandomWalk, bound_response, evaluate_stream
from marey.core.arrays import Floats
from marey.core.motion import Motion
from marey.core.placement import find_placement as place_of
from marey.edit import resample
from marey.io import load
from marey.maths import rigid2d
from marey.pmg import Choice, ControlState, GaitSpace, ParametricMotionGraph, build_recipe, read_recipe, shipped_recipes

# Sizes for which the goals are set: seconds of random walk, points, punches, and samples of an edge.
_SECONDS, _TIMED = 600.0, 120.0
_POINTS, _FURTHEST = 200, 10.0
_WALKERS = ("walking", "stopping", "stepping", "right-turner", "walk-run", "running")
# Folder of recorded walks and runs, of which random halves become characters; speeds of walks in m/s; number of halves.
_RECORDED, _WALKING = "cmu/016", (0.8, 1.9)
_HALVES = 4
_PUNCHES = 120
_SOURCES, _TARGETS = 200, 1000
# Meters and radians within which a point and heading count as reached.
_AT, _FACING = 0.3, float(np.radians(20.0))
_HIT = 0.05
# Number of requested turns; and the goal relative to the lower bound of the clips, if they cannot meet the absolute
# goal.
_TURNS, _NEAR_BOUND = 24, 1.25


def bench_pmg(path: str) -> Iterator[BenchResult]:
    """Measure the shipped characters; `path` is ignored."""
    characters = {name: build_recipe(read_recipe(name)) for name in shipped_recipes()}
    for name, character in characters.items():
        yield from _bench_random_walk(name, character)
    walker = characters["walking"]
    yield _edge(walker)
    yield from _frames(walker)
    for name in _WALKERS:
        yield from _places(name, characters[name])
    yield from _answers("walking", walker, 1.6)
    yield from _answers("stepping", characters["stepping"], 1.0)
    for name, clips in _choose_recorded_walks():
        half = _build_walker(name, clips)
        yield from _places(name, half)
        yield from _answers(name, half, 1.6)
        yield from _answers(f"{name}, steps", _build_walker(name, clips, steps=1), 1.0)
    yield _punches(characters["boxing"])


def _bench_random_walk(name: str, character: ParametricMotionGraph) -> Iterator[BenchResult]:
    stream = character.stream(RandomWalk(rng=0), feet=None)
    _play(stream, _SECONDS)
    worst = max(each.cost / each.bad for each in stream.transitions)
    yield at_most("pmg", f"{name}: worst of {len(stream.transitions)} transitions relative to T_BAD", worst, "x", 1.0)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "character.json"
        character.save(file)
        json.loads(file.read_text(encoding="utf-8"))
        yield at_most("pmg", f"{name}: text of its graph", file.stat().st_size / 1024.0, "KB", 50.0)


def _edge(character: ParametricMotionGraph) -> BenchResult:
    node = next(iter(character.nodes))
    compare = partial(character.compare, node, node, n_source=_SOURCES, n_target=_TARGETS)
    (mine,) = time_functions([compare], rounds=2, clock=time.process_time)
    return at_most("pmg", f"an edge of {_SOURCES} x {_TARGETS} samples, processor time", mine, "s", 3.0)


def _frames(character: ParametricMotionGraph) -> Iterator[BenchResult]:
    """Measure CPU time per frame, 99.9th percentile and mean, with foot cleanup."""
    stream = character.stream(RandomWalk(rng=0), feet="clean")
    _play(stream, 5.0)
    spent = np.empty(round(_TIMED * character.fps))
    for i in range(len(spent)):
        start = time.thread_time()
        stream.frame()
        spent[i] = time.thread_time() - start
    yield at_most("pmg", "a frame, 99.9th percentile", 1e3 * float(np.quantile(spent, 0.999)), "ms", 4.0)
    percent = (100.0 * float(spent.mean()) * character.fps, 100.0)
    yield against_floor("pmg", f"{character.fps:g} frames per second", "%", "one core", percent, 0.1)


def _places(name: str, character: ParametricMotionGraph) -> Iterator[BenchResult]:
    """Walk to random points, without and with random headings; count the points missed and measure the path lengths."""
    circle = _turning_circle(character)
    for what in ("points", "points with a heading"):
        rng, headings = np.random.default_rng(0), np.random.default_rng(1)
        missed, excess = 0, []
        for _ in range(_POINTS):
            angle, far = rng.uniform(-np.pi, np.pi), _FURTHEST * np.sqrt(rng.uniform(0.01, 1.0))
            point = np.array([far * np.sin(angle), far * np.cos(angle)])
            heading = None if what == "points" else float(headings.uniform(-np.pi, np.pi))
            length = _measure_path(character, point, heading)
            missed += length is None
            excess += [] if length is None else [(length - circle) / far]
        yield at_most("pmg", f"{name}: {what} of {_POINTS} missed", 100.0 * missed / _POINTS, "%", 0.0)
        yield at_most(
            "pmg",
            f"{name}: path length to {what}, less a turning circle of {circle:.1f} m, "
            f"relative to the straight line, 90th percentile",
            float(np.quantile(excess, 0.9)) if excess else np.inf,
            "x",
            1.5,
        )


def _turning_circle(character: ParametricMotionGraph) -> float:
    """Return the length in meters of the tightest circle that the character can walk."""
    best = np.inf
    for node in character.nodes.values():
        paths = node.paths(node.samples(60, np.random.default_rng(0), corners=True))
        lengths = np.linalg.norm(np.diff(paths[..., 1:], axis=1), axis=2).sum(axis=1)
        turns = np.abs(paths[:, -1, 0] - paths[:, 0, 0])
        travels = lengths > 0.3
        best = min(best, float((lengths[travels] / np.maximum(turns[travels], 1e-3)).min(initial=np.inf)))
    return float(2.0 * np.pi * best)


def _choose_recorded_walks() -> Iterator[tuple[str, list[Motion]]]:
    """Yield random halves of recorded walks, if the folder `MAREY_DATA` has any."""
    folder = Path(os.environ.get("MAREY_DATA", "")) / _RECORDED
    if not os.environ.get("MAREY_DATA") or not folder.is_dir():
        return
    motions = [load(file) for file in sorted(folder.glob("*.bvh"))]
    walks = [each for each in motions if _WALKING[0] < _mean_speed(each) < _WALKING[1]]
    clips = [detect_contacts(resample(each, 60.0)) for each in walks]
    for seed in range(_HALVES):
        chosen = np.random.default_rng(seed).choice(len(clips), len(clips) // 2 + 1, replace=False)
        yield f"half {seed} of recorded walks", [clips[k] for k in np.sort(chosen)]


def _build_walker(name: str, clips: list[Motion], steps: int = 2) -> ParametricMotionGraph:
    """Build a walker with clips of a cycle, or of a step, as the recipes "walking" and "stepping" do."""
    short = ParametricMotionGraph(name, length=0.2, region=0.47)
    character = ParametricMotionGraph(name) if steps == 2 else short
    sides: tuple[Literal["left", "right"], ...] = ("left", "right") if steps == 1 else ("left",)
    for side in sides:
        space = GaitSpace.build(clips, ("turn", "speed"), mirror=True, steps=steps, side=side)
        character.add("walk" if steps == 2 else side, space)
    names = list(character.nodes)
    for source, target in zip(names, reversed(names), strict=True):
        character.connect(source, target)
    return character


def _mean_speed(motion: Motion) -> float:
    return float(np.linalg.norm(np.diff(motion.travel, axis=0), axis=1).sum() / motion.duration)


def _answers(name: str, character: ParametricMotionGraph, limit: float) -> Iterator[BenchResult]:
    """Measure the response time to a 90-degree turn requested at random moments, with locked feet, and the lower bound
    of the clips."""
    found = evaluate_stream(partial(_stream_direction, character), n_turns=_TURNS, seconds=1.0)
    bound = bound_response(character).total
    what = f"{name}: time to turn by 90 degrees, median; {bound:.2f} s at best with its clips"
    yield at_most("pmg", what, found.response, "s", max(limit, _NEAR_BOUND * bound))


def _stream_direction(character: ParametricMotionGraph) -> Any:
    return character.stream(FollowDirection(0.0), feet="lock")


def _measure_path(character: ParametricMotionGraph, point: Floats, heading: float | None) -> float | None:
    """Return the meters walked until a point is reached; None if it is not reached in time."""
    stream = character.stream(GoTo(tuple(point), heading=heading), feet=None)
    gone, before = 0.0, None
    limit = round((6.0 * float(np.hypot(*point)) + 20.0) * character.fps)
    for _ in range(limit):
        frame = stream.frame()
        yaw, *place = place_of(frame, 0)
        here = np.array(place)
        gone += 0.0 if before is None else float(np.hypot(*(here - before)))
        before = here
        if np.hypot(*(here - point)) > _AT:
            continue
        if heading is None or abs(float(rigid2d.wrap_angle(yaw - heading))) <= _FACING:
            return gone
    return None


class _Boxer:
    """Controller that punches at reachable points, with other actions in between, and records its targets."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(0)
        self.aims: list[tuple[float, Floats]] = []
        self.turn = 0

    def choose(self, state: ControlState) -> Choice:
        self.turn += 1
        names = [option.node.name for option in state.options]
        name = "punch" if self.turn % 2 and "punch" in names else names[self.turn % len(names)]
        option = next(each for each in state.options if each.node.name == name)
        node = option.node
        if name != "punch":
            return Choice(name, option.range.region.sample(1, self.rng)[0])
        seen = option.range.region.sample(1, self.rng)[0]
        point = rigid2d.apply(option.place, seen)
        self.aims.append((state.seconds, point))
        return Choice(name, np.asarray(node.request(node, {"point": point}, option.place)))


def _punches(character: ParametricMotionGraph) -> BenchResult:
    boxer = _Boxer()
    stream = character.stream(boxer, start="dance")
    played: Motion = stream.record(3.2 * _PUNCHES)
    hand = played.world().positions[:, played.skeleton.roles["right_hand"]]
    misses = []
    for seconds, point in boxer.aims:
        start = round(seconds * played.fps)
        ahead = hand[start : start + round(1.3 * played.fps)]
        if len(ahead) == round(1.3 * played.fps):
            misses.append(float(np.linalg.norm(ahead - point, axis=1).min()))
    late = 100.0 * float(np.mean(np.array(misses) > _HIT))
    return at_most("pmg", f"punches of {len(misses)} more than 5 cm off", late, "%", 5.0)


def _play(stream: Any, seconds: float) -> None:
    for _ in range(round(seconds * stream.fps)):
        stream.frame()
