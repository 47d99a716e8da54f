"""C3D: against simple decoders of the bytes, against ezc3d, against the BVH of the same trial; and damaged files."""

import random
import re
import struct
import sys
import tracemalloc

import numpy as np
import pytest

from marey.errors import InvalidValue, LimitExceeded, MareyError, MareyWarning, ParseError, UnreadableFile
from marey.io import limits
from marey.io.c3d import read_c3d
from tests.io.make_c3d import PROCESSORS, c3d_bytes, decode_points, encode, floats, integers, standing, texts


@pytest.fixture
def read(tmp_path):
    def reader(data, **options):
        path = tmp_path / "trial.c3d"
        path.write_bytes(data)
        return read_c3d(str(path), **options)

    return reader


# --- real files


def test_cmu_markers(data_folder):
    path = data_folder / "c3d" / "85_02.c3d"
    markers = read_c3d(str(path))
    assert markers.positions.shape == (810, 41, 3)
    assert (markers.fps, markers.name) == (120.0, "85_02")
    assert markers.names[:2] == ("Male:LFWT", "Male:RFWT")
    assert (markers.source.unit, markers.source.up, markers.source.format) == (0.001, "z", "c3d")
    assert any("Z up: along this axis the lowest marker" in text for text in markers.source.evidence)
    raw = decode_points(path.read_bytes())
    assert np.array_equal(markers.valid, raw[..., 3] >= 0)
    x, y, z = np.moveaxis(raw[..., :3], -1, 0) * 0.001
    assert np.allclose(markers.positions, np.stack([x, z, -y], axis=-1), atol=1e-6)
    assert not markers.positions.flags.writeable


def test_cmu_markers_go_with_the_bvh_of_the_trial(data_folder):
    """Marker heights follow the joints of the skeleton fitted to them; 811 BVH frames begin with a T-pose."""
    from marey.core import Skeleton, forward_kinematics
    from marey.io.bvh_read import read_bvh

    path = data_folder / "cmu" / "085" / "85_02.bvh"
    raw = read_bvh(path.read_bytes(), str(path))
    joints = forward_kinematics(Skeleton(raw.names, raw.parents, raw.offsets), raw.root_positions, raw.rotations)
    heights = joints.positions[1:, :, 1] * 0.0254 / 0.45
    markers = read_c3d(str(data_folder / "c3d" / "85_02.c3d"))
    for marker, joint in {"Male:LANK": "LeftFoot", "Male:RKNE": "RightLeg", "Male:LKNE": "LeftLeg"}.items():
        apart = markers.positions[:, markers.index(marker), 1] - heights[:, raw.names.index(joint)]
        assert np.abs(apart).max() < 0.12
        assert (
            np.corrcoef(markers.positions[:, markers.index(marker), 1], heights[:, raw.names.index(joint)])[0, 1] > 0.97
        )


def test_plug_in_gait_trial_without_its_angles(data_folder):
    path = data_folder / "c3d" / "Sample_Static.c3d"
    markers = read_c3d(str(path))
    assert markers.positions.shape == (275, 115, 3)
    assert "LASI" in markers.names
    assert "*111" in markers.names
    assert "LHipAngles" not in markers.names
    evidence = " / ".join(markers.source.evidence)
    assert "26 of 141 points are left out" in evidence
    assert "unit mm from POINT:UNITS" in evidence
    assert "Z up from POINT:Y_SCREEN" in evidence
    heights = markers.positions[0, [markers.index(name) for name in ("LTOE", "LKNE", "LASI", "C7", "LFHD")], 1]
    assert (np.diff(heights) > 0.1).all()
    assert 1.4 < heights[-1] < 1.9


# --- what a file may say


def test_unseen_markers_are_not_valid(read):
    points = standing()
    residuals = np.zeros(points.shape[:2])
    residuals[3, 2] = -1.0
    points[5, 1] = np.nan
    points[6, 4] = 0.0
    residuals[7, 0] = 1025.0
    markers = read(c3d_bytes(points, residuals=residuals))
    assert np.argwhere(~markers.valid).tolist() == [[3, 2], [5, 1], [6, 4]]
    assert (markers.positions[~markers.valid] == 0).all()


def ours(points):
    """Convert positions in mm, Z up, to those of `Markers`."""
    return points[..., [0, 2, 1]] * [0.001, 0.001, -0.001]


