"""`marey demo`: a tour of marey on generated motion."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from marey.cli.demo_files import (
    DemoFile,
    clean_feet,
    draw_clips,
    find_contacts,
    print_metrics,
    write_formats,
    write_together,
)
from marey.cli.demo_new import add_layers, blend_clips, find_kicks, steer, walk_graph, write_page
from marey.cli.files import make_folder
from marey.errors import UnwritableFile

CLIPS: dict[str, dict[str, Any]] = {
    "walk": {"speed": 1.3, "seconds": 4.0},
    "walk_left": {"speed": 1.3, "turn_rate": 0.5, "seconds": 4.0},
    "walk_right": {"speed": 1.3, "turn_rate": -0.5, "seconds": 4.0},
    "run": {"speed": 3.0, "seconds": 3.0},
    "stairs": {},
    "kick": {},
}


MARK = ".marey-demo"
FILES = (
    *(f"walk{suffix}" for suffix in (".bvh", ".glb", ".npz", ".marey.json", ".png")),
    *("clips.glb", "contacts.bvh", "contacts.marey.json", "run.png", "stairs.png", "kick.png", "feet.png", "paths.png"),
    *("skated.bvh", "skated.marey.json", "held.bvh", "held.marey.json", "held.png"),
    *(
        "jog.bvh",
        "jog.marey.json",
        "jog.png",
        "jog_feet.png",
        "graph.npz",
        "along.bvh",
        "along.marey.json",
        "along.png",
    ),
    *("web.npz", "kicks.npz", "found.png", "aimed.png", "reach.png"),
    *("carry.bvh", "carry.marey.json", "carry.png", "look.bvh", "look.marey.json", "look.png"),
    *("steered.bvh", "steered.marey.json", "steered.png", "demo.html"),
    *(f"aimed_{k}{suffix}" for k in (1, 2, 3) for suffix in (".bvh", ".marey.json")),
)


@click.command("demo")
@click.argument("outdir", default="demo_out")
def command(outdir: str) -> int:
    """Tour marey on generated motion: write, measure, clean, blend and plot clips, follow paths, aim kicks, steer.

    All files are written to OUTDIR, by default demo_out.

    \b
    Example:
      marey demo
      marey demo /tmp/marey
    """
    import marey.plot  # noqa: F401  # raises an error if matplotlib is missing

    folder = make_folder(outdir or ".")
    try:
        _clear(folder)
    except OSError as error:
        if isinstance(error, UnwritableFile):
            raise
        raise UnwritableFile(f"cannot write to the folder ({error.strerror})", path=outdir) from None
    files = list(_make(folder))
    _print_table(files)
    failed = [item for item in files if not item.ok]
    for item in failed:
        click.echo(f"marey: {item.path}: {item.check}", err=True)
    return 1 if failed else 0


def _clear(folder: Path) -> None:
    """Remove the files of an earlier demo. Raise an error if a marker file does not show that they are the demo's."""
    mark = folder / MARK
    there = [path for name in FILES if (path := folder / name).exists()]
    if there and not mark.exists():
        raise UnwritableFile(
            f"was not written by the demo ({folder / MARK} is missing); choose another folder", path=there[0]
        )
    for path in there:
        path.unlink()
    mark.touch()


def _make(folder: Path) -> Iterator[DemoFile]:
    """Write all files. Each is checked before the next is written."""
    from dataclasses import replace

    from marey.samples import sample

    clips = {
        name: replace(sample(name.split("_")[0], **parameters).motion, name=name) for name, parameters in CLIPS.items()
    }
    walk = clips["walk"]
    click.echo(f"Generated {len(clips)} clips with exact contacts, labels and parameters: {', '.join(clips)}.\n")
    yield from write_formats(folder, walk)
    yield from write_together(folder, clips)
    yield find_contacts(folder, clips)
    print_metrics(walk)
    yield from clean_feet(folder, walk)
    yield from blend_clips(folder, clips)
    yield from walk_graph(folder, clips)
    yield from find_kicks(folder)
    yield from add_layers(folder, clips["walk_left"], CLIPS["walk_left"])
    yield from steer(folder)
    yield from draw_clips(folder, clips)
    yield from write_page(folder)


def _print_table(files: list[DemoFile]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for title in ("file", "content", "check", "open with"):
        table.add_column(title, no_wrap=title == "file")
    for item in files:
        table.add_row(item.path.name, item.what, item.check, item.look)
    click.echo(f"Files in {files[0].path.parent}:")
    Console(markup=False, highlight=False, width=None if sys.stdout.isatty() else 110).print(table)
    click.echo(f"\nTo see them move: {_name_program()} studio {files[0].path.parent}")


def _name_program() -> str:
    """Return how to run this program: its name if the shell finds it, else its path."""
    path = Path(sys.argv[0])
    found = shutil.which(path.name)
    same = found is not None and Path(found).resolve() == path.resolve()
    return str(path) if path.stem == "marey" and path.is_file() and not same else "marey"
