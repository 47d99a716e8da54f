"""The benchmark of libraries, on a small library."""

from marey.bench.library import bench_library, bench_recorded
from marey.io import save
from marey.samples import sample


def test_results_are_complete_and_nothing_is_missed(monkeypatch):
    import marey.bench.library as module

    monkeypatch.setattr(module, "QUERIES", 2)
    monkeypatch.setattr(module, "ADDED", 1)
    monkeypatch.delenv("MAREY_DATA", raising=False)
    results = list(bench_library("", 1800))
    assert [result.unit for result in results] == ["s", "s", "s", "s", "ms", "ms", "s", "%", "s"]
    assert all(result.value >= 0 for result in results)
    assert results[-2].value == 100.0


def test_recorded_clips_are_scanned_if_there_are_any(tmp_path, monkeypatch):
    monkeypatch.delenv("MAREY_DATA", raising=False)
    assert list(bench_recorded()) == []
    monkeypatch.setenv("MAREY_DATA", str(tmp_path))
    assert list(bench_recorded()) == []
    (tmp_path / "cmu" / "01").mkdir(parents=True)
    save(sample("walk").motion, tmp_path / "cmu" / "01" / "walk.bvh")
    (result,) = bench_recorded()
    assert result.what == "scan of 1 recorded file"
    assert result.value > 0
    assert not (tmp_path / "cmu" / ".marey-cache").exists()
