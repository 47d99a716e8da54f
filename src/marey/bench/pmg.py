"""Benchmark of parametric motion graphs: random walks, walks to points, response times, examples, export, and CPU
times."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from marey.bench.results import BenchResult, against_floor, at_most
from marey.bench.startup import MAREY
from marey.bench.timing import time_functions
from marey.clean import detect_contacts
from marey.control import FollowDirection, GoTo, GoToSettings, RandomWalk, bound_response, evaluate_stream
from marey.core.arrays import Floats
from marey.core.motion import Motion
from marey.core.placement import find_placement as place_of
from marey.edit import resample
from marey.graph.reach_kernels import measure_dubins_path
from marey.io import load
from marey.maths import rigid2d
from marey.pmg import Choice, ControlState, GaitSpace, ParametricMotionGraph, build_recipe, read_recipe, shipped_recipes

_TIMED = 120.0
_FURTHEST = 10.0
_WALKERS = ("walking", "stopping", "stepping", "right-turner", "walk-run", "running")
# Walkers that are also measured without a preference for short paths, because the fastest paths are long.
_SOONEST = ("walk-run",)
# Folder of recorded walks and runs, of which random halves become characters; speeds of walks in m/s.
_RECORDED, _WALKING = "cmu/016", (0.8, 1.9)
_SOURCES, _TARGETS = 200, 1000
# Meters and radians within which a point and heading count as reached.
_AT, _FACING = 0.3, float(np.radians(20.0))
_HIT = 0.05
# Maximum path length relative to the straight line; and maximum of lengths and times relative to the best that the
# clips allow, used if that gives a higher limit.
_PATH, _NEAR_BOUND = 1.5, 1.25
# Maximum processor time of a choice on the way to a point, in milliseconds; and maximum size of a graph in kilobytes.
# Heck reports less, for 14 edges.
_CHOICE, _GRAPH_SIZE = 2.0, 50.0


class _Sizes(NamedTuple):
    """How much to measure.

    seconds : duration of random play. n_points : points of each kind to walk to. n_halves : random halves of the
        recorded walks. n_punches, n_turns : punches and requested turns. n_exported : characters to export.
    """

    seconds: float = 60.0
    n_points: int = 10
    n_halves: int = 1
    n_punches: int = 30
    n_turns: int = 24
    n_exported: int = 1


# The sizes for which the goals are set.
_FULL = _Sizes(600.0, 200, 4, 120, 96, len(_WALKERS))


def bench_pmg(path: str, *, full: bool = False) -> Iterator[BenchResult]:
    """Measure the built-in characters, and walkers of recorded clips if `MAREY_DATA` is set; `path` is ignored.

    full : measure 200 points of each kind instead of 10, ten minutes of random play instead of one, and so on.
    """
    sizes = _FULL if full else _Sizes()
    characters = {name: build_recipe(read_recipe(name)) for name in shipped_recipes()}
    for name, character in characters.items():
        yield from _bench_random_walk(name, character, sizes)
        yield from _examples(name, character)
    walker = characters["walking"]
    yield _edge(walker)
    yield from _frames(walker)
    for name in _WALKERS[: sizes.n_exported]:
        yield _measure_page(name, characters[name])
    yield from _answers("walking", walker, 1.6, sizes)
    yield from _answers("stepping", characters["stepping"], 1.0, sizes)
    yield _punches(characters["boxing"], sizes)
    for name in _WALKERS:
        yield from _places(name, characters[name], sizes)
    for name, clips in _choose_recorded_walks(sizes):
        half = _build_walker(name, clips)
        yield from _answers(name, half, 1.6, sizes)
        yield from _answers(f"{name}, steps", _build_walker(name, clips, steps=1), 1.0, sizes)
        yield from _places(name, half, sizes)


def _bench_random_walk(name: str, character: ParametricMotionGraph, sizes: _Sizes) -> Iterator[BenchResult]:
    stream = character.stream(RandomWalk(rng=0), feet=None)
    _play(stream, sizes.seconds)
    worst = max(each.cost / each.bad for each in stream.transitions)
    yield at_most("pmg", f"{name}: worst of {len(stream.transitions)} transitions relative to T_BAD", worst, "x", 1.0)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "character.json"
        character.save(file)
        json.loads(file.read_text(encoding="utf-8"))
        yield at_most("pmg", f"{name}: text of its graph", file.stat().st_size / 1024.0, "KB", _GRAPH_SIZE)


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


def _examples(name: str, character: ParametricMotionGraph) -> Iterator[BenchResult]:
    """Count the examples of each node whose own parameters the node does not meet."""
    for node in character.nodes.values():
        reach = node.count_reached()
        if reach is not None and reach.n_reached is not None and node.parent is None:
            missed = 100.0 * (1.0 - reach.n_reached / reach.n_examples)
            what = f"{name}: examples of {node.name!r} not met within {reach.tolerance}, of {reach.n_examples}"
            yield at_most("pmg", what, missed, "%", 0.0)


def _measure_page(name: str, character: ParametricMotionGraph) -> BenchResult:
    """Export a character as a page, and measure its size."""
    with tempfile.TemporaryDirectory() as folder:
        file, page = Path(folder) / "character.json", Path(folder) / "character.html"
        character.save(file)
        subprocess.run([*MAREY, "pmg", "export", str(file), "-o", str(page)], check=True, capture_output=True)
        return at_most("pmg", f"{name}: exported page", page.stat().st_size / 2**20, "MB", 5.0)


class Visit(NamedTuple):
    """Result of a walk to a point.

    length, seconds : meters walked and duration; infinite if the point was missed.
    spent, n_choices : processor time of the choices in seconds, and their number.
    """

    length: float
    seconds: float
    spent: float
    n_choices: int


class TimedGoTo(GoTo):
    """Controller that measures the processor time of its choices, `spent`, in seconds."""

    spent: float = 0.0
    n_choices: int = 0

    def choose(self, state: ControlState) -> Choice:
        start = time.thread_time()
        choice = super().choose(state)
        self.spent += time.thread_time() - start
        self.n_choices += 1
        return choice


def _places(name: str, character: ParametricMotionGraph, sizes: _Sizes) -> Iterator[BenchResult]:
    """Walk to random points, without and with random headings."""
    usual = GoToSettings().short_way
    yield from _visit_points(name, character, sizes, "points", usual)
    yield from _visit_points(name, character, sizes, "points with a heading", usual)
    if name in _SOONEST:
        yield from _visit_points(name, character, sizes, "points with a heading", 0.0)


def _visit_points(
    name: str, character: ParametricMotionGraph, sizes: _Sizes, what: str, short_way: float
) -> Iterator[BenchResult]:
    """Count the points missed, and measure path lengths, times of arrival and processor time per choice.

    Without a preference for short paths, the character follows the circle on which it turns fastest, which can be
    wider than its tightest circle. Path lengths are then compared with arcs of that circle and straight lines.
    """
    rng, headings = np.random.default_rng(0), np.random.default_rng(1)
    tightest, fastest = _measure_circles(character)
    visits, far, arcs = list[Visit](), np.empty(sizes.n_points), np.empty(sizes.n_points)
    for k in range(sizes.n_points):
        angle, far[k] = rng.uniform(-np.pi, np.pi), _FURTHEST * np.sqrt(rng.uniform(0.01, 1.0))
        x, z = float(far[k] * np.sin(angle)), float(far[k] * np.cos(angle))
        heading = None if what == "points" else float(headings.uniform(-np.pi, np.pi))
        into = np.nan if heading is None else heading
        arcs[k] = measure_dubins_path(0.0, 0.0, 0.0, x, z, into, fastest / (2.0 * np.pi))
        visits.append(visit_point(character, TimedGoTo((x, z), heading=heading, short_way=short_way)))
    lengths, bound = np.array([each.length for each in visits]), float(np.quantile((arcs - tightest) / far, 0.9))
    label = f"{name}: {what}" + ", as soon as possible" * (not short_way)
    missed = 100.0 * float(np.isinf(lengths).mean())
    yield at_most("pmg", f"{label}: of {sizes.n_points} missed", missed, "%", 0.0)
    length = f"{label}: path length, less a turning circle of {tightest:.1f} m, relative to the line, 90th percentile"
    if not short_way:
        length += f"; {bound:.2f} by arcs of its fastest turns, a circle of {fastest:.1f} m"
    path = float(np.quantile((lengths - tightest) / far, 0.9))
    if sizes == _FULL:
        yield at_most("pmg", length, path, "x", _PATH if short_way else max(_PATH, _NEAR_BOUND * bound))
    else:  # too few points to judge a percentile
        yield _without_goal(length, path, "x")
    yield _without_goal(f"{label}: time to arrive, mean", float(np.mean([each.seconds for each in visits])), "s")
    spent = 1e3 * sum(each.spent for each in visits) / max(1, sum(each.n_choices for each in visits))
    yield at_most("pmg", f"{label}: a choice, mean processor time", spent, "ms", _CHOICE)


def _without_goal(what: str, value: float, unit: str) -> BenchResult:
    return BenchResult("pmg", what, value, unit, "", None, None, "", None)


def _measure_circles(character: ParametricMotionGraph) -> tuple[float, float]:
    """Return the lengths in meters of the tightest circle that a character can walk, and of the one on which it turns
    fastest.
    """
    tightest, fastest, rate = np.inf, np.inf, 0.0
    for node in character.nodes.values():
        chosen = node.samples(60, np.random.default_rng(0), corners=True)
        paths = node.paths(chosen)
        lengths = np.linalg.norm(np.diff(paths[..., 1:], axis=1), axis=2).sum(axis=1)
        turns = np.maximum(np.abs(paths[:, -1, 0] - paths[:, 0, 0]), 1e-3)
        for each, length, turn in zip(chosen, lengths, turns, strict=True):
            if length > 0.3:
                tightest = min(tightest, length / turn)
                seconds = node.motion(each).duration
                if turn / seconds > rate:
                    fastest, rate = length / turn, turn / seconds
    return float(2.0 * np.pi * tightest), float(2.0 * np.pi * fastest)


def _choose_recorded_walks(sizes: _Sizes) -> Iterator[tuple[str, list[Motion]]]:
    """Yield random halves of recorded walks, if the folder `MAREY_DATA` has any."""
    folder = Path(os.environ.get("MAREY_DATA", "")) / _RECORDED
    if not os.environ.get("MAREY_DATA") or not folder.is_dir():
        return
    motions = [load(file) for file in sorted(folder.glob("*.bvh"))]
    walks = [each for each in motions if _WALKING[0] < _mean_speed(each) < _WALKING[1]]
    clips = [detect_contacts(resample(each, 60.0)) for each in walks]
    for seed in range(sizes.n_halves):
        chosen = np.random.default_rng(seed).choice(len(clips), len(clips) // 2 + 1, replace=False)
        yield f"half {seed} of recorded walks", [clips[k] for k in np.sort(chosen)]


def _build_walker(name: str, clips: list[Motion], steps: int = 2) -> ParametricMotionGraph:
    """Build a walker whose clips are one gait cycle or one step long, as in the recipes "walking" and "stepping"."""
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


def _answers(name: str, character: ParametricMotionGraph, limit: float, sizes: _Sizes) -> Iterator[BenchResult]:
    """Measure the response time to a 90-degree turn requested at evenly spread moments, with locked feet, and compute
    the bound of the clips and edges."""
    found = evaluate_stream(partial(_stream_direction, character), n_turns=sizes.n_turns, seconds=1.0)
    bound = bound_response(character)
    what = (
        f"{name}: time to turn by 90 degrees, median; {bound.total:.2f} s at best with its clips: {bound.wait:.2f} s "
        f"until a transition, {bound.turning:.2f} s of turning"
    )
    yield at_most("pmg", what, found.response, "s", max(limit, _NEAR_BOUND * bound.total))


def _stream_direction(character: ParametricMotionGraph) -> Any:
    return character.stream(FollowDirection(0.0), feet="lock")


def visit_point(character: ParametricMotionGraph, controller: TimedGoTo) -> Visit:
    """Walk until a point is reached, or for a time that depends on the distance."""
    controller.prepare(character)  # the tables are computed once, not with every choice
    stream = character.stream(controller, feet=None)
    point, heading = controller.point, controller.heading
    gone, before = 0.0, None
    for k in range(round((6.0 * float(np.hypot(*point)) + 20.0) * character.fps)):
        yaw, *place = place_of(stream.frame(), 0)
        here = np.array(place)
        gone += 0.0 if before is None else float(np.hypot(*(here - before)))
        before = here
        faces = heading is None or abs(float(rigid2d.wrap_angle(yaw - heading))) <= _FACING
        if faces and np.hypot(*(here - point)) <= _AT:
            return Visit(gone, k / character.fps, controller.spent, controller.n_choices)
    return Visit(np.inf, np.inf, controller.spent, controller.n_choices)


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


def _punches(character: ParametricMotionGraph, sizes: _Sizes) -> BenchResult:
    boxer = _Boxer()
    stream = character.stream(boxer, start="dance")
    played: Motion = stream.record(3.2 * sizes.n_punches)
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
