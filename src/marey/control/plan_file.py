"""Files of value tables, ``NAME.plan.npz`` next to the character ``NAME.json``, so that playing needs no computation.

Arrays, for a character with S states, one for each point of each node's parameter grid:

- ``nodes``: names of the nodes; ``first_axis``, ``first_state``: index of each node's first axis and first state;
- ``axes`` (A, 3): first value, step and number of values of each parameter of each node; within a node, the state index
  counts with the last parameter fastest;
- ``direction``, ``point``, ``pose`` and ``node`` (S, C): seconds for each state and goal. ``point`` and ``pose``
  include path lengths, weighted by the default ``short_way`` of `GoToSettings`. Goals are relative to the character at
  the time at which the clip is left. Between grid points, interpolate linearly in each parameter. Column ``k`` of
  ``node`` is the node with that index; `marey.maths.value_kernels` describes the columns of the others;
- further rows of ``direction``, S for each moment k at which a clip can be changed: goals relative to the character at
  that moment. Node by node, ``n_moments`` is the number of its ``moments``, from 0 to 1 in the clip, and ``changes``
  holds the costs of changes between all states of the node at each of them (see `ClipModel`);
- ``point_distances``, ``pose_distances``: meters; ``bearings``, ``headings``: number of bearings and headings of
  ``direction``, ``point`` and ``pose``; ``slowness``: seconds per meter beyond the last distance of each of them;
- ``joins`` and ``costs``: edge by edge, the coefficients of `marey.control.joins.Join`, and the costs of transitions
  between all states of its two nodes (see `ClipModel`); ``n_joins``, ``n_costs``: number of rows of each edge, 0 if no
  table needs them;
- ``character``: digest of the nodes and edges that the tables belong to.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from marey.control.clip_model import Changes, ClipModel
from marey.control.joins import Join, find_scales
from marey.control.planner import Planner, get_planner
from marey.control.planner_tables import ValueTable
from marey.control.settings import GoToSettings
from marey.core.arrays import Floats, FrozenRecord, Ints, set_readonly
from marey.errors import InvalidValue
from marey.io.archive import validating
from marey.io.stored import FileFormat, Part, Stored
from marey.maths.value_kernels import GoalGrid
from marey.pmg import ParametricMotionGraph

__all__ = ["PlanFile", "load_plan", "plan_path", "save_plan"]

_GOALS, _PLACES = ("direction", "point", "pose"), ("point", "pose")


@dataclass(frozen=True, slots=True, eq=False)
class PlanFile(FrozenRecord, Stored):
    """Value tables of a character, as stored in a file; see the module docstring for the fields."""

    FILE = FileFormat(
        "marey.plan", 1,
        {
            "character": Part("text"),
            "nodes": Part("text", ("nodes",)),
            "first_axis": Part("integer", ("nodes",)),
            "first_state": Part("integer", ("nodes",)),
            "axes": Part("float", ("axes", 3)),
            "direction": Part("float", ("states and moments", "directions"), stored_as="f2"),
            "point": Part("float", ("states", "points"), stored_as="f2"),
            "pose": Part("float", ("states", "poses"), stored_as="f2"),
            "node": Part("float", ("states", "nodes"), stored_as="f2"),
            "point_distances": Part("float", ("point distances",)),
            "pose_distances": Part("float", ("pose distances",)),
            "bearings": Part("integer", (3,)),
            "headings": Part("integer", (3,)),
            "slowness": Part("float", (3,)),
            "n_joins": Part("integer", ("edges",), optional=True),
            "joins": Part("float", ("join rows", 3), optional=True),
            "n_costs": Part("integer", ("edges",), optional=True),
            "costs": Part("float", ("cost rows", 1), optional=True, stored_as="f4"),
            "n_moments": Part("integer", ("nodes",), optional=True),
            "moments": Part("float", ("moments",), optional=True),
            "changes": Part("float", ("change rows", 1), optional=True, stored_as="f4"),
        },
    )  # fmt: skip

    character: str
    nodes: tuple[str, ...]
    first_axis: Ints
    first_state: Ints
    axes: Floats
    direction: Floats
    point: Floats
    pose: Floats
    node: Floats
    point_distances: Floats
    pose_distances: Floats
    bearings: Ints
    headings: Ints
    slowness: Floats
    n_joins: Ints | None
    joins: Floats | None
    n_costs: Ints | None
    costs: Floats | None
    n_moments: Ints | None
    moments: Floats | None
    changes: Floats | None

    @classmethod
    def from_planner(cls, planner: Planner) -> PlanFile:
        """Compute all tables of a planner. Those of points and poses include path lengths, as in `GoTo` by default."""
        rows, short = planner.model.tables, _get_default_planner(planner.graph)
        tables = {kind: (short if kind in _PLACES else planner).table(kind) for kind in (*_GOALS, "node")}
        dims = [len(each.axes) for each in rows.values()]
        grids = [tables[kind].grid for kind in _GOALS]
        values = {kind: table.values for kind, table in tables.items()}
        edges, model, none = list(planner.graph.edges), planner.model, np.zeros((0, 3))
        joins = [model.joins[edge].fitted if edge in model.joins else none for edge in edges]
        costs = [model.costs.get(edge, none[:, :1]) for edge in edges]
        changes = [model.changes.get(name, Changes(np.zeros(0), np.zeros((0, 1, 1)))) for name in rows]
        return cls(
            character=_compute_digest(planner.graph),
            nodes=tuple(rows),
            first_axis=np.cumsum([0, *dims[:-1]]),
            first_state=np.array([each.first for each in rows.values()]),
            axes=np.concatenate([each.axes for each in rows.values()]),
            point_distances=grids[1].distances,
            pose_distances=grids[2].distances,
            bearings=np.array([grid.n_bearings for grid in grids]),
            headings=np.array([grid.n_headings for grid in grids]),
            slowness=np.array([grid.slowness for grid in grids]),
            n_joins=np.array([len(each) for each in joins], dtype=np.int64),
            joins=np.concatenate([none, *joins]),
            n_costs=np.array([len(each) for each in costs], dtype=np.int64),
            costs=np.concatenate([none[:, :1], *costs]),
            n_moments=np.array([len(each.moments) for each in changes], dtype=np.int64),
            moments=np.concatenate([each.moments for each in changes]),
            changes=np.concatenate([none[:, :1], *(each.costs.reshape(-1, 1) for each in changes)]),
            **values,
        )

    def to_tables(self) -> dict[str, ValueTable]:
        """Return the tables by the kind of goal."""
        distances = {"direction": np.zeros(1), "point": self.point_distances, "pose": self.pose_distances}
        out = {}
        for k, kind in enumerate(_GOALS):
            sizes: Any = int(self.bearings[k]), int(self.headings[k]), float(self.slowness[k])
            out[kind] = ValueTable(GoalGrid(distances[kind], *sizes), set_readonly(getattr(self, kind)), 0)
        grid = GoalGrid(np.zeros(1), 1, len(self.nodes), 0.0)
        return out | {"node": ValueTable(grid, set_readonly(self.node), 0)}

    def fill_model(self, model: ClipModel) -> None:
        """Copy the joins, costs and changes of the file, if it has any, to a model of the same character."""
        if self.joins is None or self.costs is None or self.n_joins is None or self.n_costs is None:
            return
        edges, tables = list(model.graph.edges), model.tables
        dims = [tables[source].grid.shape[1] + tables[target].grid.shape[1] for source, target in edges]
        n_pairs = [len(tables[source].grid) * len(tables[target].grid) for source, target in edges]
        for edge, fitted in _split(self.joins, self.n_joins, edges, [1 + n + n * (n + 1) // 2 for n in dims]):
            model.joins[edge] = Join(*find_scales(model.graph, *edge), fitted)
        model.costs |= dict(_split(self.costs, self.n_costs, edges, n_pairs))
        if self.n_moments is None or self.moments is None or self.changes is None:
            return
        sizes = np.array([len(table.grid) ** 2 for table in tables.values()])
        if self.n_moments.sum() != len(self.moments) or self.n_moments @ sizes != len(self.changes):
            raise InvalidValue(f"{len(self.moments)} moments do not match {len(self.changes)} rows of changes")
        ends = np.cumsum(self.n_moments)[:-1], np.cumsum(self.n_moments * sizes)[:-1]
        parts = np.split(self.moments, ends[0]), np.split(self.changes, ends[1])
        for name, size, moments, costs in zip(tables, sizes, *parts, strict=True):
            if len(moments):
                model.changes[name] = Changes(moments, np.ascontiguousarray(costs.reshape(len(moments), size, 1)))


def _split(
    rows: Floats, counts: Ints, edges: list[tuple[str, str]], wanted: list[int]
) -> list[tuple[tuple[str, str], Floats]]:
    """Split stored rows by edge; return the rows of each edge that has any. `wanted` holds the number of rows that each
    edge should have."""
    if len(counts) != len(edges) or len(rows) != counts.sum() or any((counts != 0) & (counts != np.array(wanted))):
        raise InvalidValue(f"rows of edges must be {wanted} or 0, not {counts.tolist()} with {len(rows)} in total")
    parts = zip(edges, np.split(rows, np.cumsum(counts)), strict=False)
    return [(edge, set_readonly(np.ascontiguousarray(each))) for edge, each in parts if len(each)]


def plan_path(character: str | os.PathLike[str]) -> Path:
    """Return the path of the value tables that belong to a character's .json file."""
    return Path(character).with_suffix(".plan.npz")


