"""The start page in a real browser: a demo, its code, and a project that is reopened."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.studio.browser.conftest import Tab


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server without a folder, which remembers nothing of the user."""
    recent = tmp_path_factory.mktemp("recent") / "recent.json"
    command = [sys.executable, "-m", "marey", "studio", "--no-browser", "--port", "0"]
    environment = os.environ | {"MAREY_RECENT": str(recent)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    ) as server:
        assert server.stdout is not None
        found = re.search(r"http://\S+", server.stdout.readline())
        assert found
        yield found.group(0)
        server.terminate()
        server.wait(20)


@pytest.fixture(scope="module")
def shared(browser: object, address: str) -> Iterator[Tab]:
    from tests.studio.browser.conftest import draw_coarsely, new_tab

    tab = new_tab(browser)
    tab.page.goto(address)
    tab.until("() => !!window.marey?.welcome && document.querySelectorAll('.start-page option').length > 5")
    draw_coarsely(tab)
    yield tab
    tab.page.context.close()


def test_a_demo_ends_in_something_that_moves(tab: Tab) -> None:
    tab.page.keyboard.press("Escape")
    assert not tab.page.locator(".start-page").is_visible()
    tab.page.get_by_role("button", name="File", exact=True).click()
    tab.page.get_by_role("menuitem", name="Start page").click()
    tab.page.get_by_text("Clean a sliding walk").click()
    tab.until("() => marey.motions.size === 2 && marey.playback.playing && !!marey.selected.character.pose")
    assert not tab.page.locator(".start-page").is_visible()
    tab.until("() => document.querySelector('.panel').textContent.includes('foot plants locked')")
    chosen = tab.get("[...document.querySelectorAll('.panel select')].slice(0, 3).map((each) => each.value)")
    assert chosen[2] == "beside"
    assert chosen[0] != chosen[1]
    tab.page.get_by_role("button", name="Share", exact=True).click()
    tab.page.get_by_role("button", name="Show as code").click()
    tab.until("() => document.querySelector('.share .code').value.includes('marey.clean(')")
    tab.page.locator(".share").get_by_role("button", name="Close").click()


@pytest.mark.slow("a second demo, to see that it leaves out the clips of the first")
def test_a_demo_uses_only_its_own_clips(tab: Tab) -> None:
    n = tab.get("marey.motions.size")
    tab.page.get_by_role("button", name="File", exact=True).click()
    tab.page.get_by_role("menuitem", name="Start page").click()
    tab.page.get_by_text("Blend a walk and a run").click()
    tab.until(f"() => marey.motions.size === {n} + 3 && !!marey.selected.character.pose")
    assert tab.get("marey.selected.info.name") == "Blend of walk and run"
    for _ in range(3):
        tab.page.locator(".opened button[aria-label^=Close]").last.click()
        tab.page.get_by_role("button", name="Close anyway").click()
    tab.until(f"() => marey.motions.size === {n}")


