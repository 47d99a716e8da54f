"""Recorded walks and runs in pairs: which are accepted, and that accepted ones are in phase."""

import itertools
from pathlib import Path

import numpy as np
import pytest

import marey
from marey.core import Motion
from marey.errors import NoResult, NotBlendable
from marey.register import RegistrationCurve, register
from marey.register.support import measure_opposite_feet
from tests.register.takes import warped_copy

WALKS = ("16_15", "16_21", "16_11", "16_13", "16_17", "16_19", "16_23", "16_25", "16_27", "16_29")
RUNS = ("16_35", "16_45", "16_55", "16_37", "16_39", "16_41", "16_43", "16_48", "16_49")
SOME = [("16_15", "16_35"), ("16_21", "16_45"), ("16_11", "16_13"), ("16_17", "16_19"), ("16_37", "16_39"),
        ("16_23", "16_41"), ("16_25", "16_55"), ("16_27", "16_29"), ("16_13", "16_49")]  # fmt: skip
U = np.linspace(0.0, 1.0, 600)


@pytest.fixture(scope="module")
def clips(data_folder: Path) -> dict[str, Motion]:
    found = {}
    for name in (*WALKS, *RUNS, "16_05", "16_51"):
        path = data_folder / "cmu" / "016" / f"{name}.bvh"
        if not path.is_file():
            pytest.skip(f"no {name}.bvh in {data_folder}")
        found[name] = marey.detect_contacts(marey.load(path))
    return found


def opposite(reg: RegistrationCurve) -> float:
    seconds = reg.timewarp(U)
    return measure_opposite_feet(reg.motions[0], reg.motions[1], seconds[:, 0], seconds[:, 1])


def check(reg: RegistrationCurve) -> None:
    assert reg.distance <= 0.22
    assert "half cycle" in reg.notes[0]
    assert reg.timewarp(0.0) == pytest.approx([0.0, 0.0], abs=1e-9)
    assert reg.timewarp(1.0) == pytest.approx([motion.duration for motion in reg.motions], abs=1e-9)
    slope = reg.timewarp.slope(U) / reg.timewarp.durations
    assert (slope[:, 1] / slope[:, 0]).min() > 0.3
    assert (slope[:, 1] / slope[:, 0]).max() < 3.3
    assert opposite(reg) < 0.06
    feet = {match.point.split("_")[0] for match in reg.matches}
    assert feet == {"left", "right"}


@pytest.mark.parametrize("pair", SOME, ids="+".join)
def test_pairs_of_walks_and_runs_are_brought_in_step(clips: dict[str, Motion], pair: tuple[str, str]) -> None:
    check(register([clips[name] for name in pair]))


@pytest.mark.slow("registers all pairs of recorded clips")
def test_all_pairs_at_a_lower_rate(clips: dict[str, Motion]) -> None:
    slower = {name: marey.edit.resample(clips[name], 30.0) for name in (*WALKS, *RUNS)}
    refused = {}
    for a, b in itertools.combinations(slower, 2):
        try:
            reg = register([slower[a], slower[b]])
        except NoResult as error:
            refused[a, b] = str(error)
            continue
        assert reg.distance <= 0.22
        assert opposite(reg) < 0.08
    assert len(refused) <= 3, refused


def test_a_jump_and_a_walk_are_refused_with_the_reason(clips: dict[str, Motion]) -> None:
    with pytest.raises(NotBlendable, match="no stretch of .* that lasts at least"):
        register([clips["16_05"], clips["16_15"]])


def test_quick_steps_in_a_turn_are_too_far_from_long_strides(clips: dict[str, Motion]) -> None:
    with pytest.raises(NotBlendable, match=r"are 0\.2\d+ m apart along the path .* more than 0\.22 m"):
        register([clips["16_49"], clips["16_51"]])


def test_many_at_once(clips: dict[str, Motion]) -> None:
    reg = register([clips[name] for name in WALKS[:6]])
    assert reg.distance < 0.15
    assert len({len(match) for match in reg.matches}) == 1
    assert all((match.stops >= match.starts).all() for match in reg.matches)


def test_a_recorded_walk_and_its_warped_copy(clips: dict[str, Motion]) -> None:
    motion = clips["16_15"]
    other, seconds = warped_copy(motion)
    for crop in (None, "auto"):
        reg = register([motion, other], crop=crop)
        found = reg.timewarp(U) + reg.crops[:, 0] / motion.fps
        truth = np.interp(found[:, 1], np.arange(len(motion)) / motion.fps, seconds)
        assert np.abs(found[:, 0] - truth).max() * motion.fps < 0.5


def test_files_are_small_relative_to_the_motions(clips: dict[str, Motion], tmp_path: Path) -> None:
    reg = register([clips["16_15"], clips["16_35"]])
    reg.save(tmp_path / "reg.npz")
    size = 0
    for k, motion in enumerate(reg.motions):
        marey.save(motion, tmp_path / f"{k}.npz")
        size += (tmp_path / f"{k}.npz").stat().st_size
    assert (tmp_path / "reg.npz").stat().st_size <= 0.03 * size
