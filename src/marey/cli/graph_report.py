"""Print the reports of `marey graph`, and define the options that its commands share."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from marey.cli.files import print_json
from marey.cli.tables import format_table
from marey.errors import plural
from marey.measure.display import format_distance

if TYPE_CHECKING:
    from marey.core.feet import Feet
    from marey.core.motion import Motion
    from marey.graph import (
        GraphStatistics,
        LabelPair,
        LandingResult,
        LandingSettings,
        MotionGraph,
        PathResult,
        SearchResult,
        Walk,
    )
    from marey.graph.skate import Sliding

# A path counts as followed if its mean distance from the walk and the distance at its end do not exceed these (m).
_COVERED, _AT_END = 0.35, 0.3
# --land is suggested if it adds at most this to the mean distance from the path (m).
_WORSE = 0.02
# Stretch of a limb (fraction) and distance of a foot from its plant (meters) that deserve a warning.
_STRETCHED, _MISSED = 0.1, 0.01
# A graph that uses less than this fraction of its clips deserves a hint.
_LITTLE = 1.0 / 3.0
# Maximum number of names to list.
_LISTED = 12

JSON = click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")


class Landing(NamedTuple):
    """Where a walk ends exactly: position (x, z) in meters, heading in radians or None, and the landing's settings."""

    position: tuple[float, float]
    settings: LandingSettings
    heading: float | None


def print_graph(
    graph: MotionGraph,
    as_json: bool,
    *,
    written: str | None = None,
    seconds: float | None = None,
    response: bool = False,
    hint: str = "",
) -> None:
    """Print what is in a graph, the file it was written to, and the seconds it took to build.

    response : also measure the response time to a new direction.
    hint : what to try if the graph leaves out clips, or uses only a small part of them; not part of JSON.
    """
    found = graph.statistics()
    answer = _measure_response(graph) if response else None
    if as_json:
        report = {
            **({} if written is None else {"written": written}),
            **({} if seconds is None else {"build_s": round(seconds, 3)}),
            **_numbers(graph, found),
            **({} if answer is None else {"response_median_s": answer[0], "response_p90_s": answer[1]}),
            "findings": list(graph.findings),
        }
        print_json(report)
        return
    if written is not None:
        click.echo(f"wrote {written}" + ("" if seconds is None else f", built in {seconds:.1f} s"))
    clips = plural(found.clips + len(found.left_out), "clip")
    click.echo(f"the graph uses {found.seconds_kept:.1f} of {found.seconds:.1f} s of {clips} at {graph.fps:g} Hz")
    if found.left_out:
        click.echo(f"  not used, because no transitions lead there and away again: {_format_names(found.left_out)}")
    if hint and (found.left_out or found.seconds_kept < _LITTLE * found.seconds):
        click.echo(f"  hint: to use more of the clips, {hint}")
    click.echo(
        f"{plural(found.nodes, 'node')}, {plural(found.edges, 'edge')} (mean length {found.mean_edge:.2f} s), "
        f"{plural(found.transitions, 'transition')} (mean distance {100 * found.mean_distance:.1f} cm)"
    )
    parts = "; ".join(f"{length:.1f} s of {_format_names(labels)}" for length, labels in found.parts[:_LISTED])
    click.echo(f"{plural(len(found.parts), 'connected component')}: {parts}")
    latency = "" if answer is None else f"; median response time to a new direction {answer[0]:.1f} s"
    click.echo(f"{found.choices_per_second:.1f} transition points per second{latency}")
    for line in (*_labels(graph, found), *_format_pairs(found)):
        click.echo(line)
    for finding in _list_findings(graph):
        click.echo(f"  ! {finding}")


def _measure_response(graph: MotionGraph) -> tuple[float, float]:
    from marey.graph import response_time

    return response_time(graph, graph.direction_table())


def _numbers(graph: MotionGraph, found: GraphStatistics) -> dict[str, Any]:
    return found.to_dict() | {
        "fps": graph.fps,
        "built_by": graph.build_info.kind,
        "threshold": graph.build_info.threshold,
        "labels": [
            {
                "label": each.label,
                "endless_s": each.n_frames / graph.fps,
                "of_s": each.of_frames / graph.fps,
                "seconds_to": {after: t for (before, after), t in found.to_label.items() if before == each.label},
            }
            for each in graph.components
        ],
    }


