"""Play several live characters together: each turns aside for those in front of it.

Every fifth of a second, a character predicts where the others will be if none turns. If one in front of it would
come too close, its requested direction is turned away from there; if they would meet exactly, to the right. Nothing is
random, so a crowd can be repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from marey.core.arrays import Floats, check_number, freeze_array
from marey.errors import InvalidValue
from marey.maths import rigid2d
from marey.play import PlayedStream, SourceFrame

__all__ = ["record_sources", "turn_aside"]

# Seconds between two looks, of the path from which a velocity is estimated, and ahead.
_EVERY, _PAST, _AHEAD = 0.2, 0.5, 4.0
# Largest change of the direction in radians, and lowest speed in m/s that counts as walking.
_ASIDE, _WALKING = np.radians(50.0), 0.2


class _Member:
    """A stream of a crowd: the direction that was requested from it, and how far it turns aside."""

    def __init__(self, stream: PlayedStream, direction: float | None) -> None:
        self.stream, self.direction, self.aside = stream, direction, 0.0
        self.fps, self.frames = stream.fps, list[SourceFrame]()

    def request(self, **command: Any) -> None:
        """Pass on a command, with the direction turned aside."""
        self.direction = command.get("direction", self.direction)
        if command.get("direction") is not None:
            command["direction"] = command["direction"] + self.aside
        self.stream.request(**command)

    def turn(self, aside: float) -> None:
        """Turn aside by an angle from the requested direction."""
        if aside != self.aside and self.direction is not None:
            self.aside = aside
            self.stream.request(direction=self.direction + aside)


def turn_aside(positions: Floats, velocities: Floats, distance: float) -> Floats:
    """Return the angles (n,) by which characters turn, in radians to the left, to keep a distance.

    positions, velocities : (n, 2), x and z, in meters and m/s. distance : meters.
    """
    out = np.zeros(len(positions))
    for i, (here, speed) in enumerate(zip(positions, velocities, strict=True)):
        pace = float(np.hypot(*speed))
        if pace < _WALKING:
            continue
        away, closing = positions - here, velocities - speed
        seconds = np.clip(-(away * closing).sum(1) / np.maximum((closing**2).sum(1), 1e-9), 0.0, _AHEAD)
        nearest = away + seconds[:, None] * closing
        gap = np.hypot(*nearest.T)
        matters = (gap < distance) & (away @ speed > 0.0) & (np.arange(len(gap)) != i)
        # Positive if the other one passes on the left; turn to the right then, and where neither side is nearer.
        left = nearest[:, 0] * speed[1] - nearest[:, 1] * speed[0]
        side = np.where(left >= -1e-3 * pace, -1.0, 1.0)
        urgency = (1.0 - gap / distance) * (1.0 - 0.7 * seconds / _AHEAD)
        out[i] = np.clip((side * urgency)[matters].sum() * 2.0, -1.0, 1.0) * _ASIDE
    return out


def record_sources(
    streams: Sequence[PlayedStream],
    places: Sequence[ArrayLike],
    n_frames: int,
    senders: Sequence[Callable[[Any, int], None]],
    *,
    directions: Sequence[float | None] = (),
    distance: float = 1.0,
) -> list[list[SourceFrame]]:
    """Play streams together and return the frames of each, before its feet are corrected, in its own coordinates.

    Parameters
    ----------
    streams : the members. places : rigid2d (theta, x, z) at which each of them starts in the world.
    senders : functions of a receiver of commands and a frame number, which request what is due at that frame.
    directions : the direction that each was asked for at first, in radians; None if it takes no directions.
    distance : meters to keep from each other as far as the characters can; 0 for none.
    """
    check_number(distance, "distance in meters")
    if len({stream.fps for stream in streams}) > 1:
        raise InvalidValue("the members of a crowd must have the same frame rate; build them with the same `fps=`")
    at = [freeze_array(each, "place", (3,)) for each in places]
    first = directions or [None] * len(streams)
    members = [_Member(stream, direction) for stream, direction in zip(streams, first, strict=True)]
    fps = members[0].fps
    past, every = max(1, round(_PAST * fps)), max(1, round(_EVERY * fps))
    for i in range(n_frames):
        for member, send in zip(members, senders, strict=True):
            send(member, i)
            member.frames.append(member.stream.next_frame())
        if distance > 0.0 and i % every == 0 and i >= past:
            now, before = (
                np.stack([rigid2d.apply(p, m.frames[k].root[[0, 2]]) for p, m in zip(at, members, strict=True)])
                for k in (-1, -1 - past)
            )
            for member, aside in zip(members, turn_aside(now, (now - before) / _PAST, distance), strict=True):
                member.turn(float(aside))
    return [member.frames for member in members]
