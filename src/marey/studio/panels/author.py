"""Author: nodes and edges of a parametric motion graph, and the examples of a gaze map, with what they cost."""

from __future__ import annotations

import asyncio
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING

from marey.errors import InvalidValue, MareyWarning, NoResult
from marey.studio.messages import MotionInfo
from marey.studio.panels.author_files import checked_name, find_authored, list_authored, opened_folder, take_into
from marey.studio.panels.author_messages import (
    AddGait,
    AddLook,
    AddPart,
    AimedGaze,
    AimGaze,
    Character,
    CompareNodes,
    ConnectNodes,
    CostChart,
    Disconnect,
    GazeChart,
    GazeCosts,
    ListSources,
    LoadCharacter,
    MakeMotion,
    NewCharacter,
    RecipeInfo,
    RemoveLook,
    RemoveNode,
    SaveAuthored,
    SavedAuthored,
    ShowCharacter,
    ShowGaze,
    Sources,
    TriedEdge,
    TryEdge,
    UseRecipe,
    WalkCharacter,
)
from marey.studio.panels.author_state import (
    WORK,
    chart_of,
    check_order,
    draft_of,
    gaze_told,
    recipe_file,
    stuck_note,
    told,
    tried,
)
from marey.studio.panels.made_anew import put_anew
from marey.studio.panels.page_words import page_words
from marey.studio.registry import command

if TYPE_CHECKING:
    from pathlib import Path

    from marey.layer import GazeMap
    from marey.studio.panels.author_state import Draft
    from marey.studio.session import Session

# Motions that a node is made of, samples that are compared, and seconds of a random walk: at the most.
_MOST_MOTIONS, _MOST_SAMPLES, _LONGEST = 200, 1_000, 600.0


# --- Nodes


@command(ShowCharacter, reads=True)
def show_character(session: Session, message: ShowCharacter) -> Character:
    """The character as it stands."""
    return told(draft_of(session))


@command(ListSources, reads=True)
def list_sources(session: Session, message: ListSources) -> Sources:
    """Recipes and files."""
    from marey.pmg import read_recipe, shipped_recipes

    recipes = tuple(
        RecipeInfo(name, about, tuple(node.name for node in read_recipe(name).nodes))
        for name, about in shipped_recipes().items()
    )
    return Sources(recipes, list_authored(session.places))


@command(NewCharacter)
def new_character(session: Session, message: NewCharacter) -> Character:
    """Begin anew."""
    from marey.pmg import ParametricMotionGraph

    draft = draft_of(session)
    draft.put(ParametricMotionGraph(checked_name(message.name), length=message.length))
    return told(draft)


@command(UseRecipe)
async def use_recipe(session: Session, message: UseRecipe) -> Character:
    """A whole recipe in place of the character, or some of its nodes."""
    draft = draft_of(session)
    if not message.nodes:
        path = await recipe_file(session, message.recipe)
        await asyncio.to_thread(_put_file, draft, path)
    else:
        with draft.file("nodes") as path:
            nodes = list(message.nodes)
            await session.jobs.run(f"{WORK}:recipe", recipe=message.recipe, into=str(path), nodes=nodes)
            await asyncio.to_thread(_add_from, draft, path, message.nodes)
    return await asyncio.to_thread(told, draft)


@command(AddGait)
async def add_gait(session: Session, message: AddGait) -> Character:
    """A node of gait cycles."""
    draft = draft_of(session)
    if not 1 <= len(message.motions) <= _MOST_MOTIONS:
        raise InvalidValue(f"a node is made of 1 to {_MOST_MOTIONS} motions, got {len(message.motions)}; choose some")
    name = _free_name(draft, message.name)
    with draft.file("node") as path:
        done = await session.jobs.run(
            f"{WORK}:gait",
            motions=[session.motions.motion(each) for each in message.motions],
            name=name,
            speed=message.speed,
            mirror=message.mirror,
            into=str(path),
        )
        await asyncio.to_thread(_add_from, draft, path, (name,))
    note = f"{name!r} is made of {done['cycles']} gait cycles."
    return await asyncio.to_thread(told, draft, note)


@command(AddPart)
def add_part(session: Session, message: AddPart) -> Character:
    """A part of a node."""
    draft = draft_of(session)
    with draft.lock:
        n = draft.graph.node(message.of).n_dims
        if len(message.low) != n or len(message.high) != n:
            raise InvalidValue(
                f"{message.of!r} has {n} parameters, got {len(message.low)} and {len(message.high)} ends"
            )
        draft.graph.restrict(_free_name(draft, message.name), message.of, message.low, message.high)
    return told(draft)


