"""Timewarps, alignment curves and constraint matches of similar motions (Kovar chapter 5).

`marey.register` is the function `register` of this package.
"""

from marey.register.along import Along, register_along
from marey.register.curves import AlignmentCurve, TimewarpCurve, alignment_curve, merged_timewarp, pair_timewarp
from marey.register.dtw import TimeAlignment, dtw, dtw_around, dtw_cyclic, dtw_incremental
from marey.register.matches import ConstraintMatch, match_contacts
from marey.register.registration import RegistrationCurve, register

__all__ = [
    "AlignmentCurve",
    "Along",
    "ConstraintMatch",
    "RegistrationCurve",
    "TimeAlignment",
    "TimewarpCurve",
    "alignment_curve",
    "dtw",
    "dtw_around",
    "dtw_cyclic",
    "dtw_incremental",
    "match_contacts",
    "merged_timewarp",
    "pair_timewarp",
    "register",
    "register_along",
]
