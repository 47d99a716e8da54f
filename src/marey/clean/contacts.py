"""Contact detection: which points touch the floor or another support, in each frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from marey.clean import contact_kernels
from marey.clean.body_parts import find_body_part, find_rest_height, is_round
from marey.clean.contact_kernels import ContactLimits, PlantRules, PlantSpeed, PlantTrim
from marey.clean.floor import collect_still_heights, find_rest_heights, locate_floor
from marey.clean.points import SIDES
from marey.clean.settings import ContactSettings
from marey.clean.supports import mark_bearing_hands, measure_clearance
from marey.clean.track import PointTrack, choose_points, track_points
from marey.core.arrays import Bools, Floats, set_readonly
from marey.core.contacts import Contacts
from marey.core.motion import Motion, check_motion
from marey.core.settings import operation
from marey.core.skeleton import Skeleton
from marey.deprecation import renamed_parameters
from marey.errors import InvalidValue, warn_user
from marey.io.files import MARKER_SUFFIXES

Plane = float | tuple[float, float, float]

# A foot leaves its plant faster if the body travels faster, so keep_speed scales with the body's speed. The setting is
# for a body that travels at _TRAVEL (m/s), measured over _TRAVEL_SECONDS on either side; the factor is clamped to
# _MIN_PACE and _MAX_PACE.
_TRAVEL, _TRAVEL_SECONDS, _MIN_PACE, _MAX_PACE = 1.5, 0.25, 0.9, 1.35
# A plant lasts while the point is slower than a limit of that plant: a base speed (m/s) for computed and for recorded
# paths, plus a multiple of the 25th percentile of the plant's speeds. Recorded feet jitter inside shoes and under
# markers.
_OWN_COMPUTED, _OWN_RECORDED, _OWN_FACTOR = 2e-6, 0.05, 12.0
# If the clip cuts a plant off, its percentile counts as at most the median of the point's other plants, or as at most
# this speed in m/s, whichever is larger.
_OWN_CUT = 0.005
# Limit of the height of a plant, if the path is computed or noise hides how feet move in shoes: meters, plus a multiple
# of the spread of the point's heights at rest.
_OWN_HEIGHT, _OWN_SPREAD = 0.0001, 10.0
# Noise added to the base speed, and subtracted from the percentile, in units of the speed noise along one axis. A
# quarter of the frames is below 1.1, one in a thousand exceeds 4; a foot that starts to move exceeds 6 within a frame
# or two.
_NOISE_BASE, _NOISE_USUAL = 6.0, 1.5
# A short plant with a mean speed above _CALM (m/s) loses its faster ends: at most half of it, and it keeps at least
# _CALM_SECONDS. In recorded running, feet on the floor move all the time. Plants longer than _CALM_LONGEST, and those
# of a body that travels no faster than _TRAVEL, belong to walking or standing and do not change.
_CALM, _CALM_FRACTION, _CALM_SECONDS, _CALM_LONGEST = 0.12, 0.5, 0.1, 0.35
# No step is shorter than _CALM_SECONDS: if the ball of a recorded foot is planted for less, its plant grows while the
# speed is below this multiple of keep_speed.
_GROWTH = 1.25
# If the speed is noisier than this, m/s, a curve fitted to many frames decides where plants end, within these bounds.
_NOISY = 0.015
_EDGE_SECONDS, _EDGE_BEYOND, _EDGE_NOISES = 0.12, 0.015, 6.0
# Maximum depth in meters of a point that rests on the floor: recorded feet sink in under load. Other parts of a body
# that lies, crawls or rolls are recorded up to 0.2 m below the floor of the feet.
_DEEPEST, _DEEPEST_BODY = 0.06, 0.25
# Maximum depth of any point of a foot that is planted: half the length of a foot. A deeper foot would point into the
# floor.
_DEEPEST_FOOT = 0.12
# Factor for the speed of parts that roll.
_SLIDING = 0.5
# Maximum height of a given floor above still feet, in meters for the reference body.
_OFF_FLOOR = 0.1


@dataclass(frozen=True, slots=True, eq=False)
class ContactResult:
    """Result of contact detection: contacts, floor height (m), and heights of raised supports above the floor (m)."""

    contacts: Contacts
    floor: float
    raised: tuple[float, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the heights in meters, and each point's contacts as half-open ranges of frames, JSON-ready."""
        contacts = {point.name: self.contacts.intervals(point.name) for point in self.contacts.points}
        return {"floor_m": self.floor, "raised_m": list(self.raised), "contacts": contacts}


