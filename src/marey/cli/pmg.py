"""`marey pmg`: build and play steerable characters (parametric motion graphs)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from marey.cli.derived_options import SettingsCommand, add_settings, read_settings
from marey.cli.files import check_output, check_plot, check_replaced
from marey.cli.pmg_export import export
from marey.cli.pmg_play import go, reach, steer, walk
from marey.cli.pmg_report import info, open_character, plot, print_character, print_edge
from marey.cli.query import AS_JSON
from marey.cli.shared_options import add_reading_options, take_reading_options
from marey.cli.values import NumberList
from marey.errors import InvalidValue, NoResult, UnreadableFile, UnwritableFile

if TYPE_CHECKING:
    from marey.pmg import ParametricMotionGraph
    from marey.pmg.auto import AutoReport

S = TypeVar("S")
_SUFFIXES = (".bvh", ".amc", ".fbx", ".glb", ".gltf", ".npz")
_LIMITS = NumberList("numbers", "40 or -40,0.8")
# The earlier form of --n-source and --n-target.
_SAMPLES = click.option(
    "--samples", hidden=True,
    type=NumberList("two numbers of at least 2", "60,400", 2, name="source,target", integers=True, minimum=2),
)  # fmt: skip


@click.group("pmg")
def command() -> None:
    """Build and play steerable characters (parametric motion graphs).

    Each node of the graph is a parametric space of motions; edges are the possible transitions. CHAR is a .json file;
    the motions of its nodes are stored next to it. Angles are in degrees.

    \b
    Example:
      marey pmg build walking -o walker.json
      marey pmg walk walker.json --seconds 60 -o walk.bvh
      marey pmg go walker.json --to 3,5 -o there.bvh
      marey pmg export walker.json -o walker.html
      marey pmg new me.json && marey pmg add me.json walk --clips walks/ --parameters turn --mirror
      marey pmg connect me.json walk walk --plot costs.png
    """


@command.command("new", cls=SettingsCommand)
@click.argument("char", metavar="CHAR")
@click.option("--name", help="Name of the character.  [default: the file name]")
@add_settings("marey.pmg.settings:CharacterSettings", skip=("name",))
@AS_JSON
def new(char: str, as_json: bool, **options: Any) -> None:
    """Create a character without nodes.

    \b
    Example:
      marey pmg new boxer.json --name boxer
    """
    from marey.pmg import CharacterSettings, ParametricMotionGraph

    if Path(char).exists():
        raise UnwritableFile("already exists; remove it first, or choose another name", path=char)
    check_output(char, form="marey.pmg", suffixes=(".json",))
    options["name"] = options["name"] or Path(char).stem
    graph = ParametricMotionGraph(settings=read_settings(CharacterSettings, options))
    graph.save(char)
    print_character(graph, as_json, written=[char])


@command.command("add", cls=SettingsCommand, short_help="Add a node, from clips or from a saved space.")
@click.argument("char", metavar="CHAR")
@click.argument("node", metavar="NODE")
@click.argument("more", nargs=-1, metavar="")
@click.option("--clips", multiple=True, metavar="FILE|FOLDER...", help="Motions to build the node from.")
@click.option("--space", metavar="SPACE", help="A saved space, such as one made by `marey parametric build`.")
@click.option(
    "--parameters", default="turn", show_default=True, help="Parameters of walks or runs: turn, or turn,speed."
)
@add_settings("marey.pmg.settings:GaitSettings")
@add_settings("marey.pmg.settings:ActionSettings")
@add_settings("marey.pmg.settings:NodeSettings")
@click.option(
    "--bandwidth", type=_LIMITS,
    help="Kernel width for each parameter.  [default: 7 degrees per gait cycle and 0.1 m/s; for single actions, 0.4 "
    "of the average spacing of the clips]",
)  # fmt: skip
@click.option("--feature", help="For single actions, parameters as in `marey parametric build`.")
@click.option("--names", help="Names for the parameters, separated by commas.")
@click.option("--request", type=click.Choice(["by name", "at a point"]), default="by name", show_default=True,
              help="How requests are mapped to parameters.")  # fmt: skip
@click.option(
    "--low", type=_LIMITS, help="Smallest parameters that can be requested.  [default: all that the clips cover]"
)
@click.option(
    "--high", type=_LIMITS, help="Largest parameters that can be requested.  [default: all that the clips cover]"
)
@click.option("--fps", type=float, help="Frames per second.  [default: the character's rate, or 60]")
@add_reading_options
@AS_JSON
def add(char: str, node: str, more: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Add a node to a character, from clips or from a saved space.

    If the character has nodes, --retarget without a file uses its skeleton.

    \b
    Example:
      marey pmg add me.json walk --clips walks/*.bvh --parameters turn,speed --mirror
      marey pmg add me.json run --clips runs/ --mirror --retarget
      marey pmg add me.json kick --space kick.npz --names x,y,z --request "at a point"
    """
    from marey.pmg.files import save_character
    from marey.pmg.requests import REQUESTS
    from marey.pmg.units import to_internal_units

    graph = open_character(char)
    if node in graph.nodes:
        raise InvalidValue(f"{graph.name!r} already has a node {node!r}; choose another name")
    clips = (*options["clips"], *more)
    if bool(clips) == bool(options["space"]):
        raise click.UsageError("give either --clips or --space")
    space = _load_space(options) if options["space"] else _build_space(graph, clips, options)
    low, high = (to_internal_units(options[end], space.units, f"--{end}") for end in ("low", "high"))
    graph.add(node, space, request=REQUESTS[options["request"]], low=low, high=high)
    save_character(graph, char, spare=[options["space"]] if options["space"] else [])
    print_character(graph, as_json, written=[char])


