"""What the warm-up does: small pieces of each panel's work, asked for as a page asks, on small generated motions."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

# Seconds that a live stream plays; frames per second of the motions, and of one like a recording; metres by which that
# trembles.
_PLAYED, _RATE, _FAST, _TREMBLE = 1.5, 30.0, 120.0, 0.001
# Files of the folder that `make_clips` writes.
_CURVES = ("curve1.bvh", "curve2.bvh", "curve3.bvh")
_RUN, _BARE, _TAKES = "run.bvh", "bare.bvh", ("take1.npz", "take2.npz")
# The label of what is done several times in the takes.
_ACTION = "kick"


class Asks(Protocol):
    """Whoever carries commands out."""

    async def do(self, name: str, /, **fields: Any) -> Any:
        """The reply to a command."""


Piece = Callable[[Asks], Awaitable[None]]


def make_clips(folder: Path) -> None:
    """Write the motions that the pieces open; one is as recordings are, without contacts and not quite steady."""
    import numpy as np

    from marey.core.labels import Labels
    from marey.io import save
    from marey.pmg.walker import sample_walks
    from marey.samples import sample

    for name, walk in zip(_CURVES, sample_walks(n_turns=3, speeds=(1.1,), fps=_RATE), strict=True):
        save(walk, folder / name)
    save(sample("run", fps=_RATE, seconds=4.0).motion, folder / _RUN)
    bare = sample("walk", fps=_FAST, seconds=3.0).motion
    trembling = bare.root_positions + np.random.default_rng(0).normal(0.0, _TREMBLE, bare.root_positions.shape)
    save(replace(bare, root_positions=trembling, contacts=None, labels=Labels()), folder / _BARE)
    for name, seed in zip(_TAKES, (1, 4), strict=True):
        save(sample("medley", rng=seed, kicks=3, punches=0, reaches=0, fps=_RATE).motion, folder / name)


async def look(page: Asks) -> None:
    """Show a motion, and find its contacts."""
    motion = await _opened(page, _BARE)
    await page.do("detect_contacts", motion=motion)
    for curve in ("travel", "speed", "position", "rotation", "contact_heights", "contact_speeds"):
        await page.do("curves", motion=motion, curve=curve)
    await page.do("cloud", motion=motion, frame=10)


async def clean(page: Asks) -> None:
    """Clean, and measure."""
    motion = await _opened(page, _BARE)
    done = await page.do("clean", motion=motion, as_new=True)
    await page.do("clean", motion=motion, as_new=True, hands=True)
    await page.do("measure", motion=done.motion.motion, against=motion)
    await page.do("align", motion=motion, frame=5, to=done.motion.motion, to_frame=8)


async def blend(page: Asks) -> None:
    """A blend of two, by our method and by weights that change; then of three."""
    a, b, c = await _all_opened(page, (_CURVES[0], _BARE, _CURVES[2]))
    await page.do("blend", motions=[a, b])
    await page.do("blend_study", motions=[a, b])
    rising, falling = [(0.0, 0.0), (1.0, 1.0)], [(0.0, 1.0), (1.0, 0.0)]
    await page.do("blend", motions=[a, b], curves=[falling, rising])
    await page.do("blend_place", motion=a, to=b, seconds=0.5, to_seconds=0.7)
    await page.do("blend", motions=[a, b, c])


async def join(page: Asks) -> None:
    """Transitions, and the other methods."""
    a, b = await _all_opened(page, (_CURVES[0], _BARE))
    await page.do("blend_transition", motions=[a, b])
    for method in ("linear", "discrete", "cubic"):
        await page.do("blend", motions=[a, b], method=method)
    await page.do("blend_statistics", motions=[a, b], limit=0.2)


async def graph(page: Asks) -> None:
    """A graph, a walk about, a walk along a path, and one that is steered."""
    motions = await _all_opened(page, (*_CURVES, _RUN))
    built = await page.do("graph_build", motions=motions)
    limit = {"threshold": built.suggested}
    await page.do("graph_links", threshold=0.1)
    await page.do("graph_walk", **limit, seconds=4.0)
    bend = [(0.0, 0.2 * k) for k in range(11)] + [(0.2 * k, 2.0) for k in range(1, 8)]
    await page.do("graph_follow", **limit, stretches=[{"points": bend, "label": None}])
    for planted in (False, True):
        await page.do("graph_steer", **limit, clean=planted)
        await asyncio.sleep(_PLAYED / 2)
        await page.do("graph_wish", direction=1.5, label=None)
        await asyncio.sleep(_PLAYED)
    await page.do("live_stop")


async def find(page: Asks) -> None:
    """A web, a search, and a motion that is aimed."""
    one, two = await _all_opened(page, _TAKES)
    labels = (await page.do("motion", motion=one)).labels
    first = next(label for label in labels if label.name == _ACTION)
    await page.do("find_build", like=one, motions=[one, two])
    query = {"motion": one, "start": first.start, "stop": first.stop}
    offered = await page.do("find_suggest", **query)
    found = await page.do("find_search", **query, threshold=offered.threshold)
    feature = f"position:{found.joint}@farthest"
    made = await page.do("aim_make", search=found.search, feature=feature, samples=100)
    point = [value + 0.05 for value in made.first.hit]
    await page.do("aim", point=point)
    await page.do("aim", point=point, refine=True)


async def layer(page: Asks) -> None:
    """An upper body on other legs, an arm, and looks."""
    legs, body = await _all_opened(page, (_CURVES[1], _BARE))
    await page.do("layer_splice", lower=legs, upper=body)
    await page.do("layer_transplant", base=legs, donor=body, part="right_arm")
    goals = [{"time": 0.5, "point": [2.0, 1.5, 2.0]}, {"time": 1.5, "point": None}]
    for eyes in (False, True):
        await page.do("layer_look", motion=legs, goals=goals, eyes=eyes)


async def drive_character(page: Asks) -> None:
    """A character of one node, made, connected and driven."""
    motions = await _all_opened(page, _CURVES)
    await page.do("author_new", name="warm-up")
    await page.do("author_add", name="walk", motions=motions)
    chart = await page.do("author_compare", source="walk", target="walk", n_source=20, n_target=60)
    limits = {"good": chart.good, "bad": chart.bad}
    await page.do("author_try", source="walk", target="walk", **limits)
    await page.do("author_connect", source="walk", target="walk", **limits)
    await page.do("author_motion", node="walk", parameters=[0.0])
    for feet in ("lock", "clean"):
        await page.do("drive_start", way="character", source="draft", feet=feet)
        await _steered(page)
    await page.do("author_walk", seconds=2.0)


async def drive_others(page: Asks) -> None:
    """The other ways to drive."""
    motions = await _all_opened(page, _CURVES)
    for way in ("graph", "matching", "tree"):
        await page.do("drive_start", way=way, motions=motions)
        await _steered(page)


async def gaze(page: Asks) -> None:
    """A gaze map, and a motion that looks by it."""
    motion = await _opened(page, _BARE)
    await page.do("author_gaze", shipped=True)
    await page.do("author_gaze_remove", example=1)
    await page.do("author_gaze_aim", motion=motion, yaw=0.5, pitch=0.1)


# In the order in which a person is likely to come to them.
PIECES: tuple[Piece, ...] = (look, clean, blend, graph, find, drive_character, layer, join, drive_others, gaze)


async def _opened(page: Asks, path: str) -> str:
    motion: str = (await page.do("open", path=path)).motion
    return motion


async def _all_opened(page: Asks, paths: tuple[str, ...]) -> list[str]:
    return [await _opened(page, path) for path in paths]


async def _steered(page: Asks) -> None:
    """Play what is driven, and ask it for a direction and for a point."""
    for wish in ({"direction": 1.2}, {"point": [1.0, 2.0]}, {"direction": -1.2}):
        await page.do("drive_wish", **wish)
        await asyncio.sleep(_PLAYED)
    await page.do("live_stop")
