"""Malformed BVH files: each has its own message with a line number. Damaged files are never read as another motion."""

import re
import subprocess
import sys
import textwrap
import warnings
from pathlib import Path

import numpy as np
import pytest

import marey
from marey.core import Motion
from marey.errors import FileError, LimitExceeded, MareyWarning, ParseError, UnknownName, UnreadableFile
from marey.io import bvh_read, bvh_rows
from marey.io.bvh_read import read_bvh
from marey.maths import euler, quat
from tests.io.dialects import make_truth, read_nothing, render
from tests.twins.bvh import evaluate

HIERARCHY = """\
HIERARCHY
ROOT Hips
{
\tOFFSET 0 0 0
\tCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
\tJOINT Chest
\t{
\t\tOFFSET 0.0 5.25 0.5
\t\tCHANNELS 3 Zrotation Xrotation Yrotation
\t\tEnd Site
\t\t{
\t\t\tOFFSET 0 8 0
\t\t}
\t}
}
"""
ROWS = ["1.5 2 3 4 5 6 7 8 9", "1.75 2 3 4 5 6 7 8 10", "2 2 3 4 5 6 7 8 11", "2.25 2 3 4 5 6 7 8 12"]
FIRST_ROW = 19  # the line number


@pytest.fixture(params=["compiled", "compiled in halves", "careful"])
def _each_reader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "careful":
        monkeypatch.setattr(bvh_rows, "_clean_rows", read_nothing)
    elif request.param == "compiled in halves":
        monkeypatch.setattr(bvh_rows, "_LARGE", 0)
        monkeypatch.setattr(bvh_read, "_LARGE", 0)


def bvh(hierarchy: str = HIERARCHY, frames: str = "Frames: 4", time: str = "Frame Time: 0.01", rows=ROWS) -> str:
    return f"{hierarchy}MOTION\n{frames}\n{time}\n" + "".join(row + "\n" for row in rows)


def with_row(k: int, row: str) -> str:
    return bvh(rows=[*ROWS[:k], row, *ROWS[k + 1 :]])


def with_line(line: str, new: str) -> str:
    assert HIERARCHY.count(line) == 1, line
    return bvh(HIERARCHY.replace(line, new))


def raises(text: str | bytes, message: str, line: int | None = None, kind: type[FileError] = ParseError) -> None:
    """Check a file's error: its type, its whole message and its line."""
    data = text if isinstance(text, bytes) else text.encode()
    with pytest.raises(kind) as caught:
        read_bvh(data, "bad.bvh")
    assert type(caught.value) is kind
    assert caught.value.sentence == message
    assert caught.value.line == line
    assert str(caught.value).startswith("bad.bvh" if line is None else f"bad.bvh:{line}: ")


# The hierarchy.

