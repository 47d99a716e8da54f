"""Timing on a machine that others use too."""

from __future__ import annotations

import gc
import os
import subprocess
import time
from collections.abc import Callable, Sequence


def time_functions(
    functions: Sequence[Callable[[], object]], rounds: int = 9, clock: Callable[[], float] = time.perf_counter
) -> list[float]:
    """Shortest time of each function in seconds, measured alternately so that all see the same load.

    clock : `time.process_time` counts the processor's work alone, whatever else the machine does.
    """
    shortest = [float("inf")] * len(functions)
    for function in functions:  # a discarded run, which fills caches
        function()
    gc.collect()
    for _ in range(rounds):
        for i, function in enumerate(functions):
            start = clock()
            function()
            shortest[i] = min(shortest[i], clock() - start)
    return shortest


def best_commands(commands: Sequence[Sequence[str]], rounds: int = 5) -> list[float]:
    """Shortest wall time of each command in seconds, from start to exit, file caches warm.

    Python may write its bytecode, so that the first, unmeasured run leaves all of them as an installed package is.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def runner(command: Sequence[str]) -> Callable[[], object]:
        return lambda: subprocess.run(
            command, check=True, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    return time_functions([runner(command) for command in commands], rounds)
