"""`check`: find what is wrong or doubtful with one clip."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from marey.check import body, feet, frames, rate_unit_and_axis
from marey.check.report import CheckReport, Finding
from marey.check.settings import CheckSettings
from marey.core.markers import Markers
from marey.core.motion import Motion, check_motion
from marey.core.settings import operation
from marey.measure.subject import Subject

_CHECKS: tuple[Callable[[Subject], Iterator[Finding]], ...] = (
    rate_unit_and_axis.check_rate_and_unit,
    frames.check_glitches,
    frames.check_repeats,
    body.check_bones,
    body.check_jitter,
    body.check_speed,
    body.check_travel,
    body.check_sides,
    feet.check_feet,
)


@operation(CheckSettings)
def check(motion: Motion | Markers, settings: CheckSettings) -> CheckReport:
    """Find everything that is wrong or suspicious in a capture.

    Motions are checked for broken frames, flips and jumps; frozen and repeated frames; a wrong frame rate; a leading
    rest pose; an uncertain unit or axis; bones that change length; a tilted or drifting floor; sliding and sunken feet;
    jitter; impossible speeds; hips that stay in one place; and swapped sides. Markers are checked for gaps. Each
    finding has its frames, its size and a remedy. The limits come from what a body can do and from the
    statistics of the clip.

    Parameters
    ----------
    motion : a motion, or markers.

    Examples
    --------
    >>> from dataclasses import replace
    >>> marey.check(walk).findings
    ()
    >>> report = marey.check(replace(walk, fps=240.0))  # a wrong frame rate
    >>> [(finding.kind, finding.severity) for finding in report]
    [('frame_rate', 'severe')]
    """
    if isinstance(motion, Markers):
        found = tuple(frames.check_markers(motion))
        return CheckReport(motion.name, len(motion), motion.fps, ()).extend(found).select(settings.severity)
    return check_subject(Subject(check_motion(motion))).select(settings.severity)


def check_subject(subject: Subject) -> CheckReport:
    """Return all findings of a `Subject`, whose cached data the caller can reuse; see `check`."""
    motion = subject.motion
    found = tuple(finding for one in _CHECKS for finding in one(subject))
    return CheckReport(motion.name, len(motion), motion.fps, ()).extend(found)
