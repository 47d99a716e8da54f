"""Characters panel: edit the nodes and transitions of a parametric motion graph, and the examples of a gaze map."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from marey.errors import InvalidValue, NoResult, collect_warnings
from marey.io.folder import copy_file
from marey.studio.forms import word_text
from marey.studio.messages import Download, MotionInfo
from marey.studio.panels import author_messages as messages
from marey.studio.panels.author_files import (
    check_name,
    copy_into_folder,
    find_authored,
    find_recipe,
    get_open_folder,
    list_authored,
    list_recipes,
)
from marey.studio.panels.author_state import (
    WORK,
    check_order,
    describe_character,
    describe_gaze,
    get_draft,
    make_chart,
    recipe_file,
    stuck_note,
    try_thresholds,
)
from marey.studio.panels.find_state import copy_saved, list_saved
from marey.studio.panels.replace_result import replace_result
from marey.studio.registry import command
from marey.studio.threads import to_thread

if TYPE_CHECKING:
    from marey.layer import GazeMap
    from marey.studio.panels.author_state import Draft
    from marey.studio.session import Session

# Limits: motions of a node, compared samples, seconds of a random walk.
_MAX_MOTIONS, _MAX_SAMPLES, _MAX_LENGTH = 200, 1_000, 600.0


# --- Nodes


@command(messages.ShowCharacter, reads=True)
def show_character(session: Session, message: messages.ShowCharacter) -> messages.Character:
    """Return the current character."""
    return describe_character(get_draft(session))


@command(messages.RestoreCharacter)
def restore_character(session: Session, message: messages.RestoreCharacter) -> messages.Character:
    """Restore a state of the character."""
    draft = get_draft(session)
    draft.restore(message.version)
    return describe_character(draft)


@command(messages.ListSources, reads=True)
def list_sources(session: Session, message: messages.ListSources) -> messages.Sources:
    """List the built-in recipes and the files in the folder."""
    from marey.pmg import read_recipe, shipped_recipes

    recipes = tuple(
        messages.RecipeInfo(name, about, tuple(node.name for node in read_recipe(name).nodes))
        for name, about in shipped_recipes().items()
    )
    spaces = tuple(each.path for each in list_saved(session.places) if each.kind == "space")
    return messages.Sources(recipes, list_authored(session.places), spaces, list_recipes(session.places))


@command(messages.NewCharacter)
def new_character(session: Session, message: messages.NewCharacter) -> messages.Character:
    """Start a new character."""
    from marey.pmg import ParametricMotionGraph

    draft = get_draft(session)
    draft.put(ParametricMotionGraph(check_name(message.name), **message.settings.to_dict()))
    return describe_character(draft)


@command(messages.UseRecipe)
async def use_recipe(session: Session, message: messages.UseRecipe) -> messages.Character:
    """Replace the character with a recipe, or add some of the recipe's nodes."""
    draft = get_draft(session)
    if not message.nodes:
        path = await recipe_file(session, message.recipe)
        await to_thread(_put_file, draft, path)
        draft.recipe = (await to_thread(recipe_text, message.recipe), "")
    else:
        with draft.file("nodes") as path:
            nodes = list(message.nodes)
            await session.jobs.run(f"{WORK}:recipe", recipe=message.recipe, output=str(path), nodes=nodes)
            await to_thread(_add_from, draft, path, message.nodes)
    return await to_thread(describe_character, draft)


@command(messages.AddGait)
async def add_gait(session: Session, message: messages.AddGait) -> messages.Character:
    """Add a node of gait cycles."""
    draft = get_draft(session)
    if not 1 <= len(message.motions) <= _MAX_MOTIONS:
        raise InvalidValue(
            f"a gait node needs 1 to {_MAX_MOTIONS} clips, got {len(message.motions)}; "
            f"select {'fewer' if message.motions else 'more'} clips"
        )
    name = _free_name(draft, message.name)
    with draft.file("node") as path:
        done = await session.jobs.run(
            f"{WORK}:gait",
            motions=[session.motions.motion(each) for each in message.motions],
            name=name,
            settings={"parameters": ["turn", "speed"][: 1 + message.speed], **message.settings.to_dict()},
            output=str(path),
        )
        await to_thread(_add_from, draft, path, (name,))
    note = f"{name!r} was built from {done['cycles']} gait cycles."
    return await to_thread(describe_character, draft, note)


