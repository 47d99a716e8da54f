"""`marey convert`: convert motions between file formats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from marey.cli.files import check_output, plural
from marey.cli.options import read_motion, reading, reading_options, renamed_option
from marey.cli.settings import SettingsCommand, add_settings, read_settings

if TYPE_CHECKING:
    from marey.core import Motion


@click.command("convert", cls=SettingsCommand)
@click.argument("inputs", nargs=-1, required=True, metavar="IN...")
@click.argument("output", metavar="OUT")
@reading
@add_settings("marey.io.settings:SaveSettings", skip=("unit", "up"))
@click.option("--to-unit", help="Unit of the BVH file to write.  [default: the input's, else cm]")
@click.option("--to-up", help="Up axis of the BVH file to write.  [default: the input's, else y]")
@click.option(
    "--character", metavar="FILE",
    help="A GLB or VRM file with the skeleton of IN. OUT is a copy of it, with its mesh, and with IN as its first "
    "animation. To put another motion on a character, use marey edit retarget.",
)  # fmt: skip
@renamed_option("--no-figure", "--no-body", sets={"body": False})
def command(inputs: tuple[str, ...], output: str, to_unit: str | None, to_up: str | None, **options: Any) -> None:
    """Convert IN (BVH, ASF/AMC, FBX, GLB, NPZ, NPY) to OUT (BVH, FBX, GLB, NPZ).

    If OUT is a GLB file, there may be several inputs. If its name ends in .amass.npz, it is written for programs that
    read AMASS, retargeted to a SMPL-H skeleton.

    \b
    Example:
      marey convert walk.bvh walk.glb
      marey convert walk.bvh run.bvh both.glb
      marey convert walk.bvh walk.amass.npz
      marey convert --file-fps 60 143_32.bvh walk.bvh
    """
    from marey.io import LoadSettings, SaveSettings, save
    from marey.io.saving import is_amass_name

    check_output(output)
    how = reading_options(options)
    to_amass = is_amass_name(output)
    model = how.body_model if to_amass else None
    if to_amass and not all(path.lower().endswith((".npz", ".npy")) for path in inputs):
        how = LoadSettings(settings=how, body_model=None)  # a model for the file to write
    motions = [read_motion(path, how) for path in inputs]
    if to_amass:
        motions = [_fit_smpl(motion, model) for motion in motions]
    save(motions, output, settings=read_settings(SaveSettings, options, unit=to_unit, up=to_up))
    frames = ", ".join(f"{plural(len(motion), 'frame')} of {motion.name!r}" for motion in motions)
    click.echo(f"wrote {output}: {frames}")


def _fit_smpl(motion: Motion, body_model: str | None) -> Motion:
    """Retarget a motion to the SMPL-H skeleton, unless it has the joints of a SMPL model."""
    from marey.edit import retarget
    from marey.io.smpl import fits_smpl, smpl_skeleton

    if fits_smpl(motion.skeleton) and body_model is None:
        return motion
    return retarget(motion, smpl_skeleton(body_model=body_model))
