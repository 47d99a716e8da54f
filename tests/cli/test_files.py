"""No command overwrites its input, whichever option names it, or a file that marey did not write."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import marey
from marey.cli.files import OUTPUTS
from marey.cli.main import cli, main
from marey.pmg import ParametricMotionGraph
from marey.samples import straight_walk
from tests.io.test_asf_amc import AMC, ASF
from tests.pmg.characters import fresh_walker


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inputs")
    walk = straight_walk(seconds=1.5)
    for name in ("a.bvh", "b.npz", "c.bvh", "plain.bvh"):
        marey.save(walk if name == "plain.bvh" else marey.detect_contacts(walk), folder / name)
    for name in ("roles.json", "report.json"):
        (folder / name).write_text('{"left_hand": "LeftHand"}')
    (folder / "stick.asf").write_text(ASF)
    (folder / "stick.amc").write_text(AMC)
    (folder / "path.csv").write_text("0,0\n0,2\n")
    (folder / "clips").mkdir()
    marey.save(walk, folder / "clips" / "walk.npz")
    char = fresh_walker()
    char.save(folder / "walker.json")
    return folder


@pytest.mark.parametrize(
    "line",
    [
        "edit retarget a.bvh c.bvh --onto c.bvh",
        "edit retarget a.bvh out.bvh --onto c.bvh --save-map roles.json --roles roles.json",
        "edit path a.bvh path.csv --along path.csv",
        "edit mirror a.bvh ./a.bvh",
        "edit connect a.bvh b.npz b.npz",
        "blend a.bvh b.npz -o out.bvh --save-registration b.npz",
        "blend a.bvh b.npz -o out.bvh --weights path.csv --report out --roles b.npz --save-registration b.npz",
        "splice a.bvh b.npz -o c.bvh --retarget=c.bvh",
        "convert a.bvh c.bvh c.bvh",
        "grid a.bvh c.bvh --csv a.bvh",
        "grid a.bvh c.bvh --npz a.marey.json",
        "clean a.bvh out.bvh --plot a.bvh",
        "graph build clips -o clips/walk.npz",
        "find build clips -o clips/walk.npz",
        "steer clips -o clips/walk.npz",
        "pmg walk walker.json -o {space}",
        "pmg go walker.json --to 1,1 -o {space}",
        "pmg build walker.json -o walker.json",
        "gaze apply a.bvh b.npz --map b.npz --look 1:60:10",
        "steer clips -o c.bvh --keys w:1 --controller tree --action throw=c.bvh:upper",
        "grid stick.amc stick.amc --csv stick.asf",
        "blend a.bvh b.npz -o out.bvh --roles report.json --report .",
        "pmg build walker.json -o a.marey.json",
    ],
)
def test_no_input_is_overwritten(
    inputs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], line: str
) -> None:
    monkeypatch.chdir(inputs)
    before = {path: path.read_bytes() for path in inputs.rglob("*") if path.is_file()}
    (space,) = inputs.glob("walker.walk.*.npz")
    assert main(line.format(space=space.name).split()) == 2
    assert re.search(r"this is (an input file|the name of a motion's sidecar); choose another", capsys.readouterr().err)
    assert {path: path.read_bytes() for path in inputs.rglob("*") if path.is_file()} == before
    ParametricMotionGraph.load(inputs / "walker.json")


def test_two_outputs_have_different_names(
    inputs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(inputs)
    assert main(["grid", "a.bvh", "--npz", "new.npz", "--csv", "new.npz"]) == 2
    assert "new.npz: two outputs have this name" in capsys.readouterr().err


FOREIGN = {
    "take.bvh": b"HIERARCHY\nROOT Hips\n{\n}\nMOTION\nFrames: 0\n",
    "run.bvh": b"HIERARCHY\n}\nMOTION\n",
    "take.fbx": b"Kaydara FBX Binary  \0",
    "take.glb": b'glTF{"asset":{"generator":"Blender"}}',
    "take.npz": b"PK",
    "take.usda": b"#usda 1.0\n",
    "notes.json": b'{"format": "other"}',
    "plot.png": b"\x89PNG tEXtSoftware\0other",
    "plot.svg": b"<svg/>",
    "take.gif": b"GIF89a",
    "take.webp": b"RIFF",
    "take.mp4": b"ftyp",
    "page.html": b"<html>",
    "table.csv": b"seconds,1\n",
    "walker.plan.npz": b"PK",
    "space.npz": None,
}


@pytest.mark.parametrize(
    "line",
    [
        *(f"convert a.bvh take{suffix}" for suffix in (".bvh", ".fbx", ".glb", ".npz", ".usda")),
        *(f"render a.bvh -o take{suffix}" for suffix in (".gif", ".webp")),
        *("render a.bvh -o plot.png", "view a.bvh -o page.html", "plot path a.bvh -o plot.svg"),
        *("grid a.bvh --csv table.csv", "grid a.bvh --npz take.npz", "grid a.bvh --npz space.npz"),
        *("clean a.bvh take.bvh", "contacts a.bvh -o take.bvh", "edit mirror a.bvh take.bvh"),
        *("limits a.bvh -o notes.json", "edit retarget a.bvh new.bvh --onto c.bvh --save-map notes.json"),
        *("blend a.bvh b.npz -o take.bvh", "blend a.bvh b.npz -o new.bvh --save-registration space.npz"),
        *("transition a.bvh c.bvh -o take.bvh", "splice a.bvh c.bvh -o take.bvh", "gaze map looks.csv -o notes.json"),
        *("transplant a.bvh c.bvh -o take.bvh --joints right_arm", "gaze apply a.bvh take.bvh --look 1:60:10"),
        *("graph build clips -o space.npz", "find build clips -o space.npz", "parametric build a.bvh -o b.npz"),
        *("pmg build walking -o notes.json", "pmg build walking -o walker.json", "pmg walk walker.json -o take.bvh"),
        *("pmg export walker.json -o take.glb", "pmg export walker.json -o notes.json", "steer clips -o take.bvh"),
        *("samples . -n run", "blend a.bvh b.npz -o new.bvh --report .", "solve walk.trc take.bvh"),
    ],
)
def test_what_marey_did_not_write_is_replaced_only_on_request(
    inputs: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    line: str,
) -> None:
    shutil.copytree(inputs, tmp_path, dirs_exist_ok=True)
    (space,) = inputs.glob("walker.walk.*.npz")
    for name, content in FOREIGN.items():
        (tmp_path / name).write_bytes(space.read_bytes() if content is None else content)
    (tmp_path / "looks.csv").write_text("file,yaw,pitch\n")
    monkeypatch.chdir(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert main(line.split()) == 2
    message = capsys.readouterr().err
    assert re.fullmatch(r"marey: \S+: .+; choose another name, or replace it with --overwrite\n", message), message
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    "line",
    [
        *(f"convert a.bvh own{suffix}" for suffix in (".bvh", ".fbx", ".glb", ".npz", ".usda", ".amass.npz")),
        *(f"render a.bvh -o own{suffix} --drawing plot --size 32x32 --fps 4" for suffix in (".gif", ".webp", ".png")),
        "plot path a.bvh -o own.svg",
        "plot path a.bvh -o own.png",
        "view a.bvh -o own.html",
        "grid a.bvh --csv own.csv --npz own.npz",
        "limits a.bvh -o own.json",
        "edit retarget a.bvh own.bvh --onto c.bvh --save-map own.json",
        "samples own -n reach --truth",
        "convert clips own --to glb",
        "blend a.bvh b.npz -o own.bvh --save-registration own.npz --report own",
    ],
)
def test_running_a_command_again_replaces_its_own_output(
    inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    shutil.copytree(inputs, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    written = []
    for _ in range(2):
        assert main(line.split()) == 0
        written.append({path: path.read_bytes() for path in tmp_path.rglob("own*") if path.is_file()})
    assert written[0] == written[1]


def test_overwrite_replaces_any_file_but_no_input(inputs: Path, tmp_path: Path) -> None:
    (tmp_path / "take.bvh").write_bytes(b"HIERARCHY\n}\nMOTION\n")
    (tmp_path / "empty.bvh").touch()
    source = str(inputs / "a.bvh")
    assert main(["edit", "mirror", source, str(tmp_path / "empty.bvh")]) == 0  # nothing is lost
    assert main(["edit", "mirror", source, str(tmp_path / "take.bvh"), "--overwrite"]) == 0
    assert len(marey.load_motion(tmp_path / "take.bvh")) == len(marey.load_motion(source))
    assert main(["edit", "mirror", source, source, "--overwrite"]) == 2


def test_every_command_that_writes_a_file_has_the_option() -> None:
    for command, context in _commands(cli, click.Context(cli, info_name="marey")):
        options = {name for param in command.get_params(context) for name in (param.name, *param.opts)}
        assert ("--overwrite" in options) >= (not options.isdisjoint(OUTPUTS)), command.name


def _commands(command: click.Command, context: click.Context) -> Iterator[tuple[click.Command, click.Context]]:
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            sub = command.get_command(context, name)
            assert sub is not None
            yield from _commands(sub, click.Context(sub, info_name=name, parent=context))
    else:
        yield command, context


def test_every_option_that_writes_a_file_is_known() -> None:
    writes = re.compile(r"\b(to write[:,.]|[Ww]rite .*to (this|a new) f|Save (the|a)|Plot|[Dd]raw)\b")
    for command, context in _commands(cli, click.Context(cli, info_name="marey")):
        for param in command.get_params(context):
            is_text = isinstance(param.type, click.types.StringParamType) and not getattr(param, "is_flag", False)
            if is_text and writes.search(getattr(param, "help", None) or ""):
                assert not {param.name, *param.opts}.isdisjoint(OUTPUTS), (command.name, param.opts)
