"""Files of sampled characters: ``NAME.json`` and ``NAME.glb``; docs/exporting.md describes them for other programs."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marey.clean import layout_kernels as layout
from marey.clean.limbs import find_limbs
from marey.control.sampled import ClipTransitions, SampledCharacter, SampledClip, SampledNode, ValueTables
from marey.control.sampled_build import HORIZON, POINT_LIMITS
from marey.control.sampled_stream import find_start
from marey.core.arrays import Bools, Floats, check_index, freeze_array, set_readonly
from marey.core.contacts import ContactPoint, Contacts
from marey.core.motion import Motion
from marey.core.skeleton import Skeleton
from marey.core.source import Source
from marey.errors import InvalidValue, UnknownFormat, plural
from marey.io import archive
from marey.io.files import read_bytes, write_bytes
from marey.io.glb_read import read_glb_clips
from marey.io.glb_write import write_glb
from marey.io.limits import MAX_FRAMES
from marey.maths.value_kernels import GoalGrid

__all__ = ["FORMAT", "VERSION", "describe_sampled", "load_sampled", "pack_clips", "save_sampled"]

FORMAT, VERSION = "marey.sampled_character", 1
# Maximum frame rate: no motion capture is faster, and playing takes time for each frame.
_MAX_FPS = 2000.0


def save_sampled(char: SampledCharacter, path: str | os.PathLike[str]) -> tuple[str, str]:
    """Write the .json and the .glb file; see `SampledCharacter.save`."""
    about, clips = _find_paths(path)
    write_bytes(clips, [pack_clips(char)])
    archive.write_json(about, FORMAT, VERSION, describe_sampled(char, clips.name))
    return str(about), str(clips)


def load_sampled(path: str | os.PathLike[str]) -> SampledCharacter:
    """Read the .json and the .glb file; see `SampledCharacter.load`."""
    about, _ = _find_paths(path)
    content = archive.read_json(about, FORMAT, VERSION)
    with archive.validating(about, FORMAT):
        beside = about.with_name(Path(str(content["file"])).name)
        return _read_character(content, beside, read_bytes(beside))


def pack_clips(char: SampledCharacter) -> bytes:
    """Return the bytes of the GLB file: one animation for each clip."""
    return write_glb([clip.motion for clip in char.clips], compact=True)


def _find_paths(path: str | os.PathLike[str]) -> tuple[Path, Path]:
    given = Path(path)
    if given.suffix.lower() not in (".json", ".glb"):
        raise UnknownFormat("expected a name that ends with .json or .glb; a file of each kind is written", path=path)
    return given.with_suffix(".json"), given.with_suffix(".glb")


# Writing -------------------------------------------------------------------------------------------------------------


def describe_sampled(char: SampledCharacter, file: str) -> dict[str, Any]:
    """Return the content of the JSON file; `file` is the name of the GLB file."""
    first = char.clips[char.start].motion
    points = () if first.contacts is None else first.contacts.points
    skeleton, tables = first.skeleton, char.tables
    return {
        "name": char.name,
        "file": file,
        "fps": char.fps,
        "half": char.half,
        "joints": list(skeleton.names),
        "roles": {role: skeleton.names[joint] for role, joint in skeleton.roles.items()},
        "points": [{"name": each.name, "joint": each.joint, "offset": _shorten(each.offset)} for each in points],
        "legs": _describe_legs(skeleton, points),
        "nodes": [n._asdict() for n in char.nodes],
        "start": {"clip": char.start, "place": find_start(char).tolist()},
        "clips": [_describe_clip(char, i) for i in range(len(char.clips))],
        "values": {
            "horizon": HORIZON,
            "speeds": tables.speeds.tolist(),
            "direction": _convert_to_ms(tables.direction),
            "node": _convert_to_ms(tables.node),
            "rest": _convert_to_ms(tables.rest),
            "point": _convert_to_ms(tables.point),
            "distances": tables.grid.distances.tolist(),
            "bearings": tables.grid.n_bearings,
            "slowness": tables.grid.slowness,
            "near": float(POINT_LIMITS[0]),
            "per_meter": float(POINT_LIMITS[1]),
        },
    }


def _describe_clip(char: SampledCharacter, i: int) -> dict[str, Any]:
    clip, links = char.clips[i], char.transitions
    contacts = clip.motion.contacts
    rows = range(links.first[i], links.first[i + 1])
    follow = [
        [
            int(links.target[e]),
            int(links.leave[e]),
            int(links.enter[e]),
            *links.moves[e].tolist(),
            float(links.costs[e]),
        ]
        for e in rows
    ]
    return {
        "name": clip.motion.name,
        "node": clip.node,
        "parameters": _shorten(clip.parameters),
        "frames": len(clip.motion),
        "decide": clip.decide,
        "place": clip.place.tolist(),
        "path": clip.path.tolist(),
        "hit": None if clip.hit is None else clip.hit.tolist(),
        "contacts": [] if contacts is None else [_find_runs(column) for column in contacts.mask.T],
        "next": follow,
    }


def _describe_legs(skeleton: Skeleton, points: tuple[ContactPoint, ...]) -> list[dict[str, Any]]:
    """Describe the legs for the foot lock: joints, contact points of the feet (-1 for none), and hinge axes."""
    if not points:
        return []
    limbs = find_limbs(skeleton, points)
    joints = limbs.table[:, [layout.BASE, layout.MID, layout.END]]
    return [
        {"joints": joints[e].tolist(), "points": limbs.columns[e].tolist(), "hinge": _shorten(limbs.hinges[e])}
        for e in np.flatnonzero(limbs.table[:, layout.IS_FOOT] == 1).tolist()
    ]


def _find_runs(flags: Bools) -> list[list[int]]:
    """Return the runs of True as half-open intervals."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(np.int8)))
    return edges.reshape(-1, 2).tolist()


