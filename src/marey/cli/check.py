"""`marey check`: find everything that is wrong or suspicious in capture files, and how to fix it."""

from __future__ import annotations

import math
import os
import shlex
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from marey.cli.derived_options import SettingsCommand, add_settings, name_option, read_settings, word_options
from marey.cli.files import is_overwriting, make_folder, overwrite_option, print_json
from marey.cli.shared_options import add_reading_options, take_reading_options
from marey.cli.tables import format_table
from marey.errors import MareyError, collect_warnings, format_list, plural
from marey.io.files import SAVE_SUFFIXES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from marey.check import CheckedFile, CheckSettings, Finding
    from marey.io import LoadSettings

# Bytes below which one process is faster than starting several.
_SMALL = 2**25
# Name of the folder for intermediate files of a chain of commands.
_BETWEEN = ".steps"
# Parameters that are frames, and their options.
_FRAMES = {"frame": "--at", "start": "--from", "stop": "--to"}


@click.command("check", cls=SettingsCommand)
@click.argument("paths", nargs=-1, required=True, metavar="FILE|FOLDER...")
@add_settings("marey.check.settings:CheckSettings")
@add_reading_options
@click.option("--full", is_flag=True, help="Explain each finding, and print the commands that fix a clip, in order.")
@click.option(
    "--fix", "fixed", metavar="FOLDER",
    help="Run the commands that --full prints, and write the fixed clips to FOLDER. The other clips are copied there.",
)  # fmt: skip
@overwrite_option
@click.option("--jobs", type=click.IntRange(1), help="Number of processes.  [default: all cores]")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON, a list with one object per clip.")
def command(
    paths: tuple[str, ...], full: bool, fixed: str | None, jobs: int | None, as_json: bool, **options: Any
) -> int:
    """Find everything that is wrong or suspicious in a capture, and the command that fixes it.

    Findings are broken frames, jumps, flips, frozen stretches, wrong frame rates, uncertain units and axes, bones that
    change length, a tilted floor, sliding feet, jitter, gaps in markers, and duplicate clips.

    The exit code is 1 if there are findings, and 2 if a file cannot be read. With --fix, only those findings count that
    remain in the fixed clips or that no command fixes.

    \b
    Example:
      marey check walk.bvh
      marey check captures/ --severity severe
      marey check captures/ --fix captures_fixed/
    """

    from marey.check import CheckSettings, check_files, plan_fixes
    from marey.check.files import list_clip_files
    from marey.cli.progress import bar
    from marey.store import run_on

    settings, how = read_settings(CheckSettings, options), take_reading_options(options)
    files = list_clip_files(paths)
    is_small = jobs is None and sum(os.path.getsize(file) for file in files if os.path.isfile(file)) < _SMALL
    with bar("checking") as progress:
        checked = check_files(
            files, reading=how, run=run_on(1 if is_small else jobs), progress=progress, settings=settings
        )
    outputs = {} if fixed is None else _name_fixed(checked, paths, fixed)
    if not as_json:
        _print_table(checked, paths, full)
    results: list[_FixedFile | None] = [None] * len(checked)
    with bar("fixing") if outputs else nullcontext() as progress:
        for k, (i, output) in enumerate(outputs.items(), start=1):
            fix = partial(_fix_file, settings=settings) if plan_fixes(checked[i].report) else _copy_file
            results[i] = fix(checked[i], output, how)
            if progress is not None:
                progress(k / len(outputs))
    if as_json:
        print_json([_to_json(file, paths, result) for file, result in zip(checked, results, strict=True)])
    elif fixed is not None:
        _print_fixed(checked, results, fixed)
    if any("unreadable" in file.report.kinds for file in checked):
        return 2
    is_left = (file.report if result is None else result.left for file, result in zip(checked, results, strict=True))
    return 1 if any(is_left) else 0


@dataclass(frozen=True, slots=True)
class _FixedFile:
    """Result of fixing a clip: the steps as commands, the file ("" if it failed), and what is still wrong.

    A clip that was copied has no steps.
    """

    steps: list[str]
    written: str
    left: list[str]


