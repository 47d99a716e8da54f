"""`marey graph build`: build a motion graph from clips."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from marey.cli.derived_options import SettingsCommand, add_settings, name_option, read_settings
from marey.cli.files import check_output
from marey.cli.graph_params import Pair, Weight
from marey.cli.graph_report import JSON, print_graph
from marey.cli.shared_options import build_options, markers_option, read_clip_set, renamed_option
from marey.cli.values import NumberList, Threshold

if TYPE_CHECKING:
    from marey.graph import GraphSettings, SimilaritySettings

# Seconds after which the total time is estimated, and the shortest total time (s) worth printing.
_MEASURED, _WORTH_PRINTING = 0.5, 2.0
_LENGTHS = NumberList("lengths of at least 0 seconds", "1.2,0.8", minimum=0.0, name="seconds,...")


@click.command("build", cls=SettingsCommand, short_help="Build a motion graph from clips.")
@click.option("-o", "--output", required=True, metavar="GRAPH", help="The graph to write, an .npz file.")
@click.option(
    "--threshold", type=Threshold(),
    help="Maximum distance of a transition: meters, or a percentage, such as 10% for the best tenth of all candidates."
    "  [default: 0.06]",
)  # fmt: skip
@click.option(
    "--pair",
    "thresholds",
    type=Pair(),
    multiple=True,
    help="Threshold from one label to another; 0 forbids transitions. May be repeated.",
)
@add_settings("marey.graph.settings:GraphSettings", skip=("fps", "retarget"))
@renamed_option("--coarse", "--coarse-step", type=int)
@markers_option()
@click.option("--registered", is_flag=True, help="Add longer transitions, aligned in time, where plain ones fail.")
@click.option(
    "--similarity", type=float, metavar="S",
    help="Instead of by distance, make transitions where poses, velocities and accelerations have at least this "
    "similarity (0 to 1, such as 0.7). --window is then the same as --fade.",
)  # fmt: skip
@add_settings(
    "marey.graph.settings:SimilaritySettings", skip=("threshold", "fps", "min_seconds", "variations", "rng", "retarget")
)
@click.option(
    "--weight",
    "weights",
    type=Weight(),
    multiple=True,
    help="Weight of a marker such as left_foot or, with --similarity, of a joint; 1 by default. May be repeated.",
)
@build_options
@JSON
@click.pass_context
def build(ctx: click.Context, /, files: tuple[str, ...], output: str, as_json: bool, **options: Any) -> int:
    """Build a motion graph from clips: files, and folders with their subfolders.

    Build time grows with the square of the total clip length; on a terminal, an estimate is printed. Pairs of clips
    that were compared before are read from the cache. The exit code is 1 if the graph has problems, which are listed.

    \b
    Example:
      marey graph build clips/ -o g.npz
      marey graph build walk.bvh run.bvh turns/ -o g.npz
      marey graph build clips/ -o g.npz --threshold 0.08 --pair walk:run=0.12 --mirrored
      marey graph build clips/ -o g.npz --variations 4 --registered
      marey graph build clips/ -o g.npz --weight left_foot=3 --weight right_foot=3 --per-joint 2
      marey graph build clips/ -o g.npz --similarity 0.7
    """
    from marey.cli.progress import bar
    from marey.graph import GraphSettings, MotionGraph

    settings = _read_settings(ctx, options)
    check_output(output, form="marey.graph", suffixes=(".npz",))
    began = time.monotonic()
    clips, run = read_clip_set(files, options, output)
    n_frames = sum(clips.lengths)
    with bar("comparing") as progress:
        report = None if progress is None else _with_estimate(progress, n_frames)
        if isinstance(settings, GraphSettings):
            graph = MotionGraph.build(clips, settings=settings, cache=clips.cache, run=run, progress=report)
        else:
            graph = MotionGraph.build_by_similarity(clips, settings=settings, progress=report)
    if options["registered"]:
        with bar("adding registered transitions") as progress:
            graph = graph.with_registered_transitions(progress=progress)
    seconds = time.monotonic() - began
    graph.save(output)
    if isinstance(settings, GraphSettings):
        hint = f"try a --threshold larger than {graph.build_info.threshold:.3g} m"
    else:
        hint = f"try a --similarity smaller than {options['similarity']:g}"
    if not ctx.params["mirrored"]:
        hint += ", or add mirrored clips with --mirrored"
    if graph.build_info.skipped:
        click.echo(f"marey: {100 * graph.build_info.skipped:.0f} % of the frame pairs were skipped", err=True)
    print_graph(graph, as_json, written=output, seconds=seconds, hint=hint)
    return 1 if graph.findings else 0


def _read_settings(ctx: click.Context, options: dict[str, Any]) -> GraphSettings | SimilaritySettings:
    """Return the settings; raise an error for options that apply only to the other kind of graph."""
    from marey.core.settings import options_of
    from marey.graph import GraphSettings, SimilaritySettings

    defaults = (None, click.core.ParameterSource.DEFAULT)
    given = {name for name in options if ctx.get_parameter_source(name) not in defaults}
    by_distance, by_similarity = (
        {each.name for each in options_of(kind)} for kind in (GraphSettings, SimilaritySettings)
    )
    similarity = options["similarity"]
    # These are read by `read_clip_set`.
    folder: dict[str, Any] = dict.fromkeys(("fps", "cache", "retarget"))
    if similarity is None:
        for name in given & (by_similarity - by_distance):
            raise click.UsageError(f"{name_option(name)} applies only with --similarity")
        own = {"thresholds": dict(options["thresholds"]), "threshold": options["threshold"]}
        own["weights"] = dict(options["weights"]) or None
        return read_settings(GraphSettings, options, **own, markers=options["markers"], **folder)
    for name in given & (by_distance - by_similarity - {"window"} | {"threshold", "registered"}):
        raise click.UsageError(f"{name_option(name)} cannot be combined with --similarity, which compares poses")
    if not 0.0 < similarity <= 1.0:
        raise click.UsageError(f"--similarity must be greater than 0 and at most 1, not {similarity:g}")
    options["fade"] = options["window"] if options["fade"] is None else options["fade"]
    weights = dict(options["weights"]) or None
    return read_settings(SimilaritySettings, options, threshold=similarity, weights=weights, **folder)


@click.command("register", cls=SettingsCommand, short_help="Add longer, registered transitions.")
@click.argument("file", metavar="GRAPH")
@click.option("-o", "--output", required=True, metavar="OUT", help="The graph to write, an .npz file.")
@add_settings("marey.graph.settings:RegisteredSettings")
@click.option(
    "--lengths", type=_LENGTHS, help="Lengths of a transition in seconds, tried in order.  [default: 1.2,0.8]"
)
@JSON
def register(file: str, output: str, lengths: tuple[float, ...] | None, as_json: bool, **options: Any) -> int:
    """Add longer transitions, with both clips aligned in time, where plain ones fail.

    `marey graph build --registered` does the same with default settings.

    \b
    Example:
      marey graph register g.npz -o more.npz --threshold 0.2 --lengths 1.5,1
    """
    from marey.cli.progress import bar
    from marey.graph import MotionGraph, RegisteredSettings

    check_output(output, form="marey.graph", suffixes=(".npz",))
    settings = read_settings(RegisteredSettings, options, lengths=lengths)
    with bar("adding registered transitions") as progress:
        graph = MotionGraph.load(file).with_registered_transitions(settings=settings, progress=progress)
    graph.save(output)
    print_graph(graph, as_json, written=output)
    return 1 if graph.findings else 0


def _with_estimate(progress: Callable[[float], None], n_frames: int) -> Callable[[float], None]:
    """Wrap `progress` to print the estimated total time once, from the speed of the first blocks."""
    first: list[tuple[float, float]] = []
    printed = False

    def report_progress(fraction: float) -> None:
        nonlocal printed
        progress(fraction)
        now = time.monotonic()
        if not first:
            first.append((now, fraction))
        elapsed, done = now - first[0][0], fraction - first[0][1]
        if printed or elapsed < _MEASURED or done <= 0.0:
            return
        printed = True
        total = elapsed / done
        if total > _WORTH_PRINTING:
            # The progress bar redirects standard error while it is shown and prints the line above itself.
            sys.stderr.write(f"comparing {n_frames} frames with each other takes about {format_duration(total)}\n")

    return report_progress


def format_duration(seconds: float) -> str:
    """Format a duration: ``"40 s"``, ``"3 min 20 s"``, ``"2 h 5 min"``."""
    rounded = round(seconds)
    if rounded < 60:
        return f"{rounded} s"
    if rounded < 3600:
        return f"{rounded // 60} min {rounded % 60} s"
    return f"{rounded // 3600} h {rounded % 3600 // 60} min"
