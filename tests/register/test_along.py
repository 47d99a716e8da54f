"""Registration through a tree of pairs."""

from dataclasses import replace

import numpy as np
import pytest

from marey.blend import blend
from marey.compare import point_clouds
from marey.core.motion import Motion
from marey.core.skeleton import Skeleton
from marey.errors import InvalidValue, NotBlendable
from marey.register.tree import find_nearest_tree, register_tree, select_motions
from marey.samples import sample
from tests.parametric.takes import FEATURES, takes, walks


def apexes(motions):
    return [FEATURES["reach"].find_frame(motion) for motion in motions]


def test_landmarks_fall_together_and_ends_are_exact():
    motions = takes("reach", 12)
    marks = np.array(apexes(motions))
    reg = register_tree(motions, landmarks=marks).registration
    ends = reg.timewarp(np.array([0.0, 1.0]))
    np.testing.assert_allclose(ends[0], 0.0, atol=1e-9)
    np.testing.assert_allclose(ends[1], [motion.duration for motion in motions], atol=1e-9)
    u = reg.timewarp.inverse(reg.reference, marks[reg.reference] / reg.fps)
    assert np.abs(reg.timewarp(u) * reg.fps - marks).max() < 0.1
    assert (reg.timewarp.slope(np.linspace(0.0, 1.0, 200)) > 0.0).all()


