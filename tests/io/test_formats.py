"""The list of formats, the table in the documentation generated from it, and the conversion of folders. ``python -m
tests.io.test_formats`` writes the table.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import marey
from marey.cli.main import main
from marey.errors import InvalidValue, UnreadableFile, UnwritableFile
from marey.io import FORMATS, LoadSettings, SaveSettings, convert_folder
from marey.io.files import MARKER_SUFFIXES, MOTION_SUFFIXES, SAVE_SUFFIXES
from marey.samples import sample, straight_walk
from tests.io.test_asf_amc import AMC, ASF

PAGE = Path(__file__).parents[2] / "docs" / "files.md"
START, STOP = "<!-- formats: `marey convert --list` -->\n", "<!-- end of formats -->\n"


def make_table() -> str:
    rows = ["| format | suffix | read | write | notes |", "|---|---|---|---|---|"]
    for each in FORMATS:
        suffixes = " ".join(f"`{suffix}`" for suffix in each.suffixes)
        rows.append(f"| {each.name} | {suffixes} | {each.reads} | {'yes' if each.writes else ''} | {each.note} |")
    return "\n".join(rows) + "\n"


def test_the_list_names_every_suffix() -> None:
    read = {suffix for each in FORMATS if each.reads == "motion" for suffix in each.suffixes}
    assert read == {*MOTION_SUFFIXES, ".amass.npz"}
    assert {suffix for each in FORMATS if each.reads == "markers" for suffix in each.suffixes} == set(MARKER_SUFFIXES)
    written = {suffix for each in FORMATS if each.writes for suffix in each.suffixes}
    assert written == {*SAVE_SUFFIXES, ".amass.npz", ".vrm"}


def test_the_table_of_the_page_is_the_list() -> None:
    text = PAGE.read_text(encoding="utf-8")
    table = text.partition(START)[2].partition(STOP)[0]
    assert table == make_table(), "run python -m tests.io.test_formats"


def test_the_command_lists_formats(capsys) -> None:
    assert main(["convert", "--list"]) == 0
    shown = capsys.readouterr().out
    assert all(each.name in shown and each.suffixes[0] in shown for each in FORMATS)
    assert main(["convert", "--list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert listed[0] == {
        "name": "BVH",
        "suffixes": [".bvh"],
        "reads": "motion",
        "writes": True,
        "note": FORMATS[0].note,
    }


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """Make a folder with motions in many formats, two of one name, markers, a built result, and other files."""
    folder = tmp_path / "mixed"
    (folder / "more").mkdir(parents=True)
    walk = straight_walk(seconds=0.4)
    for suffix in ("bvh", "fbx", "glb", "npz"):
        marey.save(walk, folder / f"{suffix}.{suffix}")
    marey.save(walk, folder / "bvh.npz")
    marey.save([walk, sample("run", fps=30.0, seconds=0.5).motion], folder / "more" / "both.glb")
    marey.save(marey.edit.retarget(walk, marey.io.smpl_skeleton()), folder / "more" / "person.amass.npz")
    (folder / "more" / "stick.asf").write_text(ASF)
    (folder / "more" / "stick.amc").write_text(AMC)
    (folder / "broken.bvh").write_text("HIERARCHY\n")
    (folder / "odd.npy").write_bytes(b"no array")
    np.save(folder / "weights.npy", np.zeros((3, 4)))
    (folder / "notes.txt").write_text("nothing")
    (folder / "markers.trc").write_text("x")
    marey.edit.RetargetMap.build(walk, walk.skeleton).save(folder / "map.json")
    from marey.register import register

    register([walk, walk]).save(folder / "registered.npz")
    return folder


@pytest.mark.filterwarnings("ignore::marey.errors.MareyWarning")
@pytest.mark.parametrize("to", ["bvh", "glb"])
def test_a_mixed_folder(mixed: Path, tmp_path: Path, to: str) -> None:
    report = convert_folder(mixed, tmp_path / "out", to, reading=LoadSettings(file_fps=60.0))
    status = {(file.file, file.output): file.status for file in report.files}
    good = {file.output for file in report.files if file.status == "converted"}
    single = {f"{name}.{to}" for name in ("bvh", "bvh_2", "fbx", "glb", "npz", "more/person.amass", "more/stick")}
    several = {"more/both.glb"} if to == "glb" else {"more/both.straight_walk.bvh", "more/both.run.bvh"}
    assert good - single == several, good
    assert single <= good
    assert {file.file for file in report.files if file.status == "failed"} == {"broken.bvh", "odd.npy"}
    assert {file.file for file in report.files if file.status == "skipped"} == {
        "markers.trc", "registered.npz", "weights.npy",
    }  # fmt: skip
    assert len(status) == len(report.files)
    first = marey.load(mixed / "fbx.fbx", file_fps=60.0)
    again = marey.load(tmp_path / "out" / f"fbx.{to}")
    np.testing.assert_allclose(again.root_positions, first.root_positions, atol=1e-5)
    assert all((tmp_path / "out" / name).is_file() for name in good)


def test_the_command_converts_a_folder_and_goes_on_after_bad_files(mixed: Path, tmp_path: Path, capsys) -> None:
    assert main(["convert", str(mixed), str(tmp_path / "out"), "--to", "npz", "--file-fps", "60"]) == 1
    shown = capsys.readouterr().out
    assert "failed: " in shown
    assert "markers, not motion; `marey solve` fits a skeleton to them" in shown
    assert "9 converted, 3 skipped, 2 failed" in shown
    for name in ("broken.bvh", "odd.npy"):
        (mixed / name).unlink()
    assert main(["convert", str(mixed), str(tmp_path / "again"), "--to", "npz", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["files"]
    assert sum(file["status"] == "converted" for file in listed) == 9


def test_options_go_to_the_files_that_have_them(mixed: Path, tmp_path: Path) -> None:
    seen: list[str] = []
    reading = LoadSettings(root=0, unit="cm")
    shutil.rmtree(mixed / "more")
    report = convert_folder(
        mixed, tmp_path / "out", "glb", reading=reading, saving=SaveSettings(body=False),
        progress=lambda file: seen.append(file.file),
    )  # fmt: skip
    assert seen == [file.file for file in report.files]
    assert report.count("converted") == 5


def test_bad_folders(tmp_path: Path, capsys) -> None:
    with pytest.raises(UnreadableFile, match="no such folder"):
        convert_folder(tmp_path / "none", tmp_path / "out")
    with pytest.raises(UnreadableFile, match="holds no motion files"):
        convert_folder(tmp_path, tmp_path / "out")
    with pytest.raises(UnwritableFile, match="choose another folder for the results"):
        convert_folder(tmp_path, tmp_path)
    with pytest.raises(InvalidValue, match="`to=` must be one of bvh, fbx, glb, npz, usda, not 'c3d'"):
        convert_folder(tmp_path, tmp_path / "out", "c3d")
    for words, message in (
        ((tmp_path, tmp_path / "out"), "is a folder; give the format to write, such as --to bvh"),
        (("a.bvh",), "expected IN and OUT"),
        (("a.bvh", "b.bvh", "--to", "bvh"), "--to and --json apply to a folder"),
    ):
        assert main(["convert", *map(str, words)]) == 2
        assert message in capsys.readouterr().err


if __name__ == "__main__":
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(START)
    PAGE.write_text(before + START + make_table() + STOP + rest.partition(STOP)[2], encoding="utf-8")
