"""Readable names and units of metrics, for reports and the studio."""

from __future__ import annotations

import math
from typing import NamedTuple


class MetricFormat(NamedTuple):
    """How a metric is displayed: its title, its unit, and the factor for its value."""

    title: str
    unit: str
    factor: float

    def convert(self, value: float | None) -> float | None:
        """Convert a value to the displayed unit; rounding errors become 0."""
        if value is None:
            return None
        shown = self.factor * value
        return 0.0 if abs(shown) < _NOISE.get(self.unit, 1e-6) else shown

    def format(self, value: float | None) -> str:
        """Format a value; ``"-"`` if it is None."""
        return format_number(self.convert(value))


def format_number(value: float | None) -> str:
    """Format a number with four significant digits, large ones as integers; ``"-"`` if it is None."""
    if value is None:
        return "-"
    if 1e4 <= abs(value) < 1e9:
        return f"{value:.0f}"
    return "0" if abs(value) < 1e-9 else f"{value:.4g}"


def format_distance(meters: float) -> str:
    """Format a distance: ``"0.4 cm"``, ``"49 cm"``, ``"2.76 m"``."""
    if abs(meters) >= 0.995:
        return f"{meters:.3g} m"
    return f"{100.0 * meters:.0f} cm" if abs(meters) >= 0.0995 else f"{100.0 * meters:.1f} cm"


# Displayed values below this are rounding noise: a micrometer, a micrometer per second or frame.
_NOISE = {"mm": 1e-3, "mm/s": 1e-3, "mm/frame": 1e-3, "cm": 1e-4, "%": 1e-4, "deg": 1e-4, "deg/s": 1e-4}
_TITLES = {
    "slide_weighted": "foot slide, weighted by height",
    "slide_weighted_speed": "foot slide speed, weighted by height",
    "skate_ratio": "frames with a fast foot near the floor",
    "slide_contact": "foot slide while planted",
    "penetration_mean": "floor penetration, mean",
    "penetration_max": "floor penetration, maximum",
    "jitter": "jitter",
    "acceleration_rms": "joint acceleration, RMS",
    "limb_change_max": "bone length relative to the skeleton, maximum change",
    "limb_change_mean": "bone length relative to the skeleton, mean change",
    "angular_velocity_max": "angular velocity, maximum",
    "angular_velocity_p999": "angular velocity, 99.9th percentile",
    "path_length": "path length",
    "path_net": "distance from start to end",
    "speed_mean": "speed, mean",
    "speed_max": "speed, maximum",
    "stride_rate": "stride rate",
    "loop_position": "loop seam, position",
    "loop_rotation": "loop seam, rotation",
    "loop_velocity": "loop seam, velocity",
    "limit_excess_max": "joint limits exceeded, maximum",
    "limit_frames": "frames outside joint limits",
    "edit_visible": "frames with visible changes",
    "edit_visibility_max": "visibility of changes, maximum",
}
_UNITS = {
    "skate_ratio": ("%", 100.0),
    "slide_contact": ("mm/s", 1000.0),
    "jitter": ("m/s³", 100.0),
    "acceleration_rms": ("m/s²", 1.0),
    "limb_change_max": ("%", 100.0),
    "limb_change_mean": ("%", 100.0),
    "angular_velocity_max": ("deg/s", math.degrees(1.0)),
    "angular_velocity_p999": ("deg/s", math.degrees(1.0)),
    "loop_rotation": ("deg", math.degrees(1.0)),
    "stride_rate": ("strides/s", 1.0),
    "loop_position": ("cm", 100.0),
    "limit_excess_max": ("deg", math.degrees(1.0)),
    "limit_frames": ("%", 100.0),
    "edit_visible": ("%", 100.0),
}


def get_metric_format(name: str, unit: str) -> MetricFormat:
    """Return how to display the metric `name`, measured in `unit`."""
    title = _TITLES.get(name, name.replace("_", " "))
    return MetricFormat(title, *_UNITS.get(name, (unit, 1.0)))
