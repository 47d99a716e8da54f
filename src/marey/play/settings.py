"""Settings that all live streams share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from marey.core.settings import Settings, option

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class LiveSettings(Settings):
    """Base class of the settings of live streams."""

    place: ArrayLike | None = option(
        None, "Rigid2d (theta, x, z) that places the first frame in the world. By default the character starts at the "
        "origin.",
    )  # fmt: skip
    feet: Literal["auto", "clean", "lock"] | None = option(
        "auto", '"clean" removes foot skate and delays the output. "lock" holds planted feet without a delay by '
        'rotating the legs. "auto" cleans recordings and locks feet in live control. With none, the feet stay as they '
        "are.",
    )  # fmt: skip
