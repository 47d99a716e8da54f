"""The timeline of an upper clip: its frames, followed by a loop over part of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from marey.core.arrays import Floats, Ints, set_readonly
from marey.core.motion import Motion
from marey.layer.gait import Gait
from marey.layer.halves import BodySplit
from marey.maths import quat
from marey.maths.ease import ease_in

# Seconds on each side of a seam over which one pass fades into the next, if the clip has enough frames.
_SEAM = 0.15
# Minimum length of a seam in seconds.
_MIN_SECONDS = 0.1
# Weight of velocities relative to positions, in seconds.
_RATE = 0.1
# Minimum length of a loop as a fraction of the gait; shorter loops make the repetition noticeable.
_LONG = 0.5
# Maximum deviation of a loop from an integer number of cycles, in cycles.
_OFF = 0.06
# Maximum number of frames that are all compared with each other. Of longer gaits, every n-th frame is compared first,
# then all frames near the best pair.
_MAX_FRAMES = 120


@dataclass(frozen=True, slots=True)
class Timeline:
    """The order in which the frames of a clip play.

    If `stop` is greater than `start`, the clip plays up to `stop` and then repeats the part from `start` to `stop`
    forever.

    n_frames : number of frames of the clip.
    start, stop : first and last frame of the loop, fractional; at the seam, `start` replaces `stop`.
    before, after : frames before and after the seam over which two passes of the loop are averaged.

    Examples
    --------
    >>> timeline = marey.layer.Timeline(n_frames=100, start=20.0, stop=80.0)
    >>> timeline.loops, timeline.n_passes(np.array([0.0, 150.0]))
    (True, 2)
    """

    n_frames: int
    start: float = 0.0
    stop: float = 0.0
    before: float = 0.0
    after: float = 0.0

    @property
    def loops(self) -> bool:
        """Whether a part of the clip repeats."""
        return self.stop > self.start

    def frames(self, times: Floats) -> tuple[Floats, Floats, Floats]:
        """Convert times (N,), in frames since the start of the clip, to frames of the clip.

        Returns
        -------
        first, second, alpha : (N,) frames of two passes, and the blend weight of the second, 0 outside seams. In a
            seam, rotations are interpolated from the first pass to the second by `alpha`.
        """
        last = self.n_frames - 1.0
        first, second, alpha = self.frames_unclamped(times)
        return np.clip(first, 0.0, last), np.clip(second, 0.0, last), alpha

    def frames_unclamped(self, times: Floats) -> tuple[Floats, Floats, Floats]:
        """Like `frames`, but without clamping to the clip's ends; the times and the loop may be in any common unit."""
        if not self.loops:
            return times, times, np.zeros(len(times))
        period = self.stop - self.start
        # A pass begins at the start of its seam; the previous pass plays on until the seam is over.
        passes = np.maximum(np.floor((times - self.stop + self.before) / period) + 1.0, 0.0)
        later = times - passes * period
        earlier = later + period
        width = self.before + self.after
        alpha = np.ones(len(times))
        if width > 0.0:
            alpha = ease_in((later - self.start + self.before) / width)
        alpha = np.where(passes > 0.0, alpha, 1.0)
        inside = (passes > 0.0) & (alpha < 1.0)
        first = np.where(inside, earlier, later)
        alpha = np.where(inside, alpha, 0.0)
        return first, later, alpha

    def n_passes(self, times: Floats) -> int:
        """Return how often the seam is passed between the first and the last of `times` (N,)."""
        if not self.loops:
            return 0
        period = self.stop - self.start
        counts = np.maximum(np.floor((times - self.stop) / period) + 1.0, 0.0)
        return int(counts[-1] - counts[0])


