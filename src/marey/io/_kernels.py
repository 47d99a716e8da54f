"""Compiled loops of `io`: the numbers of a BVH file, and the rotations that they stand for."""

from __future__ import annotations

from typing import Any

import numpy as np

from marey.core.compiled import inner, kernel

Array = Any

# Powers of ten that numbers are scaled by, 10**0 to 10**308.
POWERS = np.array([float(f"1e{k}") for k in range(309)])


@kernel
def parse_rows(data: Array, start: int, stop: int, n_columns: int, values: Array, powers: Array) -> tuple[int, int]:
    """Read rows of `n_columns` numbers from bytes `start` to `stop` of `data` into `values` (flat).

    The byte before `stop` must be a line end: numbers then end before it, and no digit needs a bounds check. A row is
    a line. Stops before the first line that is anything else, or for which there is no room. Returns the number of rows
    and the place of the line it stopped at. Numbers of up to 15 digits come out exactly as written, longer ones and
    those with exponents beyond 22 to within two units in the last place; a number beyond all range is infinite.
    """
    n_rows = 0
    base = 0
    at = start
    while at < stop:
        row_start = at
        count = 0
        while at < stop:
            c = data[at]
            if c == 32 or c == 9:
                at += 1
                continue
            if c == 10 or c == 13:
                if count > 0:
                    break
                at += 1
                row_start = at
                continue
            if count == n_columns or base + n_columns > values.shape[0]:
                return n_rows, row_start
            negative = c == 45
            if negative or c == 43:
                at += 1
            # Digits before and after the point; `digit` is the byte less 48, so that -2 is the point.
            first_digit = at
            mantissa = np.int64(0)
            digit = np.int64(data[at]) - 48
            while 0 <= digit <= 9:
                mantissa = mantissa * 10 + digit
                at += 1
                digit = np.int64(data[at]) - 48
            n_digits = at - first_digit
            exponent = 0
            if digit == -2:
                at += 1
                point = at
                digit = np.int64(data[at]) - 48
                while 0 <= digit <= 9:
                    mantissa = mantissa * 10 + digit
                    at += 1
                    digit = np.int64(data[at]) - 48
                exponent = point - at
                n_digits -= exponent
            if n_digits == 0:
                return n_rows, row_start
            if n_digits > 18:  # more than 64 bits hold
                mantissa, exponent = _long_number(data, first_digit, at)
            c = data[at]
            if c == 101 or c == 69:
                at += 1
                sign = data[at]
                if sign == 45 or sign == 43:
                    at += 1
                first_digit = at
                power = 0
                while 48 <= data[at] <= 57:
                    power = min(power * 10 + (data[at] - 48), 1_000_000_000)
                    at += 1
                if at == first_digit:
                    return n_rows, row_start
                exponent += -power if sign == 45 else power
                c = data[at]
            # A number ends at white space, or where a sign begins the next one.
            if not (c == 32 or c == 10 or c == 13 or c == 9 or c == 45 or c == 43):
                return n_rows, row_start
            value = np.float64(mantissa)
            if exponent < 0:
                if exponent >= -308:
                    value /= powers[-exponent]
                else:
                    value = value / powers[308] / powers[min(-exponent - 308, 308)]
            elif exponent > 0 and mantissa > 0:
                value *= np.inf if exponent > 308 else powers[exponent]
            values[base + count] = -value if negative else value
            count += 1
        if count == n_columns:
            n_rows += 1
            base += n_columns
        elif count > 0:
            return n_rows, row_start
    return n_rows, stop


@inner
def _long_number(data: Array, start: int, stop: int) -> tuple[int, int]:
    """The first 18 significant digits of the number text, and the power of ten that belongs to them."""
    mantissa = 0
    exponent = 0
    n_used = 0
    after_point = False
    for at in range(start, stop):
        if data[at] == 46:
            after_point = True
            continue
        if n_used < 18:
            mantissa = mantissa * 10 + (data[at] - 48)
            if mantissa > 0:
                n_used += 1
            if after_point:
                exponent -= 1
        elif not after_point:
            exponent += 1
    return mantissa, exponent


@kernel
def rotations_from_channels(
    values: Array, first: Array, n_rotations: Array, columns: Array, axes: Array, start: int, stop: int, out: Array
) -> None:
    """Local quaternions of joints `start` to `stop`, sign-continuous over time.

    values (F, C) degrees; joint j turns about `axes[k]` by `columns[k]` for k in first[j] .. first[j] + n_rotations[j];
    out (F, J, 4).
    """
    half = np.pi / 360.0
    for f in range(values.shape[0]):
        for j in range(start, stop):
            w, x, y, z = 1.0, 0.0, 0.0, 0.0
            for k in range(first[j], first[j] + n_rotations[j]):
                angle = values[f, columns[k]] * half
                if angle == 0.0:
                    continue
                c = np.cos(angle)
                s = np.sin(angle)
                axis = axes[k]
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
