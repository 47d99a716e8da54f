"""Matches are cut out of the files of their clips: at the files' rates, mirrored or retargeted as in the web."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import marey
from marey.edit import mirror, retarget
from marey.errors import MareyWarning
from marey.find import cut_originals
from marey.samples import sample


@pytest.fixture(scope="module")
def walks(tmp_path_factory):
    folder = tmp_path_factory.mktemp("walks")
    walk = sample("walk", seconds=2.0, fps=60.0).motion
    body = walk.skeleton
    tall = replace(walk, skeleton=replace(body, offsets=1.1 * body.offsets), root_positions=1.1 * walk.root_positions)
    marey.save(walk, folder / "a.bvh")
    marey.save(tall, folder / "tall.bvh")
    return folder


@pytest.fixture(scope="module")
def found(walks, tmp_path_factory):
    clips = marey.MotionSet.open(walks, fps=30.0, mirrored=True, retarget=str(walks / "a.bvh"))
    path = tmp_path_factory.mktemp("web") / "web.npz"
    marey.MatchWeb.build(clips).save(path)
    return marey.MatchWeb.load(path).search("a", 10, 40, threshold=0.3)


def test_each_match_is_its_own_file_at_its_own_rate(walks, found):
    body = marey.load(walks / "a.bvh").skeleton
    seen = set()
    for match, motion in zip(found, cut_originals(found), strict=True):
        assert motion.fps == 60.0
        assert motion.contacts is not None
        whole = marey.load(walks / f"{match.clip.removesuffix('_mirrored')}.bvh")
        if match.clip.startswith("tall"):
            whole = retarget(whole, body)
        if match.clip.endswith("_mirrored"):
            whole = mirror(whole)
        part = whole[2 * match.start : 2 * match.stop]
        np.testing.assert_allclose(motion.world().positions, part.world().positions, atol=1e-9)
        assert {label.name for label in motion.labels} == {label.name for label in part.labels}
        seen.add(match.clip)
    assert {"a", "a_mirrored", "tall", "tall_mirrored"} <= seen


def test_files_that_have_changed_are_named(walks, found, tmp_path):
    motions = [replace(m, source=replace(m.source, path=str(tmp_path / "gone.bvh"))) for m in found.motions]
    gone = replace(found, motions=tuple(motions))
    with pytest.warns(MareyWarning, match=r"the files of a.* are missing or have changed.*30 Hz"):
        cut = cut_originals(gone)
    assert [len(motion) for motion in cut] == [len(match) for match in found]
