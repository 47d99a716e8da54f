"""Damaged files of every format: a small valid file of each, how to use what is loaded from it, and mutations.

``python -m tests.io.fuzzing 2000 npz graph seed=7`` tries 2000 mutations of each named format (of all by default) and
prints each distinct failure once. It writes the failing inputs to ``build/fuzz``; once fixed, they go to
``tests/io/corpus``, which every test run tries again.
"""

from __future__ import annotations

import contextlib
import copy
import io
import json
import re
import signal
import sys
import tempfile
import tracemalloc
import warnings
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import marey
from marey.blend.weights import Weighting
from marey.cli.blend import read_weights
from marey.cli.files import read_rows
from marey.cli.gaze_params import read_takes
from marey.control import RandomWalk, SampledCharacter, load_plan, save_plan
from marey.core import Markers, Motion, learn_joint_limits
from marey.errors import FileError, MareyError
from marey.find import MatchWeb
from marey.graph import DirectionTable, MotionGraph, direction_table, read_path, response_time
from marey.io import load_joint_limits, save_joint_limits
from marey.io.archive import read_json
from marey.layer import GazeMap, SpliceSet
from marey.layer.gaze_markers import load_triads
from marey.maths import quat
from marey.parametric import ParametricMotion, position
from marey.pmg import ActionSpace, GaitSpace, ParametricMotionGraph, read_recipe
from marey.register import RegistrationCurve, register
from marey.samples import sample, straight_walk
from marey.store.labels import add_labels, read_label_csv
from marey.studio.project import read_project
from marey.studio.recent import Recent
from tests.io.make_c3d import c3d_bytes
from tests.io.make_fbx import mixamo_like
from tests.io.test_asf_amc import AMC, ASF
from tests.io.test_glb_character import make_character
from tests.io.test_solve import write_trc

CPU_SECONDS = 4
MAX_MESSAGE = 400
# Number of inputs after which the watchdog for hangs in compiled code starts again; each start takes milliseconds.
_WATCHED = 20
_INTEGERS = [0, 1, -1, 2, 7, 127, 1000, 10**6, 2**31 - 1, 2**31, -(2**31), 2**62, -(2**63)]
_FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, 3.7, 1e-300, 1e-9, 1e4, 1e9, 1e30, 1e154, 1e300, -1e300, np.inf, -np.inf, np.nan]
_TEXTS = ["", " ", "x", "nan", "Hips", "\x00", "\u202e", "é" * 3000, "x\ny", "[" * 50, "../../etc/passwd", "walk"]
_JSON = [
    None,
    True,
    False,
    *_INTEGERS,
    *_FLOATS,
    *_TEXTS,
    10**400,
    [],
    {},
    [[]],
    [[1.0, 2.0]],
    {"a": 1},
    [1, "a", None],
]
_DEEP = [b"[" * 900 + b"]" * 900, b"[" * 100_000, b'{"a":' * 100_000, b"[" * 60_000 + b"]" * 60_000]
_WORDS = [
    b"nan", b"-1", b"1e999", b"-1e300", b"1e-300", b"1e20", b"99999999999999999999", b"9" * 5000, b"0", b"", b"inf",
    b"\xff\xfe", b"{", b"}", b"1,5", b"-", b"\x00", b"true", b'""', b"null", b'"x"', b"[]", b"\n", b"1.5", b"1000000",
]  # fmt: skip
_TOKEN = re.compile(rb'-?[0-9][0-9.eE+-]*|"[^"\n]*"|[A-Za-z_]+')


class Format(NamedTuple):
    """A format: `make` writes a small valid file to a folder, `use` loads it and calls its main method."""

    name: str
    make: Callable[[Path], Path]
    use: Callable[[Path], object]


