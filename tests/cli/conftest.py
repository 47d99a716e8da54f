"""Fixtures of commands: their clips and plots."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from matplotlib.layout_engine import ConstrainedLayoutEngine


@pytest.fixture(scope="package", autouse=True)
def _plain_layout() -> Iterator[None]:
    """Draw plots without arranging their axes, which takes longer than everything else; tests/plot covers arranged
    axes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ConstrainedLayoutEngine, "execute", lambda *_: None)
        yield


@pytest.fixture
def clips(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Copy the test module's `folder` and make the copy the current folder."""
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path
