"""`marey measure`: motion quality metrics, next to those of a source clip."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from marey.cli.files import counted, for_each
from marey.cli.metrics import shown_metric
from marey.cli.options import reading, reading_options

if TYPE_CHECKING:
    from marey.core import Motion


@click.command("measure")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--against", metavar="SRC", help="The clip that FILE was made from; its metrics are shown next to those of FILE."
)
@reading
@click.option("--trim-rest", is_flag=True, help="Remove frame 0 if it is a rest pose.")
@click.option("--full", is_flag=True, help="Show the key, definition and source of each metric.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON, a list with one object per file.")
def command(
    files: tuple[str, ...], against: str | None, trim_rest: bool, full: bool, as_json: bool, **options: Any
) -> int:
    """Measure motion quality: foot skate, penetration, jitter, limb stretch, angular velocity, path, speed, loop seam.

    The options for reading files apply to FILE and SRC. A metric that cannot be measured is shown as "-" with the
    reason.

    \b
    Example:
      marey measure walk.bvh
      marey measure clean.bvh --against walk.bvh --json
    """
    from marey.io import load_motion
    from marey.measure import measure

    how = reading_options(options)
    source = None if against is None else load_motion(against, trim_rest=trim_rest, **how)
    _warn_of_rest(against, source)

    def measure_file(path: str) -> dict[str, Any]:
        motion = load_motion(path, trim_rest=trim_rest, **how)
        _warn_of_rest(path, motion)
        report = {"file": path, **measure(motion, source).as_dict()}
        if report["against"] is not None:
            report["against"] = {"file": against, **report["against"]}
        if not as_json:
            click.echo(_text(report, full))
        return report

    reports, exit_code = for_each(files, measure_file)
    if as_json:
        click.echo(json.dumps(reports, indent=1, ensure_ascii=False))
    return exit_code


def _warn_of_rest(path: str | None, motion: Motion | None) -> None:
    from marey.io.rest import starts_with_rest_pose

    if motion is not None and starts_with_rest_pose(motion):
        click.echo(
            f"marey: warning: {path}: frame 0 is a rest pose, and the jump out of it affects the metrics; remove it"
            " with --trim-rest",
            err=True,
        )


def _text(report: dict[str, Any], full: bool) -> str:
    """Format a report as a table; with `full`, include the definition of each metric."""
    lines = [f"{report['file']}: {_about(report)}"]
    source = report["against"]
    if source is not None:
        lines.append(f"against {source['file']}: {_about(source)}")
    rows = [["metric", "value", *(["against"] if source else []), "unit", "note"]]
    for name, figure in report["figures"].items():
        values = [figure["value"], *([figure["against"]] if source else [])]
        note = figure["note"]
        if source and figure["against"] is None and figure["against_note"] != note:
            note = f"{note}; source: {figure['against_note']}" if note else f"source: {figure['against_note']}"
        shown = shown_metric(name, figure["unit"])
        rows.append([shown.title, *map(shown.format, values), shown.unit, note])
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    numbers = range(1, len(rows[0]) - 2)
    names = ["", *report["figures"]]
    for name, row in zip(names, rows, strict=True):
        cells = [
            cell.rjust(w) if k in numbers else cell.ljust(w)
            for k, (cell, w) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append(("  " + "  ".join(cells)).rstrip())
        if full and name:
            figure = report["figures"][name]
            lines.append(f"      {name}, {figure['unit']} = {figure['definition']}")
            lines.append(f"      source: {figure['source']}")
    return "\n".join(lines)


def _about(clip: dict[str, Any]) -> str:
    return f"{counted(clip['frames'], 'frame')} at {clip['fps']:.6g} Hz, {clip['seconds']:.2f} s"
