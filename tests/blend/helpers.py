"""Registrations made from the ground truth of samples, so that blending is tested alone."""

import numpy as np

from marey.compare.clouds import frame_weights, point_clouds
from marey.compare.distance import align_frames
from marey.maths import rigid2d
from marey.register.curves import AlignmentCurve, TimewarpCurve
from marey.register.matches import match_contacts
from marey.register.registration import RegistrationCurve
from marey.samples import sample

FPS = 60.0


def gait(name, *, strides=3.0, first=1.0, fps=FPS, **parameters):
    """Return a sample cropped to whole strides, starting at a left heel strike, and its gait phase, starting at 0."""
    result = sample(name, fps=fps, variation=0.0, **{"seconds": 8.0, **parameters})
    start = int(np.searchsorted(result.phase, first))
    stop = int(np.searchsorted(result.phase, first + strides)) + 1
    assert stop < len(result.motion)
    return result.motion[start:stop], result.phase[start:stop] - first


def at_phases(phase, wanted, fps):
    """Return the seconds at which a motion has the given phases, extrapolated linearly beyond its ends."""
    frames = np.interp(wanted, phase, np.arange(len(phase)))
    return frames / fps


def registration(motions, seconds, *, reference=0, knot_every=4, contacts=True):
    """Return the registration of motions whose corresponding seconds (N, n) are known."""
    timewarp = TimewarpCurve.fit(seconds, knot_every=knot_every)
    clouds = [point_clouds(motion) for motion in motions]
    weights = frame_weights(0.1, motions[0].fps)
    at = timewarp(np.linspace(0.0, 1.0, len(seconds)))
    frames = [np.clip(at[:, j] * motions[j].fps, 0, len(motions[j]) - 1) for j in range(len(motions))]
    moves = np.zeros((len(seconds), len(motions), 3))
    for j in range(len(motions)):
        if j != reference:
            moves[:, j] = align_frames(clouds[reference], frames[reference], clouds[j], frames[j], weights)
    return RegistrationCurve(
        motions=tuple(motions),
        timewarp=timewarp,
        alignment=AlignmentCurve.fit(moves, knot_every=knot_every, reference=reference),
        matches=match_contacts(motions, timewarp)[0] if contacts else (),
        reference=reference,
        distance=0.0,
        distances=np.zeros(len(motions)),
        cyclic=False,
        loops=None,
        notes=(),
        crops=np.array([[0, len(motion)] for motion in motions]),
    )


def in_phase(*pairs, n=None, reference=0):
    """Return the registration of cropped gaits with known phases."""
    n = n or max(len(motion) for motion, _ in pairs)
    last = min(phase[-1] for _, phase in pairs)
    first = max(phase[0] for _, phase in pairs)
    wanted = np.linspace(first, last, n)
    motions = [motion for motion, _ in pairs]
    seconds = np.stack([at_phases(phase, wanted, motion.fps) for motion, phase in pairs], axis=1)
    seconds[0] = 0.0
    seconds[-1] = [motion.duration for motion in motions]
    return registration(motions, seconds, reference=reference)


def heading_change(motion):
    """Return by how many degrees hips and shoulders turn from start to end."""
    from marey.core.placement import find_facing

    yaw = find_facing(motion.skeleton, motion.world().positions)
    return float(np.rad2deg(yaw[-1] - yaw[0]))


def path_length(motion):
    return float(np.linalg.norm(np.diff(motion.travel[:, [0, 2]], axis=0), axis=1).sum())


def net_way(motion):
    way = motion.travel[-1] - motion.travel[0]
    return float(np.hypot(way[0], way[2]))


def furthest(a, b):
    """Return the largest distance of any joint between two motions, in meters."""
    return float(np.linalg.norm(a.world().positions - b.world().positions, axis=-1).max())


def moved_back(motion, like):
    """Return the motion, moved so that its first frame is where that of `like` is."""
    from marey.core.placement import find_placement

    here = find_placement(motion, 0)
    there = find_placement(like, 0)
    return motion.moved(rigid2d.between(here, there))
