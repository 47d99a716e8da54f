"""`marey blend`: blend several motions, with plots and metrics of the result."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from marey.cli.derived_options import SettingsCommand, add_settings, read_settings, word_options
from marey.cli.files import check_output, make_plot_folder, print_report, read_rows, write_report
from marey.cli.shared_options import (
    add_reading_options,
    joint_limits_option,
    markers_option,
    read_joint_limits,
    read_motion,
    renamed_option,
    take_reading_options,
)
from marey.cli.tables import format_table
from marey.cli.values import Moment, to_frame
from marey.errors import InvalidValue, plural

if TYPE_CHECKING:
    from marey.blend.baselines import Comparison
    from marey.blend.weights import WeightFunction
    from marey.core.motion import Motion
    from marey.register.registration import RegistrationCurve

# The metrics of `marey measure` that show whether a blend lies between its inputs and is free of artifacts.
SHOWN = ("speed_mean", "path_length", "stride_rate", "slide_contact", "skate_ratio", "penetration_max", "jitter")
# Number of notes to print, and of inputs with a column each in the table of metrics.
_MAX_NOTES, _MAX_INPUTS = 6, 4


class NumbersCommand(SettingsCommand):
    """A command whose option --weights takes all numbers that follow it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Join the numbers after --weights into one value, because click would parse them as files."""
        return super().parse_args(ctx, _join_numbers(args))


def _join_numbers(args: Sequence[str]) -> list[str]:
    out: list[str] = []
    rest = list(args)
    while rest:
        word = rest.pop(0)
        if word != "--weights":
            out.append(word)
            continue
        numbers = []
        while rest and _is_numbers(rest[0]):
            numbers.append(rest.pop(0))
        if not numbers and rest:
            numbers.append(rest.pop(0))
        out += [f"{word}={','.join(numbers)}"] if numbers else [word]
    return out


def _is_numbers(text: str) -> bool:
    try:
        return bool([float(part) for part in text.split(",")])
    except ValueError:
        return False


@click.command("blend", cls=NumbersCommand)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("-o", "--output", required=True, metavar="OUT", help="The motion to write: BVH, FBX, GLB or NPZ.")
@click.option(
    "--weights", metavar="W W...|CSV",
    help="One weight per file (they are normalized); or a CSV file with lines TIME,W,W... (seconds), which are "
    "interpolated smoothly. With loops, the blend lasts until the last TIME unless --seconds is given.  "
    "[default: equal]",
)  # fmt: skip
@add_settings("marey.blend.settings:BlendSettings")
@click.option("--start", type=float, nargs=3, metavar="DEGREES X Z", help="Heading and position of the first frame.")
@renamed_option("--rate", "--fps", type=float)
@renamed_option("--no-cleanup", "--feet none", sets={"feet": "none"})
@add_settings("marey.register.settings:RegisterSettings")
@click.option(
    "--match-at", type=Moment(), nargs=2, metavar="IN_A IN_B",
    help="Corresponding times in two files, such as the apex of a jump. The motions are aligned forward and backward "
    "from there, and cropped to what they have in common.",
)  # fmt: skip
@markers_option()
@joint_limits_option
@click.option("--registration", metavar="NPZ", help="Use a saved registration of the same files.")
@click.option("--save-registration", metavar="NPZ", help="Save the registration, to blend again with other weights.")
@add_settings("marey.io.settings:SaveSettings", skip=("unit", "up", "body"))
@click.option(
    "--report", "folder", metavar="DIR", help="Write plots of grid, path and feet, and report.json, to this folder."
)
@click.option(
    "--compare", "with_baselines", is_flag=True,
    help="Compare with simpler blending methods (two motions only). With --report, the blend of each is written, too.",
)  # fmt: skip
@add_settings("marey.blend.settings:ComparisonSettings", skip=("markers", "crop"), prefix="compare_")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@add_reading_options
def command(
    files: tuple[str, ...],
    output: str,
    weights: str | None,
    folder: str | None,
    with_baselines: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Blend FILEs: register them in time and space, then average timing, path, posture and contacts.

    \b
    Example:
      marey blend walk.bvh run.bvh -o jog.bvh --weights 0.5 0.5
      marey blend walk.bvh run.bvh -o jog.bvh --weights 0.5 0.5 --report jog/
      marey blend left.bvh right.bvh straight.bvh -o curve.bvh --weights keys.csv
      marey blend walk.bvh run.bvh -o out.bvh --cut-loops --weights keys.csv
      marey blend walk.bvh run.bvh -o jog.bvh --method cubic --n-frames 200 --path-finder threshold
    """
    import numpy as np

    from marey.blend import ComparisonSettings
    from marey.blend.weights import Weighting

    if len(files) < 2:
        raise InvalidValue(f"a blend needs at least two files, not {plural(len(files), 'file')}")
    if with_baselines and len(files) != 2:
        raise InvalidValue(f"--compare takes two files, not {plural(len(files), 'file')}")
    loops = "--cut-loops" if options["cut_loops"] else "--cyclic" if options["cyclic"] else ""
    if loops and options["crop"] == "none":
        raise InvalidValue(f"--crop none does not apply to {loops}, which always uses complete loops; omit one of them")
    check_output(output)
    given, shown = read_weights(weights, len(files))
    into = make_plot_folder(folder)  # before long work, and before anything is written
    clock = Clock()
    keys = shown["keys"] if isinstance(shown, dict) else None
    method = options["method"] or "registered"
    reg, result = _blend_files(files, given, clock, options, until=keys[-1][0] if keys else None)
    with clock("save"):
        result = save_as(result, output, options["rigid"], options["name"])
    report = {
        "op": "blend",
        "method": method,
        "written": output,
        "weights": shown,
        **registration_report(reg, files),
        **result_report(result, reg.motions),
        "timings_s": clock.times,
    }
    if with_baselines:
        from marey.blend.baselines import compare

        settings = read_settings(ComparisonSettings, options, prefix="compare_", markers=options["markers"])
        found = compare(reg, weights=given, settings=settings)
        report["compare"] = found.to_dict()
        if into is not None:
            _save_blends(found, report["compare"], into, Path(output).suffix)
    if into is not None:
        first = int(np.argmax(Weighting.of(given, len(files)).at(np.zeros(1))[0]))
        report["pictures"] = _draw_plots(reg, result, first, into)
        write_report(report, into)
    print_report(report, as_json, _format_report)


