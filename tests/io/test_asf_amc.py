"""ASF and AMC: against a slow twin, against the BVH files of the same trials, and against damaged input."""

import random
import re
from dataclasses import replace

import numpy as np
import pytest

from marey.core import Skeleton, forward_kinematics
from marey.errors import InvalidValue, LimitExceeded, MareyError, MareyWarning, ParseError, UnreadableFile
from marey.io import amc
from marey.io.amc import asf_motion, find_asf, read_amc
from marey.io.asf import asf_joints, read_asf
from marey.io.bvh_read import read_bvh

ASF = """# made for the tests
:version 1.10
:name stick
:units
  mass 1.0
  length 0.45
  angle deg
:documentation
  root of all evil: begin 1 2 3
:root
   order TX TY TZ RX RY RZ
   axis XYZ
   position 0 0 0
   orientation 0 0 0
:bonedata
  begin
     id 1
     name pelvis
     direction 0 1 0
     length 0
     axis 0 0 0 XYZ
  end
  begin
     id 2
     name spine
     direction 0 1 0
     length 16
     axis 10 20 30 XYZ
     dof rx ry rz
     limits (-20.0 45.0)
            (-30.0 30.0)
            (-inf inf)
  end
  begin
     id 3
     name arm
     direction 0.6 0.8 0
     length 5
     axis 0 -30 90 ZYX
     dof rz rx
  end
  begin
     id 4
     name leg
     direction 0 -1 0
     length 14
     axis 0 0 20 XYZ
     dof rx
  end
:hierarchy
  begin
    root pelvis leg
    pelvis spine
    spine arm
  end
"""
AMC = """#!OML:ASF
:FULLY-SPECIFIED
:DEGREES
1
root 1 2 3 10 20 30
spine 4 5 6
arm 7 8
leg -9
2
root 1.5 2 3 10 20 31
spine 4 5 7
arm 7 9
leg -10.5e0
3
root 2 2 3 10 20 32
spine 4 5 8
arm 7 10
leg -11
"""

# Bones of the ASF files, and the joints of the BVH files at their starts.
CMU_PAIRS = {
    "root": "Hips", "lfemur": "LeftUpLeg", "ltibia": "LeftLeg", "lfoot": "LeftFoot", "ltoes": "LeftToeBase",
    "ltoesEnd": "LeftToeBaseEnd", "rfemur": "RightUpLeg", "rtibia": "RightLeg", "rfoot": "RightFoot",
    "rtoes": "RightToeBase", "rtoesEnd": "RightToeBaseEnd", "lowerback": "LowerBack", "upperback": "Spine",
    "thorax": "Spine1", "lowerneck": "Neck", "upperneck": "Neck1", "head": "Head", "headEnd": "HeadEnd",
    "lclavicle": "LeftShoulder", "lhumerus": "LeftArm", "lradius": "LeftForeArm", "lwrist": "LeftHand",
    "lhand": "LeftFingerBase", "lfingers": "LeftHandIndex1", "lfingersEnd": "LeftHandIndex1End",
    "lthumb": "LThumb", "lthumbEnd": "LThumbEnd", "rclavicle": "RightShoulder", "rhumerus": "RightArm",
    "rradius": "RightForeArm", "rwrist": "RightHand", "rfingers": "RightHandIndex1", "rthumb": "RThumb",
}  # fmt: skip
# The BVH collection gives bones that fork no length: the chest and the two wrists end where they start.
CMU_FORKS = ("thorax", "lwrist", "rwrist")
CMU_TRIALS = [("16", "16_11", "016"), ("16", "16_35", "016"), ("02", "02_01", "002")]


def parsed(text=ASF, path="stick.asf"):
    return read_asf(text.encode(), path)


def motion(text=AMC, skeleton=None, **options):
    return read_amc(text.encode(), "walk.amc", skeleton or parsed(), **options)


def world(raw):
    return forward_kinematics(
        Skeleton(raw.names, raw.parents, raw.offsets), raw.root_positions, raw.rotations
    ).positions


def turn(axis, degrees):
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    i, j = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}[axis]
    matrix = np.eye(3)
    matrix[i, i] = matrix[j, j] = c
    matrix[i, j], matrix[j, i] = -s, s
    return matrix


