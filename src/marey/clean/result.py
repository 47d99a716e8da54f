"""Results of cleanup: the cleaned motion, the plants that were enforced, and how much limbs were changed."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from marey.core.arrays import Floats
from marey.core.motion import Motion
from marey.deprecation import renamed_methods


@dataclass(frozen=True, slots=True)
class PlantUsed:
    """A plant that the cleanup enforced.

    point : name of the contact point.
    start, stop : frames, half-open.
    position : (x, y, z) in meters.
    """

    point: str
    start: int
    stop: int
    position: tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class BelowFloor:
    """A hand, a foot or another part that cleanup leaves below the floor.

    part : its name, as in `CleanResult.limbs`.
    start, stop : frames, half-open.
    depth : largest depth in meters.
    """

    part: str
    start: int
    stop: int
    depth: float


@dataclass(frozen=True, slots=True)
class StretchedPart:
    """A limb, foot or other part whose bones cleanup stretches or shortens visibly.

    part : its name, as in `CleanResult.limbs`.
    start, stop : frames, half-open.
    scale : factor of its length where it changes most.
    plant : the plant that needs it; None if it is a free foot or hand, which has to stay above the floor.
    """

    part: str
    start: int
    stop: int
    scale: float
    plant: PlantUsed | None = None


@renamed_methods(figures="metrics")
@dataclass(frozen=True, slots=True, eq=False)
class CleanResult:
    """A cleaned motion and how much it was changed; F frames, E hands and feet.

    motion : the cleaned motion, with the contacts that were enforced, and with `bone_offsets` if limbs were scaled.
    limbs : names of the E hands and feet that were processed.
    scale : (F, E) factor of each limb's length relative to the input; 1 where it was not scaled.
    residue : (F, E) meters by which a planted point, or a wrist or ankle with a target, misses its position.
    shift : (F, 3) displacement of the entire body in meters.
    plants : the plants that were enforced, sorted by frame.
    foot_scale : (F, E) factor of the distance between the two points of each hand and foot, such as heel and ball.
    released : plants that end early, because the recorded hand or foot has slid too far away from them, or the body has
        moved away; see `max_pull`. The contacts of the motion have a gap there.
    below_floor : parts that are left more than 5 mm below the floor, because they are too far below it in the source.
    stretched : limbs and other parts that are scaled by more than 10 %, with the frames.
    """

    motion: Motion
    limbs: tuple[str, ...]
    scale: Floats
    residue: Floats
    shift: Floats
    plants: tuple[PlantUsed, ...]
    foot_scale: Floats
    released: tuple[PlantUsed, ...] = ()
    below_floor: tuple[BelowFloor, ...] = ()
    stretched: tuple[StretchedPart, ...] = ()

    @property
    def metrics(self) -> dict[str, float]:
        """Summary of the changes.

        Limb scaling (mean, 99th percentile, maximum) is a fraction of the limb's length, or of the foot's length where
        that changes more. The maximum residue and the maximum displacement of the body are in meters.
        """
        change = np.maximum(np.abs(self.scale - 1.0), np.abs(self.foot_scale - 1.0))
        empty = change.size == 0
        return {
            "limb_scaling_mean": 0.0 if empty else float(change.mean()),
            "limb_scaling_p99": 0.0 if empty else float(np.quantile(change, 0.99)),
            "limb_scaling_max": 0.0 if empty else float(change.max()),
            "residue_max": 0.0 if empty else float(self.residue.max()),
            "shift_max": float(np.linalg.norm(self.shift, axis=1).max()),
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the metrics, the limbs and the plants, ready for JSON."""
        lists = ("plants", "released", "below_floor", "stretched")
        plants = {name: [asdict(one) for one in getattr(self, name)] for name in lists}
        return {**self.metrics, "limbs": list(self.limbs), **plants}
