"""Find and aim: what is like a marked stretch, and motions between all of it that go where they are told to."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from marey.errors import InvalidValue
from marey.studio.messages import MotionInfo
from marey.studio.panels.aim_files import motion_files
from marey.studio.panels.aim_made import made_again
from marey.studio.panels.find_messages import (
    Aimed,
    AimMotion,
    BuildWeb,
    GetMatches,
    KeepAimed,
    MakeSpace,
    MatchTile,
    MatchTiles,
    OpenMatch,
    SearchDone,
    SearchWeb,
    SpaceMade,
    SuggestThreshold,
    ThresholdCurve,
    TileBody,
    WebBuilt,
)
from marey.studio.panels.find_state import Aim, Finding, Search, finding_of
from marey.studio.registry import command

if TYPE_CHECKING:
    from marey.studio.session import Session

_WORK = "marey.studio.panels.find_work"
_AIM = "marey.studio.panels.aim_work"
# Matches that are told of at once, and blends that may be tried.
_MOST_TILES = 60
_MOST_SAMPLES = 20_000
# Frames per second below which windows of 0.1 s have nothing in them.
_LOWEST_RATE = 10.0


@command(BuildWeb)
async def build_web(session: Session, message: BuildWeb) -> WebBuilt:
    """A web of open motions and of the folder's files, in the worker."""
    state = finding_of(session)
    like = session.motions.motion(message.like)
    motions = [session.motions.motion(each) for each in message.motions]
    keys = [state.key(session, each) for each in message.motions]
    files, refused = await asyncio.to_thread(state.files, session, keys) if message.folder else ([], [])
    if message.rate is not None and message.rate < _LOWEST_RATE:
        raise InvalidValue(f"frames are compared at {_LOWEST_RATE:g} per second or more, got {message.rate:g}")
    if not motions and not files:
        raise InvalidValue("there is nothing to search; open motions, or start with `marey studio FOLDER`")
    into = state.new_file("web")
    folder = session.places.folder
    done = await session.jobs.run(
        f"{_WORK}:build",
        like=like,
        motions=motions,
        files=[str(path) for _, path in files],
        root="" if folder is None else str(folder.root),
        into=into,
        markers=message.markers,
        remove_height=message.remove_height,
        coarse=message.coarse,
        rate=message.rate,
    )
    given = [*keys, *(name for name, _ in files)]
    state.web, state.search, state.aim = into, None, None
    state.clips = [(given[k], clip) for k, clip in done["origins"]]
    left_out = (*refused, *done["left_out"])
    return WebBuilt(tuple(done["clips"]), done["frames"], done["fps"], done["seconds"], left_out)


@command(SuggestThreshold, reads=True)
async def suggest_threshold(session: Session, message: SuggestThreshold) -> ThresholdCurve:
    """What each threshold would find."""
    query = await _query(session, message)
    made = await session.jobs.run(f"{_WORK}:suggest", query=query)
    low, high = made.pop("level")
    thresholds, counts = (tuple(made.pop(name)) for name in ("thresholds", "counts"))
    return ThresholdCurve(thresholds, counts, level=(low, high), **made)


@command(SearchWeb)
async def search_web(session: Session, message: SearchWeb) -> SearchDone:
    """All matches, whose tiles are then asked for page by page."""
    state = finding_of(session)
    query = await _query(session, message)
    done = await session.jobs.run(f"{_WORK}:search", query=query, threshold=message.threshold)
    number = state.next_number()
    state.search = Search(number, query, message.threshold, message.motion, done["matches"], done["points"])
    body = done["body"]
    shown = TileBody(
        tuple(body["parents"]),
        tuple(body["bone_lengths"]),
        tuple(body["end_sites"]),
        body["roles"],
        body["stature"],
    )
    return SearchDone(number, len(done["matches"]), shown, done["joint"], tuple(done["notes"]))


@command(GetMatches, reads=True)
def get_matches(session: Session, message: GetMatches) -> MatchTiles:
    """Some of the matches."""
    search = finding_of(session).searched(message.search)
    if message.first < 0 or not 0 < message.count <= _MOST_TILES:
        raise InvalidValue(f"expected up to {_MOST_TILES} matches from 0 on, got {message.count} from {message.first}")
    tiles, at = [], sum(match["n_frames"] for match in search.matches[: message.first])
    for number, match in enumerate(search.matches[message.first : message.first + message.count], message.first):
        points = search.points[at : at + match["n_frames"]]
        at += match["n_frames"]
        tiles.append(MatchTile(number=number, points=tuple(points.ravel().tolist()), **match))
    return MatchTiles(tuple(tiles))


