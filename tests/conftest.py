"""Fixtures that all tests share."""

import os
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Real capture: the folder named by MAREY_DATA, else ../shared/data beside the checkout."""
    folder = Path(os.environ.get("MAREY_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"no real capture at {folder}; set MAREY_DATA")
    return folder


# Rooms whose tests share clips, graphs and webs that take long to make, kernels that take long to compile, or a
# browser: each goes to one worker as a whole. Elsewhere a file does.
_TOGETHER = {
    "blend",
    "clean",
    "control",
    "find",
    "graph",
    "layer",
    "parametric",
    "pmg",
    "register",
    "store",
    "studio/browser",
}
# Workers take these from first to last. One compiles the kernels that all rooms need while the other has none to
# compile; then come rooms with kernels of their own, the longest first; last, what uses all of them, in small pieces.
_ORDER = ("blend", "io", "maths", "core", "graph", "layer", "clean", "control", "pmg", "find", "parametric", "register")
_LAST = ("plot", "measure", "samples", "bench", "cli")


def _room(path: str) -> str:
    """'graph' for tests/graph/test_thin.py, with or without the name of a test after it."""
    return path.split("::")[0].split("/")[1]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    def place(item: pytest.Item) -> int:
        room = _room(item.nodeid)
        if room in _ORDER:
            return _ORDER.index(room)
        return len(_ORDER) + 1 + (_LAST.index(room) if room in _LAST else -1)

    items.sort(key=place)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Groups by path: pytest-xdist up to 3.8 does not see the marks of groups with pytest 9.2."""
    from xdist.scheduler import LoadScopeScheduling

    if config.getoption("dist") != "loadgroup":
        return None

    class ByRoom(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.split("::")[0]
            return next((room for room in _TOGETHER if file.startswith(f"tests/{room}/")), file)

    config.option.loadscopereorder = False  # else groups with many tests come first, however long they take
    return ByRoom(config, log)
