"""The Characters panel in a real browser: a node from clips, its costs, an edge, a walk, and a file in the folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import marey
from marey.pmg import ParametricMotionGraph
from marey.pmg.walker import sample_walks
from tests.studio.browser.conftest import Tab

pytestmark = pytest.mark.slow("a whole session in Characters; test_panels.py begins one")

# For each drawing in the panel, the number of different pixel values.
COLORS = """[...document.querySelectorAll('.panel canvas')].map((canvas) => {
  if (!canvas.width) return 0;
  return new Set(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data).size;
})"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two walks, to the right and to the left."""
    at = tmp_path_factory.mktemp("takes")
    for k, walk in enumerate(sample_walks(n_turns=2, speeds=(1.1,), fps=30.0)):
        marey.save(replace(walk, name=f"walk{k}"), at / f"walk{k}.bvh")
    return at


@pytest.fixture
def author(tab: Tab) -> Tab:
    tab.open("walk1.bvh")
    tab.page.get_by_role("tab", name="Characters").click()
    tab.until("() => !!document.querySelector('.panel h3')")
    return tab


def test_a_character_is_made_and_saved(author: Tab, folder: Path) -> None:
    page = author.page
    assert page.locator(".panel input:checked").count() >= 2, "the open motions are chosen"
    page.get_by_role("button", name="Add node").click()
    author.until("() => /built from \\d+ gait cycles/.test(document.querySelector('.panel').textContent)")
    page.get_by_role("button", name="Next: connect walk to itself").click()
    author.until("() => /source motions can transition/.test(document.querySelector('.panel').textContent)")
    colors = author.get(COLORS)
    assert sum(1 for each in colors if each > 5) >= 3, f"graph, costs and box are drawn, not {colors}"
    page.get_by_role("button", name="Connect", exact=True).click()
    author.until("() => [...document.querySelectorAll('.panel .item')].some(b => b.textContent === 'walk → walk')")
    author.until("() => document.querySelector('.panel').textContent.includes('The character can move now')")
    page.get_by_role("button", name="Preview", exact=True).click()
    author.until("() => marey.selected.info.n_frames === 600 && !!marey.selected.character.pose")
    assert author.get("[...marey.motions.values()].filter(({ character }) => character.visible).length") == 1
    page.get_by_label("Character name").fill("mine")
    page.get_by_role("button", name="Save").first.click()
    author.until("() => /Saved mine.json/.test(document.querySelector('#notices').textContent)")
    result = ParametricMotionGraph.load(folder / "mine.json")
    assert (result.name, list(result.edges)) == ("mine", [("walk", "walk")])
