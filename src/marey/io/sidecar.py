"""The sidecar: a JSON file with annotations that the motion's file format cannot hold.

``walk.marey.json`` belongs to ``walk.bvh`` in the same folder (and to ``walk.glb``, if that is the same motion; another
motion in ``walk.glb`` has a sidecar of its own, ``walk.glb.marey.json``)::

    {"format": "marey.sidecar", "version": 1,
     "files": ["walk.bvh"], "sha256": {"walk.bvh": "60db..."}, "frames": 472,
     "axes": {"walk.bvh": {"unit": 0.01, "up": "y"}},
     "contacts": {"points": {"left_heel": {"joint": "LeftFoot", "offset": [0.0, -0.08, -0.03]}},
                  "intervals": {"left_heel": [[12, 80], [150, 216]]}},
     "labels": [{"name": "walk", "start": 0, "stop": 472}],
     "roles": {"left_hand": "LeftHand"},
     "floor": 0.012,
     "provenance": [{"op": "mirror"}]}

Only format and version are required, which makes it easy to write by hand. Frames are 0-based, intervals half-open,
offsets in meters in the joint's own coordinate frame. "axes" are the unit, in meters, and the up axis of a BVH file,
which cannot state them.

With "sha256", annotations apply only to files with this content, whatever their name; without it, to the files in
"files" or, if that is missing too, to every motion of the same name. When `save` replaces a motion, it first writes a
sidecar that describes both the old and the new content ("previous"), then the motion, then the final sidecar. So at any
time, the annotations match the motion that is on the disk.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from glob import escape as glob_escape
from pathlib import Path
from typing import Any

from marey.core.contacts import ContactPoint, Contacts
from marey.core.labels import Label, Labels
from marey.core.motion import Motion
from marey.errors import InvalidValue, ParseError, warn_user
from marey.io.archive import encode_json, read_json, write_json
from marey.io.axes import UPS
from marey.io.files import MOTION_SUFFIXES, SIDECAR_SUFFIX, FileTransaction, StagedFile, file_digest, remove_file

FORMAT, VERSION = "marey.sidecar", 1
_ANNOTATIONS = {"contacts", "labels", "roles", "floor", "provenance"}
_KEYS = {"format", "version", "files", "sha256", "frames", "axes", "previous"} | _ANNOTATIONS


def sidecar_path(path: str | os.PathLike[str]) -> Path:
    """Return the sidecar's path: ``folder/walk.marey.json`` for ``folder/walk.bvh``, or the file's own if it has one.

    Examples
    --------
    >>> marey.io.sidecar_path("clips/walk.bvh").name
    'walk.marey.json'
    """
    own = own_sidecar_path(path)
    return own if os.path.isfile(own) else Path(path).with_suffix(SIDECAR_SUFFIX)


def own_sidecar_path(path: str | os.PathLike[str]) -> Path:
    """Return the path of the sidecar that belongs to this file only: ``folder/walk.bvh.marey.json``."""
    return Path(f"{os.fspath(path)}{SIDECAR_SUFFIX}")


def read_sidecar(path: str | os.PathLike[str]) -> dict[str, Any] | None:
    """Read the sidecar of the file `path` and check its structure; None if there is none."""
    side = sidecar_path(path)
    if not os.path.isfile(side):
        return None
    content = read_json(side, FORMAT, VERSION)
    _check_form(content, side)
    unknown = sorted(set(content) - _KEYS)
    if unknown:
        warn_user(f"{side}: unknown entries are ignored: {', '.join(unknown)}")
    return content


def read_entry(path: str | os.PathLike[str]) -> dict[str, Any] | None:
    """Return the part of the sidecar that describes the content of the file `path`; None if there is none."""
    content = read_sidecar(path)
    if content is None:
        return None
    entry, name = find_entry(content, path), Path(path).name
    if entry is None and name in content.get("files", ()):
        warn_user(
            f"{sidecar_path(path)}: ignored, because {name} has changed since it was annotated; to apply the "
            'annotations anyway, delete the entry "sha256"'
        )
    return entry


def find_axes(entry: Mapping[str, Any], path: str | os.PathLike[str]) -> tuple[float | None, str | None]:
    """Return unit (meters) and up axis of the file `path`, if the sidecar's entry has them; the file may have been
    renamed.
    """
    own = _own_axes(entry, Path(path).name)
    return own.get("unit"), own.get("up")


def _own_axes(entry: Mapping[str, Any], name: str) -> dict[str, Any]:
    stored: dict[str, Any] = entry.get("axes", {})
    return dict(stored.get(name) or (next(iter(stored.values())) if len(stored) == 1 else {}))


def annotate(motion: Motion, path: str | os.PathLike[str], entry: Mapping[str, Any]) -> Motion:
    """Return `motion`, which was just read from `path`, with the annotations of its sidecar's entry."""
    side, name = sidecar_path(path), Path(path).name
    n_frames = entry.get("frames")
    if n_frames is not None and n_frames != len(motion):
        raise ParseError(
            f"the annotations are for {n_frames} frames, but {name} has {len(motion)}; correct or delete "
            f"the sidecar {side.name}",
            path=side,
        )
    try:
        return _add_annotations(motion, entry)
    except (InvalidValue, OverflowError) as error:
        raise ParseError(str(error), path=side) from None


