"""AMC: the motion half of the Acclaim format.

A few keywords come first, then the frames. Each frame is a line with the frame number, followed by one line per bone:
its name, then one value for each degree of freedom that the ASF file gives it. Angles rotate a bone in its own
coordinate frame C (`axis` in the ASF). In world-aligned joint frames the rotation is C * M * inv(C), where M rotates
about the axes of `dof`, the first listed first ("rx ry rz" is Rz * Ry * Rx). The root lists its degrees of freedom in
`order`.
"""

from __future__ import annotations

import itertools
import math
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

import numpy as np

from marey.core.arrays import Floats
from marey.core.source import Source
from marey.errors import ParseError, UnreadableFile, similar
from marey.io import limits
from marey.io.asf import (
    ASSUMED_FPS,
    MAX_NUMBER,
    AsfJoints,
    AsfSkeleton,
    asf_joints,
    asf_motion,
    bone_key,
    compose_rotations,
    find_stated_unit,
    parse_number,
    quote,
)
from marey.io.files import decode_text
from marey.io.rate import check_rate
from marey.io.raw import CUT_OFF, RawMotion
from marey.maths import quat

__all__ = ["asf_motion", "find_asf", "read_amc"]

_FRAME = re.compile(r"[+-]?[0-9]{1,15}")
# Number of lines that are split at once: large enough to be fast, small enough to save memory.
_LINES_AT_ONCE = 20_000


@dataclass(slots=True)
class _Head:
    """Settings from the keywords before the first frame.

    first : index of the line on which the first frame starts. degrees : True if angles are in degrees. fps : None if
        not stated.
    """

    first: int
    degrees: bool
    fps: float | None


@dataclass(frozen=True, slots=True)
class _Columns:
    """Where each bone's values are in a row (C,) of numbers.

    names : names of the bones.
    index : index of each bone, keyed by name.
    first : the column at which the values of each bone start.
    dofs : names of each bone's values, such as "rx".
    total : number of columns, C.
    """

    names: tuple[str, ...]
    index: dict[str, int]
    first: tuple[int, ...]
    dofs: tuple[tuple[str, ...], ...]
    total: int


def read_amc(data: bytes, path: str, skeleton: AsfSkeleton, *, fps: float | None = None) -> RawMotion:
    """Read an AMC file's motion on the skeleton of its ASF file, in the file's own unit and axes.

    Parameters
    ----------
    data : the bytes of the file.
    path : the file name, for messages.
    skeleton : from `read_asf`; `find_asf` locates the file.
    fps : frames per second; by default the rate in ``:SAMPLES-PER-SECOND`` (rare), else 120.
    """
    lines = decode_text(data).split("\n")
    while lines and not lines[-1].strip():
        lines.pop()
    head = _read_head(lines, skeleton.degrees, path)
    joints = asf_joints(skeleton)
    columns = _lay_out(skeleton)
    warnings = list(skeleton.warnings)
    values = _read_regular(lines, head.first, columns, joints, len(data), path)
    if values is None:
        cut_off = not data.endswith((b"\n", b"\r"))
        values = _read_lines(lines, head.first, columns, joints, len(data), cut_off, warnings, path)
    del lines
    unit, evidence = find_stated_unit(skeleton, joints)
    rate, how = _rate(head.fps, fps)
    root_positions, rotations = _pose(values, skeleton, joints, columns, head.degrees)
    return RawMotion(
        names=joints.names,
        parents=joints.parents,
        offsets=joints.offsets,
        root_positions=root_positions,
        rotations=rotations,
        fps=rate,
        name=PurePath(path).stem,
        source=Source(path=path, format="amc"),
        unit=unit,
        evidence=[*evidence, how],
        warnings=warnings,
    )