@command(RemoveNode)
def remove_node(session: Session, message: RemoveNode) -> Character:
    """A node, gone."""
    draft = draft_of(session)
    with draft.lock:
        draft.graph.remove(message.name)
    return told(draft)


@command(MakeMotion)
def make_motion(session: Session, message: MakeMotion) -> MotionInfo:
    """What a node does for some parameters."""
    node = draft_of(session).graph.node(message.node)
    made = node.motion(message.parameters)
    shown = put_anew(session, message.result, replace(made, name=node.name), "made anew", message.go_on)
    return session.info(shown)


# --- Edges


@command(CompareNodes)
async def compare_nodes(session: Session, message: CompareNodes) -> CostChart:
    """The costs of all pairs of some samples."""
    from marey.pmg import Compared

    draft = draft_of(session)
    for value in (message.n_source, message.n_target):
        if not 2 <= value <= _MOST_SAMPLES:
            raise InvalidValue(f"expected 2 to {_MOST_SAMPLES} samples of each node, got {value}")
    source, target = draft.graph.node(message.source), draft.graph.node(message.target)
    async with draft.handed() as character:
        found = await session.jobs.run(
            f"{WORK}:compare",
            character=character,
            source=message.source,
            target=message.target,
            n_source=message.n_source,
            n_target=message.n_target,
        )
    compared = Compared(**found)
    with draft.lock:
        draft.compared[message.source, message.target] = source, target, compared
    return await asyncio.to_thread(chart_of, source, target, compared)


@command(TryEdge, reads=True)
def try_edge(session: Session, message: TryEdge) -> TriedEdge:
    """What thresholds would do."""
    pair = draft_of(session).pair(message.source, message.target)
    return tried(*pair, message.good, message.bad, message.sample)


@command(ConnectNodes)
def connect_nodes(session: Session, message: ConnectNodes) -> Character:
    """An edge of nodes that were compared."""
    draft = draft_of(session)
    with draft.lock:
        source, target, compared = draft.pair(message.source, message.target)
        check_order(message.good, message.bad)
        part = None if message.part is None else _free_name(draft, message.part)
        try:
            edge = draft.graph.connect(
                message.source, message.target, good=message.good, bad=message.bad, part=part, compared=compared
            )
        except NoResult:
            if not (compared.costs.min(axis=1) > message.good).any():
                raise
            none = "" if part is None else "No part was found all of whose motions have a way on. "
            raise NoResult(none + stuck_note(source, target, compared, message.good)) from None
        note = _connected(draft, edge.source, edge.target, message.source)
    return told(draft, note)


@command(Disconnect)
def disconnect(session: Session, message: Disconnect) -> Character:
    """An edge, gone."""
    draft = draft_of(session)
    with draft.lock:
        draft.graph.disconnect(message.source, message.target)
    return told(draft)


@command(WalkCharacter)
async def walk_character(session: Session, message: WalkCharacter) -> MotionInfo:
    """The character, going about by chance."""
    if not 1.0 <= message.seconds <= _LONGEST:
        raise InvalidValue(f"expected 1 to {_LONGEST:g} s, got {message.seconds:g}")
    async with draft_of(session).handed() as character:
        done = await session.jobs.run(f"{WORK}:walk", character=character, seconds=message.seconds, seed=message.seed)
    return session.info(session.motions.add_made(done["motion"]))


# --- Files


@command(SaveAuthored)
def save_authored(session: Session, message: SaveAuthored) -> SavedAuthored:
    """The character or the gaze map into the folder."""
    draft = draft_of(session)
    opened_folder(session.places)
    name = checked_name(message.name)
    with draft.file(name) as path, draft.lock:
        before = draft.graph.name
        if message.kind == "gaze":
            _gaze_of(draft).save(path)
        else:
            if not draft.graph.nodes:
                raise InvalidValue("the character has no nodes yet, so there is nothing to save")
            draft.graph.name = name
        try:
            if message.kind == "character":
                draft.graph.save(path)
            return SavedAuthored(take_into(session.places, path, kind=message.kind, replace=message.replace))
        except Exception:
            draft.graph.name = before
            raise


@command(LoadCharacter)
def load_character(session: Session, message: LoadCharacter) -> Character:
    """A character of the folder."""
    draft = draft_of(session)
    _put_file(draft, find_authored(session.places, message.path, "character"))
    return told(draft)


# --- Gaze


