"""Actions of a blend tree that play once over its loops: a throw while walking, a fall while running."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from marey.clean import move_to_floor
from marey.control.blend_tree_nodes import mask_joints
from marey.control.blend_tree_table import LoopTable, sample_clip
from marey.control.inertia_reel import rotate_root_with_hips
from marey.core.arrays import Bools, Floats, check_number, check_type, set_readonly
from marey.core.kinematics import rotate_root
from marey.core.motion import Motion, check_motion
from marey.core.placement import check_same_skeleton
from marey.core.resample import resample
from marey.core.skeleton import Skeleton
from marey.errors import InvalidValue
from marey.maths import quat, rigid2d
from marey.maths.ease import ease_in
from marey.play import SourceFrame

__all__ = ["ActionPlayer", "ActionTable", "OneShot", "find_start", "prepare_actions"]

# To choose where an action begins, this many meters of hip height count as much as one radian of joint rotation.
_HEIGHT = 0.3


@dataclass(frozen=True, slots=True, eq=False)
class OneShot:
    """An action that plays once over the loops of a blend tree.

    motion : the clip. Its frames play at their own speed.
    joints : names of the joints to take from it, with all their descendants; "upper" stands for everything above the
        hips, for a throw. () is the whole body with its travel, for a fall.
    fade_in, fade_out : seconds over which the action fades in over the loops, and fades out at its end.
    hold : keep the last pose until another action, or None, is requested.

    Examples
    --------
    >>> from marey.control import BlendTree, BlendTreeStream, OneShot
    >>> throw = OneShot(marey.samples.sample("throw").motion, joints="upper")
    >>> tree = BlendTree.from_walks([walk, turning, marey.edit.mirror(turning)], actions={"throw": throw})
    >>> stream = BlendTreeStream(tree)
    >>> stream.request(action="throw")
    >>> stream.record(1.0).labels.names
    ('+0', 'throw')
    """

    motion: Motion
    joints: Sequence[str] = ()
    fade_in: float = 0.25
    fade_out: float = 0.35
    hold: bool = False

    def __post_init__(self) -> None:
        check_motion(self.motion)
        if len(self.motion) < 2:
            raise InvalidValue(f"an action needs at least 2 frames, and {self.motion.name!r} has one")
        names = (self.joints,) if isinstance(self.joints, str) else tuple(self.joints)
        object.__setattr__(self, "joints", names)
        for name in ("fade_in", "fade_out"):
            object.__setattr__(self, name, check_number(getattr(self, name), f"{name} in seconds"))


@dataclass(frozen=True, slots=True, eq=False)
class ActionTable:
    """The F frames of an action at the rate of the tree, relative to the ground below the hips, as in `LoopTable`.

    mask : (J,) whether each joint is taken from the action.
    whole : the action replaces the whole body, including its root, steps and contacts.
    """

    action: OneShot
    mask: Bools
    whole: bool
    rotations: Floats
    root: Floats
    steps: Floats
    contacts: Bools
    bones: Floats | None

    def weight(self, frame: float, ended: float | None, fps: float) -> float:
        """Return the weight of the action at a frame; `ended` is the frame at which its end was requested, or None."""
        last = math.inf if self.action.hold else len(self.rotations) - 1.0
        fade = self.action.fade_out * fps
        stop = min(last, math.inf if ended is None else ended + fade)
        return _ease(frame, self.action.fade_in * fps) * _ease(stop - frame, fade)


def _ease(frames: float, fade: float) -> float:
    """Return the progress of a fade, from 0 to 1, after some frames."""
    if frames <= 0.0:
        return 0.0
    return 1.0 if frames >= fade else float(ease_in(frames / fade))


def prepare_actions(actions: Mapping[str, OneShot], table: LoopTable) -> dict[str, ActionTable]:
    """Sample the actions at the frame rate of the tree, and move them to its floor height."""
    return {str(name): _prepare_action(action, table) for name, action in actions.items()}


def _prepare_action(action: OneShot, table: LoopTable) -> ActionTable:
    from marey.clean import ensure_contacts

    check_type(action, OneShot, "each of actions", remedy="wrap the motion: OneShot(motion, joints=...)")
    motion = rotate_root_with_hips(ensure_contacts(action.motion))
    check_same_skeleton(table.skeleton, motion.skeleton, "a blend tree")
    motion = move_to_floor(resample(motion, table.fps), table.floor)
    rotations, root, steps, bones = sample_clip(motion, np.arange(len(motion)) / motion.fps)
    mask = mask_joints([_name_joint(each, table.skeleton) for each in action.joints], table.skeleton, "an action")
    contacts = np.zeros((len(motion), len(table.points)), dtype=bool)
    for k, point in enumerate(table.points):
        if motion.contacts is not None and point.name in motion.contacts.names:
            contacts[:, k] = motion.contacts.mask[:, motion.contacts.index(point.name)]
    return ActionTable(
        action, set_readonly(mask | (not action.joints)), not action.joints, set_readonly(quat.unroll(rotations)),
        set_readonly(root), set_readonly(steps), set_readonly(contacts),
        None if motion.bone_offsets is None else set_readonly(bones),
    )  # fmt: skip


def _name_joint(name: str, skeleton: Skeleton) -> str:
    """Return the name of a joint; "upper" stands for the first joint of the spine."""
    return skeleton.names[skeleton.roles["spine"]] if name == "upper" and name not in skeleton.names else name


@dataclass(slots=True)
class _Playing:
    """An action that is playing: its current frame, and the frame at which its end was requested."""

    name: str
    table: ActionTable
    frame: int = 0
    ended: float | None = None


class ActionPlayer:
    """Plays actions over the frames of a blend tree. Later actions override earlier ones.

    tables : the actions by name. offsets : (J, 3) bone offsets of frames without their own.
    """

    def __init__(self, tables: Mapping[str, ActionTable], fps: float, offsets: Floats) -> None:
        self.tables, self.fps, self._offsets = tables, fps, offsets
        self._playing: list[_Playing] = []

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the actions that are playing, in the order in which they began."""
        return tuple(each.name for each in self._playing)

    def start(self, name: str) -> None:
        """Begin an action with the next frame."""
        self._playing.append(_Playing(name, self.tables[name]))

    def end(self) -> None:
        """Let all actions fade out from now on."""
        for each in self._playing:
            each.ended = each.frame if each.ended is None else each.ended

    def advance(self, before: Floats, after: Floats) -> None:
        """Advance all actions by one frame, and apply their travel to `after` in place.

        before : (3,) rigid2d of the previous frame. after : (3,) rigid2d of this frame; on input, that of the loops
        alone.
        """
        if not self._playing:
            return
        for each in self._playing:
            if each.table.whole:
                is_moving = each.frame < len(each.table.steps)
                goal = rigid2d.compose(before, each.table.steps[each.frame]) if is_moving else before
                after += self._weight(each) * (goal - after)
            each.frame += 1
        last = [each for each in self._playing if each.frame <= 1 or self._weight(each) > 0.0]
        hidden = max((k for k, each in enumerate(last) if each.table.whole and self._weight(each) >= 1.0), default=0)
        self._playing = last[hidden:]

    def change(self, frame: SourceFrame, place: Floats) -> SourceFrame:
        """Return a frame of the loops with the actions over it."""
        for each in self._playing:
            weight = self._weight(each)
            if weight > 0.0:
                frame = _lay_over(frame, each, weight, place, self._offsets)
        return frame

    def _weight(self, each: _Playing) -> float:
        return each.table.weight(each.frame, each.ended, self.fps)


