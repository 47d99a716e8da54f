"""The rules that decide which cells are kept, against a twin that follows them cell by cell."""

from __future__ import annotations

import numpy as np
import pytest

from marey.errors import InvalidValue
from marey.find.cells import TOO_FAR
from marey.find.region import (
    find_halo,
    find_kept_cells,
    make_rules,
    mark_region,
    quantize,
)
from marey.find.region_kernels import CHAIN, HORIZONTAL, LEVEL, VALID, VERTICAL, Rules
from marey.find.settings import WebSettings
from tests.tiers import mostly_slow
from tests.twins import web as twin

RULES = Rules(cap=40_000, near=25_000, ratio=1.3, reach=4, chain=8, bridge=6, level=40)


def hilly(seed: int, shape: tuple[int, int] = (70, 60)) -> np.ndarray:
    """Make valleys along slanted lines, with some noise, plateaus of equal cells, and some cells out of reach."""
    rng = np.random.default_rng(seed)
    i, j = np.indices(shape)
    slope = rng.uniform(0.6, 1.6)
    lines = np.abs(np.sin((i * slope - j) * 0.17 + rng.uniform(0, 3)) + 0.2 * np.sin(0.21 * i + seed))
    values = 2_000 + 34_000 * lines + rng.normal(0, 900, shape) + 6_000 * np.sin(0.05 * (i + j))
    values = np.where(rng.random(shape) < 0.15, np.round(values, -3), values)
    values[10:22, 30:41] = 9_000
    values[40:50, 5:15] = TOO_FAR
    return np.clip(values, 0, TOO_FAR).astype(np.uint16)


@pytest.mark.parametrize("seed", mostly_slow(range(4), "the twin is slow", n_fast=1))
@pytest.mark.parametrize(
    "rules", [RULES, Rules(65_000, 65_000, 1.07, 30, 5, 20, 90), Rules(30_000, 9_500, 2.0, 1, 14, 3, 12)]
)
def test_marks_equal_those_of_the_twin(seed, rules):
    values = hilly(seed)
    marks = mark_region(values, rules)
    valid = marks & VALID != 0
    horizontal, vertical = twin.minima(values, rules.cap)
    assert np.array_equal(marks & HORIZONTAL != 0, horizontal)
    assert np.array_equal(marks & VERTICAL != 0, vertical)
    assert np.array_equal(valid, twin.valid(values, rules.cap, rules.ratio, rules.reach))
    assert np.array_equal(marks & CHAIN != 0, twin.on_chains(values, rules.cap, rules.near, rules.chain))
    level = twin.on_paths(valid & (values < rules.near), rules.level)
    assert np.array_equal(marks & LEVEL != 0, level)
    kept = find_kept_cells(values, rules)
    assert level.any()
    assert np.array_equal(kept, twin.stored(values, rules))
    assert 0 < kept.sum() < kept.size


@pytest.mark.parametrize("seed", range(3))
def test_a_part_with_its_halo_gives_what_the_whole_gives(seed):
    values = hilly(seed, (150, 140))
    whole = find_kept_cells(values, RULES)
    for top, left in ((0, 0), (55, 40), (80, 90), (120, 3)):
        bottom, right = top + 30, left + 25
        begin, first = max(top - find_halo(RULES), 0), max(left - find_halo(RULES), 0)
        part = find_kept_cells(values[begin : bottom + find_halo(RULES), first : right + find_halo(RULES)], RULES)
        assert np.array_equal(part[top - begin :, left - first :][:30, :25], whole[top:bottom, left:right])


def test_rules_treat_rows_and_columns_the_same():
    values = hilly(7)
    assert np.array_equal(find_kept_cells(values.T, RULES), find_kept_cells(values, RULES).T)


def test_roots_are_rounded_to_units_and_capped():
    distances = np.array([[0.0, 0.01, 1e-10, 2.5e-11], [0.25, 0.4, 0.5, 9.0]])
    assert quantize(distances).tolist() == [[0, 10_000, 1, 1], [50_000, 63_246, TOO_FAR, TOO_FAR]]


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [("max_rise", -1.0, "max_rise must be from 0 to 10"),
     ("max_distance", 0.7, "max_distance must be from 1e-05 to 0.65535 meters, not 0.7"),
     ("max_bridge_seconds", "x", "max_bridge_seconds must be a number of seconds, not 'x'"),
     ("max_chain_distance", float("nan"), "max_chain_distance must be a finite number of meters"),
     ("min_level_seconds", 2.5, "a level path of 2.5 s covers 300 cells at 60 fps .maximum 250"),
     ("min_level_seconds", -1.0, "min_level_seconds must be from 0 to 60 seconds, not -1"),
     ("min_chain_seconds", 3.0, "a run of similar frames of 3 s covers 360 cells at 60 fps .maximum 250")],
)  # fmt: skip
def test_invalid_options_are_refused(name, value, message):
    with pytest.raises(InvalidValue, match=message):
        make_rules(WebSettings(**{name: value}), 60.0)
