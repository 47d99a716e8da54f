"""Functions of the Characters and Drive panels that run in the worker. Characters are passed as files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from marey.core.motion import Motion
from marey.errors import InvalidValue, UnknownName, similar
from marey.studio.work import Progress

# Number of generated walks if no clips are given, on curves ranging from right turns to left turns.
_CURVES = 11
# Fraction of the progress after which a built-in character is built.
_BUILDING = 0.8


def recipe(progress: Progress, recipe: str, output: str, nodes: Sequence[str] = ()) -> dict[str, Any]:
    """Build a recipe, built-in or in a file, or only some of its nodes without transitions, and save it to `output`."""
    from marey.pmg import build_recipe, read_recipe

    plan = read_recipe(recipe if recipe.endswith(".toml") else check_recipe_name(recipe))
    if nodes:
        names = [node.name for node in plan.nodes]
        for name in nodes:
            if name not in names:
                near = similar(name[:40], names)
                raise UnknownName(
                    f"the character {recipe!r} has no node {name[:40]!r}; it has {', '.join(names)}{near}"
                )
        # A sub-range uses the motion space of its parent node.
        needed = {*nodes, *(node.of for node in plan.nodes if node.name in nodes)}
        plan = replace(plan, nodes=tuple(n for n in plan.nodes if n.name in needed), edges=(), auto=None)
    progress(0.0, "generating clips")
    # The rest is for saving and what the panels do with the character.
    graph = build_recipe(
        plan, progress=lambda fraction: progress(_BUILDING * fraction, "building nodes and transitions")
    )
    progress(_BUILDING, "saving")
    graph.save(output)
    return {}


def plan(progress: Progress, path: str) -> dict[str, Any]:
    """Compute what driving a character needs, and write it next to the character's file."""
    from marey.pmg import ParametricMotionGraph
    from marey.studio.cached_characters import save_plans

    progress(0.0, "planning")
    save_plans(ParametricMotionGraph.load(path), Path(path))
    return {}


def check_recipe_name(name: str) -> str:
    """Check that a built-in recipe of that name exists, and return the name."""
    from marey.pmg import shipped_recipes

    known = shipped_recipes()
    if name not in known:
        raise UnknownName(f"no built-in character {name[:40]!r}{similar(name, known)}; available: {', '.join(known)}")
    return name


def gait(progress: Progress, motions: list[Motion], name: str, settings: dict[str, Any], output: str) -> dict[str, Any]:
    """Build a node from the gait cycles in motions and save it to `output` as a character with that one node."""
    from marey.clean import detect_contacts, ensure_contacts
    from marey.core.placement import make_hips_root
    from marey.pmg import GaitSpace, ParametricMotionGraph

    ready = []
    for k, motion in enumerate(motions):
        progress(0.5 * k / len(motions), f"reading {motion.name}")
        ready.append(make_hips_root(ensure_contacts(motion)))
    points = {motion.contacts.names for motion in ready if motion.contacts is not None}
    if len(points) > 1:  # some have hand contacts
        ready = [detect_contacts(motion) for motion in ready]
    progress(0.5, "extracting gait cycles")
    space = GaitSpace.build(ready, **settings)
    graph = ParametricMotionGraph(name)
    progress(0.9, "saving")
    graph.add(name, space)
    graph.save(output)
    return {"cycles": len(space.heights)}


def action(
    progress: Progress, motions: list[Motion], space: str, name: str, feature: str, at_point: bool, output: str
) -> dict[str, Any]:
    """Build a node of single actions, from motions or a saved space, and save it to `output` as a character."""
    from marey.clean import ensure_contacts
    from marey.core.placement import make_hips_root
    from marey.parametric import ParametricMotion
    from marey.pmg import ActionSpace, ParametricMotionGraph
    from marey.pmg.requests import REQUESTS

    progress(0.0, "loading")
    if space:
        found = ParametricMotion.load(space)
        at_point = len(found.features) == 1 and found.features[0].kind == "position" and found.n_dims == 3
    else:
        ready = [make_hips_root(ensure_contacts(motion)) for motion in motions]
        progress(0.2, "registering the clips")
        found = ParametricMotion.build(ready, feature, samples=0, crop=None)
    if at_point and found.n_dims != 3:
        raise InvalidValue(
            f"a node that is controlled by a target point needs the three coordinates of a joint, but this has "
            f"{', '.join(found.names)}; choose “joint target” under “Control”"
        )
    progress(0.6, "measuring what blends reach")
    built = ActionSpace.build(found, names=("x", "y", "z") if at_point else None)
    graph = ParametricMotionGraph(name)
    graph.add(name, built, request=REQUESTS["at a point" if at_point else "by name"])
    graph.save(output)
    return {"examples": len(built.heights)}


