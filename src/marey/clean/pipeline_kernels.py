"""The cleanup as a pipeline: each step works on one frame and sees a limited number of frames before and after it.

A batch runs the pipeline over all frames at once, a stream over a moving window: `advance` runs each step as far as the
frames finished by the previous step allow.
"""

from __future__ import annotations

from marey.clean import layout_kernels as layout
from marey.clean.final_kernels import aim_limbs
from marey.clean.layout_kernels import CleanBody, CleanOptions, CleanOutput, CleanState, Cleanup, SourceFrames
from marey.clean.plant_kernels import close_gaps, find_plants, hand_over
from marey.clean.root_kernels import complete_shift, lift_source, reach_targets, smooth_shift
from marey.clean.target_kernels import pose_planted, pose_targets
from marey.clean.write_kernels import finish_frame
from marey.compiled import helper, kernel
from marey.core.kinematics_kernels import forward_pose
from marey.core.limb_kernels import bones
from marey.maths import vector_kernels as vec

# Cosine of half the angle by which a bone rotates between frames if it flips: 115 degrees.
_FLIPPED = 0.54


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
    """Run every step as far as `n_frames` frames allow, or to the end if no more will come (`ended`). The steps change
    `state` and write the finished frames to `output`."""
    done = state.done
    for t in range(done[0], n_frames):
        _read_frame(body, frames, state, t)
    done[0] = n_frames
    for t in range(done[1], _find_stop(done[0], options.gap + 1, n_frames, ended)):
        close_gaps(state.flags, options.gap, t, done[0])
        done[1] = t + 1
    for t in range(done[2], _find_stop(done[1], options.gap + 1, n_frames, ended)):
        hand_over(state.flags, options.gap, t, done[1])
        done[2] = t + 1
    for t in range(done[3], _find_stop(done[2], options.average, n_frames, ended)):
        find_plants(body, options, state, t, done[2])
        pose_planted(body, options, state, t)
        done[3] = t + 1
    for t in range(done[4], _find_stop(done[3], options.blend + options.seen, n_frames, ended)):
        pose_targets(options, state, t, done[3])
        reach_targets(body, options, frames, state, t)
        done[4] = t + 1
    for t in range(done[5], _find_stop(done[4], options.root, n_frames, ended)):
        smooth_shift(body, options, frames, state, t, done[4])
        done[5] = t + 1
    for t in range(done[6], _find_stop(done[5], 2 * options.lift, n_frames, ended)):
        complete_shift(body, options, frames, state, t, done[5])
        done[6] = t + 1
    for t in range(done[7], _find_stop(done[6], 2 * options.lift, n_frames, ended)):
        lift_source(body, options, state, t, done[6])
        done[7] = t + 1
    for t in range(done[8], _find_stop(done[7], options.fade + options.seen, n_frames, ended)):
        aim_limbs(body, options, frames, state, t, done[7])
        done[8] = t + 1
    for t in range(done[9], _find_stop(done[8], options.calm, n_frames, ended)):
        finish_frame(Cleanup(body, options, frames, state, output), t, done[8], n_frames)
        done[9] = t + 1


@helper
def _find_stop(ready: int, ahead: int, n_frames: int, ended: bool) -> int:
    """Return where a step with a lookahead of `ahead` frames must stop.

    ready : number of frames that the previous step has finished.
    """
    return n_frames if ended and ready == n_frames else ready - ahead


@helper
def _read_frame(body: CleanBody, frames: SourceFrames, state: CleanState, t: int) -> None:
    """Write the world pose of frame t to `frames`, and the data of each hand and foot that the steps need to
    `state`."""
    positions, world, limbs = frames.positions[t], frames.world[t], body.limbs
    forward_pose(body.parents, frames.bone_offsets[t], frames.root_positions[t], frames.rotations[t], positions, world)
    for e in range(limbs.shape[0]):
        row, end = state.values[t, e], limbs[e, layout.END]
        place, rotation = vec.get(positions[end], 0), vec.get_quat(world[end], 0)
        vec.put(row, layout.P, place)
        vec.put_quat(row, layout.Q, rotation)
        for k in range(2):
            joint = limbs[e, layout.POINT1 + k]
            if joint < 0:
                continue
            point = vec.add(
                vec.get(positions[joint], 0), vec.rotate(vec.get_quat(world[joint], 0), vec.get(body.points[e, k], 0))
            )
            vec.put(row, layout.X1 + 3 * k, point)
            vec.put(row, layout.O1 + 3 * k, vec.rotate(vec.inv(rotation), vec.sub(point, place)))
        up, down = bones(positions, limbs[e, layout.BASE], limbs[e, layout.MID], end)
        upper = vec.get_quat(world[limbs[e, layout.BASE]], 0)
        _undo_flip(frames, state, t, e, limbs[e, layout.BASE])
        # Weighted by the sine of the bend: recorded knees that are nearly straight bend a little backward.
        bent = vec.cross(up, down)
        bent = vec.scale(vec.norm(bent) / max(vec.norm(up) * vec.norm(down), 1e-12), bent)
        axis = vec.rotate(vec.inv(vec.mul(upper, vec.get_quat(row, layout.FLIP))), bent)
        before, length = vec.get(body.hinges[e], 0), vec.norm(vec.get(body.hinges[e], 0))
        if t > 0:
            before, length = vec.get(state.values[t - 1, e], layout.H), state.values[t - 1, e, layout.HINGED]
        vec.put(row, layout.H, vec.add(before, axis))
        row[layout.HINGED] = length + vec.norm(axis)


@helper
def _undo_flip(frames: SourceFrames, state: CleanState, t: int, e: int, base: int) -> None:
    """Write the rotation that undoes flips of the upper bone of limb e up to frame t.

    Recorded thighs may flip about their own axis from one frame to the next. The knee still bends the same way.
    """
    flip = (1.0, 0.0, 0.0, 0.0)
    if t > 0:
        flip = vec.get_quat(state.values[t - 1, e], layout.FLIP)
        before, now = vec.get_quat(frames.world[t - 1, base], 0), vec.get_quat(frames.world[t, base], 0)
        if abs(vec.dot_quat(before, now)) < _FLIPPED:
            flip = vec.normalize_quat(vec.mul(vec.inv(now), vec.mul(before, flip)))
    vec.put_quat(state.values[t, e], layout.FLIP, flip)
