"""Generated libraries: their size, that they are reproducible, and that variations match."""

from __future__ import annotations

import json

import numpy as np
import pytest

from marey.cli.main import main
from marey.errors import InvalidValue
from marey.find import MotionIndex
from marey.samples import sample_library
from marey.store import MotionSet


@pytest.fixture(scope="module")
def clips():
    return list(sample_library(3000, rng=1))


def test_a_library_has_the_requested_number_of_frames_and_repeats(clips):
    assert sum(len(clip.motion) for clip in clips) == 3000
    again = list(sample_library(3000, rng=1))
    assert [clip.motion.name for clip in again] == [clip.motion.name for clip in clips]
    assert all(
        np.array_equal(a.motion.rotations, b.motion.rotations)
        and np.array_equal(a.motion.root_positions, b.motion.root_positions)
        for a, b in zip(clips, again, strict=True)
    )
    assert next(sample_library(3000, rng=2)).motion.name == clips[0].motion.name
    assert not np.array_equal(next(sample_library(3000, rng=2)).motion.root_positions, clips[0].motion.root_positions)
    assert all(clip.motion.contacts is not None and clip.motion.labels.names for clip in clips)


def test_variations_of_a_performance_match(clips):
    index = MotionIndex.build([clip.motion for clip in clips])
    first = clips[0]
    kick = next(label for label in first.motion.labels if label.name == "kick")
    margin = (kick.stop - kick.start) // 5
    found = index.search(0, kick.start + margin, kick.stop - margin, 0.08, max_tiers=1)
    others = [clip for clip in clips[1:] if clip.performance == first.performance and len(clip.motion) > 500]
    assert others
    for other in others:
        start, stop = other.locate(first, found.query.start, found.query.stop)
        assert any(
            match.clip == other.motion.name and min(match.stop, stop) - max(match.start, start) > 0.5 * (stop - start)
            for match in found
        )


def test_too_small():
    with pytest.raises(InvalidValue, match="a library must have from 100 to 100,000,000 frames, not 5"):
        next(sample_library(5))


def test_command_writes_a_library(tmp_path, capsys):
    arguments = ["samples", str(tmp_path / "lib"), "--library", "1500", "--fps", "30", "--format", "npz"]
    assert main([*arguments, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    clips = MotionSet.open(tmp_path / "lib")
    assert report["frames"] == 1500
    assert sum(clips.lengths) == 1500
    assert len(clips) == report["clips"]
    table = (tmp_path / "lib" / "library.csv").read_text().splitlines()
    assert table[0] == "file,performance,pace,frames"
    assert len(table) == report["clips"] + 1
    assert main(arguments) == 2
    assert "is not empty; use --overwrite" in capsys.readouterr().err
    assert main([*arguments, "--force"]) == 0
    assert main([*arguments, "-n", "walk"]) == 2
    assert "--library cannot be combined" in capsys.readouterr().err
