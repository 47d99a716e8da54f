"""Recipes: text files that describe how to build a character, reproducibly.

A recipe is TOML. Angles are in degrees.

::

    name = "boxer"
    fps = 60
    seed = 0
    retarget = true                       # onto one skeleton, if the files have several; or a file
    samples = [60, 400]                   # samples of source and target, for every edge

    [[nodes]]
    name = "walk"
    kind = "gait"                         # gait cycles, cut automatically
    parameters = ["turn", "speed"]
    mirror = true
    [[nodes.clips]]
    files = ["walks/*.bvh"]               # relative to the recipe
    file_fps = 60                         # true rate, if the files state another

    [[nodes]]
    name = "punch"
    kind = "parametric"                   # examples of one action
    feature = "position:right_hand@farthest"
    names = ["x", "y", "z"]
    request = "at a point"
    [[nodes.clips]]
    sample = "punch"                      # generated, in all combinations of the values
    x = [-0.2, 0.0, 0.2]
    y = { from = 1.1, to = 1.6, count = 4 }

    [[edges]]
    from = "walk"
    to = "punch"
    good = 0.06                           # thresholds in meters
    bad = 0.09
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from marey.errors import MareyError, ParseError, UnreadableFile, similar
from marey.io import limits
from marey.io.files import read_bytes
from marey.pmg.recipe_keys import Keys
from marey.pmg.requests import REQUESTS
from marey.pmg.settings import SeamSettings

__all__ = ["ClipSource", "EdgeRecipe", "NodeRecipe", "Recipe", "read_recipe", "shipped_recipes"]

KINDS = ("gait", "parametric", "part")
_SHIPPED = "recipes"


@dataclass(frozen=True, slots=True)
class ClipSource:
    """A ``[[nodes.clips]]`` table: clips that are generated or come from files.

    where : location in the recipe, for error messages.
    sample : name of the sample to generate, or "".
    values : values of each parameter of the sample, used in all combinations; angles in degrees.
    where_possible : skip combinations that cannot be generated.
    files : file names or patterns, relative to the recipe; one that ends with ``*`` takes clips of all formats.
    file_fps : frame rate of the recordings, if the files state none or a wrong one; otherwise None.
    start, stop : part of the clip to use: a time in seconds, or a moment such as ``walk:start-0.3`` or
        ``passing:1+0.2`` (see `recipe_keys.MOMENT`); None for the clip's own start or end.
    """

    where: str
    sample: str = ""
    values: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    where_possible: bool = False
    files: tuple[str, ...] = ()
    file_fps: float | None = None
    start: float | str | None = None
    stop: float | str | None = None


@dataclass(frozen=True, slots=True)
class NodeRecipe:
    """A ``[[nodes]]`` table: one node of the character.

    kind : "gait", "parametric", or "part" (a node that uses the space of another node with different ranges).
    clips : sources of the clips; none if the space comes from a file.
    parameters : parameters of a gait space, or of the generated samples.
    feature : feature to measure, as text for `marey.parametric.parse_features`, or "".
    names : new names for the parameters of a parametric node.
    space : file of a saved space, or "".
    of : for a part, the node whose space it uses.
    low, high : ranges of the parameters, in degrees for angles; None for those of the space.
    bandwidth : kernel width for each parameter, in degrees for angles; None for the default.
    margin, mirror, steps, side : see `GaitSpace.build`.
    max_distance : see `ParametricMotion.build`.
    request : name of a request function in `REQUESTS`.
    """

    name: str
    kind: str
    clips: tuple[ClipSource, ...] = ()
    parameters: tuple[str, ...] = ()
    feature: str = ""
    names: tuple[str, ...] = ()
    space: str = ""
    of: str = ""
    low: tuple[float, ...] | None = None
    high: tuple[float, ...] | None = None
    bandwidth: tuple[float, ...] | None = None
    margin: float = 0.2
    mirror: bool = False
    steps: int = 2
    side: Literal["left", "right"] = "left"
    max_distance: float = 0.3
    request: str = "by name"


@dataclass(frozen=True, slots=True)
class EdgeRecipe:
    """An ``[[edges]]`` table: one edge of the character; see `ParametricMotionGraph.connect`.

    source, target : names of the nodes.
    good, bad : T_GOOD and T_BAD, limits on the distance of a transition in meters; None to choose them automatically.
    part : name of a new node. If only a sub-range of the source has good transitions, that sub-range becomes this node.
        None for no such node.
    samples : number of samples of the source and of the target.
    """

    source: str
    target: str
    good: float | None = None
    bad: float | None = None
    part: str | None = None
    samples: tuple[int, int] = (60, 400)


@dataclass(frozen=True, slots=True)
class Recipe:
    """A complete recipe for a character.

    name : name of the character.
    nodes, edges : the tables of the recipe.
    seams : transition settings.
    fps : frame rate of all motions, in frames per second.
    seed : random seed.
    samples : default number of samples of source and target for each edge.
    retarget : whether files are retargeted onto one skeleton, or a file with the skeleton. Without a file, the skeleton
        is that of samples and saved spaces in the recipe, else the most frequent one.
    auto : thresholds good and bad in meters, if all pairs that are not listed should be tried too; otherwise None.
    about : one-line description.
    path : path of the recipe file, for messages and relative paths; the name if it comes with marey.

    Examples
    --------
    >>> recipe = marey.pmg.read_recipe("walking")
    >>> [node.name for node in recipe.nodes], recipe.fps
    (['walk'], 60.0)
    """

    name: str
    nodes: tuple[NodeRecipe, ...]
    edges: tuple[EdgeRecipe, ...]
    seams: SeamSettings = field(default_factory=SeamSettings)
    fps: float = 60.0
    seed: int = 0
    samples: tuple[int, int] = (60, 400)
    retarget: bool | str = False
    auto: tuple[float, float] | None = None
    about: str = ""
    path: str = ""


def shipped_recipes() -> Mapping[str, str]:
    """Return the descriptions of the recipes that come with marey, keyed by name.

    Examples
    --------
    >>> "walking" in marey.pmg.shipped_recipes()
    True
    """
    folder = resources.files("marey.pmg") / _SHIPPED
    out = {}
    for each in sorted(folder.iterdir(), key=lambda file: file.name):
        if each.name.endswith(".toml"):
            out[each.name.removesuffix(".toml")] = str(tomllib.loads(each.read_text("utf-8")).get("about", ""))
    return MappingProxyType(out)


def read_recipe(recipe: str | os.PathLike[str]) -> Recipe:
    """Read and check a recipe.

    Parameters
    ----------
    recipe : a .toml file, or the name of one of `shipped_recipes`, such as ``"walking"``.

    Examples
    --------
    >>> recipe = marey.pmg.read_recipe("walking")
    >>> recipe.name, recipe.samples
    ('walker', (120, 400))
    """
    name = os.fspath(recipe)
    if name.lower().endswith(".toml") or Path(name).exists():
        text = read_bytes(name).decode("utf-8", "replace")
    else:
        known = shipped_recipes()
        if name not in known:
            hint = similar(name, known, n=1)
            raise UnreadableFile(
                f"is neither a .toml file nor a built-in recipe; recipes: {', '.join(known)}{hint}",
                path=name,
            )
        text = (resources.files("marey.pmg") / _SHIPPED / f"{name}.toml").read_text("utf-8")
    limits.check_toml(text, name)
    try:
        described = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ParseError(f"this is not valid TOML: {error}", path=name) from None
    return _parse_recipe(Keys(described, name, "the recipe"), name)


def _parse_recipe(keys: Keys, path: str) -> Recipe:
    keys.expect("name", "about", "fps", "seed", "samples", "retarget", "seams", "nodes", "edges", "auto")
    for key in keys.left():
        if key != "name" and key in NodeRecipe.__dataclass_fields__:
            written = "[[nodes.clips]]" if key == "clips" else f"{key} below [[nodes]]"
            keys.fail(f"{key} belongs to a node; write {written}")
    keys.check_known()
    samples = keys.pair("samples", (60, 400))
    how = keys.table("seams").settings(SeamSettings)
    nodes: list[NodeRecipe] = []
    for each in keys.tables("nodes", "node", needed=True):
        node = _parse_node(each, [known.name for known in nodes])
        nodes.append(node)
    names = [node.name for node in nodes]
    edges: list[EdgeRecipe] = []
    parts: list[str] = []
    for each in keys.tables("edges", "edge"):
        edge = _parse_edge(each, [*names, *parts], samples)
        edges.append(edge)
        if edge.part is not None:
            parts.append(edge.part)
    auto = None
    if keys.has("auto"):
        table = keys.table("auto")
        good, bad = table.number("good", 0.10, above=0.0), table.number("bad", 0.15, above=0.0)
        _check_order(table, good, bad)
        table.done()
        auto = good, bad
    retarget: bool | str = keys.flag_or_text("retarget")
    if not edges and auto is None:
        keys.miss("a character needs [[edges]] or [auto], got neither")
    result = Recipe(
        keys.text("name", needed=True), tuple(nodes), tuple(edges), how, keys.number("fps", 60.0, above=0.0),
        keys.integer("seed", 0), samples, retarget, auto, keys.text("about", ""), path,
    )  # fmt: skip
    keys.done()
    return result


def _parse_node(keys: Keys, before: list[str]) -> NodeRecipe:
    keys.expect(*NodeRecipe.__dataclass_fields__)
    name = keys.text("name", needed=True)
    keys.where = f"node {name!r}"
    if name in before:
        keys.fail("this name is already in use; choose another")
    kind = keys.choice("kind", KINDS)
    fields: dict[str, Any] = {"name": name, "kind": kind, "low": keys.numbers("low"), "high": keys.numbers("high")}
    if kind == "part":
        fields["of"] = keys.text("of", needed=True)
        if fields["of"] not in before:
            keys.fail(f"of: no node {fields['of']!r} comes before this one{similar(fields['of'], before)}")
        for end in ("low", "high"):
            if fields[end] is None:
                keys.miss(f"{end} is missing; a part needs the ranges of its parameters")
    else:
        fields |= _parse_space(keys, kind)
    fields["request"] = keys.choice("request", tuple(REQUESTS), "by name") if kind != "part" else "by name"
    keys.done()
    return NodeRecipe(**fields)


def _parse_space(keys: Keys, kind: str) -> dict[str, Any]:
    fields: dict[str, Any] = {"space": keys.text("space", "")}
    if fields["space"]:
        fields["names"] = keys.texts("names") if kind == "parametric" else ()
        return fields
    fields["clips"] = tuple(_parse_clips(each) for each in keys.tables("clips", "clips", needed=True))
    fields["mirror"] = keys.flag("mirror", False)
    fields["bandwidth"] = keys.numbers("bandwidth")
    if kind == "gait":
        fields["parameters"] = keys.texts("parameters") or ("turn",)
        fields["margin"] = keys.number("margin", 0.2, above=0.0)
        fields["steps"], fields["side"] = keys.integer("steps", 2), keys.choice("side", ("left", "right"), "left")
        if fields["steps"] not in (1, 2):
            keys.fail(f"steps must be 1 (a step of one side) or 2 (a full cycle), not {fields['steps']}")
        return fields
    fields["feature"], fields["parameters"] = keys.text("feature", ""), keys.texts("parameters")
    if bool(fields["feature"]) == bool(fields["parameters"]):
        got = "both" if fields["feature"] else "neither"
        keys.miss(f"expected either 'feature' (measured on the clips) or 'parameters' (of samples), got {got}")
    if fields["parameters"] and any(not each.sample for each in fields["clips"]):
        keys.fail("'parameters' apply only to samples; clips from files need a 'feature' to measure")
    fields["names"] = keys.texts("names")
    fields["max_distance"] = keys.number("max_distance", 0.3, above=0.0)
    return fields


def _parse_clips(keys: Keys) -> ClipSource:
    start, stop = keys.moment("from"), keys.moment("to")
    if keys.has("files"):
        files = keys.texts("files")
        file_fps = keys.number("file_fps", None, above=0.0) if keys.has("file_fps") else None
        keys.done(also="a sample")
        return ClipSource(keys.where, files=files, file_fps=file_fps, start=start, stop=stop)
    from marey.samples.catalog import entry, sample_names

    if not keys.has("sample"):
        keys.expect("sample", "where_possible", "files", "file_fps", "from", "to")
        keys.miss(
            "'sample' is missing; give either 'sample' or 'files'",
            {parameter.name for name in sample_names() for parameter in entry(name).parameters},
        )
    sample = keys.text("sample", needed=True)
    try:
        parameters = entry(sample).parameters
    except MareyError as error:
        keys.fail(f"sample: {error}")
    possible = keys.flag("where_possible", False)
    values = {name: keys.values(name) for name in list(keys.left()) if name in {each.name for each in parameters}}
    for parameter in parameters:
        try:
            for value in values.get(parameter.name, ()):
                parameter.from_degrees(sample, value)
        except MareyError as error:
            keys.fail(f"{parameter.name}: {error}")
    keys.done([each.name for each in parameters])
    return ClipSource(keys.where, sample, MappingProxyType(values), possible, start=start, stop=stop)


def _parse_edge(keys: Keys, names: list[str], samples: tuple[int, int]) -> EdgeRecipe:
    keys.expect("from", "to", "good", "bad", "part", "samples")
    ends = keys.text("from", needed=True), keys.text("to", needed=True)
    keys.where = f"edge {ends[0]!r} to {ends[1]!r}"
    for key, end in zip(("from", "to"), ends, strict=True):
        if end not in names:
            keys.fail(f"{key}: no node {end!r}{similar(end, names)}; nodes: {', '.join(map(repr, names))}")
    good, bad = (keys.number(key, None, above=0.0) if keys.has(key) else None for key in ("good", "bad"))
    _check_order(keys, good, bad)
    part = keys.text("part", "") or None
    if part is not None and good is None:
        keys.fail("'part' needs 'good', because the automatic threshold gives every motion of the source a transition")
    edge = EdgeRecipe(ends[0], ends[1], good, bad, part, keys.pair("samples", samples))
    keys.done()
    return edge


def _check_order(keys: Keys, good: float | None, bad: float | None) -> None:
    """Raise an error if good is above bad."""
    if good is not None and bad is not None and good > bad:
        keys.fail(f"'good' must be at most 'bad', but they are {good:g} m and {bad:g} m; swap them")
