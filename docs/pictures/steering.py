"""Pictures of docs/steering.md."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from marey.control import FatGraph, FatGraphStream, FollowDirection, clip_metrics, evaluate_streams, record
from marey.control.baselines import baseline_streams
from marey.core import Motion
from marey.edit import mirror
from marey.plot import pmg, steering
from marey.pmg.connect import build_edge
from marey.pmg.recipe import read_recipe
from marey.pmg.recipe_build import build_recipe
from marey.pmg.walker import sample_walks, walker

# Seconds at which a new direction is asked for, in degrees to the left of +Z, and when it ends.
COMMANDS = ((0.0, 0.0), (6.0, 90.0), (12.0, 180.0), (18.0, 60.0))
END = 24.0
# Degrees per clip of the curve on which bobbing is shown.
CURVE = 50.0
# Meters, T_GOOD and T_BAD, as the walker has them.
GOOD, BAD = 0.10, 0.15


def draw(folder: Path) -> None:
    draw_stream(folder)
    draw_box(folder)
    draw_boxer(folder)
    given = sample_walks(speeds=(1.1,))
    walks = [*given, *(mirror(walk) for walk in given)]
    draw_bobbing(folder, walks)
    makers = baseline_streams(walks, settings={"parametric motion graph": {"good": GOOD, "bad": BAD}})
    metrics = evaluate_streams(makers, n_turns=16)
    steering.table(metrics, folder / "steering_table.png", clips=clip_metrics(walks))


def draw_stream(folder: Path) -> None:
    """A walker that is asked to turn three times, from above; and how long its clips last."""
    character = walker()
    stream = character.stream(FollowDirection(0.0))
    ends = [time for time, _ in COMMANDS[1:]] + [END]
    parts = []
    for (time, degrees), end in zip(COMMANDS, ends, strict=True):
        stream.request(direction=math.radians(degrees))
        parts.append(stream.record(end - time))
    whole = Motion(
        parts[0].skeleton,
        np.concatenate([part.root_positions for part in parts]),
        np.concatenate([part.rotations for part in parts]),
        parts[0].fps,
    )
    asked = [(time, math.radians(degrees)) for time, degrees in COMMANDS]
    pmg.stream(whole, folder / "steering.png", transitions=tuple(stream.transitions), directions=asked)


def draw_box(folder: Path) -> None:
    """The boxes of an edge with the samples that they were made of."""
    character = walker(speeds=(0.8, 1.0, 1.2), n_turns=9)
    node = character["walk"]
    compared = character.compare("walk", "walk", n_source=20, n_target=300)
    edge = build_edge(compared, node, node, GOOD, BAD)
    pmg.edge(compared, edge, node, node, folder / "steering_boxes.png")


def draw_boxer(folder: Path) -> None:
    """A boxer's nodes and edges, how long its clips last, and punches at points in and a little out of its reach."""
    boxer = build_recipe(read_recipe("boxing"))
    pmg.graph(boxer, folder / "steering_boxer.png")
    pmg.lengths(boxer, folder / "steering_lengths.png")
    node = boxer["punch"]
    slack = 0.08 * (node.high - node.low)
    targets = np.random.default_rng(0).uniform(node.low - slack, node.high + slack, (60, 3))
    reachable = [node.contains(target) for target in targets]
    hands = []
    for target in targets:
        punch = node.motion(target)
        hand = punch.world().positions[:, punch.skeleton.roles["right_hand"]]
        hands.append(hand[int(np.argmin(np.linalg.norm(hand - target, axis=1)))])
    steering.punches(targets, hands, folder / "steering_punches.png", reachable=reachable)


def draw_bobbing(folder: Path, walks: list[Motion]) -> None:
    """A curve walked by a parametric motion graph and by a fat graph."""
    turn = math.radians(CURVE)
    ours = walker(speeds=(1.1,)).stream(FollowDirection(None, turn=turn), feet=None)
    ours.record(4.0)
    graph = FatGraph.build(walks)
    fat = FatGraphStream(graph, direction=None, turn=turn, feet=None)
    clip = len(graph.edges[0].path(turn, graph.fps).roots)
    record(fat, 3 * clip)
    played = record(fat, round(6.0 * fat.fps) + 1)
    steering.bobbing(
        {"parametric motion graph": ours.record(6.1), "fat graph": played},
        folder / "steering_bob.png",
        hubs={"fat graph": np.arange(clip - 1, len(played), clip)},
    )
