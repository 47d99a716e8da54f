"""The GLB container: header and chunks, the JSON document, and accessors decoded from the binary chunk.

Nothing in the file is trusted: every index, type, length and count is checked against the actual data before memory is
allocated.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from marey.core.arrays import Floats
from marey.errors import ParseError
from marey.io import limits
from marey.io.node_tree import Nodes, build_nodes
from marey.io.text_numbers import refuse_constant
from marey.maths import quat

MAGIC = b"glTF"
JSON_CHUNK = 0x4E4F534A
BIN_CHUNK = 0x004E4942
COMPONENTS = {5120: "i1", 5121: "u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}
INTERPOLATIONS = ("LINEAR", "STEP", "CUBICSPLINE")
_HUGE = 2**53  # larger integers cannot be counts, and may have thousands of digits
_COMPRESSION = ("EXT_meshopt_compression", "KHR_meshopt_compression")

Json = Mapping[str, Any]


def pack_glb(document: Json, binary: bytes) -> bytes:
    """Build a GLB file from a JSON document and its only buffer; both chunks are padded to 4 bytes."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # A lone surrogate in a name has no UTF-8 encoding; write '?' instead of failing.
    chunks = [(JSON_CHUNK, _pad(text.encode("utf-8", "replace"), b" "))]
    if binary:
        chunks.append((BIN_CHUNK, _pad(binary, b"\0")))
    total = 12 + sum(8 + len(body) for _, body in chunks)
    parts = [struct.pack("<4sII", MAGIC, 2, total)]
    for kind, body in chunks:
        parts += [struct.pack("<II", len(body), kind), body]
    return b"".join(parts)


def _pad(body: bytes, filler: bytes) -> bytes:
    return body + filler * (-len(body) % 4)


@dataclass(frozen=True, slots=True)
class Track:
    """The keys of one animated property.

    clock : index of the accessor that holds the times.
    times : (K,) seconds.
    values : (K, C), or (3 K, C) for CUBICSPLINE, where each key has an in-tangent, a value and an out-tangent.
    interpolation : "STEP", "LINEAR" or "CUBICSPLINE".
    """

    clock: int
    times: Floats
    values: Floats
    interpolation: str

    @property
    def key_values(self) -> Floats:
        """The values (K, C) at the keys, without tangents."""
        return self.values[1::3] if self.interpolation == "CUBICSPLINE" else self.values

    def sample(self, keys: Floats, frames: Floats) -> Floats:
        """Return the values (F, C) at `frames` (F,); `keys` (K,) are the key times in frames.

        The first key is held before it, the last key after it. Rotations (C = 4) need not have unit length; a rotation
        of length 0 raises `InvalidValue`.
        """
        values = self.key_values
        if np.array_equal(keys, frames):  # sampled at exactly this rate, as most captures are
            return values
        found = np.searchsorted(keys, frames, side="right") - 1
        if self.interpolation == "STEP" or len(keys) == 1:
            return values[np.clip(found, 0, len(keys) - 1)]
        before = np.clip(found, 0, len(keys) - 2)
        after = before + 1
        span = keys[after] - keys[before]
        t = np.clip((frames - keys[before]) / np.where(span > 0.0, span, 1.0), 0.0, 1.0)
        if self.interpolation == "LINEAR":
            if values.shape[1] == 4:
                return quat.slerp(quat.normalize(values[before]), quat.normalize(values[after]), t)
            return values[before] + t[:, None] * (values[after] - values[before])
        seconds = (self.times[after] - self.times[before])[:, None]
        into, out = self.values[0::3], self.values[2::3]
        t = t[:, None]
        return np.asarray(
            (2 * t**3 - 3 * t**2 + 1) * values[before]
            + seconds * (t**3 - 2 * t**2 + t) * out[before]
            + (3 * t**2 - 2 * t**3) * values[after]
            + seconds * (t**3 - t**2) * into[after]
        )


