"""Graph: which clips can lead into which at what threshold; walks by chance, along a drawn path, and by the keys."""

from __future__ import annotations

import asyncio
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from marey.errors import InvalidValue
from marey.studio.messages import Nothing
from marey.studio.panels.graph_messages import (
    BuildGraph,
    FollowGraph,
    GraphBuilt,
    GraphLinks,
    GraphSaved,
    GraphShown,
    GraphSteered,
    LinkGraph,
    PairLimit,
    PathFollowed,
    SaveGraph,
    ShowGraph,
    SteerGraph,
    Walked,
    WalkGraph,
    WishGraph,
)
from marey.studio.registry import command

if TYPE_CHECKING:
    from marey.studio.panels.graph_links import Candidates
    from marey.studio.panels.graph_live import GraphPlayer
    from marey.studio.session import Session

_WORK = "marey.studio.panels.graph_work"
_MOST_SECONDS = 600.0
_MOST_POINTS = 20_000


@dataclass(slots=True, eq=False)
class Kept:
    """What a session keeps of its graph.

    folder : where the worker left the clips, the places where they are alike, and the last graph.
    asked, built : what was to be compared, and the answer.
    wanted : the thresholds that were last asked for.
    limits : the thresholds of the last graph; None before there is one.
    player : what plays live.
    """

    folder: Path
    candidates: Candidates
    asked: BuildGraph
    built: GraphBuilt
    wanted: tuple[float, tuple[PairLimit, ...]]
    limits: tuple[Any, ...] | None = None
    transitions: int = 0
    findings: tuple[str, ...] = ()
    player: GraphPlayer | None = None


@command(BuildGraph)
async def build_graph(session: Session, message: BuildGraph) -> GraphBuilt:
    """Compare all clips, in the worker."""
    if not 0.05 <= message.window <= 5.0:
        raise InvalidValue(f"a transition takes 0.05 to 5 s, got {message.window:g} s")
    if message.rate is not None and not 5.0 <= message.rate <= 240.0:
        raise InvalidValue(f"a graph plays 5 to 240 frames per second, got {message.rate:g}")
    motions = [session.motions.motion(each) for each in message.motions]
    files = [(str(session.places.find(each, "folder")), each) for each in message.files]
    number = session.kept.get("graph_count", 0) + 1
    session.kept["graph_count"] = number
    folder = session.places.own / f"graph-{number}"
    folder.mkdir()
    try:
        found = await session.jobs.run(
            f"{_WORK}:compared",
            motions=motions,
            files=files,
            window=message.window,
            rate=message.rate,
            widest=await asyncio.to_thread(_widest),
            folder=str(folder),
        )
        built = await asyncio.to_thread(_candidates, folder, found, message)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    before = session.kept.get("graph")
    session.kept["graph"] = built
    if isinstance(before, Kept):
        shutil.rmtree(before.folder, ignore_errors=True)
    return built.built


@command(ShowGraph, reads=True)
def show_graph(session: Session, message: ShowGraph) -> GraphShown:
    """The graph as it was left."""
    from marey.studio.panels.graph_links import links

    kept = session.kept.get("graph")
    if not isinstance(kept, Kept):
        usual = BuildGraph()
        return GraphShown(None, (), (), usual.window, usual.rate, 0.0, ())
    asked, (threshold, pairs) = kept.asked, kept.wanted
    built = replace(kept.built, links=links(kept.candidates, threshold, pairs))
    return GraphShown(built, asked.motions, asked.files, asked.window, asked.rate, threshold, pairs)


@command(LinkGraph, reads=True)
def link_graph(session: Session, message: LinkGraph) -> GraphLinks:
    """What thresholds leave."""
    from marey.studio.panels.graph_links import links

    kept = _kept(session)
    found = links(kept.candidates, message.threshold, message.pairs)
    kept.wanted = (message.threshold, message.pairs)
    return found


@command(WalkGraph)
async def walk_graph(session: Session, message: WalkGraph) -> Walked:
    """A walk by chance."""
    if not 0.0 < message.seconds <= _MOST_SECONDS:
        raise InvalidValue(f"a walk lasts up to {_MOST_SECONDS:g} s, got {message.seconds:g} s")
    if message.seed < 0:
        raise InvalidValue(f"a seed is a whole number from 0 on, got {message.seed}")
    kept = await _made(session, message.threshold, message.pairs)
    done = await session.jobs.run(
        f"{_WORK}:walked",
        folder=str(kept.folder),
        seconds=message.seconds,
        seed=message.seed,
        label=message.label,
        clean=message.clean,
    )
    return Walked(session.info(session.motions.add_made(done["motion"])), kept.transitions, kept.findings)


