"""The values of `feet=`."""

import pytest

from marey.core.feet import check_feet, feet_from_flag
from marey.errors import InvalidValue


def test_lock_is_for_live_streams_only() -> None:
    for feet in ("clean", None):
        check_feet(feet)
        check_feet(feet, live=True)
    check_feet("lock", live=True)
    with pytest.raises(InvalidValue, match=r"feet must be 'clean' or None, not 'lock'"):
        check_feet("lock")
    with pytest.raises(InvalidValue, match=r"feet must be 'auto', 'clean', 'lock' or None, not True"):
        check_feet(True, live=True)  # type: ignore[arg-type]


def test_old_flags_map_to_values() -> None:
    assert feet_from_flag(True) == "clean"
    assert feet_from_flag(False) is None
