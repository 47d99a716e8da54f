"""Clean a motion while its joints stay within limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from marey.clean.cleanup import clean_with_report
from marey.clean.limbs import find_limbs
from marey.clean.points import point_paths
from marey.clean.result import CleanResult
from marey.clean.settings import CleanSettings, Target
from marey.core.arrays import Floats, set_readonly
from marey.core.joint_limits import JointLimits
from marey.core.motion import Motion

# Number of rounds that alternate between cleanup and joint limits; more rounds change little.
_LIMIT_ROUNDS = 4
# Meters: smaller residues are rounding errors.
_ROUNDING = 1e-9


def clean_within_limits(motion: Motion, settings: CleanSettings, limits: JointLimits) -> CleanResult:
    """Alternate between cleanup and joint limits until both are satisfied; if they never are, return the round with the
    smallest residue."""
    settings = CleanSettings(settings=settings, joint_limits=None)
    again = CleanSettings(
        settings=settings, contacts=None, hands=False, body=False, floor=None
    )  # they are in the motion
    best, within = None, limits.apply(motion)
    for n in range(_LIMIT_ROUNDS):
        result = clean_with_report(within, settings=again if n else settings)
        within = limits.apply(result.motion)
        residue = set_readonly(_measure_misses(within, result, settings.targets))
        shift = set_readonly(result.motion.root_positions - motion.root_positions)
        step = {**within.source.provenance[-1], "residue_max": float(residue.max(initial=0.0))}
        source = replace(within.source, provenance=motion.source.provenance).with_step(**step)
        result = replace(result, motion=replace(within, source=source), residue=residue, shift=shift)
        if best is None or residue.max(initial=0.0) < best.residue.max(initial=0.0):
            best = result
        if best.residue.max(initial=0.0) < _ROUNDING:
            break
        within = replace(within, bone_offsets=motion.bone_offsets)  # otherwise the stretch would accumulate
    assert best is not None
    return best


def _measure_misses(motion: Motion, result: CleanResult, targets: Sequence[Target]) -> Floats:
    """Measure how far (F, E), in meters, a motion that was changed after cleanup misses the plants and targets of the
    result."""
    contacts, skeleton = motion.contacts, motion.skeleton
    residue = np.zeros_like(result.residue)
    if contacts is None:
        return residue
    paths, names = point_paths(motion, contacts.points), result.limbs
    limbs = find_limbs(skeleton, contacts.points, {target.effector for target in targets})
    limb_of = {contacts.names[c]: limbs.names[e] for e, row in enumerate(limbs.columns) for c in row if c >= 0}
    for plant in result.plants:
        span, column = slice(plant.start, plant.stop), names.index(limb_of.get(plant.point, plant.point))
        gap = np.linalg.norm(paths[span, contacts.index(plant.point)] - plant.position, axis=-1)
        held = contacts.mask[span, contacts.index(plant.point)]
        residue[span, column] = np.maximum(residue[span, column], np.where(held, gap, 0.0))
    for target in targets:
        span, column = slice(target.start, target.stop), names.index(target.effector)
        ends = motion.world().positions[span, skeleton.roles[target.effector]]
        residue[span, column] = np.linalg.norm(ends - target.position, axis=-1)
    return residue
