"""`marey parametric`: make a space of motions from examples of one action, and ask it for new ones."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from marey.cli.files import check_folder, check_output, counted
from marey.cli.params import Moment, Numbers, Shares
from marey.cli.query import AS_JSON, NumbersToo, check_npz, check_picture, query_of, searched

if TYPE_CHECKING:
    from marey.core.arrays import Floats
    from marey.parametric import ParametricMotion, Reached

_NOTES = 8  # in the text; --json has all
_NUMBERS_TOO = {"ignore_unknown_options": True}  # so that a target may be negative


class _Start(click.ParamType):  # type: ignore[type-arg]
    """``2.0,0.5,90``: metres x and z, and degrees to the left of +Z."""

    name = "x,z,degrees"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[float, float, float]:
        """rigid2d (theta, x, z)."""
        if isinstance(value, tuple):
            return value
        try:
            x, z, turned = (float(part) for part in str(value).split(","))
        except ValueError:
            x = z = turned = math.nan
        if not all(map(math.isfinite, (x, z, turned))):
            self.fail(f"expected X,Z,DEGREES such as 2.0,0.5,90, got {value!r}", param, ctx)
        return math.radians(turned), x, z


@click.group("parametric")
def command() -> None:
    """A kick that hits where you want: motions between examples, asked for by what they should do.

    Angles are in degrees. Places are metres to the left of where the figure stands at the start, above the floor, and
    ahead.

    \b
    Example:
      marey parametric build web.npz take1 8.0 9.9 --threshold 0.08 --feature position:right_ball -o kick.npz
      marey parametric range kick.npz
      marey parametric make kick.npz 0.0 1.1 0.95 -o high.bvh
    """


@command.command("build", cls=NumbersToo)
@click.argument("sources", nargs=-1, required=True, metavar="WEB CLIP START STOP | FILE FILE...")
@click.option(
    "--feature", required=True, help="What it is asked by, such as position:right_hand@farthest or turn,speed."
)
@click.option("-o", "--output", required=True, metavar="SPACE", help="The space to write, an .npz file.")
@click.option("--threshold", type=float, metavar="METRES", help="How unlike a match in WEB may be.")
@click.option("--label", "labels", multiple=True, help="Only matches with this label; may be given several times.")
@click.option("--drop", type=Numbers(), multiple=True, help="Leave out these matches, by their numbers in the list.")
@click.option("--overlap", type=Shares(), default="0.8,0.2", show_default=True, help="As for marey find search.")
@click.option("--samples", type=int, default=1000, show_default=True, help="Blends that are tried out.")
@click.option("--delta", type=float, default=0.1, show_default=True, help="How far weights may leave 0 to 1.")
@click.option("--redundant", type=float, help="Leave out examples that others can be blended to, to within this.")
@click.option("--max-distance", type=float, default=0.3, show_default=True, help="Metres from which on motions differ.")
@click.option("--force", is_flag=True, help="Take motions that are further apart all the same.")
@click.option("--seed", type=int, default=0, show_default=True, help="The same seed gives the same space.")
@AS_JSON
def build(
    sources: tuple[str, ...],
    feature: str,
    output: str,
    threshold: float | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Build a space from what is like CLIP from START to STOP in a match web, or from motion files.

    \b
    Features: position:JOINT[:AXES][@MOMENT], orientation:JOINT[@MOMENT], speed[:JOINT[:mean|min|max]],
    angular_speed:JOINT, travelled, turn, curvature, step_height, duration; several with commas between them.
    JOINT is a role such as right_hand, a joint, or centre_of_mass; MOMENT is farthest, highest, lowest, fastest,
    slowest, start, end, or seconds into the query.

    \b
    Example:
      marey parametric build web.npz take1 8.0 9.9 --threshold 0.08 --feature position:right_ball -o kick.npz
      marey parametric build walk_*.bvh --feature turn,speed -o walk.npz
    """
    import warnings

    from marey.cli.progress import bar
    from marey.errors import MareyWarning
    from marey.parametric import ParametricMotion, parse_features

    check_npz(output, "a space")
    check_output(output, sources)
    features = parse_features(feature)
    examples = _files(sources) if threshold is None else _found(sources, threshold, options)
    with warnings.catch_warnings(), bar("building") as progress:
        warnings.filterwarnings("ignore", r"\d+ of \d+ examples (is|are) left out", MareyWarning)  # the notes tell why
        space = ParametricMotion.build(
            examples,
            features,
            samples=options["samples"],
            delta=options["delta"],
            redundant=options["redundant"],
            max_distance=options["max_distance"],
            force=options["force"],
            rng=options["seed"],
            progress=progress,
        )
    space.save(output)
    _tell_space(space, as_json, written=[output])


