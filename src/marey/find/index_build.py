"""Build a motion index: markers and pose features of each clip, cached by the clip's content."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from marey.compare import Clouds
from marey.compare.clouds import choose_joints
from marey.compare.pose_bounds import Embedding
from marey.core.arrays import Floats, Ints, set_readonly
from marey.core.clips import list_clips, make_names_unique, match_rates
from marey.core.motion import Motion
from marey.core.protocols import Clips, ResultCache
from marey.core.settings import operation
from marey.core.skeleton import Skeleton
from marey.errors import InvalidValue, format_list, warn_user
from marey.find.build import web_clouds
from marey.find.index_kernels import Blocks
from marey.find.settings import IndexSettings
from marey.io.unit_and_up_axis import stature

if TYPE_CHECKING:
    from marey.find.motion_index import MotionIndex

Singles = NDArray[np.float32]

# Increase this whenever the same clip would have a different block.
_VERSION = 1
# Maximum number of clips whose poses determine the features of an index.
_N_FITTED = 200


@operation(IndexSettings)
def build_index(
    clips: Clips | Sequence[Motion],
    *,
    fps: float | None = None,
    run: Callable[..., Any] = map,
    cache: ResultCache | None = None,
    progress: Callable[[float], None] | None = None,
    settings: IndexSettings,
) -> MotionIndex:
    """Build an index of clips, which may have different skeletons.

    Clips whose skeleton lacks one of the markers of most others are left out.

    Parameters
    ----------
    clips : motions, or an object with ``names``, ``motion(i)`` and ``content_key(i)``, such as a `MotionSet`, all of
        whose motions have one frame rate.
    fps : frame rate of the index, if `clips` are motions; by default the highest of their rates.
    run : function that maps work over clips, such as `marey.store.processes()`; it does not affect the result.
    cache : stores the poses of each clip, so that when clips are added, only the new ones are read.
    progress : called with the fraction done, from 0 to 1.
    """
    from marey.find.motion_index import MotionIndex

    given: Any = clips
    if not isinstance(clips, Clips):
        listed = list_clips(clips, "a motion index")
        given = MotionList(make_names_unique(match_rates(listed, fps).motions))
    chosen, names, markers = _choose_clips(given, settings)
    weights = web_clouds(given.motion(chosen[0])[:1], settings).weights
    # With a cache, features stay those fitted when the first clips were indexed: new features would change all blocks.
    some = chosen[:: max(len(chosen) // _N_FITTED, 1)]
    fit = partial(_fit_embedding, given, settings)
    if cache is None:
        embedding = Embedding.from_array(fit(some))
        blocks = iter(run(partial(make_block, given, settings, embedding), chosen))
    else:
        key = cache.key("pose features", _VERSION, list(markers), weights, settings.remove_height)
        embedding = Embedding.from_array(next(iter(cache.map(fit, [some], [key]))))
        how = cache.key("motion index", _VERSION, key, embedding.to_array())
        keys = [cache.key(how, given.content_key(i)) for i in chosen]
        blocks = cache.map(partial(make_block, given, settings, embedding), chosen, keys, run=run)
    sizes = [_measure_size(_skeleton_of(given, i)) for i in chosen]
    parts: list[Singles] = []
    for block in blocks:
        parts.append(block)
        if progress is not None:
            progress(len(parts) / len(chosen))
    lengths = np.array([block.shape[1] for block in parts], dtype=np.int64)
    height = _choose_height(sizes, lengths)
    values = np.concatenate([block.reshape(-1) for block in parts])
    values *= np.float32(height)
    starts = set_readonly(np.concatenate([[0], np.cumsum(lengths)]))
    record = Blocks(set_readonly(values), starts, len(markers), embedding.n_features)
    rate = given.motion(chosen[0]).fps
    return MotionIndex(_Clips(given, chosen), names, rate, markers, weights, height, settings, embedding, record)


@dataclass(frozen=True, slots=True, eq=False)
class MotionList:
    """A list of motions as a set of clips."""

    motions: tuple[Motion, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Name of each motion."""
        return tuple(motion.name for motion in self.motions)

    def motion(self, i: int) -> Motion:
        """Return a motion."""
        return self.motions[i]

    def content_key(self, i: int) -> str:
        """Return the hash of a motion's frames."""
        motion = self.motions[i]
        digest = blake2b(digest_size=20)
        for part in (motion.root_positions, motion.rotations, motion.bone_offsets, motion.skeleton.offsets):
            digest.update(b"" if part is None else np.ascontiguousarray(part).tobytes())
        digest.update(repr((motion.fps, motion.skeleton.names, sorted(motion.skeleton.role_map.items()))).encode())
        return digest.hexdigest()


