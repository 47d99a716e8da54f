"""Settings of parametric motion: building a space, and generating a motion."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

from marey.core.settings import ProgressSettings, Seed, Settings, option, positional_option
from marey.register.settings import PairSettings

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from marey.parametric.features import FeatureLike


class SpaceSettings(PairSettings, ProgressSettings):
    """Settings of a space."""

    feature: FeatureLike | None = positional_option(
        default=None,
        help='The d parameters of the space: a Feature such as `marey.parametric.position`, a text such as '
        '``"position:right_foot@highest"`` or ``"turn,speed"``, a function of a Motion, or several of these.',
        kw_only=False,
    )  # fmt: skip
    values: ArrayLike | None = option(
        None, "Numbers given by hand for each motion, (n, d) or (n,), instead of a feature, such as 0 for sad and 1 "
        "for happy. They cannot be measured, so the space is not sampled (Kovar 6.4.2), and errors are unknown.",
    )  # fmt: skip
    names: Iterable[str] = option((), "Names of the numbers that are given by hand.")
    samples: int = option(
        1000, "Number of blends to sample; 0 for none.", label="Sampled blends", min=0, max=1_000_000, advanced=True
    )
    crop: Literal["auto"] | None = option(
        "auto", '"auto" crops a list of walks or runs to an equal number of half cycles around the middle of each, '
        "starting with the same foot. Motions that do not walk from end to end, matches and registered motions are "
        "used whole.", label="Trim walks to a common phase", advanced=True,
    )  # fmt: skip
    redundant: ArrayLike | None = option(
        None, "Tolerance, one number or one for each dimension, in units of the parameters. Examples whose parameters "
        "can be blended from other examples within this tolerance are left out. By default all are kept.",
        label="Redundancy tolerance",
    )  # fmt: skip
    snap: Literal["farthest", "highest", "lowest", "fastest", "slowest"] | None = option(
        None, "For features at a time in seconds of the reference motion, which the timewarp maps to the other "
        "motions: move the mapped times to the most extreme frame of this kind within 0.2 s. By default they are not "
        "moved.", label="Snap key times to", advanced=True,
    )  # fmt: skip
    landmarks: bool = option(
        True, "Register the motions so that the times of their features, such as the apex of each kick, coincide. "
        "Otherwise the timewarp maps the time in the reference motion to the others (Kovar 6.3.1).",
        label="Align key times", advanced=True,
    )  # fmt: skip
    apexes: ArrayLike | None = option(
        None, "(n,) the frame of each motion at which pose features are measured. By default the frames are found."
    )
    delta: float = option(
        0.1, "How far blend weights may leave the range from 0 to 1.", label="Extrapolation", min=0, advanced=True
    )
    k: int = option(
        12, "Number of nearest samples from which the weights for a target are averaged.",
        label="Number of samples averaged", min=1, max=1_000_000, advanced=True,
    )  # fmt: skip
    expand: float = option(
        0.2, "How much larger the sampled box is than the bounding box of the examples, as a fraction of its size.",
        label="Enlarge sampled range", unit="fraction", min=0, advanced=True,
    )  # fmt: skip
    scale: ArrayLike | None = option(
        None, "Distance in each dimension that counts as one unit. A target within one unit of a sample is "
        "reachable. The default depends on the dimension's unit: 3 cm, 3 degrees, 0.05 m/s and so on.",
    )  # fmt: skip
    spacing: float = option(
        0.0127 / 0.03, "Samples closer than this to another, in units of the scale, are dropped.",
        label="Min spacing of samples", min=0, advanced=True,
    )  # fmt: skip
    max_distance: float = option(
        0.30, "Examples with a larger root mean square distance from the one they are aligned to are left out.",
        label="Max difference", unit="m", above=0, advanced=True,
    )  # fmt: skip
    rng: Seed = option(0, "Random seed of the sampling.", label="Random seed", min=0, advanced=True)


class WeightSettings(Settings):
    """Settings of the blend weights for a target."""

    refine: bool | int = option(
        False, "Refine the weights to bring the motion closer to the target, in 4 steps or a given number of steps."
    )
    feet: Literal["clean"] | None = option(
        "clean", '"clean" keeps planted feet in place by enforcing the contacts of the blend.', label="Foot cleanup"
    )


class SynthesisSettings(WeightSettings):
    """Settings for generating a motion from a parametric space."""

    start: ArrayLike | None = option(
        None, "(theta, x, z) floor placement of the first frame: heading in radians (0 faces +Z, positive to the "
        "left) and hip position in meters. By default every motion begins at the origin and faces +Z. Similar targets "
        "then give similar motions, and requested positions are world positions (for a floor at height 0).",
    )  # fmt: skip
    name: str | None = option(None, "Name of the motion. By default the features and the target.", advanced=True)
