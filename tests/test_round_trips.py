"""Every class with `save` and `load`: a loaded value behaves like the saved one; other files give the same error."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import marey
from marey.core.motion import Motion
from marey.edit.retarget_map import RetargetMap
from marey.errors import UnknownFormat, UnknownVersion
from marey.find import MatchWeb
from marey.graph import DirectionTable, MotionGraph, direction_table
from marey.io import archive
from marey.io.file_kinds import KINDS
from marey.layer import GazeMap, SpliceSet
from marey.parametric import ParametricMotion, SpaceSettings, position
from marey.pmg import ActionSpace, GaitSpace, ParametricMotionGraph
from marey.register import RegistrationCurve, register
from marey.samples import sample
from tests.find.searched import clips as medleys
from tests.graph.clips import sneaks, walks
from tests.parametric.takes import takes
from tests.pmg.characters import small_walker
from tests.pmg.characters import walks as turning_walks


class Case(NamedTuple):
    """A class, an object built with other options than the defaults, and the numbers that it returns for a query."""

    cls: type
    form: str
    suffix: str
    build: Callable[[], Any]
    query: Callable[[Any], list[Any]]
    load: Callable[[Path], Any]


def numbers(motion: Motion) -> list[Any]:
    contacts = [] if motion.contacts is None else [motion.contacts.mask]
    return [motion.fps, motion.root_positions, motion.rotations, *contacts]


@cache
def pair() -> tuple[Motion, Motion]:
    return sample("walk", fps=30.0).motion, sample("run", fps=30.0).motion


@cache
def graph() -> MotionGraph:
    return MotionGraph.build((*walks(), *sneaks()), 0.2, window=0.4)


@cache
def ducks() -> ParametricMotion:
    heights = (1.0, 1.2, 1.4, 1.6)
    motions = [sample("duck", height=height, fps=30.0, variation=0.0).motion for height in heights]
    return ParametricMotion.build(motions, values=heights, names=["height"], samples=0)


def motion() -> Motion:
    return marey.detect_contacts(sample("walk", rng=3, fps=50.0, turn_rate=0.3).motion)


def gaze_answers(gaze: GazeMap) -> list[Any]:
    goals = [(0.4, 0.1), (-0.9, -0.2), (2.9, 0.4)]
    return [gaze.shift(goal, method=method).pose for goal in goals for method in ("grid", "neighbors")]


def search(web: MatchWeb) -> list[Any]:
    result = web.search("one", 40, 70, threshold=0.08)
    return [web.names, [(match.clip, match.start, match.stop) for match in result]]


CASES = [
    Case(Motion, "marey.motion", ".npz", motion, numbers, marey.load),
    Case(
        RegistrationCurve,
        "marey.registration",
        ".npz",
        lambda: register(pair(), slope_limit=3),
        lambda reg: [reg.timewarp(0.3), reg.alignment(0.7), reg.reference, reg.distances, reg.notes],
        lambda path: RegistrationCurve.load(path, pair()),
    ),
    Case(
        RetargetMap,
        "marey.retarget",
        ".json",
        lambda: RetargetMap.build(pair()[0], pair()[1].skeleton, pose=12),
        lambda known: numbers(marey.edit.retarget(pair()[0], known)),
        RetargetMap.load,
    ),
    Case(
        MotionGraph,
        "marey.graph",
        ".npz",
        graph,
        lambda graph: numbers(graph.random_walk(8, rng=5).motion()),
        MotionGraph.load,
    ),
    Case(
        DirectionTable,
        "marey.directions",
        ".npz",
        lambda: direction_table(graph(), 8, label="sneak"),
        lambda table: [table.choices],
        DirectionTable.load,
    ),
    Case(
        MatchWeb,
        "marey.web",
        ".npz",
        lambda: MatchWeb.build(medleys(), markers=["hips", "left_foot", "right_hand"], remove_height=True),
        search,
        MatchWeb.load,
    ),
    Case(
        ParametricMotion,
        "marey.parametric",
        ".npz",
        lambda: ParametricMotion.build(
            takes("reach", 5), position("right_hand"), samples=60, rng=11, settings=SpaceSettings(k=5)
        ),
        lambda space: [*numbers(space(space.samples[-1])), space.samples],
        ParametricMotion.load,
    ),
    Case(
        GaitSpace,
        "marey.gait_space",
        ".npz",
        lambda: GaitSpace.build(turning_walks(), mirror=True, margin=0.15),
        lambda space: numbers(space([0.3])),
        GaitSpace.load,
    ),
    Case(
        ActionSpace,
        "marey.action_space",
        ".npz",
        lambda: ActionSpace.build(ducks(), names=("height",), units=("m",)),
        lambda space: [*numbers(space([1.3])), space.names, space.units],
        ActionSpace.load,
    ),
    Case(
        ParametricMotionGraph,
        "marey.pmg",
        ".json",
        small_walker,
        lambda character: [character.nodes.keys(), character.edges["walk", "walk"].good, character["walk"].high],
        ParametricMotionGraph.load,
    ),
    Case(
        SpliceSet,
        "marey.splices",
        ".npz",
        lambda: SpliceSet.build(pair(), base=1),
        lambda splices: numbers(splices.splice(0, 1)),
        SpliceSet.load,
    ),
    Case(
        GazeMap,
        "marey.gaze_map",
        ".json",
        lambda: GazeMap.build(GazeMap.default().examples[1:12], k=5, rng=7),
        gaze_answers,
        GazeMap.load,
    ),
]
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.cls.__name__)


@cache
def built(cls: type) -> Any:
    return next(case for case in CASES if case.cls is cls).build()


def save(case: Case, path: Path) -> None:
    write = partial(marey.save, built(case.cls)) if case.cls is Motion else built(case.cls).save
    write(path)


def write_header(path: Path, form: str, version: int) -> None:
    if path.suffix == ".json":
        path.write_text(json.dumps({"format": form, "version": version}))
    else:
        path.write_bytes(archive.pack(form, version, {}))


@each_case
def test_a_loaded_object_answers_as_the_saved_one(case, tmp_path):
    path = tmp_path / f"saved{case.suffix}"
    save(case, path)
    loaded = case.load(path)
    assert type(loaded) is case.cls
    for before, after in zip(case.query(built(case.cls)), case.query(loaded), strict=True):
        if isinstance(before, np.ndarray | float):
            # Spaces of characters are stored in single precision.
            np.testing.assert_allclose(after, before, atol=1e-5)
        else:
            assert after == before


@each_case
def test_a_loaded_object_is_saved_to_the_same_bytes(case, tmp_path):
    if case.cls is Motion:
        pytest.skip("the file's name becomes the motion's name")
    first, second = tmp_path / "1", tmp_path / "2"
    for folder in (first, second):
        folder.mkdir()
    save(case, first / f"x{case.suffix}")
    case.load(first / f"x{case.suffix}").save(second / f"x{case.suffix}")
    assert (second / f"x{case.suffix}").read_bytes() == (first / f"x{case.suffix}").read_bytes()


@each_case
def test_another_suffix_is_refused(case, tmp_path):
    if case.cls is Motion:
        pytest.skip("motions have several formats")
    path = tmp_path / "saved.dat"
    with pytest.raises(UnknownFormat, match=rf"saved\.dat: .* is saved as \{case.suffix}, got \.dat"):
        save(case, path)
    assert not path.exists()
    with pytest.raises(UnknownFormat, match=rf"is saved as \{case.suffix}, got \.dat"):
        case.load(path)


@each_case
def test_a_file_of_another_kind_or_of_a_newer_version_is_refused_by_name(case, tmp_path):
    path = tmp_path / f"other{case.suffix}"
    for form, kind in KINDS.items():
        if form != case.form:
            write_header(path, form, 1)
            with pytest.raises(UnknownVersion) as caught:
                case.load(path)
            message = f"expected {KINDS[case.form]} ({case.form}), got {kind} ({form})"
            if case.form == "marey.motion":
                message = f"is {kind}, not a motion"
            assert str(caught.value).startswith(f"{path}: {message}")
    write_header(path, case.form, 99)
    with pytest.raises(
        UnknownVersion, match="the file has format version 99, but this version of marey reads .; update marey"
    ):
        case.load(path)


def test_a_gaze_map_from_a_generator_is_the_same_after_loading(tmp_path):
    gaze = GazeMap.build(GazeMap.default().examples, rng=np.random.default_rng(5))
    gaze.save(tmp_path / "map.json")
    again = GazeMap.load(tmp_path / "map.json")
    assert len(again.samples) == len(gaze.samples)
    np.testing.assert_allclose(again.samples, gaze.samples, atol=1e-9)
    assert not np.array_equal(gaze.samples[40:60], GazeMap.default().samples[40:60])