def slow_ends(asf_text, amc_text):
    """Map bone names to the positions of their ends (F, 3), computed with matrices directly from the files."""
    bones = {}
    for block in re.findall(r"begin\s+id.*?end\n", asf_text, re.S):
        line = {row.split()[0]: row.split()[1:] for row in block.splitlines() if row.strip()}
        axis = np.eye(3)
        for letter in line["axis"][3].lower():
            axis = turn(letter, float(line["axis"]["xyz".index(letter)])) @ axis
        vector = np.array(line["direction"], float) * float(line["length"][0])
        bones[line["name"][0]] = (axis, vector, line.get("dof", []))
    parent = {
        child: row.split()[0] for row in asf_text.split(":hierarchy")[1].splitlines()[2:] for child in row.split()[1:]
    }
    ends = {name: [] for name in bones}
    for frame in re.split(r"(?m)^\d+$\n", amc_text)[1:]:
        values = {row.split()[0]: np.array(row.split()[1:], float) for row in frame.splitlines()}
        tx, ty, tz, rx, ry, rz = values["root"]
        pose = {"root": (turn("z", rz) @ turn("y", ry) @ turn("x", rx), np.array([tx, ty, tz]))}
        for name in parent:
            axis, vector, dofs = bones[name]
            local = np.eye(3)
            for dof, value in zip(dofs, values.get(name, []), strict=True):
                local = turn(dof[1], value) @ local
            above, start = pose[parent[name]]
            rotation = above @ axis @ local @ axis.T
            pose[name] = (rotation, start + rotation @ vector)
            ends[name].append(pose[name][1])
    return {name: np.array(path) for name, path in ends.items()}


def read_cmu(data_folder, folder, trial):
    path = data_folder / "cmu-asfamc" / folder / f"{trial}.amc"
    asf = find_asf(path)
    skeleton = read_asf(asf.read_bytes(), str(asf))
    return skeleton, path.read_bytes(), str(path)


# --- the skeleton


def test_joints_are_at_the_start_of_bones():
    raw = asf_motion(parsed(), "stick.asf")
    assert raw.names == ("root", "pelvis", "spine", "arm", "armEnd", "leg", "legEnd")
    assert raw.parents.tolist() == [-1, 0, 1, 2, 3, 0, 5]
    expected = [[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 16, 0], [3, 4, 0], [0, 0, 0], [0, -14, 0]]
    assert np.allclose(raw.offsets, expected, atol=1e-12)
    assert raw.rotations.shape == (1, 7, 4)
    assert np.array_equal(raw.rotations[0], np.tile([1.0, 0, 0, 0], (7, 1)))
    assert (raw.name, raw.fps, raw.source.format) == ("stick", 120.0, "asf")
    assert any("no frame rate" in report for report in raw.evidence)


def test_skeleton_keeps_the_values_of_the_file():
    skeleton = parsed()
    assert skeleton.names == ("root", "pelvis", "spine", "arm", "leg")
    assert skeleton.dofs == (
        ("tx", "ty", "tz", "rx", "ry", "rz"),
        (),
        ("rx", "ry", "rz"),
        ("rz", "rx"),
        ("rx",),
    )
    assert skeleton.lengths.tolist() == [0, 0, 16, 5, 14]
    assert (skeleton.length_factor, skeleton.degrees, skeleton.warnings) == (0.45, True, ())
    assert not skeleton.directions.flags.writeable


@pytest.mark.parametrize(
    ("factor", "unit"),
    [("0.45", 0.0254 / 0.45), ("1.0", None), ("2.54", None), ("0.5", 0.0508), ("9e9", None)],
)
def test_unit_only_if_the_file_states_one_and_the_body_size_agrees(factor, unit):
    raw = motion(skeleton=parsed(ASF.replace("length 0.45", f"length {factor}")))
    assert raw.unit == (None if unit is None else pytest.approx(unit))
    assert raw.up is None
    assert any("the ASF file says so" in report for report in raw.evidence) == (unit is not None)


def test_an_end_site_gives_way_to_a_bone_of_its_name():
    text = ASF.replace("name leg", "name armEnd").replace("pelvis leg", "pelvis armEnd")
    names = asf_joints(parsed(text)).names
    assert names == ("root", "pelvis", "spine", "arm", "armEnd2", "armEnd", "armEndEnd")


