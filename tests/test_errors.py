"""Warnings that are collected instead of printed."""

import warnings

from marey.errors import collect_warnings, warn_user


def test_warnings_of_marey_are_collected_and_others_are_passed_on():
    with warnings.catch_warnings(record=True) as others:
        warnings.simplefilter("always")
        with collect_warnings() as texts:
            warn_user("a problem in the file")
            warnings.warn("of another package", RuntimeWarning, stacklevel=1)
            with collect_warnings() as inner:
                warn_user("a problem within")
    assert texts == ["a problem in the file"]
    assert inner == ["a problem within"]
    assert [str(each.message) for each in others] == ["of another package"]
