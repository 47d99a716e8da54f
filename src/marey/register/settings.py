"""Settings of registration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from marey.compare.settings import MarkerSettings
from marey.core.settings import option
from marey.edit.settings import SkeletonSettings

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def max_opposite_option(default: float, part: str) -> Any:
    """Declare the option `max_opposite`. `part` is what the fraction refers to."""
    return option(
        default, f"Largest fraction of the {part} in which one motion may stand on the left foot while the other "
        f"stands on the right. Beyond it, motions are rejected.",
        label="Max time with different support feet", unit="fraction", min=0, max=1, advanced=True,
    )  # fmt: skip


class PairSettings(SkeletonSettings, MarkerSettings):
    """How pairs of motions are aligned in time, and which are rejected."""

    slope_limit: int = option(
        2, "Largest ratio of playback speeds of two motions at any point, an integer.",
        label="Max speed ratio", min=1, max=60, advanced=True,
    )  # fmt: skip
    window: float = option(
        0.1, "Duration that is compared around each pair of frames.",
        label="Comparison window", unit="s", min=0, advanced=True,
    )  # fmt: skip
    max_distance: float = option(
        0.22, "Motions with a larger root mean square distance along the path are rejected.",
        label="Max difference", unit="m", above=0, advanced=True,
    )  # fmt: skip
    max_opposite: float = max_opposite_option(0.05, "path")
    force: bool = option(
        False, "Accept motions that are too far apart, or on opposite feet, with a note.",
        label="Blend even if very different",
    )  # fmt: skip


class PathSettings(PairSettings):
    """How several motions are aligned in time."""

    reference: int | None = option(
        None, "Index of the motion that the others are compared with, from 0. By default the one with the smallest "
        "mean distance to the others.", advanced=True, min=0,
    )  # fmt: skip


class RegisterSettings(PathSettings):
    """Settings of `register`."""

    crop: Literal["auto"] | None = option(
        "auto", '"auto" crops the motions to their common part: the largest equal number of half cycles of gait, '
        "starting with the same foot, or else the range found in the distance grid. Otherwise whole motions are used, "
        "and the slope limit applies to their own times instead of times stretched to equal length.",
        label="Trim to the common part",
    )  # fmt: skip
    cyclic: bool = option(
        False, "The motions are loops, for example clips that were looped; they are shifted to begin at the same "
        "phase, and are not cropped.", label="Loops",
    )  # fmt: skip
    cut_loops: bool = option(
        False, "Cut a loop from each motion first, as looping a clip does, and register the loops: one gait cycle "
        "of each walk or run.", label="Cut loops first",
    )  # fmt: skip
    start: tuple[int, int] | None = option(
        None, "Corresponding frames (i, j) of two motions, such as the middle of a transition. The path is extended "
        "forward and backward from there until either motion ends, and both are cropped to it.",
    )  # fmt: skip


class TreeSettings(PathSettings):
    """Settings of `register_tree`."""

    parents: ArrayLike | None = option(
        None, "(n,) index of each motion's parent, -1 for the reference. By default a tree of shortest paths by "
        "similarity, rooted at the medoid.",
    )  # fmt: skip
    landmarks: ArrayLike | None = option(
        None, "(n,) or (n, L) corresponding frames, such as the apex of each kick, in increasing order for each "
        "motion. The path of every pair passes through them.",
    )  # fmt: skip
    max_distance: float = option(
        0.30, "Motions with a larger root mean square distance from their parent are rejected. Their distance from "
        "the reference does not matter.", label="Max difference", unit="m", above=0, advanced=True,
    )  # fmt: skip
