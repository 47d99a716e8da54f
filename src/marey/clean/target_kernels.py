"""Step 2 of the cleanup: find the pose of each hand and foot that puts its points at their plants (Kovar 3.2.3).

This module also computes the tails with which an adjustment fades out beyond the frames that require it. Kovar's tails
start with slope 0 where the adjustment begins to fade, so a foot that is still moving when its plant ends gets a kick.
These tails start with the slope of the adjustment there, which fades over a few frames. Their curvature is zero at both
ends, so forces do not jump either. Between two plants the tails add up; each is cut to the gap between the plants, so
it is 0 with slope 0 where the other begins.

Key: t = frame, e = limb (hand or foot); `row` = values of the limb in the frame, `limb` = joints of the limb, in the
columns of `layout_kernels`; n_ready = number of frames that may be read.
"""

from __future__ import annotations

import math

from marey.clean import layout_kernels as layout
from marey.clean.layout_kernels import CleanBody, CleanOptions, CleanState, FreeSpan
from marey.compiled import Floats1D, Floats2D, Ints1D, Ints3D, helper, kernel
from marey.maths import vector_kernels as vec
from marey.maths.vector_kernels import Quat, Vec

# Meters that a slope may add to an adjustment; for rotations, measured at this distance (meters) from the ankle.
_CARRIED = 0.012
_LEVER = 0.2


@helper
def pose_planted(body: CleanBody, options: CleanOptions, state: CleanState, t: int) -> None:
    """Write the kind of constraint of each limb in frame t to `state`, and the adjustment of its orientation if the
    constraint determines it."""
    flags = state.flags
    for e in range(flags.shape[1]):
        row = state.values[t, e]
        first, second, wanted = flags[t, e, layout.F1], flags[t, e, layout.F1 + 1], flags[t, e, layout.WANTED]
        kind = layout.FREE
        if wanted != 0:
            kind = wanted
        elif first != 0 and second != 0:
            kind = layout.BOTH
        elif first != 0:
            kind = layout.FIRST
        elif second != 0:
            kind = layout.SECOND
        flags[t, e, layout.KIND] = kind
        vec.put(row, layout.R, (0.0, 0.0, 0.0))
        vec.put(row, layout.W, (0.0, 0.0, 0.0))
        if kind == layout.POSE:
            vec.put(row, layout.R, vec.log(vec.mul(vec.get_quat(row, layout.TQ), vec.inv(vec.get_quat(row, layout.Q)))))
        elif kind == layout.BOTH:
            _pose_both(row, body.limbs[e], options)


@helper
def _pose_both(row: Floats1D, limb: Ints1D, options: CleanOptions) -> None:
    """Write to `row` the smallest rotation that aligns the points with their plants, and the change of length between
    them.

    Like limbs, the foot is scaled only as far as allowed; the remaining gap is left at one of its points.
    """
    source, stretch = vec.get_quat(row, layout.Q), options.stretch
    own, wanted = (
        vec.sub(vec.get(row, layout.O2), vec.get(row, layout.O1)),
        vec.sub(vec.get(row, layout.C2), vec.get(row, layout.C1)),
    )
    length = vec.norm(own)
    if length < 1e-9:
        return
    if options.can_stretch and limb[layout.SHIFTED] >= 0 and limb[layout.POINT2] >= 0:
        vec.put(row, layout.W, vec.scale(min(max(vec.norm(wanted) / length - 1.0, -stretch), stretch), own))
    adjust = vec.rotation_between(vec.rotate(source, own), wanted)
    if options.is_flat and limb[layout.IS_FOOT] != 0:
        adjust = vec.mul(_level_roll(row, options.planes, vec.mul(adjust, source), wanted), adjust)
    vec.put(row, layout.R, vec.log(adjust))


@helper
def _level_roll(row: Floats1D, planes: Floats2D, orientation: Quat, wanted: Vec) -> Quat:
    """Return the roll about the line between the two plants that puts the ankle over it, along the support's normal.

    row : values of the limb.
    planes : planes of the supports; without one, the normal is vertical.
    orientation : world rotation of the ankle.
    wanted : direction of the line in the world.
    """
    axis = vec.normalize(wanted, (0.0, 0.0, 1.0))
    ankle = vec.scale(-1.0, vec.rotate(orientation, vec.get(row, layout.O1)))
    ankle = vec.sub(ankle, vec.scale(vec.dot(ankle, axis), axis))
    normal = (0.0, 1.0, 0.0)
    plane = int(row[layout.PLANE1])
    if plane >= 0:
        normal = vec.normalize((-planes[plane, 1], 1.0, -planes[plane, 2]), normal)
    normal = vec.sub(normal, vec.scale(vec.dot(normal, axis), axis))
    if vec.norm(ankle) < 1e-3 or vec.norm(normal) < 1e-3:
        return 1.0, 0.0, 0.0, 0.0
    return vec.from_axis_angle(axis, math.atan2(vec.dot(axis, vec.cross(ankle, normal)), vec.dot(ankle, normal)))


