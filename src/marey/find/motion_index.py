"""A motion index: find motions similar to an example in hours of clips, without comparing all clips in advance.

A search has two steps. First, a few frames of the query, the anchors, are aligned with every clip by features of their
poses (`marey.compare.pose_bounds`). Around the ends of these alignments, frames are then compared as in a match web.
The result equals that of a match web of all clips, unless the first step misses a match. This can happen if the anchors
of a match are less similar than the match as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from marey.compare import Clouds, frame_weights
from marey.compare.pairing import choose_runner, count_workers
from marey.compare.pose_bounds import Embedding
from marey.core.arrays import Floats, FrozenRecord, Ints, set_readonly
from marey.core.motion import Motion
from marey.errors import InvalidValue, format_list
from marey.find.cells import COARSE, STEP, TOO_FAR
from marey.find.external import bring_to_rate
from marey.find.index_build import build_index, scale_clouds
from marey.find.index_kernels import Blocks, scan_anchors
from marey.find.index_queries import find_paths, find_poses
from marey.find.match_graph import EXTERNAL, CandidateLimits, Candidates, Interval, KnownMatches, are_near
from marey.find.names import find_clip
from marey.find.region import make_rules
from marey.find.region_kernels import Rules
from marey.find.search import STRAIGHT, External, cap_paths, list_candidates
from marey.find.search import search as _search
from marey.find.search_kernels import PathEnds
from marey.find.settings import IndexSettings
from marey.find.span_kernels import SpanQuery, compare_spans
from marey.find.suggest import count_matches as _count_matches
from marey.find.suggest import suggest_threshold as _suggest_threshold

# Number of anchors: frames of a query that are compared by their features.
_N_ANCHORS = 9
# Maximum mean distance of the anchors of a match, as a multiple of the distance of the match.
_SLACK = 1.2
# Number of features that the first, coarse scan compares.
_N_COARSE = 8
# Margin in seconds around possible matches that is examined to decide which of their cells a match web would keep. A
# web uses a longer one, but that does not change the matches; see docs/scale.md.
_MARGIN_SECONDS = 0.2
# Meters: tolerance when lower bounds are compared with a distance, for rounded cells and single-precision features.
_ROUNDING = COARSE * STEP
# Maximum number of frames where matches may end that are compared at a time.
_MAX_WIDTH = 512
# At most this many spans per requested match are compared, the nearest by their features.
_MORE = 3
# Maximum number of frames at which matches may end. Only a query that stands still has more.
_MAX_ENDS = 30_000

Singles = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Poses:
    """The poses of a query that is not in the index.

    motion : the motion at the frame rate of the index. clouds : its point cloud, scaled to the body of the index.
    features : (F, K) features of its frames.
    """

    motion: Motion
    clouds: Clouds
    features: Singles


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MotionIndex(FrozenRecord):
    """Poses of many clips, ready to be searched. Create one with `build`.

    Bodies of different sizes are scaled to one height, so distances are in meters for a body of that height. If all
    clips share a skeleton, nothing is scaled.

    Attributes
    ----------
    clips : the motions; those of a set on disk are loaded on demand.
    names, lengths : name and number of frames of each clip.
    fps : frame rate of all clips.
    markers, weights : names and weights of the compared markers.
    height : body height in meters that bodies are scaled to.
    options : how the index was built.
    embedding : the features of poses.
    blocks : markers and features of all frames; see `marey.find.index_kernels`.
    searched : the clips in which searches look; None for all.

    Examples
    --------
    >>> index = marey.find.MotionIndex.build([take])
    >>> kick = next(label for label in take.labels if label.name == "kick")
    >>> found = index.search("medley", kick.start, kick.stop, threshold=0.07)  # meters
    >>> len(found), index.n_frames == len(take)
    (4, True)
    """

    clips: Sequence[Motion]
    names: tuple[str, ...]
    fps: float
    markers: tuple[str, ...]
    weights: Floats
    height: float
    options: IndexSettings
    embedding: Embedding = field(repr=False)
    blocks: Blocks = field(repr=False)
    searched: tuple[int, ...] | None = field(default=None, repr=False)
    _clouds: dict[int, Clouds] = field(init=False, repr=False, default_factory=dict)

    def __repr__(self) -> str:
        return f"<MotionIndex: {len(self.names)} clips, {self.n_frames} frames at {self.fps:g} Hz>"

    def __len__(self) -> int:
        return len(self.names)

    @property
    def n_frames(self) -> int:
        """Number of frames of all clips."""
        return int(self.blocks.starts[-1])

    @property
    def nbytes(self) -> int:
        """Size of the index in bytes."""
        return self.blocks.values.nbytes

    def index(self, clip: int | str) -> int:
        """Return the index of a clip given by name or index."""
        return find_clip(self.names, clip, "index", "`MotionIndex.names`")

    def select(self, clips: Iterable[int | str]) -> MotionIndex:
        """Return an index that searches only in some clips, given by name or index. A query may be in any clip."""
        return replace(self, searched=tuple(sorted({self.index(clip) for clip in clips})))

    def clouds(self, clip: int) -> Clouds:
        """Return the markers of a clip, scaled to the body of the index."""
        if clip not in self._clouds:
            block = self._block(clip)[: 3 * self.blocks.n_markers].reshape(3, self.blocks.n_markers, -1)
            points = set_readonly(block.transpose(2, 1, 0).astype(np.float64, order="C"))
            self._clouds[clip] = Clouds(points, self.weights, self.fps, self.names[clip], self.markers)
        return self._clouds[clip]

    build = staticmethod(build_index)
    search = _search
    suggest_threshold = _suggest_threshold
    count_matches = _count_matches

    def compare_external(
        self, motion: Motion, start: int | None, stop: int | None, n: int
    ) -> tuple[External, int, int]:
        """Prepare a motion that is not in the index as a query; also return its frames at the rate of the index."""
        at_rate, first, last = bring_to_rate(motion, start, stop, self.fps, self.names, n)
        return self.prepare_poses(at_rate), first, last

    def prepare_poses(self, motion: Motion) -> Poses:
        """Return the poses of a motion as the index compares them."""
        clouds = scale_clouds(motion, self.options)
        if clouds.names != self.markers:
            missing = [name for name in self.markers if name not in clouds.names]
            what = f"it lacks {format_list(missing)}" if missing else "it has others"
            raise InvalidValue(
                f"{motion.name!r} has different markers from those of the index: {what}; map its joints with "
                "`roles=`, or choose joints that all clips have with `markers=`",
                parameter="markers",
            )
        features = self.embedding.apply(clouds) * np.float32(self.height)
        scaled = replace(clouds, points=set_readonly(clouds.points * self.height))
        return Poses(motion, scaled, features)

    find_poses = find_poses
    find_paths = find_paths

    def find_candidates(self, interval: Interval, external: External | None, limits: CandidateLimits) -> Candidates:
        """Find the frames of all clips at which an interval within `limits.distance` of the query ends.

        The query is an interval of a clip of the index, or of `external`. If there are many more than
        `limits.max_matches`, only the nearest by their features are compared. Frames where only known matches can end
        are left out.
        """
        clip, start, stop = interval
        if clip == EXTERNAL and isinstance(external, Poses):
            clouds, features = external.clouds, external.features
        else:
            clouds, features = self.clouds(clip), self.features(clip).T
        spans = self.find_spans(features[start:stop], *limits)
        return self.compare_spans(clouds, features, (start, stop), spans, limits.distance)

    def compare_spans(
        self, clouds: Clouds, features: Singles, frames: tuple[int, int], spans: Ints, limit: float
    ) -> Candidates:
        """Find the frames of spans (S, 4) at which an interval within `limit` meters of frames of a clip ends.

        clouds, features : markers of the clip, and features (F, K) of its frames.
        """
        weights = frame_weights(self.options.window, self.fps, "triangle")
        start, stop = frames
        n, half = stop - start, len(weights) // 2
        around = np.ascontiguousarray(features[max(start - half, 0) : stop + half])
        query = SpanQuery(
            clouds.points, np.sqrt(clouds.weights), around, weights, start, stop,
            round(_MARGIN_SECONDS * self.fps), STEP, TOO_FAR, COARSE, STRAIGHT, cap_paths(n, limit),
            (limit + _ROUNDING) ** 2,
        )  # fmt: skip
        rules = make_rules(self.options.web, self.fps)
        parts = _split_spans(spans, n)
        batches = [parts[k :: count_workers()] for k in range(min(count_workers(), len(parts)))]
        found = list(choose_runner(map)(partial(_find_in_spans, self.blocks, query, rules, limit), batches))
        if not found:
            nothing = np.empty(0, dtype=np.int64)
            return Candidates(nothing, nothing, nothing, np.empty(0), np.empty(0))
        return Candidates(*(np.concatenate(column) for column in zip(*(each.columns for each in found), strict=True)))

    def find_spans(
        self, features: Singles, limit: float, max_matches: int | None = None, known: KnownMatches | None = None
    ) -> Ints:
        """Return spans (S, 4) that contain all matches of a query with features (n, K) within `limit` meters.

        The columns are clip, first frame, end frame, and the first frame where a match may end. With `max_matches`, at
        most three times as many spans are returned, the nearest. With `known`, frames where only known matches can end
        are left out.
        """
        n = len(features)
        at = np.unique(np.linspace(0, n - 1, min(_N_ANCHORS, n)).round().astype(np.int64))
        steps = np.diff(at)
        gaps = np.stack([np.maximum((steps + 1) // 2 - 1, 0), 2 * steps + 1], axis=1)
        cap = len(at) * (_SLACK * limit) ** 2
        starts = self.blocks.starts
        costs = np.full(self.n_frames, np.inf, dtype=np.float32)
        spans = self.list_spans()
        for n_used in (_N_COARSE, self.blocks.n_features):
            anchors = np.ascontiguousarray(features[at, :n_used], dtype=np.float32)
            scan_anchors(self.blocks, spans, anchors, gaps, cap, costs)
            ends = np.flatnonzero(costs <= cap)
            if known is not None:
                ends = _find_new_ends(ends, costs, starts, known)
            if len(ends) > _MAX_ENDS:
                ends = np.sort(ends[np.argpartition(costs[ends], _MAX_ENDS)[:_MAX_ENDS]])
            spans = _list_spans(ends, starts, n)
        if max_matches is None or len(spans) <= _MORE * max_matches:
            return spans
        lowest = np.minimum.reduceat(costs[ends], np.searchsorted(ends, starts[spans[:, 0]] + spans[:, 3]))
        return np.asarray(spans[np.sort(np.argsort(lowest, kind="stable")[: _MORE * max_matches])])

    def list_spans(self) -> Ints:
        """Return the spans (S, 4) of all clips that are searched; see `index_kernels.scan_anchors`."""
        clips = np.arange(len(self)) if self.searched is None else np.array(self.searched, dtype=np.int64)
        spans = np.zeros((len(clips), 4), dtype=np.int64)
        spans[:, 0], spans[:, 2] = clips, np.diff(self.blocks.starts)[clips]
        return spans

    def _block(self, clip: int) -> Singles:
        n_rows = 3 * self.blocks.n_markers + self.blocks.n_features
        start, stop = self.blocks.starts[clip], self.blocks.starts[clip + 1]
        return self.blocks.values[n_rows * start : n_rows * stop].reshape(n_rows, stop - start)

    def features(self, clip: int) -> Singles:
        """Return the features (K, F) of the frames of a clip."""
        return self._block(clip)[3 * self.blocks.n_markers :]


def _find_new_ends(ends: Ints, costs: Singles, starts: Ints, known: KnownMatches) -> Ints:
    """Return the frames of `ends` at which a new match can end, and which are near a local minimum of the costs."""
    from scipy.ndimage import minimum_filter1d

    lowest = minimum_filter1d(costs, 2 * known.radius + 1, mode="constant", cval=np.inf)
    best = ends[costs[ends] <= lowest[ends]]
    best = best[~known.contain(best, starts)]
    ends = ends[are_near(ends, best, known.radius)]
    return np.asarray(ends[~known.contain(ends, starts)])


def _list_spans(ends: Ints, starts: Ints, n: int) -> Ints:
    """Return the spans (S, 4) to search: clip, first frame, stop, and first frame at which a match may end.

    Together they contain every match that ends at one of the frames `ends`; a match has at most 2 n frames.

    ends : sorted frames, counted over all clips. starts : (C + 1,) first frame of each clip. n : frames of the query.
    """
    clips = np.searchsorted(starts, ends, side="right") - 1
    frames = ends - starts[clips]
    is_new = np.ones(len(ends), dtype=bool)
    is_new[1:] = (clips[1:] != clips[:-1]) | (np.diff(frames) > n)
    first = np.flatnonzero(is_new)
    last = np.append(first[1:], len(ends)) - 1 if len(ends) else first
    return np.stack([clips[first], np.maximum(frames[first] - 2 * n, 0), frames[last] + 1, frames[first]], axis=1)


def _split_spans(spans: Ints, n: int) -> Ints:
    """Split spans so that matches may end at no more than `_MAX_WIDTH` frames of each; n is the length of a query."""
    counts = -(-(spans[:, 2] - spans[:, 3]) // _MAX_WIDTH)
    clip, first, last, begin = np.repeat(spans, counts, axis=0).T
    end = begin + _MAX_WIDTH * (np.arange(len(clip)) - np.repeat(np.cumsum(counts) - counts, counts))
    return np.stack([clip, np.maximum(first, end - 2 * n), np.minimum(end + _MAX_WIDTH, last), end], axis=1)


def _find_in_spans(blocks: Blocks, query: SpanQuery, rules: Rules, limit: float, spans: Ints) -> Candidates:
    """Return the candidates of a query in spans (S, 4)."""
    widths = spans[:, 2] - spans[:, 1]
    n = int(widths.sum())
    totals, counts, firsts = np.empty(n), np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32)
    compare_spans(blocks, np.ascontiguousarray(spans), query, rules, PathEnds(totals, counts, firsts))
    ends = np.flatnonzero(totals < np.inf)
    before = np.cumsum(widths) - widths
    of = np.searchsorted(before, ends, side="right") - 1
    shift = spans[of, 1]
    return list_candidates(
        spans[of, 0], ends - before[of] + shift, totals[ends], counts[ends], firsts[ends] + shift,
        query.stop - query.start, limit,
    )  # fmt: skip
