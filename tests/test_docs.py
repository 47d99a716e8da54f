"""The documentation: every page is on the site, every link has a target, and every public name is explained."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import json
import re
from pathlib import Path

import pytest

from marey.core.settings import Settings

DOCS = Path(__file__).parents[1] / "docs"
PAGES = sorted(DOCS.glob("*.md"))
GENERATED = ("reference/",)
PACKAGES = (
    *("core", "io", "clean", "measure", "check", "edit", "compare", "register", "blend", "graph", "find", "parametric"),
    *("layer", "pmg", "control", "play", "store", "samples", "plot", "studio", "maths", "errors"),
)

pytestmark = pytest.mark.skipif(not PAGES, reason="no docs folder beside the tests")


def anchors(page: Path) -> set[str]:
    """The anchors of the headings of a page, as GitHub and MyST make them."""
    titles = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.M)
    plain = [re.sub(r"[^\w\- ]", "", title.replace("`", "").lower()) for title in titles]
    return {title.strip().replace(" ", "-") for title in plain}


def test_every_page_is_on_the_site():
    listed = {"index"}
    for page in PAGES:
        for block in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(encoding="utf-8"), re.S):
            listed |= {line.strip() for line in block.splitlines() if line.strip() and not line.startswith(":")}
    assert {page.stem for page in PAGES} <= listed
    assert {name for name in listed if not name.startswith(GENERATED)} <= {page.stem for page in PAGES}


@pytest.mark.parametrize(
    "page", [*PAGES, DOCS.parent / "README.md", DOCS.parent / "CONTRIBUTING.md"], ids=lambda p: p.name
)
def test_links_lead_to_files_and_headings(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in link or link.startswith(GENERATED):
            continue
        file, _, anchor = link.partition("#")
        assert page.parent != DOCS or not file.startswith(".."), f"{link} is not on the site"
        target = (page.parent / file) if file else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_has_a_docstring(package):
    module = importlib.import_module(f"marey.{package}")
    assert inspect.getdoc(module)
    for name in getattr(module, "__all__", []):
        value = getattr(module, name)
        if not (inspect.isclass(value) or inspect.isroutine(value)):  # a module, or the name of a type
            continue
        assert inspect.getdoc(value), f"marey.{package}.{name}"
        if inspect.isclass(value) and not issubclass(value, (Settings, BaseException)):
            for method, function in vars(value).items():
                if not method.startswith("_") and inspect.isfunction(function):
                    assert inspect.getdoc(getattr(value, method)), f"marey.{package}.{name}.{method}"


@pytest.mark.parametrize("package", PACKAGES)
def test_every_parameter_has_its_own_line(package):
    """The reference shows a description as such only if its name begins a line."""
    merged = re.compile(r"^\s+[\w*]+(?:, [\w*]+)* : .*[.;] [a-z_]+(?:, [a-z_]+)* : ", re.M)
    module = importlib.import_module(f"marey.{package}")
    values = [getattr(module, name) for name in getattr(module, "__all__", [])]
    values += [inner for value in values if inspect.isclass(value) for inner in vars(value).values()]
    assert [found[0] for value in values if (found := merged.search(getattr(value, "__doc__", None) or ""))] == []


def test_the_pictures_are_small():
    """All pictures together have at most 3 MB."""
    assert sum(path.stat().st_size for path in (DOCS / "images").iterdir()) <= 3_000_000


def test_the_version_is_the_same_everywhere():
    from marey import __version__

    root = DOCS.parent
    for file, form in (
        ("pyproject.toml", 'version = "{}"'),
        ("CITATION.cff", "version: {}"),
        ("conda/meta.yaml", 'version: "{}"'),
    ):
        assert form.format(__version__) in (root / file).read_text(encoding="utf-8"), file


def test_the_tables_of_speed_are_those_that_were_measured():
    from marey.bench import BENCHES

    spec = importlib.util.spec_from_file_location("benchmark_tables", DOCS / "benchmark_tables.py")
    tables = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tables)
    assert sorted(name for names in tables.GROUPS.values() for name in names) == sorted(BENCHES)
    results = json.loads(tables.FILE.read_text(encoding="utf-8"))
    page = [(DOCS / "speed.md").read_text(encoding="utf-8")]
    tables.fill_page(None, "speed", page)
    rows = [line.split(" | ") for line in page[0].splitlines() if line.startswith("| ") and line.count(" | ") == 4]
    assert [row[0].removeprefix("| ") for row in rows if row[1] != "marey"] == [
        each["what"] for each in results if each["goal"]
    ]
    assert tables.PLACE not in page[0]


@pytest.mark.filterwarnings("error::DeprecationWarning")
@pytest.mark.parametrize("script", sorted(path.name for path in DOCS.glob("measure_*.py")))
def test_scripts_that_measure_import_names_that_exist(script):
    tree = ast.parse((DOCS / script).read_text(encoding="utf-8"))
    found = [
        node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and str(node.module).startswith("marey")
    ]
    assert found
    for node in found:
        module = importlib.import_module(str(node.module))
        for each in node.names:
            if not hasattr(module, each.name):  # a module of a package
                importlib.import_module(f"{node.module}.{each.name}")
