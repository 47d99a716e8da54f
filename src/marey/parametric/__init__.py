"""Parametric motion: examples of one action, made into a space that is controlled by what the action should do."""

from marey.parametric.features import (
    MOMENTS,
    Feature,
    angular_speed,
    curvature,
    duration,
    function,
    orientation,
    parse_features,
    position,
    speed,
    step_height,
    travelled,
    turn,
)
from marey.parametric.space import ParametricMotion, Reachable, Reached

__all__ = [
    "MOMENTS",
    "Feature",
    "ParametricMotion",
    "Reachable",
    "Reached",
    "angular_speed",
    "curvature",
    "duration",
    "function",
    "orientation",
    "parse_features",
    "position",
    "speed",
    "step_height",
    "travelled",
    "turn",
]
