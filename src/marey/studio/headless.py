"""A page in a headless browser, driven over the DevTools protocol of Chromium."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from marey.errors import MareyError

# Commands of browsers that support this protocol, and paths of installed browsers without a command.
_COMMANDS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge", "brave")
_PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
)
_FLAGS = (
    # Render WebGL in software, so that pictures are the same with every graphics card.
    *("--headless=new", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"),
    *("--disable-gpu-compositing", "--disable-gpu-rasterization", "--force-color-profile=srgb", "--hide-scrollbars"),
    *("--no-first-run", "--disable-quic", "--disable-background-networking", "--disable-component-update"),
    *("--disable-sync", "--disable-extensions", "--remote-debugging-port=0"),
)
# Seconds to wait for the browser to start, and for an answer.
_START, _ANSWER = 60.0, 120.0


class BrowserFailed(MareyError):
    """The browser did not start, does not answer, or the page in it failed."""


def find_browser() -> str | None:
    """Return the path of an installed browser that can be controlled; None if there is none.

    The environment variable MAREY_BROWSER overrides the search; if it is empty, no browser is used.
    """
    named = os.environ.get("MAREY_BROWSER")
    if named is not None:
        return shutil.which(named) if named else None
    found = (shutil.which(command) for command in _COMMANDS)
    return next((path for path in (*found, *filter(os.path.isfile, _PLACES)) if path), None)


class HeadlessPage:
    """A page that runs in a browser without a window. Use `open_page`."""

    def __init__(self, socket: Any, session: str) -> None:
        self._socket, self._session = socket, session
        self._numbers = itertools.count(1)

    def evaluate(self, expression: str) -> Any:
        """Evaluate a JavaScript expression, wait for its promise, and return its value as plain data."""
        parameters = {"expression": expression, "awaitPromise": True, "returnByValue": True}
        answer = self.call("Runtime.evaluate", parameters)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise BrowserFailed(f"the page failed: {details.get('exception', {}).get('description', details['text'])}")
        return answer["result"].get("value")

    def wait_for(self, expression: str) -> None:
        """Wait until a JavaScript expression is true."""
        end = time.monotonic() + _START
        while time.monotonic() < end:
            with contextlib.suppress(BrowserFailed):  # the page is just being loaded
                if self.evaluate(f"!!({expression})"):
                    return
            time.sleep(0.02)
        raise BrowserFailed(f"the page was not ready within {_START:g} s")

    def call(self, method: str, parameters: dict[str, Any]) -> dict[str, Any]:
        """Call a method of the protocol and return its result."""
        number = next(self._numbers)
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        try:
            self._socket.send(json.dumps(message))
            while True:
                answer = json.loads(self._socket.recv(timeout=_ANSWER))
                if answer.get("id") == number:
                    break
        except (OSError, TimeoutError, EOFError, _connection_closed()) as error:
            raise BrowserFailed(f"the browser does not answer ({error or type(error).__name__})") from None
        if "error" in answer:
            raise BrowserFailed(f"the browser refused {method}: {answer['error'].get('message', '')}")
        result: dict[str, Any] = answer["result"]
        return result


@contextlib.contextmanager
def open_page(browser: str, page: Path, hash: str = "") -> Iterator[HeadlessPage]:
    """Context manager: open an HTML file in a new browser process, which is killed at the end.

    Parameters
    ----------
    browser : command of the browser; see `find_browser`.
    page : the file.
    hash : what follows "#" in its address.
    """
    from websockets.sync.client import connect

    with tempfile.TemporaryDirectory(prefix="marey-", ignore_cleanup_errors=True) as profile:
        flags = [*_FLAGS, f"--user-data-dir={profile}"]
        if sys.platform == "linux" and os.geteuid() == 0:
            flags.append("--no-sandbox")  # Chromium refuses to run as root with a sandbox
        process = subprocess.Popen(
            [browser, *flags, "about:blank"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            port, path = _wait_for_port(process, Path(profile) / "DevToolsActivePort")
            with connect(f"ws://127.0.0.1:{port}{path}", max_size=None, proxy=None) as socket:
                root = HeadlessPage(socket, "")
                address = page.resolve().as_uri() + (f"#{hash}" if hash else "")
                target = root.call("Target.createTarget", {"url": address})["targetId"]
                session = root.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
                yield HeadlessPage(socket, session)
        finally:
            process.kill()
            process.wait()


def _wait_for_port(process: subprocess.Popen[bytes], file: Path) -> tuple[int, str]:
    """Wait until the browser has written the port and the path at which it listens."""
    end = time.monotonic() + _START
    while time.monotonic() < end and process.poll() is None:
        with contextlib.suppress(OSError, ValueError):
            port, path = file.read_text().split("\n")[:2]
            if path:
                return int(port), path
        time.sleep(0.05)
    raise BrowserFailed("the browser did not start")


def _connection_closed() -> type[Exception]:
    from websockets.exceptions import ConnectionClosed

    return ConnectionClosed
