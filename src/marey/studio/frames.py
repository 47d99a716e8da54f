"""Frames as bytes: what the page draws.

One message is a header of 16 bytes, little endian: uint8 version, uint8 kind, uint16 joints J, uint32 id, uint32 first
frame, uint32 number of frames N; then N x J x 3 float32 positions in the world, metres, and N x J x 4 float32 rotations
in the world. These are x y z w, as WebGL libraries have it: everywhere else in marey it is w x y z.

kind 1 answers `frames`; id is the command's. kind 2 is a live frame; id is the stream's number and the first frame its
own, from 0 on. There, a float64 follows: when it was sent, in seconds since 1970; then JSON (UTF-8) to the end of the
message, with whatever the stream has to tell of this frame; it may be empty.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

VERSION, MOTION, LIVE = 1, 1, 2
HEADER = struct.Struct("<BBHIII")
_SENT = struct.Struct("<d")
# Most joints that the header can count.
MAX_JOINTS = 65_535


def pack_frames(
    positions: NDArray[Any], rotations: NDArray[Any], *, number: int, first: int, kind: int = MOTION
) -> bytes:
    """Positions (N, J, 3) and rotations (N, J, 4), wxyz, as one message."""
    n_frames, n_joints = positions.shape[:2]
    header = HEADER.pack(VERSION, kind, n_joints, number, first, n_frames)
    turned = rotations[..., [1, 2, 3, 0]]
    return b"".join((header, positions.astype("<f4").tobytes(), turned.astype("<f4").tobytes()))


def pack_live(
    positions: NDArray[Any],
    rotations: NDArray[Any],
    *,
    stream: int,
    frame: int,
    sent: float,
    told: Mapping[str, Any] | None = None,
) -> bytes:
    """One live frame: positions (J, 3), rotations (J, 4)."""
    block = pack_frames(positions[None], rotations[None], number=stream, first=frame, kind=LIVE)
    return block + _SENT.pack(sent) + (b"" if not told else json.dumps(told).encode())
