"""Predict where the next clip really starts, relative to an end-to-end placement.

A stream places the next clip so that the poses match and planted feet stay in place. The heading and hips of the two
clips then differ slightly there; over several clips this adds up to many degrees. The difference changes smoothly with
the parameters, so a quadratic fit to some samples predicts it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from marey.control.planner_kernels import enter_clips
from marey.core.arrays import Floats
from marey.core.motion import Motion
from marey.core.placement import find_placement
from marey.maths import rigid2d
from marey.pmg import ParametricMotionGraph
from marey.pmg.costs import half_window
from marey.pmg.seam import blend_frames, find_seam

__all__ = ["Join", "find_scales", "fit_join", "quadratic_terms"]

# Samples per coefficient of the fit.
_EACH = 10


@dataclass(frozen=True, slots=True, eq=False)
class Join:
    """Predicts where clips of one node (e parameters) start after clips of another (d parameters).

    middle, scale : (d + e,) offset and scale that normalize the parameters of both. fitted : (F, 3) coefficients of the
    rigid2d for the F columns of `quadratic_terms`.
    """

    middle: Floats
    scale: Floats
    fitted: Floats

    def predict_entry(self, before: Floats, after: Floats, here: Floats) -> Floats:
        """Return where N clips start, rigid2d (N, 3): heading and position of the hips.

        before : (N, d) parameters of the preceding clips. after : (N, e) parameters of the clips themselves.
        here : (N, 3) rigid2d at which the character leaves the preceding clips.
        """
        out = np.empty((len(after), 3))
        enter_clips(before, after, here, self.middle, self.scale, self.fitted, out)
        return out


def fit_join(graph: ParametricMotionGraph, source: str, target: str) -> Join:
    """Join sampled clips of two nodes along the edge between them, and fit a function that predicts the placement of
    the second clip relative to the first."""
    first, second = graph[source], graph[target]
    edge, generator = graph.edges[source, target], np.random.default_rng(0)
    n_dims = first.n_dims + second.n_dims
    n_samples = _EACH * (1 + n_dims + n_dims * (n_dims + 1) // 2)
    before = first.samples(n_samples, generator, corners=True)
    middle, scale = find_scales(graph, source, target)
    both, laid = np.empty((n_samples, n_dims)), np.empty((n_samples, 3))
    for k, parameters in enumerate(before):
        box = edge.transition_range(parameters, second.region)
        chosen = box.region.sample(1, generator)[0]
        a, b = first.motion(parameters), second.motion(chosen)
        half = half_window(graph.seams, a.fps)
        seam = find_seam(a, b, box.leave, box.enter, half, 0, graph.seams.markers)
        _, onward = blend_frames(a, b, seam, half, np.zeros(3))
        here = rigid2d.invert(_placement_at(a, box.leave))
        laid[k] = rigid2d.compose(rigid2d.compose(here, onward), _placement_at(b, box.enter))
        both[k] = (np.concatenate([parameters, chosen]) - middle) / scale
    laid[:, 0] = rigid2d.wrap_angle(laid[:, 0])
    # Parameters with a zero-width range give zero columns; lstsq then takes the solution with the smallest norm.
    fitted, *_ = np.linalg.lstsq(quadratic_terms(both), laid, rcond=None)
    return Join(middle, scale, np.asarray(fitted, dtype=np.float64))


def find_scales(graph: ParametricMotionGraph, source: str, target: str) -> tuple[Floats, Floats]:
    """Return the offset and scale (d + e,) that normalize the parameters of the nodes `source` (d) and `target` (e)."""
    pair = graph[source], graph[target]
    return np.concatenate([each.middle for each in pair]), np.concatenate([each.scale for each in pair])


def quadratic_terms(both: Floats) -> Floats:
    """Return (N, F) columns: 1, the parameters, their squares and pairwise products."""
    i, j = np.triu_indices(both.shape[1])
    return np.concatenate([np.ones((len(both), 1)), both, both[:, i] * both[:, j]], axis=1)


def _placement_at(motion: Motion, moment: float) -> Floats:
    """Return the rigid2d (3,) of a motion at a normalized time, from 0 to 1."""
    frame = int(np.clip(round(moment * (len(motion) - 1)), 0, len(motion) - 1))
    return find_placement(motion, frame)
