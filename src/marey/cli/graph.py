"""`marey graph`: build motion graphs from clips, and generate motion from them."""

from __future__ import annotations

from typing import Any

import click

from marey.cli import graph_build, graph_walks
from marey.cli.derived_options import SettingsCommand, add_settings, read_settings
from marey.cli.files import check_output, check_plot, print_json
from marey.cli.graph_report import JSON, print_graph
from marey.cli.values import Moment
from marey.errors import InvalidValue, plural


@click.group("graph")
def command() -> None:
    """Build a motion graph from clips, and generate new motion of any length from it.

    \b
    Example:
      marey graph build clips/ -o g.npz
      marey graph info g.npz
      marey graph walk g.npz -o walk.bvh --seconds 60
      marey graph path g.npz --word Hello --width 12 -o hello.bvh --plot hello.png
    """


_WALKS = ("walk", "path", "reach", "search", "steer", "crowd")
for _subcommand in (graph_build.build, graph_build.register, *(getattr(graph_walks, name) for name in _WALKS)):
    command.add_command(_subcommand)


@command.command("info", short_help="Show what is in a graph.")
@click.argument("file", metavar="GRAPH")
@click.option(
    "--response/--no-response",
    default=True,
    show_default=True,
    help="Measure the response time to a new direction.",
)
@JSON
def info(file: str, response: bool, as_json: bool) -> int:
    """Show what is in a graph: clips, transitions, labels, and the time needed to get from one label to another.

    \b
    Example:
      marey graph info g.npz
    """
    from marey.graph import MotionGraph

    graph = MotionGraph.load(file)
    print_graph(graph, as_json, response=response)
    return 1 if graph.findings else 0


@command.command("table", cls=SettingsCommand, short_help="Compute a table for steering.")
@click.argument("file", metavar="GRAPH")
@click.option("-o", "--output", required=True, metavar="OUT", help="The table to write, an .npz file.")
@add_settings("marey.graph.settings:DirectionSettings")
@JSON
def table(file: str, output: str, as_json: bool, **options: Any) -> None:
    """Compute the best next transition for every node and direction, for steering.

    \b
    Example:
      marey graph table g.npz -o table.npz
    """
    from pathlib import Path

    from marey.graph import DirectionSettings, MotionGraph, response_time

    check_output(output, form="marey.directions", suffixes=(".npz",))
    settings = read_settings(DirectionSettings, options)
    directions, graph = settings.n_directions, MotionGraph.load(file)
    directions_table = graph.direction_table(settings=settings)
    directions_table.save(output)
    data = sum(clip.rotations.nbytes + clip.root_positions.nbytes for clip in graph.clips)
    fraction = Path(output).stat().st_size / data
    median, late = response_time(graph, directions_table)
    report = {
        "written": output,
        "directions": directions,
        "sweeps": directions_table.sweeps,
        "fraction_of_data": fraction,
        "response_median_s": median,
        "response_p90_s": late,
    }
    if as_json:
        print_json(report)
        return
    click.echo(f"wrote {output}: {plural(directions, 'direction')} at each of {plural(len(graph.nodes), 'node')}")
    click.echo(
        f"size: {100 * fraction:.1f} % of that of the clips; median response time to a new direction {median:.1f} s"
    )


@command.command("thin", cls=SettingsCommand, short_help="Remove the least useful transitions.")
@click.argument("file", metavar="GRAPH")
@click.option("-o", "--output", required=True, metavar="OUT", help="The graph to write, an .npz file.")
@click.option(
    "--loss", type=float, default=10.0, show_default=True,
    help="Allowed loss of responsiveness and path accuracy, in percent; labels lose nothing.",
)  # fmt: skip
@add_settings("marey.graph.settings:ReductionSettings", skip=("loss",))
@JSON
def thin(file: str, output: str, loss: float, as_json: bool, **options: Any) -> None:
    """Remove the least useful transitions. --loss is the largest acceptable loss of control, in percent.

    \b
    Example:
      marey graph thin g.npz -o small.npz --loss 10
    """
    from marey.graph import MotionGraph, ReductionSettings

    if not 0.0 <= loss < 100.0:
        raise click.UsageError(f"--loss must be at least 0 and below 100 percent, not {loss:g}")
    check_output(output, form="marey.graph", suffixes=(".npz",))
    graph = MotionGraph.load(file)
    result = graph.reduce_transitions(settings=read_settings(ReductionSettings, options, loss=loss / 100.0))
    result.graph.save(output)
    if as_json:
        print_json({"written": output, **result.to_dict()})
        return
    before, after = result.before, result.after
    click.echo(f"wrote {output}: {after.transitions} of {plural(before.transitions, 'transition')}")
    click.echo(
        f"  progress in any direction: {before.progress:.2f} m before, {after.progress:.2f} m after; distance from "
        f"paths: {100 * before.deviation:.1f} cm before, {100 * after.deviation:.1f} cm after"
    )


@command.command("plot", short_help="Plot a graph, or its size by threshold.")
@click.argument("file", metavar="GRAPH")
@click.option("-o", "--output", required=True, metavar="OUT", help="The plot to write: PNG or SVG.")
@click.option(
    "--kind", type=click.Choice(["graph", "threshold"]), default="graph", show_default=True,
    help="Clips and transitions, or how much of the graph each threshold keeps.",
)  # fmt: skip
def plot(file: str, output: str, kind: str) -> None:
    """Plot a graph: its clips and transitions, or how much of it each threshold keeps.

    \b
    Example:
      marey graph plot g.npz -o g.png
      marey graph plot g.npz -o threshold.png --kind threshold
    """
    from marey.graph import MotionGraph
    from marey.plot import graph as plots

    check_plot(output)
    draw = plots.graph if kind == "graph" else plots.threshold
    draw(MotionGraph.load(file), output)
    click.echo(f"wrote {output}")


@command.command("label")
@click.argument("file")
@click.argument("name")
@click.option("--from", "begin", type=Moment(), help="Start: seconds (1.2) or a frame (36f).  [default: the beginning]")
@click.option("--to", "end", type=Moment(), help="End: seconds or a frame, exclusive.  [default: the end]")
def label(file: str, name: str, begin: float | int | None, end: float | int | None) -> None:
    """Add a label to FILE, stored in its sidecar.

    \b
    Example:
      marey graph label clips/a.bvh walk
      marey graph label clips/a.bvh turn --from 2.0 --to 3.5
    """
    from marey.cli.shared_options import frames_between
    from marey.graph.prune import UNLABELED
    from marey.io import load_motion
    from marey.store import add_label

    if name == UNLABELED:
        raise InvalidValue(f"{UNLABELED!r} is reserved for frames without a label; choose another name")
    start, stop = frames_between(load_motion(file), begin, end)
    sidecar = add_label(file, name, start, stop)
    click.echo(f"{name}: frames {start} to {stop} of {file}, in {sidecar}")
