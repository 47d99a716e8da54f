"""What `check` reports: findings, each with its frames, its size and a remedy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

SEVERITIES = ("severe", "mild")
KINDS = (
    "broken_frames", "jump", "loose_joints", "frozen", "repeated_frames", "frame_rate", "rest_pose", "unit", "axis",
    "bone_lengths", "tilted_floor", "drifting_floor", "foot_slide", "penetration", "jitter", "speed", "in_place",
    "swapped_sides", "marker_gaps", "duplicate", "file", "unreadable",
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Finding:
    """One thing that is wrong or doubtful with a clip.

    Attributes
    ----------
    kind : "broken_frames", "jump", "loose_joints", "frozen", "repeated_frames", "frame_rate", "rest_pose", "unit",
        "axis", "bone_lengths", "tilted_floor", "drifting_floor", "foot_slide", "penetration", "jitter", "speed",
        "in_place", "swapped_sides", "marker_gaps", "duplicate", "file" (what reading it had to repair) or "unreadable".
    severity : "severe" if the clip should not be used as it is; "mild" if cleanup handles the problem, or if it matters
        for few uses.
    start, stop : the frames, half-open.
    joints : names of the joints, markers or contact points; () for the whole body.
    value, unit : size of the problem, in "m", "m/s", "rad", "s", "1/s" (frames per second), "fraction", or "" for a
        count.
    message : the finding as a sentence.
    remedy : how to fix it. References to parameters are written as in errors: ```file_fps=60```.
    operation : the command that fixes it, such as "edit repair"; "" if there is none.
    options : parameters of the operation and their values.
    """

    kind: str
    severity: str
    start: int
    stop: int
    value: float
    unit: str
    message: str
    remedy: str
    joints: tuple[str, ...] = ()
    operation: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def sentence(self) -> str:
        """The message with the remedy."""
        return f"{self.message}; {self.remedy}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "kind": self.kind, "severity": self.severity, "start": self.start, "stop": self.stop,
            "joints": list(self.joints), "value": self.value, "unit": self.unit, "message": self.message,
            "remedy": self.remedy, "operation": self.operation, "options": dict(self.options),
        }  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class CheckReport:
    """The findings of one clip, severe ones first; it is true if there are any.

    Attributes
    ----------
    name, n_frames, fps : the clip.
    findings : what is wrong or doubtful.

    Examples
    --------
    >>> from dataclasses import replace
    >>> report = marey.check(replace(walk, fps=240.0))
    >>> report.kinds, report.is_severe
    (('frame_rate',), True)
    >>> len(report.select("severe")) <= len(report)
    True
    """

    name: str
    n_frames: int
    fps: float
    findings: tuple[Finding, ...]

    @property
    def is_severe(self) -> bool:
        """Whether there is a severe finding."""
        return any(finding.severity == "severe" for finding in self.findings)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of the findings, each once, in order."""
        return tuple(dict.fromkeys(finding.kind for finding in self.findings))

    def _repr_html_(self) -> str:
        from marey.core.notebook import show_table

        rows = ((each.severity, each.kind, f"{each.start} to {each.stop}", each.message) for each in self.findings)
        facts = f"{len(self.findings) or 'no'} finding{'' if len(self.findings) == 1 else 's'}"
        return show_table(self.name or "motion", facts, ("severity", "kind", "frames", "finding"), rows)

    def __bool__(self) -> bool:
        return bool(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def select(self, severity: str) -> CheckReport:
        """Return a report of the findings that are at least as severe as `severity`."""
        wanted = SEVERITIES[: SEVERITIES.index(severity) + 1]
        found = tuple(finding for finding in self.findings if finding.severity in wanted)
        return CheckReport(self.name, self.n_frames, self.fps, found)

    def extend(self, findings: tuple[Finding, ...]) -> CheckReport:
        """Return a report with more findings."""
        ordered = sorted((*self.findings, *findings), key=lambda finding: SEVERITIES.index(finding.severity))
        return CheckReport(self.name, self.n_frames, self.fps, tuple(ordered))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        findings = [finding.to_dict() for finding in self.findings]
        return {"name": self.name, "frames": self.n_frames, "fps": self.fps, "findings": findings}
