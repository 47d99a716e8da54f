"""More takes of one action: blends of recorded ones by chance, as further clips for a graph (Kovar figure 5.16)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from marey.blend.blend import blend
from marey.core._arrays import checked_index
from marey.core.motion import Motion
from marey.edit._notes import checked_number, recorded
from marey.errors import InvalidValue
from marey.register import RegistrationCurve, register

_MOST_SPREAD = 1.5


def variations(
    motions: Sequence[Motion] | RegistrationCurve,
    n: int,
    rng: int | np.random.Generator = 0,
    *,
    spread: float = 1.0,
    enforce: bool = True,
) -> tuple[Motion, ...]:
    """n blends of takes of one action, each with its own weights by chance; the same seed gives the same.

    Each is named after the takes and its number. Its provenance tells the weights, and which frames of which take went
    into it. Give the takes and their variations together to `MotionGraph.build`.

    Parameters
    ----------
    motions : two or more takes, which are registered with the defaults of `marey.register`, or a registration.
    spread : how far from the mean of the takes: 0 gives the mean every time, 1 any mixture as likely as any other, and
        up to 1.5 goes beyond the takes by that much.
    enforce : hold contacts in place by a cleanup.

    Raises
    ------
    NotBlendable, NoTimewarp : where the takes do not go together; see `marey.register`.
    """
    count = checked_index(n, "n")
    if count < 1:
        raise InvalidValue(f"expected at least 1 variation, got n={count}")
    wide = checked_number(spread, "spread")
    if wide > _MOST_SPREAD:
        raise InvalidValue(f"spread is at most {_MOST_SPREAD}, beyond which blends fall apart, got {wide:g}")
    reg = motions if isinstance(motions, RegistrationCurve) else register(motions)
    chance = np.random.default_rng(rng)
    even = 1.0 / reg.n_motions
    takes = [motion.name for motion in reg.motions]
    out = []
    for k in range(count):
        weights = even + wide * (chance.dirichlet(np.ones(reg.n_motions)) - even)
        made = blend(reg, weights, enforce=enforce, name=f"{' + '.join(takes)} #{k + 1}")
        told = {"takes": takes, "weights": weights.tolist(), "spread": wide, "number": k + 1, "of": count}
        out.append(recorded(made, "variation", **told))
    return tuple(out)
