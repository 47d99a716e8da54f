"""Generated looks agree with their ground truth."""

import numpy as np
import pytest

from marey.errors import InvalidValue
from marey.maths import quat
from marey.samples.gaze import GAZE_PARTS, GAZE_TRIADS, gaze_take, gaze_takes


def test_a_take_rests_looks_overshoots_and_rests():
    take = gaze_take(1.2, 0.3)
    head = take.motion.world().rotations[:, take.motion.skeleton.roles["head"]]
    turned = quat.angle_between(head, head[0])
    begin, end = round(take.begin * 60), round((take.begin + take.length) * 60)
    assert turned[: begin + 1].max() < 1e-7
    assert np.ptp(turned[end + 1 :]) < 1e-7
    peak = round((take.begin + take.peak * take.length) * 60)
    assert abs(int(turned.argmax()) - peak) <= 1
    assert turned.max() > 1.04 * turned[-1]
    whole = quat.identity()
    for part in take.pose:
        whole = quat.mul(whole, part)
    yaw, pitch = take.goal
    toward = [np.sin(yaw) * np.cos(pitch), np.sin(pitch), np.cos(yaw) * np.cos(pitch)]
    np.testing.assert_allclose(quat.rotate(whole, np.array([0.0, 0.0, 1.0])), toward, atol=1e-9)
    assert list(take.starts) == sorted(take.starts, reverse=True)


def test_33_signs_and_the_same_seed_the_same_takes():
    takes, again = gaze_takes(), gaze_takes()
    assert len(takes) == 33
    assert len({take.goal for take in takes}) == 33
    assert all(np.array_equal(a.motion.rotations, b.motion.rotations) for a, b in zip(takes, again, strict=True))
    assert gaze_takes(rng=1)[0].length != takes[0].length


def test_markers_carry_the_triads_noise_and_gaps():
    take = gaze_take(0.5, 0.0)
    clean, noisy = take.markers(noise=0.0), take.markers(noise=0.001, gaps=0.2)
    assert set(GAZE_TRIADS) == {"base", *GAZE_PARTS[:4]}
    for names in GAZE_TRIADS.values():
        assert all(clean.index(name) >= 0 for name in ([names] if isinstance(names, str) else names))
    assert clean.valid.all()
    assert 0.1 < 1.0 - noisy.valid.mean() < 0.3
    off = (noisy.positions - clean.positions)[noisy.valid]
    assert off.std() == pytest.approx(0.001, rel=0.05)


def test_what_cannot_be_looked_at_is_refused():
    with pytest.raises(InvalidValue, match="degrees, not 177.6 and 0$"):
        gaze_take(3.1, 0.0)
    with pytest.raises(InvalidValue, match="to 0.1 m and gaps a fraction of the time from 0 to 0.9, not"):
        gaze_take(0.3, 0.0).markers(noise=-1.0)
