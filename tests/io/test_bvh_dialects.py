"""Every dialect of one motion loads to that motion, with the kernel and with the slow reader alone, and can be saved.
Truncated or damaged files of it are never read as another motion.
"""

import re
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import marey
from marey.core import Motion
from marey.errors import MareyError, MareyWarning
from marey.io import bvh_read, bvh_rows
from marey.io.bvh_read import read_bvh
from tests.io.dialects import DIALECTS, FPS, Dialect, Style, cut, in_pieces, make_truth, read_nothing, render
from tests.tiers import mostly_slow
from tests.twins.bvh import evaluate

TRUTH = make_truth()


@cache
def make(name: str) -> Dialect:
    return DIALECTS[name](TRUTH)


@pytest.fixture(params=mostly_slow(["compiled", "careful", "compiled in halves"], "the same reader in parts", n_fast=2))
def _each_reader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "careful":
        monkeypatch.setattr(bvh_rows, "_clean_rows", read_nothing)
    elif request.param == "compiled in halves":
        monkeypatch.setattr(bvh_rows, "_LARGE", 0)
        monkeypatch.setattr(bvh_read, "_LARGE", 0)


def load(dialect: Dialect, folder: Path) -> tuple[Motion, list[str]]:
    """Return the motion and the warnings of loading it."""
    path = folder / "dialect.bvh"
    path.write_bytes(dialect.data)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        motion = marey.load_motion(path, unit="m", up="y", **dialect.options)
    assert all(issubclass(warning.category, MareyWarning) for warning in caught)
    return motion, [str(warning.message) for warning in caught]


def test_generator_agrees_with_the_evaluator() -> None:
    evaluated = evaluate(render(TRUTH))
    np.testing.assert_allclose(evaluated.positions, TRUTH.positions, atol=1e-7)
    assert np.ptp(TRUTH.positions, axis=0).max(axis=-1).min() > 0.1  # everything moves


def test_there_are_enough_dialects() -> None:
    assert len(DIALECTS) >= 100


@pytest.mark.usefixtures("_each_reader")
@pytest.mark.parametrize("name", DIALECTS)
def test_loads_to_the_truth(name: str, tmp_path: Path) -> None:
    dialect = make(name)
    motion, report = load(dialect, tmp_path)
    assert motion.skeleton.names == dialect.truth.names
    assert motion.skeleton.parents.tolist() == [node.parent for node in dialect.truth.nodes]
    assert motion.fps == FPS
    np.testing.assert_allclose(motion.world().positions, dialect.truth.positions, atol=dialect.tolerance)
    assert len(report) == len(dialect.warns), report
    for text, piece in zip(report, dialect.warns, strict=True):
        assert piece in text
        assert str(tmp_path / "dialect.bvh") in text


@pytest.mark.parametrize("name", DIALECTS)
def test_survives_a_save(name: str, tmp_path: Path) -> None:
    dialect = make(name)
    motion, _ = load(dialect, tmp_path)
    marey.save(motion, tmp_path / "again.bvh")
    written = (tmp_path / "again.bvh").read_bytes()
    with warnings.catch_warnings():
        warnings.simplefilter("error" if name not in ("duplicate_names",) else "ignore")
        again = marey.load_motion(tmp_path / "again.bvh", unit="m", up="y")
    assert again.skeleton.names == motion.skeleton.names
    assert again.fps == motion.fps
    assert again.source.channels == motion.source.channels
    np.testing.assert_allclose(again.source.file_offsets, motion.source.file_offsets, atol=1e-6)
    np.testing.assert_allclose(again.source.channel_values, motion.source.channel_values, atol=1e-6)
    np.testing.assert_allclose(again.world().positions, dialect.truth.positions, atol=dialect.tolerance + 1e-6)

    # Written files are tidy enough for the slow evaluator, and a second save changes nothing.
    evaluated = evaluate(written.decode())
    np.testing.assert_allclose(evaluated.positions, dialect.truth.positions, atol=dialect.tolerance + 1e-6)
    is_end = [node.heading.startswith("End Site") for node in evaluated.nodes]
    assert is_end == [node.is_end for node in dialect.truth.nodes]
    marey.save(again, tmp_path / "third.bvh")
    assert (tmp_path / "third.bvh").read_bytes() == written


def test_root_offset_that_channels_replace_is_reported(tmp_path: Path) -> None:
    motion, _ = load(DIALECTS["root_offset_with_position_channels"](TRUTH), tmp_path)
    assert "OFFSET 12 90 -7.5 of the root is replaced by its position channels" in motion.source.evidence


@pytest.mark.parametrize(("name", "encoding"), [("latin_1_names", "cp1252"), ("shift_jis_names", "cp932")])
def test_encoding_of_names_is_reported(name: str, encoding: str, tmp_path: Path) -> None:
    motion, _ = load(make(name), tmp_path)
    assert f"joint names are not UTF-8 and were read as {encoding}" in motion.source.evidence