def _name_fixed(checked: tuple[CheckedFile, ...], paths: tuple[str, ...], fixed: str) -> dict[int, str]:
    """Return the file to write for each clip, by its index. Raise an error if one exists.

    If no clip of a file needs a fix, its first clip stands for the whole file.
    """
    from marey.check import plan_fixes
    from marey.errors import UnwritableFile

    target = Path(fixed)
    if target.suffix.lower() in SAVE_SUFFIXES or target.is_file():
        what = "is a file" if target.is_file() else "has the suffix of a file"
        raise UnwritableFile(f"{what}; choose a folder for the repaired clips", path=fixed)
    if any(Path(path).resolve() in (target.resolve(), *target.resolve().parents) for path in paths):
        raise UnwritableFile(
            "is inside the checked folder, which would then hold clips twice; choose a folder outside of it",
            path=fixed,
        )
    to_fix = {file.path for file in checked if plan_fixes(file.report)}
    outputs: dict[int, str] = {}
    for i, file in enumerate(checked):
        is_part = file.path in to_fix
        if "unreadable" in file.report.kinds or (not is_part and i and checked[i - 1].path == file.path):
            continue
        output = os.path.join(fixed, _name_inside(file, paths) if is_part else _split_path(file.path, paths)[1])
        if os.path.exists(output) and any(os.path.samefile(output, each.path) for each in checked):
            raise UnwritableFile("this is an input file; choose another folder", path=output)
        if os.path.exists(output) and not is_overwriting():
            raise UnwritableFile("already exists; choose another folder, or replace it with --overwrite", path=output)
        if output.casefold() in map(str.casefold, outputs.values()):  # one file on Windows and macOS
            raise UnwritableFile("two clips would have this name; check their folders one by one", path=output)
        outputs[i] = output
    if is_overwriting():
        from marey.io.sidecar import sidecar_path

        for output in filter(os.path.exists, outputs.values()):  # a sidecar describes the replaced clip
            sidecar_path(output).unlink(missing_ok=True)
    return outputs


def _copy_file(file: CheckedFile, output: str, how: LoadSettings) -> _FixedFile:
    """Copy a file that needs no fix, with its sidecar.

    A clip is saved instead if it is one of several, was read with options, or shares its sidecar with a fixed clip.
    """
    from marey.io import LoadSettings, load_motion, save
    from marey.io.files import read_bytes, write_bytes
    from marey.io.sidecar import sidecar_path

    try:
        make_folder(os.path.dirname(output))
        side = sidecar_path(file.path)
        copy = Path(output).with_name(side.name)
        if Path(output).name == Path(file.path).name and how == LoadSettings() and not copy.exists():
            if side.is_file():
                write_bytes(copy, [read_bytes(side)])
            write_bytes(output, [read_bytes(file.path)], replace=is_overwriting())
        else:
            with collect_warnings():  # they were reported as findings
                motion = load_motion(file.path, settings=LoadSettings(settings=how, clip=file.clip or how.clip))
            save(motion, output)
    except MareyError as error:
        return _FixedFile([], "", [error.word(name_option)])
    return _FixedFile([], output, [finding.kind.replace("_", " ") for finding in file.report])


def _fix_file(file: CheckedFile, output: str, how: LoadSettings, settings: CheckSettings) -> _FixedFile:
    """Fix a clip, write it, and check the result."""
    from marey.check import check, fix_findings, plan_fixes
    from marey.io import LoadSettings, load_motion, save

    steps = [" ".join([step.operation, *_word_step(step.options)]) for step in plan_fixes(file.report)]
    try:
        with collect_warnings():  # they were reported as findings
            motion = load_motion(file.path, settings=LoadSettings(settings=how, clip=file.clip or how.clip))
        motion = fix_findings(motion, file.report)
        make_folder(os.path.dirname(output))
        save(motion, output)
    except MareyError as error:
        return _FixedFile(steps, "", [error.word(name_option)])
    unfixed = [finding for finding in file.report if not finding.operation]
    kinds = (finding.kind.replace("_", " ") for finding in (*unfixed, *check(motion, settings=settings)))
    return _FixedFile(steps, output, list(dict.fromkeys(kinds)))


