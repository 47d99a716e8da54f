"""Step 5 of the cleanup: fade adjustments out into free frames, and keep everything above the floor (Kovar 3.2.6).

Kovar solves the limbs first and fades out joint angles. Here targets fade out, and limbs are solved in free frames too.
The limb's angles are smooth functions of its target, so they are as smooth as the target, and a free foot follows a
smooth path in the world.

Key: t = frame, e = limb (hand or foot); `row` = values of the limb in the frame, `limb` = joints of the limb, in the
columns of `layout_kernels`; D, R, W, BEND ... = columns of the values; n_ready = number of frames that may be read.
"""

from __future__ import annotations

import math

from marey.clean import layout_kernels as layout
from marey.clean.layout_kernels import CleanBody, CleanOptions, CleanState, FreeSpan, SourceFrames
from marey.clean.root_kernels import find_pivot, follow_shift
from marey.clean.target_kernels import fade_tail, fade_tails, find_span
from marey.compiled import Floats1D, Floats2D, Ints1D, Ints3D, helper
from marey.core.limb_kernels import LimbInput, bones, find_easing_rotation, find_hinge_axis, find_swivel
from marey.maths import vector_kernels as vec
from marey.maths.vector_kernels import Quat, Vec

Pose = tuple[Vec, Quat]

# Toes bend toward the sole by at most this many radians.
_MAX_DOWN = 0.5
# Radians toward the sole and toward the shin up to which toes stay on the side to which they bend. Beyond, they swing
# to the other side, above the floor.
_HELD_DOWN, _HELD_UP = 1.0, 2.6
# A knee's usual axis has full weight if the length of the sum of its axes is at least 1 / _SURE of the sum of their
# lengths.
_SURE = 2.0


@helper
def aim_limbs(
    body: CleanBody, options: CleanOptions, frames: SourceFrames, state: CleanState, t: int, n_ready: int
) -> None:
    """Write the final pose of each hand and foot in frame t, and how far its knee or elbow must rotate to reach it, to
    `state`."""
    flags = state.flags
    shift = vec.get(state.shifts[t], layout.SHIFT)
    for e in range(flags.shape[1]):
        row, limb, kind = state.values[t, e], body.limbs[e], flags[t, e, layout.KIND]
        source, along = vec.get_quat(row, layout.Q), follow_shift(row, limb, shift)
        target = vec.get(row, layout.T)
        if kind == layout.FREE:
            target = vec.add(vec.add(vec.get(row, layout.P), along), (0.0, row[layout.LIFT], 0.0))
            target = vec.add(target, _fade_out(limb, options, state, t, e, n_ready))
        moved = (
            vec.norm(vec.get(row, layout.D))
            + vec.norm(vec.get(row, layout.R))
            + vec.norm(vec.get(row, layout.W))
            + row[layout.LIFT]
            > 0.0
            or along[1] != shift[1]
        )
        orientation = vec.mul(vec.exp(vec.get(row, layout.R)), source)
        near_plants = _weigh_single_plants(flags, options.fade, t, e, n_ready)
        (target, orientation), bends, raised = _raise_above_floor(
            row, limb, kind, options, frames.positions[t], (target, orientation), near_plants
        )
        vec.put(row, layout.AIM, target)
        vec.put_quat(row, layout.AIM_Q, orientation)
        row[layout.BEND], row[layout.RAISE], row[layout.KNEE], row[layout.SWIVEL] = bends[0], bends[1], 0.0, 0.0
        if t > 0 and limb[layout.TOE] >= 0 and limb[layout.TIP] >= 0:
            toes = find_toes(row, limb, options, frames.positions[t], target, orientation)
            toe, tip = limb[layout.TOE], limb[layout.TIP]
            now, before = _toe_line(frames.positions[t], toe, tip), _toe_line(frames.positions[t - 1], toe, tip)
            moved_by = options.swing + vec.norm(vec.sub(now, before))
            _follow_bend(row, limb, options, toes, orientation, state.values[t - 1, e], moved_by)
        flags[t, e, layout.MOVED] = moved or raised or kind != layout.FREE
        up, down, hinge, _ = find_hinge(limb, options, frames, state, t, e, n_ready)
        _follow_axis(frames, state, t, e, limb[layout.BASE], hinge)
        if flags[t, e, layout.MOVED] != 0:
            hip = vec.add(vec.get(frames.positions[t, limb[layout.BASE]], 0), shift)
            change = find_easing_rotation(up, down, hinge, vec.norm(vec.sub(target, hip)), options.damping)
            row[layout.KNEE] = row[layout.SIGN] * change
            spare = find_swivel(LimbInput(hip, up, down, hinge, source), change, target, orientation, options.stretch)
            row[layout.SWIVEL] = options.swivel * _fold_angle(spare)


