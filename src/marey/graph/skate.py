"""Measure the foot skate of a walk and of its clips. The comparison shows whether its transitions are good."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from marey.core.arrays import Floats
from marey.core.motion import Motion
from marey.deprecation import renamed_parameters
from marey.measure.metrics import Measure
from marey.measure.skate import slide_contact, slide_weighted_speed

if TYPE_CHECKING:
    from marey.graph.walk import Walk


class Sliding(NamedTuple):
    """One foot-skate metric: for the clips that a walk plays (`sources`), and for the walk before and after cleanup.

    None if there are no feet, or if they never touch the floor.
    """

    sources: float | None
    before: float | None
    after: float | None


class FootSkate(NamedTuple):
    """Foot skate of a walk, as mean speeds in m/s.

    Attributes
    ----------
    planted : speed of planted feet (metric slide_contact of `marey.measure`).
    low : speed of feet near the floor, planted or not (metric slide_weighted_speed).
    """

    planted: Sliding
    low: Sliding

    def to_dict(self) -> dict[str, dict[str, float | None]]:
        """Return both metrics in m/s, JSON-ready."""
        return {"planted": self.planted._asdict(), "low": self.low._asdict()}


@renamed_parameters(made="motion")
def foot_skate(walk: Walk, motion: Motion | None = None) -> FootSkate:
    """Measure the foot skate of a walk before and after cleanup, and of its clips, weighted by their play time.

    Parameters
    ----------
    walk : the walk.
    motion : the cleaned motion of the walk, if already computed.

    Examples
    --------
    >>> skate = marey.graph.foot_skate(marey.graph.random_walk(graph, seconds=3.0))
    >>> sorted(skate.to_dict())
    ['low', 'planted']
    """
    motions = walk.motion(feet=None), walk.motion() if motion is None else motion
    graph = walk.graph
    runs = walk.edges[~graph.edges.blends[walk.edges]]
    runs = runs if len(runs) else walk.edges
    frames = graph.edges.n_frames[runs].astype(np.float64)
    played = np.zeros(len(graph.clips))
    np.add.at(played, graph.edges.clips[runs, 0], frames)
    planted, low = (
        _measure_sliding(metric, graph.clips, played, *motions) for metric in (slide_contact, slide_weighted_speed)
    )
    return FootSkate(planted, Sliding(*(None if value is None else value / 1000.0 for value in low)))


def _measure_sliding(
    metric: Measure, clips: tuple[Motion, ...], played: Floats, before: Motion, after: Motion
) -> Sliding:
    values = [(float(played[k]), metric(clips[k]).value) for k in np.flatnonzero(played)]
    known = [(frames, value) for frames, value in values if value is not None]
    total = sum(frames for frames, _ in known)
    sources = sum(frames * value for frames, value in known) / total if known else None
    return Sliding(sources, metric(before).value, metric(after).value)