def _print_fixed(checked: tuple[CheckedFile, ...], results: list[_FixedFile | None], fixed: str) -> None:
    written = [result for result in results if result is not None and result.written]
    for file, result in zip(checked, results, strict=True):
        if result is not None and not result.written:
            click.echo(f"{file.label}: not {'fixed' if result.steps else 'copied'}: {result.left[0]}")
        elif result is not None and (result.steps or result.left):
            left = f"; still found: {', '.join(result.left)}" if result.left else ""
            click.echo(f"{file.label}: {', '.join(result.steps) or 'copied'}; wrote {result.written}{left}")
    n_fixed = sum(bool(result.steps) for result in written)
    copied = f"; {plural(len(written) - n_fixed, 'file')} without fixes copied" if len(written) > n_fixed else ""
    n_left = sum(bool(result.left) for result in written)
    left = f"; findings are left in {plural(n_left, 'clip')}" if n_left else ""
    click.echo(f"{fixed}: {plural(n_fixed, 'fixed clip')}{copied}{left}")


def _to_json(file: CheckedFile, paths: tuple[str, ...], result: _FixedFile | None) -> dict[str, Any]:
    out = file.to_dict()
    if result is not None:
        out["fixed"] = asdict(result)
    for row, finding in zip(out["findings"], file.report, strict=True):
        row["command"] = suggest_commands(finding, file.path, name_output(file.path, paths))
    return out


def _print_table(checked: tuple[CheckedFile, ...], paths: tuple[str, ...], full: bool) -> None:
    rows = [["file", "frames", "severity", "finding", "how bad", "fix"]]
    notes: list[list[str]] = [[]]
    for file in checked:
        for finding in file.report:
            whole = finding.stop - finding.start >= file.report.n_frames
            frames = "all" if whole else f"{finding.start}-{finding.stop - 1}"
            fix = suggest_command(finding) or word_options(finding.remedy)
            if finding.kind == "unreadable":
                frames, fix = "", word_options(finding.sentence)
            elif finding.kind == "file":
                fix = f"{word_options(finding.message)}; {fix}"
            kind = finding.kind.replace("_", " ")
            rows.append([file.label, frames, finding.severity, kind, format_value(finding), fix])
            notes.append([] if kind == "unreadable" else [word_options(finding.message) + describe_joints(finding)])
        notes[-1] += _word_fixes(chain_commands(file, name_output(file.path, paths))) if file.report else []
    if len(rows) > 1:
        for line, more in zip(format_table(rows, n_text=4), notes, strict=True):
            click.echo(line)
            for note in more if full else ():
                click.echo(f"      {note}")
    n_found, n_severe = sum(bool(file.report) for file in checked), sum(file.report.is_severe for file in checked)
    click.echo(
        f"{plural(len(checked), 'clip')}: no findings" if not n_found
        else f"{n_found} of {plural(len(checked), 'clip')} with findings, {n_severe} with severe ones"
    )  # fmt: skip


def _word_fixes(commands: list[str]) -> list[str]:
    if not commands:
        return []
    title = "run these commands in this order; each reads the file that the one before wrote:"
    return [title if len(commands) > 2 else "fix it:", *(f"  {command}" for command in commands)]


def name_output(path: str, paths: tuple[str, ...] = ()) -> str:
    """Return the path of a file's fixed copy, in a folder beside the given folder, so that motion sets do not read
    both.

    paths : the files and folders that were given. ``captures/a/walk.bvh`` becomes ``captures_fixed/a/walk.bvh``.
    """
    folder, inner = _split_path(path, paths)
    folder = os.path.normpath(folder or ".")
    if os.path.basename(folder) in ("", ".", ".."):
        folder = os.path.join(folder, os.pardir, os.path.basename(os.path.abspath(folder)))
    return os.path.join(os.path.normpath(f"{folder}_fixed"), inner)


def _split_path(path: str, paths: tuple[str, ...]) -> tuple[str, str]:
    """Return the folder that contains a file, and the name of its fixed copy relative to this folder.

    The folder is the one of `paths` that contains the file; for a file that was given itself, its own folder.
    """
    folder = next((each for each in paths if os.path.isdir(each) and path.startswith(os.path.join(each, ""))), "")
    folder = folder or os.path.dirname(path)
    inner, suffix = os.path.splitext(os.path.relpath(path, folder or "."))
    return folder, inner + (suffix if suffix.lower() in SAVE_SUFFIXES else ".bvh")


