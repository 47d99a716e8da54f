"""`marey find`: build a match web from a folder of clips, and find in it whatever is like an example."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from marey.cli.files import check_folder, check_output
from marey.cli.options import of_folder, opened_folder, running, running_options
from marey.cli.params import Moment

if TYPE_CHECKING:
    from marey.core import Motion
    from marey.find import MatchWeb
    from marey.find.found import Found
    from marey.find.suggest import Suggestion

_JSON = click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
_THRESHOLD = click.option(
    "--threshold", type=float, metavar="METRES", help="How unlike a match may be: metres.  [no default; see --suggest]"
)
_SETS = ("body", "upper", "lower", "large", "root_knees")


class Numbers(click.ParamType):  # type: ignore[type-arg]
    """``3,7``: whole numbers."""

    name = "numbers"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[int, ...]:
        try:
            return value if isinstance(value, tuple) else tuple(int(part) for part in str(value).split(","))
        except ValueError:
            self.fail(f"expected numbers of matches such as 3 or 3,7, got {value!r}", param, ctx)


class Shares(click.ParamType):  # type: ignore[type-arg]
    """``0.8,0.2``: two shares."""

    name = "same,new"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[float, float]:
        if isinstance(value, tuple):
            return value
        try:
            same, new = (float(part) for part in str(value).split(","))
        except ValueError:
            self.fail(f"expected two shares such as 0.8,0.2, got {value!r}", param, ctx)
        return same, new


@click.group("find")
def command() -> None:
    """Point at one kick, and find all the others.

    \b
    Example:
      marey find build clips/ -o web.npz
      marey find search web.npz take1 12.0 13.5 --suggest
      marey find search web.npz take1 12.0 13.5 --threshold 0.08 --plot kicks.png --cut kicks/
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
@click.option("--coarse", type=int, help="Look at every n-th frame first: faster, and finds a little less.")
@click.option("--label", "only", multiple=True, help="Only frames with this label; may be given several times.")
@of_folder
@running
@_JSON
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

    _check_npz(output)
    clips = opened_folder(folder, options)
    here, run = running_options(options)
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
            run=run,
            cache=clips.cache,
            progress=progress,
        )
    web.save(output)
    tell_web(web, as_json, written=output)


@command.command("info")
@click.argument("file", metavar="WEB")
@_JSON
def info(file: str, as_json: bool) -> None:
    """What is in a match web: clips, labels, how it compares, and its size."""
    from marey.cli.find_report import tell_web
    from marey.find import MatchWeb

    tell_web(MatchWeb.load(file), as_json)


@command.command("search")
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
@_JSON
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
    out. Without --threshold nothing is looked for: it says which threshold stands out, and exits with 2.

    \b
    Example:
      marey find search web.npz take1 12.0 13.5 --suggest
      marey find search web.npz take1 12.0 13.5 --threshold 0.08 --plot kicks.png --cut kicks/
      marey find search web.npz my_kick.bvh --threshold 0.1 --json
    """
    from marey.cli.find_report import tell_found, tell_suggestion
    from marey.find import MatchWeb

    outputs = [options[name] for name in ("picture", "graph_picture", "threshold_picture") if options[name]]
    _check_outputs(file, outputs, options["folder"])
    web = MatchWeb.load(file)
    query, first, last = query_of(web, clip, start, stop)
    labels = list(options["labels"]) or None
    if suggest or threshold is None:
        if options["folder"] or options["picture"] or options["graph_picture"]:
            raise click.UsageError("--cut, --plot and --plot-graph need a --threshold; --suggest tells which")
        written = _drawn_thresholds(web, (query, first, last), options, labels, None)
        tell_suggestion(_suggested(web, (query, first, last), options, labels), as_json, written)
        if suggest:
            return 0
        click.echo("marey: nothing was looked for, as there is no --threshold; choose one of these", err=True)
        return 2
    found = web.search(
        query, first, last, threshold,
        overlap=options["overlap"], labels=labels, most=options["most"], tiers=options["tiers"],
    )  # fmt: skip
    dropped = sorted({number for numbers in options["drop"] for number in numbers})
    found = found.without(*dropped) if dropped else found
    written = [] if options["folder"] is None else cut(found, Path(options["folder"]), options["suffix"])
    written += _draw(found, options)
    written += _drawn_thresholds(web, (query, first, last), options, labels, threshold)
    tell_found(found, as_json, dropped, written)
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

    check_output(output, [file])
    check_folder(output)
    web = MatchWeb.load(file)
    p = web.index(_number_or_name(first))
    q = p if second is None else web.index(_number_or_name(second))
    rows = frames_between(web.clips[p], ends["begin"], ends["end"])
    columns = rows if second is None else frames_between(web.clips[q], ends["second_begin"], ends["second_end"])
    web_grid(web, p, q, output, rows=rows, columns=columns)
    click.echo(f"wrote {output}")


def query_of(
    web: MatchWeb, clip: str, start: float | int | None, stop: float | int | None
) -> tuple[int | str | Motion, int | None, int | None]:
    """What to look for: a clip of the web by name or number, or else a file; and its frames."""
    from marey.errors import UnknownName, similar

    if clip in web.names:
        which: int | str | Motion = clip
        motion = web.clips[web.index(clip)]
    elif clip.isdigit() and not Path(clip).exists():
        which = web.index(int(clip))
        motion = web.clips[which]
    elif Path(clip).exists():
        from marey.io import load_motion

        which = motion = load_motion(clip)
        if start is None and stop is None:
            return motion, None, None
    else:
        raise UnknownName(f"{clip!r} is neither a clip of this web nor a file{similar(clip, web.names)}")
    if start is None or stop is None:
        raise click.UsageError(f"from when to when of {clip!r}? Give START and STOP, such as 12.0 13.5 or 360f 405f")
    first, last = (moment if isinstance(moment, int) else round(moment * motion.fps) for moment in (start, stop))
    return which, first, last


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


def _check_npz(output: str) -> None:
    from marey.errors import UnknownFormat

    if Path(output).suffix.lower() != ".npz":
        raise UnknownFormat(f"a match web is written as .npz, got {Path(output).suffix or 'no suffix'}", path=output)
    check_folder(output)


def _check_outputs(file: str, pictures: list[str], folder: str | None) -> None:
    """Refuse what cannot be written before anything is."""
    from marey.errors import UnwritableFile

    for picture in pictures:
        from marey.plot.style import check_suffix

        check_suffix(picture)
        check_output(picture, [file])
        check_folder(picture)
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


def _suggested(
    web: MatchWeb, query: tuple[Any, Any, Any], options: dict[str, Any], labels: list[str] | None
) -> Suggestion:
    return web.suggest(*query, overlap=options["overlap"], labels=labels)


def _drawn_thresholds(
    web: MatchWeb, query: tuple[Any, Any, Any], options: dict[str, Any], labels: list[str] | None, chosen: float | None
) -> list[str]:
    """The picture of thresholds, where one is wanted; its name."""
    if not options["threshold_picture"]:
        return []
    from marey.plot.find import thresholds

    thresholds(_suggested(web, query, options, labels), options["threshold_picture"], chosen=chosen)
    return [options["threshold_picture"]]
