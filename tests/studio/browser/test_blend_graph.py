"""Blending and graphs as a user does them."""

from __future__ import annotations

from pathlib import Path

import pytest

import marey
from marey.samples.samples import sample
from tests.studio.browser.conftest import Tab

pytestmark = pytest.mark.slow("whole sessions in Blend and Graph; test_panels.py begins them")

CLIPS = {
    "fast": ("walk", {"speed": 1.7}),
    "left": ("walk", {"turn_rate": 0.7}),
    "slow": ("walk", {"speed": 1.0}),
    "trot": ("run", {}),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    at = tmp_path_factory.mktemp("moves")
    for name, (kind, options) in CLIPS.items():
        marey.save(sample(kind, fps=30.0, seconds=5.0, **options).motion, at / f"{name}.bvh")
    return at


def hold_on_while_blends_arrive(tab: Tab) -> None:
    """A slider keeps the pointer and the focus while results arrive; its drag is undone as one change."""
    page = tab.page
    slider = page.locator(".panel input[type=range]").first
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    for k in range(1, 4):
        revision = tab.get("marey.selected.info.revision")
        page.mouse.move(x + 12 * k, y)
        tab.until(f"() => marey.selected.info.revision !== {revision}")
    page.mouse.up()
    moved = float(slider.input_value())
    assert moved > 0.55
    assert tab.get("marey.selected.info.undo") == 1
    for _ in range(2):
        revision = tab.get("marey.selected.info.revision")
        page.keyboard.press("ArrowRight")
        tab.until(f"() => marey.selected.info.revision !== {revision}")
    assert float(slider.input_value()) == pytest.approx(moved + 0.02)


def test_blend_two_and_change_everything(tab: Tab) -> None:
    page = tab.page
    tab.open("fast.bvh")
    tab.open("slow.bvh")
    page.get_by_role("tab", name="Blend").click()
    for _ in range(2):  # of two clips, both are chosen: "fast" leaves, and returns as the second
        page.locator(".blend-list").get_by_text("fast").click()
    tab.until("() => document.querySelector('.panel').textContent.includes('matching foot contacts')")
    page.get_by_role("button", name="Blend", exact=True).click()
    tab.until("() => marey.selected.info.name === 'Blend of slow and fast' && !!marey.selected.character.pose")
    assert tab.get("marey.playback.playing")
    result = tab.get("marey.selected.info.motion")
    hold_on_while_blends_arrive(tab)
    for name, weight in (("slow", "0.6"), ("fast", "0.1")):
        page.locator(".panel").get_by_label(f"{name}, number").fill(weight)
        page.keyboard.press("Enter")
    assert page.get_by_role("slider", name="A  slow").input_value() == "0.9"
    blended = "Blend of slow and fast"
    tab.until(f"() => marey.selected.info.name === '{blended} at 10 %'")
    for method, ending in (("linear", " (linear)"), ("discrete", " (discrete)"), ("registered", "")):
        page.locator(".panel").get_by_label("Method").select_option(method)
        tab.until(f"() => marey.selected.info.name === '{blended} at 10 %{ending}'")
    page.locator(".panel").get_by_label("Mode").select_option("curves")
    tab.until(f"() => marey.selected.info.name === '{blended}'")
    revision = tab.get("marey.selected.info.revision")
    page.get_by_label("Weight of B: curve").focus()
    page.keyboard.press("ArrowUp")
    tab.until(f"() => marey.selected.info.revision !== {revision}")
    assert tab.get("marey.selected.info.motion") == result


def test_grid_shows_two_frames(tab: Tab) -> None:
    page = tab.page
    grid = page.locator(".grid-view")
    grid.scroll_into_view_if_needed()
    grid.click(position={"x": 60, "y": 40})
    tab.until("() => document.querySelector('.panel').textContent.includes('They stay overlaid')")
    assert not tab.get("marey.selected.character.visible")
    text = page.locator(".panel p", has_text="They stay overlaid")
    before = text.inner_text()
    grid.focus()
    page.keyboard.press("Shift+ArrowRight")
    tab.until(f"() => !document.querySelector('.panel').textContent.includes({before!r})")
    page.locator("#stage canvas").focus()
    page.keyboard.press("Home")
    tab.until("() => marey.selected.character.visible")


def test_transition_and_statistics(tab: Tab) -> None:
    page = tab.page
    page.locator(".panel").get_by_label("Mode").select_option("transition")
    tab.until("() => marey.selected.info.name === 'slow to fast'")
    assert "Transition from A at" in page.locator(".panel").inner_text()
    # Only a grid that was made for transitions shows this.
    tab.until("() => document.querySelector('.panel').textContent.includes('Click to place the transition there')")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="BVH", exact=True).click()
    assert waiting.value.suggested_filename == "slow_to_fast.bvh"
    page.get_by_role("button", name="Measure").last.click()
    tab.until("() => !!document.querySelector('.panel .measures tbody tr')")
    page.get_by_role("button", name="Compare methods").click()
    tab.until("() => document.querySelector('.panel').textContent.includes('dynamic timewarping')")


