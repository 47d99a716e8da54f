"""Prepare the clips of a folder, and skip those that are already in the cache."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from marey.core.motion import Motion
from marey.core.placement import find_skeleton_difference
from marey.core.skeleton import Skeleton
from marey.edit.common_skeleton import choose_target, describe_retargeted
from marey.errors import ParseError, UnreadableFile, similar, warn_user
from marey.io.files import make_readable
from marey.store.arrays import sweep
from marey.store.cache import Cache
from marey.store.index import ClipRow
from marey.store.labels import LabelRow, strip_suffix
from marey.store.prepare import (
    DerivedJob,
    Job,
    Outcome,
    clip_key,
    derive,
    prepare_clip,
    prepare_derived,
    read_clip,
    read_skeleton,
)
from marey.store.scan import list_needed_files, look_at
from marey.store.settings import OpenSettings

MIRRORED = "_mirrored"
Progress = Callable[[float], None]

# How often preparation starts over if files change while they are being read.
TRIES = 5
# Number of skipped files that a message lists; it only counts the others.
_NAMED = 12


@dataclass(frozen=True, slots=True)
class SetSource:
    """The files of a set and how they are read.

    folder : folder of the set. files : paths of the motion files, relative to the folder.
    cache : cache of the set. settings : how the files are read.
    rows : labels in addition to those of the sidecar, by file or FILE:CLIP.
    """

    folder: Path
    files: tuple[str, ...]
    cache: Cache
    settings: OpenSettings
    rows: Mapping[str, tuple[LabelRow, ...]]


class SkippedFile(NamedTuple):
    """A file or clip that could not be used, and the reason."""

    name: str
    reason: str


class ClipJob(NamedTuple):
    """A clip to prepare: its name, the path of its file, and the job that prepares it."""

    name: str
    path: str
    job: Job | DerivedJob


class SetClip(NamedTuple):
    """A prepared clip in the cache: its name, the path of its file, its row in the index, and its job."""

    name: str
    path: str
    row: ClipRow
    job: Job | DerivedJob


class PreparedSet(NamedTuple):
    """All clips of a set, the files and clips that could not be used (`skipped`), and the skeletons by key."""

    clips: tuple[SetClip, ...]
    skipped: tuple[SkippedFile, ...]
    skeletons: dict[str, Skeleton]


def prepare_clips(source: SetSource, run: Callable[..., Any], progress: Progress | None) -> PreparedSet:
    """Prepare all clips of a set; see `MotionSet.prepare`."""
    sweep(source.cache.folder / "clips")
    for _ in range(TRIES):
        named, skipped = list_jobs(source)
        n = len(named) * (1 + source.settings.mirrored + (source.settings.retarget is not False))
        changed = _prepare(source, prepare_clip, named, run, _scale_progress(progress, 0, n))
        if not changed:
            break
    else:
        raise UnreadableFile("keeps changing while it is being read; try again later", path=changed[0])
    if source.settings.retarget is not False:
        named = _retarget(source, named, run, _scale_progress(progress, len(named), n))
    twins: list[ClipJob] = []
    if source.settings.mirrored:
        rows = _find_rows(source, named)
        good = [each for each in named if rows[each.job.key].reason is None]
        twins = [ClipJob(f"{name}{MIRRORED}", path, derive(job)) for name, path, job in good]
        _prepare(source, prepare_derived, twins, run, _scale_progress(progress, n - len(named), n))
    if progress is not None:
        progress(1.0)
    return _collect_clips(source, [*named, *twins], skipped)


def _retarget(
    source: SetSource, named: Sequence[ClipJob], run: Callable[..., Any], progress: Progress
) -> list[ClipJob]:
    """Retarget clips whose skeleton differs from the chosen one; return the jobs of all clips."""
    rows = _find_rows(source, named)
    bodies = {key: read_skeleton(source.cache, key) for key in {row.skeleton for row in rows.values() if row.skeleton}}
    good = [each for each in named if rows[each.job.key].reason is None]
    if not good:
        return list(named)
    sizes = [(bodies[rows[job.key].skeleton], rows[job.key].n_frames, repr(name)) for name, _, job in good]
    onto, where = choose_target(
        sizes, source.settings.retarget, lambda k: read_clip(source.cache, good[k].job.key, name=good[k].name)
    )
    skeleton = onto.skeleton if isinstance(onto, Motion) else onto
    differs = {key for key, body in bodies.items() if find_skeleton_difference(skeleton, body)}
    out = [
        ClipJob(name, path, derive(job, onto)) if rows[job.key].skeleton in differs else ClipJob(name, path, job)
        for name, path, job in named
    ]
    changed = [each for each in out if isinstance(each.job, DerivedJob)]
    _prepare(source, prepare_derived, changed, run, progress)
    rows = _find_rows(source, changed)
    done = [repr(each.name) for each in changed if rows[each.job.key].reason is None]
    if done:
        warn_user(describe_retargeted(done, where))
    return out


def remake(clip: SetClip, cache: Cache) -> None:
    """Prepare a clip again, because its arrays are missing or damaged; raise an error if its file has changed."""
    jobs = [clip.job]
    while isinstance(jobs[-1], DerivedJob):
        jobs.append(jobs[-1].of)
    for job in reversed(jobs):
        shutil.rmtree(cache.clip_folder(job.key), ignore_errors=True)
        cache.index.forget_clip(job.key)
        if (prepare_derived(job) if isinstance(job, DerivedJob) else prepare_clip(job)).changed:
            raise UnreadableFile("has changed since the set was opened; open the set again", path=clip.path)


def list_jobs(source: SetSource) -> tuple[list[ClipJob], list[SkippedFile]]:
    """List a job for each clip, and the files that cannot be opened."""
    paths = {file: source.folder / file for file in source.files}
    needed = {file: list_needed_files(path) for file, path in paths.items()}
    every = (*paths.values(), *(side for each in needed.values() for side in each))
    seen, wrong = look_at(source.cache.index, every)
    shared = Counter(strip_suffix(file) for file in source.files)
    out: list[ClipJob] = []
    skipped: list[SkippedFile] = []
    taken: Counter[str] = Counter()
    for file, path in paths.items():
        bad = next((each for each in (path, *needed[file]) if each in wrong), None)
        if bad is not None:
            skipped.append(SkippedFile(file, wrong[bad] if bad == path else f"{bad.name}: {wrong[bad]}"))
            continue
        needed_scans = {side: seen[side] for side in needed[file]}
        stamps = tuple(each.stamp for each in (seen[path], *needed_scans.values()))
        own = make_readable(file if shared[strip_suffix(file)] > 1 else strip_suffix(file))
        clips = seen[path].clips
        for k, clip in enumerate((None,) if clips is None else clips):
            which, name = (None, own) if clip is None else (k, f"{own}:{clip}")
            taken[name] += 1
            name = name if taken[name] == 1 else f"{name}#{taken[name]}"
            rows = source.rows.get(file, ()) + (() if name == file else source.rows.get(name, ()))
            key = clip_key(path, which, seen[path], needed_scans, rows, source.settings)
            folder = os.fspath(source.cache.folder)
            out.append(
                ClipJob(name, os.fspath(path), Job(folder, key, os.fspath(path), which, rows, source.settings, stamps))
            )
    _check_rows(source, {each.name for each in out})
    return out, skipped


def _check_rows(source: SetSource, names: set[str]) -> None:
    """Raise an error for labels of a clip that its file does not have."""
    for name, rows in source.rows.items():
        file, colon, _ = name.partition(":")
        if colon and name not in names and any(file in (each, strip_suffix(each)) for each in source.files):
            raise ParseError(f"the set has no clip {name!r}{similar(name, names)}", path=rows[0].csv, line=rows[0].line)


def _prepare(
    source: SetSource,
    function: Callable[[Any], Outcome],
    named: Sequence[ClipJob],
    run: Callable[..., Any],
    progress: Progress,
) -> list[str]:
    """Run the jobs whose clips are not in the cache. Return the files that changed meanwhile."""
    known = source.cache.index.clips(each.job.key for each in named)
    missing: dict[str, ClipJob] = {}
    for each in named:
        row = known.get(each.job.key)
        if row is None or (row.reason is None and not source.cache.clip_folder(each.job.key).is_dir()):
            missing.setdefault(each.job.key, each)
    if missing:
        source.cache.index.make()  # before the work, which would be lost if it could not be stored
    changed = []
    outcomes = run(function, [each.job for each in missing.values()])
    for n_done, (each, outcome) in enumerate(zip(missing.values(), outcomes, strict=True)):
        if outcome.changed:
            changed.append(each.path)
        for text in outcome.messages:
            warn_user(text)
        progress(len(named) - len(missing) + n_done + 1)
    return changed


def _find_rows(source: SetSource, named: Sequence[ClipJob]) -> dict[str, ClipRow]:
    rows = source.cache.index.clips(each.job.key for each in named)
    if not all(each.job.key in rows for each in named):
        raise UnreadableFile(
            "the cache was deleted while the motion set was being built; build the set again", path=source.cache.folder
        )
    return rows


def _collect_clips(source: SetSource, named: Sequence[ClipJob], unread: list[SkippedFile]) -> PreparedSet:
    rows = _find_rows(source, named)
    good: list[SetClip] = []
    skipped = list(unread)
    taken: Counter[str] = Counter()
    for name, path, job in named:
        row = rows[job.key]
        if row.reason is not None:
            skipped.append(SkippedFile(name, row.reason))
            continue
        taken[name] += 1  # a file may have the same name as the mirrored copy of another
        good.append(SetClip(name if taken[name] == 1 else f"{name}#{taken[name]}", path, row, job))
    if not good:
        why = "; ".join(f"{each.name} ({each.reason})" for each in skipped[:_NAMED])
        more = f"; and {len(skipped) - _NAMED} more" if len(skipped) > _NAMED else ""
        message = f"none of its clips could be loaded: {why}{more}" if skipped else "holds no clips, only other results"
        raise UnreadableFile(message, path=source.folder)
    for each in skipped:
        warn_user(f"{source.folder}: skipped {each.name}: {each.reason}")
    keys = dict.fromkeys(clip.row.skeleton for clip in good)
    return PreparedSet(tuple(good), tuple(skipped), {key: read_skeleton(source.cache, key) for key in keys})


def _scale_progress(progress: Progress | None, before: int, total: int) -> Progress:
    """Return a function that takes a number of completed jobs, and reports the completed fraction to `progress`.

    before, total : jobs that were completed earlier, and all jobs.
    """

    def report(n_done: float) -> None:
        if progress is not None:
            progress((before + n_done) / total)

    return report
