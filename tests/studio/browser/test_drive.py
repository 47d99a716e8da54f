"""Drive in a real browser: keys turn the character, a click sends it somewhere, and another controller takes over."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from marey.pmg import GaitSpace, ParametricMotionGraph
from marey.pmg.walker import sample_walks
from tests.studio.browser.conftest import Tab

pytestmark = pytest.mark.slow("whole sessions in Drive; test_panels.py opens it, test_panel_drive.py drives")

PLACE = "marey.stage.controls.target"
# Each shader that is linked gets the next number.
NEWEST_SHADER = "Math.max(...marey.stage.renderer.info.programs.map(({ id }) => id))"
# Records the largest movement of the camera's target from frame to frame.
WATCH = f"""(() => {{
  let last = {PLACE}.clone();
  window.widest = 0;
  marey.stage.ticked.on(() => {{
    window.widest = Math.max(window.widest, last.distanceTo({PLACE}));
    last = {PLACE}.clone();
  }});
}})()"""


# A gamepad whose stick drifts a little; `window.requests` are the requests from then on.
PAD = """(() => {
  const buttons = Array.from({ length: 17 }, () => ({ pressed: false, value: 0 }));
  const axes = [0.1, 0.15];
  window.pad = { id: "Test Pad (STANDARD)", index: 0, connected: true, mapping: "standard", axes, buttons };
  navigator.getGamepads = () => [window.pad];
  window.requests = [];
  const ask = marey.connection.ask.bind(marey.connection);
  marey.connection.ask = (name, fields, options) => {
    if (name === "drive_request") window.requests.push(fields);
    return ask(name, fields, options);
  };
})()"""
# x and z of the direction to the right in the view.
ACROSS = "[marey.stage.camera.matrixWorld.elements[0], marey.stage.camera.matrixWorld.elements[2]]"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A saved walking character, and a walk to open with it."""
    import marey

    at = tmp_path_factory.mktemp("driven")
    walks = sample_walks(n_turns=5, speeds=(1.1,), fps=30.0)
    graph = ParametricMotionGraph("walker")
    graph.add("walk", GaitSpace.build(walks))
    graph.connect("walk", "walk", n_source=20, n_target=60)
    graph.save(at / "walker.json")
    marey.save(walks[2], at / "walk.bvh")
    assert len(list(at.glob("walker.walk.*.npz"))) == 1
    return at