@pytest.mark.parametrize("analog", [(0, 1), (3, 2), (1, 10)])
@pytest.mark.parametrize("scale", [-0.1, 0.1])
@pytest.mark.parametrize("processor", PROCESSORS)
def test_every_form_of_storage(read, processor, scale, analog):
    points = standing()
    residuals = np.zeros(points.shape[:2])
    residuals[3, 2], residuals[5, 4] = -1, 0x0301
    data = c3d_bytes(points, processor=processor, scale=scale, analog=analog, residuals=residuals, Y_SCREEN=texts("+Z"))
    markers = read(data)
    expected = ours(points if scale < 0 else points.round(1))
    expected[3, 2] = 0
    assert np.allclose(markers.positions, expected, atol=2e-7)
    assert np.argwhere(~markers.valid).tolist() == [[3, 2]]
    assert (markers.fps, markers.names) == (100.0, tuple(f"M{i}" for i in range(8)))


def ezc3d_points(path):
    """Return positions in the file's unit, validity and labels, read by ezc3d."""
    ezc3d = pytest.importorskip("ezc3d", reason="ezc3d is the outside reader")
    content = ezc3d.c3d(str(path))
    positions = content["data"]["points"][:3].transpose(2, 1, 0)
    residuals = content["data"]["meta_points"]["residuals"][0].T
    valid = np.isfinite(positions).all(axis=-1) & (residuals >= 0) & (positions != 0).any(axis=-1)
    labels = content["parameters"]["POINT"]["LABELS"]["value"]
    return np.where(valid[..., None], positions, 0.0), valid, list(labels)


@pytest.mark.parametrize("analog", [(0, 1), (3, 2)])
@pytest.mark.parametrize("scale", [-0.1, 0.1])
@pytest.mark.parametrize("processor", ["intel", "dec"])  # the parameters that ezc3d supports
def test_made_files_are_what_ezc3d_reads(read, tmp_path, processor, scale, analog):
    residuals = np.random.default_rng(1).integers(-1, 3, size=(20, 8))
    data = c3d_bytes(processor=processor, scale=scale, analog=analog, residuals=residuals, Y_SCREEN=texts("+Z"))
    markers = read(data)
    positions, valid, _ = ezc3d_points(tmp_path / "trial.c3d")
    assert np.array_equal(markers.valid, valid)
    assert np.allclose(markers.positions, ours(positions), rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["85_02.c3d", "Sample_Static.c3d"])
def test_real_files_are_what_ezc3d_reads(data_folder, name):
    markers = read_c3d(data_folder / "c3d" / name)
    positions, valid, labels = ezc3d_points(data_folder / "c3d" / name)
    kept = [labels.index(label) for label in markers.names]
    positions, valid = positions[:, kept], valid[:, kept]
    assert np.array_equal(markers.valid, valid)
    assert np.allclose(markers.positions, ours(positions), rtol=0, atol=1e-12)


def test_vax_floats(read):
    """Any number without exponent is 0; the largest are beyond what IEEE has for the same bits."""
    points = np.full((2, 3, 3), 100.0)
    frames = bytearray(encode(4, np.concatenate([points, np.zeros((2, 3, 1))], axis=-1).ravel(), "dec"))
    frames[0:12] = bytes.fromhex("0000ffff 7f000000 00800000")
    frames[16:20] = bytes.fromhex("ff7fffff")
    markers = read(c3d_bytes(points, processor="dec", data=bytes(frames)), unit="m", up="y")
    assert np.argwhere(~markers.valid).tolist() == [[0, 0]]
    assert markers.positions[0, 1].tolist() == [(1 - 2.0**-24) * 2.0**127, 100.0, 100.0]


def test_nothing_is_needed_to_read_c3d(read, monkeypatch):
    monkeypatch.setitem(sys.modules, "ezc3d", None)
    assert len(read(c3d_bytes())) == 20


def test_memory_is_bounded(read):
    data = c3d_bytes(np.tile(standing(1), (30_000, 1, 1)), scale=0.1)
    read(data, up="z")
    tracemalloc.start()
    try:
        markers = read(data, up="z")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2 * markers.positions.nbytes + 16 * 2**20


UNITS = {"mm": 0.001, "m": 1.0, "CM": 0.01, "Meters": 1.0, "millimeters": 0.001, "inches": 0.0254, "ft": 0.3048}


