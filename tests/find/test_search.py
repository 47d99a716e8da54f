"""Searching a web: what is found, in which order, from both sides of a pair, and what is refused."""

import numpy as np
import pytest

from marey.core.labels import Label, Labels
from marey.edit import resample
from marey.errors import InvalidValue, MareyWarning, NoResult, UnknownName
from marey.find import MatchWeb
from marey.find.match_graph import grow_match_graph
from marey.find.search import Query, search
from marey.find.settings import SearchSettings
from marey.register.dtw import dtw
from marey.samples import sample
from tests.find.searched import FPS, THRESHOLD, clips, hits, samples, truth, web
from tests.twins.search import reference_search


def test_a_threshold_in_centimeters_causes_a_warning():
    clip, start, stop = truth("kick")[0]
    with pytest.warns(MareyWarning, match=r"`threshold=` is in meters, .*; for 6 cm write 0.06"):
        search(web(), clip, start, stop, 6.0, max_matches=1)


def spans(found):
    return sorted((match.clip, match.start, match.stop) for match in found)


@pytest.mark.parametrize("kind", ["kick", "punch"])
def test_every_query_finds_its_kind_and_nothing_else(kind):
    for clip, start, stop in truth(kind):
        found = search(web(), clip, start, stop, THRESHOLD)
        seen, worst, others = hits(found, kind)
        assert seen == set(range(len(truth(kind))))
        assert others == 0
        assert worst <= 0.15


def test_the_query_is_first_and_the_rest_sorted_by_distance():
    clip, start, stop = truth("kick")[0]
    found = search(web(), "one", start, stop, THRESHOLD)
    assert found.query.clip == "one"
    assert (found[0].start, found[0].stop) == (start, stop)
    assert found[0].tier == 0
    assert found[0].distance == 0.0
    assert all(match.tier > 0 for match in found.matches[1:])
    assert (np.diff(found.distances) >= 0).all()
    assert found.parents[0] == -1
    assert (found.parents[1:] >= 0).all()
    edges = {(edge.first, edge.second): edge.distance for edge in found.edges}
    for k in range(1, len(found)):
        before = int(found.parents[k])
        assert found[k].distance == pytest.approx(found[before].distance + edges[min(k, before), max(k, before)])
    assert spans(search(web(), clip, start, stop, THRESHOLD)) == spans(found)


def test_motions_are_cut_out_of_their_clips():
    _, start, stop = truth("kick")[0]
    found = search(web(), 0, start, stop, THRESHOLD)
    for match, motion in zip(found, found.motions, strict=True):
        assert len(motion) == len(match)
        whole = clips()[("one", "two").index(match.clip)]
        np.testing.assert_allclose(motion.travel, whole[match.start : match.stop].travel, atol=1e-9)
    assert len({motion.name for motion in found.motions}) == len(found)


def test_edges_have_alignments_of_the_whole_motions():
    from marey.compare import distance_grid

    _, start, stop = truth("punch")[0]
    found = search(web(), 0, start, stop, THRESHOLD)
    for edge in found.edges:
        one, other = (found.motions[k] for k in (edge.first, edge.second))
        cells = edge.alignment.cells
        assert cells[0].tolist() == [0, 0]
        assert cells[-1].tolist() == [len(one) - 1, len(other) - 1]
        assert edge.alignment.distance == pytest.approx(edge.distance, abs=0.01)
        assert edge.alignment is edge.alignment
        # Windows at the ends of a cut motion are shorter, so the two can differ only near its ends.
        near = dtw(distance_grid(one, other).values)
        assert abs(near.distance - edge.alignment.distance) < 0.005


def test_queries_find_the_same_from_either_side_of_a_pair():
    turned = MatchWeb.build(clips()[::-1])
    for clip, start, stop in truth("kick"):
        name = ("one", "two")[clip]
        ours, theirs = search(web(), name, start, stop, THRESHOLD), search(turned, name, start, stop, THRESHOLD)
        assert spans(ours) == spans(theirs)
        np.testing.assert_allclose(ours.distances, theirs.distances, atol=1e-9)


def test_a_web_finds_what_the_reference_finds():
    total = again = 0
    for kind in ("kick", "punch"):
        clip, start, stop = truth(kind)[0]
        expected, found = (look(web(), clip, start, stop, THRESHOLD) for look in (reference_search, search))
        for match in expected.matches[1:]:
            total += 1
            again += any(
                other.clip == match.clip
                and min(other.stop, match.stop) - max(other.start, match.start) > 0.5 * len(match)
                for other in found
            )
    assert total >= 5
    assert again >= 0.95 * total


def test_one_tier_finds_matches_of_the_query_only():
    clip, start, stop = truth("kick")[0]
    all_tiers = search(web(), clip, start, stop, THRESHOLD)
    first = search(web(), clip, start, stop, THRESHOLD, max_tiers=1)
    assert {match.tier for match in first} == {0, 1}
    assert len(first) <= len(all_tiers)


def test_a_limit_of_matches_is_reported():
    clip, start, stop = truth("kick")[0]
    found = search(web(), clip, start, stop, THRESHOLD, max_matches=2)
    assert len(found) == 3
    assert found.notes == (
        "the search stopped at 2 matches, but there are more; lower `threshold=` or raise `max_matches=`",
    )
    assert search(web(), clip, start, stop, THRESHOLD).notes == ()


