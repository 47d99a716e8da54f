"""Base class of results that contain a walk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from marey.core.feet import Feet

if TYPE_CHECKING:
    from marey.core.motion import Motion
    from marey.graph.walk import Walk


@dataclass(frozen=True, slots=True, eq=False)
class WalkResult:
    """A walk that a planner found; subclasses say how good it is."""

    walk: Walk
    _motion_name: ClassVar[str] = "walk"

    def motion(self, *, feet: Feet = "clean", name: str | None = None) -> Motion:
        """Return the motion of the walk; see `Walk.motion`."""
        return self.walk.motion(feet=feet, name=self._motion_name if name is None else name)
