"""`marey info`: show what is in a file and how it was interpreted."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click

from marey.cli.check import describe_finding, suggest_commands
from marey.cli.derived_options import SettingsCommand, word_options
from marey.cli.files import report_each
from marey.cli.shared_options import add_reading_options, take_reading_options
from marey.errors import collect_warnings, plural

if TYPE_CHECKING:
    from marey.io import LoadSettings


@click.command("info", cls=SettingsCommand)
@click.argument("files", nargs=-1, required=True)
@add_reading_options
@click.option("--full", is_flag=True, help="List every joint with its role and offset.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON, a list with one object per file.")
def command(files: tuple[str, ...], full: bool, as_json: bool, **options: Any) -> int:
    """Show what is in FILES: joints, roles, frames, frame rate, size, and the evidence for unit and axes.

    The exit code is 1 if a file has problems that were repaired while reading it, or severe findings (see marey check),
    and 2 if a file cannot be read.

    \b
    Example:
      marey info walk.bvh
      marey info --full --unit cm *.bvh
    """
    how = take_reading_options(options)
    reports, exit_code = report_each(
        files, lambda path: _report(path, how), as_json, lambda each: _format_report(each, full)
    )
    severe = any(finding["severity"] == "severe" for report in reports for finding in report["findings"])
    return max(exit_code, 1 if severe or any(report["warnings"] for report in reports) else 0)


def _report(path: str, how: LoadSettings) -> dict[str, Any]:
    """Describe a file's content and its problems."""
    from marey.check import check
    from marey.clean import estimate_floor_plane
    from marey.core.motion import Motion
    from marey.io import load
    from marey.io.describe import describe

    with collect_warnings() as texts:
        value = load(path, settings=_first_clip(path, how))
    report = describe(value, path)
    report["warnings"] = [text.removeprefix(f"{path}: ") for text in texts]
    report["findings"] = [{**finding.to_dict(), "command": suggest_commands(finding, path)} for finding in check(value)]
    plane = estimate_floor_plane(value) if isinstance(value, Motion) else None
    report["floor"] = None if plane is None else plane.to_dict()
    if len(report.get("clips", ())) > 1:
        chosen = how.clip or 0
        report["clip"] = report["clips"][chosen] if isinstance(chosen, int) else chosen
    return report


def _first_clip(path: str, how: LoadSettings) -> LoadSettings:
    """Choose the first of several animations explicitly, because `load` would otherwise warn about its choice."""
    from marey.io import LoadSettings, clip_names
    from marey.io.files import MULTI_CLIP_SUFFIXES

    if how.clip is not None or not path.lower().endswith(MULTI_CLIP_SUFFIXES) or len(clip_names(path)) < 2:
        return how
    return LoadSettings(settings=how, clip=0)


def _format_report(report: dict[str, Any], full: bool) -> str:
    """Format a report as text."""
    kind = "markers" if report["kind"] == "markers" else "joints"
    lines = [
        f"{report['file']}: {report['format']}, {plural(report['frames'], 'frame')} at {report['fps']:.6g} Hz, "
        f"{report['seconds']:.2f} s"
    ]

    def row(title: str, text: str) -> None:
        lines.append(f"  {title:<9} {text}")

    row("name", report["name"])
    if kind == "markers":
        row("markers", f"{len(report['markers'])}: {', '.join(report['markers'])}")
        row("visible", f"{100 * report['seen']:.1f} % of all marker positions")
    else:
        row("joints", f"{report['joints']}, including {report['end_sites']} End Sites; root {report['root']!r}")
        missing = report["roles_missing"]
        by = f", identified by {report['roles_by']}" if report["roles_found"] else ""
        row("roles", f"{report['roles_found']} of {report['roles_found'] + len(missing)}{by}")
        if missing:
            row("", f"missing: {', '.join(missing)}")
        if report["stature_m"] is not None:
            row("body", f"{report['stature_m']:.2f} m tall, estimated from the legs")
        if report["path_m"] is not None:
            row(
                "travel",
                f"path length {report['path_m']:.2f} m, start to end {report['net_m']:.2f} m, mean speed "
                f"{report['speed_mps']:.2f} m/s",
            )
        if report["moving_bones"]:
            row("bones", f"{report['moving_bones']} with an offset that changes over time")
    if len(report.get("clips", ())) > 1:
        row("clips", ", ".join(report["clips"]))
        row("note", f"showing clip {report['clip']!r}; choose another with --clip")
    for text in report["evidence"]:
        row("detected", word_options(text))
    if report["floor"] is not None and report["floor"]["is_tilted"]:
        row("floor", f"tilted by {math.degrees(report['floor']['tilt']):.1f} degrees")
    if report["floor"] is not None and report["floor"]["drift"]:
        row(
            "floor",
            f"{'rises' if report['floor']['drift'] > 0 else 'sinks'} by "
            f"{1e3 * abs(report['floor']['drift']):.0f} mm during the clip",
        )
    for key in ("contacts", "labels"):
        if report.get(key):
            row(key, ", ".join(report[key]))
    for text in report["warnings"]:
        row("warning", word_options(text))
    for finding in report["findings"]:
        row("finding", describe_finding(finding, report["frames"]))
    if full and kind == "joints":
        lines += _joint_lines(report["skeleton"])
    return "\n".join(lines)


def _joint_lines(skeleton: list[dict[str, Any]]) -> list[str]:
    width = max(2 * joint["depth"] + len(joint["name"]) for joint in skeleton) + 2
    lines = []
    for joint in skeleton:
        x, y, z = joint["offset_m"]
        name = "  " * joint["depth"] + joint["name"]
        lines.append(f"    {name:<{width}}{x:9.4f}{y:9.4f}{z:9.4f}  {', '.join(joint['roles'])}".rstrip())
    return lines
