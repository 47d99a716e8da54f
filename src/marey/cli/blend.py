"""`marey blend`: a motion between several, with pictures and figures of how it came about."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from marey.cli.files import check_output, counted
from marey.cli.options import reading, reading_options

if TYPE_CHECKING:
    from marey.blend.weights import WeightFunction
    from marey.core.motion import Motion
    from marey.register.registration import RegistrationCurve

# Of all that `marey measure` measures, what tells whether a blend lies between its motions and holds together.
SHOWN = ("speed_mean", "path_length", "stride_rate", "slide_contact", "skate_ratio", "penetration_max", "jitter")


class NumbersCommand(click.Command):
    """A command whose option --weights takes as many numbers as follow it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Numbers behind --weights become one value, before click would take them for files."""
        return super().parse_args(ctx, _gathered(args, "--weights"))


def _gathered(args: Sequence[str], option: str) -> list[str]:
    out: list[str] = []
    rest = list(args)
    while rest:
        word = rest.pop(0)
        if word != option:
            out.append(word)
            continue
        numbers = []
        while rest and _is_numbers(rest[0]):
            numbers.append(rest.pop(0))
        if not numbers and rest:
            numbers.append(rest.pop(0))
        out += [f"{option}={','.join(numbers)}"] if numbers else [option]
    return out


def _is_numbers(text: str) -> bool:
    try:
        return bool([float(part) for part in text.split(",")])
    except ValueError:
        return False


@click.command("blend", cls=NumbersCommand)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("-o", "--output", required=True, metavar="OUT", help="The motion to write: BVH, GLB or NPZ.")
@click.option(
    "--weights", metavar="W W...|CSV",
    help="One number for each file, of which only the ratios count; or a CSV file with lines TIME,W,W... in seconds, "
    "between which they change smoothly.  [default: equal]",
)  # fmt: skip
@reading
@click.option("--trim-rest", is_flag=True, help="Drop frame 0 where it is a rest pose put before the motion.")
@click.option(
    "--crop", type=click.Choice(["auto", "none"]), default="auto", show_default=True,
    help="Take what the motions have in common, from the same step on, or take them whole.",
)  # fmt: skip
@click.option("--cyclic", is_flag=True, help="The motions are loops, as `marey edit cycle` makes them.")
@click.option("--seconds", type=float, help="How long a blend of loops goes on.  [default: one round]")
@click.option("--rate", type=float, help="Frames per second of OUT.  [default: that of the motions]")
@click.option("--start", type=float, nargs=3, metavar="DEGREES X Z", help="Heading and place of the first frame.")
@click.option("--no-cleanup", is_flag=True, help="Leave feet as they are averaged, without holding them in place.")
@click.option("--reference", type=int, help="Which file the others are compared with, from 0.  [default: the middling]")
@click.option("--window", type=float, default=0.1, show_default=True, help="Seconds that are compared around a frame.")
@click.option("--slope-limit", type=int, default=2, show_default=True, help="How many times faster one may be played.")
@click.option(
    "--max-distance", type=float, default=0.22, show_default=True, help="Metres; motions further apart are refused."
)
@click.option("--force", is_flag=True, help="Blend motions that are too far apart, or on opposite feet, all the same.")
@click.option("--rigid", is_flag=True, help="Leave changes of bone length out of OUT.")
@click.option(
    "--report", "folder", metavar="DIR", help="Write pictures of grid, path and feet, and report.json, to there."
)
@click.option("--compare", "compared", is_flag=True, help="Show what simpler methods make of two motions, in tables.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def command(
    files: tuple[str, ...],
    output: str,
    weights: str | None,
    folder: str | None,
    compared: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Blend FILEs in step: their timing, path, posture and contacts averaged.

    \b
    Example:
      marey blend walk.bvh run.bvh -o jog.bvh --weights 0.5 0.5
      marey blend walk.bvh run.bvh -o jog.bvh --weights 0.5 0.5 --report jog/
      marey blend left.bvh right.bvh straight.bvh -o curve.bvh --weights keys.csv
    """
    import numpy as np

    from marey.blend.weights import Weighting
    from marey.errors import InvalidValue

    if len(files) < 2:
        raise InvalidValue(f"a blend needs two files or more, got {counted(len(files), 'file')}")
    if compared and len(files) != 2:
        raise InvalidValue(f"--compare takes two files, got {counted(len(files), 'file')}")
    if options["cyclic"] and options["crop"] == "none":
        raise InvalidValue("--crop none means nothing for loops, which --cyclic takes whole; leave one of them out")
    check_output(output, [*files, *([weights] if weights else [])])
    given, shown = read_weights(weights, len(files))
    into = None if folder is None else make_folder(folder)  # before long work, and before anything is written
    clock = Clock()
    reg, made = _blended(files, given, clock, options)
    with clock("save"):
        made = save_as(made, output, options["rigid"])
    report = {
        "op": "blend",
        "written": output,
        "weights": shown,
        **registration_report(reg, files),
        **result_report(made, reg.motions),
        "timings_s": clock.times,
    }
    if compared:
        from marey.blend.baselines import compare

        report["compare"] = compare(reg, weights=given).as_dict()
    if folder is not None and into is not None:
        first = int(np.argmax(Weighting.of(given, len(files)).at(np.zeros(1))[0]))
        report["pictures"] = _pictures(reg, made, first, into)
        write_report(report, folder)
    click.echo(json.dumps(report, indent=1, ensure_ascii=False) if as_json else _text(report))


