"""Chains and bridges as paths: their rules."""

from __future__ import annotations

import numpy as np
import pytest

from marey.find.chains_kernels import find_bridges, find_chains
from marey.find.region import mark_region
from marey.find.region_kernels import CHAIN, VALID
from tests.find.test_region import RULES, hilly


def cut(cells, ends):
    return [path.tolist() for path in np.split(cells, ends[:-1])]


def check_steps(path):
    steps = np.diff(path, axis=0)
    assert {tuple(step) for step in steps.tolist()} <= {(1, 1), (0, 1), (1, 0)}
    straight = steps.sum(axis=1) == 1
    assert not (straight[1:] & straight[:-1]).any()


@pytest.mark.parametrize("seed", range(4))
def test_chains_are_long_disjoint_and_in_order(seed):
    marks = mark_region(hilly(seed), RULES)
    owner, cells, ends = find_chains(marks, RULES.chain)
    found = cut(cells, ends)
    assert len(found) > 3
    seen = set()
    for k, path in enumerate(found):
        check_steps(path)
        assert path[-1][0] + path[-1][1] - path[0][0] - path[0][1] >= RULES.chain
        for i, j in path:
            assert marks[i, j] & CHAIN
            assert owner[i, j] == k
            assert (i, j) not in seen
            seen.add((i, j))
    assert (owner >= 0).sum() == len(seen)
    # A minimum on a long enough chain is on a drawn chain, or next to one that replaced it.
    for i, j in np.argwhere(marks & CHAIN):
        near = owner[max(i - RULES.chain, 0) : i + RULES.chain + 1, max(j - RULES.chain, 0) : j + RULES.chain + 1]
        assert (near >= 0).any()


def test_bridges_lead_from_the_end_of_one_chain_to_another_and_keep_to_the_valid_region():
    n_found = 0
    for seed in range(4):
        values = hilly(seed)
        marks = mark_region(values, RULES)
        owner, cells, ends = find_chains(marks, RULES.chain)
        last = {tuple(path[-1]) for path in cut(cells, ends)}
        for path in cut(*find_bridges(values, marks, owner, cells, ends, RULES.bridge)) if len(ends) else []:
            n_found += 1
            check_steps(path)
            assert 1 <= len(path) - 1 <= RULES.bridge
            assert tuple(path[0]) in last
            assert owner[tuple(path[-1])] not in (-1, owner[tuple(path[0])])
            assert all(marks[i, j] & VALID and owner[i, j] < 0 for i, j in path[1:-1])
    assert n_found > 5
