"""Joint limits: rotations within them stay unchanged, others are clipped."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import marey
from marey.clean.cleanup import clean_with_report
from marey.clean.points import point_paths
from marey.core import JointLimits, Motion, Skeleton, learn_joint_limits
from marey.errors import InvalidValue, ParseError
from marey.io import load_joint_limits, save_joint_limits
from marey.maths import euler, quat
from marey.samples import straight_walk

WALK = straight_walk(seconds=2.0)
CHAIN = Skeleton(("hips", "a", "b"), np.array([-1, 0, 1]), np.array([[0, 0, 0], [0, 1, 0], [0, 1, 0]]))


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(3)


def bent(angles: np.ndarray, center=(1, 0, 0, 0), axes=(1, 0, 0, 0)) -> Motion:
    """Make a chain whose joint "a" has angles (F, 3) about the x, y and z axes of its frame."""
    local = quat.mul_inv(quat.mul(np.array(axes), euler.from_euler(angles[:, ::-1], "ZYX")), np.array(axes))
    rotations = quat.identity((len(angles), 3))
    rotations[:, 1] = quat.mul(np.array(center), local)
    return Motion(CHAIN, np.zeros((len(angles), 3)), rotations, 30.0)


def limits(low, high, center=(1, 0, 0, 0), axes=(1, 0, 0, 0)) -> JointLimits:
    return JointLimits(("a",), np.array([center]), np.array([axes]), np.array([low]), np.array([high]))


def test_angles_are_clipped_one_by_one(rng):
    axes, center = quat.normalize(rng.normal(size=(2, 4)))
    low, high = np.array([-0.5, -0.2, -2.5]), np.array([1.5, 0.3, 2.0])
    given = rng.uniform([-3, -1.5, -3], [3, 1.5, 3], size=(200, 3))
    bounds = limits(low, high, center, axes)
    within = bounds.apply(bent(given, center, axes))
    # Of the two triples of angles of a rotation, the one that needs less clipping counts.
    twin = np.stack([given[:, 0] + np.pi, np.pi - given[:, 1], given[:, 2] + np.pi], axis=1)
    near = [each - 2 * np.pi * np.round((each - (low + high) / 2) / (2 * np.pi)) for each in (given, twin)]
    excess = [np.square(each - np.clip(each, low, high)).sum(axis=1) for each in near]
    wanted = np.where((excess[1] < excess[0])[:, None], near[1], near[0])
    expected = bent(np.clip(wanted, low, high), center, axes)
    np.testing.assert_allclose(quat.angle_between(within.rotations, expected.rotations), 0.0, atol=1e-7)
    assert bounds.find_excess(within)[1].max() < 1e-7


def test_what_is_inside_stays_as_it_is(rng):
    given = bent(rng.uniform(-0.5, 0.5, size=(50, 3)))
    bounds = limits([-0.5] * 3, [0.5] * 3)
    assert np.array_equal(bounds.apply(given).rotations, given.rotations)
    assert bounds.find_excess(given)[1].max() == 0.0


def test_a_full_turn_is_no_limit(rng):
    given = bent(rng.uniform(-3, 3, size=(50, 3)))
    free = limits([-np.pi, -np.pi, -np.pi], [np.pi, np.pi, np.pi])
    assert np.array_equal(free.apply(given).rotations, given.rotations)


def test_the_excess_is_the_angle_to_the_border():
    bounds = limits([-0.5, -0.1, -0.1], [0.5, 0.1, 0.1])
    names, excess = bounds.find_excess(bent(np.array([[0.8, 0, 0], [-0.6, 0, 0], [0.4, 0, 0]])))
    assert names == ("a",)
    np.testing.assert_allclose(excess[:, 0], [0.3, 0.1, 0.0], atol=1e-12)


def test_learned_limits_hold_what_they_were_learned_from():
    learned = learn_joint_limits([WALK], outliers=0.0)
    assert learned.find_excess(WALK)[1].max() == 0.0
    assert "Hips" not in learned.names
    assert len(learned) == len(WALK.skeleton) - 1 - int(WALK.skeleton.is_end_site.sum())


def test_a_learned_hinge_has_one_wide_range(rng):
    axes = quat.normalize(rng.normal(size=4))
    swing = np.zeros((100, 3))
    swing[:, 1] = np.linspace(-1.2, 1.2, 100)  # about the y axis of the frame, which is singular at a quarter turn
    learned = learn_joint_limits([bent(swing, axes=axes)], margin=0.0, outliers=0.0)
    span = (learned.high - learned.low)[learned.names.index("a")]
    np.testing.assert_allclose(span, [2.4, 0.0, 0.0], atol=1e-9)


def test_outliers_do_not_widen_limits():
    swing = np.zeros((1000, 3))
    swing[:, 0] = np.linspace(-0.5, 0.5, 1000)
    swing[500, 0] = 2.0
    narrow = learn_joint_limits([bent(swing)], margin=0.1, outliers=0.002)
    names, excess = narrow.find_excess(bent(swing))
    assert names[int(excess.max(axis=0).argmax())] == "a"
    assert excess.max() == pytest.approx(1.4, abs=0.01)


def test_files_keep_everything(tmp_path):
    learned = learn_joint_limits([WALK])
    save_joint_limits(learned, tmp_path / "limits.json")
    loaded = load_joint_limits(tmp_path / "limits.json")
    assert loaded.names == learned.names
    for field in ("centers", "axes", "low", "high"):
        np.testing.assert_allclose(getattr(loaded, field), getattr(learned, field), atol=1e-15)


def test_cleaning_holds_feet_and_limits():
    learned = learn_joint_limits([WALK], margin=np.radians(2))
    slid = replace(WALK, root_positions=WALK.root_positions * np.array([1.0, 1.0, 1.03]))
    broken, arm = slid.rotations.copy(), slid.skeleton.roles["left_upper_arm"]
    broken[:, arm] = quat.mul(broken[:, arm], quat.from_axis_angle([1.0, 0.0, 0.0], 2.0))
    result = clean_with_report(replace(slid, rotations=broken), joint_limits=learned)
    assert learned.find_excess(result.motion)[1].max() < 1e-6
    assert result.residue.max() < 0.005
    assert [step["op"] for step in result.motion.source.provenance] == ["sample", "clean"]


def test_what_limits_keep_from_its_plant_is_the_residue():
    learned = learn_joint_limits([WALK], margin=0.0)
    slid = replace(WALK, root_positions=WALK.root_positions * np.array([1.0, 1.0, 1.1]))
    result = clean_with_report(slid, joint_limits=learned)
    assert learned.find_excess(result.motion)[1].max() < 1e-6
    paths = point_paths(result.motion, result.motion.contacts.points)
    gaps = [
        np.linalg.norm(paths[p.start : p.stop, result.motion.contacts.index(p.point)] - p.position, axis=1).max()
        for p in result.plants
    ]
    assert result.residue.max() == pytest.approx(max(gaps))
    assert result.motion.source.provenance[-1]["residue_max"] == result.residue.max() > 0.05


def test_blends_hold_limits():
    run = straight_walk(seconds=2.0, speed=1.9)
    learned = learn_joint_limits([WALK, run])
    wild = marey.blend([WALK, run], [-1.5, 2.5])
    assert learned.find_excess(wild)[1].max() > 0.05
    for feet in ("clean", None):
        kept = marey.blend([WALK, run], [-1.5, 2.5], joint_limits=learned, feet=feet)
        assert learned.find_excess(kept)[1].max() < 1e-6
    simple = marey.blend([WALK, run], [-1.5, 2.5], joint_limits=learned, method="linear")
    assert learned.find_excess(simple)[1].max() < 1e-6


def test_bad_limits_are_refused(tmp_path):
    with pytest.raises(InvalidValue, match="`low` must be at most `high`, but joint 'a' has 1 and 0.5"):
        limits([1.0, 0, 0], [0.5, 1, 1])
    with pytest.raises(InvalidValue, match="axes must be unit quaternions, got one of length 2"):
        limits([0] * 3, [1] * 3, axes=(2, 0, 0, 0))
    with pytest.raises(InvalidValue, match=r"axes must be unit quaternions, got one of length 0\.5"):
        limits([0] * 3, [1] * 3, axes=(0.5, 0, 0, 0))
    with pytest.raises(InvalidValue, match="limits are for a, and the motion has none of these joints"):
        limits([0] * 3, [1] * 3).apply(WALK)
    with pytest.raises(InvalidValue, match="at least 10 frames to learn from, not 5"):
        learn_joint_limits([WALK[:5]])
    with pytest.raises(InvalidValue, match="same joints"):
        learn_joint_limits([WALK, bent(np.zeros((20, 3)))])
    with pytest.raises(InvalidValue, match="joint_limits must be JointLimits or the name of a file, not int"):
        marey.clean(WALK, joint_limits=3)
    with pytest.raises(InvalidValue, match="joint limits do not apply to a stream"):
        marey.clean_stream(WALK.skeleton, 60.0, WALK.contacts.points, floor=0.0, joint_limits=limits([0] * 3, [1] * 3))
    wrong = tmp_path / "limits.json"
    wrong.write_text('{"format": "marey.joint_limits", "version": 1, "names": ["a"], "centers": [[1, 0, 0]]}')
    for read in (load_joint_limits, lambda path: marey.clean(WALK, joint_limits=path)):
        with pytest.raises(ParseError, match=r"limits\.json"):
            read(wrong)
