"""Step 1 of the cleanup: which contacts form one plant, and where each plant is (Kovar 3.2.2).

Kovar leaves two cases open that would make the feet jump. A contact that is interrupted briefly would be planted in two
places, so gaps up to a limit are closed. If one point of a foot takes over from the other without a common frame,
nothing would tie their positions together, so the first is held for one more frame.

Key: t = frame, e = limb (hand or foot), in the tables of `layout_kernels`; n_ready = number of frames that may be read.
"""

from __future__ import annotations

import math

from marey.clean import layout_kernels as layout
from marey.clean.layout_kernels import CleanBody, CleanOptions, CleanState
from marey.compiled import Floats2D, Ints3D, Out, helper, kernel
from marey.maths import vector_kernels as vec
from marey.maths.vector_kernels import Vec

# Cosine of the angle by which the line between the two points of a hand rotates between frames if fingers flip.
_FLIPPED = math.cos(math.radians(40.0))


@kernel
def close_gaps(flags: Out[Ints3D], gap: int, t: int, n_ready: int) -> None:
    """Close gaps of up to `gap` frames in the contact of a point at frame t.

    Gaps that contain a target, or that separate different given plants, stay open.

    flags : (F, E, N_FLAGS).
    n_ready : number of frames that may be read.
    """
    for e in range(flags.shape[1]):
        for k in range(2):
            flags[t, e, layout.A1 + k] = flags[t, e, layout.M1 + k]
            if flags[t, e, layout.M1 + k] != 0 or flags[t, e, layout.WANTED] != 0:
                continue
            column = layout.M1 + k
            back = _find_flag(flags, e, (column, column), t, -1, gap, n_ready)
            ahead = _find_flag(flags, e, (column, column), t, 1, gap, n_ready)
            if back == 0 or ahead == 0 or back + ahead - 1 > gap:
                continue
            if flags[t - back, e, layout.GIVEN1 + k] == flags[t + ahead, e, layout.GIVEN1 + k]:
                flags[t, e, layout.A1 + k] = 1


@helper
def _find_flag(
    flags: Ints3D, e: int, columns: tuple[int, int], t: int, step: int, max_frames: int, n_ready: int
) -> int:
    """Return the number of frames to the nearest frame with one of two flags; 0 if none or a target comes first.

    flags : (F, E, ...) flags of the limbs. columns : the two flags, which may be the same.
    e, t : limb and frame.
    step : 1 to search forward, -1 to search backward.
    max_frames, n_ready : number of frames to search, and number of frames that exist.
    """
    for n in range(1, max_frames + 1):
        s = t + step * n
        if s < 0 or s >= n_ready or flags[s, e, layout.WANTED] != 0:
            return 0
        if flags[s, e, columns[0]] != 0 or flags[s, e, columns[1]] != 0:
            return n
    return 0


@helper
def hand_over(flags: Ints3D, gap: int, t: int, n_ready: int) -> None:
    """At frame t, hold the earlier point of a foot until the later one is planted, if their contacts nearly meet."""
    for e in range(flags.shape[1]):
        first, second = flags[t, e, layout.A1], flags[t, e, layout.A1 + 1]
        flags[t, e, layout.F1], flags[t, e, layout.F1 + 1] = first, second
        if flags[t, e, layout.WANTED] != 0 or (first != 0 and second != 0):
            continue
        back = _find_flag(flags, e, (layout.A1, layout.A1 + 1), t, -1, gap + 1, n_ready)
        if back == 0:
            continue
        if first == 0 and second == 0:
            ahead = _find_flag(flags, e, (layout.A1, layout.A1 + 1), t, 1, gap, n_ready)
            if ahead == 0 or back + ahead - 1 > gap:
                continue
        for k in range(2):
            mine, other = (first, second) if k == 0 else (second, first)
            held = flags[t - back, e, layout.A1 + k] != 0
            # Hold it through a gap, or for the one frame in which the other point's contact begins.
            takes_over = other != 0 and flags[t - back, e, layout.A1 + 1 - k] == 0
            if mine == 0 and held and (other == 0 or takes_over):
                flags[t, e, layout.F1 + k] = 1


@helper
def find_plants(body: CleanBody, options: CleanOptions, state: CleanState, t: int, n_ready: int) -> None:
    """Write the positions of all plants of frame t to `state`: given, continued from the previous frame, or new."""
    values, flags = state.values, state.flags
    for e in range(flags.shape[1]):
        set_1, set_2 = False, False
        values[t, e, layout.HOVER] = values[t - 1, e, layout.HOVER] if t > 0 else 0.0
        _release_pulled(options, state, t, e)
        _release_flipped(state, t, e)
        for k in range(2):
            if flags[t, e, layout.F1 + k] == 0:
                continue
            known = True
            if flags[t, e, layout.GIVEN1 + k] != 0:
                vec.put(values[t, e], layout.C1 + 3 * k, vec.get(values[t, e], layout.G1 + 3 * k))
                values[t, e, layout.PLANE1 + k] = layout.NOWHERE
            elif t > 0 and flags[t - 1, e, layout.F1 + k] != 0:
                vec.put(values[t, e], layout.C1 + 3 * k, vec.get(values[t - 1, e], layout.C1 + 3 * k))
                values[t, e, layout.PLANE1 + k] = values[t - 1, e, layout.PLANE1 + k]
            else:
                known = False
            if k == 0:
                set_1 = known
            else:
                set_2 = known
        if flags[t, e, layout.F1] != 0 and not set_1:
            _plant_point(body, options, state, t, (e, 0), set_2, n_ready)
            set_1 = True
        if flags[t, e, layout.F1 + 1] != 0 and not set_2:
            _plant_point(body, options, state, t, (e, 1), set_1, n_ready)


