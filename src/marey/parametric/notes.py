"""Notes of a build about its examples: unique names, and which were left out."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from marey.core.arrays import Ints
from marey.core.motion import Motion
from marey.errors import MareyWarning
from marey.register.registration import RegistrationCurve

__all__ = ["filter_notes", "make_names_unique", "restore_names", "warn_left_out"]


def make_names_unique(motions: Sequence[Motion]) -> tuple[Motion, ...]:
    """Number the motions that have no name or the same name, so that names are unique."""
    times = Counter(motion.name for motion in motions)
    return tuple(
        motion if motion.name and times[motion.name] == 1 else replace(motion, name=_number_name(motion.name, j))
        for j, motion in enumerate(motions)
    )


def _number_name(name: str, j: int) -> str:
    return f"{name} (motion {j})" if name else f"motion {j}"


def restore_names(reg: RegistrationCurve, given: Sequence[Motion], indices: Ints) -> RegistrationCurve:
    """Restore the original names of motions `indices` in a registration."""
    names = [given[int(j)].name for j in indices]
    if all(motion.name == name for motion, name in zip(reg.motions, names, strict=True)):
        return reg
    return replace(
        reg, motions=tuple(replace(motion, name=name) for motion, name in zip(reg.motions, names, strict=True))
    )


def filter_notes(notes: Iterable[str], left_out: Iterable[Motion]) -> tuple[str, ...]:
    """The notes without those about motions that were left out later."""
    gone = [repr(motion.name) for motion in left_out]
    return tuple(
        note
        for note in notes
        if " is left out: " in note or not any(note.startswith((f"contacts of {n} ", f"{n} ")) for n in gone)
    )


def warn_left_out(notes: Iterable[str], n_given: int, *, stacklevel: int) -> None:
    """Warn with the notes that say why motions were left out, if there are any."""
    reasons = [note.replace(" is left out: ", ": ", 1) for note in notes if " is left out: " in note]
    if reasons:
        verb = "is" if len(reasons) == 1 else "are"
        warnings.warn(
            f"{len(reasons)} of {n_given} examples {verb} left out: {'; '.join(reasons)}",
            MareyWarning,
            stacklevel=stacklevel + 1,
        )