def find_asf(amc_path: str | os.PathLike[str]) -> Path:
    """Find the skeleton file of an AMC file in the same folder.

    Try the ASF file of the same name; then names shortened at an underscore, longest first (``16.asf`` for
    ``16_11.amc``); then the only ASF file in the folder.
    """
    path = Path(amc_path)
    try:
        present = sorted(entry for entry in path.parent.iterdir() if entry.suffix.lower() == ".asf")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UnreadableFile(f"cannot list its folder to find the ASF file ({reason})", path=amc_path) from None
    stems = [path.stem]
    while "_" in stems[-1]:
        stems.append(stems[-1].rpartition("_")[0])
    stems = [stem for stem in stems if stem]
    for stem in stems:
        for same in (str.__eq__, lambda a, b: a.lower() == b.lower()):
            for entry in present:
                if same(entry.stem, stem):
                    return entry
    if len(present) == 1:
        return present[0]
    found = f"several others: {', '.join(entry.name for entry in present[:5])}" if present else "none"
    wanted = ", ".join(f"{stem}.asf" for stem in stems[:5])
    raise UnreadableFile(
        f"an AMC file needs its skeleton; looked for {wanted} or a single .asf file in its folder, found {found}",
        path=amc_path,
        parameter="skeleton",
        remedy="pass the .asf file as `skeleton=`",
    )


def _rate(stated: float | None, fps: float | None) -> tuple[float, str]:
    if fps is not None:
        return check_rate(fps), f"rate {fps:g} Hz as given"
    if stated is not None:
        return stated, f"rate {stated:g} Hz from :SAMPLES-PER-SECOND"
    return ASSUMED_FPS, (
        f"AMC files hold no frame rate; {ASSUMED_FPS:g} Hz assumed, as in the CMU collection; `file_fps=` sets another"
    )


def _read_head(lines: Sequence[str], degrees: bool, path: str) -> _Head:
    head = _Head(len(lines), degrees, None)
    for number, line in enumerate(lines, start=1):
        tokens = line.partition("#")[0].split()
        if not tokens:
            continue
        keyword = tokens[0].lower()
        if not keyword.startswith(":"):
            if not (len(tokens) == 1 and _FRAME.fullmatch(tokens[0])):
                raise ParseError(
                    f"expected a keyword or frame number, got {quote(line.strip())}; is this an AMC file?",
                    path=path,
                    line=number,
                )
            head.first = number - 1
            return head
        if keyword in (":degrees", ":radians"):
            head.degrees = keyword == ":degrees"
        elif keyword == ":samples-per-second" and len(tokens) > 1:
            head.fps = parse_number(tokens[1], "samples per second", path, number)
            if not 0 < head.fps <= 100_000:
                raise ParseError(
                    f"expected a frame rate greater than 0 and up to 100000 Hz, got {quote(tokens[1])}",
                    path=path,
                    line=number,
                )
    raise ParseError("the file has no frames", path=path)


def _lay_out(skeleton: AsfSkeleton) -> _Columns:
    first: list[int] = []
    total = 0
    for dofs in skeleton.dofs:
        first.append(total)
        total += len(dofs)
    index = {name: i for i, name in enumerate(skeleton.names)}
    return _Columns(skeleton.names, index, tuple(first), skeleton.dofs, total)


def _check_size(n_frames: int, joints: AsfJoints, n_bytes: int, path: str) -> None:
    limits.check_frames(n_frames, path)
    limits.check_size(n_frames, len(joints.names), n_bytes, path)


