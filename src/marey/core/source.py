"""Where a motion came from: data for an exact save, how the file was read, and the edits since then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from marey.core.arrays import Floats, FrozenRecord
from marey.deprecation import renamed_methods
from marey.errors import InvalidValue

_UPS = ("x", "y", "z", "-x", "-y", "-z")


@renamed_methods(sliced="crop")
@dataclass(frozen=True, slots=True, eq=False)
class Source(FrozenRecord):
    """Data about the file that a motion came from, and the edits since.

    Parameters
    ----------
    path : the path that was loaded; "" for motion that did not come from a file.
    format : "bvh", "amc", "asf", "fbx", "glb", "npz", "npy", "smpl", "kimodo", "c3d" or "trc"; "" for motion that
        did not come from a file.
    unit : meters per unit of the file.
    up : the file's up axis: "x", "y", "z", or with a minus sign.
    fps : the frame rate at which the file was read, before any resampling; None for motion that did not come from a
        file.
    frame_time_text : the frame time as it is written in the file; saving writes the same text.
    file_names : (J,) the file's joint names if they differ from the skeleton's; else (). In a BVH file an End Site is
        called "End Site", followed by its name if it has one.
    file_offsets : (J, 3) the OFFSETs in the file. Position channels replace them, so the skeleton's own may differ;
        saving writes these again.
    channels : each joint's BVH channels in order, e.g. ``("Zrotation", "Yrotation", "Xrotation")``.
    channel_values : (F, C) the numbers in the file's rows. Saving writes them again for unchanged joints, which keeps
        the file's choice among equivalent Euler angles.
    character : the GLB or VRM file with the mesh of the skeleton; "" if there is none. Saving as GLB or VRM copies it.
    floor : height of the floor in meters, if it was found or set.
    evidence : one sentence for each property that was inferred rather than read: unit, axes, rate.
    provenance : one JSON-like record for each processing step, oldest first.

    Examples
    --------
    >>> walk.source.floor
    0.0
    >>> from marey.core import Source
    >>> Source(path="walk.bvh", format="bvh", unit=0.01).with_step(op="mirror").provenance
    ({'op': 'mirror'},)
    """

    path: str = ""
    format: str = ""
    unit: float = 1.0
    up: str = "y"
    fps: float | None = None
    frame_time_text: str | None = None
    file_names: tuple[str, ...] = ()
    file_offsets: Floats | None = None
    channels: tuple[tuple[str, ...], ...] | None = None
    channel_values: Floats | None = None
    character: str = ""
    floor: float | None = None
    evidence: tuple[str, ...] = ()
    provenance: tuple[Mapping[str, Any], ...] = ()

    def __post_init__(self) -> None:
        if not (np.isfinite(self.unit) and self.unit > 0):
            raise InvalidValue(f"unit must be a finite, positive number of meters, not {self.unit}")
        if self.up not in _UPS:
            raise InvalidValue(f"`up=` must be one of {', '.join(_UPS)}, not {self.up!r}")
        if self.floor is not None and not np.isfinite(self.floor):
            raise InvalidValue(f"floor must be a finite height in meters, not {self.floor}")
        self._put(file_names=tuple(self.file_names), evidence=tuple(self.evidence), provenance=tuple(self.provenance))
        if self.channels is not None:
            self._put(channels=tuple(tuple(joint) for joint in self.channels))
        if self.file_offsets is not None:
            self._freeze(file_offsets=(None, 3))
        if self.channel_values is not None:
            self._freeze(channel_values=(None, None), finite=False)

    def crop(self, start: int, stop: int) -> Source:
        """Return the source for frames `start` to `stop`."""
        if self.channel_values is None:
            return self
        return replace(self, channel_values=self.channel_values[start:stop])

    def with_step(self, **record: Any) -> Source:
        """Return the source with one more step of provenance: ``source.with_step(op="mirror")``."""
        return replace(self, provenance=(*self.provenance, record))
