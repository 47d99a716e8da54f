"""`marey pmg info` and `plot`, and helpers to open and describe characters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from marey.cli.derived_options import word_options
from marey.cli.files import check_plot, print_json
from marey.cli.query import AS_JSON
from marey.errors import InvalidValue, NoResult, UnknownName, plural, similar

if TYPE_CHECKING:
    from marey.pmg import Edge, Node, ParametricMotionGraph
    from marey.pmg.auto import AutoReport

_KINDS = ("graph", "boxes", "costs", "lengths")


def open_character(path: str, *, empty: bool = True) -> ParametricMotionGraph:
    """Load a character. Raise an error if it has no nodes, unless `empty` is True."""
    from marey.pmg import ParametricMotionGraph

    graph = ParametricMotionGraph.load(path)
    if not empty and not graph.nodes:
        raise InvalidValue(f"{graph.name!r} has no nodes yet; add a node first")
    return graph


def _describe_ranges(node: Node) -> list[dict[str, Any]]:
    from marey.core.naming import display_unit

    rows = []
    for name, unit, low, high in zip(node.names, node.units, node.low, node.high, strict=True):
        shown_unit, factor = display_unit(unit)
        rows.append({"name": name, "unit": shown_unit, "low": factor * float(low), "high": factor * float(high)})
    return rows


def _node(node: Node) -> dict[str, Any]:
    reach = node.count_reached()
    return {
        "name": node.name,
        "parameters": _describe_ranges(node),
        "of": node.parent,
        "examples": None if reach is None else reach.n_examples,
        "examples_reached": None if reach is None else reach.n_reached,
        "reach": "" if reach is None else reach.describe(),
        "coverage": coverage() if (coverage := getattr(node.space, "describe_coverage", None)) else "",
    }


def _edge(graph: ParametricMotionGraph, edge: Edge) -> dict[str, Any]:
    fraction = ((edge.high - edge.low) / graph[edge.target].scale).prod(axis=1).mean()
    return {
        "from": edge.source,
        "to": edge.target,
        "good": edge.good,
        "good_chosen": edge.is_chosen,
        "bad": edge.bad,
        "worst": edge.worst,
        "samples": len(edge),
        "fraction": min(1.0, float(fraction)),
    }


def graph_report(graph: ParametricMotionGraph) -> dict[str, Any]:
    """Describe a character, as printed by `info --json`."""
    seams = graph.seams
    return {
        "name": graph.name,
        "transitions": {"length": seams.length, "region": seams.region, "markers": seams.markers},
        "nodes": [_node(node) for node in graph.nodes.values()],
        "edges": [_edge(graph, edge) for edge in graph.edges.values()],
        "dead_ends": list(graph.dead_ends()),
    }


def print_character(
    graph: ParametricMotionGraph,
    as_json: bool,
    *,
    written: list[str] | None = None,
    report: AutoReport | None = None,
    limits: bool = False,
) -> None:
    """Print a description of a character and, if requested, its dead ends: what it cannot do after some of its
    clips."""
    facts = graph_report(graph) | {"written": written or []}
    if limits:
        from marey.control import find_limits

        facts["limits"] = [each.describe(graph) for each in find_limits(graph)]
    if report is not None:
        facts["failed"] = [{"from": a, "to": b, "why": why} for a, b, why in report.failed]
        facts["pruned"] = list(report.pruned)
    if as_json:
        print_json(facts)
        return
    from marey.pmg.units import format_ranges

    click.echo(f"{graph.name}: {plural(len(graph.nodes), 'node')}, {plural(len(graph.edges), 'edge')}")
    for node in facts["nodes"]:
        shown = graph[node["name"]]
        ranges = format_ranges(shown.names, shown.units, shown.low, shown.high)
        click.echo(f"  {node['name']}: {ranges}{'; ' * bool(node['reach'])}{node['reach']}")
        if node["coverage"]:
            click.echo(f"    {node['coverage']}")
    for edge in facts["edges"]:
        click.echo(_line(edge))
    for name in facts["dead_ends"]:
        click.echo(f"  ! {name} is a dead end; connect it to a node")
    for text in facts.get("limits", []):
        click.echo(f"  ! {word_options(text)}")
    for row in facts.get("failed", []):
        click.echo(f"  - {word_options(row['why'])}")
    for name in facts.get("pruned", []):
        click.echo(f"  - {name} was a dead end and has been removed")
    for path in facts["written"]:
        click.echo(f"wrote {path}")


def _line(edge: dict[str, Any]) -> str:
    chosen = " (chosen automatically)" if edge["good_chosen"] else ""
    return (
        f"  {edge['from']} -> {edge['to']}: good {100 * edge['good']:.1f} cm{chosen}, bad {100 * edge['bad']:.1f} cm, "
        f"on average, {100 * edge['fraction']:.0f} % of the motions of {edge['to']} can follow"
    )


def print_edge(graph: ParametricMotionGraph, edge: Edge, as_json: bool, *, written: list[str]) -> None:
    """Print a description of an edge."""
    facts = _edge(graph, edge)
    facts |= {"costs": edge.costs.tolist(), "written": written}
    if as_json:
        print_json(facts)
        return
    click.echo(_line(facts).strip())
    click.echo(f"  smallest `good` with which every motion has a transition: {100 * edge.worst:.1f} cm")
    quarter = len(edge.costs) // 4
    low, middle, high = (100 * edge.costs[k * quarter] for k in (1, 2, 3))
    click.echo(f"  quartiles of the distances of all transitions: {low:.1f} cm, {middle:.1f} cm, {high:.1f} cm")
    for path in written:
        click.echo(f"wrote {path}")


@click.command("info", short_help="Show what a character can do.")
@click.argument("char", metavar="CHAR")
@AS_JSON
def info(char: str, as_json: bool) -> int:
    """Show what a character can do, and what it can no longer do after some clips. The exit code is 1 if it has dead
    ends.

    \b
    Example:
      marey pmg info walker.json
    """
    graph = open_character(char)
    print_character(graph, as_json, limits=True)
    return 1 if graph.dead_ends() else 0


@click.command("plot")
@click.argument("char", metavar="CHAR")
@click.option("-o", "--output", required=True, metavar="OUT", help="The plot to write: PNG or SVG.")
@click.option("--kind", type=click.Choice(_KINDS), default="graph", show_default=True,
              help="Nodes and edges, the boxes of one edge, distances of all edges, or clip lengths.")  # fmt: skip
@click.option("--edge", "ends", metavar="A,B", help="For --kind boxes: the edge.  [default: the first]")
def plot(char: str, output: str, kind: str, ends: str | None) -> None:
    """Plot a character.

    \b
    Example:
      marey pmg plot walker.json -o walker.png
      marey pmg plot walker.json -o boxes.png --kind boxes --edge walk,walk
    """
    check_plot(output)
    if ends is not None and kind != "boxes":
        raise click.UsageError("--edge requires --kind boxes")
    graph = open_character(char, empty=False)
    if kind == "graph":
        from marey.plot.pmg import graph as draw

        draw(graph, output)
    elif kind == "lengths":
        from marey.plot.pmg import lengths

        lengths(graph, output)
    elif not graph.edges:
        raise NoResult(f"{graph.name!r} has no edges to draw; connect its nodes")
    elif kind == "costs":
        from marey.plot.pmg_costs import edges

        edges(graph, output)
    else:
        _draw_boxes(graph, ends, output)
    click.echo(f"wrote {output}")


def _draw_boxes(graph: ParametricMotionGraph, ends: str | None, output: str) -> None:
    from marey.plot.pmg import edge as draw
    from marey.pmg.connect import build_edge

    pairs = {",".join(pair): pair for pair in graph.edges}
    if ends is not None and ends not in pairs:
        raise UnknownName(f"unknown edge {ends!r}; available edges: {'; '.join(pairs)}{similar(ends, pairs)}")
    source, target = pairs[ends] if ends is not None else next(iter(graph.edges))
    known = graph.edges[source, target]
    comparison = graph.compare(source, target, n_source=max(4, len(known)))
    # The nodes are sampled again, so the boxes have the same thresholds as those in the file, but differ from them.
    good = max(known.good, float(comparison.costs.min(axis=1).max()))
    edge = build_edge(comparison, graph[source], graph[target], good, max(good, known.bad))
    draw(comparison, edge, graph[source], graph[target], output)