def make_loop(motion: Motion, halves: BodySplit, gait: Gait, max_cycles: int | None = None) -> Timeline | None:
    """Find a loop in the gait of a clip and return its timeline; None if the clip has no full gait cycle.

    The ends of the loop are a whole number of cycles apart, where positions and velocities of arms, trunk and legs
    agree best.

    Parameters
    ----------
    max_cycles : maximum number of cycles in the loop; unlimited by default.
    """
    if gait.run is None:
        return None
    phase, first, last = gait.run_phase()
    cycles = float(phase[last] - phase[first])
    if not cycles >= 1.0 - _OFF:
        return None
    least = 1.0 if max_cycles is not None else max(1.0, np.floor(_LONG * cycles))
    span = least - _OFF, (np.inf if max_cycles is None else max_cycles + _OFF)
    step = max(1, -(-(last - first) // _MAX_FRAMES))
    every = np.arange(first, last + 1, step)
    found = _find_best_seam(motion, halves, phase, every, every, span)
    if found is not None and step > 1:
        near = np.arange(-step, step + 1)
        begins, ends = (np.clip(face + near, first, last) for face in found)
        found = _find_best_seam(motion, halves, phase, np.unique(begins), np.unique(ends), span)
    if found is None:
        return None
    start, stop = (float(face) for face in found)
    return add_seam(Timeline(len(motion), start, stop), motion.fps)


def add_seam(timeline: Timeline, fps: float) -> Timeline:
    """Return the loop with the longest seam that its frames allow, up to 0.15 s on each side.

    If there are hardly any frames outside the loop, the next pass holds the clip's first frame briefly while it fades
    in.
    """
    most = min(_SEAM * fps, 0.49 * (timeline.stop - timeline.start))
    after = max(0.0, min(most, timeline.n_frames - 1.0 - timeline.stop))
    before = max(min(most, timeline.start), min(_MIN_SECONDS * fps, most) - after)
    return replace(timeline, before=before, after=after)


def _find_best_seam(
    motion: Motion, halves: BodySplit, phase: Floats, begins: Ints, ends: Ints, span: tuple[float, float]
) -> tuple[int, int] | None:
    """Find the pair of frames, one of `begins` and one of `ends`, with the least visible seam; None if there is none.

    phase : (F,) gait phase. span : minimum and maximum length of the loop in cycles.
    """
    gap = phase[ends][None, :] - phase[begins][:, None]
    allowed = (np.abs(gap - np.rint(gap)) <= _OFF) & (gap >= span[0]) & (gap <= span[1])
    if not allowed.any():
        return None
    a, b = _sample_poses(motion, halves, begins), _sample_poses(motion, halves, ends)
    apart = np.sum(a**2, axis=1)[:, None] + np.sum(b**2, axis=1) - 2.0 * a @ b.T
    # Fading at a seam needs frames outside the loop.
    reach = _SEAM * motion.fps
    room = np.minimum(begins, reach)[:, None] + np.minimum(len(motion) - 1 - ends, reach)[None, :]
    scarce = 1.0 + 3.0 * np.clip(1.0 - room / reach, 0.0, 1.0)
    # The seam of a long loop is seen less often.
    cost = np.where(allowed, np.maximum(apart, 0.0) * scarce / np.maximum(np.rint(gap), 1.0), np.inf)
    i, j = np.unravel_index(int(np.argmin(cost)), cost.shape)
    return int(begins[i]), int(ends[j])


def _sample_poses(motion: Motion, halves: BodySplit, frames: Ints) -> Floats:
    """Return vectors (N, D) that describe the poses at frames (N,), for comparison.

    They contain joint positions in meters, of the upper body relative to the attachment and of the lower body relative
    to the hips, and weighted velocities.
    """
    from marey.core.kinematics import forward_kinematics

    skeleton = motion.skeleton
    near = np.unique(np.clip(np.concatenate([frames - 1, frames, frames + 1]), 0, len(motion) - 1))
    bones = None if motion.bone_offsets is None else motion.bone_offsets[near]
    world = forward_kinematics(skeleton, motion.root_positions[near], motion.rotations[near], bones)
    hips = skeleton.roles["hips"]
    parts = []
    for carrier, joints in ((halves.attachment, halves.upper), (hips, ~halves.upper)):
        about = world.positions[:, joints] - world.positions[:, carrier, None]
        parts.append(quat.inv_rotate(world.rotations[:, carrier, None], about))
    local = np.concatenate(parts, axis=1)
    at = [np.searchsorted(near, np.clip(frames + k, 0, len(motion) - 1)) for k in (-1, 0, 1)]
    seconds = np.maximum(near[at[2]] - near[at[0]], 1) / motion.fps
    rates = (local[at[2]] - local[at[0]]) / seconds[:, None, None]
    both = np.concatenate([local[at[1]], _RATE * rates], axis=1)
    return set_readonly(both.reshape(len(frames), -1))
