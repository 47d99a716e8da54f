"""Plots of joint angles over time: flexion of knees and elbows, rotation vectors of all other joints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from marey.core.annotations import check_frames
from marey.core.arrays import Floats
from marey.core.limb import find_hinge, hinge_angle
from marey.core.motion import Motion
from marey.core.roles import ROLE_NAMES
from marey.errors import InvalidValue, JointNotFound, similar
from marey.maths import quat
from marey.plot import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_PANELS = 16
# Everyday names of joints, and the roles whose rotation they mean.
EVERYDAY = {"hip": "upper_leg", "knee": "lower_leg", "ankle": "foot", "elbow": "forearm", "wrist": "hand"}
DEFAULT = ("knee", "elbow", "hip")
# The flexion of a limb is the angle between the bone above and the bone below.
_HINGES = {"lower_leg": ("upper_leg", "foot", "knee"), "forearm": ("upper_arm", "hand", "elbow")}
_DASHES = ("-", (0, (5, 1.6)), (0, (1.2, 1.4)))


@style.plot_function
def joints(
    motion: Motion,
    path: style.StrPath | None = None,
    *,
    names: Sequence[str] | None = None,
    start: int = 0,
    stop: int | None = None,
) -> Figure:
    """Plot angles of joints over time, in degrees and continuous.

    Knees and elbows: flexion, 0 if the limb is straight, negative if it bends backward; left and right share a panel.
    Other joints: the components of the rotation vector in the parent's coordinates, one panel per joint.

    Parameters
    ----------
    names : roles (``"left_upper_arm"``), roles without a side for both (``"upper_arm"``), everyday names (hip, knee,
        ankle, elbow, wrist), or names of joints. Default: knees, elbows and hips; if the roles are unknown, the four
        joints that rotate most.
    start, stop : frames, `stop` exclusive; default: the whole motion.

    Examples
    --------
    >>> figure = marey.plot.draw_joints(walk, names=["knee", "elbow"])
    >>> len(figure.axes)
    2
    """
    first, last = check_frames(motion, start, stop)
    panels = _make_panels(motion, names)
    times = np.arange(first, last) / motion.fps
    figure = style.new_figure(0.85 + 1.3 * len(panels), layout="constrained")
    rows = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for axes, panel in zip(rows, panels, strict=True):
        for curve in panel.curves:
            axes.plot(
                times, np.degrees(curve.values[first:last]), color=curve.color, ls=curve.dashes, label=curve.label
            )
        axes.axhline(0.0, color=style.MIDDLE, lw=0.6, zorder=0)
        axes.set_ylabel(panel.label)
        axes.set_title(panel.title, size=10)
        axes.legend(loc="lower right", bbox_to_anchor=(1.0, 0.98), ncols=3, borderaxespad=0.0)
        low, high = axes.get_ylim()
        if high - low < 10.0:  # noise around a constant should not fill a panel
            axes.set_ylim(0.5 * (low + high) - 5.0, 0.5 * (low + high) + 5.0)
    style.time_axes(figure, list(rows), float(times[0]), float(times[-1]))
    figure.suptitle(
        f"Joint angles of {style.format_name(motion)}: {style.length_text(motion)}", x=0.01, ha="left", size=11
    )
    return figure


draw_joints = joints


def rotation_vectors(rotations: Floats) -> Floats:
    """Convert (F, 4) quaternions to rotation vectors (F, 3) in radians, without jumps by a full turn between frames."""
    vectors = quat.log(rotations)
    out = np.empty_like(vectors)
    before = vectors[0]
    for f, vector in enumerate(vectors):
        angle = float(np.linalg.norm(vector))
        # At zero rotation the axis of a full turn is arbitrary; keep the previous axis.
        axis = vector / angle if angle > 1e-6 else before / max(float(np.linalg.norm(before)), 1e-12)
        n_turns = np.rint((before @ axis - angle) / (2 * np.pi))
        before = vector + 2 * np.pi * n_turns * axis
        out[f] = before
    return out


def flexion(motion: Motion, side: str, part: str) -> Floats | None:
    """Compute the flexion (F,) in radians of a knee ("lower_leg") or elbow ("forearm"); None if the limb is unknown."""
    above, below, _ = _HINGES[part]
    roles = motion.skeleton.roles
    limb = [roles.get(f"{side}_{role}") for role in (above, part, below)]
    if None in limb:
        return None
    world = motion.world()
    base, hinge, end = (world.positions[:, joint] for joint in limb)
    frame = world.rotations[:, limb[0]]
    upper, lower = quat.inv_rotate(frame, hinge - base), quat.inv_rotate(frame, end - hinge)
    as_is = quat.identity(len(motion))
    try:
        across = np.cross(upper[0], np.eye(3)[np.argmin(np.abs(upper[0]))])  # for a limb that never bends
        axis = find_hinge(upper, lower, as_is, fallback=across)
        bend: Floats = np.unwrap(np.pi - hinge_angle(upper, lower, as_is, axis))
    except InvalidValue:  # bones without length
        return None
    return bend


# Panels -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Curve:
    label: str
    values: Floats
    color: str
    dashes: object


@dataclass(frozen=True, slots=True, eq=False)
class _Panel:
    title: str
    label: str
    curves: list[_Curve]


def _make_panels(motion: Motion, names: Sequence[str] | None) -> list[_Panel]:
    if isinstance(names, str):
        raise InvalidValue(f"names must be a list of roles or joints, not the text {names!r}")
    if names is not None and not names:
        raise InvalidValue("names must contain at least one role or joint")
    wanted = _default_roles(motion) if names is None else [role for name in names for role in _resolve(motion, name)]
    wanted = list(dict.fromkeys(wanted))
    panels: list[_Panel] = []
    hinges: dict[str, _Panel] = {}
    for name in wanted:
        side, _, part = name.partition("_")
        bend = flexion(motion, side, part) if name in ROLE_NAMES and part in _HINGES else None
        if bend is None:
            panels.append(_vector_panel(motion, name))
            continue
        if part not in hinges:
            word = _HINGES[part][2]
            hinges[part] = _Panel(f"{word.capitalize()} flexion", "angle, °", [])
            panels.append(hinges[part])
        hinges[part].curves.append(_Curve(side, bend, style.SIDES[side], "-"))
    if len(panels) > MAX_PANELS:
        raise InvalidValue(f"a plot shows at most {MAX_PANELS} joints, got {len(panels)}; name fewer")
    return panels


def _vector_panel(motion: Motion, name: str) -> _Panel:
    roles = motion.skeleton.roles
    joint = roles[name] if name in roles else motion.skeleton.index(name)
    vectors = rotation_vectors(motion.rotations[:, joint])
    curves = [_Curve("xyz"[k], vectors[:, k], style.SERIES[k], _DASHES[k]) for k in range(3)]
    words = name.replace("_", " ").capitalize() if name in roles else name
    for everyday, part in EVERYDAY.items():
        if name in (f"left_{part}", f"right_{part}") and part not in _HINGES:
            words = f"{name.split('_')[0].capitalize()} {everyday}"
    return _Panel(f"{words}, rotation vector", "angle, °", curves)


def _resolve(motion: Motion, name: str) -> list[str]:
    """Find the roles or joint names that a name given by the user stands for."""
    roles = motion.skeleton.roles
    part = EVERYDAY.get(name, name)
    if name in motion.skeleton.names:
        return [name]
    if part in ROLE_NAMES:
        roles[part]  # raises an error that explains how to map a missing role
        return [part]
    side, _, rest = part.partition("_")
    if side in ("left", "right") and rest in EVERYDAY:
        return _resolve(motion, f"{side}_{EVERYDAY[rest]}")
    both = [f"{side}_{part}" for side in ("left", "right")]
    if all(role in ROLE_NAMES for role in both):
        found = [role for role in both if role in roles]
        if not found:
            roles[both[0]]  # raises
        return found
    known = (*motion.skeleton.names, *ROLE_NAMES, *EVERYDAY)
    raise JointNotFound(f"no joint or role {name!r} in {motion.name!r}{similar(name, known)}")


def _default_roles(motion: Motion) -> list[str]:
    roles = motion.skeleton.roles
    both = [f"{side}_{EVERYDAY[name]}" for name in DEFAULT for side in ("left", "right")]
    found = [role for role in both if role in roles]
    if found:
        return found
    # Without roles, use the joints that rotate most.
    swept = quat.angle_between(motion.rotations, motion.rotations[:1]).max(axis=0)
    most = sorted(np.argsort(-swept, kind="stable")[:4].tolist())
    return [motion.skeleton.names[joint] for joint in most]
