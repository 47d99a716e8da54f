"""The scripts of the gallery run, and show motions that can be drawn."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from marey.core import Motion
from marey.studio import RenderSettings

DOCS = Path(__file__).parents[1] / "docs"
SCRIPTS = sorted((DOCS / "gallery").glob("*.py"))
QUICK = ("bend_a_path", "mirror", "change_the_timing")
_spec = importlib.util.spec_from_file_location("gallery_pages", DOCS / "gallery_pages.py")
assert _spec is not None
assert _spec.loader is not None
pages = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(pages)


def test_there_are_many_and_each_has_a_title_and_a_text():
    assert len(SCRIPTS) >= 20
    titles = [pages.read_script(script)[0] for script in SCRIPTS]
    assert len(set(titles)) == len(SCRIPTS)
    for script in SCRIPTS:
        title, text, code = pages.read_script(script)
        assert 3 < len(title) < 40
        assert text.endswith(".")
        assert "shown = " in code
        assert len(code.splitlines()) < 40


def check_script(script: Path) -> None:
    motions, options = pages.run_script(script)
    assert motions
    for motion in motions:
        assert isinstance(motion, Motion)
        assert 1.0 < motion.duration < 15.0
        assert np.isfinite(motion.world().positions).all()
    RenderSettings(**options)


@pytest.mark.parametrize("name", QUICK)
def test_quick_scripts_run(name):
    check_script(DOCS / "gallery" / f"{name}.py")


@pytest.mark.slow("runs every script of the gallery")
def test_all_scripts_run():
    for script in SCRIPTS:
        check_script(script)
