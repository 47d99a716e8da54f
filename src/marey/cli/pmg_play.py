"""`marey pmg walk`, `go`, `steer` and `reach`: play a character."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from marey.cli.derived_options import SettingsCommand, add_settings, read_settings
from marey.cli.files import check_output, check_plot, print_json
from marey.cli.pmg_report import open_character
from marey.cli.query import AS_JSON
from marey.cli.shared_options import removed_option
from marey.cli.steering import Schedule, check_steered, steering_options, write_steered
from marey.cli.values import POSE_2D, POSITION, Finite, NumberList
from marey.errors import plural
from marey.measure.display import format_distance

if TYPE_CHECKING:
    from marey.clean.settings import CleanSettings
    from marey.core import Motion
    from marey.core.arrays import Floats
    from marey.pmg import CharacterStream, Node, ParametricMotionGraph, StreamSettings

_OUT = click.option("-o", "--output", required=True, metavar="OUT", help="The motion to write: BVH, FBX, GLB or NPZ.")
_NEAR = 0.3  # meters from the target that count as arrived
_SECONDS_PER_METER = 3.0  # time limit per meter of straight distance; 3 m are added to the distance

_MAX_SEQUENCE = 600.0  # seconds in which a sequence must end unless its length is given

_SAME_HEADING = math.radians(20.0)  # heading error that counts as arrived; weighs as much as `_NEAR`


def _stream_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a stream; `_read_stream_settings` reads them."""
    options = [
        add_settings("marey.pmg.settings:StreamSettings"),
        click.option(
            "--parameters", type=NumberList("numbers", "40 or -40,0.8"), help="Parameters of the first clip."
        ),
        click.option(
            "--place", type=POSE_2D, metavar="X,Z,DEGREES",
            help="Start position in meters and heading in degrees to the left of +Z.  [default: 0,0,0]",
        ),
        click.option(
            "--cleaning", metavar="NAME=VALUE,...",
            help="Settings of the cleanup of the feet, as in `marey clean`: max_stretch=0.1,fade_window=0.3.",
        ),
        click.option("--no-cleanup", "feet", flag_value="none", hidden=True),
    ]  # fmt: skip
    for option in reversed(options):
        function = option(function)
    return function


def _read_stream_settings(graph: ParametricMotionGraph, options: dict[str, Any]) -> StreamSettings:
    from marey.pmg import StreamSettings
    from marey.pmg.units import to_internal_units

    place, parameters = options["place"], options["parameters"]
    if parameters is not None:
        node = graph[options["start"] or next(iter(graph.nodes))]
        parameters = to_internal_units(parameters, node.units, "--parameters")
        _note_clamped(node, parameters)
    return read_settings(
        StreamSettings,
        options,
        parameters=parameters,
        place=None if place is None else (math.radians(place[2]), *place[:2]),
        cleaning=None if options["cleaning"] is None else _read_cleaning(options["cleaning"]),
    )


def _note_clamped(node: Node, parameters: Floats) -> None:
    """Print the parameters that are outside of their range, which a stream clamps."""
    from marey.core.naming import display_unit

    if len(parameters) != node.n_dims:
        return
    used = node.project(parameters[None])[0]
    for name, unit, *values in zip(node.names, node.units, parameters, node.low, node.high, used, strict=True):
        shown, factor = display_unit(unit)
        given, low, high, taken = (f"{factor * value:.3g}" for value in values)
        if given != taken:
            click.echo(
                f"marey: {given} is outside the range of {name}, {low} to {high} {shown}".rstrip() + f"; used {taken}",
                err=True,
            )


def _read_cleaning(text: str) -> CleanSettings:
    """Parse NAME=VALUE,... with degrees for angles. Settings that are not given have the defaults of streams."""
    from marey.clean.settings import CleanSettings
    from marey.core.settings import options_of
    from marey.pmg.stream import STREAM_CLEANING

    known = {each.name: each for each in options_of(CleanSettings) if each.kind != "object"}
    given: dict[str, Any] = {}
    for word in text.split(","):
        name, _, value = (part.strip() for part in word.partition("="))
        if name not in known:
            raise click.UsageError(f"--cleaning has no setting {name!r}; there are {', '.join(known)}")
        try:
            given[name] = {"true": True, "false": False}[value] if known[name].kind == "flag" else float(value)
        except (KeyError, ValueError):
            given[name] = value
        if known[name].unit == "rad" and isinstance(given[name], float):
            given[name] = math.radians(given[name])
    return CleanSettings(settings=STREAM_CLEANING, **given)


