"""Arrays by key: what is stored, what is computed, and which inputs a key distinguishes."""

from __future__ import annotations

import os
import shutil
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marey.compare import frame_weights, point_clouds
from marey.errors import InvalidValue, UnwritableFile
from marey.graph.minima import find_minima, split_into_blocks
from marey.store import Cache, processes, threads
from marey.store.arrays import compute_checksum
from tests.graph.clips import walks
from tests.store.folders import summed


@pytest.fixture
def cache(tmp_path):
    return Cache.open(tmp_path / "cache")


@pytest.mark.parametrize("dtype", ["<f8", "<f4", "<i8", "<i4", "|b1", ">f8"])
@pytest.mark.parametrize("shape", [(), (0, 2), (3,), (4, 5, 6), (200, 300)])
def test_stored_values_are_returned(cache, dtype, shape):
    array = (np.arange(np.prod(shape)).reshape(shape) % 7).astype(dtype)
    cache.put("k", array)
    got = Cache.open(cache.folder).get("k")
    assert got.dtype == array.dtype
    assert got.shape == shape
    np.testing.assert_array_equal(got, array)
    assert not got.flags.writeable


def test_nothing_is_there_before_and_nothing_is_made_by_asking(cache):
    assert cache.get("k") is None
    assert cache.get_many(["a", "b"]) == {}
    assert not cache.folder.exists()


def test_only_the_missing_are_computed_in_any_order(cache):
    requested = []

    def square(k):
        requested.append(k)
        return np.array([k * k])

    def keys(items):
        return [cache.key("square", k) for k in items]

    assert [int(a[0]) for a in cache.map(square, [3, 1, 2], keys([3, 1, 2]))] == [9, 1, 4]
    assert [int(a[0]) for a in cache.map(square, range(5), keys(range(5)))] == [0, 1, 4, 9, 16]
    assert requested == [3, 1, 2, 0, 4]
    assert list(cache.map(square, [], [])) == []
    with pytest.raises(InvalidValue, match="keys must have one entry for each of the 2 items, not 1"):
        cache.map(square, [1, 2], ["a"])


def test_several_fetches_and_large_and_small_arrays(cache):
    def array(k):
        return np.full(40_000 if k % 500 == 0 else 3, float(k))

    items = list(range(1203))
    keys = [cache.key(k) for k in items]
    list(cache.map(array, items[::2], keys[::2]))
    got = list(cache.map(array, items, keys))
    assert all(np.array_equal(a, array(k)) for k, a in zip(items, got, strict=True))
    again = list(cache.map(None, items, keys))
    assert all(np.array_equal(a, b) for a, b in zip(got, again, strict=True))


def test_what_was_computed_before_an_interruption_is_kept(cache):
    keys = [cache.key(k) for k in range(6)]

    def array(k):
        if k == 4:
            raise KeyboardInterrupt
        return np.array([k])

    with pytest.raises(KeyboardInterrupt):
        list(cache.map(array, range(6), keys))
    assert sorted(int(a[0]) for a in cache.get_many(keys).values()) == [0, 1, 2, 3]
    unfinished = cache.map(lambda k: np.array([k]), [10, 11], ["x", "y"])
    next(unfinished)
    unfinished.close()
    assert set(cache.get_many(["x", "y"])) == {"x"}


def test_a_large_array_that_is_lost_is_computed_and_kept_again(cache):
    cache.put("k", np.zeros(50_000))
    (path,) = cache.folder.rglob("array.npy")
    path.write_bytes(path.read_bytes()[:-1])
    assert cache.get("k") is None
    assert next(cache.map(lambda _: np.ones(50_000), [0], ["k"])).sum() == 50_000
    assert cache.get("k").sum() == 50_000


@pytest.mark.parametrize("size", [10, 50_000], ids=["in the index", "in a file"])
def test_an_array_with_a_changed_bit_is_computed_again(cache, size):
    """Every byte of a stored array is protected, whether it is in the index or in a file of its own."""
    for at in (0, 3 * size, 8 * size - 1, 8 * size + 3):  # the last byte is in the checksum
        cache.put("k", np.zeros(size))
        (path,) = cache.folder.rglob("array.npy" if size > 100 else "index.sqlite")
        content = bytearray(path.read_bytes())
        stored = bytes(8 * size) + compute_checksum(bytes(8 * size))
        content[content.index(stored) + at] ^= 4
        path.write_bytes(content)
        assert cache.get("k") is None
        assert next(cache.map(lambda _: np.ones(size), [0], ["k"])).sum() == size
        assert cache.get("k").sum() == size
        shutil.rmtree(cache.folder)


