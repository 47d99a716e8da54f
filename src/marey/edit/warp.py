"""Motion warping: keyed displacements of joints and end effectors (displacement splines)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from marey.core.annotations import add_provenance
from marey.core.arrays import Floats, Ints, check_number, freeze_array
from marey.core.feet import feet_from_flag
from marey.core.kinematics import World
from marey.core.limb_draft import FEET, HANDS, Limb, MotionDraft, find_limb, find_limb_hinge
from marey.core.motion import Motion, check_motion
from marey.core.placement import find_left_axis
from marey.core.settings import operation
from marey.core.skeleton import Skeleton
from marey.deprecation import renamed_parameters, warn_renamed
from marey.edit._splines import hermite, monotone_slopes
from marey.edit.replant import keep_contacts
from marey.edit.settings import WarpSettings
from marey.errors import InvalidValue, JointNotFound, UnknownName, similar, warn_user
from marey.maths import quat

_EFFECTORS = ("hips", *HANDS, *FEET)
# Seconds around a target out of reach in which a limb is damped, to keep it from snapping straight.
_SOFTEN = 0.1
# Meters by which a target may be missed without a warning.
_MISSED = 1e-4


@dataclass(frozen=True, slots=True, eq=False)
class TurnKey:
    """A key that rotates a joint at `at` seconds by the rotation vector `turn` (3,) in radians, relative to the
    original.

    Parameters
    ----------
    joint : a role or the name of a joint.
    axes : ``"joint"``: the joint's local axes (default); ``"body"``: x to the body's left, y up, z forward;
        ``"world"``.
    hold : seconds for which the rotation is held; 0 by default.

    Examples
    --------
    >>> key = marey.edit.TurnKey("head", at=1.0, turn=(0.0, 0.6, 0.0), axes="body")
    >>> marey.edit.warp(walk, [key])
    <Motion 'walk': 241 frames at 60 Hz, 27 joints>
    """

    joint: str
    at: float
    turn: Sequence[float] | Floats
    axes: str = "joint"
    hold: float = 0.0

    def __post_init__(self) -> None:
        _rename_axes(self)


@dataclass(frozen=True, slots=True, eq=False)
class MoveKey:
    """A key at time `at` in seconds that moves a hand, a foot or the hips by `offset` or to `target`, (3,) in meters.

    Parameters
    ----------
    effector : ``left_hand``, ``right_hand``, ``left_foot`` or ``right_foot`` (the wrist or ankle), or ``hips``.
    axes : axes of the offset: ``"world"`` (default), or ``"body"``: x to the body's left, y up, z forward at that time.
    hold : seconds for which the displacement is held, for example while a foot is planted; 0 by default.

    Examples
    --------
    >>> key = marey.edit.MoveKey("right_hand", at=1.0, offset=(0.0, 0.3, 0.0), hold=0.2)
    >>> raised = marey.edit.warp(walk, [key])
    >>> hand = walk.skeleton.roles["right_hand"]
    >>> (raised.world().positions[60, hand] - walk.world().positions[60, hand]).round(3) + 0.0
    array([0. , 0.3, 0. ])
    """

    effector: str
    at: float
    offset: Sequence[float] | Floats | None = None
    target: Sequence[float] | Floats | None = None
    axes: str = "world"
    hold: float = 0.0

    def __post_init__(self) -> None:
        _rename_axes(self)


def _rename_axes(key: TurnKey | MoveKey) -> None:
    if key.axes == "figure":
        warn_renamed(f"{type(key).__name__}(axes='figure')", "axes='body'")
        object.__setattr__(key, "axes", "body")


@dataclass(frozen=True, slots=True, eq=False)
class _Curve:
    """A displacement spline of one joint or effector.

    values : (F, 3) displacements. certainty : (F,) from 0 to 1. world_axes : whether rotations are about world axes.
    """

    values: Floats
    certainty: Floats
    world_axes: bool = False

    @property
    def frames(self) -> Any:
        """Indices of the frames with a nonzero displacement."""
        return np.flatnonzero(self.values.any(axis=1))


@renamed_parameters(hold_feet=("feet", feet_from_flag))
@operation(WarpSettings)
def warp(motion: Motion, keys: Iterable[TurnKey | MoveKey], settings: WarpSettings) -> Motion:
    """Displace the motion at the keys, with smooth transitions; elsewhere it stays exactly the same.

    Each joint or end effector with keys gets a displacement spline through them, which starts at zero `ease` seconds
    before the first key and ends at zero `ease` seconds after the last. It never overshoots a key. Rotations are
    applied first, then the hips, then hands and feet by limb IK, which meets their keys exactly (at the nearest frames)
    if they are within reach.

    Parameters
    ----------
    keys : at least one `TurnKey` or `MoveKey`, with times within the motion.

    A limb whose target is out of reach gets as close as it can without snapping straight, with a `MareyWarning`; the
    distance missed at its keys is recorded in the provenance as ``residue``, in meters. Contacts that the warp lifts or
    drags are removed.

    Examples
    --------
    >>> look = marey.edit.TurnKey("head", at=1.5, turn=(0.0, 0.6, 0.0))
    >>> duck = marey.edit.MoveKey("hips", at=1.5, offset=(0.0, -0.1, 0.0))
    >>> warped = marey.edit.warp(walk, [look, duck], ease=0.5)
    >>> (warped.travel - walk.travel)[90].round(3) + 0.0
    array([ 0. , -0.1,  0. ])
    >>> np.array_equal(warped.rotations[0], walk.rotations[0])
    True
    """
    check_motion(motion)
    listed = list(keys) if isinstance(keys, Iterable) else [keys]
    turn_keys, moves = _sort_keys(motion, listed)
    draft = MotionDraft.of(motion)
    turn_curves = {}
    for joint, found in turn_keys.items():
        turn_curves[joint] = _make_turn_curve(motion, found, settings.ease, settings.continuity)
    _rotate_joints(draft, turn_curves)
    residue = _move_effectors(motion, draft, moves, turn_curves, settings)
    result = draft.apply_to(motion)
    result = replace(result, contacts=keep_contacts(motion, result))
    missed = {name: meters for name, meters in residue.items() if meters > _MISSED}
    for name, meters in missed.items():
        warn_user(
            f"{name} cannot reach its target and misses it by {meters:.3g} m; move the hips too, or allow limbs to be "
            "scaled with `max_stretch=`"
        )
    return add_provenance(
        result,
        "warp",
        keys=[_to_record(key) for key in listed],
        ease=settings.ease,
        continuity=settings.continuity,
        orientation=settings.orientation,
        feet=settings.feet,
        max_stretch=settings.max_stretch,
        residue=residue,
    )


def _sort_keys(
    motion: Motion, keys: Sequence[TurnKey | MoveKey]
) -> tuple[dict[int, list[TurnKey]], dict[str, list[MoveKey]]]:
    """Check the keys and sort them by joint or effector, then by time."""
    if not keys:
        raise InvalidValue("keys must have at least one key, got none")
    turn_keys: dict[int, list[TurnKey]] = {}
    moves: dict[str, list[MoveKey]] = {}
    for key in keys:
        if not isinstance(key, TurnKey | MoveKey):
            raise InvalidValue(f"keys must be TurnKey or MoveKey objects, not {key!r}")
        end = check_number(key.at, "at in seconds") + check_number(key.hold, "hold in seconds")
        if end > motion.duration + 0.5 / motion.fps:
            raise InvalidValue(
                f"a key must end by {motion.duration:g} s, the end of the motion, but one ends at {end:g} s"
            )
        allowed = ("joint", "body", "world") if isinstance(key, TurnKey) else ("body", "world")
        if key.axes not in allowed:
            raise UnknownName(f"axes of a key must be one of {', '.join(allowed)}, not {key.axes!r}")
        if isinstance(key, TurnKey):
            freeze_array(key.turn, "turn", (3,))
            turn_keys.setdefault(_find_joint(motion.skeleton, key.joint), []).append(key)
            continue
        if key.effector not in _EFFECTORS:
            near = similar(str(key.effector), _EFFECTORS)
            raise UnknownName(f"effector of a key must be one of {', '.join(_EFFECTORS)}, not {key.effector!r}{near}")
        if (key.offset is None) == (key.target is None):
            raise InvalidValue(f"a key of {key.effector} must have an offset or a target, but not both")
        freeze_array(key.offset if key.target is None else key.target, "offset or target", (3,))
        moves.setdefault(key.effector, []).append(key)
    for listed in moves.values():
        listed.sort(key=lambda key: key.at)
    for found in turn_keys.values():
        found.sort(key=lambda key: key.at)
        if len({key.axes == "joint" for key in found}) > 1:
            raise InvalidValue("either all keys of a joint or none must have axes='joint'")
    return turn_keys, moves


def _find_joint(skeleton: Skeleton, name: str) -> int:
    if name in skeleton.names:
        return skeleton.index(name)
    if name in skeleton.roles:
        return skeleton.roles[name]
    raise JointNotFound(f"no joint or role {name!r}{similar(str(name), (*skeleton.names, *skeleton.roles))}")


def _make_spline(
    motion: Motion, keys: Sequence[TurnKey | MoveKey], values: list[Floats], ease: float, continuity: int
) -> tuple[Floats, Floats]:
    """Return the spline (F, 3) through the values at the keys' frames, and its certainty (F,).

    The certainty is 1 between the outermost keys and fades to 0 outside.
    """
    at: list[float] = []
    through: list[Floats] = []
    for key, value in zip(keys, values, strict=True):
        for frame in sorted({round(key.at * motion.fps), round((key.at + key.hold) * motion.fps)}):
            if at and frame <= at[-1]:
                raise InvalidValue(f"two keys of the same joint are at frame {frame}; remove one of them")
            at.append(float(frame))
            through.append(value)
    reach = max(1.0, ease * motion.fps)
    x = np.array([at[0] - reach, *at, at[-1] + reach])
    y = np.stack([np.zeros(3), *through, np.zeros(3)])
    sure = np.ones(len(x))
    sure[[0, -1]] = 0.0
    frames = np.arange(len(motion), dtype=np.float64)
    inside = (frames > x[0]) & (frames < x[-1])
    slopes = monotone_slopes(x, y)
    slopes[[0, -1]] = 0.0
    curve = np.where(inside[:, None], hermite(x, y, slopes, frames, continuity), 0.0)
    level = np.zeros(len(x))
    return curve, np.where(inside, hermite(x, sure, level, frames, 2), 0.0)


def _find_body_axes(motion: Motion, seconds: float) -> Floats:
    """Return the rotation (4,) of the body's axes at a time in seconds."""
    frame = min(round(seconds * motion.fps), len(motion) - 1)
    left = find_left_axis(motion.skeleton, motion.world().positions[frame])
    half = 0.5 * np.arctan2(-left[2], left[0])
    return np.array([np.cos(half), 0.0, np.sin(half), 0.0])


