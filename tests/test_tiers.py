"""The two tiers of tests, and the clips that they share."""

import numpy as np
import pytest

from marey.samples import samples
from tests import tiers
from tests.conftest import check_slow_marks


def test_a_slow_test_needs_a_reason():
    check_slow_marks("test_x", [pytest.mark.slow("compiles every kernel again").mark])
    for marker in (pytest.mark.slow, pytest.mark.slow(), pytest.mark.slow(""), pytest.mark.slow(3)):
        with pytest.raises(pytest.UsageError, match="test_x: slow takes a reason"):
            check_slow_marks("test_x", [marker.mark])


def test_only_the_first_values_are_fast():
    first, *others = tiers.mostly_slow(["a", ("b", 2)], "twice", n_fast=1)
    assert first == "a"
    assert [(each.values, each.marks[0].args) for each in others] == [(("b", 2), ("twice",))]


def test_random_checks_are_shorter_in_the_fast_tier(monkeypatch):
    for is_fast, n in ((False, 40), (True, 14)):
        monkeypatch.setattr(tiers, "is_fast", is_fast)
        assert tiers.shorten(40) == n


def test_a_stored_sample_is_a_copy_of_the_generated_one():
    generated = samples.sample.__wrapped__("kick", fps=30.0)
    first, again = (samples.sample("kick", fps=30.0) for _ in range(2))
    assert first.motion.rotations is not again.motion.rotations
    for stored in (first, again):
        assert stored.motion.skeleton is generated.motion.skeleton
        assert stored.parameters == generated.parameters
        assert stored.targets == generated.targets
        for ours, expected in (
            (stored.phase, generated.phase),
            (stored.motion.root_positions, generated.motion.root_positions),
            (stored.motion.rotations, generated.motion.rotations),
            (stored.motion.contacts.mask, generated.motion.contacts.mask),
        ):
            np.testing.assert_array_equal(ours, expected)
            assert not ours.flags.writeable
