"""Find every kick

A match web compares all moments of all clips once. Then any example finds everything similar to it, fast or slow.
"""

from dataclasses import replace

import marey
from marey.samples import sample

take = replace(sample("medley", fps=30.0, kicks=4, punches=2, reaches=2).motion, name="take")
web = marey.MatchWeb.build([take])
one = next(label for label in take.labels if label.name == "kick")
found = web.search("take", one.start, one.stop, threshold=0.07)

shown = [take[match.start : match.stop] for match in found]
options = {"camera": "front", "apart": True}
