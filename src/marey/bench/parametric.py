"""Benchmark of parametric motion: sampling a space, and generating motions from it.

All times are CPU times, so other load on the machine does not make a benchmark fail.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from marey.bench.results import BenchResult, against_floor, at_most
from marey.bench.timing import time_functions
from marey.blend.blend import blend
from marey.core.motion import Motion
from marey.parametric import ParametricMotion, position
from marey.samples import sample

_SAMPLES, _MAX_SECONDS = 1000, 5.0
_FEW, _MANY = 10, 100
# Limit of the growth from few to many examples: a motion blends a few examples around its target, not all of them.
_GROWTH = 1.5
_TARGETS = 12
# Limit relative to the time that blending the samples one by one would take.
_ONE_BY_ONE = 0.6
_MAX_MS = 33.0


def bench_parametric(path: str) -> Iterator[BenchResult]:
    """Time 1,000 samples of a space of 40 reaches, and motions from spaces of 10 and 100; `path` is ignored."""
    motions = reaches(_MANY)
    feature = position("right_hand")
    built = motions[:40]
    space = ParametricMotion.build(built, feature, samples=_SAMPLES)
    reg = space.registration
    rng = np.random.default_rng(0)
    weights = np.zeros(reg.n_motions)
    weights[rng.permutation(reg.n_motions)[:4]] = 0.25
    whole, one = time_functions(
        [
            lambda: ParametricMotion.build(built, feature, samples=_SAMPLES),
            lambda: blend(reg, weights, feet=None),
        ],
        rounds=3,
        clock=time.process_time,
    )
    what = f"build from {len(built)} reaches with {_SAMPLES:,} samples"
    yield at_most("parametric", f"{what}, processor time", whole, "s", _MAX_SECONDS)
    yield against_floor("parametric", what, "s", "as many blends one by one", (whole, one * _SAMPLES), _ONE_BY_ONE)
    few, many = (ParametricMotion.build(motions[:n], feature, samples=_SAMPLES) for n in (_FEW, _MANY))
    # Use the same targets for both, near samples but not on them, because a sample itself needs fewer examples.
    reach = many.reachable()
    near = few.samples + 0.4 * few.scale * rng.uniform(-1.0, 1.0, few.samples.shape)
    targets = [target for target in near if target in reach][:_TARGETS]

    def make(space: ParametricMotion) -> None:
        for target in targets:
            space(target)

    slow, quick = time_functions([lambda: make(many), lambda: make(few)], rounds=5, clock=time.process_time)
    scale = 1e3 / len(targets)
    what = f"motion from a space of {_MANY} reaches, with foot cleanup, processor time"
    yield at_most("parametric", what, scale * slow, "ms", _MAX_MS)
    yield against_floor(
        "parametric",
        f"motion from a space of {_MANY} reaches",
        "ms",
        f"the same from {_FEW}",
        (scale * slow, scale * quick),
        _GROWTH,
    )


def reaches(n: int, seconds: float | None = None) -> tuple[Motion, ...]:
    """Generate n reaches to different targets, trimmed to the action, or to `seconds` with the action in the middle."""
    rng = np.random.default_rng(0)
    out = []
    for k in range(n):
        x, y, z = rng.uniform((-0.35, 0.6, 0.35), (0.05, 1.5, 0.5))
        motion = sample("reach", rng=k, x=float(x), y=float(y), z=float(z)).motion
        label = next(label for label in motion.labels if label.name == "reach")
        more = 0 if seconds is None else round(seconds * motion.fps) - (label.stop - label.start)
        start = max(0, label.start - more // 2)
        out.append(replace(motion[start : start + label.stop - label.start + more], name=f"reach {k}"))
    return tuple(out)
