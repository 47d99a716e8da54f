"""More takes of one action: blends of recorded ones by chance, as further clips for a graph (Kovar figure 5.16)."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from marey.blend.blend import blend
from marey.core.annotations import add_provenance
from marey.core.arrays import check_index, check_number
from marey.core.motion import Motion
from marey.errors import InvalidValue, MareyWarning, NoResult
from marey.register import RegistrationCurve, register

_MOST_SPREAD = 1.5
# Metres up to which two clips of one label, in step, are takes of one action rather than two things of one name.
_ONE_ACTION = 0.12
# Takes that are blended with one another at the most; of more, some are chosen by chance.
_MOST_TAKES = 8


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
    count = check_index(n, "n")
    if count < 1:
        raise InvalidValue(f"expected at least 1 variation, got n={count}")
    wide = check_number(spread, "spread")
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
        out.append(add_provenance(made, "variation", **told))
    return tuple(out)


def more_takes(motions: Sequence[Motion], n: int, rng: int | np.random.Generator = 0) -> tuple[Motion, ...]:
    """n variations of each action that there are several takes of among clips, named after it.

    A clip's action is the label that it carries longest; clips of one action that can be brought in step, no further
    apart than walks of different speeds and bends, are its takes.

    Raises
    ------
    NoResult : where no two clips are takes of one action.
    """
    count = check_index(n, "variations")
    if count < 1:
        raise InvalidValue(f"expected at least 1 variation, got {count}")
    chance = np.random.default_rng(rng)
    numbers: Counter[str] = Counter()
    out: list[Motion] = []
    alone: list[str] = []
    for action, clips in _by_action(motions).items():
        for takes in _takes(clips, chance):
            if len(takes) < 2:
                alone += [motion.name for motion in takes]
                continue
            for made in variations(takes, count, chance):
                numbers[action] += 1
                out.append(replace(made, name=f"{action} variation {numbers[action]}"))
    if not out:
        raise NoResult(
            "no two of these clips are takes of one action that could be blended into variations; label those that "
            "are, or build without variations"
        )
    if alone:
        warnings.warn(f"there are no variations of {', '.join(alone)}, as no other clip is like it", MareyWarning, 3)
    return tuple(out)


def _by_action(motions: Sequence[Motion]) -> dict[str, list[Motion]]:
    """Clips by the label that each carries longest; of several, by the one that is carried longest by all clips."""
    lengths: list[Counter[str]] = []
    for motion in motions:
        lengths.append(
            Counter({name: int(motion.labels.mask(name, len(motion)).sum()) for name in motion.labels.names})
        )
    overall = sum(lengths, Counter[str]())
    out: dict[str, list[Motion]] = {}
    for motion, own in zip(motions, lengths, strict=True):
        action = max(own, key=lambda name: (own[name], overall[name], name), default="clip")
        out.setdefault(action, []).append(motion)
    return out


def _takes(clips: list[Motion], chance: np.random.Generator) -> list[list[Motion]]:
    """Clips that go together, group by group; of many, some by chance."""
    left = list(clips)
    out: list[list[Motion]] = []
    while left:
        first, *others = left
        group = [first, *(other for other in others if _go_together(first, other))]
        # Each goes with the first, but two of them may not go with each other.
        while len(group) > 2 and not _go_together(*group):
            group.pop()
        taken = {id(motion) for motion in group}
        left = [motion for motion in left if id(motion) not in taken]
        if len(group) > _MOST_TAKES:
            group = [group[k] for k in np.sort(chance.choice(len(group), _MOST_TAKES, replace=False))]
        out.append(group)
    return out


def _go_together(*motions: Motion) -> bool:
    try:
        register(motions, max_distance=_ONE_ACTION)
    except (NoResult, InvalidValue):
        return False
    return True
