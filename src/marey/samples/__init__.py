"""Generated motion whose truth is known: for the demo, the tests, and a first look without any files. CC0.

A plan of footsteps (`gait`, or single steps of a `posture` script) drives the feet (`feet`); the body above them
(`body`) follows from a few controls and solved limbs. `catalogue` lists the samples and their parameters.
"""

from marey.deprecation import renamed_names
from marey.samples.catalogue import sample_names
from marey.samples.samples import Sample, sample, straight_walk
from marey.samples.skeleton import body_skeleton

__all__ = ["Sample", "body_skeleton", "sample", "sample_names", "straight_walk"]

__getattr__ = renamed_names(__name__, {"figure_skeleton": "body_skeleton"})
