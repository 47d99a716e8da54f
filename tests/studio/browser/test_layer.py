"""The Layers panel in a real browser: a carried box on a walk, and a look at a point that is dragged."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import marey
from marey.samples.samples import sample
from tests.studio.browser.conftest import Tab

pytestmark = pytest.mark.slow("a whole session in Layers; test_panels.py begins one")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    at = tmp_path_factory.mktemp("layers")
    for name in ("walk", "carry_box"):
        marey.save(sample(name, fps=30.0, seconds=4.0).motion, at / f"{name}.bvh")
    walk = sample("walk", fps=30.0, seconds=4.0).motion
    tall = marey.Skeleton(walk.skeleton.names, walk.skeleton.parents, 1.3 * walk.skeleton.offsets)
    marey.save(replace(walk, skeleton=tall, name="tall"), at / "tall.bvh")
    return at


def press(tab: Tab, label: str) -> None:
    tab.page.locator(".panel button", has_text=label).first.click()


def test_an_upper_body_is_put_on_and_looks_where_the_mouse_goes(tab: Tab) -> None:
    page = tab.page
    for name in ("walk.bvh", "carry_box.bvh"):
        tab.open(name)
    page.locator(".tabs button", has_text="Layers & gaze").click()
    page.locator(".opened button.item", has_text="walk").first.click()
    page.get_by_label("Upper body of").select_option(label="carry_box")
    press(tab, "Combine")
    tab.until("() => marey.motions.size === 3 && marey.selected.info.name === 'walk with upper body of carry_box'")
    tab.until("() => marey.playback.playing && !!marey.selected.character.pose")
    page.keyboard.press(" ")
    page.evaluate("() => (marey.playback.seek(20), marey.focus())")

    press(tab, "Add gaze target")
    tab.until(
        "() => marey.selected.info.name === 'walk with upper body of carry_box (looking)'"
        " && !!marey.selected.character.pose"
    )
    press(tab, "Add gaze target")
    tab.until("() => document.querySelectorAll('.looks li').length === 2")
    balls = "marey.stage.scene.children.filter((one) => one.geometry?.type === 'SphereGeometry')"
    assert tab.get(f"(([a, b]) => a.position.distanceTo(b.position))({balls})") > 0.2
    page.get_by_label("Remove gaze target 2").click()
    tab.until("() => document.querySelectorAll('.looks li').length === 1")
    tab.until("() => /reached|not enough time/.test(document.querySelector('.looks').innerText)")
    looking = tab.get("marey.selected.info.motion")
    page.evaluate("() => marey.select([...marey.motions.keys()][0])")
    assert not page.locator(".looks").is_visible(), "targets of another clip are hidden"
    assert tab.get(f"{balls}.length") == 0
    page.evaluate(f"() => marey.select({looking!r})")
    assert page.locator(".looks").is_visible()
    assert tab.get(f"{balls}.length") == 1
    first = tab.get("marey.selected.info.revision")
    ball = "marey.stage.scene.children.find((one) => one.type === 'Mesh' && one.geometry.type === 'SphereGeometry')"
    spot = tab.get(f"marey.stage.project({ball}.position)")
    box = page.locator("#stage canvas").bounding_box()
    x, y = box["x"] + spot["x"], box["y"] + spot["y"]
    page.mouse.move(x, y)
    page.mouse.down()
    for k in range(1, 5):
        page.mouse.move(x - 10 * k, y + 5 * k)
    page.mouse.up()
    tab.until(f"() => marey.selected.info.revision > {first}")
    assert tab.get("marey.selected.info.motion") == looking
    assert page.locator(".looks li").count() == 1
    tab.until("() => /reached at|not enough time/.test(document.querySelector('.looks').innerText)")

    second = tab.get("marey.selected.info.revision")
    height = page.get_by_label("Gaze target 1, y, meters")
    height.fill("2.5")
    height.press("Enter")
    tab.until(f"() => marey.selected.info.revision > {second}")
    before = tab.get("marey.history.changes.length")
    page.evaluate("() => marey.history.undo()")
    tab.until("() => document.querySelector('[aria-label=\"Gaze target 1, y, meters\"]').value !== '2.5'")
    page.evaluate("() => marey.history.redo()")
    tab.until("() => document.querySelector('[aria-label=\"Gaze target 1, y, meters\"]').value === '2.50'")
    assert tab.get("marey.history.changes.at(-1).title") == "Move gaze target"
    assert tab.get("marey.history.changes.length") == before
    tab.until("() => /reached at|not enough time/.test(document.querySelector('.looks').innerText)")

    third = tab.get("marey.selected.info.revision")
    page.evaluate("() => marey.playback.seek(60)")
    press(tab, "Add direction")
    tab.until(f"() => marey.selected.info.revision > {third}")
    yaw = page.get_by_label("Gaze target 2, to the left, degrees")
    assert yaw.input_value() == "45"
    yaw.fill("-30")
    yaw.press("Enter")
    tab.until(f"() => marey.selected.info.revision > {third} + 1")
    tab.until("() => marey.keys.curve.keys[1].value < 0.5")
    # The same target on the timeline, by keyboard: 9 degrees more to the left.
    page.locator("#keys canvas").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowUp")
    assert page.get_by_label("Gaze target 2, to the left, degrees").input_value() == "-21"
    tab.until(f"() => marey.selected.info.revision > {third} + 2")
    assert tab.get("marey.history.changes.at(-1).title") == "Change gaze target"

    page.evaluate("() => marey.playback.seek(110)")
    press(tab, "End gaze")
    tab.until("() => document.querySelectorAll('.looks li').length === 3")
    press(tab, "Finish")
    tab.until("() => document.querySelectorAll('.looks li').length === 0")
    assert tab.get("marey.motions.size") == 4

    # An impossible request is explained in one sentence.
    press(tab, "Body part")
    page.get_by_label("Start at (s)").fill("9")
    page.get_by_label("Start at (s)").press("Enter")
    press(tab, "Combine")
    tab.until("() => !!document.querySelector('.wrong + .missed')")
    text = page.locator(".wrong + .missed").inner_text()
    assert "must be from 0 to 4 s, the duration of the base motion, not 9 s" in text

    # Clips of different skeletons are retargeted with one click.
    page.get_by_label("Start at (s)").fill("0")
    page.get_by_label("Start at (s)").press("Enter")
    page.get_by_label("Body part of").select_option(label="tall.bvh (file)")
    press(tab, "Combine")
    press(tab, "Retarget and try again")
    tab.until("() => marey.motions.size === 5")
    assert page.get_by_label("Retarget", exact=True).is_checked()
    page.locator(".tabs button", has_text="View").click()
