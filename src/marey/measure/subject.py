"""A motion under measurement: what several measures need, worked out once and only where it is asked for."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from marey.core.arrays import Floats, Ints
from marey.core.contacts import ContactPoint, Contacts
from marey.core.kinematics import World
from marey.core.motion import Motion
from marey.errors import InvalidValue, JointNotFound, MareyError
from marey.maths import quat
from marey.measure.gait import Stride, find_strides

_SIDES = ("left", "right")


class Subject:
    """A motion with its world, floor, sole points and contacts."""

    def __init__(self, motion: Motion) -> None:
        self.motion = motion

    def need_frames(self, n: int) -> None:
        """Refuse a motion that is too short."""
        if len(self.motion) < n:
            raise InvalidValue(f"needs at least {n} frames, the motion has {plural(len(self.motion), 'frame')}")

    @cached_property
    def world(self) -> World:
        return self.motion.world()

    @cached_property
    def joints(self) -> Ints:
        """The body's: without End Sites, which were not captured, and without what only carries the hips."""
        skeleton = self.motion.skeleton
        body = ~skeleton.is_end_site
        body[list(skeleton.chain(self.hips)[:-1])] = False
        return np.flatnonzero(body)

    @cached_property
    def positions(self) -> Floats:
        """(F, n, 3) meters in the world, of `joints`."""
        return np.ascontiguousarray(self.world.positions[:, self.joints])

    @cached_property
    def hips(self) -> int:
        """The joint of role hips, or joint 0 where there is none."""
        return int(self.motion.skeleton.roles.get("hips", 0))

    @cached_property
    def travel(self) -> Floats:
        """(F, 2) meters, path of the hips on the floor: x and z."""
        roles = self.motion.skeleton.roles
        return self.world.positions[:, roles["hips"]][:, [0, 2]]

    @cached_property
    def bends(self) -> Floats:
        """(F - 2, n, 3) meters: second differences of `positions`."""
        return np.diff(self.positions, n=2, axis=0)

    @cached_property
    def turning(self) -> Floats:
        """(F - 1, n) radians per second: how fast `joints` turn from frame to frame."""
        return quat.angle_between(self.orientations[:-1], self.orientations[1:]) * self.motion.fps

    @cached_property
    def orientations(self) -> Floats:
        """(F, n, 4) of `joints` in their parents, the hips' in the world, whatever carries them."""
        local = self.motion.rotations[:, self.joints]
        local[:, self.joints == self.hips] = self.world.rotations[:, [self.hips]]
        return local

    @cached_property
    def strides(self) -> tuple[Stride, ...]:
        return find_strides(self.motion)

    @cached_property
    def floor(self) -> float:
        """Meters, as the motion's source has it, else as `marey.clean` finds it."""
        known = self.motion.source.floor
        if known is not None:
            return known
        if self.motion.contacts is None:
            found = self.annotated.source.floor
            if found is not None:
                return found
        from marey.clean import find_floor

        return float(find_floor(self.motion))

    @property
    def annotated(self) -> Motion:
        """The motion with contacts: its own, else those of `marey.clean.detect_contacts`."""
        if isinstance(self._annotated, MareyError):
            raise self._annotated
        return self._annotated

    @cached_property
    def _annotated(self) -> Motion | MareyError:
        # A failure is kept as well: several measures ask, and looking takes as long each time.
        if self.motion.contacts is not None:
            return self.motion
        from marey.clean import detect_contacts

        try:
            return detect_contacts(self.motion)
        except MareyError as error:
            return error

    @cached_property
    def foot_points(self) -> tuple[ContactPoint, ...]:
        """Heels and balls: those of the motion's contacts, else as `marey.clean.contact_points` places them."""
        carried = self.motion.contacts
        points: tuple[ContactPoint, ...] = () if carried is None else carried.points
        names = {point.name for point in points}
        if not all(f"{side}_ball" in names for side in _SIDES):
            from marey.clean import contact_points

            points = contact_points(self.motion.skeleton, standing=self.motion)
        return tuple(points[k] for k in self._on_feet(points))

    @cached_property
    def balls(self) -> Floats:
        """(F, 2, 3) meters: the soles under the balls of the left and the right foot, y above the floor."""
        named = {point.name: point for point in self.foot_points}
        missing = [f"{side}_ball" for side in _SIDES if f"{side}_ball" not in named]
        if missing:
            raise JointNotFound(f"needs both feet; contact point {missing[0]!r} was not found")
        return self.above_floor(self.paths(tuple(named[f"{side}_ball"] for side in _SIDES)))

    @cached_property
    def foot_contacts(self) -> tuple[Contacts, str]:
        """Contacts of points on the feet, and whose they are: the motion's own, else detected ones."""
        whose = "contacts found by detect_contacts" if self.motion.contacts is None else "the motion's own contacts"
        carried = self.annotated.contacts
        if carried is None:
            raise InvalidValue("needs contacts of the feet, and none were found")
        columns = self._on_feet(carried.points)
        points = tuple(carried.points[k] for k in columns)
        return Contacts(points, carried.mask[:, columns]), whose

    def paths(self, points: tuple[ContactPoint, ...]) -> Floats:
        """(F, K, 3) meters in the world."""
        joints = [point.joint for point in points]
        offsets = np.array([point.offset for point in points]).reshape(-1, 3)
        turned = quat.rotate(self.world.rotations[:, joints], offsets)
        return np.asarray(self.world.positions[:, joints] + turned)

    def above_floor(self, paths: Floats) -> Floats:
        """The same paths with y counted from the floor."""
        return np.asarray(paths - np.array([0.0, self.floor, 0.0]))

    def _on_feet(self, points: tuple[ContactPoint, ...]) -> list[int]:
        """Which of the points sit on a foot."""
        skeleton = self.motion.skeleton
        feet = [skeleton.roles.get(f"{side}_foot") for side in _SIDES]
        if None in feet:
            return list(range(len(points)))
        return [k for k, point in enumerate(points) if any(foot in skeleton.chain(point.joint) for foot in feet)]


def plural(n: int, what: str) -> str:
    """``"1 frame"``, ``"2 frames"``."""
    return f"{n} {what}" if n == 1 else f"{n} {what}s"
