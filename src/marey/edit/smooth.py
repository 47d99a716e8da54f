"""Remove noise, but not fast actions: each joint is smoothed as much as its noise allows, frame by frame.

`smooth_adaptively` chooses the length of the window: long where a joint rests, short where it hits something.

Captures are fitted to markers, so the errors of a joint compensate the errors of its parent and of the root. Smoothing
each joint's local rotations with its own window would destroy this compensation and make hands and feet shake. Joints
are therefore smoothed in world orientation. If the errors of joints are independent, smoothing local rotations is
better. Both are tried, and the smoother result is used.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from marey.core.annotations import add_provenance
from marey.core.arrays import Floats, set_readonly
from marey.core.denoise import measure_noise, smooth_adaptively
from marey.core.kinematics import to_local
from marey.core.motion import Motion, check_motion
from marey.core.settings import operation
from marey.edit.settings import SmoothSettings
from marey.maths import quat

_MIN_FRAMES = 12


@operation(SmoothSettings)
def smooth(motion: Motion, settings: SmoothSettings) -> Motion:
    """Remove noise, without softening contacts and fast actions.

    Every joint and the root are smoothed as much as their noise allows, frame by frame. The noise is measured: a clip
    without noise does not change visibly. Contacts and labels stay as they are. Provenance records the noise: of the
    root in meters, and of the joint with most noise in radians.

    Examples
    --------
    >>> from dataclasses import replace
    >>> noise = marey.maths.quat.exp(np.random.default_rng(0).normal(0.0, 0.02, (*walk.rotations.shape[:2], 3)))
    >>> noisy = replace(walk, rotations=marey.maths.quat.mul(walk.rotations, noise))
    >>> smoothed = marey.edit.smooth(noisy)
    >>> marey.measure(smoothed)["jitter"].value < 0.2 * marey.measure(noisy)["jitter"].value
    True
    """
    check_motion(motion)
    if len(motion) < _MIN_FRAMES:
        return add_provenance(motion, "smooth", noise=0.0, noise_rotation=0.0)
    smooth_values = partial(smooth_adaptively, longest=settings.max_window * motion.fps, strength=settings.strength)
    given, offsets = motion.root_positions, motion.bone_offsets
    noise = measure_noise(given[:, None])
    if offsets is not None:
        offsets = set_readonly(smooth_values(offsets)[0])
        # The positions of all joints together determine the position of the body more precisely than the root alone.
        given = given + (motion.world().positions - replace(motion, bone_offsets=offsets).world().positions).mean(
            axis=1
        )
    root = smooth_values(given[:, None])[0]
    local, half_noise = smooth_values(quat.unroll(motion.rotations))
    world, _ = smooth_values(quat.unroll(motion.world().rotations))
    chosen, least = motion, _measure_jerk(motion)
    for rotations in (quat.normalize(local), _to_local_as(quat.normalize(world), motion)):
        result = replace(
            motion, root_positions=set_readonly(root[:, 0]), rotations=set_readonly(rotations), bone_offsets=offsets
        )
        if (jerk := _measure_jerk(result)) < least:
            chosen, least = result, jerk
    return add_provenance(
        chosen, "smooth", noise=float(noise[0]), noise_rotation=2.0 * float(half_noise.max()), **settings.to_dict()
    )


def _to_local_as(world: Floats, motion: Motion) -> Floats:
    """Convert world rotations (F, J, 4) to local ones, with the signs of those of the motion."""
    local = to_local(world, motion.skeleton.parents)
    return np.where(quat.dot(local, motion.rotations)[..., None] < 0.0, -local, local)


def _measure_jerk(motion: Motion) -> float:
    """Return the mean third difference of all joints' positions in meters."""
    return float(np.linalg.norm(np.diff(motion.world().positions, n=3, axis=0), axis=2).mean())
