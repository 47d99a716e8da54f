"""Operations with generated forms: each runs on a sample over a real socket, and gives a result."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marey
from marey.core.settings import Settings, options_of
from marey.io import smpl_skeleton
from marey.samples import sample
from marey.studio.operations import OPERATIONS, Inputs, Operation
from tests.graph.clips import sneaks, walks
from tests.parametric.takes import space
from tests.studio.client import Failed, FakePage, Server

PATH = [[0.0, 0.0], [0.3, 2.0], [1.0, 5.0]]
# Settings that make operations do something small if their defaults do nothing, need a choice or take long.
SETTINGS: dict[str, dict[str, Any]] = {
    "timewarp": {"keys": "0.5=0.7, 1.0=1.3"},
    "move": {"part": "left_hand", "up": 0.1},
    "rotate": {"joint": "spine", "bend": 0.2},
    "save": {"format": "bvh", "name": "saved"},
    "render": {"format": "png", "drawing": "plot", "size": "64x64"},
    "solve": {"file_fps": 30.0},
    "graph_crowd": {"characters": 2, "seconds": 3.0},
    "graph_search": {"objective": "speed", "seconds": 1.0},
    "graph_reach": {"x": 0.0, "z": 4.0, "landing_seconds": 1.0},
    "graph_evaluate": {"n_turns": 1, "timeout": 1.0, "seconds": 3.0},
    "graph_register": {"max_transitions": 2, "threshold": 0.2},
    "graph_similarity": {"fps": 10.0},
    "graph_reduce": {"loss": 0.5},
    "library": {"words": "walk"},
    "open_all": {"pattern": "walk*"},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two walks, a tall body, positions of joints, a space of kicks, and a graph of walks."""
    at = tmp_path_factory.mktemp("operations")
    walk = sample("walk", fps=30.0, seconds=3.0).motion
    marey.save(walk, at / "walk.bvh")
    marey.save(sample("walk", fps=30.0, seconds=3.0, speed=1.6).motion, at / "walk_fast.bvh")
    np.save(
        at / "points.npy",
        np.random.default_rng(0).normal(0.0, 0.001, (20, 22, 3)) + smpl_skeleton().rest_positions[:22],
    )
    tall = marey.Skeleton(walk.skeleton.names, walk.skeleton.parents, 1.3 * walk.skeleton.offsets)
    marey.save(replace(walk, skeleton=tall, name="tall"), at / "tall.bvh")
    space("kick", 4).save(at / "kicks.npz")
    marey.MotionGraph.build((*walks(), *sneaks()), 0.08).save(at / "graph.npz")
    return at


@pytest.fixture(scope="module")
def session(folder: Path, built: Path) -> Iterator[tuple[FakePage, str, str]]:
    """A page with both walks open."""
    server = Server(folder, built)
    with FakePage(server) as page:
        yield page, page.do("open", path="walk.bvh")["motion"], page.do("open", path="walk_fast.bvh")["motion"]
    server.stop()


def run(session: tuple[FakePage, str, str], name: str, **more: Any) -> dict[str, Any]:
    page, first, second = session
    fields: dict[str, Any] = {
        "motion": first, "other": second, "motions": [first, second], "frame": 20, "points": PATH,
        "graph": "graph.npz", "file": "points.npy", "as_new": True, "settings": SETTINGS.get(name, {}),
    }  # fmt: skip
    if "curve" in OPERATIONS[name].takes:
        fields["points"] = [[0.0, 1.0], [1.0, 2.0]]
    if "range" in OPERATIONS[name].takes:
        fields["range"] = [5, 65]
    return page.do("operate", operation=name, **{**fields, **more})


@pytest.mark.parametrize("row", OPERATIONS.values(), ids=lambda row: row.name)
def test_every_operation_gives_a_result(session: tuple[FakePage, str, str], row: Operation) -> None:
    if row.name == "gaze_map":
        session[0].do("author_gaze", shipped=True)
    more = {"file": "kicks.npz"} if "space" in row.takes else {}
    done = run(session, row.name, **more)
    if row.gives == "motion":
        assert len(done["motions"]) == 1
        # Two operations change the pose; the name of the later result gets a number.
        assert done["motions"][0]["name"].split(" #")[0] == f"walk ({row.done})"
    assert done["motions"] or done["rows"] or done["files"] or done["notes"]
    assert len(done["links"]) in (0, len(done["rows"]))
    assert all(len(each) == len(done["columns"]) for each in done["rows"])


