"""Screenshots of the studio: it runs on generated clips, and its page is driven in Chromium.

A new picture is a function that takes the `Room` and leaves the page as it should be seen, and a line in PICTURES.
"""

from __future__ import annotations

import math
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import marey
from marey.pmg.walker import walker
from marey.samples import sample

FLAGS = [
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SIZE = {"width": 1280, "height": 720}
TABLET = {"width": 1024, "height": 768}
PATIENCE = 120.0
# Without a graphics card the page leaves out smooth edges and shadows; a picture has the time for both.
FINE = """() => {
  const { stage } = marey;
  stage.ratio = 2;
  stage.renderer.shadowMap.enabled = true;
  stage.sun.castShadow = true;
  stage.sun.shadow.mapSize.set(2048, 2048);
  stage.applyTheme();
  stage.scene.traverse((each) => { if (each.material) each.material.needsUpdate = true; });
  stage.resize();
}"""

# Driving a character needs a high frame rate.
COARSE = "() => { marey.stage.renderer.shadowMap.enabled = false; marey.stage.ratio = 0.5; marey.stage.resize(); }"


class Room:
    """The page with what is often done to it."""

    def __init__(self, page: Any) -> None:
        self.page = page

    def until(self, expression: str) -> None:
        """Wait until a JavaScript expression is true."""
        end = time.monotonic() + PATIENCE
        while not self.page.evaluate(f"() => !!({expression})"):
            if time.monotonic() > end:
                raise TimeoutError(f"waited in vain for {expression}")
            time.sleep(0.05)

    def open(self, file: str) -> None:
        """Open a file of the folder."""
        self.page.locator(".files button.item", has_text=file).first.click()
        self.until(f"marey.selected?.info.file === {file!r} && marey.selected.character.pose")

    def close_all(self) -> None:
        """Close all motions."""
        while self.page.locator(".opened button[aria-label^=Close]").count():
            self.page.locator(".opened button[aria-label^=Close]").first.click()
        self.until("marey.motions.size === 0")

    def panel(self, title: str) -> None:
        """Open a panel's tab."""
        self.page.get_by_role("tab", name=title, exact=True).click()

    def press(self, name: str) -> None:
        """Press a button."""
        self.page.get_by_role("button", name=name, exact=True).first.click()

    def says(self, text: str) -> None:
        """Wait until the panel shows a text."""
        self.until(f"document.querySelector('.panel').innerText.includes({text!r})")

    def show(self, selector: str, block: str = "start", text: str = "") -> None:
        """Scroll the panel to a part of it, which comes to the start, center or end of what is seen."""
        part = self.page.locator(selector, has_text=text) if text else self.page.locator(selector)
        part.first.evaluate(f"(part) => part.scrollIntoView({{ block: {block!r} }})")

    def pause(self) -> None:
        """Stand still, also where what is still under way would play."""
        still = 0
        while still < 10:
            still = 0 if self.page.evaluate("() => marey.playback.playing") else still + 1
            self.page.evaluate("() => { marey.playback.playing = false; }")
            time.sleep(0.1)

    def alone(self) -> None:
        """Hide all characters except the selected one."""
        self.page.evaluate("() => marey.motions.forEach((one) => { one.character.visible = one === marey.selected; })")

    def seek(self, frame: int) -> None:
        """Go to a frame."""
        self.page.evaluate(f"() => marey.playback.seek({frame})")
        self.settle()

    def look(self, away: tuple[float, float, float], at: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> None:
        """Put the camera `away` from a point next to the center of the selected character, in meters."""
        self.settle()
        self.page.evaluate(
            """([away, at]) => {
              const { stage, selected } = marey;
              const center = selected.character.center();
              stage.controls.target.set(center.x + at[0], center.y + at[1], center.z + at[2]);
              stage.camera.position.copy(stage.controls.target);
              stage.camera.position.x += away[0];
              stage.camera.position.y += away[1];
              stage.camera.position.z += away[2];
              stage.controls.update();
            }""",
            [list(away), list(at)],
        )
        self.settle()

    def settle(self) -> None:
        """Wait for two more pictures of the scene."""
        drawn = self.page.evaluate("() => marey.stage.drawn")
        self.until(f"(marey.stage.invalidate(), marey.stage.drawn > {drawn} + 1)")


def draw_start(room: Room) -> None:
    """The start page, with its demos and samples."""
    room.press("File")
    room.page.get_by_role("menuitem", name="Start page").click()
    room.until("document.querySelectorAll('.start-page option').length > 1")
    # Which folders were open before depends on the computer.
    room.page.evaluate("() => (document.querySelector('.start-page .recent').parentElement.hidden = true)")


def draw_look(room: Room) -> None:
    """A run with its ghosts, contacts and labels."""
    room.open("run.bvh")
    room.page.evaluate("() => marey.show({ ghosts: 3, ghostStep: 0.14 })")
    room.seek(96)
    room.look((3.1, 0.5, 1.6), (0.0, -0.12, 0.0))


def draw_curves(room: Room) -> None:
    """Joint names and curves."""
    room.open("kick.bvh")
    room.page.get_by_text("Joint names").click()
    room.page.get_by_label("Curves").first.select_option("contact_heights")
    room.until("marey.curves.curves.length > 0")
    room.seek(int(0.45 * room.page.evaluate("() => marey.playback.nFrames")))
    room.look((2.0, 0.3, 2.4), (0.0, -0.1, 0.0))


def draw_skin(room: Room) -> None:
    """A GLB's own skin, in the dark."""
    room.open("stroll.glb")
    room.page.get_by_role("combobox", name="Body", exact=True).select_option("skin")
    room.until("marey.selected.character.skin")
    room.page.locator("#theme").click()
    room.seek(40)
    room.look((1.6, 0.4, 2.6), (0.0, -0.1, 0.0))


def draw_edit(room: Room) -> None:
    """The left hand of a walk, raised at the playhead."""
    room.open("slow.bvh")
    room.panel("Edit")
    room.seek(30)
    room.press("Pose")
    room.page.locator(".operations").get_by_role("button", name="Move", exact=True).click()
    room.page.locator(".operation").get_by_role("combobox", name="Move").select_option("left_hand")
    for name, value in (("Up", "0.6"), ("Forward", "0.3")):
        field = room.page.get_by_label(f"{name}, number")
        field.fill(value)
        field.press("Enter")
    room.press("Apply")
    room.until("marey.selected.info.edited && marey.selected.character.pose")
    room.seek(30)
    room.look((1.6, 0.4, 2.6), (0.0, -0.1, 0.0))


def draw_compare(room: Room) -> None:
    """A run beside itself, cleaned."""
    room.open("slipping.bvh")
    room.panel("Compare")
    room.page.get_by_label("Position of B").select_option("beside")
    room.press("Clean up")
    room.until("document.querySelector('.measures tbody tr')")
    room.seek(50)
    room.page.evaluate("() => document.querySelector('.measures').scrollIntoView()")
    room.look((-1.6, 0.6, 3.4), (-0.6, -0.1, 0.0))


def draw_blend(room: Room) -> None:
    """A slow walk and a run blended, with the grid of their distances."""
    for name in ("slow", "trot"):
        room.open(f"{name}.bvh")
    room.panel("Blend")
    for name in ("slow", "trot"):
        room.page.locator(".blend-list label", has_text=name).locator("input").check()
    room.says("matching foot contacts")
    room.press("Blend")
    room.until("marey.selected.info.name.startsWith('Blend') && marey.selected.character.pose")
    room.pause()
    room.show(".grid-view", "end")
    room.seek(40)
    room.look((2.6, 0.4, 1.6), (0.0, -0.1, 0.0))


def draw_graph(room: Room) -> None:
    """A path drawn on the ground, and the way that a graph of three walks took along it."""
    for name in ("slow", "left", "right"):
        room.open(f"{name}.bvh")
    room.panel("Graph")
    room.page.locator(".panel").get_by_role("combobox", name="Clips", exact=True).select_option("open")
    room.press("Build graph")
    room.says("3 clips")
    room.page.get_by_label("Threshold, number", exact=True).fill("0.15")
    room.page.keyboard.press("Enter")
    room.press("Draw path")
    room.page.evaluate("() => { marey.stage.camera.position.y *= 2.5; marey.stage.controls.update(); }")
    room.settle()
    box = room.page.locator("#stage canvas").bounding_box()
    across, down = box["x"] + 0.5 * box["width"], box["y"] + 0.55 * box["height"]
    steps = [(230.0 * (k / 12.0 - 1.0), 55.0 * math.sin(k * math.pi / 12.0)) for k in range(25)]
    room.page.mouse.move(across + steps[0][0], down + steps[0][1])
    room.page.mouse.down()
    for x, y in steps[1:]:
        room.page.mouse.move(across + x, down + y)
    room.page.mouse.up()
    room.page.locator(".panel button", has_text="Follow path").click()
    room.says("Distance from the path")
    room.pause()
    room.show(".stretches", "center")
    room.seek(int(0.5 * room.page.evaluate("() => marey.playback.nFrames")))
    room.look((-1.0, 5.0, 6.2), (0.0, -0.9, 0.9))


def draw_find(room: Room) -> None:
    """A kick, what is like it, and a kick between all of these where the ball was dragged."""
    for name in ("take1", "take0"):
        room.open(f"{name}.bvh")
    room.panel("Find")
    room.page.locator(".panel").locator("select").first.select_option("open")
    kick = room.page.evaluate("() => marey.selected.info.labels.find(({ name }) => name === 'kick')")
    room.page.evaluate(f"() => marey.playback.setRegion([{kick['start']}, {kick['stop']}])")
    room.press("Find similar")
    room.says("matches found")
    room.page.locator(".panel button", has_text="Create target control").click()
    room.says("Misses the target by")
    room.page.locator(".panel input[type=range]").last.press("ArrowRight")
    room.settle()
    room.alone()
    room.show(".panel h3", text="Matches")
    room.seek(int(0.52 * room.page.evaluate("() => marey.playback.nFrames")))
    room.look((2.4, 0.5, 1.6), (0.0, -0.1, 0.2))


def draw_layer(room: Room) -> None:
    """The arms of one who carries a box on one who walks, looking at a ball."""
    for name in ("slow.bvh", "carry.bvh"):
        room.open(name)
    room.panel("Layers & gaze")
    room.page.locator(".opened button.item", has_text="slow").first.click()
    room.page.get_by_label("Upper body of").select_option(label="carry")
    room.press("Combine")
    room.until("marey.motions.size === 3 && marey.selected.character.pose && marey.playback.playing")
    room.pause()
    room.seek(30)
    room.press("Add gaze target")
    room.says("reached at")
    room.seek(60)
    room.look((1.4, 0.3, 2.8), (0.3, -0.1, 0.2))


def draw_author(room: Room) -> None:
    """A character of one node, and what its transitions cost."""
    for name in ("right", "slow", "left"):
        room.open(f"{name}.bvh")
    room.panel("Characters")
    room.press("Add node")
    room.says("gait cycles")
    room.press("Find transitions")
    room.says("source motions can transition")
    room.press("Connect")
    room.until("[...document.querySelectorAll('.panel .item')].some((one) => one.textContent === 'walk → walk')")
    room.press("Preview")
    room.until("marey.selected.info.n_frames === 600 && marey.selected.character.pose")
    room.pause()
    room.alone()
    room.show(".panel button", text="Find transitions")
    room.seek(200)
    room.look((2.4, 0.6, 2.4), (0.0, -0.1, 0.0))


def draw_drive(room: Room) -> None:
    """A character walking to the clicked point, with its reach."""
    room.page.evaluate(COARSE)
    room.open("slow.bvh")
    room.panel("Drive")
    room.until("[...document.querySelectorAll('.panel option')].some((one) => one.value === 'file:walker.json')")
    room.page.get_by_role("combobox", name="Character").select_option("file:walker.json")
    room.press("Start")
    room.page.get_by_role("button", name="Stop").wait_for()
    room.page.keyboard.down("a")
    room.until("document.querySelector('.panel output').textContent.startsWith('turned in')")
    room.page.keyboard.up("a")
    room.until("document.querySelector('.panel table')")
    box = room.page.locator("#stage canvas").bounding_box()
    room.page.mouse.click(box["x"] + 0.78 * box["width"], box["y"] + 0.66 * box["height"])
    time.sleep(0.5)  # it is on its way
    room.page.evaluate(FINE)


PICTURES: dict[str, Callable[[Room], None]] = {
    "studio": draw_look,
    "studio_start": draw_start,
    "studio_curves": draw_curves,
    "studio_skin": draw_skin,
    "studio_edit": draw_edit,
    "studio_compare": draw_compare,
    "studio_blend": draw_blend,
    "studio_graph": draw_graph,
    "studio_find": draw_find,
    "studio_layer": draw_layer,
    "studio_author": draw_author,
    "studio_drive": draw_drive,
}


def write_clips(folder: Path) -> None:
    """What the page opens: generated clips, one of them with feet that slip."""
    import numpy as np

    for name in ("walk", "run", "kick"):
        marey.save(sample(name).motion, folder / f"{name}.bvh")
    moves: dict[str, tuple[str, dict[str, Any]]] = {
        "slow": ("walk", {"speed": 1.0}),
        "left": ("walk", {"turn_rate": 0.8}),
        "right": ("walk", {"turn_rate": -0.8}),
        "trot": ("run", {}),
        "carry": ("carry_box", {}),
    }
    for name, (kind, options) in moves.items():
        marey.save(sample(kind, fps=30.0, seconds=6.0, **options).motion, folder / f"{name}.bvh")
    for name, seed in (("take0", 1), ("take1", 4)):
        take = sample("medley", rng=seed, fps=30.0, kicks=3, punches=1, reaches=1).motion
        marey.save(take, folder / f"{name}.bvh")
    walker(n_turns=5, speeds=(1.1,), fps=30.0, n_source=20, n_target=60).save(folder / "walker.json")
    walk = sample("walk", seconds=3.0).motion
    marey.save(walk, folder / "stroll.glb")
    drift = np.zeros_like(walk.root_positions)
    drift[:, 0] = 0.04 * np.sin(np.arange(len(walk)) / 9.0)
    marey.save(
        marey.Motion(walk.skeleton, walk.root_positions + drift, walk.rotations, walk.fps, "slipping"),
        folder / "slipping.bvh",
    )


@contextmanager
def studio(folder: Path) -> Iterator[str]:
    """The address of a studio of its own."""
    command = [sys.executable, "-m", "marey", "studio", str(folder), "--no-browser", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        line = "" if server.stdout is None else server.stdout.readline()
        found = re.search(r"http://\S+", line)
        try:
            if found is None:
                raise RuntimeError("the studio did not start")
            yield found.group(0)
        finally:
            server.terminate()


def draw_browser(out: Path) -> None:
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as made, sync_playwright() as playwright:
        takes = Path(made) / "takes"
        takes.mkdir()
        write_clips(takes)
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
        with studio(takes) as address:
            for name, arrange in PICTURES.items():
                page = browser.new_context(viewport=SIZE, color_scheme="light").new_page()
                page.goto(address)
                room = Room(page)
                room.until("window.marey?.selected?.character.pose")
                page.evaluate(FINE)
                room.close_all()
                arrange(room)
                page.mouse.move(600, 20)  # where it marks nothing
                page.evaluate("() => document.getElementById('notices').replaceChildren()")
                room.settle()
                page.screenshot(path=out / f"{name}.png")
                page.context.close()
        browser.close()
