"""`save`: write a Motion to a file."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path

from marey.core.motion import Motion
from marey.deprecation import renamed_parameters
from marey.errors import InvalidValue, MareyWarning, UnknownFormat
from marey.io import axes, recognize
from marey.io.files import write_bytes
from marey.io.sidecar import plan_sidecar, write_sidecar

SUFFIXES = (".bvh", ".glb", ".npz")


@renamed_parameters(figure="body")
def save(
    motion: Motion | Sequence[Motion],
    path: str | os.PathLike[str],
    *,
    unit: str | float | None = None,
    up: str | None = None,
    rigid: bool = False,
    body: bool = True,
) -> None:
    """Write a motion to .bvh, .glb or .npz; several motions go into one .glb.

    Parameters
    ----------
    unit, up : unit and up axis of a BVH file, as in `load`; by default those of the BVH, AMC or ASF file that the
        motion was loaded from, else centimeters and Y up. GLB and NPZ are always in meters, Y up.
    rigid : drop changes of bone length; False by default.
    body : add a simple body mesh to a GLB file; without it, viewers show joints at most. True by default.

    The file is written completely or not at all. Contacts, labels and other annotations go into the sidecar next to it.
    """
    motions = [motion] if isinstance(motion, Motion) else list(motion)
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        shown = f"as {suffix!r}" if suffix else "to a file name without a suffix"
        raise UnknownFormat(f"cannot save {shown}; supported formats are {', '.join(SUFFIXES)}", path=path)
    if not motions:
        raise InvalidValue("there is nothing to save; pass at least one motion")
    if len(motions) > 1 and suffix != ".glb":
        raise InvalidValue(f"a {suffix} file holds one motion, got {len(motions)}; only .glb holds several")
    if suffix != ".bvh" and (unit is not None or up is not None):
        raise InvalidValue(f"unit and up can only be chosen for .bvh; a {suffix} file is in meters, Y up")
    if not body and suffix != ".glb":
        raise InvalidValue(f"a {suffix} file has no body mesh to omit")
    if len(motions) == 1:
        plan_sidecar(motions[0], path)  # raises before anything is written
    elif any(motion.contacts is not None or motion.labels for motion in motions):
        warnings.warn(
            f"{os.fspath(path)}: contacts and labels were not saved, because a sidecar describes only one motion",
            MareyWarning,
            stacklevel=2,
        )
    write_bytes(path, _parts(motions, suffix, unit, up, rigid, body))
    if len(motions) == 1:
        write_sidecar(motions[0], path)


def _parts(
    motions: list[Motion], suffix: str, unit: str | float | None, up: str | None, rigid: bool, body: bool
) -> Iterable[bytes]:
    """Return the file's content in parts; each writer is imported only when needed."""
    if rigid:
        from dataclasses import replace

        motions = [replace(motion, bone_offsets=None) for motion in motions]
    if suffix == ".bvh":
        from marey.io.bvh_write import write_bvh

        source = motions[0].source
        own = source.unit if source.format else recognize.UNITS["cm"]
        # glTF and NPZ are always in meters, but programs that read BVH usually expect centimeters.
        own = own if source.format not in ("glb", "npz") else recognize.UNITS["cm"]
        meters = own if unit is None else recognize.parse_unit(unit)
        return write_bvh(motions[0], unit=meters, up=source.up if up is None else axes.check_up(up), rigid=rigid)
    if suffix == ".glb":
        from marey.io.glb_write import write_glb

        return [write_glb(motions, body=body)]
    from marey.io.npz import write_npz

    return [write_npz(motions[0])]
