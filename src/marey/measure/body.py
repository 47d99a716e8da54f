"""Metrics of the body: changes of bone length, floor penetration and joint limits."""

from __future__ import annotations

import numpy as np

from marey.core.arrays import Floats, Ints, find_runs
from marey.errors import InvalidValue, plural
from marey.measure.metrics import BODY_JOINTS, Reading, measures
from marey.measure.subject import Subject

# Violations of joint limits below this angle, in radians, are not counted.
LIMIT_SLACK = np.radians(1.0)
# Meters: joints closer to their parent than this count as having no bone.
_NO_BONE = 1e-3
# Meters: a smaller depth is rounding error.
_ROUNDING = 1e-9

_DEPTH = (
    "max(0, -h) in each frame, where h is the height above the floor of the lowest point: the soles under heels and"
    f" balls, and all {BODY_JOINTS}"
)
_YUAN = "Yuan, Song, Iqbal, Vahdat, Kautz: PhysDiff, ICCV 2023 ('penetrate', there of a body mesh)"
_CHANGE = (
    "|l(f) / l0 - 1|, where l(f) is a bone's length in a frame and l0 that of the skeleton, for bones below the hips"
    " of at least 1 mm"
)
_KOVAR = "Kovar, Schreiner, Gleicher: Footskate Cleanup for Motion Capture Editing, SCA 2002 (limb scaling)"


@measures("penetration_mean", "mm", definition=f"mean over frames of {_DEPTH}", source=_YUAN)
def penetration_mean(subject: Subject) -> Reading:
    """Mean depth of the lowest point below the floor; frames without penetration count as 0."""
    depth = depth_below_floor(subject)
    return 1000.0 * float(depth.mean()), f"floor at {subject.floor:.3f} m"


@measures("penetration_max", "mm", definition=f"largest over frames of {_DEPTH}", source=_YUAN)
def penetration_max(subject: Subject) -> Reading:
    """Maximum depth of the lowest point below the floor."""
    depth = depth_below_floor(subject)
    deepest = int(np.argmax(depth))
    return 1000.0 * float(depth[deepest]), f"frame {deepest}" if depth[deepest] > _ROUNDING else ""


def depth_below_floor(subject: Subject) -> Floats:
    """Return the depth (F,) of the lowest point below the floor, in meters."""
    lowest = np.minimum(subject.lowest, subject.lowest_of(subject.foot_points))
    return np.asarray(np.maximum(0.0, subject.floor - lowest))


@measures("limb_change_max", "fraction", definition=f"largest over bones and frames of {_CHANGE}", source=_KOVAR)
def limb_change_max(subject: Subject) -> Reading:
    """Largest relative change of a bone's length; 0 if all bones are rigid."""
    bones, change = length_changes(subject)
    if change is None:
        return 0.0, "no bone changes"
    f, b = np.unravel_index(int(np.argmax(change)), change.shape)
    joint = int(bones[b])
    return float(change[f, b]), f"{subject.motion.skeleton.names[joint]}, {describe_plant(subject, joint, int(f))}"


@measures("limb_change_mean", "fraction", definition=f"mean over bones and frames of {_CHANGE}", source=_KOVAR)
def limb_change_mean(subject: Subject) -> Reading:
    """Mean relative change of the bones' lengths."""
    bones, change = length_changes(subject)
    return (0.0 if change is None else float(change.mean())), f"{len(bones)} bones"


def length_changes(subject: Subject) -> tuple[Ints, Floats | None]:
    """Return the n bones, as indices of the joints at their far ends, and the relative changes (F, n) of their lengths;
    None if the bones are rigid."""
    skeleton, moving = subject.motion.skeleton, subject.motion.bone_offsets
    rest = skeleton.bone_lengths
    below = skeleton.is_below(subject.hips) & (rest >= _NO_BONE)
    below[[0, subject.hips]] = False
    bones: Ints = np.flatnonzero(below)
    if bones.size == 0:
        raise InvalidValue("needs bones of at least 1 mm below the hips, and the skeleton has none")
    if moving is None:
        return bones, None
    return bones, np.abs(np.linalg.norm(moving[:, bones], axis=2) / rest[bones] - 1.0)


def describe_plant(subject: Subject, joint: int, frame: int) -> str:
    """Return text that names a frame, and the plant during which it occurs if the limb or foot of a bone is planted
    then.

    joint : the joint at the far end of the bone.
    """
    motion, contacts = subject.motion, subject.motion.contacts
    for k, point in enumerate(() if contacts is None else contacts.points):
        chain = motion.skeleton.chain(point.joint)
        on_bone = joint in chain or motion.skeleton.parents[joint] == point.joint
        if contacts is not None and on_bone and contacts.mask[frame, k]:
            start, stop = next((a, b) for a, b in find_runs(contacts.mask[:, k]) if a <= frame < b)
            return f"frame {frame}, while {point.name} is planted in frames {start}-{stop - 1}"
    return f"frame {frame}"


_LIMITS = "limits of an ASF file, or learned from clips (marey.core.learn_joint_limits)"
_BROKEN = "angle from a joint's rotation to the rotation with its three angles clipped to their limits"


@measures("limit_excess_max", "rad", definition=f"largest over joints and frames of the {_BROKEN}", source=_LIMITS)
def limit_excess_max(subject: Subject) -> Reading:
    """Largest angle by which a joint exceeds its limits; the note gives the joint and the frame."""
    names, excess = subject.limit_excess
    f, j = np.unravel_index(int(np.argmax(excess)), excess.shape)
    return float(excess[f, j]), f"{names[int(j)]}, frame {int(f)}" if excess[f, j] > LIMIT_SLACK else ""


@measures(
    "limit_frames",
    "fraction",
    definition=f"fraction of the frames in which the {_BROKEN}, is over 1 degree for any joint",
    source=_LIMITS,
)
def limit_frames(subject: Subject) -> Reading:
    """Fraction of the frames in which a joint exceeds its limits; the note counts the frames of the worst joints."""
    names, excess = subject.limit_excess
    outside = excess > LIMIT_SLACK
    counts = outside.sum(axis=0)
    worst = [k for k in np.argsort(-counts, kind="stable")[:3].tolist() if counts[k]]
    listed = ", ".join(f"{names[k]} in {plural(int(counts[k]), 'frame')}" for k in worst)
    return float(outside.any(axis=1).mean()), listed
