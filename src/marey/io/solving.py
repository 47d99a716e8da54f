"""`solve`: turn positions of joints or markers into the motion of a skeleton."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from marey.core.annotations import add_provenance
from marey.core.arrays import Bools, Floats
from marey.core.denoise import measure_noise, smooth_white_noise
from marey.core.markers import Markers
from marey.core.motion import Motion
from marey.core.role_profiles import POINT_SETS
from marey.core.settings import operation
from marey.core.solve import BODY, fit_skeleton, pose_points
from marey.core.source import Source
from marey.errors import InvalidValue, NoResult, ParseError, UnknownFormat, UnknownName, format_list, similar
from marey.io.archive import read_npy
from marey.io.canonical import to_motion
from marey.io.files import MARKER_SUFFIXES, read_bytes, split_name
from marey.io.loading import StrPath, load_markers, read_roles
from marey.io.raw import RawMotion
from marey.io.settings import SolveSettings

# Length of the longest smoothing window in seconds.
_MAX_WINDOW = 0.5
# Fraction of the noise that remains after smoothing.
_LEFT = 0.4


@dataclass(frozen=True, slots=True)
class FilledGap:
    """Frames in which a joint was not seen, half-open; its path was interpolated."""

    joint: str
    start: int
    stop: int


@dataclass(frozen=True, slots=True, eq=False)
class SolveResult:
    """A solved motion, and how well it fits.

    motion : the motion.
    mean_error, max_error : distance in meters between the joints and the given positions, over frames that were seen.
    noise : measured noise of the positions along each axis in meters, median of all joints.
    lengths : length of each joint's bone in meters.
    gaps : the gaps that were filled.
    unused : points that belong to no joint.
    """

    motion: Motion
    mean_error: float
    max_error: float
    noise: float
    lengths: Mapping[str, float]
    gaps: tuple[FilledGap, ...]
    unused: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the report, ready for JSON."""
        return {
            "frames": len(self.motion),
            "joints": len(self.motion.skeleton),
            "mean_error_m": self.mean_error,
            "max_error_m": self.max_error,
            "noise_m": self.noise,
            "lengths_m": dict(self.lengths),
            "gaps": [asdict(gap) for gap in self.gaps],
            "unused": list(self.unused),
        }


@operation(SolveSettings)
def solve(positions: Markers | ArrayLike | StrPath, settings: SolveSettings) -> Motion:
    """Turn positions of joints into the motion of a skeleton.

    Bones get constant lengths. Positions are smoothed according to their noise, and short gaps are filled. A thigh
    or upper arm is twisted so that knee and elbow bend like hinges; no other bone is twisted relative to its parent.
    Joints are named after their roles.

    Parameters
    ----------
    positions : markers, as `load_markers` returns; an array (F, P, 3) of P points with NaN where a point was not seen;
        or a .c3d, .trc or .npy file of these. Unit and up axis of an array are recognized.

    Examples
    --------
    >>> points = walk.world().positions  # (F, P, 3) meters, as from a pose estimator
    >>> joints = {walk.skeleton.names[joint]: role for role, joint in walk.skeleton.roles.joints.items()}
    >>> solved = marey.solve(points, names=walk.skeleton.names, joints=joints, file_fps=60)
    >>> solved.rotations.shape
    (241, 25, 4)
    """
    return solve_with_report(positions, settings=settings).motion


