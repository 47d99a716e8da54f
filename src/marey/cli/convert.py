"""`marey convert`: convert motions between file formats."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from marey.cli.derived_options import SettingsCommand, add_settings, read_settings, word_options
from marey.cli.files import ReplaceGuard, check_output, print_json, print_report
from marey.cli.shared_options import (
    add_reading_options,
    output_option,
    read_motion,
    renamed_option,
    take_output,
    take_reading_options,
)
from marey.cli.tables import format_table
from marey.errors import plural

if TYPE_CHECKING:
    from marey.core import Motion
    from marey.io import ConvertReport, LoadSettings, SaveSettings


@click.command("convert", cls=SettingsCommand)
@click.argument("inputs", nargs=-1, metavar="IN...")
@click.argument("output", required=False, metavar="OUT")
@output_option
@add_reading_options
@add_settings("marey.io.settings:SaveSettings", skip=("unit", "up"))
@click.option("--to-unit", help="Unit of the BVH file to write.  [default: the input's, else cm]")
@click.option("--to-up", help="Up axis of the BVH file to write.  [default: the input's, else y]")
@click.option(
    "--remove", type=click.Choice(["start", "travel", "turns"]),
    help="For games: 'start' lets the motion begin over the origin, facing +Z, with the floor at height 0; 'travel' "
    "also removes the travel over the floor, and 'turns' the changes of direction too, as marey edit in-place does.",
)  # fmt: skip
@click.option("--to", metavar="FORMAT", help="For a folder: the format to write, such as bvh.")
@click.option(
    "--character", metavar="FILE",
    help="A GLB or VRM file with the skeleton of IN. OUT is a copy of it, with its mesh, and with IN as its first "
    "animation. To put another motion on a character, use marey edit retarget.",
)  # fmt: skip
@click.option("--list", "show_list", is_flag=True, help="List all formats and exit.")
@click.option("--json", "as_json", is_flag=True, help="Print the list of formats, or the report on a folder, as JSON.")
@renamed_option("--no-figure", "--no-body", sets={"body": False})
def command(
    inputs: tuple[str, ...],
    output: str | None,
    to_unit: str | None,
    to_up: str | None,
    to: str | None,
    show_list: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """Convert IN to OUT; the suffixes determine the formats, which --list shows.

    If OUT is an FBX or GLB file, there may be several inputs. If its name ends in .amass.npz, it is written for
    programs that read AMASS, retargeted to a SMPL-H skeleton. If IN is a folder, all motions in it are converted to
    --to FORMAT in the folder OUT; the exit code is 1 if some files could not be converted.

    \b
    Example:
      marey convert walk.bvh walk.glb
      marey convert walk.bvh run.bvh both.glb
      marey convert walk.bvh walk.amass.npz
      marey convert takes/ converted/ --to bvh
      marey convert takes/ game/ --to fbx --remove travel
      marey convert --file-fps 60 143_32.bvh walk.bvh
    """
    from marey.io import SaveSettings

    if show_list:
        _print_formats(as_json)
        return 0
    if (given := take_output()) is not None:
        inputs, output = (inputs if output is None else (*inputs, output)), given
    if output is None or not inputs:
        raise click.UsageError("expected IN and OUT, such as walk.bvh walk.glb")
    how = take_reading_options(options)
    saving = read_settings(SaveSettings, options, unit=to_unit, up=to_up)
    edit = _read_edit(options)
    if len(inputs) == 1 and os.path.isdir(inputs[0]):
        if to is None:
            raise click.UsageError(f"{inputs[0]} is a folder; give the format to write, such as --to bvh")
        return _convert_folder(inputs[0], output, to, how, saving, edit, as_json)
    if to is not None or as_json:
        raise click.UsageError("--to and --json apply to a folder; for a file, the suffix of OUT sets the format")
    _convert_files(inputs, output, how, saving, edit)
    return 0


def _read_edit(options: dict[str, Any]) -> Callable[[Motion], Motion]:
    """Return the function that changes motions as --remove says."""
    if options["remove"] is None:
        return lambda motion: motion
    from marey.edit import InPlaceSettings, make_in_place

    return partial(make_in_place, settings=read_settings(InPlaceSettings, options))


def _convert_files(
    inputs: tuple[str, ...], output: str, how: LoadSettings, saving: SaveSettings, edit: Callable[[Motion], Motion]
) -> None:
    from marey.io import LoadSettings, save
    from marey.io.saving import is_amass_name

    check_output(output)
    to_amass = is_amass_name(output)
    model = how.body_model if to_amass else None
    if to_amass and not all(path.lower().endswith((".npz", ".npy")) for path in inputs):
        how = LoadSettings(settings=how, body_model=None)  # body model for the file to write
    motions = [edit(read_motion(path, how)) for path in inputs]
    if to_amass:
        motions = [_fit_smpl(motion, None if model is None else str(model)) for motion in motions]
    save(motions, output, settings=saving)
    frames = ", ".join(f"{plural(len(motion), 'frame')} of {motion.name!r}" for motion in motions)
    click.echo(f"wrote {output}: {frames}")


def _fit_smpl(motion: Motion, body_model: str | None) -> Motion:
    """Retarget a motion to the SMPL-H skeleton, unless it has the joints of a SMPL model."""
    from marey.edit import retarget
    from marey.io.smpl import fits_smpl, smpl_skeleton

    if fits_smpl(motion.skeleton) and body_model is None:
        return motion
    return retarget(motion, smpl_skeleton(body_model=body_model))


def _convert_folder(
    folder: str,
    output: str,
    to: str,
    how: LoadSettings,
    saving: SaveSettings,
    edit: Callable[[Motion], Motion],
    as_json: bool,
) -> int:
    from marey.io import convert_folder

    guard = ReplaceGuard()
    report = convert_folder(
        folder, output, to, reading=how, saving=saving, edit=lambda motion: guard.remember(edit(motion)),
        check_existing=guard.check,
    )  # fmt: skip
    print_report(report.to_dict(), as_json, lambda _: _describe(report, output))
    return 1 if report.count("failed") else 0


def _describe(report: ConvertReport, output: str) -> str:
    rows = [("file", "frames", "rate", "result")]
    for file in report.files:
        numbers = (f"{file.frames}", f"{file.fps:.6g} Hz") if file.output else ("", "")
        result = file.output or f"{file.status}: {word_options(file.reason)}"
        rows.append((file.file, *numbers, result))
    counts = ", ".join(f"{report.count(status)} {status}" for status in ("converted", "skipped", "failed"))
    return "\n".join([*format_table(rows), f"{output}: {counts}"])


def _print_formats(as_json: bool) -> None:
    from marey.io import FORMATS

    if as_json:
        print_json([each.to_dict() for each in FORMATS])
        return
    rows = [("format", "suffix", "read", "write", "notes")]
    for each in FORMATS:
        rows.append((each.name, " ".join(each.suffixes), each.reads or "-", "yes" if each.writes else "-", each.note))
    click.echo("\n".join(format_table(rows, n_text=4)))
