"""Parse numbers carefully and format them fast."""

from __future__ import annotations

import re
from typing import NoReturn

import numpy as np

from marey.core.arrays import Floats
from marey.errors import InvalidValue

# Far larger than any position or angle; a file with a larger number is broken.
LARGEST = 1e12

_WORD = re.compile(rb"\S+")
_PLAIN = re.compile(rb"[\s\d.eE+-]*")
# These patterns are needed only for unusual words and are compiled on first use.
# A number ends at the end of the word, or where a sign begins the next number.
_NUMBER = rb"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?=[+-]|\Z)"
_NOT_FINITE = rb"(?i)[+-]?(?:nan(?:\(\w*\))?|inf(?:inity)?|1\.#\w*)"
_FAST_FORMAT = 1e9  # with 8 decimals this still fits 64-bit integers


def parse_numbers(text: bytes) -> tuple[list[float], re.Match[bytes] | None]:
    """Parse numbers up to the first word that is not a number; return them and that word (or None).

    Split numbers whose sign directly follows the previous number (``0.0-7.5``). NaN, infinity and numbers beyond
    `LARGEST` do not count as numbers.
    """
    if _PLAIN.fullmatch(text):  # Python would also accept 1_000 as a number
        try:
            numbers = [float(word) for word in text.split()]
        except ValueError:
            pass
        else:
            if not numbers or max(map(abs, numbers)) <= LARGEST:
                return numbers, None
    numbers = []
    for word in _WORD.finditer(text):
        found = _parse_numbers(word[0], LARGEST)
        if found is None:
            return numbers, word
        numbers += found
    return numbers, None


def _parse_numbers(word: bytes, largest: float) -> list[float] | None:
    """Return the numbers in a word; None if it contains anything else or a number is too large."""
    numbers, at, pattern = [], 0, re.compile(_NUMBER)
    while at < len(word):
        match = pattern.match(word, at)
        if match is None or abs(number := float(match[0])) > largest:
            return None
        numbers.append(number)
        at = match.end()
    return numbers


def describe_bad_number(word: bytes) -> str:
    """Return the message for a word that `parse_numbers` rejected: expected, got, and the remedy."""
    return number_fault(word) or f"expected a number, got {quote(word)}"


def number_fault(word: bytes) -> str | None:
    """Return the message for a rejected word that looks like a number; None for other words."""
    got = f"got {quote(word)}"
    if re.fullmatch(_NOT_FINITE, word):
        return f"expected a finite number, {got}"
    if _parse_numbers(word, np.inf) is not None:
        return f"expected a number from -{LARGEST:g} to {LARGEST:g}, {got}"
    if b"," in word and all(re.fullmatch(_NUMBER, part) for part in word.split(b",") if part):
        if b"." in word or word.count(b",") > 1:
            return f"expected spaces between numbers, {got}; replace ',' with ' '"
        return f"expected a decimal point, {got}; replace ',' with '.'"
    return None


def quote(word: bytes) -> str:
    """Format a word of a file for a message, in quotes."""
    text = word[:60].decode("utf-8", "replace")
    return repr(text if len(text) <= 40 else text[:37] + "...")


def format_rows(values: Floats, decimals: int) -> bytes:
    """Format numbers (F, C) as lines of text, rounded to `decimals` places, without trailing zeros.

    Compute the digits of all numbers at once, one decimal place at a time, and mask out digits that are not needed.
    This is several times faster than formatting one by one.
    """
    if values.size == 0:
        return b"\n" * len(values)
    largest = np.abs(values).max()
    if not np.isfinite(largest):
        raise InvalidValue(f"all numbers must be finite to be saved, not {largest}")
    if largest >= _FAST_FORMAT:
        return _format_one_by_one(values, decimals)
    rest = np.rint(values.ravel() * 10.0**decimals).astype(np.int64)
    is_negative = rest < 0
    np.abs(rest, out=rest)
    n_digits = max(len(str(int(rest.max()))), decimals + 1)
    width = n_digits + 3  # sign, point and separator
    text = np.empty((rest.size, width), dtype=np.uint8)
    keep = np.empty((rest.size, width), dtype=bool)

    text[:, -1] = ord(" ")
    text.reshape(*values.shape, width)[:, -1, -1] = ord("\n")
    keep[:, -1] = True
    significant = np.zeros(rest.size, dtype=bool)  # a digit other than 0 was seen to the right of the point
    column = width - 2
    for place in range(n_digits):
        if place == decimals:
            text[:, column] = ord(".")
            keep[:, column] = significant
            column -= 1
        higher = rest // 10
        digit = rest - higher * 10
        text[:, column] = digit + ord("0")
        if place < decimals:
            significant |= digit != 0
            keep[:, column] = significant
        else:
            keep[:, column] = (rest > 0) if place > decimals else True
        rest = higher
        column -= 1
    text[:, 0] = ord("-")
    keep[:, 0] = is_negative
    return text[keep].tobytes()


def _format_one_by_one(values: Floats, decimals: int) -> bytes:
    lines = []
    for row in values.tolist():
        words = [f"{value:.{decimals}f}".rstrip("0").rstrip(".") if decimals else f"{value:.0f}" for value in row]
        lines.append(" ".join("0" if word == "-0" else word for word in words))
    return "\n".join(lines).encode() + b"\n"


def refuse_constant(name: str) -> NoReturn:
    """Raise an error for NaN and infinities, which are not JSON; pass this function to `json.loads`."""
    raise ValueError(f"{name} is not a JSON number")