@pytest.mark.parametrize(("word", "meters"), UNITS.items())
def test_units(read, word, meters):
    points = standing() * 0.001 / meters
    markers = read(c3d_bytes(points, UNITS=texts(word)))
    assert markers.source.unit == meters
    assert markers.positions[..., 1].max() == pytest.approx(1.7, abs=1e-3)


@pytest.mark.parametrize("meters", [1.0, 0.01, 0.001, 0.0254])
def test_a_unit_that_is_not_stated_is_recognized(read, meters):
    points = standing() * 0.001 / meters
    for units in (None, texts("furlong")):
        with pytest.warns(MareyWarning, match="; pass `unit=` if this is wrong"):
            markers = read(c3d_bytes(points, UNITS=units))
        assert markers.source.unit == meters
        assert any("and with it the markers are" in text for text in markers.source.evidence)
    assert read(c3d_bytes(points, UNITS=None), unit=meters).source.unit == meters


@pytest.mark.parametrize("up", [0, 1, 2])
@pytest.mark.parametrize("sign", [1, -1])
def test_the_upward_axis_is_recognized(read, up, sign):
    markers = read(c3d_bytes(sign * standing(up=up)))
    assert markers.source.up == ("" if sign > 0 else "-") + "xyz"[up]
    assert markers.positions[..., 1].min() == pytest.approx(0.02, abs=1e-4)
    assert markers.positions[..., 1].max() == pytest.approx(1.7, abs=1e-4)


def test_the_upward_axis_as_stated_and_as_given(read):
    stated = c3d_bytes(standing(), Y_SCREEN=texts("+Y"))
    with pytest.warns(MareyWarning, match="POINT:Y_SCREEN says Y up, but the markers show Z up"):
        assert read(stated).source.up == "y"
    assert read(stated, up="Z").source.up == "z"
    flat = standing()
    flat[..., 2] *= 0.01
    with pytest.warns(MareyWarning, match="which is not certain; pass `up=`"):
        read(c3d_bytes(flat))
    with pytest.raises(InvalidValue, match="`up=` must be one of"):
        read(stated, up="w")
    with pytest.raises(InvalidValue, match="unit must be one of"):
        read(stated, unit="parsec")


def test_labels_are_made_unique(read):
    content = "A  A  A_2   *7 Ü  ".encode("latin-1")
    markers = read(c3d_bytes(standing(), LABELS=(-1, (3, 6), content)))
    assert markers.names == ("A", "A_3", "A_2", "unlabeled3", "*7", "Ü", "unlabeled6", "unlabeled7")


def test_labels_go_on_in_further_parameters(read):
    markers = read(c3d_bytes(standing(), LABELS=texts("A", "B"), LABELS2=texts("C"), LABELS3=texts("D", "E")))
    assert markers.names[:6] == ("A", "B", "C", "D", "E", "unlabeled5")
    with pytest.warns(DeprecationWarning, match="'unlabeled5'"):
        assert markers.index("unlabelled5") == 5


def test_computed_values_are_left_out(read):
    markers = read(
        c3d_bytes(
            standing(),
            ANGLES=texts("M1", "M5"),
            POWERS=texts("M6"),
            MODELED_MARKERS=texts("M2"),
            OTHERS=texts("M7"),
            TYPE_GROUPS=(-1, (15, 2, 2), b"MODELED_MARKERSLENGTH         OTHERS         SCALAR         "),
        )
    )
    assert markers.names == ("M0", "M2", "M3", "M4")
    assert any("4 of 8 points are left out" in text for text in markers.source.evidence)
    with pytest.raises(ParseError, match="the file has no markers: all of its 8 points are computed values"):
        read(c3d_bytes(standing(), FORCES=texts(*(f"M{i}" for i in range(8)))))


LONG = np.tile(standing(1)[:, :1], (70_000, 1, 1))
TRIAL = {"ACTUAL_START_FIELD": integers(5, 0), "ACTUAL_END_FIELD": integers(70_004 & 0xFFFF, 70_004 >> 16)}


@pytest.mark.parametrize(
    "options",
    [
        {"FRAMES": integers(-1), "groups": {"TRIAL": TRIAL}},
        {"FRAMES": None, "groups": {"TRIAL": TRIAL}},
        {"FRAMES": integers(-1), "LONG_FRAMES": floats(70_000.0)},
        {"FRAMES": integers(12), "LONG_FRAMES": floats(70_000.0)},
        {"FRAMES": floats(70_000.0)},
    ],
)
def test_frames_beyond_sixteen_bits(read, options):
    assert len(read(c3d_bytes(LONG, header={"last": 0xFFFF}, **options), up="z")) == 70_000


