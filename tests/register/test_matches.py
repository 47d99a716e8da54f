"""Contacts of several motions matched in u, by kind, and across the seams of loops."""

from dataclasses import replace

import numpy as np
import pytest

from marey.core import ContactPoint, Contacts, Motion
from marey.errors import InvalidValue
from marey.register import ConstraintMatch, TimewarpCurve, match_contacts
from marey.samples import straight_walk

FPS = 10.0
POINTS = tuple(ContactPoint(name, 0, np.zeros(3)) for name in ("left_heel", "right_wrist"))
Spans = dict[str, list[tuple[int, int]]]


def touching(n_frames: int, spans: Spans, name: str = "") -> Motion:
    still = straight_walk(fps=FPS, seconds=n_frames / FPS)[:n_frames]
    return replace(still, name=name, contacts=Contacts.from_intervals(POINTS, spans, n_frames))


def steady(*motions: Motion, cyclic: bool = False) -> TimewarpCurve:
    ends = np.array([len(motion) - (not cyclic) for motion in motions]) / FPS
    return TimewarpCurve.fit(np.linspace(0.0, 1.0, 41)[:, None] * ends, cyclic=cyclic)


def test_edges_lie_between_frames() -> None:
    a = touching(21, {"left_heel": [(4, 9)]})
    b = touching(41, {"left_heel": [(10, 18)]})
    (match,), notes = match_contacts([a, b], steady(a, b))
    assert match.point == "left_heel"
    assert match.starts == pytest.approx([3.5 / 20, 9.5 / 40])
    assert match.stops == pytest.approx([8.5 / 20, 17.5 / 40])
    assert notes == ()
    # With weight 1, exactly the motion's own frames are in contact.
    for j, (motion, weights) in enumerate(((a, [1, 0]), (b, [0, 1]))):
        start, stop = match.interval(weights)
        u = np.arange(len(motion)) / (len(motion) - 1)
        assert motion.contacts is not None
        assert (((u > start) & (u < stop)) == motion.contacts.mask[:, 0]).all(), j


def test_contacts_at_the_ends_reach_to_the_ends() -> None:
    a, b = touching(21, {"left_heel": [(0, 21)]}), touching(21, {"left_heel": [(0, 21)]})
    (match,), _ = match_contacts([a, b], steady(a, b))
    assert match.starts.tolist() == [0, 0]
    assert match.stops.tolist() == [1, 1]


def test_each_kind_on_its_own() -> None:
    a = touching(21, {"left_heel": [(2, 8)], "right_wrist": [(12, 18)]})
    b = touching(21, {"left_heel": [(3, 9)], "right_wrist": [(2, 6)]})
    matches, notes = match_contacts([a, b], steady(a, b))
    assert [match.point for match in matches] == ["left_heel"]
    assert len(notes) == 2
    assert all(note.startswith("right_wrist") and "no counterpart" in note for note in notes)


def test_notes_give_seconds_and_names() -> None:
    a = touching(41, {"left_heel": [(0, 36)]}, "stands")
    b = touching(41, {"left_heel": [(0, 16), (24, 36)]}, "steps")
    c = touching(41, {"left_heel": [(0, 16), (24, 36), (38, 40)]}, "hops")
    matches, notes = match_contacts([a, b, c], steady(a, b, c))
    assert len(matches) == 2
    assert matches[0].stops[0] == pytest.approx(matches[0].stops[1], abs=0.02)
    assert any("'stands' across 1.5" in note and "split" in note for note in notes)
    assert any("'hops' from 3.75 to 3.95 s has no counterpart" in note for note in notes)


def test_without_contacts_or_points_nothing_matches() -> None:
    a = touching(21, {"left_heel": [(2, 8)]}, "a")
    bare = replace(a, name="bare", contacts=None)
    matches, notes = match_contacts([a, bare], steady(a, bare))
    assert matches == ()
    assert notes == ("left_heel: contacts are dropped, because 'bare' has no such point",)


def test_part_of_the_motions_only() -> None:
    a = touching(41, {"left_heel": [(2, 8), (14, 30)]})
    curve = TimewarpCurve.fit(np.linspace(1.0, 3.0, 21)[:, None] * [1.0, 1.0])
    matches, _ = match_contacts([a, a], curve)
    assert len(matches) == 1
    assert matches[0].starts == pytest.approx([0.35 / 2 * 1.0] * 2, abs=0.01)


@pytest.mark.parametrize("shift", [0, 3, 9, 15])
def test_loops_match_across_the_seam_wherever_they_begin(shift: int) -> None:
    def turned(motion: Motion) -> Motion:
        assert motion.contacts is not None
        return replace(motion, contacts=Contacts(POINTS, np.roll(motion.contacts.mask, shift, axis=0)))

    a = turned(touching(20, {"left_heel": [(1, 9), (12, 17)]}))
    b = turned(touching(20, {"left_heel": [(3, 7), (13, 19)]}))
    matches, notes = match_contacts([a, b], steady(a, b, cyclic=True))
    assert notes == ()
    found = sorted((match.starts.tolist(), match.stops.tolist()) for match in matches)
    true = [(np.array([0.5, 2.5]), np.array([8.5, 6.5])), (np.array([11.5, 12.5]), np.array([16.5, 18.5]))]
    expected = []
    for starts, stops in true:
        u = (np.stack([starts, stops]) + shift) / 20
        u -= np.floor(u[0].mean())
        expected.append((u[0].tolist(), u[1].tolist()))
    assert np.array(found) == pytest.approx(np.array(sorted(expected)), abs=1e-6)


def test_a_loop_that_never_lifts() -> None:
    a = touching(20, {"left_heel": [(0, 20)]})
    (match,), _ = match_contacts([a, a], steady(a, a, cyclic=True))
    assert (match.stops - match.starts).tolist() == [1, 1]


def test_bad_matches_are_refused() -> None:
    with pytest.raises(InvalidValue, match="ends before it begins"):
        ConstraintMatch("left_heel", np.array([0.2]), np.array([0.1]))
    with pytest.raises(InvalidValue, match="stops must have shape"):
        ConstraintMatch("left_heel", np.array([0.2]), np.array([0.3, 0.4]))
