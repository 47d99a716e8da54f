"""Unit, upward axis and rest pose, recognized from the character itself."""

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import marey
from marey.core import Motion, Skeleton
from marey.errors import InvalidValue, MareyWarning
from marey.io import axes, starts_with_rest_pose, unit_and_up_axis
from marey.maths import quat
from marey.samples import body_skeleton, straight_walk

# True stature in meters of the bodies in the data folder, to be detected from the files alone.
CMU = 0.0254 / 0.45


def scaled(skeleton: Skeleton, factor: float) -> Skeleton:
    return Skeleton(skeleton.names, skeleton.parents, skeleton.offsets * factor)


@pytest.mark.parametrize("unit", unit_and_up_axis.UNITS)
@pytest.mark.parametrize("size", [0.85, 1.0, 1.15])
def test_unit_of_a_person_between_one_and_a_half_and_two_meters(unit: str, size: float) -> None:
    guess = unit_and_up_axis.recognize_unit(scaled(body_skeleton(), size / unit_and_up_axis.UNITS[unit]))
    assert guess.value == unit_and_up_axis.UNITS[unit]
    assert "tall" in guess.evidence


def test_an_ambiguous_unit_is_reported() -> None:
    child = unit_and_up_axis.recognize_unit(scaled(body_skeleton(), 0.62 / 0.01))
    assert child.value == 0.01
    assert not child.is_sure
    assert "inches would give" in child.evidence


def test_unit_without_legs_is_an_assumption() -> None:
    rod = Skeleton(("a", "b"), np.array([-1, 0]), np.array([[0, 0, 0], [0, 45.0, 0]]))
    guess = unit_and_up_axis.recognize_unit(rod)
    assert guess.value == 0.01
    assert not guess.is_sure


def test_a_given_unit_that_makes_a_tiny_body_causes_a_warning(tmp_path: Path) -> None:
    marey.save(straight_walk(seconds=1.0), tmp_path / "walk.bvh")
    (tmp_path / "walk.marey.json").unlink()
    with pytest.warns(MareyWarning, match=r"unit mm makes the body 0\.17\d m tall; cm would make .*; check `unit=`"):
        motion = marey.load_motion(tmp_path / "walk.bvh", unit="mm")
    assert motion.source.unit == 0.001
    assert "which makes a body 1.7" in " ".join(marey.load_motion(tmp_path / "walk.bvh", unit="cm").source.evidence)


@pytest.mark.parametrize(("up", "lies"), [("z", "lies on its side"), ("-y", "is upside down")])
def test_a_given_axis_that_the_body_does_not_stand_along_causes_a_warning(tmp_path: Path, up: str, lies: str) -> None:
    marey.save(straight_walk(seconds=1.0), tmp_path / "walk.bvh")
    (tmp_path / "walk.marey.json").unlink()
    with pytest.warns(MareyWarning, match=f"with {up.upper()} up, the body {lies}: it stands along y; check `up=`"):
        marey.load_motion(tmp_path / "walk.bvh", up=up)
    with warnings.catch_warnings():
        warnings.simplefilter("error", MareyWarning)
        marey.load_motion(tmp_path / "walk.bvh", up="y")


@pytest.mark.parametrize("text", ["furlong", "-1", "0", "nan", "inf", ""])
def test_bad_unit(text: str) -> None:
    with pytest.raises(InvalidValue, match="unit must be one of m, cm, mm, in, cmu"):
        unit_and_up_axis.parse_unit(text)


@pytest.mark.parametrize("up", axes.UPS)
def test_up_of_a_walk_in_any_axes(up: str) -> None:
    walk = straight_walk()
    skeleton = walk.skeleton
    turned = Skeleton(skeleton.names, skeleton.parents, axes.vectors_to_file(skeleton.offsets, up))
    guess = unit_and_up_axis.recognize_up(
        turned,
        axes.vectors_to_file(walk.root_positions, up),
        axes.rotations_to_file(walk.rotations, up),
        None,
    )
    assert guess.value == up


def lying_down(walk: Motion) -> Motion:
    """The walk on its back, sliding along the floor: upright at rest, but in none of its frames."""
    rotations = walk.rotations.copy()
    rotations[:, 0] = quat.mul(quat.from_axis_angle(np.array([1.0, 0, 0]), -np.pi / 2), rotations[:, 0])
    root = walk.root_positions.copy()
    root[:, 1] = 0.15
    return replace(walk, rotations=rotations, root_positions=root)


def test_up_of_a_clip_that_lies_down_all_the_time() -> None:
    clip = lying_down(straight_walk())
    guess = unit_and_up_axis.recognize_up(clip.skeleton, clip.root_positions, clip.rotations, None)
    assert guess.value == "y"
    assert "if the person does not lie, crawl or stand upside down, pass `up=`" in guess.warning


def with_lying_rest_pose(walk: Motion) -> Motion:
    """The same motion on a skeleton whose rest pose lies on its back."""
    lay = quat.from_axis_angle(np.array([1.0, 0, 0]), -np.pi / 2)
    offsets = quat.rotate(lay, walk.skeleton.offsets)
    rotations = quat.mul(quat.mul(lay, walk.rotations), quat.inv(lay))
    rotations[:, 0] = quat.mul(walk.rotations[:, 0], quat.inv(lay))
    skeleton = Skeleton(walk.skeleton.names, walk.skeleton.parents, offsets)
    return replace(walk, skeleton=skeleton, rotations=rotations, contacts=None)