def _shorten(values: Floats) -> list[float]:
    return [round(value, 6) for value in values.tolist()]


def _convert_to_ms(values: Floats) -> Any:
    return np.rint(1000.0 * values).astype(np.int64).tolist()


# Reading -------------------------------------------------------------------------------------------------------------


def _read_character(content: dict[str, Any], path: Path, data: bytes) -> SampledCharacter:
    raw = read_glb_clips(data, str(path))
    entries = content["clips"]
    if len(raw) != len(entries) or not raw:
        raise InvalidValue(
            f"{path.name} must have one animation per clip, at least one, but has {len(raw)} for "
            f"{plural(len(entries), 'clip')}; export the character again"
        )
    if not 0.0 < float(content["fps"]) <= _MAX_FPS:
        raise InvalidValue(f"fps must be greater than 0 and at most {_MAX_FPS:g}, not {float(content['fps']):g}")
    joints = list(content["joints"])
    if list(raw[0].names) != joints:
        raise InvalidValue(f"the joints in {path.name} differ from those in the .json file")
    skeleton = Skeleton(raw[0].names, raw[0].parents, raw[0].offsets, dict(content["roles"]))
    points = tuple(ContactPoint(each["name"], each["joint"], np.array(each["offset"])) for each in content["points"])
    nodes = tuple(
        SampledNode(n["name"], tuple(n["parameters"]), tuple(n["units"]), bool(n["steers"])) for n in content["nodes"]
    )
    clips, rows = [], []
    n_path = max(1, len(entries[0]["path"]))
    for i, (entry, frames) in enumerate(zip(entries, raw, strict=True)):
        n_frames = check_index(entry["frames"], "frames")
        if len(frames.root_positions) != n_frames:
            raise InvalidValue(f"clip {i} has {len(frames.root_positions)} frames instead of {n_frames}")
        motion = Motion(
            skeleton, frames.root_positions, frames.rotations, float(content["fps"]), name=entry["name"],
            bone_offsets=frames.bone_offsets, source=Source(path=str(path), format="glb"),
        )  # fmt: skip
        if points:
            motion = replace(motion, contacts=Contacts(points, _read_runs(entry["contacts"], len(points), n_frames)))
        node = check_index(entry["node"], "node", len(nodes))
        clips.append(
            SampledClip(
                node,
                freeze_array(entry["parameters"], "parameters", (len(nodes[node].parameters),)),
                motion,
                check_index(entry["decide"], "decide", n_frames),
                freeze_array(entry["place"], "place", (3,)),
                freeze_array(entry["path"], "path", (n_path, 2)),
                None if entry["hit"] is None else freeze_array(entry["hit"], "hit", (3,)),
            )
        )
        rows += [(i, *each) for each in entry["next"]]
    half = check_index(content["half"], "half")
    transitions = _read_transitions(rows, clips, half)
    start = check_index(content["start"]["clip"], "start", len(clips))
    tables = _read_tables(content["values"], len(clips), len(nodes))
    return SampledCharacter(content["name"], nodes, tuple(clips), transitions, tables, half, start)


