"""Motions on a character of the user's: everything else in its GLB or VRM file stays as it is."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import marey
from marey.cli.main import cli
from marey.core import Label, Labels, Motion
from marey.errors import InvalidValue, ParseError, UnknownFormat
from marey.maths import quat
from marey.samples import body_skeleton, straight_walk
from tests.io.make_glb import Glb, container, take_apart
from tests.io.test_glb_validator import validate

SCALE = 0.01
BONES = {
    "hips": "hips", "spine": "spine", "chest": "chest", "neck": "neck", "head": "head",
    **{
        f"{side}{bone}": f"{side}_{role}"
        for side in ("left", "right")
        for bone, role in (
            ("UpperArm", "upper_arm"), ("LowerArm", "forearm"), ("Hand", "hand"), ("UpperLeg", "upper_leg"),
            ("LowerLeg", "lower_leg"), ("Foot", "foot"), ("Toes", "ball"),
        )
    },
}  # fmt: skip


def make_character(version: int | None = None, *, matrix: bool = False, names: bool = False) -> bytes:
    """A body whose bones have rest rotations, below a scaled node, with a mesh and a lamp. version : of VRM; None for a
    plain GLB file.
    """
    rng = np.random.default_rng(7)
    body = body_skeleton()
    turns = quat.exp(rng.normal(0.0, 0.8, (len(body), 3)))
    nodes: list[dict[str, Any]] = [{"name": "Armature", "scale": [SCALE] * 3, "children": [1]}]
    for j, parent in enumerate(body.parents.tolist()):
        before = quat.identity() if parent < 0 else turns[parent]
        place = quat.inv_rotate(before, body.offsets[j]) / SCALE
        turn = quat.inv_mul(before, turns[j])
        node: dict[str, Any] = {"name": body.names[j] if names else f"bone.{j}"}
        if matrix and j == 3:
            affine = np.eye(4)
            affine[:3, :3], affine[:3, 3] = quat.to_matrix(turn), place
            node["matrix"] = affine.T.ravel().tolist()
        else:
            node |= {"translation": place.tolist(), "rotation": turn[[1, 2, 3, 0]].tolist()}
        if body.children[j]:
            node["children"] = [child + 1 for child in body.children[j]]
        nodes.append(node)
    nodes += [{"name": "Body", "mesh": 0, "skin": 0}, {"name": "Lamp", "translation": [1.0, 2.0, 3.0]}]
    glb = Glb(nodes, list(range(1, len(body) + 1)))
    corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    weights = np.tile([1.0, 0.0, 0.0, 0.0], (3, 1))
    attributes = {
        "POSITION": glb.accessor(corners, min=[0.0] * 3, max=[1.0, 1.0, 0.0]),
        "JOINTS_0": glb.accessor(np.zeros((3, 4)), "u1"),
        "WEIGHTS_0": glb.accessor(weights),
    }
    document = glb.document
    for view in document["bufferViews"]:
        view["target"] = 34962
    document["meshes"] = [{"primitives": [{"attributes": attributes, "material": 0}]}]
    document["materials"] = [{"name": "skin", "pbrMetallicRoughness": {"baseColorFactor": [0.9, 0.7, 0.6, 1.0]}}]
    document["scenes"] = [{"nodes": [0, len(nodes) - 2, len(nodes) - 1]}]
    document["scene"] = 0
    document["extras"] = {"artist": "somebody"}
    if version is not None:
        where = {bone: {"node": body.roles[role] + 1} for bone, role in BONES.items()}
        bones: Any = where if version == 1 else [{"bone": bone, **entry} for bone, entry in where.items()]
        key = "VRMC_vrm" if version == 1 else "VRM"
        document["extensions"] = {key: {"humanoid": {"humanBones": bones}}}
        document["extensionsUsed"] = [key]
    return container(document, glb.binary)


def save_character(folder: Path, name: str = "hero.glb", **options: Any) -> Path:
    (folder / name).write_bytes(make_character(**options))
    return folder / name


def make_walk() -> Motion:
    return straight_walk(seconds=0.4)


def check_unchanged(before: bytes, after: bytes) -> None:
    """Check that only new animations, their data and the name of the program that wrote them have changed."""
    (old, bits), (new, more) = take_apart(before), take_apart(after)
    assert new["asset"]["generator"] == f"marey, {old['asset'].get('generator', 'unknown')}"
    new["asset"] = {**new["asset"], "generator": old["asset"].get("generator")}
    old["asset"].setdefault("generator", None)
    for key in old:
        if key in ("accessors", "bufferViews"):
            assert new[key][: len(old[key])] == old[key]
        elif key == "animations":
            assert new[key][-len(old[key]) :] == old[key]
        elif key != "buffers":
            assert new[key] == old[key], key
    size = old["buffers"][0]["byteLength"]
    assert more[:size] == bits[:size]
    assert set(new) - set(old) <= {"animations"}


@pytest.mark.parametrize("version", [None, 0, 1])
def test_a_motion_on_a_character(tmp_path: Path, version: int | None) -> None:
    name = "hero.glb" if version is None else "hero.vrm"
    path = save_character(tmp_path, name, version=version, names=version is None)
    hero = marey.load(path)
    np.testing.assert_allclose(hero.skeleton.offsets[1:], body_skeleton().offsets[1:], atol=1e-6)
    moved = marey.edit.retarget(make_walk(), hero)
    marey.save(moved, tmp_path / "out.glb", character=path)
    check_unchanged(path.read_bytes(), (tmp_path / "out.glb").read_bytes())
    again = marey.load(tmp_path / "out.glb")
    assert (again.fps, len(again), again.name) == (moved.fps, len(moved), moved.name)
    np.testing.assert_allclose(again.world().positions, moved.world().positions, atol=2e-6)
    report = validate((tmp_path / "out.glb").read_bytes())
    assert report["issues"]["numErrors"] == 0, report["issues"]["messages"]


def test_annotations_belong_to_the_added_motion_only(tmp_path: Path) -> None:
    """A character with its own animation: contacts and labels are those of the motion that was added."""
    hero = marey.load(save_character(tmp_path, "plain.glb", names=True))
    own = replace(marey.edit.retarget(make_walk(), hero), name="own", contacts=None, labels=Labels())
    marey.save(own, tmp_path / "hero.glb", character=tmp_path / "plain.glb")
    added = replace(marey.detect_contacts(own), name="added", labels=Labels((Label("walk", 1, 5),)))
    marey.save(added, tmp_path / "out.glb", character=tmp_path / "hero.glb")
    again, other = (marey.load(tmp_path / "out.glb", clip=name) for name in ("added", "own"))
    np.testing.assert_array_equal(again.contacts.mask, added.contacts.mask)
    assert again.labels.items == added.labels.items
    assert other.contacts is None
    assert not other.labels


@pytest.mark.parametrize("version", [0, 1])
def test_vrm_bones_give_the_roles(tmp_path: Path, version: int) -> None:
    hero = marey.load(save_character(tmp_path, "hero.vrm", version=version))
    body = body_skeleton()
    for role in BONES.values():
        assert hero.skeleton.roles[role] == body.roles[role], role
    assert "roles from the file's VRM bones" in hero.source.evidence
    changed = marey.load(tmp_path / "hero.vrm", roles={"left_hand": "bone.3"})
    assert changed.skeleton.names[changed.skeleton.roles["left_hand"]] == "bone.3"


def test_moving_bones_and_a_matrix(tmp_path: Path) -> None:
    path = save_character(tmp_path, matrix=True, names=True)
    moved = marey.edit.retarget(make_walk(), marey.load(path), feet=None)
    bones = np.repeat(moved.skeleton.offsets[None], len(moved), axis=0)
    bones[:, 5] *= np.linspace(1.0, 1.3, len(moved))[:, None]
    moved = replace(moved, bone_offsets=bones)
    marey.save([moved, moved], tmp_path / "out.glb", character=path)
    with pytest.warns(marey.errors.MareyWarning, match="has 2 animations"):
        again = marey.load(tmp_path / "out.glb")
    np.testing.assert_allclose(again.world().positions, moved.world().positions, atol=2e-6)
    document, _ = take_apart((tmp_path / "out.glb").read_bytes())
    assert "matrix" not in document["nodes"][4]
    assert validate((tmp_path / "out.glb").read_bytes())["issues"]["numErrors"] == 0


def test_the_command_keeps_the_mesh(tmp_path: Path) -> None:
    path = save_character(tmp_path, "hero.vrm", version=1)
    marey.save(make_walk(), tmp_path / "walk.bvh")
    runner, walk, out = CliRunner(), str(tmp_path / "walk.bvh"), tmp_path / "out.glb"
    table = str(tmp_path / "map.json")
    done = runner.invoke(cli, ["edit", "retarget", walk, str(out), "--onto", str(path), "--save-map", table])
    assert done.exit_code == 0, done.output
    check_unchanged(path.read_bytes(), out.read_bytes())
    again = tmp_path / "again.vrm"
    done = runner.invoke(cli, ["edit", "retarget", walk, str(again), "--map", table, "--character", str(path)])
    assert done.exit_code == 0, done.output
    assert again.read_bytes() == out.read_bytes()
    # From a file of the same skeleton, without retargeting.
    marey.save(marey.load(out), tmp_path / "motion.npz")
    third = tmp_path / "third.glb"
    done = runner.invoke(cli, ["convert", str(tmp_path / "motion.npz"), str(third), "--character", str(path)])
    assert done.exit_code == 0, done.output
    check_unchanged(path.read_bytes(), third.read_bytes())


def test_the_sample_figure_of_khronos(tmp_path: Path, data_folder: Path) -> None:
    path = data_folder / "gltf" / "RiggedFigure.glb"
    moved = marey.edit.retarget(make_walk(), marey.load(path))
    marey.save(moved, tmp_path / "out.glb", character=path)
    check_unchanged(path.read_bytes(), (tmp_path / "out.glb").read_bytes())
    with pytest.warns(marey.errors.MareyWarning, match="has 2 animations"):
        again = marey.load(tmp_path / "out.glb")
    np.testing.assert_allclose(again.world().positions, moved.world().positions, atol=2e-6)
    own, other = (validate(file.read_bytes())["issues"] for file in (path, tmp_path / "out.glb"))
    assert (own["numErrors"], own["numWarnings"]) == (other["numErrors"], other["numWarnings"])


def test_bad_characters(tmp_path: Path) -> None:
    path, walk = save_character(tmp_path), make_walk()
    with pytest.raises(
        InvalidValue, match=r"skeleton of '.*' differs from that in .*hero.glb: only the motion has 'Hips'"
    ):
        marey.save(walk, tmp_path / "out.glb", character=path)
    with pytest.raises(InvalidValue, match=r"saved as .glb or .vrm, not '.bvh'"):
        marey.save(walk, tmp_path / "out.bvh", character=path)
    with pytest.raises(UnknownFormat, match=r"a character must be a .glb or .vrm file"):
        marey.save(walk, tmp_path / "out.glb", character=tmp_path / "hero.bvh")
    document, _ = take_apart(path.read_bytes())
    document["buffers"][0]["uri"] = "hero.bin"
    path.write_bytes(container(document))
    with pytest.raises(ParseError, match="the first buffer is in another file"):
        marey.save(walk, tmp_path / "out.glb", character=path)
    flat = json.loads(json.dumps(document))
    del flat["buffers"][0]["uri"]
    flat["nodes"][0]["scale"] = [0.0, 0.0, 0.0]
    path.write_bytes(container(flat))
    with pytest.raises((ParseError, InvalidValue)):
        marey.save(walk, tmp_path / "out.glb", character=path)
    with pytest.raises(UnknownFormat, match=r"cannot save as '.vrm'"):
        marey.save(walk, tmp_path / "out.vrm")


def save_dancer(folder: Path, version: int | None = None, frames: int = 40) -> Path:
    """Return a character with two animations of its own; the first walks."""
    path = save_character(folder, "hero.glb" if version is None else "hero.vrm", version=version, names=True)
    walk = replace(marey.edit.retarget(straight_walk(seconds=2.0), marey.load(path)), labels=Labels(), contacts=None)
    output = folder / f"dancer{path.suffix}"
    marey.save([replace(walk, name="walk"), replace(walk[:frames], name="stop")], output, character=path)
    return output


EDITS = (
    ["edit", "crop", "--from", "10f", "--to", "60f"], ["edit", "mirror"], ["clean"], ["edit", "smooth"],
    ["edit", "resample", "--fps", "30"], ["convert"], ["edit", "cycle"],
)  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*has 2 animations")
@pytest.mark.parametrize("words", EDITS, ids=lambda words: words[-1] if len(words) < 3 else words[1])
def test_edits_keep_the_mesh(tmp_path: Path, words: list[str]) -> None:
    path, out = save_dancer(tmp_path), tmp_path / "out.glb"
    n_words = 2 if words[0] == "edit" else 1
    options = ["--clip", "walk"] if words[0] == "convert" else []
    arguments = [*words[:n_words], str(path), str(out), *words[n_words:], *options]
    done = CliRunner().invoke(cli, arguments)
    assert done.exit_code == 0, done.output
    assert "mesh is replaced" not in done.output
    (old, bits), (new, more) = take_apart(path.read_bytes()), take_apart(out.read_bytes())
    for key in old:
        if key not in ("accessors", "animations", "bufferViews", "buffers"):
            assert new[key] == old[key], key
    assert len(new["animations"]) == 1
    attributes = old["meshes"][0]["primitives"][0]["attributes"]
    for accessor in attributes.values():
        assert new["accessors"][accessor] == old["accessors"][accessor]
        view = old["bufferViews"][old["accessors"][accessor]["bufferView"]]
        assert new["bufferViews"][old["accessors"][accessor]["bufferView"]] == view
        start = view.get("byteOffset", 0)
        assert more[start : start + view["byteLength"]] == bits[start : start + view["byteLength"]]
    assert validate(out.read_bytes())["issues"]["numErrors"] == 0
    assert len(out.read_bytes()) < len(path.read_bytes())  # without the animations that the file had


def test_the_library_keeps_the_mesh(tmp_path: Path) -> None:
    path = save_dancer(tmp_path, version=1)
    walk = marey.load(path, clip="walk")
    marey.save(walk, tmp_path / "same.vrm")
    marey.save([walk, marey.edit.mirror(walk)], tmp_path / "both.glb")
    again = marey.load(tmp_path / "same.vrm")
    np.testing.assert_allclose(again.world().positions, walk.world().positions, atol=2e-6)
    assert len(take_apart((tmp_path / "both.glb").read_bytes())[0]["animations"]) == 2
    # Saved over itself repeatedly, the file does not grow.
    marey.save(again, tmp_path / "same.vrm")
    size = (tmp_path / "same.vrm").stat().st_size
    marey.save(marey.load(tmp_path / "same.vrm"), tmp_path / "same.vrm")
    assert (tmp_path / "same.vrm").stat().st_size == size
    # A motion that is retargeted to the character gets its mesh.
    moved = marey.edit.retarget(straight_walk(seconds=0.4), walk)
    marey.save(moved, tmp_path / "moved.glb")
    assert "materials" in take_apart((tmp_path / "moved.glb").read_bytes())[0]
    marey.save(moved, tmp_path / "bare.glb", body=False)
    assert "meshes" not in take_apart((tmp_path / "bare.glb").read_bytes())[0]


def test_a_mesh_that_does_not_fit_is_replaced_with_a_warning(tmp_path: Path) -> None:
    path = save_dancer(tmp_path)
    walk = marey.load(path, clip="walk")
    taller = replace(walk, skeleton=replace(walk.skeleton, offsets=1.1 * walk.skeleton.offsets))
    with pytest.warns(
        marey.errors.MareyWarning, match=r"replaced by a simple body \(the bone offset of '.*' differs from"
    ):
        marey.save(taller, tmp_path / "taller.glb")
    other = marey.load(save_character(tmp_path, "other.glb", names=True))
    with pytest.warns(marey.errors.MareyWarning, match="the motions have meshes from different files"):
        marey.save([walk, other], tmp_path / "two.glb")
    path.unlink()
    with pytest.warns(marey.errors.MareyWarning, match=r"replaced by a simple body \(.*dancer.glb"):
        marey.save(walk, tmp_path / "lost.glb")
    assert take_apart((tmp_path / "lost.glb").read_bytes())[0]["asset"]["generator"] == "marey"
