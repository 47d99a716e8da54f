"""Extract the skin from a GLB file, without its animations, for pages that store the frames separately."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from marey.core.motion import Motion
from marey.errors import ParseError
from marey.io.files import GENERATOR
from marey.io.glb_character import read_character
from marey.io.gltf_chunks import Gltf, pack_glb
from marey.studio.motion_history import Recording

# Top-level properties of the glTF document that a skin needs.
_SKIN_PARTS = (
    "asset", "extensionsRequired", "extensionsUsed", "images", "materials", "meshes", "nodes", "samplers", "scene",
    "scenes", "skins", "textures",
)  # fmt: skip


def find_skin(recording: Recording) -> bytes | None:
    """Return the skin of the file that the skeleton came from; None if there is none, or it does not fit."""
    data = read_character(recording) if isinstance(recording, Motion) else None
    return None if data is None else extract_skin(data)


def extract_skin(data: bytes) -> bytes | None:
    """Reduce the bytes of a GLB file to its skin; None if it has no usable skin.

    The skin is not usable if marey wrote the file (its mesh only stands in for limbs), if the file refers to other
    files (a page cannot load them), or if its compression is not supported.
    """
    try:
        gltf = Gltf(data, "")
        document = gltf.document
        if document["asset"].get("generator") == GENERATOR or not document.get("skins") or not document.get("meshes"):
            return None
        if any("uri" in each for key in ("buffers", "images") for each in gltf.objects(key)):
            return None
        return _pack_skin(document, bytes(gltf.binary))
    except (ParseError, LookupError, TypeError, AttributeError, ValueError):
        return None  # the motion is readable anyway; the page draws limbs instead


def _pack_skin(document: Any, binary: bytes) -> bytes:
    skin_document: dict[str, Any] = {key: _copy(document[key]) for key in _SKIN_PARTS if key in document}
    accessors = _Renumbering()
    for holder, key in _iterate_references(skin_document):
        holder[key] = accessors.of(holder[key])
    views = _Renumbering()
    skin_document["accessors"] = [_copy(document["accessors"][old]) for old in accessors.olds]
    places = [*skin_document["accessors"], *skin_document.get("images", [])]
    places += [
        each["sparse"][part]
        for each in skin_document["accessors"]
        if "sparse" in each
        for part in ("indices", "values")
    ]
    for each in places:
        if "bufferView" in each:
            each["bufferView"] = views.of(each["bufferView"])
    body, skin_document["bufferViews"] = bytearray(), []
    for old in views.olds:
        view = dict(document["bufferViews"][old])
        if view.get("extensions"):
            raise ParseError("the buffer is compressed", path="")
        start, length = view.get("byteOffset", 0), view["byteLength"]
        body += b"\0" * (-len(body) % 4)
        skin_document["bufferViews"].append({**view, "buffer": 0, "byteOffset": len(body)})
        body += binary[start : start + length]
    skin_document["buffers"] = [{"byteLength": len(body)}]
    return pack_glb(skin_document, bytes(body))


def _iterate_references(skin_document: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    """Yield each (container, key) that refers to an accessor."""
    for mesh in skin_document["meshes"]:
        for part in mesh["primitives"]:
            if part.get("extensions", {}).keys() & {"KHR_draco_mesh_compression"}:
                raise ParseError("the meshes are compressed", path="")
            yield from ((part["attributes"], name) for name in part["attributes"])
            if "indices" in part:
                yield part, "indices"
            for target in part.get("targets", ()):
                yield from ((target, name) for name in target)
    for skin in skin_document["skins"]:
        if "inverseBindMatrices" in skin:
            yield skin, "inverseBindMatrices"


class _Renumbering:
    """Assigns new indices in order of first use."""

    def __init__(self) -> None:
        self.olds: list[int] = []
        self._news: dict[int, int] = {}

    def of(self, old: int) -> int:
        if old not in self._news:
            self._news[old] = len(self.olds)
            self.olds.append(old)
        return self._news[old]


def _copy(value: Any) -> Any:
    """Deep-copy plain data."""
    if isinstance(value, dict):
        return {key: _copy(each) for key, each in value.items()}
    return [_copy(each) for each in value] if isinstance(value, list) else value
