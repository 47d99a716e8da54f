"""`marey graph`: clips joined into a graph, and motion out of it."""

from __future__ import annotations

import json
from typing import Any

import click

from marey.cli.files import check_output, counted
from marey.cli.graph_report import Limit, Pair, Style, tell, write
from marey.cli.params import Moment, NameOrIndex


@click.group("graph")
def command() -> None:
    """Join clips wherever they look alike, and walk from one to the next for as long as you like.

    \b
    Example:
      marey graph build clips/ -o g.npz
      marey graph info g.npz
      marey graph walk g.npz -o walk.bvh --seconds 60
      marey graph path g.npz --word Hello --width 12 -o hello.bvh --plot hello.png
    """


_OUT = click.option("-o", "--output", required=True, metavar="OUT", help="The motion to write: BVH, GLB or NPZ.")
_JSON = click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
_RAW = click.option("--no-cleanup", is_flag=True, help="Leave feet as they are blended, without holding them in place.")
_SEED = click.option("--seed", type=int, default=0, show_default=True, help="The same seed gives the same walk.")
_RIGID = click.option("--rigid", is_flag=True, help="Leave changes of bone length out of OUT.")


@command.command("build")
@click.argument("folder")
@click.option("-o", "--output", required=True, metavar="GRAPH", help="The graph to write, an .npz file.")
@click.option(
    "--threshold", type=Limit(), default="0.06", show_default=True,
    help="How unlike frames may be: metres, or a share such as 10% of all places found.",
)  # fmt: skip
@click.option("--pair", "pairs", type=Pair(), multiple=True, help="The same from one label to another; 0 forbids it.")
@click.option("--window", type=float, default=0.5, show_default=True, help="Seconds that a transition takes.")
@click.option("--fps", type=float, default=30.0, show_default=True, help="Frames per second of the graph.")
@click.option("--mirrored", is_flag=True, help="Take each clip's mirror image too.")
@click.option(
    "--labels", default="sidecar", show_default=True, help="Where labels come from: sidecar, folders, or a CSV file."
)
@click.option("--cache", metavar="DIR", help="Where what was computed is kept.  [default: .marey-cache in FOLDER]")
@click.option("--group", type=NameOrIndex(), help="Which skeleton of several: its number, or a clip that has it.")
@click.option("--file-fps", type=float, help="Frames per second of the files, where they say a wrong one.")
@click.option("--jobs", type=int, default=1, show_default=True, help="Processes that read clips.")
@click.option("--coarse", type=int, default=1, show_default=True, help="Look at every n-th frame first.")
@_JSON
def build(folder: str, output: str, threshold: float | str, pairs: Any, as_json: bool, **options: Any) -> int:
    """Build a graph from the clips in FOLDER.

    \b
    Example:
      marey graph build clips/ -o g.npz
      marey graph build clips/ -o g.npz --threshold 0.08 --pair walk:run=0.12 --mirrored
    """
    from marey.cli.progress import bar
    from marey.graph import MotionGraph
    from marey.store import MotionSet, run_on

    clips = MotionSet.open(
        folder,
        fps=options["fps"],
        labels=options["labels"],
        mirrored=options["mirrored"],
        cache=options["cache"],
        file_fps=options["file_fps"],
        group=options["group"],
    )
    with bar("reading") as progress:
        clips.build(run=run_on(options["jobs"]), progress=progress)
    with bar("comparing") as progress:
        graph = MotionGraph.build(
            clips,
            threshold,
            thresholds=dict(pairs),
            window=options["window"],
            coarse=options["coarse"],
            cache=clips.cache,
            progress=progress,
        )
    graph.save(output)
    tell(graph, as_json, written=output)
    return 1 if graph.findings else 0


@command.command("info")
@click.argument("file", metavar="GRAPH")
@click.option("--response", is_flag=True, help="Measure how quickly it answers to a new direction; takes a moment.")
@_JSON
def info(file: str, response: bool, as_json: bool) -> int:
    """What is in a graph: clips, transitions, labels, and how long it takes from one to another."""
    from marey.graph import MotionGraph

    graph = MotionGraph.load(file)
    tell(graph, as_json, response=response)
    return 1 if graph.findings else 0


@command.command("walk")
@click.argument("file", metavar="GRAPH")
@_OUT
@click.option("--seconds", type=float, default=30.0, show_default=True, help="How long.")
@click.option("--label", help="Keep to this label.")
@click.option("--between", type=float, default=2.0, show_default=True, help="Seconds between transitions, in the mean.")
@_SEED
@_RAW
@_RIGID
@_JSON
def walk(file: str, output: str, as_json: bool, no_cleanup: bool, rigid: bool, seed: int, **options: Any) -> int:
    """Walk through a graph by chance.

    \b
    Example:
      marey graph walk g.npz -o walk.bvh --seconds 60 --seed 3
    """
    from marey.graph import MotionGraph

    check_output(output, [file])
    graph = MotionGraph.load(file)
    taken = graph.random_walk(options["seconds"], seed, label=options["label"], between=options["between"])
    return write(taken, output, as_json, clean=not no_cleanup, rigid=rigid)


