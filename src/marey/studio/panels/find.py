"""Find panel: search for motions similar to an example, and build a parametric motion from the matches."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from marey.core.motion import Motion
from marey.errors import InvalidValue
from marey.studio.forms import group_skipped
from marey.studio.messages import MotionInfo
from marey.studio.panels import find_messages as messages
from marey.studio.panels.aim_files import motion_files
from marey.studio.panels.find_state import Aim, Search, copy_saved, get_find_state, list_saved, save_into
from marey.studio.panels.replace_result import replace_dragged
from marey.studio.recipes import CodeRecipe
from marey.studio.registry import command
from marey.studio.threads import to_thread
from marey.studio.wire import fill

if TYPE_CHECKING:
    from marey.studio.session import Session

_WORK = "marey.studio.panels.find_work"
_AIM = "marey.studio.panels.aim_work"
_SOURCES = "marey.studio.panels.find_sources"
# Limits: matches per request, and sampled blends.
_MAX_TILES = 60
_MAX_SAMPLES = 20_000
# Below this rate (frames per second), windows of 0.1 s are empty.
_MIN_RATE = 10.0


@command(messages.BuildWeb)
async def build_web(session: Session, message: messages.BuildWeb) -> messages.WebBuilt:
    """Build a match web (search index) of open motions and of files in the folder, in the worker."""
    state = get_find_state(session)
    like = session.motions.motion(message.like)
    motions = [session.motions.motion(each) for each in message.motions]
    keys = [state.key(session, each) for each in message.motions]
    files, refused = await to_thread(state.files, session, keys) if message.folder else ([], [])
    if message.rate is not None and message.rate < _MIN_RATE:
        raise InvalidValue(f"expected a rate of at least {_MIN_RATE:g} Hz, got {message.rate:g}")
    if not motions and not files:
        raise InvalidValue("no clips to index; open some clips, or start with `marey studio FOLDER`")
    into = state.new_file("web")
    folder = session.places.folder
    done = await session.jobs.run(
        f"{_WORK}:build",
        reference=like,
        motions=motions,
        files=[str(path) for _, path in files],
        root="" if folder is None else str(folder.root),
        output=into,
        rate=message.rate,
        settings={"markers": message.markers, **message.settings.to_dict()},
    )
    given = [*keys, *(name for name, _ in files)]
    clips: list[Any] = [(given[k], clip) for k, clip in done.pop("origins")]
    done["skipped"] = [*group_skipped(refused, messages.BuildWeb), *done["skipped"]]
    return state.set_web(into, clips, done.pop("body").skeleton, fill(messages.WebBuilt, done))


@command(messages.LoadWeb)
async def load_web(session: Session, message: messages.LoadWeb) -> messages.WebBuilt:
    """Load a match web from the folder and match its clips to the current motions."""
    state = get_find_state(session)
    into = state.new_file("web")
    await to_thread(copy_saved, session.places, message.path, "web", into)
    files, _ = await to_thread(state.files, session, [])
    ids = [each for each in session.motions.ids() if isinstance(session.motions.recording(each), Motion)]
    keys = [state.key(session, each) for each in ids]
    motions = [session.motions.motion(each) for each in ids]
    given = [*(name for name, _ in files), *keys]
    done = await session.jobs.run(
        f"{_SOURCES}:load", web=into, files=[(name, str(path)) for name, path in files], motions=motions
    )
    clips = [None if each is None else (given[each[0]], each[1]) for each in done.pop("origins")]
    return state.set_web(into, clips, done.pop("body").skeleton, fill(messages.WebBuilt, done))


@command(messages.GetClipStatus, reads=True)
def get_clip_status(session: Session, message: messages.GetClipStatus) -> messages.ClipStatus:
    """Return whether a motion is in the match web."""
    return get_find_state(session).get_status(session, message.motion)


@command(messages.SuggestThreshold, reads=True)
async def suggest_threshold(session: Session, message: messages.SuggestThreshold) -> messages.ThresholdCurve:
    """Count the matches for each threshold, and suggest one."""
    query = await _query(session, message)
    found = await session.jobs.run(
        f"{_WORK}:suggest", query=query, repeats=message.repeats, settings=message.settings.to_dict()
    )
    return fill(messages.ThresholdCurve, found)


@command(messages.SearchWeb)
async def search_web(session: Session, message: messages.SearchWeb) -> messages.SearchDone:
    """Search for all matches. The page then requests their tiles."""
    state = get_find_state(session)
    query = await _query(session, message)
    how = {"threshold": message.threshold, "repeats": message.repeats, **message.settings.to_dict()}
    done = await session.jobs.run(f"{_WORK}:search", query=query, how=how)
    number = state.next_number()
    reply = fill(messages.SearchDone, done, search=number, count=len(done["matches"]))
    state.search = Search(number, query, how, message, reply, done["matches"], done["points"])
    return reply


@command(messages.GetMatches, reads=True)
def get_matches(session: Session, message: messages.GetMatches) -> messages.MatchTiles:
    """Return some of the matches."""
    search = get_find_state(session).get_search(message.search)
    if message.first < 0 or not 0 < message.count <= _MAX_TILES:
        raise InvalidValue(
            f"expected up to {_MAX_TILES} matches, starting at 0 or later, got {message.count} from {message.first}"
        )
    tiles, at = [], sum(match["n_frames"] for match in search.matches[: message.first])
    for number, match in enumerate(search.matches[message.first : message.first + message.count], message.first):
        points = search.points[at : at + match["n_frames"]]
        at += match["n_frames"]
        tiles.append(messages.MatchTile(number=number, points=tuple(points.ravel().tolist()), **match))
    return messages.MatchTiles(tuple(tiles))


@command(messages.OpenMatch)
async def open_match(session: Session, message: messages.OpenMatch) -> messages.OpenedMatch:
    """Open a match as a motion, at the frame rate of its source."""
    state = get_find_state(session)
    search = state.get_search(message.search)
    if not 0 <= message.number < len(search.matches):
        raise InvalidValue(f"the number of a match must be from 0 to {len(search.matches) - 1}, not {message.number}")
    match = search.matches[message.number]
    done = await session.jobs.run(
        f"{_SOURCES}:match",
        query=search.query,
        how=search.how,
        number=message.number,
        sources=_sources(session, [match]),
    )
    source = state.find_recipe(session, None if match["tier"] == 0 else match["clip"], search.asked.motion)
    recipe = None
    if done["span"] is not None and source is not None:
        recipe = CodeRecipe(done["motion"].name, (source, f"[{done['span'][0]}:{done['span'][1]}]"))
    motion = session.motions.add_result(done["motion"], search.asked.motion, recipe=recipe)
    return messages.OpenedMatch(session.info(motion), done["note"])


@command(messages.MakeSpace)
async def make_space(session: Session, message: messages.MakeSpace) -> messages.SpaceMade:
    """Build a parametric motion from the matches that were not dropped, and generate a first motion."""
    state = get_find_state(session)
    search = state.get_search(message.search)
    if message.settings.samples > _MAX_SAMPLES:
        raise InvalidValue(
            f"samples must be at most {_MAX_SAMPLES}, not {message.settings.samples}", parameter="samples"
        )
    into = state.new_file("space")
    done = await session.jobs.run(
        f"{_AIM}:make",
        query=search.query,
        how=search.how,
        drop=sorted(set(message.drop)),
        settings={"feature": message.feature, **message.settings.to_dict()},
        output=into,
        sources=_sources(session, search.matches),
    )
    return _activate_space(session, into, done, search.asked.motion)


@command(messages.LoadSpace)
async def load_space(session: Session, message: messages.LoadSpace) -> messages.SpaceMade:
    """Load a parametric motion from the folder, and generate a first motion."""
    into = get_find_state(session).new_file("space")
    await to_thread(copy_saved, session.places, message.path, "space", into)
    return _activate_space(session, into, await session.jobs.run(f"{_AIM}:load", space=into))


@command(messages.AimMotion)
async def aim_motion(session: Session, message: messages.AimMotion) -> messages.Aimed:
    """Generate the motion for a target. It replaces the previous one."""
    state = get_find_state(session)
    aim = state.get_aim()
    settings = message.settings.to_dict() | {"refine": message.refine, "start": aim.stands}
    done = await session.jobs.run(
        f"{_AIM}:aim", space=aim.space, target=message.target, point=message.point, settings=settings
    )
    reply = _publish_aimed(session, aim, done)
    session.send_frames_with_reply(reply.motion.motion)
    return reply


@command(messages.KeepAimed)
def keep_aimed(session: Session, message: messages.KeepAimed) -> MotionInfo:
    """Keep a copy of the current motion."""
    aim = get_find_state(session).get_aim()
    if aim.motion is None or aim.motion not in session.motions.ids():
        raise InvalidValue("no motion to keep; move the target first")
    return session.info(session.motions.add_result(session.motions.motion(aim.motion), *aim.made_from))


@command(messages.FindNow, reads=True)
def find_now(session: Session, message: messages.FindNow) -> messages.FindSnapshot:
    """Return the last results of the panel."""
    state = get_find_state(session)
    search, aim = state.search, state.aim
    space = None
    if aim is not None and aim.reply is not None and aim.motion in session.motions.ids():
        # Other panels may have changed the motion since.
        space = replace(aim.reply, first=replace(aim.reply.first, motion=session.info(aim.motion)))
    return messages.FindSnapshot(
        state.reply, None if search is None else search.asked, None if search is None else search.reply, space
    )


@command(messages.ListSaved, reads=True)
def list_files(session: Session, message: messages.ListSaved) -> messages.SavedFiles:
    """List the match webs and spaces in the folder."""
    places = session.places
    return messages.SavedFiles(list_saved(places), places.folder is not None, len(places.list_files().files))


@command(messages.SaveFound)
def save_found(session: Session, message: messages.SaveFound) -> messages.SavedFound:
    """Save the match web or the space to the folder."""
    state = get_find_state(session)
    file = state.get_aim().space if message.kind == "space" else state.web
    if not file:
        raise InvalidValue("nothing to save yet; press “Index clips” first")
    return messages.SavedFound(*save_into(session.places, file, message.name, message.kind, replace=message.replace))


def _activate_space(session: Session, file: str, done: dict[str, Any], *made_from: str) -> messages.SpaceMade:
    """Make a space the current one, and return its description with a first motion."""
    aim = get_find_state(session).aim = Aim(file, done.pop("stands"), made_from)
    first = _publish_aimed(session, aim, done.pop("first"))
    aim.reply = fill(messages.SpaceMade, done, first=first)
    return aim.reply


def _publish_aimed(session: Session, aim: Aim, done: dict[str, Any]) -> messages.Aimed:
    """Publish the motion for a target and return the reply."""
    aim.motion = replace_dragged(session, aim.motion, done.pop("motion"), *aim.made_from)
    reply = fill(messages.Aimed, done, motion=session.info(aim.motion), path=done["path"].tolist())
    if aim.reply is not None:
        aim.reply = replace(aim.reply, first=reply)
    return reply


def _sources(session: Session, matches: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the source of each matched clip, except the example's."""
    return get_find_state(session).sources(session, [match["clip"] for match in matches if match["tier"] > 0])


async def _query(session: Session, message: messages.SuggestThreshold | messages.SearchWeb) -> dict[str, Any]:
    """Return the query for the worker. Raise an error if the match web is missing or the range is invalid."""
    state = get_find_state(session)
    if not state.web:
        raise InvalidValue("nothing to search yet; press “Index clips” first")
    motion = session.motions.motion(message.motion)
    if not 0 <= message.start < message.stop <= len(motion):
        raise InvalidValue(
            f"expected a range within frames 0 to {len(motion)} of {motion.name!r}, got {message.start} to "
            f"{message.stop}"
        )
    return {
        "web": state.web,
        "clip": state.clip_of(session, message.motion),
        "file": await to_thread(motion_files(session).file_of, session, message.motion),
        "start": message.start,
        "stop": message.stop,
    }
