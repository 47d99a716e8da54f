"""Drive panel: control a character in real time, with one of several controllers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from marey.errors import FileError, InvalidValue, MareyError
from marey.studio.jobs import Cancelled
from marey.studio.messages import Nothing
from marey.studio.panels import drive_messages as messages
from marey.studio.panels.author_files import find_authored, list_authored
from marey.studio.panels.author_state import WORK, get_draft, recipe_file
from marey.studio.panels.drive_models import Models
from marey.studio.panels.graph import build_current, has_graph
from marey.studio.registry import command
from marey.studio.threads import to_thread

if TYPE_CHECKING:
    from pathlib import Path

    from marey.control import OneShot
    from marey.core.motion import Motion
    from marey.pmg import ParametricMotionGraph
    from marey.studio.jobs import Jobs
    from marey.studio.panels.author_state import Draft
    from marey.studio.panels.drive_controllers import Driver
    from marey.studio.panels.drive_source import BodyState, DriveSource, Record
    from marey.studio.session import Session

# Limits: motions to drive with, and characters driven at the same time.
_MAX_MOTIONS, _MAX_DRIVEN = 100, 4
_TITLES: dict[messages.ControllerKind, str] = {
    "character": "parametric graph", "graph": "direction table", "matching": "motion matching", "tree": "blend tree",
}  # fmt: skip
# Meters to the left at which another character starts.
_SPACING = 1.0


class LoadedCharacter(NamedTuple):
    """A character, its limits if they are known, and whether walks to points are planned in the background."""

    graph: Any
    limits: tuple[str, ...] | None = None
    is_being_planned: bool = False


@dataclass(slots=True, eq=False)
class DriveState:
    """State of the Drive panel.

    models : cached models of the controllers.
    driven : the current characters with their requests, keyed by stream, in the order in which they were started.
    records : response times of driving, keyed by controller, character and frame rate.
    compared : those of the last comparison, with the same keys.
    loading : held while a character is being loaded.
    """

    models: Models
    driven: dict[int, DrivenCharacter] = field(default_factory=dict)
    records: dict[tuple[messages.ControllerKind, str, float], Record] = field(default_factory=dict)
    compared: dict[tuple[messages.ControllerKind, str, float], Record] = field(default_factory=dict)
    loading: asyncio.Lock = field(default_factory=asyncio.Lock)

    def find(self, stream: int | None) -> DrivenCharacter | None:
        """Return the character of a stream, or the last one; None if there is none."""
        if stream is not None:
            return self.driven.get(stream)
        return next(reversed(self.driven.values()), None)


@dataclass(slots=True, eq=False)
class DrivenCharacter:
    """A character that is driven, and the request to it."""

    source: DriveSource
    request: messages.DriveRequest


@command(messages.ListDrive, reads=True)
async def list_drive(session: Session, message: messages.ListDrive) -> messages.DriveChoices:
    """List the characters that can be driven."""
    return await to_thread(_list_choices, session)


def _list_choices(session: Session) -> messages.DriveChoices:
    from marey.pmg import shipped_recipes
    from marey.studio.cached_characters import find_cached

    recipes = tuple(
        messages.DriveRecipe(name, about, find_cached(name) is not None) for name, about in shipped_recipes().items()
    )
    files = tuple(each.path for each in list_authored(session.places) if each.kind == "character")
    return messages.DriveChoices(recipes, files, *_describe_draft(get_draft(session)), has_graph(session))


@command(messages.StartDrive)
async def start_drive(session: Session, message: messages.StartDrive) -> messages.DriveStarted:
    """Prepare a controller and start its stream. With `stay`, the character starts where the previous one stands."""
    ticket = session.live.take_ticket()
    state = _get_state(session)
    if message.beside and len(set(state.driven) & set(session.live.playing)) >= _MAX_DRIVEN:
        raise InvalidValue(f"expected at most {_MAX_DRIVEN} characters at the same time; stop one first")
    # The import takes half a second. It runs in a thread, because other pages must not wait.
    await to_thread(import_module, "marey.studio.panels.drive_source")
    from marey.studio.panels.drive_source import DriveSource, Record, make_upper

    driver = await _make_driver(session, state, message)
    key = (message.way, _name_character(session, message), driver.stream.fps)
    record = state.records.setdefault(key, Record())
    upper = None
    if message.carry:
        clip = await to_thread(_find_upper, session, message.carry)
        unseen = await _make_driver(session, state, message)
        upper = await session.jobs.run_in_thread(make_upper, unseen, clip)
    source = await to_thread(DriveSource, driver, record, message.look, upper)
    # No await from here on: the previous character must not play another frame.
    before = state.find(message.stream)
    if message.stay and before is not None:
        source.continue_from(_move_aside(before.source.body_state) if message.beside else before.source.body_state)
    character = DrivenCharacter(source, before.request if before and not message.beside else messages.DriveRequest())
    source.request(character.request)
    playing = {number: each for number, each in state.driven.items() if number in session.live.playing}
    others = {number: each for number, each in playing.items() if message.beside or each is not before}
    if before is not None and before in playing.values() and not message.beside:
        source.continue_recording(before.source)
    _hold(session, [*state.driven.values(), character])
    try:
        started = session.live.start(source, source.fps, ticket, beside=others)
        state.driven = {**others, started.stream: character}
    finally:
        # This cannot fail: it never exceeds the reservation above.
        _hold(session, state.driven.values())
    roles = dict(source.skeleton.roles.items())
    return messages.DriveStarted(
        started, roles, message.way, driver.nodes, driver.speed, driver.usual, source.delay, driver.limits,
        driver.can_stop,
    )  # fmt: skip


@command(messages.DriveRequest)
async def drive_request(session: Session, message: messages.DriveRequest) -> Nothing:
    """Set the request. It stays in effect when the controller changes."""
    character = _get_state(session).find(message.stream)
    if character is not None:
        character.request = message
        character.source.request(message)
    return Nothing()


@command(messages.PrepareDrive)
async def prepare_drive(session: Session, message: messages.PrepareDrive) -> Nothing:
    """Load a built-in character in advance, if it is on disk: then it starts at once."""
    await to_thread(import_module, "marey.studio.panels.drive_source")
    from marey.studio.cached_characters import find_cached

    if await to_thread(find_cached, message.name) is not None:
        given = messages.StartDrive(way="character", source="recipe", name=message.name)
        await _load_character(session, _get_state(session), given)
    return Nothing()


@command(messages.CompareDrive)
async def compare_drive(session: Session, message: messages.CompareDrive) -> messages.DriveTable:
    """Measure all controllers with the same clips and the same turns."""
    await to_thread(import_module, "marey.studio.panels.drive_source")
    from marey.studio.panels.drive_source import TURNS, DriveSource, Record, measure_turn

    state, jobs, failed = _get_state(session), session.jobs, {}
    ways = get_args(messages.ControllerKind)
    compared: dict[tuple[messages.ControllerKind, str, float], Record] = {}
    for k, way in enumerate(ways):
        given = messages.StartDrive(way=way, source="clips", motions=message.motions, feet=message.feet)
        start, middle, end = ((k + part) / len(ways) for part in (0.0, 0.5, 1.0))
        try:
            with jobs.part(start, middle, _TITLES[way]):
                driver = await _make_driver(session, state, given)
            record = Record()
            source = await to_thread(DriveSource, driver, record)
            with jobs.part(middle, end, _TITLES[way]):
                for number, turn in enumerate(TURNS):
                    jobs.report_progress(number / len(TURNS), f"turn {number + 1} of {len(TURNS)}")
                    await jobs.run_in_thread(measure_turn, source, driver, turn)
        except Cancelled:
            raise
        except MareyError as problem:
            failed[way] = str(problem)
            continue
        compared[(way, _name_character(session, given), driver.stream.fps)] = record
    state.compared = compared
    return replace(_summarize(state), failed=failed)


@command(messages.DriveStatistics, reads=True)
async def drive_statistics(session: Session, message: messages.DriveStatistics) -> messages.DriveTable:
    """Return the response times of each controller."""
    return _summarize(_get_state(session))


@command(messages.KeepDriven)
def keep_driven(session: Session, message: messages.KeepDriven) -> messages.SavedDrive:
    """Save what was driven so far as a motion."""
    character = _get_state(session).find(message.stream)
    if character is None:
        raise InvalidValue("nothing has been driven yet; press Start first")
    return messages.SavedDrive(session.info(session.motions.add_result(character.source.recording())))


def _summarize(state: DriveState) -> messages.DriveTable:
    driven, compared = (
        tuple(record.summarize(*key) for key, record in records.items()) for records in (state.records, state.compared)
    )
    return messages.DriveTable(driven, compared)


def _hold(session: Session, characters: Iterable[DrivenCharacter]) -> None:
    """Reserve the memory in which characters keep their last frames."""
    session.motions.reserve("driven", sum(each.source.max_bytes for each in characters))


def _move_aside(state: BodyState) -> BodyState:
    """Return the state of the same body, moved to its left, where another character can start."""
    from marey.maths import rigid2d

    aside = rigid2d.compose(state.place, (0.0, _SPACING, 0.0))
    return state._replace(place=aside, root=state.root + [aside[1] - state.place[1], 0.0, aside[2] - state.place[2]])


def _name_character(session: Session, message: messages.StartDrive) -> str:
    """Return the name of the character, or of the clips, that a controller plays."""
    if message.way == "character" and message.source != "clips":
        return message.name or _describe_draft(get_draft(session))[0]
    if message.built:
        return "built graph"
    return f"{len(message.motions)} open clips" if message.motions else "generated walks"


def _find_upper(session: Session, carry: str) -> Motion:
    """Return the clip whose upper body a character takes over."""
    if carry == "sample":
        from marey.samples import sample

        return sample("carry_box").motion
    return session.motions.motion(carry)


def _describe_draft(draft: Draft) -> tuple[str, str]:
    """Return the draft's name ("" if it has no nodes), and the reason why it cannot play ("" if it can)."""
    with draft.lock:
        graph = draft.graph
        stuck = graph.dead_ends()
        if not graph.nodes:
            return "", ""
    names = ", ".join(repr(name) for name in stuck)
    return graph.name, f"dead end: {names}" if stuck else ""


