"""Registration through a tree of pairs (Kovar 6.3.1): each motion is registered with a similar one.

Two examples of one action, such as a reach to the floor and one overhead, may be too different to register directly. A
chain of intermediate motions, each similar to the next, can connect them: frames and positions are passed on from
motion to motion along a tree whose root is the reference.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from marey.compare import Clouds, align_frames, distance_grid, point_clouds
from marey.core.arrays import Floats, Ints, check_index, convert_array, freeze_array, set_readonly
from marey.core.clips import list_clips, name_clip
from marey.core.motion import Motion
from marey.core.placement import RETARGET, check_same_skeleton
from marey.core.settings import operation
from marey.edit.common_skeleton import share_skeleton
from marey.errors import InvalidValue, NoResult, NotBlendable
from marey.maths import rigid2d
from marey.register.curves import KNOT_EVERY, AlignmentCurve, TimewarpCurve, alignment_curve
from marey.register.matches import ConstraintMatch, match_contacts
from marey.register.pairs import PairPath, find_full_path
from marey.register.prepare import check_length, prepare_motions
from marey.register.registration import RegistrationCurve
from marey.register.sampling import crop_clouds, sample_clouds, stack_clouds
from marey.register.settings import PathSettings, TreeSettings
from marey.register.support import measure_opposite_feet

__all__ = ["TreeRegistration", "find_nearest_tree", "prune_tree", "register_tree", "select_motions"]

# Seconds between knots, as in other registrations.
_TIMEWARP_KNOT, _ALIGNMENT_KNOT = 0.13, 0.065
# Number of samples of a motion for a rough comparison with the others.
_FEW = 32
# Number of iterations that move a curve to its landmarks, and the seconds affected on each side.
_ROUNDS, _AROUND = 6, 0.3
# m^2 below which motions count as the same; SciPy treats dense entries below 1e-8 as missing edges.
_SAME = 1e-6
# Minimum number of motions.
_MIN_FAMILY = 2


@dataclass(frozen=True, slots=True, eq=False)
class TreeRegistration:
    """A registration of the motions that could be registered.

    registration : registration of the m motions kept, in their order.
    kept : (m,) indices of these among the given motions.
    left_out : reasons why the others were rejected, keyed by index.
    parents : (m,) index, among the kept motions, of each motion's parent, with which it was registered; -1 for the
        reference.
    """

    registration: RegistrationCurve
    kept: Ints
    left_out: dict[int, str]
    parents: Ints


@dataclass(frozen=True, slots=True, eq=False)
class _Edge:
    """A motion and its parent in the tree: the timewarp of the two, parent first, their distance in meters, and notes
    on problems."""

    timewarp: TimewarpCurve
    distance: float
    notes: tuple[str, ...]


@operation(TreeSettings, positional=("parents",))
def register_tree(motions: Iterable[Motion], settings: TreeSettings) -> TreeRegistration:
    """Register whole motions, from first frame to last, each with its parent in a tree.

    Parameters
    ----------
    motions : n motions, at least two, with the same skeleton; see `marey.register`.

    Returns
    -------
    TreeRegistration. Motions that cannot be registered are dropped, with the reason in the registration's notes; their
    children move to their parent.

    Raises
    ------
    NotBlendable : if fewer than two motions remain.

    Examples
    --------
    >>> from marey.register import register_tree
    >>> tree = register_tree(kicks)
    >>> tree.kept.tolist(), tree.registration.n_motions
    ([0, 1, 2, 3, 4], 5)
    """
    given = share_skeleton(list_clips(motions, "registration", _MIN_FAMILY), settings.retarget)
    marks = _check_landmarks(settings.landmarks, given)
    tree = None if settings.parents is None else check_parents(settings.parents, len(given))
    root = _check_root(settings.reference, tree, len(given))
    left_out: dict[int, str] = _find_unfit(given, root)
    fit = [k for k in range(len(given)) if k not in left_out]
    _check_enough(len(fit), left_out)
    ready, notes = prepare_motions(given[k] for k in fit)
    marks = marks[fit] * np.array([motion.fps / given[k].fps for motion, k in zip(ready, fit, strict=True)])[:, None]
    marks = np.rint(marks).astype(np.int64)
    clouds = [point_clouds(motion, settings.markers) for motion in ready]
    if tree is None:
        hung = find_nearest_tree(clouds, marks, None if root is None else fit.index(root))
    else:
        hung = prune_tree(tree, fit)
    edges, hung, failed = _make_edges(ready, clouds, marks, hung, settings)
    left_out |= {fit[k]: reason for k, reason in failed.items()}
    remaining = [k for k in range(len(fit)) if k not in failed]
    _check_enough(len(remaining), left_out)
    notes += tuple(f"{name_clip(given[k], k)} is left out: {left_out[k]}" for k in sorted(left_out))
    notes += tuple(note for edge in edges.values() for note in edge.notes)
    at = {k: place for place, k in enumerate(remaining)}
    ordered = np.array([-1 if hung[k] < 0 else at[int(hung[k])] for k in remaining])
    result = _build(
        [ready[k] for k in remaining],
        [clouds[k] for k in remaining],
        marks[remaining],
        ordered,
        [edges.get(k) for k in remaining],
        notes,
    )
    return TreeRegistration(
        result, set_readonly(np.array([fit[k] for k in remaining])), left_out, set_readonly(ordered)
    )


def select_motions(reg: RegistrationCurve, which: Sequence[int]) -> tuple[RegistrationCurve, Ints]:
    """Restrict a registration to some of its motions; also return their indices (m,).

    The reference is always included because the alignments are in its coordinates; with weight 0 it has no effect.
    Curves and matches do not change, so a blend is the same as a blend of all motions in which the others have weight
    0.
    """
    wanted = {check_index(k, "a motion's number") for k in which} | {reg.reference}
    if min(wanted) < 0 or max(wanted) >= reg.n_motions:
        raise InvalidValue(
            f"`which` must contain indices of motions from 0 to {reg.n_motions - 1}, not {sorted(wanted)}"
        )
    remaining = np.array(sorted(wanted))
    reference = int(np.searchsorted(remaining, reg.reference))
    loops = None if reg.loops is None else reg.loops[remaining]
    result = RegistrationCurve(
        motions=tuple(reg.motions[k] for k in remaining),
        timewarp=TimewarpCurve(reg.timewarp.points[:, remaining], reg.cyclic),
        alignment=AlignmentCurve(
            reg.alignment.points[:, remaining], reference, loops, reg.alignment.origins[remaining]
        ),
        matches=tuple(ConstraintMatch(m.point, m.starts[remaining], m.stops[remaining]) for m in reg.matches),
        reference=reference,
        distance=float(reg.distances[remaining].max()),
        distances=reg.distances[remaining],
        cyclic=reg.cyclic,
        loops=loops,
        notes=reg.notes,
        crops=reg.crops[remaining],
    )
    return result, set_readonly(remaining)


def find_nearest_tree(clouds: Sequence[Clouds], landmarks: Ints | None = None, root: int | None = None) -> Ints:
    """Find the parents (n,) of a tree of shortest paths from `root`, or from the medoid; the root has parent -1.

    The cost of a path is the sum of mean squared distances along it, based on a few samples of each motion: two short
    steps are cheaper than one long step.

    Parameters
    ----------
    landmarks : (n, L) corresponding frames.
    """
    from scipy.sparse.csgraph import dijkstra

    n = len(clouds)
    marks = np.empty((n, 0), dtype=np.int64) if landmarks is None else landmarks
    few = [_sample_few(cloud, row) for cloud, row in zip(clouds, marks, strict=True)]
    n_few = len(few[0])
    # Single frames are compared, so all motions fit into one grid; assume that motions are in step between landmarks.
    costs = np.zeros((n, n))
    for i in range(n):
        grid = distance_grid(few[i], stack_clouds(few), window=0.0).values.reshape(n_few, n, n_few)
        costs[i] = np.einsum("fnf->n", grid) / n_few
    costs = np.maximum(0.5 * (costs + costs.T), _SAME)
    np.fill_diagonal(costs, 0.0)
    top = int(np.argmin(np.sqrt(costs).sum(axis=1))) if root is None else root
    _, before = dijkstra(costs, indices=top, return_predecessors=True)
    out: Ints = before.astype(np.int64)
    out[top] = -1
    return out


def check_parents(parents: Any, n: int) -> Ints:
    """Validate that parents (n,) form one tree."""
    tree: Ints = freeze_array(parents, "parents", (n,), np.int64)
    roots = np.flatnonzero(tree < 0)
    if len(roots) != 1 or tree.max() >= n:
        raise InvalidValue(
            f"parents must be indices from 0 to {n - 1}, with exactly one -1 for the reference, not {tree.tolist()}"
        )
    for k in range(n):
        at, steps = k, 0
        while tree[at] >= 0 and steps <= n:
            at, steps = int(tree[at]), steps + 1
        if steps > n:
            raise InvalidValue(f"parents must lead to the reference, but the parents of motion {k} form a cycle")
    return tree


def _check_root(reference: Any, tree: Ints | None, n: int) -> int | None:
    if tree is not None:
        if reference is not None:
            raise InvalidValue("give either parents or reference; parents already determine the reference")
        return int(np.flatnonzero(tree < 0)[0])
    if reference is None:
        return None
    return check_index(reference, "reference, the index of a motion,", n)


def _sample_few(cloud: Clouds, marks: Ints) -> Clouds:
    """Sample a motion at a few frames, equally many between neighboring landmarks."""
    last = len(cloud) - 1
    stops = [0, *np.clip(marks, 1, last - 1).tolist(), last]
    each = max(2, _FEW // (len(stops) - 1))
    at = [np.linspace(a, b, each, endpoint=False) for a, b in itertools.pairwise(stops)]
    return sample_clouds(cloud, np.concatenate([*at, [len(cloud) - 1.0]]), 1.0)


def _find_unfit(motions: Sequence[Motion], root: int | None) -> dict[int, str]:
    """Return the reasons why motions cannot be used, keyed by their indices: too short, or a skeleton that differs from
    the root's.

    Without a root, the skeleton is the most common one.
    """
    if root is not None:
        check_length(motions[root], root)
        return _find_unlike(motions, root)
    best: dict[int, str] | None = None
    for k in range(len(motions)):
        found = _find_unlike(motions, k)
        if best is None or len(found) < len(best):
            best = found
        if 2 * len(best) <= len(motions):
            break
    return best or {}


def _find_unlike(motions: Sequence[Motion], root: int) -> dict[int, str]:
    """Return the reasons why motions cannot be registered with the root, keyed by their indices."""
    out: dict[int, str] = {}
    for k, motion in enumerate(motions):
        if k == root:
            continue
        names = f"{name_clip(motions[root], root)} and {name_clip(motion, k)}"
        try:
            check_length(motions[root], root)
            check_length(motion, k)
            check_same_skeleton(motions[root].skeleton, motion.skeleton, f"registration ({names})", RETARGET)
        except InvalidValue as error:
            out[k] = str(error)
    return out


def _check_enough(n: int, left_out: dict[int, str]) -> None:
    if n < _MIN_FAMILY:
        reasons = "; ".join(left_out[k] for k in sorted(left_out))
        raise NotBlendable(
            f"registration needs at least two motions, but only {n} of {n + len(left_out)} can be used. "
            f"Rejected: {reasons}"
        )


def prune_tree(tree: Ints, fit: Sequence[int]) -> Ints:
    """Restrict a tree (n,) to the motions `fit` and return their parents (m,): nearest kept ancestors, or -1."""
    at = {k: place for place, k in enumerate(fit)}
    out = np.empty(len(fit), dtype=np.int64)
    for place, k in enumerate(fit):
        above = int(tree[k])
        while above >= 0 and above not in at:
            above = int(tree[above])
        out[place] = at[above] if above >= 0 else -1
    return out


def _sort_downward(tree: Ints) -> list[int]:
    """Sort a tree's nodes, parents before their children."""
    out = [int(np.flatnonzero(tree < 0)[0])]
    for k in out:
        out += np.flatnonzero(tree == k).tolist()
    return out


