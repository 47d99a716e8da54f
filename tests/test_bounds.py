"""Sizes that an option or a file states are checked before memory is allocated, and the limit is named."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import marey
from marey.compare import frame_weights
from marey.errors import InvalidValue
from marey.find.search import check_threshold
from marey.graph import crossing_paths, word_path
from marey.graph.settings import DirectionSettings, GraphPathSettings, GraphSettings, count_frames
from marey.pmg import CompareSettings
from marey.register import register
from marey.samples import sample, sample_library, straight_walk
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
        (
            lambda: marey.blend(register(pair()), lambda t: np.stack([1.0 - 0.1 * t, 0.1 * t], 1), fps=1e9),
            "the result would have .*; lower `fps=`",
        ),
        (lambda: marey.edit.resample(WALK, 1e300), r"the result would have 1.5e\+300 frames"),
        (lambda: marey.edit.connect(WALK, WALK, gap=1e9), "gap must be from 0 to 3600"),
        (lambda: marey.edit.extract_path(WALK, smooth=1e9), "`smooth=` must be from 0 to 60"),
        (lambda: crossing_paths(10**9, 2.0), "n must be from 1 to 1000"),
        (lambda: DirectionSettings(n_directions=10**9), "n_directions must be from 2 to 3600"),
        (lambda: GraphPathSettings(beam_width=10**9), "beam_width must be from 25 to 10"),
        (lambda: CompareSettings(n_source=10**9), "n_source must be from 2 to 10"),
        (lambda: list(sample_library(10**12)), "from 100 to 100,000,000 frames"),
        (lambda: marey.edit.cycle(WALK, repeats=10**7), "the result would have .*; lower `repeats=`"),
        (lambda: small_walker().stream(marey.control.RandomWalk(0)).record(1e9), "frames .*; lower `seconds=`"),
        (lambda: count_frames(1e12, 30.0), "frames .*; lower `seconds=`"),
        (lambda: frame_weights(1e9, 30.0), "a window may have at most 100,000 frames, got 1e[+]09 s at 30 Hz"),
        (lambda: word_path("a", 1e9), "width must be greater than 0 m and at most 100,000 m"),
        (
            lambda: GraphSettings(max_search_distance=1e300),
            r"max_search_distance must be at most 1e[+]15, not 1e",
        ),
        (lambda: GraphSettings(max_search_distance=10**400), r"max_search_distance must be at most 1e[+]15"),
        (lambda: GraphSettings(variations=10**9), "variations must be from 0 to 1000"),
        (lambda: marey.transition(*pair(), contacts=1e300), r"contacts must be at most 1e[+]15"),
        (lambda: check_threshold(1e300), r"threshold in meters must be at most 1e[+]15"),
        (
            lambda: marey.control.MatchingData.build(pair()[:1], path_times=(0.2, 1e300)),
            "path_times must be increasing times in seconds, at least one frame and at most 60 s",
        ),
    ],
)
def test_inputs_that_are_too_large_are_refused(act: Callable[[], object], message: str) -> None:
    with pytest.raises(InvalidValue, match=message):
        act()