def _get_state(session: Session) -> DriveState:
    return session.state.get_or_create(
        "drive", lambda: DriveState(Models(lambda size: session.motions.reserve("drive models", size)))
    )


async def _make_driver(session: Session, state: DriveState, message: messages.StartDrive) -> Driver:
    from marey.studio.panels import drive_controllers as controllers

    if message.way == "character":
        loaded = await _load_character(session, state, message)
        # Plans are those of the default settings.
        waits = not loaded.is_being_planned or message.character != type(message.character)()
        walker: Driver = await session.jobs.run_in_thread(
            controllers.CharacterDriver, loaded.graph, message.feet, message.character, loaded.limits, waits
        )
        return walker
    if len(message.motions) > _MAX_MOTIONS:
        raise InvalidValue(f"expected up to {_MAX_MOTIONS} motions, got {len(message.motions)}")
    make, settings = {
        "graph": (controllers.GraphDriver, message.graph),
        "matching": (controllers.MatchingDriver, message.matching),
        "tree": (controllers.TreeDriver, message.tree),
    }[message.way]
    model = await _get_model(session, state, message)
    chosen = type(settings)(settings=settings, feet=controllers.FEET[message.feet])
    driver: Driver = await session.jobs.run_in_thread(make, model, chosen)
    return driver


