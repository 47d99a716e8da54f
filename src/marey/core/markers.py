"""Markers: measured positions of points on a body, before a skeleton is fitted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from marey.core.arrays import (
    Bools,
    Floats,
    FrozenRecord,
    check_fps,
    check_names,
    freeze_array,
    resolve_frames,
    set_readonly,
)
from marey.core.motion import Motion
from marey.core.skeleton import Skeleton
from marey.core.source import Source
from marey.deprecation import warn_renamed
from marey.errors import InvalidValue, UnknownName, format_list, similar, warn_user
from marey.maths import quat

# A marker is used if it is visible in at least this fraction of the frames and has no gap longer than this (seconds).
_SEEN, _LONGEST_GAP = 0.75, 0.5


@dataclass(frozen=True, slots=True, eq=False)
class Markers(FrozenRecord):
    """M named markers over F frames.

    Parameters
    ----------
    names : M distinct names.
    positions : (F, M, 3) meters, Y up; 0 where a marker is occluded.
    valid : (F, M) False where a marker is occluded.
    fps : frames per second.
    name : name of the recording.
    source : the file, its unit and axes; `source.unit` is meters per unit of the file.

    Examples
    --------
    >>> markers = marey.samples.sample("walk", seconds=2.0).markers()
    >>> markers.positions.shape, len(markers.names)
    ((121, 41, 3), 41)
    >>> markers.duration
    2.0
    """

    names: tuple[str, ...]
    positions: Floats
    valid: Bools
    fps: float
    name: str = ""
    source: Source = field(default_factory=Source)

    def __post_init__(self) -> None:
        names = check_names(self.names, "marker")
        valid = freeze_array(self.valid, "valid", (None, len(names)), np.bool_)
        if len(valid) == 0:
            raise InvalidValue("positions must have at least one frame, got none")
        shape = (len(valid), len(names), 3)
        positions = freeze_array(self.positions, "positions", shape, finite=False)
        if positions[~valid].any():  # files may contain anything here, even NaN
            positions = set_readonly(np.where(valid[:, :, None], positions, 0.0))
        self._put(
            names=names, fps=check_fps(self.fps), valid=valid, positions=freeze_array(positions, "positions", shape)
        )

    def __len__(self) -> int:
        return len(self.positions)

    @property
    def duration(self) -> float:
        """Seconds from the first frame to the last."""
        return (len(self) - 1) / self.fps

    def index(self, name: str) -> int:
        """Return the marker's index; an unknown name raises `UnknownName`, which suggests similar names."""
        try:
            return self.names.index(name)
        except ValueError:
            if name.startswith("unlabelled") and (new := name.replace("unlabelled", "unlabeled", 1)) in self.names:
                warn_renamed(f"marker {name!r}", repr(new))
                return self.names.index(new)
            raise UnknownName(f"no marker {name!r} in the recording{similar(str(name), self.names)}") from None

    def __getitem__(self, frames: slice | int) -> Markers:
        """Select frames: ``markers[a:b]`` is frames a to b, ``markers[i]`` is one frame."""
        start, stop = resolve_frames(frames, len(self))
        return replace(self, positions=self.positions[start:stop], valid=self.valid[start:stop])

    def __iter__(self) -> Iterator[Markers]:
        return (self[i] for i in range(len(self)))


def explain_unusable(recording: Markers, k: int) -> str:
    """Return the reason why a marker has too many gaps to be used, or an empty string if it can be used."""
    seen = recording.valid[:, k]
    fraction = float(seen.mean())
    if fraction < _SEEN:
        return f"is visible in {100 * fraction:.0f} % of the frames, less than {100 * _SEEN:.0f} %"
    at = np.flatnonzero(np.concatenate([[True], seen, [True]]))
    gap = float(np.diff(at).max() - 1) / recording.fps
    return f"is missing for {gap:.2f} s at a time, more than {_LONGEST_GAP:g} s" if gap > _LONGEST_GAP else ""


