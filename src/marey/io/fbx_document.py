"""The FBX container: the tree of elements in a binary or text file of version 7.

An element has a name, a list of values and child elements. Arrays stay packed until they are read, so the meshes and
textures in a file cost nothing. Nothing in the file is trusted: every length and count is checked against the actual
data before memory is allocated.
"""

from __future__ import annotations

import re
import struct
import zlib
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np

from marey.core.arrays import Floats, Ints
from marey.errors import LimitExceeded, ParseError, UnknownVersion
from marey.io import limits

MAGIC = b"Kaydara FBX Binary  \0\x1a\0"
HEADER_SIZE = len(MAGIC) + 4
# From this version on, lengths in binary files have 64 bits.
WIDE_VERSION = 7500
_OLDEST, _NEWEST = 7000, 8000
_MAX_DEPTH = 64
_MAX_ELEMENTS = 5_000_000

# The parts of a file that matter to a skeleton and its motion; the others are skipped.
_SECTIONS = ("FBXHeaderExtension", "GlobalSettings", "Definitions", "Objects", "Connections")
_OBJECTS = ("Model", "Pose", "AnimationStack", "AnimationLayer", "AnimationCurveNode", "AnimationCurve")

_SCALARS = {"Y": "<h", "C": "<?", "B": "<?", "I": "<i", "F": "<f", "D": "<d", "L": "<q"}
_ARRAYS = {"f": "<f4", "d": "<f8", "l": "<i8", "i": "<i4", "b": "u1", "c": "u1"}
_TOKEN = re.compile(
    r'\s*(?:;[^\n]*|"(?P<text>[^"]*)"|(?P<mark>[{}*,])|(?P<name>[^\s{}*,":;]+)\s*:(?!:)|(?P<word>[^\s{}*,":;]+))?'
)


@dataclass(slots=True)
class Element:
    """One element of the tree: its name, its values, and its child elements."""

    name: str
    values: list[Any] = field(default_factory=list)
    children: list[Element] = field(default_factory=list)

    def child(self, name: str) -> Element | None:
        """Return the first child named `name`, or None."""
        return next((each for each in self.children if each.name == name), None)


@dataclass(frozen=True, slots=True)
class PackedArray:
    """An array in a binary file that has not been decoded yet.

    kind : letter of the element type. count : number of elements. is_compressed : whether `data` is compressed.
    """

    kind: str
    count: int
    is_compressed: bool
    data: memoryview


