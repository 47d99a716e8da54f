"""The demo's second part: new motion from clips, by blending, walking a graph, aiming kicks and adding layers."""

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

# Frames up to this far apart, in metres, are joined in the demo's graph, and how far from a path it may walk.
PLACES, OFF_PATH = 0.08, 0.15
# Kicks within this distance of one another, in metres, are found; a new one may miss its target by so much.
KICKS, MISS = 0.07, 0.005
# How far joints may be from the truth of a box carried on a curve, in metres, and a look from its goal, in degrees.
CARRIED, OFF_GOAL = 0.02, 0.05


def blend_clips(folder: Path, clips: dict[str, Motion]) -> Iterator[Made]:
    """A jog, halfway between the walk and the run."""
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
        f"A walk at {speeds[0]:.2f} m/s and a run at {speeds[1]:.2f} m/s, {reg.distance:.2f} m apart in step, blended"
        f" half and half: {speeds[2]:.2f} m/s, planted feet slide by {1000 * (slide or 0.0):.2g} mm/s.\n"
    )
    save(jog, folder / "jog.bvh")
    between = min(speeds[:2]) < speeds[2] < max(speeds[:2])
    yield Made(folder / "jog.bvh", "halfway from the walk to the run", f"{speeds[2]:.2f} m/s", "Blender", between)
    filmstrip(jog, folder / "jog.png")
    yield Made(folder / "jog.png", "filmstrip of the jog", "", "any image viewer")
    foot_heights(reg.motions, jog, folder / "jog_feet.png", registration=reg)
    yield Made(folder / "jog_feet.png", "feet of walk, run and jog", "", "any image viewer")


def walk_graph(folder: Path, clips: dict[str, Motion]) -> Iterator[Made]:
    """A motion graph of walks, and a walk along a path that none of them goes."""
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
        f"{len(walks)} walks, joined",
        f"{graph.n_transitions} transitions",
        "marey graph info graph.npz",
    )
    z = np.linspace(0.0, 14.0, 200)
    found = graph.follow(np.stack([1.5 * np.sin(z / 14.0 * 2.0 * np.pi), z], axis=1))
    save(found.walk.motion(name="along"), folder / "along.bvh")
    centimetres = 100.0 * found.mean_distance
    click.echo(
        f"{graph.n_transitions} places to go over from one of {len(walks)} walks to another; along a curve that none of"
        f" them goes, for {len(found.walk) / graph.fps:.1f} s, {centimetres:.1f} cm from it in the mean.\n"
    )
    told = f"{centimetres:.1f} cm from the path"
    yield Made(folder / "along.bvh", "a walk along a new path", told, "Blender", found.mean_distance <= OFF_PATH)
    followed(found, folder / "along.png")
    yield Made(folder / "along.png", "the path and the way gone", "", "any image viewer")


def find_kicks(folder: Path) -> Iterator[Made]:
    """All kicks in long takes from one example, and three new ones that hit where they are told to."""
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
    yield Made(folder / "web.npz", "two long takes, compared", f"{web.nbytes / 1e6:.1f} MB", "marey find info web.npz")
    kicks = [(clip.name, label) for clip in clips for label in clip.labels if label.name == "kick"]
    name, one = kicks[0]
    found = web.search(name, one.start, one.stop, KICKS)
    right = [any(_same(match, where, label) for where, label in kicks) for match in found]
    told = f"{sum(right)} of {len(kicks)} kicks, {len(found) - sum(right)} others"
    matches(found, folder / "found.png", most=8)
    yield Made(folder / "found.png", "a kick, and what is like it", told, "any image viewer", sum(right) == len(kicks))
    space = ParametricMotion.build(found, position("right_ball"))
    space.save(folder / "kicks.npz")
    yield Made(folder / "kicks.npz", "kicks to anywhere between", f"{len(space.samples)} samples",
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
        f"From one kick, {told} found in {seconds:.0f} s of long takes; three new ones hit targets that nobody kicked"
        f" at, {told_size(max(misses), 'm')} off at most.\n"
    )
    aimed(space, targets, folder / "aimed.png", refine=True)
    yield Made(folder / "aimed.png", "the three with their targets", "", "any image viewer")
    reachable(space, folder / "reach.png", targets=targets, refine=True)
    yield Made(folder / "reach.png", "where kicks can be aimed", "", "any image viewer")


def _kick_targets(space: ParametricMotion) -> list[Floats]:
    """Three places one above the other, nearly straight ahead, that kicks can reach."""
    import numpy as np

    low, high = space.parameters.min(axis=0), space.parameters.max(axis=0)
    middle = space.parameters.mean(axis=0)
    targets = []
    for share in (0.25, 0.5, 0.75):
        wanted = [middle[0], low[1] + share * (high[1] - low[1]), middle[2]]
        # Half a step of the way from a sample: it can be reached, and was not sampled.
        near = space.samples[int(np.argmin(np.linalg.norm(space.samples - wanted, axis=1)))]
        away = float(np.linalg.norm((wanted - near) / space.scale))
        targets.append(near + (wanted - near) * min(0.5 / max(away, 1e-9), 1.0))
    return targets


def add_layers(folder: Path, left: Motion, settings: dict[str, Any]) -> Iterator[Made]:
    """A box carried on a curve, from a walk on the curve and a box carried straight on; and a look to the side.

    left : the walk. settings : of the sample that it is.
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
    yield Made(folder / "carry.bvh", "a box, carried on a curve", f"{100 * off:.1f} cm off the truth", "Blender",
               off <= CARRIED)  # fmt: skip
    filmstrip(both, folder / "carry.png")
    yield Made(folder / "carry.png", "the same, drawn", "", "any image viewer")
    track = GazeMap.default().trace(both, [(1.0, math.radians(60.0), math.radians(10.0))])
    miss = math.degrees(track.misses()[-1])  # by then it has settled
    save(track.motion, folder / "look.bvh")
    yield Made(folder / "look.bvh", "the same, looking to the left", f"{miss:.3f} degrees off", "Blender",
               miss <= OFF_GOAL)  # fmt: skip
    gaze_track(track, folder / "look.png")
    yield Made(folder / "look.png", "the look, and how it settles", "", "any image viewer")
    click.echo(
        f"A box carried straight on, spliced onto a walk on a curve: {100 * off:.1f} cm from how that is done; then it"
        f" looks to the left, {miss:.3f} degrees off.\n"
    )


def _same(match: Match, where: str, label: Label) -> bool:
    """Whether a match and a labelled stretch share most of their frames."""
    shared = min(match.stop, label.stop) - max(match.start, label.start)
    return match.clip == where and shared > 0.7 * max(len(match), label.stop - label.start)
