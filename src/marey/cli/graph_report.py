"""What `marey graph` takes as values, and what it prints."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from marey.cli.files import counted

if TYPE_CHECKING:
    from marey.graph import Followed, MotionGraph, Walk

# A path is walked if no more than this of it, in metres, is left out in the mean, and its end is that near.
_COVERED, _AT_END = 0.5, 1.0


class Limit(click.ParamType):  # type: ignore[type-arg]
    """Metres, or a share such as ``10%``."""

    name = "metres or share"

    def convert(self, value: Any, param: Any, ctx: Any) -> float | str:
        text = str(value).strip()
        try:
            number = float(text.removesuffix("%"))
        except ValueError:
            number = -1.0
        if not 0.0 <= number < float("inf"):
            self.fail(f"expected metres such as 0.06, or a share such as 10%, got {value!r}", param, ctx)
        return text if text.endswith("%") else number


class Pair(click.ParamType):  # type: ignore[type-arg]
    """``walk:run=0.08``: from one label to another."""

    name = "from:to=limit"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[tuple[str, str], float | str]:
        pair, _, limit = str(value).rpartition("=")
        before, _, after = pair.partition(":")
        if not before or not after:
            self.fail(f"expected FROM:TO=LIMIT such as walk:run=0.08, got {value!r}", param, ctx)
        return (before.strip(), after.strip()), Limit().convert(limit, param, ctx)


class Style(click.ParamType):  # type: ignore[type-arg]
    """``walk@5``: this label up to 5 m along the path; ``walk`` alone to the end."""

    name = "label[@metres]"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[float, str]:
        label, _, end = str(value).partition("@")
        try:
            metres = float(end) if end else float("inf")
        except ValueError:
            metres = -1.0
        if not label or not metres > 0.0:
            self.fail(f"expected LABEL or LABEL@METRES such as walk@5, got {value!r}", param, ctx)
        return metres, label


def tell(graph: MotionGraph, as_json: bool, *, written: str | None = None, response: bool = False) -> None:
    """Print what is in a graph, and where it was written."""
    from marey.graph import figures

    found = figures(graph)
    report: dict[str, Any] = {
        **({} if written is None else {"written": written}),
        "clips": found.clips,
        "seconds": found.seconds,
        "seconds_kept": found.seconds_kept,
        "fps": graph.fps,
        "nodes": found.nodes,
        "edges": found.edges,
        "transitions": found.transitions,
        "mean_edge_s": found.mean_edge,
        "mean_distance_m": found.mean_distance,
        "places_to_leave_per_s": found.choices_per_second,
        "labels": [
            {
                "label": each.label,
                "endless_s": each.n_frames / graph.fps,
                "of_s": each.of_frames / graph.fps,
                "seconds_to": {after: t for (before, after), t in found.to_label.items() if before == each.label},
            }
            for each in graph.components
        ],
        "findings": list(graph.findings),
    }
    if response:
        from marey.graph import response_time

        report["response_median_s"], report["response_p90_s"] = response_time(graph, graph.direction_table())
    if as_json:
        click.echo(json.dumps(report, indent=1, ensure_ascii=False).replace("Infinity", "null"))
        return
    if written is not None:
        click.echo(f"wrote {written}")
    kept, had = found.seconds_kept, found.seconds
    click.echo(f"{counted(found.clips, 'clip')}, {had:.1f} s at {graph.fps:g} Hz, {kept:.1f} s of them in the graph")
    click.echo(
        f"{counted(found.nodes, 'node')}, {counted(found.transitions, 'transition')} of {100 * found.mean_distance:.1f}"
        f" cm in the mean, {found.choices_per_second:.1f} places per second to leave a clip"
    )
    for each in report["labels"]:
        ways = ", ".join(
            f"{t:.1f} s to {name}" if t < float("inf") else f"no way to {name}"
            for name, t in each["seconds_to"].items()
        )
        click.echo(f"  {each['label']}: {each['endless_s']:.1f} of {each['of_s']:.1f} s{'; ' + ways if ways else ''}")
    if response:
        click.echo(f"a new direction is answered in {report['response_median_s']:.1f} s (median)")
    for finding in graph.findings:
        click.echo(f"  ! {finding}")


def write(
    walk: Walk,
    output: str,
    as_json: bool,
    *,
    clean: bool,
    rigid: bool,
    found: Followed | None = None,
    picture: str | None = None,
) -> int:
    """Write a walk's motion and print what it is; 1 where a path was not walked to its end, else 0."""
    from pathlib import Path

    from marey.io import save

    made = walk.motion(clean=clean, name=Path(output).stem)
    save(made, output, rigid=rigid)
    jumps = [part for part in walk.parts if part.into is not None]
    report: dict[str, Any] = {
        "written": output,
        "frames": len(made),
        "seconds": len(made) / made.fps,
        "transitions": len(jumps),
        "parts": [part._asdict() for part in walk.parts],
    }
    if found is not None:
        report |= {
            "mean_distance_m": found.mean_distance,
            "largest_distance_m": found.largest_distance,
            "mean_uncovered_m": found.mean_uncovered,
            "end_distance_m": found.end_distance,
            "cost_m2": found.cost,
            **({} if picture is None else {"picture": picture}),
        }
    missed = found is not None and (found.mean_uncovered > _COVERED or found.end_distance > _AT_END)
    if as_json:
        click.echo(json.dumps(report, indent=1, ensure_ascii=False))
        return int(missed)
    click.echo(f"wrote {output}: {report['seconds']:.1f} s with {counted(len(jumps), 'transition')}")
    if found is not None:
        click.echo(
            f"{100 * found.mean_distance:.1f} cm from the path in the mean, {100 * found.largest_distance:.0f} cm at"
            f" most; the path is {100 * found.mean_uncovered:.1f} cm from it, and it ends"
            f" {100 * found.end_distance:.0f} cm off"
        )
    if missed:
        click.echo("  ! the path is not walked as it should be: these clips cannot turn like that, or too few join")
    if picture is not None:
        click.echo(f"wrote {picture}")
    return int(missed)
