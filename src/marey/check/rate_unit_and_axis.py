"""Findings on how a clip was read: frame rate, unit, up axis, and rest pose."""

from __future__ import annotations

from collections.abc import Iterator

from marey.check.body import check_jitter
from marey.check.report import Finding
from marey.core.motion import Motion
from marey.io.rest import starts_with_rest_pose
from marey.io.unit_and_up_axis import is_doubtful, stature
from marey.measure.balance import is_unsupported
from marey.measure.free_fall import find_fall_rate
from marey.measure.gait import find_implausible_rate
from marey.measure.subject import Subject

# Range of plausible body heights in meters, from children to very tall people.
_SHORTEST, _TALLEST = 0.9, 2.4
# Body heights in meters outside this range are impossible.
_TINY, _GIANT = 0.1, 10.0
# Formats whose frame rate can be overridden.
_WITH_RATE = ("bvh", "amc", "asf", "fbx", "glb")


def check_rate_and_unit(subject: Subject) -> Iterator[Finding]:
    """Find a doubtful unit or axis, a wrong frame rate and a leading rest pose."""
    motion = subject.motion
    n = len(motion)
    # Files written by marey state their unit and axis correctly.
    for sentence in motion.source.evidence if not motion.source.provenance else ():
        if is_doubtful(sentence):
            kind, parameter = ("unit", "unit") if sentence.startswith("unit") else ("axis", "up")
            yield Finding(
                kind,
                "mild",
                0,
                n,
                0.0,
                "",
                f"the {kind} is uncertain: {sentence}",
                f"set the {kind} with `{parameter}=`",
            )
    height = stature(motion.skeleton)
    is_plausible = height is None or _SHORTEST <= height <= _TALLEST
    if height is not None and not is_plausible:
        yield Finding(
            "unit", "mild" if _TINY <= height <= _GIANT else "severe", 0, n, height, "m",
            f"the body is {height:,.2f} m tall, so the unit may be wrong",
            "set the unit with `unit=`",
        )  # fmt: skip
    # Broken frames can be mistaken for steps.
    wrong = [(glitch.start - 1, glitch.stop) for glitch in subject.glitches]
    strides = (s for s in subject.strides if not any(a <= s.stop and s.start <= b for a, b in wrong))
    problem = find_implausible_rate(tuple(strides), motion)
    found = None
    if problem is not None:
        found = _rate_finding(motion, problem.fps, problem.message.partition(";")[0])
    elif is_unsupported(subject):
        rate = motion.source.fps or motion.fps
        message = f"the body moves faster than its feet can support, so the rate of {rate:.6g} Hz seems wrong"
        found = _rate_finding(motion, 0.5 * rate, message)
    elif (fall := find_fall_rate(subject)) is not None:
        factor, acceleration = fall
        rate = motion.source.fps or motion.fps
        message = (
            f"the body falls with {acceleration:.1f} m/s^2 instead of 9.8, so the rate of {rate:.6g} Hz seems wrong"
        )
        found = _rate_finding(motion, rate / factor, message)
    # A body of the wrong size steps and falls too fast or too slowly. Noise looks like steps, and like fast movements.
    is_noisy = found is not None and any(finding.severity == "severe" for finding in check_jitter(subject))
    if found is not None and is_plausible and not is_noisy:
        yield found
    if starts_with_rest_pose(motion):
        yield Finding(
            "rest_pose", "severe", 0, 1, 1.0, "", "frame 0 is a rest pose, not part of the motion",
            "trim the rest pose", operation="edit repair",
        )  # fmt: skip


def _rate_finding(motion: Motion, fps: float, message: str) -> Finding:
    """Return the finding of a wrong frame rate; `fps` is the right one."""
    can_override = motion.source.format in _WITH_RATE
    return Finding(
        "frame_rate", "severe", 0, len(motion), motion.source.fps or motion.fps, "1/s", message,
        f"read the file with `file_fps={fps:.6g}`", operation="convert" if can_override else "",
        options={"file_fps": fps} if can_override else {},
    )  # fmt: skip
