"""An index finds the matches of the web of the same clips; poses and paths are exact."""

from dataclasses import fields, replace

import numpy as np
import pytest

from marey.bench.library import ExhaustiveIndex
from marey.compare import Clouds, frame_distances
from marey.compare.pose_bounds import Embedding, embed_poses
from marey.core import Motion, Skeleton
from marey.edit import resample
from marey.errors import InvalidValue, NoResult, UnknownName
from marey.find import MotionIndex
from marey.find.index_kernels import Blocks, scan_anchors
from marey.find.index_queries import measure_poses
from marey.find.match_graph import EXTERNAL, KnownMatches
from marey.find.search import Query
from marey.find.settings import SearchSettings
from marey.samples import sample
from marey.store import Cache
from tests.find.searched import THRESHOLD, clips, truth, web


@pytest.fixture(scope="module")
def index() -> MotionIndex:
    return MotionIndex.build(clips())


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def intervals(found):
    return [(match.clip, match.start, match.stop, match.tier) for match in found]


# --- Features


def random_clouds(rng, n=40):
    points = rng.normal(size=(n, 6, 3)) * [0.3, 0.6, 0.3] + rng.normal(size=(n, 1, 3)) * [5.0, 0.0, 5.0]
    weights = rng.uniform(0.1, 1.0, 6)
    return Clouds(points, weights / weights.sum(), 30.0)


def all_distances(clouds):
    i, j = (each.ravel() for each in np.indices((len(clouds), len(clouds))))
    return np.sqrt(np.maximum(frame_distances(clouds, i, clouds, j, [1.0])[1], 0.0)).reshape(len(clouds), -1)


def test_the_aligned_distance_is_a_metric(rng):
    distances = all_distances(random_clouds(rng))
    assert np.allclose(distances, distances.T, atol=1e-7)
    assert np.abs(np.diag(distances)).max() < 1e-6
    for k in range(len(distances)):
        assert (distances <= distances[:, k, None] + distances[None, k] + 1e-6).all()


def test_distances_of_features_bound_the_aligned_distance(rng):
    clouds = random_clouds(rng)
    distances = all_distances(clouds)
    features = embed_poses(clouds.points, clouds.weights)
    between = np.linalg.norm(features[:, None] - features[None], axis=2)
    assert (between <= distances + 1e-6).all()
    assert (distances <= np.sqrt(2.0) * between + 1e-6).all()
    few = Embedding.fit([clouds], 4).apply(clouds)
    assert few.shape == (len(clouds), 5)
    assert (np.linalg.norm(few[:, None] - few[None], axis=2) <= between + 1e-5).all()


def test_features_do_not_change_with_moves_on_the_floor(rng):
    clouds = random_clouds(rng)
    angle = 1.2
    turn = np.array([[np.cos(angle), 0, np.sin(angle)], [0, 1, 0], [-np.sin(angle), 0, np.cos(angle)]])
    moved = clouds.points @ turn.T + [3.0, 0.0, -7.0]
    assert np.allclose(embed_poses(moved, clouds.weights), embed_poses(clouds.points, clouds.weights), atol=1e-12)


def test_axes_survive_the_cache(rng):
    clouds = random_clouds(rng)
    one = Embedding.fit([clouds], 4)
    assert np.array_equal(Embedding.from_array(one.to_array()).apply(clouds), one.apply(clouds))


# --- Scan


def slow_scan(features, anchors, gaps, limit):
    """Return the smallest sum of squared distances of anchors to frames that are a permitted number of frames apart."""
    out = []
    for rows in features:
        costs = np.square(rows[:, None] - anchors[None]).sum(axis=2)
        best = costs[:, 0]
        for k, (near, far) in enumerate(gaps, start=1):
            before = [best[max(j - far, 0) : j - near + 1].min() if j - near >= 0 else np.inf for j in range(len(rows))]
            best = costs[:, k] + before
        out.append(np.where(best <= limit, best, np.inf))
    return np.concatenate(out)


