"""Photograph the studio: python docs/make_studio_images.py [OUTDIR] [NAME...]

Starts `marey studio` on generated clips, drives its page in Chromium by playwright, and writes one picture for each
entry of PICTURES. A new one: a function that takes the `Room` and leaves the page as it is to be seen, and a line
in PICTURES. Needs `chromium` and the dev extra.
"""

from __future__ import annotations

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
        self.until(f"marey.selected?.info.file === {file!r} && marey.selected.figure.pose")

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

    def seek(self, frame: int) -> None:
        """Go to a frame."""
        self.page.evaluate(f"() => marey.playback.seek({frame})")
        self.settle()

    def look(self, away: tuple[float, float, float], at: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> None:
        """Put the camera `away` from a point beside the selected figure's middle, in metres."""
        self.settle()
        self.page.evaluate(
            """([away, at]) => {
              const { stage, selected } = marey;
              const centre = selected.figure.centre();
              stage.controls.target.set(centre.x + at[0], centre.y + at[1], centre.z + at[2]);
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
    room.page.get_by_label("Body").select_option("skin")
    room.until("marey.selected.figure.skin")
    room.page.locator("#theme").click()
    room.seek(40)
    room.look((1.6, 0.4, 2.6), (0.0, -0.1, 0.0))


def draw_compare(room: Room) -> None:
    """A run beside itself, cleaned."""
    room.open("slipping.bvh")
    room.panel("Compare")
    room.page.get_by_label("Place B").select_option("beside")
    room.press("Clean")
    room.until("document.querySelector('.measures tbody tr')")
    room.seek(50)
    room.page.evaluate("() => document.querySelector('.measures').scrollIntoView()")
    room.look((-1.6, 0.6, 3.4), (-0.6, -0.1, 0.0))


PICTURES: dict[str, Callable[[Room], None]] = {
    "studio": draw_look,
    "studio_curves": draw_curves,
    "studio_skin": draw_skin,
    "studio_compare": draw_compare,
}


def write_clips(folder: Path) -> None:
    """What the page opens: generated clips, one of them with feet that slip."""
    import numpy as np

    for name in ("walk", "run", "kick"):
        marey.save(sample(name).motion, folder / f"{name}.bvh")
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


def main(out: Path, names: list[str]) -> None:
    from playwright.sync_api import sync_playwright

    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made, sync_playwright() as playwright:
        takes = Path(made) / "takes"
        takes.mkdir()
        write_clips(takes)
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
        with studio(takes) as address:
            for name in names or PICTURES:
                page = browser.new_context(viewport=SIZE, color_scheme="light").new_page()
                page.goto(address)
                room = Room(page)
                room.until("window.marey?.selected?.figure.pose")
                page.evaluate(FINE)
                room.close_all()
                PICTURES[name](room)
                page.mouse.move(600, 20)  # where it marks nothing
                room.settle()
                page.screenshot(path=out / f"{name}.png")
                page.context.close()
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "images", sys.argv[2:])
