"""Write the finished frame: limbs rotated and scaled, toes bent."""

from __future__ import annotations

import math
from typing import Any

from marey.clean.final_kernels import find_hinge, find_toes, toe_axis
from marey.clean.layout_kernels import (
    AIM,
    AIM_Q,
    BASE,
    BEND,
    END,
    KNEE,
    MID,
    MOVED,
    ON_TOE,
    RESIDUE,
    SCALE,
    SHIFT,
    SHIFTED,
    TOE,
    CleanBody,
    CleanOptions,
    CleanOutput,
    CleanState,
    P,
    Q,
    SourceFrames,
    W,
)
from marey.compiled import helper
from marey.core.limb_kernels import parent_rotation, solve, write_limb, write_local
from marey.maths.vector_kernels import (
    Vec,
    about,
    add,
    inv,
    mul,
    put,
    qua,
    size,
    sub,
    times,
    turn,
    vec,
)

Array = Any


@helper
def finish(
    body: CleanBody,
    options: CleanOptions,
    frames: SourceFrames,
    state: CleanState,
    output: CleanOutput,
    t: int,
    n_aimed: int,
    n_frames: int,
) -> None:
    """Write the finished frame t.

    n_aimed : frames that have an aim. n_frames : frames that came in; hinges are found from those, as when they were
    aimed.
    """
    shift = vec(state.shifts[t], SHIFT)
    put(output.root_positions[t], 0, add(vec(output.root_positions[t], 0), shift))
    for e in range(state.flags.shape[1]):
        limb = body.limbs[e]
        output.limb_fits[t, e, SCALE], output.limb_fits[t, e, RESIDUE] = 1.0, 0.0
        change = _smooth_knee(state.values, options.calm, t, e, n_aimed)
        if state.flags[t, e, MOVED] != 0 or change != 0.0:
            hinge = find_hinge(limb, options, frames, state, t, e, n_frames)
            _write_limb(body, options, frames, state, output, (t, e), hinge, change)
        _write_shift(state.values[t, e], limb, body.parents, frames.world[t], output.bone_offsets[t])
        bend = _smooth_bend(state.values, options.calm // 2, t, e, n_aimed)
        if bend > 0.0:
            _write_toes(body, options, frames, state, output, (t, e), bend)


@helper
def _smooth_knee(values: Array, half: int, t: int, e: int, n_aimed: int) -> float:
    """The knee's rotation of frame t, smoothed over its neighbors.

    A knee that is nearly straight rotates by degrees for each millimetre that the hip is off, so that it would shake
    with the noise of the recording. The limb's length takes up the millimetre instead.
    """
    total, weight = 0.0, 0.0
    for n in range(max(-t, -half), min(n_aimed - t, half + 1)):
        tap = 1.0 + math.cos(math.pi * n / (half + 1))
        total += tap * values[t + n, e, KNEE]
        weight += tap
    return total / weight


@helper
def _smooth_bend(values: Array, half: int, t: int, e: int, n_aimed: int) -> float:
    """The bend of the toes in frame t: the largest within a few frames, smoothed over as many.

    Toes that point straight down must bend far for the last millimetre, so that they would snap back.
    """
    total, weight = 0.0, 0.0
    for n in range(-half, half + 1):
        tap = 1.0 + math.cos(math.pi * n / (half + 1))
        most = 0.0
        for s in range(max(0, t + n - half), min(n_aimed, t + n + half + 1)):
            most = max(most, values[s, e, BEND])
        total += tap * most
        weight += tap
    return total / weight


@helper
def _write_limb(
    body: CleanBody,
    options: CleanOptions,
    frames: SourceFrames,
    state: CleanState,
    output: CleanOutput,
    at: tuple[int, int],
    hinge: tuple[Vec, Vec, Vec],
    change: float,
) -> None:
    """Rotate and scale a limb.

    at : frame and limb. hinge : as from `find_hinge`. change : radians by which the knee rotates.
    """
    t, e = at
    row, limb, parents = state.values[t, e], body.limbs[e], body.parents
    world, local, bone = frames.world[t], output.rotations[t], output.bone_offsets[t]
    base, mid, end = limb[BASE], limb[MID], limb[END]
    orientation = qua(row, AIM_Q)
    hip, knee, scale, residue = solve(
        add(vec(frames.positions[t, base], 0), vec(state.shifts[t], SHIFT)), hinge[0], hinge[1], hinge[2], change,
        qua(world[end], 0), vec(row, AIM), orientation, options.swivel, options.stretch,
    )  # fmt: skip
    write_limb(local, world, parents, (base, mid, end), hip, knee, orientation)
    if scale != 1.0:
        joint = end
        while joint != base:
            put(bone[joint], 0, times(scale, vec(bone[joint], 0)))
            joint = parents[joint]
    output.limb_fits[t, e, SCALE], output.limb_fits[t, e, RESIDUE] = scale, residue


@helper
def _write_shift(row: Array, limb: Array, parents: Array, world: Array, bone: Array) -> None:
    """Write the second point's own adjustment, as a change of the bone that carries it."""
    joint, shift = limb[SHIFTED], vec(row, W)
    if joint < 0 or size(shift) == 0.0:
        return
    moved = turn(inv(parent_rotation(world, parents, joint)), turn(qua(row, Q), shift))
    put(bone[joint], 0, add(vec(bone[joint], 0), moved))


@helper
def _write_toes(
    body: CleanBody,
    options: CleanOptions,
    frames: SourceFrames,
    state: CleanState,
    output: CleanOutput,
    at: tuple[int, int],
    bend: float,
) -> None:
    """Bend the toes, in the source's world axes: the foot as a whole takes them along.

    at : frame and limb.
    """
    t, e = at
    row, limb, world = state.values[t, e], body.limbs[e], frames.world[t]
    toe, source = limb[TOE], qua(row, Q)
    _, tip, ankle = find_toes(row, limb, options, frames.positions[t], vec(row, P), source)
    rotation = about(toe_axis(row, limb, tip, ankle, source), bend)
    parent = parent_rotation(world, body.parents, toe)
    write_local(output.rotations[t], toe, parent, mul(rotation, qua(world[toe], 0)))
    if limb[ON_TOE] != 0 and options.can_stretch:
        point = turn(qua(world[toe], 0), vec(body.points[e, 1], 0))
        moved = turn(inv(parent), sub(point, turn(rotation, point)))
        bone = output.bone_offsets[t]
        put(bone[toe], 0, add(vec(bone[toe], 0), moved))
