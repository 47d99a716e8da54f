"""`marey info`: what is in a file, and how it was understood."""

from __future__ import annotations

import json
import warnings
from typing import Any

import click

from marey.cli.files import counted, for_each
from marey.cli.options import reading, reading_options
from marey.errors import MareyWarning


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
    how = reading_options(options) | ({"trim_rest": True} if trim_rest else {})

    def told(path: str) -> dict[str, Any]:
        report = _report(path, how)
        if not as_json:
            click.echo(_text(report, full))
        return report

    reports, exit_code = for_each(files, told)
    if as_json:
        click.echo(json.dumps(reports, indent=1, ensure_ascii=False))
    return max(exit_code, 1 if any(report["warnings"] for report in reports) else 0)


def _report(path: str, how: dict[str, Any]) -> dict[str, Any]:
    """What is in a file, and what is wrong with it."""
    from marey.core.motion import Motion
    from marey.io import load
    from marey.io.describe import describe
    from marey.measure.gait import rate_finding

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", MareyWarning)
        value = load(path, **_first_clip(path, how))
    report = describe(value, path)
    told = [str(item.message).removeprefix(f"{path}: ") for item in caught]
    if isinstance(value, Motion) and (finding := rate_finding(value)) is not None:
        told.append(finding)
    report["warnings"] = told
    if len(report.get("clips", ())) > 1:
        chosen = how.get("clip", 0)
        report["clip"] = report["clips"][chosen] if isinstance(chosen, int) else chosen
    return report


def _first_clip(path: str, how: dict[str, Any]) -> dict[str, Any]:
    """Of several animations the first, chosen and not guessed: that a file has several is nothing wrong with it."""
    from marey.io import clip_names

    if "clip" in how or not path.lower().endswith(".glb") or len(clip_names(path)) < 2:
        return how
    return how | {"clip": 0}


def _text(report: dict[str, Any], full: bool) -> str:
    """A report for people."""
    kind = "markers" if report["kind"] == "markers" else "joints"
    lines = [
        f"{report['file']}: {report['format']}, {counted(report['frames'], 'frame')} at {report['fps']:.6g} Hz, "
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
        row("note", f"this is of clip {report['clip']!r}; --clip chooses another")
    for text in report["evidence"]:
        row("found", text)
    if report.get("starts_with_rest_pose"):
        row("note", "frame 0 is a rest pose put before the motion; --trim-rest leaves it out")
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
