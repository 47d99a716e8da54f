"""The notebooks of the tutorials run from top to bottom, offline, and are stored without outputs."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
NOTEBOOKS = sorted((DOCS / "tutorials").glob("*.ipynb"))
_spec = importlib.util.spec_from_file_location("notebook_pages", DOCS / "notebook_pages.py")
assert _spec is not None
assert _spec.loader is not None
pages = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(pages)


def check_notebook(path: Path) -> None:
    shown = [output for kind, _, output in pages.run_cells(pages.read_cells(path)) if kind == "code"]
    assert sum(bool(output) for output in shown) >= len(shown) - 1  # all but the saving ones show something
    assert any("<iframe" in output or "<svg" in output for output in shown)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_is_a_notebook_without_outputs(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    cells = notebook["cells"]
    assert cells[0]["cell_type"] == "markdown"
    assert cells[0]["source"][0].startswith("# ")
    assert len({cell["id"] for cell in cells}) == len(cells)
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells if "outputs" in cell)


def test_first_notebook_runs():
    check_notebook(DOCS / "tutorials" / "clean_a_sliding_walk.ipynb")


@pytest.mark.slow("runs every notebook")
@pytest.mark.parametrize(
    "path", [path for path in NOTEBOOKS if path.stem != "clean_a_sliding_walk"], ids=lambda p: p.stem
)
def test_all_notebooks_run(path):
    check_notebook(path)


def test_all_are_on_the_site():
    assert sorted(pages.ORDER) == [path.stem for path in NOTEBOOKS]
