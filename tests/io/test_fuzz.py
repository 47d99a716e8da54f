"""Every reader on damaged files: a usable object or a typed error with a short sentence, soon, and in little memory.

The mutations are seeded, so that a failure comes again; `python -m tests.io.fuzzing` tries many more. A case may take
`CPU_SECONDS` of processor time and 20 times the file's size plus 96 MB.
"""

import json
import tracemalloc
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import marey
from marey.errors import MAX_MESSAGE, FileError, InvalidValue, LimitExceeded, MareyError, ParseError, UnreadableFile
from marey.graph import read_path
from marey.io.archive import pack
from marey.io.file_kinds import KINDS
from marey.layer import GazeMap
from marey.pmg import GaitSpace, read_recipe
from tests.io import fuzzing
from tests.io.fuzzing import FORMATS, Format, attempt, corpus, mutations
from tests.tiers import shorten

N_MUTATIONS = 10
MANY = {
    "gaze_map": 4,
    "values_csv": 4,
    "trc": 4,
    "sampled_character": 4,
    "humanml3d": 4,
    "plan": 4,
    "bvh": 25,
    "amc": 25,
    "asf": 25,
    "npz": 20,
    "c3d": 25,
    "recipe": 40,
    "path_svg": 30,
}


@contextmanager
def measure_memory() -> Iterator[None]:
    """Measure the memory of attempts; meanwhile everything takes three times as long."""
    tracemalloc.start()
    try:
        yield
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
def test_damaged_files_give_a_usable_object_or_a_typed_error(tmp_path: Path, form: Format) -> None:
    path = form.make(tmp_path)
    original = path.read_bytes()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        form.use(path)  # the undamaged file is valid, and kernels are loaded before the measurement
    damaged = list(mutations(original, shorten(MANY.get(form.name, N_MUTATIONS)), form.name))
    with measure_memory():
        usable = [attempt(form, path, data) for data in damaged[::3]]
    usable += [attempt(form, path, data) for k, data in enumerate(damaged) if k % 3]
    assert not all(usable)


@pytest.mark.parametrize("form", [form for form in FORMATS if corpus(form)], ids=lambda form: form.name)
def test_inputs_that_once_failed_give_a_usable_object_or_a_typed_error(tmp_path: Path, form: Format) -> None:
    path = form.make(tmp_path)
    with measure_memory():
        for case in corpus(form):
            attempt(form, path, case.read_bytes())


def test_every_kind_of_file_is_damaged() -> None:
    known = {form.name for form in FORMATS}
    aliases = {"motion": "npz", "pmg": "character"}
    kinds = {form.removeprefix("marey.") for form in KINDS} - {"grid"}  # written for other programs
    assert {aliases.get(kind, kind) for kind in kinds} <= known


def test_a_message_is_one_line_of_bounded_length() -> None:
    for error in (InvalidValue("got " + "x" * 9000 + "; rename it"), ParseError("a\nb" * 900, path="p.npz", line=3)):
        message = error.message if isinstance(error, FileError) else str(error)
        assert MAX_MESSAGE - 80 < len(message) <= MAX_MESSAGE  # cut between words
        assert "\n" not in str(error)
    assert str(InvalidValue("got " + "x" * 9000 + "; rename it")).endswith("xx; rename it")
    assert str(UnreadableFile("short", path="p")) == "p: short"


@pytest.mark.parametrize("fps", [1e-300, 1e100, 1e-6])
def test_an_absurd_rate_is_refused(tmp_path: Path, fps: float) -> None:
    self_made = fuzzing.walk()
    arrays = {
        "name": np.array("walk"),
        "fps": np.array(fps),
        "names": np.array(self_made.skeleton.names),
        "parents": self_made.skeleton.parents,
        "offsets": self_made.skeleton.offsets,
        "root_positions": self_made.root_positions,
        "rotations": self_made.rotations,
    }
    (tmp_path / "walk.npz").write_bytes(pack("marey.motion", 1, arrays))
    with pytest.raises(LimitExceeded, match="the frame rate must be from 1e-05 to 100000 Hz|array 'fps' has a value"):
        marey.load(tmp_path / "walk.npz")
    far = self_made.root_positions + 1e8
    (tmp_path / "walk.npz").write_bytes(
        pack("marey.motion", 1, arrays | {"fps": np.array(30.0), "root_positions": far})
    )
    with pytest.raises(LimitExceeded, match="a root position has a coordinate of 1e"):
        marey.load(tmp_path / "walk.npz")


def test_hostile_text_is_refused_in_time(tmp_path: Path) -> None:
    drawing, recipe, gaze = tmp_path / "p.svg", tmp_path / "r.toml", tmp_path / "map.json"
    drawing.write_text("<path " * 40_000)
    with pytest.raises(ParseError, match="no <path>"):
        read_path(drawing, length=1.0)
    recipe.write_text("a." * 20_000 + "a = 1")
    with pytest.raises(LimitExceeded, match="this is not a recipe"):
        read_recipe(recipe)
    for text in ("a = " + "[" * 5000, "a = " + "9" * 5000):
        recipe.write_text(text)
        with pytest.raises(ParseError, match="is not valid TOML"):
            read_recipe(recipe)
    recipe.write_text(fuzzing.RECIPE.replace("samples = [4, 20]", "samples = [1000000000, 30]"))
    with pytest.raises(ParseError, match="samples must be two whole numbers from 2 to 10000"):
        read_recipe(recipe)
    gaze.write_text(json.dumps({"format": "marey.gaze_map", "version": 1, "examples": [], "k": float("nan")}))
    with pytest.raises(ParseError, match="NaN is not a JSON number"):
        GazeMap.load(gaze)


def test_spaces_refuse_endless_motions(tmp_path: Path) -> None:
    space = GaitSpace.build(fuzzing.walks())
    from dataclasses import replace

    for change, message in (
        ({"margin": 1e9}, "margin must be from 0 to 100 cycles"),
        ({"steps": space.steps * [1.0, 1.0, 1.0, 1e9]}, "motions of a space may have at most"),
        ({"steps": -space.steps}, "every step in the clips of a gait space must last longer than 0 s"),
        ({"contacts": np.zeros((*space.heights.shape, 3))}, "contacts must have"),
    ):
        with pytest.raises(MareyError, match=message):
            replace(space, **change)


def test_a_floor_beyond_the_range_of_numbers_is_refused(tmp_path: Path) -> None:
    marey.save(fuzzing.walk(), tmp_path / "walk.bvh")
    content = {"format": "marey.sidecar", "version": 1, "floor": 10**400}
    (tmp_path / "walk.marey.json").write_text(json.dumps(content))
    with pytest.raises(ParseError, match="int too large"):
        marey.load(tmp_path / "walk.bvh")