@helper
def pose_targets(options: CleanOptions, state: CleanState, t: int, n_ready: int) -> None:
    """Write the target of each limb in frame t to `state`; orientations of limbs with one constraint are blended from
    neighboring frames."""
    flags, blend = state.flags, options.blend
    for e in range(flags.shape[1]):
        row, kind = state.values[t, e], flags[t, e, layout.KIND]
        if kind == layout.FREE:
            _blend_hover(state, blend, t, e, n_ready)
            continue
        if kind in (layout.FIRST, layout.SECOND, layout.POSITION):
            span = find_span(flags, e, t, blend, True, n_ready)
            vec.put(row, layout.R, fade_tails(options, state, span, layout.R, blend))
            vec.put(row, layout.W, fade_tails(options, state, span, layout.W, blend))
        if kind in (layout.POSE, layout.POSITION):
            vec.put(row, layout.T, vec.get(row, layout.TP))
            continue
        orientation = vec.mul(vec.exp(vec.get(row, layout.R)), vec.get_quat(row, layout.Q))
        # If two plants are too far apart for the foot, hold the one whose position is given.
        by_second = kind == layout.BOTH and flags[t, e, layout.GIVEN1] == 0 and flags[t, e, layout.GIVEN1 + 1] != 0
        if kind == layout.SECOND or by_second:
            vec.put(
                row,
                layout.T,
                vec.sub(
                    vec.get(row, layout.C2),
                    vec.rotate(orientation, vec.add(vec.get(row, layout.O2), vec.get(row, layout.W))),
                ),
            )
        else:
            vec.put(row, layout.T, vec.sub(vec.get(row, layout.C1), vec.rotate(orientation, vec.get(row, layout.O1))))


@helper
def _blend_hover(state: CleanState, blend: int, t: int, e: int, n_ready: int) -> None:
    """Write the hover height of the foot in frame t to `state`: blended from its height at the last plant to that at
    the next one."""
    for n in range(1, min(blend, n_ready - 1 - t) + 1):
        if state.flags[t + n, e, layout.KIND] != layout.FREE:
            weight = vec.fade_smoothly(n / (blend + 1))
            state.values[t, e, layout.HOVER] += weight * (
                state.values[t + n, e, layout.HOVER] - state.values[t, e, layout.HOVER]
            )
            break


@helper
def _is_settled(kind: int, of_orientation: bool) -> bool:
    """Return whether a constraint determines the adjustment of the orientation, or of the position."""
    return kind in (layout.BOTH, layout.POSE) if of_orientation else kind != layout.FREE


@kernel
def find_span(flags: Ints3D, e: int, t: int, max_frames: int, of_orientation: bool, n_ready: int) -> FreeSpan:
    """Find the nearest frames before and after frame t, at most `max_frames` away, whose constraints determine the
    adjustment of limb e.

    The search for an orientation does not go beyond a free frame.

    flags : (F, E, N_FLAGS).
    n_ready : number of frames that may be read.
    """
    back, ahead = 0, 0
    for n in range(1, max_frames + 1):
        if t - n < 0:
            break
        kind = flags[t - n, e, layout.KIND]
        if _is_settled(kind, of_orientation):
            back = n
            break
        if kind == layout.FREE and of_orientation:
            break
    for n in range(1, max_frames + 1):
        if t + n >= n_ready:
            break
        kind = flags[t + n, e, layout.KIND]
        if _is_settled(kind, of_orientation):
            ahead = n
            break
        if kind == layout.FREE and of_orientation:
            break
    return FreeSpan(e, t, back, ahead, of_orientation, n_ready)


@kernel
def fade_tails(options: CleanOptions, state: CleanState, span: FreeSpan, column: int, window: int) -> Vec:
    """Return the adjustment (3,) of frame ``span.t``: the sum of the faded adjustments of the frames before and after
    it that `find_span` found.

    column : first column of the adjustment in `state.values`.
    window : number of frames over which an adjustment fades.
    """
    total = (0.0, 0.0, 0.0)
    for side in range(2):
        total = vec.add(total, fade_tail(options, state, span, column, window, side))
    return total


@helper
def fade_tail(options: CleanOptions, state: CleanState, span: FreeSpan, column: int, window: int, side: int) -> Vec:
    """Return what remains in frame ``span.t`` of the adjustment of the frame before it (side 0) or after it (side 1).

    The adjustment fades over a window, or over the gap between the two frames if that is shorter.

    span : from `find_span`.
    column : first column of the adjustment in `state.values`.
    window : length of the fade, in frames.
    """
    back, ahead, e = span.back, span.ahead, span.e
    n, step = (back, -1) if side == 0 else (ahead, 1)
    length = window + 1
    if n == 0:
        return 0.0, 0.0, 0.0
    if back > 0 and ahead > 0:
        length = min(length, back + ahead)
    start = span.t + step * n
    end = vec.get(state.values[start, e], column)
    if not options.is_smooth:
        return vec.scale(vec.fade(n / length), end)
    total = vec.scale(vec.fade_smoothly(n / length), end)
    seen = 0
    for m in range(1, options.seen + 1):
        beyond = start + step * m
        if not 0 <= beyond < span.n_ready or not _is_settled(state.flags[beyond, e, layout.KIND], span.of_orientation):
            break
        seen = m
    if seen > 0:
        change = vec.scale(1.0 / seen, vec.sub(end, vec.get(state.values[start + step * seen, e], column)))
        # A slope adds about a fifth of the distance it would cover in its window. A steep one fades sooner, to avoid
        # carrying the foot away; a gentle one fades slowly, because a quick change of speed is visible.
        steep = vec.norm(change) * (_LEVER if column == layout.R else 1.0)
        slope = min(max(_CARRIED / max(0.2 * steep, 1e-9), 1.0 * options.slope), 1.0 * window)
        if back > 0 and ahead > 0:
            slope = min(slope, 1.0 * (back + ahead))
        total = vec.add(total, vec.scale(n * vec.fade_slope(n / slope), change))
    return total