def use_motion(path: Path) -> None:
    value = marey.load(path)
    if isinstance(value, Markers):
        assert np.isfinite(value.positions).all()
        return
    assert len(value) > 0
    assert np.isfinite(value.world().positions).all()
    with contextlib.suppress(MareyError):
        value = marey.detect_contacts(value)
    with contextlib.suppress(MareyError):
        marey.measure(marey.clean(value))
    marey.save(value, path.with_name("again.npz"))


def check(motion: Motion) -> None:
    assert np.isfinite(motion.world().positions).all()


PROJECT = {
    "format": "marey.project", "version": 1,
    "clips": [{"id": "m1", "file": "walk.bvh", "clip": None, "trim_rest": True}, {"id": "m2", "file": "a/run.glb"}],
    "state": {"panel": "blend", "frame": 3, "choices": {"hidden": ["m1"], "blend": {"weights": [["m1", 0.5]]}}},
}  # fmt: skip
RECENT = {
    "format": "marey.recent", "version": 1,
    "entries": [{"kind": "folder", "path": "takes"}, {"kind": "project", "path": "takes/walks.marey-project.json"}],
}  # fmt: skip


def use_recent(path: Path) -> None:
    """A damaged list counts as empty; its problem is a typed error."""
    Recent(path).entries()
    read_json(path, "marey.recent", 1)


def text(name: str, content: str | bytes) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
        return folder / name

    return make


def saved(name: str, build: Callable[[], Any]) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        value = build()
        if isinstance(value, Motion):
            marey.save(value, folder / name)
        else:
            value.save(folder / name)
        return folder / name

    return make


def make_limits(folder: Path) -> Path:
    save_joint_limits(learn_joint_limits(pair()), folder / "limits.json")
    return folder / "limits.json"


@cache
def walk() -> Motion:
    return straight_walk(seconds=0.5)[:8]


@cache
def pair() -> tuple[Motion, Motion]:
    return tuple(sample(name, fps=20.0, seconds=1.5).motion for name in ("walk", "run"))  # type: ignore[return-value]


@cache
def graph() -> MotionGraph:
    walks = [sample("walk", rng=seed, fps=15.0, seconds=4.0, turn_rate=0.3 * seed).motion for seed in (0, 1)]
    return MotionGraph.build([marey.detect_contacts(each) for each in walks], 0.3)


@cache
def web() -> MatchWeb:
    return MatchWeb.build([sample("walk", rng=seed, fps=15.0, seconds=3.0).motion for seed in (0, 1)])


@cache
def ducks() -> ParametricMotion:
    heights = (1.0, 1.3, 1.6)
    motions = [sample("duck", height=height, fps=15.0, variation=0.0).motion for height in heights]
    return ParametricMotion.build(motions, values=heights, names=["height"], samples=0)


@cache
def reaches() -> ParametricMotion:
    motions = [sample("reach", rng=k, fps=15.0, x=x, variation=0.0).motion for k, x in enumerate((-0.2, 0.0, 0.2, 0.3))]
    return ParametricMotion.build(motions, position("right_hand"), samples=12)


@cache
def walks() -> tuple[Motion, ...]:
    return tuple(sample("walk", fps=20.0, seconds=3.0, turn_rate=rate).motion for rate in (-0.4, 0.4))


@cache
def character() -> ParametricMotionGraph:
    char = ParametricMotionGraph("walker")
    char.add("walk", GaitSpace.build(walks()))
    char.connect("walk", "walk", good=0.5, bad=1.0, n_source=4, n_target=8)
    return char


@cache
def sampled() -> SampledCharacter:
    return SampledCharacter.build(character(), max_clips=3, fps=20.0)


def use_sampled(path: Path) -> None:
    stream = SampledCharacter.load(path).stream()
    for command in ({"direction": 1.0}, {"point": (1.0, 2.0)}, {}):
        stream.request(**command)
        check(stream.record(1.0))


def make_plan(folder: Path) -> Path:
    character().save(folder / "walker.json")
    return save_plan(character(), folder / "walker.json")


def use_plan(path: Path) -> None:
    load_plan(ParametricMotionGraph.load(path.with_name("walker.json")), path.with_name("walker.json"))


