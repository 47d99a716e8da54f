"""The records that the steps of the cleanup share, and the columns of their tables.

E is the number of hands and feet, F the number of frames, J the number of joints.
"""

from __future__ import annotations

from typing import NamedTuple

from marey.compiled import Floats1D, Floats2D, Floats3D, Ints1D, Ints2D, Ints3D, Out

# Columns of `CleanState.values`. Vectors take three columns, quaternions four; in world coordinates unless noted. The
# joint is the wrist or ankle; the points are the two contact points of the hand or foot.
P = 0  # position of the joint in the source
Q = 3  # orientation of the joint in the source
O1, O2 = 7, 10  # the two points in the joint's own coordinate frame
X1, X2 = 13, 16  # positions of the two points in the source
C1, C2 = 19, 22  # positions of their plants
G1, G2 = 25, 28  # given positions of their plants, if the caller sets them
PLANE1, PLANE2 = 31, 32  # index of the support that each point is planted on
TP, TQ = 33, 36  # target pose of the joint itself: position and orientation
R = 40  # adjustment of the orientation, as a rotation vector
W = 43  # adjustment of the second point, in the joint's own coordinate frame
D = 46  # adjustment of the ball of a foot or of the wrist, in addition to body displacement and lift
T = 49  # target position of the joint
H = 52  # sum of the hinge axes up to this frame, in the upper bone's coordinate frame, without its flips
DEPTH = 55  # depth of the lowest point under the floor, at most the maximum lift, meters
LIFT = 56  # lift of the source that brings this point above the floor, meters
AIM, AIM_Q = 57, 60  # final position and orientation of the joint
BEND = 64  # radians by which the toes bend up, or down if negative
KNEE = 65  # radians by which the knee or elbow must rotate, judged from this frame alone, times SIGN
HOVER = 66  # height of a foot above its plants in the source, meters
RELEASED = 67  # frames until a foot that was pulled too far may be planted again
RAISE = 68  # radians by which the toes rise about a horizontal axis, after they bend
OVER = 69  # depth beyond the maximum lift, which is not corrected, meters
FLIP = 70  # rotation that undoes flips of the upper bone up to this frame, in its own coordinate frame
HINGED = 74  # sum of the lengths of the hinge axes up to this frame
SWIVEL = 75  # radians by which the knee or elbow swivels, judged from this frame alone
WOUND = 76  # multiple of 2 pi; BEND + WOUND is continuous over time
AXIS = 77  # axis of the knee or elbow, in the upper bone's coordinate frame, without its flips
SIGN = 80  # 1, or -1 after AXIS has reversed from one frame to the next an odd number of times
OWN = 81  # vector from the first point to the second, in the joint's own coordinate frame, when last planted
N_STATE = 84

# Columns of `CleanState.flags`.
M1, M2 = 0, 1  # the contacts as given
GIVEN1, GIVEN2 = 2, 3  # number of the plant with a given position, from 1; 0 if the plant has none
WANTED = 4  # POSITION or POSE if the joint itself has a target, else 0
A1, A2 = 5, 6  # contacts with short gaps closed
F1, F2 = 7, 8  # A1 and A2, with overlaps added where one point takes over from the other
KIND = 9
MOVED = 10  # whether the hand or foot is adjusted
N_FLAGS = 11

# Kinds of constraint.
FREE, FIRST, SECOND, BOTH, POSE, POSITION = 0, 1, 2, 3, 4, 5

# Supports that are not in the list of planes.
LEVEL = -1  # the horizontal plane through the plant
NOWHERE = -2  # in the air, such as a hand on something unknown

# Columns of `CleanBody.limbs` (E, N_LIMB): joints, -1 for none; the last two are flags.
BASE, MID, END, POINT1, POINT2, SHIFTED, TOE, TIP, IS_FOOT, ON_TOE = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
N_LIMB = 10

# Columns of `CleanOutput.limb_fits` (F, E, 2).
SCALE, RESIDUE = 0, 1

# Number of steps in the pipeline.
N_STEPS = 10

# Columns of `CleanState.shifts` (F, N_SHIFTS): what the frame requires of the body's displacement (sums of a
# least-squares problem, and the move that brings all targets within reach), the displacement, and the displacement that
# is still missing.
MOMENT, RIGHT, INTO, SHIFT, LACK = 0, 6, 9, 12, 15
ASKED = 12
N_SHIFTS = 18


