"""Transitions: where they are (Heck 3.3), and how they blend (Kovar 5.4.1)."""

import math
from dataclasses import replace

import numpy as np
import pytest

from marey.blend import best_transition, transition
from marey.blend.transition_build import join_motions
from marey.compare import distance_grid
from marey.core.labels import Label, Labels
from marey.errors import InvalidValue, NoResult
from marey.maths import rigid2d
from marey.measure import measure
from marey.samples import sample
from tests.blend.helpers import furthest

FPS = 60.0


@pytest.fixture(scope="module")
def walk():
    return sample("walk", fps=FPS, seconds=6.0).motion


@pytest.fixture(scope="module")
def run():
    """Return the motion at another place and with another heading."""
    return sample("run", fps=FPS, seconds=5.0, turn_rate=0.5).motion.moved([2.0, 30.0, -10.0])


def record_of(motion):
    return next(step for step in motion.source.provenance if step["op"] == "transition")


@pytest.fixture(scope="module", params=["resample", "integer"])
def made(request, walk, run):
    return transition(walk, run, boundaries=request.param, feet=None)


# How ------------------------------------------------------------------------------------------------------------------


def test_before_it_is_the_first_motion(made, walk):
    start, _ = record_of(made)["frames"]
    assert start > 10
    assert furthest(made[:start], walk[:start]) == 0.0
    np.testing.assert_array_equal(made.contacts.mask[:start], walk.contacts.mask[:start])


def test_after_it_is_the_second_motion_somewhere_else(made, run):
    record = record_of(made)
    rest = made[record["frames"][1] :]
    assert len(rest) > 60
    # The transition ends at `to`, and the next frame on the first motion's clock comes up to a frame later.
    from marey.core.placement import find_placement

    def gap(fraction: float) -> float:
        times = record["to"] + (fraction + np.arange(len(rest))) / FPS
        if times[-1] > run.duration:
            return math.inf
        there = run.at(times)
        carried = rigid2d.between(find_placement(there, 0), find_placement(rest, 0))
        return furthest(there.moved(carried), rest)

    shares = np.linspace(0.0, 1.0, 26)
    near = shares[int(np.argmin([gap(fraction) for fraction in shares]))]
    assert min(gap(fraction) for fraction in np.clip(near + np.linspace(-0.04, 0.04, 41), 0.0, 1.0)) < 2e-3


def test_integer_boundaries_use_exact_frames_of_the_second_motion(walk, run):
    made = transition(walk, run, boundaries="integer", feet=None)
    record = record_of(made)
    frame = record["to"] * FPS
    assert frame == pytest.approx(round(frame), abs=1e-9)
    assert record["from"] * FPS == pytest.approx(round(record["from"] * FPS), abs=1e-9)
    start, stop = record["frames"]
    assert stop - start == 61
    rest, there = made[stop:], run[round(frame) + 1 :]
    assert len(rest) == len(there)
    # Local rotations below the hips are those of the run.
    np.testing.assert_allclose(np.abs((rest.rotations[:, 1:] * there.rotations[:, 1:]).sum(axis=-1)), 1.0, atol=1e-12)


def test_nothing_jumps(made, walk, run):
    def jump(motion):
        return float(np.linalg.norm(np.diff(motion.world().positions, n=2, axis=0), axis=-1).max())

    start, stop = record_of(made)["frames"]
    assert jump(made[start - 5 : stop + 5]) < max(jump(walk), jump(run))


def test_a_transition_has_the_requested_length(walk, run):
    for length in (0.5, 1.0, 1.3):
        start, stop = record_of(transition(walk, run, length=length, feet=None))["frames"]
        assert stop - start == pytest.approx(length * FPS, abs=1.0)


def test_speed_goes_over_from_one_to_the_other(made):
    start, stop = record_of(made)["frames"]
    speed = np.linalg.norm(np.diff(made.travel[:, [0, 2]], axis=0), axis=1) * FPS
    assert speed[: start - 1].mean() == pytest.approx(1.3, abs=0.1)
    assert speed[stop:].mean() == pytest.approx(3.0, abs=0.15)
    assert 1.3 < speed[start:stop].mean() < 3.0


def test_labels_and_contacts_are_carried_over(made, walk, run):
    assert made.labels.names == ("run", "turn_left", "walk")
    (label,) = (item for item in made.labels if item.name == "walk")
    start, stop = record_of(made)["frames"]
    assert label.start == 0
    assert start < label.stop <= stop
    for name in made.contacts.names:
        inside = [span for span in made.contacts.intervals(name) if span[0] < stop and span[1] > start]
        assert inside, name


def test_held_contacts_do_not_slide(walk, run):
    raw, held = (transition(walk, run, feet=feet) for feet in (None, "clean"))
    assert measure(held)["slide_contact"].value < 1e-4 < measure(raw)["slide_contact"].value
    assert held.name == "walk to run"


