"""`marey steer`: steer a character made of clips, by motion matching or another kind of live player."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from marey.cli.derived_options import SettingsCommand, add_settings, read_settings
from marey.cli.graph_params import ActionFile, Weight
from marey.cli.shared_options import clip_set_options, open_clip_set, read_motion
from marey.cli.steering import Schedule, check_steered, steering_options, write_steered
from marey.cli.values import NumberList
from marey.errors import plural

if TYPE_CHECKING:
    from marey.control import OneShot

_TIMES = NumberList("increasing times of at least 0 seconds", "0.3,0.6,0.9", minimum=0.0, name="seconds,...")


@click.command("steer", cls=SettingsCommand)
@click.option(
    "--controller", type=click.Choice(["matching", "tree", "moves", "fat"]), default="matching", show_default=True,
    help="Motion matching; a blend tree of strides; a move tree; or a fat graph. All but motion matching are for walks "
    "on curves to both sides.",
)  # fmt: skip
@steering_options("label", "action")
@click.option(
    "--path-times", type=_TIMES, help="Times ahead at which the future path is compared.  [default: 0.2,0.4,0.6,0.8]"
)
@click.option("--weight", "weights", type=Weight(), multiple=True,
              help="Weight of features: path, facing, feet, feet_speed or hips_speed. May be repeated.")  # fmt: skip
@click.option(
    "--action", "actions", type=ActionFile(), multiple=True,
    help="A motion that the blend tree can play once over its strides, for commands such as 5:action=throw: of the "
    "whole body, of the upper body (NAME=FILE:upper), or of joints (NAME=FILE:LeftArm,RightArm). With :hold it keeps "
    "its last pose. May be repeated.",
)  # fmt: skip
@add_settings("marey.control.settings:MatchingSettings")
@add_settings("marey.control.settings:BlendTreeSettings")
@clip_set_options
def command(files: tuple[str, ...], controller: str, **options: Any) -> None:
    """Steer a character made of clips with keys or timed commands, as a game would.

    A command is SECONDS:direction=DEGREES (to the left of +Z), SECONDS:speed=METERS_PER_SECOND or, for a blend tree,
    SECONDS:action=NAME. `marey graph steer` and `marey pmg steer` steer other kinds of characters.

    \b
    Example:
      marey steer walks/ -o out.bvh --command 5:direction=90 --command 10:speed=0.8
      marey steer walks/ -o out.bvh --keys "w:3 a:4 wd:2" --look --carry box.bvh
      marey steer walks/ -o out.bvh --mirrored --controller tree --steer 0.3 --feet lock
      marey steer walks/ -o crowd.glb --keys "w:4" --crowd 9 --member speed=0.8 --member speed=1.2
      marey steer walks/ -o out.bvh --controller tree --action throw=throw.bvh:upper --command 5:action=throw
    """
    from marey.clean import ensure_contacts
    from marey.control import (
        BlendTree,
        BlendTreeSettings,
        BlendTreeStream,
        MatchingData,
        MatchingSettings,
        MotionMatching,
    )
    from marey.control.baselines import baseline_streams

    if any(name == "label" for _, name, _ in options["command"]):
        raise click.UsageError("--command takes direction, speed and action; labels are for `marey graph steer`")
    if controller != "tree" and (options["actions"] or any(name == "action" for _, name, _ in options["command"])):
        raise click.UsageError("actions are played by a blend tree; add --controller tree")
    check_steered(options)
    timing = Schedule(options)
    matching, tree = (read_settings(kind, dict(options)) for kind in (MatchingSettings, BlendTreeSettings))
    matching, tree = (type(each)(settings=each, feet=_choose_feet(each.feet)) for each in (matching, tree))
    clips = open_clip_set(files, options, options["output"])
    motions = [ensure_contacts(clips.motion(k)) for k in range(len(clips.names))]

    def make(command: dict[str, Any]) -> Any:
        if controller == "matching":
            return MotionMatching(model, settings=matching, **command)
        if controller == "tree":
            return BlendTreeStream(model, settings=tree, **command)
        stream = model()
        stream.request(**command)
        return stream

    model: Any
    if controller == "matching":
        times = {} if options["path_times"] is None else {"path_times": options["path_times"]}
        model = MatchingData.build(motions, weights=dict(options["weights"]), **times)
    elif controller == "tree":
        acts = {name: _read_action(file, words) for name, file, words in options["actions"]}
        model = BlendTree.from_walks(motions, actions=acts)
    else:
        kind = {"moves": "move tree", "fat": "fat graph"}[controller]
        model = baseline_streams(motions, kinds=(kind,), feet=matching.feet)[kind]
    click.echo(write_steered(make, timing, options, f" from {plural(len(motions), 'clip')}"))


def _choose_feet(feet: Any) -> Any:
    """Return how to handle feet in a recording."""
    return "clean" if feet == "auto" else feet


def _read_action(file: str, words: tuple[str, ...]) -> OneShot:
    """Read the motion of an action; `words` are upper, hold, or names of joints."""
    from marey.control import OneShot

    joints = [word for word in words if word != "hold"]
    return OneShot(read_motion(file), joints, hold="hold" in words)
