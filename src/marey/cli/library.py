"""`marey library`: index the clips in a folder, and list and search them."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from marey.cli.derived_options import SettingsCommand, add_settings, read_settings
from marey.cli.files import print_json
from marey.cli.shared_options import markers_option
from marey.cli.tables import format_table
from marey.cli.values import Moment
from marey.errors import plural

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from marey.store import ClipSummary, MotionSet

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
      marey library search takes/ --like take1 --from 8.0 --to 9.5
    """


def _add_scanning_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the arguments that all subcommands share."""
    options = [
        click.argument("folder", metavar="FOLDER"),
        click.option("--pattern", default="*", show_default=True, help='Files to use, such as "*.bvh" or "walks/*".'),
        click.option("--labels", multiple=True, help='Source of the labels: sidecar, folders, or a CSV file.  '
                     "[default: sidecar]"),
        click.option("--cache", metavar="FOLDER", help="Folder of the index.  [default: .marey-cache in FOLDER]"),
        click.option("--jobs", type=click.IntRange(1), help="Number of processes.  [default: all cores]"),
        click.option("--cluster", metavar="ADDRESS",
                     help="Read files on a Dask cluster whose workers have access to FOLDER under the same path: the "
                     "address of its scheduler."),
        click.option("--json", "as_json", is_flag=True, help="Print the result as JSON."),
    ]  # fmt: skip
    for option in reversed(options):
        function = option(function)
    return function


def _scan(options: dict[str, Any]) -> tuple[ClipSummary, ...]:
    from marey.cli.progress import bar

    clips = open_folder(options)
    with bar("reading") as progress:
        return clips.summarize(run=choose_run(clips, options), progress=progress)


def choose_run(clips: MotionSet, options: dict[str, Any]) -> Callable[..., Any]:
    """Return the runner that reads the files, and remove the options that choose it."""
    from marey.store import cluster, run_on

    jobs, address = options.pop("jobs"), options.pop("cluster")
    if address is not None:
        return cluster(address)
    return run_on(1 if jobs is None and is_small(clips) else jobs)


def open_folder(options: dict[str, Any]) -> MotionSet:
    """Open the folder of a command as a motion set, and remove the options that describe it."""
    from marey.store import MotionSet

    given = {name: options.pop(name) for name in ("pattern", "cache")}
    return MotionSet.open(options.pop("folder"), labels=list(options.pop("labels")) or "sidecar", **given)


def is_small(clips: MotionSet) -> bool:
    """Return whether the files are so small that one process reads them faster than several."""
    import os

    paths = [clips.folder / file for file in clips.files]
    return sum(os.path.getsize(path) for path in paths if os.path.isfile(path)) < _SMALL


@command.command("stats", short_help="Index a folder and show what it contains.")
@_add_scanning_options
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
@_add_scanning_options
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


@command.command("search", cls=SettingsCommand, short_help="Find clips by words, and motion by example.")
@_add_scanning_options
@click.argument("words", nargs=-1, metavar="[WORD...]")
@click.option("--descriptions", metavar="CSV", help="A CSV file with the columns file and description.")
@click.option("--like", metavar="CLIP|FILE", help="Find motion like this clip of FOLDER, or like another file.")
@click.option("--from", "begin", type=Moment(), help="--like: start of the example, in seconds (1.2) or frames (36f).")
@click.option("--to", "end", type=Moment(), help="--like: end of the example, exclusive.")
@click.option("--at", "moment", type=Moment(), help="--like: find the pose at this time, instead of motion.")
@click.option("--path", "path_file", metavar="FILE",
              help="Find travel along a path: CSV lines x,z in meters, or an SVG drawing.")  # fmt: skip
@click.option("--length", type=float, help="--path: scale the path to this length in meters; required for drawings.")
@click.option("--threshold", type=click.FloatRange(min=0, min_open=True), default=0.1, show_default=True,
              metavar="METERS", help="--like: maximum distance of a match.")  # fmt: skip
@click.option("--max-matches", type=click.IntRange(1), help="Maximum number of matches.  [default: 500; 20 for --at "
              "and --path]")  # fmt: skip
@click.option("--max-tiers", type=click.IntRange(1), default=1, show_default=True,
              help="--like: 1 finds matches of the example, 2 also matches of these, and so on.")  # fmt: skip
@click.option("--cut", "cut_folder", metavar="DIR", help="--like: write each match as a BVH file to a new folder.")
@add_settings("marey.find.settings:IndexSettings", skip=("markers",), prefix="")
@markers_option()
@add_settings("marey.store.summary:ClipSearchSettings", skip=("words",))
def search(words: tuple[str, ...], descriptions: str | None, as_json: bool, **options: Any) -> int:
    """Find clips in FOLDER, or motion in them.

    WORDs select the clips whose name, labels or description contain all of them. --like and --path find motion
    in the clips that the words and the other options select, by default in all. Clips with different skeletons
    can be compared; bodies of different sizes are scaled to one height. The exit code is 1 if nothing is found.

    \b
    Example:
      marey library search takes/ walk
      marey library search takes/ kick --descriptions takes.csv --max-duration 5
      marey library search takes/ --like take1 --from 8.0 --to 9.5 --threshold 0.08
      marey library search takes/ --like my_kick.bvh --max-tiers 4 --cut kicks/
      marey library search takes/ --like take1 --at 8.6
      marey library search takes/ --path curve.csv
    """
    query = {name: options.pop(name) for name in _QUERY}
    if query["like"] is not None and query["path_file"] is not None:
        raise click.UsageError("give either --like or --path, not both")
    for name in ("begin", "end", "moment", "cut_folder"):
        if query["like"] is None and query[name] is not None:
            raise click.UsageError(f"{_OPTIONS[name]} needs an example; name it with --like")
    if query["path_file"] is None and query["length"] is not None:
        raise click.UsageError("--length needs a path; name its file with --path")
    if query["like"] is None and query["path_file"] is None:
        if not words:
            raise click.UsageError("give words to search for, an example with --like, or a path with --path")
        for name in ("markers", "remove_height", "window", "max_distance"):
            options.pop(name, None)
        return _list(options, " ".join(words), descriptions, as_json)
    from marey.cli.library_search import search_motion

    clips = open_folder(options)
    options["words"] = " ".join(words)
    return search_motion(clips, query, options, descriptions, as_json)


_QUERY = (
    "like",
    "begin",
    "end",
    "moment",
    "path_file",
    "length",
    "threshold",
    "max_matches",
    "max_tiers",
    "cut_folder",
)


# Options that belong to --like.
_OPTIONS = {"begin": "--from", "end": "--to", "moment": "--at", "cut_folder": "--cut"}


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
