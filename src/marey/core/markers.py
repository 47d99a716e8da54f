"""Markers: measured positions of points on a body, before a skeleton is fitted."""

from __future__ import annotations

from collections.abc import Iterator
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
from marey.core.source import Source
from marey.deprecation import warn_renamed
from marey.errors import InvalidValue, UnknownName, similar


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
