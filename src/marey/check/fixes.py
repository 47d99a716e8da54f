"""Fix the findings of a clip: which operations, in which order, and their result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from marey import edit
from marey.check.check import check
from marey.check.report import CheckReport
from marey.clean import clean
from marey.core.motion import Motion, check_motion
from marey.core.resample import resample

# Options that are frames, which repair renumbers if it trims frames at the start.
_FRAMES = ("frame", "start", "stop")


@dataclass(frozen=True, slots=True)
class Fix:
    """One step that fixes findings: the operation, such as "edit repair", and its options."""

    operation: str
    options: Mapping[str, Any]


def _convert(motion: Motion, file_fps: float | None = None, rigid: bool = False) -> Motion:
    if file_fps is not None:
        factor = file_fps / (motion.source.fps or motion.fps)
        motion = replace(motion, fps=factor * motion.fps, source=replace(motion.source, fps=file_fps))
    return replace(motion, bone_offsets=None) if rigid else motion


# In the order in which they fix a clip. Operations that refer to frames come before those that renumber the frames.
_OPERATIONS: dict[str, Callable[..., Motion]] = {
    "convert": _convert,
    "edit repair": edit.repair,
    "edit deseam": edit.deseam,
    "edit crop": edit.crop,
    "edit resample": resample,
    "edit level": edit.level,
    "edit smooth": edit.smooth,
    "clean": clean,
}
_ORDER = tuple(_OPERATIONS)
# Operations that run once, with the options of all findings.
_ONCE = ("convert", "clean")


def plan_fixes(report: CheckReport) -> tuple[Fix, ...]:
    """Return the steps that fix the findings of a clip, in order; each applies to the result of the one before.

    Examples
    --------
    >>> from marey.check import plan_fixes
    >>> [fix.operation for fix in plan_fixes(marey.check(broken))]
    ['edit repair']
    """
    findings = sorted(
        (finding for finding in report if finding.operation),
        key=lambda finding: (_ORDER.index(finding.operation), finding.start),
    )
    crops = [finding.options for finding in findings if finding.operation == "edit crop"]
    first = max((options.get("start", 0) for options in crops), default=0)
    stop = min((options.get("stop", report.n_frames) for options in crops), default=report.n_frames)
    # A jump at the end of a stretch that is cut off needs no other fix.
    findings = [f for f in findings if f.kind != "jump" or first < f.options["frame"] < stop]
    n_trimmed = _count_trimmed(report)
    steps: list[tuple[str, dict[str, Any]]] = []
    for finding in findings:
        options = {
            name: max(value - n_trimmed, 0) if name in _FRAMES else value for name, value in finding.options.items()
        }
        is_again = bool(steps) and steps[-1][0] == finding.operation
        if is_again and finding.operation == "edit crop":  # use the stricter values
            kept = steps[-1][1]
            for name, choose in (("start", max), ("stop", min)):
                if name in options:
                    kept[name] = choose(options[name], kept.get(name, options[name]))
        elif is_again and finding.operation in _ONCE:
            steps[-1][1].update(options)
        elif (finding.operation, options) not in steps:
            steps.append((finding.operation, options))
    return tuple(Fix(*step) for step in steps)


def _count_trimmed(report: CheckReport) -> int:
    """Return the number of frames that repair removes at the start: a rest pose and broken frames."""
    first = 0
    for finding in sorted(report, key=lambda finding: finding.start):
        if finding.kind in ("rest_pose", "broken_frames") and finding.start == first and finding.stop < report.n_frames:
            first = finding.stop
    return first


def fix_findings(motion: Motion, report: CheckReport | None = None) -> Motion:
    """Return the motion with the findings of `marey.check` fixed, by the operations of `plan_fixes`; the motion itself
    if nothing can be fixed.

    In badly damaged clips, one fix uncovers the next finding: check the result again.

    Parameters
    ----------
    motion : the motion.
    report : its findings; by default, those of `marey.check`.

    Examples
    --------
    >>> from marey.check import fix_findings
    >>> marey.check(fix_findings(broken)).findings
    ()
    """
    check_motion(motion)
    for step in plan_fixes(check(motion) if report is None else report):
        motion = _OPERATIONS[step.operation](motion, **step.options)
    return motion
