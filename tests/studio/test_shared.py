"""Files shared by the sessions of a server, and temporary folders of servers: made once, and removed at the end."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from marey.errors import InvalidValue
from marey.io.temporary import new_folder, remove_stale
from marey.studio.jobs import COMMAND, Cancelled, Jobs
from marey.studio.live import Live
from marey.studio.messages import LiveEnded
from marey.studio.outbox import Outbox
from marey.studio.shared import Shared


def _jobs(texts: list[str]) -> Jobs:
    return Jobs(lambda command, progress, text: texts.append(text))


def test_what_two_pages_need_at_once_is_made_once(tmp_path: Path) -> None:
    result: list[Path] = []
    message: list[str] = []

    async def make(path: Path) -> None:
        result.append(path)
        await asyncio.sleep(0.01)
        path.write_text("whole")

    async def run() -> None:
        shared, jobs = Shared(), _jobs(message)
        first, second = await asyncio.gather(shared.file("a", jobs, make), shared.file("a", jobs, make))
        assert first == second == await shared.file("a", jobs, make)
        assert first.read_text() == "whole"
        assert await shared.file("b", jobs, make) != first
        await shared.close()
        assert shared.own is not None
        assert not shared.own.exists()

    asyncio.run(run())
    assert len(result) == 2
    assert message == ["waiting: another page is already building this"]


def test_a_failed_job_is_tried_again_by_a_waiting_page(tmp_path: Path) -> None:
    tries: list[Path] = []

    async def make(path: Path) -> None:
        tries.append(path)
        path.write_text("half")
        await asyncio.sleep(0.01)
        if len(tries) == 1:
            raise InvalidValue("no")

    async def run() -> None:
        shared, jobs = Shared(), _jobs([])
        first, second = await asyncio.gather(
            shared.file("a", jobs, make), shared.file("a", jobs, make), return_exceptions=True
        )
        assert isinstance(first, InvalidValue)
        assert second == tries[1]
        assert not tries[0].parent.exists()
        await shared.close()

    asyncio.run(run())


def test_a_page_waiting_for_another_page_can_cancel(tmp_path: Path) -> None:
    async def make(path: Path) -> None:
        await may_end.wait()
        path.write_text("whole")

    async def ask(shared: Shared, jobs: Jobs, command: int) -> Path:
        COMMAND.set(command)
        return await shared.file("a", jobs, make)

    may_end = asyncio.Event()

    async def run() -> None:
        shared = Shared()
        others, own = _jobs([]), _jobs([])
        first = asyncio.create_task(ask(shared, others, 1))
        second = asyncio.create_task(ask(shared, own, 1))
        await asyncio.sleep(0.02)
        own.cancel(1)
        with pytest.raises(Cancelled, match="was canceled"):
            await second
        may_end.set()
        assert (await first).read_text() == "whole"
        await shared.close()

    asyncio.run(run())


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="folders are swept where processes have owners")
def test_only_folders_of_processes_that_are_gone_are_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    report = [sys.executable, "-c", "from marey.io.temporary import new_folder as n; print(n())"]
    killed = Path(
        subprocess.run(report, env={**os.environ, "TMPDIR": str(tmp_path)}, capture_output=True, text=True, check=True)
        .stdout.strip()
    )  # fmt: skip
    assert killed.parent == tmp_path
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("x")
    (killed / "link").symlink_to(outside, target_is_directory=True)
    link = killed.with_name(killed.name + "-link")
    link.symlink_to(outside, target_is_directory=True)
    file = killed.with_name(killed.name + "-file")
    file.write_text("x")
    elsewhere = tmp_path / f"marey-studio-00000000-{killed.name.split('-')[3]}-x"
    unnamed = tmp_path / "marey-studio-abcdefgh"
    for folder in (elsewhere, unnamed):
        folder.mkdir()
    own = new_folder()
    (killed / "sub").mkdir()
    assert remove_stale() == 1
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {each.name for each in (outside, link, file, elsewhere, unnamed, own)}
    assert (outside / "kept").read_text() == "x"
    with monkeypatch.context() as other:
        other.setattr("os.getuid", lambda: -1)
        other.setattr("marey.io.temporary._runs", lambda process: False)
        assert remove_stale() == 0
    assert remove_stale(tmp_path / "nowhere") == 0


def test_what_fails_in_a_live_stream_is_logged_where_it_is_a_bug(caplog: pytest.LogCaptureFixture) -> None:
    class Broken:
        joints, parents = ("hips",), (-1,)

        def __init__(self, error: Exception) -> None:
            self.error = error

        def frame(self) -> None:
            raise self.error

    async def run(error: Exception) -> list[LiveEnded]:
        ended: list[LiveEnded] = []
        outbox = Outbox()
        live = Live(outbox, ended.append)
        await live._play(Broken(error), 60.0, 1)
        return ended

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Outbox, "is_attached", True)
        assert asyncio.run(run(InvalidValue("no way"))) == [LiveEnded(1, "InvalidValue: no way")]
        assert not caplog.records
        assert asyncio.run(run(KeyError("x"))) == [LiveEnded(1, "KeyError: 'x'")]
    (message,) = caplog.records
    assert message.getMessage() == "a live stream failed at frame 0"
    assert message.exc_info is not None


def test_the_worker_uses_one_thread_for_linear_algebra_unless_the_user_chose(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[dict[str, str]] = []

    async def start(*command: str, env: dict[str, str], **options: object) -> None:
        given.append(env)
        raise InvalidValue("not started")

    monkeypatch.setattr(asyncio, "create_subprocess_exec", start)
    for chosen, expected in ((None, "1"), ("3", "3")):
        if chosen is None:
            monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
        else:
            monkeypatch.setenv("OPENBLAS_NUM_THREADS", chosen)
        with pytest.raises(InvalidValue):
            asyncio.run(_jobs([]).run("marey.studio.work:none"))
        assert given[-1]["OPENBLAS_NUM_THREADS"] == expected
        assert given[-1]["PATH"] == os.environ["PATH"]
