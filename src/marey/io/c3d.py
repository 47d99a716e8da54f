"""C3D: marker positions, the standard format of motion capture labs.

Reads all variants of the format: 16-bit integers and 32-bit floats, from Intel, DEC and MIPS machines, with or without
analog values between the frames.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marey.core.arrays import Bools, Floats, set_readonly
from marey.core.markers import Markers
from marey.core.source import Source
from marey.errors import ParseError, warn_user
from marey.io import axes, recognize
from marey.io.c3d_parameters import Layout, Parameters, float_type, read_layout, to_floats
from marey.io.files import read_bytes

# Parameters that list points other than positions, named as in the format's manual and in Vicon's software.
_NOT_POSITIONS = ("ANGLES", "FORCES", "MOMENTS", "POWERS", "SCALARS", "REACTIONS")
_UNIT_WORDS = {
    "m": 1.0, "meter": 1.0, "dm": 0.1, "cm": 0.01, "centimeter": 0.01, "mm": 0.001, "millimeter": 0.001,
    "in": 0.0254, "inch": 0.0254, "inches": 0.0254, "ft": 0.3048, "foot": 0.3048, "feet": 0.3048,
}  # fmt: skip
_N_LOOKS = 64
# How much worse the second-best up axis must fit for the best one to be certain, in body sizes.
_CLEAR = 0.2
_STATURE = 1.7
# Values unpacked at a time: large enough to be fast, small enough to save memory.
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
    given_unit = None if unit is None else recognize.parse_unit(unit)
    given_up = None if up is None else axes.check_up(up)
    data = read_bytes(name)
    layout, parameters = read_layout(data, name)
    evidence: list[str] = []
    all_labels = _labels(parameters, layout.n_points)
    selected = _markers_only(parameters, all_labels, evidence, name)
    labels = _unique_labels(all_labels, selected)
    positions, valid = _unpack_points(data, layout, selected)
    del data

    looks = _look(positions, valid, labels)
    clues = _Clues(parameters, looks, evidence, name)
    meters = _find_unit(clues, given_unit)
    upward = _find_up(clues, given_up)
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
    for part in _parts(layout.n_frames, 4 * layout.n_points):
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
    for part in _parts(len(positions), positions[0].size):
        positions[part] = axes.vectors_from_file(positions[part], up) * meters


def _parts(n_frames: int, frame_values: int) -> Iterator[slice]:
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


def _look(positions: Floats, valid: Bools, labels: Sequence[str]) -> tuple[Floats, Floats]:
    """Return the lowest and highest coordinates, each (N, 3), of the labeled markers in N frames.

    Uses up to 64 frames with at least three visible markers.
    """
    labeled = [i for i, label in enumerate(labels) if not label.startswith(("*", "unlabeled"))]
    columns = labeled or list(range(len(labels)))
    seen = np.flatnonzero(valid[:, columns].sum(axis=1) >= min(3, len(columns)))
    frames = seen[np.unique(np.linspace(0, len(seen) - 1, _N_LOOKS).astype(int))] if len(seen) else seen
    chosen = positions[frames][:, columns]
    there = valid[frames][:, columns, None]
    low = np.where(there, chosen, np.inf).min(axis=1, initial=np.inf)
    high = np.where(there, chosen, -np.inf).max(axis=1, initial=-np.inf)
    return low, high


class _Clues(NamedTuple):
    """Data from which unit and up axis are inferred; `evidence` collects the explanations.

    looks : lowest and highest coordinates, each (N, 3), of the markers in N frames.
    """

    parameters: Parameters
    looks: tuple[Floats, Floats]
    evidence: list[str]
    path: str


def _find_unit(clues: _Clues, given: float | None) -> float:
    """Return meters per unit of the file."""
    parameters, looks, evidence, path = clues
    if given is not None:
        evidence.append(f"unit {recognize.unit_name(given)} as given")
        return given
    word = (parameters.texts("POINT", "UNITS") or [""])[0].strip(" \0.").lower()
    meters = _UNIT_WORDS.get(re.sub("(met)(re|er)s?$", r"\1er", word))
    if meters is not None:
        evidence.append(f"unit {word} from POINT:UNITS")
        return meters
    low, high = looks
    size = float(np.median(high - low, axis=0).max()) if len(low) else 0.0
    reason = f"POINT:UNITS {word[:20]!r} is not a unit of length" if word else "no POINT:UNITS"
    if size <= 0.0:
        evidence.append(f"unit mm assumed: {reason}, and no markers to measure")
        return 0.001
    units = {name: _UNIT_WORDS[name] for name in ("m", "cm", "mm", "in")}
    best = min(units, key=lambda name: abs(math.log(size * units[name] / _STATURE)))
    evidence.append(f"unit {best}: {reason}, and with it the markers are {size * units[best]:.2f} m across")
    warn_user(f"{path}: {evidence[-1]}; pass `unit=` if this is wrong")
    return units[best]


def _find_up(clues: _Clues, given: str | None) -> str:
    """Return the file's up axis."""
    parameters, looks, evidence, path = clues
    if given is not None:
        evidence.append(f"{given.upper()} up as given")
        return given
    seen, is_sure, reason = _recognize_up(*looks)
    word = (parameters.texts("POINT", "Y_SCREEN") or [""])[0].strip(" \0").lower().removeprefix("+")
    if word in axes.UPS:
        evidence.append(f"{word.upper()} up from POINT:Y_SCREEN")
        if is_sure and seen != word:
            warn_user(f"{path}: POINT:Y_SCREEN says {word.upper()} up, but the markers show {reason}; pass `up=`")
        return word
    evidence.append(reason)
    if not is_sure:
        message = f"{path}: {reason}, which is not certain; pass `up=` if it is wrong"
        warn_user(message)
    return seen


def _recognize_up(low: Floats, high: Floats) -> tuple[str, bool, str]:
    """Return the axis along which the markers stand, whether that is clear, and the reason.

    Along the up axis the lowest marker stays near 0, where labs put the floor, and varies little, and the body is long.
    The misfit of an axis is the sum of the deviations from these, in body sizes.
    """
    extent = np.median(high - low, axis=0) if len(low) else np.zeros(3)
    size = float(extent.max())
    if size <= 0.0:
        return "z", False, "Z up assumed: no frame shows enough markers"
    misfits: dict[str, float] = {}
    floors: dict[str, float] = {}
    for k, letter in enumerate("xyz"):
        for sign, bottom in (("", low[:, k]), ("-", -high[:, k])):
            floor = float(np.median(bottom))
            wander = float(np.subtract(*np.percentile(bottom, [90, 10])))
            misfits[sign + letter] = (abs(floor) + wander + size - float(extent[k])) / size
            floors[sign + letter] = floor
    best, second = sorted(misfits, key=lambda axis: misfits[axis])[:2]
    reason = (
        f"{best.upper()} up: along it the lowest marker stays near the floor, at {floors[best] / size:.2f} "
        f"of the body's size, and the markers reach {float(extent['xyz'.index(best[-1])]) / size:.2f} of it"
    )
    return best, misfits[second] - misfits[best] > _CLEAR, reason
