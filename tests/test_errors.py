"""Texts of errors, and warnings that are collected instead of printed."""

import warnings

from marey.errors import MAX_MESSAGE, InvalidValue, collect_warnings, warn_user


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


def test_long_messages_are_cut_between_words() -> None:
    names = ", ".join(f"LeftHandFinger{k}" for k in range(100))
    text = str(InvalidValue(f"expected one of {names}, not 'Nose'"))
    assert len(text) <= MAX_MESSAGE
    head, _, tail = text.partition(" ... ")
    assert all(word.rstrip(",") in names for word in (head.split()[-1], tail.split()[0]))
    assert text.endswith("not 'Nose'")
    assert len(str(InvalidValue("x" * 1000))) <= MAX_MESSAGE