def test_several_landmarks_in_order():
    motions = takes("reach", 4)
    marks = np.array([(frame // 2, frame) for frame in apexes(motions)])
    reg = register_tree(motions, landmarks=marks).registration
    for column in marks.T:
        u = reg.timewarp.inverse(reg.reference, column[reg.reference] / reg.fps)
        assert np.abs(reg.timewarp(u) * reg.fps - column).max() < 0.5


def test_far_ones_are_reached_through_those_between():
    # Only neighbors in the row are similar enough; the first and the last are not.
    motions = sorted(takes("reach", 10), key=lambda motion: FEATURES["reach"](motion)[1])
    ends = [motions[0], motions[-1]]
    direct = register_tree(ends, landmarks=apexes(ends), force=True).registration.distance
    tree = np.arange(len(motions)) - 1
    steps = register_tree(motions, parents=tree, landmarks=apexes(motions), max_distance=0.9 * direct)
    assert len(steps.kept) == len(motions)
    assert steps.registration.reference == 0
    assert steps.registration.distances.max() < 0.9 * direct
    with pytest.raises(NotBlendable, match="m from 'reach"):
        register_tree(ends, landmarks=apexes(ends), max_distance=0.9 * direct)


def test_one_edge_is_what_the_pair_gives():
    motions = takes("reach", 2)
    reg = register_tree(motions, parents=[-1, 0]).registration
    half = blend(reg, [0.5, 0.5], feet=None)
    lengths = [len(motion) for motion in motions]
    assert min(lengths) - 1 <= len(half) <= max(lengths) + 1
    np.testing.assert_allclose(
        blend(reg, [0.0, 1.0], feet=None).world().positions, motions[1].world().positions, atol=1e-6
    )


def test_some_motions_blend_as_among_all():
    reg = register_tree(takes("reach", 8), landmarks=apexes(takes("reach", 8))).registration
    which = [k for k in (1, 4, 6) if k != reg.reference]
    sub, stored = select_motions(reg, which)
    assert set(stored.tolist()) == {*which, reg.reference}
    weights = np.zeros(8)
    weights[which] = np.linspace(1.0, 2.0, len(which))
    weights[which[0]] = -0.2
    weights /= weights.sum()
    for feet in (None, "clean"):
        whole, part = blend(reg, weights, feet=feet), blend(sub, weights[stored], feet=feet)
        np.testing.assert_allclose(part.world().positions, whole.world().positions, atol=1e-9)
        np.testing.assert_array_equal(part.contacts.mask, whole.contacts.mask)


def test_the_tree_has_short_edges_and_one_root():
    motions = walks(8)
    clouds = [point_clouds(motion) for motion in motions]
    tree = find_nearest_tree(clouds)
    assert (tree < 0).sum() == 1
    assert find_nearest_tree(clouds, root=3)[3] == -1
    # Each path leads to the root.
    for k in range(8):
        seen = {k}
        while tree[k] >= 0:
            k = int(tree[k])
            assert k not in seen
            seen.add(k)


def test_what_cannot_be_registered_is_left_out_and_its_children_rehung():
    motions = list(takes("reach", 5))
    motions[1] = replace(sample("duck").motion[:90], name="duck")
    found = register_tree(motions, parents=[-1, 0, 1, 1, 0], max_distance=0.15)
    assert found.kept.tolist() == [0, 2, 3, 4]
    assert list(found.left_out) == [1]
    assert found.parents.tolist() == [-1, 0, 0, 0]
    assert any(note.startswith("'duck' is left out:") for note in found.registration.notes)


def test_short_ones_and_other_skeletons_are_dropped():
    motions = list(takes("reach", 4))
    skeleton = motions[0].skeleton
    taller = Skeleton(skeleton.names, skeleton.parents, 1.1 * skeleton.offsets)
    tall = motions[2]
    motions[2] = Motion(taller, tall.root_positions, tall.rotations, tall.fps, "giant", contacts=tall.contacts)
    motions[0] = replace(motions[0][:6], name="stub")
    found = register_tree(motions)
    assert found.kept.tolist() == [1, 3]
    assert "too short" in found.left_out[0]
    assert "different proportions" in found.left_out[2]


def test_force_accepts_motions_that_are_too_far_apart():
    motions = takes("reach", 3)
    found = register_tree(motions, max_distance=0.001, force=True)
    assert len(found.kept) == 3
    assert any("accepted by force" in note for note in found.registration.notes)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"parents": [-1, 2, 1]}, "form a cycle"),
        ({"parents": [-1, -1, 0]}, "exactly one -1 for the reference"),
        ({"parents": [-1, 0]}, r"parents must have shape \(3,\)"),
        ({"parents": [-1, 0, 0], "reference": 1}, "either parents or reference"),
        ({"reference": 3}, "reference, the index of a motion, must be from 0 to 2"),
        ({"landmarks": [1, 2]}, r"landmarks must have shape \(3,\) or \(3, L\), frames of each motion, not \(2, 1\)"),
        ({"landmarks": [1, 2, 9999]}, "landmarks of 'reach 2' must be increasing frames from 0 to"),
        ({"landmarks": [[5, 2], [1, 2], [1, 2]]}, "must be increasing frames"),
        ({"slope_limit": 0}, "must be from 1 to 60"),
        ({"window": -1.0}, "must be at least 0 seconds"),
    ],
)
def test_bad_input_is_refused(options, message):
    with pytest.raises(InvalidValue, match=message):
        register_tree(takes("reach", 3), **options)


def test_copies_of_one_motion_are_in_step_with_it():
    only = takes("reach", 1)[0]
    found = register_tree([only, only, only])
    assert found.kept.tolist() == [0, 1, 2]
    assert sorted(found.parents.tolist())[0] == -1
    seconds = found.registration.timewarp(np.linspace(0.0, 1.0, 30))
    np.testing.assert_allclose(seconds, np.repeat(seconds[:, :1], 3, axis=1), atol=1e-6)


def test_one_motion_is_refused():
    with pytest.raises(InvalidValue, match="at least two clips, got 1"):
        register_tree(takes("reach", 1))
    with pytest.raises(InvalidValue, match="needs motions, got a list with str"):
        register_tree(["a", "b"])
    with pytest.raises(InvalidValue, match="must contain indices of motions from 0 to"):
        select_motions(register_tree(takes("reach", 2)).registration, [7])
