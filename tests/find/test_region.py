"""The rules by which cells are kept, against a twin that follows them cell by cell."""

from __future__ import annotations

import numpy as np
import pytest

from marey.errors import InvalidValue
from marey.find.cells import TOO_FAR
from marey.find.region import Rules, kept_cells, quantise, region_marks, valid_region
from marey.find.region_kernels import CHAIN, HORIZONTAL, LEVEL, VERTICAL
from tests.twins import web as twin

RULES = Rules(cap=40_000, near=25_000, ratio=1.3, reach=4, chain=8, bridge=6, level=40)


def hilly(seed: int, shape: tuple[int, int] = (70, 60)) -> np.ndarray:
    """Valleys along slanting lines, with a little noise, plateaus of equal cells, and some cells out of reach."""
    rng = np.random.default_rng(seed)
    i, j = np.indices(shape)
    slope = rng.uniform(0.6, 1.6)
    lines = np.abs(np.sin((i * slope - j) * 0.17 + rng.uniform(0, 3)) + 0.2 * np.sin(0.21 * i + seed))
    values = 2_000 + 34_000 * lines + rng.normal(0, 900, shape) + 6_000 * np.sin(0.05 * (i + j))
    values = np.where(rng.random(shape) < 0.15, np.round(values, -3), values)
    values[10:22, 30:41] = 9_000
    values[40:50, 5:15] = TOO_FAR
    return np.clip(values, 0, TOO_FAR).astype(np.uint16)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "rules", [RULES, Rules(65_000, 65_000, 1.07, 30, 5, 20, 90), Rules(30_000, 9_500, 2.0, 1, 14, 3, 12)]
)
def test_all_marks_are_the_twins(seed, rules):
    values = hilly(seed)
    marks = region_marks(values, rules)
    horizontal, vertical = twin.minima(values, rules.cap)
    assert np.array_equal(marks & HORIZONTAL != 0, horizontal)
    assert np.array_equal(marks & VERTICAL != 0, vertical)
    assert np.array_equal(valid_region(values, rules), twin.valid(values, rules.cap, rules.ratio, rules.reach))
    assert np.array_equal(marks & CHAIN != 0, twin.on_chains(values, rules.cap, rules.near, rules.chain))
    level = twin.on_paths(valid_region(values, rules) & (values < rules.near), rules.level)
    assert np.array_equal(marks & LEVEL != 0, level)
    kept = kept_cells(values, rules)
    assert level.any()
    assert np.array_equal(kept, twin.kept(values, rules))
    assert 0 < kept.sum() < kept.size


@pytest.mark.parametrize("seed", range(3))
def test_a_part_with_its_halo_gives_what_the_whole_gives(seed):
    values = hilly(seed, (150, 140))
    whole = kept_cells(values, RULES)
    for top, left in ((0, 0), (55, 40), (80, 90), (120, 3)):
        bottom, right = top + 30, left + 25
        begin, first = max(top - RULES.halo, 0), max(left - RULES.halo, 0)
        part = kept_cells(values[begin : bottom + RULES.halo, first : right + RULES.halo], RULES)
        assert np.array_equal(part[top - begin :, left - first :][:30, :25], whole[top:bottom, left:right])


def test_rules_do_not_tell_rows_from_columns():
    values = hilly(7)
    assert np.array_equal(kept_cells(values.T, RULES), kept_cells(values, RULES).T)


def test_roots_are_rounded_to_units_and_capped():
    distances = np.array([[0.0, 0.01, 1e-10, 2.5e-11], [0.25, 0.4, 0.5, 9.0]])
    assert quantise(distances).tolist() == [[0, 10_000, 1, 1], [50_000, 63_246, TOO_FAR, TOO_FAR]]


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [("alpha", -1.0, "alpha must be a share"), ("limit", 0.7, "limit must be metres from 1e-05 to 0.65535, got 0.7"),
     ("bridge", "x", "bridge must be seconds from 0 to 60, got 'x'"), ("near", float("nan"), "near must be metres"),
     ("level", 2.5, "a level path of 2.5 s has 300 cells at 60 Hz, at most 250 will do"),
     ("level", -1.0, "level must be seconds from 0 to 60, got -1"),
     ("chain", 3.0, "a chain of 3 s has 360 cells at 60 Hz, at most 250 will do")],
)  # fmt: skip
def test_rules_that_cannot_be_are_refused(name, value, told):
    given = {"alpha": 0.15, "reach": 0.15, "chain": 0.25, "near": 0.15, "bridge": 2.0, "limit": 0.4, "level": 0.6} | {
        name: value
    }
    with pytest.raises(InvalidValue, match=told):
        Rules.of(60.0, **given)
