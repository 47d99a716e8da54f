"""Generate motion from a graph: `marey graph walk`, `path`, `reach`, `steer` and `crowd`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from marey.cli.files import check_output, check_plot, plural
from marey.cli.graph_params import Command, Style, place_and_heading
from marey.cli.graph_report import JSON, SEED, write
from marey.cli.options import feet_option, renamed_option
from marey.cli.values import CIRCLE, POSITION_OR_POSE

if TYPE_CHECKING:
    from marey.core.feet import Feet
    from marey.graph import MotionGraph, Walk

_MOTIONS = (".bvh", ".glb", ".npz")
_OUT = click.option("-o", "--output", required=True, metavar="OUT", help="The motion to write: BVH, GLB or NPZ.")
_FEET = feet_option(no_cleanup="none")
_RIGID = click.option("--rigid", is_flag=True, help="Keep bone lengths constant in OUT.")
# Seconds of the start clip to play before the route, and of the target clip after it.
_BEFORE, _AFTER = 1.0, 2.0
# Maximum seconds to write: a day of motion is a few gigabytes.
_LONGEST = 86_400.0
_LABEL = click.option("--label", help="Use only this label.")


def _open_graph(file: str, output: str, *others: str | None) -> MotionGraph:
    """Check that OUT can be written, then load the graph."""
    from marey.graph import MotionGraph

    inputs = [file, *(each for each in others if each is not None)]
    check_output(output, inputs, what="a motion", suffixes=_MOTIONS)
    return MotionGraph.load(file)


def _frames(seconds: float, graph: MotionGraph) -> int:
    """Convert seconds to frames. Raises an error if the walk would be too long or empty."""
    from marey.errors import InvalidValue

    if not seconds <= _LONGEST:
        raise InvalidValue(
            f"--seconds must be at most {_LONGEST:g} (a day), not {seconds:g}; write several walks and join them"
        )
    n_frames = round(max(seconds, 0.0) * graph.fps)
    if n_frames < 1:
        raise InvalidValue(f"--seconds must be at least {1.0 / graph.fps:.3g} (one frame), not {seconds:g}")
    return n_frames


@click.command("walk")
@click.argument("file", metavar="GRAPH")
@_OUT
@click.option(
    "--seconds", type=float, default=30.0, show_default=True, help="Length of the walk in seconds, up to a day."
)
@_LABEL
@click.option("--between", type=float, default=2.0, show_default=True, help="Mean time between transitions in seconds.")
@click.option(
    "--land", type=POSITION_OR_POSE,
    help="Then go to this position (meters) and end there exactly, facing DEG degrees to the left of +Z.",
)  # fmt: skip
@SEED
@_FEET
@_RIGID
@JSON
def walk(file: str, output: str, as_json: bool, feet: Feet, rigid: bool, seed: int, **options: Any) -> int:
    """Generate a random walk through a graph.

    With --land X,Z or X,Z,DEG, the walk then goes to that position and heading. To end there exactly, its last 2 s are
    adjusted by at most 30 cm and 29 degrees; if more is needed, the command fails.

    \b
    Example:
      marey graph walk g.npz -o walk.bvh --seconds 60 --seed 3
      marey graph walk g.npz -o there.bvh --seconds 5 --land 3,4,90
    """
    graph = _open_graph(file, output)
    _frames(options["seconds"], graph)
    taken = graph.random_walk(options["seconds"], seed, label=options["label"], transition_interval=options["between"])
    land = None if options["land"] is None else place_and_heading(options["land"])
    if land is not None:
        taken = taken.extend_to(*land, label=options["label"])
    return write(taken, output, as_json, feet=feet, rigid=rigid, land=land)


@click.command("path")
@click.argument("file", metavar="GRAPH")
@_OUT
@click.option("--path", "path_file", metavar="FILE", help="The path: CSV lines x,z in meters, or an SVG drawing.")
@click.option("--length", type=float, help="Scale the path of FILE to this length in meters; required for drawings.")
@click.option("--word", help="Walk along this handwritten word instead of a file.")
@click.option("--width", type=float, help="Width of the word in meters.  [default: 12]")
@click.option(
    "--style",
    "styles",
    type=Style(),
    multiple=True,
    help="Label to use, or LABEL@METERS to use it up to that distance along the path. May be repeated.",
)
@click.option("--avoid", type=CIRCLE, multiple=True, help="Circle to avoid, in meters. May be repeated.")
@click.option(
    "--beam", type=click.IntRange(min=25),
    help="Beam width: states kept per frame, at least 25.  [default: chosen automatically, 50 to 200]",
)  # fmt: skip
@click.option(
    "--land",
    type=POSITION_OR_POSE,
    help="Exact end position near the end of the path, facing DEG degrees to the left of +Z.",
)
@click.option("--plot", "picture", metavar="PNG", help="Plot the requested and the walked path.")
@SEED
@_FEET
@_RIGID
@JSON
def path(file: str, output: str, as_json: bool, feet: Feet, rigid: bool, **options: Any) -> int:
    """Generate a walk along a path.

    With --land, the last seconds may leave the path, and the last 2 s are bent by at most 30 cm and 29 degrees. The
    exit code is 1 if the path is not followed to its end.

    \b
    Example:
      marey graph path g.npz --path path.csv -o along.bvh --plot along.png
      marey graph path g.npz --word Hello --width 12 -o hello.bvh
      marey graph path g.npz --path path.csv --style walk@5 --style sneak -o along.bvh
      marey graph path g.npz --path path.csv --avoid 1,4,0.5 --land 0,9,45 -o along.bvh
    """
    from marey.graph import measure_path, read_path, word_path

    if (options["path_file"] is None) == (options["word"] is None):
        raise click.UsageError("give the path with either --path FILE or --word WORD")
    if options["word"] is None and options["width"] is not None:
        raise click.UsageError("--width applies to --word; scale the path of a file with --length")
    if options["word"] is not None and options["length"] is not None:
        raise click.UsageError("--length applies to --path; scale a word with --width")
    check_plot(options["picture"])
    graph = _open_graph(file, output, options["path_file"])
    if options["word"] is not None:
        points = word_path(options["word"], 12.0 if options["width"] is None else options["width"])
    else:
        points = read_path(options["path_file"], length=options["length"])
    found = graph.follow(
        points,
        styles=list(options["styles"]) or None,
        avoid=list(options["avoid"]),
        width=options["beam"],
        rng=options["seed"],
    )
    land = None if options["land"] is None else place_and_heading(options["land"])
    if land is not None:
        style = options["styles"][-1][1] if options["styles"] else None
        found = measure_path(
            found.walk.replan_end(*land, label=style, avoid=list(options["avoid"])), points, found.cost
        )
    return write(
        found.walk, output, as_json, feet=feet, rigid=rigid, found=found, picture=options["picture"],
        land=land,
    )  # fmt: skip


@click.command("reach", short_help="Go to a position or a clip.")
@click.argument("file", metavar="GRAPH")
@_OUT
@click.option("--at", type=POSITION_OR_POSE, help="Target position in meters, facing DEG degrees to the left of +Z.")
@click.option("--clip", metavar="NAME", help="Target clip; with --at, it begins at that position.")
@click.option("--from", "begin", metavar="NAME", help="Start clip.  [default: random]")
@_LABEL
@SEED
@_FEET
@_RIGID
@JSON
def reach(file: str, output: str, as_json: bool, feet: Feet, rigid: bool, **options: Any) -> int:
    """Go from the origin, facing +Z, to a position, to a clip, or to a clip at a position.

    A position alone is reached exactly. The route to a clip is the fastest one; 1 s of the start clip precedes it, and
    2 s of the target clip follow. A clip at a position begins within half a meter of it and continues for 2 s.

    \b
    Example:
      marey graph reach g.npz --at 3,5,90 -o there.bvh
      marey graph reach g.npz --from walk --clip kick -o kick.bvh
      marey graph reach g.npz --clip kick --at 1,4,0 -o kick_it.bvh
    """
    at, clip = options["at"], options["clip"]
    if at is None and clip is None:
        raise click.UsageError("no target given; use --at X,Z[,DEG], --clip NAME, or both")
    if clip is not None and at is not None and len(at) != 3:
        raise click.UsageError("a clip at a position also needs a direction: --at X,Z,DEG")
    if clip is not None and at is None and options["label"] is not None:
        raise click.UsageError(
            "--label cannot be combined with --clip alone, because the fastest route to a clip may use any label"
        )
    graph = _open_graph(file, output)
    land = None
    if at is None:
        taken = _find_fastest(graph, options["begin"], clip, options["seed"])
    else:
        taken = graph.reach(
            *place_and_heading(at), clip=clip, start_clip=options["begin"], label=options["label"], rng=options["seed"]
        )
        if clip is None:
            land = place_and_heading(at)
        else:
            taken = taken.pad(0.0, _AFTER)
    return write(taken, output, as_json, feet=feet, rigid=rigid, land=land)


def _find_fastest(graph: MotionGraph, begin: str | None, clip: str, seed: int) -> Walk:
    """Find the fastest route from one clip to another, starting at the origin and facing +Z.

    1 s of the start clip precedes it and 2 s of the target clip follow.
    """
    import numpy as np

    if begin is None:
        # Start from a random other clip.
        others = np.flatnonzero(graph.nodes[:, 0] != graph.index(clip))
        if not len(others):
            raise click.UsageError(f"the graph contains only {clip!r}, so there is no other clip to start from")
        begin = graph.clips[int(np.random.default_rng(seed).choice(graph.nodes[others, 0]))].name
    from marey.graph.routes import find_shortest_walk

    ends = []
    for name, before, after in ((begin, _BEFORE, 0.0), (clip, 0.0, _AFTER)):
        number = graph.index(name)
        nodes = np.flatnonzero(graph.nodes[:, 0] == number)
        frames = graph.nodes[nodes, 1]
        # Prefer nodes that leave enough of the clip to play before or after the route.
        room = (frames >= before * graph.fps) & (frames + after * graph.fps <= len(graph.clips[number]))
        ends.append(nodes[room] if room.any() else nodes)
    return find_shortest_walk(graph, *ends).pad(_BEFORE, _AFTER).place_at(heading=0.0)


@click.command("steer", short_help="Steer with timed commands.")
@click.argument("file", metavar="GRAPH")
@_OUT
@click.option("--seconds", type=float, default=20.0, show_default=True, help="Length in seconds.")
@click.option("--command", type=Command(), multiple=True, help="A timed command; see the examples. May be repeated.")
@renamed_option("--wish", "--command", multiple=True)
@_FEET
@_RIGID
@JSON
def steer(file: str, output: str, as_json: bool, feet: Feet, rigid: bool, **options: Any) -> int:
    """Steer through the graph with timed commands, as a game would.

    A command is SECONDS:direction=DEGREES (to the left of +Z), SECONDS:speed=METERS_PER_SECOND, or SECONDS:label=NAME.
    It takes effect at the next transition.

    \b
    Example:
      marey graph steer g.npz -o out.bvh --command 0:direction=0 --command 5:direction=90 \\
          --command 10:label=sneak
    """
    graph = _open_graph(file, output)
    n_frames = _frames(options["seconds"], graph)
    commands = sorted(options["command"], key=lambda command: float(command[0]))
    initial = {name: value for at, name, value in commands if at <= 0.0}
    stream = graph.stream(feet=None, place=(0.0, 0.0, 0.0), **initial)
    waiting = [command for command in commands if command[0] > 0.0]
    for frame in range(n_frames):
        while waiting and waiting[0][0] * graph.fps <= frame:
            _, name, value = waiting.pop(0)
            stream.request(**{name: value})
        stream.frame()
    taken = graph.walk(stream.edges, n_frames=n_frames).place_at()
    return write(taken, output, as_json, feet=feet, rigid=rigid)


@click.command("crowd", short_help="Many characters, each on its own path.")
@click.argument("file", metavar="GRAPH")
@click.option("-o", "--output", required=True, metavar="OUT", help="A folder for BVH files, or one GLB file.")
@click.option("--paths", "folder", metavar="DIR", help="A folder of CSV paths, one per character.")
@click.option(
    "--characters",
    "--figures",
    type=int,
    default=20,
    show_default=True,
    help="Without --paths: number of characters, which cross a circle.",
)
@click.option("--radius", type=float, default=8.0, show_default=True, help="Radius of that circle in meters.")
@click.option("--seconds", type=float, default=20.0, show_default=True, help="Length in seconds.")
@click.option(
    "--apart", type=float, default=0.6, show_default=True, help="Minimum distance between two characters, in meters."
)
@SEED
@_FEET
@_RIGID
@JSON
def crowd(file: str, output: str, folder: str | None, as_json: bool, feet: Feet, **options: Any) -> int:
    """Generate many characters from one graph, each on its own path and avoiding the others.

    The exit code is 1 if a character found no path and was left out.

    \b
    Example:
      marey graph crowd g.npz -o crowd/ --characters 50 --radius 10
      marey graph crowd g.npz -o crowd.glb --paths paths/
    """
    from pathlib import Path

    from marey.cli.progress import bar
    from marey.errors import UnreadableFile, UnwritableFile
    from marey.graph import MotionGraph, crossing_paths, read_path
    from marey.io import save

    target = Path(output)
    single = target.suffix.lower() == ".glb"
    if target.suffix.lower() in _MOTIONS:
        check_output(output, [file], what="a crowd in one file", suffixes=(".glb",))
    elif target.exists() and not target.is_dir():
        raise UnwritableFile("is a file; a crowd is written to a folder or as one .glb", path=output)
    elif target.is_dir() and any(target.glob("*.bvh")):
        raise UnwritableFile(
            "already contains .bvh files, which would be mixed up with those of the crowd; choose a new folder",
            path=output,
        )
    if folder is None:
        paths = crossing_paths(options["characters"], options["radius"], options["seed"])
    else:
        if not Path(folder).is_dir():
            reason = "is a file, expected a folder of .csv paths" if Path(folder).exists() else "no such folder"
            raise UnreadableFile(reason, path=folder)
        files = sorted(Path(folder).glob("*.csv"))
        if not files:
            raise UnreadableFile("contains no .csv paths", path=folder)
        paths = [read_path(each) for each in files]
    graph = MotionGraph.load(file)
    with bar("walking") as progress:
        result = graph.crowd(
            paths, options["seconds"], min_distance=options["apart"], rng=options["seed"], progress=progress
        )
    motions = result.motions(feet=feet, name="figure")
    if single:
        from dataclasses import replace

        from marey.core import Labels

        save([replace(m, contacts=None, labels=Labels()) for m in motions], output, rigid=options["rigid"])
    else:
        try:
            target.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UnwritableFile(f"cannot create the folder ({error.strerror})", path=output) from None
        for motion in motions:
            save(motion, target / f"{motion.name}.bvh", rigid=options["rigid"])
    report = {"written": output, **result.to_dict(), "seconds": options["seconds"]}
    if as_json:
        click.echo(json.dumps(report, indent=1))
    else:
        near = f", minimum distance {100 * result.nearest:.0f} cm" if len(motions) > 1 else ""
        click.echo(f"wrote {output}: {plural(len(motions), 'character')} for {options['seconds']:g} s{near}")
        if report["left_out"]:
            click.echo(f"  ! {plural(report['left_out'], 'character')} left out: no path avoids the others")
    return 1 if report["left_out"] else 0
