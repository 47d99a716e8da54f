"""Heavy work of the panel Find, as the worker runs it: match webs, searches, and spaces of motions.

Webs and spaces lie in files of the session, and are kept once loaded; so a worker that was ended goes on from there.
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
from marey.studio.work import Progress

if TYPE_CHECKING:
    from marey.find.found import Found
    from marey.find.match_web import MatchWeb

# A tile's pictures per second, and how many it has at the most.
_TILE_RATE = 15.0
_MOST_PICTURES = 120
# Share of the work that reading files is, as it is told.
_READING = 0.25
# What an action may be about.
_BUSY = ("right_hand", "left_hand", "right_ball", "left_ball", "head")
# Shares that two stretches may overlap by: the usual ones, and for motion that repeats itself; see `MatchWeb.search`.
_OVERLAPS = {False: (0.8, 0.2), True: (0.8, 0.5)}
# How far a search goes: what is like the query alone, or what is like a match, too, without end.
_TIERS = {False: 1, True: None}


def build(
    progress: Progress,
    like: Motion,
    motions: list[Motion],
    files: list[str],
    root: str,
    into: str,
    markers: str,
    remove_height: bool,
    rate: float | None,
) -> dict[str, Any]:
    """The web of motions and files that have the figure of `like`, written to `into`.

    `origins` of the result says of each clip which of those given it is, and which clip of its file.
    """
    from marey.core.placement import check_same_skeleton
    from marey.find.match_web import MatchWeb

    clips: list[Motion] = []
    origins: list[tuple[int, str]] = []
    left_out: list[str] = []
    given: list[Any] = [*motions, *files]
    for k, each in enumerate(given):
        name = each.name if isinstance(each, Motion) else str(Path(each).relative_to(root).as_posix())
        progress(_READING * k / len(given), f"reading {name}")
        try:
            for clip, motion in [("", each)] if isinstance(each, Motion) else read_clips(each, name):
                check_same_skeleton(like.skeleton, motion.skeleton, "a web")
                clips.append(motion)
                origins.append((k, clip))
        except MareyError as error:
            left_out.append(f"{name}: {_plain(str(error), root)}")
    if not clips:
        raise InvalidValue(f"none of {len(given)} motions can be compared; the first: {(left_out or ['none'])[0]}")
    web = MatchWeb.build(
        clips,
        markers=markers,
        remove_height=remove_height,
        fps=None if rate is None else min(rate, *(clip.fps for clip in clips)),
        progress=lambda share: progress(_READING + (1.0 - _READING) * share, "comparing"),
    )
    web.save(into)
    return {**told_of(web), "left_out": left_out, "origins": origins}


def told_of(web: MatchWeb) -> dict[str, Any]:
    """What a page is told of a web, and a motion of its figure."""
    from marey.find.search import least_frames

    info = web.info()
    shown = {name: info[name] for name in ("frames", "fps", "seconds")}
    return {
        "clips": list(web.names),
        **shown,
        "least": least_frames(web) / web.fps,
        "figure": web.clips[0][:1],
    }


def read_clips(path: str, name: str) -> list[tuple[str, Motion]]:
    """All clips of a file by name, "" where there is one, as motions named by where it lies in the folder."""
    from dataclasses import replace

    from marey.io.files import MARKER_SUFFIXES
    from marey.io.loading import clip_names, load_motion

    if Path(path).suffix.lower() in MARKER_SUFFIXES:
        raise InvalidValue("holds markers, not a skeleton's motion")
    clips = clip_names(path)
    if len(clips) < 2:
        return [("", replace(load_motion(path), name=name))]
    return [(clip, replace(load_motion(path, clip=clip), name=f"{name}: {clip}")) for clip in clips]


def _plain(text: str, root: str) -> str:
    return text.replace(f"{root}/", "")


def suggest(progress: Progress, query: dict[str, Any], further: bool, repeats: bool) -> dict[str, Any]:
    """What each threshold would find; see `marey.studio.panels.find_messages.ThresholdCurve`."""
    progress(0.0, "trying thresholds")
    made = web_in(query["web"]).suggest(*_sought(**query), overlap=_OVERLAPS[repeats], tiers=_TIERS[further])
    return {
        "thresholds": made.thresholds.tolist(),
        "counts": made.counts.tolist(),
        "threshold": made.threshold,
        "n_matches": made.n_matches,
        "level": list(made.level),
        "stands_out": made.stands_out,
        "still": made.still,
        "told": str(made),
    }


def search(progress: Progress, query: dict[str, Any], how: dict[str, Any]) -> dict[str, Any]:
    """The matches, with what is drawn of each: `points` (N, K, 3) whole millimetres, all tiles after each other."""
    progress(0.0, "searching")
    found = found_by(**how, **query)
    joints = _drawn(found.motions[0].skeleton)
    tiles = [_tile(motion, joints) for motion in found.motions]
    fps = web_in(query["web"]).fps
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
        "body": _body(found.motions[0].skeleton, joints),
        "joint": _busiest(found.motions[0]),
        "notes": list(found.notes),
    }


def _busiest(motion: Motion) -> str:
    """The role of the hand, foot or head that gets farthest from where it began, beside the hips."""
    roles, positions = motion.skeleton.roles, motion.world().positions
    beside = positions - positions[:, [roles["hips"]]]
    moved = {role: float(np.linalg.norm(beside[:, roles[role]] - beside[0, roles[role]], axis=1).max())
             for role in _BUSY if role in roles}  # fmt: skip
    return max(moved, key=lambda role: moved[role], default="hips")


@lru_cache(maxsize=1)
def web_in(path: str) -> MatchWeb:
    """The web of a file, read once."""
    from marey.find.match_web import MatchWeb

    return MatchWeb.load(path)


@lru_cache(maxsize=2)
def found_by(
    web: str, clip: int | None, file: str, start: int, stop: int, threshold: float, further: bool, repeats: bool
) -> Found:
    """What a search finds; `clip` is one of the web's, or None for the motion in `file`."""
    sought = _sought(web, clip, file, start, stop)
    compared, overlap = web_in(web), _OVERLAPS[repeats]
    try:
        return compared.search(*sought, threshold, overlap=overlap, tiers=_TIERS[further])
    except NoResult:
        raise NoResult(_told_nearest(compared, sought, threshold, overlap)) from None


