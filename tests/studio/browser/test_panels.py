"""Each panel in a real browser: it opens, and its first button gives a result. Other files test panels in detail."""

from __future__ import annotations

from pathlib import Path

import pytest

import marey
from marey.samples.samples import sample
from tests.studio.browser.conftest import Tab


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two short walks."""
    at = tmp_path_factory.mktemp("walks")
    for name, speed in (("fast", 1.5), ("slow", 1.1)):
        marey.save(sample("walk", fps=30.0, seconds=3.0, speed=speed).motion, at / f"{name}.bvh")
    return at


def open_panel(tab: Tab, title: str) -> None:
    """Open both walks, if they are not open, and the panel, whatever the page shows."""
    if tab.get("[...marey.motions.values()].filter(({ info }) => /^(fast|slow)$/.test(info.name)).length") < 2:
        for name in ("fast.bvh", "slow.bvh"):
            tab.open(name)
    tab.get("marey.playback.playing && marey.playback.toggle()")  # drawing takes time from what is waited for
    tab.page.get_by_role("tab", name=title).click()
    tab.until("() => document.querySelectorAll('.panel button, .panel select').length > 0")


def says(tab: Tab, text: str) -> None:
    tab.until(f"() => document.querySelector('.panel').textContent.includes({text!r})")


def shows(tab: Tab, name: str) -> None:
    tab.until(f"() => marey.selected.info.name === {name!r} && !!marey.selected.character.pose")


def select(tab: Tab, name: str) -> None:
    tab.page.evaluate(
        f"() => marey.select([...marey.motions.values()].find(({{ info }}) => info.name === {name!r}).info.motion)"
    )


def press(tab: Tab, label: str) -> None:
    tab.page.locator(".panel").get_by_role("button", name=label, exact=True).first.click()


def test_two_clips_are_blended(tab: Tab) -> None:
    open_panel(tab, "Blend")
    for _ in range(2):  # of two clips, both are chosen: "fast" leaves, and returns as the second
        tab.page.locator(".blend-list").get_by_text("fast", exact=True).click()
    says(tab, "matching foot contacts")
    bottom = "document.querySelector('{}').getBoundingClientRect().bottom"
    tab.page.evaluate("() => { document.querySelector('.tab-body').scrollTop = 0; }")
    # The main button is in view, although its section is longer than the panel.
    assert tab.get(bottom.format(".panel button.primary")) <= tab.get(bottom.format(".tab-body"))
    press(tab, "Blend")
    shows(tab, "Blend of slow and fast")
    weight = tab.page.get_by_role("slider", name="A  slow")
    weight.press("ArrowRight")
    tab.until("() => marey.selected.info.undo === 1")
    tab.page.keyboard.press("Control+z")
    tab.until("() => !marey.selected.info.undo && marey.history.at === marey.history.changes.length - 1")
    assert weight.input_value() == "0.5"  # the panel returns to the clip
    tab.page.get_by_role("button", name="History").click()
    tab.page.locator(".history-list button").last.click()
    tab.until("() => marey.selected.info.undo === 1")
    assert weight.input_value() == "0.51"
    assert tab.page.get_by_role("slider", name="B  fast").input_value() == "0.49"
    tab.page.keyboard.press("Escape")
    tab.page.keyboard.press("Control+z")
    tab.until("() => !marey.selected.info.undo")


def test_an_edit_is_applied_and_undone(tab: Tab) -> None:
    open_panel(tab, "Edit")
    select(tab, "slow")
    shows(tab, "slow")
    tab.page.evaluate("() => marey.playback.setRegion([10, 40])")
    says(tab, "Range: frames 10 to 39")
    press(tab, "Apply")
    tab.until("() => marey.selected.info.n_frames === 30")
    metrics = tab.page.locator(".operation .grades")
    metrics.wait_for(state="visible")
    select(tab, "fast")
    assert not metrics.is_visible()  # they are those of another clip
    select(tab, "slow")
    assert metrics.is_visible()
    tab.page.get_by_role("button", name="Undo", exact=True).click()
    tab.until("() => marey.selected.info.n_frames > 80")
    assert not metrics.is_visible()
    # A split makes two clips in one step.
    n = tab.get("marey.motions.size")
    press(tab, "Split")
    press(tab, "Apply")
    tab.until(f"() => marey.motions.size === {n} + 2")
    tab.page.keyboard.press("Control+z")
    tab.until(f"() => marey.motions.size === {n}")
    press(tab, "Trim")


def test_a_path_is_dragged(tab: Tab) -> None:
    open_panel(tab, "Edit")
    select(tab, "slow")
    shows(tab, "slow")
    before = tab.get("marey.selected.info.undo")
    press(tab, "Pose")
    tab.page.locator(".operations").get_by_role("button", name="Path", exact=True).click()
    tab.page.keyboard.press("7")
    tab.page.keyboard.press("t")
    spheres = "marey.stage.scene.children.filter((each) => each.geometry?.parameters?.radius === 0.08)"
    tab.until(f"() => {spheres}.length >= 3")
    x, y = tab.get(
        f"(() => {{ const at = marey.stage.project({spheres}[1].position); "
        "const box = marey.stage.canvas.getBoundingClientRect(); return [at.x + box.left, at.y + box.top]; })()"
    )
    tab.page.mouse.move(x, y)
    tab.page.mouse.down()
    tab.page.mouse.move(x + 30, y, steps=3)
    tab.page.mouse.up()
    tab.until(f"() => marey.selected.info.undo === {before + 1}")
    press(tab, "Drag in the scene")
    tab.until(f"() => {spheres}.length === 0")
    tab.until("() => document.querySelector('.by-hand').getAttribute('aria-busy') === 'false'")
    tab.page.keyboard.press("Control+z")
    tab.until(f"() => marey.selected.info.undo === {before}")


# The place of a role's joint, and its distance from the camera.
JOINT = "marey.selected.character.jointPosition(marey.selected.info.roles.{})"
AWAY = f"{JOINT}.distanceTo(marey.stage.camera.position)"


def test_handles_in_the_scene_belong_to_the_form(tab: Tab) -> None:
    open_panel(tab, "Edit")
    select(tab, "slow")
    shows(tab, "slow")
    press(tab, "Pose")
    tab.page.locator(".operations").get_by_role("button", name="Move", exact=True).click()
    handle = "marey.stage.scene.children.find((each) => each.isTransformControlsRoot)"
    on_hand = (
        "(({ info, character }) => character.jointPosition(info.roles.left_hand).distanceTo("
        f"{handle}.controls.object.position))(marey.selected)"
    )
    tab.until(f"() => {handle} && {on_hand} > 0.1")  # the hips come first
    tab.page.get_by_role("combobox", name="Move").select_option("left_hand")
    tab.until(f"() => {on_hand} < 1e-3")
    tab.page.evaluate("() => (marey.picker.joint = marey.selected.info.roles.right_foot, marey.picker.changed.emit())")
    assert tab.page.get_by_role("combobox", name="Move").input_value() == "right_foot"
    tab.page.evaluate("() => (marey.picker.joint = -1, marey.picker.changed.emit())")
    # The front-most limb at the pointer is marked before the click takes it.
    tab.page.get_by_role("button", name="Side", exact=True).click()
    far = max(("left", "right"), key=lambda side: tab.get(AWAY.format(f"{side}_upper_leg")))
    # The camera may still move, so the pointer is put there again and again.
    tab.until(
        f"""() => {{
          const at = marey.stage.project({JOINT.format(f"{far}_upper_leg")});
          const {{ left, top }} = marey.stage.canvas.getBoundingClientRect();
          window.pointer = {{ clientX: at.x + left, clientY: at.y + top }};
          marey.stage.canvas.dispatchEvent(new PointerEvent("pointermove", window.pointer));
          return !!marey.picker.ring.parent;
        }}"""
    )
    found = tab.get("marey.picker.find(window.pointer).joint")
    away = tab.get(f"marey.selected.character.jointPosition({found}).distanceTo(marey.stage.camera.position)")
    assert away < tab.get(AWAY.format(f"{far}_upper_leg"))
    # The bar stays under the pointer when another group is chosen.
    bar = "document.querySelector('.operations .segments').getBoundingClientRect().top"
    tab.get("document.querySelector('.tab-body').scrollTop = 1000")
    top = tab.get(bar)
    for group in ("Files", "Repair", "Pose"):
        press(tab, group)
        assert tab.get(bar) == top
    press(tab, "Time")
    assert tab.get(f"{handle} === undefined")


def test_an_edited_clip_is_saved_and_closed_with_a_question(tab: Tab, folder: Path) -> None:
    open_panel(tab, "Edit")
    select(tab, "slow")
    press(tab, "Pose")
    press(tab, "Mirror")
    press(tab, "Apply")
    tab.until("() => marey.selected.info.edited")
    state = tab.page.locator(".opened [aria-current=true] .size")
    assert state.inner_text() == "edited"
    tab.page.evaluate("() => marey.changing.add(marey.selected.info.motion)")
    tab.page.keyboard.press("Control+s")  # while an operation runs
    tab.until("() => /is still being changed/.test(document.querySelector('#notices').textContent)")
    assert not (folder / "slow_2.bvh").exists()
    tab.page.evaluate("() => marey.changing.clear()")
    tab.page.get_by_role("button", name="Close slow", exact=True).click()
    assert tab.page.get_by_role("button", name="Close anyway").is_visible()
    tab.page.keyboard.press("Control+s")
    tab.until("() => marey.selected.info.file === 'slow_2.bvh' && !marey.selected.info.edited")
    tab.until("() => !document.querySelector('.question')")  # it is answered
    assert (folder / "slow_2.bvh").is_file()
    press(tab, "Apply")
    tab.until("() => marey.selected.info.edited")
    before = tab.get("marey.motions.size")
    for _ in range(2):  # the question is asked once
        tab.page.get_by_role("button", name="Close slow", exact=True).click()
    assert tab.get("marey.motions.size") == before
    tab.page.get_by_role("button", name="Close anyway").click()
    tab.until(f"() => marey.motions.size === {before - 1}")
    assert not tab.page.get_by_role("button", name="Close anyway").count()
    tab.page.locator(".notice").get_by_role("button", name="Undo").click()
    tab.until(f"() => marey.motions.size === {before} && marey.selected.info.undo > 0")
    for _ in range(2):
        tab.page.keyboard.press("Control+z")
    for path in folder.glob("slow_2.*"):
        path.unlink()


def test_an_error_stands_at_its_control(tab: Tab) -> None:
    open_panel(tab, "Edit")
    press(tab, "Time")
    press(tab, "Resample")
    tab.page.get_by_label("Frame rate (Hz)").fill("0")
    press(tab, "Apply")
    tab.until("() => !!document.querySelector('.wrong + .missed')")
    says(tab, "“Frame rate” must be greater than 0")


def test_a_table_leads_to_files(tab: Tab) -> None:
    open_panel(tab, "Edit")
    press(tab, "Files")
    press(tab, "Search")
    tab.page.locator(".panel .operation").get_by_role("button", name="Search", exact=True).click()
    says(tab, "2 of 2 clips.")
    assert tab.page.locator(".result-table tbody tr").count() == 2


def test_a_graph_gives_a_random_walk(tab: Tab) -> None:
    open_panel(tab, "Graph")
    tab.page.locator(".panel").get_by_role("combobox", name="Clips", exact=True).select_option("folder")
    press(tab, "Build graph")
    says(tab, "2 clips")
    tab.page.get_by_label("Duration (s)", exact=True).fill("2")
    tab.page.keyboard.press("Enter")
    press(tab, "Random walk")
    shows(tab, "random walk 0")
    assert tab.get("marey.selected.info.n_frames") == 60


def test_clips_that_are_opened_later_leave_a_chosen_set_alone(tab: Tab) -> None:
    open_panel(tab, "Graph")
    ids = tab.get("[...marey.motions.values()].filter(({ info }) => info.file).map(({ info }) => info.motion)")
    tab.page.evaluate("(clip) => marey.clipsSent.emit({ panel: 'graph', clips: [clip] })", ids[0])
    boxes = "document.querySelectorAll('.panel .blend-list li:has(input:checked)')"
    checked = f"[...{boxes}].map((row) => row.dataset.motion)"
    assert tab.get(checked) == ids[:1]
    tab.page.evaluate("(clip) => marey.select(clip)", ids[1])
    tab.page.evaluate("() => marey.motionsChanged.emit()")
    assert tab.get(checked) == ids[:1]


def test_what_is_like_an_example_is_found(tab: Tab) -> None:
    open_panel(tab, "Find")
    select(tab, "slow")
    tab.page.evaluate("() => marey.playback.setRegion([10, 40])")
    press(tab, "Find similar")  # indexes the clips, suggests a threshold, and searches
    tab.until("() => / match(es)? found/.test(document.querySelector('.panel').textContent)")
    says(tab, "2 clips, ")
    assert float(tab.page.get_by_label("Threshold (m)", exact=True).input_value()) > 0.0
    assert tab.page.locator(".panel button", has_text="Search").is_enabled()


def test_an_upper_body_is_put_on(tab: Tab) -> None:
    open_panel(tab, "Layers & gaze")
    select(tab, "fast")
    tab.page.get_by_label("Base clip").select_option(label="slow")
    shows(tab, "slow")
    tab.page.get_by_label("Upper body of").select_option(label="fast")
    press(tab, "Combine")
    shows(tab, "slow with upper body of fast")


def test_a_node_of_a_character_is_built(tab: Tab) -> None:
    open_panel(tab, "Characters")
    tab.until("() => !!document.querySelector('.panel h3')")
    for name in tab.get("[...marey.motions.values()].map(({ info }) => info.name)"):
        if name not in ("fast", "slow"):
            tab.page.locator(".panel").get_by_label(name, exact=True).uncheck()
    press(tab, "Add node")
    tab.until("() => /built from \\d+ gait cycles/.test(document.querySelector('.panel').textContent)")


def test_drive_offers_characters_and_controllers(tab: Tab) -> None:
    open_panel(tab, "Drive")
    assert tab.page.get_by_role("combobox", name="Character").locator("option").count() > 0
    assert tab.page.get_by_label("Controller").locator("option").count() > 1
    assert tab.page.locator(".panel").get_by_role("button", name="Start").is_visible()
