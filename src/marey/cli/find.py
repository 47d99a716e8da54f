"""`marey find`: build a match web from a folder of clips, and find in it whatever is like an example."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from marey.cli.options import of_folder, opened_folder, running, running_options
from marey.cli.params import Moment, Numbers, Shares
from marey.cli.query import AS_JSON, NumbersToo, Query, check_npz, check_picture, dropped_of, query_of, searched

if TYPE_CHECKING:
    from marey.find import MatchWeb
    from marey.find.found import Found
    from marey.find.suggest import Suggestion

_THRESHOLD = click.option(
    "--threshold", type=float, metavar="METRES", help="How unlike a match may be: metres.  [no default; see --suggest]"
)
_SETS = ("body", "upper", "lower", "large", "root_knees")


@click.group("find")
def command() -> None:
    """Point at one kick, and find all the others.

    \b
    Example:
      marey find build clips/ -o web.npz
      marey find search web.npz take1 8.0 9.9 --suggest
      marey find search web.npz take1 8.0 9.9 --threshold 0.08 --plot kicks.png --cut kicks/
    """


@command.command("build")
@click.argument("folder")
@click.option("-o", "--output", required=True, metavar="WEB", help="The match web to write, an .npz file.")
@click.option(
    "--markers", default="body", show_default=True,
    help=f"What is compared: {', '.join(_SETS)}, or roles or joints, separated by commas.",
)  # fmt: skip
@click.option("--remove-height", is_flag=True, help="Let a reach to the floor be like one to a shelf.")
@click.option("--window", type=float, default=0.1, show_default=True, help="Seconds of motion that are compared.")
@click.option("--limit", type=float, default=0.4, show_default=True, help="Metres beyond which nothing is alike.")
@click.option("--coarse", type=int, help="Look at every n-th frame first; finds 99.5 % again, seldom faster.")
@click.option("--label", "only", multiple=True, help="Only frames with this label; may be given several times.")
@of_folder
@running
@AS_JSON
def build(folder: str, output: str, markers: str, only: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Build a match web from the clips in FOLDER.

    \b
    Example:
      marey find build clips/ -o web.npz
      marey find build clips/ -o reaches.npz --markers upper --remove-height --label reaching
    """
    from marey.cli.find_report import tell_web
    from marey.cli.progress import bar
    from marey.find import MatchWeb

    check_npz(output, "a match web")
    clips = opened_folder(folder, options, output)
    address = options["cluster"]
    here, run = running_options(options)
    at_work = _AtWork(run)
    with bar("reading") as progress:
        clips.build(run=here, progress=progress)
    with bar("comparing") as progress:
        web = MatchWeb.build(
            clips,
            markers=markers if markers in _SETS else [name.strip() for name in markers.split(",") if name.strip()],
            remove_height=options["remove_height"],
            window=options["window"],
            limit=options["limit"],
            coarse=options["coarse"],
            labels=list(only) or None,
            run=at_work,
            cache=clips.cache,
            progress=progress,
        )
    if address is not None and not at_work.had_any:
        click.echo(f"marey: all of it was in the cache, so that the cluster at {address} was not asked", err=True)
    web.save(output)
    tell_web(web, as_json, written=output)


