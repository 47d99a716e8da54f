"""Examples of actions with their ground truth, cut from generated and from real clips."""

from __future__ import annotations

import csv
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np

from marey.clean import detect_contacts
from marey.core.motion import Motion
from marey.core.resample import resample
from marey.io import load_motion
from marey.parametric import Feature, ParametricMotion, position
from marey.samples import sample, strikes
from marey.samples.samples import _record as record

FPS = 60.0
FEATURES = {
    "reach": position("right_hand"),
    "punch": position("right_hand"),
    "kick": position("right_ball"),
    "stretched": position("right_ball"),
}


@cache
def takes(kind: str, n: int, seed: int = 0) -> tuple[Motion, ...]:
    """Return n reaches, punches or kicks to different places, from the first frame of the action to its last.
    "stretched" are kicks that all go as far as the leg reaches, so that their apexes lie on a surface.
    """
    rng = np.random.default_rng(seed)
    out = []
    for k in range(n):
        if kind == "reach":
            wanted = {"x": rng.uniform(-0.35, 0.05), "y": rng.uniform(0.6, 1.5), "z": rng.uniform(0.35, 0.5)}
        elif kind == "punch":
            wanted = {"x": rng.uniform(-0.2, 0.2), "y": rng.uniform(1.15, 1.6), "z": rng.uniform(0.6, 0.7)}
        else:
            wanted = {"height": rng.uniform(0.45, 1.25), "sideways": rng.uniform(-0.15, 0.15)}
            wanted["stretch"] = rng.uniform(0.8, 0.95) if kind == "kick" else 0.95
        motion = _made(kind, wanted, 1000 * seed + k)
        label = next(label for label in motion.labels if label.name in (kind, "kick"))
        out.append(replace(motion[label.start : label.stop], name=f"{kind} {k}"))
    return tuple(out)


def _made(kind: str, wanted: dict[str, float], seed: int) -> Motion:
    if kind not in ("kick", "stretched"):
        return sample(kind, rng=seed, fps=FPS, **wanted).motion
    values = {"side": "right", "variation": 1.0, **wanted}
    return record("kick", strikes.kick(values, np.random.default_rng(seed)), FPS, values, seed).motion


@cache
def walks(n: int, seed: int = 0) -> tuple[Motion, ...]:
    """Return n strides from midstance to midstance, at different speeds and turn rates."""
    rng = np.random.default_rng(seed)
    out = []
    for k in range(n):
        result = sample(
            "walk", rng=1000 * seed + k, fps=FPS, seconds=5.0,
            speed=rng.uniform(0.8, 1.7), turn_rate=np.radians(rng.uniform(-60.0, 60.0)),
        )  # fmt: skip
        first = np.ceil(result.phase[10]) + 0.25
        a, b = np.searchsorted(result.phase, [first, first + 1.0])
        out.append(replace(result.motion[int(a) : int(b) + 1], name=f"walk {k}"))
    return tuple(out)


@cache
def space(kind: str, n: int = 16) -> ParametricMotion:
    """Return a space of n generated examples."""
    if kind == "walk":
        return ParametricMotion.build(walks(n), "turn,speed", samples=700)
    return ParametricMotion.build(takes(kind, n), FEATURES[kind], samples=700)


@cache
def long_take_space() -> ParametricMotion:
    """Return nine kicks of one long take, between which the character walks and turns."""
    take = sample("medley", rng=2, fps=30.0, kicks=9, punches=0, reaches=0).motion
    cut = [take[label.start : label.stop] for label in take.labels if label.name == "kick"]
    return ParametricMotion.build(cut, FEATURES["kick"], samples=300)


@cache
def real_space(folder: Path, kind: str) -> ParametricMotion:
    """Return the kicks or reaches of a real take, 1 s and 1.4 s around the annotated apexes."""
    file, half, feature = {
        "kick": ("cmu/144/144_05.bvh", 0.5, position("right_foot", "highest")),
        "reach": ("cmu/144/144_22.bvh", 0.7, position("left_hand")),
    }[kind]
    whole = detect_contacts(load_motion(folder / file, trim_rest=False))  # the annotations count the frames of the file
    with open(folder / "annotations.csv", encoding="utf-8") as lines:
        apexes = [int(row["apex_frame"]) for row in csv.DictReader(lines) if row["file"] == file]
    reach = round(half * whole.fps)
    cut = [replace(whole[apex - reach : apex + reach + 1], name=f"{kind} at {apex}") for apex in apexes]
    return ParametricMotion.build([resample(motion, FPS) for motion in cut], feature)


