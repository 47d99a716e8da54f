"""Draw the picture of docs/steering.md: python docs/make_steering_images.py [OUTDIR]"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np

from marey.control import FollowDirection
from marey.core import Motion
from marey.plot import pmg
from marey.pmg.walker import walker

# Seconds at which a new direction is asked for, in degrees to the left of +Z, and when it ends.
WISHES = ((0.0, 0.0), (6.0, 90.0), (12.0, 180.0), (18.0, 60.0))
END = 24.0


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    stream = walker().stream(FollowDirection(0.0))
    ends = [time for time, _ in WISHES[1:]] + [END]
    parts = []
    for (time, degrees), end in zip(WISHES, ends, strict=True):
        stream.request(direction=math.radians(degrees))
        parts.append(stream.record(end - time))
    whole = Motion(
        parts[0].skeleton,
        np.concatenate([part.root_positions for part in parts]),
        np.concatenate([part.rotations for part in parts]),
        parts[0].fps,
    )
    asked = [(time, math.radians(degrees)) for time, degrees in WISHES]
    pmg.stream(whole, folder / "steering.png", transitions=tuple(stream.transitions), directions=asked)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "images")
