"""Functions of the Find panel that run in the worker: build match webs and search them.

Webs and spaces are files of the session. The worker caches loaded ones; a restarted worker loads them again.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from marey.core.arrays import Floats
from marey.core.motion import Motion
from marey.core.skeleton import Skeleton
from marey.errors import InvalidValue, MareyError, NoResult
from marey.studio.forms import group_skipped, word_text
from marey.studio.panels.find_messages import BuildWeb, SearchWeb
from marey.studio.work import Progress

if TYPE_CHECKING:
    from marey.find.match_web import MatchWeb
    from marey.find.result import MatchResult
    from marey.find.settings import SearchSettings

# Thumbnail frames per second, and maximum number of frames.
_TILE_RATE = 15.0
_MAX_PICTURES = 120
# Fraction of the progress bar for reading files.
_READING = 0.25
# Roles that can be the active joint of an action.
_END_EFFECTORS = ("right_hand", "left_hand", "right_ball", "left_ball", "head")
# Meters by which an active joint must rise in between, so that its target is where it is highest.
_MIN_LIFT = 0.2
# Allowed overlap of two matches, keyed by `repeats`: for single actions and for cyclic ones; see `MatchWeb.search`.
_OVERLAPS = {False: (0.8, 0.2), True: (0.8, 0.5)}


def build(
    progress: Progress,
    reference: Motion,
    motions: list[Motion],
    files: list[str],
    root: str,
    output: str,
    rate: float | None,
    settings: dict[str, Any],
) -> dict[str, Any]:
    """Build the match web of the motions and files that have the skeleton of `reference`, and save it to `output`.

    root : the open folder; names of files are relative to it.
    In the result, `origins` has for each clip the index of its input (motions, then files) and its name in its file.
    """
    from marey.core.placement import check_same_skeleton
    from marey.find.match_web import MatchWeb

    clips: list[Motion] = []
    origins: list[tuple[int, str]] = []
    failed: list[tuple[str, MareyError]] = []
    given: list[Any] = [*motions, *files]
    for k, each in enumerate(given):
        name = each.name if isinstance(each, Motion) else str(Path(each).relative_to(root).as_posix())
        progress(_READING * k / len(given), f"reading {name}")
        try:
            for clip, motion in [("", each)] if isinstance(each, Motion) else read_clips(each, name):
                check_same_skeleton(reference.skeleton, motion.skeleton, "a web")
                clips.append(motion)
                origins.append((k, clip))
        except MareyError as error:
            failed.append((name, error))
    skipped = group_skipped(failed, BuildWeb)
    if not clips:
        why = f"; first error: {failed[0][0]}: {skipped[0]['reason']}" if failed else ""
        raise InvalidValue(f"none of {len(given)} clips can be indexed{why}")
    web = MatchWeb.build(
        clips,
        fps=None if rate is None else min(rate, *(clip.fps for clip in clips)),
        progress=lambda fraction: progress(_READING + (1.0 - _READING) * fraction, "comparing"),
        **settings,
    )
    web.save(output)
    return {**describe_web(web), "skipped": skipped, "origins": origins}


def describe_web(web: MatchWeb) -> dict[str, Any]:
    """Describe a web for the page, with one frame of a clip (`body`) for the skeleton."""
    from marey.find.search import min_query_frames

    facts = web.statistics()
    return {
        "clips": list(web.names),
        "frames": facts.frames,
        "fps": facts.fps,
        "seconds": facts.seconds,
        "least": min_query_frames(web) / web.fps,
        "body": web.clips[0][:1],
    }


def read_clips(path: str, name: str) -> list[tuple[str, Motion]]:
    """Read all clips of a file, as (clip name, motion). The clip name is "" if there is only one.

    The motions are named `name`, followed by the clip name if there are several.
    """
    from dataclasses import replace

    from marey.io.files import MARKER_SUFFIXES
    from marey.io.loading import clip_names, load_motion

    if Path(path).suffix.lower() in MARKER_SUFFIXES:
        raise InvalidValue("contains markers, not a clip with a skeleton")
    clips = clip_names(path)
    if len(clips) < 2:
        return [("", replace(load_motion(path), name=name))]
    return [(clip, replace(load_motion(path, clip=clip), name=f"{name}: {clip}")) for clip in clips]


def suggest(progress: Progress, query: dict[str, Any], repeats: bool, settings: dict[str, Any]) -> dict[str, Any]:
    """Count the matches for each threshold: see `marey.studio.panels.find_messages.ThresholdCurve`."""
    suggestion = open_web(query["web"]).suggest_threshold(
        *_resolve_query(**query),
        progress=lambda fraction: progress(fraction, ""),
        overlap=_OVERLAPS[repeats],
        **settings,
    )
    return {
        "thresholds": suggestion.thresholds.tolist(),
        "counts": suggestion.counts.tolist(),
        "threshold": suggestion.threshold,
        "n_matches": suggestion.n_matches,
        "level": list(suggestion.plateau),
        "stands_out": suggestion.has_plateau,
        "still": suggestion.still_distance,
        "text": str(suggestion),
    }


def search(progress: Progress, query: dict[str, Any], how: dict[str, Any]) -> dict[str, Any]:
    """Search, and return the matches with their thumbnails.

    `points` (N, K, 3), in integer millimeters, has the N frames of all tiles concatenated, with K joints each.
    """
    progress(0.0, "")
    found = run_search(**how, **query)
    joints = _visible_joints(found.motions[0].skeleton)
    tiles = [_tile(motion, joints) for motion in found.motions]
    fps = open_web(query["web"]).fps
    return {
        "matches": [
            {
                "clip": match.clip,
                "start": match.start / fps,
                "stop": match.stop / fps,
                "distance": match.distance,
                "tier": match.tier,
                "n_frames": len(points),
                "fps": rate,
            }
            for match, (points, rate) in zip(found.matches, tiles, strict=True)
        ],
        "points": np.concatenate([points for points, _ in tiles]),
        "body": _describe_body(found.motions[0].skeleton, joints),
        **choose_target(found.motions[0]),
        "notes": [word_text(note, SearchWeb) for note in found.notes],
    }


def choose_target(motion: Motion) -> dict[str, str]:
    """Return what a target should control at first: the fastest hand, foot or head (`joint`), and when (`moment`).

    Hands and feet that are planted, or only carried along, are slow. A foot that has come down again where it is
    farthest from its start, as after a kick with a step, gets its target where it is highest.
    """
    from marey.parametric import position, speed

    roles, world = motion.skeleton.roles, motion.world()
    speeds = {
        role: float(speed(role, "max").measure_whole(motion, world)[0]) for role in _END_EFFECTORS if role in roles
    }
    joint = max(speeds, key=lambda role: speeds[role], default="hips")
    heights = world.positions[:, roles[joint], 1]
    farthest = heights[position(joint, "farthest").find_frame(motion, world)]
    top, ends = heights.max(), max(float(heights[0]), float(farthest))
    came_down = top - ends > max(_MIN_LIFT, 0.5 * (top - heights.min()))
    return {"joint": joint, "moment": "highest" if came_down else "farthest"}


@lru_cache(maxsize=1)
def open_web(path: str) -> MatchWeb:
    """Load a web from a file (cached)."""
    from marey.find.match_web import MatchWeb

    return MatchWeb.load(path)


@lru_cache(maxsize=2)
def run_search(
    web: str, clip: int | None, file: str, start: int, stop: int, threshold: float, repeats: bool, **options: Any
) -> MatchResult:
    """Run a search (cached). `clip` is the index of a clip of the web, or None to search for the motion in `file`."""
    from marey.find import SearchSettings

    query = _resolve_query(web, clip, file, start, stop)
    settings = SearchSettings(overlap=_OVERLAPS[repeats], **options)
    try:
        return open_web(web).search(*query, threshold, settings=settings)
    except NoResult:
        raise NoResult(_no_match_message(open_web(web), query, threshold, settings)) from None


def _no_match_message(
    web: MatchWeb, query: tuple[int | Motion, int, int], threshold: float, settings: SearchSettings
) -> str:
    """Return the error message for a search without matches. Times are in seconds, as on the page."""
    from marey.find.search import Query

    near = Query.make(web, *query, settings).find_nearest()
    if near is None:
        return "no indexed motion is similar; mark another range, or index more clips"
    (clip, start, stop), distance = near
    where = f"{web.names[clip]}, {start / web.fps:.2f} to {stop / web.fps:.2f} s"
    nearest = f"the closest is {where} at {distance:.3f} m"
    return f"no match within {threshold:g} m; {nearest}; choose a larger threshold"


def _resolve_query(web: str, clip: int | None, file: str, start: int, stop: int) -> tuple[int | Motion, int, int]:
    """Return the query for `MatchWeb.search`: a clip of the web, with frames at the web's rate, or a motion."""
    from marey.io import load_motion

    motion = load_motion(file)
    if clip is None:
        return motion, start, stop
    clip_motion = open_web(web).clips[clip]
    first, last = (round(frame * clip_motion.fps / motion.fps) for frame in (start, stop))
    return clip, first, min(last, len(clip_motion))