def _make_edges(
    motions: Sequence[Motion], clouds: Sequence[Clouds], marks: Ints, tree: Ints, options: PathSettings
) -> tuple[dict[int, _Edge], Ints, dict[int, str]]:
    """Register each motion with its parent; also return the tree without the failed motions, and the reasons."""
    hung, edges, failed = tree.copy(), {}, {}
    for k in _sort_downward(tree)[1:]:
        while int(hung[k]) in failed:
            hung[k] = hung[int(hung[k])]
        try:
            edges[k] = _make_edge(motions, clouds, marks, int(hung[k]), k, options)
        except NoResult as error:
            failed[k] = str(error)
    return edges, hung, failed


def _make_edge(
    motions: Sequence[Motion], clouds: Sequence[Clouds], marks: Ints, parent: int, k: int, options: PathSettings
) -> _Edge:
    a, b = clouds[parent], clouds[k]
    names = name_clip(motions[parent], parent), name_clip(motions[k], k)
    path = _find_path(a, b, marks[parent], marks[k], options)
    reasons = []
    if path.distance > options.max_distance:
        reasons.append(
            f"it is {path.distance:.3f} m from {names[0]} along the path (root mean square), more than "
            f"{options.max_distance:g} m"
        )
    warp = TimewarpCurve.fit(path.seconds, knot_every=max(KNOT_EVERY, _TIMEWARP_KNOT * a.fps))
    even = warp(np.linspace(0.0, 1.0, 2 * max(len(a), len(b))))
    opposite = measure_opposite_feet(motions[parent], motions[k], even[:, 0], even[:, 1])
    if opposite > options.max_opposite:
        reasons.append(f"it stands on the opposite foot from {names[0]} for {100 * opposite:.0f} % of the time")
    if reasons and not options.force:
        raise NotBlendable(" and ".join(reasons))
    try:
        alignment_curve([a, b], warp, 0, [1.0])
    except NotBlendable as error:
        raise NotBlendable(f"{error} (motion 0 is {names[0]}, motion 1 is {names[1]})") from None
    return _Edge(warp, path.distance, tuple(f"{names[1]} is accepted by force, although {why}" for why in reasons))


