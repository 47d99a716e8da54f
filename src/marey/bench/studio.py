"""Benchmark of the studio's server from outside, through the WebSocket of a page without a browser."""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from marey.bench.clips import bench_bvh
from marey.bench.results import BenchResult, at_most
from marey.errors import UnreadableFile

# Durations (s) and frame rates (Hz) of the two runs, and the number of pages in the second.
SECONDS, RATE = 60.0, 120.0
CROWD_SECONDS, CROWD_RATE, CROWD = 10.0, 60.0, 8
_HEADER = struct.Struct("<BBHIII")
_SENT = struct.Struct("<d")
_LIVE = 2
# Limits: latency from the server to the client in ms, load in percent of one core, and processor time of one step of a
# dragged target in ms.
_LATENCY, _LOAD, _DRAG = 5.0, 25.0, 50.0
# The motion of the dragged target: number of examples, duration (s) and rate (Hz); and the number of steps of the drag.
_EXAMPLES, _DRAG_SECONDS, _DRAG_RATE, _STEPS = 12, 1.5, 120.0, 100


@dataclass(slots=True)
class _Run:
    """Measurements of one page.

    frames : indices of the live frames that it received. latencies : their latencies in seconds.
    answers : seconds until each small request was answered.
    """

    frames: list[int] = field(default_factory=list)
    latencies: list[float] = field(default_factory=list)
    answers: list[float] = field(default_factory=list)

    @property
    def lost(self) -> int:
        return self.frames[-1] + 1 - len(self.frames)