@command(OpenMatch)
async def open_match(session: Session, message: OpenMatch) -> MotionInfo:
    """A match as a motion of its own."""
    from dataclasses import replace

    search = finding_of(session).searched(message.search)
    if not 0 <= message.number < len(search.matches):
        raise InvalidValue(f"expected a match from 0 to {len(search.matches) - 1}, got {message.number}")
    done = await session.jobs.run(
        f"{_WORK}:match", query=search.query, threshold=search.threshold, number=message.number
    )
    match = search.matches[message.number]
    name = f"{match['clip']} {match['start']:.2f}-{match['stop']:.2f} s"
    return session.info(session.motions.add_made(replace(done["motion"], name=name), search.sought))


@command(MakeSpace)
async def make_space(session: Session, message: MakeSpace) -> SpaceMade:
    """A space of the matches that were kept, and its first motion."""
    state = finding_of(session)
    search = state.searched(message.search)
    if not 0 <= message.samples <= _MOST_SAMPLES:
        raise InvalidValue(f"expected 0 to {_MOST_SAMPLES} blends to try, got {message.samples}")
    into = state.new_file("space")
    done = await session.jobs.run(
        f"{_AIM}:make",
        query=search.query,
        threshold=search.threshold,
        drop=sorted(set(message.drop)),
        feature=message.feature,
        samples=message.samples,
        into=into,
    )
    state.aim = Aim(into, done.pop("stands"), search.sought)
    first = _aimed(session, state, state.aim, done.pop("first"))
    plain: dict[str, Any] = {name: tuple(each) if isinstance(each, list) else each for name, each in done.items()}
    return SpaceMade(**plain, first=first)


@command(AimMotion)
async def aim_motion(session: Session, message: AimMotion) -> Aimed:
    """The motion for a target, in the place of the one before."""
    state = finding_of(session)
    aim = state.aiming()
    done = await session.jobs.run(
        f"{_AIM}:aim",
        space=aim.space,
        target=message.target,
        point=message.point,
        refine=message.refine,
        stands=aim.stands,
    )
    return _aimed(session, state, aim, done)


@command(KeepAimed)
def keep_aimed(session: Session, message: KeepAimed) -> MotionInfo:
    """The motion as it is, which further aiming leaves alone."""
    aim = finding_of(session).aiming()
    if aim.motion is None or aim.motion not in session.motions.ids():
        raise InvalidValue("there is no motion to keep; aim at something first")
    return session.info(session.motions.add_made(session.motions.motion(aim.motion), aim.made_from))


def _aimed(session: Session, state: Finding, aim: Aim, done: dict[str, Any]) -> Aimed:
    """The answer to aiming, with its motion among the open ones."""
    aim.motion = made_again(session, aim.motion, done.pop("motion"), aim.made_from)
    point, hit = (None if done[name] is None else tuple(done[name]) for name in ("point", "hit"))
    target, aimed, reached, path = (tuple(done[name]) for name in ("target", "aimed", "reached", "path"))
    errors, projected, moment = (done[name] for name in ("errors", "projected", "moment"))
    info = session.info(aim.motion)
    return Aimed(info, target, aimed, reached, errors, projected, point, hit, moment, path)


async def _query(session: Session, message: SuggestThreshold | SearchWeb) -> dict[str, Any]:
    """What is sought, as the worker takes it."""
    state = finding_of(session)
    if not state.web:
        raise InvalidValue("there is nothing to search yet; build the web first")
    motion = session.motions.motion(message.motion)
    if not 0 <= message.start < message.stop <= len(motion):
        raise InvalidValue(
            f"expected a stretch within frames 0 to {len(motion)} of {motion.name!r}, got {message.start} to "
            f"{message.stop}"
        )
    return {
        "web": state.web,
        "clip": state.clip_of(session, message.motion),
        "file": await asyncio.to_thread(motion_files(session).file_of, session, message.motion),
        "start": message.start,
        "stop": message.stop,
    }
