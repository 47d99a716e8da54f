"""Settings of controllers, motion matching and blend trees."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from marey.core.settings import Seed, Settings, option
from marey.play.settings import LiveSettings

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = [
    "BlendTreeSettings",
    "EvaluationSettings",
    "GoToSettings",
    "MatchingSettings",
    "SampleSettings",
    "SampledStreamSettings",
]


def _time_constant(default: float, help: str, label: str) -> Any:
    return option(default, help, label=label, unit="s", above=0, advanced=True)


class EvaluationSettings(Settings):
    """Settings of `evaluate_stream`."""

    turn: float = option(
        default=math.pi / 2,
        help="Angle of the requested turns: one to the left, two to the right, two to the left and so on, each after a "
        "random pause.",
        unit="rad",
    )
    n_turns: int = option(default=12, help="Number of requested turns.", label="Number of turns", min=1)
    timeout: float = option(default=6.0, help="Time to wait for each turn.", unit="s", above=0)
    path: ArrayLike | None = option(
        default=None,
        help="(n, 2) x, z in meters, path to steer the character along, starting at its first point. By default a "
        "figure eight with loops of 3 m radius.",
    )
    seconds: float = option(
        default=40.0,
        help="Duration after which the character is stopped, wherever it is on the path.",
        label="Time limit",
        unit="s",
        above=0,
    )
    speed: float | None = option(default=None, help="Speed to request. By default none.", unit="m/s", min=0)
    rng: Seed = option(default=0, help="Random seed of the pauses.", label="Random seed", min=0)


class GoToSettings(Settings):
    """Settings of `GoTo`."""

    heading: float | None = option(
        default=None, help="Heading at the target, from +Z, positive to the left. By default any.", unit="rad"
    )
    nodes: Sequence[str] | None = option(default=None, help="Names of the nodes to use. By default all.")
    short_way: float = option(
        default=0.75,
        help="How strongly to prefer a short path. With 0, the character arrives as soon as possible, even if it runs "
        "along a wide curve; larger values prefer slow, tight turns.",
        label="Prefer short paths",
        min=0,
        max=0.9,
    )


class MatchingSettings(LiveSettings):
    """Settings of `MotionMatching`: the first command, and when and how it jumps."""

    direction: float = option(
        default=0.0, help="First direction of travel, from +Z, positive to the left.", unit="rad", advanced=True
    )
    speed: float | None = option(
        default=None, help="First speed. By default the median speed of the clips.", unit="m/s", min=0, advanced=True
    )
    row: int | None = option(
        default=None,
        help="Frame to start at, counted over all clips. By default the one that fits the command best.",
        label="First frame", min=0, advanced=True,
    )  # fmt: skip
    search_every: float = option(
        default=0.1, help="Time between searches. A new command triggers a search immediately.",
        label="Search interval", unit="s", min=0, advanced=True,
    )  # fmt: skip
    min_gain: float = option(
        default=0.2, help="The search jumps to another frame only if this reduces the feature distance by at least "
        "this fraction.",
        label="Min improvement to jump", unit="fraction", min=0, max=1, advanced=True,
    )  # fmt: skip
    half_life: float = _time_constant(
        0.1, "Time in which the pose offset of a jump roughly halves.", "Half-life of offsets"
    )
    speed_half_life: float = _time_constant(
        0.25, "Half-life with which the predicted path approaches the requested speed.", "Half-life of speed"
    )
    facing_half_life: float = _time_constant(
        0.25, "Half-life with which the predicted path approaches the requested heading.", "Half-life of heading"
    )


class BlendTreeSettings(LiveSettings):
    """Settings of `BlendTreeStream`."""

    direction: float | None = option(
        default=0.0,
        help="Target heading in the world, from +Z. The stream steers toward it with the knob turn. Without a "
        "direction, that knob is set by hand.",
        unit="rad", advanced=True,
    )  # fmt: skip
    steer: float = _time_constant(0.5, "Time constant for correcting small direction errors.", "Steering time")
    half_life: float = _time_constant(
        0.1, "Time in which a knob moves about halfway to its requested value.", "Half-life of knobs"
    )


class SampleSettings(Settings):
    """Settings of `SampledCharacter.build`."""

    max_clips: int = option(
        default=60,
        help="Maximum number of clips for each node. More clips meet requests more exactly and take more space.",
        label="Clips per node", min=2, max=400,
    )  # fmt: skip
    fps: float | None = option(
        default=None,
        help="Frames per second of the clips. Players interpolate between them, so 30 is enough for a smooth picture. "
        "By default 30, or 60 or 120 if clips of a lower rate could not follow each other.",
        label="Frame rate", min=10, max=240,
    )  # fmt: skip


class SampledStreamSettings(LiveSettings):
    """Settings of `SampledStream`."""

    feet: Literal["clean", "lock"] | None = option(
        default="lock",
        help='"lock" holds planted feet without a delay, as the exported player does. "clean" removes foot skate and '
        "delays the output. With none, the feet stay as they are.",
    )
    rng: Seed = option(default=0, help="Random seed of the command ``wander``.", label="Random seed", min=0)
