"""Contacts: which points of the body touch something, in each frame (Kovar 1.1.2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from marey.core.arrays import (
    Bools,
    Floats,
    FrozenRecord,
    check_index,
    find_runs,
    freeze_array,
    is_readonly,
    set_readonly,
)
from marey.deprecation import renamed_methods
from marey.errors import InvalidValue, UnknownName, similar


@dataclass(frozen=True, slots=True, eq=False)
class ContactPoint(FrozenRecord):
    """A point attached to a joint: `offset` (3,) in meters, in the joint's own coordinate frame.

    Examples
    --------
    >>> heel = walk.contacts.points[0]
    >>> heel.name, walk.skeleton.names[heel.joint], heel.offset.shape
    ('left_heel', 'LeftFoot', (3,))
    >>> tip = marey.ContactPoint("left_tip", joint=walk.skeleton.roles["left_toe_tip"], offset=[0.0, 0.0, 0.01])
    """

    name: str
    joint: int
    offset: Floats

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise InvalidValue(f"the name of a contact point must be a non-empty string, not {self.name!r}")
        joint = check_index(self.joint, f"the joint of contact point {self.name!r}")
        if joint < 0:
            raise InvalidValue(f"joint of contact point {self.name!r} must be a joint index of at least 0, not {joint}")
        self._put(joint=joint, offset=freeze_array(self.offset, f"offset of contact point {self.name!r}", (3,)))


@renamed_methods(sliced="crop")
@dataclass(frozen=True, slots=True, eq=False)
class Contacts(FrozenRecord):
    """K named points, and a mask (F, K) that is True where a point is in contact.

    Examples
    --------
    >>> walk.contacts.names
    ('left_heel', 'left_ball', 'right_heel', 'right_ball')
    >>> walk.contacts.mask.shape
    (241, 4)
    >>> walk.contacts.intervals("left_heel")[:2]
    ((25, 46), (90, 112))
    """

    points: tuple[ContactPoint, ...]
    mask: Bools

    def __post_init__(self) -> None:
        points = tuple(self.points)
        names = [point.name for point in points]
        if len(set(names)) != len(names):
            raise InvalidValue(f"contact points must have different names, not {', '.join(names)}")
        self._put(points=points, mask=freeze_array(self.mask, "contact mask", (None, len(points)), np.bool_))

    def __len__(self) -> int:
        return len(self.mask)

    @property
    def names(self) -> tuple[str, ...]:
        """The points' names, in the order of the mask's columns."""
        return tuple(point.name for point in self.points)

    def index(self, name: str) -> int:
        """Return the column of the named point in `mask`."""
        try:
            return self.names.index(name)
        except ValueError:
            known = f"the contact points are {', '.join(self.names)}" if self.names else "there are no contact points"
            raise UnknownName(f"no contact point {name!r}; {known}{similar(str(name), self.names)}") from None

    def intervals(self, name: str) -> tuple[tuple[int, int], ...]:
        """Return the frames in contact as half-open (start, stop) pairs, in order.

        Examples
        --------
        >>> start, stop = walk.contacts.intervals("left_ball")[0]
        >>> bool(walk.contacts.mask[start:stop, walk.contacts.index("left_ball")].all())
        True
        """
        return tuple(find_runs(self.mask[:, self.index(name)]))

    @classmethod
    def from_intervals(
        cls,
        points: Iterable[ContactPoint],
        intervals: Mapping[str, Iterable[tuple[int, int]]],
        n_frames: int,
    ) -> Contacts:
        """Build contacts from half-open intervals, keyed by point name; points without intervals have no contact.

        Examples
        --------
        >>> contacts = marey.Contacts.from_intervals(walk.contacts.points, {"left_heel": [(10, 30)]}, n_frames=60)
        >>> contacts.mask.shape, contacts.intervals("left_heel")
        ((60, 4), ((10, 30),))
        """
        points = tuple(points)
        if check_index(n_frames, "n_frames") < 0:
            raise InvalidValue(f"n_frames must be at least 0, not {n_frames}")
        empty = cls(points, np.zeros((n_frames, len(points)), dtype=bool))
        mask = empty.mask.copy()
        for name, spans in intervals.items():
            column = empty.index(name)
            for ends in spans:
                start, stop = (check_index(end, f"start and stop of a contact of {name!r}") for end in ends)
                if not 0 <= start < stop <= n_frames:
                    raise InvalidValue(
                        f"a contact of {name!r} must have 0 <= start < stop <= {n_frames} (the number of frames), "
                        f"not {start} to {stop}"
                    )
                mask[start:stop, column] = True
        return cls(points, set_readonly(mask))

    def with_flags(self, flags: Bools) -> Contacts:
        """Return a single frame of the same points, whose contact flags are `flags` (K,); a read-only array is not
        copied."""
        if flags.dtype == np.bool_ and flags.shape == (len(self.points),) and is_readonly(flags):
            return Contacts._build_unchecked(self.points, flags[None])
        return Contacts(self.points, flags[None])

    def crop(self, start: int, stop: int) -> Contacts:
        """Return the contacts of frames `start` to `stop`."""
        return Contacts._build_unchecked(self.points, self.mask[start:stop])
