"""Compute results of the sources again, on recorded clips, as the table of docs/papers.md: make papers

MAREY_DATA names the folder with the clips: cmu/SUBJECT/CLIP.bvh. Times are processor times on this machine.
"""

from __future__ import annotations

import math
import os
import time
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import takewhile
from pathlib import Path

import numpy as np

from marey.blend import blend
from marey.blend.baselines import PathRow, compare
from marey.blend.weights import interpolate_weights
from marey.clean import clean, detect_contacts
from marey.control import BlendTree, BlendTreeStream, OneShot
from marey.core import Label, Labels, Motion, learn_joint_limits, markers_to_motion
from marey.core.arrays import Floats
from marey.edit import mirror, resample, retarget, share_skeleton
from marey.errors import MareyWarning
from marey.find import Match, MatchWeb
from marey.graph import MotionGraph
from marey.io import load_markers, load_motion
from marey.layer import (
    GazeMap,
    align_motions,
    find_correlations,
    neck_deviation,
    splice,
    splice_naive,
)
from marey.measure import measure as measure_quality
from marey.parametric import ParametricMotion
from marey.register import register

Row = tuple[str, str, str, str]
"""Section, what, their result, ours."""


def main() -> None:
    """Print the table."""
    folder = Path(os.environ.get("MAREY_DATA", "../shared/data")) / "cmu"
    if not folder.is_dir():
        raise SystemExit(f"no recorded clips in {folder}; MAREY_DATA must name their folder")
    print("| section | what | theirs | ours |\n|---|---|---|---|")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MareyWarning)
        for measure in (
            *(_cleanup, _path, _styles, _registration, _loops, _kicks, _reaches, _kick_space, _raw_markers),
            *(_correlations, _splices, _gaze, _path_finders, _motion_blender, _limits, _visibility, _actions),
        ):
            for row in measure(folder):
                print(f"| {' | '.join(row)} |", flush=True)


def _load(folder: Path, name: str, fps: float | None = None) -> Motion:
    """Load a clip; the files of subject 143 state 120 Hz but were recorded at 60."""
    subject = name.split("_")[0]
    motion = load_motion(folder / f"{int(subject):03d}" / f"{name}.bvh", file_fps=60.0 if subject == "143" else None)
    return motion if fps is None else resample(motion, fps)


def _load_folder(folder: Path, subject: str) -> list[Motion]:
    return [_load(folder, path.stem, 30.0) for path in sorted((folder / subject).glob("*.bvh"))]


def _cleanup(folder: Path) -> Iterator[Row]:
    motion = detect_contacts(_load(folder, "49_06"), hands=True)
    start = time.process_time()
    held = clean(motion)
    spent = 1e3 * (time.process_time() - start) / len(motion)
    yield "K 3.3", "cleanup with planted hands and feet, a cartwheel", "1.03 ms per frame", f"{spent:.3f} ms per frame"
    rest = np.linalg.norm(motion.skeleton.offsets, axis=-1)
    long = rest > 0.02
    offsets = motion.skeleton.offsets[None] if held.bone_offsets is None else held.bone_offsets
    scaled = 100.0 * np.abs(np.linalg.norm(offsets[:, long], axis=-1) / rest[long] - 1.0).mean()
    yield "K 3.3", "change of bone lengths in it, mean", "under 1 %", f"{scaled:.2f} %"


def _sine() -> Floats:
    z = np.linspace(0.0, 12.0, 200)
    return np.stack([1.2 * np.sin(z * np.pi / 6.0), z], axis=1)


def _path(folder: Path) -> Iterator[Row]:
    graph = MotionGraph.build([detect_contacts(clip) for clip in _load_folder(folder, "144")], 0.08)
    start = time.process_time()
    found = graph.follow(_sine())
    spent = 100.0 * (time.process_time() - start) / found.walk.duration
    yield "K 4.3.2", "search along a path, relative to the motion's duration", "at most 10 %", f"{spent:.1f} %"
    yield "K 4.3.2", "distance of the walk from a 13 m sine, mean", "picture", f"{100 * found.mean_distance:.1f} cm"


