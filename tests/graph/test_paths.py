"""Paths from files and words."""

from __future__ import annotations

import string

import numpy as np
import pytest

from marey.errors import InvalidValue, ParseError, UnknownFormat, UnreadableFile
from marey.graph.letters import LETTERS
from marey.graph.paths import read_path, word_path


def test_csv_with_and_without_a_heading(tmp_path):
    for text in (
        "0,0\n1,2\n3,4\n",
        "x,z\n0,0\n1,2\n3,4\n",
        "# drawn by hand\n0 0\n1\t2\n\n3;4\n",
    ):
        (tmp_path / "p.csv").write_text(text)
        np.testing.assert_array_equal(read_path(tmp_path / "p.csv"), [[0, 0], [1, 2], [3, 4]])


def test_a_length_scales(tmp_path):
    (tmp_path / "p.csv").write_text("1,1\n1,3\n")
    np.testing.assert_allclose(read_path(tmp_path / "p.csv", length=10.0), [[0, 0], [0, 10]])


@pytest.mark.parametrize(
    ("drawn", "end", "on_the_way"),
    [
        ('<path d="M 0 0 L 3 -4"/>', (-3, 4), (-1.5, 2)),
        ('<path d="m1,1 l3,-4"/>', (-3, 4), (-1.5, 2)),
        ('<path d="M0 0 H4 V-4"/>', (-4, 4), (-4, 0)),
        ('<path d="M0,0 C0,-2 2,-4 4,-4"/>', (-4, 4), None),
        ('<path d="M0,0 Q0,-4 4,-4 T8,-4"/>', (-8, 4), (-4, 4)),
        ('<path d="M0,0 L0,-4 L4,-4 z M9 9 L8 8"/>', (0, 0), (-4, 4)),
        ('<polyline points="0,0 0,-4 4,-4"/>', (-4, 4), (0, 4)),
    ],
)
def test_drawings(tmp_path, drawn, end, on_the_way):
    (tmp_path / "p.svg").write_text(f"<svg xmlns='http://www.w3.org/2000/svg'>{drawn}</svg>")
    points = read_path(tmp_path / "p.svg", length=1.0)
    if end == (0, 0):
        np.testing.assert_allclose(points[-1], 0.0, atol=1e-12)
    else:
        np.testing.assert_allclose(points[-1] / np.abs(points[-1]).max(), np.array(end) / np.abs(end).max(), atol=1e-9)
        scale = points[-1][0] / end[0]
        if on_the_way is not None and on_the_way != end:
            assert _distance_to(points, np.array(on_the_way) * scale) < 1e-9
    assert np.hypot(*np.diff(points, axis=0).T).sum() == pytest.approx(1.0)


def _distance_to(points: np.ndarray, point: np.ndarray) -> float:
    a, b = points[:-1], points[1:]
    t = np.clip(((point - a) * (b - a)).sum(axis=1) / ((b - a) ** 2).sum(axis=1), 0.0, 1.0)
    return float(np.hypot(*(a + t[:, None] * (b - a) - point).T).min())


@pytest.mark.parametrize(
    ("name", "text", "error", "message"),
    [
        ("p.csv", "0,0\n1,zwei\n", ParseError, r"p.csv:2: expected x,z in meters, got '1,zwei'"),
        ("p.csv", "0,0\n1,2,3\n", ParseError, r"p.csv:2: expected x,z in meters"),
        ("p.csv", "0,0\n1,nan\n", ParseError, r"p.csv:2: expected finite numbers"),
        ("p.csv", "x,z\n", ParseError, "at least 2 points, but it has 0 points below the header 'x,z'; write x,z"),
        ("p.csv", "a;b\n1;2\n", ParseError, "at least 2 points, but it has 1 point below the header 'a;b'"),
        ("p.csv", "1,1\n1,1\n", ParseError, "p.csv:2: the point 1,1 repeats the one on the previous line; remove one"),
        ("p.csv", "x,z\n0,0\n\n1,2\n1.0,2\n3,4\n", ParseError, "p.csv:5: the point 1,2 repeats"),
        ("p.csv", "1,1\n", ParseError, "at least 2 points, but it has 1 point; write"),
        ("p.svg", "<svg><circle r='3'/></svg>", ParseError, "the file has no <path> or <polyline>; draw one"),
        ("p.svg", "<svg><path d='M0 0 A 1 1 0 0 1 2 2'/></svg>", ParseError, "path command 'A' is not supported"),
        ("p.svg", "<svg><path d='M0 0 L 1'/></svg>", ParseError, "path command 'L' needs 2 numbers, got 1"),
        ("p.txt", "0,0\n1,1\n", UnknownFormat, "expected a .csv or .svg file with the path to follow, got .txt"),
        ("p.csv", "", UnreadableFile, "the file is empty"),
    ],
)
def test_bad_files(tmp_path, name, text, error, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(error, match=message):
        read_path(tmp_path / name, length=5.0)


def test_a_drawing_needs_a_length(tmp_path):
    (tmp_path / "p.svg").write_text('<svg><path d="M 0 0 L 3 4"/></svg>')
    with pytest.raises(InvalidValue, match=r"a drawing has no unit; give the length .* as `length=`"):
        read_path(tmp_path / "p.svg")


def test_words_have_the_requested_width_and_one_stroke():
    path = word_path("Hello", 12.0)
    assert np.ptp(path[:, 0]) == pytest.approx(12.0)
    np.testing.assert_array_equal(path[0], 0.0)
    assert np.hypot(*np.diff(path, axis=0).T).min() > 0.0
    # For an observer who looks along +Z, its end is to the right of its beginning.
    assert path[-1, 0] < path[0, 0]


@pytest.mark.parametrize("letter", [*string.ascii_letters, *string.digits])
def test_every_letter_is_one_stroke_from_left_to_right_within_the_line(letter):
    points = np.array(LETTERS[letter])
    assert points[:, 1].min() >= (-1.0 if letter in "fgjpqy" else 0.0)
    assert points[:, 1].max() <= 2.0
    assert points[-1, 0] > points[0, 0] or letter in "S"
    assert (np.hypot(*np.diff(points, axis=0).T) > 0.0).all()
    assert np.ptp(word_path(f"n{letter}n", 6.0)[:, 0]) == pytest.approx(6.0)


@pytest.mark.parametrize(("word", "width"), [("", 3.0), ("Hélas", 3.0), ("on", 0.0), ("on", float("nan"))])
def test_bad_words(word, width):
    with pytest.raises(InvalidValue, match=r"word must contain only|width must be greater than 0 m"):
        word_path(word, width)
