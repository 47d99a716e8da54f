"""Wrong GLB files: each is refused with its own message."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from marey.errors import InvalidValue, LimitExceeded, MareyError, ParseError
from marey.io.glb_read import clip_names, read_glb
from marey.io.glb_write import write_glb
from tests.io.glb_motions import make_motion
from tests.io.make_glb import (
    TIMES,
    TURNS,
    Glb,
    arm,
    armature,
    as_motion,
    container,
    good,
)

# Bad input.


def put(*keys: Any) -> Callable[[dict[str, Any]], None]:
    """Change the document: assign to the last of `keys`, below the others."""

    def change(document: dict[str, Any]) -> None:
        place: Any = document
        for key in keys[:-2]:
            place = place[key]
        place[keys[-2]] = keys[-1]

    return change


def scale_up(document: dict[str, Any]) -> None:
    for node in document["nodes"]:
        node["scale"] = [1e200] * 3


def sparse(component: int) -> dict[str, Any]:
    return {"count": 1, "indices": {"componentType": component, "bufferView": 1}}


WRONG = [
    (put("nodes", 5), "'nodes' must be an array, not 5"),
    (put("nodes", [1, 2]), r"'nodes\[0\]' must be an object, not 1"),
    (put("nodes", []), "the file has no nodes and therefore no skeleton"),
    (put("nodes", 0, "children", 1), r"'nodes\[0\].children' must be an array, not 1"),
    (put("nodes", 0, "children", [9]), r"'nodes\[0\].children' must be an index below 4, not 9"),
    (put("nodes", 0, "children", [True]), "must be a whole number of at least 0, not True"),
    (put("nodes", 0, "children", [-1]), "must be a whole number of at least 0, not -1"),
    (put("nodes", 0, "children", [10**400]), "must be a whole number of at least 0, not 1000"),
    (put("nodes", 0, "children", [1, 2]), "node 2 is a child of node 0 and of node 1; expected a tree"),
    (put("nodes", 2, "children", [0]), "node 0 is in a cycle or a descendant of one; expected a tree"),
    (put("nodes", 3, "children", [3]), "node 3 is a child of node 1 and of node 3"),
    (put("nodes", 0, "name", 7), r"'nodes\[0\].name' must be a string, not 7"),
    (put("nodes", 0, "translation", [1, 2]), "translation' must be an array of 3 numbers, not an array of 2"),
    (put("nodes", 0, "translation", [1, 2, "x"]), r"'nodes\[0\].translation' must hold numbers only"),
    (put("nodes", 0, "translation", [1, 2, 10**400]), r"'nodes\[0\].translation' must hold finite numbers"),
    (put("nodes", 0, "rotation", [0, 0, 0, 0]), r"'nodes\[0\].rotation' has length 0"),
    (scale_up, "the scales and translations of the nodes multiply to numbers that are not finite"),
    (put("nodes", 0, "matrix", [1e308] * 16), "numbers that are not finite|has no rotation in it"),
    (put("skins", {"joints": [0]}), "'skins' must be an array, not an object"),
    (put("skins", 0, "joints", [0, 99]), r"'skins\[0\].joints' must be an index below 4, not 99"),
    (put("animations", "walk"), "'animations' must be an array, not 'walk'"),
    (put("animations", 0, "name", []), r"'animations\[0\].name' must be a string, not an array of 0"),
    (put("animations", 0, "channels", 3), "'animation.channels' must be an array, not 3"),
    (put("animations", 0, "channels", 0, "target", []), "target' must be an object, not an array of 0"),
    (put("animations", 0, "channels", 0, "target", "node", 4), r"channels\[0\].target.node' must be an index below 4, "
    r"not 4"),
    (put("animations", 0, "channels", 0, "sampler", 2), r"'animation.channels\[0\].sampler' must be an index below 2, "
    r"not 2"),
    (put("animations", 0, "samplers", 0, "input", 4), r"'animation.samplers\[0\].input' must be an index below 4, not "
    r"4"),
    (put("animations", 0, "samplers", 0, "interpolation", "CUBIC"), "interpolation 'CUBIC'; expected LINEAR"),
    (put("animations", 0, "samplers", 0, "interpolation", "CUBICSPLINE"), "for 4 values; expected 12 values"),
    (put("accessors", 1, "count", 3), "4 key times for 3 values; expected 4 values"),
    (put("accessors", 0, "count", 10**9), r"reaches to byte 4000000000 of bufferViews\[0\], which has 16"),
    (put("accessors", 0, "count", 0), r"'accessors\[0\].count' must be at least 1"),
    (put("accessors", 0, "count", None), "count' must be a whole number of at least 0, not nothing"),
    (put("accessors", 0, "byteOffset", 4), "reaches to byte 20 of"),
    (put("accessors", 0, "componentType", 5130), r"'accessors\[0\].componentType' must be one of"),
    (put("accessors", 0, "type", "VEC3"), r"'accessors\[0\].type' must be 'SCALAR' here, not 'VEC3'"),
    (put("accessors", 0, "bufferView", 17), r"'accessors\[0\].bufferView' must be an index below 4, not 17"),
    (put("accessors", 0, "sparse", {"count": 9}), r"'accessors\[0\].sparse.count' must be 1 to 4"),
    (put("accessors", 0, "sparse", sparse(5126)), "sparse.indices.componentType' must be an unsigned"),
    (put("accessors", 0, "sparse", sparse(5123)), r"sparse.indices' must be below 4, the number of values, not \d+"),
    (put("bufferViews", 0, "byteLength", 10**7), r"'bufferViews\[0\]' ends at byte 10000000, but the buffer has"),
    (put("bufferViews", 0, "byteStride", 2), r"bufferViews\[0\] has byteStride 2, less than the 4 bytes"),
    (put("bufferViews", 0, "buffer", 1), r"'bufferViews\[0\].buffer' must be an index below 1, not 1"),
    (put("bufferViews", 0, "extensions", {"EXT_meshopt_compression": {}}), "compressed with EXT_meshopt"),
    (put("buffers", 0, "uri", "walk.bin"), "outside this file's binary chunk, which is not read; pack"),
    (put("buffers", 0, "byteLength", 10**6), r"'buffers\[0\].byteLength' is 1000000, but the BIN chunk has"),
    (put("asset", {}), "expected asset.version '2.0', got nothing"),
    (put("asset", {"version": "1.0"}), "expected asset.version '2.0', got '1.0'"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "message"), WRONG)
def test_a_wrong_document_is_refused(change: Callable[[dict[str, Any]], None], message: str) -> None:
    glb = good()
    change(glb.document)
    with pytest.raises(ParseError, match=message) as caught:
        read_glb(glb.pack(), "bad.glb")
    assert str(caught.value).startswith("bad.glb: ")
    assert "\n" not in str(caught.value)


def test_wrong_keys_are_refused() -> None:
    for values, message in (
        ([[0, 0, 0, np.nan]] * 4, "holds .*nan.* at element 0; expected finite numbers"),
        ([[0, 0, np.inf, 1]] * 4, "holds .*inf.* at element 0"),
        ([[0, 0, 0, 0]] * 4, "the animated rotation of 'b' has length 0"),
    ):
        glb = Glb(arm(), [0, 1, 2])
        glb.key(1, "rotation", TIMES, values)
        with pytest.raises(ParseError, match=message):
            read_glb(glb.pack(), "bad.glb")
    glb = Glb(arm(), [0, 1, 2])
    glb.key(1, "rotation", TIMES[::-1], TURNS)
    with pytest.raises(
        ParseError, match="the key times of the rotation of 'b' must increase, but some go back in time"
    ):
        read_glb(glb.pack(), "bad.glb")
    signalling = np.full(16, 0x7FA00000, "<u4").tobytes()  # a NaN that signals when it is converted
    glb = Glb(arm(), [0, 1, 2])
    glb.key(1, "rotation", TIMES, glb.accessor(TURNS, bufferView=glb.view(signalling)))
    with pytest.raises(ParseError, match="expected finite numbers"):
        read_glb(glb.pack(), "bad.glb")
    glb = Glb(arm(), [0, 1, 2])
    shared = glb.accessor(np.zeros((4, 3)))
    glb.key(1, "rotation", TIMES, shared)
    with pytest.raises(ParseError, match="type' must be 'VEC4' here, not 'VEC3'"):
        read_glb(glb.pack(), "bad.glb")


FILES = [
    (b"", "not a GLB file: expected it to start with 'glTF', got ''"),
    (b"HIERARCHY", "not a GLB file: expected it to start with 'glTF', got 'HIER'"),
    (b'\xef\xbb\xbf {"asset": {}}', "this is glTF as JSON text, and only binary .glb is read; convert it"),
    (b"glTF\2\0\0", "the file ends within the header: expected 12 bytes, got 7"),
    (container({}, version=1), "expected glTF version 2, got version 1; export the file again as glTF 2.0"),
    (container({}, length=2**32 - 1), "its header announces 4294967295 bytes, but it has 24"),
    (struct.pack("<4sII", b"glTF", 2, 12), "expected a JSON chunk right after the header, got none"),
    (struct.pack("<4sII", b"glTF", 2, 16) + b"abcd", "chunk 0 is cut short within its header at byte 12"),
    (struct.pack("<4sIII4s", b"glTF", 2, 20, 99, b"JSON"), "chunk 0 is cut short: expected 99 bytes, got 0"),
    (struct.pack("<4sIII4s", b"glTF", 2, 20, 0, b"BIN\0"), "expected a JSON chunk right after the header"),
    (container("{"), "the JSON chunk cannot be parsed"),
    (container("[]"), "the JSON chunk must hold an object"),
    (container('{"a": NaN}'), "NaN is not a JSON number"),
    (container("[" * 100_000), "the JSON chunk is nested too deeply|cannot be parsed"),
    (struct.pack("<4sIII4s", b"glTF", 2, 24, 4, b"JSON") + b"\xff\xfe\0\0", "JSON chunk cannot be parsed"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "message"), FILES)
def test_a_wrong_container_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        read_glb(data, "bad.glb")
    with pytest.raises(ParseError, match=message):
        clip_names(data, "bad.glb")


def test_claims_beyond_the_limits_are_refused() -> None:
    glb = good()
    del glb.document["accessors"][1]["bufferView"]
    glb.document["accessors"][1]["count"] = 10**9
    with pytest.raises(LimitExceeded, match=r"the data up to 'accessors\[1\]' would take"):
        read_glb(glb.pack(), "big.glb")
    glb = Glb(arm(), [0, 1, 2])
    glb.key(1, "rotation", [0, 1e9], TURNS[:2])
    with pytest.raises(LimitExceeded, match="the motion has"):
        read_glb(glb.pack(), "big.glb")
    glb = Glb(arm(), [0, 1, 2])
    glb.key(1, "rotation", [0, 1e5], TURNS[:2])
    with pytest.raises(LimitExceeded, match="would take"):
        read_glb(glb.pack(), "big.glb")
    chain = [{"children": [i + 1]} for i in range(25_000)] + [{}]
    with pytest.raises(LimitExceeded, match="more than 20000 joints"):
        read_glb(Glb(chain, list(range(len(chain)))).pack(), "big.glb")
    with pytest.raises(LimitExceeded, match="big.glb: joints are nested more than 10000 levels deep"):
        read_glb(Glb(chain, [24_990, 24_999]).pack(), "big.glb")


@pytest.mark.parametrize("fps", [0.0, -1.0, float("nan"), float("inf")])
def test_a_wrong_rate_is_refused(fps: float) -> None:
    with pytest.raises(InvalidValue, match="fps must"):
        read_glb(good().pack(), "x.glb", fps=fps)


def test_broken_files_give_typed_errors_only() -> None:
    rng = np.random.default_rng(0)
    sources = [
        good().pack(),
        armature().pack(),
        write_glb([make_motion(n_frames=3, slide=True)], body=False),
    ]
    refused = 0
    for round_ in range(450):
        data = bytearray(sources[round_ % 3])
        if round_ % 4 == 0:
            del data[int(rng.integers(12, len(data))) :]
            struct.pack_into("<I", data, 8, len(data))
        for at in rng.integers(0, len(data), 1 + round_ % 5):
            data[at] = rng.integers(256)
        try:
            raw = read_glb(bytes(data), "fuzz.glb")
        except MareyError:
            refused += 1
        else:
            as_motion(raw)  # whatever is read is a valid motion
    assert 200 < refused < 450
