"""Play several live characters together: each turns aside for the characters in front of it.

Every 0.2 seconds, each character predicts where the others will be if nobody turns. If a character in front of it would
come too close, it turns away from that character; if they would meet head-on, both turn right. Nothing is random, so
the same commands give the same motion.
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

# Seconds: between two predictions; of the past path from which velocities are estimated; of the prediction.
_EVERY, _PAST, _AHEAD = 0.2, 0.5, 4.0
# Maximum change of the direction in radians; minimum speed in m/s that counts as walking.
_ASIDE, _WALKING = np.radians(50.0), 0.2


class _Member:
    """A stream of a crowd, with its requested direction and the angle by which it turns aside."""

    def __init__(self, stream: PlayedStream, direction: float | None) -> None:
        self.stream, self.direction, self.aside = stream, direction, 0.0
        self.fps, self.frames = stream.fps, list[SourceFrame]()

    def request(self, **command: Any) -> None:
        """Pass a command on to the stream, with the angle added to its direction."""
        self.direction = command.get("direction", self.direction)
        if command.get("direction") is not None:
            command["direction"] = command["direction"] + self.aside
        self.stream.request(**command)

    def turn(self, aside: float) -> None:
        """Set the angle from the requested direction by which the character turns aside."""
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
        # Positive if the other one passes on the left. Turn right then, and also if they would meet head-on.
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
    """Play streams together; return each one's frames in its own coordinates, before foot correction.

    Parameters
    ----------
    streams : the members. places : rigid2d (theta, x, z) at which each of them starts in the world.
    senders : for each member, a function ``send(member, frame)`` that requests the commands due at that frame.
    directions : initial direction of each member in radians; None if it does not accept directions.
    distance : meters that characters try to keep from each other; 0 to ignore each other.
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
