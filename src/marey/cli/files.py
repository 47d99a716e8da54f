"""Helpers for commands that read and write files."""

from __future__ import annotations

import filecmp
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from marey.errors import MareyError, ParseError, UnwritableFile, plural

if TYPE_CHECKING:
    from marey.core.motion import Motion


R = TypeVar("R", bound=Mapping[str, Any])
# The arguments and options of all commands that name a file or folder to write, and the format of the file if it is
# always the same. All others may name inputs.
OUTPUTS = {
    **dict.fromkeys(("output", "--output", "--plot", "--plot-graph", "--plot-threshold", "--csv", "--report", "--cut")),
    "--npz": "marey.grid",
    "--save-map": "marey.retarget",
    "--save-registration": "marey.registration",
}
# Where the value of --overwrite is stored while a command runs.
_OVERWRITE = f"{__name__}.overwrite"

_REPORT, REPORT_FORMAT = "report.json", "marey.report"


def check_output(
    output: str,
    *,
    form: str = "marey.motion",
    suffixes: tuple[str, ...] = (),
    remedy: str = "choose another name",
) -> None:
    """Raise an error if the output cannot be written, before any work is done.

    It must not be an input of the running command: a file named by an argument or option, a clip in a
    folder named by one, the sidecar of such a file, the skeleton of an AMC file, or a space of a character. It must
    not be a motion's sidecar, and no two outputs may share a name. An existing file is replaced only if marey wrote it;
    see `check_replaced`.

    Parameters
    ----------
    output : the file to write.
    form : its format, if it is a .json or .npz file.
    suffixes : the suffixes that it may have; any by default.
    remedy : what to do if it would overwrite an input.
    """
    from marey.io.files import SIDECAR_SUFFIX, check_file_name

    inputs, formats = _list_named_files()
    outputs = [name for name, _ in formats]
    for name in dict.fromkeys([output, *outputs]):
        target = Path(name)
        if target.exists() and any(_is_input(target, path) for path in inputs):
            raise UnwritableFile(f"this is an input file; {remedy}", path=name)
        if target.name and outputs.count(name) > 1:
            raise UnwritableFile("two outputs have this name; choose another name", path=name)
    if output.endswith(SIDECAR_SUFFIX):
        raise UnwritableFile("this is the name of a motion's sidecar; choose another name", path=output)
    if suffixes:
        from marey.io.archive import check_suffix
        from marey.io.file_kinds import KINDS

        check_suffix(output, suffixes, KINDS[form])
    check_file_name(output)
    target = Path(output)
    if not target.parent.is_dir():
        raise UnwritableFile(f"the folder {str(target.parent)!r} does not exist; create it first", path=output)
    for name, fixed in {output: form, **{name: fixed for name, fixed in formats if fixed}}.items():
        check_replaced(name, fixed)


def check_replaced(path: str | os.PathLike[str], form: str = "marey.motion") -> None:
    """Raise an error if a file exists that marey did not write, unless --overwrite is given.

    form : the format to write. A .json or .npz file must have the same one, so that no result replaces one of another
        kind.
    """
    from marey.io.file_kinds import KINDS
    from marey.io.files import GENERATOR
    from marey.io.folder import own_format

    if not os.path.isfile(path) or not os.path.getsize(path) or is_overwriting():
        return
    found = own_format(path)
    if found in (GENERATOR, form):
        return
    what = f"is {KINDS[found]}" if found in KINDS else "exists, and marey did not write it"
    raise UnwritableFile(f"{what}; choose another name, or replace it with --overwrite", path=os.fspath(path))


class ReplaceGuard:
    """Checks the files that a command for folders would replace. A file with an edit that the new file lacks must stay.

    Otherwise, cleaning a folder into the folder of its repaired clips would undo their repair. A copy of the input may
    be replaced, even if another program wrote it.
    """

    def __init__(self) -> None:
        self._input = ""
        self._steps: tuple[str, ...] = ()

    def remember(self, motion: Motion) -> Motion:
        """Store the file of the motion to write and the steps by which it was made, and return it."""
        self._input = motion.source.path
        self._steps = tuple(str(step.get("op")) for step in motion.source.provenance)
        return motion

    def check(self, path: Path) -> None:
        """Raise an error if the file must stay; see `check_replaced`."""
        from marey.errors import collect_warnings
        from marey.io import load_motion

        is_copy = path.is_file() and os.path.isfile(self._input) and filecmp.cmp(self._input, path, shallow=False)
        if not is_copy:
            check_replaced(path)
        if is_overwriting():
            return
        lost: list[str] = []
        with suppress(MareyError), collect_warnings():
            steps = load_motion(path, clip=0 if path.suffix.lower() == ".glb" else None).source.provenance
            lost = [op for step in steps if (op := str(step.get("op"))) not in self._steps]
        if lost:
            raise UnwritableFile(
                f"a file with this name has edits that would be lost ({', '.join(dict.fromkeys(lost))}); choose "
                "another folder, or replace it with --overwrite",
                path=path,
            )


