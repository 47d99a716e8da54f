"""Build a match web from clips: compute the distance grids of all clip pairs, tile by tile (Kovar 6.2.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from marey.check import warn_of_findings
from marey.clean import ensure_contacts
from marey.compare import Clouds, frame_weights, point_clouds
from marey.core.arrays import Bools, set_readonly
from marey.core.clips import make_names_unique, prepare_clips
from marey.core.motion import Motion
from marey.core.protocols import Clips, ResultCache
from marey.core.settings import operation
from marey.deprecation import renamed_parameters
from marey.edit.common_skeleton import share_skeleton
from marey.edit.settings import OneSkeleton
from marey.errors import InvalidValue, UnknownName, similar
from marey.find.cells import Cells
from marey.find.region import make_rules
from marey.find.settings import RENAMED, FrameComparisonSettings, WebSettings
from marey.find.tiles import GridTile, Work, join_tiles, split_into_tiles, unpack_tile

if TYPE_CHECKING:
    from marey.find.match_web import MatchWeb


@renamed_parameters(options="settings", **RENAMED)
@operation(WebSettings)
def build_web(
    clips: Clips | Sequence[Motion],
    *,
    fps: float | None = None,
    retarget: OneSkeleton = False,
    run: Callable[..., Any] = map,
    cache: ResultCache | None = None,
    progress: Callable[[float], None] | None = None,
    settings: WebSettings,
) -> MatchWeb:
    """Build the match web of a set of clips.

    Parameters
    ----------
    clips : motions that share a skeleton, or an object with ``names``, ``motion(i)`` and ``content_key(i)``, such as a
        `MotionSet`.
    fps : frame rate of the web; by default the highest rate of the clips.
    retarget : what to do with clips of different skeletons; see `marey.edit.share_skeleton`.
    run : function that maps work over tiles, such as `marey.store.processes()`; it does not affect the result.
    cache : stores the cells of each tile. When a clip is added, only its pairs are computed.
    progress : called with the fraction done, from 0 to 1.

    Examples
    --------
    >>> web = marey.MatchWeb.build([walk, turning], fps=30.0)
    >>> web.names, web.clips[0].fps
    (('walk', 'walk#2'), 30.0)
    """
    from marey.find.match_web import MatchWeb

    detect = partial(ensure_contacts, problem="matches of a clip without contacts ignore them")
    given = share_skeleton(clips, retarget, purpose="a match web")
    motions = make_names_unique(prepare_clips(given, "a match web", fps=fps, detect=detect, can_retarget=True).motions)
    warn_of_findings(motions)
    work = make_work(motions, settings)
    tiles = [
        tile
        for p in range(len(motions))
        for q in range(p, len(motions))
        for tile in split_into_tiles(p, q, len(motions[p]), len(motions[q]))
    ]
    if cache is None:
        results = run(work, tiles)
    else:
        results = cache.map(work, tiles, _tile_keys(cache, motions, settings, work, tiles), run=run)
    return MatchWeb(motions, settings, _join_pairs(motions, tiles, results, progress))


def make_work(motions: Sequence[Motion], options: WebSettings, clouds: Sequence[Clouds] | None = None) -> Work:
    """Create the job that computes the tiles of a web; pass `clouds` if the point clouds are already known."""
    fps = motions[0].fps
    rules = make_rules(options, fps)
    weights = frame_weights(options.window, fps, "triangle")
    longest = max(motion.duration for motion in motions)
    if longest < max(options.min_chain_seconds, options.window):
        raise InvalidValue(
            f"the longest clip lasts {longest:.2f} s, too short for a run of similar frames of "
            f"{options.min_chain_seconds:g} s and a window of {options.window:g} s; use longer clips, or lower "
            f"`min_chain_seconds=` and `window=`"
        )
    seen = [web_clouds(motion, options) for motion in motions] if clouds is None else list(clouds)
    return Work(seen, weights, rules, find_label_masks(motions, options.labels))


def web_clouds(motion: Motion, options: FrameComparisonSettings) -> Clouds:
    """Return the point cloud of a clip, as a web or an index with these `options` compares it."""
    clouds = point_clouds(motion, options.markers)
    if options.remove_height:
        points = clouds.points.copy()
        points[..., 1] -= (points[..., 1] @ clouds.weights)[:, None]
        clouds = replace(clouds, points=set_readonly(points))
    return replace(clouds, contacts=None)


def find_label_masks(motions: Sequence[Motion], labels: str | Sequence[str] | None) -> list[Bools | None]:
    """Return for each clip a mask (F,) of the frames that have one of the labels; None, for all frames, if `labels` is
    None."""
    if labels is None:
        return [None for _ in motions]
    wanted = (labels,) if isinstance(labels, str) else tuple(labels)
    known = sorted({name for motion in motions for name in motion.labels.names})
    for label in wanted:
        if label not in known:
            hint = f"there are {', '.join(map(repr, known))}" if known else "the clips have no labels"
            raise UnknownName(f"no clip has the label {label!r}; {hint}{similar(str(label), known)}")
    if not wanted:
        raise InvalidValue("labels must contain at least one label, got none; omit them to use all frames")
    return [
        set_readonly(np.any([motion.labels.mask(name, len(motion)) for name in wanted], axis=0)) for motion in motions
    ]


def _join_pairs(
    motions: Sequence[Motion],
    tiles: Sequence[GridTile],
    results: Iterable[Any],
    progress: Callable[[float], None] | None,
) -> tuple[Cells, ...]:
    """Assemble the cells of each clip pair as soon as its last tile arrives."""
    total, done = sum(tile.n_cells for tile in tiles), 0
    out: list[Cells] = []
    pair: list[GridTile] = []
    parts: list[Cells] = []
    for k, (tile, result) in enumerate(zip(tiles, results, strict=True)):
        pair.append(tile)
        parts.append(unpack_tile(result))
        if k + 1 == len(tiles) or (tiles[k + 1].a, tiles[k + 1].b) != (tile.a, tile.b):
            out.append(join_tiles(pair, parts, (len(motions[tile.a]), len(motions[tile.b]))))
            pair, parts = [], []
        done += tile.n_cells
        if progress is not None:
            progress(done / total)
    return tuple(out)


def _tile_keys(
    cache: ResultCache, motions: Sequence[Motion], options: WebSettings, work: Work, tiles: Sequence[GridTile]
) -> list[str]:
    """Return the cache keys of the tiles; the number 3 is the version of the algorithm."""
    rules = cache.key("web", 3, options.remove_height, work.frame_weights, *options.numbers[1:])
    what = options.markers if isinstance(options.markers, str) else list(options.markers)
    clips = []
    for motion, mask in zip(motions, work.masks, strict=True):
        body = motion.skeleton
        tree = (list(body.names), body.parents, body.offsets, sorted(body.role_map.items()))
        moves = (motion.root_positions, motion.rotations, motion.bone_offsets, motion.fps)
        clips.append(cache.key(*moves, tree, what, mask))
    return [cache.key(rules, clips[tile.a], clips[tile.b], tile.a == tile.b, tile.span) for tile in tiles]
