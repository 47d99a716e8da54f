"""Helpers that `marey steer` and `marey pmg steer` share: keys, timed commands, gaze, carried objects and crowds."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from marey.cli.files import check_crowd, check_output, save_crowd
from marey.cli.graph_params import TimedCommand, schedule
from marey.cli.shared_options import read_motion
from marey.cli.values import Finite
from marey.errors import format_list, plural
from marey.io.files import SAVE_SUFFIXES

if TYPE_CHECKING:
    from marey.core import Motion
    from marey.play import PlayedStream

# Length in seconds of the recording to which an upper body is aligned, and default length of a motion without keys.
_BASE_SECONDS, _SECONDS = 6.0, 20.0
# Degrees from the last requested direction that are reported.
_ASTRAY = 45.0

Maker = Callable[[dict[str, Any]], "PlayedStream"]
"""Function from the first command to a stream, with feet handled as the options request."""


def steering_options(*commands: str) -> Callable[[Any], Any]:
    """Return a decorator that adds the options of all steered characters.

    commands : names of commands of --command whose value is text.
    """
    own = "the keys or the sequence" if "node" in commands else "the keys"
    options = [
        click.option("-o", "--output", required=True, metavar="OUT",
                     help="The motion to write: BVH, FBX, GLB or NPZ. With --crowd, a folder or one GLB file."),
        click.option("--keys", metavar="TEXT",
                     help='Keys and seconds: "w:3 a:4" walks ahead for 3 s, then to the left for 4 s. Also s, d, two '
                     "keys together (wa), and - for no key: the character stops if it can."),
        click.option("--command", type=TimedCommand(*commands), multiple=True,
                     help="A timed command; see the examples. May be repeated."),
        click.option("--seconds", type=Finite(min=0.1),
                     help=f"Length in seconds.  [default: that of {own}, else 20]"),
        click.option("--look", is_flag=True, help="The head turns toward a new direction before the body does."),
        click.option("--carry", metavar="CLIP",
                     help="A clip from which to take the arms and the trunk, such as carrying a box."),
        click.option("--crowd", type=click.IntRange(2, 1000), metavar="N", help="Number of characters, side by side."),
        click.option("--member", multiple=True, metavar="NAME=VALUE,...",
                     help="With --crowd: commands of a member, such as speed=0.8 or node=run. May be repeated; "
                     "characters use them in turn."),
        click.option("--apart", type=Finite(min=0.0), default=1.5, show_default=True,
                     help="With --crowd: distance between neighbors at the start, in meters."),
        click.option("--avoid", type=Finite(min=0.0), default=1.0, show_default=True,
                     help="With --crowd: distance in meters at which members start to avoid those in front of them; 0 "
                     "turns this off."),
    ]  # fmt: skip

    def add(function: Any) -> Any:
        for option in reversed(options):
            function = option(function)
        return function

    return add


class Schedule:
    """The requests of a steered character over time, from keys or timed commands.

    seconds : length of the motion. initial : command before the first frame.
    last_direction : direction of the last keys in radians; None without keys, or if no key is held at the end.
    """

    def __init__(self, options: dict[str, Any], seconds: float | None = None) -> None:
        from marey.control import parse_keys

        keys, commands = options["keys"], options["command"]
        if keys is not None and commands:
            raise click.UsageError("give either --keys or --command")
        self._presses = () if keys is None else parse_keys(keys)
        self._commands = commands
        own = self._presses[-1].stop if self._presses else seconds
        self.seconds: float = options["seconds"] or own or _SECONDS
        self.initial = schedule(commands, self.seconds)[0]
        begun = [each.direction for each in self._presses if each.start < self.seconds]
        self.last_direction = begun[-1] if begun else None
        # Whether a key was released although the character cannot stop.
        self.goes_on = False

    def make_sender(self, stream: Any) -> Callable[[Any, int], None]:
        """Return a new function ``send(receiver, frame)`` that sends the requests that are due at a frame."""
        from marey.control.keys import can_stop, schedule_keys

        if self._presses:
            self.goes_on = any(each.direction is None for each in self._presses) and not can_stop(stream)
            return schedule_keys(stream, self._presses)
        return schedule(self._commands, self.seconds)[1]


class _CommandedSource:
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


class _Observers:
    """Forwards commands to a stream's layers when the frames they affect are returned."""

    def __init__(self, layers: Sequence[Any], fps: float) -> None:
        self._layers, self.fps = layers, fps

    def request(self, **command: Any) -> None:
        for layer in self._layers:
            own = {name: value for name, value in command.items() if name in layer.observed_commands}
            if own:
                layer.request(**own)


class _ReplayedSource:
    """The recorded frames of a stream."""

    def __init__(self, stream: Any, frames: Sequence[Any]) -> None:
        self._stream, self._frames = stream, iter(frames)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def next_frame(self) -> Any:
        """Return the next frame."""
        return next(self._frames)


def record_steered(
    make: Maker, timing: Schedule, options: dict[str, Any], stream: Any, frames: Sequence[Any] | None = None
) -> Motion:
    """Record one character.

    frames : for a member of a crowd, the frames that it played together with the others.
    """
    from marey.control import LayeredStream, record
    from marey.graph.settings import count_frames

    layers = list(_make_layers(make, options))
    n_frames = count_frames(timing.seconds, stream.fps)
    commanded = _CommandedSource(stream, timing.make_sender(stream))
    stream.player.source = commanded if frames is None else _ReplayedSource(stream, frames)
    if not layers:
        return record(stream, n_frames)
    layered, send, observers = LayeredStream(stream, layers), timing.make_sender(stream), _Observers(layers, stream.fps)
    if options["carry"] is not None:
        layers[0].request(upper=layers[0].clips.clips[1].name)
    return record(layered, n_frames, lambda _, frame, before: send(observers, frame))