MALFORMED_HIERARCHIES = {
    "missing brace": (
        bvh(HIERARCHY.removesuffix("}\n")),
        "expected 1 more '}' before 'MOTION'; a brace is missing above",
        15,
    ),
    "two missing braces": (
        bvh(HIERARCHY.removesuffix("\t}\n}\n")),
        "expected 2 more '}' before 'MOTION'; a brace is missing above",
        14,
    ),
    "missing opening brace": (with_line("Chest\n\t{\n", "Chest\n"), "expected '{' after 'Chest', got 'OFFSET'", 7),
    "extra brace": (bvh(HIERARCHY + "}\n"), "expected ROOT or MOTION, got an extra '}'", 16),
    "extra brace within": (
        with_line("8 0\n\t\t}\n", "8 0\n\t\t}\n\t\t}\n"),
        "expected ROOT or MOTION, got an extra '}'",
        16,
    ),
    "extra opening brace": (
        with_line("Chest\n\t{\n", "Chest\n\t{ {\n"),
        "expected OFFSET, CHANNELS, JOINT, End Site or '}', got '{'",
        7,
    ),
    "OFFSET with 2 numbers": (
        with_line("OFFSET 0.0 5.25 0.5", "OFFSET 0.0 5.25"),
        "expected 3 OFFSET values, got 2",
        8,
    ),
    "OFFSET with 4 numbers": (
        with_line("OFFSET 0.0 5.25 0.5", "OFFSET 0.0 5.25 0.5 1"),
        "expected 3 OFFSET values, got 4",
        8,
    ),
    "OFFSET without numbers": (with_line("OFFSET 0.0 5.25 0.5", "OFFSET"), "expected 3 OFFSET values, got 0", 8),
    "OFFSET with a word": (
        with_line("OFFSET 0.0 5.25 0.5", "OFFSET 0.0 five 0.5"),
        "value 2 of OFFSET: expected a number, got 'five'",
        8,
    ),
    "OFFSET with decimal commas": (
        with_line("OFFSET 0.0 5.25 0.5", "OFFSET 0,0 5,25 0,5"),
        "value 1 of OFFSET: expected a decimal point, got '0,0'; replace ',' with '.'",
        8,
    ),
    "OFFSET separated by commas": (
        with_line("OFFSET 0.0 5.25 0.5", "OFFSET 0.0,5.25,0.5"),
        "value 1 of OFFSET: expected spaces between numbers, got '0.0,5.25,0.5'; replace ',' with ' '",
        8,
    ),
    "OFFSET not a number": (
        with_line("OFFSET 0.0 5.25 0.5", "OFFSET 0.0 nan 0.5"),
        "value 2 of OFFSET: expected a finite number, got 'nan'",
        8,
    ),
    "OFFSET too large": (
        with_line("OFFSET 0.0 5.25 0.5", "OFFSET 0.0 1e999 0.5"),
        "value 2 of OFFSET: expected a number from -1e+12 to 1e+12, got '1e999'",
        8,
    ),
    "OFFSET twice": (
        with_line("\t\tOFFSET 0.0 5.25 0.5\n", "\t\tOFFSET 0.0 5.25 0.5\n\t\tOFFSET 1 2 3\n"),
        "expected one OFFSET for 'Chest', got a second one",
        9,
    ),
    "CHANNELS twice": (
        with_line("\t\tEnd Site", "\t\tCHANNELS 1 Xrotation\n\t\tEnd Site"),
        "expected one CHANNELS for 'Chest', got a second one",
        10,
    ),
    "fewer CHANNELS than announced": (
        with_line("CHANNELS 3 Zrotation Xrotation Yrotation", "CHANNELS 3 Zrotation Xrotation"),
        "expected 3 CHANNELS for 'Chest', the number it states, got 2",
        10,
    ),
    "more CHANNELS than announced": (
        with_line("CHANNELS 3 Zrotation Xrotation Yrotation", "CHANNELS 2 Zrotation Xrotation Yrotation"),
        "expected 2 CHANNELS for 'Chest', the number it states, got more",
        9,
    ),
    "CHANNELS without a number": (
        with_line("CHANNELS 3 Zrotation Xrotation Yrotation", "CHANNELS Zrotation Xrotation Yrotation"),
        "expected the number of CHANNELS of 'Chest', got 'Zrotation'",
        9,
    ),
    "CHANNELS a negative number": (
        with_line("CHANNELS 3 Zrotation Xrotation Yrotation", "CHANNELS -3 Zrotation Xrotation Yrotation"),
        "expected the number of CHANNELS of 'Chest', got '-3'",
        9,
    ),
    "unknown channel": (
        with_line("CHANNELS 3 Zrotation Xrotation Yrotation", "CHANNELS 3 Zrotation Xscale Yrotation"),
        "expected a channel such as Xposition or Zrotation, got 'Xscale'",
        9,
    ),
    "position channel twice": (
        with_line("CHANNELS 6 Xposition Yposition Zposition", "CHANNELS 6 Xposition Yposition Xposition"),
        "expected each position channel of 'Hips' once, got Xposition Yposition Xposition",
        5,
    ),
    "CHANNELS after those of a child": (
        bvh(
            "HIERARCHY\nROOT A\n{\nOFFSET 0 0 0\nJOINT B\n{\nOFFSET 0 1 0\nCHANNELS 1 Xrotation\n}\n"
            "CHANNELS 1 Yrotation\n}\n",
            rows=["1 2"] * 4,
        ),
        "expected the CHANNELS of 'A' before those of its children, got them after",
        10,
    ),
    "End without Site": (
        with_line("End Site", "End Effector"),
        "expected 'End Site', got 'End' and 'Effector'",
        10,
    ),
    "unknown keyword": (
        with_line("OFFSET 0.0 5.25 0.5", "POSITION 0.0 5.25 0.5"),
        "expected OFFSET, CHANNELS, JOINT, End Site or '}', got 'POSITION'",
        8,
    ),
    "JOINT for ROOT": (
        with_line("ROOT Hips", "JOINT Hips"),
        "expected ROOT, got 'JOINT'",
        2,
    ),
    "ROOT within a tree": (
        with_line("JOINT Chest", "ROOT Chest"),
        "expected 1 more '}' before 'ROOT'; a brace is missing above",
        6,
    ),
    "no ROOT": ("HIERARCHY\n" + bvh(""), "expected a ROOT before MOTION, got no joints", 2),
    "no MOTION": (HIERARCHY, "expected a MOTION section, got the end of the file", 16),
    "end within the hierarchy": (
        HIERARCHY[: HIERARCHY.index("\t\tEnd")],
        "expected 2 more '}' before the end of the file; a brace is missing above",
        10,
    ),
    "only blanks": (" \n\t\r\n ", "not a BVH file: expected HIERARCHY, got the end of the file", 3),
    "something else": ('{"asset": 1}\n', "not a BVH file: expected HIERARCHY, got '{'", 1),
    "another text": ("solid cube\n facet", "not a BVH file: expected HIERARCHY, got 'solid'", 1),
    "no channels": (
        bvh(re.sub(r"\t+CHANNELS.*\n", "", HIERARCHY)),
        "the file holds no motion: no joint of its hierarchy has CHANNELS",
        None,
    ),
    "a long word": (
        "HIERARCHY " + "x" * 1000,
        f"expected ROOT, got '{'x' * 37}...'",
        1,
    ),
}


