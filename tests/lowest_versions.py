"""Test marey with the lowest versions that pyproject.toml allows; `make test-lowest` runs this file.

It builds a virtual environment with exactly these versions, then generates, cleans, blends, saves, loads and plots
motion, builds a graph, runs the command line, and talks to the studio's server. It needs the library of compiled
kernels (`make kernels`), which it takes from this checkout.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]


def lowest_requirements(extras: tuple[str, ...] = ("plot", "studio")) -> list[str]:
    """Return the requirements of marey and its extras, each pinned to its lower bound."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"]]
    for extra in extras:
        wanted += project["optional-dependencies"][extra]
    pins = [re.sub(r">=([\w.]+).*", r"==\1", requirement) for requirement in wanted]
    for pin in pins:
        assert re.fullmatch(r"[\w-]+==[\w.]+", pin), f"{pin!r} has no lower bound"
    return pins


def build_environment(folder: Path) -> Path:
    """Install the lowest versions into a new environment and return its Python."""
    venv.create(folder, with_pip=True, clear=True)
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    pins = lowest_requirements()
    print("installing", *pins, flush=True)
    # Imported modules are compiled when they are used; compiling everything would take longer than the rest.
    options = ["--quiet", "--disable-pip-version-check", "--no-compile"]
    subprocess.run([python, "-m", "pip", "install", *options, *pins], check=True)
    return python


def smoke_test(folder: Path) -> None:
    """Use each dependency once."""
    import numpy as np

    import marey
    from marey import samples
    from marey.cli.main import main

    print(f"Python {sys.version.split()[0]}, NumPy {np.__version__}", flush=True)
    walk, fast = (samples.sample("walk", speed=speed).motion for speed in (1.2, 1.6))
    cleaned = marey.clean(walk)
    assert len(cleaned) == len(walk)
    blended = marey.blend([walk, fast], [0.5, 0.5])
    for suffix in ("bvh", "glb", "npz"):
        path = folder / f"blend.{suffix}"
        marey.save(blended, path)
        assert abs(len(marey.load(path)) - len(blended)) <= 1
    graph = marey.MotionGraph.build([walk, fast], threshold="20%")
    graph.save(folder / "graph.npz")
    loaded = marey.MotionGraph.load(folder / "graph.npz")
    assert loaded.random_walk(seconds=5).motion().duration >= 4.9
    clip = str(folder / "blend.bvh")
    for arguments in (
        ["--help"],
        ["info", clip],
        ["measure", clip],
        ["plot", "filmstrip", clip, "-o", str(folder / "film.png")],
        ["graph", "info", str(folder / "graph.npz")],
        ["clean", clip, str(folder / "clean.glb"), "--plot", str(folder / "clean.svg")],
        ["view", clip, "-o", str(folder / "view.html")],
    ):
        assert main(arguments) == 0, arguments
    check_studio(folder)


def check_studio(folder: Path) -> None:
    """Watch a motion live for a second, through the studio's server."""
    import asyncio

    import marey
    from marey.bench.studio import run_server, watch_pages

    marey.save(marey.load(folder / "blend.bvh"), folder / "clip.bvh")
    with run_server(str(folder)) as (_, url):
        pages = asyncio.run(watch_pages(url, 1, 1.0, 30.0))
    assert pages[0].lost == 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--smoke"]:
        with tempfile.TemporaryDirectory() as work:
            smoke_test(Path(work))
        print("the smoke test passed")
    else:
        with tempfile.TemporaryDirectory() as work:
            python = build_environment(Path(work) / "venv")
            paths = {"PYTHONPATH": str(ROOT / "src")}
            sys.exit(subprocess.run([python, __file__, "--smoke"], env=os.environ | paths).returncode)
