"""`marey contacts`: when heels, balls and hands touch the floor or a step."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from marey.cli.files import check_output, counted, warn_of_rate
from marey.cli.options import reading, reading_options
from marey.cli.params import Plane

if TYPE_CHECKING:
    from marey.core.motion import Motion

_WIDTH = 110
_THRESHOLDS = ("enter_speed", "keep_speed", "enter_height", "keep_height", "gap", "duration")


@click.command("contacts")
@click.argument("file")
@reading
@click.option("--trim-rest", is_flag=True, help="Drop frame 0 where it is a rest pose put before the motion.")
@click.option("--hands", is_flag=True, help="Watch wrists and fingertips too.")
@click.option("--floor", type=float, help="Height of the floor in metres.  [default: the sidecar's, else found]")
@click.option(
    "--plane", "planes", type=Plane(), multiple=True, metavar="H|H,A,B",
    help="A support besides the floor: its height in metres, or y = H + A x + B z. May be repeated; then no "
    "others are looked for.",
)  # fmt: skip
@click.option("--floor-only", is_flag=True, help="Look for no steps and platforms.")
@click.option("--enter-speed", type=float, help="m/s, slower than which a contact begins.  [default: 0.35]")
@click.option("--keep-speed", type=float, help="m/s, slower than which it lasts.  [default: 0.6]")
@click.option("--enter-height", type=float, help="Metres above rest, lower than which it begins.  [default: 0.025]")
@click.option("--keep-height", type=float, help="Metres above rest, lower than which it lasts.  [default: 0.035]")
@click.option("--gap", type=float, help="Seconds; shorter interruptions are closed.  [default: 0.05]")
@click.option("--duration", type=float, help="Seconds; shorter contacts are dropped.  [default: 0.075]")
@click.option("--show", is_flag=True, help="Show the contacts that the file has, as edited by hand; detect nothing.")
@click.option("--write", is_flag=True, help="Write them to the file's sidecar NAME.marey.json.")
@click.option("--replace", is_flag=True, help="With --write: replace contacts that the sidecar has.")
@click.option("-o", "--output", help="Write a copy of the motion here, with its sidecar.")
@click.option(
    "--edit-friendly", is_flag=True,
    help="The sidecar with one line for each point, to be edited by hand; printed where it is not written.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def command(file: str, show: bool, edit_friendly: bool, as_json: bool, **options: Any) -> None:
    """Find when heels and balls of the feet touch the floor, a step or a platform in FILE.

    Heights and speeds are for a grown person and are scaled to the figure. Points that the sidecar defines are used as
    it defines them; edit its intervals (frames from 0, the end not included) and every other command uses them.

    \b
    Example:
      marey contacts walk.bvh
      marey contacts walk.bvh --write --edit-friendly
      marey contacts stairs.bvh --fps 60 --plane 0.18 --plane 0.36 -o stairs.glb
    """
    from marey.io import load_motion

    how = reading_options(options)
    write, output = options["write"], options["output"]
    if edit_friendly and as_json and not (write or output):
        raise click.UsageError("--edit-friendly and --json are two ways to print; choose one, or --write the sidecar")
    _check_use(show, options)
    motion = load_motion(file, trim_rest=options["trim_rest"], **how)
    if write and not options["replace"] and motion.contacts is not None:
        from marey.errors import UnwritableFile

        raise UnwritableFile(
            "has contacts already, perhaps edited by hand; --replace finds them anew, --show shows them", path=file
        )
    warn_of_rate(file, motion)
    if show:
        report, annotated = _report(file, motion, None), motion
    else:
        report, annotated = _detected(file, motion, options)
    written = _write(annotated, file, write, output, edit_friendly)
    if as_json:
        click.echo(json.dumps({**report, "written": written}, indent=1, ensure_ascii=False))
    elif edit_friendly and not written:
        click.echo(_friendly(_sidecar(annotated, file)))
    else:
        click.echo(_text(report))
        for path in written:
            click.echo(f"wrote {path}")


def _check_use(show: bool, options: dict[str, Any]) -> None:
    """Refuse options that contradict one another, before anything is read."""
    detecting = any(options[name] for name in ("planes", "floor_only", "hands"))
    detecting = detecting or any(options[name] is not None for name in ("floor", *_THRESHOLDS))
    if show and (detecting or options["write"] or options["replace"]):
        raise click.UsageError("--show detects and writes nothing, so it goes with no option for that")
    if options["planes"] and options["floor_only"]:
        raise click.UsageError("--plane and --floor-only contradict each other; give one of them")
    if options["replace"] and not options["write"]:
        raise click.UsageError("--replace goes with --write")
    if options["write"] and options["output"]:
        raise click.UsageError("--write annotates FILE itself, -o writes a copy; give one of them")
    if options["write"] and options["trim_rest"]:
        raise click.UsageError(
            "--trim-rest changes which frame is which, so the result needs a file of its own: -o OUT"
        )


def _detected(file: str, motion: Motion, options: dict[str, Any]) -> tuple[dict[str, Any], Motion]:
    """The report, and the motion with what was found."""
    from dataclasses import replace

    from marey.clean import Thresholds, find_contacts
    from marey.errors import InvalidValue

    thresholds = Thresholds(**{name: options[name] for name in _THRESHOLDS if options[name] is not None})
    planes = () if options["floor_only"] else options["planes"] or None
    found = find_contacts(motion, hands=options["hands"], floor=options["floor"], planes=planes, thresholds=thresholds)
    if not found.contacts.mask.any():
        raise InvalidValue(
            f"{file}: nothing touches the floor at {found.floor:.3f} m in {counted(len(motion), 'frame')}; check "
            "--floor, or let it be found"
        )
    report = _report(file, replace(motion, contacts=found.contacts), found.raised)
    report["floor_m"] = found.floor
    source = replace(motion.source, floor=found.floor)
    return report, replace(motion, contacts=found.contacts, source=source)


def _report(file: str, motion: Motion, raised: tuple[float, ...] | None) -> dict[str, Any]:
    from marey.errors import InvalidValue

    contacts = motion.contacts
    if contacts is None:
        raise InvalidValue(f"{file}: has no contacts; without --show they are detected")
    points = {
        point.name: {
            "joint": motion.skeleton.names[point.joint],
            "offset_m": point.offset.tolist(),
            "share": float(contacts.mask[:, k].mean()),
            "intervals": [list(span) for span in contacts.intervals(point.name)],
        }
        for k, point in enumerate(contacts.points)
    }
    report: dict[str, Any] = {"file": file, "frames": len(motion), "fps": motion.fps, "floor_m": motion.source.floor}
    if raised is not None:
        report["raised_m"] = list(raised)
    return {**report, "points": points}


def _write(motion: Motion, file: str, write: bool, output: str | None, edit_friendly: bool) -> list[str]:
    """Write what was asked for; the paths of what was written."""
    from marey.errors import UnwritableFile
    from marey.io import clip_names, save
    from marey.io.sidecar import sidecar_path, write_sidecar

    if output is not None:
        check_output(output, [file], "write to another name, or annotate it with --write")
        save(motion, output)
    elif write:
        if len(clip_names(file)) > 1:
            raise UnwritableFile(
                "holds several clips, and a sidecar speaks of one; put the clip into a file of its own with "
                "marey convert --clip",
                path=file,
            )
        write_sidecar(motion, file)
    else:
        return []
    side = sidecar_path(output or file)
    if edit_friendly:
        from marey.io.files import write_bytes

        write_bytes(side, [_friendly(json.loads(side.read_bytes())).encode(), b"\n"])
    return [str(side)] if output is None else [output, str(side)]


def _sidecar(motion: Motion, file: str) -> dict[str, Any]:
    from marey.io.sidecar import FORMAT, VERSION, annotations_of

    return {
        "format": FORMAT,
        "version": VERSION,
        "files": [Path(file).name],
        "frames": len(motion),
        **annotations_of(motion),
    }


def _friendly(value: Any, depth: int = 0) -> str:
    """JSON with one line for each entry that fits on one, down to each point's, and long lists filled line by line."""
    plain = json.dumps(value, ensure_ascii=False)
    inner, too_long = " " * (depth + 1), len(plain) + depth > _WIDTH
    if isinstance(value, dict) and value and ((depth < 3 and any(map(_is_nested, value.values()))) or too_long):
        rows = [f"{inner}{json.dumps(key, ensure_ascii=False)}: {_friendly(v, depth + 1)}" for key, v in value.items()]
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


def _text(report: dict[str, Any]) -> str:
    """A report for people."""
    fps = report["fps"]
    lines = [f"{report['file']}: {counted(report['frames'], 'frame')} at {fps:.6g} Hz"]
    if report["floor_m"] is not None:
        lines[0] += f", floor at {report['floor_m']:.3f} m"
    if report.get("raised_m"):
        lines.append(f"  feet also stand {', '.join(f'{height:.2f}' for height in report['raised_m'])} m above it")
    width = max((len(name) for name in report["points"]), default=0)
    for name, point in report["points"].items():
        spans = point["intervals"]
        count = f"{counted(len(spans), 'contact')}, {100 * point['share']:.0f} % of the frames"
        lines.append(f"  {name:<{width}}  {count}, on {point['joint']!r}")
        for start, stop in spans:
            length = (stop - start) / fps
            lines.append(f"  {'':<{width}}  {start:>6} to {stop:<6} {start / fps:8.3f} s  for {length:.3f} s")
    return "\n".join(lines)
