"""From the files of a folder to clips that are ready, doing only what has not been done before."""

from __future__ import annotations

import os
import shutil
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from marey.core.skeleton import Skeleton
from marey.errors import MareyWarning, ParseError, UnreadableFile, similar
from marey.store.arrays import sweep
from marey.store.cache import Cache
from marey.store.index import ClipRow
from marey.store.labels import LabelRow, bare_name
from marey.store.prepare import (
    Job,
    Outcome,
    Reading,
    Twin,
    clip_key,
    prepare_clip,
    prepare_twin,
    read_skeleton,
    twin_key,
)
from marey.store.scan import look_at, needed_files

MIRRORED = "_mirrored"
Progress = Callable[[float], None]

# How often a file may change under the reader's hands before it is given up.
_TRIES = 5
# Reasons that a message names before it only counts.
_NAMED = 12
# Frames between the caller of a set and a warning given here.
_STACK = 7


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a set is made of and how.

    folder, files : the files as seen from the folder.
    rows : for each file, or FILE:CLIP, its labels besides the sidecar's.
    """

    folder: Path
    files: tuple[str, ...]
    cache: Cache
    reading: Reading
    rows: Mapping[str, tuple[LabelRow, ...]]
    mirrored: bool


class Skipped(NamedTuple):
    """A file, or a clip of one, that could not be used, and why."""

    name: str
    reason: str


class Named(NamedTuple):
    """A clip's name, its file, and how to prepare it."""

    name: str
    path: str
    job: Job | Twin


class Clip(NamedTuple):
    """A clip that is ready."""

    name: str
    path: str
    row: ClipRow
    job: Job | Twin


class Built(NamedTuple):
    """All clips of a set, what could not be used, and the skeletons by their keys."""

    clips: tuple[Clip, ...]
    skipped: tuple[Skipped, ...]
    skeletons: dict[str, Skeleton]


def build_clips(recipe: Recipe, run: Callable[..., Any], progress: Progress | None) -> Built:
    """See `MotionSet.build`."""
    sweep(recipe.cache.folder / "clips")
    for _ in range(_TRIES):
        named, skipped = _jobs(recipe)
        n = len(named) * (2 if recipe.mirrored else 1)
        changed = _prepare(recipe, prepare_clip, named, run, _share(progress, 0, n))
        if not changed:
            break
    else:
        raise UnreadableFile("keeps changing while it is read; try again later", path=changed[0])
    twins: list[Named] = []
    if recipe.mirrored:
        rows = _rows_of(recipe, named)
        good = [each for each in named if rows[each.job.key].reason is None]
        twins = [Named(f"{name}{MIRRORED}", path, _twin(job)) for name, path, job in good]
        _prepare(recipe, prepare_twin, twins, run, _share(progress, len(named), n))
    if progress is not None:
        progress(1.0)
    return _collected(recipe, [*named, *twins], skipped)


def remake(built: Built, clip: Clip, cache: Cache) -> None:
    """Prepare a clip again whose arrays are gone, from the very content that it was made of."""
    jobs = [clip.job]
    if isinstance(clip.job, Twin):
        of = clip.job.of
        jobs = [next(each.job for each in built.clips if each.row.key == of), clip.job]
    for job in jobs:
        shutil.rmtree(cache.clip_folder(job.key), ignore_errors=True)
        cache.index.forget_clip(job.key)
        if (prepare_twin(job) if isinstance(job, Twin) else prepare_clip(job)).changed:
            raise UnreadableFile("has changed since the set was opened; open the set again", path=clip.path)


