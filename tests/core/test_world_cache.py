"""World poses are computed once for the same poses, and again for others."""

from __future__ import annotations

import gc
import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from marey import load, save
from marey.cli.main import main
from marey.core import Motion, kinematics
from marey.samples import sample


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The local rotations of each call of forward kinematics."""
    runs: list[bytes] = []
    forward = kinematics.forward

    def record(parents, offsets, root, local, *out):
        runs.append(local.tobytes())
        forward(parents, offsets, root, local, *out)

    monkeypatch.setattr(kinematics, "forward", record)
    return runs


def test_world_is_computed_once_for_the_same_poses(computed: list[bytes]) -> None:
    motion = sample("walk", seconds=1.0).motion
    computed.clear()
    world = motion.world()
    assert motion.world() is world
    assert replace(motion, name="other", contacts=None).world() is world
    assert len(computed) == 1


def test_world_follows_every_change_of_the_poses(computed: list[bytes]) -> None:
    motion = sample("walk", seconds=1.0).motion
    computed.clear()
    motion.world()
    moved = replace(motion, root_positions=motion.root_positions + [1.0, 0.0, 0.0])
    np.testing.assert_allclose(moved.world().positions, motion.world().positions + [1.0, 0.0, 0.0])
    taller = replace(motion, skeleton=replace(motion.skeleton, offsets=2.0 * motion.skeleton.offsets))
    assert np.abs(taller.world().positions - motion.world().positions).max() > 0.1
    assert pickle.loads(pickle.dumps(motion)).world() is not motion.world()


def test_cached_worlds_are_bounded_and_dropped_with_their_motion() -> None:
    motions = [sample("walk", seconds=1.0, rng=seed).motion for seed in range(3)]
    cache = kinematics.WorldCache()

    def get(motion: Motion) -> kinematics.World:
        return cache.get(motion.skeleton, motion.root_positions, motion.rotations, None)

    first = get(motions[0])
    size = cache.n_bytes
    assert size == first.positions.nbytes + first.rotations.nbytes
    cache.max_bytes = 2 * size
    for motion in motions:
        get(motion)
    assert cache.n_bytes == 2 * size
    assert get(motions[0]) is not first
    del motion, motions
    gc.collect()
    assert cache.n_bytes == 0


def test_a_cleanup_runs_forward_kinematics_on_its_input_once(
    computed: list[bytes], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save(replace(sample("walk", seconds=1.0).motion, contacts=None), tmp_path / "walk.npz")
    given = load(tmp_path / "walk.npz")
    assert isinstance(given, Motion)
    computed.clear()
    assert main(["clean", str(tmp_path / "walk.npz"), str(tmp_path / "out.npz")]) == 0
    assert computed.count(given.rotations.tobytes()) == 1
