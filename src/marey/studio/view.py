"""Write a self-contained HTML page that plays motions offline: `marey view`."""

from __future__ import annotations

import base64
import hashlib
import html
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marey.core.arrays import Floats
from marey.errors import InvalidValue, UnknownFormat
from marey.io.files import write_bytes
from marey.studio.describe import describe_motion
from marey.studio.messages import ViewData, ViewMotion
from marey.studio.motion_history import Motions, Opened, Recording, compute_world
from marey.studio.page_files import PAGE, read_built
from marey.studio.view_skin import find_skin
from marey.studio.wire import encode

_VERSION = 1
# Positions are quantized to integers from -_SPAN to _SPAN; -_SPAN - 1 marks an occluded marker.
_SPAN = 32_767
_UNSEEN = -32_768

_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="generator" content="marey">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<noscript>This page needs JavaScript.</noscript>
<script type="application/json" id="marey-data">{data}</script>
<script>{script}</script>
</body>
</html>
"""


@dataclass(frozen=True, slots=True)
class View:
    """A page that plays motions; a notebook shows it in place.

    Attributes
    ----------
    title : title of the page.
    page : the self-contained HTML page.
    height : height in pixels in a notebook.

    Examples
    --------
    >>> view = marey.view(walk)
    >>> view.title, view.page[:15]
    ('walk', b'<!doctype html>')
    """

    title: str
    page: bytes = field(repr=False)
    height: int = 480

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to an HTML file that plays offline in any browser."""
        write_bytes(check_page_name(path), [self.page])

    def _repr_html_(self) -> str:
        return (
            f'<iframe title="{html.escape(self.title)}" style="width:100%;height:{self.height}px;border:0" '
            f'srcdoc="{html.escape(self.page.decode())}"></iframe>'
        )


def check_page_name(path: str | os.PathLike[str]) -> str | os.PathLike[str]:
    """Return the name of an HTML file; refuse other names."""
    if not os.fspath(path).lower().endswith((".html", ".htm")):
        raise UnknownFormat("expected an HTML file name, such as walk.html", path=path)
    return path


def view(*recordings: Recording, title: str = "", height: int = 480) -> View:
    """Make a page that plays motions or markers together; the last expression of a notebook's cell shows it.

    Parameters
    ----------
    recordings : motions or markers, in display order.
    title : title of the page; default is the first motion's name.
    height : height in pixels in a notebook.

    Examples
    --------
    >>> view = marey.view(walk, marey.clean(walk), title="walk")
    >>> view.save("walk.html")
    >>> view.height  # pixels
    480
    """
    page = view_page(recordings, title, skins=[find_skin(each) for each in recordings])
    return View(title or recordings[0].name or "motion", page, height)


def view_page(
    recordings: Sequence[Recording], title: str = "", *, skins: Sequence[bytes | None] = (), page: Path = PAGE
) -> bytes:
    """Build a self-contained HTML page that plays motions or markers, and return it as bytes.

    Parameters
    ----------
    recordings : motions or markers, in display order.
    title : title of the page; default is the first motion's name.
    skins : for each motion, the GLB file with its skin (see `view_skin.extract_skin`) or None; empty for no skins.
    page : folder of the built player, ``view.js`` and ``view.css``.

    Positions are rounded to 1/65534 of the motion's extent (0.15 mm in 10 m), rotations to 2 arcminutes. Names in the
    motions are escaped, never treated as HTML.

    Examples
    --------
    >>> from marey.studio import view_page
    >>> view_page([walk], "A walk")[:15]
    b'<!doctype html>'
    """
    if not recordings:
        raise InvalidValue("no motion to show")
    named = title or recordings[0].name or "motion"
    worn = list(skins) or [None] * len(recordings)
    if len(worn) != len(recordings):
        raise InvalidValue(f"skins must have one skin or None for each of {len(recordings)} motions, not {len(worn)}")
    bodies = list(dict.fromkeys(body for body in worn if body is not None))
    motions = (
        _view_motion(recording, i, None if body is None else bodies.index(body))
        for i, (recording, body) in enumerate(zip(recordings, worn, strict=True))
    )
    packed = tuple(base64.b64encode(body).decode() for body in bodies)
    data = encode(ViewData(_VERSION, named, tuple(motions), packed))
    return build_page("view", named, data, page)


def build_page(bundle: str, title: str, data: str, page: Path = PAGE) -> bytes:
    """Return a self-contained HTML page: a built script and style named `bundle`, and JSON data for the script."""
    script, style = _read_safe(page, f"{bundle}.js", "</script"), _read_safe(page, f"{bundle}.css", "</style")
    policy = (
        f"default-src 'none'; script-src '{_compute_digest(script)}'; style-src '{_compute_digest(style)}'; "
        "img-src data: blob:; "
        # The page unpacks images inside a skin as blobs; only the page itself can create blobs.
        "connect-src blob:; base-uri 'none'; form-action 'none'"
    )
    # In JSON, "<" occurs only in strings, where this escape is equivalent; so no name can close the script element.
    safe = data.replace("<", "\\u003c")
    text = _PAGE.format(policy=html.escape(policy), title=html.escape(title), style=style, script=script, data=safe)
    return text.encode(errors="replace")


def _read_safe(page: Path, name: str, forbidden: str) -> str:
    text = read_built(page, name)
    if forbidden in text.lower():
        raise InvalidValue(
            f"{name} contains {forbidden!r}, which would close its HTML element early; rebuild the file it comes from"
        )
    return text


def _compute_digest(text: str) -> str:
    """Return the hash that allows an inline script or style in the content security policy."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _view_motion(recording: Recording, index: int, skin: int | None) -> ViewMotion:
    motions = Motions()
    opened = Opened(recording)
    motions.add(opened)
    positions, rotations = compute_world(recording, 0, len(recording))
    packed, low, step = _quantize(positions)
    xyzw = np.rint(rotations[..., [1, 2, 3, 0]] * _SPAN).astype("<i2")
    info = describe_motion(f"m{index + 1}", opened)
    return ViewMotion(info, "q16", _make_triple(low), _make_triple(step), _encode(packed), _encode(xyzw), skin)


def _quantize(positions: Floats) -> tuple[NDArray[Any], Floats, Floats]:
    """Quantize positions (F, J, 3) to 16-bit integers. Return them with the minimum and the step of each axis (3,)."""
    seen = np.isfinite(positions)
    low = np.where(seen, positions, np.inf).min(axis=(0, 1))
    high = np.where(seen, positions, -np.inf).max(axis=(0, 1))
    low, high = (np.where(np.isfinite(each), each, 0.0) for each in (low, high))
    step = np.maximum((high - low) / (2 * _SPAN), 1e-9)
    steps = np.rint((np.where(seen, positions, low) - low) / step) - _SPAN
    return np.where(seen, steps, _UNSEEN).astype("<i2"), low, step


def _make_triple(values: Floats) -> tuple[float, float, float]:
    return float(values[0]), float(values[1]), float(values[2])


def _encode(values: NDArray[Any]) -> str:
    return base64.b64encode(values.tobytes()).decode()
