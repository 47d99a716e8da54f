"""Exact arrival: adjust the end of a walk to stop exactly at a position and heading.

A graph has a limited set of steps, so the best walk ends near the target and not on it. The remaining error is spread
over the last seconds: the path is bent by the heading error and shifted by the position error, both eased in. Each
planted foot moves as one rigid piece, and cleanup pins it. The size of the adjustment is reported. An adjustment beyond
the limits raises an error.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from marey.core.annotations import add_provenance
from marey.core.arrays import Floats, freeze_array, set_readonly
from marey.core.feet import feet_from_flag
from marey.core.motion import Motion, move_frames
from marey.core.placement import bake_hips_into_root, find_placement
from marey.core.settings import operation
from marey.deprecation import renamed_parameters, warn_renamed
from marey.edit.path import hold_planted_feet
from marey.edit.replant import mix_poses, replant_feet, set_contacts
from marey.errors import InvalidValue, NoResult
from marey.graph.settings import LandingSettings
from marey.maths import rigid2d
from marey.maths.ease import ease_in

if TYPE_CHECKING:
    from marey.graph.walk import Walk

# Seconds before the adjusted part over which the given motion blends into the cleaned one.
_LEAD = 0.3
# Cleanup also moves the hips a little. Repeat, up to _ROUNDS times, until they end within _NEAR meters and radians.
_NEAR, _ROUNDS = 1e-4, 6


@dataclass(frozen=True, slots=True, eq=False)
class LandingResult:
    """A motion that was adjusted to arrive exactly, and the size of the adjustment.

    Attributes
    ----------
    shift : distance in meters from the original end to the target.
    turn : heading correction in radians, positive to the left.
    seconds : duration of the adjusted part, in seconds.
    drag : largest velocity that the adjustment adds, in meters per second.
    swing : largest angular velocity that the adjustment adds, in radians per second.
    """

    shift: float
    turn: float
    seconds: float
    drag: float
    swing: float
    _motion: Motion = field(repr=False)

    def motion(self) -> Motion:
        """Return the adjusted motion."""
        return self._motion

    def to_dict(self) -> dict[str, float]:
        """Return the size of the adjustment, JSON-ready."""
        return {
            "land_shift_m": self.shift,
            "land_turn_deg": float(np.degrees(self.turn)),
            "land_seconds": self.seconds,
            "land_drag_m_per_s": self.drag,
        }

    def __getitem__(self, k: int) -> Any:
        """Deprecated: index 0 is the motion, index 1 the report."""
        warn_renamed("using a LandingResult as a tuple", "LandingResult.motion()")
        return (self._motion, self)[k]


@renamed_parameters(
    at="position", most="max_shift", most_turn="max_turn", seconds="landing_seconds", clean=("feet", feet_from_flag)
)
@operation(LandingSettings)
def land_at(walk: Walk | Motion, position: ArrayLike, settings: LandingSettings) -> LandingResult:
    """Adjust the end of a motion to put the hips of the last frame exactly above a position, facing exactly `heading`.

    Frames before the adjusted part, except 0.3 s over which cleanup blends in, keep their exact values.

    Parameters
    ----------
    walk : a walk, whose motion is cleaned first, or any motion.
    position : (2,) target of the hips, x, z in meters.

    Raises
    ------
    NoResult : if the adjustment would exceed `max_shift` or `max_turn`.

    Examples
    --------
    >>> route = marey.graph.reach(graph, (0.0, 4.0), max_error=0.5)
    >>> landed = marey.graph.land_at(route, (0.0, 4.0))
    >>> landed.motion().travel[-1, [0, 2]].round(3) + 0.0
    array([0., 4.])
    """
    goal = freeze_array(position, "the position to land at", (2,))
    heading, span, feet, name = settings.heading, settings.landing_seconds, settings.feet, settings.name
    clean = feet == "clean"
    given = bake_hips_into_root(walk if isinstance(walk, Motion) else walk.motion(feet=feet))
    n = round(span * given.fps)
    lead = max(1, round(_LEAD * given.fps)) if clean else 0
    if n < 2 or n + lead >= len(given) - 1:
        takes = (max(n, 2) + lead + 1) / given.fps
        raise InvalidValue(
            f"adjusting the last {span:g} s needs more than {takes:.2f} s of motion, but the walk lasts "
            f"{given.duration:.2f} s",
            parameter="landing_seconds",
            remedy="use a longer walk, or lower `landing_seconds=`",
        )
    end = _end(given)
    wanted = np.array([end[0] if heading is None else float(heading), *goal])
    shift, turn = float(np.hypot(*(wanted - end)[1:])), float(rigid2d.wrap_angle(wanted[0] - end[0]))
    if shift > settings.max_shift or abs(turn) > settings.max_turn:
        missing, allowed = np.degrees(abs(turn)), np.degrees(settings.max_turn)
        raise NoResult(
            f"the walk ends {shift:.3f} m and {missing:.1f} degrees from the target, but it may be adjusted by at most "
            f"{settings.max_shift:g} m and {allowed:.1f} degrees",
            remedy="choose another target or `rng=`, raise `max_shift=` or `max_turn=`, or add clips to the graph",
        )
    first = len(given) - 1 - n - lead
    tail = set_contacts(given)[first:] if clean else given[first:]
    bent, moves = _bend(tail, wanted, n, lead, clean)
    out = _replace_tail(given, bent, first)
    step = np.diff(moves, axis=0) * given.fps
    drag, swing = float(np.hypot(step[:, 1], step[:, 2]).max()), float(np.abs(step[:, 0]).max())
    record = {"at": goal.tolist(), "heading": float(wanted[0]), "shift": shift, "turn": turn, "seconds": span}
    landed = add_provenance(out if name is None else replace(out, name=name), "land", **record)
    return LandingResult(shift, turn, span, drag, swing, landed)


def _end(motion: Motion) -> Floats:
    """Return the placement (3,) of the last frame: heading, x, z."""
    last = motion[-1:]
    return find_placement(last, 0)


def _bend(tail: Motion, wanted: Floats, n: int, lead: int, clean: bool) -> tuple[Motion, Floats]:
    """Bend the tail to put its last frame at `wanted` (3,). Also return the rotation, x and z (F, 3) by which each
    frame was moved, relative to its own position.

    The adjustment eases in over the last n frames. With `clean`, cleanup blends in over the first `lead` frames.
    """
    alpha = ease_in(np.clip(np.arange(len(tail)) - lead, 0, n) / n)
    aim = wanted
    bent, about = tail, np.zeros((len(tail), 3))
    for _ in range(_ROUNDS if clean else 1):
        transforms, about = _find_moves(tail, aim, alpha)
        bent = move_frames(tail, transforms)
        if clean:
            bent, _ = replant_feet(hold_planted_feet(tail, bent, transforms))
            # Ease from the original into the cleaned motion over the lead frames.
            bent = mix_poses(tail, tail, bent, ease_in(np.arange(len(tail)) / lead), slice(0, len(tail)))
        missed = wanted - _end(bent)
        missed[0] = rigid2d.wrap_angle(missed[0])
        if np.abs(missed).max() < _NEAR:
            break
        aim = aim + missed
    # The remaining error is too small to see; removing it makes the end exact.
    transforms, _ = _find_moves(bent, wanted, alpha)
    return move_frames(bent, transforms), about


def _find_moves(tail: Motion, wanted: Floats, alpha: Floats) -> tuple[Floats, Floats]:
    """Return the rigid2d (F, 3) that bend the path to end at `wanted`, and the rotation, x and z (F, 3) of each frame
    relative to its original position."""
    route = tail.travel[:, [0, 2]]
    end = _end(tail)
    angles = alpha * float(rigid2d.wrap_angle(wanted[0] - end[0]))
    about = np.stack([angles, np.zeros_like(angles), np.zeros_like(angles)], axis=1)
    steps = np.diff(route, axis=0)
    # Rotate each step by the rotation reached at that time.
    middle = 0.5 * (about[1:] + about[:-1])
    there = route[0] + np.concatenate([np.zeros((1, 2)), np.cumsum(rigid2d.apply_vector(middle, steps), axis=0)])
    there += alpha[:, None] * (wanted[1:] - there[-1])
    about[:, 1:] = there - route
    turned = rigid2d.apply_vector(about, route)
    return np.concatenate([angles[:, None], there - turned], axis=1), about


def _replace_tail(motion: Motion, tail: Motion, first: int) -> Motion:
    """Return the motion with its frames from `first` on replaced by `tail`."""
    root, rotations = motion.root_positions.copy(), motion.rotations.copy()
    root[first:], rotations[first:] = tail.root_positions, tail.rotations
    # Cleanup may have flipped the sign of a quaternion; keep signs continuous.
    flip = (rotations[first] * rotations[first - 1]).sum(axis=-1) < 0.0
    rotations[first:, flip] *= -1.0
    bones = motion.bone_offsets
    if tail.bone_offsets is not None:
        bones = motion.frame_offsets.copy()
        bones[first:] = tail.bone_offsets
    return replace(
        motion,
        root_positions=set_readonly(root),
        rotations=set_readonly(rotations),
        bone_offsets=None if bones is None else set_readonly(bones),
    )