def test_an_external_query_finds_what_a_clip_of_the_web_finds():
    clip, start, stop = truth("kick")[0]
    inside = search(web(), clip, start, stop, THRESHOLD, max_tiers=1)
    outside = search(web(), clips()[clip], start, stop, THRESHOLD, max_tiers=1)
    assert outside.query.clip == "one (outside)"
    assert spans(outside.matches[1:]) == spans(inside)
    assert outside.motions[0].name.startswith("one (outside)")
    twice = resample(samples()[0].motion, 2 * FPS)
    seen, worst, others = hits(search(web(), twice, 2 * start, 2 * stop, THRESHOLD).matches[1:], "kick")
    assert len(seen) == len(truth("kick"))
    assert others == 0
    assert worst <= 0.15
    whole = search(web(), clips()[clip][start:stop], None, None, THRESHOLD)
    assert hits(whole.matches[1:], "kick")[0] == set(range(len(truth("kick"))))


def test_a_small_reach_does_not_match_standing_still():
    result = sample("medley", rng=5, fps=30.0, kicks=0, punches=0, reaches=10)
    own = MatchWeb.build([result.motion])
    reaches = [(round(30 * each.start), round(30 * each.stop)) for each in result.actions if each.name == "reach"]
    smallest = min(reaches, key=lambda reach: Query.make(own, 0, *reach, None).still(0, *reach))
    query = Query.make(own, 0, *smallest, None)
    threshold = 1.2 * query.still(0, *smallest)
    found = search(own, 0, *smallest, threshold)
    assert len(found) >= 9
    for match in found:
        assert any(abs(match.start - s) < 6 and abs(match.stop - e) < 6 for s, e in reaches)
    # If everything moves as much, there are more.
    flooded = grow_match_graph(
        query.interval, query.make_finder(threshold), lambda *_: 1.0, threshold, SearchSettings(max_matches=200)
    )
    places = {flooded.interval(k)[1:] for k in range(flooded.n)}
    more = [p for p in places if not any(abs(p[0] - s) < 6 and abs(p[1] - e) < 6 for s, e in reaches)]
    assert more
    assert max(query.still(0, *place) for place in more) < threshold / 1.5


def test_a_motionless_query_finds_standing():
    start = next(s for s in range(0, 200, 5) if Query.make(web(), 0, s, s + 20, None).still(0, s, s + 20) < 0.01)
    assert len(search(web(), 0, start, start + 20, 0.03)) > 10


def test_labels_restrict_where_matches_lie():
    from dataclasses import replace

    kicks = truth("kick")
    clip, start, stop = kicks[0]
    labels = Labels(tuple(Label("good", s - 3, e + 3) for c, s, e in kicks if c == 1))
    marked = replace(web(), clips=(web().clips[0], replace(web().clips[1], labels=labels)))
    found = search(marked, clip, start, stop, THRESHOLD, labels="good")
    assert {match.clip for match in found.matches[1:]} == {"two"}
    assert len(found) - 1 == sum(c == 1 for c, _, _ in kicks)
    with pytest.raises(UnknownName, match="no clip has the label 'god'; there are .*'good'.*similar: 'good'"):
        search(marked, clip, start, stop, THRESHOLD, labels="god")
    with pytest.raises(InvalidValue, match="labels must contain at least one"):
        search(marked, clip, start, stop, THRESHOLD, labels=[])


def test_no_match_names_the_nearest():
    clip, start, stop = truth("kick")[0]
    with pytest.raises(
        NoResult,
        match=r"nothing within .* s \(frames .*; the nearest match is '(one|two)', .* \(frames .*\), at 0\.0\d+ m",
    ):
        search(web(), clip, start, stop, 0.0001)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((0, -1, 30, 0.1), "0 <= start < stop <="),
        ((0, 10, 100_000, 0.1), "not 10 and 100000"),
        ((0, 30, 20, 0.1), "not 30 and 20"),
        ((0, 10, 14, 0.1), r"at least 8 frames \(0\.27 s\), not 4 of 'one'"),
        ((0, 1.5, 30, 0.1), "start must be an integer"),
        ((0, 10, 40, 0.0), "threshold in meters must be a number greater than 0"),
        ((0, 10, 40, "far"), "threshold in meters"),
        (("on", 10, 40, 0.1), "no clip 'on' in this match web; similar: 'one'"),
        ((7, 10, 40, 0.1), "not 7"),
    ],
)
def test_bad_queries(given, message):
    with pytest.raises(InvalidValue, match=message):
        search(web(), *given)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"overlap": (0.2, 0.8)}, "0 <= new <= same < 1"),
        ({"overlap": 0.8}, r"such as \(0\.8, 0\.2\)"),
        ({"max_matches": 0}, "max_matches must be at least 1, not 0"),
        ({"max_tiers": 0}, "max_tiers must be at least 1"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(InvalidValue, match=message):
        search(web(), 0, 10, 40, 0.1, **options)


def test_an_external_query_needs_the_same_skeleton_and_enough_frames():
    from marey.samples import sample

    short = sample("kick").motion[:5]
    with pytest.raises(InvalidValue, match="the query must have at least 15 frames"):
        search(web(), short, None, None, 0.1)
    slow = sample("kick", fps=9).motion
    assert len(search(web(), slow[2:6], None, None, 0.3, max_tiers=1).motions[0]) >= 8
    with pytest.raises(InvalidValue, match="start and stop must be frames"):
        search(web(), sample("kick").motion, 0, 10_000, 0.1)


def test_a_search_does_not_change_its_input():
    before = [clip.rotations.copy() for clip in clips()]
    _, start, stop = truth("punch")[0]
    search(web(), 0, start, stop, THRESHOLD)
    for clip, rotations in zip(clips(), before, strict=True):
        np.testing.assert_array_equal(clip.rotations, rotations)
