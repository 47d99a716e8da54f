"""The Find panel: webs, thresholds, matches, spaces and targets, over a real socket."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marey
from marey.core.placement import find_placement
from marey.find import MatchWeb
from marey.maths import rigid2d
from marey.parametric import ParametricMotion, position
from marey.samples import sample
from marey.studio.panels import find_sources, find_work
from marey.studio.parcels import pack, read_line, unpack_all
from tests.find_medleys import KICK, kick_space, kick_web, kicks, takes
from tests.studio.client import Failed, FakePage, Server

FEATURE = "position:right_ball@farthest"


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory, built: Path) -> Iterator[tuple[FakePage, dict[str, Any]]]:
    """A page of a folder with both takes, a file of another character and a damaged one; all kicks are found."""
    folder = tmp_path_factory.mktemp("takes")
    (folder / "deep").mkdir()
    marey.save(takes()[0], folder / "take0.npz")
    marey.save(takes()[1], folder / "deep/take1.npz")
    walk = sample("walk", seconds=1.0).motion
    child = replace(walk.skeleton, offsets=0.7 * walk.skeleton.offsets)
    marey.save(replace(walk, skeleton=child, contacts=None), folder / "small.npz")
    (folder / "broken.bvh").write_text("HIERARCHY\nROOT x\n{\n")
    marey.save(replace(walk, contacts=None, labels=marey.Labels()), folder / "linked.bvh")
    (folder / "linked.marey.json").unlink(missing_ok=True)
    (folder / "linked.marey.json").symlink_to("/etc/hostname")
    server = Server(folder, built)
    with FakePage(server) as page:
        motion = page.do("open", path="take0.npz")["motion"]
        web = page.do("find_build", like=motion, folder=True)
        query = {"motion": motion, "start": KICK[0], "stop": KICK[1]}
        done = page.do("find_search", **query, threshold=0.07)
        yield page, {
            "motion": motion, "web": web, "query": query, "done": done, "server": server, "folder": folder
        }  # fmt: skip
    server.stop()


def test_a_web_has_all_files_of_one_skeleton_and_reports_what_it_left_out(
    found: tuple[FakePage, dict[str, Any]],
) -> None:
    web = found[1]["web"]
    assert sorted(web["clips"]) == ["deep/take1.npz", "take0.npz"]
    assert (web["frames"], web["fps"]) == (sum(map(len, takes())), 30.0)
    assert [each["names"] for each in web["skipped"]] == [["linked.bvh"], ["broken.bvh"], ["small.npz"]]
    assert "is outside the open folder" in web["skipped"][0]["reason"]
    assert "offsets differ" in web["skipped"][2]["reason"]


def test_thresholds_are_offered_as_the_library_has_them(found: tuple[FakePage, dict[str, Any]]) -> None:
    page, result = found
    page.progress.clear()
    report = page.do("find_suggest", **result["query"])
    assert any(0.0 < each["fraction"] <= 1.0 for each in page.progress), "the bar moves"
    truth = kick_web().suggest_threshold("take0", *KICK)
    assert report["threshold"] == pytest.approx(truth.threshold, rel=1e-3)
    assert (report["n_matches"], report["stands_out"]) == (5, True)
    assert report["counts"] == truth.counts.tolist()
    assert len(report["thresholds"]) == len(report["counts"])


def test_matches_are_paged_and_face_ahead(found: tuple[FakePage, dict[str, Any]]) -> None:
    page, result = found
    search, body = result["done"]["search"], result["done"]["body"]
    assert result["done"]["count"] == len(kicks()) == 6
    assert (result["done"]["joint"], result["done"]["moment"]) == ("right_ball", "farthest")
    tiles = page.do("find_matches", search=search, first=0, count=60)["tiles"]
    paged = [tile for first in (0, 4) for tile in page.do("find_matches", search=search, first=first, count=4)["tiles"]]
    assert tiles == paged
    assert [tile["number"] for tile in tiles] == list(range(6))
    assert [tile["distance"] for tile in tiles] == pytest.approx(kicks().distances.tolist(), abs=1e-6)
    motion = kicks().motions[0]
    world = motion.world()
    ahead = rigid2d.apply(rigid2d.invert(find_placement(motion, 0)), world.positions[::2])
    points = np.array(tiles[0]["points"]).reshape(tiles[0]["n_frames"], -1, 3) / 1000.0
    roles = motion.skeleton.roles
    for role in ("hips", "right_ball", "head", "left_hand"):
        np.testing.assert_allclose(points[:, body["roles"][role]], ahead[:, roles[role]], atol=6e-4)
    assert tiles[0]["fps"] == pytest.approx(15.0)
    assert (tiles[0]["start"], tiles[0]["stop"]) == pytest.approx((KICK[0] / 30.0, KICK[1] / 30.0))


def test_the_target_of_a_kick_with_a_step_is_not_on_the_planted_foot() -> None:
    kick = kicks().motions[0]
    ahead = np.zeros((len(kick), 3))
    ahead[:, 2] = np.linspace(0.0, 6.0, len(kick))
    stepped = replace(kick, root_positions=kick.root_positions + ahead, contacts=None)
    assert find_work.choose_target(stepped) == {"joint": "right_ball", "moment": "highest"}


def test_a_match_is_opened_as_a_motion(found: tuple[FakePage, dict[str, Any]]) -> None:
    page, result = found
    opened = page.do("find_open", search=result["done"]["search"], number=3)
    info = opened["motion"]
    assert (info["n_frames"], opened["note"]) == (len(kicks().motions[3]), "")
    assert info["name"].endswith(" s")
    page.do("close", motion=info["motion"])


def test_what_was_compared_at_a_lower_rate_is_opened_and_aimed_at_its_own(
    found: tuple[FakePage, dict[str, Any]],
) -> None:
    with FakePage(found[1]["server"]) as page:
        motion = page.do("open", path="take0.npz")["motion"]
        assert page.do("find_build", like=motion, motions=[motion], rate=15.0)["fps"] == 15.0
        query = {"motion": motion, "start": KICK[0] + 1, "stop": KICK[1]}
        search = page.do("find_search", **query, threshold=0.1)["search"]
        tiles = page.do("find_matches", search=search, first=0, count=2)["tiles"]

        def opened(number: int) -> tuple[dict[str, Any], str, Any]:
            report = page.do("find_open", search=search, number=number)
            info = report["motion"]
            return info, report["note"], page.frames(info["motion"], 0, info["n_frames"])[1]

        truth = takes()[0].world().positions
        info, note, positions = opened(0)
        assert (info["fps"], note) == (30.0, "")
        np.testing.assert_allclose(positions, truth[KICK[0] + 1 : KICK[1]], atol=1e-5)
        first = round(30.0 * tiles[1]["start"])
        info, note, positions = opened(1)
        assert (info["fps"], note) == (30.0, "")
        np.testing.assert_allclose(positions, truth[first : round(30.0 * tiles[1]["stop"]) - 1], atol=1e-5)
        space = page.do("aim_make", search=search, feature=FEATURE, settings={"samples": 50})
        assert space["first"]["motion"]["fps"] == 30.0
        # A changed clip is opened as it was indexed, with a note.
        page.operate("clean", motion)
        info, note, _ = opened(1)
        assert info["fps"] == 15.0
        assert note == "take0 is missing or has changed since it was indexed; the indexed version at 15 Hz is used."
        assert page.do("aim_make", search=search, feature=FEATURE, settings={"samples": 50})["notes"][0] == note
        # Another web does not change the current target control.
        page.do("find_build", like=motion, motions=[motion], rate=15.0)
        stands = page.do("find_now")
        assert (stands["found"], stands["space"]["names"]) == (None, space["names"])


def test_a_space_is_aimed_by_numbers_and_by_places(found: tuple[FakePage, dict[str, Any]]) -> None:
    page, result = found
    search = result["done"]["search"]
    space = page.do("aim_make", search=search, feature=FEATURE, drop=[5], settings={"samples": 200})
    assert (space["used"], space["given"]) == (5, 5)
    assert space["units"] == ["m", "m", "m"]
    first = space["first"]
    name = first["motion"]["motion"]
    target = [(low + high) / 2 for low, high in zip(space["low"], space["high"], strict=True)]
    solved = page.do("aim", target=target, refine=True)
    assert solved["motion"]["motion"] == name
    assert (solved["motion"]["undo"], solved["motion"]["revision"] > first["motion"]["revision"]) == (0, True)
    # With the world position at which that target was drawn, it is the same motion again.
    again = page.do("aim", point=solved["point"], refine=True)
    assert again["target"] == pytest.approx(target, abs=1e-9)
    assert again["reached"] == pytest.approx(solved["reached"], abs=1e-9)
    _, positions, _ = page.frames(name, 0, again["motion"]["n_frames"])
    ball = again["motion"]["roles"]["right_ball"]
    np.testing.assert_allclose(np.array(again["path"]).reshape(-1, 3), positions[:, ball], atol=1e-3)
    np.testing.assert_allclose(positions[again["moment"], ball], again["hit"], atol=0.03)
    assert np.linalg.norm(np.subtract(again["hit"], again["point"])) == pytest.approx(again["errors"]["m"], abs=1e-6)
    points = np.array(space["points"]).reshape(-1, 3)
    assert np.linalg.norm(points - again["point"], axis=1).min() < 0.2
    # It stands where the query stood.
    query = takes()[0][KICK[0] : KICK[1]].world().positions[0]
    hips = takes()[0].skeleton.roles["hips"]
    np.testing.assert_allclose(positions[0, hips, [0, 2]], query[hips, [0, 2]], atol=0.05)


def test_targets_out_of_reach_are_reported_and_added_results_stay(found: tuple[FakePage, dict[str, Any]]) -> None:
    page, result = found
    page.do("aim_make", search=result["done"]["search"], feature=FEATURE, settings={"samples": 100})
    far = page.do("aim", target=[0.0, 9.0, 0.0])
    assert far["projected"]
    assert far["errors"]["m"] > 5.0
    saved = page.do("aim_keep")
    x, y, z = far["reached"]
    assert saved["name"] == f"kick at {x:.2f}, {y:.2f}, {z:.2f} m #2", "by where it gets, not by what was asked for"
    assert saved["motion"] != far["motion"]["motion"]
    moved = page.do("aim", target=far["aimed"])
    assert page.do("motion", motion=saved["motion"]) == saved
    # A closed motion is returned as a new one.
    page.do("close", motion=moved["motion"]["motion"])
    assert page.do("aim", target=far["aimed"])["motion"]["motion"] != moved["motion"]["motion"]


def test_a_space_of_whole_motions_has_no_points(found: tuple[FakePage, dict[str, Any]]) -> None:
    page, result = found
    space = page.do("aim_make", search=result["done"]["search"], feature="duration", settings={"samples": 50})
    assert (space["points"], space["first"]["point"], space["first"]["moment"]) == ([], None, None)
    assert space["first"]["errors"].keys() == {"s"}
    with pytest.raises(Failed, match="this motion is controlled by duration, not by a point"):
        page.do("aim", point=[0.0, 1.0, 0.0])
    with pytest.raises(Failed, match="either a target or a point in the world, got neither"):
        page.do("aim")
    with pytest.raises(Failed, match="either a target or a point in the world, got both"):
        page.do("aim", target=[1.0], point=[0.0, 1.0, 0.0])
    with pytest.raises(Failed, match=r"target must have 1 number .*, not 2"):
        page.do("aim", target=[1.0, 2.0])


def test_a_changed_motion_is_searched_as_an_external_query(found: tuple[FakePage, dict[str, Any]]) -> None:
    page, result = found
    cut = page.do("find_open", search=result["done"]["search"], number=0)["motion"]
    again = page.do("find_search", motion=cut["motion"], start=0, stop=cut["n_frames"], threshold=0.07)
    # The clip that it was cut from is a match like any other.
    assert again["count"] == result["done"]["count"] + 1
    with pytest.raises(Failed, match="these matches are out of date; search again"):
        page.do("find_matches", search=result["done"]["search"], first=0, count=1)
    result["done"] = page.do("find_search", **result["query"], threshold=0.07)
    page.do("close", motion=cut["motion"])


@pytest.mark.parametrize(
    ("do", "fields", "message"),
    [
        ("find_build", {"folder": True, "rate": 5.0}, "expected a rate of at least 10 Hz, got 5"),
        ("find_search", {"start": 5, "stop": 5, "threshold": 0.1}, "expected a range within frames 0 to"),
        ("find_search", {"start": 0, "stop": 10**6, "threshold": 0.1}, "expected a range within frames 0 to"),
        ("find_search", {"start": 0, "stop": 2, "threshold": 0.1}, "frames"),
        ("find_search", {"start": KICK[0], "stop": KICK[1], "threshold": -1.0}, "threshold"),
        ("find_search", {"start": KICK[0], "stop": KICK[1], "threshold": 1e-6}, "closest"),
    ],
)
def test_bad_searches_are_refused(
    found: tuple[FakePage, dict[str, Any]], do: str, fields: dict[str, Any], message: str
) -> None:
    page, result = found
    with pytest.raises(Failed, match=message):
        page.do(do, **{"like" if do == "find_build" else "motion": result["motion"]}, **fields)


@pytest.mark.parametrize(
    ("do", "fields", "message"),
    [
        ("find_matches", {"first": -1, "count": 3}, "expected up to 60 matches, starting at 0 or later"),
        ("find_matches", {"first": 0, "count": 61}, "expected up to 60 matches, starting at 0 or later"),
        ("find_open", {"number": 6}, "the number of a match must be from 0 to 5, not 6"),
        ("aim_make", {"feature": "nonsense"}, "no feature named 'nonsense'"),
        ("aim_make", {"feature": "position:tail"}, "tail"),
        ("aim_make", {"feature": FEATURE, "drop": [0]}, "the query, match 0, cannot be removed"),
        ("aim_make", {"feature": FEATURE, "drop": [1, 2, 3, 4, 5]}, "two"),
        ("aim_make", {"feature": FEATURE, "settings": {"samples": -1}}, "must be from 0 to 1e.06, not -1"),
    ],
)
def test_bad_questions_about_matches_are_refused(
    found: tuple[FakePage, dict[str, Any]], do: str, fields: dict[str, Any], message: str
) -> None:
    page, result = found
    with pytest.raises(Failed, match=message):
        page.do(do, search=result["done"]["search"], **fields)


def test_what_was_compared_is_saved_and_searched_by_another(found: tuple[FakePage, dict[str, Any]]) -> None:
    page, result = found
    file = result["folder"] / "all takes.npz"
    save = {"kind": "web", "name": "all takes"}
    assert page.do("find_save", **save) == {"path": file.name, "was_there": False}
    assert sorted(MatchWeb.load(file).names) == ["deep/take1.npz", "take0.npz"]
    file.write_bytes(file.read_bytes() + b" ")
    before = file.read_bytes()
    assert page.do("find_save", **save) == {"path": file.name, "was_there": True}
    assert file.read_bytes() == before, "it is not replaced unasked"
    assert not page.do("find_save", **save, replace=True)["was_there"]
    assert file.read_bytes() == before[:-1]
    assert not list(result["folder"].glob(".*")), "nothing is left half written"
    assert {"path": file.name, "kind": "web"} in page.do("find_files")["files"]
    assert file.name not in [entry["path"] for entry in page.do("list")["files"]]
    with FakePage(result["server"]) as other:
        motion = other.do("open", path="take0.npz")["motion"]
        web = other.do("find_load", path=file.name)
        assert {**web, "notes": []} == {**result["web"], "skipped": []}
        assert web["notes"] == ["Not in the index: broken.bvh, small.npz. Index the clips again to include them."]
        assert other.do("find_where", motion=motion) == {"where": "inside"}
        again = other.do("find_search", **{**result["query"], "motion": motion}, threshold=0.07)
        assert again["count"] == result["done"]["count"], "it knows itself, and is not a match of its own"
        stands = other.do("find_now")
        assert (stands["web"], stands["found"], stands["space"]) == (web, again, None)
        assert stands["search"]["stop"] == result["query"]["stop"]


def test_a_web_is_checked_against_the_motions_that_are_there(tmp_path: Path) -> None:
    kick_web().save(tmp_path / "web.npz")
    first, second = takes()
    marey.save(first, tmp_path / "take0.npz")
    turned = replace(second, root_positions=second.root_positions + [0.0, 0.0, 0.01])
    marey.save(turned, tmp_path / "take1.npz")
    files = [(path.name, str(path)) for path in (tmp_path / "take0.npz", tmp_path / "take1.npz")]

    def load(files: list[tuple[str, str]], motions: list[marey.Motion]) -> dict[str, Any]:
        return find_sources.load(lambda progress, text: None, str(tmp_path / "web.npz"), files, motions)

    report = load(files, [])
    assert report["origins"] == [(0, ""), None]
    assert report["notes"] == [
        "Changed since the index was built: take1. Index the clips again to search the current versions."
    ]
    report = load(files, [turned, replace(second, name="of another name")])
    assert (report["origins"], report["notes"]) == ([(0, ""), (3, "")], [])
    report = load([], [])
    assert report["origins"] == [None, None]
    assert report["notes"] == [
        "Not in the open folder and not open: take0, take1. The search uses the indexed version."
    ]


def test_an_aimable_motion_is_saved_and_aimed_by_another(found: tuple[FakePage, dict[str, Any]]) -> None:
    page, result = found
    page.do("aim_make", search=result["done"]["search"], feature=FEATURE, settings={"samples": 100})
    assert page.do("find_save", kind="space", name="kick")["path"] == "kick.npz"
    space = ParametricMotion.load(result["folder"] / "kick.npz")
    target = space.samples[60].tolist()
    with FakePage(result["server"]) as other:
        report = other.do("aim_load", path="kick.npz")
        assert (report["used"], report["given"], report["names"]) == (6, 6, list(space.names))
        solved = other.do("aim", target=target)
        truth = space(target).world().positions
        _, positions, _ = other.frames(solved["motion"]["motion"], 0, len(truth))
        np.testing.assert_allclose(positions, truth, atol=1e-5)
        # With the character at the origin, a requested position is that position in the world.
        assert solved["point"] == pytest.approx(target, abs=1e-9)
        assert other.do("find_now")["space"]["first"] == solved


def test_a_quality_that_was_given_by_hand_can_be_aimed_at(found: tuple[FakePage, dict[str, Any]]) -> None:
    page, result = found
    space = ParametricMotion.build(kicks(), values=np.linspace(0.0, 1.0, len(kicks())), names=["mood"])
    space.save(result["folder"] / "mood.npz")
    report = page.do("aim_load", path="mood.npz")
    assert (report["names"], report["low"], report["high"], report["points"]) == (["mood"], [0.0], [1.0], [])
    solved = page.do("aim", target=[1.5], refine=True)
    assert (solved["reached"], solved["projected"], solved["errors"]) == ([1.0], True, {"": 0.5})


def test_a_motion_is_sent_unchanged() -> None:
    motion = kick_space()(kick_space().samples[40], start=(0.3, 1.0, 2.0))
    again, other = unpack_all(pack({"motion": motion, "other": motion[:3]})).values()
    assert again.skeleton is other.skeleton
    assert again.rotations.flags.aligned
    np.testing.assert_array_equal(again.rotations, motion.rotations)
    np.testing.assert_array_equal(again.world().positions, motion.world().positions)
    assert motion.contacts is not None
    assert again.contacts is not None
    np.testing.assert_array_equal(again.contacts.mask, motion.contacts.mask)
    assert (again.contacts.names, again.labels, again.name) == (motion.contacts.names, motion.labels, motion.name)
    assert again.source.provenance == motion.source.provenance


def test_plain_data_and_arrays_go_to_the_worker_and_back() -> None:
    sent = {
        "a": [1, (2.5, None), "text", True],
        "b": {"mask": np.array([True, False, True]), "none": np.empty((0, 3)), "x": np.arange(6.0).reshape(2, 3).T},
        "c": np.float64(0.1),
        "d": np.array(["left", "right hand"]),
    }
    message = pack(sent)
    line, _, data = message.partition(b"\n")
    assert read_line(line)[1] == len(data)
    back = unpack_all(message)
    assert (back["a"], back["c"]) == ([1, [2.5, None], "text", True], 0.1)
    for name, array in sent["b"].items():
        np.testing.assert_array_equal(back["b"][name], array)
        assert back["b"][name].dtype == array.dtype
    assert back["d"].tolist() == ["left", "right hand"]
    with pytest.raises(TypeError, match="objects"):
        pack({"a": np.array([None])})


def test_a_drag_needs_one_message_and_no_files(found: tuple[FakePage, dict[str, Any]]) -> None:
    page, result = found
    space = page.do("aim_make", search=result["done"]["search"], feature=FEATURE, settings={"samples": 50})
    own = result["server"].studio.sessions.find(page.welcome["session"]).places.own
    before = sorted(own.rglob("*"))
    number = page.send("aim", target=space["low"])
    solved = page.answer(number)["motion"]
    block = page.block(number)  # it came before the reply
    assert block is not None
    header, positions, rotations = block
    assert (header[1], header[4], header[5]) == (1, 0, solved["n_frames"])
    requested = page.frames(solved["motion"], 0, solved["n_frames"])
    np.testing.assert_array_equal(positions, requested[1])
    np.testing.assert_array_equal(rotations, requested[2])
    assert sorted(own.rglob("*")) == before


def test_matches_of_matches_may_be_left_out(found: tuple[FakePage, dict[str, Any]]) -> None:
    page, result = found
    threshold = 0.025
    near = page.do("find_search", **result["query"], threshold=threshold, settings={"max_tiers": 1})
    truth = kick_web().search("take0", *KICK, threshold, max_tiers=1)
    tiles = page.do("find_matches", search=near["search"], first=0, count=60)["tiles"]
    assert [tile["tier"] for tile in tiles] == [match.tier for match in truth]
    assert near["count"] < page.do("find_search", **result["query"], threshold=threshold)["count"]
    alone = page.do("find_suggest", **result["query"], settings={"max_tiers": 1})["counts"]
    assert alone == kick_web().suggest_threshold("take0", *KICK, max_tiers=1).counts.tolist()
    assert min(alone) < max(alone)
    repeats = page.do("find_suggest", **result["query"], repeats=True)
    assert repeats["counts"] == kick_web().suggest_threshold("take0", *KICK, overlap=(0.8, 0.5)).counts.tolist()
    result["done"] = page.do("find_search", **result["query"], threshold=0.07)


def test_a_motion_is_reported_as_inside_changed_or_outside(found: tuple[FakePage, dict[str, Any]]) -> None:
    page, result = found
    motion = page.do("open", path="take0.npz")["motion"]
    assert page.do("find_where", motion=motion) == {"where": "inside"}
    cut = page.do("find_open", search=result["done"]["search"], number=1)["motion"]["motion"]
    assert page.do("find_where", motion=cut) == {"where": "outside"}
    page.operate("clean", motion)
    assert page.do("find_where", motion=motion) == {"where": "changed"}
    page.do("undo", motion=motion)
    assert page.do("find_where", motion=motion) == {"where": "inside"}
    page.do("set_labels", motion=motion, labels=[])
    assert page.do("find_where", motion=motion) == {"where": "inside"}
    child = page.do("open", path="small.npz")["motion"]
    assert page.do("find_where", motion=child) == {"where": "other_skeleton"}
    with pytest.raises(Failed, match="offsets differ"):
        page.do("find_search", motion=child, start=0, stop=50, threshold=0.07)
    for each in (motion, cut, child):
        page.do("close", motion=each)


@pytest.mark.parametrize(
    ("do", "fields", "message"),
    [
        ("find_save", {"kind": "web", "name": "take0"}, "take0.npz already exists and is a different kind of file"),
        (
            "find_save",
            {"kind": "web", "name": "take0", "replace": True},
            "and is a different kind of file; choose another name",
        ),
        ("find_save", {"kind": "web", "name": "../out"}, "expected a name of letters"),
        ("find_save", {"kind": "web", "name": ""}, "expected a name of letters"),
        ("find_load", {"path": "take0.npz"}, "is not a search index"),
        ("find_load", {"path": "none.npz"}, "no such file"),
        ("find_load", {"path": "../out.npz"}, "expected a path within the open folder"),
        ("find_load", {"path": "away.npz"}, "outside the open folder"),
        ("aim_load", {"path": "take0.npz"}, "is not a target control"),
    ],
)
def test_other_files_are_neither_read_nor_replaced(
    found: tuple[FakePage, dict[str, Any]], do: str, fields: dict[str, Any], message: str
) -> None:
    page, result = found
    away = result["folder"] / "away.npz"
    if not away.is_symlink():
        away.symlink_to("/etc/hostname")
    with pytest.raises(Failed, match=message):
        page.do(do, **fields)
    assert not (result["folder"].parent / "out.npz").exists()


def test_a_search_needs_a_web(page: FakePage) -> None:
    motion = page.do("open", path="walk.bvh")["motion"]
    with pytest.raises(Failed, match="nothing to search yet; press “Index clips” first"):
        page.do("find_suggest", motion=motion, start=0, stop=30)
    with pytest.raises(Failed, match="search again"):
        page.do("aim_make", search=1, feature=FEATURE)
    with pytest.raises(Failed, match="no target control yet"):
        page.do("aim", target=[0.0, 1.0, 0.0])
    with pytest.raises(Failed, match="nothing to save yet; press “Index clips” first"):
        page.do("find_save", kind="web", name="takes")
    assert page.do("find_now") == {"web": None, "search": None, "found": None, "space": None}
    with pytest.raises(Failed, match="no clips to index; open some clips"):
        page.do("find_build", like=motion)


def test_the_library_agrees_on_what_a_text_means() -> None:
    assert marey.parametric.parse_features(FEATURE) == (position("right_ball"),)
