"""The studio's page in a real browser."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import marey
from tests.studio.browser.conftest import HOSTILE, Tab, new_tab


def picture(tab: Tab) -> np.ndarray:
    """Return the stage as (H, W, 3)."""
    shot = tab.page.locator("#stage").screenshot()
    return np.asarray(Image.open(io.BytesIO(shot)).convert("RGB"), dtype=float)


def settle(tab: Tab) -> None:
    """Wait for two more frames."""
    before = tab.get("(marey.stage.invalidate(), marey.stage.drawn)")
    tab.until(f"() => {{ marey.stage.invalidate(); return marey.stage.drawn > {before} + 1; }}")


def drag(tab: Tab, start: int, stop: int, lane: str) -> None:
    """Drag on the timeline from frame to frame, in the lane of that name, or on the ruler."""
    settle(tab)  # the scale is that of the motion on screen
    box = tab.page.locator("#timeline").bounding_box()
    row = -1 if lane == "ruler" else tab.get("marey.timeline.laneNames").index(lane)
    y = box["y"] + (10 if row < 0 else tab.get(f"marey.timeline.laneTop({row})") + 9)
    x = [box["x"] + tab.get(f"marey.scale.x({frame} + 0.5)") for frame in (start, stop)]
    tab.page.mouse.move(x[0], y)
    tab.page.mouse.down()
    tab.page.mouse.move((x[0] + x[1]) / 2, y)
    tab.page.mouse.move(x[1], y)
    tab.page.mouse.up()


def frame(tab: Tab) -> int:
    return int(tab.get("marey.playback.frame"))


def test_first_character_is_on_screen(tab: Tab, folder: Path) -> None:
    settle(tab)
    shown = picture(tab)
    middle = shown[shown.shape[0] // 4 : -shown.shape[0] // 4, shown.shape[1] // 3 : -shown.shape[1] // 3]
    # The first character is blue on gray: blue beats red by far more than in the background.
    assert np.mean(middle[..., 2] - middle[..., 0] > 25) > 0.02
    assert tab.page.locator(".files button.item").count() == 3
    assert tab.page.title() == "marey studio"


def test_scrubbing_shows_the_frame(tab: Tab) -> None:
    tab.open("walk.bvh")
    drag(tab, 5, 60, "ruler")
    tab.until("() => marey.playback.frame === 60")
    assert tab.page.locator("#frame").input_value() == "60"
    drag(tab, 60, 10, "ruler")
    assert frame(tab) == 10


def test_keys(tab: Tab) -> None:
    tab.open("walk.bvh")
    press = tab.page.keyboard.press
    press("Home")
    press("ArrowRight")
    assert frame(tab) == 1
    press("ArrowUp")
    assert frame(tab) == 11
    press("ArrowDown")
    press("ArrowLeft")
    assert frame(tab) == 0
    press(" ")
    tab.until("() => marey.playback.frame > 3")
    press(" ")
    assert not tab.get("marey.playback.playing")
    press("End")
    assert frame(tab) == tab.get("marey.selected.info.n_frames") - 1


def test_camera_keys(tab: Tab) -> None:
    tab.open("walk.bvh")
    tab.page.keyboard.press("Home")
    settle(tab)
    tab.page.keyboard.press("f")
    center = tab.get("marey.selected.character.center().toArray()")
    np.testing.assert_allclose(tab.get("marey.stage.controls.target.toArray()"), center, atol=1e-6)
    away = "marey.stage.camera.position.clone().sub(marey.stage.controls.target).normalize().toArray()"
    for turn in (0.0, 2.0):  # views are relative to the character, wherever it faces
        tab.page.evaluate(f"() => (marey.subject.group.rotation.y = {turn})")
        facing = tab.get("marey.subject.facing()")
        assert abs(facing - turn) < 0.15, "the clip walks along +Z"
        sine, cosine = np.sin(facing), np.cos(facing)
        for key, axis in (("1", [sine, 0, cosine]), ("3", [cosine, 0, -sine]), ("7", [0, 1, 0])):
            tab.page.keyboard.press(key)
            np.testing.assert_allclose(tab.get(away), axis, atol=1e-3)
    tab.page.evaluate("() => { marey.subject.group.rotation.y = 0; marey.focus(); }")
    start = np.array(tab.get("marey.stage.controls.target.toArray()"))
    tab.page.keyboard.press("End")
    settle(tab)
    path = np.array(tab.get("marey.selected.character.center().toArray()")) - center
    moved = np.array(tab.get("marey.stage.controls.target.toArray()")) - start
    # The camera follows, unless the user turns that off.
    assert np.linalg.norm(moved[[0, 2]] - path[[0, 2]]) < 1e-3 < 0.15 < np.linalg.norm(path)
    tab.page.keyboard.press("c")
    tab.page.keyboard.press("Home")
    settle(tab)
    np.testing.assert_allclose(tab.get("marey.stage.controls.target.toArray()"), start + moved, atol=1e-6)
    tab.page.keyboard.press("End")
    tab.page.keyboard.press("c")


def test_loop_region_holds(tab: Tab) -> None:
    tab.open("walk.bvh")
    tab.page.keyboard.down("Shift")
    drag(tab, 20, 30, "ruler")
    tab.page.keyboard.up("Shift")
    start, stop = tab.get("marey.playback.region")
    assert abs(start - 20) <= 1
    assert abs(stop - 30) <= 1
    tab.page.evaluate("() => { marey.playback.setSpeed(4); marey.playback.toggle(); }")
    seen = tab.get("Array.from({ length: 50 }, () => (marey.playback.tick(0.02), marey.playback.frame))")
    assert min(seen) >= start
    assert max(seen) < stop
    tab.page.evaluate("() => { marey.playback.setSpeed(1); marey.playback.toggle(); marey.playback.setRegion(null); }")


def test_the_timeline_is_arranged(tab: Tab) -> None:
    """In and out points are dragged, time runs back and forth, clips move in time, and the size of the panel is
    remembered."""
    tab.open("kick.bvh")
    tab.open("walk.bvh")
    settle(tab)
    box = tab.page.locator("#timeline canvas").bounding_box()
    x = [box["x"] + tab.get(f"marey.scale.x({frame})") for frame in (0, 20)]
    tab.page.mouse.move(x[0] + 3, box["y"] + 19)
    tab.page.mouse.down()
    tab.page.mouse.move(x[1] + 3, box["y"] + 19, steps=3)
    tab.page.mouse.up()
    assert abs(tab.get("marey.playback.region[0]") - 20) <= 1
    # Everything in one call, because the page keeps playing between two calls.
    seen = tab.get(
        "(marey.playback.setRegion([10, 16]), marey.playback.seek(10), marey.playback.setPingPong(true), "
        "marey.playback.playing = true, "
        "Array.from({ length: 12 }, () => (marey.playback.tick(1 / 30), marey.playback.frame)))"
    )
    assert seen == [11, 12, 13, 14, 15, 14, 13, 12, 11, 10, 11, 12]
    tab.page.evaluate(
        "() => { marey.playback.setPingPong(false); marey.playback.step(0); marey.playback.setRegion(null); }"
    )

    tab.page.get_by_role("button", name="Tracks").click()
    tab.page.locator("#tracks canvas").focus()
    tab.page.keyboard.press("Home")
    row = tab.get("[...marey.motions.values()].findIndex(({ info }) => info.name === 'kick')")
    for _ in range(row):
        tab.page.keyboard.press("ArrowDown")
    tab.page.keyboard.press("Shift+ArrowRight")
    kick = "[...marey.motions.values()].find(({ info }) => info.name === 'kick')"
    assert tab.get(f"marey.delayOf({kick}.info.motion)") == pytest.approx(10 / 30)
    assert tab.get(f"(marey.playback.seek(12), marey.frameOf({kick}))") == 2
    tab.page.keyboard.press("Control+z")
    tab.until(f"() => marey.delayOf({kick}.info.motion) === 0")
    tab.page.get_by_role("button", name="Tracks").click()

    before = tab.page.locator("#timeline").bounding_box()["height"]
    tab.page.get_by_role("separator", name="Height of the bottom area").press("ArrowUp")
    assert tab.page.locator("#timeline").bounding_box()["height"] > before
    tab.page.get_by_role("separator", name="Height of the bottom area").dblclick()
    assert tab.page.locator("#timeline").bounding_box()["height"] == before


def test_a_click_selects_a_clip_and_a_joint(tab: Tab) -> None:
    tab.open("kick.bvh")
    tab.open("walk.bvh")
    # Clips that would stand inside each other are in a row; the selected one stays where it was recorded.
    tab.until("() => document.querySelector('.arrangement button:nth-child(2)').ariaPressed === 'true'")
    moved = "[...marey.motions.values()].filter(({ character }) => character.group.position.length() > 1).length"
    assert tab.get(moved) == tab.get("marey.motions.size") - 1
    assert tab.get("marey.selected.character.group.position.length()") == 0
    tab.page.get_by_role("button", name="Row", exact=True).click()
    settle(tab)
    assert tab.page.locator(".clip-name", has_text="kick").is_visible()
    places = tab.get(
        "(() => { const { info, character } = [...marey.motions.values()].find(({ info }) => info.name === 'kick');"
        "const at = marey.stage.project(character.jointPosition(info.roles.head));"
        "const box = marey.stage.canvas.getBoundingClientRect(); return [at.x + box.left, at.y + box.top]; })()"
    )
    tab.page.mouse.click(*places)
    tab.until("() => marey.selected.info.name === 'kick'")
    away = "marey.selected.character.center().sub(marey.stage.controls.target).setY(0).length()"
    assert tab.get(away) < 1e-6  # the camera follows the clip that was selected
    assert "rotation" in tab.page.locator(".joint-values").inner_text()
    readout, buttons = (tab.page.locator(each).bounding_box() for each in (".joint-values", "#viewbar"))
    assert readout["y"] > buttons["y"] + buttons["height"], "it covers no button"
    tab.page.get_by_role("button", name="Close joint values").click()
    # For characters in one place, names do not overlap.
    tab.page.get_by_role("button", name="As recorded", exact=True).click()
    settle(tab)
    boxes = tab.get(
        "[...document.querySelectorAll('.clip-name:not([hidden])')].map((tag) => tag.getBoundingClientRect().toJSON())"
    )
    assert len(boxes) == tab.get("marey.motions.size")
    for k, a in enumerate(boxes):
        for b in boxes[k + 1 :]:
            assert (
                a["right"] <= b["left"] or b["right"] <= a["left"] or a["bottom"] <= b["top"] or b["bottom"] <= a["top"]
            )
    tab.page.get_by_role("button", name="Solo", exact=True).click()
    assert tab.get("[...marey.motions.values()].filter(({ character }) => character.visible).length") == 1
    tab.page.evaluate(
        "async () => marey.present(await marey.ask('open_sample', { sample: 'run', options: {}, name: 'new' }))"
    )
    assert tab.page.locator(".opened .dot[aria-pressed=true]").get_attribute("aria-label") == "Show new"
    tab.get("marey.forget(marey.selected.info.motion)")
    tab.until("() => marey.selected.info.name !== 'new'")
    tab.page.get_by_role("button", name="As recorded", exact=True).click()
    assert tab.get("marey.selected.character.group.position.length()") == 0


def test_contacts_are_edited_and_saved(tab: Tab, folder: Path) -> None:
    tab.open("walk.bvh")
    lane = tab.get("marey.selected.info.contacts[0]")
    free = next(f for f in range(8, 100) if not any(a - 8 < f + 6 and f < b + 8 for a, b in lane["intervals"]))
    drag(tab, free, free + 3, lane["name"])
    tab.until("() => marey.selected.info.unsaved")
    intervals = tab.get("marey.selected.info.contacts[0].intervals")
    assert [free, free + 4] in intervals
    tab.page.keyboard.press("Control+s")
    tab.until("() => !marey.selected.info.unsaved")
    motion = marey.load(folder / "walk.bvh")
    assert motion.contacts.mask[free : free + 4, 0].all()
    assert not motion.contacts.mask[free - 1, 0]
    tab.page.keyboard.press("Delete")
    tab.until(f"() => marey.selected.info.contacts[0].intervals.length === {len(lane['intervals'])}")
    tab.page.keyboard.press("Control+z")
    tab.until(f"() => marey.selected.info.contacts[0].intervals.length === {len(lane['intervals']) + 1}")


def test_labels_are_drawn_renamed_and_moved(tab: Tab) -> None:
    tab.open("kick.bvh")
    label = tab.get("marey.selected.info.labels[0]")
    assert label["start"] > 8
    drag(tab, 1, 6, "labels")
    tab.page.locator(".rename").fill("wind up")
    tab.page.keyboard.press("Enter")
    tab.until("() => marey.selected.info.labels.some((l) => l.name === 'wind up')")
    drag(tab, label["stop"] - 5, label["stop"] - 3, "labels")
    tab.until(f"() => marey.selected.info.labels.some((l) => l.start === {label['start'] + 2})")
    for _ in range(2):  # the name of a new label is part of adding it
        tab.page.keyboard.press("Control+z")
    tab.until("() => !marey.selected.info.undo")
    assert tab.get("marey.selected.info.labels") == [label]


def test_drawing_choices(tab: Tab) -> None:
    tab.open("walk.bvh")
    tab.page.get_by_text("Joint names").click()
    settle(tab)
    assert "LeftFoot" in tab.page.locator(".joint-name").all_text_contents()
    tab.page.get_by_text("Joint names").click()
    settle(tab)
    assert tab.page.locator(".joint-name").count() == 0
    tab.page.get_by_text("Point cloud").click()
    tab.until("() => !!marey.selected.character.cloud")
    tab.page.get_by_text("Point cloud").click()
    assert not tab.get("!!marey.selected.character.cloud")
    tab.page.evaluate("() => marey.show({ ghosts: 2 })")
    assert tab.get("marey.selected.character.ghosts.capacity") == 4
    tab.page.evaluate("() => marey.show({ ghosts: 0, style: 'bones' })")
    settle(tab)
    tab.page.evaluate("() => marey.show({ style: 'limbs' })")
    tab.page.get_by_label("Curves").first.select_option("speed")
    tab.until("() => marey.curves.curves.length === 1")
    tab.page.get_by_label("Curves").first.select_option("none")
    assert tab.page.locator("#curves").is_hidden()


def test_drawing_on_the_floor_and_dragging_a_target(tab: Tab) -> None:
    """Tools of panels: both work with the mouse, and the camera stays in place meanwhile."""
    tab.open("walk.bvh")
    tab.page.keyboard.press("Home")
    settle(tab)
    tab.page.keyboard.press("f")
    camera = tab.get("marey.stage.camera.position.toArray()")
    tab.until("() => !document.querySelector('.notice')")  # one that an earlier test left would be in the way
    box = tab.page.locator("#stage").bounding_box()
    x, y = box["x"] + 0.3 * box["width"], box["y"] + 0.9 * box["height"]
    mouse = tab.page.mouse

    tab.page.evaluate("() => { window.strokes = []; window.stop = marey.drawOnGround((s) => strokes.push(s)); }")
    mouse.move(x, y)
    mouse.down()
    mouse.move(x + 100, y, steps=6)
    mouse.up()
    tab.page.evaluate("() => window.stop()")
    points = tab.get("strokes[0].points")
    ends = [tab.get(f"marey.stage.onGround({{ clientX: {at}, clientY: {y} }}).toArray()") for at in (x, x + 100)]
    np.testing.assert_allclose(points[0], [ends[0][0], ends[0][2]], atol=1e-6)
    np.testing.assert_allclose(points[-1], [ends[1][0], ends[1][2]], atol=0.06)

    target = f"marey.dragTarget({{ at: {ends[0]}, moved: (p) => moves.push(p) }})"
    tab.page.evaluate(f"() => {{ window.moves = []; window.target = {target}; }}")
    mouse.move(x, y)
    mouse.down()
    mouse.move(x + 100, y, steps=3)
    mouse.up()
    np.testing.assert_allclose(tab.get("moves.at(-1)"), ends[1], atol=1e-6)
    tab.page.evaluate("() => window.target.remove()")
    np.testing.assert_array_equal(tab.get("marey.stage.camera.position.toArray()"), camera)


def test_clean_side_by_side_and_undo(tab: Tab) -> None:
    tab.open("walk.bvh")
    before = tab.get("marey.motions.size")
    tab.page.get_by_role("tab", name="Compare").click()
    tab.page.get_by_label("Position of B").select_option("over")
    tab.page.get_by_role("button", name="Clean up", exact=True).click()
    tab.until("() => !!document.querySelector('.measures tbody tr')")
    assert tab.get("marey.motions.size") == before + 1
    tab.until("() => document.querySelector('.panel')?.textContent.includes('when aligned.')")
    tab.page.get_by_text("As a new clip").click()
    tab.page.get_by_role("button", name="Clean up", exact=True).click()
    tab.until("() => marey.selected.info.undo > 0")
    revision = tab.get("marey.selected.info.revision")
    tab.page.keyboard.press("Control+z")
    tab.until(f"() => marey.selected.info.revision !== {revision} && !!marey.selected.character.pose")
    tab.page.get_by_role("button", name="Close walk (cleaned)").or_(
        tab.page.get_by_role("button", name="Close walk").last
    ).first.click()
    tab.page.get_by_role("button", name="Close anyway").click()
    tab.page.get_by_role("tab", name="View").click()
    tab.until(f"() => marey.motions.size === {before}")


def test_drop_uploads(tab: Tab, folder: Path) -> None:
    text = (folder / "kick.bvh").read_text(encoding="utf-8")
    make = "([text, name]) => { const d = new DataTransfer(); d.items.add(new File([text], name)); return d; }"
    for name, body in (("dropped.bvh", text), ("broken.bvh", "no motion")):
        data = tab.page.evaluate_handle(make, [body, name])
        tab.page.dispatch_event("body", "drop", {"dataTransfer": data})
        if name == "dropped.bvh":
            tab.until("() => marey.selected.info.name === 'dropped' && !!marey.selected.character.pose")
            assert tab.get("marey.selected.info.where") == "uploads"
    tab.page.locator(".notice.error", has_text="broken.bvh").wait_for()
    assert not (folder / "dropped.bvh").exists()
    several = """(n) => {
      const d = new DataTransfer();
      for (let i = 0; i < n; i++) d.items.add(new File(["x"], `bad${i}.bvh`));
      return d;
    }"""
    tab.page.dispatch_event("body", "drop", {"dataTransfer": tab.page.evaluate_handle(several, 5)})
    notice = tab.page.locator(".notice.error", has_text="5 files could not be opened")
    notice.wait_for()
    assert all(f"bad{i}.bvh:1: not a BVH file" in notice.text_content() for i in range(5))
    notice.get_by_role("button", name="Close").click()


def test_filter_narrows_the_list(tab: Tab) -> None:
    search = tab.page.get_by_label("Filter files")
    search.fill("kick")
    assert tab.page.locator(".files button.item").count() == 1
    search.fill("")
    assert tab.page.locator(".files button.item").count() == 3


def test_library_shows_what_files_contain(tab: Tab) -> None:
    """Files are read in the background; they can be filtered by length, selected and opened together."""
    tab.until("() => document.querySelector('.files').textContent.includes('30 Hz')")
    tab.page.get_by_label("More filters").click()
    tab.page.get_by_label("Length at most (s)").fill("3.5")
    assert tab.page.locator(".files button.item").count() == 1
    tab.page.get_by_label("More filters").click()  # hidden filters do not apply
    assert tab.page.locator(".files button.item").count() == 3
    tab.page.locator(".files button.item").nth(0).click(modifiers=["Control"])
    tab.page.locator(".files button.item").nth(2).click(modifiers=["Shift"])
    assert tab.page.get_by_role("button", name="Open 3").is_visible()
    tab.page.get_by_label("Clear the selection").click()
    tab.page.get_by_label("Large tiles").click()
    drawn = "(c) => c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some(Boolean)"
    tab.until(f"() => [...document.querySelectorAll('.tiles canvas')].filter({drawn}).length === 3")
    tab.page.keyboard.press("Escape")
    assert tab.page.locator(".tiles").count() == 0


def test_hostile_names_are_text(tab: Tab) -> None:
    tab.page.locator(".files button.item", has_text="onerror").click()
    tab.until("() => marey.selected.info.joints.includes('<b>Head</b>') && !!marey.selected.character.pose")
    tab.page.get_by_text("Joint names").click()
    settle(tab)
    assert "<b>Head</b>" in tab.page.locator(".joint-name").all_text_contents()
    tab.page.get_by_text("Joint names").click()
    assert HOSTILE in tab.page.locator(".opened").text_content()
    assert tab.get("marey.selected.info.labels[0].name") == HOSTILE
    assert tab.page.locator("img, b").count() == 0
    assert tab.get("window.hacked") is None


def test_lost_connection_resumes(tab: Tab) -> None:
    tab.open("walk.bvh")
    motions = tab.get("[...marey.motions.keys()]")
    session = tab.get("marey.welcome.session")
    tab.page.evaluate("() => marey.connection.drop()")
    listed = tab.page.evaluate("() => marey.ask('list', {}).then((l) => l.files.length)")
    assert listed == 3
    assert tab.get("marey.connection.state") == "open"
    assert tab.get("marey.welcome.session") == session
    assert tab.get("[...marey.motions.keys()]") == motions


def test_lost_answers_are_requested_again(tab: Tab) -> None:
    """The server has dropped replies that the page had not seen: pending requests fail instead of waiting forever."""
    message = tab.page.evaluate(
        """() => {
          const { connection } = marey;
          const answer = connection.ask("list", {}).then(() => "answered", (error) => error.message);
          const received = connection.nextId - 1;
          connection.welcome({ ...marey.welcome, session: connection.session, resumed: true, lost: true, received });
          return answer;
        }"""
    )
    assert message == "the reply was lost; try again"
    assert tab.page.evaluate("() => marey.ask('list', {}).then((l) => l.files.length)") == 3


def test_reload_keeps_everything(browser: Any, address: str) -> None:
    tab = new_tab(browser)
    tab.page.goto(address)
    tab.until("() => !!window.marey?.selected?.character.pose")
    tab.open("walk.bvh")
    tab.open("kick.bvh")
    tab.page.locator(".opened button.item", has_text="walk").first.click()
    tab.page.get_by_role("tab", name="Blend").click()
    tab.page.evaluate("() => marey.playback.seek(17)")
    state = "[marey.welcome.session, [...marey.motions.keys()], marey.selected.info.motion, marey.playback.frame]"
    before = tab.get(state)
    tab.page.reload()
    tab.until("() => !!window.marey?.selected?.character.pose && marey.playback.frame === 17")
    assert tab.get(state) == before
    assert tab.page.get_by_role("tab", name="Blend").get_attribute("aria-selected") == "true"
    assert tab.page.evaluate("() => marey.ask('list', {}).then((l) => l.files.length)") == 3

    tab.page.evaluate("() => (marey.selected.info = { ...marey.selected.info, unsaved: true })")
    requested = (
        "(() => { const e = new Event('beforeunload', { cancelable: true }); return !window.dispatchEvent(e); })()"
    )
    assert tab.get(requested), "labels that are not saved would be lost"
    tab.page.evaluate("() => (marey.selected.info = { ...marey.selected.info, unsaved: false })")
    assert not tab.get(requested)

    # A job that continues is shown again, and its result is added to the scene.
    motions = tab.get("marey.motions.size")
    asking = (
        "marey.run('Cleaning', 'operate', "
        "{ operation: 'clean', settings: {}, motion: marey.selected.info.motion, as_new: true })"
    )
    tab.page.evaluate(f"() => void {asking}.catch(() => 0)")
    tab.page.reload()
    tab.until("() => !!window.marey?.welcome")
    assert tab.get("marey.connection.resumedWork.map(({ work }) => work.command)") == ["clean"]
    tab.until(f"() => marey.motions.size === {motions + 1} && !document.querySelector('.notice.job')")
    assert tab.get("marey.selected.info.name") == "walk (cleaned)"
    assert tab.complaints == []
    tab.page.context.close()


def test_another_server_at_the_address_is_reported(browser: Any, address: str) -> None:
    tab = new_tab(browser)
    tab.page.goto(address)
    tab.until("() => window.marey?.connection.state === 'open'")
    tab.page.context.clear_cookies()
    tab.page.evaluate("() => marey.connection.drop()")
    tab.until("() => marey.connection.state === 'closed'")
    assert "restarted; open the new address it printed" in tab.page.locator("#state").inner_text()
    tab.page.context.close()


def test_light_and_dark(tab: Tab) -> None:
    settle(tab)
    first = picture(tab)[-40:].mean()
    tab.page.locator("#theme").click()
    settle(tab)
    second = picture(tab)[-40:].mean()
    tab.page.locator("#theme").click()
    assert abs(first - second) > 100


def test_whole_page_by_keyboard(tab: Tab) -> None:
    """Tab reaches the files, the tabs, the timeline and the buttons, and each has a name."""
    nameless = tab.get(
        "[...document.querySelectorAll('button, input, select, canvas, a')].filter((n) => !n.hidden && "
        "!n.ariaHidden && !(n.textContent || n.getAttribute('aria-label') || n.closest('label')?.textContent))"
        ".map((n) => n.outerHTML)"
    )
    assert nameless == []
    assert tab.get("[...document.querySelectorAll('canvas')].filter((n) => !n.ariaHidden && !n.role).length") == 0
    tab.page.locator(".files button.item").first.focus()
    tab.page.keyboard.press("ArrowDown")
    assert tab.get("document.activeElement.title").startswith("kick.bvh")
    assert tab.page.locator(".files button.item[tabindex='0']").count() == 1
    tab.page.locator(".opened button.item").last.focus()
    tab.page.keyboard.press("Enter")
    assert tab.get("document.activeElement.parentElement.dataset.motion === marey.selected.info.motion")
    tab.page.keyboard.press("Shift+Tab")
    tab.page.keyboard.press(" ")
    assert tab.get("document.activeElement.className === 'dot' && !marey.selected.character.visible")
    tab.page.keyboard.press(" ")
    tab.page.get_by_role("tab", name="View").focus()
    tab.page.keyboard.press("ArrowRight")
    assert tab.page.get_by_role("tab", name="Edit").get_attribute("aria-selected") == "true"
    tab.page.keyboard.press("ArrowLeft")
    tab.page.keyboard.press("?")
    assert tab.page.get_by_role("dialog", name="Keyboard shortcuts").is_visible()
    tab.page.keyboard.press("Escape")
    assert not tab.get("document.querySelector('dialog').open")


def test_fits_screens(tab: Tab, tmp_path: Path) -> None:
    """Nothing is cut off or wider than the screen; the screenshots are kept for review."""
    for width, height, least in ((1280, 720, 0.5), (1024, 768, 0.5), (390, 844, 0.3)):
        tab.page.set_viewport_size({"width": width, "height": height})
        settle(tab)
        tab.page.screenshot(path=tmp_path / f"{width}.png")
        assert tab.get("document.documentElement.scrollWidth") <= width
        assert tab.get("document.documentElement.scrollHeight") <= height
        stage = tab.page.locator("#stage").bounding_box()
        assert stage["width"] >= 0.4 * width
        assert stage["height"] >= least * height
    tab.page.set_viewport_size({"width": 1280, "height": 720})


def test_tab_reaches_named_controls_with_visible_focus(tab: Tab) -> None:
    tab.page.locator("#topbar button").first.focus()
    found = []
    while len(found) < 150:
        tab.page.keyboard.press("Tab")
        name, outline, place = tab.get(
            "(({ activeElement: e }) => [e.ariaLabel || e.labels?.[0]?.textContent || e.textContent, "
            "parseFloat(getComputedStyle(e).outlineWidth), "
            "e.closest('#topbar, #left, #stage, #right, #bottom')?.id])(document)"
        )
        if not place:  # past the last control
            break
        assert name.strip(), f"control {len(found)} in #{place} has no name"
        assert outline > 0.0, name
        found.append(place)
    assert list(dict.fromkeys(found)) == ["topbar", "left", "stage", "right", "bottom"]


def test_offline_player(browser: Any, folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    files = [str(folder / "walk.bvh"), str(folder / "kick.bvh")]
    subprocess.run([sys.executable, "-m", "marey", "view", *files, "-o", str(page)], check=True, capture_output=True)
    tab = new_tab(browser, offline=True)
    tab.page.goto(page.as_uri())
    tab.until("() => !!window.marey && marey.stage.drawn > 1 && marey.playback.frame > 0")
    tab.page.keyboard.press(" ")
    tab.page.keyboard.press("Home")
    assert frame(tab) == 0
    tab.page.get_by_label("Clip").select_option("1")
    assert tab.get("marey.playback.nFrames") == len(marey.load(folder / "kick.bvh"))
    assert tab.get("marey.characters.map((each) => each.visible)") == [False, True]
    tab.page.goto("about:blank")
    tab.page.goto(f"{page.as_uri()}#all")
    tab.until("() => !!window.marey && marey.stage.drawn > 1")
    assert tab.get("marey.characters.map((each) => each.visible)") == [True, True]
    assert tab.complaints == []
    assert json.loads(tab.get("document.getElementById('marey-data').textContent"))["motions"]
