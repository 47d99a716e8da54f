"""Samples: generated motion together with its ground truth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from marey.core.arrays import Floats, check_fps, set_readonly
from marey.core.contacts import Contacts
from marey.core.labels import Label, Labels
from marey.core.markers import Markers
from marey.core.motion import Motion
from marey.core.settings import Seed
from marey.core.source import Source
from marey.errors import InvalidValue
from marey.samples.body import Plan, SampleAction, SampleTarget, perform
from marey.samples.catalog import entry
from marey.samples.skeleton import SIDES, palm_points, sample_body, sole_points

_RATES = (1.0, 1000.0)
_EXACT = 1e-9  # meters by which a foot may miss its planned position: rounding error


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Generated motion with its ground truth.

    motion : the motion, with labels and with exact contacts of the heels and of the balls of the feet.
    phase : (F,) gait phase in strides; the left foot strikes at whole numbers. NaN outside gait.
    parameters : all parameters used, including defaults.
    targets : known targets: name, joint, seconds, position.
    actions : the actions of a clip that joins several: name, side, joint, start, stop, apex (seconds), target
        (relative to where the body stands), position (world). The provenance contains them too, in frames.

    Examples
    --------
    >>> sample = marey.samples.sample("walk", seconds=2.0)
    >>> sample.motion
    <Motion 'walk': 121 frames at 60 Hz, 27 joints>
    >>> sample.phase.shape, sample.parameters["speed"]
    ((121,), 1.3)
    >>> sample.markers().positions.shape
    (121, 41, 3)
    """

    motion: Motion
    phase: Floats
    parameters: Mapping[str, Any]
    targets: tuple[SampleTarget, ...] = ()
    actions: tuple[SampleAction, ...] = ()

    def markers(self, *, rng: Seed = 0, noise: float = 0.0005, gaps: float = 0.0) -> Markers:
        """Return the motion as raw marker data, as a capture with 41 markers would record it.

        Parameters
        ----------
        rng : seed or Generator for noise and gaps.
        noise : standard deviation of each coordinate, meters.
        gaps : fraction of the time in which a marker is occluded, in [0, 0.9].

        Examples
        --------
        >>> marey.samples.sample("walk", seconds=2.0).markers(noise=0.001).names[:3]  # noise in meters
        ('C7', 'T10', 'CLAV')
        """
        from marey.samples.markers import record

        return record(self.motion, rng=rng, noise=noise, gaps=gaps)


def sample(name: str, *, rng: Seed = 0, fps: float = 60.0, **parameters: Any) -> Sample:
    """Generate a motion with known ground truth. CC0: use it for anything.

    Parameters
    ----------
    name : one of `sample_names()`.
    rng : seed or Generator. The same seed gives the same motion at any frame rate.
    fps : frames per second, 1 to 1000.
    parameters : parameters of this sample; `marey samples --list` shows them with their ranges.

    Returns
    -------
    Sample.

    Raises
    ------
    UnknownName : for an unknown name or parameter.
    InvalidValue : for a value out of range.

    Examples
    --------
    >>> sample = marey.samples.sample("walk", speed=1.6, turn_rate=0.3, seconds=2.0)
    >>> len(sample.motion), sample.motion.contacts.names
    (121, ('left_heel', 'left_ball', 'right_heel', 'right_ball'))
    >>> marey.samples.sample("kick", height=1.2).targets[0].joint
    'RightToeBase'
    """
    chosen = entry(name)
    rate = check_fps(fps)
    if not _RATES[0] <= rate <= _RATES[1]:
        raise InvalidValue(f"sample {name!r}: fps must be from 1 to 1000 Hz, not {rate:g}")
    values = chosen.values(name, parameters)
    plan = chosen.make(values, _make_generator(rng))
    return _record(name, plan, rate, values, int(rng) if isinstance(rng, int | np.integer) else None)


def _make_generator(rng: Seed) -> np.random.Generator:
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError):
        raise InvalidValue(f"rng must be an integer of at least 0 or a numpy Generator, not {rng!r}") from None


def _record(name: str, plan: Plan, fps: float, values: dict[str, Any], seed: int | None) -> Sample:
    n = int(np.floor(plan.seconds * fps + 1e-6)) + 1
    t = np.arange(n) / fps
    skeleton, _ = sample_body()
    done = perform(plan, t)
    if done.shortfall > _EXACT:
        raise InvalidValue(
            f"sample {name!r}: with these parameters a leg is {done.shortfall:.2g} m too short for its steps; "
            "reduce the parameters that make the steps long, high or wide"
        )
    mask = np.stack([part for side, _ in SIDES for part in (done.feet[side].heel, done.feet[side].ball)], axis=1)
    points = sole_points()
    if done.hands is not None:
        points += palm_points()
        mask = np.concatenate([mask, np.stack([done.hands[side] for side, _ in SIDES], axis=1)], axis=1)
    labels = []
    for label, start, stop in plan.labels:
        first, end = (int(np.ceil(np.clip(edge, 0.0, plan.seconds + 1.0) * fps - 1e-6)) for edge in (start, stop))
        if min(end, n) > first:
            labels.append(Label(label, first, min(end, n)))
    step: dict[str, Any] = {"op": "sample", "name": name, **values}
    if seed is not None:
        step["rng"] = seed
    if plan.actions:
        step["actions"] = [_in_frames(action, fps) for action in plan.actions]
    motion = Motion(
        skeleton=skeleton,
        root_positions=set_readonly(done.root),
        rotations=set_readonly(done.rotations),
        fps=fps,
        name=name,
        contacts=Contacts(points, mask),
        labels=Labels(tuple(labels)),
        source=Source(floor=0.0, provenance=(step,)),
    )
    phase = np.full(n, np.nan) if plan.phase is None else plan.phase(t)
    return Sample(motion, set_readonly(phase), dict(values), plan.targets, plan.actions)


def _in_frames(action: SampleAction, fps: float) -> dict[str, Any]:
    """Convert an action for the provenance: half-open interval [start, stop) and apex in frames."""
    start, stop = (int(np.ceil(edge * fps - 1e-6)) for edge in (action.start, action.stop))
    frames = {"start": start, "stop": stop, "apex": round(action.apex * fps)}
    return {**action._asdict(), **frames, "target": list(action.target), "position": list(action.position)}


def straight_walk(speed: float = 1.3, seconds: float = 3.0, fps: float = 60.0) -> Motion:
    """Generate a plain, regular walk along +Z: `sample("walk", ...)` without variation. This is the quickest way to get
    a motion.

    Parameters
    ----------
    speed : 0.6 to 2.0 m/s.
    seconds : duration, at most an hour.
    fps : frames per second.

    Examples
    --------
    >>> marey.samples.straight_walk(speed=1.5, seconds=2.0)
    <Motion 'straight_walk': 121 frames at 60 Hz, 27 joints>
    """
    walk = sample("walk", fps=fps, speed=speed, seconds=seconds, variation=0.0)
    return replace(walk.motion, name="straight_walk")
