"""No command overwrites what it reads, whichever option names it."""

import re
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
