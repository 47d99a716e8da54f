"""Build a character from a recipe: the same recipe gives the same character."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from marey.check import warn_of_findings
from marey.core.arrays import Floats
from marey.core.motion import Motion
from marey.edit.settings import OneSkeleton
from marey.errors import (
    MareyError,
    NoResult,
    ParseError,
    UnknownName,
    UnreadableFile,
    collect_warnings,
    similar,
    warn_user,
    word_parameters,
)
from marey.parametric.space import ParametricMotion
from marey.pmg.action_space import ActionSpace
from marey.pmg.auto import AutoReport
from marey.pmg.character import ParametricMotionGraph
from marey.pmg.files import load_any_space
from marey.pmg.gait_space import GaitSpace
from marey.pmg.recipe import NodeRecipe, Recipe, shipped_recipes
from marey.pmg.recipe_clips import ClipCache, RecipeClip, load_clips, load_target, retarget_files
from marey.pmg.requests import REQUESTS
from marey.pmg.space import as_space, find_region
from marey.pmg.units import to_internal_units
from marey.samples.skeleton import body_skeleton

__all__ = ["build_recipe"]

# Largest error allowed at the corners of a node's ranges, as a fraction of the kernel width.
_MET = 0.02


def build_recipe(
    recipe: Recipe,
    *,
    progress: Callable[[float], None] | None = None,
    run: Callable[..., Iterable[Any]] = map,
    report: Callable[[AutoReport], None] | None = None,
) -> ParametricMotionGraph:
    """Build the character that a recipe describes.

    Parameters
    ----------
    recipe : from `read_recipe`.
    progress : called with the completed fraction, from 0 to 1.
    run : function like `map` that runs the comparisons for an edge, for example a process pool's `map`.
    report : called with the result of `[auto]`, if the recipe has it: pairs that failed, nodes that were removed.

    Raise an error if no node can continue forever after `[auto]`.

    Examples
    --------
    >>> from pathlib import Path
    >>> size = Path("walker.toml").write_text('''
    ... name = "walker"
    ... samples = [10, 30]
    ... [[nodes]]
    ... name = "walk"
    ... kind = "gait"
    ... mirror = true
    ... clips = [{ sample = "walk", turn_rate = [0, 30], seconds = 4 }]
    ... [[edges]]
    ... from = "walk"
    ... to = "walk"
    ... good = 0.1
    ... bad = 0.15
    ... ''')
    >>> built = marey.pmg.build_recipe(marey.pmg.read_recipe("walker.toml"))
    >>> list(built.edges)
    [('walk', 'walk')]
    """
    graph = ParametricMotionGraph(recipe.name, **recipe.seams.to_dict())
    total = len(recipe.nodes) + len(recipe.edges) + (recipe.auto is not None)
    report_progress = progress or (lambda fraction: None)
    cache: ClipCache = {}
    if recipe.retarget:
        retarget_files(recipe, cache, _choose_target(recipe))
    for k, node in enumerate(recipe.nodes):
        where = f"node {node.name!r}"
        with _add_context(recipe, where), collect_warnings() as notes:
            _add_node(graph, recipe, node, cache)
        _report_notes(recipe, where, notes)
        report_progress((k + 1) / total)
    from_files = [clip for clip in cache.values() if isinstance(clip, Motion)]
    warn_of_findings(from_files, lambda key, value: f"{key} = {value} in [[nodes.clips]] of the recipe")
    for k, edge in enumerate(recipe.edges):
        where = f"edge {edge.source!r} to {edge.target!r}"
        with _add_context(recipe, where), collect_warnings() as notes:
            graph.connect(
                edge.source, edge.target, good=edge.good, bad=edge.bad, part=edge.part, n_source=edge.samples[0],
                n_target=edge.samples[1], rng=recipe.seed, run=run,
            )  # fmt: skip
        _report_notes(recipe, where, notes)
        report_progress((len(recipe.nodes) + k + 1) / total)
    if recipe.auto is not None:
        good, bad = recipe.auto
        n_source, n_target = recipe.samples
        with collect_warnings() as notes:
            found = graph.connect_all(
                good=good, bad=bad, n_source=n_source, n_target=n_target, rng=recipe.seed, run=run
            )
        _report_notes(recipe, "[auto]", list(dict.fromkeys(notes)))
        if not graph.nodes:
            why = f"; {word_parameters(found.failed[0][2], lambda key, _: key)}" if found.failed else ""
            raise NoResult(
                f"{recipe.path}: [auto]: with good = {good:g} m, no node is left that can continue{why}; raise 'good'"
            )
        if report is not None:
            report(found)
        report_progress(1.0)
    return graph


def _report_notes(recipe: Recipe, where: str, notes: list[str]) -> None:
    """Issue warnings with the location in the recipe. Users cannot change the edges of recipes that come with marey."""
    if recipe.path not in shipped_recipes():
        for note in notes:
            warn_user(f"{recipe.path}: {where}: {word_parameters(note, lambda key, _: key)}")


@contextmanager
def _add_context(recipe: Recipe, where: str) -> Iterator[None]:
    """Add the recipe's name and the location in it to errors raised inside."""
    try:
        yield
    except (ParseError, UnreadableFile):
        raise
    except NoResult as error:
        raise NoResult(f"{recipe.path}: {_prefix_location(where, error)}") from error
    except MareyError as error:
        raise ParseError(_prefix_location(where, error), path=recipe.path) from error