def save_plan(graph: ParametricMotionGraph, character: str | os.PathLike[str]) -> Path:
    """Write the value tables of a character next to its .json file; compute them if necessary. Return their path.

    Examples
    --------
    >>> character.save("walker.json")
    >>> marey.control.save_plan(character, "walker.json").exists()
    True
    """
    path = plan_path(character)
    PlanFile.from_planner(get_planner(graph)).save(path)
    return path


def load_plan(graph: ParametricMotionGraph, character: str | os.PathLike[str]) -> bool:
    """Read the value tables next to a character's .json file, so that its controllers need not compute them.

    Return False if there is no such file, or if the character has changed since it was written.

    Examples
    --------
    >>> character.save("walker.json")
    >>> path = marey.control.save_plan(character, "walker.json")
    >>> again = marey.ParametricMotionGraph.load("walker.json")
    >>> marey.control.load_plan(again, "walker.json")
    True
    """
    path = plan_path(character)
    if not path.is_file():
        return False
    found = PlanFile.load(path)
    if found.character != _compute_digest(graph):
        return False
    planner = get_planner(graph)
    axes = np.concatenate([each.axes for each in planner.model.tables.values()])
    if found.nodes != tuple(graph.nodes) or not np.array_equal(found.axes, axes):
        return False
    with validating(path, PlanFile.FILE.name):
        found.fill_model(planner.model)
    for kind, table in found.to_tables().items():
        (_get_default_planner(graph) if kind in _PLACES else planner).put_tables({kind: table})
    return True


def _get_default_planner(graph: ParametricMotionGraph) -> Planner:
    """Return the planner that `GoTo` uses by default, which gives weight to path lengths."""
    return get_planner(graph, None, GoToSettings().short_way)


def _compute_digest(graph: ParametricMotionGraph) -> str:
    """Return a digest of everything that the tables depend on: `short_way`, the nodes' ranges and paths, the edges."""
    out = hashlib.sha256(f"changes {GoToSettings().short_way}".encode())
    for node in graph.nodes.values():
        ends = np.stack([node.low, node.middle, node.high])
        out.update(node.name.encode() + ends.tobytes() + np.round(node.paths(node.project(ends)), 6).tobytes())
    for edge in graph.edges.values():
        out.update(f"{edge.source}>{edge.target} {edge.bad}".encode())
        for values in (edge.parameters, edge.low, edge.high, edge.moments):
            out.update(np.ascontiguousarray(values).tobytes())
    return out.hexdigest()
