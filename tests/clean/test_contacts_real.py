"""Contacts of recorded motion, compared with what can be counted without them."""

import warnings
from dataclasses import dataclass

import numpy as np
import pytest

import marey
from marey.clean import detect_contacts, find_contacts, point_paths
from marey.clean.cleanup import clean_with_report
from marey.maths import filters

# Clips of one person who walks and runs from start to end.
WALKS = ("11", "13", "15", "17", "19", "21", "23", "25", "27", "29", "31", "33")
RUNS = ("35", "37", "39", "41", "43", "45", "48", "49", "51", "53", "55", "57")


def load(data_folder, name, **options):
    path = data_folder / "cmu" / name
    if not path.is_file():
        pytest.skip(f"no {path}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return marey.load(path, **options)


def steps(motion):
    """Return (frame, standing side) of each passing of the ankles along the path."""
    positions, roles = motion.world().positions, motion.skeleton.roles
    way = np.gradient(filters.gaussian(positions[:, roles["hips"]], 0.25 * motion.fps), axis=0)[:, [0, 2]]
    way /= np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-9)
    apart = (positions[:, roles["left_foot"]] - positions[:, roles["right_foot"]])[:, [0, 2]]
    ahead = filters.gaussian(np.einsum("fc,fc->f", apart, way), 0.03 * motion.fps)
    for f in np.flatnonzero(np.sign(ahead[1:]) != np.sign(ahead[:-1])) + 1:
        yield int(f), "right" if ahead[f] > ahead[f - 1] else "left"


@dataclass
class Tally:
    n_steps: int
    n_planted: int
    stances: np.ndarray
    speed: float


def tally(data_folder, names):
    """Return the steps with a single plant of the ball, durations of stances in seconds, and mean speed of planted
    balls."""
    n_steps, n_planted, stances, speeds = 0, 0, [], []
    for name in names:
        motion = load(data_folder, f"016/16_{name}.bvh")
        contacts = detect_contacts(motion).contacts
        slack = 0.06 * motion.fps
        for frame, side in steps(motion):
            spans = [(a, b) for a, b in contacts.intervals(f"{side}_ball") if a - slack <= frame < b + slack]
            n_steps += 1
            n_planted += len(spans) == 1
        paths = point_paths(motion, contacts.points)
        speed = np.linalg.norm(np.gradient(paths, axis=0), axis=2) * motion.fps
        for side in ("left", "right"):
            heel, ball = contacts.index(f"{side}_heel"), contacts.index(f"{side}_ball")
            speeds += speed[contacts.mask[:, ball], ball].tolist()
            edges = np.flatnonzero(np.diff(np.r_[0, contacts.mask[:, [heel, ball]].any(axis=1), 0])).reshape(-1, 2)
            stances += [(b - a) / motion.fps for a, b in edges if a > 0 and b < len(motion)]
    return Tally(n_steps, n_planted, np.array(stances), float(np.mean(speeds)))


def test_walks_have_one_plant_for_each_step(data_folder):
    walks = tally(data_folder, WALKS)
    assert walks.n_steps > 50
    assert walks.n_planted >= 0.98 * walks.n_steps
    assert 0.45 <= walks.stances.min() <= walks.stances.max() <= 0.85
    assert walks.speed < 0.18


def test_runs_have_one_plant_for_each_step(data_folder):
    runs = tally(data_folder, RUNS)
    assert runs.n_steps > 40
    assert runs.n_planted >= 0.98 * runs.n_steps
    assert runs.stances.min() >= 0.09
    assert np.count_nonzero(runs.stances > 0.30) == 1  # the one with which a run stops
    assert runs.speed < 0.2


def spans(motion, name, **options):
    contacts = detect_contacts(motion, **options).contacts
    return np.array(contacts.intervals(name)) / motion.fps


def test_stairs_have_two_treads_on_either_side(data_folder):
    """Up and down twice; the file states 120 Hz, the strides show 60."""
    motion = load(data_folder, "143/143_17.bvh", file_fps=60)
    found = find_contacts(motion)
    assert found.raised == pytest.approx((0.19, 0.39), abs=0.02)
    for side in ("left", "right"):
        assert 6 <= len(found.contacts.intervals(f"{side}_ball")) <= 8
    assert found.contacts.mask.any(axis=1).mean() > 0.97


def test_a_step_up_and_a_step_down_are_found(data_folder):
    for name in ("083/83_25.bvh", "083/83_09.bvh"):
        found = find_contacts(load(data_folder, name))
        assert found.raised == pytest.approx((0.14,), abs=0.02)
        for point in ("left_ball", "right_ball"):
            assert len(found.contacts.intervals(point)) == 2


def test_who_sits_keeps_the_feet_on_the_floor(data_folder):
    found = find_contacts(load(data_folder, "143/143_18.bvh", file_fps=60))
    assert found.raised == ()
    assert found.contacts.mask.mean(axis=0).min() > 0.85


