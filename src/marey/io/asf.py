"""ASF: the skeleton half of the Acclaim format, as Vicon and the CMU collection write it.

An ASF file describes bones; marey's skeletons have joints. A bone runs from its parent's end to its own, by `length`
along `direction` (world axes of the rest pose). The joint with the bone's name is at the start of the bone, as in BVH,
so its offset is the vector of its parent bone. A leaf bone gets an End Site joint ``<bone>End`` at its tip. In the rest
pose all joint frames are aligned with the world.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from marey.core.arrays import Floats, Ints, set_readonly
from marey.core.skeleton import end_name
from marey.core.source import Source
from marey.errors import ParseError, format_list, similar
from marey.io import limits
from marey.io.files import decode_text
from marey.io.raw import RawMotion
from marey.maths import euler, quat

ROOT = "root"
ASSUMED_FPS = 120.0

# No human motion needs larger numbers, and sums and products of these stay finite.
MAX_NUMBER = 1e12

_DOFS = ("rx", "ry", "rz", "tx", "ty", "tz", "l")
_ROOT_DOFS = ("tx", "ty", "tz", "rx", "ry", "rz")
_INCH = 0.0254
# Largest extent of a standing body in meters, from a child to a very tall person with raised arms.
_BODY_METERS = (0.7, 2.9)
# CMU directions are unit vectors to six digits; larger deviations are not rounding.
_UNIT_SLACK = 0.01

Line = tuple[int, list[str]]


@dataclass(frozen=True, slots=True, eq=False)
class AsfSkeleton:
    """The N bones of an ASF file: the root first, parents before children; lengths in the file's unit.

    Parameters
    ----------
    path : the path of the file.
    name : the name in the file; "" if it has none.
    names : N bone names; the first is "root".
    parents : (N,) index of each bone's parent bone; -1 for the root.
    directions : (N, 3) unit vectors in world axes; 0 for the root.
    lengths : (N,) in the file's unit; 0 for the root.
    axes : (N, 4) world rotation of each bone's own coordinate frame, in which its angles are; 1 0 0 0 for the root.
    dofs : the values that each bone's AMC line holds, in order: "rx", "ry", "rz", "tx", "ty", "tz", "l".
    root_position : (3,) the root's position before any motion, in the file's unit.
    root_rotation : (4,) the root's orientation before any motion.
    length_factor : the value of ``:units length``; 1 if missing.
    degrees : True if angles are in degrees, False if in radians.
    limits : each bone's limits as text: two words, low and high, for each of its `dofs`; empty if it has no limits.
    warnings : problems in the file that did not prevent reading it.
    """

    path: str
    name: str
    names: tuple[str, ...]
    parents: Ints
    directions: Floats
    lengths: Floats
    axes: Floats
    dofs: tuple[tuple[str, ...], ...]
    root_position: Floats
    root_rotation: Floats
    length_factor: float
    degrees: bool
    limits: tuple[tuple[str, ...], ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class AsfJoints:
    """An ASF skeleton as J joints, laid out as in `Skeleton`; `of_bone` (N,) is the joint at the start of each bone."""

    names: tuple[str, ...]
    parents: Ints
    offsets: Floats
    of_bone: Ints


@dataclass(slots=True)
class _Bone:
    line: int
    name: str = ""
    direction: tuple[float, ...] | None = None
    length: float | None = None
    axis: tuple[tuple[float, ...], str] | None = None
    dofs: tuple[str, ...] = ()
    limits: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Root:
    order: tuple[str, ...]
    position: tuple[float, ...] = (0.0, 0.0, 0.0)
    orientation: tuple[float, ...] = (0.0, 0.0, 0.0)
    axis: str = "xyz"


@dataclass(slots=True)
class _Section:
    line: int
    args: list[str]
    lines: list[Line] = field(default_factory=list)


def read_asf(data: bytes, path: str) -> AsfSkeleton:
    """Parse an ASF file's bytes; `path` is for messages. Masses are ignored."""
    sections = _split_sections(decode_text(data), path)
    for keyword in (":root", ":bonedata", ":hierarchy"):
        if keyword not in sections:
            raise ParseError(f"the {keyword} section is missing; is this an ASF file?", path=path)
    length_factor, degrees = _read_units(sections.get(":units"), path)
    root = _read_root(sections[":root"], path)
    bones = _read_bones(sections[":bonedata"], path)
    order, parents = _read_hierarchy(sections[":hierarchy"], bones, path)
    warnings: list[str] = []
    directions, lengths = _bone_vectors([bones[name] for name in order[1:]], warnings)
    dofs = (root.order, *(bones[name].dofs for name in order[1:]))
    moving = [name for name, dof in zip(order[1:], dofs[1:], strict=True) if any(d[0] != "r" for d in dof)]
    if moving:
        warnings.append(
            f"bones {_list_names(moving)} have degrees of freedom other than rotations, which are not applied"
        )
    scale = math.pi / 180.0 if degrees else 1.0
    name = sections[":name"].args if ":name" in sections else []
    return AsfSkeleton(
        path=path,
        name=" ".join(name),
        names=tuple(order),
        parents=set_readonly(np.array(parents, dtype=np.int64)),
        directions=set_readonly(directions),
        lengths=set_readonly(lengths),
        axes=set_readonly(_bone_frames([bones[name] for name in order[1:]], scale)),
        dofs=dofs,
        root_position=set_readonly(np.array(root.position)),
        root_rotation=set_readonly(compose_rotations(scale * np.array(root.orientation), root.axis)),
        length_factor=length_factor,
        degrees=degrees,
        limits=((), *(tuple(bones[name].limits) for name in order[1:])),
        warnings=tuple(warnings),
    )


