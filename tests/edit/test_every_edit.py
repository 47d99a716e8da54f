"""Properties of every edit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import marey
from marey import edit
from marey.core import Labels
from marey.edit import MoveKey, TurnKey
from tests.core.skeletons import MIXAMO
from tests.edit.helpers import last_step, skeleton_of, walk

ARC = np.stack([2.0 * (1 - np.cos(np.linspace(0, 3, 50))), 2.0 * np.sin(np.linspace(0, 3, 50))], axis=1)
EDITS = {
    "resample": lambda m: edit.resample(m, 24),
    "mirror": edit.mirror,
    "crop": lambda m: edit.crop(m, 5, 100),
    "cycle": lambda m: edit.cycle(m, 10, 80, repeats=2),
    "connect": lambda m: edit.connect(m, m[30:], gap=0.3),
    "deseam": lambda m: edit.deseam(m, 60),
    "warp": lambda m: edit.warp(m, [MoveKey("right_foot", 1.0, (0, 0.1, 0)), TurnKey("head", 2.0, (0, 0.3, 0))]),
    "timewarp": lambda m: edit.timewarp(m, [(1.0, 1.4)]),
    "in_place": edit.make_in_place,
    "path": lambda m: edit.edit_path(m, ARC),
    "repair": edit.repair,
    "smooth": edit.smooth,
    "level": edit.level,
    "retarget": lambda m: edit.retarget(m, skeleton_of(MIXAMO)),
}
every = pytest.mark.parametrize("op", EDITS)


@every
def test_the_provenance_names_the_edit(op):
    motion = walk()
    result = EDITS[op](motion)
    assert len(result.source.provenance) == len(motion.source.provenance) + 1
    assert last_step(result)["op"] == op
    assert result.source.provenance[:-1] == motion.source.provenance


@every
def test_notes_have_the_length_of_the_motion(op):
    result = EDITS[op](walk())
    assert len(result.contacts) == len(result)
    assert result.contacts.names == ("left_heel", "left_ball", "right_heel", "right_ball")
    assert result.contacts.mask.any()
    assert result.labels.names in (("left_part", "walk"), ("right_part", "walk"))


@every
def test_motions_without_notes_pass(op):
    result = EDITS[op](replace(walk(), contacts=None, labels=Labels()))
    assert not len(result.labels)
    assert np.isfinite(result.world().positions).all()


@every
def test_rotations_stay_continuous_in_sign(op):
    result = EDITS[op](walk())
    assert (np.einsum("fjk,fjk->fj", result.rotations[1:], result.rotations[:-1]) > 0.0).all()


@every
def test_it_can_be_saved_and_read_again(op, tmp_path):
    result = EDITS[op](walk())
    marey.save(result, tmp_path / "made.bvh")
    again = marey.load(tmp_path / "made.bvh")
    assert np.abs(again.world().positions - result.world().positions).max() < 1e-4
    assert np.array_equal(again.contacts.mask, result.contacts.mask)
    assert again.labels == result.labels
    assert last_step(again) == last_step(result)


@every
def test_files_of_others_too(op, data_folder, tmp_path):
    """A BVH file keeps the rows of joints that were not changed; this must not undo an edit."""
    motion = marey.load(data_folder / "cmu" / "016" / "16_15.bvh")[20:400]
    if op == "warp":
        result = edit.warp(motion, [TurnKey("head", 1.0, (0, 0.3, 0))])
    else:
        result = EDITS[op](motion)
    marey.save(result, tmp_path / "made.bvh")
    again = marey.load(tmp_path / "made.bvh")
    assert np.abs(again.world().positions - result.world().positions).max() < 1e-4