@click.command("walk", cls=SettingsCommand)
@click.argument("char", metavar="CHAR")
@click.option("--seconds", type=Finite(min=0.1), default=60.0, show_default=True, help="Length in seconds.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Random seed.")
@_stream_options
@_OUT
@AS_JSON
def walk(char: str, seconds: float, seed: int, output: str, as_json: bool, **options: Any) -> int:
    """Play a character with random choices.

    \b
    Example:
      marey pmg walk boxer.json --seconds 60 --seed 3 -o boxing.bvh
    """
    from marey.control import RandomWalk
    from marey.io import save

    check_output(output)
    graph = open_character(char, empty=False)
    stream = graph.stream(RandomWalk(seed), settings=_read_stream_settings(graph, options))
    played = stream.record(seconds)
    save(played, output)
    return _print_result(stream, played, output, as_json, {})


@click.command(
    "go", cls=SettingsCommand, short_help="Go to a point.", context_settings={"ignore_unknown_options": True}
)
@click.argument("char", metavar="CHAR")
@click.option("--to", "point", type=POSITION, required=True, help="Target position in meters.")
@add_settings("marey.control.settings:GoToSettings")
@removed_option("--lookahead", type=int)
@click.option("--nodes", metavar="NAME,...", help="Nodes to use, separated by commas.  [default: all]")
@click.option("--seconds", type=Finite(min=0.1), help="Time limit.  [default: depends on the distance]")
@_stream_options
@_OUT
@AS_JSON
def go(
    char: str,
    point: tuple[float, float],
    seconds: float | None,
    output: str,
    as_json: bool,
    **options: Any,
) -> int:
    """Make a character go from the origin, facing +Z, to a point. The motion ends when it arrives.

    The exit code is 1 if it does not come within 0.3 m of the point and, with --heading, within 20 degrees of the
    heading.

    \b
    Example:
      marey pmg go walker.json --to 3,5 --heading 90 -o there.bvh
    """
    import numpy as np

    from marey.control import GoTo, GoToSettings, load_plan
    from marey.core.placement import find_facing
    from marey.io import save

    check_output(output)
    graph = open_character(char, empty=False)
    load_plan(graph, char)
    nodes = options.pop("nodes")
    aiming = read_settings(GoToSettings, options, nodes=None if nodes is None else nodes.split(","))
    aim, heading = GoTo(point, settings=aiming), aiming.heading
    stream = graph.stream(aim, settings=_read_stream_settings(graph, options))
    played = stream.record(seconds or _SECONDS_PER_METER * (math.hypot(*point) + _SECONDS_PER_METER))
    off = np.linalg.norm(played.travel[:, [0, 2]] - point, axis=1)
    aside = np.zeros(len(off))
    if heading is not None:
        faced = find_facing(played.skeleton, played.world().positions) - heading
        aside = np.abs((faced + np.pi) % (2.0 * np.pi) - np.pi)
    at, reached = arrival(off, aside)
    played = played[: max(at + 1, 2)]
    save(played, output)
    extra: dict[str, Any] = {"missed": float(off[at]), "reached": reached}
    if heading is not None:
        extra["heading_off_degrees"] = math.degrees(float(aside[at]))
    code = _print_result(stream, played, output, as_json, extra)
    return code if reached else 1


def arrival(off: Floats, aside: Floats) -> tuple[int, bool]:
    """Return the frame of arrival and True; if the character never arrives, the closest frame and False.

    Parameters
    ----------
    off : (F,) distance from the point in each of F frames, meters.
    aside : (F,) difference from the requested heading, radians, at least 0.
    """
    import numpy as np

    miss = off / _NEAR + aside / _SAME_HEADING
    met = (off <= _NEAR) & (aside <= _SAME_HEADING)
    if not met.any():
        return int(np.argmin(miss)), False
    # Take the best frame of the first visit; later visits do not count.
    first = int(np.argmax(met))
    last = first + int(np.argmax(np.append(off[first:] > _NEAR, True)))
    return first + int(np.argmin(np.where(met[first:last], miss[first:last], np.inf))), True


def _print_result(stream: CharacterStream, played: Motion, output: str, as_json: bool, extra: dict[str, Any]) -> int:
    shown = [each for each in stream.transitions if each.frame < len(played)]
    worst = max((each.cost / each.bad for each in shown), default=0.0)
    report = {
        "written": [output],
        "frames": len(played),
        "seconds": played.duration,
        "clips": len(shown) + 1,
        "worst_fraction_of_bad": worst,
        **extra,
    }
    if as_json:
        print_json(report)
    else:
        click.echo(
            f"wrote {output}: {plural(len(played), 'frame')}, {played.duration:.2f} s, "
            f"{plural(len(shown) + 1, 'clip')}, worst transition: {100 * worst:.0f} % of the allowed distance (`bad`)"
        )
        if "missed" in extra:
            outcome = "arrived" if extra["reached"] else "did not arrive"
            line = f"  {outcome}: {format_distance(extra['missed'])} from the point"
            if "heading_off_degrees" in extra:
                line += f", {extra['heading_off_degrees']:.0f} degrees from the heading"
            click.echo(line)
    return 0