def _jobs(recipe: Recipe) -> tuple[list[Named], list[Skipped]]:
    """For each clip its name, its file and how to prepare it; and files that cannot be opened."""
    paths = {file: recipe.folder / file for file in recipe.files}
    needed = {file: needed_files(path) for file, path in paths.items()}
    every = (*paths.values(), *(side for each in needed.values() for side in each))
    seen, wrong = look_at(recipe.cache.index, every)
    shared = Counter(bare_name(file) for file in recipe.files)
    out: list[Named] = []
    skipped: list[Skipped] = []
    taken: Counter[str] = Counter()
    for file, path in paths.items():
        bad = next((each for each in (path, *needed[file]) if each in wrong), None)
        if bad is not None:
            skipped.append(Skipped(file, wrong[bad] if bad == path else f"{bad.name}: {wrong[bad]}"))
            continue
        beside = {side: seen[side] for side in needed[file]}
        stamps = tuple(each.stamp for each in (seen[path], *beside.values()))
        own = file if shared[bare_name(file)] > 1 else bare_name(file)
        clips = seen[path].clips
        for k, clip in enumerate((None,) if clips is None else clips):
            which, name = (None, own) if clip is None else (k, f"{own}:{clip}")
            taken[name] += 1
            name = name if taken[name] == 1 else f"{name}#{taken[name]}"
            rows = recipe.rows.get(file, ()) + (() if name == file else recipe.rows.get(name, ()))
            key = clip_key(path, which, seen[path], beside, rows, recipe.reading)
            folder = os.fspath(recipe.cache.folder)
            out.append(
                Named(name, os.fspath(path), Job(folder, key, os.fspath(path), which, rows, recipe.reading, stamps))
            )
    _check_rows(recipe, {each.name for each in out})
    return out, skipped


def _check_rows(recipe: Recipe, names: set[str]) -> None:
    """Refuse labels for a clip that the file it should be in has not."""
    for name, rows in recipe.rows.items():
        file, colon, _ = name.partition(":")
        if colon and name not in names and any(file in (each, bare_name(each)) for each in recipe.files):
            raise ParseError(f"no clip {name!r}{similar(name, names)}", path=rows[0].csv, line=rows[0].line)


def _prepare(
    recipe: Recipe,
    function: Callable[[Any], Outcome],
    named: Sequence[Named],
    run: Callable[..., Any],
    told: Progress,
) -> list[str]:
    """Do what is not done yet; returns the files that have changed meanwhile."""
    known = recipe.cache.index.clips(each.job.key for each in named)
    missing: dict[str, Named] = {}
    for each in named:
        row = known.get(each.job.key)
        if row is None or (row.reason is None and not recipe.cache.clip_folder(each.job.key).is_dir()):
            missing.setdefault(each.job.key, each)
    if missing:
        recipe.cache.index.make()  # before the work, which would be lost where it cannot be kept
    changed = []
    outcomes = run(function, [each.job for each in missing.values()])
    for n_done, (each, outcome) in enumerate(zip(missing.values(), outcomes, strict=True)):
        if outcome.changed:
            changed.append(each.path)
        for text in outcome.told:
            warnings.warn(text, MareyWarning, stacklevel=_STACK)
        told(len(named) - len(missing) + n_done + 1)
    return changed


def _rows_of(recipe: Recipe, named: Sequence[Named]) -> dict[str, ClipRow]:
    rows = recipe.cache.index.clips(each.job.key for each in named)
    if not all(each.job.key in rows for each in named):
        raise UnreadableFile("the cache was deleted while the set was built; build again", path=recipe.cache.folder)
    return rows


def _collected(recipe: Recipe, named: Sequence[Named], unread: list[Skipped]) -> Built:
    rows = _rows_of(recipe, named)
    good: list[Clip] = []
    skipped = list(unread)
    taken: Counter[str] = Counter()
    for name, path, job in named:
        row = rows[job.key]
        if row.reason is not None:
            skipped.append(Skipped(name, row.reason))
            continue
        taken[name] += 1  # a file may be called as another's mirror image
        good.append(Clip(name if taken[name] == 1 else f"{name}#{taken[name]}", path, row, job))
    if not good:
        why = "; ".join(f"{each.name} ({each.reason})" for each in skipped[:_NAMED])
        more = f"; and {len(skipped) - _NAMED} more" if len(skipped) > _NAMED else ""
        told = f"no clip in it could be read: {why}{more}" if skipped else "holds no clips, only other results"
        raise UnreadableFile(told, path=recipe.folder)
    for each in skipped:
        warnings.warn(f"{recipe.folder}: {each.name} is skipped: {each.reason}", MareyWarning, stacklevel=_STACK)
    keys = dict.fromkeys(clip.row.skeleton for clip in good)
    return Built(tuple(good), tuple(skipped), {key: read_skeleton(recipe.cache, key) for key in keys})


def _twin(job: Job | Twin) -> Twin:
    return Twin(job.cache, twin_key(job.key), job.key)


def _share(progress: Progress | None, before: int, total: int) -> Progress:
    """`progress` for the jobs that come after `before` others of `total`."""

    def told(n_done: float) -> None:
        if progress is not None:
            progress((before + n_done) / total)

    return told
