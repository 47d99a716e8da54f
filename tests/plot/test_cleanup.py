"""Feet before and after a cleanup."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from marey.clean import clean
from marey.core import Motion
from marey.errors import InvalidValue, UnknownName
from marey.plot.cleanup import before_after, draw_before_after
from marey.plot.style import LEFT, NOTE
from tests.plot.pictures import WALK, png_size

DRIFTING = replace(WALK, root_positions=WALK.root_positions + np.arange(len(WALK))[:, None] * [0.002, 0.0, 0.0])


@pytest.fixture(scope="module")
def held() -> Motion:
    return clean(DRIFTING)


def test_two_panels_for_each_point_with_both_curves_and_bands(held: Motion) -> None:
    figure = draw_before_after(DRIFTING, held)
    assert len(figure.axes) == 8
    assert held.contacts is not None
    for k, name in enumerate(held.contacts.names):
        high, fast = figure.axes[2 * k : 2 * k + 2]
        assert high.get_title(loc="left") == name.replace("_", " ").capitalize()
        for panel in (high, fast):
            before, after = panel.lines[:2]
            assert (before.get_label(), after.get_label()) == ("before", "after")
            assert before.get_color() == NOTE
            assert len(before.get_xdata()) == len(after.get_xdata()) == len(WALK)
        # In the middle of a plant, the foot drifted at 0.12 m/s and now stands still.
        start, stop = max(held.contacts.intervals(name), key=lambda span: span[1] - span[0])
        middle = (start + stop) // 2
        assert fast.lines[0].get_ydata()[middle] == pytest.approx(0.12, abs=0.02)
        assert fast.lines[1].get_ydata()[middle] < 1e-3
        assert high.lines[1].get_ydata()[middle] == pytest.approx(0.0, abs=0.01)


def test_heights_are_shown_as_far_up_as_a_point_is_planted(held: Motion) -> None:
    """Return a walk across a platform: 10 cm above the floor counts as high there, but not on the platform."""
    assert {panel.get_ylim()[1] for panel in draw_before_after(DRIFTING, held).axes[::2]} == {10.0}
    assert held.source.floor is not None
    lower = replace(held, source=replace(held.source, floor=held.source.floor - 0.3))
    for panel in draw_before_after(DRIFTING, lower).axes[::2]:
        assert panel.get_ylim()[1] > 33.0
        assert panel.lines[1].get_ydata().min() < 31.0
    # Only what is shown counts: a swing of the left ball contains no plant.
    assert held.contacts is not None
    (_, leaves), (lands, _) = held.contacts.intervals("left_ball")[:2]
    swing = draw_before_after(DRIFTING, lower, points=["left_ball"], start=leaves, stop=lands)
    assert swing.axes[0].get_ylim()[1] == 10.0


def test_some_points_and_frames(held: Motion, tmp_path: Path) -> None:
    figure = draw_before_after(DRIFTING, held, points=["left_ball"], start=20, stop=80)
    assert len(figure.axes) == 2
    assert figure.axes[0].lines[1].get_color() == LEFT
    assert figure.axes[0].get_xlim() == (20 / 60, 79 / 60)
    before_after(DRIFTING, held, tmp_path / "feet.png", points=["left_heel", "left_ball"])
    assert png_size(tmp_path / "feet.png")[0] == 1800


def test_what_cannot_be_drawn(held: Motion) -> None:
    with pytest.raises(InvalidValue, match="must have the same number of frames"):
        draw_before_after(DRIFTING, held[:50])
    with pytest.raises(UnknownName, match="no contact point 'left_bal'; there are left_heel, .*'left_ball'"):
        draw_before_after(DRIFTING, held, points=["left_bal"])
    assert held.contacts is not None
    nothing = replace(held, contacts=replace(held.contacts, mask=np.zeros_like(held.contacts.mask)))
    with pytest.raises(InvalidValue, match="there are no contacts"):
        draw_before_after(DRIFTING, nothing)
