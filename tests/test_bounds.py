"""Sizes that an option or a file asks for are checked before memory is taken, and the limit is named."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

import marey
from marey.compare import frame_weights
from marey.errors import InvalidValue
from marey.graph import word_path
from marey.graph.settings import count_frames
from marey.register import register
from marey.samples import sample, straight_walk
from tests.pmg.characters import small_walker

WALK = straight_walk(seconds=1.5, fps=30.0)


def pair() -> tuple[Any, Any]:
    return tuple(sample(name, fps=20.0, seconds=1.5).motion for name in ("walk", "run"))  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (
            lambda: marey.edit.resample(replace(WALK, fps=1e-4), 30.0),
            r"13,\d\d\d,\d\d\d frames of \d+ joints \(maximum",
        ),
        (lambda: marey.edit.resample(WALK, 1e9), "the result would have .*maximum .*; lower `fps=`"),
        (lambda: marey.blend(register(pair()), [0.5, 0.5], fps=1e9), "the result would have .*; lower `fps=`"),
        (lambda: marey.edit.cycle(WALK, repeats=10**7), "the result would have .*; lower `repeats=`"),
        (lambda: small_walker().stream(marey.control.RandomWalk(0)).record(1e9), "frames .*; lower `seconds=`"),
        (lambda: count_frames(1e12, 30.0), "frames .*; lower `seconds=`"),
        (lambda: frame_weights(1e9, 30.0), "a window may have at most 100,000 frames, got 1e[+]09 s at 30 Hz"),
        (lambda: word_path("a", 1e9), "width must be greater than 0 m and at most 100,000 m"),
    ],
)
def test_inputs_that_are_too_large_are_refused(act: Callable[[], object], message: str) -> None:
    with pytest.raises(InvalidValue, match=message):
        act()