@helper
def _follow_axis(frames: SourceFrames, state: CleanState, t: int, e: int, base: int, hinge: Vec) -> None:
    """Write the axis of a knee or elbow in frame t, and its sign, which changes where the axis is reversed.

    A rotation about a reversed axis has the opposite direction. Multiplied by the sign, the rotation can be smoothed
    across the reversal.
    """
    row = state.values[t, e]
    upper = vec.mul(vec.get_quat(frames.world[t, base], 0), vec.get_quat(row, layout.FLIP))
    vec.put(row, layout.AXIS, vec.rotate(vec.inv(upper), hinge))
    row[layout.SIGN] = 1.0
    if t > 0:
        last = state.values[t - 1, e]
        is_reversed = vec.dot(vec.get(last, layout.AXIS), vec.get(row, layout.AXIS)) < 0.0
        row[layout.SIGN] = -last[layout.SIGN] if is_reversed else last[layout.SIGN]


@helper
def _fold_angle(angle: float) -> float:
    """Return an angle in radians, unchanged up to a quarter turn; larger angles decrease linearly, to 0 at half a turn.

    A foot that flips by half a turn does not show to which side the knee should swivel.
    """
    if abs(angle) <= 0.5 * math.pi:
        return angle
    return math.copysign(math.pi - abs(angle), angle)


@helper
def _fade_out(limb: Ints1D, options: CleanOptions, state: CleanState, t: int, e: int, n_ready: int) -> Vec:
    """Fade the adjustments of limb e into free frame t: write D, R and W of its row, and return the adjustment of the
    wrist's or ankle's position."""
    row = state.values[t, e]
    span = find_span(state.flags, e, t, options.fade, False, n_ready)
    vec.put(row, layout.W, fade_tails(options, state, span, layout.W, options.fade))
    pivot, source = find_pivot(row, limb), vec.get_quat(row, layout.Q)
    total, rotated, moved = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    # A foot that was held flat soon returns to the pitch of the source; otherwise foot and leg would have to stretch.
    rotation_window = options.blend if options.is_smooth else options.fade
    for side in range(2):
        away = fade_tail(options, state, span, layout.D, options.fade, side)
        if limb[layout.IS_FOOT] != 0 and options.is_smooth and _ends_lower(state, span, side):
            quick = fade_tail(options, state, span, layout.D, options.rise, side)
            away = (away[0], quick[1], away[2])
        swung = fade_tail(options, state, span, layout.R, rotation_window, side)
        total, rotated = vec.add(total, away), vec.add(rotated, swung)
        moved = vec.add(moved, vec.sub(vec.rotate(source, pivot), vec.rotate(vec.mul(vec.exp(swung), source), pivot)))
    vec.put(row, layout.D, total)
    vec.put(row, layout.R, rotated)
    return vec.add(total, moved)


