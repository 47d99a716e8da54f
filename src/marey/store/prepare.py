"""Prepare a clip from a file: resample and trim it, add contacts and labels, and store its arrays on disk."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from marey import __version__
from marey.clean import ensure_contacts
from marey.core.contacts import ContactPoint, Contacts
from marey.core.labels import Label, Labels
from marey.core.markers import markers_to_motion
from marey.core.motion import Motion
from marey.core.skeleton import Skeleton
from marey.core.source import Source
from marey.edit import mirror, resample, retarget
from marey.errors import FileError, InvalidValue, MareyError, ParseError, collect_warnings
from marey.io.files import MARKER_SUFFIXES
from marey.io.loading import load_markers, load_motion, read_roles
from marey.io.rest import trim_rest_pose
from marey.io.unit_and_up_axis import parse_unit
from marey.store.arrays import read_arrays, write_arrays
from marey.store.cache import Cache
from marey.store.index import ClipRow
from marey.store.labels import LabelRow, add_labels
from marey.store.scan import ScannedFile, Stamp, stamp
from marey.store.settings import OpenSettings

T = TypeVar("T")
# Increase this whenever the same file would give a different clip.
_PREPARED = 1
# Formats whose frame rate may be missing or wrong; an .npz file states its own.
_RATED = (".bvh", ".amc", ".fbx", ".glb")
_SOURCE = ("format", "unit", "up", "fps", "frame_time_text", "file_names", "channels", "character", "floor", "evidence")
# Arrays of a clip, and whether every clip has them.
_ARRAYS = {"root_positions": True, "rotations": True, "contact_mask": False, "bone_offsets": False}


def _load_all_frames(path: str, clip: int | None, settings: OpenSettings) -> Motion:
    """Load a motion at the file's rate, with all frames of its file, because labels refer to these."""
    suffix = os.path.splitext(path)[1].lower()
    if suffix in MARKER_SUFFIXES:
        return markers_to_motion(load_markers(path, unit=settings.unit, up=settings.up))
    is_rated = suffix in _RATED
    return load_motion(
        path,
        unit=settings.unit,
        up=settings.up,
        file_fps=settings.file_fps if is_rated else None,
        clip=clip,
        roles=settings.roles,
        trim_rest=False,
    )


class Job(NamedTuple):
    """A clip to prepare.

    cache : folder of the cache. key : key of the clip. path : its file. clip : index of the motion in the file, or
    None. rows : additional labels. settings : how it is read. stamps : state of the files when their digests were
    computed.
    """

    cache: str
    key: str
    path: str
    clip: int | None
    rows: tuple[LabelRow, ...]
    settings: OpenSettings
    stamps: tuple[Stamp, ...]


class DerivedJob(NamedTuple):
    """A clip to make from another one in the cache.

    cache : folder of the cache. key : key of the new clip. of : the job of the other clip.
    onto : the skeleton to retarget the other clip onto, or a motion with that skeleton; None to mirror the clip.
    """

    cache: str
    key: str
    of: Job | DerivedJob
    onto: Skeleton | Motion | None = None


class Outcome(NamedTuple):
    """Outcome of a job.

    key : key of the clip. changed : whether the file changed while it was read; then nothing was stored.
    messages : the warnings.
    """

    key: str
    changed: bool
    messages: tuple[str, ...]


def clip_key(
    path: Path,
    clip: int | None,
    seen: ScannedFile,
    needed: Mapping[Path, ScannedFile],
    rows: tuple[LabelRow, ...],
    settings: OpenSettings,
) -> str:
    """Return the key of a clip: a hash of everything that determines it, except its folder.

    The file name counts only if the file depends on others.

    Parameters
    ----------
    path : the file.
    clip : index of the motion in the file; None if it is the only one.
    seen, needed : the scanned file, and the scanned files that it depends on, by path.
    rows : labels in addition to those of the sidecar.
    settings : how it is read.
    """
    digests = [(file.suffix, each.digest) for file, each in needed.items()]
    own_name = path.name if needed else path.suffix.lower()  # a sidecar lists the names of its files
    unit = None if settings.unit is None else parse_unit(settings.unit)
    how = (settings.fps, settings.file_fps, unit, settings.up, settings.trim_rest, "sidecar" in settings.label_sources)
    labels = [(row.label, row.start, row.stop) for row in rows]
    roles = sorted(read_roles(settings.roles).items())
    return Cache.key("clip", _PREPARED, __version__, seen.digest, own_name, digests, clip, labels, how, roles)


