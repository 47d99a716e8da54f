"""Building a match web: the same result for any tiles and runners, and as defined."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial

import numpy as np
import pytest

from marey.compare import distance_grid
from marey.core import Label, Labels, Motion, Skeleton
from marey.errors import InvalidValue, ParseError, UnknownName, UnknownVersion
from marey.find import MatchWeb, build
from marey.find.build import web_clouds
from marey.find.grid_part import grid_part
from marey.find.region import make_rules, quantize
from marey.find.tiles import GridTile, split_into_tiles
from marey.io import archive
from marey.samples import sample
from marey.store import Cache, processes, threads
from tests.twins import web as twin


@cache
def clips() -> tuple[Motion, ...]:
    """Return two walks and a kick at 30 Hz, of 2 to 4 s, labeled."""
    walks = [sample("walk", rng=k, fps=30, seconds=4, turn_rate=0.3 * k).motion[: 95 + 20 * k] for k in range(2)]
    kick = sample("kick", rng=3, fps=30).motion[:70]
    named = zip((*walks, kick), ("walk0", "walk1", "kick"), strict=True)
    return tuple(replace(m, name=name, labels=Labels((Label(name[:4], 10, len(m) - 10),))) for m, name in named)


@cache
def web() -> MatchWeb:
    return MatchWeb.build(clips())


def same(a: MatchWeb, b: MatchWeb) -> bool:
    pairs = zip(a.pairs, b.pairs, strict=True)
    return a.options == b.options and all(
        x.dtype == y.dtype and np.array_equal(x, y)
        for one, other in pairs
        for x, y in zip(one.arrays, other.arrays, strict=True)
    )


def by_definition(web: MatchWeb, p: int, q: int) -> np.ndarray:
    """Return the values of the grid of one pair where the twin keeps them, `TOO_FAR` elsewhere."""
    clouds = [web_clouds(web.clips[k], web.options) for k in (p, q)]
    grid = distance_grid(clouds[0], None if p == q else clouds[1], window=web.options.window).values
    values = quantize(np.asarray(grid))
    rounded = ((values.astype(int) + 5) // 10 * 10).astype(np.uint16)
    return np.where(twin.stored(values, make_rules(web.options, web.fps)), rounded, np.uint16(65535))


@pytest.mark.parametrize("side", [2048, 61, 40, 23])
def test_tiles_of_any_size_give_the_web_that_the_twin_gives(side, monkeypatch):
    monkeypatch.setattr(build, "split_into_tiles", partial(split_into_tiles, side=side))
    built = MatchWeb.build(clips())
    assert same(built, web())
    if side == 61:
        assert max(len(split_into_tiles(0, 1, 95, 115, side)), 1) == 4
        for p in range(3):
            for q in range(p, 3):
                assert np.array_equal(built.cells(p, q).units(), by_definition(built, p, q)), (p, q)


def test_walks_are_similar_and_a_kick_is_not_a_walk():
    walking, mixed = web().cells(0, 1), web().cells(1, 2)
    assert len(walking) / np.prod(walking.shape) > 2 * len(mixed) / np.prod(mixed.shape)
    own = web().cells(0, 0)
    assert (own.units()[np.arange(95), np.arange(95)] == 0).all()
    assert np.array_equal(own.units(), own.units().T)


@pytest.mark.parametrize("run", [threads(2), processes(2)])
def test_where_the_work_runs_makes_no_difference(run, monkeypatch):
    monkeypatch.setattr(build, "split_into_tiles", partial(split_into_tiles, side=60))
    assert same(MatchWeb.build(clips(), run=run), web())


def test_one_more_clip_costs_only_its_own_pairs(tmp_path):
    kept, looked_at = Cache.open(tmp_path / "cache"), []

    def run(function, items):
        looked_at.append([(tile.a, tile.b) for tile in items])
        return map(function, items)

    built = [MatchWeb.build(clips()[:n], cache=kept, run=run) for n in (2, 3, 3)]
    assert looked_at == [[(0, 0), (0, 1), (1, 1)], [(0, 2), (1, 2), (2, 2)], []]
    assert same(built[1], web())
    assert same(built[2], web())
    MatchWeb.build(clips(), cache=kept, run=run, max_distance=0.3)
    assert len(looked_at[-1]) == 6


def test_a_label_keeps_only_cells_of_its_frames():
    only = MatchWeb.build(clips(), labels="walk")
    for p in range(3):
        for q in range(p, 3):
            grid = only.cells(p, q).units()
            inside = np.zeros(grid.shape, dtype=bool)
            if 2 not in (p, q):
                inside[10:-10, 10:-10] = True
            assert (grid[~inside] == 65535).all()
            assert not inside.any() or (grid[inside] != 65535).any()
    assert same(
        MatchWeb.build(clips(), labels=["walk", "kick"]),
        MatchWeb.build(clips(), labels=("walk", "kick")),
    )


def test_a_lifted_body_matches_if_height_is_removed():
    lifted = replace(clips()[0], root_positions=clips()[0].root_positions + [0.0, 0.3, 0.0])
    given = [clips()[0], replace(lifted, name="lifted")]
    with_height, without = MatchWeb.build(given), MatchWeb.build(given, remove_height=True)
    assert len(with_height.cells(0, 1)) == 0
    assert (without.cells(0, 1).units().diagonal() <= 1).all()


def test_rates_names_and_progress():
    fractions = []
    result = MatchWeb.build([clips()[0], clips()[0]], fps=15, progress=fractions.append)
    assert result.fps == 15
    assert result.names == ("walk0", "walk0#2")
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    assert len(fractions) == 3
    assert result.index("walk0#2") == result.index(1) == result.index(-1) == 1
    with pytest.raises(UnknownName, match="no clip 'walk2' in this match web"):
        result.index("walk2")
    with pytest.raises(UnknownName, match="an index from 0 to 1, not 2"):
        result.index(2)
    with pytest.raises(InvalidValue, match="0 <= p <= q <= 1, not 1 and 0"):
        result.cells(1, 0)


def test_statistics_compare_the_size_with_that_of_the_motion():
    report = web().statistics()
    joints = len(web().skeleton)
    assert report.motion_nbytes == (95 + 115 + 70) * (4 * joints + 3) * 8
    # A clip's own grid is symmetric, so half of it is saved.
    own = [web().cells(p, p) for p in range(3)]
    both = sum(cells.nbytes for cells in web().pairs)
    assert report.nbytes == both - sum(cells.nbytes - cells.upper().nbytes for cells in own) < both
    assert report.size_ratio == report.nbytes / report.motion_nbytes
    assert report.cells == sum(len(cells) for cells in web().pairs)
    assert "3 clips, 280 frames at 30 Hz" in repr(web())
    with pytest.warns(DeprecationWarning, match="use MatchWeb.statistics"):
        assert web().info() == report.to_dict()


def test_saved_and_loaded(tmp_path):
    path = tmp_path / "web.npz"
    result = MatchWeb.build(clips(), markers=["hips", "left_foot", "right_hand"], remove_height=True, labels=["walk"])
    for each in (web(), result):
        each.save(path)
        back = MatchWeb.load(path)
        assert same(back, each)
        assert back.names == each.names
        assert all(
            np.array_equal(a.rotations, b.rotations) and a.labels.names == b.labels.names
            for a, b in zip(back.clips, each.clips, strict=True)
        )


def test_files_of_another_version_or_that_do_not_fit_are_refused(tmp_path):
    path = tmp_path / "web.npz"
    web().save(path)
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files if name not in ("format", "version")}
    for version in (1, 99):
        path.write_bytes(archive.pack("marey.web", version, arrays))
        with pytest.raises(UnknownVersion, match=str(version)):
            MatchWeb.load(path)
    for name in ("row_intervals", "edges", "lines", "far_values", "numbers"):
        path.write_bytes(archive.pack("marey.web", 3, arrays | {name: arrays[name][1:]}))
        with pytest.raises(ParseError, match="not a valid match web"):
            MatchWeb.load(path)
    for name, change in (
        ("row_intervals", -arrays["row_intervals"]),
        ("edges", np.full_like(arrays["edges"], 127)),
        ("planes", np.append(arrays["planes"], np.int8(0))),
        ("lines", np.append(arrays["lines"], np.int8(0))),
        ("far_values", arrays["far_values"] + np.uint16(60_000)),
    ):
        path.write_bytes(archive.pack("marey.web", 3, arrays | {name: change}))
        with pytest.raises(ParseError, match="not a valid match web"):
            MatchWeb.load(path)


def test_files_of_version_2_can_be_read(tmp_path):
    path, n = tmp_path / "web.npz", len(web().clips)
    web().save(path)
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files if name not in ("format", "version")}
    halves = [web().cells(p, q).upper() if p == q else web().cells(p, q) for p in range(n) for q in range(p, n)]
    names = ("row_counts", "run_first", "run_lengths", "run_bases", "rises")
    old = {name: np.concatenate([cells.arrays[k] for cells in halves]) for k, name in enumerate(names)}
    path.write_bytes(archive.pack("marey.web", 2, arrays | old))
    assert same(MatchWeb.load(path), web())
    for name, change in (
        ("rises", old["rises"][:-1]),
        ("run_first", old["run_first"].astype(np.int64) + 100),
        ("run_lengths", 0 * old["run_lengths"]),
        ("row_counts", old["row_counts"][1:]),
    ):
        path.write_bytes(archive.pack("marey.web", 2, arrays | old | {name: change}))
        with pytest.raises(ParseError, match="not a valid match web"):
            MatchWeb.load(path)


@pytest.mark.filterwarnings("error")
def test_damaged_cells_never_crash(tmp_path):
    path = tmp_path / "web.npz"
    web().save(path)
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files if name not in ("format", "version")}
    rng = np.random.default_rng(0)
    for _ in range(40):
        name = str(rng.choice(["row_intervals", "edges", "far_edges", "planes", "lines", "far_values"]))
        change = arrays[name].copy()
        if len(change):
            change[rng.integers(len(change), size=3)] = rng.integers(-100, 100, 3).astype(change.dtype)
        path.write_bytes(archive.pack("marey.web", 3, arrays | {name: change[: rng.integers(len(change) + 1)]}))
        try:
            MatchWeb.load(path)
        except ParseError:
            continue


def test_bad_input():
    with pytest.raises(InvalidValue, match="a match web needs at least one clip, got none"):
        MatchWeb.build([])
    with pytest.raises(InvalidValue, match="a match web needs motions, got a list with str"):
        MatchWeb.build(["walk.bvh"])
    with pytest.raises(InvalidValue, match="the longest clip lasts 0.17 s, too short"):
        MatchWeb.build([clips()[0][:6]])
    body = clips()[0].skeleton
    other = Skeleton(body.names, body.parents, 1.5 * body.offsets, body.role_map)
    with pytest.raises(InvalidValue, match="a match web"):
        MatchWeb.build([clips()[0], replace(clips()[1], skeleton=other)])
    with pytest.raises(UnknownName, match="no clip has the label 'run'; there are 'kick', 'walk'"):
        MatchWeb.build(clips(), labels="run")
    with pytest.raises(InvalidValue, match="labels must contain at least one label"):
        MatchWeb.build(clips(), labels=[])


def test_clips_shorter_than_a_chain_keep_no_cells():
    result = MatchWeb.build([clips()[0], replace(clips()[1][:3], name="short")])
    assert len(result.cells(0, 1)) == len(result.cells(1, 1)) == 0


def test_tiles_cover_each_cell_once_and_the_upper_triangle_of_a_clips_own_grid():
    for own in (False, True):
        seen = np.zeros((50, 50), dtype=int)
        for tile in split_into_tiles(0, 0 if own else 1, 50, 50, 17):
            assert isinstance(tile, GridTile)
            assert tile.n_cells <= 17 * 17
            seen[tile.span[0] : tile.span[1], tile.span[2] : tile.span[3]] += 1
        assert seen.max() == 1
        assert seen[np.triu_indices(50)].all() if own else seen.all()


def test_a_part_of_a_grid_as_paths():
    part = grid_part(web(), "walk0", "walk1", slice(5, 90), slice(8, 110))
    assert np.array_equal(part.kept, web().cells(0, 1).units(slice(5, 90), slice(8, 110)) != 65535)
    assert (part.valid | ~part.kept).all()
    assert (part.horizontal | part.vertical | ~part.on_chain).all()
    assert len(part.chains) > 2
    for path in part.chains:
        assert part.on_chain[path[:, 0] - 5, path[:, 1] - 8].all()
    with pytest.raises(InvalidValue, match="rows 5 to 5"):
        grid_part(web(), 0, 1, slice(5, 5))
