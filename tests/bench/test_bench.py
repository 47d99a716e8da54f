"""The benchmarks run, compare results with their goals, and measure what they claim. No test asserts a time."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import marey
from marey.bench import BENCHES, cleanup, run_benches
from marey.bench.cleanup import plant_all_limbs
from marey.bench.clips import N_TURNING, bench_bvh, bench_motion
from marey.bench.timing import time_functions
from marey.clean import clean_with_report
from marey.cli.main import main
from marey.errors import UnknownName, UnreadableFile
from tests.tiers import mostly_slow


def test_bench_clip_has_the_stated_length_and_rate(tmp_path: Path) -> None:
    path = tmp_path / "clip.bvh"
    path.write_bytes(bench_bvh(50))
    clip = marey.load(path, unit="cm", up="y")
    assert len(clip) == 50
    assert (~clip.skeleton.is_end_site).sum() == N_TURNING
    result = bench_motion(50)
    order = [result.skeleton.index(name) for name in clip.skeleton.names]  # the BVH file lists its joints limb by limb
    assert np.abs(clip.world().positions - result.world().positions[:, order]).max() < 1e-6


def test_all_four_limbs_are_held_most_of_the_time() -> None:
    motion = plant_all_limbs(300)
    found = clean_with_report(motion)
    assert set(found.limbs) == {"left_foot", "right_foot", "left_hand", "right_hand"}
    assert motion.contacts is not None
    assert motion.contacts.mask.mean(axis=0).min() > 0.85
    moved = np.linalg.norm(found.motion.world().positions - motion.world().positions, axis=-1)
    assert np.quantile(moved.max(axis=1), 0.5) > 0.02  # meters: the cleanup has something to do


def test_functions_are_timed_in_turns() -> None:
    calls: list[str] = []
    times = time_functions([lambda: calls.append("a"), lambda: calls.append("b")], rounds=3)
    assert calls == ["a", "b"] * 4
    assert all(time >= 0 for time in times)


@pytest.mark.parametrize("name", mostly_slow(["save", "clean", "stream"], "runs another benchmark", n_fast=1))
def test_results_are_complete(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cleanup, "STREAMED", 1_000)
    monkeypatch.setattr(cleanup, "_WATCHED", 200)
    results = list(run_benches([name]))
    assert results
    for result in results:
        assert result.bench == name
        assert result.value > 0
        assert (result.ratio is None) == (result.floor is None)


def test_command_gives_json_and_judges(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "clip.bvh"
    path.write_bytes(bench_bvh(200))
    code = main(["bench", "fk", "--file", str(path), "--json"])
    results = json.loads(capsys.readouterr().out)
    assert code == (1 if any(result["ok"] is False for result in results) else 0)
    assert {result["bench"] for result in results} == {"fk"}
    assert all(result["value"] > 0 for result in results)
    assert all((result["ratio"] is None) == (result["floor"] is None) for result in results)


def test_help_names_every_bench(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--help"]) == 0
    assert ", ".join(BENCHES) in " ".join(capsys.readouterr().out.split())


def test_benches_are_loaded_only_when_their_help_is_requested() -> None:
    code = "import sys; from marey.cli.main import main; main(['--help']); assert 'marey.bench' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "bench" in done.stdout


def test_unknown_bench_and_file() -> None:
    with pytest.raises(UnknownName, match=f"available: {', '.join(BENCHES)}"):
        list(run_benches(["speed"]))
    with pytest.raises(UnreadableFile, match="no such file"):
        list(run_benches(["fk"], file="nowhere.bvh"))
