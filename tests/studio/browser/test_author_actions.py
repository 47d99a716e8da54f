"""Characters and Drive in a real browser: nodes of actions, recipes, and actions of a blend tree."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import marey
from marey.parametric import ParametricMotion
from marey.samples import sample
from tests.studio.browser.conftest import Tab

pytestmark = pytest.mark.slow("builds nodes and characters in a browser; test_panel_author.py does it without")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four punches, and a target control that was saved in Find."""
    place = tmp_path_factory.mktemp("punches")
    points = [(0.0, 1.3, 0.6), (0.25, 1.5, 0.6), (0.3, 1.2, 0.55), (0.1, 1.4, 0.75)]
    punches = [sample("punch", fps=30.0, **dict(zip("xyz", each, strict=True))).motion for each in points]
    named = [replace(punch, name=f"punch{k}") for k, punch in enumerate(punches)]
    for punch in named:
        marey.save(punch, place / f"{punch.name}.bvh")
    ParametricMotion.build(named, "position:right_hand@farthest", samples=0, crop=None).save(place / "jab.npz")
    return place


def test_punches_and_saved_targets_become_nodes_and_recipes_are_saved(tab: Tab, folder: Path) -> None:
    for k in range(4):
        tab.open(f"punch{k}.bvh")
    page = tab.page
    page.get_by_role("tab", name="Characters").click()
    tab.until("() => !!document.querySelector('.panel h3')")
    page.get_by_label("Type of clips").select_option("action")
    page.get_by_label("Node name").fill("punch")
    page.get_by_role("button", name="Add node").click()
    tab.until("() => /built from 4 examples/.test(document.querySelector('.panel').textContent)")
    page.get_by_label("Start from").select_option("space:jab.npz")
    tab.until("() => [...document.querySelectorAll('.panel .item')].some(b => b.textContent === 'jab')")
    assert "controlled by a target point" in _open_node(tab, "jab")
    page.get_by_label("Start from").select_option("recipe:right-turner")
    tab.until("() => [...document.querySelectorAll('.panel .item')].some(b => b.textContent === 'walk → walk')")
    page.get_by_label("Character name").fill("mine")
    page.get_by_role("button", name="Save recipe").click()
    tab.until("() => /Saved mine.toml/.test(document.querySelector('#notices').textContent)")
    assert "[[nodes]]" in (folder / "mine.toml").read_text(encoding="utf-8")


def test_a_blend_tree_offers_its_actions(tab: Tab) -> None:
    page = tab.page
    page.get_by_role("tab", name="Drive").click()
    tab.until("() => !!document.querySelector('.panel h3')")
    page.get_by_label("Controller").select_option("tree")
    page.get_by_role("button", name="Start").first.click()
    tab.until("() => [...document.querySelectorAll('.panel select option')].some(o => o.textContent === 'throw (1)')")
    page.get_by_label("Action").select_option("throw")


def _open_node(tab: Tab, name: str) -> str:
    tab.page.get_by_role("button", name=name, exact=True).click()
    return str(tab.get("document.querySelector('.panel').textContent"))
