"""Warnings that are collected instead of printed."""

import warnings

import pytest

from marey.errors import collect_warnings, warn_user


def test_warnings_of_marey_are_collected_and_others_are_passed_on():
    with pytest.warns(RuntimeWarning, match="of another package") as others, collect_warnings() as texts:
        warn_user("a problem in the file")
        warnings.warn("of another package", RuntimeWarning, stacklevel=1)
        with collect_warnings() as inner:
            warn_user("a problem within")
    assert texts == ["a problem in the file"]
    assert inner == ["a problem within"]
    assert len(others) == 1
