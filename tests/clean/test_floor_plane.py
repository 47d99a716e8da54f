"""The floor as a plane."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import marey
from marey.clean import estimate_floor_plane, find_floor_plane
from marey.errors import NoResult

from ..check.helpers import add_noise, clip, tilt


@pytest.mark.parametrize("degrees", [1.0, 2.0, 4.0, 8.0])
@pytest.mark.parametrize("name", ["walk", "medley", "turn_around"])
def test_the_tilt_is_found(name, degrees):
    plane = find_floor_plane(tilt(clip(name), degrees))
    assert plane.is_tilted
    assert np.degrees(plane.tilt) == pytest.approx(degrees, abs=0.1)
    assert plane.slope_z == pytest.approx(-np.tan(np.radians(degrees)), abs=0.003)


@pytest.mark.parametrize("name", ["walk", "run", "sneak", "medley", "turn_around", "leap"])
def test_a_level_floor_is_not_tilted(name):
    assert not find_floor_plane(clip(name)).is_tilted
    assert not find_floor_plane(add_noise(clip(name), 0.003)).is_tilted


@pytest.mark.parametrize("name", ["stairs", "step_up_and_down"])
def test_stairs_are_no_plane(name):
    with pytest.raises(NoResult, match="do not stand on one plane"):
        find_floor_plane(clip(name))


def test_too_few_or_too_close_contacts_give_no_plane():
    with pytest.raises(NoResult, match="at least 6 places where the feet stand, but there are only 4"):
        find_floor_plane(clip("stand"))
    with pytest.raises(NoResult, match="too close together"):
        find_floor_plane(clip("box_dance"))
    assert estimate_floor_plane(clip("stand")) is None


def test_a_drifting_floor():
    dance = clip("medley")
    root = dance.root_positions.copy()
    root[:, 1] += 0.06 * np.linspace(0.0, 1.0, len(root))
    plane = find_floor_plane(replace(dance, root_positions=root))
    assert plane.drift == pytest.approx(0.06, abs=0.02)
    assert find_floor_plane(dance).drift == 0.0


def test_real_captures_are_nearly_level(data_folder):
    plane = find_floor_plane(marey.load(data_folder / "cmu" / "144" / "144_33.bvh"))
    assert np.degrees(plane.tilt) < 1.0
    assert plane.residue < 0.01


def test_feet_held_in_the_air_do_not_tilt_the_floor():
    """A person who practices kicks on the spot stands on one foot for long."""
    kicks = clip("kick_grid")
    plane = estimate_floor_plane(kicks)
    assert plane is None or not (plane.is_tilted or plane.drift)


@pytest.mark.parametrize("file", ["cmu-hard/106_20", "cmu-hard/128_11", "cmu/016/16_43"])
def test_real_captures_that_are_hard_to_judge_are_not_leveled(file, data_folder):
    motion = marey.load(data_folder / f"{file}.bvh")
    for each in (motion, marey.clean(motion)):
        plane = estimate_floor_plane(each)
        assert plane is None or not (plane.is_tilted or plane.drift)
