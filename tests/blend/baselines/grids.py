"""Small grids and paths, and a slow twin of the path finders."""

from __future__ import annotations

import itertools

import numpy as np

STEPS = {"r": (0, 1), "d": (1, 0), "x": (1, 1)}


def walked(directions: str, start: tuple[int, int] = (0, 0)) -> list[tuple[int, int]]:
    """Return the cells of a path given by its letters."""
    cells = [start]
    for letter in directions:
        step = STEPS[letter]
        cells.append((cells[-1][0] + step[0], cells[-1][1] + step[1]))
    return cells


def longest_run(directions: str) -> int:
    """Return the length of the longest run of straight steps in the same direction."""
    runs = [(letter, len(list(group))) for letter, group in itertools.groupby(directions)]
    return max((n for letter, n in runs if letter != "x"), default=0)


def all_paths(shape: tuple[int, int], start: tuple[int, int], end: str, run: int) -> list[list[tuple[int, int]]]:
    """Yield every path that follows the rules, by plain recursion."""
    last = (shape[0] - 1, shape[1] - 1)
    found = []

    def go(cells: list[tuple[int, int]], letters: str) -> None:
        i, j = cells[-1]
        if (i, j) == last or (end == "border" and (i == last[0] or j == last[1])):
            found.append(cells)
            return
        for letter, (down, right) in STEPS.items():
            if i + down <= last[0] and j + right <= last[1] and longest_run(letters + letter) <= run:
                go([*cells, (i + down, j + right)], letters + letter)

    go([start], "")
    return found


def cheapest(values: np.ndarray, start: tuple[int, int], end: str, run: int) -> float:
    """Return the lowest cost of all paths; infinite if there is none."""
    costs = [sum(values[cell] for cell in path) for path in all_paths(values.shape, start, end, run)]
    return min(costs, default=np.inf)


def optimum(values: np.ndarray, run: int = 2) -> float:
    """Return the lowest cost from corner to corner, by dynamic programming over cells and runs, for larger grids."""
    best: dict[tuple[int, int, str, int], float] = {(0, 0, "x", 0): float(values[0, 0])}
    rows, columns = values.shape
    for i, j in itertools.product(range(rows), range(columns)):
        for letter, length in [("x", 0), *((s, n) for s in "rd" for n in range(1, run + 1))]:
            cost = best.get((i, j, letter, length))
            if cost is None:
                continue
            for step, (down, right) in STEPS.items():
                n = 0 if step == "x" else length + 1 if step == letter else 1
                key = (i + down, j + right, step, n)
                if n <= run and key[0] < rows and key[1] < columns:
                    best[key] = min(best.get(key, np.inf), cost + float(values[key[0], key[1]]))
    return min(cost for (i, j, _, _), cost in best.items() if (i, j) == (rows - 1, columns - 1))


def gait_grid(rows: int, columns: int, cycles: float = 2.0, seed: int = 0) -> np.ndarray:
    """Make a grid like that of two gaits: valleys along the diagonals, with a little noise."""
    i, j = np.arange(rows)[:, None] / rows, np.arange(columns)[None] / columns
    apart = 1.0 - np.cos(2.0 * np.pi * cycles * (i - j) + 0.4 * np.sin(2.0 * np.pi * cycles * i))
    return np.asarray(0.01 + 0.1 * apart + 0.01 * np.random.default_rng(seed).random((rows, columns)))