def is_overwriting() -> bool:
    """Return whether the running command has the option --overwrite."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(_OVERWRITE))


def add_overwrite(command: click.Command) -> None:
    """Add the option --overwrite to a command with outputs, or to those of a group."""
    if isinstance(command, click.Group):
        for each in command.commands.values():
            add_overwrite(each)
    names = {name for param in command.params for name in (param.name, *param.opts)}
    if not names.isdisjoint(OUTPUTS) and "overwrite" not in names:
        overwrite_option(command)


def overwrite_option(command: Any) -> Any:
    """Add the option --overwrite, which `check_replaced` obeys."""

    def remember(context: click.Context, option: click.Parameter, given: bool) -> None:
        context.meta[_OVERWRITE] = given

    return click.option(
        "--overwrite", is_flag=True, expose_value=False, callback=remember,
        help="Replace existing files, whatever they hold, except inputs. Without it, only those that marey wrote.",
    )(command)  # fmt: skip


def _list_named_files() -> tuple[list[str], list[tuple[str, str | None]]]:
    """Return the existing files and folders that the running command line names, except outputs; and its outputs,
    each with its format, or None if the format can vary."""
    context = click.get_current_context(silent=True)
    inputs: list[str] = []
    outputs: list[tuple[str, str | None]] = []
    for param in context.command.get_params(context) if context is not None else ():
        values = context.params.get(str(param.name)) if context is not None else None
        declared = [name for name in (param.name, *param.opts) if name in OUTPUTS]
        names = list(_texts(values))
        if declared:
            outputs += [(name, OUTPUTS[declared[0]]) for name in names]
        else:
            inputs += [name for name in names if os.path.exists(name)]
    return inputs, outputs


def _texts(value: Any) -> Iterator[str]:
    """Yield all nonempty texts in the value of an option: itself, or those in tuples such as (name, file, options)."""
    if isinstance(value, str) and value:
        yield value
    elif isinstance(value, tuple | list):
        for each in value:
            yield from _texts(each)


def _is_input(target: Path, path: str) -> bool:
    """Return whether an existing file is the input `path`, belongs to it, or is a clip in the folder `path`."""
    from marey.io.files import MARKER_SUFFIXES, MOTION_SUFFIXES, SIDECAR_SUFFIX

    given = Path(path)
    if not given.exists():
        return False
    if given.is_dir():
        if target.suffix.lower() not in (*MOTION_SUFFIXES, *MARKER_SUFFIXES) or not target.is_file():
            return False
        from marey.io.folder import describe_other

        is_inside = given.resolve() in target.resolve().parents
        return is_inside and describe_other(target) is None
    files = [given, given.with_suffix(SIDECAR_SUFFIX), Path(f"{given}{SIDECAR_SUFFIX}")]
    if given.suffix.lower() == ".json":
        from marey.pmg.node_files import iterate_node_files

        files += [given.with_name(name) for name, _ in iterate_node_files(given)]
    if given.suffix.lower() == ".amc":
        from marey.io.amc import find_asf

        with suppress(MareyError):
            files.append(find_asf(given))
    return any(file.exists() and file.samefile(target) for file in files)


def check_plot(output: str | None) -> None:
    """Raise an error if a plot cannot be drawn or written, before any work is done. None means no plot."""
    if output is not None:
        import marey.plot  # noqa: F401  # raises an error if matplotlib is missing
        from marey.plot.style import check_suffix

        check_output(output)
        check_suffix(output)


def make_plot_folder(folder: str | None) -> Path | None:
    """Create the folder for plots and the report if it does not exist. None means no plots."""
    if folder is None:
        return None
    import marey.plot  # noqa: F401  # raises an error if matplotlib is missing

    path = make_folder(folder)
    check_output(str(path / _REPORT), form=REPORT_FORMAT)
    for picture in sorted(path.glob("*.png")):
        check_replaced(picture, "")
    return path


def make_folder(folder: str | Path) -> Path:
    """Create a folder if it does not exist."""
    path = Path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = str(error.strerror or error).lower()
        raise UnwritableFile(f"cannot create the folder ({reason})", path=str(folder)) from None
    return path


def write_report(report: Mapping[str, Any], folder: Path) -> None:
    """Write `report.json` to the folder."""
    import json

    from marey.io.files import write_bytes

    content = {"format": REPORT_FORMAT, **_replace_nonfinite(report)}
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    write_bytes(folder / _REPORT, [text.encode("utf-8")])


def print_json(report: Any) -> None:
    """Print a report as JSON. Numbers that are not finite, which JSON cannot express, become null."""
    import json

    click.echo(json.dumps(_replace_nonfinite(report), indent=1, ensure_ascii=False))


def print_report(report: R, as_json: bool, describe: Callable[[R], str]) -> None:
    """Print a report as JSON, or as text formatted by `describe`, followed by the names of its plots."""
    if as_json:
        print_json(report)
        return
    click.echo(describe(report))
    if "pictures" in report:
        click.echo(f"plots: {', '.join(report['pictures'])}")


def _replace_nonfinite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _replace_nonfinite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_replace_nonfinite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def report_each(
    files: tuple[str, ...],
    report: Callable[[str], dict[str, Any]],
    as_json: bool,
    show: Callable[[dict[str, Any]], str],
) -> tuple[list[dict[str, Any]], int]:
    """Print a report on each file, formatted by `show`, or all reports as JSON. Return them and the exit code.

    With several files, an error in one file is printed, the other files are processed, and the exit code is 2. With one
    file, the error is raised.
    """
    from marey.cli.derived_options import name_option

    results: list[dict[str, Any]] = []
    exit_code = 0
    for path in files:
        try:
            results.append(report(path))
            if not as_json:
                click.echo(show(results[-1]))
        except MareyError as error:
            if len(files) == 1:
                raise
            click.echo(f"marey: {error.word(name_option)}", err=True)
            exit_code = 2
    if as_json:
        print_json(results)
    return results, exit_code


def read_rows(path: str, n: int | None, what: str, *, least: int = 1) -> list[list[float]]:
    """Read rows of n numbers from a CSV file. The first line may be a header; lines that start with # are skipped.

    n : numbers per row; None to take it from the first row. what : what a row holds, for messages. least : minimum
        number of rows.
    """
    from marey.io.files import read_bytes

    rows: list[list[float]] = []
    for number, line in enumerate(read_bytes(path).decode("utf-8-sig", errors="replace").splitlines(), start=1):
        words = line.replace(";", ",").split(",")
        if not any(map(str.strip, words)) or line.lstrip().startswith("#"):
            continue
        try:
            values = [float(word) for word in words]
        except ValueError:
            if number == 1:
                continue
            raise ParseError(f"expected {what}, got {line.strip()!r}", path=path, line=number) from None
        n = len(values) if n is None else n
        if len(values) != n:
            raise ParseError(f"expected {what}, got {plural(len(values), 'number')}", path=path, line=number)
        rows.append(values)
    if len(rows) < least:
        raise ParseError(f"expected at least {plural(least, 'line')} of {what}, got {len(rows)}", path=path)
    return rows


def warn_of_rate(path: str, motion: Motion, *, is_only: bool = True) -> None:
    """Warn if the strides are too fast for a person: the frame rate, and all times and speeds, are then wrong.

    is_only : whether the command reads no other file.
    """
    from marey.cli.derived_options import word_options
    from marey.measure.gait import rate_finding

    finding = rate_finding(motion)
    if finding is not None:
        click.echo(f"marey: warning: {path}: {word_options(finding, is_only=is_only)}", err=True)


def check_crowd(output: str) -> None:
    """Raise an error unless a crowd can be written to `output`: a folder without BVH files, or one GLB file."""
    from marey.errors import UnwritableFile
    from marey.io.archive import check_suffix
    from marey.io.files import SAVE_SUFFIXES

    target = Path(output)
    if target.suffix.lower() in SAVE_SUFFIXES:
        check_suffix(output, ".glb", "a crowd in one file")
        check_output(output)
    elif target.exists() and not target.is_dir():
        raise UnwritableFile("is a file; a crowd is written to a folder or as one .glb", path=output)
    elif target.is_dir() and any(target.glob("*.bvh")) and not is_overwriting():
        raise UnwritableFile(
            "already contains .bvh files, which would be mixed up with those of the crowd; choose a new folder, or use "
            "--overwrite",
            path=output,
        )


def save_crowd(motions: Sequence[Motion], output: str, *, rigid: bool = False) -> None:
    """Write motions to a folder, one BVH file each by name, or all of them to one GLB file."""
    from marey.io import save

    target = Path(output)
    if target.suffix.lower() == ".glb":
        from dataclasses import replace

        from marey.core import Labels

        save([replace(each, contacts=None, labels=Labels()) for each in motions], output, rigid=rigid)
        return
    make_folder(target)
    for motion in motions:
        save(motion, target / f"{motion.name}.bvh", rigid=rigid)
