"""A motion under measurement: data that several metrics share, computed once, on first use."""

from __future__ import annotations

from functools import cache, cached_property
from typing import TYPE_CHECKING

import numpy as np

from marey.core.arrays import Bools, Floats, Ints
from marey.core.contacts import ContactPoint, Contacts
from marey.core.joint_limits import JointLimits
from marey.core.kinematics import World
from marey.core.motion import Motion
from marey.errors import InvalidValue, JointNotFound, MareyError, plural
from marey.maths import quat
from marey.measure import balance_kernels
from marey.measure.gait import Stride, find_strides
from marey.measure.glitches import Glitch, find_flipping_joints, find_glitches

if TYPE_CHECKING:
    from marey.clean.contacts import ContactResult
    from marey.clean.settings import ContactSettings
    from marey.clean.track import PointTrack

_SIDES = ("left", "right")


class Subject:
    """A motion with cached data for metrics: world poses, floor, sole points, contacts and more.

    joint_limits : limits that joints should stay within, or None.
    source : the clip that the motion was made from, or None.
    """

    def __init__(self, motion: Motion, joint_limits: JointLimits | None = None, source: Subject | None = None) -> None:
        self.motion = motion
        self.joint_limits = joint_limits
        self.source = source
        self._last_paths: tuple[tuple[ContactPoint, ...], Floats] | None = None

    def need_frames(self, n: int) -> None:
        """Raise an error if the motion has fewer than n frames."""
        if len(self.motion) < n:
            raise InvalidValue(f"needs at least {n} frames, but the motion has {plural(len(self.motion), 'frame')}")

    @cached_property
    def world(self) -> World:
        return self.motion.world()

    @cached_property
    def joints(self) -> Ints:
        """(n,) indices of the body's joints: no end sites (they are not captured), and no ancestors of the hips."""
        skeleton = self.motion.skeleton
        body = ~skeleton.is_end_site
        body[list(skeleton.chain(self.hips)[:-1])] = False
        return np.flatnonzero(body)

    @cached_property
    def positions(self) -> Floats:
        """(F, n, 3) world positions of `joints`, meters."""
        return np.ascontiguousarray(self.world.positions[:, self.joints])

    @cached_property
    def lowest(self) -> Floats:
        """(F,) height of the lowest of the `joints`, meters."""
        return _find_lowest(self.world.positions, self.joints)

    @cached_property
    def lowest_sole(self) -> Floats:
        """(F,) height of the lowest point in `foot_contacts`, meters."""
        return self.lowest_of(self.foot_contacts[0].points)

    @cached_property
    def is_standing(self) -> Bools:
        """(F,) whether a point on a foot is in contact."""
        return np.asarray(self.foot_contacts[0].mask.any(axis=1))

    @cached_property
    def center_of_mass(self) -> Floats:
        """(F, 3) path of the center of mass, meters."""
        from marey.measure.balance import find_center_of_mass

        return find_center_of_mass(self.motion.skeleton, self.world)

    @cached_property
    def hips(self) -> int:
        """Index of the joint with role hips, or 0 if there is none."""
        return int(self.motion.skeleton.roles.get("hips", 0))

    @cached_property
    def travel(self) -> Floats:
        """(F, 2) path of the hips on the floor, x and z in meters."""
        roles = self.motion.skeleton.roles
        return self.world.positions[:, roles["hips"]][:, [0, 2]]

    @cached_property
    def bends(self) -> Floats:
        """(F - 2, n, 3) second differences of `positions` over the frames, meters."""
        return np.diff(self.positions, n=2, axis=0)

    @cached_property
    def turning(self) -> Floats:
        """(F - 1, n) angular speeds of the n `joints` between frames, rad/s."""
        return quat.angle_between(self.orientations[:-1], self.orientations[1:]) * self.motion.fps

    @cached_property
    def orientations(self) -> Floats:
        """(F, n, 4) local rotations of `joints`, except the hips, whose rotation is in the world."""
        local = self.motion.rotations[:, self.joints]
        local[:, self.joints == self.hips] = self.world.rotations[:, [self.hips]]
        return local

    @cached_property
    def limit_excess(self) -> tuple[tuple[str, ...], Floats]:
        """Joints that have limits, and how far (F, n) their rotations exceed them, in radians."""
        if self.joint_limits is None:
            raise InvalidValue("needs joint limits", parameter="joint_limits", remedy="pass `joint_limits=`")
        return self.joint_limits.find_excess(self.motion)

    @cached_property
    def strides(self) -> tuple[Stride, ...]:
        return find_strides(self.motion)

    @cached_property
    def glitches(self) -> tuple[Glitch, ...]:
        """Broken frames, flips and jumps."""
        return find_glitches(self.motion, self.may_flip)

    @cached_property
    def may_flip(self) -> Bools:
        """(J,) whether each joint rotates far enough between two frames for a flip."""
        return find_flipping_joints(self.motion)

    @cached_property
    def floor(self) -> float:
        """Floor height in meters: that of the motion's source if known, otherwise detected by `marey.clean`."""
        known = self.motion.source.floor
        if known is not None:
            return known
        if self.motion.contacts is None:
            return self._detected.floor
        from marey.clean import find_floor

        return float(find_floor(self.motion))

    @property
    def contacts(self) -> Contacts:
        """The motion's own contacts if it has any, otherwise those of `marey.clean.detect_contacts`."""
        return self._detected.contacts if self.motion.contacts is None else self.motion.contacts

    @property
    def _detected(self) -> ContactResult:
        if isinstance(self._detection, MareyError):
            raise self._detection
        return self._detection

    @cached_property
    def _detection(self) -> ContactResult | MareyError:
        # Cache a failure too: several metrics need contacts, and every attempt takes as long.
        from marey.clean.contacts import find_contacts_of

        try:
            return find_contacts_of(self.motion, self.foot_track, _contact_settings())
        except MareyError as error:
            return error

    @cached_property
    def foot_track(self) -> PointTrack:
        """Paths and speeds of the points of the feet."""
        from marey.clean.track import choose_points, track_points

        return track_points(self.motion, choose_points(self.motion), self.world)

    @cached_property
    def foot_points(self) -> tuple[ContactPoint, ...]:
        """Contact points on the feet: those of the motion's contacts if they include the balls of both feet.

        Otherwise those of `marey.clean.contact_points`.
        """
        try:
            points = self.contacts.points
        except MareyError:
            points = ()
        names = {point.name for point in points}
        if not all(f"{side}_ball" in names for side in _SIDES):
            from marey.clean import contact_points

            points = contact_points(self.motion.skeleton, standing=self.motion)
        return tuple(points[k] for k in self._on_feet(points))

    @cached_property
    def balls(self) -> Floats:
        """(F, 2, 3) sole points under the balls of the left and right foot, meters, with y measured from the floor."""
        named = {point.name: point for point in self.foot_points}
        missing = [f"{side}_ball" for side in _SIDES if f"{side}_ball" not in named]
        if missing:
            raise JointNotFound(f"needs both feet; contact point {missing[0]!r} was not found")
        return self.above_floor(self.paths(tuple(named[f"{side}_ball"] for side in _SIDES)))

    @cached_property
    def foot_contacts(self) -> tuple[Contacts, str]:
        """Contacts of points on the feet, and a text that says whether they are the motion's own or detected."""
        whose = "contacts found by detect_contacts" if self.motion.contacts is None else "the motion's own contacts"
        carried = self.contacts
        columns = self._on_feet(carried.points)
        if len(columns) == len(carried.points):
            return carried, whose
        points = tuple(carried.points[k] for k in columns)
        return Contacts(points, carried.mask[:, columns]), whose

    def paths(self, points: tuple[ContactPoint, ...]) -> Floats:
        """Return the world positions (F, K, 3) of K contact points, meters. The latest results are cached."""
        if self._last_paths is not None and self._last_paths[0] == points:
            return self._last_paths[1]
        track: PointTrack | None = self.__dict__.get("foot_track")
        if track is not None and track.points == points:
            return track.raw
        from marey.clean import point_paths

        paths = point_paths(self.motion, points)
        self._last_paths = (points, paths)
        return paths

    def lowest_of(self, points: tuple[ContactPoint, ...]) -> Floats:
        """Return the height (F,) of the lowest of the contact points, meters; infinity without points."""
        return _find_lowest(self.paths(points), np.arange(len(points)))

    def above_floor(self, paths: Floats) -> Floats:
        """Return the paths with y measured from the floor."""
        return np.asarray(paths - np.array([0.0, self.floor, 0.0]))

    def _on_feet(self, points: tuple[ContactPoint, ...]) -> list[int]:
        """Return the indices of the points on the feet; all points if the skeleton has no role for both feet."""
        skeleton = self.motion.skeleton
        feet = [skeleton.roles.get(f"{side}_foot") for side in _SIDES]
        if None in feet:
            return list(range(len(points)))
        return [k for k, point in enumerate(points) if any(foot in skeleton.chain(point.joint) for foot in feet)]


@cache
def _contact_settings() -> ContactSettings:
    from marey.clean.settings import ContactSettings

    return ContactSettings()


def _find_lowest(positions: Floats, joints: Ints) -> Floats:
    """Return the smallest height (F,) of joints (n,), from positions (F, J, 3) in meters; infinity without joints."""
    lowest = np.full(len(positions), np.inf)
    if len(joints):
        balance_kernels.find_lowest(positions, joints, lowest)
    return lowest
