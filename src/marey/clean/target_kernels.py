"""Step 2 of the cleanup: how each hand and foot must lie so that its points are at their plants (Kovar 3.2.3).

Also the tails by which an adjustment fades out beyond the frames that ask for it. Kovar's tails end with slope 0 where
the adjustment begins to fade, so that a foot that is still moving when its plant ends gets a kick. These go on with the
slope that the adjustment has there, which fades over a few frames, and begin and end with curvature 0, so that forces
do not jump either. Between two plants the tails add up; as they are cut to the gap between them, each is 0 with slope 0
where the other begins.
"""

from __future__ import annotations

import math
from typing import Any

from marey.clean.layout_kernels import (
    BOTH,
    C1,
    C2,
    F1,
    FIRST,
    FREE,
    GIVEN1,
    HOVER,
    IS_FOOT,
    KIND,
    O1,
    O2,
    PLANE1,
    POINT2,
    POSE,
    POSITION,
    SECOND,
    SHIFTED,
    TP,
    TQ,
    WANTED,
    CleanBody,
    CleanOptions,
    CleanState,
    FreeSpan,
    Q,
    R,
    T,
    W,
)
from marey.compiled import Ints3D, helper, kernel
from marey.maths.vector_kernels import (
    Quat,
    Vec,
    about,
    add,
    between,
    cross,
    dot,
    exp,
    fade,
    fade_slope,
    fade_smoothly,
    inv,
    log,
    mul,
    put,
    qua,
    size,
    sub,
    times,
    turn,
    unit,
    vec,
)

Array = Any

# Metres that a slope may add to an adjustment, and about which distance from the ankle that counts for a rotation.
_CARRIED = 0.012
_LEVER = 0.2


@helper
def pose_planted(body: CleanBody, options: CleanOptions, state: CleanState, t: int) -> None:
    """Set the kind of constraint of frame t, and the adjustment of the orientation if the constraint settles it."""
    flags = state.flags
    for e in range(flags.shape[1]):
        row = state.values[t, e]
        first, second, wanted = flags[t, e, F1], flags[t, e, F1 + 1], flags[t, e, WANTED]
        kind = FREE
        if wanted != 0:
            kind = wanted
        elif first != 0 and second != 0:
            kind = BOTH
        elif first != 0:
            kind = FIRST
        elif second != 0:
            kind = SECOND
        flags[t, e, KIND] = kind
        put(row, R, (0.0, 0.0, 0.0))
        put(row, W, (0.0, 0.0, 0.0))
        if kind == POSE:
            put(row, R, log(mul(qua(row, TQ), inv(qua(row, Q)))))
        elif kind == BOTH:
            _pose_both(row, body.limbs[e], options)


@helper
def _pose_both(row: Array, limb: Array, options: CleanOptions) -> None:
    """Find the smallest rotation that gives the points the direction of their plants, and what is missing between them.

    As limbs, the foot is scaled no further than it may be: what is missing then is left to one of its points.
    """
    source, stretch = qua(row, Q), options.stretch
    own, wanted = sub(vec(row, O2), vec(row, O1)), sub(vec(row, C2), vec(row, C1))
    length = size(own)
    if length < 1e-9:
        return
    if options.can_stretch and limb[SHIFTED] >= 0 and limb[POINT2] >= 0:
        put(row, W, times(min(max(size(wanted) / length - 1.0, -stretch), stretch), own))
    adjust = between(turn(source, own), wanted)
    if options.is_flat and limb[IS_FOOT] != 0:
        adjust = mul(_level_roll(row, options.planes, mul(adjust, source), wanted), adjust)
    put(row, R, log(adjust))


@helper
def _level_roll(row: Array, planes: Array, orientation: Quat, wanted: Vec) -> Quat:
    """The roll about the line between the plants that puts the ankle straight above that line."""
    axis = unit(wanted, (0.0, 0.0, 1.0))
    ankle = times(-1.0, turn(orientation, vec(row, O1)))
    ankle = sub(ankle, times(dot(ankle, axis), axis))
    normal = (0.0, 1.0, 0.0)
    plane = int(row[PLANE1])
    if plane >= 0:
        normal = unit((-planes[plane, 1], 1.0, -planes[plane, 2]), normal)
    normal = sub(normal, times(dot(normal, axis), axis))
    if size(ankle) < 1e-3 or size(normal) < 1e-3:
        return 1.0, 0.0, 0.0, 0.0
    return about(axis, math.atan2(dot(axis, cross(ankle, normal)), dot(ankle, normal)))