@operation(SolveSettings)
def solve_with_report(positions: Markers | ArrayLike | StrPath, settings: SolveSettings) -> SolveResult:
    """Turn positions into motion like `solve`, but also return errors, bone lengths and gaps.

    Examples
    --------
    >>> joints = {walk.skeleton.names[joint]: role for role, joint in walk.skeleton.roles.joints.items()}
    >>> points, names = walk.world().positions, walk.skeleton.names
    >>> result = marey.io.solve_with_report(points, names=names, joints=joints, file_fps=60)
    >>> result.mean_error < 0.01, result.gaps  # meters
    (True, ())
    """
    points = _read_points(positions, settings)
    solved = solve_points(points, settings)
    motion = to_motion(solved.raw, None if points.is_canonical else settings.unit, settings.up)
    meters = 1.0 if points.is_canonical else motion.source.unit
    errors = np.concatenate(
        [
            np.linalg.norm(solved.posed[joint] - places, axis=1)[solved.seen[joint]]
            for joint, places in solved.given.items()
        ]
    )
    skeleton = motion.skeleton
    result = SolveResult(
        motion,
        meters * float(errors.mean()) if errors.size else 0.0,
        meters * float(errors.max(initial=0.0)),
        meters * solved.noise,
        {name: float(length) for name, length in zip(skeleton.names[1:], skeleton.bone_lengths[1:], strict=True)},
        solved.gaps,
        solved.unused,
    )
    provenance = {key: value for key, value in result.to_dict().items() if key not in ("lengths_m", "unused", "joints")}
    return replace(result, motion=add_provenance(motion, "solve", **provenance))


class Points(NamedTuple):
    """Positions to solve. set_name : name of their set of points, if any. is_canonical : whether they are in meters, Y
    up."""

    markers: Markers
    set_name: str | None
    is_canonical: bool


class _SolvedPoints(NamedTuple):
    """The motion of the solved points, in the points' own unit and axes.

    raw : the motion. given, posed : (F, 3) measured and solved positions of each joint.
    seen : (F,) frames in which each joint was seen. noise, gaps, unused : as in `SolveResult`.
    """

    raw: RawMotion
    given: Mapping[str, Floats]
    seen: Mapping[str, Bools]
    posed: Mapping[str, Floats]
    noise: float
    gaps: tuple[FilledGap, ...]
    unused: tuple[str, ...]


def solve_points(points: Points, settings: SolveSettings) -> _SolvedPoints:
    """Solve in the unit and axes of the points."""
    markers = points.markers
    joints = _find_joints(markers.names, settings.joints, points.set_name)
    places: dict[str, Floats] = {}
    seen: dict[str, Bools] = {}
    for joint, names in joints.items():
        columns = [markers.index(name) for name in names]
        seen[joint] = np.asarray(markers.valid[:, columns].all(axis=1))
        places[joint] = markers.positions[:, columns].mean(axis=1)
    filled, gaps = _fill_gaps(places, seen, settings.max_gap, markers.fps)
    array = np.stack(list(filled.values()), axis=1)
    noise = measure_noise(array)
    usual = left = float(np.median(noise))
    if settings.strength > 0.0:
        level = settings.strength * np.maximum(noise, usual)
        array = smooth_white_noise(array, _MAX_WINDOW * markers.fps, level)
        left = _LEFT * usual
    solved = fit_skeleton(dict(zip(filled, array.transpose(1, 0, 2), strict=True)), left, markers.fps)
    used = {name for names in joints.values() for name in names}
    raw = RawMotion(
        names=solved.skeleton.names,
        parents=solved.skeleton.parents,
        offsets=solved.skeleton.offsets,
        root_positions=solved.root_positions,
        rotations=solved.rotations,
        fps=markers.fps,
        name=markers.name,
        source=markers.source,
        rest_up="y",
        evidence=[*markers.source.evidence, f"a skeleton fitted to {len(used)} points"],
    )
    if points.is_canonical:
        raw.unit, raw.up, raw.up_reason = 1.0, "y", "and meters, as markers have"
    unused = tuple(name for name in markers.names if name not in used)
    return _SolvedPoints(raw, places, seen, pose_points(solved), usual, gaps, unused)


def _read_points(positions: Markers | ArrayLike | StrPath, settings: SolveSettings) -> Points:
    if isinstance(positions, str | os.PathLike):
        if split_name(positions)[1] == ".npy":
            array = read_npy(read_bytes(positions), os.fspath(positions))
            points = _read_array(array, settings, os.fspath(positions))
            name = split_name(positions)[0]
            return points._replace(markers=replace(points.markers, name=name))
        if split_name(positions)[1] not in MARKER_SUFFIXES:
            known = ", ".join((".npy", *MARKER_SUFFIXES))
            raise UnknownFormat(f"positions can only be read from {known} files", path=positions)
        for option in ("names", "file_fps"):
            _refuse(settings, option, f"a {split_name(positions)[1]} file")
        positions = load_markers(positions, unit=settings.unit, up=settings.up)
    elif isinstance(positions, Markers):
        for option in ("names", "file_fps", "unit", "up"):
            _refuse(settings, option, "Markers")
    if isinstance(positions, Markers):
        return Points(positions, _match_set(positions.names), True)
    return _read_array(positions, settings, "")