def test_a_forward_jump_has_one_flight(data_folder):
    motion = load(data_folder, "016/16_05.bvh")
    for name in ("left_ball", "right_ball"):
        (start, leave), (land, stop) = spans(motion, name)
        assert 0.4 < land - leave < 0.7
        assert (start, stop) == (0, len(motion) / motion.fps)


def test_a_cartwheel_leaves_and_touches_the_floor_again(data_folder):
    motion = load(data_folder, "049/49_06.bvh")
    feet = detect_contacts(motion).contacts.mask
    feet_joints = [motion.skeleton.roles[f"{side}_foot"] for side in ("left", "right")]
    upside_down = (motion.world().positions[:, feet_joints, 1] > motion.travel[:, 1:2]).all(axis=1)
    assert upside_down.any()
    assert not feet[upside_down].any()
    assert feet[: len(motion) // 4].any(axis=1).all()
    assert feet[-len(motion) // 5 :].any(axis=1).mean() > 0.9


def test_a_cartwheel_plants_each_hand_once_and_where_it_is_lowest(data_folder):
    """Hands come down to about 10 cm, rise by up to 20 cm while they bear the body, and move at 0.2 to 0.9 m/s."""
    motion = load(data_folder, "049/49_06.bvh")
    contacts = detect_contacts(motion, hands=True).contacts
    paths = point_paths(motion, contacts.points)
    starts = {}
    for side in ("left", "right"):
        ((start, stop),) = contacts.intervals(f"{side}_wrist")
        assert contacts.intervals(f"{side}_fingertips") == ((start, stop),)
        assert 0.1 < (stop - start) / motion.fps < 0.25
        starts[side] = start
        for part in ("wrist", "fingertips"):
            path = paths[:, contacts.index(f"{side}_{part}")]
            assert start <= path[:, 1].argmin() < stop
            # Smoothing and a twitch of the fingers may add to the 4 cm that a whole hand may rise.
            assert np.ptp(path[start:stop, 1]) < 0.06
        wrist = paths[start:stop, contacts.index(f"{side}_wrist")]
        assert np.linalg.norm(wrist[-1] - wrist[0]) < 0.8 * (stop - start) / motion.fps
    assert starts["right"] < starts["left"]


def test_a_cartwheel_cleaned_up_keeps_its_arms(data_folder):
    """Hands are planted where the recording has them, so that arms are hardly scaled."""
    motion = load(data_folder, "049/49_06.bvh")
    result = clean_with_report(motion, hands=True)
    contacts = result.motion.contacts
    lowest = point_paths(motion, contacts.points)[..., 1].min(axis=0)
    planted = [plant for plant in result.plants if plant.point.endswith(("wrist", "fingertips"))]
    assert sorted(plant.point for plant in planted) == sorted(contacts.names[4:])
    for plant in planted:
        within = 0.02 if plant.point.endswith("wrist") else 0.03
        assert -0.001 <= plant.position[1] - lowest[contacts.index(plant.point)] < within
    arms = [e for e, name in enumerate(result.limbs) if name.endswith("hand")]
    change = np.abs(result.scale[:, arms] - 1.0)
    assert change.shape[1] == 2
    assert np.quantile(change, 0.99) < 0.06
    assert change.max() < 0.08
    assert np.linalg.norm(result.shift, axis=1).max() < 0.03


@pytest.mark.parametrize(
    "name", ["144/144_13", "144/144_20", "144/144_22", "016/16_05", "016/16_15", "016/16_45", "085/85_02", "111/111_36"]
)
def test_hands_have_no_contacts_in_standing_walking_and_jumping(data_folder, name):
    assert not detect_contacts(load(data_folder, f"{name}.bvh"), hands=True).contacts.mask[:, 4:].any()


def test_the_kicking_foot_is_free_and_the_other_is_planted(data_folder):
    motion = load(data_folder, "144/144_05.bvh")
    found = find_contacts(motion)
    ball = motion.world().positions[:, motion.skeleton.roles["right_ball"], 1]
    assert found.raised == ()
    assert not found.contacts.mask[ball > found.floor + 0.1, 3].any()
    assert len(found.contacts.intervals("right_ball")) == 13  # before, between and after twelve kicks


def test_a_skeleton_without_a_standing_rest_pose(data_folder):
    path = data_folder / "bandai-namco" / "dataset-2_walk_normal_001.bvh"
    if not path.is_file():
        pytest.skip(f"no {path}")
    motion = marey.load(path)
    found = find_contacts(motion)
    assert found.floor == pytest.approx(0.042, abs=0.01)
    for side in ("left", "right"):
        assert 7 <= len(found.contacts.intervals(f"{side}_heel")) <= 10
        assert 7 <= len(found.contacts.intervals(f"{side}_ball")) <= 10
