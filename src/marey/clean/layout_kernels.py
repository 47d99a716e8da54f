"""The records that the steps of the cleanup share, and the columns of their tables.

E is the number of hands and feet, F that of frames, J that of joints.
"""

from __future__ import annotations

from typing import NamedTuple

from marey.compiled import Floats1D, Floats2D, Floats3D, Ints1D, Ints2D, Ints3D, Out

# Columns of `CleanState.values`. Vectors take three columns, quaternions four; world frame unless said otherwise.
P = 0  # the wrist or ankle joint in the source
Q = 3  # its orientation
O1, O2 = 7, 10  # the two points in its own frame
X1, X2 = 13, 16  # the two points
C1, C2 = 19, 22  # where they are planted
G1, G2 = 25, 28  # where they should be planted
PLANE1, PLANE2 = 31, 32  # which support they are planted on
TP, TQ = 33, 36  # target pose of the joint itself
R = 40  # adjustment of the orientation, as a rotation vector
W = 43  # adjustment of the second point, in the joint's own frame
D = 46  # adjustment of the ball of a foot or of the wrist, besides that of the whole body and the lift
T = 49  # target of the joint
H = 52  # sum of the hinge's axes up to this frame, in the upper bone's frame
DEPTH = 55  # meters that the lowest point is under the floor
LIFT = 56  # meters by which the source is lifted for that
AIM, AIM_Q = 57, 60  # final position of the joint, and its orientation
BEND = 64  # radians by which the toes bend up
KNEE = 65  # radians by which the knee or elbow must rotate, by this frame alone
HOVER = 66  # meters by which a foot is above its plants in the source
N_STATE = 67

# Columns of `CleanState.flags`.
M1, M2 = 0, 1  # the contacts as given
GIVEN1, GIVEN2 = 2, 3  # whether the place of a plant is given: the interval's number from 1
WANTED = 4  # 0, or POSITION or POSE where the joint itself has a target
A1, A2 = 5, 6  # contacts with short gaps closed
F1, F2 = 7, 8  # the same with overlaps where one point takes over from the other
KIND = 9
MOVED = 10  # whether the hand or foot is adjusted at all
N_FLAGS = 11

# Kinds of constraint.
FREE, FIRST, SECOND, BOTH, POSE, POSITION = 0, 1, 2, 3, 4, 5

# Supports that are no plane of the list.
LEVEL = -1  # the horizontal plane through the plant
NOWHERE = -2  # in the air, such as a hand on something unknown

# Columns of `CleanBody.limbs` (E, N_LIMB): joints, -1 where there is none.
BASE, MID, END, POINT1, POINT2, SHIFTED, TOE, TIP, IS_FOOT, ON_TOE = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
N_LIMB = 10

# Columns of `CleanOutput.limb_fits` (F, E, 2).
SCALE, RESIDUE = 0, 1

# Steps of the pipeline.
N_STEPS = 10

# Columns of `CleanState.shifts` (F, N_SHIFTS): what the frame asks of the body's displacement (sums of a least-squares
# problem, and the way into the reach of all limbs), the displacement, and what it lacks.
MOMENT, RIGHT, INTO, SHIFT, LACK = 0, 6, 9, 12, 15
ASKED = 12
N_SHIFTS = 18


class CleanBody(NamedTuple):
    """The body, which is the same in all frames.

    parents : (J,) joint above each joint, -1 for the first. limbs : (E, N_LIMB) joints of each hand and foot.
    points : (E, 2, 3) meters, offsets of the contact points in the frames of their joints.
    hinges : (E, 3) axis of each knee or elbow in the rest pose, times its weight.
    """

    parents: Ints1D
    limbs: Ints2D
    points: Floats3D
    hinges: Floats2D


class CleanOptions(NamedTuple):
    """How the body is cleaned. Windows are frames; the letters are those of Kovar 3.2.

    gap : shorter gaps between contacts of a point are closed.
    average, blend, root, fade : L1 to L4, for the place of a plant, the orientation of a foot with one plant, the
        displacement of the body, and adjustments in free frames.
    lift : half of what a lift is smoothed over.
    slope, seen : over which a slope fades at least, and in which it is measured.
    calm : half of what the rotation of a knee is smoothed over.
    rise : in which a foot that stood lower than in the source comes up again.
    is_smooth : whether velocities are continuous too. is_flat : whether feet with two plants are rolled level.
    can_stretch : whether bones may change.
    floor : meters. near : meters; a foot this near above the floor stands on it.
    hover : meters; a foot this much above its plants hovers.
    damping : radians of the knee from which on it is damped. swivel : fraction, as in `CleanSettings`.
    stretch : fraction by which limbs may be scaled.
    planes : (N, 3) supports y = height + a x + b z, the floor first.
    taps : (root + 1,) weights of frames for the displacement, by distance.
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
    rise: int
    is_smooth: bool
    is_flat: bool
    can_stretch: bool
    floor: float
    near: float
    hover: float
    damping: float
    swivel: float
    stretch: float
    planes: Floats2D
    taps: Floats1D


class SourceFrames(NamedTuple):
    """The frames that have come in.

    root_positions : (F, 3) meters. rotations : (F, J, 4) local. bone_offsets : (F, J, 3) meters.
    positions, world : (F, J, 3) meters and (F, J, 4), joints in the world; the first step fills these.
    """

    root_positions: Floats2D
    rotations: Floats3D
    bone_offsets: Floats3D
    positions: Out[Floats3D]
    world: Out[Floats3D]


class CleanState(NamedTuple):
    """What the steps pass on to each other.

    values : (F, E, N_STATE). flags : (F, E, N_FLAGS). shifts : (F, N_SHIFTS).
    done : (N_STEPS,) how many frames each step has finished; the last are the finished frames.
    """

    values: Out[Floats3D]
    flags: Out[Ints3D]
    shifts: Out[Floats2D]
    done: Out[Ints1D]


class CleanOutput(NamedTuple):
    """The finished frames. Before they are finished, they hold the source's.

    root_positions : (F, 3) meters. rotations : (F, J, 4) local. bone_offsets : (F, J, 3) meters.
    limb_fits : (F, E, 2) factor of each limb's length, and meters left to its target.
    """

    root_positions: Out[Floats2D]
    rotations: Out[Floats3D]
    bone_offsets: Out[Floats3D]
    limb_fits: Out[Floats3D]


class Cleanup(NamedTuple):
    """Everything that the last step needs."""

    body: CleanBody
    options: CleanOptions
    frames: SourceFrames
    state: CleanState
    output: CleanOutput


class FreeSpan(NamedTuple):
    """Frame `t` of limb `e`, and the frames back and ahead to the nearest that settle an adjustment; 0 for none.

    of_orientation : whether it is the adjustment of the orientation that they settle, or that of the position.
    n_ready : frames that may be read.
    """

    e: int
    t: int
    back: int
    ahead: int
    of_orientation: bool
    n_ready: int