def describes_added_clip(motion: Motion, entry: Mapping[str, Any]) -> bool:
    """Return whether a sidecar's entry describes `motion`, the first clip of a file with several clips.

    Entries do not name a clip. Of a file with several, an entry can describe only a motion that `save` added before
    the character's own clips.
    """
    return bool(entry.get("sha256")) and entry.get("frames") == len(motion)


def find_entry(content: Mapping[str, Any], path: str | os.PathLike[str]) -> dict[str, Any] | None:
    """Return the part of a sidecar that describes the content of the file `path`; None if it describes other files."""
    path, digest = Path(path), ""
    for entry in (content, content.get("previous")):
        if entry is None:
            continue
        digests = entry.get("sha256", {})
        if digests:
            digest = digest or file_digest(path)
            if digest in digests.values():
                return {key: value for key, value in entry.items() if key != "previous"}
        files = entry.get("files", [path.name])
        # A listed file without a digest, or a renamed one.
        is_listed = path.name in files and path.name not in digests
        is_renamed = not digests and not any(path.with_name(file).is_file() for file in files)
        if is_listed or is_renamed:
            return {key: value for key, value in entry.items() if key != "previous"}
    return None


def _check_form(content: Mapping[str, Any], side: Path) -> None:
    """Check that every entry has the form shown in the module's example; the error names the first that does not."""

    def expect(fits: bool, where: str, form: str, got: Any) -> None:
        if not fits:
            raise ParseError(f"expected {where} to be {form}, got {json.dumps(got)[:60]}", path=side)

    def is_frame(value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool)

    def is_number(value: Any) -> bool:
        return isinstance(value, int | float) and not isinstance(value, bool)

    for key, kind, form in (
        ("files", list, 'a list of file names such as ["walk.bvh"]'),
        ("sha256", dict, 'an object such as {"walk.bvh": "60db..."}'),
        ("axes", dict, 'an object such as {"walk.bvh": {"unit": 0.01, "up": "y"}}'),
        ("previous", dict, "an object like the sidecar itself"),
        ("contacts", dict, 'an object with "points" and "intervals"'),
        ("labels", list, 'a list such as [{"name": "walk", "start": 0, "stop": 90}]'),
        ("roles", dict, 'an object such as {"left_hand": "Hand_L"}'),
        ("provenance", list, "a list of objects"),
    ):
        expect(isinstance(content.get(key, kind()), kind), f'"{key}"', form, content.get(key))
    expect(is_frame(content.get("frames", 0)), '"frames"', "a whole number", content.get("frames"))
    expect(is_number(content.get("floor", 0)), '"floor"', "a height in meters", content.get("floor"))
    for step in content.get("provenance", []):
        expect(isinstance(step, dict), '"provenance"', "a list of objects", step)
    for file in content.get("files", []):
        expect(isinstance(file, str), '"files"', "a list of file names", file)
    for file, digest in content.get("sha256", {}).items():
        expect(isinstance(digest, str), f'"sha256": "{file}"', "a SHA-256 digest", digest)
    for file, stored in content.get("axes", {}).items():
        fits = isinstance(stored, dict) and is_number(stored.get("unit")) and 0 < stored["unit"] < 1e15
        fits = fits and stored.get("up") in UPS
        expect(fits, f'"axes": "{file}"', 'like {"unit": 0.01, "up": "y"}', stored)
    if "previous" in content:
        previous = content["previous"]
        expect("previous" not in previous, '"previous"', 'an object that has no "previous" itself', previous)
        _check_form(previous, side)
    for role, joint in content.get("roles", {}).items():
        expect(isinstance(joint, str), f'"roles": "{role}"', "a joint's name", joint)
    for label in content.get("labels", []):
        expect(
            isinstance(label, dict)
            and isinstance(label.get("name"), str)
            and is_frame(label.get("start"))
            and is_frame(label.get("stop")),
            'each of "labels"',
            'like {"name": "walk", "start": 0, "stop": 90}',
            label,
        )
    points = content.get("contacts", {}).get("points", {})
    expect(isinstance(points, dict), '"contacts": "points"', "an object, one entry for each point", points)
    for name, point in points.items():
        fits = isinstance(point, dict) and isinstance(point.get("joint"), str)
        offset = point.get("offset", []) if fits else []
        fits = fits and isinstance(offset, list) and all(is_number(x) for x in offset)
        expect(fits, f'contact point "{name}"', 'like {"joint": "LeftFoot", "offset": [0, -0.08, 0]}', point)
    intervals = content.get("contacts", {}).get("intervals", {})
    expect(isinstance(intervals, dict), '"contacts": "intervals"', "an object, one entry for each point", intervals)
    for name, spans in intervals.items():
        fits = isinstance(spans, list) and all(
            isinstance(span, list) and len(span) == 2 and all(is_frame(frame) for frame in span) for span in spans
        )
        expect(fits, f'contacts of "{name}"', "a list of [start, stop] pairs such as [[12, 80]]", spans)