@pytest.mark.parametrize("run", [map, threads(2)], ids=["map", "threads"])
def test_minima_of_pairs_of_clips_are_found_once(cache, run):
    """As in a graph's builder: after a clip is added, only its pairs are computed."""
    clips = [motion[:150] for motion in walks()]
    clouds = [point_clouds(motion) for motion in clips]
    weights = frame_weights(0.5, 30.0, "triangle")
    requested = []

    def counting(function, items):
        listed = list(items)
        requested.append([(block.a, block.b) for block in listed])
        return run(function, listed)

    def found(of, **options):
        blocks = split_into_blocks([len(each) for each in of], len(weights) // 2, 2**28)
        sides = [cache.key(each.root_positions, each.rotations) for each in clips[: len(of)]]
        keys = [cache.key("minima", sides[b.a], sides[b.b], b.a == b.b, weights, b.rows, b.columns) for b in blocks]
        return list(cache.map(partial(find_minima, of, weights, None), blocks, keys, **options))

    two, three = found(clouds[:2], run=counting), found(clouds, run=counting)
    assert requested == [[(0, 0), (0, 1), (1, 1)], [(0, 2), (1, 2), (2, 2)]]
    for mine, other in zip([*two, *two[2:]], [*three[:2], *three[3:4], three[3]], strict=True):
        np.testing.assert_array_equal(mine, other)
    blocks = split_into_blocks([150] * 3, len(weights) // 2, 2**28)
    for block, cells in zip(blocks, three, strict=True):
        np.testing.assert_array_equal(cells, find_minima(clouds, weights, None, block))


def test_arrays_that_a_function_holds_do_not_trouble_a_cache(cache):
    offset = np.arange(20_000.0)
    job = partial(summed, offset)
    first = list(cache.map(job, range(4), [cache.key(offset, k) for k in range(4)], run=processes(2)))
    np.testing.assert_array_equal(first, [summed(offset, k) for k in range(4)])


# --- Keys

parts = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=6,
)


def report(part):
    """Return the part with its type, because Python treats 1, 1.0 and True as equal."""
    return [report(each) for each in part] if isinstance(part, list) else (type(part).__name__, repr(part))


@pytest.mark.slow("compares the keys of many random parts")
@given(st.lists(parts, max_size=4), st.lists(parts, max_size=4))
def test_keys_are_equal_just_where_the_parts_are(a, b):
    assert (Cache.key(*a) == Cache.key(*b)) == (report(a) == report(b))


def test_keys_of_arrays_go_by_type_shape_and_content():
    array = np.arange(6.0)
    others = [array.astype(np.float32), array.reshape(2, 3), array.reshape(3, 2), -array, array[:5], array.tobytes()]
    assert len({Cache.key(each) for each in [array, *others]}) == 7
    assert Cache.key(array.reshape(2, 3)) == Cache.key(np.asfortranarray(array.reshape(2, 3)))
    assert Cache.key(np.array(2.0)) != Cache.key(np.array([2.0]))
    assert Cache.key(np.float64(2.0), np.int32(3)) == Cache.key(2.0, 3)
    with pytest.raises(
        InvalidValue, match="parts of a key must be None, bool, numbers, str, bytes, arrays or lists of these, not dict"
    ):
        Cache.key({"a": 1})
    with pytest.raises(InvalidValue, match="a cached array must hold numbers, not object"):
        Cache.open(".").put("k", np.array([None]))


def test_a_cache_in_a_file_is_refused(tmp_path):
    (tmp_path / "c").write_text("x")
    with pytest.raises(UnwritableFile, match="c: is a file, expected a folder for the cache"):
        Cache.open(tmp_path / "c")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no limit on the size of files")
def test_an_array_that_cannot_be_written_has_the_reason_of_the_system(cache):
    import resource

    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2**18, limits[1]))
    try:
        with pytest.raises(UnwritableFile, match=r"cannot be written \(file too large\)"):
            cache.put("k", np.zeros(2**16))
        with pytest.raises(UnwritableFile, match=r"cannot be written \(file too large\)"):
            next(processes(2)(partial(np.add, np.zeros(2**16)), [1.0]))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not any(cache.folder.rglob("*.part"))
