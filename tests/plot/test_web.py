"""The plot of a web's grid."""

from __future__ import annotations

import numpy as np
import pytest

from marey.errors import InvalidValue, UnknownName
from marey.find.grid_part import grid_part
from marey.plot.web import draw_web_grid
from tests.find_medleys import KICK, kick_web


def test_minima_chains_and_bridges_lie_where_they_are():
    web = kick_web()
    rows, columns = (KICK[0] - 10, KICK[1] + 10), (0, 120)
    figure = draw_web_grid(web, 0, "take1", rows=rows, columns=columns)
    part = grid_part(web, 0, 1, slice(*rows), slice(*columns))
    axes = figure.axes[0]
    minima, bridges, chains = axes.collections
    assert len(minima.get_offsets()) == (part.horizontal | part.vertical).sum()
    assert len(part.chains) > 0
    for drawn, paths in ((chains, part.chains), (bridges, part.bridges)):
        assert len(drawn.get_segments()) == len(paths)
        for segment, path in zip(drawn.get_segments(), paths, strict=True):
            np.testing.assert_allclose(segment, path / web.fps)
    np.testing.assert_allclose(axes.get_xlim(), [(rows[0] - 0.5) / 30, (rows[1] - 0.5) / 30])
    image, veil = axes.images
    np.testing.assert_allclose(image.get_array(), part.values.T)
    np.testing.assert_array_equal(veil.get_array()[..., 3] == 0.0, part.valid.T)
    assert f"{len(part.chains)} chains" in [text.get_text() for text in figure.texts]


def test_bad_use():
    web = kick_web()
    with pytest.raises(InvalidValue, match="start and stop must be frames with 0 <= start < stop"):
        draw_web_grid(web, 0, 1, rows=(5, 5))
    with pytest.raises(UnknownName, match="no clip 'take7'"):
        draw_web_grid(web, 0, "take7")
