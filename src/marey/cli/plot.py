"""`marey plot`: plot motions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from marey.cli.derived_options import SettingsCommand
from marey.cli.files import check_plot, warn_of_rate
from marey.cli.shared_options import add_reading_options, frames_between, read_motion, take_reading_options
from marey.cli.values import Moment
from marey.errors import InvalidValue, UnknownName, plural, similar

if TYPE_CHECKING:
    from marey.core.motion import Motion

# Each kind of plot: what it shows, and an example.
KINDS = {
    "filmstrip": (
        "poses from the side and from above, with in-between poses and the path of the hips",
        "marey plot filmstrip walk.bvh -o walk.png --poses 8",
    ),
    "feet": (
        "height and speed of heels and balls of the feet, with contacts (detected if the file has none)",
        "marey plot feet walk.bvh -o feet.png --from 1.2 --to 3",
    ),
    "joints": (
        "joint angles over time: flexion of knees and elbows, rotation vectors of others",
        "marey plot joints walk.bvh -o joints.svg --joints knee,left_upper_arm",
    ),
    "path": (
        "the paths of one or more motions from above, with the facing direction at each second",
        "marey plot path walk.bvh run.bvh -o paths.png --align",
    ),
    "parameters": (
        "position, height, heading, speed and turn rate over time, of one or more motions",
        "marey plot parameters walk.bvh run.bvh -o parameters.png",
    ),
    "cloud": (
        "a window of frames as a point cloud from the side and from above, colored by time",
        "marey plot cloud walk.bvh -o cloud.png --from 36f --to 66f",
    ),
    "correlations": (
        "joints of the upper body that move in time with the legs, in phase or in counter-phase",
        "marey plot correlations walk.bvh -o correlations.png",
    ),
}
_SEVERAL = ("path", "parameters")
# The kind of plot that each option belongs to; with any other kind it is an error.
_OPTIONS = {"poses": "filmstrip", "front": "filmstrip", "joints": "joints", "align": "path"}


def _list_kinds() -> str:
    lines = []
    for kind, (what, example) in KINDS.items():
        lines += [f"{kind:<12} {what}", f"{'':<12} {example}"]
    return "\n".join(lines)


def _show_list(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        click.echo(_list_kinds())
        ctx.exit()


@click.command(
    "plot",
    cls=SettingsCommand,
    epilog="\b\nKinds, each with an example:\n" + "\n".join(f"  {line}" for line in _list_kinds().split("\n")),
)
@click.argument("kind")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("-o", "--output", metavar="OUT", help="The plot to write, .png or .svg.  [required]")
@click.option("--from", "begin", type=Moment(), help="Start time in seconds (1.2) or start frame (36f).")
@click.option("--to", "end", type=Moment(), help="End time in seconds or end frame, exclusive.")
@click.option("--poses", type=int, help="filmstrip: number of poses.  [default: as many as fit]")
@click.option("--front", is_flag=True, help="filmstrip: add a front view.")
@click.option("--joints", help="joints: roles, joint names, or knee, elbow, hip, ankle, wrist; separated by commas.")
@click.option("--align", is_flag=True, help="path: start all paths at the same place, facing the same direction.")
@click.option(
    "--list",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_list,
    help="List the kinds of plots and exit.",
)
@add_reading_options
def command(
    kind: str,
    files: tuple[str, ...],
    output: str | None,
    begin: float | int | None,
    end: float | int | None,
    **options: Any,
) -> None:
    """Draw a plot of KIND from FILE and write it to OUT as PNG or SVG.

    \b
    Example:
      marey plot filmstrip walk.bvh -o walk.png
      marey plot path walk.bvh run.bvh -o paths.svg --align
    """
    how = take_reading_options(options)
    _check(kind, files, output, options)
    assert output is not None
    check_plot(output)

    from marey import plot
    from marey.plot.cloud import cloud_window

    motions = [read_motion(path, how) for path in files]
    cuts = [frames_between(motion, begin, end) for motion in motions]
    named: list[str] = []
    if kind == "path":
        starts, stops = [a for a, _ in cuts], [b for _, b in cuts]
        plot.path(motions, output, start=starts, stop=stops, align=options["align"])
    elif kind == "parameters":
        plot.parameters(motions, output, start=[a for a, _ in cuts], stop=[b for _, b in cuts])
    else:
        motion, (start, stop) = motions[0], cuts[0]
        if kind == "filmstrip":
            plot.filmstrip(motion, output, n_poses=options["poses"], front=options["front"], start=start, stop=stop)
        elif kind == "feet":
            warn_of_rate(files[0], motion)
            plot.feet(motion, output, start=start, stop=stop)
        elif kind == "joints":
            names = (
                None if options["joints"] is None else [n.strip() for n in options["joints"].split(",") if n.strip()]
            )
            plot.joints(motion, output, names=names, start=start, stop=stop)
        elif kind == "correlations":
            named = _plot_correlations(motion[start:stop], output)
        else:
            if begin is None and end is None:  # a cloud has its own window
                start, stop = cuts[0] = cloud_window(motion)
            plot.cloud(motion, output, start=start, stop=stop)
    shown = ", ".join(
        f"{plural(b - a, 'frame')} of {motion.name!r}" for motion, (a, b) in zip(motions, cuts, strict=True)
    )
    click.echo("\n".join([f"wrote {output}: {kind} of {shown}", *named]))


def _plot_correlations(motion: Motion, output: str) -> list[str]:
    """Plot the correlations. Return lines that list the correlated joints."""
    from marey.layer import find_correlations
    from marey.layer.correlation import RELATIONS
    from marey.plot.layer import correlation

    found = find_correlations(motion)
    correlation(found, output)
    lines = []
    for kind in ("global", "local"):
        for relation in RELATIONS:
            names = [f"{trend.joint} {trend.axis}" for trend in found.select(relation, kind)]
            reference = "" if relation.startswith("with") else "with the left hip, "
            lines.append(f"  {relation} {reference}{kind}: {', '.join(names) or 'none'}")
    return lines


def _check(kind: str, files: tuple[str, ...], output: str | None, options: dict[str, Any]) -> None:
    """Reject wrong options before reading any file."""
    if kind not in KINDS:
        raise UnknownName(
            f"unknown kind of plot {kind!r}; available kinds: {', '.join(KINDS)}{similar(kind, KINDS, n=1)}"
        )
    if output is None:
        raise InvalidValue(f"no output file given; for example: marey plot {kind} {files[0]} -o {kind}.png")
    for option, owner in _OPTIONS.items():
        if options[option] not in (None, False) and owner != kind:
            raise InvalidValue(f"--{option} does not apply to {kind}; it applies to {owner}")
    if len(files) > 1 and kind not in _SEVERAL:
        raise InvalidValue(f"{kind} shows one motion, not {len(files)} files; {' and '.join(_SEVERAL)} show several")
