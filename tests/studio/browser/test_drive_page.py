"""The exported page in a real browser: it plays the same motion as Python, and responds to keys, clicks and touch."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from marey.control import SampledCharacter
from marey.studio import drive_page
from tests.control.test_sampled import hitter, small

from .conftest import Tab, draw_coarsely, new_tab

COMMANDS: list[dict[str, Any]] = [
    {"direction": 2.0},
    {"point": [1.0, 3.0]},
    {"wander": True},
    {},
    {"direction": -0.5, "speed": 9.0},
]
ACTIONS = [{"node": "hit"}, {"target": [0.5, 1.2, 2.0]}]
PLAY = """([seed, commands]) => {
  const player = mareyPlayer(seed);
  return commands.flatMap((command) => {
    player.request(command);
    return Array.from({ length: 45 }, () => Array.from(player.world(player.frame()).positions));
  });
}"""


def open_page(browser: Any, tmp_path: Path, char: SampledCharacter, **options: Any) -> Tab:
    (tmp_path / "char.html").write_bytes(drive_page(char))
    tab = new_tab(browser, **options)
    tab.page.goto((tmp_path / "char.html").as_uri())
    tab.until("() => window.marey?.stage.drawn > 1")
    draw_coarsely(tab)
    return tab


@pytest.fixture
def tab(browser: Any, tmp_path: Path) -> Iterator[Tab]:
    opened = open_page(browser, tmp_path, small())
    yield opened
    assert opened.complaints == []
    opened.page.context.close()


def play_both(tab: Tab, char: SampledCharacter, commands: list[dict[str, Any]]) -> float:
    """Return the largest distance in meters between the joints in the page and in Python."""
    shown = np.array(tab.page.evaluate(PLAY, [5, commands]))
    stream = char.stream(rng=5)
    motions = []
    for command in commands:
        stream.request(**command)
        motions.append(stream.record(n_frames=45).world().positions)
    expected = np.concatenate(motions)
    return float(np.linalg.norm(shown.reshape(expected.shape) - expected, axis=2).max())


def test_the_page_plays_the_same_motion_as_python(tab: Tab, tmp_path: Path) -> None:
    small().save(tmp_path / "char.json")
    again = SampledCharacter.load(tmp_path / "char.json")
    assert play_both(tab, again, COMMANDS) < 1e-6
    assert play_both(tab, small(), COMMANDS) < 1e-3


def test_actions_are_the_same(browser: Any, tmp_path: Path) -> None:
    opened = open_page(browser, tmp_path, hitter())
    assert play_both(opened, hitter(), [*COMMANDS[:1], *ACTIONS, *COMMANDS[1:]]) < 1e-3
    assert opened.page.locator(".actions button").all_inner_texts() == ["glide", "hit", "Hit the ball"]
    opened.page.get_by_role("button", name="hit", exact=True).click()
    assert opened.get("marey.player.pending || marey.player.node === 'hit'")
    opened.page.keyboard.press("Space")
    assert opened.get("marey.player.pending")
    assert opened.complaints == []
    opened.page.context.close()


def test_keys_and_clicks_steer(tab: Tab) -> None:
    tab.page.keyboard.down("KeyA")
    tab.until("() => marey.player.steering.direction !== undefined")
    slow = tab.get("marey.player.steering.speed")
    tab.page.keyboard.down("Shift")
    assert tab.get("marey.player.steering.speed") >= slow
    tab.page.keyboard.up("Shift")
    tab.page.keyboard.up("KeyA")
    tab.until("() => Object.keys(marey.player.steering).length === 0")
    tab.page.mouse.click(200, 450)
    tab.until("() => marey.player.steering.point !== undefined")
    tab.until("() => Math.hypot(marey.positions[0], marey.positions[2]) > 0.3")
    assert tab.page.locator("h1").inner_text() == "walker"


def test_a_finger_moves_the_stick(browser: Any, tmp_path: Path) -> None:
    opened = open_page(
        browser, tmp_path, small(), viewport={"width": 390, "height": 664}, has_touch=True, is_mobile=True
    )
    box = opened.page.locator(".stick").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    opened.page.mouse.move(x, y)
    opened.page.mouse.down()
    opened.page.mouse.move(x + 40, y)
    opened.until("() => marey.player.steering.direction !== undefined")
    opened.page.mouse.up()
    opened.until("() => marey.player.steering.direction === undefined")
    assert opened.get("document.documentElement.scrollWidth <= innerWidth")
    assert opened.complaints == []
    opened.page.context.close()