@command(messages.AddAction)
async def add_action(session: Session, message: messages.AddAction) -> messages.Character:
    """Add a node of single actions."""
    draft = get_draft(session)
    if not message.path and not 2 <= len(message.motions) <= _MAX_MOTIONS:
        raise InvalidValue(
            f"an action node needs 2 to {_MAX_MOTIONS} clips, got {len(message.motions)}; "
            f"select {'fewer' if message.motions[2:] else 'more'} clips"
        )
    name = _free_name(draft, message.name)
    with draft.file("node") as path:
        space = str(path.with_name("space.npz")) if message.path else ""
        if message.path:
            await to_thread(copy_saved, session.places, message.path, "space", space)
        done = await session.jobs.run(
            f"{WORK}:action",
            motions=[] if space else [session.motions.motion(each) for each in message.motions],
            space=space, name=name, feature=message.feature, at_point=message.at_point, output=str(path),
        )  # fmt: skip
        await to_thread(_add_from, draft, path, (name,))
    return await to_thread(describe_character, draft, f"{name!r} was built from {done['examples']} examples.")


@command(messages.OpenRecipe)
async def open_recipe(session: Session, message: messages.OpenRecipe) -> messages.Character:
    """Build the character of a recipe in the folder."""
    draft = get_draft(session)
    recipe = await to_thread(find_recipe, session.places, message.path)
    with draft.file("recipe") as path:
        await session.jobs.run(f"{WORK}:recipe", recipe=str(recipe), output=str(path))
        await to_thread(_put_file, draft, path)
    draft.recipe = (recipe.read_text(encoding="utf-8"), message.path.rpartition("/")[0])
    return await to_thread(describe_character, draft)


@command(messages.SaveRecipe)
def save_recipe(session: Session, message: messages.SaveRecipe) -> messages.SavedAuthored:
    """Save the recipe of the character to the folder."""
    draft = get_draft(session)
    text, place = draft.recipe
    if not text:
        raise NoResult("this character was not built from a recipe; start from a built-in character or a .toml file")
    name = f"{check_name(message.name)}.toml"
    path = get_open_folder(session.places).inside(f"{place}/{name}" if place else name)
    with draft.file("recipe") as temporary:
        temporary.write_text(text, encoding="utf-8")
        try:
            copy_file(temporary, path, replace=message.replace)
        except FileExistsError:
            raise InvalidValue(f"{name} already exists; check “Overwrite”, or choose another name") from None
    return messages.SavedAuthored((name,))


@command(messages.AddPart)
def add_part(session: Session, message: messages.AddPart) -> messages.Character:
    """Add a sub-range of a node as a new node."""
    draft = get_draft(session)
    with draft.lock:
        n = draft.graph[message.of].n_dims
        if len(message.low) != n or len(message.high) != n:
            raise InvalidValue(
                f"{message.of!r} has {n} parameters, got {len(message.low)} minima and {len(message.high)} maxima"
            )
        draft.graph.restrict(_free_name(draft, message.name), message.of, message.low, message.high)
    return describe_character(draft)


@command(messages.RemoveNode)
def remove_node(session: Session, message: messages.RemoveNode) -> messages.Character:
    """Remove a node."""
    draft = get_draft(session)
    with draft.lock:
        draft.graph.remove(message.name)
    return describe_character(draft)


@command(messages.MakeMotion)
def make_motion(session: Session, message: messages.MakeMotion) -> MotionInfo:
    """Generate the motion of a node for given parameters."""
    node = get_draft(session).graph[message.node]
    motion = node.motion(message.parameters)
    shown = replace_result(session, message.result, replace(motion, name=node.name), "updated", message.merge_undo)
    return session.info(shown)


# --- Edges


@command(messages.CompareNodes)
async def compare_nodes(session: Session, message: messages.CompareNodes) -> messages.CostChart:
    """Compute the transition costs between samples of two nodes."""
    from marey.pmg import NodeComparison

    draft = get_draft(session)
    settings = message.settings
    if max(settings.n_source, settings.n_target) > _MAX_SAMPLES:
        raise InvalidValue(f"expected at most {_MAX_SAMPLES} samples of each node")
    source, target = draft.graph[message.source], draft.graph[message.target]
    async with draft.share_file() as character:
        found = await session.jobs.run(
            f"{WORK}:compare", character=character, ends=(source.name, target.name), settings=settings.to_dict()
        )
    comparison = NodeComparison(**found)
    with draft.lock:
        draft.comparisons[message.source, message.target] = source, target, comparison
    return await to_thread(make_chart, source, target, comparison)


