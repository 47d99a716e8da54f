"""Registration files: the curves and references to their motions, without the motions.

A zip of ``.npy`` files, without pickled objects. n motions, K and L control points, M matches.

===========  ============  =======  ====================================================================
array        shape         type     content
===========  ============  =======  ====================================================================
format       ()            text     ``marey.registration``
version      ()            integer  1
timewarp     (K, n)        float    control points of S(u), seconds
alignment    (L, n, 3)     float    control points of A(u); (L, n-1, 3) without the reference in older files
origins      (n, 2)        float    meters, the points that A(u) is given about
matches      (M, 2, n)     float    starts and stops of matching contacts, in u
loops        (n, 3)        float    only if cyclic: travel of each loop as rigid2d
crops        (n, 2)        integer  frames taken of the inputs
distances    (n,)          float    meters
about        ()            text     JSON: reference, fps, points of the matches, content keys, notes
===========  ============  =======  ====================================================================
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marey.core.clips import name_clip
from marey.core.motion import Motion
from marey.errors import InvalidValue, ParseError
from marey.io.archive import Head, read_arrays, validating, write_arrays
from marey.register.curves import AlignmentCurve, TimewarpCurve
from marey.register.matches import ConstraintMatch
from marey.register.prepare import prepare_motions
from marey.register.registration import RegistrationCurve
from marey.register.staging import retake_frames

FORMAT = "marey.registration"
VERSION = 1

CURVES = ("timewarp", "alignment", "origins", "matches", "crops", "distances")
"""Arrays of `curve_arrays` that every registration has; loops also have ``loops``."""
# Kinds of NumPy types, and number of axes.
_SHAPES: dict[str, tuple[str, int]] = {
    "timewarp": ("f", 2), "alignment": ("f", 3), "origins": ("f", 2), "matches": ("f", 3), "crops": ("iu", 2),
    "distances": ("f", 1), "about": ("U", 0), "loops": ("f", 2),
}  # fmt: skip


def content_key(motion: Motion) -> str:
    """Hash a motion's skeleton, rate and poses."""
    digest = hashlib.sha256()
    digest.update(json.dumps([motion.skeleton.names, motion.fps]).encode())
    arrays = [motion.skeleton.parents, motion.skeleton.offsets, motion.root_positions, motion.rotations]
    if motion.bone_offsets is not None:
        arrays.append(motion.bone_offsets)
    for array in arrays:
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()[:32]


def curve_arrays(reg: RegistrationCurve) -> dict[str, NDArray[Any]]:
    """Return the arrays of a registration, without its motions, keyed by name."""
    arrays: dict[str, NDArray[Any]] = {
        "timewarp": reg.timewarp.points,
        "alignment": reg.alignment.points,
        "origins": reg.alignment.origins,
        "matches": np.array([[match.starts, match.stops] for match in reg.matches]).reshape(-1, 2, reg.n_motions),
        "crops": reg.crops,
        "distances": reg.distances,
    }
    return arrays if reg.loops is None else arrays | {"loops": reg.loops}


def curves_from(
    arrays: Mapping[str, NDArray[Any]],
    motions: tuple[Motion, ...],
    reference: int,
    points: Sequence[Any],
    notes: Sequence[Any],
) -> RegistrationCurve:
    """Rebuild a registration from `curve_arrays`, its motions, and the contact points of its matches."""
    loops, aligned = arrays.get("loops"), arrays["alignment"]
    if aligned.shape[1] == len(motions) - 1:  # an older file, without the reference
        aligned = np.insert(aligned, reference, 0.0, axis=1)
    alignment = AlignmentCurve(aligned, reference, loops, arrays["origins"])
    if alignment.n_motions != len(motions):
        raise InvalidValue(f"alignment must have {len(motions)} motions, not {alignment.n_motions}")
    matches = zip(points, arrays["matches"], strict=True)
    return RegistrationCurve(
        motions=motions,
        timewarp=TimewarpCurve(arrays["timewarp"], cyclic=loops is not None),
        alignment=alignment,
        matches=tuple(ConstraintMatch(str(point), *ends) for point, ends in matches),
        reference=reference,
        distance=float(arrays["distances"].max()),
        distances=arrays["distances"],
        cyclic=loops is not None,
        loops=loops,
        notes=tuple(str(note) for note in notes),
        crops=arrays["crops"],
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
    write_arrays(path, FORMAT, VERSION, curve_arrays(reg) | {"about": np.array(json.dumps(about))})


def read_registration(path: str | os.PathLike[str], motions: Sequence[Motion]) -> RegistrationCurve:
    """Read a file written by `write_registration`, given its motions."""
    where = str(os.fspath(path))
    required = (*CURVES, "about")
    arrays = read_arrays(path, FORMAT, VERSION, required, ("loops",), check=lambda heads: _check(heads, where))
    crops = arrays["crops"]
    with validating(where, FORMAT):
        about = json.loads(str(arrays["about"]))
        reference, fps = int(about["reference"]), float(about["fps"])
        keys, names = ([str(each) for each in about[part]] for part in ("keys", "names"))
        if not len(keys) == len(names) == len(crops) == len(arrays["distances"]) == arrays["timewarp"].shape[1]:
            raise ValueError("its arrays are for different numbers of motions")
    found = _match_motions(tuple(motions), keys, names, fps, crops, arrays.get("loops"), where)
    with validating(where, FORMAT):
        return curves_from(arrays, found, reference, about["points"], about["notes"])


def _match_motions(
    motions: tuple[Motion, ...],
    keys: Sequence[str],
    names: Sequence[str],
    fps: float,
    crops: NDArray[Any],
    loops: NDArray[Any] | None,
    where: str,
) -> tuple[Motion, ...]:
    """Return the motions as registered; if the original inputs are given, prepare and crop them again."""
    if len(motions) != len(keys):
        raise InvalidValue(f"{where}: motions must be the {len(keys)} motions that were registered, not {len(motions)}")
    if [content_key(motion) for motion in motions] == list(keys):
        return prepare_motions(motions).motions
    ready = prepare_motions(motions).motions
    fits = ready[0].fps == fps and all(
        len(motion) >= stop - start and (loops is not None or len(motion) >= stop)
        for motion, (start, stop) in zip(ready, crops, strict=True)
    )
    result = retake_frames(ready, crops, loops) if fits else ready
    for k, (motion, key, name) in enumerate(zip(result, keys, names, strict=True)):
        if content_key(motion) != key:
            raise InvalidValue(
                f"{where}: {name_clip(motions[k], k)} is not the motion {name!r} that was registered, in full "
                "or cropped; pass the same motions, unchanged and in the same order"
            )
    return result


def _check(heads: Mapping[str, Head], path: str) -> None:
    for name, head in heads.items():
        kinds, axes = _SHAPES[name]
        if head.dtype.kind not in kinds or len(head.shape) != axes:
            raise ParseError(
                f"array {name!r} has dtype {head.dtype} and shape {head.shape}, which is not valid in a "
                "registration file; save it again",
                path=path,
            )
