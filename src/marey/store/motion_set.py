"""A set of motions: a folder of clips, prepared once and cached on disk."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from marey.core.arrays import check_index, check_type
from marey.core.motion import Motion
from marey.core.placement import find_skeleton_difference
from marey.core.settings import operation
from marey.core.skeleton import Skeleton
from marey.deprecation import renamed_methods
from marey.errors import InvalidValue, ParseError, UnknownName, format_list, plural, similar, warn_user
from marey.find import IndexSettings, MotionIndex
from marey.io.loading import read_roles
from marey.store.building import PreparedSet, Progress, SetClip, SetSource, SkippedFile, prepare_clips, remake
from marey.store.cache import Cache
from marey.store.labels import label_rows, strip_suffix
from marey.store.prepare import read_clip
from marey.store.scan import find_common_folder, list_files
from marey.store.settings import OpenSettings

if TYPE_CHECKING:
    from marey.store.summary import ClipSummary

CACHE_NAME = ".marey-cache"
StrPath = str | os.PathLike[str]


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Names of the clips of one skeleton, in the order of the set, and their total number of frames.

    Examples
    --------
    >>> from pathlib import Path
    >>> Path("clips").mkdir()
    >>> marey.save(walk, "clips/walk.bvh")
    >>> group = marey.MotionSet.open("clips").groups()[0]
    >>> group.names, group.n_frames
    (('walk',), 121)
    """

    skeleton: Skeleton
    names: tuple[str, ...]
    n_frames: int


