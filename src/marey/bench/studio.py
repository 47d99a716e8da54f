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
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from marey.bench.clips import bench_bvh
from marey.bench.results import BenchResult, at_most
from marey.errors import UnreadableFile

# Durations (s) and frame rates (Hz) of the two runs, and the number of pages in the second.
SECONDS, RATE = 60.0, 120.0
CROWD_SECONDS, CROWD_RATE, CROWD = 10.0, 60.0, 8
_HEADER = struct.Struct("<BBHIII")
_SENT = struct.Struct("<d")
_LIVE = 2
# Limits: latency from the server to the client in ms, and load in percent of one core.
_LATENCY, _LOAD = 5.0, 25.0


@dataclass(slots=True)
class _Run:
    """Record of one page: numbers of the live frames, their latencies, and response times of requests, in seconds."""

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
            began, spent = time.monotonic(), _cpu(process)
            alone = asyncio.run(watch_pages(url, 1, SECONDS, RATE))[0]
            took = time.monotonic() - began
            used = _cpu(process)
            what = f"{SECONDS:g} s at {RATE:g} Hz to one page"
            yield at_most("studio", f"frames lost, {what}", alone.lost, "frames", 0)
            yield at_most("studio", f"median latency, {what}", _ms(alone.latencies), "ms", _LATENCY)
            if spent is not None and used is not None:
                yield at_most("studio", f"server, {what}", 100.0 * (used - spent) / took, "% of a core", _LOAD)
            crowd = asyncio.run(watch_pages(url, CROWD, CROWD_SECONDS, CROWD_RATE))
            what = f"{CROWD_SECONDS:g} s at {CROWD_RATE:g} Hz to {CROWD} pages"
            yield at_most("studio", f"frames lost, {what}", sum(each.lost for each in crowd), "frames", 0)
            answers = [answer for each in crowd for answer in each.answers]
            yield at_most("studio", f"median answer to a question, {what}", _ms(answers), "ms", 50.0)


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


def _cpu(process: subprocess.Popen[str]) -> float | None:
    """Return the CPU seconds that a process has used; None if the system does not report them."""
    with suppress(OSError, ValueError, IndexError):
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return None


async def watch_pages(url: str, n: int, seconds: float, rate: float) -> list[_Run]:
    """Watch `clip.bvh` of the folder live on `n` pages at once, for some seconds at a frame rate in Hz."""
    return list(await asyncio.gather(*(_watch(url, seconds, rate) for _ in range(n))))


async def _watch(url: str, seconds: float, rate: float) -> _Run:
    """Act as one page: open the clip, watch it live, and send a small request every quarter of a second."""
    from websockets.asyncio.client import connect
    from websockets.typing import Origin

    parts = urlsplit(url)
    token = parse_qs(parts.query)["token"][0]
    headers = {"Cookie": f"marey_{parts.port}={token}"}
    origin = Origin(f"http://{parts.netloc}")
    run = _Run()
    async with connect(
        f"ws://{parts.netloc}/ws",
        origin=origin,
        additional_headers=headers,
        compression=None,
        proxy=None,
    ) as socket:
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


async def _ask(socket: Any, asked: dict[int, float]) -> None:
    number = 3
    while True:
        number += 1
        asked[number] = time.perf_counter()
        await socket.send(json.dumps({"id": number, "do": "live_figures"}))
        await asyncio.sleep(0.25)


def _note(message: dict[str, Any], run: _Run, asked: dict[int, float]) -> None:
    begun = asked.pop(message.get("id", 0), None)
    if begun is not None:
        run.answers.append(time.perf_counter() - begun)


async def _answer(socket: Any, number: int) -> dict[str, Any]:
    while True:
        message = json.loads(await socket.recv())
        if message.get("id") == number and message["kind"] != "progress":
            result: dict[str, Any] = message["result"]
            return result


def _ms(seconds: list[float]) -> float:
    return 1000.0 * statistics.median(seconds)
