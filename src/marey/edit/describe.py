"""Describe an edit in sentences, from its record in the provenance of the result."""

from __future__ import annotations

from math import degrees
from typing import Any

import numpy as np

from marey.core.motion import Motion
from marey.edit.mirror import find_partners
from marey.errors import format_list, plural

# Bones of both sides that differ by less than this, in meters, count as equal.
_MIN_ASYMMETRY = 0.001


def describe_edit(motion: Motion) -> list[str]:
    """Return sentences about the result of a motion's last edit, besides its number of frames; [] for most edits.

    Functions are named in backquotes, as in error messages.
    """
    if not motion.source.provenance:
        return []
    step = dict(motion.source.provenance[-1])
    known = {
        "cycle": _describe_cycle, "deseam": _describe_deseam, "in_place": _describe_in_place,
        "mirror": _describe_mirror,
    }  # fmt: skip
    describe = known.get(step["op"], _describe_repair)
    return describe(step, motion)


def _describe_cycle(step: dict[str, Any], motion: Motion) -> list[str]:
    seam, first, last, n = step["seam"], step["start"], step["stop"] - 1, step["repeats"]
    return [
        f"frames {first} to {last} ({(last + 1 - first) / motion.fps:.2f} s), {plural(n, 'cycle')}",
        f"jump at the seam: {1e3 * seam['position_before']:.1f} mm and {seam['velocity_before']:.2f} m/s before, "
        f"{1e3 * seam['position']:.1f} mm and {seam['velocity']:.2f} m/s after; largest change between frames "
        f"within the loop: {1e3 * seam['usual_position']:.1f} mm and {seam['usual_velocity']:.2f} m/s",
    ]


def _describe_deseam(step: dict[str, Any], motion: Motion) -> list[str]:
    if not (step["jump"] or step["jump_turn"]):
        return [f"no jump at frame {step['at']}; nothing was changed"]
    turn = degrees(step["jump_turn"])
    return [f"removed a jump of {1e3 * step['jump']:.0f} mm at the hips and up to {turn:.1f} degrees at the joints"]


def _describe_in_place(step: dict[str, Any], motion: Motion) -> list[str]:
    speed, turn = step["distance"] / max(motion.duration, 1e-9), degrees(step["turn"])
    way = f"{step['distance']:.2f} m at {speed:.2f} m/s on average"
    turned = f"a turn of {abs(turn):.0f} degrees to the {'left' if turn >= 0.0 else 'right'}"
    if step["remove"] == "start":
        return [f"starts over the origin, facing +Z; travels {way}, with {turned}"]
    return [f"removed a travel of {way}" + (f", and {turned}" if step["remove"] == "turns" else "")]


def _describe_mirror(step: dict[str, Any], motion: Motion) -> list[str]:
    """Say why a mirrored motion measures differently, if it does."""
    skeleton = motion.skeleton
    lengths = skeleton.bone_lengths
    differences = np.abs(lengths - lengths[find_partners(skeleton)])
    largest = float(differences[~skeleton.is_end_site].max(initial=0.0))
    if largest < _MIN_ASYMMETRY:
        return []
    return [
        f"left and right bones of this body differ by up to {100 * largest:.1f} cm, so foot sliding and penetration "
        "change slightly"
    ]


def _describe_repair(step: dict[str, Any], motion: Motion) -> list[str]:
    """Describe what repair, level or smooth did."""
    lines = []
    if step["op"] == "repair":
        for n, where in zip(step["trimmed"], ("first", "last"), strict=True):
            if n:
                lines.append(f"trimmed the {where} {plural(n, 'frame')}")
        for done, what in (("interpolated", "interpolated"), ("unflipped", "rotated back")):
            for start, stop, joints in step[done]:
                lines.append(f"{what} frames {start} to {stop - 1}: {format_list(joints, 4)}")
        lines += [f"left the jump at frame {frame}; see `marey.edit.deseam`" for frame in step["left"]]
    if step["op"] == "smooth":
        lines.append(
            f"noise: {1e3 * step['noise']:.1f} mm at the root, up to {degrees(step['noise_rotation']):.2f} degrees at "
            "the joints"
        )
    if step.get("tilt"):
        lines.append(f"leveled a floor tilted by {degrees(step['tilt']):.1f} degrees")
    if step.get("drift"):
        lines.append(f"removed a drift of the floor by {1e3 * step['drift']:.0f} mm")
    return lines or (["nothing was changed"] if step["op"] in ("repair", "level") else [])