@pytest.mark.parametrize("name", MALFORMED_HIERARCHIES)
def test_malformed_hierarchy(name: str) -> None:
    raises(*MALFORMED_HIERARCHIES[name])


@pytest.mark.parametrize("ends", ["\r\n", "\r"])
def test_line_numbers_do_not_depend_on_line_ends(ends: str) -> None:
    text, message, line = MALFORMED_HIERARCHIES["OFFSET with a word"]
    raises(text.replace("\n", ends), message, line)
    raises(
        with_row(2, "2 2 x 4 5 6 7 8 11").replace("\n", ends),
        "number 3 of the line (column 5): expected a number, got 'x'",
        21,
    )


def test_binary_and_empty_files(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for size in (1, 10, 5000):
        with pytest.raises(ParseError, match="not a BVH file|expected UTF"):
            read_bvh(bytes(rng.integers(1, 256, size, dtype=np.uint8)), "noise.bvh")
    (tmp_path / "empty.bvh").write_bytes(b"")
    with pytest.raises(UnreadableFile, match=r"empty\.bvh: the file is empty"):
        marey.load(tmp_path / "empty.bvh")
    raises(b"\xff\xfe" + b"\x00\xd8" * 4, "the text is not valid UTF-16; save the file as UTF-8")


# The rows.

MALFORMED_ROWS = {
    "decimal commas": (
        bvh(rows=[row.replace(".", ",") for row in ROWS]),
        "number 1 of the line (column 1): expected a decimal point, got '1,5'; replace ',' with '.'",
        19,
    ),
    "a decimal comma": (
        with_row(3, "2 2 3 4 5 6 7 8 1,5"),
        "number 9 of the line (column 17): expected a decimal point, got '1,5'; replace ',' with '.'",
        22,
    ),
    "commas between numbers": (
        bvh(rows=[row.replace(" 2 ", ",2,") for row in ROWS]),
        "number 1 of the line (column 1): expected spaces between numbers, got '1.5,2,3'; replace ',' with ' '",
        19,
    ),
    "one number missing": (
        with_row(1, "1.75 2 3 4 5 6 7 8"),
        "expected 9 numbers in each row, got 8; add or remove numbers in this row",
        20,
    ),
    "one number missing in the first row": (
        with_row(0, "1 2 3 4 5 6 7 8"),
        "expected 9 numbers in each row, got 8; add or remove numbers in this row",
        19,
    ),
    "one number too many": (
        with_row(1, "1.75 2 3 4 5 6 7 8 10 11"),
        "expected 9 numbers in each row, got 10; add or remove numbers in this row",
        20,
    ),
    "one number too many in the last row": (
        with_row(3, "1.75 2 3 4 5 6 7 8 10 11"),
        "expected 9 numbers in each row, got 10; add or remove numbers in this row",
        22,
    ),
    "one missing here, one too many there": (
        bvh(rows=[ROWS[0], "1 2 3 4 5 6 7 8", "1 2 3 4 5 6 7 8 9 10", ROWS[3]]),
        "expected 9 numbers in each row, got 8; add or remove numbers in this row",
        20,
    ),
    "two rows of which halves are missing": (
        bvh(rows=[ROWS[0], "1 2 3 4 5", "6 7 8 9", ROWS[3]]),
        "expected 9 numbers in each row, got 5; add or remove numbers in this row",
        20,
    ),
    "rows of another hierarchy": (
        bvh(rows=[row + " 1 2 3" for row in ROWS]),
        "expected 9 numbers in each row, got 12; add or remove numbers in this row",
        19,
    ),
    "rows of a third of the numbers": (
        bvh(frames="Frames: 6", rows=["1 2 3"] * 6),
        "expected 9 numbers in each row, got 3; add or remove numbers in this row",
        19,
    ),
    "rows of twice the numbers": (
        bvh(rows=[f"{row} {row}" for row in ROWS]),
        "expected 9 numbers in each row, got 18; add or remove numbers in this row",
        19,
    ),
    "wrapped rows of which no number is announced": (
        bvh(frames="", rows=["1 2 3"] * 6),
        "expected 9 numbers in each row, got 3; add or remove numbers in this row",
        19,
    ),
    "one line of rows of which no number is announced": (
        bvh(frames="", rows=[" ".join(ROWS)]),
        "expected 9 numbers in each row, got 36; add or remove numbers in this row",
        19,
    ),
    "the first row beside an empty frame time": (
        bvh(time="Frame Time", frames="Frames", rows=["1 2 3 4 5 6 7 8"]),
        "expected 9 numbers in each row, got 8; add or remove numbers in this row",
        19,
    ),
    "one row with one number too many": (
        bvh(frames="Frames: 1", rows=[ROWS[0] + " 1"]),
        "expected 9 numbers in each row, got 10; add or remove numbers in this row",
        19,
    ),
    "all on one line, one number missing": (
        bvh(rows=[" ".join(ROWS).removesuffix(" 12")]),
        "expected 9 numbers in each row, got 35; add or remove numbers in this row",
        19,
    ),
    "one short row": (
        bvh(rows=["1 2 3"]),
        "expected 9 numbers in each row, got 3; add or remove numbers in this row",
        19,
    ),
    "a word in the middle": (
        with_row(1, "1.75 2 3 4 five 6 7 8 10"),
        "number 5 of the line (column 12): expected a number, got 'five'",
        20,
    ),
    "a word in the middle of the last row": (
        with_row(3, "1.75 2 3 4 five 6 7 8 10"),
        "number 5 of the line (column 12): expected a number, got 'five'",
        22,
    ),
    "a word after the last number": (
        with_row(3, "1.75 2 3 4 5 6 7 8 10 eleven"),
        "number 10 of the line (column 23): expected a number, got 'eleven'",
        22,
    ),
    "a word between rows": (
        bvh(rows=[*ROWS[:2], "pause", *ROWS[2:]]),
        "number 1 of the line (column 1): expected a number, got 'pause'",
        21,
    ),
    "a comment between rows": (
        bvh(rows=[*ROWS[:2], "# 1 2 3 4 5 6 7 8 9", *ROWS[2:]]),
        "number 1 of the line (column 1): expected a number, got '#'",
        21,
    ),
    "a word between wrapped rows": (
        bvh(rows=["1 2 3 4 5", "6 7 8 9", "pause", "1 2 3 4 5", "6 7 8 9"], frames="Frames: 2"),
        "number 1 of the line (column 1): expected a number, got 'pause'",
        21,
    ),
    "a second file behind": (
        bvh() + bvh(),
        "number 1 of the line (column 1): expected a number, got 'HIERARCHY'",
        23,
    ),
    "a number with two points": (
        with_row(1, "1.75 2 3.1.4 4 5 6 7 8 10"),
        "number 3 of the line (column 8): expected a number, got '3.1.4'",
        20,
    ),
    "a hexadecimal number": (
        with_row(1, "1.75 2 0x1F 4 5 6 7 8 10"),
        "number 3 of the line (column 8): expected a number, got '0x1F'",
        20,
    ),
    "digits with underscores": (
        with_row(1, "1.75 2 1_0 4 5 6 7 8 10"),
        "number 3 of the line (column 8): expected a number, got '1_0'",
        20,
    ),
    "letters instead of rows": (
        bvh(rows=["once upon a time"]),
        "number 1 of the line (column 1): expected a number, got 'once'",
        19,
    ),
    "no rows": (bvh(rows=[]), "expected rows of numbers in the MOTION section, got none", 18),
    "no rows announced": (
        bvh(frames="Frames: 0", rows=[]),
        "expected rows of numbers in the MOTION section, got none",
        18,
    ),
    "MOTION alone": (HIERARCHY + "MOTION", "expected rows of numbers in the MOTION section, got none", 16),
    "a frame count that is none": (
        bvh(frames="Frames: many"),
        "number 1 of the line (column 9): expected a number, got 'many'",
        17,
    ),
}
for _word in ("nan", "NaN", "inf", "-inf", "-nan(ind)", "1.#QNAN", "-1.#IND00", "1.#INF", "Infinity"):
    MALFORMED_ROWS[_word] = (
        with_row(1, f"  1.75\t2 3 4 {_word} 6 7 8 10"),
        f"number 5 of the line (column 14): expected a finite number, got '{_word}'",
        20,
    )
for _word in ("1e999", "-1e999", "1e13", "9" * 13, "-3.4e38"):
    MALFORMED_ROWS[_word] = (
        with_row(2, f"1.75 2 3 4 5 6 7 8 {_word}"),
        f"number 9 of the line (column 20): expected a number from -1e+12 to 1e+12, got '{_word}'",
        21,
    )


@pytest.mark.usefixtures("_each_reader")
@pytest.mark.parametrize("name", MALFORMED_ROWS)
def test_malformed_rows(name: str) -> None:
    raises(*MALFORMED_ROWS[name])


def test_place_of_a_bad_number_when_all_is_on_one_line() -> None:
    text = " ".join(bvh().split()).replace("2.25", "nan")
    with pytest.raises(ParseError, match="number 28 of the line .column ") as caught:
        read_bvh(text.encode(), "one.bvh")
    column = int(re.search(r"column (\d+)", str(caught.value))[1])
    assert text[column - 1 :].startswith("nan")
    assert caught.value.line == 1


def test_place_of_a_bad_number_in_utf16() -> None:
    with pytest.raises(ParseError, match=r"x\.bvh:21: number 8 of the line \(column 15\)"):
        read_bvh(with_row(2, "2 2 3 4 5 6 7 nan 11").encode("utf-16"), "x.bvh")


# Rates.


REMEDY = "give the rate as `file_fps=`"


@pytest.mark.parametrize(
    ("time", "message", "line"),
    [
        ("", "expected a frame time, got none; " + REMEDY, None),
        ("Frame Time:", "expected a frame time, got none; " + REMEDY, None),
        ("Frame Time: 0", "expected a frame time of 1e-5 to 1e5 s, got '0'; " + REMEDY, 18),
        ("Frame Time: -0.01", "expected a frame time of 1e-5 to 1e5 s, got '-0.01'; " + REMEDY, 18),
        ("Frame Time: 1e-300", "expected a frame time of 1e-5 to 1e5 s, got '1e-300'; " + REMEDY, 18),
        ("Frame Time: 0,01", "expected a decimal point in the frame time, got '0,01'; " + REMEDY, 18),
        ("Frame Time: nan", "expected a frame time in seconds, got 'nan'; " + REMEDY, 18),
        ("Frame Time: fast", "expected a frame time in seconds, got 'fast'; " + REMEDY, 18),
        ("Frame Time: 1_0", "expected a frame time in seconds, got '1_0'; " + REMEDY, 18),
    ],
)
def test_frame_times_that_are_none(time: str, message: str, line: int | None) -> None:
    raises(bvh(time=time), message, line)
    assert read_bvh(bvh(time=time).encode(), "x.bvh", fps=25).fps == 25.0


def test_unknown_root() -> None:
    with pytest.raises(UnknownName, match=r"x\.bvh: no root 'hip'; the file has 'Hips'; similar: 'Hips'"):
        read_bvh(bvh().encode(), "x.bvh", root="hip")
    for wrong in (1, -1):
        with pytest.raises(UnknownName, match=f"no root {wrong}"):
            read_bvh(bvh().encode(), "x.bvh", root=wrong)


# Layouts that can be read in one way only, and how that is made sure.


@pytest.mark.usefixtures("_each_reader")
@pytest.mark.parametrize(
    "rows",
    [
        [*ROWS[:2], "2 2 3 4 5", "6 7 8 11", ROWS[3]],
        [*ROWS[:2], f"{ROWS[2]} {ROWS[3]}"],
        [ROWS[0], "", "  ", *ROWS[1:]],
    ],
    ids=["one row wrapped", "two rows on a line", "blank lines"],
)
def test_odd_layouts_that_the_header_confirms(rows: list[str]) -> None:
    raw = read_bvh(bvh(rows=rows).encode(), "x.bvh")
    assert raw.warnings == []
    assert raw.source.channel_values.tolist() == [[float(word) for word in row.split()] for row in ROWS]
    confirmed = [row for row in rows if row.strip()] != rows
    if not confirmed:
        with pytest.raises(ParseError, match="expected 9 numbers in each row, got (5|18); add or remove numbers"):
            read_bvh(bvh(rows=rows, frames="Frames: 5").encode(), "x.bvh")


def test_a_single_channel_reads_by_lines_or_by_count() -> None:
    hierarchy = "HIERARCHY\nROOT A\n{\nOFFSET 0 0 0\nCHANNELS 1 Xrotation\n}\n"
    for rows in (["1", "2", "3", "4"], ["1 2 3 4"], ["1 2", "3 4"]):
        raw = read_bvh(bvh(hierarchy, rows=rows).encode(), "x.bvh")
        assert raw.source.channel_values.ravel().tolist() == [1.0, 2.0, 3.0, 4.0]
    with pytest.raises(ParseError, match="expected 1 number in each row, got 2; add or remove numbers in this row"):
        read_bvh(bvh(hierarchy, frames="Frames: 3", rows=["1", "2 3", "4"]).encode(), "x.bvh")


def test_cut_number_of_varying_length_is_kept_with_a_warning_where_rows_are_missing() -> None:
    text = bvh(rows=[*ROWS[:2], "2 2 3 4 5 6 7 8 1"]).rstrip("\n")
    raw = read_bvh(text.encode(), "x.bvh")
    assert len(raw.source.channel_values) == 3
    assert raw.warnings == [
        "the header announces 4 frames, but there are 3 rows; all rows are read "
        "(the file ends without a line end, so its last number may be cut off)"
    ]


# Size.


def chain(n_joints: int, rows: list[str]) -> str:
    """Make a chain of joints, of which the first has all six channels."""
    opened = [f"JOINT J{k}\n{{\nOFFSET 0 0.01 0\nCHANNELS 1 {'XYZ'[k % 3]}rotation\n" for k in range(1, n_joints)]
    root = "ROOT J0\n{\nOFFSET 0 0 0\nCHANNELS 6 " + " ".join(HIERARCHY.split("CHANNELS 6 ")[1].split()[:6]) + "\n"
    return bvh("HIERARCHY\n" + root + "".join(opened) + "}\n" * n_joints, f"Frames: {len(rows)}", rows=rows)


@pytest.mark.slow("writes a skeleton of 5000 joints")
def test_a_chain_of_5000_joints_is_read_and_written(tmp_path: Path) -> None:
    rows = [" ".join(f"{(k * 7 + f) % 5 / 10:g}" for k in range(5005)) for f in range(3)]
    (tmp_path / "chain.bvh").write_text(chain(5000, rows))
    motion = marey.load(tmp_path / "chain.bvh", unit="m", up="y")
    assert len(motion.skeleton) == 5000
    marey.save(motion, tmp_path / "again.bvh")
    written = (tmp_path / "again.bvh").read_text()
    assert len(written) < 8_000_000  # not a file of tabs
    again = marey.load(tmp_path / "again.bvh", unit="m", up="y")
    np.testing.assert_allclose(again.world().positions, motion.world().positions, atol=1e-6)
    truth = evaluate(written, every=3).positions
    np.testing.assert_allclose(motion.world().positions[0], truth[0], atol=1e-6)


def test_too_deep_and_too_many() -> None:
    deep = chain(10_001, ["0 " * 10_006])
    raises(deep, "joints are nested more than 10000 levels deep (the maximum)", 6 + 4 * 9_999, LimitExceeded)
    sites = "End Site { OFFSET 0 1 0 }\n" * 25_000
    many = HIERARCHY.replace("\tJOINT", sites + "\tJOINT")
    raises(bvh(many), "the hierarchy has more than 20000 joints (the maximum)", None, LimitExceeded)


def test_joints_of_one_name_take_no_time() -> None:
    ends = "JOINT A\n{\nOFFSET 0 1 0\nEnd Site\n{\nOFFSET 0 1 0\n}\n}\n" * 8000
    raw = read_bvh(bvh(HIERARCHY.replace("\tJOINT", ends + "\tJOINT")).encode(), "x.bvh")
    assert len(set(raw.names)) == 16_003
    assert raw.names[-4:] == ("A_8000", "A_8000End", "Chest", "ChestEnd")
    assert len(raw.warnings) == 1
    assert "and 7994 more" in raw.warnings[0]


def test_an_announced_count_alone_takes_no_memory() -> None:
    raw = read_bvh(bvh(frames="Frames: 999999999999").encode(), "x.bvh")
    assert len(raw.source.channel_values) == 4


@pytest.mark.slow("reads words of a million characters")
def test_long_words_and_long_blanks_take_no_time() -> None:
    for junk in ("1" * 1_000_000 + "x", "-" * 1_000_000, "1-" * 500_000, "." * 1_000_000, "1e" * 500_000):
        with pytest.raises(ParseError, match="number 1 of the line"):
            read_bvh(bvh(rows=[junk]).encode(), "x.bvh")
    raw = read_bvh(bvh(rows=[row.replace(" ", " " * 50_000) for row in ROWS]).encode(), "x.bvh")
    assert len(raw.source.channel_values) == 4


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the peak memory as Linux reports it")
def test_memory_is_at_most_six_times_the_file(tmp_path: Path) -> None:
    path = tmp_path / "large.bvh"
    truth = make_truth()
    block = render(truth).partition("Frame Time: 0.0083333\n")
    n_blocks = 12_000_000 // len(block[2])
    with path.open("w") as stream:
        stream.write((block[0] + block[1]).replace("Frames: 40", f"Frames: {40 * n_blocks}"))
        for _ in range(n_blocks):
            stream.write(block[2])
    code = f"""
        import re
        from pathlib import Path
        import marey

        def memory(kind):
            return 1024 * int(re.search(kind + r":\\s*(\\d+) kB", Path("/proc/self/status").read_text())[1])

        marey.load({str(path.with_name("small.bvh"))!r}, unit="m")
        before = memory("VmRSS")
        motion = marey.load({str(path)!r}, unit="m")
        assert len(motion) == {40 * n_blocks}
        print((memory("VmHWM") - before) / {path.stat().st_size})
    """
    path.with_name("small.bvh").write_text(render(truth))
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert 0.5 < float(done.stdout) <= 6.0


def test_warnings_reach_the_user(tmp_path: Path) -> None:
    path = tmp_path / "short.bvh"
    path.write_text(bvh(rows=ROWS[:3]))
    with pytest.warns(MareyWarning, match=r"short\.bvh: the header announces 4 frames, but there are 3 rows"):
        motion = marey.load(path)
    assert isinstance(motion, Motion)
    path.write_text(bvh())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        marey.load(path)


def test_rotations_are_products_about_the_axes_with_continuous_signs() -> None:
    # Angles that wrap at 180 degrees, in one joint at another time than in the other.
    turn = (np.arange(60) * 11.0 + 180.0) % 360.0 - 180.0
    rows = [f"0 0 0 {a:g} 0 20 {b:g} 30 0" for a, b in zip(turn, np.roll(turn, 7), strict=True)]
    text = bvh(frames="Frames: 60", rows=rows).encode()
    raw = read_bvh(text, "walk.bvh")
    assert ((raw.rotations[1:] * raw.rotations[:-1]).sum(axis=-1) > 0.0).all()
    angles = np.radians(raw.source.channel_values[:, 3:].reshape(60, 2, 3))
    expected = quat.unroll(euler.from_axes(angles, "ZXY"))
    np.testing.assert_allclose(raw.rotations[:, :2], expected, atol=1e-14)


def test_a_rotation_channel_twice_in_a_row_is_warned_of_with_its_line() -> None:
    data = with_line("CHANNELS 3 Zrotation Xrotation Yrotation", "CHANNELS 3 Xrotation Xrotation Yrotation")
    raw = read_bvh(data.encode(), "a.bvh")
    assert raw.warnings == ["a rotation channel is named twice in a row, and both are applied: line 9"]
    euler = with_line("CHANNELS 3 Zrotation Xrotation Yrotation", "CHANNELS 3 Xrotation Yrotation Xrotation")
    assert read_bvh(euler.encode(), "a.bvh").warnings == []
