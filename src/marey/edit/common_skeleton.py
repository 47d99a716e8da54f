"""Bring motions of several people onto one skeleton."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace

from marey.core.clips import list_clips, name_clip
from marey.core.motion import Motion
from marey.core.placement import find_skeleton_difference
from marey.core.protocols import Clips
from marey.core.skeleton import Skeleton
from marey.edit.retarget import retarget
from marey.edit.retarget_map import needs_motion
from marey.edit.settings import OneSkeleton
from marey.errors import InvalidValue, format_list, warn_user

__all__ = ["choose_target", "describe_retargeted", "share_skeleton"]


def share_skeleton(
    motions: Clips | Iterable[Motion], onto: OneSkeleton = True, *, purpose: str = "a shared skeleton"
) -> tuple[Motion, ...]:
    """Retarget motions onto one skeleton, with planted feet, so that they can be blended, compared or joined.

    Motions that already have this skeleton are returned unchanged; a `MareyWarning` names those that were retargeted.

    Parameters
    ----------
    motions : motions of one or more skeletons.
    onto : the skeleton, a motion that has it, or a file. True for the most frequent skeleton; False returns the motions
        unchanged.
    purpose : what needs the motions, for messages.

    Examples
    --------
    >>> smaller = marey.Skeleton(walk.skeleton.names, walk.skeleton.parents, 0.8 * walk.skeleton.offsets)
    >>> clips = [walk, run, marey.edit.retarget(kick, smaller)]
    >>> [clip.skeleton == walk.skeleton for clip in marey.edit.share_skeleton(clips)]
    [True, True, True]
    """
    given = list_clips(motions, purpose)
    if onto is False:
        return given
    bodies = [(motion.skeleton, len(motion), name_clip(motion, k)) for k, motion in enumerate(given)]
    target, name = choose_target(bodies, onto, given.__getitem__)
    body = target.skeleton if isinstance(target, Motion) else target
    out, changed = [], []
    for k, motion in enumerate(given):
        if find_skeleton_difference(body, motion.skeleton):
            changed.append(name_clip(motion, k))
            motion = replace(retarget(motion, target), name=motion.name)
        out.append(motion)
    if changed:
        warn_user(describe_retargeted(changed, name))
    return tuple(out)


def choose_target(
    bodies: list[tuple[Skeleton, int, str]], onto: OneSkeleton, read: Callable[[int], Motion]
) -> tuple[Skeleton | Motion, str]:
    """Return the skeleton to retarget onto, or a motion of it if its rest pose does not stand, and a name for messages.

    bodies : skeleton, number of frames and name of each motion.
    read : returns the motion of an index.
    """
    if isinstance(onto, str | os.PathLike):
        from marey.io.loading import load_motion

        return _choose_reference(load_motion(onto)), f"of {os.fspath(onto)!r}"
    if isinstance(onto, Motion):
        return _choose_reference(onto), f"of {onto.name!r}"
    if isinstance(onto, Skeleton):
        return onto, "that was given"
    if onto is not True:
        raise InvalidValue(
            f"retarget must be True, a skeleton, a motion or a file, not {type(onto).__name__}", parameter="retarget"
        )
    groups: list[list[int]] = []
    for k, (skeleton, _, _) in enumerate(bodies):
        own = next((group for group in groups if not find_skeleton_difference(bodies[group[0]][0], skeleton)), None)
        if own is None:
            groups.append([k])
        else:
            own.append(k)
    first = max(groups, key=lambda group: (len(group), sum(bodies[k][1] for k in group)))[0]
    body, _, name = bodies[first]
    return (read(first) if needs_motion(body) else body), f"of {name}"


def _choose_reference(motion: Motion) -> Skeleton | Motion:
    return motion if needs_motion(motion.skeleton) else motion.skeleton


def describe_retargeted(names: list[str], onto: str) -> str:
    """Return a sentence that says which motions were retargeted."""
    return f"retargeted onto the skeleton {onto}: {format_list(names, 8)}"
