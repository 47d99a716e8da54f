"""Roles by profile and by words, on tables of well-known rigs; the value, maps and errors."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from marey.core.role_profiles import PROFILES, read_names, roles_by_words
from marey.core.roles import ROLE_NAMES, Roles, find_roles
from marey.errors import InvalidValue, JointNotFound
from tests.core import skeletons
from tests.core.role_helpers import MAIN, TWO_BRANCHES, label, named, nameless
from tests.core.skeletons import CMU, RIGS, mixamo, read_table

# Profiles and words -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("rig", RIGS, ids=label)
def test_a_rig_is_known_by_its_names(rig):
    roles = find_roles(rig.names, rig.parents, rig.offsets)
    assert named(roles) == rig.roles
    assert tuple(rig.names[joint] for joint in roles.spine) == rig.spine
    assert roles.how == rig.how


def test_every_profile_has_a_rig_in_the_tests():
    report = {rig.how for rig in RIGS}
    assert {f"profile {profile.name}" for profile in PROFILES} <= report


@pytest.mark.parametrize("prefix", skeletons.MIXAMO_SPELLINGS)
def test_namespaces_and_prefixes_do_not_matter(prefix):
    rig = mixamo(prefix)
    roles = find_roles(rig.names, rig.parents, rig.offsets)
    assert named(roles) == rig.roles
    assert roles.how == "profile Mixamo"


@pytest.mark.parametrize("spell", [str.upper, str.lower, lambda name: f"Scene|model:{name}"])
def test_case_and_namespaces_do_not_matter(spell):
    names = tuple(spell(name) for name in CMU.names)
    roles = find_roles(names, CMU.parents, CMU.offsets)
    assert named(roles) == {role: spell(name) for role, name in CMU.roles.items()}
    assert roles.how == "profile CMU"


# Rigify numbers its spine; Motive writes side and part as two letters in a row (LUArm). Only profiles know them. MHR
# has a second joint named head, whose place tells it from the first.
_NOT_BY_WORDS = (skeletons.RIGIFY, skeletons.MOTIVE, skeletons.MHR)


@pytest.mark.parametrize("rig", [rig for rig in RIGS if rig not in _NOT_BY_WORDS], ids=label)
def test_names_alone_identify_the_main_joints(rig):
    by_words = roles_by_words(read_names(rig.names))
    assert {role: rig.names[joint] for role, joint in by_words.items() if role in MAIN} == {
        role: name for role, name in rig.roles.items() if role in MAIN and (role != "hips" or "hips" in by_words)
    }


def test_a_profile_whose_hierarchy_disagrees_is_not_believed():
    # The names of shins and feet are swapped: the profile would put the shin below the foot.
    names = [name.replace("LeftLeg", "?").replace("LeftFoot", "LeftLeg").replace("?", "LeftFoot") for name in CMU.names]
    roles = find_roles(names, CMU.parents, CMU.offsets)
    assert "profile" not in roles.how
    thigh, shin, foot = (roles[f"left_{part}"] for part in ("upper_leg", "lower_leg", "foot"))
    assert CMU.parents[foot] == shin
    assert CMU.parents[shin] == thigh


@pytest.mark.parametrize(
    ("name", "side", "part"),
    [
        ("LeftUpLeg", 1, "thigh"),
        ("Bip01 R Thigh", -1, None),  # in this name alone, the prefix is not recognized
        ("lfemur", 1, "thigh"),
        ("thigh.L", 1, "thigh"),
        ("LOWER_LEG-R", -1, "shin"),
        ("leftknee", 1, "shin"),
        ("KneeLeft", 1, "shin"),
        ("L5", 0, None),
        ("lower_back", 0, None),
        ("upperarm_twist_01_l", 1, None),
        ("hand_ik.R", -1, None),
        ("LeftToeBaseEnd", 1, None),
        ("L_Clavicle_JNT_012", 1, "collar"),
        ("Äste", 0, None),
        ("", 0, None),
        ("___", 0, None),
    ],
)
def test_reading_one_name(name, side, part):
    read = read_names([name])
    assert (read.sides[0], read.parts[0]) == (side, part)


def test_a_hip_that_carries_only_legs_keeps_its_name():
    names, parents, offsets = read_table(TWO_BRANCHES)
    roles = find_roles(names, parents, offsets)
    assert named(roles)["hips"] == "Hips"
    assert [names[joint] for joint in roles.spine] == ["Waist", "Chest"]


def test_hips_that_carry_no_legs_are_none():
    names, parents, offsets = read_table(TWO_BRANCHES.replace("Hips", "Pants").replace("Waist", "Hips"))
    roles = find_roles(names, parents, offsets)
    assert named(roles)["hips"] == "Body"
    assert named(roles)["left_upper_leg"] == "LeftThigh"
    assert [names[joint] for joint in roles.spine] == ["Hips", "Chest"]


def test_hips_are_where_the_thighs_hang():
    # An option of 3ds Max: thighs are children of the first spine joint, which must not count as spine then.
    names, parents, offsets = read_table("""
