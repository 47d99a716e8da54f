"""`marey steer`: clips steered by motion matching and other live players."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from marey.cli.main import main
from marey.core.contacts import Contacts
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
    assert "7.0 s at 30 Hz from 5 clips\n" in capsys.readouterr().out
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


@pytest.mark.parametrize("options", [["--feet", "lock"], ["--feet", "clean"], ["--feet", "lock", "--crowd", "2"]])
def test_released_plants_are_reported(tmp_path, options, capsys):
    walk = sample("walk", fps=30.0, seconds=4.0).motion
    arguments = ["steer", str(tmp_path / "walk.npz"), "--seconds", "2", "-o", str(tmp_path / "out.glb"), *options]
    save(walk, tmp_path / "walk.npz")
    assert main(arguments) == 0
    assert "  released" not in capsys.readouterr().out
    always = np.ones_like(walk.contacts.mask)  # also while the feet swing
    save(replace(walk, contacts=Contacts(walk.contacts.points, always)), tmp_path / "walk.npz")
    assert main(arguments) == 0
    note = capsys.readouterr().out.split("\n")[1]
    assert re.match(
        r"  released \d+ plants? that the motion moves too far away from: (left|right) \w+ at \d.\d s", note
    )


@pytest.fixture(scope="module")
def box(tmp_path_factory):
    path = tmp_path_factory.mktemp("load") / "box.bvh"
    save(sample("carry_box", fps=60.0, seconds=4.0).motion, path)
    return path


@pytest.mark.parametrize("controller", ["moves", "fat"])
def test_other_players_follow_keys(folder, tmp_path, controller):
    out = tmp_path / "out.npz"
    assert main(["steer", str(folder), "-o", str(out), "--controller", controller, "--keys", "w:2 a:6"]) == 0
    path = load_motion(out).travel[:, [0, 2]]
    assert len(path) == 240
    assert np.arctan2(*(path[-1] - path[-31])) == pytest.approx(np.pi / 2, abs=0.6)


def test_the_head_turns_first_and_hands_carry(folder, box, tmp_path):
    made = {}
    keys = ["--keys", "w:2 a:1"]
    commands = ["--command", "2:direction=90", "--seconds", "3"]
    for name, more in {
        "plain": keys, "look": [*keys, "--look"], "carry": [*keys, "--carry", str(box)], "timed": [*commands, "--look"],
    }.items():  # fmt: skip
        out = tmp_path / f"{name}.npz"
        assert main(["steer", str(folder), "-o", str(out), "--feet", "lock", *more]) == 0
        made[name] = load_motion(out)
    np.testing.assert_allclose(made.pop("timed").rotations, made["look"].rotations, atol=1e-9)
    plain, look = made["plain"], made["look"]
    roles = plain.skeleton.roles
    legs = [roles[name] for name in ("hips", "left_foot", "right_foot")]
    np.testing.assert_array_equal(plain.world().positions[:, legs], look.world().positions[:, legs])
    head = [each.world().rotations[:, roles["head"]] for each in (plain, look)]
    apart = 2.0 * np.arccos(np.clip(np.abs((head[0] * head[1]).sum(axis=1)), 0.0, 1.0))
    assert apart[:58].max() < 0.01
    assert apart[60:].max() > 0.5
    hands = [
        np.diff(each.world().positions[:, [roles["left_hand"], roles["right_hand"]]], axis=1) for each in made.values()
    ]
    assert np.ptp(np.linalg.norm(hands[2], axis=2)[45:]) < 0.3 * np.ptp(np.linalg.norm(hands[0], axis=2)[45:])


def test_a_crowd_keeps_its_distance_and_has_styles(folder, tmp_path, capsys):
    out = tmp_path / "crowd"
    members = ["--member", "speed=0.9", "--member", "speed=1.3"]
    assert main(["steer", str(folder), "-o", str(out), "--keys", "w:2", "--crowd", "4", "--apart", "2", *members]) == 0
    assert "4 characters from 5 clips for 2 s at 30 Hz, at least" in capsys.readouterr().out
    places = [load_motion(file).travel[:, [0, 2]] for file in sorted(out.glob("*.bvh"))]
    assert len(places) == 4
    assert np.ptp(places[2] - places[0], axis=0).max() < 1e-3  # the same style
    assert np.linalg.norm(places[1][0] - places[0][0]) == pytest.approx(2.0, abs=0.2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--keys", "w3"], "--keys must be KEYS:SECONDS such as \"w:3\", not 'w3'"),
        (["--keys", "w:3", "--command", "1:speed=1"], "give either --keys or --command"),
        (["--member", "speed=1"], "--member needs --crowd"),
        (["--crowd", "2", "--member", "fast"], "a crowd in one file"),
        (["--min-gain", "2"], "--min-gain must be from 0 to 1, not 2.0"),
        (["--command", "0:label=sneak"], "--command takes direction, speed and action"),
        (["--seconds", "0"], "--seconds must be at least 0.1, not 0.0"),
        (["--command", "3:speed=-1"], "--command must be a speed of at least 0 m/s, not '3:speed=-1'"),
        (["--seconds", "10", "--command", "30:speed=1"], "--command at 30 s has no effect, because the motion ends"),
        (["--seconds", "10", "--command", "10:speed=1"], "at 10 s; raise --seconds"),
    ],
)
def test_bad_use(folder, tmp_path, options, message, capsys):
    assert main(["steer", str(folder), "-o", str(tmp_path / "out.npz"), *options]) == 2
    assert message in capsys.readouterr().err


def test_a_blend_tree_throws_while_it_walks(folder, tmp_path, capsys):
    save(sample("throw", fps=30.0).motion, tmp_path / "throw.bvh")
    out = tmp_path / "out.npz"
    tree = ["steer", str(folder), "-o", str(out), "--controller", "tree", "--seconds", "4", "--feet", "lock"]
    action = ["--action", f"throw={tmp_path / 'throw.bvh'}:upper", "--command", "1:action=throw"]
    assert main([*tree, *action]) == 0
    assert "throw" in {label.name for label in load_motion(out).labels}
    assert main([*tree, "--command", "1:action=throw"]) == 2
    assert "the tree has no action 'throw'; it has none" in capsys.readouterr().err
    assert main([*tree, "--action", "throw"]) == 2
    assert "--action must be NAME=FILE, such as throw=throw.bvh:upper, not 'throw'" in capsys.readouterr().err
    assert main([*tree[:4], *action]) == 2
    assert "actions are played by a blend tree; add --controller tree" in capsys.readouterr().err
