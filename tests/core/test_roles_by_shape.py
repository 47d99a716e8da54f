"""Roles by shape alone, and skeletons that are not human."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marey.core.roles import ROLE_NAMES, find_roles
from tests.core import skeletons
from tests.core.role_helpers import MAIN, TWO_BRANCHES, label, main, named, nameless, shape_roles, turn, world
from tests.core.skeletons import CMU, LAFAN1, LAFAN1_POSED, SHAPELY, SMPL, TUTORIAL, Rig, read_table
from tests.tiers import shorten

# Shape ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rig", SHAPELY, ids=label)
def test_shape_alone_identifies_the_main_joints(rig):
    found, roles = shape_roles(rig)
    expected = main(rig.roles)
    if rig is skeletons.BIPED:
        # Arms are children of the neck: what follows them looks like a neck with a head.
        expected["head"] = "Bip01 HeadNub"
    assert main(roles) == expected
    assert found.how == "structure"


@pytest.mark.parametrize("rig", [CMU, SMPL, skeletons.XSENS, skeletons.UE5], ids=label)
def test_shape_alone_identifies_all_joints(rig):
    found, roles = shape_roles(rig)
    assert roles == rig.roles
    assert tuple(rig.names[joint] for joint in found.spine) == rig.spine


def test_a_frame_replaces_a_rest_pose_that_is_not_a_pose():
    found, roles = shape_roles(LAFAN1, world(LAFAN1.parents, LAFAN1_POSED))
    assert roles == LAFAN1.roles
    assert tuple(LAFAN1.names[joint] for joint in found.spine) == LAFAN1.spine


@pytest.mark.parametrize("rig", [LAFAN1, skeletons.BANDAI], ids=label)
def test_a_rest_pose_along_one_axis_has_no_sides(rig):
    found, roles = shape_roles(rig)
    assert roles == {r: n for r, n in rig.roles.items() if not r.startswith(("left_", "right_"))}
    assert set(found.missing) == {r for r in ROLE_NAMES if r.startswith(("left_", "right_"))}


def test_feet_without_toes_do_not_determine_sides():
    names = [f"joint{n}" for n in range(len(TUTORIAL.names))]
    names = [
        f"joint{TUTORIAL.parents[n]}End" if TUTORIAL.names[n].endswith("End") else names[n] for n in range(len(names))
    ]
    found = find_roles(names, TUTORIAL.parents, TUTORIAL.offsets)
    assert {role: TUTORIAL.names[joint] for role, joint in found.items()} == {
        "hips": "Hips", "spine": "Chest", "chest": "Chest", "neck": "Neck", "head": "Head",
    }  # fmt: skip


def test_side_marks_in_names_settle_the_sides():
    side = {"Left": "L", "Righ": "R"}
    names = [f"n{n}_{side.get(name[:4], 'C')}" for n, name in enumerate(TUTORIAL.names)]
    found = find_roles(names, TUTORIAL.parents, TUTORIAL.offsets)
    assert main({role: TUTORIAL.names[joint] for role, joint in found.items()})["left_hand"] == "LeftHand"
    assert all(f"{part}" in found for part in MAIN)
    assert found.how == "structure"


def test_names_have_the_last_word_on_sides():
    # A character that is its own mirror image: its feet show left where its names say right.
    roles = find_roles(CMU.names, CMU.parents, CMU.offsets * [-1, 1, 1])
    assert named(roles) == CMU.roles
    _, by_shape = shape_roles(Rig("", "", CMU.names, CMU.parents, CMU.offsets * [-1, 1, 1], {}, ()))
    assert by_shape["left_hand"] == "RightHand"


TURNS = st.tuples(
    st.tuples(*[st.floats(-1, 1)] * 3).filter(lambda axis: np.linalg.norm(axis) > 0.1), st.floats(-np.pi, np.pi)
)


@settings(max_examples=shorten(25), deadline=None)
@given(TURNS, st.floats(-6, 6), st.sampled_from([CMU, SMPL, skeletons.MIXAMO, skeletons.DAZ]))
def test_orientation_and_size_do_not_matter(turned, magnitude, rig):
    offsets = rig.offsets @ turn(*turned).T * 10.0**magnitude
    _, roles = shape_roles(Rig("", "", rig.names, rig.parents, offsets, {}, ()))
    assert main(roles) == main(rig.roles)


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 0, 1), (1, 1, 1)])
def test_z_up_and_lying_bodies(axis):
    for rig in SHAPELY:
        offsets = rig.offsets @ turn(axis, np.pi / 2).T
        _, roles = shape_roles(Rig("", "", rig.names, rig.parents, offsets, {}, ()))
        assert main(roles) == main(shape_roles(rig)[1])


@settings(max_examples=shorten(25), deadline=None)
@given(st.randoms(use_true_random=False), st.sampled_from([CMU, SMPL, skeletons.UE]))
def test_joint_order_does_not_matter(random, rig):
    order = shuffled(rig.parents, random)
    names = [rig.names[joint] for joint in order]
    place = {joint: n for n, joint in enumerate(order)}
    parents = [-1 if rig.parents[joint] < 0 else place[rig.parents[joint]] for joint in order]
    found = find_roles(nameless(len(order)), parents, rig.offsets[order])
    assert main({role: names[joint] for role, joint in found.items()}) == main(rig.roles)
    assert named(find_roles(names, parents, rig.offsets[order])) == rig.roles


def shuffled(parents, random):
    """Return a random order with parents before children."""
    order, free = [], [0]
    while free:
        joint = free.pop(random.randrange(len(free)))
        order.append(joint)
        free += [child for child in range(len(parents)) if parents[child] == joint]
    return order


def with_branch(rig, parent, *offsets):
    """Return the rig with another chain of joints below `parent`."""
    names, parents, points = list(rig.names), rig.parents.tolist(), rig.offsets.tolist()
    above = names.index(parent)
    for offset in offsets:
        parents.append(above)
        above = len(names)
        names.append(f"extra{above}")
        points.append(list(offset))
    return Rig(rig.label, "", tuple(names), np.array(parents), np.array(points, dtype=float), rig.roles, rig.spine)


@pytest.mark.parametrize(
    "extras",
    [
        [("RightHand", (-0.1, 0, 0), (0, 0.1, 0.9))],  # a sword in one hand
        [("RightHand", (0, 0, 0.6)), ("LeftHand", (0, 0, 0.6))],  # a staff across both
        [("Hips", (0, 0, -0.1), (0, 0, -0.2), (0, 0, -0.2), (0, 0, -0.2))],  # a tail
        [("Spine1", (0, 0, -0.2), (0, -0.5, -0.1), (0, -0.5, 0))],  # a cape
        [("LeftUpLeg", (0.05, -0.2, 0)), ("RightUpLeg", (-0.05, -0.2, 0))],  # twist joints
        [("LeftArm", (0.14, 0, 0)), ("LeftForeArm", (0.1, 0, 0))],  # on one side only
        [("Head", (0.03, 0.05, 0.08)), ("Head", (-0.03, 0.05, 0.08)), ("Head", (0, 0, 0.08))],  # a face
    ],
)
def test_extra_joints_are_not_limbs(extras):
    rig = CMU
    for parent, *offsets in extras:
        rig = with_branch(rig, parent, *offsets)
    _, roles = shape_roles(rig)
    assert main(roles) == main(CMU.roles)


def test_a_held_object_is_not_a_fingertip():
    bare = Rig("", "", *read_table(TWO_BRANCHES), {}, ())
    armed = with_branch(bare, "RightHand", (0, 0, 0.6))
    assert "right_fingertips" not in find_roles(armed.names, armed.parents, armed.offsets)
    hand = with_branch(bare, "RightHand", (0, 0, 0.16))
    assert named(find_roles(hand.names, hand.parents, hand.offsets))["right_fingertips"] == hand.names[-1]


def test_a_root_far_from_the_hips_does_not_matter():
    for way in ([0, -0.9, 0], [0, -0.9, 30.0]):
        parents = np.concatenate([[-1], CMU.parents + 1])
        offsets = np.concatenate([[way], CMU.offsets])
        offsets[1] = np.negative(way)
        found = find_roles(nameless(len(parents)), parents, offsets)
        assert main({role: CMU.names[joint - 1] for role, joint in found.items()}) == main(CMU.roles)


# What is not human ------------------------------------------------------------------------------------------

DOG = read_table("""
a 0 0.6 0
  t 0 0 -0.1
    tt 0 0 -0.12
      ttt 0 0 -0.12
  +h 0.06 -0.02 0
    +hh 0.02 -0.2 0.06
      +hhh 0 -0.17 -0.12
        +hhhh 0 -0.16 0.04
          +hhhhh 0 -0.02 0.07
  b 0 0.01 0.2
    bb 0 0 0.2
      bbb 0 0.02 0.15
        n 0 0.1 0.1
          nn 0 0.1 0.1
            nnn 0 0 0.15
        +f 0.05 -0.08 0.06
          +ff 0.02 -0.15 -0.05
            +fff 0 -0.2 0.02
              +ffff 0 -0.1 0.01
                +fffff 0 -0.02 0.06
