"""`marey info`: what is in a file, and how it was understood."""

from __future__ import annotations

import json
import warnings
from typing import Any

import click

from marey.cli.options import reading, reading_options
from marey.errors import MareyError, MareyWarning


@click.command("info")
@click.argument("files", nargs=-1, required=True)
@reading
@click.option("--trim-rest", is_flag=True, help="Leave out frame 0 where it is a rest pose put before the motion.")
@click.option("--full", is_flag=True, help="List every joint with its role and offset.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON, a list with one object per file.")
def command(files: tuple[str, ...], trim_rest: bool, full: bool, as_json: bool, **options: Any) -> int:
    """Tell what is in FILES: joints, roles, frames, rate, size, and the evidence for unit and axes.

    Exits with 1 where a file has something wrong with it that reading could mend, with 2 where one cannot be read.

    \b
    Example:
      marey info walk.bvh
      marey info --full --unit cm *.bvh
    """
    from marey.core.motion import Motion
    from marey.io import load
    from marey.io.describe import describe
    from marey.measure.gait import rate_finding

    how = reading_options(options) | ({"trim_rest": True} if trim_rest else {})
    exit_code = 0
    reports: list[dict[str, Any]] = []
    for path in files:
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always", MareyWarning)
                value = load(path, **how)
        except MareyError as error:
            if len(files) == 1:
                raise
            click.echo(f"marey: {error}", err=True)
            exit_code = 2
            continue
        report = describe(value, path)
        told = [str(item.message).removeprefix(f"{path}: ") for item in caught]
        if isinstance(value, Motion) and (finding := rate_finding(value)) is not None:
            told.append(finding)
        report["warnings"] = told
        exit_code = max(exit_code, 1 if told else 0)
        reports.append(report)
        if not as_json:
            click.echo(_text(report, full))
    if as_json:
        click.echo(json.dumps(reports, indent=1, ensure_ascii=False))
    return exit_code


def _text(report: dict[str, Any], full: bool) -> str:
    """A report for people."""
    kind = "markers" if report["kind"] == "markers" else "joints"
    lines = [
        f"{report['file']}: {report['format']}, {report['frames']} frames at {report['fps']:.6g} Hz, "
        f"{report['seconds']:.2f} s"
    ]

    def row(title: str, text: str) -> None:
        lines.append(f"  {title:<9} {text}")

    if kind == "markers":
        row("markers", f"{len(report['markers'])}: {', '.join(report['markers'])}")
        row("seen", f"{100 * report['seen']:.1f} % of all marker positions")
    else:
        row("joints", f"{report['joints']}, of these {report['end_sites']} End Sites; root {report['root']!r}")
        missing = report["roles_missing"]
        row(
            "roles",
            f"{report['roles_found']} of {report['roles_found'] + len(missing)} by {report['roles_by']}",
        )
        if missing:
            row("", f"missing: {', '.join(missing)}")
        if report["stature_m"] is not None:
            row("figure", f"{report['stature_m']:.2f} m tall, from its legs")
        if report["path_m"] is not None:
            row(
                "travel",
                f"path {report['path_m']:.2f} m, net {report['net_m']:.2f} m, {report['speed_mps']:.2f} m/s",
            )
        if report["moving_bones"]:
            row("bones", f"{report['moving_bones']} change their offset over time")
    if len(report.get("clips", ())) > 1:
        row("clips", ", ".join(report["clips"]))
    for text in report["evidence"]:
        row("found", text)
    if report.get("starts_with_rest_pose"):
        row("note", "frame 0 is a rest pose put before the motion; trim_rest=True or --trim-rest leaves it out")
    for key in ("contacts", "labels"):
        if report.get(key):
            row(key, ", ".join(report[key]))
    for text in report["warnings"]:
        row("warning", text)
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
