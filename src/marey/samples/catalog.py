"""The catalog of samples by name, each with its parameters and its generator."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from marey.errors import InvalidValue, UnknownName, similar
from marey.samples import actions, cartwheel, jumps, medley, moves, steps, strikes
from marey.samples.body import Plan

Maker = Callable[[dict[str, Any], np.random.Generator], Plan]
_SIDES = ("left", "right")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a sample: a number from `low` to `high`, or one of `choices`.

    what : description for users. integer : whether the number must be whole.
    """

    name: str
    default: float | str
    low: float = 0.0
    high: float = 0.0
    unit: str = ""
    what: str = ""
    choices: tuple[str, ...] = ()
    integer: bool = False

    def check(self, sample: str, value: Any) -> float | str:
        """Return the value; raise `InvalidValue` if it is out of range. `sample` names the sample in the message."""
        where = f"sample {sample!r}: {self.name}"
        if self.choices:
            if value not in self.choices:
                near = similar(str(value), self.choices)
                raise UnknownName(f"{where} must be one of {', '.join(self.choices)}, not {value!r}{near}")
            return str(value)
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise InvalidValue(f"{where} must be a number, not {value!r}") from None
        unit = f" {self.unit}" if self.unit else ""
        if not (math.isfinite(number) and self.low <= number <= self.high):
            raise InvalidValue(f"{where} must be from {self.low:.4g} to {self.high:.4g}{unit}, not {number:g}")
        if self.integer and number != int(number):
            raise InvalidValue(f"{where} must be a whole number, not {number:g}")
        return number

    def in_degrees(self) -> Parameter:
        """Return the parameter in degrees if it is an angle or turn rate, for display."""
        if not self.unit.startswith("rad") or isinstance(self.default, str):
            return self
        default, low, high = (math.degrees(value) for value in (self.default, self.low, self.high))
        return replace(self, unit=self.unit.replace("rad", "degrees"), default=default, low=low, high=high)

    def from_degrees(self, sample: str, value: Any) -> float | str:
        """Check a value entered by a user, with angles in degrees, and return it with angles in radians."""
        given = self.in_degrees().check(sample, value)
        if self.unit.startswith("rad") and not isinstance(given, str):
            return min(max(math.radians(given), self.low), self.high)
        return given


