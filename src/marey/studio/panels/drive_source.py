"""What is streamed while a figure is driven: it goes on where the one before stood, and keeps account of answers."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from marey.core._arrays import Floats, settle
from marey.core.kinematics import pose_world
from marey.core.motion import Motion
from marey.core.skeleton import Skeleton
from marey.edit._figure import left_axis
from marey.errors import InvalidValue
from marey.maths import quat, rigid2d
from marey.studio.live import LiveFrame
from marey.studio.panels.drive_messages import DriveWish
from marey.studio.panels.drive_response import Record, ResponseClock
from marey.studio.panels.drive_ways import Driver

# Seconds in which the pose of the figure before dies away; seconds that can be kept; metres within which a point is
# reached; frames after which a way that knows directions alone is turned to its point again.
_HALF_LIFE, _KEPT, _REACHED, _STEER = 0.1, 60.0, 0.3, 6
# Digits that are told: millimetres, and hundredths of a degree.
_DIGITS = 4


class Stood(NamedTuple):
    """A figure as it was last shown: root (3,), local rotations (J, 4), and its place, rigid2d."""

    skeleton: Skeleton
    root: Floats
    rotations: Floats
    place: Floats


class DriveSource:
    """A live source that a person drives.

    Parameters
    ----------
    driver : what makes the frames.
    record : where its answers are counted.
    """

    def __init__(self, driver: Driver, record: Record) -> None:
        self.driver = driver
        first = driver.stream.frame()
        self.skeleton, self.fps = first.skeleton, driver.stream.fps
        self.joints, self.parents = first.skeleton.names, tuple(first.skeleton.parents.tolist())
        self._clock = ResponseClock(self.fps, record)
        self._first: Motion | None = first
        self._shift: Floats = np.zeros(3)
        self._off: tuple[Floats, Floats] | None = None
        self._since = 0
        self._wish = DriveWish()
        self._going: float | None = None
        self._reached: float | None = None
        self._frames: deque[tuple[Floats, Floats, Floats | None]] = deque(maxlen=round(_KEPT * self.fps))
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
        given = self._first if self._first is not None else self.driver.stream.frame()
        self._first = None
        root, rotations, bones = self._placed(given)
        positions, world = pose_world(self.skeleton, root, rotations, bones)
        self._stood = Stood(self.skeleton, root, rotations, self._place(positions))
        self._frames.append((root, rotations, bones))
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
        if any(row[2] is not None for row in rows):
            bones = settle(np.stack([own if row[2] is None else row[2] for row in rows]))
        return Motion(
            self.skeleton,
            settle(np.stack([row[0] for row in rows])),
            settle(quat.unroll(np.stack([row[1] for row in rows]))),
            self.fps,
            name="driven",
            bone_offsets=bones,
        )

    # --- Where it stands

    def _placed(self, given: Motion) -> tuple[Floats, Floats, Floats | None]:
        """Root (3,), rotations (J, 4) and bones of a frame where the figure is to be."""
        root = rigid2d.apply(self._shift, given.root_positions[0])
        rotations = given.rotations[0].copy()
        rotations[0] = quat.mul(rigid2d.to_quat(self._shift), rotations[0])
        if self._off is not None:
            t = self._since / self.fps * 2.0 * math.log(2.0) / _HALF_LIFE
            left = (1.0 + t) * math.exp(-t)
            root = root + left * self._off[0]
            rotations = quat.mul(rotations, quat.exp(left * self._off[1]))
            if left < 1e-4:
                self._off = None
        return root, rotations, None if given.bone_offsets is None else given.bone_offsets[0]

    def _place(self, positions: Floats) -> Floats:
        left = left_axis(self.skeleton, positions)
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
            target = rigid2d.apply(back, np.asarray(wish.target))
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
