"""Commands write the same bytes whatever was imported, on one thread or several, and nearly so with another BLAS."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.faults import read_all

ROOT = Path(__file__).resolve().parents[2]
# Numbers in files differ by at most this fraction, or this much, between kernels of OpenBLAS.
RELATIVE, ABSOLUTE = 1e-5, 1e-5
# Distances in meters are roots of differences: near 0, they have at most half of the digits.
DISTANCES, DISTANCE = ("costs", "changes"), 1e-4
# Costs of the best pair of frames: of pairs that are equally good, another one may be chosen. At most this fraction of
# the values may differ for this reason.
CHOSEN, TIES = ("changes",), 0.01
_NUMBER = re.compile(rb"-?\d+\.?\d*(?:[eE][-+]?\d+)?")


def run_all(folder: Path, *modules: str, **environment: str) -> dict[str, bytes]:
    """Run all commands in a folder, in a process of its own; return the files and the exit codes."""
    folder.mkdir()
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "-m", "tests.cli.determinism", str(folder), *modules],
        env={**os.environ, "PYTHONPATH": paths, **environment}, capture_output=True, check=True, cwd=ROOT,
    )  # fmt: skip
    files = {name: content for name, content in read_all(folder).items() if ".marey-cache" not in name}
    codes = json.loads(done.stdout)
    assert set(codes.values()) <= {0, 1}, codes
    return {**files, **{line: str(code).encode() for line, code in codes.items()}}


def find_differences(name: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return which values of an array differ by more than their last digits."""
    if a.dtype.kind != "f":
        return np.asarray(a != b)
    return ~np.isclose(a, b, RELATIVE, DISTANCE if name in DISTANCES else ABSOLUTE, equal_nan=True)


def differ(a: bytes, b: bytes, folder: Path) -> bool:
    """Return whether two files differ by more than their last digits."""
    if a == b:
        return False
    if a[:2] == b"PK":
        arrays = []
        for k, content in enumerate((a, b)):
            (folder / f"{k}.npz").write_bytes(content)
            with np.load(folder / f"{k}.npz") as archive:
                arrays.append({name: archive[name] for name in archive.files})
        return arrays[0].keys() != arrays[1].keys() or any(
            x.shape != arrays[1][name].shape
            or np.mean(find_differences(name, x, arrays[1][name])) > (TIES if name in CHOSEN else 0.0)
            for name, x in arrays[0].items()
            if x.size
        )
    first, second = (np.array(_NUMBER.findall(content), dtype=float) for content in (a, b))
    return first.shape != second.shape or not np.allclose(first, second, RELATIVE, ABSOLUTE)


@pytest.mark.slow("runs 48 commands in each of three processes")
def test_commands_write_the_same_bytes_in_every_process(tmp_path: Path) -> None:
    plain = run_all(tmp_path / "plain", PYTHONHASHSEED="0", OPENBLAS_NUM_THREADS="1")
    modules = ("numba", "scipy.optimize", "marey.plot", "marey.control")
    other = run_all(tmp_path / "other", *modules, PYTHONHASHSEED="7", OPENBLAS_NUM_THREADS="2")
    assert len(plain) > 80
    assert [name for name in plain | other if plain.get(name) != other.get(name)] == []
    if platform.machine() == "x86_64":  # an older kernel of OpenBLAS rounds differently
        old = run_all(tmp_path / "old", OPENBLAS_CORETYPE="Nehalem")
        assert old.keys() == plain.keys()
        # Digests of motions in sidecars are the same, because the motions are.
        assert [name for name in plain if differ(plain[name], old[name], tmp_path)] == []
