"""BVH kernels: parse the rows of numbers and convert Euler angles to quaternions."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from marey.compiled import Floats1D, Floats2D, Floats3D, Ints1D, Out, UInt8s1D, helper, kernel

# 10**0 to 10**308 as float64, and the rounding errors.
_POWERS = np.array([float(10**k) for k in range(309)])
_POWER_RESTS = np.array([float(10**k - int(float(10**k))) for k in range(309)])
# float64 holds all whole numbers up to 2**53, and powers of ten up to 10**22.
_MAX_EXACT, _MAX_EXACT_POWER = 1 << 53, 22
# Factor that splits a float64 into two halves of 26 bits, and the largest power of ten for which it does not overflow.
_SPLITTER, _MAX_SPLIT_POWER = 134217729.0, 290


class RotationChannels(NamedTuple):
    """The rotation columns of the rows, indexed by joint (J,) and by rotation channel (K,).

    first, counts : (J,) index of each joint's first rotation channel, and how many it has, in listed order.
    columns : (K,) column of each channel in the rows.
    axes : (K,) 0, 1 or 2 for X, Y or Z.
    """

    first: Ints1D
    counts: Ints1D
    columns: Ints1D
    axes: Ints1D


@kernel
def parse_rows(data: UInt8s1D, start: int, stop: int, n_columns: int, values: Out[Floats1D]) -> tuple[int, int]:
    """Read rows of `n_columns` numbers from bytes `start` to `stop` of `data` into `values` (flat).

    The byte before `stop` must be a line end: numbers then end before it, and no digit needs a bounds check. Each row
    is one line. Stop before the first line that is not a row, does not fit into `values`, or has a number with more
    than 18 significant digits. Return the number of rows and the byte position of the line it stopped at. Numbers from
    1e-272 to 1e15 are the same as from `float`; others are within two units in the last place. Numbers too large for
    float64 become infinite.
    """
    n_rows = 0
    base = 0
    position = start
    while position < stop:
        row_start = position
        count = 0
        while position < stop:
            c = data[position]
            if c == 32 or c == 9:
                position += 1
                continue
            if c == 10 or c == 13:
                if count > 0:
                    break
                position += 1
                row_start = position
                continue
            if count == n_columns or base + n_columns > values.shape[0]:
                return n_rows, row_start
            negative = c == 45
            if negative or c == 43:
                position += 1
            first_digit = position
            mantissa = 0
            fraction = -1  # where the digits after the point begin
            while True:
                digit = int(data[position]) - 48
                if 0 <= digit <= 9:
                    mantissa = mantissa * 10 + digit
                elif digit == 46 - 48 and fraction < 0:
                    fraction = position + 1
                else:
                    break
                position += 1
            exponent = 0 if fraction < 0 else fraction - position
            n_digits = position - first_digit - (0 if fraction < 0 else 1)
            if n_digits == 0:
                return n_rows, row_start
            if n_digits > 18:  # more digits than 64 bits can hold
                mantissa, exponent, is_whole = _read_long_number(data, first_digit, position)
                if not is_whole:
                    return n_rows, row_start
            c = data[position]
            if c == 101 or c == 69:
                position += 1
                sign = data[position]
                if sign == 45 or sign == 43:
                    position += 1
                first_digit = position
                power = 0
                while 48 <= data[position] <= 57:
                    power = min(power * 10 + int(data[position]) - 48, 1_000_000_000)
                    position += 1
                if position == first_digit:
                    return n_rows, row_start
                exponent += -power if sign == 45 else power
                c = data[position]
            # A number ends at white space, or where a sign begins the next one.
            if not (c == 32 or c == 10 or c == 13 or c == 9 or c == 45 or c == 43):
                return n_rows, row_start
            if -_MAX_EXACT_POWER <= exponent <= 0 and mantissa <= _MAX_EXACT:  # nearly always; one rounding
                value = float(mantissa) / _POWERS[-exponent]
            else:
                value = _scale(mantissa, exponent)
            values[base + count] = -value if negative else value
            count += 1
        if count == n_columns:
            n_rows += 1
            base += n_columns
        elif count > 0:
            return n_rows, row_start
    return n_rows, stop


@helper
def _scale(mantissa: int, exponent: int) -> float:
    """Return mantissa * 10**exponent."""
    value = float(mantissa)
    if exponent == 0 or mantissa == 0:
        return value
    if exponent > 0:
        factor: float = np.inf if exponent > 308 else _POWERS[exponent]
        return value * factor
    places = -exponent
    if places > 308:
        divisor: float = _POWERS[min(places - 308, 308)]
        return value / 1e308 / divisor
    power: float = _POWERS[places]
    quotient = value / power
    if places > _MAX_SPLIT_POWER:
        return quotient
    # Correct the quotient by its remainder, from the exact product of quotient and power (Dekker 1971).
    q_high = _SPLITTER * quotient - (_SPLITTER * quotient - quotient)
    p_high = _SPLITTER * power - (_SPLITTER * power - power)
    q_low, p_low = quotient - q_high, power - p_high
    product = quotient * power
    error = ((q_high * p_high - product) + q_high * p_low + q_low * p_high) + q_low * p_low
    below = float(mantissa - int(value)) - quotient * float(_POWER_RESTS[places])
    return quotient + (((value - product) - error) + below) / power


@helper
def _read_long_number(data: UInt8s1D, start: int, stop: int) -> tuple[int, int, bool]:
    """Return the first 18 significant digits, their power of ten, and whether all further digits are zeros."""
    mantissa = 0
    exponent = 0
    n_used = 0
    after_point = False
    is_whole = True
    for position in range(start, stop):
        if data[position] == 46:
            after_point = True
            continue
        if n_used < 18:
            mantissa = mantissa * 10 + int(data[position]) - 48
            if mantissa > 0:
                n_used += 1
            if after_point:
                exponent -= 1
        else:
            is_whole = is_whole and data[position] == 48
            if not after_point:
                exponent += 1
    return mantissa, exponent, is_whole


@kernel
def convert_rotations(values: Floats2D, channels: RotationChannels, start: int, stop: int, out: Out[Floats3D]) -> None:
    """Convert angles in rows (F, C), degrees, to local quaternions (F, J, 4) for joints `start` to `stop`.

    Quaternion signs are continuous over time.
    """
    half = np.pi / 360.0
    for f in range(values.shape[0]):
        for j in range(start, stop):
            w, x, y, z = 1.0, 0.0, 0.0, 0.0
            for k in range(channels.first[j], channels.first[j] + channels.counts[j]):
                angle = values[f, channels.columns[k]] * half
                if angle == 0.0:
                    continue
                c = math.cos(angle)
                s = math.sin(angle)
                axis = channels.axes[k]
                if axis == 0:
                    w, x, y, z = w * c - x * s, x * c + w * s, y * c + z * s, z * c - y * s
                elif axis == 1:
                    w, x, y, z = w * c - y * s, x * c - z * s, y * c + w * s, z * c + x * s
                else:
                    w, x, y, z = w * c - z * s, x * c + y * s, y * c - x * s, z * c + w * s
            if f > 0:
                p = out[f - 1, j]
                if w * p[0] + x * p[1] + y * p[2] + z * p[3] < 0.0:
                    w, x, y, z = -w, -x, -y, -z
            out[f, j, 0] = w
            out[f, j, 1] = x
            out[f, j, 2] = y
            out[f, j, 3] = z