def _find_path(a: Clouds, b: Clouds, marks_a: Ints, marks_b: Ints, options: PathSettings) -> PairPath:
    """Find the path from the first frames of both to the last, through every landmark."""
    stops = [(0, 0)]
    for i, j in zip(marks_a.tolist(), marks_b.tolist(), strict=True):
        # A landmark at an end has no frames of either motion on one side.
        if stops[-1][0] < i < len(a) - 1 and stops[-1][1] < j < len(b) - 1:
            stops.append((i, j))
    stops.append((len(a) - 1, len(b) - 1))
    seconds: list[Floats] = []
    squares = 0.0
    for (i, j), (k, m) in itertools.pairwise(stops):
        part = find_full_path(
            crop_clouds(a, i, k + 1),
            crop_clouds(b, j, m + 1),
            window=options.window,
            slope_limit=options.slope_limit,
            relative=True,
        )
        first = 1 if seconds else 0
        seconds.append((part.seconds + np.array([i, j]) / a.fps)[first:])
        squares += part.distance**2 * len(part.seconds)
    joined = np.concatenate(seconds)
    return PairPath(set_readonly(joined), float(np.sqrt(squares / len(joined))))


def _build(
    motions: Sequence[Motion],
    clouds: Sequence[Clouds],
    marks: Ints,
    tree: Ints,
    edges: Sequence[_Edge | None],
    notes: tuple[str, ...],
) -> RegistrationCurve:
    """Build one curve of all motions from the curves of the pairs (Kovar 6.3.1)."""
    order = _sort_downward(tree)
    root, fps = order[0], clouds[0].fps
    longest = max(len(cloud) for cloud in clouds)
    seconds = np.empty((longest, len(motions)))
    seconds[:, root] = np.linspace(0.0, motions[root].duration, longest)
    for k in order[1:]:
        edge = edges[k]
        assert edge is not None
        warp = edge.timewarp
        seconds[:, k] = warp(warp.inverse(0, seconds[:, tree[k]]))[:, 1]
    every = max(KNOT_EVERY, _TIMEWARP_KNOT * fps * longest / len(motions[root]))
    timewarp = _fit_through_landmarks(seconds, marks / fps, root, every)
    alignment = _make_alignment(clouds, timewarp, tree, order)
    matches, more = match_contacts(motions, timewarp)
    distances = np.array([0.0 if edge is None else edge.distance for edge in edges])
    return RegistrationCurve(
        motions=tuple(motions),
        timewarp=timewarp,
        alignment=alignment,
        matches=matches,
        reference=root,
        distance=float(distances.max()),
        distances=distances,
        cyclic=False,
        loops=None,
        notes=notes + more,
        crops=np.array([(0, len(motion)) for motion in motions]),
    )


