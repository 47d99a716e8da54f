"""Heavy work of aiming, as the worker runs it: spaces of motions from matches, and what they are asked for."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from marey.core.arrays import Floats
from marey.errors import InvalidValue
from marey.studio.panels.aim_made import parts_of
from marey.studio.panels.find_sources import cut
from marey.studio.panels.find_work import found_by
from marey.studio.work import Progress

if TYPE_CHECKING:
    from marey.core.motion import Motion
    from marey.parametric import ParametricMotion
    from marey.studio.panels.find_sources import Source

# Reachable places that are drawn at the most.
_MOST_POINTS = 4_000
# What follows the name proper in that of an example: its file's suffix, and which part of it that is.
_REST = re.compile(r"(\.[A-Za-z]\w{1,3})?( \(outside\))?( [\d.]+-[\d.]+( s)?)*$")


def make(
    progress: Progress,
    query: dict[str, Any],
    how: dict[str, Any],
    drop: list[int],
    feature: str,
    samples: int,
    into: str,
    sources: dict[str, Source],
) -> dict[str, Any]:
    """A space of matches, written to `into`; what it can be asked for, and the motion of its first example.

    sources : where the clips of the matches are from, as `marey.studio.panels.find_sources.cut` takes them: the space
        is at the rate of these, not at that of the web.
    """
    from marey.core.placement import find_placement
    from marey.parametric import ParametricMotion

    progress(0.0, "searching")
    found = found_by(**how, **query)
    kept = found.without(*drop) if drop else found
    progress(0.0, "reading")
    motions, notes = cut(kept, list(range(len(kept))), query, sources)
    kept = replace(kept, motions=tuple(motions))
    space = ParametricMotion.build(
        kept, feature, samples=samples, progress=lambda share: progress(share, "trying blends")
    )
    space = replace(space, notes=(*notes, *space.notes))
    space.save(into)
    stands = find_placement(kept.motions[0].skeleton, kept.motions[0][:1].world(), 0)
    return _told(space, stands.tolist()) | {"given": len(kept)}


def load(progress: Progress, space: str) -> dict[str, Any]:
    """The space in a file, with its figure on the origin; as `make`."""
    progress(0.0, "reading")
    return _told(_space(space), [0.0, 0.0, 0.0])


def _told(space: ParametricMotion, stands: list[float]) -> dict[str, Any]:
    """What a space can be asked for, and its first motion as a whole, which later ones are told by."""
    range_ = space.reachable()
    points: Floats = np.empty((0, 3))
    if is_place(space):
        seen = space.samples[:: -(-len(space.samples) // _MOST_POINTS)]
        points = _to_world(np.array(stands), _floor(space), seen)
    motion, first = _aimed(space, space.parameters[0], False, stands)
    return {
        "names": list(space.names),
        "units": list(space.units),
        "low": range_.low.tolist(),
        "high": range_.high.tolist(),
        "points": points.round(4).ravel().tolist(),
        "used": space.registration.n_motions,
        "given": space.registration.n_motions,
        "notes": list(space.notes),
        "stands": stands,
        "like": motion,
        "first": first,
    }


def aim(
    progress: Progress,
    space: str,
    target: list[float] | None,
    point: list[float] | None,
    refine: bool,
    stands: list[float],
) -> dict[str, Any]:
    """The motion for a target, or for a point in the world where the space is about a place, with what it reaches.

    stands : rigid2d of its first frame.
    """
    from marey.maths import rigid2d

    asked = _space(space)
    if (target is None) == (point is None):
        raise InvalidValue("expected either a target or a point in the world, and not both")
    wanted: Floats = np.array(target, dtype=np.float64)
    if point is not None:
        if not is_place(asked):
            raise InvalidValue(f"this space is asked by {', '.join(asked.names)}, not by a point in the world")
        wanted = rigid2d.apply(rigid2d.invert(stands), np.array(point)) - [0.0, _floor(asked), 0.0]
    return _aimed(asked, wanted, refine, stands)[1]


def _aimed(space: ParametricMotion, wanted: Floats, refine: bool, stands: list[float]) -> tuple[Motion, dict[str, Any]]:
    """A motion, and what is told of it."""
    from marey.parametric.points import path_of

    motion, told = _made(space, wanted, refine, stands)
    motion = replace(motion, name=called(space, told["reached"]))
    told |= {"motion": parts_of(motion), "point": None, "hit": None, "moment": None, "path": np.empty(0)}
    if is_place(space):
        path = path_of(motion.skeleton, motion.world(), space.features[0].joint)
        ends = np.array([told["target"], told["reached"]])
        target_at, hit = _to_world(np.array(stands), _floor(space), ends)
        told |= {
            "point": target_at.tolist(),
            "hit": hit.tolist(),
            "moment": int(np.linalg.norm(path - hit, axis=1).argmin()),
            "path": path.round(4).ravel(),
        }
    return motion, told


def _made(space: ParametricMotion, wanted: Floats, refine: bool, stands: list[float]) -> tuple[Motion, dict[str, Any]]:
    """A motion, and what it reaches; what was given by hand cannot be measured, and what is aimed at counts instead."""
    if space.features[0].kind == "given":
        motion = space(wanted, start=stands)
        aimed, projected = space.aim(wanted)
        off = {unit: float(np.linalg.norm((aimed - wanted)[[each == unit for each in space.units]]))
               for unit in dict.fromkeys(space.units)}  # fmt: skip
        reached = aimed.tolist()
        return motion, {"target": wanted.tolist(), "aimed": reached, "reached": reached, "errors": off,
                        "projected": projected}  # fmt: skip
    motion, got = space.made(wanted, refine=refine, start=stands)
    return motion, {
        "target": got.target.tolist(),
        "aimed": got.aimed.tolist(),
        "reached": got.reached.tolist(),
        "errors": got.distances(),
        "projected": got.projected,
    }


def called(space: ParametricMotion, reached: Sequence[float]) -> str:
    """A short name for a motion of a space: what its first example is called, and what it reaches."""
    example = space.registration.motions[0]
    name = next((label.name for label in example.labels), _REST.sub("", example.name.rpartition("/")[2]))
    if is_place(space):
        return f"{name} at {' '.join(f'{value + 0.0:.2f}' for value in np.round(reached, 2))}"
    parts = []
    for quantity, unit, value in zip(space.names, space.units, reached, strict=True):
        shown, sign = (math.degrees(value), unit.replace("rad", "°")) if unit.startswith("rad") else (value, f" {unit}")
        parts.append(f"{quantity.replace('_', ' ')} {round(shown, 2) + 0.0:.2f}{sign}".rstrip())
    return f"{name}, {', '.join(parts)}"


def is_place(space: ParametricMotion) -> bool:
    """Whether it is asked by one place of three coordinates, so that it can be shown and dragged."""
    return len(space.features) == 1 and space.features[0].kind == "position" and space.features[0].which == "xyz"


@lru_cache(maxsize=2)
def _space(path: str) -> ParametricMotion:
    from marey.parametric import ParametricMotion

    return ParametricMotion.load(path)


def _floor(space: ParametricMotion) -> float:
    return space.registration.motions[0].source.floor or 0.0


def _to_world(stands: Floats, floor: float, places: Floats) -> Floats:
    """(n, 3) places left, up and ahead of where a figure stands, in the world."""
    from marey.maths import rigid2d

    return np.asarray(rigid2d.apply(stands, places + [0.0, floor, 0.0]))
