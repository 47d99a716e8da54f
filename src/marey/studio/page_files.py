"""The built page: where it is, and that it is there."""

from __future__ import annotations

from pathlib import Path

from marey.errors import UnreadableFile

PAGE = Path(__file__).parent / "page"


def read_built(page: Path, name: str) -> str:
    """A file of the built page as text."""
    check_built(page, name)
    return (page / name).read_text(encoding="utf-8").replace("\r\n", "\n")


def check_built(page: Path, name: str) -> None:
    """Refuse to go on without what the installation could not build."""
    if not (page / name).is_file():
        raise UnreadableFile(
            "the studio's page was not built when marey was installed, for want of Node or of a network for npm; "
            "run `make page`, or install again with a network",
            path=page / name,
        )