def compare(progress: Progress, character: str, ends: tuple[str, str], settings: dict[str, Any]) -> dict[str, Any]:
    """Find the best transitions between samples of two nodes."""
    from marey.pmg import ParametricMotionGraph

    progress(0.0, "loading")
    graph = ParametricMotionGraph.load(character)
    done = 0

    def run_blocks(work: Any, blocks: Sequence[Any]) -> Any:
        nonlocal done
        for block in blocks:
            yield work(block)
            done += 1
            progress(0.2 + 0.8 * done / len(blocks), "comparing")

    progress(0.1, "sampling both nodes")
    found = graph.compare(*ends, run=run_blocks, **settings)
    return dict(found._asdict())


def walk(progress: Progress, character: str, seconds: float, seed: int, settings: dict[str, Any]) -> dict[str, Any]:
    """Generate a random walk of a character."""
    from marey.control import RandomWalk
    from marey.pmg import ParametricMotionGraph

    progress(0.0, "loading")
    stream = ParametricMotionGraph.load(character).stream(RandomWalk(seed), **settings)
    progress(0.3, "walking")
    motion = stream.record(seconds)
    costs = [each.cost for each in stream.transitions]
    return {"motion": motion, "transitions": len(costs), "worst": max(costs, default=0.0)}


def export(progress: Progress, character: str, name: str, path: str, settings: dict[str, Any]) -> dict[str, Any]:
    """Export a character to `path`, and return the files that were written."""
    from marey.pmg import ParametricMotionGraph
    from marey.studio.character_page import export_character

    progress(0.0, "loading")
    graph = ParametricMotionGraph.load(character)
    graph.name = name
    progress(0.1, "sampling the nodes and finding transitions")
    sampled, files = export_character(graph, path, **settings)
    return {"files": files, "clips": len(sampled.clips)}


def gaze(progress: Progress, path: str) -> dict[str, Any]:
    """Compute the leave-one-out error (radians) of each example of a gaze map; None for the first (looking ahead)."""
    from marey.layer import GazeMap

    given = GazeMap.load(path)
    costs = []
    for k in range(1, len(given.examples)):
        progress(k / len(given.examples), "testing each example")
        costs.append(_leave_one_out_error(given, k))
    return {"costs": [None, *costs]}


def _leave_one_out_error(given: Any, k: int) -> float | None:
    """Return the angle (radians) between the head in example k and the head of a map of all others at the same goal.

    None if the others are too few for a map.
    """
    example = given.examples[k]
    try:
        others = given.with_examples(each for i, each in enumerate(given.examples) if i not in (0, k))
    except InvalidValue:  # too few remain for a map
        return None
    from marey.maths import quat

    shift = others.shift(example.goal)
    return float(quat.angle_between(_head(example), _head(shift)))


def _head(shift: Any) -> Any:
    """Return the final head rotation: the product of pelvis, two spine parts and neck."""
    from marey.maths import quat

    head = shift.pose[0]
    for part in shift.pose[1:4]:
        head = quat.mul(head, part)
    return head


def clips(progress: Progress, motions: list[Motion]) -> dict[str, Any]:
    """Return the motions with contacts, and their mirror images; generated walks if no motions are given."""
    return {"clips": _prepare_clips(progress, motions)}


def graph(progress: Progress, motions: list[Motion], output: str) -> dict[str, Any]:
    """Build a motion graph from the same clips as `clips` returns, and save it to `output`."""
    from marey.graph import MotionGraph

    ready = _prepare_clips(lambda fraction, text: progress(0.3 * fraction, text), motions)
    graph = MotionGraph.build(ready, progress=lambda fraction: progress(0.3 + 0.7 * fraction, "comparing all frames"))
    graph.save(output)
    return {}


def parametric(progress: Progress, motions: list[Motion], output: str) -> dict[str, Any]:
    """Build a character with one node from the same clips as `clips` returns, and save it to `output`."""
    from marey.pmg import GaitSpace, ParametricMotionGraph

    ready = _prepare_clips(lambda fraction, text: progress(0.3 * fraction, text), motions)
    progress(0.3, "aligning the clips")
    character = ParametricMotionGraph("walker")
    character.add("walk", GaitSpace.build(ready))
    progress(0.6, "finding transitions")
    character.connect("walk", "walk")
    character.save(output)
    return {}


def _prepare_clips(progress: Progress, motions: list[Motion]) -> list[Motion]:
    from marey.clean import ensure_contacts
    from marey.edit import mirror

    if not motions:
        from marey.pmg.walker import sample_walks

        walks = sample_walks(n_turns=_CURVES, speeds=(1.1,))
        return [replace(walk, name=f"walk, curve {k + 1} of {len(walks)}") for k, walk in enumerate(walks)]
    ready = []
    for k, motion in enumerate(motions):
        progress(k / len(motions), f"reading {motion.name}")
        ready.append(ensure_contacts(motion))
    return ready + [replace(mirror(motion), name=f"{motion.name} (mirrored)") for motion in ready]