class Clock:
    """Seconds by what they were spent on."""

    def __init__(self) -> None:
        self.times: dict[str, float] = {}

    @contextmanager
    def __call__(self, what: str) -> Iterator[None]:
        """Time what is done within."""
        before = time.perf_counter()
        yield
        self.times[what] = time.perf_counter() - before


def read_weights(text: str | None, n: int) -> tuple[list[float] | WeightFunction, Any]:
    """Weights as `blend` takes them, and as a report shows them."""
    if text is None:
        return [1.0 / n] * n, [1.0 / n] * n
    if _is_numbers(text):
        numbers = [float(part) for part in text.split(",")]
        return numbers, numbers
    if not text.lower().endswith(".csv"):
        raise click.UsageError(f"--weights takes numbers or a .csv file, got {text!r}")
    from marey.blend.weights import keyed_weights

    rows = _table(text, n)
    return keyed_weights([row[0] for row in rows], [row[1:] for row in rows]), {"file": text, "keys": rows}


def _table(path: str, n: int) -> list[list[float]]:
    """Rows of a time and n weights; a first line of names may stand above them."""
    from marey.errors import ParseError
    from marey.io.files import read_bytes

    rows = []
    for number, line in enumerate(read_bytes(path).decode("utf-8-sig", errors="replace").splitlines(), start=1):
        words = [word.strip() for word in line.split(",")]
        if not any(words):
            continue
        try:
            values = [float(word) for word in words]
        except ValueError:
            if number == 1:
                continue
            raise ParseError(
                f"expected numbers, a time and {n} weights, got {line!r}", path=path, line=number
            ) from None
        if len(values) != n + 1:
            raise ParseError(
                f"expected a time and {n} weights, got {counted(len(values), 'number')}", path=path, line=number
            )
        rows.append(values)
    if not rows:
        raise ParseError(f"expected lines of a time and {n} weights, found none", path=path)
    return rows


def _blended(
    files: Sequence[str], weights: list[float] | WeightFunction, clock: Clock, options: dict[str, Any]
) -> tuple[RegistrationCurve, Motion]:
    import math

    from marey.blend import blend
    from marey.blend.weights import Weighting
    from marey.io import load_motion
    from marey.register import register

    Weighting.of(weights, len(files))  # refused before long work
    how = reading_options(options)
    with clock("load"):
        motions = [load_motion(path, trim_rest=options["trim_rest"], **how) for path in files]
    with clock("register"):
        reg = register(
            motions,
            crop="auto" if options["crop"] == "auto" else None,
            cyclic=options["cyclic"],
            reference=options["reference"],
            slope_limit=options["slope_limit"],
            window=options["window"],
            max_distance=options["max_distance"],
            force=options["force"],
        )
    start = options["start"]
    with clock("blend"):
        made = blend(
            reg,
            weights,
            fps=options["rate"],
            enforce=not options["no_cleanup"],
            start=None if start is None else [math.radians(start[0]), *start[1:]],
            seconds=options["seconds"],
        )
    return reg, made


def save_as(motion: Motion, output: str, rigid: bool) -> Motion:
    """Write the motion, named after its file."""
    from dataclasses import replace

    from marey.io import save

    named = replace(motion, name=Path(output).stem)
    save(named, output, rigid=rigid)
    return named


# Reports --------------------------------------------------------------------------------------------------------------


def registration_report(reg: RegistrationCurve, files: Sequence[str]) -> dict[str, Any]:
    """Which frames were taken, and how well the motions go together."""
    inputs = [
        {"file": path, "name": motion.name, "frames": crop.tolist(), "fps": motion.fps, "distance_m": float(distance)}
        for path, motion, crop, distance in zip(files, reg.motions, reg.crops, reg.distances, strict=True)
    ]
    return {
        "inputs": inputs,
        "reference": reg.reference,
        "distance_m": float(reg.distance),
        "matches": len(reg.matches),
        "notes": list(reg.notes),
    }


def result_report(made: Motion, inputs: Sequence[Motion], shown: Sequence[str] = SHOWN) -> dict[str, Any]:
    """Length and figures of what was made, beside those of the motions."""
    from marey.measure import measure

    measured = [measure(motion) for motion in (*inputs, made)]
    figures = {
        name: {
            "unit": measured[-1][name].unit,
            "inputs": [report[name].value for report in measured[:-1]],
            "result": measured[-1][name].value,
        }
        for name in shown
    }
    return {"frames": len(made), "fps": made.fps, "seconds": made.duration, "figures": figures}


def write_report(report: Mapping[str, Any], folder: str) -> None:
    """`report.json` in the folder."""
    from marey.io.files import write_bytes

    text = json.dumps(report, indent=1, ensure_ascii=False) + "\n"
    write_bytes(Path(folder) / "report.json", [text.encode("utf-8")])


