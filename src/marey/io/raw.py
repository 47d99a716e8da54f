"""The result of a reader: the motion in the file's own unit and axes, before unit and axes are inferred."""

from __future__ import annotations

from dataclasses import dataclass, field

from marey.core.arrays import Floats, Ints
from marey.core.source import Source

# Readers warn with these words if the end of a file is missing.
CUT_OFF = "is probably cut off"


@dataclass(slots=True, eq=False, repr=False)
class RawMotion:
    """A motion as given in the file.

    Arrays have the shapes of `Skeleton` and `Motion` (unit quaternions, wxyz), with lengths in the file's unit and
    vectors in the file's axes. `unit` (meters per unit) and `up` are set if the format defines them; if None, they are
    inferred later. `stated_unit` is a unit that the file states but may not have been written in: it is used unless it
    makes the body implausibly large or small. `unit_reason` and `up_reason` say why `unit` and `up` are known.
    `rest_up` is the up axis of the rest pose, if it is not that of the frames. `fps` is None if the file has no rate.
    `roles` maps roles to joints, if the file states them. `evidence` explains what the reader inferred, `warnings`
    lists problems in the file that did not prevent reading it.
    """

    names: tuple[str, ...]
    parents: Ints
    offsets: Floats
    root_positions: Floats
    rotations: Floats
    fps: float | None
    name: str
    source: Source
    bone_offsets: Floats | None = None
    unit: float | None = None
    up: str | None = None
    stated_unit: float | None = None
    unit_reason: str = "from the file"
    up_reason: str = "by the format's definition"
    rest_up: str | None = None
    roles: dict[str, str] = field(default_factory=dict)
    evidence: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