class _Clips(Sequence[Motion]):
    """Some clips of a set, loaded on demand."""

    def __init__(self, source: Any, chosen: Sequence[int]) -> None:
        self._source, self._chosen = source, chosen

    def __len__(self) -> int:
        return len(self._chosen)

    @overload
    def __getitem__(self, which: int) -> Motion: ...
    @overload
    def __getitem__(self, which: slice) -> Sequence[Motion]: ...
    def __getitem__(self, which: int | slice) -> Motion | Sequence[Motion]:
        if isinstance(which, slice):
            return _Clips(self._source, self._chosen[which])
        motion: Motion = self._source.motion(self._chosen[which])
        return motion


def _choose_clips(clips: Any, settings: IndexSettings) -> tuple[list[int], tuple[str, ...], tuple[str, ...]]:
    """Return the clips with the most common markers, their names, and the names of the markers."""
    groups: dict[tuple[str, ...], list[int]] = {}
    known: dict[int, tuple[str, ...]] = {}
    for i in range(len(clips.names)):
        skeleton = _skeleton_of(clips, i)
        if id(skeleton) not in known:
            known[id(skeleton)] = choose_joints(skeleton, settings.markers)[0]
        groups.setdefault(known[id(skeleton)], []).append(i)
    if not groups:
        raise InvalidValue("a motion index needs at least one clip, got none")
    markers, chosen = max(groups.items(), key=lambda item: len(item[1]))
    others = [clips.names[i] for names, each in groups.items() if names != markers for i in each]
    if others:
        warn_user(
            f"{format_list(others, 4)} cannot be compared with the other clips, because the skeletons have different "
            "joints; choose joints that all clips have with `markers=`"
        )
    return chosen, tuple(clips.names[i] for i in chosen), markers


def _skeleton_of(clips: Any, i: int) -> Skeleton:
    look_up = getattr(clips, "skeleton", None)
    skeleton: Skeleton = clips.motion(i).skeleton if look_up is None else look_up(i)
    return skeleton


def _fit_embedding(clips: Any, settings: IndexSettings, chosen: Sequence[int]) -> Floats:
    scaled = [scale_clouds(clips.motion(i), settings) for i in chosen]
    return Embedding.fit(scaled).to_array()


def make_block(clips: Any, settings: IndexSettings, embedding: Embedding, i: int) -> Singles:
    """Compute the block (3 M + K, F) of a clip, scaled to a body of height 1."""
    clouds = scale_clouds(clips.motion(i), settings)
    rows = clouds.points.transpose(2, 1, 0).reshape(-1, len(clouds)).astype(np.float32)
    return set_readonly(np.concatenate([rows, embedding.apply(clouds).T]))


def scale_clouds(motion: Motion, settings: IndexSettings) -> Clouds:
    """Return the markers of a motion, scaled to a body of height 1."""
    clouds = web_clouds(motion, settings)
    start = clouds.points[0].mean(axis=0) * [1.0, 0.0, 1.0]  # small coordinates keep their precision
    return replace(clouds, points=set_readonly((clouds.points - start) / _measure_size(motion.skeleton)))


def _measure_size(skeleton: Skeleton) -> float:
    """Return the height of a body in meters, or 1 if it has no legs."""
    return float(stature(skeleton) or 1.0)


def _choose_height(sizes: Sequence[float], lengths: Ints) -> float:
    """Return the height of the bodies with the most frames."""
    frames: dict[float, int] = {}
    for size, n in zip(sizes, lengths.tolist(), strict=True):
        frames[size] = frames.get(size, 0) + n
    return max(frames, key=lambda size: frames[size])
