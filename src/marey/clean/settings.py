"""Settings of the cleanup, and explicit plants and targets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from marey.core.arrays import Floats, FrozenRecord, check_index, freeze_array, set_readonly
from marey.errors import InvalidValue

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

EFFECTORS = ("left_foot", "right_foot", "left_hand", "right_hand")
_WINDOWS = ("gap", "average", "blend", "root", "fade")


@dataclass(frozen=True, slots=True)
class CleanSettings:
    """Settings of the cleanup: time windows in seconds, and the treatment of limbs. L1 to L4 are those of Kovar 3.2.

    Parameters
    ----------
    gap : contacts of one point that are closer together than this form one plant.
    average : L1, window over which a plant's position is averaged. Longer than Kovar's 0.25 s, because recorded feet
        drift throughout their stance.
    blend : L2, window over which the orientation of a foot with two plants fades into frames with one.
    root : L3, half the width of the bell-shaped window that smooths the displacement of the body.
    fade : L4, window over which adjustments fade into free frames.
    damping_from : radians. Knees and elbows straighter than this rotate less and less, and the limb is scaled instead.
        pi disables damping.
    swivel : in [0, 1], how far knee and elbow swivel to reduce the rotation of ankle and wrist.
    max_stretch : in [0, 1), maximum scaling of a limb, or of a foot from heel to ball, as a fraction of its length.
        Plants take priority: if damping would scale a limb more than this, the knee rotates after all. So with 0
        (constant bone lengths) no knee is damped, and knees of nearly straight legs may snap. The remaining distance to
        a plant that is out of reach is the residue.
    smooth : True for velocities that are continuous where constraints begin and end (C1), False for continuous
        positions only (C0, as in Kovar).
    roll : roll of a foot with two plants about the line between them: "source" for the smallest change, or "flat" for
        the ankle straight above.
    """

    gap: float = 0.05
    average: float = 0.35
    blend: float = 0.12
    root: float = 0.45
    fade: float = 0.4
    damping_from: float = 0.75 * np.pi
    swivel: float = 0.5
    max_stretch: float = 0.2
    smooth: bool = True
    roll: str = "source"

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            number = isinstance(value, int | float) and not isinstance(value, bool) and np.isfinite(value)
            if field.name in _WINDOWS and not (number and 0 <= value <= 10):
                raise InvalidValue(f"{field.name} must be a number of seconds from 0 to 10, got {value!r}")
            if field.name in ("damping_from", "swivel", "max_stretch") and not number:
                raise InvalidValue(f"{field.name} must be a number, got {value!r}")
        if not 0 < self.damping_from <= np.pi:
            raise InvalidValue(f"damping_from must be greater than 0 and at most pi radians, got {self.damping_from:g}")
        if not 0 <= self.swivel <= 1:
            raise InvalidValue(f"swivel must be from 0 to 1, got {self.swivel:g}")
        if not 0 <= self.max_stretch < 1:
            raise InvalidValue(f"max_stretch must be at least 0 and less than 1, got {self.max_stretch:g}")
        if self.roll not in ("source", "flat"):
            raise InvalidValue(f"roll must be 'source' or 'flat', got {self.roll!r}")


@dataclass(frozen=True, slots=True, eq=False)
class PlantAt(FrozenRecord):
    """Fix a contact point at `position` (3,) meters from frame `start` to `stop`, half-open."""

    point: str
    start: int
    stop: int
    position: Floats

    def __post_init__(self) -> None:
        _check_span(self.start, self.stop, f"the plant of {self.point!r}")
        self._put(position=freeze_array(self.position, f"position of {self.point!r}", (3,)))


@dataclass(frozen=True, slots=True, eq=False)
class Target(FrozenRecord):
    """Target of a hand or foot (its wrist or ankle joint) from frame `start` to `stop`, half-open.

    Parameters
    ----------
    effector : "left_foot", "right_foot", "left_hand" or "right_hand".
    position : (3,) meters, or (stop - start, 3) if it moves.
    orientation : world rotation, (4,) or (stop - start, 4); None keeps that of the motion.

    Contacts of the same hand or foot are not enforced in these frames. Contacts of other limbs are: they take priority
    over a target that is out of reach, and a target far out of reach does not move the body.
    """

    effector: str
    start: int
    stop: int
    position: Floats
    orientation: Floats | None = None

    def __post_init__(self) -> None:
        if self.effector not in EFFECTORS:
            raise InvalidValue(f"effector of a target must be one of {', '.join(EFFECTORS)}, got {self.effector!r}")
        what = f"the target of {self.effector}"
        n = _check_span(self.start, self.stop, what)
        self._put(position=_check_rows(self.position, n, 3, f"position of {what}"))
        if self.orientation is not None:
            rotated = _check_rows(self.orientation, n, 4, f"orientation of {what}")
            length = np.linalg.norm(rotated, axis=1)
            if np.abs(length - 1.0).max() > 1e-6:
                raise InvalidValue(
                    f"orientation of {what} must be unit quaternions, got one of length {length.max():.6g}"
                )
            self._put(orientation=set_readonly(rotated / length[:, None]))


def _check_span(start: Any, stop: Any, what: str) -> int:
    first, last = check_index(start, f"start of {what}"), check_index(stop, f"stop of {what}")
    if not 0 <= first < last:
        raise InvalidValue(f"{what} must have 0 <= start < stop, got {first} to {last}")
    return last - first


def _check_rows(value: ArrayLike, n: int, width: int, what: str) -> Floats:
    """Return an array (n, width), from one row or from n rows."""
    array = np.asarray(value)
    rows = freeze_array(np.atleast_2d(array), what, (None, width))
    if len(rows) not in (1, n):
        raise InvalidValue(f"{what} must have 1 row or one for each of its {n} frames, got {len(rows)}")
    return set_readonly(np.broadcast_to(rows, (n, width)).copy())


def check_targets_apart(targets: Sequence[Target]) -> None:
    """Raise an error if targets of one hand or foot overlap."""
    ordered = sorted(targets, key=lambda one: (one.effector, one.start))
    for a, b in pairwise(ordered):
        if a.effector == b.effector and b.start < a.stop:
            raise InvalidValue(f"two targets of {a.effector} overlap: frames {a.start}-{a.stop} and {b.start}-{b.stop}")


def check_plants_apart(plants: Sequence[PlantAt]) -> None:
    """Raise an error if given plants of one point overlap."""
    ordered = sorted(plants, key=lambda one: (one.point, one.start))
    for a, b in pairwise(ordered):
        if a.point == b.point and b.start < a.stop:
            raise InvalidValue(f"two plants of {a.point!r} overlap: frames {a.start}-{a.stop} and {b.start}-{b.stop}")
