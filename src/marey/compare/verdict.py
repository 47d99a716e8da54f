"""Whether two motions can be blended, and why or why not (Sako 7.2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from marey.compare.clouds import Clouds, point_clouds
from marey.compare.grid import distance_grid
from marey.core.arrays import Floats, set_readonly
from marey.core.motion import Motion
from marey.core.skeleton import Skeleton
from marey.errors import InvalidValue

__all__ = ["MOST_UNLIKE", "Verdict", "judge_blend"]

MOST_UNLIKE = 0.22
"""Metres up to which motions count as alike. CMU's walks are 0.03 to 0.15 apart, walks and runs 0.15 to 0.19, walks and
kicks 0.26, walks and cartwheels 0.43. It is also the limit of a registration, whose path can only lie further apart."""

# Frames are compared at this rate or a little above: more of them cost time and tell nothing.
_RATE = 30.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is said about a pair of motions.

    blendable : whether to try.
    reason : one sentence.
    distance : metres; root mean square, over the frames of either motion, of the distance to the frame of the other
        that is most like it, whichever motion has it worse. None where figures differ.
    notes : what will be done on the way, such as resampling.
    """

    blendable: bool
    reason: str
    distance: float | None
    notes: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.blendable


def judge_blend(
    a: Motion, b: Motion, *, max_distance: float = MOST_UNLIKE, window: float = 0.1, markers: str = "body"
) -> Verdict:
    """Ask of two motions what Sako asks: the same joints, the same rate, and that they do similar things.

    Different rates do not forbid a blend, as one motion can be resampled; the verdict notes it. Motions are similar if
    each frame of either has a frame in the other that is like it, wherever and in whatever order: no timewarp can do
    better, so what fails here fails there. What passes may still fail on the order.

    Parameters
    ----------
    max_distance : metres, see `Verdict.distance`.
    window, markers : see `distance_grid`.
    """
    if not (np.isfinite(max_distance) and max_distance > 0):
        raise InvalidValue(f"max_distance must be a distance above 0 m, got {max_distance!r}")
    unlike = _differing_joints(a.skeleton, b.skeleton)
    if unlike:
        return Verdict(
            False, f"the skeletons differ: {unlike}; bring one onto the other with `marey edit retarget`", None
        )
    notes: tuple[str, ...] = ()
    if a.fps != b.fps:
        notes = (f"{a.name!r} has {a.fps:.6g} frames per second, {b.name!r} {b.fps:.6g}: one is to be resampled",)
    slower = min(a.fps, b.fps)
    rate = slower / max(int(slower / _RATE), 1)
    clouds = [_at_rate(point_clouds(motion, markers), rate) for motion in (a, b)]
    values = distance_grid(*clouds, window=window).values
    nearest = (values.min(axis=1), values.min(axis=0))
    apart = [float(np.sqrt(each.mean())) for each in nearest]
    worse = int(apart[1] > apart[0])
    distance = apart[worse]
    whose, other = (a.name, b.name) if worse == 0 else (b.name, a.name)
    share = float((nearest[worse] > max_distance**2).mean())
    what = f"frames of {whose!r} are {distance:.3f} m from the nearest of {other!r}"
    if distance > max_distance:
        at = int(np.argmax(nearest[worse])) / rate
        return Verdict(
            False,
            f"they do different things: {what} (limit {max_distance:g} m), {100 * share:.0f} % of them beyond the "
            f"limit, the worst at {at:.2f} s",
            distance,
            notes,
        )
    return Verdict(True, f"the same joints and similar movement: {what} (limit {max_distance:g} m)", distance, notes)


def _differing_joints(a: Skeleton, b: Skeleton) -> str:
    """In what two skeletons differ, or nothing."""
    if a.fits(b):
        return ""
    only_a, only_b = ([n for n in one.names if n not in other.names] for one, other in ((a, b), (b, a)))
    parts = [
        f"only the {which} has {', '.join(map(repr, names[:4]))}{' ...' if len(names) > 4 else ''}"
        for which, names in (("first", only_a), ("second", only_b))
        if names
    ]
    if parts:
        return " and ".join(parts)
    for name, joint in zip(a.names, a.parents.tolist(), strict=True):
        hung = [one.names[p] if p >= 0 else None for one, p in ((a, joint), (b, int(b.parents[b.index(name)])))]
        if hung[0] != hung[1]:
            return f"{name!r} hangs from {hung[0]!r} in the first and from {hung[1]!r} in the second"
    return "their joints come in different order"


def _at_rate(clouds: Clouds, fps: float) -> Clouds:
    """The markers at another rate, on straight lines between frames."""
    if clouds.fps == fps:
        return clouds
    at = np.arange(int(np.floor((len(clouds) - 1) * fps / clouds.fps + 1e-9)) + 1) * (clouds.fps / fps)
    below = np.minimum(at.astype(np.int64), len(clouds) - 1)
    part = (at - below)[:, None, None]
    points: Floats = clouds.points[below] * (1.0 - part) + clouds.points[np.minimum(below + 1, len(clouds) - 1)] * part
    return Clouds(set_readonly(points), clouds.weights, fps, clouds.name, clouds.names)