def fill_gaps(recording: Markers, chosen: Sequence[int]) -> Floats:
    """Return the positions (F, n, 3) of the n markers with the indices `chosen`, with gaps filled by linear
    interpolation."""
    points = recording.positions[:, list(chosen)].copy()
    frames = np.arange(len(recording))
    for column, k in enumerate(chosen):
        seen = recording.valid[:, k]
        if not seen.all():
            for axis in range(3):
                points[:, column, axis] = np.interp(frames, frames[seen], points[seen, column, axis])
    return set_readonly(points)


def markers_to_motion(recording: Markers) -> Motion:
    """Return recorded markers as a motion, so that webs and graphs can be built from them (Kovar 7.3).

    Each marker is a joint, attached to a center that travels and turns with the body. The center is the mean of the
    markers. Its heading is perpendicular to the line from right-side to left-side markers, which are found as pairs of
    names that differ only in L and R. Only the center has a role, so feet are neither detected nor cleaned.

    Markers that are visible in fewer than three quarters of the frames, or missing for more than 0.5 s at a time, are
    left out with a warning. Other gaps are filled.

    Examples
    --------
    >>> markers = marey.samples.sample("walk", seconds=2.0).markers()
    >>> motion = marey.core.markers_to_motion(markers)
    >>> len(motion), len(motion.skeleton)
    (121, 42)
    """
    chosen = [k for k in range(len(recording.names)) if not explain_unusable(recording, k)]
    left_out = [repr(name) for k, name in enumerate(recording.names) if k not in chosen]
    if not chosen:
        raise InvalidValue(f"none of the {len(left_out)} markers of {recording.name!r} is visible in enough frames")
    if left_out:
        warn_user(f"{recording.name!r}: left out markers that are missing in too many frames: {format_list(left_out)}")
    points = fill_gaps(recording, chosen)
    names = tuple(recording.names[k] for k in chosen)
    center = points.mean(axis=1)
    turned = quat.from_axis_angle([0.0, 1.0, 0.0], _find_yaw(points, names, recording.name))
    offsets = np.zeros((len(points), len(names) + 1, 3))
    offsets[:, 1:] = quat.inv_rotate(turned[:, None], points - center[:, None])
    rotations = quat.identity((len(points), len(names) + 1))
    rotations[:, 0] = turned
    # All offsets are 0, so that all takes with the same markers have the same skeleton.
    root = "center" if "center" not in names else "center of the markers"
    parents = np.concatenate([[-1], np.zeros(len(names), dtype=np.int64)])
    skeleton = Skeleton((root, *names), parents, np.zeros((len(names) + 1, 3)), {"hips": root})
    return Motion(
        skeleton, set_readonly(center), set_readonly(quat.unroll(rotations)), recording.fps, name=recording.name,
        bone_offsets=set_readonly(offsets), source=recording.source,
    )  # fmt: skip


def _find_yaw(points: Floats, names: tuple[str, ...], recording: str) -> Floats:
    """Return the heading (F,) of markers (F, n, 3), perpendicular to the line from right-side to left-side markers, in
    radians."""
    short = [name.rpartition(":")[2] for name in names]
    pairs = [
        (k, short.index("R" + name[1:])) for k, name in enumerate(short) if name[:1] == "L" and "R" + name[1:] in short
    ]
    if pairs:
        left, right = (points[:, list(side)].mean(axis=1) for side in zip(*pairs, strict=True))
        across = left - right
        return np.asarray(np.arctan2(-across[:, 2], across[:, 0]))
    warn_user(
        f"{recording!r}: no left and right markers were recognized by name, so headings are relative to the first "
        "frame; transitions between takes that begin with different headings are distorted; begin names with L and R"
    )
    flat = points[..., [0, 2]] - points[..., [0, 2]].mean(axis=1, keepdims=True)
    x, z = flat[0].T
    along = flat[..., 0] @ x + flat[..., 1] @ z
    return np.asarray(np.arctan2(flat[..., 0] @ z - flat[..., 1] @ x, along))
