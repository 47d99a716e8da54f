"""Forward kinematics kernels."""

from __future__ import annotations

from marey.compiled import Floats1D, Floats2D, Floats3D, Ints1D, Out, kernel


@kernel
def forward(
    parents: Ints1D,
    offsets: Floats3D,
    root_positions: Floats2D,
    rotations: Floats3D,
    positions: Out[Floats3D],
    world: Out[Floats3D],
) -> None:
    """Write the world positions and rotations (`world`) of all frames; `offsets` is (1, J, 3) for rigid bones, else (F,
    J, 3)."""
    moving = 1 if offsets.shape[0] > 1 else 0
    for f in range(rotations.shape[0]):
        forward_pose(parents, offsets[f * moving], root_positions[f], rotations[f], positions[f], world[f])


@kernel
def forward_pose(
    parents: Ints1D,
    offsets: Floats2D,
    root_position: Floats1D,
    rotations: Floats2D,
    positions: Out[Floats2D],
    world: Out[Floats2D],
) -> None:
    """Write the world positions and rotations (`world`) of one frame."""
    for k in range(3):
        positions[0, k] = root_position[k]
    for k in range(4):
        world[0, k] = rotations[0, k]
    for j in range(1, parents.shape[0]):
        p = parents[j]
        aw, ax, ay, az = world[p, 0], world[p, 1], world[p, 2], world[p, 3]
        bw, bx, by, bz = rotations[j, 0], rotations[j, 1], rotations[j, 2], rotations[j, 3]
        x, y, z = offsets[j, 0], offsets[j, 1], offsets[j, 2]
        # v + 2 w (a x v) + 2 a x (a x v)
        tx = 2.0 * (ay * z - az * y)
        ty = 2.0 * (az * x - ax * z)
        tz = 2.0 * (ax * y - ay * x)
        positions[j, 0] = positions[p, 0] + x + aw * tx + ay * tz - az * ty
        positions[j, 1] = positions[p, 1] + y + aw * ty + az * tx - ax * tz
        positions[j, 2] = positions[p, 2] + z + aw * tz + ax * ty - ay * tx
        world[j, 0] = aw * bw - ax * bx - ay * by - az * bz
        world[j, 1] = aw * bx + ax * bw + ay * bz - az * by
        world[j, 2] = aw * by - ax * bz + ay * bw + az * bx
        world[j, 3] = aw * bz + ax * by - ay * bx + az * bw