@renamed_parameters(thresholds="settings")
@operation(ContactSettings)
def detect_contacts(motion: Motion, settings: ContactSettings) -> Motion:
    """Detect contacts of heels and balls of the feet and, on request, of hands or the whole body; also find the floor.

    Each point has its own rest height on the floor. A contact needs one frame that is low and slow, and lasts while the
    point is neither too high nor too fast (two thresholds each, to avoid flicker). Within a contact, only frames about
    as slow as the plant itself count: a perfectly still plant ends with its first movement; a drifting one, as in
    recordings, when it gets faster than its drift. Paths are smoothed according to their noise, and not at all if they
    have none.

    The floor is stored in ``source.floor``. Feet may also stand above it, and hands may bear the body's weight; see
    `marey.clean.supports`. Parts of the body that touch the floor are described in `marey.clean.body_parts`.

    Points defined in ``motion.contacts`` are kept; their flags are replaced.

    Examples
    --------
    >>> found = marey.detect_contacts(walk)
    >>> found.contacts.names
    ('left_heel', 'left_ball', 'right_heel', 'right_ball')
    >>> found.contacts.mask.shape
    (241, 4)
    """
    found = find_contacts(motion, settings=settings)
    return replace(motion, contacts=found.contacts, source=replace(motion.source, floor=found.floor))


def ensure_contacts(motion: Motion, problem: str | None = None) -> Motion:
    """Return the motion with existing or detected contacts.

    problem : text that says what goes wrong without contacts. If it is given and no contacts can be detected, issue a
        warning that starts with it and return the motion unchanged. If None, raise an error instead.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from marey.clean import ensure_contacts
    >>> ensure_contacts(replace(walk, contacts=None)).contacts.names[0]
    'left_heel'
    """
    has_markers = f".{motion.source.format}" in MARKER_SUFFIXES  # which have no feet
    if motion.contacts is not None or (has_markers and problem is not None):
        return motion
    try:
        return detect_contacts(motion)
    except InvalidValue as error:
        if problem is None:
            raise
        warn_user(f"{problem}: {error}")
        return motion


@renamed_parameters(thresholds="settings")
@operation(ContactSettings)
def find_contacts(motion: Motion, settings: ContactSettings) -> ContactResult:
    """Detect contacts like `detect_contacts`, but return them with the floor and the detected supports.

    Examples
    --------
    >>> from marey.clean import find_contacts
    >>> result = find_contacts(walk)
    >>> round(result.floor, 3), result.raised
    (0.0, ())
    """
    return find_contacts_of(
        motion, track_points(motion, choose_points(motion, settings.hands, settings.body)), settings
    )


def find_contacts_of(motion: Motion, track: PointTrack, settings: ContactSettings) -> ContactResult:
    """Detect contacts like `find_contacts`, of points that are tracked already."""
    surfaces = check_planes(settings.planes)
    floor = check_motion(motion).source.floor if settings.floor is None else settings.floor
    aloft = track.is_aloft
    slow: Bools = (track.speed < settings.enter_speed * track.scale.root) & ~aloft
    if settings.floor is not None:
        _check_floor(track, slow, settings.floor)
    stills = collect_still_heights(track, slow)
    level = locate_floor(track, stills) if floor is None else float(floor)
    rest, spread = find_rest_heights(track, stills, level, given=floor is not None)
    rest += _find_thickness(motion.skeleton, track)
    above = track.heights - rest
    _lower_local_floors(motion.skeleton, track, above)
    deepest = np.where([side is None for side in track.sides], _DEEPEST_BODY, _DEEPEST) * track.scale.length
    clearance = np.empty(above.shape)
    contact_kernels.measure_clearance(above, deepest, track.feet, _DEEPEST_FOOT * track.scale.length, clearance)
    raised: tuple[float, ...] = ()
    if surfaces is None:
        clearance, raised = measure_clearance(track, rest, slow, clearance, settings.enter_height * track.scale.length)
    else:
        clearance = _measure_plane_clearance(track, rest, level, clearance, surfaces)
    clearance[aloft] = np.inf
    mask = _find_plants(track, _slow_rolling(motion.skeleton, track), clearance, spread, settings)
    on_floor, gap = settings.enter_height * track.scale.length, track.frames(settings.gap)
    mark_bearing_hands(track, level, clearance, on_floor, gap, mask)
    return ContactResult(Contacts(track.points, set_readonly(mask)), level, raised)


def _check_floor(track: PointTrack, slow: Bools, floor: float) -> None:
    """Raise an error if the floor is well above all positions of still feet, because they then stand on something
    else."""
    feet = list(track.foot_columns)
    still = track.heights[:, feet][slow[:, feet]]
    if still.size and floor - float(np.quantile(still, 0.95)) > _OFF_FLOOR * track.scale.length:
        raise InvalidValue(
            f"nothing touches the floor at {floor:.3f} m; feet at rest are at {float(np.median(still)):z.3f} m",
            parameter="floor",
            remedy="check `floor=`, or leave it out to detect it",
        )


def _lower_local_floors(skeleton: Skeleton, track: PointTrack, above: Floats) -> None:
    """Where a foot or hand is below the floor, measure the height of its knee or elbow from there; change `above` (F,
    K) in place.

    The recorded limb is too low then: its knee or elbow is near the floor although it does not touch it.
    """
    for k, point in enumerate(track.points):
        part = find_body_part(skeleton, point) if track.sides[k] is None else None
        if part is None or part.kind not in ("knee", "elbow"):
            continue
        ends = [i for i, p in enumerate(track.points) if i != k and part.joint in skeleton.chain(p.joint)]
        if ends:
            above[:, k] -= np.minimum(above[:, ends].min(axis=1), 0.0)


