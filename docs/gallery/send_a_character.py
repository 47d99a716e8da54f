"""Send a character to a point

A parametric motion graph blends its next clip while it plays, so that the character arrives where it should.
"""

from marey.control import GoTo
from marey.pmg import build_recipe, read_recipe

character = build_recipe(read_recipe("right-turner"))
stream = character.stream(GoTo((3.0, 4.0)))

shown = [stream.record(8.0)]
options = {"path": True}
