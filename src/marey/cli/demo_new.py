"""The parts of the demo that generate new motion (blend, walk a graph, aim kicks, add layers, steer), and its page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from marey.cli.demo_files import DemoFile

if TYPE_CHECKING:
    from marey.core import Label, Motion
    from marey.core.arrays import Floats
    from marey.find.result import Match
    from marey.parametric import ParametricMotion

# Threshold of the graph, and maximum mean distance of the walk from its path, in meters.
PLACES, OFF_PATH = 0.08, 0.15
# Threshold of the search for kicks, and the maximum distance of a new kick from its target, in meters.
KICKS, MISS = 0.07, 0.005
# Maximum error of the spliced joints, in meters, and of the gaze, in degrees.
CARRIED, OFF_GOAL = 0.02, 0.05


def blend_clips(folder: Path, clips: dict[str, Motion]) -> Iterator[DemoFile]:
    """Blend the walk and the run into a jog."""
    from marey.blend import blend
    from marey.io import save
    from marey.measure import measure
    from marey.measure.display import get_metric_format
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
        f" {get_metric_format('slide_contact', 'm/s').format(slide or 0.0)} mm/s.\n"
    )
    save(jog, folder / "jog.bvh")
    between = min(speeds[:2]) < speeds[2] < max(speeds[:2])
    yield DemoFile(folder / "jog.bvh", "halfway between walk and run", f"{speeds[2]:.2f} m/s", "Blender", between)
    filmstrip(jog, folder / "jog.png")
    yield DemoFile(folder / "jog.png", "filmstrip of the jog", "", "any image viewer")
    foot_heights(reg.motions, jog, folder / "jog_feet.png", registration=reg)
    yield DemoFile(folder / "jog_feet.png", "feet of walk, run and jog", "", "any image viewer")


def walk_graph(folder: Path, clips: dict[str, Motion]) -> Iterator[DemoFile]:
    """Build a motion graph of walks, and walk along a new path."""
    import numpy as np

    from marey.graph import MotionGraph
    from marey.io import save
    from marey.plot.graph import route
    from marey.samples import sample

    walks = [clips[name] for name in ("walk", "walk_left", "walk_right")]
    walks += [sample("walk", rng=k, seconds=8.0, turn_rate=turn).motion for k, turn in enumerate((0.0, 0.9, -0.9), 1)]
    graph = MotionGraph.build(walks, PLACES, fps=30.0)
    graph.save(folder / "graph.npz")
    yield DemoFile(
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
        f" {found.walk.duration:.1f} s with a mean distance of {centimeters:.1f} cm.\n"
    )
    accuracy = f"{centimeters:.1f} cm from the path"
    yield DemoFile(
        folder / "along.bvh", "a walk along a new path", accuracy, "Blender", found.mean_distance <= OFF_PATH
    )
    route(found, folder / "along.png")
    yield DemoFile(folder / "along.png", "the requested and the walked path", "", "any image viewer")


def find_kicks(folder: Path) -> Iterator[DemoFile]:
    """From one example, find all kicks in long takes, and generate three new kicks that hit given targets."""
    from dataclasses import replace

    from marey.find import MatchWeb
    from marey.io import save
    from marey.parametric import ParametricMotion, position
    from marey.plot.find import matches
    from marey.plot.parametric import reachable, size_text, target_motions
    from marey.samples import sample

    takes = [sample("medley", rng=k, fps=30.0, kicks=6, punches=2, reaches=2) for k in range(2)]
    clips = [replace(take.motion, name=f"take{k}") for k, take in enumerate(takes, 1)]
    web = MatchWeb.build(clips)
    web.save(folder / "web.npz")
    yield DemoFile(
        folder / "web.npz", "match web of two long takes", f"{web.nbytes / 1e6:.1f} MB", "marey find info web.npz"
    )
    kicks = [(clip.name, label) for clip in clips for label in clip.labels if label.name == "kick"]
    name, one = kicks[0]
    found = web.search(name, one.start, one.stop, KICKS)
    right = [any(_is_same_action(match, where, label) for where, label in kicks) for match in found]
    result = f"{sum(right)} of {len(kicks)} kicks, {len(found) - sum(right)} false matches"
    matches(found, folder / "found.png", most=8)
    yield DemoFile(folder / "found.png", "a kick and its matches", result, "any image viewer", sum(right) == len(kicks))
    space = ParametricMotion.build(found, position("right_ball"))
    space.save(folder / "kicks.npz")
    yield DemoFile(folder / "kicks.npz", "parametric space of kicks", f"{len(space.samples)} samples",
               "marey parametric range kicks.npz")  # fmt: skip
    targets = _kick_targets(space)
    misses = []
    for k, target in enumerate(targets, 1):
        path = folder / f"aimed_{k}.bvh"
        save(space(target, refine=True, name=f"aimed_{k}"), path)
        misses.append(space.synthesize(target, refine=True).distances()["m"])
        yield DemoFile(path, f"a new kick, {target[1]:.2f} m high", f"{size_text(misses[-1], 'm')} off", "Blender",
                   misses[-1] <= MISS)  # fmt: skip
    seconds = sum(len(clip) for clip in clips) / web.fps
    click.echo(
        f"Searched {seconds:.0f} s of long takes for one kick: found {result}. Three new kicks miss their targets by"
        f" {size_text(max(misses), 'm')} at most.\n"
    )
    target_motions(space, targets, folder / "aimed.png", refine=True)
    yield DemoFile(folder / "aimed.png", "the new kicks with their targets", "", "any image viewer")
    reachable(space, folder / "reach.png", targets=targets, refine=True)
    yield DemoFile(folder / "reach.png", "reachable targets", "", "any image viewer")


def _kick_targets(space: ParametricMotion) -> list[Floats]:
    """Choose three reachable targets, one above the other, nearly straight ahead."""
    import numpy as np

    low, high = space.parameters.min(axis=0), space.parameters.max(axis=0)
    middle = space.parameters.mean(axis=0)
    targets = []
    for fraction in (0.25, 0.5, 0.75):
        wanted = [middle[0], low[1] + fraction * (high[1] - low[1]), middle[2]]
        # Up to half a unit of the scale from a sample: reachable, but not a sample itself.
        near = space.samples[int(np.argmin(np.linalg.norm(space.samples - wanted, axis=1)))]
        away = float(np.linalg.norm((wanted - near) / space.scale))
        targets.append(near + (wanted - near) * min(0.5 / max(away, 1e-9), 1.0))
    return targets


def add_layers(folder: Path, left: Motion, settings: dict[str, Any]) -> Iterator[DemoFile]:
    """Splice the upper body of a person carrying a box onto a walk on a curve, and add a look to the left.

    left : the walk.
    settings : the parameters of the walk's sample, to generate the ground truth.
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
    yield DemoFile(folder / "carry.bvh", "a box carried on a curve", f"error {100 * off:.1f} cm", "Blender",
               off <= CARRIED)  # fmt: skip
    filmstrip(both, folder / "carry.png")
    yield DemoFile(folder / "carry.png", "filmstrip of the same", "", "any image viewer")
    track = GazeMap.default().trace(both, [(1.0, math.radians(60.0), math.radians(10.0))])
    miss = math.degrees(track.misses()[-1])  # the look has settled by then
    save(track.motion, folder / "look.bvh")
    yield DemoFile(folder / "look.bvh", "the same, looking to the left", f"{miss:.3f} degrees off", "Blender",
               miss <= OFF_GOAL)  # fmt: skip
    gaze_track(track, folder / "look.png")
    yield DemoFile(folder / "look.png", "gaze angles over time", "", "any image viewer")
    click.echo(
        f"Spliced a carried box onto a walk on a curve: mean error {100 * off:.1f} cm. Added a look to the left:"
        f" {miss:.3f} degrees off the target.\n"
    )


