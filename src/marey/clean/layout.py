"""Where the cleanup keeps what, frame by frame: columns of its tables.

`state` (F, E, N_STATE) holds numbers and `flags` (F, E, N_FLAGS) whole numbers for each of E hands and feet.
"""

from __future__ import annotations

# Columns of `state`. Vectors take three columns, quaternions four; world frame unless said otherwise.
P = 0  # the wrist or ankle joint in the source
Q = 3  # its orientation
O1, O2 = 7, 10  # the two points in its own frame
X1, X2 = 13, 16  # the two points
C1, C2 = 19, 22  # where they are planted
G1, G2 = 25, 28  # where they are wanted to be planted
PLANE1, PLANE2 = 31, 32  # which support they are planted on
TP, TQ = 33, 36  # where the joint itself is wanted
R = 40  # adjustment of the orientation, as a rotation vector
W = 43  # adjustment of the second point, in the joint's own frame
D = 46  # adjustment of the ball of a foot or of the wrist, beside that of the whole figure and the lift
T = 49  # target of the joint
H = 52  # sum of the hinge's axes up to this frame, in the upper bone's frame
DEPTH = 55  # metres that the lowest point is under the floor
LIFT = 56  # metres by which the source is lifted for that
AIM, AIM_Q = 57, 60  # where the joint comes to be, and its orientation
BEND = 64  # radians by which the toes bend up
KNEE = 65  # radians by which the knee or elbow must turn, by this frame alone
HOVER = 66  # metres by which a foot is above its plants in the source
N_STATE = 67

# Columns of `flags`.
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

# Columns of `limbs` (E, N_LIMB): joints, -1 where there is none.
BASE, MID, END, POINT1, POINT2, SHIFTED, TOE, TIP, IS_FOOT, ON_TOE = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
N_LIMB = 10

# Entries of `spans`, frames: short gaps, the four windows of Kovar 3.2, half of what a lift is smoothed
# over, the decay of a slope, the frames in which it is seen, half of what a knee's turn is smoothed
# over, the time in which a foot that stood lower than in the source comes up again; and switches.
GAP, L1, L2, L3, L4, LIFTING, SLOPE, SEEN, CALM, DOWN, SMOOTH, FLAT, SHIFTS = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
N_SPANS = 13

# Entries of `amounts`.
FLOOR, NEAR, DAMPING, SWIVEL, STRETCH, HOVERS = 0, 1, 2, 3, 4, 5
N_AMOUNTS = 6

# Columns of `figures` (F, E, 2).
SCALE, RESIDUE = 0, 1

# Steps of the pipeline.
N_STEPS = 10

# Columns of `shifts` (F, N_SHIFTS): what the frame asks of the figure's displacement (sums of a least-squares problem,
# and the way into the reach of all limbs), the displacement, and what it lacks.
MOMENT, RIGHT, INTO, SHIFT, LACK = 0, 6, 9, 12, 15
ASKED = 12
N_SHIFTS = 18
