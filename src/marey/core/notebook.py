"""HTML that notebooks show for motions and results: poses as SVG, tables, and grids as images."""

from __future__ import annotations

import base64
import html
import struct
import zlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from marey.core.arrays import Floats, Ints
from marey.core.placement import find_facing

if TYPE_CHECKING:
    from marey.core.motion import Motion

_POSES = 10
_SIZE = 130  # pixels from the floor to the top of a pose
_MAX_IMAGE = 320  # pixels of a grid
_MAX_ROWS = 30
# Left, right and middle, as in plots: they differ in lightness and for every kind of color vision.
_COLORS = {"left": "#e07b00", "right": "#1f6fb2", "": "#7a808a"}


def show_motion(motion: Motion) -> str:
    """Return a line of facts, and poses from the side at evenly spaced times, as HTML."""
    frames = np.unique(np.linspace(0, len(motion) - 1, _POSES).round().astype(int))
    count = "1 frame" if len(motion) == 1 else f"{len(motion)} frames"
    facts = f"{count} at {motion.fps:g} Hz, {motion.duration:.2f} s, {len(motion.skeleton)} joints"
    names = [label.name for label in motion.labels]
    if names:
        facts += ", labels " + ", ".join(dict.fromkeys(names))
    times = [f"{frame / motion.fps:.2f} s" for frame in frames]
    return f"<div>{_format_heading(motion.name or 'motion', facts)}{_draw_poses(motion, frames, times)}</div>"


def show_table(title: str, facts: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a title, a line of facts and a table as HTML. Only the first 30 rows are shown, with the number of the
    others."""
    every = list(rows)
    head = "".join(f"<th>{html.escape(column)}</th>" for column in columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(str(value))}</td>" for value in row) + "</tr>" for row in every[:_MAX_ROWS]
    )
    more = len(every) - _MAX_ROWS
    rest = f"<p>and {more} more</p>" if more > 0 else ""
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" if every else ""
    return f"<div>{_format_heading(title, facts)}{table}{rest}</div>"


def show_grid(title: str, facts: str, values: Floats) -> str:
    """Return a title, a line of facts and a gray image (rows down, columns right; small values dark) as HTML."""
    rows, columns = (np.linspace(0, n - 1, min(n, _MAX_IMAGE)).round().astype(int) for n in values.shape)
    shown = np.sqrt(np.maximum(values[np.ix_(rows, columns)], 0.0))
    known = np.isfinite(shown)
    top = float(np.percentile(shown[known], 95)) if known.any() else 1.0
    gray = np.where(known, np.clip(255.0 * shown / (top or 1.0), 0, 255), 255).astype(np.uint8)
    image = base64.b64encode(_encode_png(gray)).decode()
    heading = _format_heading(title, facts)
    return f'<div>{heading}<img alt="{html.escape(title)}" src="data:image/png;base64,{image}"/></div>'


def _format_heading(title: str, facts: str) -> str:
    return f"<p><b>{html.escape(title)}</b>: {html.escape(facts)}</p>"


def _draw_poses(motion: Motion, frames: Ints, times: Sequence[str]) -> str:
    """Draw poses next to each other, each seen from its right side, as SVG."""
    skeleton = motion.skeleton
    positions = motion.world().positions
    roles = skeleton.roles
    sides = {joint: side for role, joint in roles.items() for side in ("left", "right") if role.startswith(side)}
    chosen = positions[frames]
    has_sides = {"left_upper_leg", "right_upper_leg"} <= set(roles)
    yaw = find_facing(skeleton, positions)[frames] if has_sides else np.zeros(len(frames))
    ahead = np.stack([np.sin(yaw), np.cos(yaw)], axis=1)
    local = chosen[:, :, [0, 2]] - chosen[:, :1, [0, 2]]
    flat = np.stack([np.einsum("fjk,fk->fj", local, ahead), chosen[:, :, 1]], axis=2)
    low, high = float(flat[..., 1].min()), float(flat[..., 1].max())
    scale = _SIZE / max(high - low, 1e-6)
    step = scale * max(float(np.ptp(flat[..., 0])), 0.35 * (high - low))
    width, height = step * len(frames), _SIZE + 26
    parents = skeleton.parents.tolist()
    lines: list[str] = []
    for k in range(len(frames)):
        x = step * (k + 0.5) + scale * (flat[k, :, 0] - (flat[..., 0].min() + flat[..., 0].max()) / 2)
        y = 6 + scale * (high - flat[k, :, 1])
        for joint, parent in enumerate(parents):
            if parent >= 0:
                color = _COLORS[_find_side(joint, parents, sides)]
                lines.append(
                    f'<path d="M{x[parent]:.1f} {y[parent]:.1f}L{x[joint]:.1f} {y[joint]:.1f}" stroke="{color}"/>'
                )
        lines.append(
            f'<text x="{step * (k + 0.5):.1f}" y="{height - 4}" font-size="10" text-anchor="middle" stroke="none" '
            f'fill="{_COLORS[""]}">{times[k]}</text>'
        )
    floor = f'<path d="M0 {_SIZE + 7}H{width:.1f}" stroke="#c4c8ce" stroke-width="1"/>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.1f} {height}" width="{width:.0f}" '
        f'style="max-width:100%" fill="none" stroke-width="2.5" stroke-linecap="round">{floor}{"".join(lines)}</svg>'
    )


def _find_side(joint: int, parents: Sequence[int], sides: dict[int, str]) -> str:
    """Return the side ("left" or "right") of the joint or of its nearest ancestor with a side; "" if there is none."""
    while joint >= 0:
        if joint in sides:
            return sides[joint]
        joint = parents[joint]
    return ""


def _encode_png(gray: NDArray[np.uint8]) -> bytes:
    """Encode an (H, W) array of bytes as a gray PNG image."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width = gray.shape
    lines = b"".join(b"\0" + row.tobytes() for row in gray)
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")
