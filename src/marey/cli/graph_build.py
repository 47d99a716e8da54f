"""`marey graph build`: build a motion graph from a folder of clips."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from marey.cli.files import check_output
from marey.cli.graph_params import Limit, Pair
from marey.cli.graph_report import JSON, SEED, print_graph
from marey.cli.options import of_folder, open_folder, running, running_options
from marey.cli.settings import SettingsCommand

if TYPE_CHECKING:
    from marey.graph import MotionGraph
    from marey.store import MotionSet

# Seconds after which the total time is estimated, and the shortest total time (s) worth printing.
_MEASURED, _WORTH_PRINTING = 0.5, 2.0
# Options that apply only to graphs built by distance, with the reason.
_DISTANCES_ONLY = (
    ("threshold", "--threshold", "--similarity S is itself the threshold"),
    ("pairs", "--pair", "thresholds for pairs of labels are distances"),
    ("coarse", "--coarse", "similarity has no coarse search"),
    ("registered", "--registered", "registered transitions need a graph built by distance"),
)


@click.command("build", cls=SettingsCommand)
@click.argument("folder")
@click.option("-o", "--output", required=True, metavar="GRAPH", help="The graph to write, an .npz file.")
@click.option(
    "--threshold", type=Limit(), default="0.06", show_default=True,
    help="Maximum distance of a transition: meters, or the best part of all candidates such as 10%.",
)  # fmt: skip
@click.option(
    "--pair",
    "pairs",
    type=Pair(),
    multiple=True,
    help="Threshold from one label to another; 0 forbids transitions. May be repeated.",
)
@click.option(
    "--similarity", type=float, metavar="S",
    help="Instead of by distance, make transitions where poses, velocities and accelerations have at least this "
    "similarity (0 to 1, such as 0.7) and the bodies are within 15 cm of each other.",
)  # fmt: skip
@click.option("--window", type=float, help="Length of a transition in seconds.  [default: 0.5; with --similarity 0.3]")
@click.option("--registered", is_flag=True, help="Add longer, registered transitions where plain ones fail.")
@click.option(
    "--variations", type=click.IntRange(min=0), default=0, metavar="N",
    help="Add N random blends of each action that has several takes.",
)  # fmt: skip
@of_folder
@running
@click.option("--coarse", type=int, default=1, show_default=True, help="Compare every n-th frame first.")
@SEED
@JSON
@click.pass_context
def build(ctx: click.Context, /, folder: str, output: str, as_json: bool, **options: Any) -> int:
    """Build a motion graph from the clips in FOLDER.

    Build time grows with the square of the total clip length; on a terminal, an estimate is printed. Pairs of clips
    that were compared before are read from the cache. The exit code is 1 if the graph has problems, which are listed.

    \b
    Example:
      marey graph build clips/ -o g.npz
      marey graph build clips/ -o g.npz --threshold 0.08 --pair walk:run=0.12 --mirrored
      marey graph build clips/ -o g.npz --variations 4 --registered
      marey graph build clips/ -o g.npz --similarity 0.7
    """
    from marey.cli.progress import bar

    _check(ctx, options)
    check_output(output, what="a graph", suffixes=(".npz",))
    began = time.monotonic()
    clips = open_folder(folder, options, output)
    here, run = running_options(options)
    with bar("reading") as progress:
        clips.prepare(run=here, progress=progress)
    n_frames = sum(clips.lengths)
    with bar("comparing") as progress:
        graph = _build_graph(clips, options, run, None if progress is None else _with_estimate(progress, n_frames))
    if options["registered"]:
        with bar("adding registered transitions") as progress:
            graph = graph.with_registered_transitions(progress=progress)
    seconds = time.monotonic() - began
    graph.save(output)
    print_graph(graph, as_json, written=output, seconds=seconds)
    return 1 if graph.findings else 0


def _check(ctx: click.Context, options: dict[str, Any]) -> None:
    """Reject options that are invalid or exclude each other."""
    if options["window"] is not None and not 0.0 < options["window"] < float("inf"):
        raise click.UsageError(f"--window must be greater than 0 s, not {options['window']:g}")
    if options["coarse"] < 1:
        raise click.UsageError(f"--coarse must be at least 1, not {options['coarse']}")
    if options["similarity"] is None:
        return
    default = click.core.ParameterSource.DEFAULT
    for name, flag, why in _DISTANCES_ONLY:
        if ctx.get_parameter_source(name) != default:
            raise click.UsageError(f"{flag} cannot be combined with --similarity: {why}")


def _build_graph(
    clips: MotionSet, options: dict[str, Any], run: Callable[..., Any], progress: Callable[[float], None] | None
) -> MotionGraph:
    from marey.graph import GraphOptions, MotionGraph, SimilarityOptions

    extra = {"variations": options["variations"], "rng": options["seed"]}
    window = options["window"]
    if options["similarity"] is not None:
        similarity = SimilarityOptions(**extra) if window is None else SimilarityOptions(fade=window, **extra)
        return MotionGraph.build_by_similarity(clips, options["similarity"], options=similarity, progress=progress)
    return MotionGraph.build(
        clips,
        options["threshold"],
        thresholds=dict(options["pairs"]),
        options=GraphOptions(window=0.5 if window is None else window, coarse_step=options["coarse"], **extra),
        cache=clips.cache,
        run=run,
        progress=progress,
    )


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
            sys.stderr.write(f"comparing {n_frames} frames with each other takes about {shown_time(total)}\n")

    return report_progress


def shown_time(seconds: float) -> str:
    """Format a duration: ``"40 s"``, ``"3 min 20 s"``, ``"2 h 5 min"``."""
    rounded = round(seconds)
    if rounded < 60:
        return f"{rounded} s"
    if rounded < 3600:
        return f"{rounded // 60} min {rounded % 60} s"
    return f"{rounded // 3600} h {rounded % 3600 // 60} min"
