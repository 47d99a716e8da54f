"""Registration files: the curves and references to their motions, without the motions."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marey.core.clips import name_clip
from marey.core.motion import Motion
from marey.errors import InvalidValue
from marey.io.archive import validating
from marey.io.stored import FileFormat, Part
from marey.register.curves import AlignmentCurve, TimewarpCurve
from marey.register.matches import ConstraintMatch
from marey.register.prepare import prepare_motions
from marey.register.registration import RegistrationCurve
from marey.register.staging import crop_to_registration

CURVES = {
    "timewarp": Part("float", ("timewarp points", "motions")),
    # Older files do not store the reference.
    "alignment": Part("float", ("alignment points", "aligned motions", 3)),
    "origins": Part("float", ("motions", 2)),
    "matches": Part("float", ("matches", 2, "motions")),
    "crops": Part("integer", ("motions", 2)),
    "distances": Part("float", ("motions",)),
    "loops": Part("float", ("motions", 3), optional=True),
}
"""Parts of a registration without its motions. Control points of S(u) are in seconds; matches are the starts and stops
of matching contacts, in u; crops are the frames taken of the inputs; loops, if cyclic, hold the travel of each."""

_FILE = FileFormat("marey.registration", 1, {**CURVES, "about": Part("json")})


def content_key(motion: Motion) -> str:
    """Hash a motion's skeleton, rate and poses, to a micrometer and a microradian.

    Values are rounded, because the last bits of a motion read from the same file may differ between systems.
    """
    return _hash_motion(motion, lambda array: np.rint(array * 1e6).astype(np.int64))


def is_motion(motion: Motion, key: str) -> bool:
    """Return whether `key` is the content key of the motion; keys of earlier releases, without rounding, are valid."""
    return key in (content_key(motion), _hash_motion(motion, np.ascontiguousarray))


def _hash_motion(motion: Motion, convert: Callable[[Any], NDArray[Any]]) -> str:
    digest = hashlib.sha256()
    digest.update(json.dumps([motion.skeleton.names, motion.fps]).encode())
    arrays = [motion.skeleton.parents, motion.skeleton.offsets, motion.root_positions, motion.rotations]
    if motion.bone_offsets is not None:
        arrays.append(motion.bone_offsets)
    for array in arrays:
        digest.update(convert(array).data)
    return digest.hexdigest()[:32]


def curve_parts(reg: RegistrationCurve) -> dict[str, Any]:
    """Return the parts of a registration, as in `CURVES`."""
    return {
        "timewarp": reg.timewarp.points,
        "alignment": reg.alignment.points,
        "origins": reg.alignment.origins,
        "matches": np.array([[match.starts, match.stops] for match in reg.matches]).reshape(-1, 2, reg.n_motions),
        "crops": reg.crops,
        "distances": reg.distances,
        "loops": reg.loops,
    }


def curves_from(
    parts: Mapping[str, Any],
    motions: tuple[Motion, ...],
    reference: int,
    points: Sequence[Any],
    notes: Sequence[Any],
) -> RegistrationCurve:
    """Rebuild a registration from `curve_parts`, its motions, and the contact points of its matches."""
    loops, aligned = parts["loops"], parts["alignment"]
    if aligned.shape[1] == len(motions) - 1:  # an older file, without the reference
        aligned = np.insert(aligned, reference, 0.0, axis=1)
    alignment = AlignmentCurve(aligned, reference, loops, parts["origins"])
    if alignment.n_motions != len(motions):
        raise InvalidValue(f"alignment must have {len(motions)} motions, not {alignment.n_motions}")
    matches = zip(points, parts["matches"], strict=True)
    return RegistrationCurve(
        motions=motions,
        timewarp=TimewarpCurve(parts["timewarp"], cyclic=loops is not None),
        alignment=alignment,
        matches=tuple(ConstraintMatch(str(point), *ends) for point, ends in matches),
        reference=reference,
        distance=float(parts["distances"].max()),
        distances=parts["distances"],
        cyclic=loops is not None,
        loops=loops,
        notes=tuple(str(note) for note in notes),
        crops=parts["crops"],
    )


def write_registration(reg: RegistrationCurve, path: str | os.PathLike[str]) -> None:
    """Write `reg` under a temporary name, then rename the file."""
    about = {
        "reference": reg.reference,
        "fps": reg.fps,
        "points": [match.point for match in reg.matches],
        "keys": [content_key(motion) for motion in reg.motions],
        "names": [motion.name for motion in reg.motions],
        "notes": reg.notes,
    }
    _FILE.write(path, curve_parts(reg) | {"about": about})


def read_registration(path: str | os.PathLike[str], motions: Sequence[Motion]) -> RegistrationCurve:
    """Read a file written by `write_registration`, given its motions."""
    where = str(os.fspath(path))
    with _FILE.open(path) as parts:
        about = parts["about"]
        reference, fps = int(about["reference"]), float(about["fps"])
        keys, names = ([str(each) for each in about[part]] for part in ("keys", "names"))
        if not len(keys) == len(names) == len(parts["crops"]):
            raise ValueError("the arrays must all have the same number of motions")
    found = _match_motions(tuple(motions), keys, names, fps, parts["crops"], parts["loops"], where)
    with validating(where, _FILE.name):
        return curves_from(parts, found, reference, about["points"], about["notes"])


def _match_motions(
    motions: tuple[Motion, ...],
    keys: Sequence[str],
    names: Sequence[str],
    fps: float,
    crops: NDArray[Any],
    loops: NDArray[Any] | None,
    where: str,
) -> tuple[Motion, ...]:
    """Return the motions as registered; original inputs are prepared and cropped again."""
    if len(motions) != len(keys):
        raise InvalidValue(f"{where}: motions must be the {len(keys)} motions that were registered, not {len(motions)}")
    if all(is_motion(motion, key) for motion, key in zip(motions, keys, strict=True)):
        return prepare_motions(motions).motions
    ready = prepare_motions(motions).motions
    fits = ready[0].fps == fps and all(
        len(motion) >= stop - start and (loops is not None or len(motion) >= stop)
        for motion, (start, stop) in zip(ready, crops, strict=True)
    )
    result = crop_to_registration(ready, crops, loops) if fits else ready
    for k, (motion, key, name) in enumerate(zip(result, keys, names, strict=True)):
        if not is_motion(motion, key):
            raise InvalidValue(
                f"{where}: {name_clip(motions[k], k)} is not the motion {name!r} that was registered, in full "
                "or cropped; pass the same motions, unchanged and in the same order"
            )
    return result