@command(ShowGaze)
def show_gaze(session: Session, message: ShowGaze) -> GazeChart:
    """A gaze map."""
    from marey.layer import GazeMap

    draft = draft_of(session)
    if message.path is not None:
        _set_gaze(draft, GazeMap.load(find_authored(session.places, message.path, "gaze")))
    elif message.shipped or draft.gaze is None:
        _set_gaze(draft, GazeMap.default())
    return gaze_told(_gaze_of(draft), draft.costs)


@command(GazeCosts)
async def gaze_costs(session: Session, message: GazeCosts) -> GazeChart:
    """What each example costs."""
    draft = draft_of(session)
    gaze = _gaze_of(draft)
    with draft.file("gaze") as path:
        await asyncio.to_thread(gaze.save, path)
        done = await session.jobs.run(f"{WORK}:gaze", path=str(path))
    if draft.gaze is gaze:
        draft.costs = tuple(done["costs"])
    return gaze_told(gaze, tuple(done["costs"]))


@command(AddLook)
def add_look(session: Session, message: AddLook) -> GazeChart:
    """One more example, from a motion."""
    from marey.layer import GazeMap, gaze_example

    draft = draft_of(session)
    motion = session.motions.motion(message.motion)
    with page_words(), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", MareyWarning)
        goal = (message.yaw, message.pitch)
        example = gaze_example(motion, goal, start=message.start, stop=message.stop)
        gaze = _gaze_of(draft)
        _set_gaze(draft, GazeMap.build([*gaze.examples, example], k=gaze.k))
    return gaze_told(_gaze_of(draft), None, _sentences(said))


@command(RemoveLook)
def remove_look(session: Session, message: RemoveLook) -> GazeChart:
    """One example less."""
    from marey.layer import GazeMap

    draft = draft_of(session)
    gaze = _gaze_of(draft)
    if not 1 <= message.example < len(gaze.examples):
        raise InvalidValue(
            f"expected an example from 1 to {len(gaze.examples) - 1}, got {message.example}; the first, which looks "
            "ahead, stays"
        )
    kept = [each for k, each in enumerate(gaze.examples) if k != message.example]
    _set_gaze(draft, GazeMap.build(kept, k=gaze.k))
    return gaze_told(_gaze_of(draft), None)


@command(AimGaze)
def aim_gaze(session: Session, message: AimGaze) -> AimedGaze:
    """A motion that looks where it is told to."""
    motion = session.motions.motion(message.motion)
    goals = [(0.5 * motion.duration, message.yaw, message.pitch)]
    with page_words(), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", MareyWarning)
        made = _gaze_of(draft_of(session)).apply(motion, goals)
    made = replace(made, name=f"{motion.name} (looking)")
    shown = put_anew(session, message.result, made, "made anew", False, message.motion)
    return AimedGaze(session.info(shown), _sentences(said))


def _put_file(draft: Draft, path: Path) -> None:
    from marey.pmg import ParametricMotionGraph

    draft.put(ParametricMotionGraph.load(path))


def _add_from(draft: Draft, path: Path, names: tuple[str, ...]) -> None:
    """Add nodes of a character in a file; all of them, or none where one does not fit."""
    from marey.pmg import ParametricMotionGraph

    given = ParametricMotionGraph.load(path)
    with draft.lock:
        for name in names:
            _free_name(draft, name)
        added: list[str] = []
        try:
            for name in names:
                node = given.node(name)
                draft.graph.add(name, node.space, request=node.request, low=node.low, high=node.high)
                added.append(name)
        except Exception:
            for name in added:
                draft.graph.remove(name)
            raise


def _free_name(draft: Draft, name: str) -> str:
    if name in draft.graph.nodes:
        raise InvalidValue(f"there is a node {name!r} already; choose another name")
    return checked_name(name)


def _connected(draft: Draft, source: str, target: str, asked: str) -> str:
    """What an edge has changed, and what the whole of a node still lacks where only a part was connected."""
    made = f"Made {source!r} → {target!r}"
    if source == asked:
        return f"{made}."
    leads = any(each == asked for each, _ in draft.graph.edges)
    return f"{made}, of the part of {asked!r} that can{'' if leads else f'; {asked!r} itself still leads nowhere'}."


def _gaze_of(draft: Draft) -> GazeMap:
    if draft.gaze is None:
        raise InvalidValue("no gaze map is open yet; take the shipped one, or load one")
    return draft.gaze


def _set_gaze(draft: Draft, gaze: GazeMap) -> None:
    draft.gaze, draft.costs = gaze, None


def _sentences(said: list[warnings.WarningMessage]) -> str:
    """What was warned of, each once, as sentences."""
    texts = dict.fromkeys(str(each.message) for each in said if issubclass(each.category, MareyWarning))
    return " ".join(f"{text[:1].upper()}{text[1:]}." for text in texts)
