"""Locate the built page."""

from __future__ import annotations

from pathlib import Path

from marey.errors import UnreadableFile

PAGE = Path(__file__).parent / "page"


def read_built(page: Path, name: str) -> str:
    """Read a file of the built page as text."""
    check_built(page, name)
    return (page / name).read_text(encoding="utf-8").replace("\r\n", "\n")


def check_built(page: Path, name: str) -> None:
    """Raise an error if a file of the built page is missing."""
    if not (page / name).is_file():
        raise UnreadableFile(
            "the studio's page was not built when marey was installed, because Node or a network for npm was missing; "
            "run `make page`, or reinstall with a network connection",
            path=page / name,
        )