@command(messages.TryEdge, reads=True)
def try_edge(session: Session, message: messages.TryEdge) -> messages.TriedEdge:
    """Preview the effect of thresholds on a transition."""
    pair = get_draft(session).pair(message.source, message.target)
    return try_thresholds(*pair, message.good, message.bad, message.sample)


@command(messages.ConnectNodes)
def connect_nodes(session: Session, message: messages.ConnectNodes) -> messages.Character:
    """Connect two nodes that have been compared."""
    draft = get_draft(session)
    with draft.lock:
        source, target, comparison = draft.pair(message.source, message.target)
        check_order(message.good, message.bad)
        part = None if message.part is None else _free_name(draft, message.part)
        try:
            edge = draft.graph.connect(
                message.source, message.target, good=message.good, bad=message.bad, part=part, compared=comparison
            )
        except NoResult:
            if not (comparison.costs.min(axis=1) > message.good).any():
                raise
            none = "" if part is None else "No sub-range was found in which all motions can continue. "
            raise NoResult(none + stuck_note(source, target, comparison, message.good)) from None
        note = _connection_note(draft, edge.source, edge.target, message.source)
    return describe_character(draft, note)


@command(messages.Disconnect)
def disconnect(session: Session, message: messages.Disconnect) -> messages.Character:
    """Remove a transition."""
    draft = get_draft(session)
    with draft.lock:
        draft.graph.disconnect(message.source, message.target)
    return describe_character(draft)


@command(messages.WalkCharacter)
async def walk_character(session: Session, message: messages.WalkCharacter) -> MotionInfo:
    """Generate a random walk of the character."""
    if not 1.0 <= message.seconds <= _MAX_LENGTH:
        raise InvalidValue(f"expected 1 to {_MAX_LENGTH:g} s, got {message.seconds:g}")
    async with get_draft(session).share_file() as character:
        done = await session.jobs.run(
            f"{WORK}:walk", character=character, seconds=message.seconds, seed=message.seed,
            settings=message.settings.to_dict(),
        )  # fmt: skip
    return session.info(session.motions.add_result(done["motion"]))


# --- Files


@command(messages.SaveAuthored)
def save_authored(session: Session, message: messages.SaveAuthored) -> messages.SavedAuthored:
    """Save the character or the gaze map to the folder."""
    draft = get_draft(session)
    get_open_folder(session.places)
    name = check_name(message.name)
    with draft.file(name) as path, draft.lock:
        before = draft.graph.name
        if message.kind == "gaze":
            _get_gaze(draft).save(path)
        else:
            if not draft.graph.nodes:
                raise InvalidValue("the character has no nodes yet; add one before saving")
            draft.graph.name = name
        try:
            if message.kind == "character":
                draft.graph.save(path)
            return messages.SavedAuthored(
                copy_into_folder(session.places, path, kind=message.kind, replace=message.replace)
            )
        except Exception:
            draft.graph.name = before
            raise


@command(messages.ExportCharacter)
async def export_character(session: Session, message: messages.ExportCharacter) -> messages.ExportedCharacter:
    """Prepare the files of an exported character for download."""
    places = session.places
    path = places.exports / f"{check_name(message.name)}.{message.format}"
    async with get_draft(session).share_file() as character:
        done = await session.jobs.run(
            f"{WORK}:export",
            character=character,
            name=message.name,
            path=str(path),
            settings=message.settings.to_dict(),
        )
    files = [Path(each) for each in done["files"]]
    offered = tuple(Download(places.offer(each), each.name, each.stat().st_size) for each in files)
    return messages.ExportedCharacter(offered, done["clips"])


@command(messages.LoadCharacter)
def load_character(session: Session, message: messages.LoadCharacter) -> messages.Character:
    """Load a character from the folder."""
    draft = get_draft(session)
    _put_file(draft, find_authored(session.places, message.path, "character"))
    return describe_character(draft)


# --- Gaze


@command(messages.ShowGaze)
def show_gaze(session: Session, message: messages.ShowGaze) -> messages.GazeChart:
    """Show a gaze map."""
    from marey.layer import GazeMap

    draft = get_draft(session)
    if message.path is not None:
        _set_gaze(draft, GazeMap.load(find_authored(session.places, message.path, "gaze")))
    elif message.shipped or draft.gaze is None:
        _set_gaze(draft, GazeMap.default())
    return describe_gaze(_get_gaze(draft), draft.costs)