@pytest.mark.slow("a graph is built twice")
def test_the_demo_of_a_path_leaves_own_work_restorable(tab: Tab) -> None:
    n = tab.get("marey.motions.size")
    about, path = "document.querySelector('.panel .stack p')?.textContent", "document.querySelectorAll('.stretches li')"
    state = f"() => [{about}, {path}.length]"
    tab.page.get_by_role("tab", name="Graph").click()
    tab.page.locator(".panel .blend-list input").first.check()
    tab.page.get_by_role("button", name="Build graph").click()
    tab.page.get_by_role("button", name="Draw path").wait_for()
    box = tab.page.locator("#stage canvas").bounding_box()
    tab.page.get_by_role("button", name="Draw path").click()
    for k in range(2):
        tab.page.mouse.move(box["x"] + 150 + 60 * k, box["y"] + 300)
        tab.page.mouse.down()
        tab.page.mouse.move(box["x"] + 250 + 60 * k, box["y"] + 300, steps=8)
        tab.page.mouse.up()
    own = tab.page.evaluate(state)
    assert own[1] == 2
    tab.page.get_by_role("button", name="Draw path").click()

    tab.page.get_by_role("button", name="File", exact=True).click()
    tab.page.get_by_role("menuitem", name="Start page").click()
    tab.page.get_by_role("button", name="Draw a path").click()
    tab.until(f"() => marey.motions.size === {n} + 4 && marey.selected.info.name === 'path'")
    shown = tab.page.evaluate(state)
    assert shown[0].startswith("3 clips")
    assert shown[1] == 1, "the path of the demo alone"
    titles = tab.get("marey.history.changes.map(({ title }) => title)")
    tab.page.evaluate("(at) => marey.history.goTo(at)", titles.index("Build graph", titles.index("Build graph") + 1))
    tab.until(f"() => JSON.stringify(({state})()) === JSON.stringify({own})")
    checked = "[...document.querySelectorAll('.panel .blend-list input')].filter((each) => each.checked).length"
    boxes = tab.get(checked)
    assert boxes

    # A reload keeps the clips that are checked, and how clips are arranged.
    tab.page.get_by_role("button", name="Solo", exact=True).click()
    tab.page.reload()
    tab.until("() => !!window.marey?.selected?.character.pose")
    tab.until(f"() => {checked} === {boxes}")
    assert tab.page.get_by_role("button", name="Solo", exact=True).get_attribute("aria-pressed") == "true"
    tab.page.get_by_role("button", name="As recorded", exact=True).click()
    while tab.get("marey.motions.size") > n:
        tab.get("marey.forget([...marey.motions.keys()].at(-1))")


def test_a_project_is_saved_and_reopened(tab: Tab, tmp_path: Path) -> None:
    folder = str(tmp_path)
    tab.page.evaluate("async (path) => void (await marey.ask('folder_open', { path }))", folder)
    tab.get("marey.playback.playing && marey.playback.toggle()")
    while tab.get("marey.motions.size"):
        tab.get("marey.forget([...marey.motions.keys()][0])")
    tab.page.evaluate(
        "async () => marey.present(await marey.ask('open_sample', { sample: 'run', options: { seconds: 1 } }))"
    )
    tab.get("(marey.playback.playing && marey.playback.toggle(), marey.playback.seek(7))")
    tab.page.get_by_role("tab", name="Edit").click()
    tab.page.get_by_role("button", name="File", exact=True).click()
    tab.page.get_by_role("menuitem", name="Save project").click()
    tab.page.get_by_role("dialog").get_by_role("button", name="Save").click()
    tab.until("() => !document.querySelector('dialog[open]')")
    assert {"project.marey-project.json", "run.glb"} <= set(os.listdir(tmp_path))
    # The next time, it asks only if clips would be saved to new files.
    tab.page.evaluate(
        "async () => marey.add(await marey.ask('open_sample', { sample: 'walk', options: { seconds: 1 } }))"
    )
    tab.page.get_by_role("button", name="File", exact=True).click()
    tab.page.get_by_role("menuitem", name="Save project").click()
    dialog = tab.page.get_by_role("dialog")
    assert dialog.locator("li").all_inner_texts() == ["walk"]
    assert dialog.get_by_label("Name").input_value() == "project"
    dialog.get_by_role("button", name="Cancel").click()
    tab.get("marey.forget(marey.selected.info.motion)")
    tab.until("() => marey.motions.size === 1")
    tab.get("marey.forget(marey.selected.info.motion)")
    tab.until("() => document.querySelector('#transport').textContent.includes('/ 0')")
    tab.page.get_by_role("button", name="File", exact=True).click()
    tab.page.get_by_role("menuitem", name="Open project").click()
    tab.page.get_by_role("dialog").get_by_role("button", name="project", exact=True).click()
    tab.until("() => window.marey?.selected?.info.name === 'run' && marey.playback.frame === 7")
    assert tab.page.get_by_role("tab", name="Edit").get_attribute("aria-selected") == "true"