def _styles(folder: Path) -> Iterator[Row]:
    clips = []
    for name, label in (("143_32", "walk"), ("143_11", "carry"), ("143_13", "carry"), ("143_41", "sneak")):
        motion = _load(folder, name, 30.0)
        take = detect_contacts(replace(motion, labels=Labels((Label(label, 0, len(motion)),))))
        clips += [take, replace(mirror(take), name=f"{name} mirrored")]
    found = MotionGraph.build(clips, 0.1).follow(_sine(), styles=[(6.0, "walk"), (12.0, "sneak")])
    off, far = abs(found.styles[0].arc_length - 6.0), found.mean_distance
    result = f"{100 * off:.0f} cm from its place, walk {100 * far:.0f} cm from the path"
    yield "K fig. 4.13", "walk, then sneak: change of style", "picture", result


def _registration(folder: Path) -> Iterator[Row]:
    walks = [detect_contacts(_load(folder, f"16_{k}", 60.0)) for k in (11, 13, 15, 17, 19, 21, 23, 25, 27, 29)]
    start = time.process_time()
    found = register(walks)
    built = time.process_time() - start
    start = time.process_time()
    made = blend(found, np.full(len(walks), 0.1), feet=None)
    spent = time.process_time() - start
    theirs = "3.3 s for 18 of 300 frames; 0.3 s"
    ours = f"{built:.2f} s for {len(walks)} of {len(walks[0])} frames; {spent:.2f} s for {len(made)} frames"
    yield "K 5.4", "registration of walks; a blend of all", theirs, ours


def _loops(folder: Path) -> Iterator[Row]:
    clips = [_load(folder, f"16_{k}") for k in (15, 11, 13, 35, 37, 39)]
    start = time.process_time()
    keys = ((0, 0), (4, 0), (6, 3), (10, 4), (14, 5), (18, 3), (20, 0), (24, 0))
    weights = interpolate_weights([at for at, _ in keys], [np.eye(len(clips))[k].tolist() for _, k in keys])
    made = blend(register(clips, cut_loops=True), weights, seconds=24.0)
    spent = time.process_time() - start
    steps = np.linalg.norm(np.diff(made.travel[:, [0, 2]], axis=0), axis=1) * made.fps
    speed = np.convolve(steps, np.ones(round(made.fps)) / round(made.fps), "valid")
    slide = 1e3 * (measure_quality(made)["slide_contact"].value or 0.0)
    ours = f"{speed.min():.1f} to {speed.max():.1f} m/s, feet slide {slide:.1f} mm/s, {spent:.1f} s for 24 s of motion"
    yield "K 5.4.3", "walks and runs to all sides under continuous control, 6 loops (K: 9)", "picture", ours


# Frames at 120 Hz of 144_05 and 144_22 at which the foot is highest or the hand is farthest.
_KICKS = (147, 360, 580, 802, 1024, 1240, 1441, 1639, 1846, 2058, 2269, 2498)
_REACHES = (259, 426, 608, 801, 977, 1138, 1323, 1484, 1649, 1838, 2028, 2235, 2454, 2740, 2946)


def _kicks(folder: Path) -> Iterator[Row]:
    clips = _load_folder(folder, "144")
    start = time.process_time()
    web = MatchWeb.build(clips)
    built = time.process_time() - start
    yield "K 6.2.4.1", "match web", "50 min for 37,000 frames", f"{built:.1f} s for {sum(map(len, clips)):,} frames"
    middles = [(frame - 1) / 4.0 for frame in _KICKS]
    start = time.process_time()
    found = [web.search("144_05", round(at - 15), round(at + 15), 0.1, max_tiers=1) for at in middles]
    spent = 1e3 * (time.process_time() - start) / len(middles)
    yield "K 6.2.4.1", "one query", "24 ms", f"{spent:.0f} ms"
    found = [web.search("144_05", round(at - 15), round(at + 15), 0.1) for at in middles]
    true, false = (
        [sum(_is_hit(match, "144_05", middles) is is_true for match in matches) for matches in found]
        for is_true in (True, False)
    )
    ours = f"{min(true)} to {max(true)} of {len(middles)}, {max(false)} false, without labels"
    yield "K 6.2.4.2", "kicks found among walks, punches, lunges and reaches", "all, with labels", ours