def _save_blends(found: Comparison, report: dict[str, Any], folder: Path, suffix: str) -> None:
    """Write the blend of each method to the folder, and add the names of the files to the report."""
    import re
    from dataclasses import replace

    from marey.io import save

    for row, entry in zip(found.blends, report["blends"], strict=True):
        if row.motion is not None:
            name = re.sub(r"\W+", "_", row.method)
            check_output(str(folder / f"{name}{suffix}"))
            save(replace(row.motion, name=name), folder / f"{name}{suffix}")
            entry["file"] = f"{name}{suffix}"


class Clock:
    """Stopwatch that records the seconds that each step takes."""

    def __init__(self) -> None:
        self.times: dict[str, float] = {}

    @contextmanager
    def __call__(self, what: str) -> Iterator[None]:
        """Time the enclosed block and record it under the name `what`."""
        before = time.perf_counter()
        yield
        self.times[what] = time.perf_counter() - before


def read_weights(text: str | None, n: int) -> tuple[list[float] | WeightFunction, Any]:
    """Parse --weights for n motions. Return the weights for `blend`, and their form in the report."""
    if text is None:
        return [1.0 / n] * n, [1.0 / n] * n
    if _is_numbers(text):
        numbers = [float(part) for part in text.split(",")]
        return numbers, numbers
    if not text.lower().endswith(".csv"):
        raise click.UsageError(f"--weights must be numbers or a .csv file, not {text!r}")
    from marey.blend.weights import interpolate_weights

    rows = read_rows(text, n + 1, f"a time and {plural(n, 'weight')}")
    return interpolate_weights([row[0] for row in rows], [row[1:] for row in rows]), {"file": text, "keys": rows}


