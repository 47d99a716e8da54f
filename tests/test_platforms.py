"""Conditions of Windows and macOS, simulated: missing POSIX calls, files held by other programs, no fork."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import marey
from marey.cli.main import main
from marey.errors import UnwritableFile
from marey.io import convert_folder
from marey.io.files import place_new, sync_folder
from marey.io.temporary import remove_stale
from marey.samples import straight_walk

PACKAGE = Path(marey.__file__).parent
# Modules and functions that Windows does not have; `hasattr` or an `except` must guard the functions.
POSIX_MODULES = {"fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios", "tty"}
POSIX_CALLS = {"fork", "forkpty", "getuid", "geteuid", "getpgid", "killpg", "mkfifo", "sched_getaffinity", "setsid"}


@cache
def list_nodes(path: Path) -> list[ast.AST]:
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def list_posix(path: Path) -> list[str]:
    """Return the POSIX-only imports and unguarded calls of a module."""
    source = path.read_text(encoding="utf-8")
    nodes, out = list_nodes(path), []
    tried = {inner for node in nodes if isinstance(node, ast.Try) for part in node.body for inner in ast.walk(part)}
    for node in nodes:
        if node in tried:
            continue
        if isinstance(node, ast.Import):
            out += [f"import {alias.name}" for alias in node.names if alias.name in POSIX_MODULES]
        elif isinstance(node, ast.ImportFrom) and node.module in POSIX_MODULES:
            out.append(f"from {node.module}")
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "os":
            guarded = f'hasattr(os, "{node.attr}")' in source or "sys.platform ==" in source or "os.name ==" in source
            if node.attr in POSIX_CALLS and not guarded:
                out.append(f"os.{node.attr}")
    return out


def test_no_call_works_on_posix_only():
    found = {path.name: list_posix(path) for path in PACKAGE.rglob("*.py")}
    assert {name: calls for name, calls in found.items() if calls} == {}


def test_the_check_finds_such_calls(tmp_path):
    bad = tmp_path / "bad.py"
    bad.write_text("import os\nimport fcntl\nos.fork()\n")
    assert list_posix(bad) == ["import fcntl", "os.fork"]


def test_paths_are_never_put_together_by_hand():
    """Names of opened files contain no '/' between folder and name: os.path and pathlib know the separator."""
    for path in PACKAGE.rglob("*.py"):
        for node in list_nodes(path):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "open" and node.args:
                assert not isinstance(node.args[0], ast.JoinedStr), f"{path.name}, line {node.lineno}"


def test_saving_works_without_hard_links_and_without_synced_folders(tmp_path, monkeypatch):
    """FAT file systems have no hard links; Windows cannot open a folder."""

    def refuse(*args, **options):
        raise OSError("not supported")

    monkeypatch.setattr(os, "link", refuse)
    part, target = tmp_path / "part", tmp_path / "whole"
    part.write_bytes(b"x")
    place_new(part, target)
    assert target.read_bytes() == b"x"
    part.write_bytes(b"y")
    with pytest.raises(FileExistsError):
        place_new(part, target)
    assert target.read_bytes() == b"x"
    real = os.open
    monkeypatch.setattr(
        os, "open", lambda path, *rest, **options: refuse() if os.path.isdir(path) else real(path, *rest)
    )
    sync_folder(tmp_path)
    marey.save(straight_walk()[:5], tmp_path / "walk.bvh")
    assert len(marey.load(tmp_path / "walk.bvh", trim_rest=False)) == 5


def test_names_that_differ_only_in_case_are_the_same_name(tmp_path, capsys):
    """On Windows and macOS, walk.bvh and Walk.bvh are one file: the second must not replace the first."""
    for name in ("a/Walk.npz", "a/walk.bvh", "b/walk.npz"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        marey.save(straight_walk()[:40], tmp_path / name)
    report = convert_folder(tmp_path / "a", tmp_path / "glb", "glb")
    assert len({file.output.casefold() for file in report.files}) == 2
    (tmp_path / "a" / "walk.bvh").unlink()
    folders = [str(tmp_path / each) for each in ("a", "b")]
    assert main(["check", *folders, "--fix", str(tmp_path / "fixed")]) == 2
    assert "two clips would have this name" in capsys.readouterr().err


def test_a_file_that_another_program_holds_is_kept_and_named(tmp_path, monkeypatch):
    """On Windows, a file that is open elsewhere cannot be replaced."""
    target = tmp_path / "walk.bvh"
    walk = straight_walk()
    marey.save(walk[:5], target)
    before = target.read_bytes()

    def refuse(source, destination, **options):
        raise PermissionError(13, "The process cannot access the file because it is being used by another process")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(UnwritableFile, match="another process"):
        marey.save(walk[:9], target)
    monkeypatch.undo()
    assert target.read_bytes() == before
    assert {path.suffix for path in tmp_path.iterdir()} <= {".bvh", ".json"}  # nothing remains


def test_temporary_folders_are_left_alone_without_user_ids(monkeypatch, tmp_path):
    monkeypatch.delattr(os, "getuid")
    assert remove_stale(tmp_path) == 0


def test_workers_do_not_need_fork(tmp_path):
    """The parallel builders start their workers by spawn, in a process that has no fork at all."""
    code = (
        "import os, sys\n"
        "if __name__ == '__main__':\n"
        "    del os.fork\n"
        "    from marey.store import MotionSet, processes\n"
        "    from marey.samples import straight_walk\n"
        "    import marey\n"
        "    for k in range(2): marey.save(straight_walk()[: 40 + k], f'{sys.argv[1]}/walk{k}.bvh')\n"
        "    clips = MotionSet.open(sys.argv[1]).summarize(run=processes(2))\n"
        "    print(len(clips))\n"
    )
    script = tmp_path / "script.py"
    script.write_text(code)
    takes = tmp_path / "takes"
    takes.mkdir()
    done = subprocess.run([sys.executable, str(script), str(takes)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "2\n"), done.stderr