def _lay_over(frame: SourceFrame, playing: _Playing, weight: float, place: Floats, offsets: Floats) -> SourceFrame:
    table = playing.table
    row = min(playing.frame, len(table.rotations) - 1)
    pose = rotate_root(table.rotations[row], place)
    rotations = np.where(table.mask[:, None], quat.slerp(frame.rotations, pose, weight), frame.rotations)
    labels = (*frame.labels, playing.name)
    if not table.whole:
        return frame._replace(rotations=set_readonly(rotations), labels=labels)
    root = (1.0 - weight) * frame.root + weight * rigid2d.apply(place, table.root[row])
    bones = frame.bones
    if bones is not None or table.bones is not None:
        own = offsets if table.bones is None else table.bones[row]
        bones = set_readonly((1.0 - weight) * (offsets if bones is None else bones) + weight * own)
    contacts = frame.contacts if weight < 0.5 else table.contacts[row]
    return frame._replace(
        root=set_readonly(root), rotations=set_readonly(rotations), contacts=contacts, bones=bones, labels=labels
    )


def find_start(poses: Floats, heights: Floats, table: ActionTable) -> int:
    """Return the index of the loop pose at which an action should begin: the one nearest to its first pose.

    poses : (n, J, 4) local rotations of the loops. heights : (n,) heights of joint 0 in meters.
    """
    turned = quat.angle_between(poses, table.rotations[0])
    lifted = (heights - table.root[0, 1]) / _HEIGHT
    return int(np.argmin(np.square(turned).mean(axis=1) + np.square(lifted)))
