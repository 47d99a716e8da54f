"""Laws of interval matching, and the cases drawn in the source."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marey.register.intervals import Interval, Matching, is_overlapping, match_intervals


def rows_of(*rows: list[tuple[float, float]]) -> list[list[Interval]]:
    return [[Interval(*interval) for interval in row] for row in rows]


def match(*rows: list[tuple[float, float]]) -> Matching:
    return match_intervals(rows_of(*rows))


@st.composite
def some_rows(draw: st.DrawFn) -> list[list[Interval]]:
    rows = []
    for _ in range(draw(st.integers(2, 4))):
        edges = draw(st.lists(st.integers(0, 40), max_size=10, unique=True).filter(lambda e: len(e) % 2 == 0))
        rows.append([Interval(float(a), float(b)) for a, b in np.array(sorted(edges)).reshape(-1, 2)])
    return rows


def connected(group: tuple[Interval, ...]) -> bool:
    """The union is one interval: the definition, by merging."""
    reach = -np.inf
    for start, stop in sorted(group):
        if start > reach and reach > -np.inf:
            return False
        reach = max(reach, stop)
    return True


@given(some_rows())
def test_groups_hold_one_of_each_row_in_order_and_connected(rows: list[list[Interval]]) -> None:
    found = match_intervals(rows)
    for group in found.groups:
        assert len(group) == len(rows)
        assert connected(group)
        assert all(interval.start <= interval.stop for interval in group)
    for before, after in itertools.pairwise(found.groups):
        assert all(a.stop <= b.start for a, b in zip(before, after, strict=True))


@given(some_rows())
def test_nothing_is_invented_and_nothing_lost(rows: list[list[Interval]]) -> None:
    found = match_intervals(rows)
    for i, row in enumerate(rows):
        parts = [group[i] for group in found.groups] + [interval for k, interval in found.dropped if k == i]
        gaps = [gap for k, gap in found.gaps if k == i]
        length = sum(b - a for a, b in parts) + sum(b - a for a, b in gaps)
        assert length == pytest.approx(sum(b - a for a, b in row), abs=1e-9)
        for a, b in parts:
            assert any(start - 1e-9 <= a and b <= stop + 1e-9 for start, stop in row)


@given(some_rows(), st.randoms(use_true_random=False))
def test_the_order_of_the_motions_does_not_matter(rows: list[list[Interval]], random: object) -> None:
    order = list(range(len(rows)))
    random.shuffle(order)  # type: ignore[attr-defined]
    plain, turned = match_intervals(rows), match_intervals([rows[i] for i in order])
    assert len(plain.groups) == len(turned.groups)


@given(some_rows())
def test_equal_rows_match_completely(rows: list[list[Interval]]) -> None:
    found = match_intervals([rows[0]] * 3)
    assert [group[0] for group in found.groups] == rows[0]
    assert all(len(set(group)) == 1 for group in found.groups)
    assert not found.dropped
    assert not found.gaps


def test_connected_through_a_third() -> None:
    found = match([(0, 4)], [(3, 7)], [(6, 10)])
    assert found.groups == ((Interval(0, 4), Interval(3, 7), Interval(6, 10)),)


def test_what_overlaps_nothing_is_dropped() -> None:
    found = match([(0, 2), (4, 6)], [(4.5, 6)])
    assert found.groups == ((Interval(4, 6), Interval(4.5, 6)),)
    assert found.dropped == ((0, Interval(0, 2)),)
    assert match([(0, 1)], [(2, 3)]).groups == ()
    assert match([(0, 1)], []).dropped == ((0, Interval(0, 1)),)


def test_a_long_one_is_not_dropped_for_starting_early() -> None:
    found = match([(0, 10)], [(1, 2), (8, 16)], [(15, 25)])
    assert found.groups == ((Interval(0, 10), Interval(8, 16), Interval(15, 25)),)
    assert found.dropped == ((1, Interval(1, 2)),)


def test_a_sliver_is_not_an_overlap() -> None:
    assert not is_overlapping(Interval(0, 1.01), Interval(1, 2))
    found = match([(0, 1.01), (1.2, 2.1)], [(1, 2)])
    assert found.groups == ((Interval(1.2, 2.1), Interval(1, 2)),)
    assert not found.gaps


def test_two_short_ones_split_a_long_one_where_they_lift() -> None:
    found = match([(0, 10)], [(0, 4), (6, 10)])
    assert found.groups == ((Interval(0, 4), Interval(0, 4)), (Interval(6, 10), Interval(6, 10)))
    assert found.gaps == ((0, Interval(4, 6)),)


def test_gap_is_where_the_voter_has_it_in_proportion() -> None:
    # The long interval covers 2 to 12, the voter 1 to 9: (x - 2) / 10 = (y - 1) / 8.
    found = match([(2, 12)], [(1, 4), (6, 9)])
    ((row, gap),) = found.gaps
    assert row == 0
    assert gap == pytest.approx((2 + 10 * 3 / 8, 2 + 10 * 5 / 8))
    assert found.groups[0][0] == pytest.approx((2, 5.75))
    assert found.groups[1][0] == pytest.approx((8.25, 12))


def test_votes_are_averaged() -> None:
    found = match([(0, 12)], [(0, 4), (6, 12)], [(0, 6), (8, 12)])
    assert found.gaps == ((0, Interval(5, 7)),)
    assert len(found.groups) == 2


def test_both_long_ones_are_split() -> None:
    found = match([(0, 10)], [(0, 4), (6, 10)], [(1, 9)])
    assert [row for row, _ in found.gaps] == [0, 2]
    assert len(found.groups) == 2
    assert found.groups[0][2] == pytest.approx((1, 1 + 8 * 0.4))


def test_three_steps_split_a_long_one_twice() -> None:
    found = match([(0, 15)], [(0, 3), (6, 9), (12, 15)])
    assert [group[0] for group in found.groups] == [Interval(0, 3), Interval(6, 9), Interval(12, 15)]


def test_long_intervals_do_not_outvote_the_right_split() -> None:
    found = match([(0, 10)], [(0, 6), (7, 10)], [(0, 2), (3, 6), (7, 10)])
    assert len(found.groups) == 3
    for group in found.groups:
        assert all(interval == pytest.approx(group[2]) for interval in group)


def test_no_split_where_the_next_ones_belong_together() -> None:
    # Both second intervals overlap: two simple matches (the rightmost case of figure 5.12).
    found = match([(0, 5), (5.5, 9)], [(0, 3), (4, 9)])
    assert len(found.groups) == 2
    assert not found.gaps


def test_a_gap_that_would_leave_parts_without_partner_is_put_where_the_voter_has_it() -> None:
    # Stretched to 1-6, the gap of 3-4 5-6 would be 2.7-4.3, and the first part would be before its partner.
    found = match([(1, 6)], [(3, 4), (5, 6)])
    assert found.gaps == ((0, Interval(4, 5)),)
    assert len(found.groups) == 2
