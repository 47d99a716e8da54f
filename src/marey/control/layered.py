"""Layers on a stream: gaze and spliced upper bodies over whatever plays, frame by frame (Heck 7)."""

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

__all__ = ["Layer", "LayeredStream", "Pose"]

# Seconds over which the heading's sway with the steps is smoothed.
_SWAY = 0.15


class Pose(NamedTuple):
    """A frame as layers see it.

    skeleton : of J joints. fps : of the stream. seconds : since the stream began. rotations : (J, 4) local. bones :
    (J, 3) where they move, else None. positions : (J, 3) and world : (J, 4) of the joints in the world. heading :
    radians, which way the body faces, without the sway of its steps; it counts on beyond half a circle.
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
class Layer(Protocol):
    """Something that changes upper bodies. Hips and legs are not a layer's to change."""

    @property
    def wishes(self) -> tuple[str, ...]:
        """Names of the wishes that are for this layer alone."""
        ...

    @property
    def hears(self) -> tuple[str, ...]:
        """Names of the stream's wishes that this layer wants to hear of."""
        ...

    def request(self, **wish: Any) -> None:
        """Say what the layer should do from now on."""
        ...

    def apply(self, pose: Pose) -> Floats | None:
        """(J, 4) local rotations, or None where nothing is changed; called for every frame, in order."""
        ...


class LayeredStream:
    """A stream with layers; itself a stream.

    Parameters
    ----------
    stream : whatever plays.
    layers : applied one after another: upper bodies before gaze, so that a spliced figure looks where it should.

    Examples
    --------
    >>> from marey.control import FollowDirection, GazeLayer                                # doctest: +SKIP
    >>> stream = LayeredStream(char.stream(FollowDirection(0.0)), [GazeLayer(cue=True)])    # doctest: +SKIP
    >>> stream.request(direction=1.5)              # the head turns there at once            # doctest: +SKIP
    >>> stream.request(gaze=(0.5, 0.1))            # or looks where it is told to            # doctest: +SKIP
    """

    def __init__(self, stream: Stream, layers: Sequence[Layer]) -> None:
        if not isinstance(stream, Stream):
            raise InvalidValue(f"layers need a stream with fps, request and frame, got {type(stream).__name__}")
        self.stream, self.layers = stream, tuple(layers)
        names: list[str] = []
        for layer in self.layers:
            if not isinstance(layer, Layer):
                raise InvalidValue(f"a layer needs wishes, hears, request and apply, got {type(layer).__name__}")
            names += layer.wishes
        twice = next((name for k, name in enumerate(names) if name in names[:k]), None)
        if twice is not None:
            raise InvalidValue(f"two layers take the wish {twice!r}; put each on a stream of its own")
        self._names = tuple(names)
        self._frames = 0
        self._heading: float | None = None

    @property
    def fps(self) -> float:
        """Frames per second."""
        return self.stream.fps

    @property
    def delay(self) -> int:
        """Frames between the choice of a frame and its showing; layers add none."""
        return int(getattr(self.stream, "delay", 0))

    def request(self, **wish: Any) -> None:
        """Pass wishes on to the layers that take them, and the rest to the stream."""
        rest = {name: value for name, value in wish.items() if name not in self._names}
        if rest:
            self.stream.request(**rest)
        for layer in self.layers:
            own = {name: value for name, value in wish.items() if name in layer.wishes or name in layer.hears}
            if own:
                layer.request(**own)

    def frame(self) -> Motion:
        """The next frame, a Motion of length 1."""
        base = self.stream.frame()
        skeleton = base.skeleton
        bones = None if base.bone_offsets is None else base.bone_offsets[0]
        rotations, changed = base.rotations[0], False
        positions, world = pose_world(skeleton, base.root_positions[0], rotations, bones)
        left = find_left_axis(skeleton, positions)
        heading = self._steadied(math.atan2(-left[2], left[0]))
        for layer in self.layers:
            pose = Pose(skeleton, self.fps, self._frames / self.fps, rotations, bones, positions, world, heading)
            made = layer.apply(pose)
            if made is not None:
                rotations, changed = made, True
                positions, world = pose_world(skeleton, base.root_positions[0], rotations, bones)
        self._frames += 1
        if not changed:
            return base
        return replace(
            base, rotations=set_readonly(np.array(rotations)[None]), contacts=_of_legs(skeleton, base.contacts)
        )

    def record(self, seconds: float) -> Motion:
        """The next seconds as one motion."""
        from marey.control.trials import record

        if not math.isfinite(seconds) or seconds * self.fps < 0.5:
            raise InvalidValue(f"expected at least one frame's time, and an end, got {seconds:g} s")
        n = max(1, round(seconds * self.fps))
        return record(self, n)

    def _steadied(self, heading: float) -> float:
        if self._heading is None:
            self._heading = heading
        share = 1.0 - math.exp(-1.0 / (_SWAY * self.fps))
        self._heading += share * math.remainder(heading - self._heading, 2.0 * math.pi)
        return self._heading


def _of_legs(skeleton: Skeleton, contacts: Contacts | None) -> Contacts | None:
    """Contacts without those of points that hang from the spine: where a layer moves hands, they do not hold."""
    if contacts is None:
        return None
    held = _on_legs(skeleton, contacts.points)
    return contacts if held.all() else Contacts(contacts.points, set_readonly(contacts.mask & held))


@lru_cache(maxsize=16)
def _on_legs(skeleton: Skeleton, points: tuple[ContactPoint, ...]) -> Bools:
    """(K,) whether points hang from anything but the spine."""
    first = skeleton.roles["spine"]
    return set_readonly(np.array([first not in skeleton.chain(point.joint) for point in points], dtype=bool))
