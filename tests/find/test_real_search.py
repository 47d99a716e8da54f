"""Searching real capture: kicks among other actions, and reaches from standing to the floor."""

import csv

import pytest

from marey import load
from marey.find import MatchWeb
from marey.find.search import search
from marey.find.suggest import suggest_threshold
from tests.twins.search import reference_search

FPS = 30.0


def set_of(folder, names, **options):
    files = [folder / "cmu" / "144" / f"{name}.bvh" for name in names]
    for file in files:
        if not file.exists():
            pytest.skip(f"no {file}")
    return MatchWeb.build([load(file) for file in files], fps=FPS, **options)


def apexes(folder, name, action):
    """Clips, in frames of a web, for each action. The rest pose before the first frame is trimmed."""
    with open(folder / "annotations.csv", newline="") as text:
        rows = [row for row in csv.DictReader(text) if name in row["file"] and row["action"] == action]
    return [(int(row["apex_frame"]) - 1) / 120.0 * FPS for row in rows]


def stretch(apex, half):
    return round(apex - half * FPS), round(apex + half * FPS)


def told_apart(found, clip, at):
    """Return how many apexes are in a match, and how many matches have none."""
    seen = {
        k for match in found for k, apex in enumerate(at) if match.clip == clip and match.start <= apex < match.stop
    }
    none = [m for m in found if m.clip != clip or not any(m.start <= apex < m.stop for apex in at)]
    return len(seen), len(none)


@pytest.mark.filterwarnings("ignore")
def test_every_kick_finds_the_others_and_nothing_else(data_folder):
    web = set_of(data_folder, ["144_05", "144_07"])
    at = apexes(data_folder, "144_05", "kick")
    for apex in at:
        start, stop = stretch(apex, 0.5)
        for threshold in (0.1, 0.15, suggest_threshold(web, "144_05", start, stop).threshold):
            seen, others = told_apart(search(web, "144_05", start, stop, threshold), "144_05", at)
            assert seen >= len(at) - 1
            assert others == 0


@pytest.mark.filterwarnings("ignore")
def test_reaches_are_found_from_standing_to_the_floor(data_folder):
    web = set_of(data_folder, ["144_22"], markers="upper", remove_height=True)
    at = apexes(data_folder, "144_22", "reach")
    good = 0
    for apex in at:
        seen, others = told_apart(search(web, 0, *stretch(apex, 0.7), 0.1), "144_22", at)
        good += seen >= 13 and others <= 2
    assert good >= 0.8 * len(at)


@pytest.mark.filterwarnings("ignore")
def test_a_web_of_real_clips_finds_what_the_reference_finds(data_folder):
    webs = [
        (set_of(data_folder, ["144_22"], markers="upper", remove_height=True), "144_22", "reach", 0.7, 0.07),
        (set_of(data_folder, ["144_20"]), "144_20", "punch", 0.25, 0.06),
    ]
    total = again = 0
    for web, name, action, half, threshold in webs:
        for apex in apexes(data_folder, name, action)[2::5]:
            expected = reference_search(web, 0, *stretch(apex, half), threshold)
            found = [] if len(expected) == 1 else search(web, 0, *stretch(apex, half), threshold)
            for match in expected.matches[1:]:
                total += 1
                shared = (min(other.stop, match.stop) - max(other.start, match.start) for other in found)
                again += any(fraction > 0.5 * len(match) for fraction in shared)
    assert total > 40
    assert again >= 0.95 * total
