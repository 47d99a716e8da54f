"""Scripted key presses: convert a short text such as ``"w:3 a:2 w:2 d:3"`` to directions over time.

Directions are for a viewer who looks along +Z: w is forward, s back, a left, d right. Two keys held together give the
direction between them. ``-`` means that no key is held: the character stops if it can, else it goes on in the same
direction.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from marey.control.evaluate import record
from marey.control.planner import get_planner
from marey.core.motion import Motion
from marey.core.protocols import Stream
from marey.errors import InvalidValue
from marey.play import WrappedStream
from marey.pmg import CharacterStream

__all__ = ["KeyPress", "can_stop", "parse_keys", "play_keys", "schedule_keys"]

# Components to the left and ahead.
_DIRECTIONS = {"w": (0, 1), "s": (0, -1), "a": (1, 0), "d": (-1, 0)}
_WAIT = "-"


class KeyPress(NamedTuple):
    """Keys held for some time.

    start, stop : seconds from the beginning.
    direction : radians from +Z, positive to the left; None if no key is held.
    """

    start: float
    stop: float
    direction: float | None


def parse_keys(text: str) -> tuple[KeyPress, ...]:
    """Parse a text of keys and seconds into directions over time.

    Parameters
    ----------
    text : space-separated ``KEYS:SECONDS``, such as ``"w:3 wa:1.5 d:2 -:1"``.

    Examples
    --------
    >>> keys = marey.control.parse_keys("w:3 a:2")
    >>> [(press.stop, round(press.direction, 2)) for press in keys]  # seconds, radians
    [(3.0, 0.0), (5.0, 1.57)]
    """
    words = str(text).lower().split()
    if not words:
        raise InvalidValue('keys must be text such as "w:3 a:2", not an empty text')
    out: list[KeyPress] = []
    now = 0.0
    for word in words:
        keys, colon, seconds = word.partition(":")
        if not keys or not colon:
            raise InvalidValue(f'keys must be KEYS:SECONDS such as "w:3", not {word!r}')
        stop = now + _parse_seconds(seconds, word)
        out.append(KeyPress(now, stop, None if keys == _WAIT else _parse_direction(keys, word)))
        now = stop
    return tuple(out)


def play_keys(stream: Stream, keys: str | Sequence[KeyPress]) -> Motion:
    """Play a stream while keys are held, and return the motion.

    Parameters
    ----------
    stream : a stream that accepts ``request(direction=...)``.
    keys : text as for `parse_keys`, or its result.

    Examples
    --------
    >>> stream = character.stream(marey.control.FollowDirection(0.0))
    >>> len(marey.control.play_keys(stream, "w:1 a:1"))
    60
    """
    presses = parse_keys(keys) if isinstance(keys, str) else tuple(keys)
    if not presses:
        raise InvalidValue("presses must contain at least one key press")
    send = schedule_keys(stream, presses)
    return record(stream, max(1, round(presses[-1].stop * stream.fps)), lambda player, i, before: send(player, i))


def schedule_keys(stream: Stream, presses: Sequence[KeyPress]) -> Callable[[Stream, int], None]:
    """Return a function ``send(stream, frame)`` that requests the new direction if the held keys change at a frame."""
    starts = {round(press.start * stream.fps): press.direction for press in presses}
    stops = can_stop(stream)

    def send(player: Stream, frame: int) -> None:
        if frame not in starts:
            return
        direction = starts[frame]
        held = {} if direction is None else {"direction": direction}
        if held or stops:
            player.request(**held, **({"stop": direction is None} if stops else {}))

    return send


def can_stop(stream: Stream) -> bool:
    """Return whether a stream accepts ``request(stop=...)`` and its character can stand still."""
    inner: Any = stream
    while isinstance(inner, WrappedStream):
        inner = inner.stream
    if not (isinstance(inner, CharacterStream) and getattr(inner.controller, "stops", False)):
        return False
    return bool(get_planner(inner.graph).rests)


def _parse_seconds(text: str, word: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0.0):
        raise InvalidValue(f"the seconds after the colon must be a number greater than 0, not {text!r} as in {word!r}")
    return value


def _parse_direction(keys: str, word: str) -> float:
    unknown = next((key for key in keys if key not in _DIRECTIONS), None)
    if unknown is not None:
        raise InvalidValue(f"unknown key {unknown!r} in {word!r}; keys: {', '.join(_DIRECTIONS)} and {_WAIT}")
    left, ahead = (sum(_DIRECTIONS[key][k] for key in set(keys)) for k in range(2))
    if left == ahead == 0:
        raise InvalidValue(f"keys pressed together must not cancel out, as they do in {word!r}")
    return math.atan2(left, ahead)
