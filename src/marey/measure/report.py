"""Reports of all metrics of a motion, optionally compared with its source clip."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from marey.core.joint_limits import JointLimits
from marey.core.motion import Motion, check_motion
from marey.deprecation import renamed_methods
from marey.errors import InvalidValue, UnknownName, plural, similar
from marey.io.joint_limits import read_joint_limits
from marey.measure import body, skate, smoothness, travel, visibility
from marey.measure.display import get_metric_format
from marey.measure.metrics import Measure, Metric
from marey.measure.subject import Subject

MEASURES: tuple[Measure, ...] = (
    skate.slide_weighted,
    skate.slide_weighted_speed,
    skate.skate_ratio,
    skate.slide_contact,
    body.penetration_mean,
    body.penetration_max,
    smoothness.jitter,
    smoothness.acceleration_rms,
    body.limb_change_max,
    body.limb_change_mean,
    smoothness.angular_velocity_max,
    smoothness.angular_velocity_p999,
    travel.path_length,
    travel.path_net,
    travel.speed_mean,
    travel.speed_max,
    travel.strides,
    travel.loop_position,
    travel.loop_rotation,
    travel.loop_velocity,
)
LIMIT_MEASURES: tuple[Measure, ...] = (body.limit_excess_max, body.limit_frames)
"""Measured if joint limits are given."""
EDIT_MEASURES: tuple[Measure, ...] = (visibility.edit_visible, visibility.edit_visibility_max)
"""Measured if the motion's source is given."""


@renamed_methods(figures="metrics", as_dict="to_dict")
@dataclass(frozen=True, slots=True, eq=False)
class Report(Mapping[str, Metric]):
    """The metrics of one motion, a mapping by name: ``report["skate_ratio"]``.

    Attributes
    ----------
    metrics : all metrics, in display order.
    motion : name, frames, fps and seconds of the motion.
    against : the same for the reference clip, or None.

    Examples
    --------
    >>> report = marey.measure(walk)
    >>> "skate_ratio" in report, report.motion["frames"]
    (True, 241)
    >>> round(report["path_length"].value, 1), report["path_length"].unit
    (5.2, 'm')
    """

    metrics: tuple[Metric, ...]
    motion: Mapping[str, Any]
    against: Mapping[str, Any] | None = None

    def get(self, name: str, default: Any = None) -> Any:
        """Return the metric, or `default` if there is none with that name."""
        return next((metric for metric in self.metrics if metric.name == name), default)

    def __getitem__(self, name: str) -> Metric:
        for metric in self.metrics:
            if metric.name == name:
                return metric
        names = tuple(self)
        raise UnknownName(f"unknown metric {name!r}; available metrics: {', '.join(names)}{similar(str(name), names)}")

    def __iter__(self) -> Iterator[str]:
        return (metric.name for metric in self.metrics)

    def __len__(self) -> int:
        return len(self.metrics)

    def __contains__(self, name: object) -> bool:
        return any(metric.name == name for metric in self.metrics)

    def _repr_html_(self) -> str:
        from marey.core.notebook import show_table

        names = ("motion",) if self.against is None else ("motion", "reference")
        shown = ((metric, get_metric_format(metric.name, metric.unit)) for metric in self.metrics)
        rows = (
            (how.title, *(how.format(each) for each in (metric.value, metric.against)[: len(names)]), how.unit)
            for metric, how in shown
        )
        title, facts = str(self.motion["name"]) or "motion", f"{len(self.metrics)} metrics"
        return show_table(title, facts, ("metric", *names, "unit"), rows)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON: the motion, the reference clip, and each metric with unit and definition."""
        return {
            **self.motion,
            "against": None if self.against is None else dict(self.against),
            "metrics": {metric.name: metric.to_dict() for metric in self.metrics},
        }


def measure(motion: Motion, against: Motion | None = None, *, joint_limits: JointLimits | str | None = None) -> Report:
    """Measure all metrics of a motion, each with its unit, definition and source.

    Parameters
    ----------
    motion : any motion. A metric that cannot be measured has the value None, and its note gives the reason.
    against : reference clip, such as the clip that the motion was made from; its metrics are added for comparison, and
        an estimate of how visible the changes are (see `marey.measure.visibility`).
    joint_limits : report violations of these limits too: a file, or `marey.core.JointLimits`.

    Raises
    ------
    InvalidValue : if nothing can be measured, for example on one frame or one joint.

    Examples
    --------
    >>> report = marey.measure(marey.clean(walk), against=walk)
    >>> report["stride_rate"].unit
    '1/s'
    >>> round(report["path_length"].value, 1), round(report["path_length"].against, 1)  # meters
    (5.2, 5.2)
    """
    for clip in (motion,) if against is None else (motion, against):
        if len(check_motion(clip, "motion" if clip is motion else "against")) < 2:
            raise InvalidValue(f"motion {clip.name!r} must have at least 2 frames to be measured, not 1")
    limits = read_joint_limits(joint_limits)
    if limits is not None:
        limits.find_joints(motion.skeleton)  # limits of another skeleton are an error, not a missing metric
    source = None if against is None else Subject(against, limits)
    subject = Subject(motion, limits, source)
    metrics = _measure_all(subject)
    if source is None or against is None:
        return Report(metrics, _describe_motion(motion))
    paired = zip(metrics, _measure_all(source), strict=True)
    changes = (one(subject) for one in EDIT_MEASURES)
    return Report(
        (
            *(metric.compare_with(other) for metric, other in paired),
            *(replace(metric, against_note=metric.note) for metric in changes),
        ),
        _describe_motion(motion),
        _describe_motion(against),
    )


def _measure_all(subject: Subject) -> tuple[Metric, ...]:
    motion = subject.motion
    metrics = tuple(one(subject) for one in (*MEASURES, *(LIMIT_MEASURES if subject.joint_limits is not None else ())))
    if all(metric.value is None for metric in metrics):
        raise InvalidValue(
            f"nothing can be measured on motion {motion.name!r} of {plural(len(motion), 'frame')} and"
            f" {plural(len(motion.skeleton), 'joint')}; {metrics[-1].name} {metrics[-1].note}"
        )
    return metrics


def _describe_motion(motion: Motion) -> dict[str, Any]:
    return {"name": motion.name, "frames": len(motion), "fps": motion.fps, "seconds": motion.duration}
