"""The demo's second part: new motion by blending, walking a graph, aiming kicks and adding layers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from marey.cli.demo_files import Made

if TYPE_CHECKING:
    from marey.core import Label, Motion
    from marey.core.arrays import Floats
    from marey.find.found import Match
    from marey.parametric import ParametricMotion

# Threshold of the demo's graph, and the maximum mean distance from the path, in meters.
PLACES, OFF_PATH = 0.08, 0.15
# Threshold of the search for kicks, and the maximum distance of a new kick from its target, in meters.
KICKS, MISS = 0.07, 0.005
# Maximum error of the spliced joints, in meters, and of the gaze, in degrees.
CARRIED, OFF_GOAL = 0.02, 0.05


def blend_clips(folder: Path, clips: dict[str, Motion]) -> Iterator[Made]:
    """Blend the walk and the run to a jog."""
    from marey.blend import blend
    from marey.io import save
    from marey.measure import measure
    from marey.plot import filmstrip
    from marey.plot.registration import foot_heights
    from marey.register import register

    reg = register([clips["walk"], clips["run"]])
    jog = blend(reg, [0.5, 0.5], name="jog")
    speeds = [float(measure(motion)["speed_mean"].value or 0.0) for motion in (*reg.motions, jog)]
    slide = measure(jog)["slide_contact"].value
    click.echo(
        f"Blended a walk at {speeds[0]:.2f} m/s and a run at {speeds[1]:.2f} m/s with equal weights (distance after"
        f" registration {reg.distance:.2f} m): the result moves at {speeds[2]:.2f} m/s, planted feet slide at"
        f" {1000 * (slide or 0.0):.2g} mm/s.\n"
    )
    save(jog, folder / "jog.bvh")
    between = min(speeds[:2]) < speeds[2] < max(speeds[:2])
    yield Made(folder / "jog.bvh", "halfway between walk and run", f"{speeds[2]:.2f} m/s", "Blender", between)
    filmstrip(jog, folder / "jog.png")
    yield Made(folder / "jog.png", "filmstrip of the jog", "", "any image viewer")
    foot_heights(reg.motions, jog, folder / "jog_feet.png", registration=reg)
    yield Made(folder / "jog_feet.png", "feet of walk, run and jog", "", "any image viewer")


def walk_graph(folder: Path, clips: dict[str, Motion]) -> Iterator[Made]:
    """Build a motion graph of walks, and walk along a new path."""
    import numpy as np

    from marey.graph import MotionGraph
    from marey.io import save
    from marey.plot.graph import followed
    from marey.samples import sample

    walks = [clips[name] for name in ("walk", "walk_left", "walk_right")]
    walks += [sample("walk", rng=k, seconds=8.0, turn_rate=turn).motion for k, turn in enumerate((0.0, 0.9, -0.9), 1)]
    graph = MotionGraph.build(walks, PLACES, fps=30.0)
    graph.save(folder / "graph.npz")
    yield Made(
        folder / "graph.npz",
        f"motion graph of {len(walks)} walks",
        f"{graph.n_transitions} transitions",
        "marey graph info graph.npz",
    )
    z = np.linspace(0.0, 14.0, 200)
    found = graph.follow(np.stack([1.5 * np.sin(z / 14.0 * 2.0 * np.pi), z], axis=1))
    save(found.walk.motion(name="along"), folder / "along.bvh")
    centimeters = 100.0 * found.mean_distance
    click.echo(
        f"Built a motion graph of {len(walks)} walks with {graph.n_transitions} transitions and followed a path for"
        f" {len(found.walk) / graph.fps:.1f} s with a mean distance of {centimeters:.1f} cm.\n"
    )
    accuracy = f"{centimeters:.1f} cm from the path"
    yield Made(folder / "along.bvh", "a walk along a new path", accuracy, "Blender", found.mean_distance <= OFF_PATH)
    followed(found, folder / "along.png")
    yield Made(folder / "along.png", "the requested and the walked path", "", "any image viewer")


def find_kicks(folder: Path) -> Iterator[Made]:
    """Find all kicks in long takes from one example, and make three new ones that hit given targets."""
    from dataclasses import replace

    from marey.find import MatchWeb
    from marey.io import save
    from marey.parametric import ParametricMotion, position
    from marey.plot.find import matches
    from marey.plot.parametric import aimed, reachable, told_size
    from marey.samples import sample

    takes = [sample("medley", rng=k, fps=30.0, kicks=6, punches=2, reaches=2) for k in range(2)]
    clips = [replace(take.motion, name=f"take{k}") for k, take in enumerate(takes, 1)]
    web = MatchWeb.build(clips)
    web.save(folder / "web.npz")
    yield Made(
        folder / "web.npz", "match web of two long takes", f"{web.nbytes / 1e6:.1f} MB", "marey find info web.npz"
    )
    kicks = [(clip.name, label) for clip in clips for label in clip.labels if label.name == "kick"]
    name, one = kicks[0]
    found = web.search(name, one.start, one.stop, KICKS)
    right = [any(_same(match, where, label) for where, label in kicks) for match in found]
    result = f"{sum(right)} of {len(kicks)} kicks, {len(found) - sum(right)} false matches"
    matches(found, folder / "found.png", most=8)
    yield Made(folder / "found.png", "a kick and its matches", result, "any image viewer", sum(right) == len(kicks))
    space = ParametricMotion.build(found, position("right_ball"))
    space.save(folder / "kicks.npz")
    yield Made(folder / "kicks.npz", "parametric space of kicks", f"{len(space.samples)} samples",
               "marey parametric range kicks.npz")  # fmt: skip
    targets = _kick_targets(space)
    misses = []
    for k, target in enumerate(targets, 1):
        path = folder / f"aimed_{k}.bvh"
        save(space(target, refine=True, name=f"aimed_{k}"), path)
        misses.append(space.error(target, refine=True).distances()["m"])
        yield Made(path, f"a new kick, {target[1]:.2f} m high", f"{told_size(misses[-1], 'm')} off", "Blender",
                   misses[-1] <= MISS)  # fmt: skip
    seconds = sum(len(clip) for clip in clips) / web.fps
    click.echo(
        f"Searched {seconds:.0f} s of long takes for one kick: found {result}. Three new kicks miss their targets by at"
        f" most {told_size(max(misses), 'm')}.\n"
    )
    aimed(space, targets, folder / "aimed.png", refine=True)
    yield Made(folder / "aimed.png", "the new kicks with their targets", "", "any image viewer")
    reachable(space, folder / "reach.png", targets=targets, refine=True)
    yield Made(folder / "reach.png", "reachable targets", "", "any image viewer")


def _kick_targets(space: ParametricMotion) -> list[Floats]:
    """Choose three reachable targets above each other, nearly straight ahead."""
    import numpy as np

    low, high = space.parameters.min(axis=0), space.parameters.max(axis=0)
    middle = space.parameters.mean(axis=0)
    targets = []
    for fraction in (0.25, 0.5, 0.75):
        wanted = [middle[0], low[1] + fraction * (high[1] - low[1]), middle[2]]
        # Half a step away from a sample: reachable, but not sampled.
        near = space.samples[int(np.argmin(np.linalg.norm(space.samples - wanted, axis=1)))]
        away = float(np.linalg.norm((wanted - near) / space.scale))
        targets.append(near + (wanted - near) * min(0.5 / max(away, 1e-9), 1.0))
    return targets


def add_layers(folder: Path, left: Motion, settings: dict[str, Any]) -> Iterator[Made]:
    """Splice a carried box onto a walk on a curve, and add a look to the left.

    left : the walk. settings : the parameters of its sample.
    """
    import math

    import numpy as np

    from marey.io import save
    from marey.layer import GazeMap, splice
    from marey.plot import filmstrip
    from marey.plot.gaze import gaze_track
    from marey.samples import sample

    both = splice(left, sample("carry_box", seconds=4.0).motion)
    truth = sample("carry_box", **settings).motion
    off = float(np.linalg.norm(both.world().positions - truth.world().positions[: len(both)], axis=-1).mean())
    save(both, folder / "carry.bvh")
    yield Made(folder / "carry.bvh", "a box carried on a curve", f"error {100 * off:.1f} cm", "Blender",
               off <= CARRIED)  # fmt: skip
    filmstrip(both, folder / "carry.png")
    yield Made(folder / "carry.png", "filmstrip of the same", "", "any image viewer")
    track = GazeMap.default().trace(both, [(1.0, math.radians(60.0), math.radians(10.0))])
    miss = math.degrees(track.misses()[-1])  # the look has settled by then
    save(track.motion, folder / "look.bvh")
    yield Made(folder / "look.bvh", "the same, looking to the left", f"{miss:.3f} degrees off", "Blender",
               miss <= OFF_GOAL)  # fmt: skip
    gaze_track(track, folder / "look.png")
    yield Made(folder / "look.png", "gaze angles over time", "", "any image viewer")
    click.echo(
        f"Spliced a carried box onto a walk on a curve: mean error {100 * off:.1f} cm. Added a look to the left:"
        f" {miss:.3f} degrees off the goal.\n"
    )


def _same(match: Match, where: str, label: Label) -> bool:
    """Return whether a match and a label share most of their frames."""
    shared = min(match.stop, label.stop) - max(match.start, label.start)
    return match.clip == where and shared > 0.7 * max(len(match), label.stop - label.start)
