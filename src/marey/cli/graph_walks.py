"""Generate motion from a graph: `marey graph walk`, `path`, `reach`, `search`, `steer` and `crowd`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from marey.cli.derived_options import SettingsCommand, add_settings, read_settings
from marey.cli.files import check_crowd, check_output, check_plot, print_json, save_crowd
from marey.cli.graph_params import START, Style, TimedCommand, place_and_heading, schedule
from marey.cli.graph_report import JSON, Landing, write
from marey.cli.shared_options import feet_option, renamed_option
from marey.cli.values import CIRCLE, POSE_2D, POSITION, POSITION_OR_POSE
from marey.errors import UnreadableFile, plural
from marey.io.files import SAVE_SUFFIXES
from marey.measure.display import format_distance

if TYPE_CHECKING:
    from marey.core.arrays import Floats
    from marey.graph import MotionGraph, Walk

_SETTINGS = "marey.graph.settings:"
# Seconds of the start clip to play before the route, and of the target clip after it.
_BEFORE, _AFTER = 1.0, 2.0
# Maximum seconds to write: a day of motion is a few gigabytes.
_LONGEST = 86_400.0
_AVOID = click.option("--avoid", type=CIRCLE, multiple=True, help="Circle to avoid, in meters. May be repeated.")
_START = click.option("--start", type=START, help="Start node, with the position and direction of its clip.")


def _add_writing_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the arguments and options of every command that writes a walk."""
    options = (
        click.argument("file", metavar="GRAPH"),
        click.option("-o", "--output", required=True, metavar="OUT", help="The motion to write: BVH, FBX, GLB or NPZ."),
        feet_option,
        click.option("--rigid", is_flag=True, help="Keep bone lengths constant in OUT."),
        JSON,
    )
    for option in reversed(options):
        function = option(function)
    return function


