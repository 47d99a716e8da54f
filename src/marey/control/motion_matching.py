"""Motion matching: every few frames, continue from the frame that best fits the command and pose (Clavet 2016)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from marey.control.inertia import InertialPlayer, accept_old_feet
from marey.control.inertia_reel import Reel, make_reel
from marey.control.motion_matching_features import FeatureTable, make_features
from marey.control.motion_matching_kernels import PathModel, measure_distance, predict_path
from marey.control.settings import MatchingSettings
from marey.core.arrays import Floats, set_readonly
from marey.core.motion import Motion
from marey.core.settings import operation
from marey.deprecation import renamed_parameters
from marey.errors import InvalidValue
from marey.play import PlayedStream, Player, SourceFrame

__all__ = ["MatchingData", "MatchingSettings", "MotionMatching"]

_COMMANDS = ("direction", "speed")
# If the speed differs from the requested one, the request is exaggerated: by this multiple of the error, limited to
# this many m/s, with this time constant in seconds.
_LOUDER, _LOUDEST, _PATIENCE = 2.0, 1.0, 1.0


@dataclass(frozen=True, slots=True, eq=False)
class MatchingData:
    """Clips and the features of their frames, ready to be searched. Any number of streams can share them.

    reel : the clips, one after the other.
    features : features of their frames.
    tree : k-d tree of ``features.values``.

    Examples
    --------
    >>> data = marey.control.MatchingData.build([walk, turning])
    >>> row, distance = data.nearest(data.features.values[10])
    >>> row, round(distance, 6)
    (10, 0.0)
    """

    reel: Reel
    features: FeatureTable
    tree: Any

    @classmethod
    @renamed_parameters(ahead="path_times")
    def build(
        cls,
        clips: Sequence[Motion],
        *,
        path_times: Sequence[float] = (0.2, 0.4, 0.6, 0.8),
        weights: Mapping[str, float] | None = None,
    ) -> MatchingData:
        """Compute the features of all frames of the clips.

        Parameters
        ----------
        clips : clips of one character. Mirrored copies (`marey.edit.mirror`) make it turn equally to both sides. The
            end of each clip, as long as the largest of `path_times`, is played but never jumped to.
        path_times : increasing times ahead, in seconds, at which the future path is compared.
        weights : weights of the feature groups ``path``, ``facing``, ``feet``, ``feet_speed``, ``hips_speed``. Missing
            ones default to `marey.control.motion_matching_features.WEIGHTS`.
        """
        from scipy.spatial import cKDTree

        reel = make_reel(clips)
        features = make_features(reel, path_times=path_times, weights=weights)
        return cls(reel, features, cKDTree(features.values))

    def nearest(self, query: Floats) -> tuple[int, float]:
        """Return the row whose features are nearest to `query` (D,), and their distance."""
        distance, index = self.tree.query(query)
        return int(self.features.rows[index]), float(distance)


class MotionMatching(PlayedStream):
    """Endless motion from clips. `request` sets the command, `frame` returns the next frame.

    Parameters
    ----------
    data : clips with their features, or plain clips, whose features are then computed with default settings.

    The options are those of `MatchingSettings`.

    Examples
    --------
    >>> stream = marey.control.MotionMatching([walk, turning, marey.edit.mirror(turning)])
    >>> stream.request(direction=0.5)
    >>> len(stream.record(1.0)), stream.jumps >= 0
    (60, True)
    """

    @accept_old_feet
    @renamed_parameters(pays="min_gain")
    @operation(MatchingSettings)
    def __init__(self, data: MatchingData | Sequence[Motion], settings: MatchingSettings) -> None:
        self.data = data if isinstance(data, MatchingData) else MatchingData.build(data)
        reel, features = self.data.reel, self.data.features
        super().__init__(reel.skeleton, reel.fps, reel.points, reel.floor)
        self._every = max(1, round(settings.search_every * reel.fps))
        self._left = 1.0 - settings.min_gain
        springs = set_readonly(2.0 * np.log(2.0) / np.array([settings.speed_half_life, settings.facing_half_life]))
        self._model = PathModel(features.path_times, springs, features.turn_limits, features.scale)
        self._usual_speed = float(np.median(features.paces[features.rows]))
        self._direction, self._speed = 0.0, self._usual_speed
        self._wait, self._jumps, self._louder = 0, 0, 0.0
        self.request(direction=settings.direction, speed=settings.speed)
        first = self._first_row() if settings.row is None else settings.row
        self._frames = InertialPlayer(reel, half_life=settings.half_life, row=first, place=settings.place)
        self._begun = False
        self.player = Player(self, settings.feet, name="motion matching", signs=reel.rotations[self._frames.row])

    @property
    def row(self) -> int:
        """Number of the current frame, counted over all clips (`MatchingData.reel`)."""
        return self._frames.row

    @property
    def jumps(self) -> int:
        """Number of jumps so far."""
        return self._jumps

    def request(self, **command: Any) -> None:
        """Change the command, starting with the next frame. Values that are not given stay unchanged.

        Parameters
        ----------
        direction : radians from +Z in the world, positive to the left.
        speed : meters per second, or None for the median speed of the clips.
        """
        for name, value in command.items():
            if name not in _COMMANDS:
                raise InvalidValue(f"unknown command {name!r}; motion matching accepts {', '.join(_COMMANDS)}")
            checked = getattr(MatchingSettings(**{name: value}), name)
            if name == "direction":
                self._direction = checked
            else:
                self._speed = self._usual_speed if checked is None else checked
        self._wait = 0

    def next_frame(self) -> SourceFrame:
        """Return the next frame; its label is the name of the clip."""
        if not self._begun:
            self._begun = True
            return self._frames.get_frame()
        if self._wait <= 0 or not self._frames.remaining:
            self._boost_speed(self._every - max(self._wait, 0))
            self._search()
            self._wait = self._every
        self._wait -= 1
        return self._frames.step()

    def _boost_speed(self, n_frames: int) -> None:
        fading = math.exp(-n_frames / (_PATIENCE * self.fps))
        amiss = _LOUDER * (self._speed - float(self.data.features.paces[self._frames.row]))
        self._louder = fading * self._louder + (1.0 - fading) * min(max(amiss, -_LOUDEST), _LOUDEST)

    def _search(self) -> None:
        features, frames, reel = self.data.features, self._frames, self.data.reel
        row, remaining = frames.row, frames.remaining
        query = self._make_query(row)
        best, apart = self.data.nearest(query)
        # Near the end of a clip, its future path is cut off, so its distance from the command is meaningless.
        known = remaining >= features.path_times[-1] * self.fps
        here = measure_distance(features.all_values[row], query) if known else np.inf
        near = abs(best - row) <= self._every and reel.find_clip(best) == reel.find_clip(row)
        if not remaining or (not near and apart < self._left * here):
            frames.jump(best)
            self._jumps += 1

    def _make_query(self, row: int) -> Floats:
        """Return the query features (D,): the path predicted from the command, and the pose of a row."""
        features = self.data.features
        turn = math.remainder(self._direction - self._frames.heading, 2.0 * math.pi)
        query: Floats = features.all_values[row].copy()
        speed = max(self._speed + self._louder, 0.0)
        predict_path(features.paces[row], features.turn_rates[row], speed, turn, self._model, query)
        return query

    def _first_row(self) -> int:
        """Return the row that best fits a character that already moves straight ahead at the requested speed."""
        features = self.data.features
        straight = np.concatenate(
            [
                np.stack([0.0 * features.path_times, features.path_times * self._speed], axis=1).ravel(),
                np.tile([0.0, 1.0], len(features.path_times)),
            ]
        )
        apart = features.values[:, : features.n_path] - straight * features.scale[: features.n_path]
        return int(features.rows[int(np.argmin((apart**2).sum(axis=1)))])
