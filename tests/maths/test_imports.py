"""The package as a whole: what it exports and imports."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

from marey import maths


def test_maths_exports_its_modules_and_the_ease():
    from marey.maths.ease import ease as from_its_module

    assert maths.ease is from_its_module
    assert {"bspline", "quat", "euler", "rigid2d", "filters", "ease", "ease_in", "ease_slope"} == set(maths.__all__)
    for module in (maths.bspline, maths.quat, maths.euler, maths.rigid2d, maths.filters):
        assert all(hasattr(module, name) for name in module.__all__)


def imported_names(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module


def test_maths_depends_on_numpy_only():
    files = sorted(Path(maths.__file__).parent.glob("*.py"))
    assert len(files) >= 6
    for path in files:
        for name in imported_names(path):
            allowed = name.startswith("marey.maths") or name in ("marey.errors", "marey.compiled")
            top = name.split(".")[0]
            assert allowed or top == "numpy" or top in sys.stdlib_module_names, f"{path.name} imports {name}"
