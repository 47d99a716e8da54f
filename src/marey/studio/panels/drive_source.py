"""What is streamed while a figure is driven: it goes on where the one before stood, and keeps account of answers."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from marey.core.arrays import Floats, set_readonly
from marey.core.kinematics import pose_world
from marey.core.motion import Motion
from marey.core.placement import find_left_axis
from marey.core.skeleton import Skeleton
from marey.core.source import Source
from marey.errors import InvalidValue
from marey.maths import quat, rigid2d
from marey.studio.live import LiveFrame
from marey.studio.panels.drive_fine import Fine, Pose
from marey.studio.panels.drive_messages import DriveWish
from marey.studio.panels.drive_response import Record, ResponseClock
from marey.studio.panels.drive_ways import Driver

# Seconds in which the pose of the figure before dies away; seconds that can be kept; metres within which a point is
# reached; frames after which a way that knows directions alone is turned to its point again.
_HALF_LIFE, _KEPT, _REACHED, _STEER = 0.1, 60.0, 0.3, 6
# Bytes of what can be kept, for figures with very many joints, and of a frame beside its numbers.
_MOST_BYTES, _BESIDE = 256 * 2**20, 512
# Digits that are told: millimetres, and hundredths of a degree.
_DIGITS = 4


class Stood(NamedTuple):
    """A figure as it was last shown: root (3,), local rotations (J, 4), and its place, rigid2d."""

    skeleton: Skeleton
    root: Floats
    rotations: Floats
    place: Floats


class DriveSource:
    """A live source that a person drives, on a floor at height 0 whatever that of the driver's is.

    Parameters
    ----------
    driver : what makes the frames.
    record : where its answers are counted.
    """

    def __init__(self, driver: Driver, record: Record) -> None:
        self.driver = driver
        self._fine = Fine(driver.stream)
        self.skeleton, self.fps = self._fine.skeleton, self._fine.fps
        self.joints, self.parents = self.skeleton.names, tuple(self.skeleton.parents.tolist())
        self._clock = ResponseClock(self.fps, record)
        first = self._fine.pose()
        self._first: Pose | None = first
        self._shift: Floats = np.zeros(3)
        self._off: tuple[Floats, Floats] | None = None
        self._since = 0
        self._wish = DriveWish()
        self._going: float | None = None
        self._reached: float | None = None
        size = _BESIDE + 8 * (3 + 7 * len(self.joints))
        n_kept = min(round(_KEPT * self.fps), _MOST_BYTES // size)
        self.most_bytes = n_kept * size
        self._frames: deque[Pose] = deque(maxlen=n_kept)
        root, rotations, bones = self._placed(first)
        self._stood = Stood(
            self.skeleton, root, rotations, self._place(pose_world(self.skeleton, root, rotations, bones)[0])
        )

    def go_on_from(self, before: Stood) -> None:
        """Begin where another figure stands, and in its pose where it is the same figure; before the first frame."""
        if self._first is None:
            raise InvalidValue("a figure that plays already cannot begin elsewhere")
        self._shift = np.asarray(rigid2d.between(self._stood.place, before.place))
        root, rotations, _ = self._placed(self._first)
        self._stood = Stood(self.skeleton, root, rotations, before.place)
        if self.skeleton.fits(before.skeleton):
            apart = quat.inv_mul(rotations, before.rotations)
            apart = np.where(apart[:, :1] < 0.0, -apart, apart)
            self._off = before.root - root, quat.log(apart)

    @property
    def delay(self) -> float:
        """Seconds by which what is shown is late."""
        return self.driver.delay / self.driver.stream.fps + self._fine.delay

    @property
    def stood(self) -> Stood:
        """The figure as it was last shown."""
        return self._stood

    def wish(self, wish: DriveWish) -> None:
        """What is wished from now on, in the world."""
        self._reached = None
        if self._wish.point != wish.point:
            self._going = None if wish.point is None else 0.0
        self._wish = wish
        self._clock.ask(wish.direction if wish.point is None else None, float(self._stood.place[0]))
        self._pass_on()

    def frame(self) -> LiveFrame:
        """The next frame."""
        given = self._first if self._first is not None else self._fine.pose()
        self._first = None
        placed = self._placed(given)
        positions, world = pose_world(self.skeleton, *placed)
        self._stood = Stood(self.skeleton, placed.root, placed.rotations, self._place(positions))
        self._frames.append(placed)
        self._since += 1
        self._clock.step(float(self._stood.place[0]))
        self._go()
        return LiveFrame(positions, world, self._told())

    def keep(self, seconds: float) -> Motion:
        """The last seconds as a motion."""
        n = min(round(seconds * self.fps), len(self._frames))
        if n < 2:
            raise InvalidValue("nothing has been driven yet; start first")
        rows = list(self._frames)[-n:]
        own = self.skeleton.offsets
        bones = None
        if any(pose.bones is not None for pose in rows):
            bones = set_readonly(np.stack([own if pose.bones is None else pose.bones for pose in rows]))
        return Motion(
            self.skeleton,
            set_readonly(np.stack([pose.root for pose in rows])),
            set_readonly(quat.unroll(np.stack([pose.rotations for pose in rows]))),
            self.fps,
            name="driven",
            bone_offsets=bones,
            source=Source(floor=0.0),
        )

    # --- Where it stands

    def _placed(self, given: Pose) -> Pose:
        """A pose where the figure is to be."""
        root = rigid2d.apply(self._shift, given.root) - [0.0, self.driver.floor, 0.0]
        rotations = given.rotations.copy()
        rotations[0] = quat.mul(rigid2d.to_quat(self._shift), rotations[0])
        if self._off is not None:
            t = self._since / self.fps * 2.0 * math.log(2.0) / _HALF_LIFE
            left = (1.0 + t) * math.exp(-t)
            root = root + left * self._off[0]
            rotations = quat.mul(rotations, quat.exp(left * self._off[1]))
            if left < 1e-4:
                self._off = None
        return Pose(root, rotations, given.bones)

    def _place(self, positions: Floats) -> Floats:
        left = find_left_axis(self.skeleton, positions)
        x, _, z = positions[self.skeleton.roles["hips"]]
        return np.array([math.atan2(-left[2], left[0]), x, z])

    # --- What it is asked for

    def _go(self) -> None:
        """Keep account of the way to a point, and steer those that know directions alone."""
        if self._going is None or self._wish.point is None:
            return
        self._going += 1.0 / self.fps
        place = self._stood.place
        apart = np.asarray(self._wish.point) - place[1:]
        if math.hypot(*apart) < _REACHED:
            self._reached, self._going = self._going, None
            self._wish = DriveWish(
                direction=float(place[0]), node=self._wish.node, speed=self._wish.speed, values=self._wish.values
            )
            self._pass_on()
        elif self._since % _STEER == 0:
            self._pass_on()

    def _pass_on(self) -> None:
        """The wish as the driver's own world has it."""
        wish = self._wish
        back = rigid2d.invert(self._shift)
        direction, floor, target = wish.direction, None, None
        if wish.point is not None:
            x, z = np.asarray(wish.point) - self._stood.place[1:]
            direction = math.atan2(x, z)
            floor = rigid2d.apply(back, np.asarray(wish.point))
        if wish.target is not None:
            target = rigid2d.apply(back, np.asarray(wish.target)) + [0.0, self.driver.floor, 0.0]
        asked: Mapping[str, Any] = {
            "direction": None if direction is None else direction - float(self._shift[0]),
            "floor": floor,
            "point": target,
            "node": wish.node,
            "speed": wish.speed,
            "values": wish.values,
        }
        self.driver.ask(asked)

    def _told(self) -> dict[str, Any]:
        clock = self._clock
        told: dict[str, Any] = {
            "place": [round(float(value), _DIGITS) for value in self._stood.place],
            "doing": self.driver.doing,
            "answer": clock.answer,
            "waiting": clock.waiting,
            "reached": self._reached,
        }
        place = rigid2d.compose(rigid2d.invert(self._shift), self._stood.place)
        lines = self.driver.reach(place)
        if lines is not None:
            told["reach"] = [np.round(rigid2d.apply(self._shift, line), 3).tolist() for line in lines]
        return told
