"""A loop made of a stretch of motion, its seam spread over the whole cycle."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from marey.core._arrays import Floats, checked_index, settle
from marey.core.contacts import Contacts
from marey.core.labels import Labels
from marey.core.motion import Motion
from marey.edit._figure import place, rooted
from marey.edit._notes import checked_run, joined_contacts, recorded, shifted_labels
from marey.edit._rates import Offset, added, offset_between, pose_at
from marey.edit._splines import fading_slope
from marey.errors import InvalidValue
from marey.maths import rigid2d

# What the velocities differ by is taken up and given back over this long at both ends, in seconds.
_FADE = 0.15
_FEWEST = 4


def cycle(motion: Motion, start: int | None = None, stop: int | None = None, *, repeats: int = 1) -> Motion:
    """Frames `start` to `stop` as a loop: the frame after the last is the first, carried on by the cycle's travel.

    Frame `stop` is compared with frame `start`, as both faces of the seam. Half of what they differ by is added at one
    end and half taken away at the other, along a straight line between, so that no part of the cycle changes much; the
    same is done with the velocities near the ends. Where the figure goes and turns in a cycle, it goes on going and
    turning; heights are closed. Provenance notes the travel of a cycle as rigid2d (theta, x, z).

    Parameters
    ----------
    start, stop : frames; frame `stop` has to exist, so it is the last by default.
    repeats : how many cycles to write out, each where the one before leads to.
    """
    last = len(motion) - 1
    first, end = checked_run(motion, start, last if stop is None else stop, least=_FEWEST)
    if end > last:
        raise InvalidValue(f"frame stop is the other face of the seam and must exist: at most {last}, got {end}")
    n_cycles = checked_index(repeats, "repeats")
    if n_cycles < 1:
        raise InvalidValue(f"a loop has at least 1 cycle, got repeats={n_cycles}")
    given = rooted(motion)
    world = given[first : end + 1].world()
    travel = rigid2d.between(place(given.skeleton, world, 0), place(given.skeleton, world, -1))
    # The opening pose, carried to where the cycle ends, is what the closing pose ought to be.
    opening = given.moved(travel)
    seam = offset_between(
        pose_at(given, end, end - 1, min(end + 1, last)), pose_at(opening, first, max(first - 1, 0), first + 1)
    )
    one = given[first:end]
    closed = added(one, slice(0, end - first), *_spread(seam, end - first, given.fps, travel))
    copies = [closed]
    for _ in range(n_cycles - 1):
        copies.append(copies[-1].moved(travel))
    made = replace(
        closed,
        root_positions=settle(np.concatenate([copy.root_positions for copy in copies])),
        rotations=settle(np.concatenate([copy.rotations for copy in copies])),
        bone_offsets=None if closed.bone_offsets is None else settle(np.concatenate([closed.bone_offsets] * n_cycles)),
        contacts=_repeated(closed.contacts, len(closed), n_cycles),
        labels=Labels(tuple(x for k in range(n_cycles) for x in shifted_labels(closed.labels, k * len(closed)))),
    )
    return recorded(made, "cycle", start=first, stop=end, repeats=n_cycles, travel=travel.tolist())


def _spread(seam: Offset, n: int, fps: float, travel: Floats) -> tuple[Floats, Floats, Floats]:
    """Root, turns and offsets to add on the n frames of the cycle."""
    t = np.arange(n) / fps
    seconds = n / fps
    fade = min(0.5 * seconds, _FADE)
    out, into = fading_slope(t, fade), fading_slope(seconds - t, fade)
    back = rigid2d.invert(travel)

    def line(at_start: Floats, at_end: Floats, rate_at_start: Floats, rate_at_end: Floats) -> Floats:
        """From minus half of the seam at the start to plus half at the end, and the same with its rate."""
        share, leaving, arriving = (w.reshape(-1, *[1] * at_end.ndim) for w in (t / seconds, out, into))
        straight = share * at_end - (1.0 - share) * at_start
        return np.asarray(0.5 * (straight - leaving * rate_at_start - arriving * rate_at_end))

    # The root's offset is in the world, which by the end of the cycle has turned.
    turned = rigid2d.apply_vector(back, seam.root), rigid2d.apply_vector(back, seam.root_rate)
    root = line(turned[0], seam.root, turned[1], seam.root_rate)
    turns = line(seam.turns, seam.turns, seam.turns_rate, seam.turns_rate)
    return root, turns, line(seam.offsets, seam.offsets, seam.offsets_rate, seam.offsets_rate)


def _repeated(contacts: Contacts | None, n_frames: int, times: int) -> Contacts | None:
    return joined_contacts([(contacts, n_frames)] * times)
