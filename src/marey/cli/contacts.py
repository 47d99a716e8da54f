"""`marey contacts`: detect when heels, balls of the feet and hands touch the floor or a step."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from marey.cli.derived_options import SettingsCommand, add_settings, read_settings
from marey.cli.files import check_output, print_json, warn_of_rate
from marey.cli.shared_options import add_reading_options, read_motion, take_reading_options
from marey.cli.values import Plane
from marey.errors import InvalidValue, UnwritableFile, plural

if TYPE_CHECKING:
    from marey.clean import ContactSettings
    from marey.core.motion import Motion
    from marey.io import LoadSettings

_WIDTH = 110


@click.command("contacts", cls=SettingsCommand)
@click.argument("file")
@add_settings("marey.clean.settings:ContactSettings")
@click.option(
    "--plane", "planes", type=Plane(), multiple=True, metavar="H|H,A,B",
    help="A surface other than the floor: its height in meters, or the plane y = H + A x + B z. May be repeated. If "
    "given, no other surfaces are detected.",
)  # fmt: skip
@click.option("--floor-only", is_flag=True, help="Do not detect steps and platforms.")
@click.option("--show", is_flag=True, help="Show the contacts stored with the file, including manual edits.")
@click.option("--write", is_flag=True, help="Write the contacts to the file's sidecar NAME.marey.json.")
@click.option("--replace", is_flag=True, help="With --write: replace the contacts that are in the sidecar.")
@click.option("-o", "--output", help="Write a copy of the motion and its sidecar to this file.")
@click.option(
    "--edit-friendly", is_flag=True,
    help="Format the sidecar with one line per point, for editing by hand. Without --write or -o, print it.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@add_reading_options
def command(file: str, show: bool, edit_friendly: bool, as_json: bool, **options: Any) -> None:
    """Detect when heels and balls of the feet touch the floor, a step or a platform in FILE.

    Height and speed thresholds are for an adult and are scaled to the size of the body. Contact points defined in the
    sidecar are used as defined there. You can edit its intervals (frames from 0, end exclusive); every other command
    uses them.

    \b
    Example:
      marey contacts walk.bvh
      marey contacts walk.bvh --write --edit-friendly
      marey contacts stairs.bvh --file-fps 60 --plane 0.18 --plane 0.36 -o stairs.glb
    """
    how = take_reading_options(options)
    write, output = options["write"], options["output"]
    if edit_friendly and as_json and not (write or output):
        raise click.UsageError(
            "--edit-friendly and --json both print to the terminal; give one of them, or write files with --write"
        )
    settings = _read_detection(show, options)
    if write and how.fps is not None:
        raise click.UsageError("--fps changes the frames, so --write would not match FILE; write a copy with -o OUT")
    motion = read_motion(file, how)
    if write and not options["replace"] and motion.contacts is not None:
        from marey.errors import UnwritableFile

        raise UnwritableFile(
            "already has contacts, perhaps edited by hand; use --replace to detect them again or --show to print them",
            path=file,
        )
    warn_of_rate(file, motion)
    if show:
        report, annotated = _report(file, motion, None), motion
    else:
        report, annotated = _detect(file, motion, settings)
    if output is None:
        annotated = _convert_to_file_frames(annotated, file, how)
    written = _write(annotated, file, write, output, edit_friendly)
    if as_json:
        print_json({**report, "written": written})
    elif edit_friendly and not written:
        click.echo(_format_json(_make_sidecar(annotated, file)))
    else:
        click.echo(_format_report(report))
        for path in written:
            click.echo(f"wrote {path}")


def _convert_to_file_frames(motion: Motion, file: str, how: LoadSettings) -> Motion:
    """Convert the annotations to frames of the motion's file, which may start with a rest pose that was skipped."""
    from dataclasses import replace

    from marey.io import load_motion
    from marey.io.rest import REST_NOTE, annotations_in_file

    if REST_NOTE not in motion.source.evidence or how.fps is not None:
        return motion
    untrimmed = load_motion(file, settings=how, trim_rest=False)
    contacts, labels = annotations_in_file(motion, untrimmed)
    return replace(
        untrimmed, contacts=contacts, labels=labels, source=replace(untrimmed.source, floor=motion.source.floor)
    )


def _read_detection(show: bool, options: dict[str, Any]) -> ContactSettings:
    """Return the settings of the detection. Reject contradictory options before anything is read."""
    from marey.clean import ContactSettings

    if options["planes"] and options["floor_only"]:
        raise click.UsageError("--plane and --floor-only exclude each other; give only one")
    planes = () if options["floor_only"] else options["planes"] or None
    settings = read_settings(ContactSettings, options, planes=planes)
    if show and (settings != ContactSettings() or options["write"] or options["replace"]):
        raise click.UsageError("--show cannot be combined with options for detection or --write")
    if options["replace"] and not options["write"]:
        raise click.UsageError("--replace requires --write")
    if options["write"] and options["output"]:
        raise click.UsageError("--write annotates FILE itself, -o writes a copy; give only one")
    return settings


