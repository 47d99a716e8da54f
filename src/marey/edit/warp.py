"""Keyed displacements on joints and end effectors, carried by displacement splines."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from marey.core.annotations import add_provenance
from marey.core.arrays import Floats, Ints, check_number, freeze_array
from marey.core.kinematics import World
from marey.core.motion import Motion
from marey.core.placement import find_left_axis
from marey.core.skeleton import Skeleton
from marey.edit._limbs import FEET, HANDS, Draft, Limb, hinge_of, limb_of
from marey.edit._splines import hermite, monotone_slopes
from marey.edit.replant import keep_contacts
from marey.errors import InvalidValue, JointNotFound, MareyWarning, UnknownName, similar
from marey.maths import quat

_EFFECTORS = ("hips", *HANDS, *FEET)
# Seconds around a target out of reach in which a limb is damped, so that it does not snap straight.
_SOFTEN = 0.1
# Metres by which a target may be missed before it is told.
_MISSED = 1e-4


@dataclass(frozen=True, slots=True, eq=False)
class TurnKey:
    """At `at` seconds a joint is turned by the rotation vector `turn` (3,) radians, against what it was.

    Parameters
    ----------
    joint : a role or a joint's name.
    axes : ``"joint"``: the joint's own axes; ``"figure"``: x to the figure's left, y up, z forwards; ``"world"``.
    hold : seconds for which it stays so.
    """

    joint: str
    at: float
    turn: Sequence[float] | Floats
    axes: str = "joint"
    hold: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class MoveKey:
    """At `at` seconds a hand, a foot or the hips are `offset` (3,) metres from where they were, or at `target` (3,).

    Parameters
    ----------
    effector : ``left_hand``, ``right_hand``, ``left_foot``, ``right_foot``: wrist and ankle; or ``hips``.
    axes : of the offset: ``"world"``, or ``"figure"``: x to the figure's left, y up, z forwards at that moment.
    hold : seconds for which the displacement stays so, as a foot's that is moved while it stands.
    """

    effector: str
    at: float
    offset: Sequence[float] | Floats | None = None
    target: Sequence[float] | Floats | None = None
    axes: str = "world"
    hold: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class _Curve:
    """Displacements (F, 3) of one joint, how sure each frame is (F,), and whether turns are about world axes."""

    values: Floats
    certainty: Floats
    world_axes: bool = False

    @property
    def frames(self) -> Any:
        """Where there is anything to do."""
        return np.flatnonzero(self.values.any(axis=1))


def warp(
    motion: Motion,
    keys: Iterable[TurnKey | MoveKey],
    *,
    ease: float = 0.5,
    continuity: int = 1,
    orientation: str | None = None,
    hold_feet: bool = True,
    max_stretch: float = 0.0,
) -> Motion:
    """The motion displaced at the keys, smoothly from and back to what it was; elsewhere it is bit for bit the same.

    Each joint or end effector with keys has a displacement spline through them, which starts and ends at zero `ease`
    seconds before its first key and after its last. It never overshoots a key. Turns are applied first, then the hips,
    then hands and feet by limb IK, which meets their keys exactly (at the frame nearest to each) as far as they can be
    reached.

    Parameters
    ----------
    keys : at least one `TurnKey` or `MoveKey`; times within the motion.
    ease : seconds. Where the motion begins or ends sooner, it begins or ends displaced.
    continuity : 1: cubic, velocities are continuous; 2: quintic, accelerations are.
    orientation : of displaced hands and feet: ``"world"`` keeps them as they are turned in the world, ``"limb"``
        against forearm and shin. World for feet and limb for hands by default; a kick wants limb.
    hold_feet : feet stay where they are while the hips are moved or turned.
    max_stretch : share by which limbs may be scaled to reach further; 0 keeps every bone's length.

    A limb whose target is out of reach comes as near as it can without snapping straight, and gives a `MareyWarning`;
    the metres missed at its keys stand in the provenance, ``residue``. Contacts that are lifted or dragged by the warp
    are taken away.
    """
    seconds = check_number(ease, "ease in seconds", above=True)
    if continuity not in (1, 2):
        raise InvalidValue(f"continuity must be 1 (velocities) or 2 (accelerations), got {continuity!r}")
    if orientation not in (None, "world", "limb"):
        raise UnknownName(f"orientation must be 'world' or 'limb', got {orientation!r}")
    listed = list(keys)
    turns, moves = _sorted_keys(motion, listed)
    before = motion.world()
    draft = Draft.of(motion)
    turn_curves = {}
    for joint, found in turns.items():
        turn_curves[joint] = _turn_curve(motion, before, found, seconds, continuity)
    _turn(draft, turn_curves)
    residue = _move(motion, draft, before, moves, turn_curves, seconds, continuity, orientation, hold_feet, max_stretch)
    made = draft.finished(motion)
    made = replace(made, contacts=keep_contacts(motion, made))
    missed = {name: metres for name, metres in residue.items() if metres > _MISSED}
    for name, metres in missed.items():
        warnings.warn(
            f"{name} cannot reach its target and misses it by {metres:.3g} m; move the hips along, or let limbs be "
            "scaled with max_stretch= or --max-stretch",
            MareyWarning,
            stacklevel=2,
        )
    return add_provenance(
        made,
        "warp",
        keys=[_told(key) for key in listed],
        ease=seconds,
        continuity=continuity,
        orientation=orientation,
        hold_feet=bool(hold_feet),
        max_stretch=float(max_stretch),
        residue=residue,
    )


def _sorted_keys(
    motion: Motion, keys: Sequence[TurnKey | MoveKey]
) -> tuple[dict[int, list[TurnKey]], dict[str, list[MoveKey]]]:
    """Keys by joint and by effector, in order of time, and checked."""
    if not keys:
        raise InvalidValue("a warp needs at least one key")
    turns: dict[int, list[TurnKey]] = {}
    moves: dict[str, list[MoveKey]] = {}
    for key in keys:
        if not isinstance(key, TurnKey | MoveKey):
            raise InvalidValue(f"keys of a warp are TurnKey or MoveKey, got {key!r}")
        end = check_number(key.at, "at in seconds") + check_number(key.hold, "hold in seconds")
        if end > motion.duration + 0.5 / motion.fps:
            raise InvalidValue(f"a key at {end:g} s lies beyond the motion's {motion.duration:g} s")
        allowed = ("joint", "figure", "world") if isinstance(key, TurnKey) else ("figure", "world")
        if key.axes not in allowed:
            raise UnknownName(f"axes of a key must be one of {', '.join(allowed)}, got {key.axes!r}")
        if isinstance(key, TurnKey):
            freeze_array(key.turn, "turn", (3,))
            turns.setdefault(_joint(motion.skeleton, key.joint), []).append(key)
            continue
        if key.effector not in _EFFECTORS:
            near = similar(str(key.effector), _EFFECTORS)
            raise UnknownName(f"only {', '.join(_EFFECTORS)} can be moved, got {key.effector!r}{near}")
        if (key.offset is None) == (key.target is None):
            raise InvalidValue(f"a key of {key.effector} needs an offset or a target, and one of them only")
        freeze_array(key.offset if key.target is None else key.target, "offset or target", (3,))
        moves.setdefault(key.effector, []).append(key)
    for listed in moves.values():
        listed.sort(key=lambda key: key.at)
    for found in turns.values():
        found.sort(key=lambda key: key.at)
        if len({key.axes == "joint" for key in found}) > 1:
            raise InvalidValue("keys of one joint must all be in its own axes, or none of them")
    return turns, moves


def _joint(skeleton: Skeleton, name: str) -> int:
    if name in skeleton.names:
        return skeleton.index(name)
    if name in skeleton.roles:
        return skeleton.roles[name]
    raise JointNotFound(f"no joint or role {name!r}{similar(str(name), (*skeleton.names, *skeleton.roles))}")


def _spline(
    motion: Motion, keys: Sequence[TurnKey | MoveKey], values: list[Floats], ease: float, continuity: int
) -> tuple[Floats, Floats]:
    """(F, 3) through the values at the keys' frames, and (F,) 1 between the outermost keys, fading to 0."""
    at: list[float] = []
    through: list[Floats] = []
    for key, value in zip(keys, values, strict=True):
        for frame in sorted({round(key.at * motion.fps), round((key.at + key.hold) * motion.fps)}):
            if at and frame <= at[-1]:
                raise InvalidValue(f"two keys of one joint stand at frame {frame}; keep one of them")
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


