"""`marey measure`: measure motion quality, and compare it with a source clip."""

from __future__ import annotations

from typing import Any

import click

from marey.cli.derived_options import SettingsCommand, word_options
from marey.cli.files import report_each
from marey.cli.shared_options import (
    add_reading_options,
    joint_limits_option,
    read_joint_limits,
    read_motion,
    take_reading_options,
)
from marey.cli.tables import format_table
from marey.errors import plural


@click.command("measure", cls=SettingsCommand)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--against", metavar="SRC",
    help="The clip that FILE was made from. Shows its metrics next to those of FILE, and how visible the changes "
    "are.",
)  # fmt: skip
@joint_limits_option
@add_reading_options
@click.option("--full", is_flag=True, help="Show the key, definition and source of each metric.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON, a list with one object per file.")
def command(
    files: tuple[str, ...], against: str | None, joint_limits: str | None, full: bool, as_json: bool, **options: Any
) -> int:
    """Measure motion quality: foot skate, penetration, jitter, limb stretch, angular velocity, path, speed, loop seam.

    The options for reading files apply to FILE and SRC. A metric that cannot be measured is shown as "-" with the
    reason.

    \b
    Example:
      marey measure walk.bvh
      marey measure clean.bvh --against walk.bvh --json
      marey measure blend.bvh --joint-limits limits.json
    """
    from marey.measure import measure

    how = take_reading_options(options)
    source = None if against is None else read_motion(against, how)
    limits = read_joint_limits(joint_limits)

    def measure_file(path: str) -> dict[str, Any]:
        motion = read_motion(path, how)
        report = {"file": path, **measure(motion, source, joint_limits=limits).to_dict()}
        if report["against"] is not None:
            report["against"] = {"file": against, **report["against"]}
        return report

    is_only = against is None and len(files) == 1
    return report_each(files, measure_file, as_json, lambda report: _format_report(report, full, is_only))[1]


def _format_report(report: dict[str, Any], full: bool, is_only: bool) -> str:
    """Format a report as a table; with `full`, include the definition of each metric. is_only : see `word_options`."""
    from marey.measure.display import get_metric_format

    lines = [f"{report['file']}: {_describe_clip(report)}"]
    source = report["against"]
    if source is not None:
        lines.append(f"against {source['file']}: {_describe_clip(source)}")
    rows = [["metric", "value", *(["against"] if source else []), "unit", "note"]]
    for name, metric in report["metrics"].items():
        values = [metric["value"], *([metric["against"]] if source else [])]
        note = metric["note"]
        if source and metric["against"] is None and metric["against_note"] != note:
            note = f"{note}; source: {metric['against_note']}" if note else f"source: {metric['against_note']}"
        shown = get_metric_format(name, metric["unit"])
        rows.append([shown.title, *map(shown.format, values), shown.unit, word_options(note, is_only=is_only)])
    names = ["", *report["metrics"]]
    for name, line in zip(names, format_table(rows, n_text=2), strict=True):
        lines.append(line)
        if full and name:
            metric = report["metrics"][name]
            lines.append(f"      in JSON: {name}, unit {metric['unit']}")
            lines.append(f"      definition: {metric['definition']}")
            lines.append(f"      source: {metric['source']}")
    return "\n".join(lines)


def _describe_clip(clip: dict[str, Any]) -> str:
    return f"{plural(clip['frames'], 'frame')} at {clip['fps']:.6g} Hz, {clip['seconds']:.2f} s"