def make_sidecar(folder: Path) -> Path:
    marey.save(marey.detect_contacts(straight_walk(seconds=0.5))[:8], folder / "walk.bvh")
    return folder / "walk.marey.json"


def make_amc(folder: Path) -> Path:
    (folder / "stick.asf").write_text(ASF)
    return text("stick.amc", AMC)(folder)


def make_roles(folder: Path) -> Path:
    saved("walk.bvh", walk)(folder)
    return text("roles.json", json.dumps({"left_hand": "LeftHand", "hips": "Hips"}))(folder)


def make_amass(folder: Path) -> Path:
    return saved("walk.amass.npz", lambda: marey.edit.retarget(walk(), marey.io.smpl_skeleton()))(folder)


def make_motion_x(folder: Path) -> Path:
    rows = np.zeros((8, 322))
    rows[:, :156] = 0.1 * np.sin(np.arange(8 * 156)).reshape(8, 156)
    np.save(folder / "take.npy", rows)
    return folder / "take.npy"


def make_kimodo(folder: Path) -> Path:
    person = marey.edit.retarget(walk(), marey.io.smpl_skeleton(n_joints=22))
    places = replace(person, bone_offsets=None).world().positions
    np.savez(folder / "walk.npz", local_rot_mats=quat.to_matrix(person.rotations), posed_joints=places)
    return folder / "walk.npz"


def make_humanml(folder: Path) -> Path:
    person = marey.edit.retarget(walk(), marey.io.smpl_skeleton(n_joints=22), feet=None)
    np.save(folder / "joints.npy", person.world().positions)
    return folder / "joints.npy"


def make_trc(folder: Path) -> Path:
    roles = walk().skeleton.roles
    return write_trc(folder / "walk.trc", list(roles), walk().world().positions[:, list(roles.values())], 30.0)


def make_joints_csv(folder: Path) -> Path:
    make_trc(folder)
    return text("map.csv", "marker,joint\n" + "".join(f"{role},{role}\n" for role in walk().skeleton.roles))(folder)


def make_vrm(folder: Path) -> Path:
    return text("hero.vrm", make_character(1))(folder)


def use_vrm(path: Path) -> None:
    hero = marey.load(path)
    marey.save(hero, path.with_name("again.glb"), character=path)
    marey.save(hero, path.with_name("own.glb"))


def use_table(path: Path) -> None:
    table = DirectionTable.load(path)
    table.column(0.3)
    response_time(graph(), table, trials=1)


def use_character(path: Path) -> None:
    loaded = ParametricMotionGraph.load(path)
    stream = loaded.stream(RandomWalk(rng=1), feet=None)
    for _ in range(25):
        check(stream.frame())


def use_labels(path: Path) -> None:
    labels = add_labels(walk(), read_label_csv(path)).labels
    assert all(0 <= label.start < label.stop <= len(walk()) for label in labels)


def use_weights(path: Path) -> None:
    weights = Weighting.of(read_weights(str(path), 2)[0], 2).at(np.linspace(0.0, 2.0, 9))
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-9)


def use_values(path: Path) -> None:
    values = read_rows(str(path), None, "as many numbers as in the first line")
    names = [f"p{k}" for k in range(len(values[0]))]
    space = ParametricMotion.build(ducks().registration.motions, values=values, names=names, samples=0)
    check(space(values[0]))


def use_curve(path: Path) -> None:
    check(marey.edit.edit_path(pair()[0], read_rows(str(path), 2, "x,z in meters", least=2), stretch=True, feet=None))


def use_recipe(path: Path) -> None:
    recipe = read_recipe(path)
    assert sum(edge.samples[0] * edge.samples[1] for edge in recipe.edges) <= 10**9


def middle(space: Any) -> Any:
    return 0.5 * (np.asarray(space.low) + np.asarray(space.high))


