"""The roles of the joints in a human skeleton: hips, left hand, right toe tip."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marey.core.arrays import FrozenRecord
from marey.core.joint_tree import JointTree, find_fingertips, find_hips, find_toes
from marey.core.role_profiles import PROFILES, SIDES, NameParts, Profile, joints_like, read_names, roles_by_words
from marey.errors import InvalidValue, JointNotFound, similar

__all__ = ["ROLE_NAMES", "Roles", "find_roles"]

_ARM = ("shoulder", "upper_arm", "forearm", "hand", "fingertips")
_LEG = ("upper_leg", "lower_leg", "foot", "ball", "toe_tip")

ROLE_NAMES: tuple[str, ...] = (
    "hips",
    "spine",
    "chest",
    "neck",
    "head",
    *(f"{side}_{part}" for side in SIDES for part in _ARM + _LEG),
)

# Each chain lists roles from ancestor to descendant.
_CHAINS: tuple[tuple[str, ...], ...] = (
    ("neck", "head"),
    *(tuple(f"{side}_{part}" for part in _ARM) for side in SIDES),
    *(("hips", *(f"{side}_{part}" for part in _LEG)) for side in SIDES),
)
# If these roles are known, the structure is not analyzed.
_CORE = tuple(f"{side}_{part}" for side in SIDES for part in (*_ARM[1:4], *_LEG[:3])) + ("head",)
# Roles that a profile must find to be accepted.
_PROFILE_CORE = ("hips", *(f"{side}_{part}" for side in SIDES for part in (*_ARM[1:3], *_LEG[:2])))


@dataclass(frozen=True, slots=True, eq=False)
class Roles(FrozenRecord, Mapping[str, int]):
    """A mapping from role to joint index, for the roles that were found.

    ``roles["left_hand"]`` is a joint index; a role that was not found raises `JointNotFound`, which explains how to map
    it. ``"left_hand" in roles`` and ``roles.get("left_hand")`` do not raise.

    Attributes
    ----------
    joints : role to joint index, in the order of `ROLE_NAMES`.
    spine : joint indices of the entire spine, from the first above the hips to the last below the neck; its ends are
        the roles ``spine`` and ``chest``.
    how : how the roles were found: ``"profile CMU"``, ``"names"``, ``"names and structure"``, ``"structure"``,
        ``"map"``, or ``"nothing found"``.
    names : the J joint names.

    Examples
    --------
    >>> roles = walk.skeleton.roles
    >>> roles["left_hand"], "tail" in roles
    (10, False)
    >>> walk.skeleton.names[roles["left_foot"]]
    'LeftFoot'
    """

    joints: Mapping[str, int]
    spine: tuple[int, ...]
    how: str
    names: tuple[str, ...] = field(repr=False)

    def __post_init__(self) -> None:
        names = tuple(self.names)
        for role, joint in self.joints.items():
            _check_role(role)
            if not 0 <= joint < len(names):
                raise InvalidValue(f"role {role!r} must be a joint index from 0 to {len(names) - 1}, not {joint}")
        ordered = {role: int(self.joints[role]) for role in ROLE_NAMES if role in self.joints}
        self._put(joints=MappingProxyType(ordered), spine=tuple(int(joint) for joint in self.spine), names=names)

    def __getitem__(self, role: str) -> int:
        try:
            return self.joints[role]
        except KeyError:
            raise JointNotFound(_explain_missing(role, self.names)) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.joints)

    def __len__(self) -> int:
        return len(self.joints)

    # The versions of Mapping expect a KeyError.
    def __contains__(self, role: object) -> bool:
        return role in self.joints

    def get(self, role: str, default: Any = None) -> Any:
        """Return the joint's index, or `default` if the role was not found."""
        return self.joints.get(role, default)

    @property
    def missing(self) -> tuple[str, ...]:
        """Roles that were not found, in the order of `ROLE_NAMES`."""
        return tuple(role for role in ROLE_NAMES if role not in self.joints)


def find_roles(
    names: Sequence[str],
    parents: ArrayLike,
    offsets: ArrayLike,
    role_map: Mapping[str, str] | None = None,
    positions: ArrayLike | None = None,
) -> Roles:
    """Find the role of each joint of a human skeleton.

    The best-fitting name profile is used first, then words in the names, then the shape of the body. Results never
    contradict the hierarchy: a hand is always below its forearm. A skeleton that is not human has few roles or
    none.

    Parameters
    ----------
    names : J joint names.
    parents : (J,) parent indices, parents before children, -1 for joint 0.
    offsets : (J, 3) meters, from each joint's parent to it in the rest pose, with identity rotations.
    role_map : role to joint name; overrides what is found.
    positions : (J, 3) meters, where the joints are in a typical posed frame. In some files all
        bones of the rest pose lie along one axis; then these positions show the shape.
    """
    names = tuple(names)
    tree, mapped = _check_tree(names, parents, offsets, role_map, positions)
    read = read_names(names)
    found, how = _gather(tree, read)
    found = {role: joint for role, joint in found.items() if joint not in mapped.values()} | mapped
    _set_hips(tree, found, mapped)
    _set_tips(tree, found, read)
    spine = _find_spine(tree, found)
    if spine:
        found.setdefault("spine", spine[0])
        found.setdefault("chest", spine[-1])
    if mapped:
        how = f"{how}, map" if how else "map"
    return Roles(found, spine, how or "nothing found", names)