def _blend_files(
    files: Sequence[str],
    weights: list[float] | WeightFunction,
    clock: Clock,
    options: dict[str, Any],
    until: float | None,
) -> tuple[RegistrationCurve, Motion]:
    """Register and blend the files. Loops last until the last weights, `until` seconds, unless --seconds is given."""
    import math

    from marey.blend import BlendSettings, blend
    from marey.blend.weights import Weighting

    Weighting.of(weights, len(files))  # check before long computations
    start = options.pop("start")
    place = None if start is None else [math.radians(start[0]), *start[1:]]
    limits = read_joint_limits(options["joint_limits"])
    settings = read_settings(BlendSettings, options, start=place, name=None, joint_limits=limits)
    how = take_reading_options(options)
    with clock("load"):
        motions = [read_motion(path, how) for path in files]
    with clock("register"):
        reg = _register(motions, options)
    lasts = reg.cyclic and settings.method == "registered" and settings.seconds is None
    if lasts and until is not None and until > 0.0:
        settings = BlendSettings(settings=settings, seconds=until)
    with clock("blend"):
        return reg, blend(reg, weights, settings=settings)


def _register(motions: list[Motion], options: dict[str, Any]) -> RegistrationCurve:
    """Register the motions, or load their registration."""
    from marey.register import RegisterSettings, RegistrationCurve, register

    start = options["match_at"]
    if start is not None:
        if options["cyclic"] or options["cut_loops"] or len(motions) != 2:
            raise InvalidValue("--match-at needs exactly two files, without --cyclic or --cut-loops")
        start = tuple(to_frame(moment, motion.fps) for moment, motion in zip(start, motions, strict=True))
        for frame, motion in zip(start, motions, strict=True):
            if frame >= len(motion):
                raise InvalidValue(
                    f"--match-at must be at most {motion.duration:.2f} s ({len(motion) - 1}f) in {motion.name!r}, not "
                    f"{frame / motion.fps:.2f} s ({frame}f)"
                )
    settings = read_settings(RegisterSettings, options, start=start, markers=options["markers"])
    if options["registration"] is None:
        reg = register(motions, settings=settings)
    elif settings != RegisterSettings():
        raise InvalidValue(
            "--registration loads a finished registration; omit it, or omit the options that compute one"
        )
    else:
        reg = RegistrationCurve.load(options["registration"], motions)
    if options["save_registration"] is not None:
        reg.save(options["save_registration"])
    return reg


def describe_saved(motion: Motion, output: str) -> dict[str, Any]:
    """Return the file name and length of a saved motion, for a report."""
    return {"written": output, "frames": len(motion), "fps": motion.fps, "seconds": motion.duration}


def save_as(motion: Motion, output: str, rigid: bool | None, name: str | None = None) -> Motion:
    """Save the motion, named after the file unless a name is given, and return it."""
    from dataclasses import replace

    from marey.io import save

    named = replace(motion, name=name or Path(output).stem)
    save(named, output, rigid=bool(rigid))
    return named


# Reports --------------------------------------------------------------------------------------------------------------


def registration_report(reg: RegistrationCurve, files: Sequence[str]) -> dict[str, Any]:
    """Report which frames were used and how similar the motions are."""
    inputs = [
        {"file": path, "name": motion.name, "frames": crop.tolist(), "fps": motion.fps, "distance_m": float(distance)}
        for path, motion, crop, distance in zip(files, reg.motions, reg.crops, reg.distances, strict=True)
    ]
    return {
        "inputs": inputs,
        "reference": reg.reference,
        "distance_m": float(reg.distance),
        "matches": len(reg.matches),
        "cyclic": reg.cyclic,
        "notes": list(reg.notes),
    }


