"""Plots of registered motions: the right bars, paths and curves, for every kind of registration."""

import gc
import weakref
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure

from marey.errors import InvalidValue, UnknownFormat
from marey.plot import registration as figures
from marey.plot import style
from marey.plot.style import DPI, WIDTH
from marey.register.curves import AlignmentCurve, TimewarpCurve
from marey.register.matches import ConstraintMatch
from marey.register.registration import RegistrationCurve
from marey.samples import sample, straight_walk
from tests.plot.pictures import in_place, png_size, svg_size, under_resting_root
from tests.tiers import mostly_slow

WALK = replace(straight_walk(seconds=2.0), name="walk")
SLOW = replace(straight_walk(speed=0.9, seconds=3.0), name="_slow")


def registered(*motions, matches=(), cyclic=False):  # type: ignore[no-untyped-def]
    """A hand-made registration: time advances evenly in all motions, and the others are rotated by a quarter of a
    radian."""
    n = len(motions)
    durations = np.array([motion.duration for motion in motions])
    timewarp = TimewarpCurve.fit(np.linspace(0.0, 1.0, 40)[:, None] * durations, cyclic=cyclic)
    moves = np.zeros((40, n, 3))
    moves[:, 1:, 0] = 0.25
    loops = np.zeros((n, 3)) if cyclic else None
    alignment = AlignmentCurve.fit(moves, loops=loops)
    crops = np.array([[0, len(motion)] for motion in motions])
    distances = np.array([0.0, *[0.08] * (n - 1)])
    return RegistrationCurve(motions, timewarp, alignment, matches, 0, 0.08, distances, cyclic, loops, (), crops)


def matched() -> RegistrationCurve:
    pairs = (
        ConstraintMatch("left_heel", [0.10, 0.12], [0.20, 0.22]),
        ConstraintMatch("left_heel", [0.60, 0.55], [0.70, 0.75]),
        ConstraintMatch("right_ball", [0.40, 0.42], [0.50, 0.55]),
    )
    return registered(WALK, SLOW, matches=pairs)


REGISTERED = matched()


def bars(figure: Figure, gid: str) -> list[tuple[float, float]]:
    """Return (start, stop) of all bars with this name."""
    out = []
    for axes in figure.axes:
        for part in axes.collections:
            if isinstance(part, PolyCollection) and part.get_gid() == gid:
                out += [(path.vertices[:, 0].min(), path.vertices[:, 0].max()) for path in part.get_paths()]
    return out


def lines(figure: Figure, gid: str) -> list[np.ndarray]:
    return [line.get_xydata() for axes in figure.axes for line in axes.lines if line.get_gid() == gid]


def drawn(kind: str) -> Figure:
    draw = {
        "matches": lambda: figures.draw_matches(REGISTERED),
        "blend_paths": lambda: figures.draw_blend_paths([WALK, SLOW], {"one": WALK, "other": SLOW}),
        "foot_heights": lambda: figures.draw_foot_heights([WALK, SLOW], WALK, registration=REGISTERED),
        "timewarp": lambda: figures.draw_timewarp(REGISTERED),
    }
    return draw[kind]()


def write(kind: str, path: Path) -> None:
    if kind == "blend_paths":
        figures.blend_paths([WALK, SLOW], {"one": WALK, "other": SLOW}, path)
    elif kind == "foot_heights":
        figures.foot_heights([WALK, SLOW], WALK, path, registration=REGISTERED)
    else:
        getattr(figures, kind)(REGISTERED, path)


KINDS = ("matches", "blend_paths", "foot_heights", "timewarp")


