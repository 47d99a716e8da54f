"""Streaming end-effector cleanup (Kovar 3.2.7)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from marey.clean.cleanup import GIVE_FLOOR, find_options, place_plants
from marey.clean.limbs import find_limbs
from marey.clean.pipeline import Pipeline, count_needed_frames, find_delay
from marey.clean.settings import CleanSettings, check_targets_apart
from marey.core.arrays import Bools, Floats, check_fps, convert_array
from marey.core.contacts import ContactPoint
from marey.core.motion import UNIT_TOLERANCE
from marey.core.settings import operation
from marey.core.skeleton import Skeleton
from marey.errors import InvalidValue

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

# The largest number of frames accepted at once, and the spare capacity of the tables.
_MAX_CHUNK = 256


class CleanFrame(NamedTuple):
    """A finished frame.

    number : frame number, from 0.
    root_position : (3,) meters.
    rotations : (J, 4) local rotations.
    bone_offsets : (J, 3) meters.
    released : (K,) True for the points that are not held although they were in contact, because their plant is too far
        away; see `max_pull`.
    """

    number: int
    root_position: Floats
    rotations: Floats
    bone_offsets: Floats
    released: Bools


class CleanStream:
    """A streaming cleanup; create it with `clean_stream`.

    Frames come out `delay` frames after they went in. They equal the result of `clean` on the complete motion, except
    that `clean` also moves limbs back that it moved too far. Memory use does not grow with the number of frames.

    Examples
    --------
    >>> stream = marey.clean_stream(walk.skeleton, walk.fps, walk.contacts.points, floor=0.0)
    >>> stream.push(walk.root_positions[0], walk.rotations[0], walk.contacts.mask[0])
    []
    >>> frames = stream.finish()
    >>> frames[0].number, frames[0].rotations.shape
    (0, (27, 4))
    """

    def __init__(
        self,
        skeleton: Skeleton,
        fps: float,
        points: Sequence[ContactPoint],
        settings: CleanSettings,
    ) -> None:
        if settings.floor is None:
            raise InvalidValue("a stream cannot detect the floor", parameter="floor", remedy=GIVE_FLOOR)
        if settings.contacts is not None or settings.hands or settings.body:
            raise InvalidValue(
                "contacts, hands and body do not apply to a stream", remedy="pass contacts with each frame"
            )
        if settings.joint_limits is not None:
            raise InvalidValue(
                "joint limits do not apply to a stream", parameter="joint_limits", remedy="use `marey.clean`"
            )
        plants, targets = settings.plants, settings.targets
        self.skeleton, self.fps, self.points = skeleton, check_fps(fps), tuple(points)
        limbs = find_limbs(skeleton, self.points, {target.effector for target in targets})
        check_targets_apart(targets)
        self._plants = place_plants([point.name for point in self.points], limbs, plants)
        self._targets = tuple(targets)
        options = find_options(skeleton, self.fps, limbs, settings, settings.floor)
        capacity = find_delay(options) + count_needed_frames(options) + 2 * _MAX_CHUNK
        self._pipeline = Pipeline(skeleton, limbs, options, capacity)
        self._gone = 0  # number of frames dropped from the tables
        self._given = 0  # number of finished frames returned so far
        self._ended = False

    @property
    def delay(self) -> int:
        """Number of frames between input and output."""
        return self._pipeline.delay

    def push(
        self,
        root_positions: ArrayLike,
        rotations: ArrayLike,
        contacts: ArrayLike,
        bone_offsets: ArrayLike | None = None,
    ) -> list[CleanFrame]:
        """Add one frame or several; return the frames that are finished as a result, possibly none.

        Parameters
        ----------
        root_positions : (3,) or (n, 3) meters.
        rotations : (J, 4) or (n, J, 4) local rotations.
        contacts : (K,) or (n, K) flags of the stream's points.
        bone_offsets : (J, 3) or (n, J, 3) meters, if bones change; by default the skeleton's own.
        """
        if self._ended:
            raise InvalidValue("the stream is finished and accepts no more frames; create a new one")
        n_joints, n_points = len(self.skeleton), len(self.points)
        root = _as_frames(root_positions, "root_positions", (3,))
        n = len(root)
        local = _as_frames(rotations, "rotations", (n_joints, 4), n, finite=False)
        mask = _as_frames(contacts, "contacts", (n_points,), n).astype(np.bool_, copy=False)
        squares = np.einsum("fjk,fjk->fj", local, local)
        if n and not max(squares.max() - 1.0, 1.0 - squares.min()) <= 2 * UNIT_TOLERANCE:
            _as_frames(local, "rotations", (n_joints, 4))  # raises a clearer error if they are not finite
            raise InvalidValue("rotations must be unit quaternions; normalize them first")
        bones = self.skeleton.offsets[None]
        if bone_offsets is not None:
            bones = _as_frames(bone_offsets, "bone_offsets", (n_joints, 3), n)
        out: list[CleanFrame] = []
        for start in range(0, n, _MAX_CHUNK):
            part = slice(start, min(start + _MAX_CHUNK, n))
            if self._pipeline.n + part.stop - part.start > self._pipeline.capacity:
                self._gone += self._pipeline.forget()
            first = self._gone + self._pipeline.n
            given = bones[part] if len(bones) == n else bones
            rows = self._pipeline.put(root[part], local[part], given, mask[part])
            self._pipeline.set_targets(rows, first, self._plants, self._targets)
            self._pipeline.run(ended=False)
            out += self._take()
        return out

    def finish(self) -> list[CleanFrame]:
        """End the stream and return the remaining frames."""
        self._ended = True
        self._pipeline.run(ended=True)
        return self._take()

    def _take(self) -> list[CleanFrame]:
        output = self._pipeline.output
        taken = []
        first, stop = self._given - self._gone, self._pipeline.finished
        released = self._pipeline.find_released(slice(first, stop), len(self.points))
        for row in range(first, stop):
            root, local, bone = output.root_positions[row], output.rotations[row], output.bone_offsets[row]
            free = released[row - first]
            taken.append(CleanFrame(row + self._gone, root.copy(), local.copy(), bone.copy(), free))
        self._given += len(taken)
        return taken


@operation(CleanSettings)
def clean_stream(
    skeleton: Skeleton, fps: float, points: Sequence[ContactPoint], settings: CleanSettings
) -> CleanStream:
    """Start a cleanup that accepts frames one by one and returns them after a fixed delay.

    Parameters
    ----------
    skeleton, fps : skeleton and frames per second of the input.
    points : the contact points whose flags come with each frame, such as `contact_points(skeleton)`.

    The options are those of `clean`, but `floor` is required and `contacts`, `hands` and `body` do not apply. Only
    hands and feet are held. Frames of plants and targets count from the first one pushed. A given plant applies only to
    its own frames, so it should cover the entire contact.

    Examples
    --------
    >>> stream = marey.clean_stream(walk.skeleton, walk.fps, walk.contacts.points, floor=0.0)
    >>> frames = stream.push(walk.root_positions, walk.rotations, walk.contacts.mask)
    >>> frames += stream.finish()
    >>> len(frames) == len(walk)
    True
    """
    return CleanStream(skeleton, fps, points, settings)


def _as_frames(
    value: ArrayLike, name: str, shape: tuple[int, ...], n: int | None = None, *, finite: bool = True
) -> NDArray[Any]:
    """Return `value` as an array (n, *shape) of floats or flags, from one frame or several."""
    flags = isinstance(value, np.ndarray) and value.dtype == np.bool_
    array = convert_array(value, name, np.bool_ if flags else np.float64)
    if array.shape == shape:
        array = array[None]
    if array.shape[1:] != shape or array.ndim != len(shape) + 1 or (n is not None and len(array) != n):
        wanted = ", ".join(map(str, shape))
        frames = "n" if n is None else str(n)
        raise InvalidValue(f"{name} must have shape ({wanted}) or ({frames}, {wanted}), got {array.shape}")
    if finite and not flags and not np.isfinite(array).all():
        raise InvalidValue(f"{name} must be finite")
    return array