@command.command("path")
@click.argument("file", metavar="GRAPH")
@_OUT
@click.option("--path", "drawn", metavar="FILE", help="The path: CSV lines x,z in metres, or an SVG drawing.")
@click.option("--length", type=float, help="Metres that the path of FILE is made long; drawings need it.")
@click.option("--word", help="Write this word instead.")
@click.option("--width", type=float, default=12.0, show_default=True, help="Metres that the word is wide.")
@click.option("--style", "styles", type=Style(), multiple=True, help="A label, or LABEL@METRES up to where it holds.")
@click.option("--beam", type=int, default=100, show_default=True, help="States that are kept for each frame.")
@click.option("--plot", "picture", metavar="PNG", help="Draw the path and the way gone.")
@_SEED
@_RAW
@_RIGID
@_JSON
def path(file: str, output: str, as_json: bool, no_cleanup: bool, rigid: bool, **options: Any) -> int:
    """Walk along a path.

    \b
    Example:
      marey graph path g.npz --path path.csv -o along.bvh --plot along.png
      marey graph path g.npz --word Hello --width 12 -o hello.bvh
      marey graph path g.npz --path path.csv --style walk@5 --style sneak -o along.bvh
    """
    from marey.graph import MotionGraph, read_path, word_path

    check_output(output, [file, *([options["drawn"]] if options["drawn"] else [])])
    if (options["drawn"] is None) == (options["word"] is None):
        raise click.UsageError("give the path either by --path FILE or by --word WORD")
    if options["word"] is not None:
        points = word_path(options["word"], options["width"])
    else:
        points = read_path(options["drawn"], length=options["length"])
    graph = MotionGraph.load(file)
    found = graph.follow(points, styles=list(options["styles"]) or None, width=options["beam"], rng=options["seed"])
    if options["picture"] is not None:
        from marey.plot.graph import followed

        followed(found, options["picture"])
    return write(
        found.walk, output, as_json, clean=not no_cleanup, rigid=rigid, found=found, picture=options["picture"]
    )


@command.command("crowd")
@click.argument("file", metavar="GRAPH")
@click.option("-o", "--output", required=True, metavar="OUT", help="A folder for BVH files, or one GLB file.")
@click.option("--paths", "folder", metavar="DIR", help="A folder of CSV paths, one for each figure.")
@click.option("--figures", type=int, default=20, show_default=True, help="How many, if they are to cross a circle.")
@click.option("--radius", type=float, default=8.0, show_default=True, help="Metres, of that circle.")
@click.option("--seconds", type=float, default=20.0, show_default=True, help="How long.")
@click.option("--apart", type=float, default=0.6, show_default=True, help="Metres between any two.")
@_SEED
@_RAW
@_RIGID
@_JSON
def crowd(file: str, output: str, folder: str | None, as_json: bool, no_cleanup: bool, **options: Any) -> int:
    """Many figures from one graph, each on its own path and out of the others' way.

    \b
    Example:
      marey graph crowd g.npz -o crowd/ --figures 50 --radius 10
      marey graph crowd g.npz -o crowd.glb --paths paths/
    """
    from pathlib import Path

    from marey.cli.progress import bar
    from marey.errors import UnreadableFile, UnwritableFile
    from marey.graph import MotionGraph, crossing_paths, read_path
    from marey.graph import crowd as make_crowd
    from marey.io import save

    check_output(output, [file])
    target = Path(output)
    single = target.suffix.lower() == ".glb"
    if folder is None:
        paths = crossing_paths(options["figures"], options["radius"], options["seed"])
    else:
        files = sorted(Path(folder).glob("*.csv"))
        if not files:
            raise UnreadableFile("there are no .csv paths in it", path=folder)
        paths = [read_path(each) for each in files]
    graph = MotionGraph.load(file)
    with bar("walking") as progress:
        made = make_crowd(
            graph, paths, options["seconds"], apart=options["apart"], rng=options["seed"], progress=progress
        )
    walks = [found.walk for found in made.found if found is not None]
    motions = [walk.motion(clean=not no_cleanup, name=f"figure{k:03}") for k, walk in enumerate(walks)]
    if single:
        from dataclasses import replace

        from marey.core import Labels

        save([replace(m, contacts=None, labels=Labels()) for m in motions], output, rigid=options["rigid"])
    else:
        try:
            target.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UnwritableFile(f"cannot be made a folder ({error.strerror})", path=output) from None
        for motion in motions:
            save(motion, target / f"{motion.name}.bvh", rigid=options["rigid"])
    left_out = len(made.found) - len(walks)
    report = {
        "written": output,
        "figures": len(walks),
        "left_out": left_out,
        "seconds": options["seconds"],
        "nearest_m": made.nearest if len(walks) > 1 else None,
    }
    if as_json:
        click.echo(json.dumps(report, indent=1))
    else:
        near = f", never nearer than {100 * made.nearest:.0f} cm" if len(walks) > 1 else ""
        click.echo(f"wrote {output}: {counted(len(walks), 'figure')} for {options['seconds']:g} s{near}")
        if left_out:
            click.echo(f"  ! {counted(left_out, 'figure')} found no way between the others and were left out")
    return 1 if left_out else 0


