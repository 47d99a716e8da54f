"""Benchmark of parametric motion graphs: random walks, walks to points, punches to targets, and time per frame."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from marey.bench.results import BenchResult, against_floor, at_most
from marey.bench.timing import time_functions
from marey.control import GoTo, RandomWalk
from marey.core.arrays import Floats
from marey.core.motion import Motion
from marey.core.placement import find_placement as place_of
from marey.maths import rigid2d
from marey.pmg import Choice, ControlState, ParametricMotionGraph, build_recipe, read_recipe, shipped_recipes

# Sizes for which the goals are set: seconds of random walk, points, punches, and samples of an edge.
_SECONDS, _TIMED = 600.0, 120.0
_POINTS, _FURTHEST = 200, 10.0
_PUNCHES = 120
_SOURCES, _TARGETS = 200, 1000
# Meters and radians within which a point and heading count as reached.
_AT, _FACING = 0.3, float(np.radians(20.0))
_HIT = 0.05


def bench_pmg(path: str) -> Iterator[BenchResult]:
    """Measure the shipped characters; `path` is ignored."""
    characters = {name: build_recipe(read_recipe(name)) for name in shipped_recipes()}
    for name, character in characters.items():
        yield from _bench_random_walk(name, character)
    walker = characters["walking"]
    yield _edge(walker)
    yield from _frames(walker)
    yield from _places(walker, None)
    yield from _places(walker, np.random.default_rng(1))
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
    stream = character.stream(RandomWalk(rng=0))
    _play(stream, 5.0)
    spent = np.empty(round(_TIMED * character.fps))
    for i in range(len(spent)):
        start = time.thread_time()
        stream.frame()
        spent[i] = time.thread_time() - start
    yield at_most("pmg", "a frame, 99.9th percentile", 1e3 * float(np.quantile(spent, 0.999)), "ms", 4.0)
    percent = (100.0 * float(spent.mean()) * character.fps, 100.0)
    yield against_floor("pmg", f"{character.fps:g} frames per second", "%", "one core", percent, 0.1)


def _places(character: ParametricMotionGraph, headings: np.random.Generator | None) -> Iterator[BenchResult]:
    """Walk to random points, with random headings if `headings` is given, and count those missed."""
    rng = np.random.default_rng(0)
    missed, ratios = 0, []
    for _ in range(_POINTS):
        angle, far = rng.uniform(-np.pi, np.pi), _FURTHEST * np.sqrt(rng.uniform(0.01, 1.0))
        point = np.array([far * np.sin(angle), far * np.cos(angle)])
        heading = None if headings is None else float(headings.uniform(-np.pi, np.pi))
        length = _measure_path(character, point, heading)
        missed += length is None
        ratios += [] if length is None else [length / far]
    what = "points" if headings is None else "points with a heading"
    least = 1.0 if headings is None else 3.0
    yield at_most("pmg", f"{what} of {_POINTS} missed", 100.0 * missed / _POINTS, "%", least)
    if headings is None:
        yield at_most(
            "pmg", "path length over straight line, 90th percentile", float(np.quantile(ratios, 0.9)), "x", 1.5
        )


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