def test_odd_directions_and_dofs_are_reported():
    text = ASF.replace("direction 0 -1 0", "direction 0 -2 0").replace("dof rz rx", "dof rz rx l")
    text = text.replace("direction 0.6 0.8 0", "direction 0 0 0")
    skeleton = parsed(text)
    assert skeleton.directions[4].tolist() == [0, -1, 0]
    joined = " / ".join(skeleton.warnings)
    assert "'arm' have a length but no direction" in joined
    assert "directions of bones 'leg' are not unit vectors" in joined
    assert "'arm' have degrees of freedom other than rotations" in joined
    lengthened = re.sub(r"(?m)^(arm .*)$", r"\1 0.5", AMC)
    assert np.array_equal(
        motion(lengthened, skeleton).rotations, motion(AMC, parsed(text.replace(" l\n", "\n"))).rotations
    )


# --- the motion


def test_agrees_with_the_slow_twin():
    raw = motion()
    places = world(raw)
    ends = slow_ends(ASF, AMC)
    for bone, at in {"spine": "arm", "arm": "armEnd", "leg": "legEnd", "pelvis": "spine"}.items():
        assert np.allclose(places[:, raw.names.index(at)], ends[bone], atol=1e-12), bone


def test_agrees_with_the_slow_twin_on_random_skeletons():
    rng = np.random.default_rng(5)
    for _ in range(10):
        asf, amc_text = ASF, AMC
        for old in ("axis 10 20 30 XYZ", "axis 0 -30 90 ZYX", "axis 0 0 20 XYZ"):
            order = "".join(rng.permutation(list("XYZ")))
            asf = asf.replace(old, f"axis {' '.join(map(str, rng.uniform(-180, 180, 3).round(3)))} {order}")
        asf = asf.replace("dof rx ry rz", "dof " + " ".join(rng.permutation(["rx", "ry", "rz"])))
        amc_text = re.sub(r"(?<= )-?[0-9.e]+", lambda _: f"{rng.uniform(-180, 180):.4f}", amc_text)
        raw = motion(amc_text, parsed(asf))
        ends = slow_ends(asf, amc_text)
        places = world(raw)
        assert np.allclose(places[:, raw.names.index("armEnd")], ends["arm"], atol=1e-9)
        assert np.allclose(places[:, raw.names.index("legEnd")], ends["leg"], atol=1e-9)


@pytest.mark.parametrize(("folder", "trial", "bvh_folder"), CMU_TRIALS)
def test_cmu_trials_agree_with_their_bvh_files(data_folder, folder, trial, bvh_folder):
    skeleton, data, path = read_cmu(data_folder, folder, trial)
    bvh_path = data_folder / "cmu" / bvh_folder / f"{trial}.bvh"
    bvh = read_bvh(bvh_path.read_bytes(), str(bvh_path))
    full = read_amc(data, path, skeleton)
    assert len(full.rotations) == len(bvh.rotations) - 1
    assert full.warnings == []
    theirs = world(bvh)[1:] * full.unit

    lengths = skeleton.lengths.copy()
    lengths[[skeleton.names.index(bone) for bone in CMU_FORKS]] = 0.0
    raw = read_amc(data, path, replace(skeleton, lengths=lengths))
    ours = world(raw) * full.unit
    for bone, joint in CMU_PAIRS.items():
        apart = np.linalg.norm(ours[:, raw.names.index(bone)] - theirs[:, bvh.names.index(joint)], axis=1)
        assert apart.max() < 1e-3, (bone, joint)
    # With the lengths that the ASF gives, everything below the chest's end stays where it is.
    places = world(full) * full.unit
    for bone in ("lfemur", "ltibia", "lfoot", "ltoes", "rfoot", "upperback", "thorax"):
        apart = places[:, full.names.index(bone)] - theirs[:, bvh.names.index(CMU_PAIRS[bone])]
        assert np.abs(apart).max() < 1e-3


def test_cmu_bodies_are_as_tall_as_people(data_folder):
    for folder in ("16", "02"):
        path = data_folder / "cmu-asfamc" / folder / f"{folder}.asf"
        raw = asf_motion(read_asf(path.read_bytes(), str(path)), path)
        heights = world(raw)[0, :, 1] * raw.unit
        assert 1.5 < np.ptp(heights) < 1.8
        assert any("0.45" in report for report in raw.evidence)


