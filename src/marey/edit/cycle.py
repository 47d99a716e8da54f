"""Make a loop from a range of frames, and spread the error at the seam over the entire cycle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from marey.core.annotations import add_provenance, check_frames, join_contacts, shift_labels
from marey.core.arrays import Floats, check_frame_count, set_readonly
from marey.core.feet import feet_from_flag
from marey.core.labels import Labels
from marey.core.motion import Motion, check_motion
from marey.core.placement import bake_hips_into_root, find_placement
from marey.core.settings import operation
from marey.deprecation import renamed_parameters
from marey.edit._loops import find_loop, list_body_joints
from marey.edit._rates import PoseOffset, add_offsets, offset_between, pose_at
from marey.edit._splines import fading_slope
from marey.edit.replant import replant_feet, set_contacts
from marey.edit.settings import CycleSettings
from marey.errors import InvalidValue
from marey.maths import rigid2d

# The velocity difference is blended in over this many seconds at both ends.
_FADE = 0.15
_MIN_FRAMES = 4
# Minimum duration of a loop that is found automatically, in seconds.
_SHORTEST = 0.4
# Seconds before and after the loop that cleanup sees; it then treats every cycle the same.
_AROUND = 2.0


@renamed_parameters(replant=("feet", feet_from_flag))
@operation(CycleSettings)
def cycle(motion: Motion, settings: CycleSettings) -> Motion:
    """Make frames `start` to `stop` a loop: the frame after the last is the first, moved by the cycle's travel.

    Frames `start` and `stop` are the two sides of the seam. Half of their difference is added at one end and half is
    subtracted at the other, linearly in between, so no part of the cycle changes much. Velocities near the ends are
    matched in the same way. Travel and turning continue from cycle to cycle, unless a foot is planted throughout; each
    cycle ends at the height at which it began. Feet are then planted again, also across the seam.

    Provenance records the travel of a cycle as rigid2d (theta, x, z), and the jump at the seam, at the joint where it
    is largest. ``position`` is how far the step over the seam is from the mean of the steps before and after it, in
    meters. ``velocity`` is how far these two steps differ, in m/s. ``position_before`` and ``velocity_before`` are the
    same for the original frames. ``usual_position`` and ``usual_velocity`` are the 95th percentiles of the same values
    inside the loop.

    Examples
    --------
    >>> start, stop = (walk.contacts.intervals("left_heel")[i][0] for i in (0, 1))
    >>> loop = marey.edit.cycle(walk, start, stop)
    >>> len(loop), loop.source.provenance[-1]["op"]
    (65, 'cycle')
    """
    last = len(check_motion(motion)) - 1
    n_cycles = settings.repeats
    first, end = _find_ends(motion, settings.start, settings.stop)
    check_frame_count(n_cycles * (end - first), len(motion.skeleton), parameter="repeats", remedy="lower `repeats=`")
    source = set_contacts(motion) if settings.feet else motion
    given = bake_hips_into_root(source)
    travel = rigid2d.between(find_placement(given, first), find_placement(given, end))
    if source.contacts is not None and source.contacts.mask[first : end + 1].all(axis=0).any():
        travel = rigid2d.identity()  # a foot planted throughout means no net travel
    # The closing pose should equal the opening pose, moved to where the cycle ends.
    opening = given.moved(travel)
    seam = offset_between(
        pose_at(given, end, end - 1, min(end + 1, last)), pose_at(opening, first, max(first - 1, 0), first + 1)
    )
    closed = add_offsets(given[first:end], slice(0, end - first), *_spread_seam(seam, end - first, given.fps, travel))
    done = False
    if settings.feet:
        closed, done = _plant_feet(closed, travel)
    result = _chain_cycles(closed, [rigid2d.power(travel, k) for k in range(n_cycles)])
    cut = _measure_seam(given[first:end], travel)
    residue = {"position_before": cut["position"], "velocity_before": cut["velocity"], **_measure_seam(closed, travel)}
    return add_provenance(
        result, "cycle", start=first, stop=end, repeats=n_cycles, travel=travel.tolist(), replanted=done, seam=residue
    )


def _find_ends(motion: Motion, start: int | None, stop: int | None) -> tuple[int, int]:
    """Return the two frames of the seam, given or found."""
    last = len(motion) - 1
    if stop is not None and stop > last:
        raise InvalidValue(
            f"stop must be at most frame {last} of {motion.name!r}, not {stop}; it is the frame that closes the loop",
            parameter="stop",
        )
    if start is not None and stop is not None:
        return check_frames(motion, start, stop, least=_MIN_FRAMES)
    if start is not None and start > last:
        raise InvalidValue(f"start must be at most frame {last} of {motion.name!r}, not {start}", parameter="start")
    return find_loop(motion, start, stop, _SHORTEST)


def _chain_cycles(closed: Motion, carries: Sequence[Floats]) -> Motion:
    """Concatenate one copy of the loop for each transform."""
    copies = [closed.moved(carry) for carry in carries]
    n, times = len(closed), len(copies)
    return replace(
        closed,
        root_positions=set_readonly(np.concatenate([copy.root_positions for copy in copies])),
        rotations=set_readonly(np.concatenate([copy.rotations for copy in copies])),
        bone_offsets=None
        if closed.bone_offsets is None
        else set_readonly(np.concatenate([closed.bone_offsets] * times)),
        contacts=join_contacts([(closed.contacts, n)] * times),
        labels=Labels(tuple(x for k in range(times) for x in shift_labels(closed.labels, k * n))),
    )


def _plant_feet(closed: Motion, travel: Floats) -> tuple[Motion, bool]:
    """Clean up the feet as if many cycles preceded and followed; also return whether there were contacts to clean
    up."""
    n = len(closed)
    extra = int(np.ceil(_AROUND * closed.fps / n))
    result, done = replant_feet(_chain_cycles(closed, [rigid2d.power(travel, k) for k in range(-extra, extra + 1)]))
    if not done:
        return closed, False
    own = result[extra * n : (extra + 1) * n]
    return replace(own, contacts=closed.contacts, labels=closed.labels), True


def _measure_seam(closed: Motion, travel: Floats) -> dict[str, float]:
    """Measure how far the step over the seam is from its neighbors, in meters and m/s, and the loop's usual values."""
    positions = (
        _chain_cycles(closed, [rigid2d.power(travel, k) for k in range(3)])
        .world()
        .positions[:, list_body_joints(closed.skeleton)]
    )
    steps = np.diff(positions, axis=0)
    # Row k is about the step from frame k + 1 to frame k + 2.
    bent = np.linalg.norm(steps[1:-1] - 0.5 * (steps[:-2] + steps[2:]), axis=-1).max(axis=-1)
    kinked = np.linalg.norm(steps[2:] - steps[:-2], axis=-1).max(axis=-1) * closed.fps
    at, inside = len(closed) - 2, slice(len(closed), 2 * len(closed) - 3)
    out = {}
    for name, values in (("position", bent), ("velocity", kinked)):
        out[name] = float(values[at])
        out[f"usual_{name}"] = float(np.quantile(values[inside], 0.95))
    return out