@click.command("steer", cls=SettingsCommand, short_help="Steer with keys, timed commands or a sequence.")
@click.argument("char", metavar="CHAR")
@click.option(
    "--sequence", metavar="TEXT", help='Actions in order: "walk*3, sit, rise" plays three clips of walk, and so on.'
)
@steering_options("node")
@_stream_options
def steer(char: str, sequence: str | None, **options: Any) -> None:
    """Steer a character with keys, timed commands or a sequence of actions, as a game would.

    A command is SECONDS:direction=DEGREES (to the left of +Z), SECONDS:speed=METERS_PER_SECOND or SECONDS:node=NAME.

    \b
    Example:
      marey pmg steer walker.json -o out.bvh --keys "w:3 a:4 -:2" --look
      marey pmg steer walker.json -o out.bvh --command 2:direction=90 --carry box.bvh
      marey pmg steer everyday.json -o out.bvh --sequence "walk*3, stop, sit, rise, start, walk"
      marey pmg steer walker.json -o crowd.glb --keys "w:4 a:3" --crowd 9 --member speed=0.8 --member speed=1.2
    """
    from marey.control import ActionSequence, FollowDirection, load_plan, parse_actions

    if sequence is not None and (options["keys"] or options["command"] or options["look"]):
        raise click.UsageError("--sequence cannot be combined with --keys, --command or --look")
    check_steered(options)
    graph = open_character(char, empty=False)
    load_plan(graph, char)
    settings = _read_stream_settings(graph, options)
    if settings.feet == "auto":
        settings = type(settings)(settings=settings, feet="clean")

    def make(command: dict[str, Any]) -> CharacterStream:
        if sequence is not None:
            if command:
                raise click.UsageError("--member cannot be combined with --sequence")
            return graph.stream(ActionSequence(parse_actions(sequence)), settings=settings)
        return graph.stream(FollowDirection(**{"direction": 0.0, **command}), settings=settings)

    length = None if sequence is None or options["seconds"] else _measure_sequence(make({}))
    click.echo(write_steered(make, Schedule(options, length), options))


def _measure_sequence(stream: CharacterStream) -> float:
    """Return the seconds until a stream has played its sequence of actions once."""
    controller: Any = stream.controller
    for frame in range(round(_MAX_SEQUENCE * stream.fps)):
        if controller.done:
            return frame / stream.fps
        stream.next_frame()
    raise click.UsageError(f"the sequence takes more than {_MAX_SEQUENCE:g} s; give its length with --seconds")


@click.command("reach", short_help="Plot where a character can get, and when.")
@click.argument("char", metavar="CHAR")
@click.option("-o", "--output", required=True, metavar="OUT", help="The plot to write: PNG or SVG.")
@click.option("--seconds", type=Finite(min=0.1), default=4.0, show_default=True, help="Time limit in seconds.")
@click.option(
    "--cell", type=float, default=0.2, show_default=True, metavar="METERS", help="Cell size of the floor grid."
)
@click.option("--headings", type=click.IntRange(min=4), default=24, show_default=True, help="Number of headings.")
@click.option("--start", metavar="NODE", help="Start node.  [default: the first node]")
@AS_JSON
def reach(char: str, output: str, seconds: float, cell: float, headings: int, start: str | None, as_json: bool) -> None:
    """Plot which positions and headings a character can reach within a given time.

    \b
    Example:
      marey pmg reach walker.json -o reach.png --seconds 4
    """
    from marey.control import load_plan
    from marey.control.reach import reach as find
    from marey.plot.reach import reach as draw

    check_plot(output)
    graph = open_character(char, empty=False)
    load_plan(graph, char)
    found = find(graph, seconds=seconds, cell=cell, headings=headings, start=start)
    draw(found, output)
    metrics = found.to_dict()
    if as_json:
        print_json({"written": [output], **metrics})
        return
    click.echo(f"wrote {output}")
    radius = format_distance(0.5 * float(found.x[-1]))
    click.echo(
        f"in {seconds:g} s, reaches {100 * metrics['places_within_half']:.0f} % of the places within {radius}; there, "
        f"{100 * metrics['headings_within_half']:.0f} % of the headings on average"
    )
    for angle in ("quarter", "half"):
        turn = metrics[f"{angle}_turn_seconds"]
        click.echo(f"a {angle} turn takes {turn:.2g} s" if math.isfinite(turn) else f"no {angle} turn in this time")