def derive(of: Job | DerivedJob, onto: Skeleton | Motion | None = None) -> DerivedJob:
    """Return the job that mirrors a clip, or retargets it.

    of : the job of the clip. onto : the skeleton to retarget it onto, or a motion of it; None to mirror it.
    """
    if onto is None:
        return DerivedJob(of.cache, Cache.key("mirrored", of.key), of)
    body, poses = (onto.skeleton, onto.rotations) if isinstance(onto, Motion) else (onto, None)
    key = Cache.key("retargeted", _PREPARED, __version__, of.key, _skeleton_key(body), poses)
    return DerivedJob(of.cache, key, of, onto)


def prepare_clip(job: Job) -> Outcome:
    """Load and prepare a clip, and store it in the cache; if it cannot be loaded, store the reason."""
    cache = Cache(Path(job.cache))
    return run_job(job.key, partial(_from_file, job), partial(_put_clip, cache, job.key), partial(has_changed, job))


def prepare_derived(job: DerivedJob) -> Outcome:
    """Mirror or retarget a clip from the cache, and store the result, or the reason why it failed."""
    cache = Cache(Path(job.cache))
    return run_job(job.key, partial(_derive_clip, job), partial(_put_clip, cache, job.key), lambda: False)


def run_job(
    key: str,
    make: Callable[[], T],
    put: Callable[[T | None, str | None], None],
    changed: Callable[[], bool],
) -> Outcome:
    """Make a value and store it with `put`, or the reason why it cannot be made. If `changed()` is then true, store
    nothing."""
    value: T | None = None
    reason: str | None = None
    with collect_warnings() as messages:
        try:
            value = make()
        except _CsvError as error:
            raise error.error from None  # a mistake in the user's CSV file, not in one of many motion files
        except MareyError as error:
            reason = _reason(error)
    if changed():
        return Outcome(key, True, ())
    put(value, reason)
    return Outcome(key, False, tuple(messages))


def _put_clip(cache: Cache, key: str, motion: Motion | None, reason: str | None) -> None:
    if motion is None:
        cache.index.put_clip(ClipRow(key, reason, "", 0), None, {})
    else:
        write_clip(cache, key, motion)


class _CsvError(MareyError):
    def __init__(self, error: MareyError) -> None:
        super().__init__(str(error))
        self.error = error


def _from_file(job: Job) -> Motion:
    motion = ensure_contacts(load_clip(job), f"{job.path}: no contacts can be found")
    return motion if motion.fps == job.settings.fps else resample(motion, job.settings.fps)


def load_clip(job: Job) -> Motion:
    """Load the clip of a job at the rate of its file, with its labels."""
    settings = job.settings
    motion = _load_all_frames(job.path, job.clip, settings)
    if "sidecar" not in settings.label_sources:
        motion = replace(motion, labels=Labels())
    try:
        motion = add_labels(motion, job.rows)
    except MareyError as error:
        raise _CsvError(error) from None
    return trim_rest_pose(motion) if settings.trim_rest else motion


def _derive_clip(job: DerivedJob) -> Motion:
    motion = read_clip(Cache(Path(job.cache)), job.of.key)
    return mirror(motion) if job.onto is None else retarget(motion, job.onto)


def has_changed(job: Job) -> bool:
    """Return whether a file that the job reads has changed since it was scanned."""
    try:
        return any(stamp(each.path) != each for each in job.stamps)
    except OSError:
        return True


