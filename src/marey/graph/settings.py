"""Settings of the operations on motion graphs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from marey.core.arrays import check_frame_count
from marey.core.feet import feet_option
from marey.core.settings import ProgressSettings, Seed, Settings, WorkSettings, option, positional_option
from marey.edit.settings import SkeletonSettings
from marey.errors import InvalidValue
from marey.play.settings import LiveSettings

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Threshold = float | str


class SpreadSettings(Settings):
    """How the weights of random blends are drawn."""

    rng: Seed = option(0, "Random seed of the variations.", label="Random seed", min=0, advanced=True)
    spread: float = option(
        1.0, "How far variations may differ from the mean of the takes: 0 always gives the mean, 1 gives any mixture "
        "with equal probability, and larger values extrapolate beyond the takes.",
        label="Spread of variations", min=0, max=1.5, advanced=True,
    )  # fmt: skip


class VariationSettings(SpreadSettings):
    """Settings of `variations`."""

    feet: Literal["clean"] | None = feet_option("the blend puts them")


class ClipGraphSettings(SpreadSettings, SkeletonSettings, ProgressSettings):
    """Settings of both ways to build a graph from clips."""

    fps: float | None = option(
        None, "Frame rate of the graph. By default the highest rate of the clips.",
        label="Frame rate", unit="1/s", above=0, advanced=True,
    )  # fmt: skip
    min_seconds: float = option(
        2.0, "A label is reported as a finding if less of its motion than this can be played endlessly.",
        label="Report labels shorter than", unit="s", min=0, advanced=True,
    )  # fmt: skip
    variations: int = option(
        0, "Number of random blends to add as extra clips for each action with several takes.",
        label="Variations per action", min=0, max=1000, advanced=True,
    )  # fmt: skip


class GraphSettings(ClipGraphSettings, WorkSettings):
    """Settings of `MotionGraph.build`."""

    threshold: Threshold = positional_option(
        default=0.06,
        help="Largest distance of a transition in meters, or a percentage such as ``10%``, which keeps the best 10 % "
        "of all local minima.",
        kw_only=False,
    )
    thresholds: Mapping[tuple[str, str], Threshold] | None = option(
        None, "Thresholds keyed by pairs of labels (from, to), used in place of `threshold`; 0 forbids transitions "
        "between them.",
    )  # fmt: skip
    window: float = option(
        0.5, "Length of a transition, and of the window over which frames are compared.",
        label="Transition length", unit="s", above=0,
    )  # fmt: skip
    window_shape: Literal["triangle", "box", "gaussian"] = option(
        "triangle", 'Weights of the frames in the window: "triangle" gives the middle frame the most weight, "box" '
        'gives all frames the same weight.',
        label="Window weights", advanced=True,
    )  # fmt: skip
    markers: str | Sequence[str] = option(
        "body", "Points to compare: body, upper, lower, large, root_knees, or a list of joints and roles."
    )
    per_joint: int = option(
        1, "Number of markers on each joint; more than one also compares orientations (Kovar 4.1.4).",
        label="Markers per joint", min=1, max=3, advanced=True,
    )  # fmt: skip
    weights: Mapping[str, float] | None = option(
        None,
        "Weights of the markers by name, such as 2 for the hips; 1 for those that are not named. 0 ignores one.",
    )
    contact_penalty: float = option(
        0.0, "Penalty p for different contacts: p^2 times the fraction of contact points that differ is added to the "
        "squared distance between two frames. With 1 m, transitions between different contacts are practically "
        "excluded.",
        label="Penalty for different contacts", unit="m", min=0, max=100, advanced=True,
    )  # fmt: skip
    max_search_distance: float | None = option(
        None, "Look only for transitions up to this distance. Frames that are known to be farther apart are not "
        "compared, so large sets are built faster. Percentages then refer to the minima up to this distance. By "
        "default unlimited.", label="Max distance searched", unit="m", above=0, advanced=True,
    )  # fmt: skip
    coarse_step: int = option(
        1, "Compare every n-th frame first, then all frames around promising cells; 1 compares all frames.",
        min=1, advanced=True,
    )  # fmt: skip
    max_memory: int = option(
        256 * 2**20, "Maximum memory for distance grids, in bytes.", label="Max memory (bytes)", min=1, advanced=True
    )


class SimilaritySettings(ClipGraphSettings):
    """Settings of `MotionGraph.build_by_similarity`."""

    threshold: float = positional_option(
        default=0.7, help="Minimum similarity, 1 / (1 + cost), of frames to join.",
        label="Min similarity", above=0, max=1, kw_only=False,
    )  # fmt: skip
    fade: float = option(0.3, "Time over which the offset between two poses fades out.", unit="s", above=0)
    weights: Mapping[str, float] | None = option(
        None, "Weights of joints in the cost, by role or name; joints that are not named are ignored. By default "
        "upper legs 1, upper arms 0.75, lower legs and forearms 0.25.",
    )  # fmt: skip
    velocity: float = option(0.1, "Weight of angular velocities in the cost.", min=0, advanced=True)
    acceleration: float = option(0.01, "Weight of angular accelerations in the cost.", min=0, advanced=True)
    max_distance: float = option(
        0.15, "Maximum distance between the aligned bodies. Frames farther apart are not joined, however similar "
        "their poses, for example on a stair and next to it.", unit="m", min=0, advanced=True,
    )  # fmt: skip


class RegisteredSettings(ProgressSettings):
    """Settings of `MotionGraph.with_registered_transitions`."""

    threshold: float | None = option(
        None, "Maximum distance, both at the middle of a transition and between the registered clips. By default 1.5 "
        "times the largest distance of the graph's own transitions.", label="Max difference", unit="m", min=0,
    )  # fmt: skip
    lengths: Sequence[float] = option(
        (1.2, 0.8),
        "Lengths of a transition in seconds, tried in order; the first that fits is used.",
        label="Transition lengths",
    )
    max_transitions: int = option(
        200, "Maximum number of new transitions; each direction counts as one and is stored as two short clips.", min=1
    )
    markers: str = option("body", "Points to compare: body, upper, lower, large or root_knees.", advanced=True)


class ReductionSettings(Settings):
    """Settings of `MotionGraph.reduce_transitions`."""

    loss: float = option(
        0.1, "Fraction by which each quality measure of the graph may get worse; 0 allows no loss.",
        label="Allowed loss of quality", unit="fraction", min=0, below=1,
    )  # fmt: skip
    rng: Seed = option(0, "Random seed of the test paths.", label="Random seed", min=0)


class LabelSettings(Settings):
    """Settings of everything that can be limited to one label."""

    label: str | None = option(None, "Use only motion with this label. By default any.", label="Action")


class GraphWalkSettings(LabelSettings):
    """Settings of `MotionGraph.random_walk`."""

    seconds: float = positional_option(
        default=30.0, help="Duration of the walk.", label="Duration", unit="s", above=0, kw_only=False
    )
    rng: Seed = positional_option(
        default=0, help="Random seed; the same seed gives the same walk.",
        label="Random seed", min=0, kw_only=False,
    )  # fmt: skip
    transition_interval: float = option(
        2.0, "Mean time between transitions. The probability of leaving a clip at a node grows with the time until "
        "the clip's next node, so places with many transitions are not favored.",
        label="Time between transitions", unit="s", min=0, advanced=True,
    )  # fmt: skip
    start: int | None = option(
        None, "Number of the start node. By default random, with equal probability for each frame of each clip.",
        label="Start node", min=0, advanced=True,
    )  # fmt: skip


class GraphPathSettings(Settings):
    """Settings of `MotionGraph.follow`."""

    styles: Sequence[tuple[float, str]] | str | None = option(
        None, "A label for the whole path, or pairs (meters, label): use this label up to this arc length. The last "
        "label holds to the end.",
    )  # fmt: skip
    start: tuple[int, ArrayLike] | None = option(
        None, "A node and the rigid2d (theta, x, z) that places its clip in the world. By default any node, placed at "
        "the start of the path and facing along it.",
    )  # fmt: skip
    avoid: ArrayLike = option((), "(K, 3) circles to stay out of: x, z and radius in meters.")
    other_characters: ArrayLike | None = option(
        None,
        "(T, M, 2) positions (x, z) in meters of M other characters in each of T frames; NaN where a character "
        "is absent.",
    )
    min_distance: float = option(
        0.5, "Minimum distance to the other characters.", label="Min distance to others", unit="m", min=0, advanced=True
    )
    seconds: float | None = option(
        None, "Stop after this time, anywhere along the path. By default the walk stops at the end of the path.",
        label="Stop after", unit="s", above=0, advanced=True,
    )  # fmt: skip
    style_overlap: float = option(
        0.9, "The next style may begin this far before the current one ends. The default is half a person's height "
        "(Kovar 4.3.1).", label="Style overlap", unit="m", min=0, advanced=True,
    )  # fmt: skip
    min_style_time: float = option(
        0.5, "Shortest time in each style, counted in frames of clips with its label, without transitions.",
        label="Min time in a style", unit="s", min=0, max=60, advanced=True,
    )  # fmt: skip
    beam_width: int | None = option(
        None, "Number of states that the beam search keeps for each frame. Widths 25, 50, 100 and so on up to this one "
        "are searched and the "
        "best walk is kept, so a larger width is never worse. By default 50 to 200, as wide as needed to stay close "
        "to the path.", label="Search width", min=25, max=10_000, advanced=True,
    )  # fmt: skip
    rng: Seed = option(0, "Random seed that chooses the start nodes to try.", label="Random seed", min=0, advanced=True)


class GraphCrowdSettings(ProgressSettings):
    """Settings of `MotionGraph.crowd`."""

    seconds: float = positional_option(
        default=20.0, help="Duration of the walks.", label="Duration", unit="s", above=0, kw_only=False
    )
    min_distance: float = option(
        0.6, "Minimum distance between the hips of any two characters; if no walk is found, 0.8 and 0.6 times this "
        "distance are tried.", unit="m", above=0,
    )  # fmt: skip
    beam_width: int = option(
        50, "Width of the beam search. Up to 8 times this width is tried if no walk is found.", min=25, max=10_000
    )
    rng: Seed = option(0, "Random seed; each character gets its own, so walks differ.", label="Random seed", min=0)


class ApproachSettings(LabelSettings):
    """Settings of walks to a position."""

    heading: float | None = positional_option(
        default=None,
        help="Direction that hips and shoulders face at the target, from +Z, positive to the left. By default any; a "
        "clip faces 0.",
        unit="rad", kw_only=False,
    )  # fmt: skip
    avoid: ArrayLike = option((), "(M, 3) circles to stay out of: x, z and radius in meters.")


class ClipApproachSettings(ApproachSettings):
    """Settings of walks into a clip that is placed in the world."""

    max_error: float = option(
        0.5, "Largest error at the end, in position and heading. A radian of heading counts as 0.6 m for walks to a "
        "position, and as 1 m for walks into a clip.",
        unit="m", min=0,
    )  # fmt: skip


class GraphReachSettings(ClipApproachSettings):
    """Settings of `MotionGraph.reach`."""

    clip: str | None = option(None, "Name of the clip to enter at the position. By default the walk ends there.")
    start_clip: str | None = option(None, "Name of the clip to start in. By default any.")
    rng: Seed = option(0, "Random seed that chooses the start nodes to try.", label="Random seed", min=0)


class LandingSettings(Settings):
    """Settings of `Walk.land_at`."""

    heading: float | None = positional_option(
        default=None,
        help="Direction that hips and shoulders face at the end, from +Z, positive to the left. By default unchanged.",
        unit="rad", kw_only=False,
    )  # fmt: skip
    landing_seconds: float = option(2.0, "Duration of the adjusted part.", label="Landing duration", unit="s", above=0)
    max_shift: float = option(0.3, "Largest distance by which the end may be moved.", unit="m", min=0)
    max_turn: float = option(0.5, "Largest angle by which the end may be rotated.", unit="rad", min=0, max=math.pi)
    feet: Literal["clean"] | None = feet_option("the adjustment puts them")
    name: str | None = option(None, "Name of the result. By default that of the original motion.")


class GraphSearchSettings(LabelSettings):
    """Settings of `MotionGraph.search`. When a budget runs out, the search returns the best walk so far."""

    start: int | tuple[int, ArrayLike] | None = option(
        None, "A node, or a node and the rigid2d (theta, x, z) that places its clip in the world. By default all "
        "nodes are tried. Without a rigid2d, clips stay where they were recorded; with `FollowPath`, they start at "
        "the start of the path.",
    )  # fmt: skip
    window: float | None = option(
        1.5, "Length of a window. With none, the whole walk is searched at once, which proves the optimum but takes "
        "exponential time.", unit="s", above=0,
    )  # fmt: skip
    step: float = option(
        0.5,
        "Time from the start of one window to the start of the next. Of the walk through a window, only this first "
        "part is kept.",
        label="Window step",
        unit="s",
        above=0,
    )
    tolerance: float = option(
        0.0, "In each window, choose at random among the walks that cost at most this much more than the best.", min=0
    )
    rng: Seed = option(0, "Random seed of the choice among similar walks.", label="Random seed", min=0)
    max_expanded: int = option(
        50_000, "Maximum number of partial walks to expand in the whole search.", label="Max partial walks", min=1
    )
    max_expanded_per_window: int = option(
        1_500, "Maximum number of partial walks to expand in each window. A few thousand take a second.", min=1
    )
    max_seconds: float | None = option(
        None, "Maximum computing time of the whole search. By default no limit.", unit="s", min=0
    )
    cost_threshold: float = option(0.0, "Stop at the first complete walk that costs less than this.")

    def check(self) -> None:
        if self.window is not None and self.step > self.window:
            raise InvalidValue(
                f"step must be at most the `window=` of {self.window:g} s, not {self.step:g}", parameter="step"
            )


class DirectionSettings(LabelSettings):
    """Settings of `MotionGraph.direction_table`."""

    n_directions: int = positional_option(
        default=16, help="Number of directions.", label="Number of directions", min=2, max=3600, advanced=True,
        kw_only=False,
    )  # fmt: skip
    speed: float | None = option(None, "Requested speed. By default as fast as possible.", unit="m/s", min=0)


class GraphStreamSettings(LiveSettings, DirectionSettings):
    """Settings of `GraphStream`."""

    start: int | None = option(
        None, "Number of the start node. By default the best one for the first direction.",
        label="Start node", min=0, advanced=True,
    )  # fmt: skip
    direction: float = option(
        0.0, "First direction of travel, from +Z, positive to the left.", unit="rad", advanced=True
    )


def count_frames(seconds: float, fps: float) -> int:
    """Convert a duration to frames; raise an error if it is shorter than a frame."""
    if round(seconds * fps) < 1:
        raise InvalidValue(
            f"seconds must be at least one frame of {1.0 / fps:.3g} s, not {seconds:g}", parameter="seconds"
        )
    check_frame_count(seconds * fps, 1, parameter="seconds", remedy="lower `seconds=`")
    return round(seconds * fps)
