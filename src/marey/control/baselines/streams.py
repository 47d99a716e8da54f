"""Build every kind of live player from the same clips, for a fair comparison.

Each player is set up as a user could do it in about an hour, with default settings if possible. Players that need
hand-picked clips use one-cycle clips with about the same turns.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from marey.core.arrays import Floats
from marey.core.feet import LiveFeet, check_feet
from marey.core.motion import Motion
from marey.core.placement import find_facing
from marey.deprecation import renamed_parameters
from marey.edit import cycle
from marey.errors import NoResult, UnknownName, format_list, similar
from marey.play import PlayedStream

__all__ = ["KINDS", "TURNS", "baseline_streams", "pick_strides"]

KINDS = ("parametric motion graph", "fat graph", "move tree", "blend tree", "motion matching", "motion graph")
"""Names of all kinds of players, in table order."""

TURNS = tuple(math.radians(degrees) for degrees in (-60.0, -30.0, 0.0, 30.0, 60.0))
"""Turns, in radians per cycle, of the clips of a move tree and the loops of a blend tree."""

_Maker = Callable[[LiveFeet], PlayedStream]
# Extra cycles before and after each one-cycle clip, for blending.
_MARGIN = 0.2


@renamed_parameters(lock=("feet", lambda on: "lock" if on else None))
def baseline_streams(
    clips: Sequence[Motion],
    *,
    kinds: Sequence[str] = KINDS,
    feet: LiveFeet = "lock",
    turns: Sequence[float] = TURNS,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
) -> dict[str, Callable[[], PlayedStream]]:
    """Return, for each kind of player, a function that makes a new stream. The data of each kind is built only once.

    Parameters
    ----------
    clips : walks of one character along left and right curves, at one speed, with contacts. Include mirrored copies to
        have as many left as right curves.
    kinds : names from `KINDS`.
    feet : foot handling, as in all live streams. ``"clean"`` delays all players by the same time.
    turns : for players of hand-picked clips, the turns to pick, in radians per cycle; for each, the cycle with the
        nearest turn is used.
    settings : options of the builder, by kind: those of ``connect`` for a parametric motion graph, those of ``build``
        for the others. The ``length`` of a move tree is fixed.
    """
    check_feet(feet, live=True)
    given = {kind: dict(options) for kind, options in (settings or {}).items()}
    for kind in (*kinds, *given):
        if kind not in _MAKERS:
            raise UnknownName(f"no baseline {kind!r}{similar(str(kind), KINDS)}; baselines: {', '.join(KINDS)}")
    makers = {kind: _MAKERS[kind](clips, turns, given.get(kind, {})) for kind in kinds}
    return {kind: partial(make, feet) for kind, make in makers.items()}


def pick_strides(clips: Sequence[Motion], turns: Sequence[float] = TURNS, margin: float = 0.0) -> dict[str, Motion]:
    """Find, for each turn, the gait cycle in the clips whose turn is nearest to it. Keys are turns in degrees.

    A cycle that is the best for two turns appears once.

    Parameters
    ----------
    turns : turns in radians per cycle. margin : extra cycles before and after, included in the result.
    """
    from marey.pmg.gait_cycles import compute_phase, find_cycles

    found: list[tuple[float, Motion]] = []
    for motion in clips:
        phase, first, last = compute_phase(motion)
        frames = np.arange(first, last + 1)
        heading = find_facing(motion.skeleton, motion.world().positions)
        for start in find_cycles(motion, max(margin, 1e-6)).tolist():
            at: Floats = np.interp([start - margin, start, start + 1, start + 1 + margin], phase[frames], frames)
            turn = float(np.diff(np.interp(at[1:3], np.arange(len(heading)), heading))[0])
            found.append((turn, motion[round(float(at[0])) : round(float(at[3])) + 1]))
    if not found:
        names = format_list([repr(motion.name) for motion in clips], 3)
        raise NoResult(
            f"no clip ({names}) is long enough: it must contain {1 + 2 * margin:g} gait cycles, about "
            f"{2 + 4 * margin:.2g} steps; pass longer clips"
        )
    out: dict[str, Motion] = {}
    taken: set[int] = set()
    for wanted in turns:
        k = min(range(len(found)), key=lambda i: abs(found[i][0] - wanted))
        if k not in taken:
            taken.add(k)
            name = f"{math.degrees(wanted):+.0f}"
            out[name] = replace(found[k][1], name=name)
    return out


def _make_parametric(clips: Sequence[Motion], turns: Sequence[float], options: dict[str, Any]) -> _Maker:
    from marey.control.direction import FollowDirection
    from marey.pmg import GaitSpace, ParametricMotionGraph

    char = ParametricMotionGraph("parametric motion graph")
    char.add("walk", GaitSpace.build(clips))
    char.connect("walk", "walk", **options)
    return lambda feet: char.stream(FollowDirection(0.0), feet=feet)


def _make_fat_graph(clips: Sequence[Motion], turns: Sequence[float], options: dict[str, Any]) -> _Maker:
    from marey.control.baselines.fat_graph import FatGraph, FatGraphStream

    graph = FatGraph.build(clips, **options)
    return lambda feet: FatGraphStream(graph, feet=feet)


def _make_move_tree(clips: Sequence[Motion], turns: Sequence[float], options: dict[str, Any]) -> _Maker:
    from marey.control.baselines.move_tree import MoveTree, MoveTreeStream

    moves = pick_strides(clips, turns, _MARGIN)
    shortest = min(motion.duration for motion in moves.values())
    length = shortest * 2.0 * _MARGIN / (1.0 + 2.0 * _MARGIN)
    tree = MoveTree.build(moves, {name: list(moves) for name in moves}, length=length, **options)
    return lambda feet: MoveTreeStream(tree, feet=feet)


def _make_blend_tree(clips: Sequence[Motion], turns: Sequence[float], options: dict[str, Any]) -> _Maker:
    from marey.control.blend_tree import BlendTree, BlendTreeStream

    loops = make_loops(clips, turns)
    tree = BlendTree.build(loops, [list(loops)], **options)
    return lambda feet: BlendTreeStream(tree, feet=feet)


def make_loops(clips: Sequence[Motion], turns: Sequence[float] = TURNS) -> dict[str, Motion]:
    """Cut the cycles that turn by about `turns`, in radians, out of walks, and make loops of them."""
    return {name: _make_loop(motion) for name, motion in pick_strides(clips, turns, _MARGIN).items()}


def _make_loop(stride: Motion) -> Motion:
    extra = _MARGIN / (1.0 + 2.0 * _MARGIN) * (len(stride) - 1)
    return cycle(stride, round(extra), len(stride) - 1 - round(extra), feet=None)


def _make_matching(clips: Sequence[Motion], turns: Sequence[float], options: dict[str, Any]) -> _Maker:
    from marey.control.motion_matching import MatchingData, MotionMatching

    data = MatchingData.build(clips, **options)
    return lambda feet: MotionMatching(data, feet=feet)


def _make_motion_graph(clips: Sequence[Motion], turns: Sequence[float], options: dict[str, Any]) -> _Maker:
    from marey.graph import MotionGraph
    from marey.graph.stream import GraphStream

    graph = MotionGraph.build(clips, **options)
    return lambda feet: GraphStream(graph, feet=feet)


_MAKERS: Mapping[str, Callable[[Sequence[Motion], Sequence[float], dict[str, Any]], _Maker]] = dict(
    zip(
        KINDS,
        (_make_parametric, _make_fat_graph, _make_move_tree, _make_blend_tree, _make_matching, _make_motion_graph),
        strict=True,
    )
)
