"""A benchmark result and its goal."""

from __future__ import annotations

import importlib.util
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class BenchResult:
    """One benchmark result.

    bench, what : the benchmark it belongs to, and what was measured.
    value, unit : the result of marey.
    against, floor : what it is compared with, and its value in the same unit; None if it could not be measured.
    ratio : how many times faster than another package, or how many times as long as a lower bound; None without either.
    goal, ok : the goal as text, and whether it is met; None if it cannot be judged.
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

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def against_peer(bench: str, what: str, unit: str, peer: str, times: tuple[float, float], goal: float) -> BenchResult:
    """`times` are those of marey and of the other package; the goal is to be `goal` times faster."""
    mine, other = times
    ratio = other / mine
    return BenchResult(bench, what, mine, unit, peer, other, ratio, f"{goal:g} x faster or more", ratio >= goal)


def against_floor(bench: str, what: str, unit: str, floor: str, times: tuple[float, float], goal: float) -> BenchResult:
    """`times` are those of marey and of the lower bound; the goal is to take at most `goal` times as long."""
    mine, lowest = times
    ratio = mine / lowest
    return BenchResult(bench, what, mine, unit, floor, lowest, ratio, f"at most {goal:g} x", ratio <= goal)


def at_most(bench: str, what: str, value: float, unit: str, goal: float) -> BenchResult:
    """A result with an absolute goal."""
    return BenchResult(bench, what, value, unit, "", None, None, f"at most {goal:g} {unit}".rstrip(), value <= goal)


def without_peer(bench: str, what: str, value: float, unit: str, peer: str) -> BenchResult:
    """A result without comparison, because the other package is not installed."""
    missing = f"{peer} (not installed; pip install 'marey[bench]')"
    return BenchResult(bench, what, value, unit, missing, None, None, "", None)


def has(module: str) -> bool:
    """Return whether a package is installed."""
    return importlib.util.find_spec(module) is not None
