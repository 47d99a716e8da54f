"""Drive: a figure that goes where a person wants it to, in one way or another, while it plays."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from marey.errors import InvalidValue
from marey.studio.messages import Nothing
from marey.studio.panels.author_files import find_authored, list_authored
from marey.studio.panels.author_state import WORK, draft_of, recipe_file
from marey.studio.panels.drive_messages import (
    DriveChoices,
    DriveFigures,
    DriveRecipe,
    DriveStarted,
    DriveTable,
    DriveWish,
    KeepDriven,
    Kept,
    ListDrive,
    StartDrive,
    Way,
)
from marey.studio.panels.drive_models import Models
from marey.studio.registry import command

if TYPE_CHECKING:
    from marey.core.motion import Motion
    from marey.studio.panels.author_state import Draft
    from marey.studio.panels.drive_response import Record
    from marey.studio.panels.drive_source import DriveSource
    from marey.studio.panels.drive_ways import Driver
    from marey.studio.session import Session

# Motions that are driven with, and seconds that can be kept.
_MOST_MOTIONS, _LONGEST = 100, 60.0


@dataclass(slots=True, eq=False)
class Driving:
    """What the panel keeps: models by what they are made of, the source that plays, the wish, and all answers."""

    models: Models
    source: DriveSource | None = None
    wish: DriveWish = field(default_factory=DriveWish)
    records: dict[Way, Record] = field(default_factory=dict)


@command(ListDrive, reads=True)
def list_drive(session: Session, message: ListDrive) -> DriveChoices:
    """What can be driven."""
    from marey.pmg import shipped_recipes

    recipes = tuple(DriveRecipe(name, about) for name, about in shipped_recipes().items())
    files = tuple(each.path for each in list_authored(session.places) if each.kind == "character")
    return DriveChoices(recipes, files, *_draft(draft_of(session)))


@command(StartDrive)
async def start_drive(session: Session, message: StartDrive) -> DriveStarted:
    """Make what is driven, and play it from where the figure before stands."""
    turn = session.live.turn()
    state = _driving(session)
    # It takes half a second to import: on a thread, so that no other page waits for it.
    await asyncio.to_thread(import_module, "marey.studio.panels.drive_source")
    from marey.studio.panels.drive_response import Record
    from marey.studio.panels.drive_source import DriveSource

    driver = await _driver(session, state, message)
    record = state.records.setdefault(message.way, Record())
    source = await asyncio.to_thread(DriveSource, driver, record)
    # From here on in one go: the figure before must not take another step.
    if message.stay and state.source is not None:
        source.go_on_from(state.source.stood)
    source.wish(state.wish)
    held = 0 if state.source is None else state.source.most_bytes
    session.motions.hold("driven", max(held, source.most_bytes))
    try:
        started = session.live.start(source, source.fps, turn)
        state.source, held = source, source.most_bytes
    finally:
        # Never more than what is counted already, so that it cannot be refused.
        session.motions.hold("driven", held)
    roles = dict(source.skeleton.roles.items())
    return DriveStarted(started, roles, message.way, driver.nodes, driver.speed, driver.usual, source.delay)


@command(DriveWish)
async def drive_wish(session: Session, message: DriveWish) -> Nothing:
    """What is wished from now on; it stays when the way is changed."""
    state = _driving(session)
    state.wish = message
    if state.source is not None:
        state.source.wish(message)
    return Nothing()


@command(DriveFigures, reads=True)
async def drive_figures(session: Session, message: DriveFigures) -> DriveTable:
    """How the ways have done."""
    return DriveTable(tuple(record.told(way) for way, record in _driving(session).records.items()))


@command(KeepDriven)
def keep_driven(session: Session, message: KeepDriven) -> Kept:
    """The last seconds as a motion."""
    state = _driving(session)
    if state.source is None:
        raise InvalidValue("nothing has been driven yet; start first")
    if not 0.0 < message.seconds <= _LONGEST:
        raise InvalidValue(f"up to {_LONGEST:g} s are kept, got {message.seconds:g}")
    return Kept(session.info(session.motions.add_made(state.source.keep(message.seconds))))


def _draft(draft: Draft) -> tuple[str, str]:
    """The name of what Author has, "" where it has nothing, and why it cannot play, "" where it can."""
    with draft.lock:
        graph = draft.graph
        stuck = graph.dead_ends()
        if not graph.nodes:
            return "", ""
    names = ", ".join(repr(name) for name in stuck)
    return graph.name, f"no way goes on for ever from {names}" if stuck else ""


def _driving(session: Session) -> Driving:
    return session.kept.once("drive", lambda: Driving(Models(lambda size: session.motions.hold("drive models", size))))


async def _driver(session: Session, state: Driving, message: StartDrive) -> Driver:
    from marey.studio.panels import drive_ways as ways

    if message.way == "character":
        graph = await _character(session, state, message)
        walker: Driver = await session.jobs.here(ways.CharacterDriver, graph, message.feet)
        return walker
    if len(message.motions) > _MOST_MOTIONS:
        raise InvalidValue(f"up to {_MOST_MOTIONS} motions can be driven with, got {len(message.motions)}")
    made_of = tuple((each, session.motions.opened(each).now.revision) for each in message.motions)
    key = (message.way, *made_of)
    if key not in state.models:
        motions = [session.motions.motion(each) for each in message.motions]
        state.models.put(key, await _model(session, state, message.way, motions, made_of))
    model = state.models.get(key)
    made = {"graph": ways.GraphDriver, "matching": ways.MatchingDriver, "tree": ways.TreeDriver}[message.way]
    driver: Driver = await session.jobs.here(made, model, message.feet)
    return driver


async def _model(session: Session, state: Driving, way: Way, motions: list[Motion], made_of: tuple[Any, ...]) -> Any:
    """What a way plays: a graph that the worker has built, or what is quickly made of clips that it has readied."""
    from marey.studio.panels import drive_ways as ways

    if way == "graph":
        from marey.graph import MotionGraph

        with draft_of(session).file("graph") as place:
            path = place.with_suffix(".npz")
            await session.jobs.run(f"{WORK}:graph", motions=motions, into=str(path))
            return await asyncio.to_thread(MotionGraph.load, path)
    key = ("clips", *made_of)
    if key not in state.models:
        state.models.put(key, (await session.jobs.run(f"{WORK}:clips", motions=motions))["clips"])
    make: Callable[..., Any] = ways.make_data if way == "matching" else ways.make_tree
    return await asyncio.to_thread(make, state.models.get(key))


async def _character(session: Session, state: Driving, message: StartDrive) -> Any:
    from marey.pmg import ParametricMotionGraph

    if message.source == "draft":
        # A copy: what is played must not change under the stream's feet.
        async with draft_of(session).handed() as given:
            return await asyncio.to_thread(ParametricMotionGraph.load, given)
    # What is kept has its plans with it, which take longer to make than anything else.
    key: tuple[Any, ...] = ("recipe", message.name)
    if message.source == "file":
        path = find_authored(session.places, message.name, "character")
        key = ("file", path, path.stat().st_mtime_ns)
    if key not in state.models:
        if message.source == "recipe":
            path = await recipe_file(session, message.name)
        state.models.put(key, await asyncio.to_thread(ParametricMotionGraph.load, path))
    return state.models.get(key)
