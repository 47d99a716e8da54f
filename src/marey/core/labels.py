"""Labels: named frame ranges of a motion."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from marey.core.arrays import Bools, check_index, set_readonly
from marey.deprecation import renamed_methods
from marey.errors import InvalidValue


class Label(NamedTuple):
    """A name for frames `start` to `stop`, half-open.

    Examples
    --------
    >>> marey.Label("left turn", start=30, stop=90)
    Label(name='left turn', start=30, stop=90)
    """

    name: str
    start: int
    stop: int


@renamed_methods(sliced="crop")
@dataclass(frozen=True, slots=True)
class Labels:
    """Any number of labels, sorted by start; they may overlap.

    Instances are compared by value; classes that hold arrays are compared by identity.

    Examples
    --------
    >>> labels = marey.Labels((marey.Label("walk", 0, 120), marey.Label("wave", 60, 90)))
    >>> labels.at(70)
    ('walk', 'wave')
    >>> labels.mask("wave", n_frames=120).shape
    (120,)
    """

    items: tuple[Label, ...] = ()

    def __post_init__(self) -> None:
        labels = sorted((_check_label(item) for item in self.items), key=lambda label: (*label[1:], label.name))
        object.__setattr__(self, "items", tuple(labels))

    def __iter__(self) -> Iterator[Label]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    @property
    def names(self) -> tuple[str, ...]:
        """The distinct names, sorted."""
        return tuple(sorted({item.name for item in self.items}))

    def at(self, frame: int) -> tuple[str, ...]:
        """Return the names of the labels that include `frame`, sorted."""
        return tuple(sorted({item.name for item in self.items if item.start <= frame < item.stop}))

    def mask(self, name: str, n_frames: int) -> Bools:
        """Return a mask (F,) that is True in frames with the label `name`."""
        mask = np.zeros(n_frames, dtype=bool)
        for item in self.items:
            if item.name == name:
                mask[item.start : item.stop] = True
        return set_readonly(mask)

    def crop(self, start: int, stop: int) -> Labels:
        """Return the labels of frames `start` to `stop`: clamped to this range and counted from `start`."""
        remaining: Iterable[Label] = (
            Label(item.name, max(item.start, start) - start, min(item.stop, stop) - start)
            for item in self.items
            if item.start < stop and item.stop > start
        )
        return Labels(tuple(remaining))


def _check_label(item: Iterable[object]) -> Label:
    parts = tuple(item)
    if len(parts) != 3:
        raise InvalidValue(f"a label must be (name, start, stop), not {parts!r}")
    name = parts[0]
    if not isinstance(name, str) or not name:
        raise InvalidValue(f"name of a label must be a non-empty string, not {name!r}")
    if any("\ud800" <= letter <= "\udfff" for letter in name):
        raise InvalidValue(f"name of a label must be valid Unicode, not {name!a}")
    start, stop = (check_index(end, f"the ends of label {name!r}") for end in parts[1:])
    if not 0 <= start < stop:
        raise InvalidValue(f"label {name!r} must have 0 <= start < stop, not {start} to {stop}")
    return Label(name, start, stop)