@helper
def pose_targets(options: CleanOptions, state: CleanState, t: int, n_ready: int) -> None:
    """Set the targets of frame t, with orientations of singly constrained ones blended off from their neighbors."""
    flags, blend = state.flags, options.blend
    for e in range(flags.shape[1]):
        row, kind = state.values[t, e], flags[t, e, KIND]
        if kind == FREE:
            _blend_hover(state, blend, t, e, n_ready)
            continue
        if kind in (FIRST, SECOND, POSITION):
            span = find_span(flags, e, t, blend, True, n_ready)
            put(row, R, fade_tails(options, state, span, R, blend))
            put(row, W, fade_tails(options, state, span, W, blend))
        if kind in (POSE, POSITION):
            put(row, T, vec(row, TP))
            continue
        orientation = mul(exp(vec(row, R)), qua(row, Q))
        # Of two plants too far apart for the foot, the one whose place is given holds.
        by_second = kind == BOTH and flags[t, e, GIVEN1] == 0 and flags[t, e, GIVEN1 + 1] != 0
        if kind == SECOND or by_second:
            put(row, T, sub(vec(row, C2), turn(orientation, add(vec(row, O2), vec(row, W)))))
        else:
            put(row, T, sub(vec(row, C1), turn(orientation, vec(row, O1))))


@helper
def _blend_hover(state: CleanState, blend: int, t: int, e: int, n_ready: int) -> None:
    """Ease from how the foot hovered at its last plant to how it does at the next."""
    for n in range(1, min(blend, n_ready - 1 - t) + 1):
        if state.flags[t + n, e, KIND] != FREE:
            weight = fade_smoothly(n / (blend + 1))
            state.values[t, e, HOVER] += weight * (state.values[t + n, e, HOVER] - state.values[t, e, HOVER])
            break


@helper
def _is_settled(kind: int, of_orientation: bool) -> bool:
    """Whether a constraint settles the adjustment: that of the orientation, or that of the position."""
    return kind in (BOTH, POSE) if of_orientation else kind != FREE


@kernel
def find_span(flags: Ints3D, e: int, t: int, max_frames: int, of_orientation: bool, n_ready: int) -> FreeSpan:
    """Find the nearest frames, within `max_frames` of frame t of limb e, that settle an adjustment.

    flags : (F, E, N_FLAGS). n_ready : frames that may be read.
    """
    back, ahead = 0, 0
    for n in range(1, max_frames + 1):
        if t - n < 0:
            break
        kind = flags[t - n, e, KIND]
        if _is_settled(kind, of_orientation):
            back = n
            break
        if kind == FREE and of_orientation:
            break
    for n in range(1, max_frames + 1):
        if t + n >= n_ready:
            break
        kind = flags[t + n, e, KIND]
        if _is_settled(kind, of_orientation):
            ahead = n
            break
        if kind == FREE and of_orientation:
            break
    return FreeSpan(e, t, back, ahead, of_orientation, n_ready)


@kernel
def fade_tails(options: CleanOptions, state: CleanState, span: FreeSpan, column: int, window: int) -> Vec:
    """What the adjustments before and after leave for the frame of `span`, (3,) from `column` on.

    window : frames over which they fade.
    """
    total = (0.0, 0.0, 0.0)
    for side in range(2):
        total = add(total, fade_tail(options, state, span, column, window, side))
    return total


@helper
def fade_tail(options: CleanOptions, state: CleanState, span: FreeSpan, column: int, window: int, side: int) -> Vec:
    """The same from one side, 0 for the frames before: fading over a window, or over the gap between both."""
    back, ahead, e = span.back, span.ahead, span.e
    n, step = (back, -1) if side == 0 else (ahead, 1)
    length = window + 1
    if n == 0:
        return 0.0, 0.0, 0.0
    if back > 0 and ahead > 0:
        length = min(length, back + ahead)
    at = span.t + step * n
    end = vec(state.values[at, e], column)
    if not options.is_smooth:
        return times(fade(n / length), end)
    total = times(fade_smoothly(n / length), end)
    seen = 0
    for m in range(1, options.seen + 1):
        beyond = at + step * m
        if not 0 <= beyond < span.n_ready or not _is_settled(state.flags[beyond, e, KIND], span.of_orientation):
            break
        seen = m
    if seen > 0:
        change = times(1.0 / seen, sub(end, vec(state.values[at + step * seen, e], column)))
        # A slope adds about a fifth of what it would cover in its time. A steep one fades sooner, so as not to carry
        # the foot away; a gentle one takes its time, as a quick change of pace shows.
        steep = size(change) * (_LEVER if column == R else 1.0)
        slope = min(max(_CARRIED / max(0.2 * steep, 1e-9), 1.0 * options.slope), 1.0 * window)
        if back > 0 and ahead > 0:
            slope = min(slope, 1.0 * (back + ahead))
        total = add(total, times(n * fade_slope(n / slope), change))
    return total
