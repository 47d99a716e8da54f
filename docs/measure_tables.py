"""Measure the numbers in the documentation again: MAREY_DATA=FOLDER python docs/measure_tables.py [NAME...]

Without names, all tables are measured, which takes about an hour on one core. FOLDER holds `cmu/016` and so on. Times
come from `marey bench`; see "Numbers in the docs" in CONTRIBUTING.md.
"""

from __future__ import annotations

import csv
import math
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import pairwise
from pathlib import Path

import numpy as np

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parent)]

import marey  # noqa: E402
from marey.control import SampledCharacter  # noqa: E402
from marey.core import Motion  # noqa: E402
from marey.edit import mirror, resample  # noqa: E402
from marey.errors import MareyError, NoResult  # noqa: E402

DATA = Path(os.environ.get("MAREY_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
WALKS, RUNS = range(11, 33, 2), (35, 37, 39, 41, 43, 45, 48, 49, 51, 53, 55)
LEFT, RIGHT = (11, 17, 23, 27, 37, 41, 48, 51), (13, 19, 25, 29, 39, 43, 49, 53)


@cache
def clip(name: str, fps: float | None = None) -> Motion:
    """A CMU clip such as "16_15", with contacts. The files of 143 say 120 Hz but were recorded at 60."""
    subject = name.split("_")[0]
    rate = 60.0 if subject == "143" else None
    motion = marey.load(DATA / "cmu" / f"{int(subject):03d}" / f"{name}.bvh", file_fps=rate)
    return marey.detect_contacts(motion if fps is None else resample(motion, fps))


def folder(subject: str, fps: float | None = None) -> list[Motion]:
    return [clip(path.stem, fps) for path in sorted((DATA / "cmu" / subject).glob("*.bvh"))]


def quantiles(values: Iterable[float], *which: float) -> str:
    return ", ".join(f"{value:.3g}" for value in np.quantile(list(values), which))


# docs/blending.md


def pairs() -> Iterator[str]:
    """Recorded pairs."""
    from tests.blend.helpers import heading_change, path_length
    from tests.blend.test_blend_real import stance, steps

    from marey.register import register

    def accepted(pairs: Iterable[tuple[int, int]]) -> tuple[dict, list[str]]:
        registered, rejected = {}, []
        for a, b in pairs:
            try:
                registered[a, b] = register([clip(f"16_{a:02d}"), clip(f"16_{b:02d}")])
            except NoResult as error:
                rejected.append(f"16_{a} + 16_{b}: {error}")
        return registered, rejected

    def plant_distance(motion: Motion) -> float | None:
        """Mean distance between consecutive plants of the two balls."""
        places = []
        for name in ("left_ball", "right_ball"):
            joint = motion.world().positions[:, motion.skeleton.roles[name]]
            places += [(a, name, joint[(a + b) // 2, [0, 2]]) for a, b in motion.contacts.intervals(name)]
        places.sort(key=lambda each: each[0])
        apart = [np.linalg.norm(b[2] - a[2]) for a, b in pairwise(places) if a[1] != b[1]]
        return float(np.mean(apart)) if apart else None

    weights, outside = np.array([0.5, 0.5]), {"speed": [], "stance": [], "step": [], "plants": []}
    registered, rejected = accepted((a, b) for a in WALKS for b in RUNS)
    yield f"walk + run: {len(registered)} of {len(registered) + len(rejected)} accepted; rejected: {rejected}"
    for pair, reg in registered.items():
        result = marey.blend(reg, weights)
        all_of_it = (*reg.motions, result)
        values = {
            "speed": [path_length(motion) / motion.duration for motion in all_of_it],
            "stance": [stance(motion) for motion in all_of_it],
            "step": steps(reg, result, weights),
            "plants": [plant_distance(motion) for motion in all_of_it],
        }
        for name, row in values.items():
            if row is not None and None not in row and not min(row[:2]) <= row[2] <= max(row[:2]):
                outside[name].append((pair, round(max(min(row[:2]) - row[2], row[2] - max(row[:2])), 3)))
    yield "".join(f"{name}: {len(registered) - len(rows)} between; outside: {rows}\n" for name, rows in outside.items())

    registered, rejected = accepted((a, b) for a in LEFT for b in RIGHT)
    yield f"left + right: {len(registered)} of {len(registered) + len(rejected)} accepted; rejected: {rejected}"
    off, longer, opposite, straight, equal = [], [], 0, 0, 0
    for reg in registered.values():
        turns, ways = ([measured(motion) for motion in reg.motions] for measured in (heading_change, path_length))
        result = marey.blend(reg, weights)
        off.append(heading_change(result) - float(np.mean(turns)))
        longer.append(100 * (path_length(result) / float(np.mean(ways)) - 1.0))
        equal += abs(heading_change(result)) <= 10.0
        if turns[0] > 0.0 > turns[1]:
            opposite += 1
            canceling = np.array([-turns[1], turns[0]]) / (turns[0] - turns[1])
            straight += abs(heading_change(marey.blend(reg, canceling))) <= 10.0
    yield (
        f"turn off the mean by {min(off):.2f} to {max(off):.2f} degrees, length by {min(longer):.2f} to "
        f"{max(longer):.2f} %; straight {straight} of {opposite}; within 10 degrees with equal weights {equal}"
    )
    jumps = accepted((5, b) for b in (*WALKS, *RUNS))
    yield f"jump: {len(jumps[1])} of {len(jumps[0]) + len(jumps[1])} rejected"


def finders() -> Iterator[str]:
    """Path finders, and blends by every method."""
    from marey.blend.baselines import compare
    from marey.samples import sample

    rows: dict[str, list] = {}
    for a, b in zip((11, 13, 15, 17, 19, 21, 23, 25, 27, 29), (35, 37, 39, 41, 43, 45, 48, 49, 51, 55), strict=True):
        found = compare(clip(f"16_{a}", 60.0), clip(f"16_{b}", 60.0), blends=False)
        yield f"16_{a} + 16_{b}: {found.frames}, optimum proven: {found.proven}"
        for row in found.paths:
            rows.setdefault(row.method, []).append(row)
    for method, found in rows.items():
        known = [row.accuracy for row in found if row.accuracy is not None]
        yield f"{method}: {np.mean(known):.2f} % on {len(known)}, {np.mean([row.seconds for row in found]):.2g} s"
    walk = sample("walk", fps=60.0, speed=1.4, seconds=5.0).motion
    run = sample("run", fps=60.0, speed=3.0, seconds=4.0).motion
    found = compare(walk, run)
    yield f"{found.frames}: {[(row.method, row.note, row.path and row.path.complete) for row in found.paths]}"
    for row in (*found.inputs, *found.blends):
        slide, depth, jitter, speed = (
            row.metrics[name] for name in ("slide_weighted_speed", "penetration_max", "jitter", "speed_mean")
        )
        spent = "" if row.seconds is None else f", {1000 * row.seconds:.0f} ms"
        values = f"{slide:.3g}, {depth:.3g}, {100 * jitter:.3g}, {speed:.3g}"
        yield f"{row.method}: {len(row.motion)} frames, {values}{spent}"
    left, right = (sample("walk", fps=60.0, turn_rate=rate, seconds=7.0).motion for rate in (0.5, -0.5))
    yield f"distances: {marey.register([left, right]).distance:.3f}, {marey.register([walk, run]).distance:.3f}"


# docs/graphs.md


@cache
def graph(name: str) -> marey.MotionGraph:
    """Of 144, of 143, of 143 with mirror images, or of the generated walks of the pictures."""
    if name == "samples":
        from pictures.graphs import clips

        return marey.MotionGraph.build(clips(), 0.08)
    motions = folder(name[:3], None)
    if name.endswith("mirrored"):
        motions += [replace(mirror(motion), name=f"{motion.name}_mirrored") for motion in motions]
    return marey.MotionGraph.build(motions, 0.08, fps=30)


def paths() -> Iterator[str]:
    """Paths that graphs of recorded clips follow."""
    from tests.graph.test_promises import random_curve, square

    from marey.graph import response_time, word_path

    t = np.linspace(0.0, 1.0, 200)
    shapes = {
        "straight": np.stack([0.0 * t, 12.0 * t], axis=1),
        "circle": 3.0 * np.stack([1.0 - np.cos(2 * np.pi * t), np.sin(2 * np.pi * t)], axis=1),
        "S-curve": np.stack([1.8 * np.sin(2 * np.pi * t), 12.0 * t], axis=1),
        "square": square(),
        "Hello": word_path("Hello", 12.0),
        **{f"random {seed}": random_curve(seed) for seed in range(60, 68)},
    }
    yield f"S-curve: {np.linalg.norm(np.diff(shapes['S-curve'], axis=0), axis=1).sum():.1f} m"
    for name in ("144", "143 mirrored", "143"):
        found = graph(name).statistics()
        yield f"{name}: {found.seconds_kept:.0f} of {found.seconds:.0f} s, {found.nodes}, {found.transitions}"
        uncovered, cost = [], []
        for shape, path in shapes.items():
            start = time.process_time()
            result = graph(name).follow(path)
            cost.append((time.process_time() - start) / (len(result.walk) / graph(name).fps))
            uncovered.append(result.mean_uncovered - result.mean_distance)
            yield f"  {shape}: {100 * result.mean_distance:.1f}, {100 * result.end_distance:.0f} cm"
        yield f"  uncovered beyond by at most {1000 * max(uncovered):.1f} mm; search {100 * np.array(cost)} %"
        yield f"  response {response_time(graph(name), graph(name).direction_table())}"
    for name, seeds in (("samples", range(30)), ("144", range(30))):
        results = [graph(name).follow(random_curve(seed)) for seed in seeds]
        good = sum(each.mean_distance <= 0.15 and each.end_distance <= 0.25 for each in results)
        yield f"{name}: {good} of {len(results)} random curves within 15 and 25 cm"


def objectives() -> Iterator[str]:
    """Branch and bound with default options, from the first node: walks of one speed, points and a path."""
    from marey.graph.objectives import FollowPath, KeepSpeed, ReachPoint

    rng = np.random.default_rng(0)
    searched = [KeepSpeed(speed, 4.0) for speed in (0.6, 1.0, 1.4, 1.8)]
    searched += [ReachPoint(rng.uniform(-4.0, 4.0, 2)) for _ in range(4)]
    for each in (*searched, FollowPath([[0.0, 0.0], [0.0, 2.0], [1.0, 4.0]])):
        start = time.process_time()
        found = graph("144").search(each, start=0)
        yield f"{type(each).__name__}: {time.process_time() - start:.2f} s, {found.n_expanded} expanded"


def pages() -> Iterator[str]:
    """Bytes per joint and frame of the page that `marey view` writes."""
    from marey.studio.view import view_page

    for name in ("16_11", "144_05"):
        motion = clip(name)
        short = motion[: len(motion) // 2]
        size = (len(view_page([motion])) - len(view_page([short]))) / (len(motion) - len(short))
        yield f"{name}: {size / len(motion.skeleton):.1f} bytes"


def walks() -> Iterator[str]:
    """Ten minutes of random walk, its feet, and a direction table."""
    from tests.graph.test_direction_table import by_table, greedily, progress
    from tests.graph.test_promises import steps

    from marey.graph import direction_table
    from marey.graph.skate import foot_skate

    for name in ("144", "143 mirrored"):
        walk = graph(name).random_walk(600.0, rng=0)
        theirs = np.concatenate([steps(each) for each in graph(name).clips])
        ours = steps(walk.motion(feet=None))
        joins = np.zeros(len(ours), dtype=bool)
        for part in walk.parts:
            if part.into is not None:
                joins[max(part.start - 1, 0) : part.stop] = True
        scale = 100.0 * graph(name).fps / 30.0
        rare = [scale * np.quantile(each, 0.999) for each in (ours, theirs)]
        yield f"{name}: 99.9 % {rare[0]:.1f}, clips {rare[1]:.1f} cm"
        yield f"  largest {scale * ours[joins].max():.1f}, clips {scale * theirs.max():.1f} cm"
        yield f"  {foot_skate(walk)}"
    for threshold in (0.03, 0.08, 0.12):
        built = marey.MotionGraph.build(folder("144"), threshold, fps=30)
        planted = foot_skate(built.random_walk(600.0, rng=0)).planted
        yield f"144 at {threshold} m: {planted.before / planted.sources:.2f} times the slide of the clips"
    rng, spent, bends = np.random.default_rng(0), [], []
    for _ in range(20):
        point, heading = rng.uniform(-5.0, 5.0, 2), float(rng.uniform(-np.pi, np.pi))
        start = time.process_time()
        walk = graph("144").reach(tuple(point), heading)
        spent.append(time.process_time() - start)
        bends.append(100.0 * walk.land_at(tuple(point), heading).shift)
    yield f"positions: {quantiles(spent, 0.0, 0.5, 1.0)} s of search"
    yield f"  bends {quantiles(bends, 0.5, 0.9)} cm (half, 90 %)"
    spent = []
    for each in graph("144").clips:
        start = time.process_time()
        graph("144").reach((2.0, 3.0), 0.5, clip=each.name)
        spent.append(time.process_time() - start)
    yield f"clips at a position: {quantiles(spent, 0.0, 0.5, 1.0)} s of search"
    start = time.process_time()
    table = direction_table(graph("144"), 16)
    built_in = time.process_time() - start
    data = sum(each.rotations.nbytes + each.root_positions.nbytes for each in graph("144").clips)
    ours, greedy = (
        np.mean([progress(graph("144"), choose, seed) for seed in range(20)])
        for choose in (by_table(graph("144"), table), greedily(graph("144")))
    )
    with tempfile.TemporaryDirectory() as place:
        table.save(Path(place) / "table.npz")
        size = (Path(place) / "table.npz").stat().st_size
    yield f"table: {100 * size / data:.2f} % of its data, {built_in:.2f} s"
    yield f"  {ours:.2f} m/s, {ours / greedy:.1f} times greedy"


# docs/finding.md


def medleys(seed: int, n_takes: int = 4, **counts: int) -> list:
    """Generated takes of 30 Hz with ten kicks, punches and reaches each."""
    from marey.samples import sample

    counts = {"kicks": 10, "punches": 10, "reaches": 10, **counts}
    takes = [sample("medley", rng=100 * seed + k, fps=30.0, **counts) for k in range(n_takes)]
    return [replace(take, motion=replace(take.motion, name=f"take{k}")) for k, take in enumerate(takes)]


def apexes(name: str, action: str) -> list[float]:
    """Seconds of the annotated actions of a clip of 144; the rest pose before the first frame is trimmed."""
    with open(DATA / "annotations.csv", newline="", encoding="utf-8") as lines:
        rows = [row for row in csv.DictReader(lines) if name in row["file"] and row["action"] == action]
    return [(int(row["apex_frame"]) - 1) / 120.0 for row in rows]


def searches() -> Iterator[str]:
    """Searches in generated takes."""
    from marey.find import MatchWeb

    for thresholds, every in (((0.055, 0.065, 0.08), 4), ((None,), 8)):
        seen, false, n, used, worst = [], 0, 0, [], 0.0
        for seed in range(7):
            takes = medleys(seed)
            web = MatchWeb.build([take.motion for take in takes])
            for kind in ("kick", "punch", "reach"):
                truth = [
                    (f"take{k}", action.start * 30.0, action.stop * 30.0)
                    for k, take in enumerate(takes)
                    for action in take.actions
                    if action.name == kind
                ]
                for name, start, stop in truth[::every]:
                    query = name, round(start), round(stop)
                    for given in thresholds:
                        threshold = web.suggest_threshold(*query).threshold if given is None else given
                        hits, others, error = judge(web.search(*query, threshold), truth)
                        used.append(threshold)
                        seen.append(hits - 1)
                        false, n, worst = false + others, n + 1, max(worst, error / 30.0)
        yield (
            f"samples at {min(used):.3f} to {max(used):.3f} m: {n} queries, found {sorted(set(seen))} of the others "
            f"({np.mean(np.array(seen) == max(seen)):.3f} of the queries all), {false} false, ends within {worst:.2f} s"
        )


def recorded() -> Iterator[str]:
    """Searches in recorded takes."""
    from marey.find import MatchWeb

    kinds = (
        ("144_05", "kick", 0.5, (0.06, 0.1, 0.2, 0.3), {}, folder("144")),
        ("144_22", "reach", 0.7, (0.1, 0.15, 0.2), {"markers": "upper", "remove_height": True}, [clip("144_22")]),
    )
    for name, action, half, thresholds, options, clips in kinds:
        web = MatchWeb.build(clips, fps=30.0, **options)
        truth = [(name, 30.0 * (at - half), 30.0 * (at + half)) for at in apexes(name, action)]
        for given in (*thresholds, None):
            rows, used = [], []
            for _, start, stop in truth:
                query = name, round(start), round(stop)
                threshold = web.suggest_threshold(*query).threshold if given is None else given
                middles = [(each, (a + b) / 2) for each, a, b in truth]
                matches = web.search(*query, threshold)
                hit = {
                    m for m in middles for found in matches if found.clip == m[0] and found.start <= m[1] < found.stop
                }
                others = sum(
                    not any(found.clip == m[0] and found.start <= m[1] < found.stop for m in middles)
                    for found in matches
                )
                rows.append((len(hit) - 1, others))
                used.append(threshold)
            yield f"{name} at {min(used):.3f} to {max(used):.3f} m: (found, false) {sorted(rows)}"


def judge(found: Iterable, truth: Sequence[tuple[str, float, float]]) -> tuple[int, int, float]:
    """How many of the true actions were found, how many matches are none, and by how many frames ends are off."""
    seen, others, worst = set(), 0, 0.0
    for match in found:
        for k, (name, start, stop) in enumerate(truth):
            common = min(match.stop, stop) - max(match.start, start)
            if name == match.clip and common > 0.5 * max(match.stop - match.start, stop - start):
                seen.add(k)
                worst = max(worst, abs(match.start - start), abs(match.stop - stop))
                break
        else:
            others += 1
    return len(seen), others, worst


def reference() -> Iterator[str]:
    """Matches of a web next to those of a search over whole grids."""
    from tests.twins.search import reference_search

    from marey.find import MatchWeb

    sets = {
        "144": [folder("144", 30.0)],
        "143": [folder("143", 30.0)],
        "016": [folder("016", 30.0)],
        "samples": [[t.motion for t in medleys(s, 1, kicks=8, punches=8, reaches=8)] for s in (50, 60)],
    }
    for name, groups in sets.items():
        for threshold in (0.05, 0.10):
            total = again = 0
            for clips in groups:
                web = MatchWeb.build(clips)
                rng = np.random.default_rng(2024)
                for _ in range(36 // len(groups)):
                    length = round(rng.uniform(0.8, 1.6) * 30)
                    long = [k for k, each in enumerate(web.clips) if len(each) > length]
                    k = int(rng.choice(long))
                    start = int(rng.integers(len(web.clips[k]) - length))
                    query = web.names[k], start, start + length, threshold
                    expected = reference_search(web, *query, tiers=1).matches[1:]
                    matches = web.search(*query, max_tiers=1).matches[1:] if expected else ()
                    total += len(expected)
                    for match in expected:
                        common = (
                            min(o.stop, match.stop) - max(o.start, match.start) for o in matches if o.clip == match.clip
                        )
                        again += any(each > 0.5 * len(match) for each in common)
            yield f"{name} at {threshold} m: {again} of {total}"


def indexed() -> Iterator[str]:
    """Matches of an index next to those of the match web of the same clips: the same interval, frame by frame."""
    from marey.find import MatchWeb, MotionIndex, SearchSettings
    from marey.find.search import Query

    sets = {
        "144": folder("144", 30.0),
        "143": folder("143", 30.0),
        "016": folder("016", 30.0),
        "samples": [t.motion for t in medleys(50, 2, kicks=8, punches=8, reaches=8)],
    }
    once = SearchSettings(max_tiers=1, max_matches=10_000)
    for name, clips in sets.items():
        web, index = MatchWeb.build(clips), MotionIndex.build(clips)
        for threshold in (0.05, 0.08, 0.12):
            total = again = other = 0
            rng = np.random.default_rng(2024)
            for _ in range(40):
                length = round(rng.uniform(0.8, 1.6) * 30)
                k = int(rng.choice([k for k, each in enumerate(web.clips) if len(each) > length]))
                start = int(rng.integers(len(web.clips[k]) - length))
                graphs = [Query.make(each, k, start, start + length, once).grow(threshold) for each in (web, index)]
                if graphs[0].stillness[0] < 1.5 * threshold:  # standing still is like everything that stands still
                    continue
                theirs, ours = ({graph.interval(node) for node in range(1, graph.n)} for graph in graphs)
                total, again, other = total + len(theirs), again + len(theirs & ours), other + len(ours - theirs)
            yield f"{name} at {threshold} m: {again} of {total}, and {other} others"


def limits() -> Iterator[str]:
    """Processor time of the search for transitions up to a limit, without that of the features."""
    from time import process_time

    from marey.compare import frame_weights, point_clouds
    from marey.graph.minima import search_minima
    from marey.samples import sample_library

    weights = frame_weights(0.5, 30.0)
    sets = {"144": folder("144", 30.0), "generated": [each.motion for each in sample_library(80_000)][::4]}
    for name, clips in sets.items():
        clouds = [point_clouds(each) for each in clips]
        n_frames = sum(map(len, clouds))
        for limit in (None, 0.08, 0.06, 0.04, 0.03, 0.02, 0.01):
            shortest = np.inf
            for _ in range(3):
                search = search_minima(clouds, weights, limit, max_memory=2**28)
                start = process_time()
                found = search.collect()
                shortest = min(shortest, process_time() - start)
            per_pair = 1e9 * shortest / (0.5 * n_frames**2)
            yield f"{name}, {n_frames} frames, limit {limit}: {per_pair:.2f} ns, {100 * found.skipped:.1f} % skipped"


def aiming() -> Iterator[str]:
    """How far new motions are from their targets."""
    from tests.parametric.takes import FEATURES, mean_errors, near_samples, real_space, takes
    from tests.parametric.takes import walks as strides

    from marey.parametric import ParametricMotion, position

    spaces = {
        "punches": lambda: ParametricMotion.build(takes("punch", 40), FEATURES["punch"]),
        "reaches": lambda: ParametricMotion.build(takes("reach", 40), FEATURES["reach"]),
        "kicks, foot": lambda: ParametricMotion.build(takes("kick", 40), position("right_foot", "highest", axes="xy")),
        "kicks, ball": lambda: ParametricMotion.build(takes("kick", 40), FEATURES["kick"]),
        "walks": lambda: ParametricMotion.build(strides(16), "turn,speed"),
        "144 kicks": lambda: real_space(DATA, "kick"),
        "144 reaches": lambda: real_space(DATA, "reach"),
    }
    for name, build in spaces.items():
        space = build()
        targets = near_samples(space, 60)
        for refine in (False, True):
            found = mean_errors(space, targets, refine=refine)
            yield f"{name}, refine={refine}: " + ", ".join(f"{key} {value:.4f}" for key, value in found.items())


def wide() -> Iterator[str]:
    """Spaces of other actions (Kovar 6.3.4): how far new motions are from random targets within the examples."""
    from tests.parametric.takes import WIDE, own_errors, wide_space

    from marey.parametric import ParametricMotion

    def recorded_lunges() -> ParametricMotion:
        take = clip("144_17", 30.0)
        lunges = [replace(take[at - 25 : at + 25], name=f"lunge {at}") for at in (135, 211, 288, 431, 565)]
        return ParametricMotion.build(lunges, "position:hips:y@lowest")

    makers = {name: partial(wide_space, name) for name in WIDE}
    for name, make in {**makers, "recorded lunges, height of the hips": recorded_lunges}.items():
        start = time.process_time()
        space = make()
        spent = time.process_time() - start
        low, high = space.parameters.min(axis=0), space.parameters.max(axis=0)
        spans = ", ".join(f"{a:.2f} to {b:.2f} {unit}" for a, b, unit in zip(low, high, space.units, strict=True))
        yield f"{name}: {len(space.example_indices)} examples, {spans}, {spent:.1f} s"
        for refine in (False, True):
            errors = own_errors(space, 40, refine=refine)
            mean, most = (each.round(4).tolist() for each in (errors.mean(axis=0), errors.max(axis=0)))
            yield f"  refine={refine}: mean {mean}, most {most}"


def continuity() -> Iterator[str]:
    """How far the joints of new motions move when the target moves a little."""
    from tests.parametric.takes import FEATURES, takes

    from marey.find import MatchWeb
    from marey.parametric import ParametricMotion

    web = MatchWeb.build([take.motion for take in medleys(0)])
    label = next(each for each in web.clips[0].labels if each.name == "kick")
    found = web.search("take0", label.start, label.stop, 0.065)
    spaces = {
        f"{len(found)} kicks of long takes": ParametricMotion.build(found, FEATURES["kick"]),
        **{kind: ParametricMotion.build(takes(kind, 40), FEATURES[kind]) for kind in ("kick", "reach", "punch")},
    }
    for name, space in spaces.items():
        for refine, n_lines in ((False, 20), (True, 5)):
            rng, ratios = np.random.default_rng(0), []
            for _ in range(n_lines):
                a, b = space.samples[rng.choice(len(space.samples), 2, replace=False)]
                middle, along = a + rng.uniform() * (b - a), (b - a) / np.linalg.norm(b - a)
                steps = np.cumsum(0.001 * 10.0 ** rng.uniform(-1.5, 0.5, 12))
                motions = [space(middle + step * along, refine=refine, feet=None) for step in steps]
                for (one, other), moved in zip(pairwise(motions), np.diff(steps), strict=True):
                    n = min(len(one), len(other))
                    apart = np.linalg.norm(one[:n].world().positions - other[:n].world().positions, axis=-1)
                    ratios.append(float(apart.max()) / moved)
            yield f"{name}, refine={refine}: {quantiles(ratios, 0.5, 0.95, 1.0)} (half, 95 %, most of {len(ratios)})"


def large() -> Iterator[str]:
    """A match web as large as Kovar's."""
    from marey.find import MatchWeb
    from marey.samples import sample

    takes = [replace(sample("medley", rng=k, fps=60.0).motion, name=f"take{k}") for k in range(16)]
    start = time.process_time()
    web = MatchWeb.build(takes)
    spent = time.process_time() - start
    statistics = web.statistics()
    yield f"{sum(map(len, takes))} frames, {spent:.0f} s of processor time; {statistics}"
    for tiers, kind in ((1, "first tier"), (None, "all tiers")):
        times, counts = [], []
        for label in [each for each in web.clips[0].labels if each.name in ("kick", "punch", "reach")]:
            start = time.process_time()
            matches = web.search("take0", label.start, label.stop, 0.1, max_tiers=tiers)
            times.append(1000.0 * (time.process_time() - start))
            counts.append(len(matches) - 1)
        yield f"  {kind}: {quantiles(times, 0.0, 0.5, 1.0)} ms for {min(counts)} to {max(counts)} matches"


# docs/gaze.md


def goals() -> Iterator[str]:
    """Degrees off the goal, and how well the parameters of generated looks are recovered."""
    from tests.layer.test_gaze_apply import standing

    from marey.layer.gaze_capture import gaze_example
    from marey.layer.gaze_model import find_reached_angles
    from marey.maths import quat
    from marey.samples.gaze import GAZE_TRIADS, gaze_takes

    gaze, rng = marey.GazeMap.default(), np.random.default_rng(0)
    inside = rng.uniform(np.radians([-150, -36]), np.radians([150, 36]), (40, 2))
    groups = {
        "standing": [standing()],
        "016, 111 and 143_17": [*folder("016"), clip("111_35"), clip("111_36"), clip("143_17")],
        "77_01": [clip("77_01")],
    }
    for name, motions in groups.items():
        model, whole = [], []
        for motion in motions:
            for goal in inside if name == "standing" else 0.4 * inside[:12]:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    track = gaze.trace(motion, [(0.3, *goal)])
                end = math.ceil(track.looks[0].end * motion.fps)
                if end < len(motion):
                    model.append(float(np.degrees(track.misses(model=True)[end:]).max()))
                    whole.append(float(np.degrees(track.misses()[end:]).max()))
        alone = f"map alone {min(model):.4f} to {max(model):.4f}"
        yield f"{name}: {alone}, with the eyes {max(whole):.4f}, {len(whole)} looks"
    rows = np.array([gaze.shift(goal, method="neighbors").to_row() for goal in inside])
    near = np.degrees(np.linalg.norm(find_reached_angles(rows, inside) - inside, axis=1))
    yield f"nearest samples: {quantiles(near, 0.5, 1.0)} degrees"
    takes = [
        take for sway in (0.002, 0.001) for take in gaze_takes(fps=60.0, sway=sway) if max(np.abs(take.goal)) > 0.1
    ]
    for noise in (0.00005, 0.0001, 0.0002, 0.0005, 0.001):
        starts, overshoots, without = [], [], 0
        for k, take in enumerate(takes):
            try:
                found = gaze_example(take.markers(noise=noise, rng=k), take.goal, GAZE_TRIADS)
            except MareyError:
                without += 1
                continue
            visible = np.degrees(quat.angle(take.pose[:4])) >= 1.0
            off = np.abs(found.starts * found.length - np.array(take.starts) * take.length) * take.motion.fps
            starts += off[visible].tolist()
            overshoots.append(100.0 * abs(found.overshoot / take.overshoot - 1.0))
        yield (
            f"{1000 * noise:g} mm: starts {quantiles(starts, 0.5, 0.95, 1.0)} frames, overshoot "
            f"{quantiles(overshoots, 0.5, 0.95, 1.0)} %; no result in {without} of {len(takes)}"
        )


# docs/layers.md


def splices() -> Iterator[str]:
    """Splices next to the ground truth, to copied angles and to the lower clip; and live."""
    from tests.layer.test_splicing import apart

    from marey.edit import share_skeleton
    from marey.layer import SpliceSet, align_motions, neck_deviation, phase_errors, splice, splice_naive, wobble
    from marey.layer.gait import track_legs
    from marey.samples import sample

    for turn in (0.0, 0.3, -0.6, 1.0):
        rows = []
        for seed in range(3):
            lower, upper = sample("walk", turn_rate=turn, rng=seed).motion, sample("carry_box", rng=seed + 3).motion
            truth = sample("carry_box", turn_rate=turn, rng=seed).motion
            results = (
                splice(lower, upper),
                splice(lower, upper, posture="full"),
                splice_naive(lower, upper),
                splice_naive(lower, upper, times=align_motions(lower, upper)),
            )
            rows.append([100.0 * apart(each, truth) for each in results])
        yield f"turn {turn}: {np.round(np.max(rows, axis=0), 2)} cm"

    def ratios(lower: Motion, upper: Motion) -> list[float]:
        times = align_motions(lower, upper)
        ours, aligned = splice(lower, upper, times=times), splice_naive(lower, upper, times=times)
        stride = lower.fps / track_legs(lower).cycle
        own, naive, below = (wobble(each, stride) for each in (ours, splice_naive(lower, upper), lower))
        deviation = neck_deviation(ours, lower) / neck_deviation(aligned, lower)
        errors = np.abs(phase_errors(lower, upper, times))
        return [
            float(np.quantile(errors, 0.95)) if len(errors) else np.nan,
            own / naive,
            own / below,
            deviation,
        ]

    box, load = clip("143_11")[300:450], clip("143_13")[200:380]
    named = {
        "111_36 on 111_35": [(clip("111_35"), clip("111_36"))],
        "143_11 on 143_32": [(clip("143_32"), box)],
        "143_13 on 143_32": [(clip("143_32"), load)],
        "143_11 on 143_17": [(clip("143_17"), box)],
        "143_13 on 143_17": [(clip("143_17"), load)],
        "16_15 on walks": [(clip(f"16_{k}"), clip("16_15")) for k in (11, 13, 17, 19, 21, 23, 25, 27, 29, 31)],
        "16_15 on runs": [(clip(f"16_{k}"), clip("16_15")) for k in (*RUNS, 57)],
    }
    for name, rows in named.items():
        yield f"{name}: {np.round(np.max([ratios(*row) for row in rows], axis=0), 3)}"
        late = 0
        for lower, upper in rows:
            times = align_motions(lower, upper, align="first_minimum")
            late += float(np.quantile(np.abs(phase_errors(lower, upper, times)), 0.95)) > 0.08
        yield f"  out of phase with the crop to the first minimum: {late} of {len(rows)}"
    for lower, upper in (("83_25", "111_36"), ("83_09", "111_36"), ("143_17", "143_23"), ("143_17", "144_20")):
        yield f"{upper} on {lower}: {np.round(ratios(*share_skeleton((clip(lower), clip(upper)), True))[1:], 3)}"
    for name, numbers in (("walks", (11, 13, 17, 19, 21, 23, 25, 27, 29, 31)), ("runs", (*RUNS, 57))):
        live = SpliceSet.build([clip("16_15"), *(clip(f"16_{k}") for k in numbers)], base="16_15")
        rows = [live.difference(f"16_{k}", "16_15") for k in numbers]
        yield f"live on {name}: " + ", ".join(f"{key} {np.median([r[key] for r in rows]):.4f}" for key in rows[0])


# docs/steering.md


@cache
def slow_walks(fps: float = 60.0) -> tuple[Motion, ...]:
    """Six slow walks of 016, with their mirror images."""
    walks = [clip(f"16_{k}", fps) for k in (11, 13, 15, 17, 19, 31)]
    return (*walks, *(replace(mirror(walk), name=f"{walk.name}_mirrored") for walk in walks))


def delays() -> Iterator[str]:
    """Delay of each kind of stream, by its rate and foot handling."""
    from marey.control import MotionMatching, RandomWalk
    from marey.pmg.walker import sample_walks, walker

    for fps in (30.0, 60.0, 120.0):
        walks = [resample(each, fps) for each in sample_walks(n_turns=5, speeds=(1.1,))]
        character, built = walker(speeds=(1.1,), n_turns=5, fps=fps), marey.MotionGraph.build(walks, 0.1)
        for feet in ("clean", "lock", None):
            makers = {
                "parametric motion graph": character.stream(RandomWalk(0), feet=feet),
                "motion matching": MotionMatching(walks, feet=feet),
                "motion graph": built.stream(feet=feet),
            }
            for stream in makers.values():
                stream.frame()
            yield f"{fps:g} Hz, feet={feet}: { {name: round(each.player.delay, 2) for name, each in makers.items()} }"


def streams() -> Iterator[str]:
    """All live methods on slow walks of 016."""
    from marey.control import clip_metrics, evaluate_streams
    from marey.control.baselines import FatGraph, FatGraphStream, baseline_streams

    walks = slow_walks()
    two = FatGraph.build(walks, n_hubs=2)
    locked = baseline_streams(walks)
    locked["fat graph, two hubs"] = lambda: FatGraphStream(two, feet="lock")
    free = evaluate_streams(baseline_streams(walks, feet=None), n_turns=16)
    rows = {"the clips": clip_metrics(walks), **evaluate_streams(locked, n_turns=16)}
    for name, row in rows.items():
        without = free[name].skate if name in free else math.nan
        yield (
            f"{name}: {row.response:.2f} s, {row.path_error:.2f} m, {100 * row.skate:.1f} cm/s, "
            f"without lock {100 * without:.1f}, jerk {100 * row.jerk:.0f}, bob {1000 * row.bob:.0f}, "
            f"lift {1000 * row.lift:.0f} mm, sway {math.degrees(row.sway):.1f}, {row.memory / 1e6:.1f} MB, "
            f"{row.frames_per_second:.0f} frames/s, answered {row.answered:.2f}"
        )


def bobbing() -> Iterator[str]:
    """Lean, sway and bob of a parametric motion graph and of a fat graph."""
    from marey.control import FollowDirection
    from marey.control.baselines import FatGraph, FatGraphStream
    from marey.control.evaluate_gait import gait_metrics, lean
    from marey.pmg import GaitSpace, ParametricMotionGraph
    from marey.pmg.walker import sample_walks, walker

    given = sample_walks(speeds=(1.1,))
    recorded = ParametricMotionGraph("recorded")
    recorded.add("walk", GaitSpace.build(slow_walks()[:6], ("turn",), mirror=True))
    recorded.connect("walk", "walk")
    sets = (
        ("generated", walker(speeds=(1.1,)), [*given, *map(mirror, given)], (0.0, 50.0, -50.0)),
        ("016", recorded, list(slow_walks()), (50.0, -50.0)),
    )
    for name, character, walks, turns in sets:
        fat = FatGraph.build(walks)
        for degrees in turns:
            turn = math.radians(degrees)
            ours = character.stream(FollowDirection(None, turn=turn), feet=None)
            ours.record(4.0)
            theirs = FatGraphStream(fat, direction=None, turn=turn, feet=None)
            length = len(fat.edges[0].path(turn, fat.fps).roots)
            theirs.record(n_frames=3 * length)
            first = round(4.0 * ours.fps)
            played, hubbed = ours.record(30.0), theirs.record(n_frames=20 * length)
            middles = [each.frame - first for each in ours.transitions]
            middles = [frame for frame in middles if 0 <= frame < len(played)]
            leans = lean(played)[middles], lean(hubbed)[length - 1 :: length]
            for method, motion, values in zip(
                ("parametric motion graph", "fat graph"), (played, hubbed), leans, strict=True
            ):
                gait = gait_metrics(motion)
                yield (
                    f"{name}, {degrees:g}, {method}: lean at transitions {math.degrees(np.mean(values)):.1f}, sway "
                    f"{math.degrees(gait.sway):.1f}, bob {1000 * gait.bob:.0f} mm"
                )
        gait = gait_metrics(walks)
        yield f"{name}, clips: sway {math.degrees(gait.sway):.1f}, bob {1000 * gait.bob:.0f} mm"


def characters() -> Iterator[str]:
    """Built-in and recorded characters that are asked to turn and to go to points."""
    from marey.bench.pmg import TimedGoTo, visit_point
    from marey.control import FollowDirection, RandomWalk
    from marey.control.evaluate import evaluate_stream
    from marey.measure import measure
    from marey.pmg import GaitSpace, ParametricMotionGraph, build_recipe, read_recipe

    for name in ("walking", "stepping"):
        char = build_recipe(read_recipe(name))
        found = evaluate_stream(lambda char=char: char.stream(FollowDirection(0.0), feet=None), n_turns=16)
        yield f"{name}: {found.response:.2f} s to turn by 90 degrees (median)"
    sets = {"slow walks": slow_walks()[:6], "fast walks": [clip(f"16_{k}", 60.0) for k in (21, 23, 25, 27, 29)]}
    sets["runs"] = [clip(f"16_{k}", 60.0) for k in RUNS]
    for name, clips in sets.items():
        char = ParametricMotionGraph(name)
        char.add("walk", GaitSpace.build(clips, ("turn",), mirror=True))
        char.connect("walk", "walk")
        space = char["walk"].space
        wanted = np.linspace(space.low[0], space.high[0], 41)
        off = max(abs(float(space.reached([each])[0]) - each) for each in wanted)
        limits = f"{math.degrees(space.low[0]):.0f} to {math.degrees(space.high[0]):.0f}"
        yield f"{name}: turns from {limits} degrees, met within {math.degrees(off):.3f}"
        rng, ratios, reached = np.random.default_rng(0), [], 0
        for _ in range(60):
            angle, far = rng.uniform(-np.pi, np.pi), 10.0 * math.sqrt(rng.uniform(0.01, 1.0))
            point, heading = (far * math.sin(angle), far * math.cos(angle)), float(rng.uniform(-np.pi, np.pi))
            length = visit_point(char, TimedGoTo(point, short_way=0.0)).length
            ratios += [length / far] if np.isfinite(length) else []
            reached += np.isfinite(visit_point(char, TimedGoTo(point, heading=heading, short_way=0.0)).length)
        yield f"  {len(ratios)} of 60 points, path length at 90 % {np.quantile(ratios, 0.9):.2f}; headings {reached}"
        played = char.stream(RandomWalk(0), feet=None).record(60.0)
        own = np.mean([measure(each)["slide_contact"].value for each in clips])
        yield f"  slides {measure(played)['slide_contact'].value / own:.2f} times as much as the clips"


def matching() -> Iterator[str]:
    """Foot slide of motion matching with a new direction every 2 s, relative to its clips."""
    from marey.control import MotionMatching
    from marey.control.evaluate import clip_metrics
    from marey.measure import measure

    reference = clip_metrics(slow_walks())
    for name, speeds in {"speeds of the clips": (0.5, 1.3), "any speed": (0.0, 2.0), "one speed": (1.0, 1.0)}.items():
        rng, stream, parts = np.random.default_rng(0), MotionMatching(list(slow_walks()), feet="lock"), []
        for _ in range(300):
            stream.request(direction=float(rng.uniform(-np.pi, np.pi)), speed=float(rng.uniform(*speeds)))
            parts.append(stream.record(2.0))
        slides = [
            np.mean([measure(part)["slide_contact"].value or 0.0 for part in group])
            for group in (parts, [replace(part, contacts=None) for part in parts])
        ]
        yield f"{name}: own contacts {slides[0] / reference.skate_own:.2f}, detected {slides[1] / reference.skate:.2f}"


def hit_targets(char: SampledCharacter) -> Iterator[float]:
    """How far the hands of a sampled boxer stay away from 40 random targets, each within 8 s, in meters."""
    rng, roles = np.random.default_rng(0), char.clips[0].motion.skeleton.roles
    for _ in range(40):
        away, bearing, height = rng.uniform(0.5, 1.6), rng.uniform(-np.pi, np.pi), rng.uniform(1.15, 1.6)
        target = np.array([away * np.sin(bearing), height, away * np.cos(bearing)])
        stream = char.stream()
        stream.request(target=target)
        hands = stream.record(8.0).world().positions[:, [roles["left_hand"], roles["right_hand"]]]
        yield float(np.linalg.norm(hands - target, axis=2).min())


def exports() -> Iterator[str]:
    """Sampled characters: sizes, time to turn by 90 degrees and distance from an eight, next to the full character."""
    from marey.control import FollowDirection, evaluate_stream
    from marey.control.sampled_files import pack_clips
    from marey.pmg import GaitSpace, ParametricMotionGraph, build_recipe, read_recipe
    from marey.studio import drive_page

    recorded = ParametricMotionGraph("016")
    recorded.add("walk", GaitSpace.build(slow_walks()[:6], ("turn",), mirror=True))
    recorded.connect("walk", "walk")
    shipped = ("walking", "stepping", "walk-run", "boxing", "everyday", "cartwheeling")
    for name, full in (*((name, build_recipe(read_recipe(name))) for name in shipped), ("016", recorded)):
        char = SampledCharacter.build(full)
        sizes = (len(drive_page(char)) / 2**20, len(pack_clips(char)) / 2**20)
        yield f"{name}: {char}, page {sizes[0]:.2f} MB, glb {sizes[1]:.2f} MB"
        if name == "boxing":
            yield f"  40 targets missed by, m: {quantiles(hit_targets(char), 0.5, 0.9, 1.0)}"
        if name in ("walking", "stepping", "016"):
            makers = {"sampled": char.stream, "full": lambda full=full: full.stream(FollowDirection(0.0), feet="lock")}
            for kind, make in makers.items():
                found = evaluate_stream(make, n_turns=12)
                slide = 100.0 * found.skate_own
                yield f"  {kind}: {found.response:.2f} s, {found.path_error:.2f} m, slide {slide:.2f} cm/s"


# docs/files.md


def positions() -> Iterator[str]:
    """Motion from joint positions: mean error in mm from exact ones and with 1 cm of noise per axis, and jitter."""
    from marey.io import solve_with_report

    few = ("head", *(f"{side}_{part}" for side in ("left", "right") for part in (
        "upper_arm", "forearm", "hand", "upper_leg", "lower_leg", "foot",
    )))  # fmt: skip
    for name in ("16_15", "16_45", "49_06", "144_20", "85_02"):
        for rate in (120.0, 30.0):
            motion = clip(name, rate)
            for called, wanted in (("all", tuple(motion.skeleton.roles)), ("few", few)):
                places = motion.world().positions[:, [motion.skeleton.roles[role] for role in wanted]]
                noisy = places + np.random.default_rng(0).normal(0.0, 0.01, places.shape)
                results = [solve_with_report(array, names=wanted, file_fps=rate).motion for array in (places, noisy)]
                solved = [each.world().positions[:, [each.skeleton.index(n) for n in wanted]] for each in results]
                errors = [1000.0 * np.linalg.norm(each - places, axis=2).mean() for each in solved]
                jerks = [np.linalg.norm(np.diff(each, n=3, axis=0), axis=2).mean() for each in (noisy, solved[1])]
                yield (
                    f"{name} at {rate:g} Hz, {called} {len(wanted)} points: exact {errors[0]:.2f}, noisy "
                    f"{errors[1]:.1f}, jitter {jerks[1] / jerks[0]:.2f} of the input"
                )


TABLES: dict[str, Callable[[], Iterator[str]]] = {
    each.__name__: each
    for each in (
        pairs,
        finders,
        paths,
        walks,
        objectives,
        pages,
        searches,
        recorded,
        reference,
        indexed,
        limits,
        aiming,
        wide,
        continuity,
        large,
        goals,
        splices,
        delays,
        streams,
        bobbing,
        characters,
        matching,
        exports,
        positions,
    )
}


def main(names: Sequence[str]) -> None:
    warnings.simplefilter("ignore")
    for name in names or TABLES:
        print(f"{name}: {TABLES[name].__doc__}", flush=True)
        for line in TABLES[name]():
            print(f"  {line}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
