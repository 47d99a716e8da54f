"""Read BVH files."""

from __future__ import annotations

import codecs
import re

import numpy as np

from marey.core.arrays import Floats, set_readonly
from marey.core.skeleton import is_end_name
from marey.core.source import Source
from marey.errors import ParseError, UnknownName, similar
from marey.io import limits
from marey.io.bvh_header import END_SITE, Header, Joint, parse_header
from marey.io.bvh_kernels import RotationChannels, convert_rotations
from marey.io.bvh_rows import parse_motion
from marey.io.files import split_name
from marey.io.rate import rate_from_text
from marey.io.raw import RawMotion
from marey.io.rest import choose_rest_offset, mean_bone_length
from marey.io.threads import run_in_halves

# Minimum number of joint poses for which two threads are faster than one.
_LARGE = 100_000

_AXES = "XYZ"
# The first bytes of UTF-16 and UTF-32 text, with or without a byte-order mark.
_WIDE = (
    (rb"\xff\xfe\0\0|\0\0\xfe\xff", "utf-32"),
    (rb"\xff\xfe|\xfe\xff", "utf-16"),
    (rb"[^\0]\0[^\0]\0", "utf-16-le"),
    (rb"\0[^\0]\0[^\0]", "utf-16-be"),
)


def read_bvh(data: bytes, path: str, *, fps: float | None = None, root: str | int | None = None) -> RawMotion:
    """Read a BVH file's motion in the file's own unit and axes.

    Parameters
    ----------
    data : the bytes of the file.
    path : the file name, for messages.
    fps : frames per second; overrides the file's frame time, and is required if that is missing or zero.
    root : name or index of the ROOT to read if the file has several; the first by default.

    Position channels replace the OFFSET of a joint, including the root: every tool that writes a nonzero root OFFSET
    expects this. The OFFSET is then used only as the rest position, if it is plausible.
    """
    _keep_freed_memory()
    data = _as_bytes(data, path)
    header = parse_header(data, path)
    rows = parse_motion(data, header.end, header.n_columns, path)
    n_bytes = len(data)
    del data  # free the text of a large file before the motion is built
    warnings = [*header.warnings, *rows.warnings]
    tree = _choose_tree(header, root, path, warnings)
    limits.check_size(len(rows.values), len(tree), n_bytes, path)
    rate, evidence = rate_from_text(rows.frame_time_text, fps, path, rows.frame_time_line)
    evidence += header.evidence

    values = set_readonly(rows.values if len(header.trees) == 1 else _cut_out(rows.values, tree))
    file_offsets = np.array([joint.offset for joint in tree])
    if np.any(file_offsets[0]) and any(name.endswith("position") for name in tree[0].channels):
        evidence.append(f"OFFSET {_plain(tree[0].offset)} of the root is replaced by its position channels")
    root_positions, offsets, bone_offsets = _read_positions(values, tree, file_offsets)
    return RawMotion(
        names=tuple(joint.name for joint in tree),
        parents=np.array([joint.parent for joint in tree]),
        offsets=offsets,
        root_positions=root_positions,
        rotations=_read_rotations(values, tree),
        bone_offsets=bone_offsets,
        fps=rate,
        name=split_name(path)[0],
        source=Source(
            path=path,
            format="bvh",
            frame_time_text=rows.frame_time_text,
            file_names=_file_names(tree),
            file_offsets=set_readonly(file_offsets),
            channels=tuple(joint.channels for joint in tree),
            channel_values=values,
        ),
        evidence=evidence,
        warnings=warnings,
    )


def _keep_freed_memory() -> None:
    """Make the first file that a process loads faster, by letting the process keep freed memory.

    The C library on Linux keeps and reuses freed memory only for blocks smaller than the largest block freed so far, so
    this function frees one large block. The block is never written to, so it uses no physical memory. On other systems
    this has no effect.
    """
    np.empty(1 << 24, dtype=np.uint8)


