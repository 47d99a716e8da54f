"""Loops: their travel, whether they close, and shifting their first frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from marey.compare import Clouds, frame_distances
from marey.core.annotations import join_contacts, shift_labels
from marey.core.arrays import Floats, set_readonly
from marey.core.clips import name_clip
from marey.core.labels import Labels
from marey.core.motion import Motion
from marey.errors import InvalidValue
from marey.maths import rigid2d

# A loop closes if its next frame is at most this far from its first one, in meters and as fractions of how far the
# markers move from frame to frame.
_SEAM, _SEAM_STEPS = 0.01, 1.0


def find_loop_travel(motion: Motion, clouds: Clouds, k: int = 0) -> Floats:
    """Find the rigid2d (3,) that moves a loop's first frame to the frame after its last.

    The loop is assumed to continue smoothly: its last frames, extrapolated, must meet its first frame, and its first
    frames, extrapolated backward, its last. The travel that fits both best is accurate to third order in the frame's
    duration. A travel recorded by `marey.edit.cycle` that fits equally well is used unchanged.

    Raises `InvalidValue` if the motion is not a loop.
    """
    points = clouds.points
    # Frames 0 and -1 of the next round, and where they should be by this one.
    next_round = np.stack([2.0 * points[0] - points[1], points[0]])
    this_round = np.stack([points[-1], 2.0 * points[-1] - points[-2]])
    weights = np.tile(clouds.weights, 2) / 2.0
    both = [Clouds(set_readonly(part.reshape(1, -1, 3)), weights, clouds.fps) for part in (this_round, next_round)]
    moves, apart = frame_distances(both[0], [0.0], both[1], [0.0], [1.0])
    step = np.sqrt(np.mean(np.einsum("fmk,fmk,m->f", *[np.diff(points, axis=0)] * 2, clouds.weights)))
    allowed = _SEAM + _SEAM_STEPS * float(step)
    residual = float(np.sqrt(apart[0]))
    if residual > allowed:
        raise InvalidValue(
            f"{name_clip(motion, k)} is not a loop: continued by one frame, it would be {residual:.3f} m "
            f"from its first frame (limit {allowed:.3f} m at its speed); make a loop with "
            "`marey.edit.cycle`"
        )
    noted = _get_noted_travel(motion)
    if noted is not None:
        moved = rigid2d.apply(noted, next_round) - this_round
        if np.sqrt(np.mean(np.einsum("fmk,fmk,m->f", moved, moved, clouds.weights))) <= 1.1 * residual + 1e-4:
            return noted
    return np.asarray(moves[0])


def _get_noted_travel(motion: Motion) -> Floats | None:
    """Return the travel recorded in the last step of provenance, if that step made one cycle."""
    if not motion.source.provenance:
        return None
    last = motion.source.provenance[-1]
    if last.get("op") != "cycle" or last.get("repeats") != 1 or "travel" not in last:
        return None
    travel = np.asarray(last["travel"], dtype=np.float64)
    return travel if travel.shape == (3,) else None


def shift_loop(motion: Motion, first: int, travel: Floats) -> Motion:
    """Shift the loop to begin at frame `first`; earlier frames move to the end, moved by the loop's travel."""
    if first == 0:
        return motion
    head, tail = motion[first:], motion[:first].moved(travel)
    offsets = None
    if head.bone_offsets is not None and tail.bone_offsets is not None:
        offsets = set_readonly(np.concatenate([head.bone_offsets, tail.bone_offsets]))
    return replace(
        motion,
        root_positions=set_readonly(np.concatenate([head.root_positions, tail.root_positions])),
        rotations=set_readonly(_unroll_signs(np.concatenate([head.rotations, tail.rotations]), len(head))),
        bone_offsets=offsets,
        contacts=join_contacts([(head.contacts, len(head)), (tail.contacts, len(tail))]),
        labels=Labels((*head.labels, *shift_labels(tail.labels, len(head)))),
        source=replace(motion.source, channel_values=None),
    )


def _unroll_signs(rotations: Floats, seam: int) -> Floats:
    """Make quaternion signs (F, J, 4) continuous across the seam."""
    flip = np.einsum("jk,jk->j", rotations[seam - 1], rotations[seam]) < 0.0
    rotations[seam:, flip] *= -1.0
    return rotations


def count_half_cycles(motion: Motion, travel: Floats) -> int:
    """Count the half cycles of gait in a loop; 0 without gait."""
    from marey.register.steps import find_steps

    n = len(motion)
    rounds: Sequence[Motion] = [motion.moved(rigid2d.power(travel, r)) for r in range(3)]
    three = replace(
        motion,
        root_positions=set_readonly(np.concatenate([part.root_positions for part in rounds])),
        rotations=set_readonly(np.concatenate([part.rotations for part in rounds])),
        bone_offsets=None if motion.bone_offsets is None else set_readonly(np.concatenate([motion.bone_offsets] * 3)),
        contacts=None,
        labels=Labels(),
    )
    frames = find_steps(three).frames
    return int(((frames >= 0.75 * n) & (frames < 1.75 * n)).sum())
