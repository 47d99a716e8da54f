"""Show as code: the code of a clip, run in its folder, recreates the clip."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marey
from marey.samples import sample
from marey.studio.operations import OPERATIONS
from tests.studio.client import FakePage, Server
from tests.studio.test_operations import PATH, SETTINGS

# Operations whose results are clips. Smoothing takes long.
EDITS = [
    name
    for name, row in OPERATIONS.items()
    if row.gives == "motion" or name in ("split", "splice", "transplant", "variations")
    if name != "smooth"
]


class Studio:
    """A page with two walks, and its server."""

    def __init__(self, server: Server, page: FakePage) -> None:
        self.server, self.page = server, page
        self.first, self.second = (page.do("open", path=f"{name}.bvh")["motion"] for name in ("walk", "fast"))

    def motion(self, name: str) -> marey.Motion:
        session = self.server.studio.sessions.find(self.page.welcome["session"])
        assert session is not None
        return session.motions.motion(name)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    at = tmp_path_factory.mktemp("code")
    marey.save(sample("walk", fps=30.0, seconds=3.0).motion, at / "walk.bvh")
    marey.save(sample("walk", fps=30.0, seconds=3.0, speed=1.6).motion, at / "fast.bvh")
    return at


@pytest.fixture(scope="module")
def studio(folder: Path, built: Path) -> Iterator[Studio]:
    server = Server(folder, built)
    with FakePage(server) as page:
        yield Studio(server, page)
    server.stop()


@pytest.fixture(autouse=True)
def in_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)


def run_code(studio: Studio, name: str) -> str:
    """Run the code of a clip, and compare its result with the clip; return the code."""
    shared = studio.page.do("share_code", motion=name)
    assert shared["files"] == [], shared["code"]
    values: dict[str, Any] = {}
    code = shared["code"].rpartition("marey.save(")[0]
    exec(code, values)
    made, wanted = values[shared["variable"]], studio.motion(name)
    assert (made.fps, made.skeleton.names) == (wanted.fps, wanted.skeleton.names), code
    for field in ("root_positions", "rotations", "bone_offsets"):
        a, b = (None if array is None else array.tobytes() for array in (getattr(made, field), getattr(wanted, field)))
        assert a == b, (field, code)
    assert np.array_equal(made.skeleton.offsets, wanted.skeleton.offsets)
    assert made.labels == wanted.labels
    assert (made.contacts is None) == (wanted.contacts is None)
    if made.contacts is not None and wanted.contacts is not None:
        assert made.contacts.names == wanted.contacts.names
        assert np.array_equal(made.contacts.mask, wanted.contacts.mask)
    return str(shared["code"])


@pytest.mark.parametrize("name", EDITS)
def test_the_code_of_an_operation_makes_the_same_clip(studio: Studio, name: str) -> None:
    fields: dict[str, Any] = {
        "motion": studio.first, "other": studio.second, "motions": [studio.first, studio.second], "frame": 20,
        "points": PATH, "as_new": True, "settings": SETTINGS.get(name, {}),
    }  # fmt: skip
    if "curve" in OPERATIONS[name].takes:
        fields["points"] = [[0.0, 1.0], [1.0, 2.0]]
    if "range" in OPERATIONS[name].takes or name == "speed":
        fields["range"] = [5, 65]
    done = studio.page.do("operate", operation=name, **fields)
    assert done["motions"]
    for made in done["motions"]:
        run_code(studio, made["motion"])


def test_several_edits_are_written_in_order(studio: Studio) -> None:
    """Edits in place, contacts and labels by hand, and an undone step that is not part of the code."""
    page = studio.page
    name = page.do("open", path="fast.bvh")["motion"]
    page.do("detect_contacts", motion=name)
    page.do("set_contacts", motion=name, lanes=[{"name": "left_heel", "intervals": [[3, 20]]}])
    page.do("set_labels", motion=name, labels=[{"name": 'it\'s a "walk"', "start": 2, "stop": 30}])
    page.operate("trim", name, range=[4, 60])
    page.operate("mirror", name)
    page.do("undo", motion=name)
    page.operate("clean", name, settings={"max_stretch": 0.1})
    code = run_code(studio, name)
    assert "max_stretch=0.1" in code
    assert "# Run this in the folder" in code
    assert "mirror" not in code


def test_the_code_of_blends_and_gaze_makes_the_same_clip(studio: Studio) -> None:
    page, pair = studio.page, [studio.first, studio.second]
    curves = [[[0.0, 1.0], [1.0, 0.2]], [[0.0, 0.0], [1.0, 0.8]]]
    looks = [{"time": 0.5, "point": [1.0, 1.5, 2.0]}, {"time": 1.5, "angles": [0.4, 0.1]}]
    results = [
        page.do("blend", motions=pair, weights=[0.3, 0.7]),
        page.do("blend", motions=pair, curves=curves, settings={"feet": None}),
        page.do("blend_transition", motions=pair, at=[1.5, 1.4]),
        page.do("blend_transition", motions=pair, settings={"length": 0.4}),
        page.do("layer_look", motion=studio.first, goals=looks),
        page.do("layer_look", motion=studio.first, goals=looks[:1], eyes=True, settings={"steady": False}),
    ]
    for each in results:
        run_code(studio, each["motion"]["motion"])
    assert "interpolate_weights" in page.do("share_code", motion=results[1]["motion"]["motion"])["code"]


def test_the_code_of_walks_through_a_graph_makes_the_same_clip(studio: Studio) -> None:
    page = studio.page
    built = page.do("graph_build", motions=[studio.first], files=["fast.bvh"], settings={"fps": 20.0})
    threshold = built["suggested"]
    walk = page.do("graph_walk", threshold=threshold, settings={"seconds": 3.0, "rng": 3}, clean=False)
    path = [{"points": PATH[:2], "label": None}]
    follow = page.do("graph_follow", threshold=threshold, stretches=path, settings={}, clean=True)
    for each in (walk, follow):
        run_code(studio, each["motion"]["motion"])


def test_the_code_of_a_match_is_its_part_of_the_source(studio: Studio) -> None:
    page = studio.page
    page.do("find_build", motions=[studio.first, studio.second], like=studio.first, folder=False)
    found = page.do("find_search", motion=studio.first, start=10, stop=40, threshold=0.2)
    assert found["count"] > 1
    for number in range(2):
        run_code(studio, page.do("find_open", search=found["search"], number=number)["motion"]["motion"])


def test_a_clip_that_code_cannot_make_must_be_saved(studio: Studio) -> None:
    session = studio.server.studio.sessions.find(studio.page.welcome["session"])
    assert session is not None
    name = session.motions.add_result(studio.motion(studio.first)[:20])
    shared = studio.page.do("share_code", motion=name)
    assert shared["files"] == ["walk_2.npz"]
    assert "put or save them there first" in shared["code"]


def test_a_skipped_rest_pose_is_skipped_by_the_code(studio: Studio, folder: Path) -> None:
    walk = marey.load_motion("walk.bvh")
    roots = np.insert(walk.root_positions, 0, [0.0, 1.0, 0.0], axis=0)
    poses = np.insert(walk.rotations, 0, marey.maths.quat.identity(len(walk.skeleton.names)), axis=0)
    marey.save(marey.Motion(walk.skeleton, roots, poses, walk.fps), folder / "rest.bvh")
    opened = studio.page.do("open", path="rest.bvh")
    assert opened["undo"] == 1
    assert "trim_rest" not in run_code(studio, opened["motion"])
    studio.page.do("undo", motion=opened["motion"])
    assert "trim_rest=False" in run_code(studio, opened["motion"])
