"""Rows of plain decimal numbers read by NumPy alone, thousands of numbers at a time.

Eight characters make one 64-bit word, so that an operation on words does the same to eight characters. This takes half
the time of `numpy.loadtxt`. Only numbers such as ``-12.3456`` are read, and only where their digits, and the power of
ten to divide them by, are whole numbers that float64 holds: one division then gives just what `float` would.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from marey.core._arrays import Bools, Floats, Ints

Words = NDArray[np.uint64]

_BLOCK = 1 << 16  # bytes at a time: what is made of them stays in the processor's cache
_ODD = 72  # keeps arrays from lying at like addresses, which slows processors down
_WORD = 8  # characters
_EXACT = 1 << 53  # float64 holds all whole numbers up to this one

_ZEROS = np.uint64(0x3030303030303030)  # the text "00000000"
# What follows is about characters less "0" (by exclusive or), which makes digits of them.
_MARKS = np.uint64(0x1010101010101010)  # a bit that the point has and no digit has
_PLACES = np.uint64(0x0807060504030201)  # times the mark of byte k, has 8 - k in its top four bits
_OVER_NINE = np.uint64(0x7676767676767676)  # added to a byte, takes all above 9 to 128 or more
_HIGH_BITS = 0x8080808080808080
_PAIRS = np.uint64(0x000000FF000000FF)
_LEFT_WEIGHTS = np.uint64(100 + (1_000_000 << 32))
_RIGHT_WEIGHTS = np.uint64(1 + (10_000 << 32))
_ONE, _FOUR, _EIGHT, _TEN, _SIXTEEN, _HALF, _TOP = (np.uint64(n) for n in (1, 4, 8, 10, 16, 32, 60))
# 10**0 to 10**15, then the same with a minus sign.
_DIVISORS = np.array([sign * 10.0**n for sign in (1, -1) for n in range(16)])


def parse_plain_rows(data: bytes, start: int, stop: int, n_rows: int, n_columns: int) -> Floats | None:
    """The numbers in bytes `start` to `stop`: (n_rows, n_columns), a row on each line; blank lines do not count.

    None where anything is not just so: another count of rows, a line with another count of numbers, an exponent, a plus
    sign, more digits than float64 holds, or anything that is no number.
    """
    if not 0 < 2 * n_rows * n_columns <= stop - start + 1:  # a number and its blank take two bytes at least
        return None
    values, count = np.empty((n_rows, n_columns)), 0
    flat = values.reshape(-1)
    # Arrays that all blocks use in turn: new memory costs more than the work that is done in it.
    room = np.empty((2, _BLOCK + _ODD), np.uint64)
    while start < stop:
        end = _block_end(data, start, stop)
        if data[start - 1 : start] == b"\n" and end + _WORD <= stop:
            n_read = _read_block(data, start, end, n_columns, flat[count:], room)
        else:  # lines need a line end on both sides, and words a few characters more
            text = b"\n" + data[start:end] + b"\n" * _WORD
            n_read = _read_block(text, 1, len(text) - _WORD + 1, n_columns, flat[count:], room)
        if n_read < 0:
            return None
        start, count = end, count + n_read
    return values if count == values.size else None


def _block_end(data: bytes, start: int, stop: int) -> int:
    """The end of the last line that ends within a block from `start` on; of the first line, where that is longer."""
    if start + _BLOCK >= stop:
        return stop
    return data.rfind(b"\n", start, start + _BLOCK) + 1 or data.find(b"\n", start + _BLOCK, stop) + 1 or stop


def _read_block(data: bytes, start: int, end: int, n_columns: int, out: Floats, room: Words) -> int:
    """Read whole lines from `start` to `end` into `out` (flat); how many numbers, -1 where they are not plain rows.

    A line end stands before `start` and before `end`, and 7 more bytes after that.
    """
    chars = np.frombuffer(data, np.uint8, end - start + 1, start - 1)
    breaks = np.flatnonzero(chars <= ord("-"))  # between numbers: blanks, signs, and what should not be there
    lengths = np.diff(breaks)
    lengths -= 1
    is_number = lengths > 0
    kinds = chars[breaks]
    numbers = np.flatnonzero(is_number)  # signs fall as they please: picking by number is faster than by flag
    n = len(numbers)
    if n > len(out) or not _are_rows(kinds, is_number, numbers, n_columns):
        return -1
    if n > room.shape[1]:
        room = np.empty((len(room), n), np.uint64)
    words: Words = np.ndarray(end - start + 1, "<u8", data, start - 1, strides=(1,))
    found = _digits(words, breaks[numbers] + 1, lengths[numbers], room[:, :n])
    if found is None:
        return -1
    digits, places = found
    # One mark was taken out of each number with decimal places; if there are as many points, that is what they were.
    if np.count_nonzero(chars == ord(".")) != np.count_nonzero(places):
        return -1
    is_negative = kinds[numbers] == ord("-")
    places += np.multiply(is_negative, _SIXTEEN, out=room[1, :n])
    divisors = np.take(_DIVISORS, places.view(np.int64), out=room[1, :n].view(np.float64), mode="clip")
    np.divide(digits.view(np.int64), divisors, out=out[:n])
    return n


def _are_rows(kinds: NDArray[np.uint8], is_number: Bools, numbers: Ints, n_columns: int) -> bool:
    """Whether each line has `n_columns` numbers or none, each minus sign a number, and there are no other breaks.

    Between the breaks i and i + 1, which are characters of these `kinds`, may stand a number, the `numbers` tell where.
    """
    is_end = (kinds == ord("\n")) | (kinds == ord("\r"))
    is_minus = kinds == ord("-")
    if not (is_end | is_minus | (kinds == ord(" ")) | (kinds == ord("\t"))).all():
        return False
    if (is_minus[:-1] > is_number).any():
        return False
    counts = np.searchsorted(numbers, np.flatnonzero(is_end))  # of numbers up to the end of each line
    steps = counts[1:] - counts[:-1]
    return bool(((steps == n_columns) | (steps == 0)).all())


def _digits(words: Words, starts: Ints, lengths: Ints, room: Words) -> tuple[Words, Words] | None:
    """Numbers without sign or point, and their decimal places, as `_convert` has them; None where any is not plain.

    `words[i]` is made of 8 characters from the i-th on. Numbers have `lengths` characters from `starts` on.
    """
    short = np.flatnonzero(lengths == 1)
    if lengths.max(initial=0) <= _WORD:
        digits = words[starts].astype(np.uint64, copy=False)
        places = _convert(digits, lengths, room)
    else:
        longer = np.flatnonzero(lengths > _WORD)
        tails = lengths[longer] - _WORD
        heads = words[starts[longer]].astype(np.uint64, copy=False)
        starts[longer] += tails
        digits = words[starts].astype(np.uint64, copy=False)
        np.minimum(lengths, _WORD, out=lengths)
        places = _convert(digits, lengths, room)
        if tails.max() > _WORD or places is None or not _put_before(heads, tails, longer, digits, places):
            return None
    if places is None or places[short].any():  # a point alone
        return None
    return digits, places


def _put_before(heads: Words, lengths: Ints, at: Ints, digits: Words, places: Words) -> bool:
    """Put the first `lengths` characters of numbers before the 8 that were read; whether they are plain numbers."""
    head_places = _convert(heads, lengths, np.empty((2, len(at)), np.uint64))
    if head_places is None:
        return False
    has_point, tail_places = head_places > 0, places[at]
    heads *= np.where(has_point, np.uint64(10**7), np.uint64(10**8))
    heads += digits[at]
    digits[at] = heads
    places[at] = np.where(has_point, head_places + np.uint64(7), tail_places)
    return not (tail_places[has_point].any() or heads.max() > _EXACT)


def _convert(words: Words, lengths: Ints, room: Words) -> Words | None:
    """Make words of characters into the whole numbers that they spell, in place; returns their decimal places.

    The first `lengths` characters count. A point is taken out, and then a zero put at the end to fill the word: decimal
    places are 1 to 8, or 0 where there is no point. None where anything but one mark is left that is no digit.
    """
    places: Words
    places, other = room
    np.subtract(_WORD, lengths, out=lengths)
    lengths <<= 3
    words ^= _ZEROS
    words <<= lengths.view(np.uint64)  # moves the last character to the end, and zeros in before the first

    marks = np.bitwise_and(words, _MARKS, out=places)
    if (marks == marks[:1]).all():  # most files have numbers of equally many decimals: one stands for all
        marks = marks[:1]
    marks = marks & -marks  # the first one of each word
    before = (marks >> _FOUR) - _ONE  # all bits of the bytes before the mark, or of all bytes where there is none
    places[:] = marks * _PLACES >> _TOP
    moved = np.right_shift(words, _EIGHT, out=other)
    words ^= moved
    words &= before
    words ^= moved

    np.add(words, _OVER_NINE, out=other)
    other |= words
    if int(np.bitwise_or.reduce(other)) & _HIGH_BITS:
        return None
    # Digits to pairs, in every other byte; then the first and third, and the second and fourth pair by their weights.
    np.right_shift(words, _EIGHT, out=other)
    words *= _TEN
    words += other
    np.right_shift(words, _SIXTEEN, out=other)
    other &= _PAIRS
    other *= _RIGHT_WEIGHTS
    words &= _PAIRS
    words *= _LEFT_WEIGHTS
    words += other
    words >>= _HALF
    return places
