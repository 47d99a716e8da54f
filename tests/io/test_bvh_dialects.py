"""Every dialect of one motion loads to that motion, by compiled kernels and without them, and survives a save."""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import marey
from marey.core import Motion
from marey.errors import MareyWarning
from marey.io import bvh_read, bvh_rows
from tests.io.dialects import DIALECTS, FPS, Dialect, make_truth, render
from tests.twins.bvh import evaluate

TRUTH = make_truth()


@pytest.fixture(params=["compiled", "plain"])
def _each_path(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (bvh_rows, bvh_read):
        monkeypatch.setattr(module, "worthwhile", lambda work, break_even: request.param == "compiled")


def load(dialect: Dialect, folder: Path) -> tuple[Motion, list[str]]:
    """The motion and the warnings that came with it."""
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


@pytest.mark.usefixtures("_each_path")
@pytest.mark.parametrize("name", DIALECTS)
def test_loads_to_the_truth(name: str, tmp_path: Path) -> None:
    dialect = DIALECTS[name](TRUTH)
    motion, told = load(dialect, tmp_path)
    assert motion.skeleton.names == dialect.truth.names
    assert motion.skeleton.parents.tolist() == [node.parent for node in dialect.truth.nodes]
    assert motion.fps == FPS
    np.testing.assert_allclose(motion.world().positions, dialect.truth.positions, atol=dialect.tolerance)
    assert len(told) == len(dialect.warns), told
    for text, piece in zip(told, dialect.warns, strict=True):
        assert piece in text
        assert str(tmp_path / "dialect.bvh") in text


@pytest.mark.parametrize("name", DIALECTS)
def test_survives_a_save(name: str, tmp_path: Path) -> None:
    dialect = DIALECTS[name](TRUTH)
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

    # What we write is tidy enough for the slow evaluator, and a second save changes nothing.
    evaluated = evaluate(written.decode())
    np.testing.assert_allclose(evaluated.positions, dialect.truth.positions, atol=dialect.tolerance + 1e-6)
    is_end = [node.heading.startswith("End Site") for node in evaluated.nodes]
    assert is_end == [node.is_end for node in dialect.truth.nodes]
    marey.save(again, tmp_path / "third.bvh")
    assert (tmp_path / "third.bvh").read_bytes() == written


def test_root_offset_that_channels_replace_is_told(tmp_path: Path) -> None:
    motion, _ = load(DIALECTS["root_offset_with_position_channels"](TRUTH), tmp_path)
    assert "OFFSET 12 90 -7.5 of the root is replaced by its position channels" in motion.source.evidence


@pytest.mark.parametrize(("name", "encoding"), [("latin_1_names", "cp1252"), ("shift_jis_names", "cp932")])
def test_encoding_of_names_is_told(name: str, encoding: str, tmp_path: Path) -> None:
    motion, _ = load(DIALECTS[name](TRUTH), tmp_path)
    assert f"joint names are not UTF-8 and were read as {encoding}" in motion.source.evidence


def test_names_in_other_encodings_do_not_harm_the_motion(tmp_path: Path) -> None:
    told = TRUTH.renamed({"Hips": "骨盆", "Spine": "脊柱", "Head": "头"})
    for encoding in ("gbk", "euc-kr", "koi8-r", "cp1250"):
        data = render(told).encode(encoding, "replace")
        motion, _ = load(Dialect(data, told), tmp_path)
        np.testing.assert_allclose(motion.world().positions, TRUTH.positions, atol=2e-7)
        assert re.fullmatch(".+", motion.skeleton.names[0])
