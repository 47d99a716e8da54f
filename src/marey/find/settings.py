"""Settings of match webs and of searches in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from marey.compare.clouds import list_markers
from marey.core.arrays import check_list
from marey.core.settings import Settings, option
from marey.deprecation import renamed_fields
from marey.errors import InvalidValue
from marey.find.cells import STEP, TOO_FAR

RENAMED = {
    "alpha": "max_rise",
    "reach": "max_extension_seconds",
    "chain": "min_chain_seconds",
    "near": "max_chain_distance",
    "bridge": "max_bridge_seconds",
    "limit": "max_distance",
    "level": "min_level_seconds",
}
"""Deprecated names of the fields of `WebSettings`, and their new names."""


class FrameComparisonSettings(Settings):
    """How frames are compared, in a match web and in a motion index."""

    markers: str | Sequence[str] = option(
        "body", "Points to compare: body, upper, lower, large, root_knees, or a list of joints and roles."
    )
    remove_height: bool = option(
        False, "Subtract each frame's mean marker height, so that a reach to the floor matches one to a shelf.",
        label="Ignore height",
    )  # fmt: skip
    window: float = option(
        0.1, "Duration that is compared around each pair of frames.",
        label="Comparison window", unit="s", min=0, max=60, advanced=True,
    )  # fmt: skip

    def check(self) -> None:
        """Convert a list of markers to a tuple."""
        if not isinstance(self.markers, str):
            object.__setattr__(self, "markers", list_markers(self.markers))


@renamed_fields(**RENAMED)
class WebSettings(FrameComparisonSettings):
    """Settings of a match web.

    Those from `max_rise` on decide which cells of the distance grids are kept; see `marey.find.region`.
    """

    labels: str | Sequence[str] | None = option(
        None, "The web covers only frames with one of these labels. By default all frames."
    )
    max_distance: float = option(
        0.4, "Pairs of frames with a larger pose difference are not stored, so a search cannot find them.",
        label="Max difference stored", unit="m", min=STEP, max=TOO_FAR * STEP, advanced=True,
    )  # fmt: skip
    max_rise: float = option(
        0.15, "Frames around a local minimum of the distance grid are matched while their squared pose difference "
        "exceeds that of the minimum by less than this fraction.",
        label="Max rise around a minimum", unit="fraction", min=0, max=10, advanced=True,
    )  # fmt: skip
    max_extension_seconds: float = option(
        0.13, "Longest time from a local minimum of the distance grid to a frame that is matched because of it.",
        label="Max distance from a minimum", unit="s", min=0, max=60, advanced=True,
    )  # fmt: skip
    min_chain_seconds: float = option(
        0.25, "Minimum duration of a run of similar frames: consecutive local minima of the distance grid.",
        label="Min run of similar frames", unit="s", min=0, max=60, advanced=True,
    )  # fmt: skip
    max_chain_distance: float = option(
        0.15, "Largest pose difference between two frames in a run of similar frames.",
        label="Max difference in a run", unit="m", min=STEP, max=TOO_FAR * STEP, advanced=True,
    )  # fmt: skip
    max_bridge_seconds: float = option(
        2.0, "Maximum duration of a path that joins two runs of similar frames.",
        label="Max gap between runs", unit="s", min=0, max=60, advanced=True,
    )  # fmt: skip
    min_level_seconds: float = option(
        0.65, "Passages that stay as similar as the frames of a run for at least this time are kept even if no run is "
        "found, for example where both characters pause.", label="Min length without a run", unit="s", min=0, max=60,
        advanced=True,
    )  # fmt: skip

    def check(self) -> None:
        """Convert lists of names to tuples."""
        super().check()
        if self.labels is not None:
            labels = [self.labels] if isinstance(self.labels, str) else self.labels
            object.__setattr__(self, "labels", check_list(labels, str, "labels"))

    @property
    def min_query_seconds(self) -> float:
        """Minimum duration of a query."""
        return self.min_chain_seconds

    @property
    def numbers(self) -> tuple[float, ...]:
        """The numeric settings, in the order of `NUMBERS`."""
        return tuple(float(getattr(self, name)) for name in NUMBERS)


NUMBERS = (
    "window", "max_rise", "max_extension_seconds", "min_chain_seconds", "max_chain_distance", "max_bridge_seconds",
    "max_distance", "min_level_seconds",
)  # fmt: skip
"""Names of the numeric settings of a web, in the order of its files."""


class IndexSettings(FrameComparisonSettings):
    """Settings of a motion index."""

    max_distance: float = option(
        0.4, "Largest pose difference between two matched frames.",
        label="Max difference between frames", unit="m", min=STEP, max=TOO_FAR * STEP, advanced=True,
    )  # fmt: skip

    @property
    def web(self) -> WebSettings:
        """The settings of a match web that finds the same matches as the index."""
        return WebSettings(
            markers=self.markers, remove_height=self.remove_height, window=self.window, max_distance=self.max_distance
        )

    @property
    def min_query_seconds(self) -> float:
        """Minimum duration of a query."""
        return self.web.min_query_seconds


class SearchSettings(Settings):
    """Settings of a search in a match web or a motion index."""

    max_matches: int = option(500, "Maximum number of matches; a note says if there are more.", min=1)
    max_tiers: int | None = option(
        None, "Depth of the transitive search: 1 finds matches of the query, 2 also matches of these, and so on. By "
        "default unlimited.", label="Search depth", min=1,
    )  # fmt: skip
    overlap: tuple[float, float] = option(
        (0.8, 0.2), "Two fractions of the shorter interval, called same and new. An interval that overlaps a match by "
        "more than the first is the same match; by less than the second, it is a new match; in between, it is left "
        "out. A larger second fraction finds several cycles of a cyclic motion.",
    )  # fmt: skip
    labels: str | Sequence[str] | None = option(
        None, "One or several labels; at least half the frames of a match must have one of them. By default all "
        "frames are allowed.",
    )  # fmt: skip
    order: Literal["distance", "chain"] = option(
        "distance", '"distance" sorts matches by the sum of distances along the match graph (Kovar 6.2.3); "chain" by '
        "the largest difference between neighbors on the best path of similar matches from the query to the match, "
        "which puts variations of the query before other actions in sets without labels.",
        label="Sort matches by", advanced=True,
    )  # fmt: skip

    def check(self) -> None:
        """Check the overlap."""
        try:
            same, new = (float(fraction) for fraction in self.overlap)
        except (TypeError, ValueError):
            raise InvalidValue(
                f"overlap must be two fractions of a match's length, such as (0.8, 0.2), not {self.overlap!r}",
                parameter="overlap",
            ) from None
        if not 0.0 <= new <= same < 1.0:
            raise InvalidValue(
                f"overlap must be (same, new) with 0 <= new <= same < 1, not {self.overlap!r}: intervals that "
                "overlap by more than `same` of their length are one match, those that overlap by less than "
                "`new` are two",
                parameter="overlap",
            )
        object.__setattr__(self, "overlap", (same, new))


class SuggestSettings(SearchSettings):
    """Settings of the suggestion of a threshold."""

    max_matches: int = option(200, "Stop raising the threshold when there are more matches than this.", min=1)