def _reaches(folder: Path) -> Iterator[Row]:
    web = MatchWeb.build(_load_folder(folder, "144"), markers="upper", remove_height=True)
    middles = [(frame - 1) / 4.0 for frame in _REACHES]
    for order in ("distance", "chain"):
        found = [web.search("144_22", round(at - 21), round(at + 21), 0.16, order=order) for at in middles]
        for what, counts in (
            ("match without the apex of a reach", [_count_apexes(matches, middles) for matches in found]),
            ("match in another take", [_count_reaches(matches, middles) for matches in found]),
        ):
            ours = f"{min(counts)} to {max(counts)} of 15, mean {np.mean(counts):.1f}"
            yield "K 6.2.4.2", f"reaches before the first {what}, no labels, order {order}", "17 of 17", ours


def _count_apexes(matches: Iterable[Match], middles: list[float]) -> int:
    return sum(1 for _ in takewhile(lambda match: _is_hit(match, "144_22", middles), matches))


def _count_reaches(matches: Iterable[Match], middles: list[float]) -> int:
    """Return how many reaches are found before the first match in another take; this one has nothing but reaches."""
    own = takewhile(lambda match: match.clip == "144_22", matches)
    return len({min(middles, key=lambda at: abs(at - 0.5 * (match.start + match.stop))) for match in own})


def _kick_space(folder: Path) -> Iterator[Row]:
    clips = [detect_contacts(clip) for clip in _load_folder(folder, "144")]
    start = time.process_time()
    found = MatchWeb.build(clips).search("144_05", 345, 375, 0.1)
    space = ParametricMotion.build(found, "position:right_ball")
    spent = time.process_time() - start
    misses = [np.linalg.norm(space.synthesize(target, refine=4).error) for target in space.samples[::40]]
    missed = f"targets missed by {100 * np.mean(misses):.1f} cm on average"
    ours = f"{spent:.1f} s for {len(space.example_indices)} kicks, {missed}"
    yield "K 6.3.4", "from takes to a space of one action", "under 30 s for 11 cartwheels", ours


def _raw_markers(folder: Path) -> Iterator[Row]:
    take = markers_to_motion(load_markers(folder.parent / "c3d" / "85_02.c3d"))
    graph = MotionGraph.build([resample(take, 30.0)], 0.3)
    ours = f"{len(graph.clips[0].skeleton) - 1} markers, {graph.n_transitions} transitions in {take.duration:.1f} s"
    yield "K 7.3", "graph from raw markers, one take of jumps", "proposed", ours


def _is_hit(match: Match, clip: str, middles: list[float]) -> bool:
    return match.clip == clip and any(match.start <= at < match.stop for at in middles)


def _splices(folder: Path) -> Iterator[Row]:
    pairs = {
        "step up with a load": ("83_25", "111_36"),
        "step down with a load": ("83_09", "111_36"),
        "punching on stairs": ("143_17", "143_23"),
        "boxing dance on stairs": ("143_17", "144_20"),
        "carrying on stairs": ("143_17", "143_11"),
    }
    for what, names in pairs.items():
        lower, upper = share_skeleton([_load(folder, name) for name in names], True)
        times = align_motions(lower, upper)
        ours, copied = splice(lower, upper, times=times), splice_naive(lower, upper, times=times)
        ratio = neck_deviation(ours, lower) / neck_deviation(copied, lower)
        yield "H 4.4", f"{what}: deviation of the neck relative to copied angles", "picture", f"{ratio:.2f}"


def _correlations(folder: Path) -> Iterator[Row]:
    found = [trend for trend in find_correlations(_load(folder, "111_36")).trends if trend.kind == "global"]
    related = sum(bool(trend.relation) for trend in found)
    yield "H 4.1", "global trends in time with the legs while carrying", "most", f"{related} of {len(found)}"


def _gaze(folder: Path) -> Iterator[Row]:
    motion, gaze = _load(folder, "77_01"), GazeMap.default()
    for most in (90, 150):
        worst = 0.0
        for yaw in np.radians(np.linspace(-most, most, 7)):
            track = gaze.trace(motion, [(0.3, float(yaw), 0.0)])
            settled = math.ceil(track.looks[0].end * motion.fps)
            worst = max(worst, math.degrees(float(track.misses()[settled:].max())))
        what = f"looks up to {most} degrees aside on a clip whose own head turns: largest error"
        yield "H 5.3.1", what, "not possible", f"{worst:.1f} degrees"


