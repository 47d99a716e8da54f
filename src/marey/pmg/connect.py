"""Build an edge by sampling both nodes (Heck 6.1.1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from marey.compare.clouds import point_clouds
from marey.compare.distance import warn_of_centimeters
from marey.core.arrays import Bools, Floats
from marey.core.motion import Motion
from marey.errors import InvalidValue, NoResult, warn_user
from marey.pmg.costs import find_best_pairs, make_windows, mean_height
from marey.pmg.edge import Edge, check_thresholds
from marey.pmg.node import Node
from marey.pmg.settings import CompareSettings, SeamSettings
from marey.pmg.units import format_ranges, format_rounded_up

__all__ = ["NodeComparison", "build_edge", "compare_nodes", "find_free_part", "shrink_box"]

# Default thresholds, as fractions of all pairs: those below T_GOOD, and those below T_BAD.
_GOOD, _NOT_BAD = 0.4, 0.6
# T_BAD is at least this multiple of T_GOOD; otherwise boxes would be cut at random.
_APART = 1.2
_QUANTILES = 21
# A chosen T_GOOD above this many meters is reported: such transitions are visible.
LARGE = 0.15
# Number of source samples per batch: enough for matrix products to pay off.
_AT_ONCE = 8
# Maximum number of times to shrink a part of a node until all of its motions have a transition.
_SHRINKS = 6


class NodeComparison(NamedTuple):
    """Samples of two nodes and the best transition for each pair of samples.

    source : (n, d) parameters of the n samples of the source node.
    target : (m, e) parameters of the m samples of the target node.
    costs : (n, m) cost of the best transition, in meters.
    moments : (n, m, 2) position of that transition in the source and in the target motion, each from 0 to 1.

    Examples
    --------
    >>> comparison = character.compare("walk", "walk", n_source=5, n_target=10)
    >>> comparison.costs.shape, comparison.moments.shape
    ((5, 10), (5, 10, 2))
    """

    source: Floats
    target: Floats
    costs: Floats
    moments: Floats


def compare_nodes(source: Node, target: Node, seams: SeamSettings, settings: CompareSettings) -> NodeComparison:
    """Sample both nodes and find the best transition for each pair; see `ParametricMotionGraph.compare`."""
    generator = np.random.default_rng(settings.rng)
    froms = source.samples(settings.n_source, generator, corners=True)
    tos = target.samples(settings.n_target, generator, corners=True)
    leaving = [source.motion(each) for each in froms]
    height = mean_height(point_clouds(leaving[0], seams.markers))
    ends = make_windows(leaving, seams, end=True, height=height)
    starts = make_windows([target.motion(each) for each in tos], seams, end=False, height=height)
    blocks = [range(k, min(k + _AT_ONCE, len(froms))) for k in range(0, len(froms), _AT_ONCE)]
    found = [pair for block in settings.run(partial(find_best_pairs, ends, starts), blocks) for pair in block]
    return NodeComparison(froms, tos, np.stack([cost for cost, _ in found]), np.stack([at for _, at in found]))


def build_edge(
    samples: NodeComparison, source: Node, target: Node, good: float | None = None, bad: float | None = None
) -> Edge:
    """Build an edge from compared samples and thresholds.

    Parameters
    ----------
    good, bad : thresholds T_GOOD and T_BAD, in meters. By default two fifths of all pairs are good and two fifths bad.
        The default T_GOOD is raised, if necessary, until every source sample has a good transition.

    If a given T_GOOD leaves source samples without a transition, an error names the failing part of the source.
    """
    warn_of_centimeters("good", good)
    warn_of_centimeters("bad", bad)
    costs = samples.costs
    best = costs.min(axis=1)
    t_good = max(float(np.quantile(costs, _GOOD)), float(best.max())) if good is None else float(good)
    t_bad = max(float(np.quantile(costs, _NOT_BAD)), _APART * t_good) if bad is None else float(bad)
    if good is None and bad is not None:
        t_good = min(t_good, t_bad)
    check_thresholds(t_good, t_bad)
    if good is None and t_good > LARGE:
        warn_user(
            f"transitions from {source.name!r} to {target.name!r} may be visible. Some motions of {source.name!r} have "
            f"no transition with a distance below {100 * float(best.max()):.0f} cm, so up to {100 * t_good:.0f} cm are "
            "allowed. Add clips that lead from one node to the other. Or restrict the edge to motions with better "
            "transitions: set a smaller `good=`, and give the name of a new node for these motions as `part=`"
        )
    stuck = best > t_good
    if stuck.any():
        raise _make_stuck_error(samples, source, target, stuck, t_good)
    low, high = np.empty((len(costs), target.n_dims)), np.empty((len(costs), target.n_dims))
    moments = np.empty((len(costs), 2))
    # Tiny gap between a box and an excluded sample, in the target's parameters.
    apart = 1e-6 * target.scale
    for k, row in enumerate(costs):
        is_good = row <= t_good
        low[k], high[k] = shrink_box(
            samples.target[is_good], samples.target[row > t_bad], samples.target[int(np.argmin(row))], apart
        )
        inside = is_good & ((samples.target >= low[k]) & (samples.target <= high[k])).all(axis=1)
        moments[k] = samples.moments[k, inside].mean(axis=0)
    # A box that ends at the outermost sample extends to the end of the node: nothing beyond it was found to be bad.
    low = np.where(low <= samples.target.min(axis=0), target.low, low)
    high = np.where(high >= samples.target.max(axis=0), target.high, high)
    quantiles = np.quantile(costs, np.linspace(0.0, 1.0, _QUANTILES))
    fallback = samples.target[np.argmin(costs, axis=1)]
    return Edge(
        source.name, target.name, t_good, t_bad, samples.source, low, high, fallback, moments, source.scale, quantiles,
        float(best.max()), good is None,
    )  # fmt: skip


def shrink_box(good: Floats, bad: Floats, best: Floats, margin: Floats) -> tuple[Floats, Floats]:
    """Shrink the box around good samples (g, d) until no bad sample (b, d) lies in it.

    Each bad sample is excluded by moving one side of the box: the one that keeps the most good samples or, on ties, the
    one that moves least. The best sample (d,), one of the good ones, always stays inside, so the box is never empty.

    Parameters
    ----------
    margin : (d,) gap between a moved side and the excluded sample.
    """
    low, high = good.min(axis=0), good.max(axis=0)
    width = np.where(high > low, high - low, 1.0)
    order = np.argsort(np.abs((bad - best) / width).max(axis=1), kind="stable")
    for sample in bad[order]:
        if not ((sample >= low) & (sample <= high)).all():
            continue
        options = []
        for k in range(len(low)):
            for side, edge in ((0, sample[k] + margin[k]), (1, sample[k] - margin[k])):
                if (edge > best[k]) if side == 0 else (edge < best[k]):
                    continue
                tried = low.copy(), high.copy()
                tried[side][k] = edge
                n_left = int(((good >= tried[0]) & (good <= tried[1])).all(axis=1).sum())
                moved = abs(edge - (low, high)[side][k]) / width[k]
                options.append((-n_left, moved, k, side, edge))
        if not options:  # the bad sample practically coincides with the best one
            return best.copy(), best.copy()
        _, _, k, side, edge = min(options)
        (low, high)[side][k] = edge
    return low, high


def _make_stuck_error(samples: NodeComparison, source: Node, target: Node, stuck: Bools, good: float) -> NoResult:
    """Make the error: which part of the source has no transition, and what to do."""
    lost, fine = samples.source[stuck], samples.source[~stuck]
    worst = float(samples.costs.min(axis=1).max())
    ranges = format_ranges(source.names, source.units, lost.min(axis=0), lost.max(axis=0))
    text = (
        f"no edge from {source.name!r} to {target.name!r}: {int(stuck.sum())} of {len(stuck)} sampled motions, with "
        f"{ranges}, have no transition that costs at most {good:.3g} m"
    )
    remedy = f"raise `good=` to {format_rounded_up(worst)} m"
    box = find_free_box(fine, lost)
    if box is not None:
        part = format_ranges(source.names, source.units, *box)
        remedy += f", or connect only the sub-range {part}, and name it with `part=`"
    return NoResult(text, parameter="good", remedy=remedy)


def find_free_box(fine: Floats, lost: Floats) -> tuple[Floats, Floats] | None:
    """Return a box (low, high) that contains samples with a transition, `fine` (n, d), and none of those without,
    `lost` (m, d).

    Return None if fewer than two samples of `fine` remain in the box.
    """
    if len(fine) < 2:
        return None
    middle = fine[int(np.argmin(np.abs(fine - np.median(fine, axis=0)).sum(axis=1)))]
    span = np.ptp(np.concatenate([fine, lost]), axis=0)
    low, high = shrink_box(fine, lost, middle, 1e-6 * np.where(span > 0.0, span, 1.0))
    inside = fine[((fine >= low) & (fine <= high)).all(axis=1)]
    if len(inside) < 2:
        return None
    return inside.min(axis=0), inside.max(axis=0)


def find_free_part(
    source: Node,
    target: Node,
    name: str,
    good: float,
    found: NodeComparison,
    compare: Callable[[Node], NodeComparison],
) -> tuple[Node, NodeComparison]:
    """Find a part of a node in which all motions have a transition; return it as a node with its comparison.

    Sampling a part more densely may reveal motions without a transition that were missed in the full node; the part
    then shrinks again.

    Parameters
    ----------
    name : name of the new node.
    good : largest cost of a transition, in meters.
    found : comparison of the full node with the target.
    compare : function that samples a part and compares it with the target.
    """
    part = source
    for _ in range(_SHRINKS):
        stuck = found.costs.min(axis=1) > good
        box = find_free_box(found.source[~stuck], found.source[stuck])
        if box is None:
            break
        part = source.part(name, *box)
        found = compare(part)
        if not (found.costs.min(axis=1) > good).any():
            return part, found
    needed = float(found.costs.min(axis=1).max())
    raise NoResult(
        f"no sub-range of {source.name!r} was found in which all motions have a transition to {target.name!r} that "
        f"costs at most {good:g} m; raise `good=`: {format_rounded_up(needed)} m is enough for "
        f"{format_ranges(part.names, part.units, part.low, part.high)}"
    )


def check_compatible(motions: Sequence[Motion], names: Sequence[str]) -> None:
    """Raise an error if nodes differ in skeleton or frame rate."""
    from marey.core.placement import check_same_skeleton

    first = motions[0]
    for motion, name in zip(motions[1:], names[1:], strict=True):
        where = f"a graph with the nodes {names[0]!r} and {name!r}"
        remedy = "build all nodes onto one skeleton with `retarget=`"
        check_same_skeleton(first.skeleton, motion.skeleton, where, remedy)
        if motion.fps != first.fps:
            raise InvalidValue(
                f"node {name!r} has {motion.fps:g} fps, but {names[0]!r} has {first.fps:g}; resample one of them"
            )
