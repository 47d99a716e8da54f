"""Find joints that may jitter: a fast test that rules out all joints of most clips.

A separate module because kernels are compiled file by file.
"""

from __future__ import annotations

from marey.compiled import Bools1D, Floats3D, Ints1D, Out, kernel


@kernel
def find_shaky_joints(
    positions: Floats3D, joints: Ints1D, starts: Ints1D, length: int, limit: float, found: Out[Bools1D]
) -> None:
    """Set `found` (n,) for joints (n,) whose fourth differences have a median length above the root of `limit`.

    positions : (F, J, 3) meters. starts, length : first frames and number of frames of the windows that are measured.
    """
    middle = len(starts) * (length - 4) // 2
    for k in range(len(joints)):
        j, below = joints[k], 0
        for w in range(len(starts)):
            for f in range(starts[w], starts[w] + length - 4):
                square = 0.0
                for c in range(3):
                    inner = positions[f + 1, j, c] + positions[f + 3, j, c]
                    outer = positions[f, j, c] + positions[f + 4, j, c]
                    bend = outer - 4.0 * inner + 6.0 * positions[f + 2, j, c]
                    square += bend * bend
                if square <= limit:
                    below += 1
            if below > middle:
                break
        found[k] = below <= middle
