"""Timing that is robust on a shared machine."""

from __future__ import annotations

import gc
import os
import subprocess
import time
from collections.abc import Callable, Sequence


def time_functions(
    functions: Sequence[Callable[[], object]], rounds: int = 9, clock: Callable[[], float] = time.perf_counter
) -> list[float]:
    """Return the shortest time of each function in seconds. Functions run alternately, so all see the same load.

    rounds : number of runs of each. clock : `time.process_time` measures CPU time only, regardless of other load.
    """
    shortest = [float("inf")] * len(functions)
    for function in functions:  # a warm-up run, not measured, fills caches
        function()
    gc.collect()
    for _ in range(rounds):
        for i, function in enumerate(functions):
            start = clock()
            function()
            shortest[i] = min(shortest[i], clock() - start)
    return shortest


def best_commands(commands: Sequence[Sequence[str]], rounds: int = 5) -> list[float]:
    """Return the shortest wall time of each command in seconds, from start to exit, with warm file caches.

    Python may write bytecode here. After the first, unmeasured run, all packages have it, as if installed.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def runner(command: Sequence[str]) -> Callable[[], object]:
        def run() -> None:
            done = subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            if done.returncode > 1:  # 1 means that there are findings
                raise subprocess.CalledProcessError(done.returncode, command, stderr=done.stderr)

        return run

    return time_functions([runner(command) for command in commands], rounds)