def _add_annotations(motion: Motion, content: Mapping[str, Any]) -> Motion:
    skeleton = motion.skeleton
    if content.get("roles"):
        skeleton = skeleton.with_roles({str(role): str(joint) for role, joint in content["roles"].items()})
    contacts = motion.contacts
    if content.get("contacts"):
        points = [
            ContactPoint(str(name), skeleton.index(str(point["joint"])), point.get("offset", (0.0, 0.0, 0.0)))
            for name, point in content["contacts"].get("points", {}).items()
        ]
        contacts = Contacts.from_intervals(points, content["contacts"].get("intervals", {}), len(motion))
    labels = Labels(tuple(Label(item["name"], item["start"], item["stop"]) for item in content.get("labels") or ()))
    floor = content.get("floor")
    return replace(
        motion,
        skeleton=skeleton,
        contacts=contacts,
        labels=labels,
        source=replace(
            motion.source,
            floor=None if floor is None else float(floor),
            provenance=tuple(dict(step) for step in content.get("provenance") or ()),
        ),
    )


def list_annotations(motion: Motion) -> dict[str, Any]:
    """Return the sidecar entries for `motion`; empty if it has no annotations."""
    content: dict[str, Any] = {}
    if motion.contacts is not None:
        names = motion.skeleton.names
        content["contacts"] = {
            "points": {p.name: {"joint": names[p.joint], "offset": p.offset.tolist()} for p in motion.contacts.points},
            "intervals": {
                name: [list(span) for span in motion.contacts.intervals(name)] for name in motion.contacts.names
            },
        }
    if motion.labels:
        content["labels"] = [label._asdict() for label in motion.labels]
    if motion.skeleton.role_map:
        content["roles"] = dict(motion.skeleton.role_map)
    if motion.source.floor is not None:
        content["floor"] = motion.source.floor
    if motion.source.provenance:
        content["provenance"] = [dict(step) for step in motion.source.provenance]
    return content


def write_sidecar(motion: Motion, path: str | os.PathLike[str]) -> Path | None:
    """Write, share or remove the sidecar of the file `path` that holds `motion`; return its path if it exists.

    Files of the same motion in other formats may share it. The sidecar of another motion is not overwritten: the file
    then gets its own.
    """
    side, plan = plan_sidecar(motion, path, file_digest(path))
    if plan is None:
        return None
    if not plan:
        remove_file(side)
        return None
    write_json(side, FORMAT, VERSION, plan)
    return side


