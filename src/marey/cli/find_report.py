"""Print the reports of `marey find`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from marey.cli.files import plural
from marey.cli.settings import word_options

if TYPE_CHECKING:
    from marey.find import MatchWeb
    from marey.find.result import MatchResult
    from marey.find.suggest import Suggestion

_LISTED = 40  # matches in the text report; --json lists all


def print_web(web: MatchWeb, as_json: bool, written: str | None = None) -> None:
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
        click.echo(json.dumps(report, indent=1, ensure_ascii=False))
        return
    if written is not None:
        click.echo(f"wrote {written}")
    click.echo(f"{plural(facts.clips, 'clip')}, {facts.frames} frames, {facts.seconds:.1f} s at {web.fps:g} Hz")
    click.echo(
        f"{facts.cells / 1e6:.2f} million cells stored, {100 * facts.cells_fraction:.1f} % of all; "
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


def print_matches(found: MatchResult, as_json: bool, dropped: list[int], written: list[str], cut: list[str]) -> None:
    """Print the matches, and the plots and files that were written."""
    report = found.to_dict()
    if as_json:
        report |= {"dropped": dropped, "written": [*cut, *written]}
        click.echo(json.dumps(report, indent=1, ensure_ascii=False))
        return
    rows = [report["query"], *report["matches"]]
    n = len(found) - 1
    query = rows[0]
    where = f"{query['clip']} {query['start_s']:.2f} to {query['stop_s']:.2f} s"
    less = f", without {', '.join(map(str, dropped))}" if dropped else ""
    click.echo(f"{n} match{'' if n == 1 else 'es'} of {where} within {100 * found.threshold:.3g} cm{less}")
    if max(match.tier for match in found) > 1:
        click.echo("distances are summed along the chain of matches, tier by tier; each step is within the threshold")
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


def print_suggestion(suggestion: Suggestion, as_json: bool, written: list[str]) -> None:
    """Print how many matches each threshold finds, and the suggested threshold."""
    report = suggestion.to_dict()
    if as_json:
        click.echo(json.dumps(report | {"written": written}, indent=1))
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
        f"standing still is {suggestion.still_distance:.4f} m from the query; thresholds above that match almost "
        "anything"
    )
    for path in written:
        click.echo(f"wrote {path}")
