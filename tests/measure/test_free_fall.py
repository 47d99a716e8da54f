"""Free fall: frame rates at which a body would fall faster or more slowly than gravity allows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import marey
from marey.core.motion import Motion
from marey.measure.free_fall import find_fall_rate
from marey.measure.subject import Subject

from ..check.helpers import clip


def hop(n_hops: int = 12, gravity: float = 9.81, drift: float = 0.0) -> Motion:
    """Hops on the spot at 120 Hz: 0.3 s in the air, and 0.3 s on stiff legs."""
    fps, air, ground = 120.0, 0.3, 0.3
    stand = clip("walk")[0]
    t = np.arange(round((n_hops * (air + ground) + ground) * fps)) / fps
    phase = t % (air + ground) - ground
    height = np.where(phase > 0.0, 0.5 * gravity * phase * (air - phase), 0.0)
    root = np.repeat(stand.root_positions, len(t), axis=0)
    root[:, 1] += height
    root[:, 0] += drift * height
    return replace(
        stand,
        root_positions=root,
        rotations=np.repeat(stand.rotations, len(t), axis=0),
        fps=fps,
        contacts=None,
        labels=marey.Labels(),
    )


@pytest.mark.parametrize("factor", [0.25, 0.5, 1.0, 2.0, 4.0])
def test_hops_show_the_rate(factor: float) -> None:
    found = find_fall_rate(Subject(replace(hop(), fps=120.0 * factor)))
    if factor == 1.0:
        assert found is None
        return
    assert found is not None
    assert found[0] == factor
    assert found[1] == pytest.approx(9.81 * factor**2, rel=0.05)


@pytest.mark.parametrize("factor", [0.25, 0.5])
def test_slow_arcs_that_are_no_flights(factor: float) -> None:
    """Two hops may be coincidence; a body that is pulled sideways hangs on something."""
    for motion in (hop(n_hops=2), hop(drift=0.6)):
        assert find_fall_rate(Subject(replace(motion, fps=120.0 * factor))) is None


def test_a_body_that_is_lifted_slowly() -> None:
    assert find_fall_rate(Subject(hop(gravity=1.2))) is None


@pytest.mark.parametrize("name", ["walk", "run", "kick", "punch"])
def test_generated_clips_fall_as_bodies_fall(name: str) -> None:
    motion = clip(name)
    for factor in (0.5, 1.0):
        assert find_fall_rate(Subject(replace(motion, fps=factor * motion.fps))) is None


def test_the_finding_names_the_true_rate() -> None:
    (finding,) = (one for one in marey.check(replace(hop(), fps=60.0)) if one.kind == "frame_rate")
    assert "falls with 2.5 m/s^2 instead of 9.8, so the rate of 60 Hz seems wrong" in finding.message
    assert "file_fps=120" in finding.remedy