def result_report(result: Motion, inputs: Sequence[Motion], shown: Sequence[str] = SHOWN) -> dict[str, Any]:
    """Report the length and the metrics of the result, with the metrics of the inputs for comparison."""
    from marey.measure import measure

    measured = [measure(motion) for motion in (*inputs, result)]
    metrics = {
        name: {
            "unit": measured[-1][name].unit,
            "inputs": [report[name].value for report in measured[:-1]],
            "result": measured[-1][name].value,
        }
        for name in shown
    }
    return {"frames": len(result), "fps": result.fps, "seconds": result.duration, "metrics": metrics}


def _draw_plots(reg: RegistrationCurve, result: Motion, first: int, folder: Path) -> list[str]:
    """Plot the distance grids, paths from above, foot heights and matched contacts to `folder`.

    `first` is the index of the motion with the largest weight at the start. Return the file names.
    """
    from marey.maths import rigid2d
    from marey.plot import registration as plots

    names = draw_grids(reg, folder)
    at_start = reg.alignment(0.0)
    here = rigid2d.invert(at_start[first])
    placed = [motion.moved(rigid2d.compose(here, move)) for motion, move in zip(reg.motions, at_start, strict=True)]
    plots.blend_paths(placed, {result.name: result}, folder / "paths.png")
    names.append("paths.png")
    if _has_feet(result):
        plots.foot_heights(list(reg.motions), result, folder / "feet.png", registration=reg)
        names.append("feet.png")
    if reg.matches:
        plots.matches(reg, folder / "matches.png")
        names.append("matches.png")
    return names


def _has_feet(motion: Motion) -> bool:
    return motion.contacts is not None and "left_ball" in motion.contacts.names


def draw_grids(reg: RegistrationCurve, folder: Path) -> list[str]:
    """Plot the distance grid of the reference and each other motion, with the warp path. Return the file names."""
    import numpy as np

    from marey.compare import distance_grid
    from marey.plot.grid import grid

    reference = reg.motions[reg.reference]
    names = []
    seconds = reg.timewarp(np.linspace(0.0, 1.0, 4 * max(len(motion) for motion in reg.motions)))
    for j, motion in enumerate(reg.motions):
        if j == reg.reference:
            continue
        name = "grid.png" if len(reg.motions) == 2 else f"grid_{j}.png"
        frames = np.rint(seconds[:, [reg.reference, j]] * reg.fps).astype(np.int64)
        cells = np.unique(np.clip(frames, 0, [len(reference) - 1, len(motion) - 1]), axis=0)
        grid(distance_grid(reference, motion), folder / name, cells=cells)
        names.append(name)
    return names


# Text -----------------------------------------------------------------------------------------------------------------


def describe_written(report: Mapping[str, Any]) -> str:
    """Describe the written file and its length."""
    frames = plural(report["frames"], "frame")
    return f"wrote {report['written']}: {frames} at {report['fps']:.6g} Hz ({report['seconds']:.2f} s)"


def describe_notes(report: Mapping[str, Any]) -> list[str]:
    """List why motions were cropped, contacts that were split or dropped, limits that were overridden, and what the
    method leaves out."""
    notes = [note for note in report["notes"] if not note.startswith("contacts of ")]  # notes on detected contacts
    if len(notes) > _MAX_NOTES:
        notes[_MAX_NOTES:] = [f"and {plural(len(notes) - _MAX_NOTES, 'note')} more; --json lists all"]
    notes = [f"{note}; --crop none uses all frames" if note.startswith("cropped to ") else note for note in notes]
    if report["method"] != "registered":
        notes.append(f"the method {report['method']!r} checks no limits and does not clean the feet")
    return [f"  {word_options(note)}" for note in notes]