def _reason(error: MareyError) -> str:
    """Return the error message without the folder, which may differ the next time."""
    text = str(error)
    if isinstance(error, FileError):
        where = "" if error.path is None else os.path.basename(error.path)
        text = ":".join(part for part in (where, "" if error.line is None else str(error.line)) if part)
        text = f"{text}: {error.sentence}" if text else error.sentence
    return text.encode("utf-8", "backslashreplace").decode()


def write_clip(cache: Cache, key: str, motion: Motion) -> None:
    """Store a clip in the cache: first its arrays, then the index row that refers to them."""
    arrays: dict[str, NDArray[Any]] = {"root_positions": motion.root_positions, "rotations": motion.rotations}
    if motion.contacts is not None:
        arrays["contact_mask"] = motion.contacts.mask
    if motion.bone_offsets is not None:
        arrays["bone_offsets"] = motion.bone_offsets
    write_arrays(cache.clip_folder(key), arrays)
    body, source, contacts = motion.skeleton, motion.source, motion.contacts
    skeleton = {
        "names": body.names,
        "parents": body.parents.tolist(),
        "offsets": body.offsets.tolist(),
        "role_map": dict(body.role_map),
    }
    about = {
        "fps": motion.fps,
        "points": None if contacts is None else [(p.name, p.joint, p.offset.tolist()) for p in contacts.points],
        "labels": [tuple(label) for label in motion.labels],
        "source": {name: getattr(source, name) for name in _SOURCE},
        "file_offsets": None if source.file_offsets is None else source.file_offsets.tolist(),
        "provenance": [dict(step) for step in source.provenance],
    }
    cache.index.put_clip(ClipRow(key, None, _skeleton_key(body), len(motion)), skeleton, about)


def _skeleton_key(body: Skeleton) -> str:
    return Cache.key(list(body.names), body.parents, body.offsets, sorted(body.role_map.items()))


def read_clip(cache: Cache, key: str, skeleton: Skeleton | None = None, name: str = "", path: str = "") -> Motion:
    """Read a clip from the cache; raise `ParseError` if it is missing or damaged.

    skeleton : skeleton of the clip, if already read. name, path : name and source path of the returned motion.
    """
    folder = cache.clip_folder(key)
    about = cache.index.get_info(key)
    if about is None:
        raise ParseError("the clip was removed from the cache; open the motion set again", path=folder)
    arrays = read_arrays(folder, {**_ARRAYS, "contact_mask": about["points"] is not None})
    offsets = about["file_offsets"]
    try:
        points = [ContactPoint(point, joint, at) for point, joint, at in about["points"] or ()]
        return Motion(
            read_skeleton(cache, cache.index.clips([key])[key].skeleton) if skeleton is None else skeleton,
            arrays["root_positions"],
            arrays["rotations"],
            about["fps"],
            name=name,
            contacts=Contacts(tuple(points), arrays["contact_mask"]) if about["points"] is not None else None,
            labels=Labels(tuple(Label(*label) for label in about["labels"])),
            bone_offsets=arrays.get("bone_offsets"),
            source=Source(
                path=path,
                file_offsets=None if offsets is None else np.array(offsets),
                provenance=tuple(about["provenance"]),
                **about["source"],
            ),
        )
    except (InvalidValue, KeyError, TypeError, ValueError) as error:
        raise ParseError(
            f"a clip in the cache is damaged ({error}); delete the folder, which can be built again", path=folder
        ) from None


def read_skeleton(cache: Cache, key: str) -> Skeleton:
    """Read a skeleton from the cache."""
    content: dict[str, Any] | None = cache.index.skeleton(key)
    if content is None:
        raise ParseError("a skeleton was removed from the cache; open the motion set again", path=cache.folder)
    return Skeleton(tuple(content["names"]), content["parents"], content["offsets"], content["role_map"])
