"""NPZ: exact round trips, files written by NumPy alone, and damaged archives."""

import io
import random
import struct
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from marey.core import Contacts, Label, Labels, Motion, Skeleton, Source
from marey.core.contacts import ContactPoint
from marey.errors import InvalidValue, LimitExceeded, MareyError, ParseError, UnknownVersion
from marey.io import npz
from marey.io.loading import load_motion
from marey.io.npz import read_npz, write_npz

TABLE = [line.split()[0] for line in npz.__doc__.split("=\n")[2].splitlines() if line and line[0] != "="]


def make_motion(n_frames=7, seed=0, **changes):
    rng = np.random.default_rng(seed)
    rotations = rng.normal(size=(n_frames, 4, 4))
    rotations /= np.linalg.norm(rotations, axis=-1, keepdims=True)
    motion = Motion(
        skeleton=Skeleton(("Hips", "Bein é", "骨", "骨End"), np.array([-1, 0, 1, 2]), rng.normal(size=(4, 3))),
        root_positions=rng.normal(size=(n_frames, 3)),
        rotations=rotations,
        fps=29.97,
        name="schön",
    )
    return replace(motion, **changes)


def members(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(content, method=zipfile.ZIP_DEFLATED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, member in content.items():
            archive.writestr(name, member)
    return out.getvalue()


def saved(arrays, **changes):
    """Write the file with plain NumPy, with some arrays changed; None leaves one out."""
    out = io.BytesIO()
    stored = {name: array for name, array in {**arrays, **changes}.items() if array is not None}
    np.savez(out, **stored)
    return out.getvalue()


@pytest.fixture
def arrays():
    with np.load(io.BytesIO(write_npz(make_motion())), allow_pickle=False) as archive:
        return dict(archive)


def assert_same(raw, motion):
    assert raw.names == motion.skeleton.names
    assert np.array_equal(raw.parents, motion.skeleton.parents)
    assert np.array_equal(raw.offsets, motion.skeleton.offsets)
    assert np.array_equal(raw.root_positions, motion.root_positions)
    assert np.array_equal(raw.rotations, motion.rotations)
    assert raw.fps == motion.fps
    assert raw.name == motion.name
    assert (raw.unit, raw.up) == (1.0, "y")


def test_a_round_trip_keeps_every_bit():
    motion = make_motion()
    raw = read_npz(write_npz(motion), "a/clip.npz")
    assert_same(raw, motion)
    assert raw.bone_offsets is None
    assert (raw.source.path, raw.source.format) == ("a/clip.npz", "npz")
    assert raw.evidence == []


def test_moving_bones_and_the_source_are_stored():
    source = Source(
        path="/home/somebody/clip.bvh",
        format="bvh",
        unit=0.01,
        up="z",
        frame_time_text=".0333",
        file_names=("Hips", "Leg", "Leg", "End Site"),
        channels=(("Xposition", "Zrotation"), ("Yrotation",), (), ()),
    )
    bones = np.random.default_rng(1).normal(size=(7, 4, 3))
    motion = make_motion(bone_offsets=bones, source=source)
    data = write_npz(motion)
    raw = read_npz(data, "clip.npz")
    assert_same(raw, motion)
    assert np.array_equal(raw.bone_offsets, bones)
    assert raw.source.frame_time_text == ".0333"
    assert raw.source.channels == source.channels
    assert raw.source.file_names == source.file_names
    assert raw.evidence == ["made from a .bvh file with a unit of 0.01 m"]
    assert b"somebody" not in b"".join(members(data).values())


def test_annotations_are_left_to_the_sidecar():
    contacts = Contacts((ContactPoint("left_heel", 1, np.zeros(3)),), np.ones((7, 1), dtype=bool))
    plain = make_motion()
    annotated = replace(plain, contacts=contacts, labels=Labels((Label("walk", 0, 5),)))
    assert write_npz(annotated) == write_npz(plain)


def test_the_same_motion_gives_the_same_bytes():
    assert write_npz(make_motion()) == write_npz(make_motion())
    with zipfile.ZipFile(io.BytesIO(write_npz(make_motion()))) as archive:
        for info in archive.infolist():
            assert info.date_time == (1980, 1, 1, 0, 0, 0)
            assert info.create_system == 3
            assert info.compress_type == zipfile.ZIP_DEFLATED


def test_numpy_reads_what_the_documentation_lists():
    source = Source(format="bvh", frame_time_text="1", file_names=("a", "b", "c", "d"), channels=((), (), (), ()))
    motion = make_motion(bone_offsets=np.zeros((7, 4, 3)), source=source)
    with np.load(io.BytesIO(write_npz(motion)), allow_pickle=False) as archive:
        assert set(archive.files) == set(TABLE) - {"array"}
        assert str(archive["format"]) == "marey.motion"
        assert int(archive["version"]) == 1
        assert archive["names"].tolist() == list(motion.skeleton.names)
        assert np.array_equal(archive["rotations"], motion.rotations)
        assert archive["rotations"].dtype == np.dtype("<f8")


def test_other_widths_orders_and_byte_orders_are_read(arrays):
    motion = make_motion()
    changed = saved(
        arrays,
        rotations=np.asfortranarray(arrays["rotations"].astype(">f8")),
        parents=arrays["parents"].astype(np.int8),
        names=arrays["names"].astype(">U9"),
        fps=np.array(30),
        something_else=np.arange(3),
    )
    raw = read_npz(changed, "clip.npz")
    assert np.array_equal(raw.rotations, motion.rotations)
    assert raw.names == motion.skeleton.names
    assert raw.fps == 30.0
    single = read_npz(saved(arrays, rotations=arrays["rotations"].astype(np.float32)), "clip.npz")
    assert np.allclose(single.rotations, motion.rotations, atol=1e-6)
    rounded = read_npz(saved(arrays, rotations=arrays["rotations"].round(4)), "clip.npz")
    assert np.allclose(np.linalg.norm(rounded.rotations, axis=-1), 1.0, atol=1e-12)
    unnamed = read_npz(saved(arrays, name=np.array("")), "folder/clip.npz")
    assert unnamed.name == "clip"


def test_a_long_still_motion_can_be_read_again(monkeypatch):
    monkeypatch.setattr(npz.limits, "EXPANSION_FLOOR", 4096)
    still = make_motion(
        n_frames=5000,
        root_positions=np.zeros((5000, 3)),
        rotations=np.tile([1.0, 0.0, 0.0, 0.0], (5000, 4, 1)),
    )
    data = write_npz(still)
    assert_same(read_npz(data, "still.npz"), still)
    with pytest.raises(LimitExceeded, match="5000 frames of 4 joints would take 1 MB"):
        read_npz(zipped(members(data)), "still.npz")


def test_names_that_could_not_be_restored_are_refused():
    for name in ("x" * 5000, "x\0"):
        skeleton = Skeleton((name,), np.array([-1]), np.zeros((1, 3)))
        motion = Motion(skeleton, np.zeros((1, 3)), np.array([[[1.0, 0, 0, 0]]]), 30.0)
        with pytest.raises(
            InvalidValue,
            match="joint names must have at most 4096 characters and must not end in a zero byte to be stored in",
        ):
            write_npz(motion)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": None}, "not a motion written by marey, but an NPZ file of another program, with the arrays"),
        ({"version": None}, "but a file without the array 'version'"),
        ({"version": np.array("1")}, "array 'version' must be a single value of the right type; the file is damaged"),
        ({"rotations": None}, "array 'rotations' is missing; this is not a complete file of a motion"),
        ({"names": None}, "array 'names' is missing; this is not a complete file of a motion"),
        ({"rotations": np.zeros((7, 4, 3))}, "array 'rotations' must have shape (7, 4, 4), not (7, 4, 3)"),
        ({"rotations": np.zeros((7, 4))}, "rotations must have shape (F, J, 4), not (7, 4)"),
        ({"rotations": np.zeros((0, 4, 4))}, "rotations must have shape (F, J, 4), not (0, 4, 4)"),
        ({"rotations": np.zeros((7, 4, 4))}, "array 'rotations' must hold unit quaternions"),
        ({"rotations": np.full((7, 4, 4), np.nan)}, "array 'rotations' must hold finite numbers only"),
        ({"rotations": np.zeros((7, 4, 4), dtype=complex)}, "array 'rotations' has type '<c16', expected numbers"),
        ({"root_positions": np.zeros((6, 3))}, "array 'root_positions' must have shape (7, 3), not (6, 3)"),
        ({"offsets": np.zeros((4, 3), dtype="U1")}, "array 'offsets' must hold numbers, not <U1"),
        ({"offsets": np.zeros((4, 3), dtype=bool)}, "array 'offsets' must hold numbers, not bool"),
        ({"parents": np.zeros(4)}, "array 'parents' must hold integers, not float64"),
        ({"parents": np.array([-1, 2, 1, 0])}, "parents must come before children"),
        ({"names": np.array(["a", "b", "b", "c"])}, "joint names must differ, but 'b' occurs twice"),
        ({"names": np.array([1, 2, 3, 4])}, "array 'names' must hold text, not int64"),
        ({"names": np.array(["a", 2, "b", "c"], dtype=object)}, "array 'names' holds Python objects"),
        ({"fps": np.array(0.0)}, "fps must be positive, not 0; save the file again with a valid frame rate"),
        ({"fps": np.array(np.inf)}, "array 'fps' must hold finite numbers only"),
        ({"bone_offsets": np.zeros((7, 4, 4))}, "array 'bone_offsets' must have shape (7, 4, 3), not (7, 4, 4)"),
        ({"channels": np.array(["Wrotation", "", "", ""])}, "array 'channels' has an unknown channel 'Wrotation'"),
        ({"name": np.array(["a", "b"])}, "array 'name' must have shape (), not (2,)"),
    ],
)
def test_arrays_that_do_not_fit(arrays, changes, message):
    with pytest.raises(ParseError) as error:
        read_npz(saved(arrays, **changes), "clip.npz")
    assert message in str(error.value)
    assert str(error.value).startswith("clip.npz: ")


