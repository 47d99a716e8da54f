"""Graph panel: build motion graphs with chosen thresholds, and walk them at random or along paths."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from marey.core.feet import feet_from_flag
from marey.errors import InvalidValue
from marey.graph.settings import GraphPathSettings, GraphSettings
from marey.studio.messages import SkippedClips
from marey.studio.panel_recipes import file_recipe, graph_recipe, path_recipe, walk_recipe
from marey.studio.panels import graph_messages as messages
from marey.studio.registry import command
from marey.studio.threads import to_thread
from marey.studio.wire import fill

if TYPE_CHECKING:
    from marey.studio.panels.graph_links import LinkCandidates
    from marey.studio.recipes import CodeRecipe
    from marey.studio.session import Session

_WORK = "marey.studio.panels.graph_work"
_MAX_SECONDS = 600.0
_MAX_POINTS = 20_000
# Number of graphs that the undo history can bring back.
_MAX_GRAPHS = 4


@dataclass(slots=True, eq=False)
class GraphState:
    """State of the panel.

    folder : where the worker stores the clips, the transition candidates, and the last graph.
    candidates : all transitions up to the largest threshold.
    asked, built : the build request and its reply.
    wanted : the thresholds last requested.
    clips : recipes of the clips.
    limits : the thresholds of the last built graph; None if there is none.
    transitions, findings : number of transitions of the last built graph, and notes about it.
    """

    folder: Path
    candidates: LinkCandidates
    asked: messages.BuildGraph
    built: messages.GraphBuilt
    wanted: tuple[float, tuple[messages.PairLimit, ...]]
    clips: list[CodeRecipe]
    limits: tuple[Any, ...] | None = None
    transitions: int = 0
    findings: tuple[str, ...] = ()


@command(messages.BuildGraph)
async def build_graph(session: Session, message: messages.BuildGraph) -> messages.GraphBuilt:
    """Find transitions between all clips, in the worker."""
    rate = message.settings.fps
    if rate is not None and not 5.0 <= rate <= 240.0:
        raise InvalidValue(f"fps must be from 5 to 240 Hz, not {rate:g}", parameter="fps")
    motions = [session.motions.motion(each) for each in message.motions]
    files = [(str(session.places.find(each, "folder")), each) for each in message.files]
    graphs = _get_graphs(session)
    number = next(_get_numbers(session))
    folder = session.places.own / f"graph-{number}"
    folder.mkdir()
    try:
        found = await session.jobs.run(
            f"{_WORK}:find_candidates",
            motions=motions,
            files=files,
            settings=message.settings.to_dict(),
            max_threshold=await to_thread(_max_threshold),
            folder=str(folder),
        )
        skipped = {name for each in found["skipped"] for name in each["names"]}
        clips = [session.motions.recipe(each) for each in message.motions]
        clips += [file_recipe(each) for each in message.files if each not in skipped]
        built = await to_thread(_make_state, number, folder, found, message, clips)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    session.state["graph"] = graphs[number] = built
    for old in list(graphs)[:-_MAX_GRAPHS]:
        shutil.rmtree(graphs.pop(old).folder, ignore_errors=True)
    return built.built


@command(messages.ShowGraph, reads=True)
def show_graph(session: Session, message: messages.ShowGraph) -> messages.GraphShown:
    """Return the current graph."""
    from marey.studio.panels.graph_links import links

    if not has_graph(session):
        return messages.GraphShown(None, (), (), GraphSettings(), 0.0, ())
    state = _get_state(session)
    asked, (threshold, pairs) = state.asked, state.wanted
    built = replace(state.built, links=links(state.candidates, threshold, pairs))
    return messages.GraphShown(built, asked.motions, asked.files, asked.settings, threshold, pairs)


@command(messages.UseGraph)
def use_graph(session: Session, message: messages.UseGraph) -> messages.GraphShown:
    """Make an earlier graph the current one."""
    if not message.number:
        session.state.pop("graph", None)
    elif (found := _get_graphs(session).get(message.number)) is not None:
        session.state["graph"] = found
    else:
        raise InvalidValue(f"only the last {_MAX_GRAPHS} graphs can be restored; build this one again")
    return show_graph(session, messages.ShowGraph())


@command(messages.LinkGraph, reads=True)
def link_graph(session: Session, message: messages.LinkGraph) -> messages.GraphLinks:
    """Return the graph's connectivity for given thresholds."""
    from marey.studio.panels.graph_links import links

    state = _get_state(session)
    found = links(state.candidates, message.threshold, message.pairs)
    state.wanted = (message.threshold, message.pairs)
    return found


