"""A small set of long clips with known kicks, punches and reaches, and its web."""

from dataclasses import replace
from functools import cache

from marey.find import MatchWeb
from marey.samples import sample

FPS = 30.0
THRESHOLD = 0.06


@cache
def samples():
    result = [sample("medley", rng=seed, fps=FPS, kicks=3, punches=2, reaches=0) for seed in (1, 2)]
    return tuple(result)


@cache
def clips():
    return tuple(replace(one.motion, name=name) for one, name in zip(samples(), ("one", "two"), strict=True))


@cache
def web():
    return MatchWeb.build(clips())


def truth(kind):
    """Return (clip, start, stop) of every action of a kind, in frames."""
    return [
        (k, round(action.start * FPS), round(action.stop * FPS))
        for k, one in enumerate(samples())
        for action in one.actions
        if action.name == kind
    ]


def hits(found, kind, names=("one", "two")):
    """Return the true actions found, the largest error of their ends in seconds, and the number of false matches."""
    seen, worst, others = set(), 0.0, 0
    for match in found:
        for k, (clip, start, stop) in enumerate(truth(kind)):
            shared = min(match.stop, stop) - max(match.start, start)
            if names[clip] == match.clip and shared > 0.5 * max(len(match), stop - start):
                seen.add(k)
                worst = max(worst, abs(match.start - start) / FPS, abs(match.stop - stop) / FPS)
                break
        else:
            others += 1
    return seen, worst, others
