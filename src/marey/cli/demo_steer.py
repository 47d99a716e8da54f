"""The demo's third part: a character that is steered by keys."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from marey.cli.demo_files import Made

# Keys as a script types them, with the seconds for which each is held.
KEYS = "w:3 a:4 w:4 d:5"
# The walks that the character is made of, and how closely its edge is sampled: quick to make, and good enough to turn.
WALKER = {"speeds": (1.2,), "n_turns": 7, "fps": 30.0, "n_source": 20, "n_target": 80}
# Degrees by which it may face away from where the last key points.
OFF_KEY = 20.0


def steer(folder: Path) -> Iterator[Made]:
    """A walker along typed keys: the motion, and its way from above."""
    import math

    from marey.control import FollowDirection, LockedStream, parse_keys, play_keys
    from marey.core.placement import find_facing
    from marey.io import save
    from marey.maths import rigid2d
    from marey.plot.pmg import stream as draw
    from marey.pmg.walker import walker

    presses = parse_keys(KEYS)
    character = walker(**WALKER)  # type: ignore[arg-type]
    # Feet that are held at once do not put off its answers, as cleanup's look ahead would.
    playing = character.stream(FollowDirection(0.0), clean=False)
    steered = play_keys(LockedStream(playing), presses)
    last = float(find_facing(steered.skeleton, steered.world().positions)[-1])
    wanted = presses[-1].direction or 0.0
    off = abs(math.degrees(float(rigid2d.wrap_angle(last - wanted))))
    save(steered, folder / "steered.bvh")
    told = f"{off:.0f} degrees off the last key"
    yield Made(folder / "steered.bvh", "a walker steered by keys", told, "Blender", off <= OFF_KEY)
    asked = [(press.start, press.direction) for press in presses if press.direction is not None]
    draw(steered, folder / "steered.png", transitions=tuple(playing.transitions), directions=asked)
    yield Made(folder / "steered.png", "its way, and what was asked for", "", "any image viewer")
    click.echo(
        f"A walker steered by keys ({KEYS}: seconds of each) for {steered.duration:.0f} s, in"
        f" {len(playing.transitions)} clips; it ends {off:.0f} degrees off where the last key points.\n"
    )