@pytest.mark.parametrize("row", OPERATIONS.values(), ids=lambda row: row.name)
def test_the_table_is_consistent(row: Operation) -> None:
    assert callable(row.find_function())
    assert row.done or row.gives == "new"
    assert row.gives == "new" or row.takes[0] == "motion"
    assert row.about.endswith(".")
    assert all(issubclass(kind, Settings) for kind in row.settings)
    assert not any(issubclass(kind, Inputs) for kind in row.settings[1:]), "inputs come first"
    known = {each.name for kind in row.settings for each in options_of(kind)}
    assert set(row.skip) <= known


def test_an_edit_replaces_the_motion_and_is_undone(session: tuple[FakePage, str, str]) -> None:
    page, walk, _ = session
    before = page.do("motion", motion=walk)
    (after,) = run(session, "trim", as_new=False)["motions"]
    assert (after["motion"], after["name"], after["n_frames"]) == (walk, "walk", 60)
    assert (after["undo"], after["unsaved"]) == (before["undo"] + 1, True)
    undone = page.do("undo", motion=walk)
    assert (undone["n_frames"], undone["unsaved"]) == (before["n_frames"], False)


def test_a_result_is_that_of_the_library(session: tuple[FakePage, str, str], folder: Path) -> None:
    (done,) = run(session, "mirror")["motions"]
    truth = marey.edit.mirror(marey.load(folder / "walk.bvh")).world().positions
    _, positions, _ = session[0].frames(done["motion"], 0, done["n_frames"])
    np.testing.assert_allclose(positions, truth, atol=1e-5)


def test_an_edit_that_changes_nothing_leaves_the_clip_saved(session: tuple[FakePage, str, str]) -> None:
    page, walk, _ = session
    done = run(session, "level", as_new=False)
    assert done["notes"] == ["nothing was changed"]
    assert done["motions"][0]["edited"] is False
    page.do("undo", motion=walk)


def test_what_is_dragged_is_one_change(session: tuple[FakePage, str, str]) -> None:
    page, walk, _ = session
    before = page.do("motion", motion=walk)
    fields = {"motion": walk, "frame": 30, "as_new": False}
    for k, up in enumerate((0.1, 0.3, 0.2)):
        settings = {"part": "left_hand", "up": up, "axes": "world"}
        done = run(session, "move", **fields, settings=settings, merge_undo=k > 0)
    (after,) = done["motions"]
    assert after["undo"] == before["undo"] + 1
    hand = after["roles"]["left_hand"]
    moved = page.frames(walk, 30, 31)[1][0, hand]
    page.do("undo", motion=walk)
    np.testing.assert_allclose(moved - page.frames(walk, 30, 31)[1][0, hand], [0.0, 0.2, 0.0], atol=1e-3)


def test_a_speed_curve_changes_the_timing(session: tuple[FakePage, str, str]) -> None:
    before = session[0].do("motion", motion=session[1])
    (after,) = run(session, "speed_curve", points=[[0.0, 2.0], [1.0, 2.0]])["motions"]
    assert after["seconds"] == pytest.approx(before["seconds"] / 2, abs=0.05)
    with pytest.raises(Failed, match=r"from 0.1 to 10"):
        run(session, "speed_curve", points=[[0.0, 2.0], [1.0, 20.0]])


def test_a_marked_range_is_the_loop(session: tuple[FakePage, str, str]) -> None:
    done = run(session, "loop", range=[10, 42], settings={"repeats": 2})
    assert done["notes"][0].startswith("frames 10 to 41 (")
    assert done["motions"][0]["n_frames"] == 64


def test_a_graph_of_an_operation_is_an_input_of_others(session: tuple[FakePage, str, str]) -> None:
    page = session[0]
    graph = run(session, "graph_similarity")["graph"]
    assert graph in page.do("operation_inputs")["graphs"]
    assert run(session, "graph_search", graph=graph)["motions"]


def test_lists_and_maps_are_typed(session: tuple[FakePage, str, str]) -> None:
    every, some = (
        run(session, "grid", settings=settings)["notes"]
        for settings in ({}, {"markers": "left_foot, right_foot", "weights": "left_foot=3"})
    )
    assert every != some
    page = session[0]
    run(session, "add_node", file="kicks.npz", settings={"name": "kick", "names": "x, y, z", "request": "at a point"})
    node = next(each for each in page.do("author_show")["nodes"] if each["name"] == "kick")
    assert ([each["name"] for each in node["ranges"]], node["request"]) == (["x", "y", "z"], "at a point")


