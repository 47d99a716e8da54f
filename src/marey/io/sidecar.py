"""The sidecar: what people and programs know about a file beyond what its format can hold.

``walk.marey.json`` stands beside ``walk.bvh`` (and beside ``walk.glb``, if that is the same motion)::

    {"format": "marey.sidecar", "version": 1,
     "files": ["walk.bvh"], "frames": 472,
     "contacts": {"points": {"left_heel": {"joint": "LeftFoot", "offset": [0.0, -0.08, -0.03]}},
                  "intervals": {"left_heel": [[12, 80], [150, 216]]}},
     "labels": [{"name": "walk", "start": 0, "stop": 472}],
     "roles": {"left_hand": "LeftHand"},
     "floor": 0.012,
     "provenance": [{"op": "mirror"}]}

Everything but format and version may be left out, so that it can be written by hand. Frames are 0-based, intervals
half-open, offsets in metres in the joint's own frame.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from marey.core.contacts import ContactPoint, Contacts
from marey.core.labels import Label, Labels
from marey.core.motion import Motion
from marey.errors import InvalidValue, MareyWarning, ParseError, UnknownVersion, UnwritableFile
from marey.io.files import read_bytes, write_bytes

FORMAT, VERSION = "marey.sidecar", 1
_KEYS = {"format", "version", "files", "frames", "contacts", "labels", "roles", "floor", "provenance"}


def sidecar_path(path: str | os.PathLike[str]) -> Path:
    """``folder/walk.marey.json`` for ``folder/walk.bvh``."""
    return Path(path).with_suffix(".marey.json")


def read_sidecar(path: str | os.PathLike[str]) -> dict[str, Any] | None:
    """The sidecar beside the file `path`, checked for form; None where there is none."""
    side = sidecar_path(path)
    if not side.is_file():
        return None
    try:
        content = json.loads(read_bytes(side))
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        raise ParseError(f"not valid JSON: {getattr(error, 'msg', error)}", path=side, line=line) from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ParseError(f'expected an object with "format": "{FORMAT}"', path=side)
    if content.get("version") != VERSION:
        raise UnknownVersion(
            f"version {content.get('version')!r} of {FORMAT} is not known; this program reads version {VERSION}",
            path=side,
        )
    unknown = sorted(set(content) - _KEYS)
    if unknown:
        warnings.warn(f"{side}: unknown entries are ignored: {', '.join(unknown)}", MareyWarning, stacklevel=3)
    return content


def annotate(motion: Motion, path: str | os.PathLike[str]) -> Motion:
    """`motion`, just read from `path`, with what its sidecar says."""
    content = read_sidecar(path)
    if content is None:
        return motion
    side = sidecar_path(path)
    n_frames = content.get("frames")
    if n_frames is not None and n_frames != len(motion):
        files = content.get("files")
        told = f"its annotations are for {n_frames} frames, but {Path(path).name} has {len(motion)}"
        if isinstance(files, list) and Path(path).name not in files:
            warnings.warn(f"{side}: not used: {told}", MareyWarning, stacklevel=3)
            return motion
        raise ParseError(f"{told}; correct or remove it", path=side)
    try:
        return _annotated(motion, content)
    except InvalidValue as error:
        raise ParseError(str(error), path=side) from None
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise ParseError(f"malformed annotations ({type(error).__name__}: {error})", path=side) from None


def _annotated(motion: Motion, content: Mapping[str, Any]) -> Motion:
    skeleton = motion.skeleton
    if content.get("roles"):
        skeleton = skeleton.with_roles({str(role): str(joint) for role, joint in content["roles"].items()})
    contacts = motion.contacts
    if content.get("contacts"):
        points = [
            ContactPoint(str(name), skeleton.index(str(point["joint"])), point.get("offset", (0.0, 0.0, 0.0)))
            for name, point in content["contacts"]["points"].items()
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


def annotations_of(motion: Motion) -> dict[str, Any]:
    """What a sidecar would say of `motion`; empty where there is nothing to say."""
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
    """Write, share or remove the sidecar of the file `path` that holds `motion`; the path of what stands there then.

    Another format of the same motion may share it. One that speaks of other motion is not overwritten.
    """
    plan = plan_sidecar(motion, path)
    side = sidecar_path(path)
    if plan is None:
        return None
    if not plan:
        side.unlink(missing_ok=True)
        return None
    write_bytes(side, [json.dumps(plan, indent=1, ensure_ascii=False).encode(), b"\n"])
    return side


def plan_sidecar(motion: Motion, path: str | os.PathLike[str]) -> dict[str, Any] | None:
    """The sidecar's content to be; {} where a stale one must go, None where nothing is to be done.

    Raises `UnwritableFile` where the sidecar belongs to another file and says something else.
    """
    side, name = sidecar_path(path), Path(path).name
    said = annotations_of(motion)
    old = read_sidecar(path)
    others = [file for file in (old or {}).get("files") or () if file != name and (side.parent / str(file)).is_file()]
    if old is not None and others:
        kept = {key: old[key] for key in _KEYS & set(old) - {"format", "version", "files", "frames"}}
        if not said:
            return None if name not in old["files"] else {**old, "files": others}
        if json.dumps(kept, sort_keys=True) != json.dumps(said, sort_keys=True) or old.get("frames") != len(motion):
            raise UnwritableFile(
                f"holds the annotations of {', '.join(map(str, others))}; write to another name than {name}",
                path=side,
            )
    if not said:
        return None if old is None else {}
    return {"format": FORMAT, "version": VERSION, "files": [*others, name], "frames": len(motion), **said}