def near_samples(made: ParametricMotion, n: int, seed: int = 1) -> np.ndarray:
    """Return targets (n, d) within one unit of the scale from a sample, all of which count as reachable."""
    rng = np.random.default_rng(seed)
    rows = made.samples[rng.integers(len(made.samples), size=n)]
    off = rng.standard_normal(rows.shape)
    off *= rng.uniform(size=(n, 1)) ** (1.0 / rows.shape[1]) / np.linalg.norm(off, axis=1, keepdims=True)
    return rows + off * made.scale


def held_out(kind: str, feature: Feature, made: ParametricMotion, n: int, seed: int = 77) -> np.ndarray:
    """Return the parameters (n, d) of other takes that are reachable."""
    reach = made.reachable()
    found = [feature(motion) for motion in takes(kind, 2 * n, seed)]
    return np.array([row for row in found if row in reach][:n])


def mean_errors(made: ParametricMotion, targets: np.ndarray, **options: object) -> dict[str, float]:
    """Return mean and largest error of the generated motions, by unit."""
    found = [made.synthesize(target, **options) for target in targets]
    return {
        f"{unit} {what}": reduce([each.distances(own=own)[unit] for each in found])
        for unit in dict.fromkeys(made.units)
        for what, own, reduce in (("mean", False, np.mean), ("most", False, np.max), ("own", True, np.mean))
    }


WIDE: dict[str, tuple[str, dict[str, tuple[float, ...]], str]] = {
    "sitting down, height of the hips": (
        "sit", {"seat": (0.36, 0.39, 0.42, 0.45, 0.48, 0.51, 0.54)}, "position:hips:y@lowest",
    ),
    # For the cleanup, boxes lower than 12 cm count as floor.
    "stepping onto a box, height of the hips": (
        "step_up_and_down", {"height": (0.15, 0.19, 0.23, 0.27, 0.31, 0.35)}, "position:hips:y@highest",
    ),
    "hops, height and distance": (
        "hop", {"height": (0.05, 0.1, 0.15, 0.2), "distance": (0.0, 0.13, 0.26, 0.38), "count": (1,)},
        "position:hips:y@highest,traveled",
    ),
    "leaps, distance and height": (
        "leap", {"distance": (0.5, 0.8, 1.1, 1.4), "height": (0.12, 0.2, 0.3)}, "traveled,position:hips:y@highest",
    ),
    "cartwheels, change of direction": (
        "cartwheel", {"angle": tuple(np.radians((-150, -120, -90, -60, -30, 0)).tolist())}, "turn",
    ),
    "ducking, height of the head": ("duck", {"height": (0.9, 1.05, 1.2, 1.35, 1.5)}, "position:head:y@lowest"),
}  # fmt: skip
"""Other actions that make spaces (Kovar 6.3.4): the sample, its parameters on a grid, and the feature."""


def wide_space(name: str, fps: float = 30.0) -> ParametricMotion:
    """Build one of the spaces of `WIDE`; each example has its own random seed."""
    kind, grid, feature = WIDE[name]
    values = [dict(zip(grid, each, strict=True)) for each in product(*grid.values())]
    motions = [sample(kind, rng=k, fps=fps, **each).motion for k, each in enumerate(values)]
    return ParametricMotion.build(motions, feature)


def own_errors(space: ParametricMotion, n: int, *, refine: bool) -> np.ndarray:
    """Return by how much (n, d) motions miss random targets within the range of the examples, at their own moments."""
    rng, low, high = np.random.default_rng(0), space.parameters.min(axis=0), space.parameters.max(axis=0)
    targets = rng.uniform(low, high, size=(n, len(low)))
    return np.abs([space.synthesize(target, refine=refine).own_error for target in targets])