def test_names_in_other_encodings_do_not_harm_the_motion(tmp_path: Path) -> None:
    report = TRUTH.renamed({"Hips": "骨盆", "Spine": "脊柱", "Head": "头"})
    for encoding in ("gbk", "euc-kr", "koi8-r", "cp1250"):
        data = render(report).encode(encoding, "replace")
        motion, _ = load(Dialect(data, report), tmp_path)
        np.testing.assert_allclose(motion.world().positions, TRUTH.positions, atol=2e-7)
        assert re.fullmatch(".+", motion.skeleton.names[0])


# Damage.

FIXED = Style(number="{:.6f}".format)
SHORT = cut(TRUTH, 3)


def load_quietly(data: bytes) -> tuple[np.ndarray, list[str]]:
    """Return the rows and the warnings."""
    raw = read_bvh(data, "x.bvh")
    return raw.source.channel_values, raw.warnings


def try_to_load(text: str) -> tuple[np.ndarray, list[str]] | MareyError:
    """Return the same, or the error."""
    try:
        return load_quietly(text.encode())
    except MareyError as error:
        return error


LAYOUTS = {
    "lf": render(SHORT, FIXED),
    "crlf": render(SHORT, FIXED).replace("\n", "\r\n"),
    "wrapped": in_pieces(SHORT, 7, FIXED),
    "one line": " ".join(render(SHORT, FIXED).split()) + "\n",
}


@pytest.mark.usefixtures("_each_reader")
@pytest.mark.parametrize("layout", mostly_slow(LAYOUTS, "reads a file cut off at every byte", n_fast=2))
def test_cut_off_anywhere_is_an_error_or_a_prefix_with_a_warning(layout: str) -> None:
    """Return the file with six decimals in every number, so that a truncated last number can be detected."""
    text = LAYOUTS[layout]
    whole, _ = load_quietly(text.encode())
    n_prefixes = 0
    # Before the first complete row there can only be an error, so every 11th place is enough. After that, the file is
    # cut at the ends of words, before its last digit, and at some other places.
    rows_begin = text.index("Frame Time: 0.0083333") + len("Frame Time: 0.0083333")
    first_row = rows_begin + (len(text) - rows_begin) // len(whole) - 100
    borders = {at for word in re.finditer(r"\S+", text) for at in (word.start(), word.end() - 1, word.end())}
    more = np.random.default_rng(7).choice(range(first_row, len(text)), 100, replace=False).tolist()
    for size in (*range(0, first_row, 11), *sorted(at for at in borders.union(more) if at >= first_row)):
        found = try_to_load(text[:size])
        if isinstance(found, MareyError):
            assert str(found).startswith("x.bvh")
            continue
        rows, report = found
        n_prefixes += 1
        np.testing.assert_array_equal(rows, whole[: len(rows)])
        is_all = len(rows) == len(whole)
        assert is_all == (text[size:].strip() == "")
        assert report or is_all
    assert n_prefixes > (1 if layout == "one line" else 250)


@pytest.mark.usefixtures("_each_reader")
def test_a_lost_or_doubled_number_is_never_read_as_motion() -> None:
    """In all rows but the last, where it is the same as a truncated row and is dropped with a warning."""
    lines = render(SHORT, FIXED).split("\n")
    first = lines.index("Frame Time: 0.0083333") + 1
    whole, _ = load_quietly("\n".join(lines).encode())
    rng = np.random.default_rng(3)
    for row in range(len(whole)):
        words = lines[first + row].split()
        k = int(rng.integers(len(words)))
        for changed in (words[:k] + words[k + 1 :], [*words[:k], words[k], *words[k:]]):
            text = "\n".join([*lines[: first + row], " ".join(changed), *lines[first + row + 1 :]])
            found = try_to_load(text)
            if isinstance(found, MareyError):
                assert found.line == first + row + 1
                continue
            rows, report = found
            assert row == len(whole) - 1
            assert len(changed) < len(words)
            assert "last row is cut short" in report[0]
            np.testing.assert_array_equal(rows, whole[:-1])


@pytest.mark.slow("reads 600 damaged files in three ways")
def test_all_readers_agree_on_damaged_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """For any damage, the kernel, at once or in halves, gives the result of the slow reader."""
    text = bytearray(render(SHORT, Style(number="{:.3f}".format)).encode())
    start = text.index(b"Frame Time")
    rng = np.random.default_rng(11)
    pieces = [bytes([byte]) for byte in b" -\n\r.e1+\t,\0\xa0x\x0c"] + [b"nan", b"E5"]
    seen = set()
    for _ in range(600):
        data = bytearray(text)
        for _ in range(int(rng.integers(1, 3))):
            at = int(rng.integers(start, len(data)))
            data[at : at + int(rng.integers(0, 3))] = pieces[int(rng.integers(len(pieces)))]
        report = []
        for clean_rows, large in ((bvh_rows._clean_rows, 1 << 30), (bvh_rows._clean_rows, 0), (read_nothing, 0)):
            monkeypatch.setattr(bvh_rows, "_LARGE", large)
            monkeypatch.setattr(bvh_rows, "_clean_rows", clean_rows)
            try:
                rows, warned = load_quietly(bytes(data))
                report.append((rows.tolist(), warned))
            except MareyError as error:
                report.append(([], [str(error)]))
            monkeypatch.undo()
        assert report[0] == report[1] == report[2]
        seen.add(bool(report[0][0]))
    assert seen == {True, False}