def _load_space(options: dict[str, Any]) -> Any:
    from marey.parametric import ParametricMotion
    from marey.pmg import ActionSpace
    from marey.pmg.files import load_any_space

    space = load_any_space(options["space"])
    return ActionSpace.build(space, names=_names(options)) if isinstance(space, ParametricMotion) else space


def _build_space(graph: ParametricMotionGraph, clips: tuple[str, ...], options: dict[str, Any]) -> Any:
    from marey.check import warn_of_findings
    from marey.parametric import ParametricMotion
    from marey.pmg import ActionSpace, GaitSettings, GaitSpace
    from marey.pmg.recipe_clips import read_clip
    from marey.pmg.units import to_internal_units

    names = options["parameters"].split(",")
    units = ["rad", "m/s"][: len(names)]
    width = None if options["feature"] else to_internal_units(options["bandwidth"], units, "--bandwidth")
    onto = _load_target(graph, options.pop("retarget"))
    settings = read_settings(GaitSettings, options, parameters=names, bandwidth=width, retarget=onto)
    fps = options["fps"] or (graph.fps if graph.nodes else 60.0)
    how = take_reading_options(options)
    motions = [read_clip(path, fps, how) for path in _files(clips)]
    warn_of_findings(motions)
    if options["feature"] is None:
        return GaitSpace.build(motions, settings=settings)
    if settings.mirror:
        from marey.edit import mirror

        motions += [mirror(motion) for motion in motions]
    parametric = ParametricMotion.build(motions, options["feature"], samples=0, crop=None, retarget=settings.retarget)
    width = to_internal_units(options["bandwidth"], parametric.units, "--bandwidth")
    return ActionSpace.build(parametric, names=_names(options), bandwidth=width)


def _load_target(graph: ParametricMotionGraph, file: str | None) -> Any:
    """Return a motion with the skeleton of --retarget: of the file, or of the character's nodes if there are any."""
    from dataclasses import replace

    from marey.pmg.recipe_clips import load_target

    if file:
        return load_target(file)
    if file is None or not graph.nodes:
        return file
    first = next(iter(graph.nodes.values()))
    return replace(first.motion(first.middle), name=first.name)


def _names(options: dict[str, Any]) -> tuple[str, ...]:
    return tuple(options["names"].split(",")) if options["names"] else ()


def _files(clips: tuple[str, ...]) -> list[Path]:
    out: list[Path] = []
    for text in clips:
        path = Path(text)
        if path.is_dir():
            found = sorted(each for each in path.iterdir() if each.suffix.lower() in _SUFFIXES)
            if not found:
                raise UnreadableFile("contains no motion files", path=text)
            out += found
        else:
            out.append(path)
    return out


