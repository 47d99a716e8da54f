"""Limits on the size of a file's content. Exceeding one raises an error instead of running forever or out of memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from marey.errors import InvalidValue, LimitExceeded

if TYPE_CHECKING:
    from marey.core.motion import Motion

MAX_JOINTS = 20_000
MAX_DEPTH = 10_000
MAX_FRAMES = 20_000_000
MAX_MARKERS = 20_000
# Frames per second. The range includes the rates of files that state a frame time in milliseconds, or a rate in place
# of the frame time.
MIN_FPS, MAX_FPS = 1e-5, 1e5
# Largest coordinate of a joint, in meters. Beyond it, single precision cannot resolve a step, and squares may overflow.
MAX_METERS = 1e7
# Largest finite number in an array of a built result, and maximum number of frames of one motion of a space.
MAX_NUMBER = 1e12
MAX_BLEND_FRAMES = 50_000

# A motion takes 32 bytes per joint and frame in memory. Real files need at least a few bytes for each; a small file
# that expands to more than this multiple of its size is broken or hostile.
MAX_EXPANSION = 16
EXPANSION_FLOOR = 32 * 2**20

# A recipe is written by hand. The time to parse a dotted key grows with the square of its parts.
MAX_TOML_CHARS = 2**20
MAX_TOML_DOTS = 1000


def check_joints(n_joints: int, path: object) -> None:
    if n_joints > MAX_JOINTS:
        raise LimitExceeded(f"the hierarchy has more than {MAX_JOINTS} joints (the maximum)", path=path)


def check_depth(depth: int, path: object, line: int | None = None) -> None:
    if depth > MAX_DEPTH:
        raise LimitExceeded(f"joints are nested more than {MAX_DEPTH} levels deep (the maximum)", path=path, line=line)


def check_frames(n_frames: int, path: object) -> None:
    if n_frames > MAX_FRAMES:
        raise LimitExceeded(
            f"the motion has {n_frames} frames (maximum {MAX_FRAMES}); split the file",
            path=path,
        )


def check_markers(n_markers: int, path: object) -> None:
    if n_markers > MAX_MARKERS:
        raise LimitExceeded(f"the recording has {n_markers} markers (maximum {MAX_MARKERS})", path=path)


def check_single_precision(motion: Motion, kind: str, scale: float = 1.0) -> None:
    """Raise InvalidValue if positions in a file's unit, `scale` per meter, would overflow float32."""
    arrays = (motion.skeleton.offsets, motion.root_positions, motion.bone_offsets)
    if any(array is not None and np.abs(array).max() * scale > np.finfo(np.float32).max / 4 for array in arrays):
        raise InvalidValue(
            f"positions of {motion.name!r} are too large for {kind}, which stores float32; check their unit"
        )


def check_size(n_frames: int, n_joints: int, file_bytes: int, path: object) -> None:
    """Raise LimitExceeded for a motion that would take far more memory than the file itself."""
    needed = 32 * n_frames * n_joints
    check_expansion(f"{n_frames} frames of {n_joints} joints", needed, file_bytes, path)


def check_expansion(what: str, n_bytes: int, file_bytes: int, path: object) -> None:
    """Raise LimitExceeded for content that would take far more memory than the file itself.

    what : name of the content. n_bytes : its size in memory.
    """
    if n_bytes > MAX_EXPANSION * file_bytes + EXPANSION_FLOOR:
        raise LimitExceeded(
            f"{what} would take {n_bytes / 2**20:.0f} MB, too much for a file of {file_bytes / 2**20:.2f} MB; it "
            "may be damaged",
            path=path,
        )


def check_fps(fps: float, path: object) -> None:
    if not MIN_FPS <= fps <= MAX_FPS:
        raise LimitExceeded(f"the frame rate must be from {MIN_FPS:g} to {MAX_FPS:g} Hz, got {fps:g}", path=path)


def check_toml(text: str, path: object) -> None:
    if len(text) > MAX_TOML_CHARS or any(line.count(".") > MAX_TOML_DOTS for line in text.splitlines()):
        raise LimitExceeded(
            f"the file has more than {MAX_TOML_CHARS} characters, or a line with more than {MAX_TOML_DOTS} dots; "
            "this is not a recipe",
            path=path,
        )


def check_blend_frames(seconds: float, fps: float) -> None:
    """Raise InvalidValue if the motions of a parametric space, which last `seconds`, would have too many frames."""
    if not 0.0 <= seconds * fps <= MAX_BLEND_FRAMES:
        raise InvalidValue(
            f"motions of a space may have at most {MAX_BLEND_FRAMES} frames, got {seconds:.4g} s at {fps:.4g} Hz"
        )


def check_motion(motion: Motion, path: object) -> None:
    """Raise LimitExceeded if the frame rate or a coordinate is outside the range of real recordings."""
    check_fps(motion.fps, path)
    for what, values in (
        ("a root position", motion.root_positions),
        ("a bone offset", motion.skeleton.offsets),
        ("a bone offset", motion.bone_offsets),
    ):
        size = 0.0 if values is None else float(max(values.max(), -values.min()))
        if size > MAX_METERS:
            raise LimitExceeded(
                f"{what} has a coordinate of {size:.3g} m (maximum {MAX_METERS:g}); check the file's unit", path=path
            )
