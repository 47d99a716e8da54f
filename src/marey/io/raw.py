"""What a reader hands over: the motion in the file's own unit and axes, before anything is recognised."""

from __future__ import annotations

from dataclasses import dataclass, field

from marey.core.arrays import Floats, Ints
from marey.core.source import Source


@dataclass(slots=True, eq=False, repr=False)
class RawMotion:
    """A motion as the file has it.

    Arrays are shaped as in `Skeleton` and `Motion` (rotations unit, wxyz), lengths in the file's unit, vectors in the
    file's axes. `unit` (metres per unit) and `up` are given where the format defines them, else None: to be recognised.
    `fps` is None where the file has none. `evidence` says how readers came to conclusions, `warnings` what was wrong
    with the file though it could be read.
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
    evidence: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