def test_the_middle_is_at_the_requested_times(walk, run):
    given = best_transition(walk, run)
    made = transition(walk, run, at=(given.at_a, given.at_b), feet=None)
    same = transition(walk, run, feet=None)
    assert furthest(made, same) == 0.0
    record = record_of(made)
    assert record["from"] < given.at_a
    assert record["to"] > given.at_b
    assert record["at"] == [given.at_a, given.at_b]


def test_a_motion_into_itself_at_the_same_moment_is_that_motion(walk):
    made = transition(walk, walk, at=(3.0, 3.0), feet=None)
    n = min(len(made), len(walk))
    assert abs(len(made) - len(walk)) <= 1
    assert furthest(made[:n], walk[:n]) < 1e-3


def test_different_floors_meet_on_the_first_one(walk, run):
    up = replace(run, root_positions=run.root_positions + [0.0, 0.5, 0.0], source=replace(run.source, floor=0.5))
    one, two = transition(walk, run, feet=None), transition(walk, up, feet=None)
    assert two.source.floor == 0.0
    assert furthest(one, two) < 1e-9


def test_other_rates_are_brought_together(walk):
    slow = sample("run", fps=30.0, seconds=4.0).motion
    made = transition(walk, slow, feet=None)
    assert made.fps == 60.0
    assert any("resampled" in note for note in record_of(made)["notes"])


# Where ----------------------------------------------------------------------------------------------------------------


def test_the_best_point_is_the_smallest_of_the_grid(walk, run):
    point = best_transition(walk, run, length=1.0, search_window=0.1)
    values = distance_grid(walk, run, window=0.1).values[30:-30, 30:-30]
    assert point.distance == pytest.approx(np.sqrt(values.min()))
    i, j = np.unravel_index(np.argmin(values), values.shape)
    assert (point.at_a * FPS, point.at_b * FPS) == (pytest.approx(i + 30), pytest.approx(j + 30))


def test_regions_are_respected(walk, run):
    point = best_transition(walk, run, region_a=(3.9, 4.1), region_b=(1.0, 1.6))
    assert 3.9 <= point.at_a <= 4.1
    assert 1.0 <= point.at_b <= 1.6
    made = transition(walk, run, region_a=(3.9, 4.1), region_b=(1.0, 1.6), feet=None)
    assert 3.9 <= record_of(made)["at"][0] <= 4.1


def test_feet_can_be_required_to_agree(walk, run):
    point = best_transition(walk, run, contacts="refuse")
    masks = [m.contacts.mask[round(t * FPS)] for m, t in zip((walk, run), point[:2], strict=True)]
    np.testing.assert_array_equal(*masks)


# Bad input ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"at": (1.0,)}, InvalidValue, "two times"),
        ({"at": (1.0, 50.0)}, InvalidValue, "50 s is outside 'run', which lasts 5.00 s"),
        ({"at": (-1.0, 1.0)}, InvalidValue, "-1 s is outside 'walk'"),
        ({"length": 0.0}, InvalidValue, "length must be greater than 0 seconds"),
        ({"length": 0.02}, InvalidValue, "at least 2 frames"),
        ({"length": 9.0}, NoResult, "leaves no room for a transition of 9 s"),
        ({"at": (0.1, 2.0)}, NoResult, "does not fit here.*before its middle"),
        ({"at": (2.0, 4.9)}, NoResult, "does not fit here.*after its middle"),
        ({"boundaries": "round"}, InvalidValue, "boundaries must be"),
        ({"region_a": (3.0, 99.0)}, InvalidValue, "must have 0 <= start <= end <= 6.00 s"),
        ({"region_a": (2.0, 1.0)}, InvalidValue, "must have 0 <= start <= end <= 6.00 s, not 2 to 1"),
        ({"region_a": 3.0}, InvalidValue, r"must be \(start, end\) in seconds"),
        ({"region_b": (4.8, 5.0)}, NoResult, "leaves no room between 4.8 and 5 s"),
        ({"window": -1.0}, InvalidValue, "window"),
        ({"slope_limit": 0}, InvalidValue, "slope"),
    ],
)
def test_bad_arguments(walk, run, options, error, message):
    with pytest.raises(error, match=message):
        transition(walk, run, **options)


def test_other_bodies_are_refused(walk, run):
    big = replace(run, skeleton=replace(run.skeleton, offsets=1.3 * run.skeleton.offsets))
    with pytest.raises(InvalidValue, match="retarget"):
        transition(walk, big)


def test_joined_labels_go_on_over_a_seam(walk):
    first = replace(walk[:10], labels=Labels((Label("walk", 0, 10), Label("wave", 2, 5))))
    second = replace(walk[10:30], labels=Labels((Label("walk", 0, 20), Label("wave", 3, 6))))
    third = replace(walk[30:40], labels=Labels((Label("walk", 0, 4),)))
    made = join_motions([first, second, third])
    assert set(made.labels) == {("walk", 0, 34), ("wave", 2, 5), ("wave", 13, 16)}
    assert furthest(made, walk[:40]) == 0.0
