"""A wheel contains the compiled kernels and the studio's page."""

from __future__ import annotations

import importlib
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


def test_linux_wheels_ask_for_the_oldest_c_library_that_works(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("hatchling")
    monkeypatch.syspath_prepend(str(ROOT))
    find_platform = importlib.import_module("hatch_build").find_platform
    library = b"..GLIBC_2.2.5\0GLIBC_2.35\0GLIBC_2.29\0"
    assert find_platform("manylinux_2_39_x86_64", library) == "manylinux_2_35_x86_64"
    assert find_platform("manylinux_2_39_aarch64", b"GLIBC_2.2.5") == "manylinux_2_17_aarch64"
    assert find_platform("linux_x86_64", library) == "manylinux_2_35_x86_64"
    assert find_platform("macosx_14_0_arm64", library) == "macosx_14_0_arm64"
