"""`marey steer`: steer a character made of clips, by motion matching or by a blend tree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from marey.cli.files import check_output, plural
from marey.cli.graph_params import Command, Weight, schedule
from marey.cli.options import clip_set_options, open_clip_set
from marey.cli.settings import SettingsCommand, add_settings, read_settings
from marey.cli.values import NumberList
from marey.io.files import SAVE_SUFFIXES

_TIMES = NumberList("increasing times in seconds", "0.3,0.6,0.9", minimum=0.0, name="seconds,...")


class _Commanded:
    """The frames of a stream, with each command sent just before the frame at its time.

    A player that cleans feet takes frames from its source long before it returns them, so commands that are sent when
    it returns a frame would be late in the recording.
    """

    def __init__(self, stream: Any, send: Callable[[Any, int], None]) -> None:
        self._stream, self._send, self._frame = stream, send, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def next_frame(self) -> Any:
        """Send the commands that are due and return the next frame."""
        self._send(self._stream, self._frame)
        self._frame += 1
        return self._stream.next_frame()


@click.command("steer", cls=SettingsCommand)
@click.option("-o", "--output", required=True, metavar="OUT", help="The motion to write: BVH, FBX, GLB or NPZ.")
@click.option(
    "--controller", type=click.Choice(["matching", "tree"]), default="matching", show_default=True,
    help="Motion matching; or a blend tree of strides, for walks on curves to both sides.",
)  # fmt: skip
@click.option("--seconds", type=float, default=20.0, show_default=True, help="Length in seconds.")
@click.option("--command", type=Command(), multiple=True, help="A timed command; see the examples. May be repeated.")
@click.option(
    "--path-times", type=_TIMES, help="Times ahead at which the future path is compared.  [default: 0.2,0.4,0.6,0.8]"
)
@click.option("--weight", "weights", type=Weight(), multiple=True,
              help="Weight of features: path, facing, feet, feet_speed or hips_speed. May be repeated.")  # fmt: skip
@add_settings("marey.control.settings:MatchingSettings")
@add_settings("marey.control.settings:BlendTreeSettings")
@clip_set_options
def command(files: tuple[str, ...], output: str, controller: str, seconds: float, **options: Any) -> None:
    """Steer a character made of clips with timed commands, as a game would.

    A command is SECONDS:direction=DEGREES (to the left of +Z) or SECONDS:speed=METERS_PER_SECOND. `marey graph steer`
    and `marey pmg` steer other kinds of characters.

    \b
    Example:
      marey steer walks/ -o out.bvh --command 5:direction=90 --command 10:speed=0.8
      marey steer walks/ -o out.bvh --mirrored --controller tree --steer 0.3 --feet lock
    """
    from marey.clean import ensure_contacts
    from marey.control import (
        BlendTree,
        BlendTreeSettings,
        BlendTreeStream,
        MatchingData,
        MatchingSettings,
        MotionMatching,
        record,
    )
    from marey.graph.settings import count_frames
    from marey.io import save

    if any(name == "label" for _, name, _ in options["command"]):
        raise click.UsageError("--command takes direction and speed; labels are for `marey graph steer`")
    check_output(output, what="a motion", suffixes=SAVE_SUFFIXES)
    matching, tree = (read_settings(kind, dict(options)) for kind in (MatchingSettings, BlendTreeSettings))
    clips = open_clip_set(files, options, output)
    motions = [ensure_contacts(clips.motion(k)) for k in range(len(clips.names))]
    initial, send = schedule(options["command"], seconds)
    stream: Any
    if controller == "matching":
        times = {} if options["path_times"] is None else {"path_times": options["path_times"]}
        data = MatchingData.build(motions, weights=dict(options["weights"]), **times)
        stream = MotionMatching(data, settings=matching, **initial)
    else:
        stream = BlendTreeStream(BlendTree.from_walks(motions), settings=tree, **initial)
    n_frames = count_frames(seconds, stream.fps)
    stream.player.source = _Commanded(stream, send)
    motion = record(stream, n_frames)
    save(motion, output)
    click.echo(f"wrote {output}: {motion.duration:.1f} s from {plural(len(motions), 'clip')}")
