"""The measured figures behind `marey bench`: always ratios to a floor or a peer that is measured in the same run."""

from marey.bench.figures import Figure
from marey.bench.run import BENCHES, run_benches

__all__ = ["BENCHES", "Figure", "run_benches"]
