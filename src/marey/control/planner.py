"""The planner of parametric motion graphs: value tables, computed once, and choices based on them during playback.

A state of a character is a clip that has been played: a node and its parameters, on a grid (see `ClipModel`). For every
state and every goal, seen from the character, value iteration computes the cost of the best sequence of clips. Cost is
time in all tables:

- ``direction``: seconds during which the character does not face a direction, discounted. Streams can change a clip
  into another one while it plays, so its states also include clips at a few moments; ``clips`` is the table for streams
  that play all clips to their ends;
- ``point``: seconds until it is at a point; ``pose``: until it is at a point with a heading;
- ``node``: seconds until a clip of another node begins.

`marey.maths.value_kernels` describes how a table is read. A choice looks one clip ahead from the exact state: it tries
many parameters of each node that can follow, adds the table's value where each clip ends, and refines the best ones
inside the allowed range. For a point, the most promising plans are then extended clip by clip, until one arrives and
none can arrive sooner. See Treuille et al. 2007, McCann and Pollard 2007, and Lee and Lee 2004.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from marey.control.clip_model import N_POINTS, ClipModel, grid_fractions, move_inside, start_clips
from marey.control.planner_kernels import (
    ClipCosts,
    ClipStarts,
    GoalValues,
    PlayedClips,
    weigh_clips,
    weigh_goals,
)
from marey.control.planner_tables import (
    CHOICE_LIMITS,
    DIRECTION_LIMITS,
    DIRECTIONS,
    HORIZON,
    MAX_STEPS,
    NEVER,
    TABLE_LIMITS,
    Links,
    ValueTable,
    build_table,
    link_states,
    list_rings,
    list_targets,
)
from marey.core.arrays import Bools, Floats, Ints
from marey.errors import UnknownName
from marey.pmg import Choice, ControlState, Edge, Node, ParametricMotionGraph, TransitionOption

__all__ = ["Planner", "ValueTable", "get_planner"]

# Cost in seconds of a parameter that differs from the preferred value by its whole range, for example of a speed when
# none is requested.
_UNUSUAL = 0.1
# Maximum movement in meters, or turn in radians, of a character that stands still.
_STILL = 0.1
# Number of first clips that are refined, and number of refinement steps; each halves the step size.
_REFINED, _ROUNDS = 6, 3
# Numbers of plans that are extended by a clip in each round; maximum number of clips of a plan.
_WIDTHS, _MAX_CLIPS = (16, 12, 6, 4), 8
# Nodes whose best clip costs this many seconds more than the best of all are not refined.
_CLOSE = 1.0
# Minimum time in seconds that a change within a clip must save.
_MIN_GAIN = 0.3
# Plans are not extended if the goal is more than this many seconds away: the table is then accurate enough.
_SEARCHED = 12.0


class _Candidates(NamedTuple):
    """N clips of one node, each the last of a plan.

    parameters : (N, d) parameters of the clips.
    places : (N, 3) rigid2d at their ends.
    gone : (N,) seconds until the end of each clip.
    done, onward : (N,) cost of the plan in seconds if it ends with the clip, and if it continues.
    before, rows : the preceding clips, and the index (N,) of each clip's predecessor among them; `before` is None for
        first clips.
    """

    node: str
    parameters: Floats
    places: Floats
    gone: Floats
    done: Floats
    onward: Floats
    before: _Candidates | None
    rows: Ints

    def list_clips(self, k: int) -> list[Choice]:
        """List the clips of the plan that ends with clip k."""
        earlier = [] if self.before is None else self.before.list_clips(int(self.rows[k]))
        return [*earlier, Choice(self.node, self.parameters[k])]


class Planner:
    """Plans of a character. The tables are computed on first use.

    Parameters
    ----------
    graph : the character.
    nodes : names of the nodes to use for goals with a position; None for all.
    short_way : weight of the path length in all costs, from 0 to 0.9; see `marey.control.clip_model`.

    Examples
    --------
    >>> planner = marey.control.Planner(character)
    >>> node = character.nodes["walk"]
    >>> planner.seconds_to_node("walk", node.middle, "walk")  # seconds
    0.0
    """

    def __init__(
        self, graph: ParametricMotionGraph, nodes: tuple[str, ...] | None = None, short_way: float = 0.0
    ) -> None:
        self.graph, self.nodes = graph, nodes
        whole: ClipModel = ClipModel(graph) if nodes is None and not short_way else get_planner(graph).model
        self.model: ClipModel = whole.count_lengths(short_way) if short_way else whole
        self._tables: dict[str, ValueTable] = {}

    def table(self, kind: str) -> ValueTable:
        """Return the table for goals of one kind: "direction", "clips", "point", "pose" or "node"."""
        if kind not in self._tables:
            self._tables[kind] = build_table(self.model, kind, self.nodes)
        return self._tables[kind]

    def has_table(self, kind: str) -> bool:
        """Return whether a table is already computed."""
        return kind in self._tables

    def put_tables(self, tables: dict[str, ValueTable]) -> None:
        """Use tables that were computed earlier."""
        self._tables |= tables

    def link_turns(self) -> Links:
        """Return the clips that can follow each state while the character keeps turning with the same nodes."""
        return link_states(self.model, list_rings(self.graph), MAX_STEPS["direction"], avoid=True)

    @cached_property
    def rests(self) -> dict[str, Floats]:
        """Parameters (d,), by node, of clips that leave the character where it is and can be repeated."""
        out = {}
        for name, table in self.model.tables.items():
            moved = np.abs(table.paths - table.paths[:, :1]).max(axis=1)
            still = np.flatnonzero((moved < _STILL).all(axis=1))
            if len(still) and (name, name) in self.graph.edges:
                out[name] = table.grid[still[np.argmin(moved[still].sum(axis=1))]]
        return out

    def nearest_node(self, state: ControlState, names: Iterable[str]) -> str | None:
        """Return that of the nodes `names` which can begin soonest after the state's clip; None if none can."""
        seconds = {
            name: -1.0 if name == state.node else self.seconds_to_node(state.node, state.parameters, name)
            for name in names
        }
        best = min(seconds, key=lambda name: seconds[name], default=None)
        return None if best is None or np.isinf(seconds[best]) else best

    # Goals -----------------------------------------------------------------------------------------------------------

    def seconds_to_node(self, node: str, parameters: Floats, target: str) -> float:
        """Return the seconds from the end of a clip until a clip of another node begins; infinite if never."""
        column = list(self.graph.nodes).index(self.graph[target].name)
        index, weights = self.model.corners(node, np.atleast_2d(parameters))
        seconds = float(weights[0] @ self.table("node").values[index[0], column])
        return np.inf if seconds >= 0.5 * NEVER else seconds

    def seconds_to(self, places: Floats, node: str, parameters: Floats, paths: Floats, seconds: Floats) -> Floats:
        """Return the seconds (M,) until each of M placements (M, 3), rigid2d, is reached, with the best first clip.

        node, parameters : node and parameters (N, d) of the clips.
        paths, seconds : their paths (N, W, 3), rigid2d on W frames, and their durations (N,).
        """
        index, weights = self.model.corners(node, parameters)
        table, out = self.table("pose"), np.empty(len(places))
        clips = PlayedClips(paths, seconds, index, weights)
        weigh_goals(clips, table.values, table.grid, places, TABLE_LIMITS, out)
        return out

    def next_option(self, state: ControlState, target: str) -> TransitionOption:
        """Choose the option that leads to a node soonest; this is the node itself if it can follow."""
        self.graph[target]
        seconds = [0.0 if option.node.name == target else self._seconds_by(option, target) for option in state.options]
        best = int(np.argmin(seconds)) if seconds else 0
        if not seconds or np.isinf(seconds[best]):
            raise UnknownName(f"no route leads from {state.node!r} to {target!r}; connect them")
        return state.options[best]

    def _seconds_by(self, option: TransitionOption, target: str) -> float:
        """Return the seconds until a clip of `target` begins, if the next clip is the one in the middle of the option's
        parameter box."""
        node, box = option.node.name, option.range
        parameters = box.middle[None]
        starts = start_clips(parameters, np.full(1, box.enter), np.zeros((1, 3)))
        return float(self.model.lay_paths(node, starts)[1][0]) + self.seconds_to_node(node, parameters, target)

    def turn_to(self, state: ControlState, option: TransitionOption, direction: float, fixed: Floats) -> Floats:
        """Choose the parameters (d,) of an option with which the character faces a direction soonest.

        Parameters
        ----------
        direction : radians from +Z, positive to the left.
        fixed : (d,) requested parameters, NaN where the choice is free.
        """
        node, box = option.node, option.range
        held = np.isfinite(fixed)
        unit = grid_fractions(tuple(1 if hold else n for hold, n in zip(held, _tries(node), strict=True)))
        tried = box.low + unit * (box.high - box.low)
        tried[:, held] = np.clip(fixed[held], box.low[held], box.high[held])
        kind = DIRECTIONS[state.changes is None]
        goal = self._goal(kind, np.array([direction, 0.0, 0.0]), node.name)
        usual = np.where(np.array(node.names) == "turn", np.nan, node.middle)
        tried = move_inside(box.region, tried, box.middle)
        return np.asarray(self._refine(state, option, goal, tried, ~held, 1, usual)[0])

    def go_to(self, state: ControlState, place: Floats, planned: Sequence[Choice] = ()) -> list[Choice]:
        """Choose the next clips on the way to a placement (3,), a rigid2d; a NaN heading allows any heading.

        planned : the next clips of the current plan; the plan is abandoned only for a better one.

        Return the next clip and those planned after it; empty if none of the nodes can follow.
        """
        kind = "point" if np.isnan(place[0]) else "pose"
        first: list[tuple[TransitionOption, GoalValues, Floats, ClipCosts]] = []
        for option in state.options:
            if self.nodes is None or option.node.name in self.nodes:
                goal = self._goal(kind, place, option.node.name)
                box, unit = option.range, self.model.tables[option.node.name].sample_box(fine=True)
                tried = move_inside(box.region, box.low + unit * (box.high - box.low), box.middle)
                if option.inside:
                    tried = np.concatenate([state.parameters[None], tried])
                costs = self._weigh_first(state, option, tried, goal)
                if option.inside:
                    costs.done[0] -= _MIN_GAIN
                    costs.onward[0] -= _MIN_GAIN
                first.append((option, goal, tried, costs))
        level = [_extend_plans(option.node.name, tried, costs) for option, _, tried, costs in first]
        totals = [np.minimum(costs.done, costs.onward) for *_, costs in first]
        limit = min((float(total.min()) for total in totals), default=0.0) + _CLOSE
        for (option, goal, tried, _), total in zip(first, totals, strict=True):
            if total.min() <= limit:
                free = np.ones(tried.shape[1], dtype=bool)
                refined = self._refine(state, option, goal, tried, free, _REFINED, total=total)
                level.append(_extend_plans(option.node.name, refined, self._weigh_first(state, option, refined, goal)))
        if not level:
            return []
        best, plan = self._search(level, kind, place)
        return self._keep_plan(state, kind, place, planned, best) or plan

    def _keep_plan(
        self, state: ControlState, kind: str, place: Floats, planned: Sequence[Choice], limit: float
    ) -> list[Choice]:
        """Return the clips of a plan that was made before; empty if they do not arrive within `limit` seconds."""
        inside = state.options[0].inside
        clips = [Choice(state.node, state.parameters), *planned] if inside else list(planned)
        option = state.option(clips[0].node) if clips else None
        if option is None:
            return []
        first = option.range.region.project(clips[0].parameters)[None]
        costs = self._weigh_first(state, option, first, self._goal(kind, place, clips[0].node))
        now, kept = _extend_plans(clips[0].node, first, costs), [clips[0]]
        for after in clips[1:]:
            if np.isfinite(now.done[0]) or after.node not in self.model.tables[now.node].boxes:
                break
            now = self._follow(now, np.zeros(1, dtype=np.int64), after.node, kind, place, after.parameters)
            kept.append(after)
        arrival = now.done[0] - (_MIN_GAIN if inside else 0.0)
        return kept if np.isfinite(arrival) and arrival <= limit else []

    def _goal(self, kind: str, place: Floats, node: str) -> GoalValues:
        table, rows = self.table(kind), self.model.tables[node]
        shape = -1, self.model.n_states, table.values.shape[1]
        values = table.values.reshape(shape)[:, rows.first : rows.first + len(rows.grid)].reshape(-1, shape[2])
        limits, horizon = (DIRECTION_LIMITS, HORIZON) if kind in DIRECTIONS else (CHOICE_LIMITS, 0.0)
        return GoalValues(place, limits, values, table.grid, horizon)

    def _weigh(self, node: str, starts: ClipStarts, goal: GoalValues, source: str, before: Floats) -> ClipCosts:
        """Compute the costs of clips of a node, with the penalties of their transitions from clips of `source`.

        before : (N, d) parameters of the clips of `source`; (N, 0) if there is no transition.
        """
        n = len(starts.enter)
        out = ClipCosts(np.empty((n, 3)), np.empty(n), np.empty(n), np.empty(n))
        weigh_clips(self.model.tables[node].arrays, starts, goal, N_POINTS, out)
        if before.shape[1]:
            penalties = self.model.penalties(source, node, before, starts.parameters)
            out.done[:] += penalties
            out.onward[:] += penalties
        return out

    def _weigh_first(self, state: ControlState, option: TransitionOption, tried: Floats, goal: GoalValues) -> ClipCosts:
        """Compute the costs of an option's clips with parameters (N, d)."""
        follows = option.range.leave > 0.0 and not option.inside
        before = np.tile(state.parameters if follows else np.zeros(0), (len(tried), 1))
        starts, name = self.model.begin(state, option, tried), option.node.name
        if state.changes is not None and goal.horizon:
            starts = self.model.hold_clips(name, starts, state.changes[0])
        costs = self._weigh(name, starts, goal, state.node, before)
        if option.inside and goal.horizon:
            before = np.tile(state.parameters, (len(tried), 1))
            costs.onward[:] += self.model.change_penalties(name, option.range.enter, before, tried)
        return costs

    def _refine(
        self, state: ControlState, option: TransitionOption, goal: GoalValues, tried: Floats, free: Bools, n: int,
        usual: Floats | None = None, total: Floats | None = None,
    ) -> Floats:  # fmt: skip
        """Improve the best n of the tried parameters (N, d): vary the free ones in smaller and smaller steps.

        usual : (d,) preferred parameters, NaN where there is no preference.
        total : (N,) costs, if known.
        """
        node, box = option.node, option.range

        def weigh(parameters: Floats) -> Floats:
            costs = self._weigh_first(state, option, parameters, goal)
            total = np.minimum(costs.done, costs.onward)
            return total if usual is None else total + _UNUSUAL * np.nansum(np.abs(parameters - usual) / node.scale, 1)

        total = weigh(tried) if total is None else total
        order = np.argsort(total, kind="stable")[:n]
        best, cost = tried[order], total[order]
        step, middle = 0.5 * (box.high - box.low) / (np.array(_tries(node)) - 1), box.middle
        turns = np.concatenate([np.eye(len(step))[free], -np.eye(len(step))[free]])
        for _ in range(_ROUNDS):
            near = np.clip(best[:, None] + turns * step, box.low, box.high).reshape(-1, len(step))
            near = move_inside(box.region, near, middle)
            total = weigh(near).reshape(len(best), -1)
            which = np.argmin(total, axis=1)
            better = total[np.arange(len(best)), which] < cost
            best[better] = near.reshape(len(best), -1, len(step))[better, which[better]]
            cost[better] = total[better, which[better]]
            step = 0.5 * step
        return best

    def _search(self, level: list[_Candidates], kind: str, place: Floats) -> tuple[float, list[Choice]]:
        """Extend the most promising plans clip by clip, until none can arrive sooner than the best.

        Far from the goal, the table alone decides. Return the arrival time of the best plan in seconds, and its clips.
        If no plan arrives within the searched clips, return infinity and the plan with the lowest estimated time.
        """
        best, plan = np.inf, list[Choice]()
        for depth in range(_MAX_CLIPS):
            if np.isinf(best):
                top = min(level, key=lambda each: each.onward.min())
                plan = top.list_clips(int(np.argmin(top.onward)))
            for each in level:
                k = int(np.argmin(each.done))
                if each.done[k] < best:
                    best, plan = float(each.done[k]), each.list_clips(k)
            width = _WIDTHS[min(depth, len(_WIDTHS) - 1)]
            hopes = np.concatenate([each.onward for each in level])
            if hopes.min() > _SEARCHED:
                break
            limit = min(best, np.partition(hopes, width)[width]) if len(hopes) > width else best
            chosen = [(each, np.flatnonzero(each.onward < limit)) for each in level]
            level = [
                self._follow(each, rows, target, kind, place)
                for each, rows in chosen
                if len(rows)
                for target in list_targets(self.model, each.node, self.nodes)
            ]
            if not level:
                break
        return best, plan

    def _follow(
        self, clips: _Candidates, rows: Ints, target: str, kind: str, place: Floats, parameters: Floats | None = None
    ) -> _Candidates:
        """Extend plans by clips of a node: with samples of all its parameters, or with the given parameters (e,).

        Given parameters are moved into the range that each transition allows.
        """
        unit = self.model.tables[target].sample_box(fine=False) if parameters is None else parameters[None]
        starts = self.model.follow(
            clips.node, target, clips.parameters[rows], clips.places[rows], unit, exact=parameters is not None
        )
        before = np.repeat(rows, len(unit))
        goal = self._goal(kind, place, target)
        costs = self._weigh(target, starts, goal, clips.node, clips.parameters[before])
        return _extend_plans(target, starts.parameters, costs, clips, before)