def _found(sources: tuple[str, ...], threshold: float, options: dict[str, Any]) -> Any:
    """What a search of a web finds."""
    from marey.find import MatchWeb

    if len(sources) not in (2, 4):
        raise click.UsageError("with --threshold give WEB CLIP START STOP, such as web.npz take1 8.0 9.9")
    times = [Moment().convert(text, None, None) for text in sources[2:]]
    web = MatchWeb.load(sources[0])
    return searched(web, query_of(web, sources[1], *(times or (None, None))), threshold, options)


def _files(sources: tuple[str, ...]) -> Any:
    """Motions from files."""
    from marey.cli.files import result_kind
    from marey.io import load_motion

    if Path(sources[0]).exists() and result_kind(sources[0]) == "web":
        raise click.UsageError(
            f"--threshold is missing: {sources[0]!r} is a match web, and how unlike what is found in it may be has to "
            "be said; `marey find search ... --suggest` tells which"
        )
    for source in sources:
        if not Path(source).exists():
            raise click.UsageError(
                f"{source!r} is not a file; give motion files, or WEB CLIP START STOP together with --threshold"
            )
    return [load_motion(source) for source in sources]


@command.command("make", context_settings=_NUMBERS_TOO)
@click.argument("file", metavar="SPACE")
@click.argument("target", nargs=-1, required=True, metavar="TARGET...")
@click.option("-o", "--output", required=True, metavar="OUT", help="The motion to write: BVH, GLB or NPZ.")
@click.option(
    "--refine", type=int, default=0, show_default=True, help="Steps that bring the motion nearer; 4 are many."
)
@click.option(
    "--start",
    type=_Start(),
    metavar="X,Z,DEGREES",
    help="Where it begins, and how far it faces from +Z to the left.  [default: 0,0,0]",
)
@click.option("--no-cleanup", is_flag=True, help="Leave feet as they are blended, without holding them in place.")
@click.option("--rigid", is_flag=True, help="Leave changes of bone length out of OUT.")
@click.option("--plot", "picture", metavar="PNG", help="Draw the motion with its target: PNG or SVG.")
@AS_JSON
def make(
    file: str, target: tuple[str, ...], output: str, refine: int, start: Sequence[float] | None, no_cleanup: bool,
    rigid: bool, picture: str | None, as_json: bool,
) -> int:  # fmt: skip
    """Make the motion that does TARGET: one number for each parameter, as `range` lists them.

    It begins on the origin and faces +Z, unless --start says otherwise. Exits with 1 where the target is out of reach;
    the nearest motion is written all the same.

    \b
    Example:
      marey parametric make kick.npz 0.0 1.1 0.95 -o high.bvh --refine 4 --plot high.png
      marey parametric make walk.npz -30 1.4 -o turn.bvh --start 2.0,0.5,90
    """
    import warnings

    from marey.errors import MareyWarning
    from marey.io import save
    from marey.parametric import ParametricMotion

    check_output(output, [file])
    check_folder(output)
    if picture is not None:
        check_picture(picture, [file, output])
    space = ParametricMotion.load(file)
    numbers = _target(space, target)
    options: dict[str, Any] = {"clean": not no_cleanup, "refine": refine, "name": Path(output).stem, "start": start}
    aim, projected = space.aim(numbers)
    reached = None
    if any(feature.kind == "given" for feature in space.features):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MareyWarning)  # told below
            motion = space(numbers, **options)
    else:
        motion, reached = space.made(numbers, **options)
        projected = reached.projected
    save(motion, output, rigid=rigid)
    written = [output]
    if picture is not None:
        from marey.plot.parametric import aimed

        aimed(space, [numbers], picture, made=[motion])
        written.append(picture)
    _tell_made(space, numbers, len(motion), reached, aim, projected, written, as_json)
    return int(projected)


@command.command("range")
@click.argument("file", metavar="SPACE")
@click.option("--plot", "picture", metavar="OUT", help="Draw examples and samples: PNG or SVG.")
@AS_JSON
def reach(file: str, picture: str | None, as_json: bool) -> None:
    """What a space can be asked for.

    \b
    Example:
      marey parametric range kick.npz --plot kick.png
    """
    from marey.parametric import ParametricMotion

    if picture is not None:
        check_picture(picture, [file])
    space = ParametricMotion.load(file)
    written = []
    if picture is not None:
        from marey.plot.parametric import reachable

        reachable(space, picture)
        written.append(picture)
    _tell_space(space, as_json, written=written)


def _target(space: ParametricMotion, given: tuple[str, ...]) -> list[float]:
    """One number for each parameter, degrees as radians."""
    numbers = [_number(text) for text in given]
    if len(numbers) != space.n_dims:
        told = (
            f"{name} in {_shown(unit)[0]}" if unit else name
            for name, unit in zip(space.names, space.units, strict=True)
        )
        raise click.UsageError(
            f"a target needs {counted(space.n_dims, 'number')}, {', '.join(told)}; got {len(numbers)}"
        )
    return [value / _shown(unit)[1] for value, unit in zip(numbers, space.units, strict=True)]


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise click.UsageError(f"a target is numbers, got {text!r}")
    return value


