"""Match webs: all similar frames in a set of clips, precomputed for searches (Kovar 6.2.2)."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from marey.compare import Clouds
from marey.core.arrays import Ints, reduce_frozen
from marey.core.motion import Motion
from marey.core.protocols import Cache, Clips
from marey.core.skeleton import Skeleton
from marey.errors import InvalidValue, UnknownName, similar
from marey.find.cells import Cells

if TYPE_CHECKING:
    from marey.find.found import Found
    from marey.find.suggest import Suggestion

Progress = Callable[[float], None]


@dataclass(frozen=True, slots=True)
class WebOptions:
    """How a web was built; durations in seconds, `near` and `limit` in meters.

    markers, remove_height : what to compare; see `MatchWeb.build`.
    window : length of the comparison window.
    alpha, reach, chain, near, bridge, limit, level : the rules of `marey.find.region`.
    labels : the web covers frames with one of these labels; None for all frames.
    """

    markers: str | tuple[str, ...] = "body"
    remove_height: bool = False
    window: float = 0.1
    alpha: float = 0.15
    reach: float = 0.13
    chain: float = 0.25
    near: float = 0.15
    bridge: float = 2.0
    limit: float = 0.4
    level: float = 0.65
    labels: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MatchWeb:
    """Clips with one skeleton and frame rate, and the similar frames of each pair. Create one with `build`.

    Attributes
    ----------
    clips : the motions, with unique names.
    options : how the web was built.
    pairs : the kept cells of each pair p <= q of clips: rows are frames of p, columns of q. The order is (0, 0), (0, 1)
        ... (0, n - 1), (1, 1) ...; `cells` looks one up. A clip's grid with itself is kept completely: both sides of
        the diagonal and the diagonal.
    """

    clips: tuple[Motion, ...]
    options: WebOptions
    pairs: tuple[Cells, ...] = field(repr=False)
    _clouds: dict[int, Clouds] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "clips", tuple(self.clips))
        put(self, "pairs", tuple(self.pairs))
        n = len(self.clips)
        if n == 0:
            raise InvalidValue("a match web needs at least one clip, got none")
        if len(self.pairs) != n * (n + 1) // 2:
            raise InvalidValue(f"a web of {n} clips has {n * (n + 1) // 2} pairs of them, got {len(self.pairs)}")
        for p in range(n):
            for q in range(p, n):
                wanted = (len(self.clips[p]), len(self.clips[q]))
                if self.pairs[self._place(p, q)].shape != wanted:
                    raise InvalidValue(
                        f"cells of {self.names[p]!r} and {self.names[q]!r} must have shape {wanted}, got "
                        f"{self.pairs[self._place(p, q)].shape}"
                    )

    def __reduce__(self) -> tuple[Any, ...]:
        return reduce_frozen(self)

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
    def skeleton(self) -> Skeleton:
        """The skeleton of all clips."""
        return self.clips[0].skeleton

    @property
    def fps(self) -> float:
        """Frames per second of all clips."""
        return self.clips[0].fps

    @property
    def n_cells(self) -> int:
        """Number of kept cells of all pairs."""
        return sum(len(cells) for cells in self.pairs)

    @property
    def nbytes(self) -> int:
        """Size of the saved cells in bytes, before compression; a clip's symmetric grid with itself counts half."""
        n = len(self.clips)
        own = {self._place(p, p) for p in range(n)}
        return sum(cells.upper().nbytes if k in own else cells.nbytes for k, cells in enumerate(self.pairs))

    @property
    def motion_nbytes(self) -> int:
        """Size of the clips in bytes: a root position and a rotation for each joint per frame, in float64."""
        return sum(len(clip) * (4 * len(clip.skeleton) + 3) * 8 for clip in self.clips)

    def index(self, clip: int | str) -> int:
        """Index of a clip given by name or index."""
        names = self.names
        if isinstance(clip, str):
            if clip not in names:
                raise UnknownName(f"no clip {clip!r} in this web{similar(clip, names)}")
            return names.index(clip)
        try:
            k = int(np.asarray(clip).item()) if not isinstance(clip, bool) else None
        except (TypeError, ValueError):
            k = None
        if k is None or k != clip or not -len(names) <= k < len(names):
            raise UnknownName(f"expected a clip's name or an index below {len(names)}, got {clip!r}")
        return k % len(names)

    def cells(self, p: int, q: int) -> Cells:
        """The kept cells of clips p <= q; rows are frames of p. For q < p, use (q, p) and transpose."""
        n = len(self.clips)
        if not 0 <= p <= q < n:
            raise InvalidValue(f"expected clips p <= q below {n}, got {p} and {q}")
        return self.pairs[self._place(p, q)]

    def clouds(self, clip: int) -> Clouds:
        """The markers of a clip as the web compares them; computed on first use."""
        from marey.find.build import web_clouds

        if clip not in self._clouds:
            self._clouds[clip] = web_clouds(self.clips[clip], self.options)
        return self._clouds[clip]

    def _place(self, p: int, q: int) -> int:
        return p * len(self.clips) - p * (p - 1) // 2 + q - p

    @classmethod
    def build(
        cls,
        clips: Clips | Sequence[Motion],
        *,
        markers: str | Sequence[str] = "body",
        remove_height: bool = False,
        window: float = 0.1,
        fps: float | None = None,
        alpha: float = 0.15,
        reach: float = 0.13,
        chain: float = 0.25,
        near: float = 0.15,
        bridge: float = 2.0,
        limit: float = 0.4,
        level: float = 0.65,
        labels: str | Sequence[str] | None = None,
        run: Callable[..., Any] = map,
        cache: Cache | None = None,
        progress: Progress | None = None,
    ) -> MatchWeb:
        """Build the web of a set of clips.

        Parameters
        ----------
        markers : the joints to compare; see `marey.compare.point_clouds`.
        remove_height : subtract each frame's mean marker height, so that reaches to different heights can match.
        window : length in seconds of the window over which two frames are compared.
        fps : frame rate of the web; by default the lowest rate of the clips.
        alpha, reach, chain, near, bridge, limit, level : which cells are kept; see `marey.find.region`.
        labels : one or several labels; the web then covers only frames with one of them.
        run : a function that maps work over tiles, such as `marey.store.processes()`; it does not affect the result.
        cache : stores the cells of each tile, so that adding a clip costs only that clip's pairs.
        progress : called with the fraction done, up to 1.
        """
        from marey.find.build import build_web

        return build_web(
            clips, markers=markers, remove_height=remove_height, window=window, fps=fps, alpha=alpha, reach=reach,
            chain=chain, near=near, bridge=bridge, limit=limit, level=level, labels=labels, run=run,
            cache=cache, progress=progress,
        )  # fmt: skip

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the web and its clips to an .npz file."""
        from marey.find.files import save_web

        save_web(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> MatchWeb:
        """Load a web from a file that `save` wrote."""
        from marey.find.files import load_web

        return load_web(path)

    def info(self) -> dict[str, Any]:
        """Statistics of the web: its contents, and its size relative to that of the motion."""
        frames = sum(len(clip) for clip in self.clips)
        grid = sum(cells.shape[0] * cells.shape[1] for cells in self.pairs)
        return {
            "clips": len(self.clips),
            "frames": frames,
            "fps": self.fps,
            "seconds": frames / self.fps,
            "cells": self.n_cells,
            "cells_share": self.n_cells / grid,
            "bytes": self.nbytes,
            "motion_bytes": self.motion_nbytes,
            "size_ratio": self.nbytes / self.motion_nbytes,
        }

    def search(
        self,
        clip: int | str | Motion,
        start: int | None,
        stop: int | None,
        threshold: float,
        *,
        overlap: tuple[float, float] = (0.8, 0.2),
        labels: str | Sequence[str] | None = None,
        most: int = 500,
        tiers: int | None = None,
    ) -> Found:
        """Find everything similar to frames start .. stop of a clip, transitively; see `marey.find.search`."""
        from marey.find.search import search

        return search(self, clip, start, stop, threshold, overlap=overlap, labels=labels, most=most, tiers=tiers)

    def suggest(
        self,
        clip: int | str | Motion,
        start: int | None = None,
        stop: int | None = None,
        *,
        overlap: tuple[float, float] = (0.8, 0.2),
        labels: str | Sequence[str] | None = None,
        most: int = 200,
        tiers: int | None = None,
    ) -> Suggestion:
        """Suggest a threshold for a search, for the user to judge; see `marey.find.suggest`."""
        from marey.find.suggest import suggest

        return suggest(self, clip, start, stop, overlap=overlap, labels=labels, most=most, tiers=tiers)

    def counts(
        self,
        clip: int | str | Motion,
        start: int | None,
        stop: int | None,
        thresholds: ArrayLike,
        *,
        overlap: tuple[float, float] = (0.8, 0.2),
        labels: str | Sequence[str] | None = None,
        most: int = 500,
    ) -> Ints:
        """Number of matches at each of several thresholds; see `marey.find.suggest.counts`."""
        from marey.find.suggest import counts

        return counts(self, clip, start, stop, thresholds, overlap=overlap, labels=labels, most=most)
