"""Work on a cluster: the same results, even if a worker is killed in between."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import marey
from marey.cli.main import main
from marey.errors import InvalidValue, MareyError
from marey.find import MatchWeb
from marey.graph import MotionGraph
from marey.store import MotionSet, cluster
from tests.graph.clips import walks
from tests.store.folders import failing, folder_of_walks, process_number, slow_square, summed

pytest.importorskip("distributed", reason="the extra `cluster` is not installed")

ROOT = Path(marey.__file__).parents[2]
CALM = {"DASK_DISTRIBUTED__WORKER__DAEMON": "False", "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "60s"}


def started(*words: str, folder: Path) -> subprocess.Popen[bytes]:
    """Start a program of Dask, without a nanny that would restart it."""
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    return subprocess.Popen(
        [sys.executable, "-m", *words],
        cwd=folder,
        env={**os.environ, **CALM, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def worker(address: str, folder: Path) -> subprocess.Popen[bytes]:
    return started(
        "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard",
        "--local-directory", str(folder), folder=folder,
    )  # fmt: skip


def scheduler(note: Path, port: int = 0) -> subprocess.Popen[bytes]:
    """Start a scheduler that writes its address to the file `note`."""
    return started(
        "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard",
        "--scheduler-file", str(note), folder=note.parent,
    )  # fmt: skip


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """A scheduler with two workers, each in its own process."""
    folder = tmp_path_factory.mktemp("cluster")
    note = folder / "scheduler.json"
    running = [scheduler(note)]
    try:
        until(lambda: note.exists() and note.stat().st_size > 0)
        at = json.loads(note.read_text())["address"]
        running += [worker(at, folder) for _ in range(2)]
        until(lambda: n_workers(at) == 2)
        yield at
    finally:
        for process in running:
            process.kill()
            process.wait()


def until(is_so, patience: float = 240.0) -> None:
    end = time.monotonic() + patience
    while not is_so():
        assert time.monotonic() < end, "the cluster did not come up"
        time.sleep(0.1)


def n_workers(at: str) -> int:
    from distributed import Client

    with Client(at, timeout=240, set_as_default=False) as client:
        return len(client.scheduler_info(n_workers=-1)["workers"])


def test_results_are_those_of_map_in_its_order(address):
    offset = np.random.default_rng(0).normal(size=20_000)
    run = cluster(address)
    got = list(run(partial(summed, offset), range(101)))
    np.testing.assert_array_equal(got, [summed(offset, k) for k in range(101)])
    assert list(run(process_number, [])) == []
    assert os.getpid() not in set(run(process_number, range(20)))


def test_an_error_is_raised_after_the_results_before_it(address):
    results = iter(cluster(address)(failing, range(6)))
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ValueError, match="three is not to be had"):
        next(results)


def test_a_graph_is_the_same_as_built_here(address):
    here, there = (MotionGraph.build(walks(), 0.06, run=run) for run in (map, cluster(address)))
    np.testing.assert_array_equal(here.nodes, there.nodes)
    for name in ("tails", "heads", "clips", "starts", "distances", "moves"):
        np.testing.assert_array_equal(getattr(here.edges, name), getattr(there.edges, name))


def test_a_match_web_is_the_same_as_built_here(address):
    here, there = (MatchWeb.build(walks()[:2], run=run) for run in (map, cluster(address)))
    for ours, theirs in zip(here.pairs, there.pairs, strict=True):
        for name in ("row_counts", "run_first", "run_lengths", "run_bases", "rises"):
            np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))


@pytest.mark.slow("starts a cluster and waits for a dead worker")
def test_a_killed_worker_loses_only_its_own_tasks(address, tmp_path):
    extra = worker(address, tmp_path)
    try:
        until(lambda: n_workers(address) == 3)
        results = cluster(address)(partial(slow_square, str(tmp_path)), range(60))
        got = [next(results) for _ in range(6)]
        os.kill(extra.pid, signal.SIGKILL)
        got += list(results)
    finally:
        extra.kill()
        extra.wait()
    assert got == [k * k for k in range(60)]
    at_work = [line for path in tmp_path.glob("*.done") for line in path.read_text().split()]
    assert len({path.stem for path in tmp_path.glob("*.done")} - {str(extra.pid)}) == 2
    assert 60 <= len(at_work) < 60 + 30, "what the others had done was done again"


@pytest.mark.slow("starts a cluster twice")
def test_a_restarted_scheduler_and_a_new_worker_finish_the_work(tmp_path):
    note = tmp_path / "scheduler.json"
    running = [scheduler(note)]
    try:
        until(lambda: note.exists() and note.stat().st_size > 0)
        at = json.loads(note.read_text())["address"]
        running.append(worker(at, tmp_path))
        until(lambda: n_workers(at) == 1)
        results = cluster(at)(partial(slow_square, str(tmp_path)), range(40))
        got = [next(results) for _ in range(3)]
        for process in running:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
        running += [scheduler(note, int(at.rpartition(":")[2])), worker(at, tmp_path)]
        got += list(results)
    finally:
        for process in running:
            process.kill()
            process.wait()
    assert got == [k * k for k in range(40)]
    assert len(list(tmp_path.glob("*.done"))) == 2


def test_errors_of_the_cluster_are_reported():
    with pytest.raises(
        InvalidValue, match=r"address must be that of a Dask scheduler, such as tcp://10.0.0.5:8786, not ''"
    ):
        cluster("")
    with pytest.raises(InvalidValue, match="patience must be greater than 0 seconds, not 0.0"):
        cluster("tcp://127.0.0.1:1", patience=0.0)
    with pytest.raises(
        MareyError, match=r"no Dask scheduler answers at 'tcp://127.0.0.1:9'.*check the address and port"
    ):
        list(cluster("tcp://127.0.0.1:9", patience=0.5)(abs, [1]))


def test_a_library_is_summarized_as_here(address, tmp_path):
    folder = folder_of_walks(tmp_path / "clips", 3)
    there = MotionSet.open(folder, cache=tmp_path / "there").summarize(run=cluster(address))
    here = MotionSet.open(folder, cache=tmp_path / "here").summarize()
    assert [clip.to_dict() for clip in there] == [clip.to_dict() for clip in here]
    assert main(["library", str(folder), "--cache", str(tmp_path / "again"), "--cluster", address]) == 0
