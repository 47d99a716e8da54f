"""Settings of blends and transitions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from marey.compare.settings import MarkerSettings
from marey.core.feet import feet_option
from marey.core.settings import Settings, option, options_of
from marey.errors import InvalidValue
from marey.register.settings import PairSettings

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Span = tuple[float, float]


class BlendSettings(Settings):
    """Settings of `blend`."""

    method: Literal["registered", "linear", "discrete", "cubic"] = option(
        default="registered",
        help='"registered" averages timing, path, posture and contacts. The others are simpler, for comparison: '
        '"linear" averages frame by frame without matching times; "discrete" and "cubic" match the times of two '
        "motions, along the cells of a path and along a spline through them; they leave the feet as they are.",
    )
    fps: float | None = option(
        default=None,
        help="Frames per second of the blend. By default those of the motions. Poses are not filtered, so for a much "
        "lower rate blend first, then resample.",
        label="Frame rate", unit="1/s", above=0, advanced=True,
    )  # fmt: skip
    seconds: float | None = option(
        default=None,
        help="Duration of a blend of loops; one cycle by default. Other blends end where the motions end.",
        label="Duration of loops", unit="s", above=0, advanced=True,
    )  # fmt: skip
    feet: Literal["clean"] | None = feet_option("the blend puts them")
    start: ArrayLike | None = option(
        default=None,
        help="Placement (theta, x, z) of the first frame: heading in radians and position of the hips on the floor in "
        "meters. By default where the motion with the largest weight starts.",
    )
    name: str | None = option(default=None, help="Name of the result.", advanced=True)

    def check(self) -> None:
        """Refuse options that do not apply to the method."""
        for name in ("fps", "seconds"):
            if self.method != "registered" and getattr(self, name) is not None:
                raise InvalidValue(f"{name} does not apply to the method {self.method!r}", parameter=name)


class TransitionPointSettings(MarkerSettings):
    """Settings of `best_transition`: how the best point of a transition is found."""

    length: float = option(
        default=1.0, help="Duration of the transition; half of it is kept free at both ends of both motions.",
        label="Transition length", unit="s", above=0,
    )  # fmt: skip
    region_a: Span | None = option(
        default=None, help="Part of the first motion to search, (start, end) in seconds. By default all of it."
    )
    region_b: Span | None = option(
        default=None, help="Part of the second motion to search, (start, end) in seconds. By default all of it."
    )
    contacts: float | Literal["refuse"] | None = option(
        default=None,
        help='How contacts are used, see `marey.distance_grid`; with "refuse" only frames with the same feet in '
        "contact are considered.",
    )
    search_window: float = option(
        default=0.5,
        help="Duration that is compared around each pair of frames to find the best point. It is longer than for the "
        "timewarp, so that the motions stay similar for a while.",
        unit="s", min=0, advanced=True,
    )  # fmt: skip


# Options of transitions that the method "linear" does not use.
_REGISTERED_ONLY = frozenset(
    {"slope_limit", "window", "max_distance", "max_opposite", "force", "boundaries", "max_middle_distance"}
)


class TransitionSettings(TransitionPointSettings, PairSettings):
    """Settings of `transition`."""

    at: Span | None = option(
        default=None,
        help="Middle of the transition: seconds in the first motion and in the second. By default the best point is "
        "found.",
    )
    method: Literal["registered", "linear"] = option(
        default="registered",
        help='"registered" aligns the motions in time around the point; "linear" is simpler, for comparison: it blends '
        "frame by frame, whatever the distance of the motions, and leaves the feet as they are.",
    )
    boundaries: Literal["resample", "integer"] = option(
        default="resample",
        help='Ends of the transition that fall between frames: "resample" leaves the frames of the first motion and '
        'resamples the second; "integer" shifts time within the transition by less than a frame, so that it '
        "begins on a frame of the first, ends on a frame of the second, and lasts a whole number of frames.",
        advanced=True,
    )
    max_middle_distance: float = option(
        default=0.3, help="Motions that are farther apart in the middle of the transition are rejected.",
        label="Max center difference", unit="m", above=0, advanced=True,
    )  # fmt: skip
    max_opposite: float = option(
        default=0.1, help="Motions that stand on opposite feet for a larger part of the transition are rejected.",
        label="Max time on opposite feet", unit="fraction", min=0, max=1, advanced=True,
    )  # fmt: skip
    feet: Literal["clean"] | None = feet_option("the transition puts them")
    name: str | None = option(default=None, help="Name of the result.", advanced=True)

    def check(self) -> None:
        """Refuse options that do not apply to the method, and options of the search if the point is given."""
        for each in options_of(type(self)):
            is_default = getattr(self, each.name) == each.default
            if self.method == "linear" and each.name in _REGISTERED_ONLY and not is_default:
                raise InvalidValue(f"{each.name} does not apply to the method 'linear'", parameter=each.name)
        for name in ("region_a", "region_b", "contacts"):
            if self.at is not None and getattr(self, name) is not None:
                raise InvalidValue(
                    f"{name} restricts the search for the best point, but `at=` gives the point; omit one of them",
                    parameter=name,
                )


class ComparisonSettings(MarkerSettings):
    """Settings of `marey.blend.baselines.compare`: how paths are found through the grid, and what is compared."""

    start: tuple[int, int] | Literal["corner", "third"] = option(
        default="corner",
        help='Where paths start: "corner", at the beginning of both motions; "third", at the lowest cell of the first '
        "third; or a cell.",
    )
    end: Literal["corner", "border"] = option(
        default="corner",
        help='Where paths end: at the end of both motions ("corner"), or at the end of one of them ("border").',
    )
    slope_limit: int = option(
        default=3, help="Largest ratio of playback speeds along a path, an integer.", min=1, advanced=True
    )
    threshold: float = option(
        default=0.33, help="Largest cell that the recursion enters, as a fraction of the largest of all.",
        unit="fraction", above=0, max=1, advanced=True,
    )  # fmt: skip
    time_limit: float | None = option(default=10.0, help="Time limit of each search.", unit="s", above=0, advanced=True)
    whole_costs: bool = option(
        default=False, help="Round the cells to gray levels 0 to 255, instead of square meters.", advanced=True
    )
    n_frames: int | None = option(default=None, help="Number of frames of the cubic timewarp.", min=2, advanced=True)
    window: float = option(
        default=0.1, help="Duration that is compared around each pair of frames.", unit="s", min=0, advanced=True
    )
    crop: Literal["auto"] | None = option(
        default="auto", help='"auto" crops motions that are not registered yet to their common part.', advanced=True
    )
    blends: bool = option(default=True, help="Blend with every method, too. Otherwise only paths are compared.")
