"""Motion matching: every few frames, continue from the frame that best fits the command and pose (Clavet 2016)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from marey.control.inertia import InertialPlayer, accept_old_feet
from marey.control.inertia_reel import Reel, make_reel
from marey.control.motion_matching_features import FeatureTable, make_features
from marey.control.motion_matching_kernels import PathModel, measure_distance, predict_path
from marey.core.arrays import Floats, check_number, set_readonly
from marey.core.feet import Feet
from marey.core.motion import Motion
from marey.deprecation import bundled_parameters, renamed_parameters
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

    reel : the clips, one after the other. features : features of their frames. tree : k-d tree of ``features.values``.
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


@dataclass(frozen=True, slots=True)
class MatchingSettings:
    """When and how motion matching jumps.

    search_every : seconds between searches. A new command triggers a search immediately.
    min_gain : jump only if this reduces the feature distance by at least this fraction, 0 to 1.
    half_life : seconds in which the pose offset of a jump roughly halves.
    speed_half_life, facing_half_life : half-lives, in seconds, with which the predicted path approaches the requested
        speed and heading.
    """

    search_every: float = 0.1
    min_gain: float = 0.2
    half_life: float = 0.1
    speed_half_life: float = 0.25
    facing_half_life: float = 0.25

    def __post_init__(self) -> None:
        check_number(self.search_every, "search_every in seconds")
        if check_number(self.min_gain, "min_gain, a fraction,") > 1.0:
            raise InvalidValue(f"min_gain must be a fraction from 0 to 1, not {self.min_gain!r}")
        for name in ("half_life", "speed_half_life", "facing_half_life"):
            check_number(getattr(self, name), f"{name} in seconds", above=True)


class MotionMatching(PlayedStream):
    """Endless motion from clips. `request` sets the command, `frame` returns the next frame.

    Parameters
    ----------
    data : clips with their features, or plain clips, whose features are then computed with default settings.
    direction, speed : the initial command; see `request`.
    row : frame to start at, counted over all clips (`MatchingData.reel`); by default the one that fits the command
        best.
    place : rigid2d (theta, x, z) that places the first clip in the world; by default the character starts at the
        origin, facing +Z.
    feet : ``"clean"`` cleans up foot contacts; frames then come out `delay` frames late. ``"lock"`` locks planted feet
        immediately by rotating the legs. None leaves the feet as they are.
    settings : when and how to jump.
    """

    @accept_old_feet
    @bundled_parameters(
        "settings", MatchingSettings, pays="min_gain", **{each.name: each.name for each in fields(MatchingSettings)}
    )
    def __init__(
        self,
        data: MatchingData | Sequence[Motion],
        *,
        direction: float = 0.0,
        speed: float | None = None,
        row: int | None = None,
        place: ArrayLike | None = None,
        feet: Feet = "clean",
        settings: MatchingSettings | None = None,
    ) -> None:
        self.data = data if isinstance(data, MatchingData) else MatchingData.build(data)
        reel, features = self.data.reel, self.data.features
        super().__init__(reel.skeleton, reel.fps, reel.points, reel.floor)
        how = MatchingSettings() if settings is None else settings
        self._every = max(1, round(how.search_every * reel.fps))
        self._left = 1.0 - how.min_gain
        springs = set_readonly(2.0 * np.log(2.0) / np.array([how.speed_half_life, how.facing_half_life]))
        self._model = PathModel(features.path_times, springs, features.turn_limits, features.scale)
        self._usual_speed = float(np.median(features.paces[features.rows]))
        self._direction, self._speed = 0.0, self._usual_speed
        self._wait, self._jumps, self._louder = 0, 0, 0.0
        self.request(direction=direction, speed=speed)
        first = self._first_row() if row is None else row
        self._frames = InertialPlayer(reel, half_life=how.half_life, row=first, place=place)
        self._begun = False
        self.player = Player(self, feet, name="motion matching", signs=reel.rotations[self._frames.row])

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
                raise InvalidValue(f"motion matching takes the commands {', '.join(_COMMANDS)}, not {name!r}")
            if name == "direction":
                if not np.isfinite(value):
                    raise InvalidValue(f"direction must be an angle in radians, not {value!r}")
                self._direction = float(value)
            else:
                self._speed = self._usual_speed if value is None else check_number(value, "speed in m/s")
        self._wait = 0

    def next_frame(self) -> SourceFrame:
        """Return the next frame; its label is the name of the clip."""
        if not self._begun:
            self._begun = True
            return self._frames.shown()
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
        # Near the end of a clip, its future path is cut off, so its distance to the command means nothing.
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