@command(FollowGraph)
async def follow_graph(session: Session, message: FollowGraph) -> PathFollowed:
    """A walk along a drawn path."""
    if sum(len(each.points) for each in message.stretches) > _MOST_POINTS:
        raise InvalidValue(f"a path has up to {_MOST_POINTS} points; draw a shorter one")
    kept = await _made(session, message.threshold, message.pairs)
    stretches = [{"points": each.points, "label": each.label} for each in message.stretches]
    done = await session.jobs.run(
        f"{_WORK}:followed", folder=str(kept.folder), stretches=stretches, clean=message.clean
    )
    return PathFollowed(
        session.info(session.motions.add_made(done["motion"])),
        _points(done["path"]),
        _points(done["way"]),
        float(done["length"]),
        float(done["mean_distance"]),
        float(done["largest_distance"]),
        float(done["end_distance"]),
        str(done["why"]),
    )


@command(SteerGraph)
async def steer_graph(session: Session, message: SteerGraph) -> GraphSteered:
    """The graph as a live stream."""
    turn = session.live.turn()
    kept = await _made(session, message.threshold, message.pairs)
    player: GraphPlayer = await session.jobs.here(_player, kept.folder, message)
    begun = session.live.start(player, player.graph.fps, turn)
    kept.player = player
    return GraphSteered(begun.stream, begun.rate, player.body(), player.delay)


@command(WishGraph, reads=True)
async def wish_graph(session: Session, message: WishGraph) -> Nothing:
    """Another way to go, or another thing to do."""
    player = _kept(session).player
    if player is None:
        raise InvalidValue("nothing is steered; start it first")
    await asyncio.to_thread(player.prepare, message.label, message.speed)
    player.wish(message.direction, message.label, message.speed)
    return Nothing()


@command(SaveGraph)
async def save_graph(session: Session, message: SaveGraph) -> GraphSaved:
    """The graph as a file for download."""
    kept = await _made(session, message.threshold, message.pairs)
    path = session.places.exports / "graph.npz"
    await asyncio.to_thread(shutil.copyfile, kept.folder / "graph.npz", path)
    return GraphSaved(session.places.offer(path), path.name, path.stat().st_size)


def _kept(session: Session) -> Kept:
    kept = session.kept.get("graph")
    if not isinstance(kept, Kept):
        raise InvalidValue("there is no graph yet; choose clips and compare them first")
    return kept


async def _made(session: Session, threshold: float, pairs: tuple[PairLimit, ...]) -> Kept:
    """The session's graph, built anew where the thresholds are others."""
    kept = _kept(session)
    wanted = tuple((pair.before, pair.after, pair.metres) for pair in pairs)
    if kept.limits != (threshold, wanted):
        kept.limits = None
        done = await session.jobs.run(f"{_WORK}:made", folder=str(kept.folder), threshold=threshold, pairs=wanted)
        kept.transitions, kept.findings = done["transitions"], tuple(done["findings"])
        kept.limits = (threshold, wanted)
    return kept


def _widest() -> float:
    from marey.studio.panels.graph_links import WIDEST

    return WIDEST


def _candidates(folder: Path, found: dict[str, Any], asked: BuildGraph) -> Kept:
    from marey.studio.panels.graph_links import Candidates, curve, links, suggested

    candidates = Candidates.of(found)
    points = curve(candidates)
    threshold = suggested(points)
    reply = GraphBuilt(
        tuple(found["clips"]),
        candidates.n_frames / candidates.fps,
        candidates.fps,
        tuple(found["left_out"]),
        candidates.names,
        points,
        threshold,
        links(candidates, threshold, ()),
    )
    return Kept(folder, candidates, asked, reply, (threshold, ()))


def _player(folder: Path, message: SteerGraph) -> GraphPlayer:
    from marey.graph import MotionGraph
    from marey.studio.panels.graph_live import GraphPlayer

    graph = MotionGraph.load(folder / "graph.npz")
    return GraphPlayer(graph, message.direction, message.label, message.clean)


def _points(rows: list[list[float]]) -> tuple[tuple[float, float], ...]:
    return tuple((float(x), float(z)) for x, z in rows)
