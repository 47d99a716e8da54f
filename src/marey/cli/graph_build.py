"""`marey graph build`: a graph from a folder of clips."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from marey.cli.graph_params import Limit, Pair, check_name
from marey.cli.graph_report import JSON, SEED, tell
from marey.cli.options import of_folder, opened_folder, running, running_options

if TYPE_CHECKING:
    from marey.graph import MotionGraph
    from marey.store import MotionSet

# Seconds after which the first blocks tell how long all of them will take, and below which nobody needs to know.
_MEASURED, _WORTH_TELLING = 0.5, 2.0
# What can only be said of distances between frames.
_DISTANCES_ONLY = (
    ("threshold", "--threshold", "--similarity S says itself how alike frames have to be"),
    ("pairs", "--pair", "limits of pairs of labels are distances"),
    ("coarse", "--coarse", "there is no coarse search for similarity"),
    ("registered", "--registered", "its transitions are added to graphs by distance"),
)


@click.command("build")
@click.argument("folder")
@click.option("-o", "--output", required=True, metavar="GRAPH", help="The graph to write, an .npz file.")
@click.option(
    "--threshold", type=Limit(), default="0.06", show_default=True,
    help="How unlike frames may be: metres, or a share such as 10% of all places found.",
)  # fmt: skip
@click.option("--pair", "pairs", type=Pair(), multiple=True, help="The same from one label to another; 0 forbids it.")
@click.option(
    "--similarity", type=float, metavar="S",
    help="Join where poses, velocities and accelerations are alike, from 0 to 1, such as 0.7, and bodies lie within "
    "15 cm of each other.",
)  # fmt: skip
@click.option("--window", type=float, help="Seconds that a transition takes.  [default: 0.5; by similarity 0.3]")
@click.option("--registered", is_flag=True, help="Add longer transitions, in step, where others would not do.")
@click.option(
    "--variations", type=click.IntRange(min=0), default=0, metavar="N",
    help="Add N blends by chance of each action that there are several takes of.",
)  # fmt: skip
@of_folder
@running
@click.option("--coarse", type=int, default=1, show_default=True, help="Look at every n-th frame first.")
@SEED
@JSON
@click.pass_context
def build(ctx: click.Context, /, folder: str, output: str, as_json: bool, **options: Any) -> int:
    """Build a graph from the clips in FOLDER.

    Time grows with the square of the clips' length; on a terminal it is estimated from the first pairs of clips. Pairs
    that were compared before are not compared again.

    \b
    Example:
      marey graph build clips/ -o g.npz
      marey graph build clips/ -o g.npz --threshold 0.08 --pair walk:run=0.12 --mirrored
      marey graph build clips/ -o g.npz --variations 4 --registered
      marey graph build clips/ -o g.npz --similarity 0.7
    """
    from marey.cli.progress import bar

    _check(ctx, options)
    check_name(output, (".npz",), "a graph")
    began = time.monotonic()
    clips = opened_folder(folder, options, output)
    here, run = running_options(options)
    with bar("reading") as progress:
        clips.build(run=here, progress=progress)
    n_frames = sum(clips.lengths)
    with bar("comparing") as progress:
        graph = _built(clips, options, run, None if progress is None else _estimating(progress, n_frames))
    if options["registered"]:
        with bar("joining in step") as progress:
            graph = graph.with_registered_transitions(progress=progress)
    seconds = time.monotonic() - began
    graph.save(output)
    tell(graph, as_json, written=output, seconds=seconds)
    return 1 if graph.findings else 0


def _check(ctx: click.Context, options: dict[str, Any]) -> None:
    """Refuse what does not go together, or makes no sense whatever the clips are."""
    if options["window"] is not None and not 0.0 < options["window"] < float("inf"):
        raise click.UsageError(f"--window is a time above 0 s, got {options['window']:g}")
    if options["coarse"] < 1:
        raise click.UsageError(f"--coarse N looks at every N-th frame first, 1 or more, got {options['coarse']}")
    if options["similarity"] is None:
        return
    default = click.core.ParameterSource.DEFAULT
    for name, flag, why in _DISTANCES_ONLY:
        if ctx.get_parameter_source(name) != default:
            raise click.UsageError(f"{flag} does not go with --similarity: {why}")


def _built(
    clips: MotionSet, options: dict[str, Any], run: Callable[..., Any], progress: Callable[[float], None] | None
) -> MotionGraph:
    from marey.graph import MotionGraph

    extra = {"variations": options["variations"], "rng": options["seed"]}
    window = options["window"]
    if options["similarity"] is not None:
        fade = {} if window is None else {"fade": window}
        return MotionGraph.build_by_similarity(clips, options["similarity"], progress=progress, **fade, **extra)
    return MotionGraph.build(
        clips,
        options["threshold"],
        thresholds=dict(options["pairs"]),
        window=0.5 if window is None else window,
        coarse=options["coarse"],
        cache=clips.cache,
        run=run,
        progress=progress,
        **extra,
    )


def _estimating(progress: Callable[[float], None], n_frames: int) -> Callable[[float], None]:
    """The same, telling once how long all of it will take, by what the first blocks took."""
    first: list[tuple[float, float]] = []
    told = False

    def tell_share(share: float) -> None:
        nonlocal told
        progress(share)
        now = time.monotonic()
        if not first:
            first.append((now, share))
        elapsed, done = now - first[0][0], share - first[0][1]
        if told or elapsed < _MEASURED or done <= 0.0:
            return
        told = True
        whole = elapsed / done
        if whole > _WORTH_TELLING:
            # The bar stands in for standard error while it is shown, and puts what is written there above itself.
            sys.stderr.write(f"comparing {n_frames} frames with one another takes about {shown_time(whole)}\n")

    return tell_share


def shown_time(seconds: float) -> str:
    """``"40 s"``, ``"3 min 20 s"``, ``"2 h 5 min"``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
