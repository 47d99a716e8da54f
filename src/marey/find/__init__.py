"""Find motion by example: build the match web of a set of clips and search it (Kovar 6.2)."""

from marey.find.cells import Cells
from marey.find.chains import grid_part
from marey.find.found import Found, Match, MatchEdge
from marey.find.match_web import MatchWeb, WebOptions
from marey.find.suggest import Suggestion

__all__ = ["Cells", "Found", "Match", "MatchEdge", "MatchWeb", "Suggestion", "WebOptions", "grid_part"]
