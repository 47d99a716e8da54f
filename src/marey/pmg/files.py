"""Character files: the graph as a small text file, with the motion of its nodes in separate files in the same folder.

``NAME.json`` holds the nodes' ranges and the edges' samples. For each node it also holds the name of its space file and
a SHA-256 digest, which detects a space that has changed since the edges were built. Python functions cannot be saved; a
node made from a function must be passed again when the character is loaded.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from marey.errors import ParseError, UnknownName, UnknownVersion
from marey.io import archive
from marey.io.file_kinds import KINDS, read_format
from marey.io.files import FileTransaction, file_digest
from marey.parametric.space import ParametricMotion
from marey.pmg.action_space import ActionSpace
from marey.pmg.character import ParametricMotionGraph
from marey.pmg.edge import Edge
from marey.pmg.gait_space import GaitSpace
from marey.pmg.layered_space import LayeredSpace
from marey.pmg.node import Node, Request
from marey.pmg.node_files import SpaceFile, SpaceFiles
from marey.pmg.requests import find_request, request_name
from marey.pmg.space import Space, as_space

FORMAT = "marey.pmg"
VERSION = 1

_ARRAYS = ("parameters", "low", "high", "fallback", "moments", "scale", "costs")
# Fields whose name in files differs.
_KEYS = {"fallback": "surest"}
_PLAIN = ("source", "target", "good", "bad", "worst")
_KINDS: dict[str, Any] = {"gait": GaitSpace, "action": ActionSpace, "parametric": ParametricMotion}


def save_character(
    graph: ParametricMotionGraph, path: str | os.PathLike[str], *, spare: Iterable[str | os.PathLike[str]] = ()
) -> None:
    """Write the character as `.json`, and each space that can be saved as `.npz` next to it.

    Space files are named by their content. Those that are up to date are not written again, and none is overwritten.
    The `.json` is renamed last, so a failure at any time leaves the previous character intact. Spaces that only the
    previous character needed are then removed.

    Parameters
    ----------
    spare : files that must stay, such as the source file of a node.
    """
    archive.check_suffix(path, ".json", KINDS[FORMAT])
    with FileTransaction() as writing:
        files = SpaceFiles(Path(path), graph._space_files, writing, spare)
        described = json.dumps(_describe_graph(graph, files), separators=(",", ":"), allow_nan=False)
        files.commit(writing.stage(path, [described.encode(), b"\n"]))


def _describe_graph(graph: ParametricMotionGraph, files: SpaceFiles) -> dict[str, Any]:
    """Return the content of the .json file; write the spaces to their own files."""
    nodes = []
    for node in graph.nodes.values():
        nodes.append(
            {
                "name": node.name,
                "of": node.parent,
                "low": node.low.tolist(),
                "high": node.high.tolist(),
                "request": request_name(node.request) or "given",
                "space": _save_space(node.space, node.name, files),
            }
        )
    seams = graph.seams
    return {
        "format": FORMAT,
        "version": VERSION,
        "name": graph.name,
        "transitions": {"length": seams.length, "region": seams.region, "markers": seams.markers},
        "nodes": nodes,
        "edges": [
            {name: getattr(edge, name) for name in _PLAIN}
            | ({"chosen": True} if edge.is_chosen else {})
            | {_KEYS.get(name, name): getattr(edge, name).tolist() for name in _ARRAYS}
            for edge in graph.edges.values()
        ],
    }


def load_character(
    path: str | os.PathLike[str], spaces: Mapping[str, Any], requests: Mapping[str, Request]
) -> ParametricMotionGraph:
    """Read a character from a file written by `save_character`; see `ParametricMotionGraph.load`."""
    name = os.fspath(path)
    described = archive.read_json(path, FORMAT, VERSION)
    with archive.validating(name, FORMAT):
        transitions = described["transitions"]
        graph = ParametricMotionGraph(
            described["name"], **{key: transitions[key] for key in ("length", "region", "markers")}
        )
        known: dict[str, Any] = {}
        for each in described["nodes"]:
            graph._put(node=_load_node(each, Path(name), spaces, requests, known))
        graph._space_files.update(_map_files(known, Path(name).absolute()))
        for each in described["edges"]:
            for end in (each["source"], each["target"]):
                graph[end]
            fields: dict[str, Any] = {key: each[key] for key in _PLAIN}
            fields |= {name: np.array(each[_KEYS.get(name, name)], dtype=np.float64) for name in _ARRAYS}
            graph._put(edge=Edge(**fields, is_chosen=bool(each.get("chosen", False))))
    return graph


def _unwrap_space(space: Space) -> Any:
    """Return the object to save: the `ParametricMotion` inside a wrapper, otherwise the space itself."""
    return getattr(space, "motion", space)


def _save_space(space: Space, name: str, files: SpaceFiles) -> dict[str, Any]:
    """Write a space, unless it is already written, and return the description of its file for the .json file.

    The description of a layered space contains those of its base space and its gaze map.
    """
    stored = _unwrap_space(space)
    kinds = [kind for kind, each in _KINDS.items() if isinstance(stored, each)]
    if isinstance(stored, LayeredSpace) and stored.gaze is not None:
        under = _save_space(stored.space, name, files)
        if under["kind"] != "given":
            gaze = files.put(stored.gaze, "gaze", name)
            return {"kind": "layered", "space": under, "gaze": gaze, "yaw": stored.yaw, "pitch": stored.pitch}
    elif kinds:
        return files.put(stored, kinds[0], name)
    return {"kind": "given"}


def _load_node(
    described: Mapping[str, Any],
    path: Path,
    spaces: Mapping[str, Any],
    requests: Mapping[str, Request],
    known: dict[str, Any],
) -> Node:
    name, about = described["name"], described["space"]
    if name in spaces:
        space = as_space(spaces[name])
    elif about["kind"] == "given":
        raise UnknownName(
            f"node {name!r} is a Python function, which cannot be saved; pass it again: spaces={{{name!r}: ...}}"
        )
    else:
        space = _load_space(about, path, known)
    if name in requests:
        request = requests[name]
    elif described["request"] == "given":
        raise UnknownName(f"node {name!r} has a custom request function; give it again: requests={{{name!r}: ...}}")
    else:
        request = find_request(described["request"], f"node {name!r}")
    return Node(name, space, described["low"], described["high"], request, described["of"])


def _load_space(about: Mapping[str, Any], path: Path, known: dict[str, Any]) -> Any:
    """Load a space or gaze map from its description; each file is read only once and cached in `known`."""
    key = json.dumps(about, sort_keys=True)
    if key not in known:
        if about["kind"] == "layered":
            under, gaze = (_load_space(about[part], path, known) for part in ("space", "gaze"))
            known[key] = LayeredSpace(under, gaze, tuple(about["yaw"]), tuple(about["pitch"]))
        else:
            known[key] = _load_file(about, path)
    return known[key]


def _map_files(known: Mapping[str, Any], path: Path) -> dict[int, SpaceFile]:
    """Return the file of each loaded object, keyed by the object's identity."""
    out: dict[int, SpaceFile] = {}
    for key, space in known.items():
        about = json.loads(key)
        if "file" in about:
            value = space if about["kind"] == "gaze" else _unwrap_space(space)
            out[id(value)] = SpaceFile(value, path, about)
    return out


def _load_file(about: Mapping[str, Any], path: Path) -> Any:
    file = path.with_name(Path(about["file"]).name)
    if file_digest(file) != about["sha256"]:
        raise ParseError(
            f"has changed since {path.name!r} was saved, so the edges may be invalid; restore it, or build the "
            "character again",
            path=file,
        )
    if about["kind"] == "gaze":
        from marey.layer.gaze_map import GazeMap

        return GazeMap.load(file)
    if about["kind"] not in _KINDS:
        raise ParseError(f"unknown kind of space {about['kind']!r}; load it with a newer version of marey", path=path)
    return as_space(_KINDS[about["kind"]].load(file))


def load_any_space(path: str | os.PathLike[str]) -> GaitSpace | ActionSpace | ParametricMotion:
    """Read a gait space, an action space or a `ParametricMotion`, depending on the format that the file states."""
    form = read_format(path)
    kind = next((each for each in (GaitSpace, ActionSpace) if each.FILE.name == form), ParametricMotion)
    try:
        return kind.load(path)
    except UnknownVersion as error:
        raise UnknownVersion(
            f"is not a space of motions as written by `marey parametric build` ({error.message})", path=os.fspath(path)
        ) from None
