"""Picture of docs/exporting.md."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

import marey
from marey.pmg import build_recipe, read_recipe

FLAGS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
SECONDS = 3.5


def draw_browser(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        page = Path(scratch) / "boxer.html"
        marey.export_character(build_recipe(read_recipe("boxing")), page)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        tab = browser.new_page(viewport={"width": 1280, "height": 720})
        tab.goto(page.as_uri())
        tab.wait_for_timeout(3000)
        tab.keyboard.down("a")
        tab.wait_for_timeout(1000 * SECONDS)
        tab.screenshot(path=folder / "exporting.png")
        browser.close()
