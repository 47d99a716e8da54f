"""Rows of numbers: read by the kernel as `float` reads them, or not read at all."""

from __future__ import annotations

import random

import numpy as np
import pytest

from marey.compiled import python_form
from marey.io.bvh_kernels import RotationChannels, convert_rotations, parse_rows


def read(text: bytes, n_columns: int, before: bytes = b"", n_rows: int = 100) -> tuple[np.ndarray, int]:
    """Return the rows, and how much of the text was read; the Python form of the kernel must give the same."""
    data = np.frombuffer(before + text, np.uint8)
    out, other = np.full((2, n_rows * n_columns), np.nan)
    found = parse_rows(data, len(before), len(data), n_columns, out)
    assert found == python_form(parse_rows)(data, len(before), len(data), n_columns, other)
    assert out.tobytes() == other.tobytes()
    return out[: found[0] * n_columns].reshape(-1, n_columns), found[1] - len(before)


def same_bits(got: np.ndarray, words: list[list[str]]) -> bool:
    """Return whether the numbers are those of `float`, including the sign of zeros."""
    wanted = np.array([[float(word) for word in row] for row in words])
    return got.shape == wanted.shape and got.tobytes() == wanted.tobytes()


def some_word(rng: random.Random) -> str:
    """Draw a number of up to 18 digits, with or without sign, point and exponent; the point may be at either end."""
    n_digits = rng.randint(1, 18)
    digits = "".join(rng.choice("0123456789") for _ in range(n_digits))
    point = rng.randint(0, n_digits)
    word = rng.choice([digits, f"{digits[:point]}.{digits[point:]}"])
    return rng.choice(["", "-", "+"]) + word + rng.choice(["", "", f"e{rng.randint(-30, 0)}"])


@pytest.mark.parametrize("before", [b"", b"x", b"MOTION\nFrame Time: 1\n"])
def test_random_numbers_are_those_of_float(before: bytes) -> None:
    rng = random.Random(len(before))
    for n_columns in (1, 3, 50):
        words = [[rng.choice(["0", "1.5", some_word(rng)]) for _ in range(n_columns)] for _ in range(60)]
        blank = rng.choice([" ", "\t", "   ", " \t"])
        end = rng.choice(["\n", "\r\n", " \n", "\n\n", "\n \n"])
        text = end.join(blank.join(row) for row in words).encode()
        for each in (text + b"\n", b"\n" + text + b" \n"):
            got, n_read = read(each, n_columns, before)
            assert n_read == len(each)
            assert same_bits(got, words)


def test_fixed_decimals_as_exporters_write_them() -> None:
    rng = random.Random(0)
    for decimals in range(10):
        words = [[f"{rng.uniform(-1000, 1000):.{decimals}f}" for _ in range(96)] for _ in range(20)]
        text = "\n".join(" ".join(row) for row in words).encode() + b"\n"
        assert same_bits(read(text, 96)[0], words)


# fmt: off
NUMBERS = (
    "0", "-0", "7", "-7", ".5", "-.5", "5.", "-5.", "0.1", "-0.0", "00012.50", "99999999", "12345678.", ".12345678",
    "123456789", "1.23456789", "12345678.9", "-1234567.8", "9007199254740992", ".00000000000001", "0.0000000000000",
    "12345678901234", "-1234567.8901234", "+1", "+.5", "1e5", "1E5", "1e-5", "1.5e3", "12345678901234567",
    "0.1234567890123456", "9007199254740993", "900719925474099.2",
)
NO_NUMBERS = (
    ".", "-", "-.", "--", "--1", "1-", "1..2", "1.2.3", "..5", "nan", "inf", "NaN", "1,5", "1/5", "/5", "5/", "1:2",
    "0x10", "1_000", "1d5", "1e", "1e+", "-1234567.--8901234", "123456/8.5", "1.345678.9", "/2345678.5", "1\x0b2",
    "1\x002", "\x0c", "1\xa02", "\x1e5", "é",
)
# fmt: on


@pytest.mark.parametrize("word", NUMBERS)
def test_words_of_every_length(word: str) -> None:
    assert same_bits(read(f"1 {word} 2\n".encode(), 3)[0], [["1", word, "2"]])


def test_signs_may_be_glued_to_the_number_before() -> None:
    assert same_bits(read(b"1.5-2.5 3\n-1-2-3\n", 3)[0], [["1.5", "-2.5", "3"], ["-1", "-2", "-3"]])


@pytest.mark.parametrize("word", NO_NUMBERS)
def test_rows_before_an_invalid_number_are_read(word: str) -> None:
    for before in ("", "1 2 3\n", "1.5 -2.5 .5\n"):
        for row in (f"{word} 2 3\n", f"1 {word} 3\n", f"1 2 {word}\n"):
            got, n_read = read((before + row).encode("latin-1"), 3)
            assert (len(got), n_read) == (before.count("\n"), len(before))


@pytest.mark.parametrize(
    ("text", "n_rows"),
    [
        (b"1 2\n3\n", 0),
        (b"1\n2 3\n", 0),
        (b"1 2 3\n4\n", 1),
        (b"1 2 3 4 5 6\n", 0),
        (b"1 2 3\n4 5 6 7\n", 1),
        (b"\n", 0),
    ],
)
def test_lines_that_are_no_rows_are_not_read(text: bytes, n_rows: int) -> None:
    assert len(read(text, 3)[0]) == n_rows


def test_reading_stops_when_the_array_is_full() -> None:
    text = b"1 2 3\n4 5 6\n"
    for n_rows in range(3):
        got, n_read = read(text, 3, n_rows=n_rows)
        assert (len(got), n_read) == (n_rows, 6 * n_rows)


def test_only_text_between_start_and_stop_is_read() -> None:
    data = np.frombuffer(b"9.59 1 2\n3 4 5\n9.5 8 8\n", np.uint8)
    out = np.empty(9)
    assert parse_rows(data, 3, 15, 3, out) == (2, 15)
    assert same_bits(out[:6].reshape(2, 3), [["9", "1", "2"], ["3", "4", "5"]])


def test_rotations_are_those_of_the_python_form() -> None:
    rng = np.random.default_rng(0)
    counts = np.array([3, 0, 2, 1, 4])
    n_channels = int(counts.sum())
    channels = RotationChannels(
        np.cumsum(counts) - counts, counts, rng.permutation(n_channels), rng.integers(0, 3, n_channels)
    )
    values = rng.uniform(-400.0, 400.0, (20, n_channels))
    out, other = np.empty((2, 20, 5, 4))
    convert_rotations(values, channels, 0, 2, out)
    convert_rotations(values, channels, 2, 5, out)
    python_form(convert_rotations)(values, channels, 0, 5, other)
    np.testing.assert_array_equal(out, other)
