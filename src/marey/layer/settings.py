"""Settings of splicing, transplanting and gaze."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from marey.core.settings import Seed, Settings, option
from marey.edit.settings import SkeletonSettings

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from marey.layer.phase import TimeMap


class SlopeSettings(Settings):
    """How much clips may be sped up or slowed down to be aligned in time."""

    slope_limit: int = option(
        default=2, help="Largest ratio of the two clips' playback speeds.",
        label="Max speed ratio", min=1, max=20, advanced=True,
    )  # fmt: skip


class AlignSettings(SlopeSettings):
    """How an upper clip is aligned with a lower clip in time."""

    align: Literal["loop", "first_minimum"] = option(
        default="loop",
        help='"loop": the upper clip may begin anywhere in its first cycle, and it loops through its gait if it is too '
        'short. "first_minimum" (Heck 4.2.2): it is cropped to the first frame that matches the lower clip\'s first '
        "frame, and the result ends when either clip ends.",
        label="Timing", advanced=True,
    )  # fmt: skip


class TimesSettings(Settings):
    """A time alignment that is known already."""

    times: TimeMap | None = option(
        default=None, help="Time alignment from `align_motions`, to use instead of computing one."
    )


class NaiveSpliceSettings(TimesSettings):
    """Settings of `splice_naive`."""

    aligned: bool = option(
        default=False,
        help="Use the time alignment of `splice`. Otherwise the upper clip plays from its first frame at its original "
        "speed; if it is too short, it loops as in `splice`, or holds its last frame if it has no gait cycle.",
    )


class PostureSettings(TimesSettings):
    """What a splice takes from the posture of the upper clip, and a given time alignment."""

    posture: Literal["pitch", "full"] | None = option(
        default="pitch",
        help='"pitch" restores how far the upper clip leans forward or backward and keeps the lower clip\'s lean into '
        'turns; "full" restores its complete posture (Heck 4.2.4); without either, the lower clip\'s posture remains.',
    )


class SpliceSettings(SkeletonSettings, PostureSettings, AlignSettings):
    """Settings of a splice."""


class SplicerSettings(PostureSettings):
    """Settings of a splice at run time."""

    average: Literal["running", "stored"] = option(
        default="running",
        help='Estimate of the posture before transfer, which is not known in advance at run time. "running" averages '
        "over the frames so far, starting from the lower clip's posture; \"stored\" uses the lower clip's posture.",
        advanced=True,
    )
    postures: tuple[Any, Any] | None = option(
        default=None,
        help="Two postures (2, 3), before transfer and wanted, in meters, to use instead of the estimates.",
    )


class TransplantSettings(SkeletonSettings):
    """Settings of a transplant."""

    joints: str | Sequence[str] | Mapping[str, float] = option(
        default=(),
        help="Limbs (left_arm, right_arm, arms, left_leg, right_leg, legs, head, upper_body), roles or joint names, "
        "each with all of its descendants. Or a mapping from these names to weights from 0 to 1, which apply to "
        "exactly these joints.",
    )
    falloff: int | None = option(
        default=None,
        help="Number of joints toward the hips over which the weights fall off; 0 for a sharp edge. By default all "
        "joints up to the hips.",
        label="Blended joints", min=0, advanced=True,
    )  # fmt: skip
    at: float = option(
        default=0.0, help="Time in the base motion at which the donor begins.", label="Start at", unit="s", min=0
    )
    ease: float = option(
        default=0.3,
        help="Duration of fading the donor in and out, if it begins or ends within the base motion.",
        label="Fade in and out", unit="s", min=0,
    )  # fmt: skip


class GazeSettings(Settings):
    """Settings of looks at goals."""

    steady: bool = option(
        default=True, help="Let the eyes compensate for the body's bobbing while they look at a goal.",
        label="Stabilize eyes",
    )  # fmt: skip
    forward: str | ArrayLike = option(
        default="clip",
        help='Direction in which the head looks. "clip" assumes that the clip looks straight ahead on average, because '
        'head joints in files are up to 20 degrees off; "rest" takes it from the rest pose; or a direction (3,) in the '
        "head's local axes.",
    )
    eyes: str | Sequence[str] | None = option(
        default=None,
        help='None for no eye joints; "add" to add a joint to the head that points where the eyes look; or names of '
        "children of the head joint that should rotate with the eyes.",
    )
    smoothing: float = option(
        default=0.3,
        help="Standard deviation of the Gaussian that extracts the slow rotation of body and head.",
        unit="s", min=0, max=60, advanced=True,
    )  # fmt: skip


class GazeMapSettings(Settings):
    """Settings of a gaze map."""

    k: int = option(
        default=6,
        help="Number of nearest blends that are averaged for a goal. The farthest one gets no weight, and two angles "
        "need at least three.",
        label="Nearest blends", min=4, advanced=True,
    )  # fmt: skip
    rng: Seed = option(
        default=0, help="Random seed of the sampled blends.", label="Random seed",
        min=0, advanced=True,
    )  # fmt: skip


class GazeExampleSettings(Settings):
    """Settings of extracting a look from a recording."""

    triads: Mapping[str, Any] | str | os.PathLike[str] | None = option(
        default=None,
        help="The markers on each body part, as a mapping or a JSON file; see `check_triads`.",
        kw_only=False,
    )
    start: int | None = option(
        default=None,
        help="First frame of the look, for recordings in which no rest is found; its first and last 0.2 s are taken as "
        "rest.",
        advanced=True,
    )
    stop: int | None = option(default=None, help="End of the frames of the look, exclusive.", advanced=True)
    facing: float | None = option(
        default=None,
        help="Yaw of the body at rest in the world, to the left of +Z. By default it is taken from the clip, or from "
        "the markers `front` and `back`, else 0.",
        unit="rad",
        advanced=True,
    )
    eye_lead: float = option(
        default=0.04, help="How long before the first visible movement the eyes start.", unit="s", min=0, max=1,
        advanced=True,
    )  # fmt: skip
