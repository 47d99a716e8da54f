"""Footskate of a walk compared with its clips, which shows whether its transitions are good."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from marey.core.arrays import Floats
from marey.core.motion import Motion
from marey.graph.walk import Walk
from marey.measure.figures import Measure
from marey.measure.skate import slide_contact, slide_weighted_speed


class Sliding(NamedTuple):
    """One metric for the clips that a walk plays, for the walk before cleanup, and for the final motion.

    None if there are no feet, or if they never touch the floor.
    """

    sources: float | None
    before: float | None
    after: float | None


class FootSkate(NamedTuple):
    """Footskate of a walk.

    Attributes
    ----------
    planted : m/s, feet in contact (`marey.measure`: slide_contact).
    low : m/s, feet near the floor, in contact or not (slide_weighted_speed).
    """

    planted: Sliding
    low: Sliding


def foot_skate(walk: Walk, made: Motion | None = None) -> FootSkate:
    """Measure the footskate of a walk before and after cleanup, and of its clips, weighted by their play time.

    Parameters
    ----------
    made : the cleaned motion of the walk, if already computed.
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