def bench_studio(path: str) -> Iterator[BenchResult]:
    """Measure live streams of a motion with 31 joints to one page and to eight pages; `path` is ignored."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "clip.bvh").write_bytes(bench_bvh(600))
        with run_server(folder) as (process, url):
            began, spent = time.monotonic(), _read_cpu_seconds(process)
            alone = asyncio.run(watch_pages(url, 1, SECONDS, RATE))[0]
            took = time.monotonic() - began
            used = _read_cpu_seconds(process)
            what = f"{SECONDS:g} s at {RATE:g} Hz to one page"
            yield at_most("studio", f"frames lost, {what}", alone.lost, "frames", 0)
            yield at_most("studio", f"median latency, {what}", _median_ms(alone.latencies), "ms", _LATENCY)
            if spent is not None and used is not None:
                yield at_most("studio", f"server, {what}", 100.0 * (used - spent) / took, "% of a core", _LOAD)
            crowd = asyncio.run(watch_pages(url, CROWD, CROWD_SECONDS, CROWD_RATE))
            what = f"{CROWD_SECONDS:g} s at {CROWD_RATE:g} Hz to {CROWD} pages"
            yield at_most("studio", f"frames lost, {what}", sum(each.lost for each in crowd), "frames", 0)
            answers = [answer for each in crowd for answer in each.answers]
            yield at_most("studio", f"median answer to a question, {what}", _median_ms(answers), "ms", 50.0)
        yield from _bench_drag(folder)


def _bench_drag(folder: str) -> Iterator[BenchResult]:
    """Measure a drag of the target in the panel Find: processor time of server and worker, and time to the answer."""
    steps, n_frames = save_drag_space(Path(folder) / "space.npz")
    with run_server(folder) as (process, url):
        drag = asyncio.run(drag_target(url, steps, lambda: _read_cpu_seconds(process, with_children=True)))
    what = f"of a dragged target, {n_frames} frames at {_DRAG_RATE:g} Hz"
    yield at_most("studio", f"messages to the server per step {what}", drag.n_messages / len(steps), "messages", 1)
    if drag.cpu is not None:
        cpu = 1e3 * drag.cpu / len(steps)
        yield at_most("studio", f"server and worker, a step {what}, processor time", cpu, "ms", _DRAG)
    yield at_most("studio", f"median answer to a step {what}", _median_ms(drag.answers), "ms", 2.0 * _DRAG)


def save_drag_space(path: Path) -> tuple[list[list[float]], int]:
    """Save a parametric motion of reaches of 1.5 s at 120 Hz; return the targets of a drag through it, and the number
    of frames of its motions."""
    from marey.bench.parametric import reaches
    from marey.edit import resample
    from marey.parametric import ParametricMotion, position

    motions = tuple(resample(motion, _DRAG_RATE) for motion in reaches(_EXAMPLES, _DRAG_SECONDS))
    space = ParametricMotion.build(motions, position("right_hand"), samples=200)
    space.save(path)
    a, b = space.parameters[0], space.parameters[1]
    blend = 0.5 - 0.5 * np.cos(np.linspace(0.0, 4.0 * np.pi, _STEPS))[:, None]
    return ((1.0 - blend) * a + blend * b).tolist(), len(space(a))


@dataclass(slots=True)
class _Drag:
    """Record of a drag.

    cpu : processor time in seconds; None if unknown. n_messages : messages sent to the server.
    answers : seconds until each target was answered.
    """

    cpu: float | None = None
    n_messages: int = 0
    answers: list[float] = field(default_factory=list)


async def drag_target(url: str, steps: list[list[float]], read_cpu: Callable[[], float | None]) -> _Drag:
    """Act as one page that drags the target of `space.npz` through some targets; wait for the frames of each."""
    drag = _Drag()
    async with _connect(url) as socket:
        await socket.send(json.dumps({"id": 1, "do": "hello"}))
        await socket.send(json.dumps({"id": 2, "do": "aim_load", "path": "space.npz"}))
        await _answer(socket, 2)
        number = 3
        for k, target in enumerate([*steps[:5], *steps]):
            if k == 5:  # the first steps load code and data
                drag, begun = _Drag(), read_cpu()
            start = time.perf_counter()
            await socket.send(json.dumps({"id": number, "do": "aim", "target": target}))
            drag.n_messages += 1
            has_frames = False
            reply = None
            while reply is None:
                data = await socket.recv()
                if isinstance(data, bytes):
                    has_frames = has_frames or _HEADER.unpack_from(data)[3] == number
                elif (message := json.loads(data)).get("id") == number and message["kind"] == "done":
                    reply = message["result"]["motion"]
            if not has_frames:
                number += 1
                block = {"motion": reply["motion"], "start": 0, "stop": reply["n_frames"]}
                await socket.send(json.dumps({"id": number, "do": "frames", **block}))
                drag.n_messages += 1
                while isinstance(await socket.recv(), str):
                    pass
            drag.answers.append(time.perf_counter() - start)
            number += 1
        after = read_cpu()
    drag.cpu = None if begun is None or after is None else after - begun
    return drag


@contextmanager
def run_server(folder: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run `marey studio` on a folder in another process; yield the process and the URL of the page."""
    command = [sys.executable, "-m", "marey", "studio", folder, "--no-browser", "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        line = "" if process.stdout is None else process.stdout.readline()
        if "http" not in line:
            why = "" if process.stderr is None else process.stderr.read().strip()
            raise UnreadableFile(f"the studio did not start: {why.removeprefix('marey: ')}")
        yield process, line.split()[-1]
    finally:
        process.terminate()
        process.communicate()


def _read_cpu_seconds(process: subprocess.Popen[str], *, with_children: bool = False) -> float | None:
    """Return the CPU seconds that a process has used, optionally with those of its running children; None if the
    system does not report them."""
    with suppress(OSError, ValueError, IndexError):
        numbers = [process.pid]
        if with_children:
            numbers += map(int, Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split())
        total = 0
        for number in numbers:
            fields = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
            total += int(fields[11]) + int(fields[12])
        return total / os.sysconf("SC_CLK_TCK")
    return None


async def watch_pages(url: str, n: int, seconds: float, rate: float) -> list[_Run]:
    """Watch `clip.bvh` of the folder live on `n` pages at once, for some seconds at a frame rate in Hz."""
    return list(await asyncio.gather(*(_watch(url, seconds, rate) for _ in range(n))))


async def _watch(url: str, seconds: float, rate: float) -> _Run:
    """Act as one page: open the clip, watch it live, and send a small request every quarter of a second."""
    run = _Run()
    async with _connect(url) as socket:
        await socket.send(json.dumps({"id": 1, "do": "hello"}))
        await socket.send(json.dumps({"id": 2, "do": "open", "path": "clip.bvh"}))
        motion = (await _answer(socket, 2))["motion"]
        await socket.send(json.dumps({"id": 3, "do": "live_start", "motion": motion, "rate": rate}))
        asked: dict[int, float] = {}
        asking = asyncio.ensure_future(_ask(socket, asked))
        wanted = round(seconds * rate)
        while not run.frames or run.frames[-1] + 1 < wanted:
            data = await socket.recv()
            now = time.time()
            if isinstance(data, str):
                _note(json.loads(data), run, asked)
            elif data[1] == _LIVE:
                n_joints, first = _HEADER.unpack_from(data)[2], _HEADER.unpack_from(data)[4]
                run.frames.append(first)
                run.latencies.append(now - _SENT.unpack_from(data, _HEADER.size + 28 * n_joints)[0])
        asking.cancel()
    return run


def _connect(url: str) -> Any:
    """Open the WebSocket of a page."""
    from websockets.asyncio.client import connect
    from websockets.typing import Origin

    parts = urlsplit(url)
    return connect(
        f"ws://{parts.netloc}/ws",
        origin=Origin(f"http://{parts.netloc}"),
        additional_headers={"Cookie": _get_cookie(url)},
        compression=None,
        proxy=None,
    )


def _get_cookie(url: str) -> str:
    """Open the page with its token, and return the cookie that the server gives for it."""
    parts = urlsplit(url)
    page = HTTPConnection(parts.netloc, timeout=30.0)
    try:
        page.request("GET", f"/?{parts.query}")
        return (page.getresponse().headers["set-cookie"] or "").partition(";")[0]
    finally:
        page.close()


async def _ask(socket: Any, asked: dict[int, float]) -> None:
    number = 3
    while True:
        number += 1
        asked[number] = time.perf_counter()
        await socket.send(json.dumps({"id": number, "do": "live_statistics"}))
        await asyncio.sleep(0.25)


def _note(message: dict[str, Any], run: _Run, asked: dict[int, float]) -> None:
    begun = asked.pop(message.get("id", 0), None)
    if begun is not None:
        run.answers.append(time.perf_counter() - begun)


async def _answer(socket: Any, number: int) -> dict[str, Any]:
    while True:
        data = await socket.recv()
        message = json.loads(data) if isinstance(data, str) else {}
        if message.get("id") == number and message["kind"] != "progress":
            result: dict[str, Any] = message["result"]
            return result


def _median_ms(seconds: list[float]) -> float:
    return 1000.0 * statistics.median(seconds)
