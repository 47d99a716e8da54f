"""`marey pmg export`: write a character for use without Python."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from marey.cli.derived_options import SettingsCommand, add_settings, read_settings
from marey.cli.files import check_output
from marey.cli.pmg_report import open_character
from marey.cli.query import AS_JSON
from marey.cli.values import format_size
from marey.errors import plural


@click.command("export", cls=SettingsCommand, short_help="Export as an offline page, or for games.")
@click.argument("char", metavar="CHAR")
@click.option(
    "-o", "--output", required=True, metavar="OUT",
    help="The file to write: .html for a page; .glb or .json for clips and transition table, which are both written.",
)  # fmt: skip
@add_settings("marey.control.settings:SampleSettings")
@AS_JSON
def export(char: str, output: str, as_json: bool, **options: Any) -> None:
    """Export a character as an offline page for driving it, or as clips with a transition table for other programs.

    The nodes are sampled: the exported character plays only these clips, not the motions in between.

    \b
    Example:
      marey pmg export walker.json -o walker.html
      marey pmg export walker.json -o walker_clips.glb --max-clips 100
    """
    from marey.control import SampleSettings
    from marey.io.archive import check_suffix
    from marey.studio.character_page import SUFFIXES, export_character

    check_suffix(output, SUFFIXES, "an exported character")
    if output.lower().endswith((".html", ".htm")):
        check_output(output, form="marey.sampled_character")
    else:
        for suffix in (".glb", ".json"):
            other = Path(output).with_stem(f"{Path(output).stem}_clips")
            remedy = f"a .glb and a .json file are written; choose another name for both, such as {other}"
            check_output(str(Path(output).with_suffix(suffix)), form="marey.sampled_character", remedy=remedy)
    graph = open_character(char, empty=False)
    sampled, written = export_character(graph, output, settings=read_settings(SampleSettings, options))
    sizes = {path: Path(path).stat().st_size for path in written}
    links = sampled.transitions
    lost = [name for name in graph.nodes if name not in {node.name for node in sampled.nodes}]
    if as_json:
        report = {
            "written": list(written),
            "bytes": list(sizes.values()),
            "clips": len(sampled.clips),
            "transitions": len(links.target),
            "fps": sampled.fps,
            "speeds": sampled.tables.speeds.tolist(),
            "nodes": [node.name for node in sampled.nodes],
            "lost_nodes": lost,
        }
        click.echo(json.dumps(report))
        return
    for path, size in sizes.items():
        click.echo(f"wrote {path}: {format_size(size)}")
    click.echo(f"{plural(len(sampled.clips), 'clip')} at {sampled.fps:g} Hz, {plural(len(links.target), 'transition')}")
    if lost:
        named = ", ".join(map(repr, lost))
        click.echo(f"no sampled clip of {named} can be reached and left again; raise --max-clips", err=True)
