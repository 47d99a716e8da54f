"""Match webs: the similar frames of all clip pairs, precomputed for searches (Kovar 6.2.2)."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

from marey.compare import Clouds
from marey.core.clips import SharedClips
from marey.core.motion import Motion
from marey.deprecation import renamed_method, renamed_methods
from marey.errors import InvalidValue
from marey.find.build import build_web, web_clouds
from marey.find.cells import Cells
from marey.find.match_graph import EXTERNAL, CandidateLimits, Candidates, Interval
from marey.find.names import find_clip
from marey.find.search import External, find_candidates, list_pairs
from marey.find.search import search as _search
from marey.find.settings import WebSettings
from marey.find.suggest import count_matches as _count_matches
from marey.find.suggest import suggest_threshold as _suggest_threshold


@dataclass(frozen=True, slots=True, eq=False)
class WebStatistics:
    """Contents of a match web, and its size.

    Attributes
    ----------
    clips, frames : number of clips, and their total number of frames.
    fps : frame rate in frames per second.
    seconds : total duration of the clips in seconds.
    cells : number of kept cells of the distance grids.
    cells_fraction : kept cells as a fraction of all cells.
    nbytes : size of the kept cells in bytes, as saved before compression.
    motion_nbytes : size of the clips in bytes.

    Examples
    --------
    >>> statistics = web.statistics()
    >>> statistics.clips, statistics.frames == len(take), statistics.fps
    (1, True, 30.0)
    """

    clips: int
    frames: int
    fps: float
    seconds: float
    cells: int
    cells_fraction: float
    nbytes: int
    motion_nbytes: int

    @property
    def size_ratio(self) -> float:
        """Size of the kept cells relative to that of the clips."""
        return self.nbytes / self.motion_nbytes

    def to_dict(self) -> dict[str, Any]:
        """Return the statistics, JSON-ready."""
        return {
            "clips": self.clips,
            "frames": self.frames,
            "fps": self.fps,
            "seconds": self.seconds,
            "cells": self.cells,
            "cells_fraction": self.cells_fraction,
            "bytes": self.nbytes,
            "motion_bytes": self.motion_nbytes,
            "size_ratio": self.size_ratio,
        }


@renamed_methods(counts="count_matches", suggest="suggest_threshold")
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MatchWeb(SharedClips):
    """A match web: clips that share a skeleton and a frame rate, and the similar frames of each clip pair. Create one
    with `build`.

    Attributes
    ----------
    clips : the motions, with unique names.
    options : how the web was built.
    pairs : kept cells of the distance grid of each clip pair p <= q; rows are frames of p, columns frames of q. The
        order is (0, 0), (0, 1) ... (0, n - 1), (1, 1) ...; use `cells` to look one up. The grid of a clip with itself
        is stored with both sides of the diagonal.

    Examples
    --------
    >>> web = marey.MatchWeb.build([take])
    >>> kick = next(label for label in take.labels if label.name == "kick")
    >>> found = web.search("medley", kick.start, kick.stop, threshold=0.07)  # meters
    >>> [match.clip for match in found], found.motions[0].fps
    (['medley', 'medley', 'medley', 'medley'], 30.0)
    >>> web.save("web.npz")
    """

    clips: tuple[Motion, ...]
    options: WebSettings
    pairs: tuple[Cells, ...] = field(repr=False)
    _clouds: dict[int, Clouds] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._put(clips=tuple(self.clips), pairs=tuple(self.pairs))
        n = len(self.clips)
        if n == 0:
            raise InvalidValue("a match web needs at least one clip, got none")
        if len(self.pairs) != n * (n + 1) // 2:
            raise InvalidValue(f"pairs must have {n * (n + 1) // 2} entries for {n} clips, not {len(self.pairs)}")
        for p in range(n):
            for q in range(p, n):
                wanted = (len(self.clips[p]), len(self.clips[q]))
                if self.pairs[self._place(p, q)].shape != wanted:
                    raise InvalidValue(
                        f"cells of {self.names[p]!r} and {self.names[q]!r} must have shape {wanted}, not "
                        f"{self.pairs[self._place(p, q)].shape}"
                    )

    def __repr__(self) -> str:
        frames = sum(len(clip) for clip in self.clips)
        return f"<MatchWeb: {len(self.clips)} clips, {frames} frames at {self.fps:g} Hz, {self.n_cells} cells>"

    def __len__(self) -> int:
        return len(self.clips)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the clips."""
        return tuple(clip.name for clip in self.clips)

    @property
    def n_cells(self) -> int:
        """Number of kept cells of all clip pairs."""
        return sum(len(cells) for cells in self.pairs)

    @property
    def nbytes(self) -> int:
        """Size of the saved cells in bytes, before compression. The symmetric grid of a clip with itself counts
        half."""
        n = len(self.clips)
        own = {self._place(p, p) for p in range(n)}
        return sum(cells.upper().nbytes if k in own else cells.nbytes for k, cells in enumerate(self.pairs))

    @property
    def motion_nbytes(self) -> int:
        """Size of the clips in bytes, in float64: per frame, a root position and a quaternion for each joint."""
        return sum(len(clip) * (4 * len(clip.skeleton) + 3) * 8 for clip in self.clips)

    def index(self, clip: int | str) -> int:
        """Return the index of a clip given by name or index."""
        return find_clip(self.names, clip, "match web", "`MatchWeb.names`")

    def cells(self, p: int, q: int) -> Cells:
        """Return the kept cells of clips p <= q; rows are frames of p, columns frames of q. For q < p, look up (q, p)
        and transpose."""
        n = len(self.clips)
        if not 0 <= p <= q < n:
            raise InvalidValue(f"p and q must be clips with 0 <= p <= q <= {n - 1}, not {p} and {q}")
        return self.pairs[self._place(p, q)]

    def clouds(self, clip: int) -> Clouds:
        """Return the markers of a clip as the web compares them; computed on first use."""
        if clip not in self._clouds:
            self._clouds[clip] = web_clouds(self.clips[clip], self.options)
        return self._clouds[clip]

    def compare_external(
        self, motion: Motion, start: int | None, stop: int | None, n: int
    ) -> tuple[External, int, int]:
        """Compare a motion that is not in the web with every clip; see `ExternalQuery.compare`."""
        from marey.find.external import ExternalQuery

        return ExternalQuery.compare(self, motion, start, stop, n)

    def find_candidates(self, interval: Interval, external: External | None, limits: CandidateLimits) -> Candidates:
        """Find, for every frame of every clip, the interval ending there that is nearest to the query.

        Intervals beyond `limits.distance` are left out. The query is an interval of a clip of the web, or of
        `external`. All are found, even if there are more than `max_matches` or if they are known.
        """
        from marey.find.external import ExternalQuery

        clip, start, stop = interval
        if clip == EXTERNAL and isinstance(external, ExternalQuery):
            return find_candidates(external.pairs, 0, stop - start, limits.distance)
        return find_candidates(list_pairs(self, clip), start, stop, limits.distance)

    def _place(self, p: int, q: int) -> int:
        return p * len(self.clips) - p * (p - 1) // 2 + q - p

    build = staticmethod(build_web)
    search = _search
    suggest_threshold = _suggest_threshold
    count_matches = _count_matches

    info = renamed_method("info", "statistics", convert=WebStatistics.to_dict)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the web and its clips to an .npz file."""
        from marey.find.files import save_web

        save_web(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> MatchWeb:
        """Load a web from a file that `save` wrote.

        Examples
        --------
        >>> web.save("web.npz")
        >>> marey.MatchWeb.load("web.npz").n_cells == web.n_cells
        True
        """
        from marey.find.files import load_web

        return load_web(path)

    def statistics(self) -> WebStatistics:
        """Count the contents of the web, and compare its size with that of the clips."""
        frames = sum(len(clip) for clip in self.clips)
        n_all = sum(cells.shape[0] * cells.shape[1] for cells in self.pairs)
        return WebStatistics(
            len(self.clips),
            frames,
            self.fps,
            frames / self.fps,
            self.n_cells,
            self.n_cells / n_all,
            self.nbytes,
            self.motion_nbytes,
        )