Bip01 0 0.95 0
  Bip01 Pelvis 0 0 0
    Bip01 Spine 0 0.1 0
      Bip01 + Thigh 0.09 -0.1 0
        Bip01 + Calf 0 -0.43 0
          Bip01 + Foot 0 -0.42 0
            Bip01 + Toe0 0 -0.09 0.13
      Bip01 Spine1 0 0.13 0
        Bip01 Neck 0 0.14 0
          Bip01 Head 0 0.09 0
          Bip01 + Clavicle 0.03 -0.02 0
            Bip01 + UpperArm 0.13 0 0
              Bip01 + Forearm 0.28 0 0
                Bip01 + Hand 0.25 0 0
""")
    roles = find_roles(names, parents, offsets)
    assert roles.how == "profile Biped"
    assert named(roles)["hips"] == "Bip01 Spine"
    assert [names[joint] for joint in roles.spine] == ["Bip01 Spine1"]


def test_fingertips_prefer_middle_then_index_then_the_longest():
    table = """
  *Hand 0.25 0 0
    *Weapon 0.1 0 0
      *Blade 0.9 0 0
    *HandThumb1 0.05 0 0.05
      End 0.2 0 0
    *HandIndex1 0.09 0 0.02
      End 0.08 0 0
    *HandMiddle1 0.09 0 0
      End 0.07 0 0
    *HandRing1 0.09 0 -0.02
      End 0.09 0 0
