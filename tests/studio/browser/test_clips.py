"""The list of clips and the folder in a real browser: files that cannot be read, saving, closing, and recording."""

from __future__ import annotations

from pathlib import Path

import pytest

import marey
from marey.samples.samples import sample
from tests.studio.browser.conftest import Tab

NAMES = "[...marey.motions.values()].map(({ info }) => info.name)"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A walk and three files without motion."""
    at = tmp_path_factory.mktemp("clips")
    marey.save(sample("walk", fps=30.0, seconds=2.0).motion, at / "a walk.bvh")
    for name in ("x1", "x2", "x3"):
        (at / f"{name}.bvh").write_text("", encoding="utf-8")
    return at


def menu(tab: Tab, item: str) -> None:
    tab.page.get_by_role("button", name="File", exact=True).click()
    tab.page.get_by_role("menuitem", name=item, exact=True).click()


def add_run(tab: Tab) -> None:
    tab.page.evaluate("async () => marey.present(await marey.ask('open_sample', { sample: 'run', options: {} }))")


def test_files_that_cannot_be_read_say_why(tab: Tab) -> None:
    rows = tab.page.locator(".files li", has_text="the file is empty")
    rows.nth(2).wait_for()
    assert rows.locator(".mark.severe").all_inner_texts() == ["!"] * 3
    assert rows.first.locator(".mark").get_attribute("title") == "the file is empty"
    for name in ("x1", "x2", "x3"):
        tab.page.locator(".files button.item", has_text=name).click()
    notice = tab.page.locator(".notice.error")
    tab.page.locator(".notice.error li", has_text="x3.bvh").wait_for()
    assert notice.count() == 1
    assert notice.locator("li").all_inner_texts() == [f"x{k}.bvh: the file is empty" for k in (1, 2, 3)]
    notice.get_by_role("button", name="Close").click()


def test_a_saved_result_is_saved_again_to_its_own_file(tab: Tab, folder: Path) -> None:
    source = (folder / "a walk.bvh").read_bytes()
    for message in ("Saved to the new file a_walk.bvh", "Saved a_walk.bvh"):
        tab.page.evaluate(
            """async () => {
              const { motion } = marey.selected.info;
              const fields = { operation: "mirror", motion, settings: {} };
              for (const info of (await marey.ask("operate", fields)).motions) marey.update(info);
            }"""
        )
        tab.page.keyboard.press("Control+s")
        tab.page.locator(".notice", has_text=message).wait_for()
    assert sorted(path.name for path in folder.glob("a*.bvh")) == ["a walk.bvh", "a_walk.bvh"]
    assert (folder / "a walk.bvh").read_bytes() == source


def test_a_recorded_view_shows_bodies_alone(tab: Tab) -> None:
    tab.get(
        """(() => {
          window.recorded = [];
          const snapshot = marey.stage.snapshot.bind(marey.stage);
          marey.stage.snapshot = (...size) => (window.recorded.push({ ...marey.shown }), snapshot(...size));
        })()"""
    )
    for extra in (None, "Contacts"):
        tab.page.get_by_role("button", name="Share", exact=True).click()
        if extra:
            tab.page.locator(".share").get_by_label(extra).check()
        tab.page.locator(".share").get_by_role("button", name="Picture").click()
        tab.until(f"() => window.recorded.length === {1 + bool(extra)} && marey.shown.trail")
    seen = [{name: each[name] for name in ("trail", "contacts", "before")} for each in tab.get("window.recorded")]
    assert seen[0] == {"trail": False, "contacts": False, "before": False}
    assert seen[1] == {"trail": False, "contacts": True, "before": False}
    assert tab.get("marey.shown.contacts && marey.shown.before"), "the view is as it was"
    tab.get("delete marey.stage.snapshot")


def test_alone_means_alone_in_the_list_too(tab: Tab) -> None:
    add_run(tab)
    tab.page.get_by_role("button", name="Solo", exact=True).click()
    add_run(tab)
    tab.until("() => marey.motions.size === 3")
    shown = tab.page.locator(".opened .dot[aria-pressed=true]")
    assert shown.count() == 1
    assert shown.get_attribute("aria-label") == f"Show {tab.get('marey.selected.info.name')}"


def test_all_clips_are_closed_after_one_question(tab: Tab) -> None:
    names = tab.get(NAMES)
    menu(tab, "Close all clips")
    question = tab.page.locator(".question")
    assert question.locator("span").inner_text().lower() == f"{names[1]} and {names[2]} are not saved.".lower()
    question.get_by_role("button", name="Close anyway").click()
    tab.until("() => marey.motions.size === 0")
    tab.page.locator(".question", has_text="Closed 3 clips").get_by_role("button", name="Undo").click()
    tab.until(f"() => JSON.stringify({NAMES}) === JSON.stringify({names})")
    # A single new clip follows the same rule.
    tab.page.get_by_role("button", name=f"Close {names[2]}", exact=True).last.click()
    tab.page.get_by_role("button", name="Close anyway").click()
    tab.until("() => marey.motions.size === 2")


def test_bars_of_contacts_say_what_they_show(tab: Tab) -> None:
    start, stop = tab.get("marey.selected.info.contacts[0].intervals[0]")
    place = tab.get(
        f"(() => {{ const box = document.querySelector('#timeline canvas').getBoundingClientRect();"
        f"return [box.left + marey.scale.x({(start + stop) / 2}), box.top]; }})()"
    )
    tab.page.mouse.move(place[0], place[1] + 33)
    tab.until(r"() => /in contact, slides \d+ mm \(bar\)/.test(document.querySelector('#timeline canvas').title)")
