"""Cache of built-in characters on disk, so that a restarted studio need not build them again.

A folder has the character, its plans (see `marey.control.plan_file`), and ``drive.npz`` with what the Drive panel
computes in addition: the table for going to points, and the limits of the character.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from marey.control import GoToSettings, Planner, get_planner, load_plan, save_plan
from marey.control.planner_tables import ValueTable
from marey.core.arrays import set_readonly
from marey.errors import FileError
from marey.maths.value_kernels import GoalGrid
from marey.pmg import ParametricMotionGraph
from marey.studio.panels.drive_controllers import describe_limits
from marey.studio.panels.drive_steering import find_turning

# Packages whose code does not change a character.
_OTHERS = ("bench", "cli", "plot", "studio")
# Maximum number of other versions of the code whose characters stay on disk.
_MAX_OTHERS = 2


def find_cached(recipe: str) -> Path | None:
    """Return the file of a built-in character that was built by the same code; None if there is none."""
    path = _find_folder() / recipe / "shared.json"
    return path if path.is_file() else None


def store(recipe: str, file: Path) -> Path:
    """Copy a built character, with the files in its folder, to the cache; return its path there.

    If the cache cannot be written, the character stays where it is.
    """
    folder = _find_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        others = (old for old in folder.parent.iterdir() if old != folder)  # of other versions of the code
        for old in sorted(others, key=os.path.getmtime, reverse=True)[_MAX_OTHERS:]:
            shutil.rmtree(old, ignore_errors=True)
        new = Path(tempfile.mkdtemp(dir=folder, prefix=f"{recipe}.new"))
        shutil.copytree(file.parent, new, dirs_exist_ok=True)
        try:
            os.replace(new, folder / recipe)
        except OSError:  # another studio has just stored the same character
            shutil.rmtree(new, ignore_errors=True)
    except OSError:
        return file
    return find_cached(recipe) or file


def save_plans(graph: ParametricMotionGraph, character: Path) -> None:
    """Compute everything that driving a character needs, and write it next to the character."""
    save_plan(graph, character)
    table = _get_turning_planner(graph).table("point") if find_turning(graph) else None
    parts: dict[str, Any] = {"limits": np.array(json.dumps(describe_limits(graph)))}
    if table is not None:
        grid = table.grid
        sizes = np.array([grid.n_bearings, grid.n_headings, grid.slowness])
        parts |= {"values": table.values.astype(np.float16), "distances": grid.distances, "sizes": sizes}
    np.savez(character.with_name("drive.npz"), **parts)


def read_plans(graph: ParametricMotionGraph, character: Path) -> tuple[str, ...] | None:
    """Let a character use the plans next to it; return its limits. None if there are none, or if they are damaged."""
    try:
        if not load_plan(graph, character):
            return None
        with np.load(character.with_name("drive.npz"), allow_pickle=False) as found:
            limits = tuple(str(text) for text in json.loads(str(found["limits"])))
            if "values" in found:
                bearings, headings, slowness = found["sizes"].tolist()
                grid = GoalGrid(found["distances"], int(bearings), int(headings), slowness)
                table = ValueTable(grid, set_readonly(found["values"].astype(np.float64)), 0)
                _get_turning_planner(graph).put_tables({"point": table})
    except (FileError, OSError, ValueError, KeyError, BadZipFile):
        return None
    return limits


def _get_turning_planner(graph: ParametricMotionGraph) -> Planner:
    """Return the planner that the Drive panel uses for walks to points, with default settings."""
    return get_planner(graph, find_turning(graph), GoToSettings().short_way)


def remove(recipe: str) -> None:
    """Remove a character that cannot be read."""
    shutil.rmtree(_find_folder() / recipe, ignore_errors=True)


def _find_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "marey" / "characters" / _hash_code()


@cache
def _hash_code() -> str:
    """Return a hash of the code and the recipes from which characters are built."""
    root = Path(__file__).parents[1]
    files = (path for path in root.rglob("*") if path.suffix in (".py", ".toml"))
    digest = hashlib.blake2b(digest_size=16)
    for path in sorted(files):
        if path.relative_to(root).parts[0] not in _OTHERS:
            digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
