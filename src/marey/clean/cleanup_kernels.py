"""The cleanup as a pipeline: each step works on one frame and sees a bounded number of frames to either side.

A batch is the pipeline run over all frames at once, a stream the same over a window that moves along: `advance` takes
each step as far as the frames before it allow.
"""

from __future__ import annotations

from typing import Any

from marey.clean.final_kernels import aim
from marey.clean.layout import BASE, CALM, END, GAP, L1, L2, L3, L4, LIFTING, MID, O1, POINT1, SEEN, X1, H, P, Q
from marey.clean.limb_kernels import bones
from marey.clean.plant_kernels import close_gaps, find_plants, hand_over
from marey.clean.root_kernels import complete_shift, lift_source, reach_targets, smooth_shift
from marey.clean.target_kernels import pose_planted, pose_targets
from marey.clean.vector_kernels import add, cross, inv, put, put_qua, qua, sub, turn, vec
from marey.clean.write_kernels import finish
from marey.core._kernels import forward_pose
from marey.core.compiled import inner, kernel

Array = Any


@kernel
def advance(
    parents: Array, limbs: Array, offsets: Array, hinges: Array, planes: Array, taps: Array, spans: Array,
    amounts: Array, root: Array, local: Array, bone: Array, positions: Array, world: Array, state: Array,
    flags: Array, shifts: Array, out_root: Array, out_local: Array, out_bone: Array, figures: Array, done: Array,
    n: int, ended: bool,
) -> None:  # fmt: skip
    """Take every step as far as n frames allow, or to their end where no more will come.

    done : (N_STEPS,) how many frames each step has finished; the last are the finished frames.
    """
    for t in range(done[0], n):
        _read(parents, limbs, offsets, hinges, root, local, bone, positions, world, state, t)
    done[0] = n
    for t in range(done[1], _until(done[0], spans[GAP] + 1, n, ended)):
        close_gaps(flags, spans, t, 0, done[0])
        done[1] = t + 1
    for t in range(done[2], _until(done[1], spans[GAP] + 1, n, ended)):
        hand_over(flags, spans, t, 0, done[1])
        done[2] = t + 1
    for t in range(done[3], _until(done[2], spans[L1], n, ended)):
        find_plants(state, flags, limbs, planes, spans, amounts, t, 0, done[2])
        pose_planted(state, flags, limbs, planes, spans, amounts, t)
        done[3] = t + 1
    for t in range(done[4], _until(done[3], spans[L2] + spans[SEEN], n, ended)):
        pose_targets(state, flags, spans, t, 0, done[3])
        reach_targets(state, flags, limbs, positions, amounts, shifts, t)
        done[4] = t + 1
    for t in range(done[5], _until(done[4], spans[L3], n, ended)):
        smooth_shift(state, flags, limbs, positions, shifts, taps, spans, amounts, t, 0, done[4])
        done[5] = t + 1
    for t in range(done[6], _until(done[5], 2 * spans[LIFTING], n, ended)):
        complete_shift(state, flags, limbs, positions, shifts, spans, amounts, t, 0, done[5])
        done[6] = t + 1
    for t in range(done[7], _until(done[6], 2 * spans[LIFTING], n, ended)):
        lift_source(state, flags, limbs, shifts, spans, t, 0, done[6])
        done[7] = t + 1
    for t in range(done[8], _until(done[7], spans[L4] + spans[SEEN], n, ended)):
        aim(state, flags, limbs, spans, amounts, shifts, positions, world, t, 0, done[7])
        done[8] = t + 1
    for t in range(done[9], _until(done[8], spans[CALM], n, ended)):
        finish(
            state, flags, limbs, offsets, parents, spans, amounts, shifts, positions, world,
            out_root, out_local, out_bone, figures, t, 0, done[8], n,
        )  # fmt: skip
        done[9] = t + 1


@inner
def _until(ready: int, ahead: int, n: int, ended: bool) -> int:
    """How far a step may go that sees `ahead` frames of the step before, of which `ready` are."""
    return n if ended and ready == n else ready - ahead


@inner
def _read(
    parents: Array, limbs: Array, offsets: Array, hinges: Array, root: Array, local: Array, bone: Array,
    positions: Array, world: Array, state: Array, t: int,
) -> None:  # fmt: skip
    """The joints of frame t in the world, and what the steps need to know of each hand and foot."""
    forward_pose(parents, bone[t], root[t], local[t], positions[t], world[t])
    for e in range(limbs.shape[0]):
        row, end = state[t, e], limbs[e, END]
        place, rotation = vec(positions[t, end], 0), qua(world[t, end], 0)
        put(row, P, place)
        put_qua(row, Q, rotation)
        for k in range(2):
            joint = limbs[e, POINT1 + k]
            if joint < 0:
                continue
            point = add(vec(positions[t, joint], 0), turn(qua(world[t, joint], 0), vec(offsets[e, k], 0)))
            put(row, X1 + 3 * k, point)
            put(row, O1 + 3 * k, turn(inv(rotation), sub(point, place)))
        up, down = bones(positions[t], limbs[e, BASE], limbs[e, MID], end)
        axis = turn(inv(qua(world[t, limbs[e, BASE]], 0)), cross(up, down))
        put(row, H, add(vec(hinges[e], 0) if t == 0 else vec(state[t - 1, e], H), axis))
