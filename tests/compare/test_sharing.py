"""Blocks on the threads of this process."""

from __future__ import annotations

import threading

import pytest

from marey.compare import pairing
from marey.compare.pairing import choose_runner


@pytest.fixture(params=[1, 3])
def run(request, monkeypatch):
    monkeypatch.setattr(pairing, "count_workers", lambda: request.param)
    return choose_runner(map)


def test_results_are_in_order(run):
    assert list(run(str, range(100))) == [str(k) for k in range(100)]
    assert list(run(str, [])) == []


def test_an_error_is_raised_in_place_of_its_result(run):
    results = iter(run(lambda k: 1 // (3 - k), range(9)))
    assert [next(results) for _ in range(3)] == [0, 0, 1]
    with pytest.raises(ZeroDivisionError):
        next(results)


def test_who_needs_no_more_can_leave(run):
    done = []
    results = run(lambda k: done.append(k) or k, range(500))
    assert next(results) == 0
    results.close()
    assert len(done) < 100


def test_any_other_way_to_run_is_left_to_itself(monkeypatch):
    def other(function, items):
        return [threading.get_ident() for _ in map(function, items)]

    assert choose_runner(other) is other
