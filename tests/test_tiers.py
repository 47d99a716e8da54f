"""The two tiers of tests."""

import pytest

from tests.conftest import check_slow_marks


def test_a_slow_test_needs_a_reason():
    check_slow_marks("test_x", [pytest.mark.slow("compiles every kernel again").mark])
    for marker in (pytest.mark.slow, pytest.mark.slow(), pytest.mark.slow(""), pytest.mark.slow(3)):
        with pytest.raises(pytest.UsageError, match="test_x: slow takes a reason"):
            check_slow_marks("test_x", [marker.mark])
