"""Spaces of actions other than kicks, punches, reaches and walks (Kovar 6.3.4)."""

import numpy as np
import pytest

import marey
from tests.parametric.takes import WIDE, own_errors, wide_space
from tests.tiers import mostly_slow

# Maximum mean error in meters without refinement.
MEAN = 0.02


@pytest.mark.parametrize("name", mostly_slow(reversed(WIDE), "builds larger spaces of the same kind", n_fast=1))
def test_targets_between_the_examples_are_met(name):
    space = wide_space(name, fps=20.0)
    assert not space.notes
    assert own_errors(space, 6, refine=False).mean(axis=0).max() < MEAN
    assert np.median(own_errors(space, 4, refine=True)) < 0.003
    middle = space.parameters.mean(axis=0)
    assert (marey.measure(space(middle))["slide_contact"].value or 0.0) < 1e-3