def test_foreign_formats_and_newer_versions_are_refused_by_name(arrays):
    with pytest.raises(
        UnknownVersion, match="the file has format version 2, but this version of marey reads 1; update marey"
    ):
        read_npz(saved(arrays, version=np.array(2)), "clip.npz")
    with pytest.raises(
        UnknownVersion, match=r"expected a motion \(marey\.motion\), got a motion graph \(marey\.graph\)"
    ):
        read_npz(saved(arrays, format=np.array("marey.graph")), "clip.npz")


def test_archives_that_are_broken():
    data = write_npz(make_motion())
    for broken in (b"", b"PK", b"not a zip" * 40, data[:100], data[: len(data) // 2], data[:-10]):
        with pytest.raises(ParseError, match="not a readable NPZ file"):
            read_npz(broken, "clip.npz")
    content = members(data)
    rotations = content["rotations.npy"]
    for change, message in (
        (rotations[:-8], "array 'rotations' has 888 bytes, but its header requires 896"),
        (rotations + b"\0", "has 897 bytes, but its header requires 896"),
        (b"\x93NUMPX" + rotations[6:], "array 'rotations' is not in the NumPy format"),
        (rotations.replace(b"(7, 4, 4)", b"(7, -4,4)"), "has a damaged header"),
        (rotations.replace(b"'<f8'", b"'<f7'"), "array 'rotations' has the unknown type '<f7'"),
        (rotations[:20], "array 'rotations' has a damaged header"),
    ):
        with pytest.raises(ParseError) as error:
            read_npz(zipped({**content, "rotations.npy": change}), "clip.npz")
        assert message in str(error.value)
    name = content["name.npy"]
    for codes in (0x110000, 0xD800):
        wrong = name[:-4] + struct.pack("<I", codes)
        with pytest.raises(ParseError, match="array 'name' holds invalid characters"):
            read_npz(zipped({**content, "name.npy": wrong}), "clip.npz")
    with pytest.raises(
        ParseError, match="is compressed with a method that NPZ files do not use; expected stored or deflated"
    ):
        read_npz(zipped(content, zipfile.ZIP_LZMA), "clip.npz")


def test_a_changed_byte_is_noticed():
    data = bytearray(zipped(members(write_npz(make_motion())), zipfile.ZIP_STORED))
    at = bytes(data).index(b"'shape': (7, 4, 4)") + 200
    data[at] ^= 1
    with pytest.raises(ParseError, match="bad crc-32"):
        read_npz(bytes(data), "clip.npz")


def test_sizes_are_checked_before_anything_is_unpacked(arrays):
    huge = np.lib.format.header_data_from_array_1_0(np.zeros((1, 4, 4)))
    huge["shape"] = (19_000_000, 15_000, 4)
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, huge)
    content = members(saved(arrays))
    bomb = zipped({**content, "rotations.npy": head.getvalue() + bytes(1000)})
    with pytest.raises(
        ParseError, match="bomb.npz: array 'rotations' has 1000 bytes, but its header requires 9120000000000"
    ):
        read_npz(bomb, "bomb.npz")
    # The same with a directory that agrees with the header: refused because of its size, before memory runs out.
    text = np.lib.format.header_data_from_array_1_0(np.zeros(4, dtype="<U9999999"))
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, text)
    packed = zipped({**content, "names.npy": head.getvalue() + bytes(4 * 4 * 9_999_999)})
    assert len(packed) < 2**20
    with pytest.raises(
        LimitExceeded, match="its arrays would take 153 MB, too much for a file of 0.15 MB; it may be damaged"
    ):
        read_npz(packed, "bomb.npz")


