"""Plots of commands."""

from collections.abc import Iterator

import pytest
from matplotlib.layout_engine import ConstrainedLayoutEngine


@pytest.fixture(scope="package", autouse=True)
def _plain_layout() -> Iterator[None]:
    """Draw plots without arranging their axes, which takes as long as all else; tests/plot has the arranged ones."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ConstrainedLayoutEngine, "execute", lambda *_: None)
        yield
