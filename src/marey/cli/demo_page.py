"""The demo's last part: what it made, as one page that plays it in a browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from marey.cli.demo_files import Made

# What is worth watching, of what the earlier parts made.
SHOWN = ("steered", "along", "jog", "carry", "look", "aimed_1", "aimed_2", "aimed_3")
# The most that the page may be, in bytes, beside its motions.
MOST_BYTES = 2 * 10**6
# Bytes of a joint in a frame of the page, with some to spare.
JOINT_BYTES = 20


def write_page(folder: Path) -> Iterator[Made]:
    """The page, where its player was built on installation."""
    from marey.io import load
    from marey.io.files import write_bytes
    from marey.studio.page_files import PAGE
    from marey.studio.view import view_page

    if not (PAGE / "view.js").is_file():
        click.echo("No page to play them: the studio was not built on installation; `make page` builds it.\n")
        return
    motions = [load(folder / f"{name}.bvh") for name in SHOWN]
    page = view_page(motions, "marey demo")
    write_bytes(folder / "demo.html", [page])
    data = JOINT_BYTES * sum(len(motion) * len(motion.skeleton) for motion in motions)
    told = f"{len(page) / 1e6:.1f} MB, of these {data / 1e6:.1f} motion"
    yield Made(folder / "demo.html", "the motions above, to play", told, "any browser", len(page) <= MOST_BYTES + data)