def _format_report(report: Mapping[str, Any]) -> str:
    """Format a report as text."""
    lines = [
        describe_written(report),
        f"  from {', '.join(_describe_frames(each, report['cyclic']) for each in report['inputs'])}",
        f"  distance after registration {report['distance_m']:.3f} m (root mean square), "
        f"{plural(report['matches'], 'matched contact')}",
    ]
    weights = report["weights"]
    if isinstance(weights, list) and not math.isclose(sum(weights), 1.0, abs_tol=0.005):
        shares = ", ".join(f"{weight / sum(weights):.3g}" for weight in weights)
        lines.append(f"  weights {shares}: those given, divided by their sum")
    lines += describe_notes(report)
    lines += format_metrics(report["metrics"], [each["name"] for each in report["inputs"]], "blend")
    if "compare" in report:
        lines += ["", *_format_comparison(report["compare"])]
    files = [row["file"] for row in report.get("compare", {}).get("blends", ()) if "file" in row]
    if files:
        lines.append(f"blends: {', '.join(files)}")
    return "\n".join(lines)


def _describe_frames(used: Mapping[str, Any], is_loop: bool) -> str:
    """Describe which frames of a file were used. A loop may begin at any frame and wrap around."""
    first, stop = used["frames"]
    if is_loop and first > 0:
        return f"all {stop - first} frames of {used['name']!r}, from frame {first} on"
    return f"frames {first} to {stop - 1} of {used['name']!r}"


def format_metrics(metrics: Mapping[str, Any], names: Sequence[str], what: str) -> list[str]:
    """Format a table of the metrics of the inputs and of the result; the range of many inputs."""
    from marey.measure.display import get_metric_format

    many = len(names) > _MAX_INPUTS
    heads = [f"least of {len(names)} inputs", "most"] if many else [name[:16] for name in names]
    rows = [["metric", *heads, what, "unit"]]
    for name, metric in metrics.items():
        known = [value for value in metric["inputs"] if value is not None]
        inputs = [min(known, default=None), max(known, default=None)] if many else metric["inputs"]
        values = [*inputs, metric["result"]]
        shown = get_metric_format(name, metric["unit"])
        rows.append([shown.title, *(shown.format(value) for value in values), shown.unit])
    return format_table(rows)


def _format_comparison(tables: Mapping[str, Any]) -> list[str]:
    """Format the tables that compare the path finders and the blending methods."""
    from marey.measure.display import format_number, get_metric_format

    known = "the proven minimum" if tables["proven"] else "the lowest cost found"
    lines = [
        f"paths through the grid of {tables['frames'][0]} x {tables['frames'][1]} frames; accuracy relative to {known}",
        "  (cell by cell at the motions' own speeds; the registration above stretches them to equal length first, so "
        "its distance differs)",
    ]
    rows = [
        ["path finder", f"cost, {tables['cost_unit']}", "distance along the path, m", "accuracy, %", "seconds", "note"]
    ]
    for row in tables["paths"]:
        numbers = [row["cost"], row["distance"], row["accuracy"], row["seconds"]]
        rows.append([row["method"], *(format_number(value) for value in numbers), row["note"]])
    lines += format_table(rows)
    if not tables["blends"]:
        return lines
    units = tables["units"]
    lines += ["", "blends; performance is the time of the discrete timewarp divided by the method's time"]
    metrics = {name: get_metric_format(name, units[name]) for name in units}
    heads = [", ".join(filter(None, (each.title, each.unit))) for each in metrics.values()]
    rows = [["method", "seconds", "performance, %", *heads, "note"]]
    for row in (*tables["inputs"], *tables["blends"]):
        times = [format_number(row["seconds"]), format_number(row["performance"])]
        values = [each.format(row["metrics"][name]) for name, each in metrics.items()]
        rows.append([row["method"], *times, *values, row["note"]])
    return [*lines, *_transpose(rows)]


def _transpose(rows: Sequence[Sequence[str]]) -> list[str]:
    """Format the table transposed, because there are more metrics than methods. Notes go on separate lines."""
    sides = [list(column) for column in zip(*(row[:-1] for row in rows), strict=True)]
    notes = [f"  {row[0]}: {row[-1]}" for row in rows[1:] if row[-1]]
    return [*format_table([[*side, ""] for side in sides]), *notes]
