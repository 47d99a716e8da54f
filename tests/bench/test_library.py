"""The benchmark of libraries, on a small library."""

from marey.bench.library import bench_library


def test_results_are_complete_and_nothing_is_missed(monkeypatch):
    import marey.bench.library as module

    monkeypatch.setattr(module, "QUERIES", 2)
    monkeypatch.setattr(module, "ADDED", 1)
    results = list(bench_library("", 1800))
    assert [result.unit for result in results] == ["s", "s", "s", "s", "ms", "ms", "s", "%", "s"]
    assert all(result.value >= 0 for result in results)
    assert results[-2].value == 100.0
