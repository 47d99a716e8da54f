"""TRC: marker positions as tab-separated text, written by Motion Analysis, OpenSim, Pose2Sim and OpenCap."""

from __future__ import annotations

import os
from pathlib import PurePath

import numpy as np

from marey.core.arrays import set_readonly
from marey.core.markers import Markers
from marey.core.source import Source
from marey.errors import ParseError
from marey.io import axes, limits, unit_and_up_axis
from marey.io.files import read_bytes
from marey.io.marker_axes import Clues, find_unit, find_up, look_at_markers
from marey.io.node_tree import unique_names
from marey.io.text_numbers import LARGEST

_N_HEADER = 5


def read_trc(path: str | os.PathLike[str], *, unit: str | float | None = None, up: str | None = None) -> Markers:
    """Read the markers of a TRC file, in meters, Y up.

    Parameters
    ----------
    unit : overrides Units; a name (m, cm, mm, in, cmu) or meters per unit.
    up : overrides the up axis ("y", "z", "x", "-y", "-z", "-x"), which is recognized from the posture of the markers.

    A marker is invalid in frames where one of its cells is empty or NaN.
    """
    name = os.fspath(path)
    given_unit = None if unit is None else unit_and_up_axis.parse_unit(unit)
    given_up = None if up is None else axes.check_up(up)
    lines = read_bytes(path).decode("utf-8-sig", errors="replace").splitlines()
    fields = _read_fields(lines, name)
    labels = _read_labels(lines[3], name)
    limits.check_markers(len(labels), name)
    rows = [(k, line) for k, line in enumerate(lines[_N_HEADER:], start=_N_HEADER + 1) if line.strip()]
    if not rows:
        raise ParseError("the file has no frames", path=name)
    positions = np.full((len(rows), 3 * len(labels)), np.nan)
    for row, (number, line) in zip(positions, rows, strict=True):
        cells = line.rstrip("\r\n").split("\t")[2:]
        if len(cells) > 3 * len(labels) and any(cell.strip() for cell in cells[3 * len(labels) :]):
            raise ParseError(
                f"expected {3 * len(labels)} coordinates after frame and time, got {len(cells)}", path=name, line=number
            )
        for k, cell in enumerate(cells[: 3 * len(labels)]):
            if cell.strip():
                row[k] = _read_number(cell, name, number)
    places = positions.reshape(len(rows), len(labels), 3)
    valid = np.isfinite(places).all(axis=2)
    places = np.where(valid[:, :, None], places, 0.0)
    evidence: list[str] = []
    looks = look_at_markers(places, valid, labels)
    clues = Clues(fields.get("units", ""), "Units", "", "", looks, evidence, name)
    meters, upward = find_unit(clues, given_unit), find_up(clues, given_up)
    fps = _read_number(fields.get("datarate", ""), name, 3)
    if not limits.MIN_FPS <= fps <= limits.MAX_FPS:
        raise ParseError(
            f"expected a DataRate from {limits.MIN_FPS:g} to {limits.MAX_FPS:g} frames per second, got "
            f"{fields.get('datarate', '')!r}",
            path=name,
        )
    return Markers(
        names=tuple(unique_names(labels)),
        positions=set_readonly(axes.vectors_from_file(places, upward) * meters),
        valid=set_readonly(valid),
        fps=fps,
        name=PurePath(name).stem,
        source=Source(path=name, format="trc", unit=meters, up=upward, evidence=tuple(evidence)),
    )


def _read_fields(lines: list[str], path: str) -> dict[str, str]:
    """Return the header's fields by their names in lower case."""
    if len(lines) < _N_HEADER or not lines[0].startswith("PathFileType") or "DataRate" not in lines[1]:
        raise ParseError(
            "not a TRC file: expected 'PathFileType' in its first line and 'DataRate' in its second", path=path
        )
    names, values = lines[1].split(), lines[2].split()
    return {name.lower(): value for name, value in zip(names, values, strict=False)}


def _read_labels(line: str, path: str) -> list[str]:
    """Return the names of the markers; each stands above the first of its three columns."""
    cells = [cell.strip() for cell in line.split("\t")]
    labels = [cell for cell in cells[2:] if cell]
    if not labels or not cells[0].lower().startswith("frame"):
        raise ParseError("expected 'Frame#', 'Time' and the names of the markers, separated by tabs", path=path, line=4)
    return labels


def _read_number(cell: str, path: str, line: int) -> float:
    limits = ""
    try:
        number = float(cell)
        if abs(number) > LARGEST:
            limits = f" from {-LARGEST:g} to {LARGEST:g}"
    except ValueError:
        number = np.inf
    if abs(number) > LARGEST or "_" in cell:
        raise ParseError(f"expected a number{limits}, got {cell.strip()[:40]!r}", path=path, line=line)
    return number
