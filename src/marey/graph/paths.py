"""Paths on the floor, (N, 2) x, z in meters: read from files, or in the shape of written words."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

import numpy as np

from marey.core.arrays import Floats
from marey.errors import InvalidValue, ParseError, UnknownFormat, plural
from marey.graph.letters import LETTERS
from marey.io.files import read_bytes, split_name

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_COMMAND = re.compile(r"([MmLlHhVvCcSsQqTtAaZz])|(" + _NUMBER.pattern + ")")
_CURVE_POINTS = 24
# Maximum length of a path and width of a word.
_MAX_METERS = 100_000
_COUNTS = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "S": 4, "Q": 4, "T": 2}


def read_path(path: str | os.PathLike[str], *, length: float | None = None) -> Floats:
    """Read a path (N, 2) of x, z in meters from a file.

    A .csv file has one point ``x,z`` per line, without repeated points; semicolons and spaces separate numbers, too,
    and a first line without numbers is a header. From an .svg drawing, the first path is read.

    Parameters
    ----------
    path : name of a .csv or .svg file.
    length : scale the path to this length in meters and start it at the origin; required for drawings, which have no
        unit.

    Examples
    --------
    >>> np.savetxt("path.csv", [[0, 0], [0, 2], [1, 4]], delimiter=",")
    >>> marey.graph.read_path("path.csv")
    array([[0., 0.],
           [0., 2.],
           [1., 4.]])
    """
    name = os.fspath(path)
    text = read_bytes(path).decode("utf-8", errors="replace")
    suffix = split_name(path)[1]
    if suffix == ".csv":
        points = _read_csv(text, name)
    elif suffix == ".svg":
        points = _read_svg(text, name)
        # A closed drawing repeats its first point.
        points = points[np.concatenate([[True], np.hypot(*np.diff(points, axis=0).T) > 0.0])]
        if length is None:
            raise InvalidValue(
                f"{name}: a drawing has no unit",
                parameter="length",
                remedy="give the length of its path in meters as `length=`",
            )
    else:
        raise UnknownFormat(
            f"expected a .csv or .svg file with the path to follow, got {suffix or 'a file without a suffix'}",
            path=name,
        )
    if len(points) < 2:
        raise ParseError("the path must have at least 2 different points", path=name)
    return points if length is None else _scale_path(points, length)


def word_path(word: str, width: float) -> Floats:
    """Make a path (N, 2) of x, z in meters that writes a word on the floor.

    The path starts at the origin and runs along -X; letters stand up along +Z. A viewer who looks along +Z can read it,
    because -X is to the right for that viewer. Each letter is one stroke, joined to the next by a straight line.

    Parameters
    ----------
    word : letters a to z, A to Z, digits and spaces.
    width : width of the whole word in meters.

    Examples
    --------
    >>> path = marey.graph.word_path("go", width=6.0)
    >>> float(np.ptp(path[:, 0]).round(3)), path.shape[1]
    (6.0, 2)
    """
    unknown = sorted({letter for letter in word if letter != " " and letter not in LETTERS})
    if unknown or not word.strip():
        raise InvalidValue(f"word must contain only the letters a to z, A to Z, digits and spaces, not {word!r}")
    _check_meters(width, "width")
    strokes, at = [], 0.0
    for letter in word:
        if letter == " ":
            at += 0.6
            continue
        stroke = np.array(LETTERS[letter], dtype=np.float64)
        strokes.append(stroke + [at, 0.0])
        at += float(stroke[:, 0].max()) + 0.15
    points = np.concatenate(strokes)
    points = _round_corners(points[np.concatenate([[True], np.hypot(*np.diff(points, axis=0).T) > 1e-9])])
    points -= points[0]
    scale = width / float(np.ptp(points[:, 0]))
    # Writing runs to the right along -X: seen from above with +Z up the page, +X is to the left.
    return np.stack([-points[:, 0], points[:, 1]], axis=1) * scale


def _round_corners(points: Floats) -> Floats:
    """Round corners by cutting them twice (Chaikin 1974). Long strokes are subdivided first, so they stay straight."""
    pieces = np.maximum(np.ceil(np.hypot(*np.diff(points, axis=0).T) / 0.4).astype(int), 1)
    at = np.concatenate([[0.0], *(k + np.arange(1, n + 1) / n for k, n in enumerate(pieces))])
    points = np.stack([np.interp(at, np.arange(len(points)), points[:, c]) for c in (0, 1)], axis=1)
    for _ in range(2):
        before, after = points[:-1], points[1:]
        cut = np.stack([0.75 * before + 0.25 * after, 0.25 * before + 0.75 * after], axis=1).reshape(-1, 2)
        points = np.concatenate([points[:1], cut, points[-1:]])
    return points


def _check_meters(value: float, name: str) -> None:
    if not 0.0 < value <= _MAX_METERS:
        raise InvalidValue(
            f"{name} must be greater than 0 m and at most {_MAX_METERS:,} m, not {value:g}", parameter=name
        )


def _scale_path(points: Floats, length: float) -> Floats:
    _check_meters(length, "length")
    return np.asarray((points - points[0]) * (length / float(np.hypot(*np.diff(points, axis=0).T).sum())))


def _read_csv(text: str, path: str) -> Floats:
    rows: list[tuple[float, float]] = []
    header = ""
    for number, line in enumerate(text.splitlines(), start=1):
        stripped = line.strip().lstrip("\ufeff")
        if not stripped or stripped.startswith("#"):
            continue
        parts = re.split(r"[,;\s]+", stripped.strip(",;"))
        try:
            x, z = (float(part) for part in parts)
        except ValueError:
            if not rows and not any(_NUMBER.fullmatch(part) for part in parts):
                header = stripped[:40]
                continue
            raise ParseError(f"expected x,z in meters, got {stripped[:40]!r}", path=path, line=number) from None
        if not (np.isfinite(x) and np.isfinite(z)):
            raise ParseError(f"expected finite numbers, got {stripped[:40]!r}", path=path, line=number)
        if rows and rows[-1] == (x, z):
            raise ParseError(
                f"the point {x:g},{z:g} repeats the one on the previous line; remove one of them",
                path=path,
                line=number,
            )
        rows.append((x, z))
    if len(rows) < 2:
        found = f"it has {plural(len(rows), 'point')}" + f" below the header {header!r}" * bool(header)
        raise ParseError(f"a path needs at least 2 points, but {found}; write x,z in meters on each line", path=path)
    return np.array(rows)


def _read_svg(text: str, path: str) -> Floats:
    """Read the points of the first path of a drawing and convert them to floor coordinates: y points down the page, z
    up."""
    found = re.search(r"<path\b[^<>]*?\sd\s*=\s*([\"'])(.*?)\1", text, re.DOTALL)
    if found is not None:
        points = np.array(list(_svg_points(found[2], path)))
    else:
        line = re.search(r"<poly(?:line|gon)\b[^<>]*?\spoints\s*=\s*([\"'])(.*?)\1", text, re.DOTALL)
        if line is None:
            raise ParseError("the file has no <path> or <polyline>; draw one", path=path)
        numbers = [float(number) for number in _NUMBER.findall(line[2])]
        if len(numbers) % 2:
            raise ParseError(f"a polyline needs pairs of numbers, but this one has {len(numbers)} numbers", path=path)
        points = np.array(numbers).reshape(-1, 2)
    if len(points) < 2 or not np.isfinite(points).all():
        raise ParseError("the path must have at least 2 points with finite coordinates", path=path)
    # Seen from above with +Z up the page, +X is to the left.
    return -points


def _svg_points(data: str, path: str) -> Iterator[tuple[float, float]]:
    """Yield the points of SVG path data; curves become straight segments."""
    tokens = _COMMAND.findall(data)
    here, start, control = np.zeros(2), np.zeros(2), None
    command, k, begun = "", 0, False
    while k < len(tokens):
        letter = tokens[k][0]
        if letter:
            command = letter
            k += 1
            if command in "Zz":
                if begun:
                    yield float(start[0]), float(start[1])
                here, control = start, None
                continue
        kind = command.upper()
        if kind not in _COUNTS:
            got = f"path command {command!r} is not supported" if command else "a path must begin with a command"
            raise ParseError(f"{got}; use lines and curves", path=path)
        values = [float(number) for mark, number in tokens[k : k + _COUNTS[kind]] if not mark]
        if len(values) != _COUNTS[kind]:
            needed, found = _COUNTS[kind], len(values)
            raise ParseError(f"path command {command!r} needs {needed} numbers, got {found}", path=path)
        k += _COUNTS[kind]
        if kind == "M":
            if begun:
                return  # ignore further subpaths
            here = start = np.array(values) + (here if command == "m" else 0.0)
            begun, command = True, "l" if command == "m" else "L"
            yield float(here[0]), float(here[1])
            continue
        base = here if command.islower() else np.zeros(2)
        curve, control = _svg_curve(kind, np.array(values), base, here, control)
        for point in curve[1:]:
            yield float(point[0]), float(point[1])
        here = curve[-1]


def _svg_curve(
    kind: str, values: Floats, base: Floats, here: Floats, control: Floats | None
) -> tuple[Floats, Floats | None]:
    """Return points along one segment of an SVG path, and the control point that a following smooth curve mirrors (or
    None).

    kind : the letter of the SVG command. values : its numbers. base : (2,) position to which these are relative.
    here : (2,) start of the segment. control : the control point that this segment mirrors, or None.
    """
    if kind in "LHV":
        x = here[0] if kind == "V" else base[0] + values[0]
        y = here[1] if kind == "H" else base[1] + values[-1]
        return np.stack([here, [x, y]]), None
    points = values.reshape(-1, 2) + base
    if kind in "ST":
        points = np.concatenate([(here if control is None else 2.0 * here - control)[None], points])
    t = np.linspace(0.0, 1.0, _CURVE_POINTS)[:, None]
    if kind in "CS":
        a, b, end = points
        curve = (1 - t) ** 3 * here + 3 * (1 - t) ** 2 * t * a + 3 * (1 - t) * t**2 * b + t**3 * end
        return curve, b
    a, end = points
    return (1 - t) ** 2 * here + 2 * (1 - t) * t * a + t**2 * end, a