""")
SPIDER = read_table("a 0 0.3 0\n" + "".join(
    f"  +{leg} 0.1 0 {z}\n    +{leg}2 0.3 0.2 0\n      +{leg}3 0.3 -0.4 0\n        +{leg}4 0.05 -0.1 0\n"
    for leg, z in (("x", 0.1), ("y", 0.0), ("z", -0.1), ("w", -0.2))
))  # fmt: skip


@pytest.mark.parametrize(
    ("parents", "offsets"),
    [
        ([-1], [[0, 0, 0]]),
        ([-1, 0, 1], [[0, 0, 0], [0, 0, 15], [0, 0, 30]]),
        ([-1, 0, 1, 2], [[0, 0, 0], [0, 5, 0], [-5, 0, 0], [0, 3, 0]]),
        (list(range(-1, 3000)), np.ones((3001, 3))),
        ([-1] + [0] * 500, np.ones((501, 3))),
        (list(range(-1, 20)), np.zeros((21, 3))),
        ([-1] + [(joint - 1) // 2 for joint in range(1, 63)], np.zeros((63, 3))),
        DOG[1:],
        SPIDER[1:],
    ],
    ids=["one", "two", "chain", "long", "star", "point", "tree of points", "dog", "spider"],
)
def test_skeletons_that_are_not_human_have_no_roles(parents, offsets):
    roles = find_roles(nameless(len(parents)), parents, offsets)
    assert dict(roles) == {}
    assert roles.spine == ()
    assert roles.how == "nothing found"
    assert roles.missing == ROLE_NAMES


@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1e-12, 1e12, 1e300, 1e307])
def test_no_size_is_too_small_or_too_large(scale):
    found, roles = shape_roles(Rig("", "", CMU.names, CMU.parents, CMU.offsets * scale, {}, ()))
    assert main(roles) == main(CMU.roles) or (scale == 5e-324 and not found)
    traveled = CMU.offsets.copy()
    traveled[1] = scale
    assert set(find_roles(nameless(len(traveled)), CMU.parents, traveled)) <= set(ROLE_NAMES)


@settings(max_examples=shorten(60), deadline=None)
@given(st.data())
def test_any_tree_with_any_names_gives_roles_that_agree_with_it(data):
    n = data.draw(st.integers(1, 40))
    parents = [-1] + [data.draw(st.integers(max(0, joint - 6), joint - 1)) for joint in range(1, n)]
    words = st.sampled_from(["Left", "R", "_l", "arm", "Hand", "leg", "Foot", "spine", "Head", "hips", "End", "1", ":"])
    names = [data.draw(st.lists(words, max_size=4).map("".join)) for _ in range(n)]
    offsets = data.draw(st.lists(st.tuples(*[st.floats(-1, 1)] * 3), min_size=n, max_size=n))
    roles = find_roles(names, parents, offsets)
    for chain in CHAINS:
        for side in ("left", "right"):
            joints = [roles[role.format(side)] for role in chain if role.format(side) in roles]
            assert all(hangs(parents, low, high) for high, low in pairwise(joints))
    assert all(parents[low] == high for high, low in pairwise(roles.spine))


CHAINS = (
    ("hips", "{}_upper_leg", "{}_lower_leg", "{}_foot", "{}_ball", "{}_toe_tip"),
    ("{}_shoulder", "{}_upper_arm", "{}_forearm", "{}_hand", "{}_fingertips"),
    ("neck", "head"),
)


def hangs(parents, joint, ancestor):
    while joint not in (-1, ancestor):
        joint = parents[joint]
    return joint == ancestor