def _refuse(settings: SolveSettings, option: str, source: str) -> None:
    if getattr(settings, option) is not None:
        what = {"names": "names", "file_fps": "a frame rate", "unit": "a unit", "up": "an up axis"}[option]
        raise InvalidValue(f"`{option}=` does not apply to {source}, which already has {what}", parameter=option)


def _read_array(positions: ArrayLike, settings: SolveSettings, path: str) -> Points:
    try:
        array = np.asarray(positions, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidValue(
            "positions must be an array of numbers with shape (F, P, 3)", parameter="positions"
        ) from None
    if array.ndim != 3 or array.shape[2] != 3 or 0 in array.shape:
        raise InvalidValue(f"joint positions must be an array of shape (F, P, 3), not {array.shape}")
    if settings.file_fps is None:
        raise InvalidValue(
            "positions do not state their frame rate", parameter="file_fps", remedy="give the rate as `file_fps=`"
        )
    names, set_name = find_point_names(settings.names, array.shape[1])
    return make_points(array, names, set_name, settings.file_fps, path)


def make_points(array: Floats, names: Sequence[str], set_name: str | None, fps: float, path: str) -> Points:
    """Return points in their own unit and axes from an array (F, P, 3) with NaN where a point was not seen."""
    evidence = () if set_name is None else (f"{len(names)} points of {set_name}",)
    source = Source(path=path, format="npy" if path else "", evidence=evidence)
    return Points(
        Markers(tuple(names), array, np.asarray(np.isfinite(array).all(axis=2)), fps, source=source), set_name, False
    )


def find_point_names(names: Sequence[str] | str | None, n_points: int) -> tuple[tuple[str, ...], str | None]:
    """Return the names of the points, and the name of the set in `POINT_SETS` that has these points, or None.

    names : the name of a set, a list of names, or None to choose the set by its number of points.
    """
    sizes = {name: len(points.names) for name, points in POINT_SETS.items()}
    if names is None:
        fitting = [name for name, size in sizes.items() if size == n_points]
        if len(fitting) != 1:
            known = ", ".join(f"{name} ({size})" for name, size in sizes.items())
            raise InvalidValue(
                f"{'more than one' if fitting else 'no'} set of body points has {n_points} points; known sets are "
                f"{known}",
                parameter="names",
                remedy="give the set, or the points' names, as `names=`",
            )
        return POINT_SETS[fitting[0]].names, fitting[0]
    if isinstance(names, str):
        if names not in POINT_SETS:
            raise UnknownName(
                f"no set of points {names!r}; known sets are {', '.join(POINT_SETS)}{similar(names, POINT_SETS)}"
            )
        if sizes[names] != n_points:
            raise InvalidValue(
                f"the set {names!r} has {sizes[names]} points, but the data has {n_points}", parameter="names"
            )
        return POINT_SETS[names].names, names
    listed = tuple(names)
    if len(listed) != n_points:
        raise InvalidValue(f"names must hold {n_points} names, one per point, not {len(listed)}", parameter="names")
    return listed, _match_set(listed)


def _match_set(names: Sequence[str]) -> str | None:
    return next((key for key, points in POINT_SETS.items() if points.names == tuple(names)), None)


def _find_joints(
    names: Sequence[str], joints: Mapping[str, str] | str | os.PathLike[str] | None, set_name: str | None
) -> dict[str, tuple[str, ...]]:
    """Return the names of the points that represent each joint, keyed by joint."""
    if joints is None and set_name is not None:
        return POINT_SETS[set_name].joints
    if joints is None:
        found: dict[str, tuple[str, ...]] = {name: (name,) for name in names if name in BODY}
        if not found:
            raise InvalidValue(
                f"the names of the points ({format_list([repr(name) for name in names], 4)}) do not show their joints",
                parameter="joints",
                remedy="give a map from point to joint as `joints=`",
            )
        return found
    table = joints if isinstance(joints, Mapping) else read_joints(joints)
    grouped: dict[str, list[str]] = {}
    bare = {name.rpartition(":")[2]: name for name in reversed(names)}  # subject:marker
    for given, joint in table.items():
        point = given if given in names else bare.get(given, "")
        if not point:
            raise UnknownName(f"no point {given!r} in the recording{similar(given, names)}")
        if joint not in BODY:
            raise UnknownName(f"no joint {joint!r}; expected one of {', '.join(BODY)}{similar(joint, BODY)}")
        grouped.setdefault(joint, []).append(point)
    return {joint: tuple(points) for joint, points in grouped.items()}


def read_joints(path: str | os.PathLike[str]) -> dict[str, str]:
    """Read a map from point to joint, from a JSON object or from the rows ``point,joint`` of a CSV file."""
    if split_name(path)[1] == ".json":
        return dict(read_roles(path))
    table: dict[str, str] = {}
    lines = read_bytes(path).decode("utf-8-sig", errors="replace").splitlines()
    try:
        for number, row in enumerate(csv.reader(lines), start=1):
            cells = [cell.strip() for cell in row]
            if not any(cells) or cells[0].startswith("#") or (number == 1 and cells[1:] == ["joint"]):
                continue
            if len(cells) != 2 or not all(cells):
                raise ParseError(f"expected a point and a joint, got {','.join(cells)[:60]!r}", path=path, line=number)
            if cells[0] in table:
                raise ParseError(f"point {cells[0]!r} is assigned to two joints", path=path, line=number)
            table[cells[0]] = cells[1]
    except csv.Error as error:
        raise ParseError(f"not a readable CSV file ({error})", path=path) from None
    if not table:
        raise ParseError("expected rows with a point and a joint, got none", path=path)
    return table


def _fill_gaps(
    places: Mapping[str, Floats], seen: Mapping[str, Bools], max_gap: float, fps: float
) -> tuple[dict[str, Floats], tuple[FilledGap, ...]]:
    """Interpolate positions that were not seen, relative to the joint above: a hidden hand moves with its arm."""
    from scipy.interpolate import PchipInterpolator

    filled: dict[str, Floats] = {}
    gaps: list[FilledGap] = []
    too_long: list[FilledGap] = []
    frames = np.arange(len(next(iter(places.values()))))
    for joint in (key for key in BODY if key in places):
        there = seen[joint]
        runs = _find_gaps(joint, there)
        long = [run for run in runs if run.stop - run.start > max_gap * fps]
        gaps += [run for run in runs if run not in long]
        too_long += long
        if not there.any():
            raise NoResult(f"joint {joint!r} is never seen; leave it out of the map", parameter="joints")
        if long or not runs:
            filled[joint] = places[joint]
            continue
        base = np.zeros_like(places[joint])
        above = BODY[joint].parent
        while above and above not in filled:
            above = BODY[above].parent
        if above:
            base = filled[above]
        known = np.flatnonzero(there)
        bone = (places[joint] - base)[known]
        if len(known) == 1:
            path = np.repeat(bone, len(frames), axis=0)
        else:
            path = PchipInterpolator(known, bone)(np.clip(frames, known[0], known[-1]))
        filled[joint] = np.where(there[:, None], places[joint], base + path)
    if too_long:
        worst = max(too_long, key=lambda gap: gap.stop - gap.start)
        others = f" and {len(too_long) - 1} more" if len(too_long) > 1 else ""
        raise NoResult(
            f"joint {worst.joint!r} is not seen in frames {worst.start} to {worst.stop} "
            f"({(worst.stop - worst.start) / fps:.2f} s){others}, longer than {max_gap:g} s",
            parameter="max_gap",
            remedy="fill longer gaps with `max_gap=`, or leave the joint out of the map",
        )
    return filled, tuple(gaps)


def _find_gaps(joint: str, there: Bools) -> list[FilledGap]:
    edges = np.flatnonzero(np.diff(np.concatenate([[True], there, [True]]).astype(np.int8)))
    return [FilledGap(joint, int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]