def _visible_joints(skeleton: Skeleton) -> list[int]:
    """Return the joints of a thumbnail: those with a role, their ancestors up to the hips, and the top of the head.

    Return all joints if too few have a role.
    """
    wanted: set[int] = set()
    for joint in skeleton.roles.values():
        wanted.update(skeleton.chain(joint))
    hips, head = skeleton.roles.get("hips", 0), skeleton.roles.get("head")
    if head is not None:
        wanted.update(joint for joint in skeleton.children[head] if skeleton.is_end_site[joint])
    wanted -= set(skeleton.chain(hips)) - {hips}
    return sorted(wanted) if len(wanted) > 8 else list(range(len(skeleton)))


def _describe_body(skeleton: Skeleton, joints: list[int]) -> dict[str, Any]:
    from marey.io.unit_and_up_axis import stature

    place = {joint: k for k, joint in enumerate(joints)}
    parents = [place.get(int(skeleton.parents[joint]), -1) for joint in joints]
    return {
        "parents": parents,
        "bone_lengths": [
            float(skeleton.bone_lengths[joint]) if parent >= 0 else 0.0
            for joint, parent in zip(joints, parents, strict=True)
        ],
        "end_sites": [bool(skeleton.is_end_site[joint]) for joint in joints],
        "roles": {role: place[joint] for role, joint in skeleton.roles.items() if joint in place},
        "stature": stature(skeleton) or 0.0,
    }


def _tile(motion: Motion, joints: Iterable[int]) -> tuple[Any, float]:
    """Return the thumbnail: positions (N, K, 3), int32 millimeters, relative to the first placement, and their rate.

    N is the number of frames, K the number of joints; the rate is in frames per second.
    """
    from marey.core.placement import find_placement
    from marey.maths import rigid2d

    step = max(1, round(motion.fps / _TILE_RATE), -(-len(motion) // _MAX_PICTURES))
    world = motion.world()
    positions = world.positions[::step, list(joints)]
    seen: Floats = rigid2d.apply(rigid2d.invert(find_placement(motion, 0)), positions)
    seen[..., 1] -= motion.source.floor or 0.0
    return np.rint(1000.0 * seen).astype(np.int32), motion.fps / step