async def _get_model(session: Session, state: DriveState, message: messages.StartDrive) -> Any:
    """Return the model of a controller, from the cache if it was used before."""
    if message.way == "graph" and message.built:
        from marey.graph import MotionGraph

        return await to_thread(MotionGraph.load, await build_current(session))
    key_parts = tuple((each, session.motions.opened(each).now.revision) for each in message.motions)
    key = (message.way, *key_parts)
    if key not in state.models:
        motions = [session.motions.motion(each) for each in message.motions]
        state.models.put(key, await _make_model(session, state, message.way, motions, key_parts))
    return state.models.get(key)


async def _make_model(
    session: Session, state: DriveState, way: messages.ControllerKind, motions: list[Motion], key_parts: tuple[Any, ...]
) -> Any:
    """Build a controller's model. The worker builds graphs and characters; for others, it prepares the clips."""
    if way in ("graph", "character"):
        from marey.graph import MotionGraph
        from marey.pmg import ParametricMotionGraph

        work, suffix = ("graph", ".npz") if way == "graph" else ("parametric", ".json")
        with get_draft(session).file("graph") as place:
            path = place.with_suffix(suffix)
            await session.jobs.run(f"{WORK}:{work}", motions=motions, output=str(path))
            return await to_thread(MotionGraph.load if way == "graph" else ParametricMotionGraph.load, path)
    key = ("clips", *key_parts)
    if key not in state.models:
        state.models.put(key, (await session.jobs.run(f"{WORK}:clips", motions=motions))["clips"])
    from marey.control import BlendTree, MatchingData

    if way == "matching":
        return await to_thread(MatchingData.build, state.models.get(key))
    actions = {} if motions else await to_thread(_sample_actions)
    return await to_thread(partial(BlendTree.from_walks, actions=actions), state.models.get(key))


