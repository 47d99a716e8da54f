"""Last step of the cleanup: write the finished frame, with limbs rotated and scaled and toes bent.

Key: t = frame, e = limb (hand or foot); `row` = values of the limb in the frame, `limb` = joints of the limb, in the
columns of `layout_kernels`.
"""

from __future__ import annotations

import math

from marey.clean import layout_kernels as layout
from marey.clean.final_kernels import find_arc, find_hinge, find_level_axis, find_rise, find_toe_axis, find_toes
from marey.clean.layout_kernels import Cleanup
from marey.clean.root_kernels import smooth_peak
from marey.compiled import Floats1D, Floats2D, Floats3D, Ints1D, helper
from marey.core.limb_kernels import LimbInput, parent_rotation, solve, write_limb, write_local
from marey.maths import vector_kernels as vec
from marey.maths.vector_kernels import Vec


@helper
def finish_frame(cleanup: Cleanup, t: int, n_aimed: int, n_frames: int) -> None:
    """Write the finished frame t.

    n_aimed : number of frames whose limbs are aimed.
    n_frames : number of input frames; hinges are found from these, as when the limbs were aimed.
    """
    body, options, frames, state, output = cleanup
    shift = vec.get(state.shifts[t], layout.SHIFT)
    vec.put(output.root_positions[t], 0, vec.add(vec.get(output.root_positions[t], 0), shift))
    for e in range(state.flags.shape[1]):
        limb = body.limbs[e]
        output.limb_fits[t, e, layout.SCALE], output.limb_fits[t, e, layout.RESIDUE] = 1.0, 0.0
        # A nearly straight knee rotates by degrees for each millimeter of hip error, so it would shake with the noise
        # of the recording. The limb's length absorbs the millimeter instead.
        change, swivel = _smooth_knee(state.values, options.calm, options.raised, t, e, n_aimed)
        if state.flags[t, e, layout.MOVED] != 0 or change != 0.0 or swivel != 0.0:
            up, down, axis, scale = find_hinge(limb, options, frames, state, t, e, n_frames)
            _write_limb(cleanup, t, e, (up, down, axis), (scale * change, swivel))
        _write_shift(state.values[t, e], limb, body.parents, frames.world[t], output.bone_offsets[t])
        bend = _smooth_bend(cleanup, t, e, n_aimed)
        rise = smooth_peak(state.values, layout.RAISE, options.calm // 2, options.raised, t, (e, n_aimed))
        if limb[layout.TOE] >= 0 and limb[layout.TIP] >= 0 and state.flags[t, e, layout.KIND] < layout.POSE:
            rise += _find_missing_rise(cleanup, t, e, bend, rise)
        if bend != 0.0 or rise != 0.0:
            _write_toes(cleanup, t, e, bend, rise)


@helper
def _smooth_bend(cleanup: Cleanup, t: int, e: int, n_aimed: int) -> float:
    """Return the bend of the toes in frame t, smoothed over its neighbors.

    Toes that point straight down must bend far for the last millimeter, and would snap back. Where they bend up in one
    frame and down in the next, they rotate through the smaller angle, mostly above the floor.
    """
    _, options, frames, state, _ = cleanup
    row, limb, half = state.values[t, e], cleanup.body.limbs[e], options.calm // 2
    if limb[layout.TOE] < 0 or limb[layout.TIP] < 0:
        return 0.0
    total, weight = 0.0, 0.0
    for n in range(max(-t, -half), min(n_aimed - t, half + 1)):
        tap = options.raised[half, abs(n)]
        total += tap * (_find_peak(state.values, half, t + n, e, n_aimed) - row[layout.WOUND])
        weight += tap
    bend = total / weight
    if bend == row[layout.BEND]:
        return bend
    target, orientation = vec.get(row, layout.AIM), vec.get_quat(row, layout.AIM_Q)
    pivot, tip, ankle = find_toes(row, limb, options, frames.positions[t], target, orientation)
    top, rest = find_arc(
        find_toe_axis(row, limb, tip, ankle, orientation), tip, options.floor - row[layout.OVER] - pivot[1]
    )
    top += 2.0 * math.pi * math.floor((bend - top) / (2.0 * math.pi) + 0.5)
    return min(max(bend, top - rest), top + rest) if rest > 0.0 else bend


@helper
def _find_peak(values: Floats3D, half: int, t: int, e: int, n_aimed: int) -> float:
    """Return the largest upward bend of the toes minus the largest downward one, within `half` frames of t, in radians.

    The angle is continuous over time. n_aimed : number of frames whose limbs are aimed.
    """
    up, down = 0.0, 0.0
    for s in range(max(0, t - half), min(n_aimed, t + half + 1)):
        if values[s, e, layout.WOUND] == values[t, e, layout.WOUND]:
            up, down = max(up, values[s, e, layout.BEND]), max(down, -values[s, e, layout.BEND])
    peak: float = up - down + values[t, e, layout.WOUND]
    return peak


@helper
def _find_missing_rise(cleanup: Cleanup, t: int, e: int, bend: float, rise: float) -> float:
    """Return the radians by which toes that are bent and raised must still rise to be above the floor.

    Smoothing may leave them below it where the foot turns over and its toes bend the other way.
    """
    _, options, frames, state, _ = cleanup
    row, limb = state.values[t, e], cleanup.body.limbs[e]
    orientation = vec.get_quat(row, layout.AIM_Q)
    pivot, tip, ankle = find_toes(row, limb, options, frames.positions[t], vec.get(row, layout.AIM), orientation)
    tip = vec.rotate(vec.from_axis_angle(find_toe_axis(row, limb, tip, ankle, orientation), bend), tip)
    tip = vec.rotate(vec.from_axis_angle(find_level_axis(tip), rise), tip)
    height = options.floor - row[layout.OVER] - pivot[1]
    return find_rise(tip, height) if tip[1] < height else 0.0


@helper
def _smooth_knee(values: Floats3D, half: int, raised: Floats2D, t: int, e: int, n_aimed: int) -> tuple[float, float]:
    """Return the rotation and the swivel of limb e in frame t, smoothed over `half` frames on either side."""
    change, swivel, weight = 0.0, 0.0, 0.0
    for n in range(max(-t, -half), min(n_aimed - t, half + 1)):
        row, tap = values[t + n, e], raised[half, abs(n)]
        change += tap * row[layout.KNEE]
        swivel += tap * row[layout.SWIVEL]
        weight += tap
    return values[t, e, layout.SIGN] * (change / weight), swivel / weight


@helper
def _write_limb(cleanup: Cleanup, t: int, e: int, hinge: tuple[Vec, Vec, Vec], rotations: tuple[float, float]) -> None:
    """Rotate and scale limb e in frame t.

    hinge : vectors from the knee to hip and ankle, and its axis.
    rotations : rotation of the knee, and its swivel, in radians.
    """
    body, options, frames, state, output = cleanup
    row, limb, parents = state.values[t, e], body.limbs[e], body.parents
    world, local, bone = frames.world[t], output.rotations[t], output.bone_offsets[t]
    base, mid, end = limb[layout.BASE], limb[layout.MID], limb[layout.END]
    orientation = vec.get_quat(row, layout.AIM_Q)
    hip_position = vec.add(vec.get(frames.positions[t, base], 0), vec.get(state.shifts[t], layout.SHIFT))
    before = LimbInput(hip_position, hinge[0], hinge[1], hinge[2], vec.get_quat(world[end], 0))
    aim = vec.get(row, layout.AIM)
    hip, knee, scale, residue = solve(before, rotations[0], aim, rotations[1], options.stretch)
    write_limb(local, world, parents, (base, mid, end), hip, knee, orientation)
    if scale != 1.0:
        joint = end
        while joint != base:
            vec.put(bone[joint], 0, vec.scale(scale, vec.get(bone[joint], 0)))
            joint = parents[joint]
    output.limb_fits[t, e, layout.SCALE], output.limb_fits[t, e, layout.RESIDUE] = scale, residue


@helper
def _write_shift(row: Floats1D, limb: Ints1D, parents: Ints1D, world: Floats2D, bone: Floats2D) -> None:
    """Write the second point's own adjustment as a change of the offset of the bone that carries it."""
    joint, shift = limb[layout.SHIFTED], vec.get(row, layout.W)
    if joint < 0 or vec.norm(shift) == 0.0:
        return
    moved = vec.rotate(vec.inv(parent_rotation(world, parents, joint)), vec.rotate(vec.get_quat(row, layout.Q), shift))
    vec.put(bone[joint], 0, vec.add(vec.get(bone[joint], 0), moved))


@helper
def _write_toes(cleanup: Cleanup, t: int, e: int, bend: float, rise: float) -> None:
    """Bend the toes of limb e in frame t, in the source's world axes, and raise them; they then move with the foot."""
    body, options, frames, state, output = cleanup
    row, limb, world = state.values[t, e], body.limbs[e], frames.world[t]
    toe, source = limb[layout.TOE], vec.get_quat(row, layout.Q)
    _, tip, ankle = find_toes(row, limb, options, frames.positions[t], vec.get(row, layout.P), source)
    rotation = vec.from_axis_angle(find_toe_axis(row, limb, tip, ankle, source), bend)
    if rise != 0.0:
        back = vec.mul(source, vec.inv(vec.get_quat(row, layout.AIM_Q)))
        tip = vec.rotate(vec.inv(back), vec.rotate(rotation, tip))
        rotation = vec.mul(vec.from_axis_angle(vec.rotate(back, find_level_axis(tip)), rise), rotation)
    parent = parent_rotation(world, body.parents, toe)
    write_local(output.rotations[t], toe, parent, vec.mul(rotation, vec.get_quat(world[toe], 0)))
    if limb[layout.ON_TOE] != 0 and options.can_stretch:
        point = vec.rotate(vec.get_quat(world[toe], 0), vec.get(body.points[e, 1], 0))
        moved = vec.rotate(vec.inv(parent), vec.sub(point, vec.rotate(rotation, point)))
        bone = output.bone_offsets[t]
        vec.put(bone[toe], 0, vec.add(vec.get(bone[toe], 0), moved))
