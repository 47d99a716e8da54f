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
D = 46  # adjustment of the position, beside that of the whole figure and the lift
T = 49  # target of the joint
H = 52  # sum of the hinge's axes up to this frame, in the upper bone's frame
DEPTH = 55  # metres that the lowest point is under the floor
LIFT = 56  # metres by which the source is lifted for that
N_STATE = 57

# Columns of `flags`.
M1, M2 = 0, 1  # the contacts as given
GIVEN1, GIVEN2 = 2, 3  # whether the place of a plant is given: the interval's number from 1
WANTED = 4  # 0, or POSITION or POSE where the joint itself has a target
A1, A2 = 5, 6  # contacts with short gaps closed
F1, F2 = 7, 8  # the same with overlaps where one point takes over from the other
KIND = 9
N_FLAGS = 10

# Kinds of constraint.
FREE, FIRST, SECOND, BOTH, POSE, POSITION = 0, 1, 2, 3, 4, 5

# Supports that are no plane of the list.
LEVEL = -1  # the horizontal plane through the plant
NOWHERE = -2  # in the air, such as a hand on something unknown

# Columns of `limbs` (E, N_LIMB): joints, -1 where there is none.
BASE, MID, END, POINT1, POINT2, SHIFTED, TOE, TIP, IS_FOOT, ON_TOE = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
N_LIMB = 10

# Entries of `spans`, frames: short gaps, the four windows of Kovar 3.2, half of what a lift is smoothed
# over, the decay of a slope, the frames in which it is seen; and switches.
GAP, L1, L2, L3, L4, LIFTING, SLOPE, SEEN, SMOOTH, FLAT, SHIFTS = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
N_SPANS = 11

# Entries of `amounts`.
FLOOR, NEAR, DAMPING, SWIVEL, STRETCH = 0, 1, 2, 3, 4
N_AMOUNTS = 5

# Columns of `figures` (F, E, 2).
SCALE, RESIDUE = 0, 1
