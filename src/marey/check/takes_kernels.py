"""Find poses of a clip that recur."""

from __future__ import annotations

from marey.compiled import Bools1D, Floats1D, Floats2D, Ints1D, Out, kernel


@kernel
def find_recurring(
    vectors: Floats2D,
    times: Floats1D,
    sums: Floats1D,
    order: Ints1D,
    radius: float,
    apart: float,
    recurs: Out[Bools1D],
) -> None:
    """Set `recurs` (n,) for vectors (n, m) closer than `radius` to one whose time differs by more than `apart`.

    Only vectors whose components have about the same sum can be this close, so few pairs are compared in full.

    sums : (n,) sums of the components, divided by the square root of m. order : (n,) indices that sort them.
    """
    limit = radius * radius
    recurs[:] = False
    for a in range(len(order)):
        i = order[a]
        for b in range(a + 1, len(order)):
            j = order[b]
            if sums[j] > sums[i] + radius:
                break
            if abs(times[i] - times[j]) <= apart or (recurs[i] and recurs[j]):
                continue
            total = 0.0
            for k in range(vectors.shape[1]):
                total += (vectors[i, k] - vectors[j, k]) * (vectors[i, k] - vectors[j, k])
                if total >= limit:
                    break
            if total < limit:
                recurs[i] = recurs[j] = True