def _to_world(motion: Motion, key: TurnKey | MoveKey, value: Any) -> Floats:
    vector = np.asarray(value, dtype=np.float64)
    if key.axes == "body":
        return quat.rotate(_find_body_axes(motion, key.at), vector)
    return vector


def _make_turn_curve(motion: Motion, keys: list[TurnKey], ease: float, continuity: int) -> _Curve:
    values = [_to_world(motion, key, key.turn) for key in keys]
    curve, sure = _make_spline(motion, keys, values, ease, continuity)
    return _Curve(curve, sure, keys[0].axes != "joint")


def _rotate_joints(draft: MotionDraft, curves: dict[int, _Curve]) -> None:
    """Rotate joints in place, parents first: a world rotation is applied relative to the parent's new pose."""
    for joint in sorted(curves):
        curve = curves[joint]
        frames = curve.frames
        turn = quat.exp(curve.values[frames])
        if not curve.world_axes:
            draft.rotations[frames, joint] = quat.mul(draft.rotations[frames, joint], turn)
            continue
        rotated = draft.world(frames).rotations
        parent = draft.skeleton.parents[joint]
        local = turn if joint == 0 else quat.mul(quat.inv_mul(rotated[:, parent], turn), rotated[:, parent])
        draft.rotations[frames, joint] = quat.mul(local, draft.rotations[frames, joint])