def _fit_through_landmarks(seconds: Floats, marks: Floats, root: int, every: float) -> TimewarpCurve:
    """Fit the curve closest to samples (N, n) that goes through the landmarks (n, L), all in seconds.

    Timing may change more abruptly at a landmark than the curve can, so that the fitted curve misses it by some frames.
    The samples around it are then moved in the opposite direction until the curve meets it.
    """
    timewarp = TimewarpCurve.fit(seconds, knot_every=every)
    length = float(seconds[-1, root])
    stops = np.concatenate([[0.0], np.sort(marks[root]), [length]])
    for _ in range(_ROUNDS if marks.size else 0):
        moved = np.zeros_like(seconds)
        for before, at, after in zip(stops[:-2], stops[1:-1], stops[2:], strict=True):
            column = int(np.argmin(np.abs(marks[root] - at)))
            reach = np.where(seconds[:, root] < at, at - before, after - at)
            if reach.min() <= 0.0:
                continue
            miss = marks[:, column] - timewarp(timewarp.inverse(root, at))
            away = np.clip(np.abs(seconds[:, root] - at) / np.minimum(reach, _AROUND), 0.0, 1.0)
            moved += np.square(np.cos(0.5 * np.pi * away))[:, None] * miss
        seconds = seconds + moved
        timewarp = TimewarpCurve.fit(np.maximum.accumulate(seconds), knot_every=every)
    return timewarp