def _sample_actions() -> dict[str, OneShot]:
    """Return actions of the generated character that a blend tree plays once."""
    from marey.control import OneShot
    from marey.samples import sample

    return {
        "throw": OneShot(sample("throw").motion, joints=["upper"]),
        "fall": OneShot(sample("fall").motion, hold=True),
    }


async def _load_character(session: Session, state: DriveState, message: messages.StartDrive) -> LoadedCharacter:
    from marey.pmg import ParametricMotionGraph

    if message.source == "draft":
        # A copy, because the character must not change while it plays.
        async with get_draft(session).share_file() as given:
            return LoadedCharacter(await to_thread(ParametricMotionGraph.load, given))
    # Cached characters include their plans, which take longest to build.
    if message.source == "clips":
        return LoadedCharacter(await _get_model(session, state, message))
    key: tuple[Any, ...] = ("recipe", message.name)
    if message.source == "file":
        path = find_authored(session.places, message.name, "character")
        key = ("file", path, path.stat().st_mtime_ns)
    # A character that is being loaded in advance is not loaded twice.
    async with state.loading:
        if key not in state.models:
            loaded = (
                await _load_recipe(session, message.name)
                if message.source == "recipe"
                else LoadedCharacter(await to_thread(ParametricMotionGraph.load, path))
            )
            state.models.put(key, loaded)
    found: LoadedCharacter = state.models.get(key)
    return found


async def _load_recipe(session: Session, recipe: str) -> LoadedCharacter:
    """Load a built-in character with its plans. Both are computed once and stored on disk.

    The first time it starts without plans: directions take a moment, and points are planned while it walks.
    """
    from marey.pmg import ParametricMotionGraph
    from marey.studio.cached_characters import read_plans, remove

    path = await recipe_file(session, recipe)
    try:
        graph = await to_thread(ParametricMotionGraph.load, path)
    except FileError:  # damaged on disk
        await to_thread(remove, recipe)
        path = await recipe_file(session, recipe)
        graph = await to_thread(ParametricMotionGraph.load, path)
    limits = await to_thread(read_plans, graph, path)
    session.jobs.report_progress(0.9, "preparing to steer")
    if limits is None:
        session.shared.run_later(_plan(session.shared.later, graph, path))
    return LoadedCharacter(graph, limits, limits is None)


async def _plan(jobs: Jobs, graph: ParametricMotionGraph, path: Path) -> None:
    """Write the plans of a character next to its file, and let the character use them."""
    from marey.studio.cached_characters import read_plans

    if await to_thread(read_plans, graph, path) is None:
        await jobs.run(f"{WORK}:plan", path=str(path))
        await to_thread(read_plans, graph, path)