def mutated(data, rng):
    """Bytes flipped in the archive, or in a member that is then packed again with the right checksum."""
    kind = rng.randrange(4)
    if kind == 0:
        return data[: rng.randrange(len(data))]
    if kind == 1:
        out = bytearray(data)
        for _ in range(rng.choice([1, 3, 10])):
            out[rng.randrange(len(out))] = rng.randrange(256)
        return bytes(out)
    content = members(data)
    name, other = rng.choice(list(content)), rng.choice(list(content))
    member = bytearray(content[name])
    for _ in range(rng.choice([1, 3])):
        member[rng.randrange(min(len(member), 140) if kind == 2 else len(member))] = rng.choice([0, 48, 57, 255])
    content[name] = content[other] if rng.random() < 0.2 else bytes(member)
    return zipped(content, rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]))


def test_fuzzed_files_give_motions_or_typed_errors():
    data = write_npz(make_motion(bone_offsets=np.zeros((7, 4, 3)), source=Source(format="bvh")))
    outcomes = set()
    for seed in range(300):
        try:
            raw = read_npz(mutated(data, random.Random(seed)), "f.npz")
            outcomes.add(bool(np.isfinite(raw.rotations).all() and len(raw.names) == raw.rotations.shape[1]))
        except MareyError:
            outcomes.add("refused")
    assert outcomes == {True, "refused"}


def test_files_of_other_programs_are_named(tmp_path) -> None:
    np.savez(tmp_path / "a.npz", a=np.zeros(3), b=np.zeros(3))
    with pytest.raises(ParseError, match="an NPZ file of another program, with the arrays 'a', 'b'"):
        load_motion(tmp_path / "a.npz")
