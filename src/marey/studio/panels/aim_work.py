"""Build parametric motions ("spaces") from matches and evaluate them for targets. Runs in the worker."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from marey.core.arrays import Floats
from marey.core.naming import target_name
from marey.errors import InvalidValue
from marey.studio.panels.find_sources import cut_matches
from marey.studio.panels.find_work import run_search
from marey.studio.work import Progress

if TYPE_CHECKING:
    from marey.core.motion import Motion
    from marey.parametric import ParametricMotion
    from marey.studio.panels.find_sources import Source

# Maximum number of reachable points to draw.
_MAX_POINTS = 4_000
# Suffixes stripped from an example's name: the file suffix and the range.
_REST = re.compile(r"(\.[A-Za-z]\w{1,3})?( \(outside\))?( [\d.]+-[\d.]+( s)?)*$")


def make(
    progress: Progress,
    query: dict[str, Any],
    how: dict[str, Any],
    drop: list[int],
    settings: dict[str, Any],
    output: str,
    sources: dict[str, Source],
) -> dict[str, Any]:
    """Build a parametric motion from matches and save it to `output`. Return its description and a first motion.

    query, how : the query and the options of the search.
    drop : indices of the matches to leave out.
    settings : options of `ParametricMotion.build`.
    sources : source of each matched clip, for `marey.studio.panels.find_sources.cut_matches`. The space gets the
        sources' frame rate, not that of the match web.
    """
    from marey.core.placement import find_placement
    from marey.parametric import ParametricMotion

    progress(0.0, "searching")
    found = run_search(**how, **query)
    selected = found.without(*drop) if drop else found
    progress(0.0, "reading")
    motions, notes = cut_matches(selected, list(range(len(selected))), query, sources)
    selected = replace(selected, motions=tuple(motions))
    space = ParametricMotion.build(
        selected, progress=lambda fraction: progress(fraction, "sampling blends"), **settings
    )
    space = replace(space, notes=(*notes, *space.notes))
    space.save(output)
    stands = find_placement(selected.motions[0], 0)
    return _describe_space(space, stands.tolist()) | {"given": len(selected)}


def load(progress: Progress, space: str) -> dict[str, Any]:
    """Load a space from a file, with its character at the origin. Return the same as `make`."""
    progress(0.0, "reading")
    return _describe_space(_load_space(space), [0.0, 0.0, 0.0])


def _describe_space(space: ParametricMotion, stands: list[float]) -> dict[str, Any]:
    """Describe a space: its parameters and its first motion."""
    range_ = space.reachable()
    points: Floats = np.empty((0, 3))
    if is_position(space):
        seen = space.samples[:: -(-len(space.samples) // _MAX_POINTS)]
        points = _to_world(np.array(stands), _get_floor(space), seen)
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
        "first": _synthesize(space, space.parameters[0], {"start": stands}),
    }


def aim(
    progress: Progress,
    space: str,
    target: list[float] | None,
    point: list[float] | None,
    settings: dict[str, Any],
) -> dict[str, Any]:
    """Synthesize the motion for a target, or for a point in the world if the parameter is a position.

    space : path of the space's file.
    settings : options of `ParametricMotion.synthesize`; `start` is where the character stands.
    """
    from marey.maths import rigid2d

    asked = _load_space(space)
    if (target is None) == (point is None):
        given = "neither" if target is None else "both"
        raise InvalidValue(f"expected either a target or a point in the world, got {given}")
    wanted: Floats = np.array(target, dtype=np.float64)
    if point is not None:
        if not is_position(asked):
            raise InvalidValue(f"this motion is controlled by {', '.join(asked.names)}, not by a point in the world")
        wanted = rigid2d.apply(rigid2d.invert(settings["start"]), np.array(point)) - [0.0, _get_floor(asked), 0.0]
    return _synthesize(asked, wanted, settings)


def _synthesize(space: ParametricMotion, wanted: Floats, settings: dict[str, Any]) -> dict[str, Any]:
    """Synthesize a motion and describe it for the page."""
    from marey.parametric.points import find_path

    motion, info = _evaluate(space, wanted, settings)
    if settings.get("name") is None:
        motion = replace(motion, name=name_motion(space, info["reached"]))
    info |= {"motion": motion, "point": None, "hit": None, "moment": None, "path": np.empty(0)}
    if is_position(space):
        path = find_path(motion.skeleton, motion.world(), space.features[0].joint)
        ends = np.array([info["target"], info["reached"]])
        target_at, hit = _to_world(np.array(settings["start"]), _get_floor(space), ends)
        info |= {
            "point": target_at.tolist(),
            "hit": hit.tolist(),
            "moment": int(np.linalg.norm(path - hit, axis=1).argmin()),
            "path": path.round(4).ravel(),
        }
    return info


def _evaluate(space: ParametricMotion, wanted: Floats, settings: dict[str, Any]) -> tuple[Motion, dict[str, Any]]:
    """Synthesize a motion and measure the parameters it reaches.

    User-given parameters cannot be measured; report the parameters that were aimed at instead.
    """
    by_hand = space.features[0].kind == "given"
    result = space.synthesize(wanted, **(settings | {"refine": False} if by_hand else settings))
    return result.motion(), {
        "target": result.target.tolist(),
        "aimed": result.aimed.tolist(),
        "reached": (result.aimed if by_hand else result.reached).tolist(),
        "errors": result.measure_projection() if by_hand else result.distances(),
        "projected": result.projected,
    }


def name_motion(space: ParametricMotion, reached: Sequence[float]) -> str:
    """Return a short name for a motion: the name of the first example and the reached parameters."""
    example = space.registration.motions[0]
    name = next((label.name for label in example.labels), _REST.sub("", example.name.rpartition("/")[2]))
    return target_name(name, space.names, space.units, reached)


def is_position(space: ParametricMotion) -> bool:
    """Return whether the only parameter is a 3D position, which can be shown and dragged."""
    return len(space.features) == 1 and space.features[0].kind == "position" and space.features[0].which == "xyz"


@lru_cache(maxsize=2)
def _load_space(path: str) -> ParametricMotion:
    from marey.parametric import ParametricMotion

    return ParametricMotion.load(path)


def _get_floor(space: ParametricMotion) -> float:
    return space.registration.motions[0].source.floor or 0.0


def _to_world(stands: Floats, floor: float, places: Floats) -> Floats:
    """Transform points (n, 3), given to the left, above the floor and ahead of the character, to world coordinates."""
    from marey.maths import rigid2d

    return np.asarray(rigid2d.apply(stands, places + [0.0, floor, 0.0]))
