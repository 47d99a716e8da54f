"""Bend a motion's path to another curve; posture and steps follow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from marey.core.annotations import add_provenance
from marey.core.arrays import Floats, freeze_array, set_readonly
from marey.core.feet import feet_from_flag
from marey.core.limb_draft import FEET, MotionDraft, find_foot_plants, find_limb, find_limb_hinge
from marey.core.motion import Motion, check_motion, move_frames
from marey.core.settings import operation
from marey.deprecation import renamed_parameters
from marey.edit._splines import hermite
from marey.edit.replant import replant_feet, set_contacts
from marey.edit.settings import EditPathSettings
from marey.errors import InvalidValue
from marey.maths import ease_in, filters, quat, rigid2d

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

# Sampling step along a curve, and distance below which two points count as one; meters.
_STEP, _SAME = 0.01, 0.001
# Maximum length of a path in meters; longer ones would be slow to sample.
_MAX_LENGTH = 10_000.0
# The direction of a path is that of a chord this far to both sides, meters: about a step, to avoid jitter.
_CHORD = 0.25
# A motion that travels less than this has no path to bend, meters.
_MIN_TRAVEL = 0.1
# Seconds in which a foot blends from the transform of one plant to that of the body, and then to that of the next
# plant.
_SWING = 0.4
# Seconds around a foot out of reach in which a leg is damped, to keep it from snapping straight.
_SOFTEN = 0.1


def extract_path(motion: Motion, *, smooth: float = 0.4) -> Floats:
    """Return the path of the hips without sway, (F, 2) x and z in meters, smoothed by a Gaussian of `smooth` s.

    Examples
    --------
    >>> marey.edit.extract_path(walk).shape
    (241, 2)
    """
    sigma = EditPathSettings(smooth=smooth).smooth * motion.fps
    return set_readonly(filters.gaussian(motion.travel[:, [0, 2]], sigma))


@renamed_parameters(replant=("feet", feet_from_flag))
@operation(EditPathSettings)
def edit_path(motion: Motion, path: ArrayLike, settings: EditPathSettings) -> Motion:
    """Make a motion follow another path, from the start of the path. The body rotates with the direction of the path.

    Each frame moves from its position on the original path to the same distance along the new one. All frames of a foot
    plant get the same transform, so the foot does not slide; limb IK adjusts the legs, and cleanup then holds every
    plant. If the path is the original one, the motion is unchanged.

    Parameters
    ----------
    path : (N, 2) x and z in meters, N >= 2; a smooth curve passes through the points. It must be at least as long as
        the travel, unless `stretch` is set.

    Contacts are detected first if the motion has none.

    Examples
    --------
    >>> angle = np.linspace(0.0, np.pi / 2, 30)
    >>> path = 4.0 * np.stack([1.0 - np.cos(angle), np.sin(angle)], axis=1)  # (N, 2) x and z in meters
    >>> turned = marey.edit.edit_path(walk, path)
    >>> bool(turned.travel[-1, 0] - turned.travel[0, 0] > 1.0)  # meters to the left
    True
    """
    given = freeze_array(path, "path", (None, 2))
    old_points = extract_path(check_motion(motion), smooth=settings.smooth)
    old = _fit_curve(old_points, "the traveled path")
    if old is None or old.length < _MIN_TRAVEL:
        raise InvalidValue(
            f"{motion.name!r} must travel at least {_MIN_TRAVEL:g} m for its path to be edited, but travels "
            f"{0.0 if old is None else old.length:.3g} m"
        )
    new = _fit_curve(given, "path")
    if new is None:
        raise InvalidValue(f"path must have at least two different points, not {len(given)} equal ones")
    factor = new.length / old.length if settings.stretch else 1.0
    if old.length * factor > new.length * (1.0 + 1e-6) + 1e-6:
        raise InvalidValue(
            f"path must be at least as long as the motion's own path ({old.length:.3g} m), not {new.length:.3g} m; "
            f"lengthen it, or use `stretch=True`"
        )
    # Interpolate frames that stand still between two points of the curve.
    along = np.interp(np.arange(len(motion)), old.knots, old.along)
    there = new.frames(along * factor)
    here = old.frames(along)
    transforms = rigid2d.compose(there, rigid2d.invert(here))
    record: dict[str, Any] = {"path": given.tolist(), "stretch": settings.stretch, "smooth": settings.smooth}
    if np.array_equal(there, here):
        return add_provenance(motion, "path", **record, replanted=False)
    source = set_contacts(motion) if settings.feet else motion
    bent = move_frames(source, transforms)
    done = False
    if settings.feet:
        bent = hold_planted_feet(source, bent, transforms)
        bent, done = replant_feet(bent)
    return add_provenance(bent, "path", **record, replanted=done)


@dataclass(frozen=True, slots=True, eq=False)
class _Curve:
    """A smooth curve through points, sampled every centimeter.

    knots : (N,) indices of the given points that it passes through.
    along : (N,) distance from the beginning to each of them, in meters.
    distance, points : (S,) and (S, 2) distances and positions of the samples.
    """

    knots: Any
    along: Floats
    distance: Floats
    points: Floats

    @property
    def length(self) -> float:
        return float(self.distance[-1])

    def at(self, along: Floats) -> Floats:
        """Return positions (T, 2) at distances `along` (T,) the path, in meters; straight beyond its ends."""
        inside = np.clip(along, 0.0, self.length)
        place = np.stack([np.interp(inside, self.distance, self.points[:, k]) for k in (0, 1)], axis=-1)
        reach = min(_CHORD, self.length)
        first = self._direction(0.0, reach)
        last = self._direction(self.length - reach, self.length)
        return np.asarray(
            place + np.minimum(along, 0.0)[:, None] * first + np.maximum(along - self.length, 0.0)[:, None] * last
        )

    def _direction(self, start: float, end: float) -> Floats:
        """Return the unit vector (2,) from the point at `start` to the point at `end`, both clamped to the curve."""
        ends = [np.interp([start, end], self.distance, self.points[:, k]) for k in (0, 1)]
        chord = np.array([ends[0][1] - ends[0][0], ends[1][1] - ends[1][0]])
        return np.asarray(chord / max(float(np.linalg.norm(chord)), 1e-9))

    def frames(self, along: Floats) -> Floats:
        """Return placements (T, 3) as rigid2d: direction and position at distances `along` (T,) the path, in meters."""
        ahead = self.at(along + _CHORD) - self.at(along - _CHORD)
        place = self.at(along)
        return np.concatenate([np.arctan2(ahead[:, 0], ahead[:, 1])[:, None], place], axis=1)


def _fit_curve(points: Floats, what: str) -> _Curve | None:
    """Fit a curve through points (N, 2); None if they are all at one position."""
    knots = [0]
    for k in range(1, len(points)):
        if float(np.linalg.norm(points[k] - points[knots[-1]])) >= _SAME:
            knots.append(k)
    if len(knots) < 2:
        return None
    through = points[knots]
    x = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(through, axis=0), axis=1))])
    if x[-1] > _MAX_LENGTH:
        raise InvalidValue(
            f"{what} must be at most {_MAX_LENGTH:g} m long, not {x[-1]:.3g} m; check that it is in meters"
        )
    fine = np.linspace(0.0, x[-1], max(2, int(np.ceil(x[-1] / _STEP)) + 1))
    fine = np.union1d(fine, x)
    samples = hermite(x, through, _find_slopes(x, through), fine)
    distance = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(samples, axis=0), axis=1))])
    return _Curve(np.array(knots), distance[np.searchsorted(fine, x)], distance, samples)


def _find_slopes(x: Floats, y: Floats) -> Floats:
    """Return the slope of `y` at each x: that of the parabola through the point and its two neighbors (Bessel)."""
    chord = np.diff(y, axis=0) / np.diff(x)[:, None]
    if len(x) == 2:
        return np.concatenate([chord, chord])
    width = np.diff(x)[:, None]
    middle = (width[1:] * chord[:-1] + width[:-1] * chord[1:]) / (width[1:] + width[:-1])
    return np.concatenate([2.0 * chord[:1] - middle[:1], middle, 2.0 * chord[-1:] - middle[-1:]])


def hold_planted_feet(source: Motion, bent: Motion, transforms: Floats) -> Motion:
    """Return `bent` with each planted foot moved by a single transform, and the legs solved to reach it."""
    skeleton = source.skeleton
    before = source.world()
    draft = MotionDraft.of(bent)
    frames = np.arange(len(source))
    for role in FEET:
        planted = find_foot_plants(source, role.split("_")[0])
        if planted is None or not planted.any():
            continue
        limb = find_limb(skeleton, role)
        places, yaws = _carry_foot(before.positions[:, limb.ankle], transforms, planted, source.fps)
        draft.reach(
            limb,
            frames,
            places,
            quat.mul(rigid2d.to_quat(np.stack([yaws, yaws, yaws], axis=-1)), before.rotations[:, limb.ankle]),
            hinge=find_limb_hinge(source, limb),
            soften=_SOFTEN * source.fps,
        )
    return draft.apply_to(bent)


def _carry_foot(path: Floats, transforms: Floats, planted: Any, fps: float) -> tuple[Floats, Floats]:
    """Return positions (F, 3) and yaw (F,) of a foot: moved by its plant's transform, between plants by the body's."""
    places = rigid2d.apply(transforms, path)
    yaws = transforms[:, 0].copy()
    shift, turn = np.zeros_like(places), np.zeros_like(yaws)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], planted, [False]])))
    reach = max(1.0, _SWING * fps)
    starts, stops = edges[::2], edges[1::2]
    frames = np.arange(len(path))
    for k, (start, stop) in enumerate(zip(starts, stops, strict=True)):
        own = transforms[(start + stop - 1) // 2]
        gap_before = reach if k == 0 else min(reach, float(start - stops[k - 1] + 1))
        gap_after = reach if k + 1 == len(starts) else min(reach, float(starts[k + 1] - stop + 1))
        weight = np.minimum(
            1.0 - ease_in((start - frames) / gap_before), 1.0 - ease_in((frames - (stop - 1)) / gap_after)
        )
        shift += weight[:, None] * (rigid2d.apply(own, path) - places)
        turn += weight * rigid2d.wrap_angle(own[0] - yaws)
    return places + shift, yaws + turn
