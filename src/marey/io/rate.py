"""Convert between frames per second and frame times, which files round."""

from __future__ import annotations

import math
import re
from typing import Any

from marey.errors import InvalidValue, ParseError

# Common rates of cameras and editors; a frame time with few digits is matched to one of these.
COMMON = (10, 12, 15, 20, 24, 25, 30, 48, 50, 60, 72, 75, 90, 100, 120, 125, 144, 150, 180, 200, 240, 250, 300, 480)
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.(?P<decimals>\d*))?|\.(?P<only>\d+))(?:[eE](?P<exponent>[+-]?\d{1,4}))?")


def check_rate(fps: float, name: str = "fps") -> float:
    """Check a frame rate that the user passed as parameter `name`, and return it as a float."""
    try:
        fps = float(fps)
    except (TypeError, ValueError):
        raise InvalidValue(
            f"{name} must be a positive number of frames per second, not {fps!r}", parameter=name
        ) from None
    if not (math.isfinite(fps) and 0 < fps <= 100_000):
        raise InvalidValue(
            f"{name} must be greater than 0 and at most 100000 frames per second, not {fps:g}", parameter=name
        )
    return float(fps)


def rate_from_text(text: str | None, fps: float | None, path: str, line: int | None = None) -> tuple[float, list[str]]:
    """Return the frame rate and sentences on how it was found: from the text after ``Frame Time``, or from the user's
    `fps`."""
    if fps is not None:
        stated = "no frame time" if text is None else f"frame time {text}"
        return check_rate(fps), [f"rate {fps:g} Hz as given (the file has {stated})"]
    fix: dict[str, Any] = {"parameter": "file_fps", "remedy": "give the rate as `file_fps=`"}
    if text is None:
        raise ParseError("expected a frame time, got none", path=path, **fix)
    got = repr(text if len(text) <= 40 else text[:37] + "...")
    if _NUMBER.fullmatch(text) is None:
        wanted = "a decimal point in the frame time" if "," in text else "a frame time in seconds"
        raise ParseError(f"expected {wanted}, got {got}", path=path, line=line, **fix)
    frame_time = float(text)
    if not 1e-5 <= frame_time <= 1e5:
        raise ParseError(f"expected a frame time of 1e-5 to 1e5 s, got {got}", path=path, line=line, **fix)
    rate = snap_rate(text)
    if math.isclose(rate * frame_time, 1.0, rel_tol=1e-12):
        return rate, [f"rate {rate:.6g} Hz from frame time {text}"]
    return rate, [f"rate {rate:.6g} Hz: frame time {text} is 1/{rate:.6g} s, rounded"]


def frame_time_text(fps: float, as_read: str | None) -> str:
    """Return the frame-time text of the file that was read (`as_read`) if it still matches the rate; else a number with
    enough digits."""
    if as_read is not None and _is_rate(as_read, fps):
        return as_read
    texts = (f"{1.0 / fps:.{digits}g}" for digits in (6, 7, 8, 10, 12, 15, 17))
    return next((text for text in texts if _is_rate(text, fps)), repr(1.0 / fps))


def snap_rate(text: str) -> float:
    """Return the rate for a frame time: 120 Hz for ``.0083333``, 30 Hz for ``0.033``, 29.97 Hz for ``0.0333667``.

    A common or whole rate is used only if its period agrees with every digit, rounded or truncated; otherwise, the
    reciprocal is returned.
    """
    frame_time = float(text)
    plain = 1.0 / frame_time
    nearest = float(max(round(plain), 1))
    if abs(plain - nearest) <= 1e-9 * plain:
        return nearest
    digits = _NUMBER.fullmatch(text)
    if digits is None:
        return plain
    decimals = len(digits["decimals"] or digits["only"] or "") - int(digits["exponent"] or 0)
    if decimals < 3:
        return plain
    last_digit = 10.0**-decimals
    if last_digit < 0.5 * (1.0 / nearest - 1.0 / (nearest + 1.0)):
        for rate in (nearest, nearest / 1.001, (nearest + 1) / 1.001):
            if abs(1.0 / rate - frame_time) < last_digit:
                return rate
    fitting = [float(rate) for rate in COMMON if abs(1.0 / rate - frame_time) < last_digit]
    return fitting[0] if len(fitting) == 1 else plain


def _is_rate(text: str, fps: float) -> bool:
    """Return whether `snap_rate` reads a frame time as this rate."""
    if _NUMBER.fullmatch(text) is None or not 1e-5 <= float(text) <= 1e5:
        return False
    return abs(snap_rate(text) / fps - 1.0) < 1e-9