def test_both_ways_of_reading_agree(data_folder, monkeypatch):
    skeleton, data, path = read_cmu(data_folder, "16", "16_35")
    quick = read_amc(data, path, skeleton)
    monkeypatch.setattr(amc, "_read_regular", lambda *args: None)
    careful = read_amc(data, path, skeleton)
    assert np.array_equal(quick.rotations, careful.rotations)
    assert np.array_equal(quick.root_positions, careful.root_positions)
    assert careful.warnings == []


def test_a_regular_file_takes_the_quick_way(monkeypatch):
    monkeypatch.setattr(amc, "_LINES_AT_ONCE", 6)  # several chunks
    monkeypatch.setattr(amc, "_read_lines", None)
    assert motion().root_positions[:, 0].tolist() == [1, 1.5, 2]


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "\r"),
        lambda text: text.replace(" ", "\t"),
        lambda text: text.replace("\nspine", "\n  spine").replace("\n2\n", "\n 2 \n\n"),
        lambda text: text.replace("\n2\n", "\n# half\n2 # two\n").replace("leg -11", "leg -11 # end"),
        lambda text: text.replace(":DEGREES", ":degrees").replace(":FULLY-SPECIFIED", ":Fully-Specified"),
        lambda text: text.replace("root", "ROOT"),
        lambda text: text.rstrip("\n"),
        lambda text: "\ufeff" + text,
        lambda text: text + "\n\n  \n",
        lambda text: text.replace("leg -9\n", "leg -9\npelvis\n"),
    ],
)
def test_dialects_of_amc_mean_the_same(change):
    expected, got = motion(), motion(change(AMC))
    assert np.array_equal(got.rotations, expected.rotations)
    assert np.array_equal(got.root_positions, expected.root_positions)
    assert got.warnings == []


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("  ", "\t"),
        lambda text: re.sub(r"(?m)^(:\w+)", lambda m: m[1].upper(), text),
        lambda text: re.sub(r"(?m)^ +(name|direction|length|axis|dof|begin|end)\b", lambda m: m[0].upper(), text),
        lambda text: text.replace("TX TY TZ RX RY RZ", "tx ty tz rx ry rz"),
        lambda text: text.replace("0.6 0.8 0", "0.6, 0.8, 0 # up and out"),
        lambda text: text.replace("  begin\n    root", "    root"),
    ],
)
def test_dialects_of_asf_mean_the_same(change):
    expected, got = motion(), motion(skeleton=parsed(change(ASF)))
    assert got.names == expected.names
    assert np.array_equal(got.offsets, expected.offsets)
    assert np.array_equal(got.rotations, expected.rotations)


def test_radians():
    def radians(match):
        return " ".join([match[1], *(repr(float(np.radians(float(number)))) for number in match[2].split())])

    text = AMC.replace(":DEGREES", ":RADIANS")
    text = re.sub(r"(?m)^(spine|arm|leg|root \S+ \S+ \S+) (.*)$", radians, text)
    assert np.allclose(motion(text).rotations, motion().rotations, atol=1e-12)
    # The ASF's own angles follow the ASF's unit, and so does an AMC that names none.
    asf = ASF.replace("angle deg", "angle rad").replace("10 20 30 XYZ", "0.17453293 0.34906585 0.52359878 XYZ")
    asf = asf.replace("0 -30 90 ZYX", "0 -0.52359878 1.57079633 ZYX").replace("0 0 20 XYZ", "0 0 0.34906585 XYZ")
    again = motion(text.replace(":RADIANS\n", ""), parsed(asf))
    assert np.allclose(again.rotations, motion().rotations, atol=1e-7)


def test_root_order_is_the_files():
    text = re.sub(r"(?m)^root (\S+) (\S+) (\S+) (.*)$", r"root \4 \3 \1 \2", AMC)
    skeleton = parsed(ASF.replace("order TX TY TZ RX RY RZ", "order RX RY RZ TZ TX TY"))
    assert np.array_equal(motion(text, skeleton).rotations, motion().rotations)
    assert np.array_equal(motion(text, skeleton).root_positions, motion().root_positions)


