"""The cache of kernels that are compiled at first use."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from marey.compiled import jit


def test_damaged_files_in_the_cache_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba", reason="the extra `jit` is not installed")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(jit, "read_signature", lambda function: SimpleNamespace(arguments={}))
    damaged = jit._cache_folder() / "bvh" / "kernel.nbi"
    damaged.parent.mkdir(parents=True)
    damaged.touch()

    class Dispatcher:
        def compile(self, types: tuple[object, ...]) -> None:
            if damaged.exists():
                raise EOFError("ran out of input")

        def __call__(self) -> int:
            return 3

    assert jit.JitKernel("three", lambda: 3, Dispatcher())() == 3
    assert not damaged.exists()
