"""Searching and aiming in a real browser: mark a kick, find the others, exclude one, and kick where the mouse is."""

from __future__ import annotations

from pathlib import Path

import pytest

import marey
from tests.find_medleys import KICK, takes
from tests.studio.browser.conftest import Tab

pytestmark = pytest.mark.slow("a whole session in Find; test_panels.py begins one")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two takes with three kicks each."""
    at = tmp_path_factory.mktemp("takes")
    for take in takes():
        marey.save(take, at / f"{take.name}.bvh")
    return at


def press(tab: Tab, label: str) -> None:
    tab.page.locator(".panel button", has_text=label).first.click()


def says(tab: Tab, text: str) -> None:
    tab.until(f"() => document.querySelector('.panel').innerText.includes({text!r})")


def in_picture(tab: Tab, place: str) -> tuple[float, float]:
    """Return the position of a point of the scene on the screen."""
    tab.page.evaluate(f"() => {{ window.place = marey.stage.camera.position.clone().set(...{place}); }}")
    spot = tab.get("marey.stage.project(window.place)")
    box = tab.page.locator("#stage canvas").bounding_box()
    return box["x"] + spot["x"], box["y"] + spot["y"]


def wait_for_camera(tab: Tab) -> None:
    """Wait until three frames in a row are drawn from the same place. Reading the camera twice is not enough: on a busy
    machine no frame is drawn in between, and only drawing one tells `project` and the pointer where the camera is.
    """
    tab.page.evaluate(
        "() => new Promise((done) => { let [before, same] = ['', 0]; const look = () => {"
        " const now = marey.stage.camera.matrixWorld.elements.join();"
        " same = now === before ? same + 1 : 0; before = now;"
        " if (same === 3) return done(); marey.stage.invalidate(); requestAnimationFrame(look); }; look(); })"
    )


def test_a_kick_is_found_and_aimed(tab: Tab) -> None:
    page = tab.page
    tab.open("take0.bvh")
    page.locator(".tabs button", has_text="Find").click()
    assert page.locator(".panel button", has_text="Suggest a threshold").is_disabled()
    press(tab, "Index clips")
    says(tab, "2 clips, ")
    page.evaluate(f"() => marey.playback.setRegion([{KICK[0]}, {KICK[1]}])")
    says(tab, f"take0, {KICK[0] / 30:.2f} to {KICK[1] / 30:.2f} s")
    press(tab, "Suggest a threshold")
    says(tab, "finds 5 matches")
    # A threshold is suggested, and never applied without a click.
    assert page.get_by_label("Threshold (m)", exact=True).input_value() == ""
    assert page.locator(".panel button", has_text="Search").is_disabled()
    press(tab, "Use ")
    assert float(page.get_by_label("Threshold (m)", exact=True).input_value()) > 0.0
    says(tab, "5 matches found.")
    assert page.locator(".tile").count() == 6
    moved = "() => [...document.querySelectorAll('.tile canvas')].map(c => c.toDataURL()).join()"
    before = page.evaluate(moved)
    tab.until(f"() => ({moved})() !== {before!r}")
    page.locator(".tile").nth(2).click()
    says(tab, "5 matches found, 1 excluded.")
    assert page.locator(".tile").nth(2).get_attribute("aria-pressed") == "false"

    # Every reply is recorded for the test.
    page.evaluate(
        "() => { window.replies = []; const ask = marey.connection.ask.bind(marey.connection);"
        " marey.connection.ask = (name, fields, options) => { const answer = ask(name, fields, options);"
        " if (name.startsWith('aim')) answer.then((each) => replies.push(each.first ?? each), () => 0);"
        " return answer; }; }"
    )
    press(tab, "Create target control")
    says(tab, "Built from 5 examples at 30 Hz.")
    tab.until("() => marey.selected.info.motion === replies[0].motion.motion && !!marey.selected.character.pose")
    # While the clip plays, the camera follows, and the ball would not be where the test expects it.
    tab.until("() => !marey.playback.playing && marey.playback.frame === replies[0].moment")
    wait_for_camera(tab)
    page.evaluate(
        "() => { window.sent = []; const send = marey.connection.send.bind(marey.connection);"
        " marey.connection.send = (name, ...rest) => { sent.push(name); return send(name, ...rest); }; }"
    )
    start = in_picture(tab, "replies[0].point")
    page.mouse.move(*start)
    page.mouse.down()
    for k in range(1, 6):
        page.mouse.move(start[0], start[1] - 4 * k)
    tab.until("() => replies.length > 1 && replies.at(-1).point[1] > replies[0].point[1] + 0.02")
    page.mouse.up()
    tab.until("() => replies.at(-1).errors.m < 0.02")  # a released target is refined, after the preview
    sent = tab.get("sent")
    assert sent.count("frames") < sent.count("aim"), "frames come with the reply"
    last = tab.get("replies.at(-1)")
    assert last["motion"]["motion"] == tab.get("marey.selected.info.motion")
    assert not last["projected"], "the target follows what can be reached under the pointer"
    says(tab, "Misses the target by ")
    assert not tab.get("marey.playback.playing"), "what was paused stays paused"
    # A drag is undone and redone as one change.
    tab.page.keyboard.press("Control+z")
    tab.until("() => replies.at(-1).point[1] < replies[0].point[1] + 0.005")
    tab.page.keyboard.press("Control+Shift+z")
    tab.until("() => replies.at(-1).point[1] > replies[0].point[1] + 0.02")
    page.locator(".panel input[type=range]").last.press("ArrowRight")
    tab.until(f"() => replies.at(-1).target[2] !== {last['target'][2]}")
    motions = tab.get("marey.motions.size")
    press(tab, "Keep as new clip")
    tab.until(f"() => marey.motions.size === {motions} + 1")
    page.locator(".tile").nth(1).dblclick()
    tab.until(f"() => marey.motions.size === {motions} + 2 && marey.selected.info.name.endsWith(' s')")

    # An excluded match is included again by keyboard alone.
    page.locator(".tile").nth(1).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    tab.until("() => !document.querySelector('.panel').innerText.includes('excluded')")

    # It is saved without overwriting another file; a reloaded page continues where it was.
    name = page.get_by_label("Target control name")
    name.fill("")
    name.press("Enter")
    says(tab, "Enter a file name first.")
    name.fill("kick")
    name.press("Enter")
    tab.until("() => [...document.querySelectorAll('.panel option')].some((each) => each.value === 'kick.npz')")
    name.press("Enter")
    says(tab, "kick.npz already exists. Overwrite it, or choose another name.")
    page.locator(".tile").nth(3).click()
    page.reload()
    tab.until("() => !!window.marey?.selected?.character.pose")
    says(tab, "5 matches found, 1 excluded.")
    says(tab, "Built from 5 examples at 30 Hz.")
    page.locator(".tabs button", has_text="View").click()
