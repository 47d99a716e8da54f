"""A generated library of any size with known matches: each clip is a variation of one of a few performances.

A performance is a generated clip of kicks, punches, reaches, walks and standing. A variation of it starts at another
place, is faster or slower, and moves each joint slightly differently. Every part of it is therefore known to match the
same part of all other variations.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from marey.core.arrays import check_fps, check_index, set_readonly
from marey.core.contacts import Contacts
from marey.core.labels import Label, Labels
from marey.core.motion import Motion
from marey.errors import InvalidValue
from marey.maths import quat
from marey.samples.samples import sample

# Clips of the same performance, if the library is large enough, and the largest number of performances.
_VARIATIONS, _PERFORMANCES = 20, 60
# Range of the time scale, and the size of the changes of each joint's rotation, radians.
_SLOWEST, _FASTEST, _WOBBLE = 0.85, 1.18, 0.012
# Frequencies of these changes, Hz.
_FREQUENCIES = (0.15, 0.6)
_MIN_FRAMES, _MAX_FRAMES = 100, 100_000_000


@dataclass(frozen=True, slots=True, eq=False)
class LibraryClip:
    """A clip of a generated library.

    motion : the motion, with labels and contacts.
    performance : number of the performance; clips with the same number are variations of it.
    pace : how many times faster it is than the performance.
    """

    motion: Motion
    performance: int
    pace: float

    def locate(self, other: LibraryClip, start: int, stop: int) -> tuple[int, int]:
        """Return the frames of this clip that match the frames `start` to `stop` of another variation."""
        ratio = other.pace / self.pace
        first = min(round(start * ratio), len(self.motion) - 1)
        return first, min(max(round(stop * ratio), first + 1), len(self.motion))


def sample_library(n_frames: int, *, rng: int = 0, fps: float = 30.0) -> Iterator[LibraryClip]:
    """Generate the clips of a library with `n_frames` frames in total, one after the other.

    The same arguments give the same clips. The last clip is shorter than the others.

    Parameters
    ----------
    n_frames : number of frames of all clips, from 100 to 100,000,000.
    rng : random seed.
    fps : frame rate.

    Examples
    --------
    >>> clips = list(marey.samples.sample_library(2_000))
    >>> sum(len(clip.motion) for clip in clips), clips[0].motion.fps
    (2000, 30.0)
    """
    total = check_index(n_frames, "n_frames")
    rate = check_fps(fps)
    if not _MIN_FRAMES <= total <= _MAX_FRAMES:
        raise InvalidValue(
            f"a library must have from {_MIN_FRAMES} to {_MAX_FRAMES:,} frames, not {total:,}", parameter="n_frames"
        )
    made: dict[int, Motion] = {}
    random = np.random.default_rng([check_index(rng, "rng"), 25])
    n_done = n_clips = 0
    n_kinds = _PERFORMANCES
    while n_done < total:
        kind = n_clips % n_kinds
        if kind not in made:
            parts = {"kicks": 1 + kind % 2, "punches": 1 + kind // 2 % 2, "reaches": 1}
            made[kind] = sample("medley", rng=np.random.default_rng([rng, kind]), fps=rate, **parts).motion
            expected = total / (n_done + len(made[kind])) * (n_clips + 1)
            n_kinds = min(max(math.ceil(expected / _VARIATIONS), kind + 1), _PERFORMANCES)
        clip = _vary(made[kind], random, f"{kind:02}_{n_clips // n_kinds:04}_{n_clips:05}")
        left = total - n_done
        if len(clip[0]) > left:
            clip = (clip[0][:left], clip[1])
        yield LibraryClip(clip[0], kind, clip[1])
        n_done += len(clip[0])
        n_clips += 1


def _vary(motion: Motion, random: np.random.Generator, name: str) -> tuple[Motion, float]:
    """Return a variation of a motion, and how many times faster it is."""
    pace = float(random.uniform(_SLOWEST, _FASTEST))
    n = max(int(motion.duration / pace * motion.fps) + 1, 2)
    times = np.minimum(np.arange(n) / motion.fps * pace, motion.duration)
    varied = motion.at(times)
    # Two slow waves about random axes for each joint.
    n_joints = len(motion.skeleton)
    angles = np.zeros((n, n_joints, 3))
    for _ in range(2):
        rates = random.uniform(*_FREQUENCIES, n_joints)
        phases, axes = random.uniform(0.0, math.tau, n_joints), random.normal(size=(n_joints, 3))
        waves = np.sin(math.tau * rates * times[:, None] + phases)
        angles += _WOBBLE / math.sqrt(3.0) * waves[..., None] * axes
    rotations = quat.mul(varied.rotations, quat.exp(angles))
    frames = np.minimum(np.rint(times * motion.fps).astype(int), len(motion) - 1)
    contacts = motion.contacts
    scale = 1.0 / pace
    labels = [
        Label(each.name, start, stop)
        for each in motion.labels
        if (start := min(round(each.start * scale), n - 1)) < (stop := min(round(each.stop * scale), n))
    ]
    moved = replace(
        varied,
        rotations=set_readonly(rotations),
        contacts=None if contacts is None else Contacts(contacts.points, contacts.mask[frames]),
        labels=Labels(tuple(labels)),
        name=name,
    ).moved(np.array([*random.uniform(-math.pi, math.pi, 1), *random.uniform(-2.0, 2.0, 2)]))
    return moved, pace