RECIPE = """
name = "ducker"
fps = 30
samples = [4, 20]
[seams]
length = 0.25
region = 0.3
markers = "body"
[[nodes]]
name = "duck"
kind = "parametric"
parameters = ["height"]
low = [1.1]
high = [1.5]
[[nodes.clips]]
sample = "duck"
height = { from = 1.0, to = 1.6, count = 4 }
variation = 0
[[nodes]]
name = "walk"
kind = "gait"
margin = 0.2
mirror = true
steps = 1
side = "left"
[[nodes.clips]]
files = ["a.bvh"]
from = "walk:start-0.3"
to = 2.5
[[edges]]
from = "duck"
to = "walk"
good = 0.05
bad = 0.08
samples = [10, 20]
[auto]
good = 0.1
"""
TRIADS = {part: [f"{part}{k}" for k in range(3)] for part in ("pelvis", "lower_spine", "upper_spine", "neck")}
SVG = '<svg><rect/><path id="p" d="M 0 0 L 10 5 h 3 v -2 C 1 2 3 4 5 6 S 7 8 9 9 Q 1 1 2 2 t 3 3 z"/></svg>'
PATH = "x,z\n0,0\n1.5,2\n# note\n3;4.5\n-2,1e1\n"
LABELS = 'file,label,start,stop\nwalk.bvh,walk,0f,5f\n"walk.bvh",run,0.05,0.1\n'
WEIGHTS = "t,walk,run\n0,1,0\n0.5,0.25,0.75\n# note\n1;0;1\n"
VALUES = "height,speed\n1.0,0.2\n1.3,0.1\n1.6,0.5\n"
LOOKS = "file,yaw,pitch\nleft.bvh,60,0\nright.bvh,-45.5,10,20,180\nup.bvh,0,30,,\n"

