"""Pages of the gallery: each script in docs/gallery, with the moving picture of the motions that it makes.

A script begins with a docstring: its title, and what it shows. It sets `shown`, a list of motions, and may set
`options` of `marey.render`. Pictures are drawn again only when the script or the version of marey has changed.
"""

from __future__ import annotations

import ast
import hashlib
import runpy
import warnings
from pathlib import Path
from typing import Any

import marey

SCRIPTS = Path(__file__).with_name("gallery")


def read_script(path: Path) -> tuple[str, str, str]:
    """Return the title, the text and the code of a script."""
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    title, _, text = (ast.get_docstring(tree) or path.stem).partition("\n")
    code = "\n".join(source.splitlines()[tree.body[0].end_lineno :])
    return title, text.strip(), code.strip()


def run_script(path: Path) -> tuple[list[marey.Motion], dict[str, Any]]:
    """Run a script; return the motions that it shows, and how."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        names = runpy.run_path(str(path))
    return list(names["shown"]), names.get("options", {})


def draw_script(script: Path, picture: Path, size: str = "480x270", fps: float = 20.0) -> None:
    """Write the moving picture of a script."""
    motions, options = run_script(script)
    marey.render(motions, picture, **{"size": size, "fps": fps, **options})


def write_gallery(folder: Path) -> None:
    """Write a page for each script, and an overview."""
    folder.mkdir(parents=True, exist_ok=True)
    index = [
        "# Gallery",
        "",
        "Small scripts that run as they are, on generated motion.",
        "",
        "::::{container} gallery",
        "",
    ]
    pages = []
    for script in sorted(SCRIPTS.glob("*.py")):
        title, text, code = read_script(script)
        key = hashlib.sha256(f"{marey.__version__} {script.read_text(encoding='utf-8')}".encode()).hexdigest()[:12]
        picture = folder / f"{script.stem}-{key}.webp"
        if not picture.exists():
            for old in folder.glob(f"{script.stem}-*.webp"):
                old.unlink()
            draw_script(script, picture)
        page = [f"# {title}", "", text, "", f"![{title}]({picture.name})", "", "```python", code, "```"]
        write_page(folder / f"{script.stem}.md", page)
        index += [f"[![{title}]({picture.name})]({script.stem}.md) [{title}]({script.stem}.md)", ""]
        pages.append(script.stem)
    write_page(folder / "index.md", [*index, "::::", "", "```{toctree}", ":hidden:", "", *pages, "```"])


def write_page(path: Path, lines: list[str]) -> None:
    """Write a page if it has changed, so that Sphinx reads only those again."""
    text = "\n".join(lines) + "\n"
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
