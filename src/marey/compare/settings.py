"""Settings of the comparison of frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from marey.core.settings import Settings, option

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class MarkerSettings(Settings):
    """Which points of the body are compared."""

    markers: str | Sequence[str] = option(
        "body", "Points to compare: body, upper, lower, large, root_knees, or a list of joints and roles."
    )

    def check(self) -> None:
        """Raise `InvalidValue` if the markers are neither a name nor a list."""
        if not isinstance(self.markers, str):
            from marey.compare.clouds import list_markers

            list_markers(self.markers)


class GridSettings(MarkerSettings):
    """How frames are compared; settings of `distance_grid`."""

    per_joint: int = option(
        1, "Number of markers on each joint; more than one also compares orientations.",
        label="Markers per joint", min=1, max=3, advanced=True,
    )  # fmt: skip
    weights: Mapping[str, float] | ArrayLike | None = option(
        None, "Weights of the joints or markers, by name or in their order. Equal by default."
    )
    window: float = option(
        0.1, "Duration that is compared around each pair of frames. At the ends of a clip the window is cut in both "
        "clips, and the remaining weights are scaled to sum 1.", label="Comparison window", unit="s", min=0,
    )  # fmt: skip
    shape: Literal["triangle", "box", "gaussian"] = option(
        "triangle", "Weights of the frames in a window.", label="Window shape", advanced=True
    )
    align: bool = option(
        True, "Align each pair of frames first. Otherwise poses are compared at their positions.",
        label="Align poses", advanced=True,
    )  # fmt: skip
    contacts: float | Literal["refuse"] | None = option(
        None, 'For frames with different contacts: "refuse" excludes them; a number p in meters adds p^2 times the '
        "fraction of points that differ. Both motions need contacts.",
    )  # fmt: skip