@dataclass(frozen=True, slots=True)
class Entry:
    """A sample of the catalog: its description `what`, and the generator `make`."""

    what: str
    make: Maker
    parameters: tuple[Parameter, ...]

    def values(self, sample: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """Check the given parameters, and return all values, with defaults for the others."""
        known = {parameter.name: parameter for parameter in self.parameters}
        for name in given:
            if name not in known:
                raise UnknownName(
                    f"sample {sample!r} has no parameter {name!r}; it has {', '.join(known)}{similar(str(name), known)}"
                )
        return {name: one.check(sample, given.get(name, one.default)) for name, one in known.items()}


def _make_duration(default: float, low: float = 1.0, high: float = 3600.0, what: str = "duration") -> Parameter:
    return Parameter("seconds", default, low, high, "s", what)


_VARIATION = Parameter("variation", 1.0, 0.0, 2.0, "", "random variation; 0 for regular motion")
_TURN = Parameter("turn_rate", 0.0, -math.radians(70), math.radians(70), "rad/s", "positive to the left")
_WALK_SPEED = Parameter("speed", 1.3, 0.6, 2.0, "m/s", "walking speed")
_SIDE = Parameter("side", "right", choices=_SIDES, what="which hand or foot")
_ROWS = Parameter("rows", 3, 1, 8, "", "targets from top to bottom", integer=True)
_COLUMNS = Parameter("columns", 3, 1, 8, "", "targets from one side to the other", integer=True)


def _make_entry(what: str, make: Maker, *parameters: Parameter) -> Entry:
    return Entry(what, make, (*parameters, _VARIATION))


CATALOG: dict[str, Entry] = {
    "stand": _make_entry("standing, with weight shifts from leg to leg", actions.stand, _make_duration(6.0)),
    "walk": _make_entry("a walk, straight or on a curve", moves.walk, _WALK_SPEED, _TURN, _make_duration(6.0, 0.1)),
    "start_and_stop": _make_entry(
        "stand, walk off, come to a halt",
        moves.start_and_stop,
        _WALK_SPEED,
        _TURN,
        _make_duration(5.0, 4.0, 600.0, "from the first step to the last"),
    ),
    "run": _make_entry(
        "a run with flight phases, straight or on a curve",
        moves.run,
        Parameter("speed", 3.0, 2.2, 5.0, "m/s", "running speed"),
        _TURN,
        _make_duration(4.0, 0.1),
    ),
    "walk_to_run": _make_entry(
        "a walk that becomes a run",
        moves.walk_to_run,
        Parameter("speed", 1.5, 1.0, 2.0, "m/s", "walking speed"),
        Parameter("run_speed", 3.2, 2.4, 5.0, "m/s", "running speed"),
        _TURN,
        _make_duration(6.0, 4.0, 60.0),
    ),
    "turn_around": _make_entry(
        "a walk with a turn of 180 degrees, or another angle, within a few steps",
        moves.turn_around,
        Parameter("speed", 1.2, 0.6, 1.6, "m/s", "walking speed before and after"),
        Parameter("angle", math.pi, -math.radians(200), math.radians(200), "rad", "positive to the left"),
    ),
    "turn_in_place": _make_entry(
        "turning in place in small steps",
        moves.turn_in_place,
        Parameter("angle", math.pi / 2, -2 * math.pi, 2 * math.pi, "rad", "positive to the left"),
    ),
    "sneak": _make_entry(
        "crouched, careful steps, with pauses",
        moves.sneak,
        Parameter("speed", 0.5, 0.3, 0.8, "m/s", "speed between the pauses"),
        Parameter("crouch", 0.15, 0.05, 0.25, "m", "how much lower than standing"),
        Parameter("pauses", 2, 0, 20, "", "number of pauses", integer=True),
        _TURN,
        _make_duration(8.0, 2.0, 600.0),
    ),
    "carry_box": _make_entry(
        "walking with a box in both hands; the gait of `walk` with the same seed",
        moves.carry("box"),
        _WALK_SPEED,
        _TURN,
        _make_duration(6.0),
        Parameter("width", 0.36, 0.24, 0.5, "m", "width from wrist to wrist"),
    ),
    "carry_cup": _make_entry(
        "walking with a cup in the right hand; the gait of `walk` with the same seed",
        moves.carry("cup"),
        _WALK_SPEED,
        _TURN,
        _make_duration(6.0),
    ),
    "stairs": _make_entry(
        "up or down a stair, one foot on each tread",
        moves.stairs,
        Parameter("way", "up", choices=("up", "down")),
        Parameter("steps", 5, 1, 30, "", "number of treads", integer=True),
        Parameter("rise", 0.17, 0.08, 0.20, "m", "height of a tread"),
        Parameter("speed", 0.5, 0.35, 0.7, "m/s", "speed over the ground"),
    ),
    "step_up_and_down": _make_entry(
        "onto a box, stand, and down on its far side",
        steps.step_up_and_down,
        Parameter("height", 0.22, 0.08, 0.35, "m", "height of the box"),
        Parameter("lead", "left", choices=_SIDES, what="foot that goes first"),
    ),
    "sit": _make_entry(
        "sitting down and standing up",
        actions.sit,
        Parameter("seat", 0.42, 0.35, 0.55, "m", "height of the seat"),
        _make_duration(1.5, 0.3, 600.0, "how long it sits"),
    ),
    "duck": _make_entry(
        "ducking until the top of the head is at a height",
        actions.duck,
        Parameter("height", 1.2, 0.85, 1.65, "m", "height of the top of the head; 1.74 when standing"),
        Parameter("stance", "upright", choices=("upright", "guard"), what="stance before and after"),
    ),
    "throw": _make_entry(
        "an overarm throw from standing",
        actions.throw,
        _SIDE,
        Parameter("effort", 1.0, 0.4, 1.3, "", "how much the trunk turns, and how fast the arm is"),
    ),
    "fall": _make_entry(
        "the knees give way; a fall onto the back",
        actions.fall,
        _make_duration(1.0, 0.3, 600.0, "how long it lies"),
    ),
    "look_around": _make_entry(
        "looking left, right, up and down",
        actions.look_around,
        Parameter("yaw", math.radians(60), math.radians(10), math.radians(75), "rad", "maximum angle to the sides"),
        Parameter("pitch", math.radians(30), math.radians(5), math.radians(40), "rad", "maximum angle up and down"),
    ),
    "reach": _make_entry(
        "one hand to a target and back; the body stands at the origin and faces +Z",
        strikes.reach,
        _SIDE,
        Parameter("x", -0.2, -0.6, 0.6, "m", "target, to the left"),
        Parameter("y", 1.3, 0.25, 1.85, "m", "target, height"),
        Parameter("z", 0.45, 0.2, 0.7, "m", "target, ahead"),
    ),
    "reach_grid": _make_entry("one hand to every target of a grid", strikes.reach_grid, _SIDE, _ROWS, _COLUMNS),
    "punch": _make_entry(
        "one straight punch from a guard",
        strikes.punch,
        _SIDE,
        Parameter("x", 0.0, -0.3, 0.3, "m", "target, to the left"),
        Parameter("y", 1.4, 1.0, 1.7, "m", "target, height"),
        Parameter("z", 0.68, 0.5, 0.8, "m", "target, ahead"),
    ),
    "punch_grid": _make_entry("left and right punches to every target of a grid", strikes.punch_grid, _ROWS, _COLUMNS),
    "kick": _make_entry(
        "a front kick to a height",
        strikes.kick,
        _SIDE,
        Parameter("height", 0.9, 0.35, 1.3, "m", "height of the ball of the foot at its farthest"),
        Parameter("sideways", 0.0, -0.25, 0.25, "m", "to the left"),
        Parameter("stretch", 0.95, 0.78, 0.95, "", "leg extension there, as a fraction of its length"),
    ),
    "kick_grid": _make_entry(
        "right front kicks to a range of heights and directions", strikes.kick_grid, _ROWS, _COLUMNS
    ),
    "box_dance": _make_entry(
        "a boxer's dance: light steps in guard to all sides", steps.box_dance, _make_duration(8.0, 2.0, 600.0)
    ),
    "box_turn": _make_entry(
        "a boxer's turn: from a guard, by two light steps, to a guard with another heading and place",
        steps.box_turn,
        Parameter("angle", math.radians(30), -math.radians(75), math.radians(75), "rad", "positive to the left"),
        Parameter("ahead", 0.0, -0.25, 0.35, "m", "distance in the direction of the new heading"),
    ),
    "hop": _make_entry(
        "hops on both legs or on one",
        jumps.hop,
        Parameter("leg", "both", choices=("both", "left", "right")),
        Parameter("height", 0.10, 0.03, 0.25, "m", "rise of the body in the air"),
        Parameter("distance", 0.0, 0.0, 0.4, "m", "forward distance of each hop"),
        Parameter("count", 4, 1, 100, "", "number of hops", integer=True),
    ),
    "leap": _make_entry(
        "a leap forward from standing",
        jumps.leap,
        Parameter("distance", 1.0, 0.4, 1.6, "m", "from foot to foot"),
        Parameter("height", 0.22, 0.1, 0.35, "m", "rise of the body in the air"),
    ),
    "cartwheel": _make_entry(
        "a cartwheel to the left side, then a turn on one foot to another direction",
        cartwheel.cartwheel,
        Parameter(
            "angle", -math.radians(60), -math.radians(160), math.radians(15), "rad", "change of direction, to the left"
        ),
    ),
    "medley": _make_entry(
        "a long clip: kicks, punches and reaches to many targets, walks and standing in between",
        medley.medley,
        Parameter("kicks", 2, 0, 100, "", "number of kicks", integer=True),
        Parameter("punches", 2, 0, 100, "", "number of punches", integer=True),
        Parameter("reaches", 2, 0, 100, "", "number of reaches", integer=True),
        _SIDE,
        Parameter("spread", 1.0, 0.0, 1.0, "", "spread of the targets; 0 repeats the same target"),
    ),
}


def sample_names() -> tuple[str, ...]:
    """Return the names of all samples.

    Examples
    --------
    >>> marey.samples.sample_names()[:4]
    ('stand', 'walk', 'start_and_stop', 'run')
    """
    return tuple(CATALOG)


def entry(name: str) -> Entry:
    """Return the catalog entry of the sample `name`; raise `UnknownName` with a suggestion if there is none."""
    try:
        return CATALOG[name]
    except (KeyError, TypeError):
        near = similar(str(name), CATALOG)
        rest = near or f"; the samples are {', '.join(CATALOG)}"
        raise UnknownName(f"no sample {name!r}{rest}") from None