@pytest.mark.parametrize("n_frames", [40_000, 0xFFFF])
def test_frames_beyond_fifteen_bits(read, n_frames):
    assert len(read(c3d_bytes(LONG[:n_frames]), up="z")) == n_frames
    assert len(read(c3d_bytes(LONG[:n_frames], FRAMES=None), up="z")) == n_frames


ANALOG = {"USED": integers(2), "RATE": floats(100.0)}


@pytest.mark.parametrize(
    "options",
    [
        {"FRAMES": floats(20.0)},
        {"FRAMES": None},
        {"FRAMES": (2, (0,), b"")},
        {"USED": floats(8.0)},
        {"USED": (1, (), [8])},
        {"USED": (2, (1,), [8])},
        {"RATE": None},
        {"RATE": integers(100)},
        {"SCALE": None},
        {"SCALE": integers(-1)},
        {"header": {"scale": 0.0, "rate": 0.0, "points": 0}},
        {"header": {"first": 900, "last": 300}},
        {"header": {"data": 0}, "DATA_START": integers(3)},
        {"description": b"d" * 127},
        {"description": b"d" * 255},
        {"gap": 7},
        {"OTHER": (-1, (), b"c")},
        {"OTHER": (2, (255, 255, 255, 0), b"")},
        {"OTHER": (-1, (0, 255, 255, 255), b"")},
        {"OTHER": (2, (1,) * 7, [1])},
        {"analog": (2, 1), "groups": {"ANALOG": ANALOG}},
        {"analog": (2, 1), "groups": {"ANALOG": {"USED": integers(2)}}},
        {"analog": (2, 1), "groups": {"ANALOG": {**ANALOG, "RATE": floats(0.0), "SCALE": (4, (0,), b"")}}},
        {
            "analog": (2, 3),
            "groups": {"ANALOG": {"USED": integers(2), "RATE": floats(299.7)}},
            "header": {"samples": 0},
        },
        {"analog": (0, 1), "groups": {"ANALOG": {"USED": integers(0), "GEN_SCALE": (4, (0,), b"")}}},
        {"groups": {"ROTATION": {}}},
        {"groups": {"ROTATION": {"USED": integers(900), "DATA_START": integers(3), "RATE": floats(100.0)}}},
        {"groups": {"MORE": {"A" * 127: integers(1)}}},
    ],
)
def test_legal_but_unusual(read, recwarn, options):
    markers = read(c3d_bytes(**options))
    assert np.allclose(markers.positions, ours(standing()), atol=2e-7)
    assert markers.valid.all()
    assert markers.names == tuple(f"M{i}" for i in range(8))
    assert not recwarn.list


def test_labels_of_other_kinds(read):
    assert read(c3d_bytes(LABELS=(-1, (), b"c"))).names[:2] == ("c", "unlabeled1")
    assert read(c3d_bytes(LABELS=integers(1))).names[0] == "unlabeled0"
    assert read(c3d_bytes(LABELS=(-1, (0, 8), b""))).names[7] == "unlabeled7"


def test_names_in_small_letters_and_locked_records(read):
    data = c3d_bytes()
    small = data.replace(b"\x05\xffPOINT", b"\xfb\xffpoint").replace(b"\x06\x01LABELS", b"\xfa\x01Labels")
    assert small != data
    assert read(small).names[0] == "M0"


