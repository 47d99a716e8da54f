"""`marey convert`: convert motions between file formats."""

from __future__ import annotations

from typing import Any

import click

from marey.cli.files import check_output, plural
from marey.cli.options import read_motion, reading, reading_options, renamed_option
from marey.cli.settings import SettingsCommand, add_settings, read_settings


@click.command("convert", cls=SettingsCommand)
@click.argument("inputs", nargs=-1, required=True, metavar="IN...")
@click.argument("output", metavar="OUT")
@reading
@add_settings("marey.io.settings:SaveSettings", skip=("unit", "up"))
@click.option("--to-unit", help="Unit of the BVH file to write.  [default: the input's, else cm]")
@click.option("--to-up", help="Up axis of the BVH file to write.  [default: the input's, else y]")
@renamed_option("--no-figure", "--no-body", sets={"body": False})
def command(inputs: tuple[str, ...], output: str, to_unit: str | None, to_up: str | None, **options: Any) -> None:
    """Convert IN (BVH, ASF/AMC, FBX, GLB, NPZ) to OUT (BVH, FBX, GLB, NPZ).

    If OUT is a GLB file, there may be several inputs.

    \b
    Example:
      marey convert walk.bvh walk.glb
      marey convert walk.bvh run.bvh both.glb
      marey convert --file-fps 60 143_32.bvh walk.bvh
    """
    from marey.io import SaveSettings, save

    check_output(output)
    how = reading_options(options)
    motions = [read_motion(path, how) for path in inputs]
    save(motions, output, settings=read_settings(SaveSettings, options, unit=to_unit, up=to_up))
    frames = ", ".join(f"{plural(len(motion), 'frame')} of {motion.name!r}" for motion in motions)
    click.echo(f"wrote {output}: {frames}")
