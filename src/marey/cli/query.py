"""Helpers that `marey find` and `marey parametric` share: search a match web for an example."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from marey.cli.derived_options import SettingsCommand, read_settings
from marey.cli.shared_options import read_motion
from marey.cli.values import MATCH_NUMBERS, OVERLAP, to_frame
from marey.errors import InvalidValue, UnknownName, similar

if TYPE_CHECKING:
    from marey.core import Motion
    from marey.find import MatchWeb
    from marey.find.result import MatchResult

S = TypeVar("S")
LABELS = click.option(
    "--label", "--labels", "labels", multiple=True, help="Keep only matches with this label. May be repeated."
)
OVERLAPS = click.option(
    "--overlap", type=OVERLAP, metavar="SAME,NEW",
    help="Overlap above which two matches are the same, and below which they are different; a larger NEW finds several "
    "cycles of a cyclic motion.  [default: 0.8,0.2]",
)  # fmt: skip
DROP = click.option(
    "--drop", type=MATCH_NUMBERS, multiple=True, help="Remove these matches, by their numbers in the list."
)
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
Query = tuple["int | str | Motion", "int | None", "int | None"]
"""A clip of a match web (number or name) or another motion, and its half-open frames; None for all frames."""


class NegativeNumbersCommand(SettingsCommand):
    """A command whose arguments may be negative numbers."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Treat arguments such as "-3" as numbers, not as options; if an option is misspelled, let click report it."""
        known = {name for param in self.get_params(ctx) for name in (*param.opts, *param.secondary_opts)}
        misspelled = any(part.startswith("--") and part.partition("=")[0] not in {"--", *known} for part in args)
        if not misspelled and any(re.match(r"-\.?\d", part) for part in args):
            ctx.ignore_unknown_options = True
        return super().parse_args(ctx, args)


def make_query(web: MatchWeb, clip: str, start: float | int | None, stop: float | int | None) -> Query:
    """Resolve the query and its frames. `clip` is the name or number of a clip of the match web, or else a file."""
    if clip in web.names:
        which: int | str | Motion = clip
        motion = web.clips[web.index(clip)]
    elif clip.isdigit() and not Path(clip).exists():
        which = web.index(int(clip))
        motion = web.clips[which]
    elif Path(clip).exists():
        which = motion = read_motion(clip)
        if start is None and stop is None:
            return motion, None, None
    else:
        raise UnknownName(f"{clip!r} is neither a clip of this match web nor a file{similar(clip, web.names)}")
    if start is None or stop is None:
        raise click.UsageError(f"give START and STOP for {clip!r}, such as 8.0 9.9 or 240f 297f")
    return which, *_frames(motion, start, stop)


def _frames(motion: Motion, start: float | int, stop: float | int) -> tuple[int, int]:
    """Convert times to frames. If times in seconds are outside the clip, the error message is in seconds as well."""
    first, last = to_frame(start, motion.fps), to_frame(stop, motion.fps)
    given = [moment for moment in (start, stop) if isinstance(moment, float)]
    if given and last <= first:
        raise InvalidValue(f"START must be before STOP, not {' and '.join(map(_name_moment, (start, stop)))}")
    if given and not 0 <= first < last <= len(motion):
        asked = " to ".join(map(_name_moment, (start, stop)))
        raise InvalidValue(
            f"the query must lie within 0 to {len(motion) / motion.fps:.2f} s of {motion.name!r}, not {asked}"
        )
    return first, last


def _name_moment(moment: float | int) -> str:
    return f"frame {moment}" if isinstance(moment, int) else f"{moment:g} s"


def search_web(web: MatchWeb, query: Query, threshold: float, options: dict[str, Any]) -> MatchResult:
    """Search the match web and leave out the matches given with --drop. `options` has the settings and drop."""
    from marey.find import SearchSettings

    found = web.search(*query, threshold, settings=read_search(SearchSettings, options))
    dropped = list_dropped_matches(options)
    return found.without(*dropped) if dropped else found


def read_search(kind: Callable[..., S], options: dict[str, Any]) -> S:
    """Return the settings of a search from the options of a command."""
    return read_settings(kind, dict(options), labels=options["labels"] or None)


def list_dropped_matches(options: dict[str, Any]) -> list[int]:
    """Return all match numbers given with --drop."""
    return sorted({number for numbers in options["drop"] for number in numbers})