def test_parameters_may_come_before_their_group_and_after_the_data(read):
    data = c3d_bytes()
    records = data[516:1024]
    group, others = records[:10], records[10:]
    end = others.index(b"mm") + 3
    turned = data[:516] + others[:end] + group + others[end:] + data[1024:]
    assert read(turned).names[0] == "M0"
    behind = data[:512] + data[1024:] + data[512:1024]
    moved = bytes([len(behind) // 512]) + behind[1:16] + struct.pack("<H", 2) + behind[18:]
    assert np.allclose(read(moved).positions, ours(standing()), atol=2e-7)


def test_frames_that_are_there_are_kept(read):
    data = c3d_bytes()
    with pytest.warns(
        MareyWarning, match=r"trial\.c3d: the file ends after 15 of 20 frames and is probably cut off, or its header "
    ):
        markers = read(data[: 1024 + 128 * 15 + 127])
    assert np.allclose(markers.positions, ours(standing())[:15], atol=2e-7)
    with pytest.warns(MareyWarning, match="the file ends after 20 of 9999 frames"):
        assert len(read(c3d_bytes(FRAMES=integers(9999)))) == 20
    with pytest.warns(MareyWarning, match=r"the file ends after 20 of 1e\+30 frames"):
        assert len(read(c3d_bytes(FRAMES=floats(1e30)))) == 20


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"SCALE": floats(0.1)}, r"\(the scale: 0.1 or -0.1\); 8 points .* scale -0.1, .* match the length"),
        ({"header": {"scale": 0.1}}, r"\(the scale: -0.1 or 0.1\); 8 points .* scale -0.1, .* match the length"),
        ({"header": {"points": 7}}, r"\(the number of points: 8 or 7\); 8 points"),
        ({"USED": integers(9)}, r"\(the number of points: 9 or 8\); 8 points"),
        ({"header": {"analog": 6}}, r"\(the analog values in a frame: 0 or 6\); 8 points and 0 analog values"),
        ({"analog": (3, 2), "groups": {"ANALOG": ANALOG}}, r"\(.*in a frame: 2 or 6\); 8 points and 6 analog"),
        ({"DATA_START": integers(4)}, r"\(where the data begin: 1536 or 1024\); .* starting at byte 1024, match"),
        ({"header": {"data": 4}, "DATA_START": integers(3)}, r"begin: 1024 or 1536\); .* starting at byte 1024, match"),
    ],
)
def test_the_length_of_the_file_settles_what_contradicts(read, options, message):
    points = standing(100)  # enough that the readings differ by more than the padding of the last block
    with pytest.warns(MareyWarning, match=message):
        markers = read(c3d_bytes(points, **options))
    assert np.allclose(markers.positions, ours(points), atol=1e-6)


def test_the_parameters_hold_where_more_follows_the_points(read):
    with pytest.warns(MareyWarning, match="8 points .* are taken from the parameters"):
        markers = read(c3d_bytes(header={"points": 7}) + bytes(2048))
    assert np.allclose(markers.positions, ours(standing()), atol=2e-7)


# --- what cannot be read


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"header": {"data": 0}}, "the data should begin in block 0, which is past the end of the file"),
        ({"header": {"data": 900}}, "the data should begin in block 900, which is past the end of the file"),
        ({"header": {"data": 2}}, "the data should begin in block 2, which is past the end of the file"),
        (
            {"header": {"last": 0}, "FRAMES": None},
            "the last frame must not come before the first, got frames 1 to 0 in the header",
        ),
        (
            {"FRAMES": integers(9999), "USED": integers(9)},
            "parameters and header contradict each other (the number of points: 9 or 8), and",
        ),
        ({"USED": None}, "is missing or not a number"),
        ({"USED": (2, (0,), b"")}, "is missing or not a number"),
        ({"USED": texts("8")}, "is missing or not a number"),
        ({"USED": integers(0)}, "the file has no points"),
        ({"USED": floats(-3.0)}, "the file has no points"),
        ({"RATE": floats(-5.0)}, "expected a frame rate greater than 0 and up to 1e+06 Hz, got -5"),
        ({"RATE": None, "header": {"rate": 0.0}}, "expected a frame rate greater than 0 and up to 1e+06 Hz, got 0"),
        ({"RATE": floats(np.nan)}, "expected a frame rate greater than 0 and up to 1e+06 Hz, got nan"),
        (
            {"SCALE": floats(np.inf), "header": {"scale": 0.0}},
            "the scale must not be 0, got 0 in the header and inf in POINT:SCALE",
        ),
        ({"OTHER": (3, (), b"abc")}, "parameter 'OTHER' has an unknown type or too many dimensions"),
        ({"OTHER": (2, (1,) * 8, [1])}, "parameter 'OTHER' has an unknown type or too many dimensions"),
        ({"OTHER": (2, (255, 255), b"")}, "parameter 'OTHER' extends past the end of the parameter section"),
    ],
)
def test_files_that_contradict_themselves(read, options, message):
    with pytest.raises(ParseError) as error:
        read(c3d_bytes(**options))
    assert message in str(error.value)
    assert str(error.value.path).endswith("trial.c3d")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data[:600], "not a C3D file: expected at least 1024 bytes, got 600"),
        (lambda data: data[:1] + b"\x51" + data[2:], "not a C3D file: the key byte 0x50 is missing"),
        (lambda data: b"\x00" + data[1:], "not a C3D file"),
        (lambda data: b"\xc8" + data[1:], "the file ends before its parameters, which should begin at byte 101888"),
        (lambda data: data[:515] + b"\x53" + data[516:], "expected processor type 84, 85 or 86, got 83"),
        (lambda data: data[:1100], "a frame of 8 points needs 128 bytes, but only 76 remain for the data; the file is"),
        (lambda data: data[:1024], "the data should begin in block 3, which is past the end of the file"),
        (lambda data: data[:517] + b"\x00" + data[518:], "is missing or not a number"),
        (lambda data: data[:523] + b"\xff\xff" + data[525:], "the record after 'POINT' should begin between bytes"),
        (lambda data: data[:523] + b"\x01\x00" + data[525:], "but its offset points to byte 524"),
    ],
)
def test_broken_bytes(read, change, message):
    with pytest.raises(ParseError) as error:
        read(change(c3d_bytes()))
    assert message in str(error.value)