def test_root_position_and_orientation_move_the_whole_motion():
    text = ASF.replace("position 0 0 0", "position 5 6 7").replace("orientation 0 0 0", "orientation 90 0 0")
    moved, plain = world(motion(skeleton=parsed(text))), world(motion())
    assert np.allclose(moved, plain @ turn("x", 90).T + [5, 6, 7], atol=1e-12)


def test_rate():
    assert motion().fps == 120.0
    assert (
        "AMC files hold no frame rate; 120 Hz assumed, as in the CMU collection; `file_fps=` sets another"
        in motion().evidence
    )
    assert motion(fps=60).fps == 60.0
    stated = AMC.replace(":DEGREES", ":DEGREES\n:SAMPLES-PER-SECOND 30")
    assert motion(stated).fps == 30.0
    assert motion(stated, fps=25).fps == 25.0
    with pytest.raises(InvalidValue, match="fps must be greater than 0 and at most 100000 frames per second, not"):
        motion(fps=-1)


def test_signs_are_continuous():
    steps = "".join(f"{i}\nroot 0 0 0 0 {20 * i} 0\nspine 0 0 0\narm 0 0\nleg 0\n" for i in range(1, 40))
    rotations = motion(f":DEGREES\n{steps}").rotations
    assert (np.einsum("fjk,fjk->fj", rotations[1:], rotations[:-1]) > 0).all()


# --- what can be lived with


def test_a_missing_bone_keeps_its_last_value():
    raw = motion(AMC.replace("arm 7 9\n", ""))
    joint = raw.names.index("arm")
    assert np.array_equal(raw.rotations[1, joint], raw.rotations[0, joint])
    assert raw.warnings == ["bone 'arm' is missing in 1 frames, first 1; it keeps its last value"]


def test_a_bone_without_data_stays_at_rest():
    raw = motion(re.sub(r"(?m)^arm .*\n", "", AMC))
    assert np.allclose(raw.rotations[:, raw.names.index("arm")], [1, 0, 0, 0], atol=1e-15)
    assert raw.warnings == ["bone 'arm' is in no frame; it keeps its rest pose"]
    late = motion(AMC.replace("arm 7 8\n", ""))
    assert late.warnings == ["bone 'arm' is missing in 1 frames; it keeps its last value or its rest pose"]


@pytest.mark.parametrize("cut", ["leg -11\n", "arm 7 10\nleg -11\n", "10\nleg -11\n", "rm 7 10\nleg -11\n"])
def test_a_last_frame_that_is_cut_off_is_left_out(cut):
    raw = motion(AMC.removesuffix(cut))
    assert len(raw.rotations) == 2
    assert np.array_equal(raw.rotations, motion().rotations[:2])
    assert len(raw.warnings) == 1
    assert (
        "the last frame, which begins on line 14, is incomplete and was left out; the file is probably cut off"
        in raw.warnings[0]
    )


def test_frame_numbers_that_do_not_count_up():
    for change in (("\n3\n", "\n2\n"), ("\n3\n", "\n7\n"), ("\n2\n", "\n-2\n")):
        raw = motion(AMC.replace(*change))
        assert np.array_equal(raw.rotations, motion().rotations)
        assert "frame numbers do not count up by one" in raw.warnings[0]


