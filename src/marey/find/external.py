"""Compare a query that is not in the web with each clip, and keep the cells that `MatchWeb.build` would keep."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from marey.compare import Clouds
from marey.core.motion import Motion
from marey.core.placement import bake_hips_into_root, check_same_skeleton
from marey.edit import resample
from marey.find.build import make_work, web_clouds
from marey.find.cells import Cells
from marey.find.search import check_interval
from marey.find.tiles import GridTile, join_tiles, split_into_tiles, unpack_tile

if TYPE_CHECKING:
    from marey.find.match_web import MatchWeb


@dataclass(frozen=True, slots=True, eq=False)
class ExternalQuery:
    """A query from a motion that is not in the web.

    motion : the motion at the frame rate of the web.
    clouds : its point cloud.
    pairs : (clip, kept cells, True) for each clip; True means that the query's frames are the rows.
    """

    motion: Motion
    clouds: Clouds
    pairs: tuple[tuple[int, Cells, bool], ...]

    @classmethod
    def compare(
        cls, web: MatchWeb, motion: Motion, start: int | None, stop: int | None, min_frames: int
    ) -> tuple[ExternalQuery, int, int]:
        """Compare a motion with every clip of a web. Also return the query's first frame and end frame at the web's
        rate.

        Parameters
        ----------
        web : the match web.
        motion : a motion with the web's skeleton, at any frame rate.
        start, stop : frames of the motion at its own rate, half-open; None for its ends.
        min_frames : minimum length of a query in frames at the web's rate.
        """
        check_same_skeleton(web.skeleton, motion.skeleton, f"a search for {motion.name!r}")
        at_rate, start_at, stop_at = bring_to_rate(motion, start, stop, web.fps, web.names, min_frames)
        at_rate = bake_hips_into_root(at_rate, web.skeleton)
        clouds = web_clouds(at_rate, web.options)
        return cls(at_rate, clouds, _compare_with_clips(web, clouds, start_at, stop_at)), start_at, stop_at


def bring_to_rate(
    motion: Motion, start: Any, stop: Any, fps: float, names: Sequence[str], min_frames: int
) -> tuple[Motion, int, int]:
    """Resample a query to `fps`, and return its first and end frame at that rate.

    start, stop : frames of the motion at its own rate, half-open; None for its ends.
    names : names of the clips that are searched; the query gets another one.
    min_frames : minimum length of a query in frames at `fps`.
    """
    step = fps / motion.fps
    first, last = check_interval(
        0 if start is None else start,
        len(motion) if stop is None else stop,
        motion,
        math.ceil((min_frames - 1) / step) + 1,
    )
    if motion.name in names:
        motion = replace(motion, name=f"{motion.name} (outside)")
    at_rate = motion if motion.fps == fps else resample(motion, fps)
    # Rounding to the rate must not make the query too short or move it past the end.
    stop_at = min(max(round(last * step), round(first * step) + min_frames), len(at_rate))
    return at_rate, min(round(first * step), stop_at - min_frames), stop_at


def _compare_with_clips(web: MatchWeb, clouds: Clouds, start: int, stop: int) -> tuple[tuple[int, Cells, bool], ...]:
    """Compare the query's frames `start` to `stop` with each clip.

    Return (clip, kept cells, True) for each clip. The cells are those of the distance grid that the web would have
    kept if the query were one of its clips.
    """
    inside = make_work(web.clips, web.options, [web.clouds(k) for k in range(len(web))])
    work = replace(inside, clouds=[clouds, *inside.clouds], masks=[None, *inside.masks])
    out = []
    for k, clip in enumerate(web.clips):
        tiles = [
            GridTile(0, k + 1, (top + start, bottom + start, left, right))
            for top, bottom, left, right in (tile.span for tile in split_into_tiles(0, 1, stop - start, len(clip)))
        ]
        parts = [unpack_tile(work(tile)) for tile in tiles]
        out.append((k, join_tiles(tiles, parts, (stop - start, len(clip))), True))
    return tuple(out)
