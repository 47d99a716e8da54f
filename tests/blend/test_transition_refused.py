"""Transitions that are refused, skipped or forced, and limits on how fast motions may turn relative to each other."""

from dataclasses import replace

import numpy as np
import pytest

import marey
from marey.blend import best_transition, transition
from marey.compare import Clouds, frame_weights, point_clouds
from marey.core.contacts import Contacts
from marey.errors import InvalidValue, NoResult, NotBlendable
from marey.maths import rigid2d
from marey.register.curves import TimewarpCurve, alignment_curve
from marey.samples import sample

FPS = 60.0
MOST = np.radians(20.0)  # of the hips within a frame at 60 Hz


@pytest.fixture(scope="module")
def walk():
    return sample("walk", fps=FPS, seconds=6.0).motion


@pytest.fixture(scope="module")
def run():
    return sample("run", fps=FPS, seconds=5.0).motion


def record_of(motion):
    return next(step for step in motion.source.provenance if step["op"] == "transition")


def turn(motion):
    """Return the largest angle by which the hips rotate from one frame to the next."""
    hips = motion.rotations[:, 0]
    return float(2.0 * np.arccos(np.clip(np.abs((hips[1:] * hips[:-1]).sum(axis=1)), 0.0, 1.0)).max())


def swapped_feet(motion):
    """Return the motion with left and right contacts swapped."""
    names = motion.contacts.names
    other = [
        names.index(name.replace("left", "right") if "left" in name else name.replace("right", "left"))
        for name in names
    ]
    return replace(motion, contacts=Contacts(motion.contacts.points, motion.contacts.mask[:, other]))


# Refused --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("at", [(1.4, 1.5), (2.0, 1.0)])
def test_points_that_would_spin_the_body_are_refused(at):
    walk, run = sample("walk", rng=1).motion, sample("run", rng=2).motion
    with pytest.raises(NotBlendable, match=r"are 0\.\d+ m apart"):
        transition(walk, run, at=at)
    with pytest.raises(NotBlendable, match=r"cannot be joined: .* changes by \d+ degrees in one frame"):
        transition(walk, run, at=at, force=True)


@pytest.mark.parametrize("force", [False, True])
def test_no_result_flips(walk, run, force):
    n_made = 0
    for at_a in (1.0, 1.3, 1.6, 1.9, 2.2):
        for at_b in (1.0, 1.2, 1.4, 1.6):
            try:
                result = transition(walk, run, at=(at_a, at_b), length=0.6, feet=None, force=force)
            except NotBlendable:
                continue
            n_made += 1
            assert turn(result) < MOST, (at_a, at_b)
    assert n_made >= 5


def test_a_middle_too_far_apart_is_refused_and_may_be_forced(walk, run):
    with pytest.raises(
        NotBlendable, match=r"at 1\.30 s and 1\.40 s are 0\.3\d\d m apart in the middle .* 0\.3 m; choose"
    ):
        transition(walk, run, at=(1.3, 1.4), length=0.6)
    result = transition(walk, run, at=(1.3, 1.4), length=0.6, force=True, feet=None)
    assert any(note.startswith("accepted by force, although 'walk' and 'run'") for note in record_of(result)["notes"])


def test_a_path_too_far_apart_is_refused_and_may_be_forced(walk, run):
    with pytest.raises(NotBlendable, match=r"are 0\.2\d\d m apart over the transition .* more than 0\.22 m"):
        transition(walk, run, at=(1.2, 1.3), length=0.6)
    result = transition(walk, run, at=(1.2, 1.3), length=0.6, force=True, feet=None)
    assert record_of(result)["path_distance"] > 0.22


def test_opposite_feet_are_refused_and_may_be_forced(walk):
    other = swapped_feet(walk)
    with pytest.raises(NotBlendable, match=r"stand on opposite feet for \d\d % of the transition, more than 10 %"):
        transition(walk, other, at=(3.0, 3.0))
    result = transition(walk, other, at=(3.0, 3.0), force=True, feet=None)
    assert "opposite feet" in record_of(result)["notes"][0]


def test_only_the_transition_itself_is_looked_at(walk):
    """Different contacts before and after it do not matter."""
    mask = walk.contacts.mask.copy()
    far = np.abs(np.arange(len(walk)) / FPS - 3.0) > 0.4
    mask[far] = swapped_feet(walk).contacts.mask[far]
    other = replace(walk, contacts=Contacts(walk.contacts.points, mask))
    result = transition(walk, other, at=(3.0, 3.0), length=0.6, feet=None)
    assert record_of(result)["notes"] == []


def test_the_automatic_choice_skips_refused_points(walk, run):
    best = best_transition(walk, run, length=0.5)
    # Around that point, the contacts of the run are those of the other foot; elsewhere they are right.
    mask, wrong = run.contacts.mask.copy(), np.abs(np.arange(len(run)) / FPS - best.at_b) < 0.6
    mask[wrong] = swapped_feet(run).contacts.mask[wrong]
    other = replace(run, contacts=Contacts(run.contacts.points, mask))
    assert best_transition(walk, other, length=0.5) == best
    with pytest.raises(NotBlendable, match="opposite feet"):
        transition(walk, other, at=best[:2], length=0.5)
    taken = record_of(transition(walk, other, length=0.5, feet=None))
    assert abs(taken["at"][1] - best.at_b) > 0.2
    assert taken["distance"] >= best.distance


