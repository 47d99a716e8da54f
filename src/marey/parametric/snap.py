"""Find a moment of one motion in the others: map it through the timewarp, then move it to a nearby extreme."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from marey.core.arrays import Ints
from marey.core.motion import Motion
from marey.errors import InvalidValue, UnknownName, similar
from marey.parametric.features import MOMENTS, Feature, extreme_near
from marey.parametric.points import path_of
from marey.register.along import register_along

__all__ = ["snapped_apexes"]

# Maximum error of a timewarp at a moment, in seconds.
_REACH = 0.2


def snapped_apexes(
    motions: Sequence[Motion], parents: Ints | None, features: Sequence[Feature], which: Any, options: dict[str, Any]
) -> Ints:
    """(n,) frames of the moment that the pose features give in seconds of the reference.

    The reference is the first motion, or the root of `parents`. In a motion that cannot be registered, the moment is at
    the same fraction of its length as in the reference.

    Parameters
    ----------
    which : the kind of extreme, one of `MOMENTS` except "start" and "end".
    options : of `register_along`.
    """
    kinds = MOMENTS[:-2]
    if which not in kinds:
        raise UnknownName(f"no extreme named {which!r}{similar(str(which), kinds)}; extremes: {', '.join(kinds)}")
    posed = [feature for feature in features if feature.is_pose]
    given = {feature.at for feature in posed}
    if len(given) != 1 or isinstance(posed[0].at, str) or posed[0].at is None:
        raise InvalidValue("snap= needs features of poses at one moment given in seconds, as position(joint, 0.8)")
    seconds, root = posed[0].at, 0 if parents is None else int(np.argmin(parents))
    if seconds > motions[root].duration:
        raise InvalidValue(f"{posed[0].told} refers to {seconds:g} s, but the reference ends before that")
    along = register_along(motions, parents, reference=root if parents is None else None, **options)
    reg = along.registration
    there = reg.timewarp(reg.timewarp.inverse(reg.reference, seconds))
    share = seconds / motions[root].duration
    carried = dict(zip(along.kept.tolist(), np.ravel(there).tolist(), strict=True))
    out = []
    for j, motion in enumerate(motions):
        at = carried.get(j, share * motion.duration)
        frame = int(np.clip(round(at * motion.fps), 0, len(motion) - 1))
        path = path_of(motion.skeleton, motion.world(), posed[0].of or posed[0].joint)
        out.append(extreme_near(path, which, frame, round(_REACH * motion.fps)))
    return np.array(out)
