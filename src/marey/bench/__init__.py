"""The benchmarks of `marey bench`. Most compare marey with a lower bound or another package, in the same run."""

from marey.bench.results import BenchResult
from marey.bench.run import BENCHES, run_benches
from marey.deprecation import renamed_names

__all__ = ["BENCHES", "BenchResult", "run_benches"]

__getattr__ = renamed_names(__name__, {"Figure": "BenchResult"})
