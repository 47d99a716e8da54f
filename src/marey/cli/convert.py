"""`marey convert`: convert motions between file formats."""

from __future__ import annotations

from typing import Any

import click

from marey.cli.files import check_output, counted
from marey.cli.options import reading, reading_options


@click.command("convert")
@click.argument("inputs", nargs=-1, required=True, metavar="IN...")
@click.argument("output", metavar="OUT")
@reading
@click.option("--trim-rest", is_flag=True, help="Remove frame 0 if it is a rest pose.")
@click.option("--to-unit", help="Unit of the BVH file to write.  [default: the input's, else cm]")
@click.option("--to-up", help="Up axis of the BVH file to write.  [default: the input's, else y]")
@click.option("--rigid", is_flag=True, help="Keep bone lengths constant in OUT.")
@click.option("--no-figure", is_flag=True, help="Write only the bones to a GLB file, without the simple body mesh.")
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
    """Convert IN (BVH, ASF/AMC, GLB, NPZ) to OUT (BVH, GLB, NPZ).

    If OUT is a GLB file, there may be several inputs.

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
