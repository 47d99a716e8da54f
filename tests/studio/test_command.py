"""`marey studio` as a user starts it, and its benchmark."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from marey.bench import run_benches
from marey.bench import studio as bench
from marey.cli.main import main
from marey.studio.page_files import PAGE
from marey.studio.serve import Address, bind
from tests.studio.client import WAIT

needs_page = pytest.mark.skipif(not (PAGE / "index.html").is_file(), reason="the page is not built; run `make page`")


def test_without_a_page_the_error_names_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("marey.studio.page_files.PAGE", tmp_path)
    assert main(["studio", str(tmp_path), "--no-browser"]) == 2
    report = capsys.readouterr().err
    assert "the studio's page was not built when marey was installed" in report
    assert "make page" in report
    assert report.count("\n") == 1


@needs_page
def test_what_cannot_be_served_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["studio", str(tmp_path / "nowhere"), "--no-browser"]) == 2
    assert "no such folder" in capsys.readouterr().err
    assert main(["studio", str(tmp_path), "--host", "0.0.0.0", "--no-browser"]) == 2
    assert "allow this with --expose" in capsys.readouterr().err


@needs_page
def test_it_prints_its_address_and_ends_with_ctrl_c(clips: Path) -> None:
    command = [sys.executable, "-m", "marey", "studio", str(clips), "--no-browser", "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    url = process.stdout.readline().split()[-1]
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor())
    with opener.open(url, timeout=WAIT) as answer:
        assert answer.url == url.partition("?")[0]  # the token does not stay in the address
        assert b"<title>marey studio</title>" in answer.read()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=WAIT)
    assert process.returncode == 0
    assert "Traceback" not in errors


@needs_page
def test_a_server_for_others_warns() -> None:
    command = [sys.executable, "-m", "marey", "studio", "--host", "0.0.0.0", "--expose", "--no-browser", "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    here, elsewhere = (process.stdout.readline().split()[-1] for _ in range(2))
    assert here.startswith("http://127.0.0.1:")
    assert here.partition("127.0.0.1")[2] == elsewhere[elsewhere.index(":", 5) :]
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=WAIT)
    assert "warning: 0.0.0.0 is reachable from other machines" in errors


@pytest.mark.slow("runs the benchmark of the studio")
@needs_page
def test_the_bench_watches_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "SECONDS", 0.5)
    monkeypatch.setattr(bench, "CROWD_SECONDS", 0.3)
    monkeypatch.setattr(bench, "CROWD", 2)
    metrics = {figure.what.split(",")[0]: figure for figure in run_benches(["studio"])}
    assert {"frames lost", "median latency", "median answer to a question"} <= set(metrics)
    assert ("server" in metrics) == os.path.isdir("/proc")
    assert metrics["frames lost"].value == 0


def test_panels_are_loaded_when_they_are_needed() -> None:
    """The first motion does not wait for modules that no page needs yet."""
    code = "import sys; from marey.studio.app import Studio; studio = Studio(None)"
    code += "; rest = [f'marey.studio.panels.{name}' for name in ('compare', 'blend')]"
    code += "; assert not set(rest) & set(sys.modules); assert studio._commands.get('open') is not None"
    code += "; assert not set(rest) & set(sys.modules); assert studio._commands.get('drive_list') is not None"
    code += "; assert set(rest) <= set(sys.modules); assert studio._commands.get('nonsense') is None"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0 or "not built" in done.stderr, done.stderr


def test_addresses() -> None:
    assert Address("127.0.0.1", 80, "t").url == "http://127.0.0.1:80/?token=t"
    assert Address("::1", 80, "t").url == "http://[::1]:80/?token=t"
    assert Address("0.0.0.0", 80, "t").url == "http://127.0.0.1:80/?token=t"
    assert Address("127.0.0.1", 80, "t").url_elsewhere == Address("127.0.0.1", 80, "t").url
    assert "0.0.0.0" not in Address("0.0.0.0", 80, "t").url_elsewhere
    assert Address("127.0.0.1", 80, "t").cookie != Address("127.0.0.1", 81, "t").cookie


def test_live_frames_are_sent_at_once() -> None:
    listening = bind(port=0)
    assert listening.proto == socket.IPPROTO_TCP  # otherwise, asyncio would let them wait for each other
    listening.close()


def test_the_server_is_loaded_only_when_needed() -> None:
    code = "import sys; from marey.cli.main import main; main(['--help']); main(['studio', '--help'])"
    code += "; assert not {'starlette', 'uvicorn', 'websockets', 'numpy'} & set(sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "marey studio takes/" in done.stdout
