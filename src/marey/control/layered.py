"""Layers on a stream: add gaze and spliced upper bodies to any live motion, frame by frame (Heck 7)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from marey.core.arrays import Bools, Floats, set_readonly
from marey.core.contacts import ContactPoint, Contacts
from marey.core.kinematics import pose_world
from marey.core.motion import Motion
from marey.core.placement import find_left_axis
from marey.core.protocols import Stream
from marey.core.skeleton import Skeleton
from marey.errors import InvalidValue

__all__ = ["LayerPose", "LayeredStream", "StreamLayer"]

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


class LayeredStream:
    """A stream with layers on top; it is itself a stream.

    Parameters
    ----------
    stream : any stream.
    layers : layers, applied in order. Put upper bodies before gaze, because splicing moves the head.

    Examples
    --------
    >>> from marey.control import FollowDirection, GazeLayer                                # doctest: +SKIP
    >>> stream = LayeredStream(char.stream(FollowDirection(0.0)), [GazeLayer(cue=True)])    # doctest: +SKIP
    >>> stream.request(direction=1.5)              # the head turns there at once            # doctest: +SKIP
    >>> stream.request(gaze=(0.5, 0.1))            # or looks in a given direction            # doctest: +SKIP
    """

    def __init__(self, stream: Stream, layers: Sequence[StreamLayer]) -> None:
        if not isinstance(stream, Stream):
            raise InvalidValue(f"stream must have fps, request and frame, which {type(stream).__name__} does not have")
        self.stream, self.layers = stream, tuple(layers)
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

    @property
    def fps(self) -> float:
        """Frame rate: call `frame` this many times per second."""
        return self.stream.fps

    @property
    def delay(self) -> int:
        """Latency of the stream, in frames; layers add none."""
        return int(getattr(self.stream, "delay", 0))

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

    def frame(self) -> Motion:
        """Return the next frame, a Motion of length 1."""
        base = self.stream.frame()
        skeleton = base.skeleton
        bones = None if base.bone_offsets is None else base.bone_offsets[0]
        rotations, changed = base.rotations[0], False
        positions, world = pose_world(skeleton, base.root_positions[0], rotations, bones)
        left = find_left_axis(skeleton, positions)
        heading = self._smooth_heading(math.atan2(-left[2], left[0]))
        for layer in self.layers:
            pose = LayerPose(skeleton, self.fps, self._frames / self.fps, rotations, bones, positions, world, heading)
            result = layer.apply(pose)
            if result is not None:
                rotations, changed = result, True
                positions, world = pose_world(skeleton, base.root_positions[0], rotations, bones)
        self._frames += 1
        if not changed:
            return base
        return replace(
            base,
            rotations=set_readonly(np.array(rotations)[None]),
            contacts=_keep_leg_contacts(skeleton, base.contacts),
        )

    def record(self, seconds: float) -> Motion:
        """Record the next `seconds` of the stream as one motion."""
        from marey.control.evaluate import record

        if not math.isfinite(seconds) or seconds * self.fps < 0.5:
            raise InvalidValue(f"seconds must be finite and at least one frame, not {seconds:g} s")
        n = max(1, round(seconds * self.fps))
        return record(self, n)

    def _smooth_heading(self, heading: float) -> float:
        if self._heading is None:
            self._heading = heading
        gain = 1.0 - math.exp(-1.0 / (_SWAY * self.fps))
        self._heading += gain * math.remainder(heading - self._heading, 2.0 * math.pi)
        return self._heading


def _keep_leg_contacts(skeleton: Skeleton, contacts: Contacts | None) -> Contacts | None:
    """Clear the contacts of points on descendants of the spine, because a layer that moves the hands breaks them."""
    if contacts is None:
        return None
    held = _are_on_legs(skeleton, contacts.points)
    return contacts if held.all() else Contacts(contacts.points, set_readonly(contacts.mask & held))


@lru_cache(maxsize=16)
def _are_on_legs(skeleton: Skeleton, points: tuple[ContactPoint, ...]) -> Bools:
    """Return (K,) whether each point is on a joint that is not the spine or one of its descendants."""
    first = skeleton.roles["spine"]
    return set_readonly(np.array([first not in skeleton.chain(point.joint) for point in points], dtype=bool))
