"""`marey library`: index the clips in a folder, and list and search them."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from marey.cli.files import plural, print_json
from marey.cli.settings import SettingsCommand, add_settings, read_settings
from marey.cli.tables import format_table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from marey.store import ClipSummary

# Bytes of a folder below which one process is faster than starting several.
_SMALL = 2**25


class _Library(click.Group):
    """A group whose first argument may be a folder: `marey library takes/` is `marey library stats takes/`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            args = ["stats", *args]
        return super().parse_args(ctx, args)


@click.group("library", cls=_Library)
def command() -> None:
    """Index the clips in a folder of any size, then list and search them without reading them again.

    The index is stored in the folder, in .marey-cache. Only new and changed files are read the next time, and an
    interrupted scan continues where it stopped.

    \b
    Example:
      marey library takes/
      marey library list takes/ --label walk --min-speed 1 --order duration
      marey library search takes/ kick left
    """


def _scanning(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the arguments that all subcommands share."""
    options = [
        click.argument("folder", metavar="FOLDER"),
        click.option("--pattern", default="*", show_default=True, help='Files to use, such as "*.bvh" or "walks/*".'),
        click.option("--labels", multiple=True, help='Source of the labels: sidecar, folders, or a CSV file.  '
                     "[default: sidecar]"),
        click.option("--cache", metavar="FOLDER", help="Folder of the index.  [default: .marey-cache in FOLDER]"),
        click.option("--jobs", type=click.IntRange(1), help="Number of processes.  [default: all cores]"),
        click.option("--json", "as_json", is_flag=True, help="Print the result as JSON."),
    ]  # fmt: skip
    for option in reversed(options):
        function = option(function)
    return function


def _scan(options: dict[str, Any]) -> tuple[ClipSummary, ...]:
    import os

    from marey.cli.progress import bar
    from marey.store import MotionSet, run_on

    folder, jobs = options.pop("folder"), options.pop("jobs")
    given = {name: options.pop(name) for name in ("pattern", "cache")}
    labels = list(options.pop("labels")) or "sidecar"
    clips = MotionSet.open(folder, labels=labels, **given)
    n_bytes = sum(os.path.getsize(clips.folder / file) for file in clips.files if os.path.isfile(clips.folder / file))
    with bar("reading") as progress:
        return clips.summarize(run=run_on(1 if jobs is None and n_bytes < _SMALL else jobs), progress=progress)


@command.command("stats", short_help="Index a folder and show what it contains.")
@_scanning
def stats(as_json: bool, **options: Any) -> None:
    """Index the clips in FOLDER and show what they contain. `marey library FOLDER` does the same.

    \b
    Example:
      marey library takes/
    """

    clips = _scan(options)
    numbers = count_clips(clips)
    if as_json:
        print_json(numbers)
        return
    click.echo(
        f"{plural(numbers['clips'], 'clip')}, {plural(numbers['frames'], 'frame')}, {_format_time(numbers['seconds'])}"
    )
    for title, key in (
        ("formats", "formats"),
        ("rates", "rates"),
        ("skeletons", "skeletons"),
        ("findings", "findings"),
    ):
        if numbers[key]:
            click.echo(f"  {title:<10}{', '.join(f'{n} {name}' for name, n in numbers[key].items())}")
    if numbers["labels"]:
        times = ", ".join(f"{name} {_format_time(seconds)}" for name, seconds in numbers["labels"].items())
        click.echo(f"  {'labels':<10}{times}")
    if numbers["findings"]:
        click.echo("run `marey check` on the folder to see the findings and how to fix them")


@command.command("list", cls=SettingsCommand, short_help="List the clips of a folder.")
@_scanning
@add_settings("marey.store.summary:ClipSearchSettings", skip=("words",))
def list_clips(as_json: bool, **options: Any) -> int:
    """List the clips in FOLDER, or those that the options choose.

    The exit code is 1 if there are none.

    \b
    Example:
      marey library list takes/ --min-speed 2 --order speed
      marey library list takes/ --finding none --json
    """
    return _list(options, "", None, as_json)


@command.command("search", cls=SettingsCommand, short_help="Find clips by words.")
@_scanning
@click.argument("words", nargs=-1, required=True, metavar="WORD...")
@click.option("--descriptions", metavar="CSV", help="A CSV file with the columns file and description.")
@add_settings("marey.store.summary:ClipSearchSettings", skip=("words",))
def search(words: tuple[str, ...], descriptions: str | None, as_json: bool, **options: Any) -> int:
    """Find the clips in FOLDER whose name, labels or description contain each WORD.

    The exit code is 1 if there are none.

    \b
    Example:
      marey library search takes/ walk
      marey library search takes/ kick --descriptions takes.csv --max-duration 5
    """
    return _list(options, " ".join(words), descriptions, as_json)


def _list(options: dict[str, Any], words: str, descriptions: str | None, as_json: bool) -> int:

    from marey.store import ClipSearchSettings, read_descriptions, search_clips

    settings = read_settings(ClipSearchSettings, options, words=words)
    texts = {} if descriptions is None else read_descriptions(descriptions)
    clips = _scan(options)
    found = search_clips(clips, texts, settings=settings)
    if as_json:
        print_json([clip.to_dict() for clip in found])
        return 0 if found else 1
    rows = [["clip", "seconds", "Hz", "m/s", "m", "turn", "labels", "findings"]]
    for clip in found:
        rows.append(
            [
                clip.file if clip.name in clip.file else clip.name,
                *(f"{clip.duration:.2f}", f"{clip.fps:.5g}", f"{clip.speed:.2f}", f"{clip.distance:.1f}"),
                *(f"{math.degrees(clip.turn):.0f}°", ", ".join(clip.labels)),
                ", ".join(kind.replace("_", " ") for kind in clip.report.kinds),
            ]
        )
    if found:
        for line in format_table(rows, n_text=2):
            click.echo(line)
    total = _format_time(sum(clip.duration for clip in found))
    click.echo(f"{len(found)} of {plural(len(clips), 'clip')}" + (f", {total}" if found else ""))
    return 0 if found else 1


def count_clips(clips: Sequence[ClipSummary]) -> dict[str, Any]:
    """Return totals over clips: numbers of clips and frames, seconds, and counts by format, rate, skeleton, finding."""
    skeletons = Counter(clip.skeleton for clip in clips)
    joints = {clip.skeleton: clip.n_joints for clip in clips}
    named = [(f"of {joints[key]} joints", n) for key, n in skeletons.most_common(6)]
    labels: Counter[str] = Counter()
    for clip in clips:
        labels.update(clip.labels)
    findings = Counter(kind.replace("_", " ") for clip in clips for kind in clip.report.kinds)
    groups: Counter[str] = Counter()
    for name, n in named:
        groups[name] += n
    return {
        "clips": len(clips),
        "frames": sum(clip.n_frames for clip in clips),
        "seconds": sum(clip.duration for clip in clips),
        "formats": dict(Counter(clip.format.upper() for clip in clips).most_common()),
        "rates": {f"at {rate:.5g} Hz": n for rate, n in Counter(clip.fps for clip in clips).most_common()},
        "skeletons": {f"with {len(skeletons)} different skeletons": len(clips)} if len(skeletons) > 6 else dict(groups),
        "labels": dict(labels.most_common(12)),
        "findings": dict(findings.most_common()),
    }


def _format_time(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.1f} min" if seconds < 7200 else f"{seconds / 3600:.2f} h"