def asf_motion(skeleton: AsfSkeleton, path: str | os.PathLike[str]) -> RawMotion:
    """Return the skeleton alone, as a motion of one frame in the rest pose."""
    joints = asf_joints(skeleton)
    rotations = quat.identity((1, len(joints.names)))
    rotations[:, 0] = skeleton.root_rotation
    unit, evidence = find_stated_unit(skeleton, joints)
    return RawMotion(
        names=joints.names,
        parents=joints.parents,
        offsets=joints.offsets,
        root_positions=skeleton.root_position[None].copy(),
        rotations=rotations,
        fps=ASSUMED_FPS,
        name=skeleton.name or Path(path).stem,
        source=Source(path=str(path), format="asf"),
        unit=unit,
        evidence=[*evidence, f"ASF files hold a rest pose and no frame rate; {ASSUMED_FPS:g} Hz assumed"],
        warnings=list(skeleton.warnings),
    )


def asf_joints(skeleton: AsfSkeleton) -> AsfJoints:
    """Convert bones to joints: one at the start of each bone, and an End Site at the tip of each leaf bone."""
    n_bones = len(skeleton.names)
    is_leaf = np.ones(n_bones, dtype=bool)
    is_leaf[skeleton.parents[1:]] = False
    vectors = skeleton.directions * skeleton.lengths[:, None]
    taken = set(skeleton.names)
    names: list[str] = []
    parents: list[int] = []
    offsets: list[Floats] = []
    of_bone = np.zeros(n_bones, dtype=np.int64)
    for i, bone in enumerate(skeleton.names):
        parent = int(skeleton.parents[i])
        of_bone[i] = len(names)
        names.append(bone)
        parents.append(-1 if i == 0 else int(of_bone[parent]))
        offsets.append(vectors[0] if i == 0 else vectors[parent])
        if is_leaf[i] and i > 0:
            end = f"{bone}End"
            end = end_name(bone, taken) if end in taken else end
            taken.add(end)
            names.append(end)
            parents.append(int(of_bone[i]))
            offsets.append(vectors[i])
    limits.check_joints(len(names), skeleton.path)
    return AsfJoints(
        tuple(names),
        set_readonly(np.array(parents, dtype=np.int64)),
        set_readonly(np.array(offsets)),
        set_readonly(of_bone),
    )


