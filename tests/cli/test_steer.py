"""`marey steer`: clips steered by motion matching and by a blend tree."""

from __future__ import annotations

import numpy as np
import pytest

from marey.cli.main import main
from marey.io import load_motion, save
from marey.samples import sample
from tests.tiers import mostly_slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("walks")
    for k, rate in enumerate((-0.7, -0.35, 0.0, 0.35, 0.7)):
        save(sample("walk", fps=30.0, seconds=6.0, turn_rate=rate).motion, folder / f"walk{k}.bvh")
    return folder


@pytest.mark.parametrize(
    "options", [[], ["--path-times", "0.3,0.6", "--weight", "path=1.5"], ["--controller", "tree", "--steer", "0.3"]]
)
def test_a_character_is_steered(folder, tmp_path, options, capsys):
    out = tmp_path / "out.npz"
    arguments = [
        "steer",
        str(folder),
        "-o",
        str(out),
        "--seconds",
        "7",
        "--feet",
        "lock",
        "--command",
        "2:direction=90",
    ]
    assert main([*arguments, *options]) == 0
    assert "7.0 s from 5 clips" in capsys.readouterr().out
    path = load_motion(out).travel[:, [0, 2]]
    before, after = path[50] - path[20], path[-1] - path[-31]
    assert abs(np.arctan2(*before)) < 0.5
    assert np.arctan2(*after) == pytest.approx(np.pi / 2, abs=0.5)


@pytest.mark.parametrize("controller", ["matching", "tree"])
@pytest.mark.parametrize("at", mostly_slow([1, 3], "steers twelve times more", n_fast=1))
def test_a_command_takes_effect_at_its_time_whatever_is_done_to_the_feet(folder, tmp_path, controller, at):
    paths = {}
    for feet in ("clean", "lock", "none"):
        for command in ([], ["--command", f"{at}:direction=90"]):
            out = tmp_path / "out.npz"
            options = ["--controller", controller, "--feet", feet, "--seconds", "5", *command]
            assert main(["steer", str(folder), "-o", str(out), *options]) == 0
            paths[feet, bool(command)] = load_motion(out).travel[:, [0, 2]]
    for feet in ("clean", "lock", "none"):
        apart = np.hypot(*(paths[feet, True] - paths[feet, False]).T)
        assert apart[: 30 * at - 15].max(initial=0.0) < 0.02  # the cleanup looks ahead a little
        assert apart[30 * at + 45] > 0.1
        np.testing.assert_allclose(paths[feet, True], paths["none", True], atol=0.05)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--min-gain", "2"], "--min-gain must be from 0 to 1, not 2.0"),
        (["--command", "0:label=sneak"], "--command takes direction and speed"),
        (["--seconds", "0"], "--seconds must be at least one frame"),
        (["--command", "3:speed=-1"], "--command must be a speed of at least 0 m/s, not '3:speed=-1'"),
        (["--seconds", "10", "--command", "30:speed=1"], "--command at 30 s has no effect, because the motion ends"),
        (["--seconds", "10", "--command", "10:speed=1"], "at 10 s; raise --seconds"),
    ],
)
def test_bad_use(folder, tmp_path, options, message, capsys):
    assert main(["steer", str(folder), "-o", str(tmp_path / "out.npz"), *options]) == 2
    assert message in capsys.readouterr().err
