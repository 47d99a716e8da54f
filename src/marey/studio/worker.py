"""The process that does heavy work for one page: ``python -m marey.studio.worker``.

It reads one JSON object per line, ``{"call": "marey.studio.work:clean", "folder": "...", "arguments": {...}}``, and
writes lines with ``share`` and ``text`` while it works, then one with ``result`` or ``error``. It ends with its input.
"""

from __future__ import annotations

import importlib
import json
import os
import queue
import signal
import sys
import threading
import time
import warnings
from pathlib import Path
from typing import Any, TextIO

from marey.errors import InvalidValue, MareyError
from marey.studio.parcels import pack, unpack

_PREFIX = "marey.studio."
# Seconds between two reports of progress.
_OFTEN = 0.1


def main() -> None:
    """Work until the input ends."""
    # Whatever prints must not be taken for an answer.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it ends with the server, which hears Ctrl-C too
    warnings.simplefilter("ignore")
    if hasattr(os, "nice"):
        os.nice(5)  # what is shown goes before what is computed
    for task in iter(_tasks().get, None):
        answers.write(json.dumps(_answer(task, answers)) + "\n")
        answers.flush()


def _tasks() -> queue.SimpleQueue[dict[str, Any] | None]:
    """Lines of the input as they come; when it ends, whoever asked has gone, and so does this process at once."""
    tasks: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()

    def read() -> None:
        for line in sys.stdin:
            tasks.put(json.loads(line))
        os._exit(0)

    threading.Thread(target=read, daemon=True).start()
    return tasks


def _answer(task: dict[str, Any], answers: TextIO) -> dict[str, Any]:
    """What came of one task."""
    told = 0.0

    def progress(share: float, text: str) -> None:
        nonlocal told
        now = time.monotonic()
        if now - told >= _OFTEN:
            told = now
            answers.write(json.dumps({"share": min(max(float(share), 0.0), 1.0), "text": text}) + "\n")
            answers.flush()

    folder = Path(task["folder"])
    try:
        result = function_of(task["call"])(progress, **unpack(task["arguments"], folder))
        return {"result": pack(result, folder)}
    except MareyError as error:
        return {"error": {"type": type(error).__name__, "text": str(error)}}
    except Exception as error:
        return {"error": {"type": type(error).__name__, "text": f"unexpected: {error} (this is a bug)"}}


def function_of(call: str) -> Any:
    """``module:function`` of the studio, and of nothing else."""
    module, _, name = call.partition(":")
    if not module.startswith(_PREFIX) or name.startswith("_"):
        raise InvalidValue(f"the worker runs functions of {_PREFIX}*, got {call!r}")
    return getattr(importlib.import_module(module), name)


if __name__ == "__main__":
    main()
