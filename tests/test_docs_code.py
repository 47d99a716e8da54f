"""Code in the documentation: commands and options exist, names and keywords exist, and the first pages run."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import click
import pytest

import marey
from marey.cli.main import SECTIONS, cli, main

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [*sorted(DOCS.glob("*.md")), *(ROOT / name for name in ("README.md", "CONTRIBUTING.md"))]
FENCED = re.compile(r"^```(\w*)\n(.*?)^```", re.S | re.M)

pytestmark = pytest.mark.skipif(not DOCS.exists(), reason="no docs folder beside the tests")


def commands_of(page: Path) -> Iterator[str]:
    """Yield the commands in the code blocks of a page, without the comments behind them."""
    text = page.read_text(encoding="utf-8")
    blocks = [block for language, block in FENCED.findall(text) if not language]
    blocks += re.findall(r"(?:^    .*\n)+", FENCED.sub("", text), re.M)
    for block in blocks:
        for line in block.replace("\\\n", " ").splitlines():
            if line.strip().startswith("marey "):
                yield re.split(r"\s+[#>|]\s", line.strip().replace("$k", "1"))[0]


def mentions_of(page: Path) -> Iterator[str]:
    """Yield the commands within the text of a page; they may be incomplete."""
    for mention in re.findall(r"`(marey [^`]+)`", FENCED.sub("", page.read_text(encoding="utf-8"))):
        yield mention.replace("\\|", "|").replace("\n", " ")


def parse_command(line: str) -> None:
    """Parse a command as the command line does, without running it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(click.Command, "invoke", lambda self, context: None)
        cli.main(shlex.split(line)[1:], prog_name="marey", standalone_mode=False)


def python_of(page: Path) -> Iterator[ast.Module]:
    for language, block in FENCED.findall(page.read_text(encoding="utf-8")):
        if language == "python":
            yield ast.parse(inspect.cleandoc(block) if block.startswith(" ") else block)


def find_name(node: ast.expr, known: dict[str, Any]) -> Any:
    """Return the object that a dotted name stands for; None for names of variables and what they have."""
    if isinstance(node, ast.Name):
        return known.get(node.id)
    if isinstance(node, ast.Attribute):
        owner = find_name(node.value, known)
        return getattr(owner, node.attr) if isinstance(owner, (ModuleType, type)) else None
    return None


def check_python(tree: ast.Module) -> None:
    """Check that imports and dotted names of marey exist, and that calls use keywords that the functions have."""
    known: dict[str, Any] = {"marey": marey}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("marey"):
            module = importlib.import_module(str(node.module))
            for each in node.names:
                known[each.asname or each.name] = getattr(module, each.name)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            find_name(node, known)
        if isinstance(node, ast.Call) and callable(function := find_name(node.func, known)):
            keywords = {each.arg for each in node.keywords if each.arg}
            taken = inspect.signature(function).parameters
            if not any(each.kind is each.VAR_KEYWORD for each in taken.values()):
                assert keywords <= set(taken), f"{ast.unparse(node.func)} has no {keywords - set(taken)}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_can_be_parsed(page):
    for line in commands_of(page):
        try:
            parse_command(line)
        except click.ClickException as error:
            pytest.fail(f"{line}: {error.format_message()}")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_in_the_text_exist(page):
    for line in mentions_of(page):
        try:
            parse_command(line)
        except click.MissingParameter:
            continue
        except click.UsageError as error:
            if type(error).__name__ != "NoArgsIsHelpError" and line != "marey edit OP IN OUT":
                pytest.fail(f"{line}: {error.format_message()}")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_names_and_keywords_of_python_exist(page):
    for tree in python_of(page):
        check_python(tree)


def test_wrong_code_is_found():
    with pytest.raises(click.NoSuchOption):
        parse_command("marey clean walk.bvh out.bvh --no-such-option")
    with pytest.raises(click.UsageError, match="extra argument"):
        parse_command("marey studio takes and more")
    with pytest.raises(AttributeError):
        check_python(ast.parse("marey.tidy(walk)"))
    with pytest.raises(AssertionError, match="has no {'max_lift'}"):
        check_python(ast.parse("from marey.io import load\nload('walk.bvh', max_lift=1.0)"))


def test_the_table_of_commands_is_complete():
    listed = re.findall(r"reference/commands/(\w+)\.md", (DOCS / "command_line.md").read_text(encoding="utf-8"))
    assert set(listed) == {name for names in SECTIONS.values() for name in names}


@pytest.mark.slow("runs all commands of a page, one of which draws an animation")
def test_start_runs_as_printed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = DOCS / "start.md"
    for line in commands_of(page):
        if not line.startswith("marey studio"):
            assert main(shlex.split(line)[1:]) == 0, line
    for tree in python_of(page):
        exec(compile(tree, "start.md", "exec"), {})
    assert {"held.bvh", "jog.bvh", "jog.gif", "jog.html", "graph.npz", "long.bvh", "jog.glb"} <= {
        path.name for path in tmp_path.iterdir()
    }


@pytest.mark.slow("builds a character from clips")
def test_your_own_files_become_a_character(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "takes").mkdir()
    for turn in (-25, 0, 25, 50):
        walk = marey.samples.sample("walk", seconds=10.0, turn_rate=turn / 57.3).motion
        marey.save(walk, tmp_path / "takes" / f"walk{turn or ''}.fbx")
    page = DOCS / "your_files.md"
    (recipe,) = [block for language, block in FENCED.findall(page.read_text(encoding="utf-8")) if language == "toml"]
    (tmp_path / "me.toml").write_text(recipe)
    for line in commands_of(page):
        if not line.startswith("marey studio"):
            assert main(shlex.split(line)[1:]) == 0, line
    assert len(marey.load(tmp_path / "me.bvh")) > 300
    assert (tmp_path / "me.html").stat().st_size > 100_000
