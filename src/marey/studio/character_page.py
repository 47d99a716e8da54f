"""Export characters: an offline page in which anyone can drive the character, or clips and a transition table for other
programs."""

from __future__ import annotations

import base64
import gzip
import os
from pathlib import Path

from marey.control import SampledCharacter, SampleSettings
from marey.control.sampled_files import FORMAT, VERSION, describe_sampled, pack_clips
from marey.core.settings import operation
from marey.errors import UnknownFormat
from marey.io.archive import encode_json
from marey.io.files import write_bytes
from marey.pmg import ParametricMotionGraph
from marey.studio.page_files import PAGE
from marey.studio.view import build_page
from marey.studio.wire import encode

__all__ = ["SUFFIXES", "drive_page", "export_character"]

SUFFIXES = (".html", ".htm", ".glb", ".json")


@operation(SampleSettings)
def export_character(
    graph: ParametricMotionGraph, path: str | os.PathLike[str], settings: SampleSettings
) -> tuple[SampledCharacter, tuple[str, ...]]:
    """Sample a character and write it for use without Python.

    Parameters
    ----------
    graph : the character.
    path : ``.html`` for a page in which the character can be driven, offline; ``.glb`` or ``.json`` for clips and a
        transition table, which are both written and are described in docs/exporting.md.

    Returns
    -------
    The sampled character, whose streams play the same motion as the page, and the files that were written.

    Examples
    --------
    >>> sampled, files = marey.export_character(character, "walker.json", max_clips=9)
    >>> len(sampled.clips) <= 9, [file.rpartition(".")[2] for file in files]
    (True, ['json', 'glb'])
    """
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise UnknownFormat("expected a name that ends with .html, .glb or .json", path=path)
    sampled = SampledCharacter.build(graph, settings=settings)
    if suffix in (".glb", ".json"):
        return sampled, sampled.save(path)
    write_bytes(path, [drive_page(sampled)])
    return sampled, (os.fspath(path),)


def drive_page(character: SampledCharacter, title: str = "", *, page: Path = PAGE) -> bytes:
    """Build a self-contained HTML page in which a character can be driven, and return it as bytes.

    Parameters
    ----------
    character : the character.
    title : title of the page; default is the character's name.
    page : folder of the built scripts, ``drive.js`` and ``drive.css``.

    Examples
    --------
    >>> from marey.studio import drive_page
    >>> sampled = marey.control.SampledCharacter.build(character, max_clips=9)
    >>> drive_page(sampled, "Walker")[:15]
    b'<!doctype html>'
    """
    about = encode_json(FORMAT, VERSION, describe_sampled(character, ""))
    packed = {"title": title or character.name, "character": _pack(about), "clips": _pack(pack_clips(character))}
    return build_page("drive", packed["title"], encode(packed), page)


def _pack(data: bytes) -> str:
    return base64.b64encode(gzip.compress(data, mtime=0)).decode()