class FbxDocument:
    """A parsed FBX file. Its methods take `what`, the name of the data, for error messages.

    Attributes
    ----------
    version : the format's version, such as 7400.
    sections : the sections that concern skeletons and motion, by name.
    warnings : problems that did not prevent reading the file.
    """

    def __init__(self, data: bytes, path: str) -> None:
        self.path, self.size = path, len(data)
        self.warnings: list[str] = []
        self._n_elements = self._spent = 0
        if data.startswith(MAGIC):
            self.version = self._read_version(data)
            elements = _BinaryReader(self, data).read()
        else:
            text, self.version = self._check_text(data)
            elements = _TextReader(self, text).read()
        self.sections: dict[str, list[Element]] = {}
        for element in elements:
            self.sections.setdefault(element.name, []).extend(element.children)

    def fail(self, message: str, line: int | None = None) -> NoReturn:
        raise ParseError(message, path=self.path, line=line)

    def count_element(self) -> None:
        self._n_elements += 1
        if self._n_elements > _MAX_ELEMENTS:
            raise LimitExceeded(f"the file has more than {_MAX_ELEMENTS} elements (the maximum)", path=self.path)

    def floats(self, element: Element | None, what: str) -> Floats:
        """Return the array in an element as floats (N,); empty if there is no element."""
        values = self._array(element, what)
        with np.errstate(all="ignore"):
            out = values.astype(np.float64)
        if not np.isfinite(out).all():
            self.fail(f"{what} has numbers that are not finite")
        return out

    def ints(self, element: Element | None, what: str) -> Ints:
        """Return the array in an element as integers (N,); empty if there is no element."""
        values = self._array(element, what)
        if values.dtype.kind == "f" and len(values):
            self.fail(f"{what} must be integers")
        return values.astype(np.int64)

    def float_bits(self, element: Element | None, what: str) -> Floats:
        """Return an array of floats that text files may store as the integers with the same bits."""
        values = self._array(element, what)
        if values.dtype == np.int64 and len(values):
            if np.abs(values).max() >= 2**32:
                self.fail(f"{what} must be numbers of 32 bits")
            values = (values & 0xFFFFFFFF).astype(np.uint32).view(np.float32)
        with np.errstate(all="ignore"):
            out: Floats = np.nan_to_num(values.astype(np.float64))
            return out

    def _array(self, element: Element | None, what: str) -> np.ndarray[Any, Any]:
        if element is None or not element.values:
            return np.zeros(0, dtype=np.int64)
        (value, *more) = element.values
        if isinstance(value, PackedArray) and not more:
            return self._unpack(value, what)
        if isinstance(value, np.ndarray):
            return value
        try:
            return np.array(
                element.values, dtype=np.float64 if any(isinstance(v, float) for v in element.values) else np.int64
            )
        except (TypeError, ValueError, OverflowError):
            self.fail(f"{what} must be numbers")

    def _unpack(self, packed: PackedArray, what: str) -> np.ndarray[Any, Any]:
        dtype = np.dtype(_ARRAYS[packed.kind])
        n_bytes = packed.count * dtype.itemsize
        self._spend(n_bytes)
        data: bytes | memoryview = packed.data
        if packed.is_compressed:
            try:
                data = zlib.decompressobj().decompress(packed.data, n_bytes + 1)
            except zlib.error as error:
                self.fail(f"{what} cannot be decompressed ({error})")
        if len(data) != n_bytes:
            self.fail(f"{what} must have {n_bytes} bytes, got {len(data)}")
        return np.frombuffer(data, dtype=dtype)

    def _spend(self, n_bytes: int) -> None:
        """Raise an error if the arrays would take far more memory than the file itself."""
        self._spent += n_bytes
        limits.check_expansion("its arrays", self._spent, self.size, self.path)

    def _read_version(self, data: bytes) -> int:
        if len(data) < HEADER_SIZE:
            self.fail(f"the file ends within the header: expected {HEADER_SIZE} bytes, got {len(data)}")
        return self._check_version(struct.unpack_from("<I", data, len(MAGIC))[0])

    def _check_version(self, version: int) -> int:
        if _OLDEST <= version < _NEWEST:
            return version
        shown = f"{version // 1000}.{version % 1000 // 100}"
        raise UnknownVersion(
            f"the file has FBX version {shown}, but only version 7 can be read (FBX 2011 and later); export the file "
            "again, or convert it, for example with Blender or Autodesk's FBX Converter",
            path=self.path,
        )

    def _check_text(self, data: bytes) -> tuple[str, int]:
        text = data.decode("utf-8", "replace")
        found = re.search(r"FBXVersion:\s*(\d{1,6})\b", text[:20_000])
        if found is None:
            start = "".join(char for char in bytes(data[:8]).decode("latin-1") if char.isprintable())
            self.fail(f"not an FBX file: expected a binary header or a text file with FBXVersion, got {start!r}")
        return text, self._check_version(int(found[1]))


class _BinaryReader:
    def __init__(self, document: FbxDocument, data: bytes) -> None:
        self.document, self.data = document, data
        self.view = memoryview(data)
        self.head = struct.Struct("<QQQB" if document.version >= WIDE_VERSION else "<IIIB")

    def read(self) -> list[Element]:
        return self._read_list(HEADER_SIZE, len(self.data), 0, _SECTIONS)

    def _read_list(self, start: int, end: int, depth: int, wanted: tuple[str, ...] | None) -> list[Element]:
        """Return the elements from byte `start` up to `end`, or up to the empty element that ends a list."""
        document, data, head = self.document, self.data, self.head
        if depth > _MAX_DEPTH:
            raise LimitExceeded(
                f"elements are nested more than {_MAX_DEPTH} levels deep (the maximum)", path=document.path
            )
        out: list[Element] = []
        at = start
        while at + head.size <= end:
            stop, n_values, values_size, name_size = head.unpack_from(data, at)
            if stop == 0:
                break
            first = at + head.size + name_size
            after = first + values_size
            if not (after <= stop <= end):
                document.fail(
                    f"the element at byte {at} has a length that does not fit the file; the file is cut off or damaged"
                )
            name = data[at + head.size : first].decode("utf-8", "replace")
            if wanted is None or name in wanted:
                document.count_element()
                below = _OBJECTS if depth == 0 and name == "Objects" else None
                values = self._read_values(first, after, n_values)
                out.append(Element(name, values, self._read_list(after, stop, depth + 1, below)))
            at = stop
        else:
            # Top-level lists end with an empty element and a footer; other lists may end without one.
            if depth == 0:
                document.fail(
                    f"the file ends at byte {at} without the end of its list of sections; the file is cut off"
                )
        return out

    def _read_values(self, position: int, end: int, count: int) -> list[Any]:
        data, document = self.data, self.document
        out: list[Any] = []
        for _ in range(count):
            kind = chr(data[position]) if position < end else ""
            position += 1
            if kind in _SCALARS:
                size = struct.calcsize(_SCALARS[kind])
                if position + size > end:
                    break
                out.append(struct.unpack_from(_SCALARS[kind], data, position)[0])
                position += size
            elif kind in ("S", "R") and position + 4 <= end:
                size = struct.unpack_from("<I", data, position)[0]
                position += 4
                if position + size > end:
                    break
                out.append(data[position : position + size].decode("utf-8", "replace") if kind == "S" else None)
                position += size
            elif kind in _ARRAYS and position + 12 <= end:
                n, encoding, size = struct.unpack_from("<III", data, position)
                position += 12
                size = size if encoding else n * np.dtype(_ARRAYS[kind]).itemsize
                if encoding > 1 or position + size > end:
                    break
                out.append(PackedArray(kind, n, encoding == 1, self.view[position : position + size]))
                position += size
            else:
                break
        if len(out) < count:
            document.fail(
                f"the value at byte {position} is damaged: it has an unknown type or does not fit its element"
            )
        return out