def find_stated_unit(skeleton: AsfSkeleton, joints: AsfJoints) -> tuple[float | None, list[str]]:
    """Return meters per unit if the file states it and the body's size agrees, else None; and the evidence.

    The authors of the format meant ``:units length`` as the factor from inches to the file's numbers: CMU's 0.45 gives
    0.0254 / 0.45 = 0.056444 m. Writers that do not care about units write a factor of 1, so 1 is ignored.
    """
    factor = skeleton.length_factor
    if factor == 1.0:
        return None, []
    places = np.zeros_like(joints.offsets)
    for j, parent in enumerate(joints.parents[1:].tolist(), start=1):
        places[j] = places[parent] + joints.offsets[j]
    size = float(np.ptp(places, axis=0).max()) * _INCH / factor
    if not _BODY_METERS[0] <= size <= _BODY_METERS[1]:
        return None, []
    return _INCH / factor, [
        f"the skeleton's unit is an inch divided by {factor:g}, {_INCH / factor:.6f} m: the ASF file says so, "
        f"and the body is then {size:.2f} m tall"
    ]


def compose_rotations(angles: Floats, order: str) -> Floats:
    """Return quaternions (..., 4) from angles (..., k) in radians about the axes in `order`, the first applied first.

    "xyz" is Rz * Ry * Rx: the format uses rotations about fixed axes.
    """
    return euler.from_axes(angles[..., ::-1], order[::-1].upper())


def parse_number(token: str, what: str, path: str, line: int) -> float:
    """Parse a finite number; raise ParseError, naming `what`, for anything else."""
    try:
        value = float(token)
    except ValueError:
        value = math.nan
    if "_" in token or not abs(value) <= MAX_NUMBER:
        limits = "" if math.isnan(value) or "_" in token else f" from {-MAX_NUMBER:g} to {MAX_NUMBER:g}"
        raise ParseError(f"expected a number{limits} for {what}, got {quote(token)}", path=path, line=line)
    return value


def quote(token: str) -> str:
    """Format a token for a message: quoted, and shortened if long."""
    return repr(token if len(token) <= 40 else token[:37] + "...")


def bone_key(name: str) -> str:
    """Return the dictionary key of a bone name: "root" in any letter case is the root; other names keep their case."""
    return ROOT if name.lower() == ROOT else name


def _split_sections(text: str, path: str) -> dict[str, _Section]:
    """Map each lower-case keyword to its section. Commas and parentheses count as whitespace; # starts a comment."""
    sections: dict[str, _Section] = {}
    current: _Section | None = None
    blanks = str.maketrans(",()", "   ")
    for number, raw in enumerate(text.split("\n"), start=1):
        tokens = raw.partition("#")[0].translate(blanks).split()
        if not tokens:
            continue
        if tokens[0].startswith(":"):
            keyword = tokens[0].lower()
            if keyword in sections:
                raise ParseError(f"section {quote(keyword)} occurs twice", path=path, line=number)
            current = sections[keyword] = _Section(number, tokens[1:])
        elif current is None:
            raise ParseError(
                f"expected a section such as :units, got {quote(tokens[0])}; is this an ASF file?",
                path=path,
                line=number,
            )
        else:
            current.lines.append((number, tokens))
    return sections


def _read_units(section: _Section | None, path: str) -> tuple[float, bool]:
    factor, degrees = 1.0, True
    for line, (key, *values) in section.lines if section else ():
        if key.lower() == "length":
            factor = _numbers(values, 1, "length", path, line)[0]
            if factor <= 0.0:
                raise ParseError(f"expected a positive unit of length, got {factor:g}", path=path, line=line)
        elif key.lower() == "angle":
            word = values[0].lower() if values else ""
            if word not in ("deg", "degree", "degrees", "rad", "radian", "radians"):
                raise ParseError(f"expected deg or rad after angle, got {quote(word)}", path=path, line=line)
            degrees = word.startswith("deg")
    return factor, degrees


def _read_root(section: _Section, path: str) -> _Root:
    root = _Root(order=())
    for line, (key, *values) in section.lines:
        word = key.lower()
        if word == "order":
            root.order = _dof_words(values, _ROOT_DOFS, path, line)
        elif word == "axis":
            root.axis = _axis_word(values[-1] if values else "", path, line)
        elif word == "position":
            root.position = _numbers(values, 3, "position", path, line)
        elif word == "orientation":
            root.orientation = _numbers(values, 3, "orientation", path, line)
    if not root.order:
        raise ParseError(
            "expected a line such as 'order TX TY TZ RX RY RZ' in :root, got none", path=path, line=section.line
        )
    return root


