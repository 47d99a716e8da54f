"""`marey convert`: from one format to another."""

from __future__ import annotations

from typing import Any

import click

from marey.cli.files import check_output, counted
from marey.cli.options import reading, reading_options


@click.command("convert")
@click.argument("inputs", nargs=-1, required=True, metavar="IN...")
@click.argument("output", metavar="OUT")
@reading
@click.option("--trim-rest", is_flag=True, help="Drop frame 0 where it is a rest pose put before the motion.")
@click.option("--to-unit", help="Unit of a BVH file to be written.  [default: that of the input, else cm]")
@click.option("--to-up", help="Upward axis of a BVH file to be written.  [default: that of the input, else y]")
@click.option("--rigid", is_flag=True, help="Leave out changes of bone length.")
@click.option("--no-figure", is_flag=True, help="Write a GLB without the simple body, bones alone.")
def command(
    inputs: tuple[str, ...],
    output: str,
    trim_rest: bool,
    to_unit: str | None,
    to_up: str | None,
    rigid: bool,
    no_figure: bool,
    **options: Any,
) -> None:
    """Read IN (BVH, ASF/AMC, GLB, NPZ) and write OUT (BVH, GLB, NPZ). Several inputs go into one GLB.

    \b
    Example:
      marey convert walk.bvh walk.glb
      marey convert walk.bvh run.bvh both.glb
      marey convert --fps 60 --trim-rest 143_32.bvh walk.bvh
    """
    from marey.io import load_motion, save

    check_output(output, inputs)
    how = reading_options(options)
    motions = [load_motion(path, trim_rest=trim_rest, **how) for path in inputs]
    save(motions, output, unit=to_unit, up=to_up, rigid=rigid, figure=not no_figure)
    frames = ", ".join(f"{counted(len(motion), 'frame')} of {motion.name!r}" for motion in motions)
    click.echo(f"{output}: {frames}")
    for path, motion in zip(inputs, motions, strict=True):
        if motion.source.evidence and motion.source.evidence[-1].startswith("frame 0"):
            click.echo(f"{path}: {motion.source.evidence[-1]}")
