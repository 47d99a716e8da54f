"""Write BVH files, with joint order, channel order, End Sites, offsets and frame-time text as in the file read.

Joints with unchanged rotations are written with the exact angles from their file, other joints with angles that are
continuous over time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from marey.core.arrays import Floats
from marey.core.motion import Motion
from marey.core.skeleton import Skeleton
from marey.errors import format_list, warn_user
from marey.io import axes
from marey.io.bvh_header import END_SITE
from marey.io.rate import frame_time_text
from marey.io.text_numbers import format_rows
from marey.maths import euler, quat

# BVH has no place for the name of the program: a space after the last brace marks files that marey wrote.
END = " \n"
_POSITIONS = ("Xposition", "Yposition", "Zposition")
_ROTATIONS = ("Zrotation", "Xrotation", "Yrotation")
# Quaternions that agree to _SAME are the same rotation. Angles below _NO_DEGREES count as zero: they are smaller than
# the last digit written.
_SAME = 1e-9
_NO_DEGREES = 5e-9
_CHUNK = 1 << 18  # numbers formatted at a time
_DEEPEST_INDENT = 64  # otherwise a chain of thousands of joints would be mostly tabs


def write_bvh(motion: Motion, *, unit: float, up: str, rigid: bool = False) -> Iterator[bytes]:
    """Yield the bytes of the file, in chunks.

    Parameters
    ----------
    unit : meters per unit of the file.
    up : the up axis of the file: "y", "z", "x", "-y", "-z" or "-x".
    rigid : if True, drop changes of bone length, which would be written as position channels.
    """
    decimals = 6 if unit < 0.1 else 8  # precise to well under a micrometer
    tracks = _Tracks(motion, unit, up, rigid)
    order = _depth_first(motion.skeleton)
    written = {j: tracks.of(j) for j in order}
    yield _format_hierarchy(motion, order, written, decimals).encode("utf-8", "replace")
    frame_time = frame_time_text(motion.fps, motion.source.frame_time_text)
    yield f"MOTION\nFrames: {len(motion)}\nFrame Time: {frame_time}\n".encode()
    values = np.concatenate([written[j].values for j in order], axis=1)
    step = max(1, _CHUNK // values.shape[1])
    for start in range(0, len(values), step):
        yield format_rows(values[start : start + step], decimals)


@dataclass(slots=True)
class _Track:
    """One joint as it is written to the file.

    offset : (3,) the OFFSET. channels : n channel names. values : (F, n) values of the channels.
    """

    offset: Floats
    channels: tuple[str, ...]
    values: Floats


class _Tracks:
    """A motion in the file's unit and axes, plus data from the file it was loaded from."""

    def __init__(self, motion: Motion, unit: float, up: str, rigid: bool) -> None:
        skeleton, source = motion.skeleton, motion.source
        self.n_frames, self.rigid = len(motion), rigid
        self.is_end = skeleton.is_end_site
        self.offsets = axes.vectors_to_file(skeleton.offsets, up) / unit
        self.rotations = axes.rotations_to_file(motion.rotations, up)
        self.root = axes.vectors_to_file(motion.root_positions, up) / unit
        bones = None if rigid else motion.bone_offsets
        self.bones = None if bones is None else axes.vectors_to_file(bones, up) / unit
        self.file_offsets = self.offsets.copy()
        self.file_offsets[0] = 0.0
        # The file's channels are usable only if they belong to the same joints, and if there are any.
        channels = source.channels or ()
        self.file_channels = channels if len(channels) == len(skeleton) and any(channels) else None
        self.file_rotations: list[tuple[str, ...] | None] = [None] * len(skeleton)
        self.file_angles: list[Floats | None] = [None] * len(skeleton)
        if self.file_channels is None:
            return
        self.file_rotations = [_rotation_names(names) for names in self.file_channels]
        if source.file_offsets is not None:
            own = axes.vectors_from_file(source.file_offsets, source.up)
            self.file_offsets = axes.vectors_to_file(own, up) * (source.unit / unit)
        if source.channel_values is not None and source.up == up:
            self.file_angles = _read_angles(self.file_channels, source.channel_values)

    def of(self, j: int) -> _Track:
        path, rest = self._place(j)
        rotations, angles = self._rotation_channels(j)
        channels = self._arrange_channels(j, self._position_channels(j, path, rest), rotations)
        # Channels replace the OFFSET, so write the OFFSET of the file. If the first frame is not the rest pose, write
        # the rest offset, because readers could not find it otherwise.
        keeps_offset = j == 0 or not any(map(_differ, path[:1].T, rest))
        offset = rest.copy()
        values = np.empty((self.n_frames, len(channels)))
        turning = [k for k, name in enumerate(channels) if name not in _POSITIONS]
        values[:, turning] = angles
        for k, name in enumerate(channels):
            if name in _POSITIONS:
                axis = _POSITIONS.index(name)
                values[:, k] = path[:, axis]
                if keeps_offset:
                    offset[axis] = self.file_offsets[j, axis]
        return _Track(offset, channels, values)

    def _place(self, j: int) -> tuple[Floats, Floats]:
        """Return a joint's position in its parent's frame over time (F, 3), and its position without channels (3,)."""
        if j == 0:
            return self.root, self.root[0]
        if self.bones is None:
            return np.broadcast_to(self.offsets[j], (self.n_frames, 3)), self.offsets[j]
        return self.bones[:, j], self.offsets[j]

    def _position_channels(self, j: int, path: Floats, rest: Floats) -> tuple[str, ...]:
        """Return the file's position channels, or all three if those cannot describe the joint's movement."""
        file_names: tuple[str, ...] = _POSITIONS if j == 0 else ()
        if self.file_channels is not None and not (self.rigid and j > 0):
            file_names = tuple(name for name in self.file_channels[j] if name in _POSITIONS)
        moving = {name for k, name in enumerate(_POSITIONS) if _differ(path[:, k], rest[k])}
        return file_names if moving <= set(file_names) else _POSITIONS

    def _arrange_channels(self, j: int, positions: tuple[str, ...], rotations: tuple[str, ...]) -> tuple[str, ...]:
        """Return the channels in the file's order, if the file has exactly the same channels; else positions first."""
        if self.file_channels is not None:
            names = self.file_channels[j]
            if set(names) == {*positions, *rotations} and _rotation_names(names) == rotations:
                return names
        return (*positions, *rotations)

    def _rotation_channels(self, j: int) -> tuple[tuple[str, ...], Floats]:
        """Return the rotation channels of a joint and their values in degrees (F, n)."""
        now = self.rotations[:, j]
        file_names, angles = self.file_rotations[j], self.file_angles[j]
        if file_names is not None and angles is not None and _same_rotations(angles, file_names, now):
            return file_names, angles
        if not file_names and (self.is_end[j] or file_names is not None) and quat.angle(now).max() <= _SAME:
            return (), np.empty((self.n_frames, 0))
        names = _complete_channels(file_names or _ROTATIONS)
        order = "".join(name[0] for name in names)
        angles = np.rad2deg(euler.continuous(euler.to_euler(now, order), order))
        n = len(names) if file_names is None or names[: len(file_names)] != file_names else len(file_names)
        if np.abs(angles[:, n:]).max(initial=0.0) > _NO_DEGREES:  # it now rotates about an axis without a channel
            n = len(names)
        return names[:n], angles[:, :n]


