"""Helpers for the two tiers of tests; see CONTRIBUTING."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

is_fast = False
"""Whether only the fast tier runs; tests/conftest.py sets it before it imports tests."""


def mostly_slow(values: Iterable[Any], reason: str, *, n_fast: int) -> list[Any]:
    """Return values for `pytest.mark.parametrize`, of which only the first `n_fast` are in the fast tier.

    values : one value for each case, or a tuple if a case has several parameters.
    """
    slow = pytest.mark.slow(reason)
    rows = list(values)
    more = (each if isinstance(each, tuple) else (each,) for each in rows[n_fast:])
    return [*rows[:n_fast], *(pytest.param(*each, marks=slow) for each in more)]


def shorten(n: int) -> int:
    """Return how often to repeat a random check: `n` times, or a third of that in the fast tier."""
    return -(-n // 3) if is_fast else n