def test_a_walk_contradicts_a_rest_pose_that_lies() -> None:
    walk = straight_walk(seconds=3.0)
    clip = with_lying_rest_pose(walk)
    np.testing.assert_allclose(clip.world().positions, walk.world().positions, atol=1e-9)
    guess = unit_and_up_axis.recognize_up(clip.skeleton, clip.root_positions, clip.rotations, None)
    assert (guess.value, guess.warning) == ("y", "")
    # Without a walk, the rest pose decides, with a warning.
    still = clip[:10]
    guess = unit_and_up_axis.recognize_up(still.skeleton, still.root_positions, still.rotations, None)
    assert guess.value == "-z"
    assert guess.warning


@pytest.mark.parametrize("name", ["111_21", "77_17", "113_14", "128_11", "117_08", "140_02"])
def test_people_who_lie_and_crawl_are_not_turned(data_folder: Path, name: str) -> None:
    clip = marey.load(data_folder / "cmu-hard" / f"{name}.bvh")
    assert clip.source.up == "y"


def test_up_of_a_handstand() -> None:
    walk = straight_walk()
    rotations = walk.rotations.copy()
    rotations[:, 0] = quat.mul(quat.from_axis_angle(np.array([1.0, 0, 0]), np.pi), rotations[:, 0])
    guess = unit_and_up_axis.recognize_up(walk.skeleton, walk.root_positions, rotations, None)
    assert guess.value == "y"


def test_rare_axes_are_doubted_if_the_rest_pose_does_not_stand() -> None:
    """All bones of such rigs point along one axis at rest: only the frames show which way is up."""
    walk = straight_walk()
    lying, still = lying_down(walk), walk[:10]
    fallen = quat.mul(quat.from_axis_angle(np.array([0, 0, 1.0]), np.pi / 2), still.rotations[:, 0])
    side = np.concatenate([fallen[:, None], still.rotations[:, 1:]], axis=1)
    for root, rotations, is_sure in (
        (walk.root_positions, walk.rotations, True),
        (lying.root_positions, lying.rotations, False),
        (still.root_positions, side, False),
    ):
        guess = unit_and_up_axis.recognize_up(walk.skeleton, root, rotations, None, by_rest=False)
        assert (guess.value, guess.is_sure) == ("y", is_sure)
        assert ("if the person does not lie, crawl or stand upside down, pass `up=`" in guess.warning) is not is_sure
        assert unit_and_up_axis.is_doubtful(guess.evidence) is not is_sure


def test_z_up_is_doubted_unless_something_but_the_posture_shows_it() -> None:
    """A person who lies along Z looks like one who stands, in a rig whose rest pose does not stand."""
    walk = straight_walk()
    lay = quat.from_axis_angle(np.array([1.0, 0, 0]), np.pi / 2)

    def guess(clip: Motion, root: np.ndarray) -> unit_and_up_axis.Guess:
        rotations = clip.rotations.copy()
        rotations[:, 0] = quat.mul(lay, rotations[:, 0])
        return unit_and_up_axis.recognize_up(clip.skeleton, root, rotations, None, by_rest=False)

    still = walk[:10]
    assert guess(walk, quat.rotate(lay, walk.root_positions)).evidence.endswith("and it walks")
    standing = guess(still, quat.rotate(lay, still.root_positions))
    assert (standing.value, standing.is_sure, standing.warning) == ("z", True, "")
    lying = guess(still, np.tile([0.0, 0.15, 0.0], (10, 1)))
    assert (lying.value, lying.is_sure) == ("z", False)
    assert "nor feet at height 0 confirm it: pass `up=`" in lying.warning
    assert unit_and_up_axis.is_doubtful(lying.evidence)


def with_rest_pose(walk: Motion) -> Motion:
    rest = quat.identity((1, len(walk.skeleton)))
    return replace(
        walk,
        rotations=np.concatenate([rest, walk.rotations]),
        root_positions=np.concatenate([walk.root_positions[:1], walk.root_positions]),
        contacts=None,
    )


def test_added_rest_pose_is_noticed_and_a_walk_alone_has_none() -> None:
    walk = straight_walk(fps=120)
    assert starts_with_rest_pose(with_rest_pose(walk))
    assert not starts_with_rest_pose(walk)
    assert not starts_with_rest_pose(walk[:2])


def test_motion_that_begins_smoothly_from_rest_keeps_its_first_frame() -> None:
    """A recording that starts in T-pose and moves on from there has no rest pose to trim."""
    walk = straight_walk(fps=120)
    t = np.linspace(0.0, 1.0, len(walk))[:, None]
    eased = replace(walk, rotations=quat.slerp(quat.identity(walk.rotations.shape[:2]), walk.rotations, t))
    assert not starts_with_rest_pose(eased)


def test_every_real_clip_has_the_size_of_a_person(data_folder: Path) -> None:
    """Unit, axes and roles of every human BVH file in the data folder, without a hint."""
    checked = 0
    for path in sorted((data_folder / "cmu").rglob("*.bvh")) + sorted((data_folder / "bandai-namco").glob("*.bvh")):
        clip = marey.load(path, trim_rest=False)
        expected = CMU if "cmu" in path.parts else 0.01
        assert clip.source.unit == pytest.approx(expected), path.name
        assert clip.source.up == "y", path.name
        assert not clip.skeleton.roles.missing, path.name
        assert 1.4 < (unit_and_up_axis.stature(clip.skeleton) or 0.0) < 2.0, path.name
        assert starts_with_rest_pose(clip) == ("cmu" in path.parts), path.name
        checked += 1
    assert checked >= 50


def test_trim_rest_drops_one_frame_with_a_note(data_folder: Path) -> None:
    path = data_folder / "cmu" / "016" / "16_15.bvh"
    whole, trimmed = marey.load(path, trim_rest=False), marey.load(path)
    assert len(trimmed) == len(whole) - 1
    np.testing.assert_array_equal(trimmed.rotations, whole.rotations[1:])
    assert trimmed.source.evidence[-1] == "frame 0 is a rest pose and is skipped"