def _shown(unit: str) -> tuple[str, float]:
    """The unit in which people are told, and how many of it are one of ours."""
    return (unit.replace("rad", "degrees"), math.degrees(1.0)) if unit.startswith("rad") else (unit, 1.0)


def _tell_space(space: ParametricMotion, as_json: bool, written: list[str]) -> None:
    region = space.reachable()
    rows = []
    for k, (name, unit) in enumerate(zip(region.names, region.units, strict=True)):
        told, factor = _shown(unit)
        low, high = (factor * float(values[k]) for values in (region.low, region.high))
        rows.append({"name": name, "unit": told, "low": low, "high": high})
    if as_json:
        report = {
            "parameters": rows,
            "examples": [motion.name for motion in space.registration.motions],
            "example_parameters": (region.examples * [_shown(unit)[1] for unit in region.units]).tolist(),
            "samples": len(region.samples),
            "notes": list(space.notes),
            "written": written,
        }
        click.echo(json.dumps(report, indent=1, ensure_ascii=False))
        return
    click.echo(f"{counted(len(region.examples), 'example')}, {counted(len(region.samples), 'sample')}")
    width = max(len(str(row["name"])) for row in rows)
    for row in rows:
        click.echo(f"  {row['name']:<{width}}  {row['low']:8.3f} to {row['high']:8.3f} {row['unit']}".rstrip())
    notes = _grouped(space.notes)
    for note in notes[:_NOTES]:
        click.echo(f"  ! {note}")
    if len(notes) > _NOTES:
        click.echo(f"  ! and {counted(len(notes) - _NOTES, 'note')} more; --json has all")
    for path in written:
        click.echo(f"wrote {path}")


def _grouped(notes: Iterable[str]) -> list[str]:
    """Notes on what was left out first; of those that say the same of several motions, the first and how many."""
    groups: dict[str, list[str]] = {}
    for note in notes:
        # The motions' names and all numbers may differ.
        groups.setdefault(re.sub(r"'[^']*'|[-+]?\d+(\.\d+)?", "*", note), []).append(note)
    alike = sorted(groups.values(), key=lambda group: "left out" not in group[0])
    out = []
    for group in alike:
        if "left out" in group[0] or len(group) == 1:
            out += group
        else:
            out.append(f"{group[0]} (and {len(group) - 1} more like this)")
    return out


def _rounded(space: ParametricMotion, reached: Reached) -> list[str]:
    """A note where a duration is off only because a motion has whole frames."""
    fps, at = space.registration.fps, 0
    for feature in space.features:
        off = abs(float(reached.error[at]))
        if feature.kind == "duration" and 1e-6 < off < 1.0 / fps and not reached.projected:
            return [f"a motion has whole frames, here of {1.0 / fps:.3f} s, to which its duration is rounded"]
        at += feature.n_dims
    return []


def _tell_made(
    space: ParametricMotion,
    target: list[float],
    n_frames: int,
    reached: Reached | None,
    aim: Floats,
    projected: bool,
    written: list[str],
    as_json: bool,
) -> None:
    factors = [_shown(unit)[1] for unit in space.units]

    def told(values: Any) -> list[float]:
        return [factor * float(value) for factor, value in zip(factors, values, strict=True)]

    report: dict[str, Any] = {
        "written": written,
        "frames": n_frames,
        "parameters": list(space.names),
        "units": [_shown(unit)[0] for unit in space.units],
        "target": told(target),
        "aimed": told(aim),
        "projected": projected,
        "notes": [],
    }

    def by_unit(off: list[float]) -> dict[str, float]:
        return {
            unit: math.hypot(*(size for size, each in zip(off, report["units"], strict=True) if each == unit))
            for unit in dict.fromkeys(report["units"])
        }

    report["moved_by_unit"] = by_unit(told(aim - target))
    if reached is not None:
        error = told(reached.reached - reached.target)
        report |= {"reached": told(reached.reached), "error": error, "error_by_unit": by_unit(error)}
        report["notes"] = _rounded(space, reached)
    if as_json:
        click.echo(json.dumps(report, indent=1, ensure_ascii=False).replace("NaN", "null"))
        return
    click.echo(f"wrote {written[0]}: {counted(n_frames, 'frame')}, {n_frames / space.registration.fps:.2f} s")
    for k, name in enumerate(space.names):
        got = "" if reached is None else f", reached {report['reached'][k]:.3f}"
        click.echo(f"  {name}: asked for {report['target'][k]:.3f}{got} {report['units'][k]}".rstrip())
    if projected:
        near = ", ".join(f"{value:.3f}" for value in report["aimed"])
        away = " and ".join(f"{size:.3f} {unit}".rstrip() for unit, size in report["moved_by_unit"].items())
        click.echo(f"  ! out of reach; aimed at ({near}) instead, {away} away")
    for note in report["notes"]:
        click.echo(f"  ! {note}")
    for path in written[1:]:
        click.echo(f"wrote {path}")
