"""The View and Compare panels: their commands, over a real socket."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import marey
from marey.samples import sample
from marey.studio.curves import align_frames, make_curves
from marey.studio.describe import describe_motion
from marey.studio.live import MotionPlayer
from marey.studio.motion_history import Motions, Opened
from tests.studio.client import Failed, FakePage, Server, unpack


def test_a_file_is_opened_and_drawn_as_the_library_has_it(page: FakePage, clips: Path) -> None:
    truth = marey.load(clips / "walk.bvh")
    info = page.do("open", path="walk.bvh")
    assert (info["name"], info["n_frames"], info["fps"]) == ("walk", len(truth), truth.fps)
    assert tuple(info["joints"]) == truth.skeleton.names
    assert info["parents"] == truth.skeleton.parents.tolist()
    assert info["bone_lengths"] == pytest.approx(truth.skeleton.bone_lengths.tolist())
    assert info["roles"] == dict(truth.skeleton.roles.items())
    assert {lane["name"]: lane["intervals"] for lane in info["contacts"]} == {
        name: [list(span) for span in truth.contacts.intervals(name)] for name in truth.contacts.names
    }
    assert info["labels"] == [label._asdict() for label in truth.labels]
    assert (info["unsaved"], info["undo"], info["kind"], info["skin"]) == (False, 0, "motion", None)
    header, positions, rotations = page.frames(info["motion"], 10, 90)
    assert header == (1, 1, len(truth.skeleton), page.number, 10, 80)
    world = truth.world()
    np.testing.assert_allclose(positions, world.positions[10:90], atol=1e-6)
    np.testing.assert_allclose(rotations, world.rotations[10:90][..., [1, 2, 3, 0]], atol=1e-6)


@pytest.mark.parametrize(("start", "stop"), [(0, 0), (-1, 5), (5, 4), (0, 122), (0, 10**9)])
def test_frames_that_are_not_there_are_refused(page: FakePage, start: int, stop: int) -> None:
    motion = page.do("open", path="walk.bvh")["motion"]
    with pytest.raises(Failed, match=r"expected up to 512 frames within 0 to 121"):
        page.frames(motion, start, stop)


def test_folder_is_listed(page: FakePage) -> None:
    files = {each["path"]: each for each in page.do("list")["files"]}
    assert set(files) == {"walk.bvh", "deep/turn.bvh", "both.glb"}
    assert files["walk.bvh"]["labels"] == ["walk"]
    assert page.welcome["folder"]


def test_one_clip_of_several_is_opened_and_its_file_fetched(page: FakePage, server: Server, clips: Path) -> None:
    info = page.do("open", path="both.glb", settings={"clip": "walk"})
    assert info["clips"] == ["turn", "walk"]
    assert info["n_frames"] == 121
    status, headers, body = server.request("GET", info["skin"])
    assert (status, headers["content-type"]) == (200, "model/gltf-binary")
    assert body == (clips / "both.glb").read_bytes()
    with pytest.raises(Failed, match=r"both.glb contains 2 clips, but a sidecar describes only one"):
        page.do("save", motion=info["motion"])


def test_a_file_is_read_with_given_settings(page: FakePage) -> None:
    plain = page.do("open", path="walk.bvh")
    info = page.do("open", path="walk.bvh", settings={"file_fps": 2 * plain["fps"], "unit": "m", "up": "y"})
    assert info["fps"] == 2 * plain["fps"]
    assert info["n_frames"] == plain["n_frames"]
    assert page.do("open", path="walk.bvh", settings={"fps": 10.0})["fps"] == plain["fps"]
    with pytest.raises(Failed, match="“Unit” must be one of"):
        page.do("open", path="walk.bvh", settings={"unit": "furlong"})


def test_file_errors_do_not_reveal_the_folder(page: FakePage, clips: Path) -> None:
    (clips / "deep/bad.bvh").write_text("HIERARCHY\nROOT x\n{\n")
    try:
        with pytest.raises(Failed) as failed:
            page.do("open", path="deep/bad.bvh")
    finally:
        (clips / "deep/bad.bvh").unlink()
    assert failed.value.type == "ParseError"
    assert failed.value.text.startswith("deep/bad.bvh")
    assert str(clips) not in failed.value.text


ASF = """:version 1.10
:units
  angle deg
:root
  order TX TY TZ RX RY RZ
  axis XYZ
  position 0 0 0
  orientation 0 0 0
:bonedata
  begin
    name spine
    direction 0 1 0
    length 5
    axis 0 0 0 XYZ
  end