def _labels(graph: MotionGraph, found: GraphStatistics) -> list[str]:
    """Format a line for each label: how many of its seconds can be played forever, and the times to other labels."""
    alive = [each for each in graph.components if each.n_frames]
    wide = max((len(each.label) for each in alive), default=0)
    out = []
    for each in alive:
        reachable = sorted(
            (t, after) for (before, after), t in found.to_label.items() if before == each.label and math.isfinite(t)
        )
        times = ", ".join(f"{t:.1f} s to {name}" for t, name in reachable[:_LISTED])
        more = f", {len(reachable) - _LISTED} more" if len(reachable) > _LISTED else ""
        length = f"{each.n_frames / graph.fps:.1f} of {each.of_frames / graph.fps:.1f} s can be played forever"
        out.append(f"  {each.label:<{wide}}  {length}{'; ' + times + more if times else ''}")
    return out


def _format_pairs(found: GraphStatistics) -> list[str]:
    """Format a table of the direct transitions from label (row) to label (column): their number and lowest distance."""
    labels = list(dict.fromkeys(before for before, _ in found.pairs))
    if not 1 < len(labels) <= _LISTED:
        return []
    rows = [["from \\ to", *labels]]
    for before in labels:
        cells = [found.pairs.get((before, after)) for after in labels]
        rows.append([before, *("" if cell is None else _format_pair(cell) for cell in cells)])
    return ["direct transitions, and the distance of the best one at any threshold:", *format_table(rows, 0)]


def _format_pair(pair: LabelPair) -> str:
    unknown, none = math.isnan(pair.min_distance), math.isinf(pair.min_distance)
    best = "" if unknown else ", -" if none else f", {100 * pair.min_distance:.1f} cm"
    return f"{pair.transitions}{best}"


def _list_findings(graph: MotionGraph) -> list[str]:
    """List the problems of a graph, grouping labels with the same problem."""
    components = graph.components
    remedy = graph.build_info.remedy
    out = []
    gone = [each.label for each in components if not each.n_frames]
    if gone:
        out.append(f"{_format_names(gone)} cannot be played forever: no transitions lead back there; {remedy}")
    out += [finding for finding in graph.findings if finding.startswith("only ")]
    alive = [each for each in components if each.n_frames]
    groups: dict[frozenset[str], list[str]] = {}
    for each in alive:
        lost = frozenset(other.label for other in alive) - {each.label, *each.reaches}
        if lost:
            groups.setdefault(lost if len(lost) < len(alive) - 1 else frozenset(), []).append(each.label)
    for lost, labels in groups.items():
        to = _format_names(sorted(lost)) if lost else "any other label"
        pair = ", or that of the pair" if graph.build_info.kind == "distance" else ""
        out.append(f"no route from {_format_names(labels, 'or')} to {to}; {remedy}{pair}")
    return out


def _format_names(names: Any, word: str = "and") -> str:
    """Format names as ``"a, b and c"``; if there are more than 12, list the first 12 and count the rest."""
    given = list(names)
    if not given:
        return "no label"
    if len(given) > _LISTED:
        return f"{', '.join(given[:_LISTED])} {word} {len(given) - _LISTED} more"
    return f" {word} ".join(filter(None, (", ".join(given[:-1]), given[-1])))


def write(
    walk: Walk,
    output: str,
    options: dict[str, Any],
    *,
    found: PathResult | None = None,
    search: SearchResult | None = None,
    landing: Landing | None = None,
    is_timed: bool = False,
) -> int:
    """Write a walk's motion and a plot of its path, and print a report. Return the exit code.

    The exit code is 1 if the path was not followed to its end, else 0.

    options : the command's options "feet", "rigid", "as_json" and, if there is a plot, "picture".
    found, search : how well the walk follows a path, and how the search went, if there was one.
    landing : the exact end, if given. is_timed : whether the walk stops at a given time, anywhere along the path.
    """
    from pathlib import Path

    from marey.graph import foot_skate
    from marey.io import save

    name, feet, picture = Path(output).stem, options["feet"], options.get("picture")
    landed = None
    if landing is not None:
        own = landing.settings.name or name
        landed = walk.land_at(landing.position, landing.heading, name=own, settings=landing.settings)
    motion = walk.motion(feet=feet, name=name) if landed is None else landed.motion()
    save(motion, output, rigid=options["rigid"])
    if picture is not None and found is not None:
        from marey.plot.graph import route

        route(found, picture)
    slides = foot_skate(walk, motion).planted
    cleanup = _find_cleanup(motion)
    problems = [] if found is None else list(_find_problems(found, landed is not None, is_timed))
    if options["as_json"]:
        report = {
            "written": output,
            **(search or found or walk).to_dict(),
            "foot_skate_m_per_s": slides._asdict(),
            "cleanup": cleanup,
            **({} if picture is None else {"picture": picture}),
            **({} if landed is None else landed.to_dict()),
        }
        print_json(report)
        return int(bool(problems))
    jumps = sum(part.into is not None for part in walk.parts)
    click.echo(f"wrote {output}: {walk.duration:.2f} s with {plural(jumps, 'transition')}")
    for line in _walk_lines(slides, feet, found, landed):
        click.echo(line)
    for line in _describe_cleanup(cleanup):
        click.echo(line)
    if search is not None:
        result = "complete" if search.complete else "incomplete"
        cut = ", a budget ran out before the best walk was known" if search.is_cut else ""
        proven = ", proven optimal" if search.proven else ""
        click.echo(f"cost {search.cost:.4g}, {result}{cut}{proven}; {search.n_expanded} partial walks expanded")
    for problem in problems:
        click.echo(f"  ! {problem}")
    if picture is not None:
        click.echo(f"wrote {picture}")
    return int(bool(problems))


