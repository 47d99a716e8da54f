"""A set of motions: a folder of clips, made ready once and kept on disk."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from marey.core.arrays import check_fps, check_index
from marey.core.motion import Motion
from marey.core.placement import check_same_skeleton
from marey.core.skeleton import Skeleton
from marey.errors import InvalidValue, MareyWarning, ParseError, UnknownName, similar
from marey.io.axes import check_up
from marey.io.recognize import parse_unit
from marey.store.building import Built, Clip, Progress, Recipe, Skipped, build_clips, remake
from marey.store.cache import Cache
from marey.store.labels import bare_name, label_rows
from marey.store.prepare import Reading, read_clip
from marey.store.scan import list_files

CACHE_NAME = ".marey-cache"
StrPath = str | os.PathLike[str]


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Clips of one skeleton, in the set's order; `n_frames` is how many frames they have in all."""

    skeleton: Skeleton
    names: tuple[str, ...]
    n_frames: int


class MotionSet:
    """A folder of clips as motions of one rate, trimmed, with contacts and labels. `MotionSet.open` gives one.

    Opening only lists files. They are read when the set is first used, or by `build`, and what was made of them stays
    in a cache folder: from then on only files that are new or have changed are read. A motion's arrays stay on disk
    until they are used. It fits `marey.core.Clips`, so builders take it as it is::

        clips = MotionSet.open("walks", mirrored=True)
        graph = MotionGraph.build(clips)

    What a set holds is what was in the folder when it was first used; open it again to see what has changed since.
    """

    def __init__(self, recipe: Recipe, group: int | str | None = None) -> None:
        self._recipe = recipe
        self._group = group
        self._built: Built | None = None
        self._chosen: tuple[Clip, ...] | None = None

    @classmethod
    def open(
        cls,
        folder: StrPath,
        *,
        fps: float = 30.0,
        cache: StrPath | None = None,
        mirrored: bool = False,
        labels: StrPath | Sequence[StrPath] = "sidecar",
        trim_rest: bool = True,
        unit: str | float | None = None,
        up: str | None = None,
        file_fps: float | None = None,
        roles: Mapping[str, str] | None = None,
        pattern: str = "*",
        group: int | str | None = None,
    ) -> MotionSet:
        """The motion files in a folder and in those below it, in order of their names.

        Parameters
        ----------
        fps : the rate that all clips are brought to, Hz.
        cache : folder for what is made of the files; ``.marey-cache`` in `folder` by default. It can be deleted.
        mirrored : add each clip's mirror image, named ``NAME_mirrored``, after all others.
        labels : where they come from: ``"sidecar"``, ``"folders"`` (each folder on the way to a file is a label), a CSV
            file (see `marey.store.labels`), or several of these.
        trim_rest : leave out frame 0 where it is a rest pose put before the motion, as in CMU's BVH files.
        unit, up, roles : of the files, as for `marey.load`.
        file_fps : the rate at which the files' frames were taken, where they state none or a wrong one; .npz files
            keep theirs.
        pattern : which files, such as ``"*.bvh"`` or ``"walks/*"``.
        group : which clips, where they are of different skeletons: a number of `groups`, or the name of any clip in it.
        """
        place = Path(folder)
        store = Path(cache) if cache is not None else place / CACHE_NAME
        files, everything = list_files(place, pattern, store)
        given = [labels] if isinstance(labels, str | os.PathLike) else list(labels)
        reading = Reading(
            fps=check_fps(fps),
            file_fps=None if file_fps is None else check_fps(file_fps),
            unit=None if unit is None else parse_unit(unit),
            up=None if up is None else check_up(up),
            roles=dict(roles or {}),
            trim_rest=bool(trim_rest),
            sidecar_labels="sidecar" in given,
        )
        rows = label_rows(place, given, everything)
        twice = [base for base, n in Counter(map(bare_name, files)).items() if n > 1]
        if twice:
            warnings.warn(
                f"{place}: {_listed(twice, 4)} stand there in several formats, and all are taken; choose with pattern=",
                MareyWarning,
                stacklevel=2,
            )
        return cls(Recipe(place, files, Cache.open(store), reading, rows, bool(mirrored)), group)

    def __repr__(self) -> str:
        n = f"{len(self.files)} files" if self._built is None else f"{len(self._built.clips)} clips"
        return f"<MotionSet {str(self.folder)!r}: {n} at {self.fps:g} Hz>"

    @property
    def folder(self) -> Path:
        """Where the clips are."""
        return self._recipe.folder

    @property
    def files(self) -> tuple[str, ...]:
        """The motion files as seen from the folder, readable or not."""
        return self._recipe.files

    @property
    def cache(self) -> Cache:
        """Where clips are kept, and whatever is made of them; builders take it as ``cache=``."""
        return self._recipe.cache

    @property
    def fps(self) -> float:
        """Frames per second of all clips."""
        return self._recipe.reading.fps

    @property
    def names(self) -> tuple[str, ...]:
        """One name for each clip: its file as seen from the set's folder, without suffix where that is clear."""
        return tuple(clip.name for clip in self._clips())

    @property
    def lengths(self) -> tuple[int, ...]:
        """The number of frames of each clip."""
        return tuple(clip.row.n_frames for clip in self._clips())

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """What could not be used, and why."""
        return self._all().skipped

    def __len__(self) -> int:
        return len(self._clips())

    def __iter__(self) -> Iterator[Motion]:
        return (self.motion(i) for i in range(len(self)))

    def index(self, clip: int | str) -> int:
        """The number of a clip, given by its number or name."""
        if isinstance(clip, str):
            names = self.names
            if clip not in names:
                raise UnknownName(f"no clip {clip!r} in {str(self.folder)!r}{similar(clip, names)}")
            return names.index(clip)
        i = check_index(clip, "a clip")
        if not 0 <= i < len(self):
            raise InvalidValue(f"expected a clip from 0 to {len(self) - 1}, got {i}")
        return i

    def motion(self, i: int | str) -> Motion:
        """A clip by its number or name. Its arrays are read-only and may lie on disk until they are used."""
        clip = self._clips()[self.index(i)]
        try:
            return self._read(clip)
        except ParseError:  # the cache was deleted or damaged since
            remake(self._all(), clip, self.cache)
            return self._read(clip)

    def content_key(self, i: int | str) -> str:
        """A text that changes whenever the clip does: with its file, sidecar or labels, or with the set's options."""
        return self._clips()[self.index(i)].row.key

    def groups(self) -> tuple[Group, ...]:
        """The clips of each skeleton, those with the most frames first; see `chosen`."""
        built = self._all()
        return tuple(
            Group(built.skeletons[clips[0].row.skeleton], tuple(clip.name for clip in clips), _frames(clips))
            for clips in self._grouped()
        )

    def chosen(self, group: int | str) -> MotionSet:
        """The set of one group's clips: a number of `groups`, or the name of any clip in it."""
        new = MotionSet(self._recipe, group)
        new._built = self._built
        new._clips()
        return new

    def build(self, *, run: Callable[..., Any] = map, progress: Progress | None = None) -> MotionSet:
        """Make all clips ready that are not so yet; returns the set itself.

        Files that cannot be read are skipped with a warning; see `skipped`. Each clip is kept as soon as it is ready,
        so a build that was interrupted goes on where it was, and several processes may build at once.

        Parameters
        ----------
        run : how to map work over clips: ``map``, or `marey.store.processes`; threads gain nothing here.
        progress : told the share that is done, from 0 to 1.
        """
        if self._built is None:
            self._built = build_clips(self._recipe, run, progress)
        return self

    def _all(self) -> Built:
        if self._built is None:
            self._built = build_clips(self._recipe, map, None)
        return self._built

    def _clips(self) -> tuple[Clip, ...]:
        """Those of the chosen group, or all where they are of one skeleton."""
        if self._chosen is None:
            groups = self._grouped()
            if self._group is None and len(groups) > 1:
                listed = "; ".join(f"{k}: {_listed([c.name for c in clips], 4)}" for k, clips in enumerate(groups))
                raise InvalidValue(
                    f"{self.folder}: the clips are of {len(groups)} different skeletons ({listed}); choose one by "
                    "its number or a clip's name with group= or --group, or retarget the others"
                )
            self._chosen = self._all().clips if self._group is None else groups[self._group_number(groups)]
        return self._chosen

    def _grouped(self) -> list[tuple[Clip, ...]]:
        """The clips of each skeleton, by the same rule as builders have."""
        built = self._all()
        heads: list[str] = []
        group_of: dict[str, int] = {}
        members: list[list[Clip]] = []
        for clip in built.clips:
            key = clip.row.skeleton
            if key not in group_of:
                body = built.skeletons[key]
                found = next((k for k, head in enumerate(heads) if _is_same(built.skeletons[head], body)), len(heads))
                if found == len(heads):
                    heads.append(key)
                    members.append([])
                group_of[key] = found
            members[group_of[key]].append(clip)
        return sorted((tuple(clips) for clips in members), key=_frames, reverse=True)

    def _group_number(self, groups: list[tuple[Clip, ...]]) -> int:
        wanted = self._group
        if isinstance(wanted, str):
            names = [clip.name for clips in groups for clip in clips]
            if wanted not in names:
                raise UnknownName(f"no clip {wanted!r} to choose a group by{similar(wanted, names)}")
            return next(k for k, clips in enumerate(groups) if any(clip.name == wanted for clip in clips))
        k = check_index(wanted, "a group")
        if not 0 <= k < len(groups):
            raise InvalidValue(f"expected a group from 0 to {len(groups) - 1}, got {k}")
        return k

    def _read(self, clip: Clip) -> Motion:
        return read_clip(self.cache, clip.row.key, self._all().skeletons[clip.row.skeleton], clip.name, clip.path)


def _frames(clips: Sequence[Clip]) -> int:
    return sum(clip.row.n_frames for clip in clips)


def _is_same(a: Skeleton, b: Skeleton) -> bool:
    try:
        check_same_skeleton(a, b, "a set")
    except InvalidValue:
        return False
    return True


def _listed(names: Sequence[str], most: int) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
