"""Skins, dropped files, lanes and camera by keyboard, and the page on touch screens, in a real browser."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marey
from marey.samples.samples import sample
from tests.studio.browser import skinned
from tests.studio.browser.conftest import Tab, draw_coarsely, new_tab
from tests.studio.browser.test_page import drag, frame, settle


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clip, a GLB with a skin, one without, and one that refers to files elsewhere."""
    at = tmp_path_factory.mktemp("looking")
    walk = sample("walk", fps=30.0, seconds=2.0).motion
    marey.save(walk, at / "awalk.bvh")
    marey.save(replace(walk, contacts=None), at / "plain.bvh")
    rotations = walk.rotations.copy()
    rotations[40:42] = (1.0, 0.0, 0.0, 0.0)
    marey.save(replace(walk, rotations=rotations), at / "broken.bvh")
    skinned.write(at / "skinned.glb")
    marey.save(walk, at / "own.glb")
    whole = (at / "skinned.glb").read_bytes()
    size = struct.unpack_from("<I", whole, 12)[0]
    document = json.loads(whole[20 : 20 + size])
    for name, change in (
        ("bare.glb", {"meshes": None}),
        ("far.glb", {"images": [{"uri": "http://evil.example/x.png"}]}),
    ):
        text = json.dumps(changed(document, change)).encode()
        text += b" " * (-len(text) % 4)
        rest = struct.pack("<II", len(text), 0x4E4F534A) + text + whole[20 + size :]
        (at / name).write_bytes(struct.pack("<III", 0x46546C67, 2, 12 + len(rest)) + rest)
    return at


def changed(document: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    result = json.loads(json.dumps(document)) | {key: value for key, value in change.items() if value is not None}
    if "meshes" in change:
        result.pop("meshes")
        del result["nodes"][-1]["mesh"], result["nodes"][-1]["skin"]
    if "images" in change:
        result |= {
            "textures": [{"source": 0}],
            "materials": [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}],
        }
        result["meshes"][0]["primitives"][0]["material"] = 0
    return result


@pytest.fixture(scope="module")
def hand(browser: Any, address: str) -> Tab:
    """A page on a tablet."""
    tab = new_tab(browser, viewport={"width": 1024, "height": 768}, has_touch=True)
    tab.page.goto(address)
    tab.until("() => !!window.marey?.selected?.character.pose && marey.stage.drawn > 1")
    draw_coarsely(tab)
    return tab


@pytest.fixture
def touched(hand: Tab) -> Iterator[Tab]:
    hand.complaints.clear()
    yield hand
    assert hand.complaints == []


def choose(tab: Tab, file: str) -> None:
    tab.page.locator(".files button.item", has_text=file).first.click()
    tab.until(f"() => marey.selected?.info.file === {file!r} && !!marey.selected.character.pose")


def wear(tab: Tab) -> None:
    tab.page.get_by_role("combobox", name="Body").select_option("skin")


# --- Skins


def test_the_skin_is_where_the_files_own_animation_has_it(tab: Tab, folder: Path) -> None:
    choose(tab, "skinned.glb")
    wear(tab)
    tab.until("() => !!marey.selected.character.skin")
    assert tab.get("marey.selected.info.joints") == ["Hips", "Leg.L <b>", "Foot"]
    assert not tab.get("marey.selected.character.body.group.visible")
    found = """(frame) => {
      marey.playback.seek(frame);
      const character = marey.selected.character;
      character.show(frame);
      character.group.position.set(1, 0, 2);
      character.group.updateMatrixWorld(true);
      const mesh = character.skin.meshes[0];
      mesh.skeleton.update();
      const point = character.center().clone();
      return [0, 1, 2, 3].map((i) => mesh.localToWorld(mesh.getVertexPosition(i, point)).toArray());
    }"""
    for at in (0, 7, 20):
        np.testing.assert_allclose(tab.page.evaluate(found, at), skinned.vertices_at(at) + [1, 0, 2], atol=2e-5)
    tab.page.evaluate("() => marey.selected.character.group.position.set(0, 0, 0)")
    settle(tab)