def _slow_rolling(skeleton: Skeleton, track: PointTrack) -> Floats:
    """Return the speeds (F, K) in m/s, lower for parts of the body that roll: in a fall or a dive, they also slide."""
    round_parts = [k for k, point in enumerate(track.points) if track.sides[k] is None and is_round(skeleton, point)]
    if not round_parts:
        return track.speed
    factors = np.ones(len(track.points))
    factors[round_parts] = _SLIDING
    return np.asarray(factors * track.speed)


def _find_plants(track: PointTrack, speed: Floats, clearance: Floats, spread: Floats, limits: ContactSettings) -> Bools:
    """Return the contact mask (F, K) of K points.

    speed, clearance : (F, K) speeds in m/s, and heights above the points' rest heights in meters.
    spread : (K,) how much the rest heights vary, in meters.
    """
    length, root = track.scale.length, track.scale.root
    noise, lag = track.speed_noise, max(track.frames(_TRAVEL_SECONDS), 1)
    each = np.zeros((len(spread), 2))
    each[:, 0] = limits.keep_height * length
    if track.is_recorded:
        each[[k for k in map(track.main_column, SIDES) if k is not None], 1] = _GROWTH
    if not track.is_recorded or noise > _NOISY * root:
        each[:, 0] = np.minimum(_OWN_HEIGHT * length + _OWN_SPREAD * spread, each[:, 0])
    base = _OWN_RECORDED if track.is_recorded else _OWN_COMPUTED
    pace, mask = np.empty(len(track.speed)), np.zeros(track.speed.shape, dtype=bool)
    contact_kernels.measure_paces(track.hips, lag, _TRAVEL * root * 2 * lag / track.fps, _MIN_PACE, _MAX_PACE, pace)
    rules = PlantRules(
        ContactLimits(
            enter_speed=limits.enter_speed * root,
            keep_speed=limits.keep_speed * root,
            enter_height=limits.enter_height * length,
            keep_height=limits.keep_height * length,
        ),
        PlantSpeed(
            base=base * root + _NOISE_BASE * noise,
            factor=_OWN_FACTOR,
            noise=_NOISE_USUAL * noise,
            cut=_OWN_CUT * root,
        ),
        PlantTrim(
            average=_CALM * root,
            frames=track.frames(_CALM_SECONDS),
            fraction=_CALM_FRACTION,
            longest=track.frames(_CALM_LONGEST),
        ),
        gap=track.frames(limits.gap),
        shortest=max(track.frames(limits.duration), 2),
    )
    contact_kernels.detect_plants(speed, clearance, pace, each, rules, mask)
    if noise > _NOISY * root:
        contact_kernels.refine_edges(
            track.raw,
            track.noise,
            track.frames(_EDGE_SECONDS),
            max(track.frames(_EDGE_BEYOND), 2),
            _EDGE_NOISES,
            mask,
        )
    return mask


def _find_thickness(skeleton: Skeleton, track: PointTrack) -> Floats:
    """Return the height (K,) in meters to add to the rest height of points that lie inside the body."""
    inside = [
        find_rest_height(skeleton, point) if side is None else 0.0
        for point, side in zip(track.points, track.sides, strict=True)
    ]
    return track.scale.length * np.array(inside)


def _measure_plane_clearance(
    track: PointTrack, rest: Floats, floor: float, clearance: Floats, surfaces: Sequence[tuple[float, float, float]]
) -> Floats:
    """Return the distance (F, K) in meters to the nearest support: the floor from above, a plane from either side.

    rest : (K,) rest heights of the points on the floor, in meters.
    clearance : (F, K) distance to the floor.
    surfaces : planes as (height, slope along x, slope along z).
    """
    for height, a, b in surfaces:
        plane = height + a * track.paths[:, :, 0] + b * track.paths[:, :, 2]
        clearance = np.minimum(clearance, np.abs(track.heights - plane - (rest - floor)))
    return clearance


def check_planes(planes: Sequence[Plane] | None) -> list[tuple[float, float, float]] | None:
    """Return supports as (height, slope along x, slope along z); None for None."""
    return None if planes is None else [_check_plane(plane) for plane in planes]


def _check_plane(plane: Plane) -> tuple[float, float, float]:
    try:
        values = np.atleast_1d(np.asarray(plane, dtype=np.float64))
    except (TypeError, ValueError):
        values = np.full(1, np.nan)
    if values.shape not in ((1,), (3,)) or not np.isfinite(values).all():
        raise InvalidValue(
            f"a plane must be a height in meters or (height, slope along x, slope along z), not {plane!r}"
        )
    height, a, b = values if len(values) == 3 else (values[0], 0.0, 0.0)
    return float(height), float(a), float(b)
