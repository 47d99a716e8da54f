"""Find motion by example: build the match web of a set of clips and search it (Kovar 6.2)."""

from marey.deprecation import renamed_names
from marey.find.cells import Cells
from marey.find.grid_part import grid_part
from marey.find.match_web import MatchWeb, WebStatistics
from marey.find.motion_index import MotionIndex
from marey.find.originals import cut_originals
from marey.find.result import Match, MatchEdge, MatchResult
from marey.find.settings import IndexSettings, SearchSettings, SuggestSettings, WebSettings
from marey.find.suggest import Suggestion

__all__ = [
    "Cells",
    "IndexSettings",
    "Match",
    "MatchEdge",
    "MatchResult",
    "MatchWeb",
    "MotionIndex",
    "SearchSettings",
    "SuggestSettings",
    "Suggestion",
    "WebSettings",
    "WebStatistics",
    "cut_originals",
    "grid_part",
]

__getattr__ = renamed_names(__name__, {"Found": "MatchResult", "WebOptions": "WebSettings"})