def test_grid_shows_two_frames_of_a_transition_while_it_plays(tab: Tab) -> None:
    page = tab.page
    tab.get("marey.playback.playing || marey.playback.toggle()")
    grid = page.locator(".grid-view")
    grid.scroll_into_view_if_needed()
    grid.click(position={"x": 50, "y": 60})
    tab.until("() => document.querySelector('.panel').textContent.includes('They stay overlaid')")
    tab.until("() => [...marey.motions.values()].every(({ character }) => !character.visible)")
    drawn = "each.type === 'Group' && each.visible && each.children.length && each !== marey.stage.ground"
    assert tab.get(f"marey.stage.scene.children.filter((each) => {drawn}).length") == 2
    assert not tab.get("marey.playback.playing"), "else time would move on at once"
    assert "A at" in page.locator(".panel").inner_text()
    page.locator("#stage canvas").focus()
    page.keyboard.press(" ")
    tab.until("() => marey.selected.character.visible && marey.stage.sees(marey.selected.character.center())")
    page.keyboard.press(" ")


def test_graph_from_folder_to_walk_path_and_keys(tab: Tab) -> None:
    page = tab.page
    page.get_by_role("tab", name="Graph").click()
    panel = page.locator(".panel")
    panel.get_by_role("combobox", name="Clips", exact=True).select_option("folder")
    page.get_by_role("button", name="Build graph").click()
    tab.until("() => document.querySelector('.panel').textContent.includes('4 clips')")
    fraction = "() => document.querySelector('.limit-curve').closest('section').querySelector('p').textContent"
    before = page.evaluate(fraction)
    page.get_by_label("Threshold, number", exact=True).fill("0.25")
    page.keyboard.press("Enter")
    tab.until(f"() => ({fraction})() !== {before!r}")
    page.get_by_text("Thresholds per pair of labels").click()
    page.get_by_label("run to walk:").click()
    page.get_by_label("run to walk, number").fill("0")
    page.keyboard.press("Enter")
    tab.until("() => document.querySelector('[aria-label^=\"run to walk:\"]').textContent === '0'")
    page.get_by_label("Clear the threshold").click()
    page.get_by_label("Duration (s)", exact=True).fill("5")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Random walk").click()
    tab.until("() => marey.selected.info.name === 'random walk 0' && !!marey.selected.character.pose")
    tab.until("() => marey.playback.playing")
    assert tab.get("marey.selected.info.n_frames") == 150

    page.get_by_role("button", name="Draw path").click()
    assert not tab.get("marey.playback.playing"), "the camera would go along with the character"
    panel.locator("section", has_text="Draw path").get_by_label("Action").select_option("walk")
    box = page.locator("#stage canvas").bounding_box()
    middle = box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"]
    page.mouse.move(middle[0] - 120, middle[1] + 60)
    page.mouse.down()
    for k in range(1, 20):
        page.mouse.move(middle[0] - 120 + 12 * k, middle[1] + 60 - 0.2 * k * k)
    page.mouse.up()
    assert page.locator(".stretches li").count() == 1
    page.get_by_role("button", name="Follow path").click()
    tab.until("() => document.querySelector('.panel').textContent.includes('Distance from the path')")
    assert tab.get("marey.selected.info.name") == "path"
    # The whole path is in view, and the camera stays there.
    page.evaluate("() => { window.spot = (at) => marey.stage.camera.position.clone().set(at[0], 0, at[1]); }")
    path = "JSON.parse(sessionStorage['marey.tab']).choices.graph.done.path"
    tab.until(f"() => !marey.following && {path}.every((at) => marey.stage.sees(spot(at)))")

    page.get_by_role("button", name="Steer", exact=True).click()
    tab.until("() => [...document.querySelectorAll('.panel select')].some((each) => each.value === 'built')")
    page.get_by_role("button", name="Start", exact=True).click()
    tab.until("() => document.querySelector('.panel').textContent.includes('Stop')")
    frame = tab.get("marey.playback.frame")
    page.keyboard.down("ArrowLeft")
    tab.until("() => marey.ask('live_statistics', {}).then((report) => report.sent > 15)")
    page.keyboard.up("ArrowLeft")
    assert tab.get("marey.playback.frame") == frame  # the arrows steer and do not step in time
    page.keyboard.press("2")
    tab.until("() => document.querySelector('.panel').textContent.includes('keep going')")
    page.keyboard.press("Escape")
    tab.until("() => !document.querySelector('.panel').textContent.includes('Stop')")
    assert tab.get("marey.selected.character.visible")
    page.get_by_role("tab", name="View").click()