def test_marey_s_own_files_have_a_skin(tab: Tab) -> None:
    choose(tab, "own.glb")
    wear(tab)
    tab.until("() => !!marey.selected.character.skin")
    settle(tab)
    mapped = tab.get("marey.selected.character.skin.hung.map((each) => each.joint)")
    assert mapped == list(range(tab.get("marey.selected.info.joints.length")))


def test_limbs_are_drawn_without_a_skin(tab: Tab) -> None:
    choose(tab, "bare.glb")
    wear(tab)
    tab.page.locator(".notice.error", has_text="no mesh is skinned to these joints").wait_for()
    assert tab.get("marey.selected.character.body.group.visible")
    choose(tab, "awalk.bvh")
    assert tab.get("marey.selected.character.body.group.visible")
    tab.page.get_by_role("combobox", name="Body").select_option("limbs")
    assert tab.page.get_by_role("combobox", name="Body").locator("option[value=skin]").is_disabled()


def test_a_skin_does_not_fetch_from_elsewhere(shared: Tab) -> None:
    requested: list[str] = []
    shared.page.on("request", lambda request: requested.append(request.url))
    shared.page.evaluate("() => document.querySelectorAll('.notice').forEach((old) => old.remove())")
    choose(shared, "far.glb")
    wear(shared)
    shared.until("() => !!marey.selected.character.skin || !!document.querySelector('.notice.error')")
    assert requested
    assert not [url for url in requested if "evil" in url]


# --- Dropped files


def drop(tab: Tab, *paths: Path) -> None:
    """Drop files and folders as from a file manager."""
    where = {"x": 400, "y": 300, "data": {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}}
    tools = tab.page.context.new_cdp_session(tab.page)
    for kind in ("dragEnter", "dragOver", "drop"):
        tools.send("Input.dispatchDragEvent", {"type": kind, **where})
    tools.detach()


ASF = """:version 1.10
:name figure
:units
  mass 1.0
  length 1.0
  angle deg
:root
  order TX TY TZ RX RY RZ
  axis XYZ
  position 0 0 0
  orientation 0 0 0
:bonedata
  begin
    id 1
    name leg
    direction 0 -1 0
    length 8
    axis 0 0 0 XYZ
    dof rx ry rz
    limits (-180 180) (-180 180) (-180 180)
  end
:hierarchy
  begin
    root leg
  end
"""
AMC = ":FULLY-SPECIFIED\n:DEGREES\n" + "".join(f"{i}\nroot 0 17 {i} 0 0 0\nleg {i} 0 0\n" for i in range(1, 9))


