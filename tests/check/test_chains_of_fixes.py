"""The commands that `check` prints, in order: no finding gets worse, and a second check finds fewer or explains why."""

from __future__ import annotations

import shlex
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import marey
from marey.check import CheckReport, check_files
from marey.cli.check import chain_commands
from marey.cli.main import main
from marey.core.motion import Motion
from marey.maths import quat

from .helpers import add_noise, clip, tilt, zero_pose

HARD = ("09_10", "106_20", "111_21", "113_14", "117_08", "128_11", "131_06", "140_02", "77_17", "79_54")
# A value that is larger by at most this factor counts as unchanged; seconds and frames do not count.
WORSE = 1.15
# Cleanup of the whole body stretches a neck by up to this fraction and reports it.
STRETCHED = 0.15
# Findings that no command fixes.
LEFT = {"loose_joints", "axis", "unit", "swapped_sides", "duplicate", "file"}


def run_chain(path: Path) -> list[tuple[str, CheckReport, Motion]]:
    """Run the printed commands; return the report and the motion after each, starting with those of the file itself."""
    (checked,) = check_files([path])
    commands = chain_commands(checked)
    out = [("", checked.report, marey.load(path))]
    for command in commands:
        words = shlex.split(command)
        if words[0] == "mkdir":
            Path(words[-1]).mkdir(parents=True, exist_ok=True)
            continue
        assert main(words[1:]) == 0, command
        written = [word for word in words if Path(word).suffix == path.suffix][1]
        (again,) = check_files([written])
        out.append((command, again.report, marey.load(written)))
    return out


def worst(report: CheckReport) -> dict[str, float]:
    out: dict[str, float] = {}
    for finding in report:
        out[finding.kind] = max(out.get(finding.kind, 0.0), abs(finding.value))
    return out


def is_in_source(report: CheckReport, kind: str, motion: Motion, source: Motion) -> bool:
    """Return whether jumps that are new in a report are as fast in the source, where noise hid them."""
    if len(motion) != len(source) or kind not in ("jump", "broken_frames"):
        return False
    speeds = [
        np.linalg.norm(np.diff(m.world().positions, axis=0), axis=2).max(axis=1) * m.fps for m in (source, motion)
    ]
    rows = [slice(max(f.start - 1, 0), f.stop) for f in report if f.kind == kind]
    return all(speeds[1][row].max() <= WORSE * speeds[0][row].max() * motion.fps / source.fps for row in rows)


def check_chain(path: Path) -> None:
    steps = run_chain(path)
    source, before = steps[0][2], worst(steps[0][1])
    for command, report, motion in steps[1:]:
        if command.startswith("marey convert"):  # contacts, and so slides, depend on the rate
            before["foot_slide"] = worst(report).get("foot_slide", 0.0)
        for kind, value in worst(report).items():
            known = value <= WORSE * before.get(kind, 0.0) or kind in ("frozen", "frame_rate", "loose_joints")
            known |= kind == "bone_lengths" and value < STRETCHED
            assert known or is_in_source(report, kind, motion, source), (path.name, command, kind, value, before)
    last = [finding for finding in steps[-1][1] if finding.kind not in LEFT]
    first = [finding for finding in steps[0][1] if finding.kind not in LEFT]
    if first:
        unexplained = [f for f in last if f.operation and not is_in_source(steps[-1][1], f.kind, steps[-1][2], source)]
        assert len(unexplained) < len(first), (path.name, [f.message for f in unexplained])
        # In badly damaged clips, fixing one finding reveals the next.
        n_severe = [sum(f.severity == "severe" for f in found) for found in (first, last)]
        assert n_severe[1] < max(n_severe[0], 1), [f.message for f in last]


@pytest.mark.slow("runs the chains of all hard clips")
@pytest.mark.parametrize("name", HARD)
def test_hard_clips(name: str, data_folder: Path, tmp_path: Path) -> None:
    path = data_folder / "cmu-hard" / f"{name}.bvh"
    if not path.is_file():
        pytest.skip(f"no {name}.bvh in {data_folder}")
    shutil.copy(path, tmp_path / path.name)
    check_chain(tmp_path / path.name)


def flip_arm(motion: Motion, start: int, stop: int) -> Motion:
    rotations = motion.rotations.copy()
    arm = motion.skeleton.roles["left_upper_arm"]
    rotations[start:stop, arm] = quat.mul(rotations[start:stop, arm], quat.from_axis_angle([1.0, 0.0, 0.0], 2.5))
    return replace(motion, rotations=rotations)


def freeze(motion: Motion, start: int, stop: int) -> Motion:
    root, rotations = motion.root_positions.copy(), motion.rotations.copy()
    root[start:stop], rotations[start:stop] = root[start], rotations[start]
    return replace(motion, root_positions=root, rotations=rotations)


def sink(motion: Motion) -> Motion:
    return replace(motion, root_positions=motion.root_positions - [0.0, 0.08, 0.0], contacts=None)


def jump(motion: Motion, frame: int) -> Motion:
    root = motion.root_positions.copy()
    root[frame:, 0] += 0.6
    return replace(motion, root_positions=root)


DAMAGE = {
    "broken": lambda m: zero_pose(m, 60, 63),
    "first frames": lambda m: zero_pose(m, 0, 4),
    "flip": lambda m: flip_arm(m, 70, 110),
    "jump": lambda m: jump(m, 90),
    "frozen end": lambda m: freeze(m, len(m) - 30, len(m)),
    "tilted": lambda m: tilt(m, 4.0),
    "rate": lambda m: replace(m, fps=2.0 * m.fps),
    "noise": lambda m: add_noise(m, 0.01),
    "broken, jump, tilted": lambda m: tilt(jump(zero_pose(m, 40, 43), 120), 4.0),
    "rate, broken, noise": lambda m: replace(add_noise(zero_pose(m, 60, 63), 0.008), fps=2.0 * m.fps),
    "flip, broken ends": lambda m: zero_pose(flip_arm(zero_pose(m, 0, 3), 70, 110), len(m) - 3, len(m)),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damaged_clips(name: str, tmp_path: Path) -> None:
    damaged = DAMAGE[name](replace(clip("walk"), contacts=None))
    marey.save(replace(damaged, contacts=None, source=replace(damaged.source, floor=None)), tmp_path / "clip.bvh")
    for each in tmp_path.glob("*.json"):
        each.unlink()
    assert worst(check_files([tmp_path / "clip.bvh"])[0].report)
    check_chain(tmp_path / "clip.bvh")


@pytest.mark.parametrize("is_end", [False, True])
def test_zeroed_ends_are_cut_off_only(is_end: bool, tmp_path: Path) -> None:
    """A second of zeroed poses is frozen, followed by a jump: the crop removes both, and nothing else changes."""
    walk = replace(clip("walk"), contacts=None)
    n = len(walk)
    start, stop = (n - 60, n) if is_end else (0, 60)
    root = walk.root_positions.copy()
    root[start:stop] = 0.0
    damaged = replace(zero_pose(walk, start, stop), root_positions=root)
    marey.save(damaged, tmp_path / "clip.bvh")
    for each in tmp_path.glob("*.json"):
        each.unlink()
    *_, (command, _, fixed) = run_chain(tmp_path / "clip.bvh")
    assert "edit crop" in command
    kept = walk[:start] if is_end else walk[stop:]
    np.testing.assert_allclose(fixed.world().positions, kept.world().positions, atol=1e-4)
