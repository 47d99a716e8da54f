"""Benchmark results and their goals."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass

from marey.core.reports import ReportBase
from marey.deprecation import renamed_methods


@renamed_methods(as_dict="to_dict")
@dataclass(frozen=True, slots=True)
class BenchResult(ReportBase):
    """One benchmark result.

    bench, what : name of the benchmark, and what was measured.
    value, unit : the result of marey, and its unit.
    against, floor : name of the reference, and its value in the same unit; None if it was not measured.
    ratio : speedup relative to another package, or time relative to a lower bound; None without a reference.
    goal, ok : the goal as text, and whether it is met; None without a goal.
    """

    bench: str
    what: str
    value: float
    unit: str
    against: str
    floor: float | None
    ratio: float | None
    goal: str
    ok: bool | None


def against_peer(bench: str, what: str, unit: str, peer: str, times: tuple[float, float], goal: float) -> BenchResult:
    """Compare `times` of marey and of another package; the goal is to be at least `goal` times faster."""
    mine, other = times
    ratio = other / mine
    return BenchResult(bench, what, mine, unit, peer, other, ratio, f"{goal:g} x faster or more", ratio >= goal)


def against_floor(bench: str, what: str, unit: str, floor: str, times: tuple[float, float], goal: float) -> BenchResult:
    """Compare `times` of marey and of a lower bound; the goal is to take at most `goal` times as long."""
    mine, lowest = times
    ratio = mine / lowest
    return BenchResult(bench, what, mine, unit, floor, lowest, ratio, f"at most {goal:g} x", ratio <= goal)


def at_most(bench: str, what: str, value: float, unit: str, goal: float) -> BenchResult:
    """Return a result with an absolute goal: `value` must be at most `goal`."""
    return BenchResult(bench, what, value, unit, "", None, None, f"at most {goal:g} {unit}".rstrip(), value <= goal)


def at_least(bench: str, what: str, value: float, unit: str, goal: float) -> BenchResult:
    """Return a result with an absolute goal: `value` must be at least `goal`."""
    return BenchResult(bench, what, value, unit, "", None, None, f"at least {goal:g} {unit}".rstrip(), value >= goal)


def without_peer(bench: str, what: str, value: float, unit: str, peer: str) -> BenchResult:
    """Return a result without comparison, because the other package is not installed."""
    missing = f"{peer} (not installed; pip install '.[bench]')"
    return BenchResult(bench, what, value, unit, missing, None, None, "", None)


def has(module: str) -> bool:
    """Return whether a package is installed."""
    return importlib.util.find_spec(module) is not None