@helper
def _ends_lower(state: CleanState, span: FreeSpan, side: int) -> bool:
    """Return whether the foot is lower than in the source at the end of a free span where the adjustment begins to
    fade.

    side : 0 for the frames before the span, 1 for those after it.
    """
    frame = span.t - span.back if side == 0 else span.t + span.ahead
    lower: bool = state.values[frame, span.e, layout.D + 1] < 0.0
    return lower


@helper
def find_hinge(
    limb: Ints1D, options: CleanOptions, frames: SourceFrames, state: CleanState, t: int, e: int, n_ready: int
) -> tuple[Vec, Vec, Vec, float]:
    """Return the vectors from the knee to hip and ankle in frame t, the knee's axis, and the factor for rotations.

    The usual axis is the sum of the axes up to the latest frame that may be read. Its weight is lower if the knee bends
    one way in some frames and the other way in others.
    """
    up, down = bones(frames.positions[t], limb[layout.BASE], limb[layout.MID], limb[layout.END])
    latest = state.values[min(t + options.fade, n_ready - 1), e]
    total = vec.get(latest, layout.H)
    sure = min(_SURE * vec.norm(total) / max(latest[layout.HINGED], 1e-12), 1.0)
    usual = vec.scale(sure, vec.normalize(total, (1.0, 0.0, 0.0)))
    upper = vec.mul(vec.get_quat(frames.world[t, limb[layout.BASE]], 0), vec.get_quat(state.values[t, e], layout.FLIP))
    axis, scale = find_hinge_axis(up, down, vec.rotate(upper, usual))
    return up, down, axis, scale


@helper
def _raise_above_floor(
    row: Floats1D,
    limb: Ints1D,
    kind: int,
    options: CleanOptions,
    positions: Floats2D,
    pose: Pose,
    near_plants: tuple[float, float],
) -> tuple[Pose, tuple[float, float], bool]:
    """Raise all points above the floor; return the pose of the ankle, the values BEND and RAISE, and whether the
    ankle's position changed.

    positions : (J, 3) joints in the source.
    near_plants : from `_weigh_single_plants`.
    """
    target, orientation = pose
    floor, raised = options.floor - row[layout.OVER], False
    if kind in (layout.POSE, layout.POSITION):
        return (target, orientation), (0.0, 0.0), raised
    second = vec.add(vec.get(row, layout.O2), vec.get(row, layout.W))
    if kind == layout.FIRST and limb[layout.POINT2] >= 0:
        held, other = vec.get(row, layout.O1), second
        target, orientation, raised = _tilt(target, orientation, held, other, floor)
    elif kind == layout.SECOND and limb[layout.POINT1] >= 0:
        held, other = second, vec.get(row, layout.O1)
        target, orientation, raised = _tilt(target, orientation, held, other, floor)
    elif kind == layout.FREE:
        target, orientation, raised = _raise_free(
            limb, (vec.get(row, layout.O1), second), target, orientation, floor, near_plants
        )
    if limb[layout.IS_FOOT] != 0 and target[1] < floor:  # the ankle itself, of a foot that lies on its side or back
        if kind == layout.FREE:
            target, raised = (target[0], floor, target[2]), True
        elif kind == layout.BOTH:
            target, orientation, raised = _roll(target, orientation, vec.get(row, layout.O1), second, floor)
        else:
            held = vec.get(row, layout.O1) if kind == layout.FIRST else second
            target, orientation, raised = _tilt(target, orientation, held, (0.0, 0.0, 0.0), floor)
    bend, rise = 0.0, 0.0
    if limb[layout.TOE] >= 0 and limb[layout.TIP] >= 0:
        bend, missing = _bend_toes(row, limb, options, positions, target, orientation)
        if kind == layout.FREE and missing > 0.0:
            target, raised = (target[0], target[1] + missing, target[2]), True
        elif missing > 0.0:  # toes of a foot that lies on its side
            pivot, tip, ankle = find_toes(row, limb, options, positions, target, orientation)
            tip = vec.rotate(vec.from_axis_angle(find_toe_axis(row, limb, tip, ankle, orientation), bend), tip)
            rise = find_rise(tip, floor - pivot[1])
    return (target, orientation), (bend, rise), raised