def _make_layers(make: Maker, options: dict[str, Any]) -> Iterator[Any]:
    from marey.control import GazeLayer, SpliceLayer

    if options["carry"] is not None:
        from marey.clean import ensure_contacts
        from marey.edit import resample, share_skeleton
        from marey.layer import SpliceSet

        base = make({}).record(_BASE_SECONDS)
        clip = ensure_contacts(read_motion(options["carry"]))
        base, clip = share_skeleton((base, clip), base)
        yield SpliceLayer(SpliceSet.build([base, resample(clip, base.fps)]))
    if options["look"]:
        yield GazeLayer(cue=True)


def check_steered(options: dict[str, Any]) -> None:
    """Raise an error if the output cannot be written."""
    if options["crowd"] is None:
        if options["member"]:
            raise click.UsageError("--member needs --crowd")
        check_output(options["output"], suffixes=SAVE_SUFFIXES)
    else:
        check_crowd(options["output"])


def write_steered(make: Maker, timing: Schedule, options: dict[str, Any], origin: str = "") -> str:
    """Record one character or a crowd, write it, and return a report about it.

    origin : what it was made from, such as " from 5 clips", for the sentence.
    """
    from marey.io import save

    output, n = options["output"], options["crowd"]
    if n is None:
        stream = make(timing.initial)
        motion = record_steered(make, timing, options, stream)
        save(motion, output)
        return (
            f"wrote {output}: {motion.duration:.1f} s at {motion.fps:g} Hz{origin}"
            f"{_describe_stops(timing)}{_describe_heading(motion, timing)}{_describe_released([stream], len(motion))}"
        )
    motions, streams = _record_crowd(make, timing, options, n)
    save_crowd(motions, output)
    nearest = 100.0 * find_nearest(motions)
    return (
        f"wrote {output}: {plural(n, 'character')}{origin} for {timing.seconds:g} s at {motions[0].fps:g} Hz, "
        f"at least {nearest:.0f} cm apart{_describe_stops(timing)}{_describe_released(streams, len(motions[0]))}"
    )


def _describe_stops(timing: Schedule) -> str:
    return "; this character cannot stop, so it went on while no key was held" if timing.goes_on else ""


def _describe_released(streams: Sequence[PlayedStream], n_frames: int) -> str:
    """Return a line about the plants that the players released in `n_frames` frames, or "" if there are none."""
    found = [
        f"{each.point.replace('_', ' ')} at {each.stop / stream.fps:.1f} s"
        for stream in streams
        for each in stream.player.released
        if each.stop < n_frames
    ]
    if not found:
        return ""
    return (
        f"\n  released {plural(len(found), 'plant')} that the motion moves too far away from: {format_list(found, 8)}"
    )


def _describe_heading(motion: Motion, timing: Schedule) -> str:
    from marey.core.placement import find_placement
    from marey.maths.rigid2d import wrap_angle

    if timing.last_direction is None:
        return ""
    off = abs(math.degrees(wrap_angle(find_placement(motion, len(motion) - 1)[0] - timing.last_direction)))
    return f"; at the end, it faces {off:.0f} degrees away from the requested direction" if off > _ASTRAY else ""


def _record_crowd(make: Maker, timing: Schedule, options: dict[str, Any], n: int) -> tuple[list[Motion], list[Any]]:
    """Record a crowd of n characters that avoid each other; also return their streams."""
    from marey.control.crowd import record_sources
    from marey.graph.settings import count_frames

    members = [read_member(each) for each in options["member"]] or [{}]
    first = [{**timing.initial, **members[k % len(members)]} for k in range(n)]
    streams: list[Any] = [make(each) for each in first]
    rows = [divmod(k, math.isqrt(n - 1) + 1) for k in range(n)]
    places = [(0.0, -options["apart"] * column, -options["apart"] * row) for row, column in rows]
    n_frames = count_frames(timing.seconds, streams[0].fps) + max(stream.delay for stream in streams)
    senders = [timing.make_sender(stream) for stream in streams]
    asked = [None if options.get("sequence") else each.get("direction", 0.0) for each in first]
    played = record_sources(streams, places, n_frames, senders, directions=asked, distance=options["avoid"])
    recorded = (record_steered(make, timing, options, *pair) for pair in zip(streams, played, strict=True))
    moved = (motion.moved(list(place)) for motion, place in zip(recorded, places, strict=True))
    return [replace(motion, name=f"character{k:03}") for k, motion in enumerate(moved)], streams


def read_member(text: str) -> dict[str, Any]:
    """Parse NAME=VALUE,... with degrees for a direction."""
    out: dict[str, Any] = {}
    for word in text.split(","):
        name, equals, value = (part.strip() for part in word.partition("="))
        if not name or not equals or not value:
            raise click.UsageError(f"--member must be NAME=VALUE,... such as speed=0.8, got {text!r}")
        try:
            out[name] = math.radians(float(value)) if name == "direction" else float(value)
        except ValueError:
            out[name] = value
    return out


def find_nearest(motions: Sequence[Motion]) -> float:
    """Return the smallest distance of any two motions at the same time, in meters; infinite for one."""
    import numpy as np

    places = [motion.travel[:, [0, 2]] for motion in motions]
    pairs = itertools.combinations(places, 2)
    return min((float(np.linalg.norm(a - b, axis=1).min()) for a, b in pairs), default=math.inf)
