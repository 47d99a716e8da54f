"""Short, readable names for motions that are made from others: "Blend of walk and run", "walk to jog at 50 %"."""

from __future__ import annotations

from collections.abc import Sequence
from math import degrees

__all__ = ["blend_name", "display_unit", "join_names", "layer_name", "target_name", "transition_name"]

# Maximum letters of a name within a name, and maximum names that are listed.
_MAX_PART = 32
_MAX_LISTED = 3
_BLEND = "Blend of "


def display_unit(unit: str) -> tuple[str, float]:
    """Return the unit in which users see values, and the factor from the internal unit to it.

    Examples
    --------
    >>> display_unit("m/s"), display_unit("rad/s")[0]
    (('m/s', 1.0), 'degrees/s')
    """
    return (unit.replace("rad", "degrees"), degrees(1.0)) if unit.startswith("rad") else (unit, 1.0)


def join_names(names: Sequence[str]) -> str:
    """Join names into one text, without repeating any.

    Examples
    --------
    >>> join_names(["walk", "run"]), join_names(["walk", "run", "jog", "walk", "hop", "sit"])
    ('walk and run', 'walk, run and 3 more')
    """
    listed = [_shorten(name) for name in dict.fromkeys(names)]
    if len(listed) > _MAX_LISTED:
        listed[_MAX_LISTED - 1 :] = [f"{len(listed) - _MAX_LISTED + 1} more"]
    return " and ".join(part for part in (", ".join(listed[:-1]), *listed[-1:]) if part)


def blend_name(names: Sequence[str], weights: Sequence[float] | None = None) -> str:
    """Return the name of a blend; for two motions with different weights it contains the weight of the second.

    weights : constant weights, one per motion; None if they vary. Motions with weight 0 are not named.

    Examples
    --------
    >>> blend_name(["walk", "run"], [0.5, 0.5]), blend_name(["walk", "run"], [0.7, 0.3])
    ('Blend of walk and run', 'Blend of walk and run at 30 %')
    """
    pairs = zip(names, weights or [1.0] * len(names), strict=True)
    used = [(name.removeprefix(_BLEND), weight) for name, weight in pairs if weight != 0.0]
    if weights is not None and len(used) == 1:
        return used[0][0]
    name = _BLEND + join_names([name for name, _ in used])
    if len(used) == 2 and used[0][1] != used[1][1]:
        name += f" at {_format_percent(used[1][1] / (used[0][1] + used[1][1]))}"
    return name


def transition_name(first: str, second: str, fraction: float | None = None) -> str:
    """Return the name of a transition.

    fraction : point of the first motion at which the transition starts, from 0 to 1; None if it was chosen
        automatically.

    Examples
    --------
    >>> transition_name("walk", "jog"), transition_name("walk", "jog", 0.5)
    ('walk to jog', 'walk to jog at 50 %')
    """
    name = f"{_shorten(first)} to {_shorten(second)}"
    return name if fraction is None else f"{name} at {_format_percent(fraction)}"


def layer_name(base: str, part: str, donor: str) -> str:
    """Return the name of a motion with a body part of another: "walk with upper body of carry"."""
    if base == donor:
        return base
    return f"{_shorten(base)} with {part.replace('_', ' ')} of {_shorten(donor)}"


def target_name(example: str, parameters: Sequence[str], units: Sequence[str], target: Sequence[float]) -> str:
    """Return the name of a motion that a parametric motion generates for a target.

    example : name of one of its examples.
    parameters, units : name and unit of each number of the target; angles are shown in degrees.

    Examples
    --------
    >>> target_name("walk", ["speed", "turn"], ["m/s", "rad"], [1.4, 0.5])
    'walk, speed 1.40 m/s, turn 28.65°'
    >>> target_name("kick", ["foot x", "foot y", "foot z"], ["m"] * 3, [0.25, 0.8, 1.0])
    'kick at 0.25, 0.80, 1.00 m'
    """
    if [name[-2:] for name in parameters] == [" x", " y", " z"] and set(units) == {"m"}:
        values = ", ".join(f"{round(value, 2) + 0.0:.2f}" for value in target)
        return f"{_shorten(example)} at {values} m"
    parts = []
    for parameter, unit, value in zip(parameters, units, target, strict=True):
        is_angle = unit.startswith("rad")
        shown = round(degrees(value) if is_angle else value, 2) + 0.0
        unit = unit.replace("rad", "°") if is_angle else f" {unit}"
        parts.append(f"{parameter.replace('_', ' ')} {shown:.2f}{unit}".rstrip())
    return ", ".join([_shorten(example), *parts])


def _shorten(name: str) -> str:
    """Shorten the name of a motion for use in the name of a result; "clip" if it has none."""
    return (name or "clip") if len(name) <= _MAX_PART else f"{name[: _MAX_PART - 1].rstrip()}…"


def _format_percent(fraction: float) -> str:
    return f"{100.0 * fraction:.0f} %"
