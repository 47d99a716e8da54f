"""The benchmarks of `marey bench`: ratios to a lower bound or another package, measured in the same run."""

from marey.bench.figures import Figure
from marey.bench.run import BENCHES, run_benches

__all__ = ["BENCHES", "Figure", "run_benches"]