@command.command("connect", cls=SettingsCommand)
@click.argument("char", metavar="CHAR")
@click.argument("source", metavar="A")
@click.argument("target", metavar="B")
@add_settings("marey.pmg.settings:EdgeSettings")
@_SAMPLES
@click.option(
    "--plot", "picture", metavar="PNG", help="Plot the costs of the transitions, even if no edge can be made."
)
@AS_JSON
def connect(char: str, source: str, target: str, picture: str | None, as_json: bool, **options: Any) -> None:
    """Add an edge from node A to node B. If --good and --bad are omitted, they are chosen from all transitions.

    The exit code is 1 if some motions of A have no transition; --plot then shows which threshold they would need.

    \b
    Example:
      marey pmg connect me.json walk walk --plot costs.png
      marey pmg connect me.json walk run --good 0.08 --bad 0.12 --part "fast walk"
    """
    from marey.pmg import CompareSettings, EdgeSettings

    graph = open_character(char)
    settings = _read_edge_settings(EdgeSettings, options)
    check_plot(picture)
    comparison = graph.compare(source, target, **settings.select(CompareSettings))
    try:
        edge = graph.connect(source, target, settings=settings, compared=comparison)
    except NoResult:
        if picture is not None:
            _draw(comparison, f"{source} to {target}: no edge", picture, settings.good, settings.bad)
        raise
    if picture is not None:
        _draw(comparison, f"{source} to {target}", picture, edge.good, edge.bad)
    graph.save(char)
    print_edge(graph, edge, as_json, written=[char, *([picture] if picture else [])])


def _read_edge_settings(kind: Callable[..., S], options: dict[str, Any]) -> S:
    """Return the settings of edges; the deprecated option --samples sets n_source and n_target."""
    for name, count in zip(("n_source", "n_target"), options.pop("samples") or (), strict=False):
        options[name] = count if options[name] is None else options[name]
    return read_settings(kind, options)


def _draw(comparison: Any, title: str, picture: str, good: float | None, bad: float | None) -> None:
    from marey.plot.pmg_costs import costs

    n, m = comparison.costs.shape
    costs(comparison, picture, title=f"{title}, {n} x {m} samples", good=good, bad=bad)


@command.command("auto", cls=SettingsCommand, short_help="Connect all pairs of nodes that fit.")
@click.argument("char", metavar="CHAR")
@add_settings("marey.pmg.settings:ConnectAllSettings")
@_SAMPLES
@click.option("--keep", "prune", flag_value=False, default=None, hidden=True)
@AS_JSON
def auto(char: str, as_json: bool, **options: Any) -> int:
    """Try to connect all pairs of nodes, and remove dead ends (nodes that cannot continue forever).

    The exit code is 1 if nothing playable is left or, with --no-prune, if there are dead ends.

    \b
    Example:
      marey pmg auto me.json --good 0.08 --bad 0.12
    """
    from marey.cli.progress import bar
    from marey.pmg import ConnectAllSettings

    graph = open_character(char, empty=False)
    settings = _read_edge_settings(ConnectAllSettings, options)
    with bar("connecting") as progress:
        report = graph.connect_all(settings=settings, progress=progress)
    if graph.nodes:
        graph.save(char)
    print_character(graph, as_json, written=[char] if graph.nodes else [], report=report)
    return 0 if graph.nodes and not graph.dead_ends() else 1


@command.command("build", short_help="Build a character from a recipe.")
@click.argument("recipe", metavar="RECIPE|NAME")
@click.option("-o", "--output", required=True, metavar="CHAR", help="The character to write, a .json file.")
@click.option(
    "--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Number of processes for comparing."
)
@AS_JSON
def build(recipe: str, output: str, jobs: int, as_json: bool) -> None:
    """Build a character from a recipe: a .toml file, or a built-in recipe.

    If an edge cannot be made or [auto] leaves nothing playable, the exit code is 1 and nothing is written.

    \b
    Built-in recipes: walking, stopping, stepping, right-turner, running, cartwheeling, walk-run,
    boxing, everyday.
    \b
    Example:
      marey pmg build boxing -o boxer.json
      marey pmg build me.toml -o me.json
    """
    from marey.cli.progress import bar
    from marey.control import save_plan
    from marey.control.plan_file import plan_path
    from marey.pmg import build_recipe, read_recipe
    from marey.store import run_on

    check_output(output, form="marey.pmg", suffixes=(".json",))
    check_replaced(plan_path(output), "marey.plan")
    read = read_recipe(recipe)
    with bar("building") as progress:
        found: list[AutoReport] = []
        graph = build_recipe(read, progress=progress, run=run_on(jobs), report=found.append)
    graph.save(output)
    written = [output, str(save_plan(graph, output))]
    print_character(graph, as_json, written=written, report=found[0] if found else None, limits=True)


for subcommand in (info, plot, walk, go, steer, reach, export):
    command.add_command(subcommand)

__all__ = ["command"]
