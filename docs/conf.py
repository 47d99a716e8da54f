"""Configuration of the documentation site: `make docs` builds it with Sphinx into build/docs."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from benchmark_tables import fill_page  # noqa: E402
from command_pages import write_commands  # noqa: E402
from concept_pages import write_concepts  # noqa: E402
from gallery_pages import write_gallery, write_page  # noqa: E402
from notebook_pages import write_tutorials  # noqa: E402

import marey  # noqa: E402
from marey.core.settings import UNITS, Settings, options_of  # noqa: E402

project = "marey"
author = "The marey authors"
copyright = author
version = release = marey.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc"]
source_suffix = {".md": "markdown"}
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "deflist"]
smartquotes = False  # quotes of code in the help of commands stay as they are
html_theme = "pydata_sphinx_theme"
html_title = "marey"
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "show_prev_next": True,
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 7,
}
html_sidebars: dict[str, list[str]] = {"start": [], "studio": [], "concepts": []}  # pages without subpages
html_show_sourcelink = False
html_copy_source = False
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_extra_path = ["reference/extra"]
toc_object_entries_show_parents = "hide"  # long names would be cut off
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autosummary_generate = False
numpydoc_show_class_members = False
default_role = "code"

# Packages in the reference, in the order in which a reader needs them.
PACKAGES = (
    *("core", "io", "clean", "measure", "check", "edit", "compare", "register", "blend", "graph", "find", "parametric"),
    *("layer", "pmg", "control", "play", "store", "samples", "plot", "studio", "maths", "errors"),
)


def describe_parameters(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Turn ``name : description``, as marey's docstrings have it, into a term and its definition."""
    out: list[str] = []
    inside = False
    if what == "module":  # where names are declared matters to contributors only
        text = re.sub(r"\s*Names are listed in __init__\.pyi[^.]*\.", "", "\n".join(lines))
        lines[:] = text.split("\n")
    for line in lines:
        match = re.match(r"^([\w*]+(?:, [\w*]+)*) : (.*)$", line)
        if match:
            if out and out[-1].strip() and not out[-1].startswith((" ", "-")):
                out.append("")
            out += [match[1], f"    {match[2]}"]
            inside = True
        else:
            inside = inside and bool(line.strip())
            out.append(f"    {line.lstrip()}" if inside else line)
    lines[:] = out


def list_options(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Add the options to the docstring of a class of settings."""
    if inspect.isclass(obj) and issubclass(obj, Settings) and obj is not Settings:
        lines += ["", "Parameters", "----------"]
        for each in options_of(obj):
            facts = ", ".join(part for part in (UNITS.get(each.unit, each.unit), each.describe_range()) if part)
            lines.append(f"{each.name} : {each.help}" + (f" ({facts})" if facts else ""))
        lines.append("")


def sign_settings(
    app: Any, what: str, name: str, obj: Any, options: Any, signature: str, returned: str
) -> tuple[str, str] | None:
    """Return the options as the signature of a class of settings, and none for a protocol."""
    if getattr(obj, "_is_protocol", False):
        return "", returned
    if inspect.isclass(obj) and issubclass(obj, Settings) and obj is not Settings:
        return f"(*, {', '.join(f'{each.name}={each.default!r}' for each in options_of(obj))})", returned
    return None


def is_deprecated(value: Any) -> bool:
    """Return whether a docstring says that its object is deprecated."""
    return bool(re.match(r"\s*Deprecated\b", getattr(value, "__doc__", None) or ""))


def skip_deprecated(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Leave old names out of the reference."""
    return True if is_deprecated(obj) else None


def public_names(module: Any) -> Iterator[tuple[str, Any]]:
    """Yield the public names of a package that are not modules, each once."""
    for name in sorted(getattr(module, "__all__", []), key=str.lower):
        value = getattr(module, name)
        if not inspect.ismodule(value) and not is_deprecated(value):
            yield name, value


def write_api(folder: Path) -> None:
    """Write one page for each package, with all its public names."""
    folder.mkdir(parents=True, exist_ok=True)
    index = ["# Python reference", "", "Distances are in meters, angles in radians, times in seconds; Y is up.", ""]
    index += ["The examples run as they stand after these lines:", ""]
    ready = (HERE / "example_names.py").read_text(encoding="utf-8")
    index += ["```python", ready.partition('"""\n\n')[2].rstrip(), "```", ""]
    index += ["```{toctree}", ":maxdepth: 1", ""]
    for package in PACKAGES:
        title = f"marey.{package}"
        module = importlib.import_module(title)
        page = [f"# {title}", "", "```{eval-rst}", f".. automodule:: {title}", ""]
        names = list(public_names(module)) or [
            (name, value)
            for name, value in vars(module).items()
            if getattr(value, "__module__", "") == title and not name.startswith("_")
        ]
        for name, value in names:
            home = getattr(value, "__module__", title).split(".")
            if home[0] == "marey" and home[1:2] != [package] and home[1:2] and home[1] in PACKAGES:
                continue  # on the page of its own package
            kind = "autoclass" if inspect.isclass(value) else "autofunction" if callable(value) else "autodata"
            page += [f".. {kind}:: {title}.{name}", *(["   :members:"] if kind == "autoclass" else []), ""]
        page.append("```")
        if package == "maths":  # its functions are in modules
            for name in (name for name in module.__all__ if inspect.ismodule(getattr(module, name))):
                page += [
                    "",
                    f"## {title}.{name}",
                    "",
                    "```{eval-rst}",
                    f".. automodule:: {title}.{name}",
                    "   :members:",
                ]
                page.append("```")
        write_page(folder / f"{package}.md", page)
        index.append(package)
    write_page(folder / "index.md", [*index, "```"])


def mark_lines(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Mark lines of code and the options in them: site.css indents wrapped lines and keeps options whole."""

    def mark(block: re.Match[str]) -> str:
        code = re.sub(r"(?<![\w-])--?[a-z][\w-]*", r'<span class="code-option">\g<0></span>', block[1])
        return "<pre>" + "".join(f'<span class="code-line">{line}</span>' for line in code.splitlines(True)) + "</pre>"

    context["body"] = re.sub(r"<pre>(.*?)</pre>", mark, context.get("body", ""), flags=re.S)


def setup(app: Any) -> None:
    """Write the generated pages, before Sphinx lists the sources."""
    write_api(HERE / "reference" / "api")
    write_commands(HERE / "reference" / "commands")
    write_concepts(HERE / "reference" / "extra" / "views")
    write_gallery(HERE / "reference" / "gallery")
    write_tutorials(HERE / "reference" / "tutorials")
    app.connect("source-read", fill_page)
    app.connect("html-page-context", mark_lines)
    app.connect("autodoc-skip-member", skip_deprecated)
    app.connect("autodoc-process-signature", sign_settings)
    app.connect("autodoc-process-docstring", list_options, priority=390)
    app.connect("autodoc-process-docstring", describe_parameters, priority=400)
