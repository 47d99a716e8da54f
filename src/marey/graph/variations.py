"""Make random blends of recorded takes of one action, as extra clips for a graph (Kovar figure 5.16)."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from marey.blend.blend import blend
from marey.core.annotations import add_provenance
from marey.core.arrays import check_index
from marey.core.feet import feet_from_flag
from marey.core.motion import Motion
from marey.core.settings import operation
from marey.deprecation import renamed_parameters
from marey.errors import InvalidValue, MareyWarning, NoResult
from marey.graph.settings import SpreadSettings, VariationSettings
from marey.register import RegistrationCurve, register

# Two clips of one label are takes of one action if their registered distance is at most this, in meters.
_ONE_ACTION = 0.12
# Maximum number of takes that are blended together; larger groups are reduced to a random subset.
_MAX_TAKES = 8


@renamed_parameters(enforce=("feet", feet_from_flag))
@operation(VariationSettings, positional=("rng",))
def variations(
    motions: Sequence[Motion] | RegistrationCurve, n: int, settings: VariationSettings
) -> tuple[Motion, ...]:
    """Blend takes of one action with random weights; the same seed gives the same result.

    Each blend is named after the takes and its number. Its provenance lists the weights and which frames of which take
    were used. Pass the takes and their variations together to `MotionGraph.build`.

    Parameters
    ----------
    motions : two or more takes, which are registered (time-aligned) with default settings, or a registration.
    n : number of blends.

    Raises
    ------
    NotBlendable, NoTimewarp : if the takes cannot be blended; see `marey.register`.

    Examples
    --------
    >>> new = marey.graph.variations(kicks[:3], 2, rng=0)
    >>> len(new), new[0].source.provenance[-1]["op"]
    (2, 'variation')
    """
    count = check_index(n, "n")
    if count < 1:
        raise InvalidValue(f"n, the number of variations, must be at least 1, not {count}")
    reg = motions if isinstance(motions, RegistrationCurve) else register(motions)
    generator = np.random.default_rng(settings.rng)
    even = 1.0 / reg.n_motions
    takes = [motion.name for motion in reg.motions]
    out = []
    for k in range(count):
        weights = even + settings.spread * (generator.dirichlet(np.ones(reg.n_motions)) - even)
        motion = blend(reg, weights, feet=settings.feet, name=f"{' + '.join(takes)} #{k + 1}")
        record = {"takes": takes, "weights": weights.tolist(), "spread": settings.spread, "number": k + 1, "of": count}
        out.append(add_provenance(motion, "variation", **record))
    return tuple(out)


@operation(SpreadSettings)
def more_takes(motions: Sequence[Motion], n: int, settings: SpreadSettings) -> tuple[Motion, ...]:
    """Make n variations of each action that has several takes among the clips, named after the action.

    A clip's action is the label it carries longest. Clips of one action are its takes if they can be registered with a
    distance of at most 0.12 m, which is typical of walks with different speeds and curvatures.

    Raises
    ------
    NoResult : if no two clips are takes of one action.

    Examples
    --------
    >>> takes = marey.graph.more_takes([walk, turning], 2)
    >>> len(takes)
    2
    """
    count = check_index(n, "variations")
    if count < 1:
        raise InvalidValue(f"n, the number of variations, must be at least 1, not {count}")
    generator = np.random.default_rng(settings.rng)
    numbers: Counter[str] = Counter()
    out: list[Motion] = []
    alone: list[str] = []
    for action, clips in _group_by_action(motions).items():
        for takes in _group_takes(clips, generator):
            if len(takes) < 2:
                alone += [motion.name for motion in takes]
                continue
            for motion in variations(takes, count, rng=generator, spread=settings.spread):
                numbers[action] += 1
                out.append(replace(motion, name=f"{action} variation {numbers[action]}"))
    if not out:
        raise NoResult(
            "found no two takes of the same action that can be blended into variations; give all takes of an action "
            "the same label, or build without variations"
        )
    if alone:
        warnings.warn(
            f"no variations of {', '.join(alone)}, because no other clip is similar; add another take", MareyWarning, 3
        )
    return tuple(out)


def _group_by_action(motions: Sequence[Motion]) -> dict[str, list[Motion]]:
    """Group clips by the label that each carries longest; ties go to the label that is longest over all clips."""
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


def _group_takes(clips: list[Motion], generator: np.random.Generator) -> list[list[Motion]]:
    """Group clips that can be blended together; large groups are reduced to a random subset."""
    left = list(clips)
    out: list[list[Motion]] = []
    while left:
        first, *others = left
        group = [first, *(other for other in others if _can_blend(first, other))]
        # Each can be blended with the first, but maybe not with each other.
        while len(group) > 2 and not _can_blend(*group):
            group.pop()
        taken = {id(motion) for motion in group}
        left = [motion for motion in left if id(motion) not in taken]
        if len(group) > _MAX_TAKES:
            group = [group[k] for k in np.sort(generator.choice(len(group), _MAX_TAKES, replace=False))]
        out.append(group)
    return out


def _can_blend(*motions: Motion) -> bool:
    try:
        register(motions, max_distance=_ONE_ACTION)
    except (NoResult, InvalidValue):
        return False
    return True
