"""Settings of the edits."""

from __future__ import annotations

import os
from typing import Literal

from marey.core.feet import feet_option
from marey.core.motion import Motion
from marey.core.settings import Settings, option, positional_option
from marey.core.skeleton import Skeleton
from marey.errors import InvalidValue

OneSkeleton = bool | Skeleton | Motion | str | os.PathLike[str]


class SkeletonSettings(Settings):
    """Settings shared by operations that combine several motions, which must have the same skeleton."""

    retarget: OneSkeleton = option(
        False, "On: retarget motions of different skeletons, with planted feet, onto the most frequent one, or onto a "
        "given skeleton, motion or file. Off: reject them.",
    )  # fmt: skip


class CycleSettings(Settings):
    """Settings of `cycle`."""

    start: int | None = positional_option(
        default=None,
        help="First frame of the loop. By default the frame that closes the loop best is found; a loop is at least "
        "0.4 s long.",
        min=0, kw_only=False,
    )  # fmt: skip
    stop: int | None = positional_option(
        default=None,
        help="Frame of the clip that corresponds to the first frame of the loop, one cycle later; the loop ends before "
        "it. By default it is found.",
        min=0, kw_only=False,
    )  # fmt: skip
    repeats: int = option(1, "Number of cycles in the result, each continuing the one before.", min=1)
    feet: Literal["clean"] | None = feet_option("closing the loop puts them")


class ConnectSettings(Settings):
    """Settings of `connect`."""

    gap: float = option(
        0.5, "Duration from the last frame of the first clip to the first frame of the second, rounded to a number of "
        "frames, at least one.", unit="s", min=0, max=3600,
    )  # fmt: skip
    align: bool = option(
        True, "Move the second clip on the floor so that it faces the same way as the end of the first. It starts "
        "where the first would arrive if it continued through the gap at the mean velocity of both. Otherwise the "
        "second clip stays where it is.",
    )  # fmt: skip
    feet: Literal["clean"] | None = feet_option("interpolation puts them")


class DeseamSettings(Settings):
    """Settings of `deseam`: how the jump fades out. At most one of the options may be given."""

    seconds: float | None = option(
        None, "Fade out the jump over this duration, by eased interpolation.", label="Fade duration", unit="s", above=0
    )
    half_life: float | None = option(
        None, "Fade out the jump by inertialization with this half-life. If neither a half-life nor a fade duration is "
        "given, the half-life is 0.1 s.", label="Half-life", unit="s", above=0,
    )  # fmt: skip

    def check(self) -> None:
        """Raise an error if both are given."""
        if self.seconds is not None and self.half_life is not None:
            raise InvalidValue("the jump fades out either over a duration or with a half-life; give `seconds=` or "
                               "`half_life=`, not both")  # fmt: skip


class EditPathSettings(Settings):
    """Settings of `edit_path`."""

    stretch: bool = option(False, "Scale the travel to cover the entire new path; steps become longer or shorter.")
    smooth: float = option(
        0.4, "Standard deviation, in seconds, of the Gaussian that removes sway from the traveled path.",
        label="Smoothing", unit="s", min=0, max=60, advanced=True,
    )  # fmt: skip
    feet: Literal["clean"] | None = feet_option("the bent path carries them")


class InPlaceSettings(Settings):
    """Settings of `make_in_place`."""

    remove: Literal["start", "travel", "turns"] = option(
        "travel", '"start" removes only where the motion starts: it begins over the origin, facing +Z, with the floor '
        'at height 0, and travels as before (root motion). "travel" also removes the travel over the floor, and '
        '"turns" the changes of direction too.', label="Remove",
    )  # fmt: skip
    smooth: float = option(
        0.0, "Standard deviation, in seconds, of the Gaussian that smooths the removed path. 0 keeps the hips exactly "
        "over the origin, so loops stay loops; 0.4 keeps their sway.", label="Smoothing", unit="s", min=0, max=60,
        advanced=True,
    )  # fmt: skip


class RetargetSettings(Settings):
    """Settings of `retarget`."""

    pose: int | None = option(
        None, "Frame of the motion with the reference pose, standing upright on flat feet. By default its rest pose; "
        "if that does not stand, the frame in which it stands straightest.", min=0, label="Reference frame",
    )  # fmt: skip
    target_pose: int | None = option(
        None, "Frame of the target with the same pose, if it is a motion. By default as for the motion.", min=0,
        label="Reference frame of the target",
    )  # fmt: skip
    hands: Literal["together", "targets"] | None = option(
        None, '"together" keeps hands that are close to each other proportionally close; "targets" moves hands to the '
        "positions of the source's hands, scaled like the path, as on a rail or a table. By default arms only copy "
        "rotations.",
    )  # fmt: skip
    feet: Literal["clean"] | None = feet_option("the rotated legs put them")


class WarpSettings(Settings):
    """Settings of `warp`."""

    ease: float = option(
        0.5, "Duration in which the motion is eased into the first key and out of the last. If the motion begins or "
        "ends within this time, it begins or ends displaced.", unit="s", above=0,
    )  # fmt: skip
    continuity: int = option(
        1, "1 for cubic splines with continuous velocities, 2 for quintic ones with continuous accelerations.",
        min=1, max=2, advanced=True,
    )  # fmt: skip
    orientation: Literal["world", "limb"] | None = option(
        None, 'Orientation of displaced hands and feet: "world" keeps their orientation in the world, "limb" keeps it '
        "relative to forearm or shin, as for a kick. By default world for feet and limb for hands.",
    )  # fmt: skip
    max_stretch: float = option(
        0.0, "Fraction by which limbs may be scaled to reach farther; 0 keeps all bone lengths.",
        unit="fraction", min=0, below=1,
    )  # fmt: skip
    feet: Literal["clean"] | None = feet_option("moved hips carry them")


class SmoothSettings(Settings):
    """Settings of `smooth`."""

    strength: float = option(
        1.0, "Factor for the measured noise. Above 1, smoothing is stronger and also affects movement; below 1, more "
        "noise remains.",
        min=0, max=10,
    )  # fmt: skip
    max_window: float = option(
        0.8, "Longest time over which a joint is averaged, used while it rests; the faster it moves, the shorter the "
        "time.", unit="s", above=0, advanced=True,
    )  # fmt: skip


class RepairSettings(Settings):
    """Settings of `repair`."""

    level: bool = option(False, "Also level a tilted or drifting floor.")
