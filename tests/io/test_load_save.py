"""`load` and `save`: choosing by suffix, options, errors, and files that appear whole or not at all."""

import os
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import marey
from marey.errors import (
    FileError,
    InvalidValue,
    JointNotFound,
    ParseError,
    UnknownFormat,
    UnknownVersion,
    UnreadableFile,
    UnwritableFile,
)
from marey.io import files
from marey.io.archive import write_arrays
from marey.samples import straight_walk
from tests.io.make_c3d import c3d_bytes
from tests.io.test_asf_amc import AMC, ASF

WALK = straight_walk(seconds=1.0)


@pytest.mark.parametrize(("suffix", "tolerance"), [(".bvh", 1e-7), (".glb", 1e-5), (".npz", 0.0)])
def test_round_trip_through_every_format(tmp_path: Path, suffix: str, tolerance: float) -> None:
    path = tmp_path / f"walk{suffix}"
    marey.save(WALK, path)
    again = marey.load(path)
    assert again.skeleton.names == WALK.skeleton.names
    assert again.fps == WALK.fps
    assert np.abs(again.world().positions - WALK.world().positions).max() <= tolerance
    assert again.labels.names == ("walk",)
    np.testing.assert_array_equal(again.contacts.mask, WALK.contacts.mask)


def test_formats_lead_into_each_other(tmp_path: Path) -> None:
    names = ["a.glb", "b.bvh", "c.npz", "d.bvh", "e.glb"]
    motion = WALK
    for name in names:
        marey.save(motion, tmp_path / name)
        motion = marey.load(tmp_path / name)
    assert np.abs(motion.world().positions - WALK.world().positions).max() < 1e-5


def test_several_motions_in_one_glb(tmp_path: Path) -> None:
    slow = replace(straight_walk(0.8, 1.0), name="slow")
    marey.save([WALK, slow], tmp_path / "both.glb")
    assert marey.clip_names(tmp_path / "both.glb") == ("straight_walk", "slow")
    again = marey.load(tmp_path / "both.glb", clip="slow")
    assert np.abs(again.world().positions - slow.world().positions).max() < 1e-5
    with pytest.warns(marey.errors.MareyWarning, match="slow"):
        marey.load(tmp_path / "both.glb")


def test_saving_in_other_units_and_axes_gives_the_same_motion_back(tmp_path: Path) -> None:
    for unit in ("m", "mm", "in", "cmu"):
        for up in ("y", "z", "-x"):
            marey.save(WALK, tmp_path / "out.bvh", unit=unit, up=up)
            again = marey.load(tmp_path / "out.bvh")
            assert again.source.up == up
            assert np.abs(again.world().positions - WALK.world().positions).max() < 1e-6


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda p: None, UnreadableFile, "no such file"),
        (lambda p: p.mkdir(), UnreadableFile, "is a folder"),
        (lambda p: p.write_bytes(b""), UnreadableFile, "the file is empty"),
    ],
)
@pytest.mark.parametrize("suffix", [".bvh", ".amc", ".asf", ".glb", ".npz", ".c3d"])
def test_unreadable_files(tmp_path: Path, suffix: str, make, error, message) -> None:
    path = tmp_path / f"x{suffix}"
    make(path)
    if suffix == ".amc":
        (tmp_path / "x.asf").write_bytes(b":bonedata\n")
    with pytest.raises(error, match=message):
        marey.load(path)