class Gltf:
    """A parsed GLB file, with checked access to its parts. `where` is the location in the document, for error messages.

    Attributes
    ----------
    document : the JSON chunk.
    binary : the BIN chunk; empty if there is none.
    size : size of the whole file in bytes.
    warnings : problems that did not prevent reading the file.
    """

    def __init__(self, data: bytes, path: str) -> None:
        self.path = path
        self.size = len(data)
        self.warnings: list[str] = []
        text, self.binary = self._split(data)
        self.document = self._parse(text)
        self._lists: dict[str, list[Json]] = {}
        self._decoded: dict[int, Floats] = {}
        self._rising: set[int] = set()
        self._spent = 0

    def fail(self, message: str) -> NoReturn:
        raise ParseError(message, path=self.path)

    # The container.

    def _split(self, data: bytes) -> tuple[memoryview, memoryview]:
        """Return the bodies of the JSON and the BIN chunk."""
        if data[:4] != MAGIC:
            if data[:64].lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
                self.fail(
                    "this is glTF as JSON text, and only binary .glb is read; convert it, for example with "
                    "'npx @gltf-transform/cli copy in.gltf out.glb'"
                )
            start = "".join(char for char in bytes(data[:4]).decode("latin-1") if char.isprintable())
            self.fail(f"not a GLB file: expected it to start with 'glTF', got {start!r}; export it as binary glTF")
        if len(data) < 12:
            self.fail(f"the file ends within the header: expected 12 bytes, got {len(data)}")
        version, length = struct.unpack_from("<II", data, 4)
        if version != 2:
            self.fail(f"expected glTF version 2, got version {version}; export the file again as glTF 2.0")
        if length > len(data):
            self.fail(f"the file is cut short: its header announces {length} bytes, but it has {len(data)}")
        if length < len(data):
            self.warnings.append(f"{len(data) - length} bytes follow the end of the GLB file and are ignored")
        text: memoryview | None = None
        binary = memoryview(b"")
        body, at, n_chunks = memoryview(data)[: max(length, 12)], 12, 0
        while at < len(body):
            if at + 8 > len(body):
                self.fail(f"chunk {n_chunks} is cut short within its header at byte {at}")
            size, kind = struct.unpack_from("<II", body, at)
            at += 8
            if at + size > len(body):
                self.fail(f"chunk {n_chunks} is cut short: expected {size} bytes, got {len(body) - at}")
            if n_chunks == 0 and kind == JSON_CHUNK:
                text = body[at : at + size]
            elif n_chunks == 1 and kind == BIN_CHUNK:
                binary = body[at : at + size]
            at += size
            n_chunks += 1
        if text is None:
            self.fail("expected a JSON chunk right after the header, got none")
        return text, binary

    def _parse(self, text: memoryview) -> Json:
        try:
            document = json.loads(bytes(text).decode("utf-8"), parse_constant=refuse_constant)
        except RecursionError:
            self.fail("the JSON chunk is nested too deeply")
        except ValueError as error:  # includes UnicodeDecodeError and JSONDecodeError
            self.fail(f"the JSON chunk cannot be parsed ({error})")
        if not isinstance(document, dict):
            self.fail("the JSON chunk must hold an object")
        asset = document.get("asset")
        version = asset.get("version") if isinstance(asset, dict) else None
        if not (isinstance(version, str) and version.split(".")[0] == "2"):
            self.fail(f"expected asset.version '2.0', got {quote(version)}")
        return document

    # The JSON document.

    def objects(self, key: str, parent: Json | None = None, where: str = "") -> list[Json]:
        """Return the array of objects under `key` of the document or of the object `parent`; [] if it is missing."""
        if parent is None and key in self._lists:
            return self._lists[key]
        value = (self.document if parent is None else parent).get(key, [])
        name = f"{where}.{key}" if where else key
        if not isinstance(value, list):
            self.fail(f"'{name}' must be an array, not {quote(value)}")
        for i, entry in enumerate(value):
            if not isinstance(entry, dict):
                self.fail(f"'{name}[{i}]' must be an object, not {quote(entry)}")
        if parent is None:
            self._lists[key] = value
        return value

    def child(self, parent: Json, key: str, where: str) -> Json:
        """Return the object under `key`; {} if it is missing."""
        value = parent.get(key, {})
        if not isinstance(value, dict):
            self.fail(f"'{where}.{key}' must be an object, not {quote(value)}")
        return value

    def integer(self, parent: Json, key: str, where: str, default: int | None = None) -> int:
        """Return a whole number of at least 0; it is required if it has no default."""
        value = parent.get(key, default)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < _HUGE:
            self.fail(f"'{where}.{key}' must be a whole number of at least 0, not {quote(value)}")
        return value

    def index(self, parent: Json, key: str, where: str, count: int) -> int:
        """Return a required whole number below `count`."""
        value = self.integer(parent, key, where)
        if value >= count:
            self.fail(f"'{where}.{key}' must be an index below {count}, not {quote(value)}")
        return value

    def indices(self, parent: Json, key: str, where: str, count: int) -> list[int]:
        """Return an array of whole numbers below `count`; [] if it is missing."""
        value = parent.get(key, [])
        if not isinstance(value, list):
            self.fail(f"'{where}.{key}' must be an array, not {quote(value)}")
        return [self.index({key: entry}, key, where, count) for entry in value]

    def numbers(self, parent: Json, key: str, n: int, where: str) -> Floats | None:
        """Return n finite numbers as an array (n,), or None if the key is missing."""
        value = parent.get(key)
        if value is None:
            return None
        if not isinstance(value, list) or len(value) != n:
            self.fail(f"'{where}.{key}' must be an array of {n} numbers, not {quote(value)}")
        if any(isinstance(entry, bool) or not isinstance(entry, int | float) for entry in value):
            self.fail(f"'{where}.{key}' must hold numbers only, not {quote(value)}")
        try:
            array = np.array([float(entry) for entry in value])
        except OverflowError:
            array = np.array([np.inf])
        if not np.isfinite(array).all():
            self.fail(f"'{where}.{key}' must hold finite numbers, not {quote(value)}")
        return array

    def text(self, parent: Json, key: str, where: str, default: str = "") -> str:
        """Return a string that can be encoded as UTF-8."""
        value = parent.get(key, default)
        if not isinstance(value, str):
            self.fail(f"'{where}.{key}' must be a string, not {quote(value)}")
        return value.encode("utf-8", "replace").decode("utf-8")

    # Accessors.

    def accessor(self, index: int, width: int) -> Floats:
        """Return an accessor's values (count, width) as finite float64; normalized integers become fractions."""
        if index not in self._decoded:
            self._decoded[index] = self._decode(index, width)
        values = self._decoded[index]
        if values.shape[1] != width:
            self.fail(f"accessor {index} is used both with {values.shape[1]} and with {width} components")
        return values

    def track(self, sampler: Json, width: int, where: str, what: str) -> Track:
        """Read the keys of an animation sampler. Messages name its location `where` and the property `what`."""
        interpolation = self.text(sampler, "interpolation", where, "LINEAR")
        if interpolation not in INTERPOLATIONS:
            expected = " or ".join(INTERPOLATIONS)
            self.fail(f"{what} has interpolation {quote(interpolation)}; expected {expected}")
        n_accessors = len(self.objects("accessors"))
        clock = self.index(sampler, "input", where, n_accessors)
        times = self.accessor(clock, 1)
        if clock not in self._rising:
            if np.any(np.diff(times[:, 0]) < 0.0):
                self.fail(f"the key times of {what} must increase, but some go back in time")
            self._rising.add(clock)
        values = self.accessor(self.index(sampler, "output", where, n_accessors), width)
        wanted = len(times) * (3 if interpolation == "CUBICSPLINE" else 1)
        if len(values) < wanted:
            self.fail(f"{what} has {len(times)} key times for {len(values)} values; expected {wanted} values")
        return Track(clock, times[:, 0], values[:wanted], interpolation)

    def _decode(self, index: int, width: int) -> Floats:
        where = f"accessors[{index}]"
        entry = self.objects("accessors")[index]
        kind = entry.get("type")
        if not isinstance(kind, str) or WIDTHS.get(kind) != width:
            wanted = next(name for name, n in WIDTHS.items() if n == width)
            self.fail(f"'{where}.type' must be {wanted!r} here, not {quote(kind)}")
        component = self._component(entry, where)
        count = self.integer(entry, "count", where)
        if count == 0:
            self.fail(f"'{where}.count' must be at least 1, not 0")
        stored: np.ndarray[Any, Any] | None = None
        if "bufferView" in entry:
            stored = self._view_elements(entry, where, count, width, component)
        self._spend(count * width * 8, where)
        values = np.zeros((count, width)) if stored is None else stored.astype(np.float64)
        if "sparse" in entry:
            self._replace_sparse(self.child(entry, "sparse", where), f"{where}.sparse", values, component)
        if not np.isfinite(values).all():
            i = int(np.flatnonzero(~np.isfinite(values).all(axis=1))[0])
            self.fail(f"accessor {index} holds {values[i].tolist()} at element {i}; expected finite numbers")
        if entry.get("normalized") is True and component.kind in "iu":
            values /= np.iinfo(component).max
            np.maximum(values, -1.0, out=values)
        values.flags.writeable = False
        return values

    def _component(self, entry: Json, where: str) -> np.dtype[Any]:
        code = self.integer(entry, "componentType", where)
        if code not in COMPONENTS:
            self.fail(f"'{where}.componentType' must be one of {sorted(COMPONENTS)}, not {quote(code)}")
        return np.dtype(COMPONENTS[code])

    def _view_elements(
        self, entry: Json, where: str, count: int, width: int, component: np.dtype[Any]
    ) -> np.ndarray[Any, Any]:
        """Return a view (count, width) of the part of the binary chunk that `entry` points to."""
        view = self.index(entry, "bufferView", where, len(self.objects("bufferViews")))
        start, length, step = self._view(view)
        offset = self.integer(entry, "byteOffset", where, 0)
        element = width * component.itemsize
        stride = step or element
        if stride < element:
            self.fail(f"bufferViews[{view}] has byteStride {stride}, less than the {element} bytes of an element")
        needed = offset + stride * (count - 1) + element
        if needed > length:
            self.fail(
                f"'{where}' reaches to byte {quote(needed)} of bufferViews[{view}], which has {length}; "
                "the file is cut short or its counts are wrong"
            )
        return np.ndarray((count, width), component, self.binary, start + offset, strides=(stride, component.itemsize))

    def _view(self, index: int) -> tuple[int, int, int]:
        """Return the first byte, length and stride (0 if none) of a bufferView, all within the binary chunk."""
        where = f"bufferViews[{index}]"
        view = self.objects("bufferViews")[index]
        for name in _COMPRESSION:
            if name in self.child(view, "extensions", where):
                self.fail(f"the animation is compressed with {name}, which is not supported; export it uncompressed")
        buffers = self.objects("buffers")
        number = self.index(view, "buffer", where, len(buffers))
        if number != 0 or "uri" in buffers[number]:
            self.fail(
                f"the animation lies in buffer {number} outside this file's binary chunk, which is not read; "
                "pack everything into one .glb"
            )
        held = self.integer(buffers[0], "byteLength", "buffers[0]")
        if held > len(self.binary):
            self.fail(f"'buffers[0].byteLength' is {quote(held)}, but the BIN chunk has {len(self.binary)} bytes")
        start = self.integer(view, "byteOffset", where, 0)
        length = self.integer(view, "byteLength", where)
        if start + length > held:
            self.fail(f"'{where}' ends at byte {quote(start + length)}, but the buffer has only {held} bytes")
        return start, length, self.integer(view, "byteStride", where, 0)

    def _replace_sparse(self, sparse: Json, where: str, values: Floats, component: np.dtype[Any]) -> None:
        count = self.integer(sparse, "count", where)
        if not 0 < count <= len(values):
            self.fail(f"'{where}.count' must be 1 to {len(values)}, the accessor's count, not {quote(count)}")
        places = self.child(sparse, "indices", where)
        kind = self._component(places, f"{where}.indices")
        if kind.kind != "u":
            self.fail(f"'{where}.indices.componentType' must be an unsigned integer type")
        at = self._view_elements(places, f"{where}.indices", count, 1, kind)[:, 0].astype(np.int64)
        if at.max() >= len(values):
            self.fail(f"'{where}.indices' must be below {len(values)}, the number of values, not {at.max()}")
        replaced = self.child(sparse, "values", where)
        values[at] = self._view_elements(replaced, f"{where}.values", count, values.shape[1], component)

    def _spend(self, n_bytes: int, where: str) -> None:
        """Raise an error if the decoded data exceed a multiple of the file size: accessors may overlap, or be zeros
        without data."""
        self._spent += n_bytes
        limits.check_expansion(f"the data up to '{where}'", self._spent, self.size, self.path)


def read_nodes(gltf: Gltf) -> Nodes:
    entries = gltf.objects("nodes")
    if not entries:
        gltf.fail("the file has no nodes and therefore no skeleton")
    children = [gltf.indices(entry, "children", f"nodes[{i}]", len(entries)) for i, entry in enumerate(entries)]
    return build_nodes(children, gltf.fail)


def quote(value: object) -> str:
    """Format a value for a message."""
    if value is None:
        return "nothing"
    if isinstance(value, list):
        return f"an array of {len(value)}"
    if isinstance(value, dict):
        return "an object"
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
