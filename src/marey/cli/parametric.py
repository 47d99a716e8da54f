"""`marey parametric`: build parametric motion spaces from examples of one action, and generate motions from them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from marey.cli.derived_options import SettingsCommand, add_settings, read_settings, word_options
from marey.cli.files import check_output, check_plot, print_json, read_rows
from marey.cli.query import AS_JSON, DROP, LABELS, OVERLAPS, NegativeNumbersCommand, make_query, search_web
from marey.cli.shared_options import markers_option, read_motion
from marey.cli.tables import format_table
from marey.cli.values import POSE_2D, Moment, NumberList
from marey.core.naming import display_unit
from marey.errors import MareyWarning, plural

if TYPE_CHECKING:
    from marey.parametric import ParametricMotion, Reachable, ReachResult, SpaceSettings

# Ranges of all other parameters are listed for this many parts of the widest one, unless more than this fraction of all
# combinations is reachable.
_N_SLICES, _NEARLY_ALL = 4, 0.95
_NOTES = 8  # notes in the text report; --json lists all
_PER_PARAMETER = NumberList("numbers", "0.02 or 0.02,0.02,0.03")
_NUMBERS_TOO = {"ignore_unknown_options": True}  # because target values may be negative


@click.group("parametric")
def command() -> None:
    """Generate motions that meet given targets, such as a kick to a point, by blending examples.

    Angles are in degrees. Positions are in meters, relative to where the character stands at the start: to the left,
    above the floor, and ahead.

    \b
    Example:
      marey parametric build web.npz take1 8.0 9.9 --threshold 0.08 --feature position:right_ball -o kick.npz
      marey parametric range kick.npz
      marey parametric make kick.npz 0.0 1.1 0.95 -o high.bvh
    """


@command.command("build", cls=NegativeNumbersCommand, short_help="Build a parametric motion space.")
@click.argument("sources", nargs=-1, required=True, metavar="WEB CLIP START STOP | FILE FILE...")
@click.option("--feature", help="The parameters of the space, such as position:right_hand@farthest or turn,speed.")
@click.option(
    "--values", metavar="V,V...|CSV",
    help="Parameters given by hand instead of --feature: one number per example, or a CSV file with one line per "
    "example, in the order of the files or matches.",
)  # fmt: skip
@click.option("--names", metavar="NAME,...", help="Names of the parameters in --values.")
@click.option("-o", "--output", required=True, metavar="SPACE", help="The space to write, an .npz file.")
@click.option("--threshold", type=float, metavar="METERS", help="Maximum distance of a match in WEB.")
@LABELS
@DROP
@OVERLAPS
@add_settings("marey.find.settings:SearchSettings")
@add_settings("marey.parametric.settings:SpaceSettings")
@click.option(
    "--redundant", type=_PER_PARAMETER,
    help="Remove examples that the others reproduce to within this distance; one number, or one per parameter.",
)  # fmt: skip
@click.option(
    "--scale", type=_PER_PARAMETER,
    help="Distance in each parameter within which a target counts as reachable.  [default: 3 cm, 3 degrees, 0.05 m/s "
    "and so on]",
)  # fmt: skip
@click.option(
    "--apexes", type=NumberList("frames", "20,31,28", integers=True), metavar="FRAME,...",
    help="Frame of each example at which features of a pose are measured.  [default: detected]",
)  # fmt: skip
@markers_option()
@AS_JSON
def build(sources: tuple[str, ...], output: str, threshold: float | None, as_json: bool, **options: Any) -> None:
    """Build a parametric motion space from motion files, or from the matches of an example in a match web.

    The example is the part of CLIP from START to STOP, in seconds (8.0) or frames (240f).

    \b
    Features: position:JOINT[:AXES][@MOMENT], orientation:JOINT[@MOMENT], speed[:JOINT[:mean|min|max]],
    angular_speed:JOINT, traveled, turn, curvature, step_height, duration; separate several with commas.
    JOINT is a role such as right_hand, a joint, or center_of_mass. AXES are any of x, y and z. MOMENT is farthest,
    highest, lowest, fastest, slowest, start, end, or seconds from the start of the example.

    \b
    Example:
      marey parametric build web.npz take1 8.0 9.9 --threshold 0.08 --feature position:right_ball -o kick.npz
      marey parametric build walk_*.bvh --feature turn,speed -o walk.npz
    """
    import warnings

    from marey.cli.progress import bar
    from marey.parametric import ParametricMotion

    check_output(output, form="marey.parametric", suffixes=(".npz",))
    settings = _read_space_settings(options)
    examples = _load_files(sources) if threshold is None else _search_web(sources, threshold, options)
    with warnings.catch_warnings(), bar("building") as progress:
        warnings.filterwarnings(
            "ignore", r"\d+ of \d+ examples (is|are) left out", MareyWarning
        )  # the notes give the reasons
        space = ParametricMotion.build(examples, settings=settings, progress=progress)
    space.save(output)
    _print_space(space, as_json, written=[output])


def _read_space_settings(options: dict[str, Any]) -> SpaceSettings:
    """Return the settings of a space. Features are parsed; numbers in units of the parameters become radians."""
    from marey.parametric import SpaceSettings, parse_features

    if options["values"] is None:
        if options["feature"] is None:
            raise click.UsageError("missing option --feature; or give parameters by hand with --values")
        options["feature"] = parse_features(options["feature"])
        units = [unit for feature in options["feature"] for unit in feature.units]
        for name in ("redundant", "scale"):
            if options[name] is not None and len(options[name]) in (1, len(units)):
                numbers = options[name] if len(options[name]) == len(units) else options[name] * len(units)
                options[name] = [value / display_unit(unit)[1] for value, unit in zip(numbers, units, strict=True)]
    else:
        options["values"] = _read_values(options["values"])
        options["names"] = None if options["names"] is None else options["names"].split(",")
    return read_settings(SpaceSettings, options)


def _read_values(text: str) -> list[list[float]]:
    if text.lower().endswith(".csv"):
        return read_rows(text, None, "as many numbers as in the first line")
    try:
        return [[float(word)] for word in text.split(",")]
    except ValueError:
        raise click.UsageError(f"--values must be numbers such as 0,0.5,1 or a .csv file, not {text!r}") from None


def _search_web(sources: tuple[str, ...], threshold: float, options: dict[str, Any]) -> Any:
    """Search a match web for the example given as WEB CLIP START STOP."""
    from marey.find import MatchWeb

    if len(sources) not in (2, 4):
        raise click.UsageError("with --threshold give WEB CLIP START STOP, such as web.npz take1 8.0 9.9")
    times = [Moment().convert(text, None, None) for text in sources[2:]]
    web = MatchWeb.load(sources[0])
    return search_web(web, make_query(web, sources[1], *(times or (None, None))), threshold, options)


def _load_files(sources: tuple[str, ...]) -> Any:
    """Load motions from files."""
    from marey.io.folder import result_kind

    if Path(sources[0]).exists() and result_kind(sources[0]) == "web":
        raise click.UsageError(
            f"--threshold is missing: {sources[0]!r} is a match web, which is searched up to a maximum distance; "
            "`marey find search ... --suggest` proposes one"
        )
    for source in sources:
        if not Path(source).exists():
            raise click.UsageError(
                f"{source!r} is not a file; give motion files, or WEB CLIP START STOP together with --threshold"
            )
    return [read_motion(source) for source in sources]


@command.command(
    "make", cls=SettingsCommand, short_help="Generate the motion for a target.", context_settings=_NUMBERS_TOO
)
@click.argument("file", metavar="SPACE")
@click.argument("target", nargs=-1, required=True, metavar="TARGET...")
@click.option("-o", "--output", required=True, metavar="OUT", help="The motion to write: BVH, FBX, GLB or NPZ.")
@click.option("--refine", type=int, default=0, show_default=True, help="Number of refinement steps; 4 is plenty.")
@click.option(
    "--start",
    type=POSE_2D,
    metavar="X,Z,DEGREES",
    help="Start position in meters and heading in degrees to the left of +Z.  [default: 0,0,0]",
)
@add_settings("marey.parametric.settings:SynthesisSettings")
@click.option("--no-cleanup", "feet", flag_value="none", hidden=True)
@click.option("--rigid", is_flag=True, help="Keep bone lengths constant in OUT.")
@click.option("--plot", "picture", metavar="PNG", help="Plot the motion with its target: PNG or SVG.")
@AS_JSON
def make(
    file: str,
    target: tuple[str, ...],
    output: str,
    start: tuple[float, float, float] | None,
    rigid: bool,
    picture: str | None,
    as_json: bool,
    **options: Any,
) -> int:
    """Generate the motion for TARGET: one number per parameter, in the order shown by `range`.

    The motion begins at the origin facing +Z, unless --start is given. The exit code is 1 if the target is out of
    reach; the nearest motion is still written.

    \b
    Example:
      marey parametric make kick.npz 0.0 1.1 0.95 -o high.bvh --refine 4 --plot high.png
      marey parametric make walk.npz -30 1.4 -o turn.bvh --start 2.0,0.5,90
    """
    from marey.io import save
    from marey.parametric import ParametricMotion, SynthesisSettings

    check_output(output)
    check_plot(picture)
    space = ParametricMotion.load(file)
    numbers = _target(space, target)
    begin = None if start is None else (math.radians(start[2]), *start[:2])  # placement (theta, x, z)
    options["name"] = options["name"] or Path(output).stem
    result = space.synthesize(numbers, settings=read_settings(SynthesisSettings, options, start=begin))
    motion = result.motion()
    save(motion, output, rigid=rigid)
    written = [output]
    if picture is not None:
        from marey.plot.parametric import target_motions

        target_motions(space, [numbers], picture, motions=[motion])
        written.append(picture)
    _print_result(space, result, written, as_json)
    return int(result.projected)


@command.command("range", short_help="Show which targets can be reached.")
@click.argument("file", metavar="SPACE")
@click.option("--plot", "picture", metavar="OUT", help="Plot examples and samples: PNG or SVG.")
@AS_JSON
def reach(file: str, picture: str | None, as_json: bool) -> None:
    """Show the range of each parameter of a space, and how they depend on each other.

    If only a part of all combinations can be reached, a table lists what can be combined: for each quarter of the range
    of one parameter, the ranges of the others.

    \b
    Example:
      marey parametric range kick.npz --plot kick.png
    """
    from marey.parametric import ParametricMotion

    check_plot(picture)
    space = ParametricMotion.load(file)
    written = []
    if picture is not None:
        from marey.plot.parametric import reachable

        reachable(space, picture)
        written.append(picture)
    _print_space(space, as_json, written=written)


def _target(space: ParametricMotion, given: tuple[str, ...]) -> list[float]:
    """Parse the target: one number per parameter, with degrees converted to radians."""
    numbers = [_number(text) for text in given]
    if len(numbers) != space.n_dims:
        wanted = (
            f"{name} in {display_unit(unit)[0]}" if unit else name
            for name, unit in zip(space.names, space.units, strict=True)
        )
        raise click.UsageError(
            f"a target must have {plural(space.n_dims, 'number')} ({', '.join(wanted)}), not {len(numbers)}"
        )
    return [value / display_unit(unit)[1] for value, unit in zip(numbers, space.units, strict=True)]


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise click.UsageError(f"a target must consist of finite numbers, not {text!r}")
    return value


def _print_space(space: ParametricMotion, as_json: bool, written: list[str]) -> None:
    region = space.reachable()
    rows = []
    for k, (name, unit) in enumerate(zip(region.names, region.units, strict=True)):
        shown, factor = display_unit(unit)
        low, high = (factor * float(values[k]) for values in (region.low, region.high))
        rows.append({"name": name, "unit": shown, "low": low, "high": high})
    if as_json:
        report = {
            "parameters": rows,
            "examples": [motion.name for motion in space.registration.motions],
            "example_parameters": (region.examples * [display_unit(unit)[1] for unit in region.units]).tolist(),
            "samples": len(region.samples),
            "reachable_fraction": region.fraction,
            "notes": list(space.notes),
            "written": written,
        }
        print_json(report)
        return
    click.echo(f"{plural(len(region.examples), 'example')}, {plural(len(region.samples), 'sample')}")
    width = max(len(str(row["name"])) for row in rows)
    for row in rows:
        click.echo(f"  {row['name']:<{width}}  {row['low']:8.3f} to {row['high']:8.3f} {row['unit']}".rstrip())
    for line in _describe_dependence(region, rows):
        click.echo(line)
    notes = _group_notes(space.notes)
    for note in notes[:_NOTES]:
        click.echo(f"  ! {word_options(note)}")
    if len(notes) > _NOTES:
        click.echo(f"  ! and {plural(len(notes) - _NOTES, 'note')} more; --json lists all")
    for path in written:
        click.echo(f"wrote {path}")


def _describe_dependence(region: Reachable, rows: list[dict[str, Any]]) -> list[str]:
    """Format which values of the parameters can be combined, if only a part of all combinations is reachable.

    rows : name and unit of each parameter.
    """
    import numpy as np

    if len(rows) < 2 or region.fraction > _NEARLY_ALL:
        return []
    factors = np.array([display_unit(unit)[1] for unit in region.units])
    widest = int(np.argmax((region.high - region.low) / region.within))
    others = [k for k in range(len(rows)) if k != widest]
    edges = np.linspace(region.low[widest], region.high[widest], _N_SLICES + 1)
    where = np.clip(np.searchsorted(edges, region.samples[:, widest], side="right") - 1, 0, _N_SLICES - 1)
    table = [[f"{rows[k]['name']}, {rows[k]['unit']}".rstrip(", ") for k in (widest, *others)]]
    for k in range(_N_SLICES):
        near = region.samples[where == k]
        ends = [(near[:, j].min(), near[:, j].max()) if len(near) else None for j in others]
        spans = [(edges[k], edges[k + 1]), *ends]
        table.append(
            [
                "-" if span is None else f"{span[0] * factors[j]:.2f} to {span[1] * factors[j]:.2f}"
                for j, span in zip((widest, *others), spans, strict=True)
            ]
        )
    share = f"{100.0 * region.fraction:.0f} % of all combinations in these ranges can be reached"
    return [f"{share}; what goes together:", *format_table(table)]


def _group_notes(notes: Iterable[str]) -> list[str]:
    """Group similar notes: list the first and count the others. Notes on examples left out come first, ungrouped."""
    groups: dict[str, list[str]] = {}
    for note in notes:
        # Similar notes differ only in motion names and numbers.
        groups.setdefault(re.sub(r"'[^']*'|[-+]?\d+(\.\d+)?", "*", note), []).append(note)
    sorted_groups = sorted(groups.values(), key=lambda group: "left out" not in group[0])
    out = []
    for group in sorted_groups:
        if "left out" in group[0] or len(group) == 1:
            out += group
        else:
            out.append(f"{group[0]} (and {len(group) - 1} more like this)")
    return out


def _rounding_notes(space: ParametricMotion, reached: ReachResult) -> list[str]:
    """Return a note if a duration differs from the target only because it is rounded to whole frames."""
    fps, at = space.registration.fps, 0
    for feature in space.features:
        off = abs(float(reached.error[at]))
        if feature.kind == "duration" and 1e-6 < off < 1.0 / fps and not reached.projected:
            return [f"the duration is rounded to whole frames of {1.0 / fps:.3f} s"]
        at += feature.n_dims
    return []


def _print_result(space: ParametricMotion, result: ReachResult, written: list[str], as_json: bool) -> None:
    n_frames = len(result.motion())
    factors = [display_unit(unit)[1] for unit in space.units]

    def in_shown_units(values: Any) -> list[float]:
        return [factor * float(value) for factor, value in zip(factors, values, strict=True)]

    report: dict[str, Any] = {
        "written": written,
        "frames": n_frames,
        "parameters": list(space.names),
        "units": [display_unit(unit)[0] for unit in space.units],
        "target": in_shown_units(result.target),
        "aimed": in_shown_units(result.aimed),
        "projected": result.projected,
        "notes": _rounding_notes(space, result),
    }

    def by_unit(off: list[float]) -> dict[str, float]:
        return {
            unit: math.hypot(*(size for size, each in zip(off, report["units"], strict=True) if each == unit))
            for unit in dict.fromkeys(report["units"])
        }

    report["moved_by_unit"] = by_unit(in_shown_units(result.aimed - result.target))
    is_measured = math.isfinite(result.reached[0])
    if is_measured:
        error = in_shown_units(result.error)
        report |= {"reached": in_shown_units(result.reached), "error": error, "error_by_unit": by_unit(error)}
    if as_json:
        print_json(report)
        return
    click.echo(f"wrote {written[0]}: {plural(n_frames, 'frame')}, {(n_frames - 1) / space.registration.fps:.2f} s")
    for k, name in enumerate(space.names):
        got = f", reached {report['reached'][k]:.3f}" if is_measured else ""
        click.echo(f"  {name}: target {report['target'][k]:.3f}{got} {report['units'][k]}".rstrip())
    if result.projected:
        near = ", ".join(f"{value:.3f}" for value in report["aimed"])
        away = " and ".join(f"{size:.3f} {unit}".rstrip() for unit, size in report["moved_by_unit"].items())
        click.echo(f"  ! out of reach; used the nearest reachable target ({near}), {away} away")
    for note in report["notes"]:
        click.echo(f"  ! {word_options(note)}")
    for path in written[1:]:
        click.echo(f"wrote {path}")
