"""Parametric motion graphs: nodes are spaces of motion, edges say which motions can follow which (Heck chapter 6).

Names are listed in __init__.pyi and imported on first use.
"""

from marey.deprecation import attach_stub

__getattr__, __dir__, __all__ = attach_stub(
    __name__,
    __file__,
    {
        "Compared": "NodeComparison",
        "Moment": "ControlState",
        "Onward": "TransitionRange",
        "Option": "TransitionOption",
        "Seams": "SeamSettings",
        "at_point": "request_at_point",
        "by_name": "request_by_name",
    },
)
