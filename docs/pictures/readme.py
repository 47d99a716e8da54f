"""The moving picture of README.md."""

from __future__ import annotations

from pathlib import Path

from gallery_pages import SCRIPTS, draw_script


def draw(folder: Path) -> None:
    draw_script(SCRIPTS / "speed_up.py", folder / "speed_up.webp", size="420x236", fps=12.0)