# --- what cannot


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ((":root", ":roof"), "the :root section is missing; is this an ASF file?"),
        ((":bonedata", ":bones"), "the :bonedata section is missing; is this an ASF file?"),
        ((":hierarchy", ":tree"), "the :hierarchy section is missing; is this an ASF file?"),
        (("# made for the tests", "HIERARCHY"), "1: expected a section such as :units, got 'HIERARCHY'"),
        ((":documentation", ":units"), "8: section ':units' occurs twice"),
        (("angle deg", "angle gon"), "7: expected deg or rad after angle, got 'gon'"),
        (("length 0.45", "length 0"), "6: expected a positive unit of length, got 0"),
        (("length 0.45", "length nan"), "6: expected a number for length, got 'nan'"),
        (("order TX TY TZ RX RY RZ", ""), "10: expected a line such as 'order TX TY TZ RX RY RZ' in :root, got none"),
        (("order TX TY", "order TX TX"), "11: degree of freedom tx occurs twice"),
        (("axis XYZ", "axis XYY"), "12: expected an axis order such as XYZ, got 'XYY'"),
        (("position 0 0 0", "position 0 0"), "13: expected 3 values for position, got 2"),
        (("length 16", ""), "23: bone 'spine' has no length"),
        (("name spine", ""), "23: the bone has no name"),
        (("name spine", "name"), "25: expected a bone name"),
        (("axis 10 20 30 XYZ", ""), "23: bone 'spine' has no axis"),
        (("direction 0 1 0\n     length 16", "length 16"), "23: bone 'spine' has no direction"),
        (("length 16", "length -16"), "27: expected a length of at least 0, got -16"),
        (("length 16", "length 1e400"), "27: expected a number from -1e+12 to 1e+12 for length, got '1e400'"),
        (("length 16", "length 1_6"), "27: expected a number for length, got '1_6'"),
        (("axis 10 20 30 XYZ", "axis 10 20 XYZ"), "28: expected a number for axis, got 'XYZ'"),
        (("dof rz rx", "dof rz rw"), "40: expected degrees of freedom among rx ry rz tx ty tz l, got 'rw'"),
        (("name arm", "name spine"), "34: bone name 'spine' occurs twice"),
        (("name arm", "name Root"), "34: bone name 'Root' occurs twice"),
        (("     dof rx\n  end\n", "     dof rx\n"), "42: the bone that begins on line 42 has no 'end'"),
        (
            ("  end\n  begin\n     id 3", "  begin\n     id 3"),
            "33: expected 'end' of the bone that begins on line 23, got another 'begin'",
        ),
        (("  begin\n     id 3", "     id 3"), "34: expected 'begin' of a bone, got 'id'"),
        (("spine arm", "spine arn"), "54: bone 'arn' is not in :bonedata; similar: 'arm'"),
        (("    spine arm\n", ""), "34: bone 'arm' has no parent; add it to the :hierarchy section"),
        (("spine arm", "spine arm leg"), "54: bone 'leg' already has a parent, which is given on line 52"),
        (("spine arm", "spine arm root"), "54: the root cannot be the child of a bone; check the :hierarchy section"),
        (
            ("root pelvis leg\n", "root leg\n    arm pelvis\n"),
            "the :hierarchy section has a cycle through bone 'pelvis' that is not connected to the root",
        ),
    ],
)
def test_broken_asf(change, message):
    assert change[0] in ASF
    with pytest.raises(ParseError) as error:
        parsed(ASF.replace(*change, 1))
    assert message in str(error.value)
    assert error.value.path == "stick.asf"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("spine 4 5 6", "spine 4 5"), "6: expected 3 values (rx ry rz) for bone 'spine', got 2"),
        (("leg -9", "leg -9 1"), "8: expected 1 value (rx) for bone 'leg', got 2"),
        (("leg -9", "leg -9\npelvis 1"), "9: expected 0 values for bone 'pelvis', got 1"),
        (
            ("spine 4 5 6", "spime 4 5 6"),
            "6: bone 'spime' is not in the skeleton; similar: 'spine'; check that this is the",
        ),
        (("spine 4 5 6", "spine 4 x 6"), "6: expected a number for bone 'spine', got 'x'"),
        (("spine 4 5 6", "spine 4 nan 6"), "6: expected a number for bone 'spine', got 'nan'"),
        (("spine 4 5 6", "spine 4 5 nan"), "6: expected a number for bone 'spine', got 'nan'"),
        (("spine 4 5 6", "spine 4 -inf 6"), "6: expected a number from -1e+12 to 1e+12 for bone 'spine', got '-inf'"),
        (("spine 4 5 7", "spine 4 1_0 7"), "11: expected a number for bone 'spine', got '1_0'"),
        (("spine 4 5 6", "spine 4 1e13 6"), "6: expected a number from -1e+12 to 1e+12 for bone 'spine', got '1e13'"),
        (("\n2\n", "\n"), "9: bone 'root' occurs twice in frame 1"),
        (
            ("\n2\n", "\n2\n:RADIANS\n"),
            "10: expected a bone or a frame number, got the keyword ':RADIANS'; keywords must",
        ),
        (("\n1\n", "\n"), "4: expected a keyword or frame number, got 'root 1 2 3 10 20 30'"),
        ((AMC[AMC.index("\nroot") :], ""), "4: expected lines of bone values after the frame number, got none"),
        ((AMC[AMC.index("1\nroot") :], ""), "the file has no frames"),
        ((":DEGREES", ":SAMPLES-PER-SECOND 0"), "3: expected a frame rate greater than 0 and up to 100000 Hz, got '0'"),
        (("leg -11\n", "leg\n"), "18: expected 1 value (rx) for bone 'leg', got 0"),
    ],
)
def test_broken_amc(change, message):
    assert change[0] in AMC
    with pytest.raises(ParseError) as error:
        motion(AMC.replace(*change, 1))
    assert message in str(error.value)
    assert error.value.path == "walk.amc"


