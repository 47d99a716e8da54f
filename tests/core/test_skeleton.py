"""The skeleton as a value: what it refuses, that it cannot be changed, and its properties."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import numpy as np
import pytest

from marey.core import Skeleton
from marey.core.arrays import freeze_array, set_readonly
from marey.core.skeleton import end_name, is_end_name
from marey.errors import InvalidValue, JointNotFound, MareyError
from tests.core.skeletons import CMU

NAMES = ("Hips", "Spine", "Head", "HeadEnd", "Toe")
PARENTS = (-1, 0, 1, 2, 0)
OFFSETS = np.array([[9.0, 9, 9], [0, 1, 0], [0, 0.5, 0], [0, 0.25, 0], [0.3, -0.4, 0]])


def make(**changes):
    return Skeleton(**{"names": NAMES, "parents": PARENTS, "offsets": OFFSETS, **changes})


def cmu():
    return Skeleton(CMU.names, CMU.parents, CMU.offsets)


# --- What is refused


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"names": ()}, "a skeleton needs at least one joint"),
        ({"names": "Hips"}, "names must be a list of joint names, not the string 'Hips'"),
        ({"names": ("a", "", "c", "d", "e")}, "joint names must be non-empty strings, not ''"),
        ({"names": ("a", 2, "c", "d", "e")}, "joint names must be non-empty strings, not 2"),
        ({"names": ("a", "b", "c", "b", "e")}, "joint names must differ, but 'b' occurs twice"),
        ({"parents": (-1, 0, 1, 2)}, r"parents must have shape \(5,\), not \(4,\)"),
        ({"parents": (0, 0, 1, 2, 0)}, "the parent of joint 0"),
        ({"parents": (-1, 0, -1, 2, 0)}, r"parents must come before children, but 'Head' \(joint 2\) has parent -1"),
        ({"parents": (-1, 0, 1, 4, 0)}, r"parents must come before children, but 'HeadEnd' \(joint 3\) has parent 4"),
        ({"parents": (-1, 0, 2, 1, 0)}, r"but 'Head' \(joint 2\) has parent 2"),
        ({"parents": (-1, 0, 0.5, 1, 0)}, "parents must hold whole numbers, not 0.5"),
        ({"parents": (-1, 0, np.nan, 1, 0)}, "parents must hold whole numbers, not nan"),
        ({"parents": ("-1", "0", "0", "0", "0")}, "parents must be an array of numbers, but it contains '-1'"),
        ({"parents": None}, "parents must be an array of numbers, but it contains None"),
        ({"offsets": OFFSETS[:4]}, r"offsets must have shape \(5, 3\), not \(4, 3\)"),
        ({"offsets": OFFSETS.ravel()}, r"offsets must have shape \(5, 3\), not \(15,\)"),
        ({"offsets": [[1, 2, 3], [1, 2]]}, "offsets must be an array of numbers, not rows of unequal length"),
        ({"offsets": OFFSETS + 1j}, "offsets must be an array of numbers, but it contains "),
        (
            {"offsets": np.where(OFFSETS == 0.5, np.nan, OFFSETS)},
            r"offsets must be finite, not nan at index",
        ),
        ({"offsets": np.where(OFFSETS == 0.5, -np.inf, OFFSETS)}, r"offsets must be finite, not -inf"),
    ],
)
def test_bad_skeletons_are_refused(changes, message):
    with pytest.raises(InvalidValue, match=message):
        make(**changes)


def test_integers_as_floats_are_accepted():
    skeleton = make(parents=np.array(PARENTS, dtype=np.float32))
    assert skeleton.parents.dtype == np.int64
    assert tuple(skeleton.parents) == PARENTS


# --- That nothing changes it


def test_arrays_are_read_only_float64_and_apart_from_the_input():
    parents, offsets = np.array(PARENTS), OFFSETS.astype(np.float32)
    before = parents.copy(), offsets.copy()
    skeleton = make(parents=parents, offsets=offsets)
    assert skeleton.offsets.dtype == np.float64
    assert skeleton.parents.dtype == np.int64
    np.testing.assert_array_equal(parents, before[0])
    np.testing.assert_array_equal(offsets, before[1])
    assert parents.flags.writeable
    parents[1:] = 0
    offsets[:] = 7.0
    assert tuple(skeleton.parents) == PARENTS
    np.testing.assert_array_equal(skeleton.offsets, OFFSETS.astype(np.float32))
    for array in (skeleton.parents, skeleton.offsets):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_a_read_only_view_of_a_writable_array_is_copied():
    offsets = OFFSETS.copy()
    view = offsets.view()
    view.flags.writeable = False
    skeleton = make(offsets=view)
    offsets[:] = 7.0
    np.testing.assert_array_equal(skeleton.offsets, OFFSETS)


def test_a_read_only_array_over_writable_memory_is_copied():
    memory = bytearray(OFFSETS.tobytes())
    offsets = set_readonly(np.frombuffer(memory).reshape(5, 3))
    skeleton = make(offsets=offsets)
    memory[:] = bytes(len(memory))
    np.testing.assert_array_equal(skeleton.offsets, OFFSETS)


def test_a_settled_array_is_not_copied():
    offsets = set_readonly(OFFSETS.copy())
    assert make(offsets=offsets).offsets is offsets
    over_bytes = np.frombuffer(OFFSETS.tobytes()).reshape(5, 3)
    assert make(offsets=over_bytes).offsets is over_bytes
    assert make(offsets=make().offsets).offsets.base is None


def test_arrays_are_in_c_order_and_aligned_whatever_came_in():
    transposed = set_readonly(np.asfortranarray(OFFSETS))
    packed = b"\0" + OFFSETS.tobytes()
    unaligned = np.frombuffer(packed, dtype=np.float64, offset=1).reshape(5, 3)
    for offsets in (transposed, unaligned):
        result = make(offsets=offsets).offsets
        assert result.flags.c_contiguous
        assert result.flags.aligned
        np.testing.assert_array_equal(result, OFFSETS)


def test_flags_must_be_flags():
    np.testing.assert_array_equal(freeze_array([0, 1, 1], "mask", (3,), np.bool_), [False, True, True])
    with pytest.raises(InvalidValue, match="mask must hold True and False, not 2"):
        freeze_array([0, 2], "mask", (2,), np.bool_)
    with pytest.raises(InvalidValue, match="mask must hold True and False, not nan"):
        freeze_array([0, np.nan], "mask", (2,), np.bool_)


def test_fields_and_the_role_map_cannot_be_changed():
    given = {"left_hand": CMU.roles["left_hand"]}
    skeleton = cmu().with_roles(given)
    given["left_hand"] = "Head"
    assert skeleton.role_map == {"left_hand": CMU.roles["left_hand"]}
    with pytest.raises(TypeError):
        skeleton.role_map["left_hand"] = "Head"
    with pytest.raises(dataclasses.FrozenInstanceError):
        skeleton.names = ()
    with pytest.raises((AttributeError, TypeError)):
        skeleton.color = "red"


def test_equality_is_identity():
    a, b = make(), make()
    assert a == a
    assert a != b
    assert len({a, b}) == 2


def test_replace_makes_a_new_one():
    skeleton = make()
    taller = dataclasses.replace(skeleton, offsets=2 * OFFSETS)
    np.testing.assert_array_equal(taller.offsets, 2 * OFFSETS)
    np.testing.assert_array_equal(skeleton.offsets, OFFSETS)
    assert taller.parents is skeleton.parents
    assert taller.names == skeleton.names


def test_replace_finds_roles_again():
    skeleton = cmu()
    assert skeleton.roles["left_hand"] == CMU.names.index(CMU.roles["left_hand"])
    nameless = dataclasses.replace(skeleton, names=[f"j{j}" for j in range(len(CMU.names))], offsets=0 * CMU.offsets)
    assert "left_hand" not in nameless.roles


@pytest.mark.parametrize("through", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_are_read_only_too(through):
    """Values may be sent to other processes; they must come back as values."""
    skeleton = cmu().with_roles({"left_hand": CMU.roles["left_forearm"]})
    again = through(skeleton)
    assert again.names == skeleton.names
    assert again.role_map == skeleton.role_map
    assert again.roles["left_hand"] == skeleton.roles["left_hand"]
    np.testing.assert_array_equal(again.offsets, skeleton.offsets)
    assert not again.offsets.flags.writeable
    assert not again.parents.flags.writeable


# --- What it tells


def test_sizes_and_lookups():
    skeleton = make()
    assert len(skeleton) == 5
    assert skeleton.index("Toe") == 4
    assert skeleton.children == ((1, 4), (2,), (3,), (), ())
    assert skeleton.chain(3) == (0, 1, 2, 3)
    assert skeleton.chain(0) == (0,)
    np.testing.assert_array_equal(skeleton.bone_lengths, [0, 1, 0.5, 0.25, 0.5])
    np.testing.assert_array_equal(
        skeleton.rest_positions, [[0, 0, 0], [0, 1, 0], [0, 1.5, 0], [0, 1.75, 0], [0.3, -0.4, 0]]
    )
    for array in (skeleton.bone_lengths, skeleton.rest_positions, skeleton.is_end_site):
        assert not array.flags.writeable


def test_an_unknown_joint_error_suggests_similar_names():
    with pytest.raises(JointNotFound, match="joint 'hed' not in skeleton; similar: 'Head'"):
        make().index("hed")
    with pytest.raises(JointNotFound, match="joint 'xyzzy' not in skeleton$"):
        make().index("xyzzy")
    for joint in (5, -1):
        with pytest.raises(JointNotFound, match=f"joint must be an index from 0 to 4, not {joint}"):
            make().chain(joint)
    with pytest.raises(InvalidValue, match="a joint must be an integer, not 'Head'"):
        make().chain("Head")


def test_fits_goes_by_names_and_tree():
    skeleton = make()
    assert skeleton.fits(make(offsets=3 * OFFSETS))
    assert not skeleton.fits(make(parents=(-1, 0, 1, 2, 1)))
    assert not skeleton.fits(make(names=("a", "b", "c", "d", "e")))
    assert not skeleton.fits(Skeleton(["Hips"], [-1], [[0, 0, 0]]))


def test_one_joint_is_a_skeleton():
    skeleton = Skeleton(["End"], [-1], [[0, 0, 0]])
    assert skeleton.children == ((),)
    assert not skeleton.is_end_site.any()
    np.testing.assert_array_equal(skeleton.rest_positions, [[0, 0, 0]])


# --- End Sites


def end_sites(*table):
    """Return the names of the End Sites of a skeleton given as (name, parent's name) pairs."""
    names = [name for name, _ in table]
    parents = [-1 if parent is None else names.index(parent) for _, parent in table]
    skeleton = Skeleton(names, parents, np.zeros((len(names), 3)))
    return [name for name, flag in zip(names, skeleton.is_end_site, strict=True) if flag]


def test_end_sites_are_leaves_named_after_their_parent():
    assert end_sites(("Toe", None), ("ToeEnd", "Toe"), ("ToeEnd2", "Toe")) == ["ToeEnd", "ToeEnd2"]
    assert end_sites(("Toe", None), ("HeadEnd", "Toe"), ("End", "Toe"), ("Toe_End", "Toe")) == []
    assert end_sites(("Toe", None), ("ToeEnd1", "Toe"), ("ToeEnd0", "Toe"), ("ToeEnd٣", "Toe")) == []


def test_nested_ends_are_end_sites_and_a_branch_with_a_real_joint_is_not():
    nested = ("Toe", None), ("ToeEnd", "Toe"), ("ToeEndEnd", "ToeEnd"), ("ToeEndEnd2", "ToeEnd")
    assert end_sites(*nested) == ["ToeEnd", "ToeEndEnd", "ToeEndEnd2"]
    assert end_sites(*nested, ("Nail", "ToeEndEnd")) == ["ToeEndEnd2"]


def test_the_root_is_never_an_end_site():
    assert end_sites(("End", None), ("EndEnd", "End")) == ["EndEnd"]


def test_end_names_are_free_and_recognized():
    taken = ["Toe"]
    for expected in ("ToeEnd", "ToeEnd2", "ToeEnd3", *(f"ToeEnd{n}" for n in range(4, 13))):
        name = end_name("Toe", taken)
        assert name == expected
        assert is_end_name(name, "Toe")
        taken.append(name)
    assert not is_end_name("ToeEnd", "To")
    assert not is_end_name("ToeEnding", "Toe")


# --- Roles


def test_with_roles_overrides_and_adds_up():
    skeleton = cmu()
    hand, forearm = CMU.roles["left_hand"], CMU.roles["left_forearm"]
    changed = skeleton.with_roles({"left_hand": forearm})
    assert changed.roles["left_hand"] == CMU.names.index(forearm)
    assert skeleton.roles["left_hand"] == CMU.names.index(hand)
    again = changed.with_roles({"head": CMU.roles["neck"]})
    assert again.role_map == {"left_hand": forearm, "head": CMU.roles["neck"]}
    assert again.roles["left_hand"] == CMU.names.index(forearm)
    assert changed.with_roles({"left_hand": hand}).roles["left_hand"] == CMU.names.index(hand)


def test_a_wrong_role_map_is_refused_where_it_is_given():
    with pytest.raises(MareyError, match="Nose"):
        cmu().with_roles({"left_hand": "Nose"})
    with pytest.raises(MareyError, match="third_hand"):
        cmu().with_roles({"third_hand": "Head"})
    with pytest.raises(MareyError, match="Nose"):
        Skeleton(CMU.names, CMU.parents, CMU.offsets, {"left_hand": "Nose"})


def test_roles_are_found_once():
    skeleton = cmu()
    assert skeleton.roles is skeleton.roles
