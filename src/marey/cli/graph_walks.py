"""Motion out of a graph: `marey graph walk`, `path`, `reach`, `steer` and `crowd`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from marey.cli.files import check_output, counted
from marey.cli.graph_params import CIRCLE, PLACE, Style, Wish, check_name, place_and_heading
from marey.cli.graph_report import JSON, SEED, write

if TYPE_CHECKING:
    from marey.graph import MotionGraph, Walk

_MOTIONS = (".bvh", ".glb", ".npz")
_OUT = click.option("-o", "--output", required=True, metavar="OUT", help="The motion to write: BVH, GLB or NPZ.")
_RAW = click.option("--no-cleanup", is_flag=True, help="Leave feet as they are blended, without holding them in place.")
_RIGID = click.option("--rigid", is_flag=True, help="Leave changes of bone length out of OUT.")
# Seconds of the clip that is come from, and of the one that is come to.
_BEFORE, _AFTER = 1.0, 2.0
# Seconds that are written at most: a day of motion is a few gigabytes.
_LONGEST = 86_400.0
_LABEL = click.option("--label", help="Keep to this label.")


def _opened(file: str, output: str, *others: str | None) -> MotionGraph:
    """The graph, once it is clear that OUT can be written."""
    from marey.graph import MotionGraph

    check_name(output, _MOTIONS, "a motion")
    check_output(output, [file, *(each for each in others if each is not None)])
    return MotionGraph.load(file)


def _frames(seconds: float, graph: MotionGraph) -> int:
    """How many frames that is, if it is something that can be written."""
    from marey.errors import InvalidValue

    if not seconds <= _LONGEST:
        raise InvalidValue(f"at most {_LONGEST:g} s are written at once, got {seconds} s; make several and join them")
    n_frames = round(max(seconds, 0.0) * graph.fps)
    if n_frames < 1:
        raise InvalidValue(f"a walk lasts at least a frame, got {seconds} s")
    return n_frames


@click.command("walk")
@click.argument("file", metavar="GRAPH")
@_OUT
@click.option("--seconds", type=float, default=30.0, show_default=True, help="How long, up to a day.")
@_LABEL
@click.option("--between", type=float, default=2.0, show_default=True, help="Seconds between transitions, in the mean.")
@click.option(
    "--land", type=PLACE,
    help="Go on to this place in metres, facing DEG degrees to the left of +Z, and land there exactly.",
)  # fmt: skip
@SEED
@_RAW
@_RIGID
@JSON
def walk(file: str, output: str, as_json: bool, no_cleanup: bool, rigid: bool, seed: int, **options: Any) -> int:
    """Walk through a graph by chance.

    The end is bent by at most 30 cm and 29 degrees over the last 2 s to land; more is refused.

    \b
    Example:
      marey graph walk g.npz -o walk.bvh --seconds 60 --seed 3
      marey graph walk g.npz -o there.bvh --seconds 5 --land 3,4,90
    """
    graph = _opened(file, output)
    _frames(options["seconds"], graph)
    taken = graph.random_walk(options["seconds"], seed, label=options["label"], between=options["between"])
    land = None if options["land"] is None else place_and_heading(options["land"])
    if land is not None:
        taken = taken.led_to(*land, label=options["label"])
    return write(taken, output, as_json, clean=not no_cleanup, rigid=rigid, land=land)


@click.command("path")
@click.argument("file", metavar="GRAPH")
@_OUT
@click.option("--path", "drawn", metavar="FILE", help="The path: CSV lines x,z in metres, or an SVG drawing.")
@click.option("--length", type=float, help="Metres that the path of FILE is made long; drawings need it.")
@click.option("--word", help="Write this word instead.")
@click.option("--width", type=float, help="Metres that the word is wide.  [default: 12]")
@click.option("--style", "styles", type=Style(), multiple=True, help="A label, or LABEL@METRES up to where it holds.")
@click.option("--avoid", type=CIRCLE, multiple=True, help="A circle, in metres, to keep out of.")
@click.option(
    "--beam", type=click.IntRange(min=25),
    help="States that are kept for each frame, 25 or more.  [default: as many as it takes, 50 to 200]",
)  # fmt: skip
@click.option("--land", type=PLACE, help="Where to end exactly, near the path's end, facing DEG degrees left of +Z.")
@click.option("--plot", "picture", metavar="PNG", help="Draw the path and the way gone.")
@SEED
@_RAW
@_RIGID
@JSON
def path(file: str, output: str, as_json: bool, no_cleanup: bool, rigid: bool, **options: Any) -> int:
    """Walk along a path.

    To land, the last seconds may leave the path; their end is bent by at most 30 cm and 29 degrees, over 2 s.

    \b
    Example:
      marey graph path g.npz --path path.csv -o along.bvh --plot along.png
      marey graph path g.npz --word Hello --width 12 -o hello.bvh
      marey graph path g.npz --path path.csv --style walk@5 --style sneak -o along.bvh
      marey graph path g.npz --path path.csv --avoid 1,4,0.5 --land 0,9,45 -o along.bvh
    """
    from marey.graph import described, read_path, word_path

    if (options["drawn"] is None) == (options["word"] is None):
        raise click.UsageError("give the path either by --path FILE or by --word WORD")
    if options["word"] is None and options["width"] is not None:
        raise click.UsageError("--width is of a --word; a path of a file is made long by --length")
    if options["word"] is not None and options["length"] is not None:
        raise click.UsageError("--length is of a --path; a word is made wide by --width")
    if options["picture"] is not None:
        check_name(options["picture"], (".png", ".svg"), "a picture")
    graph = _opened(file, output, options["drawn"])
    if options["word"] is not None:
        points = word_path(options["word"], 12.0 if options["width"] is None else options["width"])
    else:
        points = read_path(options["drawn"], length=options["length"])
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
        found = described(found.walk.ended(*land, label=style, avoid=list(options["avoid"])), points, found.cost)
    return write(
        found.walk, output, as_json, clean=not no_cleanup, rigid=rigid, found=found, picture=options["picture"],
        land=land,
    )  # fmt: skip


@click.command("reach", short_help="Go to a place or a clip.")
@click.argument("file", metavar="GRAPH")
@_OUT
@click.option("--at", type=PLACE, help="A place in metres, facing DEG degrees to the left of +Z.")
@click.option("--clip", metavar="NAME", help="The clip to come to; with --at, begun there.")
@click.option("--from", "begin", metavar="NAME", help="The clip to come from.  [default: by chance]")
@_LABEL
@SEED
@_RAW
@_RIGID
@JSON
def reach(file: str, output: str, as_json: bool, no_cleanup: bool, rigid: bool, **options: Any) -> int:
    """Go from the origin, along +Z at first, to a place, to a clip, or to a clip at a place.

    A place alone is landed on exactly. The quickest way is taken from one clip to another, with a second of the one
    before it and two of the other after it. A clip at a place is put within half a metre of it, and goes on for 2 s.

    \b
    Example:
      marey graph reach g.npz --at 3,5,90 -o there.bvh
      marey graph reach g.npz --from walk --clip kick -o kick.bvh
      marey graph reach g.npz --clip kick --at 1,4,0 -o kick_it.bvh
    """
    at, clip = options["at"], options["clip"]
    if at is None and clip is None:
        raise click.UsageError("say what to reach: --at X,Z[,DEG], --clip NAME, or both")
    if clip is not None and at is not None and len(at) != 3:
        raise click.UsageError("a clip at a place needs its direction too: --at X,Z,DEG")
    if clip is not None and at is None and options["label"] is not None:
        raise click.UsageError("--label does not go with the quickest way to a clip, which may take any label")
    graph = _opened(file, output)
    land = None
    if at is None:
        taken = _quickest(graph, options["begin"], clip, options["seed"])
    else:
        how = {"clip": clip, "begin": options["begin"], "label": options["label"], "rng": options["seed"]}
        taken = graph.reached(*place_and_heading(at), **how)
        if clip is None:
            land = place_and_heading(at)
        else:
            taken = taken.padded(0.0, _AFTER)
    return write(taken, output, as_json, clean=not no_cleanup, rigid=rigid, land=land)


def _quickest(graph: MotionGraph, begin: str | None, clip: str, seed: int) -> Walk:
    """The quickest way from one clip to another, from the origin along +Z, with some of both around it."""
    import numpy as np

    if begin is None:
        # Whatever clip can be come from, but that one itself.
        others = np.flatnonzero(graph.nodes[:, 0] != graph.clip_index(clip))
        if not len(others):
            raise click.UsageError(f"the graph plays {clip!r} alone, so there is nowhere else to come from")
        begin = graph.clips[int(np.random.default_rng(seed).choice(graph.nodes[others, 0]))].name
    from marey.graph.routes import quickest

    ends = []
    for name, before, after in ((begin, _BEFORE, 0.0), (clip, 0.0, _AFTER)):
        number = graph.clip_index(name)
        nodes = np.flatnonzero(graph.nodes[:, 0] == number)
        frames = graph.nodes[nodes, 1]
        # Where there is something of the clip to be seen around the way.
        room = (frames >= before * graph.fps) & (frames + after * graph.fps <= len(graph.clips[number]))
        ends.append(nodes[room] if room.any() else nodes)
    return quickest(graph, *ends).padded(_BEFORE, _AFTER).begun_at(heading=0.0)


@click.command("steer", short_help="Go where it is asked to, as it is asked.")
@click.argument("file", metavar="GRAPH")
@_OUT
@click.option("--seconds", type=float, default=20.0, show_default=True, help="How long.")
@click.option("--wish", "wishes", type=Wish(), multiple=True, help="What is wanted from when on; see the examples.")
@_RAW
@_RIGID
@JSON
def steer(file: str, output: str, as_json: bool, no_cleanup: bool, rigid: bool, **options: Any) -> int:
    """Go where and how it is asked to, as it is asked: what a game would get from the graph.

    A wish is SECONDS:direction=DEGREES, counted from +Z to the left, SECONDS:speed=METRES_PER_SECOND, or
    SECONDS:label=NAME. It is heard at the next place where clips can be left.

    \b
    Example:
      marey graph steer g.npz -o out.bvh --wish 0:direction=0 --wish 5:direction=90 --wish 10:label=sneak
    """
    graph = _opened(file, output)
    n_frames = _frames(options["seconds"], graph)
    wishes = sorted(options["wishes"], key=lambda wish: float(wish[0]))
    at_once = {name: value for at, name, value in wishes if at <= 0.0}
    stream = graph.stream(clean=False, place=(0.0, 0.0, 0.0), **at_once)
    waiting = [wish for wish in wishes if wish[0] > 0.0]
    for frame in range(n_frames):
        while waiting and waiting[0][0] * graph.fps <= frame:
            _, name, value = waiting.pop(0)
            stream.request(**{name: value})
        stream.frame()
    taken = graph.walk(stream.edges, n_frames=n_frames).begun_at()
    return write(taken, output, as_json, clean=not no_cleanup, rigid=rigid)


@click.command("crowd", short_help="Many figures, each on its own path.")
@click.argument("file", metavar="GRAPH")
@click.option("-o", "--output", required=True, metavar="OUT", help="A folder for BVH files, or one GLB file.")
@click.option("--paths", "folder", metavar="DIR", help="A folder of CSV paths, one for each figure.")
@click.option("--figures", type=int, default=20, show_default=True, help="How many, if they are to cross a circle.")
@click.option("--radius", type=float, default=8.0, show_default=True, help="Metres, of that circle.")
@click.option("--seconds", type=float, default=20.0, show_default=True, help="How long.")
@click.option("--apart", type=float, default=0.6, show_default=True, help="Metres between any two.")
@SEED
@_RAW
@_RIGID
@JSON
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
    from marey.io import save

    target = Path(output)
    single = target.suffix.lower() == ".glb"
    check_output(output, [file])
    if target.suffix.lower() in _MOTIONS:
        check_name(output, (".glb",), "a crowd in one file")
    elif target.exists() and not target.is_dir():
        raise UnwritableFile("is a file; a crowd is written to a folder or as one .glb", path=output)
    elif target.is_dir() and any(target.glob("*.bvh")):
        raise UnwritableFile(
            "holds .bvh files already, among which those of a crowd would get lost; write to a new folder", path=output
        )
    if folder is None:
        paths = crossing_paths(options["figures"], options["radius"], options["seed"])
    else:
        if not Path(folder).is_dir():
            told = "is a file, expected a folder of .csv paths" if Path(folder).exists() else "no such folder"
            raise UnreadableFile(told, path=folder)
        files = sorted(Path(folder).glob("*.csv"))
        if not files:
            raise UnreadableFile("there are no .csv paths in it", path=folder)
        paths = [read_path(each) for each in files]
    graph = MotionGraph.load(file)
    with bar("walking") as progress:
        made = graph.crowd(paths, options["seconds"], apart=options["apart"], rng=options["seed"], progress=progress)
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
