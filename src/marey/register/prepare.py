"""Prepare motions for registration: one skeleton, one rate, with contacts."""

from __future__ import annotations

from collections.abc import Iterable

from marey.core.clips import PreparedClips, list_clips, name_clip, prepare_clips
from marey.core.motion import Motion
from marey.edit.common_skeleton import share_skeleton
from marey.edit.settings import OneSkeleton
from marey.errors import InvalidValue

# A timewarp needs at least this many frames.
MIN_FRAMES = 8


def prepare_motions(motions: Iterable[Motion], retarget: OneSkeleton = False) -> PreparedClips:
    """Convert the motions to one skeleton and their highest frame rate, with contacts; also return notes."""
    from marey.clean import detect_contacts

    given = share_skeleton(list_clips(motions, "registration", min_clips=2), retarget)
    for k, motion in enumerate(given):
        check_length(motion, k)
    return prepare_clips(given, "registration", detect=detect_contacts, bake_hips=False, can_retarget=True)


def check_length(motion: Motion, k: int) -> None:
    """Raise InvalidValue if a motion, or its cropped part, is too short for a timewarp."""
    if len(motion) < MIN_FRAMES:
        raise InvalidValue(
            f"{name_clip(motion, k)} is too short to register: it must have at least {MIN_FRAMES} frames, "
            f"not {len(motion)} ({motion.duration:.2f} s at {motion.fps:g} fps)"
        )
