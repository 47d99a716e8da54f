"""Variants of the walking character that comes with marey, with other curves, speeds or frame rates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from marey.core.motion import Motion
from marey.errors import InvalidValue
from marey.pmg.character import ParametricMotionGraph
from marey.pmg.recipe import Recipe, read_recipe
from marey.pmg.recipe_build import build_recipe
from marey.pmg.recipe_clips import load_clips

__all__ = ["sample_walks", "walker"]


def sample_walks(
    *,
    n_turns: int | None = None,
    speeds: Sequence[float] | None = None,
    fps: float = 60.0,
    variation: float = 0.5,
    rng: int = 0,
) -> list[Motion]:
    """Generate walks on curves, from right turns to left turns, each at several speeds, as the recipe ``walking`` does.

    Parameters
    ----------
    n_turns : number of curves, evenly spaced; the recipe's by default.
    speeds : walking speeds in m/s; the recipe's by default.
    fps : frame rate, in frames per second.
    variation : amount of random variation; see `marey.samples.sample`.
    rng : random seed of the first walk; the seeds of the others count up from it.
    """
    recipe = _resize_recipe("walking", n_turns, speeds, fps, variation, rng)
    return [clip.motion for clip in load_clips(recipe, recipe.nodes[0].clips)]


def walker(
    *,
    speeds: Sequence[float] | None = None,
    n_turns: int | None = None,
    fps: float = 60.0,
    variation: float = 0.5,
    n_source: int = 120,
    n_target: int = 400,
    rng: int = 0,
    steps: int = 2,
) -> ParametricMotionGraph:
    """Build a walking character with a node ``walk``, whose parameters are turn and, if there are several, speed.

    The mirror image of each walk is included, so the character turns equally to both sides.

    Parameters
    ----------
    speeds, n_turns, fps, variation : as in `sample_walks`.
    n_source, n_target : number of samples of the edge's source and target.
    rng : random seed.
    steps : steps per clip: 2, or 1 for a faster response. With 1, there are two nodes, ``left`` and ``right``, which
        lead to each other, as in the recipe ``stepping``.
    """
    if steps not in (1, 2):
        raise InvalidValue(f"steps must be 1 or 2 (steps per clip), not {steps!r}")
    recipe = _resize_recipe("walking" if steps == 2 else "stepping", n_turns, speeds, fps, variation, rng)
    edges = tuple(replace(edge, samples=(n_source, n_target)) for edge in recipe.edges)
    return build_recipe(replace(recipe, edges=edges))


def _resize_recipe(
    name: str, n_turns: int | None, speeds: Sequence[float] | None, fps: float, variation: float, rng: int
) -> Recipe:
    recipe = read_recipe(name)
    nodes = []
    for node in recipe.nodes:
        (clips,) = node.clips
        values = dict(clips.values)
        rates = values["turn_rate"]
        if n_turns is not None:
            values["turn_rate"] = tuple(np.linspace(rates[0], rates[-1], n_turns).tolist())
        if speeds is not None:
            values["speed"] = tuple(float(speed) for speed in speeds)
        values["variation"] = (float(variation),)
        parameters = node.parameters if len(values["speed"]) > 1 else node.parameters[:1]
        nodes.append(replace(node, clips=(replace(clips, values=values),), parameters=parameters))
    return replace(recipe, nodes=tuple(nodes), fps=float(fps), seed=int(rng))