class CleanBody(NamedTuple):
    """The body as the cleanup sees it; it does not change over time.

    parents : (J,) parent of each joint, -1 for the root.
    limbs : (E, N_LIMB) joints of each hand and foot, in the columns listed above.
    points : (E, 2, 3) offsets of the contact points in their joints' coordinate frames, in meters.
    hinges : (E, 3) axis of each knee or elbow in the rest pose, scaled by the weight of the rest pose.
    """

    parents: Ints1D
    limbs: Ints2D
    points: Floats3D
    hinges: Floats2D


class CleanOptions(NamedTuple):
    """How the body is cleaned. Windows are in frames; L1 to L4 are those of Kovar 3.2.

    gap : shorter gaps between contacts of a point are closed.
    average, blend, root, fade : L1 to L4: windows for the position of a plant, the orientation of a foot with one
        plant, the displacement of the body, and adjustments in free frames.
    lift : half of the window over which a lift is smoothed.
    slope, seen : minimum window over which a slope fades, and window in which it is measured.
    calm : half of the window over which the rotation of a knee, its swivel and the bend of toes are smoothed.
    swing : meters per frame by which the tips of toes may move faster than in the source while toes change sides.
    rise : window in which a foot that stood lower than in the source rises back to it.
    release : frames for which a foot that was pulled too far is free.
    is_smooth : whether velocities are continuous too.
    is_flat : whether feet with two plants are rolled level.
    can_stretch : whether bones may change length.
    floor : height of the floor in meters.
    near : meters; a foot no higher than this above the floor stands on it.
    hover : meters; a foot this far above its plants hovers.
    damping : knee angle in radians above which rotations are damped.
    swivel : fraction, as in `CleanSettings`.
    stretch : maximum scaling of limbs, as a fraction of their length.
    pull : maximum distance in meters between a plant and its point in the source.
    highest : maximum lift above the floor in meters.
    planes : (N, 3) supports y = height + a x + b z, the floor first.
    taps : (root + 1,) weights of frames for the displacement, by distance in frames.
    raised : (N, N) weights 1 + cos of frames in the other windows: row n for n frames on either side, by distance.
    """

    gap: int
    average: int
    blend: int
    root: int
    fade: int
    lift: int
    slope: int
    seen: int
    calm: int
    swing: float
    rise: int
    release: int
    is_smooth: bool
    is_flat: bool
    can_stretch: bool
    floor: float
    near: float
    hover: float
    damping: float
    swivel: float
    stretch: float
    pull: float
    highest: float
    planes: Floats2D
    taps: Floats1D
    raised: Floats2D


class SourceFrames(NamedTuple):
    """The input frames.

    root_positions : (F, 3) meters.
    rotations : (F, J, 4) local rotations.
    bone_offsets : (F, J, 3) meters.
    positions, world : (F, J, 3) meters and (F, J, 4), world pose of the joints; filled by the first step.
    """

    root_positions: Floats2D
    rotations: Floats3D
    bone_offsets: Floats3D
    positions: Out[Floats3D]
    world: Out[Floats3D]


class CleanState(NamedTuple):
    """Data that the steps pass to each other.

    values : (F, E, N_STATE) numbers per hand and foot.
    flags : (F, E, N_FLAGS) flags per hand and foot.
    shifts : (F, N_SHIFTS) numbers per frame.
    done : (N_STEPS,) number of frames that each step has finished; the last entry counts the finished frames.
    """

    values: Out[Floats3D]
    flags: Out[Ints3D]
    shifts: Out[Floats2D]
    done: Out[Ints1D]


class CleanOutput(NamedTuple):
    """The finished frames. Until a frame is finished, its rows hold the source's values.

    root_positions : (F, 3) meters.
    rotations : (F, J, 4) local rotations.
    bone_offsets : (F, J, 3) meters.
    limb_fits : (F, E, 2) scale of each limb's length, and remaining distance to its target in meters.
    """

    root_positions: Out[Floats2D]
    rotations: Out[Floats3D]
    bone_offsets: Out[Floats3D]
    limb_fits: Out[Floats3D]


class Cleanup(NamedTuple):
    """The records that the last step of the cleanup needs."""

    body: CleanBody
    options: CleanOptions
    frames: SourceFrames
    state: CleanState
    output: CleanOutput


class FreeSpan(NamedTuple):
    """Frame `t` of limb `e`, and the nearest frames before and after it whose constraints determine the adjustment.

    back, ahead : distances of these frames from `t`, in frames; 0 if there is no such frame.
    of_orientation : True if they determine the adjustment of the orientation, False for the position.
    n_ready : number of frames that may be read.
    """

    e: int
    t: int
    back: int
    ahead: int
    of_orientation: bool
    n_ready: int
