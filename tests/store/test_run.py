"""Runners: the same results in the same order."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from marey.compare import frame_weights, point_clouds
from marey.errors import InvalidValue, MareyError
from marey.graph.minima import find_transitions
from marey.io.temporary import remove_stale
from marey.store import processes, run_on, threads
from marey.store.cluster import _Task as cluster_task
from marey.store.run import cores, pack, unpack
from tests.graph.clips import walks
from tests.store.folders import dying, dying_first, failing, kind_of_memory, process_number, summed, writable

RUNS = [map, threads(3), processes(2)]
NAMES = ["map", "threads", "processes"]


@pytest.mark.parametrize("run", RUNS, ids=NAMES)
def test_results_are_those_of_map_in_its_order(run):
    offset = np.random.default_rng(0).normal(size=20_000)
    got = list(run(partial(summed, offset), range(101)))
    np.testing.assert_array_equal(got, [summed(offset, k) for k in range(101)])
    assert list(run(process_number, [])) == []
    assert list(run(abs, iter([-3, 2]))) == [3, 2]


@pytest.mark.parametrize("run", RUNS, ids=NAMES)
def test_an_error_is_raised_after_the_results_before_it(run):
    results = iter(run(failing, range(6)))
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ValueError, match="three is not to be had"):
        next(results)


@pytest.mark.parametrize("run", RUNS[1:], ids=NAMES[1:])
def test_who_needs_no_more_results_can_leave(run):
    results = run(failing, [0, 1, 2, *range(4, 400)])
    assert next(results) == 0
    results.close()
    with pytest.raises(StopIteration):
        next(results)


def test_processes_are_others_and_map_large_arrays():
    pids = set(processes(2)(process_number, range(40)))
    assert os.getpid() not in pids
    assert set(threads(2)(process_number, range(4))) == {os.getpid()}
    large = np.zeros(2**20 // 8 * 17)
    assert list(processes(1)(partial(writable, large), [0])) == [False]
    assert large.flags.writeable


def test_a_worker_that_dies_costs_only_what_it_had(tmp_path):
    got = list(processes(2)(partial(dying_first, str(tmp_path)), range(8)))
    assert got == [k * k for k in range(8)]
    assert sorted(int(mark.name) for mark in tmp_path.iterdir()) == [1, 4, 7]


def test_arrays_are_mapped_from_one_file_and_tasks_stay_small(tmp_path):
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=(n, 3)) for n in (2, 20_000, 5_000)] + [rng.random((300, 400)) > 0.5]
    function = partial(kind_of_memory, arrays)
    task = pack(function, tmp_path)
    assert len(task) < 2_000
    assert [path.name for path in tmp_path.iterdir()] == ["arrays"]
    copy = unpack(task)
    got = list(processes(2)(function, range(4)))
    for k, array in enumerate(arrays):
        kind, is_writable, total = got[k]
        assert total == array.sum() == copy(k)[2]
        assert (kind == "mmap") == (array.nbytes >= 2**16)
        assert is_writable == (array.nbytes < 2**16)


def test_tasks_that_cannot_be_sent_or_run_are_reported():
    with pytest.raises(
        InvalidValue,
        match="worker processes can only run a top-level function of a module, with values that can be pickled",
    ):
        next(processes(2)(lambda item: item, [1]))
    with pytest.raises(MareyError, match="a worker process ended unexpectedly"):
        list(processes(1)(dying, [1]))
    for make in (threads, processes, run_on):
        with pytest.raises(InvalidValue, match="n, the number of workers, must be at least 1, not 0"):
            make(0)
        with pytest.raises(InvalidValue, match="n, the number of workers, must be an integer, not 1.5"):
            make(1.5)


def test_one_core_is_map_and_none_is_all():
    assert run_on() is map
    assert run_on(1) is map
    assert run_on(3) == processes(3)
    assert processes().n == threads().n == cores() >= 1
    assert run_on(None) == (map if cores() == 1 else processes())


def test_blocks_of_grids_are_the_same_with_every_runner():
    clouds = [point_clouds(motion[:150]) for motion in walks()[:2]]
    weights = frame_weights(0.5, 30.0, "triangle")
    found = [find_transitions(clouds, weights, None, max_memory=2**20, run=run) for run in RUNS]
    for other in found[1:]:
        for name in ("clips", "frames", "distances", "transforms"):
            np.testing.assert_array_equal(getattr(found[0], name), getattr(other, name))


@pytest.mark.slow("starts three processes and kills one")
@pytest.mark.skipif(not os.path.isdir("/proc"), reason="looks for processes in /proc")
def test_workers_end_when_their_parent_is_killed(tmp_path):
    code = (
        "from functools import partial\nfrom marey.store import processes\n"
        "from tests.store.folders import slow_square\n"
        f"if __name__ == '__main__': list(processes(2)(partial(slow_square, {str(tmp_path)!r}), range(10**5)))"
    )
    (tmp_path / "main.py").write_text(code)
    folder = tmp_path / "temporary"  # a folder of its own: other processes may sweep the system's folder at any time
    folder.mkdir()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": str(folder)}
    parent = subprocess.Popen([sys.executable, tmp_path / "main.py"], env=environment)
    end = time.monotonic() + 240
    while len(workers := [int(path.stem) for path in tmp_path.glob("*.done")]) < 2:
        assert time.monotonic() < end, "the workers did not start"
        time.sleep(0.05)
    parent.kill()
    parent.wait()
    while any(os.path.exists(f"/proc/{worker}") for worker in workers):
        assert time.monotonic() < end, "the workers did not end"
        time.sleep(0.05)
    assert remove_stale(folder) >= 1  # the folder of the killed process


def test_a_scheduler_that_dies_is_reported_in_one_sentence():
    class Lost:
        def result(self):
            raise OSError("connection closed by peer")

        def cancel(self):
            pass

    class DeadClient:
        def scatter(self, *_, **__):
            return None

        def submit(self, *_, **__):
            return Lost()

        def scheduler_info(self):
            raise OSError("gone")

    pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
    task = cluster_task(DeadClient(), abs, "tcp://10.0.0.5:8786")
    with pytest.raises(MareyError, match=r"the Dask scheduler at 'tcp://10.0.0.5:8786' stopped answering \(connection"):
        list(task.results([[1, 2]], 1))

    class GoneClient(DeadClient):
        def scatter(self, *_, **__):
            raise OSError("stream is closed")

    with pytest.raises(MareyError, match=r"stopped answering \(stream is closed\); start it"):
        cluster_task(GoneClient(), abs, "tcp://10.0.0.5:8786")

    class EmptyClient(GoneClient):
        scheduler = SimpleNamespace(identity=None)

        def scatter(self, *_, **__):
            raise TimeoutError("no valid workers found")

        def scheduler_info(self):
            return {}

        def sync(self, *_):
            return {}

    with pytest.raises(MareyError, match="workers of the cluster at 'tcp://10.0.0.5:8786' keep ending too early"):
        cluster_task(EmptyClient(), abs, "tcp://10.0.0.5:8786")
