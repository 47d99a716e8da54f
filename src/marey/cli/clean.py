"""`marey clean`: remove foot skate, and report metrics before and after."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from marey.cli.derived_options import SettingsCommand, add_settings, read_settings, word_options
from marey.cli.files import ReplaceGuard, check_output, check_plot, print_report, warn_of_rate
from marey.cli.shared_options import (
    add_reading_options,
    joint_limits_option,
    note_rest_pose,
    output_argument,
    read_joint_limits,
    read_motion,
    take_reading_options,
)
from marey.cli.tables import format_table
from marey.cli.values import Plane, Stay, StayParam, to_frame
from marey.errors import plural

if TYPE_CHECKING:
    from marey.clean.result import CleanResult, PlantUsed
    from marey.clean.settings import CleanSettings, PlantAt, Target
    from marey.core.motion import Motion
    from marey.io import LoadSettings

# The metrics of `marey measure` that cleanup should improve or preserve.
_SHOWN = ("slide_contact", "slide_weighted_speed", "penetration_max", "jitter", "limb_change_max")
# Only in the JSON report: it also counts feet that swing low over the floor, which cleanup leaves as they are.
_HIDDEN = ("skate_ratio",)
# A planted point farther than this from its plant, in meters, counts as not held.
_HELD = 1e-6
# Depth in millimeters by which knees and hands of typical captures are below the floor, which is found from the feet.
_DEEP = 50.0
# A limb stretched by at least this fraction of the limit counts as being at the limit.
_AT_LIMIT = 0.999


@click.command("clean", cls=SettingsCommand)
@click.argument("file", metavar="IN")
@output_argument
@add_reading_options
@add_settings("marey.clean.settings:CleanSettings")
@click.option(
    "--plane", "planes", type=Plane(), multiple=True, metavar="H|H,A,B",
    help="A surface other than the floor: its height in meters, or the plane y = H + A x + B z. May be repeated.",
)  # fmt: skip
@click.option("--floor-only", is_flag=True, help="Assume that every contact is with the floor.")
@click.option(
    "--plant", "plants", type=StayParam(), multiple=True, metavar="POINT=FROM:TO@X,Y,Z",
    help="Plant a contact point at a position in meters; times in seconds (1.2) or frames (36f). May be repeated.",
)  # fmt: skip
@click.option(
    "--target", "targets", type=StayParam(oriented=True), multiple=True, metavar="LIMB=FROM:TO@X,Y,Z[,W,X,Y,Z]",
    help="Move left_foot, right_foot, left_hand or right_hand to a position in meters, optionally with an orientation "
    "(quaternion).",
)  # fmt: skip
@joint_limits_option
@click.option("--flat", "roll", flag_value="flat", hidden=True)
@click.option("--c0", "smooth", flag_value=False, default=None, hidden=True)
@click.option("--rigid", is_flag=True, help="Keep bone lengths constant, and report plants and targets out of reach.")
@click.option("--plot", "picture", metavar="PNG|SVG", help="Plot heights and speeds of the feet, before and after.")
@click.option("--json", "as_json", is_flag=True, help="Print the metrics as JSON.")
def command(
    file: str,
    output: str,
    plants: tuple[Stay, ...],
    targets: tuple[Stay, ...],
    rigid: bool,
    picture: str | None,
    as_json: bool,
    **options: Any,
) -> int:
    """Remove foot skate from IN and write the motion to OUT.

    If IN is a folder, all motions in it and its subfolders are cleaned and written to the folder OUT, in the same
    formats. The exit code is then also 1 if a file could not be read.

    Contacts come from the sidecar IN.marey.json if it has them (`marey contacts IN --write --edit-friendly` creates one
    for editing by hand); otherwise they are detected. The exit code is 1 if a foot or hand could not be held in place.

    \b
    Example:
      marey clean walk.bvh clean.bvh
      marey clean walk.bvh clean.glb --plot feet.png
      marey clean takes/ cleaned/
      marey clean reach.bvh button.bvh --target right_hand=1.2:1.5@-0.25,1.25,0.45
    """
    from dataclasses import replace

    from marey.clean.cleanup import clean_with_report
    from marey.io import save

    is_folder = os.path.isdir(file)
    if is_folder and (plants or targets or picture):
        raise click.UsageError("--plant, --target and --plot apply to a single file, and IN is a folder")
    if not is_folder:
        check_output(output)
    how = take_reading_options(options)
    if options["planes"] and options["floor_only"]:
        raise click.UsageError("--plane and --floor-only contradict each other; give one of them")
    check_plot(picture)
    if rigid:
        # The file will have constant bone lengths, so the solution must not rely on stretch.
        if options["max_stretch"]:
            raise click.UsageError("--rigid allows no stretch; omit --max-stretch or set it to 0")
        options["max_stretch"] = 0.0
    settings = _read_settings(options)
    if is_folder:
        return _clean_folder(file, output, how, settings, rigid, as_json)
    motion = read_motion(file, how)
    warn_of_rate(file, motion)
    settings = replace(
        settings,
        plants=tuple(_make_plant(one, motion) for one in plants),
        targets=tuple(_make_target(one, motion) for one in targets),
    )
    result = clean_with_report(motion, settings=settings)
    save(result.motion, output, rigid=rigid)
    before = _annotate_input(motion, result)
    if picture is not None:
        _draw(before, result.motion, picture)
    report = _report(file, output, before, result, settings)
    print_report(report, as_json, _format_report)
    return 1 if report["residue_max_m"] > _HELD else 0


def _read_settings(options: dict[str, Any]) -> CleanSettings:
    """Return the settings of the cleanup, without plants and targets."""
    from marey.clean.settings import CleanSettings

    return read_settings(
        CleanSettings,
        options,
        joint_limits=read_joint_limits(options["joint_limits"]),
        planes=() if options["floor_only"] else options["planes"] or None,
    )


def _clean_folder(
    folder: str, output: str, how: LoadSettings, settings: CleanSettings, rigid: bool, as_json: bool
) -> int:
    """Clean all motions of a folder; print one row for each file."""
    from marey.clean.cleanup import clean_with_report
    from marey.io import SaveSettings, convert_folder

    cleaned: dict[str, list[dict[str, Any]]] = {}
    guard = ReplaceGuard()

    def clean(motion: Motion) -> Motion:
        path = motion.source.path
        note_rest_pose(path, motion)
        warn_of_rate(path, motion, is_only=False)
        result = clean_with_report(motion, settings=settings)
        cleaned.setdefault(path, []).append(_report(path, "", _annotate_input(motion, result), result, settings))
        return guard.remember(result.motion)

    done = convert_folder(
        folder, output, None, reading=how, saving=SaveSettings(rigid=rigid), edit=clean, check_existing=guard.check
    )
    files: list[dict[str, Any]] = []
    for file in done.files:
        report: dict[str, Any] = {
            "file": file.file,
            "status": "cleaned" if file.output else file.status,
            "reason": file.reason,
        }
        if file.output:
            report |= cleaned[str(Path(folder, file.file))].pop(0) | {"file": file.file, "written": file.output}
        files.append(report)
    print_report({"folder": output, "files": files}, as_json, _folder_text)
    is_held = all(file.get("residue_max_m", 0.0) <= _HELD for file in files)
    return 1 if done.count("failed") or not is_held else 0


def _folder_text(report: dict[str, Any]) -> str:
    """Format the report of a folder as text."""
    from marey.measure.display import get_metric_format

    shown = get_metric_format("slide_contact", "m/s")
    rows = [["file", "frames", "plants", f"{shown.title}, {shown.unit}", "result"]]
    for file in report["files"]:
        if file["status"] != "cleaned":
            rows.append([file["file"], "", "", "", f"{file['status']}: {word_options(file['reason'])}"])
            continue
        metric = file["metrics"].get("slide_contact", {"before": None, "after": None})
        slide = f"{shown.format(metric['before'])} -> {shown.format(metric['after'])}"
        missed = f", out of reach by up to {1000 * file['residue_max_m']:.1f} mm" * (file["residue_max_m"] > _HELD)
        rows.append([file["file"], f"{file['frames']}", f"{file['plants']}", slide, f"{file['written']}{missed}"])
    statuses = [file["status"] for file in report["files"]]
    counts = ", ".join(f"{statuses.count(status)} {status}" for status in ("cleaned", "skipped", "failed"))
    n_broken = sum(bool(file.get("broken")) for file in report["files"])
    hint = [f"{plural(n_broken, 'recording')} with broken frames: run marey check first"] if n_broken else []
    return "\n".join([*format_table(rows), f"{report['folder']}: {counts}", *hint])


def _make_plant(stay: Stay, motion: Motion) -> PlantAt:
    import numpy as np

    from marey.clean.settings import PlantAt

    return PlantAt(stay.name, *_frames(stay, motion), np.array(stay.place))


def _make_target(stay: Stay, motion: Motion) -> Target:
    import numpy as np

    from marey.clean.settings import Target

    place, orientation = np.array(stay.place[:3]), np.array(stay.place[3:])
    return Target(stay.name, *_frames(stay, motion), place, orientation if len(orientation) else None)


def _frames(stay: Stay, motion: Motion) -> tuple[int, int]:
    """Convert the start and end of a plant or target to half-open frames."""
    return to_frame(stay.begin, motion.fps), to_frame(stay.end, motion.fps)


def _annotate_input(motion: Motion, result: CleanResult) -> Motion:
    """Return the input with the contacts and floor of the cleanup, to measure both motions in the same way."""
    from dataclasses import replace

    source = replace(motion.source, floor=result.motion.source.floor)
    return replace(motion, contacts=result.motion.contacts, source=source)


def _report(file: str, output: str, before: Motion, result: CleanResult, settings: CleanSettings) -> dict[str, Any]:
    from marey.measure import measure
    from marey.measure.glitches import find_glitches

    metrics = {}
    if len(before) > 1:  # a single frame cannot be measured
        measured = measure(result.motion, before)
        metrics = {
            name: {"before": measured[name].against, "after": measured[name].value, "unit": measured[name].unit}
            for name in (*_SHOWN, *_HIDDEN)
        }
    own = result.metrics
    return {
        "file": file,
        "written": output,
        "frames": len(before),
        "fps": before.fps,
        "floor_m": before.source.floor,
        "plants": len(result.plants),
        "body": settings.body,
        "released": [
            {"point": plant.point, "start": plant.start / before.fps, "stop": plant.stop / before.fps}
            for plant in result.released
        ],
        "below_floor": [
            {"part": one.part, "start": one.start, "stop": one.stop, "depth_m": one.depth} for one in result.below_floor
        ],
        "broken": [[one.start, one.stop] for one in find_glitches(before) if one.kind != "jump"],
        "stretched": [
            {"part": one.part, "start": one.start, "stop": one.stop, "scale": one.scale, "plant": _plant(one.plant)}
            for one in result.stretched
        ],
        "limb_scaling": {part: own[f"limb_scaling_{part}"] for part in ("mean", "p99", "max")},
        "residue_max_m": own["residue_max"],
        "residues_m": {name: float(each) for name, each in zip(result.limbs, result.residue.max(axis=0), strict=True)},
        "max_stretch": settings.max_stretch,
        "shift_max_m": own["shift_max"],
        "metrics": metrics,
    }


def _plant(plant: PlantUsed | None) -> dict[str, Any] | None:
    return None if plant is None else {"point": plant.point, "start": plant.start, "stop": plant.stop}


def _format_report(report: dict[str, Any]) -> str:
    """Format a report as text."""
    from marey.measure.display import get_metric_format

    scaling = report["limb_scaling"]
    lines = [
        f"{report['file']}: {plural(report['frames'], 'frame')} at {report['fps']:.6g} Hz, floor at "
        f"{report['floor_m']:.3f} m, {plural(report['plants'], 'plant')}",
        f"  limbs scaled by {100 * scaling['mean']:.2f} % of their length in the input on average, "
        f"{100 * scaling['p99']:.2f} % at the 99th percentile, {100 * scaling['max']:.2f} % at most; the body "
        f"moved by at most {1000 * report['shift_max_m']:.0f} mm",
    ]
    if report["residue_max_m"] > _HELD:
        misses = ", ".join(f"{name} by {1000 * m:.1f} mm" for name, m in report["residues_m"].items() if m > _HELD)
        lines.append(f"  out of reach of their plants or targets: {misses}")
    lines += [
        f"  {cut['point'].replace('_', ' ')}: the plant at {cut['start']:.2f} s is released at {cut['stop']:.2f} s, "
        "where the recording moves too far away from it (--max-pull) or flips"
        for cut in report["released"]
    ]
    lines += [
        f"  frames {start}-{stop - 1} of the recording are broken; repair them first (marey edit repair)"
        for start, stop in report["broken"]
    ]
    lines += [
        f"  the {low['part'].replace('_', ' ')} stays up to {1000 * low['depth_m']:.0f} mm below the floor in frames "
        f"{low['start']}-{low['stop'] - 1}: it is too deep in the recording to be lifted within --max-pull"
        for low in report["below_floor"]
    ]
    lines += [f"  {_describe_stretch(one)}" for one in report["stretched"]]
    depth = report["metrics"].get("penetration_max", {}).get("after") or 0.0
    feet = 1000 * max((low["depth_m"] for low in report["below_floor"]), default=0.0)
    if depth > max(_DEEP, feet + 1.0) and not report["body"]:
        lines.append(f"  other parts of the body are up to {depth:.0f} mm below the floor; --body lifts them above it")
    if scaling["max"] >= _AT_LIMIT * report["max_stretch"] > 0.0:
        lines.append(f"  a limb is stretched to the limit of {100 * report['max_stretch']:g} %; check the result")
    rows = [["metric", "before", "after", "unit"]] if report["metrics"] else []
    for name, metric in report["metrics"].items():
        if name in _HIDDEN:
            continue
        shown = get_metric_format(name, metric["unit"])
        rows.append([shown.title, shown.format(metric["before"]), shown.format(metric["after"]), shown.unit])
    lines += format_table(rows)
    if report["released"] and rows:
        lines.append(
            "  these slides are those of the plants that were held; `marey measure` uses the contacts of the file"
        )
    lines.append(f"wrote {report['written']}")
    return "\n".join(lines)


def _describe_stretch(one: dict[str, Any]) -> str:
    plant, change = one["plant"], 100 * (one["scale"] - 1.0)
    why = "it has to stay above the floor"
    if plant is not None:
        why = f"the {plant['point'].replace('_', ' ')} is planted in frames {plant['start']}-{plant['stop'] - 1}"
    verb = "stretched" if change > 0 else "shortened"
    return (
        f"the bones that lead to the {one['part'].replace('_', ' ')} are {verb} by {abs(change):.0f} % in frames "
        f"{one['start']}-{one['stop'] - 1}: {why}"
    )


def _draw(before: Motion, after: Motion, path: str) -> None:
    """Plot the feet of both motions, one above the other."""
    from marey.plot.cleanup import before_after

    before_after(before, after, path)
