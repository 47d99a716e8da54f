"""Edit panel, and the operations of other panels that have a generated form: one command runs all of them."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from marey.errors import InvalidValue, MareyError, UnknownName, similar
from marey.studio.forms import word_failure, word_for
from marey.studio.jobs import Cancelled
from marey.studio.messages import Download, Message, MotionInfo, Value
from marey.studio.object_options import locate_files
from marey.studio.operation_recipes import Use, write_operation
from marey.studio.operations import OPERATIONS, Operation
from marey.studio.panel_recipes import file_recipe, graph_file_recipe
from marey.studio.panels.author_files import find_files, find_result
from marey.studio.registry import command
from marey.studio.threads import to_thread
from marey.studio.wire import check_settings

if TYPE_CHECKING:
    from marey.core.motion import Motion
    from marey.studio.motion_history import Step
    from marey.studio.recipes import CodeRecipe
    from marey.studio.session import Session

# Built results in files that operations take, by their kinds.
_KINDS = {"graph": "graph", "parametric": "space"}
_MAX_BYTES = 2**30
# Files with positions, which `solve` reads.
_POSITIONS = (".npy", ".trc", ".c3d")


class RunOperation(Message, do="operate"):
    """Run an operation of the table `OPERATIONS`. Only the data that it takes are read.

    `motion` is the selected motion, `other` another one; or `file` is a file in the folder. `frame` is the playhead,
    `range` the marked frames, half-open. `points` is a path x, z on the floor in meters. `graph` is an entry of
    `OperationInputs.graphs`. `settings` are the options of all forms. `as_new`: the result is a new motion.
    `merge_undo`: replace the result of the same operation just before, for example while something is dragged.
    """

    operation: str
    settings: dict[str, object]
    motion: str | None = None
    other: str | None = None
    motions: tuple[str, ...] = ()
    frame: int = 0
    range: tuple[int, int] | None = None
    points: tuple[tuple[float, float], ...] = ()
    graph: str = ""
    file: str = ""
    as_new: bool = False
    merge_undo: bool = False


class GradedMetric(Value):
    """A quality metric of a result with its grade: "good", "fair" or "poor"; see `marey.studio.grades`.

    `before` is the value before the edit. It and the grades are "" if they are not known. `before_grade` is "reference"
    if the metric is graded by its change from `before`.
    """

    title: str
    before: str
    after: str
    before_grade: str
    grade: str
    about: str


class OperationDone(Value):
    """The result of an operation: motions, notes, a table, files, and grades of its quality.

    A row's link is "frame:N" or "file:PATH"; "" for none. `graph` is the entry of `OperationInputs.graphs` that was
    added.
    """

    motions: tuple[MotionInfo, ...]
    notes: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    links: tuple[str, ...]
    files: tuple[Download, ...]
    graph: str
    grades: tuple[GradedMetric, ...]


class ListInputs(Message, do="operation_inputs"):
    """List the graphs and files that operations can take."""


class OperationInputs(Value):
    """Inputs to choose from.

    `graphs`: "" is that of the Graph panel, then those of operations, then files. `spaces`, `positions` and `files` are
    files in the folder: target controls, positions of joints or markers, and motions.
    """

    graphs: tuple[str, ...]
    spaces: tuple[str, ...]
    positions: tuple[str, ...]
    files: tuple[str, ...]


@command(ListInputs, reads=True)
def list_inputs(session: Session, message: ListInputs) -> OperationInputs:
    """List the graphs and files that operations can take."""
    from marey.studio.panels.graph import has_graph

    places = session.places
    graphs = [*([""] if has_graph(session) else []), *_get_operation_graphs(session)]
    built = list(find_files(places, ".npz", _KINDS))
    return OperationInputs(
        (*graphs, *(path for path, kind in built if kind == "graph")),
        tuple(path for path, kind in built if kind == "space"),
        tuple(_list_positions(session)),
        tuple(each.path for each in places.list_files().files),
    )


@command(RunOperation)
async def run_operation(session: Session, message: RunOperation) -> OperationDone:
    """Run an operation. Its errors name the controls of its form."""
    row = OPERATIONS.get(message.operation)
    if row is None:
        raise UnknownName(f"unknown operation {message.operation[:40]!r}{similar(message.operation, OPERATIONS)}")
    try:
        return await _run(session, message, row)
    except Cancelled:
        raise
    except MareyError as error:
        raise word_failure(error, row.settings, {**message.remedies, **row.remedies}) from None


async def _run(session: Session, message: RunOperation, row: Operation) -> OperationDone:
    values = check_settings(row.settings, message.settings, row.name)
    if {"start", "stop"} <= set(row.skip) and message.range is not None:
        values |= {"start": message.range[0], "stop": message.range[1]}
    data = [await _find_data(session, message, take) for take in row.takes]
    now = data[0] if data else None
    source = None
    if message.merge_undo and message.motion is not None and row.gives == "motion":
        source = session.motions.find_merge_source(message.motion, row.done)
        data[0] = source.recording
    use = _describe_use(session, message, row, data, values, source)
    values = locate_files(row.settings, values, session.places.find_file)
    if row.in_server:
        found = await session.jobs.run_in_thread(row.call_function, data, values, None, (session,))
    else:
        folder = session.places.own / "operations"
        folder.mkdir(exist_ok=True)
        found = await session.jobs.run(
            "marey.studio.operation_work:run_operation",
            operation=row.name, data=data, values=values, folder=str(folder),
        )  # fmt: skip
    return _show_result(session, message, use, data, now, found)


def _describe_use(
    session: Session, message: RunOperation, row: Operation, data: list[Any], values: dict[str, Any],
    source: Step | None,
) -> Use:  # fmt: skip
    """Return the data from which code for an operation is written: recipes in place of motions and graphs.

    source : the step of the selected motion to which the operation is applied; None for the current step.
    """
    motions = session.motions

    def describe(take: str, value: Any) -> Any:
        if take in ("motion", "recording"):
            return motions.recipe(message.motion or "") if source is None else source.recipe
        if take in ("other", "against"):
            return file_recipe(message.file) if message.other is None else motions.recipe(message.other)
        if take == "motions":
            return [motions.recipe(each) for each in message.motions]
        if take == "graph":
            return _find_graph_recipe(session, message.graph)
        return message.file if take == "file" else value

    takes_motion = bool(row.takes) and row.takes[0] == "motion"
    described = [describe(take, value) for take, value in zip(row.takes, data, strict=True)]
    name = f"{data[0].name} {row.done}" if takes_motion else row.title
    return Use(row, described, data[0] if takes_motion else None, values, name)


def _find_graph_recipe(session: Session, name: str) -> CodeRecipe:
    from marey.studio.panels.graph import get_graph_recipe

    if name in _graph_recipes(session):
        return _graph_recipes(session)[name]
    return graph_file_recipe(name) if name else get_graph_recipe(session)


def _show_result(
    session: Session, message: RunOperation, use: Use, data: list[Any], now: Any, found: dict[str, Any]
) -> OperationDone:
    """Open the motions of a result and offer its files for download.

    An operation that changes a motion replaces the selected one, unless the user asks for a new one. `now` is the state
    of the selected motion before the operation.
    """
    motions, source, row = session.motions, message.motion or "", use.operation
    recipes = write_operation(use, max(1, len(found.get("motions", ()))))
    if row.gives == "motion":
        before, (after,) = data[0], found["motions"]
        if message.as_new:
            after = replace(after, name=f"{before.name} ({row.done})")
            names = [motions.add_result(after, source, recipe=recipes[0])]
        else:
            after = _keep_frames(before, replace(after, name=before.name))
            motions.change(source, now, after, row.done, merge_undo=message.merge_undo, recipe=recipes[0])
            names = [source]
    else:
        made_from = [source, *([message.other] if message.other and "other" in row.takes else [])] if source else []
        uses_source = "motion" in row.takes
        names = [
            motions.add_result(each, *(made_from if uses_source else ()), recipe=recipe)
            for each, recipe in zip(found.get("motions", ()), recipes, strict=False)
        ]
    graph = ""
    if "graph_file" in found:
        graph = f"{row.title.lower()} {len(_get_operation_graphs(session)) + 1}"
        _get_operation_graphs(session)[graph] = Path(found["graph_file"])
        if recipes[0] is not None:
            _graph_recipes(session)[graph] = recipes[0]
        found["files"] = [found["graph_file"]]
    return OperationDone(
        tuple(session.info(name) for name in names),
        tuple(word_for(note, row.settings) for note in found.get("notes", ())),
        tuple(found.get("columns", ())),
        tuple(tuple(each) for each in found.get("rows", ())),
        tuple(found.get("links", ())),
        tuple(_offer(session, Path(file)) for file in found.get("files", ())),
        graph,
        tuple(GradedMetric(**each) for each in found.get("grades", ())),
    )


def _keep_frames(before: Motion, after: Motion) -> Motion:
    """Return `after`, but with the arrays of `before` if all frames are equal, so that it does not count as edited."""
    same = before.skeleton.names == after.skeleton.names and all(
        np.array_equal(getattr(before, name), getattr(after, name))
        for name in ("root_positions", "rotations", "bone_offsets")
    )
    if not same or not np.array_equal(before.skeleton.offsets, after.skeleton.offsets):
        return after
    source = replace(before.source, floor=after.source.floor, provenance=after.source.provenance)
    return replace(before, contacts=after.contacts, labels=after.labels, source=source)


def _offer(session: Session, file: Path) -> Download:
    """Offer a file for download."""
    path = session.places.exports / file.name
    if path != file:
        shutil.copyfile(file, path)
    return Download(session.places.offer(path), path.name, path.stat().st_size)


async def _find_data(session: Session, message: RunOperation, take: str) -> Any:
    """Return one of the inputs of an operation."""
    if take in ("motion", "recording"):
        if message.motion is None:
            raise InvalidValue("select a clip first")
        find = session.motions.motion if take == "motion" else session.motions.recording
        return find(message.motion)
    if take == "against":
        return None if message.other is None else session.motions.motion(message.other)
    if take == "other":
        if message.other is not None:
            return session.motions.motion(message.other)
        return await to_thread(_load_file, session, message.file)
    if take == "motions":
        if not message.motions:
            raise InvalidValue("choose at least one clip", parameter="motions")
        return [session.motions.motion(each) for each in message.motions]
    if take == "range":
        if message.range is None:
            raise InvalidValue("mark a range on the timeline first: press I at its start and O at its end")
        return list(message.range)
    if take == "points":
        if len(message.points) < 2 and "graph" not in OPERATIONS[message.operation].takes:
            raise InvalidValue("draw the path on the floor first")
        return [list(point) for point in message.points]
    if take == "curve":
        if len(message.points) < 2:
            raise InvalidValue("draw the curve first")
        return [list(point) for point in message.points]
    if take == "graph":
        return str(await _find_graph(session, message.graph))
    if take == "folder":
        return str(_require_folder(session).root)
    if take == "space":
        if not message.file:
            raise InvalidValue("choose a target control; the Find panel saves them to the open folder")
        return find_result(session.places, message.file, "space", _KINDS, _MAX_BYTES)
    if take == "file":
        return str(_find_positions(session, message.file))
    return {"frame": message.frame, "span": None if message.range is None else list(message.range)}[take]


def _load_file(session: Session, path: str) -> Any:
    from marey.io import load_motion

    if not path:
        raise InvalidValue("no other clip is chosen; choose an open clip or a file of the folder")
    return load_motion(session.places.find(path, "folder"))


def _require_folder(session: Session) -> Any:
    if session.places.folder is None:
        raise InvalidValue("no folder is open; start with `marey studio FOLDER`")
    return session.places.folder


async def _find_graph(session: Session, name: str) -> Path:
    if name in _get_operation_graphs(session):
        return _get_operation_graphs(session)[name]
    if name:
        return find_result(session.places, name, "graph", _KINDS, _MAX_BYTES)
    from marey.studio.panels.graph import build_current

    return await build_current(session)


def _get_operation_graphs(session: Session) -> dict[str, Path]:
    """Return the graphs that operations have made, keyed by name."""
    found: dict[str, Path] = session.state.get_or_create("operation_graphs", dict)
    return found


def _graph_recipes(session: Session) -> dict[str, CodeRecipe]:
    """Return the recipes of the graphs that operations have made, keyed by name."""
    found: dict[str, CodeRecipe] = session.state.get_or_create("operation_graph_recipes", dict)
    return found


def _list_positions(session: Session) -> list[str]:
    from marey.io.folder import walk_files

    folder = session.places.folder
    if folder is None:
        return []
    found = (
        (here / name).relative_to(folder.root).as_posix()
        for here, files in walk_files(folder.root)
        for name in files
        if name.lower().endswith(_POSITIONS)
    )
    return [path for path, _ in zip(found, range(500), strict=False)]


def _find_positions(session: Session, path: str) -> Path:
    found: Path = _require_folder(session).inside(path) if path else Path()
    if not path.lower().endswith(_POSITIONS) or not found.is_file():
        raise InvalidValue(f"choose a file with joint or marker positions ({', '.join(_POSITIONS)}) in the open folder")
    return found
