"""Conversion between text and float64: the kernel and the formatter, compared with Python."""

import math
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marey.errors import InvalidValue
from marey.io.bvh_kernels import parse_rows
from marey.io.text_numbers import LARGEST, describe_bad_number, format_rows, number_fault, parse_numbers
from tests.strategies import LAWS


def compiled(words: list[str]) -> list[float]:
    """Return the numbers that the kernel reads from words; it must accept all of them."""
    data = np.frombuffer((" ".join(words) + "\n").encode(), np.uint8)
    values = np.empty(len(words))
    n_rows, end = parse_rows(data, 0, len(data), len(words), values)
    assert (n_rows, end) == (1, len(data)), words
    return values.tolist()


def refuses(word: str) -> bool:
    """Return whether the kernel leaves a word to the slow reader."""
    data = np.frombuffer(f"1 2 3\n4 {word} 6\n".encode(), np.uint8)
    n_rows, end = parse_rows(data, 0, len(data), 3, np.empty(9))
    assert n_rows < 2 or end == len(data)
    return n_rows == 1 and end == 6


def is_close(value: float, expected: float) -> bool:
    """Return whether the numbers are equal; numbers too small for exact conversion may differ in the last two units."""
    return value == expected or (abs(expected) > LARGEST and abs(value - expected) <= 2.0 * math.ulp(expected))


def spellings(rng: np.random.Generator, n_digits: int) -> Iterator[str]:
    """Yield a number of some digits with and without sign, point, exponent, leading and trailing zeros."""
    digits = "".join(map(str, rng.integers(0, 10, n_digits)))
    point = int(rng.integers(0, n_digits + 1))
    plain = digits[:point] + "." + digits[point:]
    for sign in ("", "+", "-"):
        yield sign + digits
        yield sign + plain
        yield sign + "000" + plain + "000"
        for e in ("e", "E"):
            yield f"{sign}{plain}{e}{int(rng.integers(0, 15)) - 7:+d}"
            yield f"{sign}{plain}{e}{int(rng.integers(0, 5)):03d}"


@pytest.mark.parametrize("n_digits", range(1, 19))
def test_eighteen_digits_are_read_as_by_float(n_digits: int) -> None:
    rng = np.random.default_rng(n_digits)
    words = [word for _ in range(200) for word in spellings(rng, n_digits)]
    for word, value in zip(words, compiled(words), strict=True):
        assert is_close(value, float(word)), word
        assert math.copysign(1.0, value) == math.copysign(1.0, float(word))


@pytest.mark.parametrize("n_digits", [19, 20, 25, 40, 400])
def test_longer_numbers_are_left_to_the_careful_reader(n_digits: int) -> None:
    rng = np.random.default_rng(n_digits)
    for word in (word for _ in range(60) for word in spellings(rng, n_digits)):
        significant = word.lower().partition("e")[0].replace(".", "").strip("+-").strip("0")
        if len(significant) > 18:
            assert refuses(word), word
        else:
            assert is_close(compiled([word])[0], float(word)), word


@pytest.mark.parametrize("word", ["9007199254740993", "9007199254740995", "0.500000000000000166", "4503599627370497.5"])
def test_halfway_between_two_floats_is_the_even_one(word: str) -> None:
    assert compiled([word]) == [float(word)]


def test_every_float_survives_its_shortest_spelling() -> None:
    rng = np.random.default_rng(5)
    values = rng.integers(0, 2**64, 20_000, dtype=np.uint64).view(np.float64)
    values = values[(np.abs(values) < LARGEST) & (np.abs(values) > 1e-270)]
    words = [repr(value) for value in values.tolist()]
    np.testing.assert_array_equal(compiled(words), values)


def test_any_other_float_survives_to_two_units_in_the_last_place() -> None:
    rng = np.random.default_rng(5)
    values = rng.integers(0, 2**64, 20_000, dtype=np.uint64).view(np.float64)
    values = values[np.isfinite(values) & (np.abs(values) < 1e300) & (np.abs(values) > 1e-290)]
    words = [repr(value) for value in values.tolist()]
    found = np.array(compiled(words))
    assert (np.abs(found - values) <= 2 * np.spacing(np.abs(values))).all()


@pytest.mark.parametrize(
    "word",
    ["1e-310", "4.9e-324", "2.4703282292062328e-324", "1e-400", "1e-99999999999", "123456789012345678e-330", "0e999"],
)
def test_denormals_and_zeros(word: str) -> None:
    assert abs(compiled([word])[0] - float(word)) <= 2 * 5e-324 + 1e-15 * float(word)


def test_exponents_make_up_for_zeros() -> None:
    zeros = "0" * 150_000
    assert compiled([f"0.{zeros}1e150001"]) == [1.0]
    assert compiled([f"1{zeros}e-150000"]) == pytest.approx([1.0], rel=1e-15)
    assert compiled(["0.000001e310", "1000e-3"]) == [1e304, 1.0]


@pytest.mark.parametrize("word", ["1e309", "1e999", "-1e99999999999", "9" + "0" * 309])
def test_numbers_beyond_all_range_are_infinite(word: str) -> None:
    """Beyond the limit of the kernel, so that the slow reader reports the position."""
    assert abs(compiled([word])[0]) == math.inf
    numbers, bad = parse_numbers(f"1 {word} 2".encode())
    assert (numbers, bad[0]) == ([1.0], word.encode())