def _prefix_location(where: str, error: MareyError) -> str:
    """Return the error message, prefixed with the location unless it already begins with it."""
    # The keys of a recipe have the names of parameters.
    text = error.word(lambda key, value: f"{key} = {value.lower()}" if value else key)
    return text if text.startswith(f"{where}:") else f"{where}: {text}"


def _add_node(graph: ParametricMotionGraph, recipe: Recipe, node: NodeRecipe, cache: ClipCache) -> None:
    if node.kind == "part":
        of = graph[node.of]
        space, request = of.space, of.request
    else:
        space, request = _build_space(recipe, node, cache), REQUESTS[node.request]
    low, high = to_internal_units(node.low, space.units, "low"), to_internal_units(node.high, space.units, "high")
    graph.add(node.name, space, request=request, low=low, high=high)


def _choose_target(recipe: Recipe) -> OneSkeleton:
    """Return what to retarget files onto: the given file, else the skeleton of saved spaces or samples, if any."""
    if isinstance(recipe.retarget, str):
        return load_target(Path(recipe.path).parent / recipe.retarget)
    for node in recipe.nodes:
        if node.space:
            space = as_space(_load_space(recipe, node))
            return replace(space(find_region(space).middle), name=node.name)
        if any(clips.sample for clips in node.clips):
            return body_skeleton()
    return recipe.retarget


def _load_space(recipe: Recipe, node: NodeRecipe) -> Any:
    file = Path(recipe.path).parent / node.space
    if not file.is_file():
        raise UnreadableFile(
            f"node {node.name!r}: space must be a file in {str(file.parent)!r}, which has no {node.space!r}",
            path=recipe.path,
        )
    return load_any_space(file)


def _build_space(recipe: Recipe, node: NodeRecipe, cache: ClipCache) -> Any:
    if node.space:
        space = _load_space(recipe, node)
        if isinstance(space, ParametricMotion):
            low, high = (
                to_internal_units(node.low, space.units, "low"),
                to_internal_units(node.high, space.units, "high"),
            )
            return ActionSpace.build(space, names=node.names, low=low, high=high)
        return space
    clips = load_clips(recipe, node.clips, cache)
    if node.kind == "gait":
        units = ["rad", "m/s"][: len(node.parameters)]
        return GaitSpace.build(
            [clip.motion for clip in clips], node.parameters, margin=node.margin, mirror=node.mirror,
            bandwidth=(
                None if node.bandwidth is None else to_internal_units(node.bandwidth, units, "bandwidth").tolist()
            ),
            steps=node.steps, side=node.side,
        )  # fmt: skip
    return _action_space(node, clips)


def _action_space(node: NodeRecipe, clips: list[RecipeClip]) -> ActionSpace:
    motions = [clip.motion for clip in clips]
    options: dict[str, Any] = {
        "samples": 0,
        "max_distance": node.max_distance,
        "crop": None,
    }  # no cropping: the recipe has cut the clips
    if node.feature:
        from marey.edit import mirror

        motions += [mirror(motion) for motion in motions] if node.mirror else []
        space = ParametricMotion.build(motions, node.feature, **options)
        units: Sequence[str] = space.units
    else:
        values, units = _sample_parameters(node, clips)
        space = ParametricMotion.build(motions, values=values, names=node.parameters, **options)
    return ActionSpace.build(
        space, names=node.names or space.names, units=units, low=to_internal_units(node.low, units, "low"),
        high=to_internal_units(node.high, units, "high"),
        bandwidth=to_internal_units(node.bandwidth, units, "bandwidth"),
    )  # fmt: skip


def _sample_parameters(node: NodeRecipe, clips: list[RecipeClip]) -> tuple[Floats, list[str]]:
    """Return the parameters (n, d) that the samples were generated with, and their units."""
    from marey.samples.catalog import entry

    known = {parameter.name: parameter for parameter in entry(node.clips[0].sample).parameters}
    for name in node.parameters:
        if name not in known or known[name].choices:
            numbers = [key for key, each in known.items() if not each.choices]
            raise UnknownName(
                f"parameters: sample {node.clips[0].sample!r} has no numeric parameter {name!r}; it has "
                f"{', '.join(numbers)}{similar(name, numbers)}"
            )
    values = np.array([[float(clip.parameters[name]) for name in node.parameters] for clip in clips])
    return values, [known[name].unit for name in node.parameters]