@command(messages.GazeCosts)
async def gaze_costs(session: Session, message: messages.GazeCosts) -> messages.GazeChart:
    """Compute the leave-one-out error of each example of the gaze map."""
    draft = get_draft(session)
    gaze = _get_gaze(draft)
    with draft.file("gaze") as path:
        await to_thread(gaze.save, path)
        done = await session.jobs.run(f"{WORK}:gaze", path=str(path))
    if draft.gaze is gaze:
        draft.costs = tuple(done["costs"])
    return describe_gaze(gaze, tuple(done["costs"]))


@command(messages.AddLook)
def add_look(session: Session, message: messages.AddLook) -> messages.GazeChart:
    """Add an example to the gaze map, from a motion."""
    from marey.layer import gaze_example

    draft = get_draft(session)
    motion = session.motions.motion(message.motion)
    with collect_warnings() as said:
        goal = (message.yaw, message.pitch)
        example = gaze_example(motion, goal, settings=message.settings)
        gaze = _get_gaze(draft)
        _set_gaze(draft, gaze.with_examples([*gaze.examples, example]))
    return describe_gaze(_get_gaze(draft), None, _join_sentences(said))


@command(messages.RemoveLook)
def remove_look(session: Session, message: messages.RemoveLook) -> messages.GazeChart:
    """Remove an example from the gaze map."""
    draft = get_draft(session)
    gaze = _get_gaze(draft)
    if not 1 <= message.example < len(gaze.examples):
        raise InvalidValue(
            f"expected an example from 1 to {len(gaze.examples) - 1}, got {message.example}; the first, which looks "
            "straight ahead, cannot be removed"
        )
    examples = [each for k, each in enumerate(gaze.examples) if k != message.example]
    _set_gaze(draft, gaze.with_examples(examples))
    return describe_gaze(_get_gaze(draft), None)


@command(messages.AimGaze)
def aim_gaze(session: Session, message: messages.AimGaze) -> messages.AimedGaze:
    """Make a motion look in a given direction."""
    motion = session.motions.motion(message.motion)
    goals = [(0.5 * motion.duration, message.yaw, message.pitch)]
    with collect_warnings() as said:
        result = _get_gaze(get_draft(session)).apply(motion, goals)
    result = replace(result, name=f"{motion.name} (looking)")
    shown = replace_result(session, message.result, result, "updated", False, message.motion)
    return messages.AimedGaze(session.info(shown), _join_sentences(said))


def recipe_text(name: str) -> str:
    """Return the text of a built-in recipe."""
    from importlib import resources

    return (resources.files("marey.pmg") / "recipes" / f"{name}.toml").read_text(encoding="utf-8")


def _put_file(draft: Draft, path: Path) -> None:
    from marey.pmg import ParametricMotionGraph

    draft.put(ParametricMotionGraph.load(path))


def _add_from(draft: Draft, path: Path, names: tuple[str, ...]) -> None:
    """Add nodes from a character file: all of them, or none if one cannot be added."""
    from marey.pmg import ParametricMotionGraph

    given = ParametricMotionGraph.load(path)
    with draft.lock:
        for name in names:
            _free_name(draft, name)
        added: list[str] = []
        try:
            for name in names:
                node = given[name]
                draft.graph.add(name, node.space, request=node.request, low=node.low, high=node.high)
                added.append(name)
        except Exception:
            for name in added:
                draft.graph.remove(name)
            raise


def _free_name(draft: Draft, name: str) -> str:
    if name in draft.graph.nodes:
        raise InvalidValue(f"a node named {name!r} already exists; choose another name")
    return check_name(name)


def _connection_note(draft: Draft, source: str, target: str, asked: str) -> str:
    """Describe a new transition, and warn if only a sub-range of the node was connected."""
    text = f"Connected {source!r} → {target!r}"
    if source == asked:
        return f"{text}."
    leads = any(each == asked for each, _ in draft.graph.edges)
    rest = "" if leads else f"; {asked!r} itself is still a dead end"
    return f"{text}, the sub-range of {asked!r} that can continue{rest}."


def _get_gaze(draft: Draft) -> GazeMap:
    if draft.gaze is None:
        raise InvalidValue("no gaze map is open; choose the built-in one or a file")
    return draft.gaze


def _set_gaze(draft: Draft, gaze: GazeMap) -> None:
    draft.gaze, draft.costs = gaze, None


def _join_sentences(said: list[str]) -> str:
    """Join the unique warnings into one text of sentences."""
    texts = dict.fromkeys(word_text(text, messages.AimGaze) for text in said)
    return " ".join(f"{text[:1].upper()}{text[1:]}." for text in texts)
