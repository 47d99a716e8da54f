"""Styles along a path: the edges that they may use, the routes between them, and where a walk changes style."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from marey.core.arrays import Floats, set_readonly
from marey.errors import InvalidValue, NoResult
from marey.graph.follow_kernels import ARC, OWN, FollowSearch, change_style, extend_state
from marey.graph.label_pairs import explain_styles

if TYPE_CHECKING:
    from marey.core.arrays import Bools, Ints
    from marey.graph.motion_graph import MotionGraph
    from marey.graph.walk import Walk

# A route through other labels may take this many seconds longer than the shortest one.
_DETOUR = 1.0


@dataclass(frozen=True, slots=True)
class StyleStretch:
    """The part of a walk in one style.

    Attributes
    ----------
    label : the style.
    start, stop : frames of the walk; the transition into the style is part of it.
    own_frames : frames of clips with the label, without transitions.
    arc_length : distance along the path at which the style ends, in meters. requested_arc_length : where it should end.
    through : labels on the route from the previous style, if no transition leads directly from there; else empty.
    """

    label: str
    start: int
    stop: int
    own_frames: int
    arc_length: float
    requested_arc_length: float
    through: tuple[str, ...] = ()


def find_style_edges(
    graph: MotionGraph, styles: Sequence[tuple[float, str]] | str | None, total: float
) -> tuple[Floats, Bools, Bools]:
    """Return the arc lengths (S,) in meters at which styles end, and two masks (E, S) of edges.

    The first mask contains the edges that each style may use. The second contains the edges of routes through other
    labels to the next style, if no transition leads there directly.
    """
    edges = graph.edges
    if styles is None:
        return np.array([total]), np.ones((len(edges), 1), dtype=bool), np.zeros((len(edges), 1), dtype=bool)
    listed = [(total, styles)] if isinstance(styles, str) else list(styles)
    if not listed:
        raise InvalidValue("styles must contain at least one label, not none", parameter="styles")
    try:
        ends = np.array([float(end) for end, _ in listed])
    except (TypeError, ValueError):
        raise InvalidValue(
            f"styles must be a label, or a list of (meters, label), not {styles!r}", parameter="styles"
        ) from None
    given = ends.tolist()
    ends[-1] = total
    if not ((np.diff(ends) > 0.0).all() and ends[0] > 0.0):
        raise InvalidValue(
            "styles must end at increasing distances greater than 0, and all but the last before the end of the path "
            f"of {total:.2f} m, not at {', '.join(f'{end:g}' for end in given)} m",
            parameter="styles",
        )
    columns = []
    for _, label in listed:
        k = graph.index(label=label)
        inside = graph.members[k]
        if not inside.any():
            raise NoResult(
                f"no motion with label {label!r} can continue forever; {graph.build_info.remedy}, or omit this style"
            )
        # The head must be in the label's component, so the style can always continue.
        columns.append(edges.labels[:, k] & inside[edges.heads])
    carried = np.stack(columns, axis=1)
    between = np.zeros_like(carried)
    for k, (one, other) in enumerate(itertools.pairwise(columns)):
        # A style ends at a node where an edge of the next one begins.
        if np.isin(edges.heads[one], edges.tails[other]).any():
            continue
        between[:, k] = _find_route_edges(graph, one, other)
        if not between[:, k].any():
            raise NoResult(
                f"the styles cannot change: {explain_styles(graph, [listed[k][1], listed[k + 1][1]])}",
                parameter="styles",
            )
    return ends, carried, between


def _find_route_edges(graph: MotionGraph, before: Bools, after: Bools) -> Bools:
    """Return a mask (E,) of the edges on short routes that lead from the edges `before` (E,) to the edges `after`
    (E,)."""
    edges = graph.edges
    there = _count_frames_from(edges.heads[before], edges.tails, edges.heads, edges.n_frames, len(graph.nodes))
    back = _count_frames_from(edges.tails[after], edges.heads, edges.tails, edges.n_frames, len(graph.nodes))
    length = there[edges.tails] + edges.n_frames + back[edges.heads]
    shortest = float(length.min(initial=np.inf))
    if not np.isfinite(shortest):
        return np.zeros(len(edges), dtype=bool)
    return np.asarray(length <= shortest + _DETOUR * graph.fps)


def count_frames_ahead(graph: MotionGraph, carried: Bools, between: Bools) -> Floats:
    """Return the number of frames (N, S) from each node to the style that follows each of the S styles.

    The number is 0 for styles with a direct transition to the next one.
    """
    edges, n = graph.edges, len(graph.nodes)
    out = np.zeros((n, carried.shape[1]))
    for k in np.flatnonzero(between.any(axis=0)):
        used = carried[:, k] | between[:, k]
        frames = _count_frames_from(
            edges.tails[carried[:, k + 1]], edges.heads[used], edges.tails[used], edges.n_frames[used], n
        )
        reached = np.isfinite(frames)
        out[:, k] = np.where(reached, frames, 2.0 * frames[reached].max(initial=0.0))
    return set_readonly(out)


def _count_frames_from(sources: Ints, tails: Ints, heads: Ints, n_frames: Ints, n_nodes: int) -> Floats:
    """Return the minimum number of frames (N,) from any source node to each node; infinite if there is no route."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    # A sparse array would add up parallel edges: keep the shortest.
    order = np.lexsort((n_frames, heads, tails))
    pairs = np.stack([tails[order], heads[order]], axis=1)
    first = np.concatenate([[True], (np.diff(pairs, axis=0) != 0).any(axis=1)])
    pairs, frames = pairs[first], n_frames[order][first].astype(np.float64)
    weights = csr_array((frames, (pairs[:, 0], pairs[:, 1])), shape=(n_nodes, n_nodes))
    return np.asarray(dijkstra(weights, indices=np.unique(sources), min_only=True))


def trace_styles(walk: Walk, search: FollowSearch, labels: list[str]) -> tuple[StyleStretch, ...]:
    """Play the edges of a walk again and return where its styles begin and end."""
    edges, course = walk.graph.edges, search.course
    state, out = np.zeros(OWN + 1), np.zeros(6)
    state[0] = 1.0
    search = search._replace(bounds=search.bounds._replace(avoid=np.zeros((0, 3)), others=np.zeros((0, 0, 2))))
    style = frame = start = own = 0
    through: set[str] = set()
    found: list[StyleStretch] = []

    def end_stretch(stop: int) -> None:
        k = len(found)
        end = float(course.ends[k])
        names = () if k == 0 else tuple(sorted(through - {labels[k], labels[k - 1]}))
        found.append(StyleStretch(labels[k], start, stop, own, float(state[ARC]), end, names))

    for edge in walk.edges:
        after = change_style(state, style, int(edge), course)
        if after != style:
            state[OWN] = 0.0
        if after != style and style % 2 == 0:
            end_stretch(frame)
            start, own = frame, 0
            through.clear()
        if after % 2:
            through.update(name for name, has in zip(walk.graph.label_names, edges.labels[edge], strict=True) if has)
        n = min(int(edges.n_frames[edge]), walk.n_frames - frame)
        ended = extend_state(state, after, int(edge), frame, search, out)
        own += n if after % 2 == 0 and not edges.blends[edge] else 0
        state[ARC], state[OWN] = out[0], out[5]
        style, frame = after, frame + n
        if ended:
            break
    end_stretch(walk.n_frames)
    return tuple(found)
