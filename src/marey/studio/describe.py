"""Describe a motion for the page: everything except its frames."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import groupby
from typing import Any

import numpy as np

from marey.clean import point_paths
from marey.core.arrays import Floats
from marey.core.markers import Markers
from marey.core.motion import Motion
from marey.io import unit_and_up_axis
from marey.io.rest import annotations_in_file
from marey.studio.forms import word_text
from marey.studio.messages import ContactLane, EditStep, LabelSpan, Message, MotionInfo, Plant
from marey.studio.motion_history import Opened

_DEFAULT_HEIGHT = 1.7  # meters, if the height is unknown
_REST_SKIPPED = "frame 0 is a rest pose (T-pose) and is skipped; Undo brings it back"


def describe_motion(
    name: str,
    opened: Opened,
    session: str = "",
    origin: str = "",
    sources: tuple[str, ...] = (),
    before: Motion | None = None,
) -> MotionInfo:
    """Describe an open motion for the page.

    `name` is its id and `session` the id of its session. `origin` is the id of the motion whose file has the skin;
    `sources` are the names of the motions it was made from. `before` is the motion before the edit, the reference for
    foot sliding.
    """
    step = opened.now
    recording = step.recording
    shared: dict[str, Any] = {
        "motion": name,
        "revision": step.revision,
        "name": recording.name,
        "where": opened.where,
        "file": opened.file,
        "clips": opened.clips,
        "n_frames": len(recording),
        "fps": recording.fps,
        "seconds": recording.duration,
        "floor": recording.source.floor,
        "evidence": tuple(word_text(text, Message) for text in recording.source.evidence),
        "warnings": (*opened.warnings, *((_REST_SKIPPED,) if opened.skips_rest and opened.file else ())),
        "history": (
            *(f"from {each}" for each in sources),
            *_collapse_repeats(each.what for each in opened.steps[1 : opened.at + 1]),
        ),
        "skin": f"/skin/{session}/{origin}" if session and origin else None,
        "edited": opened.is_edited,
        "undo": opened.at,
        "redo": len(opened.steps) - 1 - opened.at,
        "steps": tuple(EditStep(each.number, each.what) for each in opened.steps),
        "before": None if opened.before is None else opened.before.number,
    }
    if isinstance(recording, Markers):
        n = len(recording.names)
        return MotionInfo(
            kind="markers", joints=recording.names, parents=(-1,) * n, bone_lengths=(0.0,) * n, end_sites=(False,) * n,
            roles={}, stature=_marker_height(recording), contacts=None, labels=(), unsaved=False, **shared,
        )  # fmt: skip
    skeleton = recording.skeleton
    return MotionInfo(
        kind="motion",
        joints=skeleton.names,
        parents=tuple(skeleton.parents.tolist()),
        bone_lengths=tuple(skeleton.bone_lengths.tolist()),
        end_sites=tuple(skeleton.is_end_site.tolist()),
        roles=dict(skeleton.roles.items()),
        stature=_measure_stature(recording),
        contacts=_make_lanes(recording, before),
        labels=tuple(LabelSpan(*label) for label in recording.labels),
        unsaved=bool(opened.file) and not _has_same_annotations(recording, opened.saved, opened.recording),
        **shared,
    )


def _collapse_repeats(whats: Iterable[str]) -> list[str]:
    """Collapse repeated steps into one with a count, because dragging a slider adds many steps of the same kind."""
    rows = ((what, sum(1 for _ in row)) for what, row in groupby(whats))
    return [what if n == 1 else f"{what} ({n} times)" for what, n in rows]


def _measure_stature(motion: Motion) -> float:
    height = unit_and_up_axis.stature(motion.skeleton)
    if height is None:
        height = float(np.ptp(motion.skeleton.rest_positions, axis=0).max())
    return height if math.isfinite(height) and height > 0 else _DEFAULT_HEIGHT


def _marker_height(markers: Markers) -> float:
    heights = markers.positions[..., 1][markers.valid]
    tall = float(np.ptp(heights)) if heights.size else 0.0
    return tall if tall > 0 else _DEFAULT_HEIGHT


def _make_lanes(motion: Motion, before: Motion | None) -> tuple[ContactLane, ...] | None:
    contacts = motion.contacts
    if contacts is None:
        return None
    paths = point_paths(motion, contacts.points)
    paths_before = None if before is None else point_paths(before, contacts.points)
    return tuple(
        ContactLane(
            point.name,
            point.joint,
            (float(point.offset[0]), float(point.offset[1]), float(point.offset[2])),
            contacts.intervals(point.name),
            tuple(
                _plant(paths[start:stop, k], None if paths_before is None else paths_before[start:stop, k])
                for start, stop in contacts.intervals(point.name)
            ),
        )
        for k, point in enumerate(contacts.points)
    )


def _plant(path: Floats, before: Floats | None) -> Plant:
    """Describe one plant by the path (F, 3) of its point, and its path in the motion before the edit."""
    x, y, z = path.mean(axis=0).tolist()
    return Plant((x, y, z), _slide(path), None if before is None else _slide(before))


def _slide(path: Floats) -> float:
    return float(np.hypot(*np.ptp(path[:, [0, 2]], axis=0)))


def _has_same_annotations(motion: Motion, saved: object, first: object) -> bool:
    if not isinstance(saved, Motion) or not isinstance(first, Motion):
        return False
    (a, labels), (b, others) = (annotations_in_file(each, first) for each in (motion, saved))
    if labels != others:
        return False
    if a is None or b is None:
        return a is b
    return a.names == b.names and bool(np.array_equal(a.mask, b.mask))