def test_drive_by_keys_and_mouse_and_change_the_controller(tab: Tab) -> None:
    page = tab.page
    page.get_by_role("tab", name="Drive").click()
    tab.until("() => [...document.querySelectorAll('.panel option')].some(o => o.value === 'file:walker.json')")
    page.get_by_role("combobox", name="Character").select_option("file:walker.json")
    page.get_by_role("button", name="Start").click()
    page.get_by_role("button", name="Stop").wait_for()
    assert not tab.get("marey.selected.character.visible"), "other characters are hidden"
    tab.until(f"() => Math.hypot({PLACE}.x, {PLACE}.z) > 0.3")

    shaders = tab.get(NEWEST_SHADER)
    page.keyboard.down("a")
    tab.until("() => /^turning, /.test(document.querySelector('.panel output').textContent)")
    tab.until("() => /^turned in \\d+\\.\\d s$/.test(document.querySelector('.panel output').textContent)")
    page.keyboard.up("a")
    # What was driven so far is kept, and driving goes on.
    kept = page.get_by_role("button", name=re.compile(r"^Keep \d+ s as new clip$"))
    kept.click()
    tab.until("() => [...marey.motions.values()].some(({ info }) => info.name === 'driven')")
    driven = "[...marey.motions.values()].find(({ info }) => info.name === 'driven')"
    assert tab.get(f"{driven}.info.seconds > 0.5 && !{driven}.character.visible")
    assert page.get_by_role("button", name="Stop").count() == 1
    assert page.locator(".opened .dot[aria-pressed=true]").count() == 0, "clips are hidden"
    assert not page.locator("#transport").is_visible(), "it is about another clip"
    assert tab.get(NEWEST_SHADER) == shaders, "a new drawing reuses existing shaders"
    assert tab.get("marey.playback.frame") == 0, "keys that steer do not step"

    tab.get(WATCH)
    page.get_by_label("Controller").select_option("tree")
    tab.until("() => /turn -?\\d+°/.test(document.querySelector('.panel').textContent)")
    assert tab.get("window.widest") < 1.0, "the character goes on where it stood"
    box = page.locator("#stage canvas").bounding_box()
    page.mouse.click(box["x"] + 0.3 * box["width"], box["y"] + 0.8 * box["height"])
    tab.until("() => /Blend tree/.test(document.querySelector('.panel table').textContent)")

    tab.get(PAD)
    tab.until("() => /Test Pad connected/.test(document.querySelector('.panel').textContent)")
    assert tab.get("window.requests.length") == 0, "a stick that hardly moves pushes nothing"
    tab.get("window.pad.axes = [1, 0]")
    tab.until("() => window.requests.length > 0")
    request, (x, z) = tab.get("window.requests.at(-1)"), tab.get(ACROSS)
    assert math.cos(request["direction"] - math.atan2(x, z)) > 0.99, "to the right, as it is seen"
    assert request["point"] is None
    tab.get("window.pad.connected = false")
    tab.until("() => !marey.stage.canvas.closest('body').innerText.includes('Test Pad')")

    page.get_by_label("Filter files").press_sequentially("wasd")
    assert page.get_by_label("Filter files").input_value() == "wasd"
    page.get_by_label("Filter files").press("Escape")
    assert page.get_by_role("button", name="Stop").count() == 1, "keys in a field are the field's"
    page.get_by_label("Filter files").fill("")
    tab.get("document.activeElement.blur()")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Start").wait_for()

    kept.click()
    tab.until("() => /^driven/.test(marey.selected.info.name) && !!marey.selected.character.pose")
    shown = tab.get(
        "[...marey.motions.values()].filter(({ character }) => character.visible).map(({ info }) => info.name)"
    )
    assert len(shown) == 1, "alone"
    page.get_by_role("button", name="Start").wait_for()


# Replies to `drive_start` arrive when the test releases them, in order; `window.held` are those that wait.
HOLD = """(() => {
  const ask = marey.connection.ask.bind(marey.connection);
  window.held = [];
  window.asked = [];
  marey.connection.ask = (name, fields, options) => {
    window.asked.push(name);
    const answer = ask(name, fields, options);
    if (name !== "drive_start") return answer;
    answer.catch(() => undefined);  // it may fail before anybody is let wait for it
    return new Promise((done) => window.held.push(() => done(answer)));
  };
})()"""


def test_a_start_that_is_left_or_overtaken_does_not_take_the_page(tab: Tab) -> None:
    page = tab.page
    page.get_by_label("Controller").select_option("character")
    tab.get(HOLD)
    page.get_by_role("button", name="Start").click()
    tab.until("() => window.held.length === 1")
    page.get_by_role("tab", name="View").click()
    tab.get("window.held.shift()()")
    tab.until("() => !document.querySelector('.notice.job')")
    assert tab.get("marey.selected.character.visible"), "the Drive panel is closed"
    assert tab.get("window.asked.filter((name) => name === 'live_stop').length") <= 1

    page.get_by_role("tab", name="Drive").click()
    page.get_by_role("button", name="Start").click()
    tab.until("() => window.held.length === 1")
    page.get_by_label("Controller").select_option("tree")
    page.get_by_label("Controller").select_option("character")
    page.get_by_label("Controller").select_option("tree")
    tab.get("window.held.shift()()")
    tab.until("() => window.held.length === 1")
    tab.get("window.held.shift()()")
    tab.until("() => /turn -?\\d+°/.test(document.querySelector('.panel').textContent)")
    assert page.get_by_label("Controller").input_value() == "tree"
    assert tab.get("window.held.length") == 0, "what was overtaken is not made"

    page.get_by_label("Controller").select_option("character")
    tab.until("() => window.held.length === 1")
    page.get_by_role("button", name="Stop").click()  # the character that plays, and the one that is being prepared
    tab.get("window.held.shift()()")
    tab.until("() => !document.querySelector('.notice.job')")
    page.get_by_role("button", name="Start").wait_for()
    assert page.locator(".drive-answer").inner_text() == "–"
    tab.get("delete marey.connection.ask")