def commit_with_sidecar(
    motion: Motion, staged: StagedFile, writing: FileTransaction, axes: Mapping[str, Any] | None = None
) -> None:
    """Replace a motion file and its sidecar by the staged file and the sidecar of `motion`, in the order given in the
    module's docstring.

    axes : unit and up axis of the file, if its format cannot state them.
    """
    path = Path(staged.target)
    old = read_sidecar(path)
    if old is None and not list_annotations(motion):
        writing.commit(staged)
        return
    digest = staged.sha256
    side, plan = plan_sidecar(motion, path, digest, axes)
    if plan is None:
        writing.commit(staged)
        return
    entry = None if old is None or not path.is_file() else find_entry(old, path)
    final = encode_json(FORMAT, VERSION, plan) if plan else b""
    is_current = plan == old
    steps = []
    if entry is not None and not is_current:
        now = plan or {"format": FORMAT, "version": VERSION, "files": [path.name], "sha256": {path.name: digest}}
        before = {**entry, "files": [path.name], "sha256": {path.name: file_digest(path)}}
        steps = [writing.stage(side, [encode_json(FORMAT, VERSION, {**now, "previous": before})]), staged]
        steps += [writing.stage(side, [final])] if plan else []
    else:
        steps = [writing.stage(side, [final]), staged] if plan and not is_current else [staged]
    writing.commit(*steps)
    if not plan:
        remove_file(side)


def plan_sidecar(
    motion: Motion, path: str | os.PathLike[str], digest: str = "", axes: Mapping[str, Any] | None = None
) -> tuple[Path, dict[str, Any] | None]:
    """Return the sidecar's path and its new content; {} to remove an outdated one, None if nothing needs to change.

    If the sidecar describes another file and has other content, this is the path of the file's own sidecar.

    digest : the SHA-256 digest of the file `path`.
    axes : unit and up axis of the file, if its format cannot state them; None keeps the axes in the old sidecar if the
        content of the file is the same.
    """
    side, name = sidecar_path(path), Path(path).name
    annotations = list_annotations(motion)
    encode_json(FORMAT, VERSION, annotations)  # raises an error for text that cannot be saved
    old = read_sidecar(path)
    others = [] if old is None else _other_owners(old, side, name)
    digests = {} if old is None else {file: old.get("sha256", {}).get(file) for file in others}
    if old is not None and others:
        old_annotations = {key: old[key] for key in _ANNOTATIONS & set(old)}
        if not annotations:
            if name not in old.get("files", ()):
                return side, None
            return side, _add_owners({key: old[key] for key in old if key != "previous"}, digests)
        if json.dumps(old_annotations, sort_keys=True) != json.dumps(annotations, sort_keys=True) or old.get(
            "frames"
        ) != len(motion):
            side, old, digests = own_sidecar_path(path), None, {}
    if not annotations:
        is_stale = old is not None and name in old.get("files", [name])
        return side, {} if is_stale else None
    content = {"format": FORMAT, "version": VERSION, "files": [], "sha256": {}, "frames": len(motion)}
    known = {} if old is None else dict(old.get("axes", {}))
    if axes is None and old is not None and digest in old.get("sha256", {}).values():
        axes = _own_axes(old, name)
    stored = {file: known[file] for file in digests if file in known} | ({name: dict(axes)} if axes else {})
    if stored:
        content["axes"] = stored
    return side, _add_owners({**content, **annotations}, {**digests, name: digest})


def _add_owners(content: dict[str, Any], digests: Mapping[str, str | None]) -> dict[str, Any]:
    """Return a sidecar's content with its owners: the files in `digests`, and their SHA-256 digests where known."""
    known = {file: digest for file, digest in digests.items() if digest}
    return {**content, "files": list(digests), "sha256": known}


def _other_owners(content: Mapping[str, Any], side: Path, name: str) -> list[str]:
    """Return existing files that a sidecar describes, except `name`; if it lists none, motion files with its stem."""
    if "files" in content:
        return [file for file in content["files"] if file != name and (side.parent / file).is_file()]
    stem = side.name.removesuffix(SIDECAR_SUFFIX)
    files = sorted(side.parent.glob(f"{glob_escape(stem)}.*"))
    return [file.name for file in files if file.suffix.lower() in MOTION_SUFFIXES and file.name != name]