:hierarchy
  begin
    root spine
  end
"""


def test_a_motion_without_its_skeleton_asks_for_what_the_page_can_give(page: FakePage, clips: Path) -> None:
    (clips / "deep/05_01.amc").write_text(":FULLY-SPECIFIED\n:DEGREES\n1\nroot 0 17 0 0 0 0\n")
    (clips / "point.asf").write_text(ASF)
    try:
        with pytest.raises(Failed) as failed:
            page.do("open", path="deep/05_01.amc")
        assert page.do("open", path="deep/05_01.amc", settings={"skeleton": "point.asf"})["joints"][0] == "root"
        with pytest.raises(Failed, match="no such file in the open folder"):
            page.do("open", path="deep/05_01.amc", settings={"skeleton": "deep/point.asf"})
    finally:
        (clips / "deep/05_01.amc").unlink()
        (clips / "point.asf").unlink()
    assert failed.value.text == (
        "deep/05_01.amc: an AMC file needs its skeleton; looked for 05_01.asf, 05.asf or a single .asf file in its "
        "folder, found none; drop the .asf file together with the .amc file, or put it into the same folder"
    )


def test_a_folder_is_not_named_in_an_error(page: FakePage, server: Server, clips: Path) -> None:
    session = server.studio.sessions.find(page.welcome["session"])
    session._loop.call_soon_threadsafe(session._fail, 77, "Odd", f"no {clips}/a.bvh in {str(clips)!r}")
    with pytest.raises(Failed, match="Odd: no a.bvh in 'the folder'"):
        page.answer(77)


def test_a_reloaded_page_learns_of_work_in_progress(server: Server) -> None:
    first = FakePage(server)
    motion = first.do("open", path="walk.bvh")["motion"]
    job = first.send("operate", operation="measure", settings={}, motion=motion)
    first.do("list")
    with FakePage(server, first.welcome["session"]) as page:
        assert [(work["job"], work["command"]) for work in page.welcome["work"]] == [(job, "measure")]
        assert page.answer(job)["rows"]
    with FakePage(server, first.welcome["session"]) as page:
        assert page.welcome["work"] == []


def test_edits_of_labels_are_named_in_the_history(page: FakePage, clips: Path) -> None:
    name = page.do("open", path="deep/turn.bvh")["motion"]

    def edit(*labels: tuple[str, int, int], merge: bool = False) -> list[str]:
        spans = [{"name": label, "start": start, "stop": stop} for label, start, stop in labels]
        info = page.do("set_labels", motion=name, labels=spans, merge_undo=merge)
        return [step["name"] for step in info["steps"][1:]]

    assert edit(("label", 0, 30)) == ["label “label” added"]
    # The name of a new label is part of adding it.
    assert edit(("stride", 0, 30), merge=True) == ["label “stride” added"]
    edit(("stride", 0, 20))
    edit(("step", 0, 20))
    steps = ["label “stride” added", "label “stride” moved", "label “step” renamed", "label “step” removed"]
    assert edit() == steps
    assert edit(("a", 0, 5), ("b", 5, 9)) == [*steps, "labels edited"]
    page.do("close", motion=name)


def test_edits_are_undone_redone_and_saved(page: FakePage, clips: Path) -> None:
    name = page.do("open", path="deep/turn.bvh")["motion"]
    revision = page.do("motion", motion=name)["revision"]
    info = page.do("set_contacts", motion=name, lanes=[{"name": "left_heel", "intervals": [[3, 9], [20, 30]]}])
    info = page.do("set_labels", motion=name, labels=[{"name": "<i>turn</i>", "start": 0, "stop": 30}])
    assert (info["undo"], info["redo"], info["unsaved"], info["revision"]) == (2, 0, True, revision)
    info = page.do("undo", motion=name)
    assert (info["labels"], info["undo"], info["redo"]) == ([], 1, 1)
    numbers = [each["number"] for each in info["steps"]]
    assert (len(numbers), numbers) == (3, sorted(numbers))
    names = [each["name"] for each in info["steps"][1:]]
    assert names == ["contacts of left heel edited", "label “<i>turn</i>” added"]
    info = page.do("redo", motion=name)
    assert info["labels"] == [{"name": "<i>turn</i>", "start": 0, "stop": 30}]
    with pytest.raises(Failed, match="nothing to redo"):
        page.do("redo", motion=name)
    try:
        saved = page.do("save", motion=name)
        assert (saved["path"], saved["url"], saved["motion"]["unsaved"]) == ("turn.marey.json", None, False)
        again = marey.load(clips / "deep/turn.bvh")
        assert again.contacts.intervals("left_heel") == ((3, 9), (20, 30))
        assert [tuple(label) for label in again.labels] == [("<i>turn</i>", 0, 30)]
    finally:
        (clips / "deep/turn.marey.json").unlink(missing_ok=True)


@pytest.mark.parametrize(
    ("do", "fields", "message"),
    [
        (
            "set_contacts",
            {"lanes": [{"name": "tail", "intervals": []}]},
            "UnknownName: no contact point 'tail'; the contact points are left_heel, left_ball, right_heel,",
        ),
        (
            "set_contacts",
            {"lanes": [{"name": "left_heel", "intervals": [[5, 4]]}]},
            "must have 0 <= start < stop <= 121",
        ),
        (
            "set_labels",
            {"labels": [{"name": "x", "start": 0, "stop": 999}]},
            "InvalidValue: label 'x' ends at frame 999, but the motion has only 121 frames",
        ),
        ("set_labels", {"labels": [{"name": "", "start": 0, "stop": 9}]}, "name of a label must be a non-empty string"),
        ("curves", {"curve": "position", "joint": 99}, "“joint” must be from 0 to"),
        ("cloud", {"frame": 121}, "“frame” must be from 0 to 120, not 121"),
        ("cloud", {"frame": 1, "window": 99}, "expected a window of 0 to 10 s"),
        ("undo", {}, "nothing to undo"),
        ("live_start", {"rate": 2**52}, "expected 1 to 240 frames per second"),
        ("live_start", {"rate": 0.5}, "expected 1 to 240 frames per second"),
        (
            "align",
            {"frame": 0, "to": "m1", "to_frame": 999},
            "InvalidValue: frame of 'walk' must be from 0 to 120, not 999",
        ),
    ],
)
def test_edits_that_do_not_fit_are_refused(page: FakePage, do: str, fields: dict[str, object], message: str) -> None:
    name = page.do("open", path="walk.bvh")["motion"]
    with pytest.raises(Failed, match=message):
        page.do(do, motion=name, **fields)
    assert page.do("motion", motion=name)["undo"] == 0


def test_contacts_are_found_in_the_worker(page: FakePage, clips: Path) -> None:
    name = page.do("open", path="deep/turn.bvh")["motion"]
    info = page.do("detect_contacts", motion=name)
    truth = marey.detect_contacts(marey.load(clips / "deep/turn.bvh"))
    assert {lane["name"]: lane["intervals"] for lane in info["contacts"]} == {
        point: [list(span) for span in truth.contacts.intervals(point)] for point in truth.contacts.names
    }
    assert info["floor"] == pytest.approx(truth.source.floor)
    with pytest.raises(Failed, match="“Enter speed” must be greater than 0"):
        page.do("detect_contacts", motion=name, settings={"enter_speed": 0.0})
    assert page.progress[0]["text"] == "detecting contacts"


def test_cleanup_shows_its_metrics_and_is_undone(page: FakePage, clips: Path) -> None:
    name = page.do("open", path="walk.bvh")["motion"]
    before = page.do("motion", motion=name)
    done = page.operate("clean", name)
    truth = marey.clean(marey.load(clips / "walk.bvh"))
    (after,) = done["motions"]
    assert after["revision"] != before["revision"]
    np.testing.assert_allclose(page.frames(name, 0, 121)[1], truth.world().positions, atol=1e-5)
    slides = {name: (float(a), float(b)) for name, a, b in done["rows"] if name.startswith("foot slide while planted")}
    assert all(now <= then for then, now in slides.values())
    assert slides
    assert after["history"] == ["cleaned"]
    # The state before the edit can still be drawn.
    assert before["before"] is None
    source = page.frames(name, 0, 121, step=after["before"])[1]
    np.testing.assert_allclose(source, marey.load(clips / "walk.bvh").world().positions, atol=1e-5)
    with pytest.raises(Failed, match="this step is no longer in the undo history of the clip"):
        page.frames(name, 0, 121, step=10**6)
    undone = page.do("undo", motion=name)
    assert undone["revision"] == before["revision"]
    beside = page.operate("clean", name, as_new=True)["motions"][0]
    assert (beside["name"], beside["motion"] != name, beside["file"]) == ("walk (cleaned)", True, "")
    assert page.do("motion", motion=name)["undo"] == 0
    # The page shows how far each plant slid before, whether the motion was changed or made from another.
    for info, known in ((after, True), (beside, True), (before, False)):
        plants = [plant for lane in info["contacts"] for plant in lane["plants"]]
        assert plants
        assert all((plant["slide_before"] is not None) == known for plant in plants)
        assert not known or all(plant["slide"] <= plant["slide_before"] + 1e-3 for plant in plants)
    same = page.operate("measure", beside["motion"], other=name)["rows"]
    assert len(same) == len(done["rows"])
    assert (beside["edited"], undone["edited"]) == (True, False)


def test_a_motion_that_changed_meanwhile_is_not_overwritten(page: FakePage) -> None:
    name = page.do("open", path="walk.bvh")["motion"]
    cleaning = page.send("operate", operation="clean", settings={}, motion=name)
    page.do("set_labels", motion=name, labels=[])
    with pytest.raises(Failed, match="the clip changed while this was running"):
        page.answer(cleaning)


def test_a_changed_motion_is_saved_as_a_new_file(page: FakePage, clips: Path) -> None:
    name = page.do("open", path="walk.bvh")["motion"]
    source = (clips / "walk.bvh").read_bytes()
    (info,) = page.operate("mirror", name)["motions"]
    assert (info["edited"], info["file"]) == (True, "walk.bvh")
    saved = page.do("save", motion=name)
    try:
        assert (saved["path"], saved["motion"]["file"], saved["motion"]["edited"]) == (
            "walk_2.bvh",
            "walk_2.bvh",
            False,
        )
        assert (clips / "walk.bvh").read_bytes() == source
        truth = marey.edit.mirror(marey.load(clips / "walk.bvh"))
        again = marey.load(clips / "walk_2.bvh")
        np.testing.assert_allclose(again.world().positions, truth.world().positions, atol=1e-4)
        assert again.labels == truth.labels
        # Annotations now go to the sidecar of the new file, and undoing the edit makes it edited again.
        assert page.do("set_labels", motion=name, labels=[])["unsaved"]
        assert page.do("save", motion=name)["path"] == "walk_2.marey.json"
        page.do("undo", motion=name)
        assert page.do("undo", motion=name)["edited"]
        # The studio made that file from this clip, so it is saved again; its sidecar describes it.
        assert page.do("save", motion=name)["path"] == "walk_2.bvh"
        again = marey.load(clips / "walk_2.bvh")
        np.testing.assert_allclose(again.world().positions, marey.load(clips / "walk.bvh").world().positions, atol=1e-4)
        assert again.labels == marey.load(clips / "walk.bvh").labels
        # Once another program has changed it, it stays as it is.
        page.operate("mirror", name)
        with (clips / "walk_2.bvh").open("a") as file:
            file.write("\n")
        assert page.do("save", motion=name)["path"] == "walk_3.bvh"
        assert (clips / "walk.bvh").read_bytes() == source
    finally:
        for path in clips.glob("walk_[23].*"):
            path.unlink()


def test_a_closed_motion_can_be_reopened(page: FakePage) -> None:
    name = page.do("open", path="walk.bvh")["motion"]
    (edited,) = page.operate("mirror", name)["motions"]
    page.do("close", motion=name)
    again = page.do("reopen", motion=name)
    assert (again["revision"], again["undo"]) == (edited["revision"], 1)
    with pytest.raises(Failed, match="was closed too long ago; open its file again"):
        page.do("reopen", motion=name)


def test_motions_are_exported_and_fetched(page: FakePage, server: Server, tmp_path: Path) -> None:
    name = page.do("open", path="walk.bvh")["motion"]
    settings = {"format": "bvh", "name": "../a <walk>é", "target": "download"}
    file, sidecar = page.operate("save", name, settings=settings)["files"]
    assert (file["name"], sidecar["name"]) == ("_a _walk_é.bvh", "_a _walk_é.marey.json")
    status, headers, body = server.request("GET", file["url"])
    assert (status, len(body)) == (200, file["size"])
    assert headers["content-disposition"].startswith("attachment")
    (tmp_path / "one.bvh").write_bytes(body)
    assert len(marey.load(tmp_path / "one.bvh")) == 121


def test_an_uploaded_file_and_its_sidecar_are_opened(page: FakePage, server: Server, clips: Path) -> None:
    session = page.welcome["session"]
    for name in ("walk.bvh", "walk.marey.json"):
        body = (clips / name).read_bytes()
        status, _, report = server.request("POST", f"/upload?session={session}&name={name}", None, body)
        assert (status, json.loads(report)) == (200, {"path": name, "size": len(body)})
    info = page.do("open", path="walk.bvh", where="uploads")
    assert (info["where"], info["labels"][0]["name"]) == ("uploads", "walk")
    page.do("set_labels", motion=info["motion"], labels=[])
    saved = page.do("save", motion=info["motion"])
    assert "labels" not in json.loads(server.request("GET", saved["url"])[2])


def test_markers_are_shown_without_a_skeleton(page: FakePage, data_folder: Path, server: Server) -> None:
    recording = next(iter(sorted((data_folder / "c3d").rglob("*.c3d"))), None)
    if recording is None:
        pytest.skip("no C3D file among the real capture")
    session = page.welcome["session"]
    server.request("POST", f"/upload?session={session}&name=m.c3d", None, recording.read_bytes())
    info = page.do("open", path="m.c3d", where="uploads")
    truth = marey.load_markers(recording)
    assert (info["kind"], tuple(info["joints"]), set(info["parents"])) == ("markers", truth.names, {-1})
    positions = page.frames(info["motion"], 0, min(64, len(truth)))[1]
    np.testing.assert_array_equal(np.isnan(positions[..., 0]), ~truth.valid[:64])
    with pytest.raises(Failed, match="contains markers; this needs a clip with a skeleton"):
        page.operate("clean", info["motion"])


def test_closed_motions_are_gone(page: FakePage) -> None:
    name = page.do("open", path="walk.bvh")["motion"]
    page.do("close", motion=name)
    with pytest.raises(Failed, match=f"clip '{name}' is not open"):
        page.do("motion", motion=name)


# --- Values over time


def test_curves_say_what_they_are(walk: marey.Motion) -> None:
    travel = make_curves(walk, "travel", 0).curves
    assert [(curve.name, curve.unit) for curve in travel] == [("x", "m"), ("y", "m"), ("z", "m")]
    np.testing.assert_allclose(np.array([curve.values for curve in travel]).T, walk.travel, atol=1e-4)
    head = walk.skeleton.roles["head"]
    path = np.array([curve.values for curve in make_curves(walk, "position", head).curves]).T
    np.testing.assert_allclose(path, walk.world().positions[:, head], atol=1e-4)
    speed = np.array(make_curves(walk, "speed", 0).curves[0].values)
    assert speed.mean() == pytest.approx(1.4, abs=0.2)
    heights = {curve.name: np.array(curve.values) for curve in make_curves(walk, "contact_heights", 0).curves}
    assert np.abs(heights["left_ball"][walk.contacts.mask[:, walk.contacts.index("left_ball")]]).max() < 1e-3


def test_rotation_curves_do_not_jump_by_full_turns() -> None:
    skeleton = marey.Skeleton(("root",), [-1], [[0.0, 0.0, 0.0]])
    angles = np.linspace(0.0, 6.0 * np.pi, 100)
    turning = np.stack([np.cos(angles / 2), 0 * angles, np.sin(angles / 2), 0 * angles], axis=1)[:, None]
    motion = marey.Motion(skeleton, np.zeros((100, 3)), turning, 30.0)
    values = np.array(make_curves(motion, "rotation", 0).curves[1].values)
    np.testing.assert_allclose(values, np.degrees(angles), atol=1e-3)


def test_a_moved_motion_is_put_back(walk: marey.Motion) -> None:
    placed = align_frames(walk.moved((0.7, 1.0, -2.0)), 30, walk, 30)
    back = walk.moved((0.7, 1.0, -2.0)).moved((placed.theta, placed.x, placed.z))
    np.testing.assert_allclose(back.travel, walk.travel, atol=1e-6)
    assert placed.distance < 1e-6


# --- Live


def test_a_motion_is_streamed_frame_by_frame(page: FakePage, clips: Path) -> None:
    name = page.do("open", path="walk.bvh")["motion"]
    started = page.do("live_start", motion=name, rate=240.0)
    while len(page.binary) < 50:
        page.receive()
    truth = marey.load(clips / "walk.bvh")
    for i, data in enumerate(page.binary[:50]):
        header, positions, _ = unpack(data)
        assert header == (1, 2, len(truth.skeleton), started["stream"], i, 1)
        assert len(data) == 16 + 28 * len(truth.skeleton) + 8
        if i % 4 == 0:  # the motion has 60 frames per second
            np.testing.assert_allclose(positions[0], truth.world().positions[i // 4], atol=1e-5)
    sent = float(np.frombuffer(page.binary[0], "<f8", 1, len(page.binary[0]) - 8)[0])
    page.do("live_echo", stream=started["stream"], frame=0, sent=sent)
    report = page.do("live_statistics")
    assert (report["dropped"], report["sent"] >= 50, report["round_trip_ms"] > 0) == (0, True, True)
    page.do("live_stop")
    page.binary.clear()
    page.do("live_statistics")
    assert page.binary == []


def test_a_stream_begins_again_at_the_end_of_its_motion(walk: marey.Motion) -> None:
    player = MotionPlayer(walk, 60.0)
    frames = [player.frame().positions for _ in range(len(walk) + 3)]
    np.testing.assert_array_equal(frames[len(walk)], frames[0])
    np.testing.assert_allclose(frames[7], walk.world().positions[7], atol=1e-9)
    markers = sample("walk", seconds=0.5).markers()
    np.testing.assert_allclose(MotionPlayer(markers, 60.0).frame().positions, markers.positions[0], atol=1e-9)


def test_results_of_a_glb_have_its_skin(server: Server, page: FakePage) -> None:
    turn = page.do("open", path="both.glb", settings={"clip": "turn"})
    session = server.studio.sessions.find(page.welcome["session"])
    assert session is not None
    motions = session.motions
    assert turn["skin"] == f"/skin/{session.id}/{turn['motion']}"
    result = motions.add_result(motions.motion(turn["motion"])[2:9], turn["motion"])
    again = motions.add_result(motions.motion(result), result)
    assert session.info(again).skin == turn["skin"]
    assert server.request("GET", turn["skin"])[2][:4] == b"glTF"
    walk = page.do("open", path="walk.bvh")["motion"]
    assert session.info(walk).skin is None
    assert session.info(motions.add_result(motions.motion(walk), turn["motion"], walk)).skin is None
    page.do("close", motion=turn["motion"])
    assert session.info(result).skin is None


def test_findings_of_an_open_clip(page: FakePage, clips: Path) -> None:
    broken = sample("walk", fps=60.0, seconds=3.0).motion
    rotations = broken.rotations.copy()
    rotations[80:83] = (1.0, 0.0, 0.0, 0.0)
    marey.save(replace(broken, rotations=rotations, contacts=None), clips / "broken.bvh")
    opened = page.do("open", path="broken.bvh")
    ((severity, frame, text),) = page.operate("check", opened["motion"])["rows"]
    assert (severity, frame) == ("severe", "80")
    assert text.endswith("; trim or repair these frames")
    (clips / "broken.bvh").unlink()


def test_plants_have_places_and_slides():
    """The page marks where feet are planted, and how far they slide there."""
    walk = marey.clean(sample("walk", seconds=2.0).motion)
    seconds = np.arange(len(walk)) / walk.fps
    sliding = replace(walk, root_positions=walk.root_positions + np.outer(seconds, [0.1, 0.0, 0.0]))
    for motion, speed in ((walk, 0.0), (sliding, 0.1)):
        motions = Motions()
        name = motions.add(Opened(motion))
        for lane in describe_motion(name, motions.opened(name)).contacts or ():
            assert len(lane.plants) == len(lane.intervals) > 0
            for plant, (start, stop) in zip(lane.plants, lane.intervals, strict=True):
                assert plant.slide == pytest.approx(speed * (stop - start - 1) / walk.fps, abs=1e-6)
                assert abs(plant.at[1]) < 0.02


def test_a_motion_without_its_rest_pose_is_as_loaded():
    """Loading a file skips a rest pose in frame 0, so the opened motion without it is the motion of the file."""
    walk = sample("walk", fps=30.0, seconds=1.0).motion
    rotations = walk.rotations.copy()
    rotations[0] = [1.0, 0.0, 0.0, 0.0]
    motions = Motions()
    name = motions.add(Opened(replace(walk, rotations=rotations), file="rest.bvh"))
    opened = motions.opened(name)
    assert opened.is_as_loaded
    assert motions.trim_rest(name)
    assert opened.is_as_loaded
    whole = motions.motion(name)
    motions.change(name, whole, replace(whole, labels=marey.Labels()), "labels changed")
    assert opened.is_as_loaded
    for _ in range(2):
        motions.step(name, back=True)
    assert not opened.is_as_loaded
    motions.step(name, back=False)
    motions.change(name, motions.motion(name), marey.edit.mirror(motions.motion(name)), "mirrored")
    assert not opened.is_as_loaded
