"""Texts of errors, and warnings that are collected instead of printed."""

import warnings

import numpy as np

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


def test_names_that_are_not_nouns_are_marked() -> None:
    error = InvalidValue("at must be two times, not 3", parameter="at")
    assert str(error) == "`at=` must be two times, not 3"
    assert error.word(lambda name, value: f"--{name}") == "--at must be two times, not 3"
    assert str(InvalidValue("speed must be at least 0", parameter="speed")) == "speed must be at least 0"


def test_scalars_of_numpy_are_shown_as_plain_values() -> None:
    values = (np.float64(0.5), np.int32(-3), np.True_)
    assert str(InvalidValue(f"not {values[0]!r}, {values[1]!r} or {values[2]!r}")) == "not 0.5, -3 or True"


def test_long_messages_are_cut_between_words() -> None:
    names = ", ".join(f"LeftHandFinger{k}" for k in range(100))
    text = str(InvalidValue(f"expected one of {names}, not 'Nose'"))
    assert len(text) <= MAX_MESSAGE
    head, _, tail = text.partition(" ... ")
    assert all(word.rstrip(",") in names for word in (head.split()[-1], tail.split()[0]))
    assert text.endswith("not 'Nose'")
    assert len(str(InvalidValue("x" * 1000))) <= MAX_MESSAGE
