"""One page with motions inside that needs no server and no network: `marey view`."""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marey.core.arrays import Floats
from marey.errors import InvalidValue
from marey.studio.describe import info_of
from marey.studio.messages import ViewData, ViewMotion
from marey.studio.motions import Figure, Motions, Opened, world_of
from marey.studio.page_files import PAGE, read_built
from marey.studio.wire import encode

_VERSION = 1
# Positions are counted from -_SPAN to _SPAN in whole numbers; one below stands for a marker that was not seen.
_SPAN = 32_767
_UNSEEN = -32_768

_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
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


def view_page(
    figures: Sequence[Figure], title: str = "", *, skins: Sequence[bytes | None] = (), page: Path = PAGE
) -> bytes:
    """The page that plays motions or markers, as the bytes of an HTML file.

    Parameters
    ----------
    figures : in the order in which they are offered.
    title : of the page; the first one's name by default.
    skins : for each figure, the GLB file whose body it wears (see `view_skin.skin_of`), or None; none for any without.
    page : the folder with the built player, ``view.js`` and ``view.css``.

    Positions are rounded to 1/65534 of how far the figure gets, which is 0.15 mm in 10 m, rotations to 2 minutes of
    arc. Whatever names there are in the motions is data to the page, never HTML.
    """
    if not figures:
        raise InvalidValue("there is no motion to show")
    script, style = _built(page, "view.js", "</script"), _built(page, "view.css", "</style")
    named = title or figures[0].name or "motion"
    worn = list(skins) or [None] * len(figures)
    if len(worn) != len(figures):
        raise InvalidValue(f"expected a skin or None for each of {len(figures)} motions, got {len(worn)}")
    bodies = list(dict.fromkeys(body for body in worn if body is not None))
    motions = (
        _view_motion(figure, i, None if body is None else bodies.index(body))
        for i, (figure, body) in enumerate(zip(figures, worn, strict=True))
    )
    packed = tuple(base64.b64encode(body).decode() for body in bodies)
    data = encode(ViewData(_VERSION, named, tuple(motions), packed))
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; img-src data: blob:; "
        # Pictures inside of a skin are unpacked in the page; nothing but what the page itself has made is a blob.
        "connect-src blob:; base-uri 'none'; form-action 'none'"
    )
    # JSON has "<" in texts only, where this says the same; so that no name ends the element that it stands in.
    safe = data.replace("<", "\\u003c")
    text = _PAGE.format(policy=html.escape(policy), title=html.escape(named), style=style, script=script, data=safe)
    return text.encode(errors="replace")


def _built(page: Path, name: str, forbidden: str) -> str:
    text = read_built(page, name)
    if forbidden in text.lower():
        raise InvalidValue(f"{name} holds {forbidden!r}, which would end it in the middle; build it again")
    return text


def _digest(text: str) -> str:
    """How a policy names an inline script or style: by its content."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _view_motion(figure: Figure, index: int, skin: int | None) -> ViewMotion:
    motions = Motions()
    opened = Opened(figure)
    motions.add(opened)
    positions, rotations = world_of(figure, 0, len(figure))
    packed, low, step = _quantized(positions)
    turned = np.rint(rotations[..., [1, 2, 3, 0]] * _SPAN).astype("<i2")
    info = info_of(f"m{index + 1}", opened)
    return ViewMotion(info, "q16", _triple(low), _triple(step), _base64(packed), _base64(turned), skin)


def _quantized(positions: Floats) -> tuple[NDArray[Any], Floats, Floats]:
    """Positions (F, J, 3) as 16-bit whole numbers, with the least of each axis and the size of a step."""
    seen = np.isfinite(positions)
    low = np.where(seen, positions, np.inf).min(axis=(0, 1))
    high = np.where(seen, positions, -np.inf).max(axis=(0, 1))
    low, high = (np.where(np.isfinite(each), each, 0.0) for each in (low, high))
    step = np.maximum((high - low) / (2 * _SPAN), 1e-9)
    whole = np.rint((np.where(seen, positions, low) - low) / step) - _SPAN
    return np.where(seen, whole, _UNSEEN).astype("<i2"), low, step


def _triple(values: Floats) -> tuple[float, float, float]:
    return float(values[0]), float(values[1]), float(values[2])


def _base64(values: NDArray[Any]) -> str:
    return base64.b64encode(values.tobytes()).decode()
