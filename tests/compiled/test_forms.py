"""Results have the same bytes for every form of the kernels, whatever was imported before."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from marey import compiled

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = Path(compiled.__file__).parents[1]
HAS_LIBRARY = compiled.forms().name == "library"
needs_library = pytest.mark.skipif(not HAS_LIBRARY, reason="no library of compiled kernels; run `make kernels`")
FORWARD = """
import numpy as np
from marey import compiled
from marey.core.kinematics_kernels import forward
out = np.empty((1, 2, 3)), np.empty((1, 2, 4))
forward(np.array([-1, 0]), np.ones((1, 2, 3)), np.zeros((1, 3)), np.full((1, 2, 4), 0.5), *out)
print(compiled.forms().name, *out[0][0, 1])
"""


# With the default number of NumPy's threads.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env=ENVIRONMENT | {"PYTHONPATH": f"{PACKAGE.parent}{os.pathsep}{ROOT}"} | environment,
        timeout=1800,
    )


@cache
def results(*modules: str, **environment: str) -> dict[str, list[str]]:
    done = run("-m", "tests.compiled.operations", *modules, **environment)
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


@cache
def both_forms() -> dict[str, Any]:
    done = run("-m", "tests.compiled.both_forms")
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, Any] = json.loads(done.stdout)
    # Only tiles with many undecided cells are swept in float64; tests/compare/test_sweep.py has such clips.
    found["kernels"].pop("marey.compare.sweep_kernels.sweep_rows", None)
    return found


@pytest.mark.slow("runs all operations in a new process")
@needs_library
def test_results_depend_neither_on_imports_nor_on_the_number_of_threads() -> None:
    modules = "numba", "scipy.optimize", "matplotlib.pyplot", "marey.studio.app", "marey.pmg", "marey.layer"
    single = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    bind = "os.sched_setaffinity(0, {0}); " if hasattr(os, "sched_setaffinity") else ""
    start = "runpy.run_module('tests.compiled.operations', run_name='__main__', alter_sys=True)"
    done = run("-c", f"import os, runpy; {bind}{start}", *modules, **single)
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout) == both_forms()["results"]


@pytest.mark.slow("compiles kernels again")
@needs_library
def test_kernels_compiled_at_first_use_give_the_same_bytes(tmp_path: Path) -> None:
    """Compare one group of operations, because compiling takes minutes; `make test-jit` compares all groups."""
    pytest.importorskip("numba")
    groups = [f"--only={name}" for name in os.environ.get("MAREY_JIT_OPERATIONS", "call_on_paths").split()]
    assert results(*groups, MAREY_JIT="1", XDG_CACHE_HOME=str(tmp_path)) == results(*groups)


@pytest.mark.slow("runs every kernel as a Python function, too")
@needs_library
def test_every_kernel_is_called_and_compared() -> None:
    kernels = both_forms()["kernels"]
    assert len(kernels) > 80
    assert {name for name, each in kernels.items() if not each["calls"] or not each["compared"]} == set()


@pytest.mark.slow("runs every kernel as a Python function, too")
@needs_library
def test_the_library_does_what_the_python_functions_do() -> None:
    differ = {name: each["differences"] for name, each in both_forms()["kernels"].items() if each["differences"]}
    assert differ == {}


@pytest.mark.slow("runs every kernel as a Python function, too")
@needs_library
def test_no_kernel_keeps_memory() -> None:
    assert {
        name: each["kept_blocks"] for name, each in both_forms()["kernels"].items() if each["kept_blocks"] != 0
    } == {}


@needs_library
def test_errors_inside_and_at_the_door() -> None:
    from marey import _kernels
    from marey.core.kinematics_kernels import forward_pose
    from marey.find.cells_kernels import transpose_cells

    empty = np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int32), np.empty(0, dtype=np.uint16)
    before = _kernels.count_live_blocks()
    with pytest.raises(MemoryError):
        transpose_cells(*empty, 2**50)
    assert _kernels.count_live_blocks() == before
    with pytest.raises(TypeError, match=r"\.transpose_cells: n_columns: expected a whole number, got float"):
        transpose_cells(*empty, 1.5)
    with pytest.raises(TypeError, match=r"transpose_cells: wrong number of arguments: 3"):
        transpose_cells(*empty)
    pose = np.array([-1]), np.zeros((1, 3)), np.zeros(3), np.ones((1, 4)), np.empty((1, 3))
    fixed = np.empty((1, 4))
    fixed.flags.writeable = False
    with pytest.raises(TypeError, match="forward_pose: world: expected a writable C-contiguous float64 array"):
        forward_pose(*pose, fixed)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Make a copy of the package to edit."""
    to = tmp_path / "src" / "marey"
    shutil.copytree(PACKAGE, to, ignore=shutil.ignore_patterns("__pycache__", "page"))
    return to


@needs_library
def test_a_library_that_is_older_than_a_kernel_is_not_used(copy: Path) -> None:
    pytest.importorskip("numba")
    environment = {"PYTHONPATH": str(copy.parent), "XDG_CACHE_HOME": str(copy.parents[1])}
    done = run("-c", FORWARD, **environment)
    assert done.stdout.split() == ["library", "1.0", "1.0", "1.0"]
    file = copy / "core" / "kinematics_kernels.py"
    text = file.read_text(encoding="utf-8").replace("positions[p, 0] + x", "positions[p, 0] + 2.0 * x")
    file.write_text(text, encoding="utf-8")
    done = run("-c", FORWARD, **environment)
    assert done.stdout.split() == ["jit", "2.0", "1.0", "1.0"]
    assert done.stderr.count("Warning: ") == 1
    assert "the library of compiled kernels is older than their sources; `make kernels` builds it again" in done.stderr


def test_without_library_and_without_numba_the_message_says_what_to_install(copy: Path) -> None:
    for library in copy.glob("_kernels.*"):
        library.unlink()
    hide = "import sys; sys.modules['numba'] = None; "
    done = run("-c", hide + "import marey.samples as s; s.sample('walk').motion.world()", PYTHONPATH=str(copy.parent))
    assert "MissingDependency: " in done.stderr
    assert "pip install marey[jit]" in done.stderr
    command = hide + "sys.argv = ['marey', 'samples', 'out']; from marey.cli.main import run; sys.exit(run())"
    done = run("-c", command, PYTHONPATH=str(copy.parent))
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "pip install marey[jit]" in done.stderr


def test_a_kernel_does_without_a_cache_where_none_can_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    numba = pytest.importorskip("numba")
    from marey.compiled.jit import JitForms

    real, requested = numba.njit, []

    def njit(*functions: Any, **options: Any) -> Any:
        if functions:  # in a module that Numba imports late
            return real(*functions, **options)
        requested.append(options.get("cache", False))
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return real(**options)

    monkeypatch.setattr(numba, "njit", njit)
    with pytest.warns(match=r"Kernels are compiled at first use: testing\."):
        forms = JitForms("testing")

    def double(x: int) -> int:
        return 2 * x

    assert forms.kernel("double", double)(21) == 42
    assert requested == [True, False]


def test_helpers_run_in_compiled_kernels_and_in_python() -> None:
    pytest.importorskip("numba")
    from marey.compiled.jit import JitForms

    with pytest.warns(match=r"Kernels are compiled at first use: testing\."):
        forms = JitForms("testing")

    def double(x: int) -> int:
        return 2 * x

    helper = forms.helper(double)

    def quadruple(x: int) -> int:
        return helper(helper(x))

    assert forms.kernel("quadruple", quadruple)(21) == quadruple(21) == 84
