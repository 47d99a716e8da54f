"""Step 1 of the cleanup: where each plant is (Kovar 3.2.2), and before it, which contacts make one plant.

Two things that the source leaves open would make the feet jump. A contact that is interrupted for a moment would be
planted in two places; so gaps up to a limit are closed. And where one point takes over from the other of the same foot
with no frame in common, nothing would tie their places together; so the first holds on for one frame.
"""

from __future__ import annotations

import math
from typing import Any

from marey.clean.layout import (
    A1,
    C1,
    F1,
    FLOOR,
    G1,
    GAP,
    GIVEN1,
    HOVER,
    HOVERS,
    IS_FOOT,
    L1,
    LEVEL,
    M1,
    NEAR,
    NOWHERE,
    PLANE1,
    WANTED,
    X1,
)  # fmt: skip
from marey.clean.vector_kernels import add, dot, fade, put, size, sub, times, unit, vec
from marey.core.compiled import inner, kernel

Array = Any
Vec = Any


@kernel
def close_gaps(flags: Array, spans: Array, t: int, low: int, high: int) -> None:
    """Contacts of frame t with gaps of the same point closed, unless a target or another given place is in it."""
    gap = spans[GAP]
    for e in range(flags.shape[1]):
        for k in range(2):
            flags[t, e, A1 + k] = flags[t, e, M1 + k]
            if flags[t, e, M1 + k] != 0 or flags[t, e, WANTED] != 0:
                continue
            back = _distance(flags, e, M1 + k, t, -1, gap, low, high)
            ahead = _distance(flags, e, M1 + k, t, 1, gap, low, high)
            if back == 0 or ahead == 0 or back + ahead - 1 > gap:
                continue
            if flags[t - back, e, GIVEN1 + k] == flags[t + ahead, e, GIVEN1 + k]:
                flags[t, e, A1 + k] = 1


@inner
def _distance(flags: Array, e: int, column: int, t: int, step: int, most: int, low: int, high: int) -> int:
    """Frames to the nearest that has the flag, going by `step`; 0 where a target or nothing comes first."""
    for n in range(1, most + 1):
        s = t + step * n
        if s < low or s >= high or flags[s, e, WANTED] != 0:
            return 0
        if flags[s, e, column] != 0:
            return n
    return 0


@inner
def hand_over(flags: Array, spans: Array, t: int, low: int, high: int) -> None:
    """Contacts of frame t with the earlier point held until the later one stands, where they nearly meet."""
    gap = spans[GAP]
    for e in range(flags.shape[1]):
        first, second = flags[t, e, A1], flags[t, e, A1 + 1]
        flags[t, e, F1], flags[t, e, F1 + 1] = first, second
        if flags[t, e, WANTED] != 0 or (first != 0 and second != 0):
            continue
        back = _nearest(flags, e, t, -1, gap + 1, low, high)
        if back == 0:
            continue
        if first == 0 and second == 0:
            ahead = _nearest(flags, e, t, 1, gap, low, high)
            if ahead == 0 or back + ahead - 1 > gap:
                continue
        for k in range(2):
            mine, other = (first, second) if k == 0 else (second, first)
            held = flags[t - back, e, A1 + k] != 0
            # Held through a gap, or for the one frame in which the other point begins to stand alone.
            takes_over = other != 0 and flags[t - back, e, A1 + 1 - k] == 0
            if mine == 0 and held and (other == 0 or takes_over):
                flags[t, e, F1 + k] = 1


@inner
def _nearest(flags: Array, e: int, t: int, step: int, most: int, low: int, high: int) -> int:
    """Frames to the nearest in which any point is in contact; 0 where a target or nothing comes first."""
    for n in range(1, most + 1):
        s = t + step * n
        if s < low or s >= high or flags[s, e, WANTED] != 0:
            return 0
        if flags[s, e, A1] != 0 or flags[s, e, A1 + 1] != 0:
            return n
    return 0


@inner
def find_plants(
    state: Array, flags: Array, limbs: Array, planes: Array, spans: Array, amounts: Array, t: int, low: int, high: int
) -> None:
    """Places of all plants of frame t: given, carried on from the frame before, or new."""
    for e in range(flags.shape[1]):
        set_1, set_2 = False, False
        state[t, e, HOVER] = state[t - 1, e, HOVER] if t > low else 0.0
        for k in range(2):
            if flags[t, e, F1 + k] == 0:
                continue
            known = True
            if flags[t, e, GIVEN1 + k] != 0:
                put(state[t, e], C1 + 3 * k, vec(state[t, e], G1 + 3 * k))
                state[t, e, PLANE1 + k] = NOWHERE
            elif t > low and flags[t - 1, e, F1 + k] != 0:
                put(state[t, e], C1 + 3 * k, vec(state[t - 1, e], C1 + 3 * k))
                state[t, e, PLANE1 + k] = state[t - 1, e, PLANE1 + k]
            else:
                known = False
            if k == 0:
                set_1 = known
            else:
                set_2 = known
        if flags[t, e, F1] != 0 and not set_1:
            _plant(state, flags, limbs, planes, spans, amounts, t, e, 0, set_2, high)
            set_1 = True
        if flags[t, e, F1 + 1] != 0 and not set_2:
            _plant(state, flags, limbs, planes, spans, amounts, t, e, 1, set_1, high)


