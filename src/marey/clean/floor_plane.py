"""The floor as a plane: estimate how much a capture is tilted, and whether the floor drifts."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

import numpy as np

from marey.clean import floor_kernels
from marey.clean.points import SIDES
from marey.clean.track import PointTrack, choose_points, track_points
from marey.core.arrays import Bools, Floats
from marey.core.contacts import Contacts
from marey.core.motion import Motion
from marey.errors import InvalidValue, NoResult

# A foot slower than this, m/s, for this many seconds, stands; both for the reference body.
_STILL, _MIN_SECONDS = 0.35, 0.1
# The plane needs this many stands, over this distance on the floor in meters.
_MIN_STANDS, _MIN_EXTENT = 6, 1.0
# Meters. Tukey's weight is 0 for stands farther from the plane: feet in the air, steps and platforms.
_OUTLIER = 0.06
# Minimum fraction of the stands that are on the plane, and their maximum root-mean-square distance from it, in meters.
_MIN_ON_PLANE, _MAX_RESIDUE = 0.75, 0.015
_N_ROUNDS, _CONVERGED = 8, 1e-4
# Minimum scatter of the heights of standing feet in meters; and the typical slope, and drift in meters, of a capture.
_NOISE, _USUAL_SLOPE, _USUAL_DRIFT = 0.004, math.tan(math.radians(3.0)), 0.05
# Maximum slope of a capture's floor.
_MAX_SLOPE = math.tan(math.radians(20.0))
# A slope or drift counts if it is this many times its standard error. A slope also needs this many stands, over this
# distance along it in meters. A drift needs more stands, must exceed this multiple of their scatter, and must be slower
# than this, in meters per second.
_SURE, _MIN_TILTED, _MIN_ALONG = 4.0, 8, 0.7
_MIN_DRIFTING, _ABOVE_SCATTER, _MAX_RATE = 12, 3.0, 0.02
# Meters: a still foot that is higher than the other one by more than this, and by more than the steepest floor allows,
# is in the air.
_RAISED = 0.03


@dataclass(frozen=True, slots=True)
class FloorPlane:
    """The plane y = height + slope_x x + slope_z z through the standing feet, in meters.

    Attributes
    ----------
    height, slope_x, slope_z : the plane.
    tilt : angle between the plane and the horizontal in radians.
    error : standard error of the tilt in radians.
    residue : root-mean-square distance of the standing feet from the plane, meters.
    extent : length over which the feet stand, along the slope, meters.
    drift : rise of the floor from the first stand to the last in meters, after subtracting the tilt; 0 if not
        significant.
    first, last : times of these stands, in frames.
    n_stands : number of stands.
    """

    height: float
    slope_x: float
    slope_z: float
    tilt: float
    error: float
    residue: float
    extent: float
    drift: float
    first: float
    last: float
    n_stands: int

    @property
    def is_tilted(self) -> bool:
        """Whether the tilt is more than an estimation error, and raises the floor by more than the feet scatter."""
        is_sure = self.tilt > _SURE * self.error and self.extent > _MIN_ALONG and self.n_stands >= _MIN_TILTED
        return is_sure and self.tilt * self.extent > 2.0 * self.residue

    def to_dict(self) -> dict[str, float]:
        """Return plain data for JSON."""
        return {**asdict(self), "is_tilted": self.is_tilted}


def find_floor_plane(motion: Motion, track: PointTrack | None = None) -> FloorPlane:
    """Fit a plane to the places where feet stand.

    Every stand of a heel or a ball counts once, at its mean position. Left and right, heel and ball have their own
    height, because joints lie at different heights in the feet. The fit is robust: stands off the plane, on steps or in
    the air, do not count. If the motion has contacts, they determine when feet stand.

    track : its points, if they are known; see `marey.clean.track`.

    Raise `NoResult` if the feet stand at too few places, too close together, or not on a plane, as on stairs.

    Examples
    --------
    >>> from marey.clean import find_floor_plane
    >>> plane = find_floor_plane(marey.samples.sample("walk").motion)
    >>> plane.is_tilted, plane.n_stands
    (False, 23)
    """
    track = track_points(motion, choose_points(motion)) if track is None else track
    scale = track.scale.length
    places, times, points = _find_stands(track, motion.contacts)
    if len(places) < _MIN_STANDS:
        raise NoResult(
            f"fitting a floor plane needs at least {_MIN_STANDS} places where the feet stand, but there are "
            f"only {len(places)}"
        )
    middle = places[:, [0, 2]].mean(axis=0)
    flat = places[:, [0, 2]] - middle
    extent = float(np.ptp(flat, axis=0).max())
    if extent < _MIN_EXTENT * scale:
        raise NoResult(
            f"all places where the feet stand are within {extent:.2f} m, too close together to fit a floor plane"
        )
    # np.unique would import numpy.ma, which takes longer than all of this.
    own = (points[:, None] == sorted(set(points.tolist()))).astype(np.float64)
    terms, heights, noise = np.hstack([flat, own]), np.ascontiguousarray(places[:, 1]), _NOISE * scale
    clock = (times - times.mean()) / max(float(np.ptp(times)), 1e-9)
    drifting = np.column_stack([clock, terms])
    weights = _weigh_stands(drifting, heights, _OUTLIER * scale)
    usual = (_USUAL_SLOPE, _USUAL_SLOPE)
    rises, rise_spread, residue = _fit(drifting, heights, weights, noise, (_USUAL_DRIFT * scale, *usual))
    drift, slopes, spread = float(rises[0]), rises[1:], rise_spread[1:, 1:]
    is_sure = abs(drift) > max(_SURE * math.sqrt(float(rise_spread[0, 0])), _ABOVE_SCATTER * residue)
    is_slow = abs(drift) < _MAX_RATE * float(np.ptp(times)) / motion.fps
    if not (is_sure and is_slow and (weights > 0.0).sum() >= _MIN_DRIFTING):
        drift, weights = 0.0, _weigh_stands(terms, heights, _OUTLIER * scale)
        slopes, spread, residue = _fit(terms, heights, weights, noise, usual)
    steepness = math.hypot(*slopes[:2])
    if (weights > 0.0).mean() < _MIN_ON_PLANE or residue > _MAX_RESIDUE * scale or steepness > _MAX_SLOPE:
        raise NoResult("the feet do not stand on one plane")
    uphill = slopes[:2] / steepness if steepness > 0.0 else np.array([1.0, 0.0])
    a, b = slopes[:2].tolist()
    counts = own[weights > 0.0].sum(axis=0)
    level = float((slopes[2:] * counts).sum() / counts.sum())
    return FloorPlane(
        height=level - a * float(middle[0]) - b * float(middle[1]), slope_x=a, slope_z=b, tilt=math.atan(steepness),
        error=math.sqrt(float(uphill @ spread[:2, :2] @ uphill)) / (1.0 + steepness**2), residue=residue,
        extent=float(np.ptp(flat[weights > 0.0] @ uphill)), drift=drift, first=float(times.min()),
        last=float(times.max()), n_stands=int((weights > 0.0).sum()),
    )  # fmt: skip


def _find_stands(track: PointTrack, contacts: Contacts | None) -> tuple[Floats, Floats, Floats]:
    """Return the mean position (n, 3) of each stand of a point, its time (n,) in frames, and the point (n,)."""
    shortest = max(track.frames(_MIN_SECONDS), 2)
    still: Bools = track.speed < _STILL * track.scale.root
    if contacts is not None:
        for k, point in enumerate(track.points):
            if point.name in contacts.names:
                still[:, k] = contacts.mask[:, contacts.index(point.name)]
    elif None not in (mains := [track.main_column(side) for side in SIDES]):
        raised = _RAISED * track.scale.length
        floor_kernels.drop_raised(still, track.paths, np.array(mains), track.feet, raised, _MAX_SLOPE)
    columns = np.array(track.foot_columns, dtype=np.int64)
    table = np.empty((len(columns) * (len(still) // shortest + 1), 5))
    table = table[: floor_kernels.find_stands(still, track.paths, columns, shortest, table)]
    return table[:, :3], table[:, 3], table[:, 4]


def _weigh_stands(terms: Floats, heights: Floats, outlier: float) -> Floats:
    """Return weights (n,) for a robust fit of heights (n,) to terms (n, m): least absolute values, then Tukey."""
    weights = np.empty(len(heights))
    if not floor_kernels.weigh_stands(terms, heights, outlier, _N_ROUNDS, _CONVERGED, weights):
        raise NoResult("the feet do not stand on one plane")
    return weights


def _fit(
    terms: Floats, heights: Floats, weights: Floats, noise: float, usual: tuple[float, ...]
) -> tuple[Floats, Floats, float]:
    """Fit heights (n,) to terms (n, m); return the coefficients (m,), their covariance (m, m), and the residue in
    meters.

    noise : minimum scatter of the heights in meters.
    usual : usual size of the first coefficients. They stay near 0 if the stands do not determine them, such as the
        slope across a straight walk.
    """
    m = terms.shape[1]
    prior, values, spread = np.zeros(m), np.empty(m), np.empty((m, m))
    prior[: len(usual)] = 1.0 / np.square(usual)
    residue = floor_kernels.fit_stands(terms, heights, weights, noise, prior, values, spread)
    return values, spread, float(residue)


def estimate_floor_plane(motion: Motion, track: PointTrack | None = None) -> FloorPlane | None:
    """Return the result of `find_floor_plane`, or None if it fails, for example for bodies without feet.

    Examples
    --------
    >>> from marey.clean import estimate_floor_plane
    >>> print(estimate_floor_plane(kick))
    None
    """
    try:
        return find_floor_plane(motion, track)
    except (NoResult, InvalidValue):
        return None