@renamed_methods(build="prepare", chosen="select")
class MotionSet:
    """A folder of clips as motions, at one frame rate, trimmed, with contacts and labels. Use `MotionSet.open`.

    Opening only lists the files. They are read when the set is first used, or by `prepare`, and the results are stored
    in a cache folder. After that, only new and changed files are read. The arrays of a motion stay on disk until they
    are used. The set implements `marey.core.Clips`, so you can pass it to builders directly::

        clips = MotionSet.open("walks", mirrored=True)
        graph = MotionGraph.build(clips)

    A set contains what was in the folder when it was first used; open it again to see later changes.

    Examples
    --------
    >>> from pathlib import Path
    >>> Path("clips").mkdir()
    >>> marey.save(walk, "clips/walk.bvh")
    >>> marey.save(run, "clips/run.bvh")
    >>> clips = marey.MotionSet.open("clips", fps=30.0)
    >>> clips.names, clips.lengths
    (('run', 'walk'), (121, 121))
    >>> clips.motion("run")
    <Motion 'run': 121 frames at 30 Hz, 27 joints>
    """

    def __init__(self, source: SetSource, group: int | str | None = None) -> None:
        self._source = source
        self._group = group
        self._prepared: PreparedSet | None = None
        self._chosen: tuple[SetClip, ...] | None = None

    @classmethod
    @operation(OpenSettings)
    def open(cls, folder: StrPath | Sequence[StrPath], settings: OpenSettings) -> MotionSet:
        """Open the motion files in a folder and its subfolders, sorted by name.

        Parameters
        ----------
        folder : the folder; or a file, or a list of files and folders. Names of clips are then relative to the folder
            that contains all of them.

        Examples
        --------
        >>> from pathlib import Path
        >>> Path("clips").mkdir()
        >>> marey.save(walk, "clips/walk.bvh")
        >>> clips = marey.MotionSet.open("clips", fps=30.0, mirrored=True)
        >>> clips.names
        ('walk', 'walk_mirrored')
        """
        given = folder if isinstance(folder, list | tuple) else [folder]
        places = [Path(check_type(each, (str, os.PathLike), "folder")) for each in given]
        if not places:
            raise InvalidValue("a motion set needs a folder or files, got an empty list", parameter="folder")
        store = find_common_folder(places[:1]) / CACHE_NAME if settings.cache is None else Path(settings.cache)
        place, files, everything = list_files(places, settings.pattern, store)
        rows = label_rows(place, settings.label_sources, everything)
        twice = [base for base, n in Counter(map(strip_suffix, files)).items() if n > 1]
        if twice:
            warn_user(
                f"{place}: {format_list(twice, 4)} exist in several formats, and all of them are used; select with "
                "`pattern=`"
            )
        settings = OpenSettings(settings=settings, roles=read_roles(settings.roles))
        return cls(SetSource(place, files, Cache.open(store), settings, rows), settings.group)

    def __repr__(self) -> str:
        n = plural(len(self.files), "file") if self._prepared is None else plural(len(self._prepared.clips), "clip")
        return f"<MotionSet {str(self.folder)!r}: {n} at {self.fps:g} Hz>"

    @property
    def folder(self) -> Path:
        """Folder of the clips."""
        return self._source.folder

    @property
    def files(self) -> tuple[str, ...]:
        """Paths of the motion files relative to the folder, including files that cannot be read."""
        return self._source.files

    @property
    def cache(self) -> Cache:
        """Cache of the clips and of results computed from them; pass it to builders as ``cache=``."""
        return self._source.cache

    @property
    def fps(self) -> float:
        """Frame rate of all clips, in frames per second."""
        return self._source.settings.fps

    @property
    def names(self) -> tuple[str, ...]:
        """Name of each clip: the path of its file relative to the folder, without the suffix if that is unambiguous."""
        return tuple(clip.name for clip in self._clips())

    @property
    def lengths(self) -> tuple[int, ...]:
        """Number of frames of each clip."""
        return tuple(clip.row.n_frames for clip in self._clips())

    @property
    def skipped(self) -> tuple[SkippedFile, ...]:
        """Files and clips that could not be used, with reasons."""
        return self._prepare_all().skipped

    def __len__(self) -> int:
        return len(self._clips())

    def __iter__(self) -> Iterator[Motion]:
        return (self.motion(i) for i in range(len(self)))

    def index(self, clip: int | str) -> int:
        """Return the index of a clip, given by its index or name."""
        if isinstance(clip, str):
            names = self.names
            if clip not in names:
                raise UnknownName(f"no clip {clip!r} in {str(self.folder)!r}{similar(clip, names)}")
            return names.index(clip)
        return check_index(clip, "clip", len(self))

    def motion(self, i: int | str) -> Motion:
        """Return a clip by its index or name. Its arrays are read-only and may stay on disk until they are used."""
        return self._load(self._clips()[self.index(i)])

    def _load(self, clip: SetClip) -> Motion:
        try:
            return self._read(clip)
        except ParseError:  # the cache was deleted or damaged since
            remake(clip, self.cache)
            return self._read(clip)

    def content_key(self, i: int | str) -> str:
        """Return a key that changes whenever the clip does: with its file, sidecar or labels, or the set's options."""
        return self._clips()[self.index(i)].row.key

    def groups(self) -> tuple[Group, ...]:
        """Return the clips grouped by skeleton, the group with the most frames first; see `select`."""
        built = self._prepare_all()
        return tuple(
            Group(built.skeletons[clips[0].row.skeleton], tuple(clip.name for clip in clips), _count_frames(clips))
            for clips in self._group_clips()
        )

    def select(self, group: int | str) -> MotionSet:
        """Return the set of the clips in one group, given by an index into `groups` or the name of any clip in it."""
        new = MotionSet(self._source, group)
        new._prepared = self._prepared
        new._clips()
        return new

    def prepare(self, *, run: Callable[..., Any] = map, progress: Progress | None = None) -> MotionSet:
        """Prepare all clips that are not in the cache yet; return the set itself.

        Files that cannot be read are skipped with a warning; see `skipped`. Each clip is stored as soon as it is ready,
        so an interrupted call continues where it stopped, and several processes may prepare a set at once.

        Parameters
        ----------
        run : runner: ``map``, or the result of `marey.store.processes`; threads gain nothing here.
        progress : called with the completed fraction, from 0 to 1.
        """
        if self._prepared is None:
            self._prepared = prepare_clips(self._source, run, progress)
        return self

    def summarize(self, *, run: Callable[..., Any] = map, progress: Progress | None = None) -> tuple[ClipSummary, ...]:
        """Return what each clip contains, at the rate of its file: length, labels, speed, findings of `marey.check`.

        Summaries are stored in the cache: after the first call, only new and changed files are read, and an interrupted
        call continues where it stopped. Clips of all skeletons are included. Files that cannot be read are left out
        with a warning. Choose from them with `marey.store.search_clips`.

        Parameters
        ----------
        run : runner: ``map``, or the result of `marey.store.processes`.
        progress : called with the completed fraction, from 0 to 1.

        Examples
        --------
        >>> from pathlib import Path
        >>> Path("clips").mkdir()
        >>> marey.save(walk, "clips/walk.bvh")
        >>> [(clip.name, clip.duration) for clip in marey.MotionSet.open("clips").summarize()]
        [('walk', 4.0)]
        """
        from marey.store.summary import summarize_clips

        found = summarize_clips(self._source, run, progress)
        for each in found.skipped:
            warn_user(f"{self.folder}: skipped {each.name}: {each.reason}")
        return found.clips

    @operation(IndexSettings)
    def index_motion(
        self, *, run: Callable[..., Any] = map, progress: Progress | None = None, settings: IndexSettings
    ) -> MotionIndex:
        """Return an index of all clips, of any skeleton, to search for motion, poses and paths.

        The poses of each clip are stored in the cache: after the first call, only new and changed clips are read.

        Parameters
        ----------
        run : runner for preparing clips: ``map``, or the result of `marey.store.processes`.
        progress : called with the completed fraction, from 0 to 1.
        """
        self.prepare(run=run, progress=None if progress is None else lambda done: progress(0.8 * done))
        return MotionIndex.build(
            _EveryClip(self),
            cache=self.cache,
            progress=None if progress is None else lambda done: progress(0.8 + 0.2 * done),
            settings=settings,
        )

    def _prepare_all(self) -> PreparedSet:
        if self._prepared is None:
            self._prepared = prepare_clips(self._source, map, None)
        return self._prepared

    def _clips(self) -> tuple[SetClip, ...]:
        """Return the clips of the selected group, or all clips if they share a skeleton."""
        if self._chosen is None:
            groups = self._group_clips()
            if self._group is None and len(groups) > 1:
                listed = "; ".join(f"{k}: {format_list([c.name for c in clips], 4)}" for k, clips in enumerate(groups))
                raise InvalidValue(
                    f"the clips have {len(groups)} different skeletons ({listed})",
                    parameter="group",
                    remedy="retarget them onto one skeleton with `retarget=True`, or select one with `group=`, by its "
                    "number or by a clip's name",
                )
            self._chosen = self._prepare_all().clips if self._group is None else groups[self._group_number(groups)]
        return self._chosen

    def _group_clips(self) -> list[tuple[SetClip, ...]]:
        """Group the clips by skeleton, with the same comparison that builders use."""
        built = self._prepare_all()
        heads: list[str] = []
        group_of: dict[str, int] = {}
        members: list[list[SetClip]] = []
        for clip in built.clips:
            key = clip.row.skeleton
            if key not in group_of:
                body = built.skeletons[key]
                found = next(
                    (k for k, head in enumerate(heads) if not find_skeleton_difference(built.skeletons[head], body)),
                    len(heads),
                )
                if found == len(heads):
                    heads.append(key)
                    members.append([])
                group_of[key] = found
            members[group_of[key]].append(clip)
        return sorted((tuple(clips) for clips in members), key=_count_frames, reverse=True)

    def _group_number(self, groups: list[tuple[SetClip, ...]]) -> int:
        wanted = self._group
        if isinstance(wanted, str):
            names = [clip.name for clips in groups for clip in clips]
            if wanted not in names:
                raise UnknownName(
                    f"group must be a group number or the name of a clip, not {wanted!r}{similar(wanted, names)}"
                )
            return next(k for k, clips in enumerate(groups) if any(clip.name == wanted for clip in clips))
        return check_index(wanted, "group", len(groups))

    def _read(self, clip: SetClip) -> Motion:
        return read_clip(
            self.cache, clip.row.key, self._prepare_all().skeletons[clip.row.skeleton], clip.name, clip.path
        )


class _EveryClip:
    """The clips of a set as a sequence that includes all skeletons; `MotionSet` itself only gives clips of one
    skeleton."""

    def __init__(self, motions: MotionSet) -> None:
        self._motions, self._prepared = motions, motions._prepare_all()
        self.names = tuple(clip.name for clip in self._prepared.clips)

    def motion(self, i: int) -> Motion:
        """Return a clip by its index."""
        return self._motions._load(self._prepared.clips[i])

    def skeleton(self, i: int) -> Skeleton:
        """Return the skeleton of a clip."""
        return self._prepared.skeletons[self._prepared.clips[i].row.skeleton]

    def content_key(self, i: int) -> str:
        """Return a key that changes whenever the clip does."""
        return self._prepared.clips[i].row.key


def _count_frames(clips: Sequence[SetClip]) -> int:
    return sum(clip.row.n_frames for clip in clips)