def make_folder(folder: str) -> Path:
    """The folder, made where it is not there."""
    from marey.errors import UnwritableFile

    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = str(error.strerror or error).lower()
        raise UnwritableFile(f"the folder cannot be made ({reason})", path=folder) from None
    return Path(folder)


def _pictures(reg: RegistrationCurve, made: Motion, first: int, into: Path) -> list[str]:
    """Grids with their paths, foot heights, matches and paths from above; `first` is the motion that it starts with."""
    from marey.maths import rigid2d
    from marey.plot import registration as drawn

    names = draw_grids(reg, into)
    at_start = reg.alignment(0.0)
    here = rigid2d.invert(at_start[first])
    placed = [motion.moved(rigid2d.compose(here, move)) for motion, move in zip(reg.motions, at_start, strict=True)]
    drawn.blend_paths(placed, {made.name: made}, into / "paths.png")
    names.append("paths.png")
    if _has_feet(made):
        drawn.foot_heights(list(reg.motions), made, into / "feet.png", registration=reg)
        names.append("feet.png")
    if reg.matches:
        drawn.matches(reg, into / "matches.png")
        names.append("matches.png")
    return names


def _has_feet(motion: Motion) -> bool:
    return motion.contacts is not None and "left_ball" in motion.contacts.names


def draw_grids(reg: RegistrationCurve, into: Path) -> list[str]:
    """The grid of the reference with each other motion and the path that was taken through it."""
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
        grid(distance_grid(reference, motion), into / name, cells=cells)
        names.append(name)
    return names


# Text -----------------------------------------------------------------------------------------------------------------


def written(report: Mapping[str, Any]) -> str:
    """What was written, and how long it is."""
    frames = counted(report["frames"], "frame")
    return f"{report['written']}: {frames} at {report['fps']:.6g} Hz ({report['seconds']:.2f} s)"


def _text(report: Mapping[str, Any]) -> str:
    """A report for people."""
    taken = ", ".join(
        f"frames {each['frames'][0]} to {each['frames'][1]} of {each['name']!r}" for each in report["inputs"]
    )
    lines = [
        written(report),
        f"  from {taken}",
        f"  {report['distance_m']:.3f} m apart in step, {counted(report['matches'], 'contact')} matched",
    ]
    lines += figures_table(report["figures"], [each["name"] for each in report["inputs"]], "blend")
    if "compare" in report:
        lines += ["", *_comparison(report["compare"])]
    if "pictures" in report:
        lines.append(f"pictures: {', '.join(report['pictures'])}")
    return "\n".join(lines)


def figures_table(figures: Mapping[str, Any], names: Sequence[str], what: str) -> list[str]:
    """Figures of the motions and of what was made of them."""
    rows = [["figure", *(name[:16] for name in names), what, "unit"]]
    for name, figure in figures.items():
        values = [*figure["inputs"], figure["result"]]
        rows.append([name, *(_number(value) for value in values), figure["unit"]])
    return aligned(rows)


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return "0" if abs(value) < 1e-9 else f"{value:.4g}"


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines with columns below one another, the first and the last to the left, the others to the right."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    lines = []
    for row in rows:
        middle = "".join(f"  {word:>{width}}" for word, width in zip(row[1:-1], widths[1:-1], strict=True))
        lines.append(f"  {row[0]:<{widths[0]}}{middle}  {row[-1]}".rstrip())
    return lines


def _comparison(tables: Mapping[str, Any]) -> list[str]:
    """The path finders, then the ways to blend."""
    known = "the least there is" if tables["proven"] else "the least that was found"
    lines = [
        f"paths through the grid of {tables['frames'][0]} x {tables['frames'][1]} frames; accuracy against {known}"
    ]
    rows = [["path finder", "cost, m2", "distance, m", "accuracy, %", "seconds", "note"]]
    for row in tables["paths"]:
        numbers = [row["cost"], row["distance"], row["accuracy"], row["seconds"]]
        rows.append([row["method"], *(_number(value) for value in numbers), row["note"]])
    lines += aligned(rows)
    units = tables["units"]
    lines += ["", "blends; performance is the time of the discrete timewarp over their own"]
    heads = [f"{name}, {units[name]}" if units[name] else name for name in units]
    rows = [["method", "seconds", "performance, %", *heads, "note"]]
    for row in (*tables["inputs"], *tables["blends"]):
        values = [row["seconds"], row["performance"], *(row["figures"][name] for name in units)]
        rows.append([row["method"], *(_number(value) for value in values), row["note"]])
    return [*lines, *_turned(rows)]


def _turned(rows: Sequence[Sequence[str]]) -> list[str]:
    """The table on its side, as there are more figures than methods, with notes on lines of their own."""
    sides = [list(column) for column in zip(*(row[:-1] for row in rows), strict=True)]
    notes = [f"  {row[0]}: {row[-1]}" for row in rows[1:] if row[-1]]
    return [*aligned([[*side, ""] for side in sides]), *notes]