def _read_bones(section: _Section, path: str) -> dict[str, _Bone]:
    bones: dict[str, _Bone] = {}
    bone: _Bone | None = None
    for line, (key, *values) in section.lines:
        word = key.lower()
        if word == "begin":
            if bone is not None:
                message = f"expected 'end' of the bone that begins on line {bone.line}, got another 'begin'"
                raise ParseError(message, path=path, line=line)
            bone = _Bone(line)
        elif bone is None:
            raise ParseError(f"expected 'begin' of a bone, got {quote(key)}", path=path, line=line)
        elif word == "end":
            _check_bone(bone, bones, path)
            bones[bone.name] = bone
            limits.check_joints(len(bones), path)
            bone = None
        else:
            _read_bone_line(bone, word, values, path, line)
    if bone is not None:
        raise ParseError(f"the bone that begins on line {bone.line} has no 'end'", path=path, line=bone.line)
    return bones


def _read_bone_line(bone: _Bone, word: str, values: list[str], path: str, line: int) -> None:
    """Read one line of a bone into `bone`; ids, masses and vendor extensions are ignored."""
    if word == "limits":
        bone.limits = list(values)
    elif bone.limits and (word == "inf" or not word.isalpha()):  # each degree of freedom may have a line of its own
        bone.limits += [word, *values]
    elif word == "name":
        if not values:
            raise ParseError("expected a bone name, got none", path=path, line=line)
        bone.name = values[0]
    elif word == "direction":
        bone.direction = _numbers(values, 3, "direction", path, line)
    elif word == "length":
        bone.length = _numbers(values, 1, "length", path, line)[0]
        if bone.length < 0.0:
            raise ParseError(f"expected a length of at least 0, got {bone.length:g}", path=path, line=line)
    elif word == "axis":
        bone.axis = (
            _numbers(values[:3], 3, "axis", path, line),
            _axis_word("".join(values[3:]) or "xyz", path, line),
        )
    elif word == "dof":
        bone.dofs = _dof_words(values, _DOFS, path, line)


def _check_bone(bone: _Bone, bones: dict[str, _Bone], path: str) -> None:
    needed: dict[str, object] = {
        "name": bone.name or None,
        "direction": bone.direction,
        "length": bone.length,
    }
    if bone.dofs:
        needed["axis"] = bone.axis
    missing = [what for what, value in needed.items() if value is None]
    if missing:
        label = f"bone {quote(bone.name)}" if bone.name else "the bone"
        raise ParseError(f"{label} has no {' and no '.join(missing)}", path=path, line=bone.line)
    if bone.name in bones or bone_key(bone.name) == ROOT:
        raise ParseError(f"bone name {quote(bone.name)} occurs twice", path=path, line=bone.line)


def _read_hierarchy(section: _Section, bones: dict[str, _Bone], path: str) -> tuple[list[str], list[int]]:
    """Return the bone names in depth-first order from the root, and the index of each one's parent."""
    children: dict[str, list[str]] = {ROOT: [], **{name: [] for name in bones}}
    placed: dict[str, int] = {}
    for line, tokens in section.lines:
        if len(tokens) == 1 and tokens[0].lower() in ("begin", "end"):
            continue
        names = [bone_key(token) for token in tokens]
        for name in names:
            if name not in children:
                raise ParseError(
                    f"bone {quote(name)} is not in :bonedata{similar(name[:80], bones)}", path=path, line=line
                )
        for child in names[1:]:
            if child == ROOT:
                raise ParseError(
                    "the root cannot be the child of a bone; check the :hierarchy section", path=path, line=line
                )
            if child in placed:
                raise ParseError(
                    f"bone {quote(child)} already has a parent, which is given on line {placed[child]}",
                    path=path,
                    line=line,
                )
            placed[child] = line
            children[names[0]].append(child)
    order: list[str] = []
    parents: list[int] = []
    stack = [(ROOT, -1, 0)]
    while stack:
        name, parent, depth = stack.pop()
        limits.check_depth(depth, path, placed.get(name))
        stack.extend((child, len(order), depth + 1) for child in reversed(children[name]))
        order.append(name)
        parents.append(parent)
    if len(order) <= len(bones):
        _refuse_loose(set(bones) - set(order), placed, bones, path)
    return order, parents


