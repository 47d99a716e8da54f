"""Generated motion with known ground truth, for the demo, the tests, and a first try without any files. CC0.

Planned footsteps (from `gait`, or single steps of a `posture` script) drive the feet (`feet`). The body above them
(`body`) follows from a few controls and inverse kinematics. `catalog` lists the samples and their parameters.
"""

from marey.deprecation import renamed_names
from marey.samples.catalog import sample_names
from marey.samples.library import LibraryClip, sample_library
from marey.samples.samples import Sample, sample, straight_walk
from marey.samples.skeleton import body_skeleton

__all__ = [
    "LibraryClip",
    "Sample",
    "body_skeleton",
    "sample",
    "sample_library",
    "sample_names",
    "straight_walk",
]

__getattr__ = renamed_names(__name__, {"figure_skeleton": "body_skeleton"})
