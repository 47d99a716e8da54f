"""Look up clips by name or number."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from marey.errors import UnknownName, similar


def find_clip(names: Sequence[str], clip: int | str, where: str, listed: str) -> int:
    """Return the index of a clip given by name or index.

    where, listed : for error messages: what contains the clips, and which attribute lists their names.
    """
    if isinstance(clip, str):
        if clip not in names:
            raise UnknownName(f"no clip {clip!r} in this {where}{similar(clip, names)}; see {listed}")
        return names.index(clip)
    try:
        k = int(np.asarray(clip).item()) if not isinstance(clip, bool) else None
    except (TypeError, ValueError):
        k = None
    if k is None or k != clip or not -len(names) <= k < len(names):
        raise UnknownName(f"clip must be a name or an index from 0 to {len(names) - 1}, not {clip!r}")
    return k % len(names)
