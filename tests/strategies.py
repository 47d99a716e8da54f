"""Hypothesis strategies that the tests share: batches of quaternions, vectors and floor-plane transforms.

Rotations are drawn with extra weight near no rotation and near a half turn, where formulas lose digits. Hypothesis
draws the seed of an array, not each of its numbers, which would take longer than the tests themselves.
"""

from __future__ import annotations

import math

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from tests.tiers import shorten

# No deadline, since a busy machine is not a failure; the same examples in every run, since a check that fails by
# chance teaches people to run it again.
LAWS = settings(deadline=None, max_examples=shorten(40), derandomize=True)
# For laws that are already checked in each of a dozen cases.
LAWS_OF_MANY = settings(LAWS, max_examples=shorten(12))

SHAPES = [(), (3,), (2, 5), (0,)]

Floats = np.ndarray


def batch_shapes() -> st.SearchStrategy[tuple[int, ...]]:
    """Draw leading axes: none, one, two, and one of length 0."""
    return st.sampled_from(SHAPES)


def _tiny() -> st.SearchStrategy[float]:
    magnitude = st.integers(-17, -1).map(lambda power: 10.0**power)
    return st.builds(math.copysign, magnitude, st.sampled_from([-1.0, 1.0]))


def angles(limit: float = math.pi) -> st.SearchStrategy[float]:
    """Draw angles in [-limit, limit] and slightly beyond, near 0, near pi and at quarter turns."""
    quarter = st.sampled_from([0.0, 0.5 * math.pi, -0.5 * math.pi, math.pi, -math.pi])
    near = st.builds(lambda at, by: at + by, quarter, _tiny())
    return st.one_of(st.floats(-limit, limit), quarter, near)


def numbers(shape: tuple[int, ...], limit: float) -> st.SearchStrategy[Floats]:
    """Draw numbers (*shape,) within +-limit, half of them 0, +-limit or tiny."""
    return _generators().map(lambda rng: _numbers(rng, shape, limit))


def turns(shape: tuple[int, ...]) -> st.SearchStrategy[Floats]:
    """Draw angles (*shape,) within one turn in either direction, half of them at a quarter turn or near one."""
    return _generators().map(lambda rng: _turns(rng, shape))


def vectors(shape: tuple[int, ...] = (), limit: float = 10.0) -> st.SearchStrategy[Floats]:
    """Draw vectors (*shape, 3) with components within +-limit; zero vectors occur."""

    def make(rng: np.random.Generator) -> Floats:
        some = _numbers(rng, (*shape, 3), limit)
        some[rng.random(shape) < 0.1] = 0.0
        return some

    return _generators().map(make)


def directions(shape: tuple[int, ...] = ()) -> st.SearchStrategy[Floats]:
    """Draw unit vectors (*shape, 3), often coordinate axes."""
    return vectors(shape, 1.0).map(_unit)


def quaternions(shape: tuple[int, ...] = ()) -> st.SearchStrategy[Floats]:
    """Draw unit quaternions (*shape, 4) wxyz with either sign, often near the identity or near a half turn."""
    return st.builds(_from_axis_angle, directions(shape), turns(shape))


def rigid2ds(shape: tuple[int, ...] = ()) -> st.SearchStrategy[Floats]:
    """Draw floor-plane transforms (*shape, 3), (theta, x, z), with theta in any turn, x and z within 10 m."""
    parts = turns((*shape, 1)), numbers((*shape, 2), 10.0)
    return st.builds(lambda *parts: np.concatenate(parts, axis=-1), *parts)


def weights(count: int) -> st.SearchStrategy[Floats]:
    """Draw weights (count,) greater than 0."""
    return numbers((count,), 1.0).map(lambda some: np.maximum(np.abs(some), 0.01))


def _generators() -> st.SearchStrategy[np.random.Generator]:
    return st.integers(0, 2**32 - 1).map(np.random.default_rng)


def _numbers(rng: np.random.Generator, shape: tuple[int, ...], limit: float) -> Floats:
    sign = rng.choice([-1.0, 1.0], shape)
    kinds = [
        rng.uniform(0.0, limit, shape),
        np.zeros(shape),
        np.full(shape, limit),
        10.0 ** rng.integers(-17, 0, shape),
    ]
    return sign * np.choose(rng.choice(4, shape, p=[0.5, 0.2, 0.1, 0.2]), kinds)


def _turns(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    quarter = 0.5 * math.pi * rng.integers(-2, 3, shape)
    near = quarter + rng.choice([-1.0, 1.0], shape) * 10.0 ** rng.integers(-17, 0, shape)
    anywhere = rng.uniform(-2.0 * math.pi, 2.0 * math.pi, shape)
    return np.choose(rng.choice(3, shape, p=[0.5, 0.2, 0.3]), [anywhere, quarter, near])


def _unit(vector: Floats) -> Floats:
    size = np.linalg.norm(vector, axis=-1, keepdims=True)
    fallback = np.broadcast_to([0.0, 1.0, 0.0], vector.shape)
    return np.where(size > 1e-3, vector / np.where(size > 1e-3, size, 1.0), fallback)


def _from_axis_angle(axis: Floats, angle: Floats) -> Floats:
    half = np.asarray(0.5 * angle)[..., None]
    return np.concatenate([np.cos(half), axis * np.sin(half)], axis=-1)