def _add_landing_options(text: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add --land and the options of the landing."""

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        function = add_settings(f"{_SETTINGS}LandingSettings", skip=("heading", "feet"))(function)
        return click.option("--land", type=POSITION_OR_POSE, help=text)(function)

    return add


def _read_landing(options: dict[str, Any], target: tuple[float, ...] | None) -> Landing | None:
    from marey.graph import LandingSettings

    if target is None:
        return None
    position, heading = place_and_heading(target)
    feet = options["feet"] or "none"
    return Landing(position, read_settings(LandingSettings, options, heading=None, feet=feet), heading)


def _open_graph(file: str, output: str) -> MotionGraph:
    """Check that OUT can be written, then load the graph."""
    from marey.graph import MotionGraph

    check_output(output, suffixes=SAVE_SUFFIXES)
    return MotionGraph.load(file)


def _count_frames(seconds: float, graph: MotionGraph) -> int:
    """Convert seconds to frames. Raise an error if the walk would be too long or empty."""
    from marey.graph.settings import count_frames

    if not seconds <= _LONGEST:
        raise click.UsageError(
            f"--seconds must be at most {_LONGEST:g} (a day), not {seconds:g}; write several walks and join them"
        )
    return count_frames(seconds, graph.fps)


@click.command("walk", cls=SettingsCommand)
@_add_writing_options
@add_settings(f"{_SETTINGS}GraphWalkSettings")
@renamed_option("--between", "--transition-interval", type=float)
@_add_landing_options("Then go to this position (meters) and end there exactly, facing DEG degrees to the left of +Z.")
def walk(file: str, output: str, **options: Any) -> int:
    """Generate a random walk through a graph.

    With --land X,Z or X,Z,DEG, the walk then goes to that position and heading. To end there exactly, its last seconds
    are adjusted; if more than --max-shift or --max-turn is needed, the command fails.

    \b
    Example:
      marey graph walk g.npz -o walk.bvh --seconds 60 --seed 3
      marey graph walk g.npz -o there.bvh --seconds 5 --land 3,4,90
    """
    from marey.graph import GraphWalkSettings

    settings = read_settings(GraphWalkSettings, options)
    graph = _open_graph(file, output)
    _count_frames(settings.seconds, graph)
    taken = graph.random_walk(settings=settings)
    landing = _read_landing(options, options["land"])
    if landing is not None:
        taken = taken.extend_to(landing.position, landing.heading, label=settings.label)
    return write(taken, output, options, landing=landing)


@click.command("path", cls=SettingsCommand)
@_add_writing_options
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
@_AVOID
@click.option(
    "--other-characters", metavar="MOTION", multiple=True,
    help="A motion that plays at the same time, to keep --min-distance from. May be repeated.",
)  # fmt: skip
@_START
@add_settings(f"{_SETTINGS}GraphPathSettings", skip=("start",))
@renamed_option("--beam", "--beam-width", type=int)
@_add_landing_options("Exact end position near the end of the path, facing DEG degrees to the left of +Z.")
@click.option("--plot", "picture", metavar="PNG", help="Plot the requested and the walked path.")
def path(file: str, output: str, path_file: str | None, word: str | None, **options: Any) -> int:
    """Generate a walk along a path.

    With --land, the walk ends exactly at a position: its last seconds are planned again and may leave the path (a
    warning reports long detours), then the end is bent by at most --max-shift and --max-turn. The exit code is 1 if the
    path is not followed to its end (within 30 cm).

    \b
    Example:
      marey graph path g.npz --path path.csv -o along.bvh --plot along.png
      marey graph path g.npz --word Hello --width 12 -o hello.bvh
      marey graph path g.npz --path path.csv --style walk@5 --style sneak -o along.bvh
      marey graph path g.npz --path path.csv --avoid 1,4,0.5 --land 0,9,45 -o along.bvh
    """
    from marey.graph import GraphPathSettings, measure_path, read_path, word_path

    if (path_file is None) == (word is None):
        raise click.UsageError("give the path with either --path FILE or --word WORD")
    if word is None and options["width"] is not None:
        raise click.UsageError("--width applies to --word; scale the path of a file with --length")
    if word is not None and options["length"] is not None:
        raise click.UsageError("--length applies to --path; scale a word with --width")
    check_plot(options["picture"])
    others, avoid = options.pop("other_characters"), list(options["avoid"])
    graph = _open_graph(file, output)
    settings = read_settings(
        GraphPathSettings,
        options,
        styles=list(options["styles"]) or None,
        avoid=avoid,
        other_characters=_read_others(others, graph.fps) if others else None,
    )
    if word is not None:
        points = word_path(word, 12.0 if options["width"] is None else options["width"])
    else:
        points = read_path(str(path_file), length=options["length"])
    found = graph.follow(points, settings=settings)
    landing = _read_landing(options, options["land"])
    if landing is not None:
        style = options["styles"][-1][1] if options["styles"] else None
        replanned = found.walk.replan_end(landing.position, landing.heading, label=style, avoid=avoid)
        found = measure_path(replanned, points, found.cost)
    is_timed = settings.seconds is not None
    return write(found.walk, output, options, found=found, landing=landing, is_timed=is_timed)


def _read_others(files: tuple[str, ...], fps: float) -> Floats:
    """Return the positions (T, M, 2) of M motions on the floor, NaN after their end."""
    import numpy as np

    from marey.core.resample import resample
    from marey.io import load_motion

    paths = [resample(load_motion(each), fps).travel[:, [0, 2]] for each in files]
    out = np.full((max(map(len, paths)), len(paths), 2), np.nan)
    for k, each in enumerate(paths):
        out[: len(each), k] = each
    return out


@click.command("reach", cls=SettingsCommand, short_help="Go to a position or a clip.")
@_add_writing_options
@click.option("--at", type=POSITION_OR_POSE, help="Target position in meters, facing DEG degrees to the left of +Z.")
@add_settings(f"{_SETTINGS}GraphReachSettings")
@renamed_option("--from", "--start-clip")
@_AVOID
@add_settings(f"{_SETTINGS}LandingSettings", skip=("heading", "feet"))
def reach(file: str, output: str, at: tuple[float, ...] | None, **options: Any) -> int:
    """Go from the origin, facing +Z, to a position, to a clip, or to a clip at a position.

    A position alone is reached exactly. The route to a clip is the fastest one; 1 s of the start clip precedes it, and
    2 s of the target clip follow. A clip at a position begins within --max-error of it and continues for 2 s.

    \b
    Example:
      marey graph reach g.npz --at 3,5,90 -o there.bvh
      marey graph reach g.npz --start-clip walk --clip kick -o kick.bvh
      marey graph reach g.npz --clip kick --at 1,4,0 -o kick_it.bvh
    """
    from marey.graph import GraphReachSettings

    if at is not None and len(at) == 3:
        options["heading"] = at[2]
    elif at is not None and options["heading"] is not None:
        at = (*at, options["heading"])
    settings = read_settings(GraphReachSettings, options, avoid=list(options["avoid"]))
    if at is None and settings.clip is None:
        raise click.UsageError("no target given; use --at X,Z[,DEG], --clip NAME, or both")
    if settings.clip is not None and at is not None and len(at) != 3:
        raise click.UsageError("a clip at a position also needs a direction: --at X,Z,DEG")
    if settings.clip is not None and at is None and settings.label is not None:
        raise click.UsageError(
            "--label cannot be combined with --clip alone, because the fastest route to a clip may use any label"
        )
    graph = _open_graph(file, output)
    if at is None:
        return write(_find_fastest(graph, settings.start_clip, str(settings.clip), settings.rng), output, options)
    taken = graph.reach(at[:2], settings=settings)
    if settings.clip is None:
        return write(taken, output, options, landing=_read_landing(options, at))
    return write(taken.pad(0.0, _AFTER), output, options)


def _find_fastest(graph: MotionGraph, begin: str | None, clip: str, seed: Any) -> Walk:
    """Find the fastest route from one clip to another, starting at the origin and facing +Z.

    1 s of the start clip precedes it and 2 s of the target clip follow.
    """
    import numpy as np

    from marey.graph.routes import find_shortest_walk

    if begin is None:
        # Start from a random other clip.
        others = np.flatnonzero(graph.nodes[:, 0] != graph.index(clip))
        if not len(others):
            raise click.UsageError(f"the graph contains only {clip!r}, so no other clip can be the start")
        begin = graph.clips[int(np.random.default_rng(seed).choice(graph.nodes[others, 0]))].name
    ends = []
    for name, before, after in ((begin, _BEFORE, 0.0), (clip, 0.0, _AFTER)):
        number = graph.index(name)
        nodes = np.flatnonzero(graph.nodes[:, 0] == number)
        frames = graph.nodes[nodes, 1]
        # Prefer nodes that leave enough of the clip to play before or after the route.
        room = (frames >= before * graph.fps) & (frames + after * graph.fps <= len(graph.clips[number]))
        ends.append(nodes[room] if room.any() else nodes)
    return find_shortest_walk(graph, *ends).pad(_BEFORE, _AFTER).place_at(heading=0.0)


@click.command("search", cls=SettingsCommand, short_help="Minimize an objective.")
@_add_writing_options
@click.option("--path", "path_file", metavar="FILE", help="Follow a path: CSV lines x,z in meters.")
@click.option("--point", type=POSITION, help="Go to a point, in meters.")
@click.option("--clip", metavar="NAME", help="Enter this clip, placed by --at.")
@click.option("--at", type=POSE_2D, help="--clip: position and direction of its first frame.")
@click.option("--speed", type=float, metavar="M/S", help="Keep this speed.")
@click.option("--style", metavar="LABEL", help="Keep this label.")
@click.option("--seconds", type=float, default=4.0, show_default=True, help="--speed and --style: for how long.")
@click.option("--max-error", type=float, metavar="METERS",
              help="--point and --clip: accepted error.  [default: 0.3 for a point, 0.5 for a clip]")  # fmt: skip
@click.option("--min-step", type=float, default=0.01, metavar="METERS", show_default=True,
              help="--path: minimum progress along the path per frame.")  # fmt: skip
@_AVOID
@_START
@add_settings(f"{_SETTINGS}GraphSearchSettings")
def search(file: str, output: str, **options: Any) -> int:
    """Find the walk with the lowest cost for one objective, by branch and bound.

    The objective is one of --path, --point, --clip, --speed and --style. The exit code is 1 if a budget ran out before
    the walk was complete.

    \b
    Example:
      marey graph search g.npz --point 2,4 -o there.bvh
      marey graph search g.npz --speed 1.2 --seconds 6 --window 3 -o steady.bvh
    """
    from marey.graph import GraphSearchSettings

    graph = _open_graph(file, output)
    settings = read_settings(GraphSearchSettings, options, start=options.pop("start"))
    found = graph.search(_make_objective(graph, options), settings=settings)
    code = write(found.walk, output, options, search=found)
    return code if found.complete else 1


def _make_objective(graph: MotionGraph, options: dict[str, Any]) -> Any:
    from marey.core.placement import find_placement
    from marey.graph import FollowPath, KeepOut, KeepSpeed, KeepStyle, ReachClip, ReachPoint, read_path
    from marey.maths import rigid2d

    error, seconds = options["max_error"], options["seconds"]
    if error is not None and not error >= 0.0:
        raise click.UsageError(f"--max-error must be at least 0 m, not {error:g}")

    def reach_clip(name: str) -> ReachClip:
        if options["at"] is None:
            raise click.UsageError("--clip needs a position and direction: --at X,Z,DEG")
        (x, z), heading = place_and_heading(options["at"])
        first = graph.clips[graph.index(name)][:1]
        place = rigid2d.compose((heading or 0.0, x, z), rigid2d.invert(find_placement(first, 0)))
        return ReachClip(name, place, 0.5 if error is None else error)

    kinds: dict[str, Callable[[Any], Any]] = {
        "path_file": lambda name: FollowPath(read_path(name), options["min_step"]),
        "point": lambda point: ReachPoint(point, 0.3 if error is None else error),
        "clip": reach_clip,
        "speed": lambda speed: KeepSpeed(speed, seconds),
        "style": lambda label: KeepStyle(label, seconds),
    }
    given = [name for name in kinds if options[name] is not None]
    if len(given) != 1:
        raise click.UsageError("give one objective: --path, --point, --clip, --speed or --style")
    objective = kinds[given[0]](options[given[0]])
    return KeepOut(objective, list(options["avoid"])) if options["avoid"] else objective


@click.command("steer", cls=SettingsCommand, short_help="Steer with timed commands.")
@_add_writing_options
@click.option("--seconds", type=float, default=20.0, show_default=True, help="Length in seconds.")
@click.option(
    "--command", type=TimedCommand("label"), multiple=True, help="A timed command; see the examples. May be repeated."
)
@renamed_option("--wish", "--command", multiple=True)
@add_settings(f"{_SETTINGS}GraphStreamSettings", skip=("feet",))
def steer(file: str, output: str, **options: Any) -> int:
    """Steer through the graph with timed commands, as a game would.

    A command is SECONDS:direction=DEGREES (to the left of +Z), SECONDS:speed=METERS_PER_SECOND, or SECONDS:label=NAME.
    It takes effect at the next transition.

    \b
    Example:
      marey graph steer g.npz -o out.bvh --command 0:direction=0 --command 5:direction=90 \\
          --command 10:label=sneak
    """
    from marey.graph import GraphStreamSettings

    settings = read_settings(GraphStreamSettings, options, feet="none", place=(0.0, 0.0, 0.0))
    graph = _open_graph(file, output)
    n_frames = _count_frames(options["seconds"], graph)
    initial, send = schedule(options["command"], options["seconds"])
    stream = graph.stream(settings=settings, **initial)
    for frame in range(n_frames):
        send(stream, frame)
        stream.frame()
    return write(graph.walk(stream.edges, n_frames=n_frames).place_at(), output, options)


@click.command("crowd", cls=SettingsCommand, short_help="Move many characters, each along its own path.")
@_add_writing_options
@click.option("--paths", "folder", metavar="DIR", help="A folder of CSV paths, one per character.")
@click.option(
    "--characters",
    type=int,
    default=20,
    show_default=True,
    help="Without --paths: number of characters, which cross a circle.",
)
@click.option("--radius", type=float, default=8.0, show_default=True, help="Radius of that circle in meters.")
@add_settings(f"{_SETTINGS}GraphCrowdSettings")
@renamed_option("--apart", "--min-distance", type=float)
@renamed_option("--figures", "--characters", type=int)
def crowd(file: str, output: str, folder: str | None, as_json: bool, **options: Any) -> int:
    """Generate many characters from one graph, each on its own path and avoiding the others.

    OUT is a folder for BVH files, or one GLB file. The exit code is 1 if a character found no path and was left out.

    \b
    Example:
      marey graph crowd g.npz -o crowd/ --characters 50 --radius 10
      marey graph crowd g.npz -o crowd.glb --paths paths/
    """
    from pathlib import Path

    from marey.cli.progress import bar
    from marey.graph import GraphCrowdSettings, MotionGraph, crossing_paths, read_path

    settings = read_settings(GraphCrowdSettings, options)
    check_crowd(output)
    if folder is None:
        paths = crossing_paths(options["characters"], options["radius"], settings.rng)
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
        result = graph.crowd(paths, settings=settings, progress=progress)
    motions = result.motions(feet=options["feet"], name="character")
    save_crowd(motions, output, rigid=options["rigid"])
    report = {"written": output, **result.to_dict(), "seconds": settings.seconds}
    if as_json:
        print_json(report)
    else:
        near = f", minimum distance {format_distance(result.nearest)}" if len(motions) > 1 else ""
        click.echo(f"wrote {output}: {plural(len(motions), 'character')} for {settings.seconds:g} s{near}")
        if report["left_out"]:
            click.echo(f"  ! {plural(report['left_out'], 'character')} left out: no path avoids the others")
    return 1 if report["left_out"] else 0
