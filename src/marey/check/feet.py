"""Findings on feet and floor: a tilted or drifting floor, sliding feet, and parts of the body below the floor."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from marey.check import feet_kernels
from marey.check.report import Finding
from marey.clean.floor_plane import estimate_floor_plane
from marey.edit.in_place import is_in_place
from marey.errors import MareyError
from marey.measure.body import depth_below_floor
from marey.measure.subject import Subject

# Radians. Smaller tilts are within the error of a calibration.
_TILT, _LARGE_TILT = math.radians(0.5), math.radians(3.0)
# Meters by which the floor rises during a clip.
_DRIFT, _LARGE_DRIFT = 0.02, 0.1
# Distance in meters that a planted foot slides: viewers notice 21 mm (Prazak, Hoyet, O'Sullivan, SCA 2011); half a foot
# length is severe.
_SLIDE, _LARGE_SLIDE = 0.021, 0.12
# Depth below the floor in meters: recorded joints lie up to 5 cm above or below the sole; a whole foot length is
# severe.
_DEPTH, _LARGE_DEPTH = 0.05, 0.25


def check_feet(subject: Subject) -> Iterator[Finding]:
    """Find a tilted or drifting floor, sliding feet, and parts of the body below the floor."""
    try:
        # Each of these raises an error if no foot stands, or if there are too few frames.
        subject.foot_contacts, subject.floor, subject.foot_track  # noqa: B018
    except MareyError:
        return
    yield from _check_floor(subject)
    yield from _check_slide(subject)
    yield from _check_depth(subject)


def _check_floor(subject: Subject) -> Iterator[Finding]:
    n, plane = len(subject.motion), estimate_floor_plane(subject.motion, subject.foot_track)
    if plane is None:
        return
    if plane.is_tilted and plane.tilt > _TILT:
        yield Finding(
            "tilted_floor", "severe" if plane.tilt > _LARGE_TILT else "mild", 0, n, plane.tilt, "rad",
            f"the floor is tilted by {math.degrees(plane.tilt):.1f} degrees and rises by "
            f"{1e3 * math.tan(plane.tilt) * plane.extent:.0f} mm below the feet",
            "level the floor", operation="edit level",
        )  # fmt: skip
    if abs(plane.drift) > _DRIFT:
        moves = "rises" if plane.drift > 0 else "sinks"
        yield Finding(
            "drifting_floor", "severe" if abs(plane.drift) > _LARGE_DRIFT else "mild", 0, n, plane.drift, "m",
            f"the floor {moves} by {1e3 * abs(plane.drift):.0f} mm during the clip", "level the floor",
            operation="edit level",
        )  # fmt: skip


def _check_slide(subject: Subject) -> Iterator[Finding]:
    """Find feet that slide: a finding for the median slide of all plants, or for a single plant with a large slide.

    The contacts are those of the motion, for example from its sidecar, or else detected. A single plant counts only if
    it was not detected here, because it may be wrong. Feet of a motion that was put in place slide on purpose.
    """
    if is_in_place(subject.motion):
        return
    contacts, _ = subject.foot_contacts
    n_frames, n_points = contacts.mask.shape
    slides = np.empty((n_points * (n_frames // 2 + 1), 4))
    slides = slides[: feet_kernels.measure_slides(contacts.mask, subject.paths(contacts.points), slides)]
    if not len(slides):
        return
    usual = float(np.sort(slides[:, 0])[len(slides) // 2])
    if usual <= _SLIDE:  # a foot that jumps in a broken frame does not slide
        for glitch in subject.glitches:
            slides = slides[(slides[:, 1] > glitch.stop) | (slides[:, 2] < glitch.start)]
        if not len(slides):
            return
    largest, start, stop, k = slides[slides[:, 0].argmax()].tolist()
    name = contacts.points[int(k)].name
    if usual > _SLIDE:
        yield Finding(
            "foot_slide", "severe" if usual > _LARGE_SLIDE else "mild", int(start), int(stop), usual, "m",
            f"planted feet slide by {1e3 * usual:.0f} mm, and by up to {1e3 * largest:.0f} mm", "hold planted feet",
            (name,), "clean",
        )  # fmt: skip
    elif largest > _LARGE_SLIDE and subject.motion.contacts is not None:
        yield Finding(
            "foot_slide", "mild", int(start), int(stop), largest, "m",
            f"a planted foot slides by {1e3 * largest:.0f} mm", "hold planted feet", (name,), "clean",
        )  # fmt: skip


def _check_depth(subject: Subject) -> Iterator[Finding]:
    """Find the part of the body that is deepest below the floor.

    Cleanup moves parts other than feet only on request.
    """
    if not (depth_below_floor(subject) > _DEPTH).any():
        return
    skeleton, points = subject.motion.skeleton, subject.foot_points
    heights = subject.world.positions[:, subject.joints, 1]
    depth = subject.floor - np.concatenate([heights, subject.paths(points)[..., 1]], axis=1)
    for glitch in subject.glitches:
        depth[glitch.start : glitch.stop] = 0.0
    deepest = float(depth.max())
    if deepest <= _DEPTH:
        return
    feet = [j for side in ("left", "right") if (j := skeleton.roles.get(f"{side}_foot")) is not None]
    on_feet = np.any([skeleton.is_below(j) for j in feet], axis=0)
    parts = [(skeleton.names[j], bool(on_feet[j])) for j in subject.joints.tolist()]
    parts += [(point.name, True) for point in points]
    most = depth.max(axis=0)
    name, is_foot = parts[int(most.argmax())]
    rows = np.flatnonzero(depth.max(axis=1) > _DEPTH)
    start, stop = int(rows[0]), int(rows[-1]) + 1
    message = f"{name} sinks {1e3 * deepest:.0f} mm below the floor"
    severity = "severe" if is_foot and deepest > _LARGE_DEPTH else "mild"
    # Even if a foot is deepest, other parts may be too deep.
    only_feet = all(on_foot for (_, on_foot), own in zip(parts, most, strict=True) if own > _DEPTH)
    remedy = "put the feet on the floor" if only_feet else "put the whole body on the floor"
    options = {} if only_feet else {"body": True}
    operation = "clean"
    if only_feet and any(step.get("op") == "clean" for step in subject.motion.source.provenance):
        remedy, operation = "none; cleanup already lifted the feet as far as `max_pull=` allows", ""
    yield Finding("penetration", severity, start, stop, deepest, "m", message, remedy, (name,), operation, options)
