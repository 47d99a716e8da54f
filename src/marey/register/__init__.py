"""Timewarps, alignment curves and constraint matches of similar motions (Kovar chapter 5).

To register motions is to find which of their frames correspond, how the motions are aligned on the floor, and which
contacts correspond. `marey.register` is the function `register` of this package.
"""

from marey.deprecation import renamed_names
from marey.register.curves import AlignmentCurve, TimewarpCurve, alignment_curve, merge_timewarps, pair_timewarp
from marey.register.dtw import TimeAlignment, dtw, dtw_around, dtw_cyclic, dtw_incremental
from marey.register.matches import ConstraintMatch, match_contacts
from marey.register.registration import RegistrationCurve, register
from marey.register.settings import RegisterSettings, TreeSettings
from marey.register.tree import TreeRegistration, register_tree

__all__ = [
    "AlignmentCurve",
    "ConstraintMatch",
    "RegisterSettings",
    "RegistrationCurve",
    "TimeAlignment",
    "TimewarpCurve",
    "TreeRegistration",
    "TreeSettings",
    "alignment_curve",
    "dtw",
    "dtw_around",
    "dtw_cyclic",
    "dtw_incremental",
    "match_contacts",
    "merge_timewarps",
    "pair_timewarp",
    "register",
    "register_tree",
]

__getattr__ = renamed_names(
    __name__, {"Along": "TreeRegistration", "merged_timewarp": "merge_timewarps", "register_along": "register_tree"}
)
