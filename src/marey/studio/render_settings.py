"""Settings of `render`, in a module of their own so that --help does not import matplotlib."""

from __future__ import annotations

import re
from typing import Literal

from marey.core.settings import ProgressSettings, option
from marey.errors import InvalidValue

_MAX_PIXELS = 3840 * 2160


class RenderSettings(ProgressSettings):
    """Settings of `marey.render`."""

    camera: Literal["follow", "side", "front", "top", "turntable"] = option(
        "follow", "How the camera moves: with the body, standing still at its side, in front of it or above it, or "
        "around it once.", label="Camera",
    )  # fmt: skip
    size: str = option("640x360", "Width and height in pixels, such as 1280x720.", label="Size")
    fps: float = option(25.0, "Frames per second of the animation.", label="Frame rate", unit="1/s", above=0, max=120)
    contacts: bool = option(True, "Mark feet and hands while they are in contact.", label="Contacts")
    skin: bool = option(
        True, "Draw the mesh of a GLB or VRM file instead of a simple body. Only a browser can draw it.", label="Skin"
    )
    path: bool = option(False, "Draw the path on the floor.", label="Path")
    labels: bool = option(False, "Write names and labels into the image.", label="Labels")
    apart: bool = option(False, "Put several motions side by side, all facing the same way.", label="Side by side")
    theme: Literal["light", "dark"] = option("light", "Colors of the background.", label="Theme")
    drawing: Literal["auto", "browser", "plot"] = option(
        "auto", "Program that draws the frames: a browser without a window draws solid bodies with shadows; "
        "matplotlib draws simple bodies and needs no browser. auto uses a browser if there is one.",
        label="Renderer", advanced=True,
    )  # fmt: skip

    def check(self) -> None:
        """Check the size in pixels."""
        width, height = self.pixels
        if min(width, height) < 16 or width * height > _MAX_PIXELS:
            raise InvalidValue(
                f"size must be from 16x16 to 3840x2160 pixels, not {self.size!r}", parameter="size"
            )  # fmt: skip

    @property
    def pixels(self) -> tuple[int, int]:
        """Width and height as numbers; even, as video formats need them."""
        match = re.fullmatch(r"(\d{1,9})x(\d{1,9})", self.size)
        if match is None:
            raise InvalidValue(f"size must be WIDTHxHEIGHT, such as 640x360, not {self.size!r}", parameter="size")
        return int(match[1]) // 2 * 2, int(match[2]) // 2 * 2
