"""Eight numbers at a time: sums that the processor adds in parallel, and in the same order on every processor.

The compiler preserves the order in which a kernel adds numbers, so it does not vectorize a plain sum. A kernel that
needs the speed states which numbers are added independently::

    total = zero_lanes()
    for m in range(0, len(row), 8):
        total = total + load_lanes(row, m) * load_lanes(other, m)
    return sum_lanes(total)

Lanes can be added, subtracted and multiplied. Rows are float64, C-contiguous, and their length is a multiple of eight.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from marey.compiled import Floats1D

WIDTH = 8

Lanes = Any


def zero_lanes() -> Lanes:
    """Return eight zeros."""
    return np.zeros(WIDTH)


def load_lanes(row: Floats1D, start: int) -> Lanes:
    """Return eight numbers of a row, starting at `start`."""
    return row[start : start + WIDTH].copy()


def sum_lanes(lanes: Lanes) -> float:
    """Return the sum of eight numbers: the last four are added to the first four, and so on by halves."""
    while len(lanes) > 1:
        half = len(lanes) // 2
        lanes = lanes[:half] + lanes[half:]
    return float(lanes[0])


@cache
def register_lanes() -> None:
    """Register lanes with Numba as LLVM vectors. They are eight wide even where registers are narrower."""
    from llvmlite import ir  # type: ignore[import-untyped]
    from numba import extending
    from numba.core import types
    from numba.extending import models, overload, register_model

    intrinsic: Callable[[Any], Any] = extending.intrinsic

    class LanesType(types.Type):
        def __init__(self) -> None:
            super().__init__("Lanes")

    lanes = LanesType()
    vector = ir.VectorType(ir.DoubleType(), WIDTH)

    @register_model(LanesType)
    class LanesModel(models.PrimitiveModel):
        def __init__(self, manager: Any, kind: Any) -> None:
            super().__init__(manager, kind, vector)  # type: ignore[no-untyped-call]

    @intrinsic
    def make_zero(typing: Any) -> Any:
        return lanes(), lambda context, builder, signature, arguments: ir.Constant(vector, [0.0] * WIDTH)

    @intrinsic
    def load(typing: Any, row: Any, start: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            array = context.make_array(signature.args[0])(context, builder, arguments[0])
            place = builder.bitcast(builder.gep(array.data, [arguments[1]]), vector.as_pointer())
            return builder.load(place, align=8)

        return lanes(row, types.intp), generate

    @intrinsic
    def add_by_halves(typing: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            (rest,) = arguments
            half = WIDTH // 2
            while half:
                parts = [
                    builder.shuffle_vector(
                        rest, rest, ir.Constant(ir.VectorType(ir.IntType(32), half), list(range(first, first + half)))
                    )
                    for first in (0, half)
                ]
                rest = builder.fadd(*parts)
                half //= 2
            return builder.extract_element(rest, ir.IntType(32)(0))

        return types.float64(lanes), generate

    def add_operator(operation: Any, name: str) -> None:
        @intrinsic
        def calculate(typing: Any, a: Any, b: Any) -> Any:
            def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
                return getattr(builder, name)(*arguments)

            return lanes(lanes, lanes), generate

        @overload(operation, strict=False)
        def overload_operator(a: Any, b: Any) -> Any:
            if a is lanes and b is lanes:
                return lambda a, b: calculate(a, b)
            return None

    for operation, name in ((operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul")):
        add_operator(operation, name)

    @overload(zero_lanes)
    def overload_zero() -> Any:
        return lambda: make_zero()

    @overload(load_lanes, strict=False)
    def overload_load(row: Any, start: Any) -> Any:
        if isinstance(row, types.Array) and (row.dtype, row.ndim, row.layout) == (types.float64, 1, "C"):
            return lambda row, start: load(row, start)
        return None

    @overload(sum_lanes, strict=False)
    def overload_sum(lanes: Any) -> Any:
        return lambda lanes: add_by_halves(lanes)
