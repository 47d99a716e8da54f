"""Long sample clips for the tests of searches, made once."""

from dataclasses import replace
from functools import cache

from marey.core import Motion
from marey.find import MatchWeb
from marey.find.result import MatchResult
from marey.parametric import ParametricMotion, position
from marey.samples import sample


@cache
def takes() -> tuple[Motion, ...]:
    """Two takes at 30 Hz with three kicks each."""
    output = [sample("medley", rng=k, kicks=3, punches=1, reaches=1, fps=30.0).motion for k in (1, 4)]
    return tuple(replace(motion, name=f"take{k}") for k, motion in enumerate(output))


KICK = next((label.start, label.stop) for label in takes()[0].labels if label.name == "kick")
"""Frames of the first kick of take 0."""


@cache
def kick_web() -> MatchWeb:
    """The web of both takes."""
    return MatchWeb.build(takes())


@cache
def kicks() -> MatchResult:
    """Find all six kicks from the first."""
    return kick_web().search("take0", *KICK, 0.07)


@cache
def kick_space() -> ParametricMotion:
    """Return the kicks as a space of the positions that the ball of the foot reaches."""
    return ParametricMotion.build(kicks(), position("right_ball"), samples=200)
