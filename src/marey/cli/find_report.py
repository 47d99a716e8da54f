"""What `marey find` prints."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from marey.cli.files import counted

if TYPE_CHECKING:
    from marey.find import MatchWeb
    from marey.find.found import Found
    from marey.find.suggest import Suggestion

_LISTED = 40  # matches in the text; --json has all


def tell_web(web: MatchWeb, as_json: bool, written: str | None = None) -> None:
    """Print what is in a web, and where it was written."""
    told = web.info()
    options = web.options
    labels = sorted({name for clip in web.clips for name in clip.labels.names})
    markers = options.markers if isinstance(options.markers, str) else list(options.markers)
    report: dict[str, Any] = {
        **({} if written is None else {"written": written}),
        **told,
        "names": list(web.names),
        "labels": labels,
        "markers": markers,
        "remove_height": options.remove_height,
        "window_s": options.window,
        "limit_m": options.limit,
        "coarse": options.coarse,
        "only": None if options.labels is None else list(options.labels),
    }
    if as_json:
        click.echo(json.dumps(report, indent=1, ensure_ascii=False))
        return
    if written is not None:
        click.echo(f"wrote {written}")
    click.echo(f"{counted(told['clips'], 'clip')}, {told['frames']} frames, {told['seconds']:.1f} s at {web.fps:g} Hz")
    click.echo(
        f"{told['cells'] / 1e6:.2f} million cells, {100 * told['cells_share']:.1f} % of all; "
        f"{told['bytes'] / 1e6:.1f} MB, {told['size_ratio']:.2f} times the motion data"
    )
    what = markers if isinstance(markers, str) else ", ".join(markers)
    flat = ", heights removed" if options.remove_height else ""
    only = "" if options.labels is None else f", only {', '.join(options.labels)}"
    click.echo(f"compares {what}{flat}, over {options.window:g} s, up to {100 * options.limit:g} cm{only}")
    if labels:
        click.echo(f"labels: {', '.join(labels)}")


def tell_found(found: Found, as_json: bool, dropped: list[int], written: list[str]) -> None:
    """Print the matches."""
    rows: list[dict[str, Any]] = [
        {
            "number": k,
            "clip": match.clip,
            "start": match.start,
            "stop": match.stop,
            "start_s": match.start / motion.fps,
            "stop_s": match.stop / motion.fps,
            "distance_m": match.distance,
            "tier": match.tier,
            "parent": int(parent),
        }
        for k, (match, motion, parent) in enumerate(zip(found.matches, found.motions, found.parents, strict=True))
    ]
    if as_json:
        report = {
            "threshold_m": found.threshold,
            "query": rows[0],
            "matches": rows[1:],
            "edges": [{"first": e.first, "second": e.second, "distance_m": e.distance} for e in found.edges],
            "largest_gap_m": list(found.largest_gap),
            "dropped": dropped,
            "notes": list(found.notes),
            "written": written,
        }
        click.echo(json.dumps(report, indent=1, ensure_ascii=False))
        return
    n = len(found) - 1
    query = rows[0]
    where = f"{query['clip']} {query['start_s']:.2f} to {query['stop_s']:.2f} s"
    less = f", without {', '.join(map(str, dropped))}" if dropped else ""
    click.echo(f"{n} match{'' if n == 1 else 'es'} of {where} within {100 * found.threshold:.3g} cm{less}")
    width = max(len(row["clip"]) for row in rows)
    for row in rows[1 : _LISTED + 1]:
        click.echo(
            f"{row['number']:4d}  {row['clip']:<{width}}  {row['start_s']:8.2f} to {row['stop_s']:7.2f} s  "
            f"{100 * row['distance_m']:5.1f} cm  tier {row['tier']}"
        )
    if n > _LISTED:
        click.echo(f"      and {n - _LISTED} more; --json has all")
    low, high = found.largest_gap
    if n > 2:
        click.echo(f"the largest gap in these distances is from {100 * low:.1f} to {100 * high:.1f} cm")
    for note in found.notes:
        click.echo(f"  ! {note}")
    if len(written) > 3:
        click.echo(f"wrote {len(written)} files, {written[0]} to {written[-1]}")
    else:
        for path in written:
            click.echo(f"wrote {path}")


def tell_suggestion(made: Suggestion, as_json: bool, written: list[str]) -> None:
    """Print how many matches each threshold would have, and the threshold that stands out."""
    steps = _steps(made)
    counts = [(step, int((made.distances <= step).sum())) for step in steps]
    if as_json:
        report = {
            "threshold_m": made.threshold,
            "matches": made.n_matches,
            "gap_m": list(made.gap),
            "counts": [{"threshold_m": step, "matches": n} for step, n in counts],
            "distances_m": made.distances.tolist(),
            "is_complete": made.is_complete,
            "written": written,
        }
        click.echo(json.dumps(report, indent=1))
        return
    click.echo("threshold   matches")
    # Where the number stays the same, its first and last threshold say all.
    telling = [
        k
        for k, (step, n) in enumerate(counts)
        if step == made.threshold or {n} != {count for _, count in counts[max(k - 1, 0) : k + 2]}
    ]
    for step, n in (counts[k] for k in telling):
        cut_off = " or more" if not made.is_complete and n == len(made.distances) else ""
        click.echo(f"  {step:.4f} m  {n:5d}{cut_off}{'   <- suggested' if step == made.threshold else ''}")
    click.echo(f"suggested, as the largest gap: {made}")
    for path in written:
        click.echo(f"wrote {path}")


def _steps(made: Suggestion) -> list[float]:
    """Thresholds worth telling: round ones over the range of distances, and the one suggested."""
    low, high = float(made.distances[0]), max(float(made.distances[-1]), made.gap[1])
    steps = [round(0.01 * k, 2) for k in range(1, 100) if 0.5 * low <= 0.01 * k <= high + 0.01]
    return sorted({*steps[:: max(len(steps) // 12, 1)], made.threshold})