def _path_finders(folder: Path) -> Iterator[Row]:
    rows: dict[str, list[PathRow]] = {}
    for a, b in zip((11, 13, 15, 17, 19, 21, 23, 25, 27, 29), (35, 37, 39, 41, 43, 45, 48, 49, 51, 55), strict=True):
        pair = [_load(folder, f"16_{k}", 60.0) for k in (a, b)]
        for row in compare(*pair, blends=False, whole_costs=True, threshold=0.35).paths:
            rows.setdefault(row.method, []).append(row)
    theirs = {"brute force": "100 %, 81 s", "greedy": "92.4 %, under 1 s", "recursion below 35 %": "100 %, 8 s"}
    for method, known in theirs.items():
        found = [row for row in rows[method] if row.accuracy is not None]
        accuracy, seconds = np.mean([row.accuracy or 0.0 for row in found]), np.mean([row.seconds for row in found])
        part = "" if len(found) == len(rows[method]) else f", a path in {len(found)} of {len(rows[method])} pairs"
        yield "S 7.3", f"path finder, whole costs: {method}", known, f"{accuracy:.1f} %, {seconds:.2g} s{part}"


def _motion_blender(folder: Path) -> Iterator[Row]:
    walk, run = (_load(folder, name) for name in ("16_21", "16_55"))
    start = time.process_time()
    for method in ("linear", "discrete", "cubic"):
        blend([walk, run], [0.5, 0.5], method=method)
    spent = time.process_time() - start
    what = f"a walk and a run of {len(walk)} and {len(run)} frames, blended"
    yield "S 7.1", what, "18 s for 298 and 173", f"{spent:.2f} s for all three methods together"


def _limits(folder: Path) -> Iterator[Row]:
    paths = sorted((folder / "016").glob("*.bvh"))
    limits = learn_joint_limits([_load(folder, path.stem) for path in paths])
    pair = register([_load(folder, "16_15"), _load(folder, "16_35")])
    excess = []
    for options in ({}, {"joint_limits": limits}):
        excess.append(math.degrees(limits.find_excess(blend(pair, [-1.0, 2.0], **options))[1].max()))
    ours = f"{excess[0]:.0f} degrees beyond them without, {abs(excess[1]):.0f} with limits"
    yield "R", "joint limits: a walk and a run blended with weights -1 and 2", "proposed", ours


def _visibility(folder: Path) -> Iterator[Row]:
    for name, what in (("16_15", "a walk"), ("49_06", "a cartwheel")):
        motion = detect_contacts(_load(folder, name), hands=True)
        report = measure_quality(clean(motion), against=motion)
        seen, most = report["edit_visible"].value or 0.0, report["edit_visibility_max"].value or 0.0
        ours = f"visible in {100 * seen:.0f} % of the frames, at most {most:.1f} times what can be noticed"
        yield "R", f"perceived error of the cleanup of {what}", "proposed", ours


def _actions(folder: Path) -> Iterator[Row]:
    walks = [_load(folder, f"16_{k}", 30.0) for k in (11, 13, 15, 17, 19)]
    walks = [detect_contacts(each) for walk in walks for each in (walk, mirror(walk))]
    punches = retarget(_load(folder, "143_23", 30.0), walks[0].skeleton)
    tree = BlendTree.from_walks(walks, actions={"punch": OneShot(punches[60:160], joints=["upper"])})
    stream = BlendTreeStream(tree, feet="lock")
    stream.record(2.0)
    stream.request(action="punch")
    made = stream.record(4.0)
    played = sum(label.stop - label.start for label in made.labels if label.name == "punch") / made.fps
    slide = 1e3 * (measure_quality(made)["slide_contact"].value or 0.0)
    ours = f"{played:.1f} s of punches while walking, feet slide {slide:.0f} mm/s"
    yield "R", "blend tree: an action once over walking", "throw while running", ours


if __name__ == "__main__":
    main()