FORMATS = [
    Format("bvh", saved("walk.bvh", walk), use_motion),
    Format("amc", make_amc, use_motion),
    Format("asf", text("stick.asf", ASF), use_motion),
    Format("fbx", saved("walk.fbx", walk), use_motion),
    Format("fbx_text", lambda folder: text("dance.fbx", mixamo_like(4)[0])(folder), use_motion),
    Format("glb", saved("walk.glb", walk), use_motion),
    Format("vrm", make_vrm, use_vrm),
    Format("npz", saved("walk.npz", walk), use_motion),
    Format("amass", make_amass, use_motion),
    Format("motion_x", make_motion_x, use_motion),
    Format("kimodo", make_kimodo, use_motion),
    Format("humanml3d", make_humanml, use_motion),
    Format("trc", make_trc, lambda path: check(marey.solve(path))),
    Format("joints_csv", make_joints_csv, lambda path: check(marey.solve(path.with_name("walk.trc"), joints=path))),
    Format("c3d", lambda folder: text("walk.c3d", c3d_bytes())(folder), use_motion),
    Format("sidecar", make_sidecar, lambda path: use_motion(path.with_name("walk.bvh"))),
    Format("roles", make_roles, lambda path: marey.load(path.with_name("walk.bvh"), roles=path)),
    Format(
        "registration",
        saved("reg.npz", lambda: register(pair())),
        lambda path: check(marey.blend(RegistrationCurve.load(path, pair()), [0.5, 0.5])),
    ),
    Format(
        "retarget",
        saved("map.json", lambda: marey.edit.RetargetMap.build(pair()[0], pair()[1].skeleton)),
        lambda path: check(marey.edit.retarget(pair()[0], marey.edit.RetargetMap.load(path))),
    ),
    Format(
        "graph",
        saved("graph.npz", graph),
        lambda path: check((loaded := MotionGraph.load(path)).random_walk(30.0 / loaded.fps).motion()),
    ),
    Format("directions", saved("table.npz", lambda: direction_table(graph(), 8)), use_table),
    Format("web", saved("web.npz", web), lambda path: list(MatchWeb.load(path).search(0, 5, 20, threshold=0.1))),
    Format(
        "parametric",
        saved("space.npz", reaches),
        lambda path: check((space := ParametricMotion.load(path))(space.samples[-1])),
    ),
    Format(
        "gait_space",
        saved("gait.npz", lambda: GaitSpace.build(walks())),
        lambda path: check((space := GaitSpace.load(path))(middle(space))),
    ),
    Format(
        "action_space",
        saved("action.npz", lambda: ActionSpace.build(ducks())),
        lambda path: check((space := ActionSpace.load(path))(middle(space))),
    ),
    Format(
        "splices",
        saved("set.npz", lambda: SpliceSet.build(pair())),
        lambda path: check(SpliceSet.load(path).splice(0, 1)),
    ),
    Format(
        "gaze_map",
        saved("map.json", lambda: GazeMap.build(GazeMap.default().examples[1:9], k=5)),
        lambda path: check(GazeMap.load(path).apply(pair()[0], [(0.8, 0.8, 0.1)])),
    ),
    Format("joint_limits", make_limits, lambda path: check(load_joint_limits(path).apply(pair()[0]))),
    Format("gaze_triads", text("triads.json", json.dumps({"base": "b", **TRIADS})), load_triads),
    Format("character", saved("walker.json", character), use_character),
    Format("plan", make_plan, use_plan),
    Format("sampled_character", saved("sampled.json", sampled), use_sampled),
    Format("sampled_clips", saved("sampled.glb", sampled), use_sampled),
    Format("recipe", text("me.toml", RECIPE), use_recipe),
    Format("project", text("walks.marey-project.json", json.dumps(PROJECT)), read_project),
    Format("recent", text("recent.json", json.dumps(RECENT)), use_recent),
    Format("path_csv", text("path.csv", PATH), read_path),
    Format("path_svg", text("path.svg", SVG), lambda path: read_path(path, length=5.0)),
    Format("labels", text("labels.csv", LABELS), use_labels),
    Format("weights_csv", text("weights.csv", WEIGHTS), use_weights),
    Format("values_csv", text("values.csv", VALUES), use_values),
    Format("looks_csv", text("looks.csv", LOOKS), lambda path: read_takes((str(path),))),
    Format("curve_csv", text("curve.csv", PATH), use_curve),
]  # fmt: skip


def mutate(data: bytes, rng: np.random.Generator) -> bytes:
    """Return a damaged copy: of its arrays or its JSON values if it has any, else, and sometimes anyway, of bytes."""
    if rng.random() < 0.8:
        if data[:2] == b"PK":
            return _mutate_arrays(data, rng)
        if data[:6] == b"\x93NUMPY" and rng.random() < 0.8:
            return _mutate_array(data, rng)
        if data[:1] == b"{":
            return _mutate_json(data, rng)
        if b"," in data.partition(b"\n")[0] and rng.random() < 0.7:
            return _mutate_table(data, rng)
    changed = bytearray(data)
    for _ in range(int(rng.integers(1, 4))):
        _damage(changed, rng)
    return bytes(changed)


def _pick(options: Any, rng: np.random.Generator) -> Any:
    return options[int(rng.integers(0, len(options)))]


def _mutate_arrays(data: bytes, rng: np.random.Generator) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: np.load(io.BytesIO(archive.read(name))) for name in archive.namelist()}
    for _ in range(int(rng.integers(1, 3))):
        name = _pick(list(members), rng)
        array = members[name]
        kind = int(rng.integers(0, 10))
        if kind == 0:
            del members[name]
            break
        if kind == 1:
            members[_pick(list(members), rng)] = array
        elif kind == 2:
            members[name] = _reshape(array, rng)
        elif kind == 3:
            with contextlib.suppress(ValueError, OverflowError), np.errstate(all="ignore"):
                members[name] = array.astype(
                    _pick(["f2", "f4", "f8", "i1", "i4", "i8", "u8", "?", "U3", "c16", "S2"], rng)
                )
        elif kind == 4 and array.dtype.kind == "U" and str(array)[:1] == "{":
            members[name] = np.array(_mutate_json(str(array).encode(), rng).decode("utf-8", "replace"))
        else:
            members[name] = _change_values(array, rng)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, array in members.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, np.asarray(array), allow_pickle=False)
            archive.writestr(name, member.getvalue())
    return out.getvalue()