@helper
def _weigh_single_plants(flags: Ints3D, window: int, t: int, e: int, n_ready: int) -> tuple[float, float]:
    """Return how close frame t is to frames in which only the first, or only the second, point is planted: 0 to 1."""
    first, second = 0.0, 0.0
    span = find_span(flags, e, t, window, False, n_ready)
    for n in (-span.back, span.ahead):
        kind = flags[t + n, e, layout.KIND]
        near = vec.fade_smoothly(abs(n) / (window + 1))
        if kind == layout.FIRST:
            first = max(first, near)
        elif kind == layout.SECOND:
            second = max(second, near)
    return first, second


@helper
def _raise_free(
    limb: Ints1D,
    points: tuple[Vec, Vec],
    target: Vec,
    orientation: Quat,
    floor: float,
    near_plants: tuple[float, float],
) -> tuple[Vec, Quat, bool]:
    """Lift a free hand or foot until one of its points is above the floor, then rotate it about that point.

    This avoids a jump at the end of a plant about which the foot rotated. Away from such a plant, the steeper the foot,
    the more the other point is lifted rather than rotated above the floor: a foot that hangs straight down would have
    to rotate far for the last millimeter, and its low point would jump sideways by centimeters.
    """
    if limb[layout.POINT1] < 0 and limb[layout.POINT2] < 0:
        return target, orientation, False
    first, second = points
    one, two = vec.rotate(orientation, first)[1], vec.rotate(orientation, second)[1]
    if limb[layout.POINT1] < 0:
        one = two
    if limb[layout.POINT2] < 0:
        two = one
    lift = max(floor - target[1] - max(one, two), 0.0)
    target = (target[0], target[1] + lift, target[2])
    depth = floor - target[1] - min(one, two)
    if depth <= 0.0:
        return target, orientation, lift > 0.0
    steep = (target[1] + max(one, two) - floor) / max(vec.norm(vec.sub(second, first)), 1e-9)
    lifted = (1.0 - vec.fade(steep)) * (1.0 - (near_plants[0] if one >= two else near_plants[1]))
    target = (target[0], target[1] + lifted * depth, target[2])
    if one >= two:
        target, orientation, _ = _tilt(target, orientation, first, second, floor)
    else:
        target, orientation, _ = _tilt(target, orientation, second, first, floor)
    return target, orientation, True


@helper
def _tilt(target: Vec, orientation: Quat, held: Vec, other: Vec, floor: float) -> tuple[Vec, Quat, bool]:
    """Rotate the foot about its planted point by the smallest angle that puts the other point above the floor.

    target, orientation : position and world rotation of the ankle.
    held, other : the planted and the other point, relative to the ankle in its axes.
    floor : height in meters.
    Return the new position and rotation of the ankle, and whether they changed.
    """
    plant = vec.add(target, vec.rotate(orientation, held))
    away = vec.rotate(orientation, vec.sub(other, held))
    if plant[1] + away[1] >= floor:
        return target, orientation, False
    if math.sqrt(away[0] * away[0] + away[2] * away[2]) < 1e-9:
        return target, orientation, False
    orientation = vec.mul(vec.from_axis_angle(find_level_axis(away), find_rise(away, floor - plant[1])), orientation)
    return vec.sub(plant, vec.rotate(orientation, held)), orientation, True


@helper
def find_rise(away: Vec, height: float) -> float:
    """Return the angle in radians about the horizontal axis of `find_level_axis` that raises the end of a vector to
    `height`, or as near to it as possible."""
    flat = math.sqrt(away[0] * away[0] + away[2] * away[2])
    return math.asin(min(max(height / max(vec.norm(away), 1e-9), -1.0), 1.0)) - math.atan2(away[1], flat)