def _make_alignment(
    clouds: Sequence[Clouds], timewarp: TimewarpCurve, tree: Ints, order: Sequence[int]
) -> AlignmentCurve:
    """Align each motion with its parent, and so on up to the reference."""
    fps = clouds[0].fps
    n_samples = max(len(cloud) for cloud in clouds)
    last = np.array([len(cloud) - 1.0 for cloud in clouds])
    frames = np.clip(timewarp(np.linspace(0.0, 1.0, n_samples)) * fps, 0.0, last)
    samples = np.zeros((n_samples, len(clouds), 3))
    for k in order[1:]:
        parent = int(tree[k])
        onto = align_frames(clouds[parent], frames[:, parent], clouds[k], frames[:, k], [1.0])
        samples[:, k] = rigid2d.compose(samples[:, parent], onto)
    near = np.array([cloud.points[:, :, ::2].mean(axis=(0, 1)) for cloud in clouds])
    every = max(KNOT_EVERY, _ALIGNMENT_KNOT * fps)
    return AlignmentCurve.fit(samples, knot_every=every, reference=order[0], origins=near)


def _check_landmarks(landmarks: Any, motions: Sequence[Motion]) -> Ints:
    n = len(motions)
    if landmarks is None:
        return np.empty((n, 0), dtype=np.int64)
    marks = convert_array(landmarks, "landmarks", np.int64)
    if marks.ndim == 1:
        marks = marks[:, None]
    if marks.ndim != 2 or len(marks) != n:
        raise InvalidValue(f"landmarks must have shape ({n},) or ({n}, L), frames of each motion, not {marks.shape}")
    for k, (row, motion) in enumerate(zip(marks.tolist(), motions, strict=True)):
        if any(not 0 <= mark < len(motion) for mark in row) or row != sorted(row):
            raise InvalidValue(
                f"landmarks of {name_clip(motion, k)} must be increasing frames from 0 to {len(motion) - 1}, not {row}"
            )
    return marks
