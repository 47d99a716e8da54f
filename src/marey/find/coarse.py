"""Looking at every n-th frame first: closely only where the web of those frames is, and a little around it.

Kovar 6.2.2 refines chains and bridges of a coarse web one by one. Here the cells around the coarse web are compared at
full rate, block by block, and the rules are applied to these. The coarse rules are laxer: with every second to fourth
frame of 60 Hz at least 99 of 100 kept cells are found again, hardly any others, and of the matches of random stretches
at 5 and 10 cm at least 995 of 1,000. Comparing frames is so quick, and so much of capture is a little like the rest of
it, that this saves no time on any set tried: it takes 1.0 to 1.4 times as long as looking everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from marey.compare import Clouds
from marey.compare.pairing import Pairing, Span
from marey.core.arrays import Bools, Floats, set_readonly
from marey.find.cells import STEP, TOO_FAR, Units
from marey.find.match_web import WebOptions
from marey.find.region import Rules, kept_cells, quantise

# Coarse cells around the coarse web that are looked at too.
_PAD = 3
# Of the durations and distances of the rules, what the coarse ones take: chains that are shorter and less near do, and
# minima are extended further.
_CHAIN, _NEAR, _REACH = 0.6, 1.2, 2.0
# Fine cells along the side of a block that is compared as a whole.
_BLOCK = 64


@dataclass(frozen=True, slots=True)
class Coarse:
    """Every `step`-th frame first; `rules` are for these, `pad` is how many cells around their web are looked at."""

    step: int
    rules: Rules
    pad: int = _PAD

    @classmethod
    def of(cls, step: int, options: WebOptions, fps: float) -> Coarse:
        """For clips of `fps` frames a second."""
        rules = Rules.of(
            fps / step,
            options.alpha,
            _REACH * options.reach,
            _CHAIN * options.chain,
            min(_NEAR * options.near, TOO_FAR * STEP),
            options.bridge,
            options.limit,
            _CHAIN * options.level,
        )
        return cls(step, rules)

    def values(self, ours: Clouds, theirs: Clouds, weights: Floats, span: Span) -> tuple[Units, Bools]:
        """Roots of D in units where there is reason to look, `TOO_FAR` elsewhere; and where that is, both (R, C)."""
        out = np.full((span[1] - span[0], span[3] - span[2]), TOO_FAR, dtype=np.uint16)
        allowed = self._allowed(ours, theirs, weights, span)
        pairing = Pairing(ours, theirs, weights)
        for top in range(0, len(out), _BLOCK):
            bottom = min(top + _BLOCK, len(out))
            for left, right in _blocks(np.asarray(allowed[top:bottom].any(axis=0))):
                distances = np.empty((bottom - top, right - left))
                pairing.fill(distances, (span[0] + top, span[0] + bottom, span[2] + left, span[2] + right), 1)
                out[top:bottom, left:right] = quantise(distances)
        return out, allowed

    def _allowed(self, ours: Clouds, theirs: Clouds, weights: Floats, span: Span) -> Bools:
        """(R, C) the cells next to a kept cell of the coarse grid."""
        step, half = self.step, len(weights) // 2
        few = weights[half % step :: step]
        pairing = Pairing(_every(ours, step), _every(theirs, step), set_readonly(few / few.sum()))
        rows, columns = (_nearest(n, step, len(c)) for n, c in ((span[:2], pairing.a), (span[2:], pairing.b)))
        part = (int(rows[0]), int(rows[-1]) + 1, int(columns[0]), int(columns[-1]) + 1)
        distances = np.empty((part[1] - part[0], part[3] - part[2]))
        pairing.fill(distances, part, 1)
        kept = _padded(kept_cells(quantise(distances), self.rules), self.pad)
        return np.asarray(kept[np.ix_(rows - part[0], columns - part[2])])


def _every(clouds: Clouds, step: int) -> Clouds:
    return replace(clouds, points=set_readonly(clouds.points[::step].copy()), fps=clouds.fps / step, contacts=None)


def _nearest(frames: tuple[int, int], step: int, most: int) -> np.ndarray:
    """For each of the frames the coarse one that is nearest."""
    return np.minimum((np.arange(*frames) + step // 2) // step, most - 1)


def _padded(kept: Bools, pad: int) -> Bools:
    """With `pad` cells more to all sides."""
    out = kept.copy()
    for _ in range(pad):
        grown = out.copy()
        grown[1:] |= out[:-1]
        grown[:-1] |= out[1:]
        out = grown.copy()
        out[:, 1:] |= grown[:, :-1]
        out[:, :-1] |= grown[:, 1:]
    return out


def _blocks(wanted: Bools) -> list[tuple[int, int]]:
    """Runs of whole blocks of columns in which any is wanted."""
    n = len(wanted)
    has = np.add.reduceat(wanted, np.arange(0, n, _BLOCK)) > 0
    edges = np.flatnonzero(np.diff(np.concatenate([[0], has.astype(np.int8), [0]])))
    return [(int(a) * _BLOCK, min(int(b) * _BLOCK, n)) for a, b in zip(edges[::2], edges[1::2], strict=True)]