def _refuse_loose(loose: set[str], placed: dict[str, int], bones: dict[str, _Bone], path: str) -> None:
    orphan = next((name for name in bones if name in loose and name not in placed), None)
    if orphan is not None:
        message = f"bone {quote(orphan)} has no parent; add it to the :hierarchy section"
        raise ParseError(message, path=path, line=bones[orphan].line)
    name = next(name for name in bones if name in loose)
    message = f"the :hierarchy section has a cycle through bone {quote(name)} that is not connected to the root"
    raise ParseError(message, path=path, line=placed[name])


def _bone_vectors(bones: Sequence[_Bone], warnings: list[str]) -> tuple[Floats, Floats]:
    """Return the directions (N, 3) and lengths (N,) of the bones; both are zero for the root, which comes first."""
    directions = np.zeros((len(bones) + 1, 3))
    lengths = np.zeros(len(bones) + 1)
    for i, bone in enumerate(bones, start=1):
        directions[i] = bone.direction
        lengths[i] = bone.length
    norms = np.linalg.norm(directions, axis=1)
    nowhere = [bone.name for i, bone in enumerate(bones, start=1) if norms[i] == 0.0 and lengths[i] > 0.0]
    if nowhere:
        warnings.append(f"bones {_list_names(nowhere)} have a length but no direction; they were read as points")
    wrong = (np.abs(norms - 1.0) > _UNIT_SLACK) & (norms > 0.0)
    if wrong.any():
        names = [bone.name for i, bone in enumerate(bones, start=1) if wrong[i]]
        warnings.append(f"directions of bones {_list_names(names)} are not unit vectors; they were normalized")
        directions[wrong] /= norms[wrong, None]
    return directions, lengths


def _bone_frames(bones: Sequence[_Bone], scale: float) -> Floats:
    """Return the rotation (N, 4) of each bone's own coordinate frame; the identity for the root, which comes first."""
    frames = quat.identity(len(bones) + 1)
    by_order: dict[str, list[int]] = {}
    for i, bone in enumerate(bones, start=1):
        if bone.axis is not None:
            by_order.setdefault(bone.axis[1], []).append(i)
    for order, rows in by_order.items():
        angles = np.array([axis[0] for i in rows if (axis := bones[i - 1].axis) is not None])
        # Angles are always listed as x y z, whatever the order in which they are applied.
        frames[rows] = compose_rotations(scale * angles[:, ["xyz".index(letter) for letter in order]], order)
    return frames


def _numbers(values: Sequence[str], count: int, what: str, path: str, line: int) -> tuple[float, ...]:
    if len(values) != count:
        plural = "" if count == 1 else "s"
        raise ParseError(f"expected {count} value{plural} for {what}, got {len(values)}", path=path, line=line)
    return tuple(parse_number(value, what, path, line) for value in values)


def _axis_word(word: str, path: str, line: int) -> str:
    axis = word.lower()
    if sorted(axis) != ["x", "y", "z"]:
        raise ParseError(f"expected an axis order such as XYZ, got {quote(word)}", path=path, line=line)
    return axis


def _dof_words(values: Iterable[str], allowed: Sequence[str], path: str, line: int) -> tuple[str, ...]:
    words = tuple(value.lower() for value in values)
    for i, word in enumerate(words):
        if word not in allowed:
            raise ParseError(
                f"expected degrees of freedom among {' '.join(allowed)}, got {quote(word)}",
                path=path,
                line=line,
            )
        if word in words[:i]:
            raise ParseError(f"degree of freedom {word} occurs twice", path=path, line=line)
    return words


def _list_names(names: Sequence[str]) -> str:
    """Format up to five names for a message."""
    return format_list([repr(re.sub(r"\s+", " ", name[:40])) for name in names], 5)
