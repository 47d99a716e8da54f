"""Settings of splicing, transplanting and gaze."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from marey.core.settings import Seed, Settings, option, positional_option
from marey.edit.settings import SkeletonSettings

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from marey.layer.time_alignment import TimeMap


class SlopeSettings(Settings):
    """How much clips may be sped up or slowed down to be aligned in time."""

    slope_limit: int = option(
        2, "Largest ratio of the two clips' playback speeds.", label="Max speed ratio", min=1, max=20, advanced=True
    )


class AlignSettings(SlopeSettings):
    """How an upper clip is aligned with a lower clip in time."""

    align: Literal["loop", "first_minimum"] = option(
        "loop", '"loop": the upper clip may begin anywhere in its first cycle, and it loops through its gait if it is '
        "too short. \"first_minimum\" (Heck 4.2.2): it is cropped to the first frame that matches the lower clip's "
        "first frame, and the result ends when either clip ends.", label="Timing", advanced=True,
    )  # fmt: skip


class TimesSettings(Settings):
    """A time alignment that is known already."""

    times: TimeMap | None = option(None, "Time alignment from `align_motions`, to use instead of computing one.")


class NaiveSpliceSettings(TimesSettings):
    """Settings of `splice_naive`."""

    aligned: bool = option(
        False, "Use the time alignment of `splice`. Otherwise the upper clip plays from its first frame at its "
        "original speed; if it is too short, it loops as in `splice`, or holds its last frame if it has no gait cycle.",
    )  # fmt: skip


class PostureSettings(TimesSettings):
    """What a splice takes from the posture of the upper clip, and a given time alignment."""

    posture: Literal["pitch", "full"] | None = option(
        "pitch", "\"pitch\" restores how far the upper clip leans forward or backward and keeps the lower clip's lean "
        "into turns; \"full\" restores its complete posture (Heck 4.2.4); without either, the lower clip's posture "
        "remains.",
    )  # fmt: skip


class SpliceSettings(SkeletonSettings, PostureSettings, AlignSettings):
    """Settings of a splice."""


class SplicerSettings(PostureSettings):
    """Settings of a splice at run time."""

    average: Literal["running", "stored"] = option(
        "running", 'Estimate of the posture before transfer, which is not known in advance at run time. "running" '
        "averages over the frames so far, starting from the lower clip's posture; \"stored\" uses the lower clip's "
        "posture.", advanced=True,
    )  # fmt: skip
    postures: tuple[Any, Any] | None = option(
        None, "Two postures (2, 3) in meters, before and after the transfer, to use instead of the estimates."
    )


class TransplantSettings(SkeletonSettings):
    """Settings of `transplant`."""

    joints: str | Sequence[str] | Mapping[str, float] = option(
        (), "Limbs (left_arm, right_arm, arms, left_leg, right_leg, legs, head, upper_body), roles or joint names, "
        "each with all of its descendants. Or a mapping from these names to weights from 0 to 1, which apply to "
        "exactly these joints.",
    )  # fmt: skip
    falloff: int | None = option(
        None, "Number of joints toward the hips over which the weights fall off; 0 for a sharp edge. By default all "
        "joints up to the hips.", label="Blended joints", min=0, advanced=True,
    )  # fmt: skip
    at: float = option(0.0, "Time in the base motion at which the donor begins.", label="Start at", unit="s", min=0)
    ease: float = option(
        0.3, "Duration of fading the donor in and out, if it begins or ends within the base motion.",
        label="Fade in and out", unit="s", min=0,
    )  # fmt: skip


class GazeSettings(Settings):
    """Settings of looks at gaze targets."""

    steady: bool = option(
        True, "Let the eyes compensate for the body's bobbing while they look at a gaze target.", label="Stabilize eyes"
    )
    forward: str | ArrayLike = option(
        "clip", 'Direction in which the head looks. "clip" assumes that the clip looks straight ahead on average, '
        'because head joints in files are up to 20 degrees off; "rest" takes it from the rest pose; or a direction '
        "(3,) in the head's local axes.",
    )  # fmt: skip
    eyes: str | Sequence[str] | None = option(
        None, '"add" adds a joint to the head that points where the eyes look; names of children of the head joint '
        "rotate these with the eyes. By default there are no eye joints.",
    )  # fmt: skip
    smoothing: float = option(
        0.3, "Standard deviation of the Gaussian that extracts the slow rotation of body and head.",
        unit="s", min=0, max=60, advanced=True,
    )  # fmt: skip


class GazeMapSettings(Settings):
    """Settings of a gaze map."""

    k: int = option(
        6, "Number of nearest blends that are averaged for a gaze target, at least 4: the farthest of them gets no "
        "weight, and yaw and pitch need the other three.", label="Number of blends averaged", min=4, advanced=True,
    )  # fmt: skip
    rng: Seed = option(0, "Random seed of the sampled blends.", label="Random seed", min=0, advanced=True)


class GazeExampleSettings(Settings):
    """Settings of the extraction of a look from a recording."""

    triads: Mapping[str, Any] | str | os.PathLike[str] | None = positional_option(
        default=None,
        help="The markers on each body part, as a mapping or a JSON file: base, one marker at the base of the spine; "
        "pelvis, lower_spine, upper_spine and neck, at least three each; if known, front and back.",
        kw_only=False,
    )
    start: int | None = option(
        None, "First frame of the recorded gaze movement, for recordings in which no rest is found; its first and last "
        "0.2 s are taken as rest.", advanced=True,
    )  # fmt: skip
    stop: int | None = option(None, "The frame after the last one of the recorded gaze movement.", advanced=True)
    facing: float | None = option(
        None, "Yaw of the body at rest in the world, to the left of +Z. By default it is taken from the clip, or from "
        "the markers front and back, else 0.", unit="rad", advanced=True,
    )  # fmt: skip
    eye_lead: float = option(
        0.04, "How long before the first visible movement the eyes start.", unit="s", min=0, max=1, advanced=True
    )
