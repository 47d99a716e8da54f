"""Eight numbers at a time: sums that the processor adds in parallel, and in the same order on every processor.

The compiler preserves the order in which a kernel adds numbers, so it does not vectorize a plain sum. A kernel that
needs the speed states which numbers are added independently::

    total = zero_lanes()
    for m in range(0, len(row), 8):
        total = total + load_lanes(row, m) * load_lanes(other, m)
    return sum_lanes(total)

Lanes can be added, subtracted and multiplied. Arrays are float64 or float32, C-contiguous, and the length of their last
axis is a multiple of eight. In inner loops, an index of a flat array is much faster than a slice of a row.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

WIDTH = 8

Lanes = Any


def zero_lanes() -> Lanes:
    """Return eight zeros."""
    return np.zeros(WIDTH)


def load_lanes(array: npt.NDArray[Any], start: int) -> Lanes:
    """Return eight numbers of an array, starting at `start` in its flat form, in which all axes are one."""
    return array.reshape(-1)[start : start + WIDTH].copy()


def spread_lanes(number: np.float32) -> Lanes:
    """Return a number in single precision eight times."""
    return np.full(WIDTH, number, dtype=np.float32)


def compare_lanes(a: Lanes, b: Lanes) -> int:
    """Return bits: bit k is set if the k-th number of a is at most the k-th of b."""
    return sum(int(x <= y) << k for k, (x, y) in enumerate(zip(a, b, strict=True)))


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
        def __init__(self, dtype: Any) -> None:
            super().__init__(f"Lanes({dtype})")
            self.dtype = dtype

    lanes, singles = LanesType(types.float64), LanesType(types.float32)
    vector, single_vector = ir.VectorType(ir.DoubleType(), WIDTH), ir.VectorType(ir.FloatType(), WIDTH)
    vectors = {lanes: vector, singles: single_vector}

    @register_model(LanesType)
    class LanesModel(models.PrimitiveModel):
        def __init__(self, manager: Any, kind: Any) -> None:
            super().__init__(manager, kind, vectors[kind])  # type: ignore[no-untyped-call]

    @intrinsic
    def make_zero(typing: Any) -> Any:
        return lanes(), lambda context, builder, signature, arguments: ir.Constant(vector, [0.0] * WIDTH)

    @intrinsic
    def load(typing: Any, given: Any, start: Any) -> Any:
        kind = lanes if given.dtype == types.float64 else singles

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            array = context.make_array(signature.args[0])(context, builder, arguments[0])
            place = builder.bitcast(builder.gep(array.data, [arguments[1]]), vectors[kind].as_pointer())
            return builder.load(place, align=given.dtype.bitwidth // 8)

        return kind(given, types.intp), generate

    @intrinsic
    def spread(typing: Any, number: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            index = ir.IntType(32)
            one = builder.insert_element(ir.Constant(single_vector, ir.Undefined), arguments[0], index(0))
            mask = ir.Constant(ir.VectorType(index, WIDTH), [0] * WIDTH)
            return builder.shuffle_vector(one, one, mask)

        return singles(types.float32), generate

    @intrinsic
    def compare(typing: Any, a: Any, b: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            bits = builder.bitcast(builder.fcmp_ordered("<=", *arguments), ir.IntType(WIDTH))
            return builder.zext(bits, ir.IntType(64))

        return types.int64(a, b), generate

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

            return a(a, a), generate

        @overload(operation, strict=False)
        def overload_operator(a: Any, b: Any) -> Any:
            if a is b and a in vectors:
                return lambda a, b: calculate(a, b)
            return None

    for operation, name in ((operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul")):
        add_operator(operation, name)

    @overload(zero_lanes)
    def overload_zero() -> Any:
        return lambda: make_zero()

    @overload(load_lanes, strict=False)
    def overload_load(array: Any, start: Any) -> Any:
        if isinstance(array, types.Array) and array.layout == "C":
            return lambda array, start: load(array, start)
        return None

    @overload(spread_lanes, strict=False)
    def overload_spread(number: Any) -> Any:
        return lambda number: spread(number)

    @overload(compare_lanes, strict=False)
    def overload_compare(a: Any, b: Any) -> Any:
        return lambda a, b: compare(a, b)

    @overload(sum_lanes, strict=False)
    def overload_sum(lanes: Any) -> Any:
        return lambda lanes: add_by_halves(lanes)