def test_a_small_file_may_not_unfold_into_a_large_motion():
    bones = "".join(
        f"begin\nid {i}\nname b{i}\ndirection 0 1 0\nlength 1\naxis 0 0 0 XYZ\ndof rx\nend\n" for i in range(2000)
    )
    tree = " ".join(f"b{i}" for i in range(2000))
    skeleton = parsed(f":root\norder TX\n:bonedata\n{bones}:hierarchy\nroot {tree}\n")
    frames = "\n".join(map(str, range(5000)))
    with pytest.raises(LimitExceeded, match="5000 frames of 4001 joints"):
        motion(f":DEGREES\n{frames}\nroot 1\n", skeleton)


def test_a_chain_of_bones_may_be_deep_but_not_endless():
    def chain(n):
        bones = "".join(f"begin\nname b{i}\ndirection 0 1 0\nlength 1\nend\n" for i in range(n))
        tree = "".join(f"b{i} b{i + 1}\n" for i in range(n - 1))
        return f":root\norder TX\n:bonedata\n{bones}:hierarchy\nroot b0\n{tree}"

    assert len(parsed(chain(3000)).names) == 3001
    with pytest.raises(LimitExceeded, match="stick.asf:60010: joints are nested more than 10000 levels deep"):
        parsed(chain(10_001))


# --- which ASF goes with an AMC


def test_find_asf(tmp_path):
    path = tmp_path / "16_11_b.amc"
    with pytest.raises(UnreadableFile) as error:
        find_asf(path)
    assert "looked for 16_11_b.asf, 16_11.asf, 16.asf or a single .asf file" in str(error.value)
    assert "found none" in str(error.value)
    assert "; pass the .asf file as `skeleton=`" in str(error.value)
    (tmp_path / "other.asf").touch()
    assert find_asf(path).name == "other.asf"
    (tmp_path / "another.ASF").touch()
    with pytest.raises(UnreadableFile, match=r"found several others: another\.ASF, other\.asf"):
        find_asf(path)
    for name in ("16.ASF", "16_11.asf", "16_11_b.asf"):
        (tmp_path / name).touch()
        assert find_asf(path).name == name
    with pytest.raises(UnreadableFile, match="cannot list its folder to find the ASF file"):
        find_asf(tmp_path / "nowhere" / "a.amc")


# --- nothing but typed errors