def _read_regular(
    lines: Sequence[str], first: int, columns: _Columns, joints: AsfJoints, n_bytes: int, path: str
) -> Floats | None:
    """Return values (F, C) if all frames are laid out like the first and have no errors; else None."""
    per_frame = next(
        (i for i in range(1, len(lines) - first) if _FRAME.fullmatch(lines[first + i].strip())),
        len(lines) - first,
    )
    n_frames, rest = divmod(len(lines) - first, per_frame)
    bones = [line.split() for line in lines[first + 1 : first + per_frame]]
    if rest or any(not tokens or bone_key(tokens[0]) not in columns.index for tokens in bones):
        return None
    rows = [columns.index[bone_key(tokens[0])] for tokens in bones]
    needed = {i for i, dofs in enumerate(columns.dofs) if dofs}
    if len(set(rows)) != len(rows) or not needed <= set(rows):
        return None
    if any(len(tokens) != 1 + len(columns.dofs[i]) for tokens, i in zip(bones, rows, strict=True)):
        return None
    _check_size(n_frames, joints, n_bytes, path)
    starts = np.cumsum([1, *(len(tokens) for tokens in bones)])
    stride = int(starts[-1])
    is_number = np.ones(stride, dtype=bool)
    is_number[[0, *starts[:-1]]] = False
    target = [columns.first[i] + k for i in rows for k in range(len(columns.dofs[i]))]
    values = np.zeros((n_frames, columns.total))
    counts: list[int] = []
    step = max(1, _LINES_AT_ONCE // per_frame)
    for begin in range(0, n_frames, step):
        n = min(step, n_frames - begin)
        text = "\n".join(lines[first + begin * per_frame : first + (begin + n) * per_frame])
        tokens = text.split()
        if len(tokens) != n * stride or not all(map(_FRAME.fullmatch, tokens[::stride])):
            return None
        counts.extend(map(int, tokens[::stride]))
        if any(tokens[at::stride] != [bone[0]] * n for at, bone in zip(starts[:-1].tolist(), bones, strict=True)):
            return None
        numbers = np.array(tokens, dtype=object).reshape(n, stride)[:, is_number]
        try:
            values[begin : begin + n, target] = numbers.astype(np.float64)
        except ValueError:
            return None
        if "_" in text and any("_" in number for number in numbers.flat):
            return None
    in_order = bool((np.diff(counts) == 1).all())
    return values if in_order and bool((np.abs(values) <= MAX_NUMBER).all()) else None


def _read_lines(
    lines: Sequence[str],
    first: int,
    columns: _Columns,
    joints: AsfJoints,
    n_bytes: int,
    cut_off: bool,
    warnings: list[str],
    path: str,
) -> Floats:
    """Read values (F, C) line by line. Slower, but it reports errors by line and tolerates harmless ones.

    `cut_off`: the file does not end with a newline, so its last line may be truncated.
    """
    starts = [i for i in range(first, len(lines)) if _FRAME.fullmatch(_strip_comment(lines[i]))]
    _check_size(len(starts), joints, n_bytes, path)
    _check_counts([(i + 1, int(_strip_comment(lines[i]))) for i in starts], warnings)
    values = np.zeros((len(starts), columns.total))
    order: list[int] = []
    missing: dict[int, list[int]] = {}
    needed = {i for i, dofs in enumerate(columns.dofs) if dofs}
    for f, (start, stop) in enumerate(zip(starts, [*starts[1:], len(lines)], strict=True)):
        if f > 0:
            values[f] = values[f - 1]
        is_last = f > 0 and f == len(starts) - 1
        seen = _read_frame(lines, start, stop, columns, values[f], is_last and cut_off, path)
        given = [bone for bone in seen if bone in needed]
        if f == 0:
            order = given
        elif is_last and given == order[: len(given)] and len(given) < len(order):
            warnings.append(
                f"the last frame, which begins on line {start + 1}, is incomplete and was left out; the file {CUT_OFF}"
            )
            values = values[:-1]
            break
        for i in needed - seen.keys():
            missing.setdefault(i, []).append(f)
    if not order:
        raise ParseError(
            "expected lines of bone values after the frame number, got none", path=path, line=starts[0] + 1
        )
    _warn_missing(missing, columns, len(values), warnings)
    return values


def _strip_comment(line: str) -> str:
    """Return a line without its comment and surrounding whitespace."""
    return line.partition("#")[0].strip()


def _read_frame(
    lines: Sequence[str], start: int, stop: int, columns: _Columns, row: Floats, may_break_off: bool, path: str
) -> dict[int, None]:
    """Write one frame, whose frame number is on line `start`, into `row`; return the indices of its bones in file
    order."""
    seen: dict[int, None] = {}
    for i in range(start + 1, stop):
        tokens = _strip_comment(lines[i]).split()
        if not tokens:
            continue
        try:
            bone = _read_bone(tokens, columns, row, path, i + 1)
            if bone in seen:
                message = f"bone {quote(tokens[0])} occurs twice in frame {_strip_comment(lines[start])}"
                raise ParseError(message, path=path, line=i + 1)
        except ParseError:
            if may_break_off and i == stop - 1:
                break
            raise
        seen[bone] = None
    return seen


def _read_bone(tokens: list[str], columns: _Columns, row: Floats, path: str, line: int) -> int:
    """Write a bone's values into the frame's row and return the bone's index."""
    bone = columns.index.get(bone_key(tokens[0]))
    if bone is None:
        if tokens[0].startswith(":"):
            raise ParseError(
                f"expected a bone or a frame number, got the keyword {quote(tokens[0])}; keywords must come before "
                "the frames",
                path=path,
                line=line,
            )
        raise ParseError(
            f"bone {quote(tokens[0])} is not in the skeleton{similar(tokens[0][:80], columns.names)}; "
            "check that this is the right ASF file",
            path=path,
            line=line,
        )
    dofs = columns.dofs[bone]
    if len(tokens) - 1 != len(dofs):
        what = f"{len(dofs)} value{'' if len(dofs) == 1 else 's'}{' (' + ' '.join(dofs) + ')' if dofs else ''}"
        raise ParseError(f"expected {what} for bone {quote(tokens[0])}, got {len(tokens) - 1}", path=path, line=line)
    at = columns.first[bone]
    row[at : at + len(dofs)] = _numbers(tokens, path, line)
    return bone


def _numbers(tokens: list[str], path: str, line: int) -> list[float]:
    """Parse the values on a bone's line."""
    try:
        values = [float(token) for token in tokens[1:]]
    except ValueError:
        values = []
    is_plain = bool(values) and all(abs(value) <= MAX_NUMBER for value in values)  # False for NaN too
    if is_plain and not any("_" in token for token in tokens):
        return values
    return [parse_number(token, f"bone {quote(tokens[0])}", path, line) for token in tokens[1:]]


def _check_counts(counts: Sequence[tuple[int, int]], warnings: list[str]) -> None:
    """Warn if frame numbers are not consecutive; frames are read in file order anyway."""
    for (_, before), (line, after) in itertools.pairwise(counts):
        if after != before + 1:
            warnings.append(
                f"frame numbers do not count up by one (line {line}: {after} after {before}); "
                "frames are taken in the order of the file"
            )
            return


def _warn_missing(missing: dict[int, list[int]], columns: _Columns, n_frames: int, warnings: list[str]) -> None:
    for i, frames in sorted(missing.items())[:5]:
        name = quote(columns.names[i])
        if len(frames) == n_frames:
            warnings.append(f"bone {name} is in no frame; it keeps its rest pose")
        elif frames[0] == 0:
            warnings.append(f"bone {name} is missing in {len(frames)} frames; it keeps its last value or its rest pose")
        else:
            warnings.append(
                f"bone {name} is missing in {len(frames)} frames, first {frames[0]}; it keeps its last value"
            )
    if len(missing) > 5:
        warnings.append(f"{len(missing) - 5} more bones are missing in some frames; they keep their last values")


def _pose(
    values: Floats, skeleton: AsfSkeleton, joints: AsfJoints, columns: _Columns, degrees: bool
) -> tuple[Floats, Floats]:
    """Return root positions (F, 3) and local rotations (F, J, 4) in world-aligned joint frames.

    Quaternion signs are continuous over time.
    """
    scale = math.pi / 180.0 if degrees else 1.0
    rotations = quat.identity((len(values), len(joints.names)))
    by_axes: dict[str, list[int]] = {}
    for i, dofs in enumerate(columns.dofs):
        axes = "".join(dof[1] for dof in dofs if dof[0] == "r")
        if axes:
            by_axes.setdefault(axes, []).append(i)
    for axes, bones in by_axes.items():
        at = [[columns.first[i] + k for k, dof in enumerate(columns.dofs[i]) if dof[0] == "r"] for i in bones]
        turned = compose_rotations(scale * values[:, at], axes)
        frames = skeleton.axes[bones]
        rotations[:, joints.of_bone[bones]] = quat.mul(frames, quat.mul_inv(turned, frames))
    rotations[:, 0] = quat.mul(skeleton.root_rotation, rotations[:, 0])

    traveled = np.zeros((len(values), 3))
    for k, dof in enumerate(columns.dofs[0]):
        if dof[0] == "t":
            traveled[:, "xyz".index(dof[1])] = values[:, columns.first[0] + k]
    root_positions = skeleton.root_position + quat.rotate(skeleton.root_rotation, traveled)
    return root_positions, quat.unroll(rotations)
