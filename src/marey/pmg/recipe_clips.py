"""Load the clips of a recipe: generate them or read them from files, and cut out the part in use."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from marey.core.motion import Motion
from marey.core.placement import make_hips_root
from marey.edit.common_skeleton import share_skeleton
from marey.edit.settings import OneSkeleton
from marey.errors import InvalidValue, MareyError, ParseError, UnknownName, UnreadableFile, similar
from marey.io.files import split_name
from marey.io.folder import CLIP_SUFFIXES, describe_other
from marey.io.settings import LoadSettings
from marey.pmg.gait_cycles import compute_phase
from marey.pmg.recipe import ClipSource, Recipe
from marey.pmg.recipe_keys import MOMENT
from marey.samples.catalog import entry
from marey.samples.samples import Sample, sample

__all__ = ["RecipeClip", "load_clips", "load_target", "read_clip", "retarget_files"]


class RecipeClip(NamedTuple):
    """A motion and, if it was generated, the parameters it was generated with."""

    motion: Motion
    parameters: dict[str, Any]


ClipCache = dict[tuple[Any, ...], Any]
"""Cache of generated samples and loaded files, because nodes often use different parts of the same motions."""


def load_clips(recipe: Recipe, given: tuple[ClipSource, ...], cache: ClipCache | None = None) -> list[RecipeClip]:
    """Load all clips of a node, in the order of the recipe.

    Each generated combination has its own random seed; they count up from the recipe's seed.
    """
    known: ClipCache = {} if cache is None else cache
    out: list[RecipeClip] = []
    tried = 0
    for each in given:
        if each.sample:
            sets = [dict(zip(each.values, chosen, strict=True)) for chosen in itertools.product(*each.values.values())]
            for values in sets:
                out += _generate(recipe, each, values, recipe.seed + tried, known)
                tried += 1
        else:
            out += [RecipeClip(_cut(motion, each, recipe), {}) for motion in _load_files(recipe, each, known)]
    return out


def retarget_files(recipe: Recipe, cache: ClipCache, onto: OneSkeleton) -> None:
    """Load all files of a recipe into the cache, retargeted onto one skeleton; True for the most frequent."""
    for node in recipe.nodes:
        for each in node.clips:
            for _ in _load_files(recipe, each, cache) if each.files else ():
                pass
    cache |= dict(zip(cache, share_skeleton(list(cache.values()), onto, purpose="a character"), strict=True))


def _generate(
    recipe: Recipe, clips: ClipSource, values: dict[str, Any], seed: int, before: ClipCache
) -> list[RecipeClip]:
    known = {parameter.name: parameter for parameter in entry(clips.sample).parameters}
    given = {name: known[name].from_degrees(clips.sample, value) for name, value in values.items()}
    key = (clips.sample, seed, *sorted(given.items()))
    try:
        if key not in before:
            before[key] = sample(clips.sample, rng=seed, fps=recipe.fps, **given)
        generated: Sample = before[key]
    except InvalidValue as error:
        if clips.where_possible:
            return []
        raise ParseError(
            f"{clips.where}: {error}; change the value, or set where_possible = true to skip it", path=recipe.path
        ) from None
    listed = ", ".join(f"{name} {value:.3g}" for name, value in values.items() if not isinstance(value, str))
    motion = replace(generated.motion, name=f"{clips.sample} {listed}".strip())
    return [RecipeClip(_cut(motion, clips, recipe), dict(generated.parameters))]


def _load_files(recipe: Recipe, clips: ClipSource, before: ClipCache) -> Iterator[Motion]:
    folder = Path(recipe.path).parent
    for pattern in clips.files:
        found = sorted(folder.glob(pattern)) if not Path(pattern).is_absolute() else [Path(pattern)]
        found = [path for path in found if path.is_file()]
        if pattern.endswith("*"):  # sidecars and results are no clips
            found = [path for path in found if split_name(path)[1] in CLIP_SUFFIXES and not describe_other(path)]
        if not found:
            raise UnreadableFile(
                f"{clips.where}, files: no file {pattern!r} in the recipe's folder, {str(folder)!r}; a name that ends "
                "with /* takes all clips of a folder",
                path=recipe.path,
            )
        for path in found:
            key = path, clips.file_fps
            if key not in before:
                before[key] = read_clip(path, recipe.fps, LoadSettings(file_fps=clips.file_fps))
            yield before[key]


def read_clip(path: str | os.PathLike[str], fps: float, settings: LoadSettings | None = None) -> Motion:
    """Load a motion, resample it to `fps` and detect its contacts; a rest pose at the beginning is removed.

    The hips become joint 0, because motion spaces require it.
    """
    from marey.clean import ensure_contacts
    from marey.edit import resample
    from marey.io import load_motion

    motion = load_motion(path, settings=settings)
    if motion.fps != fps:
        motion = resample(motion, fps)
    return make_hips_root(ensure_contacts(motion))


def load_target(path: str | os.PathLike[str]) -> Motion:
    """Load a motion onto whose skeleton others are retargeted; the hips become joint 0, as in clips."""
    from marey.io import load_motion

    return make_hips_root(load_motion(path))


def _cut(motion: Motion, clips: ClipSource, recipe: Recipe) -> Motion:
    """Cut out the part of a motion from `clips.start` to `clips.stop`."""
    try:
        start = 0 if clips.start is None else _find_frame(motion, clips.start)
        stop = len(motion) if clips.stop is None else _find_frame(motion, clips.stop) + 1
        if not 0 <= start < stop - 1 or stop > len(motion):
            raise InvalidValue(
                "'from' must come before 'to', and both must be inside the clip (frames 0 to "
                f"{len(motion) - 1}), not frames {start} to {stop - 1}"
            )
    except MareyError as error:
        raise ParseError(f"{clips.where}, {motion.name!r}: {error}", path=recipe.path) from None
    return motion if (start, stop) == (0, len(motion)) else replace(motion[start:stop], name=motion.name)


def _find_frame(motion: Motion, moment: float | str) -> int:
    if not isinstance(moment, str):
        return round(moment * motion.fps)
    found = MOMENT.match(moment)
    assert found is not None  # read_recipe has checked it
    what, which, more = found["what"], found["which"], float((found["more"] or "0").replace(" ", ""))
    if what == "passing":
        if which in ("start", "end"):
            raise InvalidValue(f"{moment!r} needs a number, such as 'passing:0'")
        phase, first, last = compute_phase(motion)
        known, frames = phase[first : last + 1], np.arange(first, last + 1)
        passings = np.arange(np.ceil(known[0]), np.floor(known[-1]) + 1)
        number = int(which)
        if not -len(passings) <= number < len(passings):
            raise InvalidValue(
                f"{moment!r} is passing number {number}, but the feet pass each other only {len(passings)} times"
            )
        return round(float(np.interp(passings[number] + more, known, frames)))
    if which not in ("start", "end"):
        raise InvalidValue(f"{moment!r} must name the start or end of a label, such as 'walk:start'")
    for label in motion.labels:
        if label.name == what:
            return round((label.start if which == "start" else label.stop) + more * motion.fps)
    names = motion.labels.names
    listed = ", ".join(map(repr, names)) or "none"
    raise UnknownName(f"{moment!r}: no label {what!r}; labels: {listed}{similar(what, names)}")
