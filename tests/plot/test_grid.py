"""The heat map of a grid: what is drawn, where, and wrong use."""

import numpy as np
import pytest

from marey.compare import DistanceGrid, distance_grid
from marey.errors import InvalidValue, UnknownFormat
from marey.plot.grid import draw_grid, grid
from marey.samples import sample
from tests.compare.clips import wandering
from tests.plot.pictures import png_size, svg_size

WALK, RUN = (sample(name, seconds=1.5, fps=30.0).motion for name in ("walk", "run"))


@pytest.fixture(scope="module")
def between():
    return distance_grid(WALK, RUN)


def texts(figure):
    return " | ".join(text.get_text() for text in figure.texts)


def test_written_as_png_and_svg(between, tmp_path):
    grid(between, tmp_path / "grid.png")
    assert png_size(tmp_path / "grid.png")[0] == 1800
    grid(between, tmp_path / "grid.svg")
    assert svg_size(tmp_path / "grid.svg")[0] == 648
    before = (tmp_path / "grid.png").read_bytes()
    grid(between, tmp_path / "grid.png")
    assert (tmp_path / "grid.png").read_bytes() == before


def test_the_first_motion_runs_to_the_right_and_distances_are_meters(between):
    figure = draw_grid(between)
    axes, bar = figure.axes
    image = axes.images[0]
    assert np.asarray(image.get_array()) == pytest.approx(np.sqrt(between.values).T)
    assert image.get_extent() == pytest.approx([-0.5 / 30, (len(WALK) - 0.5) / 30, -0.5 / 30, (len(RUN) - 0.5) / 30])
    assert axes.get_xlabel() == f"time in {WALK.name}, s"
    assert axes.get_ylabel() == f"time in {RUN.name}, s"
    assert bar.get_ylabel() == "distance, m"
    assert f"Distances between {WALK.name} and {RUN.name}" in texts(figure)


def test_minima_are_dots_where_they_are(between):
    figure = draw_grid(between)
    dots = figure.axes[0].collections[0].get_offsets()
    assert np.asarray(dots) == pytest.approx(between.minima() / 30.0)
    assert f"{len(between.minima())} local minima" in texts(figure)
    assert list(draw_grid(between, minima=False).axes[0].collections) == []
    least = float(np.sqrt(between.values.min()))
    assert "1 local minimum" in texts(draw_grid(between, threshold=least * 1.0001))
    assert "minim" not in texts(draw_grid(between, threshold=0.0))


def test_a_path_is_a_line_with_its_mean_distance(between):
    cells = np.stack([np.arange(20), np.arange(20) // 2], axis=1)
    figure = draw_grid(between, cells=cells)
    for line in figure.axes[0].lines:
        assert np.asarray(line.get_xydata()) == pytest.approx(cells / 30.0)
    mean = np.sqrt(between.values[tuple(cells.T)].mean())
    assert f"path (white): {mean:.3f} m" in texts(figure)


def test_a_region_veils_the_rest(between):
    region = np.zeros(between.values.shape, dtype=bool)
    region[5:20, 3:8] = True
    veil = np.asarray(draw_grid(between, region=region).axes[0].images[1].get_array())
    assert ((veil[..., 3] == 0) == region.T).all()


def test_refused_cells_are_left_out(between):
    values = between.values.copy()
    values[3:9] = np.inf
    figure = draw_grid(DistanceGrid(between.a, between.b, values, between.frame_weights))
    shown = figure.axes[0].images[0].get_array()
    assert (np.ma.getmaskarray(shown) == np.isinf(values).T).all()
    assert "gray: contacts differ" in texts(figure)
    everything = DistanceGrid(between.a, between.b, np.full(values.shape, np.inf), between.frame_weights)
    assert "gray" in texts(draw_grid(everything))


@pytest.mark.parametrize(("n_a", "n_b"), [(1, 1), (1, 40), (2, 400), (400, 3)])
def test_grids_of_any_shape(n_a, n_b, tmp_path):
    grid(distance_grid(wandering(n_a), wandering(n_b, seed=1)), tmp_path / "grid.png")
    assert png_size(tmp_path / "grid.png")[0] == 1800


def test_a_large_grid_shows_the_smallest_of_each_square(between, monkeypatch):
    from marey.plot import grid as module

    monkeypatch.setattr(module, "_FINEST", 10)
    figure = draw_grid(between, region=between.values < 0.03)
    shown = np.asarray(figure.axes[0].images[0].get_array())
    step = int(np.ceil(max(between.values.shape) / 10))
    assert shown.shape == tuple(-(-n // step) for n in between.values.T.shape)
    assert shown[1, 2] == pytest.approx(np.sqrt(between.values[2 * step : 3 * step, step : 2 * step].min()))
    assert figure.axes[0].get_xlim() == pytest.approx((-0.5 / 30, (len(WALK) - 0.5) / 30))


def test_a_clip_with_itself_and_other_windows():
    assert f"Distances within {WALK.name}" in texts(draw_grid(distance_grid(WALK)))
    assert "single frames, not aligned" in texts(draw_grid(distance_grid(WALK, RUN, window=0.0, align=False)))
    assert "windows of 15 frames, 0.47 s" in texts(draw_grid(distance_grid(WALK, window=0.5)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cells": [[0, 0, 0]]}, r"path must have shape \(cells, 2\)"),
        ({"cells": np.zeros((0, 2), int)}, "at least one cell"),
        ({"cells": [[0, 1000]]}, "path must be within the grid"),
        ({"cells": [[-1, 0]]}, "path must be within the grid"),
        ({"region": np.ones((2, 2), bool)}, "region must have the grid's shape"),
        ({"threshold": -1.0}, "threshold must be at least 0 m"),
    ],
)
def test_wrong_use(between, options, message):
    with pytest.raises(InvalidValue, match=message):
        draw_grid(between, **options)


def test_other_suffixes_are_refused_before_drawing(between, tmp_path):
    with pytest.raises(UnknownFormat, match=".png or .svg"):
        grid(between, tmp_path / "grid.pdf")
