"""The output of each operation can be used by all others together with its source: every writer, format and reader."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marey
from marey import Motion
from marey.find import MatchWeb
from marey.graph import MotionGraph
from marey.layer import GazeMap, SpliceSet
from marey.parametric import ParametricMotion
from marey.pmg import GaitSpace
from marey.samples import sample
from tests import tiers
from tests.tiers import mostly_slow


@functools.cache
def walk(turn_rate: float = 0.0) -> Motion:
    return sample("walk", fps=30.0, seconds=4.0, turn_rate=turn_rate).motion


@functools.cache
def graph() -> MotionGraph:
    return MotionGraph.build([walk(), walk(0.4), walk(-0.4)])


WRITERS: dict[str, Callable[[], Motion]] = {
    "clean": lambda: marey.clean(walk()),
    "cycle": lambda: marey.edit.cycle(walk()),
    "retarget": lambda: marey.edit.retarget(sample("walk", fps=30.0, seconds=4.0, turn_rate=0.2).motion, walk()),
    "path": lambda: marey.edit.edit_path(walk(), [[0, 0], [1, 2], [0, 4], [0, 7]]),
    "blend": lambda: marey.blend([walk(), walk(0.4)], [0.5, 0.5]),
    "splice": lambda: marey.splice(walk(), walk(0.4)),
    "graph": lambda: graph().random_walk(5.0, rng=1).motion(),
}
READERS: dict[str, Callable[[Motion], Any]] = {
    "blend": lambda clip: marey.blend([walk(), clip], [0.5, 0.5]),
    "transition": lambda clip: marey.transition(walk(), clip),
    "register": lambda clip: marey.register([walk(), clip]),
    "graph": lambda clip: MotionGraph.build([walk(), clip]),
    "web": lambda clip: MatchWeb.build([walk(), clip]),
    "parametric": lambda clip: ParametricMotion.build([walk(), walk(0.4), clip], "speed"),
    "lower": lambda clip: marey.splice(clip, walk()),
    "upper": lambda clip: marey.splice(walk(), clip),
    "splices": lambda clip: SpliceSet.build([walk(), clip]).splice(1, 0),
    "transplant": lambda clip: marey.transplant(walk(), clip, joints="left_arm"),
    "gaze": lambda clip: GazeMap.default().apply(clip, [(0.5, 0.3, 0.1)]),
    "gait": lambda clip: GaitSpace.build([walk(), walk(0.4), clip]),
}


@functools.cache
def written(writer: str) -> Motion:
    return replace(WRITERS[writer](), name=writer)


FORMATS = ["bvh", "glb", "npz"]
CHAINS = [(writer, FORMATS[(k + turn) % 3]) for turn in range(3) for k, writer in enumerate(WRITERS)]


@pytest.mark.filterwarnings("ignore::marey.errors.MareyWarning")
@pytest.mark.parametrize(
    ("writer", "suffix"), mostly_slow(CHAINS, "reads every result in its other formats", n_fast=len(WRITERS))
)
def test_every_result_fits_its_source(writer: str, suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"{writer}.{suffix}"
    marey.save(written(writer), path)
    clip = marey.load(path)
    np.testing.assert_allclose(clip.skeleton.offsets, walk().skeleton.offsets, atol=1e-5)
    world, wanted = clip.world().positions, written(writer).world().positions
    np.testing.assert_allclose(world, wanted, atol=1e-5)
    # A third of all pairs in the fast tier, with each writer and each reader among them.
    step = 3 if tiers.is_fast else 1
    for reader in list(READERS.values())[list(WRITERS).index(writer) % step :: step]:
        reader(clip)


def test_stretched_limbs_around_the_offset_are_bone_offsets(tmp_path: Path) -> None:
    """The OFFSET is the rest pose, even if the limb is stretched in every frame."""
    source = walk()
    joint = source.skeleton.roles["left_foot"]
    stretched = source.frame_offsets.copy()
    stretched[:, joint] *= np.linspace(1.02, 1.2, len(source))[:, None]
    marey.save(replace(source, bone_offsets=stretched), tmp_path / "a.bvh")
    clip = marey.load(tmp_path / "a.bvh")
    np.testing.assert_allclose(clip.skeleton.offsets, source.skeleton.offsets, atol=1e-7)
    np.testing.assert_allclose(clip.frame_offsets, stretched, atol=1e-7)


@pytest.mark.filterwarnings("ignore::marey.errors.MareyWarning")
def test_results_are_inputs_of_their_own_operation(tmp_path: Path) -> None:
    """Transitions between walks of one graph, and blends of blends (Kovar 5.1.3), from BVH files."""
    clips = {
        "first": graph().random_walk(4.0, rng=1).motion(),
        "second": graph().random_walk(4.0, rng=2).motion(),
        "left": written("blend"),
        "right": marey.blend([walk(), walk(-0.4)], [0.5, 0.5]),
    }
    for name, motion in clips.items():
        marey.save(motion, tmp_path / f"{name}.bvh")
    first, second, left, right = (marey.load(tmp_path / f"{name}.bvh") for name in clips)
    joined = marey.transition(first, second)
    assert "transition" in {step["op"] for step in joined.source.provenance}
    again = marey.blend([left, right], [0.5, 0.5])
    # Half left and half right of the same walk goes straight, except for the sway of the hips.
    path = again.travel[:, [0, 2]] - again.travel[0, [0, 2]]
    across = np.array([path[-1, 1], -path[-1, 0]]) / np.linalg.norm(path[-1])
    assert np.abs(path @ across).max() < 0.1
    for result in (joined, again):
        assert marey.measure(result)["slide_contact"].value < 1e-3
