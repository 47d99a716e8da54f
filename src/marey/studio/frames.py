"""Pack binary messages with the frames that the page draws.

A message starts with a 16-byte little-endian header: uint8 version, uint8 kind, uint16 number of joints J, uint32 id,
uint32 first frame, uint32 number of frames N. Then follow N x J x 3 float32 world positions in meters and N x J x 4
float32 world rotations. Quaternions are x y z w here, as in WebGL libraries; everywhere else in marey they are w x y z.

Kind 1 answers the command `frames`, or comes just before the reply to a command that changes a motion, with the
motion's first frames; the id is the command's. Kind 2 is a live frame; the id is the stream's number, and
frames count from 0. After its rotations come a float64, the time it was sent in seconds since 1970, and optional JSON
(UTF-8) up to the end of the message, with additional information about this frame.
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
# Maximum number of joints that fits the header's uint16.
MAX_JOINTS = 65_535


def pack_frames(
    positions: NDArray[Any], rotations: NDArray[Any], *, number: int, first: int, kind: int = MOTION
) -> bytes:
    """Pack N frames into one message: positions (N, J, 3), rotations (N, J, 4) wxyz. `first` is the
    index of the first frame, and `number` the id: of the command, or of the stream if `kind` is `LIVE`."""
    n_frames, n_joints = positions.shape[:2]
    header = HEADER.pack(VERSION, kind, n_joints, number, first, n_frames)
    xyzw = rotations[..., [1, 2, 3, 0]]
    return b"".join((header, positions.astype("<f4").tobytes(), xyzw.astype("<f4").tobytes()))


def pack_live(
    positions: NDArray[Any],
    rotations: NDArray[Any],
    *,
    stream: int,
    frame: int,
    sent: float,
    info: Mapping[str, Any] | None = None,
) -> bytes:
    """Pack one live frame: positions (J, 3), rotations (J, 4) wxyz, `sent` in seconds since 1970."""
    block = pack_frames(positions[None], rotations[None], number=stream, first=frame, kind=LIVE)
    return block + _SENT.pack(sent) + (b"" if not info else json.dumps(info).encode())