@pytest.mark.parametrize("limit", [np.inf, 14.0, 0.0])
def test_scan_equals_its_slow_twin(rng, limit):
    features = [rng.normal(size=(n, 8)).astype(np.float32) for n in (30, 1, 17)]
    markers = [rng.normal(size=(6, len(rows))).astype(np.float32) for rows in features]
    values = np.concatenate([np.concatenate([m, f.T]).ravel() for m, f in zip(markers, features, strict=True)])
    starts = np.concatenate([[0], np.cumsum([len(rows) for rows in features])])
    anchors, gaps = features[0][[2, 8, 15]], np.array([[2, 13], [3, 3]])
    spans = np.array([[k, 0, len(rows), 0] for k, rows in enumerate(features)])
    costs = np.full(starts[-1], np.inf, dtype=np.float32)
    scan_anchors(Blocks(values, starts, 2, 8), spans, anchors, gaps, limit, costs)
    assert np.allclose(costs, slow_scan(features, anchors, gaps, limit), rtol=1e-5)
    part = np.full(starts[-1], 7.0, dtype=np.float32)
    scan_anchors(Blocks(values, starts, 2, 8), np.array([[0, 0, 30, 12]]), anchors, gaps, limit, part)
    assert (part[:12] == 7.0).all()
    assert np.array_equal(part[12:30], costs[12:30])
    assert (part[30:] == 7.0).all()


# --- Comparing spans


@pytest.mark.parametrize(("fps", "options"), [(30.0, {}), (60.0, {"window": 0.2, "markers": "lower"})])
def test_spans_give_what_tiles_of_a_web_give(fps, options):
    some = [resample(clip[:400], fps) for clip in clips()]
    index = MotionIndex.build(some, **options)
    whole = ExhaustiveIndex(**{each.name: getattr(index, each.name) for each in fields(MotionIndex) if each.init})
    start, stop = (round(frame * fps / 30.0) for frame in truth("kick")[0][1:])
    theirs = whole.compare_spans(index.clouds(0), index.features(0).T, (start, stop), index.list_spans(), 0.1)
    ours = index.compare_spans(index.clouds(0), index.features(0).T, (start, stop), index.list_spans(), 0.1)
    assert len(theirs) > 3
    want, got = (sorted(zip(*(c.tolist() for c in each.columns), strict=True)) for each in (theirs, ours))
    assert np.allclose(want, got, atol=1e-12)


# --- Searching


@pytest.mark.parametrize("kind", ["kick", "punch"])
def test_finds_what_the_web_finds(index, kind):
    clip, start, stop = truth(kind)[0]
    ours, theirs = (each.search(clip, start, stop, THRESHOLD) for each in (index, web()))
    assert len(ours) > 2
    assert intervals(ours) == intervals(theirs)
    assert np.allclose(ours.distances, theirs.distances, atol=1e-4)
    assert ours.motions[1].name == theirs.motions[1].name


def test_many_known_matches_are_not_compared_again(index, monkeypatch):
    clip, start, stop = truth("kick")[0]
    theirs = web().search(clip, start, stop, THRESHOLD)
    compared = []
    compare = MotionIndex.compare_spans

    def count(self, clouds, features, frames, spans, limit):
        compared[-1] += int((spans[:, 2] - spans[:, 1]).sum())
        return compare(self, clouds, features, frames, spans, limit)

    monkeypatch.setattr(MotionIndex, "compare_spans", count)
    for n in (32, 0):
        monkeypatch.setattr("marey.find.match_graph._MAX_LINKED", n)
        compared.append(0)
        ours = index.search(clip, start, stop, THRESHOLD)
    assert compared[1] < compared[0]
    assert len(ours) == len(theirs)
    pairs = (sorted(found, key=lambda match: (match.clip, match.start)) for found in (ours, theirs))
    for one, two in zip(*pairs, strict=True):
        assert one.clip == two.clip
        assert abs(one.start - two.start) + abs(one.stop - two.stop) < 8