@lru_cache(maxsize=256)
def find_cached_roles(
    names: tuple[str, ...], parents: bytes, offsets: bytes, role_map: tuple[tuple[str, str], ...]
) -> Roles:
    """Find roles like `find_roles`, from the bytes of its arrays; clips of the same body share the cached result."""
    tree = np.frombuffer(parents, dtype=np.int64), np.frombuffer(offsets, dtype=np.float64).reshape(-1, 3)
    return find_roles(names, *tree, dict(role_map) or None)


def _check_tree(
    names: tuple[str, ...],
    parents: ArrayLike,
    offsets: ArrayLike,
    role_map: Mapping[str, str] | None,
    positions: ArrayLike | None,
) -> tuple[JointTree, dict[str, int]]:
    """Return the joint tree, and the role map as joint indices."""
    n = len(names)
    tree_of: NDArray[np.int64] = np.asarray(parents, dtype=np.int64)
    if n == 0 or tree_of.shape != (n,):
        raise InvalidValue(
            f"parents must have one index for each of the {n} joints (at least 1), not shape {tree_of.shape}"
        )
    if tree_of[0] != -1 or bool(np.any((tree_of[1:] < 0) | (tree_of[1:] >= np.arange(1, n)))):
        raise InvalidValue("parents must be -1 for joint 0, and the index of an earlier joint for every other joint")
    points = _scale_points(offsets, "offsets", n)
    points[0] = 0.0
    for joint, parent in enumerate(tree_of.tolist()[1:], start=1):
        points[joint] += points[parent]
    if positions is not None:
        points = _scale_points(positions, "positions", n)
    mapped = {}
    for role, name in (role_map or {}).items():
        _check_role(role)
        if name not in names:
            raise JointNotFound(
                f"the role map assigns {role!r} to {name!r}, which is not a joint{similar(str(name), names)}"
            )
        mapped[role] = names.index(name)
    return JointTree(tree_of.tolist(), points), mapped


def _scale_points(values: ArrayLike, what: str, n: int) -> NDArray[np.float64]:
    """Return positions (n, 3) scaled to a maximum of 1: only the shape matters, and sums and squares stay finite."""
    points = np.array(values, dtype=np.float64)
    if points.shape != (n, 3) or not bool(np.isfinite(points).all()):
        raise InvalidValue(f"{what} must be finite and of shape ({n}, 3), not shape {points.shape}")
    largest = float(np.abs(points).max())
    return points / largest if largest > 0.0 else points


def _check_role(role: str) -> None:
    if role not in ROLE_NAMES:
        raise JointNotFound(
            f"unknown role {role!r}{similar(str(role), ROLE_NAMES)}; the roles are {', '.join(ROLE_NAMES[:5])}; "
            f"with the prefix left_ or right_: {', '.join(_ARM + _LEG)}"
        )


def _explain_missing(role: str, names: tuple[str, ...]) -> str:
    _check_role(role)
    like = [names[joint] for joint in joints_like(read_names(names), role)][:3]
    near = f"; similar: {', '.join(map(repr, like))}" if like else similar(role.replace("_", ""), names)
    return (
        f"role {role!r} was not found among the skeleton's {len(names)} joints{near}; say which joint it is"
        f' as {{"{role}": "JointName"}}, under "roles" in the file\'s sidecar NAME.marey.json, in a JSON file'
        " given as `roles=`, or with skeleton.with_roles(...)"
    )


# Gathering ------------------------------------------------------------------------------------------------


def _gather(tree: JointTree, read: NameParts) -> tuple[dict[str, int], str]:
    """Find limbs, neck, head and perhaps hips by profile, words and structure, in this order; return their roles, and
    text that says how they were found."""
    profile, found = _best_profile(tree, read)
    how = [] if profile is None else [f"profile {profile.name}"]
    if _is_complete(found):
        return found, how[0]
    if _add(tree, found, _keep_consistent(tree, roles_by_words(read))):
        how.append("names")
    if not _is_complete(found):
        from marey.core.structure import find_body_parts  # rarely needed and slow to import

        if _add(tree, found, find_body_parts(tree, read.sides, read.ends)):
            how.append("structure")
    return found, " and ".join(how)


def _is_complete(found: dict[str, int]) -> bool:
    return all(role in found for role in _CORE)