@pytest.mark.parametrize("name", ["x.max", "x", "x.txt"])
def test_unknown_suffix(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"something")
    suffix = Path(name).suffix
    shown = f"'{suffix}'" if suffix else "a file without a suffix"
    known = r"supported formats are \.bvh, \.amc, \.asf, \.fbx, \.glb, \.vrm, \.npz, \.npy, \.c3d, \.trc"
    with pytest.raises(UnknownFormat, match=f"cannot load {shown}; {known}"):
        marey.load(tmp_path / name)
    target = f"as {shown}" if suffix else "to a file name without a suffix"
    with pytest.raises(
        UnknownFormat, match=rf"cannot save {target}; .*supported formats are \.bvh, \.fbx, \.glb, \.npz"
    ):
        marey.save(WALK, tmp_path / name)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("walk.fbx", b"HIERARCHY\nROOT", "walk.fbx: holds BVH data; rename it to .bvh"),
        ("walk.bvh", b"Kaydara FBX Binary  \0", "walk.bvh: holds FBX data; rename it to .fbx"),
        ("walk.npz", b"glTF", "walk.npz: holds GLB data; rename it to .glb"),
        ("me.json", b'{"format": "marey.pmg"}', "me.json: is a character, not a motion; use it with `marey.pmg`"),
        ("me.json", b'{"format": "marey.sidecar"}', "me.json: is a sidecar, not a motion"),
        ("me.json", b"{}", "cannot load '.json'"),
    ],
)
def test_files_of_another_kind_are_named(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises((ParseError, UnknownFormat), match=re.escape(message)):
        marey.load(tmp_path / name)


def test_a_graph_is_no_motion(tmp_path: Path) -> None:
    write_arrays(tmp_path / "graph.npz", "marey.graph", 1, {})
    with pytest.raises(UnknownVersion, match="is a motion graph, not a motion; use it with `marey.graph`"):
        marey.load(tmp_path / "graph.npz")


def test_a_missing_file_is_missing_whatever_its_suffix(tmp_path: Path) -> None:
    for name in ("x", "x/", "x.txt"):
        with pytest.raises(UnreadableFile, match="no such file or folder"):
            marey.load(tmp_path / name)


def test_option_that_means_nothing_is_refused(tmp_path: Path) -> None:
    marey.save(WALK, tmp_path / "walk.npz")
    with pytest.raises(InvalidValue, match=r"`root=` does not apply to a \.npz file, only to \.bvh"):
        marey.load(tmp_path / "walk.npz", root=0)
    with pytest.raises(InvalidValue, match=".fbx and .glb hold several"):
        marey.save([WALK, WALK], tmp_path / "two.bvh")
    with pytest.raises(InvalidValue, match="`unit=` and `up=` can only be chosen for .bvh"):
        marey.save(WALK, tmp_path / "walk.glb", unit="cm")


def test_unwritable_outputs(tmp_path: Path) -> None:
    with pytest.raises(UnwritableFile, match="does not exist; create it first"):
        marey.save(WALK, tmp_path / "nowhere" / "walk.bvh")
    (tmp_path / "folder.bvh").mkdir()
    with pytest.raises(UnwritableFile, match="is a folder"):
        marey.save(WALK, tmp_path / "folder.bvh")


def test_a_failed_save_leaves_the_old_file_and_no_litter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "walk.bvh"
    path.write_text("precious")

    def no_space(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "replace", no_space)
    with pytest.raises(UnwritableFile, match="no space left on device"):
        marey.save(replace(WALK, contacts=None), path)
    assert path.read_text() == "precious"
    assert os.listdir(tmp_path) == ["walk.bvh"]


def test_new_files_get_the_usual_permissions(tmp_path: Path) -> None:
    marey.save(WALK, tmp_path / "walk.bvh")
    (tmp_path / "plain").write_text("")
    assert (tmp_path / "walk.bvh").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_role_map_as_mapping_and_as_file(tmp_path: Path) -> None:
    marey.save(replace(WALK, contacts=None), tmp_path / "walk.bvh")
    (tmp_path / "map.json").write_text('{"left_hand": "RightHand"}')
    for roles in ({"left_hand": "RightHand"}, tmp_path / "map.json"):
        clip = marey.load(tmp_path / "walk.bvh", roles=roles)
        assert clip.skeleton.names[clip.skeleton.roles["left_hand"]] == "RightHand"
    (tmp_path / "bad.json").write_text('{"left_hand": "LeftHnad"}')
    with pytest.raises((JointNotFound, ParseError), match="LeftHnad"):
        marey.load(tmp_path / "walk.bvh", roles=tmp_path / "bad.json")
    (tmp_path / "worse.json").write_text("[1, 2")
    with pytest.raises(ParseError, match="not valid JSON"):
        marey.load(tmp_path / "walk.bvh", roles=tmp_path / "worse.json")


def test_loading_leaves_the_input_alone(tmp_path: Path) -> None:
    path = tmp_path / "walk.bvh"
    marey.save(WALK, path)
    before = (path.read_bytes(), path.stat().st_mtime_ns)
    marey.load(path)
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before


def test_amc_and_bvh_of_one_trial_agree_to_a_millimeter(data_folder: Path) -> None:
    """The same trial in two formats, by roles: world positions, frame for frame (BVH has a rest pose in front).

    The collection's BVH files leave out the length of the chest bone, so that neck and shoulders sit at its lower end;
    everything above is compared, with that length taken out of the ASF too, in the tests of AMC.
    """
    pairs = [("016/16_11", "16/16_11"), ("016/16_35", "16/16_35"), ("002/02_01", "02/02_01")]
    legs = [
        f"{side}_{part}" for side in ("left", "right") for part in ("upper_leg", "lower_leg", "foot", "ball", "toe_tip")
    ]
    for bvh, amc in pairs:
        a = marey.load(data_folder / "cmu" / f"{bvh}.bvh")
        b = marey.load(data_folder / "cmu-asfamc" / f"{amc}.amc")
        assert len(a) == len(b)
        assert a.fps == b.fps
        for role in ("hips", "spine", "chest", *legs):
            apart = a.world().positions[:, a.skeleton.roles[role]] - b.world().positions[:, b.skeleton.roles[role]]
            assert np.linalg.norm(apart, axis=1).max() < 1e-3, (bvh, role)


def test_every_error_of_a_file_names_it(tmp_path: Path) -> None:
    path = tmp_path / "odd.bvh"
    path.write_text("this is not a motion")
    with pytest.raises(FileError) as caught:
        marey.load(path)
    assert str(caught.value).startswith(str(path))


def test_wrong_options_are_not_blamed_on_the_file(tmp_path: Path) -> None:
    marey.save(WALK, tmp_path / "walk.bvh")
    for options, message in (
        ({"unit": "foo"}, "^unit must be one of"),
        ({"up": "w"}, "^`up=` must be one of"),
        ({"file_fps": "a"}, "^file_fps must be a number of frames per second"),
        ({"file_fps": -5}, "^file_fps must be greater than 0 and at most 100000 frames per second, not"),
        ({"roles": {"left_paw": "LeftHand"}}, "^[^/]*left_paw"),
    ):
        with pytest.raises(InvalidValue, match=message):
            marey.load(tmp_path / "walk.bvh", **options)


def test_options_that_mean_nothing_for_markers_are_refused(tmp_path: Path) -> None:
    (tmp_path / "walk.c3d").write_bytes(c3d_bytes())
    assert len(marey.load(tmp_path / "walk.c3d", fps=None, trim_rest=False)) > 0
    for option in ({"fps": 60}, {"file_fps": 60}, {"roles": {}}):
        with pytest.raises(InvalidValue, match="does not apply to a .c3d file, which holds markers"):
            marey.load(tmp_path / "walk.c3d", **option)


def test_a_skeleton_whose_name_does_not_fit_is_reported(tmp_path: Path) -> None:
    (tmp_path / "other.asf").write_text(ASF)
    (tmp_path / "walk.amc").write_text(AMC)
    with pytest.warns(
        marey.errors.MareyWarning, match="the skeleton is that of other.asf, the only ASF file next to it"
    ):
        clip = marey.load(tmp_path / "walk.amc")
    assert "skeleton from other.asf" in clip.source.evidence
    (tmp_path / "walk.asf").write_text(ASF)
    assert "skeleton from walk.asf" in marey.load(tmp_path / "walk.amc").source.evidence


def test_a_name_that_is_too_long_is_a_typed_error(tmp_path: Path) -> None:
    with pytest.raises(UnwritableFile, match="cannot be written"):
        marey.save(replace(WALK, contacts=None), tmp_path / ("a" * 300 + ".glb"))


@pytest.mark.parametrize("text", ["33.3", "120", "0.0001"])
def test_an_implausible_rate_is_reported(tmp_path: Path, text: str) -> None:
    path = tmp_path / "walk.bvh"
    marey.save(replace(WALK, contacts=None), path)
    path.write_text(path.read_text().replace("Frame Time: 0.0166667", f"Frame Time: {text}"))
    with pytest.warns(marey.errors.MareyWarning, match="Hz is implausible; pass `file_fps=` to set another"):
        marey.load(path)
