"""`marey samples`: write generated motion with known ground truth."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from marey.cli.files import check_replaced, is_overwriting, make_folder, overwrite_option, print_json
from marey.cli.shared_options import renamed_option
from marey.errors import InvalidValue, UnknownName, UnwritableFile, plural, similar
from marey.io.files import SAVE_SUFFIXES

if TYPE_CHECKING:
    from marey.samples import Sample

_TRUTH, _TRUTH_SUFFIX = "marey.sample_truth", ".truth.json"


@click.command("samples")
@click.argument("outdir", default="samples_out")
@click.option("--list", "listing", is_flag=True, help="List the samples with their parameters and exit.")
@click.option("-n", "--name", "names", multiple=True, help="Write only this sample. May be repeated.")
@click.option("--fps", type=float, default=60.0, show_default=True, help="Frames per second.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Random seed.")
@click.option(
    "--format",
    "suffix",
    type=click.Choice([suffix[1:] for suffix in SAVE_SUFFIXES]),
    default="bvh",
    show_default=True,
    help="File format.",
)
@click.option(
    "--param",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="Set a parameter of the samples given with --name. May be repeated.",
)
@click.option(
    "--library",
    "n_frames",
    type=click.IntRange(min=100),
    metavar="FRAMES",
    help="Write a library of this many frames instead: clips that are variations of a few performances. "
    "library.csv lists the performance that each clip varies.",
)
@click.option(
    "--truth", is_flag=True, help="Also write NAME.truth.json with gait phase, parameters (in radians) and targets."
)
@overwrite_option
@renamed_option("--force", "--overwrite", is_flag=True)
@click.option(
    "--json", "as_json", is_flag=True, help="Print the written samples (with --list: the available samples) as JSON."
)
def command(
    outdir: str,
    listing: bool,
    names: tuple[str, ...],
    fps: float,
    seed: int,
    suffix: str,
    settings: tuple[str, ...],
    n_frames: int | None,
    truth: bool,
    as_json: bool,
) -> None:
    """Write generated motion (CC0) to OUTDIR, by default samples_out, with exact contacts and labels in the sidecar.

    Angles are in degrees.

    \b
    Example:
      marey samples --list
      marey samples /tmp/samples
      marey samples -n walk --param speed=1.6 --param turn_rate=20 --seed 3 --format glb
      marey samples library/ --library 80000 --fps 30 --format npz
    """
    from marey.io import save
    from marey.io.files import SIDECAR_SUFFIX, write_bytes
    from marey.samples import sample, sample_names
    from marey.samples.catalog import entry

    if n_frames is not None:
        if names or settings or listing or truth:
            raise click.UsageError("--library cannot be combined with --name, --param, --truth or --list")
        _write_library(outdir, n_frames, fps, seed, suffix, as_json)
        return
    chosen = names or sample_names()
    for name in chosen:
        entry(name)  # raises an error for an unknown name before anything is written
    if listing:
        if as_json:
            print_json([_describe_sample(name) for name in chosen])
        else:
            click.echo(_format_list(chosen))
        return
    if settings and not names:
        raise InvalidValue("--param requires --name, because parameters differ between samples; see --list")
    given = {name: _parse_parameters(name, settings) for name in chosen}
    folder = make_folder(outdir)
    ends = {f".{suffix}": "marey.motion", SIDECAR_SUFFIX: "marey.sidecar"} | ({_TRUTH_SUFFIX: _TRUTH} if truth else {})
    outputs = {folder / f"{name}{end}": form for name in chosen for end, form in ends.items()}
    for path, form in outputs.items():
        check_replaced(path, form)
    for path in outputs:
        path.unlink(missing_ok=True)
    samples = []
    for name in chosen:
        one = sample(name, rng=seed, fps=fps, **given[name])
        path = folder / f"{name}.{suffix}"
        save(one.motion, path)
        if truth:
            write_bytes(folder / f"{name}{_TRUTH_SUFFIX}", [json.dumps(_make_truth(one, seed)).encode()])
        facts = {**_facts(one), "parameters": _convert_to_degrees(name, one)}
        samples.append({"file": str(path), "frames": len(one.motion), "fps": fps, "seed": seed, **facts})
        if not as_json:
            labels = ", ".join(one.motion.labels.names)
            click.echo(f"{path}: {plural(len(one.motion), 'frame')} at {fps:g} Hz; {labels}")
    if as_json:
        print_json(samples)


def _write_library(outdir: str, n_frames: int, fps: float, seed: int, suffix: str, as_json: bool) -> None:
    """Write the clips of a library, and a table of the performance and the pace of each."""
    from marey.cli.progress import bar
    from marey.io import save
    from marey.io.files import write_bytes
    from marey.samples import sample_library

    folder = make_folder(outdir)
    if any(folder.iterdir()) and not is_overwriting():
        raise UnwritableFile("is not empty; use --overwrite to write into it", path=folder)
    lines, n_done = ["file,performance,pace,frames"], 0
    with bar("writing") as progress:
        for clip in sample_library(n_frames, rng=seed, fps=fps):
            path = folder / f"{clip.motion.name}.{suffix}"
            save(clip.motion, path)
            lines.append(f"{path.name},{clip.performance},{clip.pace:.9g},{len(clip.motion)}")
            n_done += len(clip.motion)
            if progress is not None:
                progress(n_done / n_frames)
    write_bytes(folder / "library.csv", ["\n".join([*lines, ""]).encode()])
    if as_json:
        print_json({"folder": str(folder), "clips": len(lines) - 1, "frames": n_done, "fps": fps, "seed": seed})
    else:
        click.echo(f"{folder}: {plural(len(lines) - 1, 'clip')}, {plural(n_done, 'frame')} at {fps:g} Hz")


def _parse_parameters(sample: str, settings: tuple[str, ...]) -> dict[str, Any]:
    """Parse the NAME=VALUE parameters of a sample. Angles are given in degrees and returned in radians."""
    from marey.samples.catalog import entry

    known = {parameter.name: parameter for parameter in entry(sample).parameters}
    values = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals:
            raise InvalidValue(f"--param expects NAME=VALUE, got {setting!r}")
        if name not in known:
            raise UnknownName(
                f"sample {sample!r} has no parameter {name!r}; it has {', '.join(known)}{similar(name, known)}"
            )
        values[name] = known[name].from_degrees(sample, text)
    return values


def _format_list(names: tuple[str, ...]) -> str:
    """Format the list of samples."""
    from marey.samples.catalog import entry

    lines = []
    for name in names:
        lines.append(f"{name}: {entry(name).what}")
        for parameter in (one.in_degrees() for one in entry(name).parameters):
            scope = (
                "|".join(parameter.choices) or f"{parameter.low:.4g} to {parameter.high:.4g} {parameter.unit}".rstrip()
            )
            default = parameter.default if parameter.choices else f"{parameter.default:.4g}"
            what = f"  {parameter.what}" if parameter.what else ""
            lines.append(f"    {parameter.name:<11} {default!s:>6}  ({scope}){what}")
    return "\n".join(lines)


def _describe_sample(name: str) -> dict[str, Any]:
    from marey.samples.catalog import entry

    parameters = []
    for one in (parameter.in_degrees() for parameter in entry(name).parameters):
        scope = {"choices": list(one.choices)} if one.choices else {"low": one.low, "high": one.high, "unit": one.unit}
        parameters.append({"name": one.name, "default": one.default, **scope, "what": one.what})
    return {"name": name, "what": entry(name).what, "parameters": parameters}


def _convert_to_degrees(name: str, one: Sample) -> dict[str, Any]:
    """Return the sample's parameters with angles in degrees."""
    from math import degrees

    from marey.samples.catalog import entry

    angles = {parameter.name for parameter in entry(name).parameters if parameter.unit.startswith("rad")}
    return {
        key: degrees(value) if key in angles and not isinstance(value, str) else value
        for key, value in one.parameters.items()
    }


def _facts(one: Sample) -> dict[str, Any]:
    """Return the parameters of a sample (SI units, radians) and its targets."""
    return {"parameters": dict(one.parameters), "targets": [target._asdict() for target in one.targets]}


def _make_truth(one: Sample, seed: int) -> dict[str, Any]:
    phase = [None if value != value else round(value, 6) for value in one.phase.tolist()]
    known = {"format": _TRUTH, "name": one.motion.name, "seed": seed, "fps": one.motion.fps}
    return {**known, **_facts(one), "phase_strides": phase}