def test_new_matches_do_not_end_near_known_ones():
    starts = np.array([0, 100, 200])
    known = KnownMatches(np.array([[0, 60, 98], [EXTERNAL, 0, 30], [1, 10, 41]]), 0.2, 5)
    ends = np.array([50, 66, 67, 97, 99, 100, 115, 116, 135, 140, 145, 146])
    expected = [False, False, True, True, True, False, False, True, True, True, True, False]
    assert known.contain(ends, starts).tolist() == expected
    assert not KnownMatches(known.intervals[1:2], 0.2, 5).contain(ends, starts).any()


def test_frames_where_no_new_match_ends_are_those_of_all_overlaps():
    known, shortest, new = (30, 70), 20, 0.2
    contained = KnownMatches(np.array([[0, *known]]), new, int((1.0 - new) * shortest))
    possible = set()
    for stop in range(shortest, 121):
        for start in range(stop - shortest + 1):
            shared = max(min(stop, known[1]) - max(start, known[0]), 0)
            if shared < new * min(stop - start, known[1] - known[0]):
                possible.add(stop - 1)
    ends = np.arange(shortest - 1, 120)
    is_known = contained.contain(ends, np.array([0, 120]))
    assert set(ends[~is_known].tolist()) == possible


def test_random_queries_find_what_the_web_finds(index, rng):
    settings = SearchSettings(max_tiers=1)
    n_found = 0
    for _ in range(8):
        clip, n = int(rng.integers(2)), int(rng.integers(24, 48))
        start = int(rng.integers(0, len(clips()[clip]) - n))
        one, two = (Query.make(each, clip, start, start + n, settings).grow(0.05) for each in (web(), index))
        if one.stillness[0] < 0.08:  # any still pose matches a still query
            continue
        assert [one.interval(k) for k in range(one.n)] == [two.interval(k) for k in range(two.n)]
        n_found += one.n - 1
    assert n_found > 0


def test_an_example_from_outside(index):
    one = sample("kick", rng=5, fps=60.0).motion
    ours, theirs = (each.search(one, None, None, 0.15, max_tiers=1) for each in (index, web()))
    assert intervals(ours) == intervals(theirs)
    start, stop = truth("kick")[1][1:]
    again = replace(resample(clips()[0], 60.0), name="again")
    assert any(
        abs(match.start - start) < 3 and match.clip == "one" for match in index.search(again, 2 * start, 2 * stop, 0.05)
    )


def test_select_searches_some_clips_only(index):
    clip, start, stop = truth("kick")[0]
    assert {match.clip for match in index.select(["two"]).search(clip, start, stop, THRESHOLD)} == {"one", "two"}
    names = [match.clip for match in index.select(["two"]).search(clip, start, stop, THRESHOLD)]
    assert names.count("one") == 1  # the query
    with pytest.raises(UnknownName, match="no clip 'tow' in this index; similar: 'two'"):
        index.select(["tow"])


def test_the_nearest_are_compared_if_few_are_wanted(index):
    clip, start, stop = truth("kick")[0]
    features = index.features(clip).T[start:stop]
    every, few = (index.find_spans(features, THRESHOLD, n) for n in (None, 1))
    assert len(few) == 3 < len(every)
    assert {tuple(span) for span in few} <= {tuple(span) for span in every}
    nearest = index.search(clip, start, stop, THRESHOLD, max_tiers=1)[1]
    assert index.search(clip, start, stop, THRESHOLD, max_matches=1, max_tiers=1)[1].start == nearest.start


def test_bodies_of_different_size_are_compared(index):
    body = clips()[0].skeleton
    small = [
        replace(clip, skeleton=replace(body, offsets=0.8 * body.offsets), root_positions=0.8 * clip.root_positions)
        for clip in clips()
    ]
    clip, start, stop = truth("kick")[0]
    found = index.search(replace(small[clip], name="small"), start, stop, THRESHOLD, max_tiers=1)
    assert found[1].clip == clips()[clip].name
    assert abs(found[1].start - start) <= 1
    assert found[1].distance < 0.002
    mixed = MotionIndex.build([*small, *clips()])
    assert len(mixed) == 4
    assert mixed.names[2] == "one#2"
    assert len(mixed.search(clip, start, stop, THRESHOLD)) >= len(index.search(clip, start, stop, THRESHOLD))