def test_if_no_point_works_the_best_one_is_reported(walk):
    with pytest.raises(
        NotBlendable, match=r"none of the \d+ best points can be used; at the best one, .* opposite feet"
    ):
        transition(walk, swapped_feet(walk), length=0.5)


# Windows and search ---------------------------------------------------------------------------------------------------


def test_the_search_window_chooses_the_point(walk, run):
    for seconds in (0.1, 0.5):
        point = best_transition(walk, run, length=0.5, search_window=seconds)
        record = record_of(transition(walk, run, length=0.5, search_window=seconds, window=0.2, feet=None))
        assert record["at"] == [point.at_a, point.at_b]
        assert record["distance"] == pytest.approx(point.distance)
        assert (record["search_window"], record["window"]) == (seconds, 0.2)
        again = transition(walk, run, at=point[:2], length=0.5, search_window=seconds, window=0.2, feet=None)
        assert record_of(again)["distance"] == pytest.approx(point.distance)


def test_a_bad_search_window_is_refused(walk, run):
    with pytest.raises(InvalidValue, match="search_window must be at least 0 seconds"):
        transition(walk, run, search_window=-0.1)


@pytest.mark.parametrize("given", [{"region_a": (1.0, 2.0)}, {"region_b": (1.0, 2.0)}, {"contacts": "refuse"}])
def test_a_given_point_needs_no_search(walk, run, given):
    with pytest.raises(
        InvalidValue, match=f"`{next(iter(given))}=` restricts the search for the best point, but `at=` gives"
    ):
        transition(walk, run, at=(2.0, 1.0), **given)


# Turns ----------------------------------------------------------------------------------------------------------------


def turned(fps, degrees, seconds):
    """Return the clouds of a walk, and of the same walk rotated by an angle about its middle, within some seconds."""
    motion = sample("walk", fps=fps, seconds=4.0).motion
    clouds = point_clouds(motion)
    fraction = np.clip((np.arange(len(motion)) / fps - 2.0) / seconds, 0.0, 1.0)
    moves = np.zeros((len(motion), 3))
    moves[:, 0] = np.radians(degrees) * fraction
    points = rigid2d.apply(moves[:, None], clouds.points)
    curve = TimewarpCurve.fit(np.linspace(np.zeros(2), np.full(2, motion.duration), len(motion)))
    return [clouds, Clouds(points, clouds.weights, fps, "turned", clouds.names)], curve


@pytest.mark.parametrize("fps", [30.0, 60.0, 120.0])
def test_the_limit_is_a_rate(fps):
    for speed, refused in ((15.0, False), (26.0, True)):  # radians per second
        clouds, curve = turned(fps, np.degrees(speed) * 0.2, 0.2)
        if not refused:
            result = alignment_curve(clouds, curve, 0, frame_weights(0.0, fps))
            assert abs(result(1.0)[1, 0]) == pytest.approx(speed * 0.2, abs=1e-3)
            continue
        with pytest.raises(NotBlendable, match=r"changes by \d+ degrees in one frame \(limit \d+ degrees\)"):
            alignment_curve(clouds, curve, 0, frame_weights(0.0, fps))


def test_turns_outside_the_used_part_do_not_matter():
    clouds, curve = turned(60.0, 40.0, 1.0 / 60.0)
    weights = frame_weights(0.0, 60.0)
    for used in ((0.0, 0.4), (0.6, 1.0)):
        assert alignment_curve(clouds, curve, 0, weights, used=used).n_motions == 2
    with pytest.raises(NotBlendable, match="40 degrees"):
        alignment_curve(clouds, curve, 0, weights, used=(0.3, 0.49))


# Recordings -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def recorded(data_folder):
    folder = data_folder / "cmu" / "016"
    if not folder.is_dir():
        pytest.skip(f"no walks and runs at {folder}")
    return {k: marey.detect_contacts(marey.load(folder / f"16_{k}.bvh")) for k in (15, 21, 35, 37, 55)}


def test_a_recorded_point_out_of_step_is_refused(recorded):
    with pytest.raises(NotBlendable, match="m apart in the middle of the transition"):
        transition(recorded[21], recorded[55], at=(0.8, 0.83), length=0.6)
    with pytest.raises(NotBlendable, match="degrees in one frame"):
        transition(recorded[21], recorded[55], at=(0.8, 0.83), length=0.6, force=True)


@pytest.mark.parametrize("pair", [(15, 37), (21, 55), (35, 15), (55, 35)], ids=str)
def test_recordings_go_over_without_a_jump(recorded, pair):
    a, b = (recorded[k] for k in pair)
    result = transition(a, b, length=0.5, feet=None)
    record = record_of(result)
    start, stop = record["frames"]
    assert record["path_distance"] <= 0.22
    assert turn(result[max(start - 2, 0) : stop + 2]) < 1.2 * max(turn(a), turn(b))


def test_no_room_is_still_reported_as_such(walk, run):
    with pytest.raises(NoResult, match="does not fit here"):
        transition(walk, run, at=(0.1, 2.0))


def test_the_longest_transition_that_fits_is_named_and_fits(walk):
    with pytest.raises(NoResult, match=r"use `length=[\d.]+` or less, or another point") as error:
        transition(walk, walk, at=(0.3, 0.3))
    assert error.value.parameter == "length"
    longest = float(error.value.remedy.split("`length=")[1].split("`")[0])
    assert longest > 0.0
    transition(walk, walk, at=(0.3, 0.3), length=longest)
