"""Every reader on hundreds of damaged files: a motion or a typed error, soon, and in little memory.

Damage: cut off at every kilobyte, bytes flipped, words swapped, doubled, lost, or replaced by extreme numbers. Seeded,
so that a failure comes again. A case may take 2 s of processor time and 20 times the file's size plus 64 MB.
"""

import signal
import tracemalloc
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import marey
from marey.core import Markers, Motion
from marey.errors import MareyError
from marey.samples import straight_walk
from tests.io.make_c3d import c3d_bytes
from tests.io.test_asf_amc import AMC, ASF

CPU_SECONDS = 2
N_MUTATIONS = 200
EXTREMES = [b"nan", b"-1", b"1e999", b"99999999999999999999", b"0", b"", b"\xff\xfe", b"{", b"}", b"1,5", b"-", b"\x00"]

WALK = straight_walk(seconds=0.5)


def a_bvh(folder: Path) -> Path:
    marey.save(WALK[:6], folder / "walk.bvh")
    return folder / "walk.bvh"


def an_amc(folder: Path) -> Path:
    (folder / "stick.asf").write_text(ASF)
    (folder / "stick.amc").write_text(AMC)
    return folder / "stick.amc"


def an_asf(folder: Path) -> Path:
    (folder / "stick.asf").write_text(ASF)
    return folder / "stick.asf"


def a_glb(folder: Path) -> Path:
    marey.save([WALK[:6]], folder / "walk.glb", body=False)
    return folder / "walk.glb"


def an_npz(folder: Path) -> Path:
    marey.save(WALK[:12], folder / "walk.npz")
    return folder / "walk.npz"


def a_c3d(folder: Path) -> Path:
    (folder / "walk.c3d").write_bytes(c3d_bytes())
    return folder / "walk.c3d"


def a_sidecar(folder: Path) -> Path:
    marey.save(WALK[:6], folder / "walk.bvh")
    return folder / "walk.marey.json"


MAKERS = [a_bvh, an_amc, an_asf, a_glb, an_npz, a_c3d, a_sidecar]


def mutations(data: bytes, rng: np.random.Generator) -> Iterator[bytes]:
    """The damaged files: all truncations at a kilobyte, then `N_MUTATIONS` random ones."""
    for size in range(0, len(data), 1024):
        yield data[:size]
    for _ in range(N_MUTATIONS):
        changed = bytearray(data)
        for _ in range(int(rng.integers(1, 5))):
            damage(changed, rng)
        yield bytes(changed)


def damage(data: bytearray, rng: np.random.Generator) -> None:
    """One random change in place."""
    at = int(rng.integers(0, max(len(data), 1)))
    length = int(rng.integers(1, 40))
    kind = int(rng.integers(0, 7))
    if kind == 0:
        for k in range(at, min(at + length // 8 + 1, len(data))):
            data[k] ^= 1 << int(rng.integers(0, 8))
    elif kind == 1:
        del data[at : at + length]
    elif kind == 2:
        data[at:at] = data[at : at + length] * int(rng.integers(1, 4))
    elif kind == 3:
        del data[at:]
    elif kind == 4:
        data[at:at] = rng.bytes(length)
    elif kind == 5:
        data[at : at + 4] = [b"\xff\xff\xff\xff", b"\x00\x00\x00\x80", b"\xff\xff\xff\x7f"][int(rng.integers(0, 3))]
    else:
        swap_words(data, rng)


def swap_words(data: bytearray, rng: np.random.Generator) -> None:
    """Exchange two words of a line-based file, or put something extreme in a word's place."""
    words = bytes(data).split(b" ")
    i, j = (int(k) for k in rng.integers(0, len(words), 2))
    if rng.random() < 0.5:
        words[i], words[j] = words[j], words[i]
    else:
        words[i] = EXTREMES[int(rng.integers(0, len(EXTREMES)))]
    data[:] = b" ".join(words)


class TooSlow(BaseException):
    """Not an Exception: nothing in the library may swallow it."""


@contextmanager
def bounded(n_bytes: int) -> Iterator[None]:
    """Stop what uses more processor time or memory than it may."""

    def stop(*_: object) -> None:
        raise TooSlow(f"more than {CPU_SECONDS} s of processor time")

    before = signal.signal(signal.SIGVTALRM, stop)
    tracemalloc.reset_peak()
    start = tracemalloc.get_traced_memory()[0]
    signal.setitimer(signal.ITIMER_VIRTUAL, CPU_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    used = tracemalloc.get_traced_memory()[1] - start
    assert used <= 20 * n_bytes + 64 * 2**20, f"{used / 2**20:.0f} MB for a file of {n_bytes} bytes"


@pytest.fixture
def _traced() -> Iterator[None]:
    tracemalloc.start()
    yield
    tracemalloc.stop()


@pytest.mark.usefixtures("_traced")
@pytest.mark.parametrize("maker", MAKERS, ids=lambda maker: maker.__name__)
def test_damaged_files_give_a_motion_or_a_typed_error(tmp_path: Path, maker) -> None:
    path = maker(tmp_path)
    target = path.with_suffix("").with_suffix(".bvh") if path.suffix == ".json" else path
    rng = np.random.default_rng([ord(c) for c in maker.__name__])
    original = path.read_bytes()
    marey.load(target)  # the undamaged file is fine, and kernels are loaded before anything is measured
    n_cases = n_errors = 0
    for data in mutations(original, rng):
        path.write_bytes(data)
        n_cases += 1
        with warnings.catch_warnings(), bounded(len(data)):
            warnings.simplefilter("ignore")
            try:
                value = marey.load(target)
            except MareyError as error:
                n_errors += 1
                text = str(error)
                assert text
                assert "\n" not in text
                assert len(text) < 600, text
                continue
        check_sound(value)
    assert n_cases >= N_MUTATIONS
    assert n_errors > 0


def check_sound(value: Motion | Markers) -> None:
    """What came out of a damaged file is at least a value that can be worked with."""
    if isinstance(value, Markers):
        assert np.isfinite(value.positions).all()
        return
    assert len(value) > 0
    assert value.fps > 0
    assert np.isfinite(value.rotations).all()