def test_nothing_similar_is_reported(index):
    clip, start, stop = truth("kick")[0]
    with pytest.raises(NoResult, match="the nearest match is"):
        index.search(clip, start, stop, 0.001)


def test_no_clips():
    with pytest.raises(InvalidValue, match="a motion index needs at least one clip"):
        MotionIndex.build([])


def test_other_joints_are_reported(index):
    arm = Skeleton(("base", "elbow", "tip"), [-1, 0, 1], [[0.0, 0.0, 0.0], [0.0, 0.4, 0.0], [0.0, 0.3, 0.0]])
    still = np.tile([1.0, 0.0, 0.0, 0.0], (60, 3, 1))
    other = Motion(arm, np.zeros((60, 3)), still, 30.0, name="other")
    with pytest.raises(InvalidValue, match="'other' has different markers from those of the index: it lacks hips"):
        index.search(other, None, None, 0.1)
    with pytest.warns(UserWarning, match="other cannot be compared with the other clips"):
        built = MotionIndex.build([*clips(), other])
    assert built.names == ("one", "two")


def test_only_new_clips_are_computed(tmp_path, monkeypatch):
    import marey.find.index_build as module

    cache = Cache.open(tmp_path / "cache")
    first = MotionIndex.build(clips(), cache=cache)
    made = []
    original = module.make_block

    def count(*arguments):
        made.append(arguments[-1])
        return original(*arguments)

    monkeypatch.setattr(module, "make_block", count)
    walk = replace(sample("walk", fps=30.0, seconds=2.0).motion, name="walk")
    more = MotionIndex.build([*clips(), walk], cache=cache)
    assert made == [2]
    assert np.array_equal(more.blocks.values[: len(first.blocks.values)], first.blocks.values)
    fewer = MotionIndex.build([clips()[1]], cache=cache)
    assert made == [2]
    assert fewer.n_frames == len(clips()[1])


# --- Poses and paths


def test_poses_are_exact(index):
    points = [index.clouds(k).points for k in range(2)]
    target = points[0][60]
    found = index.find_poses(0, 60, max_matches=5)
    every = [measure_poses(target, each, index.weights) for each in points]
    far = np.abs(np.arange(len(every[0])) - 60) >= 0.5 * index.fps
    nearest = min(every[0][far].min(), every[1].min())
    assert found[0].distance == pytest.approx(nearest)
    assert [match.distance for match in found] == sorted(match.distance for match in found)
    assert all(len(match) == 1 for match in found)
    assert index.find_poses(clips()[1], 33)[0].start == 33
    with pytest.raises(InvalidValue, match="frame of 'one' must be from 0 to"):
        index.find_poses("one", 100_000)


def test_a_drawn_path_finds_the_walk_along_it():
    walks = [
        replace(sample("walk", rng=k, fps=30.0, seconds=6.0, turn_rate=turn).motion, name=name)
        for k, (name, turn) in enumerate({"left": 0.5, "ahead": 0.0, "right": -0.5}.items())
    ]
    walks = MotionIndex.build(walks)
    angles = np.linspace(0.0, 1.6, 30)
    arc = 2.5 * np.stack([1.0 - np.cos(angles), np.sin(angles)], axis=1)
    assert walks.find_paths(arc, max_matches=1)[0].clip == "left"
    assert walks.find_paths(arc * [-1.0, 1.0], max_matches=1)[0].clip == "right"
    assert walks.find_paths([[0.0, 0.0], [0.0, 4.0]], max_matches=1)[0].clip == "ahead"
    assert walks.find_paths([[0.0, 0.0], [0.0, 400.0]]) == ()
    for wrong in ([[0.0, 0.0]], [1.0, 2.0]):
        with pytest.raises(InvalidValue, match="path must be at least two points"):
            walks.find_paths(wrong)
    with pytest.raises(InvalidValue, match="must not all be the same"):
        walks.find_paths([[1.0, 1.0], [1.0, 1.0]])
