"""Settings of the cleanup, and explicit plants and targets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from marey.core.arrays import Floats, FrozenRecord, check_index, check_list, freeze_array, set_readonly
from marey.core.joint_limits import JointLimits, check_joint_limits
from marey.core.settings import Settings, option
from marey.deprecation import renamed_fields
from marey.errors import InvalidValue, UnknownName, similar

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from marey.clean.contacts import Plane
    from marey.core.contacts import Contacts

EFFECTORS = ("left_foot", "right_foot", "left_hand", "right_hand")


def _window(default: float, help: str, label: str) -> Any:
    return option(default, help, label=label, unit="s", min=0, max=10, advanced=True)


class SupportSettings(Settings):
    """What the body stands on."""

    floor: float | None = option(
        default=None, help="Height of the floor. By default the one stored with the motion, else it is detected.",
        label="Floor height", unit="m", advanced=True,
    )  # fmt: skip
    planes: Sequence[Plane] | None = option(
        default=None,
        help="Supports in addition to the floor: heights in meters, or (height, a, b) for the slope y = height + a x + "
        "b z. No others are then detected; with an empty list everything stands on the floor. By default "
        "raised supports are detected: a foot clearly above the floor stands on one at its height.",
    )


class ContactSettings(SupportSettings):
    """Settings of contact detection.

    Speeds, heights and durations are for a body with legs of 0.85 m. They are scaled to the actual body: heights with
    leg length, speeds and durations with its square root (see `Scale`).
    """

    hands: bool = option(
        default=False, help="Also detect contacts of wrists and fingertips, with the floor and other supports.",
        label="Detect hands too",
    )  # fmt: skip
    body: bool = option(
        default=False,
        help="Also detect contacts of hands, knees, elbows, pelvis, back and head with the floor, as in kneeling, "
        "crawling, lying and rolling.",
        label="Detect whole body",
    )  # fmt: skip
    enter_speed: float = option(
        default=0.35,
        help="In at least one frame of a contact, the point is slower than this.",
        unit="m/s",
        above=0,
        advanced=True,
    )
    keep_speed: float = option(
        default=0.6,
        help="A contact lasts while the point is slower than this. It applies to a body that travels at 1.5 m/s and "
        "scales with the speed of travel, from a factor of 0.9 when standing to 1.35 when running.",
        unit="m/s", above=0, advanced=True,
    )  # fmt: skip
    enter_height: float = option(
        default=0.025, help="In at least one frame of a contact, the point is lower than this above its height at "
        "rest on the support.", unit="m", above=0, advanced=True,
    )  # fmt: skip
    keep_height: float = option(
        default=0.035, help="A contact lasts while the point is lower than this above its height at rest on the "
        "support.", unit="m", above=0, advanced=True,
    )  # fmt: skip
    gap: float = option(
        default=0.05, help="Shorter interruptions of a contact are closed.", unit="s", min=0, advanced=True
    )
    duration: float = option(default=0.075, help="Shorter contacts are dropped.", unit="s", min=0, advanced=True)

    def check(self) -> None:
        """Raise `InvalidValue` if a threshold for starting a contact is above the one for keeping it."""
        for what in ("speed", "height"):
            enter, keep = getattr(self, f"enter_{what}"), getattr(self, f"keep_{what}")
            if enter > keep:
                raise InvalidValue(
                    f"enter_{what} must be at most {keep:g} (the value of `keep_{what}=`), not {enter:g}",
                    parameter=f"enter_{what}",
                )


@renamed_fields(average="plant_window", blend="orientation_window", root="body_window", fade="fade_window")
class CleanSettings(SupportSettings):
    """Settings of the cleanup. L1 to L4 are the time windows of Kovar 3.2."""

    contacts: Contacts | None = option(
        default=None, help="The contacts to enforce. By default the motion's own; if it has none, they are detected."
    )
    hands: bool = option(
        default=False, help="Also detect contacts of the hands, if the motion has none of them.", label="Lock hands too"
    )
    body: bool = option(
        default=False,
        help="Also detect contacts of hands, knees, elbows, pelvis, back and head, if the motion has none of them. "
        "They are held in place and lifted out of the floor like feet.",
        label="Lock whole body",
    )  # fmt: skip
    plants: Sequence[PlantAt] = option(
        default=(), help="Fixed positions for contact points, each for the entire contact that it is part of."
    )
    targets: Sequence[Target] = option(
        default=(), help="Positions that hands and feet should reach in some frames, fixed or moving."
    )
    max_stretch: float = option(
        default=0.2,
        help="Maximum change of the length of a limb, or of a foot from heel to ball. Plants take priority over "
        "straight knees: with 0, bone lengths are constant, and knees of nearly straight legs may snap. The "
        "remaining distance to a plant that is out of reach is the residue.",
        label="Max limb stretch", unit="fraction", min=0, below=1,
    )  # fmt: skip
    max_pull: float = option(
        default=0.2,
        help="Maximum distance between a plant and the recorded foot. Where a foot slides farther than this during one "
        "contact, it is freed for a moment and planted again. Feet are lifted by at most 1.45 times this.",
        label="Max foot displacement", unit="m", above=0, advanced=True,
    )  # fmt: skip
    smooth: bool = option(
        default=True,
        help="Keep velocities continuous where contacts begin and end (C1), not only positions (C0, as in Kovar).",
    )
    roll: Literal["source", "flat"] = option(
        default="source",
        help='Roll of a planted foot about the line from heel to ball: "source" for the smallest change, "flat" for '
        "the ankle straight above that line.",
        label="Foot roll", advanced=True,
    )  # fmt: skip
    damping_from: float = option(
        default=0.75 * math.pi,
        help="Angle of knees and elbows above which damping begins: the straighter the limb, the less they rotate, and "
        "the limb is scaled instead. 180 degrees (pi radians) disables damping.",
        label="Knee damping angle", unit="rad", above=0, max=math.pi, advanced=True,
    )  # fmt: skip
    swivel: float = option(
        default=0.5, help="How far knee and elbow swivel to reduce the rotation of ankle and wrist.",
        label="Knee swivel", unit="fraction", min=0, max=1, advanced=True,
    )  # fmt: skip
    gap: float = _window(
        0.05, "Contacts of one point that are closer together than this form one plant.",
        "Join contacts within",
    )  # fmt: skip
    plant_window: float = _window(
        0.35, "L1, window over which a plant's position is averaged. Longer than Kovar's 0.25 s, because recorded feet "
        "drift throughout their stance.",
        "Plant averaging",
    )  # fmt: skip
    orientation_window: float = _window(
        0.12, "L2, window over which the orientation of a foot with two plants fades into frames with one.",
        "Foot orientation fade",
    )  # fmt: skip
    body_window: float = _window(
        0.45, "L3, half the width of the bell-shaped window that smooths the displacement of the body.",
        "Body smoothing",
    )  # fmt: skip
    fade_window: float = _window(
        0.4, "L4, window over which adjustments fade into free frames.",
        "Fade into free frames",
    )  # fmt: skip

    joint_limits: JointLimits | str | None = option(
        default=None,
        help="Joint limits to respect: a file, such as limits.json, or from `marey.core.learn_joint_limits`. "
        "Where they keep a foot or hand from its place, the remaining distance is the residue.",
    )

    def check(self) -> None:
        """Raise `InvalidValue` if plants, targets or joint limits have a wrong type."""
        check_joint_limits(self.joint_limits)
        object.__setattr__(self, "plants", check_list(self.plants, PlantAt, "plants"))
        object.__setattr__(self, "targets", check_list(self.targets, Target, "targets"))


@dataclass(frozen=True, slots=True, eq=False)
class PlantAt(FrozenRecord):
    """A plant that fixes a contact point at `position` (3,) meters from frame `start` to `stop`, half-open.

    Examples
    --------
    >>> from marey.clean import PlantAt
    >>> start, stop = walk.contacts.intervals("left_ball")[1]
    >>> plant = PlantAt("left_ball", start, stop, position=[0.12, 0.0, 1.0])
    >>> marey.clean(walk, plants=[plant]).contacts.intervals("left_ball")[1] == (start, stop)
    True
    """

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

    Examples
    --------
    >>> from marey.clean import Target
    >>> up = Target("right_hand", start=60, stop=90, position=walk.world().positions[75, 0] + [-0.3, 0.5, 0.3])
    >>> reached = marey.clean(walk, targets=[up])
    >>> np.allclose(reached.world().positions[75, walk.skeleton.roles["right_hand"]], up.position, atol=0.01)
    True
    """

    effector: str
    start: int
    stop: int
    position: Floats
    orientation: Floats | None = None

    def __post_init__(self) -> None:
        if self.effector not in EFFECTORS:
            near = similar(str(self.effector), EFFECTORS)
            raise UnknownName(
                f"effector of a target must be one of {', '.join(EFFECTORS)}, not {self.effector!r}{near}"
            )
        what = f"the target of {self.effector}"
        n = _check_span(self.start, self.stop, what)
        self._put(position=_check_rows(self.position, n, 3, f"position of {what}"))
        if self.orientation is not None:
            rotated = _check_rows(self.orientation, n, 4, f"orientation of {what}")
            length = np.linalg.norm(rotated, axis=1)
            if np.abs(length - 1.0).max() > 1e-6:
                raise InvalidValue(
                    f"orientation of {what} must be unit quaternions, got one of length "
                    f"{length[np.abs(length - 1.0).argmax()]:.6g}"
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
