"""Pages of the tutorials: each notebook in docs/tutorials, run from top to bottom, with what its cells show."""

from __future__ import annotations

import ast
import contextlib
import hashlib
import html
import io
import json
import os
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import marey

NOTEBOOKS = Path(__file__).with_name("tutorials")
# In the order in which a reader needs them.
ORDER = (
    *("clean_a_sliding_walk", "blend_two_clips", "walk_through_a_motion_graph", "find_and_aim", "splice_and_look"),
    *("drive_a_character", "use_your_own_files", "prepare_motion_for_a_robot", "search_thousands_of_clips"),
)


def read_cells(path: Path) -> list[tuple[str, str]]:
    """Return the kind, "markdown" or "code", and the text of each cell."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [(cell["cell_type"], "".join(cell["source"])) for cell in cells]


def run_cells(cells: list[tuple[str, str]]) -> Iterator[tuple[str, str, str]]:
    """Run the cells in an empty folder; yield the kind, the text and the output (HTML, "" for none) of each."""
    names: dict[str, Any] = {}
    back = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        os.chdir(folder)
        try:
            for kind, text in cells:
                yield kind, text, _run_cell(text, names) if kind == "code" else ""
        finally:
            os.chdir(back)


def _run_cell(code: str, names: dict[str, Any]) -> str:
    """Run a cell; return what it printed, and what a notebook shows for its last expression, as HTML."""
    tree = ast.parse(code)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "<cell>", "exec"), names)
        value = None if last is None else eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
    shown = f"<pre>{html.escape(printed.getvalue())}</pre>" if printed.getvalue() else ""
    if value is not None:
        draw = getattr(value, "_repr_html_", None)
        shown += draw() if draw else f"<pre>{html.escape(repr(value))}</pre>"
    return shown


def write_tutorials(folder: Path) -> None:
    """Write a page for each notebook, and an overview. Run only notebooks that changed, or all for another version."""
    folder.mkdir(parents=True, exist_ok=True)
    notebooks = [NOTEBOOKS / f"{name}.ipynb" for name in ORDER]
    for notebook in notebooks:
        page = folder / f"{notebook.stem}.md"
        end = (
            f"This page is a Jupyter notebook, {{download}}`{notebook.name} <../../tutorials/{notebook.name}>`. To run "
            f"and change it, install Jupyter with `pip install jupyterlab`, then start `jupyter lab {notebook.name}`."
        )
        key = hashlib.sha256(f"{marey.__version__}{end}".encode() + notebook.read_bytes()).hexdigest()[:16]
        if page.exists() and key in page.read_text(encoding="utf-8")[:100]:
            continue
        lines = [f"% {key}"]
        for kind, text, output in run_cells(read_cells(notebook)):
            lines += ["", text] if kind == "markdown" else ["", "```python", text, "```"]
            if output:
                lines += ["", "```{raw} html", output, "```"]
        lines += ["", end]
        page.write_text("\n".join(lines) + "\n", encoding="utf-8")
    index = ["# Tutorials", "", "Notebooks that run as they are, on generated motion.", ""]
    index += ["```{toctree}", ":maxdepth: 1", "", *(notebook.stem for notebook in notebooks), "```", ""]
    (folder / "index.md").write_text("\n".join(index), encoding="utf-8")


if __name__ == "__main__":  # python docs/notebook_pages.py FOLDER
    write_tutorials(Path(sys.argv[1]))