def _detect(file: str, motion: Motion, settings: ContactSettings) -> tuple[dict[str, Any], Motion]:
    """Detect contacts. Return the report and the annotated motion."""
    from dataclasses import replace

    from marey.clean import find_contacts

    found = find_contacts(motion, settings=settings)
    if not found.contacts.mask.any():
        raise InvalidValue(
            f"{file}: nothing touches the floor at {found.floor:.3f} m in {plural(len(motion), 'frame')}; correct "
            "--floor, or omit it to detect the floor"
        )
    report = _report(file, replace(motion, contacts=found.contacts), found.raised)
    report["floor_m"] = found.floor
    source = replace(motion.source, floor=found.floor)
    return report, replace(motion, contacts=found.contacts, source=source)


def _report(file: str, motion: Motion, raised: tuple[float, ...] | None) -> dict[str, Any]:
    contacts = motion.contacts
    if contacts is None:
        raise InvalidValue(f"{file}: has no contacts; run without --show to detect them")
    points = {
        point.name: {
            "joint": motion.skeleton.names[point.joint],
            "offset_m": point.offset.tolist(),
            "fraction": float(contacts.mask[:, k].mean()),
            "intervals": [list(span) for span in contacts.intervals(point.name)],
        }
        for k, point in enumerate(contacts.points)
    }
    report: dict[str, Any] = {"file": file, "frames": len(motion), "fps": motion.fps, "floor_m": motion.source.floor}
    if raised is not None:
        report["raised_m"] = list(raised)
    return {**report, "points": points}


def _write(motion: Motion, file: str, write: bool, output: str | None, edit_friendly: bool) -> list[str]:
    """Write the requested files and return their paths."""
    from marey.io import clip_names, save
    from marey.io.sidecar import sidecar_path, write_sidecar

    if output is not None:
        check_output(output, remedy="choose another name, or use --write to annotate it")
        save(motion, output)
    elif write:
        if len(clip_names(file)) > 1:
            raise UnwritableFile(
                "contains several clips, but a sidecar describes only one; extract the clip into its own file with "
                "marey convert --clip",
                path=file,
            )
        write_sidecar(motion, file)
    else:
        return []
    side = sidecar_path(output or file)
    if edit_friendly:
        from marey.io.files import write_bytes

        write_bytes(side, [_format_json(json.loads(side.read_bytes())).encode(), b"\n"])
    return [str(side)] if output is None else [output, str(side)]


def _make_sidecar(motion: Motion, file: str) -> dict[str, Any]:
    from marey.io.files import file_digest
    from marey.io.sidecar import FORMAT, VERSION, list_annotations

    return {
        "format": FORMAT,
        "version": VERSION,
        "files": [Path(file).name],
        "sha256": {Path(file).name: file_digest(file)},
        "frames": len(motion),
        **list_annotations(motion),
    }


def _format_json(value: Any, depth: int = 0) -> str:
    """Format JSON for hand editing: each entry on one line if it fits, else each of its parts; wrap long lists."""
    plain = json.dumps(value, ensure_ascii=False)
    inner, too_long = " " * (depth + 1), len(plain) + depth > _WIDTH
    if isinstance(value, dict) and value and ((depth < 3 and any(map(_is_nested, value.values()))) or too_long):
        rows = [
            f"{inner}{json.dumps(key, ensure_ascii=False)}: {_format_json(v, depth + 1)}" for key, v in value.items()
        ]
        return "{\n" + ",\n".join(rows) + "\n" + " " * depth + "}"
    if isinstance(value, list) and too_long:
        lines = [inner]
        for n, item in enumerate(value, start=1):
            text = json.dumps(item, ensure_ascii=False) + ("," if n < len(value) else "")
            if len(lines[-1]) + len(text) >= _WIDTH and lines[-1].strip():
                lines.append(inner)
            lines[-1] += ("" if lines[-1] == inner else " ") + text
        return "[\n" + "\n".join(lines) + "\n" + " " * depth + "]"
    return plain


def _is_nested(value: Any) -> bool:
    return isinstance(value, dict | list)


def _format_report(report: dict[str, Any]) -> str:
    """Format a report as text."""
    fps = report["fps"]
    lines = [f"{report['file']}: {plural(report['frames'], 'frame')} at {fps:.6g} Hz"]
    if report["floor_m"] is not None:
        lines[0] += f", floor at {report['floor_m']:.3f} m"
    if report.get("raised_m"):
        lines.append(
            f"  other surfaces at {', '.join(f'{height:.2f}' for height in report['raised_m'])} m above the floor"
        )
    width = max((len(name) for name in report["points"]), default=0)
    for name, point in report["points"].items():
        spans = point["intervals"]
        count = f"{plural(len(spans), 'contact')}, {100 * point['fraction']:.0f} % of the frames"
        lines.append(f"  {name:<{width}}  {count}, on {point['joint']!r}")
        for start, stop in spans:
            length = (stop - start) / fps
            lines.append(f"  {'':<{width}}  {start:>6} to {stop:<6} {start / fps:8.3f} s  for {length:.3f} s")
    return "\n".join(lines)