def test_joint_limits_are_a_file_of_the_folder(session: tuple[FakePage, str, str], folder: Path) -> None:
    page, walk = session[0], marey.load(folder / "walk.bvh")
    marey.io.save_joint_limits(marey.core.learn_joint_limits([walk[:20]], margin=0.0), folder / "limits.json")
    (done,) = run(session, "clean", settings={"joint_limits": "limits.json"})["motions"]
    truth = marey.clean(walk, joint_limits=folder / "limits.json").world().positions
    np.testing.assert_allclose(page.frames(done["motion"], 0, done["n_frames"])[1], truth, atol=1e-5)
    assert "joint_limits='limits.json'" in page.do("share_code", motion=done["motion"])["code"]


def test_different_skeletons_are_refused_with_one_remedy(session: tuple[FakePage, str, str]) -> None:
    with pytest.raises(Failed, match="; retarget them$") as found:
        run(session, "splice", other=None, file="tall.bvh")
    assert found.value.type == "DifferentSkeletons"  # the page then offers to turn on the option
    assert found.value.text.lower().count("retarget") == 1
    with pytest.raises(Failed, match="; retarget one first: Edit panel, Pose, Retarget$"):  # it has no such option
        run(session, "connect", other=None, file="tall.bvh")


def test_a_file_is_never_overwritten(session: tuple[FakePage, str, str]) -> None:
    settings = {"format": "bvh", "name": "twice", "unit": 0.01}
    assert run(session, "save", settings=settings)["notes"] == ["saved twice.bvh"]
    with pytest.raises(Failed, match="'twice' already exists; choose another name, such as 'twice_2'") as found:
        run(session, "save", settings=settings)
    assert found.value.parameter == "name"


@pytest.mark.parametrize(
    ("name", "fields", "message", "parameter"),
    [
        ("resample", {"settings": {"fps": -1}}, "“Frame rate” must be greater than 0", "fps"),
        ("resample", {"settings": {"fsp": 1}}, "unknown field 'fsp'; known fields: fps, band_limited", ""),
        ("trim", {"range": None}, "mark a range on the timeline first", ""),
        ("split", {"frame": 0}, "cannot be cut before its first frame", "frame"),
        ("timewarp", {"settings": {"keys": "soon"}}, "“Time keys” must be times such as 1.0=1.4", "keys"),
        ("rotate", {"settings": {"joint": "tail"}}, "tail", ""),
        ("path", {"points": []}, "draw the path on the floor first", ""),
        ("connect", {"other": None, "file": ""}, "no other clip is chosen", ""),
        ("retarget", {"other": None, "file": "../secret.bvh"}, "expected a path within the open folder", ""),
        ("clean", {"settings": {"joint_limits": "../limits.json"}}, "expected a path within the open folder", ""),
        ("clean", {"settings": {"joint_limits": "none.json"}}, "no such file in the open folder", ""),
        ("limits", {"motions": []}, "choose at least one clip", "motions"),
        ("grid", {"settings": {"weights": "heavy"}}, "“Weights” must be names with numbers, such as head=2", "weights"),
        ("grid", {"settings": {"markers": 3}}, "“Markers” must be body, upper, lower", "markers"),
        ("graph_similarity", {"settings": {"retarget": "walk.bvh"}}, "“Retarget” must be true or false", "retarget"),
        ("add_node", {"file": "walk.bvh"}, "is not a target control saved by marey", ""),
        ("mirror", {"motion": None}, "select a clip first", ""),
        ("solve", {"file": "walk.bvh"}, "choose a file with joint or marker positions", ""),
        ("graph_crowd", {"graph": "walk.bvh"}, "is not a motion graph saved by marey", ""),
        ("graph_crowd", {"graph": ""}, "no graph was built yet", ""),
        ("render", {"settings": {"size": "huge"}}, "“Size” must be WIDTHxHEIGHT", "size"),
    ],
)
def test_wrong_input_names_the_control(
    session: tuple[FakePage, str, str], name: str, fields: dict[str, Any], message: str, parameter: str
) -> None:
    with pytest.raises(Failed, match=message) as found:
        run(session, name, **fields)
    assert parameter in ("", found.value.parameter)


def test_an_unknown_operation_is_refused(session: tuple[FakePage, str, str]) -> None:
    with pytest.raises(Failed, match="unknown operation 'miror'; similar: 'mirror'"):
        session[0].do("operate", operation="miror", settings={})
