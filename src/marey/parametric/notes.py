"""Notes about the examples of a space: make their names unique, and report which were left out."""

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
    """Make names unique: add a number to motions that have no name or the same name as another."""
    times = Counter(motion.name for motion in motions)
    return tuple(
        motion if motion.name and times[motion.name] == 1 else replace(motion, name=_number_name(motion.name, j))
        for j, motion in enumerate(motions)
    )


def _number_name(name: str, j: int) -> str:
    return f"{name} (motion {j})" if name else f"motion {j}"


def restore_names(reg: RegistrationCurve, given: Sequence[Motion], indices: Ints) -> RegistrationCurve:
    """Restore the original names of a registration's motions; `indices` are their indices in `given`."""
    names = [given[int(j)].name for j in indices]
    if all(motion.name == name for motion, name in zip(reg.motions, names, strict=True)):
        return reg
    return replace(
        reg, motions=tuple(replace(motion, name=name) for motion, name in zip(reg.motions, names, strict=True))
    )


def filter_notes(notes: Iterable[str], left_out: Iterable[Motion]) -> tuple[str, ...]:
    """Return the notes without those about motions that were left out, except the reason for leaving them out."""
    gone = [repr(motion.name) for motion in left_out]
    return tuple(
        note
        for note in notes
        if " is left out: " in note or not any(note.startswith((f"contacts of {n} ", f"{n} ")) for n in gone)
    )


def warn_left_out(notes: Iterable[str], n_given: int, *, stacklevel: int) -> None:
    """Issue a warning with the reasons why motions were left out, if there are any."""
    reasons = [note.replace(" is left out: ", ": ", 1) for note in notes if " is left out: " in note]
    if reasons:
        verb = "is" if len(reasons) == 1 else "are"
        warnings.warn(
            f"{len(reasons)} of {n_given} examples {verb} left out: {'; '.join(reasons)}",
            MareyWarning,
            stacklevel=stacklevel + 1,
        )