def _mutate_array(data: bytes, rng: np.random.Generator) -> bytes:
    array = np.load(io.BytesIO(data))
    for _ in range(int(rng.integers(1, 3))):
        if rng.random() < 0.2:
            array = _reshape(array, rng)
        elif rng.random() < 0.2:
            with np.errstate(all="ignore"):
                array = array.astype(_pick(["f2", "f4", "i1", "i4", "u8", "?"], rng))
        else:
            array = _change_values(array, rng)
    out = io.BytesIO()
    np.lib.format.write_array(out, np.asarray(array), allow_pickle=False)
    return out.getvalue()


def _mutate_table(data: bytes, rng: np.random.Generator) -> bytes:
    """Damage the cells, rows or columns of a CSV table."""
    rows = [line.split(b",") for line in data.split(b"\n")]
    for _ in range(int(rng.integers(1, 4))):
        row = _pick(rows, rng)
        at = int(rng.integers(0, len(row)))
        kind = int(rng.integers(0, 8))
        if kind == 0:
            row[at:at] = _pick(rows, rng)
        elif kind == 1 and len(row) > 1:
            del row[at]
        elif kind == 2:
            rows.insert(int(rng.integers(0, len(rows))), list(row) * _pick([1, 1, 1, 40], rng))
        elif kind == 3:
            for each in rows:
                each[at : at + 1] = _pick([[], [b"1"], each[at : at + 1] * 2], rng) or [b""]
        elif kind == 4:
            rows += [list(row) for _ in range(_pick([1, 3, 200], rng))]
        else:
            row[at] = _pick([*_WORDS, row[at] * 3, b'"' + row[at], row[at] + b"f", b"-" + row[at]], rng)
    return b"\n".join(b",".join(row) for row in rows)


def _reshape(array: Any, rng: np.random.Generator) -> Any:
    kind = int(rng.integers(0, 8))
    if kind == 0 or array.ndim == 0:
        return array[None]
    axis = int(rng.integers(0, array.ndim))
    if kind == 1:
        return array.ravel()
    if kind == 2:
        return np.take(array, range(0), axis=axis)
    if kind == 3:
        return np.take(array, range(max(array.shape[axis] - 1, 0)), axis=axis)
    if kind == 4 and array.shape[axis]:
        return np.take(array, 0, axis=axis)
    if kind == 5:
        return np.concatenate([array, array], axis=axis)
    if kind == 6:
        return array.T
    return np.flip(array, axis)


def _change_values(array: Any, rng: np.random.Generator) -> Any:
    changed = np.array(array)
    if changed.size == 0:
        return changed
    if changed.dtype.kind == "U":
        changed = changed.astype(f"U{max(min(4000, 10**6 // changed.size), 64)}")
        options: Any = _TEXTS
    else:
        options = _FLOATS if changed.dtype.kind == "f" else _INTEGERS
    flat = changed.reshape(-1)
    at = int(rng.integers(0, len(flat)))
    span = _pick([1, 1, 1, 5, len(flat)], rng)
    value = _pick(options, rng)
    with np.errstate(all="ignore"), contextlib.suppress(OverflowError):
        if changed.dtype.kind == "f" and rng.random() < 0.3:
            flat[at : at + span] *= _pick([-1.0, 1e3, 1e9, 1e-9, 1e100], rng)
        elif changed.dtype.kind in "iu" and rng.random() < 0.3:
            flat[at : at + span] += _pick([1, -1, 100], rng)
        else:
            flat[at : at + span] = value
    return changed


