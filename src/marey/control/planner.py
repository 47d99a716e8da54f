"""The planner of parametric motion graphs: value tables, computed once, and what they say while a character plays.

A state of a character is a clip that has been played: a node and its parameters, on a grid (see `ClipModel`). For every
state and every goal, seen from the character, value iteration computes the cost of the best sequence of clips. Cost is
time in all tables:

- ``direction``: seconds during which the character does not face a direction, discounted;
- ``point``: seconds until it is at a point; ``pose``: until it is at a point with a heading;
- ``node``: seconds until a clip of another node begins.

`marey.maths.value_kernels` describes how a table is read. A choice looks one clip ahead from the exact state: it tries
many parameters of each node that can follow, adds the table's value where each clip ends, and refines the best ones
inside the allowed range. For a point, the most promising plans are then extended clip by clip, until one arrives and
none can arrive sooner. See Treuille et al. 2007, McCann and Pollard 2007, and Lee and Lee 2004.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from marey.control.clip_model import N_POINTS, ClipModel, grid_fractions, move_inside
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

# Seconds that an unusual parameter costs, such as a speed that was not requested, for a whole range.
_UNUSUAL = 0.3
# Meters or radians that a character moves at most while it stands.
_STILL = 0.1
# Number of first clips that are refined, and number of steps that are halved each time.
_REFINED, _ROUNDS = 6, 3
# Number of plans that are extended by a clip: the first time, the second, and so on; and clips until plans are given
# up.
_WIDTHS, _MAX_CLIPS = (16, 12, 6, 4), 8
# Seconds that a change within a clip must save.
_MIN_GAIN = 0.3
# Seconds to the goal above which plans are not extended, because it makes no difference.
_SEARCHED = 6.0


class _Candidates(NamedTuple):
    """N clips of one node, each the last of a plan.

    parameters : (N, d), d per clip. places : (N, 3) rigid2d where they end. gone : (N,) seconds until then. done,
    onward : (N,) cost of the plan if it ends with this clip, and if it goes on. root : (N,) index of the plan's first
    clip. second : (N,) index of the plan's second clip; -1 if there is none.
    """

    node: str
    parameters: Floats
    places: Floats
    gone: Floats
    done: Floats
    onward: Floats
    root: Ints
    second: Ints


class Planner:
    """Plans of a character. The tables are computed on first use.

    Parameters
    ----------
    graph : the character.
    nodes : names of the nodes to use for goals with a position; None for all.
    """

    def __init__(self, graph: ParametricMotionGraph, nodes: tuple[str, ...] | None = None) -> None:
        self.graph, self.nodes = graph, nodes
        self.model = ClipModel(graph)
        self._tables: dict[str, ValueTable] = {}

    def table(self, kind: str) -> ValueTable:
        """Return the table for goals of one kind: "direction", "point", "pose" or "node"."""
        if kind not in self._tables:
            self._tables[kind] = build_table(self.model, kind, self.nodes)
        return self._tables[kind]

    def put_tables(self, tables: dict[str, ValueTable]) -> None:
        """Use tables that were computed before."""
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
        """Return the one of some nodes that can begin soonest after the state's clip; None if none can."""
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
        """Return the seconds (M,) until places (M, 3) are reached, rigid2d, if the best of some clips is played first.

        node, parameters : node and parameters (N, d) of the clips. paths, seconds : (N, W, 3) and (N,).
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
        """Return the seconds until a clip of another node begins, if a clip in the middle of the option's box is
        next.
        """
        node, box = option.node.name, option.range
        parameters = box.middle[None]
        starts = ClipStarts(parameters, np.full(1, box.enter), np.zeros((1, 3)))
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
        goal = self._goal("direction", np.array([direction, 0.0, 0.0]), node.name)
        if state.changes is not None:
            goal = goal._replace(limits=np.array([*DIRECTION_LIMITS[:2], *state.changes]))
        usual = np.where(np.array(node.names) == "turn", np.nan, node.middle)
        tried = move_inside(box.region, tried, box.middle)
        return np.asarray(self._refine(state, option, goal, tried, ~held, 1, usual)[0])

    def go_to(
        self, state: ControlState, place: Floats, planned: Choice | None = None
    ) -> tuple[Choice, Choice | None] | None:
        """Choose the next clip on the way to a place (3,), a rigid2d with a heading of NaN if any will do.

        planned : the clip that was to come next when the current one was chosen; a plan is given up only for a better
        one.

        Returns the clip and the one planned after it, if any; or None if none of the nodes can follow.
        """
        kind = "point" if np.isnan(place[0]) else "pose"
        level: list[_Candidates] = []
        firsts: list[Choice] = []
        for option in state.options:
            node = option.node
            if self.nodes is None or node.name in self.nodes:
                goal = self._goal(kind, place, node.name)
                box, unit = option.range, self.model.tables[node.name].sample_box(fine=True)
                tried = move_inside(box.region, box.low + unit * (box.high - box.low), box.middle)
                refined = self._refine(state, option, goal, tried, np.ones(len(box.low), dtype=bool), _REFINED)
                keep = state.parameters if option.inside else None
                if not option.inside and planned is not None and planned.node == node.name:
                    keep = box.region.project(planned.parameters)
                tried = np.concatenate([refined if keep is None else np.concatenate([keep[None], refined]), tried])
                costs = self._weigh_first(state, option, tried, goal)
                if option.inside:
                    costs.done[0] -= _MIN_GAIN
                    costs.onward[0] -= _MIN_GAIN
                roots = np.arange(len(firsts), len(firsts) + len(tried))
                none = np.full(len(tried), -1)
                level.append(_extend_plans(node.name, tried, costs, np.zeros(len(tried)), roots, none))
                firsts += [Choice(node.name, each) for each in tried]
        if not firsts:
            return None
        root, second = self._search(level, kind, place)
        return firsts[root], second

    def _goal(self, kind: str, place: Floats, node: str) -> GoalValues:
        table, rows = self.table(kind), self.model.tables[node]
        values = table.values[rows.first : rows.first + len(rows.grid)]
        limits = DIRECTION_LIMITS if kind == "direction" else CHOICE_LIMITS
        return GoalValues(place, limits, values, table.grid, HORIZON)

    def _weigh(self, node: str, starts: ClipStarts, goal: GoalValues, source: str, before: Floats) -> ClipCosts:
        """Compute the costs of clips of a node after clips of `source` with parameters (N, d); none for d = 0."""
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
        starts = self.model.begin(state, option, tried)
        return self._weigh(option.node.name, starts, goal, state.node, before)

    def _refine(
        self, state: ControlState, option: TransitionOption, goal: GoalValues, tried: Floats, free: Bools, n: int,
        usual: Floats | None = None,
    ) -> Floats:  # fmt: skip
        """Improve the best n of the tried parameters (N, d) by smaller and smaller steps of the free ones.

        usual : (d,) parameters that are preferred, NaN where there is no preference.
        """
        node, box = option.node, option.range

        def weigh(parameters: Floats) -> Floats:
            costs = self._weigh_first(state, option, parameters, goal)
            total = np.minimum(costs.done, costs.onward)
            return total if usual is None else total + _UNUSUAL * np.nansum(np.abs(parameters - usual) / node.scale, 1)

        total = weigh(tried)
        order = np.argsort(total, kind="stable")[:n]
        best, cost = tried[order], total[order]
        step = 0.5 * (box.high - box.low) / (np.array(_tries(node)) - 1)
        turns = np.concatenate([np.eye(len(step))[free], -np.eye(len(step))[free]])
        for _ in range(_ROUNDS):
            near = np.clip(best[:, None] + turns * step, box.low, box.high).reshape(-1, len(step))
            near = move_inside(box.region, near, box.middle)
            total = weigh(near).reshape(len(best), -1)
            which = np.argmin(total, axis=1)
            better = total[np.arange(len(best)), which] < cost
            best[better] = near.reshape(len(best), -1, len(step))[better, which[better]]
            cost[better] = total[better, which[better]]
            step = 0.5 * step
        return best

    def _search(self, level: list[_Candidates], kind: str, place: Floats) -> tuple[int, Choice | None]:
        """Extend plans clip by clip, the most promising ones, until none can arrive sooner.

        Far from the goal, the table alone decides. Returns the index of the first clip of the best plan, and its second
        clip. If none arrives soon, this is the plan that promises most.
        """
        best, chosen, second, seconds = np.inf, 0, -1, list[tuple[str, Floats]]()
        for depth in range(_MAX_CLIPS):
            if np.isinf(best):
                top = min(level, key=lambda each: each.onward.min())
                k = int(np.argmin(top.onward))
                chosen, second = int(top.root[k]), int(top.second[k])
            for each in level:
                k = int(np.argmin(each.done))
                if each.done[k] < best:
                    best, chosen, second = float(each.done[k]), int(each.root[k]), int(each.second[k])
            width = _WIDTHS[min(depth, len(_WIDTHS) - 1)]
            hopes = np.concatenate([each.onward for each in level])
            if hopes.min() > _SEARCHED:
                break
            limit = min(best, np.partition(hopes, width)[width]) if len(hopes) > width else best
            level = [after for each in level for after in self._extend(each, each.onward < limit, kind, place)]
            if not level:
                break
            if depth == 0:
                for each in level:
                    each.second[:] = np.arange(len(seconds), len(seconds) + len(each.second))
                    seconds += [(each.node, row) for row in each.parameters]
        return chosen, None if second < 0 else Choice(*seconds[second])

    def _extend(self, clips: _Candidates, chosen: Bools, kind: str, place: Floats) -> Iterator[_Candidates]:
        """Yield the clips that can follow some of the given clips."""
        row = np.flatnonzero(chosen)
        if not len(row):
            return
        for target in list_targets(self.model, clips.node, self.nodes):
            unit = self.model.tables[target].sample_box(fine=False)
            starts = self.model.follow(clips.node, target, clips.parameters[row], clips.places[row], unit)
            before = np.repeat(row, len(unit))
            goal = self._goal(kind, place, target)
            costs = self._weigh(target, starts, goal, clips.node, clips.parameters[before])
            origin = clips.gone[before], clips.root[before], clips.second[before]
            yield _extend_plans(target, starts.parameters, costs, *origin)


def _extend_plans(
    node: str, parameters: Floats, costs: ClipCosts, gone: Floats, root: Ints, second: Ints
) -> _Candidates:
    """Return clips that go on with plans after some seconds (N,)."""
    after = gone + costs.done, gone + costs.onward
    return _Candidates(node, parameters, costs.places, gone + costs.spent, *after, root, second)


def get_planner(graph: ParametricMotionGraph, nodes: tuple[str, ...] | None = None) -> Planner:
    """Return the planner of a graph in its current state; the last few are cached."""
    return _cached_planner(graph, tuple(graph.nodes.values()), tuple(graph.edges.values()), nodes)


@lru_cache(maxsize=8)
def _cached_planner(
    graph: ParametricMotionGraph, known: tuple[Node, ...], edges: tuple[Edge, ...], nodes: tuple[str, ...] | None
) -> Planner:
    return Planner(graph, nodes)


def _tries(node: Node) -> tuple[int, ...]:
    return (41, *[7] * (node.n_dims - 1)) if node.n_dims < 3 else (17, *[5] * (node.n_dims - 1))