class _TextReader:
    def __init__(self, document: FbxDocument, text: str) -> None:
        self.document, self.text, self.at = document, text, 0

    def read(self) -> list[Element]:
        return [element for element in self._read_list(0) if element.name in _SECTIONS]

    def _line(self) -> int:
        return self.text.count("\n", 0, self.at) + 1

    def _next(self) -> tuple[str, str]:
        """Return kind and text of the next token; kind is "" at the end of the file."""
        while True:
            found = _TOKEN.match(self.text, self.at)
            assert found is not None
            if found.end() == self.at:
                if self.at < len(self.text):
                    self.document.fail(
                        f"expected a name or a value, got {self.text[self.at : self.at + 20]!r}", self._line()
                    )
                return "", ""
            self.at = found.end()
            if found.lastgroup is not None:
                return found.lastgroup, found[found.lastgroup]

    def _read_list(self, depth: int) -> list[Element]:
        """Return the elements up to the closing brace of the list."""
        if depth > _MAX_DEPTH:
            raise LimitExceeded(
                f"elements are nested more than {_MAX_DEPTH} levels deep (the maximum)", path=self.document.path
            )
        out: list[Element] = []
        kind, token = self._next()
        while kind == "name":
            element = Element(token)
            self.document.count_element()
            out.append(element)
            kind, token = self._next()
            while kind in ("text", "word") or (kind == "mark" and token in ",*"):
                if token == "*" and kind == "mark":
                    element.values.append(self._read_array())
                elif kind == "text":
                    element.values.append(token.replace("&quot;", '"'))
                elif kind == "word":
                    element.values.append(_parse_word(token))
                kind, token = self._next()
            if kind == "mark" and token == "{":
                element.children = self._read_list(depth + 1)
                kind, token = self._next()
        expected = ("mark", "}") if depth else ("", "")
        if (kind, token) != expected:
            got = "the end of the file" if not kind else repr(token)
            self.document.fail(
                f"expected {'a name or a closing brace' if depth else 'a name'}, got {got}", self._line()
            )
        return out

    def _read_array(self) -> np.ndarray[Any, Any]:
        """Read ``N { a: 1,2,3 }`` after the asterisk."""
        _, size = self._next()
        opening, (name_kind, name) = self._next(), self._next()
        end = self.text.find("}", self.at)
        if opening != ("mark", "{") or name_kind != "name" or name != "a" or end < 0:
            self.document.fail("expected an array as in '*2 { a: 1,2 }'", self._line())
        parts = self.text[self.at : end].split(",")
        line = self._line()
        self.at = end + 1
        if parts == [""] or parts[0].isspace():
            parts = []
        if not size.isdecimal() or int(size[:12]) != len(parts):
            self.document.fail(f"expected {size[:12]} numbers in the array, got {len(parts)}", line)
        try:
            return np.array([int(part) for part in parts], dtype=np.int64)
        except (ValueError, OverflowError):
            pass
        try:
            return np.array([float(part) for part in parts])
        except ValueError:
            self.document.fail("expected numbers in the array", line)


def _parse_word(word: str) -> Any:
    """Return a number if the word is one, else the word."""
    if len(word) <= 40:
        try:
            return int(word)
        except ValueError:
            pass
        try:
            return float(word)
        except ValueError:
            pass
    return word