def _rotation_names(channels: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in channels if name not in _POSITIONS)


def _read_angles(channels: tuple[tuple[str, ...], ...], values: Floats) -> list[Floats | None]:
    """Return the angles of each joint in the file, (F, n) degrees.

    If the number of columns does not match the channels, return a list of None.
    """
    out: list[Floats | None] = []
    first = 0
    for names in channels:
        turning = [first + k for k, name in enumerate(names) if name not in _POSITIONS]
        out.append(values[:, turning])
        first += len(names)
    return out if first == values.shape[1] else [None] * len(channels)


def _same_rotations(angles: Floats, names: tuple[str, ...], rotations: Floats) -> bool:
    """Return whether angles in degrees (F, n) about the named axes give `rotations` (F, 4)."""
    again = euler.from_axes(np.deg2rad(angles), "".join(name[0] for name in names))
    again *= np.where(quat.dot(again, rotations) < 0.0, -1.0, 1.0)[:, None]
    return bool(np.abs(again - rotations).max() <= _SAME)


def _complete_channels(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return three rotation channels that can represent every rotation, starting with `names` if possible."""
    if len(names) < 3:
        names = (*names, *(name for name in _ROTATIONS if name not in names))[:3]
    return names if len(names) == 3 and names[0] != names[1] != names[2] else _ROTATIONS


def _differ(path: Floats, rest: float) -> bool:
    return bool(np.abs(path - rest).max() > 1e-9 * max(1.0, float(np.abs(path).max())))


def _depth_first(skeleton: Skeleton) -> list[int]:
    """Return the joints in depth-first order: the order of the hierarchy and of the columns."""
    children = skeleton.children
    order, todo = [], [0]
    while todo:
        order.append(todo.pop())
        todo += reversed(children[order[-1]])
    return order


def _format_hierarchy(motion: Motion, order: list[int], tracks: dict[int, _Track], decimals: int) -> str:
    """Format the HIERARCHY section."""
    parents = motion.skeleton.parents
    headings = _format_headings(motion, tracks)
    offsets = format_rows(np.stack([tracks[j].offset for j in order]), decimals).decode().splitlines()
    lines, above = ["HIERARCHY"], list[int]()
    for j, offset in zip(order, offsets, strict=True):
        while above and above[-1] != parents[j]:
            above.pop()
            lines.append(_indent(len(above)) + "}")
        tabs, channels = _indent(len(above)), tracks[j].channels
        lines += [tabs + headings[j], tabs + "{", f"{tabs}\tOFFSET {offset}"]
        if not headings[j].startswith(END_SITE):
            lines.append(f"{tabs}\tCHANNELS {' '.join([str(len(channels)), *channels])}")
        above.append(j)
    lines += [_indent(depth) + "}" for depth in reversed(range(len(above)))]
    return "\n".join(lines) + END


def _indent(depth: int) -> str:
    return "\t" * min(depth, _DEEPEST_INDENT)


def _format_headings(motion: Motion, tracks: dict[int, _Track]) -> list[str]:
    """Return headings such as ``ROOT Hips``, ``JOINT Head``, ``End Site``, with the file's own names if still valid."""
    names, is_end = motion.skeleton.names, motion.skeleton.is_end_site.tolist()
    file_names, is_bvh = motion.source.file_names, motion.source.channels is not None
    if len(file_names) != len(names):
        file_names, is_bvh = names, False
    if not is_bvh:  # only BVH distinguishes an End Site from a joint with such a name
        file_names = tuple(END_SITE if end else name for name, end in zip(file_names, is_end, strict=True))
    for j in reversed(range(1, len(names))):  # anything that rotates or moves is a joint, as are its ancestors
        is_end[j] &= not tracks[j].channels and file_names[j].startswith(END_SITE)
        is_end[motion.skeleton.parents[j]] &= is_end[j]
    headings, changed = [], []
    for j, (name, file_name) in enumerate(zip(names, file_names, strict=True)):
        if is_end[j]:
            headings.append(file_name)
            continue
        # A second 'Arm' is called 'Arm_2' in marey; the file gets 'Arm' again.
        is_double = bool(file_name) and re.fullmatch(re.escape(file_name) + r"_\d+", name)
        wanted = file_name if is_double else name
        written = re.sub(r"[{}\x00-\x1f\x7f]", "_", wanted).strip(" ") or f"joint_{j}"
        written = written.encode("utf-8", "replace").decode()
        if written != wanted:
            changed.append(f"{wanted!r} to {written!r}")
        headings.append(f"{'JOINT' if j else 'ROOT'} {written}")
    if changed:
        listed = format_list(changed, 5)
        warn_user(f"joint names that are not allowed in a BVH file were changed: {listed}")
    return headings
