"""`marey limits`: learn joint limits from clips, or read those of an ASF file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from marey.cli.derived_options import SettingsCommand, add_settings, read_settings
from marey.cli.files import check_output
from marey.cli.shared_options import add_reading_options, read_motion, take_reading_options
from marey.cli.tables import format_table
from marey.errors import plural

if TYPE_CHECKING:
    from marey.core import JointLimits


@click.command("limits", cls=SettingsCommand)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("-o", "--output", required=True, metavar="JSON", help="The file of joint limits to write.")
@add_settings("marey.core.joint_limits:JointLimitSettings")
@add_reading_options
@click.option("--json", "as_json", is_flag=True, help="Print the limits as JSON.")
def command(files: tuple[str, ...], output: str, as_json: bool, **options: Any) -> None:
    """Learn from the motions in FILEs how far joints bend and twist, or read the limits of an ASF file.

    `marey measure`, `clean` and `blend` take the result as --joint-limits. Use clips that show the body's full range of
    movement: limits learned from walks alone would reject every kick.

    \b
    Example:
      marey limits clips/*.bvh -o limits.json
      marey measure blend.bvh --joint-limits limits.json
      marey blend walk.bvh run.bvh -o sprint.bvh --weights -1 2 --joint-limits limits.json
    """
    from marey.core.joint_limits import JointLimitSettings, learn_joint_limits
    from marey.io import load_joint_limits, save_joint_limits

    check_output(output, form="marey.joint_limits", suffixes=(".json",))
    settings = read_settings(JointLimitSettings, options)
    how = take_reading_options(options)
    stated = [path for path in files if path.lower().endswith(".asf")]
    if stated and len(files) > 1:
        raise click.UsageError("an ASF file contains its own joint limits; give it alone, or give only motion files")
    if stated:
        limits, origin = load_joint_limits(stated[0]), stated[0]
    else:
        motions = [read_motion(path, how) for path in files]
        limits, origin = learn_joint_limits(motions, settings=settings), plural(sum(map(len, motions)), "frame")
    save_joint_limits(limits, output)
    click.echo(
        json.dumps(_report(limits, output), indent=1, ensure_ascii=False) if as_json else _format_limits(limits, origin)
    )
    if not as_json:
        click.echo(f"wrote {output}")


def _report(limits: JointLimits, output: str) -> dict[str, Any]:
    ranges = zip(limits.names, limits.low.tolist(), limits.high.tolist(), strict=True)
    return {"written": output, "joints": {name: {"low_rad": low, "high_rad": high} for name, low, high in ranges}}


def _format_limits(limits: JointLimits, origin: str) -> str:
    """Format the ranges as a table."""
    import numpy as np

    rows = [["joint", "widest, deg", "second, deg", "third, deg"]]
    for name, low, high in zip(limits.names, np.degrees(limits.low) + 0.0, np.degrees(limits.high) + 0.0, strict=True):
        order = np.argsort(low - high, kind="stable")
        rows.append([name, *(f"{low[k]:.0f} to {high[k]:.0f}" for k in order)])
    return "\n".join([f"limits of {plural(len(limits), 'joint')} from {origin}", *format_table(rows)])