def test_groups_of_the_same_name_or_number(read):
    data = c3d_bytes(groups={"THIRD": {"USED": integers(3), "Y_SCREEN": texts("+Z")}})
    markers = read(data.replace(b"THIRD", b"POINT"))
    assert (len(markers.names), markers.source.up) == (8, "z")
    assert "Z up from POINT:Y_SCREEN" in markers.source.evidence
    with pytest.raises(ParseError, match="the parameter groups 'POINT' and 'THIRD' have the same number 1"):
        read(data.replace(b"\xfeTHIRD", b"\xffTHIRD"))


def test_limits_and_missing_files(read, tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "MAX_MARKERS", 7)
    with pytest.raises(LimitExceeded, match="the recording has 8 markers"):
        read(c3d_bytes(standing()))
    with pytest.raises(UnreadableFile, match="no such file"):
        read_c3d(str(tmp_path / "nothing.c3d"))
    (tmp_path / "empty.c3d").touch()
    with pytest.raises(UnreadableFile, match="the file is empty"):
        read_c3d(str(tmp_path / "empty.c3d"))


# --- nothing but typed errors


def mutated(data, rng):
    """Bytes flipped in the header, in the parameters, or around the names of the parameters that state sizes."""
    kind = rng.randrange(5)
    if kind == 0:
        return data[: rng.randrange(len(data))]
    out = bytearray(data)
    end = 512 * (struct.unpack_from("<H", data, 16)[0] - 1)
    if kind == 1:
        spots = [rng.randrange(24)]
    elif kind == 2:
        spots = [rng.randrange(512, end) for _ in range(rng.choice([1, 3, 10]))]
    else:
        names = list(re.finditer(rb"USED|FRAMES|SCALE|RATE|LABELS|OFFSET|POINT|ANALOG|TRIAL|UNITS", data[512:end]))
        spots = [512 + match.end() + rng.randrange(-8, 8) for match in rng.sample(names, 2)]
    for spot in spots:
        out[spot] = rng.choice([0, 1, 2, 4, 127, 128, 255, rng.randrange(256)])
    return bytes(out)


@pytest.mark.filterwarnings("ignore::marey.errors.MareyWarning")
def test_fuzzed_files_give_markers_or_typed_errors(read, data_folder):
    whole = (data_folder / "c3d" / "Sample_Static.c3d").read_bytes()
    n_points, n_analog, first = struct.unpack_from("<3H", whole, 2)
    start = 512 * (struct.unpack_from("<H", whole, 16)[0] - 1)
    data = bytearray(whole[: start + 3 * 4 * (4 * n_points + n_analog)])
    struct.pack_into("<H", data, 8, first + 2)
    struct.pack_into("<H", data, data.index(b"FRAMES", 512) + 10, 3)
    assert len(read(bytes(data))) == 3
    outcomes = set()
    for seed in range(300):
        try:
            markers = read(mutated(bytes(data), random.Random(seed)))
            outcomes.add(bool(np.isfinite(markers.positions).all() and len(markers) == len(markers.valid)))
        except MareyError:
            outcomes.add("refused")
    assert outcomes == {True, "refused"}
