"""Recipes for the results of the panels: files, annotations, blends, transitions, graphs, walks and gaze.

See `marey.studio.recipes`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from marey.io.settings import LoadSettings
from marey.studio.recipes import CodeRecipe, call, change, list_of, write_options, write_rows, write_value

if TYPE_CHECKING:
    from marey.blend.settings import TransitionSettings
    from marey.clean.settings import ContactSettings
    from marey.core.contacts import Contacts
    from marey.core.labels import Labels
    from marey.core.motion import Motion
    from marey.graph.settings import GraphPathSettings, GraphSettings, GraphWalkSettings
    from marey.studio.messages import Where
    from marey.studio.panels.blend_messages import BlendMotions
    from marey.studio.panels.layer import LookAt


def load_recipe(name: str, path: str, where: Where, settings: LoadSettings) -> CodeRecipe:
    """Return the recipe of a motion that was opened from a file."""
    options, imports = write_options(settings)
    made = call(name, "marey.load_motion", repr(path), options=options)
    return CodeRecipe(name, made.parts, imports, path if where == "uploads" else "")


def file_recipe(path: str) -> CodeRecipe:
    """Return the recipe of a motion that a panel reads from a file of the folder."""
    return load_recipe(path.rpartition("/")[2].partition(".")[0], path, "folder", LoadSettings())


def sample_recipe(name: str, sample: str, options: dict[str, Any]) -> CodeRecipe:
    """Return the recipe of a generated motion."""
    given = [f"{key}={value!r}" for key, value in options.items()]
    return call(name, "marey.samples.sample", repr(sample), options=given, end=".motion")


def detection_recipe(name: str, motion: CodeRecipe, settings: ContactSettings) -> CodeRecipe:
    """Return the recipe of a motion whose contacts were detected."""
    options, imports = write_options(settings)
    return call(name, "marey.detect_contacts", motion, options=options, imports=imports)


def contacts_recipe(motion: Motion, recipe: CodeRecipe, contacts: Contacts) -> CodeRecipe:
    """Return the recipe of a motion whose contacts were edited by hand."""
    spans = {name: contacts.intervals(name) for name in contacts.names}
    if motion.contacts is None:
        points: tuple[Any, ...] = ("contact_points(", recipe, ".skeleton, standing=", recipe, ")")
        imports: tuple[str, ...] = ("from marey.clean import contact_points",)
    else:
        points, imports = (recipe, ".contacts.points"), ()
    value = ("marey.Contacts.from_intervals(", *points, f", {spans!r}, {len(motion)})")
    return change(motion.name, recipe, "contacts", *value, imports=imports)


def labels_recipe(motion: Motion, recipe: CodeRecipe, labels: Labels) -> CodeRecipe:
    """Return the recipe of a motion whose labels were edited by hand."""
    rows = ", ".join(f"marey.Label({each.name!r}, {each.start}, {each.stop})" for each in labels)
    return change(motion.name, recipe, "labels", f"marey.Labels(({rows}{',' if len(labels) == 1 else ''}))")


def blend_recipe(
    message: BlendMotions, motions: Sequence[CodeRecipe], name: str, keys: tuple[list[float], list[list[float]]] | None
) -> CodeRecipe:
    """Return the recipe of a blend. `keys` are the times and weights of weight curves; None for constant weights."""
    clips = list(motions)
    loops = message.registration.cut_loops
    options, imports = write_options(message.registration, skip=["cut_loops", *(["cyclic"] if loops else [])])
    if loops:
        clips = [call(f"{each.name} loop", "marey.edit.cycle", each) for each in clips]
        options.append("cyclic=True")
    registration = call("registration", "marey.register", list_of(clips), options=options, imports=imports)
    options, imports = write_options(message.settings)
    weights = repr(list(message.weights) or [1.0 / len(clips)] * len(clips))
    if keys is not None:
        weights, imports = (
            f"interpolate_weights({keys[0]!r}, {keys[1]!r})",
            ("from marey.blend import interpolate_weights", *imports),
        )
    return call(name, "marey.blend", registration, weights, options=options, imports=imports)


def transition_recipe(
    motions: Sequence[CodeRecipe], name: str, at: tuple[float, float] | None, settings: TransitionSettings
) -> CodeRecipe:
    """Return the recipe of a transition."""
    options, imports = write_options(settings)
    given = [] if at is None else [f"at={tuple(at)!r}"]
    return call(name, "marey.transition", *motions, options=[*given, *options], imports=imports)


def retarget_recipe(
    name: str, motion: CodeRecipe, onto: CodeRecipe, pose: int | None, target_pose: int | None
) -> CodeRecipe:
    """Return a recipe that retargets a motion to another skeleton."""
    options = [f"{key}={frame}" for key, frame in (("pose", pose), ("target_pose", target_pose)) if frame is not None]
    return call(name, "marey.edit.retarget", motion, onto, options=options)


def graph_recipe(
    clips: Sequence[CodeRecipe],
    settings: GraphSettings,
    threshold: float,
    thresholds: dict[tuple[str, str], float],
) -> CodeRecipe:
    """Return the recipe of a motion graph."""
    options, imports = write_options(settings, skip=["threshold", "thresholds"])
    given = [f"threshold={threshold!r}", *([f"thresholds={thresholds!r}"] if thresholds else [])]
    return call("graph", "marey.MotionGraph.build", list_of(clips), options=[*given, *options], imports=imports)


def graph_file_recipe(path: str) -> CodeRecipe:
    """Return the recipe of a motion graph in a file of the folder."""
    return call("graph", "marey.MotionGraph.load", repr(path))


def walk_recipe(graph: CodeRecipe, name: str, settings: GraphWalkSettings, feet: str | None) -> CodeRecipe:
    """Return the recipe of a random walk."""
    options, imports = write_options(settings)
    walk = call("", ".random_walk", options=options, end=f".place_at().motion(feet={feet!r})")
    return CodeRecipe(name, (graph, *walk.parts), imports)


def path_recipe(
    graph: CodeRecipe,
    path: Sequence[Sequence[float]],
    styles: list[tuple[float, str]] | None,
    settings: GraphPathSettings,
    feet: str | None,
) -> CodeRecipe:
    """Return the recipe of a walk along a path, whose points are part of the code."""
    drawn = CodeRecipe("path", (write_rows(path),))
    options, imports = write_options(settings, skip=["styles"])
    if styles is not None:
        options.insert(0, f"styles={styles!r}")
    parts = call("", ".follow", drawn, options=options, end=f".motion(feet={feet!r})").parts
    return CodeRecipe("path walk", (graph, *parts), imports)


def gaze_recipe(message: LookAt, motion: CodeRecipe, name: str) -> CodeRecipe:
    """Return the recipe of a motion that looks at targets."""
    gaze = "marey.GazeMap.default()" if message.map is None else f"marey.GazeMap.load({message.map!r})"
    goals = [(goal.time, *(goal.angles or (goal.point,))) for goal in message.goals]
    options, imports = write_options(message.settings, skip=["eyes"])
    if message.eyes:
        options.append('eyes="add"')
    return call(
        name, f"{gaze}.trace", motion, write_value(goals)[0], options=options, end=".motion", imports=imports
    )  # fmt: skip
