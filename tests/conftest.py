"""Fixtures that all tests share."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Real capture: the folder named by MAREY_DATA, else ../shared/data beside the checkout."""
    folder = Path(os.environ.get("MAREY_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"no real capture at {folder}; set MAREY_DATA")
    return folder


# Rooms whose tests share clips, graphs and webs that take long to make, and kernels that take long to compile: each
# goes to one worker as a whole. Elsewhere a file does.
_TOGETHER = {"blend", "clean", "control", "find", "graph", "layer", "parametric", "pmg", "register", "store"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    root = Path(__file__).parent
    for item in items:
        where = item.path.relative_to(root)
        group = where.parts[0] if where.parts[0] in _TOGETHER else where.as_posix()
        item.add_marker(pytest.mark.xdist_group(group))
