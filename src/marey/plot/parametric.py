"""Plots of parametric motion: requested and reached parameters, and the motions for several targets."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike

from marey.core.arrays import Floats
from marey.core.motion import Motion
from marey.core.naming import display_unit
from marey.errors import InvalidValue, MareyWarning, plural
from marey.maths import rigid2d
from marey.parametric import Feature, ParametricMotion, ReachResult
from marey.parametric.features import start_frames
from marey.plot import style
from marey.plot.body import UP, Body, extract_body, forward
from marey.plot.poses import PoseView, distinctive_frames, draw_pose, even_frames, outline

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SAMPLE, _EXAMPLE, _ASKED, _GOT = style.shade(style.RIGHT, 0.30), style.MIDDLE, style.LEFT, "#a3217f"
_AXES = {"x": "to the left", "y": "height", "z": "ahead"}
_MAX_PANELS = 3
_GHOSTS = 9
_MAX_TARGETS = 8


@style.plot_function
def reachable(
    space: ParametricMotion,
    path: style.StrPath | None = None,
    *,
    targets: ArrayLike | None = None,
    refine: bool | int = False,
) -> Figure:
    """Plot the examples and samples in parameter space, and for each target the parameters actually reached.

    Parameters
    ----------
    targets : (T, d) or (d,) requested parameters, d being the number of parameters of the space; default: none.
    refine : passed to ``space(...)``: whether, or for how many steps, the blend weights are refined.
    """
    answers = [space.synthesize(target, refine=refine) for target in _rows(space, targets)]
    region = space.reachable()
    units, factors = zip(*(display_unit(unit) for unit in region.units), strict=True)
    scale = np.array(factors)
    titles = [f"{name}, {unit}" if unit else name for name, unit in zip(_name_parameters(space), units, strict=True)]
    pairs = _choose_pairs(space)
    height = 2.1 + 0.3 * len(answers) if space.n_dims == 1 else 4.1 if len(pairs) > 1 else 5.2
    figure = style.new_figure(height)
    bottom, top = 0.62 / height, 1.0 - (0.86 if _is_place(space) else 0.66) / height
    left = 0.11 if space.n_dims == 1 else 0.07
    room = (0.97 - left) / len(pairs)
    for k, (i, j) in enumerate(pairs):
        axes = figure.add_axes((left + k * room, bottom, room - (0.085 if len(pairs) > 1 else 0.0), top - bottom))
        if j is None:
            _draw_line(axes, region.examples[:, i] * scale[i], region.samples[:, i] * scale[i], answers, i, scale[i])
        else:
            pick = [i, j]
            _draw_plane(axes, region.examples[:, pick], region.samples[:, pick], answers, pick, scale[pick])
            axes.set_ylabel(titles[j])
            if units[i] == units[j] == "m":
                axes.set_aspect("equal", adjustable="datalim")
        if _is_place(space) and (i, j) == (0, 1):
            axes.invert_xaxis()  # left is drawn on the left
        if _is_place(space):
            axes.set_title(("from the side", "from behind", "from above")[k], size=9.5, color=style.NOTE)
        axes.set_xlabel(titles[i])
        axes.grid(True)
    _key(figure, space, answers)
    n_pairs = space.n_dims * (space.n_dims - 1) // 2
    if n_pairs > len(pairs):
        text = f"{len(pairs)} of the {n_pairs} pairs of parameters are drawn, all with {_name_parameters(space)[0]}"
        figure.text(0.97, 1.0 - 0.12 / height, text, size=style.NOTE_SIZE, color=style.NOTE, va="top", ha="right")
    return figure


draw_reachable = reachable


def _rows(space: ParametricMotion, targets: ArrayLike | None) -> Floats:
    """Return the targets as (T, d)."""
    if targets is None:
        return np.empty((0, space.n_dims))
    given = np.atleast_2d(np.asarray(targets, dtype=float))
    if given.ndim != 2 or given.shape[1] != space.n_dims:
        raise InvalidValue(
            f"targets must have {plural(space.n_dims, 'number')} each ({', '.join(space.names)}), not shape "
            f"{given.shape}"
        )
    return given


def _choose_pairs(space: ParametricMotion) -> Sequence[tuple[int, int | None]]:
    """Choose which parameters to plot against which; positions are seen from the side, from behind and from above."""
    if space.n_dims == 1:
        return [(0, None)]
    if _is_place(space):
        return [(2, 1), (0, 1), (2, 0)]
    return [*combinations(range(space.n_dims), 2)][:_MAX_PANELS]


def _is_place(space: ParametricMotion) -> bool:
    """Return whether the parameters are the position of one joint."""
    return len(space.features) == 1 and _is_position(space.features[0])


def _name_parameters(space: ParametricMotion) -> list[str]:
    """Format the parameter names for display."""
    if _is_place(space):
        return [_AXES[axis] for axis in "xyz"]
    out = []
    for feature in space.features:
        if feature.kind == "position":
            out += [f"{joint_text(feature.joint)} {_AXES[axis]}" for axis in feature.which]
        else:
            out += [name.replace("_", " ") for name in feature.names]
    return out


def _draw_plane(
    axes: Axes, examples: Floats, samples: Floats, answers: Sequence[ReachResult], pick: list[int], scale: Floats
) -> None:
    axes.scatter(samples[:, 0] * scale[0], samples[:, 1] * scale[1], s=7, color=_SAMPLE, linewidths=0, zorder=1)
    examples = examples * scale
    axes.scatter(examples[:, 0], examples[:, 1], s=26, color=_EXAMPLE, edgecolors="white", linewidths=0.7, zorder=3)
    for answer in answers:
        asked, got = answer.target[pick] * scale, answer.reached[pick] * scale
        axes.plot([asked[0], got[0]], [asked[1], got[1]], color=_GOT, lw=1.0, zorder=4)
        axes.plot(*asked, "x", color=_ASKED, ms=9, mew=2.2, zorder=5)
        axes.plot(*got, "o", mfc="none", mec=_GOT, ms=8, mew=1.6, zorder=6)


def _draw_line(
    axes: Axes, examples: Floats, samples: Floats, answers: Sequence[ReachResult], i: int, scale: float
) -> None:
    lanes = [(samples, "|", _SAMPLE, 14.0), (examples, "o", _EXAMPLE, 6.5)]
    for lane, (values, mark, color, size) in enumerate(lanes):
        axes.plot(values, np.full(len(values), float(lane)), mark, color=color, ms=size, mec=color, ls="none", zorder=2)
    names = ["samples", "examples"]
    for k, answer in enumerate(answers):
        height = 2.0 + k
        asked, got = float(answer.target[i]) * scale, float(answer.reached[i]) * scale
        axes.plot([asked, got], [height] * 2, color=_GOT, lw=1.0, zorder=4)
        axes.plot(asked, height, "x", color=_ASKED, ms=9, mew=2.2, zorder=5)
        axes.plot(got, height, "o", mfc="none", mec=_GOT, ms=8, mew=1.6, zorder=6)
        names.append(f"request {k + 1}" if len(answers) > 1 else "request")
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(-0.6, len(names) - 0.4)


def _key(figure: Figure, space: ParametricMotion, answers: Sequence[ReachResult]) -> None:
    height = figure.get_figheight()
    n = space.registration.n_motions
    joint = joint_text(space.features[0].joint)
    title = f"Positions of the {joint} in {n} examples" if _is_place(space) else f"Parameters of {n} examples"
    figure.text(0.07, 1.0 - 0.1 / height, title, size=11, va="top")
    keys = [("●", "example", _EXAMPLE), ("●", f"{len(space.samples)} samples", _SAMPLE)]
    if answers:
        keys += [("✕", "asked for", _ASKED), ("○", "reached", _GOT)]
    x = 0.07
    for mark, text, color in keys:
        figure.text(x, 1.0 - 0.36 / height, mark, size=9, color=color, va="top", weight="bold")
        figure.text(x + 0.018, 1.0 - 0.36 / height, text, size=style.NOTE_SIZE, color=style.NOTE, va="top")
        x += 0.045 + 0.0093 * len(text)
    if answers:
        text = _format_error(space, answers)
        figure.text(0.97, 1.0 - 0.36 / height, text, size=style.NOTE_SIZE, color=style.NOTE, va="top", ha="right")


def _format_error(space: ParametricMotion, answers: Sequence[ReachResult]) -> str:
    """Format the mean error, by unit, of the targets within reach."""
    fair = [answer for answer in answers if not answer.projected]
    out = len(answers) - len(fair)
    parts = []
    for unit in dict.fromkeys(space.units) if fair else ():
        mean = float(np.mean([answer.distances()[unit] for answer in fair]))
        parts.append(size_text(mean, unit))
    said = [f"{' and '.join(parts)} off on average"] if parts else []
    return "; ".join([*said, *([f"{out} out of reach"] if out else [])])


def joint_text(name: str) -> str:
    """Format a joint or role for display."""
    side, _, part = name.partition("_")
    return f"ball of the {side} foot" if part == "ball" and side in ("left", "right") else name.replace("_", " ")


def size_text(value: float, unit: str) -> str:
    """Format a length, an angle or any other value for display."""
    if unit == "m" and value < 5e-5:
        return "less than 0.1 mm"
    if unit == "m":
        return f"{1000.0 * value:.2g} mm" if value < 0.00995 else f"{100.0 * value:.2g} cm"
    shown, factor = display_unit(unit)
    return f"{factor * value:.2g} {shown}".rstrip()


# Motions to a row of targets ----------------------------------------------------------------------------------------


@style.plot_function
def target_motions(
    space: ParametricMotion,
    targets: ArrayLike,
    path: style.StrPath | None = None,
    *,
    refine: bool | int = False,
    feet: Literal["clean"] | None = "clean",
    motions: Sequence[Motion] | None = None,
) -> Figure:
    """Plot the motion generated for each target: ghosted poses, with the pose that hits the target drawn solid.

    A cross marks each requested position; if it is out of reach, a ring marks the closest position reached.

    Parameters
    ----------
    targets : (T, d), at most 8 of them.
    refine, feet : as for a call of the space.
    motions : the motions, if the space made them already.
    """
    rows = _rows(space, targets)
    if not 1 <= len(rows) <= _MAX_TARGETS:
        raise InvalidValue(f"targets must be 1 to {_MAX_TARGETS}, not {len(rows)}")
    if motions is None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MareyWarning)
            motions = [space(target, refine=refine, feet=feet) for target in rows]
    elif len(motions) != len(rows):
        raise InvalidValue(f"motions must have one motion for each of the {len(rows)} targets, not {len(motions)}")
    feature = next((each for each in space.features if each.is_pose), None)
    shown = [_TargetPanel(motion, feature) for motion in motions]
    goals = [_place(space, feature, target, one) for target, one in zip(rows, shown, strict=True)]
    is_out = [space.project(target)[1] for target in rows]
    ends = [one.hit(feature) if out else None for one, out in zip(shown, is_out, strict=True)]
    for one, goal in zip(shown, goals, strict=True):
        one.make_room(goal)
    wide = max(one.right - one.left for one in shown)
    low = min(min(one.low for one in shown), -0.02)
    high = max(one.high for one in shown)
    margin, foot, head, gap = 0.12, 0.66 if any(is_out) else 0.5, 0.5, 0.10
    columns = len(rows)
    scale = min((style.WIDTH - 2 * margin - gap * (columns - 1)) / (wide * columns), 3.4 / (high - low))
    total = head + scale * (high - low) + foot
    figure = style.new_figure(total)
    cell = (style.WIDTH - 2 * margin + gap) / columns
    for k, (one, goal) in enumerate(zip(shown, goals, strict=True)):
        box = (margin + k * cell) / style.WIDTH, foot / total, (cell - gap) / style.WIDTH, scale * (high - low) / total
        axes = figure.add_axes(box)
        middle, half = 0.5 * (one.left + one.right), 0.5 * (cell - gap) / scale
        axes.set(xlim=(middle - half, middle + half), ylim=(low, high))
        axes.set_axis_off()
        axes.axhline(0.0, color=style.FLOOR, lw=0.9, zorder=0.5)
        one.draw(axes)
        if goal is not None:
            axes.plot(*one.view.flat(goal), "x", color=_GOT, ms=9, mew=2.2, zorder=9)
        end = ends[k]
        if goal is not None and end is not None:
            x, y = zip(one.view.flat(goal), one.view.flat(end), strict=True)
            axes.plot(x, y, color=_GOT, lw=1.0, ls=(0, (3, 2)), zorder=8)
            axes.plot(x[1], y[1], "o", mfc="none", mec=_GOT, ms=9, mew=1.6, zorder=9)
        text = _format_target(space, rows[k])
        if is_out[k]:
            off = (
                ""
                if goal is None or end is None
                else f", missed by {size_text(float(np.linalg.norm(end - goal)), 'm')}"
            )
            text += f"\nout of reach{off}"
        figure.text(
            box[0] + 0.5 * box[2],
            (foot - 0.14) / total,
            text,
            size=style.NOTE_SIZE,
            color=style.NOTE,
            ha="center",
            va="top",
        )
    places = f"{columns} place{'s' if columns > 1 else ''}"
    asked = (
        f"The {joint_text(space.features[0].joint)} to {places}"
        if _is_place(space)
        else ", ".join(_name_parameters(space))
    )
    if all(is_out):
        asked += ", out of reach"
    figure.text(margin / style.WIDTH, 1.0 - 0.1 / total, asked, size=11, va="top")
    if any(goal is not None for goal in goals):
        key = "✕ asked for" if all(end is None for end in ends) else "✕ requested   ○ reached"
        figure.text(1.0 - margin / style.WIDTH, 1.0 - 0.1 / total, key, size=9, color=_GOT, ha="right", va="top")
    return figure


draw_target_motions = target_motions


class _TargetPanel:
    """One motion, seen from the side, with the frame that meets its target.

    The view is perpendicular to the direction that the character faces in the first frame.
    """

    def __init__(self, motion: Motion, feature: Feature | None) -> None:
        self.motion = motion
        self.body: Body = extract_body(motion)
        facing = float(self.body.heading[0])
        self.view = PoseView.side(forward(facing if np.isfinite(facing) else 0.0))
        self.apex = (
            feature.find_frame(motion)
            if feature is not None and isinstance(feature.moment, str)
            else distinctive_frames(self.body, 0, len(motion), 1)[0]
        )
        self.ghosts = [frame for frame in even_frames(0, len(motion), _GHOSTS) if frame != self.apex]
        points = np.concatenate([outline(self.body, frame, self.view) for frame in (*self.ghosts, self.apex)])
        (self.left, self.low), (self.right, self.high) = points.min(axis=0) - 0.05, points.max(axis=0) + 0.05

    def make_room(self, place: Floats | None) -> None:
        """Extend the view to show a position (3,), unless it is farther away than the character is tall."""
        if place is None:
            return
        x, y = self.view.flat(place)
        room = self.high - self.low
        self.left, self.right = (
            max(min(self.left, x - 0.1), self.left - room),
            min(max(self.right, x + 0.1), self.right + room),
        )
        self.low, self.high = (
            max(min(self.low, y - 0.1), self.low - room),
            min(max(self.high, y + 0.1), self.high + room),
        )

    def hit(self, feature: Feature | None) -> Floats | None:
        """Return the position (3,) that the requested joint reaches, in the axes of the drawing."""
        if feature is None or not _is_position(feature) or not isinstance(feature.moment, str):
            return None
        return self.spot(np.asarray(feature(self.motion)))

    def spot(self, place: Floats) -> Floats:
        """Convert a position relative to the character (left, above the floor, ahead) to the drawing's axes, (3,)."""
        world = self.motion.world()
        start = type(world)(world.positions[:1], world.rotations[:1])
        there = np.asarray(rigid2d.apply(start_frames(self.motion.skeleton, start)[0], place))
        # Heights are measured from the floor, as in the drawing.
        out: Floats = there * (1.0 - UP) + UP * place[1]
        return out

    def draw(self, axes: Axes) -> None:
        """Draw ghosts, and over them the pose at the apex."""
        for k, frame in enumerate(self.ghosts):
            draw_pose(axes, self.body, frame, self.view, strength=0.16 + 0.1 * k / _GHOSTS, width=0.9, layer=1.0)
        draw_pose(axes, self.body, self.apex, self.view, width=2.0, layer=3.0)


def _is_position(feature: Feature) -> bool:
    """Return whether the feature is a complete position, with all three coordinates."""
    return feature.kind == "position" and feature.which == "xyz"


def _place(space: ParametricMotion, feature: Feature | None, target: Floats, one: _TargetPanel) -> Floats | None:
    """Return the requested position (3,) in the axes of the drawing; None for other parameters."""
    if feature is None or not _is_position(feature):
        return None
    before = 0
    for each in space.features:
        if each is feature:
            break
        before += each.n_dims
    return one.spot(target[before : before + 3])


def _format_target(space: ParametricMotion, target: Floats) -> str:
    parts = []
    for value, unit in zip(target.tolist(), space.units, strict=True):
        turned = unit.startswith("rad")
        parts.append(f"{np.degrees(value):.0f}°{unit[3:]}" if turned else f"{value:.2f} {unit}".rstrip())
    if _is_place(space):
        left, up, ahead = target
        return f"{up:.2f} m high,\n{abs(left):.2f} m {'left' if left >= 0 else 'right'}, {ahead:.2f} m ahead"
    return ", ".join(parts)