@pytest.mark.parametrize(
    "word",
    ["x", "1x", "-", "+", ".", "-.", "1e", "1e+", "e5", "1.2.3", "--1", "+-1", "1,5", "nan", "inf", "0x1", "1_0", "1d5"]
    + ["1-", "1.5e3.2", "#", "\x001", "1\x00", "½", "１", "1\xa0"],
)
def test_invalid_numbers_are_left_to_the_careful_reader(word: str) -> None:
    assert refuses(word)
    numbers, bad = parse_numbers(f"4 {word} 6".encode())
    assert numbers == [4.0]
    assert bad is not None
    assert describe_bad_number(bad[0]).startswith("expected ")


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("0.0-7.5", [0.0, -7.5]),
        ("1-2+3", [1.0, -2.0, 3.0]),
        ("1e-3-4", [0.001, -4.0]),
        ("-.25+.5-5.", [-0.25, 0.5, -5.0]),
        ("1.5E+01-1.5e+01", [15.0, -15.0]),
        ("-0-0", [-0.0, -0.0]),
    ],
)
def test_glued_signs(text: str, numbers: list[float]) -> None:
    data = np.frombuffer(f"{text}\n".encode(), np.uint8)
    values = np.empty(len(numbers))
    assert parse_rows(data, 0, len(data), len(numbers), values) == (1, len(data))
    assert values.tolist() == numbers
    assert parse_numbers(text.encode()) == (numbers, None)


@LAWS
@given(st.text("0123456789.eE+- x,", max_size=12))
def test_both_readers_agree_on_any_text(text: str) -> None:
    data = np.frombuffer(f"{text}\n".encode(), np.uint8)
    numbers, bad = parse_numbers(text.encode())
    values = np.empty(16)
    n_rows, _ = parse_rows(data, 0, len(data), max(len(numbers), 1), values)
    if bad is None and numbers:
        assert n_rows == 1
        np.testing.assert_allclose(values[: len(numbers)], numbers, rtol=5e-16)
    elif numbers or bad is not None:
        assert n_rows == 0 or abs(values[0]) > LARGEST


def test_rows_end_with_lines() -> None:
    text = b"\n 1 2\r\n\r\n3\t4 \r5 6\n7\n8\n"
    data = np.frombuffer(text, np.uint8)
    values = np.empty(20)
    n_rows, end = parse_rows(data, 0, len(data), 2, values)
    assert values[: 2 * n_rows].tolist() == [1, 2, 3, 4, 5, 6]
    assert text[end:] == b"7\n8\n"
    n_rows, end = parse_rows(data, 0, len(data), 2, values[:4])  # no room for more
    assert n_rows == 2
    assert text[end:].lstrip() == b"5 6\n7\n8\n"


def test_faults_distinguish_numbers_from_other_words() -> None:
    assert number_fault(b"Info:") is None
    assert number_fault(b"nanometer") is None
    assert number_fault(b"-nan(ind)") == "expected a finite number, got '-nan(ind)'"
    assert number_fault(b"1,5") == "expected a decimal point, got '1,5'; replace ',' with '.'"
    assert number_fault(b"1.0,2.0") == "expected spaces between numbers, got '1.0,2.0'; replace ',' with ' '"
    assert number_fault(b"1e13") == "expected a number from -1e+12 to 1e+12, got '1e13'"
    assert describe_bad_number(b"\xff" * 90).endswith("...'")


# Formatting.


def python_text(value: float, decimals: int) -> str:
    text = f"{value:.{decimals}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def is_half_way(value: float, decimals: int) -> bool:
    """Return whether rounding may go either way within the precision of a product."""
    scaled = abs(value) * 10.0**decimals
    return abs(scaled % 1.0 - 0.5) < 1e-15 * max(scaled, 1.0) + 1e-9


@pytest.mark.parametrize("decimals", [6, 8])
@pytest.mark.parametrize("scale", [1e-9, 1e-6, 1e-3, 1.0, 100.0, 1e5, 9.9e8, 1e11])
def test_formatting_agrees_with_python(decimals: int, scale: float) -> None:
    rng = np.random.default_rng(6)
    values = rng.normal(size=(100, 30)) * scale
    values[0, :6] = [0.0, -0.0, 1.0, -1.0, 1e-12, -1e-12]
    values[1] = np.rint(values[1])
    text = format_rows(values, decimals).decode()
    lines = text.split("\n")
    assert lines.pop() == ""
    for row, line in zip(values.tolist(), lines, strict=True):
        words = line.split(" ")
        for value, word in zip(row, words, strict=True):
            assert abs(float(word) - value) <= 0.5 * 10.0**-decimals * (1 + 1e-9) + 4e-16 * abs(value)
            if not is_half_way(value, decimals) and abs(value) * 10.0**decimals < 2.0**52:
                assert word == python_text(value, decimals)


def test_halves_round_to_a_neighbor() -> None:
    values = (np.arange(-50, 50) + 0.5) * 1e-6
    words = format_rows(values[None], 6).decode().split()
    assert all(abs(float(word) - value) <= 0.5000001e-6 for word, value in zip(words, values, strict=True))


def test_zeros_have_no_sign_and_numbers_no_trailing_zeros() -> None:
    values = np.array([[-0.0, -4e-7, 4e-7, 10.0, -10.5, 100.25, 0.1, 1e6]])
    assert format_rows(values, 6) == b"0 0 0 10 -10.5 100.25 0.1 1000000\n"
    assert format_rows(values, 0) == b"0 0 0 10 -10 100 0 1000000\n"
    assert format_rows(np.array([[-0.0, 2e9, -2.5e9]]), 6) == b"0 2000000000 -2500000000\n"


def test_shapes_and_what_cannot_be_written() -> None:
    assert format_rows(np.empty((3, 0)), 6) == b"\n\n\n"
    assert format_rows(np.array([[1.0], [2.0]]), 6) == b"1\n2\n"
    for bad in (np.nan, np.inf):
        with pytest.raises(InvalidValue, match="must be finite"):
            format_rows(np.array([[1.0, bad]]), 6)