def _mutate_json(data: bytes, rng: np.random.Generator) -> bytes:
    try:
        root = [json.loads(data)]
    except (ValueError, RecursionError):  # damaged before
        return data[: len(data) // 2]
    for _ in range(int(rng.integers(1, 3))):
        places = list(_places(root))
        if not places:
            break
        holder, key = _pick(places, rng)
        other, another = _pick(places, rng)
        try:
            _change_place(holder, key, other[another], int(rng.integers(0, 9)), rng)
        except (LookupError, TypeError, OverflowError):
            continue
    try:
        encoded = json.dumps(root[0] if root else None).encode()
    except (ValueError, RecursionError):  # circular references
        return data[: len(data) // 2]
    return encoded if rng.random() < 0.95 else encoded.replace(b"0", _pick(_DEEP, rng), 1)


def _change_place(holder: Any, key: Any, other: Any, kind: int, rng: np.random.Generator) -> None:
    value = holder[key]
    if kind == 0:
        del holder[key]
    elif kind == 1:
        holder[key] = [value]
    elif kind == 2:
        holder[key] = json.loads(json.dumps(other))
    elif kind == 3 and isinstance(holder, dict):
        holder[f"{key}x"] = holder.pop(key)
    elif kind == 4 and isinstance(value, list):
        holder[key] = value[:-1] if rng.random() < 0.5 else value + value
    elif kind == 5 and isinstance(value, int | float) and not isinstance(value, bool):
        holder[key] = value * _pick([-1, 1e3, 1e-9, 1e100, 10**30], rng)
    else:
        holder[key] = copy.deepcopy(_pick(_JSON, rng))  # later changes must not affect the table


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every list or dict with each of its keys."""
    waiting = [value]
    while waiting:
        holder = waiting.pop()
        keys = range(len(holder)) if isinstance(holder, list) else list(holder) if isinstance(holder, dict) else ()
        for key in keys:
            yield holder, key
            waiting.append(holder[key])


def _damage(data: bytearray, rng: np.random.Generator) -> None:
    """Make one random change in place."""
    at = int(rng.integers(0, max(len(data), 1)))
    length = int(rng.integers(1, 40))
    kind = int(rng.integers(0, 10))
    if kind == 0:
        for k in range(at, min(at + length // 8 + 1, len(data))):
            data[k] ^= 1 << int(rng.integers(0, 8))
    elif kind == 1:
        del data[at : at + length]
    elif kind == 2:
        data[at:at] = data[at : at + length] * int(rng.integers(1, 4))
    elif kind == 3:
        del data[at:]
    elif kind == 4:
        data[at:at] = rng.bytes(length)
    elif kind == 5:
        data[at : at + 4] = _pick([b"\xff\xff\xff\xff", b"\x00\x00\x00\x80", b"\xff\xff\xff\x7f"], rng)
    elif kind == 6:
        lines = bytes(data).split(b"\n")
        i, j = (int(k) for k in rng.integers(0, len(lines), 2))
        lines[i : i + 1] = _pick([[], [lines[j]], [lines[i]] * 2], rng)
        data[:] = b"\n".join(lines)
    else:
        a, b = (
            _TOKEN.search(data, start) or _TOKEN.search(data) for start in (at, int(rng.integers(0, len(data) + 1)))
        )
        if a and b:
            deep = rng.random() < 0.02
            data[a.start() : a.end()] = (
                _pick(_DEEP, rng) if deep else b[0] if rng.random() < 0.3 else _pick(_WORDS, rng)
            )


class TooSlow(BaseException):
    """Not an Exception: nothing in the library may catch it."""


@contextlib.contextmanager
def bounded(n_bytes: int) -> Iterator[None]:
    """Stop code that uses more processor time or memory than allowed."""

    def stop(*_: object) -> None:
        raise TooSlow(f"more than {CPU_SECONDS} s of processor time")

    before = signal.signal(signal.SIGVTALRM, stop)
    if tracemalloc.is_tracing():
        tracemalloc.reset_peak()
    start = tracemalloc.get_traced_memory()[0]
    signal.setitimer(signal.ITIMER_VIRTUAL, CPU_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    used = tracemalloc.get_traced_memory()[1] - start if tracemalloc.is_tracing() else 0
    assert used <= 20 * n_bytes + 96 * 2**20, f"{used / 2**20:.0f} MB for a file of {n_bytes} bytes"


def attempt(form: Format, path: Path, data: bytes) -> bool:
    """Load a damaged file and use it; return whether that worked. Raises if it fails without a proper error."""
    path.write_bytes(data)
    with warnings.catch_warnings(), bounded(len(data)):
        warnings.simplefilter("ignore")
        try:
            form.use(path)
        except MareyError as error:
            message = error.message if isinstance(error, FileError) else str(error).replace(str(path), "")
            assert message, "an empty message"
            assert "\n" not in message, f"several lines: {message[:200]!r}"
            assert len(message) < MAX_MESSAGE, f"{len(message)} characters: {message[:200]!r}"
            return False
    return True


def mutations(data: bytes, n: int, seed: str) -> Iterator[bytes]:
    """Yield the file cut off at 4 places, then `n` random mutations."""
    rng = np.random.default_rng([ord(c) for c in seed])
    for k in range(4):
        yield data[: k * len(data) // 4]
    for _ in range(n):
        yield mutate(data, rng)


CORPUS = Path(__file__).with_name("corpus")


def corpus(form: Format) -> list[Path]:
    """Return the stored inputs of a format that once failed."""
    return sorted(CORPUS.glob(f"{form.name}.*"))


def main(n: int, names: list[str], seed: str, found: Path) -> int:
    """Try `n` mutations of each named format; print each distinct failure once, and write its input to `found`.

    Memory is limited for the whole process rather than traced, which is several times faster.
    """
    import faulthandler
    import hashlib
    import resource
    import time
    import traceback

    resource.setrlimit(resource.RLIMIT_AS, (3 * 2**30, 3 * 2**30))
    total, failures = 0, 0
    for form in FORMATS:
        if names and form.name not in names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            path = form.make(Path(folder))
            original = path.read_bytes()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                form.use(path)
            began, n_usable, seen = time.process_time(), 0, dict[str, int]()
            for k, data in enumerate(mutations(original, n, form.name + seed)):
                if k % _WATCHED == 0:
                    faulthandler.dump_traceback_later(60 * _WATCHED, exit=True)
                total += 1
                try:
                    n_usable += attempt(form, path, data)
                except (Exception, TooSlow) as error:
                    calls = [f"{Path(f.filename).name}:{f.lineno}" for f in traceback.extract_tb(error.__traceback__)]
                    key = f"{type(error).__name__} {' > '.join(call for call in calls[-5:] if 'fuzzing' not in call)}"
                    seen[key] = seen.get(key, 0) + 1
                    if seen[key] == 1:
                        name = f"{form.name}.{hashlib.sha256(data).hexdigest()[:8]}"
                        found.mkdir(parents=True, exist_ok=True)
                        (found / name).write_bytes(data)
                        print(f"  {name} #{k}: {key}: {str(error)[:160]!r}", flush=True)
            faulthandler.cancel_dump_traceback_later()
            failures += sum(seen.values())
            took = time.process_time() - began
            failed = f"{sum(seen.values())} failures"
            print(f"{form.name}: {n} inputs of seed {seed!r}, {n_usable} usable, {failed}, {took:.0f} s", flush=True)
    print(f"{total} inputs, {failures} failures; failing inputs are in {found}")
    return 1 if failures else 0


if __name__ == "__main__":
    given = [word for word in sys.argv[2:] if "=" not in word]
    options = dict(word.split("=", 1) for word in sys.argv[2:] if "=" in word)
    sys.exit(main(int(sys.argv[1]), given, options.get("seed", ""), Path(options.get("found", "build/fuzz"))))
