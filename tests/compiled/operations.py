"""The main operations on small clips, for tests that compare their results in several processes.

Run as a program, it prints the hash of each result as JSON: ``python -m tests.compiled.operations [MODULE ...]``, with
the modules to import first; ``--only=GROUP`` runs one of the functions below instead of all.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

Results = Iterator[tuple[str, Any]]


def digest(value: Any) -> str:
    """Hash the bytes of all arrays and numbers in a result."""
    import numpy as np

    found = hashlib.sha256()

    def add(part: Any) -> None:
        if isinstance(part, np.ndarray):
            found.update(f"{part.dtype}{part.shape}".encode() + np.ascontiguousarray(part).tobytes())
        elif isinstance(part, dict):
            add(list(part.items()))
        elif isinstance(part, list | tuple):
            for item in part:
                add(item)
        elif is_dataclass(part) and not isinstance(part, type):
            for field in fields(part):
                add(getattr(part, field.name))
        else:
            found.update(repr(part).encode())

    add(value)
    return found.hexdigest()[:16]


def motion_parts(motion: Any) -> list[Any]:
    contacts = None if motion.contacts is None else motion.contacts.mask
    return [motion.root_positions, motion.rotations, motion.bone_offsets, contacts]


def walk_of(rng: int, seconds: float, turn: float = 0.0, fps: float = 30.0) -> Any:
    from marey.samples import sample

    result = sample("walk", rng=rng, fps=fps, seconds=seconds, turn_rate=turn).motion
    return replace(result, name=f"walk{rng}")


def run_of(rng: int, seconds: float) -> Any:
    from marey.samples import sample

    return replace(sample("run", rng=rng, fps=30.0, seconds=seconds).motion, name=f"run{rng}")


def played(stream: Any, n_frames: int, **requests: dict[str, Any]) -> list[Any]:
    """Record frames of a stream; requests={"f30": {...}} sends a request before frame 30."""
    frames = []
    for i in range(n_frames):
        if f"f{i}" in requests:
            stream.request(**requests[f"f{i}"])
        frames.append(motion_parts(stream.frame()))
    return frames


# --- Operations by package. Each yields names and results.


def read_and_clean() -> Results:
    import numpy as np

    import marey
    from marey.check import check_clips
    from marey.check.takes import find_key_poses, find_same_takes
    from marey.clean.stream import clean_stream
    from marey.samples import sample

    walk = walk_of(1, 4.0, 0.4)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "walk.bvh"
        marey.save(walk, path)
        loaded = marey.load_motion(path)
        yield "load", motion_parts(loaded)
    found = marey.detect_contacts(loaded)
    yield "detect_contacts", motion_parts(found)
    yield "world", [found.world().positions, found.world().rotations]
    cleaned = marey.clean(found)
    yield "clean", motion_parts(cleaned)
    yield "measure", marey.measure(cleaned, against=loaded).to_dict()
    checked = check_clips([replace(loaded, contacts=None), loaded[15:]])
    yield "check", [report.to_dict() for report in checked]
    poses = find_key_poses(loaded)
    yield "key poses", [poses.times, poses.rotations]
    take = find_key_poses(sample("medley", rng=0, fps=30.0, kicks=4, punches=1, reaches=1).motion)
    yield "takes", find_same_takes([take, take])
    stream = clean_stream(found.skeleton, found.fps, found.contacts.points, floor=0.0)
    frames = []
    for k in range(0, len(found), 25):
        part = slice(k, k + 25)
        frames += stream.push(found.root_positions[part], found.rotations[part], found.contacts.mask[part])
    yield "clean_stream", [*frames, *stream.finish()]
    fine = walk_of(1, 2.0, fps=60.0)
    noise = np.random.default_rng(1).normal(0.0, 0.004, fine.root_positions.shape)
    yield (
        "noisy contacts",
        motion_parts(marey.detect_contacts(replace(fine, root_positions=fine.root_positions + noise))),
    )


def compare_and_blend() -> Results:
    import marey
    from marey.blend import baselines
    from marey.edit import cycle

    walk, run = walk_of(1, 4.0, 0.4), run_of(2, 3.0)
    grid = marey.distance_grid(walk, run)
    yield "distance_grid", [grid.values, grid.minima(0.3)]
    yield "distance_grid, not aligned", marey.distance_grid(walk, run, align=False).values
    yield "blend", motion_parts(marey.blend(marey.register([walk, run]), [0.5, 0.5]))
    yield "transition", motion_parts(marey.transition(walk, run, at=(2.1, 0.8), length=0.8))
    yield "cycle", motion_parts(cycle(run))
    values = grid.values[20:44, 20:40]
    for name, path in {
        "brute force": baselines.brute_force(values, time_limit=None),
        "thresholded": baselines.threshold_search(values, threshold=0.9, time_limit=None),
        "greedy": baselines.greedy(values),
        "dynamic": baselines.dynamic(values),
    }.items():
        yield f"path, {name}", path.cells
    path = baselines.dynamic(grid.values)
    yield "discrete_blend", motion_parts(baselines.discrete_blend(walk, run, path=path))
    yield "cubic_blend", motion_parts(baselines.cubic_blend(walk, run, path=path))
    yield "linear_blend", motion_parts(baselines.linear_blend([walk, run], [0.5, 0.5]))


def walk_a_graph() -> Results:
    import marey

    clips = [walk_of(k, 8.0, turn) for k, turn in enumerate((0.0, 0.8, -0.8))]
    tiny = marey.MotionGraph.build([clip[:75] for clip in clips[:2]], threshold=0.2)
    yield "led_to, tiny graph", tiny.random_walk(1.0, rng=1).extend_to((1.0, 1.8)).edges
    coarse = marey.MotionGraph.build(clips[:2], threshold=0.08, coarse_step=3)
    yield "coarse graph", [coarse.nodes, coarse.edges.heads]
    near = marey.MotionGraph.build([clip[:75] for clip in clips[:2]], threshold=0.08, max_search_distance=0.08)
    yield "graph of near cells", [near.nodes, near.edges.heads]
    graph = marey.MotionGraph.build(clips, threshold=0.08)
    yield "graph", motion_parts(graph.random_walk(seconds=8.0).motion())
    yield "follow", motion_parts(graph.follow([[0.0, 0.0], [0.3, 2.0], [0.0, 4.0]]).walk.motion())
    styles = [(2.0, "walk"), (4.0, "walk")]
    yield "follow, styles", graph.follow([[0.0, 0.0], [0.3, 2.0], [0.0, 4.0]], styles=styles).walk.edges
    walk = graph.random_walk(2.0, rng=1)
    yield "led_to", [walk.extend_to((2.0, 3.0), heading).edges for heading in (None, 0.5)]
    yield "led_into", walk.extend_into_clip("walk1", (1.0, 7.0), 0.0).edges


def find_and_parametrize() -> Results:
    import marey
    from marey.find.cells import compress_cells, restore_cells
    from marey.find.grid_part import grid_part
    from marey.parametric import ParametricMotion, position
    from marey.samples import sample

    takes = [sample("medley", rng=k, fps=30.0, kicks=4, punches=1, reaches=1).motion for k in range(2)]
    takes = [replace(take, name=f"take{k}") for k, take in enumerate(takes)]
    web = marey.MatchWeb.build(takes)
    kick = next(label for label in takes[0].labels if label.name == "kick")
    matches = web.search("take0", kick.start, kick.stop, threshold=0.07)
    yield "search", intervals(matches)
    index = marey.find.MotionIndex.build(takes)
    yield "search an index", intervals(index.search("take0", kick.start, kick.stop, threshold=0.07))
    yield "poses", intervals(index.find_poses("take0", 40, max_matches=4))
    packed = compress_cells(web.cells(0, 1))
    yield "cells for a file", [*packed, *restore_cells(web.cells(0, 1).shape, packed)[0].arrays]
    part = grid_part(web, 0, 1, slice(0, 300), slice(0, 300))
    yield "grid_part", [part.chains, part.bridges]
    space = ParametricMotion.build(matches, position("right_ball", axes="xy"))
    yield "parametric", motion_parts(space(space.parameters.mean(axis=0), refine=True))


def intervals(matches: Any) -> list[tuple[int, int]]:
    return [(match.start, match.stop) for match in matches]


def layer() -> Results:
    import marey
    from marey.layer import SpliceSet, transplant
    from marey.samples import sample

    walk, arms = walk_of(1, 4.0, 0.4), sample("carry_box", rng=3, fps=30.0, seconds=3.0).motion
    yield "splice", motion_parts(marey.splice(walk, arms))
    yield "transplant", motion_parts(transplant(walk, arms, joints="right_arm"))
    yield "gaze", motion_parts(marey.GazeMap.default().apply(walk, [(1.0, 0.8, 0.1), (1.5, -0.6, 0.0)]))
    splices = SpliceSet.build([walk, replace(arms, name="box")])
    yield "splice set", motion_parts(splices.splice("walk1", "box"))


def control_a_character() -> Results:
    from marey.control import FollowDirection, GoTo, RandomWalk
    from marey.control.layered import LayeredStream
    from marey.control.layered_gaze import GazeLayer
    from marey.control.reach import reach
    from marey.pmg import build_recipe, read_recipe

    character = build_recipe(read_recipe("right-turner"))
    yield "go to", played(character.stream(GoTo((1.0, 3.0))), 90)
    yield "go to, heading", played(character.stream(GoTo((1.0, 3.0), heading=1.0), feet=None), 60)
    yield "direction", played(character.stream(FollowDirection(0.0), feet=None), 60, f20={"direction": -1.0})
    looking = LayeredStream(character.stream(RandomWalk(0), feet=None), [GazeLayer()])
    yield "looks", played(looking, 40, f5={"gaze": (0.9, 0.0)}, f15={"gaze": (3.0, 1.5, 3.0)}, f25={"gaze": None})
    yield "reach", reach(character, seconds=2.0, cell=0.5, headings=8).seconds


def stream_clips() -> Results:
    from marey.control.baselines.fat_graph import FatGraph, FatGraphStream
    from marey.control.baselines.move_tree import MoveTree, MoveTreeStream
    from marey.control.blend_tree import BlendTree, BlendTreeStream
    from marey.control.motion_matching import MatchingData, MotionMatching
    from marey.edit import cycle
    from marey.samples import sample

    samples = [sample("walk", fps=30.0, seconds=5.0, turn_rate=turn, variation=0.0) for turn in (-1.0, 0.0, 1.0)]
    names = ("right", "ahead", "left")
    walks = [replace(each.motion, name=name) for each, name in zip(samples, names, strict=True)]
    strides = {}
    for each, walk in zip(samples, walks, strict=True):
        first, last = (int(each.phase.searchsorted(phase)) for phase in (1.0, 2.0))
        strides[walk.name] = walk[first - 5 : last + 6]
    matching = MatchingData.build(walks)
    tree = BlendTree.build({walk.name: cycle(walk, feet=None) for walk in walks}, [names])
    moves = MoveTree.build(strides, dict.fromkeys(names, names))
    fat = FatGraph.build(walks)
    for feet in (None, "lock"):
        requests = {"f10": {"direction": 1.0}}
        yield f"motion matching, feet {feet}", played(MotionMatching(matching, feet=feet), 40, **requests)
        yield f"blend tree, feet {feet}", played(BlendTreeStream(tree, feet=feet), 40, **requests)
        yield f"move tree, feet {feet}", played(MoveTreeStream(moves, feet=feet), 60, f10={"move": "left"})
        yield f"fat graph, feet {feet}", played(FatGraphStream(fat, feet=feet), 50, **requests)


def edge_cases() -> Results:
    """Run operations on extreme motions; a typed error counts as a result."""
    import marey
    from marey.compare import GridSettings, grid_minima
    from marey.errors import MareyError
    from marey.samples import sample

    walk = sample("walk", rng=4, fps=30.0, seconds=3.0).motion
    motions = {
        "one frame": walk[:1],
        "two frames": walk[:2],
        "standing": replace(walk, root_positions=walk.root_positions[:1].repeat(len(walk), axis=0),
                            rotations=walk.rotations[:1].repeat(len(walk), axis=0)),
        "far": replace(walk, root_positions=walk.root_positions + 1e4),
        "no contacts": replace(walk, contacts=None),
    }  # fmt: skip
    tasks = {
        "detect_contacts": lambda motion: motion_parts(marey.detect_contacts(motion)),
        "clean": lambda motion: motion_parts(marey.clean(motion)),
        "distance_grid": lambda motion: marey.distance_grid(motion, walk).values,
        "minima": lambda motion: grid_minima(motion, settings=GridSettings(window=0.5)),
        "blend": lambda motion: motion_parts(marey.blend([motion, walk], [0.5, 0.5])),
        "splice": lambda motion: motion_parts(marey.splice(walk, motion)),
    }
    for kind, motion in motions.items():
        for task, work in tasks.items():
            try:
                yield f"{task}, {kind}", work(motion)
            except MareyError as error:
                yield f"{task}, {kind}", f"{type(error).__name__}: {error}"


# --- Kernels


def load_kernels() -> None:
    """Import all files of kernels."""
    from marey.compiled import kernel_files

    files = kernel_files()
    package = Path(os.path.commonpath(files))
    for path in files:
        importlib.import_module(".".join(("marey", *path.relative_to(package).with_suffix("").parts)))


def direct_calls() -> Results:
    """Call kernels with tiny inputs: those that are slow or rarely reached with real inputs."""
    yield from call_on_cells()
    yield from call_on_contacts()
    yield from call_on_paths()


def call_on_cells() -> Results:
    import numpy as np

    from marey.find import cells_kernels as cells
    from marey.find.cells import COARSE, STEP, TOO_FAR, Cells
    from marey.find.chains_kernels import find_bridges, find_chains
    from marey.find.region import find_kept_cells, mark_region
    from marey.find.region_kernels import Rules
    from marey.find.search_kernels import PathEnds, PathQuery, find_best_paths, find_best_wide_paths

    rules = Rules(cap=40_000, near=25_000, ratio=1.3, reach=3, chain=6, bridge=6, level=12)
    for shape in ((24, 20), (1, 1), (1, 9), (9, 1)):
        rng = np.random.default_rng(shape)
        i, j = np.indices(shape)
        valleys = 2_000 + 34_000 * np.abs(np.sin(0.4 * (i * 1.2 - j))) + rng.normal(0.0, 900.0, shape)
        valleys[2:5, 10:14] = TOO_FAR
        values = np.clip(valleys, 0, TOO_FAR).astype(np.uint16)
        marks, kept = mark_region(values, rules), find_kept_cells(values, rules)
        found = find_chains(marks, rules.chain)
        yield f"region {shape}", [marks, kept, *found]
        yield f"bridges {shape}", find_bridges(values, marks, *found, rules.bridge)
        narrow = Cells.from_grid(values, kept).runs
        wide = cells.WideRuns(*narrow[:2], narrow.first.astype(np.int32), *narrow[3:])
        query = PathQuery(0, shape[0], True, COARSE * STEP, 1e-4, np.inf)
        for runs, is_wide in ((narrow, False), (wide, True)):
            ends = PathEnds(np.empty(shape[1]), *np.zeros((2, shape[1]), np.int32))
            n = (find_best_wide_paths if is_wide else find_best_paths)(runs, query, ends)
            yield f"paths {shape}, {is_wide}", [n, ends]
            yield f"list {shape}, {is_wide}", (cells.list_wide_cells if is_wide else cells.list_cells)(runs, COARSE)
            out = np.full(shape, TOO_FAR, dtype=np.uint16)
            (cells.unpack_wide_cells if is_wide else cells.unpack_cells)(runs, COARSE, (0, 0), out)
            yield f"units {shape}, {is_wide}", out


def call_on_contacts() -> Results:
    import numpy as np

    from marey.clean.contact_kernels import ContactLimits, refine_edges, smooth_paths
    from marey.clean.support_kernels import HandRules, mark_bearing_hand

    rng = np.random.default_rng(5)
    limits = ContactLimits(0.3, 0.6, 0.02, 0.05)
    rules = HandRules(0.1, 0.8, 0.002, 2, 3.0, limits, 0.05, 2, 3)
    for n in (40, 3, 1):
        path = rng.normal(0.0, 0.003, (n, 2, 3))
        path[:, :, 1] += 0.0004 * np.maximum(np.arange(n) - 24.0, 0.0)[:, None] ** 2
        smooth, mask, planted = np.empty_like(path), np.zeros((n, 2), dtype=bool), np.zeros(n, dtype=bool)
        mask[n // 4 : n - n // 4] = True
        smooth_paths(path, 1.7, smooth)
        refine_edges(path, 0.003, 7, 2, 6.0, mask)
        hips = np.ones((n, 3)) + 0.0001 * rng.normal(size=(n, 3))
        heights = np.ascontiguousarray(path[:, :, 1])
        mark_bearing_hand(heights, rng.uniform(0.0, 0.5, n), np.ones(n, dtype=bool), hips, rules, planted)
        yield f"contacts of {n} frames", [smooth, mask, planted]


def call_on_paths() -> Results:
    import numpy as np

    from marey.blend.baselines.paths_kernels import find_bottleneck, is_within_reach, next_state
    from marey.compare.minima_kernels import find_minima
    from marey.control.planner_kernels import find_ends
    from marey.core.limb_kernels import find_easing_rotation, find_knee_rotation
    from marey.graph.reach_kernels import measure_dubins_path
    from marey.layer.trunk_kernels import rotate_trunk
    from marey.maths.value_kernels import GoalGrid

    rng = np.random.default_rng(6)
    grid, first = GoalGrid(np.array([0.0, 0.5, 1.0]), 6, 4, 1.0), np.empty(3, dtype=np.int64)
    paths, limits = np.cumsum(rng.normal(0.0, 0.2, (2, 5, 3)), axis=1), np.array([0.4, 1.0, 2.0, 0.5])
    count = find_ends(paths, np.ones(2), grid, limits, first, np.zeros(0, dtype=np.int64), np.zeros(0))
    columns, costs = np.empty(count, dtype=np.int64), np.empty(count)
    find_ends(paths, np.ones(2), grid, limits, first, columns, costs)
    yield "goals that paths reach", [first, columns, costs]
    places, goals = rng.normal(size=(2, 3, 3))
    for place, goal in zip(places, goals, strict=True):
        yield "bent path", measure_dubins_path(*place, *goal, 0.9)
        yield "bent path, any heading", measure_dubins_path(*place, *goal[:2], np.nan, 0.9)
    for grid in (rng.uniform(size=(12, 15)), np.ones((5, 5)), np.ones((1, 1))):
        inner = (0, grid.shape[0], 0, grid.shape[1])
        yield "minima", [find_minima(grid, 0.9, lag, inner, (0, 0)) for lag in (0, 3)]
        yield "bottleneck", [find_bottleneck(grid, (0, 0), corner, 2) for corner in (False, True)]
    yield "states", [next_state(state, step, 1) for state in range(3) for step in range(3)]
    yield "within reach", [is_within_reach(3, columns, 1, 1) for columns in range(4)]
    for quaternions in rng.normal(size=(3, 4, 4)):
        quaternions /= np.linalg.norm(quaternions, axis=1, keepdims=True)
        yield "trunk", rotate_trunk(*map(tuple, quaternions.tolist()))
    hinge = (1.0, 0.0, 0.0)
    yield (
        "knee",
        [
            find((0.0, -0.4, 0.1), (0.02, -0.4, -0.1), hinge, far, 2.8)
            for find in (find_knee_rotation, find_easing_rotation)
            for far in (0.5, 0.79, 1.2)
        ],
    )


def operations() -> Results:
    """Yield the name and result of each operation, small ones first: slow forms of kernels are compared there."""
    yield from direct_calls()
    yield from edge_cases()
    yield from read_and_clean()
    yield from compare_and_blend()
    yield from walk_a_graph()
    yield from find_and_parametrize()
    yield from layer()
    yield from control_a_character()
    yield from stream_clips()


def hash_results(results: Results) -> dict[str, list[str]]:
    hashes: dict[str, list[str]] = {}
    for name, value in results:
        hashes.setdefault(name, []).append(digest(value))
    return hashes


def main() -> None:
    groups = [globals()[name.removeprefix("--only=")] for name in sys.argv[1:] if name.startswith("--only=")]
    for name in sys.argv[1:]:
        if not name.startswith("--only="):
            importlib.import_module(name)
    print(json.dumps(hash_results(chain.from_iterable(group() for group in groups or [operations]))))


if __name__ == "__main__":
    main()
