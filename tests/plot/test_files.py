"""Every kind of plot as a file: valid, of the right size, with the same bytes each time, and no other files."""

import gc
import re
import weakref
from dataclasses import replace
from pathlib import Path

import matplotlib
import pytest
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

import marey.plot
from marey.errors import InvalidValue, UnknownFormat, UnwritableFile
from marey.plot import style
from marey.plot.style import DPI, WIDTH
from tests.plot.pictures import KINDS, WALK, bare, in_place, png_size, svg_size, under_resting_root
from tests.tiers import mostly_slow


@pytest.mark.parametrize("kind", mostly_slow(KINDS, "writes three files of another kind", n_fast=1))
def test_plots_are_complete_have_their_size_ignore_user_settings_and_are_freed(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes, seen = [], []
    write_figure = style.write_figure

    def spy(figure, path):  # type: ignore[no-untyped-def]
        sizes.append(tuple(figure.get_size_inches()))
        seen.append(weakref.ref(figure))
        write_figure(figure, path)

    monkeypatch.setattr(style, "write_figure", spy)
    monkeypatch.setattr(ConstrainedLayoutEngine, "execute", lambda *_: None)  # the next test has the arranged ones
    write = getattr(marey.plot, kind)
    first = [tmp_path / "first.SVG", tmp_path / "first.png"]
    # An SVG file shows everything that settings change; pixels are checked for one kind only.
    again = [tmp_path / "again.SVG", tmp_path / "again.png"][: 2 if kind == KINDS[0] else 1]
    for path in first:
        write(WALK, path)
    width, height = sizes[0]
    assert width == WIDTH
    assert 2.0 <= height <= 6.6
    assert png_size(first[1]) == (1800, pytest.approx(height * DPI, abs=1.0))
    assert svg_size(first[0]) == pytest.approx((72 * width, 72 * height), abs=0.1)
    with matplotlib.rc_context({"font.size": 20.0, "lines.linewidth": 7.0, "svg.hashsalt": "x", "axes.grid": True}):
        for path in again:
            write(WALK, path)
        assert matplotlib.rcParams["font.size"] == 20.0
    for one, other in zip(first, again, strict=False):
        data = one.read_bytes()
        assert data == other.read_bytes()
        assert matplotlib.__version__.encode() not in data
        assert not re.search(rb"<dc:date>|20\d\d-\d\d-\d\dT", data)
    assert sorted(tmp_path.iterdir()) == sorted((*first, *again))
    gc.collect()
    assert [figure() for figure in seen] == len(sizes) * [None]
    assert len(set(sizes)) == 1


@pytest.mark.parametrize("kind", mostly_slow(KINDS, "draws eight plots of another kind", n_fast=1))
def test_every_kind_of_motion_can_be_drawn(kind: str, tmp_path: Path) -> None:
    """All motions are drawn; the oddest one, and the shortest, whose axes have no range, are also written."""
    draw = getattr(marey.plot, f"draw_{kind}")
    write = getattr(marey.plot, kind)
    short = WALK[:30]
    for motion in (WALK[3:5], in_place(short), under_resting_root(short)):
        assert draw(motion).get_size_inches()[0] == WIDTH
    odd = replace(under_resting_root(in_place(short)), name="_$x^2$ --\n\t\x07 動き " + 60 * "long ", contacts=None)
    for motion in (WALK[3], odd):
        write(motion, tmp_path / "a.svg")
        assert svg_size(tmp_path / "a.svg")[0] == 72 * WIDTH
    if kind == "feet":
        with pytest.raises(InvalidValue, match="no feet to draw: it has neither the role left_foot nor right_foot"):
            draw(bare())
    else:
        write(bare()[:30], tmp_path / "bare.png")
        assert png_size(tmp_path / "bare.png")[0] == 1800
        draw(bare()[:1])


def test_pyplot_is_never_imported() -> None:
    import subprocess
    import sys

    code = (
        "import sys, marey.plot\nfrom marey.samples import straight_walk\n"
        "[getattr(marey.plot, 'draw_' + k)(straight_walk(seconds=0.5)) for k in "
        f"{KINDS!r}]\nassert 'matplotlib.pyplot' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("kind", KINDS)
def test_bad_input_is_reported(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Figure, "savefig", lambda *_, **__: None)  # takes longer than everything else here
    write = getattr(marey.plot, kind)
    with pytest.raises(UnknownFormat, match=r"walk.gif: a plot is saved as .png or .svg, got .gif"):
        write(WALK, tmp_path / "walk.gif")
    with pytest.raises(UnknownFormat, match="got no suffix"):
        write(WALK, tmp_path / "walk")
    with pytest.raises(UnwritableFile, match="does not exist"):
        write(WALK[:10], tmp_path / "nowhere" / "walk.png")
    with pytest.raises(InvalidValue, match=r"must be frames with 0 <= start < stop <= 121 .* not 5 and 400"):
        write(WALK, tmp_path / "walk.png", start=5, stop=400)
    with pytest.raises(InvalidValue, match="not 5 and 5"):
        write(WALK, tmp_path / "walk.png", start=5, stop=5)
    with pytest.raises(InvalidValue, match="start must be an integer, not 1.5"):
        write(WALK, tmp_path / "walk.png", start=1.5, stop=9)
    assert list(tmp_path.iterdir()) == []