def _name_inside(file: CheckedFile, paths: tuple[str, ...]) -> str:
    """Return the name of a clip's fixed copy relative to its folder."""
    base, suffix = os.path.splitext(_split_path(file.path, paths)[1])
    return base + (f"_{file.clip.replace(os.sep, '_')}" if file.clip else "") + suffix


def chain_commands(file: CheckedFile, output: str = "") -> list[str]:
    """Return the commands that fix all findings of a clip, in order; each reads the file that the one before wrote.

    output : the last file; by default that of `name_output`. The first command creates its folder, with a hidden folder
        for intermediate files, which motion sets do not read.
    """
    from marey.check import plan_fixes

    steps = plan_fixes(file.report)
    if not steps:
        return []
    folder, name = os.path.split(output or name_output(file.path))
    base, suffix = os.path.splitext(name)
    base += f"_{file.clip.replace(os.sep, '_')}" if file.clip else ""
    between = os.path.join(folder, _BETWEEN)
    numbered = [os.path.join(between, f"{base}_{k}{suffix}") for k in range(1, len(steps))]
    files = [file.path, *numbered, os.path.join(folder, base + suffix)]
    commands = [_word_command(step.operation, step.options, files[k], files[k + 1]) for k, step in enumerate(steps)]
    if file.clip:
        commands[0] += f" --clip {shlex.quote(file.clip)}"
    return [shlex.join(["mkdir", "-p", between if numbered else folder]), *commands]


def describe_finding(finding: dict[str, Any], n_frames: int) -> str:
    """Describe a finding, as plain data, in one line."""
    whole = finding["stop"] - finding["start"] >= n_frames
    where = "" if whole else f"frames {finding['start']}-{finding['stop'] - 1}: "
    by = f" (marey {finding['operation']})" if finding["operation"] else ""
    return word_options(f"{where}{finding['message']}; {finding['remedy']}{by}")


def describe_joints(finding: Finding) -> str:
    """Return the joints of a finding in parentheses; "" if there are none, or if the sentence names the only one."""
    if not finding.joints or finding.joints[0] in finding.message:
        return ""
    return f" ({format_list(finding.joints, 4)})"


def format_value(finding: Finding) -> str:
    """Format the size of a finding; "" if it has none."""
    value = finding.value
    formats = {
        "m": f"{1e3 * value:.0f} mm" if abs(value) < 1.0 else f"{value:.2f} m", "m/s": f"{value:.0f} m/s",
        "rad": f"{math.degrees(value):.{int(value < 1.0)}f} degrees", "s": f"{value:.2f} s", "1/s": f"{value:g} Hz",
        "fraction": f"{value:.0%}",
    }  # fmt: skip
    if finding.unit in formats:
        return formats[finding.unit] if value or finding.unit != "m" else ""
    return plural(round(value), "time") if finding.kind == "loose_joints" else ""


def suggest_command(finding: Finding, path: str = "IN", output: str = "OUT") -> str:
    """Return the command that fixes a finding; "" if there is none."""
    return _word_command(finding.operation, finding.options, path, output) if finding.operation else ""


def suggest_commands(finding: Finding, path: str, output: str = "") -> str:
    """Return a shell command that creates the output folder, then fixes a finding; "" if there is none."""
    output = output or name_output(path)
    command = suggest_command(finding, path, output)
    return f"{shlex.join(['mkdir', '-p', os.path.dirname(output)])} && {command}" if command else ""


def _word_command(operation: str, options: Mapping[str, Any], source: str, output: str) -> str:
    return shlex.join(["marey", *operation.split(), source, output, *_word_step(options)])


def _word_step(options: Mapping[str, Any]) -> list[str]:
    """Return the options of a step as the command line writes them."""
    words: list[str] = []
    for name, value in options.items():
        if value is True:
            words.append(name_option(name))
        elif name in _FRAMES:
            words += [_FRAMES[name], f"{value}f"]
        else:
            words += [name_option(name), f"{value:g}"]
    return words
