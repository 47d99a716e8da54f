"""Layers on a stream: add gaze and spliced upper bodies to any live motion, frame by frame (Heck 7)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from marey.clean.foot_lock import FootLock
from marey.core.arrays import Bools, Floats, set_readonly
from marey.core.contacts import ContactPoint
from marey.core.kinematics import pose_world
from marey.core.placement import find_left_axis
from marey.core.protocols import Stream
from marey.core.skeleton import Skeleton
from marey.errors import InvalidValue
from marey.play import LockedStream, Player, SourceFrame, WrappedStream

__all__ = ["FootLock", "LayerPose", "LayeredStream", "LockedStream", "StreamLayer"]

# Seconds: time constant of the smoothing that removes step sway from the heading.
_SWAY = 0.15


class LayerPose(NamedTuple):
    """One frame, as layers receive it.

    skeleton : skeleton of J joints. fps : frame rate of the stream. seconds : time since the stream began.
    rotations : (J, 4) local rotations. bones : (J, 3) bone offsets in meters if they change over time, else None.
    positions : (J, 3) world positions of the joints, meters. world : (J, 4) world rotations of the joints.
    heading : heading of the body in radians, without step sway, unwrapped.
    """

    skeleton: Skeleton
    fps: float
    seconds: float
    rotations: Floats
    bones: Floats | None
    positions: Floats
    world: Floats
    heading: float


@runtime_checkable
class StreamLayer(Protocol):
    """Protocol of a layer, which changes the upper body. Layers must not change the hips or legs."""

    @property
    def commands(self) -> tuple[str, ...]:
        """Names of the commands that only this layer handles."""
        ...

    @property
    def observed_commands(self) -> tuple[str, ...]:
        """Names of the stream's commands that this layer also receives."""
        ...

    def request(self, **command: Any) -> None:
        """Change the layer's command, starting with the next frame."""
        ...

    def apply(self, pose: LayerPose) -> Floats | None:
        """Return new local rotations (J, 4), or None for no change. Called once for every frame, in order."""
        ...


class LayeredStream(WrappedStream):
    """A stream with layers on top; it is itself a stream.

    Parameters
    ----------
    stream : any stream.
    layers : layers, applied in order. Put upper bodies before gaze, because splicing moves the head.

    Examples
    --------
    >>> from marey.control import FollowDirection, GazeLayer, LayeredStream
    >>> stream = LayeredStream(character.stream(FollowDirection(0.0)), [GazeLayer(cue=True)])
    >>> stream.request(direction=1.5)  # the head turns there at once
    >>> stream.request(gaze=(0.5, 0.1))  # or looks in a given direction, yaw and pitch in radians
    >>> len(stream.record(1.0))
    30
    """

    def __init__(self, stream: Stream, layers: Sequence[StreamLayer]) -> None:
        lacking = [name for name in ("fps", "request", "frame") if not hasattr(stream, name)]
        if lacking:
            raise InvalidValue(
                f"stream must have fps, request and frame; {type(stream).__name__} lacks {' and '.join(lacking)}"
            )
        super().__init__(stream)
        self.layers = tuple(layers)
        names: list[str] = []
        for layer in self.layers:
            if not isinstance(layer, StreamLayer):
                raise InvalidValue(
                    "a layer must have commands, observed_commands, request and apply, which "
                    f"{type(layer).__name__} does not have"
                )
            names += layer.commands
        twice = next((name for k, name in enumerate(names) if name in names[:k]), None)
        if twice is not None:
            raise InvalidValue(f"two layers take the command {twice!r}; put each on a separate stream")
        self._names = tuple(names)
        self._frames = 0
        self._heading: float | None = None
        # Layers do not move the legs, and the stream has corrected the feet already.
        self.player = Player(self, None, name=self.name, step={"op": "layers"})

    def request(self, **command: Any) -> None:
        """Pass each command to the layers that handle or observe it, and to the stream unless a layer handles it."""
        rest = {name: value for name, value in command.items() if name not in self._names}
        if rest:
            self.stream.request(**rest)
        for layer in self.layers:
            own = {
                name: value
                for name, value in command.items()
                if name in layer.commands or name in layer.observed_commands
            }
            if own:
                layer.request(**own)

    def next_frame(self) -> SourceFrame:
        """Return the next frame of the stream, with the layers applied."""
        base = super().next_frame()
        skeleton, bones, rotations = self.skeleton, base.bones, base.rotations
        positions, world = pose_world(skeleton, base.root, rotations, bones)
        left = find_left_axis(skeleton, positions)
        heading = self._smooth_heading(math.atan2(-left[2], left[0]))
        for layer in self.layers:
            pose = LayerPose(skeleton, self.fps, self._frames / self.fps, rotations, bones, positions, world, heading)
            result = layer.apply(pose)
            if result is not None:
                rotations = result
                positions, world = pose_world(skeleton, base.root, rotations, bones)
        self._frames += 1
        if rotations is base.rotations:
            return base
        contacts = base.contacts
        if contacts is not None:
            # A layer that moves the hands breaks their contacts.
            contacts = set_readonly(contacts & _are_on_legs(skeleton, self.points))
        return base._replace(rotations=set_readonly(np.array(rotations)), contacts=contacts)

    def _smooth_heading(self, heading: float) -> float:
        if self._heading is None:
            self._heading = heading
        gain = 1.0 - math.exp(-1.0 / (_SWAY * self.fps))
        self._heading += gain * math.remainder(heading - self._heading, 2.0 * math.pi)
        return self._heading


@lru_cache(maxsize=16)
def _are_on_legs(skeleton: Skeleton, points: tuple[ContactPoint, ...]) -> Bools:
    """Return a mask (K,) of the points that are on neither the spine nor its descendants."""
    first = skeleton.roles["spine"]
    return set_readonly(np.array([first not in skeleton.chain(point.joint) for point in points], dtype=bool))
