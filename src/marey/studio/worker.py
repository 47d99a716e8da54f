"""The worker process of one page: ``python -m marey.studio.worker``.

It reads messages ``{"call": "marey.studio.work:detect", "arguments": {...}}`` and writes messages with ``fraction`` and
``text`` of the progress, then one with ``result`` or ``error``; see `marey.studio.parcels`. It exits at the end of its
input.
"""

from __future__ import annotations

import importlib
import os
import queue
import signal
import sys
import threading
import time
import warnings
from typing import Any, BinaryIO

from marey.errors import InvalidValue, MareyError
from marey.studio.parcels import pack, read_line, unpack

_PREFIX = "marey.studio."
# Minimum seconds between progress reports.
_REPORT_INTERVAL = 0.1


def main() -> None:
    """Run tasks until the input ends."""
    # Redirect stdout, because printed text would be mistaken for an answer.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C also reaches the server, which stops the worker
    warnings.simplefilter("ignore")
    if hasattr(os, "nice"):
        os.nice(5)  # display has priority over computation
    for task in iter(_tasks().get, None):
        answers.write(_answer(*task, answers))
        answers.flush()


def _tasks() -> queue.SimpleQueue[tuple[dict[str, Any], bytes] | None]:
    """Read tasks from stdin into a queue. EOF means that the server is gone, so exit the process immediately."""
    tasks: queue.SimpleQueue[tuple[dict[str, Any], bytes] | None] = queue.SimpleQueue()

    def read() -> None:
        for line in sys.stdin.buffer:
            task, size = read_line(line)
            tasks.put((task, sys.stdin.buffer.read(size)))
        os._exit(0)

    threading.Thread(target=read, daemon=True).start()
    return tasks


def _answer(task: dict[str, Any], data: bytes, answers: BinaryIO) -> bytes:
    """Run one task and return its answer."""
    last_report = 0.0

    def progress(fraction: float, text: str) -> None:
        nonlocal last_report
        now = time.monotonic()
        if now - last_report >= _REPORT_INTERVAL:
            last_report = now
            answers.write(pack({"fraction": min(max(float(fraction), 0.0), 1.0), "text": text}))
            answers.flush()

    try:
        return pack({"result": find_function(task["call"])(progress, **unpack(task["arguments"], data))})
    except MareyError as error:
        text = error.where + error.message
        known = {"type": type(error).__name__, "text": text, "parameter": error.parameter, "remedy": error.remedy}
        return pack({"error": known})
    except Exception as error:
        return pack({"error": {"type": type(error).__name__, "text": f"unexpected: {error} (this is a bug)"}})


def find_function(call: str) -> Any:
    """Import and return ``module:function``. Only public functions of the studio are allowed."""
    module, _, name = call.partition(":")
    if not module.startswith(_PREFIX) or name.startswith("_"):
        raise InvalidValue(f"the worker runs functions of {_PREFIX}*, got {call!r}")
    return getattr(importlib.import_module(module), name)


if __name__ == "__main__":
    main()