def test_dropped_files_find_what_belongs_to_them(tab: Tab, folder: Path, tmp_path: Path) -> None:
    """A skeleton and a sidecar are not motions of their own, whatever the order of the files."""
    (tmp_path / "05_01.amc").write_text(AMC)
    (tmp_path / "05.asf").write_text(ASF)
    for name in ("awalk.bvh", "awalk.marey.json"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    before = tab.get("marey.motions.size")
    drop(tab, *(tmp_path / name for name in ("05_01.amc", "05.asf", "awalk.bvh", "awalk.marey.json")))
    tab.until(f"() => marey.motions.size === {before + 2} && marey.selected.info.name === 'awalk'")
    assert tab.get("marey.selected.info.contacts.length") == 4
    names = tab.get("[...marey.motions.values()].map(({ info }) => info.name)")
    assert names[-2:] == ["05_01", "awalk"]
    assert tab.page.locator(".notice.error", has_text="05").count() == 0


def test_a_dropped_folder_gives_its_motions(tab: Tab, folder: Path, tmp_path: Path) -> None:
    deep = tmp_path / "takes" / "day one"
    deep.mkdir(parents=True)
    (deep / "first.bvh").write_bytes((folder / "awalk.bvh").read_bytes())
    (tmp_path / "takes" / "notes.txt").write_text("no motion")
    before = tab.get("marey.motions.size")
    drop(tab, tmp_path / "takes")
    tab.until(f"() => marey.motions.size === {before + 1} && marey.selected.info.name === 'first'")


def test_opened_motions_are_brought_into_view(tab: Tab) -> None:
    tab.page.evaluate("() => marey.stage.follow(marey.stage.camera.position.clone().set(90, 0, 40))")
    tab.page.get_by_role("button", name="Close awalk").last.click()
    for _ in range(tab.page.get_by_role("button", name="Close awalk").count()):
        tab.page.get_by_role("button", name="Close awalk").last.click()
    choose(tab, "broken.bvh")
    tab.page.keyboard.press("End")
    choose(tab, "awalk.bvh")
    assert tab.get("marey.playback.frame") == 0
    tab.until("() => marey.stage.sees(marey.selected.character.center())")
    # The last clip of a row is centered when the others are closed.
    for name in tab.get("[...marey.motions.values()].map(({ info }) => info.name).filter((name) => name !== 'awalk')"):
        tab.page.get_by_role("button", name=f"Close {name}", exact=True).last.click()
    tab.until("() => marey.motions.size === 1")
    aside = "marey.selected.character.center().sub(marey.stage.controls.target).setY(0).length()"
    tab.until(f"() => {aside} < 1e-3")


def test_contacts_appear_without_moving_the_scene(tab: Tab) -> None:
    choose(tab, "plain.bvh")
    height = tab.get("marey.stage.canvas.clientHeight")
    tab.page.locator("#timeline").get_by_role("button", name="Detect contacts").click()
    tab.until("() => marey.timeline.lanes.length === 5")
    assert not tab.page.locator(".no-contacts").is_visible()
    settle(tab)
    assert tab.get("marey.stage.canvas.clientHeight") == height


def test_findings_are_listed_on_request(tab: Tab) -> None:
    assert not tab.page.locator(".findings").is_visible()
    choose(tab, "broken.bvh")
    summary = tab.page.locator(".findings summary")
    summary.wait_for(state="visible")
    assert summary.inner_text() == "1 issue, 1 severe"
    summary.click()
    tab.page.get_by_role("button", name="Frame 40").click()
    tab.until("() => marey.playback.frame === 40")


# --- Labels, contacts and the camera


LABELS = "marey.selected.info.labels.map((l) => `${l.name} ${l.start} ${l.stop}`)"


def set_labels(tab: Tab, *labels: tuple[str, int, int]) -> None:
    rows = [{"name": name, "start": start, "stop": stop} for name, start, stop in labels]
    tab.page.evaluate(
        "(labels) => marey.ask('set_labels', { motion: marey.selected.info.motion, labels })"
        ".then((info) => marey.update(info))",
        rows,
    )


def test_a_label_stays_the_selected_one_when_answers_sort_it_elsewhere(tab: Tab) -> None:
    choose(tab, "awalk.bvh")
    old = tab.get("marey.selected.info.labels")
    set_labels(tab, ("late", 40, 50))
    drag(tab, 10, 20, "labels")
    tab.until("() => marey.selected.info.labels.length === 2")  # the reply has arrived and sorted them
    tab.page.locator(".rename").fill("early")
    tab.page.keyboard.press("Enter")
    tab.until("() => marey.selected.info.labels.some((l) => l.name === 'early')")
    assert tab.get(LABELS) == ["early 10 21", "late 40 50"]
    tab.page.keyboard.press("Control+z")  # the name belongs to the new label
    tab.until("() => marey.selected.info.labels.length === 1")
    tab.page.keyboard.press("Control+Shift+z")
    tab.until("() => marey.selected.info.labels.length === 2")
    assert tab.get(LABELS) == ["early 10 21", "late 40 50"]
    drag(tab, 14, 54, "labels")
    tab.until("() => marey.selected.info.labels[0].name === 'late'")
    tab.page.keyboard.press("Delete")
    tab.until("() => marey.selected.info.labels.length === 1")
    assert tab.get(LABELS) == ["late 40 50"]
    set_labels(tab, *((each["name"], each["start"], each["stop"]) for each in old))


def test_contacts_and_labels_by_keys(tab: Tab) -> None:
    choose(tab, "awalk.bvh")
    before, labels = tab.get("marey.selected.info.contacts[1].intervals"), tab.get("marey.selected.info.labels")
    set_labels(tab, ("late", 40, 50))
    press = tab.page.keyboard.press
    tab.page.get_by_label("Timeline").focus()
    press("Tab")
    assert tab.get("document.activeElement.className") == "lane-keys"
    for _ in range(6):
        press("ArrowUp")
    press("ArrowDown")
    for _ in before:
        press("ArrowRight")
    press("Delete")
    tab.until(f"() => marey.selected.info.contacts[1].intervals.length === {len(before) - 1}")
    assert tab.get("marey.selected.info.contacts[1].intervals") == before[:-1]
    for _ in range(4):
        press("ArrowDown")
    press("ArrowRight")
    for _ in range(3):  # faster than the replies arrive
        press("Alt+ArrowRight")
    press("Shift+Alt+ArrowLeft")
    tab.until("() => marey.selected.info.labels[0].stop === 52")
    assert "label late, frames 43 to 51" in tab.page.locator("#lane-said").inner_text()
    tab.page.evaluate("() => marey.playback.setRegion([8, 20])")
    press("Enter")
    tab.page.locator(".rename").fill("new")
    press("Enter")
    tab.until("() => marey.selected.info.labels.some((l) => l.name === 'new')")
    assert tab.get(LABELS) == ["new 8 20", "late 43 52"]
    press("F2")
    tab.page.locator(".rename").fill("newer")
    press("Enter")
    tab.until("() => marey.selected.info.labels[0].name === 'newer'")
    tab.page.evaluate("() => marey.playback.setRegion(null)")
    set_labels(tab, *((each["name"], each["start"], each["stop"]) for each in labels))
    press("Control+z")


def test_the_camera_keeps_following_after_an_edit(tab: Tab) -> None:
    choose(tab, "awalk.bvh")
    tab.page.keyboard.press("Home")
    settle(tab)
    labels = tab.get("marey.selected.info.labels")
    set_labels(tab, ("edited", 3, 9))
    away = "marey.selected.character.center().sub(marey.stage.controls.target).setY(0).length()"
    before = tab.get(away)
    tab.page.keyboard.press("End")
    settle(tab)
    assert abs(tab.get(away) - before) < 1e-3
    set_labels(tab, *((each["name"], each["start"], each["stop"]) for each in labels))


def test_the_camera_by_keys(tab: Tab) -> None:
    choose(tab, "awalk.bvh")
    settle(tab)
    press = tab.page.keyboard.press
    tab.page.locator("#stage canvas").focus()
    at, target = "marey.stage.camera.position.toArray()", "marey.stage.controls.target.toArray()"
    frame_before, start, aim = frame(tab), np.array(tab.get(at)), np.array(tab.get(target))
    press("Shift+ArrowRight")
    turned = np.array(tab.get(at))
    assert np.linalg.norm(turned - aim) == pytest.approx(np.linalg.norm(start - aim))
    assert np.linalg.norm(turned - start) > 0.05
    press("Control+ArrowUp")
    np.testing.assert_allclose(np.array(tab.get(at)) - turned, np.array(tab.get(target)) - aim, atol=1e-9)
    assert tab.get(target)[1] > aim[1]
    distance = "marey.stage.camera.position.distanceTo(marey.stage.controls.target)"
    before = tab.get(distance)
    press("+")
    assert tab.get(distance) == pytest.approx(0.9 * before)
    press("-")
    assert tab.get(distance) == pytest.approx(before)
    assert frame(tab) == frame_before
    press("f")


# --- Fingers


class Fingers:
    """Up to two fingers on the page."""

    def __init__(self, tab: Tab) -> None:
        self._tools = tab.page.context.new_cdp_session(tab.page)

    def drag(self, *paths: tuple[tuple[float, float], tuple[float, float]], steps: int = 5) -> None:
        """Put a finger down at the start of each path, move all to the ends, and lift them."""
        for k in range(steps + 1):
            points = [
                {"x": a[0] + (b[0] - a[0]) * k / steps, "y": a[1] + (b[1] - a[1]) * k / steps, "id": i}
                for i, (a, b) in enumerate(paths)
            ]
            kind = "touchMove" if k else "touchStart"
            self._tools.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        self._tools.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def middle(tab: Tab) -> tuple[float, float]:
    box = tab.page.locator("#stage").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def camera(tab: Tab) -> tuple[np.ndarray, np.ndarray]:
    return (
        np.array(tab.get("marey.stage.camera.position.toArray()")),
        np.array(tab.get("marey.stage.controls.target.toArray()")),
    )


def test_one_finger_orbits(touched: Tab) -> None:
    x, y = middle(touched)
    place, target = camera(touched)
    Fingers(touched).drag(((x, y), (x + 120, y)))
    settle(touched)
    now, still = camera(touched)
    np.testing.assert_allclose(still, target, atol=1e-9)
    assert np.linalg.norm(now - place) > 0.3
    assert np.linalg.norm(now - still) == pytest.approx(np.linalg.norm(place - target), rel=1e-6)


def test_two_fingers_pan_and_zoom(touched: Tab) -> None:
    x, y = middle(touched)
    target = camera(touched)[1]
    Fingers(touched).drag(((x - 40, y), (x + 40, y)), ((x + 40, y), (x + 120, y)))
    settle(touched)
    panned, moved = camera(touched)
    assert np.linalg.norm(moved - target) > 0.1
    Fingers(touched).drag(((x - 40, y), (x - 120, y)), ((x + 40, y), (x + 120, y)))
    settle(touched)
    near, at = camera(touched)
    assert np.linalg.norm(near - at) < 0.7 * np.linalg.norm(panned - moved)


def test_a_finger_scrubs_and_marks_contacts(touched: Tab) -> None:
    choose(touched, "awalk.bvh")
    box = touched.page.locator("#timeline").bounding_box()
    x = [box["x"] + touched.get(f"marey.scale.x({at} + 0.5)") for at in (5, 40)]
    Fingers(touched).drag(((x[0], box["y"] + 10), (x[1], box["y"] + 10)))
    assert frame(touched) == 40
    lane = touched.get("marey.selected.info.contacts[0].intervals")
    free = next(f for f in range(8, 50) if not any(a - 8 < f + 4 and f < b + 8 for a, b in lane))
    y = box["y"] + touched.get("marey.timeline.laneTop(0)") + 12
    x = [box["x"] + touched.get(f"marey.scale.x({at} + 0.5)") for at in (free, free + 3)]
    Fingers(touched).drag(((x[0], y), (x[1], y)))
    touched.until(f"() => marey.selected.info.contacts[0].intervals.length === {len(lane) + 1}")
    touched.page.get_by_role("button", name="Remove").click()
    touched.until(f"() => marey.selected.info.contacts[0].intervals.length === {len(lane)}")
    touched.page.get_by_role("button", name="Set in point").click()
    assert touched.get("marey.playback.region") == [40, touched.get("marey.playback.nFrames")]
    touched.page.get_by_role("button", name="Whole clip").click()


def test_a_finger_takes_hold_of_a_target(touched: Tab) -> None:
    x, y = middle(touched)
    center, place = camera(touched)[1].tolist(), camera(touched)[0]
    touched.page.evaluate(
        "(at) => { window.moves = []; window.target = marey.dragTarget({ at, moved: (p) => moves.push(p) }); }", center
    )
    Fingers(touched).drag(((x + 6, y), (x + 60, y)))
    assert touched.get("moves.length") > 0
    touched.page.evaluate("() => window.target.remove()")
    np.testing.assert_array_equal(camera(touched)[0], place)


def test_everything_to_press_is_large_enough(touched: Tab) -> None:
    small = touched.get(
        "[...document.querySelectorAll('button, select')].filter((n) => n.offsetHeight && n.offsetHeight < 28)"
        ".map((n) => n.outerHTML)"
    )
    assert small == []
    assert touched.get("document.documentElement.scrollWidth") <= 1024
