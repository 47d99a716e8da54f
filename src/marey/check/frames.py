"""Findings on single frames: broken, frozen and repeated ones, and gaps of markers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from marey.check.report import Finding
from marey.core.arrays import Bools, find_runs
from marey.core.markers import Markers
from marey.core.skeleton import Skeleton
from marey.errors import plural
from marey.measure.glitches import Glitch, find_loose_joints
from marey.measure.subject import Subject

# Meters, radians: a larger jump is severe.
_FAR, _TURNED = 0.2, 1.5
# Seconds: shorter runs of equal frames count as repeated, not as frozen.
_FROZEN = 0.1
# Fraction of frames: fewer repeats are dropped frames of a video, which hardly anyone notices.
_REPEATS = 0.05
# Fractions of the positions of a marker that are missing.
_GAPS, _LARGE_GAPS = 0.01, 0.2


def check_glitches(subject: Subject) -> Iterator[Finding]:
    """Find broken frames, flips, jumps, and fingers that flip."""
    motion = subject.motion
    for glitch in subject.glitches:
        yield _describe(glitch, motion.skeleton)
    loose = find_loose_joints(motion, subject.may_flip)
    if loose.frames:
        yield Finding(
            "loose_joints", "mild", loose.frames[0], loose.frames[-1] + 1, float(len(loose.frames)), "",
            f"fingers or toes flip in {plural(len(loose.frames), 'frame')}; they were probably not captured",
            "do not use the rotations of these joints", joints=_names(motion.skeleton, loose.joints),
        )  # fmt: skip


def _names(skeleton: Skeleton, joints: Iterable[int]) -> tuple[str, ...]:
    return tuple(skeleton.names[j] for j in joints)


def _describe(glitch: Glitch, skeleton: Skeleton) -> Finding:
    severity = "severe" if glitch.distance > _FAR or glitch.angle > _TURNED else "mild"
    names = _names(skeleton, glitch.joints)
    who = names[0] if len(names) == 1 else plural(len(names), "joint")
    verb = "moves" if len(names) == 1 else "move"
    only_turns = glitch.angle > _TURNED and glitch.distance <= _FAR
    value, unit = (glitch.angle, "rad") if only_turns else (glitch.speed, "m/s")
    size = f"by {glitch.distance:.2f} m and {np.degrees(glitch.angle):.0f} degrees from one frame to the next"
    if glitch.kind == "jump":
        return Finding(
            "jump", severity, glitch.start, glitch.stop, value, unit,
            f"{who} {verb} {size} and {'stays' if len(names) == 1 else 'stay'} there, as at a cut",
            "fade out the jump, or cut the clip there", names, "edit deseam", {"frame": glitch.start + 1},
        )  # fmt: skip
    n = plural(glitch.stop - glitch.start, "frame")
    if glitch.kind == "spin":
        return Finding(
            "broken_frames", "severe", glitch.start, glitch.stop, glitch.angle, "rad",
            f"{names[0]} rotates about its own axis by {np.degrees(glitch.angle):.0f} degrees and back, farther than a "
            "hip can", "trim or repair these frames", names, "edit repair",
        )  # fmt: skip
    return Finding(
        "broken_frames", severity, glitch.start, glitch.stop, value, unit,
        f"{who} {verb} {size}, and back after {n}" if glitch.kind == "flip" else f"{n} broken: {who} {verb} {size}",
        "trim or repair these frames" if glitch.kind != "flip" else "rotate the joints back", names, "edit repair",
    )  # fmt: skip


def check_repeats(subject: Subject) -> Iterator[Finding]:
    """Find frozen stretches, and frames that repeat the one before."""
    motion, n = subject.motion, len(subject.motion)
    if n < 3:
        return
    same: Bools = (motion.root_positions[1:] == motion.root_positions[:-1]).all(axis=1)
    rows = np.flatnonzero(same)
    if not rows.size:
        return
    same[rows] = (motion.rotations[rows + 1] == motion.rotations[rows]).all(axis=(1, 2))
    runs = find_runs(same)
    shortest = min(max(3, round(_FROZEN * motion.fps)), n - 1)
    broken = [(glitch.start, glitch.stop) for glitch in subject.glitches if glitch.kind != "jump"]
    frozen = [(start, stop + 1) for start, stop in runs if stop - start >= shortest]
    frozen = [(a, b) for a, b in frozen if not any(start <= a and b <= stop for start, stop in broken)]
    jumps = {glitch.start + 1 for glitch in subject.glitches if glitch.kind == "jump"}
    for start, stop in frozen:
        inside = start > 0 and stop < n
        # The frame at which the body freezes is part of the motion, unless it jumps there.
        at_end = start >= n - stop
        keep = {"stop": start + (start not in jumps)} if at_end else {"start": stop - (stop not in jumps)}
        seconds = (stop - start) / motion.fps
        whole = stop - start == n
        yield Finding(
            "frozen", "severe" if inside else "mild", start, stop, seconds, "s",
            "nothing moves" if whole else f"nothing moves for {seconds:.2f} s, not even as much as a person at rest",
            "none; the clip has no motion" if whole else "cut the clip there",
            operation="" if whole else "edit crop", options={} if whole else keep,
        )  # fmt: skip
    n_repeats = sum(stop - start for start, stop in runs if stop - start < shortest)
    if n_repeats > max(_REPEATS * n, 2):
        fps = motion.fps * (1.0 - n_repeats / (n - 1))
        yield Finding(
            "repeated_frames", "mild", 0, n, n_repeats / n, "fraction",
            f"{plural(n_repeats, 'frame')} repeat the one before, as in a clip that was recorded at {fps:.3g} Hz",
            "lower the frame rate", operation="edit resample", options={"fps": round(fps)},
        )  # fmt: skip


def check_markers(markers: Markers) -> Iterator[Finding]:
    """Find markers that are missing in some frames."""
    if not markers.valid.size:
        return
    missing = 1.0 - markers.valid.mean(axis=0)
    lost = np.flatnonzero(missing > _GAPS)
    if not lost.size:
        return
    rows = np.flatnonzero(~markers.valid[:, lost].all(axis=1))
    worst = float(missing.max())
    names = tuple(markers.names[k] for k in lost)
    yield Finding(
        "marker_gaps", "severe" if worst > _LARGE_GAPS else "mild", int(rows[0]), int(rows[-1]) + 1, worst, "fraction",
        f"{len(names)} of {plural(len(markers.names), 'marker')} are missing in up to {worst:.0%} of the frames",
        "fill the gaps in the program that recorded the markers", names,
    )  # fmt: skip