@helper
def find_level_axis(away: Vec) -> Vec:
    """Return the horizontal axis, perpendicular to a vector, about which a positive rotation raises the vector's
    end."""
    return vec.normalize((-away[2], 0.0, away[0]), (1.0, 0.0, 0.0))


@helper
def _roll(target: Vec, orientation: Quat, first: Vec, second: Vec, floor: float) -> tuple[Vec, Quat, bool]:
    """Roll the foot about the line through its planted points by the smallest angle that raises the ankle enough.

    target, orientation : position and world rotation of the ankle.
    first, second : the planted points, relative to the ankle in its axes.
    floor : height in meters above which the ankle must be.
    Return the new position and rotation of the ankle, and True.
    """
    plant = vec.add(target, vec.rotate(orientation, first))
    axis = vec.normalize(vec.rotate(orientation, vec.sub(second, first)), (0.0, 0.0, 1.0))
    bend, _ = _find_bend(axis, vec.sub(target, plant), floor - plant[1], True)
    orientation = vec.mul(vec.from_axis_angle(axis, bend), orientation)
    return vec.sub(plant, vec.rotate(orientation, first)), orientation, True


@helper
def find_toes(
    row: Floats1D, limb: Ints1D, options: CleanOptions, positions: Floats2D, target: Vec, orientation: Quat
) -> tuple[Vec, Vec, Vec]:
    """Return the pivot of the toes, and the vectors from it to their tip and to the ankle.

    The pivot is the planted point if that is on the toes but not at their joint; the joint then moves along.

    positions : (J, 3) joints in the source.
    target, orientation : pose of the ankle.
    """
    back = vec.inv(vec.get_quat(row, layout.Q))
    toe = vec.rotate(back, vec.sub(vec.get(positions[limb[layout.TOE]], 0), vec.get(row, layout.P)))
    tip = vec.rotate(back, vec.sub(vec.get(positions[limb[layout.TIP]], 0), vec.get(row, layout.P)))
    if limb[layout.SHIFTED] >= 0:
        toe, tip = vec.add(toe, vec.get(row, layout.W)), vec.add(tip, vec.get(row, layout.W))
    if limb[layout.ON_TOE] != 0 and options.can_stretch:
        toe = vec.add(vec.get(row, layout.O2), vec.get(row, layout.W))
    return (
        vec.add(target, vec.rotate(orientation, toe)),
        vec.rotate(orientation, vec.sub(tip, toe)),
        vec.rotate(orientation, vec.scale(-1.0, toe)),
    )


@helper
def find_toe_axis(row: Floats1D, limb: Ints1D, tip: Vec, ankle: Vec, orientation: Quat) -> Vec:
    """Return the axis about which toes bend toward the shin: across the foot, perpendicular to heel, ball and ankle.

    tip, ankle : vectors from the pivot of the toes. Without a heel, the axis is perpendicular to toes and ankle.
    """
    return vec.normalize(vec.cross(_find_foot_line(row, limb, tip, ankle, orientation), ankle), (1.0, 0.0, 0.0))


@helper
def _find_foot_line(row: Floats1D, limb: Ints1D, tip: Vec, ankle: Vec, orientation: Quat) -> Vec:
    """Return the vector from heel to ball, or along the toes if there is no heel."""
    if limb[layout.POINT1] < 0:
        return tip
    return vec.sub(vec.scale(-1.0, ankle), vec.rotate(orientation, vec.get(row, layout.O1)))


@helper
def _bend_toes(
    row: Floats1D, limb: Ints1D, options: CleanOptions, positions: Floats2D, target: Vec, orientation: Quat
) -> tuple[float, float]:
    """Return the smallest bend of the toes that puts their tip above the floor, and the distance in meters that is
    still missing.

    Kovar 3.16-3.17 as an angle. The bend is toward the shin; if the foot is upside down, it is toward the sole, and
    negative.
    """
    pivot, tip, ankle = find_toes(row, limb, options, positions, target, orientation)
    height = options.floor - row[layout.OVER] - pivot[1]
    if tip[1] >= height:
        return 0.0, 0.0
    axis = find_toe_axis(row, limb, tip, ankle, orientation)
    instep = vec.cross(axis, _find_foot_line(row, limb, tip, ankle, orientation))
    return _find_bend(axis, tip, height, instep[1] > 0.0)