@pytest.mark.parametrize("kind", mostly_slow(KINDS, "writes two files of another kind", n_fast=1))
def test_plots_are_complete_have_their_size_are_reproducible_and_freed(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    width, height = drawn(kind).get_size_inches()
    assert width == WIDTH
    assert 2.0 <= height <= 6.6
    seen = []
    inner = style.write_figure

    def spy(figure: Figure, path: Path) -> None:
        seen.append(weakref.ref(figure))
        inner(figure, path)

    monkeypatch.setattr(style, "write_figure", spy)
    names = ("a.svg", "b.svg", "a.png")[: 3 if kind == KINDS[0] else 2]
    for name in names:
        write(kind, tmp_path / name)
    gc.collect()
    assert [each() for each in seen] == len(names) * [None]
    if "a.png" in names:
        assert png_size(tmp_path / "a.png") == (1800, pytest.approx(height * DPI, abs=1.0))
    assert svg_size(tmp_path / "a.svg") == pytest.approx((72 * width, 72 * height), abs=0.1)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    with pytest.raises(UnknownFormat, match="a plot is saved as .png or .svg"):
        write(kind, tmp_path / "a.gif")


# Constraint matches ------------------------------------------------------------------------------------------------


def test_contacts_and_matches_are_bars_over_common_time() -> None:
    figure = figures.draw_matches(REGISTERED)
    shown = bars(figure, "contact left_heel")
    truth = []
    for motion in (WALK, SLOW):
        assert motion.contacts is not None
        edges = np.array(motion.contacts.intervals("left_heel")) - 0.5
        truth += (edges / motion.fps / motion.duration).tolist()
    np.testing.assert_allclose(sorted(shown), sorted(map(tuple, truth)), atol=1e-3)
    np.testing.assert_allclose(
        sorted(bars(figure, "match left_heel")), [(0.10, 0.20), (0.12, 0.22), (0.55, 0.75), (0.60, 0.70)]
    )
    assert len(bars(figure, "match right_ball")) == 2
    assert bars(figure, "match right_heel") == []
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["walk", "\u200a_slow", "in no match"]


def test_a_contact_without_a_match_is_hollow() -> None:
    def hollow(figure: Figure) -> int:
        return sum(
            bool((part.get_facecolor() == 1.0).all())
            for axes in figure.axes
            for part in axes.collections
            if str(part.get_gid()).startswith("contact")
        )

    total = sum(
        len(motion.contacts.intervals(name))
        for motion in (WALK, SLOW)
        for name in motion.contacts.names  # type: ignore[union-attr]
    )
    none = registered(WALK, SLOW)
    assert hollow(figures.draw_matches(none)) == total
    everything = tuple(
        ConstraintMatch(name, [-0.1, -0.1], [1.1, 1.1])
        for name in ("left_heel", "left_ball", "right_heel", "right_ball")
    )
    assert hollow(figures.draw_matches(registered(WALK, SLOW, matches=everything))) == 0


def test_many_motions_loops_and_motions_without_contacts() -> None:
    many = registered(WALK, SLOW, *[WALK] * 7)
    assert figures.draw_matches(many).get_size_inches()[1] > drawn("matches").get_size_inches()[1]
    across = ConstraintMatch("left_heel", [0.9, 0.9], [1.2, 1.1])
    loops = replace(registered(WALK, SLOW, cyclic=True), matches=(across,))
    assert figures.draw_matches(loops).axes[0].get_xlim()[1] > 1.2
    one = registered(WALK, replace(SLOW, contacts=None))
    assert len(bars(figures.draw_matches(one), "contact left_heel")) > 0
    none = registered(replace(WALK, contacts=None), replace(SLOW, contacts=None))
    with pytest.raises(InvalidValue, match="none of the registered motions has a contact"):
        figures.draw_matches(none)


# From above --------------------------------------------------------------------------------------------------------


def test_paths_and_triangles_show_position_and_facing() -> None:
    left = sample("walk", seconds=4.0, turn_rate=0.5, variation=0.0).motion
    figure = figures.draw_blend_paths([left], {"blend": WALK}, every=1.0)
    np.testing.assert_allclose(lines(figure, "input 0")[0], left.travel[:, [2, 0]], atol=1e-12)
    np.testing.assert_allclose(lines(figure, "blend")[0], WALK.travel[:, [2, 0]], atol=1e-12)
    axes = figure.axes[0]
    inputs = [patch for patch in axes.patches if patch.get_gid() == "facing input 0"]
    assert len(inputs) == 5  # each second from 0 to 4
    headings = []
    for patch in inputs:
        tip, one, other = patch.get_xy()[:3]
        ahead = tip - 0.5 * (one + other)
        headings.append(np.arctan2(ahead[1], ahead[0]))
    turned = np.diff(np.unwrap(headings))
    assert (np.abs(turned - 0.5) < 0.25).all()  # hips and shoulders sway about 0.5 rad/s
    low, high = axes.get_xlim(), axes.get_ylim()
    box = axes.get_position()
    wide, tall = WIDTH * box.width, figure.get_size_inches()[1] * box.height
    assert (low[1] - low[0]) / wide == pytest.approx((high[1] - high[0]) / tall)  # meters are equal on both axes


def test_panels_share_one_scale() -> None:
    figure = figures.draw_blend_paths([], {"a": WALK, "b": SLOW, "c": in_place()})
    assert len({axes.get_xlim() for axes in figure.axes}) == 1
    assert len({axes.get_ylim() for axes in figure.axes}) == 1
    assert figures.draw_blend_paths([under_resting_root()], {"a": WALK[3]})
    with pytest.raises(InvalidValue, match="blends must contain one to four blends, not 0"):
        figures.draw_blend_paths([WALK], {})
    with pytest.raises(InvalidValue, match="a time greater than 0 s, not 0"):
        figures.draw_blend_paths([WALK], {"a": WALK}, every=0)


# Feet --------------------------------------------------------------------------------------------------------------


def test_heights_of_inputs_and_blend_over_time_and_in_step() -> None:
    figure = figures.draw_foot_heights([WALK, SLOW], WALK, side="right", registration=REGISTERED)
    curves = lines(figure, "height 1")
    assert len(curves) == 2
    np.testing.assert_allclose(curves[0][:, 0], np.arange(len(SLOW)) / SLOW.fps)
    np.testing.assert_allclose(curves[1][:, 0], np.linspace(0.0, 1.0, len(SLOW)), atol=1e-3)
    np.testing.assert_array_equal(curves[0][:, 1], curves[1][:, 1])
    assert WALK.contacts is not None
    touching = WALK.contacts.mask[:, WALK.contacts.index("right_ball")]
    heights = lines(figure, "height 2")[0][:, 1]  # the blend, in centimeters
    assert np.abs(heights[touching]).max() < 0.1
    assert heights.max() > 3.0
    assert len(bars(figure, "contact 2")) == len(WALK.contacts.intervals("right_ball"))
    labels = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert labels == ["walk", "\u200a_slow", "walk"]


def test_contacts_are_found_where_there_are_none() -> None:
    figure = figures.draw_foot_heights([replace(SLOW, contacts=None)])
    assert len(bars(figure, "contact 0")) >= 2
    assert len(figure.axes) == 2
    with pytest.raises(InvalidValue, match="side must be 'left' or 'right', not 'both'"):
        figures.draw_foot_heights([WALK], side="both")
    with pytest.raises(InvalidValue, match="at least one motion"):
        figures.draw_foot_heights([])


# Time --------------------------------------------------------------------------------------------------------------


def test_the_timewarp_its_pace_and_the_turn() -> None:
    figure = figures.draw_timewarp(REGISTERED)
    for j, motion in enumerate((WALK, SLOW)):
        warp = lines(figure, f"timewarp {j}")[0]
        np.testing.assert_allclose(warp[:, 1], warp[:, 0] * motion.duration, atol=1e-6)
        np.testing.assert_allclose(lines(figure, f"pace {j}")[0][:, 1], 1.0, atol=1e-6)
    np.testing.assert_allclose(lines(figure, "turn 1")[0][:, 1], np.degrees(0.25), atol=1e-6)
    labels = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert labels == ["walk (reference)", "\u200a_slow"]
    assert figures.draw_timewarp(registered(WALK, SLOW, WALK, cyclic=True))
