"""Plots of the targets that a space of motions reaches."""

from __future__ import annotations

import numpy as np
import pytest

from marey.errors import InvalidValue, UnknownFormat
from marey.parametric import ParametricMotion
from marey.plot.parametric import draw_reachable, draw_target_motions, reachable, size_text, target_motions
from tests.find_medleys import kick_space, kicks


def test_a_place_is_seen_from_three_sides_with_examples_and_samples():
    space = kick_space()
    figure = draw_reachable(space)
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["from the side", "from behind", "from above"]
    for axes, (i, j) in zip(figure.axes, [(2, 1), (0, 1), (2, 0)], strict=True):
        samples, examples = axes.collections
        np.testing.assert_allclose(samples.get_offsets(), space.samples[:, [i, j]])
        np.testing.assert_allclose(examples.get_offsets(), space.parameters[:, [i, j]])


def test_requests_and_results_are_joined():
    space = kick_space()
    targets = space.samples[[7, 9]] + [0.0, 0.01, 0.0]
    figure = draw_reachable(space, targets=targets)
    join, requested, got = figure.axes[0].get_lines()[:3]
    np.testing.assert_allclose(requested.get_xydata()[0], targets[0][[2, 1]])
    reached = space.synthesize(targets[0]).reached
    np.testing.assert_allclose(got.get_xydata()[0], reached[[2, 1]])
    np.testing.assert_allclose(join.get_xydata(), [targets[0][[2, 1]], reached[[2, 1]]])
    assert any("off on average" in text.get_text() for text in figure.texts)


def test_one_and_two_parameters_have_one_panel():
    found = kicks()
    one = ParametricMotion.build(found, "position:right_ball:y", samples=60)
    figure = draw_reachable(one, targets=[[float(one.parameters.mean())]])
    assert len(figure.axes) == 1
    assert [tick.get_text() for tick in figure.axes[0].get_yticklabels()] == ["samples", "examples", "request"]
    np.testing.assert_allclose(figure.axes[0].get_lines()[1].get_xdata(), one.parameters[:, 0])
    two = ParametricMotion.build(found, "position:right_ball:y,duration", samples=60)
    assert len(draw_reachable(two).axes) == 1


def test_aimed_kicks_meet_their_crosses():
    space = kick_space()
    targets = space.samples[[3, 8, 11]]
    figure = draw_target_motions(space, targets, refine=True)
    assert len(figure.axes) == 3
    for axes in figure.axes:
        (cross,) = [line for line in axes.get_lines() if line.get_marker() == "x"]
        pose = max(axes.collections, key=lambda lines: lines.get_zorder())
        ends = np.concatenate([np.asarray(segment) for segment in pose.get_segments()])
        # The pose is that at the motion's own moment, which is near the moment of the blended examples.
        assert np.linalg.norm(ends - cross.get_xydata()[0], axis=1).min() < 0.05


def test_sizes_have_readable_units():
    assert size_text(0.0012, "m") == "1.2 mm"
    assert size_text(0.034, "m") == "3.4 cm"
    assert size_text(np.pi / 2, "rad") == "90 degrees"
    assert size_text(0.5, "s") == "0.5 s"


def test_bad_use(tmp_path):
    space = kick_space()
    with pytest.raises(InvalidValue, match="targets must have 3 numbers each"):
        draw_target_motions(space, [[1.0, 2.0]])
    with pytest.raises(InvalidValue, match="targets must be 1 to 8, not 9"):
        draw_target_motions(space, np.tile(space.samples[0], (9, 1)))
    for draw in (lambda: reachable(space, tmp_path / "a.pdf"), lambda: target_motions(space, space.samples[:1], "a")):
        with pytest.raises(UnknownFormat, match=r"\.png or \.svg"):
            draw()
    assert not list(tmp_path.iterdir())
