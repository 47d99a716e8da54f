"""The cleanup as a pipeline: each step works on one frame and sees a bounded number of frames to either side.

A batch is the pipeline run over all frames at once, a stream the same over a window that moves along: `advance` takes
each step as far as the frames before it allow.
"""

from __future__ import annotations

from marey.clean.final_kernels import aim
from marey.clean.layout_kernels import (
    BASE,
    END,
    MID,
    O1,
    POINT1,
    X1,
    CleanBody,
    CleanOptions,
    CleanOutput,
    CleanState,
    H,
    P,
    Q,
    SourceFrames,
)
from marey.clean.plant_kernels import close_gaps, find_plants, hand_over
from marey.clean.root_kernels import complete_shift, lift_source, reach_targets, smooth_shift
from marey.clean.target_kernels import pose_planted, pose_targets
from marey.clean.write_kernels import finish
from marey.compiled import helper, kernel
from marey.core.kinematics_kernels import forward_pose
from marey.core.limb_kernels import bones
from marey.maths.vector_kernels import add, cross, inv, put, put_qua, qua, sub, turn, vec


@kernel
def advance(
    body: CleanBody,
    options: CleanOptions,
    frames: SourceFrames,
    state: CleanState,
    output: CleanOutput,
    n_frames: int,
    ended: bool,
) -> None:
    """Take every step as far as `n_frames` frames allow, or to their end if no more will come (`ended`)."""
    done = state.done
    for t in range(done[0], n_frames):
        _read(body, frames, state, t)
    done[0] = n_frames
    for t in range(done[1], _until(done[0], options.gap + 1, n_frames, ended)):
        close_gaps(state.flags, options.gap, t, done[0])
        done[1] = t + 1
    for t in range(done[2], _until(done[1], options.gap + 1, n_frames, ended)):
        hand_over(state.flags, options.gap, t, done[1])
        done[2] = t + 1
    for t in range(done[3], _until(done[2], options.average, n_frames, ended)):
        find_plants(body, options, state, t, done[2])
        pose_planted(body, options, state, t)
        done[3] = t + 1
    for t in range(done[4], _until(done[3], options.blend + options.seen, n_frames, ended)):
        pose_targets(options, state, t, done[3])
        reach_targets(body, options, frames, state, t)
        done[4] = t + 1
    for t in range(done[5], _until(done[4], options.root, n_frames, ended)):
        smooth_shift(body, options, frames, state, t, done[4])
        done[5] = t + 1
    for t in range(done[6], _until(done[5], 2 * options.lift, n_frames, ended)):
        complete_shift(body, options, frames, state, t, done[5])
        done[6] = t + 1
    for t in range(done[7], _until(done[6], 2 * options.lift, n_frames, ended)):
        lift_source(body, options, state, t, done[6])
        done[7] = t + 1
    for t in range(done[8], _until(done[7], options.fade + options.seen, n_frames, ended)):
        aim(body, options, frames, state, t, done[7])
        done[8] = t + 1
    for t in range(done[9], _until(done[8], options.calm, n_frames, ended)):
        finish(body, options, frames, state, output, t, done[8], n_frames)
        done[9] = t + 1


@helper
def _until(ready: int, ahead: int, n_frames: int, ended: bool) -> int:
    """How far a step may go that sees `ahead` frames of the step before, of which `ready` are."""
    return n_frames if ended and ready == n_frames else ready - ahead


@helper
def _read(body: CleanBody, frames: SourceFrames, state: CleanState, t: int) -> None:
    """Find the joints of frame t in the world, and what the steps need to know of each hand and foot."""
    positions, world, limbs = frames.positions[t], frames.world[t], body.limbs
    forward_pose(body.parents, frames.bone_offsets[t], frames.root_positions[t], frames.rotations[t], positions, world)
    for e in range(limbs.shape[0]):
        row, end = state.values[t, e], limbs[e, END]
        place, rotation = vec(positions[end], 0), qua(world[end], 0)
        put(row, P, place)
        put_qua(row, Q, rotation)
        for k in range(2):
            joint = limbs[e, POINT1 + k]
            if joint < 0:
                continue
            point = add(vec(positions[joint], 0), turn(qua(world[joint], 0), vec(body.points[e, k], 0)))
            put(row, X1 + 3 * k, point)
            put(row, O1 + 3 * k, turn(inv(rotation), sub(point, place)))
        up, down = bones(positions, limbs[e, BASE], limbs[e, MID], end)
        axis = turn(inv(qua(world[limbs[e, BASE]], 0)), cross(up, down))
        put(row, H, add(vec(body.hinges[e], 0) if t == 0 else vec(state.values[t - 1, e], H), axis))
