"""Build a match web from clips: the grids of all pairs, tile by tile (Kovar 6.2.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from marey.compare import Clouds, frame_weights, point_clouds
from marey.core.arrays import Bools, set_readonly
from marey.core.motion import Motion
from marey.core.protocols import Cache, Clips
from marey.edit.gather import gather_clips
from marey.errors import InvalidValue, UnknownName, similar
from marey.find.cells import Cells
from marey.find.match_web import MatchWeb, Progress, WebOptions
from marey.find.region import Rules
from marey.find.tiles import Tile, Work, assembled, tiles_of, unpacked


def build_web(
    clips: Clips | Sequence[Motion],
    *,
    markers: str | Sequence[str],
    remove_height: bool,
    window: float,
    fps: float | None,
    alpha: float,
    reach: float,
    chain: float,
    near: float,
    bridge: float,
    limit: float,
    level: float,
    labels: str | Sequence[str] | None,
    run: Callable[..., Any],
    cache: Cache | None,
    progress: Progress | None,
) -> MatchWeb:
    """See `MatchWeb.build`."""
    motions = prepared(clips, fps)
    options = WebOptions(
        markers if isinstance(markers, str) else tuple(markers),
        bool(remove_height),
        float(window),
        float(alpha),
        float(reach),
        float(chain),
        float(near),
        float(bridge),
        float(limit),
        float(level),
        None if labels is None else (labels,) if isinstance(labels, str) else tuple(labels),
    )
    work = work_of(motions, options)
    tiles = [
        tile
        for p in range(len(motions))
        for q in range(p, len(motions))
        for tile in tiles_of(p, q, len(motions[p]), len(motions[q]))
    ]
    if cache is None:
        results = run(work, tiles)
    else:
        results = cache.map(work, tiles, _keys(cache, motions, options, work, tiles), run=run)
    return MatchWeb(motions, options, _pairs(motions, tiles, results, progress))


def work_of(motions: Sequence[Motion], options: WebOptions, clouds: Sequence[Clouds] | None = None) -> Work:
    """The job that computes tiles for a web with these options; pass `clouds` if the markers are already known."""
    fps = motions[0].fps
    rules = rules_of(options, fps)
    weights = frame_weights(options.window, fps, "triangle")
    longest = max(motion.duration for motion in motions)
    if longest < max(options.chain, options.window):
        raise InvalidValue(
            f"the longest clip lasts {longest:.2f} s, too short for chains of {options.chain:g} s and windows of "
            f"{options.window:g} s; use longer clips"
        )
    seen = [web_clouds(motion, options) for motion in motions] if clouds is None else list(clouds)
    return Work(seen, weights, rules, masks_of(motions, options.labels))


def rules_of(options: WebOptions, fps: float) -> Rules:
    """The rules of a web for grids at `fps` frames per second."""
    names = ("alpha", "reach", "chain", "near", "bridge", "limit", "level")
    return Rules.of(fps, *(getattr(options, name) for name in names))


def web_clouds(motion: Motion, options: WebOptions) -> Clouds:
    """The markers of a clip as a web with these options compares them."""
    clouds = point_clouds(motion, options.markers)
    if options.remove_height:
        points = clouds.points.copy()
        points[..., 1] -= (points[..., 1] @ clouds.weights)[:, None]
        clouds = replace(clouds, points=set_readonly(points))
    return replace(clouds, contacts=None)


def masks_of(motions: Sequence[Motion], labels: Sequence[str] | None) -> list[Bools | None]:
    """For each clip (F,) the frames that have one of the labels; None for all frames if no label is given."""
    if labels is None:
        return [None for _ in motions]
    known = sorted({name for motion in motions for name in motion.labels.names})
    for label in labels:
        if label not in known:
            told = f"there are {', '.join(map(repr, known))}" if known else "the clips have no labels"
            raise UnknownName(f"no clip has the label {label!r}; {told}{similar(str(label), known)}")
    if not labels:
        raise InvalidValue("labels= needs at least one label, or None for all frames")
    out: list[Bools | None] = []
    for motion in motions:
        mask = np.zeros(len(motion), dtype=bool)
        for label in labels:
            mask |= motion.labels.mask(label, len(motion))
        out.append(set_readonly(mask))
    return out


def prepared(clips: Clips | Sequence[Motion], fps: float | None) -> tuple[Motion, ...]:
    """The clips at one frame rate, with root motion on joint 0, contacts and unique names."""
    given = [clips.motion(i) for i in range(len(clips.names))] if isinstance(clips, Clips) else list(clips)
    for motion in given:
        if not isinstance(motion, Motion):
            raise InvalidValue(f"a match web is built from motions, got {type(motion).__name__}")
    return gather_clips(given, fps, "a match web")


def _pairs(
    motions: Sequence[Motion], tiles: Sequence[Tile], results: Iterable[Any], progress: Progress | None
) -> tuple[Cells, ...]:
    """Assemble the cells of each pair when its last tile arrives."""
    total, done = sum(tile.n_cells for tile in tiles), 0
    out: list[Cells] = []
    ours: list[Tile] = []
    parts: list[Cells] = []
    for k, (tile, result) in enumerate(zip(tiles, results, strict=True)):
        ours.append(tile)
        parts.append(unpacked(result))
        if k + 1 == len(tiles) or (tiles[k + 1].a, tiles[k + 1].b) != (tile.a, tile.b):
            out.append(assembled(ours, parts, (len(motions[tile.a]), len(motions[tile.b]))))
            ours, parts = [], []
        done += tile.n_cells
        if progress is not None:
            progress(done / total)
    return tuple(out)


def _keys(cache: Cache, motions: Sequence[Motion], options: WebOptions, work: Work, tiles: Sequence[Tile]) -> list[str]:
    """Cache keys of the tiles; the number is the version of the algorithm."""
    how = cache.key(
        "web", 3, options.remove_height, work.frame_weights, options.alpha, options.reach, options.chain, options.near,
        options.bridge, options.limit, options.level,
    )  # fmt: skip
    what = options.markers if isinstance(options.markers, str) else list(options.markers)
    clips = []
    for motion, mask in zip(motions, work.masks, strict=True):
        body = motion.skeleton
        tree = (list(body.names), body.parents, body.offsets, sorted(body.role_map.items()))
        moves = (motion.root_positions, motion.rotations, motion.bone_offsets, motion.fps)
        clips.append(cache.key(*moves, tree, what, mask))
    return [cache.key(how, clips[tile.a], clips[tile.b], tile.a == tile.b, tile.span) for tile in tiles]
