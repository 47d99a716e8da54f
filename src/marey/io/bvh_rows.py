"""Parse the MOTION section of a BVH file: frame count, frame time, and the rows of numbers.

A kernel reads rows as long as they are clean. At the first irregular line, a slower reader takes over. It drops a
truncated last row and trailing junk with a warning. It splits rows that are wrapped over several lines or share a line,
if that is unambiguous, and raises an error with the position for anything else. Rows are never shifted.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from marey.core.arrays import Floats, set_readonly
from marey.errors import ParseError, plural
from marey.io import limits
from marey.io.bvh_header import line_number
from marey.io.bvh_kernels import parse_rows
from marey.io.raw import CUT_OFF
from marey.io.text_numbers import LARGEST, describe_bad_number, number_fault, parse_numbers, quote
from marey.io.threads import run_in_halves

# Minimum number of bytes for which two threads are faster than one.
_LARGE = 1_000_000

_FRAMES = re.compile(rb"\s*frames[ \t]*:?[ \t]*([+-]?\d\S*)?", re.IGNORECASE)
_FRAME_TIME = re.compile(rb"\s*frame[ \t_]*time[ \t]*:?[ \t]*(\S*)", re.IGNORECASE)
_LINE = re.compile(rb"[^\r\n]+")
_PADDING = b" \t\r\n\0\x1a"  # blanks, and bytes that some programs pad the end of a file with


class Rows(NamedTuple):
    """The content of the MOTION section.

    values : (F, C) the numbers in the rows. frame_time_text, frame_time_line : the text of the frame time, None if
        missing, and its line number.
    warnings : oddities that did not prevent reading the section.
    """

    values: Floats
    frame_time_text: str | None
    frame_time_line: int | None
    warnings: list[str]


class _Section:
    """The MOTION section: its rows are between the bytes `start` and `stop` of the file.

    n_columns : numbers per row, from the hierarchy. n_announced : number of frames that the file states.
    """

    def __init__(
        self, data: bytes, path: str, start: int, n_columns: int, n_announced: int | None, warnings: list[str]
    ) -> None:
        self.data, self.path = data, path
        self.start, self.stop = start, _content_end(data)
        self.n_columns, self.n_announced = n_columns, n_announced
        self.warnings = warnings

    def error(self, message: str, position: int) -> ParseError:
        return ParseError(message, path=self.path, line=line_number(self.data, position))


def parse_motion(data: bytes, start: int, n_columns: int, path: str) -> Rows:
    """Parse everything after the keyword MOTION, which ends at byte `start`."""
    warnings: list[str] = []
    n_announced, time, start = _parse_preamble(data, start, warnings)
    section = _Section(data, path, start, n_columns, n_announced, warnings)
    if n_columns == 0:
        raise ParseError("the file holds no motion: no joint of its hierarchy has CHANNELS", path=path)
    if section.start >= section.stop:
        raise section.error("expected rows of numbers in the MOTION section, got none", section.stop)
    values, at = _clean_rows(section)
    is_complete = True
    if at < section.stop:
        values, is_complete = _careful_rows(section, at, values)
    if is_complete and _ends_within_number(section):
        values = values[:-1]
        warnings.append(f"the file ends within a number and {CUT_OFF}; its last row was dropped")
    n_frames = len(values)
    if n_frames == 0:
        raise section.error("expected rows of numbers in the MOTION section, got no complete row", start)
    limits.check_frames(n_frames, path)
    if n_announced is None:
        warnings.append(f"the number of frames is not given; {plural(n_frames, 'row')} found")
    elif n_announced != n_frames:
        rows = f"there {'is' if n_frames == 1 else 'are'} {plural(n_frames, 'row')}"
        message = f"the header announces {plural(n_announced, 'frame')}, but {rows}; all rows are read"
        if n_announced > n_frames + 1:  # some programs count one frame too many
            message += f"; the file {CUT_OFF}"
        if n_announced > n_frames and section.stop == len(data):
            message += " (the file ends without a line end, so its last number may be cut off)"
        warnings.append(message)
    if time is None or not time[1]:
        return Rows(values, None, None, warnings)
    return Rows(values, time[1].decode("latin-1"), line_number(data, time.start(1)), warnings)


def _parse_preamble(data: bytes, position: int, warnings: list[str]) -> tuple[int | None, re.Match[bytes] | None, int]:
    """Parse ``Frames:`` and ``Frame Time:`` in either order.

    Return the number of frames (None if missing or invalid), the match of the frame time, and the byte where the rows
    begin.
    """
    frames: re.Match[bytes] | None = None
    time: re.Match[bytes] | None = None
    while True:
        if time is None and (match := _FRAME_TIME.match(data, position)) is not None:
            time = match
        elif frames is None and (match := _FRAMES.match(data, position)) is not None:
            frames = match
        else:
            break
        position = match.end()
    count = frames[1] if frames is not None else None
    if count is None:
        return None, time, position
    integer, _, decimals = count.lstrip(b"+-").partition(b".")
    if not integer.isdigit() or len(integer) > 18 or decimals.strip(b"0"):
        warnings.append(f"the number of frames is not a whole number: {quote(count)}")
        return None, time, position
    return int(float(count)), time, position


def _content_end(data: bytes) -> int:
    """Return the byte position after the last byte that is not padding."""
    end, step = len(data), 1 << 16
    while end > 0:
        rest = data[max(end - step, 0) : end].rstrip(_PADDING)
        end = max(end - step, 0) + len(rest)
        if rest:
            break
    return end


def _clean_rows(section: _Section) -> tuple[Floats, int]:
    """Read rows (F, C) up to the first irregular line; also return the byte position of that line, or of the end."""
    rows, at = _parse_clean_rows(section)
    if len(rows) and not max(rows.max(), -rows.min()) <= LARGEST:
        return rows[:0], section.start
    return rows, at


def _parse_clean_rows(section: _Section) -> tuple[Floats, int]:
    """Do the work of `_clean_rows`, but accept numbers of any size."""
    data, start, n_columns = section.data, section.start, section.n_columns
    text = np.frombuffer(data, np.uint8)
    # The kernel needs a line end to stop at; a last line without one is read on its own.
    last_end = max(data.rfind(b"\n", start), data.rfind(b"\r", start), start - 1) + 1
    max_rows = (section.stop - start) // (2 * n_columns) + 1  # a number takes at least two bytes
    expected = max_rows if section.n_announced is None else max(section.n_announced, 0) + 1
    for room in (min(expected, max_rows), max_rows):
        flat = np.empty(room * n_columns)
        n_rows, end = 0, start
        if last_end - start >= _LARGE:
            n_rows, end = _parse_halves(data, start, last_end, n_columns, flat)
        if end < last_end and n_rows < room:
            more, end = parse_rows(text, end, last_end, n_columns, flat[n_rows * n_columns :])
            n_rows += more
        if n_rows < room:
            break
    if last_end <= end < section.stop:
        tail = np.frombuffer(data[end : section.stop] + b"\n", np.uint8)
        more, _ = parse_rows(tail, 0, len(tail), n_columns, flat[n_rows * n_columns :])
        n_rows, end = n_rows + more, section.stop if more else end
    values = set_readonly(flat)[: n_rows * n_columns]
    if values.size < 0.8 * flat.size:  # free unused memory
        values = values.copy()
    return values.reshape(n_rows, n_columns), end


def _parse_halves(data: bytes, start: int, stop: int, n_columns: int, out: Floats) -> tuple[int, int]:
    """Run `parse_rows` in two threads. Parsing may stop at the middle if the second half does not fit or lines have no
    LF.

    Rows have similar lengths, so each half of the text has about half of the rows.
    """
    middle = data.find(b"\n", (start + stop) // 2, stop) + 1
    if not middle:
        return 0, start
    text = np.frombuffer(data, np.uint8)
    second = np.empty((len(out) // n_columns // 2 + 2) * n_columns)

    def parse(first: int, last: int) -> tuple[int, int]:
        return parse_rows(text, first, last, n_columns, out if first == start else second)

    (n_rows, end), (n_more, second_end) = run_in_halves(parse, start, middle, stop)
    if end == middle and (n_rows + n_more) * n_columns <= len(out):
        out[n_rows * n_columns : (n_rows + n_more) * n_columns] = second[: n_more * n_columns]
        n_rows, end = n_rows + n_more, second_end
    return n_rows, end


def _careful_rows(section: _Section, position: int, done: Floats) -> tuple[Floats, bool]:
    """Append the rows from byte `position` on to `done`, line by line; also return whether the last row is complete."""
    from array import array  # rarely needed, like this whole function

    numbers = array("d")
    ends: list[int] = []  # cumulative count of numbers at the end of each line
    bad = None
    odd: tuple[int, int] | None = None  # position and number count of the first irregular line
    for line in _LINE.finditer(section.data, position, section.stop):
        found, bad = parse_numbers(line[0])
        if bad is not None:
            has_rows = len(done) > 0 or len(numbers) >= section.n_columns
            _check_last_word(section, line.start() + bad.start(), len(found), has_rows)
        elif not found:
            continue
        if odd is None and len(found) != section.n_columns:
            odd = (line.start(), len(found))
        numbers.extend(found)
        ends.append(len(numbers))
        if bad is not None:
            break
    n_rows, over = divmod(len(numbers), section.n_columns)
    if odd is not None and not _is_unambiguous(section, np.array(ends), len(done)):
        raise section.error(
            f"expected {plural(section.n_columns, 'number')} in each row, got {odd[1]}; "
            "add or remove numbers in this row",
            odd[0],
        )
    if over:
        section.warnings.append(
            f"the last row is cut short ({over} of {section.n_columns} numbers) and was dropped; the file {CUT_OFF}"
        )
    if n_rows > 0:
        rows = np.frombuffer(numbers, count=n_rows * section.n_columns).reshape(n_rows, section.n_columns)
        done = np.concatenate([done, rows])
    return done, over == 0 and bad is None


def _check_last_word(section: _Section, position: int, n_before: int, has_rows: bool) -> None:
    """Raise an error for the word at byte `position`, which is not a number, unless the motion can end there.

    It can if junk follows the last row, or if the last row is truncated within a number. `n_before` numbers precede the
    word on its line.
    """
    data = section.data
    word = data[position : section.stop].split(None, 1)[0]
    breaks_off = position + len(word) == section.stop and 0 < n_before < section.n_columns
    is_junk = n_before == 0 and not _has_row(section, position)
    if not has_rows or number_fault(word) is not None or not (breaks_off or is_junk):
        column = position - max(data.rfind(b"\n", 0, position), data.rfind(b"\r", 0, position))
        raise section.error(
            f"number {n_before + 1} of the line (column {column}): {describe_bad_number(word)}", position
        )
    if is_junk:
        section.warnings.append(
            f"text after the last row was ignored: {quote(word)} on line {line_number(data, position)}"
        )


def _has_row(section: _Section, position: int) -> bool:
    """Return whether the lines from byte `position` on have at least as many numbers as one row."""
    count = 0
    for line in _LINE.finditer(section.data, position, section.stop):
        found, bad = parse_numbers(line[0])
        count += len(found) if bad is None else 0
        if count >= section.n_columns:
            return True
    return False


def _is_unambiguous(section: _Section, ends: np.ndarray, n_done: int) -> bool:
    """Return whether irregular lines can be split into rows in only one way.

    `ends` counts the numbers up to the end of each line. A short last line is a truncated row. Otherwise row ends must
    coincide with line ends. Missing numbers could produce the same pattern, so in addition all rows must be wrapped, or
    all must be on one line, or the resulting number of rows must match the header. If the header's number matches the
    number of lines instead, each line is a row, and some are damaged.
    """
    n_columns, n_announced = section.n_columns, section.n_announced
    counts = np.diff(ends, prepend=0)
    if (counts[:-1] == n_columns).all() and counts[-1] <= n_columns and n_done + len(ends) > 1:
        return True
    n_rows = int(ends[-1]) // n_columns
    lines_end_with_rows = bool((ends % n_columns == 0).all())
    rows_end_with_lines = bool(np.isin(np.arange(1, n_rows + 1) * n_columns, ends).all())
    if not (lines_end_with_rows or rows_end_with_lines):
        return False
    if n_announced == n_done + n_rows:
        return True
    is_regular = n_done == 0 and (n_columns not in counts if rows_end_with_lines else len(ends) == 1)
    return is_regular and n_rows > 0 and n_announced not in (None, len(ends))


def _ends_within_number(section: _Section) -> bool:
    """Return whether the file is truncated within its last number: no newline follows, and decimals are missing.

    This can be detected only if all earlier numbers have the same number of decimals.
    """
    if section.stop < len(section.data):
        return False
    start = max(section.start, section.stop - (1 << 16))
    *before, last = (len(word.partition(b".")[2]) for word in section.data[start : section.stop].split())
    before = before[start > section.start :]  # the first word may be incomplete
    return len(before) >= 20 and len(set(before)) == 1 and last < before[0]