def _move_effectors(
    motion: Motion,
    draft: MotionDraft,
    moves: dict[str, list[MoveKey]],
    turned: dict[int, _Curve],
    settings: WarpSettings,
) -> dict[str, float]:
    """Move hips, feet and hands in place; return the largest distance by which each effector misses, in meters."""
    skeleton = motion.skeleton
    turned_world = draft.world()

    def make_curve(role: str, base: World) -> _Curve:
        joint = skeleton.roles[role]
        values = []
        for key in moves[role]:
            frame = min(round(key.at * motion.fps), len(motion) - 1)
            if key.target is not None:
                values.append(np.asarray(key.target, dtype=np.float64) - base.positions[frame, joint])
            else:
                values.append(_to_world(motion, key, key.offset))
        return _Curve(*_make_spline(motion, moves[role], values, settings.ease, settings.continuity))

    pelvis = [curve for joint, curve in turned.items() if joint in skeleton.chain(skeleton.roles.get("hips", 0))]
    if "hips" in moves:
        shift = make_curve("hips", turned_world)
        draft.root[shift.frames] += shift.values[shift.frames]
        pelvis.append(shift)
    residue: dict[str, float] = {}
    for role in (*FEET, *HANDS):
        held = settings.feet is not None and bool(pelvis) and role in FEET and role in skeleton.roles
        if role not in moves and not held:
            continue
        limb = find_limb(skeleton, role)
        is_turned = any(joint in skeleton.chain(limb.ankle)[-3:] for joint in turned)
        base = motion.world() if held and not is_turned else draft.world()
        active = [*(pelvis if held and not is_turned else ()), *([make_curve(role, base)] if role in moves else ())]
        if not active:
            continue
        keep = (settings.orientation or ("world" if role in FEET else "limb")) == "world" or (
            held and role not in moves
        )
        targets = base.positions[:, limb.ankle] + (active[-1].values if role in moves else 0.0)
        orientations = base.rotations[:, limb.ankle] if keep else None
        spans = [(round(key.at * motion.fps), round((key.at + key.hold) * motion.fps)) for key in moves.get(role, ())]
        keyed = np.concatenate([np.zeros(0, dtype=np.int64), *(np.arange(a, b + 1) for a, b in spans)])
        missed = _reach_targets(motion, draft, limb, active, targets, orientations, settings.max_stretch, keyed)
        # A held foot must stay in place throughout; a moved foot must meet its target only at its keys.
        asked = missed if held else missed[keyed[keyed < len(motion)]]
        residue[role] = float(asked.max(initial=0.0))
    return residue


