"""Settings of parametric motion graphs: transitions, edges, gait spaces and streams."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar

from marey.core.settings import ProgressSettings, Seed, Settings, option, positional_option
from marey.deprecation import warn_renamed
from marey.edit.settings import SkeletonSettings
from marey.errors import InvalidValue
from marey.play.settings import LiveSettings

P = ParamSpec("P")
R = TypeVar("R")

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from marey.clean.settings import CleanSettings
    from marey.pmg.connect import NodeComparison
    from marey.pmg.node import Request


class SeamSettings(Settings):
    """Settings of all transitions of a character."""

    length: float = option(
        default=1.0 / 3.0, help="Duration of a transition.", label="Transition length", unit="s", above=0, max=60
    )
    region: float = option(
        default=0.3, help="Fraction of a clip, at its start and at its end, within which transitions must lie "
        "completely.",
        label="Transition region", unit="fraction", above=0, max=0.5,
    )  # fmt: skip
    markers: str = option(
        default="body", help="Points to compare: body, upper, lower, large or root_knees.",
        advanced=True,
    )  # fmt: skip


class CharacterSettings(SeamSettings):
    """Settings of a character."""

    name: str = positional_option(default="character", help="Name of the character.", kw_only=False)


class CompareSettings(Settings):
    """How two nodes are compared."""

    n_source: int = option(
        default=60, help="Number of motions to sample from the source node.", label="Source samples", min=2,
        max=10_000, advanced=True,
    )  # fmt: skip
    n_target: int = option(
        default=400, help="Number of motions to sample from the target node.", label="Target samples", min=2,
        max=10_000, advanced=True,
    )  # fmt: skip
    rng: Seed = option(default=0, help="Random seed of the samples.", label="Random seed", min=0, advanced=True)
    run: Callable[..., Iterable[Any]] = option(
        default=map, help="Function like `map` that runs the comparisons, for example a process pool's `map`."
    )


class EdgeSettings(CompareSettings):
    """Settings of an edge."""

    good: float | None = option(
        default=None,
        help="T_GOOD: every motion of the source must have a transition with at most this cost. By default chosen from "
        "the "
        "distribution of all transitions.",
        label="Accept costs below", unit="m", above=0,
    )  # fmt: skip
    bad: float | None = option(
        default=None,
        help="T_BAD: transitions with a larger cost are never used. By default chosen from the distribution of "
        "all transitions.",
        label="Reject costs above", unit="m", above=0,
    )  # fmt: skip
    part: str | None = option(
        default=None,
        help="Name of a new node. If only some motions of the source have a transition that costs at most T_GOOD, the "
        "sub-range of their parameters is added as this node, and connected in place of the source.",
        label="Sub-range name",
    )
    compared: NodeComparison | None = option(
        default=None,
        help="Result of `compare` for the same nodes, to try other thresholds without comparing again.",
    )

    def check(self) -> None:
        """Check that the thresholds fit together."""
        check_order(self.good, self.bad)
        if self.part is not None and self.good is None:
            raise InvalidValue(
                "`part=` requires `good=`, because the automatic threshold gives every motion of the source a "
                "transition",
                parameter="part",
            )


class ConnectAllSettings(CompareSettings, ProgressSettings):
    """Settings of connecting all pairs of nodes."""

    good: float = option(
        default=0.10,
        help="T_GOOD of the edges. Two nodes are connected if every sampled motion of the source has a transition with "
        "at most this cost.",
        label="Accept costs below", unit="m", above=0,
    )  # fmt: skip
    bad: float = option(
        default=0.15, help="T_BAD of the edges: transitions with a larger cost are never used.",
        label="Reject costs above", unit="m", above=0,
    )  # fmt: skip
    prune: bool = option(
        default=True,
        help="Remove nodes that cannot continue forever, and those that become dead ends as a result.",
        label="Remove dead ends",
    )
    n_source: int = option(
        default=40, help="Number of motions to sample from each source node.", label="Source samples", min=2,
        max=10_000, advanced=True,
    )  # fmt: skip
    n_target: int = option(
        default=200, help="Number of motions to sample from each target node.", label="Target samples", min=2,
        max=10_000, advanced=True,
    )  # fmt: skip

    def check(self) -> None:
        """Check that the thresholds fit together."""
        check_order(self.good, self.bad)


def check_order(good: float | None, bad: float | None) -> None:
    """Raise an error if T_GOOD is above T_BAD."""
    if good is not None and bad is not None and good > bad:
        raise InvalidValue(
            f"good must be at most `bad=`, but they are {good:g} m and {bad:g} m; swap them", parameter="good"
        )


class GaitSettings(SkeletonSettings):
    """Settings of a gait space."""

    parameters: Sequence[str] = positional_option(
        default=("turn",),
        help="turn, or turn and speed. Without speed, all motions should have the same speed.",
        kw_only=False,
    )
    margin: float = option(
        default=0.2, help="Number of gait cycles by which each clip is extended at both ends, for blending with the "
        "next clip.",
        above=0, advanced=True,
    )  # fmt: skip
    mirror: bool = option(
        default=False, help="Also use the mirror image of each clip, to make left and right symmetric.",
        label="Mirror the clips",
    )  # fmt: skip
    bandwidth: Sequence[float] | None = option(
        default=None,
        help="Kernel width for each parameter, in radians and m/s. By default 7 degrees per cycle (half of it per "
        "step) and 0.1 m/s.",
    )
    steps: int = option(
        default=2,
        help="Steps per clip: 2, or 1 to halve the response time. With 1, left and right steps need separate nodes "
        "that lead to each other.",
        label="Steps per clip", min=1, max=2, advanced=True,
    )  # fmt: skip
    side: Literal["left", "right"] = option(
        default="left",
        help="The foot that passes the other at the start of a clip and touches down first.",
        label="First foot", advanced=True,
    )  # fmt: skip


class RangeSettings(Settings):
    """Names and ranges of the parameters of a space."""

    names: Sequence[str] | str | None = option(
        default=None,
        help="Names of the parameters, in place of the space's own. Required if the parameters are computed by a "
        "function of your own.",
    )
    units: Sequence[str] = option(default=(), help="Units of the parameters, in place of the space's own.")
    low: ArrayLike | None = option(
        default=None,
        help="Smallest value of each parameter that can be requested. By default all that the examples cover. Required "
        "if the parameters are computed by a function of your own.",
    )
    high: ArrayLike | None = option(
        default=None,
        help="Largest value of each parameter that can be requested. By default all that the examples cover. Required "
        "if the parameters are computed by a function of your own.",
    )


class ActionSettings(RangeSettings):
    """Settings of an action space."""

    bandwidth: ArrayLike | None = option(
        default=None,
        help="Kernel width for each parameter, in units of the parameters. By default 0.2 to 0.4 of the average "
        "spacing of the examples along each parameter, depending on how close their nearest neighbors are.",
    )


class NodeSettings(RangeSettings):
    """Settings of a node."""

    request: Request | None = option(
        default=None,
        help="Converts a command to parameters; see `marey.pmg.Request`. By default commands match parameters by name, "
        "and a direction becomes a turn.",
    )


class StreamSettings(LiveSettings):
    """Settings of a live character."""

    start: str | None = option(
        default=None, help="Node of the first clip. By default the controller's, else the first node.",
        label="Start node", advanced=True,
    )  # fmt: skip
    parameters: ArrayLike | None = option(
        default=None,
        help="Parameters of the first clip. By default the controller chooses from the node's full ranges.",
    )
    respond: Literal["anytime", "clip"] = option(
        default="anytime",
        help='When a command takes effect: "anytime" within the current clip, by a transition to the same phase of '
        'another clip of the node; "clip" with the next clip.',
        label="Commands take effect",
        advanced=True,
    )
    cleaning: CleanSettings | None = option(
        default=None,
        help="Settings of the cleanup of the feet. By default `marey.pmg.stream.STREAM_CLEANING`, with short windows.",
    )


def accept_clean_settings(function: Callable[P, R]) -> Callable[P, R]:
    """Accept the cleanup settings as `settings=`, the old name of `cleaning=`."""

    @functools.wraps(function)
    def call(*args: P.args, **options: P.kwargs) -> R:
        from marey.clean.settings import CleanSettings

        if isinstance(options.get("settings"), CleanSettings):
            warn_renamed("settings=CleanSettings(...)", "cleaning=")
            options["cleaning"] = options.pop("settings")
        return function(*args, **options)

    return call
