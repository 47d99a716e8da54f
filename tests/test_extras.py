"""marey without its optional packages: most of it works, and the rest names the command that installs them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import marey
from marey import samples

PLOT, STUDIO = "pip install '.[plot]'", "pip install '.[studio]'"
OPTIONAL = ("matplotlib", "starlette", "uvicorn", "websockets", "distributed", "numba")

_BLOCKED = """
import sys
for package in {packages!r}:
    sys.modules[package] = None
{code}
"""
_MAIN = "from marey.cli.main import main\nsys.exit(main(sys.argv[1:]))"


def run_without(packages: tuple[str, ...], code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run Python code in a process in which these packages cannot be imported."""
    source = _BLOCKED.format(packages=packages, code=code)
    command = [sys.executable, "-c", source, *map(str, arguments)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clips")
    for name in ("walk", "run"):
        marey.save(samples.sample(name, fps=30.0, seconds=3.0).motion, folder / f"{name}.bvh")
    return folder


def test_the_library_works_without_extras(clips: Path, tmp_path: Path) -> None:
    code = """
import marey
walk, run = (marey.load(f"{sys.argv[1]}/{name}.bvh") for name in ("walk", "run"))
marey.save(marey.clean(walk), f"{sys.argv[2]}/clean.glb")
marey.save(marey.blend([walk, run], [0.5, 0.5]), f"{sys.argv[2]}/blend.npz")
"""
    done = run_without(OPTIONAL, code, clips, tmp_path)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in tmp_path.iterdir()} >= {"clean.glb", "blend.npz"}


@pytest.mark.parametrize("command", ["info", "measure", "view"])
def test_commands_without_plots_need_no_extra(clips: Path, tmp_path: Path, command: str) -> None:
    output = ["-o", tmp_path / "page.html"] if command == "view" else []
    done = run_without(OPTIONAL, _MAIN, command, clips / "walk.bvh", *output)
    if command == "view" and "page is not built" in done.stderr:
        pytest.skip("the studio's page is not built")
    assert done.returncode == 0, done.stderr


NEED_EXTRAS = {
    PLOT: (
        "plot filmstrip walk.bvh -o walk.png",
        "clean walk.bvh out.bvh --plot feet.png",
        "grid walk.bvh run.bvh -o grid.png",
        "blend walk.bvh run.bvh -o out.bvh --report figures",
        "transition walk.bvh run.bvh -o out.bvh --report figures",
        "splice walk.bvh run.bvh -o out.bvh --report figures",
        "gaze apply walk.bvh out.bvh --look 1:20:0 --report figures",
        "graph plot graph.npz -o graph.png",
        "graph path graph.npz --word no -o out.bvh --plot path.png",
        "find search web.npz walk 0 1 --threshold 0.1 --plot found.png",
        "find grid web.npz walk run -o grid.png",
        "parametric range space.npz --plot range.png",
        "pmg plot walker.json -o walker.png",
        "pmg reach walker.json -o reach.png",
        "demo demo",
    ),
    STUDIO: ("studio",),
}
_RUN_ALL = """
import contextlib, io, json, os
from marey.cli.main import main
os.chdir(sys.argv[1])
for line in sys.argv[2:]:
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        code = main(line.split())
    print(json.dumps([line, code, said.getvalue(), sorted(os.listdir())]))
"""


def test_a_command_names_its_extra(clips: Path) -> None:
    """All in one process, because each process would spend most of its time on imports."""
    before = sorted(path.name for path in clips.iterdir())
    lines = {line: extra for extra, lines in NEED_EXTRAS.items() for line in lines}
    done = run_without(OPTIONAL, _RUN_ALL, clips, *lines)
    answers = [json.loads(answer) for answer in done.stdout.splitlines()]
    assert len(answers) == len(lines), done.stderr
    for line, code, said, files in answers:
        assert code == 2, line
        assert lines[line] in said, line
        assert len(said.splitlines()) == 1, line
        assert files == before, f"{line} wrote a file"


@pytest.mark.parametrize("package", ["starlette", "uvicorn", "websockets"])
def test_the_studio_names_each_missing_package(package: str) -> None:
    done = run_without((package,), _MAIN, "studio", "--no-browser")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"the studio needs the package {package}, which is not installed; run `{STUDIO}`" in done.stderr


def test_a_plot_in_python_raises_missing_dependency() -> None:
    code = "import marey\ntry:\n    marey.plot\nexcept marey.errors.MissingDependency as error:\n    print(error)"
    done = run_without(("matplotlib",), code)
    message = f"plots need the package matplotlib, which is not installed; run `{PLOT}` in a checkout of marey"
    assert done.stdout.strip() == message


def test_a_cluster_names_its_extra() -> None:
    code = "import marey.store\nlist(marey.store.cluster('tcp://127.0.0.1:1')(abs, [1]))"
    done = run_without(("distributed",), code)
    assert "MissingDependency" in done.stderr
    assert "pip install '.[cluster]'" in done.stderr
