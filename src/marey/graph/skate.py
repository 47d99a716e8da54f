"""How far feet slide in a walk, beside the clips that it was made of: what tells good transitions from poor ones."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from marey.core.arrays import Floats
from marey.core.motion import Motion
from marey.graph.walk import Walk
from marey.measure.figures import Measure
from marey.measure.skate import slide_contact, slide_weighted_speed


class Sliding(NamedTuple):
    """The same figure of the clips that a walk plays, of the walk as it is blended, and of the motion made of it.

    None where there are no feet, or where they never stand.
    """

    sources: float | None
    before: float | None
    after: float | None


class FootSkate(NamedTuple):
    """How feet slide in a walk.

    Attributes
    ----------
    planted : m/s, feet that stand by the contacts (`marey.measure`: slide_contact).
    low : m/s, feet near the floor, whether they stand or not (slide_weighted_speed).
    """

    planted: Sliding
    low: Sliding


def foot_skate(walk: Walk, made: Motion | None = None) -> FootSkate:
    """How feet slide in a walk before and after cleanup, and in its clips, each counting as much as it is played.

    Parameters
    ----------
    made : the motion of the walk where it is at hand already; else the walk is played and cleaned.
    """
    motions = walk.motion(clean=False), walk.motion() if made is None else made
    graph = walk.graph
    runs = walk.edges[~graph.edges.blends[walk.edges]]
    runs = runs if len(runs) else walk.edges
    frames = graph.edges.n_frames[runs].astype(np.float64)
    played = np.zeros(len(graph.clips))
    np.add.at(played, graph.edges.clips[runs, 0], frames)
    planted, low = (
        _sliding(measured, graph.clips, played, *motions) for measured in (slide_contact, slide_weighted_speed)
    )
    return FootSkate(planted, Sliding(*(None if value is None else value / 1000.0 for value in low)))


def _sliding(measured: Measure, clips: tuple[Motion, ...], played: Floats, before: Motion, after: Motion) -> Sliding:
    values = [(float(played[k]), measured(clips[k]).value) for k in np.flatnonzero(played)]
    known = [(share, value) for share, value in values if value is not None]
    total = sum(share for share, _ in known)
    sources = sum(share * value for share, value in known) / total if known else None
    return Sliding(sources, measured(before).value, measured(after).value)