def _spread_seam(seam: PoseOffset, n: int, fps: float, travel: Floats) -> tuple[Floats, Floats, Floats]:
    """Return corrections to add to the n frames of the cycle, so that its end meets its start: root offsets, rotation
    vectors and bone offsets."""
    t = np.arange(n) / fps
    seconds = n / fps
    fade = min(0.5 * seconds, _FADE)
    out, into = fading_slope(t, fade), fading_slope(seconds - t, fade)
    back = rigid2d.invert(travel)

    def line(at_start: Floats, at_end: Floats, rate_at_start: Floats, rate_at_end: Floats) -> Floats:
        """Return a correction over time: minus half of the seam at the start, plus half at the end, with half of the
        difference in velocity removed at either end."""
        weight, leaving, arriving = (w.reshape(-1, *[1] * at_end.ndim) for w in (t / seconds, out, into))
        straight = weight * at_end - (1.0 - weight) * at_start
        return np.asarray(0.5 * (straight - leaving * rate_at_start - arriving * rate_at_end))

    # The root's offset is in world axes, relative to which the cycle has turned by its end.
    rotated = rigid2d.apply_vector(back, seam.root), rigid2d.apply_vector(back, seam.root_rate)
    root = line(rotated[0], seam.root, rotated[1], seam.root_rate)
    vectors = line(seam.rotations, seam.rotations, seam.rotations_rate, seam.rotations_rate)
    return root, vectors, line(seam.offsets, seam.offsets, seam.offsets_rate, seam.offsets_rate)
