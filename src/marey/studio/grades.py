"""Quality metrics on the page: foot sliding, penetration and smoothness first, each with a grade, then all of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from marey.core.motion import Motion
from marey.errors import MareyError, collect_warnings

if TYPE_CHECKING:
    from marey.measure.metrics import Metric
    from marey.measure.report import Report

GRADES = ("good", "fair", "poor")
# Stands where a grade would, for a value with which another one is compared.
_REFERENCE = "reference"
# Maximum number of frames for which an edit is measured.
_MAX_MEASURED = 20_000


@dataclass(frozen=True, slots=True)
class _Rule:
    """How a metric is graded: good up to the first limit, fair up to the second. `title` and `about` are shown on the
    page.

    The value times `scale` is in `unit`. If `relative`, the limits are multiples of the source's value.
    """

    title: str
    metric: str
    scale: float
    unit: str
    limits: tuple[float, float]
    about: str
    relative: bool = False


# Viewers do not notice a slide of 5 mm during a plant of 0.6 s (1 cm/s). Most notice a slide of 21 mm (3.5 cm/s).
_RULES = (
    _Rule("Foot sliding", "slide_contact", 100.0, "cm/s", (1.0, 3.5),
          "Mean speed of planted heels and balls of the feet. Good up to 1 cm/s, which viewers do not notice; poor "
          "from 3.5 cm/s on, which most notice."),
    _Rule("Penetration", "penetration_max", 0.1, "cm", (0.5, 2.0),
          "Depth of the lowest point below the floor in the worst frame. Good up to 0.5 cm, poor from 2 cm on."),
    _Rule("Smoothness", "jitter", 100.0, "m/s³", (1.05, 1.5),
          "Mean jerk of the joints; lower is smoother. Good up to 1.05 times that of the source, poor from 1.5 times "
          "on.",
          relative=True),
)  # fmt: skip


def grade_metrics(report: Report) -> list[dict[str, Any]]:
    """Return title, values of source and result as text, their grades, and explanation of each measured metric.

    The source's value `before` and its grade `before_grade` are "" if the report has no source. If a metric is graded
    by its change from the source, `before_grade` is "reference", and without a source `grade` is "" too.
    """
    metrics: Mapping[str, Metric] = {each.name: each for each in report.metrics}
    out = []
    for rule in _RULES:
        metric = metrics.get(rule.metric)
        value = None if metric is None else keep_finite(metric.value)
        if metric is None or value is None:
            continue
        before = keep_finite(metric.against)
        before_grade = "" if before is None else _grade_before(rule, before)
        out.append(
            {
                "title": rule.title,
                "before": "" if before is None else _format(rule, before),
                "after": _format(rule, value),
                "before_grade": before_grade,
                "grade": _grade_after(rule, value, before),
                "about": rule.about,
            }
        )
    return out


def keep_finite(value: float | None) -> float | None:
    """Return a number if it is finite, otherwise None, since JSON has no NaN."""
    return value if value is not None and math.isfinite(value) else None


def _grade_before(rule: _Rule, value: float) -> str:
    return _REFERENCE if rule.relative else _grade(rule, rule.scale * value)


def _grade_after(rule: _Rule, value: float, before: float | None) -> str:
    if not rule.relative:
        return _grade(rule, rule.scale * value)
    if before is None:
        return ""
    return _grade(rule, value / before if before > 0.0 else 1.0 + value)


def _grade(rule: _Rule, value: float) -> str:
    return GRADES[sum(value > limit for limit in rule.limits)]


def _format(rule: _Rule, value: float) -> str:
    scaled = rule.scale * value
    return f"{scaled:.{0 if scaled >= 100 else 1 if scaled >= 10 or rule.relative else 2}f} {rule.unit}"


def grade_edit(before: Any, after: Any) -> dict[str, Any]:
    """Return the grades of an edit; none for markers, for long motions, and where nothing can be compared."""
    from marey.measure import measure

    if not isinstance(before, Motion) or not isinstance(after, Motion) or max(len(before), len(after)) > _MAX_MEASURED:
        return {}
    try:
        with collect_warnings():
            return {"grades": grade_metrics(measure(after, before))}
    except MareyError:
        return {}


def tabulate(report: Report, columns: list[str]) -> dict[str, Any]:
    """Tabulate metrics, those of the other motion first; the definition of each metric explains its row."""
    from marey.measure.display import get_metric_format

    rows = []
    for each in report.metrics:
        shown = get_metric_format(each.name, each.unit)
        values = [each.against, each.value] if len(columns) > 2 else [each.value]
        finite = map(keep_finite, values)
        rows.append([f"{shown.title}, {shown.unit}".rstrip(", "), *map(shown.format, finite)])
    notes = [f"{each.definition} {each.note}".strip() for each in report.metrics]
    links = [f"about:{text}" for text in notes]
    return {"columns": columns, "rows": rows, "links": links, "grades": grade_metrics(report)}
