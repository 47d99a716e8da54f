"""A measured figure, and what makes it good or bad."""

from __future__ import annotations

import importlib.util
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured figure.

    bench, what : which bench it belongs to, and what was measured.
    value, unit : ours.
    against, floor : what it is compared with, and its figure in the same unit; None where it could not be had.
    ratio : how many times faster than a peer, or how many times as long as a floor; None without a comparison.
    goal, ok : as text, and whether it is met; None where it could not be judged.
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


def against_peer(bench: str, what: str, unit: str, peer: str, times: tuple[float, float], goal: float) -> Figure:
    """`times` are ours and the peer's; the goal is to be so many times faster."""
    mine, theirs = times
    ratio = theirs / mine
    return Figure(bench, what, mine, unit, peer, theirs, ratio, f"{goal:g} x faster or more", ratio >= goal)


def against_floor(bench: str, what: str, unit: str, floor: str, times: tuple[float, float], goal: float) -> Figure:
    """`times` are ours and the floor's; the goal is to take at most so many times as long."""
    mine, lowest = times
    ratio = mine / lowest
    return Figure(bench, what, mine, unit, floor, lowest, ratio, f"at most {goal:g} x", ratio <= goal)


def at_most(bench: str, what: str, value: float, unit: str, goal: float) -> Figure:
    """A figure that stands for itself."""
    return Figure(bench, what, value, unit, "", None, None, f"at most {goal:g} {unit}".rstrip(), value <= goal)


def without_peer(bench: str, what: str, value: float, unit: str, peer: str) -> Figure:
    """A figure whose peer is not installed."""
    told = f"{peer} (not installed; pip install 'marey[bench]')"
    return Figure(bench, what, value, unit, told, None, None, "", None)


def has(module: str) -> bool:
    """Whether a peer is installed."""
    return importlib.util.find_spec(module) is not None