@helper
def _toe_line(positions: Floats2D, toe: int, tip: int) -> Vec:
    """Return the vector along the toes in the source."""
    return vec.sub(vec.get(positions[tip], 0), vec.get(positions[toe], 0))


@helper
def _follow_bend(
    row: Floats1D,
    limb: Ints1D,
    options: CleanOptions,
    toes: tuple[Vec, Vec, Vec],
    orientation: Quat,
    last: Floats1D,
    max_swing: float,
) -> None:
    """Make the bend of the toes continuous from frame to frame: write BEND, and WOUND, the nearest multiple of 2 pi.

    The best bend of a single frame may be to the other side than in the previous frame. Toes stay on their side as long
    as they can, then swing across, above the floor, at up to `max_swing` meters per frame.

    toes : from `find_toes`. last : values of the previous frame.
    """
    turn, bend, before = 2.0 * math.pi, row[layout.BEND], last[layout.WOUND] + last[layout.BEND]
    goal = bend + turn * math.floor((before - bend) / turn + 0.5)
    if goal != before:
        pivot, tip, ankle = toes
        axis = find_toe_axis(row, limb, tip, ankle, orientation)
        top, rest = find_arc(axis, tip, options.floor - row[layout.OVER] - pivot[1])
        top += turn * math.floor((before - top) / turn + 0.5)
        low, high = top - rest, top + rest
        if goal < low - 1e-9 or goal > high + 1e-9:  # it is on the other side of the floor
            is_held = -_HELD_DOWN <= last[layout.BEND] <= _HELD_UP
            goal = before if is_held else bend + turn * math.floor((top - bend) / turn + 0.5)
        step = max_swing / max(vec.norm(tip), 1e-9)
        goal = before + min(max(goal - before, -step), step)
        if rest > 0.0:
            goal = min(max(goal, low), high)
    row[layout.WOUND] = turn * math.floor(goal / turn + 0.5)
    row[layout.BEND] = goal - row[layout.WOUND]


@helper
def find_arc(axis: Vec, tip: Vec, height: float) -> tuple[float, float]:
    """Return the rotations about an axis that keep the end of a vector at `height` or above: from `top - rest` to `top
    + rest`, in radians.

    Returns `top`, the rotation that raises the end most, and `rest`.
    """
    along = axis[1] * vec.dot(axis, tip)
    side = vec.cross(axis, tip)
    amplitude, top = math.sqrt(vec.square(tip[1] - along) + side[1] * side[1]), math.atan2(side[1], tip[1] - along)
    rest = math.acos(max((height - along) / amplitude, -1.0)) if height - along < amplitude else 0.0
    return top, rest


@helper
def _find_bend(axis: Vec, tip: Vec, height: float, is_upright: bool) -> tuple[float, float]:
    """Return the smallest rotation about an axis that raises the end of a vector to a height, and the remaining
    distance below that height in meters.

    The height of the end is a constant plus an amplitude times cos(rotation - top). The end of toes that are curled
    under is first rotated straight down, then up. If the foot lies on its instep (not `is_upright`) and a small
    rotation suffices, it is rotated up directly.
    """
    top, rest = find_arc(axis, tip, height)
    if top < -0.5 * math.pi and (is_upright or top + rest < -_MAX_DOWN):
        top += 2.0 * math.pi
    bend = top - rest if top > 0.0 else top + rest
    bend = max(bend, -_MAX_DOWN)
    return bend, max(height - vec.rotate(vec.from_axis_angle(axis, bend), tip)[1], 0.0)