def mutated(data, rng):
    """Bytes flipped, removed or duplicated; tokens swapped, dropped or replaced; truncated files."""
    kind = rng.randrange(6)
    if kind == 0:
        return data[: rng.randrange(len(data))]
    if kind == 1:
        at, n = rng.randrange(len(data)), rng.randrange(1, 60)
        return data[:at] + data[at + n :]
    if kind == 2:
        out = bytearray(data)
        for _ in range(rng.choice([1, 3, 10])):
            out[rng.randrange(len(out))] = rng.randrange(256)
        return bytes(out)
    tokens = re.split(rb"(\s+)", data)
    odd = [
        b"nan",
        b"1e308",
        b"-1",
        b"",
        b"begin",
        b"end",
        b":root",
        b"root",
        b"#",
        b"(",
        b"9" * 30,
        b"x" * 5000,
    ]
    for _ in range(rng.choice([1, 2, 4])):
        i, j = (2 * rng.randrange(len(tokens) // 2) for _ in range(2))
        if kind == 3:
            tokens[i], tokens[j] = tokens[j], tokens[i]
        else:
            tokens[i] = rng.choice(odd)
    return b"".join(tokens)


def test_fuzzed_asf_gives_skeletons_or_typed_errors():
    outcomes = set()
    for seed in range(300):
        try:
            raw = asf_motion(read_asf(mutated(ASF.encode(), random.Random(seed)), "f.asf"), "f.asf")
            outcomes.add(bool(np.isfinite(raw.offsets).all() and np.isfinite(raw.rotations).all()))
        except MareyError:
            outcomes.add("refused")
    assert outcomes == {True, "refused"}


def test_fuzzed_amc_gives_motions_or_typed_errors():
    skeleton, outcomes = parsed(), set()
    for seed in range(300):
        try:
            raw = read_amc(mutated(AMC.encode(), random.Random(seed)), "f.amc", skeleton)
            lengths = np.linalg.norm(raw.rotations, axis=-1)
            outcomes.add(bool(np.allclose(lengths, 1.0) and np.isfinite(raw.root_positions).all()))
        except MareyError:
            outcomes.add("refused")
    assert outcomes == {True, "refused"}


# Joint limits ---------------------------------------------------------------------------------------------------------


def test_limits_are_those_of_the_angles_in_the_file(tmp_path):
    """An AMC file holds the angles that the limits apply to, so excesses can be read from it."""
    from marey.io import load_joint_limits, load_motion

    asf = ASF.replace("(-inf inf)", "(-30.0 30.0)")
    for k, text in enumerate(
        (asf, asf.replace("dof rx ry rz", "dof rz rx ry"), asf.replace("dof rx ry rz", "dof rz ry rx"))
    ):
        (tmp_path / f"{k}.asf").write_text(text)
        rows = [(50, 0, 0), (0, 35, 0), (0, 0, -31), (-20, 30, 30), (44, -29, 12)]
        spine = next(name for name, dofs in zip(*_dofs(text), strict=True) if len(dofs) == 3 and name != "root")
        frames = []
        for n, row in enumerate(rows):
            lines = [
                f"{name} {' '.join(map(str, row if name == spine else [0] * len(dofs)))}"
                for name, dofs in zip(*_dofs(text), strict=True)
                if dofs
            ]
            frames += [str(n + 1), *lines]
        (tmp_path / f"{k}.amc").write_text(":FULLY-SPECIFIED\n:DEGREES\n" + "\n".join(frames) + "\n")
        limits = load_joint_limits(tmp_path / f"{k}.asf")
        names, excess = limits.find_excess(load_motion(tmp_path / f"{k}.amc"))
        found = np.degrees(excess[:, names.index(spine)])
        np.testing.assert_allclose(found, [5, 5, 1, 0, 0], atol=1e-4)


def _dofs(text):
    skeleton = read_asf(text.encode(), "x.asf")
    return skeleton.names, skeleton.dofs


def test_limits_that_make_no_sense_are_ignored_with_a_warning(tmp_path):
    from marey.io import load_joint_limits

    one_more = ASF.replace("     name pelvis\n", "     name pelvis\n     dof rx\n     limits (-5 5)\n")
    for wrong in ("(-20.0 45.0 3)", "(45.0 -20.0)", "(-20.0 abc)", "(-20.0 nan)"):
        (tmp_path / "x.asf").write_text(one_more.replace("(-20.0 45.0)", wrong))
        with pytest.warns(MareyWarning, match="limits of bone 'spine' are ignored; expected a pair of numbers"):
            assert "spine" not in load_joint_limits(tmp_path / "x.asf").names
    (tmp_path / "x.asf").write_text(ASF.replace("(-20.0 45.0)", "(-inf inf)"))
    limits = load_joint_limits(tmp_path / "x.asf")
    assert np.ptp([limits.low[0, 0], limits.high[0, 0]]) == pytest.approx(4 * np.pi)


def test_a_file_without_limits_says_so(tmp_path):
    from marey.io import load_joint_limits

    text = re.sub(r"limits.*\n(\s+\(.*\n)*", "", ASF)
    (tmp_path / "x.asf").write_text(text)
    with pytest.raises(ParseError, match="the file states no joint limits"):
        load_joint_limits(tmp_path / "x.asf")
