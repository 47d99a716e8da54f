"""Measure speed again, and write the tables of `speed.md`: python docs/benchmark_tables.py [NAME...]

Runs the benchmarks of `marey bench`, all of them without names, and replaces their results in `benchmarks.json`, from
which the site is built. Times are processor time, with one thread of the matrix library, so that other work on the
machine matters less.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

FILE = Path(__file__).parent / "benchmarks.json"
PLACE = "<!-- tables of benchmarks.json -->"
GROUPS = {
    "Files": ("load", "save", "growth", "startup"),
    "Poses, contacts and cleanup": ("fk", "contacts", "clean", "stream", "measure", "samples"),
    "Comparing and blending": ("grid", "timewarp", "register", "blend"),
    "Graphs, searches and spaces": ("graph", "find", "library", "cluster", "parametric"),
    "Layers": ("splice", "gaze"),
    "Live characters and the studio": ("live", "pmg", "studio"),
}


def write_tables(results: Iterable[dict[str, Any]]) -> str:
    """Return a section with a table for each group of benchmarks; results without a goal are left out."""
    known, lines = [each for each in results if each["goal"]], list[str]()
    for title, names in GROUPS.items():
        rows = [each for name in names for each in known if each["bench"] == name]
        if rows:
            lines += [f"## {title}", "", "| what | marey | compared with | ratio | goal |", "|---|---|---|---|---|"]
            lines += [f"| {' | '.join(_format_row(each))} |" for each in rows]
            lines.append("")
    return "\n".join(lines).rstrip()


def _format_row(result: dict[str, Any]) -> tuple[str, ...]:
    unit, floor, ratio = result["unit"], result["floor"], result["ratio"]
    return (
        result["what"],
        _with_unit(result["value"], unit),
        "" if floor is None else f"{result['against']}, {_with_unit(floor, unit)}",
        "" if ratio is None else f"{_format(ratio)} x",
        result["goal"] + (" (missed)" if result["ok"] is False else ""),
    )


def _with_unit(value: float, unit: str) -> str:
    return f"{_format(value)} {unit}".rstrip()


def _format(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100.0 else f"{value:.3g}"


def fill_page(app: Any, name: str, source: list[str]) -> None:
    """Put the tables into the page before Sphinx parses it."""
    if name == "speed":
        source[0] = source[0].replace(PLACE, write_tables(json.loads(FILE.read_text(encoding="utf-8"))))


def measure(names: list[str]) -> None:
    """Replace the results of the named benchmarks, or of all."""
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    time.perf_counter = _processor_time  # before marey is imported
    from marey.bench import BENCHES, run_benches

    order = [bench for benches in GROUPS.values() for bench in benches]
    known = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else []
    for name in names or BENCHES:
        known = [each for each in known if each["bench"] != name] + [each.to_dict() for each in run_benches([name])]
        known.sort(key=lambda each: order.index(each["bench"]))
        rows = [json.dumps({key: _round(value) for key, value in each.items()}) for each in known]
        FILE.write_text("[\n" + ",\n".join(rows) + "\n]\n", encoding="utf-8")


def _round(value: Any) -> Any:
    return float(f"{value:.4g}") if isinstance(value, float) else value


def _processor_time() -> float:
    """Return the processor time of this process and of its finished children, in seconds."""
    import resource

    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in spent)


if __name__ == "__main__":
    measure(sys.argv[1:])