def _figure_to_world(motion: Motion, world: World, at: float) -> Floats:
    """(4,) the turn of the figure's axes at a time."""
    frame = min(round(at * motion.fps), len(motion) - 1)
    left = find_left_axis(motion.skeleton, world.positions[frame])
    half = 0.5 * np.arctan2(-left[2], left[0])
    return np.array([np.cos(half), 0.0, np.sin(half), 0.0])


def _in_world(motion: Motion, world: World, key: TurnKey | MoveKey, value: Any) -> Floats:
    vector = np.asarray(value, dtype=np.float64)
    if key.axes == "figure":
        return quat.rotate(_figure_to_world(motion, world, key.at), vector)
    return vector


def _turn_curve(motion: Motion, world: World, keys: list[TurnKey], ease: float, continuity: int) -> _Curve:
    values = [_in_world(motion, world, key, key.turn) for key in keys]
    curve, sure = _spline(motion, keys, values, ease, continuity)
    return _Curve(curve, sure, keys[0].axes != "joint")


def _turn(draft: Draft, curves: dict[int, _Curve]) -> None:
    """Turn joints, in place, parents first, since a turn in the world is seen from the parent's new pose."""
    for joint in sorted(curves):
        curve = curves[joint]
        frames = curve.frames
        turn = quat.exp(curve.values[frames])
        if not curve.world_axes:
            draft.rotations[frames, joint] = quat.mul(draft.rotations[frames, joint], turn)
            continue
        turned = draft.world(frames).rotations
        parent = draft.skeleton.parents[joint]
        local = turn if joint == 0 else quat.mul(quat.inv_mul(turned[:, parent], turn), turned[:, parent])
        draft.rotations[frames, joint] = quat.mul(local, draft.rotations[frames, joint])