def _reach_targets(
    motion: Motion,
    draft: MotionDraft,
    limb: Limb,
    active: list[_Curve],
    targets: Floats,
    orientations: Floats | None,
    max_stretch: float,
    key_frames: Ints,
) -> Floats:
    """Move the end of a limb to the targets (F, 3) in the frames in which a curve is active, by changing `draft`;
    return the meters missed, (F,)."""
    frames = np.flatnonzero(np.any([curve.values.any(axis=1) for curve in active], axis=0))
    missed = np.zeros(len(motion))
    if not len(frames):
        return missed
    certainty = np.max([curve.certainty for curve in active], axis=0)[frames]
    missed[frames] = draft.reach(
        limb,
        frames,
        targets[frames],
        None if orientations is None else orientations[frames],
        hinge=find_limb_hinge(motion, limb),
        certainty=certainty,
        max_stretch=max_stretch,
        soften=_SOFTEN * motion.fps,
        exact=key_frames,
    )
    return missed


def _to_record(key: TurnKey | MoveKey) -> dict[str, Any]:
    record: dict[str, Any] = {"at": float(key.at), "axes": key.axes, "hold": float(key.hold)}
    if isinstance(key, TurnKey):
        return {"joint": key.joint, "turn": np.asarray(key.turn, dtype=float).tolist(), **record}
    what = "offset" if key.target is None else "target"
    return {"effector": key.effector, what: np.asarray(getattr(key, what), dtype=float).tolist(), **record}
