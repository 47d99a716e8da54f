"""Numbers for users, with units."""

import pytest

from marey.measure.display import format_distance


@pytest.mark.parametrize(
    ("meters", "text"),
    [(0.0, "0.0 cm"), (0.0042, "0.4 cm"), (0.0994, "9.9 cm"), (0.486, "49 cm"), (0.996, "0.996 m"), (43.21, "43.2 m")],
)
def test_distances_have_a_suitable_unit(meters, text):
    assert format_distance(meters) == text
