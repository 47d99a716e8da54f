"""Raw markers of a generated motion: a set of 41, as recorded by optical systems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from marey.core.arrays import Floats
from marey.core.markers import Markers
from marey.core.motion import Motion
from marey.core.settings import Seed
from marey.core.source import Source
from marey.errors import InvalidValue
from marey.maths import quat
from marey.samples.skeleton import SIDES

# Name, role of the joint, and offset in meters in that joint's rest coordinates: first the middle, then the left side.
_MIDDLE = [
    ("C7", "neck", (0.0, 0.00, -0.07)),
    ("T10", "chest", (0.0, -0.06, -0.11)),
    ("CLAV", "neck", (0.0, -0.06, 0.06)),
    ("STRN", "chest", (0.0, -0.02, 0.12)),
    ("SACR", "hips", (0.0, 0.03, -0.11)),
]
_SIDE = [
    ("FHD", "head", (0.07, 0.08, 0.09)),
    ("BHD", "head", (0.07, 0.08, -0.08)),
    ("SHO", "upper_arm", (-0.01, 0.06, 0.0)),
    ("UPA", "upper_arm", (0.15, 0.01, -0.045)),
    ("ELB", "forearm", (0.0, 0.01, -0.045)),
    ("FRM", "forearm", (0.13, 0.01, -0.035)),
    ("WRA", "hand", (-0.01, 0.01, 0.035)),
    ("WRB", "hand", (-0.01, 0.01, -0.035)),
    ("FIN", "hand", (0.09, 0.02, 0.0)),
    ("ASI", "hips", (0.12, 0.03, 0.09)),
    ("THI", "upper_leg", (0.08, -0.24, 0.02)),
    ("THIF", "upper_leg", (0.02, -0.20, 0.08)),
    ("KNE", "lower_leg", (0.055, 0.0, 0.0)),
    ("KNM", "lower_leg", (-0.055, 0.0, 0.0)),
    ("TIB", "lower_leg", (0.05, -0.20, 0.01)),
    ("ANK", "foot", (0.045, 0.0, -0.01)),
    ("HEE", "foot", (0.0, -0.04, -0.065)),
    ("TOE", "ball", (0.0, 0.03, 0.01)),
]


def record(motion: Motion, *, rng: Seed, noise: float, gaps: float) -> Markers:
    """Compute the 41 markers of a motion of the sample body.

    rng : seed or Generator. noise : standard deviation of each coordinate, meters. gaps : fraction of the time in which
    a marker is occluded.
    """
    if not (np.isfinite(noise) and 0.0 <= noise <= 0.1):
        raise InvalidValue(f"markers: noise must be from 0 to 0.1 m, not {noise}")
    if not (np.isfinite(gaps) and 0.0 <= gaps <= 0.9):
        raise InvalidValue(f"markers: gaps must be a fraction from 0 to 0.9, not {gaps}")
    rows = [(name, role, np.array(offset)) for name, role, offset in _MIDDLE]
    for side, sign in SIDES:
        for name, role, (x, y, z) in _SIDE:
            full = role if role in ("head", "hips") else f"{side}_{role}"
            rows.append((side[0].upper() + name, full, np.array([sign * x, y, z])))
    points = [(name, motion.skeleton.roles[role], offset) for name, role, offset in rows]
    source = Source(provenance=(*motion.source.provenance, {"op": "markers", "noise": noise, "gaps": gaps}))
    return replace(attach_markers(motion, points, rng=rng, noise=noise, gaps=gaps), source=source)


def attach_markers(
    motion: Motion, points: Sequence[tuple[str, int, Floats]], *, rng: Seed, noise: float, gaps: float
) -> Markers:
    """Compute markers at offsets (3,) in the coordinate frames of joints; `points` are (name, joint, offset).

    The other parameters are those of `record`.
    """
    names, joints, offsets = zip(*points, strict=True)
    world, generator = motion.world(), np.random.default_rng(rng)
    positions = world.positions[:, joints] + quat.rotate(world.rotations[:, joints], np.array(offsets))
    positions = positions + generator.normal(0.0, noise, positions.shape)
    valid = simulate_occlusion(positions.shape[:2], gaps, motion.fps, generator)
    return Markers(names, positions, valid, motion.fps, motion.name, motion.source)


def simulate_occlusion(shape: tuple[int, int], gaps: float, fps: float, rng: np.random.Generator) -> np.ndarray:
    """Return a mask (F, M): False where a marker is occluded. Gaps last about a fifth of a second."""
    frames, markers = shape
    valid = np.ones(shape, dtype=bool)
    if gaps == 0.0:
        return valid
    length = max(1, round(0.2 * fps))
    lost = rng.random((frames // length + 2, markers)) < gaps
    start = rng.integers(0, length, markers)
    index = (np.arange(frames)[:, None] + start) // length
    valid[:] = ~np.take_along_axis(lost, index, axis=0)
    return valid
