"""`load`: read any supported file as a Motion or Markers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from marey.core.motion import Motion
from marey.core.resample import resample
from marey.core.settings import operation
from marey.errors import FileError, InvalidValue, ParseError, UnknownFormat, UnreadableFile
from marey.io.canonical import to_motion
from marey.io.files import (
    EXPECTED_FILE,
    GLTF_SUFFIXES,
    MARKER_SUFFIXES,
    MOTION_SUFFIXES,
    MULTI_CLIP_SUFFIXES,
    SIDECAR_SUFFIX,
    read_bytes,
    split_name,
    suggest_files,
)
from marey.io.raw import RawMotion
from marey.io.rest import trim_rest_pose
from marey.io.settings import AxesSettings, LoadSettings

if TYPE_CHECKING:
    from marey.core.markers import Markers

StrPath = str | os.PathLike[str]

# The formats to which each option applies; with other formats, the option raises an error.
_OPTIONS = {
    "root": (".bvh",),
    "clip": MULTI_CLIP_SUFFIXES,
    "skeleton": (".amc",),
    "file_fps": (".bvh", ".amc", ".asf", ".npz", ".npy", *MULTI_CLIP_SUFFIXES),
    "body_model": (".npz", ".npy"),
}
# How files of each format begin.
_STARTS = {b"HIERARCHY": ".bvh", b"Kaydara FBX": ".fbx", b"; FBX": ".fbx", b"glTF": ".glb"}
# The packages, and commands, that take results of each format.
_USERS = {
    "marey.action_space": "pmg", "marey.gait_space": "pmg", "marey.graph": "graph", "marey.parametric": "parametric",
    "marey.plan": "pmg", "marey.pmg": "pmg", "marey.web": "find",
}  # fmt: skip
# Pickled Python objects, of NumPy, joblib and PyTorch.
_PICKLES = (".pkl", ".pickle", ".joblib", ".pt", ".pth")


# The result is not known to type checkers, so the overloads of `operation` do not apply.
_declare: Callable[[Callable[..., Any]], Callable[..., Any]] = operation(LoadSettings)


@_declare
def load(path: StrPath, settings: LoadSettings) -> Any:
    """Load any supported file: a `Motion`, or `Markers` from .c3d and .trc.

    ``motion.source.evidence`` explains how unit, axes and rate were found and whether a rest pose was skipped. Problems
    in the file cause a `MareyWarning`.

    For .c3d and .trc files only `unit` and `up` apply. `load_motion` and `load_markers` do the same with precise return
    types.

    Parameters
    ----------
    path : the file.

    Examples
    --------
    >>> marey.save(walk, "walk.bvh")
    >>> marey.load("walk.bvh")
    <Motion 'walk': 241 frames at 60 Hz, 27 joints>
    >>> marey.load("walk.bvh", unit="cm", fps=30).duration
    4.0
    """
    suffix = _get_suffix(path)
    if suffix not in MARKER_SUFFIXES:
        return load_motion(path, settings=settings)
    for name in ("fps", "file_fps", "root", "clip", "skeleton", "body_model", "roles"):
        if getattr(settings, name) is not None:
            raise InvalidValue(f"`{name}=` does not apply to a {suffix} file, which holds markers", parameter=name)
    return load_markers(path, unit=settings.unit, up=settings.up)


@operation(LoadSettings)
def load_motion(path: StrPath, settings: LoadSettings) -> Motion:
    """Load a motion with its annotations, in meters, Y up.

    Examples
    --------
    >>> marey.save(walk, "walk.glb")
    >>> motion = marey.load_motion("walk.glb")
    >>> motion.rotations.shape, motion.source.format
    ((241, 27, 4), 'glb')
    """
    suffix = _get_suffix(path)
    for name, suffixes in _OPTIONS.items():
        if getattr(settings, name) is not None and suffix in MOTION_SUFFIXES and suffix not in suffixes:
            raise InvalidValue(
                f"`{name}=` does not apply to a {suffix} file, only to {', '.join(suffixes)}", parameter=name
            )
    with _explaining_content(path, suffix):
        raw = _read(path, suffix, settings)
    role_map = read_roles(settings.roles)
    whole, entry = os.fspath(path), None
    if any(os.path.isfile(start + SIDECAR_SUFFIX) for start in (os.path.splitext(whole)[0], whole)):
        from marey.io.sidecar import annotate, describes_added_clip, find_axes, read_entry

        entry = read_entry(path)
        if entry is not None and suffix == ".bvh":
            raw.unit, raw.up = find_axes(entry, path)
            raw.unit_reason = raw.up_reason = "from the sidecar"
    motion = to_motion(raw, settings.unit, settings.up, role_map)
    if entry is not None:
        names = clip_names(path)
        if len(names) == 1 or (motion.name == names[0] and describes_added_clip(motion, entry)):
            motion = annotate(motion, path, entry)
    if role_map:  # the caller's map overrides the sidecar
        motion = replace(motion, skeleton=motion.skeleton.with_roles(role_map))
    if settings.trim_rest:
        motion = trim_rest_pose(motion)
    return motion if settings.fps in (None, motion.fps) else resample(motion, settings.fps)


@operation(AxesSettings)
def load_markers(path: StrPath, settings: AxesSettings) -> Markers:
    r"""Load the markers of a C3D or TRC file, in meters, Y up; `unit` and `up` override the file's.

    Examples
    --------
    >>> from pathlib import Path
    >>> rows = ["PathFileType 4 (X/Y/Z) head.trc", "DataRate NumFrames NumMarkers Units", "60 2 1 mm"]
    >>> rows += ["Frame# Time HEAD", "  X1 Y1 Z1", "1 0.000 0 1700 0", "2 0.017 0 1701 20"]
    >>> size = Path("head.trc").write_text("\n".join(rows).replace(" ", "\t"))
    >>> markers = marey.load_markers("head.trc", up="y")
    >>> markers.names, markers.positions[1]  # meters
    (('HEAD',), array([[0.   , 1.701, 0.02 ]]))
    """
    suffix = _get_suffix(path)
    if suffix not in MARKER_SUFFIXES:
        raise UnknownFormat(f"markers can only be loaded from {', '.join(MARKER_SUFFIXES)} files", path=path)
    if suffix == ".trc":
        from marey.io.trc import read_trc

        return read_trc(path, unit=settings.unit, up=settings.up)
    from marey.io.c3d import read_c3d

    return read_c3d(path, unit=settings.unit, up=settings.up)


def clip_names(path: StrPath) -> tuple[str, ...]:
    """Return the names of the motions in a file: the animations of an FBX or GLB file, else the file's own name.

    Examples
    --------
    >>> marey.save([walk, run], "gaits.glb")
    >>> marey.clip_names("gaits.glb")
    ('walk', 'run')
    >>> marey.load("gaits.glb", clip="run").name
    'run'
    """
    suffix = _get_suffix(path)
    with _explaining_content(path, suffix):
        if suffix in GLTF_SUFFIXES:
            from marey.io import glb_read

            return glb_read.clip_names(read_bytes(path), os.fspath(path))
        if suffix == ".fbx":
            from marey.io import fbx_read

            return fbx_read.clip_names(read_bytes(path), os.fspath(path))
    return (split_name(path)[0],)


@contextmanager
def _explaining_content(path: StrPath, suffix: str) -> Iterator[None]:
    """Context manager: if a file cannot be read because it holds something else than its suffix says, say what."""
    try:
        yield
    except FileError as error:
        from marey.io.file_kinds import KINDS, read_format

        form = read_format(path) if suffix in (".npz", ".json") and os.path.isfile(path) else ""
        if form in KINDS and form != "marey.motion":
            use = f"; use it with `marey.{_USERS[form]}`" if form in _USERS else ""
            if form == "marey.sampled_character":
                use = (
                    "; `SampledCharacter.load` plays it in Python, docs/exporting.md describes it for other programs, "
                    "and the .glb file beside it holds its clips"
                )
            raise type(error)(f"is {KINDS[form]}, not a motion{use}", path=path) from None
        own = _find_own_suffix(path)
        if own not in ("", suffix) and not (own in GLTF_SUFFIXES and suffix in GLTF_SUFFIXES):
            raise ParseError(f"holds {own[1:].upper()} data; rename it to {own}", path=path) from None
        raise


def _find_own_suffix(path: StrPath) -> str:
    """Return the suffix that fits how a file begins; "" if unknown."""
    begin = b""
    if os.path.isfile(path):
        with suppress(OSError), open(path, "rb") as file:
            begin = file.read(64).removeprefix(b"\xef\xbb\xbf").lstrip()
    return next((suffix for start, suffix in _STARTS.items() if begin.startswith(start)), "")


def _read(path: StrPath, suffix: str, settings: LoadSettings) -> RawMotion:
    """Read the file with the reader for its suffix; each reader is imported only when needed."""
    fps, skeleton = settings.file_fps, settings.skeleton
    name = os.fspath(path)
    if suffix == ".bvh":
        from marey.io.bvh_read import read_bvh

        return read_bvh(read_bytes(path), name, fps=fps, root=settings.root)
    if suffix == ".amc":
        from marey.io.amc import find_asf, read_amc
        from marey.io.asf import read_asf

        asf_path = find_asf(path) if skeleton is None else skeleton
        data = read_bytes(path)
        raw = read_amc(data, name, read_asf(read_bytes(asf_path), os.fspath(asf_path)), fps=fps)
        raw.evidence.append(f"skeleton from {os.path.basename(os.fspath(asf_path))}")
        if skeleton is None and not split_name(path)[0].startswith(split_name(asf_path)[0]):
            raw.warnings.append(
                f"the skeleton is that of {os.path.basename(os.fspath(asf_path))}, the only ASF file next to it, "
                "although its name does not match; `skeleton=` chooses another"
            )
        return raw
    if suffix == ".asf":
        from marey.io.amc import asf_motion
        from marey.io.asf import read_asf

        raw = asf_motion(read_asf(read_bytes(path), name), name)
        raw.fps = raw.fps if fps is None else fps
        return raw
    if suffix in GLTF_SUFFIXES:
        from marey.io.glb_read import read_glb

        return read_glb(read_bytes(path), name, fps=fps, clip=settings.clip)
    if suffix == ".fbx":
        from marey.io.fbx_read import read_fbx

        return read_fbx(read_bytes(path), name, fps=fps, clip=settings.clip)
    if suffix == ".npz":
        from marey.io import kimodo, smpl
        from marey.io.archive import list_arrays
        from marey.io.npz import read_npz

        data = read_bytes(path)
        arrays = list_arrays(data, name)
        if smpl.is_smpl(arrays):
            return smpl.read_smpl(data, name, arrays, fps=fps, body_model=settings.body_model)
        if kimodo.is_kimodo(arrays):
            _refuse_option(settings, "body_model", "of Kimodo, which has joint positions")
            return kimodo.read_kimodo(data, name, fps=fps)
        _refuse_option(settings, "file_fps", "that marey wrote")
        _refuse_option(settings, "body_model", "that marey wrote")
        return read_npz(data, name)
    if suffix == ".npy":
        from marey.io.npy import read_npy_motion

        return read_npy_motion(read_bytes(path), name, fps=fps, body_model=settings.body_model)
    if suffix in MARKER_SUFFIXES:
        raise UnknownFormat(
            f"holds markers, not the motion of a skeleton; `marey.solve` fits a skeleton to them. Expected a file of "
            f"{', '.join(MOTION_SUFFIXES)}",
            path=path,
        )
    if os.path.isdir(path):
        raise UnreadableFile(EXPECTED_FILE, path=path)
    if not os.path.lexists(path):
        raise UnreadableFile(f"no such file or folder{suggest_files(path)}", path=path)
    if suffix in _PICKLES:
        from marey.io.archive import EXPLAIN_PICKLES

        raise UnknownFormat(f"a {suffix} file may run any code when it is loaded; {EXPLAIN_PICKLES}", path=path)
    known = ", ".join((*MOTION_SUFFIXES, *MARKER_SUFFIXES))
    shown = repr(suffix) if suffix else "a file without a suffix"
    raise UnknownFormat(f"cannot load {shown}; supported formats are {known}", path=path)


def list_unsuitable(suffix: str) -> tuple[str, ...]:
    """Return the options that do not apply to files with this suffix."""
    return tuple(name for name, suffixes in _OPTIONS.items() if suffix not in suffixes)


def _refuse_option(settings: LoadSettings, name: str, kind: str) -> None:
    if getattr(settings, name) is not None:
        raise InvalidValue(f"`{name}=` does not apply to an .npz file {kind}", parameter=name)


def read_roles(roles: Mapping[str, str] | StrPath | None) -> Mapping[str, str]:
    """Return the role map, read from a JSON file if `roles` is a path."""
    if roles is None or isinstance(roles, Mapping):
        return roles or {}
    import json  # rarely needed and slow to import

    try:
        content = json.loads(read_bytes(roles))
    except (ValueError, RecursionError) as error:
        raise ParseError(f"not valid JSON: {error}", path=roles) from None
    if not isinstance(content, dict) or not all(isinstance(joint, str) for joint in content.values()):
        example = '{"left_hand": "Hand_L"}'
        raise ParseError(
            f"expected a JSON object that maps roles to joint names, such as {example}, got {json.dumps(content)[:60]}",
            path=roles,
        )
    return content


def _get_suffix(path: StrPath) -> str:
    return split_name(path)[1]