def _told_nearest(
    web: MatchWeb, sought: tuple[int | Motion, int, int], threshold: float, overlap: tuple[float, float]
) -> str:
    """What to do where nothing was found; in seconds, as the page has them."""
    from marey.find.search import Query

    near = Query.of(web, *sought, None).nearest(overlap)
    if near is None:
        return "nothing that was compared is anything like it; mark another stretch, or compare more clips"
    (clip, start, stop), distance = near
    where = f"{web.names[clip]}, {start / web.fps:.2f} to {stop / web.fps:.2f} s"
    nearest = f"the nearest is {where}, at {distance:.3f} m"
    return f"nothing is within {threshold:g} m of it; {nearest}: choose a larger threshold"


def _sought(web: str, clip: int | None, file: str, start: int, stop: int) -> tuple[int | Motion, int, int]:
    """A query as the library has it: of a clip of the web frames count at the web's rate, else at the motion's own."""
    from marey.io import load_motion

    motion = load_motion(file)
    if clip is None:
        return motion, start, stop
    kept = web_in(web).clips[clip]
    first, last = (round(frame * kept.fps / motion.fps) for frame in (start, stop))
    return clip, first, min(last, len(kept))


def _drawn(skeleton: Skeleton) -> list[int]:
    """The joints that a small picture needs: those with a role, what they hang from, and the crown of the head.

    They are all where too few have a role.
    """
    wanted: set[int] = set()
    for joint in skeleton.roles.values():
        wanted.update(skeleton.chain(joint))
    hips, head = skeleton.roles.get("hips", 0), skeleton.roles.get("head")
    if head is not None:
        wanted.update(joint for joint in skeleton.children[head] if skeleton.is_end_site[joint])
    wanted -= set(skeleton.chain(hips)) - {hips}
    return sorted(wanted) if len(wanted) > 8 else list(range(len(skeleton)))


def _body(skeleton: Skeleton, joints: list[int]) -> dict[str, Any]:
    from marey.io.recognize import stature

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
    """(N, K, 3) int32 millimetres in the figure's frame at the start, and how many of these there are per second."""
    from marey.core.placement import find_placement
    from marey.maths import rigid2d

    step = max(1, round(motion.fps / _TILE_RATE), -(-len(motion) // _MOST_PICTURES))
    world = motion.world()
    drawn = world.positions[::step, list(joints)]
    seen: Floats = rigid2d.apply(rigid2d.invert(find_placement(motion.skeleton, world, 0)), drawn)
    seen[..., 1] -= motion.source.floor or 0.0
    return np.rint(1000.0 * seen).astype(np.int32), motion.fps / step
