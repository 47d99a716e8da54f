"""Keys held by a script: a small text such as ``"w:3 a:2 w:2 d:3"`` becomes directions over time.

A key is a direction as seen by whoever looks along +Z: w goes ahead, s back, a to the left, d to the right; two of them
held together go between, and ``-`` leaves things as they are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from marey.control.trials import record
from marey.core.motion import Motion
from marey.core.protocols import Stream
from marey.errors import InvalidValue

__all__ = ["Press", "parse_keys", "play_keys"]

# To the left and ahead.
_WAYS = {"w": (0, 1), "s": (0, -1), "a": (1, 0), "d": (-1, 0)}
_WAIT = "-"


class Press(NamedTuple):
    """Keys held for a while.

    start, stop : seconds. direction : radians from +Z, positive to the left; None to leave it as it is.
    """

    start: float
    stop: float
    direction: float | None


def parse_keys(text: str) -> tuple[Press, ...]:
    """Directions over time from a text of keys and seconds.

    Parameters
    ----------
    text : ``KEYS:SECONDS`` again and again, such as ``"w:3 wa:1.5 d:2 -:1"``.

    Examples
    --------
    >>> [(press.stop, round(press.direction, 2)) for press in parse_keys("w:3 a:2")]
    [(3.0, 0.0), (5.0, 1.57)]
    """
    words = str(text).lower().split()
    if not words:
        raise InvalidValue('expected keys such as "w:3 a:2", got none')
    out: list[Press] = []
    now = 0.0
    for word in words:
        keys, colon, seconds = word.partition(":")
        if not keys or not colon:
            raise InvalidValue(f'expected KEYS:SECONDS such as "w:3", got {word!r}')
        stop = now + _seconds(seconds, word)
        out.append(Press(now, stop, None if keys == _WAIT else _direction(keys, word)))
        now = stop
    return tuple(out)


def play_keys(stream: Stream, keys: str | Sequence[Press]) -> Motion:
    """What a stream does while keys are held, as one motion.

    Parameters
    ----------
    stream : that takes ``request(direction=...)``. keys : as for `parse_keys`, or what it gives.
    """
    presses = parse_keys(keys) if isinstance(keys, str) else tuple(keys)
    if not presses:
        raise InvalidValue("expected at least one key to be held, got none")
    starts = {round(press.start * stream.fps): press.direction for press in presses}

    def steer(player: Stream, i: int, before: Motion | None) -> None:
        direction = starts.get(i)
        if direction is not None:
            player.request(direction=direction)

    return record(stream, max(1, round(presses[-1].stop * stream.fps)), steer)


def _seconds(text: str, word: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0.0):
        raise InvalidValue(f"expected seconds above 0 after the colon, got {word!r}")
    return value


def _direction(keys: str, word: str) -> float:
    unknown = next((key for key in keys if key not in _WAYS), None)
    if unknown is not None:
        raise InvalidValue(f"there are keys {', '.join(_WAYS)} and {_WAIT}, not {unknown!r} in {word!r}")
    left, ahead = (sum(_WAYS[key][k] for key in set(keys)) for k in range(2))
    if left == ahead == 0:
        raise InvalidValue(f"keys held together must lead somewhere, got {word!r}, which cancel out")
    return math.atan2(left, ahead)
