"""Order by chains: variations of a query come before other actions that are closer to it."""

import numpy as np
import pytest

from marey.errors import InvalidValue
from marey.find.chain_order import compare_matches, cut_window, order_by_chain
from marey.find.search import search
from marey.maths import quat
from tests.find.searched import THRESHOLD, truth, web


def series(offset, n_frames=20):
    """A marker that moves by `offset` and returns, next to one that stands still."""
    t = np.sin(np.linspace(0.0, np.pi, n_frames))
    return np.stack([np.outer(t, offset), np.tile([0.0, 0.0, 1.0], (n_frames, 1))], axis=1)


def test_a_chain_of_variations_precedes_a_single_other_action():
    variations = [series((0.0, 0.1 * k, 0.0)) for k in range(6)]
    other = series((0.25, 0.0, 0.0))
    order = order_by_chain([*variations, other], np.ones(2))
    assert order == [0, 1, 2, 3, 4, 5, 6]
    gaps = compare_matches([*variations, other], np.ones(2))
    assert gaps[0, 6] < gaps[0, 5]  # although it is nearer to the query than the last variation


def test_a_match_of_another_duration_comes_later():
    query, same, longer = series((0.0, 0.1, 0.0)), series((0.0, 0.12, 0.0)), series((0.0, 0.1, 0.0), 60)
    windows = [cut_window(each, 0, len(each), len(query)) for each in (query, longer, same)]
    assert order_by_chain(windows, np.ones(2)) == [0, 2, 1]


def test_windows_are_around_the_middle_and_hold_the_ends_of_a_clip():
    points = np.arange(10.0)[:, None, None] * np.ones((1, 1, 3))
    assert cut_window(points, 4, 6, 4)[:, 0, 0].tolist() == [3, 4, 5, 6]
    assert cut_window(points, 0, 2, 6)[:, 0, 0].tolist() == [0, 0, 0, 1, 2, 3]
    assert cut_window(points, 2, 9, 3)[:, 0, 0].tolist() == [4, 5, 6]


def test_distances_do_not_depend_on_place_heading_and_speed():
    one, moved = series((0.3, 0.2, 0.1)), series((0.3, 0.2, 0.1), 60)
    turned = quat.rotate(quat.from_axis_angle([0.0, 1.0, 0.0], 1.2), moved) + [3.0, 0.0, -2.0]
    gaps = compare_matches([one, turned, series((0.3, 0.2, 0.1)) + [0.0, 0.1, 0.0]], np.array([1.0, 2.0]))
    np.testing.assert_allclose(gaps[0, 1], 0.0, atol=1e-4)
    assert gaps[0, 2] == pytest.approx(0.01, rel=1e-6)  # heights count


def test_a_search_gives_the_same_matches_in_another_order():
    clip, start, stop = truth("kick")[0]
    plain, chained = (search(web(), clip, start, stop, THRESHOLD, order=order) for order in ("distance", "chain"))
    assert chained.query == plain.query
    assert set(chained.matches) == set(plain.matches)
    for k, (match, motion) in enumerate(zip(chained.matches, chained.motions, strict=True)):
        assert len(motion) == len(match)
        parent, before = int(chained.parents[k]), plain.parents[plain.matches.index(match)]
        assert parent == -1 if before < 0 else chained[parent] == plain[int(before)]
    assert {frozenset((chained[e.first], chained[e.second])) for e in chained.edges} == {
        frozenset((plain[e.first], plain[e.second])) for e in plain.edges
    }
    with pytest.raises(InvalidValue, match="order must contain the indices 0 to"):
        plain.reorder([1, 0])


def test_reaches_are_first_in_takes_of_many_actions(data_folder):
    """Kovar 6.2.4.2: in a set without labels, the first matches are the true ones."""
    from marey.edit import resample
    from marey.find import MatchWeb
    from marey.io import load_motion

    names = ("144_22", "144_07", "144_13")
    clips = [resample(load_motion(data_folder / "cmu" / "144" / f"{name}.bvh"), 30.0) for name in names]
    mixed = MatchWeb.build(clips, markers="upper", remove_height=True)
    reaches = [(frame - 1) / 4.0 for frame in (259, 426, 608, 801, 977, 1138, 1323, 1484, 1649, 1838, 2028, 2235)]
    middle = reaches[8]

    def count_first(order):
        found = mixed.search("144_22", round(middle - 21), round(middle + 21), 0.16, order=order)
        seen = set()
        for match in found:
            hit = [at for at in reaches if match.clip == "144_22" and match.start <= at < match.stop]
            if not hit:
                break
            seen.update(hit)
        return len(seen)

    assert count_first("chain") > count_first("distance")
