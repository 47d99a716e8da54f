"""The skeleton: named joints, their parents and their offsets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np

from marey.core.arrays import Bools, Floats, FrozenRecord, Ints, check_index, check_names, freeze_array, set_readonly
from marey.core.roles import Roles, find_cached_roles
from marey.errors import InvalidValue, JointNotFound, similar


@dataclass(frozen=True, slots=True, eq=False)
class Skeleton(FrozenRecord):
    """A tree of J joints (Kovar 1.1.1).

    Parameters
    ----------
    names : J distinct, non-empty names.
    parents : (J,) index of each joint's parent, always smaller than the joint's own; -1 for joint 0 alone.
    offsets : (J, 3) meters, position of each joint in its parent's frame. In the rest pose all rotations are identity.
    role_map : role to joint name; overrides the automatic `roles`.

    End Sites are joints too: leaves without rotation, named ``<Parent>End``.

    Examples
    --------
    >>> skeleton = marey.Skeleton(("hips", "knee"), parents=[-1, 0], offsets=[[0, 0, 0], [0, -0.4, 0]])
    >>> skeleton.bone_lengths
    array([0. , 0.4])
    >>> walk.skeleton.index("LeftFoot")
    19
    """

    names: tuple[str, ...]
    parents: Ints
    offsets: Floats
    role_map: Mapping[str, str] = field(default_factory=dict)
    _roles: Roles | None = field(default=None, init=False, repr=False)
    _end_sites: Bools | None = field(default=None, init=False, repr=False)
    _rest_positions: Floats | None = field(default=None, init=False, repr=False)
    _bone_lengths: Floats | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        names = check_names(self.names, "joint")
        n = len(names)
        if n == 0:
            raise InvalidValue("a skeleton needs at least one joint")
        parents = freeze_array(self.parents, "parents", (n,), np.int64)
        if parents[0] != -1:
            raise InvalidValue(f"the parent of joint 0 (the root) must be -1, not {parents[0]}")
        wrong = np.flatnonzero((parents[1:] < 0) | (parents[1:] >= np.arange(1, n))) + 1
        if wrong.size:
            j = int(wrong[0])
            raise InvalidValue(
                f"parents must come before children, but {names[j]!r} (joint {j}) has parent {parents[j]}"
            )
        self._put(names=names, parents=parents, role_map=MappingProxyType(dict(self.role_map)))
        self._freeze(offsets=(n, 3))
        if self.role_map:
            _ = self.roles  # raises here, not at first use, if the map has unknown joints or roles

    def __len__(self) -> int:
        return len(self.names)

    @property
    def roles(self) -> Roles:
        """The role of each joint, found once by name, then by structure; see `Roles`."""
        if self._roles is None:
            arrays = self.parents.tobytes(), self.offsets.tobytes()
            found = find_cached_roles(self.names, *arrays, tuple(self.role_map.items()))
            self._put(_roles=found)
            return found
        return self._roles

    def with_roles(self, role_map: Mapping[str, str]) -> Skeleton:
        """Return the same skeleton with some roles set explicitly: ``{"left_hand": "Hand_L"}``.

        Examples
        --------
        >>> skeleton = walk.skeleton.with_roles({"left_hand": "LeftForeArm"})
        >>> skeleton.names[skeleton.roles["left_hand"]]
        'LeftForeArm'
        """
        return replace(self, role_map={**self.role_map, **role_map})

    def index(self, name: str) -> int:
        """Return the joint's index; an unknown name raises `JointNotFound`, which suggests similar names.

        Examples
        --------
        >>> walk.skeleton.index("LeftHand")
        10
        """
        try:
            return self.names.index(name)
        except ValueError:
            raise JointNotFound(f"joint {name!r} not in skeleton{similar(str(name), self.names)}") from None

    @property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The children of each joint, in order."""
        lists: list[list[int]] = [[] for _ in self.names]
        for j, parent in enumerate(self.parents[1:].tolist(), start=1):
            lists[parent].append(j)
        return tuple(tuple(c) for c in lists)

    @property
    def is_end_site(self) -> Bools:
        """Mask (J,): True for joints named ``<Parent>End`` (or ``<Parent>End2``, ...) if all their children are too."""
        if self._end_sites is not None:
            return self._end_sites
        flags = np.ones(len(self), dtype=bool)
        for j in range(len(self) - 1, 0, -1):
            flags[j] &= is_end_name(self.names[j], self.names[self.parents[j]])
            flags[self.parents[j]] &= flags[j]
        flags[0] = False
        self._put(_end_sites=set_readonly(flags))
        return flags

    def is_below(self, joint: int) -> Bools:
        """Return a mask (J,) that is True for a joint and all its descendants."""
        flags = np.zeros(len(self), dtype=bool)
        flags[check_index(joint, "a joint")] = True
        for j, parent in enumerate(self.parents.tolist()):
            flags[j] |= parent >= 0 and flags[parent]
        return flags

    @property
    def rest_positions(self) -> Floats:
        """Joint positions (J, 3) in the rest pose, in meters, with joint 0 at the origin."""
        if self._rest_positions is None:
            placed = [[0.0, 0.0, 0.0]]  # plain numbers are faster than rows of arrays
            for (x, y, z), parent in zip(self.offsets[1:].tolist(), self.parents[1:].tolist(), strict=True):
                u, v, w = placed[parent]
                placed.append([x + u, y + v, z + w])
            positions: Floats = set_readonly(np.array(placed))
            self._put(_rest_positions=positions)
            return positions
        return self._rest_positions

    @property
    def bone_lengths(self) -> Floats:
        """Distance (J,) from each joint to its parent, in meters; 0 for the root."""
        if self._bone_lengths is None:
            lengths: Floats = np.linalg.norm(self.offsets, axis=1)
            lengths[0] = 0.0
            self._put(_bone_lengths=set_readonly(lengths))
            return lengths
        return self._bone_lengths

    def chain(self, joint: int) -> tuple[int, ...]:
        """Return the joints from the root down to `joint`, both included.

        Examples
        --------
        >>> [walk.skeleton.names[joint] for joint in walk.skeleton.chain(walk.skeleton.index("LeftUpLeg"))]
        ['Hips', 'LeftUpLeg']
        """
        path = [check_index(joint, "a joint")]
        if not 0 <= path[0] < len(self):
            raise JointNotFound(f"joint must be an index from 0 to {len(self) - 1}, not {joint}")
        while (parent := int(self.parents[path[-1]])) >= 0:
            path.append(parent)
        return tuple(reversed(path))

    def fits(self, other: Skeleton) -> bool:
        """Return whether names and parents of both skeletons are the same; offsets may differ."""
        return self.names == other.names and bool(np.array_equal(self.parents, other.parents))


def end_name(parent: str, taken: Iterable[str]) -> str:
    """Return an unused name for an End Site under `parent`: ``ToeEnd``, or ``ToeEnd2`` if that is taken."""
    used = set(taken)
    name, n = f"{parent}End", 2
    while name in used:
        name, n = f"{parent}End{n}", n + 1
    return name


def is_end_name(name: str, parent: str) -> bool:
    """Return whether `name` is a name that `end_name` can return for `parent`."""
    return name.startswith(parent) and _END.fullmatch(name[len(parent) :]) is not None


_END = re.compile(r"End(?:[2-9]|[1-9][0-9]+)?")