def _as_bytes(data: bytes, path: str) -> bytes:
    """Return the text as bytes without a byte-order mark: UTF-8, or the file's own 8-bit encoding."""
    if data[:4].isalnum():  # HIERARCHY
        return data
    if data.startswith(codecs.BOM_UTF8):
        return data[len(codecs.BOM_UTF8) :]
    encoding = next((encoding for start, encoding in _WIDE if re.match(start, data, re.DOTALL)), None)
    if encoding is None:
        return data
    width = 4 if encoding == "utf-32" else 2
    try:
        return data[: len(data) // width * width].decode(encoding).encode("utf-8")
    except UnicodeError:
        raise ParseError(f"the text is not valid {encoding.upper()}; save the file as UTF-8", path=path) from None


def _choose_tree(header: Header, root: str | int | None, path: str, warnings: list[str]) -> list[Joint]:
    names = [tree[0].name for tree in header.trees]
    if root is None:
        if len(names) > 1:
            others = ", ".join(repr(name) for name in names[1:])
            warnings.append(f"the file has {len(names)} roots; {names[0]!r} is loaded; `root=` chooses {others}")
        return header.trees[0]
    if isinstance(root, int) and 0 <= root < len(names):
        return header.trees[root]
    if root in names:
        return header.trees[names.index(str(root))]
    known = ", ".join(map(repr, names))
    raise UnknownName(f"{path}: no root {root!r}; the file has {known}{similar(str(root), names)}")


def _cut_out(values: Floats, tree: list[Joint]) -> Floats:
    """Return the columns (F, n) of the values that belong to one tree, and renumber the columns of its joints from
    0."""
    first, count = tree[0].column, sum(len(joint.channels) for joint in tree)
    for joint in tree:
        joint.column -= first
    return np.ascontiguousarray(values[:, first : first + count])


def _file_names(tree: list[Joint]) -> tuple[str, ...]:
    """Return the file's joint names if they cannot be derived from the skeleton's names when saving; else ()."""
    for joint in tree:
        if joint.file_name != (END_SITE if joint.is_end else joint.name):
            return tuple(joint.file_name for joint in tree)
        if not joint.is_end and joint.parent >= 0 and is_end_name(joint.name, tree[joint.parent].name):
            return tuple(joint.file_name for joint in tree)
    return ()


def _read_positions(values: Floats, tree: list[Joint], file_offsets: Floats) -> tuple[Floats, Floats, Floats | None]:
    """Return root positions (F, 3), skeleton offsets (J, 3), and bone offsets (F, J, 3) if position channels vary.

    The skeleton has the OFFSET of a joint if its position channels scatter around it, as in files with stretched limbs,
    else the position in the first frame.
    """
    n_frames = len(values)
    offsets = file_offsets.copy()
    moving: dict[int, Floats] = {}
    root_positions = np.broadcast_to(file_offsets[0], (n_frames, 3))
    size = mean_bone_length(file_offsets)
    for j, joint in enumerate(tree):
        placed = [(k, name) for k, name in enumerate(joint.channels) if name.endswith("position")]
        if not placed:
            continue
        path = np.tile(file_offsets[j], (n_frames, 1))
        for k, name in placed:
            path[:, _AXES.index(name[0])] = values[:, joint.column + k]
        if j == 0:
            root_positions = path
            continue
        offsets[j] = choose_rest_offset(file_offsets[j], path, size)
        if np.abs(path - offsets[j]).max() > 1e-9 * max(1.0, float(np.abs(path[0]).max())):
            moving[j] = path
    if not moving:
        return root_positions, offsets, None
    bone_offsets = np.tile(offsets, (n_frames, 1, 1))
    for j, path in moving.items():
        bone_offsets[:, j] = path
    return root_positions, offsets, bone_offsets


def _read_rotations(values: Floats, tree: list[Joint]) -> Floats:
    """Return local rotations (F, J, 4), with quaternion signs continuous over time."""
    listed = [
        [(joint.column + k, _AXES.index(name[0])) for k, name in enumerate(joint.channels) if name.endswith("rotation")]
        for joint in tree
    ]
    n_frames, n_joints = len(values), len(tree)
    counts = np.array([len(channels) for channels in listed])
    pairs = np.array([pair for channels in listed for pair in channels], dtype=np.int64).reshape(-1, 2)
    columns, axes = np.ascontiguousarray(pairs.T)
    channels = RotationChannels(np.cumsum(counts) - counts, counts, columns, axes)
    out = np.empty((n_frames, n_joints, 4))

    def convert(start: int, stop: int) -> None:
        convert_rotations(values, channels, start, stop, out)

    if n_frames * n_joints < _LARGE:
        convert(0, n_joints)
    else:
        run_in_halves(convert, 0, n_joints // 2, n_joints)
    return out


def _plain(numbers: tuple[float, ...]) -> str:
    return " ".join(f"{x:g}" for x in numbers)
