"""The warm-up: what it asks for, when it has nothing to do, and that nothing of it is left."""

from __future__ import annotations

import asyncio
import io
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Coroutine
from dataclasses import is_dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_type_hints

import pytest

from marey.studio import warm, warm_lock, warm_pieces, warm_process, warm_stamp
from marey.studio.messages import GettingReady
from marey.studio.registry import PANELS, find_commands
from marey.studio.warm import WarmUp
from marey.studio.wire import decode
from tests.studio.client import FakePage

# --- Pieces


VALUES: dict[str, Any] = {"search": 1, "joint": "head", "hit": (0.0, 1.0, 2.0)}
VALUES |= dict.fromkeys(("threshold", "suggested", "good", "bad"), 0.1)
VALUES["labels"] = (SimpleNamespace(name=warm_pieces._ACTION, start=0, stop=9),)


class Reply:
    """A reply whose fields are those of its class, with some value."""

    def __init__(self, kind: type) -> None:
        self._kinds = get_type_hints(kind)

    def __getattr__(self, name: str) -> Any:
        kind = self._kinds[name]
        if is_dataclass(kind):
            return Reply(kind)
        return "m1" if name == "motion" else VALUES[name]


def test_the_pieces_ask_what_the_panels_can_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    commands, asked = find_commands(), set()

    class Records:
        async def do(self, name: str, /, **fields: Any) -> Any:
            asked.add(commands[name].call.__module__.rpartition(".")[2])
            decode(commands[name].message, json.loads(json.dumps(fields)))
            return Reply(commands[name].reply)

    monkeypatch.setattr(warm_pieces, "_PLAYED", 0.0)
    for piece in warm_pieces.PIECES:
        asyncio.run(_awaited(piece(Records())))
    assert asked == set(PANELS)


def test_pieces_are_done_one_after_the_other_and_a_failure_ends_only_its_own(clips: Path) -> None:
    made = []

    async def measured(page: warm_pieces.Asks) -> None:
        motion = (await page.do("open", path="walk.bvh")).motion
        made.extend((await page.do("measure", motion=motion)).measures)

    async def wrong(page: warm_pieces.Asks) -> None:
        await page.do("open", path="nowhere.bvh")

    told = io.StringIO()
    assert asyncio.run(warm_process.run([measured], clips, told))
    assert made
    assert not asyncio.run(warm_process.run([wrong, measured], clips, told))
    lines = [json.loads(line) for line in told.getvalue().splitlines()]
    assert [line.get("done") for line in lines] == [0, 1, 0, None, 1, 2]
    assert [line["piece"] for line in lines if "piece" in line] == ["measured", "", "wrong", "measured", ""]
    assert lines[3]["failed"].startswith("wrong: UnreadableFile: ")


# --- The process


def run_with(process: list[str], work: Callable[[WarmUp], Coroutine[Any, Any, None]], warm_already: bool) -> list[Any]:
    """Do something with a warm-up; what it told."""
    told: list[GettingReady] = []

    async def run() -> None:
        made = WarmUp(told.append, lambda: warm_already, process)
        await work(made)
        await made.close()
        assert made.process is None
        assert made.now is None

    asyncio.run(run())
    return [(each.done, each.of) for each in told]


@pytest.fixture
def folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Where warm-ups have their temporary folders; they wait for nothing."""
    monkeypatch.setattr(warm, "_LATER", 0.0)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


SAYS = "import os, sys; open(sys.argv[1] + '/file', 'w').close(); print('{\"done\": 0, \"of\": 2}', flush=True)"


async def ended(made: WarmUp) -> None:
    made.begin()
    made.begin()  # as for a second page
    assert made._task is not None
    await made._task


def test_it_tells_how_far_it_is_and_ends(folders: Path) -> None:
    code = f'{SAYS}; print(\'{{"failed": "one"}}\'); print(\'{{"done": 1, "of": 2}}\')'
    assert run_with([sys.executable, "-c", code], ended, False) == [(0, 2), (1, 2), (2, 2)]
    assert not list(folders.iterdir())


def test_it_ends_with_the_server(folders: Path) -> None:
    seen = []

    async def left(made: WarmUp) -> None:
        made.begin()
        while made.now is None:
            await asyncio.sleep(0.01)
        seen.append(made.process)
        assert list(folders.glob("*/file"))

    told = run_with([sys.executable, "-c", f"{SAYS}; import time; time.sleep(600)"], left, False)
    assert told == [(0, 2), (2, 2)]
    assert not list(folders.iterdir())
    with pytest.raises(ProcessLookupError):
        os.kill(seen[0] or 0, 0)


def test_where_there_is_nothing_to_do_nothing_is_run(folders: Path) -> None:
    assert run_with(["/no/such/program"], ended, True) == []
    assert run_with(["/no/such/program"], ended, False) == []  # nor is it an error where nothing can be run
    assert run_with([sys.executable, "-c", "print('nonsense')"], ended, False) == []


def test_a_server_has_none_unless_it_is_asked_for(page: FakePage) -> None:
    assert page.do("shown") == {}
    page.do("list")
    assert not [each for each in page.events if each["event"] == "getting_ready"]


# --- The stamp


def test_caches_are_warm_once_that_is_written_and_as_long_as_they_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    caches = tmp_path / "caches"
    caches.mkdir()
    (caches / "one.nbi").touch()
    monkeypatch.setattr(warm_stamp, "_cache_folders", lambda: {caches})
    places = [tmp_path / "own"]
    assert not warm_stamp.is_warm(places)
    assert warm_stamp.write_stamp(places)
    assert warm_stamp.is_warm(places)
    (caches / "one.nbi").unlink()
    assert not warm_stamp.is_warm(places)
    (caches / "one.nbi").touch()
    monkeypatch.setattr(warm_stamp, "key", lambda: "of another version")
    assert not warm_stamp.is_warm(places)


def test_a_folder_that_cannot_be_written_to_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warm_stamp, "_cache_folders", lambda: set())
    (tmp_path / "file").touch()
    refused, other = tmp_path / "file" / "below", tmp_path / "other"
    assert not warm_stamp.write_stamp([refused])
    assert not warm_stamp.is_warm([refused])
    assert warm_stamp.write_stamp([refused, other])
    (other / "marey-warm.json").write_text("[]")
    assert not warm_stamp.is_warm([other])


HOLDS = (
    "import sys; from pathlib import Path; from marey.studio.warm_lock import alone\n"
    "with alone([Path(sys.argv[1])]): print('in', flush=True); sys.stdin.read()"
)


def test_one_waits_for_another_and_not_for_one_that_is_gone(tmp_path: Path) -> None:
    places = [tmp_path / "caches"]
    with warm_lock.alone(places) as waited:
        assert not waited
    command = [sys.executable, "-c", HOLDS, str(places[0])]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"in\n"
        threading.Timer(0.2, other.kill).start()
        with warm_lock.alone(places, look=0.02) as waited:
            assert waited
            assert other.wait() != 0


def test_where_no_lock_can_be_had_none_is_waited_for(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with warm_lock.alone([tmp_path / "file" / "below"]) as waited:
        assert not waited


def test_a_kernel_that_was_changed_has_another_key(tmp_path: Path) -> None:
    (tmp_path / "some_kernels.py").write_text("a = 1")
    before = warm_stamp.key(tmp_path)
    (tmp_path / "plain.py").write_text("b = 1")
    assert warm_stamp.key(tmp_path) == before
    os.utime(tmp_path / "some_kernels.py", (1.0, 1.0))
    assert warm_stamp.key(tmp_path) != before


async def _awaited(piece: Any) -> None:
    await piece