"""
    arm = "Hips 0 1 0\n  *Arm 0.2 0.5 0\n    *ForeArm 0.28 0 0\n" + table.replace("\n  ", "\n      ")
    for there, tip in (
        (("Middle", "Index", "Thumb"), "HandMiddle1End"),
        (("Index", "Thumb"), "HandIndex1End"),
        (("Thumb", "Ring"), "HandRing1End"),
        (("Thumb",), "HandThumb1End"),
        ((), None),
    ):
        lines, keep = [], True
        for line in arm.rstrip().splitlines():
            finger = next((f for f in ("Thumb", "Index", "Middle", "Ring") if f in line), None)
            keep = finger in there if finger else (keep if "End" in line else True)
            lines += [line] if keep else []
        names, parents, offsets = read_table("\n".join(lines))
        roles = find_roles(names, parents, offsets, role_map={"left_hand": "LeftHand", "left_forearm": "LeftForeArm"})
        assert named(roles).get("left_fingertips") == (tip and f"Left{tip}")


# The value, maps and errors ---------------------------------------------------------------------------------


def cmu_roles(**keywords):
    return find_roles(CMU.names, CMU.parents, CMU.offsets, **keywords)


def test_role_names():
    assert len(ROLE_NAMES) == len(set(ROLE_NAMES)) == 25
    assert ROLE_NAMES[:5] == ("hips", "spine", "chest", "neck", "head")


def test_roles_are_a_mapping():
    roles = cmu_roles()
    assert roles["left_hand"] == CMU.names.index("LeftHand")
    assert list(roles) == [role for role in ROLE_NAMES if role in roles]
    assert len(roles) == 25
    assert roles.missing == ()
    assert roles.get("left_hand") == roles["left_hand"]
    bare = find_roles(["a"], [-1], [[0, 0, 0]])
    assert "left_hand" not in bare
    assert bare.get("left_hand") is None
    assert bare.get("left_hand", 7) == 7
    assert dict(bare) == {}


def test_roles_cannot_be_changed():
    roles = cmu_roles()
    with pytest.raises(AttributeError):
        roles.how = "guess"
    with pytest.raises(TypeError):
        roles.joints["hips"] = 3


def test_roles_can_be_copied_and_sent():
    roles = cmu_roles()
    for twin in (copy.deepcopy(roles), pickle.loads(pickle.dumps(roles))):
        assert dict(twin) == dict(roles)
        assert (twin.spine, twin.how, twin.names) == (roles.spine, roles.how, roles.names)


def test_inputs_are_left_unchanged():
    parents, offsets, positions = CMU.parents.copy(), CMU.offsets.copy(), CMU.rest
    find_roles(nameless(len(parents)), parents, offsets, {"hips": "joint_0"}, positions)
    assert np.array_equal(parents, CMU.parents)
    assert np.array_equal(offsets, CMU.offsets)
    assert np.array_equal(positions, CMU.rest)


def test_a_map_overrides():
    roles = cmu_roles(role_map={"left_hand": "LeftFingerBase", "neck": "Neck1"})
    assert roles.how == "profile CMU, map"
    assert named(roles) == CMU.roles | {"left_hand": "LeftFingerBase", "neck": "Neck1", "chest": "Neck"}
    assert [CMU.names[joint] for joint in roles.spine] == ["LowerBack", "Spine", "Spine1", "Neck"]


def test_a_map_of_spine_and_chest_cuts_the_chain():
    roles = cmu_roles(role_map={"spine": "Spine", "chest": "Spine"})
    assert [CMU.names[joint] for joint in roles.spine] == ["Spine"]
    assert named(roles) == CMU.roles | {"spine": "Spine", "chest": "Spine"}


def test_a_joint_that_the_map_claims_loses_its_other_role():
    roles = cmu_roles(role_map={"left_forearm": "LeftHand"})
    assert named(roles)["left_forearm"] == "LeftHand"
    assert "left_hand" not in roles


def test_a_map_alone():
    roles = find_roles(["a", "b", "c"], [-1, 0, 1], np.ones((3, 3)), role_map={"hips": "a", "head": "c"})
    assert named(roles) == {"hips": "a", "spine": "b", "chest": "b", "head": "c"}
    assert roles.how == "map"


def test_a_map_of_everything_gives_it_back():
    roles = find_roles(CMU.names, CMU.parents, np.zeros_like(CMU.offsets), role_map=CMU.roles)
    assert named(roles) == CMU.roles


def test_a_missing_role_explains_how_to_map_it():
    names, parents, offsets = read_table("Hips 0 0 0\n  LHandle 0 1 0\n    LeftWristRoll 0 1 0\n    WristL 1 0 0")
    roles = find_roles(names, parents, offsets, role_map={"head": "WristL"})
    with pytest.raises(JointNotFound) as error:
        roles["left_hand"]
    assert str(error.value) == (
        "role 'left_hand' was not found among the skeleton's 4 joints; similar: 'WristL'; say which joint it is as"
        ' {"left_hand": "JointName"}, under "roles" in the file\'s sidecar NAME.marey.json, in a JSON file given as'
        " `roles=`, or with skeleton.with_roles(...)"
    )


def test_a_missing_role_offers_names_that_look_alike():
    roles = find_roles(["root", "lhnd", "LeftHnad"], [-1, 0, 0], np.ones((3, 3)))
    with pytest.raises(JointNotFound, match="similar: 'LeftHnad'"):
        roles["left_hand"]
    bare = find_roles(["q"], [-1], [[0, 0, 0]])
    with pytest.raises(JointNotFound, match="the skeleton's 1 joints; say which"):
        bare["left_hand"]


def test_an_unknown_role_offers_similar_ones():
    with pytest.raises(
        JointNotFound,
        match="unknown role 'leftHand'; similar: 'left_hand', 'left_ball', 'left_shoulder'; the roles are",
    ):
        cmu_roles()["leftHand"]
    with pytest.raises(
        JointNotFound,
        match="unknown role 'qqq'; the roles are hips, spine, chest, neck, head; with the prefix left_ or right_: ",
    ):
        cmu_roles()["qqq"]


def test_a_map_with_unknown_role_or_joint():
    with pytest.raises(
        JointNotFound,
        match="unknown role 'lefthand'; similar: 'left_hand', 'left_ball', 'left_shoulder'; the roles are",
    ):
        cmu_roles(role_map={"lefthand": "LeftHand"})
    with pytest.raises(
        JointNotFound, match="the role map assigns 'left_hand' to 'LeftHnd', which is not a joint; similar: 'LeftHand',"
    ):
        cmu_roles(role_map={"left_hand": "LeftHnd"})
    with pytest.raises(JointNotFound, match="the role map assigns 'left_hand' to 5, which is not a joint"):
        cmu_roles(role_map={"left_hand": 5})


@pytest.mark.parametrize(
    ("names", "parents", "offsets", "message"),
    [
        ([], [], np.zeros((0, 3)), "parents must have one index for each of the 0 joints"),
        (["a", "b"], [-1], np.zeros((2, 3)), r"parents must have one index for each of the 2 joints"),
        (
            ["a", "b"],
            [-1, 1],
            np.zeros((2, 3)),
            "parents must be -1 for joint 0, and the index of an earlier joint for every other joint",
        ),
        (["a", "b"], [0, 0], np.zeros((2, 3)), "-1 for joint 0"),
        (["a", "b"], [-1, -1], np.zeros((2, 3)), "-1 for joint 0"),
        (["a", "b"], [-1, 0], np.zeros((2, 2)), r"offsets must be finite and of shape \(2, 3\), not shape \(2, 2\)"),
        (["a", "b"], [-1, 0], [[0, 0, 0], [0, np.nan, 0]], "offsets must be finite"),
    ],
)
def test_wrong_arrays_are_refused(names, parents, offsets, message):
    with pytest.raises(InvalidValue, match=message):
        find_roles(names, parents, offsets)


def test_wrong_positions_are_refused():
    with pytest.raises(InvalidValue, match=r"positions must be finite and of shape \(38, 3\), not shape \(2, 3\)"):
        cmu_roles(positions=np.zeros((2, 3)))


def test_roles_check_what_they_are_given():
    with pytest.raises(JointNotFound, match="unknown role 'tail'; the roles are"):
        Roles({"tail": 0}, (), "map", ("a",))
    with pytest.raises(InvalidValue, match="role 'hips' must be a joint index from 0 to 0, not 1"):
        Roles({"hips": 1}, (), "map", ("a",))
