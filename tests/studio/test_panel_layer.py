"""The Layers panel: splices, transplanted limbs and looks, over a real socket."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marey
from marey.samples import sample
from marey.studio.panels import layer_work
from tests.studio.client import Failed, FakePage, Server

POINT = [1.5, 1.4, 4.0]


@pytest.fixture(scope="module")
def layers(tmp_path_factory: pytest.TempPathFactory, built: Path) -> Iterator[tuple[FakePage, dict[str, str]]]:
    """A page with a walk, a carried box and a reach: ids by name."""
    folder = tmp_path_factory.mktemp("layers")
    for name, seconds in (("walk", 4.0), ("carry_box", 4.0)):
        marey.save(sample(name, seconds=seconds).motion, folder / f"{name}.npz")
    marey.save(sample("reach").motion, folder / "reach.npz")
    marey.GazeMap.build(marey.GazeMap.default().examples[::2]).save(folder / "person.json")
    server = Server(folder, built)
    with FakePage(server) as page:
        yield page, {name: page.do("open", path=f"{name}.npz")["motion"] for name in ("walk", "carry_box", "reach")}
    server.stop()


def frames_of(page: FakePage, info: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    _, positions, rotations = page.frames(info["motion"], 0, info["n_frames"])
    return positions, rotations


def test_a_splice_is_the_librarys_and_plays_at_once(layers: tuple[FakePage, dict[str, str]]) -> None:
    page, ids = layers
    done = page.operate("splice", ids["walk"], other=ids["carry_box"], settings={"posture": "full"})
    (made,) = done["motions"]
    walk, box = (sample(name, seconds=4.0).motion for name in ("walk", "carry_box"))
    truth = marey.splice(walk, box, posture="full").world().positions
    positions, _ = frames_of(page, made)
    np.testing.assert_allclose(positions, truth, atol=1e-5)
    assert done["notes"][0].startswith("The upper body ")
    assert re.search(r"differ by [0-4]\.\d cm on average", done["notes"][1])
    assert made["history"] == ["from walk", "from carry_box"]


def test_an_arm_is_transplanted_onto_any_motion(layers: tuple[FakePage, dict[str, str]]) -> None:
    page, ids = layers
    settings = {"part": "right_arm", "at": 0.5}
    (made,) = page.operate("transplant", ids["walk"], other=ids["reach"], settings=settings)["motions"]
    info = page.do("motion", motion=ids["walk"])
    before, _ = frames_of(page, info)
    after, _ = frames_of(page, made)
    roles = info["roles"]
    np.testing.assert_array_equal(after[:, roles["left_foot"]], before[:, roles["left_foot"]])
    assert np.abs(after - before)[:, roles["right_hand"]].max() > 0.2
    assert made["name"] == "walk with right arm of reach"


def test_a_look_meets_its_point_and_is_made_again_in_place(layers: tuple[FakePage, dict[str, str]]) -> None:
    page, ids = layers
    goals = [{"time": 0.5, "point": POINT}, {"time": 2.5, "point": None}]
    first = page.do("layer_look", motion=ids["walk"], goals=goals)
    assert [look["time"] for look in first["looks"]] == [0.5, 2.5]
    assert first["looks"][0]["missed"] < 1.0
    info = first["motion"]
    frame = round(first["looks"][0]["settled"] * info["fps"])
    place, direction = (np.array(first[name]).reshape(-1, 3)[frame] for name in ("places", "directions"))
    toward = np.subtract(POINT, place) / np.linalg.norm(np.subtract(POINT, place))
    assert direction @ toward > np.cos(np.radians(1.0))
    walk = page.do("motion", motion=ids["walk"])
    before, _ = frames_of(page, walk)
    after, _ = frames_of(page, info)
    roles = walk["roles"]
    np.testing.assert_array_equal(after[:, roles["left_foot"]], before[:, roles["left_foot"]])
    moved = [{"time": 0.5, "point": [-1.5, 1.0, 4.0]}]
    second = page.do("layer_look", motion=ids["walk"], goals=moved, made=info["motion"])
    assert second["motion"]["motion"] == info["motion"]
    assert second["motion"]["revision"] != info["revision"]
    assert (second["motion"]["undo"], second["motion"]["name"]) == (0, "walk (looking)")
    truth = marey.GazeMap.default().look_at(sample("walk", seconds=4.0).motion, [(0.5, (-1.5, 1.0, 4.0))])
    positions, _ = frames_of(page, second["motion"])
    np.testing.assert_allclose(positions, truth.world().positions, atol=1e-5)
    assert len(second["places"]) == 3 * len(positions)


def test_a_look_in_a_direction_with_a_map_of_the_folder(layers: tuple[FakePage, dict[str, str]]) -> None:
    page, ids = layers
    gaze = marey.GazeMap.build(marey.GazeMap.default().examples[::2])
    goals = [{"time": 0.5, "angles": [-0.8, 0.1]}]
    done = page.do("layer_look", motion=ids["walk"], goals=goals, map="person.json")
    assert done["looks"][0]["missed"] < 0.1
    truth = gaze.apply(sample("walk", seconds=4.0).motion, [(0.5, -0.8, 0.1)])
    positions, _ = frames_of(page, done["motion"])
    np.testing.assert_allclose(positions, truth.world().positions, atol=1e-5)
    with pytest.raises(Failed, match="no such file in the open folder"):
        page.do("layer_look", motion=ids["walk"], goals=goals, map="nobody.json")


def test_eyes_are_a_joint_that_points_where_they_look(layers: tuple[FakePage, dict[str, str]]) -> None:
    page, ids = layers
    goals = [{"time": 0.0, "point": POINT}]
    plain = page.do("layer_look", motion=ids["walk"], goals=goals)["motion"]
    done = page.do("layer_look", motion=ids["walk"], goals=goals, eyes=True, made=plain["motion"])["motion"]
    assert done["motion"] == plain["motion"]
    added = set(done["joints"]) - set(plain["joints"])
    assert added
    assert set(plain["joints"]) < set(done["joints"])


def test_long_motions_report_fewer_gazes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    walk = sample("walk", seconds=4.0).motion
    marey.save(walk, tmp_path / "walk.npz")
    monkeypatch.setattr(layer_work, "_MAX_GAZES", 100)
    report = layer_work.look(lambda progress, text: None, str(tmp_path / "walk.npz"), [(0.5, POINT)], {"eyes": None})
    assert report["step"] == 3
    assert len(report["places"]) == len(report["directions"]) == 3 * len(walk.rotations[::3])
    assert report["rotations"].shape == (len(walk), len(report["joints"]), 4)
    assert 0 < len(report["joints"]) < 10


def test_a_clip_without_steps_is_spliced_with_a_note(layers: tuple[FakePage, dict[str, str]]) -> None:
    page, ids = layers
    done = page.operate("splice", ids["walk"], other=ids["reach"])
    wanted = "does not contain 2 consecutive steps, so the clips are aligned by hips and knees only"
    assert any(wanted in note for note in done["notes"])


@pytest.mark.parametrize(
    ("do", "fields", "message"),
    [
        ("layer_look", {"motion": "walk", "goals": []}, "expected 1 to 100 gaze targets, got 0"),
        (
            "layer_look",
            {"motion": "walk", "goals": [{"time": 99.0, "point": POINT}]},
            "the gaze target at 99 s is outside walk, which ends at",
        ),
        ("layer_look", {"motion": "walk", "goals": [{"time": 0.0, "point": [1.0]}]}, "expected a list of 3"),
        (
            "operate",
            {"operation": "transplant", "motion": "walk", "other": "reach", "settings": {"part": "tail"}},
            "“Body part” must be 'upper_body', 'arms'",
        ),
        (
            "operate",
            {"operation": "transplant", "motion": "walk", "other": "reach", "settings": {"part": "arms", "at": 50.0}},
            "must be from 0 to 4 s, the duration of the base motion, not 50 s",
        ),
    ],
)
def test_what_cannot_be_layered_is_refused(
    layers: tuple[FakePage, dict[str, str]], do: str, fields: dict[str, Any], message: str
) -> None:
    page, ids = layers
    named = {key: ids.get(value, value) if isinstance(value, str) else value for key, value in fields.items()}
    with pytest.raises(Failed, match=message):
        page.do(do, **named)


def test_a_look_never_takes_the_place_of_a_motion_that_is_none(layers: tuple[FakePage, dict[str, str]]) -> None:
    page, ids = layers
    with pytest.raises(Failed, match="is not a gaze result"):
        page.do("layer_look", motion=ids["walk"], goals=[{"time": 0.0, "point": POINT}], made=ids["carry_box"])
