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

from marey.clean.layout import (
    BOTH,
    C1,
    C2,
    F1,
    FIRST,
    FLAT,
    FREE,
    GIVEN1,
    HOVER,
    IS_FOOT,
    KIND,
    L2,
    O1,
    O2,
    PLANE1,
    POINT2,
    POSE,
    POSITION,
    SECOND,
    SEEN,
    SHIFTED,
    SHIFTS,
    SLOPE,
    SMOOTH,
    STRETCH,
    TP,
    TQ,
    WANTED,
    Q,
    R,
    T,
    W,
)  # fmt: skip
from marey.clean.vector_kernels import (
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
)  # fmt: skip
from marey.core.compiled import inner, kernel

Array = Any
Vec = Any
Quat = Any

# Metres that a slope may add to an adjustment, and about which distance from the ankle that counts for a turn.
_CARRIED = 0.012
_LEVER = 0.2


@inner
def pose_planted(state: Array, flags: Array, limbs: Array, planes: Array, spans: Array, amounts: Array, t: int) -> None:
    """The kind of constraint of frame t, and the adjustment of the orientation where the constraint settles it."""
    for e in range(flags.shape[1]):
        row = state[t, e]
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
            _pose_both(row, limbs[e], planes, spans, amounts[STRETCH])


@inner
def _pose_both(row: Array, limb: Array, planes: Array, spans: Array, stretch: float) -> None:
    """The smallest turn that gives the points the direction of their plants, and what is missing between them.

    As limbs, the foot is scaled no further than it may be: what is missing then is left to one of its points.
    """
    source = qua(row, Q)
    own, wanted = sub(vec(row, O2), vec(row, O1)), sub(vec(row, C2), vec(row, C1))
    length = size(own)
    if length < 1e-9:
        return
    if spans[SHIFTS] != 0 and limb[SHIFTED] >= 0 and limb[POINT2] >= 0:
        put(row, W, times(min(max(size(wanted) / length - 1.0, -stretch), stretch), own))
    adjust = between(turn(source, own), wanted)
    if spans[FLAT] != 0 and limb[IS_FOOT] != 0:
        adjust = mul(_level_roll(row, planes, mul(adjust, source), wanted), adjust)
    put(row, R, log(adjust))


@inner
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


@inner
def pose_targets(state: Array, flags: Array, spans: Array, t: int, low: int, high: int) -> None:
    """The targets of frame t, with orientations of singly constrained ones blended off from their neighbours."""
    for e in range(flags.shape[1]):
        row, kind = state[t, e], flags[t, e, KIND]
        if kind == FREE:
            _blend_hover(state, flags, spans, t, e, high)
            continue
        if kind in (FIRST, SECOND, POSITION):
            back, ahead = find_ends(flags, e, t, spans[L2], low, high, True)
            put(row, R, tail(state, flags, e, t, R, back, ahead, spans, L2, low, high, True))
            put(row, W, tail(state, flags, e, t, W, back, ahead, spans, L2, low, high, True))
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


@inner
def _blend_hover(state: Array, flags: Array, spans: Array, t: int, e: int, high: int) -> None:
    """Ease from how the foot hovered at its last plant to how it does at the next."""
    for n in range(1, min(spans[L2], high - 1 - t) + 1):
        if flags[t + n, e, KIND] != FREE:
            share = fade_smoothly(n / (spans[L2] + 1))
            state[t, e, HOVER] += share * (state[t + n, e, HOVER] - state[t, e, HOVER])
            break


@inner
def _settled(kind: int, turned: bool) -> bool:
    """Whether a constraint settles the adjustment: that of the orientation, or that of the position."""
    return kind in (BOTH, POSE) if turned else kind != FREE


@kernel
def find_ends(flags: Array, e: int, t: int, most: int, low: int, high: int, turned: bool) -> tuple[int, int]:
    """Frames back and ahead to the nearest that settle an adjustment; 0 where there is none within `most`."""
    back, ahead = 0, 0
    for n in range(1, most + 1):
        if t - n < low:
            break
        kind = flags[t - n, e, KIND]
        if _settled(kind, turned):
            back = n
            break
        if kind == FREE and turned:
            break
    for n in range(1, most + 1):
        if t + n >= high:
            break
        kind = flags[t + n, e, KIND]
        if _settled(kind, turned):
            ahead = n
            break
        if kind == FREE and turned:
            break
    return back, ahead


@kernel
def tail(
    state: Array, flags: Array, e: int, t: int, column: int, back: int, ahead: int, spans: Array, window: int,
    low: int, high: int, turned: bool,
) -> Vec:  # fmt: skip
    """What the adjustments `back` frames before and `ahead` frames after leave for frame t, (3,) from `column` on."""
    total = (0.0, 0.0, 0.0)
    for side in range(2):
        n = tail_from(state, flags, e, t, column, back, ahead, side, spans, window, low, high, turned)
        total = add(total, n)
    return total


@inner
def tail_from(
    state: Array, flags: Array, e: int, t: int, column: int, back: int, ahead: int, side: int, spans: Array,
    window: int, low: int, high: int, turned: bool,
) -> Vec:  # fmt: skip
    """The same from one side, 0 for the frames before: fading over a window, or over the gap between both."""
    n, step = (back, -1) if side == 0 else (ahead, 1)
    span = spans[window] + 1
    if n == 0:
        return 0.0, 0.0, 0.0
    if back > 0 and ahead > 0:
        span = min(span, back + ahead)
    at = t + step * n
    end = vec(state[at, e], column)
    if spans[SMOOTH] == 0:
        return times(fade(n / span), end)
    total = times(fade_smoothly(n / span), end)
    seen = 0
    for m in range(1, spans[SEEN] + 1):
        beyond = at + step * m
        if not low <= beyond < high or not _settled(flags[beyond, e, KIND], turned):
            break
        seen = m
    if seen > 0:
        change = times(1.0 / seen, sub(end, vec(state[at + step * seen, e], column)))
        # A slope adds about a fifth of what it would cover in its time. A steep one fades sooner, so as not to carry
        # the foot away; a gentle one takes its time, as a quick change of pace shows.
        steep = size(change) * (_LEVER if column == R else 1.0)
        slope = min(max(_CARRIED / max(0.2 * steep, 1e-9), 1.0 * spans[SLOPE]), 1.0 * spans[window])
        if back > 0 and ahead > 0:
            slope = min(slope, 1.0 * (back + ahead))
        total = add(total, times(n * fade_slope(n / slope), change))
    return total