def _is_same_action(match: Match, where: str, label: Label) -> bool:
    """Return whether a match and a label of the clip `where` share most of their frames."""
    shared = min(match.stop, label.stop) - max(match.start, label.start)
    return match.clip == where and shared > 0.7 * max(len(match), label.stop - label.start)


# Keys, each with the seconds that it is held.
KEYS = "w:3 a:4 w:4 d:5"
# Clips and sampling of the character: few enough to build fast, enough to turn well.
WALKER = {"speeds": (1.2,), "n_turns": 7, "fps": 30.0, "n_source": 20, "n_target": 80}
# Maximum angle, in degrees, between its heading and the direction of the last key.
OFF_KEY = 20.0


def steer(folder: Path) -> Iterator[DemoFile]:
    """Steer a walker with keys, and write the motion and a plot of its path."""
    import math

    from marey.control import FollowDirection, parse_keys, play_keys
    from marey.core.placement import find_facing
    from marey.io import save
    from marey.maths import rigid2d
    from marey.plot.pmg import stream as draw
    from marey.pmg.walker import walker

    presses = parse_keys(KEYS)
    character = walker(**WALKER)  # type: ignore[arg-type]
    # Lock the feet without delay; the lookahead of cleanup would delay the response.
    playing = character.stream(FollowDirection(0.0), feet="lock")
    steered = play_keys(playing, presses)
    last = float(find_facing(steered.skeleton, steered.world().positions)[-1])
    wanted = presses[-1].direction or 0.0
    off = abs(math.degrees(float(rigid2d.wrap_angle(last - wanted))))
    save(steered, folder / "steered.bvh")
    result = f"{off:.0f} degrees off the last key"
    yield DemoFile(folder / "steered.bvh", "a walker steered by keys", result, "Blender", off <= OFF_KEY)
    asked = [(press.start, press.direction) for press in presses if press.direction is not None]
    draw(steered, folder / "steered.png", transitions=tuple(playing.transitions), directions=asked)
    yield DemoFile(folder / "steered.png", "its path and the requested directions", "", "any image viewer")
    click.echo(
        f"Steered a walker with keys ({KEYS}, seconds after each colon) for {steered.duration:.0f} s, with"
        f" {len(playing.transitions)} transitions; at the end it is {off:.0f} degrees off the last key's direction.\n"
    )


# Motions from the other parts to show on the page.
SHOWN = ("steered", "along", "jog", "carry", "look", "aimed_1", "aimed_2", "aimed_3")
# Maximum size of the page in bytes, without its motions.
MAX_BYTES = 2 * 10**6
# Upper limit for the bytes per joint and frame on the page.
JOINT_BYTES = 20


def write_page(folder: Path) -> Iterator[DemoFile]:
    """Write an HTML page that plays the motions, if its player was built during installation."""
    from marey.io import load
    from marey.io.files import write_bytes
    from marey.studio.page_files import PAGE
    from marey.studio.view import view_page

    if not (PAGE / "view.js").is_file():
        click.echo("Skipped the page: the studio was not built during installation; run `make page` to build it.\n")
        return
    motions = [load(folder / f"{name}.bvh") for name in SHOWN]
    page = view_page(motions, "marey demo")
    write_bytes(folder / "demo.html", [page])
    data = JOINT_BYTES * sum(len(motion) * len(motion.skeleton) for motion in motions)
    size = f"{len(page) / 1e6:.1f} MB, including {data / 1e6:.1f} MB of motion"
    yield DemoFile(folder / "demo.html", "plays the motions above", size, "any browser", len(page) <= MAX_BYTES + data)