class _AtWork:
    """A runner that knows whether there was anything to do."""

    def __init__(self, run: Callable[..., Any]) -> None:
        self.run, self.had_any = run, False

    def __call__(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Any:
        """What the runner gives."""
        wanted = list(items)
        self.had_any = self.had_any or bool(wanted)
        return self.run(function, wanted)


@command.command("info")
@click.argument("file", metavar="WEB")
@AS_JSON
def info(file: str, as_json: bool) -> None:
    """What is in a match web: the clips by name, labels, how it compares, and its size."""
    from marey.cli.find_report import tell_web
    from marey.find import MatchWeb

    tell_web(MatchWeb.load(file), as_json)


@command.command("search", cls=NumbersToo)
@click.argument("file", metavar="WEB")
@click.argument("clip")
@click.argument("start", type=Moment(), required=False)
@click.argument("stop", type=Moment(), required=False)
@_THRESHOLD
@click.option("--suggest", is_flag=True, help="Tell what each threshold would find, and which one stands out.")
@click.option("--label", "labels", multiple=True, help="Only matches with this label; may be given several times.")
@click.option("--drop", type=Numbers(), multiple=True, help="Leave out these matches, by their numbers in the list.")
@click.option("--overlap", type=Shares(), default="0.8,0.2", show_default=True,
              help="Shares from which two are the same match, and up to which they are two.")  # fmt: skip
@click.option("--most", type=int, default=500, show_default=True, help="Matches after which the search ends.")
@click.option("--tiers", type=int, help="1: like the query itself; 2: like these too.  [default: all]")
@click.option("--cut", "folder", metavar="DIR", help="Write each match as a file of its own to a new folder.")
@click.option("--format", "suffix", type=click.Choice(["bvh", "glb", "npz"]), default="bvh", show_default=True,
              help="--cut: file format.")  # fmt: skip
@click.option("--plot", "picture", metavar="OUT", help="Draw the matches pose by pose: PNG or SVG.")
@click.option("--rows", type=int, default=12, show_default=True, help="--plot: how many are drawn.")
@click.option("--plot-graph", "graph_picture", metavar="OUT", help="Draw the match graph.")
@click.option("--plot-threshold", "threshold_picture", metavar="OUT", help="Draw thresholds against matches found.")
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
    """Find what is like CLIP from START to STOP: seconds (1.2) or frames (36f).

    CLIP is a clip of the web by name or number, or a file that is not in it; of a file, START and STOP may be left
    out. Frames of a clip count at the web's rate, which `marey find info` tells, those of a file at its own. Without
    --threshold nothing is looked for: it says which threshold stands out, and exits with 2.

    \b
    Example:
      marey find search web.npz take1 8.0 9.9 --suggest
      marey find search web.npz take1 8.0 9.9 --threshold 0.08 --plot kicks.png --cut kicks/
      marey find search web.npz my_kick.bvh --threshold 0.1 --json
    """
    from marey.cli.find_report import tell_found, tell_suggestion
    from marey.find import MatchWeb

    outputs = [options[name] for name in ("picture", "graph_picture", "threshold_picture") if options[name]]
    _check_outputs(file, outputs, options["folder"])
    web = MatchWeb.load(file)
    query = query_of(web, clip, start, stop)
    if suggest or threshold is None:
        if options["folder"] or options["picture"] or options["graph_picture"]:
            raise click.UsageError("--cut, --plot and --plot-graph need a --threshold; --suggest tells which")
        made = _suggested(web, query, options)
        tell_suggestion(made, as_json, _drawn_thresholds(made, options, None))
        if suggest:
            return 0
        click.echo("marey: nothing was looked for, as there is no --threshold; choose one of these", err=True)
        return 2
    found = searched(web, query, threshold, options, most=options["most"], tiers=options["tiers"])
    cut_out = [] if options["folder"] is None else cut(found, Path(options["folder"]), options["suffix"])
    written = _draw(found, options)
    if options["threshold_picture"]:
        written += _drawn_thresholds(_suggested(web, query, options), options, threshold)
    tell_found(found, as_json, dropped_of(options), written, cut_out)
    return 0


@command.command("grid")
@click.argument("file", metavar="WEB")
@click.argument("first", metavar="A")
@click.argument("second", metavar="[B]", required=False)
@click.option("-o", "--output", required=True, metavar="OUT", help="The picture to write: PNG or SVG.")
@click.option("--from", "begin", type=Moment(), help="Of A: seconds (1.2) or a frame (36f).  [default: the beginning]")
@click.option("--to", "end", type=Moment(), help="Likewise.  [default: the end]")
@click.option("--second-from", "second_begin", type=Moment(), help="The same of B.")
@click.option("--second-to", "second_end", type=Moment(), help="The same of B.")
def grid(file: str, first: str, second: str | None, output: str, **ends: float | int | None) -> None:
    """Draw how the web sees two clips: distances, minima along rows and columns, the valid region, chains, bridges.

    \b
    Example:
      marey find grid web.npz take1 take2 -o grid.png --to 20
    """
    from marey.cli.options import frames_between
    from marey.find import MatchWeb
    from marey.plot.web import web_grid

    check_picture(output, [file])
    web = MatchWeb.load(file)
    p = web.index(_number_or_name(first))
    q = p if second is None else web.index(_number_or_name(second))
    rows = frames_between(web.clips[p], ends["begin"], ends["end"])
    columns = rows if second is None else frames_between(web.clips[q], ends["second_begin"], ends["second_end"])
    web_grid(web, p, q, output, rows=rows, columns=columns)
    click.echo(f"wrote {output}")


def cut(found: Found, folder: Path, suffix: str) -> list[str]:
    """Write every match, the query first, to a new folder; their names."""
    from marey.errors import UnwritableFile
    from marey.io import save

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UnwritableFile(f"cannot be made a folder ({error.strerror})", path=str(folder)) from None
    written = []
    digits = len(str(len(found) - 1))
    for k, (match, motion) in enumerate(zip(found.matches, found.motions, strict=True)):
        name = "".join(c if c.isalnum() or c in "-_." else "_" for c in match.clip)
        path = folder / f"{k:0{digits}}_{name}_{match.start}-{match.stop}.{suffix}"
        save(motion, path)
        written.append(str(path))
    return written


def _number_or_name(text: str) -> int | str:
    return int(text) if text.isdigit() else text


def _check_outputs(file: str, pictures: list[str], folder: str | None) -> None:
    """Refuse what cannot be written before anything is."""
    from marey.errors import UnwritableFile

    for picture in pictures:
        check_picture(picture, [file])
    if len(set(pictures)) < len(pictures):
        raise click.UsageError("every picture needs a name of its own")
    if folder is not None and Path(folder).exists():
        if not Path(folder).is_dir():
            raise UnwritableFile("is a file; --cut takes a new folder", path=folder)
        if any(Path(folder).iterdir()):
            raise UnwritableFile("is not empty; --cut takes a new folder", path=folder)


def _draw(found: Found, options: dict[str, Any]) -> list[str]:
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


def _suggested(web: MatchWeb, query: Query, options: dict[str, Any]) -> Suggestion:
    return web.suggest(*query, overlap=options["overlap"], labels=list(options["labels"]) or None)


def _drawn_thresholds(made: Suggestion, options: dict[str, Any], chosen: float | None) -> list[str]:
    """The picture of thresholds, where one is wanted; its name."""
    if not options["threshold_picture"]:
        return []
    from marey.plot.find import thresholds

    thresholds(made, options["threshold_picture"], chosen=chosen)
    return [options["threshold_picture"]]
