"""Find and aim: what is like a marked stretch, and motions between all of it that go where they are told to."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from marey.core.motion import Motion
from marey.errors import InvalidValue
from marey.studio.messages import MotionInfo
from marey.studio.panels.aim_files import motion_files
from marey.studio.panels.aim_made import made_again, motion_from
from marey.studio.panels.find_files import copy_saved, list_saved, save_into
from marey.studio.panels.find_messages import (
    Aimed,
    AimMotion,
    BuildWeb,
    FindNow,
    FindStands,
    GetMatches,
    KeepAimed,
    ListSaved,
    LoadSpace,
    LoadWeb,
    MakeSpace,
    MatchTile,
    MatchTiles,
    OpenedMatch,
    OpenMatch,
    SavedFiles,
    SavedFound,
    SaveFound,
    SearchDone,
    SearchWeb,
    SpaceMade,
    SuggestThreshold,
    ThresholdCurve,
    TileBody,
    WebBuilt,
    Whereabouts,
    WhereSought,
)
from marey.studio.panels.find_state import Aim, Search, finding_of
from marey.studio.registry import command

if TYPE_CHECKING:
    from marey.studio.session import Session

_WORK = "marey.studio.panels.find_work"
_AIM = "marey.studio.panels.aim_work"
_BELONGS = "marey.studio.panels.find_belongs"
_SOURCES = "marey.studio.panels.find_sources"
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
        rate=message.rate,
    )
    given = [*keys, *(name for name, _ in files)]
    clips: list[Any] = [(given[k], clip) for k, clip in done.pop("origins")]
    done["left_out"] = [*refused, *done["left_out"]]
    return state.take_web(into, clips, done.pop("figure").skeleton, WebBuilt(**_tuples(done)))


@command(LoadWeb)
async def load_web(session: Session, message: LoadWeb) -> WebBuilt:
    """A web of the folder, with what there is of its motions now."""
    state = finding_of(session)
    into = state.new_file("web")
    await asyncio.to_thread(copy_saved, session.places, message.path, "web", into)
    files, _ = await asyncio.to_thread(state.files, session, [])
    ids = [each for each in session.motions.ids() if isinstance(session.motions.figure(each), Motion)]
    keys = [state.key(session, each) for each in ids]
    motions = [session.motions.motion(each) for each in ids]
    given = [*(name for name, _ in files), *keys]
    done = await session.jobs.run(
        f"{_BELONGS}:load", web=into, files=[(name, str(path)) for name, path in files], motions=motions
    )
    clips = [None if each is None else (given[each[0]], each[1]) for each in done.pop("origins")]
    return state.take_web(into, clips, done.pop("figure").skeleton, WebBuilt(**_tuples(done)))


@command(WhereSought, reads=True)
def where_sought(session: Session, message: WhereSought) -> Whereabouts:
    """Whether a motion was compared."""
    return finding_of(session).where(session, message.motion)


@command(SuggestThreshold, reads=True)
async def suggest_threshold(session: Session, message: SuggestThreshold) -> ThresholdCurve:
    """What each threshold would find."""
    query = await _query(session, message)
    made = await session.jobs.run(f"{_WORK}:suggest", query=query, further=message.further, repeats=message.repeats)
    low, high = made.pop("level")
    thresholds, counts = (tuple(made.pop(name)) for name in ("thresholds", "counts"))
    return ThresholdCurve(thresholds, counts, level=(low, high), **made)


@command(SearchWeb)
async def search_web(session: Session, message: SearchWeb) -> SearchDone:
    """All matches, whose tiles are then asked for page by page."""
    state = finding_of(session)
    query = await _query(session, message)
    how = {"threshold": message.threshold, "further": message.further, "repeats": message.repeats}
    done = await session.jobs.run(f"{_WORK}:search", query=query, how=how)
    number = state.next_number()
    body = done["body"]
    shown = TileBody(
        tuple(body["parents"]),
        tuple(body["bone_lengths"]),
        tuple(body["end_sites"]),
        body["roles"],
        body["stature"],
    )
    told = SearchDone(number, len(done["matches"]), shown, done["joint"], tuple(done["notes"]))
    state.search = Search(number, query, how, message, told, done["matches"], done["points"])
    return told


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
async def open_match(session: Session, message: OpenMatch) -> OpenedMatch:
    """A match as a motion of its own, at the rate of the motion that it is from."""
    state = finding_of(session)
    search = state.searched(message.search)
    if not 0 <= message.number < len(search.matches):
        raise InvalidValue(f"expected a match from 0 to {len(search.matches) - 1}, got {message.number}")
    match = search.matches[message.number]
    done = await session.jobs.run(
        f"{_SOURCES}:match",
        query=search.query,
        how=search.how,
        number=message.number,
        sources=_sources(session, [match]),
    )
    motion = session.motions.add_made(done["motion"], search.asked.motion)
    return OpenedMatch(session.info(motion), done["note"])


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
        how=search.how,
        drop=sorted(set(message.drop)),
        feature=message.feature,
        samples=message.samples,
        into=into,
        sources=_sources(session, search.matches),
    )
    return _take_space(session, into, done, search.asked.motion)


@command(LoadSpace)
async def load_space(session: Session, message: LoadSpace) -> SpaceMade:
    """A space of the folder, and its first motion."""
    into = finding_of(session).new_file("space")
    await asyncio.to_thread(copy_saved, session.places, message.path, "space", into)
    return _take_space(session, into, await session.jobs.run(f"{_AIM}:load", space=into))


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
    return _aimed(session, aim, done)


@command(KeepAimed)
def keep_aimed(session: Session, message: KeepAimed) -> MotionInfo:
    """The motion as it is, which further aiming leaves alone."""
    aim = finding_of(session).aiming()
    if aim.motion is None or aim.motion not in session.motions.ids():
        raise InvalidValue("there is no motion to keep; aim at something first")
    return session.info(session.motions.add_made(session.motions.motion(aim.motion), *aim.made_from))


@command(FindNow, reads=True)
def find_now(session: Session, message: FindNow) -> FindStands:
    """What there is."""
    state = finding_of(session)
    search, aim = state.search, state.aim
    space = None
    if aim is not None and aim.told is not None and aim.motion in session.motions.ids():
        # The motion may have been changed by other panels since.
        space = replace(aim.told, first=replace(aim.told.first, motion=session.info(aim.motion)))
    return FindStands(
        state.told, None if search is None else search.asked, None if search is None else search.told, space
    )


@command(ListSaved, reads=True)
def list_files(session: Session, message: ListSaved) -> SavedFiles:
    """The folder's."""
    return SavedFiles(list_saved(session.places), session.places.folder is not None)


