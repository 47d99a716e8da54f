"""Limits on the size of a file's content. Exceeding one raises an error instead of running forever or out of memory."""

from __future__ import annotations

from marey.errors import LimitExceeded

MAX_JOINTS = 20_000
MAX_DEPTH = 10_000
MAX_FRAMES = 20_000_000
MAX_MARKERS = 20_000

# A motion takes 32 bytes per joint and frame in memory. Real files need at least a few bytes for each; a small file
# that expands to more than this multiple of its size is broken or hostile.
MAX_EXPANSION = 16
EXPANSION_FLOOR = 32 * 2**20


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


def check_size(n_frames: int, n_joints: int, file_bytes: int, path: object) -> None:
    """Raise LimitExceeded for content that would take far more memory than the file itself."""
    needed = 32 * n_frames * n_joints
    if needed > MAX_EXPANSION * file_bytes + EXPANSION_FLOOR:
        raise LimitExceeded(
            f"{n_frames} frames of {n_joints} joints would take {needed / 2**20:.0f} MB, too much for a file of "
            f"{file_bytes / 2**20:.2f} MB; the number of joints or frames is implausible",
            path=path,
        )
