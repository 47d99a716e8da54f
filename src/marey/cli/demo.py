"""`marey demo`: the main job from end to end, on generated motion."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

if TYPE_CHECKING:
    from marey.core import Motion

# How far a joint may be from where it was after a file was written and read back, in metres.
TOLERANCE = {".bvh": 1e-6, ".glb": 1e-5, ".npz": 0.0}


class Made(NamedTuple):
    """A file that the demo made."""

    path: Path
    what: str
    checked: str
    look: str
    ok: bool = True


@click.command("demo")
@click.argument("outdir", default="demo_out")
def command(outdir: str) -> int:
    """Generate a walk, write it in every format, read each back, check it, and draw it. Files go to OUTDIR.

    \b
    Example:
      marey demo
      marey demo /tmp/marey
    """
    from marey.errors import UnwritableFile

    folder = Path(outdir)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UnwritableFile(f"cannot be made a folder ({error.strerror})", path=outdir) from None
    made = list(_make(folder))
    _table(made)
    failed = [item for item in made if not item.ok]
    for item in failed:
        click.echo(f"marey: {item.path}: {item.checked}", err=True)
    return 1 if failed else 0


def _make(folder: Path) -> Iterator[Made]:
    """Write every file; each is read back before the next is made."""
    from marey.io import save, sidecar_path
    from marey.plot import filmstrip
    from marey.samples import straight_walk

    walk = straight_walk(speed=1.3, seconds=4.0)
    click.echo(f"{walk!r}, generated; {len(walk.contacts.points) if walk.contacts else 0} contact points")
    looks = {
        ".bvh": ("motion, BVH in centimetres", "marey info {}; Blender: File > Import > BVH"),
        ".glb": ("motion with a simple figure, glTF", "any glTF viewer; Blender: File > Import > glTF"),
        ".npz": ("motion, NumPy arrays", "marey info {}; numpy.load"),
    }
    for suffix, (what, look) in looks.items():
        path = folder / f"walk{suffix}"
        save(walk, path)
        error = _largest_error(walk, path)
        yield Made(path, what, f"read back to {1e6 * error:.2g} um", look.format(path), error <= TOLERANCE[suffix])
    yield Made(sidecar_path(folder / "walk.bvh"), "its contacts and labels", "read back equal", "any text editor")
    picture = folder / "walk.png"
    filmstrip(walk, picture)
    yield Made(picture, "filmstrip and path", "", "any image viewer")


def _largest_error(walk: Motion, path: Path) -> float:
    """Farthest that any joint comes to lie from where it was, in metres; infinite if annotations differ."""
    import numpy as np

    from marey.io import load_motion

    again = load_motion(path)
    if walk.contacts is None or again.contacts is None or not np.array_equal(walk.contacts.mask, again.contacts.mask):
        return float("inf")
    return float(np.linalg.norm(again.world().positions - walk.world().positions, axis=-1).max())


def _table(made: list[Made]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for title in ("file", "what it is", "checked", "how to look at it"):
        table.add_column(title, overflow="fold")
    for item in made:
        table.add_row(str(item.path), item.what, item.checked, item.look)
    Console(markup=False, highlight=False).print(table)
