"""`marey find`: build a match web from a folder of clips, and search it for motions similar to an example."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from marey.cli.derived_options import SettingsCommand, add_settings, read_settings, word_options
from marey.cli.files import check_output, check_plot, is_overwriting, make_folder, print_json
from marey.cli.query import (
    AS_JSON,
    DROP,
    LABELS,
    OVERLAPS,
    NegativeNumbersCommand,
    Query,
    list_dropped_matches,
    make_query,
    read_search,
    search_web,
)
from marey.cli.shared_options import build_options, markers_option, read_clip_set, renamed_option
from marey.cli.values import Moment
from marey.errors import UnwritableFile, plural
from marey.io.files import SAVE_SUFFIXES

if TYPE_CHECKING:
    from marey.find import MatchWeb
    from marey.find.result import MatchResult
    from marey.find.suggest import Suggestion


_LISTED = 40  # matches in the text report; --json lists all


@click.group("find")
def command() -> None:
    """Find all motions similar to an example, such as every kick in hours of recordings.

    \b
    Example:
      marey find build clips/ -o web.npz
      marey find search web.npz take1 8.0 9.9 --suggest
      marey find search web.npz take1 8.0 9.9 --threshold 0.08 --plot kicks.png --cut kicks/
    """


@command.command("build", cls=SettingsCommand, short_help="Build a match web from clips.")
@click.option("-o", "--output", required=True, metavar="WEB", help="The match web to write, an .npz file.")
@markers_option()
@add_settings("marey.find.settings:WebSettings")
@renamed_option("--limit", "--max-distance", type=float)
@click.option("--label", "only", multiple=True, help="Use only frames with this label. May be repeated.")
@build_options
@AS_JSON
def build(files: tuple[str, ...], output: str, only: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Build a match web from clips: files, and folders with their subfolders.

    \b
    Example:
      marey find build clips/ -o web.npz
      marey find build clips/ -o reaches.npz --markers upper --remove-height --label reaching
    """
    from marey.cli.progress import bar
    from marey.find import MatchWeb, WebSettings

    check_output(output, form="marey.web", suffixes=(".npz",))
    settings = read_settings(WebSettings, options, markers=options["markers"], labels=only or None)
    address = options["cluster"]
    clips, run = read_clip_set(files, options, output)
    runner = _RecordingRunner(run)
    with bar("comparing") as progress:
        web = MatchWeb.build(clips, run=runner, cache=clips.cache, progress=progress, settings=settings)
    if address is not None and not runner.has_work:
        click.echo(f"marey: everything was cached, so the cluster at {address} was not used", err=True)
    web.save(output)
    _print_web(web, as_json, written=output)