def _read_transitions(rows: list[Any], clips: list[SampledClip], half: int) -> ClipTransitions:
    table = freeze_array(np.array(rows, dtype=np.float64).reshape(-1, 8), "next", (None, 8))
    if np.abs(table[:, :4]).max(initial=0.0) > MAX_FRAMES:  # larger numbers may not fit integers
        raise InvalidValue("a transition is at a frame that its clips do not have")
    source, target, leave, enter = table[:, :4].astype(np.int64).T
    lengths = np.array([len(clip.motion) for clip in clips])
    decide = np.array([clip.decide for clip in clips])
    first = np.searchsorted(source, np.arange(len(clips) + 1))
    if (np.diff(first) == 0).any():
        raise InvalidValue(f"clip {int(np.argmin(np.diff(first)))} has no transition to another clip")
    if (target < 0).any() or (target >= len(clips)).any():
        raise InvalidValue("a transition leads to a clip that does not exist")
    wrong = (leave - half < decide[source]) | (leave + half >= lengths[source])
    wrong |= (enter - half < 0) | (enter + half >= decide[target])
    if wrong.any():
        raise InvalidValue(
            f"a transition of clip {int(source[np.argmax(wrong)])} is at a frame that its clips do not have"
        )
    return ClipTransitions(first, target, leave, enter, set_readonly(table[:, 4:7]), set_readonly(table[:, 7]))


def _read_tables(values: dict[str, Any], n_clips: int, n_nodes: int) -> ValueTables:
    speeds = freeze_array(values["speeds"], "speeds", (None,))
    distances = freeze_array(values["distances"], "distances", (None,))
    if not len(speeds) or speeds.min() <= 0.0 or len(distances) < 2 or np.diff(distances).min() <= 0.0:
        raise InvalidValue("speeds must be greater than 0, and distances must increase")
    grid = GoalGrid(distances, check_index(values["bearings"], "bearings"), 1, float(values["slowness"]))

    def read(name: str, shape: tuple[int | None, ...]) -> NDArray[np.float64]:
        return set_readonly(freeze_array(values[name], name, shape) / 1000.0)

    return ValueTables(
        speeds,
        read("direction", (len(speeds), n_clips, None)),
        read("point", (n_clips, len(distances) * grid.n_bearings)),
        read("node", (n_clips, n_nodes)),
        read("rest", (n_clips,)),
        grid,
    )


def _read_runs(runs: list[list[list[int]]], n_points: int, n_frames: int) -> Bools:
    if len(runs) != n_points:
        raise InvalidValue(f"contacts must have one list for each of {n_points} points, not {len(runs)}")
    mask = np.zeros((n_frames, n_points), dtype=bool)
    for k, each in enumerate(runs):
        for begin, stop in each:
            mask[begin:stop, k] = True
    return mask
