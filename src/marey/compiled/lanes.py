"""Eight numbers at a time: sums that the processor adds in parallel, and in the same order on every processor.

The compiler preserves the order in which a kernel adds numbers, so it does not vectorize a plain sum. A kernel that
needs the speed states which numbers are added independently::

    total = zero_lanes()
    for m in range(0, len(row), 8):
        total = total + load_lanes(row, m) * load_lanes(other, m)
    return sum_lanes(total)

Lanes can be added, subtracted and multiplied. Arrays are C-contiguous and of type float64, float32 or int32. In inner
loops, an index of a flat array is much faster than a slice of a row.
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


def store_lanes(array: npt.NDArray[Any], start: int, lanes: Lanes) -> None:
    """Write eight numbers to an array, starting at `start` in its flat form."""
    array.reshape(-1)[start : start + WIDTH] = lanes


def repeat_lane(array: npt.NDArray[Any], index: int) -> Lanes:
    """Return one number of an array, at `index` in its flat form, eight times."""
    return np.full(WIDTH, array.reshape(-1)[index])


def spread_lanes(number: np.float32) -> Lanes:
    """Return a number in single precision eight times."""
    return np.full(WIDTH, number, dtype=np.float32)


def compare_lanes(a: Lanes, b: Lanes) -> int:
    """Return bits: bit k is set if the k-th number of a is at most the k-th of b."""
    return sum(int(x <= y) << k for k, (x, y) in enumerate(zip(a, b, strict=True)))


def multiply_add(a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    """Return a b + c in single precision, rounded once."""
    return (a.astype(np.float64) * b + c).astype(np.float32)


def least_lanes(a: Lanes, b: Lanes) -> Lanes:
    """Return the smaller number of each pair."""
    return np.where(a < b, a, b)


def root_lanes(lanes: Lanes) -> Lanes:
    """Return square roots in single precision."""
    return np.sqrt(lanes)


def round_lanes(lanes: Lanes) -> Lanes:
    """Round numbers in single precision toward zero, to 32-bit integers."""
    return lanes.astype(np.int32)


def float_lanes(lanes: Lanes) -> Lanes:
    """Convert 32-bit integers or numbers in double precision to single precision."""
    return lanes.astype(np.float32)


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
    from numba.core import cgutils, types
    from numba.extending import models, overload, register_model

    intrinsic: Callable[[Any], Any] = extending.intrinsic

    class LanesType(types.Type):
        def __init__(self, dtype: Any) -> None:
            super().__init__(f"Lanes({dtype})")
            self.dtype = dtype

    lanes, singles, integers = (LanesType(each) for each in (types.float64, types.float32, types.int32))
    vector, single_vector = ir.VectorType(ir.DoubleType(), WIDTH), ir.VectorType(ir.FloatType(), WIDTH)
    integer_vector = ir.VectorType(ir.IntType(32), WIDTH)
    vectors = {lanes: vector, singles: single_vector, integers: integer_vector}
    kinds = {each.dtype: each for each in vectors}

    @register_model(LanesType)
    class LanesModel(models.PrimitiveModel):
        def __init__(self, manager: Any, kind: Any) -> None:
            super().__init__(manager, kind, vectors[kind])  # type: ignore[no-untyped-call]

    @intrinsic
    def make_zero(typing: Any) -> Any:
        return lanes(), lambda context, builder, signature, arguments: ir.Constant(vector, [0.0] * WIDTH)

    @intrinsic
    def load(typing: Any, given: Any, start: Any) -> Any:
        kind = kinds[given.dtype]

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            place = find_place(context, builder, signature, arguments, vectors[kind])
            return builder.load(place, align=given.dtype.bitwidth // 8)

        return kind(given, types.intp), generate

    def find_place(context: Any, builder: Any, signature: Any, arguments: Any, kind: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        return builder.bitcast(builder.gep(array.data, [arguments[1]]), kind.as_pointer())

    @intrinsic
    def store(typing: Any, given: Any, start: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            place = find_place(context, builder, signature, arguments, vectors[value])
            builder.store(arguments[2], place, align=given.dtype.bitwidth // 8)
            return context.get_dummy_value()

        return types.none(given, types.intp, value), generate

    @intrinsic
    def repeat(typing: Any, given: Any, index: Any) -> Any:
        kind = kinds[given.dtype]

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            place = find_place(context, builder, signature, arguments, vectors[kind].element)
            return repeat_value(builder, builder.load(place), vectors[kind])

        return kind(given, types.intp), generate

    def repeat_value(builder: Any, value: Any, kind: Any) -> Any:
        one = builder.insert_element(ir.Constant(kind, ir.Undefined), value, ir.IntType(32)(0))
        return builder.shuffle_vector(one, one, ir.Constant(integer_vector, [0] * WIDTH))

    @intrinsic
    def spread(typing: Any, number: Any) -> Any:
        return singles(types.float32), lambda context, builder, signature, arguments: repeat_value(
            builder, arguments[0], single_vector
        )

    def call_function(builder: Any, name: str, arguments: Any) -> Any:
        kind = arguments[0].type
        declared = ir.FunctionType(kind, [kind] * len(arguments))
        function = cgutils.get_or_insert_function(builder.module, declared, f"{name}.v8f32")  # type: ignore[no-untyped-call]
        return builder.call(function, arguments)

    @intrinsic
    def fuse(typing: Any, a: Any, b: Any, c: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return call_function(builder, "llvm.fmuladd", arguments)

        return a(a, a, a), generate

    @intrinsic
    def take_root(typing: Any, value: Any) -> Any:
        return value(value), lambda context, builder, signature, arguments: call_function(
            builder, "llvm.sqrt", arguments
        )

    @intrinsic
    def take_least(typing: Any, a: Any, b: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.select(builder.fcmp_ordered("<", *arguments), *arguments)

        return a(a, a), generate

    @intrinsic
    def to_integers(typing: Any, value: Any) -> Any:
        return integers(singles), lambda context, builder, signature, arguments: builder.fptosi(
            arguments[0], integer_vector
        )

    @intrinsic
    def to_singles(typing: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            convert = builder.sitofp if value is integers else builder.fptrunc
            return convert(arguments[0], single_vector)

        return singles(value), generate

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
                return getattr(builder, name if a is integers else f"f{name}")(*arguments)

            return a(a, a), generate

        @overload(operation, strict=False)
        def overload_operator(a: Any, b: Any) -> Any:
            if a is b and a in vectors:
                return lambda a, b: calculate(a, b)
            return None

    for operation, name in ((operator.add, "add"), (operator.sub, "sub"), (operator.mul, "mul")):
        add_operator(operation, name)

    @overload(zero_lanes)
    def overload_zero() -> Any:
        return lambda: make_zero()

    @overload(load_lanes, strict=False)
    def overload_load(array: Any, start: Any) -> Any:
        if isinstance(array, types.Array) and array.layout == "C":
            return lambda array, start: load(array, start)
        return None

    @overload(store_lanes, strict=False)
    def overload_store(array: Any, start: Any, lanes: Any) -> Any:
        if isinstance(array, types.Array) and array.layout == "C" and kinds.get(array.dtype) is lanes:
            return lambda array, start, lanes: store(array, start, lanes)
        return None

    @overload(repeat_lane, strict=False)
    def overload_repeat(array: Any, index: Any) -> Any:
        if isinstance(array, types.Array) and array.layout == "C":
            return lambda array, index: repeat(array, index)
        return None

    @overload(multiply_add, strict=False)
    def overload_multiply_add(a: Any, b: Any, c: Any) -> Any:
        return lambda a, b, c: fuse(a, b, c)

    @overload(least_lanes, strict=False)
    def overload_least(a: Any, b: Any) -> Any:
        return lambda a, b: take_least(a, b)

    @overload(root_lanes, strict=False)
    def overload_root(lanes: Any) -> Any:
        return lambda lanes: take_root(lanes)

    @overload(round_lanes, strict=False)
    def overload_round(lanes: Any) -> Any:
        return lambda lanes: to_integers(lanes)

    @overload(float_lanes, strict=False)
    def overload_float(lanes: Any) -> Any:
        return lambda lanes: to_singles(lanes)

    @overload(spread_lanes, strict=False)
    def overload_spread(number: Any) -> Any:
        return lambda number: spread(number)

    @overload(compare_lanes, strict=False)
    def overload_compare(a: Any, b: Any) -> Any:
        return lambda a, b: compare(a, b)

    @overload(sum_lanes, strict=False)
    def overload_sum(lanes: Any) -> Any:
        return lambda lanes: add_by_halves(lanes)