class _RecordingRunner:
    """A runner that records whether it got any work."""

    def __init__(self, run: Callable[..., Any]) -> None:
        self.run, self.has_work = run, False

    def __call__(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Any:
        """Call the wrapped runner."""
        wanted = list(items)
        self.has_work = self.has_work or bool(wanted)
        return self.run(function, wanted)


@command.command("info", short_help="Show what is in a match web.")
@click.argument("file", metavar="WEB")
@AS_JSON
def info(file: str, as_json: bool) -> None:
    """Show what is in a match web: clips, labels, comparison settings and size.

    \b
    Example:
      marey find info web.npz
    """
    from marey.find import MatchWeb

    _print_web(MatchWeb.load(file), as_json)


@command.command("search", cls=NegativeNumbersCommand, short_help="Find motions similar to a part of a clip.")
@click.argument("file", metavar="WEB")
@click.argument("clip")
@click.argument("start", type=Moment(), required=False)
@click.argument("stop", type=Moment(), required=False)
@click.option(
    "--threshold", type=float, metavar="METERS", help="Maximum distance of a match.  [no default; see --suggest]"
)
@click.option("--suggest", is_flag=True, help="Show how many matches each threshold finds, and suggest one.")
@LABELS
@DROP
@OVERLAPS
@add_settings("marey.find.settings:SearchSettings")
@renamed_option("--most", "--max-matches", type=int)
@renamed_option("--tiers", "--max-tiers", type=int)
@click.option(
    "--cut",
    "folder",
    metavar="DIR",
    help="Write each match as a separate file to a new folder, at the frame rate of the clip's own file.",
)
@click.option("--format", "suffix", type=click.Choice([suffix[1:] for suffix in SAVE_SUFFIXES]), default="bvh",
              show_default=True, help="--cut: file format.")  # fmt: skip
@click.option("--plot", "picture", metavar="OUT", help="Plot the matches as rows of poses: PNG or SVG.")
@click.option("--rows", type=int, default=12, show_default=True, help="--plot: maximum number of matches.")
@click.option("--plot-graph", "graph_picture", metavar="OUT", help="Plot the match graph.")
@click.option(
    "--plot-threshold", "threshold_picture", metavar="OUT", help="Plot the number of matches against the threshold."
)
@AS_JSON
def search(
    file: str,
    clip: str,
    start: float | int | None,
    stop: float | int | None,
    threshold: float | None,
    suggest: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """Find motions similar to CLIP from START to STOP, in seconds (1.2) or frames (36f).

    CLIP is the name or number of a clip of the match web, or another file. For a file, START and STOP are optional.
    Frames of a clip are counted at the match web's frame rate (see `marey find info`), frames of a file at the file's
    own rate. Without --threshold, the command prints suggested thresholds and exits with code 2.

    \b
    Example:
      marey find search web.npz take1 8.0 9.9 --suggest
      marey find search web.npz take1 8.0 9.9 --threshold 0.08 --plot kicks.png --cut kicks/
      marey find search web.npz my_kick.bvh --threshold 0.1 --json
    """
    from marey.find import MatchWeb

    outputs = [options[name] for name in ("picture", "graph_picture", "threshold_picture") if options[name]]
    _check_outputs(outputs, options["folder"])
    web = MatchWeb.load(file)
    query = make_query(web, clip, start, stop)
    if suggest or threshold is None:
        if options["folder"] or options["picture"] or options["graph_picture"]:
            raise click.UsageError("--cut, --plot and --plot-graph require --threshold; --suggest proposes one")
        suggestion = _suggest(web, query, options)
        _print_suggestion(suggestion, as_json, _draw_thresholds(suggestion, options, None))
        if suggest:
            return 0
        click.echo("marey: no --threshold given, so nothing was searched; choose one of these", err=True)
        return 2
    found = search_web(web, query, threshold, options)
    cut_out = [] if options["folder"] is None else cut(found, Path(options["folder"]), options["suffix"])
    written = _draw(found, options)
    if options["threshold_picture"]:
        written += _draw_thresholds(_suggest(web, query, options), options, threshold)
    _print_matches(found, as_json, list_dropped_matches(options), written, cut_out)
    return 0


@command.command("grid", short_help="Plot two clips as a match web sees them.")
@click.argument("file", metavar="WEB")
@click.argument("first", metavar="A")
@click.argument("second", metavar="[B]", required=False)
@click.option("-o", "--output", required=True, metavar="OUT", help="The plot to write: PNG or SVG.")
@click.option(
    "--from", "begin", type=Moment(), help="Start in A: seconds (1.2) or a frame (36f).  [default: the beginning]"
)
@click.option("--to", "end", type=Moment(), help="End in A, exclusive.  [default: the end]")
@click.option("--second-from", "second_begin", type=Moment(), help="Start in B.  [default: the beginning]")
@click.option("--second-to", "second_end", type=Moment(), help="End in B.  [default: the end]")
def grid(file: str, first: str, second: str | None, output: str, **ends: float | int | None) -> None:
    """Plot two clips as a match web sees them: distances, minima, runs of similar frames (chains), and bridges.

    \b
    Example:
      marey find grid web.npz take1 take2 -o grid.png --to 20
    """
    from marey.cli.shared_options import frames_between
    from marey.find import MatchWeb
    from marey.plot.web import web_grid

    check_plot(output)
    web = MatchWeb.load(file)
    p = web.index(_number_or_name(first))
    q = p if second is None else web.index(_number_or_name(second))
    rows = frames_between(web.clips[p], ends["begin"], ends["end"])
    columns = rows if second is None else frames_between(web.clips[q], ends["second_begin"], ends["second_end"])
    web_grid(web, p, q, output, rows=rows, columns=columns)
    click.echo(f"wrote {output}")


def cut(found: MatchResult, folder: Path, suffix: str) -> list[str]:
    """Write every match, the query first, to a new folder, at the rate of its clip's file. Return the file names."""
    from marey.find import cut_originals
    from marey.io import save
    from marey.io.folder import plain_name

    make_folder(folder)
    written = []
    digits = len(str(len(found) - 1))
    for k, (match, part, motion) in enumerate(zip(found.matches, found.motions, cut_originals(found), strict=True)):
        start = round(match.start / part.fps * motion.fps)
        path = folder / f"{k:0{digits}}_{plain_name(match.clip)}_{start}-{start + len(motion)}.{suffix}"
        save(motion, path)
        written.append(str(path))
    return written


def _number_or_name(text: str) -> int | str:
    return int(text) if text.isdigit() else text


def _check_outputs(pictures: list[str], folder: str | None) -> None:
    """Check all outputs before anything is written."""
    for picture in pictures:
        check_plot(picture)
    if folder is not None:
        check_cut_folder(folder)


def check_cut_folder(folder: str) -> None:
    """Check that the folder of --cut is new or empty."""
    if Path(folder).exists():
        if not Path(folder).is_dir():
            raise UnwritableFile("is a file; give --cut a new folder", path=folder)
        if any(Path(folder).iterdir()) and not is_overwriting():
            raise UnwritableFile("is not empty; give --cut a new folder, or use --overwrite", path=folder)


def _draw(found: MatchResult, options: dict[str, Any]) -> list[str]:
    written = []
    if options["picture"]:
        from marey.plot.find import matches

        matches(found, options["picture"], most=options["rows"])
        written.append(options["picture"])
    if options["graph_picture"]:
        from marey.plot.find import match_graph

        match_graph(found, options["graph_picture"])
        written.append(options["graph_picture"])
    return written


def _suggest(web: MatchWeb, query: Query, options: dict[str, Any]) -> Suggestion:
    from marey.cli.progress import bar
    from marey.find import SuggestSettings

    with bar("testing thresholds") as progress:
        return web.suggest_threshold(*query, settings=read_search(SuggestSettings, options), progress=progress)


def _draw_thresholds(suggestion: Suggestion, options: dict[str, Any], chosen: float | None) -> list[str]:
    """Plot the number of matches against the threshold, if requested. Return the file names."""
    if not options["threshold_picture"]:
        return []
    from marey.plot.find import thresholds

    thresholds(suggestion, options["threshold_picture"], chosen=chosen)
    return [options["threshold_picture"]]


def _print_web(web: MatchWeb, as_json: bool, written: str | None = None) -> None:
    """Print what is in a match web, and the file it was written to."""
    facts = web.statistics()
    options = web.options
    labels = sorted({name for clip in web.clips for name in clip.labels.names})
    markers = options.markers if isinstance(options.markers, str) else list(options.markers)
    report: dict[str, Any] = {
        **({} if written is None else {"written": written}),
        **facts.to_dict(),
        "names": list(web.names),
        "labels": labels,
        "markers": markers,
        "remove_height": options.remove_height,
        "window_s": options.window,
        "limit_m": options.max_distance,
        "only": None if options.labels is None else list(options.labels),
    }
    if as_json:
        print_json(report)
        return
    if written is not None:
        click.echo(f"wrote {written}")
    click.echo(f"{plural(facts.clips, 'clip')}, {facts.frames} frames, {facts.seconds:.1f} s at {web.fps:g} Hz")
    click.echo(
        f"{facts.cells:,} cells stored, {100 * facts.cells_fraction:.1f} % of all; "
        f"{facts.nbytes / 1e6:.1f} MB, {facts.size_ratio:.2f} times the size of the motion data"
    )
    what = markers if isinstance(markers, str) else ", ".join(markers)
    flat = ", ignoring height" if options.remove_height else ""
    only = "" if options.labels is None else f", only {', '.join(options.labels)}"
    click.echo(
        f"compares {what}{flat}; window {options.window:g} s, maximum distance {100 * options.max_distance:g} cm{only}"
    )
    if labels:
        click.echo(f"labels: {', '.join(labels)}")
    if written is None:
        width = max(map(len, web.names))
        for name, clip in zip(web.names, web.clips, strict=True):
            click.echo(f"  {name:<{width}}  {clip.duration:8.2f} s  {len(clip):6d} frames")


def _print_matches(found: MatchResult, as_json: bool, dropped: list[int], written: list[str], cut: list[str]) -> None:
    """Print the matches, and the plots and files that were written."""
    report = found.to_dict()
    if as_json:
        report |= {"dropped": dropped, "written": [*cut, *written]}
        print_json(report)
        return
    rows = [report["query"], *report["matches"]]
    n = len(found) - 1
    query = rows[0]
    where = f"{query['clip']} {query['start_s']:.2f} to {query['stop_s']:.2f} s"
    less = f", without {', '.join(map(str, dropped))}" if dropped else ""
    click.echo(f"{n} match{'' if n == 1 else 'es'} of {where} within {100 * found.threshold:.3g} cm{less}")
    if max(match.tier for match in found) > 1:
        click.echo("distances are summed from match to match, tier by tier; each step is within the threshold")
    width = max(len(row["clip"]) for row in rows)
    for row in rows[1 : _LISTED + 1]:
        click.echo(
            f"{row['number']:4d}  {row['clip']:<{width}}  {row['start_s']:8.2f} to {row['stop_s']:7.2f} s  "
            f"{100 * row['distance_m']:5.1f} cm  tier {row['tier']}"
        )
    if n > _LISTED:
        click.echo(f"      and {n - _LISTED} more; --json lists all")
    for note in found.notes:
        click.echo(f"  ! {word_options(note)}")
    if cut:
        click.echo(f"wrote {plural(len(cut), 'motion')}, the query first: {cut[0]} to {Path(cut[-1]).name}")
    for path in written:
        click.echo(f"wrote {path}")


def _print_suggestion(suggestion: Suggestion, as_json: bool, written: list[str]) -> None:
    """Print how many matches each threshold finds, and the suggested threshold."""
    report = suggestion.to_dict()
    if as_json:
        print_json(report | {"written": written})
        return
    counts = [(row["threshold_m"], row["matches"]) for row in report["counts"]]
    click.echo("threshold   matches")
    for k, (step, n) in enumerate(counts):
        # Of a run of equal counts, list only the first and last threshold.
        if (
            step != suggestion.threshold
            and {n} == {count for _, count in counts[max(k - 1, 0) : k + 2]}
            and k + 1 < len(counts)
        ):
            continue
        cut_off = " or more" if not suggestion.is_complete and k + 1 == len(counts) else ""
        click.echo(f"  {step:.4f} m  {n:5d}{cut_off}{'   <- suggested' if step == suggestion.threshold else ''}")
    click.echo(f"suggested: {suggestion}")
    click.echo(
        f"a pose held still is {suggestion.still_distance:.4f} m from the query; higher thresholds match almost "
        f"anything"
    )
    for path in written:
        click.echo(f"wrote {path}")
