"""A real browser and a real server, shared by all tests of the page."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import marey
from marey.samples.samples import sample

FLAGS = [
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    # Without a graphics card, WebGL alone uses its emulation: the rest of the page is drawn faster without it.
    "--disable-gpu-compositing",
    "--disable-gpu-rasterization",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PAGE = Path(marey.__file__).parent / "studio" / "page"
# Drawing takes most of the processor's time: a dozen frames a second are enough for tests.
FEWER_PICTURES = """(() => {
  const draw = window.requestAnimationFrame.bind(window);
  window.requestAnimationFrame = (callback) => setTimeout(() => draw(callback), 60);
  window.cancelAnimationFrame = clearTimeout;
})()"""
HOSTILE = "<img src=x onerror='window.hacked=1'>"
PATIENCE = 120.0  # seconds: a slow machine that also runs other tests takes long


@dataclass
class Tab:
    """A page of the browser, with the errors that it reported."""

    page: Any
    complaints: list[str] = field(default_factory=list)

    def until(self, expression: str) -> None:
        """Wait until a JavaScript function returns a true value: the page's policy forbids playwright's own way."""
        end = time.monotonic() + PATIENCE
        pause = 0.02
        while not self._is_true(expression):
            if time.monotonic() > end:
                pytest.fail(f"waited {PATIENCE:g} s in vain for {expression}; complaints: {self.complaints}")
            time.sleep(pause)
            pause = min(1.2 * pause, 0.2)  # polling takes time from what is waited for

    def _is_true(self, expression: str) -> bool:
        from playwright.sync_api import Error

        try:
            return bool(self.page.evaluate(expression))
        except Error as error:  # the page was just loaded again
            if "context was destroyed" not in str(error):
                raise
            return False

    def get(self, expression: str) -> Any:
        """The value of a JavaScript expression."""
        return self.page.evaluate(f"() => {expression}")

    def open(self, file: str) -> None:
        """Open a file of the folder and wait for its character."""
        self.page.locator(".files button.item", has_text=file).first.click()
        name = file.removesuffix(".bvh")
        self.until(f"() => marey.selected?.info.name === {name!r} && !!marey.selected.character.pose")


# Per package, not per session: while playwright runs, no other test of this process can use asyncio.
@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("no chromium; on Debian: apt-get install chromium")
    if not (PAGE / "index.html").is_file():
        pytest.skip("the studio's page is not built; run `make page`")
    api = pytest.importorskip("playwright.sync_api", reason="no playwright; install marey[dev]")
    with api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield started
        started.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two clips with contacts and labels, a long one, and one whose every name is an attack."""
    at = tmp_path_factory.mktemp("takes")
    walk = sample("walk", fps=30.0, seconds=4.0).motion
    marey.save(walk, at / "walk.bvh")
    marey.save(sample("kick", fps=30.0).motion, at / "kick.bvh")
    marey.save(walk, at / "odd.bvh")
    text = (at / "odd.bvh").read_text(encoding="utf-8").replace("Head\n", "<b>Head</b>\n")
    (at / "odd.bvh").write_text(text, encoding="utf-8")
    sidecar = at / "odd.marey.json"
    notes = json.loads(sidecar.read_text(encoding="utf-8").replace('"walk"', f'"{HOSTILE}"'))
    notes["sha256"] = {"odd.bvh": hashlib.sha256((at / "odd.bvh").read_bytes()).hexdigest()}
    sidecar.write_text(json.dumps(notes), encoding="utf-8")
    for path in (at / "odd.bvh", sidecar):
        path.rename(at / path.name.replace("odd", HOSTILE))
    return at


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    """The address, with its token, of a separate server."""
    command = [sys.executable, "-m", "marey", "studio", str(folder), "--no-browser", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        assert server.stdout is not None
        found = re.search(r"http://\S+", server.stdout.readline())
        assert found, "the server did not say where it is"
        yield found.group(0)
        server.terminate()
        server.wait(PATIENCE)


def draw_coarsely(tab: Tab) -> None:
    """Fewer pixels in the scene, because the processor draws them; nothing else changes."""
    tab.page.evaluate("() => { marey.stage.ratio = 0.3; marey.stage.resize(); }")


def new_tab(browser: Any, **options: Any) -> Tab:
    """A page in its own profile that records errors."""
    # A small window, because frames are drawn without a graphics card here; one test checks real sizes.
    options.setdefault("viewport", {"width": 960, "height": 600})
    page = browser.new_context(**options).new_page()
    page.set_default_timeout(1000.0 * PATIENCE)
    page.add_init_script(FEWER_PICTURES)
    tab = Tab(page)
    page.on("pageerror", lambda error: tab.complaints.append(str(error)))
    page.on("console", lambda entry: entry.type == "error" and tab.complaints.append(entry.text))
    return tab


@pytest.fixture(scope="module")
def shared(browser: Any, address: str) -> Iterator[Tab]:
    tab = new_tab(browser)
    tab.page.goto(address)
    tab.until("() => !!window.marey?.selected?.character.pose && marey.stage.drawn > 1")
    draw_coarsely(tab)
    yield tab
    for profile in browser.contexts:  # otherwise pages keep drawing during the next module
        profile.close()


@pytest.fixture
def tab(shared: Tab) -> Iterator[Tab]:
    """The page that all tests share; no test may leave an error behind."""
    shared.complaints.clear()
    yield shared
    assert shared.complaints == []
