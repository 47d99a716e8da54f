"""Mirror a motion

Left and right change sides: twice as many examples from the same capture.
"""

from marey.edit import mirror
from marey.samples import sample

kick = sample("kick").motion

shown = [kick, mirror(kick)]
options = {"camera": "front", "apart": True}
