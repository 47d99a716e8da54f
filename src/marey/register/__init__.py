"""Time warps, alignment curves and constraint matches of motions that belong together (Kovar chapter 5).

``marey.register([walk, run])`` is `register`: this room can be called, as it and its main function share a name.
"""

import sys
from types import ModuleType
from typing import Any

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


class _Room(ModuleType):
    def __call__(self, *arguments: Any, **options: Any) -> RegistrationCurve:
        return register(*arguments, **options)


sys.modules[__name__].__class__ = _Room