def _extend_plans(
    node: str, parameters: Floats, costs: ClipCosts, before: _Candidates | None = None, rows: Ints | None = None
) -> _Candidates:
    """Return plans that end with the given clips. `before` holds the plans to extend; None for first clips."""
    row = np.zeros(len(parameters), dtype=np.int64) if rows is None else rows
    gone = np.zeros(len(row)) if before is None else before.gone[row]
    return _Candidates(
        node, parameters, costs.places, gone + costs.spent, gone + costs.done, gone + costs.onward, before, row
    )


def get_planner(graph: ParametricMotionGraph, nodes: tuple[str, ...] | None = None, short_way: float = 0.0) -> Planner:
    """Return the planner of a graph in its current state; the last few are cached. See `Planner` for the parameters.

    Examples
    --------
    >>> planner = marey.control.get_planner(character)
    >>> planner is marey.control.get_planner(character)
    True
    """
    return _get_planner(graph, tuple(graph.nodes.values()), tuple(graph.edges.values()), nodes, short_way)


@lru_cache(maxsize=32)
def _get_planner(
    graph: ParametricMotionGraph,
    known: tuple[Node, ...],
    edges: tuple[Edge, ...],
    nodes: tuple[str, ...] | None,
    short_way: float,
) -> Planner:
    return Planner(graph, nodes, short_way)


def _tries(node: Node) -> tuple[int, ...]:
    return (41, *[7] * (node.n_dims - 1)) if node.n_dims < 3 else (17, *[5] * (node.n_dims - 1))