def _find_problems(found: PathResult, has_landing: bool, is_timed: bool) -> Iterator[str]:
    """Describe how a walk fails to follow its path.

    A landing need not be at the end of the path, and a walk that stops at a given time need not cover all of it.
    """
    if (found.mean_distance if is_timed else found.mean_uncovered) > _COVERED:
        yield "the walk strays from the path: the clips cannot turn as sharply, or there are too few transitions"
    if found.end_distance > _AT_END and not has_landing and not is_timed:
        x, z = found.path[-1]
        advice = f"; --land {x:.2f},{z:.2f} makes it end there" if _can_land(found) else ""
        yield f"the walk ends {format_distance(found.end_distance)} from the end of the path{advice}"


def _can_land(found: PathResult) -> bool:
    """Return whether --land would end the walk at the end of its path, without a detour and as close to the path."""
    from marey.graph import LandingSettings, measure_path

    style = found.styles[-1].label if found.styles else None
    with warnings.catch_warnings(record=True) as detours:
        warnings.simplefilter("always")
        other = measure_path(found.walk.replan_end(found.path[-1], label=style), found.path, found.cost)
    is_near = other.end_distance <= LandingSettings().max_shift
    return is_near and not detours and other.mean_distance <= found.mean_distance + _WORSE


def _find_cleanup(motion: Motion) -> dict[str, float] | None:
    """Return how far the cleanup stretched limbs (fraction) and missed plants (meters); None without a cleanup."""
    for step in reversed(motion.source.provenance):
        if step["op"] == "clean":
            return {name: float(step[name]) for name in ("limb_scaling_max", "residue_max")}
    return None


def _describe_cleanup(cleanup: dict[str, float] | None) -> Iterator[str]:
    """Describe a cleanup as text, with a warning if it changed much."""
    if cleanup is None:
        return
    stretch, residue = cleanup["limb_scaling_max"], cleanup["residue_max"]
    yield (
        f"limbs scaled by at most {100 * stretch:.1f} % relative to the clips; planted feet miss their place by at "
        f"most {1000 * residue:.0f} mm"
    )
    if stretch > _STRETCHED or residue > _MISSED:
        yield "  ! the cleanup had to change the motion a lot; look at it, or build the graph with a lower --threshold"


def _style_lines(found: PathResult) -> Iterator[str]:
    """Describe the styles along a path as text."""
    fps = found.walk.graph.fps
    for each in found.styles:
        through = f", reached through {' and '.join(each.through)}" if each.through else ""
        yield (
            f"  {each.label}: {each.start / fps:.1f} to {each.stop / fps:.1f} s, up to {each.arc_length:.1f} m of the "
            f"path ({each.requested_arc_length:.1f} m requested), {each.own_frames / fps:.1f} s without transitions"
            f"{through}"
        )


def _walk_lines(slides: Sliding, feet: Feet, found: PathResult | None, landing: LandingResult | None) -> Iterator[str]:
    """Describe a walk as text."""
    if slides.before is not None and slides.after is not None:
        own = "" if slides.sources is None else f", {100 * slides.sources:.1f} cm/s in the clips"
        written_as = "written" if feet is None else "cleaned"
        yield (
            f"foot slide while planted: {100 * slides.before:.1f} cm/s as blended{own}, {100 * slides.after:.1f} cm/s "
            f"as {written_as}"
        )
    if found is not None:
        yield (
            f"distance from the path: {format_distance(found.mean_distance)} on average,"
            f" {format_distance(found.largest_distance)} at most; from the path to the walk:"
            f" {format_distance(found.mean_uncovered)} on average; between their ends:"
            f" {format_distance(found.end_distance)}"
        )
        yield from _style_lines(found)
    if landing is not None:
        yield (
            f"the last {landing.seconds:g} s are bent by {format_distance(landing.shift)} and"
            f" {abs(math.degrees(landing.turn)):.1f} degrees to end exactly at the target"
        )
