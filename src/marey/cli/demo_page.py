"""The demo's last part: one HTML page that plays its motions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from marey.cli.demo_files import Made

# The motions of the earlier parts to show.
SHOWN = ("steered", "along", "jog", "carry", "look", "aimed_1", "aimed_2", "aimed_3")
# Maximum size of the page in bytes, without its motions.
MAX_BYTES = 2 * 10**6
# Upper limit for the bytes per joint and frame on the page.
JOINT_BYTES = 20


def write_page(folder: Path) -> Iterator[Made]:
    """Write the page, if its player was built during installation."""
    from marey.io import load
    from marey.io.files import write_bytes
    from marey.studio.page_files import PAGE
    from marey.studio.view import view_page

    if not (PAGE / "view.js").is_file():
        click.echo("Skipped the page: the studio was not built during installation; run `make page` to build it.\n")
        return
    motions = [load(folder / f"{name}.bvh") for name in SHOWN]
    page = view_page(motions, "marey demo")
    write_bytes(folder / "demo.html", [page])
    data = JOINT_BYTES * sum(len(motion) * len(motion.skeleton) for motion in motions)
    size = f"{len(page) / 1e6:.1f} MB, including {data / 1e6:.1f} MB of motion"
    yield Made(folder / "demo.html", "plays the motions above", size, "any browser", len(page) <= MAX_BYTES + data)
