"""Interactive pages of docs/concepts.md: motions that play in the page, written with `marey.view`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import marey
from marey.core.placement import find_placement
from marey.maths import rigid2d
from marey.pmg import build_recipe, read_recipe
from marey.samples import sample


def show_registration() -> list[marey.Motion]:
    """Return a walk and a run, averaged frame by frame and blended after registration, beside each other."""
    walk, run = (sample(name, seconds=3.0).motion for name in ("walk", "run"))
    linear = marey.blend([walk, run], [0.5, 0.5], method="linear", name="frame by frame")
    return place_apart([linear, marey.blend(marey.register([walk, run]), [0.5, 0.5], name="registered")], 1.2)


def show_matches() -> list[marey.Motion]:
    """Return all kicks that one kick finds in a long take, beside each other."""
    take = replace(sample("medley", fps=30.0, kicks=4, punches=2, reaches=2).motion, name="take")
    one = next(label for label in take.labels if label.name == "kick")
    found = marey.MatchWeb.build([take]).search("take", one.start, one.stop, threshold=0.07)
    kicks = [replace(take[match.start : match.stop], name=f"match {k + 1}") for k, match in enumerate(found)]
    return place_apart(kicks, 1.2)


def show_graph() -> list[marey.Motion]:
    """Return motions of one node of a parametric motion graph, from its smallest turn to its largest."""
    character = build_recipe(read_recipe("right-turner"))
    node = next(iter(character.nodes.values()))
    middle = node.middle
    out = []
    for k in range(5):
        target = middle.copy()
        target[0] = node.low[0] + k / 4.0 * (node.high[0] - node.low[0])
        out.append(replace(node.motion(target), name=f"turn {k + 1}"))
    return place_apart(out, 0.0)


def place_apart(motions: list[marey.Motion], gap: float) -> list[marey.Motion]:
    """Return motions that begin beside each other, `gap` meters apart, and face the same way."""
    out = []
    for k, motion in enumerate(motions):
        start = rigid2d.invert(find_placement(motion, 0))
        out.append(motion.moved(rigid2d.compose([0.0, -gap * k, 0.0], start)))
    return out


PAGES: dict[str, Callable[[], list[marey.Motion]]] = {
    "registration": show_registration,
    "matches": show_matches,
    "graph": show_graph,
}


def write_concepts(folder: Path) -> None:
    """Write the pages to a folder, unless this code has written them already."""
    folder.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256(marey.__version__.encode() + Path(__file__).read_bytes()).hexdigest()[:16]
    key = f"<!-- {digest} -->".encode()
    for name, show in PAGES.items():
        page = folder / f"{name}.html"
        if not page.exists() or not page.read_bytes().endswith(key):
            page.write_bytes(marey.view(*show(), title=name.capitalize()).page + key)
