"""Metrics: values with a unit, a definition and a published source."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from marey.core.motion import Motion
from marey.deprecation import renamed_methods
from marey.errors import MareyError
from marey.measure.subject import Subject

Reading = tuple[float, str]

# Describes `Subject.joints`.
BODY_JOINTS = "joints of the body (no End Sites, none above the hips)"


@renamed_methods(as_dict="to_dict")
@dataclass(frozen=True, slots=True)
class Metric:
    """One measured value.

    Attributes
    ----------
    name : name of the metric, such as ``skate_ratio``.
    value : value in `unit`, or None if it cannot be measured; `note` then gives the reason.
    unit : unit of the value.
    definition : the formula.
    source : publication, and how this version differs from it.
    note : where the value occurs, what it was measured on, or why there is none.
    against : the same metric of the reference clip; None without one, or if it cannot be measured.
    against_note : note of that metric.

    Examples
    --------
    >>> metric = marey.measure(walk)["slide_contact"]
    >>> metric.name, metric.unit
    ('slide_contact', 'm/s')
    """

    name: str
    value: float | None
    unit: str
    definition: str
    source: str
    note: str = ""
    against: float | None = None
    against_note: str = ""

    def __str__(self) -> str:
        value = "none" if self.value is None else f"{self.value:.4g} {self.unit}"
        return f"{self.name}: {value}" + (f" ({self.note})" if self.note else "")

    def compare_with(self, other: Metric) -> Metric:
        """Return a copy in which `against` is the value of `other`, the same metric of the reference clip."""
        return replace(self, against=other.value, against_note=other.note)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "value": self.value,
            "unit": self.unit,
            "against": self.against,
            "definition": self.definition,
            "source": self.source,
            "note": self.note,
            "against_note": self.against_note,
        }


class Measure:
    """A function from a motion to a metric. Its docstring contains the unit, definition and source.

    Created by the decorator `measures`.

    Examples
    --------
    >>> from marey.measure import MEASURES
    >>> jitter = next(each for each in MEASURES if each.name == "jitter")
    >>> jitter(walk).unit
    '10^2 m/s^3'
    """

    def __init__(
        self, compute: Callable[[Subject], Reading], name: str, unit: str, definition: str, source: str
    ) -> None:
        self.name = name
        self.unit = unit
        self.definition = definition
        self.source = source
        self._compute = compute
        summary = (compute.__doc__ or "").rstrip()
        self.__doc__ = f"{summary}\n\nUnit: {unit}\n\nDefinition: {definition}\n\nSource: {source}\n"

    def __call__(self, motion: Motion | Subject) -> Metric:
        """Measure a motion. If the metric cannot be measured, its value is None, and its `note` gives the reason."""
        subject = motion if isinstance(motion, Subject) else Subject(motion)
        value: float | None
        try:
            value, note = self._compute(subject)
        except MareyError as lack:
            value, note = None, str(lack)
        return Metric(self.name, value, self.unit, self.definition, self.source, note)

    def __repr__(self) -> str:
        return f"<Measure {self.name} [{self.unit}]>"


def measures(
    name: str, unit: str, *, definition: str, source: str
) -> Callable[[Callable[[Subject], Reading]], Measure]:
    """Decorate a function from a `Subject` to a value and a note, and turn it into a `Measure`."""

    def decorate(compute: Callable[[Subject], Reading]) -> Measure:
        return Measure(compute, name, unit, definition, source)

    return decorate