@inner
def _plant(
    state: Array, flags: Array, limbs: Array, planes: Array, spans: Array, amounts: Array,
    t: int, e: int, k: int, beside: bool, high: int,
) -> None:  # fmt: skip
    """The place of a point that begins to stand in frame t; `beside` its other one where that stands already."""
    other = 1 - k
    if beside:
        centre, plane = vec(state[t, e], C1 + 3 * other), int(state[t, e, PLANE1 + other])
        _plant_beside(state, flags, planes, spans, amounts, t, t, e, k, centre, plane, high)
        return
    s = _given_later(flags, spans, t, e, k, high)
    if s > t:
        centre = vec(state[s, e], G1 + 3 * other)
        _plant_beside(state, flags, planes, spans, amounts, t, s, e, k, centre, NOWHERE, high)
    else:
        _plant_alone(state, flags, limbs, planes, spans, amounts, t, e, k, high)


@inner
def _given_later(flags: Array, spans: Array, t: int, e: int, k: int, high: int) -> int:
    """The frame in which the other point comes to stand at a given place while this one still does; t for none.

    It is looked for as far ahead as places are averaged.
    """
    for s in range(t + 1, min(t + spans[L1], high)):
        if flags[s, e, F1 + k] == 0 or flags[s, e, GIVEN1 + k] != 0:
            break
        if flags[s, e, F1 + 1 - k] != 0:
            return s if flags[s, e, GIVEN1 + 1 - k] != 0 else t
    return t


@inner
def _plant_alone(
    state: Array, flags: Array, limbs: Array, planes: Array, spans: Array, amounts: Array,
    t: int, e: int, k: int, high: int,
) -> None:  # fmt: skip
    """The mean place of the point over its first frames, put onto its support."""
    total, n = (0.0, 0.0, 0.0), 0
    for s in range(t, min(t + spans[L1], high)):
        if flags[s, e, F1 + k] == 0:
            break
        total = add(total, vec(state[s, e], X1 + 3 * k))
        n += 1
    place = times(1.0 / n, total)
    before = place[1]
    plane = _support(planes, amounts, place, limbs[e, IS_FOOT] != 0)
    if plane >= 0:
        place = _onto(planes, plane, place)
    put(state[t, e], C1 + 3 * k, place)
    state[t, e, PLANE1 + k] = plane
    # A foot on legs that are too short, but not one that is a little above a floor that is a little too low.
    hover = max(before - place[1], 0.0) / amounts[HOVERS]
    state[t, e, HOVER] = amounts[HOVERS] * hover * (1.0 - fade(max(1.5 * hover - 0.5, 0.0)))


@inner
def _support(planes: Array, amounts: Array, place: Vec, is_foot: bool) -> int:
    """What bears a point: a plane of the list, of which the floor is the first, or none of them."""
    near = amounts[NEAR]
    above = place[1] - amounts[FLOOR]
    best, least = -1, near
    for i in range(1, planes.shape[0]):
        gap = abs(place[1] - _height(planes, i, place))
        if gap <= least:
            best, least = i, gap
    if is_foot:
        if best >= 0 and least <= abs(above):
            return best
        return 0 if above <= near else LEVEL
    if best >= 0 and above > 0.0:
        return best
    return 0 if above <= 0.0 else NOWHERE


@inner
def _height(planes: Array, i: int, place: Vec) -> float:
    """Height of a plane where `place` is."""
    height: float = planes[i, 0] + planes[i, 1] * place[0] + planes[i, 2] * place[2]
    return height


@inner
def _onto(planes: Array, i: int, place: Vec) -> Vec:
    """The nearest place on a plane."""
    normal = unit((-planes[i, 1], 1.0, -planes[i, 2]), (0.0, 1.0, 0.0))
    away = (place[1] - _height(planes, i, place)) * normal[1]
    return sub(place, times(away, normal))


@inner
def _plant_beside(
    state: Array, flags: Array, planes: Array, spans: Array, amounts: Array, t: int, both: int, e: int, k: int,
    centre: Vec, plane: int, high: int,
) -> None:  # fmt: skip
    """A point whose other one is known: as far from it and in such direction as it is on average (Kovar 3.2).

    both : the first frame, t or later, in which both stand. centre, plane : the other's place and support.
    """
    other = 1 - k
    total, length, n = (0.0, 0.0, 0.0), 0.0, 0
    for s in range(both, min(t + spans[L1], high)):
        if flags[s, e, F1] == 0 or flags[s, e, F1 + 1] == 0:
            break
        away = sub(vec(state[s, e], X1 + 3 * k), vec(state[s, e], X1 + 3 * other))
        total = add(total, away)
        length += size(away)
        n += 1
    length /= n
    away = times(length, unit(total, (0.0, 0.0, 1.0)))
    if plane == NOWHERE and centre[1] + away[1] < amounts[FLOOR] <= centre[1]:
        away = _swing_onto(away, (0.0, 1.0, 0.0), amounts[FLOOR] - centre[1])
    elif plane == LEVEL:
        away = _swing_onto(away, (0.0, 1.0, 0.0), 0.0)
    elif plane >= 0:
        normal = unit((-planes[plane, 1], 1.0, -planes[plane, 2]), (0.0, 1.0, 0.0))
        up = (_height(planes, plane, centre) - centre[1]) * normal[1]
        away = _swing_onto(away, normal, up)
    put(state[t, e], C1 + 3 * k, add(centre, away))
    state[t, e, PLANE1 + k] = plane


@inner
def _swing_onto(away: Vec, normal: Vec, height: float) -> Vec:
    """`away` turned by the least angle so that it rises by `height` along `normal`, or as nearly as it can."""
    length = size(away)
    height = min(max(height, -length), length)
    along = sub(away, times(dot(away, normal), normal))
    spare = unit(sub((0.0, 0.0, 1.0), times(normal[2], normal)), (1.0, 0.0, 0.0))
    along = unit(along, spare)
    return add(times(height, normal), times(math.sqrt(max(length * length - height * height, 0.0)), along))
