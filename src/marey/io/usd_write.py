"""Write a motion as USD text (.usda): a UsdSkel skeleton, its animation, and a simple body bound to it.

USD files state their unit and up axis; these are written in meters with Y up. Joints are named by paths, whose parts
must be identifiers: other characters become underscores, and ``jointNames`` has the names as they are. Transforms are
stored in single precision.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from marey.core.arrays import Floats
from marey.core.motion import Motion
from marey.core.skeleton import Skeleton
from marey.io.files import GENERATOR
from marey.io.glb_body import build_body_mesh
from marey.io.limits import check_single_precision
from marey.io.node_tree import unique_names
from marey.maths import quat

_NUMBER = "%.9g"  # all digits of single precision
_COLOR = (0.55, 0.62, 0.7)


def write_usda(motion: Motion, *, body: bool = True) -> Iterator[bytes]:
    """Yield the parts of a .usda file with the motion.

    body : add a simple body mesh; without it, programs show bare joints.
    """
    check_single_precision(motion, "USD")
    return _write_parts(motion, body)


def _write_parts(motion: Motion, body: bool) -> Iterator[bytes]:
    skeleton = motion.skeleton
    paths = _name_paths(skeleton)
    places = skeleton.rest_positions + skeleton.offsets[0]
    name, clip = _identify("body"), _identify(motion.name or "motion")
    yield (
        f'#usda 1.0\n(\n    customLayerData = {{\n        string creator = "{GENERATOR}"\n    }}\n'
        f'    defaultPrim = "{name}"\n'
        f"    endTimeCode = {len(motion) - 1}\n    framesPerSecond = {motion.fps!r}\n    metersPerUnit = 1\n"
        f'    startTimeCode = 0\n    timeCodesPerSecond = {motion.fps!r}\n    upAxis = "Y"\n)\n\n'
        f'def SkelRoot "{name}" (\n    prepend apiSchemas = ["SkelBindingAPI"]\n)\n{{\n'
        f"    float3[] extent = {_format_tuples(_find_extent(motion))}\n"
        f"    rel skel:animationSource = </{name}/skeleton/{clip}>\n    rel skel:skeleton = </{name}/skeleton>\n\n"
        '    def Skeleton "skeleton" (\n        prepend apiSchemas = ["SkelBindingAPI"]\n    )\n    {\n'
        f"        uniform token[] jointNames = [{_quote(skeleton.names)}]\n"
        f"        uniform token[] joints = [{_quote(paths)}]\n"
        f"        uniform matrix4d[] bindTransforms = {_format_matrices(places)}\n"
        f"        uniform matrix4d[] restTransforms = {_format_matrices(skeleton.offsets)}\n"
        f"        rel skel:animationSource = </{name}/skeleton/{clip}>\n\n"
        f'        def SkelAnimation "{clip}"\n        {{\n'
        f"            uniform token[] joints = [{_quote(paths)}]\n"
        f"            half3[] scales = {_format_tuples(np.ones((len(skeleton), 3)))}\n"
    ).encode()
    rotations = quat.unroll(quat.normalize(motion.rotations))
    yield from _write_samples("quatf[] rotations", rotations)
    translations = motion.frame_offsets.copy()
    translations[:, 0] = motion.root_positions
    yield from _write_samples("float3[] translations", translations)
    yield b"        }\n    }\n"
    if body:
        yield _write_body(motion, name).encode()
    yield b"}\n"


def _find_extent(motion: Motion) -> Floats:
    """Return the corners (2, 3) of the motion's bounding box, the lowest first."""
    places = motion.world().positions
    return np.array([places.min(axis=(0, 1)), places.max(axis=(0, 1))])


def _write_samples(declaration: str, values: Floats) -> Iterator[bytes]:
    """Yield an attribute with one array (J, C) in each frame."""
    row = ", ".join([f"({', '.join([_NUMBER] * values.shape[2])})"] * values.shape[1])
    yield f"            {declaration}.timeSamples = {{\n".encode()
    for frame, numbers in enumerate(values.astype(np.float32).reshape(len(values), -1)):
        yield f"                {frame}: [{row % tuple(numbers.tolist())}],\n".encode()
    yield b"            }\n"


def _write_body(motion: Motion, name: str) -> str:
    skeleton = motion.skeleton
    rigid = np.ones(len(skeleton), dtype=bool)
    mesh = build_body_mesh(skeleton, rigid)
    n_points = len(mesh.positions)
    indices = ", ".join(map(str, range(n_points)))
    joints = ", ".join(map(str, mesh.joints.tolist()))
    bounds = np.array([mesh.positions.min(axis=0), mesh.positions.max(axis=0)])
    return (
        '\n    def Mesh "mesh" (\n        prepend apiSchemas = ["SkelBindingAPI"]\n    )\n    {\n'
        f"        float3[] extent = {_format_tuples(bounds)}\n"
        f"        int[] faceVertexCounts = [{', '.join(['3'] * (n_points // 3))}]\n"
        f"        int[] faceVertexIndices = [{indices}]\n"
        f"        point3f[] points = {_format_tuples(mesh.positions)}\n"
        f"        normal3f[] normals = {_format_tuples(mesh.normals)} (\n"
        '            interpolation = "vertex"\n        )\n'
        f"        color3f[] primvars:displayColor = {_format_tuples(np.array([_COLOR]))}\n"
        f"        int[] primvars:skel:jointIndices = [{joints}] (\n            elementSize = 1\n"
        '            interpolation = "vertex"\n        )\n'
        f"        float[] primvars:skel:jointWeights = [{', '.join(['1'] * n_points)}] (\n            elementSize = 1\n"
        '            interpolation = "vertex"\n        )\n'
        f'        rel skel:skeleton = </{name}/skeleton>\n        uniform token subdivisionScheme = "none"\n    }}\n'
    )


def _name_paths(skeleton: Skeleton) -> list[str]:
    """Return the path of each joint: ``Hips/Spine/Chest``."""
    names = unique_names(map(_identify, skeleton.names))
    paths: list[str] = []
    for name, parent in zip(names, skeleton.parents.tolist(), strict=True):
        paths.append(name if parent < 0 else f"{paths[parent]}/{name}")
    return paths


def _identify(name: str) -> str:
    """Return a name as an identifier of USD."""
    word = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return word if word and not word[0].isdigit() else f"_{word}"


def _quote(words: Iterable[str]) -> str:
    escaped = (re.sub(r'["\\]', lambda mark: "\\" + mark[0], re.sub(r"[\x00-\x1f\x7f]", " ", word)) for word in words)
    return ", ".join(f'"{word}"' for word in escaped).encode("utf-8", "replace").decode()


def _format_tuples(values: Floats | Sequence[Floats]) -> str:
    rows = (", ".join(_NUMBER % number for number in row) for row in np.asarray(values).tolist())
    return f"[{', '.join(f'({row})' for row in rows)}]"


def _format_matrices(places: Floats) -> str:
    """Return the USD text of the matrices of translations (J, 3), which act on row vectors."""
    rows = (f"( (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), ({x!r}, {y!r}, {z!r}, 1) )" for x, y, z in places.tolist())
    return f"[{', '.join(rows)}]"
