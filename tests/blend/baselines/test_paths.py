"""Path finders: optimal if they claim to be, always within the rules, and clear about what they did not find."""

import numpy as np
import pytest

from marey.blend.baselines import paths
from marey.blend.baselines.paths import GridPath, brute_force, dynamic, greedy, start_cell, threshold_search
from marey.errors import InvalidValue, NoResult, NoTimewarp
from tests.blend.baselines.grids import all_paths, cheapest, gait_grid, longest_run, optimum

FINDERS = (brute_force, greedy, threshold_search, dynamic)


def grids(count: int, most: int = 6):  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(7)
    for k in range(count):
        shape = tuple(rng.integers(1, most, 2))
        values = rng.random(shape)
        yield np.round(4.0 * values) if k % 2 else values  # integer costs produce ties and zeros


@pytest.mark.parametrize("end", ["corner", "border"])
@pytest.mark.parametrize("slope_limit", [1, 2, 3])
def test_brute_force_equals_the_slow_definition(end: str, slope_limit: int) -> None:
    seen = 0
    for values in grids(60):
        best = cheapest(values, (0, 0), end, slope_limit - 1)
        if np.isinf(best):
            with pytest.raises(NoTimewarp, match="keeps to a slope limit"):
                brute_force(values, end=end, slope_limit=slope_limit)
            continue
        found = brute_force(values, end=end, slope_limit=slope_limit)
        seen += 1
        assert found.complete
        assert found.cost == pytest.approx(best, abs=1e-12)
        assert longest_run(found.directions) < slope_limit
    assert seen > 10


@pytest.mark.parametrize("end", ["corner", "border"])
def test_the_thresholded_recursion_is_the_cheapest_below_its_threshold(end: str) -> None:
    refused = 0
    for values in grids(60):
        if end == "corner" and not all_paths(values.shape, (0, 0), end, 2):
            continue
        fraction = 0.6
        walled = np.where(values <= fraction * values.max(), values, np.inf)
        best = cheapest(walled, (0, 0), end, 2)
        if np.isinf(best):
            refused += 1
            with pytest.raises(NoTimewarp, match="raise the threshold"):
                threshold_search(values, threshold=fraction, end=end)
        else:
            assert threshold_search(values, threshold=fraction, end=end).cost == pytest.approx(best, abs=1e-12)
    assert refused > 5


def test_dynamic_timewarping_is_the_cheapest_of_those_that_first_take_both() -> None:
    seen = 0
    for values in grids(60):
        ways = [cells for cells in all_paths(values.shape, (0, 0), "corner", 2) if cells[1:2] == [(1, 1)]]
        if not ways:
            continue
        seen += 1
        best = min(sum(values[cell] for cell in cells) for cells in ways)
        assert dynamic(values).cost == pytest.approx(best, abs=1e-12)
    assert seen > 10


@pytest.mark.parametrize("shape", [(30, 25), (25, 45), (50, 50)])
def test_searches_agree_on_larger_grids(shape: tuple[int, int]) -> None:
    values = gait_grid(*shape)
    best = optimum(values)
    assert brute_force(values, time_limit=None).cost == pytest.approx(best, rel=1e-12)
    assert threshold_search(values, threshold=0.6).cost == pytest.approx(best, rel=1e-12)
    assert greedy(values).cost >= best * (1.0 - 1e-12)
    assert best * (1.0 - 1e-12) <= dynamic(values).cost <= 1.05 * best  # its first step advances both motions


@pytest.mark.parametrize("finder", FINDERS)
@pytest.mark.parametrize("end", ["corner", "border"])
def test_every_path_keeps_the_rules(finder, end: str) -> None:  # type: ignore[no-untyped-def]
    for seed in range(5):
        values = gait_grid(24, 18, seed=seed)
        options = {"threshold": 0.9} if finder is threshold_search else {}
        for start in ("corner", "third", (3, 2)):
            path = finder(values, start=start, end=end, **options)
            first = {"corner": (0, 0), "third": start_cell(values)}.get(start, start)
            assert tuple(path.cells[0]) == first
            i, j = path.cells[-1]
            assert (i == 23 and j == 17) if end == "corner" else (i == 23 or j == 17)
            assert longest_run(path.directions) <= 2
            np.testing.assert_array_equal(path.distances, values[path.cells[:, 0], path.cells[:, 1]])
            assert path.cost == pytest.approx(path.distances.sum())
            assert path.mean == pytest.approx(path.distances.mean())
            assert path.complete
            assert len(path) == len(path.directions) + 1


def test_the_border_is_left_alone_once_met() -> None:
    for finder in (brute_force, greedy):
        path = finder(gait_grid(20, 14), end="border")
        inner = path.cells[:-1]
        assert (inner[:, 0] < 19).all()
        assert (inner[:, 1] < 13).all()


def test_greedy_takes_the_cheapest_next_cell() -> None:
    values = np.array([[1.0, 1.0, 9.0, 9.0], [9.0, 5.0, 1.0, 9.0], [9.0, 2.0, 9.0, 1.0], [9.0, 9.0, 9.0, 1.0]])
    assert greedy(values).directions == "rxxd"
    assert greedy(np.ones((4, 4))).directions == "xxx"  # of equal paths, the one whose step advances both motions


