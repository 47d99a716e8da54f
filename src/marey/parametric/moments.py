"""Find the moments at which pose features are measured: frames, and registration parameters u (Kovar 6.3.1)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from marey.core.arrays import Floats, Ints, convert_array
from marey.core.clips import name_clip
from marey.core.motion import Motion
from marey.errors import InvalidValue, MareyError
from marey.parametric.features import Feature, extreme_near
from marey.parametric.points import find_path
from marey.parametric.settings import SpaceSettings
from marey.register.registration import RegistrationCurve
from marey.register.settings import PairSettings
from marey.register.tree import register_tree

__all__ = ["find_at_ends", "find_marks", "find_moments", "snap_apexes"]

# Minimum number of frames between an apex and either end; with fewer, there is nothing beyond the apex to register.
_FROM_END = 3
# Search range for an extreme around the time given by the timewarp, in seconds.
_REACH = 0.2


def find_marks(
    motions: Sequence[Motion], features: Sequence[Feature], apexes: ArrayLike | None
) -> tuple[Ints, dict[int, int]]:
    """Find the frames (n, L) of L different moments in n motions, and the column of each pose feature.

    apexes : (n,) frames to use for all pose features instead.
    """
    columns: dict[int, int] = {}
    if apexes is not None:
        given = convert_array(apexes, "apexes", np.int64)
        if given.shape != (len(motions),):
            raise InvalidValue(f"apexes must be one frame for each of {len(motions)} motions, not shape {given.shape}")
        for j, (frame, motion) in enumerate(zip(given.tolist(), motions, strict=True)):
            if not 0 <= frame < len(motion):
                raise InvalidValue(f"the apex of {name_clip(motion, j)} must be a frame from 0 to {len(motion) - 1}")
        return given[:, None], {k: 0 for k, feature in enumerate(features) if feature.is_pose}
    kinds: dict[tuple[Any, ...], int] = {}
    found: list[list[int]] = []
    for k, feature in enumerate(features):
        if not (feature.is_pose and feature.is_detectable):
            continue
        kind = (feature.moment, feature.moment_joint or feature.joint)
        if kind not in kinds:
            kinds[kind] = len(found)
            found.append([_find_apex(feature, motion, j) for j, motion in enumerate(motions)])
        columns[k] = kinds[kind]
    marks = np.array(found, dtype=np.int64).reshape(len(found), len(motions)).T
    return marks, columns


def _find_apex(feature: Feature, motion: Motion, j: int) -> int:
    try:
        return feature.find_frame(motion)
    except MareyError as error:
        raise InvalidValue(
            f"cannot find the moment at which to measure {feature.label} in {name_clip(motion, j)}: {error}"
        ) from None


def find_at_ends(motions: Sequence[Motion], marks: Ints) -> dict[int, str]:
    """Find motions in which a moment is too close to the start or end. Return a dict from index to reason.

    marks : (n, L) frames of the moments.
    """
    out = {}
    for j, (row, motion) in enumerate(zip(marks.tolist(), motions, strict=True)):
        for frame in row:
            if not _FROM_END <= frame < len(motion) - _FROM_END:
                out[j] = (
                    f"the time of the feature, frame {frame} of {len(motion)}, is too close to the start or end of the "
                    f"motion; crop it with more frames there"
                )
    return out


def snap_apexes(
    motions: Sequence[Motion],
    parents: Ints | None,
    features: Sequence[Feature],
    settings: SpaceSettings,
) -> Ints:
    """Find the frame (n,) in each motion that corresponds to the pose features' moment in the reference motion.

    The moment is given in seconds. The timewarp maps it to the other motions, where it snaps to an extreme nearby. The
    reference is the first motion, or the root of `parents`. In a motion that cannot be registered, the search starts at
    the same fraction of its duration as in the reference.
    """
    posed = [feature for feature in features if feature.is_pose]
    given = {feature.moment for feature in posed}
    if len(given) != 1 or isinstance(posed[0].moment, str) or posed[0].moment is None:
        raise InvalidValue("`snap=` needs pose features at one moment in seconds, such as position:right_hand@0.8")
    seconds, root = posed[0].moment, 0 if parents is None else int(np.argmin(parents))
    if seconds > motions[root].duration:
        raise InvalidValue(
            f"{posed[0].label} is measured at {seconds:g} s, but the reference lasts only "
            f"{motions[root].duration:.2f} s"
        )
    reference = root if parents is None else None
    along = register_tree(motions, parents=parents, reference=reference, **settings.select(PairSettings))
    reg = along.registration
    there = reg.timewarp(reg.timewarp.inverse(reg.reference, seconds))
    fraction = seconds / motions[root].duration
    carried = dict(zip(along.kept.tolist(), np.ravel(there).tolist(), strict=True))
    out = []
    for j, motion in enumerate(motions):
        at = carried.get(j, fraction * motion.duration)
        frame = int(np.clip(round(at * motion.fps), 0, len(motion) - 1))
        path = find_path(motion.skeleton, motion.world(), posed[0].moment_joint or posed[0].joint)
        out.append(extreme_near(path, str(settings.snap), frame, round(_REACH * motion.fps)))
    return np.array(out)


def find_moments(
    reg: RegistrationCurve, features: Sequence[Feature], seconds: Floats, columns: dict[int, int]
) -> tuple[float, ...]:
    """Return the registration parameter u, from 0 to 1, of each feature's pose; NaN for features of entire motions.

    seconds : (n, L) times of the moments found in the motions. columns : column of each feature that has one.
    """
    out = []
    motion = reg.motions[reg.reference]
    for k, feature in enumerate(features):
        if not feature.is_pose:
            out.append(math.nan)
        elif k in columns:
            out.append(float(reg.timewarp.inverse(reg.reference, seconds[reg.reference, columns[k]])))
        elif isinstance(feature.moment, str):
            out.append(0.0 if feature.moment == "start" else 1.0)
        else:
            assert feature.moment is not None
            if feature.moment > motion.duration:
                raise InvalidValue(
                    f"{feature.label} is measured at {feature.moment:g} s, but {name_clip(motion, reg.reference)} "
                    f"lasts only {motion.duration:.2f} s"
                )
            out.append(float(reg.timewarp.inverse(reg.reference, feature.moment)))
    return tuple(out)
