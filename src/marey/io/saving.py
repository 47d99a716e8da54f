"""`save`: write a Motion to a file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypedDict

from marey.core.arrays import check_list, check_type
from marey.core.motion import Motion
from marey.core.settings import operation
from marey.deprecation import renamed_parameters
from marey.errors import InvalidValue, MareyError, UnknownFormat, warn_user
from marey.io import unit_and_up_axis
from marey.io.files import (
    GLTF_SUFFIXES,
    MULTI_CLIP_SUFFIXES,
    SAVE_SUFFIXES,
    FileTransaction,
    check_file_name,
    read_bytes,
    split_name,
)
from marey.io.settings import SaveSettings
from marey.io.sidecar import commit_with_sidecar, plan_sidecar

_BODY_SUFFIXES = (".fbx", ".usda", *GLTF_SUFFIXES)


@renamed_parameters(figure="body")
@operation(SaveSettings)
def save(motion: Motion | Sequence[Motion], path: str | os.PathLike[str], settings: SaveSettings) -> None:
    """Write a motion to .bvh, .fbx, .glb, .npz or .usda; several motions go into one .fbx or .glb.

    A file named ``*.amass.npz`` is written for programs that read AMASS. It holds the joints of a SMPL model: retarget
    other motions first, ``marey.edit.retarget(motion, marey.io.smpl_skeleton())``.

    Contacts, labels and other annotations go into the sidecar next to the file. If saving fails at any point, either
    the old motion or the new one is complete, with its annotations.

    Parameters
    ----------
    motion : a motion, or a list of motions.
    path : the file to write.

    Examples
    --------
    >>> marey.save(walk, "walk.bvh")
    >>> marey.save([walk, run], "gaits.glb")
    >>> marey.load("walk.bvh").contacts.names  # from the sidecar walk.marey.json
    ('left_heel', 'left_ball', 'right_heel', 'right_ball')
    """
    several = not isinstance(motion, Motion) and isinstance(motion, Iterable)
    motions = check_list(motion, Motion, "motion") if several else (check_type(motion, Motion, "motion"),)
    suffix = split_name(path)[1]
    own: list[bytes] = []
    if settings.character is not None:
        _check_character(settings.character, suffix)
    elif suffix in GLTF_SUFFIXES and settings.body and any(motion.source.character for motion in motions):
        own = _write_own_character(motions, os.fspath(path), settings)
    if settings.character is None and not own and suffix not in SAVE_SUFFIXES:
        shown = f"as {suffix!r}" if suffix else "to a file name without a suffix"
        if not suffix and motions:
            inside = os.path.join(os.fspath(path), f"{motions[0].name or 'motion'}.bvh")
            shown += f"; in a folder, name the file, such as {inside}"
        hint = {".vrm": "; a .vrm file needs `character=`", ".usd": "; write .usda", ".usdc": "; write .usda"}
        known = ", ".join((*SAVE_SUFFIXES, ".amass.npz"))
        raise UnknownFormat(f"cannot save {shown}; supported formats are {known}{hint.get(suffix, '')}", path=path)
    if not motions:
        raise InvalidValue("there is nothing to save; pass at least one motion")
    if len(motions) > 1 and suffix not in MULTI_CLIP_SUFFIXES:
        raise InvalidValue(f"a {suffix} file holds one motion, got {len(motions)}; .fbx and .glb hold several")
    if suffix != ".bvh" and (settings.unit is not None or settings.up is not None):
        raise InvalidValue(f"`unit=` and `up=` can only be chosen for .bvh; the {suffix} format fixes both")
    if not settings.body and suffix not in _BODY_SUFFIXES:
        raise InvalidValue(f"a {suffix} file has no body mesh to omit")
    check_file_name(os.fspath(path))
    if len(motions) == 1:
        plan_sidecar(motions[0], path)  # raises before anything is written
    elif any(motion.contacts is not None or motion.labels for motion in motions):
        warn_user(f"{os.fspath(path)}: contacts and labels were not saved, because a sidecar describes only one motion")
    parts = own or _parts(motions, suffix, is_amass_name(path), settings)
    with FileTransaction() as writing:
        staged = writing.stage(path, parts)
        if len(motions) == 1:
            is_bvh = suffix == ".bvh"
            commit_with_sidecar(motions[0], staged, writing, _choose_axes(motions[0], settings) if is_bvh else None)
        else:
            writing.commit(staged)


def _write_own_character(motions: Sequence[Motion], path: str, settings: SaveSettings) -> list[bytes]:
    """Return the bytes of the skeleton's own GLB or VRM file, mesh included, with these motions in it.

    Return [], with a warning, if the file is missing or does not fit.
    """
    from marey.io.glb_character import write_character

    files = {motion.source.character for motion in motions}
    if settings.rigid:
        motions = [replace(motion, bone_offsets=None) for motion in motions]
    try:
        if len(files) > 1:
            raise InvalidValue("the motions have meshes from different files")
        (character,) = files
        return [write_character(motions, read_bytes(character), character, replaces=True)]
    except MareyError as error:
        warn_user(f"{path}: the mesh is replaced by a simple body ({error}); name a file with a mesh as `character=`")
        return []


def _check_character(character: str | os.PathLike[str], suffix: str) -> None:
    kinds = " or ".join(GLTF_SUFFIXES)
    if suffix not in GLTF_SUFFIXES:
        raise InvalidValue(f"the motion of a character is saved as {kinds}, not {suffix!r}", parameter="character")
    if split_name(character)[1] not in GLTF_SUFFIXES:
        raise UnknownFormat(f"a character must be a {kinds} file", path=character)


class _Axes(TypedDict):
    """Unit of a file in meters, and its up axis."""

    unit: float
    up: str


def _choose_axes(motion: Motion, settings: SaveSettings) -> _Axes:
    """Return the unit and the up axis of a BVH file.

    Programs that read BVH usually expect centimeters and Y up. Motions from BVH files keep the unit and axes of their
    file.
    """
    source = motion.source
    is_usual = source.format in ("", "fbx", "glb", "kimodo", "npy", "npz", "smpl")
    own, up = (unit_and_up_axis.UNITS["cm"], "y") if is_usual else (source.unit, source.up)
    return {
        "unit": own if settings.unit is None else unit_and_up_axis.parse_unit(settings.unit),
        "up": settings.up or up,
    }


def is_amass_name(path: str | os.PathLike[str]) -> bool:
    """Return whether a file of this name is written for programs that read AMASS."""
    return os.fspath(path).lower().endswith(".amass.npz")


def _parts(motions: Sequence[Motion], suffix: str, is_amass: bool, settings: SaveSettings) -> Iterable[bytes]:
    """Return the file's content in parts; each writer is imported only when needed."""
    if settings.rigid:
        motions = [replace(motion, bone_offsets=None) for motion in motions]
    if suffix == ".bvh":
        from marey.io.bvh_write import write_bvh

        return write_bvh(motions[0], **_choose_axes(motions[0], settings), rigid=settings.rigid)
    if settings.character is not None:
        from marey.io.glb_character import write_character

        return [write_character(motions, read_bytes(settings.character), os.fspath(settings.character))]
    if suffix == ".glb":
        from marey.io.glb_write import write_glb

        return [write_glb(motions, body=settings.body)]
    if suffix == ".fbx":
        from marey.io.fbx_write import write_fbx

        return [write_fbx(motions, body=settings.body)]
    if suffix == ".usda":
        from marey.io.usd_write import write_usda

        return write_usda(motions[0], body=settings.body)
    if is_amass:
        from marey.io.smpl import write_amass

        return [write_amass(motions[0])]
    from marey.io.npz import write_npz

    return [write_npz(motions[0])]