def _move(
    motion: Motion,
    draft: Draft,
    before: World,
    moves: dict[str, list[MoveKey]],
    turned: dict[int, _Curve],
    ease: float,
    continuity: int,
    orientation: str | None,
    hold_feet: bool,
    max_stretch: float,
) -> dict[str, float]:
    """Move hips, feet and hands, in place; the largest distance by which each effector misses, in metres."""
    skeleton = motion.skeleton
    after_turns = draft.world()

    def curve_of(role: str, base: World) -> _Curve:
        joint = skeleton.roles[role]
        values = []
        for key in moves[role]:
            frame = min(round(key.at * motion.fps), len(motion) - 1)
            if key.target is not None:
                values.append(np.asarray(key.target, dtype=np.float64) - base.positions[frame, joint])
            else:
                values.append(_in_world(motion, before, key, key.offset))
        return _Curve(*_spline(motion, moves[role], values, ease, continuity))

    pelvis = [curve for joint, curve in turned.items() if joint in skeleton.chain(skeleton.roles.get("hips", 0))]
    if "hips" in moves:
        shift = curve_of("hips", after_turns)
        draft.root[shift.frames] += shift.values[shift.frames]
        pelvis.append(shift)
    residue: dict[str, float] = {}
    for role in (*FEET, *HANDS):
        held = hold_feet and bool(pelvis) and role in FEET and role in skeleton.roles
        if role not in moves and not held:
            continue
        limb = limb_of(skeleton, role)
        own_turns = any(joint in skeleton.chain(limb.ankle)[-3:] for joint in turned)
        base = before if held and not own_turns else draft.world()
        active = [*(pelvis if held and not own_turns else ()), *([curve_of(role, base)] if role in moves else ())]
        if not active:
            continue
        keep = (orientation or ("world" if role in FEET else "limb")) == "world" or (held and role not in moves)
        shift_of = active[-1].values if role in moves else np.zeros((len(motion), 3))
        spans = [(round(key.at * motion.fps), round((key.at + key.hold) * motion.fps)) for key in moves.get(role, ())]
        keyed = np.concatenate([np.zeros(0, dtype=np.int64), *(np.arange(a, b + 1) for a, b in spans)])
        missed = _reach(motion, draft, before, limb, base, active, shift_of, keep, max_stretch, keyed)
        # A foot that is held has to be there all the time, a moved one at its keys.
        asked = missed if held else missed[keyed[keyed < len(motion)]]
        residue[role] = float(asked.max(initial=0.0))
    return residue


def _reach(
    motion: Motion,
    draft: Draft,
    before: World,
    limb: Limb,
    base: World,
    active: list[_Curve],
    shift: Floats,
    keep_orientation: bool,
    max_stretch: float,
    key_frames: Ints,
) -> Floats:
    """Put one limb's end at `base` + `shift` wherever a curve is active; the metres missed, (F,)."""
    frames = np.flatnonzero(np.any([curve.values.any(axis=1) for curve in active], axis=0))
    missed = np.zeros(len(motion))
    if not len(frames):
        return missed
    certainty = np.max([curve.certainty for curve in active], axis=0)[frames]
    missed[frames] = draft.reach(
        limb,
        frames,
        base.positions[frames, limb.ankle] + shift[frames],
        base.rotations[frames, limb.ankle] if keep_orientation else None,
        hinge=hinge_of(motion, before, limb),
        certainty=certainty,
        max_stretch=max_stretch,
        soften=_SOFTEN * motion.fps,
        exact=key_frames,
    )
    return missed


def _told(key: TurnKey | MoveKey) -> dict[str, Any]:
    told: dict[str, Any] = {"at": float(key.at), "axes": key.axes, "hold": float(key.hold)}
    if isinstance(key, TurnKey):
        return {"joint": key.joint, "turn": np.asarray(key.turn, dtype=float).tolist(), **told}
    what = "offset" if key.target is None else "target"
    return {"effector": key.effector, what: np.asarray(getattr(key, what), dtype=float).tolist(), **told}
