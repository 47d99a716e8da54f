"""`marey clean`: feet and hands held where they stand, with figures before and after."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from marey.cli.files import check_folder, check_output, counted, warn_of_rate
from marey.cli.options import reading, reading_options
from marey.cli.params import Plane, Stay, StayParam

if TYPE_CHECKING:
    from marey.clean.cleanup import Cleaned
    from marey.core.motion import Motion

# What a cleanup is for, of all that `marey measure` measures.
_SHOWN = ("slide_contact", "slide_weighted_speed", "skate_ratio", "penetration_max", "jitter", "limb_change_max")
# Metres; a planted point further than this from its place was not held.
_HELD = 1e-6
# From this share of the limit on, a limb is as good as at it.
_AT_LIMIT = 0.999


@click.command("clean")
@click.argument("file", metavar="IN")
@click.argument("output", metavar="OUT")
@reading
@click.option("--trim-rest", is_flag=True, help="Drop frame 0 where it is a rest pose put before the motion.")
@click.option("--hands", is_flag=True, help="Where contacts are detected, those of hands too.")
@click.option("--floor", type=float, help="Height of the floor in metres.  [default: the sidecar's, else found]")
@click.option(
    "--plane", "planes", type=Plane(), multiple=True, metavar="H|H,A,B",
    help="A support besides the floor: its height in metres, or y = H + A x + B z. May be repeated.",
)  # fmt: skip
@click.option("--floor-only", is_flag=True, help="Everything stands on the floor.")
@click.option(
    "--plant", "plants", type=StayParam(), multiple=True, metavar="POINT=FROM:TO@X,Y,Z",
    help="A contact point stands there, in metres; times in seconds, or in frames as 36f. May be repeated.",
)  # fmt: skip
@click.option(
    "--target", "targets", type=StayParam(turned=True), multiple=True, metavar="LIMB=FROM:TO@X,Y,Z[,W,X,Y,Z]",
    help="left_foot, right_foot, left_hand or right_hand is there, with an orientation as a quaternion if given.",
)  # fmt: skip
@click.option("--max-stretch", type=float, help="How far limbs may be scaled, as a share; 0 for none.  [default: 0.2]")
@click.option("--damping-from", type=float, metavar="DEGREES", help="Straighter knees turn less.  [default: 135]")
@click.option("--flat", is_flag=True, help="Planted feet do not roll to the side.")
@click.option("--c0", is_flag=True, help="Only positions are continuous where contacts begin and end.")
@click.option("--rigid", is_flag=True, help="Let no bone change its length; what cannot be reached is reported.")
@click.option("--plot", "picture", metavar="PNG|SVG", help="Draw heights and speeds of the feet, before and after.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def command(
    file: str,
    output: str,
    trim_rest: bool,
    plants: tuple[Stay, ...],
    targets: tuple[Stay, ...],
    rigid: bool,
    picture: str | None,
    as_json: bool,
    **options: Any,
) -> int:
    """Hold the feet of IN where they stand, and write the motion to OUT.

    Contacts are those of the sidecar IN.marey.json, which `marey contacts IN --write --edit-friendly` makes for editing
    by hand; else they are detected. Exits with 1 where something could not be held where it should be.

    \b
    Example:
      marey clean walk.bvh clean.bvh
      marey clean walk.bvh clean.glb --plot feet.png
      marey clean reach.bvh button.bvh --target right_hand=1.2:1.5@-0.25,1.25,0.45
    """
    from marey.clean.cleanup import cleaned
    from marey.io import load_motion, save

    check_output(output, [file])
    how = reading_options(options)
    if options["planes"] and options["floor_only"]:
        raise click.UsageError("--plane and --floor-only contradict each other; give one of them")
    if picture is not None:
        from marey.plot.style import check_suffix

        check_suffix(picture)
        check_folder(picture)
    motion = load_motion(file, trim_rest=trim_rest, **how)
    warn_of_rate(file, motion)
    if rigid:
        # What is written has no stretch, so that none may be counted on.
        if options["max_stretch"]:
            raise click.UsageError("--rigid allows no stretch; leave out --max-stretch, or give 0")
        options["max_stretch"] = 0.0
    asked = _asked(motion, plants, targets, options)
    result = cleaned(motion, **asked)
    save(result.motion, output, rigid=rigid)
    before = _before(motion, result)
    if picture is not None:
        _draw(before, result.motion, picture)
    report = _report(file, output, before, result, asked["settings"].max_stretch)
    click.echo(json.dumps(report, indent=1, ensure_ascii=False) if as_json else _text(report))
    return 1 if report["residue_max_m"] > _HELD else 0


def _asked(
    motion: Motion, plants: tuple[Stay, ...], targets: tuple[Stay, ...], options: dict[str, Any]
) -> dict[str, Any]:
    """The options as `cleaned` takes them."""
    import math

    import numpy as np

    from marey.clean.settings import CleanSettings, PlantAt, Target

    settings: dict[str, Any] = {"smooth": not options["c0"], "roll": "flat" if options["flat"] else "source"}
    if options["max_stretch"] is not None:
        settings["max_stretch"] = options["max_stretch"]
    if options["damping_from"] is not None:
        if not 0.0 < options["damping_from"] <= 180.0:
            raise click.UsageError(f"--damping-from is an angle of up to 180 degrees, got {options['damping_from']:g}")
        settings["damping_from"] = math.radians(options["damping_from"])
    return {
        "hands": options["hands"],
        "floor": options["floor"],
        "planes": () if options["floor_only"] else options["planes"] or None,
        "plants": [PlantAt(one.name, *_frames(one, motion), np.array(one.place)) for one in plants],
        "targets": [
            Target(
                one.name,
                *_frames(one, motion),
                np.array(one.place[:3]),
                np.array(one.place[3:]) if one.place[3:] else None,
            )
            for one in targets
        ],
        "settings": CleanSettings(**settings),
    }


def _frames(stay: Stay, motion: Motion) -> tuple[int, int]:
    """From when to when in half-open frames."""
    start, stop = (x if isinstance(x, int) else round(x * motion.fps) for x in (stay.begin, stay.end))
    return start, stop


def _before(motion: Motion, result: Cleaned) -> Motion:
    """The motion with the contacts and the floor that were used, so that both are measured alike."""
    from dataclasses import replace

    source = replace(motion.source, floor=result.motion.source.floor)
    return replace(motion, contacts=result.motion.contacts, source=source)


def _report(file: str, output: str, before: Motion, result: Cleaned, stretch: float) -> dict[str, Any]:
    from marey.measure import measure

    figures = {}
    if len(before) > 1:  # one frame has nothing to measure
        measured = measure(result.motion, before)
        figures = {
            name: {"before": measured[name].against, "after": measured[name].value, "unit": measured[name].unit}
            for name in _SHOWN
        }
    own = result.figures
    return {
        "file": file,
        "written": output,
        "frames": len(before),
        "fps": before.fps,
        "floor_m": before.source.floor,
        "plants": len(result.plants),
        "limb_scaling": {part: own[f"limb_scaling_{part}"] for part in ("mean", "p99", "max")},
        "residue_max_m": own["residue_max"],
        "residues_m": {name: float(each) for name, each in zip(result.limbs, result.residue.max(axis=0), strict=True)},
        "max_stretch": stretch,
        "shift_max_m": own["shift_max"],
        "figures": figures,
    }


def _text(report: dict[str, Any]) -> str:
    """A report for people."""
    scaling = report["limb_scaling"]
    lines = [
        f"{report['file']}: {counted(report['frames'], 'frame')} at {report['fps']:.6g} Hz, floor at "
        f"{report['floor_m']:.3f} m, {counted(report['plants'], 'plant')}",
        f"  limbs scaled by {100 * scaling['mean']:.2f} % on average, {100 * scaling['p99']:.2f} % at the 99th "
        f"percentile, {100 * scaling['max']:.2f} % at most; the figure moved by {1000 * report['shift_max_m']:.0f} mm "
        "at most",
    ]
    if report["residue_max_m"] > _HELD:
        left = ", ".join(f"{1000 * m:.1f} mm at {name}" for name, m in report["residues_m"].items() if m > _HELD)
        lines.append(f"  out of reach: up to {left} are left to a plant or target")
    if scaling["max"] >= _AT_LIMIT * report["max_stretch"] > 0.0:
        lines.append(f"  a limb is stretched to the limit of {100 * report['max_stretch']:g} %: look at it there")
    rows = [["figure", "before", "after", "unit"]] if report["figures"] else []
    for name, figure in report["figures"].items():
        rows.append([name, _number(figure["before"]), _number(figure["after"]), figure["unit"]])
    widths = [max((len(row[k]) for row in rows), default=0) for k in range(4)]
    lines += [
        f"  {row[0]:<{widths[0]}}  {row[1]:>{widths[1]}}  {row[2]:>{widths[2]}}  {row[3]}".rstrip() for row in rows
    ]
    lines.append(f"wrote {report['written']}")
    return "\n".join(lines)


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return "0" if abs(value) < 1e-9 else f"{value:.4g}"


def _draw(before: Motion, after: Motion, path: str) -> None:
    """Both motions, one above the other, into one picture."""
    from marey.plot.cleanup import before_after

    before_after(before, after, path)
