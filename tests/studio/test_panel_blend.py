"""Blends, transitions and grids, requested as by the page."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import marey
from marey.samples import sample
from marey.studio.panels.blend_work import _pool
from tests.studio.client import Failed, FakePage, Server


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    at = tmp_path_factory.mktemp("blends")
    for name, options in {
        "slow": {"speed": 1.0},
        "fast": {"speed": 1.6},
        "left": {"turn_rate": 0.5},
    }.items():
        marey.save(sample("walk", fps=30.0, seconds=4.0, **options).motion, at / f"{name}.bvh")
    marey.save(sample("walk", fps=60.0, seconds=3.0).motion, at / "fine.bvh")
    walk = sample("walk", fps=30.0, seconds=2.0).motion
    taller = replace(walk.skeleton, offsets=1.1 * walk.skeleton.offsets)
    marey.save(replace(walk, skeleton=taller, root_positions=1.1 * walk.root_positions), at / "tall.bvh")
    rotations = walk.rotations.copy()
    rotations[0] = [1.0, 0.0, 0.0, 0.0]
    marey.save(replace(walk, rotations=rotations), at / "rest.bvh")
    return at


@pytest.fixture(scope="module")
def page(folder: Path, built: Path) -> Iterator[FakePage]:
    server = Server(folder, built)
    with FakePage(server) as result:
        yield result
    server.stop()


@pytest.fixture(scope="module")
def opened(page: FakePage) -> dict[str, str]:
    return {name: page.do("open", path=f"{name}.bvh")["motion"] for name in ("slow", "fast", "left", "fine")}


@pytest.fixture(scope="module")
def pair(opened: dict[str, str]) -> list[str]:
    return [opened["slow"], opened["fast"]]


def test_study_shows_grid_and_paths(page: FakePage, pair: list[str], folder: Path) -> None:
    found = page.do("blend_study", motions=pair)
    grid = found["grid"]
    pixels = np.frombuffer(base64.b64decode(grid["pixels"]), np.uint8).reshape(grid["rows"], grid["columns"])
    a, b = (marey.load(folder / f"{name}.bvh") for name in ("slow", "fast"))
    expected = np.sqrt(marey.distance_grid(a, b).values)
    assert grid["frames"] == [len(a), len(b)]
    assert np.abs(pixels / 255.0 * grid["largest"] - expected).max() <= grid["largest"] / 254.0
    i, j, distance = grid["minima"][0]
    assert distance == pytest.approx(expected[int(i), int(j)], abs=1e-4)
    assert found["refused"] == ""
    reg = marey.register([a, b])
    paths = {each["method"]: np.array(each["points"]) for each in found["paths"]}
    assert set(paths) == {"registered", "linear", "discrete", "cubic"}
    ends = np.array([reg.timewarp(0.0), reg.timewarp(1.0)]).reshape(2, 2) * reg.fps + reg.crops[:, 0]
    assert np.allclose(paths["registered"][[0, -1]], ends, atol=0.02)
    for points in paths.values():
        assert (np.diff(points, axis=0) >= 0.0).all()


@pytest.mark.parametrize("method", ["registered", "linear", "discrete", "cubic"])
def test_methods_blend(page: FakePage, pair: list[str], method: str) -> None:
    result = page.do("blend", motions=pair, settings={"method": method}, weights=[1, 1])["motion"]
    assert result["n_frames"] > 20
    assert result["history"] == ["from slow", "from fast"]
    _, positions, _ = page.frames(result["motion"], 0, 2)
    assert np.isfinite(positions).all()
    page.do("close", motion=result["motion"])


def test_result_is_what_the_library_makes(page: FakePage, pair: list[str], folder: Path) -> None:
    result = page.do("blend", motions=pair, weights=[0.25, 0.75])["motion"]
    a, b = (marey.load(folder / f"{name}.bvh") for name in ("slow", "fast"))
    same = marey.blend([a, b], [0.25, 0.75])
    assert result["n_frames"] == len(same)
    _, positions, _ = page.frames(result["motion"], 0, len(same))
    # Only approximately: generated walks have ties, which are decided by the rounding of the loaded file.
    assert np.abs(positions - same.world().positions).max() < 0.01
    again = page.do("blend", motions=pair, weights=[0.75, 0.25], result=result["motion"])["motion"]
    assert again["motion"] == result["motion"]
    assert again["revision"] != result["revision"]
    assert again["undo"] == 1
    # One drag of a slider is one step, however many blends it makes.
    for weights in ([0.7, 0.3], [0.6, 0.4]):
        again = page.do("blend", motions=pair, weights=weights, result=result["motion"], merge_undo=True)["motion"]
    assert again["undo"] == 1
    back = page.do("undo", motion=result["motion"])
    assert (back["undo"], back["name"]) == (0, result["name"])
    again = page.do("blend", motions=pair, weights=[0.5, 0.5], result=result["motion"], merge_undo=True)["motion"]
    assert again["undo"] == 1, "what was gone back to stays"
    page.do("close", motion=result["motion"])
    new = page.do("blend", motions=pair, result=result["motion"])["motion"]
    assert new["motion"] != result["motion"]


def test_a_blend_stays_within_the_joint_limits_of_a_file(page: FakePage, pair: list[str], folder: Path) -> None:
    a, b = (marey.load(folder / f"{name}.bvh") for name in ("slow", "fast"))
    marey.io.save_joint_limits(marey.core.learn_joint_limits([a], margin=0.0), folder / "limits.json")
    settings = {"joint_limits": "limits.json", "feet": None}
    result = page.do("blend", motions=pair, weights=[0, 1], settings=settings)["motion"]
    same = marey.blend([a, b], [0, 1], feet=None, joint_limits=folder / "limits.json")
    _, positions, _ = page.frames(result["motion"], 0, len(same))
    np.testing.assert_allclose(positions, same.world().positions, atol=0.01)
    page.do("close", motion=result["motion"])


def test_curves_span_the_blend(page: FakePage, opened: dict[str, str], folder: Path) -> None:
    motions = [opened["slow"], opened["fast"]]
    rising = [[0, 0], [1, 1]]
    falling = [[0, 1], [1, 0]]
    result = page.do("blend", motions=motions, curves=[falling, rising], settings={"feet": None})["motion"]
    pure = [
        page.do("blend", motions=motions, weights=w, settings={"feet": None})["motion"]["seconds"]
        for w in ([1, 0], [0, 1])
    ]
    assert min(pure) - 0.1 < result["seconds"] < max(pure) + 0.1
    speed = page.do("curves", motion=result["motion"], curve="speed")["curves"][0]["values"]
    third = len(speed) // 3
    assert np.mean(speed[-third:]) > np.mean(speed[:third]) + 0.15
    three = page.do("blend", motions=[*motions, opened["left"]], weights=[1, 1, 1])["motion"]
    assert three["n_frames"] > 20


def test_transitions(page: FakePage, pair: list[str]) -> None:
    best = page.do("blend_transition", motions=pair, settings={"length": 0.6})
    assert len(best["at"]) == 2
    given = page.do("blend_transition", motions=pair, at=best["at"], settings={"length": 0.6})
    assert given["at"] == pytest.approx(best["at"])
    assert given["motion"]["n_frames"] == best["motion"]["n_frames"]
    linear = page.do("blend_transition", motions=pair, settings={"method": "linear", "length": 0.6})
    assert linear["motion"]["n_frames"] > 30
    for method in ("discrete", "cubic"):
        warped = page.do("blend_transition", motions=pair, settings={"method": method, "length": 0.6})
        assert warped["motion"]["n_frames"] > 30
    with pytest.raises(Failed, match="“Method” must be 'registered', 'linear', 'discrete' or 'cubic', not 'quartic'"):
        page.do("blend_transition", motions=pair, settings={"method": "quartic"})


def test_frames_lie_over_each_other(page: FakePage, opened: dict[str, str], folder: Path) -> None:
    found = page.do("blend_place", motion=opened["fast"], seconds=1.0, to=opened["slow"], to_seconds=1.0, window=0.1)
    a, b = (marey.load(folder / f"{name}.bvh") for name in ("slow", "fast"))
    grid = marey.distance_grid(a, b, window=0.1)
    assert [found["theta"], found["x"], found["z"]] == pytest.approx(grid.transform(30, 30).tolist(), abs=1e-6)
    assert found["distance"] == pytest.approx(float(np.sqrt(grid.values[30, 30])), abs=1e-6)
    mixed = page.do("blend_place", motion=opened["fine"], seconds=0.0, to=opened["slow"], to_seconds=4.0)
    assert mixed["distance"] > 0.0
    with pytest.raises(Failed, match="expected a time in 'slow'"):
        page.do("blend_place", motion=opened["fast"], seconds=1.0, to=opened["slow"], to_seconds=9.0)


def test_statistics_name_all_methods(page: FakePage, pair: list[str]) -> None:
    table = page.do("blend_statistics", motions=pair, settings={"time_limit": 0.2})
    assert table["paths"][0]["method"] == "brute force"
    best = [row["accuracy"] for row in table["paths"] if row["accuracy"] is not None]
    assert max(best) == pytest.approx(100.0)
    assert len(table["blends"]) == 8
    for row in table["blends"]:
        assert len(row["metrics"]) == len(table["names"])


def test_another_skeleton_is_reported_and_fitted(page: FakePage, pair: list[str]) -> None:
    tall = page.do("open", path="tall.bvh")["motion"]
    found = page.do("blend_study", motions=[pair[0], tall])
    assert (found["grid"], found["misfits"]) == (None, [1])
    with pytest.raises(Failed, match="different proportions.*; press “Retarget to A's skeleton”$"):
        page.do("blend", motions=[pair[0], tall])
    result = page.do("blend_fit", motion=tall, to=pair[0])["motion"]
    assert result["name"] == "tall as slow"
    assert page.do("blend_study", motions=[pair[0], result["motion"]])["misfits"] == []


def test_a_rest_pose_is_left_out_and_the_sidecar_still_fits(page: FakePage, pair: list[str], folder: Path) -> None:
    opened = page.do("open", path="rest.bvh")
    assert "frame 0 is a rest pose (T-pose) and is skipped" in opened["warnings"][-1]
    assert (opened["undo"], opened["unsaved"]) == (1, False)
    whole = page.do("undo", motion=opened["motion"])
    assert not any("is skipped" in text for text in whole["warnings"])
    assert page.do("blend_study", motions=[opened["motion"], pair[0]])["rests"] == [0]
    before = marey.load(folder / "rest.bvh", trim_rest=False)
    left = page.do("blend_trim_rest", motion=opened["motion"])
    assert left["n_frames"] == opened["n_frames"] == whole["n_frames"] - 1
    assert (left["undo"], left["unsaved"]) == (1, False)
    with pytest.raises(Failed, match="does not start with a rest pose"):
        page.do("blend_trim_rest", motion=opened["motion"])
    labels = [*left["labels"], {"name": "step", "start": 4, "stop": 9}]
    assert page.do("set_labels", motion=opened["motion"], labels=labels)["unsaved"]
    assert not page.do("save", motion=opened["motion"])["motion"]["unsaved"]
    after = marey.load(folder / "rest.bvh", trim_rest=False)
    assert set(after.labels) == {*before.labels, ("step", 5, 10)}
    assert after.contacts is not None
    assert before.contacts is not None
    assert np.array_equal(after.contacts.mask, before.contacts.mask)


def test_errors_are_one_sentence(page: FakePage, opened: dict[str, str], pair: list[str]) -> None:
    three = [*pair, opened["left"]]
    for fields, text in (
        ({"motions": pair[:1]}, "select 2 to 16 clips to blend, not 1"),
        ({"motions": three, "settings": {"method": "discrete"}}, "needs two motions, got 3"),
        ({"motions": pair, "weights": [1, 2, 3]}, "“weights” must be 2 numbers"),
        ({"motions": pair, "weights": [0, 0]}, "sum greater than 0"),
        ({"motions": pair, "curves": [[[0, 1]]]}, "expected 2 curves"),
        ({"motions": pair, "curves": [[[0, 1]], [[0.5, 1], [0.2, 0]]]}, "increasing times"),
        ({"motions": [pair[0], "m99"]}, "clip 'm99' is not open"),
    ):
        with pytest.raises(Failed, match=text):
            page.do("blend", **fields)
    with pytest.raises(Failed, match="1 to 1, got 2"):
        page.do("blend_study", motions=pair, other=2)
    with pytest.raises(Failed, match="needs two clips, got 3"):
        page.do("blend_statistics", motions=three)


def test_long_grids_are_drawn_by_means() -> None:
    values = np.random.default_rng(0).random((725, 40))
    small = _pool(values)
    assert small.shape == (360, 40)
    first, last = values[:2].mean(axis=0), values[359 * 725 // 360 :].mean(axis=0)
    assert np.allclose(small[[0, -1]], [first, last])
    assert np.array_equal(_pool(values[:300]), values[:300])


def test_loops_are_controlled_by_drawn_curves(page: FakePage, opened: dict[str, str]) -> None:
    motions, registration = [opened["slow"], opened["left"]], {"cut_loops": True}
    found = page.do("blend_study", motions=motions, registration=registration)
    assert found["refused"] == ""
    assert all(stop - start < 60 for start, stop in found["crops"])  # one cycle of each
    curves = [[(0.0, 1.0), (1.0, 0.0)], [(0.0, 0.0), (1.0, 1.0)]]
    made = page.do(
        "blend", motions=motions, curves=curves, registration=registration, settings={"seconds": 5.0, "feet": None}
    )
    assert made["motion"]["seconds"] == pytest.approx(5.0, abs=0.1)
