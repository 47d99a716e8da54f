"""C3D: marker positions, the standard format of motion capture labs.

All variants of the format are read: 16-bit integers and 32-bit floats, from Intel, DEC and MIPS machines, with or
without analog values between the frames.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marey.core.arrays import Bools, Floats, set_readonly
from marey.core.markers import Markers
from marey.core.source import Source
from marey.errors import ParseError
from marey.io import axes, unit_and_up_axis
from marey.io.c3d_parameters import Layout, Parameters, float_type, read_layout, to_floats
from marey.io.files import read_bytes
from marey.io.marker_axes import Clues, find_unit, find_up, look_at_markers

# Parameters that list points other than positions, named as in the format's manual and in Vicon's software.
_NOT_POSITIONS = ("ANGLES", "FORCES", "MOMENTS", "POWERS", "SCALARS", "REACTIONS")
# Number of values that are unpacked at once: large enough to be fast, small enough to save memory.
_PART_VALUES = 2**18


def read_c3d(path: str | os.PathLike[str], *, unit: str | float | None = None, up: str | None = None) -> Markers:
    """Read the markers of a C3D file, in meters, Y up.

    Parameters
    ----------
    unit : overrides POINT:UNITS; a name (m, cm, mm, in, cmu) or meters per unit.
    up : overrides the up axis ("y", "z", "x", "-y", "-z", "-x"), which by default comes from POINT:Y_SCREEN or from the
        posture of the markers.

    A marker is invalid in frames where its residual is negative, where a coordinate is not finite, or where it lies
    exactly at the origin, which some writers use for occluded markers. Points that the file lists as angles, forces,
    moments, powers or scalars are left out; markers without a label (``*12``) are kept.
    """
    name = os.fspath(path)
    given_unit = None if unit is None else unit_and_up_axis.parse_unit(unit)
    given_up = None if up is None else axes.check_up(up)
    data = read_bytes(name)
    layout, parameters = read_layout(data, name)
    evidence: list[str] = []
    all_labels = _labels(parameters, layout.n_points)
    selected = _markers_only(parameters, all_labels, evidence, name)
    labels = _unique_labels(all_labels, selected)
    positions, valid = _unpack_points(data, layout, selected)
    del data

    unit_word, up_word = ((parameters.texts("POINT", field) or [""])[0] for field in ("UNITS", "Y_SCREEN"))
    looks = look_at_markers(positions, valid, labels)
    clues = Clues(unit_word, "POINT:UNITS", up_word, "POINT:Y_SCREEN", looks, evidence, name)
    meters, upward = find_unit(clues, given_unit), find_up(clues, given_up)
    _to_meters_y_up(positions, upward, meters)
    return Markers(
        names=tuple(labels),
        positions=set_readonly(positions),
        valid=set_readonly(valid),
        fps=layout.fps,
        name=PurePath(name).stem,
        source=Source(path=name, format="c3d", unit=meters, up=upward, evidence=tuple(evidence)),
    )


def _unpack_points(data: bytes, layout: Layout, selected: Sequence[int]) -> tuple[Floats, Bools]:
    """Unpack the points `selected`: positions (F, M, 3) in the file's unit and axes, 0 if invalid; and validity (F, M).

    A point is four numbers: x, y, z, and a word that is negative if the point was occluded; otherwise it encodes which
    cameras saw the point and how well. Integers are multiples of `layout.scale`; floats are already in the file's unit.
    """
    width, order = (4, "") if layout.is_float else (2, ">" if layout.processor == "mips" else "<")
    raw: NDArray[Any] = np.ndarray(
        (layout.n_frames, layout.n_points, 4),
        dtype=float_type(layout.processor) if layout.is_float else f"{order}i2",
        buffer=data,
        offset=layout.start,
        strides=(layout.frame_bytes, 4 * width, width),
    )
    columns = slice(None) if len(selected) == layout.n_points else list(selected)
    positions = np.empty((layout.n_frames, len(selected), 3))
    valid = np.empty((layout.n_frames, len(selected)), dtype=np.bool_)
    for part in _split_frames(layout.n_frames, 4 * layout.n_points):
        chosen = raw[part, columns]
        values = to_floats(chosen, layout.processor) if layout.is_float else chosen.astype(np.float64)
        places = values[:, :, :3]
        seen = np.isfinite(places).all(axis=-1) & (values[:, :, 3] >= 0.0) & (places != 0.0).any(axis=-1)
        positions[part] = np.where(seen[:, :, None], places, 0.0)
        valid[part] = seen
    if not layout.is_float:
        positions *= layout.scale
    return positions, valid


def _to_meters_y_up(positions: Floats, up: str, meters: float) -> None:
    """Convert positions from the file's axes and unit to marey's, in place."""
    for part in _split_frames(len(positions), positions[0].size):
        positions[part] = axes.vectors_from_file(positions[part], up) * meters


def _split_frames(n_frames: int, frame_values: int) -> Iterator[slice]:
    """Split the frames into chunks that fit a small memory budget."""
    step = max(1, _PART_VALUES // frame_values)
    return (slice(begin, begin + step) for begin in range(0, n_frames, step))


def _labels(parameters: Parameters, n_points: int) -> list[str]:
    """Return the file's label of each point, "" if it has none."""
    labels = parameters.texts("POINT", "LABELS")[:n_points]
    return labels + [""] * (n_points - len(labels))


def _unique_labels(labels: Sequence[str], selected: Sequence[int]) -> list[str]:
    """Return unique names for the selected points: ``LANK_2`` for a second LANK, ``unlabeled3`` for no label."""
    wanted = [labels[i] or f"unlabeled{i}" for i in selected]
    taken, used = set(wanted), dict.fromkeys(wanted, 0)
    names: list[str] = []
    for name in wanted:
        used[name] += 1
        fresh = name
        while used[name] > 1 and (fresh := f"{name}_{used[name]}") in taken:
            used[name] += 1
        taken.add(fresh)
        names.append(fresh)
    return names


def _markers_only(parameters: Parameters, labels: Sequence[str], evidence: list[str], path: str) -> list[int]:
    """Return the indices of the points that are positions."""
    groups = set(_NOT_POSITIONS)
    stated = parameters.texts("POINT", "TYPE_GROUPS")
    # A table of two rows, stored column by column: the name of a list, then its kind.
    groups.update(g for g, kind in zip(stated[::2], stated[1::2], strict=False) if kind.upper() != "LENGTH")
    other = {label for group in groups for label in parameters.texts("POINT", group)} - {""}
    selected = [i for i, label in enumerate(labels) if label not in other]
    if not selected:
        raise ParseError(f"the file has no markers: all of its {len(labels)} points are computed values", path=path)
    if len(selected) < len(labels):
        evidence.append(
            f"{len(labels) - len(selected)} of {len(labels)} points are left out: the file lists them as angles, "
            "forces or other computed values, not positions"
        )
    return selected
