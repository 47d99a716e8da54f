"""`marey plot`: each kind, its options, and wrong use."""

from pathlib import Path

import pytest
from matplotlib.figure import Figure

import marey
from marey.cli.main import main
from marey.cli.plot import KINDS
from marey.samples import straight_walk
from tests.plot.pictures import png_size, svg_size
from tests.tiers import mostly_slow

WALK = straight_walk(seconds=1.0)


@pytest.fixture
def clip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    marey.save(WALK, tmp_path / "walk.bvh")
    marey.save(WALK.moved((0.3, 0.0, 0.0)), tmp_path / "other.npz")
    monkeypatch.chdir(tmp_path)
    return "walk.bvh"


@pytest.fixture
def _not_rendered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plots are drawn, but their files stay empty: rendering takes longer than everything else."""
    monkeypatch.setattr(Figure, "savefig", lambda *_, **__: None)


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_as_png(kind: str, clip: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plot", kind, clip, "-o", "out.png"]) == 0
    n_frames = 31 if kind == "cloud" else 61  # a cloud shows half a second
    assert capsys.readouterr().out.splitlines()[0] == f"wrote out.png: {kind} of {n_frames} frames of 'walk'"
    assert png_size(Path("out.png"))[0] == 1800


@pytest.mark.parametrize(
    "arguments",
    mostly_slow(
        [
            ["filmstrip", "walk.bvh", "--poses", "4", "--front", "--from", "0.2", "--to", "50f"],
            ["feet", "walk.bvh", "--from", "10f"],
            ["joints", "walk.bvh", "--joints", "knee, left_upper_arm"],
            ["path", "walk.bvh", "other.npz", "--align", "--to", "0.5"],
            ["parameters", "walk.bvh", "other.npz"],
            ["cloud", "walk.bvh", "--from", "36f", "--to", "1.0"],
        ],
        "draws another kind; test_each_kind_as_png draws each",
        n_fast=2,
    ),
)
def test_options_of_each_kind(arguments: list[str], clip: str) -> None:
    assert main(["plot", *arguments, "--output", "out.svg"]) == 0
    assert svg_size(Path("out.svg"))[0] == 648


@pytest.mark.usefixtures("_not_rendered")
def test_from_and_to_in_seconds_and_frames(clip: str, capsys: pytest.CaptureFixture[str]) -> None:
    for begin, end, report in (("0.5", "0.9", 24), ("30f", "55f", 25), ("0", "1.0", 60)):
        assert main(["plot", "path", clip, "-o", "out.png", "--from", begin, "--to", end]) == 0
        assert f"path of {report} frames" in capsys.readouterr().out
    assert main(["plot", "path", clip, "-o", "out.png", "--from", "60f", "--to", "61f"]) == 0
    assert "path of 1 frame of" in capsys.readouterr().out


def test_a_leading_rest_pose_is_reported(clip: str, capsys: pytest.CaptureFixture[str]) -> None:
    import numpy as np

    from marey.core import Motion
    from marey.maths import quat

    rest = quat.identity((1, len(WALK.skeleton)))
    rotations = np.concatenate([rest, WALK.rotations])
    root = np.concatenate([WALK.root_positions[:1], WALK.root_positions])
    marey.save(Motion(WALK.skeleton, root, rotations, 60.0, name="posed"), "posed.npz")
    assert main(["plot", "path", "posed.npz", "-o", "out.png"]) == 0
    captured = capsys.readouterr()
    assert "61 frames" in captured.out
    assert "posed.npz: frame 0 is a rest pose and is skipped; --keep-rest-pose keeps it" in captured.err
    assert main(["plot", "path", "posed.npz", "-o", "out.png", "--keep-rest-pose"]) == 0
    captured = capsys.readouterr()
    assert "62 frames" in captured.out
    assert captured.err == ""


def test_help_and_list_explain_each_kind_with_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["plot", "--help"], ["plot", "--list"]):
        assert main(arguments) == 0
        shown = capsys.readouterr().out
        for kind, (what, example) in KINDS.items():
            assert kind in shown
            assert what in shown
            assert example in shown
            assert example.startswith(f"marey plot {kind} ")


@pytest.mark.usefixtures("_not_rendered")
@pytest.mark.parametrize("kind", mostly_slow(KINDS, "draws another kind", n_fast=2))
def test_the_examples_work(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    marey.save(straight_walk(seconds=3.0), "walk.bvh")
    marey.save(straight_walk(speed=1.8, seconds=2.0), "run.bvh")
    arguments = KINDS[kind][1].split()[1:]
    assert main(arguments) == 0
    assert Path(arguments[arguments.index("-o") + 1]).is_file()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["foot", "walk.bvh", "-o", "o.png"], "unknown kind of plot 'foot'; available kinds: filmstrip, feet"),
        (["clouds", "walk.bvh", "-o", "o.png"], "similar: 'cloud'"),
        (["feet", "walk.bvh"], "no output file given; for example: marey plot feet walk.bvh -o feet.png"),
        (["feet"], "missing argument FILE..."),
        (["feet", "walk.bvh", "-o", "o.gif"], "o.gif: a plot is saved as .png or .svg, got .gif"),
        (["feet", "walk.bvh", "-o", "walk.bvh"], "walk.bvh: this is an input file; choose another name"),
        (["feet", "nowhere.bvh", "-o", "o.png"], "nowhere.bvh: no such file"),
        (["feet", "walk.bvh", "other.npz", "-o", "o.png"], "feet shows one motion, not 2 files"),
        (
            ["feet", "walk.bvh", "-o", "o.png", "--poses", "3"],
            "--poses does not apply to feet; it applies to filmstrip",
        ),
        (
            ["filmstrip", "walk.bvh", "-o", "o.png", "--align"],
            "--align does not apply to filmstrip; it applies to path",
        ),
        (["filmstrip", "walk.bvh", "-o", "o.png", "--poses", "0"], "n_poses must be from 1 to 60, not 0"),
        (["joints", "walk.bvh", "-o", "o.png", "--joints", "LeftLag"], "similar: 'LeftLeg'"),
        (["joints", "walk.bvh", "-o", "o.png", "--joints", ","], "at least one role or joint"),
        (["path", "walk.bvh", "-o", "o.png", "--from", "soon"], "seconds such as 1.2, or a frame such as 36f"),
        (["path", "walk.bvh", "-o", "o.png", "--from", "1.5f"], "seconds such as 1.2"),
        (["path", "walk.bvh", "-o", "o.png", "--to", "nan"], "seconds such as 1.2"),
        (["path", "walk.bvh", "-o", "o.png", "--from", "2"], "--from is beyond the end of 'walk', which lasts 1.00 s"),
        (["path", "walk.bvh", "-o", "o.png", "--to", "62f"], "--to is beyond the end of 'walk'"),
        (["path", "walk.bvh", "-o", "o.png", "--from", "0.9", "--to", "0.1"], "--from must be before --to"),
    ],
)
def test_wrong_use_is_one_sentence_and_exit_code_two(
    arguments: list[str], message: str, clip: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path.name: path.read_bytes() for path in Path().iterdir()}
    assert main(["plot", *arguments]) == 2
    report = capsys.readouterr().err
    assert message in report
    assert "Traceback" not in report
    assert {path.name: path.read_bytes() for path in Path().iterdir()} == before
