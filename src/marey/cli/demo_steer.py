"""The demo's third part: a character steered by keys."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from marey.cli.demo_files import Made

# Keys and how many seconds each is held.
KEYS = "w:3 a:4 w:4 d:5"
# The walks of the character and the sampling of its edge: fast to build and good enough to turn.
WALKER = {"speeds": (1.2,), "n_turns": 7, "fps": 30.0, "n_source": 20, "n_target": 80}
# Maximum angle, in degrees, between its heading and the direction of the last key.
OFF_KEY = 20.0


def steer(folder: Path) -> Iterator[Made]:
    """Steer a walker with keys; write the motion and a plot of its path."""
    import math

    from marey.control import FollowDirection, LockedStream, parse_keys, play_keys
    from marey.core.placement import find_facing
    from marey.io import save
    from marey.maths import rigid2d
    from marey.plot.pmg import stream as draw
    from marey.pmg.walker import walker

    presses = parse_keys(KEYS)
    character = walker(**WALKER)  # type: ignore[arg-type]
    # Lock feet without delay; the look-ahead of cleanup would delay the response.
    playing = character.stream(FollowDirection(0.0), clean=False)
    steered = play_keys(LockedStream(playing), presses)
    last = float(find_facing(steered.skeleton, steered.world().positions)[-1])
    wanted = presses[-1].direction or 0.0
    off = abs(math.degrees(float(rigid2d.wrap_angle(last - wanted))))
    save(steered, folder / "steered.bvh")
    result = f"{off:.0f} degrees off the last key"
    yield Made(folder / "steered.bvh", "a walker steered by keys", result, "Blender", off <= OFF_KEY)
    asked = [(press.start, press.direction) for press in presses if press.direction is not None]
    draw(steered, folder / "steered.png", transitions=tuple(playing.transitions), directions=asked)
    yield Made(folder / "steered.png", "its path and the requested directions", "", "any image viewer")
    click.echo(
        f"Steered a walker with keys ({KEYS}, seconds after each colon) for {steered.duration:.0f} s, with"
        f" {len(playing.transitions)} transitions; at the end it is {off:.0f} degrees off the last key's direction.\n"
    )