def _best_profile(tree: JointTree, read: NameParts) -> tuple[Profile | None, dict[str, int]]:
    """Return the profile, consistent with the hierarchy, that names the most joints, and its joints by role."""
    index: dict[str, int] = {}
    for joint, key in enumerate(read.keys):
        index.setdefault(key, joint)
    known: list[tuple[int, Profile, dict[str, int]]] = []
    for profile in PROFILES:
        found = {role: index[key] for role, key in profile.roles.items() if key in index}
        if all(role in found for role in _PROFILE_CORE):
            score = len(found) + sum(mark in index or mark == read.prefix for mark in profile.marks)
            known.append((score, profile, found))
    for _, profile, found in sorted(known, key=lambda entry: -entry[0]):
        if len(_keep_consistent(tree, found)) == len(found):
            return profile, found
    return None, {}


def _keep_consistent(tree: JointTree, named: dict[str, int]) -> dict[str, int]:
    """Keep the roles of limbs on which no role contradicts the hierarchy; on other limbs, any role may be wrong."""
    agreed: dict[str, int] = {}
    _add(tree, agreed, named)
    refused = named.keys() - agreed.keys() - {"hips"}
    wrong = [chain for chain in _CHAINS if not refused.isdisjoint(chain)]
    return {role: joint for role, joint in agreed.items() if not any(role in chain for chain in wrong)}


def _add(tree: JointTree, found: dict[str, int], more: dict[str, int]) -> bool:
    """Add to `found`, in place, the roles of `more` that are new and agree with the others; return whether any was
    added."""
    before = len(found)
    for role in (*ROLE_NAMES[1:], "hips"):  # legs are better evidence for the hips than a joint's name
        if role in more and role not in found and _agrees(tree, found, role, more[role]):
            found[role] = more[role]
    return len(found) > before


def _agrees(tree: JointTree, found: dict[str, int], role: str, joint: int) -> bool:
    """Return whether a joint's ancestors and descendants fit its role, and it is not on another limb."""
    for other, its_joint in found.items():
        chain = next((chain for chain in _CHAINS if role in chain and other in chain), None)
        if chain is None:
            fits = not (_is_on_limb(other) and tree.is_below(joint, its_joint))
            fits = fits and not (_is_on_limb(role) and tree.is_below(its_joint, joint))
        elif chain.index(other) < chain.index(role):
            fits = joint != its_joint and tree.is_below(joint, its_joint)
        else:
            fits = joint != its_joint and tree.is_below(its_joint, joint)
        if not fits:
            return False
    return True


def _is_on_limb(role: str) -> bool:
    return role.startswith(("left_", "right_"))


# Roles that follow from limbs and head -----------------------------------------------------------------


def _set_hips(tree: JointTree, found: dict[str, int], mapped: dict[str, int]) -> None:
    """Set the hips in `found`, in place, to the joint where legs and spine branch; a joint named hips may carry only
    the legs."""
    legs = [found[role] for role in ("left_upper_leg", "right_upper_leg") if role in found]
    above = _above_spine(tree, found)
    if "hips" in mapped or len(legs) < 2 or above is None:
        return
    fork = tree.common(*legs, above)
    if "hips" not in found:
        found["hips"] = find_hips(tree, legs, above)
    elif tree.is_below(fork, found["hips"]):
        # In some rigs the thighs are children of a joint named spine; rotating it would rotate the legs.
        found["hips"] = fork


def _above_spine(tree: JointTree, found: dict[str, int]) -> int | None:
    """Return the joint where the spine ends: neck, head, or the common ancestor of both arms; None if unknown."""
    for role in ("neck", "head"):
        if role in found:
            return found[role]
    arms = [found[role] for role in ("left_upper_arm", "right_upper_arm") if role in found]
    return tree.common(*arms) if len(arms) == 2 else None


def _find_spine(tree: JointTree, found: dict[str, int]) -> tuple[int, ...]:
    """Return the joints above the hips and below the neck; a mapped ``spine`` or ``chest`` is the first or last."""
    first, last, above = found.get("spine"), found.get("chest"), _above_spine(tree, found)
    if last is None and above is not None:
        last = above if "neck" not in found and "head" not in found else tree.parents[above]
    if last is None or last < 0:
        return () if first is None else (first,)
    if first is not None:
        return tuple(tree.path(first, last)) or (first, last)
    if "hips" not in found:
        return (last,) if "chest" in found else ()
    return tuple(tree.path(tree.common(found["hips"], last), last)[1:])


def _set_tips(tree: JointTree, found: dict[str, int], read: NameParts) -> None:
    """Add to `found`, in place, the balls of the feet, toe tips and fingertips that are not known yet."""
    for side in SIDES:
        foot, hand = found.get(f"{side}_foot"), found.get(f"{side}_hand")
        if foot is not None:
            toes = find_toes(tree, foot, found.get(f"{side}_ball"), read.ends, read.ranks)
            for role, joint in toes.items():
                found.setdefault(f"{side}_{role}", joint)
        if hand is not None and f"{side}_fingertips" not in found:
            tip = find_fingertips(tree, found.get(f"{side}_forearm"), hand, read.ends, read.ranks)
            if tip is not None:
                found[f"{side}_fingertips"] = tip