@command(SaveFound)
def save_found(session: Session, message: SaveFound) -> SavedFound:
    """The web or the space, as a file of the folder."""
    state = finding_of(session)
    made = state.aiming().space if message.kind == "space" else state.web
    if not made:
        raise InvalidValue("there is nothing to save yet; compare all clips first")
    return SavedFound(*save_into(session.places, made, message.name, message.kind, replace=message.replace))


def _take_space(session: Session, file: str, done: dict[str, Any], *made_from: str) -> SpaceMade:
    """Aim in this space from now on."""
    aim = finding_of(session).aim = Aim(file, done.pop("stands"), done.pop("like"), made_from)
    first = _aimed(session, aim, done.pop("first"))
    aim.told = SpaceMade(**_tuples(done), first=first)
    return aim.told


def _aimed(session: Session, aim: Aim, done: dict[str, Any]) -> Aimed:
    """The answer to aiming, with its motion among the open ones."""
    aim.motion = made_again(session, aim.motion, motion_from(done.pop("motion"), aim.like), *aim.made_from)
    done["path"] = done["path"].tolist()
    told = Aimed(motion=session.info(aim.motion), **_tuples(done))
    if aim.told is not None:
        aim.told = replace(aim.told, first=told)
    return told


def _sources(session: Session, matches: list[dict[str, Any]]) -> dict[str, Any]:
    """Where the clips of matches are from; what was sought is known anyway."""
    return finding_of(session).sources(session, [match["clip"] for match in matches if match["tier"] > 0])


def _tuples(done: dict[str, Any]) -> dict[str, Any]:
    """What the worker gave, with tuples as messages have them."""
    return {name: tuple(each) if isinstance(each, list) else each for name, each in done.items()}


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
