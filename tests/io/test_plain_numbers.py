"""Rows of plain numbers read by NumPy: the same as `float` gives, or not read at all."""

from __future__ import annotations

import random

import numpy as np
import pytest

from marey.io import plain_numbers
from marey.io.plain_numbers import parse_plain_rows


def read(text: bytes, n_rows: int, n_columns: int, before: bytes = b"") -> np.ndarray | None:
    return parse_plain_rows(before + text, len(before), len(before) + len(text), n_rows, n_columns)


def same_bits(got: np.ndarray | None, words: list[list[str]]) -> bool:
    """Whether the numbers are those of `float`, with the sign of zeros."""
    assert got is not None
    wanted = np.array([[float(word) for word in row] for row in words])
    return got.shape == wanted.shape and got.tobytes() == wanted.tobytes()


def some_word(rng: random.Random) -> str:
    """A number of any form that is plain: up to 15 digits, with or without sign and point, at either end too."""
    n_digits = rng.randint(1, 15)
    digits = "".join(rng.choice("0123456789") for _ in range(n_digits))
    point = rng.randint(0, n_digits)
    word = rng.choice([digits, f"{digits[:point]}.{digits[point:]}"])
    return rng.choice(["", "-"]) + word


def few_digits(word: str) -> bool:
    """Whether ten times the digits are surely held by float64."""
    return sum(char.isdigit() for char in word) <= 14


@pytest.mark.parametrize("block", [1, 64, 1000, 1 << 16])
@pytest.mark.parametrize("before", [b"", b"x", b"MOTION\nFrame Time: 1\n"])
def test_random_numbers_are_those_of_float(monkeypatch: pytest.MonkeyPatch, block: int, before: bytes) -> None:
    monkeypatch.setattr(plain_numbers, "_BLOCK", block)
    rng = random.Random(block)
    for n_columns in (1, 3, 50):
        words = [[rng.choice(["0", "1.5", some_word(rng)]) for _ in range(n_columns)] for _ in range(60)]
        words = [[word if few_digits(word) else "-0.0" for word in row] for row in words]
        blank = rng.choice([" ", "\t", "   ", " \t"])
        end = rng.choice(["\n", "\r\n", " \n", "\n\n", "\n \n"])
        text = end.join(blank.join(row) for row in words).encode()
        assert same_bits(read(text, len(words), n_columns, before), words)
        assert same_bits(read(b"\n" + text + b" \n", len(words), n_columns, before), words)


def test_fixed_decimals_as_exporters_write_them() -> None:
    rng = random.Random(0)
    for decimals in range(10):
        words = [[f"{rng.uniform(-1000, 1000):.{decimals}f}" for _ in range(96)] for _ in range(300)]
        text = "\n".join(" ".join(row) for row in words).encode()
        assert same_bits(read(text, 300, 96), words)


# fmt: off
PLAIN = (
    "0", "-0", "7", "-7", ".5", "-.5", "5.", "-5.", "0.1", "-0.0", "00012.50", "99999999", "12345678.", ".12345678",
    "123456789", "1.23456789", "12345678.9", "-1234567.8", "9007199254740992", ".00000000000001", "0.0000000000000",
    "12345678901234", "-1234567.8901234",
)
NOT_PLAIN = (
    ".", "-", "-.", "--", "--1", "1-", "+1", "+.5", "1e5", "1E5", "1e-5", "1.5e3", "1..2", "1.2.3", "..5", "nan", "inf",
    "NaN", "1,5", "1/5", "/5", "5/", "1:2", "0x10", "1_000", "1d5", "12345678901234567", "0.1234567890123456",
    "9007199254740993", "900719925474099.2", "-1234567.-8901234", "123456/8.5", "1.345678.9", "/2345678.5", "1\x0b2",
    "1\x002", "\x0c", "1\xa02", "\x1e5", "é",
)
# fmt: on


@pytest.mark.parametrize("word", PLAIN)
def test_words_of_every_length(word: str) -> None:
    assert same_bits(read(f"1 {word} 2\n".encode(), 1, 3), [["1", word, "2"]])


def test_signs_may_be_glued_to_the_number_before() -> None:
    assert same_bits(read(b"1.5-2.5 3\n-1-2-3\n", 2, 3), [["1.5", "-2.5", "3"], ["-1", "-2", "-3"]])


@pytest.mark.parametrize("word", NOT_PLAIN)
def test_what_is_not_plain_is_not_read(word: str) -> None:
    for text in (f"{word} 2 3\n", f"1 {word} 3\n", f"1 2 {word}\n", f"1 2 3\n1 2 {word}", f"1.5 -2.5 .5\n{word} 2 3\n"):
        for n_rows in (1, 2):
            assert read(text.encode("latin-1"), n_rows, 3) is None


@pytest.mark.parametrize(
    "text", [b"1 2\n3", b"1\n2 3\n", b"1 2 3\n4\n", b"1 2 3 4 5 6\n", b"1 2 3\n4 5 6 7\n", b"", b" \n"]
)
def test_lines_that_are_no_rows_are_not_read(text: bytes) -> None:
    for n_rows in range(4):
        assert read(text, n_rows, 3) is None


def test_another_count_of_rows_is_not_read() -> None:
    text = b"1 2 3\n4 5 6\n"
    assert same_bits(read(text, 2, 3), [["1", "2", "3"], ["4", "5", "6"]])
    for n_rows in (-1, 0, 1, 3, 10**12):
        assert read(text, n_rows, 3) is None


def test_only_what_stands_between_start_and_stop_is_read() -> None:
    data = b"9.59 1 2\n3 4 59.5 8 8\n"
    assert same_bits(parse_plain_rows(data, 3, data.index(b"9.5 8"), 2, 3), [["9", "1", "2"], ["3", "4", "5"]])
