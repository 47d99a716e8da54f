"""Shipped characters for the tests, made once: at 30 Hz, of fewer clips and samples."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from marey.pmg import build_recipe, read_recipe


def _thinned(values, most):
    n = len(values)
    return values if n <= most else tuple(values[round(k * (n - 1) / (most - 1))] for k in range(most))


def smaller(recipe, most=3, samples=(8, 40)):
    """Return the recipe with at most some number of values for each parameter of its samples."""
    nodes = tuple(
        replace(
            node,
            clips=tuple(
                replace(clips, values={name: _thinned(values, most) for name, values in clips.values.items()})
                for clips in node.clips
            ),
        )
        for node in recipe.nodes
    )
    edges = tuple(replace(edge, samples=samples) for edge in recipe.edges)
    return replace(recipe, fps=30.0, nodes=nodes, edges=edges, samples=samples)


@cache
def small_character(name):
    """Tests must not add to it."""
    return build_recipe(smaller(read_recipe(name), 5 if name in ("right-turner", "cartwheeling") else 3))
