"""`marey clean`: feet and hands held where they stand, with figures before and after."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from marey.cli.contacts import _Plane
from marey.cli.options import reading, reading_options

if TYPE_CHECKING:
    from marey.clean.cleanup import Cleaned
    from marey.core.motion import Motion

# What a cleanup is for, of all that `marey measure` measures.
_SHOWN = ("slide_contact", "slide_weighted_speed", "skate_ratio", "penetration_max", "jitter", "limb_change_max")
# Metres; a planted point further than this from its place was not held.
_HELD = 1e-6


class _Where(click.ParamType):  # type: ignore[type-arg]
    name = "where"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        if not isinstance(value, str):
            return value
        name, _, rest = value.partition("=")
        span, _, place = rest.partition("@")
        ends, numbers = span.split(":"), place.split(",")
        try:
            if not name or len(ends) != 2 or len(numbers) not in (3, 7):
                raise ValueError
            return name, ends[0], ends[1], [float(number) for number in numbers]
        except ValueError:
            self.fail(f"expected NAME=FROM:TO@X,Y,Z such as right_hand=1.2:1.5@0.4,1.1,0.3, got {value!r}")


@click.command("clean")
@click.argument("file", metavar="IN")
@click.argument("output", metavar="OUT")
@reading
@click.option("--trim-rest", is_flag=True, help="Drop frame 0 where it is a rest pose put before the motion.")
@click.option("--hands", is_flag=True, help="Where contacts are detected, those of hands too.")
@click.option("--floor", type=float, help="Height of the floor in metres.  [default: the sidecar's, else found]")
@click.option(
    "--plane", "planes", type=_Plane(), multiple=True, metavar="H|H,A,B",
    help="A support besides the floor: its height in metres, or y = H + A x + B z. May be repeated.",
)  # fmt: skip
@click.option("--floor-only", is_flag=True, help="Everything stands on the floor.")
@click.option(
    "--plant", "plants", type=_Where(), multiple=True, metavar="POINT=FROM:TO@X,Y,Z",
    help="A contact point stands there, in metres; times in seconds, or in frames as 36f. May be repeated.",
)  # fmt: skip
@click.option(
    "--target", "targets", type=_Where(), multiple=True, metavar="LIMB=FROM:TO@X,Y,Z[,W,X,Y,Z]",
    help="left_foot, right_foot, left_hand or right_hand is there, with an orientation as a quaternion if given.",
)  # fmt: skip
@click.option("--max-stretch", type=float, help="How far limbs may be scaled, as a share; 0 for none.  [default: 0.2]")
@click.option("--damping-from", type=float, metavar="DEGREES", help="Straighter knees turn less.  [default: 135]")
@click.option("--flat", is_flag=True, help="Planted feet do not roll to the side.")
@click.option("--c0", is_flag=True, help="Only positions are continuous where contacts begin and end.")
@click.option("--rigid", is_flag=True, help="Leave changes of bone length out of OUT.")
@click.option("--plot", "picture", metavar="PNG|SVG", help="Draw heights and speeds of the feet, before and after.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def command(
    file: str,
    output: str,
    trim_rest: bool,
    plants: tuple[Any, ...],
    targets: tuple[Any, ...],
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
      marey clean reach.bvh button.bvh --target right_hand=1.2:1.5@0.4,1.1,0.3
    """
    from marey.clean.cleanup import cleaned
    from marey.errors import UnwritableFile
    from marey.io import load_motion, save

    if Path(file).exists() and Path(output).exists() and Path(file).samefile(output):
        raise UnwritableFile("is the input; write to another name", path=output)
    how = reading_options(options)
    if options["planes"] and options["floor_only"]:
        raise click.UsageError("--plane and --floor-only contradict each other; give one of them")
    if picture is not None:
        from marey.plot.style import check_suffix

        check_suffix(picture)
    motion = load_motion(file, trim_rest=trim_rest, **how)
    result = cleaned(motion, **_asked(motion, plants, targets, options))
    save(result.motion, output, rigid=rigid)
    before = _before(motion, result)
    if picture is not None:
        _draw(before, result.motion, picture)
    report = _report(file, output, before, result)
    click.echo(json.dumps(report, indent=1, ensure_ascii=False) if as_json else _text(report))
    return 1 if report["residue_max_m"] > _HELD else 0


def _asked(
    motion: Motion, plants: tuple[Any, ...], targets: tuple[Any, ...], options: dict[str, Any]
) -> dict[str, Any]:
    """The options as `cleaned` takes them."""
    import math

    from marey.clean.settings import CleanSettings, PlantAt, Target

    settings: dict[str, Any] = {"smooth": not options["c0"], "roll": "flat" if options["flat"] else "source"}
    if options["max_stretch"] is not None:
        settings["max_stretch"] = options["max_stretch"]
    if options["damping_from"] is not None:
        settings["damping_from"] = math.radians(options["damping_from"])
    spans = [(name, _frame(a, motion), _frame(b, motion), at) for name, a, b, at in (*plants, *targets)]
    given, wanted = spans[: len(plants)], spans[len(plants) :]
    if any(len(at) != 3 for *_, at in given):
        raise click.UsageError("--plant takes a position X,Y,Z alone")
    return {
        "hands": options["hands"],
        "floor": options["floor"],
        "planes": () if options["floor_only"] else options["planes"] or None,
        "plants": [PlantAt(name, a, b, at) for name, a, b, at in given],
        "targets": [Target(name, a, b, at[:3], at[3:] or None) for name, a, b, at in wanted],
        "settings": CleanSettings(**settings),
    }


def _frame(text: str, motion: Motion) -> int:
    """``"1.2"`` seconds or ``"36f"`` frames as a frame."""
    try:
        return int(text[:-1]) if text.endswith("f") else round(float(text) * motion.fps)
    except ValueError:
        raise click.UsageError(f"expected a time in seconds such as 1.2, or frames such as 36f, got {text!r}") from None


def _before(motion: Motion, result: Cleaned) -> Motion:
    """The motion with the contacts and the floor that were used, so that both are measured alike."""
    from dataclasses import replace

    source = replace(motion.source, floor=result.motion.source.floor)
    return replace(motion, contacts=result.motion.contacts, source=source)


def _report(file: str, output: str, before: Motion, result: Cleaned) -> dict[str, Any]:
    from marey.measure import measure

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
        "shift_max_m": own["shift_max"],
        "figures": figures,
    }


def _text(report: dict[str, Any]) -> str:
    """A report for people."""
    scaling = report["limb_scaling"]
    lines = [
        f"{report['file']}: {report['frames']} frames at {report['fps']:.6g} Hz, floor at {report['floor_m']:.3f} m, "
        f"{report['plants']} plants",
        f"  limbs scaled by {100 * scaling['mean']:.2f} % on average, {100 * scaling['p99']:.2f} % at the 99th "
        f"percentile, {100 * scaling['max']:.2f} % at most; the figure moved by {1000 * report['shift_max_m']:.0f} mm "
        "at most",
    ]
    if report["residue_max_m"] > _HELD:
        lines.append(f"  out of reach: up to {1000 * report['residue_max_m']:.1f} mm are left to a plant or target")
    rows = [["figure", "before", "after", "unit"]]
    for name, figure in report["figures"].items():
        rows.append([name, _number(figure["before"]), _number(figure["after"]), figure["unit"]])
    widths = [max(len(row[k]) for row in rows) for k in range(4)]
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