@command.command("table")
@click.argument("file", metavar="GRAPH")
@click.option("-o", "--output", required=True, metavar="OUT", help="The table to write, an .npz file.")
@click.option("--directions", type=int, default=16, show_default=True, help="How many.")
@click.option("--label", help="Keep to this label.")
@click.option("--speed", type=float, help="Metres per second that are wanted.  [default: as fast as can be]")
@_JSON
def table(file: str, output: str, directions: int, label: str | None, speed: float | None, as_json: bool) -> None:
    """Find the best way on in every direction from everywhere, for steering.

    \b
    Example:
      marey graph table g.npz -o table.npz
    """
    from pathlib import Path

    from marey.graph import MotionGraph, response_time

    check_output(output, [file])
    graph = MotionGraph.load(file)
    made = graph.direction_table(directions, label=label, speed=speed)
    made.save(output)
    data = sum(clip.rotations.nbytes + clip.root_positions.nbytes for clip in graph.clips)
    share = Path(output).stat().st_size / data
    median, late = response_time(graph, made)
    report = {
        "written": output,
        "directions": directions,
        "sweeps": made.sweeps,
        "share_of_data": share,
        "response_median_s": median,
        "response_p90_s": late,
    }
    if as_json:
        click.echo(json.dumps(report, indent=1))
        return
    click.echo(f"wrote {output}: {counted(directions, 'direction')} at each of {counted(len(graph.nodes), 'node')}")
    click.echo(f"{100 * share:.1f} % of the clips' size; a new direction is answered in {median:.1f} s (median)")


@command.command("thin")
@click.argument("file", metavar="GRAPH")
@click.option("-o", "--output", required=True, metavar="OUT", help="The graph to write, an .npz file.")
@click.option("--loss", type=float, default=10.0, show_default=True, help="Per cent of its usefulness to give up.")
@_SEED
@_JSON
def thin(file: str, output: str, loss: float, seed: int, as_json: bool) -> None:
    """Leave out transitions that are hardly needed: fewer, and better ones, at a small loss of control.

    \b
    Example:
      marey graph thin g.npz -o small.npz --loss 10
    """
    from marey.graph import MotionGraph, thinned

    check_output(output, [file])
    graph = MotionGraph.load(file)
    small, what = thinned(graph, loss=loss / 100.0, rng=seed)
    small.save(output)
    report = {
        "written": output,
        "transitions": [graph.n_transitions, small.n_transitions],
        "progress_m": [what.before.progress, what.after.progress],
        "deviation_m": [what.before.deviation, what.after.deviation],
    }
    if as_json:
        click.echo(json.dumps(report, indent=1))
        return
    click.echo(f"wrote {output}: {small.n_transitions} of {counted(graph.n_transitions, 'transition')}")
    click.echo(
        f"  progress in any direction {what.before.progress:.2f} m before, {what.after.progress:.2f} m after; from"
        f" paths {100 * what.before.deviation:.1f} cm and {100 * what.after.deviation:.1f} cm"
    )


@command.command("plot")
@click.argument("file", metavar="GRAPH")
@click.option("-o", "--output", required=True, metavar="OUT", help="The picture to write: PNG or SVG.")
@click.option(
    "--kind", type=click.Choice(["graph", "threshold"]), default="graph", show_default=True,
    help="Clips and transitions, or what thresholds leave.",
)  # fmt: skip
def plot(file: str, output: str, kind: str) -> None:
    """Draw a graph: its clips and transitions, or how much of it each threshold leaves."""
    from marey.graph import MotionGraph
    from marey.plot import graph as figures

    check_output(output, [file])
    draw = figures.graph if kind == "graph" else figures.threshold
    draw(MotionGraph.load(file), output)
    click.echo(f"wrote {output}")


@command.command("label")
@click.argument("file")
@click.argument("name")
@click.option("--from", "begin", type=Moment(), help="Seconds (1.2) or a frame (36f).  [default: the beginning]")
@click.option("--to", "end", type=Moment(), help="Likewise.  [default: the end]")
def label(file: str, name: str, begin: float | int | None, end: float | int | None) -> None:
    """Give FILE a label, in the sidecar beside it.

    \b
    Example:
      marey graph label clips/a.bvh walk
      marey graph label clips/a.bvh turn --from 2.0 --to 3.5
    """
    from marey.cli.options import frames_between
    from marey.io import load_motion
    from marey.store import add_label

    start, stop = frames_between(load_motion(file), begin, end)
    sidecar = add_label(file, name, start, stop)
    click.echo(f"{name}: frames {start} to {stop} of {file}, in {sidecar}")
