"""Whether a pair can be blended, and the reason."""

from dataclasses import replace

import numpy as np
import pytest

from marey.compare import judge_blend
from marey.core import Skeleton
from marey.errors import InvalidValue
from marey.samples import sample

WALK = sample("walk", seconds=2.0, fps=60.0).motion


def test_walks_and_runs_are_alike():
    other = sample("walk", seconds=2.0, fps=60.0, speed=1.2).motion
    verdict = judge_blend(WALK, other.moved((2.0, 30.0, -10.0)))
    assert verdict
    assert verdict.distance < 0.1
    assert verdict.reason.startswith("the same joints and similar movement")
    assert verdict.notes == ()
    run = judge_blend(WALK, sample("run", seconds=2.0, fps=60.0).motion)
    assert run.blendable
    assert run.distance > verdict.distance


def test_what_does_different_things_is_refused_with_the_worst_place():
    lying = replace(WALK, rotations=WALK.rotations.copy())
    turned = lying.rotations.copy()
    half = np.pi / 4
    from marey.maths import quat

    turned[:, 0] = quat.mul([np.cos(half), np.sin(half), 0.0, 0.0], turned[:, 0])
    verdict = judge_blend(WALK, replace(WALK, rotations=turned, name="lying"))
    assert not verdict
    assert "they do different things" in verdict.reason
    assert "limit 0.22 m" in verdict.reason
    assert verdict.distance > 0.3
    assert judge_blend(WALK, replace(WALK, rotations=turned), max_distance=2.0)


def test_another_skeleton_is_named():
    names = (*WALK.skeleton.names[:-1], "tail")
    other = replace(WALK, skeleton=Skeleton(names, WALK.skeleton.parents, WALK.skeleton.offsets), contacts=None)
    verdict = judge_blend(WALK, other)
    assert not verdict
    assert f"only the first has {WALK.skeleton.names[-1]!r} and only the second has 'tail'" in verdict.reason
    assert "marey edit retarget" in verdict.reason
    assert verdict.distance is None


def test_another_rate_is_noted_and_does_not_matter():
    other = sample("walk", seconds=2.0, fps=90.0).motion
    verdict = judge_blend(WALK, other)
    assert verdict
    assert verdict.distance < 0.02
    assert "one is to be resampled" in verdict.notes[0]


def test_bad_input():
    with pytest.raises(InvalidValue, match="max_distance must be a distance above 0 m, got 0"):
        judge_blend(WALK, WALK, max_distance=0)