@command(messages.WalkGraph)
async def walk_graph(session: Session, message: messages.WalkGraph) -> messages.Walked:
    """Generate a random walk."""
    settings = message.settings
    if settings.seconds > _MAX_SECONDS:
        raise InvalidValue(f"seconds must be at most {_MAX_SECONDS:g}, not {settings.seconds:g}", parameter="seconds")
    state = await _build_within(session, message)
    graph = _write_graph(state)
    done = await session.jobs.run(
        f"{_WORK}:random_walk", folder=str(state.folder), settings=settings.to_dict(), clean=message.clean
    )
    recipe = walk_recipe(graph, done["motion"].name, settings, feet_from_flag(message.clean))
    name = session.motions.add_result(done["motion"], recipe=recipe)
    about_label = (
        () if settings.label is None else tuple(each for each in state.findings if repr(settings.label) in each)
    )
    return messages.Walked(session.info(name), state.transitions, about_label)


@command(messages.FollowGraph)
async def follow_graph(session: Session, message: messages.FollowGraph) -> messages.PathFollowed:
    """Generate a walk along a drawn path."""
    if sum(len(each.points) for each in message.stretches) > _MAX_POINTS:
        raise InvalidValue(f"the path has more than {_MAX_POINTS} points; draw a shorter one")
    state = await _build_within(session, message)
    graph = _write_graph(state)
    done = await session.jobs.run(
        f"{_WORK}:follow_path",
        folder=str(state.folder),
        stretches=[each.fields() for each in message.stretches],
        settings=message.settings.to_dict(),
        clean=message.clean,
    )
    followed = done["followed"]
    settings = GraphPathSettings(settings=message.settings, beam_width=followed["beam_width"])
    styles = None if followed["styles"] is None else [(end, label) for end, label in followed["styles"]]
    recipe = path_recipe(graph, followed["path"], styles, settings, feet_from_flag(message.clean))
    name = session.motions.add_result(done["motion"], recipe=recipe)
    return fill(messages.PathFollowed, done, motion=session.info(name))


@command(messages.SaveGraph)
async def save_graph(session: Session, message: messages.SaveGraph) -> messages.GraphSaved:
    """Prepare the graph for download."""
    built = (await _build_within(session, message)).folder / "graph.npz"
    path = session.places.exports / "graph.npz"
    await to_thread(shutil.copyfile, built, path)
    return messages.GraphSaved(session.places.offer(path), path.name, path.stat().st_size)


def has_graph(session: Session) -> bool:
    """Return whether the session has a graph."""
    return isinstance(session.state.get("graph"), GraphState)


async def build_current(session: Session) -> Path:
    """Build the session's graph with the thresholds last requested, and return its file."""
    state = await _build_within(session, messages.GraphCommand(*_get_state(session).wanted))
    return state.folder / "graph.npz"


def get_graph_recipe(session: Session) -> CodeRecipe:
    """Return the recipe of the session's graph."""
    return _write_graph(_get_state(session))


def _write_graph(state: GraphState) -> CodeRecipe:
    """Return the recipe of the last graph that was built."""
    threshold, pairs = state.limits or (state.wanted[0], ())
    return graph_recipe(state.clips, state.asked.settings, threshold, {(a, b): limit for a, b, limit in pairs})


def _get_graphs(session: Session) -> dict[int, GraphState]:
    """Return the last graphs of the session by their numbers."""
    return session.state.get_or_create("graphs", dict[int, GraphState])


def _get_numbers(session: Session) -> Iterator[int]:
    return session.state.get_or_create("graph_numbers", lambda: count(1))


def _get_state(session: Session) -> GraphState:
    state = session.state.get("graph")
    if not isinstance(state, GraphState):
        raise InvalidValue("no graph was built yet; choose clips and press “Build graph” first")
    return state


async def _build_within(session: Session, message: messages.GraphCommand) -> GraphState:
    """Build the session's graph with the thresholds of a command, unless they are unchanged."""
    state, threshold = _get_state(session), message.threshold
    wanted = tuple((pair.before, pair.after, pair.meters) for pair in message.pairs)
    if state.limits != (threshold, wanted):
        state.limits = None
        done = await session.jobs.run(
            f"{_WORK}:build_graph",
            folder=str(state.folder),
            threshold=threshold,
            pairs=wanted,
            min_seconds=state.asked.settings.min_seconds,
        )
        state.transitions, state.findings = done["transitions"], tuple(done["findings"])
        state.limits = (threshold, wanted)
    return state


def _max_threshold() -> float:
    from marey.studio.panels.graph_links import MAX_THRESHOLD

    return MAX_THRESHOLD


def _make_state(
    number: int, folder: Path, found: dict[str, Any], asked: messages.BuildGraph, clips: list[CodeRecipe]
) -> GraphState:
    from marey.studio.panels.graph_links import LinkCandidates, curve, links, suggest_threshold

    candidates = LinkCandidates.of(found)
    points = curve(candidates)
    threshold = suggest_threshold(points)
    reply = messages.GraphBuilt(
        number,
        tuple(found["clips"]),
        candidates.n_frames / candidates.fps,
        candidates.fps,
        tuple(fill(SkippedClips, each) for each in found["skipped"]),
        candidates.names,
        points,
        threshold,
        links(candidates, threshold, ()),
    )
    return GraphState(folder, candidates, asked, reply, (threshold, ()), clips)
