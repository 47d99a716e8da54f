"""Loops: find their travel and whether they close, shift their first frame, and continue them beyond one cycle.

The frame after the last frame of a cyclic motion is its first frame, moved by the loop's rigid2d.
"""

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

# A loop closes if the frame after its last is at most this far from its first: meters, plus multiples of the distance
# that markers move per frame.
_SEAM, _SEAM_STEPS = 0.01, 1.0


def find_loop_travel(motion: Motion, clouds: Clouds, k: int = 0) -> Floats:
    """Find the rigid2d (3,) that moves a loop's first frame to the frame after its last.

    The loop is assumed to continue smoothly: its last frames, extrapolated, must meet its first frame, and its first
    frames, extrapolated backward, its last. The travel that fits both best is accurate to third order in the frame's
    duration. A travel recorded by `marey.edit.cycle` that fits equally well is used unchanged.

    Raise `InvalidValue` if the motion is not a loop.
    """
    points = clouds.points
    # Frames 0 and -1 of the next cycle, and their positions extrapolated from this cycle.
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
    """Shift the loop to begin at frame `first`; earlier frames go to the end, offset by the loop's travel."""
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


def interpolate_moves(moves: Floats, fraction: Floats) -> Floats:
    """Interpolate each rigid2d move (n, 3) at fractions (...), along a path of constant turn rate: (..., n, 3), theta
    unwrapped."""
    theta = rigid2d.wrap_angle(moves[:, 0])

    def arc(angle: Floats) -> tuple[Floats, Floats]:
        # Mean of cos and of sin over a turn by `angle`.
        return np.sinc(angle / np.pi), 0.5 * angle * np.sinc(0.5 * angle / np.pi) ** 2

    along, across = arc(theta)
    size = along**2 + across**2
    x = (along * moves[:, 1] - across * moves[:, 2]) / size
    z = (along * moves[:, 2] + across * moves[:, 1]) / size
    turn = fraction[..., None] * theta
    along, across = arc(turn)
    out = np.empty((*turn.shape, 3))
    out[..., 0] = turn
    out[..., 1] = fraction[..., None] * (along * x + across * z)
    out[..., 2] = fraction[..., None] * (along * z - across * x)
    return out


def carry_alignments(moves: Floats, loops: Floats, reference: int, u: Floats, *, out_of_loops: bool) -> Floats:
    """Convert alignments (..., n, 3) at u (...) from coordinates that travel along with the loops to the world
    (`out_of_loops`), or from the world to these coordinates."""
    own = interpolate_moves(loops, u)
    first, last = own[..., reference : reference + 1, :], own
    if out_of_loops:
        last = rigid2d.invert(last)
    else:
        first = rigid2d.invert(first)
    out = rigid2d.compose(rigid2d.compose(first, moves), last)
    sign = 1.0 if out_of_loops else -1.0
    turn = own[..., reference : reference + 1, 0] - own[..., 0]
    out[..., 0] = moves[..., 0] + sign * turn
    return np.asarray(out)


def extend_loop(clouds: Clouds, loop: Floats, before: int, after: int) -> Clouds:
    """Extend one cycle of a loop by `before` frames of earlier cycles and `after` frames of later ones."""
    n = len(clouds)
    frames = np.arange(-before, n + after)
    rounds, within = np.divmod(frames, n)
    points = clouds.points[within].copy()
    for k in np.unique(rounds[rounds != 0]):
        move = rigid2d.identity()
        for _ in range(abs(int(k))):
            move = rigid2d.compose(move, loop if k > 0 else rigid2d.invert(loop))
        points[rounds == k] = rigid2d.apply(move, points[rounds == k])
    # Contacts are known for the frames of one cycle only.
    return replace(clouds, points=set_readonly(points), contacts=None)
