"""Detection of the floor height."""

import numpy as np
import pytest

from marey.clean import find_floor
from marey.core import Motion, Skeleton
from marey.errors import InvalidValue, JointNotFound
from marey.maths import quat
from marey.samples import sample, sample_names
from tests.clean.puppets import Foot, puppet, raised, shaken, standing


@pytest.mark.parametrize("name", sample_names())
def test_the_floor_of_samples_is_zero(name):
    assert find_floor(sample(name).motion) == pytest.approx(0.0, abs=1e-3)


@pytest.mark.parametrize("height", [-3.0, 0.4, 120.0])
def test_the_floor_rises_with_the_motion(height):
    motion = sample("walk").motion
    assert find_floor(raised(motion, height)) - find_floor(motion) == pytest.approx(height, abs=1e-9)


def test_noise_does_not_move_it():
    assert find_floor(shaken(sample("walk").motion, 0.003)) == pytest.approx(0.0, abs=0.004)


def test_steps_and_platforms_do_not_raise_it():
    """A minute on a box and half a second on the floor."""
    step = Foot([(0, 0.1, 0.4, 0, 0), (8.0, 0.1, 0.4, 0, 0), (8.4, 0.1, 0, 0.5, 0), (8.9, 0.1, 0, 0.5, 0)])
    motion = puppet(step, standing(-0.1, y=0.4), (0.0, 1.3, 0.0), seconds=8.9)
    assert find_floor(motion) == pytest.approx(0.0, abs=1e-6)


def test_single_wild_frames_do_not_lower_it():
    motion = sample("stand").motion
    root = motion.root_positions.copy()
    root[[40, 41, 90]] -= [0.0, 0.5, 0.0]
    wild = Motion(motion.skeleton, root, motion.rotations, motion.fps)
    assert find_floor(wild) == pytest.approx(find_floor(motion), abs=1e-3)


def test_no_rest_no_floor():
    """Feet that are never slower than 1 m/s."""
    t = np.linspace(0.0, 3.0, 181)
    flying = sample("stand").motion[:181]
    root = flying.root_positions + np.stack([2.0 * np.sin(t), np.zeros_like(t), 2.0 * np.cos(t)], axis=1)
    circling = Motion(flying.skeleton, root, flying.rotations, flying.fps)
    with pytest.raises(InvalidValue, match=r"no foot comes to rest in these 181 frames.*pass its height as `floor="):
        find_floor(circling)


def test_feet_in_the_air_of_a_handstand_are_not_on_the_floor():
    stand = sample("stand").motion
    rotations = stand.rotations.copy()
    rotations[:, 0] = quat.mul(quat.from_axis_angle([1.0, 0.0, 0.0], np.pi), rotations[:, 0])
    with pytest.raises(InvalidValue, match="no foot comes to rest"):
        find_floor(Motion(stand.skeleton, stand.root_positions, rotations, stand.fps))


def test_bad_input_raises_a_one_sentence_error():
    walk = sample("walk").motion
    with pytest.raises(InvalidValue, match="must have at least 4 frames for contacts to be detected, not 1"):
        find_floor(walk[0])
    box = Skeleton(("Box",), np.array([-1]), np.zeros((1, 3)))
    with pytest.raises(JointNotFound, match="role 'left_foot' was not found"):
        find_floor(Motion(box, np.zeros((9, 3)), quat.identity((9, 1)), 30.0))
