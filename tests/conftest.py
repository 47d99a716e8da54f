"""Fixtures that all tests share."""

import contextlib
import functools
import gc
import hashlib
import importlib
import os
import pickle
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

# Two workers already use both cores, and a thread pool would delay the start of each of many small processes.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# The studio does not store folders of tests.
os.environ["MAREY_RECENT"] = os.devnull

import numpy as np
import pytest
import scipy

import marey.samples
from marey.samples.body import sample_body
from tests import tiers

with contextlib.suppress(ImportError):  # not installed with the lowest versions
    from hypothesis import HealthCheck, settings

    # Neither load on the machine nor chance decides whether a test passes. Tests may set more than this.
    settings.register_profile(
        "steady", deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
    )
    settings.load_profile("steady")


def pytest_configure(config: pytest.Config) -> None:
    """Tell tests which tier runs, and collect garbage less often, which takes time for nothing here."""
    tiers.is_fast = "not slow" in config.getoption("markexpr")
    gc.set_threshold(50_000, 20, 20)


def hash_generator() -> str:
    """Return a hash of all code that generates samples."""
    source = Path(marey.__file__).parent
    digest = hashlib.sha256(f"{np.__version__} {scipy.__version__}".encode())
    for path in sorted(path for package in ("samples", "core", "maths") for path in (source / package).glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def remember_samples(folder: Path) -> None:
    """Generate the same clip once, not in every test and every process that begins with it; each gets its own copy.

    folder : where clips are stored; those of other versions of the generator are removed. The tests of the samples
    themselves always get new ones.
    """
    generate = marey.samples.sample
    now = folder / hash_generator()
    for old in folder.glob("*"):
        if old != now:
            shutil.rmtree(old, ignore_errors=True)
    now.mkdir(parents=True, exist_ok=True)
    body, _ = sample_body()

    class Writer(pickle.Pickler):
        def persistent_id(self, value: Any) -> str | None:
            return "body" if value is body else None  # all samples share it, with the roles that it has found

    class Reader(pickle.Unpickler):
        def persistent_load(self, name: str) -> Any:
            return body

    @functools.wraps(generate)
    def sample(name: str, **options: Any) -> marey.samples.Sample:
        is_seeded = isinstance(options.get("rng", 0), int)
        if not is_seeded or os.environ.get("PYTEST_CURRENT_TEST", "").startswith("tests/samples/"):
            return generate(name, **options)
        stored = now / hashlib.sha256(pickle.dumps((name, sorted(options.items())))).hexdigest()
        if not stored.exists():
            part = stored.with_suffix(f".{os.getpid()}")
            with part.open("wb") as file:
                Writer(file).dump(generate(name, **options))
            part.replace(stored)
        with stored.open("rb") as file:
            found: marey.samples.Sample = Reader(file).load()
        found.phase.setflags(write=False)
        return found

    marey.samples.sample = marey.samples.samples.sample = sample


remember_samples(Path(__file__).resolve().parents[1] / "build" / "samples")


@pytest.fixture(scope="session", autouse=True)
def _exact_arguments() -> Iterator[None]:
    """Kernels get exactly the arrays of their signatures: converting others would take time in every call."""
    from marey import compiled

    def refuse(value: Any, dtype: str, ndim: int, name: str) -> Any:
        array = np.asarray(value)
        how = "contiguous" if array.flags.c_contiguous else "strided"
        raise AssertionError(f"{name}: expected {dtype} with {ndim} axes, got {how} {array.dtype} with {array.ndim}")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled, "convert_argument", refuse)
        yield


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Real capture: the folder named by MAREY_DATA, else ../shared/data beside the checkout."""
    folder = Path(os.environ.get("MAREY_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"no real capture at {folder}; set MAREY_DATA")
    return folder


# Folders whose tests share clips, graphs and webs that take long to make, or a browser: each goes to one worker as a
# whole. Elsewhere a file does.
_TOGETHER = ("control", "find", "graph", "parametric", "pmg", "store", "studio/browser")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Group tests by path: pytest-xdist up to 3.8 does not see group marks with pytest 9.2."""
    from xdist.scheduler import LoadScopeScheduling

    if config.getoption("dist") != "loadgroup":
        return None

    class ByFolder(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.split("::")[0]
            return next((folder for folder in _TOGETHER if file.startswith(f"tests/{folder}/")), file)

    config.option.loadscopereorder = False  # else groups with many tests come first, however long they take
    return ByFolder(config, log)


def pytest_collectstart(collector: pytest.Collector) -> None:
    """Let every other worker import tests from the end.

    Rewriting assertions takes most of the time of a first collection. So each worker does half of it, as it finds the
    other half in the cache.
    """
    worker = getattr(collector.config, "workerinput", {}).get("workerid", "gw0")
    if isinstance(collector, pytest.Session) and int(worker.removeprefix("gw")) % 2:
        files = (path for each in collector.config.args for path in Path(each).rglob("test_*.py"))
        for path in sorted(files, reverse=True):
            with contextlib.suppress(Exception, pytest.skip.Exception):  # collecting it reports what is wrong
                importlib.import_module(".".join(path.relative_to(collector.config.rootpath).with_suffix("").parts))


def pytest_collection_finish() -> None:
    """Exclude the objects of thousands of collected tests from garbage collection while they run."""
    gc.collect()
    gc.freeze()


def check_slow_marks(nodeid: str, marks: Iterable[pytest.Mark]) -> None:
    """A test is left out of the fast tier only for a stated reason."""
    for mark in marks:
        if len(mark.args) != 1 or mark.kwargs or not (isinstance(mark.args[0], str) and mark.args[0].strip()):
            raise pytest.UsageError(f'{nodeid}: slow takes a reason, as in @pytest.mark.slow("compiles all kernels")')


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start with long groups, so that workers finish together: browser tests, then files outside of folders."""
    for item in items:
        check_slow_marks(item.nodeid, item.iter_markers("slow"))
    items.sort(key=lambda item: (not item.nodeid.startswith("tests/studio/browser/"), item.path.parent.name != "tests"))