def test_greedy_reaches_the_corner_from_anywhere() -> None:
    rng = np.random.default_rng(3)
    for shape in ((5, 15), (15, 5), (7, 20), (12, 12), (2, 6), (3, 8), (8, 3)):  # some paths are just within the limit
        for _ in range(40):
            path = greedy(rng.random(shape))
            assert tuple(path.cells[-1]) == (shape[0] - 1, shape[1] - 1)
            assert longest_run(path.directions) <= 2


def test_an_interrupted_search_returns_its_best_path_and_reports_it(monkeypatch: pytest.MonkeyPatch) -> None:
    values = gait_grid(120, 90, cycles=4)
    ticks = iter(np.arange(0.0, 1e6, 0.5))
    monkeypatch.setattr(paths, "time", type("Clock", (), {"monotonic": staticmethod(lambda: next(ticks))}))
    cut = brute_force(values, time_limit=1.4)
    assert not cut.complete
    assert tuple(cut.cells[-1]) == (119, 89)
    assert longest_run(cut.directions) <= 2
    assert cut.cost >= optimum(values)
    longer = brute_force(values, time_limit=20.0)
    assert longer.visited > cut.visited
    assert longer.cost <= cut.cost


def test_a_search_that_would_take_days_ends_with_a_path() -> None:
    path = brute_force(np.random.default_rng(0).random((400, 400)), time_limit=0.05)
    assert not path.complete
    assert tuple(path.cells[-1]) == (399, 399)


def test_the_start_is_searched_in_the_first_third_of_both_borders() -> None:
    values = np.ones((9, 12))
    values[0, 3] = 0.5
    assert start_cell(values) == (0, 3)
    values[2, 0] = 0.4
    assert start_cell(values) == (2, 0)
    values[0, 4] = values[3, 0] = 0.0  # beyond the third
    assert start_cell(values) == (2, 0)
    assert start_cell(values, fraction=0.5) == (0, 4)
    assert start_cell(np.ones((2, 2))) == (0, 0)
    assert tuple(brute_force(values, start="third").cells[0]) == (2, 0)


def test_the_threshold_that_a_refusal_names_will_do() -> None:
    values = gait_grid(30, 25)
    values[10, :] += 0.2
    with pytest.raises(NoResult, match=r"at most 5 % of the largest; it takes [\d.]+ %, so raise") as error:
        threshold_search(values, threshold=0.05)
    named = float(str(error.value).rsplit(" ", 1)[1])
    assert threshold_search(values, threshold=named).complete
    with pytest.raises(NoTimewarp):
        threshold_search(values, threshold=named - 0.002)


def test_one_cell_and_one_row() -> None:
    for finder in (brute_force, greedy):
        assert finder(np.array([[2.0]])).cells.tolist() == [[0, 0]]
        assert finder(np.ones((1, 3))).directions == "rr"
        with pytest.raises(NoTimewarp, match="one motion is more than 3 times as long"):
            finder(np.ones((1, 4)))


def test_values_are_left_alone() -> None:
    values = gait_grid(12, 10)
    stored = values.copy()
    for finder in FINDERS:
        finder(values, **({"threshold": 1.0} if finder is threshold_search else {}))
    np.testing.assert_array_equal(values, stored)


@pytest.mark.parametrize("finder", FINDERS)
def test_bad_input_is_refused(finder) -> None:  # type: ignore[no-untyped-def]
    good = np.ones((6, 5))
    with pytest.raises(InvalidValue, match=r"grid values must have shape \(any, any\), not \(6,\)"):
        finder(np.ones(6))
    with pytest.raises(InvalidValue, match="at least one cell"):
        finder(np.ones((0, 4)))
    with pytest.raises(InvalidValue, match="must not be negative, got -1"):
        finder(-good)
    with pytest.raises(InvalidValue, match="grid values must be finite"):
        finder(np.full((3, 3), np.nan))
    with pytest.raises(InvalidValue, match="slope_limit must be at least 1, not 0"):
        finder(good, slope_limit=0)
    with pytest.raises(InvalidValue, match="slope_limit must be an integer, not 2.5"):
        finder(good, slope_limit=2.5)
    with pytest.raises(InvalidValue, match="`end` must be 'corner' or 'border', not 'edge'"):
        finder(good, end="edge")
    with pytest.raises(InvalidValue, match="start must be 'corner', 'third' or a cell"):
        finder(good, start="middle")
    with pytest.raises(InvalidValue, match="start must be 'corner', 'third' or a cell"):
        finder(good, start=(1, 2, 3))
    with pytest.raises(InvalidValue, match=r"the start \(6, 0\) lies outside a grid of 6 x 5 cells"):
        finder(good, start=(6, 0))
    with pytest.raises(NoTimewarp, match="one motion is more than 3 times as long as the other"):
        finder(np.ones((4, 40)))


def test_other_bad_input_is_refused() -> None:
    with pytest.raises(InvalidValue, match="time_limit must be greater than 0 s, or None"):
        brute_force(np.ones((3, 3)), time_limit=0.0)
    with pytest.raises(InvalidValue, match="threshold must be a fraction of the largest cell"):
        threshold_search(np.ones((3, 3)), threshold=33)
    with pytest.raises(InvalidValue, match="fraction must be greater than 0 and at most 1"):
        start_cell(np.ones((3, 3)), fraction=0.0)
    with pytest.raises(InvalidValue, match=r"goes from \(0, 0\) to \(2, 1\)"):
        GridPath([[0, 0], [2, 1]], [0.0, 0.0])
    with pytest.raises(InvalidValue, match="at least one cell"):
        GridPath(np.zeros((0, 2), dtype=int), [])
