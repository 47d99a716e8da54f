"""`marey view`: write motions to one HTML page to share.

A separate module, as for every command; `marey.cli.main` imports commands by name.
"""

from __future__ import annotations

from typing import Any

import click

from marey.cli.derived_options import SettingsCommand
from marey.cli.files import check_output
from marey.cli.shared_options import add_reading_options, read_recording, take_reading_options
from marey.cli.values import format_size
from marey.errors import plural


@click.command("view", cls=SettingsCommand)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("-o", "--output", required=True, metavar="PAGE.html", help="HTML file to write.")
@click.option("--title", default="", help="Title of the page.  [default: the first motion's name]")
@add_reading_options
def command(files: tuple[str, ...], output: str, title: str, **options: Any) -> None:
    """Write an HTML page that plays the motions of FILE... in any browser, offline and without a server.

    \b
    Example:
      marey view walk.bvh clean.bvh -o walk.html
      marey view takes/*.bvh -o takes.html --title "Monday's takes"
    """
    from marey.io.files import write_bytes
    from marey.studio.view import check_page_name, view_page
    from marey.studio.view_skin import find_skin

    check_page_name(output)
    check_output(output)
    how = take_reading_options(options)
    motions = [read_recording(path, how) for path in files]
    page = view_page(motions, title, skins=[find_skin(motion) for motion in motions])
    write_bytes(output, [page])
    click.echo(f"wrote {output}: {plural(len(motions), 'motion')}, {format_size(len(page))}")