@helper
def _release_flipped(state: CleanState, t: int, e: int) -> None:
    """Free the second point of a hand or foot in frame t if it flips, as fingers without markers do.

    Otherwise the hand would have to flip to hold it. It stays free until it flips back, or its contact ends.
    """
    row, flags = state.values[t, e], state.flags
    own, last = vec.sub(vec.get(row, layout.O2), vec.get(row, layout.O1)), (0.0, 0.0, 0.0)
    was_free = False
    if t > 0 and flags[t, e, layout.F2] != 0 and flags[t, e, layout.GIVEN2] == 0:
        last = vec.get(state.values[t - 1, e], layout.OWN)
        was_free = flags[t - 1, e, layout.F2] == 0
    if flags[t, e, layout.F2] == 0 or flags[t, e, layout.GIVEN2] != 0:
        last = (0.0, 0.0, 0.0)
    elif vec.norm(last) == 0.0:  # a new plant
        last = own
    elif (was_free and flags[t, e, layout.F1] == 0) or vec.dot(own, last) < _FLIPPED * vec.norm(own) * vec.norm(last):
        flags[t, e, layout.F2] = 0
    else:
        last = own
    vec.put(row, layout.OWN, last)


@helper
def _release_pulled(options: CleanOptions, state: CleanState, t: int, e: int) -> None:
    """Free a hand or foot in frame t, and for a while, if its plant is too far from where it is in the source."""
    values, flags = state.values, state.flags
    values[t, e, layout.RELEASED] = max(values[t - 1, e, layout.RELEASED] - 1.0, 0.0) if t > 0 else 0.0
    if flags[t, e, layout.GIVEN1] != 0 or flags[t, e, layout.GIVEN2] != 0:
        values[t, e, layout.RELEASED] = 0.0
        return
    for k in range(2):
        if t > 0 and flags[t, e, layout.F1 + k] != 0 and flags[t - 1, e, layout.F1 + k] != 0:
            point, plant = vec.get(values[t, e], layout.X1 + 3 * k), vec.get(values[t - 1, e], layout.C1 + 3 * k)
            if vec.norm(vec.sub(point, plant)) > options.pull:
                values[t, e, layout.RELEASED] = options.release
    if values[t, e, layout.RELEASED] > 0.0:
        flags[t, e, layout.F1], flags[t, e, layout.F2] = 0, 0


@helper
def _plant_point(
    body: CleanBody,
    options: CleanOptions,
    state: CleanState,
    t: int,
    point: tuple[int, int],
    beside: bool,
    n_ready: int,
) -> None:
    """Find the position of a point whose plant begins in frame t; `beside` if its other point is planted already.

    point : index of the limb, and 0 or 1 for its first or second point.
    """
    e, k = point
    other = 1 - k
    if beside:
        center, plane = (
            vec.get(state.values[t, e], layout.C1 + 3 * other),
            int(state.values[t, e, layout.PLANE1 + other]),
        )
        _plant_beside(options, state, (t, t), point, center, plane, n_ready)
        return
    s = _find_given(state.flags, options.average, t, point, n_ready)
    if s > t:
        center = vec.get(state.values[s, e], layout.G1 + 3 * other)
        _plant_beside(options, state, (t, s), point, center, layout.NOWHERE, n_ready)
    else:
        _plant_alone(body, options, state, t, point, n_ready)


@helper
def _find_given(flags: Ints3D, max_frames: int, t: int, point: tuple[int, int], n_ready: int) -> int:
    """Return the frame in which the other point of the limb is planted at a given position while `point` is still
    planted.

    If there is none, return t. The search looks ahead as far as positions are averaged.
    """
    e, k = point
    for s in range(t + 1, min(t + max_frames, n_ready)):
        if flags[s, e, layout.F1 + k] == 0 or flags[s, e, layout.GIVEN1 + k] != 0:
            break
        if flags[s, e, layout.F1 + 1 - k] != 0:
            return s if flags[s, e, layout.GIVEN1 + 1 - k] != 0 else t
    return t


