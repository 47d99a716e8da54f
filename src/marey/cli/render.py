"""`marey render`: draw motions as an animation or a still image.

A separate module, as for every command; `marey.cli.main` imports commands by name.
"""

from __future__ import annotations

from typing import Any

import click

from marey.cli.derived_options import SettingsCommand, add_settings, read_settings
from marey.cli.files import check_output
from marey.cli.shared_options import add_reading_options, find_frame, frames_between, read_motion, take_reading_options
from marey.cli.values import Moment, format_size


@click.command("render", cls=SettingsCommand)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("-o", "--output", required=True, metavar="OUT", help="The file to write: .gif, .webp, .mp4 or .png.")
@add_settings("marey.studio.render_settings:RenderSettings")
@click.option("--from", "begin", type=Moment(), help="Start time in seconds (1.2) or start frame (36f).")
@click.option("--to", "end", type=Moment(), help="End time in seconds or end frame, exclusive.")
@click.option("--at", type=Moment(), help="Time or frame of a .png image.  [default: the middle]")
@add_reading_options
def command(
    files: tuple[str, ...],
    output: str,
    begin: float | int | None,
    end: float | int | None,
    at: float | int | None,
    **options: Any,
) -> None:
    """Draw the motions of FILE... as an animation (.gif, .webp, .mp4) or a still image (.png).

    Several motions play at the same time.

    \b
    Example:
      marey render walk.bvh -o walk.gif
      marey render walk.bvh clean.bvh -o both.mp4 --apart --camera side --labels
      marey render kick.bvh -o kick.png --at 0.8 --size 1280x720
    """
    import os

    from marey.cli.progress import bar
    from marey.studio.render import render
    from marey.studio.render_settings import RenderSettings

    check_output(output)
    fps = options.pop("fps")  # of the pictures; files are read at their own rate
    how = take_reading_options(options)
    motions = [read_motion(path, how) for path in files]
    if begin is not None or end is not None:
        motions = [motion[slice(*frames_between(motion, begin, end))] for motion in motions]
    frame = None if at is None else find_frame(motions[0], at, "--at")
    with bar("drawing") as progress:
        settings = read_settings(RenderSettings, options, fps=fps, progress=progress)
        render(motions, output, frame=frame, settings=settings)
    click.echo(f"wrote {output}: {format_size(os.path.getsize(output))}")
