"""A wheel has the compiled kernels and the studio's page inside."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from marey import compiled

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.skipif(compiled.forms().name != "library", reason="no library of compiled kernels; run `make kernels`")
def test_a_wheel_holds_the_kernels_the_page_and_the_stubs(tmp_path: Path) -> None:
    pytest.importorskip("hatchling")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "is built without" not in done.stdout + done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    assert "-cp311-abi3-" in wheel.name
    names = set(zipfile.ZipFile(wheel).namelist())
    assert names & {"marey/_kernels.abi3.so", "marey/_kernels.pyd"}
    assert {"marey/studio/page/app.js", "marey/__init__.pyi", "marey/py.typed"} <= names
