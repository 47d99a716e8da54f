"""The timeline of an upper clip: its frames, followed by a loop over a part of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from marey.core.arrays import Floats, Ints, set_readonly
from marey.core.motion import Motion
from marey.layer.gait import Gait
from marey.layer.halves import BodySplit
from marey.maths import quat
from marey.maths.ease import ease_in

# Seconds to either side of a seam over which one pass goes over into the next, where the clip has frames for it.
_SEAM = 0.15
# Seconds that a seam takes at least.
_MIN_SECONDS = 0.1
# Seconds of travel that count as much as being elsewhere.
_RATE = 0.1
# A loop should be no shorter than this share of the gait that there is, so that it does not show.
_LONG = 0.5
# Of a cycle, by how much a loop may fail to be a whole number of cycles.
_OFF = 0.06
# Frames that are all compared with one another; of longer gaits every n-th, and then all near the best.
_MAX_FRAMES = 120


@dataclass(frozen=True, slots=True)
class Timeline:
    """Frames 0 to `n_frames` of a clip, and, where `stop` is more than 0, `start` to `stop` again and again from there.

    n_frames : of the clip.
    start, stop : frames, the faces of the seam: what would be `stop` is `start` again.
    before, after : frames to either side of the seam over which both passes are averaged.
    """

    n_frames: int
    start: float = 0.0
    stop: float = 0.0
    before: float = 0.0
    after: float = 0.0

    @property
    def loops(self) -> bool:
        return self.stop > self.start

    def frames(self, times: Floats) -> tuple[Floats, Floats, Floats]:
        """Where times (N,), in frames from the clip's first on, are in the clip.

        Returns
        -------
        first, second, share : (N,) frames of two passes and the share of the second, 0 outside of seams. What is
            shown is the first pass turned by `share` toward the second.
        """
        last = self.n_frames - 1.0
        first, second, share = self.frames_of(times)
        return np.clip(first, 0.0, last), np.clip(second, 0.0, last), share

    def frames_of(self, times: Floats) -> tuple[Floats, Floats, Floats]:
        """`frames` without regard to where the clip ends: times, and the loop, may be in any unit."""
        if not self.loops:
            return times, times, np.zeros(len(times))
        period = self.stop - self.start
        # Passes count from the middle of a seam to the next; the one before it plays on until the seam is over.
        passes = np.maximum(np.floor((times - self.stop + self.before) / period) + 1.0, 0.0)
        later = times - passes * period
        earlier = later + period
        width = self.before + self.after
        share = np.ones(len(times))
        if width > 0.0:
            share = ease_in((later - self.start + self.before) / width)
        share = np.where(passes > 0.0, share, 1.0)
        inside = (passes > 0.0) & (share < 1.0)
        first = np.where(inside, earlier, later)
        share = np.where(inside, share, 0.0)
        return first, later, share

    def n_passes(self, times: Floats) -> int:
        """How often these times (N,) go over the seam."""
        if not self.loops:
            return 0
        period = self.stop - self.start
        counts = np.maximum(np.floor((times - self.stop) / period) + 1.0, 0.0)
        return int(counts[-1] - counts[0])


def make_loop(motion: Motion, halves: BodySplit, gait: Gait, max_cycles: int | None = None) -> Timeline | None:
    """The timeline of a clip whose gait goes on by itself, or None where it has not a whole cycle of it.

    The seam is put where arms, trunk and legs are and move most alike, a whole number of cycles apart.

    Parameters
    ----------
    most : cycles that the loop may have; as many as there are by default.
    """
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
    """The loop with as long a seam as it has frames for.

    Where there are hardly any beyond its faces, the next pass waits in its first frame for a moment as it comes in.
    """
    most = min(_SEAM * fps, 0.49 * (timeline.stop - timeline.start))
    after = max(0.0, min(most, timeline.n_frames - 1.0 - timeline.stop))
    before = max(min(most, timeline.start), min(_MIN_SECONDS * fps, most) - after)
    return replace(timeline, before=before, after=after)


def _find_best_seam(
    motion: Motion, halves: BodySplit, phase: Floats, begins: Ints, ends: Ints, span: tuple[float, float]
) -> tuple[int, int] | None:
    """Two frames, of `begins` and `ends`, so many cycles apart as `span` says, between which the seam shows least."""
    gap = phase[ends][None, :] - phase[begins][:, None]
    whole = (np.abs(gap - np.rint(gap)) <= _OFF) & (gap >= span[0]) & (gap <= span[1])
    if not whole.any():
        return None
    a, b = _sample_poses(motion, halves, begins), _sample_poses(motion, halves, ends)
    apart = np.sum(a**2, axis=1)[:, None] + np.sum(b**2, axis=1) - 2.0 * a @ b.T
    # A seam needs frames beyond its faces to go over in.
    reach = _SEAM * motion.fps
    room = np.minimum(begins, reach)[:, None] + np.minimum(len(motion) - 1 - ends, reach)[None, :]
    scarce = 1.0 + 3.0 * np.clip(1.0 - room / reach, 0.0, 1.0)
    # Of a long loop the seam shows less often.
    cost = np.where(whole, np.maximum(apart, 0.0) * scarce / np.maximum(np.rint(gap), 1.0), np.inf)
    i, j = np.unravel_index(int(np.argmin(cost)), cost.shape)
    return int(begins[i]), int(ends[j])


def _sample_poses(motion: Motion, halves: BodySplit, frames: Ints) -> Floats:
    """(N, D) meters: the upper body as the attachment sees it, the legs as the hips do, and how fast both move."""
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
