"""Settings of blends and transitions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from marey.compare.settings import MarkerSettings
from marey.core.feet import feet_option
from marey.core.joint_limits import JointLimits, check_joint_limits
from marey.core.settings import Settings, option, options_of
from marey.errors import InvalidValue
from marey.register.settings import PairSettings, max_opposite_option

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Span = tuple[float, float]


def _whole_costs_option() -> Any:
    return option(
        False,
        "Round the costs of frames to integers from 0 to 255, as gray levels of an image, instead of using "
        "square meters.",
        label="Round costs to integers",
        advanced=True,
    )


class WarpPathSettings(Settings):
    """How the methods "discrete" and "cubic" match the times of two motions (Sako 5)."""

    path_finder: Literal["dynamic", "threshold", "greedy", "brute_force"] = option(
        "dynamic",
        'How "discrete" and "cubic" find the path of corresponding frames: by dynamic timewarping, by recursion '
        'below a threshold, greedily, or by trying all paths ("brute_force").',
        advanced=True,
    )
    path_start: Literal["corner", "third"] = option(
        "corner",
        'Where the path starts: "corner", at the beginning of both motions; "third", at the beginning of one and the '
        "most similar frame in the first third of the other.",
        advanced=True,
    )
    path_slope_limit: int = option(
        3, "Largest ratio of playback speeds along the path, an integer.", min=1, max=60, advanced=True
    )
    path_threshold: float = option(
        0.33, 'Largest cost of a pair of frames on the path, as a fraction of the largest cost of all pairs; only for '
        'the path finder "threshold".',
        unit="fraction", above=0, max=1, advanced=True,
    )  # fmt: skip
    path_time_limit: float | None = option(
        10.0, "Time limit of the search, which then returns the best path found so far.", unit="s", above=0,
        advanced=True,
    )  # fmt: skip
    whole_costs: bool = _whole_costs_option()
    n_frames: int | None = option(
        None, 'Number of frames of the result; only for the method "cubic". By default the weighted mean of the '
        "numbers of frames of both motions along the path.",
        label="Number of frames", min=2, max=1_000_000, advanced=True,
    )  # fmt: skip


def check_path_options(settings: WarpPathSettings, method: str) -> None:
    """Raise `InvalidValue` if path options are given for a method that does not use a path."""
    for each in options_of(WarpPathSettings):
        applies = method == "cubic" or (method == "discrete" and each.name != "n_frames")
        if not applies and getattr(settings, each.name) != each.default:
            raise InvalidValue(f"`{each.name}=` does not apply to the method {method!r}", parameter=each.name)


class BlendSettings(WarpPathSettings):
    """Settings of `blend`."""

    method: Literal["registered", "linear", "discrete", "cubic"] = option(
        "registered", '"registered" averages timing, path, posture and contacts. The others are simpler, for '
        'comparison: "linear" averages frame by frame without matching times; "discrete" and "cubic" match the times '
        "of two motions, along the cells of a path and along a spline through them; they leave the feet as they are.",
    )  # fmt: skip
    fps: float | None = option(
        None, "Frames per second of the blend. By default those of the motions. Poses are not filtered, so for a much "
        "lower rate blend first, then resample.", label="Frame rate", unit="1/s", above=0, advanced=True,
    )  # fmt: skip
    seconds: float | None = option(
        None, "Duration of a blend of loops; one cycle by default. Other blends end where the motions end.",
        label="Duration of loops", unit="s", above=0, advanced=True,
    )  # fmt: skip
    feet: Literal["clean"] | None = feet_option("the blend puts them")
    start: ArrayLike | None = option(
        None, "Placement (theta, x, z) of the first frame: heading in radians and position of the hips on the floor "
        "in meters. By default where the motion with the largest weight starts.",
    )  # fmt: skip
    name: str | None = option(None, "Name of the result.", advanced=True)
    joint_limits: JointLimits | str | None = option(
        None, "Joint limits to respect: a file, such as limits.json, or from `marey.core.learn_joint_limits`. "
        "Weights outside 0 to 1 often need them.",
    )  # fmt: skip

    def check(self) -> None:
        """Refuse options that do not apply to the method."""
        check_joint_limits(self.joint_limits)
        check_path_options(self, self.method)
        for name in ("fps", "seconds"):
            if self.method != "registered" and getattr(self, name) is not None:
                raise InvalidValue(f"`{name}=` does not apply to the method {self.method!r}", parameter=name)


class TransitionPointSettings(MarkerSettings):
    """Settings of `best_transition`: how the best point of a transition is found."""

    length: float = option(
        1.0, "Duration of the transition. Its middle is at least half of this from both ends of both motions.",
        label="Transition length", unit="s", above=0,
    )  # fmt: skip
    region_a: Span | None = option(
        None,
        "Part of the first motion to search, (start, end) in seconds. By default all of it.",
        label="Search region in A",
    )
    region_b: Span | None = option(
        None,
        "Part of the second motion to search, (start, end) in seconds. By default all of it.",
        label="Search region in B",
    )
    contacts: float | Literal["refuse"] | None = option(
        None, 'How contacts are used, see `marey.distance_grid`; with "refuse" only frames with the same feet in '
        "contact are considered.",
    )  # fmt: skip
    search_window: float = option(
        0.5, "Duration that is compared around each pair of frames to find the best point. It is longer than for the "
        "timewarp, so that the motions stay similar for a while.", unit="s", min=0, advanced=True,
    )  # fmt: skip


# Options of transitions that the simpler methods do not use.
_REGISTERED_ONLY = frozenset(
    {"slope_limit", "window", "max_distance", "max_opposite", "force", "boundaries", "max_middle_distance"}
)


class TransitionSettings(TransitionPointSettings, PairSettings, WarpPathSettings):
    """Settings of `transition`."""

    at: Span | None = option(
        None,
        "Middle of the transition: seconds in the first motion and in the second. By default the best point is found.",
    )  # fmt: skip
    method: Literal["registered", "linear", "discrete", "cubic"] = option(
        "registered", '"registered" aligns the motions in time around the point. The others are simpler, for '
        'comparison: "linear" blends frame by frame; "discrete" and "cubic" match the times, along the cells of a path '
        "and along a spline through them. They accept any distance of the motions, and leave the feet as they are.",
    )  # fmt: skip
    boundaries: Literal["resample", "integer"] = option(
        "resample", 'Ends of the transition that fall between frames: "resample" keeps the frames of the first '
        'motion and resamples the second; "integer" shifts time within the transition by less than a frame, so that '
        "it begins on a frame of the first, ends on a frame of the second, and lasts a whole number of frames.",
        advanced=True,
    )  # fmt: skip
    max_middle_distance: float = option(
        0.3, "Transitions are rejected if the poses of the two motions are farther apart than this in the middle of "
        "the transition.",
        label="Max distance in the middle", unit="m", above=0, advanced=True,
    )  # fmt: skip
    max_opposite: float = max_opposite_option(0.1, "transition")
    feet: Literal["clean"] | None = feet_option("the transition puts them")
    name: str | None = option(None, "Name of the result.", advanced=True)

    def check(self) -> None:
        """Refuse options that do not apply to the method, and options of the search if the point is given."""
        for each in options_of(type(self)):
            is_default = getattr(self, each.name) == each.default
            if self.method != "registered" and each.name in _REGISTERED_ONLY and not is_default:
                raise InvalidValue(f"`{each.name}=` does not apply to the method {self.method!r}", parameter=each.name)
        check_path_options(self, self.method)
        for name in ("region_a", "region_b", "contacts"):
            if self.at is not None and getattr(self, name) is not None:
                raise InvalidValue(
                    f"`{name}=` restricts the search for the best point, but `at=` gives the point; omit one of them",
                    parameter=name,
                )


class ComparisonSettings(MarkerSettings):
    """Settings of `marey.blend.baselines.compare`: how paths are found through the grid, and what is compared."""

    start: Literal["corner", "third"] = option(
        "corner", 'Where paths start: "corner", at the beginning of both motions; "third", at the beginning of one and '
        "the most similar frame in the first third of the other.", advanced=True,
    )  # fmt: skip
    start_cell: tuple[int, int] | None = option(
        None, "The cell where paths start: a frame of each motion. It replaces `start`."
    )
    end: Literal["corner", "border"] = option(
        "corner",
        'Where paths end: at the end of both motions ("corner"), or at the end of one of them ("border").',
        advanced=True,
    )
    slope_limit: int = option(3, "Largest ratio of playback speeds along a path, an integer.", min=1, advanced=True)
    threshold: float = option(
        0.33, "Largest cost of a pair of frames on a path that is found by recursion, as a fraction of the largest "
        "cost of all pairs.", label="Max cost along the path", unit="fraction", above=0, max=1, advanced=True,
    )  # fmt: skip
    time_limit: float | None = option(10.0, "Time limit of each search.", unit="s", above=0, advanced=True)
    whole_costs: bool = _whole_costs_option()
    n_frames: int | None = option(
        None, "Number of frames of the cubic timewarp.", label="Number of frames", min=2, advanced=True
    )
    window: float = option(0.1, "Duration that is compared around each pair of frames.", unit="s", min=0, advanced=True)
    crop: Literal["auto"] | None = option(
        "auto", '"auto" crops motions that are not registered yet to their common part.', advanced=True
    )
    blends: bool = option(True, "Also blend with every method. Otherwise only paths are compared.")

    @staticmethod
    def convert(options: dict[str, Any]) -> dict[str, Any]:
        """Accept a cell, a pair of frames, as `start`."""
        start = options.get("start")
        if start is None or isinstance(start, str):
            return options
        return {**{name: value for name, value in options.items() if name != "start"}, "start_cell": start}