@helper
def _plant_alone(
    body: CleanBody, options: CleanOptions, state: CleanState, t: int, point: tuple[int, int], n_ready: int
) -> None:
    """Place a plant at the mean position of its point over the plant's first frames, projected onto the support."""
    e, k = point
    total, n = (0.0, 0.0, 0.0), 0
    for s in range(t, min(t + options.average, n_ready)):
        if state.flags[s, e, layout.F1 + k] == 0:
            break
        total = vec.add(total, vec.get(state.values[s, e], layout.X1 + 3 * k))
        n += 1
    place = vec.scale(1.0 / n, total)
    before = place[1]
    plane = _find_support(options, place, body.limbs[e, layout.IS_FOOT] != 0)
    if plane >= 0:
        place = _project(options.planes, plane, place)
    vec.put(state.values[t, e], layout.C1 + 3 * k, place)
    state.values[t, e, layout.PLANE1 + k] = plane
    # The hover is for legs that are too short; it fades to 0 for a foot only slightly above a floor that is too low.
    hover = max(before - place[1], 0.0) / options.hover
    state.values[t, e, layout.HOVER] = options.hover * hover * (1.0 - vec.fade(max(1.5 * hover - 0.5, 0.0)))


@helper
def _find_support(options: CleanOptions, place: Vec, is_foot: bool) -> int:
    """Return the support of a point: the index of a plane (0 is the floor), or LEVEL or NOWHERE.

    place : position of the point. Hands without a support nearby get NOWHERE, feet LEVEL.
    """
    planes, near = options.planes, options.near
    above = place[1] - options.floor
    best, min_gap = -1, near
    for i in range(1, planes.shape[0]):
        gap = abs(place[1] - _height(planes, i, place))
        if gap <= min_gap:
            best, min_gap = i, gap
    if is_foot:
        if best >= 0 and min_gap <= abs(above):
            return best
        return 0 if above <= near else layout.LEVEL
    if best >= 0 and above > 0.0:
        return best
    return 0 if above <= 0.0 else layout.NOWHERE


@helper
def _height(planes: Floats2D, i: int, place: Vec) -> float:
    """Return the height of plane i below or above `place`."""
    height: float = planes[i, 0] + planes[i, 1] * place[0] + planes[i, 2] * place[2]
    return height


@helper
def _project(planes: Floats2D, i: int, place: Vec) -> Vec:
    """Return the nearest position on plane i."""
    normal = vec.normalize((-planes[i, 1], 1.0, -planes[i, 2]), (0.0, 1.0, 0.0))
    away = (place[1] - _height(planes, i, place)) * normal[1]
    return vec.sub(place, vec.scale(away, normal))


@helper
def _plant_beside(
    options: CleanOptions,
    state: CleanState,
    starts: tuple[int, int],
    point: tuple[int, int],
    center: Vec,
    plane: int,
    n_ready: int,
) -> None:
    """Plant a point whose other point is known: at the mean distance and in the mean direction from it (Kovar 3.2).

    starts : the frame in which the plant begins, and the first frame in which both points are planted.
    center, plane : position and support of the other point.
    """
    (t, both), (e, k) = starts, point
    other = 1 - k
    total, length, n = (0.0, 0.0, 0.0), 0.0, 0
    for s in range(both, min(t + options.average, n_ready)):
        if state.flags[s, e, layout.F1] == 0 or state.flags[s, e, layout.F1 + 1] == 0:
            break
        away = vec.sub(
            vec.get(state.values[s, e], layout.X1 + 3 * k), vec.get(state.values[s, e], layout.X1 + 3 * other)
        )
        total = vec.add(total, away)
        length += vec.norm(away)
        n += 1
    length /= n
    away = vec.scale(length, vec.normalize(total, (0.0, 0.0, 1.0)))
    if plane == layout.NOWHERE and center[1] + away[1] < options.floor <= center[1]:
        away = _swing_onto(away, (0.0, 1.0, 0.0), options.floor - center[1])
    elif plane == layout.LEVEL:
        away = _swing_onto(away, (0.0, 1.0, 0.0), 0.0)
    elif plane >= 0:
        planes = options.planes
        normal = vec.normalize((-planes[plane, 1], 1.0, -planes[plane, 2]), (0.0, 1.0, 0.0))
        up = (_height(planes, plane, center) - center[1]) * normal[1]
        away = _swing_onto(away, normal, up)
    vec.put(state.values[t, e], layout.C1 + 3 * k, vec.add(center, away))
    state.values[t, e, layout.PLANE1 + k] = plane


@helper
def _swing_onto(away: Vec, normal: Vec, height: float) -> Vec:
    """Rotate `away` by the smallest angle that makes it rise by `height` along `normal`, or as nearly as possible."""
    length = vec.norm(away)
    height = min(max(height, -length), length)
    along = vec.sub(away, vec.scale(vec.dot(away, normal), normal))
    spare = vec.normalize(vec.sub((0.0, 0.0, 1.0), vec.scale(normal[2], normal)), (1.0, 0.0, 0.0))
    along = vec.normalize(along, spare)
    return vec.add(vec.scale(height, normal), vec.scale(math.sqrt(max(length * length - height * height, 0.0)), along))
